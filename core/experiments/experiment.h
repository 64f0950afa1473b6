/* What an experiment is.
 *
 * A name, a table of declared parameters, and a run function; one file each in this folder and one line in
 * experiment_table (experiments.c). The server runs it on a worker thread, the command line in the
 * foreground; both see only this contract. An experiment writes its result to a sink, reports progress, asks
 * now and then whether it was cancelled, and knows nothing of HTTP, JSON, threads, files or clocks: what it
 * needs of those comes in through struct experiment_context.
 *
 * The top of core: may call all of it. Called by the server. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_EXPERIMENT_H
#define ATTNLAB_CORE_EXPERIMENTS_EXPERIMENT_H

#include "core/error.h"
#include "core/experiments/result.h"
#include "core/parameters/check.h"
#include "core/tasks/data_source.h"
#include "core/training/run_host.h"

struct experiment_context {
    const struct parameter_set *parameters; /* checked, completed */
    struct result_sink result;
    struct run_host host;
    struct data_source data; /* the user's data sets and files */
};

bool experiment_is_cancelled(const struct experiment_context *context);
/* Whether the experiment may go on; else ERROR_CANCELLED. */
bool experiment_check_cancelled(const struct experiment_context *context, struct error *error);
double experiment_seconds_now(const struct experiment_context *context);
void experiment_report_progress(const struct experiment_context *context, size_t done, size_t total,
                                const char *unit);

/* One row of the comparison that the page's chapter makes of an experiment. */
enum { EXPERIMENT_VARIANT_SETTINGS = 3 };
struct experiment_variant {
    const char *id;    /* in the page's address: "lstm" */
    const char *label; /* for people; NULL: what the choice of the first setting is called */
    /* Beside the defaults, in the command line's notation; the first without a name ends them. */
    struct experiment_setting {
        const char *parameter, *value;
    } settings[EXPERIMENT_VARIANT_SETTINGS];
};

struct experiment {
    const char *name;    /* as in the API: "attention-steps" */
    const char *title;   /* for people */
    const char *summary; /* one sentence: what it shows */
    const struct parameter_declaration *parameters;
    size_t parameter_count;
    /* Fills in the defaults that depend on other values, or on the memory that a run may take, after the
     * fixed ones. May be NULL. */
    bool (*complete)(struct parameter_set *set, const struct data_source *data,
                     unsigned long long memory_limit_bytes, struct parameter_faults *faults,
                     struct error *error);
    /* Checks what single declarations cannot: values that must fit together, data sets that must exist, a
     * size that must fit in memory (`memory_limit_bytes`). Adds faults. May be NULL. */
    void (*validate)(const struct parameter_set *set, const struct data_source *data,
                     unsigned long long memory_limit_bytes, struct parameter_faults *faults);
    bool (*run)(struct experiment_context *context, struct error *error);
    /* Whether runs have metrics, attention, weights: true for train only. */
    bool trains_model;
    const struct experiment_variant *variants; /* in the order of their colours */
    size_t variant_count;
};

const char *experiment_variant_label(const struct experiment *experiment,
                                     const struct experiment_variant *variant);

/* All experiments, in the order of the page; NULL-terminated. */
extern const struct experiment *const experiment_table[];
const struct experiment *experiment_find(const char *name);

/* Fixed defaults, then the experiment's own, then every check. Returns false on a failure of ours; the
 * user's faults are in `faults`. */
bool experiment_prepare(const struct experiment *experiment, struct parameter_set *set,
                        const struct data_source *data, unsigned long long memory_limit_bytes,
                        struct parameter_faults *faults, struct error *error);

#endif
