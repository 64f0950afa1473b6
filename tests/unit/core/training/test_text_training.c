/* `train` on text, from the user's file to the result, against PyTorch: on a small data set in this
 * repository, and on the reference folder's reviews.tsv if it is available. */
#include "core/parameters/parse.h"
#include "core/tasks/dataset_parse.h"
#include "core/training/inspection.h"
#include "core/training/setup.h"
#include "tests/reference/golden_lab.h"
#include "tests/reference/golden_lab_double.h"
#include "tests/reference/golden_text.h"
#include "tests/unit/core/experiments/run_experiment.h"
#include "tests/unit/main.h"

#include <stdio.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* The only data set, which the run finds under the name "own". */
static struct dataset *own;

static const struct dataset *find_own(void *owner, const char *name, struct error *error) {
    (void)owner;
    if (own != NULL && strcmp(name, "own") == 0)
        return own;
    error_set(error, ERROR_MISSING, "no data set %s", name);
    return NULL;
}

static const struct data_source data = {.find_dataset = find_own};

static void parse_own(const char *bytes, size_t size) {
    struct error error = {0};
    own = dataset_parse_tsv(bytes, size, &error);
    ck_assert_msg(own != NULL, "%s", error.message);
}

/* One run: the losses it reported, its final weights, and an inspection of them. */
struct fixture {
    struct parameter_set set;
    struct result_tree tree;
    struct error error;
    double losses[64];
    float *weights;
    size_t weight_count;
    struct inspection *inspection;
};

static void on_step(void *owner, size_t step, double loss) {
    struct fixture *fixture = owner;
    if (step <= 64)
        fixture->losses[step - 1] = loss;
}

static bool on_epoch(void *owner, const struct epoch_metrics *metrics, const float *weights,
                     size_t weight_count, const void *checkpoint, size_t checkpoint_size,
                     struct error *error) {
    struct fixture *fixture = owner;
    (void)metrics;
    (void)checkpoint;
    (void)checkpoint_size;
    (void)error;
    fixture->weights = realloc(fixture->weights, weight_count * sizeof *weights);
    memcpy(fixture->weights, weights, weight_count * sizeof *weights);
    fixture->weight_count = weight_count;
    return true;
}

/* Trains with `settings` and `seed`. */
static void train(struct fixture *fixture, const char *const *settings, uint64_t seed) {
    const struct experiment *experiment = &experiment_train;
    struct parameter_faults faults = {0};
    struct error *error = &fixture->error;
    memset(fixture, 0, sizeof *fixture);
    struct parameter_set *set = &fixture->set;
    ck_assert(parameter_set_init(set, experiment->parameters, experiment->parameter_count, error));
    for (; *settings != NULL; settings += 2)
        parameter_set_from_text(set, (size_t)parameter_find(set, settings[0]), settings[1], &faults);
    parameter_set_integer(set, (size_t)parameter_find(set, "seed"), (int64_t)seed, &faults);
    ck_assert(experiment_prepare(experiment, set, &data, TEST_MEMORY_LIMIT, &faults, error));
    ck_assert_msg(faults.count == 0, "%s", faults.count > 0 ? faults.items[0].message : "");
    struct experiment_context context = test_context(set, &fixture->tree);
    context.data = data;
    context.host.listener = (struct run_listener){.owner = fixture, .step = on_step, .epoch = on_epoch};
    ck_assert_msg(experiment->run(&context, error), "%s", error->message);
    fixture->inspection = inspection_open(set, &data, NULL, error);
    ck_assert_msg(fixture->inspection != NULL, "%s", error->message);
    ck_assert(inspection_load_weights(fixture->inspection, fixture->weights, fixture->weight_count, error));
}

static void tear_down(struct fixture *fixture) {
    inspection_close(fixture->inspection);
    parameter_set_free(&fixture->set);
    result_tree_free(&fixture->tree);
    free(fixture->weights);
    dataset_free(own);
    own = NULL;
}

static double number_of(const struct fixture *fixture, const char *path) {
    double number = (double)NAN;
    ck_assert_uint_eq(result_tree_numbers(&fixture->tree, path, (double)NAN, &number, 1), 1);
    return number;
}

