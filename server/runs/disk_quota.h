/* What runs may store: an owner's share, the share of all, and the disk itself.
 *
 * Checked before a run or a data set is accepted, and before each epoch and each large result is stored; a
 * run that would pass a limit fails. Students together may take three quarters of the limit for all, and
 * leave twice the disk's margin free, so that the lecturer can always run something. */
#ifndef ATTNLAB_SERVER_RUNS_DISK_QUOTA_H
#define ATTNLAB_SERVER_RUNS_DISK_QUOTA_H

#include "core/error.h"
#include "server/store/store.h"

struct disk_quota {
    unsigned long long owner_bytes; /* of a student's runs and data sets; 0: no limit */
    unsigned long long all_bytes;   /* of the database; 0: what the disk has */
    const char *lecturer;           /* the owner who has no share, borrowed; NULL: nobody is a student */
};

/* ERROR_LIMIT if a limit would be passed by `bytes` more, ERROR_UNAVAILABLE if students must leave the rest
 * of the disk free. The margin that holds for all is the store's to check. */
bool disk_quota_check(const struct disk_quota *quota, struct store *store, const char *owner, size_t bytes,
                      struct error *error);
/* The most bytes that students together may take; 0: no limit. */
unsigned long long disk_quota_of_students(const struct disk_quota *quota);

#endif
