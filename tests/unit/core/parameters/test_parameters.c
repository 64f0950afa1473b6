/* Parameters: every check and its message, defaults, copies, the command line's notation, nearest names. */
#include "core/parameters/parse.h"
#include "tests/unit/main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const masks[] = {"none", "causal", NULL};
static const char *const models[] = {"rnn", "lstm", "attention", NULL};

/* Choices from a table, and parameters that apply only to some of them. */
static const char *gait_name(size_t index) {
    static const char *const names[] = {"walk", "trot", "canter"};
    return index < 3 ? names[index] : NULL;
}

static const char *gait_title(size_t index) {
    static const char *const titles[] = {"Walking", "Trotting", "Cantering"};
    return titles[index];
}

/* "bounce" applies to all choices except walking, "lead" only to cantering, "speed" to all. */
static bool gait_counts(const char *gait, const char *name) {
    if (strcmp(name, "bounce") == 0)
        return strcmp(gait, "walk") != 0;
    return strcmp(name, "speed") == 0 || strcmp(gait, "canter") == 0;
}

static const struct parameter_choice_table gaits = {gait_name, gait_title};
static const struct parameter_condition of_gait = {"gait", &gaits, gait_counts};

enum { EPOCHS, LEARNING_RATE, SCALE, MASK, TASK, DIMENSIONS, MODELS, Q, WIDTH, GAIT, COUNT };

static const struct parameter_declaration declarations[COUNT] = {
    [EPOCHS] =
        {.name = "epochs", .type = PARAMETER_INTEGER, .minimum = 1, .maximum = 100, .default_number = 60},
    [LEARNING_RATE] = {.name = "learning_rate",
                       .type = PARAMETER_REAL,
                       .minimum = 0,
                       .maximum = 10,
                       .minimum_excluded = true,
                       .default_number = 0.005},
    [SCALE] = {.name = "scale", .type = PARAMETER_BOOLEAN, .default_number = 1},
    [MASK] = {.name = "mask", .type = PARAMETER_CHOICE, .choices = masks, .default_text = "none"},
    [TASK] = {.name = "task", .type = PARAMETER_TEXT, .length_maximum = 8, .default_text = "reviews"},
    [DIMENSIONS] = {.name = "dimensions",
                    .type = PARAMETER_INTEGER_LIST,
                    .minimum = 1,
                    .maximum = 4096,
                    .length_maximum = 3,
                    .default_text = "4,16"},
    [MODELS] = {.name = "models",
                .type = PARAMETER_CHOICE_LIST,
                .choices = models,
                .default_text = "rnn,attention"},
    [Q] = {.name = "q", .type = PARAMETER_MATRIX, .length_maximum = 4},
    [WIDTH] =
        {.name = "width", .type = PARAMETER_INTEGER, .minimum = 1, .maximum = 64, .default_depends = true},
    [GAIT] = {.name = "gait", .type = PARAMETER_CHOICE, .choice_table = &gaits, .default_text = "trot"},
};

static struct parameter_set set;
static struct parameter_faults faults;

static void setup(void) {
    ck_assert(parameter_set_init(&set, declarations, COUNT, NULL));
}

static void teardown(void) {
    parameter_set_free(&set);
    parameter_faults_free(&faults);
}

/* Asserts that setting the value failed and left it unset, and that the only new fault has this message. */
static void assert_fault(bool taken, size_t index, const char *message) {
    ck_assert(!taken);
    ck_assert(!set.values[index].is_set);
    ck_assert_uint_eq(faults.count, 1);
    ck_assert_str_eq(faults.items[0].field, declarations[index].name);
    ck_assert_str_eq(faults.items[0].message, message);
    parameter_faults_free(&faults);
}

static void assert_text_fault(size_t index, const char *text, const char *message) {
    assert_fault(parameter_set_from_text(&set, index, text, &faults), index, message);
}

