/* attnlab serve: the daemon, from reading its options to a clean shutdown. */
#include "server/api/api.h"
#include "server/commands/commands.h"
#include "server/http/http.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ENDING_SECONDS = 4 };

/* Hundreds of event streams need as many descriptors, and the soft limit is often only 1,024. */
static void raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* SIGHUP comes when the terminal is closed, in the middle of a lesson perhaps: a clean end, as by the others.
 * There is no log file to open again, because the log goes to standard error. */
static const struct {
    int number;
    const char *name;
} ending_signals[] = {{SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"}, {SIGHUP, "SIGHUP"}};

/* Set in whichever thread handles the signal. */
static sem_t ending_wanted;
static volatile sig_atomic_t ending_signal;

static void want_ending(int signal_number) {
    ending_signal = signal_number;
    sem_post(&ending_wanted);
}

/* Handles the signals that end the service, and blocks them before any thread of ours starts, so that no such
 * thread is interrupted. It uses a handler instead of sigwait because a library may have started a thread
 * before main, in which the signals are not blocked. */
static void take_signals(sigset_t *ending) {
    struct sigaction action = {.sa_handler = want_ending, .sa_flags = SA_RESTART};
    sem_init(&ending_wanted, 0, 0);
    sigemptyset(&action.sa_mask);
    sigemptyset(ending);
    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++) {
        struct sigaction inherited;
        /* nohup ignores SIGHUP for the program. */
        if (sigaction(ending_signals[i].number, NULL, &inherited) == 0 && inherited.sa_handler == SIG_IGN &&
            ending_signals[i].number == SIGHUP)
            continue;
        sigaction(ending_signals[i].number, &action, NULL);
        sigaddset(ending, ending_signals[i].number);
    }
    pthread_sigmask(SIG_BLOCK, ending, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void wait_for_signal(const sigset_t *ending) {
    pthread_sigmask(SIG_UNBLOCK, ending, NULL);
    while (sem_wait(&ending_wanted) != 0) {
        /* interrupted by another signal */
    }
    pthread_sigmask(SIG_BLOCK, ending, NULL);
}

/* A training step of a very large run may take longer than the time allowed for the shutdown. Every epoch is
 * stored, so exiting in the middle of a step loses no more than that step. */
static void *leave_in_time(void *argument) {
    const struct options *options = argument;
    sleep(ENDING_SECONDS);
    log_write(options->log_level, LOG_WARNING,
              "a training step takes too long; it will be repeated after the next start");
    _exit(EXIT_SUCCESS);
}

static void limit_ending(const struct options *options) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, leave_in_time, (void *)options) == 0)
        pthread_detach(thread);
}

static bool serve(const struct options *options, const sigset_t *ending, struct error *error) {
    struct service service = {0};
    char warning[512] = "";
    if (!service_open(&service, options, &api_routes, warning, sizeof warning, error))
        return false;
    if (!service_start(&service, error)) {
        service_close(&service);
        return false;
    }
    if (*warning)
        log_write(options->log_level, LOG_WARNING, "%s", warning);
    struct http *http = http_start(&service.http, options->listen, error);
    if (http) {
        const char *token_file = access_made_token_file(service.access);
        printf("attnlab listening on %s\n", http_url(http));
        if (token_file)
            printf("the lecturer's token is in %s\n", token_file);
        fflush(stdout);
        log_write(options->log_level, LOG_INFO, "listening on %s", http_url(http));
        wait_for_signal(ending);
        for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++)
            if (ending_signals[i].number == ending_signal)
                log_write(options->log_level, LOG_INFO, "ending on %s", ending_signals[i].name);
        limit_ending(options);
    }
    service_drain(&service);
    http_stop(http);
    service_close(&service);
    log_write(options->log_level, LOG_INFO, "ended");
    return http != NULL;
}

int command_serve(int count, char *const *arguments) {
    struct options options;
    struct error error = {0};
    sigset_t ending;
    for (int i = 0; i < count; i++) {
        if (strcmp(arguments[i], "--help") == 0) {
            options_write_help(stdout);
            return 0;
        }
    }
    if (!options_read(&options, count, arguments, &error) || !command_select_kernels(&options, &error))
        return command_fail(&error);
    raise_descriptor_limit();
    take_signals(&ending);
    return serve(&options, &ending, &error) ? EXIT_SUCCESS : command_fail(&error);
}
