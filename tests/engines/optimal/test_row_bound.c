/* Lower bounds of rows on random cases: none is above the optimum, which engine `optimal` proves, whatever
 * work they may take, and more work never gives less; every third machine leaks. -D OPTIMAL_CASES=10000 makes
 * more of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/mapspace/mapspace.h"
#include "engines/optimal/row_bound.h"
#include "tests/engines/optimal/optimal_case.h"
#include "tests/engines/small_cases.h"
#include "tests/support/engine_case.h"

#ifndef OPTIMAL_CASES
#define OPTIMAL_CASES 60
#endif

static const char *const objectives[] = {"edp", "energy", "latency"};

/* The least energy, latency and EDP, by engine optimal; false: there is no mapping. */
static bool optima(const struct problem *problem, const struct architecture *arch, uint64_t key,
                   struct lower_bound *out)
{
    double *const cost[] = {&out->edp_js, &out->energy_j, &out->latency_s};
    for (size_t k = 0; k < 3; k++) {
        struct engine_task task = {.seed = 1, .key = key, .batch = 1, .bound_effort = BOUND_EFFORT_QUICK};
        struct engine_result found;
        struct dse_error err;
        const struct engine_setting starts = {"starts", "2"};
        assert_int_equal(objective_parse(objectives[k], &task.objective, &err), DSE_OK);
        assert_int_equal(engine_case_solve("optimal", &starts, 1, problem, arch, task, &found, &err), DSE_OK);
        if (!found.feasible)
            return false;
        assert_int_equal(found.stop, STOP_OPTIMAL);
        *cost[k] = found.cost;
    }
    return true;
}

static void check_row(const struct bound_question *asked, const struct lower_bound *optimum, uint64_t i)
{
    struct bound_question question = *asked;
    struct arena arena, kept;
    struct dse_error err;
    double last = 0;
    arena_init(&arena);
    arena_init(&kept);
    assert_int_equal(mapspace_new(question.problem, question.arch, NULL, false, &kept, &question.space, &err),
                     DSE_OK);
    for (question.work = 1; question.work < 10000000; question.work *= 8) {
        struct lower_bound bound;
        enum bound_kind kind = BOUND_QUICK;
        lower_bound_compute(question.problem, question.arch, &bound);
        assert_int_equal(row_bound(&question, &arena, &bound, &kind, &err), DSE_OK);
        if (!(bound.edp_js <= optimum->edp_js * (1 + 1e-10)) ||
            !(bound.energy_j <= optimum->energy_j * (1 + 1e-10)) ||
            !(bound.latency_s <= optimum->latency_s * (1 + 1e-10)))
            fail_msg("case %llu, work %llu: bounds %.17g J s, %.17g J, %.17g s; optima %.17g, %.17g, %.17g",
                     (unsigned long long)i, (unsigned long long)question.work, bound.edp_js, bound.energy_j,
                     bound.latency_s, optimum->edp_js, optimum->energy_j, optimum->latency_s);
        const double first = asked->objective.delay_exponent <= 0    ? bound.energy_j
                             : asked->objective.energy_exponent <= 0 ? bound.latency_s
                                                                     : bound.edp_js;
        assert_true(first >= last * (1 - 1e-12));
        last = first;
        if (kind == BOUND_PROOF)
            assert_true(objective_cost_of(&question.objective, question.energy_j, question.latency_s) <=
                            objective_cost_of(&question.objective, optimum->energy_j, optimum->latency_s) *
                                (1 + 1e-10) ||
                        question.objective.energy_exponent * question.objective.delay_exponent > 0);
        arena_reset(&arena);
    }
    arena_free(&arena);
    arena_free(&kept);
}

static void test_no_bound_is_above_the_optimum(void **state)
{
    (void)state;
    uint32_t n = 0;
    for (uint64_t i = 0; i < OPTIMAL_CASES; i++) {
        struct problem problem;
        struct architecture arch;
        struct lower_bound optimum;
        struct engine_task task = {.seed = 1, .key = i, .batch = 1, .budget = {.max_evaluations = 300}};
        struct engine_result found;
        struct dse_error err;
        optimal_case(i, 96, &problem, &arch);
        if (i / 3 % 3 == 0) {
            struct random_stream stream = random_stream_make(3, i, RANDOM_TEST);
            random_case_leakage(&stream, &arch);
        }
        if (!optima(&problem, &arch, i, &optimum))
            continue;
        assert_int_equal(objective_parse(objectives[i % 3], &task.objective, &err), DSE_OK);
        assert_int_equal(
            engine_case_solve(i % 2 ? "descent" : "random", NULL, 0, &problem, &arch, task, &found, &err),
            DSE_OK);
        if (!found.feasible)
            continue;
        n++;
        check_row(&(struct bound_question){.problem = &problem,
                                           .arch = &arch,
                                           .objective = task.objective,
                                           .energy_j = found.evaluation.energy_j,
                                           .latency_s = found.evaluation.latency_s},
                  &optimum, i);
    }
    assert_true(n > OPTIMAL_CASES / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_bound_is_above_the_optimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
