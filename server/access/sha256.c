/* SHA-256: see sha256.h. */
#include "server/access/sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_SIZE = 64 };

/* FIPS 180-4, 4.2.2: the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t word, unsigned count) {
    return word >> count | word << (32 - count);
}

/* 6.2.2: one block changes the eight words of the state. */
static void take_block(uint32_t state[8], const unsigned char *block) {
    uint32_t schedule[64];
    uint32_t words[8];
    for (size_t i = 0; i < 16; i++) {
        schedule[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                      (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    }
    for (size_t i = 16; i < 64; i++) {
        uint32_t early = schedule[i - 15];
        uint32_t late = schedule[i - 2];
        schedule[i] = (rotate_right(late, 17) ^ rotate_right(late, 19) ^ late >> 10) + schedule[i - 7] +
                      (rotate_right(early, 7) ^ rotate_right(early, 18) ^ early >> 3) + schedule[i - 16];
    }
    memcpy(words, state, sizeof words);
    for (size_t i = 0; i < 64; i++) {
        uint32_t a = words[0];
        uint32_t e = words[4];
        uint32_t choice = (e & words[5]) ^ (~e & words[6]);
        uint32_t majority = (a & words[1]) ^ (a & words[2]) ^ (words[1] & words[2]);
        uint32_t first = words[7] + (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) +
                         choice + round_constants[i] + schedule[i];
        uint32_t second = (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22)) + majority;
        memmove(words + 1, words, 7 * sizeof *words);
        words[4] += first;
        words[0] = first + second;
    }
    for (size_t i = 0; i < 8; i++)
        state[i] += words[i];
}

void sha256(const void *bytes, size_t size, unsigned char digest[SHA256_SIZE]) {
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const unsigned char *input = bytes;
    size_t whole = size / BLOCK_SIZE * BLOCK_SIZE;
    size_t rest = size - whole;
    for (size_t i = 0; i < whole; i += BLOCK_SIZE)
        take_block(state, input + i);
    /* The rest, one bit, zeros, and the length in bits. */
    unsigned char end[2 * BLOCK_SIZE] = {0};
    size_t end_size = rest < BLOCK_SIZE - 8 ? BLOCK_SIZE : 2 * BLOCK_SIZE;
    memcpy(end, input + whole, rest);
    end[rest] = 0x80;
    for (size_t i = 0; i < 8; i++)
        end[end_size - 1 - i] = (unsigned char)((uint64_t)size * 8 >> 8 * i);
    for (size_t i = 0; i < end_size; i += BLOCK_SIZE)
        take_block(state, end + i);
    for (size_t i = 0; i < SHA256_SIZE; i++)
        digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_write_text(const unsigned char digest[SHA256_SIZE], char text[SHA256_TEXT_SIZE]) {
    for (size_t i = 0; i < SHA256_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
}
