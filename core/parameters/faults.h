/* The list of faults in the parameters that a user gave.
 *
 * All faults are collected before the answer, so that the user can correct all of them at once. */
#ifndef ATTNLAB_CORE_PARAMETERS_FAULTS_H
#define ATTNLAB_CORE_PARAMETERS_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

/* `field` is the parameter's name; the message says what is allowed and what the user gave. */
struct parameter_fault {
    char field[64];
    char message[480];
};

struct parameter_faults {
    struct parameter_fault *items; /* owned */
    size_t count;
    bool out_of_memory;
};

/* Records nothing if `faults` is NULL. */
void parameter_faults_add(struct parameter_faults *faults, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Records that memory ran out. Always returns false. */
bool parameter_faults_add_memory(struct parameter_faults *faults);
void parameter_faults_free(struct parameter_faults *faults);

#endif
