/* Opens, locks and closes the SQLite store.
 *
 * The database is DIRECTORY/attnlab.sqlite3 in WAL mode. Acknowledged transactions are synced to the disk
 * (synchronous = FULL: one fdatasync of the log per commit). An epoch's transaction only reaches the kernel
 * (NORMAL): it survives kill -9; after a power cut SQLite falls back to an earlier commit, and training goes
 * on from there to the same bits. While the store is open the process holds DIRECTORY/attnlab.lock with
 * flock. */
#include "server/store/sqlite.h"

#include "server/store/sqlite_connection.h"
#include "server/store/sqlite_damage.h"
#include "server/store/sqlite_parts.h"
#include "server/store/sqlite_schema.h"
#include "server/store/sqlite_vacuum.h"
#include "server/system/clock.h"
#include "server/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
    bool is_shared = false;
    int file = file_open_own(path, O_RDWR, &is_shared, error);
    if (file < 0)
        return -1;
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        ssize_t length = pread(file, holder, sizeof holder - 1, 0);
        holder[length > 0 ? length : 0] = '\0';
        error_set(error, ERROR_CONFLICT,
                  "the data directory %.300s is in use by another attnlab (process %ld)", directory,
                  strtol(holder, NULL, 10));
        close(file);
        return -1;
    }
    /* Written over what was there, because a full disk takes no new bytes; and without the id the lock still
     * holds. */
    int length = snprintf(holder, sizeof holder, "%ld\n", (long)getpid());
    bool is_written =
        is_shared || (pwrite(file, holder, (size_t)length, 0) == length && ftruncate(file, length) == 0);
    if (!is_written && errno != ENOSPC && errno != EDQUOT) {
        error_set(error, ERROR_UNAVAILABLE, "cannot write to the data directory %.300s: %s", directory,
                  strerror(errno));
        close(file);
        return -1;
    }
    return file;
}

/* Temporary data stays in memory: temporary files would be opened and unlinked in every epoch, and would need
 * a writable /tmp. The log is moved into the database before it outgrows the reserve, so that the reserve
 * always suffices to do that. Debian's SQLite overwrites deleted data with zeros unless it is told not to,
 * and deleting 16 MB then needs 16 MB of the log; FAST does it only where that costs no room. */
static bool writer_prepare(struct sqlite_store *store, struct error *error) {
    struct connection *writer = &store->writer;
    char text[400];
    snprintf(text, sizeof text,
             "PRAGMA page_size = %d; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
             "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = FAST;"
             "PRAGMA wal_autocheckpoint = %llu; PRAGMA journal_size_limit = %llu; PRAGMA temp_store = MEMORY",
             STORE_PAGE_SIZE, store->room.size / STORE_PAGE_SIZE, store->room.size);
    int code = sqlite3_exec(writer->database, text, NULL, NULL, NULL);
    writer->synchronous_full = true;
    if (code == SQLITE_OK && disk_room_is_short(&store->room))
        connection_shorten_log(writer);
    return code == SQLITE_OK || sqlite_error_set(error, writer->database, code);
}

/* Rewrites a database that an older attnlab made, so that its file shrinks after deletions. Takes about a
 * second for each 300 MB, once; says so if anybody had to wait for it. */
static bool writer_modernise(struct sqlite_store *store, char *warning, size_t warning_size,
                             struct error *error) {
    transaction_count_pages(store);
    if (!vacuum_is_missing(&store->writer))
        return true;
    double started = clock_seconds();
    bool is_rewritten = vacuum_rewrite(store);
    double seconds = clock_seconds() - started;
    if (is_rewritten && seconds >= 1)
        snprintf(
            warning, warning_size,
            "the database was rewritten, once and in %.0f s, so that it gets shorter when runs are deleted",
            seconds);
    if (!connection_open(&store->writer, store->path, SQLITE_OPEN_READWRITE, error) ||
        !writer_prepare(store, error))
        return false;
    transaction_count_pages(store);
    return true;
}

