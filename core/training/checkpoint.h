/* What a run needs to go on after an epoch, to the bit: one block of bytes.
 *
 * A header with a checksum, then the weights and Adam's two moments, each [parameter_count] floats. Bytes are
 * in this machine's order: a checkpoint goes on where it was made. */
#ifndef ATTNLAB_CORE_TRAINING_CHECKPOINT_H
#define ATTNLAB_CORE_TRAINING_CHECKPOINT_H

#include "core/error.h"
#include "core/random/torch_loader.h"

#include <stddef.h>

/* Where a run stands. */
struct training_state {
    uint64_t epoch, step; /* finished ones */
    double seconds;
    double train_loss, test_accuracy; /* of the last epoch */
    struct torch_loader loader;
};

size_t checkpoint_size(size_t parameter_count);

/* `numbers` holds the weights and both moments, [3][parameter_count]; bytes[checkpoint_size] is written. */
void checkpoint_write(unsigned char *bytes, const struct training_state *state, const float *numbers,
                      size_t parameter_count);

/* Writes the checksum of bytes[size] into its place, as checkpoint_write does last. */
void checkpoint_seal(unsigned char *bytes, size_t size);

/* ERROR_INVALID where it is damaged, or belongs to a model or data of other sizes than state->loader has on
 * entry. On failure nothing is changed. */
bool checkpoint_read(const void *bytes, size_t size, struct training_state *state, float *numbers,
                     size_t parameter_count, struct error *error);

#endif
