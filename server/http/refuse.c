/* The problem of a refused request, from its response to the socket: see refuse.h. */
#include "server/http/refuse.h"

#include "server/http/context.h"
#include "server/http/problem.h"
#include "server/system/log.h"

void refuse_request(void *context, int socket, bool is_head, const struct refusal *refusal) {
    struct http_context *http = context;
    struct response response = {0};
    char id[REQUEST_ID_SIZE];
    http_context_name_request(http, id);
    log_write(http->options->log_level, LOG_INFO, "request=%s refused %u: %s", id, refusal->status,
              refusal->detail);
    statistics_count_request(http->statistics, NULL, refusal->status, 0);
    response_set_problem(&response, refusal->status, "%s", refusal->detail);
    response_add_header(&response, "X-Request-Id", "%s", id);
    send_refusal(socket, &response, is_head);
    response_clear(&response);
}
