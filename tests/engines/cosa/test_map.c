/* One mapping by CoSA: on the shipped machines, under constraints, with repairs and limits, and always the
 * same. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/readers/readers.h"
#include "engines/cosa/cosa.h"
#include "engines/mapspace/mapspace.h"
#include "tests/engines/small_cases.h"

enum { R, S, P, Q, C, K, N };

static const char *const machines[] = {"eyeriss_12x14", "eyeriss_16x16",       "k80",
                                       "mindmappings",  "mindmappings_mttkrp", "simba",
                                       "simba_8x8",     "simba_large_buffer",  "simba_tablev",
                                       "soma_cloud",    "soma_edge",           "tpu_128x128"};
enum { N_MACHINE = sizeof machines / sizeof machines[0] };

static void read_machine(const char *name, struct architecture *arch)
{
    char path[128];
    struct dse_error err;
    (void)snprintf(path, sizeof path, "experiments/architectures/%s.yaml", name);
    if (architecture_read(path, arch, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

/* A set of layers that differ in kind: 7x7 with stride, 3x3, large prime, fully connected, dilated batch,
 * grouped, GEMM, MTTKRP. */
enum { N_PROBLEM = 8 };

static void make_problem(int i, struct problem *problem)
{
    static const uint32_t bound[][7] = {
        {7, 7, 112, 112, 3, 64, 1},  {3, 3, 28, 28, 128, 128, 1}, {1, 1, 53, 127, 48, 31, 1},
        {1, 1, 1, 1, 4096, 1000, 1}, {3, 3, 15, 15, 32, 32, 4},
    };
    if (i < 5) {
        random_case_conv(problem, "conv", bound[i],
                         i == 0   ? "N C P*2+R Q*2+S"
                         : i == 4 ? "N C P+R*2 Q+S*2"
                                  : "N C P+R Q+S");
    } else if (i == 5) {
        random_case_dims(problem, "grouped", "GRSPQCKN", (const uint32_t[]){32, 3, 3, 28, 28, 8, 8, 1});
        random_case_tensor(problem, "Weights", TENSOR_WEIGHT, "G C K R S");
        random_case_tensor(problem, "Inputs", TENSOR_INPUT, "N G C P+R Q+S");
        random_case_tensor(problem, "Outputs", TENSOR_OUTPUT, "N G K P Q");
    } else if (i == 6) {
        small_gemm(problem, 384, 512, 768);
    } else {
        random_case_dims(problem, "mttkrp", "IJKL", (const uint32_t[]){128, 64, 96, 80});
        random_case_tensor(problem, "B", TENSOR_WEIGHT, "I K L");
        random_case_tensor(problem, "C", TENSOR_INPUT, "K J");
        random_case_tensor(problem, "D", TENSOR_INPUT, "L J");
        random_case_tensor(problem, "A", TENSOR_OUTPUT, "I J");
    }
}

/* A layer, a machine, and what comes of mapping one to the other. */
struct map_case {
    struct problem problem;
    struct architecture arch;
    struct cosa_settings settings;
    struct cosa_solution solution;
};

/* A convolution with `bound` of R S P Q C K N on the machine of Table V, with the default settings. */
static void make_conv(struct map_case *one, const uint32_t *bound)
{
    read_machine("simba_tablev", &one->arch);
    random_case_conv(&one->problem, "conv", bound, "N C P+R Q+S");
    cosa_settings_init(&one->settings);
}

static void must_map(struct map_case *one, const struct mapspace_constraints *constraints)
{
    struct dse_error err;
    struct arena arena;
    arena_init(&arena);
    if (cosa_map(&one->problem, &one->arch, constraints, &one->settings, &arena, &one->solution, &err) !=
        DSE_OK)
        fail_msg("%s on %s: %s", one->problem.name, one->arch.name, err.text);
    arena_free(&arena);
}

static void must_map_validly(struct map_case *one, const struct mapspace_constraints *constraints)
{
    char reason[256];
    must_map(one, constraints);
    if (!one->solution.feasible)
        fail_msg("%s on %s: %s", one->problem.name, one->arch.name, one->solution.reason);
    if (!checker_accepts(&one->problem, &one->arch, &one->solution.mapping, reason, sizeof reason))
        fail_msg("%s on %s: %s", one->problem.name, one->arch.name, reason);
}

