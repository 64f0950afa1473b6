/* The table of options: see options.h. */
#include "server/system/options.h"

#include "server/system/address.h"

#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct option {
    const char *name;       /* "log-level": --log-level, and ATTNLAB_LOG_LEVEL in the environment */
    const char *value_name; /* for the help; NULL: the choices are shown instead */
    const char *help;
    /* Applied first, before the environment and the command line. If NULL, there is no default, and the note
     * describes what applies instead. */
    const char *default_value;
    const char *default_note;
    enum { OPTION_TEXT, OPTION_NUMBER, OPTION_CHOICE, OPTION_FLAG } kind;
    unsigned first_choice;          /* CHOICE: the enumerator that choices[0] stands for */
    size_t offset;                  /* of the member of struct options that has the value */
    unsigned long minimum, maximum; /* NUMBER: a size_t */
    const char *const *choices;     /* CHOICE and FLAG: NULL-terminated; the first choice sets a flag */
    /* TEXT: says what is wrong with a value; NULL: any will do. */
    bool (*check)(const struct option *option, const char *value, struct error *error);
};

const char *const access_choice_names[] = {"local", "open", "token", NULL};
const char *const student_rights_names[] = {"none", "read", "run", NULL};

static void join_choices(const char *const *choices, const char *separator, char *text, size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; choices[i] && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", i ? separator : "", choices[i]);
}

/* The index of `value` in the choices; if it is not one of them, -1 and an error that lists them. */
static int find_choice(const struct option *option, const char *value, struct error *error) {
    char known[128];
    for (int i = 0; option->choices[i]; i++)
        if (strcmp(option->choices[i], value) == 0)
            return i;
    join_choices(option->choices, ", ", known, sizeof known);
    error_set(error, ERROR_INVALID, "--%s must be one of %s; got \"%s\"", option->name, known, value);
    return -1;
}

static bool check_listen(const struct option *option, const char *value, struct error *error) {
    char host[256];
    char port[8];
    return address_split(value, host, sizeof host, port, sizeof port) ||
           error_set(error, ERROR_INVALID, "--%s must be address:port, like %s; got \"%s\"", option->name,
                     option->default_value, value);
}

static bool check_data(const struct option *option, const char *value, struct error *error) {
    return *value ||
           error_set(error, ERROR_INVALID, "--%s needs a directory; its value is empty", option->name);
}

static bool check_web(const struct option *option, const char *value, struct error *error) {
    struct stat status;
    return (stat(value, &status) == 0 && S_ISDIR(status.st_mode)) ||
           error_set(error, ERROR_INVALID, "--%s must be a folder; \"%s\" is not one", option->name, value);
}

#define TEXT(member) .kind = OPTION_TEXT, .offset = offsetof(struct options, member)
#define FLAG(member) .kind = OPTION_FLAG, .offset = offsetof(struct options, member), .choices = yes_or_no
#define CHOICE(member, names)                                                                                \
    .kind = OPTION_CHOICE, .offset = offsetof(struct options, member), .choices = (names)
#define NUMBER(member, least, most)                                                                          \
    .kind = OPTION_NUMBER, .offset = offsetof(struct options, member), .minimum = (least), .maximum = (most)

static const char *const yes_or_no[] = {"yes", "no", NULL};

