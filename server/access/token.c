/* Reads or generates the lecturer's token: see token.h. */
#include "server/access/token.h"

#include "server/access/secret.h"
#include "server/system/file.h"
#include "server/system/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool take_token(const char *text, char token[TOKEN_SIZE], const char *source, struct error *error) {
    size_t length = strcspn(text, "\r\n");
    if (text[length + strspn(text + length, "\r\n")] != '\0')
        return error_set(error, ERROR_INVALID, "the token in %.200s must be one line", source);
    for (size_t i = 0; i < length; i++) {
        if (text[i] <= ' ' || text[i] > '~') {
            return error_set(error, ERROR_INVALID,
                             "the token in %.200s must consist of letters, digits and punctuation, without"
                             " spaces",
                             source);
        }
    }
    if (length < TOKEN_MINIMUM || length > TOKEN_MAXIMUM) {
        return error_set(error, ERROR_INVALID,
                         "the token in %.200s must have %d to %d characters; it has %zu", source,
                         TOKEN_MINIMUM, TOKEN_MAXIMUM, length);
    }
    memcpy(token, text, length);
    token[length] = '\0';
    return true;
}

static bool read_token_file(const struct options *options, const char *path, char token[TOKEN_SIZE],
                            struct error *error) {
    struct stat status;
    void *bytes = NULL;
    size_t size = 0;
    if (stat(path, &status) == 0 && status.st_mode & (S_IRGRP | S_IROTH))
        log_write(options->log_level, LOG_WARNING,
                  "other users can read the token in %.300s; run chmod 600 on it", path);
    if (!file_read(path, &bytes, &size, error))
        return false;
    bool is_taken = take_token(bytes, token, path, error);
    free(bytes);
    return is_taken;
}

/* Writes the token to a new file and renames it, so that the file appears whole or not at all. */
static bool make_token_file(const char *path, struct error *error) {
    char secret[SECRET_SIZE];
    char partial[4200];
    snprintf(partial, sizeof partial, "%s.new", path);
    if (!secret_create(secret, error))
        return false;
    secret[SECRET_SIZE - 1] = '\n';
    /* Whatever has this name, a remainder or a link to another file, is replaced and never written to. */
    unlink(partial);
    int file = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_made = file >= 0 && write(file, secret, SECRET_SIZE) == SECRET_SIZE && fsync(file) == 0;
    if (file >= 0)
        is_made = close(file) == 0 && is_made;
    is_made = is_made && rename(partial, path) == 0;
    return is_made || error_set(error, ERROR_UNAVAILABLE, "cannot write the lecturer's token to %.300s: %s",
                                path, strerror(errno));
}

bool access_token_read(const struct options *options, char token[TOKEN_SIZE], char *made_file, size_t size,
                       struct error *error) {
    *made_file = '\0';
    if (options->token_file)
        return read_token_file(options, options->token_file, token, error);
    if (options->token)
        return take_token(options->token, token, "ATTNLAB_TOKEN", error);
    int length = snprintf(made_file, size, "%s/attnlab.token", options->data);
    if (length >= (int)size)
        return error_set(error, ERROR_INVALID, "the path of the data directory is too long");
    if (access(made_file, F_OK) != 0 && !make_token_file(made_file, error))
        return false;
    return read_token_file(options, made_file, token, error);
}
