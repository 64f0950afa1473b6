/* From text to ids: tokens, vocabulary, the task `reviews`, and the split of a data set. */
#include "core/tasks/dataset_parse.h"
#include "core/tasks/decisive.h"
#include "core/tasks/reviews.h"
#include "core/tasks/task.h"
#include "core/tasks/tokenize.h"
#include "core/tasks/vocabulary.h"
#include "tests/unit/main.h"

#include <stdlib.h>
#include <string.h>

static bool append_token(void *owner, const char *token, size_t length) {
    char *joined = owner;
    if (joined[0] != '\0')
        strcat(joined, "|");
    strncat(joined, token, length);
    return true;
}

static const char *const token_cases[][2] = {
    {"looked scene cast a this", "looked|scene|cast|a|this"},
    {"Wow... Loved this place.", "wow|...|loved|this|place|."},
    {"  Great,\tREALLY great!!", "great|,|really|great|!!"},
    {"don't  it\xE2\x80\x99s 'quoted' dogs'", "don't|it's|'|quoted|'|dogs|'"},
    {"\xC3\x89l\xC3\xA8ve \xC3\x9C\xC3\x9F \xC5\xA0koda \xC4\xB0stanbul",
     "\xC3\xA9l\xC3\xA8ve|\xC3\xBC\xC3\x9F|\xC5\xA1koda|istanbul"},
    {"\xD0\x9F\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82 \xCE\x91\xCE\xA9",
     "\xD0\xBF\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82|\xCE\xB1\xCF\x89"},
    {"well-made \xE2\x80\x9Cthing\xE2\x80\x9D", "well|-|made|\xE2\x80\x9C|thing|\xE2\x80\x9D"},
    {"\xE4\xBD\xA0\xE5\xA5\xBD ok", "\xE4\xBD\xA0|\xE5\xA5\xBD|ok"},
    {"good \xF0\x9F\x98\x80", "good|\xF0\x9F\x98\x80"},
    {"nobreak\xC2\xA0space", "nobreak|space"},
    {"what?!... --", "what|?|!|...|--"},
    {"\xE5\x93\x88\xE5\x93\x88", "\xE5\x93\x88|\xE5\x93\x88"},
    {"\xD0\x81\xD0\xB6", "\xD1\x91\xD0\xB6"},
    {"\xC6\xA0\xC6\xAF \xC6\xA1\xC6\xB0 \xC6\x8Fla", "\xC6\xA1\xC6\xB0|\xC6\xA1\xC6\xB0|\xC9\x99la"},
    {"\xC8\xBA\xC8\xBE\xC8\xBA", "\xE2\xB1\xA5\xE2\xB1\xA6\xE2\xB1\xA5"},
    {"\xE1\xB2\x92\xE1\xB2\x90 \xE1\x83\x92\xE1\x83\x90",
     "\xE1\x83\x92\xE1\x83\x90|\xE1\x83\x92\xE1\x83\x90"},
    {"\xE0\xA4\x95\xE0\xA5\xA4 \xE1\x88\x80\xE1\x8D\xA2",
     "\xE0\xA4\x95|\xE0\xA5\xA4|\xE1\x88\x80|\xE1\x8D\xA2"},
    {" \t ", ""},
};

START_TEST(text_splits_into_tokens) {
    char joined[256] = "";
    ck_assert(tokenize_text(token_cases[_i][0], strlen(token_cases[_i][0]), append_token, joined));
    ck_assert_str_eq(joined, token_cases[_i][1]);
}
END_TEST

static struct dataset *parse(const char *text) {
    struct error error = {0};
    struct dataset *dataset = dataset_parse_tsv(text, strlen(text), &error);
    ck_assert_msg(dataset != NULL, "%s", error.message);
    return dataset;
}

/* Five rows: four for training, one for testing. "new" occurs only in the test part, "far" only beyond the
 * sequence length. */
