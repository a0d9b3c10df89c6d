/* Factorisations, orders and bypass choices of tiny spaces, counted by hand; all are valid and different. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/mapspace/mapspace_enumerate.h"
#include "engines/mapspace/mapspace_order.h"
#include "tests/engines/small_cases.h"
#include "tests/support/mapping_same.h"

/* Count the factorisations, with each order walked when `orders`; all must be valid and different. */
static uint64_t count(const struct problem *problem, const struct architecture *arch,
                      const struct mapspace_constraints *constraints, bool bypass, bool orders)
{
    const struct mapspace *space;
    struct mapspace_enumerator *e;
    struct arena arena;
    struct dse_error err;
    struct mapping mapping, *seen = calloc(20000, sizeof *seen);
    uint64_t n = 0;
    enum enumerate_outcome outcome;
    arena_init(&arena);
    assert_non_null(seen);
    assert_int_equal(mapspace_new(problem, arch, constraints, bypass, &arena, &space, &err), DSE_OK);
    assert_int_equal(mapspace_enumerator_new(space, &arena, &e, &err), DSE_OK);
    while ((outcome = mapspace_enumerator_next(e, 7, &mapping, NULL)) != ENUMERATE_DONE) {
        struct order_walk walk;
        if (outcome == ENUMERATE_PAUSED)
            continue;
        if (orders)
            (void)order_walk_start(&walk, space, &mapping, true);
        do {
            assert_true(checker_accepts(problem, arch, &mapping, NULL, 0));
            assert_true(mapspace_contains(space, &mapping, NULL));
            for (uint64_t i = 0; i < n; i++)
                assert_false(mapping_same(&seen[i], &mapping));
            assert_true(n < 20000);
            seen[n++] = mapping;
        } while (orders && order_walk_next(&walk, &mapping));
    }
    free(seen);
    arena_free(&arena);
    return n;
}

/* M = N = 2, K = 1, five places (three temporal, X, Y), not both on X, not both on Y: 23; see
 * test_mapspace_draw.c. With registers of 5 words not both in registers: 22. */
static void test_enumeration_counts_factorisations(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    small_gemm(&problem, 2, 2, 1);
    small_machine(&arch, 8, 64);
    assert_int_equal(count(&problem, &arch, NULL, false, false), 23);
    small_machine(&arch, 5, 64);
    assert_int_equal(count(&problem, &arch, NULL, false, false), 22);
}

/* With link transfers every order of the loops counts: 23 + 3 for the ways with both loops in one place. */
static void test_full_walk_counts_orders(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    small_gemm(&problem, 2, 2, 1);
    small_machine(&arch, 8, 64);
    arch.link_transfers = true;
    assert_int_equal(count(&problem, &arch, NULL, false, true), 26);
}

/* M = 2 alone: 5 places; 3 tensors may be kept or not at each of 2 levels: 64 choices, nothing overflows. */
static void test_enumeration_counts_bypass_choices(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    small_gemm(&problem, 2, 1, 1);
    small_machine(&arch, 8, 64);
    assert_int_equal(count(&problem, &arch, NULL, true, false), 5 * 64);
}

/* 12 = 2 2 3 over the temporal loops of three levels: 6 ways for the twos, 3 for the three. */
static void test_enumeration_keeps_constraints(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct mapspace_constraints c;
    small_gemm(&problem, 12, 1, 1);
    small_machine(&arch, 100, 100);
    mapspace_constraints_init(&c, &problem, &arch);
    c.level[1].spatial.fixed[0] = 1;
    assert_int_equal(count(&problem, &arch, &c, false, false), 18);
    c.level[0].temporal.highest[0] =
        3; /* 1, 2 or 3 inside; the rest, 12 6 4, over two levels: 3*2, 2*2, 3 ways */
    assert_int_equal(count(&problem, &arch, &c, false, false), 6 + 4 + 3);
    c.level[1].temporal.fixed[0] = 2;
    assert_int_equal(count(&problem, &arch, &c, false, false), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enumeration_counts_factorisations),
        cmocka_unit_test(test_full_walk_counts_orders),
        cmocka_unit_test(test_enumeration_counts_bypass_choices),
        cmocka_unit_test(test_enumeration_keeps_constraints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
