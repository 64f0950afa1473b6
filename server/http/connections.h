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
#include "server/system/options.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

struct connections;

/* How many may be open: as the options say, but no more than there are file descriptors for. */
size_t connections_limit(const struct options *options);
/* The options are borrowed: they say how long the head of a first request may take, and how many connections
 * one network may have open. Behind a proxy that limit is not for connections, because all are the proxy's.
 */
struct connections *connections_open(const struct options *options, struct error *error);
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
