/* A set of parameter values, one for each declaration: how to create, copy and read it.
 *
 * check.h sets the values, parse.h sets them from text. */
#ifndef ATTNLAB_CORE_PARAMETERS_SET_H
#define ATTNLAB_CORE_PARAMETERS_SET_H

#include "core/error.h"
#include "core/parameters/declaration.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parameter_value {
    bool is_set; /* by the user or by a default */
    int64_t integer;
    double real;
    bool boolean;
    char *text;        /* owned; CHOICE and TEXT */
    int64_t *integers; /* owned; INTEGER_LIST, `count` of them */
    char **texts;      /* owned; CHOICE_LIST, `count` of them */
    float *matrix;     /* owned; MATRIX, [rows][columns] */
    size_t count, rows, columns;
};

/* One value per declaration, in the declarations' order. */
struct parameter_set {
    const struct parameter_declaration *declarations; /* borrowed, static */
    size_t count;
    struct parameter_value *values; /* owned */
};

/* Makes a set without values. Returns false if out of memory. Free with parameter_set_free. */
bool parameter_set_init(struct parameter_set *set, const struct parameter_declaration *declarations,
                        size_t count, struct error *error);
bool parameter_set_copy(struct parameter_set *copy, const struct parameter_set *set, struct error *error);
void parameter_set_free(struct parameter_set *set);

/* Returns the index of the named declaration, or -1. */
int parameter_find(const struct parameter_set *set, const char *name);

/* Clears the value, if it is set. */
void parameter_unset(struct parameter_set *set, size_t index);

/* Getters by name; the name must be declared (a misspelt name is a programming error and asserts). */
int64_t parameter_integer(const struct parameter_set *set, const char *name);
double parameter_real(const struct parameter_set *set, const char *name);
bool parameter_boolean(const struct parameter_set *set, const char *name);
const char *parameter_text(const struct parameter_set *set, const char *name);
const struct parameter_value *parameter_value(const struct parameter_set *set, const char *name);
bool parameter_is_set(const struct parameter_set *set, const char *name);

#endif
