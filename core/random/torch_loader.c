/* The order in which a training run visits its examples: see torch_loader.h. */
#include "core/random/torch_loader.h"

_Static_assert(sizeof(struct torch_loader) == sizeof(struct torch_generator) + 32,
               "checkpoints store these bytes");

void torch_loader_init(struct torch_loader *loader, enum torch_loader_order order, uint64_t seed,
                       size_t example_count, size_t batch_size) {
    torch_generator_seed(&loader->generator, seed);
    loader->example_count = example_count;
    loader->batch_size = batch_size;
    loader->position = example_count;
    loader->order = order;
    loader->is_finished = 1;
}

bool torch_loader_is_valid(const struct torch_loader *loader) {
    return torch_generator_is_valid(&loader->generator) && loader->batch_size >= 1 &&
           loader->position <= loader->example_count && loader->order <= TORCH_LOADER_RANDPERM &&
           loader->is_finished <= 1;
}

void torch_loader_begin_epoch(struct torch_loader *loader, size_t *permutation) {
    if (loader->order == TORCH_LOADER_DATALOADER)
        torch_random_int63(&loader->generator);
    torch_randperm(&loader->generator, permutation, loader->example_count);
    loader->position = 0;
    loader->is_finished = 0;
}

/* Draws the second permutation, which RandomSampler makes but never uses. */
static void finish_epoch(struct torch_loader *loader) {
    if (loader->is_finished)
        return;
    if (loader->order == TORCH_LOADER_DATALOADER)
        for (uint64_t i = 1; i < loader->example_count; i++)
            torch_random_uint32(&loader->generator);
    loader->is_finished = 1;
}

bool torch_loader_next_batch(struct torch_loader *loader, size_t *first, size_t *count) {
    uint64_t left = loader->example_count - loader->position;
    *first = loader->position;
    *count = left < loader->batch_size ? left : loader->batch_size;
    /* PyTorch fills a batch index by index, so it reaches the end of the permutation inside a short batch. */
    if (left < loader->batch_size)
        finish_epoch(loader);
    loader->position += *count;
    return *count > 0;
}
