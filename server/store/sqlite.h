/* The opener of the SQLite store: one process, one data directory. */
#ifndef ATTNLAB_SERVER_STORE_SQLITE_H
#define ATTNLAB_SERVER_STORE_SQLITE_H

#include "server/store/store.h"

/* Opens the store of a data directory, which is made if it is missing. A second process on the same
 * directory, a store written by a newer attnlab and a directory that cannot be written are errors. A damaged
 * database is set aside under a new name and a new one begun: `warning` (at least 512 bytes) then says so,
 * and is empty otherwise. */
struct store *store_open_sqlite(const char *data_directory, char *warning, size_t warning_size,
                                struct error *error);

#endif