START_TEST(a_truncated_text_ends_with_a_whole_character) {
    char name[100], message[100];
    struct error error = {0};
    for (size_t before = 56; before < 64; before++) {
        memset(name, 'k', before);
        strcpy(name + before, "\xef\xbb\xbf\xc3\xa9\xf0\x9f\x98\x80");
        parameter_faults_add(&faults, name, "x");
        const char *field = faults.items[0].field;
        size_t kept = strlen(field), whole = before;
        for (size_t step = 3; whole + step < sizeof faults.items[0].field && step > 0; step = step == 3   ? 2
                                                                                              : step == 2 ? 4
                                                                                                          : 0)
            whole += step;
        ck_assert_uint_eq(kept, whole);
        ck_assert_int_eq(strncmp(field, name, kept), 0);
        parameter_faults_free(&faults);
    }
    memset(message, 'm', 99);
    message[99] = 0;
    error_set(&error, ERROR_INVALID, "%s%s%s%s%s\xc3\xa9", message, message, message, message, message + 17);
    ck_assert_uint_eq(strlen(error.message), sizeof error.message - 2);
}
END_TEST

START_TEST(numbers_keep_to_their_range) {
    ck_assert(parameter_set_integer(&set, EPOCHS, 1, &faults));
    ck_assert(parameter_set_integer(&set, EPOCHS, 100, &faults));
    ck_assert_int_eq(parameter_integer(&set, "epochs"), 100);
    ck_assert(parameter_set_real(&set, LEARNING_RATE, 10, &faults));
    ck_assert(parameter_set_real(&set, LEARNING_RATE, 1e-12, &faults));
    ck_assert(parameter_real(&set, "learning_rate") == 1e-12);
    ck_assert_uint_eq(faults.count, 0);
    assert_fault(parameter_set_integer(&set, EPOCHS, 0, &faults), EPOCHS,
                 "must be at least 1 and at most 100; got 0");
    assert_fault(parameter_set_integer(&set, EPOCHS, 101, &faults), EPOCHS,
                 "must be at least 1 and at most 100; got 101");
    assert_fault(parameter_set_real(&set, LEARNING_RATE, -1, &faults), LEARNING_RATE,
                 "must be above 0 and at most 10; got -1");
    assert_fault(parameter_set_real(&set, LEARNING_RATE, 0, &faults), LEARNING_RATE,
                 "must be above 0 and at most 10; got 0");
    assert_fault(parameter_set_real(&set, LEARNING_RATE, 10.5, &faults), LEARNING_RATE,
                 "must be above 0 and at most 10; got 10.5");
    ck_assert(!parameter_set_real(&set, LEARNING_RATE, (double)NAN, &faults));
    ck_assert(!parameter_set_real(&set, LEARNING_RATE, (double)INFINITY, &faults));
    ck_assert(!parameter_set_real(&set, EPOCHS, (double)INFINITY, &faults));
    ck_assert_uint_eq(faults.count, 3);
}
END_TEST

START_TEST(equal_integers_and_reals_stand_for_each_other) {
    ck_assert(parameter_set_integer(&set, LEARNING_RATE, 1, &faults));
    ck_assert(parameter_real(&set, "learning_rate") == 1.0);
    ck_assert(parameter_set_real(&set, EPOCHS, 3.0, &faults));
    ck_assert_int_eq(parameter_integer(&set, "epochs"), 3);
    assert_fault(parameter_set_real(&set, EPOCHS, 3.5, &faults), EPOCHS, "must be a whole number; got 3.5");
}
END_TEST

