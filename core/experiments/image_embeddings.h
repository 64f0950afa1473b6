/* A pretrained network's embeddings of the first images of a file, cached for the next run.
 *
 * Blocks of images always start at the same image, so an embedding's bits depend on the file alone and the
 * data source can cache the block. Its key holds the hashes of both files, the size, and the kernels that
 * computed it. Idle cores share the parts of a block. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_IMAGE_EMBEDDINGS_H
#define ATTNLAB_CORE_EXPERIMENTS_IMAGE_EMBEDDINGS_H

#include "core/experiments/experiment.h"
#include "core/experiments/image_files.h"

struct image_embeddings {
    size_t count, dimensions;
    float *values;          /* owned, [count][dimensions] */
    size_t embedded;        /* how many the network computed; the others came from the cache */
    size_t parameter_count; /* of the network */
};

/* Embeds the first `count` images, resized to [size][size]. Reports progress; ERROR_CANCELLED if the run is
 * cancelled. Decodes the weights only if a block is not in the cache. Free with image_embeddings_free. */
bool image_embeddings_compute(struct image_embeddings *embeddings, const struct image_files *files,
                              size_t count, size_t size, const struct experiment_context *context,
                              struct error *error);
void image_embeddings_free(struct image_embeddings *embeddings);

/* The bytes that computing the embeddings takes on one core, including the result but not the files, and the
 * operations. Each further core takes as much working memory again. False with ERROR_MEMORY. */
bool image_embeddings_measure(size_t count, size_t size, unsigned long long *bytes, double *operations,
                              struct error *error);

#endif
