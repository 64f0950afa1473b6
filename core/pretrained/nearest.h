/* Nearest neighbours by cosine similarity: the rows of a database whose direction is closest to a query's. */
#ifndef ATTNLAB_CORE_PRETRAINED_NEAREST_H
#define ATTNLAB_CORE_PRETRAINED_NEAREST_H

#include <stddef.h>

struct neighbour {
    size_t index;     /* row of the database */
    float similarity; /* cosine, -1 to 1 */
};

/* Divides each of rows[count][dimensions] by its length plus 1e-9, so that a row of zeros stays zero. */
void nearest_normalize_rows(float *rows, size_t count, size_t dimensions);

/* The number of queries in one matrix product. nearest_find's workspace holds NEAREST_BATCH * database_count
 * floats. */
enum { NEAREST_BATCH = 16 };

/* Fills neighbours[query_count][kept], nearest first; of equally near rows the lower one comes first. The
 * rows of queries and database must be normalized, and kept <= database_count. */
void nearest_find(const float *queries, size_t query_count, const float *database, size_t database_count,
                  size_t dimensions, size_t kept, float *workspace, struct neighbour *neighbours);

#endif
