/* Reads and checks retrieval's files: see image_files.h. */
#include "core/experiments/image_files.h"

#include <stdlib.h>

/* Decompressed bytes: more than twice the 60,000 images of Fashion-MNIST. */
enum { IMAGE_BYTES_LIMIT = 1 << 27, LABEL_VALUES = 256 };

struct file_kind {
    const char *parameter;
    const char *published;
};

enum { WEIGHTS, IMAGES, LABELS, FILE_KINDS };

static const struct file_kind kinds[FILE_KINDS] = {
    {"weights",
     "https://storage.googleapis.com/tensorflow/keras-applications/mobilenet_v2/" IMAGE_FILES_WEIGHTS},
    {"images", "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/" IMAGE_FILES_IMAGES},
    {"labels", "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/" IMAGE_FILES_LABELS},
};

static bool explain(const struct file_kind *kind, const struct error *cause, struct error *error) {
    if (cause->code != ERROR_MISSING)
        return error_set(error, cause->code, "%s", cause->message);
    return error_set(error, ERROR_MISSING, "%s: download %s and put it there", cause->message,
                     kind->published);
}

static bool read_file(const struct file_kind *kind, const struct parameter_set *set,
                      const struct data_source *data, void **bytes, size_t *size, struct error *error) {
    const char *name = parameter_text(set, kind->parameter);
    struct error cause = {0};
    if (data->read_file == NULL)
        error_set(&cause, ERROR_MISSING, "there is no data directory to read %s from", name);
    else if (data->read_file(data->owner, name, bytes, size, &cause))
        return true;
    return explain(kind, &cause, error);
}

static bool find_file(const struct file_kind *kind, const struct parameter_set *set,
                      const struct data_source *data, struct error *error) {
    struct error cause = {0};
    if (data->find_file != NULL)
        return data->find_file(data->owner, parameter_text(set, kind->parameter), &cause) ||
               explain(kind, &cause, error);
    void *bytes = NULL;
    size_t size = 0;
    bool is_found = read_file(kind, set, data, &bytes, &size, error);
    free(bytes);
    return is_found;
}

void image_files_validate(const struct parameter_set *set, const struct data_source *data,
                          struct parameter_faults *faults) {
    for (size_t i = 0; i < FILE_KINDS; i++) {
        struct error error = {0};
        if (!find_file(&kinds[i], set, data, &error))
            parameter_faults_add(faults, kinds[i].parameter, "%s", error.message);
    }
}

/* FNV-1a (Fowler, Noll, Vo), 64 bits. */
static uint64_t hash_bytes(const void *bytes, size_t size) {
    const unsigned char *byte = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static bool read_idx(const struct file_kind *kind, const struct parameter_set *set,
                     const struct data_source *data, struct idx_array *array, uint64_t *hash,
                     struct error *error) {
    void *bytes = NULL;
    size_t size = 0;
    if (!read_file(kind, set, data, &bytes, &size, error))
        return false;
    struct error cause = {0};
    bool good =
        idx_parse(bytes, size, IMAGE_BYTES_LIMIT, array, &cause) ||
        error_set(error, cause.code, "the file %s %s", parameter_text(set, kind->parameter), cause.message);
    *hash = hash_bytes(bytes, size);
    free(bytes);
    return good;
}

static size_t count_classes(const struct idx_array *labels) {
    bool seen[LABEL_VALUES] = {false};
    size_t count = 0;
    for (size_t i = 0; i < labels->count; i++) {
        count += !seen[labels->values[i]];
        seen[labels->values[i]] = true;
    }
    return count;
}

/* Recognises Fashion-MNIST's training labels by the first of them, whatever the file's name, even if the file
 * is truncated. */
static bool are_fashion_mnist(const struct idx_array *labels) {
    enum { BEGINNING = 100 };
    static const uint64_t published = UINT64_C(0xa358c9402f85704b);
    return labels->count >= BEGINNING && hash_bytes(labels->values, BEGINNING) == published;
}

bool image_files_read(struct image_files *files, const struct parameter_set *set,
                      const struct data_source *data, struct error *error) {
    uint64_t labels_hash;
    if (!read_idx(&kinds[IMAGES], set, data, &files->images, &files->images_hash, error) ||
        !read_idx(&kinds[LABELS], set, data, &files->labels, &labels_hash, error))
        return false;
    if (files->images.rank != 3)
        return error_set(error, ERROR_INVALID,
                         "the file %s must have 3 dimensions (images, rows, columns); got %zu",
                         parameter_text(set, "images"), files->images.rank);
    if (files->labels.rank != 1 || files->labels.count != files->images.shape[0])
        return error_set(error, ERROR_INVALID, "the file %s must have one label for each of the %zu images",
                         parameter_text(set, "labels"), files->images.shape[0]);
    files->class_count = count_classes(&files->labels);
    files->are_fashion_mnist = are_fashion_mnist(&files->labels);
    if (!read_file(&kinds[WEIGHTS], set, data, &files->weights, &files->weights_size, error))
        return false;
    files->weights_hash = hash_bytes(files->weights, files->weights_size);
    return true;
}

void image_files_free(struct image_files *files) {
    free(files->weights);
    idx_free(&files->images);
    idx_free(&files->labels);
    *files = (struct image_files){0};
}
