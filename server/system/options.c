/* The table of options: see options.h. */
#include "server/system/options.h"

#include "server/system/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct option {
    const char *name;
    const char *value_name;
    const char *default_text; /* for the help */
    const char *help;
    /* Checks and takes the value; NULL for a whole number from `minimum` to `maximum`. */
    bool (*take)(struct options *options, const char *value, struct error *error);
    size_t number; /* the number's place in struct options */
    unsigned long minimum, maximum;
};

static bool take_listen(struct options *options, const char *value, struct error *error) {
    char host[256];
    char port[8];
    if (!address_split(value, host, sizeof host, port, sizeof port)) {
        return error_set(error, ERROR_INVALID,
                         "--listen must be address:port, like 127.0.0.1:8080; got \"%s\"", value);
    }
    options->listen = value;
    return true;
}

static bool take_data(struct options *options, const char *value, struct error *error) {
    if (!*value)
        return error_set(error, ERROR_INVALID, "--data must be a directory; got nothing");
    options->data = value;
    return true;
}

static bool take_web(struct options *options, const char *value, struct error *error) {
    struct stat status;
    if (stat(value, &status) != 0 || !S_ISDIR(status.st_mode))
        return error_set(error, ERROR_INVALID, "--web must be a folder; \"%s\" is none", value);
    options->web = value;
    return true;
}

static bool take_host(struct options *options, const char *value, struct error *error) {
    (void)error;
    options->host = value;
    return true;
}

/* The place of `value` among `names`; -1 and an error that lists them where it has none. */
static int find_name(const char *option, const char *const *names, const char *value, struct error *error) {
    char known[128] = "";
    size_t length = 0;
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], value) == 0)
            return i;
        length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "", names[i]);
    }
    error_set(error, ERROR_INVALID, "--%s must be one of %s; got \"%s\"", option, known, value);
    return -1;
}

static bool take_access(struct options *options, const char *value, struct error *error) {
    static const char *const names[] = {"open", "token", NULL};
    int index = find_name("access", names, value, error);
    options->access = index == 0 ? ACCESS_OPEN : ACCESS_TOKEN;
    return index >= 0;
}

static bool take_students(struct options *options, const char *value, struct error *error) {
    static const char *const names[] = {"none", "read", "run", NULL};
    int index = find_name("students", names, value, error);
    options->students = (enum student_rights)index;
    return index >= 0;
}

static bool take_token_file(struct options *options, const char *value, struct error *error) {
    (void)error;
    options->token_file = value;
    return true;
}

static bool take_behind_proxy(struct options *options, const char *value, struct error *error) {
    static const char *const names[] = {"no", "yes", NULL};
    int index = find_name("behind-proxy", names, value, error);
    options->is_behind_proxy = index == 1;
    return index >= 0;
}

static bool take_log_level(struct options *options, const char *value, struct error *error) {
    int index = find_name("log-level", log_level_names, value, error);
    options->log_level = (enum log_level)index;
    return index >= 0;
}

#define NUMBER(member, least, most)                                                                          \
    .number = offsetof(struct options, member), .minimum = (least), .maximum = (most)

static const struct option option_table[] = {
    {"listen", "ADDRESS:PORT", "127.0.0.1:8080", "where to listen; port 0 takes a free one",
     .take = take_listen},
    {"data", "DIR", "the user's data directory", "where all state is kept", .take = take_data},
    {"workers", "N", "as many as cores", "how many runs train at once", NUMBER(workers, 1, 256)},
    {"memory-mb", "N", "half of the machine's or container's",
     "how much memory runs may take together; each worker's run may take its share of it",
     NUMBER(memory_mb, 16, 100000000)},
    {"web", "DIR", "the page inside the program", "serve the page's files from this folder instead",
     .take = take_web},
    {"host", "NAME[,NAME...]", "none", "further host names that requests may use", .take = take_host},
    {"access", "open|token", "none on loopback; elsewhere it must be given",
     "open: whoever reaches the service may do everything; token: whoever has the token is the lecturer, all "
     "others are students",
     .take = take_access},
    {"students", "none|read|run", "none", "with --access token: what those without the token may do",
     .take = take_students},
    {"token-file", "FILE", "ATTNLAB_TOKEN, else made as DIR/attnlab.token", "where the lecturer's token is",
     .take = take_token_file},
    {"student-queued-runs", "N", "20", "how many waiting runs a student may have",
     NUMBER(student_limits.queued_runs, 1, 1000)},
    {"student-queued-runs-per-address", "N", "500",
     "how many waiting runs all students of one address may have, a class behind one router for example",
     NUMBER(student_limits.queued_runs_per_address, 1, 1000)},
    {"student-epochs", "N", "200", "the most epochs in a student's run",
     NUMBER(student_limits.epochs, 1, 1000000)},
    {"student-width", "N", "128", "the largest model width in a student's run",
     NUMBER(student_limits.width, 1, 1000000)},
    {"student-sequence-length", "N", "512", "the longest sequence in a student's run",
     NUMBER(student_limits.sequence_length, 1, 1000000)},
    {"student-examples", "N", "20000", "the most examples in a student's run",
     NUMBER(student_limits.examples, 1, 1000000000)},
    {"student-memory-mb", "N", "256", "the most memory that a student's run may take",
     NUMBER(student_limits.memory_mb, 1, 1000000)},
    {"student-data-mb", "N", "4", "the room for a student's data sets",
     NUMBER(student_limits.data_mb, 1, 1000000)},
    {"all-student-data-mb", "N", "400", "the room for all students' data sets together",
     NUMBER(student_limits.all_data_mb, 1, 1000000)},
    {"behind-proxy", "yes|no", "no", "a proxy such as nginx sets X-Forwarded-For and X-Forwarded-Proto",
     .take = take_behind_proxy},
    {"connections", "N", "4000", "how many connections may be open", NUMBER(connections, 8, 100000)},
    {"connections-per-address", "N", "1000", "how many of them from one address",
     NUMBER(connections_per_address, 1, 100000)},
    {"request-timeout", "SECONDS", "20", "for a request's head; for its body and its answer, more if large",
     NUMBER(request_timeout, 1, 3600)},
    {"idle-timeout", "SECONDS", "60", "for a connection on which nothing moves",
     NUMBER(idle_timeout, 1, 3600)},
    {"log-level", "error|warning|info|debug", "warning",
     "what is logged on standard error; info has a line for every request", .take = take_log_level},
};
enum { OPTION_COUNT = sizeof option_table / sizeof *option_table };

