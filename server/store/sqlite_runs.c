/* Runs in the SQLite store; for lists of them see sqlite_run_list.c. */
#include "server/store/sqlite_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum run_state read_state(sqlite3_stmt *row, int column, bool *is_damaged) {
    sqlite3_int64 state = sqlite3_column_int64(row, column);
    if (sqlite3_column_type(row, column) == SQLITE_INTEGER && state >= 0 && state < RUN_STATE_COUNT)
        return (enum run_state)state;
    *is_damaged = true;
    return RUN_FAILED;
}

static bool read_run(sqlite3_stmt *row, void *record, struct error *error) {
    struct run_record *run = record;
    bool ok = true, *damage = &run->is_damaged;
    column_identifier(row, 0, run->id);
    run->experiment = column_required_text(row, 1, damage, &ok, error);
    run->name = column_required_text(row, 2, damage, &ok, error);
    run->parameters_json = column_required_text(row, 3, damage, &ok, error);
    run->state = read_state(row, 4, damage);
    run->progress_done = (size_t)sqlite3_column_int64(row, 5);
    run->progress_total = (size_t)sqlite3_column_int64(row, 6);
    column_short_text(row, 7, run->progress_unit, sizeof run->progress_unit);
    run->created_ms = sqlite3_column_int64(row, 8);
    run->started_ms = sqlite3_column_int64(row, 9);
    run->finished_ms = sqlite3_column_int64(row, 10);
    run->result_json = column_text(row, 11, &ok, error);
    run->error = column_text(row, 12, &ok, error);
    column_identifier(row, 13, run->comparison);
    run->comparison_variant = (size_t)sqlite3_column_int64(row, 14);
    run->comparison_seed = (size_t)sqlite3_column_int64(row, 15);
    run->owner = column_required_text(row, 16, damage, &ok, error);
    run->attempts = (size_t)sqlite3_column_int64(row, 17);
    run->attempted_ms = sqlite3_column_int64(row, 18);
    run->dataset_digest = column_text(row, 19, &ok, error);
    column_short_text(row, 20, run->network, sizeof run->network);
    column_short_text(row, 21, run->kernels, sizeof run->kernels);
    return ok;
}

static bool insert_run(struct connection *writer, const struct run_record *run, struct error *error) {
    return STATEMENT_EXECUTE(writer, error,
                             "INSERT INTO runs (" RUN_COLUMNS ", size_bytes)"
                             " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                             "ttttizztiiitttzztzitttz", run->id, run->experiment, run->name,
                             run->parameters_json, (int64_t)run->state, run->progress_done,
                             run->progress_total, run->progress_unit, run->created_ms, run->started_ms,
                             run->finished_ms, run->result_json, run->error,
                             run->comparison[0] != '\0' ? run->comparison : NULL, run->comparison_variant,
                             run->comparison_seed, run->owner, run->attempts, run->attempted_ms,
                             run->dataset_digest, run->network, run->kernels, run_record_row_bytes(run));
}

/* A data set may be deleted between the check of a run's parameters and this transaction. */
static bool check_dataset(struct connection *writer, const struct run_record *run, struct error *error) {
    bool ok = true, found = false;
    if (run->dataset_digest == NULL || run->dataset_digest[0] == '\0')
        return true;
    sqlite3_stmt *statement =
        statement_bind(writer, error, "SELECT 1 FROM datasets WHERE digest = ?", "t", run->dataset_digest);
    while (statement_next(writer, statement, &ok, error))
        found = true;
    return found || (ok && error_set(error, ERROR_CONFLICT, "the run's data set was deleted just now"));
}

static bool insert_comparison(struct connection *writer, const struct comparison_record *comparison,
                              struct error *error) {
    return STATEMENT_EXECUTE(
        writer, error,
        "INSERT INTO comparisons (id, experiment, name, labels, seeds, created_ms, owner)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        "tttttit", comparison->id, comparison->experiment, comparison->name, comparison->labels_json,
        comparison->seeds_json, comparison->created_ms, comparison->owner);
}

