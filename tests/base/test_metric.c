/* The table of metrics: every row says what it is, and loops over it sum, check and clear. Values by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/metric.h"

static void test_metric_every_row_describes_its_member(void **state)
{
    (void)state;
    size_t n;
    const struct metric *all = metric_all(&n);
    assert_int_equal(n * sizeof(union metric_value), sizeof(struct metrics)); /* each member has a row */
    for (size_t i = 0; i < n; i++) {
        assert_true(all[i].sentence[0] != '\0' && all[i].unit[0] != '\0');
        assert_int_equal(all[i].offset, i * sizeof(union metric_value));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(all[i].name, all[k].name);
    }
}

static void test_metric_sum_counts_layers(void **state)
{
    (void)state;
    struct metrics sum, one;
    size_t n;
    const struct metric *all = metric_all(&n);
    metrics_init(&sum);
    metrics_init(&one);
    assert_true(isnan(sum.energy_j) && sum.n_mac == METRIC_U64_MISSING);
    one.energy_j = 1.5;
    one.latency_cycle = 10;
    one.edp_js = 3;
    for (size_t i = 0; i < n; i++)
        metric_fold_begin(&all[i], (char *)&sum + all[i].offset);
    for (int layer = 0; layer < 2; layer++)
        for (size_t i = 0; i < n; i++)
            metric_fold(&all[i], (char *)&sum + all[i].offset, (const char *)&one + all[i].offset, 3);
    assert_true(sum.energy_j == 9 && sum.latency_cycle == 60);            /* 2 layers, 3 times each */
    assert_true(isnan(sum.dram_byte) && sum.n_mac == METRIC_U64_MISSING); /* missing of one layer: of all */
    assert_true(isnan(sum.edp_js));                                       /* no function of the layers' own */
}

static void test_metric_max_is_of_all_layers(void **state)
{
    (void)state;
    const struct metric byte = {.name = "x", .type = METRIC_F64, .fold = METRIC_MAX};
    const struct metric count = {.name = "y", .type = METRIC_U64, .fold = METRIC_MAX};
    double most, value[] = {2, 5, 3};
    uint64_t n_most, n[] = {7, 1, METRIC_U64_MISSING};
    metric_fold_begin(&byte, &most);
    metric_fold_begin(&count, &n_most);
    for (int i = 0; i < 3; i++)
        metric_fold(&byte, &most, &value[i], 9);
    for (int i = 0; i < 2; i++)
        metric_fold(&count, &n_most, &n[i], 9);
    assert_true(most == 5 && n_most == 7);
    metric_fold(&count, &n_most, &n[2], 1);
    assert_true(n_most == METRIC_U64_MISSING);
    value[0] = NAN;
    metric_fold(&byte, &most, &value[0], 1);
    metric_fold(&byte, &most, &value[1], 1);
    assert_true(isnan(most));
}

static void test_metric_numbers_are_missing_or_sound(void **state)
{
    (void)state;
    const struct metric real = {.name = "x", .type = METRIC_F64}, count = {.name = "y", .type = METRIC_U64};
    const double value[] = {0, 1, NAN, -1, INFINITY};
    static const bool sound[] = {true, true, true, false, false};
    union metric_value missing;
    for (int i = 0; i < 5; i++)
        assert_int_equal(metric_is_sound(&real, &value[i]), sound[i]);
    memset(&missing, 0xff, sizeof missing); /* missing as a number of either kind */
    assert_true(isnan(metric_number(&real, &missing)) && isnan(metric_number(&count, &missing)));
    missing.u64 = 12;
    assert_true(metric_number(&count, &missing) == 12);
    const struct metric less = {.better = METRIC_LESS}, more = {.better = METRIC_MORE};
    assert_true(metric_direction(&less) == -1 && metric_direction(&more) == 1 &&
                metric_direction(&real) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metric_every_row_describes_its_member),
        cmocka_unit_test(test_metric_sum_counts_layers),
        cmocka_unit_test(test_metric_max_is_of_all_layers),
        cmocka_unit_test(test_metric_numbers_are_missing_or_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
