/* cost: measures time and memory by sequence length for an RNN, attention with its whole matrix of weights,
 * and attention in tiles, which keeps no matrix (core/layers/attention/tiled.h).
 *
 * Runs the forward pass of each untrained model over one batch, once to warm up and then `repeats` times. The
 * models take turns, so that a change of the machine's speed affects all of them. The result is the median.
 * If the matrix would not fit in memory, its size is computed and only the other two are measured. */
#include "core/experiments/drawn_model.h"
#include "core/experiments/experiments.h"
#include "core/layers/positions/position.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXAMPLES_SEED = 3, WEIGHTS_SEED = 0, LENGTH_MAXIMUM = 4096 };
enum { RNN, ATTENTION, TILED, MODEL_COUNT };

static const char *const model_names[MODEL_COUNT] = {
    [RNN] = "rnn", [ATTENTION] = "attention", [TILED] = "attention"};

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
    return (struct drawn_model_request){.name = model_names[model],
                                        .steps = steps,
                                        .examples = (size_t)parameter_integer(set, "batch"),
                                        .position = &position_learned,
                                        .storage =
                                            model == TILED ? ATTENTION_IN_TILES : ATTENTION_WITH_MATRIX};
}

/* Defaults matrix_up_to to the longest length at which the matrix still fits in memory, as it does at every
 * shorter one. */
static bool complete(struct parameter_set *set, const struct data_source *data,
                     unsigned long long memory_limit_bytes, struct parameter_faults *faults,
                     struct error *error) {
    (void)data;
    (void)error;
    if (parameter_is_set(set, "matrix_up_to"))
        return true;
    const struct parameter_value *lengths = parameter_value(set, "lengths");
    int64_t longest = LENGTH_MAXIMUM;
    for (size_t i = 0; i < lengths->count; i++) {
        struct drawn_model_request request = request_of(set, ATTENTION, (size_t)lengths->integers[i]);
        if (drawn_model_size(&request) > memory_limit_bytes && lengths->integers[i] <= longest)
            longest = lengths->integers[i] - 1;
    }
    parameter_set_integer(set, (size_t)parameter_find(set, "matrix_up_to"), longest, faults);
    return true;
}

/* A run stored by an earlier version lacks matrix_up_to; that version checked that all matrices fit. */
static bool is_measured(const struct parameter_set *set, size_t model, size_t length) {
    return model != ATTENTION || !parameter_is_set(set, "matrix_up_to") ||
           length <= (size_t)parameter_integer(set, "matrix_up_to");
}

static void validate(const struct parameter_set *set, const struct data_source *data,
                     unsigned long long memory_limit_bytes, struct parameter_faults *faults) {
    (void)data;
    const struct parameter_value *lengths = parameter_value(set, "lengths");
    for (size_t i = 0; i < lengths->count; i++)
        for (size_t m = 0; m < MODEL_COUNT; m++) {
            size_t length = (size_t)lengths->integers[i];
            struct drawn_model_request request = request_of(set, m, length);
            if (is_measured(set, m, length) &&
                !drawn_model_check_size(&request, memory_limit_bytes,
                                        m == ATTENTION ? "matrix_up_to" : "lengths", faults))
                return;
        }
}

/* The cost of one length. */
struct cost_row {
    size_t length;
    double milliseconds[MODEL_COUNT]; /* NAN: not measured */
    size_t bytes[MODEL_COUNT];        /* of the layer alone, for the batch: saved values and scratch */
};

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* The recurrent or attention layer: the last but one. The last layer maps to the classes. */
static size_t layer_bytes(const struct model *model, size_t batch) {
    const struct layer *layer = &model->layers[model->layer_count - 2];
    return (layer_saved_size(layer, batch) + layer_scratch_size(layer, batch)) * sizeof(float);
}

/* Times the open models in turn into seconds[MODEL_COUNT][repeats]. ERROR_CANCELLED if a stop is requested.
 */
