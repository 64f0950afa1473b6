/* Reading whole files. */
#ifndef ATTNLAB_SERVER_FILE_H
#define ATTNLAB_SERVER_FILE_H

#include "core/error.h"

#include <stddef.h>

/* The contents of a regular file, with a NUL after them that `size` does not count; release with free().
 * ERROR_MISSING where there is no such file. `error` may be NULL. */
bool file_read(const char *path, void **bytes, size_t *size, struct error *error);

#endif
