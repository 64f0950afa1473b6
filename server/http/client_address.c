/* Reads and shortens the addresses of clients: see client_address.h. */
#include "server/http/client_address.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static enum MHD_Result take_last(void *owner, enum MHD_ValueKind kind, const char *name, const char *value) {
    (void)kind;
    if (value && strcasecmp(name, "X-Forwarded-For") == 0)
        *(const char **)owner = value;
    return MHD_YES;
}

/* The last address in X-Forwarded-For is the one that our own proxy saw. A proxy may append its address to
 * the client's header line (nginx) or add a line of its own (haproxy), so the last line counts. */
static bool read_forwarded_address(struct MHD_Connection *connection, char address[INET6_ADDRSTRLEN]) {
    const char *list = NULL;
    MHD_get_connection_values(connection, MHD_HEADER_KIND, take_last, &list);
    if (!list)
        return false;
    const char *last = strrchr(list, ',');
    last = last ? last + 1 : list;
    last += strspn(last, " ");
    struct in6_addr parsed;
    snprintf(address, INET6_ADDRSTRLEN, "%.*s", (int)strcspn(last, " "), last);
    return inet_pton(AF_INET, address, &parsed) == 1 || inet_pton(AF_INET6, address, &parsed) == 1;
}

void client_address_write(struct MHD_Connection *connection, bool is_behind_proxy,
                          char address[INET6_ADDRSTRLEN]) {
    if (is_behind_proxy && read_forwarded_address(connection, address))
        return;
    snprintf(address, INET6_ADDRSTRLEN, "unknown");
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!info)
        return;
    socklen_t length =
        info->client_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    getnameinfo(info->client_addr, length, address, INET6_ADDRSTRLEN, NULL, 0, NI_NUMERICHOST);
}

void client_address_cut(char address[INET6_ADDRSTRLEN]) {
    struct in6_addr parsed;
    address[strcspn(address, "%")] = '\0'; /* cuts the interface off a link-local address */
    if (inet_pton(AF_INET6, address, &parsed) != 1)
        return;
    if (IN6_IS_ADDR_V4MAPPED(&parsed)) {
        inet_ntop(AF_INET, &parsed.s6_addr[12], address, INET6_ADDRSTRLEN);
        return;
    }
    memset(&parsed.s6_addr[8], 0, 8);
    inet_ntop(AF_INET6, &parsed, address, INET6_ADDRSTRLEN);
}
