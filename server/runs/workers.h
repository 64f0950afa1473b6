/* The worker threads; idle ones lend their cores to running tasks.
 *
 * A worker takes the next task; if none waits, the worker is idle. A running task may split a piece of its
 * work into shards (struct parallel_executor). Idle workers compute them one at a time and look for waiting
 * tasks in between, so lending delays a task by at most one shard. A worker that has just lent its core keeps
 * watching for the next shards for a moment, because the steps of a training run follow each other within a
 * millisecond. After that, and whenever nothing runs, it sleeps until it is woken. */
#ifndef ATTNLAB_SERVER_RUNS_WORKERS_H
#define ATTNLAB_SERVER_RUNS_WORKERS_H

#include "core/experiments/experiment.h"

struct worker_callbacks {
    void *owner;
    /* Returns the next task, or NULL if none waits. Must not block for long. */
    void *(*take)(void *owner);
    /* Performs the task on the calling worker's thread. */
    void (*perform)(void *owner, void *task, const struct parallel_executor *parallel);
    /* Added to the threads' own niceness. With 10, a thread that answers a request gets a core within a
     * millisecond although all cores compute; with 19, training would stand still beside another busy
     * program. */
    int niceness;
};

struct workers;

/* The number of cores that this process may use. */
size_t workers_default_count(void);
/* Starts `count` threads (0: the default). */
struct workers *workers_start(size_t count, const struct worker_callbacks *callbacks, struct error *error);
size_t workers_count(const struct workers *workers);
/* Tells the workers that there are new tasks. */
void workers_wake(struct workers *workers);
/* Lets every worker finish its task, waits for them and frees everything. */
void workers_stop(struct workers *workers);

#endif
