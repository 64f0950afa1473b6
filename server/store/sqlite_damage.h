/* Finds damage in the SQLite database, and sets a damaged one aside. */
#ifndef ATTNLAB_SERVER_STORE_SQLITE_DAMAGE_H
#define ATTNLAB_SERVER_STORE_SQLITE_DAMAGE_H

#include "server/store/sqlite_connection.h"

/* Checks all pages of a small database, and of one in which damage was found since the last check; of others
 * only the first page. ERROR_DAMAGED if it is damaged. */
bool damage_check_pages(sqlite3 *database, const char *path, struct error *error);
/* Reads both ends of every table and index, which takes about a millisecond however large the database is.
 * ERROR_DAMAGED if one is damaged. */
bool damage_check_ends(sqlite3 *database, struct error *error);

/* Renames the closed database and its log to a name that is not in use; `warning` then says so. */
bool damage_set_aside(const char *path, char *warning, size_t warning_size, struct error *error);

#endif
