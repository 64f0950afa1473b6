/* The reserve and the margin of the store's disk: see sqlite_room.h. */
#include "server/store/sqlite_room.h"

#include "server/system/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    MEBIBYTE = 1 << 20,
    SIZE_MINIMUM = 2 * MEBIBYTE,
    SIZE_MAXIMUM = 16 * MEBIBYTE,
    DISK_PARTS = 16,
    /* A small transaction writes a few dozen pages, and a step of the vacuum (sqlite_vacuum.c) no more. */
    SMALL_ROOM = MEBIBYTE,
    /* Opening the database needs a tenth of this, and then something can be deleted. The rest of a reserve
     * that was given up leaves it to the next start, even if other programs have filled all the room since.
     */
    START_ROOM = MEBIBYTE,
    START_ROOM_STEP = START_ROOM / 16
};

static bool measure(const char *path, byte_count *free_bytes, byte_count *disk_bytes) {
    char directory[4200];
    struct statvfs disk;
    snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (slash != NULL)
        *slash = '\0';
    if (statvfs(directory, &disk) != 0 || disk.f_blocks == 0)
        return false;
    *free_bytes = (byte_count)disk.f_bavail * disk.f_frsize;
    *disk_bytes = (byte_count)disk.f_blocks * disk.f_frsize;
    return true;
}

void disk_room_measure(const struct disk_room *room, byte_count *free_bytes, byte_count *disk_bytes) {
    if (!measure(room->path, free_bytes, disk_bytes))
        *free_bytes = *disk_bytes = 0;
}

/* Whether fewer than `wanted` bytes are free; false if that is unknown. */
static bool lacks(const struct disk_room *room, byte_count wanted) {
    byte_count free_bytes, disk_bytes;
    return measure(room->path, &free_bytes, &disk_bytes) && free_bytes < wanted;
}

/* What a file takes on the disk. One with holes takes less than its size. */
static byte_count taken_by(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISREG(status.st_mode) ? (byte_count)status.st_blocks * 512 : 0;
}

/* Cuts the reserve to `size` bytes, or removes it. Returns whether it takes less than before. */
static bool shorten(struct disk_room *room, byte_count size) {
    byte_count before = taken_by(room->path);
    if (before <= size || (size == 0 ? unlink(room->path) : truncate(room->path, (off_t)size)) != 0)
        return false;
    atomic_store(&room->held, taken_by(room->path));
    return atomic_load(&room->held) < before;
}

bool disk_room_give_up(struct disk_room *room, bool all) {
    return shorten(room, all ? 0 : START_ROOM);
}

bool disk_room_is_short(const struct disk_room *room) {
    return lacks(room, SMALL_ROOM);
}

void disk_room_make(struct disk_room *room) {
    if (atomic_load(&room->held) > START_ROOM && disk_room_is_short(room))
        disk_room_give_up(room, false);
}

/* Makes the reserve `size` bytes long. If there is no room for that, it stays as it is: it must not be what
 * fills the disk. */
static bool grow(struct disk_room *room, byte_count size) {
    byte_count before = atomic_load(&room->held);
    bool is_shared = false;
    int file = file_open_own(room->path, O_WRONLY, &is_shared, NULL);
    if (file < 0)
        return false;
    bool is_taken = !is_shared && posix_fallocate(file, 0, (off_t)size) == 0;
    close(file);
    if (!is_taken)
        shorten(room, before);
    atomic_store(&room->held, taken_by(room->path));
    return is_taken;
}

void disk_room_keep_start(struct disk_room *room) {
    byte_count size = START_ROOM;
    while (atomic_load(&room->held) < size && !grow(room, size))
        size -= START_ROOM_STEP;
}

void disk_room_take(struct disk_room *room) {
    byte_count held = atomic_load(&room->held);
    byte_count missing = room->size - (held < room->size ? held : room->size);
    if (missing == 0 || lacks(room, room->size + missing))
        return;
    grow(room, room->size);
}

bool disk_room_check(const struct disk_room *room, byte_count bytes, struct error *error) {
    byte_count free_bytes, disk_bytes;
    if (!measure(room->path, &free_bytes, &disk_bytes) || free_bytes >= room->size + bytes)
        return true;
    return error_set(
        error, ERROR_UNAVAILABLE,
        "the disk with the data directory is full: %llu MB of it are free, %llu MB must stay free, and "
        "this needs %.1f MB; delete runs or data sets to make room",
        free_bytes / MEBIBYTE, room->size / MEBIBYTE, (double)bytes / MEBIBYTE);
}

void disk_room_open(struct disk_room *room, const char *data_directory) {
    byte_count free_bytes, disk_bytes = 0;
    snprintf(room->path, sizeof room->path, "%s/attnlab.reserve", data_directory);
    disk_room_measure(room, &free_bytes, &disk_bytes);
    room->size = disk_bytes / DISK_PARTS;
    room->size = room->size < SIZE_MINIMUM ? SIZE_MINIMUM : room->size;
    room->size = room->size > SIZE_MAXIMUM ? SIZE_MAXIMUM : room->size;
    atomic_init(&room->held, taken_by(room->path));
    disk_room_make(room);
    if (lacks(room, START_ROOM / 2))
        disk_room_give_up(room, true);
}
