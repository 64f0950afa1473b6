/* Counts by network, in a hash table of those that hold a place: see places.h. */
#include "server/http/places.h"

#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKET_COUNT = 1024 };

struct counts {
    size_t all, are_long;
};

struct place_network {
    struct place_network *next; /* in its bucket */
    char name[INET6_ADDRSTRLEN];
    struct counts counts;
};

struct places {
    size_t of_network, of_all;
    struct counts common;
    struct place_network *buckets[BUCKET_COUNT];
};

struct places *places_open(size_t of_network, size_t of_all, struct error *error) {
    struct places *places = calloc(1, sizeof *places);
    if (!places) {
        error_set_memory(error, sizeof *places);
        return NULL;
    }
    places->of_network = of_network;
    places->of_all = of_all;
    return places;
}

void places_close(struct places *places) {
    for (size_t i = 0; places && i < BUCKET_COUNT; i++) {
        while (places->buckets[i]) {
            struct place_network *network = places->buckets[i];
            places->buckets[i] = network->next;
            free(network);
        }
    }
    free(places);
}

/* FNV-1a. */
static struct place_network **find_bucket(struct places *places, const char *name) {
    uint32_t hash = 2166136261U;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619U;
    return &places->buckets[hash % BUCKET_COUNT];
}

/* The network of this name; creates it, with counts of 0. NULL if out of memory. */
static struct place_network *find_network(struct places *places, const char *name) {
    struct place_network **bucket = find_bucket(places, name);
    for (struct place_network *network = *bucket; network; network = network->next)
        if (strcmp(network->name, name) == 0)
            return network;
    struct place_network *network = calloc(1, sizeof *network);
    if (network) {
        snprintf(network->name, sizeof network->name, "%s", name);
        network->next = *bucket;
        *bucket = network;
    }
    return network;
}

static void forget_if_empty(struct places *places, struct place_network *network) {
    struct place_network **at = find_bucket(places, network->name);
    if (network->counts.all > 0)
        return;
    while (*at != network)
        at = &(*at)->next;
    *at = network->next;
    free(network);
}

static bool has_room(const struct counts *counts, size_t maximum, bool is_long) {
    return counts->all < maximum && (!is_long || counts->are_long < maximum - maximum / 4);
}

enum place_answer places_take(struct places *places, const struct place_claim *claim, struct place *place) {
    struct place_network *network = find_network(places, claim->network);
    enum place_answer answer = PLACE_GIVEN;
    if (!network)
        return PLACE_NO_MEMORY;
    if (!has_room(&network->counts, places->of_network, claim->is_long))
        answer = PLACE_NETWORK_FULL;
    else if (claim->is_common && !has_room(&places->common, places->of_all, claim->is_long))
        answer = PLACE_ALL_FULL;
    if (answer != PLACE_GIVEN) {
        forget_if_empty(places, network);
        return answer;
    }
    *place = (struct place){network, claim->is_long, claim->is_common};
    network->counts.all++;
    network->counts.are_long += claim->is_long;
    places->common.all += claim->is_common;
    places->common.are_long += claim->is_common && claim->is_long;
    return PLACE_GIVEN;
}

void places_leave(struct places *places, struct place *place) {
    struct place_network *network = place->network;
    if (!network)
        return;
    network->counts.all--;
    network->counts.are_long -= place->is_long;
    places->common.all -= place->is_common;
    places->common.are_long -= place->is_common && place->is_long;
    forget_if_empty(places, network);
    *place = (struct place){0};
}
