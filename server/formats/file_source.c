/* The data source of the command line: see file_source.h. */
#include "server/formats/file_source.h"

#include "core/tasks/dataset_parse.h"
#include "server/formats/keras_weights.h"
#include "server/system/file.h"

#include <stdlib.h>
#include <string.h>

static const struct dataset *find_dataset(void *owner, const char *name, struct error *error) {
    (void)owner;
    void *bytes = NULL;
    size_t size = 0;
    const char *suffix = strrchr(name, '.');
    bool is_tsv = suffix && strcmp(suffix, ".tsv") == 0;
    if (!is_tsv && !(suffix && strcmp(suffix, ".csv") == 0)) {
        error_set(error, ERROR_MISSING,
                  "there is no data set %s; without the service, give a file: x.csv or x.tsv", name);
        return NULL;
    }
    if (!file_read(name, &bytes, &size, error))
        return NULL;
    struct dataset *dataset =
        is_tsv ? dataset_parse_tsv(bytes, size, error) : dataset_parse_csv(bytes, size, error);
    free(bytes);
    return dataset;
}

static void release_dataset(void *owner, const struct dataset *dataset) {
    (void)owner;
    dataset_free((struct dataset *)dataset);
}

static bool read_file(void *owner, const char *name, void **bytes, size_t *size, struct error *error) {
    return file_read_named(owner, name, bytes, size, error);
}

static bool find_file(void *owner, const char *name, struct error *error) {
    return file_find_named(owner, name, error);
}

struct data_source file_source(const char *directory) {
    return (struct data_source){.owner = (void *)directory,
                                .find_dataset = find_dataset,
                                .release_dataset = release_dataset,
                                .read_file = read_file,
                                .find_file = find_file,
                                .decode_weights = keras_weights_decode};
}
