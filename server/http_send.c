#include "server/http_send.h"

#include "server/stream.h"

#include <stddef.h>

/* Large enough for most events, small enough for many readers. */
enum { STREAM_BLOCK = 4096 };

/* The page needs nothing from elsewhere and nobody may put it into a frame. */
static const struct {
    const char *name, *value;
} common_headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src "
     "'self'; "
     "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

static struct MHD_Response *create_response(struct response *response) {
    struct MHD_Response *created = NULL;
    if (response->stream) {
        created = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, event_stream_read,
                                                    response->stream, event_stream_free_callback);
        if (created) {
            response->stream = NULL;
        }
    } else if (response->bytes) {
        created = MHD_create_response_from_buffer(response->size, response->bytes, MHD_RESPMEM_MUST_FREE);
        if (created) {
            response->bytes = NULL;
        }
    } else {
        created = MHD_create_response_from_buffer(response->size, (void *)response->borrowed_bytes,
                                                  MHD_RESPMEM_PERSISTENT);
    }
    return created;
}

static const char *find_cache_control(const struct response *response) {
    for (size_t i = 0; i < response->header_count; i++) {
        const char *name = response->headers[i].name;
        if (name[0] == 'E' && name[1] == 'T') { /* ETag: may be kept, must be asked about */
            return "no-cache";
        }
    }
    return "no-store";
}

enum MHD_Result http_send(struct MHD_Connection *connection, struct response *response) {
    bool is_stream = response->stream != NULL;
    struct MHD_Response *created = create_response(response);
    if (!created) {
        return MHD_NO;
    }
    for (size_t i = 0; i < sizeof common_headers / sizeof *common_headers; i++) {
        MHD_add_response_header(created, common_headers[i].name, common_headers[i].value);
    }
    MHD_add_response_header(created, "Cache-Control", find_cache_control(response));
    if (response->content_type) {
        MHD_add_response_header(created, "Content-Type", response->content_type);
    }
    if (is_stream) {
        MHD_add_response_header(created, "X-Accel-Buffering", "no");
    }
    for (size_t i = 0; i < response->header_count; i++) {
        MHD_add_response_header(created, response->headers[i].name, response->headers[i].value);
    }
    enum MHD_Result result = MHD_queue_response(connection, response->status, created);
    MHD_destroy_response(created);
    return result;
}
