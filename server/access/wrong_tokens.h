/* How many wrong tokens came from where. An address that has shown ten within a minute is not listened to
 * until that minute is over, be the next token wrong or right, or guessing would go on as before. Sessions
 * are no tokens and go on. Thread-safe. */
#ifndef ATTNLAB_SERVER_ACCESS_WRONG_TOKENS_H
#define ATTNLAB_SERVER_ACCESS_WRONG_TOKENS_H

#include "core/error.h"

#include <netinet/in.h>

enum { WRONG_TOKENS_MAXIMUM = 10, WRONG_TOKENS_SECONDS = 60 };

struct wrong_tokens;

struct wrong_tokens *wrong_tokens_open(struct error *error);
void wrong_tokens_close(struct wrong_tokens *tokens);

/* Seconds until this address is listened to; 0: now. `now` by clock_seconds(). */
unsigned wrong_tokens_find_wait(struct wrong_tokens *tokens, const char *address, double now);
void wrong_tokens_count(struct wrong_tokens *tokens, const char *address, double now);

#endif
