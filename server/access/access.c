/* Decides who may do what, and keeps the lecturer's sessions: see access.h. */
#include "server/access/access.h"

#include "server/access/secret.h"
#include "server/access/token.h"
#include "server/access/wrong_tokens.h"
#include "server/api/service.h"
#include "server/http/client_address.h"
#include "server/http/request.h"
#include "server/system/clock.h"

#include <inttypes.h>
#include <microhttpd.h>
#include <nettle/memops.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SESSIONS_MAXIMUM = 64, SESSION_DAYS = 30, OWNER_DAYS = 365, DAY_SECONDS = 24 * 60 * 60 };

static const char session_cookie[] = "attnlab_session";
static const char owner_cookie[] = "attnlab_owner";
static const char sessions_setting[] = "lecturer_sessions";

/* Of a session only a digest of token and cookie is kept: who reads the store cannot use it, and a new token
 * ends all sessions of the old one. */
struct session {
    char digest[SECRET_DIGEST_TEXT_SIZE];
    int64_t expires_ms;
};

struct access {
    const struct options *options;
    struct store *store;
    struct wrong_tokens *wrong_tokens;
    unsigned char token_digest[SECRET_DIGEST_SIZE];
    char made_file[4200];
    pthread_mutex_t saving; /* held while sessions are changed and stored; requests do not wait for it */
    pthread_mutex_t mutex;
    struct session sessions[SESSIONS_MAXIMUM]; /* under the mutex, oldest first */
    size_t session_count;
};

static bool load_sessions(struct access *access, struct error *error) {
    char *text = NULL;
    if (!access->store->read_setting(access->store, sessions_setting, &text, error))
        return false;
    for (char *line = text; line && *line && access->session_count < SESSIONS_MAXIMUM;) {
        struct session *session = &access->sessions[access->session_count];
        char *end = strchr(line, '\n');
        char *after = NULL;
        if (sscanf(line, "%64s", session->digest) == 1 && (after = strchr(line, ' ')) != NULL) {
            session->expires_ms = strtoll(after, NULL, 10);
            if (session->expires_ms > clock_wall_ms())
                access->session_count++;
        }
        line = end ? end + 1 : NULL;
    }
    free(text);
    return true;
}

struct access *access_open(const struct options *options, struct store *store, struct error *error) {
    struct access *access = calloc(1, sizeof *access);
    char token[TOKEN_SIZE] = "";
    if (!access) {
        error_set_memory(error, sizeof *access);
        return NULL;
    }
    access->options = options;
    access->store = store;
    pthread_mutex_init(&access->saving, NULL);
    pthread_mutex_init(&access->mutex, NULL);
    access->wrong_tokens = wrong_tokens_open(error);
    if (!access->wrong_tokens) {
        access_close(access);
        return NULL;
    }
    if (options->access == ACCESS_TOKEN) {
        if (!access_token_read(options, token, access->made_file, sizeof access->made_file, error) ||
            !load_sessions(access, error)) {
            access_close(access);
            return NULL;
        }
        secret_digest(token, strlen(token), access->token_digest);
        explicit_bzero(token, sizeof token);
    }
    return access;
}

void access_close(struct access *access) {
    if (access) {
        wrong_tokens_close(access->wrong_tokens);
        pthread_mutex_destroy(&access->saving);
        pthread_mutex_destroy(&access->mutex);
        explicit_bzero(access->token_digest, sizeof access->token_digest);
        free(access);
    }
}

const char *access_made_token_file(const struct access *access) {
    return *access->made_file ? access->made_file : NULL;
}

/* Whether it is the lecturer's token; a wrong one is counted. Where too many came from the caller's address,
 * it is not looked at: ERROR_LIMIT. */
static bool check_token(const struct request *request, const char *text, struct error *error) {
    const struct access *access = request->service->access;
    const char *network = request->caller.network;
    unsigned wait = wrong_tokens_find_wait(access->wrong_tokens, network, clock_seconds());
    if (wait > 0)
        return error_set(error, ERROR_LIMIT,
                         "too many wrong tokens came from your address: try again in %u s", wait);
    unsigned char digest[SECRET_DIGEST_SIZE];
    secret_digest(text, strlen(text), digest);
    if (memeql_sec(digest, access->token_digest, sizeof digest))
        return true;
    wrong_tokens_count(access->wrong_tokens, network, clock_seconds());
    return error_set(error, ERROR_INVALID, "this is not the lecturer's token");
}

void access_refuse_token(struct request *request, const struct error *error) {
    struct response *response = &request->response;
    const struct access *access = request->service->access;
    if (error->code == ERROR_INVALID) {
        response_set_problem(response, 401, "%s", error->message);
        response_add_header(response, "WWW-Authenticate", "Bearer realm=\"attnlab\"");
        return;
    }
    if (error->code == ERROR_LIMIT)
        response_add_header(
            response, "Retry-After", "%u",
            wrong_tokens_find_wait(access->wrong_tokens, request->caller.network, clock_seconds()));
    response_set_error(response, error);
}

