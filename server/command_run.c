/* attnlab run: one experiment in the foreground, with no service. */
#include "server/commands.h"

#include "core/experiments/experiment.h"
#include "server/file_source.h"
#include "server/json_parameters.h"
#include "server/json_writer.h"
#include "server/memory_limit.h"
#include "server/options.h"
#include "server/parking.h"
#include "server/readable.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR_WIDTH = 40 };

static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal_number) {
    (void)signal_number;
    is_interrupted = 1;
}

static bool is_cancelled(void *owner) {
    (void)owner;
    return is_interrupted;
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
    printf("attnlab run EXPERIMENT [--name value ...] [--json] [--data DIR]\n\n");
    for (size_t i = 0; experiment_table[i]; i++) {
        printf("  %-20s %s\n", experiment_table[i]->name, experiment_table[i]->summary);
    }
    printf("\nattnlab run EXPERIMENT --help lists its parameters.\n");
}

static void print_choices(const struct parameter_declaration *declaration) {
    for (const char *const *choice = declaration->choices; choice && *choice; choice++) {
        printf("%s%s", choice == declaration->choices ? "        one of " : ", ", *choice);
    }
    if (declaration->choices) {
        printf("\n");
    }
}

static void print_parameters(const struct experiment *experiment) {
    printf("attnlab run %s [--name value ...] [--json] [--data DIR]\n%s\n\n", experiment->name,
           experiment->summary);
    for (size_t i = 0; i < experiment->parameter_count; i++) {
        const struct parameter_declaration *declaration = &experiment->parameters[i];
        printf("  --%s", declaration->name);
        if (declaration->default_text) {
            printf(" (default: %s", declaration->default_text);
        } else if (declaration->type == PARAMETER_MATRIX) {
            printf(" (default: none");
        } else if (declaration->type == PARAMETER_BOOLEAN) {
            printf(" (default: %s", declaration->default_number != 0.0 ? "true" : "false");
        } else {
            printf(" (default: %g", declaration->default_number);
        }
        printf("%s%s)\n        %s\n", declaration->default_note ? "; " : "",
               declaration->default_note ? declaration->default_note : "", declaration->meaning);
        print_choices(declaration);
    }
}

/* What the command line says. */
struct run_arguments {
    const struct experiment *experiment;
    struct parameter_set parameters;
    const char *data;
    bool is_json;
};

/* Takes "--name" and its value; returns how many arguments were taken, 0 on a fault. */
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
    for (char *c = name; *c; c++) {
        if (*c == '-') {
            *c = '_';
        }
    }
    const char *equals = strchr(argument, '=');
    const char *value = equals ? equals + 1 : count > 1 ? arguments[1] : NULL;
    int index = parameter_find(&run->parameters, name);
    if (!value) {
        parameter_faults_add(faults, name, "needs a value");
    } else if (strcmp(name, "data") == 0) {
        run->data = value;
    } else if (index >= 0) {
        parameter_set_from_text(&run->parameters, (size_t)index, value, faults);
    } else {
        json_add_unknown_fault(name, &run->parameters, NULL, faults);
    }
    return equals || !value ? 1 : 2;
}

/* Returns the exit status, 0 where all is well; every fault is printed. */
static int read_run(struct run_arguments *run, const struct data_source *data, int count,
                    char *const *arguments) {
    struct parameter_faults faults = {0};
    struct error error = {0};
    if (!parameter_set_init(&run->parameters, run->experiment->parameters, run->experiment->parameter_count,
                            &error)) {
        return command_fail(&error);
    }
    for (int i = 0; i < count;) {
        i += read_argument(run, count - i, arguments + i, &faults);
    }
    bool is_prepared =
        experiment_prepare(run->experiment, &run->parameters, data, memory_limit_of_run(), &faults, &error);
    for (size_t i = 0; i < faults.count; i++) {
        fprintf(stderr, "attnlab: --%s %s\n", faults.items[i].field, faults.items[i].message);
    }
    int status = faults.count > 0 ? EXIT_BAD_OPTION : is_prepared ? 0 : command_fail(&error);
    parameter_faults_free(&faults);
    return status;
}

static bool print_result(const struct run_arguments *run, const struct text *result, struct error *error) {
    if (result->failed) {
        return error_set_memory(error, result->length);
    }
    if (run->is_json) {
        printf("%s\n", result->bytes);
        return true;
    }
    json_t *json = json_loadb(result->bytes, result->length, 0, NULL);
    if (json) {
        readable_print(stdout, json);
    }
    json_decref(json);
    return json || error_set(error, ERROR_INTERNAL, "the result cannot be shown");
}

static bool run_experiment(const struct run_arguments *run, const struct data_source *data,
                           struct error *error) {
    struct text result = {0};
    bool is_watched = isatty(STDERR_FILENO);
    struct experiment_context context = {.parameters = &run->parameters,
                                         .result = json_result_sink(&result),
                                         .listener = {.progress = is_watched ? show_progress : NULL},
                                         .is_cancelled = is_cancelled,
                                         .seconds_now = seconds_now,
                                         .data = *data};
    bool is_done = run->experiment->run(&context, error);
    if (is_watched) {
        fprintf(stderr, "\r\033[K");
    }
    is_done = is_done && print_result(run, &result, error);
    text_free(&result);
    return is_done;
}

static const struct experiment *find_experiment(const char *name) {
    const struct experiment *experiment = experiment_find(name);
    if (!experiment) {
        fprintf(stderr, "attnlab: there is no experiment %s; there are", name);
        for (size_t i = 0; experiment_table[i]; i++) {
            fprintf(stderr, "%s %s", i ? "," : "", experiment_table[i]->name);
        }
        fprintf(stderr, "\n");
    }
    return experiment;
}

/* The data directory is needed before the parameters are checked. */
static const char *find_data(int count, char *const *arguments, const char *otherwise) {
    for (int i = 0; i + 1 < count; i++) {
        if (strcmp(arguments[i], "--data") == 0) {
            return arguments[i + 1];
        }
    }
    return otherwise;
}

int command_run(int count, char *const *arguments) {
    struct options options;
    struct error error = {0};
    if (count == 0 || strcmp(arguments[0], "--help") == 0) {
        print_experiments();
        return count == 0 ? EXIT_BAD_OPTION : 0;
    }
    struct run_arguments run = {.experiment = find_experiment(arguments[0])};
    if (!run.experiment) {
        return EXIT_BAD_OPTION;
    }
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--help") == 0) {
            print_parameters(run.experiment);
            return 0;
        }
    }
    if (!options_read(&options, 0, NULL, &error)) {
        return command_fail(&error);
    }
    run.data = find_data(count, arguments, options.data);
    struct data_source data = file_source(run.data);
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    int status = read_run(&run, &data, count - 1, arguments + 1);
    if (status == 0 && !run_experiment(&run, &data, &error)) {
        command_fail(&error);
        status = 1;
    }
    parameter_set_free(&run.parameters);
    return status;
}
