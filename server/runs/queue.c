/* The lanes form a ring: run_queue_pop starts at the lane whose turn it is, takes from the first lane that
 * may give an entry, and moves on to the next. */
#include "server/runs/queue.h"

#include <stdlib.h>
#include <string.h>

struct queue_lane {
    struct queue_lane *next, *previous; /* the ring of all lanes */
    char *owner;
    struct queue_entry *first, *last;
    size_t length, reserved, out;
};

struct run_queue {
    struct queue_limits limits;
    size_t length, reserved;
    struct queue_lane *turn; /* the lane to try next; NULL if there are no lanes */
};

struct run_queue *run_queue_create(const struct queue_limits *limits, struct error *error) {
    struct run_queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL) {
        error_set_memory(error, sizeof *queue);
        return NULL;
    }
    queue->limits = *limits;
    return queue;
}

/* Inserts the lane so that its turn comes after all others'. */
static void lane_link(struct run_queue *queue, struct queue_lane *lane) {
    if (queue->turn == NULL) {
        lane->next = lane->previous = lane;
        queue->turn = lane;
    } else {
        lane->next = queue->turn;
        lane->previous = queue->turn->previous;
        lane->previous->next = lane;
        lane->next->previous = lane;
    }
}

static void lane_unlink(struct run_queue *queue, struct queue_lane *lane) {
    lane->next->previous = lane->previous;
    lane->previous->next = lane->next;
    if (queue->turn == lane)
        queue->turn = lane->next == lane ? NULL : lane->next;
}

static void lane_free(struct run_queue *queue, struct queue_lane *lane) {
    lane_unlink(queue, lane);
    free(lane->owner);
    free(lane);
}

void run_queue_free(struct run_queue *queue) {
    if (queue == NULL)
        return;
    while (queue->turn != NULL)
        lane_free(queue, queue->turn);
    free(queue);
}

static struct queue_lane *lane_find(const struct run_queue *queue, const char *owner) {
    struct queue_lane *lane = queue->turn;
    if (lane == NULL)
        return NULL;
    do {
        if (strcmp(lane->owner, owner) == 0)
            return lane;
        lane = lane->next;
    } while (lane != queue->turn);
    return NULL;
}

static struct queue_lane *lane_create(struct run_queue *queue, const char *owner, struct error *error) {
    struct queue_lane *lane = calloc(1, sizeof *lane);
    char *copy = strdup(owner);
    if (lane == NULL || copy == NULL) {
        free(lane);
        free(copy);
        error_set_memory(error, sizeof *lane);
        return NULL;
    }
    lane->owner = copy;
    lane_link(queue, lane);
    return lane;
}

static void lane_free_if_unused(struct run_queue *queue, struct queue_lane *lane) {
    if (lane->length == 0 && lane->reserved == 0 && lane->out == 0)
        lane_free(queue, lane);
}

static bool is_favourite(const struct run_queue *queue, const char *owner) {
    return queue->limits.favourite != NULL && strcmp(queue->limits.favourite, owner) == 0;
}

static size_t lane_waiting(const struct queue_lane *lane) {
    return lane != NULL ? lane->length + lane->reserved : 0;
}

/* The places of the whole queue, and those that all owners but the favourite share. */
static size_t shared_places(const struct run_queue *queue) {
    const struct queue_limits *limits = &queue->limits;
    return limits->kept < limits->waiting ? limits->waiting - limits->kept : 0;
}

/* The limit on this owner's entries alone. */
static size_t limit_of_owner(const struct run_queue *queue, size_t own_limit) {
    size_t limit = queue->limits.waiting_per_owner;
    return own_limit == 0 || own_limit > limit ? limit : own_limit;
}

size_t run_queue_most(const struct run_queue *queue, const char *owner, size_t own_limit) {
    size_t own = limit_of_owner(queue, own_limit);
    size_t all = is_favourite(queue, owner) ? queue->limits.waiting : shared_places(queue);
    return own < all ? own : all;
}

