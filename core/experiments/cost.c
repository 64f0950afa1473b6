/* cost: measures time and memory by sequence length, for an RNN, an LSTM and attention in three ways.
 *
 * Attention by the textbook makes queries, keys, values, all scores, their softmax and the sums of values; in
 * tiles it does the same without keeping the scores; and the identity for single numbers, with which models
 * train here, needs neither projections nor values (core/layers/attention/scalar.h). Each untrained model's
 * forward pass over one batch runs once to warm up, when its memory is measured, and then `repeats` times,
 * the models in turn, so that a change of the machine's speed affects all of them. The result is the median.
 * If a matrix would not fit in memory, its size is computed and only the recurrent models and the tiles are
 * measured. */
#include "core/experiments/drawn_model.h"
#include "core/experiments/experiments.h"
#include "core/layers/positions/position.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXAMPLES_SEED = 3, WEIGHTS_SEED = 0, LENGTH_MAXIMUM = 4096, WIDTH_MAXIMUM = 1024 };
enum { RNN, LSTM, ATTENTION, TILED, IDENTITY, MODEL_COUNT };
enum { WARM_UP = 1 };

static const struct measured_model {
    const char *name;
    enum attention_storage storage;
    bool has_matrix;           /* of T x T numbers for each example */
    const char *time, *memory; /* its fields of the result */
} measured_models[MODEL_COUNT] = {
    [RNN] = {"rnn", ATTENTION_BY_LENGTH, false, "rnn_ms", "rnn_bytes"},
    [LSTM] = {"lstm", ATTENTION_BY_LENGTH, false, "lstm_ms", "lstm_bytes"},
    [ATTENTION] = {"attention", ATTENTION_BY_TEXTBOOK, true, "attention_ms", "attention_bytes"},
    [TILED] = {"attention", ATTENTION_BY_TEXTBOOK_IN_TILES, false, "tiled_ms", "tiled_bytes"},
    [IDENTITY] = {"attention", ATTENTION_WITH_MATRIX, true, "identity_ms", "identity_bytes"}};

static const struct parameter_declaration declarations[] = {
    {.name = "lengths",
     .type = PARAMETER_INTEGER_LIST,
     .cost = PARAMETER_COST_LENGTH,
     .title = "Lengths",
     .meaning = "The sequence lengths to measure, in this order.",
     .minimum = 1,
     .maximum = LENGTH_MAXIMUM,
     .length_maximum = 12,
     .default_text = "30,60,120,240"},
    {.name = "batch",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Batch",
     .meaning = "How many sequences go through a model at once.",
     .minimum = 1,
     .maximum = 1024,
     .default_number = 64},
    {.name = "width",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_WIDTH,
     .title = "Width",
     .meaning = "The size of the hidden state, or of the vector of a step.",
     .minimum = 1,
     .maximum = WIDTH_MAXIMUM,
     .default_number = 32},
    {.name = "repeats",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Repeats",
     .meaning = "How often each pass is timed; the result is the median.",
     .minimum = 1,
     .maximum = 1000,
     .default_number = 10},
    {.name = "matrix_up_to",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Matrix up to",
     .meaning = "The greatest length at which attention with its whole matrix is also measured.",
     .maximum = LENGTH_MAXIMUM,
     .default_number = LENGTH_MAXIMUM,
     .default_depends = true,
     .default_note = "less if the matrix would not fit in memory"},
};

static struct drawn_model_request request_of(const struct parameter_set *set, size_t model, size_t steps) {
    /* A run stored by an earlier version has the usual width. */
    size_t width = parameter_is_set(set, "width") ? (size_t)parameter_integer(set, "width") : 0;
    return (struct drawn_model_request){.name = measured_models[model].name,
                                        .width = width,
                                        .steps = steps,
                                        .examples = (size_t)parameter_integer(set, "batch"),
                                        .position = &position_learned,
                                        .storage = measured_models[model].storage};
}

