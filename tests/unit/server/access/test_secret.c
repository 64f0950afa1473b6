/* Digests against the examples of FIPS 180-4 and NIST; secrets; identifiers. */
#include "server/access/secret.h"
#include "server/system/identifier.h"
#include "tests/unit/main.h"

#include <stdlib.h>
#include <string.h>

static void check_digest(const char *message, size_t size, const char *expected) {
    char text[SECRET_DIGEST_TEXT_SIZE];
    secret_digest_text(message, size, text);
    ck_assert_str_eq(text, expected);
}

START_TEST(digests_match_the_standard) {
    static char million[1000000];
    check_digest("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_digest("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
                 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(million, 'a', sizeof million);
    check_digest(million, sizeof million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    check_digest(million, 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    check_digest(million, 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}
END_TEST

START_TEST(secrets_differ_and_are_recognised) {
    char first[SECRET_SIZE];
    char second[SECRET_SIZE];
    ck_assert(secret_create(first, NULL) && secret_create(second, NULL));
    ck_assert_str_ne(first, second);
    ck_assert(secret_is_well_formed(first) && secret_is_well_formed(second));
    ck_assert(!secret_is_well_formed("") && !secret_is_well_formed("short"));
    first[5] = '\'';
    ck_assert(!secret_is_well_formed(first));
}
END_TEST

/* Many identifiers are made within one millisecond, and they still grow. */
START_TEST(identifiers_grow) {
    char before[ID_SIZE] = "", id[ID_SIZE];
    for (int i = 0; i < 2000; i++) {
        ck_assert(identifier_create(id, NULL));
        ck_assert_int_gt(strcmp(id, before), 0);
        memcpy(before, id, sizeof before);
    }
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, digests_match_the_standard);
    tcase_add_test(tests, secrets_differ_and_are_recognised);
    tcase_add_test(tests, identifiers_grow);
}