/* The stored number may be damaged, so it is also kept above the generations of all event ids (event_log.h),
 * as far as ids are possible: below 2^53. */
static bool generation_advance(struct sqlite_store *store, struct error *error) {
    if (!transaction_begin(store, true, error))
        return false;
    bool ok = true;
    sqlite3_stmt *statement = statement_bind(
        &store->writer, error,
        "SELECT 1 + max(coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'generation' AND"
        " CAST(value AS INTEGER) BETWEEN 0 AND (1 << 20)), 0),"
        " coalesce((SELECT max(id) >> 32 FROM events WHERE id < (1 << 52)), 0))",
        "");
    while (statement_next(&store->writer, statement, &ok, error))
        store->generation = (uint64_t)sqlite3_column_int64(statement, 0);
    ok = ok &&
         STATEMENT_EXECUTE(&store->writer, error, "INSERT OR REPLACE INTO settings VALUES ('generation', ?)",
                           "i", (int64_t)store->generation);
    return transaction_end(store, ok, error);
}

/* Reads what the daemon will read, so that damage is found here, where the database can still be replaced. */
static bool read_samples(struct sqlite_store *self, struct error *error) {
    struct store *store = &self->interface;
    const struct run_filter newest = {.state = -1, .limit = 1};
    struct run_record *runs = NULL, *unfinished = NULL;
    struct comparison_record *comparisons = NULL;
    struct dataset_record *datasets = NULL;
    size_t run_count = 0, unfinished_count = 0, comparison_count = 0, dataset_count = 0;
    bool ok = damage_check_ends(self->reader.database, error) &&
              store->list_runs(store, &newest, &runs, &run_count, error) &&
              store->list_unfinished_runs(store, &unfinished, &unfinished_count, error) &&
              store->list_comparisons(store, NULL, 1, &comparisons, &comparison_count, error) &&
              store->list_datasets(store, NULL, 1, &datasets, &dataset_count, error);
    run_records_free(runs, run_count);
    run_records_free(unfinished, unfinished_count);
    for (size_t i = 0; i < comparison_count; i++)
        comparison_record_clear(&comparisons[i]);
    for (size_t i = 0; i < dataset_count; i++)
        dataset_record_clear(&datasets[i]);
    free(comparisons);
    free(datasets);
    return ok;
}

/* SQLite makes files with these suffixes. */
static bool check_files(const struct sqlite_store *store, struct error *error) {
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char path[4200];
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(path, sizeof path, "%s%s", store->path, suffixes[i]);
        ok = file_check_own(path, error);
    }
    return ok;
}

static void warn_of_others(const char *directory, char *warning, size_t warning_size) {
    struct stat status;
    size_t length = strlen(warning);
    if (stat(directory, &status) == 0 && (status.st_mode & S_IWOTH) && length < warning_size)
        snprintf(warning + length, warning_size - length,
                 "%severy user of this machine can write to the data directory %.200s; run chmod 700 on it",
                 length > 0 ? "; " : "", directory);
}

static bool open_connections(struct sqlite_store *store, char *warning, size_t warning_size,
                             struct error *error) {
    struct connection *writer = &store->writer;
    return connection_open(writer, store->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error) &&
           damage_check_pages(writer->database, store->path, error) && writer_prepare(store, error) &&
           schema_migrate(writer->database, STORE_SCHEMA_VERSION, error) &&
           writer_modernise(store, warning, warning_size, error) &&
           connection_open(&store->reader, store->path, SQLITE_OPEN_READONLY, error) &&
           connection_open(&store->bulk_reader, store->path, SQLITE_OPEN_READONLY, error) &&
           generation_advance(store, error) && read_samples(store, error);
}

static void close_connections(struct sqlite_store *store) {
    connection_close(&store->bulk_reader);
    connection_close(&store->reader);
    connection_close(&store->writer);
}

