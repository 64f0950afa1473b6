/* A thread that sleeps until the earliest of its owner's deadlines.
 *
 * The owner stores the deadlines, guarded by the mutex here, and calls deadline_watch_expect for each one
 * that it sets. While there are no deadlines, the thread never wakes. */
#ifndef ATTNLAB_SERVER_HTTP_DEADLINE_WATCH_H
#define ATTNLAB_SERVER_HTTP_DEADLINE_WATCH_H

#include "core/error.h"

#include <pthread.h>
#include <stdbool.h>

struct deadline_watch {
    pthread_mutex_t mutex;
    /* Handles the deadlines that have passed and returns the next time to wake, by clock_seconds(), or
     * INFINITY for never. The watch's thread calls it with the mutex held. */
    double (*look)(void *owner);
    void *owner;
    pthread_cond_t changed;
    pthread_t thread;
    double next_wake;
    bool is_closing;
};

/* If it fails, there is nothing to stop. */
bool deadline_watch_start(struct deadline_watch *watch, double (*look)(void *owner), void *owner,
                          struct error *error);
void deadline_watch_stop(struct deadline_watch *watch);
/* Makes the thread wake at `deadline` or earlier. The caller holds the mutex. */
void deadline_watch_expect(struct deadline_watch *watch, double deadline);

#endif