static const char *const five_rows = "1\tthe food was great\n0\tthe room was bad far\n1\tgreat food\n"
                                     "0\ta bad day\n1\tgreat new food\n";

START_TEST(vocabulary_comes_from_the_training_part) {
    struct dataset *dataset = parse(five_rows);
    struct error error = {0};
    struct vocabulary *vocabulary = vocabulary_build(dataset, 4, 4, &error);
    ck_assert_ptr_nonnull(vocabulary);
    ck_assert_uint_eq(vocabulary_size(vocabulary), 8 + 2);
    ck_assert_int_eq(vocabulary_id(vocabulary, "the"), 2);
    ck_assert_int_eq(vocabulary_id(vocabulary, "great"), 5);
    ck_assert_int_eq(vocabulary_id(vocabulary, "day"), 9);
    ck_assert_int_eq(vocabulary_id(vocabulary, "new"), TOKEN_UNKNOWN);
    ck_assert_int_eq(vocabulary_id(vocabulary, "far"), TOKEN_UNKNOWN);
    ck_assert_str_eq(vocabulary_word(vocabulary, 9), "day");
    vocabulary_free(vocabulary);
    dataset_free(dataset);
}
END_TEST

START_TEST(data_set_becomes_a_task) {
    struct dataset *dataset = parse(five_rows);
    struct error error = {0};
    struct task_request request = {.name = "five", .sequence_length = 4};
    struct task *task = dataset_task_open(&request, dataset, &error);
    ck_assert_msg(task != NULL, "%s", error.message);
    dataset_free(dataset);
    ck_assert_uint_eq(task->train.count, 4);
    ck_assert_uint_eq(task->test.count, 1);
    ck_assert_uint_eq(task->vocabulary_size, 10);
    ck_assert_str_eq(task->vocabulary[2], "the");
    static const int32_t second[] = {2, 6, 4, 7}, last[] = {5, TOKEN_UNKNOWN, 3, TOKEN_PADDING};
    ck_assert_mem_eq(task->train.tokens + 4, second, sizeof second);
    ck_assert_mem_eq(task->test.tokens, last, sizeof last);
    ck_assert_str_eq(task->test.words[1], "new");
    ck_assert_ptr_null(task->test.words[3]);
    ck_assert_str_eq(task->train.texts[1], "the room was bad far");
    ck_assert_int_eq(task->train.labels[0], 1);
    /* Each row has one word of the list, on the side of its class. */
    ck_assert_ptr_nonnull(task->train.decisive);
    ck_assert_int_eq(task->train.decisive[0], 3);
    ck_assert_int_eq(task->train.decisive[3], 1);
    ck_assert_int_eq(task->test.decisive[0], 0);

    int32_t tokens[4];
    const char *words[4];
    size_t count = 0;
    void *memory = NULL;
    ck_assert(task->encode(task, "GREAT! the food there was", tokens, words, &count, &memory, &error));
    static const int32_t expected[] = {5, TOKEN_UNKNOWN, 2, 3};
    ck_assert_uint_eq(count, 4);
    ck_assert_mem_eq(tokens, expected, sizeof expected);
    ck_assert_str_eq(words[1], "!");
    free(memory);
    ck_assert(task->encode(task, "", tokens, words, &count, &memory, &error));
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(tokens[0], TOKEN_PADDING);
    free(memory);
    task->destroy(task);
}
END_TEST

/* The lab counts words over all lines, before it cuts the lines to their length. */
START_TEST(the_vocabulary_of_all_rows_knows_every_word) {
    struct dataset *dataset = parse(five_rows);
    struct error error = {0};
    struct task_request request = {.name = "five", .sequence_length = 4, .vocabulary = TASK_VOCABULARY_ALL};
    struct task *task = dataset_task_open(&request, dataset, &error);
    ck_assert_msg(task != NULL, "%s", error.message);
    ck_assert_uint_eq(task->vocabulary_size, dataset->word_count + TOKEN_FIRST_WORD);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_ne(task->test.tokens[i], TOKEN_UNKNOWN);
        if (task->test.words[i] != NULL)
            ck_assert_str_eq(task->vocabulary[task->test.tokens[i]], task->test.words[i]);
    }
    task->destroy(task);
    dataset_free(dataset);
}
END_TEST

