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
    char digest[DATASET_DIGEST_SIZE];
    struct dataset *dataset;
    size_t users;
};

struct datasets {
    struct store *store;
    char *directory;
    struct dataset_choice by_name; /* the owner of datasets_source */
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
    datasets->by_name.datasets = datasets;
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

const char *run_dataset_name(const struct parameter_set *parameters) {
    return parameter_find(parameters, "task") >= 0 ? parameter_text(parameters, "task") : "";
}

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
    dataset_digest(record->format, bytes, size, record->digest);
    record->owner = strdup(owner);
    dataset_free(dataset);
    bool ok = record->owner != NULL ? datasets->store->add_dataset(datasets->store, record, bytes, error)
                                    : error_set_memory(error, strlen(owner));
    if (!ok)
        dataset_record_clear(record);
    return ok;
}

bool datasets_list(struct datasets *datasets, const char *after, size_t limit, struct dataset_record **list,
                   size_t *count, struct error *error) {
    return datasets->store->list_datasets(datasets->store, after, limit, list, count, error);
}

bool datasets_find(struct datasets *datasets, const char *name, struct dataset_record *record,
                   struct error *error) {
    return datasets->store->find_dataset(datasets->store, name, record, error);
}

bool datasets_delete(struct datasets *datasets, const char *name, struct run_ids *users,
                     struct error *error) {
    return datasets->store->delete_dataset(datasets->store, name, users, error);
}

bool datasets_find_digest(struct datasets *datasets, const char *name, char **digest, struct error *error) {
    struct dataset_record record = {0};
    struct error failure = {0};
    if (!datasets_find(datasets, name, &record, &failure) && failure.code != ERROR_MISSING)
        return error_set(error, failure.code, "%s", failure.message);
    *digest = strdup(record.digest);
    dataset_record_clear(&record);
    return *digest != NULL || error_set_memory(error, sizeof record.digest);
}

/* The caller holds the mutex. */
static struct parsed_dataset *find_parsed(struct datasets *datasets, const char *digest) {
    for (struct parsed_dataset *parsed = datasets->parsed; parsed != NULL; parsed = parsed->next)
        if (strcmp(parsed->digest, digest) == 0)
            return parsed;
    return NULL;
}

/* Describes why the contents on which the run was to be trained are not there. */
static bool set_gone(struct datasets *datasets, const char *name, struct error *error) {
    struct dataset_record other;
    if (!datasets_find(datasets, name, &other, NULL))
        return error_set(error, ERROR_CONFLICT,
                         "the run's data set %.80s was deleted; add the same file again to use the run",
                         name);
    dataset_record_clear(&other);
    return error_set(error, ERROR_CONFLICT,
                     "the run's data set %.80s was deleted, and the one that has this name now has other "
                     "contents; add the same file again, under any name, to use the run",
                     name);
}

/* A run of an older attnlab does not say which data set it used; if there is one of its name, it may be
 * another one. */
static bool refuse_unknown(struct datasets *datasets, const char *name, struct error *error) {
    struct dataset_record record;
    struct error failure = {0};
    if (!datasets_find(datasets, name, &record, &failure))
        return error_set(error, failure.code, "%s", failure.message);
    dataset_record_clear(&record);
    return error_set(error, ERROR_CONFLICT,
                     "the data set %.80s is newer than this run of an older attnlab, which does not say on "
                     "which contents it was trained; the run's data set was deleted",
                     name);
}

/* Finds the digest of the chosen data set. */
static bool resolve(const struct dataset_choice *choice, const char *name, char digest[DATASET_DIGEST_SIZE],
                    struct error *error) {
    struct dataset_record record;
    if (choice->is_of_run && choice->run_digest == NULL)
        return refuse_unknown(choice->datasets, name, error);
    if (choice->is_of_run && choice->run_digest[0] == '\0')
        return error_set(error, ERROR_MISSING, "there is no data set %.80s", name);
    if (choice->is_of_run) {
        snprintf(digest, DATASET_DIGEST_SIZE, "%s", choice->run_digest);
        return true;
    }
    if (!datasets_find(choice->datasets, name, &record, error))
        return false;
    memcpy(digest, record.digest, DATASET_DIGEST_SIZE);
    dataset_record_clear(&record);
    return true;
}

