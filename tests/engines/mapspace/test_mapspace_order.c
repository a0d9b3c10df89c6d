/* No random order beats the candidates where they are complete; how many there are, by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/mapspace/mapspace_order.h"
#include "engines/mapspace/mapspace_private.h"
#include "tests/engines/small_cases.h"

/* The best energy-delay product over the walk from `mapping`, and the number of orders walked. */
static double best_of_walk(const struct evaluator *evaluator, struct eval_workspace *workspace,
                           const struct mapspace *space, struct mapping mapping, bool full)
{
    struct order_walk walk;
    struct evaluation evaluation;
    double best = INFINITY;
    uint64_t count = order_walk_start(&walk, space, &mapping, full), n = 0;
    do {
        assert_true(evaluator_run(evaluator, workspace, &mapping, &evaluation));
        best = fmin(best, evaluation.edp_js);
        n++;
    } while (order_walk_next(&walk, &mapping));
    assert_true(full || n == count);
    return best;
}

/* Random orders of all loops. */
static double best_of_random(const struct evaluator *evaluator, struct eval_workspace *workspace,
                             struct random_stream *stream, struct mapping mapping, int n)
{
    struct evaluation evaluation;
    double best = INFINITY;
    for (int k = 0; k < n; k++) {
        for (uint32_t l = 0; l < mapping.n_level; l++)
            for (uint32_t i = mapping.n_dim; i > 1; i--) {
                uint32_t j = random_below(stream, i);
                uint8_t swap = mapping.level[l].temporal_order[i - 1];
                mapping.level[l].temporal_order[i - 1] = mapping.level[l].temporal_order[j];
                mapping.level[l].temporal_order[j] = swap;
            }
        assert_true(evaluator_run(evaluator, workspace, &mapping, &evaluation));
        best = fmin(best, evaluation.edp_js);
    }
    return best;
}

/* How often 300 random orders beat the walk, over random machines, bypasses and factorisations; the `full`
 * walk on machines whose networks cost. */
static int count_beaten(bool windows, bool full, uint64_t key, int n_mapping)
{
    struct random_stream stream = random_stream_make(8, key, RANDOM_TEST);
    int n_done = 0, n_beaten = 0;
    for (int i = 0; n_done < n_mapping; i++) {
        const struct random_case_options options = {
            .limits = true, .roles = i % 3 == 0, .network_cost = full};
        struct problem problem;
        struct architecture arch;
        struct arena arena;
        struct dse_error err;
        const struct mapspace *space;
        struct evaluator *evaluator;
        struct eval_workspace *workspace;
        arena_init(&arena);
        random_case_problem(&stream, full ? 60 : 20000, &problem);
        random_case_architecture(&stream, &options, &arch);
        assert_int_equal(mapspace_new(&problem, &arch, NULL, i % 2, &arena, &space, &err), DSE_OK);
        if (!mapspace_is_empty(space) && mapspace_orders_complete(space) != windows) {
            struct mapping mapping = {0};
            assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, &err), DSE_OK);
            assert_int_equal(eval_workspace_new(evaluator, &workspace, &err), DSE_OK);
            assert_true(mapspace_draw(space, &stream, &mapping, NULL, NULL));
            double walk = best_of_walk(evaluator, workspace, space, mapping, full);
            double any = best_of_random(evaluator, workspace, &stream, mapping, 300);
            n_beaten += any < walk * (1 - 1e-12);
            n_done++;
            eval_workspace_delete(workspace);
            evaluator_delete(evaluator);
        }
        arena_free(&arena);
    }
    return n_beaten;
}

/* Without windows the candidates are complete: no order is better than the best of the walk. */
static void test_no_order_beats_complete_candidates(void **state)
{
    (void)state;
    assert_int_equal(count_beaten(false, false, 1, 300), 0);
}

/* With windows they are not (quirks of sliding in two directions); they should be beaten rarely. */
static void test_candidates_are_seldom_beaten_with_windows(void **state)
{
    (void)state;
    int n = count_beaten(true, false, 2, 300);
    print_message("walks beaten by random orders: %d of 300\n", n);
    assert_true(n < 30);
}

static void test_no_order_beats_the_full_walk(void **state)
{
    (void)state;
    assert_int_equal(count_beaten(true, true, 3, 300), 0);
}

/* C[m,n] += A[m,k] B[k,n] at a level around all three tensors: what is innermost decides which one stays: K
 * keeps Z, N keeps A, M keeps B; 3 candidates. Nothing is inside level 0: 1 candidate. */
static void test_gemm_has_three_orders(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    const struct mapspace *space;
    uint32_t innermost = 0;
    arena_init(&arena);
    small_gemm(&problem, 4, 4, 4);
    small_machine(&arch, 10, 60);
    assert_int_equal(mapspace_new(&problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
    assert_true(mapspace_orders_complete(space));
    assert_int_equal(space->order[0].n, 1);
    assert_int_equal(space->order[2].n, 3);
    for (int i = 0; i < 3; i++)
        innermost |= 1u << space->order[2].order[i][0];
    assert_int_equal(innermost, 7);
    arch.link_transfers = true;
    assert_int_equal(mapspace_new(&problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
    assert_false(mapspace_orders_complete(space));
    arena_free(&arena);
}

/* A fixed place is kept by every candidate. */
static void test_orders_keep_constraints(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    struct mapspace_constraints c;
    const struct mapspace *space;
    arena_init(&arena);
    small_conv(&problem, 3, 4, 4, 4);
    small_machine(&arch, 10, 60);
    mapspace_constraints_init(&c, &problem, &arch);
    c.level[2].temporal.n_order = 2;
    c.level[2].temporal.order[0] = 3;
    c.level[2].temporal.order[1] = 1;
    assert_int_equal(mapspace_new(&problem, &arch, &c, false, &arena, &space, &err), DSE_OK);
    assert_true(space->order[2].n >= 1);
    for (uint32_t i = 0; i < space->order[2].n; i++)
        assert_true(space->order[2].order[i][0] == 3 && space->order[2].order[i][1] == 1);
    /* M moves A and Z away from the start, but not where it is a unit loop: then K keeps Z, N keeps A */
    small_gemm(&problem, 4, 4, 4);
    mapspace_constraints_init(&c, &problem, &arch);
    c.level[2].temporal.n_order = 1;
    assert_int_equal(mapspace_new(&problem, &arch, &c, false, &arena, &space, &err), DSE_OK);
    assert_false(space->order[2].complete);
    arena_free(&arena);
}

/* Unit loops are invisible: with one non-unit loop per level there is one order. */
static void test_unit_loops_make_no_orders(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    const struct mapspace *space;
    struct order_walk walk;
    struct mapping mapping;
    arena_init(&arena);
    small_gemm(&problem, 4, 4, 4);
    small_machine(&arch, 100, 100);
    assert_int_equal(mapspace_new(&problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
    mapping_init(&mapping, &problem, &arch);
    mapping.level[2].temporal[0] = mapping.level[2].temporal[1] = 1;
    mapping.level[0].temporal[0] = mapping.level[1].temporal[1] = 4;
    assert_int_equal(order_walk_start(&walk, space, &mapping, false), 1);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_order_beats_complete_candidates),
        cmocka_unit_test(test_candidates_are_seldom_beaten_with_windows),
        cmocka_unit_test(test_no_order_beats_the_full_walk),
        cmocka_unit_test(test_gemm_has_three_orders),
        cmocka_unit_test(test_orders_keep_constraints),
        cmocka_unit_test(test_unit_loops_make_no_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
