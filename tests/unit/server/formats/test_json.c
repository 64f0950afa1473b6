/* Writing JSON and CSV, and reading parameters. */
#include "core/experiments/experiment.h"
#include "core/parameters/parse.h"
#include "server/formats/csv.h"
#include "server/formats/json_check.h"
#include "server/formats/json_parameters.h"
#include "server/formats/json_writer.h"
#include "tests/unit/main.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void assert_real(float value, const char *expected) {
    struct text text = {0};
    text_append_real(&text, value);
    ck_assert_str_eq(text.bytes, expected);
    text_free(&text);
}

START_TEST(reals_are_short) {
    assert_real(0.0f, "0.0");
    assert_real(-0.0f, "-0.0");
    assert_real(1.0f, "1");
    assert_real(0.1f, "0.1");
    assert_real(-0.005f, "-0.005");
    assert_real(123456.78f, "123456.78");
    assert_real(16777216.0f, "16777216");
    assert_real(1e15f, "1e15");
    assert_real(1e-6f, "1e-6");
    assert_real(3.4028235e38f, "3.4028235e+38");
    assert_real(1e-45f, "1e-45");
    assert_real(NAN, "null");
    assert_real(-INFINITY, "null");
}
END_TEST

/* Bit patterns from the whole range: each text gives the value back, whether read as float32 or as float64.
 */
START_TEST(reals_survive_a_round_trip) {
    uint32_t bits = 12345;
    for (int i = 0; i < 200000; i++) {
        float value;
        bits = bits * 1664525u + 1013904223u;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        struct text text = {0};
        text_append_real(&text, value);
        ck_assert_msg(strtof(text.bytes, NULL) == value, "%s for %.9g", text.bytes, (double)value);
        ck_assert_msg((float)strtod(text.bytes, NULL) == value, "%s for %.9g", text.bytes, (double)value);
        text_free(&text);
    }
}
END_TEST

START_TEST(numbers_survive_a_round_trip) {
    const double values[] = {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.123, -2.5};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct text text = {0};
        text_append_number(&text, values[i]);
        ck_assert(strtod(text.bytes, NULL) == values[i]);
        text_free(&text);
    }
}
END_TEST

START_TEST(strings_are_always_valid) {
    struct text text = {0};
    json_write_begin_array(&text, NULL);
    json_write_string(&text, NULL,
                      "quote \" backslash \\ tab \t bell \x07 umlaut \xc3\xa4 clef \xf0\x9d\x84\x9e");
    json_write_string(&text, NULL, "cut \xc3");
    json_write_string(&text, NULL, "overlong \xc0\xaf surrogate \xed\xa0\x80 beyond \xf5\x80\x80\x80");
    json_write_string(&text, NULL, NULL);
    json_write_end_array(&text);
    json_t *json = json_loadb(text.bytes, text.length, 0, NULL);
    ck_assert_ptr_nonnull(json);
    ck_assert_str_eq(json_string_value(json_array_get(json, 0)),
                     "quote \" backslash \\ tab \t bell \x07 umlaut \xc3\xa4 clef \xf0\x9d\x84\x9e");
    ck_assert_str_eq(json_string_value(json_array_get(json, 1)), "cut \xef\xbf\xbd");
    ck_assert(json_is_null(json_array_get(json, 3)));
    json_decref(json);
    text_free(&text);
}
END_TEST

START_TEST(control_characters_are_written_as_numbers) {
    struct text text = {0};
    json_write_string(&text, NULL, "\x01 \x1f \x7f");
    ck_assert_str_eq(text.bytes, "\"\\u0001 \\u001f \\u007f\"");
    text_free(&text);
}
END_TEST

/* The array is stored row by row: its shape must not be that of its transpose. */
START_TEST(npy_shapes_give_rows_before_columns) {
    const float values[6] = {1, 2, 3, 4, 5, 6};
    struct text text = {0};
    npy_append_matrix(&text, values, 2, 3);
    ck_assert_ptr_nonnull(strstr(text.bytes + 10, "'shape': (2, 3)"));
    ck_assert_int_eq(memcmp(text.bytes + text.length - sizeof values, values, sizeof values), 0);
    text_free(&text);
}
END_TEST