bool datasets_check_choice(const struct dataset_choice *choice, const char *name, struct error *error) {
    struct store *store = choice->datasets->store;
    struct dataset_record record;
    struct error failure = {0};
    char digest[DATASET_DIGEST_SIZE];
    if (!resolve(choice, name, digest, &failure)) {
        /* A task that attnlab draws is no data set. */
        if (failure.code == ERROR_MISSING)
            return true;
    } else if (store->read_dataset(store, digest, &record, NULL, NULL, &failure)) {
        dataset_record_clear(&record);
        return true;
    } else if (failure.code == ERROR_MISSING) {
        return set_gone(choice->datasets, name, error);
    }
    return error_set(error, failure.code, "%s", failure.message);
}

/* Reads and parses stored contents. NULL on failure. */
static struct parsed_dataset *load(struct datasets *datasets, const char *digest, struct error *error) {
    struct dataset_record record;
    void *bytes = NULL;
    size_t size = 0;
    if (!datasets->store->read_dataset(datasets->store, digest, &record, &bytes, &size, error))
        return NULL;
    struct parsed_dataset *parsed = calloc(1, sizeof *parsed);
    char found[DATASET_DIGEST_SIZE];
    dataset_digest(record.format, bytes, size, found);
    if (parsed == NULL)
        error_set_memory(error, sizeof *parsed);
    else if (strcmp(found, digest) != 0)
        error_set(error, ERROR_UNAVAILABLE,
                  "the stored data set %.80s is damaged; delete it and add it again", record.name);
    else
        parsed->dataset = parse(format_find_name(record.format), bytes, size, error);
    free(bytes);
    dataset_record_clear(&record);
    if (parsed == NULL || parsed->dataset == NULL) {
        free(parsed);
        return NULL;
    }
    memcpy(parsed->digest, digest, DATASET_DIGEST_SIZE);
    return parsed;
}

/* Loads without the lock; if two threads load the same contents, one copy is dropped. */
static const struct dataset *share(struct datasets *datasets, const char *digest, struct error *error) {
    pthread_mutex_lock(&datasets->mutex);
    struct parsed_dataset *parsed = find_parsed(datasets, digest);
    if (parsed != NULL)
        parsed->users++;
    pthread_mutex_unlock(&datasets->mutex);
    if (parsed != NULL)
        return parsed->dataset;
    struct parsed_dataset *loaded = load(datasets, digest, error);
    if (loaded == NULL)
        return NULL;
    pthread_mutex_lock(&datasets->mutex);
    parsed = find_parsed(datasets, digest);
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

/* struct data_source's find_dataset. */
static const struct dataset *find_dataset(void *owner, const char *name, struct error *error) {
    const struct dataset_choice *choice = owner;
    struct error failure = {0};
    char digest[DATASET_DIGEST_SIZE];
    if (!resolve(choice, name, digest, error))
        return NULL;
    const struct dataset *dataset = share(choice->datasets, digest, &failure);
    if (dataset == NULL && failure.code == ERROR_MISSING && choice->is_of_run)
        set_gone(choice->datasets, name, error);
    else if (dataset == NULL)
        error_set(error, failure.code, "%s", failure.message);
    return dataset;
}

/* struct data_source's release_dataset. */
static void release_dataset(void *owner, const struct dataset *dataset) {
    struct datasets *datasets = ((const struct dataset_choice *)owner)->datasets;
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
    const struct datasets *datasets = ((const struct dataset_choice *)owner)->datasets;
    return file_read_named(datasets->directory, name, bytes, size, error);
}

/* struct data_source's find_file. */
static bool find_file(void *owner, const char *name, struct error *error) {
    const struct datasets *datasets = ((const struct dataset_choice *)owner)->datasets;
    return file_find_named(datasets->directory, name, error);
}

static bool cache_get(void *owner, const char *key, void **bytes, size_t *size) {
    struct datasets *datasets = ((const struct dataset_choice *)owner)->datasets;
    return datasets->store->get_cache(datasets->store, key, bytes, size);
}

static void cache_put(void *owner, const char *key, const void *bytes, size_t size) {
    struct datasets *datasets = ((const struct dataset_choice *)owner)->datasets;
    datasets->store->put_cache(datasets->store, key, bytes, size);
}

struct data_source datasets_source(struct datasets *datasets) {
    return datasets_source_of_run(&datasets->by_name);
}

struct data_source datasets_source_of_run(struct dataset_choice *choice) {
    return (struct data_source){.owner = choice,
                                .find_dataset = find_dataset,
                                .release_dataset = release_dataset,
                                .read_file = read_file,
                                .find_file = find_file,
                                .decode_weights = keras_weights_decode,
                                .cache_get = cache_get,
                                .cache_put = cache_put};
}
