/* Turns the decisions of access into statuses and headers: see gate.h. */
#include "server/http/gate.h"

#include "server/http/credentials.h"

#include <microhttpd.h>
#include <stdlib.h>

static void refuse_unknown(struct request *request, const char *reason) {
    response_set_problem(&request->response, 401, "%s", reason);
    response_add_header(&request->response, "WWW-Authenticate", "Bearer realm=\"attnlab\"");
}

void gate_refuse_token(struct request *request, const struct error *error) {
    if (error->code == ERROR_INVALID) {
        refuse_unknown(request, error->message);
        return;
    }
    if (error->code == ERROR_LIMIT)
        response_add_header(&request->response, "Retry-After", "%u",
                            access_find_token_wait(request->http->access, &request->caller));
    response_set_error(&request->response, error);
}

static void refuse_student(struct request *request) {
    bool may_run = request->http->options->students == STUDENTS_RUN;
    response_set_problem(&request->response, 403, "only the lecturer may do this: students may %s",
                         may_run ? "run experiments and look at them" : "look at runs");
}

/* The lecturer needs no place, if anybody is distinguished as such. */
static bool take_place(struct request *request) {
    const struct http_context *http = request->http;
    const struct route_match *match = &request->match;
    if (http->options->access == ACCESS_TOKEN && request->caller.role == ROLE_LECTURER)
        return true;
    bool waits = MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, "wait") != NULL;
    const struct place_claim claim = {.network = request->caller.network,
                                      .is_long = match->export->format == FORMAT_EVENTS || waits,
                                      .is_common = match->route->needs != NEEDS_NOTHING};
    switch (places_take(http->places, &claim, &request->place)) {
    case PLACE_GIVEN:
        return true;
    case PLACE_NETWORK_FULL:
        response_set_problem(&request->response, 429,
                             "too many requests and streams are open from %s; close some or try again soon",
                             claim.network);
        return false;
    case PLACE_ALL_FULL:
        response_set_problem(&request->response, 503,
                             "too many requests and streams are open; try again soon");
        return false;
    case PLACE_NO_MEMORY:
        break;
    }
    response_set_out_of_memory(&request->response);
    return false;
}

bool gate_check(struct request *request) {
    struct access *access = request->http->access;
    struct credentials credentials;
    struct error error = {0};
    credentials_read(request, &credentials);
    if (!access_identify(access, &credentials, &request->caller, &error)) {
        gate_refuse_token(request, &error);
        return false;
    }
    if (access_allows(access, &request->caller, request->match.route->needs))
        return take_place(request);
    if (request->caller.role == ROLE_STRANGER)
        refuse_unknown(request, "sign in with the lecturer's token");
    else
        refuse_student(request);
    return false;
}

bool gate_owns(const struct request *request, const char *owner) {
    return access_owns(request->http->access, &request->caller, owner);
}

bool gate_check_owner(struct request *request) {
    enum access_need need = request->match.route->needs;
    if (need < NEEDS_OWN_RUN || request->caller.role == ROLE_LECTURER)
        return true;
    struct error error = {0};
    char *owner = access_find_owner(request->http->access, need, request_path_value(request, 0), &error);
    bool is_own = owner && gate_owns(request, owner);
    if (!owner) {
        response_set_error(&request->response, &error);
    } else if (!is_own) {
        response_set_problem(&request->response, 403,
                             "this belongs to somebody else; only its owner and the lecturer may do this");
    }
    free(owner);
    return is_own;
}
