/* Checkpoints and weights as a damaged store could return them. Whatever the bytes, a run that resumes from
 * them succeeds or fails with an error, and a model predicts with any weights.
 *
 * The first byte chooses the model. No fuzzer would find a checkpoint's checksum, so the harness corrects it
 * to reach the members after it. The bytes are also tried unchanged, and as weights. */
#include "core/experiments/experiment.h"
#include "core/parameters/parse.h"
#include "core/training/checkpoint.h"
#include "core/training/inspection.h"
#include "server/formats/json_writer.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char *const models[] = {"rnn", "lstm", "attention", "transformer"};
enum { MODELS = sizeof models / sizeof *models, WEIGHTS_MAXIMUM = 4096 };

static const struct data_source no_data;

static void set_parameter(struct parameter_set *set, const char *name, const char *value) {
    struct parameter_faults faults = {0};
    if (!parameter_set_from_text(set, (size_t)parameter_find(set, name), value, &faults))
        abort();
}

static void prepare(struct parameter_set *set, const char *model) {
    const struct experiment *train = experiment_find("train");
    struct parameter_faults faults = {0};
    struct error error = {0};
    if (!parameter_set_init(set, train->parameters, train->parameter_count, &error))
        abort();
    set_parameter(set, "model", model);
    set_parameter(set, "width", "4");
    set_parameter(set, "heads", "2");
    set_parameter(set, "feedforward_width", "4");
    set_parameter(set, "sequence_length", "3");
    set_parameter(set, "train_examples", "6");
    set_parameter(set, "test_examples", "2");
    set_parameter(set, "batch_size", "4");
    set_parameter(set, "epochs", "2");
    if (!experiment_prepare(train, set, &no_data, 1 << 30, &faults, &error) || faults.count > 0)
        abort();
}

static double no_time(void *owner) {
    (void)owner;
    return 0;
}

static void go_on(const struct parameter_set *set, const void *checkpoint, size_t size) {
    struct text text = {.maximum = TEXT_UNLIMITED};
    struct error error = {0};
    struct experiment_context context = {
        .parameters = set,
        .result = json_result_sink(&text),
        .host = {.seconds_now = no_time, .checkpoint = checkpoint, .checkpoint_size = size}};
    if (experiment_find("train")->run(&context, &error)) {
        json_t *result = json_loadb(text.bytes, text.length, 0, NULL);
        if (result == NULL)
            abort();
        json_decref(result);
    } else if (error.code != ERROR_INVALID && error.code != ERROR_DIVERGED) {
        abort();
    }
    text_free(&text);
}

static void ask_model(const struct parameter_set *set, const void *bytes, size_t size) {
    static float weights[WEIGHTS_MAXIMUM];
    const float sequence[3] = {0, 1, 0.5f};
    struct error error = {0};
    struct prediction prediction;
    struct attention_mean mean;
    struct inspection *inspection = inspection_open(set, &no_data, NULL, &error);
    if (inspection == NULL || inspection_weight_count(inspection) > WEIGHTS_MAXIMUM)
        abort();
    size_t wanted = inspection_weight_count(inspection) * sizeof *weights;
    memcpy(weights, bytes, size < wanted ? size : wanted);
    if (!inspection_load_weights(inspection, weights, inspection_weight_count(inspection), &error) ||
        !inspection_predict_sequence(inspection, sequence, 3, &prediction, &error) ||
        prediction.label >= prediction.class_count)
        abort();
    if (inspection_layer_count(inspection) > 0 &&
        (!inspection_mean_attention(inspection, &mean, &error) || mean.argmax >= mean.keys))
        abort();
    inspection_close(inspection);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static struct parameter_set sets[MODELS];
    if (size == 0)
        return 0;
    struct parameter_set *set = &sets[bytes[0] % MODELS];
    if (set->values == NULL)
        prepare(set, models[bytes[0] % MODELS]);
    size_t checkpoint_bytes = size - 1;
    unsigned char *checkpoint = malloc(checkpoint_bytes + 1);
    if (checkpoint == NULL)
        abort();
    memcpy(checkpoint, bytes + 1, checkpoint_bytes);
    go_on(set, checkpoint, checkpoint_bytes);
    checkpoint_seal(checkpoint, checkpoint_bytes);
    go_on(set, checkpoint, checkpoint_bytes);
    ask_model(set, checkpoint, checkpoint_bytes);
    free(checkpoint);
    return 0;
}
