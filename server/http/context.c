/* Opens and closes the state that all requests of a server share: see context.h. */
#include "server/http/context.h"

#include "server/system/random_text.h"

#include <stdio.h>

/* An eighth of the connections is left to the lecturer. */
static struct places *open_places(const struct options *options, struct error *error) {
    size_t connections = connections_limit(options);
    return places_open(options->connections_per_address, connections - connections / 8, error);
}

bool http_context_open(struct http_context *context, size_t answer_memory, struct error *error) {
    random_text_write(context->name, 6, NULL);
    context->parking = parking_open(error);
    context->background = context->parking ? background_open(error) : NULL;
    context->connections = context->background ? connections_open(context->options, error) : NULL;
    context->places = context->connections ? open_places(context->options, error) : NULL;
    context->statistics = context->places ? statistics_open(context->routes, error) : NULL;
    answer_budget_open(&context->answer_budget, answer_memory);
    if (context->statistics)
        return true;
    http_context_close(context);
    return false;
}

void http_context_name_request(struct http_context *context, char id[REQUEST_ID_SIZE]) {
    snprintf(id, REQUEST_ID_SIZE, "%s-%lx", context->name, atomic_fetch_add(&context->request_count, 1) + 1);
}

void http_context_drain(struct http_context *context) {
    atomic_store(&context->is_draining, true);
    parking_wake_all(context->parking);
}

void http_context_close(struct http_context *context) {
    connections_close(context->connections);
    places_close(context->places);
    background_close(context->background);
    parking_close(context->parking);
    statistics_close(context->statistics);
    *context = (struct http_context){0};
}
