/* The store: all data that outlives the process.
 *
 * The interface is a table of functions. SQLite in the data directory implements it (sqlite.h); a database
 * shared by several machines could do so instead. Every function is one transaction and may be called from
 * any thread. When it returns, an acknowledged change (a run that was added, ended by a user or deleted; a
 * data set) survives even a power cut. Epochs survive the death of the process at any instant; after a power
 * cut, at worst the last ones are trained again, to the same bits.
 *
 * May call system and core (the metrics of an epoch). Called by runs, access (sessions, owners) and api. */
#ifndef ATTNLAB_SERVER_STORE_STORE_H
#define ATTNLAB_SERVER_STORE_STORE_H

#include "core/error.h"
#include "core/training/run_host.h"
#include "server/store/dataset_digest.h"
#include "server/store/run_state.h"
#include "server/system/identifier.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NETWORK_SIZE = 33, KERNELS_SIZE = 64 };

/* A run as stored and shown. The record owns its texts (malloc); only those marked may be NULL. */
struct run_record {
    char id[ID_SIZE];
    char *experiment;
    char *name;            /* "" if the user gave none */
    char *parameters_json; /* an object, with the defaults filled in */
    char *dataset_digest;  /* of the user's data set that the run uses; "" if it uses none; NULL if not
                            * recorded (a run of an older attnlab) */
    enum run_state state;
    size_t progress_done, progress_total;
    char progress_unit[32];
    int64_t created_ms, started_ms, finished_ms; /* milliseconds since 1970; 0: not yet */
    char *result_json;                           /* NULL until the run succeeds, or if large: see below */
    char *error;                                 /* NULL unless the run failed */
    char comparison[ID_SIZE];                    /* "" if the run belongs to no comparison */
    size_t comparison_variant, comparison_seed;  /* row and column in the comparison */
    char *owner;                                 /* may cancel and delete the run; "": everybody may */
    bool is_damaged; /* stored values that cannot be read were replaced: texts by "", the state by failed */
    size_t attempts; /* starts since the last epoch; a start that a clean shutdown cut off does not count, nor
                      * one soon after another */
    int64_t attempted_ms; /* time of the last start that counts */
    /* A keyed digest of the network that the request came from, kept only while the run waits; "" if no limit
     * applies to it. */
    char network[NETWORK_SIZE];
    /* The sets of kernels (core/math/lanes/sets.h) that the run was computed with, in their order, separated
     * by ", ": more than one if it went on after a restart with others. "" before it begins, or if an older
     * attnlab began it. */
    char kernels[KERNELS_SIZE];
};
/* A larger result is stored apart, so that finding a run or listing many does not read it. Records come
 * without it; read_result returns it. */
enum { SMALL_RESULT_MAXIMUM = 16 << 10 };
/* What a run takes beside its epochs, checkpoint and result: its row, with parameters up to that size, and
 * its first and last events. */
enum { RUN_ROW_BYTES = 4096 };
/* The same for this run, whose parameters may be larger. */
size_t run_record_row_bytes(const struct run_record *record);
bool run_record_lacks_result(const struct run_record *record);
bool result_is_large(const char *result_json); /* NULL: it is not */
/* Frees parameters of that size: records in lists come without them (NULL). */
void run_record_drop_large(struct run_record *record);
/* Changes a run's state; no other code may. ERROR_INTERNAL, and no change, if `next` may not follow the
 * current state. */
bool run_record_set_state(struct run_record *record, enum run_state next, struct error *error);
void run_record_clear(struct run_record *record);
/* Frees an array of records. */
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
    bool is_damaged; /* as in run_record */
};
void comparison_record_clear(struct comparison_record *record);

enum event_kind { EVENT_STATE, EVENT_EPOCH, EVENT_STEP, EVENT_ATTENTION, EVENT_END };

/* An event as stored. If `payload` is NULL, it is made from the run's record (the run has ended, so the
 * record no longer changes). Step events are never stored. */
struct event_record {
    uint64_t id;
    char run_id[ID_SIZE];
    enum event_kind kind;
    bool is_damaged; /* the kind is none of them */
    char *payload;   /* JSON; owned */
};

