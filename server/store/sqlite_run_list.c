/* Lists of runs in the SQLite store, newest first.
 *
 * Every combination of filters has a query of its own and an index that ends with the id, so a list reads
 * only the rows that it returns, however many runs there are. If a page of the table is damaged, the list is
 * read again run by run, and the runs on that page are shown as damaged. */
#include "server/store/sqlite_parts.h"

#include <stdlib.h>
#include <string.h>

/* The filters that may be combined. A comparison has few runs, so its index serves with all others; the signs
 * keep SQLite from choosing theirs. */
enum { BY_STATE = 1, BY_EXPERIMENT = 2, BY_OWNER = 4, BY_COMPARISON = 8, QUERY_COUNT = 9 };

#define STATE      " AND state = ?1"
#define EXPERIMENT " AND experiment = ?2"
#define OWNER      " AND owner = ?4"
#define COMPARISON                                                                                           \
    " AND comparison = ?3 AND (?1 < 0 OR +state = ?1) AND (?2 IS NULL OR +experiment = ?2)"                  \
    " AND (?4 IS NULL OR +owner = ?4)"
#define QUERY(columns, conditions)                                                                           \
    "SELECT " columns " FROM runs WHERE id < ?5" conditions " ORDER BY id DESC LIMIT ?6"
#define QUERIES(columns)                                                                                     \
    {                                                                                                        \
        QUERY(columns, ""), QUERY(columns, STATE), QUERY(columns, EXPERIMENT),                               \
            QUERY(columns, STATE EXPERIMENT), QUERY(columns, OWNER), QUERY(columns, STATE OWNER),            \
            QUERY(columns, EXPERIMENT OWNER), QUERY(columns, STATE EXPERIMENT OWNER),                        \
            QUERY(columns, COMPARISON)                                                                       \
    }

static const char *const record_queries[QUERY_COUNT] = QUERIES(RUN_COLUMNS);
static const char *const id_queries[QUERY_COUNT] = QUERIES("id");

static size_t choose_query(const struct run_filter *filter) {
    if (filter->comparison != NULL)
        return BY_COMPARISON;
    return (filter->state >= 0 ? BY_STATE : 0) | (filter->experiment != NULL ? BY_EXPERIMENT : 0) |
           (filter->owner != NULL ? BY_OWNER : 0);
}

/* Reads all rows of a query. "~" is after every id. */
static bool list(struct connection *reader, const char *query, const struct run_filter *filter,
                 const struct row_kind *kind, struct row_list *rows, struct error *error) {
    bool ok = true;
    pthread_mutex_lock(&reader->mutex);
    sqlite3_stmt *statement = statement_bind(reader, error, query, "ittttz", (int64_t)filter->state,
                                             filter->experiment, filter->comparison, filter->owner,
                                             filter->before != NULL ? filter->before : "~", filter->limit);
    *rows = statement_list(reader, statement, kind, &ok, error);
    pthread_mutex_unlock(&reader->mutex);
    return ok;
}

/* What is shown of a run whose row cannot be read. */
static bool make_unreadable(struct run_record *run, const char id[ID_SIZE], struct error *error) {
    *run = (struct run_record){.state = RUN_FAILED, .is_damaged = true};
    memcpy(run->id, id, ID_SIZE);
    run->experiment = strdup("");
    run->name = strdup("");
    run->parameters_json = strdup("{}");
    run->owner = strdup("");
    if (run->experiment != NULL && run->name != NULL && run->parameters_json != NULL && run->owner != NULL)
        return true;
    run_record_clear(run);
    return error_set_memory(error, sizeof *run);
}

/* Lists the ids from an index, then reads each run. */
static bool list_one_by_one(struct sqlite_store *store, const struct run_filter *filter,
                            struct row_list *runs, struct error *error) {
    struct row_list ids;
    if (!list(&store->bulk_reader, id_queries[choose_query(filter)], filter, &sqlite_id_rows, &ids, error))
        return false;
    struct run_record *records = calloc(ids.count + 1, sizeof *records);
    bool ok = true;
    size_t count = 0;
    if (records == NULL) {
        free(ids.items);
        return error_set_memory(error, ids.count * sizeof *records);
    }
    for (; ok && count < ids.count; count++) {
        const char *id = (const char *)ids.items + count * ID_SIZE;
        struct error failure = {0};
        if (!store->interface.find_run(&store->interface, id, &records[count], &failure))
            ok = failure.code == ERROR_DAMAGED || failure.code == ERROR_MISSING
                     ? make_unreadable(&records[count], id, error)
                     : error_set(error, failure.code, "%s", failure.message);
        run_record_drop_large(&records[count]);
    }
    free(ids.items);
    if (ok)
        *runs = (struct row_list){records, count};
    else
        run_records_free(records, count);
    return ok;
}

static bool store_list_runs(struct store *store, const struct run_filter *filter, struct run_record **runs,
                            size_t *count, struct error *error) {
    struct sqlite_store *self = sqlite_store_of(store);
    struct row_list rows = {0};
    struct error failure = {0};
    bool ok = list(&self->bulk_reader, record_queries[choose_query(filter)], filter, &sqlite_listed_run_rows,
                   &rows, &failure);
    if (!ok && failure.code == ERROR_DAMAGED)
        ok = list_one_by_one(self, filter, &rows, error);
    else if (!ok)
        error_set(error, failure.code, "%s", failure.message);
    *runs = rows.items;
    *count = rows.count;
    return ok;
}

void sqlite_run_list_install(struct store *store) {
    store->list_runs = store_list_runs;
}
