/* The queue of waiting runs, fair between owners.
 *
 * Every owner has a lane, first in, first out. The lanes take turns, so that one owner's fifty runs
 * delay another owner's run by no more than one run. An owner's entries that are out (taken and not yet
 * left) are limited too, so that long runs do not delay others either. A place is reserved before a run
 * is stored and used afterwards, so that an acknowledged run always fits. Not thread-safe: the run
 * manager holds its lock. */
#ifndef ATTNLAB_SERVER_RUNS_QUEUE_H
#define ATTNLAB_SERVER_RUNS_QUEUE_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Embedded in the caller's structure, and owned by the caller. */
struct queue_entry {
    struct queue_entry *next;
    struct queue_lane *lane; /* the owner's, from run_queue_push until run_queue_leave; otherwise NULL */
    bool is_waiting;
};

struct run_queue;

struct queue_limits {
    size_t waiting, waiting_per_owner;
    size_t out_per_owner;  /* limit on entries taken and not yet left; 0: no limit */
    const char *favourite; /* the owner to whom out_per_owner does not apply, borrowed; NULL: nobody */
    size_t kept;           /* places of `waiting` that only the favourite may take */
};

struct run_queue *run_queue_create(const struct queue_limits *limits, struct error *error);
void run_queue_free(struct run_queue *queue);

/* For runs that were acknowledged before a restart. */
#define QUEUE_WITHOUT_LIMITS SIZE_MAX
/* The most places that this owner can ever reserve at once. `own_limit` is a limit for this owner, in
 * addition to the queue's limits; 0 for none. */
size_t run_queue_most(const struct run_queue *queue, const char *owner, size_t own_limit);
/* Reserves `count` places. ERROR_LIMIT if there are too few now, ERROR_TOO_LARGE if there can never be that
 * many (run_queue_most). */
bool run_queue_reserve(struct run_queue *queue, const char *owner, size_t count, size_t own_limit,
                       struct error *error);
void run_queue_release(struct run_queue *queue, const char *owner, size_t count);
/* Adds an entry in a reserved place. */
void run_queue_push(struct run_queue *queue, const char *owner, struct queue_entry *entry);
/* Takes the next entry, which is then out; NULL if there is none that may be taken. */
struct queue_entry *run_queue_pop(struct run_queue *queue);
/* Takes a waiting entry regardless of whose turn it is; it is then out. */
void run_queue_take(struct run_queue *queue, struct queue_entry *entry);
/* Ends the time out of an entry that was taken from this lane. The entry itself may already be freed. */
void run_queue_leave(struct run_queue *queue, struct queue_lane *lane);
/* Removes a waiting entry; returns false if it does not wait. */
bool run_queue_remove(struct run_queue *queue, struct queue_entry *entry);

#endif
