/* Builds a run's task and model from its parameters: see setup.h. */
#include "core/training/setup.h"

#include "core/model/choices.h"

#include <string.h>

/* Returns 0 if the parameter is not set. */
static size_t count_of(const struct parameter_set *parameters, const char *name) {
    return parameter_is_set(parameters, name) ? (size_t)parameter_integer(parameters, name) : 0;
}

const char *const setup_vocabulary_choices[] = {
    [TASK_VOCABULARY_TRAINING] = "training", [TASK_VOCABULARY_ALL] = "all", NULL};

static enum task_vocabulary vocabulary_of(const struct parameter_set *parameters) {
    bool is_all =
        parameter_is_set(parameters, "vocabulary") &&
        strcmp(parameter_text(parameters, "vocabulary"), setup_vocabulary_choices[TASK_VOCABULARY_ALL]) == 0;
    return is_all ? TASK_VOCABULARY_ALL : TASK_VOCABULARY_TRAINING;
}

struct task_request setup_task_request(const struct parameter_set *parameters) {
    return (struct task_request){
        .name = parameter_text(parameters, "task"),
        .sequence_length = count_of(parameters, "sequence_length"),
        .train_examples = count_of(parameters, "train_examples"),
        .test_examples = count_of(parameters, "test_examples"),
        .train_seed = count_of(parameters, "train_seed"),
        .test_seed = count_of(parameters, "test_seed"),
        .vocabulary = vocabulary_of(parameters),
        .standardise =
            parameter_is_set(parameters, "standardise") && parameter_boolean(parameters, "standardise"),
    };
}

struct model setup_model(const struct parameter_set *parameters, size_t sequence_length, size_t class_count,
                         size_t vocabulary_size) {
    struct model_options options = {
        .steps = sequence_length,
        .vocabulary_size = vocabulary_size,
        .class_count = class_count,
        .width = count_of(parameters, "width"),
        .position = model_choices_position(parameters),
        .mask = model_choices_mask(parameters),
        .unscaled_scores = model_choices_unscaled_scores(parameters),
        .heads = count_of(parameters, "heads"),
        .layers = count_of(parameters, "layers"),
        .feedforward_width = count_of(parameters, "feedforward_width"),
        .norm = model_choices_norm(parameters),
        .activation = model_choices_activation(parameters),
    };
    return model_build(model_find(parameter_text(parameters, "model")), &options);
}

size_t setup_task_memory_size(const struct task_summary *summary) {
    return summary->memory_bytes < (double)SIZE_MAX ? (size_t)summary->memory_bytes : SIZE_MAX;
}

double setup_memory_size(const struct parameter_set *parameters, const struct task_summary *summary,
                         struct model *model) {
    *model =
        setup_model(parameters, summary->sequence_length, summary->class_count, summary->vocabulary_maximum);
    return summary->memory_bytes +
           (double)training_memory_size(model, summary->train_examples, count_of(parameters, "batch_size"));
}

bool setup_open(struct setup *setup, const struct parameter_set *parameters, const struct data_source *data,
                const struct stop_request *stop, struct error *error) {
    struct task_request request = setup_task_request(parameters);
    request.stop = stop;
    *setup = (struct setup){.task = task_open(&request, data, error)};
    if (setup->task == NULL)
        return false;
    const struct task *task = setup->task;
    setup->model = setup_model(parameters, task->sequence_length, task->class_count, task->vocabulary_size);
    return true;
}

void setup_close(struct setup *setup) {
    task_free(setup->task);
    setup->task = NULL;
}

/* A run stored by a version without the parameter `optimizer` is one of Adam, without weight decay. */
static struct optimizer_settings optimizer_of(const struct parameter_set *parameters) {
    struct optimizer_settings settings = {.learning_rate = parameter_real(parameters, "learning_rate")};
    if (parameter_is_set(parameters, "optimizer"))
        settings.kind = optimizer_find(parameter_text(parameters, "optimizer"));
    if (parameter_is_set(parameters, "momentum"))
        settings.momentum = parameter_real(parameters, "momentum");
    if (parameter_is_set(parameters, "weight_decay"))
        settings.weight_decay = parameter_real(parameters, "weight_decay");
    return settings;
}

struct training_settings setup_training_settings(const struct setup *setup,
                                                 const struct parameter_set *parameters,
                                                 const struct stop_request *stop) {
    return (struct training_settings){
        .model = &setup->model,
        .task = setup->task,
        .seed = (uint64_t)parameter_integer(parameters, "seed"),
        .order = setup->task->kind == DATASET_TEXT ? TORCH_LOADER_RANDPERM : TORCH_LOADER_DATALOADER,
        .epochs = count_of(parameters, "epochs"),
        .batch_size = count_of(parameters, "batch_size"),
        .optimizer = optimizer_of(parameters),
        .stop = stop,
    };
}
