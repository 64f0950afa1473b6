/* train: trains one model on one task, starting from random weights.
 *
 * core/training/setup.h reads the task and the model from the parameters; core/training/training.h is the
 * loop. The attention in the result comes from an inspection of the trained model (inspection.h), as it does
 * for requests after the run. */
#include "core/experiments/experiments.h"
#include "core/model/choices.h"
#include "core/tasks/sign_task.h"
#include "core/training/checkpoint.h"
#include "core/training/inspection.h"
#include "core/training/setup.h"
#include "core/training/shards.h"

#include <math.h>

enum {
    LENGTH_MAXIMUM = 65536,
    EXAMPLES_MAXIMUM = 1000000,
    WIDTH_MAXIMUM = 4096,
    BATCH_MAXIMUM = 65536,
    EPOCHS_MAXIMUM = 10000,
    DECISIVE_EXAMPLES = 120
};

static const char *task_name(size_t index) {
    return task_makers[index] != NULL ? task_makers[index]->name : NULL;
}

static const struct parameter_choice_table drawn_tasks = {.name = task_name};

static const struct parameter_declaration declarations[] = {
    {.name = "task",
     .type = PARAMETER_TEXT,
     .title = "Task",
     .meaning = "or the name of one of your data sets.",
     .choice_table = &drawn_tasks,
     .length_maximum = 100,
     .default_text = "first-element"},
    {.name = "model",
     .type = PARAMETER_CHOICE,
     .title = "Model",
     .meaning = "The model that learns the task.",
     .choice_table = &model_choices_models,
     .default_text = "attention"},
    {.name = "position",
     .type = PARAMETER_CHOICE,
     .title = "Positions",
     .meaning = "How the model knows the steps' positions.",
     .condition = &model_choices_taken,
     .choices = position_names,
     .default_text = "learned"},
    {.name = "mask",
     .type = PARAMETER_CHOICE,
     .title = "Mask",
     .meaning = "Causal: no step sees a later one.",
     .condition = &model_choices_taken,
     .choices = model_choices_masks,
     .default_text = "none"},
    {.name = "scale",
     .type = PARAMETER_BOOLEAN,
     .title = "Scale",
     .meaning = "Whether attention divides its scores by the root of a head's width, d_k.",
     .condition = &model_choices_taken,
     .default_number = 1},
    {.name = "width",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_WIDTH,
     .title = "Width",
     .meaning = "Size of the hidden state, or of the vector of a step: d_model.",
     .condition = &model_choices_taken,
     .minimum = 1,
     .maximum = WIDTH_MAXIMUM,
     .default_number = 32},
    {.name = "heads",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Heads",
     .meaning = "Attention heads; must divide the width.",
     .condition = &model_choices_taken,
     .minimum = 1,
     .maximum = 64,
     .default_number = 4},
    {.name = "layers",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Layers",
     .meaning = "Stacked blocks.",
     .condition = &model_choices_taken,
     .minimum = 1,
     .maximum = MODEL_MAXIMUM_BLOCKS,
     .default_number = 1},
    {.name = "norm",
     .type = PARAMETER_CHOICE,
     .title = "Norm",
     .meaning =
         "Last: after each sum, as in 2017's transformer. First: before each part, as in GPT-2 and Llama.",
     .condition = &model_choices_taken,
     .choices = model_choices_norms,
     .default_text = "last"},
    {.name = "feedforward_width",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_WIDTH,
     .cost_allowance = 4,
     .title = "Feed-forward width",
     .meaning = "Hidden units of the feed-forward part.",
     .condition = &model_choices_taken,
     .minimum = 1,
     .maximum = 4 * WIDTH_MAXIMUM,
     .default_number = 64},
    {.name = "activation",
     .type = PARAMETER_CHOICE,
     .title = "Activation",
     .meaning = "Activation of the feed-forward part.",
     .condition = &model_choices_taken,
     .choices = model_choices_activations,
     .default_text = "relu"},
    {.name = "sequence_length",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_LENGTH,
     .title = "Sequence length",
     .meaning = "Steps per example; longer texts are truncated.",
     .minimum = 1,
     .maximum = LENGTH_MAXIMUM,
     .default_number = SIGN_TASK_DEFAULT_LENGTH,
     .default_depends = true,
     .default_note = "text: 20; numbers of yours: as many as they have"},
    {.name = "train_examples",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_EXAMPLES,
     .title = "Training examples",
     .meaning = "The number of training examples.",
     .minimum = 1,
     .maximum = EXAMPLES_MAXIMUM,
     .default_number = SIGN_TASK_DEFAULT_TRAIN_EXAMPLES,
     .default_depends = true,
     .default_note = "text: the first 80 %; data of yours: the first 80 %"},
    {.name = "test_examples",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_EXAMPLES,
     .title = "Test examples",
     .meaning = "The number of test examples, on which the accuracy is measured.",
     .minimum = 1,
     .maximum = EXAMPLES_MAXIMUM,
     .default_number = SIGN_TASK_DEFAULT_TEST_EXAMPLES,
     .default_depends = true,
     .default_note = "text: the rest; data of yours: the rest"},
    {.name = "vocabulary",
     .type = PARAMETER_CHOICE,
     .title = "Vocabulary",
     .meaning =
         "The rows whose words the model knows. All: as in the lab. Training is better practice: test rows "
         "then have unknown words, as texts have that are written later (text only).",
     .choices = setup_vocabulary_choices,
     .default_text = "all"},
    {.name = "standardise",
     .type = PARAMETER_BOOLEAN,
     .title = "Standardise",
     .meaning = "For columns on a large scale, from which attention learns badly: brings each to mean 0 and "
                "deviation 1 over the training rows (data of yours, numbers only)."},
    {.name = "train_seed",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Training data seed",
     .meaning = "Seed of numpy's stream, from which the training examples are drawn.",
     .maximum = SEED_MAXIMUM,
     .default_number = 1},
    {.name = "test_seed",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Test data seed",
     .meaning = "Seed of numpy's stream, from which the test examples are drawn.",
     .maximum = SEED_MAXIMUM,
     .default_number = 2},
    {.name = "seed",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Seed",
     .meaning = "Seed of torch's stream: the initial weights and the order of the batches.",
     .maximum = SEED_MAXIMUM,
     .default_number = 0},
    {.name = "epochs",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_EPOCHS,
     .title = "Epochs",
     .meaning = "How often the model sees every training example.",
     .minimum = 1,
     .maximum = EPOCHS_MAXIMUM,
     .default_number = 60,
     .default_depends = true,
     .default_note = "text: 12"},
    {.name = "batch_size",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Batch size",
     .meaning = "The number of examples in one step.",
     .minimum = 1,
     .maximum = BATCH_MAXIMUM,
     .default_number = 64},
    {.name = "learning_rate",
     .type = PARAMETER_REAL,
     .cost = PARAMETER_COST_NONE,
     .title = "Learning rate",
     .meaning = "How far each step of the optimiser goes.",
     .minimum = 0,
     .minimum_excluded = true,
     .maximum = 10,
     .default_number = 0.005,
     .default_depends = true,
     .default_note = "text: 0.003"},
    {.name = "optimizer",
     .type = PARAMETER_CHOICE,
     .title = "Optimiser",
     .meaning = "The rule that makes a step out of a gradient, as in PyTorch.",
     .choices = optimizer_names,
     .default_text = "adam"},
    {.name = "momentum",
     .type = PARAMETER_REAL,
     .cost = PARAMETER_COST_NONE,
     .title = "Momentum",
     .meaning = "How much of the step before each step keeps (sgd and rmsprop).",
     .maximum = 1},
    {.name = "weight_decay",
     .type = PARAMETER_REAL,
     .cost = PARAMETER_COST_NONE,
     .title = "Weight decay",
     .meaning = "Pulls the weights towards 0: through the gradient, or with adamw beside it.",
     .maximum = 10},
};