START_TEST(wrong_types_are_faults) {
    const int64_t numbers[] = {1, 2};
    const char *const texts[] = {"rnn"};
    const float matrix[] = {1, 2};
    assert_fault(parameter_set_text(&set, EPOCHS, "many", &faults), EPOCHS,
                 "must be a whole number; got \"many\"");
    assert_fault(parameter_set_boolean(&set, LEARNING_RATE, true, &faults), LEARNING_RATE,
                 "must be a number; got true");
    assert_fault(parameter_set_integer(&set, SCALE, 1, &faults), SCALE, "must be true or false; got 1");
    assert_fault(parameter_set_real(&set, MASK, 0.5, &faults), MASK, "must be one of none, causal; got 0.5");
    assert_fault(parameter_set_boolean(&set, TASK, false, &faults), TASK, "must be a text; got false");
    assert_fault(parameter_set_integer(&set, DIMENSIONS, 4, &faults), DIMENSIONS,
                 "must be a list of whole numbers; got 4");
    assert_fault(parameter_set_texts(&set, DIMENSIONS, texts, 1, &faults), DIMENSIONS,
                 "must be a list of whole numbers; got a list of texts");
    assert_fault(parameter_set_integers(&set, MODELS, numbers, 2, &faults), MODELS,
                 "must be a list of some of rnn, lstm, attention; got a list of numbers");
    assert_fault(parameter_set_integers(&set, Q, numbers, 2, &faults), Q,
                 "must be a matrix: a list of non-empty rows of numbers, all of the same length; got a list "
                 "of numbers");
    assert_fault(parameter_set_matrix(&set, EPOCHS, matrix, 1, 2, &faults), EPOCHS,
                 "must be a whole number; got a matrix");
}
END_TEST

START_TEST(choices_and_texts) {
    ck_assert(parameter_set_text(&set, MASK, "causal", &faults));
    ck_assert_str_eq(parameter_text(&set, "mask"), "causal");
    assert_fault(parameter_set_text(&set, MASK, "Causal", &faults), MASK,
                 "must be one of none, causal; got \"Causal\"");
    ck_assert(parameter_set_text(&set, TASK, "12345678", &faults));
    assert_fault(parameter_set_text(&set, TASK, "123456789", &faults), TASK,
                 "must be at most 8 characters long; got 9");
}
END_TEST

START_TEST(long_texts_are_quoted_in_part_and_cut_between_characters) {
    /* One byte before them moves the cut to the middle of a two-byte character. */
    for (size_t before = 0; before < 2; before++) {
        char text[202] = "x";
        for (size_t i = before; i < before + 200; i += 2) {
            text[i] = '\xC3';
            text[i + 1] = '\xA9';
        }
        ck_assert(!parameter_set_text(&set, MASK, text, &faults));
        const char *message = faults.items[before].message;
        ck_assert_uint_lt(strlen(message), 120);
        const char *dots = strstr(message, "...\"");
        ck_assert_ptr_nonnull(dots);
        ck_assert_int_eq((unsigned char)dots[-1], 0xA9);
    }
}
END_TEST

START_TEST(lists) {
    const int64_t good[] = {4, 4096, 1}, bad[] = {4, 0}, four[] = {1, 2, 3, 4};
    ck_assert(parameter_set_integers(&set, DIMENSIONS, good, 3, &faults));
    ck_assert_uint_eq(parameter_value(&set, "dimensions")->count, 3);
    ck_assert_int_eq(parameter_value(&set, "dimensions")->integers[1], 4096);
    assert_fault(parameter_set_integers(&set, DIMENSIONS, bad, 2, &faults), DIMENSIONS,
                 "member 2 must be at least 1 and at most 4096; got 0");
    assert_fault(parameter_set_integers(&set, DIMENSIONS, four, 4, &faults), DIMENSIONS,
                 "must have at most 3 members; got 4");
    assert_fault(parameter_set_integers(&set, DIMENSIONS, four, 0, &faults), DIMENSIONS,
                 "must have at least one member; got an empty list");
    const char *const known[] = {"lstm", "rnn"}, *const unknown[] = {"rnn", "gru"},
                      *const twice[] = {"rnn", "rnn"};
    ck_assert(parameter_set_texts(&set, MODELS, known, 2, &faults));
    ck_assert_str_eq(parameter_value(&set, "models")->texts[0], "lstm");
    assert_fault(parameter_set_texts(&set, MODELS, unknown, 2, &faults), MODELS,
                 "member 2 must be one of rnn, lstm, attention; got \"gru\"");
    assert_fault(parameter_set_texts(&set, MODELS, twice, 2, &faults), MODELS,
                 "must not contain a member twice; got \"rnn\" twice");
    assert_fault(parameter_set_texts(&set, MODELS, known, 0, &faults), MODELS,
                 "must have at least one member; got an empty list");
}
END_TEST

