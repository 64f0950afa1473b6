/* The attention matrices and the mean attention of a trained run, recomputed from its weights. */
#include "server/api/parameters.h"
#include "server/api/snapshots.h"

#include "server/formats/csv.h"
#include "server/formats/json_writer.h"

#include <stdlib.h>
#include <string.h>

struct question {
    size_t epoch, example, layer;
    int head;
    struct attention_window window;
};

struct shown_matrix {
    const struct inspector_slot *slot;
    const struct question *question;
    struct attention_matrix matrix;
};

static bool write_matrix_json(struct request *request, const void *shown, struct text *text,
                              struct error *error) {
    const struct inspector_slot *slot = ((const struct shown_matrix *)shown)->slot;
    const struct question *question = ((const struct shown_matrix *)shown)->question;
    const struct attention_matrix *matrix = &((const struct shown_matrix *)shown)->matrix;
    struct result_sink sink = json_result_sink(text);
    json_write_begin_object(text, NULL);
    json_write_integer(text, "epoch", (int64_t)slot->epoch);
    if (!api_write_epochs_kept(request->service, text, request_path_value(request, 0), error))
        return false;
    json_write_integer(text, "example", (int64_t)question->example);
    json_write_integer(text, "examples", (int64_t)inspection_test_example_count(slot->inspection));
    json_write_integer(text, "layer", (int64_t)question->layer);
    if (question->head == INSPECTION_HEAD_MEAN)
        json_write_string(text, "head", "mean");
    else
        json_write_integer(text, "head", question->head);
    json_write_integer(text, "heads", (int64_t)inspection_head_count(slot->inspection));
    json_write_integer(text, "layers", (int64_t)inspection_layer_count(slot->inspection));
    json_write_integer(text, "query_from", (int64_t)matrix->first_query);
    json_write_integer(text, "queries", (int64_t)matrix->all_queries);
    json_write_strings(text, "query_labels", matrix->query_labels, matrix->queries);
    json_write_strings(text, "key_labels", matrix->key_labels, matrix->keys);
    result_matrix(&sink, "weights", matrix->weights, matrix->queries, matrix->keys);
    json_write_end_object(text);
    return true;
}

static size_t labels_size(const char *const *labels, size_t count) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += ANSWER_ESCAPED * strlen(labels[i]) + 3;
    return size;
}

/* The most bytes that the matrix takes in any format, with its labels and the epochs that are kept. */
static size_t matrix_size(const struct attention_matrix *matrix) {
    return ANSWER_OBJECT + API_EPOCHS_BYTES + matrix->queries * (matrix->keys * ANSWER_REAL + 3) +
           labels_size(matrix->query_labels, matrix->queries) + labels_size(matrix->key_labels, matrix->keys);
}

/* The first row and the first column contain the labels. */
static bool write_matrix_csv(struct request *request, const void *shown, struct text *text,
                             struct error *error) {
    const struct attention_matrix *matrix = &((const struct shown_matrix *)shown)->matrix;
    (void)request, (void)error;
    text_append_string(text, "query");
    for (size_t j = 0; j < matrix->keys; j++) {
        csv_next_field(text);
        csv_append_field(text, matrix->key_labels[j]);
    }
    csv_end_row(text);
    for (size_t i = 0; i < matrix->queries; i++) {
        csv_append_field(text, matrix->query_labels[i]);
        for (size_t j = 0; j < matrix->keys; j++) {
            csv_next_field(text);
            csv_append_real(text, matrix->weights[i * matrix->keys + j]);
        }
        csv_end_row(text);
    }
    return true;
}

static bool write_matrix_npy(struct request *request, const void *shown, struct text *text,
                             struct error *error) {
    const struct attention_matrix *matrix = &((const struct shown_matrix *)shown)->matrix;
    (void)request, (void)error;
    npy_append_matrix(text, matrix->weights, matrix->queries, matrix->keys);
    return true;
}

const struct export api_attention_exports[] = {
    {FORMAT_JSON, write_matrix_json}, {FORMAT_CSV, write_matrix_csv}, {FORMAT_NPY, write_matrix_npy}, {0}};

/* Checks what the model and its test set limit. An example's number of queries is known only when the model
 * is run. */
