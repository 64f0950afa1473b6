/* Checks requests against a student's limits: see limits.h. */
#include "server/access/limits.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* However small they are: every list and every check reads a row for each. */
enum { OWN_DATASETS = 50, STUDENTS_DATASETS = 2000, DATASETS_READ = 100000 };

enum { MEGABYTE = 1 << 20 };

static bool is_limited(const struct caller *caller) {
    return caller->role != ROLE_LECTURER;
}

/* The largest value that a parameter of this declaration, or an item of its list, may have. */
static size_t parameter_limit(const struct student_limits *limits,
                              const struct parameter_declaration *declaration) {
    size_t allowance = declaration->cost_allowance > 0 ? declaration->cost_allowance : 1;
    switch (declaration->cost) {
    case PARAMETER_COST_EPOCHS:
        return limits->epochs * allowance;
    case PARAMETER_COST_WIDTH:
        return limits->width * allowance;
    case PARAMETER_COST_LENGTH:
        return limits->sequence_length * allowance;
    case PARAMETER_COST_EXAMPLES:
        return limits->examples * allowance;
    case PARAMETER_COST_UNSTATED:
    case PARAMETER_COST_NONE:
        break;
    }
    return SIZE_MAX;
}

/* The value of a whole number, or the largest value in a list of them; 0 for other types. */
static int64_t largest_number(const struct parameter_set *set, size_t index) {
    const struct parameter_value *value = &set->values[index];
    int64_t largest = set->declarations[index].type == PARAMETER_INTEGER ? value->integer : 0;
    for (size_t i = 0; set->declarations[index].type == PARAMETER_INTEGER_LIST && i < value->count; i++)
        largest = value->integers[i] > largest ? value->integers[i] : largest;
    return largest;
}

void limits_check_parameters(const struct student_limits *limits, const struct caller *caller,
                             const struct parameter_set *set, struct parameter_faults *faults) {
    for (size_t i = 0; is_limited(caller) && i < set->count; i++) {
        const struct parameter_declaration *declaration = &set->declarations[i];
        size_t limit = parameter_limit(limits, declaration);
        int64_t largest = set->values[i].is_set ? largest_number(set, i) : 0;
        if (largest > 0 && (uint64_t)largest > limit) {
            parameter_faults_add(faults, declaration->name,
                                 "must be at most %zu in a student's run; got %lld", limit,
                                 (long long)largest);
        }
    }
}

static double measure_seconds(const void *speed, const struct run_cost *cost) {
    return run_cost_seconds(cost, speed);
}

static double measure_stored(const void *unused, const struct run_cost *cost) {
    (void)unused;
    return store_run_bytes(cost->snapshots, cost->weight_bytes, cost->result_bytes);
}

void limits_check_cost(const struct student_limits *limits, const struct caller *caller,
                       const struct run_speed *speed, const struct experiment *experiment,
                       const struct parameter_set *set, const struct data_source *data,
                       struct parameter_faults *faults) {
    static const char whom[] = " in a student's run";
    const struct cost_limit cost_limits[] = {
        {measure_seconds, speed, (double)limits->seconds, 1, "take about", "s of one core", whom},
        {measure_stored, NULL, (double)limits->disk_mb * MEGABYTE, 1e6, "store up to", "MB", whom},
    };
    for (size_t i = 0; is_limited(caller) && i < sizeof cost_limits / sizeof *cost_limits; i++)
        experiment_check_cost(experiment, set, data, &cost_limits[i], faults);
}

unsigned long long limits_find_memory(const struct student_limits *limits, const struct caller *caller,
                                      unsigned long long any) {
    unsigned long long own = (unsigned long long)limits->memory_mb * MEGABYTE;
    return is_limited(caller) && own < any ? own : any;
}

size_t limits_find_queue(const struct student_limits *limits, const struct caller *caller) {
    return is_limited(caller) ? limits->queued_runs : 0;
}

size_t limits_find_network_queue(const struct student_limits *limits, const struct caller *caller) {
    return is_limited(caller) ? limits->queued_runs_per_address : 0;
}

size_t limits_find_data(const struct student_limits *limits, const struct caller *caller) {
    return is_limited(caller) ? limits->data_mb * MEGABYTE : SIZE_MAX;
}

bool limits_check_data(const struct student_limits *limits, const struct caller *caller,
                       struct datasets *datasets, size_t size, struct error *error) {
    struct dataset_record *records = NULL;
    size_t count = 0;
    size_t used = 0;
    size_t used_by_all = 0;
    size_t own = 0;
    size_t of_all = 0;
    if (!is_limited(caller))
        return true;
    if (!datasets_list(datasets, NULL, DATASETS_READ, &records, &count, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        bool is_own = strcmp(records[i].owner, caller->owner) == 0;
        bool is_students = strcmp(records[i].owner, OWNER_LECTURER) != 0;
        own += is_own;
        of_all += is_students;
        used += is_own ? records[i].size_bytes : 0;
        used_by_all += is_students ? records[i].size_bytes : 0;
        dataset_record_clear(&records[i]);
    }
    free(records);
    if (own >= OWN_DATASETS)
        return error_set(error, ERROR_LIMIT, "you may have %d data sets; delete one first", OWN_DATASETS);
    if (of_all >= STUDENTS_DATASETS)
        return error_set(error, ERROR_LIMIT,
                         "all students together may have %d data sets; one must be deleted",
                         STUDENTS_DATASETS);
    size_t limit = limits_find_data(limits, caller);
    if (used + size > limit)
        return error_set(error, ERROR_LIMIT,
                         "your data sets may take %zu bytes in total; they take %zu, and this one would add"
                         " %zu",
                         limit, used, size);
    size_t limit_of_all = limits->all_data_mb * MEGABYTE;
    if (used_by_all + size > limit_of_all)
        return error_set(
            error, ERROR_LIMIT,
            "all students' data sets may take %zu bytes in total; they take %zu, and this one would add %zu",
            limit_of_all, used_by_all, size);
    return true;
}
