/* attnlab: a laboratory for attention. Chooses the subcommand. */
#include "core/math/matrix.h"
#include "server/commands/commands.h"
#include "server/system/options.h"
#include "server/system/version.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_help(void) {
    printf("attnlab %s: watch attention being learnt\n\n"
           "  attnlab [serve] [options]                  serve the page and the API\n"
           "  attnlab run EXPERIMENT [--name value ...]  run one experiment here; run --help lists them\n"
           "  attnlab health [--url URL]                 exit with status 0 if the service is well\n"
           "  attnlab --help | --version\n\n"
           "Options of serve; each can also be set in the environment, such as ATTNLAB_LISTEN:\n",
           ATTNLAB_VERSION);
    options_write_help(stdout);
}

/* Fails if the output could not be written, for example to a full disk. */
static int finish_output(int status) {
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == 0) {
        fprintf(stderr, "attnlab: cannot write to standard output: %s\n", strerror(errno ? errno : EIO));
        return EXIT_FAILURE;
    }
    return status;
}

int main(int argument_count, char **arguments) {
    static const struct {
        const char *name;
        int (*command)(int count, char *const *arguments);
    } commands[] = {{"run", command_run}, {"health", command_health}};
    const char *first = argument_count > 1 ? arguments[1] : "";
    matrix_end_library_threads();
    /* Whoever started this process may ignore it; then nothing could be known of how a helper ended. */
    signal(SIGCHLD, SIG_DFL);
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0) {
        print_help();
        return finish_output(0);
    }
    if (strcmp(first, "--version") == 0) {
        printf("attnlab %s\n", ATTNLAB_VERSION);
        return finish_output(0);
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(first, commands[i].name) == 0)
            return finish_output(commands[i].command(argument_count - 2, arguments + 2));
    if (strcmp(first, "serve") == 0)
        return command_serve(argument_count - 2, arguments + 2);
    if (*first && *first != '-') {
        fprintf(stderr, "attnlab: unknown command %s; the commands are serve, run and health (see --help)\n",
                first);
        return EXIT_BAD_OPTION;
    }
    return command_serve(argument_count - 1, arguments + 1);
}
