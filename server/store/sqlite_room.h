/* Room on the disk: a reserve for the day when the disk is full, and a margin that is never filled.
 *
 * attnlab.reserve in the data directory only takes room. When the disk is full, it is given up, so that
 * deleting, signing in and starting still work; when there is room again, it is taken again. Both the reserve
 * and the margin are a sixteenth of the file system, between 2 and 16 MiB. Before something large is stored,
 * there must be room for it beside the margin. */
#ifndef ATTNLAB_SERVER_STORE_SQLITE_ROOM_H
#define ATTNLAB_SERVER_STORE_SQLITE_ROOM_H

#include "core/error.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef unsigned long long byte_count;

struct disk_room {
    char path[4200];         /* of the reserve */
    byte_count size;         /* of the reserve when it is whole, and of the margin */
    _Atomic byte_count held; /* what the reserve takes now */
};

/* Looks at the file system and at the reserve. If not even the start has room, gives the reserve up. */
void disk_room_open(struct disk_room *room, const char *data_directory);
/* The bytes that are free on the file system, and all its bytes; both 0 if that is unknown. */
void disk_room_measure(const struct disk_room *room, byte_count *free_bytes, byte_count *disk_bytes);
/* Gives the reserve up, except for a rest that is kept for the next start unless `all`. Returns whether that
 * made room. */
bool disk_room_give_up(struct disk_room *room, bool all);
/* Whether there is too little room for a small transaction, such as deleting a run. */
bool disk_room_is_short(const struct disk_room *room);
/* Gives the reserve up if it is. */
void disk_room_make(struct disk_room *room);
/* Keeps room for the next start, as far as there is any: after this start, and at the end. */
void disk_room_keep_start(struct disk_room *room);
/* Takes the reserve, or what is missing of it, if more than the margin stays free. */
void disk_room_take(struct disk_room *room);
/* Whether there is room for `bytes` more beside the margin; ERROR_UNAVAILABLE if not. */
bool disk_room_check(const struct disk_room *room, byte_count bytes, struct error *error);

#endif