START_TEST(a_decisive_word_may_be_cut_off) {
    struct dataset *dataset = parse(five_rows);
    struct task_request request = {.name = "five", .sequence_length = 3};
    struct task *task = dataset_task_open(&request, dataset, NULL);
    ck_assert_ptr_nonnull(task);
    ck_assert_int_eq(task->train.decisive[0], -1); /* the fourth word */
    ck_assert_int_eq(task->train.decisive[2], 0);
    task->destroy(task);
    dataset_free(dataset);
}
END_TEST

START_TEST(split_can_be_asked_for) {
    struct dataset *dataset = parse(five_rows);
    struct error error = {0};
    struct task_request request = {.name = "five", .train_examples = 2, .test_examples = 2};
    struct task *task = dataset_task_open(&request, dataset, &error);
    ck_assert_msg(task != NULL, "%s", error.message);
    ck_assert_uint_eq(task->train.count, 2);
    ck_assert_str_eq(task->test.texts[1], "a bad day");
    ck_assert_uint_eq(task->sequence_length, 20);
    task->destroy(task);
    request.train_examples = 0; /* 80 %, but no more than the test part leaves */
    task = dataset_task_open(&request, dataset, &error);
    ck_assert_msg(task != NULL, "%s", error.message);
    ck_assert_uint_eq(task->train.count, 3);
    ck_assert_uint_eq(task->test.count, 2);
    task->destroy(task);
    request.train_examples = 4;
    ck_assert_ptr_null(dataset_task_open(&request, dataset, &error));
    ck_assert_int_eq(error.code, ERROR_INVALID);
    dataset_free(dataset);
}
END_TEST

START_TEST(numbers_become_a_task) {
    static const char text[] = "a,b,c,label\n1,2,3,x\n4,5,6,y\n7,8,9,x\n";
    struct error error = {0};
    struct dataset *dataset = dataset_parse_csv(text, sizeof text - 1, &error);
    struct task_request request = {.name = "numbers", .sequence_length = 2};
    struct task *task = dataset_task_open(&request, dataset, &error);
    ck_assert_msg(task != NULL, "%s", error.message);
    static const float train[] = {1, 2, 4, 5}, test[] = {7, 8};
    ck_assert_uint_eq(task->train.count, 2);
    ck_assert_mem_eq(task->train.values, train, sizeof train);
    ck_assert_mem_eq(task->test.values, test, sizeof test);
    ck_assert_ptr_null(task->train.tokens);
    task->destroy(task);
    request.sequence_length = 4;
    ck_assert_ptr_null(dataset_task_open(&request, dataset, &error));
    ck_assert_int_eq(error.code, ERROR_INVALID);
    dataset_free(dataset);
}
END_TEST

/* If one row has no word of the list, or two, or one on the wrong side, the data set has no decisive words.
 */
START_TEST(one_unclear_row_leaves_no_decisive_words) {
    static const char *const undecided[] = {
        "1\tgreat food\n0\ta cold room\n",
        "1\tgreat and lovely\n0\tbad room\n",
        "1\tgreat food\n0\tbad room\n1\tbad soup\n",
        "1\tgreat food\n1\tbad room\n0\tlovely\n",
    };
    for (size_t i = 0; i < sizeof undecided / sizeof *undecided; i++) {
        struct dataset *dataset = parse(undecided[i]);
        int32_t positions[3];
        ck_assert_msg(!decisive_find_positions(dataset, positions), "file %zu", i);
        dataset_free(dataset);
    }
    /* The classes may have any names. */
    struct dataset *dataset = parse("0\tgreat food\n1\ta bad room\n");
    int32_t positions[2];
    ck_assert(decisive_find_positions(dataset, positions));
    ck_assert_int_eq(positions[0], 0);
    ck_assert_int_eq(positions[1], 1);
    dataset_free(dataset);
}
END_TEST

