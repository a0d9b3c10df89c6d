/* The lattice of tiles: numbers, divisors, and minima over divisors against all pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/random.h"
#include "engines/optimal/lattice.h"
#include "tests/support/random_case.h"

static void test_nodes_and_sweeps(void **state)
{
    (void)state;
    struct problem problem;
    struct lattice lattice;
    struct arena arena;
    struct dse_error err;
    double value[500], least[500];
    struct random_stream stream = random_stream_make(1, 2, RANDOM_INIT);
    arena_init(&arena);
    random_case_dims(&problem, "four", "ABCD", (const uint32_t[]){12, 1, 30, 49});
    assert_int_equal(lattice_new(&problem, &arena, &lattice, &err), DSE_OK);
    assert_int_equal(lattice.n, 6 * 1 * 8 * 3); /* divisors of the bounds */
    assert_true(lattice_size(&problem) == lattice.n);
    for (uint32_t i = 0; i < lattice.n; i++) {
        const uint32_t extent[] = {lattice.extent[0][i], lattice.extent[1][i], lattice.extent[2][i],
                                   lattice.extent[3][i]};
        assert_int_equal(lattice_node(&lattice, extent), i);
        assert_true(lattice.volume[i] == (double)extent[0] * extent[1] * extent[2] * extent[3]);
        assert_true(lattice_divides(&lattice, 0, i) && lattice_divides(&lattice, i, lattice.n - 1));
        const uint32_t mixed = lattice_mix(&lattice, i, lattice.n - 1, 1u << 2);
        assert_int_equal(lattice.extent[2][mixed], 30);
        assert_int_equal(lattice.extent[0][mixed], extent[0]);
        assert_int_equal(lattice.extent[3][mixed], extent[3]);
    }
    for (uint32_t dims = 0; dims < 16; dims++) {
        for (uint32_t i = 0; i < lattice.n; i++)
            least[i] = value[i] = random_below(&stream, 1000);
        for (uint32_t i = 0; i < lattice.n; i++)
            for (uint32_t k = 0; k < lattice.n; k++)
                if (lattice_divides(&lattice, k, i) && lattice_mix(&lattice, k, i, dims) == i &&
                    value[k] < least[i])
                    least[i] = value[k];
        lattice_sweep(&lattice, dims, value);
        assert_memory_equal(value, least, lattice.n * sizeof *value);
    }
    const uint32_t ratio[] = {lattice_node(&lattice, (const uint32_t[]){2, 1, 1, 1}),
                              lattice_node(&lattice, (const uint32_t[]){6, 1, 1, 1})};
    for (uint32_t i = 0; i < lattice.n; i++)
        least[i] = value[i] = random_below(&stream, 1000);
    for (uint32_t i = 0; i < lattice.n; i++)
        for (uint32_t k = 0; k < lattice.n; k++)
            if (lattice_mix(&lattice, k, i, 1) == i && value[k] < least[i] &&
                (lattice.extent[0][i] == 2 * lattice.extent[0][k] ||
                 lattice.extent[0][i] == 6 * lattice.extent[0][k]))
                least[i] = value[k];
    lattice_sweep_ratios(&lattice, ratio, 2, value);
    assert_memory_equal(value, least, lattice.n * sizeof *value);
    arena_free(&arena);
}

/* In room for the whole, the lattice of bounds 12, 1, 30, 49 over 2, 1, 5, 7 is that of 6, 1, 6, 7. */
static void test_a_divided_lattice_is_that_of_the_quotients(void **state)
{
    (void)state;
    struct problem problem, quotient;
    struct lattice whole, divided, alone;
    struct arena arena;
    struct dse_error err;
    arena_init(&arena);
    random_case_dims(&problem, "four", "ABCD", (const uint32_t[]){12, 1, 30, 49});
    random_case_dims(&quotient, "four", "ABCD", (const uint32_t[]){6, 1, 6, 7});
    assert_int_equal(lattice_new(&problem, &arena, &whole, &err), DSE_OK);
    assert_int_equal(lattice_new(&quotient, &arena, &alone, &err), DSE_OK);
    assert_int_equal(lattice_room(&whole, &arena, &divided, &err), DSE_OK);
    for (int twice = 0; twice < 2; twice++) {
        lattice_divide(&whole, (const uint32_t[]){twice ? 2 : 1, 1, twice ? 5 : 1, twice ? 7 : 1}, &divided);
        const struct lattice *same = twice ? &alone : &whole;
        assert_int_equal(divided.n, same->n);
        for (uint32_t i = 0; i < same->n; i++) {
            uint32_t extent[4];
            for (uint32_t d = 0; d < 4; d++) {
                extent[d] = divided.extent[d][i];
                assert_int_equal(extent[d], same->extent[d][i]);
                assert_int_equal(divided.part[d][i], same->part[d][i]);
            }
            assert_int_equal(divided.whole[i], lattice_node(&whole, extent));
            assert_true(divided.volume[i] == same->volume[i]);
        }
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nodes_and_sweeps),
                                       cmocka_unit_test(test_a_divided_lattice_is_that_of_the_quotients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
