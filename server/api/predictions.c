/* The predictions of a trained run for the sequences or texts in a request. */
#include "server/api/parameters.h"

#include "server/formats/json_parameters.h"
#include "server/formats/json_writer.h"

#include <stdlib.h>
#include <string.h>

/* The mean over the heads of the first layer: [length][length]. */
static void write_mean_attention(struct text *text, const struct prediction *prediction) {
    size_t size = prediction->length * prediction->length;
    float *mean = calloc(size ? size : 1, sizeof *mean);
    if (!mean) {
        text->failed = true;
        return;
    }
    for (size_t head = 0; head < prediction->heads; head++)
        for (size_t i = 0; i < size; i++)
            mean[i] += prediction->attention[head * size + i] / (float)prediction->heads;
    struct result_sink sink = json_result_sink(text);
    result_matrix(&sink, "attention", mean, prediction->length, prediction->length);
    free(mean);
}

/* Every head of every layer: [layers][heads][length][length]. */
static void write_all_heads(struct text *text, const struct prediction *prediction) {
    struct result_sink sink = json_result_sink(text);
    size_t layer_size = prediction->heads * prediction->length * prediction->length;
    json_write_begin_array(text, "attention_by_head");
    for (size_t layer = 0; layer < prediction->layers; layer++) {
        result_tensor(&sink, NULL, prediction->attention + layer * layer_size, prediction->heads,
                      prediction->length, prediction->length);
    }
    json_write_end_array(text);
}

static void write_prediction(struct text *text, const struct inspection *inspection,
                             const struct prediction *prediction, bool all_heads) {
    struct result_sink sink = json_result_sink(text);
    json_write_begin_object(text, NULL);
    json_write_label(text, "label", inspection_class_name(inspection, prediction->label));
    json_write_integer(text, "class_index", (int64_t)prediction->label);
    result_vector(&sink, "probabilities", prediction->probabilities, prediction->class_count);
    result_vector(&sink, "logits", prediction->logits, prediction->class_count);
    if (prediction->tokens) {
        json_write_strings(text, "tokens", prediction->tokens, prediction->token_count);
        json_write_booleans(text, "unknown", prediction->unknown, prediction->token_count);
    }
    if (prediction->attention)
        write_mean_attention(text, prediction);
    else
        json_write_null(text, "attention");
    if (prediction->attention && all_heads)
        write_all_heads(text, prediction);
    json_write_end_object(text);
}

/* The most bytes of an answer for these inputs, with the mean attention that is computed for one of them. */
static size_t predictions_size(const struct inspection *inspection, const json_t *inputs, bool all_heads) {
    size_t steps = inspection_step_count(inspection), classes = inspection_class_count(inspection), names = 0;
    bool has_matrices = inspection_layer_count(inspection) > 0 && inspection_query_limit(inspection) == steps;
    size_t heads = all_heads ? inspection_layer_count(inspection) * inspection_head_count(inspection) : 0;
    for (size_t i = 0; i < classes; i++)
        names += ANSWER_ESCAPED * strlen(inspection_class_name(inspection, i)) + 3;
    size_t size = answer_add(ANSWER_OBJECT + names, answer_multiply(steps * steps, sizeof(float)));
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i);
        size_t bytes = json_string_length(input),
               length = json_is_string(input) ? bytes : json_array_size(input);
        length = length < steps ? length : steps;
        size_t matrix = has_matrices ? length * (length * ANSWER_REAL + 3) + 3 : 0;
        size_t words = ANSWER_ESCAPED * bytes + length * sizeof "\"\",false,";
        size = answer_add(size, ANSWER_OBJECT + names + classes * 2 * ANSWER_REAL + words);
        size = answer_add(size, answer_multiply(heads + 1, matrix));
    }
    return size;
}

static bool predict_sequence(struct inspection *inspection, const json_t *input,
                             struct prediction *prediction, struct error *error) {
    size_t length = json_array_size(input);
    float *values = calloc(length + 1, sizeof *values);
    if (!values)
        return error_set_memory(error, (length + 1) * sizeof *values);
    for (size_t i = 0; i < length; i++)
        values[i] = (float)json_number_value(json_array_get(input, i));
    bool is_predicted = inspection_predict_sequence(inspection, values, length, prediction, error);
    free(values);
    return is_predicted;
}

