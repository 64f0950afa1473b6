/* Connections that wait: for the next event of a run (or of any run), or for a moment in time.
 *
 * A waiting connection is suspended in libmicrohttpd, so it costs no thread and no wake-up. One thread
 * (deadline_watch.h) serves all deadlines: pings of idle streams, ends of `?wait=`. No wake-up is lost: the
 * caller notes parking_version, looks for news, and parks only if nothing was notified since. */
#ifndef ATTNLAB_SERVER_HTTP_PARKING_H
#define ATTNLAB_SERVER_HTTP_PARKING_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

struct MHD_Connection;
struct parking;

/* One waiting connection; embedded in what waits. Members are set by the caller before parking_wait, the
 * links belong to the parking. */
struct parked {
    struct MHD_Connection *connection;
    const char *run_id; /* wake at its events; "" for those of every run; NULL for none */
    double deadline;    /* wake then at the latest, by clock_seconds() */
    bool is_patient;    /* may hear of an event a little later, together with the next ones */
    struct parked *previous, *next;
};

struct parking *parking_open(struct error *error);
void parking_close(struct parking *parking);

unsigned long parking_version(struct parking *parking);
/* Suspends the connection, unless something was notified since `version`: then it returns false and the
 * caller looks again. To be called from the connection's own callbacks only. */
bool parking_wait(struct parking *parking, struct parked *parked, unsigned long version);
/* Resumes everybody who waits for this run. Thread-safe and quick. Waking hundreds for every event would cost
 * the training its processor time, so after some patient ones were woken the next are only after a pause in
 * proportion to how many those were. */
void parking_notify(struct parking *parking, const char *run_id);
/* Resumes everybody. */
void parking_wake_all(struct parking *parking);
/* How many wait now. */
size_t parking_count(struct parking *parking);

#endif
