/* The front of a layer against all mappings, priced one by one, on random problems (strides, dilation,
 * depthwise, batch) and machines (blocks, bandwidths, roles, network energies); its ends and the best EDP are
 * what single searches find. -D FRONT_CASES=1000 makes more of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "dse/solve/exact_front.h"
#include "engines/mapspace/mapspace_enumerate.h"
#include "engines/mapspace/mapspace_order.h"
#include "tests/engines/optimal/optimal_case.h"

#ifndef FRONT_CASES
#define FRONT_CASES 100
#endif

enum { MAPPING_MAX = 40000, POINT_MAX = 512 };

struct point {
    double energy_j;
    uint64_t cycle;
};

struct points {
    size_t n;
    struct point point[POINT_MAX];
};

static void offer(struct points *front, double energy_j, uint64_t cycle)
{
    size_t n = 0;
    for (size_t i = 0; i < front->n; i++)
        if (front->point[i].energy_j <= energy_j && front->point[i].cycle <= cycle)
            return;
    for (size_t i = 0; i < front->n; i++)
        if (front->point[i].energy_j < energy_j || front->point[i].cycle < cycle)
            front->point[n++] = front->point[i];
    assert_true(n < POINT_MAX);
    front->point[n++] = (struct point){energy_j, cycle};
    front->n = n;
}

/* Every mapping; false: there are too many. */
static bool all_mappings(const struct problem *problem, const struct architecture *arch, struct arena *arena,
                         struct points *front)
{
    const struct mapspace *space;
    struct mapspace_enumerator *enumerator;
    struct evaluator *evaluator;
    struct eval_workspace *workspace;
    struct mapping mapping;
    struct dse_error err;
    uint32_t n = 0;
    front->n = 0;
    assert_int_equal(mapspace_new(problem, arch, NULL, false, arena, &space, &err), DSE_OK);
    assert_int_equal(evaluator_new(&accounting_timeloop, problem, arch, &evaluator, &err), DSE_OK);
    assert_int_equal(eval_workspace_new(evaluator, &workspace, &err), DSE_OK);
    if (!mapspace_is_empty(space)) {
        assert_int_equal(mapspace_enumerator_new(space, arena, &enumerator, &err), DSE_OK);
        while (n < MAPPING_MAX &&
               mapspace_enumerator_next(enumerator, UINT32_MAX, &mapping, NULL) == ENUMERATE_FOUND) {
            struct order_walk walk;
            struct evaluation evaluation;
            (void)order_walk_start(&walk, space, &mapping, true);
            do {
                if (evaluator_run(evaluator, workspace, &mapping, &evaluation))
                    offer(front, evaluation.energy_j, evaluation.latency_cycle);
            } while (++n < MAPPING_MAX && order_walk_next(&walk, &mapping));
        }
    }
    eval_workspace_delete(workspace);
    evaluator_delete(evaluator);
    return n < MAPPING_MAX;
}

/* The best by an objective is on the front. */
static void check_objective(const struct solve_settings *settings, const char *text,
                            const struct problem *problem, const struct architecture *arch,
                            const struct solve_result *result, uint32_t n)
{
    struct solve_settings one = *settings;
    struct dse_error err;
    struct arena arena;
    static struct solve_result best;
    double least = INFINITY;
    arena_init(&arena);
    assert_int_equal(solve_settings_objective(&one, text, &err), DSE_OK);
    assert_int_equal(solve_task(&one, problem, arch, NULL, &arena, &best), DSE_OK);
    for (uint32_t i = 0; i < n; i++)
        least = fmin(least, objective_cost(&one.objective, &result[i].found.evaluation));
    assert_true(fabs(least - best.found.cost) <= 1e-10 * best.found.cost);
    arena_free(&arena);
}

/* What stands for all points: the least edp, which is proved, and the bounds are the ends. */
static void check_whole(const struct solve_result *whole)
{
    const struct evaluation *fastest = &whole->front[0].found.evaluation;
    const struct evaluation *last = &whole->front[whole->n_front - 1].found.evaluation;
    double least = INFINITY;
    for (uint32_t k = 0; k < whole->n_front; k++)
        least = fmin(least, whole->front[k].found.evaluation.edp_js);
    assert_true(whole->found.evaluation.edp_js == least);
    assert_true(fabs(whole->bound.edp_js - least) <= 1e-10 * least);
    assert_true(fabs(whole->bound.latency_s - fastest->latency_s) <= 1e-10 * fastest->latency_s);
    assert_true(fabs(whole->bound.energy_j - last->energy_j) <= 1e-10 * last->energy_j);
}

