/* Nearest neighbours by cosine: which of the database's rows points most nearly where a query does. */
#ifndef ATTNLAB_CORE_PRETRAINED_NEAREST_H
#define ATTNLAB_CORE_PRETRAINED_NEAREST_H

#include <stddef.h>

struct neighbour {
    size_t index;     /* row of the database */
    float similarity; /* cosine, -1 to 1 */
};

/* rows[count][dimensions], each divided by its length (plus 1e-9, so that a row of zeros stays one). */
void nearest_normalize_rows(float *rows, size_t count, size_t dimensions);

/* Queries that are compared in one matrix product; nearest_find's workspace holds NEAREST_BATCH *
 * database_count floats. */
enum { NEAREST_BATCH = 16 };

/* neighbours[query_count][kept], nearest first, of two equal ones the lower row first. Rows of both are
 * normalized; kept <= database_count. */
void nearest_find(const float *queries, size_t query_count, const float *database, size_t database_count,
                  size_t dimensions, size_t kept, float *workspace, struct neighbour *neighbours);

#endif
