/* Calls to the host of a run: see run_host.h. */
#include "core/training/run_host.h"

bool run_host_check_cancelled(const struct run_host *host, struct error *error) {
    return stop_check(&host->stop, error);
}

double run_host_seconds_now(const struct run_host *host) {
    return host->seconds_now(host->clock_owner);
}

void run_host_report_progress(const struct run_host *host, size_t done, size_t total, const char *unit) {
    if (host->listener.progress != NULL)
        host->listener.progress(host->listener.owner, done, total, unit);
}
