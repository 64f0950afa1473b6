/* Implements result.h, including the arrays and tensors that every experiment needs. */
#include "core/experiments/result.h"

#include <math.h>
#include <nettle/base64.h>
#include <stdlib.h>

void result_begin_object(const struct result_sink *sink, const char *key) {
    sink->begin_object(sink->owner, key);
}

void result_end_object(const struct result_sink *sink) {
    sink->end_object(sink->owner);
}

void result_begin_array(const struct result_sink *sink, const char *key) {
    sink->begin_array(sink->owner, key);
}

void result_end_array(const struct result_sink *sink) {
    sink->end_array(sink->owner);
}

void result_null(const struct result_sink *sink, const char *key) {
    sink->null(sink->owner, key);
}

void result_number(const struct result_sink *sink, const char *key, double value) {
    if (isfinite(value))
        sink->number(sink->owner, key, value);
    else
        result_null(sink, key);
}

void result_real(const struct result_sink *sink, const char *key, float value) {
    if (isfinite(value))
        sink->real(sink->owner, key, value);
    else
        result_null(sink, key);
}

void result_integer(const struct result_sink *sink, const char *key, int64_t value) {
    sink->integer(sink->owner, key, value);
}

void result_boolean(const struct result_sink *sink, const char *key, bool value) {
    sink->boolean(sink->owner, key, value);
}

void result_text(const struct result_sink *sink, const char *key, const char *value) {
    sink->text(sink->owner, key, value);
}

void result_vector(const struct result_sink *sink, const char *key, const float *values, size_t count) {
    result_begin_array(sink, key);
    for (size_t i = 0; i < count; i++)
        result_real(sink, NULL, values[i]);
    result_end_array(sink);
}

void result_matrix(const struct result_sink *sink, const char *key, const float *values, size_t rows,
                   size_t columns) {
    result_begin_array(sink, key);
    for (size_t i = 0; i < rows; i++)
        result_vector(sink, NULL, values + i * columns, columns);
    result_end_array(sink);
}

void result_tensor(const struct result_sink *sink, const char *key, const float *values, size_t depth,
                   size_t rows, size_t columns) {
    result_begin_array(sink, key);
    for (size_t i = 0; i < depth; i++)
        result_matrix(sink, NULL, values + i * rows * columns, rows, columns);
    result_end_array(sink);
}

void result_integers(const struct result_sink *sink, const char *key, const int64_t *values, size_t count) {
    result_begin_array(sink, key);
    for (size_t i = 0; i < count; i++)
        result_integer(sink, NULL, values[i]);
    result_end_array(sink);
}

bool result_bytes(const struct result_sink *sink, const char *key, const uint8_t *bytes, size_t count,
                  struct error *error) {
    size_t length = BASE64_ENCODE_RAW_LENGTH(count);
    char *text = malloc(length + 1);
    if (text == NULL)
        return error_set_memory(error, length + 1);
    base64_encode_raw(text, count, bytes);
    text[length] = '\0';
    result_text(sink, key, text);
    free(text);
    return true;
}
