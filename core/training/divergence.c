/* Explains why a loss is no longer finite: see divergence.h. */
#include "core/training/divergence.h"

#include <math.h>
#include <stdio.h>

/* A loss is large if it is this many times that of guessing, ln(classes); features are large from this
 * magnitude on; and below this learning rate, a smaller one is not the remedy. */
enum { LARGE_LOSS_FACTOR = 10, LARGE_FEATURE = 100 };
static const double small_learning_rate = 1e-5;

/* 0 for text. */
static double largest_feature(const struct divergence *divergence) {
    const struct example_set *examples = divergence->examples;
    double largest = 0;
    for (size_t i = 0; examples->values != NULL && i < examples->count * divergence->sequence_length; i++)
        largest = fmax(largest, fabs((double)examples->values[i]));
    return largest;
}

/* Writes the advice on the learning rate, for steps that are too long. */
static void advise_smaller_steps(const struct divergence *divergence, char *text, size_t size) {
    if (divergence->learning_rate > small_learning_rate)
        snprintf(text, size, "Try a smaller learning_rate than %g, for example %g", divergence->learning_rate,
                 fmin(divergence->learning_rate / 10, 0.005));
    else
        snprintf(text, size, "The learning_rate is small already; try a smaller model, or another seed");
}

static void explain(const struct divergence *divergence, double largest, char *text, size_t size) {
    double guessing = log((double)divergence->class_count), large = LARGE_LOSS_FACTOR * guessing;
    char advice[120];
    if (largest >= LARGE_FEATURE && !(divergence->earlier <= large)) {
        char start[80] = "";
        if (!isnan(divergence->earlier))
            snprintf(start, sizeof start,
                     "It was large from the start, %.3g, where guessing gives %.2g: ", divergence->earlier,
                     guessing);
        snprintf(text, size, "%sthe features reach %.3g. Bring them near 1, for example by standardise",
                 start, largest);
        return;
    }
    advise_smaller_steps(divergence, advice, sizeof advice);
    if (isnan(divergence->latest))
        snprintf(text, size, "%s", advice);
    else if (divergence->latest > fmax(large, LARGE_LOSS_FACTOR * divergence->earlier))
        snprintf(text, size, "It had grown from %.3g to %.3g. %s", divergence->earlier, divergence->latest,
                 advice);
    else if (largest >= LARGE_FEATURE)
        snprintf(text, size,
                 "This was sudden: one step before, the loss was %.3g. Look for extreme numbers among the "
                 "features, which reach %.3g; or standardise",
                 divergence->latest, largest);
    else
        snprintf(text, size, "This was sudden: one step before, the loss was %.3g. %s", divergence->latest,
                 advice);
}

bool divergence_set(const struct divergence *divergence, struct error *error) {
    char explanation[300];
    explain(divergence, largest_feature(divergence), explanation, sizeof explanation);
    return error_set(error, ERROR_DIVERGED, "training diverged: %s at step %llu (epoch %llu). %s",
                     divergence->what, (unsigned long long)divergence->step,
                     (unsigned long long)divergence->epoch, explanation);
}
