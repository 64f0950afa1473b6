/* Parameters of experiments: the first byte chooses an experiment, the rest is the JSON of its parameters.
 *
 * Whatever the JSON, reading and preparing it gives faults with messages in UTF-8, or parameters that stay
 * the same when written, read and prepared again. Experiments on given matrices are then run: the result is
 * JSON. */
#include "core/experiments/experiment.h"
#include "core/tasks/dataset_parse.h"
#include "core/tasks/utf8.h"
#include "server/formats/json_parameters.h"
#include "server/formats/json_writer.h"

#include <stdlib.h>
#include <string.h>

static const unsigned long long memory_limit = 64 << 20;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char table[] = "text,label\nit was good,1\nit was bad,0\nit is good,1\nit is bad,0\n"
                            "so good,1\nso bad,0\n";

static const struct dataset *find_dataset(void *owner, const char *name, struct error *error) {
    (void)owner;
    if (strcmp(name, "mine") == 0)
        return dataset_parse_csv(table, sizeof table - 1, error);
    error_set(error, ERROR_MISSING, "there is no data set %s", name);
    return NULL;
}

static void release_dataset(void *owner, const struct dataset *dataset) {
    (void)owner;
    dataset_free((struct dataset *)dataset);
}

static const struct data_source data = {.find_dataset = find_dataset, .release_dataset = release_dataset};

static const struct experiment *choose_experiment(uint8_t byte) {
    size_t count = 0;
    while (experiment_table[count] != NULL)
        count++;
    return experiment_table[byte % count];
}

static void check_utf8(const char *text) {
    size_t length = strlen(text);
    for (size_t at = 0, step; at < length; at += step) {
        uint32_t code_point;
        step = utf8_decode(text + at, length - at, &code_point);
        if (step == 0)
            abort();
    }
}

/* Whether the parameters are valid; if they are not, checks the messages about them. */
static bool read_and_prepare(const struct experiment *experiment, const json_t *object,
                             struct parameter_set *set) {
    struct parameter_faults faults = {0};
    struct error error = {0};
    if (!parameter_set_init(set, experiment->parameters, experiment->parameter_count, &error))
        abort();
    json_read_parameters(object, NULL, set, &faults);
    if (!experiment_prepare(experiment, set, &data, memory_limit, &faults, &error))
        abort();
    for (size_t i = 0; i < faults.count; i++) {
        check_utf8(faults.items[i].field);
        check_utf8(faults.items[i].message);
    }
    bool is_good = faults.count == 0;
    parameter_faults_free(&faults);
    return is_good;
}

static char *write_parameters(const struct parameter_set *set) {
    struct text text = {.maximum = TEXT_UNLIMITED};
    json_write_parameters(&text, NULL, set);
    char *written = text_release(&text);
    if (written == NULL)
        abort();
    return written;
}

static void check_round_trip(const struct experiment *experiment, const struct parameter_set *set) {
    struct parameter_set again;
    char *first = write_parameters(set);
    json_t *object = json_loads(first, JSON_REJECT_DUPLICATES, NULL);
    if (object == NULL || !read_and_prepare(experiment, object, &again))
        abort();
    char *second = write_parameters(&again);
    if (strcmp(first, second) != 0)
        abort();
    free(first);
    free(second);
    json_decref(object);
    parameter_set_free(&again);
}

static double no_time(void *owner) {
    (void)owner;
    return 0;
}

/* Runs only what takes next to no time. */
static void check_result(const struct experiment *experiment, const struct parameter_set *set) {
    struct text text = {.maximum = TEXT_UNLIMITED};
    struct error error = {0};
    struct experiment_context context = {
        .parameters = set, .result = json_result_sink(&text), .host.seconds_now = no_time, .data = data};
    if (strcmp(experiment->name, "attention-steps") != 0)
        return;
    if (!experiment->run(&context, &error))
        abort();
    json_t *result = json_loadb(text.bytes, text.length, JSON_REJECT_DUPLICATES, NULL);
    if (result == NULL)
        abort();
    json_decref(result);
    text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0)
        return 0;
    const struct experiment *experiment = choose_experiment(bytes[0]);
    json_t *object = json_loadb((const char *)bytes + 1, size - 1, JSON_REJECT_DUPLICATES, NULL);
    struct parameter_set set;
    if (!json_is_object(object)) {
        json_decref(object);
        return 0;
    }
    if (read_and_prepare(experiment, object, &set)) {
        check_round_trip(experiment, &set);
        check_result(experiment, &set);
    }
    parameter_set_free(&set);
    json_decref(object);
    return 0;
}
