/* A ring of suspended connections, and the thread that enforces their deadlines: see parking.h. */
#include "server/http/parking.h"

#include "server/http/deadline_watch.h"
#include "server/system/clock.h"

#include <math.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

/* Waking a connection and sending it an event takes about 10 microseconds, so this uses at most a twentieth
 * of one core. */
static const double pause_for_each = 200e-6;

struct parking {
    struct deadline_watch watch; /* its mutex guards the members below */
    struct parked all;           /* the head of a ring */
    size_t count;
    unsigned long version;
    double quiet_until; /* no patient connection is woken before this time */
};

/* The caller holds the mutex. */
static void resume(struct parking *parking, struct parked *parked) {
    parked->previous->next = parked->next;
    parked->next->previous = parked->previous;
    parking->count--;
    if (parked->is_patient)
        parking->quiet_until += pause_for_each;
    MHD_resume_connection(parked->connection);
}

/* The watch's callback: resumes all connections whose time has come and returns the next deadline. */
static double resume_overdue(void *owner) {
    struct parking *parking = owner;
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

struct parking *parking_open(struct error *error) {
    struct parking *parking = calloc(1, sizeof *parking);
    if (!parking) {
        error_set_memory(error, sizeof *parking);
        return NULL;
    }
    parking->all.next = parking->all.previous = &parking->all;
    if (!deadline_watch_start(&parking->watch, resume_overdue, parking, error)) {
        free(parking);
        return NULL;
    }
    return parking;
}

void parking_close(struct parking *parking) {
    if (parking) {
        deadline_watch_stop(&parking->watch);
        free(parking);
    }
}

unsigned long parking_version(struct parking *parking) {
    pthread_mutex_lock(&parking->watch.mutex);
    unsigned long version = parking->version;
    pthread_mutex_unlock(&parking->watch.mutex);
    return version;
}

bool parking_wait(struct parking *parking, struct parked *parked, unsigned long version) {
    pthread_mutex_lock(&parking->watch.mutex);
    bool waits = parking->version == version;
    if (waits) {
        MHD_suspend_connection(parked->connection);
        parked->next = &parking->all;
        parked->previous = parking->all.previous;
        parked->previous->next = parked;
        parking->all.previous = parked;
        parking->count++;
        deadline_watch_expect(&parking->watch, parked->deadline);
    }
    pthread_mutex_unlock(&parking->watch.mutex);
    return waits;
}

void parking_notify(struct parking *parking, const char *run_id) {
    pthread_mutex_lock(&parking->watch.mutex);
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
            deadline_watch_expect(&parking->watch, later);
        }
    }
    pthread_mutex_unlock(&parking->watch.mutex);
}

void parking_wake_all(struct parking *parking) {
    pthread_mutex_lock(&parking->watch.mutex);
    parking->version++;
    while (parking->all.next != &parking->all)
        resume(parking, parking->all.next);
    pthread_mutex_unlock(&parking->watch.mutex);
}

size_t parking_count(struct parking *parking) {
    pthread_mutex_lock(&parking->watch.mutex);
    size_t count = parking->count;
    pthread_mutex_unlock(&parking->watch.mutex);
    return count;
}
