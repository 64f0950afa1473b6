/* The input, the maps and Q, K and V of attention-steps: see attention_steps_inputs.h. */
#include "core/experiments/attention_steps_inputs.h"

#include "core/math/matrix.h"
#include "core/random/torch_init.h"

#include <string.h>

const char *const attention_steps_presets[] = {[PRESET_DRAWN] = "drawn",
                                               [PRESET_WORKED] = "worked",
                                               [PRESET_CAUSAL_HEAD] = "causal-head",
                                               [PRESET_GIVEN] = "given",
                                               NULL};

enum attention_steps_preset attention_steps_preset_of(const struct parameter_set *set) {
    const char *name = parameter_text(set, "preset");
    int index = 0;
    while (attention_steps_presets[index + 1] != NULL && strcmp(attention_steps_presets[index], name) != 0)
        index++;
    return (enum attention_steps_preset)index;
}

static size_t count_of(const struct parameter_set *set, const char *name, size_t otherwise) {
    return parameter_is_set(set, name) ? (size_t)parameter_integer(set, name) : otherwise;
}

struct attention_steps_sizes attention_steps_sizes_of(const struct parameter_set *set) {
    const struct parameter_value *q = parameter_value(set, "q"), *k = parameter_value(set, "k"),
                                 *v = parameter_value(set, "v"), *h = parameter_value(set, "h");
    if (attention_steps_preset_of(set) == PRESET_WORKED)
        return (struct attention_steps_sizes){
            .batch = 1, .queries = 1, .keys = 3, .heads = 1, .head_size = 4, .value_width = 2};
    if (q->is_set)
        return (struct attention_steps_sizes){.batch = 1,
                                              .queries = q->rows,
                                              .keys = k->rows,
                                              .heads = 1,
                                              .head_size = q->columns,
                                              .value_width = v->columns};
    size_t tokens = h->is_set ? h->rows : count_of(set, "tokens", 1);
    size_t context = count_of(set, "context_tokens", 0), head_size = count_of(set, "head_size", 1);
    return (struct attention_steps_sizes){.batch = count_of(set, "batch", 1),
                                          .queries = tokens,
                                          .keys = context > 0 ? context : tokens,
                                          .width = h->is_set ? h->columns : count_of(set, "width", 1),
                                          .heads = count_of(set, "heads", 1),
                                          .head_size = head_size,
                                          .value_width = head_size,
                                          .is_cross = context > 0};
}

static void lay_out_maps(struct attention_steps *steps, struct arena *arena) {
    const struct attention_steps_sizes *sizes = &steps->sizes;
    size_t inner = sizes->heads * sizes->head_size;
    size_t maps = sizes->heads > 1 ? MAP_COUNT : MAP_OUTPUT;
    steps->input = arena_floats(arena, sizes->batch * sizes->queries * sizes->width);
    steps->context =
        sizes->is_cross ? arena_floats(arena, sizes->batch * sizes->keys * sizes->width) : steps->input;
    for (size_t map = 0; map < maps; map++) {
        steps->maps[map] = arena_floats(arena, inner * sizes->width);
        if (sizes->heads > 1)
            steps->biases[map] = arena_floats(arena, map == MAP_OUTPUT ? sizes->width : inner);
    }
}

void attention_steps_lay_out(struct attention_steps *steps, struct arena *arena) {
    const struct attention_steps_sizes *sizes = &steps->sizes;
    if (sizes->width > 0)
        lay_out_maps(steps, arena);
    steps->q = arena_floats(arena, sizes->queries * sizes->heads * sizes->head_size);
    steps->k = arena_floats(arena, sizes->keys * sizes->heads * sizes->head_size);
    steps->v = arena_floats(arena, sizes->keys * sizes->heads * sizes->value_width);
    for (size_t head = 0; head < sizes->heads; head++) {
        steps->heads[head] = (struct head_steps){.queries = sizes->queries,
                                                 .keys = sizes->keys,
                                                 .key_width = sizes->head_size,
                                                 .value_width = sizes->value_width};
        head_steps_lay_out(&steps->heads[head], arena);
    }
    steps->output = steps->heads[0].output;
    if (sizes->heads > 1) {
        steps->concatenated = arena_floats(arena, sizes->queries * sizes->heads * sizes->value_width);
        steps->output = arena_floats(arena, sizes->queries * sizes->width);
    }
}

/* Draws the maps in the order of the module's constructor; the notebook creates the key's before the
 * query's. */
static void draw_maps(struct attention_steps *steps, bool key_first, struct torch_generator *generator) {
    static const enum attention_steps_map orders[2][MAP_COUNT] = {
        {MAP_QUERY, MAP_KEY, MAP_VALUE, MAP_OUTPUT}, {MAP_KEY, MAP_QUERY, MAP_VALUE, MAP_OUTPUT}};
    size_t width = steps->sizes.width, inner = steps->sizes.heads * steps->sizes.head_size;
    for (size_t i = 0; i < MAP_COUNT; i++) {
        enum attention_steps_map map = orders[key_first][i];
        if (steps->maps[map] == NULL)
            continue;
        bool is_output = map == MAP_OUTPUT;
        torch_init_linear(generator, is_output ? inner : width, is_output ? width : inner, steps->maps[map],
                          steps->biases[map]);
    }
}

/* y = x W^T + b for each row, like nn.Linear. */
static void apply_map(const struct attention_steps *steps, enum attention_steps_map map, const float *input,
                      size_t rows, float *output) {
    size_t width = steps->sizes.width, inner = steps->sizes.heads * steps->sizes.head_size;
    size_t inputs = map == MAP_OUTPUT ? inner : width, outputs = map == MAP_OUTPUT ? width : inner;
    matrix_multiply_transposed_b(rows, outputs, inputs, 1, input, inputs, steps->maps[map], inputs, 0, output,
                                 outputs);
    for (size_t i = 0; i < rows && steps->biases[map] != NULL; i++)
        for (size_t j = 0; j < outputs; j++)
            output[i * outputs + j] += steps->biases[map][j];
}

