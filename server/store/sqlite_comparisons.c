/* Comparisons in the SQLite store: only the settings that their runs share. For the runs see sqlite_runs.c.
 */
#include "server/store/sqlite_parts.h"

#define COMPARISON_COLUMNS "id, experiment, name, labels, seeds, created_ms, owner"

static bool read_comparison(sqlite3_stmt *row, void *record, struct error *error) {
    struct comparison_record *comparison = record;
    bool ok = true, *damage = &comparison->is_damaged;
    column_identifier(row, 0, comparison->id);
    comparison->experiment = column_required_text(row, 1, damage, &ok, error);
    comparison->name = column_required_text(row, 2, damage, &ok, error);
    comparison->labels_json = column_required_text(row, 3, damage, &ok, error);
    comparison->seeds_json = column_required_text(row, 4, damage, &ok, error);
    comparison->created_ms = sqlite3_column_int64(row, 5);
    comparison->owner = column_required_text(row, 6, damage, &ok, error);
    return ok;
}

static void clear_comparison(void *record) {
    comparison_record_clear(record);
}

static const struct row_kind comparison_rows = {sizeof(struct comparison_record), read_comparison,
                                                clear_comparison};

static bool store_find_comparison(struct store *store, const char *id, struct comparison_record *comparison,
                                  struct error *error) {
    return row_find(&sqlite_store_of(store)->reader, &comparison_rows,
                    "SELECT " COMPARISON_COLUMNS " FROM comparisons WHERE id = ?", "comparison", id,
                    comparison, error);
}

static bool store_list_comparisons(struct store *store, const char *before, size_t limit,
                                   struct comparison_record **comparisons, size_t *count,
                                   struct error *error) {
    struct connection *reader = &sqlite_store_of(store)->reader;
    bool ok = true;
    pthread_mutex_lock(&reader->mutex);
    sqlite3_stmt *statement = statement_bind(reader, error,
                                             "SELECT " COMPARISON_COLUMNS " FROM comparisons"
                                             " WHERE id < ?1 ORDER BY id DESC LIMIT ?2",
                                             "tz", before != NULL ? before : "~", limit);
    struct row_list list = statement_list(reader, statement, &comparison_rows, &ok, error);
    pthread_mutex_unlock(&reader->mutex);
    *comparisons = list.items;
    *count = list.count;
    return ok;
}

/* Foreign keys delete the comparison's runs, and in turn all rows that belong to the runs. */
static bool store_delete_comparison(struct store *store, const char *id, struct error *error) {
    return row_delete(sqlite_store_of(store), "DELETE FROM comparisons WHERE id = ?", "comparison", id,
                      error);
}

void sqlite_comparisons_install(struct store *store) {
    store->find_comparison = store_find_comparison;
    store->list_comparisons = store_list_comparisons;
    store->delete_comparison = store_delete_comparison;
}
