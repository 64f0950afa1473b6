/* The whole API in one table: the router uses it, and openapi.json is built from it. */
#include "server/api/api.h"

static const char *const splits[] = {"train", "test", NULL};

static const struct parameter_declaration wait_query[] = {
    {.name = "wait",
     .type = PARAMETER_INTEGER,
     .title = "Seconds to wait",
     .meaning = "Delays the answer until the run has ended, for at most this many seconds.",
     .maximum = 300},
};

/* Which runs a list has, and which are deleted at once. */
#define RUN_FILTERS                                                                                          \
    {.name = "state",                                                                                        \
     .type = PARAMETER_CHOICE,                                                                               \
     .title = "State",                                                                                       \
     .meaning = "Only runs in this state.",                                                                  \
     .choices = run_state_names},                                                                            \
        {.name = "experiment",                                                                               \
         .type = PARAMETER_TEXT,                                                                             \
         .title = "Experiment",                                                                              \
         .meaning = "Only runs of this experiment.",                                                         \
         .length_maximum = 64},                                                                              \
    {                                                                                                        \
        .name = "owner", .type = PARAMETER_TEXT, .title = "Owner",                                           \
        .meaning = "Only runs of this owner, as /api/storage names it.", .length_maximum = 64                \
    }

static const struct parameter_declaration runs_query[] = {
    RUN_FILTERS,
    {.name = "comparison",
     .type = PARAMETER_TEXT,
     .title = "Comparison",
     .meaning = "Only runs of this comparison.",
     .length_maximum = 64},
    {.name = "limit",
     .type = PARAMETER_INTEGER,
     .title = "At most",
     .meaning = "At most this many runs.",
     .minimum = 1,
     .maximum = 500,
     .default_number = 50},
    {.name = "mine",
     .type = PARAMETER_BOOLEAN,
     .title = "Mine",
     .meaning = "Only runs that belong to the caller."},
    {.name = "before",
     .type = PARAMETER_TEXT,
     .title = "Before",
     .meaning = "Only runs older than the one with this id, the value of next in the previous page.",
     .length_maximum = 64},
};

static const struct parameter_declaration runs_deleted_query[] = {RUN_FILTERS};

static const struct parameter_declaration comparisons_query[] = {
    {.name = "limit",
     .type = PARAMETER_INTEGER,
     .title = "At most",
     .meaning = "At most this many comparisons.",
     .minimum = 1,
     .maximum = 100,
     .default_number = 20},
    {.name = "before",
     .type = PARAMETER_TEXT,
     .title = "Before",
     .meaning = "Only comparisons older than the one with this id.",
     .length_maximum = 64},
};

static const struct parameter_declaration events_query[] = {
    {.name = "after",
     .type = PARAMETER_TEXT,
     .title = "After",
     .meaning = "Begin after the event with this id, like the header Last-Event-ID; from the start if there "
                "is no event with so high an id.",
     .length_maximum = 32},
};

#define EPOCH_QUERY                                                                                          \
    {                                                                                                        \
        .name = "epoch", .type = PARAMETER_TEXT, .title = "Epoch",                                           \
        .meaning = "The number of a kept epoch, or last; 0 is before training.", .length_maximum = 16,       \
        .default_text = "last"                                                                               \
    }

static const struct parameter_declaration attention_query[] = {
    EPOCH_QUERY,
    {.name = "example",
     .type = PARAMETER_INTEGER,
     .title = "Example",
     .meaning = "The number of an example in the test set.",
     .maximum = 1e9},
    {.name = "layer",
     .type = PARAMETER_INTEGER,
     .title = "Layer",
     .meaning = "The number of an attention layer.",
     .maximum = 1e6},
    {.name = "head",
     .type = PARAMETER_TEXT,
     .title = "Head",
     .meaning = "The number of a head, or mean for the average over all.",
     .length_maximum = 16,
     .default_text = "mean"},
    {.name = "query_from",
     .type = PARAMETER_INTEGER,
     .title = "First query",
     .meaning = "The first row of the matrix to return.",
     .maximum = 1e9},
    {.name = "query_count",
     .type = PARAMETER_INTEGER,
     .title = "Queries",
     .meaning =
         "The most rows to return. 0: all, or about a million weights if a sequence exceeds 1,024 steps.",
     .maximum = 1e9},
};

