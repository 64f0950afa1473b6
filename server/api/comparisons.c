/* Comparisons: several variants of one experiment, each with several seeds, as one table. */
#include "server/api/parameters.h"

#include "core/experiments/experiments.h"
#include "server/formats/csv.h"
#include "server/formats/json_parameters.h"
#include "server/formats/json_writer.h"
#include "server/runs/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The request's members besides parameters: a label in each variant, the others beside the variants. */
static const char label_member[] = "label";
static const char *const reserved[] = {"experiment", "name", "seeds", "variants", label_member, NULL};

static bool write_json(struct request *request, const void *shown, struct text *text, struct error *error) {
    const struct comparison_view *view = shown;
    (void)error;
    comparison_write_json(text, NULL, view, gate_owns(request, view->record.owner));
    return true;
}

static void answer_comparison(struct request *request, unsigned status, const struct comparison_view *view) {
    struct text text = {0};
    if (!answer_begin(request, &text, comparison_json_size(view)))
        return;
    write_json(request, view, &text, NULL);
    response_set_json(&request->response, status, &text);
}

/* The contents of a request for a comparison, before its runs' parameters are prepared. */
struct wanted {
    const struct experiment *experiment;
    const json_t *variants[API_VARIANTS_MAXIMUM];
    const char *labels[API_VARIANTS_MAXIMUM];
    size_t variant_count;
    int64_t seeds[API_SEEDS_MAXIMUM];
    size_t seed_count;
    bool has_seed_list; /* otherwise there is one seed, or none if the experiment takes none */
    const char *name;
};

static void read_seeds(const json_t *object, struct wanted *wanted, struct parameter_faults *faults) {
    const json_t *list = json_object_get(object, "seeds");
    size_t count = json_array_size(list);
    wanted->seed_count = 1;
    wanted->has_seed_list = list != NULL;
    if (!list) /* the seed is a parameter like any other; find_seed reads it once it is prepared */
        return;
    if (json_object_get(object, API_SEED_PARAMETER))
        parameter_faults_add(faults, API_SEED_PARAMETER, "must not be given together with seeds");
    if (count < 1 || count > API_SEEDS_MAXIMUM) {
        parameter_faults_add(faults, "seeds", "must be a list of 1 to %d whole numbers", API_SEEDS_MAXIMUM);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t *seed = &wanted->seeds[i];
        if (!json_read_integer(json_array_get(list, i), seed) || *seed < 0 || *seed > (int64_t)SEED_MAXIMUM) {
            parameter_faults_add(faults, "seeds",
                                 "must contain only whole numbers from 0 to %.0f; item %zu is not one",
                                 SEED_MAXIMUM, i);
            *seed = 0;
        }
    }
    wanted->seed_count = count;
}

static void refuse_in_variant(const struct wanted *wanted, size_t variant, const char *member,
                              struct parameter_faults *faults) {
    char field[96];
    if (!json_object_get(wanted->variants[variant], member))
        return;
    snprintf(field, sizeof field, "variants[%zu].%s", variant, member);
    parameter_faults_add(faults, field, "is the same for all variants; put it next to the member variants");
}

/* Rejects a common member inside a variant, and a label outside of one. The seed is a common member, because
 * a column of the table is a seed. */
static void check_places(const json_t *object, const struct wanted *wanted, struct parameter_faults *faults) {
    if (json_object_get(object, label_member))
        parameter_faults_add(faults, label_member, "belongs in a variant");
    for (size_t i = 0; i < wanted->variant_count; i++) {
        for (size_t j = 0; reserved[j] != label_member; j++)
            refuse_in_variant(wanted, i, reserved[j], faults);
        refuse_in_variant(wanted, i, API_SEED_PARAMETER, faults);
    }
}

/* If the list is invalid, an empty variant takes its place, so that the common parameters are still
 * checked. */
static void read_variants(const json_t *object, struct wanted *wanted, struct parameter_faults *faults) {
    const json_t *list = json_object_get(object, "variants");
    size_t count = json_array_size(list);
    wanted->variant_count = 1;
    if (count < 1 || count > API_VARIANTS_MAXIMUM) {
        parameter_faults_add(faults, "variants", "must be a list of 1 to %d objects, each with a label",
                             API_VARIANTS_MAXIMUM);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        wanted->variants[i] = json_array_get(list, i);
        wanted->labels[i] = json_string_value(json_object_get(wanted->variants[i], label_member));
        if (!api_is_text(json_object_get(wanted->variants[i], label_member), API_NAME_MAXIMUM)) {
            parameter_faults_add(
                faults, "variants",
                "must each have a label, a text of at most %d characters; variant %zu does not",
                API_NAME_MAXIMUM, i);
        }
    }
    wanted->variant_count = count;
    check_places(object, wanted, faults);
}

