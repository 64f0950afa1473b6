/* A queue of work and its threads: see background.h. */
#include "server/http/background.h"

#include <pthread.h>
#include <stdlib.h>

struct background {
    pthread_mutex_t mutex;
    pthread_cond_t work_arrived;
    struct background_work *first, **last;
    bool is_closing;
    size_t thread_count;
    pthread_t threads[];
};

static struct background_work *take_work(struct background *background) {
    pthread_mutex_lock(&background->mutex);
    while (!background->first && !background->is_closing)
        pthread_cond_wait(&background->work_arrived, &background->mutex);
    struct background_work *work = background->first;
    if (work) {
        background->first = work->next;
        if (!background->first)
            background->last = &background->first;
    }
    pthread_mutex_unlock(&background->mutex);
    return work;
}

static void *work_until_closed(void *argument) {
    struct background *background = argument;
    struct background_work *work;
    while ((work = take_work(background)))
        work->run(work);
    return NULL;
}

struct background *background_open(size_t thread_count, struct error *error) {
    size_t size = sizeof(struct background) + thread_count * sizeof(pthread_t);
    struct background *background = calloc(1, size);
    if (!background) {
        error_set_memory(error, size);
        return NULL;
    }
    pthread_mutex_init(&background->mutex, NULL);
    pthread_cond_init(&background->work_arrived, NULL);
    background->last = &background->first;
    for (; background->thread_count < thread_count; background->thread_count++) {
        if (pthread_create(&background->threads[background->thread_count], NULL, work_until_closed,
                           background)) {
            error_set(error, ERROR_UNAVAILABLE, "cannot start a thread");
            background_close(background);
            return NULL;
        }
    }
    return background;
}

void background_submit(struct background *background, struct background_work *work) {
    work->next = NULL;
    pthread_mutex_lock(&background->mutex);
    *background->last = work;
    background->last = &work->next;
    pthread_cond_signal(&background->work_arrived);
    pthread_mutex_unlock(&background->mutex);
}

void background_submit_first(struct background *background, struct background_work *work) {
    pthread_mutex_lock(&background->mutex);
    work->next = background->first;
    if (!work->next)
        background->last = &work->next;
    background->first = work;
    pthread_cond_signal(&background->work_arrived);
    pthread_mutex_unlock(&background->mutex);
}

void background_close(struct background *background) {
    if (!background)
        return;
    pthread_mutex_lock(&background->mutex);
    background->is_closing = true;
    pthread_cond_broadcast(&background->work_arrived);
    pthread_mutex_unlock(&background->mutex);
    for (size_t i = 0; i < background->thread_count; i++)
        pthread_join(background->threads[i], NULL);
    pthread_cond_destroy(&background->work_arrived);
    pthread_mutex_destroy(&background->mutex);
    free(background);
}
