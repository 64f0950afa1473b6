/* The open connections, each with a deadline for its client, and with the front that checks its bytes
 * (front.h).
 *
 * libmicrohttpd closes a connection that is idle, but a client that sends a byte now and then could keep one
 * open for ever. So there is a deadline for sending the head of a request, for sending its body, and for
 * receiving the answer. A thread (deadline_watch.h) shuts down the sockets of clients that miss one, and
 * libmicrohttpd then cleans up. A connection has no deadline while the service prepares the answer, or on an
 * event stream. */
#ifndef ATTNLAB_SERVER_HTTP_CONNECTIONS_H
#define ATTNLAB_SERVER_HTTP_CONNECTIONS_H

#include "core/error.h"
#include "server/http/front.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

struct connections;

/* `head_seconds` is the time a new connection has to send the head of its first request. */
struct connections *connections_open(double head_seconds, struct error *error);
/* How to answer requests that the front refuses (front.h). Call it before the HTTP server starts. */
void connections_set_refusal(struct connections *connections,
                             void (*refuse)(void *owner, int socket, bool is_head,
                                            const struct refusal *refusal),
                             void *owner);
/* Call it after the HTTP server has stopped. */
void connections_close(struct connections *connections);

/* libmicrohttpd's MHD_OPTION_NOTIFY_CONNECTION; `connections` is its closure. */
void connections_notify(void *connections, struct MHD_Connection *connection, void **context,
                        enum MHD_ConnectionNotificationCode code);

/* Gives the client this many seconds from now on; INFINITY removes the deadline. */
void connections_expect(struct connections *connections, struct MHD_Connection *connection, double seconds);

/* The client of the connection, or NULL if there was no memory for it. */
struct front_client *connections_find_client(struct MHD_Connection *connection);
/* A request has been answered. The client has `seconds` until it sends the next one. */
void connections_complete(struct connections *connections, struct MHD_Connection *connection, double seconds);

/* The number of open connections, and of deadlines missed since the process began. */
void connections_count(struct connections *connections, size_t *open, unsigned long long *overdue);

#endif