static bool time_passes(const struct experiment_context *context, struct drawn_model *models,
                        const struct example_set *examples, size_t repeats, double *seconds,
                        struct error *error) {
    enum { WARM_UP = 1 };
    for (size_t r = 0; r < WARM_UP + repeats; r++)
        for (size_t m = 0; m < MODEL_COUNT; m++) {
            if (models[m].parameters == NULL)
                continue;
            double start = r < WARM_UP ? 0 : experiment_seconds_now(context);
            drawn_model_forward(&models[m], examples->values, examples->count);
            if (r >= WARM_UP)
                seconds[m * repeats + r - WARM_UP] = experiment_seconds_now(context) - start;
            if (!experiment_check_cancelled(context, error))
                return false;
        }
    return true;
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
        row->bytes[m] = layer_bytes(&model, batch);
        row->milliseconds[m] = (double)NAN;
        if (!is_measured(set, m, row->length))
            continue;
        struct torch_generator generator;
        torch_generator_seed(&generator, WEIGHTS_SEED);
        done = drawn_model_open(&models[m], &request, &generator, error);
    }
    done = done && time_passes(context, models, &task->train, repeats, seconds, error);
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

/* `before` is the previous row or NULL; the ratios tell how much each figure has grown since then. */
static void write_row(const struct result_sink *sink, const struct cost_row *row,
                      const struct cost_row *before, size_t batch) {
    double scores = (double)row->length * (double)row->length;
    result_begin_object(sink, NULL);
    result_integer(sink, "length", (int64_t)row->length);
    result_number(sink, "rnn_ms", row->milliseconds[RNN]);
    result_number(sink, "attention_ms", row->milliseconds[ATTENTION]);
    write_reason(sink, row);
    result_integer(sink, "scores", (int64_t)(row->length * row->length));
    /* The score matrices of the batch; the attention layer's bytes include them. */
    result_integer(sink, "score_bytes", (int64_t)(batch * row->length * row->length * sizeof(float)));
    result_integer(sink, "rnn_bytes", (int64_t)row->bytes[RNN]);
    result_integer(sink, "attention_bytes", (int64_t)row->bytes[ATTENTION]);
    result_number(sink, "tiled_ms", row->milliseconds[TILED]);
    result_integer(sink, "tiled_bytes", (int64_t)row->bytes[TILED]);
    /* The cheaper way of computing attention. */
    result_begin_object(sink, "wins");
    result_text(sink, "time",
                row->milliseconds[ATTENTION] <= row->milliseconds[TILED] ? "attention" : "tiled");
    result_text(sink, "bytes", row->bytes[TILED] < row->bytes[ATTENTION] ? "tiled" : "attention");
    result_end_object(sink);
    /* Null in the first row. */
    struct cost_row none = {.milliseconds = {(double)NAN, (double)NAN, (double)NAN}};
    if (before == NULL)
        before = &none;
    result_begin_object(sink, "ratio");
    result_number(sink, "length", (double)row->length / (double)before->length);
    result_number(sink, "rnn_ms", row->milliseconds[RNN] / before->milliseconds[RNN]);
    result_number(sink, "attention_ms", row->milliseconds[ATTENTION] / before->milliseconds[ATTENTION]);
    result_number(sink, "scores", scores / (double)before->length / (double)before->length);
    result_number(sink, "rnn_bytes", (double)row->bytes[RNN] / (double)before->bytes[RNN]);
    result_number(sink, "attention_bytes", (double)row->bytes[ATTENTION] / (double)before->bytes[ATTENTION]);
    result_number(sink, "tiled_ms", row->milliseconds[TILED] / before->milliseconds[TILED]);
    result_number(sink, "tiled_bytes", (double)row->bytes[TILED] / (double)before->bytes[TILED]);
    result_end_object(sink);
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
    .summary = "Measures the time and memory of an RNN and of attention, with the whole matrix and in tiles, "
               "by sequence length.",
    .parameters = declarations,
    .parameter_count = sizeof declarations / sizeof declarations[0],
    .complete = complete,
    .validate = validate,
    .run = run,
};
