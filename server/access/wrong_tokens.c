/* A table of addresses of fixed size: see wrong_tokens.h. */
#include "server/access/wrong_tokens.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_COUNT = 256 };

struct place {
    char address[INET6_ADDRSTRLEN]; /* "": free */
    unsigned count;
    double began; /* when the first wrong token came */
};

struct wrong_tokens {
    pthread_mutex_t mutex;
    struct place places[PLACE_COUNT];
};

struct wrong_tokens *wrong_tokens_open(struct error *error) {
    struct wrong_tokens *tokens = calloc(1, sizeof *tokens);
    if (!tokens) {
        error_set_memory(error, sizeof *tokens);
        return NULL;
    }
    pthread_mutex_init(&tokens->mutex, NULL);
    return tokens;
}

void wrong_tokens_close(struct wrong_tokens *tokens) {
    if (tokens) {
        pthread_mutex_destroy(&tokens->mutex);
        free(tokens);
    }
}

static bool is_past(const struct place *place, double now) {
    return now - place->began >= WRONG_TOKENS_SECONDS;
}

/* The place of an address; NULL if it has none. The caller holds the mutex. */
static struct place *find_place(struct wrong_tokens *tokens, const char *address) {
    for (size_t i = 0; i < PLACE_COUNT; i++)
        if (strcmp(tokens->places[i].address, address) == 0)
            return &tokens->places[i];
    return NULL;
}

unsigned wrong_tokens_find_wait(struct wrong_tokens *tokens, const char *address, double now) {
    pthread_mutex_lock(&tokens->mutex);
    const struct place *place = find_place(tokens, address);
    double wait = place && place->count >= WRONG_TOKENS_MAXIMUM && !is_past(place, now)
                      ? ceil(place->began + WRONG_TOKENS_SECONDS - now)
                      : 0;
    pthread_mutex_unlock(&tokens->mutex);
    return (unsigned)wait;
}

/* A free place, or the one with the fewest wrong tokens; the caller holds the mutex. Somebody with hundreds
 * of addresses can push others out of the table, but could guess from each of those addresses anyway. */
static struct place *take_place(struct wrong_tokens *tokens, double now) {
    struct place *taken = &tokens->places[0];
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        struct place *place = &tokens->places[i];
        if (!place->address[0] || is_past(place, now))
            return place;
        if (place->count < taken->count)
            taken = place;
    }
    return taken;
}

void wrong_tokens_count(struct wrong_tokens *tokens, const char *address, double now) {
    pthread_mutex_lock(&tokens->mutex);
    struct place *place = find_place(tokens, address);
    if (!place || is_past(place, now)) {
        place = place ? place : take_place(tokens, now);
        *place = (struct place){.began = now};
        snprintf(place->address, sizeof place->address, "%s", address);
    }
    place->count++;
    pthread_mutex_unlock(&tokens->mutex);
}
