/* The lower bounds of rows: what the efforts give on a convolution, that they hold for every mapper on random
 * cases (the driver refuses an answer below them), and where they stay what they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/engines/optimal/optimal_case.h"
#include "tests/engines/small_cases.h"
#include "tests/support/engine_case.h"

#ifndef BOUND_CASES
#define BOUND_CASES 120
#endif

static struct engine_result solve(const char *engine, const struct engine_setting *setting, size_t n,
                                  const struct problem *problem, const struct architecture *arch,
                                  struct engine_task task)
{
    struct engine_result found;
    struct dse_error err;
    if (engine_case_solve(engine, setting, n, problem, arch, task, &found, &err) != DSE_OK)
        fail_msg("%s: %s", engine, err.text);
    return found;
}

static void layer_and_machine(struct problem *problem, struct architecture *arch)
{
    const uint32_t bound[] = {3, 3, 14, 14, 16, 32, 1};
    random_case_conv(problem, "conv", bound, "N C P+R Q+S");
    small_machine(arch, 24, 1024);
    arch->strict_fanout = true;
}

static void test_more_effort_gives_a_closer_bound(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct engine_task task = {.seed = 1, .key = 1, .objective = {1, 1}};
    layer_and_machine(&problem, &arch);
    const struct engine_result best = solve("optimal", NULL, 0, &problem, &arch, task);
    assert_int_equal(best.bound_kind, BOUND_PROOF);
    assert_true(best.lower_bound.edp_js >= best.cost * (1 - 1e-10)); /* what the search has proved */
    task.budget.max_evaluations = 20000;
    task.bound_effort = BOUND_EFFORT_QUICK;
    const struct engine_result quick = solve("descent", NULL, 0, &problem, &arch, task);
    task.bound_effort = BOUND_AUTO;
    const struct engine_result automatic = solve("descent", NULL, 0, &problem, &arch, task);
    task.bound_effort = BOUND_STRONG;
    const struct engine_result strong = solve("descent", NULL, 0, &problem, &arch, task);
    assert_int_equal(quick.bound_kind, BOUND_QUICK);
    assert_true(automatic.bound_kind > BOUND_QUICK);
    assert_true(automatic.lower_bound.edp_js > 1.01 * quick.lower_bound.edp_js);
    assert_true(strong.lower_bound.edp_js >= automatic.lower_bound.edp_js);
    assert_true(strong.lower_bound.edp_js <= best.cost * (1 + 1e-10));
    assert_true(quick.cost == strong.cost && quick.cost == automatic.cost); /* the search is the same */
    assert_true(quick.n_evaluation == strong.n_evaluation);
}

static void test_where_no_engine_has_a_closer_bound_it_is_quick(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    const struct engine_setting bypass = {"search_bypass", "true"};
    const struct engine_task task = {.seed = 1,
                                     .key = 1,
                                     .objective = {1, 0},
                                     .budget = {.max_evaluations = 5000},
                                     .bound_effort = BOUND_STRONG};
    layer_and_machine(&problem, &arch);
    assert_true(solve("descent", &bypass, 1, &problem, &arch, task).bound_kind > BOUND_QUICK);
    assert_true(solve("descent", NULL, 0, &problem, &arch, task).bound_kind > BOUND_QUICK);
    arch.link_transfers = true;
    assert_int_equal(solve("descent", NULL, 0, &problem, &arch, task).bound_kind, BOUND_QUICK);
}

static void test_no_mapper_finds_anything_below(void **state)
{
    (void)state;
    static const char *const mappers[] = {"random", "hybrid", "descent", "annealing", "genetic", "cosa-best"};
    static const struct objective objectives[] = {{1, 1}, {1, 0}, {0, 1}, {1, 2}};
    for (uint64_t i = 0; i < BOUND_CASES; i++) {
        struct problem problem;
        struct architecture arch;
        const struct engine_task task = {.seed = i,
                                         .key = i,
                                         .objective = objectives[i % 4],
                                         .budget = {.max_evaluations = i % 3 ? 300 : 3000},
                                         .bound_effort = i % 2 ? BOUND_STRONG : BOUND_AUTO};
        const struct engine_setting bypass = {"search_bypass", i % 5 ? "false" : "true"};
        optimal_case(i, 96, &problem, &arch);
        solve(mappers[i / 4 % 6], &bypass, i / 4 % 6 < 5, &problem, &arch, task);
    }
}

static void test_efforts_are_words(void **state)
{
    (void)state;
    enum bound_effort effort;
    struct dse_error err;
    assert_int_equal(bound_effort_parse("strong", &effort, &err), DSE_OK);
    assert_int_equal(effort, BOUND_STRONG);
    assert_int_equal(bound_effort_parse("auto", &effort, &err), DSE_OK);
    assert_int_equal(effort, BOUND_AUTO);
    assert_int_equal(bound_effort_parse("best", &effort, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, "bound best: auto, quick or strong is expected");
    assert_string_equal(bound_kind_text(BOUND_PROOF), "proof");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more_effort_gives_a_closer_bound),
        cmocka_unit_test(test_where_no_engine_has_a_closer_bound_it_is_quick),
        cmocka_unit_test(test_no_mapper_finds_anything_below),
        cmocka_unit_test(test_efforts_are_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
