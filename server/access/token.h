/* The lecturer's token: from the file or the environment, else made once in the data directory. */
#ifndef ATTNLAB_SERVER_ACCESS_TOKEN_H
#define ATTNLAB_SERVER_ACCESS_TOKEN_H

#include "core/error.h"
#include "server/system/options.h"

enum { TOKEN_MINIMUM = 16, TOKEN_MAXIMUM = 256, TOKEN_SIZE = TOKEN_MAXIMUM + 1 };

/* `made_file` (of `size` bytes) is the file it lies in where it was made here, else "". */
bool access_token_read(const struct options *options, char token[TOKEN_SIZE], char *made_file, size_t size,
                       struct error *error);

#endif
