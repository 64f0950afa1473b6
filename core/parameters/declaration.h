/* Parameters declared as data.
 *
 * An experiment lists its parameters once, as a table of declarations. The checks, the error messages, the
 * JSON Schema, the form on the page, the command line's options and the help text all come from that table;
 * nothing about a parameter is written twice. This folder knows no JSON: the server and the command line
 * fill a parameter_set (set.h) through the setters of check.h and parse.h, which report to faults.h. */
#ifndef ATTNLAB_CORE_PARAMETERS_DECLARATION_H
#define ATTNLAB_CORE_PARAMETERS_DECLARATION_H

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

/* Choices that another module's table holds. `title`: what people call the choice; may be NULL. */
struct parameter_choice_table {
    const char *(*name)(size_t index); /* NULL past the last one */
    const char *(*title)(size_t index);
};

/* A parameter that counts only for some choices of another one, such as the heads, which only some models
 * have. It may be given in any case and then does nothing. */
struct parameter_condition {
    const char *parameter; /* the other one */
    const struct parameter_choice_table *choices;
    bool (*applies)(const char *choice, const char *name); /* whether parameter `name` counts for it */
};

struct parameter_declaration {
    const char *name; /* snake_case, as in the API */
    enum parameter_type type;
    const char *title;                           /* a label of a few words, for the form */
    const char *meaning;                         /* one sentence; parameter_meaning says the rest of it */
    const struct parameter_condition *condition; /* NULL: it always counts */
    /* INTEGER, REAL and the members of INTEGER_LIST: the allowed range. */
    double minimum;
    double maximum;
    bool minimum_excluded; /* the value must be above `minimum`, not at it */
    /* CHOICE and CHOICE_LIST: what is allowed, as a NULL-terminated list or as a table. TEXT: a table of the
     * names that are always there, beside those of the user. */
    const char *const *choices;
    const struct parameter_choice_table *choice_table;
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

/* The name of a choice, counting from 0, or NULL past the last one; and what people call it, which is its
 * name unless a table says otherwise. */
const char *parameter_choice(const struct parameter_declaration *declaration, size_t index);
const char *parameter_choice_title(const struct parameter_declaration *declaration, size_t index);

/* The meaning as people read it, with the names that a text may be and the choices for which the parameter
 * counts: "Stacked blocks (transformer only)." Returns `text`. */
enum { PARAMETER_MEANING_SIZE = 400 };
const char *parameter_meaning(const struct parameter_declaration *declaration,
                              char text[PARAMETER_MEANING_SIZE]);

/* The declared name nearest to `name` by edit distance, for "unknown field, did you mean"; NULL if
 * none is near. */
const char *parameter_nearest_name(const struct parameter_declaration *declarations, size_t count,
                                   const char *name);

#endif
