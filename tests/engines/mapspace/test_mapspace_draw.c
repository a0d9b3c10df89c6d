/* Draws are valid on random and shipped machines, cover tiny spaces that are counted by hand, and keep
 * constraints.
 * Tests: mapspace.c, mapspace_check.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"
#include "engines/mapspace/mapspace.h"
#include "tests/engines/small_cases.h"
#include "tests/support/mapping_same.h"

static const struct mapspace *make_space(const struct problem *problem, const struct architecture *arch,
                                         const struct mapspace_constraints *constraints, bool search_bypass,
                                         struct arena *arena)
{
    const struct mapspace *space = NULL;
    struct dse_error err;
    if (mapspace_new(problem, arch, constraints, search_bypass, arena, &space, &err) != DSE_OK)
        fail_msg("%s", err.text);
    return space;
}

/* Draw n mappings and hold each against the space, the checker and (by roles, capacity, meshes) the
 * machine. */
static uint64_t check_draws(const struct problem *problem, const struct architecture *arch,
                            const struct mapspace *space, int n, uint64_t key)
{
    struct random_stream stream = random_stream_make(7, key, RANDOM_TEST);
    struct mapping mapping = {0};
    uint64_t n_rejected = 0;
    for (int i = 0; i < n; i++) {
        char reason[256];
        struct misfit_info fit;
        assert_true(mapspace_draw(space, &stream, &mapping, &n_rejected, &fit));
        if (!checker_accepts(problem, arch, &mapping, reason, sizeof reason))
            fail_msg("draw %d: %s", i, reason);
        assert_true(mapspace_contains(space, &mapping, &fit));
    }
    return n_rejected;
}

/* 50 random machines and problems, 1000 draws each, with and without bypass search: nothing is rejected. */
static void test_draws_are_valid_on_random_machines(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(3, 1, RANDOM_TEST);
    int n_space = 0;
    for (uint64_t i = 0; n_space < 50; i++) {
        struct random_case_options options = {
            .links = i % 2, .limits = true, .roles = i % 3 == 0, .network_cost = i % 5 == 0};
        struct problem problem;
        struct architecture arch;
        struct arena arena;
        arena_init(&arena);
        random_case_problem(&stream, 20000, &problem);
        random_case_architecture(&stream, &options, &arch);
        const struct mapspace *space = make_space(&problem, &arch, NULL, i % 4 == 3, &arena);
        if (!mapspace_is_empty(space)) {
            n_space++;
            assert_int_equal(check_draws(&problem, &arch, space, 1000, i), 0);
        }
        arena_free(&arena);
    }
}

/* The same where storages share banks: a draw looks at all of a group. */
static void test_draws_are_valid_where_storages_share_banks(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(3, 2, RANDOM_TEST);
    for (int n_space = 0, i = 0; n_space < 50; i++) {
        const struct random_case_options options = {.limits = true, .roles = i % 3 == 0};
        struct problem problem;
        struct architecture arch;
        struct arena arena;
        arena_init(&arena);
        random_case_problem(&stream, 20000, &problem);
        random_case_architecture(&stream, &options, &arch);
        random_case_banks(&stream, &problem, &arch);
        const struct mapspace *space = make_space(&problem, &arch, NULL, i % 4 == 3, &arena);
        if (arch.n_group && !mapspace_is_empty(space)) {
            n_space++;
            assert_int_equal(check_draws(&problem, &arch, space, 1000, (uint64_t)i), 0);
        }
        arena_free(&arena);
    }
}

/* The machines that come with the program, ResNet-50's 3x3 layer of stage 4 and a strided first layer. */
static void test_draws_are_valid_on_shipped_machines(void **state)
{
    (void)state;
    static const char *const path[] = {"experiments/architectures/simba.yaml",
                                       "experiments/architectures/mindmappings.yaml",
                                       "experiments/architectures/eyeriss_12x14.yaml"};
    static const struct layer layer[] = {{.name = "conv4",
                                          .type = LAYER_CONV,
                                          .c = 256,
                                          .k = 256,
                                          .p = 14,
                                          .q = 14,
                                          .r = 3,
                                          .s = 3,
                                          .stride = {1, 1},
                                          .dilation = {1, 1},
                                          .groups = 1},
                                         {.name = "conv1",
                                          .type = LAYER_CONV,
                                          .c = 3,
                                          .k = 64,
                                          .p = 112,
                                          .q = 112,
                                          .r = 7,
                                          .s = 7,
                                          .stride = {2, 2},
                                          .dilation = {1, 1},
                                          .groups = 1}};
    for (size_t i = 0; i < sizeof path / sizeof path[0]; i++)
        for (size_t j = 0; j < sizeof layer / sizeof layer[0]; j++) {
            struct problem problem;
            struct architecture arch;
            struct arena arena;
            struct dse_error err;
            arena_init(&arena);
            assert_int_equal(architecture_read(path[i], &arch, &err), DSE_OK);
            assert_int_equal(layer_problem(&layer[j], 1, &problem, &err), DSE_OK);
            const struct mapspace *space = make_space(&problem, &arch, NULL, false, &arena);
            assert_null(mapspace_is_empty(space));
            assert_int_equal(check_draws(&problem, &arch, space, 9000, i * 2 + j), 0);
            arena_free(&arena);
        }
}