START_TEST(matrices) {
    const float values[] = {1, 2, 3, 4, INFINITY, 6};
    ck_assert(parameter_set_matrix(&set, Q, values, 2, 2, &faults));
    const struct parameter_value *q = parameter_value(&set, "q");
    ck_assert_uint_eq(q->rows, 2);
    ck_assert_uint_eq(q->columns, 2);
    ck_assert(q->matrix[3] == 4.0f);
    assert_fault(parameter_set_matrix(&set, Q, values, 2, 3, &faults), Q,
                 "must contain only numbers within float32's range; row 2, column 2 is outside it");
    assert_fault(parameter_set_matrix(&set, Q, values, 0, 0, &faults), Q,
                 "must have at least one row and one column; got 0 x 0");
    assert_fault(parameter_set_matrix(&set, Q, values, 1, 5, &faults), Q,
                 "must have at most 4 rows and 4 columns; got 1 x 5");
}
END_TEST

START_TEST(command_line_notation) {
    ck_assert(parameter_set_from_text(&set, EPOCHS, "64", &faults));
    ck_assert_int_eq(parameter_integer(&set, "epochs"), 64);
    ck_assert(parameter_set_from_text(&set, LEARNING_RATE, "5e-3", &faults));
    ck_assert(parameter_real(&set, "learning_rate") == 0.005);
    ck_assert(parameter_set_from_text(&set, SCALE, "false", &faults));
    ck_assert(!parameter_boolean(&set, "scale"));
    ck_assert(parameter_set_from_text(&set, DIMENSIONS, "4, 16,64", &faults));
    ck_assert_int_eq(parameter_value(&set, "dimensions")->integers[2], 64);
    ck_assert(parameter_set_from_text(&set, MODELS, "rnn , lstm", &faults));
    ck_assert_str_eq(parameter_value(&set, "models")->texts[1], "lstm");
    ck_assert(parameter_set_from_text(&set, Q, " [[1, -0.5] ,[0,1e2]]", &faults));
    ck_assert(parameter_value(&set, "q")->matrix[1] == -0.5f);
    ck_assert(parameter_value(&set, "q")->matrix[3] == 100.0f);
    ck_assert_uint_eq(faults.count, 0);
    assert_text_fault(EPOCHS, "64x", "must be a whole number; got \"64x\"");
    assert_text_fault(EPOCHS, "", "must be a whole number; got \"\"");
    assert_text_fault(EPOCHS, "1e3", "must be at least 1 and at most 100; got 1000");
    assert_text_fault(LEARNING_RATE, "-1", "must be above 0 and at most 10; got -1");
    assert_text_fault(SCALE, "yes", "must be true or false; got \"yes\"");
    assert_text_fault(DIMENSIONS, "4,,16", "member 2 must be a whole number; got \"\"");
    assert_text_fault(DIMENSIONS, "", "must have at least one member; got an empty list");
    assert_text_fault(Q, "[[1,2],[3]]", "must be a matrix whose rows all have the same length");
    assert_text_fault(Q, "[[1,2],[3,4]", "must be a matrix such as [[1,0],[0,1]]: a ']' is missing");
    assert_text_fault(Q, "[[1,a]]", "must be a matrix of numbers such as [[1,0],[0,1]]");
    assert_text_fault(Q, "[[1,2]] 3", "must be a matrix with nothing after it");
    assert_text_fault(Q, "[]", "must have at least one row and one column; got 0 x 0");
    assert_text_fault(Q, "[[],[]]", "must have at least one row and one column; got 2 x 0");
    assert_text_fault(Q, "[[nan]]",
                      "must contain only numbers within float32's range; row 1, column 1 is outside it");
}
END_TEST

