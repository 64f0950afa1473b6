/* attnlab run: runs one experiment in the foreground, without a service, on as many cores as there are
 * workers. */
#include "server/commands/commands.h"

#include "core/experiments/experiment.h"
#include "core/math/matrix.h"
#include "core/parameters/parse.h"
#include "server/formats/file_source.h"
#include "server/formats/json_parameters.h"
#include "server/formats/json_writer.h"
#include "server/formats/readable.h"
#include "server/runs/workers.h"
#include "server/system/clock.h"
#include "server/system/memory_limit.h"
#include "server/system/options.h"

#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR_WIDTH = 40 };

static atomic_bool is_interrupted;

static void interrupt(int signal_number) {
    (void)signal_number;
    atomic_store(&is_interrupted, true);
}

static bool is_cancelled(void *owner) {
    (void)owner;
    return atomic_load(&is_interrupted);
}

static double seconds_now(void *owner) {
    (void)owner;
    return clock_seconds();
}

static void show_progress(void *owner, size_t done, size_t total, const char *unit) {
    (void)owner;
    int filled = total > 0 ? (int)(BAR_WIDTH * done / total) : 0;
    fprintf(stderr, "\r[%.*s%*s] %zu of %zu %s ", filled, "########################################",
            BAR_WIDTH - filled, "", done, total, unit);
}

static void print_experiments(void) {
    printf(
        "attnlab run EXPERIMENT [--name value ...] [--json] [--data DIR] [--workers N] [--kernels SET]\n\n");
    for (size_t i = 0; experiment_table[i]; i++)
        printf("  %-20s %s\n", experiment_table[i]->name, experiment_table[i]->summary);
    printf("\nattnlab run EXPERIMENT --help lists its parameters.\n");
}

static void print_choices(const struct parameter_declaration *declaration) {
    const char *choice;
    if (declaration->type != PARAMETER_CHOICE && declaration->type != PARAMETER_CHOICE_LIST)
        return;
    for (size_t i = 0; (choice = parameter_choice(declaration, i)) != NULL; i++)
        printf("%s%s", i == 0 ? "        one of " : ", ", choice);
    printf("\n");
}

static void print_parameters(const struct experiment *experiment) {
    printf("attnlab run %s [--name value ...] [--json] [--data DIR] [--workers N] [--kernels SET]\n%s\n\n",
           experiment->name, experiment->summary);
    for (size_t i = 0; i < experiment->parameter_count; i++) {
        const struct parameter_declaration *declaration = &experiment->parameters[i];
        char meaning[PARAMETER_MEANING_SIZE];
        printf("  --%s", declaration->name);
        if (declaration->default_text)
            printf(" (default: %s", declaration->default_text);
        else if (declaration->type == PARAMETER_MATRIX)
            printf(" (default: none");
        else if (declaration->type == PARAMETER_BOOLEAN)
            printf(" (default: %s", declaration->default_number != 0.0 ? "true" : "false");
        else
            printf(" (default: %g", declaration->default_number);
        printf("%s%s)\n        %s\n", declaration->default_note ? "; " : "",
               declaration->default_note ? declaration->default_note : "",
               parameter_meaning(declaration, meaning));
        print_choices(declaration);
    }
}

/* The parsed command line. */
struct run_arguments {
    const struct experiment *experiment;
    struct parameter_set parameters;
    bool is_json;
};

/* Whether the argument is an option of the service that also applies here, and not a parameter. */
static bool is_option(const char *argument) {
    static const char *const names[] = {"--data", "--workers", "--kernels"};
    size_t length = strcspn(argument, "=");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncmp(argument, names[i], length) == 0)
            return true;
    return false;
}

/* Reads the options first, because checking the parameters needs the data directory with the data sets. */
static bool read_options(struct options *options, int count, char *const *arguments, struct error *error) {
    int picked_count = 0;
    char **picked = calloc((size_t)count + 1, sizeof *picked);
    if (!picked)
        return error_set_memory(error, (size_t)count * sizeof *picked);
    for (int i = 0; i < count; i++) {
        if (is_option(arguments[i])) {
            picked[picked_count++] = arguments[i];
            if (!strchr(arguments[i], '=') && i + 1 < count)
                picked[picked_count++] = arguments[++i];
        }
    }
    bool is_read = options_read(options, picked_count, picked, error);
    free(picked);
    return is_read;
}

/* Reads "--name" and its value, or adds a fault. Returns the number of arguments consumed. */
static int read_argument(struct run_arguments *run, int count, char *const *arguments,
                         struct parameter_faults *faults) {
    const char *argument = arguments[0];
    if (strcmp(argument, "--json") == 0) {
        run->is_json = true;
        return 1;
    }
    if (strncmp(argument, "--", 2) != 0) {
        parameter_faults_add(faults, argument, "is not known; parameters are given as --name value");
        return 1;
    }
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
    for (char *c = name; *c; c++)
        if (*c == '-')
            *c = '_';
    const char *equals = strchr(argument, '=');
    const char *value = equals ? equals + 1 : count > 1 ? arguments[1] : NULL;
    int index = parameter_find(&run->parameters, name);
    if (!value)
        parameter_faults_add(faults, name, "needs a value");
    else if (is_option(argument))
        return equals ? 1 : 2;
    else if (index >= 0)
        parameter_set_from_text(&run->parameters, (size_t)index, value, faults);
    else
        json_add_unknown_fault(name, &run->parameters, NULL, faults);
    return equals || !value ? 1 : 2;
}

