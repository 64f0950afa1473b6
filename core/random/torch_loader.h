/* The order in which a training run visits its examples, as PyTorch gives it.
 *
 * TORCH_LOADER_DATALOADER is DataLoader(dataset, batch_size, shuffle=True,
 * generator=torch.Generator().manual_seed(seed)), seeded once for all epochs: an epoch draws a base seed,
 * its permutation, and when that is used up a second permutation of which nothing is used.
 * TORCH_LOADER_RANDPERM is the plain loop: torch.manual_seed(seed) before training, torch.randperm(n) an
 * epoch. The struct is flat: copied between epochs it saves and restores the order of all that follow. */
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
    uint64_t position;    /* examples of this epoch that have been delivered */
    uint32_t order;       /* enum torch_loader_order */
    uint32_t is_finished; /* 1 before the first epoch and once the current one has drawn all it draws */
};

/* `batch_size` >= 1. The last batch of an epoch is the shorter one where the sizes do not divide. */
void torch_loader_init(struct torch_loader *loader, enum torch_loader_order order, uint64_t seed,
                       size_t example_count, size_t batch_size);

/* Whether the members are such as a loader can have: for states that come from outside. */
bool torch_loader_is_valid(const struct torch_loader *loader);

/* Starts an epoch and fills permutation[example_count] with the order of its examples. An epoch left before
 * its end draws what PyTorch draws after a `break`: nothing more. */
void torch_loader_begin_epoch(struct torch_loader *loader, size_t *permutation);

/* The next batch is entries *first .. *first + *count - 1 of the epoch's permutation. Returns false, with the
 * epoch's draws complete, where no batch is left; call it until then. (Whether PyTorch draws the second
 * permutation before the last batch or after it depends on whether that batch is a full one; so here.) */
bool torch_loader_next_batch(struct torch_loader *loader, size_t *first, size_t *count);

#endif
