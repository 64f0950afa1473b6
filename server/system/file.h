/* Reading whole files. */
#ifndef ATTNLAB_SERVER_SYSTEM_FILE_H
#define ATTNLAB_SERVER_SYSTEM_FILE_H

#include "core/error.h"

#include <stdbool.h>
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

/* The files that attnlab makes in its data directory must not lead elsewhere, because the directory may be
 * writable by others. Fails if something else than a plain file with one name is there: a symbolic or hard
 * link, a pipe, a directory. Succeeds if nothing is. */
bool file_check_own(const char *path, struct error *error);
/* Opens or creates such a file, readable by its owner only, and never waits. Returns its descriptor; -1 on
 * failure. *is_shared: it has another name too (a hard link), so it must not be written. */
int file_open_own(const char *path, int flags, bool *is_shared, struct error *error);

#endif