/* A run stored by an earlier version lacks matrix_up_to; that version checked that all matrices fit. */
static bool is_measured(const struct parameter_set *set, size_t model, size_t length) {
    return !measured_models[model].has_matrix || !parameter_is_set(set, "matrix_up_to") ||
           length <= (size_t)parameter_integer(set, "matrix_up_to");
}

/* The models of one length are in memory together, one length at a time. */
static struct run_cost estimate(const struct parameter_set *set, const struct data_source *data) {
    enum { NUMBERS_OF_LENGTH = 36 };
    (void)data;
    const struct parameter_value *lengths = parameter_value(set, "lengths");
    double passes = WARM_UP + (double)parameter_integer(set, "repeats"), largest = 0;
    struct run_cost cost = {.memory_bytes = 0};
    for (size_t i = 0; i < lengths->count; i++) {
        size_t length = (size_t)lengths->integers[i];
        struct run_cost row = {.memory_bytes = 0};
        drawn_examples_add_cost((size_t)parameter_integer(set, "batch"), length, &row);
        for (size_t m = 0; m < MODEL_COUNT; m++) {
            struct drawn_model_request request = request_of(set, m, length);
            if (!is_measured(set, m, length))
                continue;
            row.memory_bytes += (double)drawn_model_size(&request);
            drawn_model_add_work(&request, passes, &row);
        }
        largest = fmax(largest, row.memory_bytes);
        for (int kind = 0; kind < WORK_KIND_COUNT; kind++)
            cost.work[kind] += row.work[kind];
    }
    run_cost_add_result(&cost, NUMBERS_OF_LENGTH * (double)lengths->count);
    run_cost_add_memory(&cost, MODEL_COUNT * passes * sizeof(double));
    cost.memory_bytes += largest;
    return cost;
}

/* Defaults matrix_up_to to the longest of the lengths at which the matrix still fits in memory, as it does at
 * every shorter one. */
static bool complete(struct parameter_set *set, const struct data_source *data,
                     unsigned long long memory_limit_bytes, struct parameter_faults *faults,
                     struct error *error) {
    (void)error;
    if (parameter_is_set(set, "matrix_up_to"))
        return true;
    const struct parameter_value *lengths = parameter_value(set, "lengths");
    size_t index = (size_t)parameter_find(set, "matrix_up_to");
    int64_t longest = LENGTH_MAXIMUM;
    parameter_set_integer(set, index, longest, faults);
    while (experiment_estimate(&experiment_cost, set, data).memory_bytes > (double)memory_limit_bytes) {
        int64_t next = 0; /* the longest length whose matrix is still to be measured */
        for (size_t i = 0; i < lengths->count; i++)
            if (lengths->integers[i] <= longest && lengths->integers[i] > next)
                next = lengths->integers[i];
        if (next == 0)
            break; /* the other models do not fit either */
        longest = next - 1;
        parameter_set_integer(set, index, longest, faults);
    }
    return true;
}

/* The cost of one length. */
struct cost_row {
    size_t length;
    double milliseconds[MODEL_COUNT]; /* NAN: not measured */
    size_t bytes[MODEL_COUNT];        /* that the layer's pass over the batch holds */
};

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* A float that no pass computes: a NaN with digits of its own. */
static const uint32_t untouched = 0x7fd0beefU;

/* The memory that the layer may use, in two parts. */
struct layer_memory {
    float *floats[2];
    size_t counts[2];
};

static struct layer_memory layer_memory_of(const struct drawn_model *model, size_t batch) {
    size_t index = drawn_model_main_layer(&model->model);
    const struct layer *layer = &model->model.layers[index];
    return (struct layer_memory){{model->workspace.saved[index], model->workspace.scratch},
                                 {layer_saved_size(layer, batch), layer_scratch_size(layer, batch)}};
}

