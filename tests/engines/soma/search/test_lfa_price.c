/* The price put together from layer groups against the parser and the evaluator of all, on walks of random
 * moves.
 * Tests: lfa_group.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "costmodel/fused/core_cache.h"
#include "engines/soma/search/lfa_move.h"
#include "engines/soma/search/lfa_price.h"
#include "tests/support/soma_case.h"

enum { N_LFA = 150, CACHE_MAX = 1 << 18, BUFFER_BYTE = 8 << 20 };

struct price_case {
    struct soma_case base;
    struct core_array_search array;
    struct core_cache *cache;
    struct core_cached cached;
    struct soma_search search;
    struct soma_lfa_prices *prices;
    struct arena scratch;
};

static void open_case(struct price_case *c, const char *network, uint32_t batch, bool compat,
                      uint32_t streams)
{
    struct dse_error *err = &c->base.err;
    soma_case_open(&c->base, network, BUFFER_BYTE);
    c->array = (struct core_array_search){c->base.core, compat};
    assert_int_equal(core_cache_new(CACHE_MAX, &c->cache, err), DSE_OK);
    assert_int_equal(core_cache_join_array(c->cache, &c->array, &c->cached, err), DSE_OK);
    c->base.context.core = core_cached_scheduler(&c->cached);
    c->base.context.batch = batch;
    c->base.context.compat = compat;
    if (!compat && batch > 1)
        c->base.graph.word_bit = streams ? 12 : 4; /* tensors of an odd number are rounded up */
    if (streams)
        soma_case_stream(&c->base, streams);
    c->search = soma_case_search(&c->base, BUFFER_BYTE, 16);
    if (streams)
        soma_case_ways(&c->search.machine);
    assert_int_equal(soma_lfa_prices_new(&c->search, &c->prices, err), DSE_OK);
    arena_init(&c->scratch);
}

static void close_case(struct price_case *c)
{
    soma_lfa_prices_free(c->prices);
    arena_free(&c->scratch);
    core_cache_free(c->cache);
    soma_case_close(&c->base);
}

/* Whether the LFA is valid and fits; fails when the two prices differ. */
static bool compare(struct price_case *c, const struct soma_lfa *lfa)
{
    struct soma_price plain, fast;
    struct dse_error *err = &c->base.err;
    arena_reset(&c->scratch);
    assert_int_equal(soma_price_lfa(&c->search, lfa, BUFFER_BYTE, &c->scratch, NULL, &plain, err), DSE_OK);
    assert_int_equal(soma_lfa_price(c->prices, lfa, BUFFER_BYTE, &fast, err), DSE_OK);
    assert_int_equal(isfinite(plain.cost), isfinite(fast.cost));
    if (!isfinite(plain.cost))
        return false;
    assert_int_equal(plain.cycle, fast.cycle);
    assert_int_equal(plain.buffer_max_byte, fast.buffer_max_byte);
    assert_int_equal(plain.n_part, fast.n_part);
    assert_true(fabs(plain.energy_j - fast.energy_j) <= 1e-12 * plain.energy_j);
    return true;
}

static void walk(const char *network, uint32_t batch, bool compat, uint32_t streams)
{
    struct price_case c;
    struct soma_mover mover[2];
    struct soma_lfa lfa, next;
    struct soma_price price;
    struct random_stream stream = random_stream_make(batch, compat, RANDOM_TEST);
    uint32_t n_valid = 0;
    open_case(&c, network, batch, compat, streams);
    struct dse_error *err = &c.base.err;
    uint32_t n_layer = c.base.network.n_layer;
    for (int i = 0; i < 2; i++)
        soma_mover_init(&c.search, i ? SOMA_MOVES_PUBLISHED : SOMA_MOVES_PAPER, NULL, &c.base.arena,
                        &mover[i]);
    soma_lfa_new(n_layer, &c.base.arena, &lfa);
    soma_lfa_new(n_layer, &c.base.arena, &next);
    assert_int_equal(soma_initial_lfa(&c.search, SOMA_MOVES_PUBLISHED, BUFFER_BYTE, NULL, &lfa, &price, err),
                     DSE_OK);
    assert_true(compare(&c, &lfa));
    for (int i = 0; i < N_LFA; i++) {
        soma_lfa_copy(&lfa, &next);
        for (uint32_t k = random_below(&stream, 4); k < 4; k++)
            (void)soma_lfa_move(&mover[random_below(&stream, 2)], &stream, &next);
        if (!compare(&c, &next))
            continue;
        n_valid++;
        soma_lfa_copy(&next, &lfa);
    }
    assert_true(n_valid >= N_LFA / 8);
    close_case(&c);
}

static void walk_all(const char *network)
{
    for (uint32_t batch = 1; batch <= 4; batch += 3)
        for (int compat = 0; compat < 2; compat++)
            walk(network, batch, compat, 0);
}

