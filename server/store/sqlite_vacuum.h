/* Gives the room of deleted data back to the disk, off everybody's way. */
#ifndef ATTNLAB_SERVER_STORE_SQLITE_VACUUM_H
#define ATTNLAB_SERVER_STORE_SQLITE_VACUUM_H

#include "server/store/sqlite_connection.h"

/* Starts the thread, which begins with a look at what an earlier process has left. */
bool vacuum_start(struct sqlite_store *store, struct error *error);
void vacuum_stop(struct sqlite_store *store);

/* Whether the database was made by attnlab 0.2.0 or older, so that its file does not shrink when something is
 * deleted. */
bool vacuum_is_missing(struct connection *writer);
/* Writes such a database anew, into another file that takes its place; `writer` is closed. If there is no
 * room for that, or if it fails, the old file stays as it is. */
bool vacuum_rewrite(struct sqlite_store *store);

#endif
