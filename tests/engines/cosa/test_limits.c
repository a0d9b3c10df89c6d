/* CoSA at the edges: limits that come before a solution, what a solve cannot see, extreme problems and
 * machines, and wishes of the user that the loops' order or axes must honour.
 * Tests: map.c, rows.c, orders.c, extract.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/cosa/formulation.h"
#include "engines/mapspace/mapspace.h"
#include "tests/engines/small_cases.h"
#include "tests/support/mapping_same.h"

struct edge {
    struct problem problem;
    struct architecture arch;
    struct mapspace_constraints constraints;
    struct cosa_settings settings;
    struct cosa_solution solution;
};

static void start(struct edge *e, uint32_t m, uint32_t n, uint32_t k)
{
    memset(e, 0, sizeof *e);
    small_gemm(&e->problem, m, n, k);
    small_machine(&e->arch, 8, 60);
    mapspace_constraints_init(&e->constraints, &e->problem, &e->arch);
    cosa_settings_init(&e->settings);
}

static void must_map(struct edge *e)
{
    struct arena arena;
    struct dse_error err;
    arena_init(&arena);
    if (cosa_map(&e->problem, &e->arch, &e->constraints, &e->settings, &arena, &e->solution, &err) != DSE_OK)
        fail_msg("%s", err.text);
    arena_free(&arena);
}

static void must_be_valid(const struct edge *e)
{
    char reason[256];
    if (!e->solution.feasible)
        fail_msg("%s: %s", e->problem.name, e->solution.reason);
    if (!checker_accepts(&e->problem, &e->arch, &e->solution.mapping, reason, sizeof reason))
        fail_msg("%s: %s", e->problem.name, reason);
}

/* One node brings no solution here. There are mappings all the same, and the same one each time. */
static void test_limit_before_a_solution_gives_a_mapping(void **state)
{
    (void)state;
    struct edge e;
    start(&e, 36, 60, 48);
    e.settings.limits.max_nodes = 1;
    must_map(&e);
    must_be_valid(&e);
    assert_true(e.solution.drawn && !e.solution.proved);
    assert_int_equal(e.solution.milp_status, MILP_NOT_SOLVED);
    struct mapping first = e.solution.mapping;
    must_map(&e);
    assert_true(mapping_same(&first, &e.solution.mapping));
    e.settings.limits.max_nodes = 20000;
    must_map(&e);
    must_be_valid(&e);
    assert_false(e.solution.drawn);
}

/* Registers below a minimum utilisation have no row, and random mappings do not look at a block's threads:
 * what comes out keeps both. */
static void test_drawn_mappings_keep_the_limits_of_a_gpu(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct edge e;
        start(&e, 6, 4, 4);
        e.arch.level[0].size_word = 40;
        e.arch.level[0].min_utilization = 0.25;
        e.arch.gpu = (struct gpu_limits){.present = true,
                                         .level = 1,
                                         .threads_per_block = threads,
                                         .thread_dim = {2, 2, 2},
                                         .register_bit = 8 * 160};
        e.settings.limits.max_nodes = 1;
        must_map(&e);
        must_be_valid(&e);
    }
}

/* A GPU whose blocks hang below the outermost storage has no grid around the block. */
static void test_gpu_without_a_grid_has_a_solution(void **state)
{
    (void)state;
    struct edge e;
    start(&e, 6, 4, 4);
    e.arch.level[1] = e.arch.level[2];
    e.arch.n_level = 2;
    mapspace_constraints_init(&e.constraints, &e.problem, &e.arch);
    e.arch.gpu = (struct gpu_limits){
        .present = true, .level = 1, .threads_per_block = 4, .thread_dim = {4, 4, 4}, .register_bit = 800};
    must_map(&e);
    must_be_valid(&e);
    assert_true(e.solution.milp_status == MILP_OPTIMAL && !e.solution.drawn);
}

