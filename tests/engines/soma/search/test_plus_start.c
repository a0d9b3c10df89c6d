/* As much fused as fits. Where layers are in parts, many are tried at once: found is then what is found layer
 * by layer (the same parts in a network that does not say that it was cut). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "costmodel/model/network_cut.h"
#include "engines/soma/search/plus_start.h"
#include "tests/support/soma_case.h"
#include "tests/support/soma_plain.h"

enum { KB = 1 << 10, N_NETWORK = 400, TILING_MAX = 64 };

struct start_case {
    struct soma_case base; /* whose core array computes */
    struct network cut;
    struct soma_graph graph;
    struct soma_search search;
    struct arena arena, scratch;
};

static void check(enum dse_status status, const struct dse_error *err)
{
    if (status != DSE_OK)
        fail_msg("%s", err->text);
}

static void open_case(struct start_case *c, const char *network)
{
    soma_case_open(&c->base, network, 8192 * KB);
    c->base.context.compat = false;
    soma_case_cache(&c->base);
    arena_init(&c->arena);
    arena_init(&c->scratch);
}

static void close_case(struct start_case *c)
{
    arena_free(&c->scratch);
    arena_free(&c->arena);
    soma_case_close(&c->base);
}

/* c->cut is what is scheduled. */
static void set_machine(struct start_case *c, uint32_t batch, uint64_t buffer_byte)
{
    check(soma_graph_init(&c->cut, &c->arena, &c->graph, &c->base.err), &c->base.err);
    c->search = soma_case_search(&c->base, buffer_byte, 16);
    c->search.context.network = &c->cut;
    c->search.context.graph = &c->graph;
    c->search.context.batch = batch;
}

static struct soma_price start(struct start_case *c, const struct network *network, struct soma_lfa *lfa)
{
    struct soma_search search = c->search;
    struct soma_price price;
    search.context.network = network;
    soma_lfa_new(network->n_layer, &c->arena, lfa);
    check(plus_start(&search, TILING_MAX, &c->scratch, lfa, &price, &c->base.err), &c->base.err);
    return price;
}

struct both {
    bool same; /* the groups, and then the price; else one by one is 1 % cheaper at most */
    struct soma_price price;
};

static uint32_t end_of(const struct soma_lfa *lfa, uint32_t g)
{
    return g + 1 < lfa->n_flc ? lfa->flc[g + 1] : lfa->n_layer;
}

/* Layers that fit mostly fit with fewer of them, and then groups are the same whether layers are tried many
 * at once or one by one. If not, the first group that differs has more layers, or as many with fewer tiles:
 * so far as all fit with a tiling number many at once go there, too, and by induction over the layers of the
 * group they never have more tiles than one by one. */
static struct both start_both(struct start_case *c)
{
    struct network plain = c->cut;
    struct soma_lfa fast, slow;
    uint32_t g = 0;
    plain.n_cut = 0;
    const struct soma_price one = start(c, &plain, &slow);
    struct both both = {.price = start(c, &c->cut, &fast)};
    while (g < fast.n_flc && g < slow.n_flc && fast.flc[g] == slow.flc[g] && fast.tiling[g] == slow.tiling[g])
        g++;
    both.same = g == fast.n_flc && g == slow.n_flc && isfinite(one.cost) == isfinite(both.price.cost);
    assert_true(both.price.cost <= 1.01 * one.cost);
    if (both.same) {
        assert_true(both.price.cost == one.cost);
    } else if (isfinite(one.cost) && isfinite(both.price.cost)) {
        g -= g > 0 && (g == fast.n_flc || fast.flc[g] != slow.flc[g]); /* it is where that one ends */
        assert_true(end_of(&fast, g) > end_of(&slow, g) ||
                    (end_of(&fast, g) == end_of(&slow, g) && fast.tiling[g] < slow.tiling[g]));
    }
    return both;
}

/* From a buffer in which one part has hardly room to one that has room for all. */
static void test_parts_of_alexnet_start_as_layer_by_layer(void **state)
{
    (void)state;
    static const struct network_cut cut[] = {
        {"conv2", 16, 1, false}, {"conv3", 32, 2, false}, {"conv4", 24, 1, true}, {"conv5", 16, 1, false},
        {"fc6", 128, 2, false},  {"fc7", 64, 1, true},    {"fc8", 20, 1, false},
    };
    struct start_case c;
    uint32_t n_fit = 0;
    open_case(&c, "experiments/networks/alexnet.yaml");
    check(network_cut(&c.base.network, cut, sizeof cut / sizeof *cut, &c.arena, &c.cut, &c.base.err),
          &c.base.err);
    for (uint64_t byte = 96 * KB; byte < 64 * 1024 * KB; byte *= 3) {
        set_machine(&c, 1 + n_fit % 3, byte);
        const struct both both = start_both(&c);
        assert_true(both.same);
        n_fit += isfinite(both.price.cost);
    }
    assert_true(n_fit >= 4);
    close_case(&c);
}

/* In one of them layers fit with one more though not without it, so there they get fewer tiles: 45 cycles,
 * not 44. */
static void test_random_parts_start_as_layer_by_layer(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(5, 3, RANDOM_TEST);
    struct start_case c;
    uint32_t n_cut = 0, n_fit = 0, n_same = 0;
    open_case(&c, "tests/known/soma/tiny6.yaml");
    for (uint32_t i = 0; i < N_NETWORK; i++) {
        struct text_buffer text;
        struct network network;
        text_init(&text);
        soma_random_network(&stream, &text);
        check(network_parse("random", text.data, text.length, &network, &c.base.err), &c.base.err);
        text_free(&text);
        arena_reset(&c.arena);
        soma_random_cut(&stream, &network, &c.arena, &c.cut);
        const uint64_t byte = 64u << random_below(&stream, 8);
        set_machine(&c, 1 + random_below(&stream, 4), byte);
        const struct both both = start_both(&c);
        n_same += both.same;
        n_cut += c.cut.n_cut > 0;
        n_fit += isfinite(both.price.cost);
        network_free(&network);
    }
    assert_true(n_cut > N_NETWORK / 2 && n_fit > N_NETWORK / 2);
    assert_true(n_same >= N_NETWORK - 1);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(test_parts_of_alexnet_start_as_layer_by_layer),
        cmocka_unit_test(test_random_parts_start_as_layer_by_layer),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
