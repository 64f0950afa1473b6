/* A small cache of open inspections, each with at most one user at a time: see inspector.h. */
#include "server/runs/inspector.h"

#include "core/experiments/experiment.h"
#include "server/formats/json_parameters.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT_COUNT = 4 };

struct cached_slot {
    struct inspector_slot slot; /* first, because callers hold pointers to it */
    char *key;                  /* owned: a run's id, or parameters as JSON; NULL if the slot is empty */
    size_t bytes;               /* what its inspection takes */
    unsigned long last_used;
    bool is_busy;
};

struct inspector {
    struct store *store;
    struct datasets *datasets;
    pthread_mutex_t mutex;
    pthread_cond_t slot_freed;
    unsigned long uses;
    size_t memory, used; /* in bytes */
    struct cached_slot slots[SLOT_COUNT];
};

struct inspector *inspector_open(struct store *store, struct datasets *datasets, size_t memory,
                                 struct error *error) {
    struct inspector *inspector = calloc(1, sizeof *inspector);
    if (!inspector) {
        error_set_memory(error, sizeof *inspector);
        return NULL;
    }
    inspector->store = store;
    inspector->memory = memory;
    inspector->datasets = datasets;
    pthread_mutex_init(&inspector->mutex, NULL);
    pthread_cond_init(&inspector->slot_freed, NULL);
    return inspector;
}

static void empty_slot(struct inspector *inspector, struct cached_slot *cached) {
    inspector->used -= cached->bytes;
    inspection_close(cached->slot.inspection);
    free(cached->key);
    *cached = (struct cached_slot){0};
}

void inspector_close(struct inspector *inspector) {
    if (!inspector)
        return;
    for (size_t i = 0; i < SLOT_COUNT; i++)
        empty_slot(inspector, &inspector->slots[i]);
    pthread_cond_destroy(&inspector->slot_freed);
    pthread_mutex_destroy(&inspector->mutex);
    free(inspector);
}

/* The slot with this key, or else the free one that has been unused for longest. NULL if the caller must
 * wait. The caller holds the mutex. */
static struct cached_slot *choose_slot(struct inspector *inspector, const char *key) {
    struct cached_slot *oldest = NULL;
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        struct cached_slot *cached = &inspector->slots[i];
        if (cached->key && strcmp(cached->key, key) == 0)
            return cached->is_busy ? NULL : cached;
        if (!cached->is_busy && (!oldest || cached->last_used < oldest->last_used))
            oldest = cached;
    }
    return oldest;
}

static bool has_key(const struct cached_slot *cached, const char *key) {
    return cached->key && strcmp(cached->key, key) == 0;
}

/* Closes idle inspections, the longest unused first, until there is room for `bytes` more. Returns false if
 * those in use leave too little. The caller holds the mutex. */
static bool make_room(struct inspector *inspector, size_t bytes) {
    while (bytes > inspector->memory - inspector->used) {
        struct cached_slot *oldest = NULL;
        for (size_t i = 0; i < SLOT_COUNT; i++) {
            struct cached_slot *cached = &inspector->slots[i];
            if (cached->bytes > 0 && !cached->is_busy && (!oldest || cached->last_used < oldest->last_used))
                oldest = cached;
        }
        if (!oldest)
            return false;
        empty_slot(inspector, oldest);
    }
    return true;
}

/* Takes the slot with this key, or prepares one for an inspection of `bytes` bytes, waiting for room if need
 * be, and marks it busy. NULL if the key has no slot and `bytes` is 0: not measured yet. */
static struct cached_slot *take_slot(struct inspector *inspector, const char *key, size_t bytes,
                                     struct error *error) {
    struct cached_slot *cached;
    pthread_mutex_lock(&inspector->mutex);
    while (!(cached = choose_slot(inspector, key)) ||
           (!has_key(cached, key) && bytes > 0 && !make_room(inspector, bytes)))
        pthread_cond_wait(&inspector->slot_freed, &inspector->mutex);
    if (!has_key(cached, key) && bytes > 0) {
        empty_slot(inspector, cached);
        cached->slot.epoch = STORE_LAST_EPOCH;
        cached->key = strdup(key);
        cached->bytes = cached->key ? bytes : 0;
        inspector->used += cached->bytes;
        if (!cached->key)
            error_set_memory(error, strlen(key) + 1);
    }
    bool is_taken = has_key(cached, key);
    if (is_taken) {
        cached->last_used = ++inspector->uses;
        cached->is_busy = true;
    }
    pthread_mutex_unlock(&inspector->mutex);
    return is_taken ? cached : NULL;
}

/* Measures an inspection only if it must be opened, because that may read a data set. */
static struct cached_slot *take_measured_slot(struct inspector *inspector, const char *key,
                                              const struct parameter_set *parameters,
                                              const struct data_source *data, struct error *error) {
    size_t bytes = 0;
    struct cached_slot *cached = take_slot(inspector, key, 0, error);
    if (cached || !inspection_measure(parameters, data, &bytes, error))
        return cached;
    if (bytes > inspector->memory) {
        error_set(error, ERROR_TOO_LARGE,
                  "its model and data would take %.1f MB of memory to look at; at most %.1f MB are allowed",
                  (double)bytes / 1e6, (double)inspector->memory / 1e6);
        return NULL;
    }
    return take_slot(inspector, key, bytes, error);
}

