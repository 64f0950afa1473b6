#include "server/options.h"

#include "server/http_listen.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WORKERS_MAXIMUM = 256 };

struct option {
    const char *name;
    const char *value_name;
    const char *default_text; /* for the help */
    const char *help;
    /* Checks and takes the value. */
    bool (*take)(struct options *options, const char *value, struct error *error);
};

static bool take_listen(struct options *options, const char *value, struct error *error) {
    char host[256];
    char port[8];
    if (!http_split_address(value, host, sizeof host, port, sizeof port)) {
        return error_set(error, ERROR_INVALID,
                         "--listen must be address:port, like 127.0.0.1:8080; got \"%s\"", value);
    }
    options->listen = value;
    return true;
}

static bool take_data(struct options *options, const char *value, struct error *error) {
    if (!*value) {
        return error_set(error, ERROR_INVALID, "--data must be a directory; got nothing");
    }
    options->data = value;
    return true;
}

static bool take_workers(struct options *options, const char *value, struct error *error) {
    char *end;
    unsigned long workers = strtoul(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end || workers < 1 || workers > WORKERS_MAXIMUM) {
        return error_set(error, ERROR_INVALID, "--workers must be a whole number from 1 to %d; got \"%s\"",
                         WORKERS_MAXIMUM, value);
    }
    options->workers = workers;
    return true;
}

static bool take_web(struct options *options, const char *value, struct error *error) {
    struct stat status;
    if (stat(value, &status) != 0 || !S_ISDIR(status.st_mode)) {
        return error_set(error, ERROR_INVALID, "--web must be a folder; \"%s\" is none", value);
    }
    options->web = value;
    return true;
}

static bool take_host(struct options *options, const char *value, struct error *error) {
    (void)error;
    options->host = value;
    return true;
}

static const struct option option_table[] = {
    {"listen", "ADDRESS:PORT", "127.0.0.1:8080", "where to listen; port 0 takes a free one", take_listen},
    {"data", "DIR", "the user's data directory", "where all state is kept", take_data},
    {"workers", "N", "as many as cores", "how many runs train at once", take_workers},
    {"web", "DIR", "the page inside the program", "serve the page's files from this folder instead",
     take_web},
    {"host", "NAME[,NAME...]", "none", "further host names that requests may use", take_host},
};
enum { OPTION_COUNT = sizeof option_table / sizeof *option_table };

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
        for (const char *c = option_table[i].name; *c; c++) {
            name[length++] = (char)(*c == '-' ? '_' : toupper((unsigned char)*c));
        }
        const char *value = getenv(name);
        if (value && *value && !option_table[i].take(options, value, error)) {
            return false;
        }
    }
    return true;
}

static const struct option *find_option(const char *argument, size_t length) {
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strlen(option_table[i].name) == length && strncmp(option_table[i].name, argument, length) == 0) {
            return &option_table[i];
        }
    }
    return NULL;
}

static bool set_unknown_error(const char *argument, struct error *error) {
    char known[256] = "";
    size_t length = 0;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        length += (size_t)snprintf(known + length, sizeof known - length, "%s--%s", i ? ", " : "",
                                   option_table[i].name);
    }
    return error_set(error, ERROR_INVALID, "unknown option %s; the options are %s (see --help)", argument,
                     known);
}

static bool read_arguments(struct options *options, int count, char *const *arguments, struct error *error) {
    for (int i = 0; i < count; i++) {
        const char *argument = arguments[i];
        bool is_option = strncmp(argument, "--", 2) == 0;
        size_t length = is_option ? strcspn(argument + 2, "=") : 0;
        const struct option *option = is_option ? find_option(argument + 2, length) : NULL;
        if (!option) {
            return set_unknown_error(argument, error);
        }
        const char *value = argument[2 + length] == '=' ? argument + 3 + length : NULL;
        if (!value && ++i < count) {
            value = arguments[i];
        }
        if (!value) {
            return error_set(error, ERROR_INVALID, "--%s needs a value: %s", option->name,
                             option->value_name);
        }
        if (!option->take(options, value, error)) {
            return false;
        }
    }
    return true;
}

bool options_read(struct options *options, int argument_count, char *const *arguments, struct error *error) {
    *options = (struct options){.listen = "127.0.0.1:8080"};
    choose_default_data(options);
    return read_environment(options, error) && read_arguments(options, argument_count, arguments, error);
}

void options_write_help(FILE *file) {
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &option_table[i];
        fprintf(file, "  --%s %s\n        %s (default: %s)\n", option->name, option->value_name, option->help,
                option->default_text);
    }
}
