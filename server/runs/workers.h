/* The worker threads, and how idle ones lend their cores.
 *
 * A worker takes the next task; with none waiting it is idle. A running task may split a piece of its work
 * into shards (struct parallel_executor): idle workers then compute shards of it, one at a time, and look for
 * waiting tasks in between, so lending never delays a task by more than a shard. A worker that lent its core
 * a moment ago keeps watching for the next shards, because the steps of a training run follow each other
 * within a millisecond; after that, and whenever nothing runs, it sleeps until it is woken. */
#ifndef ATTNLAB_SERVER_RUNS_WORKERS_H
#define ATTNLAB_SERVER_RUNS_WORKERS_H

#include "core/experiments/experiment.h"

struct worker_callbacks {
    void *owner;
    /* The next task, or NULL where none waits. Must not block for long. */
    void *(*take)(void *owner);
    /* Does it, on the calling worker's thread. */
    void (*perform)(void *owner, void *task, const struct parallel_executor *parallel);
    /* Added to the threads' own: with 10, a thread that answers somebody gets a core within a millisecond
     * although all cores compute; with 19, training would stand still beside another busy program. */
    int niceness;
};

struct workers;

/* As many as cores that this process may use. */
size_t workers_default_count(void);
/* Starts `count` threads (0: the default). */
struct workers *workers_start(size_t count, const struct worker_callbacks *callbacks, struct error *error);
size_t workers_count(const struct workers *workers);
/* There are new tasks. */
void workers_wake(struct workers *workers);
/* Lets every worker finish its task, waits for them and frees all. */
void workers_stop(struct workers *workers);

#endif
