/* The files that retrieval reads: a network's weights, images and their labels.
 *
 * Nothing is fetched: the user puts the published files into the data directory. Where one is missing, the
 * message says which, and where it is published. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_IMAGE_FILES_H
#define ATTNLAB_CORE_EXPERIMENTS_IMAGE_FILES_H

#include "core/parameters/check.h"
#include "core/tasks/data_source.h"
#include "core/tasks/idx.h"

/* The names under which Keras and Fashion-MNIST publish them. */
#define IMAGE_FILES_WEIGHTS "mobilenet_v2_weights_tf_dim_ordering_tf_kernels_1.0_96_no_top.h5"
#define IMAGE_FILES_IMAGES  "train-images-idx3-ubyte.gz"
#define IMAGE_FILES_LABELS  "train-labels-idx1-ubyte.gz"

/* What the published files take in memory: 60,000 images of 28 x 28 bytes, a label each, and the weight file.
 */
enum {
    IMAGE_FILES_PIXELS = 28 * 28,
    IMAGE_FILES_BYTES = 60000 * (IMAGE_FILES_PIXELS + 1) + 9392760,
};

/* Zero-initialise; free with image_files_free. */
struct image_files {
    void *weights; /* owned: the file as it is */
    size_t weights_size;
    uint64_t weights_hash, images_hash; /* of the files' bytes */
    struct idx_array images;            /* [count][rows][columns] */
    struct idx_array labels;            /* [count] */
    size_t class_count;                 /* distinct labels */
    bool are_fashion_mnist;             /* by their labels: then the classes have names */
};

/* Reads the files that the parameters `weights`, `images` and `labels` name, and checks that images and
 * labels belong together. */
bool image_files_read(struct image_files *files, const struct parameter_set *set,
                      const struct data_source *data, struct error *error);
void image_files_free(struct image_files *files);

/* Adds a fault for each of the three files that cannot be read. */
void image_files_validate(const struct parameter_set *set, const struct data_source *data,
                          struct parameter_faults *faults);

#endif
