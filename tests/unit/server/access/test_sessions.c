/* The lecturer's sessions: their number, their lifetime, and their records in the store. */
#include "server/access/access.h"
#include "server/access/secret.h"
#include "server/system/clock.h"
#include "tests/unit/main.h"
#include "tests/unit/server/server_fixture.h"

#include <inttypes.h>

enum { SESSIONS = 64 }; /* the most sessions that access keeps */

static const char token[] = "correct-horse-battery-staple";
static const char setting[] = "lecturer_sessions";
static const struct options options = {.access = ACCESS_TOKEN, .token = token};
static struct store *store;
static struct access *lecturers;
static struct error error;

static void open_access(void) {
    lecturers = access_open(&options, store, NULL, NULL, &error);
    ck_assert_msg(lecturers != NULL, "%s", error.message);
}

static void setup(void) {
    error = (struct error){0};
    fixture_make_directory();
    store = fixture_open_store();
    open_access();
}

static void teardown(void) {
    access_close(lecturers);
    store->close(store);
    fixture_remove_directory();
}

static void reopen_access(void) {
    access_close(lecturers);
    open_access();
}

static void sign_in(char session[SECRET_SIZE]) {
    const struct caller caller = {.network = "192.0.2.1"};
    ck_assert_msg(access_sign_in(lecturers, &caller, token, session, &error), "%s", error.message);
}

/* Whether a request with this session cookie comes from the lecturer. */
static bool is_lecturer(const char *session) {
    const struct credentials credentials = {.session = session, .address = "192.0.2.1"};
    struct caller caller = {0};
    ck_assert(access_identify(lecturers, &credentials, &caller, &error));
    bool is_let_in = access_allows(lecturers, &caller, NEEDS_LECTURER);
    ck_assert_int_eq(caller.role, is_let_in ? ROLE_LECTURER : ROLE_STRANGER);
    return is_let_in;
}

/* Sets the end of the only stored session. */
static void store_end(int64_t milliseconds) {
    char *text = NULL, digest[65], line[100];
    ck_assert(store->read_setting(store, setting, &text, &error));
    ck_assert_int_eq(sscanf(text, "%64s", digest), 1);
    snprintf(line, sizeof line, "%s %" PRId64 "\n", digest, milliseconds);
    ck_assert(store->write_setting(store, setting, line, &error));
    free(text);
}

static size_t count_stored(void) {
    char *text = NULL;
    size_t count = 0;
    ck_assert(store->read_setting(store, setting, &text, &error));
    for (const char *at = text; at != NULL && (at = strchr(at, '\n')) != NULL; at++)
        count++;
    free(text);
    return count;
}

START_TEST(one_session_too_many_ends_the_oldest) {
    static char sessions[SESSIONS + 1][SECRET_SIZE];
    for (size_t i = 0; i < SESSIONS; i++)
        sign_in(sessions[i]);
    ck_assert(is_lecturer(sessions[0]));
    sign_in(sessions[SESSIONS]);
    for (int opened = 0; opened < 2; opened++) {
        ck_assert(!is_lecturer(sessions[0]));
        for (size_t i = 1; i <= SESSIONS; i++)
            ck_assert_msg(is_lecturer(sessions[i]), "session %zu", i);
        ck_assert_uint_eq(count_stored(), SESSIONS);
        reopen_access();
    }
}
END_TEST

START_TEST(a_session_ends_after_its_time) {
    char session[SECRET_SIZE];
    sign_in(session);
    int64_t end = clock_wall_ms() + 300;
    store_end(end);
    reopen_access();
    while (clock_wall_ms() <= end)
        sleep_ms(5);
    ck_assert(!is_lecturer(session));
    reopen_access();
    ck_assert(!is_lecturer(session));
}
END_TEST

START_TEST(the_store_forgets_ended_sessions) {
    char session[SECRET_SIZE], other[SECRET_SIZE];
    sign_in(session);
    store_end(clock_wall_ms() - 1);
    reopen_access();
    sign_in(other);
    ck_assert_uint_eq(count_stored(), 1);
    ck_assert(is_lecturer(other));
    ck_assert(!is_lecturer(session));
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, one_session_too_many_ends_the_oldest);
    tcase_add_test(tests, a_session_ends_after_its_time);
    tcase_add_test(tests, the_store_forgets_ended_sessions);
}
