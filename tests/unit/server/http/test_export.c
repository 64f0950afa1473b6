/* The table of formats, and the choice of a resource's format by a suffix or an Accept header. */
#include "server/http/export.h"
#include "tests/unit/main.h"

#include <stdlib.h>
#include <string.h>

static const struct export list[] = {
    {.format = FORMAT_JSON}, {.format = FORMAT_CSV}, {.format = FORMAT_NPY}, {.format = FORMAT_TSV}, {0}};

START_TEST(every_format_is_complete_and_no_two_share_a_name_or_suffix) {
    for (enum format format = FORMAT_NONE + 1; format < FORMAT_COUNT; format++) {
        const struct format_kind *kind = &format_table[format];
        ck_assert_int_eq(format_find_name(kind->name), format);
        ck_assert_ptr_nonnull(strchr(kind->media_type, '/'));
        ck_assert_int_eq(strncmp(kind->content_type, kind->media_type, strlen(kind->media_type)), 0);
        for (enum format other = FORMAT_NONE + 1; other < format && *kind->suffix; other++)
            ck_assert_str_ne(format_table[other].suffix, kind->suffix);
        /* An Accept header cannot distinguish formats that share a media type. */
        if (kind->is_negotiable)
            ck_assert_int_eq(format_find_media_type(kind->media_type), format);
    }
    ck_assert_int_eq(format_find_name(""), FORMAT_NONE);
    ck_assert_int_eq(format_find_name("xml"), FORMAT_NONE);
}
END_TEST

START_TEST(content_types_name_formats) {
    ck_assert_int_eq(format_find_media_type("Text/CSV; charset=latin1"), FORMAT_CSV);
    ck_assert_int_eq(format_find_media_type("application/json"), FORMAT_JSON);
    ck_assert_int_eq(format_find_media_type("application/jsonx"), FORMAT_NONE);
    ck_assert_int_eq(format_find_media_type(""), FORMAT_NONE);
    ck_assert_int_eq(format_find_media_type(NULL), FORMAT_NONE);
}
END_TEST

START_TEST(suffixes_find_exports) {
    ck_assert_ptr_eq(export_find(list, ""), &list[0]);
    ck_assert_ptr_eq(export_find(list, ".npy"), &list[2]);
    ck_assert_ptr_null(export_find(list, ".safetensors"));
    ck_assert_ptr_null(export_find(export_json, ".csv"));
}
END_TEST

START_TEST(accept_chooses_among_the_negotiable_formats) {
    static const struct {
        const char *accept;
        enum format chosen;
    } cases[] = {
        {NULL, FORMAT_JSON},
        {"*/*", FORMAT_JSON},
        {"text/csv", FORMAT_CSV},
        {"text/tab-separated-values, text/csv;q=0.9", FORMAT_TSV},
        {"text/tab-separated-values;q=0.5, text/csv;q=0.9, application/json;q=0.7", FORMAT_CSV},
        {"text/tab-separated-values;q=0.5, text/csv;q=0.9, application/json", FORMAT_JSON},
        {"application/octet-stream", FORMAT_JSON}, /* too general to mean .npy */
        {"image/png", FORMAT_JSON},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(export_choose(list, &list[0], cases[i].accept)->format == cases[i].chosen, "%s",
                      cases[i].accept);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, every_format_is_complete_and_no_two_share_a_name_or_suffix);
    tcase_add_test(tests, content_types_name_formats);
    tcase_add_test(tests, suffixes_find_exports);
    tcase_add_test(tests, accept_chooses_among_the_negotiable_formats);
}
