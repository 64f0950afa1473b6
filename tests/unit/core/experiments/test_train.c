/* The train experiment from its parameters to its result, and inspections of the trained model. */
#include "core/layers/positions/position.h"
#include "core/model/models.h"
#include "core/random/torch_random.h"
#include "core/tasks/task.h"
#include "core/training/inspection.h"
#include "tests/reference/golden_attention.h"
#include "tests/unit/core/experiments/run_experiment.h"
#include "tests/unit/main.h"

#include <stdio.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const struct experiment *const experiment = &experiment_train;

/* Everything that a run reported, and its final weights. */
struct run {
    struct parameter_set set;
    struct result_tree tree;
    struct error error;
    float *weights;
    size_t weight_count;
    double last_accuracy;
};

static bool on_epoch(void *owner, const struct epoch_metrics *metrics, const float *weights,
                     size_t weight_count, const void *checkpoint, size_t checkpoint_size,
                     struct error *error) {
    struct run *run = owner;
    (void)checkpoint;
    (void)checkpoint_size;
    (void)error;
    run->weights = realloc(run->weights, weight_count * sizeof *weights);
    memcpy(run->weights, weights, weight_count * sizeof *weights);
    run->weight_count = weight_count;
    run->last_accuracy = metrics->test_accuracy;
    ck_assert(isnan(metrics->train_loss) == (metrics->epoch == 0));
    return true;
}

static bool train(struct run *run, const char *const *settings) {
    struct parameter_faults faults = {0};
    memset(run, 0, sizeof *run);
    prepare_experiment(experiment, settings, &run->set, &faults);
    ck_assert_msg(faults.count == 0, "%s", faults.count > 0 ? faults.items[0].message : "");
    struct experiment_context context = test_context(&run->set, &run->tree);
    context.host.listener = (struct run_listener){.owner = run, .epoch = on_epoch};
    return experiment->run(&context, &run->error);
}

static void run_free(struct run *run) {
    parameter_set_free(&run->set);
    result_tree_free(&run->tree);
    free(run->weights);
}

static struct inspection *inspect(const struct run *run) {
    struct error error = {0};
    struct data_source data = {0};
    struct inspection *inspection = inspection_open(&run->set, &data, NULL, &error);
    ck_assert_msg(inspection != NULL, "%s", error.message);
    ck_assert(inspection_load_weights(inspection, run->weights, run->weight_count, &error));
    return inspection;
}

START_TEST(defaults_match_the_chapter) {
    struct parameter_set set;
    struct parameter_faults faults = {0};
    prepare_experiment(experiment, NULL, &set, &faults);
    ck_assert_uint_eq(faults.count, 0);
    ck_assert_str_eq(parameter_text(&set, "task"), "first-element");
    ck_assert_str_eq(parameter_text(&set, "model"), "attention");
    ck_assert_int_eq(parameter_integer(&set, "sequence_length"), 60);
    ck_assert_int_eq(parameter_integer(&set, "train_examples"), 2000);
    ck_assert_int_eq(parameter_integer(&set, "test_examples"), 600);
    ck_assert_int_eq(parameter_integer(&set, "epochs"), 60);
    ck_assert(parameter_real(&set, "learning_rate") == 0.005);
    parameter_set_free(&set);
    prepare_experiment(experiment, SETTINGS("task", "reviews", "model", "transformer"), &set, &faults);
    ck_assert_uint_eq(faults.count, 0);
    ck_assert_int_eq(parameter_integer(&set, "sequence_length"), 20);
    ck_assert_int_eq(parameter_integer(&set, "epochs"), 12);
    ck_assert(parameter_real(&set, "learning_rate") == 0.003);
    parameter_set_free(&set);
}
END_TEST

/* The chapter's run must end with PyTorch's result. */
START_TEST(attention_ends_where_pytorch_ends) {
    char seed[8];
    struct run run;
    snprintf(seed, sizeof seed, "%d", _i);
    ck_assert_msg(train(&run, SETTINGS("seed", seed)), "%s", run.error.message);
    const struct golden_attention *golden = &golden_attention[_i];
    double accuracy = result_tree_value(&run.tree, "test_accuracy"), weights[60];
    ck_assert_double_le(fabs(accuracy - golden->test_accuracy), 0.005);
    ck_assert(result_tree_value(&run.tree, "parameter_count") == 5218);
    ck_assert(result_tree_value(&run.tree, "steps") == 60 * 32);
    ck_assert(result_tree_value(&run.tree, "attention.argmax") == 0);
    ck_assert_uint_eq(result_tree_numbers(&run.tree, "attention.weights", NAN, weights, 60), 60);
    for (size_t j = 0; j < 60; j++)
        ck_assert_double_le(fabs(weights[j] - golden->mean[j]), 0.01);

    struct inspection *inspection = inspect(&run);
    struct attention_mean mean;
    ck_assert(inspection_mean_attention(inspection, &mean, NULL));
    ck_assert(mean.first == result_tree_value(&run.tree, "attention.first"));
    ck_assert(mean.rest == result_tree_value(&run.tree, "attention.rest"));
    inspection_close(inspection);
    run_free(&run);
}
END_TEST

