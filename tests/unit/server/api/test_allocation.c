/* Failing allocations. A request is repeated, each time with another allocation failing; then again, with
 * that allocation and all later ones failing. The service must answer 503 or 500, or give the complete right
 * answer if it can do without the memory, or close the connection; and it must go on serving.
 *
 * The whole service runs in this process, so libmicrohttpd, jansson and SQLite use this file's malloc too. It
 * fails only while a request is armed. The build with SANITIZE=address finds leaks. Long requests skip some
 * allocations; ATTNLAB_ALLOCATION_STRIDE=1 fails every single one. */
#include "server/api/api.h"
#include "server/http/http.h"
#include "tests/unit/main.h"
#include "tests/unit/server/server_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>

/* --- allocations that fail --- */

/* The thread sanitizer calls malloc before it is initialised, so it does not work with a replaced malloc. */
#if defined(__SANITIZE_THREAD__)
enum { CAN_FAIL = 0 };
#else
enum { CAN_FAIL = 1 };
#endif

#if defined(__SANITIZE_ADDRESS__)
#define REAL(function) __interceptor_##function
#else
#define REAL(function) __libc_##function
#endif
#define REAL_ALIGNED REAL(memalign)

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void *REAL(realloc)(void *block, size_t size);
void *REAL_ALIGNED(size_t alignment, size_t size);

static atomic_long allocation_count; /* since the request was armed */
static atomic_long failing_first = LONG_MAX, failing_last = LONG_MAX;

static _Thread_local bool is_test_thread; /* this thread's own allocations do not fail */

#if !defined(__SANITIZE_THREAD__)
static bool is_to_fail(void) {
    if (is_test_thread || atomic_load_explicit(&failing_last, memory_order_relaxed) == LONG_MAX)
        return false;
    long number = atomic_fetch_add(&allocation_count, 1) + 1;
    return number >= atomic_load(&failing_first) && number <= atomic_load(&failing_last);
}

static void *refuse(void) {
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size) {
    return is_to_fail() ? refuse() : REAL(malloc)(size);
}

void *calloc(size_t count, size_t size) {
    return is_to_fail() ? refuse() : REAL(calloc)(count, size);
}

