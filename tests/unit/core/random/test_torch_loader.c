/* core/random/torch_loader against the order of torch's own DataLoader. */
#include "core/random/torch_loader.h"
#include "tests/reference/golden_torch_loader.h"
#include "tests/unit/core/random/hash.h"
#include "tests/unit/main.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))
enum { LONGEST = 2048 };

static struct torch_loader loader;
static size_t permutation[LONGEST];

/* Runs an epoch, abandoned after `limit` batches as with a break (0: never), and continues the hash of the
 * examples' indices in order of delivery. */
static uint64_t hash_epoch(uint64_t hash, size_t limit, size_t *batches) {
    size_t first, count, delivered = 0;
    torch_loader_begin_epoch(&loader, permutation);
    while (torch_loader_next_batch(&loader, &first, &count)) {
        hash = hash_indices(hash, permutation + first, count);
        *batches += 1;
        if (++delivered == limit)
            break;
    }
    return hash;
}

START_TEST(order_matches_the_dataloader) {
    uint64_t hash = HASH_START;
    size_t batches = 0;
    torch_loader_init(&loader, TORCH_LOADER_DATALOADER, golden_dataloader[_i].seed,
                      golden_dataloader[_i].count, golden_dataloader[_i].batch);
    for (uint32_t epoch = 0; epoch < golden_dataloader[_i].epochs; epoch++)
        hash = hash_epoch(hash, golden_dataloader[_i].limit, &batches);
    ck_assert_uint_eq(batches, golden_dataloader[_i].batches);
    ck_assert_uint_eq(hash, golden_dataloader[_i].hash);
    ck_assert_int_eq(torch_random_int63(&loader.generator), golden_dataloader[_i].next);
}
END_TEST

START_TEST(sixty_epochs_match_the_chapter) {
    size_t batches = 0;
    int compared = 0;
    torch_loader_init(&loader, TORCH_LOADER_DATALOADER, 0, 2000, 64);
    for (uint32_t epoch = 0; epoch < 60; epoch++) {
        hash_epoch(HASH_START, 0, &batches);
        for (int i = 0; i < COUNT_OF(golden_epochs); i++) {
            if (golden_epochs[i].epoch != epoch)
                continue;
            for (int j = 0; j < 3; j++) {
                ck_assert_uint_eq(permutation[j], golden_epochs[i].first[j]);
                ck_assert_uint_eq(permutation[1997 + j], golden_epochs[i].last[j]);
            }
            compared++;
        }
    }
    ck_assert_uint_eq(batches, 60 * 32);
    ck_assert_int_eq(compared, COUNT_OF(golden_epochs));
}
END_TEST

START_TEST(plain_order_is_one_randperm_per_epoch) {
    uint64_t hash = HASH_START;
    size_t batches = 0;
    torch_loader_init(&loader, TORCH_LOADER_RANDPERM, golden_plain_randperm[_i].seed,
                      golden_plain_randperm[_i].count, golden_plain_randperm[_i].batch);
    for (uint32_t epoch = 0; epoch < golden_plain_randperm[_i].epochs; epoch++)
        hash = hash_epoch(hash, 0, &batches);
    ck_assert_uint_eq(hash, golden_plain_randperm[_i].hash);
    ck_assert_int_eq(torch_random_int63(&loader.generator), golden_plain_randperm[_i].next);
}
END_TEST

START_TEST(a_copied_loader_continues_the_order) {
    size_t batches = 0;
    torch_loader_init(&loader, TORCH_LOADER_DATALOADER, 7, 100, 10);
    hash_epoch(HASH_START, 0, &batches);
    unsigned char saved[sizeof loader];
    memcpy(saved, &loader, sizeof saved);
    uint64_t uninterrupted = hash_epoch(hash_epoch(HASH_START, 0, &batches), 0, &batches);

    memset(&loader, 0, sizeof loader);
    ck_assert(!torch_loader_is_valid(&loader));
    memcpy(&loader, saved, sizeof loader);
    ck_assert(torch_loader_is_valid(&loader));
    ck_assert_uint_eq(hash_epoch(hash_epoch(HASH_START, 0, &batches), 0, &batches), uninterrupted);
}
END_TEST

START_TEST(no_batches_outside_an_epoch) {
    size_t first, count;
    torch_loader_init(&loader, TORCH_LOADER_DATALOADER, 0, 10, 5);
    struct torch_generator before = loader.generator;
    ck_assert(!torch_loader_next_batch(&loader, &first, &count));
    ck_assert_mem_eq(&before, &loader.generator, sizeof before);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_loop_test(tests, order_matches_the_dataloader, 0, COUNT_OF(golden_dataloader));
    tcase_add_test(tests, sixty_epochs_match_the_chapter);
    tcase_add_loop_test(tests, plain_order_is_one_randperm_per_epoch, 0, COUNT_OF(golden_plain_randperm));
    tcase_add_test(tests, a_copied_loader_continues_the_order);
    tcase_add_test(tests, no_batches_outside_an_epoch);
}