static const struct parameter_declaration attention_mean_query[] = {EPOCH_QUERY};

static const struct parameter_declaration gradient_query[] = {
    EPOCH_QUERY,
    {.name = "examples",
     .type = PARAMETER_INTEGER,
     .title = "Examples",
     .meaning = "How many of the first training examples the gradient is averaged over.",
     .minimum = 1,
     .maximum = 1024,
     .default_number = 256},
};

static const struct parameter_declaration predictions_query[] = {
    {.name = "all_heads",
     .type = PARAMETER_BOOLEAN,
     .title = "All heads",
     .meaning = "Also returns the attention of every head of every layer, as attention_by_head."},
};

static const struct parameter_declaration datasets_query[] = {
    {.name = "name",
     .type = PARAMETER_TEXT,
     .title = "Name",
     .meaning = "The data set's name, which a run then uses as its task.",
     .length_maximum = DATASET_NAME_MAXIMUM},
};

static const struct parameter_declaration dataset_list_query[] = {
    {.name = "limit",
     .type = PARAMETER_INTEGER,
     .title = "At most",
     .meaning = "At most this many data sets, besides the drawn ones.",
     .minimum = 1,
     .maximum = 1000,
     .default_number = 1000},
    {.name = "after",
     .type = PARAMETER_TEXT,
     .title = "After",
     .meaning = "Only data sets that come after this name; next of the page before.",
     .length_maximum = DATASET_NAME_MAXIMUM},
};

static const struct parameter_declaration examples_query[] = {
    {.name = "split",
     .type = PARAMETER_CHOICE,
     .title = "Split",
     .meaning = "The examples for training or for testing.",
     .choices = splits,
     .default_text = "test"},
    {.name = "offset",
     .type = PARAMETER_INTEGER,
     .title = "Offset",
     .meaning = "The number of the first example to return.",
     .maximum = 1e9},
    {.name = "limit",
     .type = PARAMETER_INTEGER,
     .title = "At most",
     .meaning = "At most this many examples.",
     .minimum = 1,
     .maximum = 1000,
     .default_number = 50},
};

#define QUERY(declarations)                                                                                  \
    .query = (declarations), .query_count = sizeof(declarations) / sizeof *(declarations)

/* What reads or computes so much that others must not wait for it. */
#define ROUTE_READ (ROUTE_BACKGROUND | ROUTE_SLOW | ROUTE_ABANDON)

