/* The queue of runs and the workers: order, fairness, limits, shards, sleep. */
#include "server/runs/queue.h"
#include "server/runs/workers.h"
#include "tests/unit/main.h"
#include "tests/unit/server/server_fixture.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

struct item {
    struct queue_entry entry;
    char label;
};

static struct run_queue *queue;
static struct error error;

static void setup(void) {
    error = (struct error){0};
    queue = run_queue_create(&(struct queue_limits){.waiting = 8, .waiting_per_owner = 5}, &error);
}

static void teardown(void) {
    run_queue_free(queue);
}

static void push(const char *owner, struct item *item, char label) {
    item->label = label;
    ck_assert_msg(run_queue_reserve(queue, owner, 1, 0, &error), "%s", error.message);
    run_queue_push(queue, owner, &item->entry);
}

static void assert_order(const char *expected) {
    char order[32] = "";
    struct queue_entry *entry;
    while ((entry = run_queue_pop(queue)) != NULL)
        order[strlen(order)] = ((struct item *)entry)->label;
    ck_assert_str_eq(order, expected);
}

START_TEST(one_owner_is_served_in_order) {
    struct item items[4];
    for (int i = 0; i < 4; i++)
        push("x", &items[i], (char)('a' + i));
    assert_order("abcd");
}
END_TEST

START_TEST(owners_take_turns) {
    struct item items[8];
    for (int i = 0; i < 5; i++)
        push("many", &items[i], (char)('a' + i));
    push("one", &items[5], 'X');
    push("two", &items[6], 'Y');
    push("two", &items[7], 'Z');
    assert_order("aXYbZcde");
}
END_TEST

/* The README promises: the queue keeps places for the lecturer. */
START_TEST(others_together_never_take_the_favourites_places) {
    const struct queue_limits limits = {
        .waiting = 8, .waiting_per_owner = 8, .favourite = "lecturer", .kept = 3};
    run_queue_free(queue);
    queue = run_queue_create(&limits, &error);
    ck_assert(run_queue_reserve(queue, "one", 3, 0, NULL));
    ck_assert(run_queue_reserve(queue, "two", 2, 0, NULL));
    ck_assert(!run_queue_reserve(queue, "three", 1, 0, &error));
    ck_assert_int_eq(error.code, ERROR_LIMIT);
    ck_assert(run_queue_reserve(queue, "lecturer", 3, 0, NULL));
    error = (struct error){0};
    ck_assert(!run_queue_reserve(queue, "lecturer", 1, 0, &error));
    ck_assert_int_eq(error.code, ERROR_LIMIT);
    run_queue_release(queue, "one", 3);
    run_queue_release(queue, "two", 2);
    ck_assert(run_queue_reserve(queue, "lecturer", 5, 0, NULL)); /* all of them */
    run_queue_release(queue, "lecturer", 8);
    ck_assert(run_queue_reserve(queue, "lecturer", 4, 0, NULL)); /* its own do not count against the others */
    ck_assert(run_queue_reserve(queue, "one", 4, 0, NULL));
    run_queue_release(queue, "lecturer", 4);
    run_queue_release(queue, "one", 4);
}
END_TEST

START_TEST(what_can_never_fit_is_no_matter_of_waiting) {
    const struct queue_limits limits = {
        .waiting = 8, .waiting_per_owner = 8, .favourite = "lecturer", .kept = 3};
    run_queue_free(queue);
    queue = run_queue_create(&limits, &error);
    ck_assert_uint_eq(run_queue_most(queue, "one", 0), 5);
    ck_assert_uint_eq(run_queue_most(queue, "one", 4), 4);
    ck_assert_uint_eq(run_queue_most(queue, "lecturer", 0), 8);
    ck_assert(!run_queue_reserve(queue, "one", 5, 4, &error));
    ck_assert_int_eq(error.code, ERROR_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(error.message, "at most 4"));
    error = (struct error){0};
    ck_assert(!run_queue_reserve(queue, "lecturer", 9, 0, &error));
    ck_assert_int_eq(error.code, ERROR_TOO_LARGE);
    ck_assert(run_queue_reserve(queue, "one", 4, 4, NULL));
    run_queue_release(queue, "one", 4);
}
END_TEST

