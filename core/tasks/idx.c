/* Parses IDX files: see idx.h. */
#include "core/tasks/idx.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
/* Lets zlib's interface read from constant memory. */
#define ZLIB_CONST
#include <zlib.h>

enum { MAGIC_SIZE = 4, DIMENSION_SIZE = 4, TYPE_BYTES = 8, GZIP_WINDOW = 16 + MAX_WBITS };

/* The source of the bytes: a plain file, or the inflated contents of a gzip'd one. */
struct source {
    const unsigned char *at;
    size_t left;
    bool gzipped, ended;
    z_stream stream;
};

static bool open_source(struct source *source, const void *bytes, size_t size, struct error *error) {
    *source = (struct source){.at = bytes, .left = size};
    source->gzipped = size >= 2 && source->at[0] == 0x1f && source->at[1] == 0x8b;
    if (source->gzipped && inflateInit2(&source->stream, GZIP_WINDOW) != Z_OK)
        return error_set_memory(error, sizeof source->stream);
    return true;
}

static void close_source(struct source *source) {
    if (source->gzipped)
        inflateEnd(&source->stream);
}

/* Inflates at most `count` bytes into `target`; sets *got to their number. */
static bool inflate_some(struct source *source, unsigned char *target, size_t count, size_t *got,
                         struct error *error) {
    z_stream *stream = &source->stream;
    *got = 0;
    while (*got < count && !source->ended) {
        uInt room = count - *got < UINT_MAX ? (uInt)(count - *got) : UINT_MAX;
        uInt given = source->left < UINT_MAX ? (uInt)source->left : UINT_MAX;
        stream->next_in = source->at;
        stream->avail_in = given;
        stream->next_out = target + *got;
        stream->avail_out = room;
        int status = inflate(stream, Z_NO_FLUSH);
        source->at += given - stream->avail_in;
        source->left -= given - stream->avail_in;
        *got += room - stream->avail_out;
        source->ended = status == Z_STREAM_END;
        if (status == Z_MEM_ERROR)
            return error_set_memory(error, count);
        if (status == Z_BUF_ERROR && source->left == 0)
            return true;
        if (status != Z_OK && status != Z_STREAM_END)
            return error_set(error, ERROR_INVALID, "has damaged gzip data");
    }
    return true;
}

/* Reads exactly `count` bytes. */
static bool read_bytes(struct source *source, unsigned char *target, size_t count, struct error *error) {
    size_t got = source->left < count ? source->left : count;
    if (source->gzipped) {
        if (!inflate_some(source, target, count, &got, error))
            return false;
    } else {
        if (got > 0)
            memcpy(target, source->at, got);
        source->at += got;
        source->left -= got;
    }
    return got == count || error_set(error, ERROR_INVALID, "is incomplete: it ends too early");
}

/* Checks that nothing follows; for gzip this also checks the checksum. */
static bool expect_end(struct source *source, struct error *error) {
    unsigned char byte;
    size_t got = 0;
    if (source->gzipped) {
        if (!inflate_some(source, &byte, 1, &got, error))
            return false;
        if (got == 0 && !source->ended)
            return error_set(error, ERROR_INVALID, "is incomplete: it ends too early");
    }
    return (got == 0 && source->left == 0) ||
           error_set(error, ERROR_INVALID, "is longer than its header says");
}

static bool read_header(struct source *source, size_t count_limit, struct idx_array *array,
                        struct error *error) {
    unsigned char magic[MAGIC_SIZE] = {0};
    if (!read_bytes(source, magic, sizeof magic, error))
        return false;
    if (magic[0] != 0 || magic[1] != 0 || magic[2] != TYPE_BYTES || magic[3] == 0 ||
        magic[3] > IDX_RANK_LIMIT)
        return error_set(error, ERROR_INVALID, "is not an IDX file of bytes in at most %d dimensions",
                         IDX_RANK_LIMIT);
    array->rank = magic[3];
    array->count = 1;
    for (size_t i = 0; i < array->rank; i++) {
        unsigned char digits[DIMENSION_SIZE] = {0};
        if (!read_bytes(source, digits, sizeof digits, error))
            return false;
        size_t extent =
            (size_t)digits[0] << 24 | (size_t)digits[1] << 16 | (size_t)digits[2] << 8 | digits[3];
        if (extent == 0)
            return error_set(error, ERROR_INVALID, "is empty: dimension %zu is 0", i + 1);
        if (extent > count_limit / array->count)
            return error_set(error, ERROR_TOO_LARGE, "holds more than %zu values", count_limit);
        array->shape[i] = extent;
        array->count *= extent;
    }
    return true;
}

static bool read_values(struct source *source, struct idx_array *array, struct error *error) {
    array->values = malloc(array->count);
    if (array->values == NULL)
        return error_set_memory(error, array->count);
    return read_bytes(source, array->values, array->count, error);
}

bool idx_parse(const void *bytes, size_t size, size_t count_limit, struct idx_array *array,
               struct error *error) {
    *array = (struct idx_array){0};
    struct source source;
    if (!open_source(&source, bytes, size, error))
        return false;
    bool good = read_header(&source, count_limit, array, error) && read_values(&source, array, error) &&
                expect_end(&source, error);
    close_source(&source);
    if (!good)
        idx_free(array);
    return good;
}

void idx_free(struct idx_array *array) {
    free(array->values);
    *array = (struct idx_array){0};
}