/* Reads and checks the parameters. Prints every fault and returns the exit status, 0 if there is none. */
static int read_run(struct run_arguments *run, const struct data_source *data, int count,
                    char *const *arguments) {
    struct parameter_faults faults = {0};
    struct error error = {0};
    if (!parameter_set_init(&run->parameters, run->experiment->parameters, run->experiment->parameter_count,
                            &error))
        return command_fail(&error);
    for (int i = 0; i < count;)
        i += read_argument(run, count - i, arguments + i, &faults);
    bool is_prepared =
        experiment_prepare(run->experiment, &run->parameters, data, memory_limit_default(), &faults, &error);
    for (size_t i = 0; i < faults.count; i++)
        fprintf(stderr, "attnlab: --%s %s\n", faults.items[i].field, faults.items[i].message);
    int status = faults.count > 0 ? EXIT_BAD_OPTION : is_prepared ? 0 : command_fail(&error);
    parameter_faults_free(&faults);
    return status;
}

static bool print_result(const struct run_arguments *run, const struct text *result, struct error *error) {
    if (result->failed)
        return error_set_memory(error, result->length);
    if (run->is_json) {
        printf("%s\n", result->bytes);
        return true;
    }
    json_t *json = json_loadb(result->bytes, result->length, 0, NULL);
    if (json)
        readable_print(stdout, json);
    json_decref(json);
    return json || error_set(error, ERROR_INTERNAL, "the result cannot be shown");
}

/* The only task of the workers, and its result. */
struct job {
    const struct run_arguments *run;
    const struct data_source *data;
    struct text result;
    struct error error;
    bool is_watched, is_successful;
    atomic_bool is_taken;
    sem_t ended;
};

static void *take_job(void *owner) {
    struct job *job = owner;
    return atomic_exchange(&job->is_taken, true) ? NULL : job;
}

static void perform_job(void *owner, void *task, const struct parallel_executor *parallel) {
    (void)task;
    struct job *job = owner;
    struct experiment_context context = {.parameters = &job->run->parameters,
                                         .result = json_result_sink(&job->result),
                                         .data = *job->data,
                                         .host = {.listener.progress = job->is_watched ? show_progress : NULL,
                                                  .stop = {is_cancelled, NULL},
                                                  .seconds_now = seconds_now,
                                                  .parallel = *parallel}};
    job->is_successful = job->run->experiment->run(&context, &job->error);
    sem_post(&job->ended);
}

static bool run_experiment(const struct run_arguments *run, const struct data_source *data,
                           size_t worker_count, struct error *error) {
    struct job job = {.run = run,
                      .data = data,
                      .result = {.maximum = TEXT_UNLIMITED}, /* counted in the run's memory */
                      .is_watched = isatty(STDERR_FILENO)};
    struct worker_callbacks callbacks = {.owner = &job, .take = take_job, .perform = perform_job};
    sem_init(&job.ended, 0, 0);
    struct workers *workers = workers_start(worker_count, &callbacks, error);
    bool is_done = workers != NULL;
    if (is_done) {
        while (sem_wait(&job.ended) != 0) {
        }
        workers_stop(workers);
        is_done = job.is_successful || error_set(error, job.error.code, "%s", job.error.message);
    }
    sem_destroy(&job.ended);
    if (job.is_watched)
        fprintf(stderr, "\r\033[K");
    is_done = is_done && print_result(run, &job.result, error);
    text_free(&job.result);
    return is_done;
}

static const struct experiment *find_experiment(const char *name) {
    const struct experiment *experiment = experiment_find(name);
    if (!experiment) {
        fprintf(stderr, "attnlab: there is no experiment %s; the experiments are", name);
        for (size_t i = 0; experiment_table[i]; i++)
            fprintf(stderr, "%s %s", i ? "," : "", experiment_table[i]->name);
        fprintf(stderr, "\n");
    }
    return experiment;
}

int command_run(int count, char *const *arguments) {
    struct options options = {0};
    struct error error = {0};
    if (count == 0 || strcmp(arguments[0], "--help") == 0) {
        print_experiments();
        return count == 0 ? EXIT_BAD_OPTION : 0;
    }
    struct run_arguments run = {.experiment = find_experiment(arguments[0])};
    if (!run.experiment)
        return EXIT_BAD_OPTION;
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--help") == 0) {
            print_parameters(run.experiment);
            return 0;
        }
    }
    if (!read_options(&options, count - 1, arguments + 1, &error) ||
        !command_select_kernels(&options, &error))
        return command_fail(&error);
    if (!matrix_reserve(options.workers > 0 ? options.workers : workers_default_count(), &error))
        return command_fail(&error);
    struct data_source data = file_source(options.data);
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    int status = read_run(&run, &data, count - 1, arguments + 1);
    if (status == 0 && !run_experiment(&run, &data, options.workers, &error)) {
        command_fail(&error);
        status = 1;
    }
    parameter_set_free(&run.parameters);
    return status;
}
