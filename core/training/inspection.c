/* A trained model opened for questions: see inspection.h.
 *
 * Examples go through the model one at a time: the answer to one does not depend on what else was asked, and
 * the memory stays that of one example. */
#include "core/training/inspection.h"

#include "core/math/matrix.h"
#include "core/model/loss.h"
#include "core/model/safetensors.h"
#include "core/training/setup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEAN_EXAMPLES = 200, STEP_LABEL_BYTES = 12 };

struct inspection {
    struct setup setup;
    struct arena arena;
    struct model_workspace workspace;
    const struct kernels *kernels;
    float *weights;
    /* The example that is being asked about, as the model takes it. */
    float *values;
    int32_t *tokens;
    uint8_t *present;
    const char **words;
    bool *unknown;
    void *encoded;    /* what `words` point into, from task->encode */
    float *attention; /* [layers][heads][T][T], or one matrix */
    float *mean;      /* [T] */
    float *logits, *probabilities;
    char *step_text; /* "0", "1", ... */
    const char **step_labels;
};

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
    inspection->attention = arena_floats(arena, matrices * steps * steps);
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

static void label_steps(struct inspection *inspection) {
    for (size_t t = 0; t < inspection->setup.model.input.steps; t++) {
        char *label = inspection->step_text + t * STEP_LABEL_BYTES;
        snprintf(label, STEP_LABEL_BYTES, "%u", (unsigned)t);
        inspection->step_labels[t] = label;
    }
}

struct inspection *inspection_open(const struct parameter_set *parameters, const struct data_source *data,
                                   struct error *error) {
    struct inspection *inspection = calloc(1, sizeof *inspection);
    if (inspection == NULL) {
        error_set_memory(error, sizeof *inspection);
        return NULL;
    }
    if (!setup_open(&inspection->setup, parameters, data, error) ||
        !arena_init(&inspection->arena, inspection_memory_size(&inspection->setup.model), error)) {
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
    setup_close(&inspection->setup);
    arena_free(&inspection->arena);
    free(inspection->encoded);
    free(inspection);
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

size_t inspection_class_count(const struct inspection *inspection) {
    return inspection->setup.task->class_count;
}

const char *inspection_class_name(const struct inspection *inspection, size_t index) {
    return inspection->setup.task->class_names[index];
}

bool inspection_load_weights(struct inspection *inspection, const float *weights, size_t count,
                             struct error *error) {
    if (count != inspection->setup.model.parameter_count)
        return error_set(error, ERROR_INVALID, "the model has %zu weights; got %zu",
                         inspection->setup.model.parameter_count, count);
    memcpy(inspection->weights, weights, count * sizeof *weights);
    return true;
}

/* Runs the prepared example, whose first `length` steps are real. Returns its logits. */
static const float *run_model(struct inspection *inspection, size_t length, struct model_batch *batch) {
    const struct model *model = &inspection->setup.model;
    size_t steps = model->input.steps;
    bool is_padded = model->reads_tokens || length < steps;
    for (size_t t = 0; t < steps; t++)
        inspection->present[t] = t < length;
    *batch = (struct model_batch){1, inspection->values, model->reads_tokens ? inspection->tokens : NULL,
                                  is_padded ? inspection->present : NULL};
    return model_forward(model, inspection->weights, &inspection->workspace, batch, inspection->kernels);
}

/* Copies a row of an example set in; returns its real length. */
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

/* Cuts `count` matrices [steps][steps] down to [length][length], in place. */
static void cut_matrices(float *matrices, size_t count, size_t steps, size_t length) {
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; row < length; row++)
            memmove(matrices + (i * length + row) * length, matrices + (i * steps + row) * steps,
                    length * sizeof *matrices);
}

/* matrices[0] becomes the mean of all `count`, each of `size` numbers. */
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
        return error_set(error, ERROR_INVALID, "this model has no attention");
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

bool inspection_attention(struct inspection *inspection, size_t example, size_t layer, int head,
                          struct attention_matrix *matrix, struct error *error) {
    if (!check_attention(inspection, example, layer, head, error))
        return false;
    const struct example_set *test = &inspection->setup.task->test;
    size_t steps = inspection->setup.model.input.steps, heads = inspection_head_count(inspection);
    size_t length = prepare_example(inspection, test, example);
    struct model_batch batch;
    run_model(inspection, length, &batch);
    model_attention(&inspection->setup.model, inspection->weights, &inspection->workspace, &batch, layer,
                    inspection->attention, inspection->kernels);
    cut_matrices(inspection->attention, heads, steps, length);
    const float *weights = inspection->attention;
    if (head == INSPECTION_HEAD_MEAN)
        average_matrices(inspection->attention, heads, length * length);
    else
        weights += (size_t)head * length * length;
    const char *const *labels =
        test->tokens == NULL ? inspection->step_labels : test->words + example * steps;
    *matrix = (struct attention_matrix){length, length, weights, labels, labels};
    return true;
}

size_t attention_most_attended(const struct attention_matrix *matrix) {
    size_t best = 0;
    double best_sum = -1;
    for (size_t j = 0; j < matrix->keys; j++) {
        double sum = 0;
        for (size_t i = 0; i < matrix->queries; i++)
            sum += (double)matrix->weights[i * matrix->keys + j];
        if (sum > best_sum) {
            best = j;
            best_sum = sum;
        }
    }
    return best;
}

/* Adds the mean over heads and queries of one example's attention to sums[T]. */
static bool add_example_mean(struct inspection *inspection, size_t example, double *sums,
                             struct error *error) {
    struct attention_matrix matrix;
    if (!inspection_attention(inspection, example, 0, INSPECTION_HEAD_MEAN, &matrix, error))
        return false;
    for (size_t i = 0; i < matrix.queries; i++)
        for (size_t j = 0; j < matrix.keys; j++)
            sums[j] += (double)matrix.weights[i * matrix.keys + j] / (double)matrix.queries;
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
    for (size_t i = 0; ok && i < examples; i++)
        ok = add_example_mean(inspection, i, sums, error);
    if (ok)
        summarise_mean(inspection, sums, examples, mean);
    free(sums);
    return ok;
}

/* The prepared example's answer, with attention of every layer and head. */
static void predict(struct inspection *inspection, size_t length, struct prediction *prediction) {
    const struct model *model = &inspection->setup.model;
    size_t steps = model->input.steps, heads = model_head_count(model),
           layers = model_attention_layer_count(model);
    struct model_batch batch;
    const float *logits = run_model(inspection, length, &batch);
    memcpy(inspection->logits, logits, model->class_count * sizeof *logits);
    softmax_of(logits, model->class_count, inspection->probabilities);
    for (size_t layer = 0; layer < layers; layer++)
        model_attention(model, inspection->weights, &inspection->workspace, &batch, layer,
                        inspection->attention + layer * heads * steps * steps, inspection->kernels);
    cut_matrices(inspection->attention, layers * heads, steps, length);
    *prediction = (struct prediction){.label = largest_index(inspection->logits, model->class_count),
                                      .class_count = model->class_count,
                                      .logits = inspection->logits,
                                      .probabilities = inspection->probabilities,
                                      .layers = layers,
                                      .heads = heads,
                                      .length = length,
                                      .attention = layers == 0 ? NULL : inspection->attention};
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
    memset(inspection->values, 0, steps * sizeof *values);
    memcpy(inspection->values, values, length * sizeof *values);
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
    return safetensors_write(&inspection->setup.model, inspection->weights, bytes, size, error);
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
