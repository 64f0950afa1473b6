/* What stands in front of libmicrohttpd: every byte of a client passes through here before the library reads
 * it.
 *
 * libmicrohttpd 0.9.75 (Debian 12) accepts heads that RFC 9112 forbids, answers some twice and others never.
 * It has no hook before its parser, so this takes the place of the recv() that it calls (front.c says how),
 * checks the bytes (framing.h), and answers a refused request itself. libmicrohttpd 1.0.0 refuses most of
 * them with MHD_OPTION_CLIENT_DISCIPLINE_LVL at 1. */
#ifndef ATTNLAB_SERVER_HTTP_FRONT_H
#define ATTNLAB_SERVER_HTTP_FRONT_H

#include "server/http/framing.h"

/* One connection. */
struct front_client {
    int socket;
    struct framing framing;
    unsigned long answered, completed; /* of the sound heads in framing */
    bool is_refused;                   /* the refusal has been sent */
    size_t dropped;                    /* bytes that came after the end */
};

/* All connections of one HTTP thread, by their sockets. */
struct front {
    /* Writes the answer to a refused request; `is_head`: without a body. */
    void (*refuse)(void *owner, int socket, bool is_head, const struct refusal *refusal);
    void *owner;
    struct front_client **clients; /* [capacity]; NULL where there is none */
    size_t capacity;
};

/* All of these are called on the HTTP thread, which must be the only one to serve these connections. Adding
 * fails when out of memory; the caller must then close the connection, because nobody would check it. */
bool front_add(struct front *front, struct front_client *client, int socket);
void front_remove(struct front *front, struct front_client *client);
/* Whether the head of the request that libmicrohttpd now hands over passed through here. */
bool front_has_checked(const struct front_client *client);
/* The current request's answer is about to be sent; it has been sent. */
void front_note_answer(struct front_client *client);
void front_note_completion(struct front *front, struct front_client *client);
/* Call it after the HTTP thread has ended. */
void front_free(struct front *front);

#endif
