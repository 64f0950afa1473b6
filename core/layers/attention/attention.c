/* Which algorithm computes attention: see attention.h. */
#include "core/layers/attention/attention.h"

#include "core/layers/attention/pooled.h"
#include "core/layers/attention/scalar.h"
#include "core/layers/attention/textbook.h"
#include "core/layers/attention/tiled.h"
#include "core/layers/positions/position.h"
#include "core/math/attention_head.h"

enum attention_head_algorithm attention_choose_head(size_t steps, size_t head_width) {
    if (steps <= ATTENTION_HEAD_MAXIMUM_STEPS && head_width <= ATTENTION_HEAD_MAXIMUM_WIDTH)
        return HEAD_IN_REGISTERS;
    return steps < TILED_ATTENTION_STEPS ? HEAD_WITH_MATRIX : HEAD_IN_TILES;
}

const struct layer_type *attention_choose_layer(const struct attention_request *request) {
    if (request->storage == ATTENTION_BY_TEXTBOOK)
        return &layer_textbook_attention;
    if (request->storage == ATTENTION_BY_TEXTBOOK_IN_TILES)
        return &layer_textbook_tiled_attention;
    bool is_fused = request->takes_numbers && !position_rotates(request->position);
    bool is_unplaced = is_fused && !position_adds(request->position) && request->mask == ATTENTION_MASK_NONE;
    bool in_tiles = request->storage == ATTENTION_BY_LENGTH
                        ? !is_unplaced && request->steps >= TILED_ATTENTION_STEPS
                        : request->storage == ATTENTION_IN_TILES;
    if (in_tiles)
        return &layer_tiled_attention;
    if (is_unplaced)
        return &layer_unplaced_attention;
    return is_fused ? &layer_scalar_attention : &layer_pooled_attention;
}

bool attention_includes_input(const struct layer_type *type) {
    return type == &layer_scalar_attention || type == &layer_unplaced_attention;
}
