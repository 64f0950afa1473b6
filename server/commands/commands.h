/* The program's subcommands: the top of the server, which puts everything below together.
 *
 * Each takes the arguments after its name and returns the exit status: 0, 2 for a bad option, 1 for any other
 * failure; the reason is one line on standard error. May call every other folder. Nobody calls it but main.
 */
#ifndef ATTNLAB_SERVER_COMMANDS_COMMANDS_H
#define ATTNLAB_SERVER_COMMANDS_COMMANDS_H

#include "core/error.h"

enum { EXIT_BAD_OPTION = 2 };

int command_serve(int count, char *const *arguments);
int command_run(int count, char *const *arguments);
int command_health(int count, char *const *arguments);

/* Selects the kernels that the options name, for the whole process: call it before there are other threads.
 * ERROR_INVALID, with the names of those that this machine has, if it lacks them. */
struct options;
bool command_select_kernels(const struct options *options, struct error *error);

/* Prints the error and returns the matching exit status. */
int command_fail(const struct error *error);

#endif
