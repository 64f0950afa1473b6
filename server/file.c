/* Reading whole files: see file.h. */
#include "server/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE_LIMIT = 512 * 1024 * 1024, PATH_SIZE = 4400, NAME_LENGTH = 255 };

static bool read_all(int descriptor, char *bytes, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t count = read(descriptor, bytes + done, size - done);
        if (count == 0 || (count < 0 && errno != EINTR))
            return false;
        done += count > 0 ? (size_t)count : 0;
    }
    return true;
}

bool file_read(const char *path, void **bytes, size_t *size, struct error *error) {
    struct stat status;
    char *contents = NULL;
    bool is_read = false;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        error_set(error, ERROR_MISSING, "cannot read %s: %s", path,
                  descriptor < 0 ? strerror(errno) : "it is not a file");
        goto cleanup;
    }
    if (status.st_size > SIZE_LIMIT) {
        error_set(error, ERROR_TOO_LARGE, "%s has %lld bytes; at most %d are read", path,
                  (long long)status.st_size, SIZE_LIMIT);
        goto cleanup;
    }
    contents = malloc((size_t)status.st_size + 1);
    if (!contents) {
        error_set_memory(error, (unsigned long long)status.st_size + 1);
        goto cleanup;
    }
    errno = 0;
    is_read = read_all(descriptor, contents, (size_t)status.st_size);
    if (!is_read) {
        error_set(error, ERROR_UNAVAILABLE, "cannot read %s: %s", path,
                  errno ? strerror(errno) : "it became shorter");
        goto cleanup;
    }
    contents[status.st_size] = '\0';
    *bytes = contents;
    *size = (size_t)status.st_size;
    contents = NULL;
cleanup:
    free(contents);
    if (descriptor >= 0)
        close(descriptor);
    return is_read;
}

bool file_read_named(const char *directory, const char *name, void **bytes, size_t *size,
                     struct error *error) {
    static const char own_prefix[] = "attnlab.";
    char path[PATH_SIZE];
    if (name[0] == '\0' || name[0] == '.' || strchr(name, '/') || strlen(name) > NAME_LENGTH)
        return error_set(error, ERROR_INVALID, "\"%.100s\" is not the plain name of a file", name);
    if (strncmp(name, own_prefix, sizeof own_prefix - 1) == 0)
        return error_set(error, ERROR_INVALID, "\"%.100s\" is one of attnlab's own files", name);
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    if (length < 0 || (size_t)length >= sizeof path || access(path, F_OK) != 0) {
        return error_set(error, ERROR_MISSING, "there is no file %.200s in the data directory (%.200s)", name,
                         directory);
    }
    return file_read(path, bytes, size, error);
}
