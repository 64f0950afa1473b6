/* A comparison as a table: a row for each variant, a column for each seed.
 *
 * Only labels and seeds are stored; state, progress and rows are computed from the runs at every request. */
#ifndef ATTNLAB_SERVER_RUNS_COMPARISON_VIEW_H
#define ATTNLAB_SERVER_RUNS_COMPARISON_VIEW_H

#include "server/store/store.h"

struct comparison_row {
    char *label;
    double *accuracies;      /* [seed_count], NAN until known */
    double mean, worst;      /* of the known accuracies; NAN if there are none */
    int64_t parameter_count; /* 0 until known */
    double seconds;          /* total time of its ended runs; NAN if there are none */
};

struct comparison_view {
    struct comparison_record record;
    enum run_state state;
    size_t progress_done, progress_total; /* in runs */
    size_t variant_count, seed_count;
    char (*run_ids)[ID_SIZE]; /* [variant_count][seed_count]; "" for a deleted run */
    struct comparison_row *rows;
};

/* Makes an empty table for a record, which it takes over. Clear the view even if this fails. */
bool comparison_view_open(struct comparison_view *view, struct comparison_record *record,
                          struct error *error);
/* Fills in the table from the comparison's runs; reads results that the records lack from the store. */
bool comparison_view_fill(struct comparison_view *view, struct store *store, const struct run_record *list,
                          size_t count, struct error *error);
void comparison_view_clear(struct comparison_view *view);

#endif
