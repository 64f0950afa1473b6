/* The store: what outlives the process.
 *
 * One interface, a table of functions: SQLite in the data directory stands behind it (sqlite.h); a
 * database shared by several machines can take its place. Every function is one transaction and may be called
 * from any thread. Acknowledged changes (runs added, ended by a user, deleted; data sets) also survive a
 * power cut when the function returns; epochs survive the death of the process at any instant, and after a
 * power cut at worst the last of them are trained again, to the same bits.
 *
 * May call system and core (the metrics of an epoch). Called by runs, access (sessions, owners) and
 * api. */
#ifndef ATTNLAB_SERVER_STORE_STORE_H
#define ATTNLAB_SERVER_STORE_STORE_H

#include "core/error.h"
#include "core/experiments/experiment.h"
#include "server/store/run_state.h"
#include "server/system/identifier.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run as stored and shown. Texts are owned by the record (malloc); those marked may be NULL. */
struct run_record {
    char id[ID_SIZE];
    char *experiment;
    char *name;            /* "" where none was given */
    char *parameters_json; /* an object, defaults filled in */
    enum run_state state;
    size_t progress_done, progress_total;
    char progress_unit[32];
    int64_t created_ms, started_ms, finished_ms; /* milliseconds since 1970; 0: not yet */
    char *result_json;                           /* NULL until it succeeded, or if it is large: see below */
    char *error;                                 /* NULL unless it failed */
    char comparison[ID_SIZE];                    /* "" where it belongs to none */
    size_t comparison_variant, comparison_seed;  /* its row and its place in the row */
    char *owner;                                 /* who may cancel and delete it; "" for everybody */
    size_t attempts; /* how often it was started since its last epoch; one that was cut off by a clean end of
                      * the service does not count, nor one soon after another */
    int64_t attempted_ms; /* the last start that counts */
};
/* A larger result is kept apart, so that whoever looks for a run or lists many reads none of it: records come
 * without it, and read_result gives it. */
enum { SMALL_RESULT_MAXIMUM = 16 << 10 };
bool run_record_lacks_result(const struct run_record *record);
bool result_is_large(const char *result_json); /* NULL: it is not */
/* The one way in which a run's state changes. ERROR_INTERNAL if `next` may not follow the present state,
 * which then stays. */
bool run_record_set_state(struct run_record *record, enum run_state next, struct error *error);
void run_record_clear(struct run_record *record);
/* A list of them. */
void run_records_free(struct run_record *records, size_t count);
bool run_record_copy(struct run_record *copy, const struct run_record *record, struct error *error);

struct comparison_record {
    char id[ID_SIZE];
    char *experiment;
    char *name;
    char *labels_json; /* an array: the variants' labels */
    char *seeds_json;  /* an array: the seeds */
    int64_t created_ms;
    char *owner;
};
void comparison_record_clear(struct comparison_record *record);

enum event_kind { EVENT_STATE, EVENT_EPOCH, EVENT_STEP, EVENT_ATTENTION, EVENT_END };

/* An event as stored: `payload` NULL means that it is made from the run's record (the run has ended, so the
 * record no longer changes). Step events are never stored. */
struct event_record {
    uint64_t id;
    char run_id[ID_SIZE];
    enum event_kind kind;
    char *payload; /* JSON; owned */
};

struct run_filter {
    int state;              /* an enum run_state, or -1 for any */
    const char *experiment; /* NULL for any */
    const char *comparison; /* NULL for any */
    const char *owner;      /* NULL for any */
    const char *before;     /* only runs older than this id; NULL for the newest */
    size_t limit;
};

struct epoch_record {
    const struct epoch_metrics *metrics;
    const float *weights;
    size_t weight_count;
    const void *checkpoint;
    size_t checkpoint_size;
    size_t progress_done, progress_total;
};

struct dataset_record {
    char name[65];
    char format[8]; /* its name in the table of formats: "csv" */
    int64_t created_ms;
    size_t row_count, class_count, word_count, size_bytes;
    bool is_text;
    char *owner;
};
void dataset_record_clear(struct dataset_record *record);

/* Functions that give something out allocate it; `*items` is released by clearing each and free(). Looking up
 * what does not exist is ERROR_MISSING. A full disk or failing device is ERROR_UNAVAILABLE and leaves the
 * store as it was. */
struct store {
    void (*close)(struct store *store);

