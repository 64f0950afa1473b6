/* Answers with a status of 400 or above, as problem+json (RFC 9457). */
#ifndef ATTNLAB_SERVER_HTTP_PROBLEM_H
#define ATTNLAB_SERVER_HTTP_PROBLEM_H

#include "core/error.h"
#include "core/parameters/faults.h"
#include "server/http/response.h"
#include "server/system/identifier.h"

void response_set_problem(struct response *response, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* 422 with every fault. */
void response_set_faults(struct response *response, const struct parameter_faults *faults);
/* 422 with one fault. */
void response_set_fault(struct response *response, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The status that belongs to the error's code, with the error's message. */
void response_set_error(struct response *response, const struct error *error);
/* 409 with the ids of the runs that are in the way, in `runs`: at most the first 100. */
void response_set_conflict(struct response *response, const struct error *error, char (*runs)[ID_SIZE],
                           size_t count);
/* Like response_set_error, but if the status is 422, reports a fault of this field. */
void response_set_field_error(struct response *response, const char *field, const struct error *error);

#endif
