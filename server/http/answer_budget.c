/* Counts the bytes of answers: see answer_budget.h. */
#include "server/http/answer_budget.h"

#include <stdint.h>

void answer_budget_open(struct answer_budget *budget, size_t total) {
    budget->total = total;
    budget->students = total / 4 * 3;
    budget->student = total / 2;
    atomic_init(&budget->used, 0);
    atomic_init(&budget->used_by_students, 0);
}

static bool take(atomic_size_t *used, size_t bytes, size_t limit) {
    size_t before = atomic_load(used);
    do {
        if (bytes > limit || before > limit - bytes)
            return false;
    } while (!atomic_compare_exchange_weak(used, &before, before + bytes));
    return true;
}

bool answer_share_take(struct answer_share *share, size_t bytes, struct error *error) {
    struct answer_budget *budget = share->budget;
    size_t limit = budget == NULL ? 0 : share->is_student ? budget->student : budget->total;
    size_t wanted = bytes > SIZE_MAX - share->bytes ? SIZE_MAX : share->bytes + bytes;
    if (budget == NULL || wanted > limit)
        return error_set(error, ERROR_TOO_LARGE,
                         "the answer would take up to %.1f MB of memory; at most %.1f MB are allowed for one "
                         "request: ask for less at once",
                         (double)wanted / 1e6, (double)limit / 1e6);
    if (share->is_student && !take(&budget->used_by_students, bytes, budget->students))
        return error_set(error, ERROR_UNAVAILABLE, "too many large answers are being sent; try again soon");
    if (!take(&budget->used, bytes, budget->total)) {
        if (share->is_student)
            atomic_fetch_sub(&budget->used_by_students, bytes);
        return error_set(error, ERROR_UNAVAILABLE, "too many large answers are being sent; try again soon");
    }
    share->bytes = wanted;
    return true;
}

void answer_share_keep(struct answer_share *share, size_t bytes) {
    if (share->bytes <= bytes)
        return;
    size_t returned = share->bytes - bytes;
    share->bytes = bytes;
    atomic_fetch_sub(&share->budget->used, returned);
    if (share->is_student)
        atomic_fetch_sub(&share->budget->used_by_students, returned);
}
