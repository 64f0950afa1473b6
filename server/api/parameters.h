/* What the resources that take an experiment's parameters share: from a request's JSON to a prepared set. */
#ifndef ATTNLAB_SERVER_API_PARAMETERS_H
#define ATTNLAB_SERVER_API_PARAMETERS_H

#include "server/access/limits.h"
#include "server/api/api.h"

/* The experiment that `object` names, or NULL with a fault. */
const struct experiment *api_read_experiment(const json_t *object, struct parameter_faults *faults);
/* Bytes of a name or a label that somebody gives. */
enum { API_NAME_MAXIMUM = 200 };

/* A member that must be a text of at most API_NAME_MAXIMUM bytes, `missing` where it is absent; NULL with a
 * fault where it is something else.
 */
const char *api_read_text(const json_t *object, const char *name, const char *missing,
                          struct parameter_faults *faults);
/* Reads every member of `objects` (later ones win) into a fresh `set` and prepares it; all faults are
 * collected. False on a failure of ours, with the response set. */
bool api_prepare_parameters(struct request *request, const struct experiment *experiment,
                            const json_t *const *objects, size_t object_count, const char *const *reserved,
                            struct parameter_set *set, struct parameter_faults *faults);
/* The most memory, in bytes, of a run that the caller asks for. */
unsigned long long api_memory_limit(const struct request *request);
/* Sets the response and returns true where there are faults; frees them. */
bool api_answer_faults(struct request *request, struct parameter_faults *faults);

#endif
