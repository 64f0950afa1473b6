/* The lowest layer of the SQLite store: its three connections, transactions and statements.
 *
 * One connection writes. Two read: one reads small values, for callers that must not wait, the other large
 * values. Each has a lock; in WAL mode a reader never waits for a writer. The helpers keep the SQL files
 * short: a statement is prepared once, bound from a format string and reset by the function that stepped it.
 * Only sqlite*.c include this. */
#ifndef ATTNLAB_SERVER_STORE_SQLITE_CONNECTION_H
#define ATTNLAB_SERVER_STORE_SQLITE_CONNECTION_H

#include "server/store/sqlite_room.h"
#include "server/store/store.h"

#include <pthread.h>
#include <sqlite3.h>

/* Pages of 8 KiB suit values of 20 to 100 KB. */
enum { STATEMENT_LIMIT = 64, STORE_PAGE_SIZE = 8192 };

struct connection {
    sqlite3 *database;
    pthread_mutex_t mutex;
    bool synchronous_full; /* whether PRAGMA synchronous is FULL, not NORMAL */
    /* Prepared statements by the address of their (literal) text. */
    const char *texts[STATEMENT_LIMIT];
    sqlite3_stmt *statements[STATEMENT_LIMIT];
    size_t statement_count;
};

/* The thread of sqlite_vacuum.c. */
struct vacuum {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_started, is_wanted; /* is_wanted: guarded by the mutex */
    _Atomic bool is_stopping;
};

struct sqlite_store {
    struct store interface; /* first: a struct store * is a struct sqlite_store * */
    struct connection writer;
    struct connection reader;      /* for one row or a few */
    struct connection bulk_reader; /* for large values and long lists */
    int lock_file;                 /* locked while the store is open */
    uint64_t generation;
    struct disk_room room;
    struct vacuum vacuum;
    _Atomic size_t pages, free_pages; /* of the database, after the newest transaction */
    char path[4096];                  /* of the database */
};

static inline struct sqlite_store *sqlite_store_of(struct store *store) {
    return (struct sqlite_store *)store;
}

/* A file of this name beside the database says that damage was found in it. */
#define SQLITE_CHECK_SUFFIX ".check"

/* Describes SQLite's failure `code` on `database` in `error`. Returns false. */
bool sqlite_error_set(struct error *error, sqlite3 *database, int code);

/* `flags` are those of sqlite3_open_v2. With SQLITE_OPEN_CREATE a missing file is created. */
bool connection_open(struct connection *connection, const char *path, int flags, struct error *error);
void connection_close(struct connection *connection);

/* transaction_begin locks the writer and begins; if it returns false, nothing is locked. If `durable`, the
 * commit survives a power cut. transaction_end commits if `ok` and rolls back if not, unlocks the writer, and
 * returns whether it committed. transaction_begin_storing is for `bytes` of new data; ERROR_UNAVAILABLE if
 * the disk has no room for them beside the margin (sqlite_room.h). All other transactions may use the room to
 * the last byte, and the reserve too. */
bool transaction_begin(struct sqlite_store *store, bool durable, struct error *error);
bool transaction_begin_storing(struct sqlite_store *store, bool durable, size_t bytes, struct error *error);
bool transaction_end(struct sqlite_store *store, bool ok, struct error *error);
/* Reads how many pages the database has. The writer must be locked. */
void transaction_count_pages(struct sqlite_store *store);
/* After a full disk has made a small transaction fail, gives up all that is left of the reserve. Returns
 * whether it is worth while to try again, and then clears the failure. */
bool make_last_room(struct sqlite_store *store, struct error *failure);
/* Moves as much of the log as possible into the database and truncates it. On a full disk this makes room for
 * small changes, such as recording that a run has failed. The writer must be locked, and in no transaction.
 */
void connection_shorten_log(struct connection *writer);
/* Says that something was deleted, so that the file may shrink. Does not wait. */
void vacuum_wake(struct sqlite_store *store);

/* Prepares `text`, which must be a literal, and binds the values. `format` has one letter per value: t text
 * or NULL (const char *), i int64_t, z size_t, r double (null if not finite), b blob (const void *, size_t).
 * Borrowed values must outlive the stepping. NULL on failure. The connection must be locked. */
sqlite3_stmt *statement_bind(struct connection *connection, struct error *error, const char *text,
                             const char *format, ...);
/* Steps a statement that returns no rows, then resets it. Sets *changes, unless it is NULL, to the number of
 * changed rows. */
bool statement_run(struct connection *connection, sqlite3_stmt *statement, int *changes, struct error *error);
/* Returns true while there is a row. Resets the statement at the end and on failure, which also clears *ok
 * and sets the error. */
bool statement_next(struct connection *connection, sqlite3_stmt *statement, bool *ok, struct error *error);
void statement_reset(sqlite3_stmt *statement);
/* Binds and runs a statement. */
#define STATEMENT_EXECUTE(connection, error, ...)                                                            \
    statement_run(connection, statement_bind(connection, error, __VA_ARGS__), NULL, error)

/* A copy of a column's text or blob; NULL for a null text. Clears *ok if memory runs out. */
char *column_text(sqlite3_stmt *statement, int column, bool *ok, struct error *error);
/* For a column that is never null. If it is null or not a text, because it was damaged, sets *is_damaged and
 * returns a copy of "". */
char *column_required_text(sqlite3_stmt *statement, int column, bool *is_damaged, bool *ok,
                           struct error *error);
/* Copies a short text, as much as fits; "" if the column is null. */
void column_short_text(sqlite3_stmt *statement, int column, char *text, size_t size);
void *column_blob(sqlite3_stmt *statement, int column, size_t *size, bool *ok, struct error *error);
void column_identifier(sqlite3_stmt *statement, int column, char id[ID_SIZE]);

/* How to turn a row into a record: `read` fills in a zeroed record of `size` bytes; `clear` (may be NULL)
 * releases the memory that the record owns. */
struct row_kind {
    size_t size;
    bool (*read)(sqlite3_stmt *row, void *record, struct error *error);
    void (*clear)(void *record);
};
struct row_list {
    void *items; /* an array of records (malloc); NULL if there are none */
    size_t count;
};
/* All rows of a bound statement. On failure clears *ok, sets the error and returns an empty list. */
struct row_list statement_list(struct connection *connection, sqlite3_stmt *statement,
                               const struct row_kind *kind, bool *ok, struct error *error);

/* The row_ functions run a statement (a literal text) whose one parameter is the name of a row. `what` is the
 * kind of row for messages, such as "run". They lock the connection themselves. */
/* Reads the row into `record`. ERROR_MISSING if there is none; on failure the record is cleared. */
bool row_find(struct connection *connection, const struct row_kind *kind, const char *text, const char *what,
              const char *name, void *record, struct error *error);
/* The row's first column, copied (malloc); NULL if there is no such row. */
bool row_read_text(struct connection *connection, const char *text, const char *name, char **value,
                   struct error *error);
bool row_read_blob(struct connection *connection, const char *text, const char *name, void **bytes,
                   size_t *size, struct error *error);
/* Deletes the row durably, in its own transaction. ERROR_MISSING if there is none. */
bool row_delete(struct sqlite_store *store, const char *text, const char *what, const char *name,
                struct error *error);

#endif
