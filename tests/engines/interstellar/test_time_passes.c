/* The proof where time counts, against lists of random energies and cycles: each search is answered by
 * looking through the list, and what the passes prove is the least cost of all, leakage included.
 * Tests: time_passes.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/random.h"
#include "engines/interstellar/time_passes.h"
#include "tests/engines/small_cases.h"

enum { POINTS = 60, WAIT = 7 };

struct point {
    double energy_j, cycle;
};

static double cost_of(const struct objective *objective, double leakage_w, const struct point *point)
{
    const double latency_s = (point->cycle + WAIT) / 1e9;
    return objective_cost_of(objective, point->energy_j + leakage_w * latency_s, latency_s);
}

/* Go through the passes, on a machine that leaks so much; a search may overlook the limit of time, as those
 * do that know only a part of it. */
static void prove(const struct objective *objective, double leakage_w, const struct point *point, int n,
                  bool overlooks)
{
    struct problem problem;
    struct architecture arch;
    struct time_passes passes;
    double best = INFINITY, optimum = INFINITY;
    int searches = 0;
    small_gemm(&problem, 10, 10, 10);
    small_machine(&arch, 64, 1024);
    arch.level[1].fill_latency_cycle = WAIT;
    arch.level[1].leakage_w = leakage_w;
    time_passes_begin(&passes, objective, &problem, &arch, 4); /* no fewer than 250 cycles */
    for (int i = 0; i < n; i++)
        optimum = fmin(optimum, cost_of(objective, leakage_w, &point[i]));
    for (bool more = true; more; searches++) {
        int found = -1;
        for (int i = 0; i < n; i++)
            if ((point[i].cycle <= passes.most_cycle || overlooks) && point[i].energy_j < passes.below_j &&
                (found < 0 || point[i].energy_j < point[found].energy_j))
                found = i;
        if (found >= 0)
            best = fmin(best, cost_of(objective, leakage_w, &point[found]));
        more = time_passes_next(&passes, found >= 0, found >= 0 ? point[found].energy_j : INFINITY, best);
        assert_true(searches < 200);
    }
    assert_true(fmin(passes.passed, best) <= optimum * (1 + 1e-9)); /* a bound in any case */
    if (!overlooks) {
        assert_true(fabs(best - optimum) <= 1e-9 * optimum);
        assert_true(passes.passed >= best * (1 - 1e-9));
    }
}

static void test_passes_prove_the_least_cost(void **state)
{
    static const struct objective objective[] = {{1, 0}, {0, 1}, {1, 1}, {1, 2}, {2, 1}};
    struct random_stream stream = random_stream_make(19, 0, RANDOM_TEST);
    (void)state;
    for (int i = 0; i < 4000; i++) {
        struct point point[POINTS];
        const int n = 1 + (int)random_below(&stream, POINTS);
        for (int k = 0; k < n; k++) {
            point[k].cycle = 250 + random_below(&stream, 3000);
            point[k].energy_j = 1e-6 * (1 + random_unit(&stream)) * (1 + 300 / point[k].cycle);
        }
        prove(&objective[i % 5], i % 3 ? 0 : 10 * random_unit(&stream), point, n, i % 7 == 0);
    }
}

/* A search that is left early leaves its bound by the fewest cycles. */
static void test_what_is_left_early_has_a_bound(void **state)
{
    const struct objective edp = {1, 1};
    struct problem problem;
    struct architecture arch;
    struct time_passes passes;
    (void)state;
    small_gemm(&problem, 10, 10, 10);
    small_machine(&arch, 64, 1024);
    time_passes_begin(&passes, &edp, &problem, &arch, 4);
    time_passes_leave(&passes, 2e-6);
    assert_true(fabs(passes.passed - 2e-6 * 250 / arch.clock_hz) <= 1e-20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes_prove_the_least_cost),
        cmocka_unit_test(test_what_is_left_early_has_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
