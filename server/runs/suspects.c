/* Tries suspects one at a time: see suspects.h. */
#include "server/runs/suspects.h"

#include <string.h>

enum { SUSPECT_ATTEMPTS = 2 };

void suspects_consider(struct runs *runs, struct active_run *run) {
    run->is_suspect = run->record.attempts >= SUSPECT_ATTEMPTS;
    runs->suspects += run->is_suspect;
}

bool suspects_have_trial(const struct runs *runs) {
    return runs->on_trial[0] != '\0';
}

/* The suspect that was loaded first, which is the last one in the list; NULL if none waits. The caller holds
 * the lock. */
static struct active_run *find_suspect(const struct runs *runs) {
    struct active_run *suspect = NULL;
    for (struct active_run *run = runs->active; run != NULL && runs->suspects > 0; run = run->next)
        if (run->is_suspect && run->entry.is_waiting)
            suspect = run;
    return suspect;
}

struct active_run *suspects_begin_trial(struct runs *runs) {
    struct active_run *suspect = find_suspect(runs);
    if (suspect == NULL)
        return NULL;
    suspect->is_suspect = false;
    runs->suspects--;
    memcpy(runs->on_trial, suspect->record.id, ID_SIZE);
    run_queue_take(runs->queue, &suspect->entry);
    return suspect;
}

void suspects_end_trial(struct runs *runs, const char *id) {
    pthread_mutex_lock(&runs->mutex);
    if (strcmp(runs->on_trial, id) == 0) {
        runs->on_trial[0] = '\0';
        runs_wake_workers(runs);
    }
    pthread_mutex_unlock(&runs->mutex);
}
