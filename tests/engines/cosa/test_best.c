/* cosa-best: never worse than cosa, within its budget, the same on every thread; and its local search.
 * Tests: polish.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/readers/readers.h"
#include "engines/cosa/polish.h"
#include "tests/engines/small_cases.h"
#include "tests/support/engine_case.h"
#include "tests/support/mapping_same.h"

/* A convolution as the layers of CoSA's figures are named: R_P_C_K_stride with S = R, Q = P. */
static void conv_layer(struct problem *problem, uint32_t r, uint32_t p, uint32_t c, uint32_t k,
                       uint32_t stride)
{
    const uint32_t bound[] = {r, r, p, p, c, k, 1};
    char inputs[32];
    (void)snprintf(inputs, sizeof inputs, "N C P*%u+R Q*%u+S", stride, stride);
    random_case_conv(problem, "layer", bound, inputs);
}

/* Where the variants differ: a layer with windows, one where CoSA's objective fails, an odd one, a fully
 * connected one. */
static void test_layer(int i, struct problem *problem)
{
    static const uint32_t layer[][5] = {
        {3, 14, 256, 256, 2}, {1, 7, 1024, 2048, 2}, {11, 55, 3, 64, 4}, {1, 1, 4096, 1000, 1}};
    conv_layer(problem, layer[i][0], layer[i][1], layer[i][2], layer[i][3], layer[i][4]);
}

enum { N_LAYER = 4 };

