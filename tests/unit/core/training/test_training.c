/* The chapter's four models against PyTorch, and the training loop: cancelling, resuming, threads,
 * divergence. */
#include "core/layers/positions/position.h"
#include "core/model/loss.h"
#include "core/model/models.h"
#include "core/random/torch_random.h"
#include "core/training/training.h"

#include "tests/reference/golden_training.h"
#include "tests/unit/main.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* One of the chapter's models with the chapter's task, and everything that a run of it reported. */
struct fixture {
    struct model model;
    struct task *task;
    struct training_settings settings;
    struct run_host host;
    struct training_outcome outcome;
    struct error error;
    double losses[64];
    size_t step_count, epoch_count;
    size_t cancel_at, stop_after_epoch; /* SIZE_MAX: never */
    unsigned char *checkpoint;
    size_t checkpoint_size;
    float *weights; /* of the last epoch */
    double told_accuracy;
};

static void on_step(void *owner, size_t step, double loss) {
    struct fixture *fixture = owner;
    if (step <= 64)
        fixture->losses[step - 1] = loss;
    fixture->step_count = step;
}

static bool on_epoch(void *owner, const struct epoch_metrics *metrics, const float *weights,
                     size_t weight_count, const void *checkpoint, size_t checkpoint_size,
                     struct error *error) {
    struct fixture *fixture = owner;
    (void)error;
    fixture->epoch_count++;
    if (metrics->epoch > fixture->stop_after_epoch)
        return true;
    fixture->checkpoint = realloc(fixture->checkpoint, checkpoint_size);
    memcpy(fixture->checkpoint, checkpoint, checkpoint_size);
    fixture->checkpoint_size = checkpoint_size;
    fixture->weights = realloc(fixture->weights, weight_count * sizeof *weights);
    memcpy(fixture->weights, weights, weight_count * sizeof *weights);
    fixture->told_accuracy = metrics->test_accuracy;
    return true;
}

static bool is_cancelled(void *owner) {
    struct fixture *fixture = owner;
    return fixture->step_count >= fixture->cancel_at;
}

/* A clock that advances by one second each time it is read. */
static double ticks;

static double next_tick(void *owner) {
    (void)owner;
    return ++ticks;
}

static void set_up(struct fixture *fixture, const char *model, const struct position *position, uint64_t seed,
                   size_t epochs) {
    memset(fixture, 0, sizeof *fixture);
    struct task_request request = {.name = "first-element", .train_seed = 1, .test_seed = 2};
    fixture->task = task_open(&request, NULL, NULL);
    ck_assert_ptr_nonnull(fixture->task);
    struct model_options options = {.steps = 60, .class_count = 2, .width = 32, .position = position};
    fixture->model = model_build(model_find(model), &options);
    fixture->settings = (struct training_settings){.model = &fixture->model,
                                                   .task = fixture->task,
                                                   .seed = seed,
                                                   .order = TORCH_LOADER_DATALOADER,
                                                   .epochs = epochs,
                                                   .batch_size = 64,
                                                   .optimizer = {.learning_rate = 0.005}};
    fixture->host.listener = (struct run_listener){.owner = fixture, .step = on_step, .epoch = on_epoch};
    fixture->host.stop = (struct stop_request){is_cancelled, fixture};
    fixture->host.seconds_now = next_tick;
    ticks = 0;
    fixture->cancel_at = fixture->stop_after_epoch = SIZE_MAX;
}

static bool run(struct fixture *fixture) {
    struct training *training = training_create(&fixture->settings, &fixture->error);
    bool ok = training != NULL && training_run(training, &fixture->host, &fixture->outcome, &fixture->error);
    training_free(training);
    return ok;
}

static void tear_down(struct fixture *fixture) {
    task_free(fixture->task);
    free(fixture->checkpoint);
    free(fixture->weights);
}

static const struct position *position_of(const struct golden_model *golden) {
    return strcmp(golden->position, "none") == 0 ? &position_none : &position_learned;
}

START_TEST(parameter_counts_match_pytorch) {
    static const size_t expected[] = {1186, 4546, 5218, 3298};
    struct fixture fixture;
    set_up(&fixture, golden_models[_i].model, position_of(&golden_models[_i]), 0, 1);
    ck_assert_uint_eq(fixture.model.parameter_count, expected[_i]);
    ck_assert_uint_eq(golden_models[_i].parameter_count, expected[_i]);
    tear_down(&fixture);
}
END_TEST

