/* Takes memory for answers and writes them: see answer.h. */
#include "server/http/answer.h"

#include <stdint.h>

bool answer_reserve(struct request *request, size_t bytes) {
    struct error error = {0};
    if (answer_share_take(&request->response.share, bytes, &error))
        return true;
    response_set_error(&request->response, &error);
    return false;
}

bool answer_begin(struct request *request, struct text *text, size_t size) {
    if (size > ANSWER_UNCOUNTED && !answer_reserve(request, size))
        return false;
    text_allow(text, size);
    return true;
}

bool answer_export(struct request *request, const void *shown, size_t size) {
    const struct export *chosen = request->match.export;
    struct error error = {0};
    struct text text = {0};
    if (!answer_begin(request, &text, size))
        return false;
    bool is_written = chosen->write(request, shown, &text, &error);
    if (is_written)
        response_set_text(&request->response, request->match.route->success_status,
                          format_table[chosen->format].content_type, &text);
    else
        response_set_error(&request->response, &error);
    text_free(&text);
    return is_written;
}

size_t answer_add(size_t a, size_t b) {
    size_t sum;
    return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

size_t answer_multiply(size_t a, size_t b) {
    size_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}
