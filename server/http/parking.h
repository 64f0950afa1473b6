/* Suspended connections that wait for the next event of a run (or of any run), or for a time.
 *
 * libmicrohttpd suspends a waiting connection, so that it costs no thread and no wake-up. One thread
 * (deadline_watch.h) serves all deadlines: pings of idle streams, ends of `?wait=`. To lose no wake-up, a
 * caller first notes parking_version, then looks for news; parking_wait suspends it only if nothing has been
 * notified since. */
#ifndef ATTNLAB_SERVER_HTTP_PARKING_H
#define ATTNLAB_SERVER_HTTP_PARKING_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

struct MHD_Connection;
struct parking;

/* One waiting connection; the caller embeds it in its own structure. The caller sets the members before it
 * calls parking_wait; the links belong to the parking. */
struct parked {
    struct MHD_Connection *connection;
    const char *run_id; /* the run whose events wake it; "" for every run; NULL for none */
    double deadline;    /* the latest time to wake it, by clock_seconds() */
    bool is_patient;    /* may be woken a little after an event, for several events at once */
    struct parked *previous, *next;
};

struct parking *parking_open(struct error *error);
void parking_close(struct parking *parking);

unsigned long parking_version(struct parking *parking);
/* Suspends the connection. If something has been notified since `version`, returns false instead, and the
 * caller must look again. Call it only from the connection's own callbacks. */
bool parking_wait(struct parking *parking, struct parked *parked, unsigned long version);
/* Resumes every connection that waits for this run. Thread-safe and quick. Waking hundreds of connections for
 * every event would take processor time from the training, so after waking patient ones it wakes no more of
 * them for a pause in proportion to their number. */
void parking_notify(struct parking *parking, const char *run_id);
/* Resumes every connection. */
void parking_wake_all(struct parking *parking);
/* The number of waiting connections. */
size_t parking_count(struct parking *parking);

#endif
