/* Events and settings in the SQLite store. */
#include "server/store/sqlite_parts.h"

#include <stdlib.h>

bool sqlite_events_insert(struct connection *writer, const struct event_record *events, size_t count,
                          struct error *error) {
    for (size_t i = 0; i < count; i++)
        if (!STATEMENT_EXECUTE(
                writer, error, "INSERT INTO events (id, run, kind, payload) VALUES (?, ?, ?, ?)", "itit",
                (int64_t)events[i].id, events[i].run_id, (int64_t)events[i].kind, events[i].payload))
            return false;
    return true;
}

static bool read_event(sqlite3_stmt *row, void *record, struct error *error) {
    struct event_record *event = record;
    bool ok = true;
    event->id = (uint64_t)sqlite3_column_int64(row, 0);
    column_identifier(row, 1, event->run_id);
    sqlite3_int64 kind = sqlite3_column_int64(row, 2);
    event->is_damaged = kind < EVENT_STATE || kind > EVENT_END;
    event->kind = event->is_damaged ? EVENT_STATE : (enum event_kind)kind;
    event->payload = column_text(row, 3, &ok, error);
    return ok;
}

static void clear_event(void *record) {
    free(((struct event_record *)record)->payload);
}

static const struct row_kind event_rows = {sizeof(struct event_record), read_event, clear_event};

static bool store_read_events(struct store *store, const char *run_id, uint64_t after, uint64_t before,
                              size_t limit, struct event_record **events, size_t *count,
                              struct error *error) {
    struct connection *reader = &sqlite_store_of(store)->reader;
    bool ok = true;
    pthread_mutex_lock(&reader->mutex);
    sqlite3_stmt *statement =
        run_id != NULL
            ? statement_bind(reader, error,
                             "SELECT id, run, kind, payload FROM events WHERE run = ? AND id > ? AND id < ?"
                             " ORDER BY id LIMIT ?",
                             "tiiz", run_id, (int64_t)after, (int64_t)before, limit)
            : statement_bind(reader, error,
                             "SELECT id, run, kind, payload FROM events WHERE id > ? AND id < ?"
                             " ORDER BY id LIMIT ?",
                             "iiz", (int64_t)after, (int64_t)before, limit);
    struct row_list list = statement_list(reader, statement, &event_rows, &ok, error);
    pthread_mutex_unlock(&reader->mutex);
    *events = list.items;
    *count = list.count;
    return ok;
}

static bool store_read_setting(struct store *store, const char *name, char **value, struct error *error) {
    return row_read_text(&sqlite_store_of(store)->reader, "SELECT value FROM settings WHERE name = ?", name,
                         value, error);
}

static bool write_setting_once(struct sqlite_store *self, const char *name, const char *value,
                               struct error *error) {
    if (!transaction_begin(self, true, error))
        return false;
    bool ok = STATEMENT_EXECUTE(&self->writer, error, "INSERT OR REPLACE INTO settings VALUES (?, ?)", "tt",
                                name, value);
    return transaction_end(self, ok, error);
}

/* Signing in needs this, so it must work on a full disk. */
static bool store_write_setting(struct store *store, const char *name, const char *value,
                                struct error *error) {
    struct sqlite_store *self = sqlite_store_of(store);
    struct error failure = {0};
    bool ok = write_setting_once(self, name, value, &failure);
    if (!ok && make_last_room(self, &failure))
        ok = write_setting_once(self, name, value, &failure);
    return ok || error_set(error, failure.code, "%s", failure.message);
}

void sqlite_events_install(struct store *store) {
    store->read_events = store_read_events;
    store->read_setting = store_read_setting;
    store->write_setting = store_write_setting;
}
