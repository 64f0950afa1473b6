/* The tables of the SQLite store, and the migration of older databases to them. */
#ifndef ATTNLAB_SERVER_STORE_SQLITE_SCHEMA_H
#define ATTNLAB_SERVER_STORE_SQLITE_SCHEMA_H

#include "server/store/sqlite_connection.h"

enum { STORE_SCHEMA_VERSION = 10 }; /* the version that this program writes */

/* Migrates the database to `version`, with one transaction per step. Only tests pass anything but
 * STORE_SCHEMA_VERSION. */
bool schema_migrate(sqlite3 *database, int version, struct error *error);

#endif
