/* Splits a text into tokens: lower-case words and punctuation marks.
 *
 * A word is a run of letters, digits and combining marks; an apostrophe between two of them belongs to the
 * word ("don't"; a typographic apostrophe becomes a plain one). A run of the same punctuation mark is one
 * token ("..."); any other mark is a token of its own, and so is every ideograph. A text of lower-case words
 * separated by single spaces is simply split at the spaces. */
#ifndef ATTNLAB_CORE_TASKS_TOKENIZE_H
#define ATTNLAB_CORE_TASKS_TOKENIZE_H

#include <stdbool.h>
#include <stddef.h>

/* Called for every token, in order. `token` is valid only during the call, and not null-terminated. The
 * visitor returns false to stop. */
typedef bool tokenize_visitor(void *owner, const char *token, size_t length);

/* `text` is UTF-8 of `size` bytes; an invalid byte separates tokens. Returns false if the visitor stopped the
 * walk or memory ran out. */
bool tokenize_text(const char *text, size_t size, tokenize_visitor *visit, void *owner);

#endif
