/* Tests: uop_stream.c.
 * A uop in slices by hand, alone, behind another and beside another; partial sums, adders and pools by hand;
 * random layers against the graph whose uops are the slices, run one after the other; and what must hold of
 * every run of a network with uops in slices: no core is busy twice, the bound, words once at least. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/model/network.h"
#include "costmodel/uop/uop_slices.h"
#include "costmodel/uop/uop_stream.h"
#include "costmodel/uop/uop_transport.h"

struct ran {
    struct arena arena;
    struct network network;
    struct uop_network uops;
    struct uop_graph graph;
    struct uop_needs needs;
    struct uop_schedule schedule;
    struct uop_times times;
    struct uop_link *link;
};

static void open(struct ran *r, const char *text, enum uop_vector vector)
{
    struct dse_error err = {0};
    arena_init(&r->arena);
    if (network_parse("text", text, strlen(text), &r->network, &err) != DSE_OK ||
        uop_network_of(&r->network, vector, &r->arena, &r->uops, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void close(struct ran *r)
{
    network_free(&r->network);
    arena_free(&r->arena);
}

/* Uops in the order of their numbers, number u on core u / n_uop * n_core or, drawn, on any. */
static void deal(struct ran *r, uint32_t n_core, struct random_stream *rng)
{
    const uint32_t n = r->graph.n_uop;
    uint32_t *core = arena_alloc(&r->arena, n, sizeof *core),
             *order = arena_alloc(&r->arena, n, sizeof *order);
    uint32_t *first = arena_alloc(&r->arena, n_core + 1u, sizeof *first);
    uint32_t at = 0;
    for (uint32_t u = 0; u < n; u++)
        core[u] = rng ? random_below(rng, n_core) : u * n_core / n;
    for (uint32_t c = 0; c < n_core; c++) {
        first[c] = at;
        for (uint32_t u = 0; u < n; u++)
            if (core[u] == c)
                order[at++] = u;
    }
    first[n_core] = n;
    r->schedule = (struct uop_schedule){UOP_STATIC, n_core, first, order};
}

