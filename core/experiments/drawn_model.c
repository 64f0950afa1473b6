/* Untrained models for the experiments: see drawn_model.h. */
#include "core/experiments/drawn_model.h"

#include "core/math/matrix.h"

/* The chapter's width and classes, the lab's heads and feed-forward part. */
enum { CHAPTER_WIDTH = 32, CHAPTER_CLASSES = 2, LAB_HEADS = 4, LAB_LAYERS = 1, LAB_FEEDFORWARD_WIDTH = 64 };

struct model drawn_model_build(const struct drawn_model_request *request) {
    struct model_options options = {.steps = request->steps,
                                    .class_count = CHAPTER_CLASSES,
                                    .width = request->width > 0 ? request->width : CHAPTER_WIDTH,
                                    .heads = LAB_HEADS,
                                    .layers = LAB_LAYERS,
                                    .feedforward_width = LAB_FEEDFORWARD_WIDTH,
                                    .position = request->position,
                                    .storage = request->storage};
    return model_build(model_find(request->name), &options);
}

size_t drawn_model_main_layer(const struct model *model) {
    return model->layer_count - 2;
}

/* With a measuring arena this only adds up the sizes. */
static void lay_out(struct drawn_model *model, const struct drawn_model_request *request,
                    struct arena *arena) {
    model->model = drawn_model_build(request);
    model->parameters = arena_floats(arena, model->model.parameter_count);
    model_workspace_layout(&model->workspace, &model->model, request->examples, request->with_gradients,
                           arena);
}

size_t drawn_model_size(const struct drawn_model_request *request) {
    struct arena measure = arena_measuring();
    struct drawn_model model;
    lay_out(&model, request, &measure);
    return measure.used;
}

void drawn_model_add_work(const struct drawn_model_request *request, double passes, struct run_cost *cost) {
    struct model model = drawn_model_build(request);
    cost->work[WORK_DRAWS] += (double)model.parameter_count;
    cost->work[WORK_ARITHMETIC] += passes * (double)request->examples * model_operations(&model);
    cost->work[WORK_BYTES] += (double)drawn_model_size(request);
}

void drawn_examples_add_cost(size_t count, size_t steps, struct run_cost *cost) {
    double numbers = ((double)count + 1) * (double)steps;
    cost->work[WORK_DRAWS] += numbers;
    run_cost_add_memory(cost, (numbers + (double)count) * sizeof(float));
}

bool drawn_model_open(struct drawn_model *model, const struct drawn_model_request *request,
                      struct torch_generator *generator, struct error *error) {
    *model = (struct drawn_model){.kernels = kernels_choose(), .stop = request->stop};
    if (!arena_init(&model->arena, drawn_model_size(request), error))
        return false;
    lay_out(model, request, &model->arena);
    matrix_use_one_thread();
    model_initialise(&model->model, model->parameters, generator, request->stop);
    return true;
}

void drawn_model_close(struct drawn_model *model) {
    arena_free(&model->arena);
}

const float *drawn_model_forward(struct drawn_model *model, const float *values, size_t count) {
    struct model_batch batch = {.count = count, .values = values, .stop = model->stop};
    return model_forward(&model->model, model->parameters, &model->workspace, &batch, model->kernels);
}

struct task *drawn_examples_open(size_t count, size_t steps, uint64_t seed, struct error *error) {
    struct data_source none = {0};
    struct task_request request = {.name = task_first_element.name,
                                   .sequence_length = steps,
                                   .train_examples = count,
                                   .test_examples = 1,
                                   .train_seed = seed};
    return task_open(&request, &none, error);
}