static bool check_places(const struct run_queue *queue, const char *owner, size_t count, size_t own_limit,
                         struct error *error) {
    size_t own = lane_waiting(lane_find(queue, owner)), most = run_queue_most(queue, owner, own_limit);
    size_t waiting = queue->length + queue->reserved;
    if (count > most)
        return error_set(error, ERROR_TOO_LARGE,
                         "%zu runs are more than can ever wait: at most %zu of yours may", count, most);
    if (own + count > limit_of_owner(queue, own_limit))
        return error_set(
            error, ERROR_LIMIT,
            "you have %zu waiting runs, and at most %zu are allowed; try again when some have started", own,
            limit_of_owner(queue, own_limit));
    if (waiting + count > queue->limits.waiting)
        return error_set(
            error, ERROR_LIMIT,
            "%zu runs are waiting, and the queue holds at most %zu; try again when some have started",
            waiting, queue->limits.waiting);
    if (is_favourite(queue, owner) || queue->limits.favourite == NULL)
        return true;
    size_t others = waiting - lane_waiting(lane_find(queue, queue->limits.favourite));
    if (others + count > shared_places(queue))
        return error_set(
            error, ERROR_LIMIT,
            "%zu runs are waiting, and the last %zu places are the lecturer's; try again when some"
            " have started",
            waiting, queue->limits.kept);
    return true;
}

bool run_queue_reserve(struct run_queue *queue, const char *owner, size_t count, size_t own_limit,
                       struct error *error) {
    struct queue_lane *lane = lane_find(queue, owner);
    size_t own = lane_waiting(lane);
    if (own_limit != QUEUE_WITHOUT_LIMITS && !check_places(queue, owner, count, own_limit, error))
        return false;
    if (lane == NULL && (lane = lane_create(queue, owner, error)) == NULL)
        return false;
    if (own == 0) { /* a lane that only has entries out moves to the end: it has had its turn */
        lane_unlink(queue, lane);
        lane_link(queue, lane);
    }
    lane->reserved += count;
    queue->reserved += count;
    return true;
}

void run_queue_release(struct run_queue *queue, const char *owner, size_t count) {
    struct queue_lane *lane = lane_find(queue, owner);
    lane->reserved -= count;
    queue->reserved -= count;
    lane_free_if_unused(queue, lane);
}

void run_queue_push(struct run_queue *queue, const char *owner, struct queue_entry *entry) {
    struct queue_lane *lane = lane_find(queue, owner);
    lane->reserved--;
    queue->reserved--;
    entry->next = NULL;
    entry->lane = lane;
    entry->is_waiting = true;
    if (lane->first == NULL)
        lane->first = entry;
    else
        lane->last->next = entry;
    lane->last = entry;
    lane->length++;
    queue->length++;
}

/* Removes the entry after `previous` (NULL: the first). */
static struct queue_entry *lane_take(struct run_queue *queue, struct queue_lane *lane,
                                     struct queue_entry *previous) {
    struct queue_entry *entry = previous != NULL ? previous->next : lane->first;
    if (previous != NULL)
        previous->next = entry->next;
    else
        lane->first = entry->next;
    if (lane->last == entry)
        lane->last = previous;
    entry->next = NULL;
    entry->is_waiting = false;
    lane->length--;
    queue->length--;
    return entry;
}

static bool lane_may_give(const struct run_queue *queue, const struct queue_lane *lane) {
    const struct queue_limits *limits = &queue->limits;
    bool is_bound = limits->out_per_owner > 0 && !is_favourite(queue, lane->owner);
    return lane->length > 0 && (!is_bound || lane->out < limits->out_per_owner);
}

struct queue_entry *run_queue_pop(struct run_queue *queue) {
    struct queue_lane *lane = queue->turn;
    if (lane == NULL)
        return NULL;
    while (!lane_may_give(queue, lane))
        if ((lane = lane->next) == queue->turn)
            return NULL;
    struct queue_entry *entry = lane_take(queue, lane, NULL);
    lane->out++;
    queue->turn = lane->next;
    return entry;
}

void run_queue_leave(struct run_queue *queue, struct queue_lane *lane) {
    lane->out--;
    lane_free_if_unused(queue, lane);
}

void run_queue_take(struct run_queue *queue, struct queue_entry *entry) {
    struct queue_entry *previous = NULL;
    for (struct queue_entry *other = entry->lane->first; other != entry; other = other->next)
        previous = other;
    lane_take(queue, entry->lane, previous);
    entry->lane->out++;
}

bool run_queue_remove(struct run_queue *queue, struct queue_entry *entry) {
    if (!entry->is_waiting)
        return false;
    run_queue_take(queue, entry);
    run_queue_leave(queue, entry->lane);
    entry->lane = NULL;
    return true;
}