static void read_machine(const char *path, struct architecture *arch)
{
    struct dse_error err;
    if (architecture_read(path, arch, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void solve(const char *name, const struct problem *problem, const struct architecture *arch,
                  struct objective objective, const struct engine_setting *setting, size_t n,
                  uint64_t max_evaluations, struct engine_result *result)
{
    struct dse_error err;
    struct engine_task task = {
        .objective = objective, .seed = 1, .key = 5, .budget = {.max_evaluations = max_evaluations}};
    if (engine_case_solve(name, setting, n, problem, arch, task, result, &err) != DSE_OK)
        fail_msg("%s: %s", name, err.text);
}

static void test_never_worse_than_cosa(void **state)
{
    (void)state;
    static const struct objective objective[] = {{1, 1}, {0, 1}, {1, 0}};
    static const struct engine_setting quick[] = {{"polish", "1500"}, {"dominate", "yes"}};
    struct problem problem;
    struct architecture arch;
    struct engine_result own, best;
    read_machine("experiments/architectures/simba_tablev.yaml", &arch);
    for (int i = 0; i < N_LAYER; i++)
        for (int o = 0; o < (i < 2 ? 3 : 1); o++) {
            test_layer(i, &problem);
            solve("cosa", &problem, &arch, objective[o], NULL, 0, 0, &own);
            solve("cosa-best", &problem, &arch, objective[o], quick, 2, 0, &best);
            assert_true(own.feasible && best.feasible);
            assert_true(best.cost <= own.cost);
            assert_true(best.evaluation.latency_cycle <= own.evaluation.latency_cycle);
            assert_true(best.evaluation.energy_j <= own.evaluation.energy_j * (1 + 1e-12));
            assert_true(best.n_evaluation <= 1500 + 12 + 4 * 1000 + 1000);
        }
}

/* By itself the rule on cycles and energy holds where the objective counts both, and only there. */
static void test_dominates_where_the_objective_counts_both(void **state)
{
    (void)state;
    static const struct objective objective[] = {{1, 1}, {1, 0}};
    static const struct engine_setting rule[] = {{"polish", "1500"}, {"dominate", "yes"}},
                                       no_rule[] = {{"polish", "1500"}, {"dominate", "no"}};
    struct problem problem;
    struct architecture arch;
    struct engine_result by_itself, with, without;
    read_machine("experiments/architectures/simba.yaml", &arch);
    conv_layer(&problem, 7, 112, 3, 64, 2);
    for (int o = 0; o < 2; o++) {
        solve("cosa-best", &problem, &arch, objective[o], rule, 1, 0, &by_itself);
        solve("cosa-best", &problem, &arch, objective[o], rule, 2, 0, &with);
        solve("cosa-best", &problem, &arch, objective[o], no_rule, 2, 0, &without);
        assert_true(mapping_same(&by_itself.mapping, o == 0 ? &with.mapping : &without.mapping));
        assert_int_equal(by_itself.n_evaluation, o == 0 ? with.n_evaluation : without.n_evaluation);
    }
    assert_true(without.cost < with.cost); /* less energy for more cycles */
    assert_true(without.evaluation.latency_cycle > with.evaluation.latency_cycle);
}

/* The same with other options of cosa, and without the rule on cycles and energy. */
static void test_never_worse_with_the_same_options(void **state)
{
    (void)state;
    static const struct engine_setting setting[] = {{"halo", "safe"},          {"share_input", "0.2"},
                                                    {"stationary", "Weights"}, {"pad", "7"},
                                                    {"polish", "500"},         {"dominate", "no"}};
    struct problem problem;
    struct architecture arch;
    struct engine_result own, best;
    read_machine("experiments/architectures/simba_tablev.yaml", &arch);
    test_layer(2, &problem);
    solve("cosa", &problem, &arch, (struct objective){1, 1}, setting, 4, 0, &own);
    solve("cosa-best", &problem, &arch, (struct objective){1, 1}, setting, 6, 0, &best);
    assert_true(own.padded && best.padded); /* 55 = 5 * 11 becomes 56, 11 becomes 12 */
    assert_int_equal(best.padded_bound[2], 56);
    assert_int_equal(best.padded_bound[0], 12);
    assert_true(best.cost <= own.cost);
}

/* CoSA's objective does not see that weights are fetched again: 1,477,325 cycles in the table of the
 * reference schedules, 229,376 by Timeloop's hybrid mapper in the table of its baselines. */
static void test_finds_what_the_objective_does_not_see(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct engine_result best;
    read_machine("experiments/architectures/simba_tablev.yaml", &arch);
    test_layer(1, &problem);
    solve("cosa-best", &problem, &arch, (struct objective){1, 1}, NULL, 0, 0, &best);
    assert_true(best.evaluation.latency_cycle <= 229376);
    assert_int_equal(best.stop, STOP_CONVERGED);
}

/* One evaluation is CoSA's own mapping; more are kept to. */
static void test_budget_begins_with_cosa(void **state)
{
    (void)state;
    static const uint64_t budget[] = {1, 3, 400};
    struct problem problem;
    struct architecture arch;
    struct engine_result own, best;
    read_machine("experiments/architectures/simba_tablev.yaml", &arch);
    test_layer(0, &problem);
    solve("cosa", &problem, &arch, (struct objective){1, 1}, NULL, 0, 0, &own);
    for (int i = 0; i < 3; i++) {
        solve("cosa-best", &problem, &arch, (struct objective){1, 1}, NULL, 0, budget[i], &best);
        assert_true(best.n_evaluation <= budget[i]);
        assert_true(best.cost <= own.cost);
        assert_true(i > 0 || mapping_same(&best.mapping, &own.mapping));
    }
    assert_int_equal(best.stop, STOP_MAX_EVALUATIONS);
}

/* The formulation does not know of a minimum utilisation: no solve gives a mapping, so it is a random one,
 * and the search begins there. */
static void test_searches_without_a_solve(void **state)
{
    (void)state;
    static const struct engine_setting setting[] = {{"variants", "no"}, {"polish", "2000"}};
    struct problem problem;
    struct architecture arch;
    struct engine_result own, best;
    char reason[256];
    test_layer(0, &problem);
    read_machine("experiments/architectures/simba_tablev.yaml", &arch);
    arch.level[4].min_utilization = 0.9;
    solve("cosa", &problem, &arch, (struct objective){1, 1}, NULL, 0, 0, &own);
    solve("cosa-best", &problem, &arch, (struct objective){1, 1}, setting, 2, 0, &best);
    assert_true(own.feasible);
    assert_int_equal(own.stop, STOP_SOLVER_LIMIT);
    assert_true(best.feasible && best.cost < own.cost);
    assert_true(checker_accepts(&problem, &arch, &best.mapping, reason, sizeof reason));
}

static void test_every_thread_finds_the_same(void **state)
{
    (void)state;
    static const struct engine_setting quick[] = {{"polish", "1000"}, {"variants", "no"}};
    struct engine_result alone[N_LAYER], together[2 * N_LAYER];
    struct problem problem[N_LAYER];
    struct architecture arch;
    read_machine("experiments/architectures/simba_tablev.yaml", &arch);
    for (int i = 0; i < N_LAYER; i++) {
        test_layer(i, &problem[i]);
        solve("cosa-best", &problem[i], &arch, (struct objective){1, 1}, quick, 2, 0, &alone[i]);
    }
#pragma omp parallel for num_threads(4) schedule(dynamic)
    for (int i = 0; i < 2 * N_LAYER; i++)
        solve("cosa-best", &problem[i % N_LAYER], &arch, (struct objective){1, 1}, quick, 2, 0, &together[i]);
    for (int i = 0; i < 2 * N_LAYER; i++) {
        assert_true(mapping_same(&together[i].mapping, &alone[i % N_LAYER].mapping));
        assert_true(together[i].cost == alone[i % N_LAYER].cost);
        assert_int_equal(together[i].n_evaluation, alone[i % N_LAYER].n_evaluation);
    }
}

/* ---------------------------------------- the local search */

/* A made-up price: far from the buffer costs; counted. */
struct toy {
    const struct problem *problem;
    uint64_t n;
};

static bool toy_price(void *self, const struct mapping *mapping, double *cost, double *tie)
{
    struct toy *toy = self;
    toy->n++;
    *cost = 1;
    for (uint32_t d = 0; d < mapping->n_dim; d++)
        *cost += mapping->level[2].temporal[d] - 1.0;
    *tie = 0;
    return true;
}

static void test_polish_goes_down_and_ends(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    const struct mapspace *space;
    struct mapping mapping;
    struct toy toy = {&problem, 0};
    double cost, tie;
    static struct polish polish;
    small_gemm(&problem, 8, 4, 6);
    small_machine(&arch, 1000, 1000); /* room for everything inside: the least price is 1 */
    arena_init(&arena);
    assert_int_equal(mapspace_new(&problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
    mapping_init(&mapping, &problem, &arch);
    polish_init(&polish, space, toy_price, &toy, random_stream_make(1, 1, RANDOM_TEST), 3);
    assert_int_equal(polish.n_start, 0);
    assert_false(polish_step(&polish)); /* nothing to begin with */
    assert_true(toy_price(&toy, &mapping, &cost, &tie));
    assert_true(cost == 1 + 7 + 3 + 5);
    polish_add(&polish, &mapping, cost, tie);
    polish_add(&polish, &mapping, cost, tie);
    assert_int_equal(polish.n_start, 1);
    mapping.level[1].temporal[0] = 8;
    mapping.level[2].temporal[0] = 1;
    polish_add(&polish, &mapping, 9, tie);
    assert_true(polish.n_start == 2 && polish.start[0].cost == 9);
    while (polish_step(&polish))
        assert_true(toy.n < 100000);
    assert_true(polish.optima.n >= 1 && polish.optima.point[0].cost == 1);
    assert_true(mapspace_contains(space, &polish.optima.point[0].mapping, NULL));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_worse_than_cosa),
        cmocka_unit_test(test_dominates_where_the_objective_counts_both),
        cmocka_unit_test(test_never_worse_with_the_same_options),
        cmocka_unit_test(test_finds_what_the_objective_does_not_see),
        cmocka_unit_test(test_budget_begins_with_cosa),
        cmocka_unit_test(test_searches_without_a_solve),
        cmocka_unit_test(test_every_thread_finds_the_same),
        cmocka_unit_test(test_polish_goes_down_and_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