/* X has 4 lanes, Y has 2: M=2 and N=4 fit only with M on Y. M=4 and N=4 do not. */
static void test_fixed_spatial_factors_find_their_axes(void **state)
{
    (void)state;
    struct edge e;
    start(&e, 4, 4, 4);
    e.arch.level[0].mesh_x = e.arch.mac.mesh_x = 4;
    e.arch.level[0].instances = e.arch.mac.instances = 8;
    e.constraints.level[1].spatial.fixed[0] = 2;
    e.constraints.level[1].spatial.fixed[1] = 4;
    must_map(&e);
    must_be_valid(&e);
    assert_int_equal(e.solution.mapping.level[1].spatial[0], 2);
    assert_int_equal(e.solution.mapping.level[1].spatial[1], 4);
    e.constraints.level[1].spatial.fixed[0] = 4;
    must_map(&e);
    assert_true(!e.solution.feasible && e.solution.proved);
    assert_non_null(strstr(e.solution.reason, "do not fit its fan-out of 4 x 2"));
}

static void test_contradicting_constraints_are_said(void **state)
{
    (void)state;
    struct edge e;
    start(&e, 4, 4, 4);
    e.constraints.level[1].temporal.fixed[2] = 2;
    e.constraints.level[1].temporal.highest[2] = 1;
    must_map(&e);
    assert_true(!e.solution.feasible && e.solution.proved);
    assert_string_equal(e.solution.reason,
                        "the constraints fix dimension K to 2 at Buffer and allow at most 1");
}

/* Past constraints the registers keep weights alone, so their utilisation counts 1.01: in the model and in
 * the terms. */
static void test_terms_see_what_constraints_keep(void **state)
{
    (void)state;
    struct edge e;
    start(&e, 8, 6, 4);
    e.constraints.level[0].bypass = 6;
    e.settings.weight_util = 5;
    e.settings.limits.relative_gap = 0;
    must_map(&e);
    must_be_valid(&e);
    assert_true(e.solution.terms.util > 0);
    assert_true(fabs(e.solution.terms.objective - e.solution.milp_objective) < 1e-6);
}

/* A tensor that every dimension indexes saves nothing in any order, so to ask for it costs the others
 * nothing. */
static void test_stationary_tensor_without_savings_excludes_no_order(void **state)
{
    (void)state;
    struct edge e;
    double free_objective;
    start(&e, 6, 1, 4);
    e.problem.tensor[0].rank[e.problem.tensor[0].n_rank++] =
        (struct tensor_rank){.n_term = 1, .term = {{.dim = 1, .coefficient = 1}}};
    e.settings.limits.relative_gap = 0;
    small_machine(&e.arch, 3, 30);
    must_map(&e);
    free_objective = e.solution.milp_objective;
    e.settings.stationary = 0;
    must_map(&e);
    must_be_valid(&e);
    assert_true(fabs(e.solution.milp_objective - free_objective) < 1e-6);
}

/* K is fixed innermost at the buffer, where its loop has length 1: it is in nobody's way. */
static void test_fixed_places_of_unit_loops_do_not_count(void **state)
{
    (void)state;
    struct edge e;
    double free_objective;
    start(&e, 12, 10, 4);
    e.constraints.level[1].temporal.fixed[2] = 1;
    e.settings.limits.relative_gap = 0;
    must_map(&e);
    free_objective = e.solution.milp_objective;
    e.constraints.level[1].temporal.n_order = 1;
    e.constraints.level[1].temporal.order[0] = 2;
    must_map(&e);
    must_be_valid(&e);
    assert_int_equal(e.solution.mapping.level[1].temporal_order[0], 2);
    assert_true(fabs(e.solution.milp_objective - free_objective) < 1e-6);
}

/* Large primes, unit problems, unlimited and tiny storages, no fan-out, prime fan-outs, all weights 0, huge
 * weights. */
