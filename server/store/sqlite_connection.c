/* Connections, transactions and statements of the SQLite store, and messages for SQLite's failures: see
 * sqlite_connection.h. */
#include "server/store/sqlite_connection.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Leaves a mark beside the database, so that it is checked as a whole at the next start. */
static void mark_for_check(sqlite3 *database) {
    char mark[4200];
    const char *path = database != NULL ? sqlite3_db_filename(database, "main") : NULL;
    if (path == NULL || path[0] == '\0')
        return;
    snprintf(mark, sizeof mark, "%s" SQLITE_CHECK_SUFFIX, path);
    int file = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0)
        close(file);
}

/* The head of each page, and the pages of tables and indexes that a small value may add. */
enum { PAGE_OVERHEAD_PART = 128, SMALL_OVERHEAD = 64 << 10 };

bool sqlite_error_set(struct error *error, sqlite3 *database, int code) {
    int system_error = database != NULL ? sqlite3_system_errno(database) : 0;
    switch (code & 0xff) {
    case SQLITE_FULL:
        return error_set(error, ERROR_UNAVAILABLE, "the disk with the data directory is full");
    case SQLITE_IOERR:
        if (system_error == ENOSPC || system_error == EDQUOT)
            return error_set(error, ERROR_UNAVAILABLE, "the disk with the data directory is full");
        return error_set(error, ERROR_UNAVAILABLE, "the data directory cannot be read or written: %s",
                         system_error != 0 ? strerror(system_error) : sqlite3_errmsg(database));
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return error_set(error, ERROR_UNAVAILABLE, "the database cannot be opened for writing: %s",
                         system_error != 0 ? strerror(system_error) : sqlite3_errstr(code));
    case SQLITE_NOMEM:
        return error_set(error, ERROR_MEMORY, "out of memory in the database");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_set(error, ERROR_UNAVAILABLE, "another program has locked the database");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        mark_for_check(database);
        return error_set(error, ERROR_DAMAGED,
                         "the database is damaged (%s); it is checked at the next start of attnlab, and "
                         "set aside if need be",
                         sqlite3_errstr(code));
    case SQLITE_TOOBIG:
        return error_set(error, ERROR_TOO_LARGE, "a value is too large for the database");
    default:
        return error_set(error, ERROR_INTERNAL, "the database failed: %s",
                         database != NULL ? sqlite3_errmsg(database) : sqlite3_errstr(code));
    }
}

bool connection_open(struct connection *connection, const char *path, int flags, struct error *error) {
    /* Create the file here, readable only by its owner; SQLite gives its other files the same mode. Do not
     * open it again for the readers: closing any descriptor of a file drops this process's locks on it. */
    int file = flags & SQLITE_OPEN_CREATE ? open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    if (file >= 0)
        close(file);
    int code = sqlite3_open_v2(path, &connection->database, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK)
        return sqlite_error_set(error, connection->database, code);
    sqlite3_extended_result_codes(connection->database, 1);
    sqlite3_busy_timeout(connection->database, 5000);
    return true;
}

void connection_close(struct connection *connection) {
    for (size_t i = 0; i < connection->statement_count; i++)
        sqlite3_finalize(connection->statements[i]);
    connection->statement_count = 0;
    sqlite3_close(connection->database);
    connection->database = NULL;
}

/* SQLite may have rolled back by itself, as on a full disk. If memory has run out, rolling back may fail too;
 * the next transaction then does it before it begins. */
static int roll_back(sqlite3 *database) {
    return sqlite3_get_autocommit(database) ? SQLITE_OK
                                            : sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
}