START_TEST(defaults_fill_in_unset_values) {
    ck_assert(parameter_set_integer(&set, EPOCHS, 7, &faults));
    ck_assert(parameter_set_apply_defaults(&set, NULL));
    ck_assert_int_eq(parameter_integer(&set, "epochs"), 7);
    ck_assert(parameter_real(&set, "learning_rate") == 0.005);
    ck_assert(parameter_boolean(&set, "scale"));
    ck_assert_str_eq(parameter_text(&set, "mask"), "none");
    ck_assert_str_eq(parameter_text(&set, "task"), "reviews");
    ck_assert_int_eq(parameter_value(&set, "dimensions")->integers[1], 16);
    ck_assert_str_eq(parameter_value(&set, "models")->texts[1], "attention");
    ck_assert(!parameter_is_set(&set, "q"));
    ck_assert(!parameter_is_set(&set, "width"));
}
END_TEST

START_TEST(a_default_that_violates_its_declaration_is_an_internal_error) {
    const struct parameter_declaration broken = {
        .name = "epochs", .type = PARAMETER_INTEGER, .minimum = 1, .maximum = 2, .default_number = 3};
    struct parameter_set broken_set;
    struct error error = {0};
    ck_assert(parameter_set_init(&broken_set, &broken, 1, &error));
    ck_assert(!parameter_set_apply_defaults(&broken_set, &error));
    ck_assert_int_eq(error.code, ERROR_INTERNAL);
    parameter_set_free(&broken_set);
}
END_TEST

START_TEST(copies_are_deep) {
    const float values[] = {1, 2};
    ck_assert(parameter_set_matrix(&set, Q, values, 1, 2, &faults));
    ck_assert(parameter_set_apply_defaults(&set, NULL));
    struct parameter_set copy;
    ck_assert(parameter_set_copy(&copy, &set, NULL));
    parameter_set_free(&set);
    ck_assert_int_eq(parameter_integer(&copy, "epochs"), 60);
    ck_assert_str_eq(parameter_text(&copy, "mask"), "none");
    ck_assert_int_eq(parameter_value(&copy, "dimensions")->integers[0], 4);
    ck_assert_str_eq(parameter_value(&copy, "models")->texts[0], "rnn");
    ck_assert(parameter_value(&copy, "q")->matrix[1] == 2.0f);
    ck_assert(!parameter_is_set(&copy, "width"));
    parameter_set_free(&copy);
}
END_TEST

START_TEST(setting_again_replaces_and_a_fault_unsets) {
    ck_assert(parameter_set_text(&set, MASK, "causal", &faults));
    ck_assert(parameter_set_text(&set, MASK, "none", &faults));
    ck_assert_str_eq(parameter_text(&set, "mask"), "none");
    ck_assert(!parameter_set_text(&set, MASK, "diagonal", &faults));
    ck_assert(!parameter_is_set(&set, "mask"));
}
END_TEST

START_TEST(faults_are_collected) {
    parameter_set_integer(&set, EPOCHS, 0, &faults);
    parameter_set_real(&set, LEARNING_RATE, -1, &faults);
    parameter_faults_add(&faults, "lerning_rate", "is unknown; did you mean %s?", "learning_rate");
    ck_assert_uint_eq(faults.count, 3);
    ck_assert_str_eq(faults.items[1].field, "learning_rate");
    ck_assert_str_eq(faults.items[2].message, "is unknown; did you mean learning_rate?");
}
END_TEST