static void test_every_machine_maps_every_kind_of_layer(void **state)
{
    (void)state;
    for (int m = 0; m < N_MACHINE; m++)
        for (int i = 0; i < N_PROBLEM; i++) {
            struct map_case one;
            read_machine(machines[m], &one.arch);
            make_problem(i, &one.problem);
            cosa_settings_init(&one.settings);
            one.settings.limits.max_nodes = 200; /* valid matters here, not optimal */
            must_map_validly(&one, NULL);
            one.settings.form = COSA_FORM_MINMAX;
            one.settings.halo = COSA_HALO_ALL;
            must_map_validly(&one, NULL);
        }
}

/* The objective of the model is that of its mapping. */
static void test_the_mapping_costs_what_the_model_says(void **state)
{
    (void)state;
    for (int i = 0; i < N_PROBLEM; i++) {
        struct map_case one;
        read_machine("simba_tablev", &one.arch);
        make_problem(i, &one.problem);
        cosa_settings_init(&one.settings);
        must_map_validly(&one, NULL);
        if (!(fabs(one.solution.terms.objective - one.solution.milp_objective) <=
              1e-7 * one.solution.milp_objective))
            fail_msg("problem %d: %.9f, the model says %.9f", i, one.solution.terms.objective,
                     one.solution.milp_objective);
        if (one.solution.n_repair == 0)
            assert_true(one.solution.proved && one.solution.milp_status == MILP_OPTIMAL);
    }
}

/* ---------------------------------------- always the same */

/* All problems, in any order and on any number of threads, give the bytes that they give alone. */
static void test_threads_and_order_do_not_matter(void **state)
{
    (void)state;
    struct cosa_solution lone[N_PROBLEM], other[3 * N_PROBLEM];
    struct map_case one;
    enum dse_status status[3 * N_PROBLEM];
    read_machine("simba", &one.arch);
    cosa_settings_init(&one.settings);
    one.settings.limits.max_nodes = 1000;
    for (int i = 0; i < N_PROBLEM; i++) {
        make_problem(i, &one.problem);
        must_map(&one, NULL);
        lone[i] = one.solution;
    }
#pragma omp parallel for num_threads(4) schedule(dynamic)
    for (int j = 0; j < 3 * N_PROBLEM; j++) {
        struct problem problem;
        struct arena arena;
        struct dse_error err;
        arena_init(&arena);
        make_problem(j * 5 % N_PROBLEM, &problem);
        status[j] = cosa_map(&problem, &one.arch, NULL, &one.settings, &arena, &other[j], &err);
        arena_free(&arena);
    }
    for (int j = 0; j < 3 * N_PROBLEM; j++) {
        const struct cosa_solution *a = &lone[j * 5 % N_PROBLEM], *b = &other[j];
        assert_int_equal(status[j], DSE_OK);
        assert_memory_equal(&a->mapping, &b->mapping, sizeof a->mapping);
        assert_memory_equal(&a->terms, &b->terms, sizeof a->terms);
        assert_true(a->milp_objective == b->milp_objective && a->n_node == b->n_node);
    }
}

/* ---------------------------------------- repairs and limits */

/* DeepBench's 3_54_64_64_1: with the program's window rule the global buffer's tile is too large (the
 * reference page: 133,888 words for 131,072), so the row is tightened and solved again. Without repairs
 * allowed the safe rule does it in one solve. */
static void test_tiles_that_are_too_large_are_repaired(void **state)
{
    (void)state;
    static const uint32_t bound[] = {3, 3, 54, 54, 64, 64, 1};
    struct map_case one;
    make_conv(&one, bound);
    must_map_validly(&one, NULL);
    assert_true(one.solution.n_repair >= 1 && one.solution.n_solve == one.solution.n_repair + 1);
    assert_int_equal(one.solution.halo, COSA_HALO_OUTERMOST_INNER);
    assert_false(one.solution.proved);
    assert_true(one.solution.first_objective < one.solution.milp_objective);
    one.settings.max_repairs = 0;
    must_map_validly(&one, NULL);
    assert_int_equal(one.solution.halo, COSA_HALO_SAFE);
    assert_int_equal(one.solution.n_solve, 2);
}

