/* Standardising numbers: every column of the data, one step of a sequence, gets mean 0 and deviation 1.
 *
 * Mean and deviation are those of the training rows, so that nothing of the test rows reaches the model. The
 * deviation is that of the rows themselves (divided by their count, as in scikit-learn's StandardScaler). A
 * constant column is only centred. */
#ifndef ATTNLAB_CORE_TASKS_STANDARDISE_H
#define ATTNLAB_CORE_TASKS_STANDARDISE_H

#include <stddef.h>

struct standardisation {
    size_t steps;
    double *mean, *deviation; /* [steps] */
};

/* Measures values[rows][steps] into the arrays, which the caller provides. `rows` must be above 0. */
void standardise_measure(struct standardisation *standardisation, const float *values, size_t rows);

/* Changes values[rows][length] in place; length is at most `steps`. NULL leaves them as they are. */
void standardise_apply(const struct standardisation *standardisation, float *values, size_t rows,
                       size_t length);

/* {"standardise_mean":"[…]","standardise_deviation":"[…]"}: one number for each column, in JSON within JSON,
 * because a safetensors file's metadata holds only strings. NULL when out of memory; release with free(). */
char *standardise_describe(const struct standardisation *standardisation);

#endif