START_TEST(limits_are_kept) {
    struct item items[8];
    for (int i = 0; i < 5; i++)
        push("many", &items[i], 'a');
    ck_assert(!run_queue_reserve(queue, "many", 1, 0, &error));
    ck_assert_int_eq(error.code, ERROR_LIMIT);
    ck_assert(run_queue_reserve(queue, "other", 3, 0, NULL));
    ck_assert(!run_queue_reserve(queue, "third", 1, 0, NULL));
    run_queue_release(queue, "other", 3);
    ck_assert(run_queue_reserve(queue, "third", 1, 0, NULL));
    run_queue_release(queue, "third", 1);
    ck_assert(run_queue_reserve(queue, "many", 9, QUEUE_WITHOUT_LIMITS, NULL));
    run_queue_release(queue, "many", 9);
    ck_assert(!run_queue_reserve(queue, "fourth", 3, 2, &error));
    ck_assert(run_queue_reserve(queue, "fourth", 2, 2, NULL));
    run_queue_release(queue, "fourth", 2);
    assert_order("aaaaa");
}
END_TEST

/* Pops an entry, which must be the expected one, and returns its lane. */
static struct queue_lane *pop(char expected) {
    struct queue_entry *entry = run_queue_pop(queue);
    ck_assert_ptr_nonnull(entry);
    ck_assert_int_eq(((struct item *)entry)->label, expected);
    return entry->lane;
}

START_TEST(one_owner_has_only_so_many_entries_out) {
    struct item items[8];
    const struct queue_limits limits = {
        .waiting = 8, .waiting_per_owner = 5, .out_per_owner = 2, .favourite = "free"};
    run_queue_free(queue);
    queue = run_queue_create(&limits, &error);
    for (int i = 0; i < 4; i++)
        push("many", &items[i], (char)('a' + i));
    struct queue_lane *lane = pop('a');
    pop('b');
    ck_assert_ptr_null(run_queue_pop(queue));
    push("one", &items[4], 'X');
    pop('X');
    ck_assert_ptr_null(run_queue_pop(queue));
    ck_assert(run_queue_remove(queue, &items[2].entry));
    ck_assert(!run_queue_remove(queue, &items[0].entry));
    run_queue_leave(queue, lane);
    pop('d');
    for (int i = 5; i < 8; i++)
        push("free", &items[i], (char)('s' + i));
    assert_order("xyz");
}
END_TEST

/* While its entries are out, an owner keeps its lane, but not a place ahead of owners that came meanwhile. */
START_TEST(an_owner_who_had_a_turn_comes_after_those_who_had_none) {
    struct item items[4];
    push("x", &items[0], 'a');
    push("y", &items[1], 'b');
    pop('a');
    push("z", &items[2], 'c');
    push("x", &items[3], 'd');
    assert_order("bcd");
}
END_TEST

START_TEST(entries_can_be_taken_out) {
    struct item items[4];
    for (int i = 0; i < 4; i++)
        push(i == 2 ? "y" : "x", &items[i], (char)('a' + i));
    ck_assert(run_queue_remove(queue, &items[3].entry));
    ck_assert(run_queue_remove(queue, &items[2].entry));
    ck_assert(!run_queue_remove(queue, &items[2].entry));
    push("x", &items[2], 'z');
    assert_order("abz");
}
END_TEST

/* A pool whose tasks are the numbers 1, 2, ... below `tasks`; each task runs `rounds` rounds of shards. */
struct pool_test {
    _Atomic size_t next, done, running, most_running;
    _Atomic size_t tasks; /* may grow while it runs */
    size_t rounds, shards, work;
    _Atomic bool wrong;
    bool until_helped; /* tasks do more rounds, until another worker has computed a shard */
    size_t gathering;  /* tasks wait until this many run at once */
    long pause_ms;
};

static void *take(void *owner) {
    struct pool_test *test = owner;
    size_t next = atomic_load(&test->next);
    while (next < test->tasks)
        if (atomic_compare_exchange_weak(&test->next, &next, next + 1))
            return test;
    return NULL;
}

struct shards {
    _Atomic size_t computed[1000];
    _Atomic size_t by_others;
    pthread_t owner;
    double third;
    size_t work; /* iterations of a loop per shard */
};

static void compute_shard(void *argument, size_t index) {
    struct shards *shards = argument;
    atomic_fetch_add(&shards->computed[index], 1);
    if (!pthread_equal(pthread_self(), shards->owner))
        atomic_fetch_add(&shards->by_others, 1);
    for (volatile size_t i = 0; i < shards->work; i++)
        ;
    volatile double one = 1, three = 3;
    if (one / three != shards->third)
        abort();
}

static _Atomic size_t shards_by_others;

