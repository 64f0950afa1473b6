/* event_readers HOST PORT PATH COUNT plays a class that watches a run: it follows the run's event stream over
 * COUNT connections.
 *
 * It prints "open" when every stream has begun, reads until the service has closed them all, and prints a
 * summary as JSON: whether ids rise on every stream, and whether all streams have the same events apart from
 * steps, up to the end. Because the bench measures the service, the program uses as little processor time as
 * it can: it reads all sockets in rounds, some milliseconds apart, and looks only at ids and names. */

#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* The prime of FNV-1a, which hashes a stream's ids. */
static const uint64_t hash_prime = 1099511628211u;

enum { READ_SIZE = 1 << 18, LINE_SIZE = 64, ROUND_NANOSECONDS = 20000000, EVENTS_AT_ONCE = 512 };

/* The part of an answer that the next byte belongs to. The body comes in chunks, each after a line with its
 * size. */
enum place { IN_HEAD, IN_CHUNK_SIZE, IN_CHUNK, BEHIND_CHUNK, AT_END };

struct reader {
    int socket;
    enum place place;
    size_t chunk_left;
    char line[LINE_SIZE]; /* the start of the current line of the head, or of the line with a chunk's size */
    size_t line_length;
    char body_line[LINE_SIZE]; /* the start of the current line of the body */
    size_t body_line_length;
    uint64_t id, hash; /* the id of the last event; the hash of all ids except those of steps */
    size_t events, lasting_events;
    bool has_begun, is_in_order, has_end;
};

static size_t begun_count, open_count;
static unsigned long long byte_count;

static int fail(const char *what) {
    perror(what);
    return EXIT_FAILURE;
}

/* A line of the body without its line break, cut off after LINE_SIZE bytes. */
static void take_line(struct reader *reader, const char *line) {
    if (strncmp(line, "id: ", 4) == 0) {
        uint64_t id = strtoull(line + 4, NULL, 10);
        reader->is_in_order &= id > reader->id;
        reader->id = id;
    } else if (strncmp(line, "event: ", 7) == 0) {
        reader->events++;
        if (strcmp(line + 7, "step") == 0)
            return;
        reader->lasting_events++;
        reader->hash = (reader->hash ^ reader->id) * hash_prime;
        reader->has_end |= strcmp(line + 7, "end") == 0;
    }
}

/* Appends bytes to a line up to its line break, which is dropped and reported. Returns the number of bytes
 * consumed. */
static size_t gather_line(char line[LINE_SIZE], size_t *length, const char *bytes, size_t size,
                          bool *is_whole) {
    const char *end = memchr(bytes, '\n', size);
    size_t taken = end ? (size_t)(end - bytes) : size;
    size_t kept = taken < LINE_SIZE - 1 - *length ? taken : LINE_SIZE - 1 - *length;
    memcpy(line + *length, bytes, kept);
    *length += kept;
    line[*length] = '\0';
    *is_whole = end != NULL;
    return taken + *is_whole;
}

static void take_body(struct reader *reader, const char *bytes, size_t size) {
    while (size > 0) {
        bool is_whole;
        size_t taken = gather_line(reader->body_line, &reader->body_line_length, bytes, size, &is_whole);
        bytes += taken;
        size -= taken;
        if (is_whole) {
            take_line(reader, reader->body_line);
            reader->body_line_length = 0;
        }
    }
}

/* A line of the framing: a line of the head, which ends with an empty line, a chunk's size, or the line break
 * after a chunk. */
static void take_frame_line(struct reader *reader) {
    bool is_empty = reader->line[0] == '\r';
    if (reader->place == IN_HEAD) {
        reader->place = is_empty ? IN_CHUNK_SIZE : IN_HEAD;
    } else if (reader->place == BEHIND_CHUNK) {
        reader->place = IN_CHUNK_SIZE;
    } else {
        reader->chunk_left = strtoul(reader->line, NULL, 16);
        reader->place = reader->chunk_left > 0 ? IN_CHUNK : AT_END;
        begun_count += !reader->has_begun;
        reader->has_begun = true;
    }
    reader->line_length = 0;
}