static void copy_given(const struct parameter_set *set, const char *name, float *matrix) {
    const struct parameter_value *given = parameter_value(set, name);
    if (given->is_set)
        memcpy(matrix, given->matrix, given->rows * given->columns * sizeof *matrix);
}

/* The notebook's class draws the key first. A given map replaces the drawn one. */
static void fill_projected(struct attention_steps *steps, const struct parameter_set *set,
                           struct torch_generator *generator) {
    const struct attention_steps_sizes *sizes = &steps->sizes;
    size_t width = sizes->width;
    bool is_given = parameter_is_set(set, "h");
    if (!is_given)
        torch_normal(generator, steps->input, sizes->batch * sizes->queries * width, 0, 1);
    copy_given(set, "h", steps->input);
    if (sizes->is_cross)
        torch_normal(generator, steps->context, sizes->batch * sizes->keys * width, 0, 1);
    draw_maps(steps, attention_steps_preset_of(set) == PRESET_CAUSAL_HEAD && sizes->heads == 1, generator);
    copy_given(set, "w_q", steps->maps[MAP_QUERY]);
    copy_given(set, "w_k", steps->maps[MAP_KEY]);
    copy_given(set, "w_v", steps->maps[MAP_VALUE]);
    size_t example = count_of(set, "example", 0);
    const float *input = steps->input + example * sizes->queries * width;
    const float *context = steps->context + example * sizes->keys * width;
    apply_map(steps, MAP_QUERY, input, sizes->queries, steps->q);
    apply_map(steps, MAP_KEY, context, sizes->keys, steps->k);
    apply_map(steps, MAP_VALUE, context, sizes->keys, steps->v);
}

/* The lab's example: one query and three keys, one equal to it, one at a right angle to it, one in between.
 */
static void fill_worked(struct attention_steps *steps) {
    static const float q[] = {1, 0, 0, 0};
    static const float k[] = {1, 0, 0, 0, 0, 1, 0, 0, 0.7F, 0.7F, 0, 0};
    static const float v[] = {10, 0, 0, 10, 5, 5};
    memcpy(steps->q, q, sizeof q);
    memcpy(steps->k, k, sizeof k);
    memcpy(steps->v, v, sizeof v);
}

static void clear(float *values, size_t count) {
    if (values != NULL)
        memset(values, 0, count * sizeof *values);
}

/* Zeroes Q, K or V, and the map that makes it. */
static void fill_zero(struct attention_steps *steps, const char *which) {
    const struct attention_steps_sizes *sizes = &steps->sizes;
    static const char *const names[] = {[MAP_QUERY] = "q", [MAP_KEY] = "k", [MAP_VALUE] = "v"};
    float *const projected[] = {[MAP_QUERY] = steps->q, [MAP_KEY] = steps->k, [MAP_VALUE] = steps->v};
    for (size_t map = 0; map < MAP_OUTPUT; map++) {
        if (strcmp(which, names[map]) != 0)
            continue;
        size_t rows = map == MAP_QUERY ? sizes->queries : sizes->keys;
        size_t columns = sizes->heads * (map == MAP_VALUE ? sizes->value_width : sizes->head_size);
        clear(projected[map], rows * columns);
        clear(steps->maps[map], columns * sizes->width);
        clear(steps->biases[map], columns);
    }
}

/* Head number `head` takes its columns of the whole matrix. */
static void take_columns(const float *whole, size_t rows, size_t width, size_t heads, size_t head,
                         float *part) {
    for (size_t i = 0; i < rows; i++)
        memcpy(part + i * width, whole + (i * heads + head) * width, width * sizeof *part);
}

static void split(struct attention_steps *steps) {
    const struct attention_steps_sizes *sizes = &steps->sizes;
    for (size_t i = 0; i < sizes->heads; i++) {
        struct head_steps *head = &steps->heads[i];
        take_columns(steps->q, sizes->queries, sizes->head_size, sizes->heads, i, head->q);
        take_columns(steps->k, sizes->keys, sizes->head_size, sizes->heads, i, head->k);
        take_columns(steps->v, sizes->keys, sizes->value_width, sizes->heads, i, head->v);
    }
}

void attention_steps_fill(struct attention_steps *steps, const struct parameter_set *set,
                          struct torch_generator *generator) {
    if (steps->sizes.width > 0) {
        fill_projected(steps, set, generator);
    } else if (attention_steps_preset_of(set) == PRESET_WORKED) {
        fill_worked(steps);
    } else {
        copy_given(set, "q", steps->q);
        copy_given(set, "k", steps->k);
        copy_given(set, "v", steps->v);
    }
    fill_zero(steps, parameter_text(set, "zero"));
    if (parameter_boolean(set, "swap")) {
        float *q = steps->q;
        steps->q = steps->k;
        steps->k = q;
    }
    split(steps);
}

void attention_steps_concatenate(struct attention_steps *steps) {
    const struct attention_steps_sizes *sizes = &steps->sizes;
    size_t inner = sizes->heads * sizes->value_width;
    if (sizes->heads == 1)
        return;
    for (size_t head = 0; head < sizes->heads; head++)
        for (size_t i = 0; i < sizes->queries; i++)
            memcpy(steps->concatenated + i * inner + head * sizes->value_width,
                   steps->heads[head].output + i * sizes->value_width,
                   sizes->value_width * sizeof *steps->concatenated);
    apply_map(steps, MAP_OUTPUT, steps->concatenated, sizes->queries, steps->output);
}
