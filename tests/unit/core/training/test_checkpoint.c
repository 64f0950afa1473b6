/* Checkpoints: reading restores what was written, and detects any damage. */
#include "core/training/checkpoint.h"
#include "tests/unit/main.h"

#include <stdlib.h>
#include <string.h>

enum { PARAMETERS = 37, EXAMPLES = 20, BATCH = 8 };

static float numbers[3 * PARAMETERS], found_numbers[3 * PARAMETERS];
static struct training_state state, found;
static unsigned char *bytes;
static size_t size;

static void setup(void) {
    for (size_t i = 0; i < 3 * PARAMETERS; i++)
        numbers[i] = (float)i * 0.5f - 3;
    state = (struct training_state){.epoch = 4, .step = 12, .seconds = 1.5, .train_loss = 0.25};
    torch_loader_init(&state.loader, TORCH_LOADER_DATALOADER, 7, EXAMPLES, BATCH);
    found = (struct training_state){.epoch = 1};
    torch_loader_init(&found.loader, TORCH_LOADER_DATALOADER, 0, EXAMPLES, BATCH);
    size = checkpoint_size(PARAMETERS);
    bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    checkpoint_write(bytes, &state, numbers, PARAMETERS);
}

static void teardown(void) {
    free(bytes);
}

static bool read_back(void) {
    struct error error = {0};
    bool ok = checkpoint_read(bytes, size, &found, found_numbers, PARAMETERS, &error);
    ck_assert_int_eq(error.code, ok ? ERROR_NONE : ERROR_INVALID);
    return ok;
}

START_TEST(reading_restores_what_was_written) {
    ck_assert(read_back());
    ck_assert_mem_eq(&found, &state, sizeof state);
    ck_assert_mem_eq(found_numbers, numbers, sizeof numbers);
}
END_TEST

START_TEST(any_wrong_bit_is_detected) {
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= (unsigned char)(1 << i % 8);
        ck_assert_msg(!read_back(), "byte %zu", i);
        ck_assert_uint_eq(found.epoch, 1);
        bytes[i] ^= (unsigned char)(1 << i % 8);
    }
    ck_assert(read_back());
}
END_TEST

START_TEST(a_sealed_checkpoint_of_other_data_is_refused) {
    struct training_state other = state;
    other.loader.batch_size++;
    checkpoint_write(bytes, &other, numbers, PARAMETERS);
    ck_assert(!read_back());
    other = state;
    other.loader.order = TORCH_LOADER_RANDPERM;
    checkpoint_write(bytes, &other, numbers, PARAMETERS);
    ck_assert(!read_back());
    other = state;
    other.loader.example_count++;
    checkpoint_write(bytes, &other, numbers, PARAMETERS);
    ck_assert(!read_back());
    other = state;
    other.loader.position = EXAMPLES + 1;
    checkpoint_write(bytes, &other, numbers, PARAMETERS);
    ck_assert(!read_back());
    other = state;
    other.loader.generator.index = TORCH_STATE_WORDS + 1;
    checkpoint_write(bytes, &other, numbers, PARAMETERS);
    ck_assert(!read_back());
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, reading_restores_what_was_written);
    tcase_add_test(tests, any_wrong_bit_is_detected);
    tcase_add_test(tests, a_sealed_checkpoint_of_other_data_is_refused);
}
