/* JSON Schema from parameter declarations (JSON Schema 2020-12, as OpenAPI 3.1 uses it). */
#include "server/formats/json_parameters.h"
#include "server/formats/json_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_limits(struct text *text, const struct parameter_declaration *declaration) {
    if (isfinite(declaration->minimum)) {
        json_write_number(text, declaration->minimum_excluded ? "exclusiveMinimum" : "minimum",
                          declaration->minimum);
    }
    if (isfinite(declaration->maximum))
        json_write_number(text, "maximum", declaration->maximum);
}

static void write_choice_names(struct text *text, const struct parameter_declaration *declaration) {
    const char *choice;
    for (size_t i = 0; (choice = parameter_choice(declaration, i)) != NULL; i++)
        json_write_string(text, NULL, choice);
}

static void write_choices(struct text *text, const struct parameter_declaration *declaration) {
    json_write_string(text, "type", "string");
    json_write_begin_array(text, "enum");
    write_choice_names(text, declaration);
    json_write_end_array(text);
}

/* Writes the titles of a table's choices, and the choices of another parameter for which this one has an
 * effect. */
static void write_notes(struct text *text, const struct parameter_declaration *declaration) {
    const struct parameter_condition *condition = declaration->condition;
    const char *choice;
    if (declaration->choice_table && declaration->choice_table->title) {
        json_write_begin_object(text, "x-choice-titles");
        for (size_t i = 0; (choice = parameter_choice(declaration, i)) != NULL; i++)
            json_write_string(text, choice, parameter_choice_title(declaration, i));
        json_write_end_object(text);
    }
    if (condition) {
        json_write_begin_object(text, "x-applies-to");
        json_write_begin_array(text, condition->parameter);
        for (size_t i = 0; (choice = condition->choices->name(i)) != NULL; i++)
            if (condition->applies(choice, declaration->name))
                json_write_string(text, NULL, choice);
        json_write_end_array(text);
        json_write_end_object(text);
    }
}

static void write_maximum_length(struct text *text, const char *key,
                                 const struct parameter_declaration *declaration) {
    if (declaration->length_maximum > 0)
        json_write_integer(text, key, (int64_t)declaration->length_maximum);
}

/* A list's default is declared as a text: its members, separated by commas. */
static void write_list_default(struct text *text, const struct parameter_declaration *declaration) {
    char *members = declaration->default_text ? strdup(declaration->default_text) : NULL;
    if (!members) {
        text->failed |= declaration->default_text != NULL;
        return;
    }
    json_write_begin_array(text, "default");
    char *rest = NULL;
    for (char *member = strtok_r(members, ",", &rest); member; member = strtok_r(NULL, ",", &rest))
        if (declaration->type == PARAMETER_INTEGER_LIST)
            json_write_integer(text, NULL, strtoll(member, NULL, 10));
        else
            json_write_string(text, NULL, member);
    json_write_end_array(text);
    free(members);
}

static void write_type(struct text *text, const struct parameter_declaration *declaration) {
    switch (declaration->type) {
    case PARAMETER_INTEGER:
    case PARAMETER_REAL:
        json_write_string(text, "type", declaration->type == PARAMETER_INTEGER ? "integer" : "number");
        write_limits(text, declaration);
        json_write_number(text, "default", declaration->default_number);
        break;
    case PARAMETER_BOOLEAN:
        json_write_string(text, "type", "boolean");
        json_write_boolean(text, "default", declaration->default_number != 0.0);
        break;
    case PARAMETER_CHOICE:
        write_choices(text, declaration);
        if (declaration->default_text)
            json_write_string(text, "default", declaration->default_text);
        break;
    case PARAMETER_TEXT:
        json_write_string(text, "type", "string");
        write_maximum_length(text, "maxLength", declaration);
        if (declaration->choice_table) {
            json_write_begin_array(text, "examples");
            write_choice_names(text, declaration);
            json_write_end_array(text);
        }
        if (declaration->default_text)
            json_write_string(text, "default", declaration->default_text);
        break;
    case PARAMETER_INTEGER_LIST:
    case PARAMETER_CHOICE_LIST:
        json_write_string(text, "type", "array");
        write_maximum_length(text, "maxItems", declaration);
        json_write_begin_object(text, "items");
        if (declaration->type == PARAMETER_INTEGER_LIST) {
            json_write_string(text, "type", "integer");
            write_limits(text, declaration);
        } else {
            write_choices(text, declaration);
        }
        json_write_end_object(text);
        write_list_default(text, declaration);
        break;
    case PARAMETER_MATRIX:
        json_write_string(text, "type", "array");
        write_maximum_length(text, "maxItems", declaration);
        json_write_raw(text, "items", "{\"type\":\"array\",\"items\":{\"type\":\"number\"}}");
        break;
    }
}

void json_write_parameter_schema(struct text *text, const char *key,
                                 const struct parameter_declaration *declaration) {
    char meaning[PARAMETER_MEANING_SIZE];
    json_write_begin_object(text, key);
    json_write_string(text, "title", declaration->title);
    json_write_string(text, "description", parameter_meaning(declaration, meaning));
    write_type(text, declaration);
    if (declaration->default_note)
        json_write_string(text, "x-default-note", declaration->default_note);
    write_notes(text, declaration);
    json_write_end_object(text);
}

void json_write_schema(struct text *text, const char *key, const struct parameter_declaration *declarations,
                       size_t count) {
    json_write_begin_object(text, key);
    json_write_string(text, "type", "object");
    json_write_begin_object(text, "properties");
    for (size_t i = 0; i < count; i++)
        json_write_parameter_schema(text, declarations[i].name, &declarations[i]);
    json_write_end_object(text);
    json_write_boolean(text, "additionalProperties", false);
    json_write_end_object(text);
}