START_TEST(first_64_losses_match_pytorch) {
    struct fixture fixture;
    const struct golden_model *golden = &golden_models[_i / 3];
    size_t seed = (size_t)_i % 3;
    set_up(&fixture, golden->model, position_of(golden), seed, 2);
    ck_assert_msg(run(&fixture), "%s", fixture.error.message);
    double largest = 0;
    for (size_t i = 0; i < 64; i++)
        largest = fmax(largest, fabs(fixture.losses[i] - golden->losses[seed][i]));
    ck_assert_msg(largest < 1e-5, "%s, %s positions, seed %zu: losses differ by %g", golden->model,
                  golden->position, seed, largest);
    tear_down(&fixture);
}
END_TEST

/* Compares each tensor's gradient relative to its largest value. The key bias is left out: it has no effect
 * after softmax, so its gradient is rounding noise around zero. */
static void compare_gradients(const struct model *model, const float *actual, const double *expected) {
    struct tensor tensors[MODEL_MAXIMUM_TENSORS];
    size_t count = model_tensors(model, tensors);
    for (size_t i = 0; i < count; i++) {
        double largest = 0, difference = 0;
        for (size_t j = tensors[i].offset; j < tensors[i].offset + tensor_element_count(&tensors[i]); j++) {
            largest = fmax(largest, fabs(expected[j]));
            difference = fmax(difference, fabs((double)actual[j] - expected[j]));
        }
        if (strcmp(tensors[i].name, "k.bias") != 0)
            ck_assert_msg(difference <= 1e-5 * largest, "%s: %g of %g", tensors[i].name, difference, largest);
    }
}

START_TEST(forward_and_gradients_match_pytorch) {
    struct fixture fixture;
    const struct golden_model *golden = &golden_models[_i];
    set_up(&fixture, golden->model, position_of(golden), 0, 1);
    const struct kernels *kernels = kernels_choose();
    struct model *model = &fixture.model;
    struct arena measure = arena_measuring(), arena;
    struct model_workspace workspace;
    model_workspace_layout(&workspace, model, 16, true, &measure);
    ck_assert(arena_init(&arena, measure.used + 4096 + 8 * model->parameter_count, NULL));
    model_workspace_layout(&workspace, model, 16, true, &arena);
    float *parameters = arena_floats(&arena, model->parameter_count);
    float *gradient = arena_floats(&arena, model->parameter_count);
    struct torch_generator generator;
    torch_generator_seed(&generator, 0);
    model_initialise(model, parameters, &generator, NULL);

    struct model_batch batch = {.count = 16, .values = fixture.task->train.values};
    const float *logits = model_forward(model, parameters, &workspace, &batch, kernels);
    for (size_t i = 0; i < 32; i++)
        ck_assert_double_le(fabs((double)logits[i] - golden->logits[i]), 1e-5 * fabs(golden->logits[i]));
    float grad_logits[32];
    double loss = cross_entropy(logits, fixture.task->train.labels, 16, 2, 1.0f / 16, grad_logits) / 16;
    ck_assert_double_le(fabs(loss - golden->loss), 1e-6);
    model_backward(model, parameters, &workspace, &batch, grad_logits, NULL, gradient, kernels);
    compare_gradients(model, gradient, golden->gradient);
    arena_free(&arena);
    tear_down(&fixture);
}
END_TEST

/* Measures the accuracy on all test examples in one batch. */
static double measure_accuracy(const struct fixture *fixture) {
    const struct example_set *test = &fixture->task->test;
    struct arena measure = arena_measuring(), arena;
    struct model_workspace workspace;
    model_workspace_layout(&workspace, &fixture->model, test->count, false, &measure);
    ck_assert(arena_init(&arena, measure.used, NULL));
    model_workspace_layout(&workspace, &fixture->model, test->count, false, &arena);
    struct model_batch batch = {.count = test->count, .values = test->values};
    const float *logits =
        model_forward(&fixture->model, fixture->weights, &workspace, &batch, kernels_choose());
    size_t correct = 0;
    for (size_t i = 0; i < test->count; i++)
        correct += (logits[2 * i + 1] > logits[2 * i]) == (test->labels[i] == 1);
    arena_free(&arena);
    return (double)correct / (double)test->count;
}

