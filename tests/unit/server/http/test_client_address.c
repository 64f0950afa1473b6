/* Cutting an address to the part that one client cannot easily change. */
#include "server/http/client_address.h"
#include "tests/unit/main.h"

#include <stdio.h>
#include <stdlib.h>

START_TEST(addresses_are_cut_to_the_clients_part) {
    static const char *const cases[][2] = {
        {"192.0.2.1", "192.0.2.1"},
        {"::ffff:192.0.2.1", "192.0.2.1"},
        {"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"},
        {"fe80::1234%eth0", "fe80::"},
        {"::1", "::"},
        {"unknown", "unknown"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char address[INET6_ADDRSTRLEN];
        snprintf(address, sizeof address, "%s", cases[i][0]);
        client_address_cut(address);
        ck_assert_str_eq(address, cases[i][1]);
    }
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, addresses_are_cut_to_the_clients_part);
}
