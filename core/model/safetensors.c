/* The safetensors format: see safetensors.h. */
#include "core/model/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "safetensors holds little-endian numbers");

enum { LENGTH_BYTES = 8, LONGEST_ENTRY = 256 };

/* Writes one entry of the header: "fc.bias":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}. Names come from
 * the layers and are plain ASCII without quotes, so they need no escapes. */
static size_t write_entry(char *text, const struct tensor *tensor) {
    size_t begin = tensor->offset * sizeof(float), end = begin + tensor_element_count(tensor) * sizeof(float);
    int used = snprintf(text, LONGEST_ENTRY, "\"%s\":{\"dtype\":\"F32\",\"shape\":[", tensor->name);
    for (size_t i = 0; i < tensor->rank; i++)
        used +=
            snprintf(text + used, LONGEST_ENTRY - (size_t)used, "%s%zu", i == 0 ? "" : ",", tensor->shape[i]);
    used += snprintf(text + used, LONGEST_ENTRY - (size_t)used, "],\"data_offsets\":[%zu,%zu]}", begin, end);
    return (size_t)used;
}

/* Returns the header's length: a multiple of 8, so that the numbers are aligned. */
static size_t write_header(char *text, const struct model *model, const char *metadata) {
    struct tensor tensors[MODEL_MAXIMUM_TENSORS];
    size_t count = model_tensors(model, tensors), used = 0;
    text[used++] = '{';
    if (metadata != NULL)
        used += (size_t)sprintf(text + used, "\"__metadata__\":%s%s", metadata, count > 0 ? "," : "");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text[used++] = ',';
        used += write_entry(text + used, &tensors[i]);
    }
    text[used++] = '}';
    while (used % LENGTH_BYTES != 0)
        text[used++] = ' ';
    return used;
}

bool safetensors_write(const struct model *model, const float *parameters, const char *metadata, void **bytes,
                       size_t *size, struct error *error) {
    size_t number_bytes = model->parameter_count * sizeof *parameters;
    size_t longest_header = (MODEL_MAXIMUM_TENSORS + 1) * LONGEST_ENTRY + LENGTH_BYTES +
                            (metadata == NULL ? 0 : strlen(metadata));
    unsigned char *file = malloc(LENGTH_BYTES + longest_header + number_bytes);
    if (file == NULL)
        return error_set_memory(error, LENGTH_BYTES + longest_header + number_bytes);
    uint64_t header_bytes = write_header((char *)file + LENGTH_BYTES, model, metadata);
    memcpy(file, &header_bytes, sizeof header_bytes);
    memcpy(file + LENGTH_BYTES + header_bytes, parameters, number_bytes);
    *bytes = file;
    *size = LENGTH_BYTES + (size_t)header_bytes + number_bytes;
    return true;
}
