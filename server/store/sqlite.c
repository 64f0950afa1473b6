/* Opens, locks and closes the SQLite store.
 *
 * The database is DIRECTORY/attnlab.sqlite3 in WAL mode. Acknowledged transactions are synced to the disk
 * (synchronous = FULL: one fdatasync of the log per commit). An epoch's transaction only reaches the kernel
 * (NORMAL): it survives kill -9; after a power cut SQLite falls back to an earlier commit, and training goes
 * on from there to the same bits. While the store is open the process holds DIRECTORY/attnlab.lock with
 * flock. */
#include "server/store/sqlite.h"

#include "server/store/sqlite_connection.h"
#include "server/store/sqlite_parts.h"
#include "server/store/sqlite_schema.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Reading every page takes about a millisecond per megabyte, and the daemon should start in less than 100 ms.
 * The pages of larger databases are only checked when they are read. */
enum { CHECKED_SIZE_LIMIT = 32 * 1024 * 1024 };

static bool make_directory(const char *path, struct error *error) {
    char partial[4096];
    snprintf(partial, sizeof partial, "%s", path);
    for (char *slash = partial + 1; *slash != '\0'; slash++)
        if (*slash == '/') {
            *slash = '\0';
            mkdir(partial, 0755);
            *slash = '/';
        }
    struct stat status;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return error_set(error, ERROR_UNAVAILABLE, "cannot create the data directory %.300s: %s", path,
                         strerror(errno));
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return error_set(error, ERROR_UNAVAILABLE, "the data directory %.300s is not a directory", path);
    return true;
}

/* Opens and locks the lock file, and writes the process's id to it. -1 on failure. */
static int lock_directory(const char *directory, struct error *error) {
    char path[4096], holder[32] = "";
    snprintf(path, sizeof path, "%s/attnlab.lock", directory);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) {
        error_set(error, ERROR_UNAVAILABLE, "cannot write to the data directory %.300s: %s", directory,
                  strerror(errno));
        return -1;
    }
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        ssize_t length = pread(file, holder, sizeof holder - 1, 0);
        holder[length > 0 ? length : 0] = '\0';
        error_set(error, ERROR_CONFLICT,
                  "the data directory %.300s is in use by another attnlab (process %ld)", directory,
                  strtol(holder, NULL, 10));
        close(file);
        return -1;
    }
    int length = snprintf(holder, sizeof holder, "%ld\n", (long)getpid());
    if (ftruncate(file, 0) != 0 || pwrite(file, holder, (size_t)length, 0) != length) {
        error_set(error, ERROR_UNAVAILABLE, "cannot write to the data directory %.300s: %s", directory,
                  strerror(errno));
        close(file);
        return -1;
    }
    return file;
}

/* Whether the database is intact: checks all pages of a small database, and the first page of a large one. */
static bool database_is_sound(sqlite3 *database, const char *path) {
    struct stat status;
    bool small = stat(path, &status) == 0 && status.st_size <= CHECKED_SIZE_LIMIT;
    const char *query =
        small ? "PRAGMA quick_check(1)" : "SELECT 'ok' FROM (SELECT count(*) FROM sqlite_schema)";
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(database, query, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    bool sound = (code & 0xff) != SQLITE_CORRUPT && (code & 0xff) != SQLITE_NOTADB;
    if (code == SQLITE_ROW)
        sound = strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
    sqlite3_finalize(statement);
    return sound;
}

/* Renames the damaged database and its log to a name that is not in use. */
static bool set_aside(const char *path, char *warning, size_t warning_size, struct error *error) {
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char stamp[32], target[4200], from[4200], to[4300];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &utc);
    snprintf(target, sizeof target, "%s.damaged-%s", path, stamp);
    for (int copy = 2; access(target, F_OK) == 0; copy++)
        snprintf(target, sizeof target, "%s.damaged-%s-%d", path, stamp, copy);
    for (size_t i = 0; i < 3; i++) {
        snprintf(from, sizeof from, "%s%s", path, suffixes[i]);
        snprintf(to, sizeof to, "%s%s", target, suffixes[i]);
        if (rename(from, to) != 0 && errno != ENOENT)
            return error_set(error, ERROR_UNAVAILABLE,
                             "the database %.200s is damaged and cannot be renamed: %s", path,
                             strerror(errno));
    }
    snprintf(warning, warning_size, "the database was damaged; it is kept as %s and a new one is used",
             target);
    return true;
}