/* Describes the task. Adds a fault and returns false if there is no task of that name. */
static bool describe_task(const struct parameter_set *set, const struct data_source *data,
                          struct task_summary *summary, struct parameter_faults *faults,
                          struct error *error) {
    struct task_request request = setup_task_request(set);
    struct error failure = {0};
    if (task_describe(&request, data, summary, &failure))
        return true;
    if (failure.code == ERROR_MISSING)
        parameter_faults_add(faults, "task", "%s", failure.message);
    else
        error_set(error, failure.code, "%s", failure.message);
    return false;
}

static void set_count(struct parameter_set *set, const char *name, size_t value,
                      struct parameter_faults *faults) {
    if (!parameter_is_set(set, name))
        parameter_set_integer(set, (size_t)parameter_find(set, name), (int64_t)value, faults);
}

static bool complete(struct parameter_set *set, const struct data_source *data,
                     unsigned long long memory_limit_bytes, struct parameter_faults *faults,
                     struct error *error) {
    (void)memory_limit_bytes;
    struct task_summary summary;
    task_first_element.describe(&(struct task_request){0}, &summary); /* used if the task is unknown */
    struct error failure = {0};
    size_t faults_before = faults->count;
    if (!describe_task(set, data, &summary, faults, &failure) && faults->count == faults_before)
        return error_set(error, failure.code, "%s", failure.message);
    bool is_text = summary.kind == DATASET_TEXT;
    set_count(set, "sequence_length", summary.sequence_length, faults);
    set_count(set, "train_examples", summary.train_examples, faults);
    set_count(set, "test_examples", summary.test_examples, faults);
    set_count(set, "epochs", is_text ? 12 : 60, faults);
    if (!parameter_is_set(set, "learning_rate"))
        parameter_set_real(set, (size_t)parameter_find(set, "learning_rate"), is_text ? 0.003 : 0.005,
                           faults);
    return true;
}

