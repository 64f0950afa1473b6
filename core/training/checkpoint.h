/* A checkpoint: the state of a run after an epoch, from which it continues with identical bits.
 *
 * It is one block of bytes: a header with a checksum, then the weights and the optimiser's two moments (0
 * where it has none), each [parameter_count] floats. It is in this machine's byte order, because a run
 * continues where it began. */
#ifndef ATTNLAB_CORE_TRAINING_CHECKPOINT_H
#define ATTNLAB_CORE_TRAINING_CHECKPOINT_H

#include "core/error.h"
#include "core/random/torch_loader.h"

#include <stddef.h>

/* The progress of a run. */
struct training_state {
    uint64_t epoch, step; /* the number of finished epochs and steps */
    double seconds;
    double train_loss, test_accuracy; /* of the last epoch */
    struct torch_loader loader;
};

size_t checkpoint_size(size_t parameter_count);

/* Writes bytes[checkpoint_size]. `numbers` holds the weights and both moments, [3][parameter_count]. */
void checkpoint_write(unsigned char *bytes, const struct training_state *state, const float *numbers,
                      size_t parameter_count);

/* Writes the checksum of bytes[size] into the header; checkpoint_write does so last. */
void checkpoint_seal(unsigned char *bytes, size_t size);

/* On entry state->loader has the sizes of the run. ERROR_INVALID if the checkpoint is damaged or belongs to a
 * model or data of other sizes. A failure changes nothing. */
bool checkpoint_read(const void *bytes, size_t size, struct training_state *state, float *numbers,
                     size_t parameter_count, struct error *error);

#endif
