/* Opens the SQLite store. One process at a time may use a data directory. */
#ifndef ATTNLAB_SERVER_STORE_SQLITE_H
#define ATTNLAB_SERVER_STORE_SQLITE_H

#include "server/store/store.h"

/* Opens the store of a data directory, and creates the directory if it is missing. Fails if another process
 * uses the directory, if a newer attnlab wrote the store, or if the directory cannot be written. A damaged
 * database is renamed and a new one created; `warning` (at least 512 bytes) then says so, and is empty
 * otherwise. */
struct store *store_open_sqlite(const char *data_directory, char *warning, size_t warning_size,
                                struct error *error);

#endif
