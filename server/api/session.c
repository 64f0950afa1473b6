/* The caller's role and rights; signing in as the lecturer, and signing out. */
#include "server/api/api.h"

#include "server/access/secret.h"
#include "server/formats/json_writer.h"

static void answer_session(struct request *request) {
    const struct options *options = request->service->options;
    const struct student_limits *limits = &options->student_limits;
    enum access_role role = request->caller.role;
    struct text text = {0};
    json_write_begin_object(&text, NULL);
    json_write_string(&text, "access", access_choice_names[options->access]);
    json_write_string(&text, "role", access_role_names[role]);
    json_write_string(&text, "students", student_rights_names[options->students]);
    json_write_boolean(&text, "may_run",
                       role == ROLE_LECTURER || (role == ROLE_STUDENT && options->students == STUDENTS_RUN));
    if (role == ROLE_STUDENT) {
        json_write_begin_object(&text, "limits");
        json_write_integer(&text, "queued_runs", (int64_t)limits->queued_runs);
        json_write_integer(&text, "epochs", (int64_t)limits->epochs);
        json_write_integer(&text, "width", (int64_t)limits->width);
        json_write_integer(&text, "sequence_length", (int64_t)limits->sequence_length);
        json_write_integer(&text, "examples", (int64_t)limits->examples);
        json_write_integer(&text, "memory_mb", (int64_t)limits->memory_mb);
        json_write_integer(&text, "seconds", (int64_t)limits->seconds);
        json_write_integer(&text, "data_mb", (int64_t)limits->data_mb);
        json_write_integer(&text, "disk_mb", (int64_t)limits->disk_mb);
        json_write_end_object(&text);
    } else {
        json_write_string(&text, "limits", NULL);
    }
    json_write_end_object(&text);
    response_set_json(&request->response, 200, &text);
}

/* The page calls this first. The owner's cookie comes with this answer and not with the page itself: a
 * browser that follows a link from another site does not send its SameSite=Strict cookies with that request,
 * so it would be given a new cookie each time. */
void api_session_get(struct request *request) {
    answer_session(request);
    credentials_set_owner(request);
}

void api_session_create(struct request *request) {
    const char *token = json_string_value(json_object_get(request->json, "token"));
    char session[SECRET_SIZE];
    struct error error = {0};
    if (request->service->options->access != ACCESS_TOKEN) {
        response_set_problem(&request->response, 409, "there is no token: everybody may do everything here");
    } else if (!token || json_object_size(request->json) != 1) {
        response_set_fault(&request->response, "token", "must be a text, and the only member of the body");
    } else if (!access_sign_in(request->service->access, &request->caller, token, session, &error)) {
        gate_refuse_token(request, &error);
    } else {
        request->caller.role = ROLE_LECTURER;
        answer_session(request);
        credentials_set_session(request, session);
    }
}

void api_session_delete(struct request *request) {
    struct credentials credentials;
    struct error error = {0};
    credentials_read(request, &credentials);
    if (access_sign_out(request->service->access, credentials.session, &error)) {
        response_set_empty(&request->response, 204);
        credentials_set_session(request, NULL);
    } else {
        response_set_error(&request->response, &error);
    }
}
