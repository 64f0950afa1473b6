/* The list of a model's modules, against PyTorch's classes: names, calls, shapes, parameters. */
#include "core/layers/positions/position.h"
#include "core/model/models.h"
#include "core/model/modules.h"
#include "tests/reference/golden_modules.h"
#include "tests/unit/main.h"

enum { CASES = sizeof golden_cases / sizeof golden_cases[0], CLASSES = 2 };

static struct module_list list;

static struct model build(const struct golden_case *golden, enum attention_mask mask) {
    struct model_options options = {
        .steps = golden->steps,
        .vocabulary_size = golden->words,
        .class_count = CLASSES,
        .width = golden->width,
        .position = position_find(golden->position),
        .mask = mask,
        .heads = golden->heads,
        .layers = golden->layers,
        .feedforward_width = golden->feedforward,
        .norm = strcmp(golden->norm, "first") == 0 ? BLOCK_NORM_FIRST : BLOCK_NORM_LAST,
        .activation = strcmp(golden->activation, "gelu") == 0 ? ACTIVATION_GELU : ACTIVATION_RELU};
    return model_build(model_find(golden->model), &options);
}

static const struct module *find_module(const char *name) {
    for (size_t i = 0; i < list.count; i++)
        if (strcmp(list.modules[i].name, name) == 0)
            return &list.modules[i];
    ck_abort_msg("there is no module %s", name);
    return NULL;
}

/* Those that PyTorch lists among named_modules: with a name, and not a bare parameter. */
static size_t count_modules(void) {
    size_t count = 0;
    for (size_t i = 0; i < list.count; i++)
        count += list.modules[i].name[0] != '\0' && strcmp(list.modules[i].type, "Parameter") != 0;
    return count;
}

static const struct tensor *find_tensor(const char *name) {
    for (size_t i = 0; i < list.tensor_count; i++)
        if (strcmp(list.tensors[i].name, name) == 0)
            return &list.tensors[i];
    ck_abort_msg("there is no parameter %s", name);
    return NULL;
}

static void check_case(const struct golden_case *golden, enum attention_mask mask) {
    struct model model = build(golden, mask);
    size_t total = 0;
    model_list_modules(&model, &list);
    ck_assert_uint_eq(count_modules(), golden->module_count);
    for (size_t i = 0; i < golden->module_count; i++) {
        const struct golden_module *expected = &golden->modules[i];
        const struct module *found = find_module(expected->name);
        ck_assert_str_eq(found->type, expected->type);
        ck_assert_str_eq(found->code, expected->call);
        ck_assert_uint_eq(found->rank, 2);
        ck_assert_mem_eq(found->shape, expected->shape, sizeof expected->shape);
    }
    ck_assert_uint_eq(list.tensor_count, golden->parameter_count);
    for (size_t i = 0; i < golden->parameter_count; i++) {
        const struct golden_parameter *expected = &golden->parameters[i];
        const struct tensor *found = find_tensor(expected->name);
        ck_assert_uint_eq(found->rank, expected->rank);
        ck_assert_mem_eq(found->shape, expected->shape, found->rank * sizeof found->shape[0]);
        total += tensor_element_count(found);
    }
    ck_assert_uint_eq(model.parameter_count, total);
}

START_TEST(modules_are_those_of_the_classes) {
    check_case(&golden_cases[_i], ATTENTION_MASK_NONE);
    check_case(&golden_cases[_i], ATTENTION_MASK_CAUSAL);
}
END_TEST

/* Whether every tensor is a module's, and none is two modules'. */
static void check_owners(const struct model *model) {
    size_t owners[MODEL_MAXIMUM_TENSORS] = {0}, total = 0;
    for (size_t i = 0; i < list.count; i++) {
        const struct module *module = &list.modules[i];
        total += module->parameter_count;
        for (size_t t = 0; t < module->tensor_count; t++)
            owners[module->first_tensor + t]++;
    }
    for (size_t t = 0; t < list.tensor_count; t++)
        if (owners[t] != 1)
            ck_abort_msg("%s belongs to %zu modules", list.tensors[t].name, owners[t]);
    ck_assert_uint_eq(total, model->parameter_count);
}