static void test_extreme_inputs_have_mappings(void **state)
{
    (void)state;
    static const uint32_t bound[][3] = {
        {8191, 65537, 3}, {1, 1, 1}, {2, 2, 2}, {49, 21, 9}, {65536, 4096, 4}};
    static const double weight[][3] = {{0.1, 10, 1}, {0, 0, 0}, {1e6, 1e6, 1e6}, {1e6, 0, 0}, {0, 0, 1e6}};
    static const double gap[] = {0, 1e-4, 1};
    for (uint32_t i = 0; i < 5 * 5 * 4; i++) {
        struct edge e;
        const double *w = weight[i / 5 % 5];
        start(&e, bound[i % 5][0], bound[i % 5][1], bound[i % 5][2]);
        if (i / 25 == 1)
            e.arch.level[0].size_word = e.arch.level[1].size_word = ARCH_UNLIMITED;
        if (i / 25 == 2) {
            small_machine(&e.arch, 3, 3);
            e.arch.level[0].mesh_x = e.arch.mac.mesh_x = 7;
            e.arch.level[0].mesh_y = e.arch.mac.mesh_y = 3;
            e.arch.level[0].instances = e.arch.mac.instances = 21;
        }
        if (i / 25 == 3) {
            e.arch.level[0].keep_role = 1;
            e.arch.level[0].size_word = 1;
            e.arch.level[0].mesh_x = e.arch.mac.mesh_x = e.arch.level[0].mesh_y = e.arch.mac.mesh_y = 1;
            e.arch.level[0].instances = e.arch.mac.instances = 1;
        }
        e.settings.form = i % 2 ? COSA_FORM_MINMAX : COSA_FORM_PAPER;
        e.settings.weight_util = w[0];
        e.settings.weight_comp = w[1];
        e.settings.weight_traf = w[2];
        e.settings.limits.relative_gap = gap[i % 3];
        e.settings.limits.max_nodes = 200;
        must_map(&e);
        must_be_valid(&e);
    }
}

/* 16 dimensions, 8 tensors, 16 levels. */
static void test_largest_sizes_have_mappings(void **state)
{
    (void)state;
    static const char *const ranks[] = {"A B C D", "E F G H", "I J K L",         "M N O P",
                                        "A E I M", "B F J N", "C G K O D H L P", "A F K P"};
    static const uint32_t bound[] = {2, 3, 2, 5, 2, 4, 2, 3, 7, 2, 4, 2, 3, 2, 2, 6};
    struct edge e;
    start(&e, 2, 2, 2);
    random_case_dims(&e.problem, "largest", "ABCDEFGHIJKLMNOP", bound);
    for (uint32_t t = 0; t < 8; t++) {
        random_case_tensor(&e.problem, "T",
                           t == 7  ? TENSOR_OUTPUT
                           : t % 2 ? TENSOR_INPUT
                                   : TENSOR_WEIGHT,
                           ranks[t]);
        e.problem.tensor[t].name[1] = (char)('0' + t);
    }
    e.arch.n_level = ARCH_LEVEL_MAX;
    for (uint32_t l = 0; l + 1 < ARCH_LEVEL_MAX; l++) {
        char name[] = {'L', (char)('a' + l), '\0'};
        small_level(&e.arch.level[l], name, UINT64_C(16) << l, l < 5 ? 4 : 1, l < 9 ? 4 : 1, 1e-12);
    }
    small_level(&e.arch.level[ARCH_LEVEL_MAX - 1], "DRAM", ARCH_UNLIMITED, 1, 1, 1e-10);
    e.arch.mac.instances = 16;
    e.arch.mac.mesh_x = e.arch.mac.mesh_y = 4;
    mapspace_constraints_init(&e.constraints, &e.problem, &e.arch);
    e.settings.limits.max_nodes = 30;
    e.settings.max_repairs = 1;
    for (int form = 0; form < 2; form++) {
        e.settings.form = (enum cosa_form)form;
        must_map(&e);
        must_be_valid(&e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit_before_a_solution_gives_a_mapping),
        cmocka_unit_test(test_drawn_mappings_keep_the_limits_of_a_gpu),
        cmocka_unit_test(test_gpu_without_a_grid_has_a_solution),
        cmocka_unit_test(test_fixed_spatial_factors_find_their_axes),
        cmocka_unit_test(test_contradicting_constraints_are_said),
        cmocka_unit_test(test_terms_see_what_constraints_keep),
        cmocka_unit_test(test_stationary_tensor_without_savings_excludes_no_order),
        cmocka_unit_test(test_fixed_places_of_unit_loops_do_not_count),
        cmocka_unit_test(test_extreme_inputs_have_mappings),
        cmocka_unit_test(test_largest_sizes_have_mappings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
