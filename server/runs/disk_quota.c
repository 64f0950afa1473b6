/* Checks the limits of what runs may store: see disk_quota.h. */
#include "server/runs/disk_quota.h"

#include <string.h>

static const double MEGABYTE = 1 << 20;

unsigned long long disk_quota_of_students(const struct disk_quota *quota) {
    return quota->all_bytes / 4 * 3;
}

static bool check_share(const struct disk_quota *quota, struct store *store, const char *owner, size_t bytes,
                        struct error *error) {
    unsigned long long taken = 0;
    if (quota->owner_bytes == 0)
        return true;
    if (!store->read_usage(store, owner, &taken, error))
        return false;
    return taken + bytes <= quota->owner_bytes ||
           error_set(error, ERROR_LIMIT,
                     "your runs and data sets may take %.0f MB on the disk; they take %.1f, and this would "
                     "add %.1f; "
                     "delete some of them to make room",
                     (double)quota->owner_bytes / MEGABYTE, (double)taken / MEGABYTE,
                     (double)bytes / MEGABYTE);
}

bool disk_quota_check(const struct disk_quota *quota, struct store *store, const char *owner, size_t bytes,
                      struct error *error) {
    bool is_student = quota->lecturer != NULL && strcmp(owner, quota->lecturer) != 0;
    unsigned long long limit = is_student ? disk_quota_of_students(quota) : quota->all_bytes;
    struct store_room room;
    if (is_student && !check_share(quota, store, owner, bytes, error))
        return false;
    store->measure(store, &room);
    if (limit > 0 && room.used_bytes + bytes > limit)
        return error_set(
            error, ERROR_LIMIT,
            "all %sruns and data sets may take %.0f MB on the disk; they take %.1f, and this would add "
            "%.1f; delete some of them to make room",
            is_student ? "students' " : "", (double)limit / MEGABYTE, (double)room.used_bytes / MEGABYTE,
            (double)bytes / MEGABYTE);
    if (is_student && room.disk_bytes > 0 && room.free_bytes < 2 * room.margin_bytes + bytes)
        return error_set(
            error, ERROR_UNAVAILABLE,
            "the disk with the data directory is full: %.1f MB of it are free, and %.1f MB must stay "
            "free; delete runs or data sets to make room",
            (double)room.free_bytes / MEGABYTE, 2 * (double)room.margin_bytes / MEGABYTE);
    return true;
}
