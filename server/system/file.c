/* Reading whole files: see file.h. */
#include "server/system/file.h"

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

/* Opens a regular file that is not too large and sets *size. Returns its descriptor, or -1 with an error. */
static int open_file(const char *path, off_t *size, struct error *error) {
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        error_set(error, ERROR_MISSING, "cannot read %s: %s", path,
                  descriptor < 0 ? strerror(errno) : "it is not a file");
    else if (status.st_size > SIZE_LIMIT)
        error_set(error, ERROR_TOO_LARGE, "%s has %lld bytes; the limit is %d", path,
                  (long long)status.st_size, SIZE_LIMIT);
    else {
        *size = status.st_size;
        return descriptor;
    }
    if (descriptor >= 0)
        close(descriptor);
    return -1;
}

bool file_read(const char *path, void **bytes, size_t *size, struct error *error) {
    off_t length = 0;
    int descriptor = open_file(path, &length, error);
    if (descriptor < 0)
        return false;
    char *contents = malloc((size_t)length + 1);
    bool is_read = false;
    if (!contents) {
        error_set_memory(error, (unsigned long long)length + 1);
        goto cleanup;
    }
    errno = 0;
    is_read = read_all(descriptor, contents, (size_t)length);
    if (!is_read) {
        error_set(error, ERROR_UNAVAILABLE, "cannot read %s: %s", path,
                  errno ? strerror(errno) : "the file was truncated meanwhile");
        goto cleanup;
    }
    contents[length] = '\0';
    *bytes = contents;
    *size = (size_t)length;
    contents = NULL;
cleanup:
    free(contents);
    close(descriptor);
    return is_read;
}

/* Makes the path of a file that a user names. */
static bool name_file(const char *directory, const char *name, char path[PATH_SIZE], struct error *error) {
    static const char own_prefix[] = "attnlab.";
    if (name[0] == '\0' || name[0] == '.' || strchr(name, '/') || strlen(name) > NAME_LENGTH)
        return error_set(error, ERROR_INVALID, "\"%.100s\" is not a plain file name", name);
    if (strncmp(name, own_prefix, sizeof own_prefix - 1) == 0)
        return error_set(error, ERROR_INVALID, "\"%.100s\" is one of attnlab's own files", name);
    int length = snprintf(path, PATH_SIZE, "%s/%s", directory, name);
    if (length < 0 || length >= PATH_SIZE || access(path, F_OK) != 0)
        return error_set(error, ERROR_MISSING, "there is no file %.200s in the data directory (%.200s)", name,
                         directory);
    return true;
}

bool file_read_named(const char *directory, const char *name, void **bytes, size_t *size,
                     struct error *error) {
    char path[PATH_SIZE];
    return name_file(directory, name, path, error) && file_read(path, bytes, size, error);
}

bool file_find_named(const char *directory, const char *name, struct error *error) {
    char path[PATH_SIZE];
    off_t length;
    int descriptor = name_file(directory, name, path, error) ? open_file(path, &length, error) : -1;
    if (descriptor >= 0)
        close(descriptor);
    return descriptor >= 0;
}

static bool check_kind(const char *path, nlink_t names, struct error *error) {
    struct stat status;
    if (lstat(path, &status) != 0 || (S_ISREG(status.st_mode) && status.st_nlink <= names))
        return true;
    if (S_ISREG(status.st_mode))
        return error_set(error, ERROR_CONFLICT,
                         "%.300s has another name too (a hard link), so writing it would change that file; "
                         "replace it by a copy, or remove it",
                         path);
    return error_set(error, ERROR_CONFLICT, "%.300s must be a plain file, but it is %s; remove it", path,
                     S_ISLNK(status.st_mode)   ? "a symbolic link"
                     : S_ISDIR(status.st_mode) ? "a directory"
                                               : "a pipe, socket or device");
}

bool file_check_own(const char *path, struct error *error) {
    return check_kind(path, 1, error);
}

int file_open_own(const char *path, int flags, bool *is_shared, struct error *error) {
    struct stat status;
    if (!check_kind(path, (nlink_t)-1, error))
        return -1;
    /* Whatever takes its place meanwhile: no link is followed, and no pipe waited for. */
    int file = open(path, flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        error_set(error, ERROR_UNAVAILABLE, "cannot write %.300s: %s", path,
                  file < 0 ? strerror(errno) : "it is not a file");
        if (file >= 0)
            close(file);
        return -1;
    }
    *is_shared = status.st_nlink > 1;
    return file;
}
