/* The list of faults: see faults.h. */
#include "core/parameters/faults.h"

#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void parameter_faults_add(struct parameter_faults *faults, const char *field, const char *format, ...) {
    if (faults == NULL)
        return;
    struct parameter_fault *items = realloc(faults->items, (faults->count + 1) * sizeof *items);
    if (items == NULL) {
        faults->out_of_memory = true;
        return;
    }
    faults->items = items;
    struct parameter_fault *fault = &items[faults->count++];
    snprintf(fault->field, sizeof fault->field, "%s", field);
    error_trim_text(fault->field);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->message, sizeof fault->message, format, arguments);
    va_end(arguments);
    error_trim_text(fault->message);
}

bool parameter_faults_add_memory(struct parameter_faults *faults) {
    if (faults != NULL)
        faults->out_of_memory = true;
    return false;
}

void parameter_faults_free(struct parameter_faults *faults) {
    if (faults == NULL)
        return;
    free(faults->items);
    *faults = (struct parameter_faults){0};
}
