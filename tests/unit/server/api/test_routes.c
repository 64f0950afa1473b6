/* Finding the API's route for a path. */
#include "server/api/api.h"
#include "tests/unit/main.h"

#include <stdlib.h>

static void assert_route(const char *path, enum method method, const char *pattern, enum format format,
                         const char *value) {
    struct route_match match;
    router_match(&match, &api_routes, method, path);
    ck_assert_msg(match.route != NULL, "%s", path);
    ck_assert_str_eq(match.route->pattern, pattern);
    ck_assert_int_eq(match.export->format, format);
    if (value)
        ck_assert_str_eq(match.values[0], value);
}

START_TEST(paths_find_their_routes) {
    assert_route("/api/runs", METHOD_POST, "/api/runs", FORMAT_JSON, NULL);
    assert_route("/api/runs", METHOD_HEAD, "/api/runs", FORMAT_JSON, NULL);
    assert_route("/api/runs/x", METHOD_DELETE, "/api/runs/{id}", FORMAT_JSON, "x");
    assert_route("/api/runs/x/attention.npy", METHOD_GET, "/api/runs/{id}/attention", FORMAT_NPY, "x");
    assert_route("/api/runs/x/attention/mean.csv", METHOD_GET, "/api/runs/{id}/attention/mean", FORMAT_CSV,
                 "x");
    assert_route("/api/comparisons/x.csv", METHOD_GET, "/api/comparisons/{id}", FORMAT_CSV, "x");
    assert_route("/api/runs/x/model.safetensors", METHOD_GET, "/api/runs/{id}/model", FORMAT_SAFETENSORS,
                 "x");
    /* If the resource has no format with a suffix, the suffix belongs to the name. */
    assert_route("/api/runs/x.csv", METHOD_GET, "/api/runs/{id}", FORMAT_JSON, "x.csv");
    assert_route("/api/events", METHOD_GET, "/api/events", FORMAT_EVENTS, NULL);
    struct route_match match;
    router_match(&match, &api_routes, METHOD_GET, "/api/runs/x/cancel");
    ck_assert_ptr_null(match.route);
    ck_assert_uint_eq(match.allowed_methods, METHOD_POST);
    const char *const unknown[] = {"/",
                                   "",
                                   "/api",
                                   "/api/runs/",
                                   "/api/runs//events",
                                   "/api/runs/x/model",
                                   "/api/runs/x/model.csv",
                                   "/api/runs/x/",
                                   "/api/runs/x/y"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        router_match(&match, &api_routes, METHOD_GET, unknown[i]);
        ck_assert_uint_eq(match.allowed_methods, 0);
    }
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, paths_find_their_routes);
}
