/* The queue of waiting runs, fair between owners.
 *
 * Every owner has a lane, first in, first out; the lanes take turns, so one owner's fifty runs do not delay
 * another's one by more than a run. A place is reserved before a run is stored and taken afterwards, so that
 * a run which was acknowledged always fits. Not thread-safe: the run manager holds its lock. */
#ifndef ATTNLAB_SERVER_RUN_QUEUE_H
#define ATTNLAB_SERVER_RUN_QUEUE_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Part of what is queued; belongs to whoever queues it. */
struct queue_entry {
    struct queue_entry *next;
    struct queue_lane *lane; /* NULL while it is not queued */
};

struct run_queue;

/* `limit` entries in all, `limit_per_owner` of each owner. */
struct run_queue *run_queue_create(size_t limit, size_t limit_per_owner, struct error *error);
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
/* The next entry, or NULL. */
struct queue_entry *run_queue_pop(struct run_queue *queue);
/* Takes an entry out; false where it was not queued. */
bool run_queue_remove(struct run_queue *queue, struct queue_entry *entry);

#endif
