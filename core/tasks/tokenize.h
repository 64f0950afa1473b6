/* Splits a text into tokens: lower case, words and punctuation apart.
 *
 * A word is a run of letters, digits and combining marks; an apostrophe between two of them belongs to it
 * ("don't"; the typographic one becomes the plain one). A run of one and the same punctuation mark is one
 * token ("..."), any other mark is its own, and so is every ideograph. Lower-case words separated by single
 * spaces come out as a split at spaces. */
#ifndef ATTNLAB_CORE_TASKS_TOKENIZE_H
#define ATTNLAB_CORE_TASKS_TOKENIZE_H

#include <stdbool.h>
#include <stddef.h>

/* Called once a token, in order; `token` is valid during the call and not null-terminated. Returns false to
 * stop. */
typedef bool tokenize_visitor(void *owner, const char *token, size_t length);

/* `text` is valid UTF-8 of `size` bytes (an invalid byte separates tokens). Returns false where the visitor
 * stopped it or memory ran out. */
bool tokenize_text(const char *text, size_t size, tokenize_visitor *visit, void *owner);

#endif
