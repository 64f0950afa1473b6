/* Inspects a trained model: see inspection.h.
 *
 * The model runs on one example at a time, so that a result does not depend on other requests and the memory
 * is that of one example. */
#include "core/training/inspection.h"

#include "core/math/matrix.h"
#include "core/model/loss.h"
#include "core/model/safetensors.h"
#include "core/training/setup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEAN_EXAMPLES = 200, STEP_LABEL_BYTES = 12, WINDOW_WEIGHTS = 1 << 20 };

struct inspection {
    struct setup setup;
    bool owns_setup;
    struct arena arena;
    struct model_workspace workspace;
    const struct kernels *kernels;
    const struct stop_request *stop;
    float *weights;
    /* The current example, as the model reads it. */
    float *values;
    int32_t *tokens;
    uint8_t *present;
    const char **words;
    bool *unknown;
    void *encoded;    /* the memory that `words` point into, from task->encode */
    float *attention; /* [layers][heads][T][T], or one matrix; or [heads][window][T] */
    float *mean;      /* [T] */
    float *logits, *probabilities;
    char *step_text; /* "0", "1", ... */
    const char **step_labels;
};

/* The number of queries whose weights are held at a time: all, but at most WINDOW_WEIGHTS weights per head if
 * the model computes requested rows. */
static size_t window_queries(const struct model *model) {
    size_t steps = model->input.steps, most = WINDOW_WEIGHTS / steps;
    if (!model_computes_attention_rows(model) || most >= steps)
        return steps;
    return most > 0 ? most : 1;
}

static void lay_out(struct inspection *inspection, const struct model *model, struct arena *arena) {
    size_t steps = model->input.steps;
    size_t matrices = model_attention_layer_count(model) * model_head_count(model);
    model_workspace_layout(&inspection->workspace, model, 1, false, arena);
    inspection->weights = arena_floats(arena, model->parameter_count);
    inspection->values = arena_floats(arena, steps);
    inspection->tokens = arena_allocate(arena, steps, sizeof *inspection->tokens);
    inspection->present = arena_allocate(arena, steps, sizeof *inspection->present);
    inspection->words = arena_allocate(arena, steps, sizeof *inspection->words);
    inspection->unknown = arena_allocate(arena, steps, sizeof *inspection->unknown);
    inspection->attention = arena_floats(arena, matrices * window_queries(model) * steps);
    inspection->mean = arena_floats(arena, steps);
    inspection->logits = arena_floats(arena, model->class_count);
    inspection->probabilities = arena_floats(arena, model->class_count);
    inspection->step_text = arena_allocate(arena, steps, STEP_LABEL_BYTES);
    inspection->step_labels = arena_allocate(arena, steps, sizeof *inspection->step_labels);
}

size_t inspection_memory_size(const struct model *model) {
    struct inspection sketch = {0};
    struct arena arena = arena_measuring();
    lay_out(&sketch, model, &arena);
    return arena.used;
}

bool inspection_measure(const struct parameter_set *parameters, const struct data_source *data, size_t *bytes,
                        struct error *error) {
    struct task_request request = setup_task_request(parameters);
    struct task_summary summary;
    if (!task_describe(&request, data, &summary, error))
        return false;
    struct model model =
        setup_model(parameters, summary.sequence_length, summary.class_count, summary.vocabulary_maximum);
    size_t inspected = inspection_memory_size(&model), task = setup_task_memory_size(&summary);
    *bytes = inspected > SIZE_MAX - task ? SIZE_MAX : inspected + task;
    return true;
}

static void label_steps(struct inspection *inspection) {
    for (size_t t = 0; t < inspection->setup.model.input.steps; t++) {
        char *label = inspection->step_text + t * STEP_LABEL_BYTES;
        snprintf(label, STEP_LABEL_BYTES, "%u", (unsigned)t);
        inspection->step_labels[t] = label;
    }
}

struct inspection *inspection_open(const struct parameter_set *parameters, const struct data_source *data,
                                   const struct stop_request *stop, struct error *error) {
    struct setup setup;
    struct inspection *inspection =
        setup_open(&setup, parameters, data, stop, error) ? inspection_open_setup(&setup, error) : NULL;
    if (inspection != NULL)
        inspection->owns_setup = true;
    else
        setup_close(&setup);
    return inspection;
}

