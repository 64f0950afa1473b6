/* Workers and their shards.
 *
 * Each worker has a board on which its task announces shards. One 64-bit word holds a serial number and the
 * range of shards that are not yet taken, so that a single compare-and-swap both takes a shard and proves
 * that it still belongs to the announcement that was read. Each thread reports the shards it has taken as
 * done; the announcing task takes shards too and returns when all are done. It takes them from the front of
 * the range, and helpers from the end: the steps of a run announce the same shards again and again, so most
 * shards return to the core that has their memory in its cache. The task's floating-point environment
 * (rounding, flushing of denormals) goes with its shards, so that the results are the same bits on any
 * thread. */
#include "server/runs/workers.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    SHARD_LIMIT = 0xffff,        /* per announcement; the word has 16 bits for it */
    WATCH_NANOSECONDS = 1000000, /* how long an idle worker spins for the next shards before it sleeps */
    PAUSES_BETWEEN_LOOKS = 4,
    LOOKS_BETWEEN_CLOCKS = 64
};

/* Aligned so that no two boards share a cache line. */
struct board {
    _Alignas(64) _Atomic uint64_t word; /* serial << 32 | end << 16 | first */
    void (*work)(void *argument, size_t index);
    void *argument;
    size_t offset; /* of the shard with index 0, in the caller's numbering */
    fenv_t environment;
    _Alignas(64) _Atomic size_t done;
};

struct worker {
    struct board board;
    struct workers *pool;
    pthread_t thread;
};

struct workers {
    struct worker_callbacks callbacks;
    struct worker *workers;
    size_t count;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    _Atomic uint64_t wakes; /* counts calls of workers_wake */
    _Atomic size_t sleeping;
    _Atomic size_t idle; /* workers that watch or sleep */
    _Atomic bool stopping;
};

static inline void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

static int64_t nanoseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static size_t range_first(uint64_t word) {
    return word & 0xffff;
}

static size_t range_end(uint64_t word) {
    return (word >> 16) & 0xffff;
}

static bool board_is_open(struct board *board) {
    uint64_t word = atomic_load(&board->word);
    return range_first(word) < range_end(word);
}

/* Takes one shard from the board. Sets `word` to the word from before. Returns false if no shard is left. */
static bool board_take(struct board *board, bool from_end, uint64_t *word) {
    *word = atomic_load(&board->word);
    do
        if (range_first(*word) >= range_end(*word))
            return false;
    while (!atomic_compare_exchange_weak(&board->word, word, from_end ? *word - (1 << 16) : *word + 1));
    return true;
}

static void board_compute(struct board *board, size_t index) {
    board->work(board->argument, board->offset + index);
    atomic_fetch_add(&board->done, 1);
}

/* Computes one shard of another worker's task; returns false if none is left. */
static bool board_help(struct board *board) {
    uint64_t word;
    fenv_t own;
    if (!board_take(board, true, &word))
        return false;
    fegetenv(&own);
    fesetenv(&board->environment);
    board_compute(board, range_end(word) - 1);
    fesetenv(&own);
    return true;
}

static void wake_all(struct workers *pool) {
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
}

static void board_announce(struct worker *worker, size_t offset, size_t count,
                           void (*work)(void *argument, size_t index), void *argument) {
    struct board *board = &worker->board;
    board->work = work;
    board->argument = argument;
    board->offset = offset;
    fegetenv(&board->environment);
    atomic_store(&board->done, 0);
    uint64_t serial = (atomic_load(&board->word) >> 32) + 1;
    atomic_store(&board->word, serial << 32 | (uint64_t)count << 16);
    if (atomic_load(&worker->pool->sleeping) > 0)
        wake_all(worker->pool);
    for (uint64_t word; board_take(board, false, &word);)
        board_compute(board, range_first(word));
    for (size_t looks = 1; atomic_load(&board->done) < count; looks++) {
        pause_briefly();
        if (looks % 1024 == 0)
            sched_yield();
    }
}

/* struct parallel_executor's run. */
static void run_parallel(void *owner, size_t count, void (*work)(void *argument, size_t index),
                         void *argument) {
    struct worker *worker = owner;
    if (count < 2 || atomic_load(&worker->pool->idle) == 0) {
        for (size_t i = 0; i < count; i++)
            work(argument, i);
        return;
    }
    for (size_t offset = 0; offset < count; offset += SHARD_LIMIT)
        board_announce(worker, offset, count - offset < SHARD_LIMIT ? count - offset : SHARD_LIMIT, work,
                       argument);
}

