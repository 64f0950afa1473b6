/* Threads for work that would block the HTTP thread: opening models, computing attention, waiting for the
 * disk.
 *
 * Work comes in lanes, each with threads of its own, so that quick work never waits behind slow work, and the
 * lecturer's slow work never behind others'. In a lane the owners take turns, however much each has
 * submitted, and one owner occupies all but one of the threads at most. */
#ifndef ATTNLAB_SERVER_HTTP_BACKGROUND_H
#define ATTNLAB_SERVER_HTTP_BACKGROUND_H

#include "core/error.h"

#include <stddef.h>

enum background_lane {
    BACKGROUND_QUICK,         /* milliseconds: a short transaction, the release of memory */
    BACKGROUND_SLOW,          /* whatever reads or computes much */
    BACKGROUND_SLOW_LECTURER, /* the same, asked for by the lecturer */
    BACKGROUND_LANE_COUNT
};

/* One piece of work. The caller embeds it in its own structure, and keeps that until `run` is called. The
 * links belong to the lane. */
struct background_work {
    void (*run)(struct background_work *work);
    const char *owner; /* takes turns with others; NULL: the work takes no turns, but goes first */
    struct background_work *next_of_owner, *last_of_owner;
    struct background_work *next_turn;
};

struct background;

/* How many threads of the slow lanes may compute at the same time. */
size_t background_slow_thread_count(void);

struct background *background_open(struct error *error);
void background_submit(struct background *background, enum background_lane lane,
                       struct background_work *work);
/* Finishes all submitted work, then ends the threads. */
void background_close(struct background *background);

#endif