static bool is_sequence(const json_t *input) {
    size_t length = json_array_size(input);
    for (size_t i = 0; i < length; i++)
        if (!json_is_number(json_array_get(input, i)))
            return false;
    return length > 0 && length <= API_INPUT_LENGTH_MAXIMUM;
}

/* The list of inputs; NULL with faults if it is invalid. */
static const json_t *read_inputs(const json_t *object, bool *are_texts, struct parameter_faults *faults) {
    static const char *const known[] = {"sequences", "texts", NULL};
    const struct parameter_set nothing = {0};
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value) {
        if (strcmp(name, "sequences") != 0 && strcmp(name, "texts") != 0)
            json_add_unknown_fault(name, &nothing, known, faults);
    }
    const json_t *texts = json_object_get(object, "texts");
    const json_t *sequences = json_object_get(object, "sequences");
    const json_t *inputs = texts ? texts : sequences;
    *are_texts = texts != NULL;
    const char *field = texts ? "texts" : "sequences";
    size_t count = json_array_size(inputs);
    if (!inputs || (texts && sequences)) {
        parameter_faults_add(faults, field, "must be given alone: either sequences or texts");
    } else if (count == 0 || count > API_INPUTS_MAXIMUM) {
        parameter_faults_add(faults, field, "must be a list of 1 to %d inputs; got %zu", API_INPUTS_MAXIMUM,
                             count);
    }
    for (size_t i = 0; i < count && i < API_INPUTS_MAXIMUM; i++) {
        const json_t *input = json_array_get(inputs, i);
        if (texts ? !api_is_text(input, API_INPUT_TEXT_MAXIMUM) : !is_sequence(input)) {
            parameter_faults_add(faults, field,
                                 texts ? "input %zu must be a text of at most %d characters"
                                       : "input %zu must be a list of 1 to %d numbers",
                                 i, texts ? API_INPUT_TEXT_MAXIMUM : API_INPUT_LENGTH_MAXIMUM);
        }
    }
    return inputs;
}

/* Returns false only on an internal failure; invalid inputs are added to the faults. */
static bool write_predictions(struct request *request, struct text *text, struct inspection *inspection,
                              const json_t *inputs, bool are_texts, bool all_heads,
                              struct parameter_faults *faults, struct error *error) {
    json_write_begin_array(text, "predictions");
    for (size_t i = 0; i < json_array_size(inputs) && !request_check_left(request); i++) {
        const json_t *input = json_array_get(inputs, i);
        struct prediction prediction = {0};
        struct error failure = {0};
        bool is_predicted =
            are_texts ? inspection_predict_text(inspection, json_string_value(input), &prediction, &failure)
                      : predict_sequence(inspection, input, &prediction, &failure);
        if (is_predicted)
            write_prediction(text, inspection, &prediction, all_heads);
        else if (failure.code == ERROR_INVALID)
            parameter_faults_add(faults, are_texts ? "texts" : "sequences", "input %zu: %s", i,
                                 failure.message);
        else
            return error_set(error, failure.code, "%s", failure.message);
    }
    json_write_end_array(text);
    return true;
}

void api_predictions_create(struct request *request) {
    struct inspector *inspector = request->service->inspector;
    struct parameter_faults faults = {0};
    struct error error = {0};
    struct text text = {0};
    bool are_texts;
    const json_t *inputs = read_inputs(request->json, &are_texts, &faults);
    struct inspector_slot *slot = inspector_acquire_run(inspector, request_path_value(request, 0),
                                                        STORE_LAST_EPOCH, request_stop(request), &error);
    bool all_heads = parameter_boolean(&request->query, "all_heads");
    if (!slot) {
        response_set_error(&request->response, &error);
    } else if (!api_answer_faults(request, &faults) &&
               answer_begin(request, &text, predictions_size(slot->inspection, inputs, all_heads))) {
        json_write_begin_object(&text, NULL);
        json_write_begin_array(&text, "classes");
        for (size_t i = 0; i < inspection_class_count(slot->inspection); i++)
            json_write_label(&text, NULL, inspection_class_name(slot->inspection, i));
        json_write_end_array(&text);
        if (!write_predictions(request, &text, slot->inspection, inputs, are_texts, all_heads, &faults,
                               &error)) {
            response_set_error(&request->response, &error);
        } else if (!api_answer_faults(request, &faults)) {
            json_write_end_object(&text);
            response_set_json(&request->response, 200, &text);
        }
    }
    inspector_release(inspector, slot);
    parameter_faults_free(&faults);
    text_free(&text);
}
