/* Data sets: parsed at their first use, and shared between all users. */
#include "server/runs/datasets.h"

#include "core/tasks/dataset_parse.h"
#include "core/tasks/task.h"
#include "server/formats/keras_weights.h"
#include "server/system/clock.h"
#include "server/system/file.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parsed_dataset {
    struct parsed_dataset *next;
    char name[DATASET_NAME_MAXIMUM + 1];
    struct dataset *dataset;
    size_t users;
    bool is_deleted; /* deleted, so no longer found, but still in use */
};

struct datasets {
    struct store *store;
    char *directory;
    pthread_mutex_t mutex;
    struct parsed_dataset *parsed; /* guarded by the mutex */
};

struct datasets *datasets_open(struct store *store, const char *data_directory, struct error *error) {
    struct datasets *datasets = calloc(1, sizeof *datasets);
    char *directory = strdup(data_directory);
    if (datasets == NULL || directory == NULL) {
        free(datasets);
        free(directory);
        error_set_memory(error, sizeof *datasets);
        return NULL;
    }
    datasets->store = store;
    datasets->directory = directory;
    pthread_mutex_init(&datasets->mutex, NULL);
    return datasets;
}

void datasets_close(struct datasets *datasets) {
    if (datasets == NULL)
        return;
    while (datasets->parsed != NULL) {
        struct parsed_dataset *parsed = datasets->parsed;
        datasets->parsed = parsed->next;
        dataset_free(parsed->dataset);
        free(parsed);
    }
    pthread_mutex_destroy(&datasets->mutex);
    free(datasets->directory);
    free(datasets);
}

const struct dataset_format dataset_formats[] = {
    {FORMAT_CSV, dataset_parse_csv}, {FORMAT_TSV, dataset_parse_tsv}, {0}};

static struct dataset *parse(enum format format, const void *bytes, size_t size, struct error *error) {
    for (size_t i = 0; dataset_formats[i].format != FORMAT_NONE; i++)
        if (dataset_formats[i].format == format)
            return dataset_formats[i].parse(bytes, size, error);
    error_set(error, ERROR_INTERNAL, "data sets cannot have this format");
    return NULL;
}

bool datasets_check_name(const char *name, struct error *error) {
    size_t length = strlen(name);
    bool ok = length > 0 && length <= DATASET_NAME_MAXIMUM && isalnum((unsigned char)name[0]);
    for (size_t i = 0; i < length && ok; i++)
        ok = isalnum((unsigned char)name[i]) || strchr("-_.", name[i]) != NULL;
    if (!ok)
        return error_set(error, ERROR_INVALID,
                         "must be 1 to %d letters, digits, '-', '_' or '.', and begin with a letter or digit",
                         DATASET_NAME_MAXIMUM);
    if (task_maker_find(name) != NULL)
        return error_set(error, ERROR_CONFLICT, "%s is the name of a built-in task; choose another name",
                         name);
    return true;
}

bool datasets_add(struct datasets *datasets, const char *name, enum format format, const void *bytes,
                  size_t size, const char *owner, struct dataset_record *record, struct error *error) {
    *record = (struct dataset_record){0};
    if (!datasets_check_name(name, error))
        return false;
    struct dataset *dataset = parse(format, bytes, size, error);
    if (dataset == NULL)
        return false;
    snprintf(record->name, sizeof record->name, "%s", name);
    snprintf(record->format, sizeof record->format, "%s", format_table[format].name);
    record->created_ms = clock_wall_ms();
    record->row_count = dataset->row_count;
    record->class_count = dataset->class_count;
    record->word_count = dataset->word_count;
    record->is_text = dataset->kind == DATASET_TEXT;
    record->size_bytes = size;
    record->owner = strdup(owner);
    dataset_free(dataset);
    bool ok = record->owner != NULL ? datasets->store->add_dataset(datasets->store, record, bytes, error)
                                    : error_set_memory(error, strlen(owner));
    if (!ok)
        dataset_record_clear(record);
    return ok;
}

bool datasets_list(struct datasets *datasets, struct dataset_record **list, size_t *count,
                   struct error *error) {
    return datasets->store->list_datasets(datasets->store, list, count, error);
}

bool datasets_find(struct datasets *datasets, const char *name, struct dataset_record *record,
                   struct error *error) {
    return datasets->store->read_dataset(datasets->store, name, record, NULL, NULL, error);
}

