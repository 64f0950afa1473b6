/* Access: identifies callers and decides what they may do. No other folder decides that.
 *
 * On loopback without --access, and with --access open, everybody is a lecturer. With --access token a caller
 * is the lecturer if the request shows the token or a session that was opened with it. Everybody else is a
 * student with the rights of --students. A student's runs and data sets belong to a cookie that the student's
 * browser keeps.
 *
 * Knows nothing of HTTP: http passes in the request's credentials and turns a refusal into an answer. May
 * call store, runs (to find a run's owner), formats, system and core; called by http (every request) and api
 * (limits, signing in). */
#ifndef ATTNLAB_SERVER_ACCESS_ACCESS_H
#define ATTNLAB_SERVER_ACCESS_ACCESS_H

#include "core/error.h"
#include "server/runs/datasets.h"
#include "server/runs/runs.h"
#include "server/store/store.h"
#include "server/system/options.h"

#include <netinet/in.h>

enum { ACCESS_SESSION_DAYS = 30 };

/* The right that a route needs. Zero is the strictest: only the lecturer may use a route that declares none.
 */
enum access_need {
    NEEDS_LECTURER,
    NEEDS_NOTHING,
    NEEDS_READ,
    NEEDS_RUN,
    NEEDS_OWN_RUN, /* the caller owns the run that the path names, or is the lecturer */
    NEEDS_OWN_COMPARISON,
    NEEDS_OWN_DATASET
};

enum access_role { ROLE_STRANGER, ROLE_STUDENT, ROLE_LECTURER };
extern const char *const access_role_names[]; /* in that order, NULL-terminated */

/* The owner of a run is OWNER_LECTURER, or a digest of the student's cookie, or, for a client without
 * cookies, a keyed digest of its address. In the queue an address takes its turn like any other owner, but it
 * gives nobody the rights of an owner. */
#define OWNER_LECTURER "lecturer"
enum { OWNER_SIZE = 64 };
struct caller {
    enum access_role role;
    char owner[OWNER_SIZE];
    char network[INET6_ADDRSTRLEN]; /* as in struct credentials */
};

/* A request's claims about its caller, not yet checked. Texts are borrowed; NULL if the request has none. */
struct credentials {
    const char *token;              /* supposedly the lecturer's */
    const char *session, *owner;    /* well-formed cookies */
    char address[INET6_ADDRSTRLEN]; /* "unknown" if it cannot be determined */
    char network[INET6_ADDRSTRLEN]; /* the part of the address that one client cannot easily change */
};

struct access;

/* Reads the token, and the stored sessions. Borrows all arguments. ERROR_INVALID if the token is too short.
 */
struct access *access_open(const struct options *options, struct store *store, struct runs *runs,
                           struct datasets *datasets, struct error *error);
void access_close(struct access *access);
/* The file of a token that attnlab generated; NULL if the user supplied the token. */
const char *access_made_token_file(const struct access *access);

/* Fills in the caller. Returns false if the request shows a token that is not accepted: ERROR_INVALID if it
 * is wrong, ERROR_LIMIT if too many wrong ones came from the same network. */
bool access_identify(struct access *access, const struct credentials *credentials, struct caller *caller,
                     struct error *error);
/* Seconds until tokens from the caller's network are checked again. */
unsigned access_find_token_wait(const struct access *access, const struct caller *caller);
/* Whether the caller may use a route with this need. For NEEDS_OWN_... the owner must still be checked, with
 * access_find_owner and access_owns. */
bool access_allows(const struct access *access, const struct caller *caller, enum access_need need);
/* The owner (malloc) of the run, comparison or data set of this name; `need` says which of the three it is.
 * NULL with an error if it does not exist. Reads the store. */
char *access_find_owner(const struct access *access, enum access_need need, const char *name,
                        struct error *error);
/* Whether the caller may cancel and delete things that belong to `owner`. */
bool access_owns(const struct access *access, const struct caller *caller, const char *owner);

/* Writes what is kept of the caller's network with a waiting run: a digest under a key that this installation
 * made for itself, so that it does not match one that was made elsewhere. Somebody who can read the whole
 * store finds the key too and can try out addresses; therefore the digest is kept only while the run waits.
 */
void access_write_network(const struct access *access, const struct caller *caller,
                          char network[NETWORK_SIZE]);

/* Opens a session if the token is right; fails like access_identify if not. */
bool access_sign_in(struct access *access, const struct caller *caller, const char *token, char session[],
                    struct error *error);
/* Ends a session. Does nothing if it is unknown or NULL. */
bool access_sign_out(struct access *access, const char *session, struct error *error);

#endif