static double largest_difference(const double *got, const double *expected, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(got[i] - expected[i]));
    return largest;
}

struct small_case {
    const char *name;
    uint64_t seed;
    const char *position, *heads, *feedforward_width, *layers;
    size_t parameter_count, correct, hits;
    const double *losses, *logits, *attention;
    size_t attention_count;
};

static const struct small_case small_cases[] = {
    {"lab", 0, "learned", "4", "64", "1", lab_parameters, lab_correct, lab_hits, lab_losses, lab_logits,
     lab_attention, COUNT_OF(lab_attention)},
    {"no position", 1, "none", "4", "64", "1", no_position_parameters, no_position_correct, no_position_hits,
     no_position_losses, no_position_logits, no_position_attention, COUNT_OF(no_position_attention)},
    {"stacked", 42, "learned", "2", "24", "2", stacked_parameters, stacked_correct, stacked_hits,
     stacked_losses, stacked_logits, stacked_attention, COUNT_OF(stacked_attention)},
};

/* Compares the trained model's logits for the first three test lines, and the last layer's attention for the
 * first. The lines are passed as text, as a user would enter them. */
static void check_trained_model(const struct small_case *golden, const struct fixture *fixture) {
    struct inspection *inspection = fixture->inspection;
    struct error error = {0};
    for (size_t line = 0; line < 3; line++) {
        struct inspection_example example;
        struct prediction prediction;
        ck_assert(inspection_example(inspection, true, line, &example, &error));
        ck_assert(inspection_predict_text(inspection, example.text, &prediction, &error));
        for (size_t i = 0; i < 2; i++)
            ck_assert_double_le(fabs((double)prediction.logits[i] - golden->logits[2 * line + i]), 1e-4);
        if (line > 0)
            continue;
        size_t size = prediction.length * prediction.length, heads = prediction.heads;
        ck_assert_uint_eq(golden->attention_count, heads * size);
        const float *last = prediction.attention + (prediction.layers - 1) * heads * size;
        for (size_t i = 0; i < heads * size; i++)
            ck_assert_double_le(fabs((double)last[i] - golden->attention[i]), 1e-4);
    }
}

START_TEST(small_data_set_trains_as_in_pytorch) {
    const struct small_case *golden = &small_cases[_i];
    char text[8192] = "";
    for (int i = 0; i < COUNT_OF(text_golden_lines); i++)
        strcat(strcat(text, text_golden_lines[i]), "\n");
    parse_own(text, strlen(text));
    struct fixture fixture;
    train(&fixture,
          SETTINGS("task", "own", "model", "transformer", "sequence_length", "12", "epochs", "6",
                   "batch_size", "16", "position", golden->position, "heads", golden->heads,
                   "feedforward_width", golden->feedforward_width, "layers", golden->layers),
          golden->seed);
    ck_assert_double_eq(number_of(&fixture, "parameter_count"), (double)golden->parameter_count);
    double difference = largest_difference(fixture.losses, golden->losses, COUNT_OF(lab_losses));
    ck_assert_msg(difference < 1e-5, "%s: losses differ by %g", golden->name, difference);
    ck_assert_double_eq(number_of(&fixture, "test_accuracy"), (double)golden->correct / TEXT_GOLDEN_TEST);
    ck_assert_double_eq(number_of(&fixture, "decisive_word.of"), TEXT_GOLDEN_TEST);
    ck_assert_double_eq(number_of(&fixture, "decisive_word.hits"), (double)golden->hits);
    check_trained_model(golden, &fixture);
    tear_down(&fixture);
}
END_TEST

/* The whole file, or NULL if the reference folder is not available. */
static char *read_reviews(size_t *size) {
    const char *folder = getenv("ATTNLAB_REFERENCE");
    char path[512];
    snprintf(path, sizeof path, "%s/reference/reviews.tsv", folder != NULL ? folder : "../shared");
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        printf("skipped: %s does not exist; set ATTNLAB_REFERENCE to the folder that contains "
               "reference/reviews.tsv\n",
               path);
        return NULL;
    }
    enum { CAPACITY = 1 << 20 };
    char *bytes = malloc(CAPACITY);
    *size = fread(bytes, 1, CAPACITY, file);
    fclose(file);
    return bytes;
}

