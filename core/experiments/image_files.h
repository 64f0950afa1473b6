/* The files that retrieval reads: a network's weights, images and their labels.
 *
 * Nothing is downloaded: the user puts the published files into the data directory. If one is missing, the
 * message names it and the address where it is published. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_IMAGE_FILES_H
#define ATTNLAB_CORE_EXPERIMENTS_IMAGE_FILES_H

#include "core/parameters/check.h"
#include "core/tasks/data_source.h"
#include "core/tasks/idx.h"

/* The file names that Keras and Fashion-MNIST use. */
#define IMAGE_FILES_WEIGHTS "mobilenet_v2_weights_tf_dim_ordering_tf_kernels_1.0_96_no_top.h5"
#define IMAGE_FILES_IMAGES  "train-images-idx3-ubyte.gz"
#define IMAGE_FILES_LABELS  "train-labels-idx1-ubyte.gz"

/* The published files in memory: 60,000 images of 28 x 28 bytes, one label each, and the weight file. */
enum {
    IMAGE_FILES_PIXELS = 28 * 28,
    IMAGE_FILES_BYTES = 60000 * (IMAGE_FILES_PIXELS + 1) + 9392760,
};

/* Zero-initialise; free with image_files_free. */
struct image_files {
    void *weights; /* owned: the unparsed file */
    size_t weights_size;
    uint64_t weights_hash, images_hash; /* of the files' bytes */
    struct idx_array images;            /* [count][rows][columns] */
    struct idx_array labels;            /* [count] */
    size_t class_count;                 /* distinct labels */
    bool are_fashion_mnist;             /* recognised by the labels; the classes then have names */
};

/* Reads the files named by the parameters `weights`, `images` and `labels`, and checks that images and labels
 * belong together. */
bool image_files_read(struct image_files *files, const struct parameter_set *set,
                      const struct data_source *data, struct error *error);
void image_files_free(struct image_files *files);

/* Adds a fault for each file that cannot be read. */
void image_files_validate(const struct parameter_set *set, const struct data_source *data,
                          struct parameter_faults *faults);

#endif