static void check_sizes(const struct parameter_set *set, const struct task_summary *summary,
                        struct parameter_faults *faults) {
    int64_t length = parameter_integer(set, "sequence_length");
    int64_t train = parameter_integer(set, "train_examples"), test = parameter_integer(set, "test_examples");
    if (parameter_boolean(set, "standardise") && !summary->may_standardise)
        parameter_faults_add(faults, "standardise", "applies only to data sets of numbers");
    if (summary->class_count < 2)
        parameter_faults_add(faults, "task", "must have at least two classes; it has %zu",
                             summary->class_count);
    if ((uint64_t)length > summary->sequence_length_maximum)
        parameter_faults_add(faults, "sequence_length",
                             "must be at most %zu, the length of the data's sequences; got %lld",
                             summary->sequence_length_maximum, (long long)length);
    if ((uint64_t)train + (uint64_t)test > summary->example_maximum)
        parameter_faults_add(
            faults, "train_examples",
            "and test_examples together must be at most %zu, the rows of the data; got %lld and %lld",
            summary->example_maximum, (long long)train, (long long)test);
}

static void check_model(const struct parameter_set *set, struct parameter_faults *faults) {
    const struct model_entry *entry = model_find(parameter_text(set, "model"));
    int64_t width = parameter_integer(set, "width"), heads = parameter_integer(set, "heads");
    bool has_heads = model_takes(entry, "heads");
    if (has_heads && width % heads != 0)
        parameter_faults_add(faults, "heads", "must divide the width, %lld; got %lld", (long long)width,
                             (long long)heads);
    else if (model_takes(entry, "position"))
        model_choices_check_position(set, (size_t)(has_heads ? width / heads : width), faults);
}

static void check_optimizer(const struct parameter_set *set, struct parameter_faults *faults) {
    const char *name = parameter_text(set, "optimizer");
    if (parameter_real(set, "momentum") != 0 && !optimizer_table[optimizer_find(name)].takes_momentum)
        parameter_faults_add(faults, "momentum", "must be 0 with %s; sgd and rmsprop have one", name);
}

static void validate(const struct parameter_set *set, const struct data_source *data,
                     struct parameter_faults *faults) {
    struct task_summary summary;
    struct parameter_faults again = {0}; /* discarded: complete has already reported these faults */
    bool is_known = describe_task(set, data, &summary, &again, NULL);
    parameter_faults_free(&again);
    check_model(set, faults);
    check_optimizer(set, faults);
    if (!is_known)
        return;
    check_sizes(set, &summary, faults);
}

/* The arithmetic of the whole training. Backward takes twice the operations of forward. */
static double count_operations(const struct parameter_set *set, const struct task_summary *summary,
                               const struct model *model) {
    enum { FORWARD_AND_BACKWARD = 3, UPDATE_OPERATIONS = 80, INSPECTED_EXAMPLES = 320 };
    double epochs = (double)parameter_integer(set, "epochs");
    double train = (double)summary->train_examples, test = (double)summary->test_examples;
    double steps = ceil(train / (double)parameter_integer(set, "batch_size"));
    double pass = model_operations(model);
    double step = UPDATE_OPERATIONS * (double)model->parameter_count +
                  FORWARD_AND_BACKWARD * shards_shared_operations(model);
    return epochs * (train * FORWARD_AND_BACKWARD * pass + steps * step) +
           ((epochs + 1) * test + INSPECTED_EXAMPLES) * pass;
}

/* A run trains a model and inspects it at the end. Storing an epoch takes the memory of two checkpoints: the
 * one that an interrupted run continues from, and the one that SQLite makes a record of. */
static struct run_cost estimate(const struct parameter_set *set, const struct data_source *data) {
    enum { COPIES_OF_CHECKPOINT = 2, FURTHER_NUMBERS = 40 };
    struct task_summary summary;
    struct parameter_faults faults = {0};
    bool is_known = describe_task(set, data, &summary, &faults, NULL);
    parameter_faults_free(&faults);
    if (!is_known)
        return (struct run_cost){.is_unknown = true};
    struct model model;
    double trained = (double)setup_memory_size(set, &summary, &model);
    double checkpoints = COPIES_OF_CHECKPOINT * (double)checkpoint_size(model.parameter_count);
    struct run_cost cost = {
        .work = {[WORK_ARITHMETIC] = count_operations(set, &summary, &model),
                 [WORK_DRAWS] = summary.draws + (double)model.parameter_count},
        .snapshots = (double)parameter_integer(set, "epochs") + 1,
        .weight_bytes = (double)model.parameter_count * sizeof(float),
    };
    run_cost_add_memory(&cost, trained + (double)inspection_memory_size(&model) + checkpoints);
    run_cost_add_result(&cost, (double)summary.sequence_length + FURTHER_NUMBERS);
    return cost;
}

