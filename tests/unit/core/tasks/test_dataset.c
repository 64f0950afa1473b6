/* The user's files: reading them, and the lines that messages about faults name. */
#include "core/tasks/dataset_parse.h"
#include "tests/unit/main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct dataset *parse_csv(const char *text, struct error *error) {
    return dataset_parse_csv(text, strlen(text), error);
}

static struct dataset *parse_tsv(const char *text, struct error *error) {
    return dataset_parse_tsv(text, strlen(text), error);
}

static void check_tokens(const struct dataset *dataset, size_t row, const char *expected) {
    char joined[512] = "";
    for (size_t i = dataset->token_start[row]; i < dataset->token_start[row + 1]; i++) {
        if (joined[0] != '\0')
            strcat(joined, "|");
        strcat(joined, dataset->tokens[i]);
    }
    ck_assert_str_eq(joined, expected);
}

START_TEST(csv_text_with_quotes) {
    struct error error = {0};
    struct dataset *dataset = parse_csv("\xEF\xBB\xBFtext,label\r\n\"Good, \"\"very\"\" good\",yes\r\n\r\n"
                                        "\"Two\nlines\",no\nplain,\"yes\"",
                                        &error);
    ck_assert_msg(dataset != NULL, "%s", error.message);
    ck_assert_int_eq(dataset->kind, DATASET_TEXT);
    ck_assert_uint_eq(dataset->row_count, 3);
    ck_assert_uint_eq(dataset->class_count, 2);
    ck_assert_str_eq(dataset->class_names[0], "no");
    ck_assert_str_eq(dataset->class_names[1], "yes");
    ck_assert_str_eq(dataset->texts[0], "Good, \"very\" good");
    check_tokens(dataset, 0, "good|,|\"|very|\"|good");
    check_tokens(dataset, 1, "two|lines");
    ck_assert_int_eq(dataset->labels[0], 1);
    ck_assert_int_eq(dataset->labels[1], 0);
    ck_assert_int_eq(dataset->labels[2], 1);
    dataset_free(dataset);
}
END_TEST

START_TEST(csv_numbers) {
    struct error error = {0};
    struct dataset *dataset = parse_csv("a,Label,b\n1.5,10,-2e-1\n 3 ,9,4\n", &error);
    ck_assert_msg(dataset != NULL, "%s", error.message);
    ck_assert_int_eq(dataset->kind, DATASET_NUMBERS);
    ck_assert_uint_eq(dataset->sequence_length, 2);
    ck_assert_uint_eq(dataset->row_count, 2);
    /* In numeric order, not in alphabetical order. */
    ck_assert_str_eq(dataset->class_names[0], "9");
    ck_assert_str_eq(dataset->class_names[1], "10");
    ck_assert_int_eq(dataset->labels[0], 1);
    ck_assert_float_eq(dataset->values[0], 1.5F);
    ck_assert_float_eq(dataset->values[1], -0.2F);
    ck_assert_float_eq(dataset->values[2], 3);
    ck_assert_float_eq(dataset->values[3], 4);
    dataset_free(dataset);
}
END_TEST

START_TEST(tsv_columns_in_either_order) {
    static const char *const files[] = {
        "1\ta fine day\n0\ta sad day\n1\tfine \"food\n",
        "a fine day\t1\na sad day\t0\nfine \"food\t1\n",
        "text\tlabel\na fine day\t1\na sad day\t0\nfine \"food\t1\n",
        "\xEF\xBB\xBF\r\na fine day\t1\r\n\r\na sad day\t0\r\nfine \"food\t1",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct error error = {0};
        struct dataset *dataset = parse_tsv(files[i], &error);
        ck_assert_msg(dataset != NULL, "file %zu: %s", i, error.message);
        ck_assert_uint_eq(dataset->row_count, 3);
        ck_assert_uint_eq(dataset->word_count, 6);
        ck_assert_int_eq(dataset->labels[0], 1);
        ck_assert_int_eq(dataset->labels[1], 0);
        check_tokens(dataset, 2, "fine|\"|food");
        dataset_free(dataset);
    }
}
END_TEST