/* The caller holds the mutex. */
static struct parsed_dataset *find_parsed(struct datasets *datasets, const char *name) {
    for (struct parsed_dataset *parsed = datasets->parsed; parsed != NULL; parsed = parsed->next)
        if (!parsed->is_deleted && strcmp(parsed->name, name) == 0)
            return parsed;
    return NULL;
}

bool datasets_delete(struct datasets *datasets, const char *name, struct error *error) {
    if (!datasets->store->delete_dataset(datasets->store, name, error))
        return false;
    pthread_mutex_lock(&datasets->mutex);
    struct parsed_dataset *parsed = find_parsed(datasets, name);
    if (parsed != NULL)
        parsed->is_deleted = true;
    pthread_mutex_unlock(&datasets->mutex);
    return true;
}

/* Reads and parses a stored data set. NULL on failure. */
static struct parsed_dataset *load(struct datasets *datasets, const char *name, struct error *error) {
    struct dataset_record record;
    void *bytes = NULL;
    size_t size = 0;
    if (!datasets->store->read_dataset(datasets->store, name, &record, &bytes, &size, error))
        return NULL;
    struct parsed_dataset *parsed = calloc(1, sizeof *parsed);
    if (parsed == NULL)
        error_set_memory(error, sizeof *parsed);
    else
        parsed->dataset = parse(format_find_name(record.format), bytes, size, error);
    free(bytes);
    dataset_record_clear(&record);
    if (parsed == NULL || parsed->dataset == NULL) {
        free(parsed);
        return NULL;
    }
    snprintf(parsed->name, sizeof parsed->name, "%s", name);
    return parsed;
}

/* struct data_source's find_dataset. Loads without the lock; if two threads load the same data set, one copy
 * is dropped. */
static const struct dataset *find_dataset(void *owner, const char *name, struct error *error) {
    struct datasets *datasets = owner;
    pthread_mutex_lock(&datasets->mutex);
    struct parsed_dataset *parsed = find_parsed(datasets, name);
    if (parsed != NULL)
        parsed->users++;
    pthread_mutex_unlock(&datasets->mutex);
    if (parsed != NULL)
        return parsed->dataset;
    struct parsed_dataset *loaded = load(datasets, name, error);
    if (loaded == NULL)
        return NULL;
    pthread_mutex_lock(&datasets->mutex);
    parsed = find_parsed(datasets, name);
    if (parsed == NULL) {
        parsed = loaded;
        parsed->next = datasets->parsed;
        datasets->parsed = parsed;
        loaded = NULL;
    }
    parsed->users++;
    pthread_mutex_unlock(&datasets->mutex);
    if (loaded != NULL) {
        dataset_free(loaded->dataset);
        free(loaded);
    }
    return parsed->dataset;
}

/* struct data_source's release_dataset. */
static void release_dataset(void *owner, const struct dataset *dataset) {
    struct datasets *datasets = owner;
    struct parsed_dataset *unused = NULL;
    pthread_mutex_lock(&datasets->mutex);
    for (struct parsed_dataset **link = &datasets->parsed; *link != NULL; link = &(*link)->next) {
        if ((*link)->dataset != dataset)
            continue;
        if (--(*link)->users == 0) {
            unused = *link;
            *link = unused->next;
        }
        break;
    }
    pthread_mutex_unlock(&datasets->mutex);
    if (unused != NULL) {
        dataset_free(unused->dataset);
        free(unused);
    }
}

/* struct data_source's read_file. */
static bool read_file(void *owner, const char *name, void **bytes, size_t *size, struct error *error) {
    const struct datasets *datasets = owner;
    return file_read_named(datasets->directory, name, bytes, size, error);
}

/* struct data_source's find_file. */
static bool find_file(void *owner, const char *name, struct error *error) {
    const struct datasets *datasets = owner;
    return file_find_named(datasets->directory, name, error);
}

static bool cache_get(void *owner, const char *key, void **bytes, size_t *size) {
    struct datasets *datasets = owner;
    return datasets->store->get_cache(datasets->store, key, bytes, size);
}

static void cache_put(void *owner, const char *key, const void *bytes, size_t size) {
    struct datasets *datasets = owner;
    datasets->store->put_cache(datasets->store, key, bytes, size);
}

struct data_source datasets_source(struct datasets *datasets) {
    return (struct data_source){.owner = datasets,
                                .find_dataset = find_dataset,
                                .release_dataset = release_dataset,
                                .read_file = read_file,
                                .find_file = find_file,
                                .decode_weights = keras_weights_decode,
                                .cache_get = cache_get,
                                .cache_put = cache_put};
}