struct run_sizes {
    size_t result_bytes; /* of a result that records lack */
    size_t metrics_count;
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

enum { DATASET_NAME_MAXIMUM = 64 }; /* bytes */

struct dataset_record {
    char name[DATASET_NAME_MAXIMUM + 1];
    char digest[DATASET_DIGEST_SIZE]; /* identifies the contents, whatever the name */
    char format[8];                   /* its name in the table of formats: "csv" */
    int64_t created_ms;
    size_t row_count, class_count, word_count, size_bytes;
    bool is_text;
    char *owner;
};
void dataset_record_clear(struct dataset_record *record);

/* Runs by id. `ids` is released with free(). */
struct run_ids {
    char (*ids)[ID_SIZE];
    size_t count;
};

/* Sizes in bytes. */
struct store_room {
    unsigned long long disk_bytes, free_bytes; /* of the file system with the data directory; 0: unknown */
    unsigned long long database_bytes, log_bytes;
    unsigned long long used_bytes;    /* of the database: the rest is free for new data, and is given back */
    unsigned long long reserve_bytes; /* what the reserve takes now; as much as the margin if it is whole */
    unsigned long long margin_bytes;  /* of the disk, never filled by new data */
};

/* What an owner's runs and data sets take. */
struct usage_record {
    char *owner; /* free() */
    unsigned long long bytes;
    size_t run_count;
};

/* Which ended runs go when there are more than `keep`: the oldest without a name, then the oldest with one. A
 * comparison goes as a whole, by its own name and the age of its first run: once all its runs have ended, and
 * once `keep` others stay. */
struct prune_rule {
    size_t keep;
    const char *protected_owner; /* whose named runs always stay; NULL: everybody's */
    size_t at_once;              /* at most so many in one transaction, or one comparison */
};

/* The functions allocate the records and arrays that they return: clear each record, then free() the array.
 * ERROR_MISSING if the thing looked up does not exist; ERROR_UNAVAILABLE on a full disk or failing device,
 * which leaves the store unchanged; ERROR_DAMAGED if what is stored cannot be read. Lists show damaged
 * records as far as they can be read. Texts that hold JSON may be damaged: check them before use. */
struct store {
    void (*close)(struct store *store);

    /* A number that grows each time the store is opened: the high part of event ids. */
    uint64_t (*generation)(struct store *store);

    /* Never waits. */
    void (*measure)(struct store *store, struct store_room *room);
    /* Whether the disk has room for `bytes` more beside the margin; ERROR_UNAVAILABLE if not. The functions
     * that store new data check that themselves, except for update_run, which must not lose the end of a run.
     */
    bool (*check_room)(struct store *store, size_t bytes, struct error *error);
    /* The bytes that the owner's runs and data sets take. */
    bool (*read_usage)(struct store *store, const char *owner, unsigned long long *bytes,
                       struct error *error);
    /* Those who take most, first. */
    bool (*list_usage)(struct store *store, size_t limit, struct usage_record **usage, size_t *count,
                       struct error *error);
    bool (*prune_runs)(struct store *store, const struct prune_rule *rule, size_t *deleted,
                       struct error *error);

    /* Adds `count` runs and their comparison, unless it is NULL: either all of them or nothing.
     * ERROR_CONFLICT if the contents of a run's data set are no longer stored. */
    bool (*add_runs)(struct store *store, const struct comparison_record *comparison,
                     const struct run_record *runs, size_t count, const struct event_record *events,
                     size_t event_count, struct error *error);
    /* Writes state, progress, times, attempts, result and error. A run that has ended loses its checkpoint.
     * If `acknowledged`, somebody will be told of the change, so it must survive a power cut. */
    bool (*update_run)(struct store *store, const struct run_record *run, bool acknowledged,
                       const struct event_record *events, size_t event_count, struct error *error);
    bool (*save_epoch)(struct store *store, const char *run_id, const struct epoch_record *epoch,
                       const struct event_record *events, size_t event_count, struct error *error);
    bool (*find_run)(struct store *store, const char *id, struct run_record *run, struct error *error);
    /* The result that a record lacks (free()); NULL if there is none. */
    bool (*read_result)(struct store *store, const char *id, char **result_json, struct error *error);
    /* How much a run has in the store, before any of it is read; zeros for an unknown run. */
    bool (*measure_run)(struct store *store, const char *id, struct run_sizes *sizes, struct error *error);
    /* Newest first; without large parameters. */
    bool (*list_runs)(struct store *store, const struct run_filter *filter, struct run_record **runs,
                      size_t *count, struct error *error);
    /* The runs that have not ended: first those that were running, then the others, each oldest first. */
    bool (*list_unfinished_runs)(struct store *store, struct run_record **runs, size_t *count,
                                 struct error *error);
    bool (*delete_run)(struct store *store, const char *id, struct error *error);
    /* Resets the attempts of the running runs when the service shuts down cleanly: it was not they that
     * failed. */
    bool (*forgive_attempts)(struct store *store, struct error *error);