START_TEST(nearest_names) {
    ck_assert_str_eq(parameter_nearest_name(declarations, COUNT, "lerning_rate"), "learning_rate");
    ck_assert_str_eq(parameter_nearest_name(declarations, COUNT, "learning"), "learning_rate");
    ck_assert_str_eq(parameter_nearest_name(declarations, COUNT, "epoch"), "epochs");
    ck_assert_str_eq(parameter_nearest_name(declarations, COUNT, "modle"), "models");
    ck_assert_ptr_null(parameter_nearest_name(declarations, COUNT, "temperature"));
    ck_assert_ptr_null(parameter_nearest_name(declarations, 0, "epochs"));
    ck_assert_int_eq(parameter_find(&set, "mask"), MASK);
    ck_assert_int_eq(parameter_find(&set, "maks"), -1);
}
END_TEST

static void assert_meaning(struct parameter_declaration declaration, const char *expected) {
    char text[PARAMETER_MEANING_SIZE];
    ck_assert_str_eq(parameter_meaning(&declaration, text), expected);
}

START_TEST(a_meaning_says_to_which_choices_the_parameter_applies) {
    const struct parameter_condition *gait = &of_gait;
    assert_meaning((struct parameter_declaration){.name = "lead", .meaning = "Which leg.", .condition = gait},
                   "Which leg (canter only).");
    assert_meaning((struct parameter_declaration){.name = "bounce", .meaning = "How far.", .condition = gait},
                   "How far (trot and canter).");
    assert_meaning((struct parameter_declaration){.name = "speed", .meaning = "How fast.", .condition = gait},
                   "How fast.");
    assert_meaning((struct parameter_declaration){.name = "speed", .meaning = "How fast."}, "How fast.");
}
END_TEST

START_TEST(a_meaning_lists_the_possible_texts_and_truncates_a_long_list) {
    struct parameter_declaration declaration = {
        .name = "task", .type = PARAMETER_TEXT, .choice_table = &gaits, .meaning = "or your own."};
    assert_meaning(declaration, "walk, trot, canter, or your own.");
    char longer[2 * PARAMETER_MEANING_SIZE], text[PARAMETER_MEANING_SIZE];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    declaration.meaning = longer;
    ck_assert_uint_eq(strlen(parameter_meaning(&declaration, text)), PARAMETER_MEANING_SIZE - 1);
}
END_TEST

START_TEST(choices_may_come_from_a_table) {
    ck_assert(parameter_set_text(&set, GAIT, "canter", &faults));
    ck_assert_str_eq(parameter_text(&set, "gait"), "canter");
    assert_fault(parameter_set_text(&set, GAIT, "fly", &faults), GAIT,
                 "must be one of walk, trot, canter; got \"fly\"");
    ck_assert_str_eq(parameter_choice_title(&declarations[GAIT], 2), "Cantering");
    ck_assert_str_eq(parameter_choice_title(&declarations[MASK], 1), "causal");
    ck_assert_ptr_null(parameter_choice(&declarations[EPOCHS], 0));
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_truncated_text_ends_with_a_whole_character);
    tcase_add_test(tests, numbers_keep_to_their_range);
    tcase_add_test(tests, equal_integers_and_reals_stand_for_each_other);
    tcase_add_test(tests, wrong_types_are_faults);
    tcase_add_test(tests, choices_and_texts);
    tcase_add_test(tests, long_texts_are_quoted_in_part_and_cut_between_characters);
    tcase_add_test(tests, lists);
    tcase_add_test(tests, matrices);
    tcase_add_test(tests, command_line_notation);
    tcase_add_test(tests, defaults_fill_in_unset_values);
    tcase_add_test(tests, a_default_that_violates_its_declaration_is_an_internal_error);
    tcase_add_test(tests, copies_are_deep);
    tcase_add_test(tests, setting_again_replaces_and_a_fault_unsets);
    tcase_add_test(tests, faults_are_collected);
    tcase_add_test(tests, nearest_names);
    tcase_add_test(tests, a_meaning_says_to_which_choices_the_parameter_applies);
    tcase_add_test(tests, a_meaning_lists_the_possible_texts_and_truncates_a_long_list);
    tcase_add_test(tests, choices_may_come_from_a_table);
}
