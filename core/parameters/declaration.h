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
    PARAMETER_MATRIX        /* rows of finite numbers, all of the same length; default: absent */
};

/* The cost that grows with the parameter's value, which selects the limit on it. Every numeric parameter must
 * state one, even if it is NONE: a parameter whose cost was forgotten must not escape the limits. */
enum parameter_cost {
    PARAMETER_COST_UNSTATED, /* texts, choices and booleans; never numbers */
    PARAMETER_COST_NONE,     /* seeds, rates, and whatever the other limits bound well enough */
    PARAMETER_COST_EPOCHS,   /* passes over the training data */
    PARAMETER_COST_WIDTH,    /* numbers per token or hidden state */
    PARAMETER_COST_LENGTH,   /* steps of a sequence */
    PARAMETER_COST_EXAMPLES
};

/* Choices from another module's table. `title` gives a choice's name for people; it may be NULL. */
struct parameter_choice_table {
    const char *(*name)(size_t index); /* returns NULL past the last choice */
    const char *(*title)(size_t index);
};

/* Restricts a parameter to some choices of another one: only some models have heads, for example. With any
 * other choice the parameter is accepted but has no effect. */
struct parameter_condition {
    const char *parameter; /* the other one */
    const struct parameter_choice_table *choices;
    bool (*applies)(const char *choice, const char *name); /* whether `choice` uses parameter `name` */
};

struct parameter_declaration {
    const char *name; /* snake_case, as in the API */
    enum parameter_type type;
    const char *title;                           /* a label of a few words, for the form */
    const char *meaning;                         /* one sentence; parameter_meaning completes it */
    const struct parameter_condition *condition; /* NULL: always applies */
    /* INTEGER, REAL and the members of INTEGER_LIST: the allowed range. */
    double minimum;
    double maximum;
    bool minimum_excluded; /* the value must be above `minimum`, not equal to it */
    /* CHOICE and CHOICE_LIST: the allowed values, as a NULL-terminated list or as a table. TEXT: a table of
     * the names that always exist, in addition to the user's. */
    const char *const *choices;
    const struct parameter_choice_table *choice_table;
    size_t length_maximum; /* members of a list, rows and columns of a matrix, characters of a text; 0: no
                              limit */
    /* The default. INTEGER, REAL and BOOLEAN: default_number. CHOICE, TEXT: default_text. Lists:
     * default_text holds the members separated by commas. MATRIX has none. */
    double default_number;
    const char *default_text;
    /* The experiment's `complete` function chooses the default from other parameters. default_number and
     * default_text then document the usual case, and default_note the others ("text: 12"). */
    bool default_depends;
    const char *default_note;
    enum parameter_cost cost;
    unsigned cost_allowance; /* the parameter may reach this many times its cost's limit; 0 means once */
};

/* Return the name of a choice, counted from 0, or NULL past the last one; and its name for people, which is
 * the same unless a table has another title. */
const char *parameter_choice(const struct parameter_declaration *declaration, size_t index);
const char *parameter_choice_title(const struct parameter_declaration *declaration, size_t index);

/* Writes the whole meaning: first the names that always exist, then `meaning`, then the choices to which the
 * parameter applies: "Stacked blocks (transformer only)." Returns `text`. */
enum { PARAMETER_MEANING_SIZE = 400 };
const char *parameter_meaning(const struct parameter_declaration *declaration,
                              char text[PARAMETER_MEANING_SIZE]);

/* Returns the declared name nearest to `name` by edit distance, for "unknown field, did you mean", or NULL if
 * no name is near. */
const char *parameter_nearest_name(const struct parameter_declaration *declarations, size_t count,
                                   const char *name);

#endif
