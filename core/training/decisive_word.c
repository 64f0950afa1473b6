/* How often a text model looks most at the word that decides: see decisive_word.h. */
#include "core/training/decisive_word.h"

#include "core/model/loss.h"

#include <string.h>

/* One sentence at a time. */
struct measurement {
    struct model_workspace workspace;
    uint8_t *present; /* [steps] */
    float *weights;   /* [heads][steps][steps] */
    float *sums;      /* [steps]: by key */
};

static void lay_out(struct measurement *measurement, const struct model *model, struct arena *arena) {
    size_t steps = model->input.steps;
    model_workspace_layout(&measurement->workspace, model, 1, false, arena);
    measurement->present = arena_allocate(arena, steps, 1);
    measurement->weights = arena_floats(arena, model_head_count(model) * steps * steps);
    measurement->sums = arena_floats(arena, steps);
}

/* The most attended position of a sentence of steps ids. */
static size_t find_most_attended(struct measurement *measurement, const struct model *model,
                                 const float *parameters, const int32_t *tokens) {
    size_t steps = model->input.steps, length = 0;
    while (length < steps && tokens[length] != TOKEN_PADDING)
        length++;
    for (size_t i = 0; i < steps; i++)
        measurement->present[i] = i < length;
    struct model_batch batch = {.count = 1, .tokens = tokens, .present = measurement->present};
    const struct kernels *kernels = kernels_choose();
    model_forward(model, parameters, &measurement->workspace, &batch, kernels);
    model_attention(model, parameters, &measurement->workspace, &batch, 0, measurement->weights, kernels);
    memset(measurement->sums, 0, steps * sizeof *measurement->sums);
    for (size_t head = 0; head < model_head_count(model); head++)
        for (size_t query = 0; query < length; query++)
            for (size_t key = 0; key < length; key++)
                measurement->sums[key] += measurement->weights[(head * steps + query) * steps + key];
    return largest_index(measurement->sums, length);
}

bool decisive_word_measure(const struct model *model, const float *parameters, const struct task *task,
                           struct decisive_word_rate *rate, struct error *error) {
    const struct example_set *test = &task->test;
    *rate = (struct decisive_word_rate){0, 0};
    if (test->decisive == NULL || model_attention_layer_count(model) == 0)
        return true;
    struct measurement measurement;
    struct arena measure = arena_measuring(), arena;
    lay_out(&measurement, model, &measure);
    if (!arena_init(&arena, measure.used, error))
        return false;
    lay_out(&measurement, model, &arena);
    rate->of = test->count < DECISIVE_WORD_SENTENCES ? test->count : DECISIVE_WORD_SENTENCES;
    for (size_t i = 0; i < rate->of; i++) {
        const int32_t *tokens = test->tokens + i * task->sequence_length;
        size_t position = find_most_attended(&measurement, model, parameters, tokens);
        rate->hits += test->decisive[i] >= 0 && position == (size_t)test->decisive[i];
    }
    arena_free(&arena);
    return true;
}
