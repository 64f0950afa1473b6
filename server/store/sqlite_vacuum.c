/* Shrinks the database after deletions.
 *
 * The pages of deleted rows go to a list of free pages inside the file. This file's thread takes them from
 * there, step by step: each step is a small transaction that moves pages from the end of the file into free
 * ones, and is followed by a pause, so that writers wait for one step at most. The file gets shorter when the
 * log is moved into it. Afterwards the thread takes the reserve (sqlite_room.h) again. It sleeps while there
 * is nothing to do. */
#include "server/store/sqlite_vacuum.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    /* New data soon fills a few free pages, so they stay: 1 MiB of them. */
    FREE_PAGES_KEPT = 128,
    STEP_PAGES = 128,
    /* On a full disk a step must fit into what the reserve has left, and its room is wanted at once. */
    STEP_PAGES_ON_FULL_DISK = 32,
    PAUSE_NANOSECONDS = 3000000
};

static void move_log(struct sqlite_store *store) {
    pthread_mutex_lock(&store->writer.mutex);
    sqlite3_wal_checkpoint_v2(store->writer.database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    pthread_mutex_unlock(&store->writer.mutex);
}

/* One step; returns whether another is worth while. */
static bool vacuum_step(struct sqlite_store *store) {
    char text[64];
    bool is_full = atomic_load(&store->room.held) < store->room.size;
    size_t before = atomic_load(&store->free_pages);
    if (before <= (is_full ? 0 : FREE_PAGES_KEPT) || !transaction_begin(store, false, NULL))
        return false;
    snprintf(text, sizeof text, "PRAGMA incremental_vacuum(%d)",
             is_full ? STEP_PAGES_ON_FULL_DISK : STEP_PAGES);
    bool ok = sqlite3_exec(store->writer.database, text, NULL, NULL, NULL) == SQLITE_OK;
    ok = transaction_end(store, ok, NULL);
    if (is_full)
        move_log(store);
    return ok && atomic_load(&store->free_pages) < before;
}

/* Waits for a wish; returns false when the store is closed. */
static bool wait_for_wish(struct vacuum *vacuum) {
    pthread_mutex_lock(&vacuum->mutex);
    while (!vacuum->is_wanted && !atomic_load(&vacuum->is_stopping))
        pthread_cond_wait(&vacuum->changed, &vacuum->mutex);
    vacuum->is_wanted = false;
    pthread_mutex_unlock(&vacuum->mutex);
    return !atomic_load(&vacuum->is_stopping);
}

static void *vacuum_main(void *argument) {
    struct sqlite_store *store = argument;
    const struct timespec pause = {.tv_nsec = PAUSE_NANOSECONDS};
    while (wait_for_wish(&store->vacuum)) {
        bool has_moved = false;
        while (!atomic_load(&store->vacuum.is_stopping) && vacuum_step(store)) {
            has_moved = true;
            nanosleep(&pause, NULL);
        }
        if (has_moved)
            move_log(store);
        disk_room_take(&store->room);
    }
    return NULL;
}

bool vacuum_start(struct sqlite_store *store, struct error *error) {
    store->vacuum.is_wanted = true;
    store->vacuum.is_started = pthread_create(&store->vacuum.thread, NULL, vacuum_main, store) == 0;
    return store->vacuum.is_started ||
           error_set(error, ERROR_UNAVAILABLE, "cannot start the thread that shrinks the database");
}

void vacuum_stop(struct sqlite_store *store) {
    if (!store->vacuum.is_started)
        return;
    pthread_mutex_lock(&store->vacuum.mutex);
    atomic_store(&store->vacuum.is_stopping, true);
    pthread_cond_signal(&store->vacuum.changed);
    pthread_mutex_unlock(&store->vacuum.mutex);
    pthread_join(store->vacuum.thread, NULL);
    store->vacuum.is_started = false;
}

bool vacuum_is_missing(struct connection *writer) {
    bool ok = true;
    int64_t mode = -1;
    sqlite3_stmt *statement = statement_bind(writer, NULL, "PRAGMA auto_vacuum", "");
    while (statement_next(writer, statement, &ok, NULL))
        mode = sqlite3_column_int64(statement, 0);
    return ok && mode == 0;
}

/* Copies the live pages into a new file that is on the disk when this returns. */
static bool copy_database(struct sqlite_store *store, const char *path) {
    struct connection *writer = &store->writer;
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    bool ok =
        sqlite3_exec(writer->database, "PRAGMA auto_vacuum = INCREMENTAL", NULL, NULL, NULL) == SQLITE_OK &&
        STATEMENT_EXECUTE(writer, NULL, "VACUUM INTO ?", "t", path) && fsync(file) == 0;
    close(file);
    return ok;
}

bool vacuum_rewrite(struct sqlite_store *store) {
    char path[4200], log[4200];
    snprintf(path, sizeof path, "%s.new", store->path);
    snprintf(log, sizeof log, "%s-wal", store->path);
    unlink(path);
    size_t live = atomic_load(&store->pages) - atomic_load(&store->free_pages);
    bool ok =
        disk_room_check(&store->room, (byte_count)live * STORE_PAGE_SIZE, NULL) && copy_database(store, path);
    connection_close(&store->writer);
    /* Closing moves the log into the database and removes it. A log that is left belongs to the old file. */
    ok = ok && access(log, F_OK) != 0 && rename(path, store->path) == 0;
    if (!ok)
        unlink(path);
    return ok;
}