struct inspection *inspection_open_setup(const struct setup *setup, struct error *error) {
    struct inspection *inspection = calloc(1, sizeof *inspection);
    if (inspection == NULL) {
        error_set_memory(error, sizeof *inspection);
        return NULL;
    }
    inspection->setup = *setup;
    if (!arena_init(&inspection->arena, inspection_memory_size(&inspection->setup.model), error)) {
        inspection_close(inspection);
        return NULL;
    }
    lay_out(inspection, &inspection->setup.model, &inspection->arena);
    label_steps(inspection);
    inspection->kernels = kernels_choose();
    matrix_use_one_thread();
    return inspection;
}

void inspection_close(struct inspection *inspection) {
    if (inspection == NULL)
        return;
    if (inspection->owns_setup)
        setup_close(&inspection->setup);
    arena_free(&inspection->arena);
    free(inspection->encoded);
    free(inspection);
}

void inspection_set_stop(struct inspection *inspection, const struct stop_request *stop) {
    inspection->stop = stop;
}

size_t inspection_weight_count(const struct inspection *inspection) {
    return inspection->setup.model.parameter_count;
}

size_t inspection_layer_count(const struct inspection *inspection) {
    return model_attention_layer_count(&inspection->setup.model);
}

size_t inspection_head_count(const struct inspection *inspection) {
    return model_head_count(&inspection->setup.model);
}

size_t inspection_test_example_count(const struct inspection *inspection) {
    return inspection->setup.task->test.count;
}

size_t inspection_train_example_count(const struct inspection *inspection) {
    return inspection->setup.task->train.count;
}

const struct model *inspection_model(const struct inspection *inspection) {
    return &inspection->setup.model;
}

size_t inspection_step_count(const struct inspection *inspection) {
    return inspection->setup.model.input.steps;
}

size_t inspection_class_count(const struct inspection *inspection) {
    return inspection->setup.task->class_count;
}

const char *inspection_class_name(const struct inspection *inspection, size_t index) {
    return inspection->setup.task->class_names[index];
}

bool inspection_load_weights(struct inspection *inspection, const float *weights, size_t count,
                             struct error *error) {
    if (count != inspection->setup.model.parameter_count)
        return error_set(error, ERROR_INVALID, "the model needs %zu weights; got %zu",
                         inspection->setup.model.parameter_count, count);
    memcpy(inspection->weights, weights, count * sizeof *weights);
    return true;
}

/* Runs the model on the prepared example, whose first `length` steps are real. Returns its logits. */
static const float *run_model(struct inspection *inspection, size_t length, struct model_batch *batch) {
    const struct model *model = &inspection->setup.model;
    size_t steps = model->input.steps;
    bool is_padded = model->reads_tokens || length < steps;
    for (size_t t = 0; t < steps; t++)
        inspection->present[t] = t < length;
    *batch = (struct model_batch){.count = 1,
                                  .values = inspection->values,
                                  .tokens = model->reads_tokens ? inspection->tokens : NULL,
                                  .present = is_padded ? inspection->present : NULL};
    return model_forward(model, inspection->weights, &inspection->workspace, batch, inspection->kernels);
}

/* Prepares a row of an example set; returns its real length. */
static size_t prepare_example(struct inspection *inspection, const struct example_set *set, size_t index) {
    size_t steps = inspection->setup.model.input.steps, length = 0;
    if (set->tokens == NULL) {
        memcpy(inspection->values, set->values + index * steps, steps * sizeof *inspection->values);
        return steps;
    }
    memcpy(inspection->tokens, set->tokens + index * steps, steps * sizeof *inspection->tokens);
    while (length < steps && inspection->tokens[length] != TOKEN_PADDING)
        length++;
    return length;
}

/* Crops `count` matrices [rows][steps] to [rows_kept][length], in place. */
static void cut_matrices(float *matrices, size_t count, size_t rows, size_t steps, size_t rows_kept,
                         size_t length) {
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; row < rows_kept; row++)
            memmove(matrices + (i * rows_kept + row) * length, matrices + (i * rows + row) * steps,
                    length * sizeof *matrices);
}

/* Replaces matrices[0] by the mean of all `count` matrices of `size` numbers. */
static void average_matrices(float *matrices, size_t count, size_t size) {
    for (size_t j = 0; j < size; j++) {
        float sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += matrices[i * size + j];
        matrices[j] = sum / (float)count;
    }
}

