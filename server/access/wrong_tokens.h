/* Counts the wrong tokens of each address. After ten within a minute, all tokens from the address are refused
 * until that minute is over. Right ones are refused too; otherwise guessing could go on. Sessions are not
 * affected. Thread-safe. */
#ifndef ATTNLAB_SERVER_ACCESS_WRONG_TOKENS_H
#define ATTNLAB_SERVER_ACCESS_WRONG_TOKENS_H

#include "core/error.h"

#include <netinet/in.h>

enum { WRONG_TOKENS_MAXIMUM = 10, WRONG_TOKENS_SECONDS = 60 };

struct wrong_tokens;

struct wrong_tokens *wrong_tokens_open(struct error *error);
void wrong_tokens_close(struct wrong_tokens *tokens);

/* Seconds until tokens from this address are checked again; 0: they are now. `now` is from clock_seconds().
 */
unsigned wrong_tokens_find_wait(struct wrong_tokens *tokens, const char *address, double now);
void wrong_tokens_count(struct wrong_tokens *tokens, const char *address, double now);

#endif
