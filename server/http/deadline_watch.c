/* A condition variable with a timeout on the monotonic clock: see deadline_watch.h. */
#include "server/http/deadline_watch.h"

#include <math.h>
#include <time.h>

static void *watch_deadlines(void *argument) {
    struct deadline_watch *watch = argument;
    pthread_mutex_lock(&watch->mutex);
    while (!watch->is_closing) {
        watch->next_wake = watch->look(watch->owner);
        if (isinf(watch->next_wake)) {
            pthread_cond_wait(&watch->changed, &watch->mutex);
        } else {
            double whole = floor(watch->next_wake);
            struct timespec until = {.tv_sec = (time_t)whole,
                                     .tv_nsec = (long)((watch->next_wake - whole) * 1e9)};
            pthread_cond_timedwait(&watch->changed, &watch->mutex, &until);
        }
    }
    pthread_mutex_unlock(&watch->mutex);
    return NULL;
}

static void destroy_locks(struct deadline_watch *watch) {
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->mutex);
}

bool deadline_watch_start(struct deadline_watch *watch, double (*look)(void *owner), void *owner,
                          struct error *error) {
    *watch = (struct deadline_watch){.look = look, .owner = owner, .next_wake = INFINITY};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&watch->mutex, NULL);
    pthread_cond_init(&watch->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&watch->thread, NULL, watch_deadlines, watch) == 0)
        return true;
    destroy_locks(watch);
    return error_set(error, ERROR_UNAVAILABLE, "cannot start a thread");
}

void deadline_watch_stop(struct deadline_watch *watch) {
    pthread_mutex_lock(&watch->mutex);
    watch->is_closing = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->mutex);
    pthread_join(watch->thread, NULL);
    destroy_locks(watch);
}

void deadline_watch_expect(struct deadline_watch *watch, double deadline) {
    if (deadline < watch->next_wake) {
        watch->next_wake = deadline;
        pthread_cond_signal(&watch->changed);
    }
}
