/* Writes parameters in the safetensors format: an 8-byte length, a JSON header, then the numbers.
 *
 * Names and shapes are PyTorch's, so `load_state_dict(safetensors.torch.load_file(...))` accepts the file
 * unchanged. https://github.com/huggingface/safetensors describes the format. */
#ifndef ATTNLAB_CORE_MODEL_SAFETENSORS_H
#define ATTNLAB_CORE_MODEL_SAFETENSORS_H

#include "core/model/model.h"

/* `metadata` is a JSON object whose values are strings, for readers of the file, or NULL. Release *bytes with
 * free(). ERROR_MEMORY if memory runs out. */
bool safetensors_write(const struct model *model, const float *parameters, const char *metadata, void **bytes,
                       size_t *size, struct error *error);

#endif
