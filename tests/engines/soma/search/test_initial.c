/* Where the first stage starts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "engines/soma/search/initial.h"
#include "engines/soma/search/lfa_search.h"
#include "tests/support/soma_case.h"

static const char resnet50[] = "experiments/networks/resnet50_soma.yaml",
                  prefill[] = "experiments/networks/gpt2_small_prefill512.yaml";

struct initial_case {
    struct soma_case base;
    struct soma_search search;
    struct arena scratch;
    struct soma_lfa lfa;
    struct soma_price price;
};

static void open_case(struct initial_case *c, const char *network, uint32_t batch, uint64_t buffer_byte)
{
    soma_case_open(&c->base, network, buffer_byte);
    c->base.context.batch = batch;
    c->search = soma_case_search(&c->base, buffer_byte, 16);
    arena_init(&c->scratch);
    soma_lfa_new(c->base.network.n_layer, &c->base.arena, &c->lfa);
}

static void close_case(struct initial_case *c)
{
    arena_free(&c->scratch);
    soma_case_close(&c->base);
}

static void make(struct initial_case *c, enum soma_moves moves, uint64_t limit)
{
    assert_int_equal(soma_initial_lfa(&c->search, moves, limit, NULL, &c->lfa, &c->price, &c->base.err),
                     DSE_OK);
}

static uint32_t tiling_of(const struct initial_case *c, const char *layer)
{
    int l = network_find_layer(&c->base.network, layer);
    assert_true(l >= 0);
    for (uint32_t g = c->lfa.n_flc; g-- > 0;)
        for (uint32_t at = c->lfa.flc[g]; at < c->lfa.n_layer; at++)
            if (c->lfa.order[at] == (uint32_t)l)
                return c->lfa.tiling[g];
    return 0;
}

/* Section V-C1 of the paper: every layer a group and layer group of its own. The published rules add that the
 * last pool and the classifier are one. Minimal tiles are 4 x 4 on this core (reference page): 112/4 = 28,
 * 28^2 = 784 -> 1024; 56: 196 -> 256; 14: 4^2; 7: 2^2. The published program takes one tile per sample
 * instead of more than 16 per sample. */
static void test_initial_has_a_group_per_layer_with_minimal_tiles(void **state)
{
    (void)state;
    struct initial_case c;
    open_case(&c, resnet50, 1, 8 << 20);
    make(&c, SOMA_MOVES_PAPER, 8 << 20);
    assert_int_equal(c.lfa.n_flc, c.lfa.n_layer - 1);
    for (uint32_t g = 0; g < c.lfa.n_flc; g++)
        assert_true(c.lfa.flc[g] == g && c.lfa.dram_cut[g]);
    assert_true(isfinite(c.price.cost) && c.price.buffer_max_byte <= 8 << 20);
    assert_int_equal(tiling_of(&c, c.base.network.layer[0].name), 1024);
    assert_int_equal(c.lfa.tiling[c.lfa.n_flc - 1], 1);
    assert_int_equal(c.lfa.tiling[2], 256);
    make(&c, SOMA_MOVES_PUBLISHED, 8 << 20);
    assert_int_equal(c.lfa.tiling[0], 1);
    assert_int_equal(c.lfa.tiling[2], 1);
    assert_int_equal(c.lfa.tiling[50], 16); /* 14 x 14 */
    assert_int_equal(c.lfa.tiling[68], 4);  /* 7 x 7 */
    close_case(&c);
}

/* The published program never starts here: its rule counts one operand of an addition (reference page). */
static void test_initial_fits_where_the_published_program_fails(void **state)
{
    (void)state;
    struct initial_case c;
    open_case(&c, resnet50, 4, 4 << 20);
    make(&c, SOMA_MOVES_PUBLISHED, 4 << 20);
    assert_true(isfinite(c.price.cost) && c.price.buffer_max_byte <= 4 << 20);
    assert_int_equal(c.lfa.tiling[6], 8); /* the first addition: two tiles per sample */
    assert_int_equal(c.lfa.tiling[2], 4);
    close_case(&c);
}

static void test_initial_says_when_nothing_fits(void **state)
{
    (void)state;
    struct initial_case c;
    open_case(&c, resnet50, 1, 8 << 20);
    make(&c, SOMA_MOVES_PAPER, 2 << 20); /* the largest weights alone are 512 x 512 x 9 = 2.36 MB */
    assert_true(isinf(c.price.cost));
    close_case(&c);
}

/* 256 tiles cut no sample off a batch of 7, however often they are doubled; 7 x 256 tiles do: of every tile
 * 64 inputs, 32 outputs and the 64 x 32 weights. No engine may say that there is nothing where another one
 * starts, whichever rules hold. */
