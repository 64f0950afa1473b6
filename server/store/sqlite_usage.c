/* What each owner's runs and data sets take, and which runs may go when there are too many.
 *
 * Triggers (sqlite_schema.c) keep one row for each owner in step with every run and data set. The size of a
 * run is a sum of what it stores, without the head of a page here and there. */
#include "server/store/sqlite_parts.h"

#include <stdlib.h>

static bool read_usage_row(sqlite3_stmt *row, void *record, struct error *error) {
    struct usage_record *usage = record;
    bool ok = true;
    usage->owner = column_text(row, 0, &ok, error);
    usage->bytes = (unsigned long long)sqlite3_column_int64(row, 1);
    usage->run_count = (size_t)sqlite3_column_int64(row, 2);
    return ok;
}

static void clear_usage(void *record) {
    free(((struct usage_record *)record)->owner);
}

static const struct row_kind usage_rows = {sizeof(struct usage_record), read_usage_row, clear_usage};

static bool store_read_usage(struct store *store, const char *owner, unsigned long long *bytes,
                             struct error *error) {
    struct connection *reader = &sqlite_store_of(store)->reader;
    bool ok = true;
    *bytes = 0;
    pthread_mutex_lock(&reader->mutex);
    sqlite3_stmt *statement =
        statement_bind(reader, error, "SELECT bytes FROM usage WHERE owner = ?", "t", owner);
    while (statement_next(reader, statement, &ok, error))
        *bytes = (unsigned long long)sqlite3_column_int64(statement, 0);
    pthread_mutex_unlock(&reader->mutex);
    return ok;
}

static bool store_list_usage(struct store *store, size_t limit, struct usage_record **usage, size_t *count,
                             struct error *error) {
    struct connection *reader = &sqlite_store_of(store)->bulk_reader;
    bool ok = true;
    pthread_mutex_lock(&reader->mutex);
    sqlite3_stmt *statement =
        statement_bind(reader, error,
                       "SELECT owner, bytes, (SELECT count(*) FROM runs WHERE runs.owner = usage.owner)"
                       " FROM usage ORDER BY bytes DESC LIMIT ?",
                       "z", limit);
    struct row_list list = statement_list(reader, statement, &usage_rows, &ok, error);
    pthread_mutex_unlock(&reader->mutex);
    *usage = list.items;
    *count = list.count;
    return ok;
}

/* A run has a name if it, or the comparison that it belongs to, was given one: all runs of a comparison are
 * named after their variants. */
#define IS_NAMED                                                                                             \
    "(CASE WHEN runs.comparison IS NULL THEN runs.name"                                                      \
    " ELSE (SELECT name FROM comparisons WHERE comparisons.id = runs.comparison) END <> '')"

static bool prune(struct connection *writer, const struct prune_rule *rule, int *changes,
                  struct error *error) {
    char unfinished[SQLITE_STATES_SIZE];
    sqlite_write_unfinished_states(unfinished);
    sqlite3_stmt *statement = statement_bind(
        writer, error,
        "WITH unfinished AS (SELECT value AS state FROM json_each(?1)),"
        " ended AS (SELECT count(*) AS count FROM runs WHERE state NOT IN unfinished),"
        /* what goes as a whole: a run by itself, or all runs of a comparison */
        " wholes AS (SELECT coalesce(comparison, id) AS whole, " IS_NAMED
        "  AS is_named, min(id) AS oldest, count(*) AS size FROM runs"
        "  WHERE ?2 < (SELECT count FROM ended) AND state NOT IN unfinished"
        "  AND NOT EXISTS (SELECT 1 FROM runs AS other WHERE other.comparison = runs.comparison"
        "   AND other.state IN unfinished)"
        "  AND NOT (" IS_NAMED " AND (?3 IS NULL OR owner = ?3)) GROUP BY whole),"
        " in_turn AS (SELECT whole, sum(size) OVER turn AS gone, row_number() OVER turn AS turn FROM wholes"
        "  WINDOW turn AS (ORDER BY is_named, oldest))"
        "DELETE FROM runs WHERE coalesce(comparison, id) IN (SELECT whole FROM in_turn"
        " WHERE gone <= (SELECT count FROM ended) - ?2 AND (gone <= ?4 OR turn = 1))",
        "tztz", unfinished, rule->keep, rule->protected_owner, rule->at_once);
    return statement_run(writer, statement, changes, error) &&
           (*changes == 0 ||
            STATEMENT_EXECUTE(writer, error,
                              "DELETE FROM comparisons WHERE NOT EXISTS (SELECT 1 FROM runs WHERE"
                              " runs.comparison = comparisons.id)",
                              ""));
}

static bool store_prune_runs(struct store *store, const struct prune_rule *rule, size_t *deleted,
                             struct error *error) {
    struct sqlite_store *self = sqlite_store_of(store);
    int changes = 0;
    *deleted = 0;
    if (!transaction_begin(self, false, error))
        return false;
    bool ok = transaction_end(self, prune(&self->writer, rule, &changes, error), error);
    if (ok && changes > 0) {
        *deleted = (size_t)changes;
        vacuum_wake(self);
    }
    return ok;
}

void sqlite_usage_install(struct store *store) {
    store->read_usage = store_read_usage;
    store->list_usage = store_list_usage;
    store->prune_runs = store_prune_runs;
}