static const struct route routes[] = {
    {METHOD_POST, "/api/runs", api_runs_create, "Starts a run of an experiment", .needs = NEEDS_RUN,
     .flags = ROUTE_BACKGROUND, QUERY(wait_query), .body = BODY_JSON, .success_status = 201,
     .request_schema = "RunRequest", .response_schema = "Run"},
    {METHOD_GET, "/api/runs", api_runs_list,
     "Runs, newest first; a result above 16 KiB is null here, parameters above 16 KiB are an empty object, "
     "and both are complete only in the run itself",
     .needs = NEEDS_READ, .flags = ROUTE_READ, QUERY(runs_query), .success_status = 200,
     .response_schema = "RunList"},
    {METHOD_DELETE, "/api/storage/runs", api_runs_delete_many,
     "Deletes up to 200 ended runs that fit the query, the newest first, and says whether more are left",
     .flags = ROUTE_BACKGROUND, QUERY(runs_deleted_query), .success_status = 200,
     .response_schema = "Deletion"},
    {METHOD_GET, "/api/runs/{id}", api_runs_get, "A run", .needs = NEEDS_READ, .success_status = 200,
     .response_schema = "Run"},
    {METHOD_POST, "/api/runs/{id}/cancel", api_runs_cancel, "Cancels a run within one training step",
     .needs = NEEDS_OWN_RUN, .flags = ROUTE_BACKGROUND, .success_status = 200, .response_schema = "Run",
     .may_conflict = true},
    {METHOD_DELETE, "/api/runs/{id}", api_runs_delete,
     "Deletes an ended run and everything that belongs to it", .needs = NEEDS_OWN_RUN,
     .flags = ROUTE_BACKGROUND, .success_status = 204, .may_conflict = true},
    {METHOD_GET, "/api/runs/{id}/events", api_events_of_run,
     "The run's events from its beginning; the stream closes after the event named end. As in lists, "
     "large results and parameters are left out",
     .needs = NEEDS_READ, QUERY(events_query), .exports = api_events_exports, .success_status = 200},
    {METHOD_GET, "/api/events", api_events_of_all, "The events of all runs, from now on", .needs = NEEDS_READ,
     QUERY(events_query), .exports = api_events_exports, .success_status = 200},
    {METHOD_GET, "/api/runs/{id}/metrics", api_metrics_get, "One row per epoch; row 0 is before training",
     .needs = NEEDS_READ, .flags = ROUTE_READ, .exports = api_metrics_exports, .success_status = 200,
     .response_schema = "Metrics"},
    {METHOD_GET, "/api/runs/{id}/attention", api_attention_get, "One attention matrix, or some of its rows",
     .needs = NEEDS_READ, .flags = ROUTE_READ, .exports = api_attention_exports, QUERY(attention_query),
     .success_status = 200, .response_schema = "Attention", .may_conflict = true},
    {METHOD_GET, "/api/runs/{id}/attention/mean", api_attention_mean_get,
     "Attention by key position, averaged over the first 200 test examples, the heads and the queries",
     .needs = NEEDS_READ, .flags = ROUTE_READ, .exports = api_attention_mean_exports,
     QUERY(attention_mean_query), .success_status = 200, .response_schema = "MeanAttention",
     .may_conflict = true},
    {METHOD_GET, "/api/runs/{id}/gradient", api_gradient_get,
     "How much gradient reaches each step of the input at a kept epoch, averaged over training examples",
     .needs = NEEDS_READ, .flags = ROUTE_READ, QUERY(gradient_query), .success_status = 200,
     .response_schema = "Gradient", .may_conflict = true},
    {METHOD_GET, "/api/runs/{id}/model", api_weights_get, "The weights under PyTorch's names",
     .needs = NEEDS_READ, .flags = ROUTE_READ, .exports = api_weights_exports, .success_status = 200,
     .may_conflict = true},
    {METHOD_POST, "/api/runs/{id}/predictions", api_predictions_create,
     "The trained model's predictions for new inputs", .needs = NEEDS_RUN, .flags = ROUTE_READ,
     QUERY(predictions_query), .body = BODY_JSON, .success_status = 200,
     .request_schema = "PredictionRequest", .response_schema = "Predictions", .may_conflict = true},
    {METHOD_POST, "/api/comparisons", api_comparisons_create,
     "Starts a comparison: every variant with every seed", .needs = NEEDS_RUN, .flags = ROUTE_BACKGROUND,
     .body = BODY_JSON, .success_status = 201, .request_schema = "ComparisonRequest",
     .response_schema = "Comparison"},
    {METHOD_GET, "/api/comparisons", api_comparisons_list, "Comparisons, newest first", .needs = NEEDS_READ,
     .flags = ROUTE_READ, QUERY(comparisons_query), .success_status = 200,
     .response_schema = "ComparisonList"},
    {METHOD_GET, "/api/comparisons/{id}", api_comparisons_get, "A comparison as a table", .needs = NEEDS_READ,
     .exports = api_comparisons_exports, .flags = ROUTE_READ, .success_status = 200,
     .response_schema = "Comparison"},
    {METHOD_POST, "/api/comparisons/{id}/cancel", api_comparisons_cancel,
     "Cancels all its runs that have not ended", .needs = NEEDS_OWN_COMPARISON, .flags = ROUTE_BACKGROUND,
     .success_status = 200, .response_schema = "Comparison", .may_conflict = true},
    {METHOD_DELETE, "/api/comparisons/{id}", api_comparisons_delete,
     "Deletes an ended comparison and its runs", .needs = NEEDS_OWN_COMPARISON, .flags = ROUTE_BACKGROUND,
     .success_status = 204, .may_conflict = true},
    {METHOD_GET, "/api/experiments", api_experiments_list,
     "Every experiment with the schema of its parameters", .needs = NEEDS_NOTHING, .success_status = 200,
     .response_schema = "ExperimentList"},
    {METHOD_GET, "/api/experiments/train/layers", api_layers_get,
     "The layers of the model that a run with these parameters of train has, as its PyTorch class reads, "
     "with "
     "their shapes and parameters",
     .needs = NEEDS_READ, .flags = ROUTE_READ | ROUTE_OPEN_QUERY, .success_status = 200,
     .response_schema = "Layers"},
    {METHOD_GET, "/api/datasets", api_datasets_list,
     "The data sets: those that attnlab draws, then the users' by name", .needs = NEEDS_READ,
     QUERY(dataset_list_query), .flags = ROUTE_READ, .success_status = 200, .response_schema = "DatasetList"},
    {METHOD_POST, "/api/datasets", api_datasets_create, "Adds a data set; the body is the file",
     .needs = NEEDS_RUN, .flags = ROUTE_BACKGROUND | ROUTE_SLOW, QUERY(datasets_query), .body = BODY_DATASET,
     .success_status = 201, .response_schema = "Dataset", .may_conflict = true},
    {METHOD_DELETE, "/api/datasets/{name}", api_datasets_delete, "Deletes a data set",
     .needs = NEEDS_OWN_DATASET, .flags = ROUTE_BACKGROUND, .success_status = 204, .may_conflict = true},
    {METHOD_GET, "/api/datasets/{name}/examples", api_datasets_examples,
     "The examples exactly as a run sees them; takes every parameter of train that concerns the data",
     .needs = NEEDS_READ, .flags = ROUTE_READ | ROUTE_OPEN_QUERY, .exports = api_examples_exports,
     QUERY(examples_query), .success_status = 200, .response_schema = "Examples"},
    {METHOD_GET, "/api/storage", api_storage_get,
     "What runs and data sets take on the disk; the lecturer sees who takes most", .needs = NEEDS_READ,
     .flags = ROUTE_READ, .success_status = 200, .response_schema = "Storage"},
    {METHOD_GET, "/api/health", api_health_get, "The service's health", .needs = NEEDS_NOTHING,
     .success_status = 200, .response_schema = "Health"},
    {METHOD_GET, "/api/session", api_session_get, "The caller's session: role, rights and limits",
     .needs = NEEDS_NOTHING, .success_status = 200, .response_schema = "Session"},
    {METHOD_POST, "/api/session", api_session_create, "Signs in as the lecturer", .needs = NEEDS_NOTHING,
     .flags = ROUTE_BACKGROUND, .body = BODY_JSON, .success_status = 200, .request_schema = "SessionRequest",
     .response_schema = "Session", .may_conflict = true},
    {METHOD_DELETE, "/api/session", api_session_delete, "Signs out", .needs = NEEDS_NOTHING,
     .flags = ROUTE_BACKGROUND, .success_status = 204},
    {METHOD_GET, "/api/openapi.json", api_openapi_get, "This description", .needs = NEEDS_NOTHING,
     .success_status = 200, .response_schema = "OpenApi"},
    {METHOD_GET, "/metrics", api_prometheus_get, "Counters in Prometheus' text format",
     .needs = NEEDS_LECTURER, .exports = api_prometheus_exports, .success_status = 200},
};

const struct route_table api_routes = {routes, sizeof routes / sizeof *routes};
