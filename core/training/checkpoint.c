/* Checkpoints: see checkpoint.h. */
#include "core/training/checkpoint.h"

#include <string.h>
#include <zlib.h>

struct header {
    char magic[8];
    uint64_t checksum; /* CRC-32 of everything after it */
    uint64_t parameter_count;
    struct training_state state;
};

static const char magic[8] = {'a', 't', 't', 'n', 'c', 'k', 'p', '2'};

size_t checkpoint_size(size_t parameter_count) {
    return sizeof(struct header) + 3 * parameter_count * sizeof(float);
}

static uint64_t compute_checksum(const unsigned char *bytes, size_t size) {
    const size_t begin = offsetof(struct header, checksum) + sizeof(uint64_t);
    return crc32_z(0, bytes + begin, size - begin);
}

void checkpoint_seal(unsigned char *bytes, size_t size) {
    if (size < sizeof(struct header))
        return;
    uint64_t checksum = compute_checksum(bytes, size);
    memcpy(bytes + offsetof(struct header, checksum), &checksum, sizeof checksum);
}

void checkpoint_write(unsigned char *bytes, const struct training_state *state, const float *numbers,
                      size_t parameter_count) {
    struct header header = {.parameter_count = parameter_count, .state = *state};
    memcpy(header.magic, magic, sizeof magic);
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + sizeof header, numbers, 3 * parameter_count * sizeof *numbers);
    checkpoint_seal(bytes, checkpoint_size(parameter_count));
}

bool checkpoint_read(const void *bytes, size_t size, struct training_state *state, float *numbers,
                     size_t parameter_count, struct error *error) {
    struct header header;
    if (size != checkpoint_size(parameter_count))
        return error_set(error, ERROR_INVALID, "the checkpoint has %zu bytes; this run needs %zu", size,
                         checkpoint_size(parameter_count));
    memcpy(&header, bytes, sizeof header);
    const struct torch_loader *loader = &header.state.loader;
    if (memcmp(header.magic, magic, sizeof magic) != 0 || header.checksum != compute_checksum(bytes, size) ||
        header.parameter_count != parameter_count || !torch_loader_is_valid(loader))
        return error_set(error, ERROR_INVALID,
                         "the checkpoint is damaged or from another version of attnlab");
    if (loader->example_count != state->loader.example_count ||
        loader->batch_size != state->loader.batch_size || loader->order != state->loader.order)
        return error_set(error, ERROR_INVALID,
                         "the checkpoint belongs to a run with other data or other batches");
    *state = header.state;
    memcpy(numbers, (const unsigned char *)bytes + sizeof header, 3 * parameter_count * sizeof *numbers);
    return true;
}
