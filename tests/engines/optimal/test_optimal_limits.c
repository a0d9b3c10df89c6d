/* What tiles and factors are allowed, by hand: C[m,n] += A[m,k] B[k,n] with 4 x 4 x 4 iterations. Words of
 * tiles, of random problems, by problem_tile_words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "engines/optimal/optimal_limits.h"
#include "tests/engines/optimal/optimal_case.h"
#include "tests/engines/small_cases.h"

enum { M, N, K };

struct bench {
    struct problem problem;
    struct architecture arch;
    struct mapspace_constraints constraints;
    struct optimal_model model;
    struct arena arena;
};

static void begin(struct bench *bench)
{
    arena_init(&bench->arena);
    small_gemm(&bench->problem, 4, 4, 4);
    small_machine(&bench->arch, 16, 40);
    mapspace_constraints_init(&bench->constraints, &bench->problem, &bench->arch);
}

static void compile(struct bench *bench)
{
    struct dse_error err;
    assert_int_equal(optimal_model_new(&bench->problem, &bench->arch, &bench->constraints, &bench->arena,
                                       &bench->model, &err),
                     DSE_OK);
}

static bool fits(const struct bench *bench, uint32_t l, uint32_t m, uint32_t n, uint32_t k)
{
    return bench->model.fits[l][lattice_node(&bench->model.lattice, (const uint32_t[]){m, n, k})];
}

/* A tile of m, n, k has m k + k n + m n words; the buffer has 40, and half of that must be used. */
static void test_capacity_and_least_utilisation(void **state)
{
    (void)state;
    struct bench bench;
    struct dse_error err;
    uint8_t keep[3] = {7, 7, 7};
    begin(&bench);
    bench.arch.level[1].min_utilization = 0.5;
    compile(&bench);
    assert_true(fits(&bench, 1, 4, 4, 2));  /* 32 */
    assert_true(fits(&bench, 1, 4, 2, 2));  /* 20 */
    assert_false(fits(&bench, 1, 2, 2, 2)); /* 12 */
    assert_false(fits(&bench, 1, 4, 4, 4)); /* 48 */
    keep[1] = 6;                            /* not A: k n + m n */
    assert_int_equal(optimal_model_keep(&bench.model, keep, &err), DSE_OK);
    assert_true(fits(&bench, 1, 4, 4, 4));
    assert_false(fits(&bench, 1, 4, 2, 2));
    assert_int_equal(bench.model.n_event, 5);
    arena_free(&bench.arena);
}

/* K is 2 at the buffer, and M at most 2 in the registers and 1 at the DRAM. */
static void test_extents_are_products_of_allowed_factors(void **state)
{
    (void)state;
    struct bench bench;
    begin(&bench);
    bench.constraints.level[1].temporal.fixed[K] = 2;
    bench.constraints.level[0].temporal.highest[M] = 2;
    bench.constraints.level[0].spatial.fixed[M] = 1;
    bench.constraints.level[2].temporal.fixed[M] = 1;
    bench.constraints.level[2].spatial.fixed[M] = 1;
    compile(&bench);
    assert_true(fits(&bench, 0, 1, 1, 1));
    assert_true(fits(&bench, 0, 2, 1, 2));
    assert_false(fits(&bench, 0, 4, 1, 1)); /* 2 at most */
    assert_false(fits(&bench, 0, 1, 1, 4)); /* leaves nothing for the buffer */
    assert_true(fits(&bench, 1, 4, 1, 2));
    assert_false(fits(&bench, 1, 4, 1, 1)); /* K is at least 2 */
    assert_false(fits(&bench, 1, 2, 1, 2)); /* all of M is inside the DRAM */
    assert_true(optimal_factor_allowed(&bench.model, 1, false, K, 2));
    assert_false(optimal_factor_allowed(&bench.model, 1, false, K, 1));
    assert_int_equal(bench.model.limited[1], 1u << K);
    arena_free(&bench.arena);
}