START_TEST(reviews_are_as_documented) {
    struct error error = {0};
    struct dataset *dataset = reviews_draw(1600, 1, 400, 2, NULL, &error);
    ck_assert_msg(dataset != NULL, "%s", error.message);
    ck_assert_uint_eq(dataset->row_count, 2000);
    ck_assert_uint_eq(dataset->class_count, 2);
    ck_assert_str_eq(dataset->class_names[1], "positive");
    int32_t positions[2000];
    ck_assert(decisive_find_positions(dataset, positions));
    size_t positive = 0, shortest = SIZE_MAX, longest = 0;
    for (size_t row = 0; row < 2000; row++) {
        size_t length = dataset->token_start[row + 1] - dataset->token_start[row];
        shortest = length < shortest ? length : shortest;
        longest = length > longest ? length : longest;
        positive += dataset->labels[row] == 1;
        if (row == 1599)
            ck_assert_uint_eq(positive, 800);
    }
    ck_assert_uint_eq(positive, 1000);
    ck_assert_uint_eq(shortest, REVIEWS_FEWEST_WORDS);
    ck_assert_uint_eq(longest, REVIEWS_MOST_WORDS);
    dataset_free(dataset);
}
END_TEST

START_TEST(reviews_follow_their_seeds) {
    struct error error = {0};
    struct dataset *first = reviews_draw(20, 1, 10, 2, NULL, &error),
                   *same = reviews_draw(20, 1, 10, 2, NULL, &error);
    struct dataset *other = reviews_draw(20, 3, 10, 2, NULL, &error);
    size_t different = 0;
    for (size_t row = 0; row < 30; row++) {
        ck_assert_str_eq(first->texts[row], same->texts[row]);
        if (row < 20)
            different += strcmp(first->texts[row], other->texts[row]) != 0;
        else
            ck_assert_str_eq(first->texts[row], other->texts[row]);
    }
    ck_assert_uint_gt(different, 10);
    dataset_free(first);
    dataset_free(same);
    dataset_free(other);
}
END_TEST

START_TEST(reviews_are_a_task) {
    struct error error = {0};
    struct task_request request = {.name = "reviews", .train_seed = 1, .test_seed = 2};
    struct task_summary summary;
    task_reviews.describe(&request, &summary);
    struct task *task = task_reviews.open(&request, &error);
    ck_assert_msg(task != NULL, "%s", error.message);
    ck_assert_uint_eq(task->train.count, 1600);
    ck_assert_uint_eq(task->test.count, 400);
    ck_assert_uint_eq(task->sequence_length, 20);
    ck_assert_uint_le(task->vocabulary_size, summary.vocabulary_maximum);
    ck_assert_ptr_nonnull(task->test.decisive);
    task->destroy(task);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_loop_test(tests, text_splits_into_tokens, 0, sizeof token_cases / sizeof *token_cases);
    tcase_add_test(tests, vocabulary_comes_from_the_training_part);
    tcase_add_test(tests, data_set_becomes_a_task);
    tcase_add_test(tests, the_vocabulary_of_all_rows_knows_every_word);
    tcase_add_test(tests, a_decisive_word_may_be_cut_off);
    tcase_add_test(tests, split_can_be_asked_for);
    tcase_add_test(tests, numbers_become_a_task);
    tcase_add_test(tests, one_unclear_row_leaves_no_decisive_words);
    tcase_add_test(tests, reviews_are_as_documented);
    tcase_add_test(tests, reviews_follow_their_seeds);
    tcase_add_test(tests, reviews_are_a_task);
}
