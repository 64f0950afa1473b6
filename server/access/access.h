/* Access: who asks, and what they may do; the one place that decides it.
 *
 * On loopback without --access, and with --access open, everybody is a lecturer. With --access token the
 * lecturer is whoever shows the token, or a session that was opened with it; everybody else is a student with
 * the rights of --students. What a student makes belongs to the cookie that the student's browser keeps.
 *
 * Knows nothing of HTTP: http hands over what a request shows and turns a refusal into an answer. May call
 * store, runs (whose is this run?), formats, system and core; called by http (every request) and api (limits,
 * signing in). */
#ifndef ATTNLAB_SERVER_ACCESS_ACCESS_H
#define ATTNLAB_SERVER_ACCESS_ACCESS_H

#include "core/error.h"
#include "server/runs/datasets.h"
#include "server/runs/runs.h"
#include "server/store/store.h"
#include "server/system/options.h"

#include <netinet/in.h>

enum { ACCESS_SESSION_DAYS = 30 };

/* What a route needs. Zero is the strictest: one that declares nothing is the lecturer's alone. */
enum access_need {
    NEEDS_LECTURER,
    NEEDS_NOTHING,
    NEEDS_READ,
    NEEDS_RUN,
    NEEDS_OWN_RUN, /* to have made the run that the path names, or to be the lecturer */
    NEEDS_OWN_COMPARISON,
    NEEDS_OWN_DATASET
};

enum access_role { ROLE_STRANGER, ROLE_STUDENT, ROLE_LECTURER };
extern const char *const access_role_names[]; /* in that order, NULL-terminated */

/* Whose runs are whose: OWNER_LECTURER, or made from the student's cookie, or from the address where a client
 * keeps none. Runs of the latter kind take turns in the queue like all others, but nobody owns them. */
#define OWNER_LECTURER "lecturer"
enum { OWNER_SIZE = 64 };
struct caller {
    enum access_role role;
    char owner[OWNER_SIZE];
    char network[INET6_ADDRSTRLEN]; /* as in struct credentials */
};

/* What a request shows of its caller; nothing of it is believed yet. Texts are borrowed, NULL if not shown.
 */
struct credentials {
    const char *token;              /* the lecturer's, so they say */
    const char *session, *owner;    /* cookies, well formed */
    char address[INET6_ADDRSTRLEN]; /* "unknown" if it cannot be learnt */
    char network[INET6_ADDRSTRLEN]; /* the address cut to what one client can take */
};

struct access;

/* Reads the token, and the sessions that the store kept; all are borrowed. ERROR_INVALID for a token that is
 * too short. */
struct access *access_open(const struct options *options, struct store *store, struct runs *runs,
                           struct datasets *datasets, struct error *error);
void access_close(struct access *access);
/* The file that holds the token which was made here; NULL if it was given. */
const char *access_made_token_file(const struct access *access);

/* Fills in the caller. False if a token is shown that is not taken: ERROR_INVALID for another one,
 * ERROR_LIMIT if too many wrong ones came from the same network. */
bool access_identify(struct access *access, const struct credentials *credentials, struct caller *caller,
                     struct error *error);
/* Seconds until tokens from the caller's network are looked at again. */
unsigned access_find_token_wait(const struct access *access, const struct caller *caller);
/* Whether the caller may use a route with this need. For NEEDS_OWN_... it is still open whose the thing is.
 */
bool access_allows(const struct access *access, const struct caller *caller, enum access_need need);
/* The owner of the run, comparison or data set of this name (malloc), by the kind that `need` is about; NULL
 * with an error if there is no such thing. Reads the store. */
char *access_find_owner(const struct access *access, enum access_need need, const char *name,
                        struct error *error);
/* Whether the caller may cancel and delete what belongs to `owner`. */
bool access_owns(const struct access *access, const struct caller *caller, const char *owner);

/* Opens a session for whoever has the token; the errors are those of access_identify. */
bool access_sign_in(struct access *access, const struct caller *caller, const char *token, char session[],
                    struct error *error);
/* Ends a session, if it is one; NULL is none. */
bool access_sign_out(struct access *access, const char *session, struct error *error);

#endif