    bool (*find_comparison)(struct store *store, const char *id, struct comparison_record *comparison,
                            struct error *error);
    bool (*list_comparisons)(struct store *store, const char *before, size_t limit,
                             struct comparison_record **comparisons, size_t *count, struct error *error);
    /* Deletes the comparison and all its runs. */
    bool (*delete_comparison)(struct store *store, const char *id, struct error *error);

    /* Ordered by epoch; released with free(). */
    bool (*read_metrics)(struct store *store, const char *run_id, struct epoch_metrics **rows, size_t *count,
                         struct error *error);
    /* The epochs whose weights are stored, in order: always 0 and the last; if there are many, only some of
     * those between. Released with free(). */
    bool (*list_epochs_kept)(struct store *store, const char *run_id, size_t **epochs, size_t *count,
                             struct error *error);
    /* The weights after `epoch`, or those of the last stored epoch if `epoch` is STORE_LAST_EPOCH. Sets
     * *found to the epoch. Released with free(). */
    bool (*read_weights)(struct store *store, const char *run_id, size_t epoch, size_t *found,
                         float **weights, size_t *count, struct error *error);
    /* The newest checkpoint; *bytes is NULL if there is none. Released with free(). */
    bool (*read_checkpoint)(struct store *store, const char *run_id, void **bytes, size_t *size,
                            struct error *error);

    /* Up to `limit` stored events with `after` < id < `before`, in order, of one run or, if `run_id` is NULL,
     * of all. */
    bool (*read_events)(struct store *store, const char *run_id, uint64_t after, uint64_t before,
                        size_t limit, struct event_record **events, size_t *count, struct error *error);

    /* ERROR_CONFLICT if the name is taken. */
    bool (*add_dataset)(struct store *store, const struct dataset_record *dataset, const void *bytes,
                        struct error *error);
    /* At most `limit`, by name, those after the name `after` (NULL: from the first). */
    bool (*list_datasets)(struct store *store, const char *after, size_t limit,
                          struct dataset_record **datasets, size_t *count, struct error *error);
    bool (*find_dataset)(struct store *store, const char *name, struct dataset_record *dataset,
                         struct error *error);
    /* A data set with these contents, whatever its name. `bytes` may be NULL, and is released with free(). */
    bool (*read_dataset)(struct store *store, const char *digest, struct dataset_record *dataset,
                         void **bytes, size_t *size, struct error *error);
    /* ERROR_CONFLICT if runs that have not ended use the contents and no other data set has them; the runs
     * are then in `users`, which is otherwise empty. */
    bool (*delete_dataset)(struct store *store, const char *name, struct run_ids *users, struct error *error);

    /* A cache that may forget: beyond 64 MiB in total it drops the oldest entries. `put` ignores failures. */
    bool (*get_cache)(struct store *store, const char *key, void **bytes, size_t *size);
    void (*put_cache)(struct store *store, const char *key, const void *bytes, size_t size);

    /* Small named texts of the service itself; *value is NULL if there is none of this name. */
    bool (*read_setting)(struct store *store, const char *name, char **value, struct error *error);
    bool (*write_setting)(struct store *store, const char *name, const char *value, struct error *error);
};

/* At most how many bytes a run takes, as read_usage counts them, if its parameters fit into RUN_ROW_BYTES:
 * its weights are stored so many times and have so many bytes, but not all are kept. Doubles, so that nothing
 * overflows. */
double store_run_bytes(double snapshots, double weight_bytes, double result_bytes);

#define STORE_LAST_EPOCH ((size_t)-1)

#endif