/* A damaged database is set aside and a new one opened. SQLite reports an internal error if the schema lacks
 * what its version promises, which is damage too. */
static bool open_database(struct sqlite_store *store, char *warning, size_t warning_size,
                          struct error *error) {
    struct error failure = {0};
    if (!check_files(store, error))
        return false;
    if (open_connections(store, warning, warning_size, &failure))
        return true;
    if (failure.code != ERROR_DAMAGED && failure.code != ERROR_INTERNAL)
        return error_set(error, failure.code, "%s", failure.message);
    close_connections(store);
    return damage_set_aside(store->path, warning, warning_size, error) &&
           open_connections(store, warning, warning_size, error);
}

static uint64_t store_generation(struct store *store) {
    return sqlite_store_of(store)->generation;
}

static void store_measure(struct store *store, struct store_room *room) {
    struct sqlite_store *self = sqlite_store_of(store);
    struct stat log;
    char path[4200];
    snprintf(path, sizeof path, "%s-wal", self->path);
    size_t pages = atomic_load(&self->pages), free_pages = atomic_load(&self->free_pages);
    *room = (struct store_room){.database_bytes = (unsigned long long)pages * STORE_PAGE_SIZE,
                                .used_bytes = (unsigned long long)(pages - free_pages) * STORE_PAGE_SIZE,
                                .log_bytes = stat(path, &log) == 0 ? (unsigned long long)log.st_size : 0,
                                .reserve_bytes = atomic_load(&self->room.held),
                                .margin_bytes = self->room.size};
    disk_room_measure(&self->room, &room->free_bytes, &room->disk_bytes);
}

static bool store_check_room(struct store *store, size_t bytes, struct error *error) {
    struct sqlite_store *self = sqlite_store_of(store);
    return transaction_begin_storing(self, false, bytes, error) && transaction_end(self, true, error);
}

static void store_close(struct store *store) {
    struct sqlite_store *self = sqlite_store_of(store);
    if (store == NULL)
        return;
    vacuum_stop(self);
    close_connections(self);
    if (self->lock_file >= 0)
        disk_room_keep_start(&self->room);
    pthread_cond_destroy(&self->vacuum.changed);
    pthread_mutex_destroy(&self->vacuum.mutex);
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
    pthread_mutex_init(&self->vacuum.mutex, NULL);
    pthread_cond_init(&self->vacuum.changed, NULL);
    pthread_mutex_init(&self->bulk_reader.mutex, NULL);
    pthread_mutex_init(&self->reader.mutex, NULL);
    pthread_mutex_init(&self->writer.mutex, NULL);
    self->interface.close = store_close;
    self->interface.generation = store_generation;
    self->interface.measure = store_measure;
    self->interface.check_room = store_check_room;
    sqlite_runs_install(&self->interface);
    sqlite_run_list_install(&self->interface);
    sqlite_comparisons_install(&self->interface);
    sqlite_epochs_install(&self->interface);
    sqlite_datasets_install(&self->interface);
    sqlite_events_install(&self->interface);
    sqlite_usage_install(&self->interface);
    snprintf(self->path, sizeof self->path, "%s/attnlab.sqlite3", data_directory);

    struct error cause = {0};
    if (!make_directory(data_directory, error))
        goto failed;
    self->lock_file = lock_directory(data_directory, error);
    if (self->lock_file < 0)
        goto failed;
    disk_room_open(&self->room, data_directory);
    bool is_open = open_database(self, warning, warning_size, &cause);
    disk_room_keep_start(&self->room);
    if (!is_open || !vacuum_start(self, &cause)) {
        error_set(error, cause.code, "cannot open the database %.200s: %.250s", self->path, cause.message);
        goto failed;
    }
    warn_of_others(data_directory, warning, warning_size);
    return &self->interface;

failed:
    store_close(&self->interface);
    return NULL;
}
