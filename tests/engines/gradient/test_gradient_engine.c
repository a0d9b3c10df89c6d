/* The engine `gradient` on Mind Mappings' problems, by evaluations: the figures that docs/gradient.md
 * promises; an answer also when the time is over before a price was asked for; seeds and limits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/engines/small_cases.h"
#include "tests/support/engine_case.h"
#include "tests/support/mindmappings_case.h"

static const struct engine_setting bypass = {"search_bypass", "true"};

static void solve(const struct problem *problem, const struct architecture *arch, uint64_t seed,
                  struct engine_budget budget, struct engine_result *result)
{
    struct dse_error err;
    struct engine_task task = {
        .objective = {1, 1}, .seed = seed, .key = problem_hash(problem), .budget = budget};
    assert_int_equal(engine_case_solve("gradient", &bypass, 1, problem, arch, task, result, &err), DSE_OK);
}

/* Geometric means over six problems and two seeds. */
static void test_few_evaluations_are_enough(void **state)
{
    (void)state;
    static struct mindmappings_case c;
    struct dse_error err;
    double log_20 = 0, log_1000 = 0;
    enum { N_SEED = 2 };
    assert_int_equal(mindmappings_case_init(&c, &err), DSE_OK);
    for (int i = 0; i < MINDMAPPINGS_PROBLEMS; i++)
        for (uint64_t seed = 1; seed <= N_SEED; seed++) {
            struct engine_result r;
            solve(&c.problem[i], &c.arch, seed, (struct engine_budget){.max_evaluations = 1000}, &r);
            log_20 += log(mindmappings_case_within(i, &r, 20)) / (MINDMAPPINGS_PROBLEMS * N_SEED);
            log_1000 += log(mindmappings_case_within(i, &r, 1000)) / (MINDMAPPINGS_PROBLEMS * N_SEED);
        }
    if (!(exp(log_20) <= 3.6 && exp(log_1000) <= 3.35))
        fail_msg("%.3f after 20 evaluations, %.3f after 1,000", exp(log_20), exp(log_1000));
}

/* The first batch is made, and the best mapping so far is priced at the end. */
static void test_an_ended_search_has_an_answer(void **state)
{
    (void)state;
    static struct mindmappings_case c;
    struct dse_error err;
    struct engine_result r;
    assert_int_equal(mindmappings_case_init(&c, &err), DSE_OK);
    solve(&c.problem[1], &c.arch, 1, (struct engine_budget){.max_seconds = 1e-9}, &r);
    assert_true(r.feasible);
    assert_int_equal(r.stop, STOP_MAX_SECONDS);
    assert_int_equal(r.n_evaluation, 1);
}

/* What no projection can satisfy, as nothing fits with all loops outside: a random mapping is the start. */
static void test_minimum_utilization_is_met(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct engine_result r;
    small_gemm(&problem, 8, 4, 6);
    small_machine(&arch, 8, 4096);
    arch.level[0].min_utilization = 0.5;
    solve(&problem, &arch, 1, (struct engine_budget){0}, &r);
    assert_true(r.feasible);
}

/* One descent, its mapping priced as it is. */
static void test_seeds_give_other_descents(void **state)
{
    (void)state;
    static struct mindmappings_case c;
    static const struct engine_setting one[] = {
        {"descents", "1"}, {"refined", "0"}, {"polished", "0"}, {"search_bypass", "true"}};
    struct dse_error err;
    struct engine_result r[3];
    static const uint64_t seed[3] = {1, 2, 1};
    assert_int_equal(mindmappings_case_init(&c, &err), DSE_OK);
    for (int i = 0; i < 3; i++) {
        struct engine_task task = {.objective = {1, 1}, .seed = seed[i], .key = 5};
        assert_int_equal(engine_case_solve("gradient", one, 4, &c.problem[0], &c.arch, task, &r[i], &err),
                         DSE_OK);
        assert_int_equal(r[i].n_evaluation, 1);
        assert_int_equal(r[i].stop, STOP_CONVERGED);
    }
    assert_true(r[0].cost != r[1].cost);
    assert_true(r[0].cost == r[2].cost);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_evaluations_are_enough),
        cmocka_unit_test(test_an_ended_search_has_an_answer),
        cmocka_unit_test(test_minimum_utilization_is_met),
        cmocka_unit_test(test_seeds_give_other_descents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
