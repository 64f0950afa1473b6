/* Code shared by the subcommands. It is separate from main.c so that tests can link it. */
#include "server/commands/commands.h"

#include <stdio.h>

int command_fail(const struct error *error) {
    fprintf(stderr, "attnlab: %s\n", error->message);
    return error->code == ERROR_INVALID ? EXIT_BAD_OPTION : 1;
}
