/* Request counts and latencies by route and status: see statistics.h. */
#include "server/http/statistics.h"

#include "server/http/status.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static const double bounds[] = {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30};
enum { BOUND_COUNT = sizeof bounds / sizeof *bounds };

struct route_statistics {
    unsigned long long by_status[STATUS_COUNT];
    unsigned long long within[BOUND_COUNT]; /* not cumulative */
    unsigned long long count;
    double seconds;
};

struct statistics {
    const struct route_table *table;
    pthread_mutex_t mutex;
    long streams;
    unsigned long long received, sent, abandoned;
    struct route_statistics routes[]; /* [table->count + 1]; the last one counts files and unknown paths */
};

struct statistics *statistics_open(const struct route_table *table, struct error *error) {
    size_t size = sizeof(struct statistics) + (table->count + 1) * sizeof(struct route_statistics);
    struct statistics *statistics = calloc(1, size);
    if (!statistics) {
        error_set_memory(error, size);
        return NULL;
    }
    statistics->table = table;
    pthread_mutex_init(&statistics->mutex, NULL);
    return statistics;
}

void statistics_close(struct statistics *statistics) {
    if (statistics) {
        pthread_mutex_destroy(&statistics->mutex);
        free(statistics);
    }
}

void statistics_count_request(struct statistics *statistics, const struct route *route, unsigned status,
                              double seconds) {
    size_t status_index = status_find(status);
    size_t bound = 0;
    while (bound < BOUND_COUNT && seconds > bounds[bound])
        bound++;
    pthread_mutex_lock(&statistics->mutex);
    const struct route_table *table = statistics->table;
    struct route_statistics *counted =
        &statistics->routes[route ? (size_t)(route - table->routes) : table->count];
    counted->by_status[status_index]++;
    counted->count++;
    counted->seconds += seconds;
    if (bound < BOUND_COUNT)
        counted->within[bound]++;
    pthread_mutex_unlock(&statistics->mutex);
}

void statistics_add_bytes(struct statistics *statistics, size_t received, size_t sent) {
    pthread_mutex_lock(&statistics->mutex);
    statistics->received += received;
    statistics->sent += sent;
    pthread_mutex_unlock(&statistics->mutex);
}

void statistics_count_abandoned(struct statistics *statistics) {
    pthread_mutex_lock(&statistics->mutex);
    statistics->abandoned++;
    pthread_mutex_unlock(&statistics->mutex);
}

void statistics_add_stream(struct statistics *statistics, int change) {
    pthread_mutex_lock(&statistics->mutex);
    statistics->streams += change;
    pthread_mutex_unlock(&statistics->mutex);
}

long statistics_stream_count(struct statistics *statistics) {
    pthread_mutex_lock(&statistics->mutex);
    long count = statistics->streams;
    pthread_mutex_unlock(&statistics->mutex);
    return count;
}

static void write_route(struct text *text, const struct route_statistics *counted, const char *labels) {
    for (size_t i = 0; i < STATUS_COUNT; i++) {
        if (counted->by_status[i] > 0) {
            text_append_format(text, "attnlab_http_requests_total{%s,status=\"%u\"} %llu\n", labels,
                               status_table[i].code, counted->by_status[i]);
        }
    }
    unsigned long long cumulated = 0;
    for (size_t i = 0; i < BOUND_COUNT; i++) {
        cumulated += counted->within[i];
        text_append_format(text, "attnlab_http_request_seconds_bucket{%s,le=\"%g\"} %llu\n", labels,
                           bounds[i], cumulated);
    }
    text_append_format(text, "attnlab_http_request_seconds_bucket{%s,le=\"+Inf\"} %llu\n", labels,
                       counted->count);
    text_append_format(text, "attnlab_http_request_seconds_sum{%s} %.9g\n", labels, counted->seconds);
    text_append_format(text, "attnlab_http_request_seconds_count{%s} %llu\n", labels, counted->count);
}

void statistics_write(struct statistics *statistics, struct text *text) {
    const struct route_table *table = statistics->table;
    pthread_mutex_lock(&statistics->mutex);
    text_append_format(text,
                       "# TYPE attnlab_event_streams gauge\nattnlab_event_streams %ld\n"
                       "# TYPE attnlab_received_bytes_total counter\nattnlab_received_bytes_total %llu\n"
                       "# TYPE attnlab_sent_bytes_total counter\nattnlab_sent_bytes_total %llu\n"
                       "# TYPE attnlab_http_abandoned_total counter\nattnlab_http_abandoned_total %llu\n",
                       statistics->streams, statistics->received, statistics->sent, statistics->abandoned);
    text_append_string(text, "# TYPE attnlab_http_requests_total counter\n"
                             "# TYPE attnlab_http_request_seconds histogram\n");
    for (size_t i = 0; i <= table->count; i++) {
        char labels[160] = "method=\"GET\",route=\"other\"";
        if (i < table->count) {
            snprintf(labels, sizeof labels, "method=\"%s\",route=\"%s%s\"",
                     method_name(table->routes[i].method), table->routes[i].pattern,
                     route_suffix(&table->routes[i]));
        }
        if (statistics->routes[i].count > 0)
            write_route(text, &statistics->routes[i], labels);
    }
    pthread_mutex_unlock(&statistics->mutex);
}
