/* Bounds from optima of other machines: one inequality by hand, two by hand, and many against random
 * mappings. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "dse/optimise/energy_cuts.h"

/* Three levels whose reads cost so much. */
static struct architecture machine(double register_j, double buffer_j, uint64_t words)
{
    struct architecture arch;
    memset(&arch, 0, sizeof arch);
    arch.n_level = 3;
    for (uint32_t v = 0; v < 3; v++) {
        struct storage_level *level = &arch.level[v];
        level->name[0] = (char)('a' + v);
        level->multiple_buffering = 1;
        level->size_word = v == 2 ? ARCH_UNLIMITED : words << v;
        level->read_energy_j = v == 0 ? register_j : v == 1 ? buffer_j : 200;
    }
    return arch;
}

/* 100 for MACs, 50 accesses of the register at 1, 400 for the rest. At half the buffer's energy the rest is
 * 200 or more (all could be the buffer's), the register's share with 2 is 100: 100 + 100 + 200. */
static void test_energy_cuts_one(void **state)
{
    (void)state;
    const struct architecture known = machine(1, 8, 64), asked = machine(2, 4, 32);
    const struct energy_cut cut = {&known, 550, 100, 50};
    assert_true(fabs(energy_cuts_bound(&asked, &cut, 1) - 400) < 1e-9);
    assert_true(fabs(energy_cuts_bound(&known, &cut, 1) - 550) < 1e-9);
}

/* Optima of 300 with the buffer at 2 and of 400 at 8. At 4 the mean by distance, 2/3 and 1/3, is a bound,
 * since the least of sums is concave: 333.3. */
static void test_energy_cuts_two(void **state)
{
    (void)state;
    const struct architecture low = machine(1, 2, 64), high = machine(1, 8, 64), asked = machine(1, 4, 64);
    const struct energy_cut cut[] = {{&low, 300, 0, 0}, {&high, 400, 0, 0}};
    assert_true(fabs(energy_cuts_bound(&asked, cut, 2) - (2 * 300 + 400) / 3.0) < 1e-9);
}

static void test_energy_cuts_no_mapping(void **state)
{
    (void)state;
    const struct architecture known = machine(1, 8, 64), asked = machine(1, 8, 32);
    const struct energy_cut cut = {&known, INFINITY, 0, 0};
    assert_true(isinf(energy_cuts_bound(&asked, &cut, 1)));
    assert_true(machine_holds(&known, &asked));
    assert_false(machine_holds(&asked, &known));
}

/* Random mappings, each so many accesses of buffer and DRAM, all of which fit all machines. The bound is
 * never above the least energy of them, and it is that where the machine is one of those known. */
static void test_energy_cuts_never_above(void **state)
{
    (void)state;
    enum { MAPPINGS = 20, CUTS = 6 };
    struct random_stream stream = random_stream_make(5, 6, 7);
    for (int round = 0; round < 200; round++) {
        double access[MAPPINGS][2];
        struct architecture arch[CUTS + 1];
        struct energy_cut cut[CUTS];
        double least = INFINITY;
        for (int m = 0; m < MAPPINGS; m++)
            for (int i = 0; i < 2; i++)
                access[m][i] = 1 + random_below(&stream, 1000);
        for (int k = 0; k <= CUTS; k++) {
            arch[k] = machine(1 + random_below(&stream, 3), random_below(&stream, 300), 64);
            least = INFINITY;
            for (int m = 0; m < MAPPINGS; m++)
                least = fmin(least, 7 + 30 * arch[k].level[0].read_energy_j +
                                        access[m][0] * arch[k].level[1].read_energy_j + access[m][1] * 200);
            if (k < CUTS)
                cut[k] = (struct energy_cut){&arch[k], least, 7, 30 * arch[k].level[0].read_energy_j};
        }
        const double bound = energy_cuts_bound(&arch[CUTS], cut, CUTS);
        assert_true(bound > 0 && bound <= least * (1 + 1e-12));
        assert_true(fabs(energy_cuts_bound(&arch[0], cut, CUTS) - cut[0].least_j) < 1e-9 * cut[0].least_j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_energy_cuts_one),
        cmocka_unit_test(test_energy_cuts_two),
        cmocka_unit_test(test_energy_cuts_no_mapping),
        cmocka_unit_test(test_energy_cuts_never_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
