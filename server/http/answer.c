/* Writes the response in the chosen format: see answer.h. */
#include "server/http/answer.h"

bool answer_export(struct request *request, const void *shown) {
    const struct export *chosen = request->match.export;
    struct error error = {0};
    struct text text = {0};
    bool is_written = chosen->write(request, shown, &text, &error);
    if (is_written)
        response_set_text(&request->response, request->match.route->success_status,
                          format_table[chosen->format].content_type, &text);
    else
        response_set_error(&request->response, &error);
    text_free(&text);
    return is_written;
}
