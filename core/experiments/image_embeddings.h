/* What a pretrained network makes of the first images of a file, kept for the next run.
 *
 * Images are embedded in blocks that always start at the same image, so an embedding's bits depend on the
 * file alone, and a block can be kept in the data source's cache: under the hashes of both files, the size,
 * and which kernels made it. A block's parts are spread over idle cores. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_IMAGE_EMBEDDINGS_H
#define ATTNLAB_CORE_EXPERIMENTS_IMAGE_EMBEDDINGS_H

#include "core/experiments/experiment.h"
#include "core/experiments/image_files.h"

struct image_embeddings {
    size_t count, dimensions;
    float *values;          /* owned, [count][dimensions] */
    size_t embedded;        /* how many the network had to be asked for; the others were kept */
    size_t parameter_count; /* of the network */
};

/* The first `count` images, resized to [size][size]. Reports progress; ERROR_CANCELLED when asked to stop.
 * The weights are only decoded where the cache does not have everything. Free with image_embeddings_free. */
bool image_embeddings_compute(struct image_embeddings *embeddings, const struct image_files *files,
                              size_t count, size_t size, const struct experiment_context *context,
                              struct error *error);
void image_embeddings_free(struct image_embeddings *embeddings);

/* Bytes that computing them takes beside the files, with what comes of it, on one core: each that helps works
 * in as much memory of its own. False with ERROR_MEMORY. */
bool image_embeddings_measure(size_t count, size_t size, unsigned long long *bytes, struct error *error);

#endif
