/* The one error type of attnlab.
 *
 * The caller owns a `struct error`, zero-initialised; the function that fails fills it in. The first error
 * wins: a later failure during cleanup never hides the cause. Functions that can fail take the error as their
 * last argument and return false (or NULL). core never prints and never exits: the caller can show a message
 * to a person as it is. Messages start in lower case and have no full stop. */
#ifndef ATTNLAB_CORE_ERROR_H
#define ATTNLAB_CORE_ERROR_H

#include <stdbool.h>

enum error_code {
    ERROR_NONE = 0,
    ERROR_INVALID,     /* the user's input is wrong: a parameter, a file's contents */
    ERROR_MISSING,     /* something named does not exist: a data set, a file, a snapshot */
    ERROR_CONFLICT,    /* something exists, but its state does not allow the operation */
    ERROR_LIMIT,       /* a queue is full or a user's share is used up; the operation may succeed later */
    ERROR_TOO_LARGE,   /* it would not fit; the message says the size that it would need */
    ERROR_DIVERGED,    /* the loss stopped being finite */
    ERROR_CANCELLED,   /* somebody asked to stop */
    ERROR_MEMORY,      /* an allocation failed */
    ERROR_DAMAGED,     /* stored data cannot be read, and will not be readable later */
    ERROR_UNAVAILABLE, /* storage or another resource fails now; the operation may succeed later */
    ERROR_INTERNAL     /* a fault of attnlab itself */
};

struct error {
    enum error_code code;
    char message[480];
};

/* Records a failure unless one is recorded already. Always returns false, so that a failing function can end
 * with `return error_set(error, ...)`. `error` may be NULL. */
bool error_set(struct error *error, enum error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Removes an incomplete UTF-8 character from the end of a text that was truncated to fit its buffer. */
void error_trim_text(char *text);

/* error_set with ERROR_MEMORY, for a failed allocation of `bytes` bytes. */
bool error_set_memory(struct error *error, unsigned long long bytes);

#endif
