/* A ring of open connections and the thread that watches their deadlines: see connections.h. */
#include "server/connections.h"

#include "server/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

struct open_connection {
    struct open_connection *previous, *next;
    int socket;
    double deadline; /* by clock_seconds() */
};

struct connections {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t clock_thread;
    struct open_connection all; /* the head of a ring */
    size_t count;
    unsigned long long overdue_count;
    double head_seconds;
    double next_wake; /* INFINITY while nothing is expected */
    bool is_closing;
};

/* With the mutex held: ends what is overdue and returns the next deadline. libmicrohttpd closes a socket only
 * after connections_notify has forgotten it, so none of these can be another's by now. */
static double end_overdue(struct connections *connections) {
    double now = clock_seconds();
    double earliest = INFINITY;
    for (struct open_connection *one = connections->all.next; one != &connections->all; one = one->next) {
        if (one->deadline <= now) {
            shutdown(one->socket, SHUT_RDWR);
            one->deadline = INFINITY;
            connections->overdue_count++;
        }
        earliest = fmin(earliest, one->deadline);
    }
    return earliest;
}

static void *watch_deadlines(void *argument) {
    struct connections *connections = argument;
    pthread_mutex_lock(&connections->mutex);
    while (!connections->is_closing) {
        connections->next_wake = end_overdue(connections);
        if (isinf(connections->next_wake)) {
            pthread_cond_wait(&connections->changed, &connections->mutex);
        } else {
            /* At whole seconds, so that many deadlines cost one wake-up. */
            struct timespec until = {.tv_sec = (time_t)ceil(connections->next_wake)};
            pthread_cond_timedwait(&connections->changed, &connections->mutex, &until);
        }
    }
    pthread_mutex_unlock(&connections->mutex);
    return NULL;
}

struct connections *connections_open(double head_seconds, struct error *error) {
    struct connections *connections = calloc(1, sizeof *connections);
    if (!connections) {
        error_set_memory(error, sizeof *connections);
        return NULL;
    }
    connections->all.next = connections->all.previous = &connections->all;
    connections->head_seconds = head_seconds;
    connections->next_wake = INFINITY;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&connections->mutex, NULL);
    pthread_cond_init(&connections->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&connections->clock_thread, NULL, watch_deadlines, connections)) {
        error_set(error, ERROR_UNAVAILABLE, "cannot start a thread");
        pthread_cond_destroy(&connections->changed);
        pthread_mutex_destroy(&connections->mutex);
        free(connections);
        return NULL;
    }
    return connections;
}

void connections_close(struct connections *connections) {
    if (!connections)
        return;
    pthread_mutex_lock(&connections->mutex);
    connections->is_closing = true;
    pthread_cond_signal(&connections->changed);
    pthread_mutex_unlock(&connections->mutex);
    pthread_join(connections->clock_thread, NULL);
    pthread_cond_destroy(&connections->changed);
    pthread_mutex_destroy(&connections->mutex);
    free(connections);
}

/* With the mutex held. */
static void set_deadline(struct connections *connections, struct open_connection *one, double seconds) {
    one->deadline = clock_seconds() + seconds;
    if (one->deadline < connections->next_wake) {
        connections->next_wake = one->deadline;
        pthread_cond_signal(&connections->changed);
    }
}

static void add_connection(struct connections *connections, struct MHD_Connection *connection,
                           void **context) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct open_connection *one = info ? calloc(1, sizeof *one) : NULL;
    *context = one; /* NULL: without memory for it the connection has no deadline */
    if (one) {
        one->socket = info->connect_fd;
        pthread_mutex_lock(&connections->mutex);
        one->next = &connections->all;
        one->previous = connections->all.previous;
        one->previous->next = one;
        connections->all.previous = one;
        connections->count++;
        set_deadline(connections, one, connections->head_seconds);
        pthread_mutex_unlock(&connections->mutex);
    }
}

void connections_notify(void *argument, struct MHD_Connection *connection, void **context,
                        enum MHD_ConnectionNotificationCode code) {
    struct connections *connections = argument;
    struct open_connection *one = *context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        add_connection(connections, connection, context);
    } else if (one) {
        pthread_mutex_lock(&connections->mutex);
        one->previous->next = one->next;
        one->next->previous = one->previous;
        connections->count--;
        pthread_mutex_unlock(&connections->mutex);
        free(one);
        *context = NULL;
    }
}

void connections_expect(struct connections *connections, struct MHD_Connection *connection, double seconds) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct open_connection *one = info ? info->socket_context : NULL;
    if (one) {
        pthread_mutex_lock(&connections->mutex);
        set_deadline(connections, one, seconds);
        pthread_mutex_unlock(&connections->mutex);
    }
}

void connections_count(struct connections *connections, size_t *open, unsigned long long *overdue) {
    pthread_mutex_lock(&connections->mutex);
    *open = connections->count;
    *overdue = connections->overdue_count;
    pthread_mutex_unlock(&connections->mutex);
}
