/* Below all of the SQLite store: its three connections, transactions and statements.
 *
 * One connection writes and two read: one small values, for callers that must not wait, the other large ones.
 * Each has a lock, and in WAL mode a reader never waits for a writer. The helpers here keep the SQL files
 * short: a statement is prepared once, bound from a format string and reset by whoever stepped it. Only
 * sqlite*.c include this. */
#ifndef ATTNLAB_SERVER_STORE_SQLITE_CONNECTION_H
#define ATTNLAB_SERVER_STORE_SQLITE_CONNECTION_H

#include "server/store/store.h"

#include <pthread.h>
#include <sqlite3.h>

enum { STATEMENT_LIMIT = 64 };

struct connection {
    sqlite3 *database;
    pthread_mutex_t mutex;
    bool synchronous_full; /* what PRAGMA synchronous is set to */
    /* Prepared statements by the address of their (literal) text. */
    const char *texts[STATEMENT_LIMIT];
    sqlite3_stmt *statements[STATEMENT_LIMIT];
    size_t statement_count;
};

struct sqlite_store {
    struct store interface; /* first: a struct store * is a struct sqlite_store * */
    struct connection writer;
    struct connection reader;      /* of a row or a few */
    struct connection bulk_reader; /* of large values and long lists */
    int lock_file;                 /* held locked while the store is open */
    uint64_t generation;
    char path[4096]; /* of the database */
};

static inline struct sqlite_store *sqlite_store_of(struct store *store) {
    return (struct sqlite_store *)store;
}

/* Records what SQLite says of its last failure on `database`. Returns false. */
bool sqlite_error_set(struct error *error, sqlite3 *database, int code);

/* `flags`: those of sqlite3_open_v2. With SQLITE_OPEN_CREATE the file is made if it is missing. */
bool connection_open(struct connection *connection, const char *path, int flags, struct error *error);
void connection_close(struct connection *connection);

/* Locks the writer and begins; `durable`: a commit survives a power cut. When it returns false nothing is
 * locked. transaction_end commits where `ok`, rolls back otherwise, unlocks, and returns whether it is
 * committed. */
bool transaction_begin(struct sqlite_store *store, bool durable, struct error *error);
bool transaction_end(struct sqlite_store *store, bool ok, struct error *error);

/* The statement of a literal text, bound: `format` has one letter a value: t text or NULL (const char *), i
 * int64_t, z size_t, r double (NAN: null), b blob (const void *, size_t). Borrowed values must
 * outlive the stepping. NULL on failure. The connection must be locked. */
sqlite3_stmt *statement_bind(struct connection *connection, struct error *error, const char *text,
                             const char *format, ...);
/* Steps a statement that gives no rows; resets it. *changes (may be NULL): rows changed. */
bool statement_run(struct connection *connection, sqlite3_stmt *statement, int *changes, struct error *error);
/* True while there is a row. At the end, or on failure (then *ok is cleared and error set), resets it. */
bool statement_next(struct connection *connection, sqlite3_stmt *statement, bool *ok, struct error *error);
void statement_reset(sqlite3_stmt *statement);
/* bind and run at once. */
#define STATEMENT_EXECUTE(connection, error, ...)                                                            \
    statement_run(connection, statement_bind(connection, error, __VA_ARGS__), NULL, error)

/* A column's text or blob, copied; NULL for null. Clears *ok when out of memory. */
char *column_text(sqlite3_stmt *statement, int column, bool *ok, struct error *error);
void *column_blob(sqlite3_stmt *statement, int column, size_t *size, bool *ok, struct error *error);
void column_identifier(sqlite3_stmt *statement, int column, char id[ID_SIZE]);

/* What a row becomes: `read` fills in a record of `size` bytes that was zeroed, `clear` (may be NULL)
 * releases what it owns. */
struct row_kind {
    size_t size;
    bool (*read)(sqlite3_stmt *row, void *record, struct error *error);
    void (*clear)(void *record);
};
struct row_list {
    void *items; /* an array of records, malloc; NULL without any */
    size_t count;
};
/* All rows of a bound statement. On failure *ok is cleared, error set and the list empty. */
struct row_list statement_list(struct connection *connection, sqlite3_stmt *statement,
                               const struct row_kind *kind, bool *ok, struct error *error);

/* For statements (literal texts) with one parameter, the name of a row, which is a `what`: "run". These lock
 * the connection themselves. */
/* Reads the row into `record`. ERROR_MISSING if there is none; on failure the record is cleared. */
bool row_find(struct connection *connection, const struct row_kind *kind, const char *text, const char *what,
              const char *name, void *record, struct error *error);
/* The row's first column, copied (malloc); NULL if there is no such row. */
bool row_read_text(struct connection *connection, const char *text, const char *name, char **value,
                   struct error *error);
bool row_read_blob(struct connection *connection, const char *text, const char *name, void **bytes,
                   size_t *size, struct error *error);
/* Deletes the row, durably and in a transaction of its own. ERROR_MISSING if there is none. */
bool row_delete(struct sqlite_store *store, const char *text, const char *what, const char *name,
                struct error *error);

#endif