START_TEST(commas_are_where_they_belong) {
    struct text text = {0};
    json_write_begin_object(&text, NULL);
    json_write_integer(&text, "a", 1);
    json_write_begin_array(&text, "b");
    json_write_begin_array(&text, NULL);
    json_write_end_array(&text);
    json_write_string(&text, NULL, "{[:");
    json_write_boolean(&text, NULL, true);
    json_write_end_array(&text);
    json_write_strings(&text, "s", (const char *const[]){"x", NULL}, 2);
    json_write_booleans(&text, "t", (const bool[]){false, true}, 2);
    json_write_strings(&text, "u", NULL, 0);
    json_write_raw(&text, "c", "{\"d\":2}");
    json_write_label(&text, "e", "7");
    json_write_label(&text, "f", "07");
    json_write_label(&text, "g", "123456789012345"); /* the longest number that fits every reader's float64 */
    json_write_label(&text, "h", "1234567890123456");
    json_write_end_object(&text);
    ck_assert_str_eq(text.bytes, "{\"a\":1,\"b\":[[],\"{[:\",true],\"s\":[\"x\",null],\"t\":[false,true],"
                                 "\"u\":[],\"c\":{\"d\":2},\"e\":7,\"f\":\"07\","
                                 "\"g\":123456789012345,\"h\":\"1234567890123456\"}");
    text_free(&text);
}
END_TEST

START_TEST(csv_fields_are_quoted) {
    struct text text = {0};
    csv_append_field(&text, "plain");
    csv_next_field(&text);
    csv_append_field(&text, "a, \"b\"\n");
    csv_next_field(&text);
    csv_append_field(&text, "=1+1");
    csv_next_field(&text);
    csv_append_field(&text, "-1.5");
    csv_next_field(&text);
    csv_append_field(&text, "-1+1");
    csv_next_field(&text);
    csv_append_number(&text, NAN);
    csv_end_row(&text);
    ck_assert_str_eq(text.bytes, "plain,\"a, \"\"b\"\"\n\",\"'=1+1\",-1.5,\"'-1+1\",\r\n");
    text_free(&text);
}
END_TEST

/* Every experiment's defaults are unchanged after storing and restoring. */
START_TEST(stored_parameters_are_restored) {
    for (size_t i = 0; experiment_table[i]; i++) {
        const struct experiment *experiment = experiment_table[i];
        struct parameter_set set, again;
        struct text first = {0}, second = {0};
        ck_assert(parameter_set_init(&set, experiment->parameters, experiment->parameter_count, NULL));
        ck_assert(parameter_set_apply_defaults(&set, NULL));
        json_write_parameters(&first, NULL, &set);
        ck_assert(json_restore_parameters(first.bytes, experiment->parameters, experiment->parameter_count,
                                          &again, NULL));
        json_write_parameters(&second, NULL, &again);
        ck_assert_str_eq(first.bytes, second.bytes);
        text_free(&first);
        text_free(&second);
        parameter_set_free(&set);
        parameter_set_free(&again);
    }
}
END_TEST

START_TEST(values_of_parameters_have_their_declared_type) {
    static const char *const settings[][2] = {
        {"model", "transformer"}, {"heads", "8"}, {"learning_rate", "0.5"}};
    const struct experiment *train = experiment_find("train");
    struct text text = {0};
    json_write_begin_object(&text, NULL);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (size_t j = 0; j < train->parameter_count; j++)
            if (strcmp(train->parameters[j].name, settings[i][0]) == 0)
                json_write_parameter_value(&text, &train->parameters[j], settings[i][1]);
    json_write_end_object(&text);
    ck_assert_str_eq(text.bytes, "{\"model\":\"transformer\",\"heads\":8,\"learning_rate\":0.5}");
    text_free(&text);
    const struct parameter_declaration number = {.name = "number", .type = PARAMETER_INTEGER, .maximum = 9};
    json_write_parameter_value(&text, &number, "many");
    ck_assert(text.failed);
    text_free(&text);
}
END_TEST

