/* FNV-1a (Fowler, Noll, Vo), 64 bits, over the bytes of arrays: the repository has only the hash of a long
 * golden stream. Integers are hashed as int64. To hash several arrays, pass on the last hash. */
#ifndef ATTNLAB_TESTS_UNIT_CORE_RANDOM_HASH_H
#define ATTNLAB_TESTS_UNIT_CORE_RANDOM_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static inline uint64_t hash_indices(uint64_t hash, const size_t *indices, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int64_t value = (int64_t)indices[i];
        hash = hash_bytes(hash, &value, sizeof value);
    }
    return hash;
}

#endif
