/* Who asks, and what they may do: the one place where that is decided.
 *
 * Every route declares what it needs, and http.c asks here before a handler runs. On loopback without
 * --access, and with --access open, everybody is a lecturer. With --access token the lecturer is who shows
 * the token (as "Authorization: Bearer") or a session that was opened with it; everybody else is a student
 * with the rights of --students. What a student makes belongs to the cookie that the student's browser keeps.
 */
#ifndef ATTNLAB_SERVER_ACCESS_ACCESS_H
#define ATTNLAB_SERVER_ACCESS_ACCESS_H

#include "core/error.h"
#include "core/parameters/check.h"
#include "server/http/client_address.h"
#include "server/store/store.h"
#include "server/system/options.h"

struct request;

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

/* Whose runs are whose: OWNER_LECTURER, or made from the student's cookie, or from the address where a client
 * keeps none. Runs of the latter kind take turns in the queue like all others, but nobody owns them. */
#define OWNER_LECTURER "lecturer"
enum { OWNER_SIZE = 64 };
struct caller {
    enum access_role role;
    char owner[OWNER_SIZE];
    char network[INET6_ADDRSTRLEN]; /* the address, as client_address_cut leaves it */
};

struct access;

/* Reads the token, and the sessions that the store kept. ERROR_INVALID for a token that is too short. */
struct access *access_open(const struct options *options, struct store *store, struct error *error);
void access_close(struct access *access);
/* The file that holds the token which was made here; NULL where it was given. */
const char *access_made_token_file(const struct access *access);

/* By the headers alone, on the HTTP thread: fills in request->caller; 401 or 403 and false where the route
 * may not be used. */
bool access_check(struct request *request);
/* What access_check left open: whether the caller owns what the path names. Reads the store. */
bool access_check_owner(struct request *request);
/* Whether the caller may cancel and delete what belongs to `owner`. */
bool access_owns(const struct request *request, const char *owner);

/* Adds a fault for every parameter beyond a student's limits. `set` is prepared. */
void access_check_parameters(const struct request *request, const struct parameter_set *set,
                             struct parameter_faults *faults);
unsigned long long access_memory_limit(const struct request *request);
/* How many of the caller's runs may wait; 0: no limit of one's own. */
size_t access_queue_limit(const struct request *request);
/* How many runs of students in the caller's network may wait; 0: as many as the queue holds. */
size_t access_network_queue_limit(const struct request *request);
/* The most bytes that a data set may have; SIZE_MAX: the route's own limit. */
size_t access_data_limit(const struct request *request);
/* Whether the caller has room for `size` bytes more of data; a problem and false where not. Reads the store.
 */
bool access_check_data(struct request *request, size_t size);

/* Opens a session for whoever has the token; false with ERROR_INVALID where it is another one, and with
 * ERROR_LIMIT where too many others came from the same address. */
bool access_sign_in(struct request *request, const char *token, char session[], struct error *error);
/* The answer to a token that was not taken. */
void access_refuse_token(struct request *request, const struct error *error);
/* Ends the request's session, if it has one. */
bool access_sign_out(struct request *request, struct error *error);

/* Adds Set-Cookie; `value` NULL takes the cookie away. */
void access_set_session_cookie(struct request *request, const char *value);
/* Gives a browser that has none the cookie by which it owns what it makes. */
void access_set_owner_cookie(struct request *request);

#endif
