/* The parts of the SQLite store: each file installs its functions in the table, and the opener calls every
 * installer. */
#ifndef ATTNLAB_SERVER_STORE_SQLITE_PARTS_H
#define ATTNLAB_SERVER_STORE_SQLITE_PARTS_H

#include "server/store/sqlite_connection.h"

/* What an epoch takes beside its weights: its row and its two events. */
enum { EPOCH_ROW_BYTES = 400 };

void sqlite_runs_install(struct store *store);
void sqlite_run_list_install(struct store *store);
void sqlite_comparisons_install(struct store *store);
void sqlite_epochs_install(struct store *store);
void sqlite_datasets_install(struct store *store);
void sqlite_events_install(struct store *store);
void sqlite_usage_install(struct store *store);

/* Stores the events of a change. Must be called inside a transaction. */
bool sqlite_events_insert(struct connection *writer, const struct event_record *events, size_t count,
                          struct error *error);

/* The columns of a run, and how they become a record. */
#define RUN_COLUMNS                                                                                          \
    "id, experiment, name, parameters, state, progress_done, progress_total, progress_unit, created_ms,"     \
    " started_ms, finished_ms, result, error, comparison, comparison_variant, comparison_seed, owner,"       \
    " attempts, attempted_ms, dataset, network, kernels"
extern const struct row_kind sqlite_run_rows;
extern const struct row_kind sqlite_listed_run_rows; /* without large parameters */
/* Rows of one column that become a char[ID_SIZE]. */
extern const struct row_kind sqlite_id_rows;

enum { SQLITE_STATES_SIZE = 4 * RUN_STATE_COUNT + 3 };
/* Writes the numbers of the states that are not final as a JSON array, for SQLite's json_each. */
void sqlite_write_unfinished_states(char text[SQLITE_STATES_SIZE]);

#endif
