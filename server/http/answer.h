/* Writes an answer whose size depends on the request or on a run, in memory that is taken for it before. */
#ifndef ATTNLAB_SERVER_HTTP_ANSWER_H
#define ATTNLAB_SERVER_HTTP_ANSWER_H

#include "server/http/request.h"

/* The most bytes of one value in an answer, with what stands between values. */
enum {
    ANSWER_REAL = 16,    /* "-1.17549435e-38," */
    ANSWER_NUMBER = 25,  /* "-2.2250738585072014e-308," */
    ANSWER_ESCAPED = 6,  /* of one byte of a string: "\u001f" */
    ANSWER_OBJECT = 1024 /* the names, times and counts of an object with a few dozen members */
};

/* An answer of so few bytes takes no memory from others: whoever starts or cancels a run is told so, however
 * many large answers are being sent. */
enum { ANSWER_UNCOUNTED = 16 << 10 };

/* Takes `bytes` of memory for what an answer is computed from. If they are not to be had, answers with a 422
 * that states the size, or with a 503 if they may be later, and returns false. */
bool answer_reserve(struct request *request, size_t bytes);
/* Opens an empty text for an answer of at most `size` bytes, and takes memory for it like answer_reserve,
 * unless it is small. */
bool answer_begin(struct request *request, struct text *text, size_t size);
/* Writes the handler's result in the format that was chosen, in at most `size` bytes. Returns false if it
 * fails; the response is then an error. */
bool answer_export(struct request *request, const void *shown, size_t size);

/* Sums and products of sizes, SIZE_MAX if they overflow. */
size_t answer_add(size_t a, size_t b);
size_t answer_multiply(size_t a, size_t b);

#endif