static void check_any(const struct model_entry *entry, size_t words, size_t steps,
                      const struct position *position, enum attention_mask mask) {
    struct model_options options = {.steps = steps,
                                    .vocabulary_size = words,
                                    .class_count = CLASSES,
                                    .width = 24,
                                    .position = position,
                                    .mask = mask,
                                    .heads = 2,
                                    .layers = MODEL_MAXIMUM_BLOCKS,
                                    .feedforward_width = 8};
    struct model model = model_build(entry, &options);
    for (size_t i = 0; i < model.layer_count; i++)
        if (!module_is_known(model.layers[i].type))
            ck_abort_msg("the table lacks %s", model.layers[i].type->name);
    model_list_modules(&model, &list);
    check_owners(&model);
    const struct module *last = &list.modules[list.count - 1];
    ck_assert_uint_eq(last->shape[0], 1);
    ck_assert_uint_eq(last->shape[1], CLASSES);
}

START_TEST(every_type_of_layer_is_in_the_table) {
    static const size_t lengths[] = {6, TILED_ATTENTION_STEPS};
    for (size_t m = 0; m < model_table_count; m++)
        for (size_t p = 0; position_table[p] != NULL; p++)
            for (size_t i = 0; i < 8; i++)
                check_any(&model_table[m], i % 2 == 0 ? 0 : 30, lengths[i / 2 % 2], position_table[p],
                          i / 4 == 0 ? ATTENTION_MASK_NONE : ATTENTION_MASK_CAUSAL);
}
END_TEST

/* The steps of forward between two modules, joined by semicolons. */
static void check_steps(const struct golden_case *golden, enum attention_mask mask, const char *expected) {
    char steps[1024] = "";
    struct model model = build(golden, mask);
    model_list_modules(&model, &list);
    for (size_t i = 0; i < list.count; i++) {
        const struct module *module = &list.modules[i];
        size_t used = strlen(steps);
        if (module->name[0] == '\0')
            snprintf(steps + used, sizeof steps - used, "%s %zu,%zu,%zu; ", module->type, module->shape[0],
                     module->shape[1], module->shape[2]);
    }
    ck_assert_str_eq(steps, expected);
}

START_TEST(steps_of_forward_have_their_shapes) {
    struct golden_case one = {.model = "lstm",
                              .steps = 7,
                              .width = 12,
                              .heads = 3,
                              .layers = 1,
                              .feedforward = 5,
                              .position = "learned",
                              .norm = "last",
                              .activation = "relu"};
    check_steps(&one, ATTENTION_MASK_NONE, "last step 1,12,0; ");
    one.model = "attention";
    check_steps(&one, ATTENTION_MASK_CAUSAL,
                "sum 7,12,0; scores 7,7,0; mask 7,7,0; softmax 7,12,0; mean 1,12,0; ");
    one.position = "sinusoidal";
    check_steps(&one, ATTENTION_MASK_NONE,
                "sinusoidal positions 7,12,0; scores 7,7,0; softmax 7,12,0; mean 1,12,0; ");
    one.model = "transformer";
    one.position = "rotary";
    one.words = 9;
    check_steps(&one, ATTENTION_MASK_NONE,
                "split 3,7,4; rotary positions 3,7,4; scores 3,7,7; mask 3,7,7; softmax 3,7,4; "
                "concatenation 7,12,0; sum 7,12,0; sum 7,12,0; mean 1,12,0; ");
}
END_TEST

static const char *scores_code(bool unscaled) {
    struct model_options options = {.steps = 6,
                                    .class_count = CLASSES,
                                    .width = 12,
                                    .heads = 3,
                                    .layers = 1,
                                    .feedforward_width = 4,
                                    .unscaled_scores = unscaled};
    struct model model = model_build(model_find("transformer"), &options);
    model_list_modules(&model, &list);
    for (size_t i = 0; i < list.count; i++)
        if (strcmp(list.modules[i].type, "scores") == 0)
            return list.modules[i].code;
    return "";
}

START_TEST(scores_are_divided_by_the_root_of_the_heads_width_unless_told_otherwise) {
    ck_assert_str_eq(scores_code(false), "scores = q @ k.transpose(-2, -1) / math.sqrt(4)");
    ck_assert_str_eq(scores_code(true), "scores = q @ k.transpose(-2, -1)");
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_loop_test(tests, modules_are_those_of_the_classes, 0, CASES);
    tcase_add_test(tests, every_type_of_layer_is_in_the_table);
    tcase_add_test(tests, scores_are_divided_by_the_root_of_the_heads_width_unless_told_otherwise);
    tcase_add_test(tests, steps_of_forward_have_their_shapes);
}
