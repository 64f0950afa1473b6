/* Embeds images block by block or takes the blocks from the cache: see image_embeddings.h. */
#include "core/experiments/image_embeddings.h"

#include "core/math/matrix.h"
#include "core/pretrained/mobilenet.h"
#include "core/pretrained/resize.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A part is the work of one core at a time. A block is the unit of the cache and of progress reports. */
enum { PART_IMAGES = 10, BLOCK_PARTS = 20, BLOCK_IMAGES = PART_IMAGES * BLOCK_PARTS, KEY_SIZE = 128 };

/* The weights are in memory three times: in the decoder's output, in the arrays and in the network. */
enum { WEIGHT_COPIES = 3 };

struct block_work {
    const struct mobilenet *network;
    const struct convolution_kernels *kernels;
    const struct idx_array *images;
    size_t size;
    size_t first;             /* image */
    float *values;            /* [BLOCK_IMAGES][dimensions] */
    bool failed[BLOCK_PARTS]; /* out of memory */
};

/* Floats that one part takes: its resized images and the network's workspace. */
static size_t part_size(const struct mobilenet *network, size_t size) {
    return PART_IMAGES * size * size * RESIZE_CHANNELS + mobilenet_workspace_size(network, PART_IMAGES, size);
}

/* Fills up a part beyond the file's last image with copies of that image, so that every matrix product keeps
 * its usual shape. */
static void embed_part(void *argument, size_t part) {
    struct block_work *work = argument;
    const struct idx_array *images = work->images;
    size_t pixels = images->shape[1] * images->shape[2];
    size_t input_size = work->size * work->size * RESIZE_CHANNELS;
    float *inputs = malloc(part_size(work->network, work->size) * sizeof *inputs);
    work->failed[part] = inputs == NULL;
    if (inputs == NULL)
        return;
    for (size_t i = 0; i < PART_IMAGES; i++) {
        size_t image = work->first + part * PART_IMAGES + i;
        if (image >= images->shape[0])
            image = images->shape[0] - 1;
        resize_grey_image(images->values + image * pixels, images->shape[1], images->shape[2], work->size,
                          inputs + i * input_size);
    }
    mobilenet_forward(work->network, work->kernels, inputs, PART_IMAGES, work->size,
                      inputs + PART_IMAGES * input_size,
                      work->values + part * PART_IMAGES * work->network->output_channels);
    free(inputs);
}

static bool embed_block(struct block_work *work, const struct parallel_executor *parallel,
                        struct error *error) {
    if (parallel->run != NULL)
        parallel->run(parallel->owner, BLOCK_PARTS, embed_part, work);
    else
        for (size_t part = 0; part < BLOCK_PARTS; part++)
            embed_part(work, part);
    for (size_t part = 0; part < BLOCK_PARTS; part++)
        if (work->failed[part])
            return error_set_memory(error, part_size(work->network, work->size) * sizeof(float));
    return true;
}

/* Looks in the cache for the block that starts at `first`. */
static bool recall_block(const struct data_source *data, const char *key, float *values, size_t size) {
    void *kept = NULL;
    size_t kept_size = 0;
    if (data->cache_get == NULL || !data->cache_get(data->owner, key, &kept, &kept_size))
        return false;
    bool fits = kept_size == size;
    if (fits)
        memcpy(values, kept, size);
    free(kept);
    return fits;
}

static struct mobilenet *load_network(const struct image_files *files,
                                      const struct experiment_context *context, struct error *error) {
    const struct data_source *data = &context->data;
    struct weight_arrays arrays = {0};
    struct error cause = {0};
    struct mobilenet *network = NULL;
    if (data->decode_weights == NULL)
        error_set(&cause, ERROR_UNAVAILABLE, "this program cannot read HDF5");
    else if (data->decode_weights(data->owner, files->weights, files->weights_size, &context->host.stop,
                                  &arrays, &cause))
        network = mobilenet_create(&mobilenet_v2_shape, &arrays, &cause);
    weight_arrays_free(&arrays);
    if (network == NULL && experiment_check_cancelled(context, error))
        error_set(error, cause.code, "the weight file cannot be used: %s", cause.message);
    return network;
}

/* Puts the block at work->first into work->values, from the cache or from the network, which it loads when it
 * first needs it. */
