/* The daemon's options, in one table that drives parsing, environment variables, checks and the help.
 *
 * Every option is "--name value" or "--name=value" on the command line and ATTNLAB_NAME in the environment;
 * the command line wins. Only the lecturer's token has no option, because others can read the process list:
 * it comes from a file or from ATTNLAB_TOKEN.
 *
 * This folder is the ground of the server: options, files, clock, log, ids, memory. May call core alone (its
 * errors). Called by all others. */
#ifndef ATTNLAB_SERVER_SYSTEM_OPTIONS_H
#define ATTNLAB_SERVER_SYSTEM_OPTIONS_H

#include "core/error.h"
#include "server/system/log.h"

#include <stddef.h>
#include <stdio.h>

/* Who may use the service (access.h). ACCESS_LOCAL: no choice was made, and the service listens only on
 * loopback. */
enum access_choice { ACCESS_LOCAL, ACCESS_OPEN, ACCESS_TOKEN };
enum student_rights { STUDENTS_NONE, STUDENTS_READ, STUDENTS_RUN };
/* In the order of the enumerations, NULL-terminated. */
extern const char *const access_choice_names[];
extern const char *const student_rights_names[];

/* The limits of a student's requests; the lecturer has none. */
struct student_limits {
    size_t queued_runs, epochs, width, sequence_length, examples;
    size_t memory_mb; /* of one run */
    size_t seconds;   /* of one core for one run, by its estimate */
    size_t data_mb;   /* of all data sets together */
    size_t disk_mb;   /* of all runs and data sets together */
    /* A student is a cookie, and somebody who discards it becomes another student, so these limit many
     * students together. */
    size_t queued_runs_per_address;
    size_t all_data_mb; /* of all students' data sets */
};

struct options {
    const char *listen;  /* address:port */
    const char *data;    /* the data directory */
    size_t workers;      /* 0: one per core */
    size_t memory_mb;    /* of all runs together; 0: half of the memory */
    size_t disk_mb;      /* of the database; 0: what the disk has */
    size_t keep_runs;    /* how many ended runs are kept; 0: all */
    const char *kernels; /* the name of a set of core/math/lanes/sets.h; NULL: the fastest */
    const char *web;     /* a folder served instead of the built-in page; NULL: none */
    const char *host;    /* further host names of the service, separated by commas; NULL: none */
    enum access_choice access;
    enum student_rights students;
    const char *token_file; /* NULL: the environment's token, or one created in the data directory */
    const char *token;      /* ATTNLAB_TOKEN; NULL: none */
    struct student_limits student_limits;
    bool is_behind_proxy; /* trust X-Forwarded-For and X-Forwarded-Proto */
    size_t connections, connections_per_address;
    size_t request_timeout, idle_timeout; /* seconds */
    enum log_level log_level;
    char default_data[512];
};

/* Applies the defaults, then the environment, then the command line. ERROR_INVALID names the option and its
 * allowed values. */
bool options_read(struct options *options, int argument_count, char *const *arguments, struct error *error);
/* The value that the option `name` has without a command line: the environment's, or its default; NULL for
 * neither. There must be such an option. */
const char *options_environment_value(const char *name);
void options_write_help(FILE *file);

#endif