static bool check_attention(const struct inspection *inspection, size_t example, size_t layer, int head,
                            struct error *error) {
    size_t layers = inspection_layer_count(inspection), heads = inspection_head_count(inspection);
    size_t examples = inspection->setup.task->test.count;
    if (layers == 0)
        return error_set(error, ERROR_CONFLICT, "this model has no attention");
    if (layer >= layers)
        return error_set(error, ERROR_INVALID, "layer must be below %zu; got %zu", layers, layer);
    if (head != INSPECTION_HEAD_MEAN && (head < 0 || (size_t)head >= heads))
        return error_set(error, ERROR_INVALID, "head must be below %zu, or mean; got %d", heads, head);
    if (example >= examples)
        return error_set(error, ERROR_INVALID,
                         "example must be below %zu, the number of test examples; got %zu", examples,
                         example);
    return true;
}

size_t inspection_query_limit(const struct inspection *inspection) {
    return window_queries(&inspection->setup.model);
}

/* Runs the model on a test example; returns its real length. */
static size_t run_example(struct inspection *inspection, size_t example, struct model_batch *batch) {
    size_t length = prepare_example(inspection, &inspection->setup.task->test, example);
    run_model(inspection, length, batch);
    return length;
}

/* Call after run_example. Writes the weights of some queries to inspection->attention,
 * [heads][queries][length]. */
static void read_rows(struct inspection *inspection, const struct model_batch *batch, size_t layer,
                      size_t length, size_t first, size_t queries) {
    const struct model *model = &inspection->setup.model;
    size_t steps = model->input.steps, heads = model_head_count(model);
    float *weights = inspection->attention;
    if (model_computes_attention_rows(model)) {
        model_attention_rows(model, inspection->weights, &inspection->workspace, batch, layer, first, queries,
                             weights, inspection->kernels);
        cut_matrices(weights, heads, queries, steps, queries, length);
        return;
    }
    model_attention(model, inspection->weights, &inspection->workspace, batch, layer, weights,
                    inspection->kernels);
    for (size_t head = 0; head < heads; head++)
        memmove(weights + head * queries * steps, weights + (head * steps + first) * steps,
                queries * steps * sizeof *weights);
    cut_matrices(weights, heads, queries, steps, queries, length);
}

bool inspection_attention_rows(struct inspection *inspection, size_t example, size_t layer, int head,
                               struct attention_window window, struct attention_matrix *matrix,
                               struct error *error) {
    if (!check_attention(inspection, example, layer, head, error))
        return false;
    const struct example_set *test = &inspection->setup.task->test;
    size_t steps = inspection->setup.model.input.steps, heads = inspection_head_count(inspection);
    size_t most = window_queries(&inspection->setup.model);
    struct model_batch batch;
    size_t length = run_example(inspection, example, &batch);
    if (window.first > 0 && window.first >= length)
        return error_set(error, ERROR_INVALID,
                         "must be below %zu, the number of the example's queries; got %zu", length,
                         window.first);
    if (window.count > most)
        return error_set(error, ERROR_INVALID,
                         "query_count must be at most %zu for sequences this long; got %zu", most,
                         window.count);
    size_t queries = window.count == 0 ? most : window.count;
    if (queries > length - window.first)
        queries = length - window.first;
    read_rows(inspection, &batch, layer, length, window.first, queries);
    const float *weights = inspection->attention;
    if (head == INSPECTION_HEAD_MEAN)
        average_matrices(inspection->attention, heads, queries * length);
    else
        weights += (size_t)head * queries * length;
    const char *const *labels =
        test->tokens == NULL ? inspection->step_labels : test->words + example * steps;
    *matrix = (struct attention_matrix){.queries = queries,
                                        .keys = length,
                                        .first_query = window.first,
                                        .all_queries = length,
                                        .weights = weights,
                                        .query_labels = labels + window.first,
                                        .key_labels = labels};
    return true;
}

bool inspection_attention(struct inspection *inspection, size_t example, size_t layer, int head,
                          struct attention_matrix *matrix, struct error *error) {
    return inspection_attention_rows(inspection, example, layer, head, (struct attention_window){0, 0},
                                     matrix, error);
}

/* Adds one example's attention in the first layer, averaged over heads and queries, to sums[T], window by
 * window. Returns the number of queries. */
static size_t add_example_sums(struct inspection *inspection, size_t example, double *sums) {
    size_t heads = inspection_head_count(inspection), most = window_queries(&inspection->setup.model);
    struct model_batch batch;
    size_t length = run_example(inspection, example, &batch);
    for (size_t first = 0; first < length; first += most) {
        size_t queries = length - first < most ? length - first : most;
        read_rows(inspection, &batch, 0, length, first, queries);
        average_matrices(inspection->attention, heads, queries * length);
        for (size_t i = 0; i < queries; i++)
            for (size_t j = 0; j < length; j++)
                sums[j] += (double)inspection->attention[i * length + j] / (double)length;
    }
    return length;
}