static void assert_not_restored(const char *stored, const char *message) {
    const struct experiment *train = experiment_find("train");
    struct parameter_set set;
    struct error error = {0};
    ck_assert(!json_restore_parameters(stored, train->parameters, train->parameter_count, &set, &error));
    ck_assert_int_eq(error.code, ERROR_INVALID);
    ck_assert_str_eq(error.message, message);
    parameter_set_free(&set);
}

START_TEST(parameters_of_another_version_are_refused) {
    assert_not_restored("{\"seed\":", "its parameters cannot be read");
    assert_not_restored("{\"model\":\"cnn\"}",
                        "this version of attnlab does not accept its parameters: model: must be one of rnn, "
                        "lstm, gru, attention, transformer; got \"cnn\"");
}
END_TEST

static void assert_fault(const char *experiment_name, const char *json, const char *message) {
    const struct experiment *experiment = experiment_find(experiment_name);
    struct parameter_set set;
    struct parameter_faults faults = {0};
    json_t *object = json_loads(json, 0, NULL);
    ck_assert(parameter_set_init(&set, experiment->parameters, experiment->parameter_count, NULL));
    json_read_parameters(object, NULL, &set, &faults);
    ck_assert_uint_eq(faults.count, 1);
    ck_assert_str_eq(faults.items[0].message, message);
    parameter_faults_free(&faults);
    parameter_set_free(&set);
    json_decref(object);
}

START_TEST(messages_about_wrong_types_name_the_allowed_one) {
    assert_fault("train", "{\"model\": 3}", "must be one of rnn, lstm, gru, attention, transformer; got 3");
    assert_fault("train", "{\"mask\": null}", "must be one of none, causal; got null");
    assert_fault("gradient-reach", "{\"models\": \"rnn\"}",
                 "must be a list of some of rnn, lstm, gru, attention, transformer; got \"rnn\"");
    assert_fault("gradient-reach", "{\"models\": [\"rnn\", 2]}",
                 "must be a list of some of rnn, lstm, gru, attention, transformer; got [\"rnn\",2]");
    assert_fault("train", "{\"task\": true}", "must be a text; got true");
    assert_fault("train", "{\"width\": \"wide\"}", "must be a whole number; got \"wide\"");
    assert_fault(
        "attention-steps", "{\"q\": [[1], []]}",
        "must be a matrix: a list of non-empty rows of numbers, all of the same length; got [[1],[]]");
    assert_fault(
        "cost", "{\"lengths\": \"a text that is much longer than what a message repeats of it\"}",
        "must be a list of whole numbers; got \"a text that is much longer than what a message repeats o...");
}
END_TEST

/* Nests to the limit, with arrays and objects in turn. */
START_TEST(containers_nest_up_to_the_limit) {
    struct text text = {0};
    for (int depth = 0; depth < JSON_DEPTH_LIMIT; depth += 2) {
        json_write_begin_array(&text, depth > 0 ? "a" : NULL);
        json_write_integer(&text, NULL, depth);
        if (depth + 1 < JSON_DEPTH_LIMIT)
            json_write_begin_object(&text, NULL);
    }
    for (int depth = JSON_DEPTH_LIMIT; depth > 0; depth--)
        if (depth % 2 == 0)
            json_write_end_object(&text);
        else
            json_write_end_array(&text);
    json_t *json = json_loadb(text.bytes, text.length, 0, NULL);
    ck_assert_ptr_nonnull(json);
    ck_assert_int_eq(json_integer_value(json_array_get(json, 0)), 0);
    json_decref(json);
    text_free(&text);
}
END_TEST

/* Each of these calls is a bug in the caller, and an assertion stops it. */
enum { MISUSES = 7 };

START_TEST(misuse_is_stopped) {
    struct text text = {0};
    json_write_begin_array(&text, NULL);
    switch (_i) {
    case 0:
        json_write_integer(&text, "key_in_an_array", 1);
        break;
    case 1:
        json_write_end_object(&text);
        break;
    case 2:
        json_write_begin_object(&text, NULL);
        json_write_null(&text, NULL);
        break;
    case 3:
        json_write_end_array(&text);
        json_write_null(&text, NULL);
        break;
    case 4:
        json_write_end_array(&text);
        json_write_end_array(&text);
        break;
    case 5:
        for (int depth = 1; depth <= JSON_DEPTH_LIMIT; depth++)
            json_write_begin_array(&text, NULL);
        break;
    default:
        free(text_release(&text));
    }
}
END_TEST

