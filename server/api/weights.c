/* A run's weights in the safetensors format. */
#include "server/api/api.h"

void api_weights_get(struct request *request) {
    struct inspector *inspector = request->service->inspector;
    struct error error = {0};
    void *bytes = NULL;
    size_t size = 0;
    struct inspector_slot *slot =
        inspector_acquire_run(inspector, request_path_value(request, 0), STORE_LAST_EPOCH, &error);
    if (slot && inspection_write_safetensors(slot->inspection, &bytes, &size, &error)) {
        response_set_bytes(&request->response, 200, "application/octet-stream", bytes, size);
        response_add_header(&request->response, "Content-Disposition",
                            "attachment; filename=\"model.safetensors\"");
    } else {
        response_set_error(&request->response, &error);
    }
    inspector_release(inspector, slot);
}
