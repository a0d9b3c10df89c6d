/* Tiling numbers layer by layer, against the start they come from and against the same number everywhere,
 * each priced by the parser and the evaluator. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "engines/soma/search/layerwise.h"
#include "engines/soma/search/lfa_search.h"
#include "tests/support/soma_case.h"

struct layerwise_case {
    struct soma_case base;
    struct soma_search search;
    struct soma_lfa_prices *prices;
    struct arena scratch;
    struct soma_lfa lfa;
    struct soma_price price;
};

static void open_case(struct layerwise_case *c, const char *network, uint32_t batch, uint64_t buffer_byte)
{
    soma_case_open(&c->base, network, buffer_byte);
    c->base.context.batch = batch;
    c->search = soma_case_search(&c->base, buffer_byte, 16);
    arena_init(&c->scratch);
    soma_lfa_new(c->base.network.n_layer, &c->base.arena, &c->lfa);
    assert_int_equal(soma_lfa_prices_new(&c->search, &c->prices, &c->base.err), DSE_OK);
    assert_int_equal(soma_initial_lfa(&c->search, SOMA_MOVES_PAPER, buffer_byte, c->prices, &c->lfa,
                                      &c->price, &c->base.err),
                     DSE_OK);
    assert_true(isfinite(c->price.cost));
}

static void close_case(struct layerwise_case *c)
{
    soma_lfa_prices_free(c->prices);
    arena_free(&c->scratch);
    soma_case_close(&c->base);
}

static uint64_t tune(struct layerwise_case *c, uint64_t n_max)
{
    uint64_t n_priced;
    assert_int_equal(
        soma_layerwise(&c->search, c->prices, n_max, &c->lfa, &c->price, &n_priced, &c->base.err), DSE_OK);
    return n_priced;
}

/* What the parser and the evaluator say of the LFA. */
static double whole_cost(struct layerwise_case *c)
{
    struct soma_price price;
    arena_reset(&c->scratch);
    assert_int_equal(soma_price_lfa(&c->search, &c->lfa, c->search.machine.buffer_byte, &c->scratch, NULL,
                                    &price, &c->base.err),
                     DSE_OK);
    return price.cost;
}

/* Whatever fits with the same power of two everywhere counts; so does each single number times or by 2. The
 * batch of 3 has no power of two of tiles that cuts it. */
static void test_layerwise_is_never_beaten_by_one_number_everywhere(void **state)
{
    static const char *const network[] = {"experiments/networks/gpt2_small_prefill512.yaml",
                                          "experiments/networks/resnet50_soma.yaml"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct layerwise_case c;
        open_case(&c, network[i / 2], i % 2 ? 3 : 1, 8 << 20);
        double start = c.price.cost;
        (void)tune(&c, UINT64_MAX);
        double tuned = whole_cost(&c);
        assert_true(tuned <= start && fabs(tuned - c.price.cost) <= 1e-9 * tuned);
        for (uint32_t t = 1; t <= 1024; t *= 2) {
            for (uint32_t g = 0; g < c.lfa.n_flc; g++)
                c.lfa.tiling[g] = t;
            assert_true(tuned <= whole_cost(&c) * (1 + 1e-9));
        }
        close_case(&c);
    }
}

/* tiny6 has six small layers: all numbers up to 12 of every layer, the others as they were found. */
static void test_layerwise_leaves_no_better_number_of_a_single_layer(void **state)
{
    (void)state;
    struct layerwise_case c;
    open_case(&c, "tests/known/soma/tiny6.yaml", 2, 64 << 10);
    (void)tune(&c, UINT64_MAX);
    double tuned = whole_cost(&c);
    for (uint32_t g = 0; g < c.lfa.n_flc; g++) {
        uint32_t kept = c.lfa.tiling[g];
        for (c.lfa.tiling[g] = 1; c.lfa.tiling[g] <= 12; c.lfa.tiling[g]++)
            assert_true(tuned <= whole_cost(&c) * (1 + 1e-9));
        c.lfa.tiling[g] = kept;
    }
    close_case(&c);
}

static void test_layerwise_keeps_to_its_budget_and_ends_when_cancelled(void **state)
{
    (void)state;
    struct layerwise_case c;
    atomic_int cancel = 1;
    open_case(&c, "tests/known/soma/tiny6.yaml", 1, 64 << 10);
    double start = c.price.cost;
    assert_int_equal(tune(&c, 5), 5);
    assert_true(c.price.cost <= start && fabs(whole_cost(&c) - c.price.cost) <= 1e-9 * c.price.cost);
    c.search.cancel = &cancel;
    assert_int_equal(tune(&c, UINT64_MAX), 0);
    close_case(&c);
}

/* Layers of one shape have one number, and it is no worse than the start. */
static void test_layers_that_are_alike_have_one_number(void **state)
{
    (void)state;
    struct layerwise_case c;
    uint64_t n_priced;
    open_case(&c, "experiments/networks/resnet50_soma.yaml", 1, 8 << 20);
    const double start = c.price.cost;
    for (uint32_t g = 0; g < c.lfa.n_flc; g++)
        assert_true(c.lfa.tiling[g] > 0);
    assert_int_equal(
        soma_layerwise_alike(&c.search, c.prices, UINT64_MAX, &c.lfa, &c.price, &n_priced, &c.base.err),
        DSE_OK);
    assert_true(n_priced > 10 && n_priced < 60 * 6);
    assert_true(c.price.cost < start && fabs(whole_cost(&c) - c.price.cost) <= 1e-9 * c.price.cost);
    const char *const alike[] = {"conv2_1_b", "conv2_2_b"};
    uint32_t tiling[2] = {0, 0};
    for (uint32_t g = 0; g < c.lfa.n_flc; g++)
        for (int i = 0; i < 2; i++)
            if (strcmp(c.base.network.layer[c.lfa.order[c.lfa.flc[g]]].name, alike[i]) == 0)
                tiling[i] = c.lfa.tiling[g];
    assert_true(tiling[0] > 0);
    assert_int_equal(tiling[0], tiling[1]);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layerwise_is_never_beaten_by_one_number_everywhere),
        cmocka_unit_test(test_layerwise_leaves_no_better_number_of_a_single_layer),
        cmocka_unit_test(test_layerwise_keeps_to_its_budget_and_ends_when_cancelled),
        cmocka_unit_test(test_layers_that_are_alike_have_one_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
