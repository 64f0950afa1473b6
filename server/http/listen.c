/* The listening socket: see listen.h. */
#include "server/http/listen.h"

#include "server/system/address.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 511 };

static void write_url(int listener, const char *host, char *url, size_t url_size) {
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    char port[NI_MAXSERV] = "";
    if (getsockname(listener, (struct sockaddr *)&address, &length) == 0)
        getnameinfo((struct sockaddr *)&address, length, NULL, 0, port, sizeof port, NI_NUMERICSERV);
    bool is_ipv6 = strchr(host, ':') != NULL;
    snprintf(url, url_size, "http://%s%s%s:%s/", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "", port);
}

static int open_listener(const struct addrinfo *address) {
    int one = 1;
    int listener = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0)
        return -1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, address->ai_addr, address->ai_addrlen) == 0 && listen(listener, BACKLOG) == 0)
        return listener;
    int cause = errno;
    close(listener);
    errno = cause;
    return -1;
}

int http_listen(const char *listen, char *url, size_t url_size, struct error *error) {
    char host[256];
    char port[8];
    if (!address_split(listen, host, sizeof host, port, sizeof port)) {
        error_set(error, ERROR_INVALID, "--listen must be address:port, like 127.0.0.1:8080; got %s", listen);
        return -1;
    }
    const struct addrinfo wanted = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *addresses = NULL;
    int failure = getaddrinfo(host, port, &wanted, &addresses);
    if (failure) {
        error_set(error, ERROR_INVALID, "cannot listen on %s: %s", listen, gai_strerror(failure));
        return -1;
    }
    int listener = open_listener(addresses);
    freeaddrinfo(addresses);
    if (listener < 0) {
        error_set(error, ERROR_UNAVAILABLE, "cannot listen on %s: %s%s", listen, strerror(errno),
                  errno == EADDRINUSE ? "; another program uses this port, choose one with --listen" : "");
        return -1;
    }
    write_url(listener, host, url, url_size);
    return listener;
}
