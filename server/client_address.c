/* Addresses of clients, read and cut: see client_address.h. */
#include "server/client_address.h"

#include "server/request.h"
#include "server/service.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

/* The last address that X-Forwarded-For names is the one that our own proxy saw. */
static bool read_forwarded_address(const struct request *request, char address[INET6_ADDRSTRLEN]) {
    const char *list = request_header(request, "X-Forwarded-For");
    if (!list)
        return false;
    const char *last = strrchr(list, ',');
    last = last ? last + 1 : list;
    last += strspn(last, " ");
    struct in6_addr parsed;
    snprintf(address, INET6_ADDRSTRLEN, "%.*s", (int)strcspn(last, " "), last);
    return inet_pton(AF_INET, address, &parsed) == 1 || inet_pton(AF_INET6, address, &parsed) == 1;
}

void client_address_write(const struct request *request, char address[INET6_ADDRSTRLEN]) {
    if (request->service->options->is_behind_proxy && read_forwarded_address(request, address))
        return;
    snprintf(address, INET6_ADDRSTRLEN, "unknown");
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!info)
        return;
    socklen_t length =
        info->client_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    getnameinfo(info->client_addr, length, address, INET6_ADDRSTRLEN, NULL, 0, NI_NUMERICHOST);
}

void client_address_cut(char address[INET6_ADDRSTRLEN]) {
    struct in6_addr parsed;
    address[strcspn(address, "%")] = '\0'; /* a link-local address names its interface */
    if (inet_pton(AF_INET6, address, &parsed) != 1)
        return;
    if (IN6_IS_ADDR_V4MAPPED(&parsed)) {
        inet_ntop(AF_INET, &parsed.s6_addr[12], address, INET6_ADDRSTRLEN);
        return;
    }
    memset(&parsed.s6_addr[8], 0, 8);
    inet_ntop(AF_INET6, &parsed, address, INET6_ADDRSTRLEN);
}