static void check_question(const struct inspection *inspection, const struct question *question,
                           struct parameter_faults *faults) {
    size_t examples = inspection_test_example_count(inspection);
    size_t layers = inspection_layer_count(inspection), heads = inspection_head_count(inspection);
    if (layers == 0) /* nothing exists to ask for; inspection_attention_rows reports that */
        return;
    if (question->example >= examples)
        parameter_faults_add(faults, "example", "must be below %zu, the number of test examples; got %zu",
                             examples, question->example);
    if (question->layer >= layers)
        parameter_faults_add(faults, "layer", "must be below %zu, the number of layers; got %zu", layers,
                             question->layer);
    if (question->head != INSPECTION_HEAD_MEAN && (size_t)question->head >= heads)
        parameter_faults_add(faults, "head", "must be mean or below %zu, the number of heads; got %d", heads,
                             question->head);
    if (question->window.count > inspection_query_limit(inspection))
        parameter_faults_add(faults, "query_count", "must be at most %zu for sequences this long; got %zu",
                             inspection_query_limit(inspection), question->window.count);
}

void api_attention_get(struct request *request) {
    struct question question = {.example = (size_t)parameter_integer(&request->query, "example"),
                                .layer = (size_t)parameter_integer(&request->query, "layer"),
                                .window = {(size_t)parameter_integer(&request->query, "query_from"),
                                           (size_t)parameter_integer(&request->query, "query_count")}};
    struct parameter_faults faults = {0};
    struct error error = {0};
    size_t head = 0;
    bool is_mean = strcmp(parameter_text(&request->query, "head"), "mean") == 0;
    api_read_number_or_word(&request->query, "epoch", "last", STORE_LAST_EPOCH, &question.epoch, &faults);
    api_read_number_or_word(&request->query, "head", "mean", 0, &head, &faults);
    if (api_answer_faults(request, &faults))
        return;
    question.head = is_mean ? INSPECTION_HEAD_MEAN : (int)head;
    struct inspector *inspector = request->service->inspector;
    struct inspector_slot *slot = inspector_acquire_run(inspector, request_path_value(request, 0),
                                                        question.epoch, request_stop(request), &error);
    struct shown_matrix shown = {.slot = slot, .question = &question};
    if (slot)
        check_question(slot->inspection, &question, &faults);
    if (!slot)
        response_set_error(&request->response, &error);
    else if (!api_answer_faults(request, &faults) &&
             inspection_attention_rows(slot->inspection, question.example, question.layer, question.head,
                                       question.window, &shown.matrix, &error))
        answer_export(request, &shown, matrix_size(&shown.matrix));
    else if (error.code != ERROR_NONE)
        response_set_field_error(&request->response, "query_from", &error);
    inspector_release(inspector, slot);
}

struct shown_mean {
    size_t epoch;
    struct attention_mean mean;
};

static bool write_mean_json(struct request *request, const void *shown, struct text *text,
                            struct error *error) {
    const struct attention_mean *mean = &((const struct shown_mean *)shown)->mean;
    struct result_sink sink = json_result_sink(text);
    (void)request, (void)error;
    json_write_begin_object(text, NULL);
    json_write_integer(text, "epoch", (int64_t)((const struct shown_mean *)shown)->epoch);
    result_vector(&sink, "weights", mean->weights, mean->keys);
    json_write_integer(text, "argmax", (int64_t)mean->argmax);
    json_write_number(text, "first", mean->first);
    json_write_number(text, "rest", mean->rest);
    json_write_end_object(text);
    return true;
}

static bool write_mean_csv(struct request *request, const void *shown, struct text *text,
                           struct error *error) {
    const struct attention_mean *mean = &((const struct shown_mean *)shown)->mean;
    (void)request, (void)error;
    text_append_string(text, "key,weight\r\n");
    for (size_t i = 0; i < mean->keys; i++) {
        text_append_format(text, "%zu,", i);
        csv_append_real(text, mean->weights[i]);
        csv_end_row(text);
    }
    return true;
}

const struct export api_attention_mean_exports[] = {
    {FORMAT_JSON, write_mean_json}, {FORMAT_CSV, write_mean_csv}, {0}};

void api_attention_mean_get(struct request *request) {
    struct parameter_faults faults = {0};
    struct error error = {0};
    size_t epoch;
    if (!api_read_number_or_word(&request->query, "epoch", "last", STORE_LAST_EPOCH, &epoch, &faults)) {
        api_answer_faults(request, &faults);
        return;
    }
    struct inspector *inspector = request->service->inspector;
    struct inspector_slot *slot = inspector_acquire_run(inspector, request_path_value(request, 0), epoch,
                                                        request_stop(request), &error);
    struct shown_mean shown = {.epoch = slot ? slot->epoch : 0};
    if (slot && inspection_mean_attention(slot->inspection, &shown.mean, &error))
        answer_export(request, &shown, ANSWER_OBJECT + shown.mean.keys * (2 * ANSWER_NUMBER));
    else
        response_set_error(&request->response, &error);
    inspector_release(inspector, slot);
}
