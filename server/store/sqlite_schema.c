/* The tables of the SQLite store, as a list of migrations.
 *
 * PRAGMA user_version counts the migrations that have been applied to a database; opening it applies the
 * rest, each in its own transaction. Never edit a migration that has been released: add a new one. */
#include "server/store/sqlite_schema.h"

#include <stdio.h>
#include <string.h>

/* "atlb": marks a database as attnlab's. */
enum { STORE_APPLICATION_ID = 0x61746c62 };

static const char *const migrations[STORE_SCHEMA_VERSION] = {
    /* 1: runs and what they leave behind */
    "CREATE TABLE comparisons (id TEXT PRIMARY KEY, experiment TEXT NOT NULL, name TEXT NOT NULL,"
    " labels TEXT NOT NULL, seeds TEXT NOT NULL, created_ms INTEGER NOT NULL, owner TEXT NOT NULL);"
    "CREATE TABLE runs (id TEXT PRIMARY KEY, experiment TEXT NOT NULL, name TEXT NOT NULL,"
    " parameters TEXT NOT NULL, state INTEGER NOT NULL, progress_done INTEGER NOT NULL,"
    " progress_total INTEGER NOT NULL, progress_unit TEXT NOT NULL, created_ms INTEGER NOT NULL,"
    " started_ms INTEGER NOT NULL, finished_ms INTEGER NOT NULL, result TEXT, error TEXT,"
    " comparison TEXT REFERENCES comparisons(id) ON DELETE CASCADE, comparison_variant INTEGER NOT NULL,"
    " comparison_seed INTEGER NOT NULL, owner TEXT NOT NULL);"
    "CREATE INDEX runs_by_state ON runs(state, id);"
    "CREATE INDEX runs_by_comparison ON runs(comparison, id) WHERE comparison IS NOT NULL;"
    "CREATE TABLE metrics (run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, epoch INTEGER NOT NULL,"
    " train_loss REAL, test_accuracy REAL, seconds REAL, PRIMARY KEY (run, epoch)) WITHOUT ROWID;"
    "CREATE TABLE weights (run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE, epoch INTEGER NOT NULL,"
    " bytes BLOB NOT NULL, PRIMARY KEY (run, epoch));"
    "CREATE TABLE checkpoints (run TEXT PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,"
    " bytes BLOB NOT NULL);"
    "CREATE TABLE events (id INTEGER PRIMARY KEY, run TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,"
    " kind INTEGER NOT NULL, payload TEXT);"
    "CREATE INDEX events_by_run ON events(run, id);"
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);",
    /* 2: the user's data sets, and the cache */
    "CREATE TABLE datasets (name TEXT PRIMARY KEY, format TEXT NOT NULL, created_ms INTEGER NOT NULL,"
    " row_count INTEGER NOT NULL, class_count INTEGER NOT NULL, word_count INTEGER NOT NULL,"
    " is_text INTEGER NOT NULL, owner TEXT NOT NULL, bytes BLOB NOT NULL);"
    "CREATE TABLE cache (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL);",
    /* 3: large results are stored apart from their runs */
    "CREATE TABLE results (run TEXT PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, json TEXT NOT NULL);"
    "INSERT INTO results SELECT id, result FROM runs WHERE length(CAST(result AS BLOB)) > 16384;"
    "UPDATE runs SET result = NULL WHERE id IN (SELECT run FROM results);",
    /* 4: how often a run was started without progress */
    "ALTER TABLE runs ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;",
    /* 5: when a run was last started */
    "ALTER TABLE runs ADD COLUMN attempted_ms INTEGER NOT NULL DEFAULT 0;",
    /* 6: the contents of data sets, and of the one that each run uses. Runs from before this do not say; one
     * that has not ended (states 0 and 1) will use the data set that is there now, and a newer data set than
     * an ended run's is not its own. This is the last time that a clock decides. */
    "ALTER TABLE datasets ADD COLUMN digest TEXT NOT NULL DEFAULT '';"
    "UPDATE datasets SET digest = dataset_digest(format, bytes);"
    "CREATE INDEX datasets_by_digest ON datasets(digest);"
    "ALTER TABLE runs ADD COLUMN dataset TEXT;"
    "UPDATE runs SET dataset = CASE WHEN json_extract(parameters, '$.task') IS NULL THEN '' ELSE"
    " (SELECT digest FROM datasets WHERE datasets.name = json_extract(parameters, '$.task')"
    "  AND (runs.state IN (0, 1) OR datasets.created_ms <= runs.created_ms)) END"
    " WHERE json_valid(parameters);",
    /* 7: whose limit a waiting run counts against */
    "ALTER TABLE runs ADD COLUMN network TEXT NOT NULL DEFAULT '';",
    /* 8: an index for every combination of filters in a list of runs (sqlite_run_list.c) */
    "CREATE INDEX runs_by_experiment ON runs(experiment, id);"
    "CREATE INDEX runs_by_owner ON runs(owner, id);"
    "CREATE INDEX runs_by_experiment_state ON runs(experiment, state, id);"
    "CREATE INDEX runs_by_owner_state ON runs(owner, state, id);"
    "CREATE INDEX runs_by_owner_experiment ON runs(owner, experiment, id);"
    "CREATE INDEX runs_by_owner_experiment_state ON runs(owner, experiment, state, id);",
    /* 9: what runs take, and their owners (sqlite_usage.c); the numbers are RUN_ROW_BYTES and EPOCH_ROW_BYTES
     */
    "ALTER TABLE runs ADD COLUMN size_bytes INTEGER NOT NULL DEFAULT 0;"
    "UPDATE runs SET size_bytes = max(4096, coalesce(length(parameters), 0))"
    " + 400 * (SELECT count(*) FROM metrics WHERE run = id)"
    " + coalesce((SELECT sum(length(bytes)) FROM weights WHERE run = id), 0)"
    " + coalesce((SELECT length(bytes) FROM checkpoints WHERE run = id), 0)"
    " + coalesce((SELECT length(json) FROM results WHERE run = id), 0);"
    "CREATE TABLE usage (owner TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT INTO usage SELECT owner, sum(bytes) FROM (SELECT owner, size_bytes AS bytes FROM runs"
    " UNION ALL SELECT owner, length(bytes) FROM datasets) GROUP BY owner;"
    "CREATE TRIGGER usage_of_new_run AFTER INSERT ON runs BEGIN"
    " INSERT INTO usage VALUES (new.owner, new.size_bytes)"
    "  ON CONFLICT (owner) DO UPDATE SET bytes = bytes + excluded.bytes; END;"
    "CREATE TRIGGER usage_of_changed_run AFTER UPDATE OF size_bytes ON runs BEGIN"
    " UPDATE usage SET bytes = bytes + new.size_bytes - old.size_bytes WHERE owner = new.owner; END;"
    "CREATE TRIGGER usage_of_deleted_run AFTER DELETE ON runs BEGIN"
    " UPDATE usage SET bytes = bytes - old.size_bytes WHERE owner = old.owner;"
    " DELETE FROM usage WHERE owner = old.owner AND bytes <= 0; END;"
    "CREATE TRIGGER usage_of_new_dataset AFTER INSERT ON datasets BEGIN"
    " INSERT INTO usage VALUES (new.owner, length(new.bytes))"
    "  ON CONFLICT (owner) DO UPDATE SET bytes = bytes + excluded.bytes; END;"
    "CREATE TRIGGER usage_of_deleted_dataset AFTER DELETE ON datasets BEGIN"
    " UPDATE usage SET bytes = bytes - length(old.bytes) WHERE owner = old.owner;"
    " DELETE FROM usage WHERE owner = old.owner AND bytes <= 0; END;",
    /* 10: the kernels that a run was computed with */
    "ALTER TABLE runs ADD COLUMN kernels TEXT NOT NULL DEFAULT '';",
};

