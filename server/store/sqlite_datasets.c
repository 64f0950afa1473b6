/* The user's data sets in the SQLite store, and the cache. */
#include "server/store/sqlite_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum { CACHE_BYTES_LIMIT = 64 * 1024 * 1024 };

#define DATASET_COLUMNS                                                                                      \
    "name, format, created_ms, row_count, class_count, word_count, is_text, owner, length(bytes), digest"

static bool read_dataset_row(sqlite3_stmt *row, void *record, struct error *error) {
    struct dataset_record *dataset = record;
    bool ok = true, is_damaged = false; /* the digest will not fit */
    column_short_text(row, 0, dataset->name, sizeof dataset->name);
    column_short_text(row, 1, dataset->format, sizeof dataset->format);
    dataset->created_ms = sqlite3_column_int64(row, 2);
    dataset->row_count = (size_t)sqlite3_column_int64(row, 3);
    dataset->class_count = (size_t)sqlite3_column_int64(row, 4);
    dataset->word_count = (size_t)sqlite3_column_int64(row, 5);
    dataset->is_text = sqlite3_column_int(row, 6) != 0;
    dataset->owner = column_required_text(row, 7, &is_damaged, &ok, error);
    dataset->size_bytes = (size_t)sqlite3_column_int64(row, 8);
    column_short_text(row, 9, dataset->digest, sizeof dataset->digest);
    return ok;
}

static bool store_add_dataset(struct store *store, const struct dataset_record *dataset, const void *bytes,
                              struct error *error) {
    struct sqlite_store *self = sqlite_store_of(store);
    if (!transaction_begin_storing(self, true, dataset->size_bytes + 1, error))
        return false;
    int changes = 0;
    sqlite3_stmt *statement = statement_bind(
        &self->writer, error,
        "INSERT INTO datasets (name, format, created_ms, row_count, class_count, word_count, is_text, owner,"
        " bytes, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
        "ttizzzitbt", dataset->name, dataset->format, dataset->created_ms, dataset->row_count,
        dataset->class_count, dataset->word_count, (int64_t)dataset->is_text, dataset->owner, bytes,
        dataset->size_bytes, dataset->digest);
    bool ok = statement_run(&self->writer, statement, &changes, error);
    if (ok && changes == 0)
        ok = error_set(error, ERROR_CONFLICT, "there is already a data set %s", dataset->name);
    return transaction_end(self, ok, error);
}

static void clear_dataset(void *record) {
    dataset_record_clear(record);
}

static const struct row_kind dataset_rows = {sizeof(struct dataset_record), read_dataset_row, clear_dataset};

static bool store_list_datasets(struct store *store, const char *after, size_t limit,
                                struct dataset_record **datasets, size_t *count, struct error *error) {
    struct connection *reader = &sqlite_store_of(store)->reader;
    bool ok = true;
    pthread_mutex_lock(&reader->mutex);
    sqlite3_stmt *statement = statement_bind(
        reader, error, "SELECT " DATASET_COLUMNS " FROM datasets WHERE name > ? ORDER BY name LIMIT ?", "tz",
        after != NULL ? after : "", limit);
    struct row_list list = statement_list(reader, statement, &dataset_rows, &ok, error);
    pthread_mutex_unlock(&reader->mutex);
    *datasets = list.items;
    *count = list.count;
    return ok;
}

static bool store_find_dataset(struct store *store, const char *name, struct dataset_record *dataset,
                               struct error *error) {
    return row_find(&sqlite_store_of(store)->reader, &dataset_rows,
                    "SELECT " DATASET_COLUMNS " FROM datasets WHERE name = ?", "data set", name, dataset,
                    error);
}

static bool store_read_dataset(struct store *store, const char *digest, struct dataset_record *dataset,
                               void **bytes, size_t *size, struct error *error) {
    struct connection *reader = &sqlite_store_of(store)->bulk_reader;
    bool ok = true, found = false;
    void *contents = NULL;
    size_t contents_size = 0;
    *dataset = (struct dataset_record){0};
    pthread_mutex_lock(&reader->mutex);
    sqlite3_stmt *statement = statement_bind(
        reader, error, "SELECT " DATASET_COLUMNS ", bytes FROM datasets WHERE digest = ? LIMIT 1", "t",
        digest);
    while (statement_next(reader, statement, &ok, error)) {
        found = true;
        ok = read_dataset_row(statement, dataset, error);
        if (ok && bytes != NULL)
            contents = column_blob(statement, 10, &contents_size, &ok, error);
    }
    pthread_mutex_unlock(&reader->mutex);
    if (ok && !found)
        ok = error_set(error, ERROR_MISSING, "there is no data set with the digest %.80s", digest);
    if (!ok) {
        dataset_record_clear(dataset);
        free(contents);
        contents = NULL;
    }
    if (bytes != NULL) {
        *bytes = contents;
        *size = contents_size;
    }
    return ok;
}