/* The safe rule never needs a repair where a level keeps one tensor or fixed shares hold. */
static void test_safe_halo_needs_no_repair(void **state)
{
    (void)state;
    for (int m = 0; m < N_MACHINE; m++) {
        struct map_case one;
        read_machine(machines[m], &one.arch);
        make_problem(4, &one.problem);
        cosa_settings_init(&one.settings);
        one.settings.halo = COSA_HALO_SAFE;
        one.settings.limits.max_nodes = 300;
        must_map_validly(&one, NULL);
        assert_int_equal(one.solution.n_solve, 1);
    }
}

/* The bounds 112 and 96 need many nodes; after a few there is a mapping all the same, and its status says
 * that it is not proved. */
static void test_node_limit_gives_the_best_so_far(void **state)
{
    (void)state;
    static const uint32_t bound[] = {2, 2, 56, 56, 360, 1680, 3};
    struct map_case one;
    make_conv(&one, bound);
    one.settings.limits.max_nodes = 60;
    must_map_validly(&one, NULL);
    assert_int_equal(one.solution.milp_status, MILP_FEASIBLE);
    assert_false(one.solution.proved);
}

/* ---------------------------------------- constraints */

static void test_constraints_are_rows(void **state)
{
    (void)state;
    struct map_case one;
    struct mapspace_constraints c;
    read_machine("simba", &one.arch);
    make_problem(1, &one.problem); /* 3x3, 28x28, 128, 128 */
    mapspace_constraints_init(&c, &one.problem, &one.arch);
    c.level[4].temporal.fixed[P] = 7;
    c.level[4].spatial.fixed[K] = 4;
    c.level[5].temporal.highest[C] = 1;
    c.level[1].spatial.highest[C] = 4;
    c.level[4].dims_x &= ~(1u << K); /* K only on Y of the PE array */
    c.level[3].temporal.n_order = 2;
    c.level[3].temporal.order[0] = C;
    c.level[3].temporal.order[1] = R;
    c.level[4].temporal.n_order = 1;
    c.level[4].temporal.order[0] = Q;
    c.level[4].bypass = 4; /* outputs go past the global buffer */
    c.level[2].no_multicast = 1;
    cosa_settings_init(&one.settings);
    for (int form = 0; form < 2; form++) {
        one.settings.form = (enum cosa_form)form;
        must_map_validly(&one, &c);
        const struct mapping_level *level = one.solution.mapping.level;
        assert_int_equal(level[4].temporal[P], 7);
        assert_int_equal(level[4].spatial[K], 4);
        assert_int_equal(level[5].temporal[C], 1);
        assert_true(level[1].spatial[C] <= 4);
        assert_int_equal(level[4].keep, 2);
        assert_int_equal(level[3].temporal_order[0], C);
        assert_int_equal(level[3].temporal_order[1], R);
        assert_int_equal(level[4].temporal_order[0], Q);
        assert_int_equal(level[2].no_multicast, 1);
        for (uint32_t i = 0; i < level[4].split; i++)
            assert_true(level[4].spatial_order[i] != K);
    }
}

/* A fixed tile of outputs of 3/4 of the buffer does not fit their half, but it fits the buffer: found all the
 * same. */
static void test_constraints_may_break_the_shares(void **state)
{
    (void)state;
    struct map_case one;
    struct mapspace_constraints c;
    small_gemm(&one.problem, 9, 5, 7);
    small_machine(&one.arch, 8, 16); /* 3 tensors in 16 words */
    mapspace_constraints_init(&c, &one.problem, &one.arch);
    c.level[0].temporal.fixed[0] = 1;
    c.level[1].temporal.fixed[0] = 9; /* the tile of Z and of A has 9 words already */
    c.level[1].bypass = 1;            /* A is not kept: 9 of Z and 1 of B */
    cosa_settings_init(&one.settings);
    must_map_validly(&one, &c);
    assert_int_equal(one.solution.mapping.level[1].temporal[0], 9);
}