static void take_bytes(struct reader *reader, const char *bytes, size_t size) {
    while (size > 0 && reader->place != AT_END) {
        size_t taken;
        if (reader->place == IN_CHUNK) {
            taken = size < reader->chunk_left ? size : reader->chunk_left;
            take_body(reader, bytes, taken);
            reader->chunk_left -= taken;
            reader->place = reader->chunk_left > 0 ? IN_CHUNK : BEHIND_CHUNK;
        } else {
            bool is_whole;
            taken = gather_line(reader->line, &reader->line_length, bytes, size, &is_whole);
            if (is_whole)
                take_frame_line(reader);
        }
        bytes += taken;
        size -= taken;
    }
}

/* Reads everything that has arrived. */
static void read_socket(struct reader *reader, char *buffer) {
    ssize_t size = recv(reader->socket, buffer, READ_SIZE, MSG_DONTWAIT);
    if (size > 0) {
        byte_count += (unsigned long long)size;
        take_bytes(reader, buffer, (size_t)size);
    }
    if (size == 0 || reader->place == AT_END) {
        close(reader->socket);
        open_count--;
    }
}

static int open_socket(const struct addrinfo *address, const char *path) {
    char request[512];
    int length = snprintf(request, sizeof request,
                          "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n", path);
    int opened = socket(address->ai_family, SOCK_STREAM, 0);
    if (opened < 0 || connect(opened, address->ai_addr, address->ai_addrlen) != 0 ||
        send(opened, request, (size_t)length, 0) != length)
        return -1;
    return opened;
}

static bool open_readers(struct reader *readers, size_t count, char **arguments, int poll) {
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *address = NULL;
    if (getaddrinfo(arguments[1], arguments[2], &wanted, &address))
        return false;
    bool is_open = true;
    for (size_t i = 0; i < count && is_open; i++) {
        readers[i] = (struct reader){.socket = open_socket(address, arguments[3]), .is_in_order = true};
        struct epoll_event interest = {.events = EPOLLIN, .data.ptr = &readers[i]};
        is_open = readers[i].socket >= 0 && epoll_ctl(poll, EPOLL_CTL_ADD, readers[i].socket, &interest) == 0;
    }
    freeaddrinfo(address);
    open_count = count;
    return is_open;
}

static void follow_streams(int poll, size_t count, char *buffer) {
    const struct timespec round = {.tv_nsec = ROUND_NANOSECONDS};
    struct epoll_event ready[EVENTS_AT_ONCE];
    bool has_said_open = false;
    while (open_count > 0) {
        int ready_count = epoll_wait(poll, ready, EVENTS_AT_ONCE, -1);
        for (int i = 0; i < ready_count; i++)
            read_socket(ready[i].data.ptr, buffer);
        if (!has_said_open && begun_count == count) {
            has_said_open = true;
            puts("open");
            fflush(stdout);
        }
        nanosleep(&round, NULL);
    }
}

static void print_result(const struct reader *readers, size_t count) {
    size_t events = 0, in_order = 0, complete = 0;
    for (size_t i = 0; i < count; i++) {
        events += readers[i].events;
        in_order += readers[i].is_in_order;
        complete += readers[i].has_end && readers[i].hash == readers[0].hash &&
                    readers[i].lasting_events == readers[0].lasting_events;
    }
    printf(
        "{\"streams\": %zu, \"in_order\": %zu, \"complete\": %zu, \"lasting_events\": %zu, \"events\": %zu, "
        "\"bytes\": %llu}\n",
        count, in_order, complete, readers[0].lasting_events, events, byte_count);
}

int main(int argument_count, char **arguments) {
    size_t count = argument_count == 5 ? strtoul(arguments[4], NULL, 10) : 0;
    if (count == 0) {
        fprintf(stderr, "usage: event_readers HOST PORT PATH COUNT\n");
        return EXIT_FAILURE;
    }
    struct reader *readers = calloc(count, sizeof *readers);
    char *buffer = malloc(READ_SIZE);
    int poll = epoll_create1(0);
    if (!readers || !buffer || poll < 0)
        return fail("event_readers");
    if (!open_readers(readers, count, arguments, poll))
        return fail("cannot connect");
    follow_streams(poll, count, buffer);
    print_result(readers, count);
    free(readers);
    free(buffer);
    return EXIT_SUCCESS;
}
