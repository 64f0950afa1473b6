/* The contract between an experiment and its caller.
 *
 * An experiment is a name, a table of declared parameters and a run function. It is one file in this folder
 * and one line in experiment_table (experiments.c). The server runs it on a worker thread, the command line
 * in the foreground. An experiment writes its result to a sink, reports progress and regularly asks whether
 * it was cancelled. It knows nothing of HTTP, JSON, threads, files or clocks; struct experiment_context
 * provides what it needs of them.
 *
 * The top layer of core: may call all of core. Called by the server. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_EXPERIMENT_H
#define ATTNLAB_CORE_EXPERIMENTS_EXPERIMENT_H

#include "core/error.h"
#include "core/experiments/result.h"
#include "core/experiments/run_cost.h"
#include "core/parameters/check.h"
#include "core/tasks/data_source.h"
#include "core/training/run_host.h"

struct experiment_context {
    const struct parameter_set *parameters; /* checked and complete */
    struct result_sink result;
    struct run_host host;
    struct data_source data; /* the user's data sets and files */
};

bool experiment_is_cancelled(const struct experiment_context *context);
/* Returns whether the experiment may continue; false with ERROR_CANCELLED. */
bool experiment_check_cancelled(const struct experiment_context *context, struct error *error);
double experiment_seconds_now(const struct experiment_context *context);
void experiment_report_progress(const struct experiment_context *context, size_t done, size_t total,
                                const char *unit);

/* One row of the comparison in the experiment's chapter on the page. */
enum { EXPERIMENT_VARIANT_SETTINGS = 3 };
struct experiment_variant {
    const char *id;    /* in the page's address: "lstm" */
    const char *label; /* for people; NULL: the title of the first setting's choice */
    /* These override the defaults, in the command line's notation; an entry without a name ends the list. */
    struct experiment_setting {
        const char *parameter, *value;
    } settings[EXPERIMENT_VARIANT_SETTINGS];
    bool is_extra; /* the chapter compares it only if asked to */
};

struct experiment {
    const char *name;    /* as in the API: "attention-steps" */
    const char *title;   /* for people */
    const char *summary; /* one sentence that says what it shows */
    const struct parameter_declaration *parameters;
    size_t parameter_count;
    /* Called after the fixed defaults: fills in those that depend on other values or on the memory limit. May
     * be NULL. */
    bool (*complete)(struct parameter_set *set, const struct data_source *data,
                     unsigned long long memory_limit_bytes, struct parameter_faults *faults,
                     struct error *error);
    /* Checks what a single declaration cannot: that values fit together, and that data sets exist. Adds
     * faults. May be NULL. */
    void (*validate)(const struct parameter_set *set, const struct data_source *data,
                     struct parameter_faults *faults);
    /* What a run with these parameters takes; they have no faults. Required: without it, nobody would hold
     * the run to a limit, so experiment_prepare refuses the experiment. */
    struct run_cost (*estimate)(const struct parameter_set *set, const struct data_source *data);
    bool (*run)(struct experiment_context *context, struct error *error);
    /* Whether runs have metrics, attention and weights; true only for train. */
    bool trains_model;
    const struct experiment_variant *variants; /* in the order of their colours */
    size_t variant_count;
};

const char *experiment_variant_label(const struct experiment *experiment,
                                     const struct experiment_variant *variant);

/* All experiments, in the order of the page; NULL-terminated. */
extern const struct experiment *const experiment_table[];
const struct experiment *experiment_find(const char *name);

/* The cost of a run with these parameters, with that of any run: its thread, its connection to the store. */
struct run_cost experiment_estimate(const struct experiment *experiment, const struct parameter_set *set,
                                    const struct data_source *data);

/* A limit on some part of the cost. */
struct cost_limit {
    double (*measure)(const void *owner, const struct run_cost *cost);
    const void *owner; /* for `measure` */
    double most;
    double scale;     /* the unit of the message, in units of `measure`: 1e6 for MB */
    const char *verb; /* "take" */
    const char *unit; /* "MB of memory" */
    const char *whom; /* of whom the limit is: " in a student's run", or "" */
};
/* Adds a fault to the parameter that weighs most if the run exceeds the limit. The message says the estimate,
 * the limit, and which parameters weigh most: those whose halving lowers the estimate most. If the cost is
 * unknown, records that memory ran out. */
void experiment_check_cost(const struct experiment *experiment, const struct parameter_set *set,
                           const struct data_source *data, const struct cost_limit *limit,
                           struct parameter_faults *faults);

/* Applies the fixed defaults, then the experiment's own, then runs every check, the last of which is that the
 * run fits in memory (`memory_limit_bytes`). The user's errors go to `faults`; false means a failure of the
 * program itself. */
bool experiment_prepare(const struct experiment *experiment, struct parameter_set *set,
                        const struct data_source *data, unsigned long long memory_limit_bytes,
                        struct parameter_faults *faults, struct error *error);

#endif
