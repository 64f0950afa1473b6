/* Reads the credentials of a request and sets cookies: see credentials.h. */
#include "server/http/credentials.h"

#include "server/access/secret.h"
#include "server/http/client_address.h"

#include <microhttpd.h>
#include <string.h>
#include <strings.h>

enum { DAY_SECONDS = 24 * 60 * 60, OWNER_DAYS = 365 };

static const char session_cookie[] = CREDENTIALS_SESSION_COOKIE;
static const char owner_cookie[] = CREDENTIALS_OWNER_COOKIE;

/* The value of the cookie; NULL if it is missing or malformed. */
static const char *find_cookie(const struct request *request, const char *name) {
    const char *value = MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND, name);
    return value && secret_is_well_formed(value) ? value : NULL;
}

void credentials_read(const struct request *request, struct credentials *credentials) {
    const char *authorization = request_header(request, "Authorization");
    bool has_token = authorization && strncasecmp(authorization, "Bearer ", 7) == 0;
    *credentials = (struct credentials){.token = has_token ? authorization + 7 : NULL,
                                        .session = find_cookie(request, session_cookie),
                                        .owner = find_cookie(request, owner_cookie)};
    client_address_write(request->connection, request->http->options->is_behind_proxy, credentials->address);
    memcpy(credentials->network, credentials->address, sizeof credentials->network);
    client_address_cut(credentials->network);
}

static void set_cookie(struct request *request, const char *name, const char *value, long seconds) {
    const char *protocol = request_header(request, "X-Forwarded-Proto");
    bool is_secure =
        request->http->options->is_behind_proxy && protocol && strcasecmp(protocol, "https") == 0;
    response_add_header(&request->response, "Set-Cookie",
                        "%s=%s; Path=/; Max-Age=%ld; HttpOnly; SameSite=Strict%s", name, value, seconds,
                        is_secure ? "; Secure" : "");
}

void credentials_set_session(struct request *request, const char *session) {
    set_cookie(request, session_cookie, session ? session : "",
               session ? (long)ACCESS_SESSION_DAYS * DAY_SECONDS : 0);
}

void credentials_set_owner(struct request *request) {
    char secret[SECRET_SIZE];
    struct error error = {0};
    if (!find_cookie(request, owner_cookie) && secret_create(secret, &error))
        set_cookie(request, owner_cookie, secret, (long)OWNER_DAYS * DAY_SECONDS);
}