void connection_shorten_log(struct connection *writer) {
    sqlite3_wal_checkpoint_v2(writer->database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

/* New data goes to the log first, then from there to the database: to its free pages, then to its end. What
 * is in the log already may need that room too, unless the log is shortened. */
static bool check_room(struct sqlite_store *store, size_t bytes, struct error *error) {
    struct stat log = {0};
    char path[4200];
    byte_count stored = (byte_count)bytes + bytes / PAGE_OVERHEAD_PART + SMALL_OVERHEAD;
    byte_count reused = (byte_count)atomic_load(&store->free_pages) * STORE_PAGE_SIZE;
    byte_count wanted = stored + (stored > reused ? stored - reused : 0);
    snprintf(path, sizeof path, "%s-wal", store->path);
    byte_count logged = stat(path, &log) == 0 ? (byte_count)log.st_size : 0;
    if (disk_room_check(&store->room, wanted + logged, NULL))
        return true;
    connection_shorten_log(&store->writer);
    return disk_room_check(&store->room, wanted, error);
}

bool transaction_begin(struct sqlite_store *store, bool durable, struct error *error) {
    return transaction_begin_storing(store, durable, 0, error);
}

bool transaction_begin_storing(struct sqlite_store *store, bool durable, size_t bytes, struct error *error) {
    struct connection *writer = &store->writer;
    pthread_mutex_lock(&writer->mutex);
    int code = roll_back(writer->database);
    if (bytes > 0 && code == SQLITE_OK && !check_room(store, bytes, error)) {
        pthread_mutex_unlock(&writer->mutex);
        return false;
    }
    disk_room_make(&store->room);
    if (code == SQLITE_OK && writer->synchronous_full != durable) {
        const char *pragma = durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL";
        code = sqlite3_exec(writer->database, pragma, NULL, NULL, NULL);
        if (code == SQLITE_OK)
            writer->synchronous_full = durable;
    }
    if (code == SQLITE_OK)
        code = sqlite3_exec(writer->database, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        return true;
    sqlite_error_set(error, writer->database, code);
    roll_back(writer->database);
    pthread_mutex_unlock(&writer->mutex);
    return false;
}

static bool is_full_disk(int code) {
    return (code & 0xff) == SQLITE_FULL || (code & 0xff) == SQLITE_IOERR;
}

static size_t read_count(struct connection *connection, const char *text) {
    bool ok = true;
    size_t count = 0;
    sqlite3_stmt *statement = statement_bind(connection, NULL, text, "");
    while (statement_next(connection, statement, &ok, NULL))
        count = (size_t)sqlite3_column_int64(statement, 0);
    return count;
}

void transaction_count_pages(struct sqlite_store *store) {
    atomic_store(&store->pages, read_count(&store->writer, "PRAGMA page_count"));
    atomic_store(&store->free_pages, read_count(&store->writer, "PRAGMA freelist_count"));
}

bool transaction_end(struct sqlite_store *store, bool ok, struct error *error) {
    struct connection *writer = &store->writer;
    int code = sqlite3_errcode(writer->database);
    if (ok) {
        code = sqlite3_exec(writer->database, "COMMIT", NULL, NULL, NULL);
        ok = code == SQLITE_OK || sqlite_error_set(error, writer->database, code);
    }
    if (ok)
        transaction_count_pages(store);
    else
        roll_back(writer->database);
    if (!ok && is_full_disk(code)) {
        disk_room_give_up(&store->room, false);
        connection_shorten_log(writer);
    }
    pthread_mutex_unlock(&writer->mutex);
    return ok;
}

static sqlite3_stmt *statement_prepare(struct connection *connection, const char *text, struct error *error) {
    for (size_t i = 0; i < connection->statement_count; i++)
        if (connection->texts[i] == text)
            return connection->statements[i];
    if (connection->statement_count == STATEMENT_LIMIT) {
        error_set(error, ERROR_INTERNAL, "too many prepared statements");
        return NULL;
    }
    sqlite3_stmt *statement = NULL;
    int code =
        sqlite3_prepare_v3(connection->database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
    if (code != SQLITE_OK) {
        sqlite_error_set(error, connection->database, code);
        return NULL;
    }
    connection->texts[connection->statement_count] = text;
    connection->statements[connection->statement_count++] = statement;
    return statement;
}

static int bind_value(sqlite3_stmt *statement, int index, char type, va_list *values) {
    switch (type) {
    case 't': {
        const char *text = va_arg(*values, const char *);
        return text == NULL ? sqlite3_bind_null(statement, index)
                            : sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
    }
    case 'i':
        return sqlite3_bind_int64(statement, index, va_arg(*values, int64_t));
    case 'z':
        return sqlite3_bind_int64(statement, index, (sqlite3_int64)va_arg(*values, size_t));
    case 'r': {
        double value = va_arg(*values, double);
        return isfinite(value) ? sqlite3_bind_double(statement, index, value)
                               : sqlite3_bind_null(statement, index);
    }
    case 'b': {
        const void *bytes = va_arg(*values, const void *);
        size_t size = va_arg(*values, size_t);
        return size == 0 ? sqlite3_bind_zeroblob(statement, index, 0)
                         : sqlite3_bind_blob64(statement, index, bytes, size, SQLITE_STATIC);
    }
    default:
        return SQLITE_MISUSE;
    }
}

sqlite3_stmt *statement_bind(struct connection *connection, struct error *error, const char *text,
                             const char *format, ...) {
    sqlite3_stmt *statement = statement_prepare(connection, text, error);
    if (statement == NULL)
        return NULL;
    va_list values;
    va_start(values, format);
    int code = SQLITE_OK;
    for (int i = 0; format[i] != '\0' && code == SQLITE_OK; i++)
        code = bind_value(statement, i + 1, format[i], &values);
    va_end(values);
    if (code == SQLITE_OK)
        return statement;
    sqlite_error_set(error, connection->database, code);
    statement_reset(statement);
    return NULL;
}

void statement_reset(sqlite3_stmt *statement) {
    if (statement == NULL)
        return;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

bool statement_run(struct connection *connection, sqlite3_stmt *statement, int *changes,
                   struct error *error) {
    if (statement == NULL)
        return false;
    int code = sqlite3_step(statement);
    bool ok = code == SQLITE_DONE || sqlite_error_set(error, connection->database, code);
    if (changes != NULL)
        *changes = sqlite3_changes(connection->database);
    statement_reset(statement);
    return ok;
}

bool statement_next(struct connection *connection, sqlite3_stmt *statement, bool *ok, struct error *error) {
    if (statement == NULL) {
        *ok = false;
        return false;
    }
    int code = *ok ? sqlite3_step(statement) : SQLITE_DONE;
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        *ok = sqlite_error_set(error, connection->database, code);
    statement_reset(statement);
    return false;
}

void *column_blob(sqlite3_stmt *statement, int column, size_t *size, bool *ok, struct error *error) {
    const void *bytes = sqlite3_column_blob(statement, column);
    *size = (size_t)sqlite3_column_bytes(statement, column);
    void *copy = malloc(*size + 1);
    if (copy == NULL) {
        *ok = error_set_memory(error, *size);
        return NULL;
    }
    if (*size > 0)
        memcpy(copy, bytes, *size);
    ((char *)copy)[*size] = '\0';
    return copy;
}

char *column_text(sqlite3_stmt *statement, int column, bool *ok, struct error *error) {
    size_t size = 0;
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return NULL;
    return column_blob(statement, column, &size, ok, error);
}

char *column_required_text(sqlite3_stmt *statement, int column, bool *is_damaged, bool *ok,
                           struct error *error) {
    bool is_text = sqlite3_column_type(statement, column) == SQLITE_TEXT;
    char *text = is_text ? column_text(statement, column, ok, error) : strdup("");
    *is_damaged |= !is_text;
    if (text == NULL)
        *ok = error_set_memory(error, 1);
    return text;
}

void column_short_text(sqlite3_stmt *statement, int column, char *text, size_t size) {
    const char *value = (const char *)sqlite3_column_text(statement, column);
    snprintf(text, size, "%s", value != NULL ? value : "");
}

void column_identifier(sqlite3_stmt *statement, int column, char id[ID_SIZE]) {
    column_short_text(statement, column, id, ID_SIZE);
}

/* Appends a zeroed item of `size` bytes. NULL if memory runs out. */
static void *list_grow(struct row_list *list, size_t size, struct error *error) {
    /* The capacity doubles at the powers of two, so it need not be stored. */
    if ((list->count & (list->count - 1)) == 0) {
        size_t capacity = list->count == 0 ? 1 : list->count * 2;
        void *grown = realloc(list->items, capacity * size);
        if (grown == NULL) {
            error_set_memory(error, capacity * size);
            return NULL;
        }
        list->items = grown;
    }
    void *item = (char *)list->items + list->count * size;
    memset(item, 0, size);
    list->count++;
    return item;
}

struct row_list statement_list(struct connection *connection, sqlite3_stmt *statement,
                               const struct row_kind *kind, bool *ok, struct error *error) {
    struct row_list list = {0};
    while (statement_next(connection, statement, ok, error)) {
        void *record = list_grow(&list, kind->size, error);
        *ok = record != NULL && kind->read(statement, record, error);
    }
    if (*ok)
        return list;
    for (size_t i = 0; kind->clear != NULL && i < list.count; i++)
        kind->clear((char *)list.items + i * kind->size);
    free(list.items);
    return (struct row_list){0};
}

static bool set_missing(struct error *error, const char *what, const char *name) {
    return error_set(error, ERROR_MISSING, "there is no %s %.80s", what, name);
}

bool row_find(struct connection *connection, const struct row_kind *kind, const char *text, const char *what,
              const char *name, void *record, struct error *error) {
    bool ok = true, found = false;
    memset(record, 0, kind->size);
    pthread_mutex_lock(&connection->mutex);
    sqlite3_stmt *statement = statement_bind(connection, error, text, "t", name);
    while (statement_next(connection, statement, &ok, error)) {
        found = true;
        ok = kind->read(statement, record, error);
    }
    pthread_mutex_unlock(&connection->mutex);
    if (ok && !found)
        ok = set_missing(error, what, name);
    if (!ok && kind->clear != NULL)
        kind->clear(record);
    return ok;
}

bool row_read_text(struct connection *connection, const char *text, const char *name, char **value,
                   struct error *error) {
    bool ok = true;
    *value = NULL;
    pthread_mutex_lock(&connection->mutex);
    sqlite3_stmt *statement = statement_bind(connection, error, text, "t", name);
    while (statement_next(connection, statement, &ok, error))
        *value = column_text(statement, 0, &ok, error);
    pthread_mutex_unlock(&connection->mutex);
    return ok;
}

bool row_read_blob(struct connection *connection, const char *text, const char *name, void **bytes,
                   size_t *size, struct error *error) {
    bool ok = true;
    *bytes = NULL;
    *size = 0;
    pthread_mutex_lock(&connection->mutex);
    sqlite3_stmt *statement = statement_bind(connection, error, text, "t", name);
    while (statement_next(connection, statement, &ok, error))
        *bytes = column_blob(statement, 0, size, &ok, error);
    pthread_mutex_unlock(&connection->mutex);
    return ok;
}

void vacuum_wake(struct sqlite_store *store) {
    pthread_mutex_lock(&store->vacuum.mutex);
    store->vacuum.is_wanted = true;
    pthread_cond_signal(&store->vacuum.changed);
    pthread_mutex_unlock(&store->vacuum.mutex);
}

bool make_last_room(struct sqlite_store *store, struct error *failure) {
    if (failure->code != ERROR_UNAVAILABLE || atomic_load(&store->room.held) == 0)
        return false;
    disk_room_give_up(&store->room, true);
    *failure = (struct error){0};
    return true;
}

static bool delete_once(struct sqlite_store *store, const char *text, const char *what, const char *name,
                        struct error *error) {
    if (!transaction_begin(store, true, error))
        return false;
    int changes = 0;
    sqlite3_stmt *statement = statement_bind(&store->writer, error, text, "t", name);
    bool ok = statement_run(&store->writer, statement, &changes, error);
    if (ok && changes == 0)
        ok = set_missing(error, what, name);
    return transaction_end(store, ok, error);
}

bool row_delete(struct sqlite_store *store, const char *text, const char *what, const char *name,
                struct error *error) {
    struct error failure = {0};
    bool ok = delete_once(store, text, what, name, &failure);
    if (!ok && make_last_room(store, &failure))
        ok = delete_once(store, text, what, name, &failure);
    if (!ok)
        return error_set(error, failure.code, "%s", failure.message);
    vacuum_wake(store);
    return true;
}
