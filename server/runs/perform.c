/* Performs a run on a worker's thread: supplies the experiment's callbacks and publishes its reports.
 *
 * An epoch is stored in one transaction before it is shown to anybody. Step events are only for current
 * readers: at most 20 a second, and always the last one. While a transaction is under way, a step event is
 * left to the next one, so that a step never waits for the disk. */
#include "server/runs/perform.h"

#include "core/math/kernels.h"
#include "core/model/models.h"
#include "server/formats/json_writer.h"
#include "server/runs/active.h"
#include "server/runs/runs.h"
#include "server/runs/suspects.h"
#include "server/system/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A little more than a twentieth of a second, so that the last step of a run also keeps to the limit. */
static const double STEP_EVENT_SECONDS = 0.0525;

/* One run in progress. */
struct work {
    struct runs *runs;
    struct active_run *run;
    char id[ID_SIZE];
    bool has_attention;
    double step_shown_at;
    size_t step; /* the newest step */
    double loss;
    bool step_is_pending; /* the newest step has not been shown */
    char unit[32];        /* the unit of the progress last reported */
};

static double seconds_now(void *owner) {
    (void)owner;
    return clock_seconds();
}

static bool is_interrupted(void *owner) {
    const struct work *work = owner;
    return atomic_load_explicit(&work->run->interruption, memory_order_relaxed) != INTERRUPTION_NONE;
}

static void on_progress(void *owner, size_t done, size_t total, const char *unit) {
    struct work *work = owner;
    atomic_store_explicit(&work->run->progress_done, done, memory_order_relaxed);
    atomic_store_explicit(&work->run->progress_total, total, memory_order_relaxed);
    if (strncmp(work->unit, unit, sizeof work->unit - 1) == 0)
        return;
    snprintf(work->unit, sizeof work->unit, "%s", unit);
    pthread_mutex_lock(&work->runs->mutex);
    memcpy(work->run->record.progress_unit, work->unit, sizeof work->unit);
    pthread_mutex_unlock(&work->runs->mutex);
}

/* Makes an event from a text under construction; frees the text. */
static struct event *event_from_text(const struct work *work, enum event_kind kind, struct text *text,
                                     struct error *error) {
    struct event *event = NULL;
    if (text->failed)
        error_set_memory(error, text->length);
    else
        event = event_create(work->id, kind, text->bytes, error);
    text_free(text);
    return event;
}

static struct event *step_event(const struct work *work) {
    struct text text = {0};
    json_write_begin_object(&text, NULL);
    json_write_string(&text, "run", work->id);
    json_write_integer(&text, "step", (int64_t)work->step);
    json_write_number(&text, "loss", work->loss);
    json_write_end_object(&text);
    return event_from_text(work, EVENT_STEP, &text, NULL);
}

static void on_step(void *owner, size_t step, double loss) {
    struct work *work = owner;
    atomic_fetch_add_explicit(&work->runs->steps, 1, memory_order_relaxed);
    work->step = step;
    work->loss = loss;
    work->step_is_pending = true;
    double now = clock_seconds();
    if (now - work->step_shown_at < STEP_EVENT_SECONDS)
        return;
    struct event *event = step_event(work);
    if (event == NULL || !event_log_try_publish(work->runs->log, event))
        return;
    work->step_shown_at = now;
    work->step_is_pending = false;
}

static void show_last_step(struct work *work) {
    struct event *event = work->step_is_pending ? step_event(work) : NULL;
    if (event != NULL)
        event_log_publish(work->runs->log, &event, 1, NULL, NULL, NULL);
    work->step_is_pending = false;
}

static struct event *epoch_event(const struct work *work, const struct epoch_metrics *metrics,
                                 struct error *error) {
    struct text text = {0};
    json_write_begin_object(&text, NULL);
    json_write_string(&text, "run", work->id);
    json_write_integer(&text, "epoch", (int64_t)metrics->epoch);
    json_write_number(&text, "train_loss", metrics->train_loss);
    json_write_number(&text, "test_accuracy", metrics->test_accuracy);
    json_write_number(&text, "seconds", metrics->seconds);
    json_write_end_object(&text);
    return event_from_text(work, EVENT_EPOCH, &text, error);
}

