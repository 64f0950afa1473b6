/* Maps token ids to vectors by a table with one row per word, like torch.nn.Embedding with padding_idx 0.
 *
 * It must be the first layer, because it reads pass->tokens and no input. The row of id 0 is zero and gets no
 * gradient, so it stays zero. */
#ifndef ATTNLAB_CORE_LAYERS_EMBEDDING_H
#define ATTNLAB_CORE_LAYERS_EMBEDDING_H

#include "core/layers/layer.h"

/* Options: vocabulary_size. Tensor: weight [vocabulary_size][width], normal (0, 1). */
extern const struct layer_type layer_embedding;

#endif
