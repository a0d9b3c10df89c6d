/* The start of engine optimal: whenever it is stopped there is an answer, and what cells that differ in
 * bandwidth alone share is found anew where it is not known. That nothing depends on what is known, random
 * cases say in test_optimal_known.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engines/driver/known_bounds.h"
#include "tests/engines/small_cases.h"
#include "tests/support/engine_case.h"
#include "tests/support/mapping_same.h"
#include "tests/support/random_case.h"

static struct engine_result solve(double bandwidth, struct known_bounds *known, struct engine_budget budget)
{
    static struct engine_result found;
    const uint32_t bound[] = {3, 3, 14, 14, 16, 32, 1};
    struct engine_task task = {
        .seed = 1, .key = 2, .batch = 1, .objective = {1, 1}, .budget = budget, .known = known};
    struct problem problem;
    struct architecture arch;
    struct dse_error err;
    random_case_conv(&problem, "conv", bound, "N C P+R Q+S");
    small_machine(&arch, 24, 1024);
    arch.level[arch.n_level - 1].shared_bandwidth_word_per_cycle = bandwidth;
    assert_int_equal(engine_case_solve("optimal", NULL, 0, &problem, &arch, task, &found, &err), DSE_OK);
    return found;
}

static void test_there_is_an_answer_at_once(void **state)
{
    (void)state;
    const struct engine_result late = solve(0.5, NULL, (struct engine_budget){.max_seconds = 1e-9});
    assert_true(late.feasible && late.stop == STOP_MAX_SECONDS);
    const struct engine_result one = solve(0.5, NULL, (struct engine_budget){.max_evaluations = 1});
    assert_true(one.feasible && one.stop == STOP_MAX_EVALUATIONS && one.n_evaluation == 1);
}

/* Bandwidths from one that decides to one that does not, in both directions. */
static void test_cells_end_as_alone(void **state)
{
    (void)state;
    static const double bandwidth[] = {0.01, 0.1, 1, 1e6, 1, 0.1, 0.01};
    struct known_bounds *known;
    struct dse_error err;
    double last = 0;
    assert_int_equal(known_bounds_new(4096, &known, &err), DSE_OK);
    for (size_t i = 0; i < sizeof bandwidth / sizeof bandwidth[0]; i++) {
        const struct engine_result alone = solve(bandwidth[i], NULL, (struct engine_budget){0});
        const struct engine_result found = solve(bandwidth[i], known, (struct engine_budget){0});
        assert_int_equal(alone.stop, STOP_OPTIMAL);
        assert_int_equal(found.n_evaluation, alone.n_evaluation);
        assert_int_equal(found.n_draw, alone.n_draw);
        assert_true(found.cost == alone.cost && mapping_same(&found.mapping, &alone.mapping));
        if (i > 0) /* more bandwidth is no worse */
            assert_true(bandwidth[i] > bandwidth[i - 1] ? found.cost <= last : found.cost >= last);
        last = found.cost;
    }
    known_bounds_free(known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_is_an_answer_at_once),
        cmocka_unit_test(test_cells_end_as_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