void *realloc(void *block, size_t size) {
    return is_to_fail() ? refuse() : REAL(realloc)(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return is_to_fail() ? refuse() : REAL_ALIGNED(alignment, size);
}
#endif

static void arm(long first, bool and_all_after) {
    atomic_store(&allocation_count, 0);
    atomic_store(&failing_first, first);
    atomic_store(&failing_last, and_all_after ? LONG_MAX - 1 : first);
}

static void disarm(void) {
    atomic_store(&failing_last, LONG_MAX);
}

/* --- the service and its client --- */

enum { ANSWER_SIZE = 1 << 20, WITHOUT_MEMORY_MS = 40, PATIENCE_MS = 20000 };

static struct service service;
static struct options options;
static struct http *http;
static struct sockaddr_in address;
static char answer[ANSWER_SIZE], reference[ANSWER_SIZE];

static void open_service(void) {
    struct error error = {0};
    char warning[512];
    is_test_thread = true;
    service = (struct service){0};
    fixture_make_directory();
    ck_assert_msg(options_read(&options, 0, NULL, &error), "%s", error.message);
    options.data = fixture_directory;
    options.workers = 1;
    ck_assert_msg(service_open(&service, &options, &api_routes, warning, sizeof warning, &error), "%s",
                  error.message);
    ck_assert_msg(service_start(&service, &error), "%s", error.message);
    http = http_start(&service.http, "127.0.0.1:0", &error);
    ck_assert_msg(http != NULL, "%s", error.message);
    address = (struct sockaddr_in){.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)atoi(strrchr(http_url(http), ':') + 1)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void close_service(void) {
    service_drain(&service);
    http_stop(http);
    service_close(&service);
    fixture_remove_directory();
}

/* Reads until the connection closes. If nothing arrives for a while after allocations began to fail, they
 * succeed again, and everything that was waiting must then finish. */
static size_t read_answer(int client) {
    struct pollfd readable = {.fd = client, .events = POLLIN};
    size_t length = 0;
    for (int waited = 0; waited < PATIENCE_MS;) {
        if (poll(&readable, 1, WITHOUT_MEMORY_MS) == 0) {
            waited += WITHOUT_MEMORY_MS;
            if (atomic_load(&allocation_count) >= atomic_load(&failing_first))
                disarm();
            continue;
        }
        ssize_t received = recv(client, answer + length, ANSWER_SIZE - 1 - length, 0);
        if (received <= 0) {
            answer[length] = '\0';
            return length;
        }
        length += (size_t)received;
    }
    ck_abort_msg("no answer, and the connection stays open");
    return 0;
}

/* Sends "METHOD PATH" with a body (NULL: none) of `type`, and reads the answer into `answer`. Returns its
 * status, or 0 if there was no answer. */
static int call(const char *what, const char *type, const char *body) {
    char head[512];
    int length = snprintf(head, sizeof head, "%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", what);
    if (body != NULL)
        length += snprintf(head + length, sizeof head - (size_t)length,
                           "Content-Type: %s\r\nContent-Length: %zu\r\n", type, strlen(body));
    snprintf(head + length, sizeof head - (size_t)length, "\r\n");
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(connect(client, (const struct sockaddr *)&address, sizeof address), 0);
    send(client, head, strlen(head), MSG_NOSIGNAL);
    if (body != NULL)
        send(client, body, strlen(body), MSG_NOSIGNAL);
    size_t received = read_answer(client);
    close(client);
    return received > 12 ? atoi(answer + 9) : 0;
}

static void call_well(const char *what, const char *body, int status) {
    ck_assert_msg(call(what, "application/json", body) == status, "%s: %.3000s", what, answer);
}

static json_t *answer_json(void) {
    const char *body = strstr(answer, "\r\n\r\n");
    json_t *json = body ? json_loads(body + 4, 0, NULL) : NULL;
    ck_assert_msg(json != NULL, "not JSON: %.3000s", answer);
    return json;
}

static void create_well(const char *what, const char *body, char id[ID_SIZE]) {
    call_well(what, body, 201);
    json_t *json = answer_json();
    snprintf(id, ID_SIZE, "%s", json_string_value(json_object_get(json, "id")));
    json_decref(json);
}

/* --- one request, again and again --- */

static char *skip_line_end(char *text) {
    return strncmp(text, "\r\n", 2) == 0 ? text + 2 : text;
}

/* Joins the chunks of a body that came in chunks, because where one ends is a matter of time. */
static void join_chunks(char *text) {
    char *to = strstr(text, "\r\n\r\n");
    if (to == NULL || strstr(text, "\r\nTransfer-Encoding: chunked\r\n") == NULL)
        return;
    to += 4;
    const char *end = to + strlen(to);
    size_t size = 1;
    for (char *from = to, *chunk; from < end && size > 0; from = skip_line_end(chunk + size)) {
        size = strtoul(from, &chunk, 16);
        chunk = skip_line_end(chunk);
        size = size < (size_t)(end - chunk) ? size : (size_t)(end - chunk);
        memmove(to, chunk, size);
        to += size;
    }
    *to = '\0';
}

/* Removes the headers that differ between equal answers. */
static void forget_moment(char *text) {
    static const char *const names[] = {"\r\nDate: ", "\r\nX-Request-Id: "};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *header = strstr(text, names[i]);
        char *rest = header != NULL ? strstr(header + 2, "\r\n") : NULL;
        if (rest != NULL)
            memmove(header, rest, strlen(rest) + 1);
    }
}

static void check_problem(const char *what, int status) {
    ck_assert_msg(status == 503 || status == 500, "%s: %.3000s", what, answer);
    ck_assert_msg(strstr(answer, "Content-Type: application/problem+json") != NULL, "%s: %.3000s", what,
                  answer);
    ck_assert_msg(strstr(answer, "Content-Security-Policy: ") != NULL, "%s: %.3000s", what, answer);
    json_t *problem = answer_json();
    ck_assert_int_eq(json_integer_value(json_object_get(problem, "status")), status);
    json_decref(problem);
}

struct repeated {
    const char *what, *type, *body;
    int status;
    void (*prepare)(void);           /* called before every request, with memory; may be NULL */
    void (*check)(const char *what); /* checks a good answer; NULL: it must equal the reference */
};

/* Sends the request with allocation `number` failing. Returns whether it made fewer allocations than that. */
static bool try_request(const struct repeated *request, long number, bool and_all_after) {
    if (request->prepare != NULL)
        request->prepare();
    arm(number, and_all_after);
    int status = call(request->what, request->type, request->body);
    disarm();
    bool is_past = atomic_load(&allocation_count) < number;
    forget_moment(answer);
    join_chunks(answer);
    if (status == request->status && request->check != NULL)
        request->check(request->what);
    else if (status == request->status)
        ck_assert_msg(strcmp(answer, reference) == 0 ||
                          /* a truncated answer is allowed: the client sees that the end is missing */
                          strncmp(answer, reference, strlen(answer)) == 0,
                      "allocation %ld of %s changes the answer:\n%.1500s\nis not\n%.1500s", number,
                      request->what, answer, reference);
    else if (status != 0)
        check_problem(request->what, status);
    ck_assert_msg(!is_past || status == request->status, "%s: %.3000s", request->what, answer);
    return is_past;
}

static void fail_every_allocation(const struct repeated *request) {
    const char *setting = getenv("ATTNLAB_ALLOCATION_STRIDE");
    long stride = setting != NULL ? atol(setting) : 0;
    if (request->prepare != NULL)
        request->prepare();
    ck_assert_msg(call(request->what, request->type, request->body) == request->status, "%s: %.3000s",
                  request->what, answer);
    forget_moment(answer);
    join_chunks(answer);
    memcpy(reference, answer, sizeof reference);
    for (int and_all_after = 0; and_all_after < 2; and_all_after++) {
        long number = 1;
        while (!try_request(request, number, and_all_after)) {
            call_well("GET /api/health", NULL, 200);
            number += stride > 0 ? stride : 1 + number / 100;
        }
        ck_assert_int_gt(number, 5);
        printf("%s: %ld allocations\n", request->what, number - 1);
    }
    if (request->prepare != NULL)
        request->prepare();
    ck_assert_int_eq(call(request->what, request->type, request->body), request->status);
}

#define TRAINING                                                                                             \
    "{\"experiment\":\"train\",\"width\":4,\"sequence_length\":3,\"train_examples\":8,\"test_examples\":2,"  \
    "\"batch_size\":4,\"epochs\":1"

static char run_id[ID_SIZE], what[128];

static void setup(void) {
    open_service();
    create_well("POST /api/runs?wait=30", TRAINING "}", run_id);
}

static void teardown(void) {
    close_service();
}

/* Requests other models, so that the next request must open the model under test again. */
static void forget_inspections(void) {
    for (int examples = 1; examples <= 4; examples++) {
        char other[128];
        snprintf(other, sizeof other, "GET /api/datasets/first-element/examples?test_examples=%d", examples);
        call_well(other, NULL, 200);
    }
}

static void get_with_failures(const char *format, void (*prepare)(void)) {
    snprintf(what, sizeof what, format, run_id);
    fail_every_allocation(&(struct repeated){.what = what, .status = 200, .prepare = prepare});
}

START_TEST(reading_a_run) {
    get_with_failures("GET /api/runs/%s", NULL);
    get_with_failures("GET /api/runs?limit=3&before=%s0", NULL);
    get_with_failures("GET /api/runs/%s/metrics", NULL);
    get_with_failures("GET /api/runs/%s/metrics.csv", NULL);
}
END_TEST

START_TEST(following_a_run) {
    get_with_failures("GET /api/runs/%s/events", NULL);
}
END_TEST

START_TEST(inspecting_a_model) {
    get_with_failures("GET /api/runs/%s/attention?epoch=0&example=1", forget_inspections);
    get_with_failures("GET /api/runs/%s/attention.npy", forget_inspections);
    get_with_failures("GET /api/runs/%s/attention/mean", forget_inspections);
    get_with_failures("GET /api/runs/%s/model.safetensors", forget_inspections);
}
END_TEST

START_TEST(predicting_with_a_model) {
    snprintf(what, sizeof what, "POST /api/runs/%s/predictions", run_id);
    fail_every_allocation(&(struct repeated){.what = what,
                                             .type = "application/json",
                                             .body = "{\"sequences\":[[1,0,0.5]]}",
                                             .status = 200,
                                             .prepare = forget_inspections});
}
END_TEST

START_TEST(reading_lists_and_documents) {
    get_with_failures("GET /api/openapi.json", NULL);
    get_with_failures("GET /api/experiments", NULL);
    get_with_failures("GET /api/datasets", NULL);
    get_with_failures("GET /", NULL);
    get_with_failures("GET /api/datasets/reviews/examples?limit=2&train_examples=8&test_examples=3",
                      forget_inspections);
}
END_TEST

/* A run that ran short of memory ends by itself: it succeeds, or fails and says that memory ran out. */
static void check_run(const char *request) {
    json_t *run = answer_json();
    const char *state = json_string_value(json_object_get(run, "state"));
    const char *reason = json_string_value(json_object_get(run, "error"));
    ck_assert_msg(state != NULL && (strcmp(state, "succeeded") == 0 ||
                                    (strcmp(state, "failed") == 0 && strstr(reason, "memory") != NULL)),
                  "%s: %.3000s", request, answer);
    ck_assert_msg(strstr(answer, "Location: /api/runs/") != NULL, "%s: %.3000s", request, answer);
    json_decref(run);
}

START_TEST(creating_and_performing_a_run) {
    fail_every_allocation(&(struct repeated){.what = "POST /api/runs?wait=30",
                                             .type = "application/json",
                                             .body = TRAINING "}",
                                             .status = 201,
                                             .check = check_run});
}
END_TEST

static void check_created(const char *request) {
    json_t *created = answer_json();
    ck_assert_msg(json_object_size(created) > 0, "%s: %.3000s", request, answer);
    json_decref(created);
}

START_TEST(creating_and_reading_a_comparison) {
    static const char body[] =
        TRAINING ",\"seeds\":[0,1],\"variants\":[{\"label\":\"a\",\"model\":\"rnn\"},{\"label\":\"b\"}]}";
    char id[ID_SIZE], end[64];
    create_well("POST /api/comparisons", body, id);
    for (bool has_ended = false; !has_ended; sleep_ms(10)) {
        snprintf(end, sizeof end, "GET /api/comparisons/%s", id);
        call_well(end, NULL, 200);
        has_ended = strstr(answer, "\"state\":\"succeeded\"") != NULL;
    }
    fail_every_allocation(&(struct repeated){.what = end, .status = 200});
    fail_every_allocation(&(struct repeated){.what = "POST /api/comparisons",
                                             .type = "application/json",
                                             .body = body,
                                             .status = 201,
                                             .check = check_created});
}
END_TEST

/* The name is taken if an earlier attempt succeeded. */
static void delete_dataset(void) {
    int status = call("DELETE /api/datasets/mine", NULL, NULL);
    ck_assert_msg(status == 204 || status == 404, "%s", answer);
}

START_TEST(uploading_a_data_set) {
    fail_every_allocation(
        &(struct repeated){.what = "POST /api/datasets?name=mine",
                           .type = "text/csv",
                           .body = "text,label\nit was good,1\nit was bad,0\nso good,1\nso bad,0\n",
                           .status = 201,
                           .prepare = delete_dataset,
                           .check = check_created});
}
END_TEST

START_TEST(without_failures) {
    puts("skipped: allocations do not fail under the thread sanitizer; the other builds test it");
}
END_TEST

static void add_tests(TCase *tests) {
    setvbuf(stdout, NULL, _IONBF, 0);
    tcase_set_timeout(tests, 120);
    if (CAN_FAIL) {
        tcase_add_checked_fixture(tests, setup, teardown);
        tcase_add_test(tests, reading_a_run);
        tcase_add_test(tests, following_a_run);
        tcase_add_test(tests, inspecting_a_model);
        tcase_add_test(tests, predicting_with_a_model);
        tcase_add_test(tests, reading_lists_and_documents);
        tcase_add_test(tests, creating_and_performing_a_run);
        tcase_add_test(tests, creating_and_reading_a_comparison);
        tcase_add_test(tests, uploading_a_data_set);
    } else {
        tcase_add_test(tests, without_failures);
    }
}
