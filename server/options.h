/* The daemon's options: one table from which come parsing, environment variables, checks and the help.
 *
 * Every option is "--name value" or "--name=value" on the command line and ATTNLAB_NAME in the environment;
 * the command line wins. */
#ifndef ATTNLAB_SERVER_OPTIONS_H
#define ATTNLAB_SERVER_OPTIONS_H

#include "core/error.h"

#include <stddef.h>
#include <stdio.h>

struct options {
    const char *listen; /* address:port */
    const char *data;   /* the data directory */
    size_t workers;     /* 0: as many as cores */
    const char *web;    /* a folder served instead of the built-in page; NULL: none */
    const char *host;   /* further names this service is known by, separated by commas; NULL: none */
    char default_data[512];
};

/* Defaults, then environment, then the command line. ERROR_INVALID names the option and what is allowed. */
bool options_read(struct options *options, int argument_count, char *const *arguments, struct error *error);
void options_write_help(FILE *file);

#endif
