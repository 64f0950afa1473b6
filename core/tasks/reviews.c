/* The task `reviews`: see reviews.h. */
#include "core/tasks/reviews.h"

#include "core/random/numpy_random.h"
#include "core/tasks/dataset_builder.h"
#include "core/tasks/decisive.h"
#include "core/tasks/task.h"

#include <stdlib.h>
#include <string.h>

/* A frame is a sentence in which '%' and a letter stand for a choice: %t a thing, %w a person, %o an opening,
 * %v an intensifier, %n a time, %e an ending, %m a noun without a plural, %p a part, %k a work, %d the
 * decisive word. Some choices are empty; every frame gives 6 to 16 words whatever is chosen. */
static const char *const frames[] = {
    "%t was %v %d %n",
    "%o %t %w told us about was %v %d %n",
    "%o %w thought that %t was %v %d %e",
    "%o %t seemed %v %d to %w %e",
    "%d is the word %w used for %t %n",
    "%w found %t %v %d %n %e",
    "after such %d %m %w walked straight home",
    "the %d %p of %k is what %w remembers",
    "%n we agreed that %t had been %v %d",
    "it was %v %d how %w spoke about %t",
};

static const char *const things[] = {"the soup",    "the plot",   "the soundtrack",  "the hotel room",
                                     "the service", "the ending", "the whole show",  "this camera",
                                     "the bread",   "our guide",  "the window seat", "the second act",
                                     NULL};
static const char *const people[] = {"my brother", "my sister", "our neighbour", "my teacher", "her friend",
                                     "everyone",   NULL};
static const char *const openings[] = {"", "", "in short", "to be honest", NULL};
static const char *const strengths[] = {"", "", "really", "quite", "simply", "rather", "truly", NULL};
static const char *const times[] = {"last night", "on sunday", "this time", "in march", NULL};
static const char *const endings[] = {"", "", "and said so", "from the start", NULL};
static const char *const masses[] = {"service", "food", "music", "acting", "weather", "coffee", NULL};
static const char *const parts[] = {"opening", "middle", "ending", "cast", "story", "sound", NULL};
static const char *const works[] = {"the film",    "the play",   "her new novel",
                                    "the concert", "the series", NULL};

static const char *pick(struct numpy_generator *generator, const char *const *choices) {
    int64_t count = 0;
    while (choices[count] != NULL)
        count++;
    return choices[numpy_integer(generator, 0, count)];
}

static const char *const *choices_of(char letter, bool is_positive) {
    switch (letter) {
    case 't':
        return things;
    case 'w':
        return people;
    case 'o':
        return openings;
    case 'v':
        return strengths;
    case 'n':
        return times;
    case 'e':
        return endings;
    case 'm':
        return masses;
    case 'p':
        return parts;
    case 'k':
        return works;
    default:
        return is_positive ? decisive_positive_words : decisive_negative_words;
    }
}

/* Writes one sentence with single spaces between its words and returns its length. `size` must be enough for
 * every frame. */
static size_t draw_sentence(struct numpy_generator *generator, bool is_positive, char *sentence,
                            size_t size) {
    const char *frame = frames[numpy_integer(generator, 0, sizeof frames / sizeof *frames)];
    size_t length = 0;
    while (*frame != '\0') {
        const char *word = frame;
        size_t word_length = strcspn(frame, " ");
        frame += word_length + (frame[word_length] == ' ');
        if (word[0] == '%') {
            word = pick(generator, choices_of(word[1], is_positive));
            word_length = strlen(word);
        }
        if (word_length == 0 || length + word_length + 1 > size)
            continue;
        if (length > 0)
            sentence[length++] = ' ';
        memcpy(sentence + length, word, word_length);
        length += word_length;
    }
    return length;
}

/* Half the labels are 1, in shuffled order; then the sentences are drawn one after the other. */
static bool draw_rows(struct dataset_builder *builder, size_t count, uint64_t seed,
                      const struct stop_request *stop, struct error *error) {
    static const struct delimited_field negative = {"negative", 8}, positive = {"positive", 8};
    struct numpy_generator generator;
    numpy_generator_seed(&generator, seed);
    size_t *order = malloc((count + 1) * sizeof *order);
    if (order == NULL)
        return error_set_memory(error, (count + 1) * sizeof *order);
    numpy_permutation(&generator, order, count);
    bool succeeded = true;
    for (size_t i = 0; succeeded && i < count; i++) {
        char sentence[256];
        bool is_positive = order[i] % 2 == 1;
        struct delimited_field text = {sentence,
                                       draw_sentence(&generator, is_positive, sentence, sizeof sentence)};
        succeeded =
            dataset_builder_add_text(builder, i + 1, text, is_positive ? positive : negative, error) &&
            stop_check(stop, error);
    }
    free(order);
    return succeeded;
}

struct dataset *reviews_draw(size_t train_count, uint64_t train_seed, size_t test_count, uint64_t test_seed,
                             const struct stop_request *stop, struct error *error) {
    struct dataset_builder builder;
    bool succeeded = dataset_builder_start(&builder, DATASET_TEXT, 0, error) &&
                     dataset_builder_add_class(&builder, "negative", error) &&
                     dataset_builder_add_class(&builder, "positive", error) &&
                     draw_rows(&builder, train_count, train_seed, stop, error) &&
                     draw_rows(&builder, test_count, test_seed, stop, error);
    return dataset_builder_finish(&builder, succeeded, error);
}

static void describe(const struct task_request *request, struct task_summary *summary) {
    /* About a hundred words occur in the frames and choices together. */
    enum { MOST_WORDS = 200 };
    *summary = (struct task_summary){
        .kind = DATASET_TEXT,
        .sequence_length = request->sequence_length > 0 ? request->sequence_length : 20,
        .train_examples = request->train_examples > 0 ? request->train_examples : 1600,
        .test_examples = request->test_examples > 0 ? request->test_examples : 400,
        .sequence_length_maximum = SIZE_MAX,
        .example_maximum = SIZE_MAX,
        .class_count = 2,
        .vocabulary_maximum = TOKEN_FIRST_WORD + MOST_WORDS,
    };
    /* The sentences are drawn into a data set first, of which the task makes its own. */
    enum { TOKENS = 16, SENTENCE_BYTES = 112, DRAWS_OF_ROW = 300 };
    double rows = (double)summary->train_examples + (double)summary->test_examples;
    summary->memory_bytes = rows * dataset_row_bytes(TOKENS, SENTENCE_BYTES) +
                            rows * dataset_task_row_bytes(summary->sequence_length, SENTENCE_BYTES);
    summary->draws = rows * DRAWS_OF_ROW;
}

static struct task *open_task(const struct task_request *request, struct error *error) {
    struct task_summary summary;
    describe(request, &summary);
    struct dataset *dataset = reviews_draw(summary.train_examples, request->train_seed, summary.test_examples,
                                           request->test_seed, request->stop, error);
    if (dataset == NULL)
        return NULL;
    struct task_request split = *request;
    split.sequence_length = summary.sequence_length;
    split.train_examples = summary.train_examples;
    split.test_examples = summary.test_examples;
    struct task *task = dataset_task_open(&split, dataset, error);
    dataset_free(dataset);
    return task;
}

const struct task_maker task_reviews = {
    .name = "reviews",
    .summary = "sentences of 6 to 16 words, labelled by the one word that decides",
    .decisive_words = {decisive_negative_words, decisive_positive_words},
    .describe = describe,
    .open = open_task,
};