static void digest_session(const struct access *access, const char *session,
                           char text[SECRET_DIGEST_TEXT_SIZE]) {
    unsigned char bytes[SECRET_DIGEST_SIZE + SECRET_SIZE];
    memcpy(bytes, access->token_digest, SECRET_DIGEST_SIZE);
    memcpy(bytes + SECRET_DIGEST_SIZE, session, SECRET_SIZE);
    secret_digest_text(bytes, sizeof bytes, text);
}

/* With one of the mutexes held: the session's place, or session_count. */
static size_t find_session(const struct access *access, const char *session) {
    char digest[SECRET_DIGEST_TEXT_SIZE];
    digest_session(access, session, digest);
    size_t i = 0;
    while (i < access->session_count &&
           !memeql_sec(access->sessions[i].digest, digest, SECRET_DIGEST_TEXT_SIZE))
        i++;
    return i;
}

/* The cookie as one of ours, or NULL. */
static const char *find_cookie(const struct request *request, const char *name) {
    const char *value = MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND, name);
    return value && secret_is_well_formed(value) ? value : NULL;
}

static bool has_session(struct access *access, const struct request *request) {
    const char *session = find_cookie(request, session_cookie);
    if (!session)
        return false;
    pthread_mutex_lock(&access->mutex);
    size_t i = find_session(access, session);
    bool is_known = i < access->session_count && access->sessions[i].expires_ms > clock_wall_ms();
    pthread_mutex_unlock(&access->mutex);
    return is_known;
}

static void write_owner(struct request *request) {
    struct caller *caller = &request->caller;
    const struct options *options = request->service->options;
    const char *cookie = find_cookie(request, owner_cookie);
    if (options->access == ACCESS_TOKEN && caller->role == ROLE_LECTURER) {
        snprintf(caller->owner, sizeof caller->owner, OWNER_LECTURER);
    } else if (cookie) {
        char text[SECRET_DIGEST_TEXT_SIZE];
        secret_digest_text(cookie, strlen(cookie), text);
        snprintf(caller->owner, sizeof caller->owner, "cookie-%.32s", text);
    } else {
        char address[INET6_ADDRSTRLEN];
        client_address_write(request, address);
        snprintf(caller->owner, sizeof caller->owner, "address-%s", address);
    }
}

/* Fills in the caller; false with an error where a token is shown that is not taken. */
static bool identify(struct request *request, struct error *error) {
    struct access *access = request->service->access;
    const struct options *options = access->options;
    const char *authorization = request_header(request, "Authorization");
    bool is_taken = true;
    client_address_write(request, request->caller.network);
    client_address_cut(request->caller.network);
    if (options->access == ACCESS_TOKEN && authorization && strncasecmp(authorization, "Bearer ", 7) == 0) {
        is_taken = check_token(request, authorization + 7, error);
        request->caller.role = is_taken ? ROLE_LECTURER : ROLE_STRANGER;
    } else if (options->access != ACCESS_TOKEN || has_session(access, request)) {
        request->caller.role = ROLE_LECTURER;
    } else {
        request->caller.role = options->students == STUDENTS_NONE ? ROLE_STRANGER : ROLE_STUDENT;
    }
    write_owner(request);
    return is_taken;
}

static bool refuse_stranger(struct request *request) {
    response_set_problem(&request->response, 401, "sign in with the lecturer's token");
    response_add_header(&request->response, "WWW-Authenticate", "Bearer realm=\"attnlab\"");
    return false;
}

bool access_check(struct request *request) {
    enum access_need need = request->match.route->needs;
    enum student_rights rights = request->service->options->students;
    struct error error = {0};
    if (!identify(request, &error)) {
        access_refuse_token(request, &error);
        return false;
    }
    if (request->caller.role == ROLE_LECTURER || need == NEEDS_NOTHING)
        return true;
    if (request->caller.role == ROLE_STRANGER)
        return refuse_stranger(request);
    if (need == NEEDS_LECTURER || (need != NEEDS_READ && rights != STUDENTS_RUN)) {
        response_set_problem(&request->response, 403, "only the lecturer may do this: students may %s",
                             rights == STUDENTS_RUN ? "run experiments and look at them" : "look at runs");
        return false;
    }
    return true;
}