/* The losses must be PyTorch's in float32 or in double: where rounding decides, the sets of kernels part as
 * those two do (make_lab_double_golden.py). */
START_TEST(reviews_train_as_in_the_lab) {
    const struct lab_run *golden = &lab_runs[_i];
    size_t size = 0;
    char *bytes = read_reviews(&size);
    if (bytes == NULL)
        return;
    parse_own(bytes, size);
    free(bytes);
    struct fixture fixture;
    train(&fixture,
          SETTINGS("task", "own", "model", "transformer", "position", golden->position ? "learned" : "none"),
          golden->seed);
    ck_assert_double_eq(number_of(&fixture, "parameter_count"), (double)golden->parameter_count);
    double difference = largest_difference(fixture.losses, golden->losses, 64);
    double from_double = largest_difference(fixture.losses, lab_double_losses[_i], 64);
    ck_assert_msg(fmin(difference, from_double) < 1e-5, "seed %d: losses differ by %g, from double by %g",
                  (int)golden->seed, difference, from_double);
    ck_assert_double_eq(number_of(&fixture, "test_accuracy"), golden->test_accuracy);
    ck_assert_double_eq(number_of(&fixture, "decisive_word.of"), (double)golden->of);
    ck_assert_double_le(fabs(number_of(&fixture, "decisive_word.hits") - (double)golden->hits), 3);
    tear_down(&fixture);
}
END_TEST

/* Every model learns the built-in sentences, because each contains its decisive word. */
START_TEST(every_model_learns_reviews) {
    static const char *const models[] = {"rnn", "lstm", "attention", "transformer"};
    struct fixture fixture;
    train(&fixture, SETTINGS("task", "reviews", "model", models[_i]), 0);
    ck_assert_msg(number_of(&fixture, "test_accuracy") > 0.95, "%s: %g", models[_i],
                  number_of(&fixture, "test_accuracy"));
    if (_i >= 2)
        ck_assert_double_eq(number_of(&fixture, "decisive_word.of"), 120);
    tear_down(&fixture);
}
END_TEST

START_TEST(unknown_words_are_shown) {
    struct fixture fixture;
    struct prediction prediction;
    train(&fixture, SETTINGS("task", "reviews", "model", "transformer", "epochs", "1"), 0);
    ck_assert(inspection_predict_text(fixture.inspection, "it was zzyzx", &prediction, &fixture.error));
    ck_assert_uint_eq(prediction.token_count, 3);
    ck_assert(!prediction.unknown[0] && prediction.unknown[2]);
    tear_down(&fixture);
}
END_TEST

/* A run that an earlier version stored has no parameter `vocabulary`; its weights fit only the vocabulary
 * that this version built. */
START_TEST(a_run_stored_without_a_vocabulary_has_that_of_its_training_rows) {
    struct parameter_set set;
    struct parameter_faults faults = {0};
    ck_assert(parameter_set_init(&set, experiment_train.parameters, experiment_train.parameter_count, NULL));
    parameter_set_from_text(&set, (size_t)parameter_find(&set, "task"), "reviews", &faults);
    ck_assert_int_eq(setup_task_request(&set).vocabulary, TASK_VOCABULARY_TRAINING);
    ck_assert(!setup_task_request(&set).standardise);
    parameter_set_from_text(&set, (size_t)parameter_find(&set, "vocabulary"), "all", &faults);
    ck_assert_int_eq(setup_task_request(&set).vocabulary, TASK_VOCABULARY_ALL);
    parameter_set_free(&set);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, a_run_stored_without_a_vocabulary_has_that_of_its_training_rows);
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, small_data_set_trains_as_in_pytorch, 0, COUNT_OF(small_cases));
    tcase_add_loop_test(tests, reviews_train_as_in_the_lab, 0, COUNT_OF(lab_runs));
    tcase_add_loop_test(tests, every_model_learns_reviews, 0, 4);
    tcase_add_test(tests, unknown_words_are_shown);
}
