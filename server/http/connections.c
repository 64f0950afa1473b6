/* A ring of open connections, and the thread that enforces their deadlines: see connections.h. */
#include "server/http/connections.h"

#include "server/http/client_address.h"
#include "server/http/deadline_watch.h"
#include "server/http/places.h"
#include "server/system/clock.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>

struct open_connection {
    struct open_connection *previous, *next;
    struct front_client client;
    struct place place;
    double deadline; /* by clock_seconds() */
};

enum { OTHER_DESCRIPTORS = 64 };

struct connections {
    struct deadline_watch watch; /* its mutex guards the members below */
    struct open_connection all;  /* the head of a ring */
    size_t count;
    unsigned long long overdue_count;
    const struct options *options;
    /* Used by the HTTP thread alone. */
    struct front front;
    struct places *places;
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

/* Capped by the number of file descriptors that this process may open. */
size_t connections_limit(const struct options *options) {
    struct rlimit limit;
    size_t connections = options->connections;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur > 2 * OTHER_DESCRIPTORS && limit.rlim_cur - OTHER_DESCRIPTORS < connections)
        connections = (size_t)limit.rlim_cur - OTHER_DESCRIPTORS;
    return connections;
}

struct connections *connections_open(const struct options *options, struct error *error) {
    struct connections *connections = calloc(1, sizeof *connections);
    if (!connections) {
        error_set_memory(error, sizeof *connections);
        return NULL;
    }
    size_t limit = connections_limit(options);
    connections->all.next = connections->all.previous = &connections->all;
    connections->options = options;
    connections->places =
        places_open(options->is_behind_proxy ? limit : options->connections_per_address, limit, error);
    if (!connections->places || !deadline_watch_start(&connections->watch, end_overdue, connections, error)) {
        places_close(connections->places);
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
        places_close(connections->places);
        free(connections);
    }
}

/* The caller holds the mutex. */
static void set_deadline(struct connections *connections, struct open_connection *one, double seconds) {
    one->deadline = clock_seconds() + seconds;
    deadline_watch_expect(&connections->watch, wake_time(one->deadline));
}

/* The network of a client that connects directly: its address, as far as it cannot easily change it. */
static bool take_place(struct connections *connections, struct MHD_Connection *connection,
                       struct open_connection *one) {
    static const struct refusal refusal = {
        429, "too many connections are open from this address; close some or try again soon"};
    char network[INET6_ADDRSTRLEN];
    client_address_write(connection, false, network);
    client_address_cut(network);
    const struct place_claim claim = {.network = network};
    enum place_answer answer = places_take(connections->places, &claim, &one->place);
    if (answer == PLACE_NETWORK_FULL)
        connections->front.refuse(connections->front.owner, one->client.socket, false, &refusal);
    return answer == PLACE_GIVEN;
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
    if (one) {
        pthread_mutex_lock(&connections->watch.mutex);
        one->next = &connections->all;
        one->previous = connections->all.previous;
        one->previous->next = one;
        connections->all.previous = one;
        connections->count++;
        set_deadline(connections, one, (double)connections->options->request_timeout);
        pthread_mutex_unlock(&connections->watch.mutex);
    }
    if (info && (!one || !take_place(connections, connection, one)))
        shutdown(info->connect_fd, SHUT_RDWR);
}

static void remove_connection(struct connections *connections, struct open_connection *one) {
    pthread_mutex_lock(&connections->watch.mutex);
    one->previous->next = one->next;
    one->next->previous = one->previous;
    connections->count--;
    pthread_mutex_unlock(&connections->watch.mutex);
    places_leave(connections->places, &one->place);
    front_remove(&connections->front, &one->client);
    free(one);
}

void connections_notify(void *argument, struct MHD_Connection *connection, void **context,
                        enum MHD_ConnectionNotificationCode code) {
    struct connections *connections = argument;
    struct open_connection *one = *context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        add_connection(connections, connection, context);
    } else if (one) {
        remove_connection(connections, one);
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