/* The runs that need this data set: they have not ended, and no other data set has the same contents. */
static bool list_users(struct connection *writer, const char *name, struct run_ids *users,
                       struct error *error) {
    char unfinished[SQLITE_STATES_SIZE];
    bool ok = true;
    sqlite_write_unfinished_states(unfinished);
    sqlite3_stmt *statement = statement_bind(
        writer, error,
        "SELECT runs.id FROM runs WHERE runs.state IN (SELECT value FROM json_each(?2)) AND runs.dataset ="
        " (SELECT digest FROM datasets WHERE name = ?1 AND digest NOT IN"
        "  (SELECT digest FROM datasets WHERE name <> ?1)) ORDER BY runs.id",
        "tt", name, unfinished);
    struct row_list list = statement_list(writer, statement, &sqlite_id_rows, &ok, error);
    *users = (struct run_ids){list.items, list.count};
    return ok;
}

static bool delete_dataset_once(struct sqlite_store *self, const char *name, struct run_ids *users,
                                struct error *error) {
    int changes = 0;
    *users = (struct run_ids){0};
    if (!transaction_begin(self, true, error))
        return false;
    bool ok = list_users(&self->writer, name, users, error);
    if (ok && users->count > 0)
        ok = error_set(error, ERROR_CONFLICT,
                       "the data set %.80s is used by %zu runs that have not ended; cancel them first, or "
                       "wait until they have ended",
                       name, users->count);
    ok = ok &&
         statement_run(&self->writer,
                       statement_bind(&self->writer, error, "DELETE FROM datasets WHERE name = ?", "t", name),
                       &changes, error);
    if (ok && changes == 0)
        ok = error_set(error, ERROR_MISSING, "there is no data set %.80s", name);
    return transaction_end(self, ok, error);
}

static bool store_delete_dataset(struct store *store, const char *name, struct run_ids *users,
                                 struct error *error) {
    struct sqlite_store *self = sqlite_store_of(store);
    struct error failure = {0};
    bool ok = delete_dataset_once(self, name, users, &failure);
    if (!ok && make_last_room(self, &failure))
        ok = delete_dataset_once(self, name, users, &failure);
    if (!ok)
        return error_set(error, failure.code, "%s", failure.message);
    vacuum_wake(self);
    return true;
}

static bool store_get_cache(struct store *store, const char *key, void **bytes, size_t *size) {
    return row_read_blob(&sqlite_store_of(store)->bulk_reader, "SELECT bytes FROM cache WHERE key = ?", key,
                         bytes, size, NULL) &&
           *bytes != NULL;
}

static void store_put_cache(struct store *store, const char *key, const void *bytes, size_t size) {
    struct sqlite_store *self = sqlite_store_of(store);
    if (size > CACHE_BYTES_LIMIT || !transaction_begin_storing(self, false, size, NULL))
        return;
    /* A running total from the newest entry to the oldest finds the entries beyond the limit. */
    bool ok =
        STATEMENT_EXECUTE(&self->writer, NULL, "INSERT OR REPLACE INTO cache (key, bytes) VALUES (?, ?)",
                          "tb", key, bytes, size) &&
        STATEMENT_EXECUTE(&self->writer, NULL,
                          "DELETE FROM cache WHERE number IN (SELECT number FROM (SELECT number,"
                          " sum(length(bytes)) OVER (ORDER BY number DESC) AS total FROM cache)"
                          " WHERE total > ?)",
                          "i", (int64_t)CACHE_BYTES_LIMIT);
    transaction_end(self, ok, NULL);
}

void sqlite_datasets_install(struct store *store) {
    store->add_dataset = store_add_dataset;
    store->list_datasets = store_list_datasets;
    store->find_dataset = store_find_dataset;
    store->read_dataset = store_read_dataset;
    store->delete_dataset = store_delete_dataset;
    store->get_cache = store_get_cache;
    store->put_cache = store_put_cache;
}
