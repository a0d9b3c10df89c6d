/* Descent ends at a mapping that none of the space's neighbours beats, and on the way only gets better. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/mapspace/mapspace_descent.h"
#include "engines/mapspace/mapspace_move.h"
#include "tests/engines/small_cases.h"
#include "tests/support/mapping_same.h"

/* The price is made up: iterations of the outermost level's loops, so the best mapping has none there. */
static bool price(void *self, const struct mapping *mapping, double *cost, double *tie)
{
    const struct mapspace *space = self;
    if (!mapspace_contains(space, mapping, NULL))
        return false;
    *cost = 1;
    for (uint32_t d = 0; d < mapping->n_dim; d++)
        *cost *= mapping->level[mapping->n_level - 1].temporal[d];
    *tie = 0;
    return true;
}

static void test_descent_ends_at_a_local_optimum(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    const struct mapspace *space;
    arena_init(&arena);
    small_gemm(&problem, 8, 4, 6);
    small_machine(&arch, 64, 4096);
    assert_int_equal(mapspace_new(&problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
    for (uint64_t i = 0; i < 20; i++) {
        struct random_stream stream = random_stream_make(5, i, RANDOM_TEST);
        struct mapping mapping = {0}, other;
        struct descent descent;
        double cost = 0, tie, before;
        assert_true(mapspace_draw(space, &stream, &mapping, NULL, NULL));
        assert_true(price((void *)(uintptr_t)space, &mapping, &cost, &tie));
        descent_start(&descent, space, &mapping, cost, tie, &stream);
        do {
            before = descent.cost;
        } while (descent_block(&descent, price, (void *)(uintptr_t)space) && descent.cost <= before);
        assert_true(descent.cost <= before && before <= cost);
        assert_true(checker_accepts(&problem, &arch, &mapping, NULL, 0));
        assert_true(price((void *)(uintptr_t)space, &mapping, &cost, &tie));
        assert_true(cost == descent.cost);
        assert_true(cost == 1); /* the buffer holds all of it */
        for (int k = 0; k < 100; k++)
            if (mapspace_neighbour(space, &stream, &mapping, &other) &&
                price((void *)(uintptr_t)space, &other, &before, &tie))
                assert_true(before >= cost);
    }
    arena_free(&arena);
}

/* Made-up prices with one better mapping, to which no single move, trade or gathering leads. */
static bool price_of_levels(void *self, const struct mapping *mapping, double *cost, double *tie)
{
    const struct problem *problem = self;
    *cost = 3;
    for (uint32_t l = 1; l < 3; l++) {
        bool all = true;
        for (uint32_t d = 0; d < mapping->n_dim; d++)
            all = all && mapping->level[l].temporal[d] == problem->bound[d];
        if (all)
            *cost = l;
    }
    *tie = 0;
    return true;
}

static bool price_of_fill(void *self, const struct mapping *mapping, double *cost, double *tie)
{
    (void)self;
    uint32_t factor = mapping->level[0].temporal[0];
    *cost = factor == 1 ? 2 : factor == 4 ? 1 : 3;
    *tie = 0;
    return true;
}

static double end_of_descent(struct problem *problem, uint64_t register_word, bool wide, descent_price own)
{
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    const struct mapspace *space;
    struct mapping mapping;
    struct descent descent;
    struct random_stream stream = random_stream_make(5, 1, RANDOM_TEST);
    arena_init(&arena);
    small_machine(&arch, register_word, 1000);
    assert_int_equal(mapspace_new(problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
    mapping_init(&mapping, problem, &arch); /* all loops at the DRAM */
    (wide ? descent_start_wide : descent_start)(&descent, space, &mapping, 2, 0, &stream);
    while (descent_block(&descent, own, problem))
        assert_true(mapspace_contains(space, &mapping, NULL));
    arena_free(&arena);
    return descent.cost;
}

static void test_a_wide_descent_moves_whole_levels_and_fills(void **state)
{
    (void)state;
    struct problem problem;
    small_gemm(&problem, 8, 4, 6);
    assert_true(end_of_descent(&problem, 1000, false, price_of_levels) == 2);
    assert_true(end_of_descent(&problem, 1000, true, price_of_levels) == 1);
    small_gemm(&problem, 16, 1, 1); /* m rows take 2 m + 1 registers */
    assert_true(end_of_descent(&problem, 10, false, price_of_fill) == 2);
    assert_true(end_of_descent(&problem, 10, true, price_of_fill) == 1);
}

static void test_starts_are_valid_and_differ(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    const struct mapspace *space;
    struct mapping first, other;
    struct random_stream stream = random_stream_make(5, 2, RANDOM_TEST);
    uint32_t n_other = 0;
    arena_init(&arena);
    small_gemm(&problem, 8, 4, 6);
    small_machine(&arch, 16, 64);
    assert_int_equal(mapspace_new(&problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
    assert_true(mapspace_draw_start(space, &stream, &first, NULL, NULL));
    for (int i = 0; i < 100; i++) {
        assert_true(mapspace_draw_start(space, &stream, &other, NULL, NULL));
        assert_true(mapspace_contains(space, &other, NULL));
        n_other += !mapping_same(&first, &other);
    }
    assert_true(n_other >= 90);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descent_ends_at_a_local_optimum),
        cmocka_unit_test(test_a_wide_descent_moves_whole_levels_and_fills),
        cmocka_unit_test(test_starts_are_valid_and_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