/* A list of mappings that are all different. */
struct collection {
    size_t n, capacity;
    struct mapping *item;
};

static void collect(struct collection *c, const struct mapping *mapping)
{
    for (size_t i = 0; i < c->n; i++)
        if (mapping_same(&c->item[i], mapping))
            return;
    if (c->n == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 256;
        c->item = realloc(c->item, c->capacity * sizeof *c->item);
        assert_non_null(c->item);
    }
    c->item[c->n++] = *mapping;
}

/* How many different mappings of the 2x2x1 GEMM 5,000 draws give on the small machine with so many register
 * words. */
static size_t count_drawn(uint64_t register_word, uint64_t key)
{
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct collection seen = {0};
    struct mapping mapping = {0};
    arena_init(&arena);
    small_gemm(&problem, 2, 2, 1);
    small_machine(&arch, register_word, 64);
    const struct mapspace *space = make_space(&problem, &arch, NULL, false, &arena);
    struct random_stream stream = random_stream_make(1, key, RANDOM_TEST);
    for (int i = 0; i < 5000; i++) {
        assert_true(mapspace_draw(space, &stream, &mapping, NULL, NULL));
        collect(&seen, &mapping);
    }
    free(seen.item);
    arena_free(&arena);
    return seen.n;
}

/* The number of mappings counted by plain loops: M = N = 2, K = 1. Each 2 goes to T0 T1 T2, X1 or Y1, where X
 * and Y have room for one each: 5 * 5 - 2 = 23 ways; when both lie on one level's temporal loops (3 ways)
 * there are 2 orders: 26. All fit: registers of 8 words hold the largest tile, 2*1 + 1*2 + 2*2 = 8. */
static void test_draws_cover_a_tiny_space(void **state)
{
    (void)state;
    assert_int_equal(count_drawn(8, 1), 26);
}

/* The same machine with registers of 5 words: M and N cannot both be 2 in a register tile (8 words, but 2+1+2
 * = 5 for one of them): the 1 way T0 T0 (2 orders) drops out. */
static void test_draws_cover_a_tiny_limited_space(void **state)
{
    (void)state;
    assert_int_equal(count_drawn(5, 2), 24);
}

static void test_draw_is_a_function_of_the_stream(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct mapping a = {0}, b = {0};
    int n_different = 0;
    arena_init(&arena);
    small_conv(&problem, 3, 8, 16, 16);
    small_machine(&arch, 32, 512);
    const struct mapspace *space = make_space(&problem, &arch, NULL, false, &arena);
    struct random_stream first = random_stream_make(1, 5, RANDOM_TEST), second = first;
    struct random_stream other = random_stream_make(2, 5, RANDOM_TEST);
    for (int i = 0; i < 100; i++) {
        assert_true(mapspace_draw(space, &first, &a, NULL, NULL));
        assert_true(mapspace_draw(space, &second, &b, NULL, NULL));
        assert_true(mapping_same(&a, &b));
        assert_true(mapspace_draw(space, &other, &b, NULL, NULL));
        n_different += !mapping_same(&a, &b);
    }
    assert_true(n_different > 95);
    arena_free(&arena);
}

/* Fixed, highest, order, axis and bypass constraints hold in every draw (mapspace_contains is asked in
 * check_draws); here the ones that can be seen at once. */
static void test_draws_keep_constraints(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct mapspace_constraints c;
    struct mapping mapping = {0};
    arena_init(&arena);
    small_conv(&problem, 3, 8, 16, 16); /* dimensions R P Q C K */
    small_machine(&arch, 64, 2048);
    mapspace_constraints_init(&c, &problem, &arch);
    c.level[0].temporal.fixed[0] = 3;
    c.level[1].temporal.highest[3] = 2;
    c.level[1].temporal.n_order = 2;
    c.level[1].temporal.order[0] = 4;
    c.level[1].temporal.order[1] = 1;
    c.level[1].dims_x = 1u << 3;
    c.level[1].dims_y = 1u << 4;
    c.level[1].bypass = 1;
    const struct mapspace *space = make_space(&problem, &arch, &c, false, &arena);
    assert_null(mapspace_is_empty(space));
    assert_int_equal(check_draws(&problem, &arch, space, 2000, 9), 0);
    struct random_stream stream = random_stream_make(1, 5, RANDOM_TEST);
    for (int i = 0; i < 1000; i++) {
        assert_true(mapspace_draw(space, &stream, &mapping, NULL, NULL));
        assert_int_equal(mapping.level[0].temporal[0], 3);
        assert_true(mapping.level[1].temporal[3] <= 2);
        assert_int_equal(mapping.level[1].spatial[1] * mapping.level[1].spatial[2], 1);
        assert_int_equal(mapping.level[1].keep, 6);
    }
    arena_free(&arena);
}

