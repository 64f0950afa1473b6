/* Measures the speed of each kind of work: see run_speed.h. */
#include "core/experiments/run_speed.h"

#include "core/experiments/drawn_model.h"
#include "core/layers/positions/position.h"
#include "core/math/denormals.h"

#include <math.h>
#include <string.h>

enum { ATTEMPTS = 3, STEPS = 60, EXAMPLES = 16, DRAWS = 20000, NUMBERS = 2000, BYTES = 4 << 20 };

/* What a measurement works on, and with which clock. */
struct bench {
    const struct result_sink *sink;
    struct arena arena;
    float *numbers;
    struct task *task;
    struct drawn_model model;
    double (*seconds_now)(void);
};

static void pass_model(struct bench *bench) {
    const struct example_set *examples = &bench->task->train;
    struct drawn_model *model = &bench->model;
    struct model_batch batch = {.count = EXAMPLES, .values = examples->values};
    unsigned denormals = denormals_flush();
    const float *logits = drawn_model_forward(model, examples->values, EXAMPLES);
    memcpy(bench->numbers, logits, EXAMPLES * model->model.class_count * sizeof *logits);
    model_backward(&model->model, model->parameters, &model->workspace, &batch, bench->numbers, NULL,
                   bench->numbers + DRAWS, model->kernels);
    denormals_restore(denormals);
}

static void draw(struct bench *bench) {
    struct torch_generator generator;
    torch_generator_seed(&generator, 0);
    torch_normal(&generator, bench->numbers, DRAWS, 0, 1);
}

static void write_numbers(struct bench *bench) {
    result_vector(bench->sink, NULL, bench->numbers, NUMBERS);
}

/* New pages come from the system each time, because a block of this size goes back to it. */
static void use_memory(struct bench *bench) {
    struct arena arena;
    (void)bench;
    if (!arena_init(&arena, BYTES, NULL))
        return;
    memset(arena.base, 1, BYTES);
    arena_free(&arena);
}

/* The seconds of the fastest of several attempts, divided by the amount of work. */
static double measure(struct bench *bench, void (*work)(struct bench *bench), double amount) {
    double best = HUGE_VAL;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        double start = bench->seconds_now();
        work(bench);
        best = fmin(best, bench->seconds_now() - start);
    }
    return best / amount;
}

/* The mean over models whose work is of different kinds: small products, exponentials, pairs of steps. */
static bool measure_models(struct bench *bench, double *seconds, struct error *error) {
    enum { FORWARD_AND_BACKWARD = 3 };
    static const struct {
        const char *name;
        const struct position *position;
    } models[] = {{"lstm", &position_none}, {"gru", &position_none}, {"attention", &position_rotary}};
    size_t count = sizeof models / sizeof models[0];
    *seconds = 0;
    for (size_t i = 0; i < count; i++) {
        struct drawn_model_request request = {.name = models[i].name,
                                              .steps = STEPS,
                                              .examples = EXAMPLES,
                                              .position = models[i].position,
                                              .with_gradients = true};
        struct torch_generator generator;
        torch_generator_seed(&generator, 0);
        if (!drawn_model_open(&bench->model, &request, &generator, error)) {
            drawn_model_close(&bench->model);
            return false;
        }
        double operations = FORWARD_AND_BACKWARD * EXAMPLES * model_operations(&bench->model.model);
        *seconds += measure(bench, pass_model, operations) / (double)count;
        drawn_model_close(&bench->model);
    }
    return true;
}

/* Up to the next of eight steps between a power of two and the next; so that no work is ever free, even if
 * the clock is too coarse to see it. */
static double round_up(double seconds) {
    static const double least = 1e-13, steps = 8;
    return exp2(ceil(steps * log2(fmax(seconds, least))) / steps);
}

/* A measurement finds its memory in the cache; a run, less so. */
static const double run_factor = 1.3;

bool run_speed_measure(struct run_speed *speed, const struct result_sink *sink, double (*seconds_now)(void),
                       struct error *error) {
    enum { GRADIENT = 20000 }; /* room for the gradient of each of the models */
    struct bench bench = {.sink = sink, .seconds_now = seconds_now};
    bool done = false;
    if (!arena_init(&bench.arena, (DRAWS + GRADIENT) * sizeof(float), error))
        return false;
    bench.numbers = arena_floats(&bench.arena, DRAWS + GRADIENT);
    bench.task = drawn_examples_open(EXAMPLES, STEPS, 0, error);
    if (bench.task == NULL || !measure_models(&bench, &speed->seconds[WORK_ARITHMETIC], error))
        goto cleanup;
    speed->seconds[WORK_DRAWS] = measure(&bench, draw, DRAWS);
    result_begin_array(sink, NULL);
    speed->seconds[WORK_NUMBERS] = measure(&bench, write_numbers, NUMBERS);
    result_end_array(sink);
    speed->seconds[WORK_BYTES] = measure(&bench, use_memory, BYTES);
    for (int kind = 0; kind < WORK_KIND_COUNT; kind++)
        speed->seconds[kind] = round_up(run_factor * speed->seconds[kind]);
    done = true;
cleanup:
    task_free(bench.task);
    arena_free(&bench.arena);
    return done;
}

double run_cost_seconds(const struct run_cost *cost, const struct run_speed *speed) {
    double seconds = 0;
    for (int kind = 0; kind < WORK_KIND_COUNT; kind++)
        seconds += cost->work[kind] * speed->seconds[kind];
    return seconds;
}
