/* A strict reader of safetensors files, for tests: every other reader must accept the files that this one
 * accepts.
 *
 * A file is an 8-byte length; a JSON object of that length, {"name": {"dtype", "shape", "data_offsets"}}; and
 * the numbers, without gap or overlap up to the last byte. This reader accepts what attnlab writes:
 * little-endian F32 only, tensors in the order of their numbers, and numbers aligned to 8 bytes.
 * https://github.com/huggingface/safetensors describes the format. */
#ifndef ATTNLAB_TESTS_SUPPORT_SAFETENSORS_READER_H
#define ATTNLAB_TESTS_SUPPORT_SAFETENSORS_READER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { SAFETENSORS_MOST_TENSORS = 256, SAFETENSORS_MOST_DIMENSIONS = 8 };

struct safetensors_entry {
    char name[128];
    size_t shape[SAFETENSORS_MOST_DIMENSIONS], rank;
    size_t first, count; /* its range among all numbers of the file */
};

struct safetensors_file {
    struct safetensors_entry entries[SAFETENSORS_MOST_TENSORS];
    size_t entry_count;
    const unsigned char *numbers; /* points into the bytes given to the reader */
    size_t number_count;
};

static inline bool safetensors_read_shape(const json_t *shape, struct safetensors_entry *entry) {
    entry->rank = json_array_size(shape);
    entry->count = 1;
    if (!json_is_array(shape) || entry->rank > SAFETENSORS_MOST_DIMENSIONS)
        return false;
    for (size_t i = 0; i < entry->rank; i++) {
        json_int_t size = json_integer_value(json_array_get(shape, i));
        if (!json_is_integer(json_array_get(shape, i)) || size < 1 ||
            __builtin_mul_overflow(entry->count, (size_t)size, &entry->count))
            return false;
        entry->shape[i] = (size_t)size;
    }
    return true;
}

/* `*end` is the byte where the previous tensor's numbers end; it is set to the end of this one's. */
static inline bool safetensors_read_entry(const char *name, const json_t *value,
                                          struct safetensors_entry *entry, size_t *end) {
    const json_t *offsets = json_object_get(value, "data_offsets");
    const char *type = json_string_value(json_object_get(value, "dtype"));
    size_t bytes;
    if (json_object_size(value) != 3 || type == NULL || strcmp(type, "F32") != 0 ||
        !safetensors_read_shape(json_object_get(value, "shape"), entry) || json_array_size(offsets) != 2 ||
        strlen(name) >= sizeof entry->name || __builtin_mul_overflow(entry->count, sizeof(float), &bytes))
        return false;
    strcpy(entry->name, name);
    entry->first = *end / sizeof(float);
    const json_t *begin = json_array_get(offsets, 0), *stop = json_array_get(offsets, 1);
    if (!json_is_integer(begin) || !json_is_integer(stop) || (size_t)json_integer_value(begin) != *end ||
        __builtin_add_overflow(*end, bytes, end))
        return false;
    return (size_t)json_integer_value(stop) == *end;
}

static inline bool safetensors_read_header(const json_t *header, struct safetensors_file *file) {
    const char *name;
    json_t *value;
    size_t end = 0;
    if (!json_is_object(header) || json_object_size(header) > SAFETENSORS_MOST_TENSORS)
        return false;
    json_object_foreach((json_t *)header, name, value) {
        if (!safetensors_read_entry(name, value, &file->entries[file->entry_count++], &end))
            return false;
    }
    return end == file->number_count * sizeof(float);
}

static inline bool safetensors_read(const void *bytes, size_t size, struct safetensors_file *file) {
    uint64_t length;
    memset(file, 0, sizeof *file);
    if (size < sizeof length)
        return false;
    memcpy(&length, bytes, sizeof length);
    if (length > size - sizeof length || length % 8 != 0)
        return false;
    const char *text = (const char *)bytes + sizeof length;
    size_t number_bytes = size - sizeof length - length;
    file->numbers = (const unsigned char *)text + length;
    file->number_count = number_bytes / sizeof(float);
    json_t *header = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    bool is_read = length > 0 && text[0] == '{' && number_bytes % sizeof(float) == 0 &&
                   safetensors_read_header(header, file);
    json_decref(header);
    return is_read;
}

#endif