START_TEST(every_model_trains_on_every_task) {
    static const char *const models[] = {"rnn", "lstm", "attention", "transformer"};
    static const char *const tasks[] = {"first-element", "reviews"};
    static const char *const positions[] = {"learned", "sinusoidal", "none"};
    static const char *const masks[] = {"none", "causal"};
    for (int task = 0; task < COUNT_OF(tasks); task++)
        for (int mask = 0; mask < COUNT_OF(masks); mask++) {
            struct run run;
            bool ok =
                train(&run, SETTINGS("model", models[_i / 3], "position", positions[_i % 3], "task",
                                     tasks[task], "mask", masks[mask], "epochs", "2", "train_examples", "130",
                                     "test_examples", "30", "sequence_length", "12", "layers", "2"));
            ck_assert_msg(ok, "%s", run.error.message);
            ck_assert(result_tree_value(&run.tree, "steps") == 6);
            ck_assert(result_tree_has(&run.tree, "attention") == (_i / 3 >= 2));
            ck_assert(result_tree_has(&run.tree, "decisive_word") == (_i / 3 >= 2 && task == 1));
            run_free(&run);
        }
}
END_TEST

/* Trains for one epoch; the caller frees the run. A parameter of a later version is not set in a
 * run that an earlier one stored. */
static void train_briefly(struct run *run, const char *model, const char *scale, const char *unset) {
    struct parameter_faults faults = {0};
    *run = (struct run){0};
    prepare_experiment(experiment,
                       SETTINGS("model", model, "scale", scale, "epochs", "1", "train_examples", "64",
                                "test_examples", "8", "sequence_length", "6"),
                       &run->set, &faults);
    ck_assert_uint_eq(faults.count, 0);
    if (unset != NULL)
        parameter_unset(&run->set, (size_t)parameter_find(&run->set, unset));
    struct experiment_context context = test_context(&run->set, &run->tree);
    context.host.listener = (struct run_listener){.owner = run, .epoch = on_epoch};
    ck_assert_msg(experiment->run(&context, &run->error), "%s", run->error.message);
}

START_TEST(attention_scales_its_scores_unless_told_otherwise) {
    const char *model = _i == 0 ? "attention" : "transformer";
    struct run scaled, earlier, unscaled;
    train_briefly(&scaled, model, "true", NULL);
    train_briefly(&earlier, model, "true", "scale");
    train_briefly(&unscaled, model, "false", NULL);
    size_t size = scaled.weight_count * sizeof *scaled.weights;
    ck_assert_mem_eq(scaled.weights, earlier.weights, size);
    ck_assert_mem_ne(scaled.weights, unscaled.weights, size);
    run_free(&scaled);
    run_free(&earlier);
    run_free(&unscaled);
}
END_TEST

START_TEST(the_transformer_learns_reviews) {
    struct run run;
    ck_assert(train(&run, SETTINGS("task", "reviews", "model", "transformer", "epochs", "6")));
    ck_assert_double_ge(result_tree_value(&run.tree, "test_accuracy"), 0.98);
    ck_assert(result_tree_value(&run.tree, "decisive_word.of") == 120);
    ck_assert_double_ge(result_tree_value(&run.tree, "decisive_word.rate"), 0.6);

    struct inspection *inspection = inspect(&run);
    struct prediction good, bad;
    struct error error = {0};
    ck_assert_msg(inspection_predict_text(inspection, "The soup was excellent , zzyzx", &good, &error), "%s",
                  error.message);
    ck_assert_str_eq(inspection_class_name(inspection, good.label), "positive");
    ck_assert_uint_eq(good.token_count, 6);
    ck_assert_str_eq(good.tokens[5], "zzyzx");
    ck_assert(good.unknown[5] && !good.unknown[3]);
    ck_assert_uint_eq(good.heads, 4);
    for (size_t row = 0; row < 4 * 6; row++) {
        double sum = 0;
        for (size_t j = 0; j < 6; j++)
            sum += (double)good.attention[row * 6 + j];
        ck_assert_double_le(fabs(sum - 1), 1e-5);
    }
    ck_assert(inspection_predict_text(inspection, "The soup was terrible", &bad, &error));
    ck_assert_str_eq(inspection_class_name(inspection, bad.label), "negative");
    ck_assert(!inspection_predict_text(inspection, " ", &bad, &error));
    ck_assert_int_eq(error.code, ERROR_INVALID);
    inspection_close(inspection);
    run_free(&run);
}
END_TEST

