/* Checks the database's pages, and renames a damaged database: see sqlite_damage.h. */
#include "server/store/sqlite_damage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Reading every page takes about a millisecond per megabyte, and the daemon should start in less than 100 ms.
 * The pages of larger databases are only checked when they are read. */
enum { CHECKED_SIZE_LIMIT = 32 * 1024 * 1024 };

bool damage_check_pages(sqlite3 *database, const char *path, struct error *error) {
    char mark[4200];
    struct stat status;
    snprintf(mark, sizeof mark, "%s" SQLITE_CHECK_SUFFIX, path);
    bool is_marked = lstat(mark, &status) == 0;
    bool is_small = stat(path, &status) == 0 && status.st_size <= CHECKED_SIZE_LIMIT;
    const char *query = is_small || is_marked ? "PRAGMA quick_check(1)"
                                              : "SELECT 'ok' FROM (SELECT count(*) FROM sqlite_schema)";
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(database, query, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    const char *found = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    bool ok = found != NULL && strcmp(found, "ok") == 0;
    if (code == SQLITE_ROW && !ok)
        error_set(error, ERROR_DAMAGED, "the database is damaged: %.200s", found != NULL ? found : "");
    else if (!ok)
        sqlite_error_set(error, database, code);
    sqlite3_finalize(statement);
    if (ok && is_marked)
        unlink(mark);
    return ok;
}

/* Writes for every table and index a query for its rows in its own order. A table without rowids is in the
 * order of its key; an index may leave out the rows whose first column is null. */
static const char ends_query[] =
    "SELECT 'SELECT 1 FROM \"' || name || '\" NOT INDEXED ORDER BY ' || CASE wr WHEN 0 THEN 'rowid' ELSE"
    " (SELECT '\"' || name || '\"' FROM pragma_table_info(list.name) WHERE pk = 1) END"
    " FROM pragma_table_list AS list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%'"
    " ESCAPE '\\'"
    " UNION ALL SELECT 'SELECT 1 FROM \"' || tbl_name || '\" INDEXED BY \"' || entry.name || '\" WHERE \"' ||"
    " key.name || '\" IS NOT NULL ORDER BY \"' || key.name || '\"'"
    " FROM sqlite_schema AS entry, pragma_index_info(entry.name) AS key"
    " WHERE entry.type = 'index' AND key.seqno = 0";

bool damage_check_ends(sqlite3 *database, struct error *error) {
    static const char *const ends[] = {" LIMIT 1", " DESC LIMIT 1"};
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(database, ends_query, -1, &statement, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        code = SQLITE_OK;
        for (size_t i = 0; code == SQLITE_OK && i < sizeof ends / sizeof *ends; i++) {
            char *query = sqlite3_mprintf("%s%s", sqlite3_column_text(statement, 0), ends[i]);
            code = query != NULL ? sqlite3_exec(database, query, NULL, NULL, NULL) : SQLITE_NOMEM;
            sqlite3_free(query);
        }
    }
    bool ok = code == SQLITE_DONE || sqlite_error_set(error, database, code);
    sqlite3_finalize(statement);
    return ok;
}

bool damage_set_aside(const char *path, char *warning, size_t warning_size, struct error *error) {
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
    snprintf(from, sizeof from, "%s" SQLITE_CHECK_SUFFIX, path);
    unlink(from);
    snprintf(warning, warning_size, "the database was damaged; it is kept as %s and a new one is used",
             target);
    return true;
}