static void test_what_cannot_be_is_said(void **state)
{
    (void)state;
    struct map_case one;
    struct mapspace_constraints c;
    cosa_settings_init(&one.settings);
    small_gemm(&one.problem, 8, 4, 6);
    small_machine(&one.arch, 2, 60); /* one word of each of three tensors */
    must_map(&one, NULL);
    assert_false(one.solution.feasible);
    assert_true(one.solution.proved);
    assert_string_equal(one.solution.reason, "Registers needs 3 B for A+B+Z, has 2 B");
    small_machine(&one.arch, 8, 4000);
    one.arch.level[1].min_utilization = 0.9; /* the problem has 104 words */
    must_map(&one, NULL);
    assert_false(one.solution.feasible);
    assert_false(one.solution.proved);
    assert_int_equal(one.solution.misfit.what, MISFIT_UTILIZATION);
    assert_non_null(strstr(one.solution.reason, "not proved"));
    small_machine(&one.arch, 8, 60);
    mapspace_constraints_init(&c, &one.problem, &one.arch);
    c.level[1].temporal.fixed[0] = 3; /* of 8 */
    must_map(&one, &c);
    assert_false(one.solution.feasible);
    assert_true(one.solution.proved);
    assert_non_null(strstr(one.solution.reason, "does not divide"));
}

/* ---------------------------------------- settings */

/* Of the loops at the permutation level those that save the chosen tensor come first. */
static void test_stationary_tensor_is_innermost(void **state)
{
    (void)state;
    static const uint32_t bound[] = {1, 1, 28, 28, 512, 512, 1};
    static const uint32_t unrelated[] = {1u << P | 1u << Q | 1u << N, 1u << R | 1u << S | 1u << K,
                                         1u << R | 1u << S | 1u << C};
    struct map_case one;
    double free_objective, best = INFINITY;
    make_conv(&one, bound);
    must_map(&one, NULL);
    free_objective = one.solution.milp_objective;
    for (int t = 0; t < 3; t++) {
        one.settings.stationary = t;
        must_map_validly(&one, NULL);
        for (uint32_t i = 0; i < (uint32_t)__builtin_popcount(unrelated[t]); i++)
            assert_true(unrelated[t] >> one.solution.mapping.level[4].temporal_order[i] & 1u);
        assert_true(one.solution.milp_objective >= free_objective * (1 - 1e-4));
        best = fmin(best, one.solution.milp_objective);
    }
    assert_true(best <= free_objective * (1 + 1e-4)); /* one of them is what free chose */
}

/* Machines of one and two levels, and another permutation level. */
static void test_few_levels_and_other_permutation_levels(void **state)
{
    (void)state;
    struct map_case one;
    cosa_settings_init(&one.settings);
    small_gemm(&one.problem, 8, 4, 6);
    for (int form = 0; form < 2; form++) {
        one.settings.form = (enum cosa_form)form;
        for (int level = -1; level < 3; level++) {
            one.settings.permutation_level = level;
            small_machine(&one.arch, 8, 60);
            must_map_validly(&one, NULL);
        }
        one.settings.permutation_level = -1;
        one.arch.level[1] = one.arch.level[2]; /* registers and DRAM */
        one.arch.n_level = 2;
        must_map_validly(&one, NULL);
        one.arch.level[0] = one.arch.level[1]; /* a DRAM that feeds the MACs */
        one.arch.n_level = 1;
        must_map_validly(&one, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_machine_maps_every_kind_of_layer),
        cmocka_unit_test(test_the_mapping_costs_what_the_model_says),
        cmocka_unit_test(test_threads_and_order_do_not_matter),
        cmocka_unit_test(test_tiles_that_are_too_large_are_repaired),
        cmocka_unit_test(test_safe_halo_needs_no_repair),
        cmocka_unit_test(test_node_limit_gives_the_best_so_far),
        cmocka_unit_test(test_constraints_are_rows),
        cmocka_unit_test(test_constraints_may_break_the_shares),
        cmocka_unit_test(test_what_cannot_be_is_said),
        cmocka_unit_test(test_stationary_tensor_is_innermost),
        cmocka_unit_test(test_few_levels_and_other_permutation_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