static const struct option option_table[] = {
    {"listen", "ADDRESS:PORT", "where to listen; port 0 picks a free port", .default_value = "127.0.0.1:8080",
     TEXT(listen), .check = check_listen},
    {"data", "DIR", "the directory that holds all state", .default_note = "the user's data directory",
     TEXT(data), .check = check_data},
    {"workers", "N", "how many runs train at once", .default_note = "one per core", NUMBER(workers, 1, 256)},
    {"memory-mb", "N",
     "the memory that all runs together may take; each worker's run may take an equal share",
     .default_note = "half of the machine's or container's", NUMBER(memory_mb, 16, 100000000)},
    {"disk-mb", "N",
     "the disk that all runs and data sets together may take; students together may take three quarters of "
     "it",
     .default_note = "all but a margin of 2 to 16 MB", NUMBER(disk_mb, 8, 100000000)},
    {"keep-runs", "N",
     "how many ended runs are kept: whenever a run ends, the oldest beyond them are deleted, those without a "
     "name first, a comparison as a whole, and never the lecturer's named ones; 0: all are kept",
     .default_value = "0", NUMBER(keep_runs, 0, 100000000)},
    {"kernels", "avx512|avx2|neon|plain",
     "the processor's instructions that all arithmetic but OpenBLAS's uses; sets differ in the last digits",
     .default_note = "the fastest that the machine has", TEXT(kernels)},
    {"web", "DIR", "serve the page's files from this folder instead", .default_note = "the built-in page",
     TEXT(web), .check = check_web},
    {"host", "NAME[,NAME...]", "further host names that requests may use", .default_note = "none",
     TEXT(host)},
    {"access", NULL,
     "open: everybody who can reach the service may do everything; token: the holder of the token is the "
     "lecturer, all others are students",
     .default_note = "none on loopback, required elsewhere",
     CHOICE(access, access_choice_names + ACCESS_OPEN), .first_choice = ACCESS_OPEN},
    {"students", NULL, "with --access token: what those without the token may do", .default_value = "none",
     CHOICE(students, student_rights_names)},
    {"token-file", "FILE", "the file with the lecturer's token",
     .default_note = "ATTNLAB_TOKEN, else created as DIR/attnlab.token", TEXT(token_file)},
    {"student-queued-runs", "N", "how many waiting runs a student may have", .default_value = "20",
     NUMBER(student_limits.queued_runs, 1, 1000)},
    {"student-queued-runs-per-address", "N",
     "how many waiting runs all students of one address, such as a class behind one router, may have",
     .default_value = "500", NUMBER(student_limits.queued_runs_per_address, 1, 1000)},
    {"student-epochs", "N", "the most epochs in a student's run", .default_value = "200",
     NUMBER(student_limits.epochs, 1, 1000000)},
    {"student-width", "N", "the largest model width in a student's run", .default_value = "128",
     NUMBER(student_limits.width, 1, 1000000)},
    {"student-sequence-length", "N", "the longest sequence in a student's run", .default_value = "512",
     NUMBER(student_limits.sequence_length, 1, 1000000)},
    {"student-examples", "N", "the most examples in a student's run", .default_value = "20000",
     NUMBER(student_limits.examples, 1, 1000000000)},
    {"student-memory-mb", "N", "the most memory that a student's run may take", .default_value = "288",
     NUMBER(student_limits.memory_mb, 1, 1000000)},
    {"student-seconds", "N",
     "the longest that a student's run may take, in seconds of one core of this machine, by an estimate",
     .default_value = "120", NUMBER(student_limits.seconds, 1, 1000000)},
    {"student-data-mb", "N", "the total size of a student's data sets", .default_value = "4",
     NUMBER(student_limits.data_mb, 1, 1000000)},
    {"student-disk-mb", "N", "the disk that a student's runs and data sets may take", .default_value = "200",
     NUMBER(student_limits.disk_mb, 1, 100000000)},
    {"all-student-data-mb", "N", "the total size of all students' data sets", .default_value = "400",
     NUMBER(student_limits.all_data_mb, 1, 1000000)},
    {"behind-proxy", NULL,
     "yes: trust X-Forwarded-For and X-Forwarded-Proto, which a proxy such as nginx sets",
     .default_value = "no", FLAG(is_behind_proxy)},
    {"connections", "N", "how many connections may be open", .default_value = "4000",
     NUMBER(connections, 8, 100000)},
    {"connections-per-address", "N", "how many connections, requests and streams one address may have open",
     .default_value = "1000", NUMBER(connections_per_address, 1, 100000)},
    {"request-timeout", "SECONDS", "the time for a request's head; large bodies and answers get more",
     .default_value = "20", NUMBER(request_timeout, 1, 3600)},
    {"idle-timeout", "SECONDS", "the time after which an idle connection is closed", .default_value = "60",
     NUMBER(idle_timeout, 1, 3600)},
    {"log-level", NULL, "what to log on standard error; info logs every request", .default_value = "warning",
     CHOICE(log_level, log_level_names)},
};
enum { OPTION_COUNT = sizeof option_table / sizeof *option_table };

