/* Results as lines and tables: see readable.h. */
#include "server/formats/readable.h"

#include <stdbool.h>

enum { CELL_SIZE = 64, SHOWN_MAXIMUM = 16 };

/* Writes a value as one cell of a table. */
static void format_cell(const json_t *value, char cell[CELL_SIZE]) {
    if (json_is_string(value))
        snprintf(cell, CELL_SIZE, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(cell, CELL_SIZE, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(cell, CELL_SIZE, "%.4g", json_real_value(value));
    else if (json_is_boolean(value))
        snprintf(cell, CELL_SIZE, json_is_true(value) ? "yes" : "no");
    else if (json_is_array(value))
        snprintf(cell, CELL_SIZE, "%zu values", json_array_size(value));
    else
        snprintf(cell, CELL_SIZE, "-");
}

static bool is_list_of(const json_t *value, json_type type) {
    return json_is_array(value) && json_array_size(value) > 0 &&
           json_typeof(json_array_get(value, 0)) == type;
}

static void print_numbers(FILE *file, const json_t *list) {
    size_t count = json_array_size(list);
    for (size_t i = 0; i < count && i < SHOWN_MAXIMUM; i++) {
        char cell[CELL_SIZE];
        format_cell(json_array_get(list, i), cell);
        fprintf(file, " %10s", cell);
    }
    fprintf(file, count > SHOWN_MAXIMUM ? "  ... (%zu)\n" : "\n", count);
}

static void print_row(FILE *file, const json_t *keys_of, const json_t *object) {
    const char *key;
    json_t *unused;
    json_object_foreach((json_t *)keys_of, key, unused) {
        char cell[CELL_SIZE];
        format_cell(json_object_get(object, key), cell);
        fprintf(file, "  %-18s", cell);
    }
    fprintf(file, "\n");
}

static void print_table(FILE *file, const json_t *list) {
    const json_t *first = json_array_get(list, 0);
    const char *key;
    json_t *unused;
    json_object_foreach((json_t *)first, key, unused) {
        fprintf(file, "  %-18s", key);
    }
    fprintf(file, "\n");
    for (size_t i = 0; i < json_array_size(list); i++)
        print_row(file, first, json_array_get(list, i));
}

/* `depth` counts the enclosing objects, for the indentation. */
static void print_value(FILE *file, const char *key, const json_t *value, int depth) {
    char cell[CELL_SIZE];
    if (json_is_object(value)) {
        const char *name;
        json_t *member;
        fprintf(file, "%*s%s:\n", 2 * depth, "", key);
        json_object_foreach((json_t *)value, name, member) {
            print_value(file, name, member, depth + 1);
        }
    } else if (is_list_of(value, JSON_OBJECT)) {
        fprintf(file, "%*s%s:\n", 2 * depth, "", key);
        print_table(file, value);
    } else if (is_list_of(value, JSON_ARRAY)) {
        fprintf(file, "%*s%s:\n", 2 * depth, "", key);
        for (size_t i = 0; i < json_array_size(value) && i < SHOWN_MAXIMUM; i++)
            print_numbers(file, json_array_get(value, i));
    } else if (json_is_array(value)) {
        fprintf(file, "%*s%s:", 2 * depth, "", key);
        print_numbers(file, value);
    } else {
        format_cell(value, cell);
        fprintf(file, "%*s%s: %s\n", 2 * depth, "", key, cell);
    }
}

void readable_print(FILE *file, const json_t *result) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)result, key, value) {
        print_value(file, key, value, 0);
    }
}
