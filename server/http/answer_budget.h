/* The memory of answers: for one request, and for all that are being made or sent together.
 *
 * An answer's size is known, or bounded, before it is made (answer.h). It is taken from here, and given back
 * once the answer is sent. A text that nothing was taken for holds no more than a small answer needs
 * (text.h), so a route that forgets to ask cannot use up the memory either. A student's request may take less
 * than a lecturer's, and all students' together leave a part to the lecturer. Thread-safe. */
#ifndef ATTNLAB_SERVER_HTTP_ANSWER_BUDGET_H
#define ATTNLAB_SERVER_HTTP_ANSWER_BUDGET_H

#include "core/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct answer_budget {
    size_t total, students, student; /* the most of all, of all students', and of one of theirs, in bytes */
    atomic_size_t used, used_by_students;
};

/* What one answer has taken. */
struct answer_share {
    struct answer_budget *budget; /* borrowed; NULL: nothing can be taken */
    bool is_student;
    size_t bytes;
};

void answer_budget_open(struct answer_budget *budget, size_t total);
/* Takes `bytes` more. ERROR_TOO_LARGE, with the size and the limit, if one request may never take so much;
 * ERROR_UNAVAILABLE if others have taken too much of it now. */
bool answer_share_take(struct answer_share *share, size_t bytes, struct error *error);
/* Gives back all but `bytes`. */
void answer_share_keep(struct answer_share *share, size_t bytes);

#endif
