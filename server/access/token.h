/* The lecturer's token. It comes from the file or the environment; if neither is given, attnlab generates one
 * in the data directory and uses that from then on. */
#ifndef ATTNLAB_SERVER_ACCESS_TOKEN_H
#define ATTNLAB_SERVER_ACCESS_TOKEN_H

#include "core/error.h"
#include "server/system/options.h"

enum { TOKEN_MINIMUM = 16, TOKEN_MAXIMUM = 256, TOKEN_SIZE = TOKEN_MAXIMUM + 1 };

/* Reads the token, or generates it. `made_file` (of `size` bytes) becomes the path of a generated token, or
 * "" if the user supplied the token. */
bool access_token_read(const struct options *options, char token[TOKEN_SIZE], char *made_file, size_t size,
                       struct error *error);

#endif
