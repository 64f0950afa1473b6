/* The recv() of libmicrohttpd: see front.h.
 *
 * A shared library's call of recv goes to the first definition that the dynamic linker finds, and the program
 * comes before the C library: that is how programs bring a malloc of their own. Here, front_recv bears the
 * name. A library that read in another way would hand over heads that never came through here; http.c refuses
 * those (front_has_checked), so that it shows at once. */
#include "server/http/front.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A client that is refused may still be sending, and would miss the answer if the connection broke: so what
 * it sends is read and dropped, up to this many bytes. */
enum { DROPPED_MAXIMUM = 1 << 20 };

/* recv has no argument to pass this in. Each thread has its own: NULL on all but the HTTP thread. */
static _Thread_local struct front *front_of_thread;

ssize_t front_recv(int socket, void *bytes, size_t size, int flags) __asm__("recv");

bool front_add(struct front *front, struct front_client *client, int socket) {
    size_t place = (size_t)socket;
    front_of_thread = front;
    if (place >= front->capacity) {
        size_t capacity = 2 * (place + 1);
        struct front_client **clients =
            (struct front_client **)realloc((void *)front->clients, capacity * sizeof(struct front_client *));
        if (!clients)
            return false;
        memset((void *)(clients + front->capacity), 0,
               (capacity - front->capacity) * sizeof(struct front_client *));
        front->clients = clients;
        front->capacity = capacity;
    }
    *client = (struct front_client){.socket = socket};
    front->clients[place] = client;
    return true;
}

void front_remove(struct front *front, struct front_client *client) {
    front->clients[client->socket] = NULL;
    framing_free(&client->framing);
}

void front_free(struct front *front) {
    free((void *)front->clients);
}

static struct front_client *find_client(int socket) {
    const struct front *front = front_of_thread;
    return front && socket >= 0 && (size_t)socket < front->capacity ? front->clients[socket] : NULL;
}

static bool is_over(const struct front_client *client) {
    return client->framing.state == FRAMING_CLOSED || client->framing.state == FRAMING_REFUSED;
}

/* Answers come in the order of their requests, so a refusal waits for those before it. A body that turns out
 * to be faulty after its request was answered needs no second answer: libmicrohttpd closes the connection. */
static void refuse_if_due(const struct front *front, struct front_client *client) {
    const struct framing *framing = &client->framing;
    unsigned long waiting = framing->head_count - client->completed;
    if (framing->state != FRAMING_REFUSED || client->is_refused || waiting > framing->is_body_refused)
        return;
    client->is_refused = true;
    if (!framing->is_body_refused || client->answered == client->completed)
        front->refuse(front->owner, client->socket, framing->head.is_head, &framing->refusal);
    shutdown(client->socket, SHUT_WR);
}

/* As recv: 0 once the client has closed, or -1 with EAGAIN. */
static ssize_t drop_input(struct front_client *client) {
    char bytes[4096];
    ssize_t received;
    while ((received = recvfrom(client->socket, bytes, sizeof bytes, MSG_DONTWAIT, NULL, NULL)) > 0) {
        client->dropped += (size_t)received;
        if (client->dropped > DROPPED_MAXIMUM)
            shutdown(client->socket, SHUT_RDWR);
    }
    return received;
}

ssize_t front_recv(int socket, void *bytes, size_t size, int flags) {
    struct front_client *client = find_client(socket);
    if (client && is_over(client))
        return drop_input(client);
    ssize_t received = recvfrom(socket, bytes, size, flags, NULL, NULL);
    if (!client || received <= 0)
        return received;
    size_t sound = framing_take(&client->framing, bytes, (size_t)received);
    refuse_if_due(front_of_thread, client);
    return sound > 0 ? (ssize_t)sound : drop_input(client);
}

bool front_has_checked(const struct front_client *client) {
    return client->framing.head_count > client->completed;
}

void front_note_answer(struct front_client *client) {
    client->answered = client->completed + 1;
}

void front_note_completion(struct front *front, struct front_client *client) {
    client->completed++;
    refuse_if_due(front, client);
}
