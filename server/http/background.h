/* A few threads for work that would block the HTTP thread: opening models, computing attention, waiting for
 * the disk. They work in the order of submission, except for work that is submitted first. */
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
/* The caller embeds `work` in its own structure and keeps it until `run` has been called. */
void background_submit(struct background *background, struct background_work *work);
/* Submits work ahead of all waiting work; only for work that does no more than free memory. */
void background_submit_first(struct background *background, struct background_work *work);
/* Finishes all submitted work, then ends the threads. */
void background_close(struct background *background);

#endif