static void check_front(const struct solve_settings *settings, struct problem *problem,
                        const struct architecture *arch, const struct points *front, uint64_t i)
{
    static struct solve_result whole;
    struct arena arena;
    arena_init(&arena);
    assert_int_equal(solve_task(settings, problem, arch, NULL, &arena, &whole), DSE_OK);
    const struct solve_result *result = whole.front;
    if (front->n == 0)
        assert_int_equal(whole.outcome, RESULT_INFEASIBLE);
    else
        assert_int_equal(whole.found.stop, STOP_OPTIMAL);
    for (uint32_t k = 0; front->n && k < whole.n_front; k++) {
        const struct evaluation *e = &result[k].found.evaluation;
        assert_int_equal(result[k].found.stop, STOP_OPTIMAL);
        bool found = false;
        for (size_t f = 0; f < front->n && !found; f++)
            found = front->point[f].cycle == e->latency_cycle &&
                    fabs(front->point[f].energy_j - e->energy_j) <= 1e-10 * e->energy_j;
        if (!found)
            fail_msg("case %llu: %llu cycles and %.17g J are not on the front", (unsigned long long)i,
                     (unsigned long long)e->latency_cycle, e->energy_j);
        assert_true(k == 0 || result[k - 1].found.evaluation.latency_cycle < e->latency_cycle);
    }
    /* of points whose energies are equal but for rounding, the front of all mappings may have several */
    size_t n = front->n;
    for (size_t a = 0; a < front->n; a++)
        for (size_t b = 0; b < front->n; b++)
            if (front->point[b].cycle < front->point[a].cycle &&
                front->point[b].energy_j <= front->point[a].energy_j * (1 + 1e-11)) {
                n--;
                break;
            }
    if (front->n && whole.n_front != n)
        fail_msg("case %llu: %u points, the front has %zu", (unsigned long long)i, whole.n_front, n);
    for (size_t k = 0; front->n && k < 3; k++)
        check_objective(settings, ((const char *const[]){"edp", "energy", "latency"})[k], problem, arch,
                        result, whole.n_front);
    if (front->n)
        check_whole(&whole);
    solve_result_clear(&whole);
    arena_free(&arena);
}

static void test_fronts_are_those_of_all_mappings(void **state)
{
    (void)state;
    struct solve_settings settings;
    struct dse_error err;
    static struct points front;
    uint32_t n = 0;
    size_t longest = 0;
    assert_int_equal(solve_settings_init(&settings, "optimal", &err), DSE_OK);
    assert_int_equal(solve_settings_option(&settings, "starts", "2", &err), DSE_OK);
    assert_int_equal(solve_settings_objective(&settings, "pareto", &err), DSE_OK);
    assert_int_equal(solve_settings_settle(&settings, &err), DSE_OK);
    for (uint64_t i = 0; n < FRONT_CASES; i++) {
        struct problem problem;
        struct architecture arch;
        struct arena arena;
        optimal_case(i, 48, &problem, &arch);
        arena_init(&arena);
        if (all_mappings(&problem, &arch, &arena, &front)) {
            check_front(&settings, &problem, &arch, &front, i);
            longest = front.n > longest ? front.n : longest;
            n++;
        }
        arena_free(&arena);
    }
    assert_true(longest >= 3);
}

static void test_other_engines_have_no_front(void **state)
{
    (void)state;
    struct solve_settings settings;
    static struct solve_result result;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    optimal_case(0, 48, &problem, &arch);
    arena_init(&arena);
    assert_int_equal(solve_settings_init(&settings, "descent", &err), DSE_OK);
    assert_int_equal(solve_settings_objective(&settings, "Pareto", &err), DSE_OK);
    assert_int_equal(solve_task(&settings, &problem, &arch, NULL, &arena, &result), DSE_OK);
    assert_int_equal(result.outcome, RESULT_FAILED);
    assert_string_equal(result.reason,
                        "objective pareto needs an engine that proves what it finds, optimal; not descent");
    assert_null(result.front);
    arena_free(&arena);
}

/* The limits are of all searches together, and what was found until then is told. */
static void test_limits_are_of_the_whole_front(void **state)
{
    (void)state;
    static struct solve_result result;
    struct solve_settings settings;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    uint64_t most = 0;
    assert_int_equal(solve_settings_init(&settings, "optimal", &err), DSE_OK);
    assert_int_equal(solve_settings_objective(&settings, "pareto", &err), DSE_OK);
    for (uint64_t i = 0; i < 20; i++) {
        optimal_case(i, 48, &problem, &arch);
        arena_init(&arena);
        settings.max_evaluations = 0;
        assert_int_equal(solve_task(&settings, &problem, &arch, NULL, &arena, &result), DSE_OK);
        const uint64_t whole = result.found.n_evaluation;
        const double edp = result.outcome == RESULT_OK ? result.found.evaluation.edp_js : 0;
        solve_result_clear(&result);
        for (settings.max_evaluations = 1; settings.max_evaluations < whole; settings.max_evaluations *= 3) {
            assert_int_equal(solve_task(&settings, &problem, &arch, NULL, &arena, &result), DSE_OK);
            assert_true(result.found.n_evaluation <= settings.max_evaluations);
            most = result.found.n_evaluation > most ? result.found.n_evaluation : most;
            for (uint32_t k = 1; k < result.n_front; k++) {
                const struct evaluation *a = &result.front[k - 1].found.evaluation;
                const struct evaluation *b = &result.front[k].found.evaluation;
                assert_true(a->latency_cycle < b->latency_cycle && a->energy_j > b->energy_j);
            }
            if (result.outcome == RESULT_OK) {
                assert_true(result.n_front > 0);
                assert_true(result.found.evaluation.edp_js >= edp * (1 - 1e-10));
                assert_true(result.bound.edp_js <= edp * (1 + 1e-10));
            }
            solve_result_clear(&result);
        }
        arena_free(&arena);
    }
    assert_true(most > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fronts_are_those_of_all_mappings),
        cmocka_unit_test(test_other_engines_have_no_front),
        cmocka_unit_test(test_limits_are_of_the_whole_front),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