static bool provide_block(struct block_work *work, struct mobilenet **network,
                          const struct image_files *files, size_t *embedded,
                          const struct experiment_context *context, struct error *error) {
    const struct data_source *data = &context->data;
    size_t bytes = BLOCK_IMAGES * work->network->output_channels * sizeof(float);
    char key[KEY_SIZE];
    snprintf(key, sizeof key, "mobilenet_v2 %016" PRIx64 " %016" PRIx64 " %zu %s %zu", files->weights_hash,
             files->images_hash, work->size, work->kernels->name, work->first);
    if (recall_block(data, key, work->values, bytes))
        return true;
    if (*network == NULL && (*network = load_network(files, context, error)) == NULL)
        return false;
    work->network = *network;
    if (!embed_block(work, &context->host.parallel, error))
        return false;
    size_t left = work->images->shape[0] - work->first;
    *embedded += left < BLOCK_IMAGES ? left : BLOCK_IMAGES;
    if (data->cache_put != NULL)
        data->cache_put(data->owner, key, work->values, bytes);
    return true;
}

static bool compute_blocks(struct image_embeddings *embeddings, struct block_work *work,
                           struct mobilenet **network, const struct image_files *files,
                           const struct experiment_context *context, struct error *error) {
    experiment_report_progress(context, 0, embeddings->count, "images");
    for (size_t first = 0; first < embeddings->count; first += BLOCK_IMAGES) {
        if (!experiment_check_cancelled(context, error))
            return false;
        work->first = first;
        if (!provide_block(work, network, files, &embeddings->embedded, context, error))
            return false;
        size_t left = embeddings->count - first;
        size_t count = left < BLOCK_IMAGES ? left : BLOCK_IMAGES;
        memcpy(embeddings->values + first * embeddings->dimensions, work->values,
               count * embeddings->dimensions * sizeof(float));
        experiment_report_progress(context, first + count, embeddings->count, "images");
    }
    return true;
}

bool image_embeddings_compute(struct image_embeddings *embeddings, const struct image_files *files,
                              size_t count, size_t size, const struct experiment_context *context,
                              struct error *error) {
    *embeddings = (struct image_embeddings){.count = count};
    struct mobilenet *network = NULL;
    struct mobilenet *outline = mobilenet_create_layers(&mobilenet_v2_shape, error);
    if (outline == NULL)
        return false;
    embeddings->dimensions = outline->output_channels;
    embeddings->parameter_count = outline->parameter_count;
    struct block_work work = {
        .network = outline, .kernels = convolution_kernels_choose(), .images = &files->images, .size = size};
    embeddings->values = malloc(count * embeddings->dimensions * sizeof(float));
    work.values = malloc(BLOCK_IMAGES * embeddings->dimensions * sizeof(float));
    bool good = false;
    matrix_use_one_thread();
    if (embeddings->values == NULL || work.values == NULL)
        error_set_memory(error, (count + BLOCK_IMAGES) * embeddings->dimensions * sizeof(float));
    else
        good = compute_blocks(embeddings, &work, &network, files, context, error);
    free(work.values);
    mobilenet_free(network);
    mobilenet_free(outline);
    if (!good)
        image_embeddings_free(embeddings);
    return good;
}

void image_embeddings_free(struct image_embeddings *embeddings) {
    free(embeddings->values);
    *embeddings = (struct image_embeddings){0};
}

/* MobileNetV2 takes 300 million multiplications and additions for an image of 224 x 224 (Sandler et al. 2018,
 * table 4), and in proportion to its pixels for others. */
static double operations_of_image(size_t size) {
    static const double operations = 2 * 300e6;
    double scale = (double)size / 224;
    return operations * scale * scale;
}

bool image_embeddings_measure(size_t count, size_t size, unsigned long long *bytes, double *operations,
                              struct error *error) {
    struct mobilenet *outline = mobilenet_create_layers(&mobilenet_v2_shape, error);
    if (outline == NULL)
        return false;
    unsigned long long floats = (unsigned long long)(count + BLOCK_IMAGES) * outline->output_channels +
                                WEIGHT_COPIES * outline->parameter_count + part_size(outline, size);
    *bytes = floats * sizeof(float);
    size_t blocks = (count + BLOCK_IMAGES - 1) / BLOCK_IMAGES;
    *operations = (double)(blocks * BLOCK_IMAGES) * operations_of_image(size);
    mobilenet_free(outline);
    return true;
}
