/* A run's weights as a file. */
#include "server/api/api.h"

static bool write_safetensors(struct request *request, const void *shown, struct text *text,
                              struct error *error) {
    (void)request;
    const struct inspector_slot *slot = shown;
    void *bytes = NULL;
    size_t size = 0;
    if (!inspection_write_safetensors(slot->inspection, &bytes, &size, error))
        return false;
    text_adopt(text, bytes, size);
    return true;
}

/* The weights, and a header that names every tensor. */
static size_t file_size(const struct inspection *inspection) {
    enum { HEADER = 256 << 10 };
    return HEADER + inspection_weight_count(inspection) * sizeof(float);
}

const struct export api_weights_exports[] = {{FORMAT_SAFETENSORS, write_safetensors}, {0}};

void api_weights_get(struct request *request) {
    struct inspector *inspector = request->service->inspector;
    struct error error = {0};
    struct inspector_slot *slot = inspector_acquire_run(inspector, request_path_value(request, 0),
                                                        STORE_LAST_EPOCH, request_stop(request), &error);
    if (!slot) {
        response_set_error(&request->response, &error);
    } else if (answer_export(request, slot, file_size(slot->inspection))) {
        response_add_header(&request->response, "Content-Disposition", "attachment; filename=\"model%s\"",
                            format_table[request->match.export->format].suffix);
    }
    inspector_release(inspector, slot);
}
