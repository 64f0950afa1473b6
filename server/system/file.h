/* Reading whole files. */
#ifndef ATTNLAB_SERVER_SYSTEM_FILE_H
#define ATTNLAB_SERVER_SYSTEM_FILE_H

#include "core/error.h"

#include <stddef.h>

/* The contents of a regular file of at most 512 MiB, with a NUL after them that `size` does not count;
 * release with free(). ERROR_MISSING where there is no such file. `error` may be NULL. */
bool file_read(const char *path, void **bytes, size_t *size, struct error *error);

/* A file of the data directory that a user names: a plain name, no path, and none of attnlab's own files. */
bool file_read_named(const char *directory, const char *name, void **bytes, size_t *size,
                     struct error *error);
/* Whether file_read_named would find it: opened, not read. The error is the same. */
bool file_find_named(const char *directory, const char *name, struct error *error);

#endif
