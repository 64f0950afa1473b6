/* The tables of the SQLite store, and how older databases get them. */
#ifndef ATTNLAB_SERVER_STORE_SQLITE_SCHEMA_H
#define ATTNLAB_SERVER_STORE_SQLITE_SCHEMA_H

#include "server/store/sqlite_connection.h"

enum { STORE_SCHEMA_VERSION = 5 }; /* what this program writes */

/* Brings the database to `version` (STORE_SCHEMA_VERSION but in tests), one transaction a step. */
bool schema_migrate(sqlite3 *database, int version, struct error *error);

#endif