static void perform(void *owner, void *task, const struct parallel_executor *parallel) {
    struct pool_test *test = owner;
    size_t running = atomic_fetch_add(&test->running, 1) + 1, most = atomic_load(&test->most_running);
    while (running > most && !atomic_compare_exchange_weak(&test->most_running, &most, running))
        ;
    struct shards *shards = calloc(1, sizeof *shards);
    shards->owner = pthread_self();
    shards->work = test->work;
    /* The worker that computes a shard must use the rounding mode of the task's thread. */
    fesetround(FE_UPWARD);
    volatile double one = 1, three = 3;
    shards->third = one / three;
    size_t rounds = 0;
    for (; rounds < test->rounds || (test->until_helped && atomic_load(&shards->by_others) == 0); rounds++)
        parallel->run(parallel->owner, test->shards, compute_shard, shards);
    fesetround(FE_TONEAREST);
    for (size_t i = 0; i < test->shards; i++)
        if (atomic_load(&shards->computed[i]) != rounds)
            atomic_store(&test->wrong, true);
    atomic_fetch_add(&shards_by_others, atomic_load(&shards->by_others));
    free(shards);
    while (atomic_load(&test->most_running) < test->gathering)
        sleep_ms(1);
    if (test->pause_ms > 0)
        sleep_ms(test->pause_ms);
    (void)task;
    atomic_fetch_sub(&test->running, 1);
    atomic_fetch_add(&test->done, 1);
}

static void run_pool(struct pool_test *test, size_t workers) {
    struct worker_callbacks callbacks = {.owner = test, .take = take, .perform = perform};
    struct workers *pool = workers_start(workers, &callbacks, &error);
    ck_assert_ptr_nonnull(pool);
    ck_assert_uint_eq(workers_count(pool), workers);
    while (atomic_load(&test->done) < test->tasks)
        sleep_ms(1);
    workers_stop(pool);
    ck_assert(!atomic_load(&test->wrong));
}

START_TEST(every_shard_is_computed_once) {
    struct pool_test test = {.tasks = 1, .rounds = 1000, .shards = 8, .work = 3000, .until_helped = true};
    run_pool(&test, 3);
    ck_assert_uint_gt(atomic_load(&shards_by_others), 0);
}
END_TEST

START_TEST(tasks_with_shards_run_side_by_side) {
    struct pool_test test = {.tasks = 20, .rounds = 200, .shards = 7};
    run_pool(&test, 4);
}
END_TEST

START_TEST(one_worker_computes_all_shards_itself) {
    struct pool_test test = {.tasks = 2, .rounds = 10, .shards = 1000};
    run_pool(&test, 1);
    ck_assert_uint_eq(atomic_load(&shards_by_others), 0);
}
END_TEST

START_TEST(tasks_run_at_once_and_no_more_than_workers) {
    struct pool_test test = {.tasks = 12, .gathering = 3, .pause_ms = 20};
    run_pool(&test, 3);
    ck_assert_uint_eq(atomic_load(&test.most_running), 3);
}
END_TEST

START_TEST(a_wake_starts_new_tasks_at_once) {
    struct pool_test test = {0};
    struct worker_callbacks callbacks = {.owner = &test, .take = take, .perform = perform};
    struct workers *pool = workers_start(2, &callbacks, &error);
    for (size_t i = 1; i <= 200; i++) {
        test.tasks = i;
        workers_wake(pool);
        for (int waited = 0; atomic_load(&test.done) < i; waited++) {
            ck_assert_int_lt(waited, 20000);
            sleep_ms(1);
        }
    }
    workers_stop(pool);
}
END_TEST

/* The first task spreads shards without a pause until the second task has been done. */
struct greedy_test {
    _Atomic size_t taken, tasks;
    _Atomic bool is_spreading, first_is_done, second_is_done, second_came_first;
};

static void *take_greedy(void *owner) {
    struct greedy_test *test = owner;
    size_t taken = atomic_load(&test->taken);
    return taken < atomic_load(&test->tasks) &&
                   atomic_compare_exchange_strong(&test->taken, &taken, taken + 1)
               ? &test->taken
               : NULL;
}

static void spread_shards(struct greedy_test *test, const struct parallel_executor *parallel) {
    struct shards *shards = calloc(1, sizeof *shards);
    shards->owner = pthread_self();
    shards->third = 1.0 / 3.0;
    shards->work = 1000;
    time_t end = time(NULL) + 20;
    while (!atomic_load(&test->second_is_done) && time(NULL) < end) {
        parallel->run(parallel->owner, 8, compute_shard, shards);
        atomic_store(&test->is_spreading, atomic_load(&shards->by_others) > 0);
    }
    atomic_store(&test->second_came_first, atomic_load(&test->second_is_done));
    atomic_store(&test->first_is_done, true);
    free(shards);
}