/* Counts how often the decisive word gets the most attention, averaged over heads and queries. */
static bool report_decisive_word(const struct result_sink *sink, struct inspection *inspection,
                                 struct error *error) {
    size_t examples = inspection_test_example_count(inspection), hits = 0, known = 0;
    for (size_t i = 0; i < examples && i < DECISIVE_EXAMPLES; i++) {
        struct inspection_example example;
        size_t attended;
        if (!inspection_example(inspection, true, i, &example, error) ||
            !inspection_most_attended(inspection, i, &attended, error))
            return false;
        if (example.decisive_position < 0)
            continue;
        known++;
        hits += attended == (size_t)example.decisive_position;
    }
    if (known == 0)
        return true;
    result_begin_object(sink, "decisive_word");
    result_integer(sink, "hits", (int64_t)hits);
    result_integer(sink, "of", (int64_t)known);
    result_number(sink, "rate", (double)hits / (double)known);
    result_end_object(sink);
    return true;
}

static bool report_attention(const struct result_sink *sink, struct inspection *inspection,
                             struct error *error) {
    struct attention_mean mean;
    if (!inspection_mean_attention(inspection, &mean, error))
        return false;
    result_begin_object(sink, "attention");
    result_vector(sink, "weights", mean.weights, mean.keys);
    result_integer(sink, "argmax", (int64_t)mean.argmax);
    result_number(sink, "first", mean.first);
    result_number(sink, "rest", mean.rest);
    result_end_object(sink);
    return report_decisive_word(sink, inspection, error);
}

static bool report(const struct experiment_context *context, const struct training *training,
                   const struct setup *setup, const struct training_outcome *outcome, struct error *error) {
    const struct model *model = &setup->model;
    const struct result_sink *sink = &context->result;
    result_begin_object(sink, NULL);
    result_number(sink, "test_accuracy", outcome->test_accuracy);
    result_number(sink, "train_loss", outcome->train_loss);
    result_integer(sink, "parameter_count", (int64_t)model->parameter_count);
    result_number(sink, "seconds", outcome->seconds);
    result_integer(sink, "steps", (int64_t)outcome->steps);
    bool ok = true;
    if (model_attention_layer_count(model) > 0) {
        struct inspection *inspection = inspection_open_setup(setup, error);
        if (inspection != NULL)
            inspection_set_stop(inspection, &context->host.stop);
        ok = inspection != NULL &&
             inspection_load_weights(inspection, training_parameters(training), model->parameter_count,
                                     error) &&
             report_attention(sink, inspection, error);
        inspection_close(inspection);
    }
    result_end_object(sink);
    return ok;
}

static bool run(struct experiment_context *context, struct error *error) {
    struct setup setup;
    struct training *training = NULL;
    struct training_outcome outcome;
    bool ok = false;
    if (!setup_open(&setup, context->parameters, &context->data, &context->host.stop, error))
        goto cleanup;
    struct training_settings settings =
        setup_training_settings(&setup, context->parameters, &context->host.stop);
    training = training_create(&settings, error);
    if (training == NULL || !training_run(training, &context->host, &outcome, error))
        goto cleanup;
    ok = report(context, training, &setup, &outcome, error);
cleanup:
    training_free(training);
    setup_close(&setup);
    return ok;
}

/* The models that the chapter compares. */
static const struct experiment_variant variants[] = {
    {.id = "rnn", .settings = {{"model", "rnn"}}},
    {.id = "lstm", .settings = {{"model", "lstm"}}},
    {.id = "attention", .settings = {{"model", "attention"}}},
    {.id = "unordered",
     .label = "attention (no position)",
     .settings = {{"model", "attention"}, {"position", "none"}}},
    {.id = "transformer", .settings = {{"model", "transformer"}}, .is_extra = true},
};

const struct experiment experiment_train = {
    .name = "train",
    .title = "Train a model",
    .summary = "Trains one model on one task: loss and accuracy as it learns, and where it attends.",
    .parameters = declarations,
    .parameter_count = sizeof declarations / sizeof declarations[0],
    .complete = complete,
    .validate = validate,
    .estimate = estimate,
    .run = run,
    .trains_model = true,
    .variants = variants,
    .variant_count = sizeof variants / sizeof variants[0],
};