START_TEST(bad_parameters_are_faults) {
    assert_rejected(experiment, SETTINGS("model", "transformer", "width", "30"), "heads",
                    "must divide the width, 30; got 4");
    assert_rejected(experiment, SETTINGS("task", "nothing-such"), "task",
                    "there is no task or data set named \"nothing-such\"");
    assert_rejected(experiment, SETTINGS("learning_rate", "-1"), "learning_rate",
                    "must be above 0 and at most 10; got -1");
    assert_rejected(experiment, SETTINGS("momentum", "0.9"), "momentum",
                    "must be 0 with adam; sgd and rmsprop have one");
    assert_rejected(experiment, SETTINGS("optimizer", "adamw", "momentum", "0.5"), "momentum",
                    "must be 0 with adamw; sgd and rmsprop have one");
    assert_rejected(experiment, SETTINGS("optimizer", "sgd", "momentum", "-0.1"), "momentum",
                    "must be at least 0 and at most 1; got -0.1");
    assert_rejected(experiment, SETTINGS("weight_decay", "11"), "weight_decay",
                    "must be at least 0 and at most 10; got 11");
}
END_TEST

START_TEST(absurd_sizes_are_refused_without_overflow) {
    struct parameter_set set;
    struct parameter_faults faults = {0};
    prepare_experiment(experiment, SETTINGS("sequence_length", "65536"), &set, &faults);
    ck_assert_uint_eq(faults.count, 1);
    ck_assert_str_eq(faults.items[0].field, "sequence_length");
    ck_assert_ptr_nonnull(strstr(faults.items[0].message, "is too large: the run would take "));
    parameter_faults_free(&faults);
    parameter_set_free(&set);
    prepare_experiment(experiment,
                       SETTINGS("model", "transformer", "sequence_length", "65536", "batch_size", "65536",
                                "width", "4096", "heads", "64", "layers", "12", "train_examples", "1000000",
                                "feedforward_width", "16384", "test_examples", "1000000"),
                       &set, &faults);
    ck_assert_uint_eq(faults.count, 1);
    ck_assert_ptr_nonnull(strstr(faults.items[0].message, "too large"));
    parameter_faults_free(&faults);
    parameter_set_free(&set);
}
END_TEST

START_TEST(inspections_give_every_answer) {
    struct run run;
    ck_assert(train(&run, SETTINGS("epochs", "1", "train_examples", "64", "test_examples", "10",
                                   "sequence_length", "5")));
    struct inspection *inspection = inspect(&run);
    struct error error = {0};
    struct attention_matrix matrix;
    ck_assert(inspection_attention(inspection, 3, 0, 0, &matrix, &error));
    ck_assert(matrix.queries == 5 && matrix.keys == 5);
    ck_assert_str_eq(matrix.key_labels[4], "4");
    ck_assert(!inspection_attention(inspection, 10, 0, 0, &matrix, &error));
    ck_assert_str_eq(error.message, "example must be below 10, the number of test examples; got 10");
    error.code = ERROR_NONE;
    ck_assert(!inspection_attention(inspection, 0, 1, 0, &matrix, &error));
    error.code = ERROR_NONE;
    ck_assert(!inspection_attention(inspection, 0, 0, 1, &matrix, &error));

    struct inspection_example example;
    ck_assert(inspection_example(inspection, true, 3, &example, &error));
    ck_assert_uint_eq(example.length, 5);
    ck_assert_uint_eq(example.label, example.values[0] > 0);
    float values[6];
    memcpy(values, example.values, 5 * sizeof *values);
    struct prediction whole, shorter;
    error.code = ERROR_NONE;
    ck_assert(inspection_predict_sequence(inspection, values, 5, &whole, &error));
    ck_assert_double_le(fabs((double)whole.probabilities[0] + (double)whole.probabilities[1] - 1), 1e-6);
    ck_assert(inspection_predict_sequence(inspection, values, 2, &shorter, &error));
    ck_assert_uint_eq(shorter.length, 2);
    ck_assert_double_le(fabs((double)shorter.attention[0] + (double)shorter.attention[1] - 1), 1e-6);
    for (size_t length = 0; length <= 6; length += 6) {
        ck_assert(!inspection_predict_sequence(inspection, values, length, &shorter, &error));
        ck_assert_int_eq(error.code, ERROR_INVALID);
        error = (struct error){0};
    }

    void *bytes;
    size_t size;
    uint64_t header;
    ck_assert(inspection_write_safetensors(inspection, &bytes, &size, NULL));
    memcpy(&header, bytes, sizeof header);
    ck_assert_uint_eq(size, 8 + header + run.weight_count * sizeof(float));
    ck_assert_ptr_nonnull(strstr((char *)bytes + 8, "\"pos\":{\"dtype\":\"F32\",\"shape\":[1,5,32],"));
    ck_assert_mem_eq((char *)bytes + 8 + header, run.weights, run.weight_count * sizeof(float));
    free(bytes);
    inspection_close(inspection);
    run_free(&run);
}
END_TEST

