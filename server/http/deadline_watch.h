/* A thread that sleeps until the earliest of its owner's deadlines.
 *
 * The owner keeps the deadlines, under the mutex here, and says of each one that it sets when the thread must
 * be awake for it. While there is none the thread does not wake at all. */
#ifndef ATTNLAB_SERVER_HTTP_DEADLINE_WATCH_H
#define ATTNLAB_SERVER_HTTP_DEADLINE_WATCH_H

#include "core/error.h"

#include <pthread.h>
#include <stdbool.h>

struct deadline_watch {
    pthread_mutex_t mutex;
    /* Does what is due and returns when to wake next, by clock_seconds(); INFINITY for never. Called with the
     * mutex held, on the watch's thread. */
    double (*look)(void *owner);
    void *owner;
    pthread_cond_t changed;
    pthread_t thread;
    double next_wake;
    bool is_closing;
};

/* On failure there is nothing to stop. */
bool deadline_watch_start(struct deadline_watch *watch, double (*look)(void *owner), void *owner,
                          struct error *error);
void deadline_watch_stop(struct deadline_watch *watch);
/* With the mutex held: the thread wakes at `deadline` at the latest. */
void deadline_watch_expect(struct deadline_watch *watch, double deadline);

#endif
