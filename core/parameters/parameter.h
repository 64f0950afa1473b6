/* Parameters declared as data.
 *
 * An experiment lists its parameters once, as a table of declarations. From that table come the checks, the
 * error messages, the JSON Schema, the form on the page, the command line's options and the help text;
 * nothing about a parameter is written twice. This module holds the declarations, typed values, and the
 * checks that a declaration alone can make. It knows no JSON: the server and the command line fill a
 * parameter_set. */
#ifndef ATTNLAB_CORE_PARAMETERS_PARAMETER_H
#define ATTNLAB_CORE_PARAMETERS_PARAMETER_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum parameter_type {
    PARAMETER_INTEGER,
    PARAMETER_REAL,
    PARAMETER_BOOLEAN,
    PARAMETER_CHOICE,       /* one of `choices` */
    PARAMETER_TEXT,         /* a name: a data set, a file in the data directory */
    PARAMETER_INTEGER_LIST, /* each within minimum and maximum */
    PARAMETER_CHOICE_LIST,  /* distinct members of `choices` */
    PARAMETER_MATRIX        /* rows of equal length of finite numbers; default: absent */
};

/* What a larger value makes more of, and so which limit applies to the parameter. Every parameter that holds
 * numbers states one, even if it is none: one that was forgotten must not pass for free. */
enum parameter_cost {
    PARAMETER_COST_UNSTATED, /* texts, choices and booleans; never numbers */
    PARAMETER_COST_NONE,     /* seeds, rates, and what the other limits bound well enough */
    PARAMETER_COST_EPOCHS,   /* passes over the training data */
    PARAMETER_COST_WIDTH,    /* numbers that a token or a hidden state consists of */
    PARAMETER_COST_LENGTH,   /* steps of a sequence */
    PARAMETER_COST_EXAMPLES
};

struct parameter_declaration {
    const char *name; /* snake_case, as in the API */
    enum parameter_type type;
    const char *title;   /* a label of a few words, for the form */
    const char *meaning; /* one sentence, for the help and the schema */
    /* INTEGER, REAL and the members of INTEGER_LIST: the allowed range. */
    double minimum;
    double maximum;
    bool minimum_excluded;      /* the value must be above `minimum`, not at it */
    const char *const *choices; /* NULL-terminated; CHOICE and CHOICE_LIST */
    size_t length_maximum; /* members of a list, rows and columns of a matrix, bytes of a text; 0: no limit */
    /* The default. INTEGER, REAL and BOOLEAN: default_number. CHOICE, TEXT: default_text. Lists:
     * default_text holds the members separated by commas. MATRIX has none. */
    double default_number;
    const char *default_text;
    /* The experiment's `complete` function chooses the default from other parameters; default_number and
     * default_text then document the usual case and default_note the rest ("text: 12"). */
    bool default_depends;
    const char *default_note;
    enum parameter_cost cost;
    unsigned cost_allowance; /* the parameter may be this many times its cost's limit; 0 means once */
};

struct parameter_value {
    bool is_set; /* given by the user or filled in by the defaults */
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

/* One fault of the user's parameters: `field` is the parameter's name, the message says what is allowed and
 * what was given. All faults are collected before anything is answered. */
struct parameter_fault {
    char field[64];
    char message[480];
};

struct parameter_faults {
    struct parameter_fault *items; /* owned */
    size_t count;
    bool out_of_memory;
};

void parameter_faults_add(struct parameter_faults *faults, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A value of another type than the declared one: says what is allowed, the choices too where there are any.
 * `given` is the value as the user wrote it. Always returns false. */
bool parameter_faults_add_type(struct parameter_faults *faults,
                               const struct parameter_declaration *declaration, const char *given);
void parameter_faults_free(struct parameter_faults *faults);

/* A set with nothing set. Returns false when out of memory. Free with parameter_set_free. */
bool parameter_set_init(struct parameter_set *set, const struct parameter_declaration *declarations,
                        size_t count, struct error *error);
bool parameter_set_copy(struct parameter_set *copy, const struct parameter_set *set, struct error *error);
void parameter_set_free(struct parameter_set *set);

/* The index of the named declaration, or -1. */
int parameter_find(const struct parameter_set *set, const char *name);
/* The declared name nearest to `name` by edit distance, for "unknown field, did you mean"; NULL where none
 * is near. */
const char *parameter_nearest_name(const struct parameter_declaration *declarations, size_t count,
                                   const char *name);

/* Forgets the value, if there is one. */
void parameter_unset(struct parameter_set *set, size_t index);

/* Setters copy what they are given and check it against the declaration; a fault is added to `faults` and
 * the value stays unset. They return whether the value was taken. */
bool parameter_set_integer(struct parameter_set *set, size_t index, int64_t value,
                           struct parameter_faults *faults);
bool parameter_set_real(struct parameter_set *set, size_t index, double value,
                        struct parameter_faults *faults);
bool parameter_set_boolean(struct parameter_set *set, size_t index, bool value,
                           struct parameter_faults *faults);
bool parameter_set_text(struct parameter_set *set, size_t index, const char *value,
                        struct parameter_faults *faults);
bool parameter_set_integers(struct parameter_set *set, size_t index, const int64_t *values, size_t count,
                            struct parameter_faults *faults);
bool parameter_set_texts(struct parameter_set *set, size_t index, const char *const *values, size_t count,
                         struct parameter_faults *faults);
bool parameter_set_matrix(struct parameter_set *set, size_t index, const float *values, size_t rows,
                          size_t columns, struct parameter_faults *faults);

/* Sets from a command line's text ("64", "0.005", "true", "4,16,64", "[[1,0],[0,1]]" for a matrix). */
bool parameter_set_from_text(struct parameter_set *set, size_t index, const char *text,
                             struct parameter_faults *faults);

/* Gives every unset value whose declaration has a fixed default (default_depends false) that default. */
bool parameter_set_apply_defaults(struct parameter_set *set, struct error *error);

/* Getters by name; the name must be declared (a misspelt name is a programming error and asserts). */
int64_t parameter_integer(const struct parameter_set *set, const char *name);
double parameter_real(const struct parameter_set *set, const char *name);
bool parameter_boolean(const struct parameter_set *set, const char *name);
const char *parameter_text(const struct parameter_set *set, const char *name);
const struct parameter_value *parameter_value(const struct parameter_set *set, const char *name);
bool parameter_is_set(const struct parameter_set *set, const char *name);

#endif
