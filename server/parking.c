/* A ring of suspended connections and the thread that watches their deadlines: see parking.h. */
#include "server/parking.h"

#include "server/clock.h"

#include <math.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Waking one and sending it an event takes some 10 microseconds: a twentieth of one core at most. */
static const double pause_for_each = 200e-6;

struct parking {
    pthread_mutex_t mutex;
    pthread_cond_t deadlines_changed;
    pthread_t clock_thread;
    struct parked all; /* the head of a ring */
    size_t count;
    unsigned long version;
    double quiet_until; /* patient ones are not woken before */
    double next_wake;   /* when the clock thread wakes: INFINITY while nobody waits */
    bool is_closing;
};

/* With the mutex held. */
static void resume(struct parking *parking, struct parked *parked) {
    parked->previous->next = parked->next;
    parked->next->previous = parked->previous;
    parking->count--;
    if (parked->is_patient)
        parking->quiet_until += pause_for_each;
    MHD_resume_connection(parked->connection);
}

/* With the mutex held: resumes all whose time has come and returns the next deadline. */
static double resume_overdue(struct parking *parking) {
    double now = clock_seconds();
    double earliest = INFINITY;
    struct parked *next;
    parking->quiet_until = fmax(parking->quiet_until, now);
    for (struct parked *parked = parking->all.next; parked != &parking->all; parked = next) {
        next = parked->next;
        if (parked->deadline <= now)
            resume(parking, parked);
        else
            earliest = fmin(earliest, parked->deadline);
    }
    return earliest;
}

static void *watch_deadlines(void *argument) {
    struct parking *parking = argument;
    pthread_mutex_lock(&parking->mutex);
    while (!parking->is_closing) {
        parking->next_wake = resume_overdue(parking);
        if (isinf(parking->next_wake)) {
            pthread_cond_wait(&parking->deadlines_changed, &parking->mutex);
        } else {
            double whole = floor(parking->next_wake);
            struct timespec until = {.tv_sec = (time_t)whole,
                                     .tv_nsec = (long)((parking->next_wake - whole) * 1e9)};
            pthread_cond_timedwait(&parking->deadlines_changed, &parking->mutex, &until);
        }
    }
    pthread_mutex_unlock(&parking->mutex);
    return NULL;
}

struct parking *parking_open(struct error *error) {
    struct parking *parking = calloc(1, sizeof *parking);
    if (!parking) {
        error_set_memory(error, sizeof *parking);
        return NULL;
    }
    parking->all.next = parking->all.previous = &parking->all;
    parking->next_wake = INFINITY;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&parking->mutex, NULL);
    pthread_cond_init(&parking->deadlines_changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&parking->clock_thread, NULL, watch_deadlines, parking)) {
        error_set(error, ERROR_UNAVAILABLE, "cannot start a thread");
        pthread_cond_destroy(&parking->deadlines_changed);
        pthread_mutex_destroy(&parking->mutex);
        free(parking);
        return NULL;
    }
    return parking;
}

void parking_close(struct parking *parking) {
    if (!parking)
        return;
    pthread_mutex_lock(&parking->mutex);
    parking->is_closing = true;
    pthread_cond_signal(&parking->deadlines_changed);
    pthread_mutex_unlock(&parking->mutex);
    pthread_join(parking->clock_thread, NULL);
    pthread_cond_destroy(&parking->deadlines_changed);
    pthread_mutex_destroy(&parking->mutex);
    free(parking);
}

unsigned long parking_version(struct parking *parking) {
    pthread_mutex_lock(&parking->mutex);
    unsigned long version = parking->version;
    pthread_mutex_unlock(&parking->mutex);
    return version;
}

/* With the mutex held: lets the clock thread know of a deadline. */
static void wake_clock(struct parking *parking, double deadline) {
    if (deadline < parking->next_wake) {
        parking->next_wake = deadline;
        pthread_cond_signal(&parking->deadlines_changed);
    }
}

bool parking_wait(struct parking *parking, struct parked *parked, unsigned long version) {
    pthread_mutex_lock(&parking->mutex);
    bool waits = parking->version == version;
    if (waits) {
        MHD_suspend_connection(parked->connection);
        parked->next = &parking->all;
        parked->previous = parking->all.previous;
        parked->previous->next = parked;
        parking->all.previous = parked;
        parking->count++;
        wake_clock(parking, parked->deadline);
    }
    pthread_mutex_unlock(&parking->mutex);
    return waits;
}

void parking_notify(struct parking *parking, const char *run_id) {
    pthread_mutex_lock(&parking->mutex);
    parking->version++;
    struct parked *next;
    double now = clock_seconds();
    double later = parking->quiet_until;
    parking->quiet_until = fmax(later, now);
    for (struct parked *parked = parking->all.next; parked != &parking->all; parked = next) {
        next = parked->next;
        bool is_meant = parked->run_id && (!parked->run_id[0] || strcmp(parked->run_id, run_id) == 0);
        if (is_meant && (!parked->is_patient || later <= now)) {
            resume(parking, parked);
        } else if (is_meant && later < parked->deadline) {
            parked->deadline = later;
            wake_clock(parking, later);
        }
    }
    pthread_mutex_unlock(&parking->mutex);
}

void parking_wake_all(struct parking *parking) {
    pthread_mutex_lock(&parking->mutex);
    parking->version++;
    while (parking->all.next != &parking->all)
        resume(parking, parking->all.next);
    pthread_mutex_unlock(&parking->mutex);
}

size_t parking_count(struct parking *parking) {
    pthread_mutex_lock(&parking->mutex);
    size_t count = parking->count;
    pthread_mutex_unlock(&parking->mutex);
    return count;
}