static void test_empty_space_gives_its_reason(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct mapspace_constraints c;
    struct mapping mapping = {0};
    struct random_stream stream = random_stream_make(1, 5, RANDOM_TEST);
    arena_init(&arena);
    small_gemm(&problem, 4, 4, 4);
    small_machine(&arch, 2, 64);
    const struct mapspace *space = make_space(&problem, &arch, NULL, false, &arena);
    assert_string_equal(mapspace_is_empty(space), "Registers needs 3 B for A+B+Z, has 2 B");
    assert_false(mapspace_draw(space, &stream, &mapping, NULL, NULL));
    /* with bypass search two of them fit */
    space = make_space(&problem, &arch, NULL, true, &arena);
    assert_null(mapspace_is_empty(space));
    (void)check_draws(&problem, &arch, space, 1000, 4);
    /* 3 does not divide 4 */
    small_machine(&arch, 64, 64);
    mapspace_constraints_init(&c, &problem, &arch);
    c.level[0].temporal.fixed[0] = 3;
    space = make_space(&problem, &arch, &c, false, &arena);
    assert_string_equal(mapspace_is_empty(space),
                        "the factors fixed for dimension M multiply to 3, which does not divide its bound 4");
    /* a DRAM too small for the problem: 3 * 16 words */
    arch.level[2].size_word = 47;
    space = make_space(&problem, &arch, NULL, false, &arena);
    assert_string_equal(mapspace_is_empty(space), "DRAM needs 48 B for A+B+Z, has 47 B");
    arena_free(&arena);
}

/* A minimum utilisation is met by trying again; the failed tries are counted. */
static void test_minimum_utilisation_is_met(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct mapping mapping = {0};
    uint64_t n_rejected = 0;
    arena_init(&arena);
    small_gemm(&problem, 8, 8, 8);
    small_machine(&arch, 16, 192);
    arch.level[1].min_utilization = 0.125;
    const struct mapspace *space = make_space(&problem, &arch, NULL, false, &arena);
    struct random_stream stream = random_stream_make(1, 5, RANDOM_TEST);
    for (int i = 0; i < 200; i++) {
        assert_true(mapspace_draw(space, &stream, &mapping, &n_rejected, NULL));
        assert_true(checker_accepts(&problem, &arch, &mapping, NULL, 0));
    }
    assert_true(n_rejected > 0);
    arena_free(&arena);
}

/* 2 dimensions of 2 primes over 3 temporal slots and the axes X and Y of one level: C(2 + 4, 4) = 15 each,
 * 225 together; orders 3! per level: 216. */
static void test_size_counts_factorisations_and_orders(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    arena_init(&arena);
    small_gemm(&problem, 4, 4, 1);
    small_machine(&arch, 64, 64);
    struct mapspace_size size = mapspace_size(make_space(&problem, &arch, NULL, false, &arena));
    assert_true(fabs(size.log10_factors - log10(225)) < 1e-9);
    assert_true(fabs(size.log10_orders - log10(216)) < 1e-9);
    assert_true(fabs(size.log10_bypass - 0) < 1e-9);
    size = mapspace_size(make_space(&problem, &arch, NULL, true, &arena));
    assert_true(fabs(size.log10_bypass - 6 * log10(2)) < 1e-9); /* 3 tensors at 2 levels */
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws_are_valid_on_random_machines),
        cmocka_unit_test(test_draws_are_valid_where_storages_share_banks),
        cmocka_unit_test(test_draws_are_valid_on_shipped_machines),
        cmocka_unit_test(test_draws_cover_a_tiny_space),
        cmocka_unit_test(test_draws_cover_a_tiny_limited_space),
        cmocka_unit_test(test_draw_is_a_function_of_the_stream),
        cmocka_unit_test(test_draws_keep_constraints),
        cmocka_unit_test(test_empty_space_gives_its_reason),
        cmocka_unit_test(test_minimum_utilisation_is_met),
        cmocka_unit_test(test_size_counts_factorisations_and_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