static void mark_untouched(const struct layer_memory *memory) {
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < memory->counts[i]; j++)
            memcpy(&memory->floats[i][j], &untouched, sizeof untouched);
}

/* Counts what a pass has written since. The layer may have room for more, which only training needs. */
static size_t touched_bytes(const struct layer_memory *memory) {
    size_t count = 0;
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < memory->counts[i]; j++) {
            uint32_t bits;
            memcpy(&bits, &memory->floats[i][j], sizeof bits);
            count += bits != untouched;
        }
    return count * sizeof(float);
}

/* The warm-up: every open model's first pass, in which its memory is measured. */
static bool measure_memory(const struct experiment_context *context, struct drawn_model *models,
                           const struct example_set *examples, struct cost_row *row, struct error *error) {
    for (size_t m = 0; m < MODEL_COUNT; m++) {
        if (models[m].parameters == NULL)
            continue;
        struct layer_memory memory = layer_memory_of(&models[m], examples->count);
        mark_untouched(&memory);
        drawn_model_forward(&models[m], examples->values, examples->count);
        row->bytes[m] = touched_bytes(&memory);
        if (!experiment_check_cancelled(context, error))
            return false;
    }
    return true;
}

/* Times the open models in turn into seconds[MODEL_COUNT][repeats]. ERROR_CANCELLED if a stop is requested.
 */
static bool time_passes(const struct experiment_context *context, struct drawn_model *models,
                        const struct example_set *examples, size_t repeats, double *seconds,
                        struct error *error) {
    for (size_t r = 0; r < repeats; r++)
        for (size_t m = 0; m < MODEL_COUNT; m++) {
            if (models[m].parameters == NULL)
                continue;
            double start = experiment_seconds_now(context);
            drawn_model_forward(&models[m], examples->values, examples->count);
            seconds[m * repeats + r] = experiment_seconds_now(context) - start;
            if (!experiment_check_cancelled(context, error))
                return false;
        }
    return true;
}

/* For a model that is not measured: all that the layer may use. */
static size_t computed_bytes(const struct model *model, size_t batch) {
    const struct layer *layer = &model->layers[drawn_model_main_layer(model)];
    return (layer_saved_size(layer, batch) + layer_scratch_size(layer, batch)) * sizeof(float);
}

static bool measure_length(const struct experiment_context *context, struct cost_row *row, double *seconds,
                           struct error *error) {
    const struct parameter_set *set = context->parameters;
    size_t repeats = (size_t)parameter_integer(set, "repeats"),
           batch = (size_t)parameter_integer(set, "batch");
    struct drawn_model models[MODEL_COUNT] = {0};
    struct task *task = drawn_examples_open(batch, row->length, EXAMPLES_SEED, error);
    bool done = task != NULL;
    for (size_t m = 0; m < MODEL_COUNT && done; m++) {
        struct drawn_model_request request = request_of(set, m, row->length);
        request.stop = &context->host.stop;
        struct model model = drawn_model_build(&request);
        row->bytes[m] = computed_bytes(&model, batch);
        row->milliseconds[m] = (double)NAN;
        if (!is_measured(set, m, row->length))
            continue;
        struct torch_generator generator;
        torch_generator_seed(&generator, WEIGHTS_SEED);
        done = drawn_model_open(&models[m], &request, &generator, error);
    }
    done = done && measure_memory(context, models, &task->train, row, error) &&
           time_passes(context, models, &task->train, repeats, seconds, error);
    for (size_t m = 0; m < MODEL_COUNT && done; m++)
        if (models[m].parameters != NULL)
            row->milliseconds[m] = 1000 * median(seconds + m * repeats, repeats);
    for (size_t m = 0; m < MODEL_COUNT; m++)
        drawn_model_close(&models[m]);
    task_free(task);
    return done;
}

