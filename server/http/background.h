/* A few threads for what a request must not do on the HTTP thread: opening models, computing attention,
 * waiting for the disk. Work is done in the order in which it was given, but for what goes first. */
#ifndef ATTNLAB_SERVER_HTTP_BACKGROUND_H
#define ATTNLAB_SERVER_HTTP_BACKGROUND_H

#include "core/error.h"

#include <stddef.h>

struct background;

struct background_work {
    struct background_work *next;
    void (*run)(struct background_work *work);
};

struct background *background_open(size_t thread_count, struct error *error);
/* `work` is embedded in what it works on and is borrowed until its `run` was called. */
void background_submit(struct background *background, struct background_work *work);
/* The same before all that waits: for what only gives memory back. */
void background_submit_first(struct background *background, struct background_work *work);
/* Finishes what was submitted, then ends the threads. */
void background_close(struct background *background);

#endif