static struct event *attention_event(const struct work *work, size_t epoch, struct error *error) {
    struct text text = {0};
    json_write_begin_object(&text, NULL);
    json_write_string(&text, "run", work->id);
    json_write_integer(&text, "epoch", (int64_t)epoch);
    json_write_end_object(&text);
    return event_from_text(work, EVENT_ATTENTION, &text, error);
}

/* The arguments of commit_epoch. */
struct epoch_commit {
    const struct work *work;
    const struct epoch_record *epoch;
};

static bool commit_epoch(void *argument, const struct event_record *events, size_t count,
                         struct error *error) {
    const struct epoch_commit *commit = argument;
    struct store *store = commit->work->runs->store;
    return store->save_epoch(store, commit->work->id, commit->epoch, events, count, error);
}

static bool on_epoch(void *owner, const struct epoch_metrics *metrics, const float *weights,
                     size_t weight_count, const void *checkpoint, size_t checkpoint_size,
                     struct error *error) {
    struct work *work = owner;
    struct epoch_record epoch = {.metrics = metrics,
                                 .weights = weights,
                                 .weight_count = weight_count,
                                 .checkpoint = checkpoint,
                                 .checkpoint_size = checkpoint_size,
                                 .progress_done = atomic_load(&work->run->progress_done),
                                 .progress_total = atomic_load(&work->run->progress_total)};
    if (!runs_check_disk(work->runs, work->run->record.owner,
                         weight_count * sizeof *weights + checkpoint_size, error))
        return false;
    struct event *events[2] = {epoch_event(work, metrics, error), NULL};
    size_t count = 1;
    if (work->has_attention)
        events[count++] = attention_event(work, metrics->epoch, error);
    if (events[0] == NULL || (count == 2 && events[1] == NULL)) {
        event_release(events[0]);
        event_release(events[1]);
        return false;
    }
    atomic_fetch_add_explicit(&work->runs->epochs, 1, memory_order_relaxed);
    struct epoch_commit commit = {work, &epoch};
    if (!event_log_publish(work->runs->log, events, count, commit_epoch, &commit, error))
        return false;
    suspects_end_trial(work->runs, work->id);
    return true;
}

/* Recurrent models have no attention to show. */
static bool has_attention(const struct active_run *run) {
    if (!run->experiment->trains_model)
        return false;
    const struct model_entry *model = model_find(parameter_text(&run->parameters, "model"));
    return model != NULL && model_has_attention(model);
}

/* Attempts must be some time apart to count, so that several kills within a short time, for other reasons, do
 * not put the blame on the run. An attempt also counts if the clock was set back. */
static void count_attempt(const struct runs *runs, struct run_record *record) {
    int64_t now = clock_wall_ms();
    int64_t since = now - record->attempted_ms;
    if (record->attempts > 0 && since >= 0 && since < runs->attempt_spacing_ms)
        return;
    record->attempts++;
    record->attempted_ms = now;
}

/* Notes the kernels that the run goes on with, unless they are those it had last. */
static void note_kernels(struct run_record *record) {
    const char *name = kernels_choose()->name, *comma = strrchr(record->kernels, ',');
    const char *last = comma != NULL ? comma + 2 : record->kernels;
    size_t length = strlen(record->kernels);
    if (strcmp(last, name) != 0)
        snprintf(record->kernels + length, sizeof record->kernels - length, "%s%s", length > 0 ? ", " : "",
                 name);
}

/* Marks the run as running: in the store, for readers, and in memory. */
static bool mark_running(struct work *work, struct error *error) {
    struct runs *runs = work->runs;
    struct active_run *run = work->run;
    struct run_record record;
    pthread_mutex_lock(&runs->mutex);
    bool ok = active_run_copy_record(run, &record, error);
    pthread_mutex_unlock(&runs->mutex);
    if (!ok)
        return false;
    count_attempt(runs, &record);
    note_kernels(&record);
    if (record.started_ms == 0)
        record.started_ms = clock_wall_ms();
    ok = run_record_set_state(&record, RUN_RUNNING, error) &&
         active_run_publish(runs, run, &record, false, error);
    run_record_clear(&record);
    return ok;
}