static bool store_add_runs(struct store *store, const struct comparison_record *comparison,
                           const struct run_record *runs, size_t count, const struct event_record *events,
                           size_t event_count, struct error *error) {
    struct sqlite_store *self = sqlite_store_of(store);
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += run_record_row_bytes(&runs[i]);
    if (!transaction_begin_storing(self, true, bytes, error))
        return false;
    bool ok = comparison == NULL || insert_comparison(&self->writer, comparison, error);
    for (size_t i = 0; i < count && ok; i++)
        ok = check_dataset(&self->writer, &runs[i], error) && insert_run(&self->writer, &runs[i], error);
    ok = ok && sqlite_events_insert(&self->writer, events, event_count, error);
    return transaction_end(self, ok, error);
}

static bool drop_checkpoint(struct connection *writer, const char *id, struct error *error) {
    return STATEMENT_EXECUTE(writer, error,
                             "UPDATE runs SET size_bytes = size_bytes -"
                             " (SELECT length(bytes) FROM checkpoints WHERE run = ?1)"
                             " WHERE id = ?1 AND EXISTS (SELECT 1 FROM checkpoints WHERE run = ?1)",
                             "t", id) &&
           STATEMENT_EXECUTE(writer, error, "DELETE FROM checkpoints WHERE run = ?", "t", id);
}

static bool save_large_result(struct connection *writer, const struct run_record *run, struct error *error) {
    return STATEMENT_EXECUTE(writer, error, "UPDATE runs SET size_bytes = size_bytes + ? WHERE id = ?", "zt",
                             strlen(run->result_json), run->id) &&
           STATEMENT_EXECUTE(writer, error, "INSERT OR REPLACE INTO results VALUES (?, ?)", "tt", run->id,
                             run->result_json);
}

static bool store_update_run(struct store *store, const struct run_record *run, bool acknowledged,
                             const struct event_record *events, size_t event_count, struct error *error) {
    struct sqlite_store *self = sqlite_store_of(store);
    if (!transaction_begin(self, acknowledged, error))
        return false;
    bool is_large = result_is_large(run->result_json);
    int changes = 0;
    sqlite3_stmt *statement = statement_bind(
        &self->writer, error,
        "UPDATE runs SET state = ?, progress_done = ?, progress_total = ?, progress_unit = ?, started_ms = ?,"
        " finished_ms = ?, result = ?, error = ?, attempts = ?,"
        " attempted_ms = ?, network = ?, kernels = ? WHERE id = ?",
        "izztiittzittt", (int64_t)run->state, run->progress_done, run->progress_total, run->progress_unit,
        run->started_ms, run->finished_ms, is_large ? NULL : run->result_json, run->error, run->attempts,
        run->attempted_ms, run->state == RUN_QUEUED ? run->network : "", run->kernels, run->id);
    bool ok = statement_run(&self->writer, statement, &changes, error);
    if (ok && changes == 0)
        ok = error_set(error, ERROR_MISSING, "there is no run %s", run->id);
    if (ok && is_large)
        ok = save_large_result(&self->writer, run, error);
    if (ok && run_state_has_ended(run->state))
        ok = drop_checkpoint(&self->writer, run->id, error);
    ok = ok && sqlite_events_insert(&self->writer, events, event_count, error);
    ok = transaction_end(self, ok, error);
    if (ok && run_state_has_ended(run->state)) /* the checkpoint is gone */
        vacuum_wake(self);
    return ok;
}

static bool store_read_result(struct store *store, const char *id, char **result_json, struct error *error) {
    return row_read_text(&sqlite_store_of(store)->bulk_reader, "SELECT json FROM results WHERE run = ?", id,
                         result_json, error);
}

static bool read_sizes(sqlite3_stmt *row, void *record, struct error *error) {
    struct run_sizes *sizes = record;
    (void)error;
    sizes->result_bytes = (size_t)sqlite3_column_int64(row, 0);
    sizes->metrics_count = (size_t)sqlite3_column_int64(row, 1);
    return true;
}

