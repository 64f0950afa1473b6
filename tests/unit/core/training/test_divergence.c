/* What a run says when its loss stops being finite: the advice follows from what was seen. */
#include "core/training/divergence.h"

#include "tests/unit/main.h"

#include <math.h>
#include <string.h>

static const float small[] = {0.5F, -2}, large[] = {1, 250000};

static const struct {
    double earlier, latest, learning_rate;
    const float *features; /* NULL: text */
    const char *said, *unsaid;
} sights[] = {
    /* large from the start */
    {104.2, 9158, 0.005, large,
     "It was large from the start, 104, where guessing gives 0.69: the features reach 2.5e+05. Bring them "
     "near 1, for example by standardise",
     "learning_rate"},
    {(double)NAN, (double)NAN, 0.005, large,
     "the features reach 2.5e+05. Bring them near 1, for example by standardise", "learning_rate"},
    {0.7, 3e30, 5, small,
     "It had grown from 0.7 to 3e+30. Try a smaller learning_rate than 5, for example 0.005", "tandardise"},
    {0.7, 3e30, 5, NULL, "Try a smaller learning_rate than 5, for example 0.005", "tandardise"},
    {0.7, 0.6, 0.01, small,
     "This was sudden: one step before, the loss was 0.6. Try a smaller learning_rate than 0.01, for example "
     "0.001",
     "tandardise"},
    {0.7, 0.6, 0.01, large, "This was sudden: one step before, the loss was 0.6. Look for extreme numbers",
     "learning_rate"},
    /* never a rate that no run would use */
    {0.7, 3e30, 1e-300, small, "The learning_rate is small already", "for example"},
};

START_TEST(the_advice_follows_from_what_was_seen) {
    struct example_set examples = {.count = 1, .values = sights[_i].features};
    struct divergence divergence = {.what = "the loss stopped being finite",
                                    .step = 70,
                                    .epoch = 3,
                                    .earlier = sights[_i].earlier,
                                    .latest = sights[_i].latest,
                                    .class_count = 2,
                                    .learning_rate = sights[_i].learning_rate,
                                    .examples = &examples,
                                    .sequence_length = 2};
    struct error error = {0};
    ck_assert(!divergence_set(&divergence, &error));
    ck_assert_int_eq(error.code, ERROR_DIVERGED);
    ck_assert_ptr_nonnull(strstr(error.message, "the loss stopped being finite at step 70 (epoch 3). "));
    ck_assert_msg(strstr(error.message, sights[_i].said) != NULL, "%s", error.message);
    ck_assert_msg(strstr(error.message, sights[_i].unsaid) == NULL, "%s", error.message);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_loop_test(tests, the_advice_follows_from_what_was_seen, 0,
                        (int)(sizeof sights / sizeof sights[0]));
}