/* Runs the experiment and writes its result to *result_json. */
static bool run_experiment(struct work *work, const struct parallel_executor *parallel, char **result_json,
                           struct error *error) {
    struct runs *runs = work->runs;
    struct text result = {.maximum = TEXT_UNLIMITED}; /* counted in the run's memory */
    void *checkpoint = NULL;
    size_t checkpoint_size = 0;
    if (!runs->store->read_checkpoint(runs->store, work->id, &checkpoint, &checkpoint_size, error))
        return false;
    struct dataset_choice choice = {
        .datasets = runs->datasets, .is_of_run = true, .run_digest = work->run->record.dataset_digest};
    struct experiment_context context = {
        .parameters = &work->run->parameters,
        .result = json_result_sink(&result),
        .data = datasets_source_of_run(&choice),
        .host = {.listener = {.owner = work, .progress = on_progress, .step = on_step, .epoch = on_epoch},
                 .stop = {is_interrupted, work},
                 .seconds_now = seconds_now,
                 .parallel = *parallel,
                 .checkpoint = checkpoint,
                 .checkpoint_size = checkpoint_size}};
    bool ok = work->run->experiment->run(&context, error);
    show_last_step(work);
    size_t result_size = result.length;
    if (ok && (*result_json = text_release(&result)) == NULL)
        error_set_memory(error, result_size);
    text_free(&result);
    free(checkpoint);
    return *result_json != NULL;
}

/* Frees a result for which there is no room: the run then fails. */
static bool check_result(struct work *work, char **result_json, struct error *error) {
    struct store *store = work->runs->store;
    size_t size = strlen(*result_json);
    if (!result_is_large(*result_json) ||
        (runs_check_disk(work->runs, work->run->record.owner, size, error) &&
         store->check_room(store, size, error)))
        return true;
    free(*result_json);
    *result_json = NULL;
    return false;
}

static bool is_stopping(struct runs *runs) {
    pthread_mutex_lock(&runs->mutex);
    bool stopping = runs->is_stopping;
    pthread_mutex_unlock(&runs->mutex);
    return stopping;
}

/* If memory is too short to record how the run ended, the worker waits for memory, because nobody else will
 * record it. If the service ends in the meantime, the run continues after the next start. */
static void finish_run(struct work *work, enum run_state state, char *result_json, const char *message) {
    const struct timespec pause = {.tv_nsec = 20000000};
    for (;;) {
        struct error failure = {0};
        if (active_run_finish(work->runs, work->run, state, result_json, message, false, &failure) ||
            failure.code != ERROR_MEMORY)
            return;
        if (is_stopping(work->runs))
            break;
        nanosleep(&pause, NULL);
    }
    free(result_json);
}

void run_perform(struct runs *runs, struct active_run *run, const struct parallel_executor *parallel) {
    struct work work = {.runs = runs, .run = run, .has_attention = has_attention(run)};
    memcpy(work.id, run->record.id, ID_SIZE);
    struct error error = {0};
    char *result_json = NULL;
    bool ok = mark_running(&work, &error) && run_experiment(&work, parallel, &result_json, &error) &&
              check_result(&work, &result_json, &error);
    if (ok)
        finish_run(&work, RUN_SUCCEEDED, result_json, NULL);
    else if (error.code != ERROR_CANCELLED)
        finish_run(&work, RUN_FAILED, NULL, error.message);
    else if (atomic_load(&run->interruption) == INTERRUPTION_CANCEL)
        finish_run(&work, RUN_CANCELLED, NULL, NULL);
    /* Otherwise the service is ending: the run stays unfinished and continues after the next start. */
    suspects_end_trial(runs, work.id);
}
