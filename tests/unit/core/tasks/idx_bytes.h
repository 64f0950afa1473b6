/* Makes IDX files in memory, plain and gzip'd. */
#ifndef ATTNLAB_TESTS_UNIT_CORE_TASKS_IDX_BYTES_H
#define ATTNLAB_TESTS_UNIT_CORE_TASKS_IDX_BYTES_H

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct idx_bytes {
    unsigned char *bytes; /* release with free() */
    size_t size;
};

/* A file of bytes; values[count] follow the header. */
static inline struct idx_bytes idx_bytes_make(const size_t *shape, size_t rank, const uint8_t *values,
                                              size_t count) {
    struct idx_bytes file = {malloc(4 + 4 * rank + count), 4 + 4 * rank + count};
    ck_assert_ptr_nonnull(file.bytes);
    const unsigned char magic[] = {0, 0, 8, (unsigned char)rank};
    memcpy(file.bytes, magic, sizeof magic);
    for (size_t i = 0; i < rank; i++)
        for (size_t j = 0; j < 4; j++)
            file.bytes[4 + 4 * i + j] = (unsigned char)(shape[i] >> (24 - 8 * j));
    if (count > 0)
        memcpy(file.bytes + 4 + 4 * rank, values, count);
    return file;
}

static inline struct idx_bytes idx_bytes_gzip(struct idx_bytes plain) {
    z_stream stream = {0};
    ck_assert_int_eq(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    size_t room = deflateBound(&stream, plain.size);
    struct idx_bytes file = {malloc(room), 0};
    ck_assert_ptr_nonnull(file.bytes);
    stream.next_in = plain.bytes;
    stream.avail_in = (uInt)plain.size;
    stream.next_out = file.bytes;
    stream.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    file.size = stream.total_out;
    deflateEnd(&stream);
    return file;
}

#endif
