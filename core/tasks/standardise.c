/* Standardises columns: see standardise.h. Works in double: the columns may be large and close together. */
#include "core/tasks/standardise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void standardise_measure(struct standardisation *standardisation, const float *values, size_t rows) {
    size_t steps = standardisation->steps;
    for (size_t t = 0; t < steps; t++) {
        double sum = 0, squares = 0;
        for (size_t row = 0; row < rows; row++)
            sum += (double)values[row * steps + t];
        double mean = sum / (double)rows;
        for (size_t row = 0; row < rows; row++) {
            double difference = (double)values[row * steps + t] - mean;
            squares += difference * difference;
        }
        double deviation = sqrt(squares / (double)rows);
        standardisation->mean[t] = mean;
        standardisation->deviation[t] = deviation > 0 ? deviation : 1;
    }
}

void standardise_apply(const struct standardisation *standardisation, float *values, size_t rows,
                       size_t length) {
    for (size_t row = 0; standardisation != NULL && row < rows; row++)
        for (size_t t = 0; t < length; t++) {
            float *value = &values[row * length + t];
            *value = (float)(((double)*value - standardisation->mean[t]) / standardisation->deviation[t]);
        }
}

static char *write_numbers(char *text, const char *name, const double *numbers, size_t count) {
    text += sprintf(text, "\"%s\":\"[", name);
    for (size_t i = 0; i < count; i++)
        text += sprintf(text, "%s%.17g", i > 0 ? "," : "", numbers[i]);
    return text + sprintf(text, "]\"");
}

char *standardise_describe(const struct standardisation *standardisation) {
    enum { LONGEST_NUMBER = 26, NAMES = 100 };
    size_t steps = standardisation->steps;
    char *text = malloc(NAMES + 2 * steps * LONGEST_NUMBER), *end = text;
    if (text == NULL)
        return NULL;
    *end++ = '{';
    end = write_numbers(end, "standardise_mean", standardisation->mean, steps);
    *end++ = ',';
    end = write_numbers(end, "standardise_deviation", standardisation->deviation, steps);
    *end++ = '}';
    *end = '\0';
    return text;
}