    /* A number that grows with every opening of the store: the high part of event ids. */
    uint64_t (*generation)(struct store *store);

    /* Adds `count` runs, and the comparison they form where it isn't NULL: all of it or nothing. */
    bool (*add_runs)(struct store *store, const struct comparison_record *comparison,
                     const struct run_record *runs, size_t count, const struct event_record *events,
                     size_t event_count, struct error *error);
    /* Writes state, progress, times, attempts, result and error. A run that ended loses its checkpoint.
     * `acknowledged`: somebody is told that this happened, so it must survive a power cut. */
    bool (*update_run)(struct store *store, const struct run_record *run, bool acknowledged,
                       const struct event_record *events, size_t event_count, struct error *error);
    bool (*save_epoch)(struct store *store, const char *run_id, const struct epoch_record *epoch,
                       const struct event_record *events, size_t event_count, struct error *error);
    bool (*find_run)(struct store *store, const char *id, struct run_record *run, struct error *error);
    /* A result that a record lacks, released with free(); NULL where there is none. */
    bool (*read_result)(struct store *store, const char *id, char **result_json, struct error *error);
    /* Newest first. */
    bool (*list_runs)(struct store *store, const struct run_filter *filter, struct run_record **runs,
                      size_t *count, struct error *error);
    /* The runs that have not ended: those that were running, then the others, each oldest first. */
    bool (*list_unfinished_runs)(struct store *store, struct run_record **runs, size_t *count,
                                 struct error *error);
    bool (*delete_run)(struct store *store, const char *id, struct error *error);
    /* The service ends cleanly: what is running was attempted in vain through no fault of its own. */
    bool (*forgive_attempts)(struct store *store, struct error *error);

    bool (*find_comparison)(struct store *store, const char *id, struct comparison_record *comparison,
                            struct error *error);
    bool (*list_comparisons)(struct store *store, const char *before, size_t limit,
                             struct comparison_record **comparisons, size_t *count, struct error *error);
    /* With all its runs. */
    bool (*delete_comparison)(struct store *store, const char *id, struct error *error);

    /* By epoch; released with free(). */
    bool (*read_metrics)(struct store *store, const char *run_id, struct epoch_metrics **rows, size_t *count,
                         struct error *error);
    /* The epochs whose weights are kept, in order: 0 and the last always, the middle thinned where they are
     * many; released with free(). */
    bool (*list_epochs_kept)(struct store *store, const char *run_id, size_t **epochs, size_t *count,
                             struct error *error);
    /* The weights after `epoch`, of the last kept epoch where it is STORE_LAST_EPOCH; `found` tells which.
     * Released with free(). */
    bool (*read_weights)(struct store *store, const char *run_id, size_t epoch, size_t *found,
                         float **weights, size_t *count, struct error *error);
    /* The newest checkpoint; *bytes NULL where there is none. Released with free(). */
    bool (*read_checkpoint)(struct store *store, const char *run_id, void **bytes, size_t *size,
                            struct error *error);

    /* Up to `limit` stored events with `after` < id < `before`, of one run or (NULL) of all, in order. */
    bool (*read_events)(struct store *store, const char *run_id, uint64_t after, uint64_t before,
                        size_t limit, struct event_record **events, size_t *count, struct error *error);

    /* ERROR_CONFLICT where the name is taken. */
    bool (*add_dataset)(struct store *store, const struct dataset_record *dataset, const void *bytes,
                        struct error *error);
    bool (*list_datasets)(struct store *store, struct dataset_record **datasets, size_t *count,
                          struct error *error);
    bool (*read_dataset)(struct store *store, const char *name, struct dataset_record *dataset, void **bytes,
                         size_t *size, struct error *error);
    bool (*delete_dataset)(struct store *store, const char *name, struct error *error);

    /* A cache that may forget: the oldest entries go where all exceed 64 MiB. `put` ignores failures. */
    bool (*get_cache)(struct store *store, const char *key, void **bytes, size_t *size);
    void (*put_cache)(struct store *store, const char *key, const void *bytes, size_t size);

    /* Small named texts of the service itself; *value NULL where there is none. */
    bool (*read_setting)(struct store *store, const char *name, char **value, struct error *error);
    bool (*write_setting)(struct store *store, const char *name, const char *value, struct error *error);
};

#define STORE_LAST_EPOCH ((size_t)-1)

#endif