static bool take_value(const struct option *option, struct options *options, const char *value,
                       struct error *error) {
    if (option->take)
        return option->take(options, value, error);
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || number < option->minimum || number > option->maximum) {
        return error_set(error, ERROR_INVALID, "--%s must be a whole number from %lu to %lu; got \"%s\"",
                         option->name, option->minimum, option->maximum, value);
    }
    memcpy((char *)options + option->number, &(size_t){number}, sizeof(size_t));
    return true;
}

static void choose_default_data(struct options *options) {
    const char *base = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    if (base && *base == '/') {
        snprintf(options->default_data, sizeof options->default_data, "%s/attnlab", base);
    } else {
        snprintf(options->default_data, sizeof options->default_data, "%s/.local/share/attnlab",
                 home && *home ? home : ".");
    }
    options->data = options->default_data;
}

static bool read_environment(struct options *options, struct error *error) {
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        char name[64] = "ATTNLAB_";
        size_t length = strlen(name);
        for (const char *c = option_table[i].name; *c; c++)
            name[length++] = (char)(*c == '-' ? '_' : toupper((unsigned char)*c));
        const char *value = getenv(name);
        if (value && *value && !take_value(&option_table[i], options, value, error))
            return false;
    }
    return true;
}

static const struct option *find_option(const char *argument, size_t length) {
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (strlen(option_table[i].name) == length && strncmp(option_table[i].name, argument, length) == 0)
            return &option_table[i];
    return NULL;
}

static bool set_unknown_error(const char *argument, struct error *error) {
    char known[500] = "";
    size_t length = 0;
    for (size_t i = 0; i < OPTION_COUNT && length < sizeof known; i++) {
        length += (size_t)snprintf(known + length, sizeof known - length, "%s--%s", i ? ", " : "",
                                   option_table[i].name);
    }
    return error_set(error, ERROR_INVALID, "unknown option %.60s (see --help); the options are %s", argument,
                     known);
}

static bool read_arguments(struct options *options, int count, char *const *arguments, struct error *error) {
    for (int i = 0; i < count; i++) {
        const char *argument = arguments[i];
        bool is_option = strncmp(argument, "--", 2) == 0;
        size_t length = is_option ? strcspn(argument + 2, "=") : 0;
        const struct option *option = is_option ? find_option(argument + 2, length) : NULL;
        if (!option)
            return set_unknown_error(argument, error);
        const char *value = argument[2 + length] == '=' ? argument + 3 + length : NULL;
        if (!value && ++i < count)
            value = arguments[i];
        if (!value) {
            return error_set(error, ERROR_INVALID, "--%s needs a value: %s", option->name,
                             option->value_name);
        }
        if (!take_value(option, options, value, error))
            return false;
    }
    return true;
}

static bool is_loopback(const char *listen) {
    char host[256] = "";
    char port[8];
    address_split(listen, host, sizeof host, port, sizeof port);
    struct in_addr address;
    return strcasecmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
}

/* Nobody opens the service to a network by accident. */
static bool check_access(const struct options *options, struct error *error) {
    if (options->access == ACCESS_LOCAL && !is_loopback(options->listen)) {
        return error_set(error, ERROR_INVALID,
                         "others can reach %s, so say who may use it: --access token (and --students none, "
                         "read or run), or --access open for everybody",
                         options->listen);
    }
    if (options->access == ACCESS_LOCAL && (options->token_file || options->students != STUDENTS_NONE)) {
        return error_set(error, ERROR_INVALID,
                         "--token-file and --students are of use only with --access token");
    }
    return true;
}

bool options_read(struct options *options, int argument_count, char *const *arguments, struct error *error) {
    const char *token = getenv("ATTNLAB_TOKEN");
    *options = (struct options){.listen = "127.0.0.1:8080",
                                .token = token && *token ? token : NULL,
                                .student_limits = {.queued_runs = 20,
                                                   .queued_runs_per_address = 500,
                                                   .epochs = 200,
                                                   .width = 128,
                                                   .sequence_length = 512,
                                                   .examples = 20000,
                                                   .memory_mb = 256,
                                                   .data_mb = 4,
                                                   .all_data_mb = 400},
                                .connections = 4000,
                                .connections_per_address = 1000,
                                .request_timeout = 20,
                                .idle_timeout = 60,
                                .log_level = LOG_WARNING};
    choose_default_data(options);
    return read_environment(options, error) && read_arguments(options, argument_count, arguments, error) &&
           check_access(options, error);
}

void options_write_help(FILE *file) {
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &option_table[i];
        fprintf(file, "  --%s %s\n        %s (default: %s)\n", option->name, option->value_name, option->help,
                option->default_text);
    }
}
