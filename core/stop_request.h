/* How a long computation learns that it is to stop. */
#ifndef ATTNLAB_CORE_STOP_REQUEST_H
#define ATTNLAB_CORE_STOP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

/* Zero: never. Asked from any thread that takes part, often, and at the same time; once it says yes it goes
 * on saying so. */
struct stop_request {
    bool (*is_requested)(void *owner);
    void *owner;
};

/* `stop` may be NULL. */
static inline bool stop_is_requested(const struct stop_request *stop) {
    return stop != NULL && stop->is_requested != NULL && stop->is_requested(stop->owner);
}

#endif