static void test_lfa_price_is_the_plain_price_of_tiny6(void **state)
{
    (void)state;
    walk_all("tests/known/soma/tiny6.yaml");
}

static void test_lfa_price_is_the_plain_price_of_resnet50(void **state)
{
    (void)state;
    walk_all("experiments/networks/resnet50_soma.yaml");
}

static void test_lfa_price_is_the_plain_price_of_inception_resnet(void **state)
{
    (void)state;
    walk_all("experiments/networks/inception_resnet_v1.yaml");
}

static void test_lfa_price_is_the_plain_price_of_randwire(void **state)
{
    (void)state;
    walk_all("experiments/networks/randwire_small.yaml");
}

static void test_lfa_price_is_the_plain_price_of_gpt2(void **state)
{
    (void)state;
    walk_all("experiments/networks/gpt2_small_prefill512.yaml");
    walk_all("experiments/networks/gpt2_small_decode513.yaml");
}

/* Weights past the buffer, as on Simba; all but one role, as where each has a buffer; all. */
static void test_lfa_price_is_the_plain_price_where_tensors_stream(void **state)
{
    static const uint32_t streams[] = {1u << TENSOR_WEIGHT, 7u & ~(1u << TENSOR_INPUT),
                                       7u & ~(1u << TENSOR_OUTPUT), 7u};
    (void)state;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        walk("tests/known/soma/tiny6.yaml", 1, false, streams[i]);
        walk("experiments/networks/resnet50_soma.yaml", 2, false, streams[i]);
        walk("experiments/networks/gpt2_small_prefill512.yaml", 1, false, streams[i]);
    }
}

struct counted {
    struct core_scheduler inner;
    uint32_t *asked;
};

static enum dse_status counted_cost(const void *self, const struct core_tile *tile, struct core_cost *cost,
                                    struct dse_error *err)
{
    const struct counted *counted = self;
    ++*counted->asked;
    return counted->inner.cost(counted->inner.self, tile, cost, err);
}

/* With slow_tiles the prices are the same, and the tiles of a group that does not fit are not asked for. */
static void test_no_slow_tile_is_priced_in_vain(void **state)
{
    static struct price_case c;
    uint32_t asked = 0;
    struct soma_lfa fits;
    struct soma_price price[2];
    (void)state;
    open_case(&c, "experiments/networks/resnet50_soma.yaml", 1, false, 0);
    struct dse_error *err = &c.base.err;
    const struct counted counted = {c.search.context.core, &asked};
    c.search.context.core = (struct core_scheduler){&counted, counted_cost};
    struct soma_lfa large = {.n_layer = c.base.network.n_layer,
                             .n_flc = 1,
                             .flc = (uint32_t[]){0},
                             .tiling = (uint32_t[]){1},
                             .dram_cut = (bool[]){true}};
    soma_lfa_new(large.n_layer, &c.base.arena, &fits);
    large.order = arena_alloc(&c.base.arena, large.n_layer, sizeof *large.order);
    for (uint32_t i = 0; i < large.n_layer; i++)
        large.order[i] = c.base.network.order[i];
    for (int slow = 1; slow >= 0; slow--) {
        soma_lfa_prices_free(c.prices);
        assert_int_equal(soma_lfa_prices_new(&c.search, &c.prices, err), DSE_OK);
        c.search.slow_tiles = slow;
        asked = 0;
        c.search.machine.buffer_byte = BUFFER_BYTE / 8; /* its last weights alone are 2.25 MiB */
        assert_int_equal(soma_lfa_price(c.prices, &large, BUFFER_BYTE / 8, &price[slow], err), DSE_OK);
        assert_true(isinf(price[slow].cost));
        assert_int_equal(asked > 0, !slow);
        c.search.machine.buffer_byte = BUFFER_BYTE;
        assert_int_equal(
            soma_initial_lfa(&c.search, SOMA_MOVES_PAPER, BUFFER_BYTE, c.prices, &fits, &price[slow], err),
            DSE_OK);
    }
    assert_true(isfinite(price[0].cost));
    assert_memory_equal(&price[0], &price[1], sizeof *price);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lfa_price_is_the_plain_price_of_tiny6),
        cmocka_unit_test(test_lfa_price_is_the_plain_price_of_resnet50),
        cmocka_unit_test(test_lfa_price_is_the_plain_price_of_inception_resnet),
        cmocka_unit_test(test_lfa_price_is_the_plain_price_of_randwire),
        cmocka_unit_test(test_lfa_price_is_the_plain_price_of_gpt2),
        cmocka_unit_test(test_lfa_price_is_the_plain_price_where_tensors_stream),
        cmocka_unit_test(test_no_slow_tile_is_priced_in_vain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