bool inspection_most_attended(struct inspection *inspection, size_t example, size_t *key,
                              struct error *error) {
    size_t steps = inspection->setup.model.input.steps;
    if (!check_attention(inspection, example, 0, INSPECTION_HEAD_MEAN, error))
        return false;
    double *sums = calloc(steps, sizeof *sums);
    if (sums == NULL)
        return error_set_memory(error, steps * sizeof *sums);
    size_t length = add_example_sums(inspection, example, sums);
    *key = 0;
    for (size_t j = 1; j < length; j++)
        if (sums[j] > sums[*key])
            *key = j;
    free(sums);
    return true;
}

static void summarise_mean(struct inspection *inspection, const double *sums, size_t examples,
                           struct attention_mean *mean) {
    size_t steps = inspection->setup.model.input.steps;
    double rest = 0;
    for (size_t j = 0; j < steps; j++) {
        inspection->mean[j] = (float)(sums[j] / (double)examples);
        rest += j > 0 ? sums[j] / (double)examples : 0;
    }
    *mean = (struct attention_mean){.keys = steps,
                                    .weights = inspection->mean,
                                    .argmax = largest_index(inspection->mean, steps),
                                    .first = sums[0] / (double)examples,
                                    .rest = steps > 1 ? rest / (double)(steps - 1) : 0};
}

bool inspection_mean_attention(struct inspection *inspection, struct attention_mean *mean,
                               struct error *error) {
    size_t steps = inspection->setup.model.input.steps, examples = inspection->setup.task->test.count;
    if (examples > MEAN_EXAMPLES)
        examples = MEAN_EXAMPLES;
    double *sums = calloc(steps, sizeof *sums);
    if (sums == NULL)
        return error_set_memory(error, steps * sizeof *sums);
    bool ok = check_attention(inspection, 0, 0, INSPECTION_HEAD_MEAN, error);
    for (size_t i = 0; ok && i < examples; i++) {
        add_example_sums(inspection, i, sums);
        ok = stop_check(inspection->stop, error);
    }
    if (ok)
        summarise_mean(inspection, sums, examples, mean);
    free(sums);
    return ok;
}

/* Predicts the prepared example, with the attention of every layer and head. */
static void predict(struct inspection *inspection, size_t length, struct prediction *prediction) {
    const struct model *model = &inspection->setup.model;
    size_t steps = model->input.steps, heads = model_head_count(model),
           layers = model_attention_layer_count(model);
    struct model_batch batch;
    const float *logits = run_model(inspection, length, &batch);
    memcpy(inspection->logits, logits, model->class_count * sizeof *logits);
    softmax_of(logits, model->class_count, inspection->probabilities);
    bool has_matrices = layers > 0 && window_queries(model) == steps;
    for (size_t layer = 0; has_matrices && layer < layers; layer++)
        model_attention(model, inspection->weights, &inspection->workspace, &batch, layer,
                        inspection->attention + layer * heads * steps * steps, inspection->kernels);
    if (has_matrices)
        cut_matrices(inspection->attention, layers * heads, steps, steps, length, length);
    *prediction = (struct prediction){.label = largest_index(inspection->logits, model->class_count),
                                      .class_count = model->class_count,
                                      .logits = inspection->logits,
                                      .probabilities = inspection->probabilities,
                                      .layers = layers,
                                      .heads = heads,
                                      .length = length,
                                      .attention = has_matrices ? inspection->attention : NULL};
}

/* Returns how many of the examples fit into the memory for gradients together; 0 if not even one does. */
static size_t gradients_at_once(const struct model *model, size_t examples) {
    size_t at_once = examples < INPUT_GRADIENT_AT_ONCE ? examples : INPUT_GRADIENT_AT_ONCE;
    while (at_once > 0 && input_gradient_memory_size(model, at_once) > INSPECTION_GRADIENT_MEMORY)
        at_once /= 2;
    return at_once;
}

