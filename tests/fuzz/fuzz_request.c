/* HTTP requests: the bytes go over a real connection to the whole service (parser, guards, router, query,
 * headers, bodies, event streams), which stores and queues runs but never starts them.
 *
 * Whatever the bytes, the service answers with one of its statuses and keeps answering: each input is
 * followed by a request for the health, and libFuzzer's time limit reports a missing answer. Draining, as at
 * the end of the service, releases clients that wait. */
#include "server/api/api.h"
#include "server/http/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 20, FOREVER_MS = -1, RETRIES = 1000, PAUSE_US = 100000 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct service service;
static struct http *http;
static struct options options;
static struct sockaddr_in address = {.sin_family = AF_INET};
static char ending[64]; /* how the last answer ended, for the message below */
static char directory[] = "/tmp/attnlab-fuzz-XXXXXX";

static void remove_directory(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    if (system(command) != 0)
        abort();
}

/* The workers do not start. */
static void open_service(void) {
    struct error error = {0};
    char warning[512];
    if (mkdtemp(directory) == NULL || atexit(remove_directory) != 0 ||
        !options_read(&options, 0, NULL, &error))
        abort();
    options.data = directory;
    options.listen = "127.0.0.1:0";
    if (!service_open(&service, &options, &api_routes, warning, sizeof warning, &error))
        abort();
    service.memory_limit_bytes = 64 << 20;
    answer_budget_open(&service.http.answer_budget, service.memory_limit_bytes / 2);
    http = http_start(&service.http, options.listen, &error);
    if (http == NULL)
        abort();
    address.sin_port = htons((uint16_t)strtoul(strrchr(http_url(http), ':') + 1, NULL, 10));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

static int connect_client(void) {
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client < 0 || connect(client, (const struct sockaddr *)&address, sizeof address) != 0)
        abort();
    return client;
}

/* Reads the service's answer until the connection closes or nothing has come for `patience_ms`. */
static size_t read_answer(int client, char *answer, size_t size, int patience_ms) {
    struct pollfd readable = {.fd = client, .events = POLLIN};
    size_t length = 0;
    snprintf(ending, sizeof ending, "silence");
    while (length < size && poll(&readable, 1, patience_ms) == 1) {
        ssize_t received = recv(client, answer + length, size - length, 0);
        if (received <= 0) {
            snprintf(ending, sizeof ending, "%s", received == 0 ? "closed" : strerror(errno));
            break;
        }
        length += (size_t)received;
    }
    return length;
}

/* Checks that the answer, if any, has a status that attnlab or libmicrohttpd sends. */
static void check_answer(const char *answer, size_t length) {
    static const char *const statuses[] = {"100", "200", "201", "204", "304", "400", "403", "404",
                                           "405", "409", "411", "413", "414", "415", "417", "421",
                                           "422", "429", "431", "501", "503", "505"};
    if (length == 0)
        return;
    if (length < 12 || memcmp(answer, "HTTP/1.", 7) != 0)
        abort();
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (memcmp(answer + 9, statuses[i], 3) == 0)
            return;
    abort();
}

static size_t ask_health(char *answer, size_t size) {
    static const char request[] = "GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    int client = connect_client();
    if (send(client, request, sizeof request - 1, MSG_NOSIGNAL) != sizeof request - 1)
        snprintf(ending, sizeof ending, "%s", strerror(errno));
    size_t length = read_answer(client, answer, size, FOREVER_MS);
    close(client);
    return length;
}

/* Broken connections stay open until they time out. While they use up this address's limit, the service
 * closes a new connection at once, so try again. */
static void check_health(void) {
    char answer[1024];
    size_t length = ask_health(answer, sizeof answer);
    for (int i = 0; length == 0 && i < RETRIES; i++) {
        usleep(PAUSE_US);
        length = ask_health(answer, sizeof answer);
    }
    const char *expected = atomic_load(&service.http.is_draining) ? "HTTP/1.1 503" : "HTTP/1.1 200";
    if (length < 12 || memcmp(answer, expected, 12) != 0) {
        fprintf(stderr, "expected %s; got: %.*s; then: %s\n", expected, (int)length, answer, ending);
        abort();
    }
}

/* Releases clients that wait for a run or for events. The service serves them before it answers for its
 * health. */
static void release_waiting(void) {
    atomic_store(&service.http.is_draining, true);
    parking_wake_all(service.http.parking);
    check_health();
    atomic_store(&service.http.is_draining, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static char answer[1 << 16];
    if (service.store == NULL)
        open_service();
    int client = connect_client();
    for (size_t sent = 0; sent < size;) {
        ssize_t count = send(client, bytes + sent, size - sent, MSG_NOSIGNAL);
        if (count <= 0)
            break;
        sent += (size_t)count;
    }
    shutdown(client, SHUT_WR);
    check_answer(answer, read_answer(client, answer, sizeof answer, PATIENCE_MS));
    close(client);
    if (parking_count(service.http.parking) > 0)
        release_waiting();
    check_health();
    return 0;
}
