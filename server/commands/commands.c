/* Code shared by the subcommands. It is separate from main.c so that tests can link it. */
#include "server/commands/commands.h"

#include "core/math/lanes/sets.h"
#include "server/system/options.h"

#include <stdio.h>

bool command_select_kernels(const struct options *options, struct error *error) {
    const char *names[LANE_SETS + 1];
    char known[64] = "";
    if (options->kernels == NULL || lane_set_select(options->kernels))
        return true;
    lane_set_list(names);
    for (size_t i = 0, length = 0; names[i] != NULL && length < sizeof known; i++)
        length +=
            (size_t)snprintf(known + length, sizeof known - length, "%s%s", i > 0 ? ", " : "", names[i]);
    return error_set(error, ERROR_INVALID, "--kernels must be one that this machine has: %s; got \"%.40s\"",
                     known, options->kernels);
}

int command_fail(const struct error *error) {
    fprintf(stderr, "attnlab: %s\n", error->message);
    return error->code == ERROR_INVALID ? EXIT_BAD_OPTION : 1;
}
