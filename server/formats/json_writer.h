/* Writes JSON directly into a text.
 *
 * A text holds one value. In an object every value has a key; elsewhere the key is NULL. The writer sets the
 * commas. It knows what is open in the text: a missing or needless key, an end that does not match, a second
 * value, or containers deeper than JSON_DEPTH_LIMIT fail an assertion. A number is written as the shortest
 * text that reads back as the same float64 (json_write_number) or float32 (json_write_real), or as null if it
 * is not finite. Strings should be UTF-8; invalid bytes are replaced by U+FFFD, so the output is always
 * valid.
 */
#ifndef ATTNLAB_SERVER_FORMATS_JSON_WRITER_H
#define ATTNLAB_SERVER_FORMATS_JSON_WRITER_H

#include "core/experiments/result.h"
#include "server/formats/text.h"

#include <stdint.h>

enum { JSON_DEPTH_LIMIT = 63 };

void json_write_begin_object(struct text *text, const char *key);
void json_write_end_object(struct text *text);
void json_write_begin_array(struct text *text, const char *key);
void json_write_end_array(struct text *text);
void json_write_string(struct text *text, const char *key, const char *value); /* NULL becomes null */
void json_write_integer(struct text *text, const char *key, int64_t value);
void json_write_number(struct text *text, const char *key, double value);
void json_write_real(struct text *text, const char *key, float value);
void json_write_boolean(struct text *text, const char *key, bool value);
void json_write_null(struct text *text, const char *key);
/* Writes a value that is already JSON; NULL becomes null. */
void json_write_raw(struct text *text, const char *key, const char *json);

/* Arrays of `count` values. */
void json_write_strings(struct text *text, const char *key, const char *const *values, size_t count);
void json_write_booleans(struct text *text, const char *key, const bool *values, size_t count);

/* A class label as the data has it: a whole number as a number, anything else as a string. */
void json_write_label(struct text *text, const char *key, const char *label);

/* The shortest decimal text that reads back as the same value, without key or comma; "null" if it is not
 * finite. Also used for CSV. */
void text_append_number(struct text *text, double value);
void text_append_real(struct text *text, float value);

/* A sink for experiments' results that writes into `text`, which must outlive it. */
struct result_sink json_result_sink(struct text *text);

#endif
