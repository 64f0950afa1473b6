/* Writing parameters in the safetensors format: an 8-byte length, a JSON header, then the numbers.
 *
 * Names and shapes are PyTorch's, so `load_state_dict(safetensors.torch.load_file(...))` takes the file as it
 * is. https://github.com/huggingface/safetensors describes the format. */
#ifndef ATTNLAB_CORE_MODEL_SAFETENSORS_H
#define ATTNLAB_CORE_MODEL_SAFETENSORS_H

#include "core/model/model.h"

/* *bytes is released with free(). ERROR_MEMORY where there is none. */
bool safetensors_write(const struct model *model, const float *parameters, void **bytes, size_t *size,
                       struct error *error);

#endif