/* Visits every board once and helps; returns whether there was anything to do. */
static bool help_others(struct workers *pool) {
    bool helped = false;
    for (size_t i = 0; i < pool->count; i++)
        helped |= board_help(&pool->workers[i].board);
    return helped;
}

static bool should_leave(struct workers *pool, uint64_t wakes) {
    return atomic_load(&pool->wakes) != wakes || atomic_load(&pool->stopping);
}

static bool any_board_is_open(struct workers *pool) {
    for (size_t i = 0; i < pool->count; i++)
        if (board_is_open(&pool->workers[i].board))
            return true;
    return false;
}

/* Sleeps until there is a task or a shard. An announcer reads `sleeping` after it has opened its board, and
 * this function reads the boards after it has raised `sleeping`, so one of the two always sees the other. */
static void sleep_until_woken(struct workers *pool, uint64_t wakes) {
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->sleeping, 1);
    while (!should_leave(pool, wakes) && !any_board_is_open(pool))
        pthread_cond_wait(&pool->changed, &pool->mutex);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->mutex);
}

/* Helps, watches and sleeps until there may be a task again. Other programs may have pushed this worker onto
 * the core of the worker that it waits for; the yield lets that one run. Or that one shares its core with
 * other programs; it can move to this worker's core only when this one sleeps, so the watch is short. */
static void stay_idle(struct workers *pool, uint64_t wakes) {
    atomic_fetch_add(&pool->idle, 1);
    int64_t watch_until = 0;
    while (!should_leave(pool, wakes)) {
        if (help_others(pool)) {
            watch_until = nanoseconds_now() + WATCH_NANOSECONDS;
            continue;
        }
        if (nanoseconds_now() >= watch_until) {
            sleep_until_woken(pool, wakes);
            continue;
        }
        for (int look = 0; look < LOOKS_BETWEEN_CLOCKS && !should_leave(pool, wakes); look++) {
            if (any_board_is_open(pool))
                break;
            for (int i = 0; i < PAUSES_BETWEEN_LOOKS; i++)
                pause_briefly();
        }
        sched_yield();
    }
    atomic_fetch_sub(&pool->idle, 1);
}

/* On Linux every thread has its own niceness. If it cannot be changed, it stays as it is. */
static void lower_priority(int niceness) {
    id_t thread = (id_t)gettid();
    setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + niceness);
}

static void *worker_main(void *argument) {
    struct worker *worker = argument;
    struct workers *pool = worker->pool;
    lower_priority(pool->callbacks.niceness);
    const struct parallel_executor parallel = {.owner = worker, .run = run_parallel};
    while (!atomic_load(&pool->stopping)) {
        uint64_t wakes = atomic_load(&pool->wakes); /* read first, to notice a wake during the search */
        void *task = pool->callbacks.take(pool->callbacks.owner);
        if (task != NULL)
            pool->callbacks.perform(pool->callbacks.owner, task, &parallel);
        else
            stay_idle(pool, wakes);
    }
    return NULL;
}

size_t workers_default_count(void) {
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (size_t)count : 1;
}

/* Ends the first `started` workers and frees everything. */
static void workers_stop_first(struct workers *pool, size_t started) {
    atomic_store(&pool->stopping, true);
    wake_all(pool);
    for (size_t i = 0; i < started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->workers);
    free(pool);
}

struct workers *workers_start(size_t count, const struct worker_callbacks *callbacks, struct error *error) {
    if (count == 0)
        count = workers_default_count();
    struct workers *pool = calloc(1, sizeof *pool);
    size_t size = count * sizeof(struct worker);
    struct worker *workers = pool != NULL ? aligned_alloc(_Alignof(struct worker), size) : NULL;
    if (workers == NULL) {
        free(pool);
        error_set_memory(error, size);
        return NULL;
    }
    pool->callbacks = *callbacks;
    pool->workers = workers;
    pool->count = count;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->changed, NULL);
    for (size_t i = 0; i < count; i++) {
        workers[i].pool = pool;
        atomic_init(&workers[i].board.word, 0);
        atomic_init(&workers[i].board.done, 0);
    }
    for (size_t i = 0; i < count; i++)
        if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) != 0) {
            error_set(error, ERROR_UNAVAILABLE, "cannot start worker %zu of %zu", i + 1, count);
            workers_stop_first(pool, i);
            return NULL;
        }
    return pool;
}

size_t workers_count(const struct workers *workers) {
    return workers->count;
}

void workers_wake(struct workers *workers) {
    atomic_fetch_add(&workers->wakes, 1);
    if (atomic_load(&workers->sleeping) > 0)
        wake_all(workers);
}

void workers_stop(struct workers *workers) {
    if (workers != NULL)
        workers_stop_first(workers, workers->count);
}