static bool has_fault(const struct parameter_faults *faults, const struct parameter_fault *fault) {
    for (size_t i = 0; i < faults->count; i++)
        if (strcmp(faults->items[i].field, fault->field) == 0 &&
            strcmp(faults->items[i].message, fault->message) == 0)
            return true;
    return false;
}

/* Moves a variant's faults to the list of all faults and adds the variant's name to them. A fault in a common
 * parameter is reported only once, under the parameter's own name. */
static void merge_faults(struct parameter_faults *all, struct parameter_faults *of_variant,
                         const json_t *common, const struct wanted *wanted, size_t variant) {
    for (size_t i = 0; i < of_variant->count; i++) {
        const struct parameter_fault *fault = &of_variant->items[i];
        char field[96];
        bool is_common = json_object_get(common, fault->field) &&
                         !json_object_get(wanted->variants[variant], fault->field);
        snprintf(field, sizeof field, "variants[%zu].%.60s", variant, fault->field);
        if (!is_common || !has_fault(all, fault))
            parameter_faults_add(all, is_common ? fault->field : field, "%s", fault->message);
    }
    all->out_of_memory |= of_variant->out_of_memory;
    parameter_faults_free(of_variant);
}

/* Prepares a variant's parameter sets, one per seed: common parameters, the variant's own, the seed. */
static bool prepare_variant(struct request *request, const struct wanted *wanted, size_t variant,
                            struct parameter_set *sets, struct parameter_faults *faults) {
    bool is_prepared = true;
    for (size_t i = 0; is_prepared && i < wanted->seed_count; i++) {
        struct parameter_faults of_variant = {0};
        json_t *seed =
            wanted->has_seed_list ? json_pack("{s:I}", API_SEED_PARAMETER, wanted->seeds[i]) : NULL;
        const json_t *const objects[] = {request->json, wanted->variants[variant], seed};
        is_prepared = api_prepare_parameters(request, wanted->experiment, objects, seed ? 3 : 2, reserved,
                                             &sets[i], &of_variant);
        json_decref(seed);
        bool has_faults = of_variant.count > 0;
        merge_faults(faults, &of_variant, request->json, wanted, variant);
        if (has_faults)
            break; /* the other seeds would have the same faults */
    }
    return is_prepared;
}

/* Without a list, the seed is the one that the prepared parameters have: given or a default, which may depend
 * on other parameters and so on the variant. A table with one column needs the same seed in all of its rows.
 */
static void find_seed(struct wanted *wanted, const struct parameter_set *sets,
                      struct parameter_faults *faults) {
    if (wanted->has_seed_list || !api_takes_seed(wanted->experiment))
        return;
    wanted->seeds[0] = parameter_integer(&sets[0], API_SEED_PARAMETER);
    for (size_t i = 1; i < wanted->variant_count; i++) {
        int64_t seed = parameter_integer(&sets[i], API_SEED_PARAMETER);
        if (seed == wanted->seeds[0])
            continue;
        parameter_faults_add(faults, API_SEED_PARAMETER,
                             "must be given: its default is %lld for variant 0 and %lld for variant %zu",
                             (long long)wanted->seeds[0], (long long)seed, i);
        return;
    }
}

static void create_comparison(struct request *request, const struct wanted *wanted,
                              const struct parameter_set *sets) {
    bool has_seeds = wanted->has_seed_list || api_takes_seed(wanted->experiment);
    const struct student_limits *limits = &request->service->options->student_limits;
    char network[NETWORK_SIZE];
    access_write_network(request->service->access, &request->caller, network);
    const struct comparison_request creation = {.experiment = wanted->experiment,
                                                .name = wanted->name,
                                                .labels = wanted->labels,
                                                .variant_count = wanted->variant_count,
                                                .seeds = has_seeds ? wanted->seeds : NULL,
                                                .seed_count = wanted->seed_count,
                                                .parameters = sets,
                                                .owner = request->caller.owner,
                                                .queue_limit = limits_find_queue(limits, &request->caller),
                                                .network = network,
                                                .network_limit =
                                                    limits_find_network_queue(limits, &request->caller)};
    struct comparison_view view = {0};
    struct error error = {0};
    if (runs_create_comparison(request->service->runs, &creation, &view, &error)) {
        answer_comparison(request, 201, &view);
        response_add_header(&request->response, "Location", "/api/comparisons/%s", view.record.id);
        comparison_view_clear(&view);
    } else {
        response_set_field_error(&request->response, "variants", &error);
    }
}

