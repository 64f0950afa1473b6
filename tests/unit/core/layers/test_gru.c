/* The GRU: the layer and the chapter's model against PyTorch, gradients against differences, and an
 * interrupted run. */
#include "core/experiments/experiments.h"
#include "core/layers/recurrent.h"
#include "core/model/models.h"
#include "core/random/torch_random.h"
#include "tests/reference/golden_gru.h"
#include "tests/unit/core/experiments/run_experiment.h"
#include "tests/unit/core/layers/layer_check.h"
#include "tests/unit/main.h"

#include <math.h>

enum { PARAMETERS = sizeof golden_gru_parameters / sizeof golden_gru_parameters[0], STEPS = 64 };

static struct layer make_layer(void) {
    return layer_make(&layer_gru, "rnn", (struct layer_shape){6, 3}, 10, NULL);
}

START_TEST(initial_weights_match_pytorch_to_the_bit) {
    float weights[PARAMETERS];
    struct torch_generator generator;
    struct layer layer = make_layer();
    ck_assert_uint_eq(layer.parameter_count, PARAMETERS);
    torch_generator_seed(&generator, 1);
    layer.type->initialise(&layer, weights, &generator);
    ck_assert_mem_eq(weights, golden_gru_parameters, sizeof weights);
}
END_TEST

START_TEST(tensors_have_the_names_and_shapes_of_nn_gru) {
    static const char *const names[] = {"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"};
    static const size_t shapes[][2] = {{30, 3}, {30, 10}, {30, 0}, {30, 0}};
    struct tensor tensors[LAYER_MAXIMUM_TENSORS];
    struct layer layer = make_layer();
    ck_assert_uint_eq(layer_tensors(&layer, tensors), 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_str_eq(tensors[i].name, names[i]);
        ck_assert_uint_eq(tensors[i].shape[0], shapes[i][0]);
        ck_assert_uint_eq(tensors[i].shape[1], shapes[i][1]);
    }
}
END_TEST

static void check_layer(const struct kernels *kernels) {
    struct layer_run run = layer_run_start(make_layer(), 3);
    run.pass.kernels = kernels;
    memcpy(run.parameters, golden_gru_parameters, sizeof golden_gru_parameters);
    memcpy(run.input, golden_gru_input, sizeof golden_gru_input);
    memcpy(run.grad_output, golden_gru_weights, sizeof golden_gru_weights);
    layer_run_forward(&run);
    layer_check_equal("output", run.output, golden_gru_output, run.output_count, 1e-6);
    layer_run_backward(&run);
    layer_check_equal("input gradient", run.grad_input, golden_gru_grad_input, run.input_count, 2e-6);
    layer_check_equal("parameter gradient", run.grad_parameters, golden_gru_grad_parameters, PARAMETERS,
                      2e-6);
    layer_run_end(&run);
}

START_TEST(the_layer_matches_pytorch) {
    check_layer(&kernels_plain);
    check_layer(kernels_choose());
}
END_TEST

/* Example 0 is whole, example 1 has two real steps, example 2 none. */
START_TEST(gradients_agree_with_differences_with_padding_too) {
    static const uint8_t present[] = {1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0};
    layer_check_gradients(make_layer(), 3, NULL, NULL, 5);
    layer_check_gradients(layer_make(&layer_gru, "", (struct layer_shape){5, 4}, 4, NULL), 3, NULL, present,
                          6);
}
END_TEST

/* Everything that a run reported: losses, the weights after every epoch, the first epoch's checkpoint. */
struct told {
    double losses[STEPS];
    float *weights;
    size_t weight_count;
    unsigned char *checkpoint;
    size_t checkpoint_size;
};

static void on_step(void *owner, size_t step, double loss) {
    struct told *told = owner;
    if (step <= STEPS)
        told->losses[step - 1] = loss;
}

static void *copy_of(void *old, const void *bytes, size_t size) {
    void *copy = realloc(old, size);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, size);
    return copy;
}

static bool on_epoch(void *owner, const struct epoch_metrics *metrics, const float *weights,
                     size_t weight_count, const void *checkpoint, size_t checkpoint_size,
                     struct error *error) {
    struct told *told = owner;
    (void)error;
    told->weight_count = weight_count;
    told->weights = copy_of(told->weights, weights, weight_count * sizeof *weights);
    if (metrics->epoch != 1)
        return true;
    told->checkpoint_size = checkpoint_size;
    told->checkpoint = copy_of(told->checkpoint, checkpoint, checkpoint_size);
    return true;
}

/* Trains the chapter's model with a GRU for two epochs, from the checkpoint if `from` has one. */
static void train(const char *seed, const struct told *from, struct told *told) {
    struct parameter_set set;
    struct parameter_faults faults = {0};
    struct result_tree tree = {0};
    struct error error = {0};
    prepare_experiment(&experiment_train, SETTINGS("model", "gru", "seed", seed, "epochs", "2"), &set,
                       &faults);
    ck_assert_uint_eq(faults.count, 0);
    struct experiment_context context = test_context(&set, &tree);
    context.host.listener = (struct run_listener){.owner = told, .step = on_step, .epoch = on_epoch};
    if (from != NULL) {
        context.host.checkpoint = from->checkpoint;
        context.host.checkpoint_size = from->checkpoint_size;
    }
    ck_assert_msg(experiment_train.run(&context, &error), "%s", error.message);
    result_tree_free(&tree);
    parameter_set_free(&set);
}

static void free_told(struct told *told) {
    free(told->weights);
    free(told->checkpoint);
}

START_TEST(first_64_losses_match_pytorch) {
    static const char *const seeds[] = {"0", "1", "2"};
    struct told told = {0};
    train(seeds[_i], NULL, &told);
    double largest = 0;
    for (size_t i = 0; i < STEPS; i++)
        largest = fmax(largest, fabs(told.losses[i] - golden_gru_losses[_i][i]));
    ck_assert_msg(largest < 1e-5, "seed %s: losses differ by %g", seeds[_i], largest);
    free_told(&told);
}
END_TEST

START_TEST(an_interrupted_run_ends_with_the_same_weights) {
    struct told whole = {0}, resumed = {0};
    train("3", NULL, &whole);
    ck_assert_uint_eq(whole.weight_count, 3426);
    train("3", &whole, &resumed);
    ck_assert_mem_eq(resumed.weights, whole.weights, whole.weight_count * sizeof(float));
    free_told(&whole);
    free_told(&resumed);
}
END_TEST

/* The GRU trains on sentences, and gradient-reach can measure it. */
START_TEST(other_experiments_accept_it) {
    struct result_tree tree = {0};
    run_experiment(&experiment_train, SETTINGS("model", "gru", "task", "reviews", "epochs", "1"), &tree);
    result_tree_free(&tree);
    run_experiment(&experiment_gradient_reach, SETTINGS("models", "gru,attention"), &tree);
    result_tree_free(&tree);
    ck_assert_str_eq(model_title(model_find("gru")), "GRU");
    ck_assert(!model_takes(model_find("gru"), "position"));
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, initial_weights_match_pytorch_to_the_bit);
    tcase_add_test(tests, tensors_have_the_names_and_shapes_of_nn_gru);
    tcase_add_test(tests, the_layer_matches_pytorch);
    tcase_add_test(tests, gradients_agree_with_differences_with_padding_too);
    tcase_add_loop_test(tests, first_64_losses_match_pytorch, 0, 3);
    tcase_add_test(tests, an_interrupted_run_ends_with_the_same_weights);
    tcase_add_test(tests, other_experiments_accept_it);
}