START_TEST(stored_json_is_checked) {
    static const char *const objects[] = {"{}", " { } ",
                                          "{\"a\":[1,-0.5e+3,{\"b\":null}],\"c\":\"\\u00e4\\n\"}"};
    static const char *const others[] = {"[]", "[[],{}]"};
    static const char *const bad[] = {"",     "{",     "}",        "{\"a\"}", "{\"a\":1,}",  "[1,]",
                                      "[,1]", "{1:2}", "01",       "1.",      "1e",          "-",
                                      "tru",  "\"a",   "\"\xff\"", "\"\\x\"", "\"\\u12g4\"", "\"\t\"",
                                      "{}{}", "{}\n",  "[1\n]",    "nan"};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        ck_assert_msg(json_check(objects[i]) == JSON_KIND_OBJECT, "%s", objects[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(json_check(others[i]) == JSON_KIND_ARRAY, "%s", others[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(json_check(bad[i]) == JSON_KIND_NONE, "%s", bad[i]);
    ck_assert_int_eq(json_check(NULL), JSON_KIND_NONE);
    ck_assert_int_eq(json_check("\"\xc3\xa4\""), JSON_KIND_OTHER);
    char deep[2 * JSON_DEPTH_LIMIT + 3];
    for (size_t depth = JSON_DEPTH_LIMIT; depth <= JSON_DEPTH_LIMIT + 1; depth++) {
        memset(deep, '[', depth);
        memset(deep + depth, ']', depth);
        deep[2 * depth] = '\0';
        ck_assert_int_eq(json_check(deep), depth <= JSON_DEPTH_LIMIT ? JSON_KIND_ARRAY : JSON_KIND_NONE);
    }
}
END_TEST

/* Every text with one changed byte is judged as jansson judges it. jansson also refuses what is well formed
 * but has no value in C. */
START_TEST(stored_json_is_checked_as_jansson_does) {
    static const char whole[] =
        "{\"a\":[1,-0.5e+3,{\"b\":null}],\"c\":\"\\u00e4\\n\xc3\xa4\",\"d\":[true,false,[]]}";
    char text[sizeof whole];
    for (size_t i = 0; i + 1 < sizeof whole; i++)
        for (int byte = 1; byte < 256; byte++) {
            json_error_t why;
            if (byte == '\n' || byte == '\r')
                continue;
            memcpy(text, whole, sizeof whole);
            text[i] = (char)byte;
            json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
            bool is_refused = value == NULL && json_error_code(&why) != json_error_numeric_overflow &&
                              strstr(why.text, "invalid Unicode") == NULL;
            bool is_bad = json_check(text) == JSON_KIND_NONE;
            json_decref(value);
            if (is_bad != is_refused)
                ck_abort_msg("%s: %s", text, why.text);
        }
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, reals_are_short);
    tcase_add_test(tests, reals_survive_a_round_trip);
    tcase_add_test(tests, numbers_survive_a_round_trip);
    tcase_add_test(tests, strings_are_always_valid);
    tcase_add_test(tests, control_characters_are_written_as_numbers);
    tcase_add_test(tests, npy_shapes_give_rows_before_columns);
    tcase_add_test(tests, commas_are_where_they_belong);
    tcase_add_test(tests, csv_fields_are_quoted);
    tcase_add_test(tests, values_of_parameters_have_their_declared_type);
    tcase_add_test(tests, stored_parameters_are_restored);
    tcase_add_test(tests, parameters_of_another_version_are_refused);
    tcase_add_test(tests, messages_about_wrong_types_name_the_allowed_one);
    tcase_add_test(tests, containers_nest_up_to_the_limit);
    tcase_add_test(tests, stored_json_is_checked);
    tcase_add_test(tests, stored_json_is_checked_as_jansson_does);
    tcase_add_loop_test_raise_signal(tests, misuse_is_stopped, SIGABRT, 0, MISUSES);
}
