/* An experiment's way to write its result without knowing JSON.
 *
 * A result is a tree of objects, arrays, numbers and texts. The experiment writes it in document order to a
 * `struct result_sink`: the server's builds JSON, the tests' a small tree. Inside an object every value has a
 * key; inside an array the key is NULL. Numbers that are not finite become null. A sink remembers its own
 * failure, so the experiment need not check. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_RESULT_H
#define ATTNLAB_CORE_EXPERIMENTS_RESULT_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct result_sink {
    void *owner;
    void (*begin_object)(void *owner, const char *key);
    void (*end_object)(void *owner);
    void (*begin_array)(void *owner, const char *key);
    void (*end_array)(void *owner);
    void (*number)(void *owner, const char *key, double value); /* float64: written in at most 17 digits */
    void (*real)(void *owner, const char *key,
                 float value); /* float32: written as the shortest text that reads back as the same float */
    void (*integer)(void *owner, const char *key, int64_t value);
    void (*boolean)(void *owner, const char *key, bool value);
    void (*text)(void *owner, const char *key, const char *value); /* UTF-8 */
    void (*null)(void *owner, const char *key);
};

void result_begin_object(const struct result_sink *sink, const char *key);
void result_end_object(const struct result_sink *sink);
void result_begin_array(const struct result_sink *sink, const char *key);
void result_end_array(const struct result_sink *sink);
void result_number(const struct result_sink *sink, const char *key, double value);
void result_real(const struct result_sink *sink, const char *key, float value);
void result_integer(const struct result_sink *sink, const char *key, int64_t value);
void result_boolean(const struct result_sink *sink, const char *key, bool value);
void result_text(const struct result_sink *sink, const char *key, const char *value);
void result_null(const struct result_sink *sink, const char *key);
/* Write an array of numbers [count], a matrix [rows][columns], a stack of matrices [depth][rows][columns] and
 * an array of integers [count]. */
void result_vector(const struct result_sink *sink, const char *key, const float *values, size_t count);
void result_matrix(const struct result_sink *sink, const char *key, const float *values, size_t rows,
                   size_t columns);
void result_tensor(const struct result_sink *sink, const char *key, const float *values, size_t depth,
                   size_t rows, size_t columns);
void result_integers(const struct result_sink *sink, const char *key, const int64_t *values, size_t count);
/* Writes bytes as a base64 text (RFC 4648, with padding), which takes a third of an array of numbers. False
 * with ERROR_MEMORY. */
bool result_bytes(const struct result_sink *sink, const char *key, const uint8_t *bytes, size_t count,
                  struct error *error);

#endif
