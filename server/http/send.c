/* Makes libmicrohttpd's response from ours: see send.h. */
#include "server/http/send.h"

#include "server/http/problem.h"
#include "server/http/status.h"
#include "server/http/stream.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum {
    STREAM_BLOCK = 4096, /* holds most events, and is small enough for many readers */
    PIECE_SIZE = 64 << 10,
    LARGE_BODY = 256 << 10
};

/* A body that is sent in pieces, in turn with other answers. The kernel would accept megabytes at once, and
 * copying them, or freeing them, would block the HTTP thread for too long. */
struct large_body {
    struct background_work work;
    struct background *background; /* borrowed */
    struct answer_share share;
    char *bytes; /* owned */
    size_t size;
};

static ssize_t read_piece(void *argument, uint64_t position, char *buffer, size_t size) {
    const struct large_body *body = argument;
    size_t left = body->size - (size_t)position;
    size_t taken = size < left ? size : left;
    memcpy(buffer, body->bytes + position, taken);
    return (ssize_t)taken;
}

static void free_in_background(struct background_work *work) {
    struct large_body *body = (struct large_body *)((char *)work - offsetof(struct large_body, work));
    free(body->bytes);
    answer_share_keep(&body->share, 0);
    free(body);
}

static void free_body(void *argument) {
    struct large_body *body = argument;
    body->work = (struct background_work){.run = free_in_background};
    background_submit(body->background, BACKGROUND_QUICK, &body->work);
}

/* Takes over the response's bytes, and what they have taken, on success. */
static struct MHD_Response *create_large_response(struct response *response, struct background *background) {
    struct large_body *body = malloc(sizeof *body);
    if (!body)
        return NULL;
    *body = (struct large_body){
        .background = background, .share = response->share, .bytes = response->bytes, .size = response->size};
    struct MHD_Response *created =
        MHD_create_response_from_callback(response->size, PIECE_SIZE, read_piece, body, free_body);
    if (created) {
        response->bytes = NULL;
        response->share.bytes = 0;
    } else {
        free(body);
    }
    return created;
}

/* The page loads nothing from other origins, and no other page may put it into a frame. */
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

static ssize_t read_nothing(void *argument, uint64_t position, char *buffer, size_t size) {
    (void)argument, (void)position, (void)buffer, (void)size;
    return MHD_CONTENT_READER_END_OF_STREAM;
}

/* The headers of a stream. libmicrohttpd 0.9.75 would end them with an empty chunk, which the client would
 * take for its next answer; so the connection is closed instead. From 1.0.0 on, MHD_RF_HEAD_ONLY_RESPONSE
 * does it. */
static struct MHD_Response *create_stream_headers(void) {
    struct MHD_Response *created =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_nothing, NULL, NULL);
    if (created)
        MHD_set_response_options(created, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    return created;
}

static struct MHD_Response *create_response(struct response *response, bool is_head,
                                            struct background *background) {
    struct MHD_Response *created = NULL;
    if (response->stream && is_head) {
        created = create_stream_headers();
    } else if (response->stream) {
        created = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, event_stream_read,
                                                    response->stream, event_stream_free_callback);
        if (created)
            response->stream = NULL;
    } else if (response->bytes && response->size > LARGE_BODY) {
        created = create_large_response(response, background);
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

/* What has an ETag may be kept, and must be revalidated. */
static const char *find_cache_control(const struct response *response) {
    return response_has_header(response, "ETag") ? "no-cache" : "no-store";
}

/* Returns false if there is no memory for all headers: an answer is not sent without them. */
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

enum MHD_Result send_response(struct MHD_Connection *connection, struct response *response, bool is_head,
                              struct background *background) {
    bool is_stream = response->stream != NULL;
    struct MHD_Response *created = create_response(response, is_head, background);
    if (!created)
        return MHD_NO;
    enum MHD_Result result = MHD_NO;
    if (add_headers(created, response, is_stream))
        result = MHD_queue_response(connection, response->status, created);
    MHD_destroy_response(created);
    return result;
}

static void write_header(struct text *text, const char *name, const char *value) {
    text_append_format(text, "%s: %s\r\n", name, value);
}

void send_refusal(int socket, const struct response *response, bool is_head) {
    struct text text = {0};
    char date[64];
    struct tm now;
    time_t seconds = time(NULL);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&seconds, &now));
    text_append_format(&text, "HTTP/1.1 %u %s\r\n", response->status,
                       status_table[status_find(response->status)].phrase);
    write_header(&text, "Date", date);
    write_header(&text, "Connection", "close");
    for (size_t i = 0; i < sizeof common_headers / sizeof *common_headers; i++)
        write_header(&text, common_headers[i].name, common_headers[i].value);
    write_header(&text, "Cache-Control", find_cache_control(response));
    write_header(&text, "Content-Type", response->content_type);
    for (size_t i = 0; i < response->header_count; i++)
        write_header(&text, response->headers[i].name, response->headers[i].value);
    text_append_format(&text, "Content-Length: %zu\r\n\r\n", response->size);
    if (!is_head)
        text_append(&text, response->bytes ? response->bytes : response->borrowed_bytes, response->size);
    if (!text.failed) /* it fits into an empty socket buffer; a client that fills it misses the answer */
        (void)!send(socket, text.bytes, text.length, MSG_NOSIGNAL | MSG_DONTWAIT);
    text_free(&text);
}
