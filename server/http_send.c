/* From a response to libmicrohttpd's: see http_send.h. */
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
        if (created)
            response->stream = NULL;
    } else if (response->bytes) {
        created = MHD_create_response_from_buffer(response->size, response->bytes, MHD_RESPMEM_MUST_FREE);
        if (created)
            response->bytes = NULL;
    } else {
        created = MHD_create_response_from_buffer(response->size, (void *)response->borrowed_bytes,
                                                  MHD_RESPMEM_PERSISTENT);
    }
    return created;
}

static const char *find_cache_control(const struct response *response) {
    for (size_t i = 0; i < response->header_count; i++) {
        const char *name = response->headers[i].name;
        if (name[0] == 'E' && name[1] == 'T') /* ETag: may be kept, must be asked about */
            return "no-cache";
    }
    return "no-store";
}

/* False where there is no memory for all of them: an answer without its headers is not sent. */
static bool add_headers(struct MHD_Response *created, const struct response *response, bool is_stream) {
    bool is_added = !response->lacks_header;
    for (size_t i = 0; i < sizeof common_headers / sizeof *common_headers; i++)
        is_added &= MHD_add_response_header(created, common_headers[i].name, common_headers[i].value);
    is_added &= MHD_add_response_header(created, "Cache-Control", find_cache_control(response));
    if (response->content_type)
        is_added &= MHD_add_response_header(created, "Content-Type", response->content_type);
    if (is_stream)
        is_added &= MHD_add_response_header(created, "X-Accel-Buffering", "no");
    for (size_t i = 0; i < response->header_count; i++) {
        const struct response_header *header = &response->headers[i];
        is_added &= MHD_add_response_header(created, header->name, header->value);
    }
    return is_added;
}

enum MHD_Result http_send(struct MHD_Connection *connection, struct response *response) {
    bool is_stream = response->stream != NULL;
    struct MHD_Response *created = create_response(response);
    if (!created)
        return MHD_NO;
    enum MHD_Result result = MHD_NO;
    if (add_headers(created, response, is_stream))
        result = MHD_queue_response(connection, response->status, created);
    MHD_destroy_response(created);
    return result;
}
