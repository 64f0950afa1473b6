/* The one error type of attnlab.
 *
 * The caller owns a `struct error`, zero-initialised; whoever fails fills it in. The first error wins: a
 * later failure while cleaning up never hides the cause. Functions that can fail take it last and return
 * false (or NULL). core never prints and never exits: a message is a full sentence fragment that the caller
 * can show a person as it is. */
#ifndef ATTNLAB_CORE_ERROR_H
#define ATTNLAB_CORE_ERROR_H

#include <stdbool.h>

enum error_code {
    ERROR_NONE = 0,
    ERROR_INVALID,     /* what the user gave is wrong: a parameter, a file's contents */
    ERROR_MISSING,     /* something named does not exist: a data set, a file, a snapshot */
    ERROR_CONFLICT,    /* it exists, but its state does not allow this */
    ERROR_LIMIT,       /* a queue is full or a user's share is used up; later it may not be */
    ERROR_TOO_LARGE,   /* it would not fit: the message says the size it would take */
    ERROR_DIVERGED,    /* the loss stopped being finite */
    ERROR_CANCELLED,   /* somebody asked to stop */
    ERROR_MEMORY,      /* an allocation failed */
    ERROR_UNAVAILABLE, /* storage or another resource fails now; later it may not */
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

/* Takes an incomplete UTF-8 character off the end of a text that was cut to fit its place. */
void error_trim_text(char *text);

/* error_set with ERROR_MEMORY, for a failed allocation of `bytes` bytes. */
bool error_set_memory(struct error *error, unsigned long long bytes);

#endif
