/* How much gradient reaches each input step of a trained run, recomputed from its weights. */
#include "server/api/parameters.h"
#include "server/api/snapshots.h"

#include "server/formats/json_writer.h"

static bool write_gradient(struct request *request, const struct inspector_slot *slot, size_t examples,
                           const struct input_gradient *gradient, struct error *error) {
    size_t steps = inspection_step_count(slot->inspection);
    float first = gradient->gradient[0], last = gradient->gradient[steps - 1];
    struct text text = {0};
    if (!answer_begin(request, &text, ANSWER_OBJECT + API_EPOCHS_BYTES + steps * ANSWER_REAL))
        return true; /* the response is set */
    struct result_sink sink = json_result_sink(&text);
    json_write_begin_object(&text, NULL);
    json_write_integer(&text, "epoch", (int64_t)slot->epoch);
    bool done = api_write_epochs_kept(request->service, &text, request_path_value(request, 0), error);
    json_write_integer(&text, "examples", (int64_t)examples);
    result_real(&sink, "loss", gradient->loss);
    result_vector(&sink, "gradient", gradient->gradient, steps);
    result_real(&sink, "first", first);
    result_real(&sink, "last", last);
    result_real(&sink, "ratio", last / first);
    json_write_end_object(&text);
    if (done)
        response_set_json(&request->response, 200, &text);
    text_free(&text);
    return done;
}

void api_gradient_get(struct request *request) {
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
    struct input_gradient gradient = {0};
    size_t examples = (size_t)parameter_integer(&request->query, "examples");
    if (!slot || !inspection_input_gradient(slot->inspection, &examples, &gradient, &error) ||
        !write_gradient(request, slot, examples, &gradient, &error))
        response_set_error(&request->response, &error);
    input_gradient_free(&gradient);
    inspector_release(inspector, slot);
}
