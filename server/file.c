#include "server/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_all(int descriptor, char *bytes, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t count = read(descriptor, bytes + done, size - done);
        if (count <= 0 && errno != EINTR) {
            return false;
        }
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
    if (descriptor >= 0) {
        close(descriptor);
    }
    return is_read;
}
