/* Totals of an evaluation as metrics; the expected sums are of the numbers below, by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "costmodel/accounting/evaluator.h"

/* Two levels on the chip, and n_level - 2 DRAMs outside. What stands behind n_level is of another machine. */
static struct metrics metrics_with(uint32_t n_level)
{
    static struct architecture arch;
    static const struct evaluation e = {.latency_cycle = 3000,
                                        .n_compute = 4096,
                                        .utilization = 0.75,
                                        .energy_j = 127,
                                        .energy_mac_j = 0.5,
                                        .level_energy_j = {1, 2, 4, 8},
                                        .network_energy_j = {16, 32, 64, 128},
                                        .level_byte = {100, 200, 400, 800},
                                        .latency_s = 3e-6,
                                        .edp_js = 381e-6};
    struct metrics m;
    arch.n_level = n_level;
    arch.level[2].is_dram = arch.level[3].is_dram = true;
    evaluation_metrics(&e, &arch, architecture_area_mm2(&arch), &m);
    return m;
}

static void test_totals_are_taken_over(void **state)
{
    struct metrics m = metrics_with(3);
    (void)state;
    assert_true(m.latency_s == 3e-6 && m.energy_j == 127 && m.edp_js == 381e-6 && m.utilization == 0.75);
    assert_true(m.energy_mac_j == 0.5);
    assert_int_equal(m.latency_cycle, 3000);
    assert_int_equal(m.n_mac, 4096);
}

static void test_levels_are_summed_on_and_off_the_chip(void **state)
{
    struct metrics one = metrics_with(3), two = metrics_with(4), none = metrics_with(2);
    (void)state;
    assert_true(one.energy_buffer_j == 1 + 2 && one.onchip_byte == 100 + 200);
    assert_true(one.energy_dram_j == 4 && one.dram_byte == 400);
    assert_true(one.energy_noc_j == 16 + 32 + 64);
    assert_true(two.energy_dram_j == 4 + 8 && two.dram_byte == 400 + 800);
    assert_true(two.energy_buffer_j == 1 + 2 && two.energy_noc_j == 16 + 32 + 64 + 128);
    assert_true(none.energy_dram_j == 0 && none.dram_byte == 0);
}

static void test_what_an_evaluation_does_not_say_is_missing(void **state)
{
    struct metrics m = metrics_with(3);
    (void)state;
    assert_true(isnan(m.bound_latency_ratio) && isnan(m.bound_energy_ratio) && isnan(m.bound_edp_ratio));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_totals_are_taken_over),
        cmocka_unit_test(test_levels_are_summed_on_and_off_the_chip),
        cmocka_unit_test(test_what_an_evaluation_does_not_say_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
