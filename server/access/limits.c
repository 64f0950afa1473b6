/* What a student may ask for. The lecturer is bound by none of it. */
#include "server/access/access.h"

#include "server/api/service.h"
#include "server/http/request.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MEGABYTE = 1 << 20 };

static bool is_limited(const struct request *request) {
    return request->caller.role != ROLE_LECTURER;
}

/* The largest value that a parameter of this declaration may have, or hold in its list. */
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

/* The largest number that a whole number is or a list of them holds; 0 for other types. */
static int64_t largest_number(const struct parameter_set *set, size_t index) {
    const struct parameter_value *value = &set->values[index];
    int64_t largest = set->declarations[index].type == PARAMETER_INTEGER ? value->integer : 0;
    for (size_t i = 0; set->declarations[index].type == PARAMETER_INTEGER_LIST && i < value->count; i++)
        largest = value->integers[i] > largest ? value->integers[i] : largest;
    return largest;
}

void access_check_parameters(const struct request *request, const struct parameter_set *set,
                             struct parameter_faults *faults) {
    for (size_t i = 0; is_limited(request) && i < set->count; i++) {
        const struct parameter_declaration *declaration = &set->declarations[i];
        size_t limit = parameter_limit(&request->service->options->student_limits, declaration);
        int64_t largest = set->values[i].is_set ? largest_number(set, i) : 0;
        if (largest > 0 && (uint64_t)largest > limit) {
            parameter_faults_add(faults, declaration->name, "may be at most %zu in a student's run; got %lld",
                                 limit, (long long)largest);
        }
    }
}

unsigned long long access_memory_limit(const struct request *request) {
    unsigned long long own =
        (unsigned long long)request->service->options->student_limits.memory_mb * MEGABYTE;
    unsigned long long any = request->service->memory_limit_bytes;
    return is_limited(request) && own < any ? own : any;
}

size_t access_queue_limit(const struct request *request) {
    return is_limited(request) ? request->service->options->student_limits.queued_runs : 0;
}

size_t access_network_queue_limit(const struct request *request) {
    return is_limited(request) ? request->service->options->student_limits.queued_runs_per_address : 0;
}

size_t access_data_limit(const struct request *request) {
    return is_limited(request) ? request->service->options->student_limits.data_mb * MEGABYTE : SIZE_MAX;
}

bool access_check_data(struct request *request, size_t size) {
    struct dataset_record *records = NULL;
    struct error error = {0};
    size_t count = 0;
    size_t used = 0;
    size_t used_by_all = 0;
    if (!is_limited(request))
        return true;
    if (!datasets_list(request->service->datasets, &records, &count, &error)) {
        response_set_error(&request->response, &error);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        used += strcmp(records[i].owner, request->caller.owner) == 0 ? records[i].size_bytes : 0;
        used_by_all += strcmp(records[i].owner, OWNER_LECTURER) != 0 ? records[i].size_bytes : 0;
        dataset_record_clear(&records[i]);
    }
    free(records);
    if (used + size > access_data_limit(request)) {
        response_set_problem(&request->response, 429,
                             "your data sets may have %zu bytes together; they have %zu, and this one %zu",
                             access_data_limit(request), used, size);
        return false;
    }
    size_t limit_of_all = request->service->options->student_limits.all_data_mb * MEGABYTE;
    if (used_by_all + size > limit_of_all) {
        response_set_problem(
            &request->response, 429,
            "all students' data sets may have %zu bytes together; they have %zu, and this one %zu",
            limit_of_all, used_by_all, size);
        return false;
    }
    return true;
}