START_TEST(an_epoch_reports_its_own_loss_and_accuracy) {
    enum { STEPS = 32, LAST_BATCH = 2000 % 64 };
    double whole = 0;
    for (size_t epochs = 1; epochs <= 2; epochs++) {
        struct fixture fixture;
        set_up(&fixture, "attention", &position_learned, 0, epochs);
        ck_assert(run(&fixture));
        const double *losses = fixture.losses + (epochs - 1) * STEPS;
        double sum = losses[STEPS - 1] * LAST_BATCH;
        for (size_t i = 0; i < STEPS - 1; i++)
            sum += losses[i] * 64;
        ck_assert_double_le(fabs(fixture.outcome.train_loss - sum / 2000), 1e-12);
        ck_assert_double_eq(fixture.told_accuracy, measure_accuracy(&fixture));
        ck_assert_double_eq(fixture.outcome.test_accuracy, fixture.told_accuracy);
        ck_assert_double_ne(fixture.told_accuracy,
                            whole); /* or a mix-up of the two epochs would go unnoticed */
        whole = fixture.told_accuracy;
        tear_down(&fixture);
    }
}
END_TEST

/* As with argmax in PyTorch and numpy. */
START_TEST(the_first_of_equal_values_is_the_largest) {
    static const float values[] = {1, 3, 2, 3};
    ck_assert_uint_eq(largest_index(values, 4), 1);
    ck_assert_uint_eq(largest_index(values + 1, 1), 0);
}
END_TEST

START_TEST(cancelling_takes_effect_at_the_next_step) {
    struct fixture fixture;
    set_up(&fixture, "rnn", &position_none, 0, 5);
    fixture.cancel_at = 40;
    ck_assert(!run(&fixture));
    ck_assert_int_eq(fixture.error.code, ERROR_CANCELLED);
    ck_assert_uint_eq(fixture.step_count, 40);
    tear_down(&fixture);
}
END_TEST

START_TEST(resuming_gives_the_bits_of_an_uninterrupted_run) {
    struct fixture whole, first, second;
    const struct golden_model *golden = &golden_models[_i];
    set_up(&whole, golden->model, position_of(golden), 3, 3);
    ck_assert(run(&whole));
    set_up(&first, golden->model, position_of(golden), 3, 3);
    first.stop_after_epoch = 1;
    ck_assert(run(&first));
    set_up(&second, golden->model, position_of(golden), 3, 3);
    second.host.checkpoint = first.checkpoint;
    second.host.checkpoint_size = first.checkpoint_size;
    ck_assert_msg(run(&second), "%s", second.error.message);
    ck_assert_uint_eq(second.epoch_count, 2);
    ck_assert_uint_eq(second.outcome.steps, whole.outcome.steps);
    ck_assert(second.outcome.train_loss == whole.outcome.train_loss);
    ck_assert_double_eq(second.outcome.seconds,
                        whole.outcome.seconds); /* includes the time before the interruption */
    ck_assert(second.outcome.test_accuracy == whole.outcome.test_accuracy);
    ck_assert_mem_eq(second.weights, whole.weights, whole.model.parameter_count * sizeof(float));
    ck_assert_mem_ne(first.weights, whole.weights, whole.model.parameter_count * sizeof(float));
    tear_down(&whole);
    tear_down(&first);
    tear_down(&second);
}
END_TEST

/* The moments of each optimiser are in the checkpoint; that of SGD begins with the run's first gradient. */
START_TEST(every_optimizer_resumes_with_the_same_bits) {
    struct optimizer_settings settings = {(enum optimizer_kind)(_i / 2), 0.005,
                                          _i % 2 && optimizer_table[_i / 2].takes_momentum ? 0.9 : 0,
                                          _i % 2 ? 0.01 : 0};
    struct fixture whole, first, second;
    struct fixture *const all[] = {&whole, &first, &second};
    for (size_t i = 0; i < 3; i++) {
        set_up(all[i], "rnn", &position_none, 3, 2);
        all[i]->settings.optimizer = settings;
    }
    ck_assert(run(&whole));
    first.stop_after_epoch = 1;
    ck_assert(run(&first));
    second.host.checkpoint = first.checkpoint;
    second.host.checkpoint_size = first.checkpoint_size;
    ck_assert_msg(run(&second), "%s", second.error.message);
    ck_assert_mem_eq(second.weights, whole.weights, whole.model.parameter_count * sizeof(float));
    ck_assert_mem_ne(first.weights, whole.weights, whole.model.parameter_count * sizeof(float));
    for (size_t i = 0; i < 3; i++)
        tear_down(all[i]);
}
END_TEST