/* Earlier requests leave no trace. */
START_TEST(an_answer_depends_only_on_its_own_question) {
    static const char *const models[] = {"rnn", "lstm", "attention", "transformer"};
    static const char *const positions[] = {"learned", "none"};
    static const float large[] = {1e10F, -1e10F, 1e10F, 1e15F, -1e15F}, small[] = {0.5F, -1};
    struct run run;
    ck_assert(train(&run, SETTINGS("model", models[_i / 2], "position", positions[_i % 2], "epochs", "1",
                                   "train_examples", "64", "test_examples", "10", "sequence_length", "5")));
    struct inspection *inspection = inspect(&run);
    struct prediction prediction;
    float first[2];
    ck_assert(inspection_predict_sequence(inspection, small, 2, &prediction, NULL));
    memcpy(first, prediction.logits, sizeof first);
    ck_assert(inspection_predict_sequence(inspection, large, 5, &prediction, NULL));
    ck_assert(inspection_predict_sequence(inspection, small, 2, &prediction, NULL));
    ck_assert_mem_eq(prediction.logits, first, sizeof first);
    inspection_close(inspection);
    run_free(&run);
}
END_TEST

/* The mean is over the first 200 test examples and no more. */
START_TEST(the_mean_attention_is_that_of_200_examples) {
    enum { EXAMPLES = 200, STEPS = 4 };
    struct run run;
    ck_assert(train(&run, SETTINGS("epochs", "1", "train_examples", "64", "test_examples", "203",
                                   "sequence_length", "4")));
    struct inspection *inspection = inspect(&run);
    struct error error = {0};
    struct attention_matrix matrix;
    struct attention_mean mean;
    double expected[STEPS] = {0};
    for (size_t example = 0; example < EXAMPLES; example++) {
        ck_assert(inspection_attention(inspection, example, 0, INSPECTION_HEAD_MEAN, &matrix, &error));
        for (size_t i = 0; i < STEPS * STEPS; i++)
            expected[i % STEPS] += (double)matrix.weights[i] / (STEPS * EXAMPLES);
    }
    ck_assert(inspection_mean_attention(inspection, &mean, &error));
    for (size_t i = 0; i < STEPS; i++)
        ck_assert_double_le(fabs((double)mean.weights[i] - expected[i]), 1e-7);
    inspection_close(inspection);
    run_free(&run);
}
END_TEST

START_TEST(the_first_of_equal_keys_is_the_most_attended) {
    struct run run;
    size_t key = SIZE_MAX;
    ck_assert(train(&run, SETTINGS("epochs", "1", "train_examples", "64", "test_examples", "10",
                                   "sequence_length", "6")));
    memset(run.weights, 0, run.weight_count * sizeof *run.weights); /* all scores are equal then */
    struct inspection *inspection = inspect(&run);
    ck_assert(inspection_most_attended(inspection, 3, &key, NULL));
    ck_assert_uint_eq(key, 0);
    inspection_close(inspection);
    run_free(&run);
}
END_TEST

START_TEST(a_cancelled_run_reports_it) {
    assert_cancelled(experiment, SETTINGS("epochs", "1"));
}
END_TEST

