/* A transformer encoder block, normalised after each residual connection (Vaswani et al. 2017) or before each
 * part (as GPT-2 and Llama are; torch.nn.TransformerEncoderLayer with norm_first=True):
 *
 *   last    x = norm1(x + attention(x));    y = norm2(x + feedforward(x))
 *   first   x = x + attention(norm1(x));    y = x + feedforward(norm2(x))
 *
 * Input and output have the same shape, so blocks can be stacked. The two layers differ only in the
 * parameters of attention (see core/layers/attention/multi_head.h), whose names are those of the mirrored
 * classes. */
#ifndef ATTNLAB_CORE_LAYERS_BLOCKS_ENCODER_BLOCK_H
#define ATTNLAB_CORE_LAYERS_BLOCKS_ENCODER_BLOCK_H

#include "core/layers/layer.h"

/* Options: heads (must divide the width), mask, position (if it rotates), norm, feedforward_width,
 * activation. Tensors: attn.q.weight, attn.q.bias, ... attn.out.bias, norm1.weight, norm1.bias, ff.0.weight,
 * ff.0.bias, ff.2.weight, ff.2.bias, norm2.weight, norm2.bias. */
extern const struct layer_type layer_encoder_block;
/* The same with attn.in_proj_weight, attn.in_proj_bias, attn.out_proj.weight, attn.out_proj.bias. */
extern const struct layer_type layer_torch_encoder_block;

#endif