bool inspection_input_gradient(struct inspection *inspection, size_t *examples,
                               struct input_gradient *gradient, struct error *error) {
    const struct model *model = &inspection->setup.model;
    const struct example_set *set = &inspection->setup.task->train;
    *gradient = (struct input_gradient){0};
    if (model->reads_tokens)
        return error_set(error, ERROR_CONFLICT, "words have no gradient; only tasks of numbers do");
    if (*examples > set->count)
        *examples = set->count;
    size_t at_once = gradients_at_once(model, *examples);
    if (at_once == 0)
        return error_set(
            error, ERROR_TOO_LARGE, "the gradient of one example takes %.1f MB; at most %.1f MB are allowed",
            (double)input_gradient_memory_size(model, 1) / 1e6, INSPECTION_GRADIENT_MEMORY / 1e6);
    struct input_gradient_request request = {.model = model,
                                             .parameters = inspection->weights,
                                             .set = set,
                                             .examples = *examples,
                                             .at_once = at_once,
                                             .kernels = inspection->kernels,
                                             .stop = inspection->stop};
    return input_gradient_compute(gradient, &request, error);
}

bool inspection_predict_sequence(struct inspection *inspection, const float *values, size_t length,
                                 struct prediction *prediction, struct error *error) {
    const struct model *model = &inspection->setup.model;
    size_t steps = model->input.steps;
    if (model->reads_tokens)
        return error_set(error, ERROR_INVALID, "this model was trained on text: give texts, not sequences");
    if (length == 0 || length > steps)
        return error_set(error, ERROR_INVALID,
                         "a sequence must have 1 to %zu numbers, as in training; got %zu", steps, length);
    for (size_t i = 0; i < length; i++) {
        if (!(fabsf(values[i]) <= dataset_number_limit))
            return error_set(error, ERROR_INVALID, "number %zu of the sequence must be from -1e15 to 1e15",
                             i);
    }
    memset(inspection->values, 0, steps * sizeof *values);
    memcpy(inspection->values, values, length * sizeof *values);
    standardise_apply(inspection->setup.task->standardisation, inspection->values, 1, length);
    predict(inspection, length, prediction);
    return true;
}

bool inspection_predict_text(struct inspection *inspection, const char *text, struct prediction *prediction,
                             struct error *error) {
    const struct task *task = inspection->setup.task;
    size_t count = 0;
    if (task->encode == NULL)
        return error_set(error, ERROR_INVALID,
                         "this model was trained on numbers: give sequences, not texts");
    free(inspection->encoded);
    inspection->encoded = NULL;
    memset(inspection->tokens, 0, task->sequence_length * sizeof *inspection->tokens);
    if (!task->encode(task, text, inspection->tokens, inspection->words, &count, &inspection->encoded, error))
        return false;
    if (count == 0)
        return error_set(error, ERROR_INVALID, "a text must have at least one word");
    for (size_t i = 0; i < count; i++)
        inspection->unknown[i] = inspection->tokens[i] == TOKEN_UNKNOWN;
    predict(inspection, count, prediction);
    prediction->token_count = count;
    prediction->tokens = inspection->words;
    prediction->unknown = inspection->unknown;
    return true;
}

bool inspection_write_safetensors(struct inspection *inspection, void **bytes, size_t *size,
                                  struct error *error) {
    const struct standardisation *standardisation = inspection->setup.task->standardisation;
    char *metadata = NULL;
    if (standardisation != NULL && (metadata = standardise_describe(standardisation)) == NULL)
        return error_set_memory(error, standardisation->steps * sizeof(double));
    bool written =
        safetensors_write(&inspection->setup.model, inspection->weights, metadata, bytes, size, error);
    free(metadata);
    return written;
}

bool inspection_example(struct inspection *inspection, bool test_split, size_t index,
                        struct inspection_example *example, struct error *error) {
    const struct task *task = inspection->setup.task;
    const struct example_set *set = test_split ? &task->test : &task->train;
    size_t steps = task->sequence_length;
    if (index >= set->count)
        return error_set(error, ERROR_INVALID, "example must be below %zu; got %zu", set->count, index);
    size_t length = prepare_example(inspection, set, index);
    *example = (struct inspection_example){
        .label = (size_t)set->labels[index], .length = length, .decisive_position = -1};
    if (set->tokens == NULL) {
        example->values = inspection->values;
        return true;
    }
    for (size_t t = 0; t < length; t++)
        inspection->unknown[t] = inspection->tokens[t] == TOKEN_UNKNOWN;
    example->text = set->texts[index];
    example->tokens = set->words + index * steps;
    example->token_count = length;
    example->unknown = inspection->unknown;
    if (set->decisive != NULL)
        example->decisive_position = set->decisive[index];
    return true;
}
