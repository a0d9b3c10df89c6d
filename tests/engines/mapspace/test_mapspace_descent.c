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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descent_ends_at_a_local_optimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