/* The run must check for cancelling at every example that it draws: drawing a million takes seconds. */
START_TEST(drawing_can_be_cancelled_midway) {
    static const char *const names[] = {"first-element", "reviews"};
    struct task_request request = {.name = names[_i], .train_examples = 64, .test_examples = 64};
    for (size_t calls = 1; calls <= 128; calls += 21) {
        size_t calls_left = calls;
        struct stop_request stop = {test_cancelled_after, &calls_left};
        struct error failure = {0};
        request.stop = &stop;
        ck_assert_ptr_null(task_open(&request, NULL, &failure));
        ck_assert_int_eq(failure.code, ERROR_CANCELLED);
    }
}
END_TEST

START_TEST(drawing_weights_can_be_cancelled_midway) {
    const struct model_options options = {
        .steps = 4, .class_count = 2, .width = 4, .position = &position_learned};
    struct model model = model_build(model_find("attention"), &options);
    float *parameters = calloc(model.parameter_count, sizeof *parameters);
    const struct stop_request stop = {test_always_cancelled, NULL};
    struct torch_generator generator;
    torch_generator_seed(&generator, 0);
    model_initialise(&model, parameters, &generator, &stop);
    for (size_t i = 0; i < model.parameter_count; i++)
        ck_assert_float_eq(parameters[i], 0);
    free(parameters);
}
END_TEST

/* Within a single step a run checks for cancelling many times: per time step in recurrent layers, per example
 * in attention. That must be more often than it checks while it draws and encodes its examples. */
START_TEST(a_step_can_be_cancelled_midway) {
    static const struct {
        const char *model, *position, *task;
        size_t while_drawing; /* checks while it draws and encodes 128 examples */
    } runs[] = {
        {"rnn", "none", "first-element", 128},       {"lstm", "none", "first-element", 128},
        {"attention", "none", "first-element", 128}, {"attention", "learned", "first-element", 128},
        {"attention", "learned", "reviews", 256},    {"transformer", "learned", "reviews", 256},
    };
    assert_cancelled_after(experiment,
                           SETTINGS("model", runs[_i].model, "position", runs[_i].position, "task",
                                    runs[_i].task, "train_examples", "64", "test_examples", "64", "epochs",
                                    "1", "sequence_length", "60"),
                           200 + runs[_i].while_drawing);
}
END_TEST

static const struct dataset *count_look_ups(void *owner, const char *name, struct error *error) {
    ++*(size_t *)owner;
    error_set(error, ERROR_MISSING, "there is no data set %s", name);
    return NULL;
}

/* Drawn twice, the task of a large run took twice the memory that was counted, and the second drawing could
 * not be cancelled. */
START_TEST(a_run_draws_its_task_once) {
    struct run run;
    struct parameter_faults faults = {0};
    size_t look_ups = 0;
    memset(&run, 0, sizeof run);
    prepare_experiment(experiment, SETTINGS("epochs", "1", "train_examples", "64", "test_examples", "8"),
                       &run.set, &faults);
    struct experiment_context context = test_context(&run.set, &run.tree);
    context.data = (struct data_source){.owner = &look_ups, .find_dataset = count_look_ups};
    ck_assert_msg(experiment->run(&context, &run.error), "%s", run.error.message);
    ck_assert(result_tree_get(&run.tree, "attention.weights") != NULL);
    ck_assert_uint_eq(look_ups, 1);
    run_free(&run);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, defaults_match_the_chapter);
    tcase_add_loop_test(tests, attention_ends_where_pytorch_ends, 0, COUNT_OF(golden_attention));
    tcase_add_loop_test(tests, every_model_trains_on_every_task, 0, 12);
    tcase_add_loop_test(tests, attention_scales_its_scores_unless_told_otherwise, 0, 2);
    tcase_add_test(tests, the_transformer_learns_reviews);
    tcase_add_test(tests, bad_parameters_are_faults);
    tcase_add_test(tests, absurd_sizes_are_refused_without_overflow);
    tcase_add_test(tests, inspections_give_every_answer);
    tcase_add_loop_test(tests, an_answer_depends_only_on_its_own_question, 0, 8);
    tcase_add_test(tests, the_mean_attention_is_that_of_200_examples);
    tcase_add_test(tests, the_first_of_equal_keys_is_the_most_attended);
    tcase_add_test(tests, a_cancelled_run_reports_it);
    tcase_add_test(tests, a_run_draws_its_task_once);
    tcase_add_loop_test(tests, drawing_can_be_cancelled_midway, 0, 2);
    tcase_add_test(tests, drawing_weights_can_be_cancelled_midway);
    tcase_add_loop_test(tests, a_step_can_be_cancelled_midway, 0, 6);
}