START_TEST(a_checkpoint_of_another_run_is_refused) {
    struct fixture other, fixture;
    set_up(&other, "rnn", &position_none, 0, 1);
    ck_assert(run(&other));
    set_up(&fixture, "rnn", &position_none, 0, 2);
    fixture.settings.batch_size = 32;
    fixture.host.checkpoint = other.checkpoint;
    fixture.host.checkpoint_size = other.checkpoint_size;
    ck_assert(!run(&fixture));
    ck_assert_int_eq(fixture.error.code, ERROR_INVALID);
    fixture.error.code = ERROR_NONE;
    fixture.settings.batch_size = 64;
    fixture.host.checkpoint_size--;
    ck_assert(!run(&fixture));
    ck_assert_int_eq(fixture.error.code, ERROR_INVALID);
    fixture.host.checkpoint_size++;
    fixture.error.code = ERROR_NONE;
    other.checkpoint[0] ^= 1;
    ck_assert(!run(&fixture));
    ck_assert_int_eq(fixture.error.code, ERROR_INVALID);
    tear_down(&other);
    tear_down(&fixture);
}
END_TEST

/* An executor whose threads take indices from a shared counter. */
struct pool {
    size_t threads;
    size_t next, count;
    void (*work)(void *argument, size_t index);
    void *argument;
};

static void *pool_thread(void *argument) {
    struct pool *pool = argument;
    for (;;) {
        size_t index = __atomic_fetch_add(&pool->next, 1, __ATOMIC_SEQ_CST);
        if (index >= pool->count)
            return NULL;
        pool->work(pool->argument, index);
    }
}

static void pool_run(void *owner, size_t count, void (*work)(void *argument, size_t index), void *argument) {
    struct pool *pool = owner;
    pthread_t threads[8];
    pool->next = 0;
    pool->count = count;
    pool->work = work;
    pool->argument = argument;
    for (size_t i = 0; i < pool->threads; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, pool_thread, pool), 0);
    for (size_t i = 0; i < pool->threads; i++)
        pthread_join(threads[i], NULL);
}

START_TEST(any_number_of_threads_gives_the_same_bits) {
    static const size_t threads[] = {1, 2, 8};
    const struct golden_model *golden = &golden_models[_i];
    struct fixture plain;
    set_up(&plain, golden->model, position_of(golden), 0, 1);
    ck_assert(run(&plain));
    for (int i = 0; i < COUNT_OF(threads); i++) {
        struct pool pool = {.threads = threads[i]};
        struct fixture threaded;
        set_up(&threaded, golden->model, position_of(golden), 0, 1);
        threaded.host.parallel = (struct parallel_executor){&pool, pool_run};
        ck_assert(run(&threaded));
        ck_assert_msg(memcmp(threaded.weights, plain.weights, plain.model.parameter_count * sizeof(float)) ==
                          0,
                      "%zu threads", threads[i]);
        ck_assert_mem_eq(threaded.losses, plain.losses, 32 * sizeof(double));
        tear_down(&threaded);
    }
    tear_down(&plain);
}
END_TEST

START_TEST(a_diverging_run_says_where_and_what_to_try) {
    struct fixture fixture;
    set_up(&fixture, golden_models[_i].model, position_of(&golden_models[_i]), 0, 20);
    fixture.settings.optimizer.learning_rate = 3e37;
    ck_assert(!run(&fixture));
    ck_assert_int_eq(fixture.error.code, ERROR_DIVERGED);
    ck_assert_ptr_nonnull(strstr(fixture.error.message, "learning_rate"));
    unsigned long step = 0, epoch = 0;
    const char *place = strstr(fixture.error.message, " at step ");
    ck_assert_ptr_nonnull(place);
    ck_assert_int_eq(sscanf(place, " at step %lu (epoch %lu)", &step, &epoch), 2);
    ck_assert_uint_le(step - fixture.step_count, 1); /* a step whose loss is not finite is not reported */
    ck_assert_uint_eq(epoch, (step + 31) / 32);
    tear_down(&fixture);
}
END_TEST