static const struct row_kind size_rows = {sizeof(struct run_sizes), read_sizes, NULL};

static bool store_measure_run(struct store *store, const char *id, struct run_sizes *sizes,
                              struct error *error) {
    return row_find(&sqlite_store_of(store)->bulk_reader, &size_rows,
                    "SELECT (SELECT length(CAST(json AS BLOB)) FROM results WHERE run = ?1),"
                    " (SELECT count(*) FROM metrics WHERE run = ?1)",
                    "run", id, sizes, error);
}

static void clear_run(void *record) {
    run_record_clear(record);
}

const struct row_kind sqlite_run_rows = {sizeof(struct run_record), read_run, clear_run};

static bool read_listed_run(sqlite3_stmt *row, void *record, struct error *error) {
    bool ok = read_run(row, record, error);
    run_record_drop_large(record);
    return ok;
}

const struct row_kind sqlite_listed_run_rows = {sizeof(struct run_record), read_listed_run, clear_run};

static bool read_id(sqlite3_stmt *row, void *record, struct error *error) {
    (void)error;
    column_identifier(row, 0, record);
    return true;
}

const struct row_kind sqlite_id_rows = {ID_SIZE, read_id, NULL};

static bool store_find_run(struct store *store, const char *id, struct run_record *run, struct error *error) {
    return row_find(&sqlite_store_of(store)->reader, &sqlite_run_rows,
                    "SELECT " RUN_COLUMNS " FROM runs WHERE id = ?", "run", id, run, error);
}

void sqlite_write_unfinished_states(char text[SQLITE_STATES_SIZE]) {
    size_t length = 0;
    for (enum run_state state = 0; state < RUN_STATE_COUNT; state++)
        if (!run_state_has_ended(state))
            length += (size_t)snprintf(text + length, SQLITE_STATES_SIZE - length, "%c%d",
                                       length == 0 ? '[' : ',', (int)state);
    snprintf(text + length, SQLITE_STATES_SIZE - length, "]");
}

static bool store_list_unfinished_runs(struct store *store, struct run_record **runs, size_t *count,
                                       struct error *error) {
    struct connection *reader = &sqlite_store_of(store)->bulk_reader;
    char unfinished[SQLITE_STATES_SIZE];
    bool ok = true;
    sqlite_write_unfinished_states(unfinished);
    pthread_mutex_lock(&reader->mutex);
    /* Runs that were running come first, because they have waited longer. */
    sqlite3_stmt *statement =
        statement_bind(reader, error,
                       "SELECT " RUN_COLUMNS " FROM runs WHERE state IN (SELECT value FROM json_each(?1))"
                       " ORDER BY state = ?2 DESC, id",
                       "ti", unfinished, (int64_t)RUN_RUNNING);
    struct row_list list = statement_list(reader, statement, &sqlite_run_rows, &ok, error);
    pthread_mutex_unlock(&reader->mutex);
    *runs = list.items;
    *count = list.count;
    return ok;
}

static bool store_delete_run(struct store *store, const char *id, struct error *error) {
    return row_delete(sqlite_store_of(store), "DELETE FROM runs WHERE id = ?", "run", id, error);
}

static bool store_forgive_attempts(struct store *store, struct error *error) {
    struct sqlite_store *self = sqlite_store_of(store);
    if (!transaction_begin(self, false, error))
        return false;
    bool ok = STATEMENT_EXECUTE(&self->writer, error, "UPDATE runs SET attempts = 0 WHERE state = ?", "i",
                                (int64_t)RUN_RUNNING);
    return transaction_end(self, ok, error);
}

void sqlite_runs_install(struct store *store) {
    store->add_runs = store_add_runs;
    store->update_run = store_update_run;
    store->find_run = store_find_run;
    store->read_result = store_read_result;
    store->measure_run = store_measure_run;
    store->list_unfinished_runs = store_list_unfinished_runs;
    store->delete_run = store_delete_run;
    store->forgive_attempts = store_forgive_attempts;
}
