/* A ring of open connections, and the thread that enforces their deadlines: see connections.h. */
#include "server/http/connections.h"

#include "server/http/deadline_watch.h"
#include "server/system/clock.h"

#include <math.h>
#include <stdlib.h>
#include <sys/socket.h>

struct open_connection {
    struct open_connection *previous, *next;
    struct front_client client;
    double deadline; /* by clock_seconds() */
};

struct connections {
    struct deadline_watch watch; /* its mutex guards the members below */
    struct open_connection all;  /* the head of a ring */
    size_t count;
    unsigned long long overdue_count;
    double head_seconds;
    struct front front; /* used by the HTTP thread alone */
};

/* Rounds up to whole seconds, so that one wake-up serves many deadlines. */
static double wake_time(double deadline) {
    return ceil(deadline);
}

/* The watch's callback: shuts down overdue connections and returns the time of the next check. No socket here
 * can already belong to another connection, because libmicrohttpd closes a socket only after
 * connections_notify has removed it. */
static double end_overdue(void *owner) {
    struct connections *connections = owner;
    double now = clock_seconds();
    double earliest = INFINITY;
    for (struct open_connection *one = connections->all.next; one != &connections->all; one = one->next) {
        if (one->deadline <= now) {
            shutdown(one->client.socket, SHUT_RDWR);
            one->deadline = INFINITY;
            connections->overdue_count++;
        }
        earliest = fmin(earliest, one->deadline);
    }
    return wake_time(earliest);
}

struct connections *connections_open(double head_seconds, struct error *error) {
    struct connections *connections = calloc(1, sizeof *connections);
    if (!connections) {
        error_set_memory(error, sizeof *connections);
        return NULL;
    }
    connections->all.next = connections->all.previous = &connections->all;
    connections->head_seconds = head_seconds;
    if (!deadline_watch_start(&connections->watch, end_overdue, connections, error)) {
        free(connections);
        return NULL;
    }
    return connections;
}

void connections_set_refusal(struct connections *connections,
                             void (*refuse)(void *owner, int socket, bool is_head,
                                            const struct refusal *refusal),
                             void *owner) {
    connections->front.refuse = refuse;
    connections->front.owner = owner;
}

void connections_close(struct connections *connections) {
    if (connections) {
        deadline_watch_stop(&connections->watch);
        front_free(&connections->front);
        free(connections);
    }
}

/* The caller holds the mutex. */
static void set_deadline(struct connections *connections, struct open_connection *one, double seconds) {
    one->deadline = clock_seconds() + seconds;
    deadline_watch_expect(&connections->watch, wake_time(one->deadline));
}

static void add_connection(struct connections *connections, struct MHD_Connection *connection,
                           void **context) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct open_connection *one = info ? calloc(1, sizeof *one) : NULL;
    if (one && !front_add(&connections->front, &one->client, info->connect_fd)) {
        free(one);
        one = NULL;
    }
    *context = one;
    if (!one && info) {
        shutdown(info->connect_fd, SHUT_RDWR); /* no memory to check what it sends */
    } else if (one) {
        pthread_mutex_lock(&connections->watch.mutex);
        one->next = &connections->all;
        one->previous = connections->all.previous;
        one->previous->next = one;
        connections->all.previous = one;
        connections->count++;
        set_deadline(connections, one, connections->head_seconds);
        pthread_mutex_unlock(&connections->watch.mutex);
    }
}

void connections_notify(void *argument, struct MHD_Connection *connection, void **context,
                        enum MHD_ConnectionNotificationCode code) {
    struct connections *connections = argument;
    struct open_connection *one = *context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        add_connection(connections, connection, context);
    } else if (one) {
        pthread_mutex_lock(&connections->watch.mutex);
        one->previous->next = one->next;
        one->next->previous = one->previous;
        connections->count--;
        pthread_mutex_unlock(&connections->watch.mutex);
        front_remove(&connections->front, &one->client);
        free(one);
        *context = NULL;
    }
}

static struct open_connection *find_connection(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

struct front_client *connections_find_client(struct MHD_Connection *connection) {
    struct open_connection *one = find_connection(connection);
    return one ? &one->client : NULL;
}

void connections_complete(struct connections *connections, struct MHD_Connection *connection,
                          double seconds) {
    struct front_client *client = connections_find_client(connection);
    connections_expect(connections, connection, seconds);
    if (client)
        front_note_completion(&connections->front, client);
}

void connections_expect(struct connections *connections, struct MHD_Connection *connection, double seconds) {
    struct open_connection *one = find_connection(connection);
    if (one) {
        pthread_mutex_lock(&connections->watch.mutex);
        set_deadline(connections, one, seconds);
        pthread_mutex_unlock(&connections->watch.mutex);
    }
}

void connections_count(struct connections *connections, size_t *open, unsigned long long *overdue) {
    pthread_mutex_lock(&connections->watch.mutex);
    *open = connections->count;
    *overdue = connections->overdue_count;
    pthread_mutex_unlock(&connections->watch.mutex);
}