/* Both columns have words: the column with fewer different values has the labels, wherever it is. */
START_TEST(tsv_labels_in_words) {
    struct error error = {0};
    struct dataset *dataset = parse_tsv("good\tnice room\nbad\tcold soup\ngood\twarm soup\n", &error);
    ck_assert_msg(dataset != NULL, "%s", error.message);
    ck_assert_uint_eq(dataset->class_count, 2);
    ck_assert_str_eq(dataset->class_names[1], "good");
    dataset_free(dataset);
    /* If both have equally many different values, the column with the shorter ones has the labels. */
    dataset = parse_tsv("nice warm room\tyes\ncold soup\tno\n", &error);
    ck_assert_msg(dataset != NULL, "%s", error.message);
    ck_assert_str_eq(dataset->class_names[0], "no");
    ck_assert_str_eq(dataset->texts[1], "cold soup");
    dataset_free(dataset);
}
END_TEST

/* Labels are sorted as numbers if all are numbers, and as text if one has too many digits for a number. */
START_TEST(classes_are_sorted) {
    static const char *const files[][3] = {
        {"10\tfine\n9\tsad\n10\tnice\n", "9", "10"},
        {"9\tfine\n100000000000000000000\tsad\n9\tnice\n", "100000000000000000000", "9"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct error error = {0};
        struct dataset *dataset = parse_tsv(files[i][0], &error);
        ck_assert_msg(dataset != NULL, "%s", error.message);
        ck_assert_str_eq(dataset->class_names[0], files[i][1]);
        ck_assert_str_eq(dataset->class_names[1], files[i][2]);
        dataset_free(dataset);
    }
}
END_TEST

START_TEST(the_largest_numbers_are_numbers) {
    struct error error = {0};
    struct dataset *dataset = parse_csv("a,label\n1e15,0\n-1e15,1\n", &error);
    ck_assert_msg(dataset != NULL, "%s", error.message);
    ck_assert_float_eq(dataset->values[0], 1e15F);
    dataset_free(dataset);
}
END_TEST

struct fault {
    bool is_csv;
    const char *text, *message;
};

static const struct fault faults[] = {
    {true, "", "the file is empty"},
    {false, "", "no rows"},
    {true, "text,label\n", "no rows"},
    {true, "text,label\nfine,1\n", "only one row"},
    {false, "1\tfine\n1\tgood\n1\tnice\n", "every row has the label \"1\""},
    {true, "text,other\nfine,1\n", "line 1: the header has no column \"label\""},
    {true, "label\n1\n0\n", "line 1: besides the label"},
    {true, "text,label,more\n", "line 1: besides the label"},
    {true, "a,label,label\n1,0,1\n", "line 1: the header names the column \"label\" twice"},
    {true, "text,label\nfine,1\nsad\n", "line 3: expected 2 fields, found 1"},
    {true, "a,b,label\n1,2,0\n1,2,3,1\n", "line 3: expected 3 fields, found 4"},
    {true, "a,b,label\n1,2,0\n1,x,1\n", "line 3, column 2: \"x\" is not a number from -1e15 to 1e15"},
    {true, "a,b,label\n1,2,0\n1,,1\n", "line 3, column 2: \"\" is not a number from -1e15 to 1e15"},
    {true, "a,b,label\n1,nan,0\n", "line 2, column 2: \"nan\" is not a number from -1e15 to 1e15"},
    {true, "a,b,label\n1,1e99,0\n", "line 2, column 2: \"1e99\" is not a number from -1e15 to 1e15"},
    {true, "a,b,label\n1,-2e15,0\n", "line 2, column 2: \"-2e15\" is not a number from -1e15 to 1e15"},
    {true, "a,label\n1,0\n2,\n", "line 3: the label is empty"},
    {true, "text,label\n\"fine\n\nday,1\n", "line 2: the quoted field that starts here has no end"},
    {true, "text,label\nfine,1\n\"fine\" day,1\n", "line 3: a closing quote is followed by more text"},
    {true, "text,label\nfi\"ne,1\n", "line 2: a quote inside an unquoted field"},
    {true, "text,label\n\"a\nb\",1\nc\n", "line 4: expected 2 fields, found 1"},
    {true, "text,label\r\nfine,1\r\nsad\r\n", "line 3: expected 2 fields"},
    {true, "text,label\rfine,1\rsad\r", "line 3: expected 2 fields"},
    {false, "1\tfine\n0\tsad\n1\t  \n", "line 3: the text is empty"},
    {false, "1\tfine\n\n0 sad\n", "line 3: expected 2 fields, found 1"},
    {false, "1\tfine\tday\n0\tsad\n", "line 1: expected 2 fields, found 3"},
    {false, "1\tfine\n0\ts\xE9 late\n", "line 2: byte 0xE9 is not UTF-8"},
    {false, "1\tfine\n0\t\xC0\xAFsad\n", "line 2: byte 0xC0 is not UTF-8"},
    {false, "\xFF\xFE\x31", "line 1: byte 0xFF is not UTF-8"},
    {false, "1\tfine\n\x01\x02\n", "line 2: byte 0x01 does not occur in text"},
};

START_TEST(a_fault_names_its_line) {
    const struct fault *fault = &faults[_i];
    struct error error = {0};
    struct dataset *dataset = fault->is_csv ? parse_csv(fault->text, &error) : parse_tsv(fault->text, &error);
    ck_assert_ptr_null(dataset);
    ck_assert_int_eq(error.code, ERROR_INVALID);
    ck_assert_msg(strstr(error.message, fault->message) != NULL, "\"%s\" is not in \"%s\"", fault->message,
                  error.message);
}
END_TEST

START_TEST(bytes_that_are_not_text) {
    static const char bytes[] = "1\tfine\n0\ts\0d\n";
    struct error error = {0};
    ck_assert_ptr_null(dataset_parse_tsv(bytes, sizeof bytes - 1, &error));
    ck_assert_msg(strstr(error.message, "line 2: byte 0x00") != NULL, "%s", error.message);
}
END_TEST

START_TEST(columns_without_labels) {
    char text[8192] = "";
    for (int i = 0; i < 101; i++)
        sprintf(text + strlen(text), "left %d\tright %d\n", i, i);
    struct error error = {0};
    ck_assert_ptr_null(parse_tsv(text, &error));
    ck_assert_msg(strstr(error.message, "neither column can be the labels") != NULL, "%s", error.message);
}
END_TEST

START_TEST(a_line_of_200000_words) {
    enum { WORDS = 200000 };
    char *text = malloc(WORDS * 7 + 64), *end = text;
    ck_assert_ptr_nonnull(text);
    end += sprintf(end, "0\tshort\n1\t");
    for (int i = 0; i < WORDS; i++)
        end += sprintf(end, "w%d ", i % 50000);
    struct error error = {0};
    struct dataset *dataset = dataset_parse_tsv(text, (size_t)(end - text), &error);
    ck_assert_msg(dataset != NULL, "%s", error.message);
    ck_assert_uint_eq(dataset->token_start[2] - dataset->token_start[1], WORDS);
    ck_assert_uint_eq(dataset->word_count, 50001);
    dataset_free(dataset);
    free(text);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, csv_text_with_quotes);
    tcase_add_test(tests, csv_numbers);
    tcase_add_test(tests, tsv_columns_in_either_order);
    tcase_add_test(tests, tsv_labels_in_words);
    tcase_add_test(tests, classes_are_sorted);
    tcase_add_test(tests, the_largest_numbers_are_numbers);
    tcase_add_loop_test(tests, a_fault_names_its_line, 0, sizeof faults / sizeof *faults);
    tcase_add_test(tests, bytes_that_are_not_text);
    tcase_add_test(tests, columns_without_labels);
    tcase_add_test(tests, a_line_of_200000_words);
}
