/* How a long computation learns that it should stop. */
#ifndef ATTNLAB_CORE_STOP_REQUEST_H
#define ATTNLAB_CORE_STOP_REQUEST_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A zero struct never requests a stop. All threads of the computation call is_requested often and
 * concurrently. Once it has returned true it must keep returning true. */
struct stop_request {
    bool (*is_requested)(void *owner);
    void *owner;
};

/* `stop` may be NULL. */
static inline bool stop_is_requested(const struct stop_request *stop) {
    return stop != NULL && stop->is_requested != NULL && stop->is_requested(stop->owner);
}

/* Returns whether the computation may continue; false with ERROR_CANCELLED. `stop` may be NULL. */
static inline bool stop_check(const struct stop_request *stop, struct error *error) {
    return !stop_is_requested(stop) || error_set(error, ERROR_CANCELLED, "the run was cancelled");
}

#endif