/* The SQL function dataset_digest(format, bytes). */
static void digest_dataset(sqlite3_context *context, int count, sqlite3_value **values) {
    char digest[DATASET_DIGEST_SIZE];
    const char *format = (const char *)sqlite3_value_text(values[0]);
    const void *bytes = sqlite3_value_blob(values[1]);
    (void)count;
    dataset_digest(format != NULL ? format : "", bytes, (size_t)sqlite3_value_bytes(values[1]), digest);
    sqlite3_result_text(context, digest, -1, SQLITE_TRANSIENT);
}

static bool read_integer(sqlite3 *database, const char *query, int *value, struct error *error) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(database, query, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *value = sqlite3_column_int(statement, 0);
    else
        sqlite_error_set(error, database, code);
    sqlite3_finalize(statement);
    return code == SQLITE_ROW;
}

static bool execute(sqlite3 *database, const char *text, struct error *error) {
    int code = sqlite3_exec(database, text, NULL, NULL, NULL);
    return code == SQLITE_OK || sqlite_error_set(error, database, code);
}

/* Migrates one step, from `version` to `version` + 1. */
static bool migrate_one(sqlite3 *database, int version, struct error *error) {
    char finish[96];
    snprintf(finish, sizeof finish, "PRAGMA user_version = %d; PRAGMA application_id = %d", version + 1,
             STORE_APPLICATION_ID);
    if (!execute(database, "BEGIN IMMEDIATE", error))
        return false;
    if (execute(database, migrations[version], error) && execute(database, finish, error) &&
        execute(database, "COMMIT", error))
        return true;
    sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

bool schema_migrate(sqlite3 *database, int version, struct error *error) {
    int found = 0, application = 0, tables = 0;
    if (!read_integer(database, "PRAGMA user_version", &found, error) ||
        !read_integer(database, "PRAGMA application_id", &application, error) ||
        !read_integer(database, "SELECT count(*) FROM sqlite_schema", &tables, error))
        return false;
    if (tables > 0 && application != STORE_APPLICATION_ID)
        return error_set(error, ERROR_CONFLICT, "it is another program's database, not one of attnlab's");
    if (found > version)
        return error_set(error, ERROR_CONFLICT,
                         "it was written by a newer attnlab (schema %d; this one knows up to %d)", found,
                         version);
    int code = sqlite3_create_function(database, "dataset_digest", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                       NULL, digest_dataset, NULL, NULL);
    if (code != SQLITE_OK)
        return sqlite_error_set(error, database, code);
    for (int next = found; next < version; next++)
        if (!migrate_one(database, next, error))
            return false;
    return true;
}
