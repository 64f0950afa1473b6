/* Places for the requests that are being answered, so that one client, or all that are not the lecturer,
 * cannot take every connection.
 *
 * A request holds its place from its head until its answer has been sent, which for an event stream may be
 * hours. Behind a proxy all connections come from one address, so it is these that are limited by the
 * client's. Used by the HTTP thread alone. */
#ifndef ATTNLAB_SERVER_HTTP_PLACES_H
#define ATTNLAB_SERVER_HTTP_PLACES_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

struct places;

/* What somebody asks a place for. */
struct place_claim {
    const char *network; /* the client's address, as in struct credentials */
    bool is_long;   /* a stream, or a request that waits: such take at most three quarters of all places */
    bool is_common; /* counts among all; not where it opens the way for the lecturer */
};

enum place_answer { PLACE_GIVEN, PLACE_NETWORK_FULL, PLACE_ALL_FULL, PLACE_NO_MEMORY };

/* A held place. Zero-initialised: none. */
struct place {
    struct place_network *network;
    bool is_long, is_common;
};

/* How many one network may hold, and how many all networks together. */
struct places *places_open(size_t of_network, size_t of_all, struct error *error);
void places_close(struct places *places);
enum place_answer places_take(struct places *places, const struct place_claim *claim, struct place *place);
/* Gives the place back, if it is one. */
void places_leave(struct places *places, struct place *place);

#endif