static void perform_greedy(void *owner, void *task, const struct parallel_executor *parallel) {
    struct greedy_test *test = owner;
    (void)task;
    if (!atomic_load(&test->is_spreading))
        spread_shards(test, parallel);
    else
        atomic_store(&test->second_is_done, true);
}

START_TEST(a_waiting_task_comes_before_the_shards_of_another) {
    struct greedy_test test = {.tasks = 1};
    struct worker_callbacks callbacks = {.owner = &test, .take = take_greedy, .perform = perform_greedy};
    struct workers *pool = workers_start(2, &callbacks, &error);
    while (!atomic_load(&test.is_spreading))
        sleep_ms(1);
    atomic_store(&test.tasks, 2);
    workers_wake(pool);
    while (!atomic_load(&test.first_is_done))
        sleep_ms(1);
    workers_stop(pool);
    ck_assert(atomic_load(&test.second_came_first));
}
END_TEST

enum { SLEEPERS = 4 };

/* The workers' threads. A sanitizer has threads of its own, so those of the process are not to be counted. */
struct sleepers {
    _Atomic size_t count;
    _Atomic int threads[SLEEPERS]; /* 0: not yet known */
};

/* There is no task, but the thread that looks for one is a worker's. */
static void *take_nothing(void *owner) {
    static _Thread_local bool is_known;
    struct sleepers *sleepers = owner;
    size_t index = is_known ? SLEEPERS : atomic_fetch_add(&sleepers->count, 1);
    is_known = true;
    if (index < SLEEPERS)
        atomic_store(&sleepers->threads[index], gettid());
    return NULL;
}

/* How often the thread went to sleep; -1 if it is not asleep now. */
static long count_sleeps(int thread) {
    char path[64], line[256], state = '?';
    long sleeps = -1;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", thread);
    FILE *status = fopen(path, "r");
    ck_assert_ptr_nonnull(status);
    while (fgets(line, sizeof line, status) != NULL) {
        sscanf(line, "State: %c", &state);
        sscanf(line, "voluntary_ctxt_switches: %ld", &sleeps);
    }
    fclose(status);
    return state == 'S' ? sleeps : -1;
}

/* Whether every worker slept all the time. */
static bool all_sleep_for(struct sleepers *sleepers, long milliseconds) {
    long before[SLEEPERS];
    for (size_t i = 0; i < SLEEPERS; i++) {
        int thread = atomic_load(&sleepers->threads[i]);
        before[i] = thread != 0 ? count_sleeps(thread) : -1;
        if (before[i] <= 0)
            return false;
    }
    sleep_ms(milliseconds);
    bool slept = true;
    for (size_t i = 0; i < SLEEPERS; i++)
        slept &= count_sleeps(atomic_load(&sleepers->threads[i])) == before[i];
    return slept;
}

/* Once all workers sleep at the same time, so that none waits for another, they stay asleep. */
START_TEST(idle_workers_sleep) {
    struct sleepers sleepers = {0};
    struct worker_callbacks callbacks = {.owner = &sleepers, .take = take_nothing, .perform = perform};
    struct workers *pool = workers_start(SLEEPERS, &callbacks, &error);
    ck_assert_ptr_nonnull(pool);
    for (int tries = 0; !all_sleep_for(&sleepers, 20); tries++) {
        ck_assert_int_lt(tries, 1000);
        sleep_ms(1);
    }
    ck_assert(all_sleep_for(&sleepers, 300));
    workers_stop(pool);
    ck_assert_uint_eq(atomic_load(&sleepers.count), SLEEPERS);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, one_owner_is_served_in_order);
    tcase_add_test(tests, owners_take_turns);
    tcase_add_test(tests, limits_are_kept);
    tcase_add_test(tests, others_together_never_take_the_favourites_places);
    tcase_add_test(tests, what_can_never_fit_is_no_matter_of_waiting);
    tcase_add_test(tests, one_owner_has_only_so_many_entries_out);
    tcase_add_test(tests, an_owner_who_had_a_turn_comes_after_those_who_had_none);
    tcase_add_test(tests, entries_can_be_taken_out);
    tcase_add_test(tests, every_shard_is_computed_once);
    tcase_add_test(tests, tasks_with_shards_run_side_by_side);
    tcase_add_test(tests, one_worker_computes_all_shards_itself);
    tcase_add_test(tests, tasks_run_at_once_and_no_more_than_workers);
    tcase_add_test(tests, a_wake_starts_new_tasks_at_once);
    tcase_add_test(tests, a_waiting_task_comes_before_the_shards_of_another);
    tcase_add_test(tests, idle_workers_sleep);
}