void inspector_release(struct inspector *inspector, struct inspector_slot *slot) {
    if (!slot)
        return;
    struct cached_slot *cached = (struct cached_slot *)slot;
    pthread_mutex_lock(&inspector->mutex);
    cached->is_busy = false;
    slot->stop = (struct stop_request){0};
    if (!slot->inspection)
        empty_slot(inspector, cached);
    pthread_cond_broadcast(&inspector->slot_freed);
    pthread_mutex_unlock(&inspector->mutex);
}

static struct inspector_slot *acquire(struct inspector *inspector, const char *key,
                                      const struct parameter_set *parameters, const struct data_source *data,
                                      struct stop_request stop, struct error *error) {
    struct cached_slot *cached = take_measured_slot(inspector, key, parameters, data, error);
    if (!cached)
        return NULL;
    cached->slot.stop = stop;
    if (!cached->slot.inspection)
        cached->slot.inspection = inspection_open(parameters, data, &cached->slot.stop, error);
    if (cached->slot.inspection)
        inspection_set_stop(cached->slot.inspection, &cached->slot.stop);
    if (!cached->slot.inspection) {
        inspector_release(inspector, &cached->slot);
        return NULL;
    }
    return &cached->slot;
}

struct inspector_slot *inspector_acquire_parameters(struct inspector *inspector, const char *key,
                                                    const struct parameter_set *parameters,
                                                    struct stop_request stop, struct error *error) {
    struct data_source data = datasets_source(inspector->datasets);
    return acquire(inspector, key, parameters, &data, stop, error);
}

/* Reads the run's parameters as they were prepared when it was created. Free the set in any case. */
static bool read_run_parameters(const struct run_record *run, struct parameter_set *set,
                                struct error *error) {
    struct error cause = {0};
    const struct experiment *experiment = experiment_find(run->experiment);
    if (!experiment || !experiment->trains_model)
        return error_set(error, ERROR_CONFLICT, "run %s has no model: the experiment %s does not train one",
                         run->id, run->experiment);
    if (json_restore_parameters(run->parameters_json, experiment->parameters, experiment->parameter_count,
                                set, &cause))
        return true;
    /* This is not the caller's mistake. */
    return error_set(error, cause.code == ERROR_INVALID ? ERROR_DAMAGED : cause.code, "run %s: %s", run->id,
                     cause.message);
}

/* The weights of a run always fit its own model and data. Only a run of an older attnlab, which does not say
 * what its data were, can come here with a task that has taken the name of its deleted data set. */
static bool load_weights(struct inspection *inspection, const float *weights, size_t count,
                         struct error *error) {
    struct error failure = {0};
    if (inspection_load_weights(inspection, weights, count, &failure))
        return true;
    return error_set(error, failure.code == ERROR_INVALID ? ERROR_CONFLICT : failure.code,
                     "the run's data set was deleted, or its weights are damaged: %s", failure.message);
}

/* A stored epoch never changes, so weights that are loaded already can be reused. */
static bool load_epoch(struct inspector *inspector, struct inspector_slot *slot, const char *run_id,
                       size_t epoch, struct error *error) {
    if (epoch != STORE_LAST_EPOCH && slot->epoch == epoch)
        return true;
    float *weights = NULL;
    size_t count = 0;
    size_t found = 0;
    bool is_loaded =
        inspector->store->read_weights(inspector->store, run_id, epoch, &found, &weights, &count, error) &&
        load_weights(slot->inspection, weights, count, error);
    slot->epoch = is_loaded ? found : STORE_LAST_EPOCH;
    free(weights);
    return is_loaded;
}

struct inspector_slot *inspector_acquire_run(struct inspector *inspector, const char *run_id, size_t epoch,
                                             struct stop_request stop, struct error *error) {
    struct parameter_set parameters = {0};
    struct run_record run = {0};
    struct inspector_slot *slot = NULL;
    if (!inspector->store->find_run(inspector->store, run_id, &run, error))
        return NULL;
    struct dataset_choice choice = {
        .datasets = inspector->datasets, .is_of_run = true, .run_digest = run.dataset_digest};
    struct data_source data = datasets_source_of_run(&choice);
    /* The cached model must not hide that the data set was deleted. */
    if (read_run_parameters(&run, &parameters, error) &&
        datasets_check_choice(&choice, run_dataset_name(&parameters), error))
        slot = acquire(inspector, run_id, &parameters, &data, stop, error);
    if (slot && !load_epoch(inspector, slot, run_id, epoch, error)) {
        inspector_release(inspector, slot);
        slot = NULL;
    }
    parameter_set_free(&parameters);
    run_record_clear(&run);
    return slot;
}