/* Registers and buffer share 5 banks of 8 words: tiles of 5 and 32 words take 1 and 4, of
 * 12 and 32 2 and 4. */
static void test_banks_are_shared(void **state)
{
    (void)state;
    struct bench bench;
    uint32_t node[3];
    begin(&bench);
    bench.arch.n_group = 1;
    bench.arch.group[0].banks = 5;
    for (uint32_t l = 0; l < 2; l++) {
        bench.arch.level[l].bank_group = 1;
        bench.arch.level[l].bank_word = 8;
        bench.arch.level[l].size_word = 32;
    }
    compile(&bench);
    node[0] = lattice_node(&bench.model.lattice, (const uint32_t[]){2, 1, 1});
    node[1] = lattice_node(&bench.model.lattice, (const uint32_t[]){4, 4, 2});
    node[2] = bench.model.lattice.n - 1;
    assert_true(optimal_fits_together(&bench.model, NULL, 0, node));
    node[0] = lattice_node(&bench.model.lattice, (const uint32_t[]){2, 2, 2});
    assert_false(optimal_fits_together(&bench.model, NULL, 0, node));
    assert_true(optimal_fits_together(&bench.model, NULL, 1, node)); /* the registers not yet known */
    /* the buffer's tile is no smaller than that of the registers: 12 and 12 words take 2 and 2, 20 3 and 3 */
    assert_true(fits(&bench, 0, 2, 2, 2));
    assert_false(fits(&bench, 0, 4, 2, 2));
    assert_true(fits(&bench, 1, 4, 2, 2));
    arena_free(&bench.arena);
}

/* 4 threads with 3 words of 8 bits each have 96 bits. */
static void test_a_block_has_its_registers(void **state)
{
    (void)state;
    struct bench bench;
    struct optimal_spread spread = {.factor = {{1, 1, 1}, {2, 2, 1}, {1, 1, 1}}};
    const uint32_t node[3] = {0, 0, 0};
    begin(&bench);
    bench.arch.gpu = (struct gpu_limits){
        .present = true, .level = 1, .threads_per_block = 4, .thread_dim = {4, 4, 4}, .register_bit = 96};
    compile(&bench);
    assert_true(optimal_fits_block(&bench.model, &spread));
    assert_true(optimal_fits_together(&bench.model, &spread, 0, node));
    bench.arch.gpu.register_bit = 95;
    assert_false(optimal_fits_block(&bench.model, &spread));
    bench.arch.gpu.register_bit = 96;
    bench.arch.gpu.threads_per_block = 3;
    assert_false(optimal_fits_block(&bench.model, &spread));
    arena_free(&bench.arena);
}

static void test_words_of_tiles(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 50; i++) {
        struct bench bench;
        struct dse_error err;
        arena_init(&bench.arena);
        optimal_case(i, 48, &bench.problem, &bench.arch);
        assert_int_equal(
            optimal_model_new(&bench.problem, &bench.arch, NULL, &bench.arena, &bench.model, &err), DSE_OK);
        const struct lattice *lattice = &bench.model.lattice;
        for (uint32_t node = 0; node < lattice->n; node++) {
            uint32_t extent[PROBLEM_DIM_MAX];
            for (uint32_t d = 0; d < lattice->n_dim; d++)
                extent[d] = lattice->extent[d][node];
            for (uint32_t t = 0; t < bench.problem.n_tensor; t++)
                assert_int_equal(bench.model.tile_words[t][node],
                                 problem_tile_words(&bench.problem, t, extent));
        }
        arena_free(&bench.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capacity_and_least_utilisation),
        cmocka_unit_test(test_extents_are_products_of_allowed_factors),
        cmocka_unit_test(test_banks_are_shared),
        cmocka_unit_test(test_a_block_has_its_registers),
        cmocka_unit_test(test_words_of_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
