/* Comparisons: several variants, each with several seeds, one run for each pair. */
#include "server/runs/runs.h"

#include "server/formats/json_writer.h"
#include "server/runs/active.h"
#include "server/runs/create.h"
#include "server/system/clock.h"
#include "server/system/identifier.h"

#include <stdlib.h>
#include <string.h>

static bool record_prepare(struct comparison_record *record, const struct comparison_request *request,
                           struct error *error) {
    struct text labels = {0}, seeds = {0};
    *record = (struct comparison_record){.created_ms = clock_wall_ms()};
    json_write_strings(&labels, NULL, request->labels, request->variant_count);
    json_write_begin_array(&seeds, NULL);
    for (size_t i = 0; i < request->seed_count; i++)
        if (request->seeds)
            json_write_integer(&seeds, NULL, request->seeds[i]);
        else
            json_write_null(&seeds, NULL);
    json_write_end_array(&seeds);
    record->labels_json = text_release(&labels);
    record->seeds_json = text_release(&seeds);
    record->experiment = strdup(request->experiment->name);
    record->name = strdup(request->name != NULL ? request->name : "");
    record->owner = strdup(request->owner != NULL ? request->owner : "");
    bool complete = record->labels_json != NULL && record->seeds_json != NULL && record->experiment != NULL &&
                    record->name != NULL && record->owner != NULL;
    if (complete ? identifier_create(record->id, error) : error_set_memory(error, sizeof *record))
        return true;
    comparison_record_clear(record);
    return false;
}

/* Creates the run of a variant and a seed. */
static struct active_run *create_member(struct runs *runs, const struct comparison_request *request,
                                        const struct comparison_record *comparison, size_t variant,
                                        size_t seed, struct error *error) {
    const struct parameter_set *parameters = &request->parameters[variant * request->seed_count + seed];
    struct run_request run = {.experiment = request->experiment,
                              .parameters = parameters,
                              .name = request->labels[variant],
                              .owner = request->owner};
    struct run_record record;
    if (!run_record_prepare(runs, &record, &run, error))
        return NULL;
    memcpy(record.comparison, comparison->id, ID_SIZE);
    record.comparison_variant = variant;
    record.comparison_seed = seed;
    return active_run_create(&record, request->experiment, parameters, error);
}

bool runs_create_comparison(struct runs *runs, const struct comparison_request *request,
                            struct comparison_view *view, struct error *error) {
    size_t count = request->variant_count * request->seed_count, made = 0;
    struct comparison_record record;
    *view = (struct comparison_view){0};
    if (!record_prepare(&record, request, error))
        return false;
    bool is_added = false;
    struct active_run **items = calloc(count, sizeof(struct active_run *));
    if (items == NULL) {
        error_set_memory(error, count * sizeof(struct active_run *));
        goto cleanup;
    }
    for (; made < count; made++) {
        size_t variant = made / request->seed_count, seed = made % request->seed_count;
        items[made] = create_member(runs, request, &record, variant, seed, error);
        if (items[made] == NULL)
            goto cleanup;
    }
    const struct share share = {request->queue_limit, request->network, request->network_limit};
    is_added = runs_add(runs, &record, items, count, &share, error);

cleanup:
    for (size_t i = 0; !is_added && i < made; i++)
        active_run_free(items[i]);
    free(items);
    bool ok = is_added && runs_find_comparison(runs, record.id, view, error);
    comparison_record_clear(&record);
    return ok;
}

static bool list_members(struct runs *runs, const char *id, struct run_record **list, size_t *count,
                         struct error *error) {
    struct run_filter filter = {.state = -1, .comparison = id, .limit = 100000};
    return runs_list(runs, &filter, list, count, error);
}

/* Takes over the record. */
static bool view_build(struct runs *runs, struct comparison_record *record, struct comparison_view *view,
                       struct error *error) {
    struct run_record *list = NULL;
    size_t count = 0;
    bool ok = comparison_view_open(view, record, error) &&
              list_members(runs, view->record.id, &list, &count, error) &&
              comparison_view_fill(view, runs->store, list, count, error);
    if (!ok)
        comparison_view_clear(view);
    run_records_free(list, count);
    return ok;
}

bool runs_find_comparison(struct runs *runs, const char *id, struct comparison_view *view,
                          struct error *error) {
    struct comparison_record record;
    *view = (struct comparison_view){0};
    return runs->store->find_comparison(runs->store, id, &record, error) &&
           view_build(runs, &record, view, error);
}

bool runs_list_comparisons(struct runs *runs, const char *before, size_t limit, struct comparison_view **list,
                           size_t *count, struct error *error) {
    struct comparison_record *records = NULL;
    size_t found = 0, built = 0;
    *list = NULL;
    *count = 0;
    if (!runs->store->list_comparisons(runs->store, before, limit, &records, &found, error))
        return false;
    struct comparison_view *views = calloc(found + 1, sizeof *views);
    bool ok = views != NULL || error_set_memory(error, (found + 1) * sizeof *views);
    for (size_t i = 0; i < found; i++) {
        if (!ok) {
            comparison_record_clear(&records[i]);
            continue;
        }
        ok = view_build(runs, &records[i], &views[built], error);
        built += ok;
    }
    free(records);
    if (ok) {
        *list = views;
        *count = built;
        return true;
    }
    for (size_t i = 0; i < built; i++)
        comparison_view_clear(&views[i]);
    free(views);
    return false;
}

bool runs_cancel_comparison(struct runs *runs, const char *id, struct comparison_view *view,
                            struct error *error) {
    struct comparison_record record;
    struct run_record *list = NULL;
    size_t count = 0, cancelled = 0;
    if (!runs->store->find_comparison(runs->store, id, &record, error))
        return false;
    comparison_record_clear(&record);
    if (!list_members(runs, id, &list, &count, error))
        return false;
    bool ok = true;
    for (size_t i = count; i-- > 0 && ok;) {
        struct error failure = {0};
        if (run_state_has_ended(list[i].state))
            continue;
        if (runs_cancel(runs, list[i].id, NULL, &failure))
            cancelled++;
        else if (failure.code != ERROR_CONFLICT && failure.code != ERROR_MISSING) /* ended in between */
            ok = error_set(error, failure.code, "%s", failure.message);
    }
    run_records_free(list, count);
    if (ok && cancelled == 0)
        ok = error_set(error, ERROR_CONFLICT, "the comparison has already ended");
    return ok && (view == NULL || runs_find_comparison(runs, id, view, error));
}

bool runs_delete_comparison(struct runs *runs, const char *id, struct error *error) {
    struct run_record *list = NULL;
    size_t count = 0, unfinished = 0;
    if (!list_members(runs, id, &list, &count, error))
        return false;
    for (size_t i = 0; i < count; i++)
        unfinished += !run_state_has_ended(list[i].state);
    bool ok = unfinished == 0 ||
              error_set(error, ERROR_CONFLICT, "%zu runs of the comparison have not ended; cancel it first",
                        unfinished);
    ok = ok && runs->store->delete_comparison(runs->store, id, error);
    pthread_mutex_lock(&runs->mutex);
    for (size_t i = 0; i < count && ok; i++) {
        struct active_run *unsaved = active_run_find(runs, list[i].id);
        if (unsaved != NULL)
            active_run_remove(runs, unsaved);
    }
    pthread_mutex_unlock(&runs->mutex);
    run_records_free(list, count);
    return ok;
}