/* Null if attention with its matrix was measured. */
static void write_reason(const struct result_sink *sink, const struct cost_row *row) {
    char reason[120];
    if (!isnan(row->milliseconds[ATTENTION])) {
        result_null(sink, "attention_not_measured");
        return;
    }
    snprintf(reason, sizeof reason, "above matrix_up_to; with its whole matrix attention would take %.1f MB",
             (double)row->bytes[ATTENTION] / 1e6);
    result_text(sink, "attention_not_measured", reason);
}

/* How much each figure has grown since the row before; null in the first row. */
static void write_ratios(const struct result_sink *sink, const struct cost_row *row,
                         const struct cost_row *before) {
    double length = before == NULL ? (double)NAN : (double)row->length / (double)before->length;
    result_begin_object(sink, "ratio");
    result_number(sink, "length", length);
    result_number(sink, "scores", length * length);
    for (size_t m = 0; m < MODEL_COUNT; m++) {
        const struct measured_model *model = &measured_models[m];
        result_number(sink, model->time,
                      before == NULL ? (double)NAN : row->milliseconds[m] / before->milliseconds[m]);
        result_number(sink, model->memory,
                      before == NULL ? (double)NAN : (double)row->bytes[m] / (double)before->bytes[m]);
    }
    result_end_object(sink);
}

/* `before` is the previous row or NULL. */
static void write_row(const struct result_sink *sink, const struct cost_row *row,
                      const struct cost_row *before, size_t batch) {
    result_begin_object(sink, NULL);
    result_integer(sink, "length", (int64_t)row->length);
    for (size_t m = 0; m < MODEL_COUNT; m++) {
        result_number(sink, measured_models[m].time, row->milliseconds[m]);
        result_integer(sink, measured_models[m].memory, (int64_t)row->bytes[m]);
    }
    write_reason(sink, row);
    result_integer(sink, "scores", (int64_t)(row->length * row->length));
    /* The score matrices of the batch; the bytes of attention with its matrix include them. */
    result_integer(sink, "score_bytes", (int64_t)(batch * row->length * row->length * sizeof(float)));
    /* The cheaper way of computing the textbook's attention. */
    result_begin_object(sink, "wins");
    result_text(sink, "time",
                row->milliseconds[ATTENTION] <= row->milliseconds[TILED] ? "attention" : "tiled");
    result_text(sink, "bytes", row->bytes[TILED] < row->bytes[ATTENTION] ? "tiled" : "attention");
    result_end_object(sink);
    write_ratios(sink, row, before);
    result_end_object(sink);
}

static bool run(struct experiment_context *context, struct error *error) {
    const struct parameter_value *lengths = parameter_value(context->parameters, "lengths");
    size_t repeats = (size_t)parameter_integer(context->parameters, "repeats");
    size_t batch = (size_t)parameter_integer(context->parameters, "batch");
    double *seconds = calloc(MODEL_COUNT * repeats, sizeof *seconds);
    if (seconds == NULL)
        return error_set_memory(error, MODEL_COUNT * repeats * sizeof *seconds);
    struct cost_row before = {0};
    bool done = true;
    result_begin_object(&context->result, NULL);
    result_begin_array(&context->result, "rows");
    for (size_t i = 0; i < lengths->count && done; i++) {
        struct cost_row row = {.length = (size_t)lengths->integers[i]};
        done = measure_length(context, &row, seconds, error);
        if (done)
            write_row(&context->result, &row, i > 0 ? &before : NULL, batch);
        before = row;
        experiment_report_progress(context, i + 1, lengths->count, "lengths");
    }
    result_end_array(&context->result);
    result_end_object(&context->result);
    free(seconds);
    return done;
}

const struct experiment experiment_cost = {
    .name = "cost",
    .title = "What it costs",
    .summary = "Measures the time and memory of an RNN, an LSTM and attention, by the textbook, in tiles and "
               "by the identity for single numbers, by sequence length.",
    .parameters = declarations,
    .parameter_count = sizeof declarations / sizeof declarations[0],
    .complete = complete,
    .estimate = estimate,
    .run = run,
};
