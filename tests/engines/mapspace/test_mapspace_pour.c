/* A mapping that is poured anew stays valid, and fills an array that can be filled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/mapspace/mapspace_move.h"
#include "tests/engines/small_cases.h"

static uint64_t macs_used(const struct mapping *mapping)
{
    uint64_t product = 1;
    for (uint32_t l = 0; l < mapping->n_level; l++)
        for (uint32_t d = 0; d < mapping->n_dim; d++)
            product *= mapping->level[l].spatial[d];
    return product;
}

static void test_pour_keeps_mappings_valid(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(9, 1, RANDOM_TEST);
    struct mapping mapping = {0};
    struct arena arena;
    struct dse_error err;
    char reason[256];
    arena_init(&arena);
    for (int i = 0; i < 200; i++) {
        struct problem problem;
        struct architecture arch;
        const struct mapspace *space;
        struct random_case_options options = {
            .links = i % 2, .limits = true, .roles = i % 3 == 0, .network_cost = i % 5 == 0};
        arena_reset(&arena);
        random_case_problem(&stream, 20000, &problem);
        random_case_architecture(&stream, &options, &arch);
        assert_int_equal(mapspace_new(&problem, &arch, NULL, i % 4 == 3, &arena, &space, &err), DSE_OK);
        if (!mapspace_draw(space, &stream, &mapping, NULL, NULL))
            continue;
        for (int k = 0; k < 20; k++) {
            mapspace_pour(space, &stream, &mapping);
            if (!checker_accepts(&problem, &arch, &mapping, reason, sizeof reason))
                fail_msg("case %d: %s", i, reason);
            assert_true(mapspace_contains(space, &mapping, NULL));
        }
    }
    arena_free(&arena);
}

/* 2 x 2 lanes, all bounds even and capacities ample: every lane must be in use. */
static void test_pour_fills_the_array(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    const struct mapspace *space;
    struct mapping mapping = {0};
    struct random_stream stream = random_stream_make(9, 2, RANDOM_TEST);
    arena_init(&arena);
    small_gemm(&problem, 24, 16, 30);
    small_machine(&arch, 64, 4096);
    assert_int_equal(mapspace_new(&problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
    assert_true(mapspace_draw(space, &stream, &mapping, NULL, NULL));
    for (int k = 0; k < 50; k++) {
        mapspace_pour(space, &stream, &mapping);
        assert_int_equal(macs_used(&mapping), 4);
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pour_keeps_mappings_valid),
        cmocka_unit_test(test_pour_fills_the_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