static void run(struct ran *r, const struct kc_machine *machine, const struct uop_cut *cut,
                enum uop_sums sums, enum uop_sram sram, struct random_stream *rng)
{
    const struct uop_setting setting = {UOP_IDEAL, UOP_DRAM, sram, NULL};
    struct kc_machine at = *machine;
    struct dse_error err = {0};
    at.slices = sram == UOP_SRAM_SLICES;
    enum dse_status status = uop_graph_of(&r->uops, &at, cut, sums, 1, &r->arena, &r->graph, &err);
    if (status == DSE_OK)
        status = uop_needs_of(&r->graph, &at, sram, &r->arena, &r->needs, &err);
    if (status == DSE_OK)
        status = uop_streams_of(&r->graph, &at, NULL, &r->arena, &r->needs, &err);
    assert_int_equal(status, DSE_OK);
    deal(r, at.columns * at.rows, rng);
    r->times.start = arena_alloc(&r->arena, r->graph.n_uop, sizeof *r->times.start);
    r->times.finish = arena_alloc(&r->arena, r->graph.n_uop, sizeof *r->times.finish);
    r->link = arena_alloc(&r->arena, (size_t)at.columns * at.rows * UOP_SIDES, sizeof *r->link);
    if (uop_run(&r->graph, &at, &r->schedule, &setting, &r->arena, &r->times, r->link, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

/* 128 words a cycle from the shared memory, four from the DRAM; 80 words in each memory. */
static const struct kc_machine small = {.columns = 2,
                                        .rows = 1,
                                        .c_lane = 12,
                                        .k_lane = 14,
                                        .delivery = {128, 1},
                                        .dram = {4, 1},
                                        .word_byte = 4,
                                        .sram_word = 80};

static void check_stream(const struct ran *r, uint32_t u, struct uop_stream expected)
{
    assert_true(r->needs.is_sliced[u]);
    assert_memory_equal(r->needs.stream[u], &expected, sizeof expected);
}

#define TWO(FROM)                                                                                            \
    "network: two\ninput: {C: 4, H: 4, W: 4}\nlayers:\n"                                                     \
    "- {name: a, type: conv, C: 4, K: 4, P: 4, Q: 4, R: 1, S: 1, from: input}\n"                             \
    "- {name: b, type: conv, C: 4, K: 4, P: 4, Q: 4, R: 1, S: 1, from: " FROM "}\n"

/* 4 x 4 pixels of 4 by 4 channels are 64 + 64 + 16 = 144 words, half the rows 32 + 32 + 16 = 80, and 17
 * cycles (test_uop_plan.c). The first half: weights until 4, inputs until 12, runs until 29; its outputs
 * leave until 37, then there is room for the inputs of the second, until 45, which runs until 62 and is
 * written until 70. */
static void test_halves_by_hand(void **state)
{
    static const struct uop_cut whole[] = {{4, 4, 4, 4}, {4, 4, 4, 4}};
    const struct uop_stream expected = {70, 4 + 4 * 8, 3, 2, 16 + 64, 64};
    struct ran r;
    (void)state;
    open(&r, TWO("a"), UOP_FUSED);
    run(&r, &small, whole, UOP_SUMS_ALL, UOP_SRAM_SLICES, NULL);
    check_stream(&r, 0, expected);
    check_stream(&r, 1, expected);
    assert_ptr_equal(r.needs.stream[0], r.needs.stream[1]); /* they are alike */
    assert_int_equal(r.times.start[1], 70);
    assert_int_equal(r.times.cycle, 140);
    assert_int_equal(r.times.dram.busy_cycle, 72);
    assert_int_equal(r.times.dram.spilled_word, 64); /* what b reads */
    assert_int_equal(r.times.dram.n_message, 10);
    assert_int_equal(r.link[0 * UOP_SIDES + UOP_EAST].n_message, 3); /* to b, on the second core */
    assert_int_equal(r.link[0 * UOP_SIDES + UOP_EAST].byte, 4 * 80);
    assert_int_equal(r.link[1 * UOP_SIDES + UOP_WEST].n_message, 2);
    assert_int_equal(r.link[1 * UOP_SIDES + UOP_WEST].byte, 4 * 64);
    assert_int_equal(uop_memory_bound(&r.graph, &r.needs, &small, &r.arena), 140);
    close(&r);
    open(&r, TWO("input"), UOP_FUSED); /* b waits for nothing but the DRAM, until it has served a */
    run(&r, &small, whole, UOP_SUMS_ALL, UOP_SRAM_SLICES, NULL);
    assert_int_equal(r.times.start[1], 36);
    assert_int_equal(r.times.cycle, 36 + 70);
    close(&r);
}

/* Halves of b's rows fit, one on each core: they bring their weights, and all of a's 64 words as of any
 * output, once for both, by 70 + 4 + 16; run for 17 cycles; and the DRAM takes their 32 words one after the
 * other. */
static void test_a_reader_that_fits(void **state)
{
    static const struct uop_cut cut[] = {{4, 4, 4, 4}, {2, 4, 4, 4}};
    struct ran r;
    (void)state;
    open(&r, TWO("a"), UOP_FUSED);
    run(&r, &small, cut, UOP_SUMS_ALL, UOP_SRAM_SLICES, NULL);
    assert_true(r.needs.is_sliced[0] && !r.needs.is_sliced[1] && !r.needs.is_sliced[2]);
    assert_int_equal(r.times.start[1], 90);
    assert_int_equal(r.times.start[2], 90);
    assert_int_equal(r.times.cycle, 90 + 17 + 8 + 8);
    assert_int_equal(r.times.dram.read_word, 80 + 16 + 64);
    close(&r);
}

/* Input channels cut in two by 12 lanes: the second uop of the chain has the sums of the first among what its
 * slices read, an adder (REDUCE) both; of 24 x 14 channels over 8 pixels in 300 words. A uop is 112 + 96 +
 * 168 = 376 words, of half the pixels 56 + 48 + 168 = 272. The adder's 112 words fit. */
static void test_partial_sums(void **state)
{
    static const char text[] = "network: one\ninput: {C: 24, H: 8, W: 1}\nlayers:\n"
                               "- {name: a, type: conv, C: 24, K: 14, P: 8, Q: 1, R: 1, S: 1, from: input}\n";
    static const struct uop_cut cut[] = {{8, 1, 12, 14}};
    struct kc_machine machine = small;
    struct ran r;
    (void)state;
    machine.sram_word = 300;
    open(&r, text, UOP_FUSED);
    run(&r, &machine, cut, UOP_SUMS_CHAIN, UOP_SRAM_SLICES, NULL);
    assert_int_equal(r.needs.stream[0]->read_word, 96 + 168);
    assert_int_equal(r.needs.stream[0]->written_word, 112);
    assert_int_equal(r.needs.stream[1]->read_word, 96 + 168 + 112);
    assert_int_equal(r.needs.stream[1]->n_read, 2 + 1 + 2);
    assert_int_equal(r.times.dram.spilled_word, 112);
    run(&r, &machine, cut, UOP_SUMS_REDUCE, UOP_SRAM_SLICES, NULL);
    assert_int_equal(r.needs.stream[1]->read_word, 96 + 168);
    assert_false(r.needs.is_sliced[2]);
    assert_int_equal(r.times.dram.read_word, 2 * (96 + 168) + 2 * 112);
    machine.sram_word = 100; /* now the adder's outputs do not: all parts in, the sum out */
    machine.k_lane = 2;
    run(&r, &machine, cut, UOP_SUMS_REDUCE, UOP_SRAM_SLICES, NULL);
    assert_int_equal(r.needs.stream[2]->read_word, 2 * 112);
    assert_int_equal(r.needs.stream[2]->written_word, 112);
    close(&r);
}

/* A pool of 4 x 4 x 4 values, of 2 x 2 each, in 40 words: with one channel's map of 8 x 8 it reads each value
 * once, in slices of rows, as windows of stride 2 have no halo. The convolution before it is 256 outputs. */
static void test_a_pool(void **state)
{
    static const char text[] = "network: one\ninput: {C: 1, H: 8, W: 8}\nlayers:\n"
                               "- {name: a, type: conv, C: 1, K: 4, P: 8, Q: 8, R: 1, S: 1, from: input}\n"
                               "- {name: p, type: pool, C: 4, P: 4, Q: 4, R: 2, S: 2, stride: 2, from: a}\n";
    static const struct uop_cut cut[] = {{8, 8, 1, 4}};
    struct kc_machine machine = small;
    struct ran r;
    (void)state;
    machine.sram_word = 40;
    open(&r, text, UOP_VECTOR);
    run(&r, &machine, cut, UOP_SUMS_ALL, UOP_SRAM_SLICES, NULL);
    assert_true(r.needs.is_sliced[1]);
    assert_int_equal(r.needs.stream[1]->read_word, 256);
    assert_int_equal(r.needs.stream[1]->written_word, 64);
    close(&r);
}

/* ---- random ---- */

static struct kc_machine draw_machine(struct random_stream *rng)
{
    return (struct kc_machine){.columns = 1 + random_below(rng, 3),
                               .rows = 1 + random_below(rng, 2),
                               .c_lane = 1 + random_below(rng, 4),
                               .k_lane = 1 + random_below(rng, 4),
                               .delivery = {1 + random_below(rng, 64), 1},
                               .dram = {1 + random_below(rng, 8), 1},
                               .word_byte = 2,
                               .sram_word = 60 + random_below(rng, 300)};
}

/* One layer, whole: alone on one core it takes what its slices take. */
static void test_a_layer_is_its_slices(void **state)
{
    struct random_stream rng = random_stream_make(41, 0, RANDOM_TEST);
    uint32_t n_sliced = 0;
    (void)state;
    for (int i = 0; i < 300; i++) {
        char text[400];
        const uint32_t g = 1 + random_below(&rng, 3), c = 1 + random_below(&rng, 6),
                       k = 1 + random_below(&rng, 8);
        const uint32_t r = 1 + random_below(&rng, 3), stride = 1 + random_below(&rng, 2);
        const uint32_t p = 1 + random_below(&rng, 7), q = 1 + random_below(&rng, 7), pad = (r - 1) / 2;
        struct kc_machine machine = draw_machine(&rng);
        struct ran sliced, by_hand;
        machine.columns = machine.rows = 1;
        (void)snprintf(
            text, sizeof text,
            "network: one\ninput: {C: %u, H: %u, W: %u}\nlayers:\n"
            "- {name: a, type: conv, C: %u, K: %u, P: %u, Q: %u, R: %u, S: %u, stride: %u, pad: %u, "
            "groups: %u, from: input}\n",
            g * c, (p - 1) * stride + r - 2 * pad, (q - 1) * stride + r - 2 * pad, g * c, g * k, p, q, r, r,
            stride, pad, g);
        open(&sliced, text, UOP_FUSED);
        open(&by_hand, text, UOP_FUSED);
        const struct kc_tile *tile = &sliced.uops.layer[0].whole;
        const struct uop_cut whole = {tile->p, tile->q, tile->c, tile->k * tile->g};
        struct uop_cut slice;
        if (uop_slice_cut(&machine, tile, &slice)) {
            run(&sliced, &machine, &whole, UOP_SUMS_CHAIN, UOP_SRAM_SLICES, NULL);
            run(&by_hand, &machine, &slice, UOP_SUMS_CHAIN, UOP_SRAM_ALL, NULL);
            n_sliced += sliced.needs.is_sliced[0];
            assert_int_equal(sliced.times.cycle, by_hand.times.cycle);
            assert_memory_equal(&sliced.times.dram, &by_hand.times.dram, sizeof sliced.times.dram);
            assert_true(uop_memory_bound(&sliced.graph, &sliced.needs, &machine, &sliced.arena) <=
                        sliced.times.cycle);
        }
        close(&sliced);
        close(&by_hand);
    }
    assert_true(n_sliced > 100);
}

static const char network_text[] =
    "network: mixed\ninput: {C: 6, H: 8, W: 8}\nlayers:\n"
    "- {name: a, type: conv, C: 6, K: 8, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: input}\n"
    "- {name: b, type: conv, C: 8, K: 8, P: 8, Q: 8, R: 1, S: 1, from: a}\n"
    "- {name: s, type: add, C: 8, P: 8, Q: 8, from: [a, b]}\n"
    "- {name: m, type: pool, C: 8, P: 4, Q: 4, R: 2, S: 2, stride: 2, from: s}\n"
    "- {name: c, type: conv, C: 8, K: 12, P: 4, Q: 4, R: 3, S: 3, pad: 1, groups: 2, from: m}\n"
    "- {name: d, type: conv, C: 12, K: 5, P: 2, Q: 2, R: 3, S: 3, stride: 2, pad: 1, from: c}\n";

static void check_run(struct ran *r, const struct kc_machine *machine)
{
    const struct uop_dram_use *use = &r->times.dram;
    char reason[200];
    if (!uop_times_check(&r->graph, &r->schedule, &r->times, &r->arena, reason, sizeof reason))
        fail_msg("%s", reason);
    assert_true(uop_memory_bound(&r->graph, &r->needs, machine, &r->arena) <= r->times.cycle);
    assert_true(uop_memory_partition_bound(&r->uops, machine, 1) <= r->times.cycle);
    assert_true(use->busy_cycle <= r->times.cycle);
    assert_true(use->read_word >= 6 * 64 + 6 * 8 * 9 + 8 * 8 + 4 * 12 * 9 + 12 * 5 * 9);
    assert_true(use->written_word - use->spilled_word >= 4 * 5);
}

static void test_random_networks(void **state)
{
    struct random_stream rng = random_stream_make(42, 0, RANDOM_TEST);
    uint32_t n_sliced = 0, n_whole = 0;
    (void)state;
    for (int i = 0; i < 200; i++) {
        const struct kc_machine machine = draw_machine(&rng);
        const enum uop_sums sums = (enum uop_sums)random_below(&rng, 3);
        struct uop_cut cut[4];
        struct ran r;
        bool fits = true;
        open(&r, network_text, random_below(&rng, 2) ? UOP_VECTOR : UOP_FUSED);
        for (uint32_t l = 0; l < r.uops.n_layer; l++) {
            const struct kc_tile *whole = &r.uops.layer[l].whole;
            struct uop_cut slice;
            cut[l] = (struct uop_cut){1 + random_below(&rng, 8), 1 + random_below(&rng, 8),
                                      machine.c_lane * (1 + random_below(&rng, 4)),
                                      machine.k_lane * (1 + random_below(&rng, 4))};
            fits = fits && uop_slice_cut(&machine, whole, &slice);
        }
        if (fits) {
            run(&r, &machine, cut, sums, UOP_SRAM_SLICES, &rng);
            check_run(&r, &machine);
            for (uint32_t u = 0; u < r.graph.n_uop; u++)
                *(r.needs.is_sliced[u] ? &n_sliced : &n_whole) += 1;
        }
        close(&r);
    }
    assert_true(n_sliced > 500 && n_whole > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halves_by_hand),        cmocka_unit_test(test_a_reader_that_fits),
        cmocka_unit_test(test_partial_sums),          cmocka_unit_test(test_a_pool),
        cmocka_unit_test(test_a_layer_is_its_slices), cmocka_unit_test(test_random_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
