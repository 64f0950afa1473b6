/* Reading whole files. */
#ifndef ATTNLAB_SERVER_SYSTEM_FILE_H
#define ATTNLAB_SERVER_SYSTEM_FILE_H

#include "core/error.h"

#include <stddef.h>

/* Reads a regular file of at most 512 MiB. A NUL, not counted in `size`, follows the contents; release them
 * with free(). ERROR_MISSING if there is no such file. `error` may be NULL. */
bool file_read(const char *path, void **bytes, size_t *size, struct error *error);

/* Reads a file of the data directory that a user names: a plain name, not a path, and not one of attnlab's
 * own files. */
bool file_read_named(const char *directory, const char *name, void **bytes, size_t *size,
                     struct error *error);
/* Whether file_read_named would find the file: opens it without reading it. The errors are the same. */
bool file_find_named(const char *directory, const char *name, struct error *error);

#endif
