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

/* Parameters that make a run long or large, under the names that the experiments declare them by. */
static const struct {
    const char *parameter;
    size_t limit; /* its place in struct student_limits */
    double factor;
} limited_parameters[] = {
    {"epochs", offsetof(struct student_limits, epochs), 1},
    {"width", offsetof(struct student_limits, width), 1},
    {"feedforward_width", offsetof(struct student_limits, width), 4},
    {"channels", offsetof(struct student_limits, width), 1},
    {"sequence_length", offsetof(struct student_limits, sequence_length), 1},
    {"tokens", offsetof(struct student_limits, sequence_length), 1},
    {"lengths", offsetof(struct student_limits, sequence_length), 1},
    {"train_examples", offsetof(struct student_limits, examples), 1},
    {"test_examples", offsetof(struct student_limits, examples), 1},
    {"examples", offsetof(struct student_limits, examples), 1},
    {"samples", offsetof(struct student_limits, examples), 1},
};

static void check_limit(const struct parameter_set *set, size_t index, size_t limit,
                        struct parameter_faults *faults) {
    const struct parameter_value *value = &set->values[index];
    int64_t largest = set->declarations[index].type == PARAMETER_INTEGER ? value->integer : 0;
    for (size_t i = 0; set->declarations[index].type == PARAMETER_INTEGER_LIST && i < value->count; i++)
        largest = value->integers[i] > largest ? value->integers[i] : largest;
    if (value->is_set && largest > (int64_t)limit) {
        parameter_faults_add(faults, set->declarations[index].name,
                             "may be at most %zu in a student's run; got %lld", limit, (long long)largest);
    }
}

void access_check_parameters(const struct request *request, const struct parameter_set *set,
                             struct parameter_faults *faults) {
    const char *limits = (const char *)&request->service->options->student_limits;
    for (size_t i = 0; is_limited(request) && i < sizeof limited_parameters / sizeof *limited_parameters;
         i++) {
        int index = parameter_find(set, limited_parameters[i].parameter);
        size_t limit;
        memcpy(&limit, limits + limited_parameters[i].limit, sizeof limit);
        if (index >= 0)
            check_limit(set, (size_t)index, (size_t)((double)limit * limited_parameters[i].factor), faults);
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
