/* The open connections, each with the moment by which its client must have done its part.
 *
 * libmicrohttpd closes a connection on which nothing moves; a client that sends a byte now and then would
 * keep one for ever. So the head of a request, its body and the taking of an answer each have a deadline
 * here; the sockets of those that miss it are shut down (by a thread of deadline_watch.h), and libmicrohttpd
 * then cleans up. While the service owes the answer, and on event streams, there is none. */
#ifndef ATTNLAB_SERVER_HTTP_CONNECTIONS_H
#define ATTNLAB_SERVER_HTTP_CONNECTIONS_H

#include "core/error.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

struct connections;

/* `head_seconds`: for the first request's head on a new connection. */
struct connections *connections_open(double head_seconds, struct error *error);
/* After the HTTP server has ended. */
void connections_close(struct connections *connections);

/* libmicrohttpd's MHD_OPTION_NOTIFY_CONNECTION; `connections` is its closure. */
void connections_notify(void *connections, struct MHD_Connection *connection, void **context,
                        enum MHD_ConnectionNotificationCode code);

/* From now on the client has this many seconds; INFINITY: as long as it likes. */
void connections_expect(struct connections *connections, struct MHD_Connection *connection, double seconds);

/* How many are open, and how many missed a deadline since the process began. */
void connections_count(struct connections *connections, size_t *open, unsigned long long *overdue);

#endif
