/* attnlab health: asks a running service for its health. */
#include "server/commands/commands.h"
#include "server/system/options.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { TIMEOUT_SECONDS = 3 };

/* Splits "http://host:port/". */
static bool split_url(const char *url, char *host, size_t host_size, char *port, size_t port_size) {
    static const char scheme[] = "http://";
    if (strncmp(url, scheme, sizeof scheme - 1) != 0)
        return false;
    const char *begin = url + sizeof scheme - 1;
    bool is_bracketed = *begin == '[';
    begin += is_bracketed;
    size_t length = strcspn(begin, is_bracketed ? "]" : ":/");
    const char *rest = begin + length + is_bracketed;
    if (length == 0 || length >= host_size)
        return false;
    snprintf(host, host_size, "%.*s", (int)length, begin);
    if (*rest == ':')
        snprintf(port, port_size, "%.*s", (int)strspn(rest + 1, "0123456789"), rest + 1);
    else
        snprintf(port, port_size, "80");
    return *port != '\0';
}

static int connect_to(const char *host, const char *port) {
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    const struct timeval timeout = {.tv_sec = TIMEOUT_SECONDS};
    struct addrinfo *addresses = NULL;
    if (getaddrinfo(host, port, &wanted, &addresses))
        return -1;
    int connection = -1;
    for (struct addrinfo *address = addresses; address && connection < 0; address = address->ai_next) {
        connection = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, 0);
        if (connection < 0)
            continue;
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
        setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
        if (connect(connection, address->ai_addr, address->ai_addrlen) != 0) {
            close(connection);
            connection = -1;
        }
    }
    freeaddrinfo(addresses);
    return connection;
}

/* The status of the answer; 0 if there is none. */
static int ask_health(int connection) {
    static const char request[] = "GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    char answer[64] = "";
    int status = 0;
    if (send(connection, request, sizeof request - 1, MSG_NOSIGNAL) == (ssize_t)sizeof request - 1 &&
        recv(connection, answer, sizeof answer - 1, MSG_WAITALL) > 0) {
        const char *code = strchr(answer, ' ');
        status = code ? (int)strtol(code, NULL, 10) : 0;
    }
    return status;
}

int command_health(int count, char *const *arguments) {
    const char *url = getenv("ATTNLAB_URL");
    char standard[300];
    char host[256];
    char port[16];
    /* The address on which a service with this environment listens. Connecting to 0.0.0.0 reaches this
     * machine. */
    snprintf(standard, sizeof standard, "http://%s/", options_environment_value("listen"));
    url = url && *url ? url : standard;
    if (count == 2 && strcmp(arguments[0], "--url") == 0) {
        url = arguments[1];
    } else if (count > 0) {
        fprintf(stderr, "attnlab: health takes --url URL\n");
        return EXIT_BAD_OPTION;
    }
    if (!split_url(url, host, sizeof host, port, sizeof port)) {
        fprintf(stderr, "attnlab: the URL must look like http://127.0.0.1:8080/; got %s\n", url);
        return EXIT_BAD_OPTION;
    }
    int connection = connect_to(host, port);
    int status = connection >= 0 ? ask_health(connection) : 0;
    if (connection >= 0)
        close(connection);
    if (status != 200) {
        fprintf(stderr, status ? "attnlab: %s answers with status %d\n" : "attnlab: %s does not answer\n",
                url, status);
        return 1;
    }
    printf("ok\n");
    return 0;
}
