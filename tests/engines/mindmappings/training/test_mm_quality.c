/* Rank correlations and errors against values worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engines/mindmappings/training/mm_quality.h"

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

static void test_correlations_by_hand(void **unused)
{
    (void)unused;
    /* two problems of four: ranks in the first 1 2 3 4 against 1 2 4 3: 1 - 6 (1 + 1) / (4 x 15) = 0.8; in
     * the second 1 2 3 4 against 4 3 2 1: -1. Of all: the ranks 1 .. 8 against 1 2 4 3 8 7 6 5: 1 - 6 (1 + 1
     * + 9 + 1 + 1 + 9) / (8 x 63) = 1 - 132 / 504 */
    double is[] = {1, 2, 3, 4, 10, 20, 30, 40}, said[] = {1, 2, 6, 3, 80, 40, 30, 20};
    struct mm_quality quality;
    assert_int_equal(mm_quality_of_edp(is, said, 8, 4, &quality, NULL), DSE_OK);
    assert_true(is_near(quality.spearman_within, (0.8 - 1) / 2));
    assert_true(is_near(quality.spearman, 1 - 132.0 / 504));
    assert_true(isnan(quality.spearman_low)); /* a tenth of eight is none */
    /* errors 0, 0, 1, 0.25, 7, 1, 0, 0.5: the middle of 0 0 0 0.25 0.5 1 1 7 */
    assert_true(is_near(quality.median_error, 0.375));
}

static void test_the_cheapest_tenth(void **unused)
{
    (void)unused;
    double is[40], said[40];
    struct mm_quality quality;
    for (int i = 0; i < 40; i++) {
        is[i] = 40 - i;
        said[i] = is[i];
    }
    said[39] = 2.5; /* the first of 1 2 3 4 is said to be the third */
    said[38] = 1;
    said[37] = 2;
    assert_int_equal(mm_quality_of_edp(is, said, 40, 10, &quality, NULL), DSE_OK);
    /* 1 2 3 4 against 2.5 1 2 4, ranks 3 1 2 4: 1 - 6 (4 + 1 + 1) / 60 */
    assert_true(is_near(quality.spearman_low, 0.4));
    assert_true(quality.median_error == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_correlations_by_hand),
        cmocka_unit_test(test_the_cheapest_tenth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
