/* What leaks, by hand. Tests: architecture_leakage.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/architecture.h"

/* 8 MACs of 1 W behind 4 registers of 10 W behind a buffer of 100 W; 2 Hz, so that halves are exact. */
static struct architecture machine(bool gating)
{
    struct architecture arch = {.clock_hz = 2, .strict_fanout = true, .power_gating = gating, .n_level = 2};
    arch.mac.instances = 8;
    arch.mac.leakage_w = 1;
    arch.level[0].instances = 4;
    arch.level[0].leakage_w = 10;
    arch.level[1].instances = 1;
    arch.level[1].leakage_w = 100;
    return arch;
}

static void test_only_gating_heeds_what_is_in_use(void **state)
{
    const double used[] = {3, 1};
    const struct architecture always = machine(false), gated = machine(true), none = {.n_level = 2};
    (void)state;
    assert_true(architecture_leakage_w(&always, used, 5) == 8 + 40 + 100);
    assert_true(architecture_leakage_w(&gated, used, 5) == 5 + 30 + 100);
    assert_true(architecture_all_leakage_w(&always) == 148);
    assert_true(architecture_all_leakage_w(&none) == 0);
}

/* 12 multiply-accumulates in 6 cycles of half a second: two MACs at least, which may lie behind one register.
 * In 2 cycles six MACs, that is three registers, as each serves two of them; more on a machine where a
 * register's loops may lie anywhere in the array: one. */
static void test_the_least_is_what_the_work_needs(void **state)
{
    struct architecture gated = machine(true);
    const struct architecture always = machine(false);
    (void)state;
    assert_true(architecture_least_leakage_j(&always, 12, 6) == 148 * 3);
    assert_true(architecture_least_leakage_j(&gated, 12, 6) == (100 + 10 + 2) * 3);
    assert_true(architecture_least_leakage_j(&gated, 12, 2) == (100 + 30 + 6) * 1);
    gated.strict_fanout = false;
    assert_true(architecture_least_leakage_j(&gated, 12, 2) == (100 + 10 + 6) * 1);
}

static void test_whole_schedules_leak_always(void **state)
{
    char reason[256];
    struct architecture arch = machine(true);
    (void)state;
    assert_true(architecture_all_leakage_j(&arch, 6) == 148 * 3);
    assert_false(architecture_leaks_always(&arch, reason, sizeof reason));
    assert_non_null(strstr(reason, "set power_gating to off"));
    architecture_stop_leakage(&arch);
    assert_true(architecture_all_leakage_w(&arch) == 0);
    assert_true(architecture_leaks_always(&arch, reason, sizeof reason)); /* nothing to gate */
    arch = machine(false);
    assert_true(architecture_leaks_always(&arch, reason, sizeof reason));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_gating_heeds_what_is_in_use),
        cmocka_unit_test(test_the_least_is_what_the_work_needs),
        cmocka_unit_test(test_whole_schedules_leak_always),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
