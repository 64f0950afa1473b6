/* The bytes of a connection, in pieces: the first byte of the input says how long the pieces are.
 *
 * Whatever the bytes and the pieces, the reader finds the same requests and the same fault as in one piece,
 * and passes on no byte that comes after the end or the fault. */
#include "server/http/framing.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static bool has_ended(const struct framing *framing) {
    return framing->state == FRAMING_CLOSED || framing->state == FRAMING_REFUSED;
}

/* Each piece is a copy of its own, so that the sanitizer sees a read beyond it. */
static size_t take_in_pieces(struct framing *framing, const char *bytes, size_t size, size_t piece) {
    size_t passed = 0;
    for (size_t at = 0; at < size && !has_ended(framing); at += piece) {
        size_t length = piece < size - at ? piece : size - at;
        char *copy = malloc(length);
        if (!copy)
            abort();
        memcpy(copy, bytes + at, length);
        size_t sound = framing_take(framing, copy, length);
        free(copy);
        if (sound > length || (sound < length && !has_ended(framing)))
            abort();
        passed += sound;
    }
    return passed;
}

static void check_state(const struct framing *framing) {
    bool is_refused = framing->refusal.status != 0;
    if (is_refused != (framing->state == FRAMING_REFUSED) || is_refused != (framing->refusal.detail != NULL))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size < 2)
        return 0;
    struct framing whole = {0}, pieces = {0};
    const char *text = (const char *)bytes + 1;
    size_t passed = take_in_pieces(&whole, text, size - 1, size - 1);
    size_t passed_in_pieces = take_in_pieces(&pieces, text, size - 1, 1 + *bytes);
    check_state(&whole);
    check_state(&pieces);
    if (whole.state != pieces.state || whole.head_count != pieces.head_count ||
        whole.refusal.status != pieces.refusal.status || whole.is_body_refused != pieces.is_body_refused ||
        passed > passed_in_pieces)
        abort();
    framing_free(&whole);
    framing_free(&pieces);
    return 0;
}
