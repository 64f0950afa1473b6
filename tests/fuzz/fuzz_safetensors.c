/* Exported weights. After an even first byte, the next bytes choose a model and its sizes; the strict reader
 * must accept the file that is written, and find the model's names, shapes and numbers. After an odd first
 * byte, the rest is a file for the reader itself, which the tests rely on: it must accept only consistent
 * files. */
#include "core/layers/positions/position.h"
#include "core/model/models.h"
#include "core/model/safetensors.h"
#include "tests/support/safetensors_reader.h"

#include <stdlib.h>
#include <string.h>

enum { CHOICES = 8, PARAMETERS_MAXIMUM = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct safetensors_file file;

static const struct position *choose_position(uint8_t choice, size_t head_width) {
    size_t count = 1;
    while (position_table[count] != NULL)
        count++;
    const struct position *position = position_table[choice % count];
    return position_fits(position, head_width) ? position : NULL;
}

/* Every combination that `train` allows, with small sizes. */
static struct model choose_model(const uint8_t choices[CHOICES]) {
    static const size_t heads[] = {1, 2, 4};
    struct model_options options = {.steps = 1 + choices[1] % 50,
                                    .vocabulary_size = choices[2] % 3 == 0 ? choices[2] + 2u : 0,
                                    .class_count = 1 + choices[3] % 20,
                                    .width = 4 * (1 + choices[4] % 16u),
                                    .mask = choices[5] / 3 % 2,
                                    .heads = heads[choices[5] / 6 % 3],
                                    .layers = 1 + choices[6] % MODEL_MAXIMUM_BLOCKS,
                                    .feedforward_width = 1 + choices[7],
                                    .activation = choices[6] / MODEL_MAXIMUM_BLOCKS % 2};
    options.position = choose_position(choices[5], options.width / options.heads);
    return model_build(&model_table[choices[0] % model_table_count], &options);
}

static void check_tensor(const struct tensor *tensor, const struct safetensors_entry *entry) {
    if (strcmp(entry->name, tensor->name) != 0 || entry->rank != tensor->rank ||
        entry->first != tensor->offset || entry->count != tensor_element_count(tensor))
        abort();
    for (size_t i = 0; i < tensor->rank; i++)
        if (entry->shape[i] != tensor->shape[i])
            abort();
}

static void check_written(const uint8_t choices[CHOICES]) {
    struct tensor tensors[MODEL_MAXIMUM_TENSORS];
    struct model model = choose_model(choices);
    struct error error = {0};
    void *written;
    size_t size;
    if (model.parameter_count > PARAMETERS_MAXIMUM)
        return;
    float *parameters = malloc(model.parameter_count * sizeof *parameters);
    if (parameters == NULL)
        abort();
    for (size_t i = 0; i < model.parameter_count; i++)
        parameters[i] = (float)i * 0.25f;
    if (!safetensors_write(&model, parameters, NULL, &written, &size, &error) ||
        !safetensors_read(written, size, &file))
        abort();
    size_t count = model_tensors(&model, tensors);
    if (count != file.entry_count || file.number_count != model.parameter_count ||
        memcmp(file.numbers, parameters, model.parameter_count * sizeof *parameters) != 0)
        abort();
    for (size_t i = 0; i < count; i++)
        check_tensor(&tensors[i], &file.entries[i]);
    free(parameters);
    free(written);
}

static void check_read(const uint8_t *bytes, size_t size) {
    size_t next = 0;
    if (!safetensors_read(bytes, size, &file))
        return;
    for (size_t i = 0; i < file.entry_count; i++) {
        if (file.entries[i].first != next)
            abort();
        next += file.entries[i].count;
    }
    if (next != file.number_count || file.numbers + next * sizeof(float) != bytes + size)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    uint8_t choices[CHOICES] = {0};
    if (size == 0)
        return 0;
    if (bytes[0] % 2 == 1) {
        check_read(bytes + 1, size - 1);
        return 0;
    }
    memcpy(choices, bytes + 1, size - 1 < CHOICES ? size - 1 : CHOICES);
    check_written(choices);
    return 0;
}