static void test_initial_tries_other_numbers_where_its_own_do_not_fit(void **state)
{
    (void)state;
    for (int compat = 0; compat < 2; compat++)
        for (int moves = SOMA_MOVES_PAPER; moves <= SOMA_MOVES_COCCO; moves++) {
            struct initial_case c;
            open_case(&c, "tests/known/soma/odd_batch.yaml", 7, 2500);
            c.search.context.compat = compat != 0;
            make(&c, (enum soma_moves)moves, 2500);
            assert_true(isfinite(c.price.cost) && c.price.buffer_max_byte <= 2500);
            assert_int_equal(c.lfa.tiling[0] % 7, 0);
            close_case(&c);
        }
}

/* 16 tiles are of 2 x 2 outputs: two inputs and two outputs of these are 1,024 bytes, of one output 256. 32
 * is no number of tiles of 7 x 7, 49 is. The published rules stay with twice and twice again. */
static void test_initial_has_a_tile_for_each_output_where_doubling_ends(void **state)
{
    (void)state;
    for (int compat = 0; compat < 2; compat++) {
        struct initial_case c;
        open_case(&c, "tests/known/soma/seven.yaml", 1, 600);
        c.search.context.compat = compat != 0;
        make(&c, SOMA_MOVES_PAPER, 600);
        assert_int_equal(isfinite(c.price.cost), !compat);
        assert_true(compat || c.lfa.tiling[0] == 49);
        close_case(&c);
    }
}

/* 3 x 2^24 x 2^24 bytes: 8 MiB hold none of 2^24 tiles, each of which is 48 MiB. */
static void test_initial_refuses_at_once_what_needs_too_many_tiles(void **state)
{
    (void)state;
    struct initial_case c;
    open_case(&c, "tests/known/soma/huge.yaml", 1, 8 << 20);
    for (int moves = SOMA_MOVES_PAPER; moves <= SOMA_MOVES_COCCO; moves++)
        assert_int_equal(
            soma_initial_lfa(&c.search, (enum soma_moves)moves, 8 << 20, NULL, &c.lfa, &c.price, &c.base.err),
            DSE_LIMIT);
    assert_non_null(strstr(c.base.err.text, "16777216 tiles"));
    close_case(&c);
}

/* Without numbers of lanes: the most tiles at nearly the full speed of the core scheduler, asked here by
 * hand. */
static void test_parallel_tiles_ask_an_unknown_core(void **state)
{
    (void)state;
    struct initial_case c;
    open_case(&c, prefill, 1, 8 << 20);
    c.search.parallel = (struct soma_parallel){0};
    for (uint32_t l = 0; l < c.base.network.n_layer; l++) {
        uint32_t n_tile = 0;
        assert_int_equal(soma_parallel_tiles(&c.search, l, &n_tile, &c.base.err), DSE_OK);
        assert_true(n_tile >= 1 && n_tile <= 512 && (n_tile & (n_tile - 1)) == 0);
    }
    make(&c, SOMA_MOVES_PAPER, 8 << 20);
    assert_true(isfinite(c.price.cost));
    close_case(&c);
}

/* Has no cost for whole layers of more than one sample's row. */
static enum dse_status refuse_large(const void *self, const struct core_tile *tile, struct core_cost *cost,
                                    struct dse_error *err)
{
    const struct core_scheduler *inner = self;
    if ((uint64_t)tile->h * tile->w > 256)
        return dse_fail(err, DSE_BAD_INPUT, "too large");
    return inner->cost(inner->self, tile, cost, err);
}

/* A layer whose whole tile has no cost is no error, and is not left as one tile where finer ones have. */
static void test_parallel_tiles_may_have_no_cost(void **state)
{
    (void)state;
    struct initial_case c;
    uint32_t n_cut = 0;
    open_case(&c, prefill, 1, 8 << 20);
    const struct core_scheduler inner = c.search.context.core;
    c.search.parallel = (struct soma_parallel){0};
    c.search.context.core = (struct core_scheduler){&inner, refuse_large};
    for (uint32_t l = 0; l < c.base.network.n_layer; l++) {
        uint32_t n_tile = 0;
        assert_int_equal(soma_parallel_tiles(&c.search, l, &n_tile, &c.base.err), DSE_OK);
        assert_true(n_tile >= 1);
        n_cut += n_tile > 1;
    }
    assert_true(n_cut > 0);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_initial_has_a_group_per_layer_with_minimal_tiles),
        cmocka_unit_test(test_initial_fits_where_the_published_program_fails),
        cmocka_unit_test(test_initial_says_when_nothing_fits),
        cmocka_unit_test(test_initial_tries_other_numbers_where_its_own_do_not_fit),
        cmocka_unit_test(test_initial_has_a_tile_for_each_output_where_doubling_ends),
        cmocka_unit_test(test_initial_refuses_at_once_what_needs_too_many_tiles),
        cmocka_unit_test(test_parallel_tiles_ask_an_unknown_core),
        cmocka_unit_test(test_parallel_tiles_may_have_no_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
