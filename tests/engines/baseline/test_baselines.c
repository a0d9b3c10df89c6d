/* The baselines as published comparisons use them: uniform sampling of primes with what does not fit counted,
 * best of so many valid mappings, several independent hybrid searchers.
 * Tests: random_mapper.c, hybrid.c, sampling.c, all_orders.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"
#include "engines/baseline/all_orders.h"
#include "engines/mapspace/mapspace.h"
#include "tests/engines/small_cases.h"
#include "tests/support/engine_case.h"
#include "tests/support/mapping_same.h"

struct run {
    const struct problem *problem;
    struct architecture arch;
    const struct mapspace_constraints *constraints;
    uint64_t seed, max_evaluations;
};

static void run_init(struct run *run, const struct problem *problem)
{
    *run = (struct run){.problem = problem, .seed = 1};
    small_machine(&run->arch, 40, 300);
}

/* Solve with n settings. */
static void solve(const struct run *run, const char *name, const struct engine_setting *setting, size_t n,
                  struct engine_result *result)
{
    struct dse_error err;
    struct engine_task task = {.constraints = run->constraints,
                               .objective = {1, 1},
                               .seed = run->seed,
                               .key = 3,
                               .budget = {.max_evaluations = run->max_evaluations}};
    if (engine_case_solve(name, setting, n, run->problem, &run->arch, task, result, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

/* Best of 5 valid draws: exactly 5 prices, all other draws were thrown away. */
static void test_best_of_5_valid_counts_all_draws(void **state)
{
    (void)state;
    static const struct engine_setting setting[] = {{"sampling", "primes"}, {"search_size", "5"}};
    struct problem problem;
    struct run run;
    struct engine_result a, b;
    small_conv(&problem, 3, 8, 4, 8);
    run_init(&run, &problem);
    uint64_t most = 0;
    for (run.seed = 1; run.seed <= 10; run.seed++) {
        solve(&run, "random", setting, 2, &a);
        solve(&run, "random", setting, 2, &b);
        assert_true(a.feasible && a.stop == STOP_CONVERGED);
        assert_int_equal(a.n_evaluation, 5);
        assert_true(a.n_draw >= 5 && a.n_draw == b.n_draw && mapping_same(&a.mapping, &b.mapping));
        most = a.n_draw > most ? a.n_draw : most;
    }
    assert_true(most > 20); /* registers of 40 words and a buffer of 300: most draws do not fit */
}

static void test_max_draws_is_kept_exactly(void **state)
{
    (void)state;
    static const struct engine_setting setting[] = {
        {"sampling", "primes"}, {"search_size", "0"}, {"max_draws", "2500"}, {"timeout", "0"}};
    struct problem problem;
    struct run run;
    struct engine_result r;
    small_conv(&problem, 3, 8, 4, 8);
    run_init(&run, &problem);
    solve(&run, "random", setting, 4, &r);
    assert_int_equal(r.n_draw, 2500);
    assert_true(r.n_evaluation > 0 && r.n_evaluation < 2500);
    assert_int_equal(r.stop, STOP_CONVERGED);
    small_machine(&run.arch, 3, 4); /* room for one word of each tensor: about one draw in a thousand fits */
    solve(&run, "random", setting, 4, &r);
    assert_int_equal(r.n_draw, 2500);
    if (!r.feasible)
        assert_non_null(strstr(r.reason, "candidates)"));
}

static void test_timeout_counts_invalid_draws_in_a_row(void **state)
{
    (void)state;
    static const struct engine_setting setting[] = {{"sampling", "primes"}, {"timeout", "40"}};
    struct problem problem;
    struct run run;
    struct engine_result r;
    small_conv(&problem, 3, 16, 8, 16);
    run_init(&run, &problem);
    small_machine(&run.arch, 3, 3); /* everything but single words must lie in DRAM */
    solve(&run, "random", setting, 2, &r);
    assert_false(r.feasible);
    assert_int_equal(r.n_draw, 40);
    assert_int_equal(r.n_evaluation, 0);
    assert_int_equal(r.stop, STOP_CONVERGED);
}

/* Draws for 5 valid mappings of every different layer of a network, three seeds each; adds up. */
static void count_draws(const char *path, const struct architecture *arch, uint64_t *n_draw, uint64_t *n_run)
{
    static const struct engine_setting setting[] = {
        {"sampling", "primes"}, {"search_size", "5"}, {"timeout", "0"}};
    struct network network;
    struct dse_error err;
    uint64_t seen[64];
    uint32_t n_seen = 0;
    assert_int_equal(network_read(path, &network, &err), DSE_OK);
    for (uint32_t i = 0; i < network.n_layer; i++) {
        struct problem problem;
        struct engine_result r;
        if (layer_problem(&network.layer[i], 1, &problem, &err) != DSE_OK)
            continue; /* a pool */
        uint64_t hash = problem_hash(&problem);
        uint32_t k = 0;
        while (k < n_seen && seen[k] != hash)
            k++;
        if (k < n_seen)
            continue;
        assert_true(n_seen < 64);
        seen[n_seen++] = hash;
        struct run run = {.problem = &problem, .arch = *arch};
        for (run.seed = 10 * i + 1; run.seed <= 10 * i + 3; run.seed++, ++*n_run) {
            solve(&run, "random", setting, 3, &r);
            assert_int_equal(r.n_evaluation, 5);
            *n_draw += r.n_draw;
        }
    }
    network_free(&network);
}

/* The reference baselines of CoSA's machine, made with a sampler of the same rule: 305 draws on average for 5
 * valid mappings over the 8 + 24 layers of AlexNet and ResNet-50 and three seeds, 1105 at most. The spread of
 * one run is about 250, so that of a mean of 96 is 26; two such means differ by less than 110 in all but one
 * of 300 cases. */
static void test_draws_for_5_valid_mappings_agree_with_the_reference(void **state)
{
    (void)state;
    struct architecture arch;
    struct dse_error err;
    uint64_t n_draw = 0, n_run = 0;
    assert_int_equal(architecture_read("experiments/architectures/simba_tablev.yaml", &arch, &err), DSE_OK);
    count_draws("experiments/networks/alexnet_one_tower.yaml", &arch, &n_draw, &n_run);
    count_draws("experiments/networks/resnet50_v1_5.yaml", &arch, &n_draw, &n_run);
    assert_int_equal(n_run, 96);
    assert_in_range(n_draw / n_run, 305 - 110, 305 + 110);
}

/* How often each way to place the primes of one dimension comes out, against the uniform rule. One dimension
 * of bound 2 and six slots (DRAM, buffer, buffer's X and Y, registers; MACs have no fan-out of their own): 5
 * slots, so a fifth each; 25,000 draws, standard deviation sqrt(25000 * 0.2 * 0.8) = 63, so 5000 +- 320 is 5
 * sigma. */
static void test_primes_go_to_every_slot_alike(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    const struct mapspace *space;
    struct mapping mapping;
    struct random_stream stream = random_stream_make(1, 2, RANDOM_TEST);
    uint32_t n[5] = {0};
    small_gemm(&problem, 2, 1, 1);
    small_machine(&arch, 1000, 1000);
    arena_init(&arena);
    assert_int_equal(mapspace_new(&problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
    for (int i = 0; i < 25000; i++) {
        assert_true(mapspace_sample(space, &stream, &mapping, NULL));
        const struct mapping_level *buffer = &mapping.level[1];
        bool on_y = buffer->spatial[0] == 2 && buffer->spatial_order[0] == 0 && buffer->split == 0;
        n[0] += mapping.level[0].temporal[0] == 2;
        n[1] += buffer->temporal[0] == 2;
        n[2] += mapping.level[2].temporal[0] == 2;
        n[3] += buffer->spatial[0] == 2 && !on_y;
        n[4] += on_y;
    }
    for (int i = 0; i < 5; i++)
        assert_in_range(n[i], 4680, 5320);
    assert_int_equal(n[0] + n[1] + n[2] + n[3] + n[4], 25000);
    arena_free(&arena);
}

/* What constraints fix, limit and order holds in every draw that counts. */
static void test_samples_keep_the_constraints(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    const struct mapspace *space;
    struct mapspace_constraints c;
    struct mapping mapping;
    struct misfit_info fit;
    struct random_stream stream = random_stream_make(1, 4, RANDOM_TEST);
    int n_valid = 0, n_limit = 0;
    small_gemm(&problem, 8, 4, 6);
    small_machine(&arch, 8, 60);
    arena_init(&arena);
    mapspace_constraints_init(&c, &problem, &arch);
    c.level[1].temporal.fixed[0] = 2;
    c.level[2].temporal.highest[2] = 3;
    c.level[1].spatial.fixed[1] = 2;
    c.level[2].temporal.n_order = 1;
    c.level[2].temporal.order[0] = 2;
    assert_int_equal(mapspace_new(&problem, &arch, &c, true, &arena, &space, &err), DSE_OK);
    for (int i = 0; i < 20000; i++) {
        if (mapspace_sample(space, &stream, &mapping, &fit)) {
            assert_true(mapspace_contains(space, &mapping, &fit));
            assert_int_equal(mapping.level[1].temporal[0], 2);
            n_valid++;
        } else {
            assert_true(fit.what != FITS);
            n_limit += fit.what == MISFIT_FACTORS && fit.level == 2 && fit.dim == 2 && fit.needed == 6;
        }
    }
    assert_true(n_valid > 100 && n_limit > 100);
    arena_free(&arena);
}

/* Every searcher ends by its own victory counter: it prices at least as many mappings as the condition
 * says. */
static void test_searchers_have_their_own_victory(void **state)
{
    (void)state;
    struct engine_setting setting[] = {
        {"victory_condition", "50"}, {"searchers", "1"}, {"sampling", "construct"}, {"orders", "distinct"}};
    struct problem problem;
    struct run run;
    struct engine_result one, all, again;
    small_conv(&problem, 3, 8, 4, 8);
    run_init(&run, &problem);
    for (int primes = 0; primes <= 1; primes++) {
        setting[2].value = primes ? "primes" : "construct";
        setting[3].value = primes ? "all" : "distinct";
        setting[1].value = "1";
        solve(&run, "hybrid", setting, 4, &one);
        setting[1].value = "8";
        solve(&run, "hybrid", setting, 4, &all);
        solve(&run, "hybrid", setting, 4, &again);
        assert_int_equal(one.stop, STOP_CONVERGED);
        assert_int_equal(all.stop, STOP_CONVERGED);
        assert_true(one.n_evaluation > 50 && all.n_evaluation > 8 * 50);
        assert_true(all.cost <= one.cost); /* the first of the eight is the single one */
        assert_true(all.n_evaluation == again.n_evaluation && all.n_draw == again.n_draw &&
                    mapping_same(&all.mapping, &again.mapping));
        assert_true(primes ? all.n_draw > 2 * all.n_evaluation : all.n_draw == all.n_evaluation);
    }
}

static void test_searchers_share_budget_and_size(void **state)
{
    (void)state;
    static const struct engine_setting setting[] = {
        {"victory_condition", "0"}, {"searchers", "7"}, {"search_size", "1003"}};
    struct problem problem;
    struct run run;
    struct engine_result r;
    small_conv(&problem, 3, 8, 4, 8);
    run_init(&run, &problem);
    solve(&run, "hybrid", setting, 3, &r);
    assert_int_equal(r.n_evaluation, 1003);
    assert_int_equal(r.stop, STOP_CONVERGED);
    run.max_evaluations = 500;
    solve(&run, "hybrid", setting, 3, &r);
    assert_int_equal(r.n_evaluation, 500);
    assert_int_equal(r.stop, STOP_MAX_EVALUATIONS);
}

/* Two levels with 3 and 2 non-unit loops: 3! * 2! = 12 orders, all different; with one place fixed 2! * 2! =
 * 4. */
static void test_all_orders_are_walked_once(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct mapspace_constraints c;
    struct mapping mapping, seen[12];
    struct all_orders walk;
    small_gemm(&problem, 8, 4, 2);
    small_machine(&arch, 40, 300);
    for (int fixed = 0; fixed <= 1; fixed++) {
        uint32_t n = 0, expected = fixed ? 4 : 12;
        mapping_init(&mapping, &problem, &arch);
        mapping.level[2].temporal[0] = mapping.level[2].temporal[1] = 2;
        mapping.level[0].temporal[0] = 4;
        mapping.level[0].temporal[1] = 2;
        mapspace_constraints_init(&c, &problem, &arch);
        c.level[2].temporal.n_order = 1;
        c.level[2].temporal.order[0] = 1;
        assert_int_equal(all_orders_start(&walk, fixed ? &c : NULL, &mapping), expected);
        do {
            assert_true(n < expected);
            for (uint32_t i = 0; i < n; i++)
                assert_false(mapping_same(&mapping, &seen[i]));
            assert_true(!fixed || mapping.level[2].temporal_order[0] == 1);
            seen[n++] = mapping;
        } while (all_orders_next(&walk, &mapping));
        assert_int_equal(n, expected);
        assert_true(mapping_same(&mapping, &seen[0]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_of_5_valid_counts_all_draws),
        cmocka_unit_test(test_max_draws_is_kept_exactly),
        cmocka_unit_test(test_timeout_counts_invalid_draws_in_a_row),
        cmocka_unit_test(test_draws_for_5_valid_mappings_agree_with_the_reference),
        cmocka_unit_test(test_primes_go_to_every_slot_alike),
        cmocka_unit_test(test_samples_keep_the_constraints),
        cmocka_unit_test(test_searchers_have_their_own_victory),
        cmocka_unit_test(test_all_orders_are_walked_once),
        cmocka_unit_test(test_searchers_share_budget_and_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