/* The owner of what the path names (malloc); NULL where there is no such thing. */
static char *find_owner(struct request *request, struct error *error) {
    struct service *service = request->service;
    const char *name = request_path_value(request, 0);
    struct run_record run = {0};
    struct comparison_record comparison = {0};
    struct dataset_record dataset = {0};
    char *owner = NULL;
    switch (request->match.route->needs) {
    case NEEDS_OWN_RUN:
        owner = runs_find(service->runs, name, &run, error) ? strdup(run.owner) : NULL;
        run_record_clear(&run);
        break;
    case NEEDS_OWN_COMPARISON:
        owner = service->store->find_comparison(service->store, name, &comparison, error)
                    ? strdup(comparison.owner)
                    : NULL;
        comparison_record_clear(&comparison);
        break;
    case NEEDS_OWN_DATASET:
        owner = datasets_find(service->datasets, name, &dataset, error) ? strdup(dataset.owner) : NULL;
        dataset_record_clear(&dataset);
        break;
    case NEEDS_LECTURER:
    case NEEDS_NOTHING:
    case NEEDS_READ:
    case NEEDS_RUN:
        break;
    }
    return owner;
}

bool access_owns(const struct request *request, const char *owner) {
    const struct caller *caller = &request->caller;
    return caller->role == ROLE_LECTURER ||
           (caller->role == ROLE_STUDENT && request->service->options->students == STUDENTS_RUN &&
            strncmp(owner, "cookie-", 7) == 0 && strcmp(owner, caller->owner) == 0);
}

bool access_check_owner(struct request *request) {
    if (request->match.route->needs < NEEDS_OWN_RUN || request->caller.role == ROLE_LECTURER)
        return true;
    struct error error = {0};
    char *owner = find_owner(request, &error);
    bool is_own = owner && access_owns(request, owner);
    if (!owner) {
        response_set_error(&request->response, &error);
    } else if (!is_own) {
        response_set_problem(&request->response, 403,
                             "this belongs to somebody else: only they and the lecturer may do this");
    }
    free(owner);
    return is_own;
}

/* With `saving` held, which alone allows to change the list. */
static bool save_sessions(struct access *access, struct error *error) {
    struct text text = {0};
    for (size_t i = 0; i < access->session_count; i++) {
        text_append_format(&text, "%s %" PRId64 "\n", access->sessions[i].digest,
                           access->sessions[i].expires_ms);
    }
    bool is_saved = text.failed ? error_set_memory(error, sizeof access->sessions)
                                : access->store->write_setting(access->store, sessions_setting,
                                                               text.bytes ? text.bytes : "", error);
    text_free(&text);
    return is_saved;
}

/* With `saving` held. */
static void remove_session(struct access *access, size_t index) {
    pthread_mutex_lock(&access->mutex);
    access->session_count--;
    memmove(&access->sessions[index], &access->sessions[index + 1],
            (access->session_count - index) * sizeof *access->sessions);
    pthread_mutex_unlock(&access->mutex);
}

bool access_sign_in(struct request *request, const char *token, char session[], struct error *error) {
    struct access *access = request->service->access;
    if (!check_token(request, token, error))
        return false;
    if (!secret_create(session, error))
        return false;
    struct session added = {.expires_ms = clock_wall_ms() + (int64_t)SESSION_DAYS * DAY_SECONDS * 1000};
    digest_session(access, session, added.digest);
    pthread_mutex_lock(&access->saving);
    if (access->session_count == SESSIONS_MAXIMUM)
        remove_session(access, 0);
    pthread_mutex_lock(&access->mutex);
    access->sessions[access->session_count++] = added;
    pthread_mutex_unlock(&access->mutex);
    bool is_saved = save_sessions(access, error);
    if (!is_saved)
        remove_session(access, access->session_count - 1);
    pthread_mutex_unlock(&access->saving);
    return is_saved;
}

bool access_sign_out(struct request *request, struct error *error) {
    struct access *access = request->service->access;
    const char *session = find_cookie(request, session_cookie);
    bool is_saved = true;
    if (session) {
        pthread_mutex_lock(&access->saving);
        size_t i = find_session(access, session);
        if (i < access->session_count) {
            remove_session(access, i);
            is_saved = save_sessions(access, error);
        }
        pthread_mutex_unlock(&access->saving);
    }
    return is_saved;
}

static void set_cookie(struct request *request, const char *name, const char *value, long seconds) {
    const char *protocol = request_header(request, "X-Forwarded-Proto");
    bool is_secure =
        request->service->options->is_behind_proxy && protocol && strcasecmp(protocol, "https") == 0;
    response_add_header(&request->response, "Set-Cookie",
                        "%s=%s; Path=/; Max-Age=%ld; HttpOnly; SameSite=Strict%s", name, value, seconds,
                        is_secure ? "; Secure" : "");
}

void access_set_session_cookie(struct request *request, const char *value) {
    set_cookie(request, session_cookie, value ? value : "", value ? (long)SESSION_DAYS * DAY_SECONDS : 0);
}

void access_set_owner_cookie(struct request *request) {
    char secret[SECRET_SIZE];
    struct error error = {0};
    if (!find_cookie(request, owner_cookie) && secret_create(secret, &error))
        set_cookie(request, owner_cookie, secret, (long)OWNER_DAYS * DAY_SECONDS);
}
