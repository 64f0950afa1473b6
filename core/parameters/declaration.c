/* Declarations: see declaration.h. */
#include "core/parameters/declaration.h"

#include <string.h>

static size_t minimum_of(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Levenshtein's distance by one row of the dynamic programme; names longer than the row are just far. */
static size_t edit_distance(const char *a, const char *b) {
    enum { LONGEST = 64 };
    size_t length_a = strlen(a), length_b = strlen(b);
    if (length_a > LONGEST || length_b > LONGEST)
        return SIZE_MAX;
    size_t row[LONGEST + 1];
    for (size_t j = 0; j <= length_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = minimum_of(substituted, minimum_of(row[j], row[j - 1]) + 1);
        }
    }
    return row[length_b];
}

const char *parameter_nearest_name(const struct parameter_declaration *declarations, size_t count,
                                   const char *name) {
    const char *nearest = NULL;
    size_t nearest_distance = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const char *candidate = declarations[i].name;
        size_t distance = edit_distance(name, candidate);
        /* A beginning is near, however much is missing: "epoch" and "learning" are guesses worth answering.
         */
        size_t length = strlen(name);
        if (length >= 3 && strncmp(candidate, name, length) == 0)
            distance = minimum_of(distance, 1);
        if (distance < nearest_distance) {
            nearest_distance = distance;
            nearest = candidate;
        }
    }
    if (nearest == NULL || nearest_distance > 1 + strlen(nearest) / 3)
        return NULL;
    return nearest;
}
