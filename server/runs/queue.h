/* The queue of waiting runs, fair between owners.
 *
 * Every owner has a lane, first in, first out; the lanes take turns, so one owner's fifty runs do not delay
 * another's one by more than a run. Of one owner only so many are out at once, so that long runs do not
 * either. A place is reserved before a run is stored and taken afterwards, so that a run which was
 * acknowledged always fits. Not thread-safe: the run manager holds its lock. */
#ifndef ATTNLAB_SERVER_RUNS_QUEUE_H
#define ATTNLAB_SERVER_RUNS_QUEUE_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Part of what is queued; belongs to whoever queues it. */
struct queue_entry {
    struct queue_entry *next;
    struct queue_lane *lane; /* its owner's, from its push until run_queue_leave; NULL before and after */
    bool is_waiting;
};

struct run_queue;

struct queue_limits {
    size_t waiting, waiting_per_owner;
    size_t out_per_owner;  /* taken and not yet left; 0: any number */
    const char *favourite; /* the owner whom out_per_owner does not bind, borrowed; NULL: nobody */
};

struct run_queue *run_queue_create(const struct queue_limits *limits, struct error *error);
void run_queue_free(struct run_queue *queue);

/* For runs that were acknowledged before a restart. */
#define QUEUE_WITHOUT_LIMITS SIZE_MAX
/* Reserves `count` places; ERROR_LIMIT where there are not as many. `own_limit` binds this owner beside the
 * queue's limits; 0: those alone. */
bool run_queue_reserve(struct run_queue *queue, const char *owner, size_t count, size_t own_limit,
                       struct error *error);
void run_queue_release(struct run_queue *queue, const char *owner, size_t count);
/* Takes one reserved place. */
void run_queue_push(struct run_queue *queue, const char *owner, struct queue_entry *entry);
/* The next entry, which is out from now on; NULL where none may be. */
struct queue_entry *run_queue_pop(struct run_queue *queue);
/* The same with an entry that waits, whoever's turn it is. */
void run_queue_take(struct run_queue *queue, struct queue_entry *entry);
/* What was taken from this lane is out no longer. The entry itself may be gone. */
void run_queue_leave(struct run_queue *queue, struct queue_lane *lane);
/* Takes an entry out that waits; false where it does not. */
bool run_queue_remove(struct run_queue *queue, struct queue_entry *entry);

#endif
