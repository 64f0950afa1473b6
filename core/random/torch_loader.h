/* The order in which a training run visits its examples: PyTorch's.
 *
 * TORCH_LOADER_DATALOADER is DataLoader(dataset, batch_size, shuffle=True,
 * generator=torch.Generator().manual_seed(seed)), seeded once for all epochs: an epoch draws a base seed, its
 * permutation and, when that is used up, a second permutation that is not used. TORCH_LOADER_RANDPERM is the
 * plain loop: torch.manual_seed(seed) before training, then torch.randperm(n) for each epoch. The struct is
 * flat: a copy made between epochs saves the order of all later epochs. */
#ifndef ATTNLAB_CORE_RANDOM_TORCH_LOADER_H
#define ATTNLAB_CORE_RANDOM_TORCH_LOADER_H

#include "core/random/torch_random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum torch_loader_order { TORCH_LOADER_DATALOADER = 0, TORCH_LOADER_RANDPERM = 1 };

struct torch_loader {
    struct torch_generator generator;
    uint64_t example_count;
    uint64_t batch_size;
    uint64_t position; /* the number of this epoch's examples already delivered */
    uint32_t order;    /* enum torch_loader_order */
    uint32_t
        is_finished; /* 1 before the first epoch, and once the current epoch has drawn everything it draws */
};

/* `batch_size` >= 1. If batch_size does not divide example_count, an epoch's last batch is shorter. */
void torch_loader_init(struct torch_loader *loader, enum torch_loader_order order, uint64_t seed,
                       size_t example_count, size_t batch_size);

/* Whether a loader can be in this state. For states that come from outside, such as a checkpoint. */
bool torch_loader_is_valid(const struct torch_loader *loader);

/* Starts an epoch and fills permutation[example_count] with the order of its examples. An epoch that is
 * abandoned before its end draws nothing more, as in PyTorch after a `break`. */
void torch_loader_begin_epoch(struct torch_loader *loader, size_t *permutation);

/* The next batch is entries *first .. *first + *count - 1 of the epoch's permutation. Returns false if no
 * batch is left; the epoch's draws are complete only then, so call it until it does. As in PyTorch, the
 * second permutation is drawn before the last batch if that batch is short, after it if it is full. */
bool torch_loader_next_batch(struct torch_loader *loader, size_t *first, size_t *count);

#endif