void api_comparisons_create(struct request *request) {
    struct parameter_faults faults = {0};
    struct wanted wanted = {.experiment = api_read_experiment(request->json, &faults),
                            .name = api_read_text(request->json, "name", "", &faults)};
    read_seeds(request->json, &wanted, &faults);
    read_variants(request->json, &wanted, &faults);
    size_t set_count = wanted.variant_count * wanted.seed_count;
    struct parameter_set *sets = calloc(set_count + 1, sizeof *sets);
    bool is_prepared = sets != NULL;
    if (!sets)
        response_set_out_of_memory(&request->response);
    for (size_t i = 0; is_prepared && wanted.experiment && i < wanted.variant_count; i++)
        is_prepared = prepare_variant(request, &wanted, i, sets + i * wanted.seed_count, &faults);
    if (is_prepared && wanted.experiment && faults.count == 0)
        find_seed(&wanted, sets, &faults);
    if (is_prepared && !api_answer_faults(request, &faults))
        create_comparison(request, &wanted, sets);
    for (size_t i = 0; sets && i < set_count; i++)
        parameter_set_free(&sets[i]);
    free(sets);
    parameter_faults_free(&faults);
}

void api_comparisons_list(struct request *request) {
    const struct parameter_set *query = &request->query;
    size_t limit = (size_t)parameter_integer(query, "limit");
    const char *before = parameter_is_set(query, "before") ? parameter_text(query, "before") : NULL;
    struct comparison_view *views = NULL;
    struct error error = {0};
    struct text text = {0};
    size_t count = 0;
    size_t size = ANSWER_OBJECT;
    if (!runs_list_comparisons(request->service->runs, before, limit + 1, &views, &count, &error)) {
        response_set_error(&request->response, &error);
        return;
    }
    for (size_t i = 0; i < count; i++)
        size += comparison_json_size(&views[i]);
    if (!answer_begin(request, &text, size))
        goto cleanup;
    json_write_begin_object(&text, NULL);
    json_write_begin_array(&text, "comparisons");
    for (size_t i = 0; i < count && i < limit; i++)
        comparison_write_json(&text, NULL, &views[i], gate_owns(request, views[i].record.owner));
    json_write_end_array(&text);
    json_write_string(&text, "next", count > limit ? views[limit - 1].record.id : NULL);
    json_write_end_object(&text);
    response_set_json(&request->response, 200, &text);
cleanup:
    for (size_t i = 0; i < count; i++)
        comparison_view_clear(&views[i]);
    free(views);
    text_free(&text);
}

static bool write_csv(struct request *request, const void *shown, struct text *text, struct error *error) {
    (void)request, (void)error;
    const struct comparison_view *view = shown;
    text_append_string(text, "label");
    for (size_t i = 0; i < view->seed_count; i++)
        text_append_format(text, ",accuracy_%zu", i + 1);
    text_append_string(text, ",mean,worst,parameter_count,seconds\r\n");
    for (size_t row = 0; row < view->variant_count; row++) {
        const struct comparison_row *values = &view->rows[row];
        csv_append_field(text, values->label);
        for (size_t i = 0; i < view->seed_count; i++) {
            csv_next_field(text);
            csv_append_number(text, values->accuracies[i]);
        }
        csv_next_field(text);
        csv_append_number(text, values->mean);
        csv_next_field(text);
        csv_append_number(text, values->worst);
        csv_next_field(text);
        csv_append_number(text, values->parameter_count > 0 ? (double)values->parameter_count : (double)NAN);
        csv_next_field(text);
        csv_append_number(text, values->seconds);
        csv_end_row(text);
    }
    return true;
}

const struct export api_comparisons_exports[] = {{FORMAT_JSON, write_json}, {FORMAT_CSV, write_csv}, {0}};

void api_comparisons_get(struct request *request) {
    struct comparison_view view = {0};
    struct error error = {0};
    if (!runs_find_comparison(request->service->runs, request_path_value(request, 0), &view, &error)) {
        response_set_error(&request->response, &error);
        return;
    }
    answer_export(request, &view, comparison_json_size(&view));
    comparison_view_clear(&view);
}

void api_comparisons_cancel(struct request *request) {
    struct comparison_view view = {0};
    struct error error = {0};
    if (runs_cancel_comparison(request->service->runs, request_path_value(request, 0), &view, &error)) {
        answer_comparison(request, 200, &view);
        comparison_view_clear(&view);
    } else {
        response_set_error(&request->response, &error);
    }
}

void api_comparisons_delete(struct request *request) {
    struct error error = {0};
    if (runs_delete_comparison(request->service->runs, request_path_value(request, 0), &error))
        response_set_empty(&request->response, 204);
    else
        response_set_error(&request->response, &error);
}
