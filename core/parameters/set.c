/* Parameter sets: see set.h. */
#include "core/parameters/set.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool parameter_set_init(struct parameter_set *set, const struct parameter_declaration *declarations,
                        size_t count, struct error *error) {
    *set = (struct parameter_set){.declarations = declarations, .count = count};
    set->values = calloc(count > 0 ? count : 1, sizeof *set->values);
    if (set->values == NULL) {
        set->count = 0;
        return error_set_memory(error, count * sizeof *set->values);
    }
    return true;
}

void parameter_unset(struct parameter_set *set, size_t index) {
    struct parameter_value *value = &set->values[index];
    free(value->text);
    free(value->integers);
    free(value->matrix);
    if (value->texts != NULL)
        for (size_t i = 0; i < value->count; i++)
            free(value->texts[i]);
    free(value->texts);
    *value = (struct parameter_value){0};
}

void parameter_set_free(struct parameter_set *set) {
    if (set == NULL)
        return;
    for (size_t i = 0; i < set->count; i++)
        parameter_unset(set, i);
    free(set->values);
    *set = (struct parameter_set){0};
}

/* Returns a new copy of the first `bytes` bytes of `source`; NULL for NULL. */
static bool copy_bytes(void **copy, const void *source, size_t bytes) {
    *copy = NULL;
    if (source == NULL)
        return true;
    *copy = malloc(bytes > 0 ? bytes : 1);
    if (*copy == NULL)
        return false;
    memcpy(*copy, source, bytes);
    return true;
}

/* After a failure the caller can still clear `copy` with parameter_unset. */
static bool value_copy(struct parameter_value *copy, const struct parameter_value *value) {
    *copy = *value;
    copy->text = NULL;
    copy->integers = NULL;
    copy->texts = NULL;
    copy->matrix = NULL;
    void *text, *integers, *matrix;
    bool copied = copy_bytes(&text, value->text, value->text ? strlen(value->text) + 1 : 0);
    copied = copy_bytes(&integers, value->integers, value->count * sizeof *value->integers) && copied;
    copied =
        copy_bytes(&matrix, value->matrix, value->rows * value->columns * sizeof *value->matrix) && copied;
    copy->text = text;
    copy->integers = integers;
    copy->matrix = matrix;
    if (value->texts == NULL)
        return copied;
    copy->texts = calloc(value->count > 0 ? value->count : 1, sizeof *copy->texts);
    if (copy->texts == NULL)
        return false;
    for (size_t i = 0; i < value->count; i++) {
        copy->texts[i] = strdup(value->texts[i]);
        copied = copied && copy->texts[i] != NULL;
    }
    return copied;
}

bool parameter_set_copy(struct parameter_set *copy, const struct parameter_set *set, struct error *error) {
    if (!parameter_set_init(copy, set->declarations, set->count, error))
        return false;
    for (size_t i = 0; i < set->count; i++)
        if (!value_copy(&copy->values[i], &set->values[i])) {
            parameter_set_free(copy);
            return error_set_memory(error, set->count * sizeof *set->values);
        }
    return true;
}

int parameter_find(const struct parameter_set *set, const char *name) {
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->declarations[i].name, name) == 0)
            return (int)i;
    return -1;
}

const struct parameter_value *parameter_value(const struct parameter_set *set, const char *name) {
    int index = parameter_find(set, name);
    assert(index >= 0);
    return &set->values[index];
}

int64_t parameter_integer(const struct parameter_set *set, const char *name) {
    return parameter_value(set, name)->integer;
}

double parameter_real(const struct parameter_set *set, const char *name) {
    return parameter_value(set, name)->real;
}

bool parameter_boolean(const struct parameter_set *set, const char *name) {
    return parameter_value(set, name)->boolean;
}

const char *parameter_text(const struct parameter_set *set, const char *name) {
    return parameter_value(set, name)->text;
}

bool parameter_is_set(const struct parameter_set *set, const char *name) {
    return parameter_value(set, name)->is_set;
}
