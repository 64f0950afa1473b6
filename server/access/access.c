/* Decides what a caller may do, and keeps the lecturer's sessions: see access.h. */
#include "server/access/access.h"

#include "server/access/secret.h"
#include "server/access/token.h"
#include "server/access/wrong_tokens.h"
#include "server/formats/text.h"
#include "server/system/clock.h"

#include <inttypes.h>
#include <nettle/memops.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SESSIONS_MAXIMUM = 64 };
static const int64_t session_ms = (int64_t)ACCESS_SESSION_DAYS * 24 * 60 * 60 * 1000;

static const char sessions_setting[] = "lecturer_sessions";
static const char address_key_setting[] = "address_key";

/* A session is stored only as a digest of token and cookie: somebody who reads the store cannot use it, and a
 * new token ends all sessions of the old one. */
struct session {
    char digest[SECRET_DIGEST_TEXT_SIZE];
    int64_t expires_ms;
};

const char *const access_role_names[] = {"stranger", "student", "lecturer", NULL};

struct access {
    const struct options *options;
    struct store *store;
    struct runs *runs;
    struct datasets *datasets;
    struct wrong_tokens *wrong_tokens;
    unsigned char token_digest[SECRET_DIGEST_SIZE];
    char address_key[SECRET_SIZE];
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

/* Reads the key of the addresses' digests, or makes one. If it cannot be stored, as on a full disk, it serves
 * until the next start: limits by address then begin anew. */
static bool load_address_key(struct access *access, struct error *error) {
    char *text = NULL;
    struct store *store = access->store;
    if (!store->read_setting(store, address_key_setting, &text, error))
        return false;
    bool is_known = text && secret_is_well_formed(text);
    if (is_known)
        memcpy(access->address_key, text, SECRET_SIZE);
    free(text);
    if (is_known)
        return true;
    if (!secret_create(access->address_key, error))
        return false;
    store->write_setting(store, address_key_setting, access->address_key, NULL);
    return true;
}

struct access *access_open(const struct options *options, struct store *store, struct runs *runs,
                           struct datasets *datasets, struct error *error) {
    struct access *access = calloc(1, sizeof *access);
    char token[TOKEN_SIZE] = "";
    if (!access) {
        error_set_memory(error, sizeof *access);
        return NULL;
    }
    access->options = options;
    access->store = store;
    access->runs = runs;
    access->datasets = datasets;
    pthread_mutex_init(&access->saving, NULL);
    pthread_mutex_init(&access->mutex, NULL);
    access->wrong_tokens = wrong_tokens_open(error);
    if (!access->wrong_tokens || !load_address_key(access, error)) {
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

/* Whether `text` is the lecturer's token. Counts wrong tokens; after too many from the same network it fails
 * with ERROR_LIMIT without checking. */
static bool check_token(const struct access *access, const char *network, const char *text,
                        struct error *error) {
    unsigned wait = wrong_tokens_find_wait(access->wrong_tokens, network, clock_seconds());
    if (wait > 0)
        return error_set(error, ERROR_LIMIT, "your address sent too many wrong tokens; try again in %u s",
                         wait);
    unsigned char digest[SECRET_DIGEST_SIZE];
    secret_digest(text, strlen(text), digest);
    if (memeql_sec(digest, access->token_digest, sizeof digest))
        return true;
    wrong_tokens_count(access->wrong_tokens, network, clock_seconds());
    return error_set(error, ERROR_INVALID, "this is not the lecturer's token");
}

unsigned access_find_token_wait(const struct access *access, const struct caller *caller) {
    return wrong_tokens_find_wait(access->wrong_tokens, caller->network, clock_seconds());
}

static void digest_session(const struct access *access, const char *session,
                           char text[SECRET_DIGEST_TEXT_SIZE]) {
    unsigned char bytes[SECRET_DIGEST_SIZE + SECRET_SIZE];
    memcpy(bytes, access->token_digest, SECRET_DIGEST_SIZE);
    memcpy(bytes + SECRET_DIGEST_SIZE, session, SECRET_SIZE);
    secret_digest_text(bytes, sizeof bytes, text);
}

/* The index of a session, or session_count if it is unknown. The caller holds one of the mutexes. */
static size_t find_session(const struct access *access, const char *session) {
    char digest[SECRET_DIGEST_TEXT_SIZE];
    digest_session(access, session, digest);
    size_t i = 0;
    while (i < access->session_count &&
           !memeql_sec(access->sessions[i].digest, digest, SECRET_DIGEST_TEXT_SIZE))
        i++;
    return i;
}

static bool is_session(struct access *access, const char *session) {
    if (!session)
        return false;
    pthread_mutex_lock(&access->mutex);
    size_t i = find_session(access, session);
    bool is_known = i < access->session_count && access->sessions[i].expires_ms > clock_wall_ms();
    pthread_mutex_unlock(&access->mutex);
    return is_known;
}

static void digest_address(const struct access *access, const char *address, char text[NETWORK_SIZE]) {
    char digest[SECRET_DIGEST_TEXT_SIZE];
    secret_digest_keyed(access->address_key, address, digest);
    snprintf(text, NETWORK_SIZE, "%.*s", NETWORK_SIZE - 1, digest);
}

void access_write_network(const struct access *access, const struct caller *caller,
                          char network[NETWORK_SIZE]) {
    digest_address(access, caller->network, network);
}

static void write_owner(const struct access *access, const struct credentials *credentials,
                        struct caller *caller) {
    if (access->options->access == ACCESS_TOKEN && caller->role == ROLE_LECTURER) {
        snprintf(caller->owner, sizeof caller->owner, OWNER_LECTURER);
    } else if (credentials->owner) {
        char text[SECRET_DIGEST_TEXT_SIZE];
        secret_digest_text(credentials->owner, strlen(credentials->owner), text);
        snprintf(caller->owner, sizeof caller->owner, "cookie-%.32s", text);
    } else {
        char text[NETWORK_SIZE];
        digest_address(access, credentials->address, text);
        snprintf(caller->owner, sizeof caller->owner, "address-%s", text);
    }
}

bool access_identify(struct access *access, const struct credentials *credentials, struct caller *caller,
                     struct error *error) {
    const struct options *options = access->options;
    bool is_taken = true;
    memcpy(caller->network, credentials->network, sizeof caller->network);
    if (options->access == ACCESS_TOKEN && credentials->token) {
        is_taken = check_token(access, caller->network, credentials->token, error);
        caller->role = is_taken ? ROLE_LECTURER : ROLE_STRANGER;
    } else if (options->access != ACCESS_TOKEN || is_session(access, credentials->session)) {
        caller->role = ROLE_LECTURER;
    } else {
        caller->role = options->students == STUDENTS_NONE ? ROLE_STRANGER : ROLE_STUDENT;
    }
    write_owner(access, credentials, caller);
    return is_taken;
}

bool access_allows(const struct access *access, const struct caller *caller, enum access_need need) {
    if (caller->role == ROLE_LECTURER || need == NEEDS_NOTHING)
        return true;
    return caller->role == ROLE_STUDENT && need != NEEDS_LECTURER &&
           (need == NEEDS_READ || access->options->students == STUDENTS_RUN);
}

char *access_find_owner(const struct access *access, enum access_need need, const char *name,
                        struct error *error) {
    struct run_record run = {0};
    struct comparison_record comparison = {0};
    struct dataset_record dataset = {0};
    char *owner = NULL;
    switch (need) {
    case NEEDS_OWN_RUN:
        owner = runs_find(access->runs, name, &run, error) ? strdup(run.owner) : NULL;
        run_record_clear(&run);
        break;
    case NEEDS_OWN_COMPARISON:
        owner = access->store->find_comparison(access->store, name, &comparison, error)
                    ? strdup(comparison.owner)
                    : NULL;
        comparison_record_clear(&comparison);
        break;
    case NEEDS_OWN_DATASET:
        owner = datasets_find(access->datasets, name, &dataset, error) ? strdup(dataset.owner) : NULL;
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

bool access_owns(const struct access *access, const struct caller *caller, const char *owner) {
    return caller->role == ROLE_LECTURER ||
           (caller->role == ROLE_STUDENT && access->options->students == STUDENTS_RUN &&
            strncmp(owner, "cookie-", 7) == 0 && strcmp(owner, caller->owner) == 0);
}

/* The caller holds `saving`, without which nobody may change the list. */
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

/* The caller holds `saving`. */
static void remove_session(struct access *access, size_t index) {
    pthread_mutex_lock(&access->mutex);
    access->session_count--;
    memmove(&access->sessions[index], &access->sessions[index + 1],
            (access->session_count - index) * sizeof *access->sessions);
    pthread_mutex_unlock(&access->mutex);
}

bool access_sign_in(struct access *access, const struct caller *caller, const char *token, char session[],
                    struct error *error) {
    if (!check_token(access, caller->network, token, error))
        return false;
    if (!secret_create(session, error))
        return false;
    struct session added = {.expires_ms = clock_wall_ms() + session_ms};
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

bool access_sign_out(struct access *access, const char *session, struct error *error) {
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
