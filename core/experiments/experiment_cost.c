/* Estimates the cost of a run and holds it to limits: see experiment.h. */
#include "core/experiments/experiment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The memory of any run, however small: stacks, allocators' reserves, buffers of OpenBLAS, SQLite's pages.
 * And the work before and after it. */
enum { FIXED_MEMORY = 6 << 20, FIXED_OPERATIONS = 100000 };

struct run_cost experiment_estimate(const struct experiment *experiment, const struct parameter_set *set,
                                    const struct data_source *data) {
    struct run_cost cost = experiment->estimate(set, data);
    cost.memory_bytes += FIXED_MEMORY;
    cost.work[WORK_ARITHMETIC] += FIXED_OPERATIONS;
    return cost;
}

/* The parameters that weigh most, heaviest first. */
enum { HEAVY_MAXIMUM = 3 };
struct heavy {
    size_t count;
    size_t indices[HEAVY_MAXIMUM];
    double ratios[HEAVY_MAXIMUM];
};

/* Halves a whole number, or each in a list of them, if the declaration allows it. */
static void halve(const struct parameter_declaration *declaration, struct parameter_value *value) {
    if (declaration->type == PARAMETER_INTEGER && (double)value->integer / 2 >= declaration->minimum)
        value->integer /= 2;
    for (size_t i = 0; declaration->type == PARAMETER_INTEGER_LIST && i < value->count; i++)
        if ((double)value->integers[i] / 2 >= declaration->minimum)
            value->integers[i] /= 2;
    if (declaration->type == PARAMETER_MATRIX)
        value->rows /= 2;
}

static void add_heavy(struct heavy *heavy, size_t index, double ratio) {
    size_t place = 0;
    while (place < heavy->count && heavy->ratios[place] >= ratio)
        place++;
    if (place == HEAVY_MAXIMUM)
        return;
    heavy->count += heavy->count < HEAVY_MAXIMUM;
    for (size_t i = heavy->count - 1; i > place; i--) {
        heavy->indices[i] = heavy->indices[i - 1];
        heavy->ratios[i] = heavy->ratios[i - 1];
    }
    heavy->indices[place] = index;
    heavy->ratios[place] = ratio;
}

static struct heavy find_heavy(const struct experiment *experiment, const struct parameter_set *set,
                               const struct data_source *data, const struct cost_limit *limit, double whole) {
    static const double least_ratio = 1.15;
    struct heavy heavy = {0};
    for (size_t i = 0; i < set->count; i++) {
        struct parameter_set halved;
        if (!set->values[i].is_set || !parameter_set_copy(&halved, set, NULL))
            continue;
        halve(&set->declarations[i], &halved.values[i]);
        struct run_cost cost = experiment_estimate(experiment, &halved, data);
        double ratio = whole / limit->measure(limit->owner, &cost);
        if (!cost.is_unknown && ratio > 1)
            add_heavy(&heavy, i, ratio);
        parameter_set_free(&halved);
    }
    while (heavy.count > 1 && heavy.ratios[heavy.count - 1] < least_ratio)
        heavy.count--;
    return heavy;
}

/* Writes "width, layers and batch_size"; "" if nothing weighs. */
static void write_names(const struct heavy *heavy, const struct parameter_set *set, char *text, size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < heavy->count && length < size; i++) {
        const char *joint = i == 0 ? "" : i + 1 < heavy->count ? ", " : " and ";
        length += (size_t)snprintf(text + length, size - length, "%s%s", joint,
                                   set->declarations[heavy->indices[i]].name);
    }
}

void experiment_check_cost(const struct experiment *experiment, const struct parameter_set *set,
                           const struct data_source *data, const struct cost_limit *limit,
                           struct parameter_faults *faults) {
    struct run_cost cost = experiment_estimate(experiment, set, data);
    if (cost.is_unknown) {
        parameter_faults_add_memory(faults);
        return;
    }
    double whole = limit->measure(limit->owner, &cost);
    if (whole <= limit->most)
        return;
    char names[HEAVY_MAXIMUM * 64];
    struct heavy heavy = find_heavy(experiment, set, data, limit, whole);
    write_names(&heavy, set, names, sizeof names);
    parameter_faults_add(faults, set->declarations[heavy.count > 0 ? heavy.indices[0] : 0].name,
                         "is too large: the run would %s %.1f %s, at most %.1f %s are allowed%s%s%s%s",
                         limit->verb, whole / limit->scale, limit->unit, limit->most / limit->scale,
                         limit->unit, limit->whom, heavy.count > 1 ? "; " : "", heavy.count > 1 ? names : "",
                         heavy.count > 1 ? " weigh most" : "");
}
