/* A comparison as a table: a row for each variant, a column for each seed.
 *
 * Only labels and seeds are stored; state, progress and rows follow from the runs each time that somebody
 * asks.
 */
#ifndef ATTNLAB_SERVER_RUNS_COMPARISON_VIEW_H
#define ATTNLAB_SERVER_RUNS_COMPARISON_VIEW_H

#include "server/store/store.h"

struct comparison_row {
    char *label;
    double *accuracies;      /* [seed_count], NAN until known */
    double mean, worst;      /* of those that are known; NAN while none is */
    int64_t parameter_count; /* 0 until known */
    double seconds;          /* of its ended runs together; NAN while none has */
};

struct comparison_view {
    struct comparison_record record;
    enum run_state state;
    size_t progress_done, progress_total; /* runs */
    size_t variant_count, seed_count;
    char (*run_ids)[ID_SIZE]; /* [variant_count][seed_count]; "" where the run was deleted */
    struct comparison_row *rows;
};

/* Makes the empty table of a record, which it takes over. Clear it whether or not it succeeds. */
bool comparison_view_open(struct comparison_view *view, struct comparison_record *record,
                          struct error *error);
/* Fills the table in from the comparison's runs; the store has the results that the records lack. */
bool comparison_view_fill(struct comparison_view *view, struct store *store, const struct run_record *list,
                          size_t count, struct error *error);
void comparison_view_clear(struct comparison_view *view);

#endif
