/* Lanes of work, their queues and threads: see background.h. */
#include "server/http/background.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAXIMUM = 2 };
static const size_t thread_counts[BACKGROUND_LANE_COUNT] = {
    [BACKGROUND_QUICK] = THREADS_MAXIMUM,
    [BACKGROUND_SLOW] = THREADS_MAXIMUM,
    [BACKGROUND_SLOW_LECTURER] = 1,
};

struct worker {
    struct lane *lane;
    pthread_t thread;
    char *owner; /* whose work it does, a copy; NULL while idle, or for nobody's work */
};

/* The queue holds the first work of every owner that waits, in the order of their turns; behind each hangs
 * the rest of that owner's work. */
struct lane {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* work has arrived, or an owner may take another thread */
    struct background_work *turns;
    struct worker workers[THREADS_MAXIMUM];
    size_t thread_count; /* of those that have started */
    size_t limit_per_owner;
    bool is_closing;
};

struct background {
    struct lane lanes[BACKGROUND_LANE_COUNT];
};

static bool is_same_owner(const char *one, const char *other) {
    return one != NULL && other != NULL && strcmp(one, other) == 0;
}

static bool may_start(const struct lane *lane, const char *owner) {
    size_t running = 0;
    for (size_t i = 0; i < lane->thread_count; i++)
        running += is_same_owner(lane->workers[i].owner, owner);
    return running < lane->limit_per_owner;
}

/* Appends the work to its owner's or, as the owner's first, to the turns. */
static void enqueue(struct lane *lane, struct background_work *work) {
    struct background_work **place = &lane->turns;
    work->next_of_owner = work->next_turn = NULL;
    work->last_of_owner = work;
    for (; *place != NULL && (work->owner != NULL || (*place)->owner == NULL); place = &(*place)->next_turn) {
        struct background_work *first = *place;
        if (is_same_owner(first->owner, work->owner)) {
            first->last_of_owner->next_of_owner = work;
            first->last_of_owner = work;
            return;
        }
    }
    work->next_turn = *place;
    *place = work;
}

/* Removes and returns the first work that may start; its owner's next work waits for another turn. NULL if
 * there is none. */
static struct background_work *dequeue(struct lane *lane) {
    struct background_work **place = &lane->turns;
    while (*place != NULL && !may_start(lane, (*place)->owner))
        place = &(*place)->next_turn;
    struct background_work *work = *place;
    if (work == NULL)
        return NULL;
    *place = work->next_turn;
    struct background_work *rest = work->next_of_owner;
    if (rest != NULL) {
        while (*place != NULL)
            place = &(*place)->next_turn;
        rest->last_of_owner = work->last_of_owner;
        *place = rest;
    }
    return work;
}

/* Waits for work that may start; NULL once the lane is closing and has none left. If there is no memory for
 * the owner's name, the limit does not count this work. */
static struct background_work *take_work(struct worker *worker) {
    struct lane *lane = worker->lane;
    struct background_work *work;
    pthread_mutex_lock(&lane->mutex);
    while ((work = dequeue(lane)) == NULL && (lane->turns != NULL || !lane->is_closing))
        pthread_cond_wait(&lane->changed, &lane->mutex);
    worker->owner = work != NULL && work->owner != NULL ? strdup(work->owner) : NULL;
    pthread_mutex_unlock(&lane->mutex);
    return work;
}

static void finish_work(struct worker *worker) {
    struct lane *lane = worker->lane;
    pthread_mutex_lock(&lane->mutex);
    free(worker->owner);
    worker->owner = NULL;
    pthread_cond_broadcast(&lane->changed);
    pthread_mutex_unlock(&lane->mutex);
}

static void *work_until_closed(void *argument) {
    struct worker *worker = argument;
    struct background_work *work;
    while ((work = take_work(worker)) != NULL) {
        work->run(work);
        finish_work(worker);
    }
    return NULL;
}

static bool open_lane(struct lane *lane, size_t thread_count, struct error *error) {
    pthread_mutex_init(&lane->mutex, NULL);
    pthread_cond_init(&lane->changed, NULL);
    lane->limit_per_owner = thread_count > 1 ? thread_count - 1 : 1;
    bool is_open = true;
    pthread_mutex_lock(&lane->mutex);
    for (size_t i = 0; is_open && i < thread_count; i++) {
        struct worker *worker = &lane->workers[i];
        worker->lane = lane;
        is_open = pthread_create(&worker->thread, NULL, work_until_closed, worker) == 0;
        lane->thread_count += is_open;
    }
    pthread_mutex_unlock(&lane->mutex);
    return is_open || error_set(error, ERROR_UNAVAILABLE, "cannot start a thread");
}

static void close_lane(struct lane *lane) {
    pthread_mutex_lock(&lane->mutex);
    lane->is_closing = true;
    pthread_cond_broadcast(&lane->changed);
    pthread_mutex_unlock(&lane->mutex);
    for (size_t i = 0; i < lane->thread_count; i++)
        pthread_join(lane->workers[i].thread, NULL);
    pthread_cond_destroy(&lane->changed);
    pthread_mutex_destroy(&lane->mutex);
}

size_t background_slow_thread_count(void) {
    return thread_counts[BACKGROUND_SLOW] + thread_counts[BACKGROUND_SLOW_LECTURER];
}

struct background *background_open(struct error *error) {
    struct background *background = calloc(1, sizeof *background);
    if (background == NULL) {
        error_set_memory(error, sizeof *background);
        return NULL;
    }
    for (size_t i = 0; i < BACKGROUND_LANE_COUNT; i++) {
        if (!open_lane(&background->lanes[i], thread_counts[i], error)) {
            for (size_t j = 0; j <= i; j++)
                close_lane(&background->lanes[j]);
            free(background);
            return NULL;
        }
    }
    return background;
}

void background_submit(struct background *background, enum background_lane lane,
                       struct background_work *work) {
    struct lane *into = &background->lanes[lane];
    pthread_mutex_lock(&into->mutex);
    enqueue(into, work);
    pthread_cond_signal(&into->changed);
    pthread_mutex_unlock(&into->mutex);
}

/* The slow lanes first: finishing their work may submit quick work. */
void background_close(struct background *background) {
    if (background == NULL)
        return;
    for (size_t i = BACKGROUND_LANE_COUNT; i-- > 0;)
        close_lane(&background->lanes[i]);
    free(background);
}