static bool take_number(const struct option *option, const char *value, void *place, struct error *error) {
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || number < option->minimum || number > option->maximum) {
        return error_set(error, ERROR_INVALID, "--%s must be a whole number from %lu to %lu; got \"%s\"",
                         option->name, option->minimum, option->maximum, value);
    }
    memcpy(place, &(size_t){number}, sizeof(size_t));
    return true;
}

static_assert(sizeof(enum access_choice) == sizeof(unsigned) &&
                  sizeof(enum student_rights) == sizeof(unsigned) &&
                  sizeof(enum log_level) == sizeof(unsigned),
              "take_choice stores enumerators as unsigned");

static bool take_choice(const struct option *option, const char *value, void *place, struct error *error) {
    int index = find_choice(option, value, error);
    if (index < 0)
        return false;
    bool flag = index == 0;
    unsigned choice = option->first_choice + (unsigned)index;
    if (option->kind == OPTION_FLAG)
        memcpy(place, &flag, sizeof flag);
    else
        memcpy(place, &choice, sizeof choice);
    return true;
}

/* Checks the value and stores it. */
static bool take_value(const struct option *option, struct options *options, const char *value,
                       struct error *error) {
    void *place = (char *)options + option->offset;
    if (option->kind == OPTION_NUMBER)
        return take_number(option, value, place, error);
    if (option->kind != OPTION_TEXT)
        return take_choice(option, value, place, error);
    if (option->check && !option->check(option, value, error))
        return false;
    memcpy(place, &value, sizeof value);
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

static bool read_defaults(struct options *options, struct error *error) {
    choose_default_data(options);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &option_table[i];
        if (option->default_value && !take_value(option, options, option->default_value, error))
            return false;
    }
    return true;
}

/* What the environment says; NULL for nothing. */
static const char *environment_value(const struct option *option) {
    char name[64] = "ATTNLAB_";
    size_t length = strlen(name);
    for (const char *c = option->name; *c; c++)
        name[length++] = (char)(*c == '-' ? '_' : toupper((unsigned char)*c));
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool read_environment(struct options *options, struct error *error) {
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const char *value = environment_value(&option_table[i]);
        if (value && !take_value(&option_table[i], options, value, error))
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

const char *options_environment_value(const char *name) {
    const struct option *option = find_option(name, strlen(name));
    const char *value = environment_value(option);
    return value ? value : option->default_value;
}

/* The placeholder for the value in the help; `text` is the room for one made from the choices. */
static const char *value_name(const struct option *option, char *text, size_t size) {
    if (option->value_name)
        return option->value_name;
    join_choices(option->choices, "|", text, size);
    return text;
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
            char name[128];
            return error_set(error, ERROR_INVALID, "--%s needs a value: %s", option->name,
                             value_name(option, name, sizeof name));
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

/* Makes sure that nobody opens the service to a network by accident. */
static bool check_access(const struct options *options, struct error *error) {
    if (options->access == ACCESS_LOCAL && !is_loopback(options->listen)) {
        return error_set(error, ERROR_INVALID,
                         "others can reach %s, so say who may use it: --access token (and --students none, "
                         "read or run), or --access open for everybody",
                         options->listen);
    }
    if (options->access == ACCESS_LOCAL && (options->token_file || options->students != STUDENTS_NONE))
        return error_set(error, ERROR_INVALID, "--token-file and --students work only with --access token");
    return true;
}

bool options_read(struct options *options, int argument_count, char *const *arguments, struct error *error) {
    const char *token = getenv("ATTNLAB_TOKEN");
    *options = (struct options){.token = token && *token ? token : NULL};
    return read_defaults(options, error) && read_environment(options, error) &&
           read_arguments(options, argument_count, arguments, error) && check_access(options, error);
}

void options_write_help(FILE *file) {
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &option_table[i];
        char name[128];
        fprintf(file, "  --%s %s\n        %s (default: %s)\n", option->name,
                value_name(option, name, sizeof name), option->help,
                option->default_value ? option->default_value : option->default_note);
    }
}
