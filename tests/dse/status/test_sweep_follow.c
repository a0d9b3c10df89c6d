/* How fast a sweep gets on, from what was seen of it. Expected rates are worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dse/status/sweep_follow.h"

static void test_follow_rate_prefers_what_was_seen(void **state)
{
    (void)state;
    const struct follow_sample slow[] = {{100, 50}, {102, 51}}, fast[] = {{100, 50}, {102, 90}, {104, 250}};
    /* 200 points in 4 s */
    assert_true(fabs(follow_rate(fast, 3, 10, 0) - 50) < 1e-12);
    /* one point seen says little: 51 - 11 points in 20 s since the run began */
    assert_true(fabs(follow_rate(slow, 2, 20, 11) - 2) < 1e-12);
    /* when the run does not say where it began: 1 point in 2 s */
    assert_true(fabs(follow_rate(slow, 2, 20, UINT64_MAX) - 0.5) < 1e-12);
    assert_true(isnan(follow_rate(slow, 1, 20, UINT64_MAX)));
    assert_true(isnan(follow_rate(slow, 0, 20, 0)));
    assert_true(isnan(follow_rate(slow, 1, NAN, 3)));
    assert_true(isnan(follow_rate(slow, 1, 5, 50))); /* nothing done yet */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_follow_rate_prefers_what_was_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
