/* Turns a request's JSON into a prepared set of parameters, for all resources that accept an experiment's
 * parameters. */
#ifndef ATTNLAB_SERVER_API_PARAMETERS_H
#define ATTNLAB_SERVER_API_PARAMETERS_H

#include "server/access/limits.h"
#include "server/api/api.h"

/* The experiment that `object` names, or NULL with a fault. */
const struct experiment *api_read_experiment(const json_t *object, struct parameter_faults *faults);

/* The limits of request bodies; a text's length is counted in characters, as JSON Schema's maxLength does. */
enum {
    API_NAME_MAXIMUM = 200, /* of a name or a label */
    API_VARIANTS_MAXIMUM = 32,
    API_SEEDS_MAXIMUM = 32,
    API_QUERY_MAXIMUM = 8,   /* arguments of a route that are no parameters of an experiment */
    API_INPUTS_MAXIMUM = 64, /* of a prediction */
    API_INPUT_TEXT_MAXIMUM = 100000,
    API_INPUT_LENGTH_MAXIMUM = 65536
};

/* The parameter that a comparison varies by itself. Some experiments draw nothing and do not take it. */
#define API_SEED_PARAMETER "seed"
bool api_takes_seed(const struct experiment *experiment);

/* Whether the value is a text of at most `maximum` characters. */
bool api_is_text(const json_t *value, size_t maximum);
/* Reads a member that must be a text of at most API_NAME_MAXIMUM characters. Returns `missing` if it is
 * absent, and NULL with a fault if it is anything else. */
const char *api_read_text(const json_t *object, const char *name, const char *missing,
                          struct parameter_faults *faults);
/* Reads every member of `objects` (later objects win) into a new `set` and prepares it. Collects all faults.
 * Returns false, with the response set, only on an internal failure. */
bool api_prepare_parameters(struct request *request, const struct experiment *experiment,
                            const json_t *const *objects, size_t object_count, const char *const *reserved,
                            struct parameter_set *set, struct parameter_faults *faults);
/* Reads the query's arguments that the route does not declare, as text, into a new `set` of the experiment's
 * parameters and prepares it. `task` is the value of the parameter of that name, which the query then may not
 * have; NULL: the query may. On any failure or fault, sets the response and returns false. */
bool api_prepare_query(struct request *request, const struct experiment *experiment, const char *task,
                       struct parameter_set *set);
/* If the task draws its examples one after the other, lowers their numbers in the prepared `set` to these,
 * which must not be larger: the examples drawn are the same, and the others are not wanted. */
void api_draw_less(struct parameter_set *set, size_t train_examples, size_t test_examples);
/* The most memory, in bytes, that a run of this caller may take. */
unsigned long long api_memory_limit(const struct request *request);
/* If there are faults, sets the response and returns true. Frees the faults. */
bool api_answer_faults(struct request *request, struct parameter_faults *faults);

#endif