/* An epoch is one step here: then the second loss, 31 times that of guessing, depends only on the signs of
 * the first gradients. After many such steps rounding errors would be as large as the loss itself. */
START_TEST(only_a_loss_that_is_not_finite_ends_a_run) {
    struct fixture fixture;
    set_up(&fixture, "attention", &position_learned, 0, 2);
    fixture.settings.batch_size = 2000;
    fixture.settings.optimizer.learning_rate = 0.9;
    ck_assert_msg(run(&fixture), "%s", fixture.error.message);
    ck_assert_double_gt(fixture.outcome.train_loss, 30 * log(2));
    tear_down(&fixture);
}
END_TEST

/* Runs whose loss jumps late, to 59 in the first one, as it does in PyTorch, and comes back. */
static const struct {
    uint64_t seed;
    size_t train, test, epochs;
} bumpy_runs[] = {{17, 2000, 600, 100}, {3, 500, 300, 240}};

START_TEST(a_run_whose_loss_jumps_goes_on) {
    struct fixture fixture;
    set_up(&fixture, "attention", &position_learned, bumpy_runs[_i].seed, bumpy_runs[_i].epochs);
    task_free(fixture.task);
    struct task_request request = {.name = "first-element",
                                   .train_examples = bumpy_runs[_i].train,
                                   .test_examples = bumpy_runs[_i].test,
                                   .train_seed = 1,
                                   .test_seed = 2};
    fixture.task = task_open(&request, NULL, NULL);
    fixture.settings.task = fixture.task;
    ck_assert_msg(run(&fixture), "%s", fixture.error.message);
    ck_assert_uint_eq(fixture.epoch_count, bumpy_runs[_i].epochs + 1);
    ck_assert(isfinite(fixture.outcome.train_loss));
    tear_down(&fixture);
}
END_TEST

START_TEST(weights_that_are_not_finite_are_noticed_after_the_last_step) {
    struct fixture fixture;
    set_up(&fixture, "attention", &position_learned, 0, 1);
    fixture.settings.batch_size = 2000; /* one step, whose own loss is still finite */
    fixture.settings.optimizer.learning_rate = 1e39;
    ck_assert(!run(&fixture));
    ck_assert_uint_eq(fixture.step_count, 1);
    ck_assert(isfinite(fixture.losses[0]));
    ck_assert_int_eq(fixture.error.code, ERROR_DIVERGED);
    ck_assert_ptr_nonnull(
        strstr(fixture.error.message, "the weights stopped being finite at step 1 (epoch 1)"));
    tear_down(&fixture);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, parameter_counts_match_pytorch, 0, 4);
    tcase_add_loop_test(tests, forward_and_gradients_match_pytorch, 0, 4);
    tcase_add_loop_test(tests, first_64_losses_match_pytorch, 0, 12);
    tcase_add_test(tests, an_epoch_reports_its_own_loss_and_accuracy);
    tcase_add_test(tests, the_first_of_equal_values_is_the_largest);
    tcase_add_test(tests, cancelling_takes_effect_at_the_next_step);
    tcase_add_loop_test(tests, resuming_gives_the_bits_of_an_uninterrupted_run, 0, 4);
    tcase_add_loop_test(tests, every_optimizer_resumes_with_the_same_bits, 0, 2 * OPTIMIZER_COUNT);
    tcase_add_test(tests, a_checkpoint_of_another_run_is_refused);
    tcase_add_loop_test(tests, any_number_of_threads_gives_the_same_bits, 0, 4);
    tcase_add_loop_test(tests, a_diverging_run_says_where_and_what_to_try, 0, 4);
    tcase_add_test(tests, only_a_loss_that_is_not_finite_ends_a_run);
    tcase_add_loop_test(tests, a_run_whose_loss_jumps_goes_on, 0, COUNT_OF(bumpy_runs));
    tcase_add_test(tests, weights_that_are_not_finite_are_noticed_after_the_last_step);
}