/* Pages of 8 KiB suit values of 20 to 100 KB. Temporary data stays in memory: temporary files would be opened
 * and unlinked in every epoch, and would need a writable /tmp. */
static bool writer_prepare(struct connection *writer, struct error *error) {
    int code = sqlite3_exec(writer->database,
                            "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                            "PRAGMA foreign_keys = ON;"
                            "PRAGMA wal_autocheckpoint = 8000; PRAGMA journal_size_limit = 33554432;"
                            "PRAGMA temp_store = MEMORY",
                            NULL, NULL, NULL);
    writer->synchronous_full = true;
    return code == SQLITE_OK || sqlite_error_set(error, writer->database, code);
}

static bool writer_open(struct sqlite_store *store, char *warning, size_t warning_size, struct error *error) {
    struct connection *writer = &store->writer;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (!connection_open(writer, store->path, flags, error))
        return false;
    if (!database_is_sound(writer->database, store->path)) {
        connection_close(writer);
        if (!set_aside(store->path, warning, warning_size, error) ||
            !connection_open(writer, store->path, flags, error))
            return false;
    }
    return writer_prepare(writer, error) && schema_migrate(writer->database, STORE_SCHEMA_VERSION, error);
}

static bool generation_advance(struct sqlite_store *store, struct error *error) {
    if (!transaction_begin(store, true, error))
        return false;
    bool ok = STATEMENT_EXECUTE(&store->writer, error,
                                "INSERT INTO settings VALUES ('generation', '1') ON CONFLICT (name)"
                                " DO UPDATE SET value = CAST(value AS INTEGER) + 1",
                                "");
    sqlite3_stmt *statement = statement_bind(&store->writer, error,
                                             "SELECT CAST(value AS INTEGER) FROM settings"
                                             " WHERE name = 'generation'",
                                             "");
    while (statement_next(&store->writer, statement, &ok, error))
        store->generation = (uint64_t)sqlite3_column_int64(statement, 0);
    return transaction_end(store, ok, error);
}

static uint64_t store_generation(struct store *store) {
    return sqlite_store_of(store)->generation;
}

static void store_close(struct store *store) {
    struct sqlite_store *self = sqlite_store_of(store);
    if (store == NULL)
        return;
    connection_close(&self->bulk_reader);
    connection_close(&self->reader);
    connection_close(&self->writer);
    pthread_mutex_destroy(&self->bulk_reader.mutex);
    pthread_mutex_destroy(&self->reader.mutex);
    pthread_mutex_destroy(&self->writer.mutex);
    if (self->lock_file >= 0)
        close(self->lock_file);
    free(self);
}

struct store *store_open_sqlite(const char *data_directory, char *warning, size_t warning_size,
                                struct error *error) {
    warning[0] = '\0';
    if (strlen(data_directory) > 4000) {
        error_set(error, ERROR_INVALID, "the path of the data directory is too long");
        return NULL;
    }
    struct sqlite_store *self = calloc(1, sizeof *self);
    if (self == NULL) {
        error_set_memory(error, sizeof *self);
        return NULL;
    }
    self->lock_file = -1;
    pthread_mutex_init(&self->bulk_reader.mutex, NULL);
    pthread_mutex_init(&self->reader.mutex, NULL);
    pthread_mutex_init(&self->writer.mutex, NULL);
    self->interface.close = store_close;
    self->interface.generation = store_generation;
    sqlite_runs_install(&self->interface);
    sqlite_comparisons_install(&self->interface);
    sqlite_epochs_install(&self->interface);
    sqlite_datasets_install(&self->interface);
    sqlite_events_install(&self->interface);
    snprintf(self->path, sizeof self->path, "%s/attnlab.sqlite3", data_directory);

    struct error cause = {0};
    if (!make_directory(data_directory, error))
        goto failed;
    self->lock_file = lock_directory(data_directory, error);
    if (self->lock_file < 0)
        goto failed;
    if (!writer_open(self, warning, warning_size, &cause) ||
        !connection_open(&self->reader, self->path, SQLITE_OPEN_READONLY, &cause) ||
        !connection_open(&self->bulk_reader, self->path, SQLITE_OPEN_READONLY, &cause) ||
        !generation_advance(self, &cause)) {
        error_set(error, cause.code, "cannot open the database %.200s: %.250s", self->path, cause.message);
        goto failed;
    }
    return &self->interface;

failed:
    store_close(&self->interface);
    return NULL;
}
