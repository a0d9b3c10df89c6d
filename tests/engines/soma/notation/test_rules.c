/* The parser's rules one by one: splits, validity, transposes, concatenation, limits.
 * Tests: parse.c, split.c, tile_plan.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engines/soma/notation/tile_plan.h"
#include "tests/support/soma_case.h"

static const char tiny6[] = "tests/known/soma/tiny6.yaml", heads[] = "tests/known/soma/heads.yaml";

static void check_split(uint32_t batch, uint32_t h, uint32_t w, uint32_t n_tile, struct soma_shape want)
{
    struct soma_shape tile = {0};
    if (!soma_split(batch, h, w, n_tile, true, true, &tile) || tile.b != want.b || tile.h != want.h ||
        tile.w != want.w)
        fail_msg("%u x %u x %u in %u tiles: %u x %u x %u", batch, h, w, n_tile, tile.b, tile.h, tile.w);
}

/* The first three are of the reference page's worked example, the fourth of its GPT-2 oracle; the rest by
 * hand. */
static void test_split_makes_tiles_about_square(void **state)
{
    (void)state;
    check_split(1, 32, 32, 2, (struct soma_shape){1, 0, 32, 16}); /* a tie cuts columns */
    check_split(1, 32, 32, 4, (struct soma_shape){1, 0, 16, 16});
    check_split(1, 8, 8, 2, (struct soma_shape){1, 0, 8, 4});
    check_split(1, 512, 1, 4, (struct soma_shape){1, 0, 128, 1});
    check_split(1, 32, 32, 3,
                (struct soma_shape){1, 0, 32, 11}); /* |3-1| = |1-3|; the last tile is filled up */
    check_split(1, 64, 16, 4, (struct soma_shape){1, 0, 16, 16}); /* H/W = 4: one column, |4-4| = 0 */
    check_split(1, 16, 64, 4, (struct soma_shape){1, 0, 16, 16});
    check_split(1, 56, 56, 8, (struct soma_shape){1, 0, 28, 14}); /* columns 2 or 4: |4-2| = |2-4| */
    check_split(4, 56, 56, 2, (struct soma_shape){2, 0, 56, 56}); /* samples first */
    check_split(4, 56, 56, 8, (struct soma_shape){1, 0, 56, 28});
    check_split(6, 32, 32, 4, (struct soma_shape){3, 0, 32, 16}); /* common divisor 2, then 2 tiles */
}

static void test_split_refuses_more_tiles_than_rows_or_columns(void **state)
{
    struct soma_shape tile;
    (void)state;
    assert_false(soma_split(1, 7, 7, 64, true, true, &tile)); /* 8 x 8 */
    assert_true(soma_split(1, 8, 8, 64, true, true, &tile));
    assert_false(soma_split(1, 1, 1, 2, true, true, &tile));
    assert_true(soma_split(2, 1, 1, 2, true, true, &tile));
}

static void test_split_cuts_only_what_is_allowed(void **state)
{
    struct soma_shape tile;
    (void)state;
    assert_true(soma_split(1, 32, 32, 4, false, true, &tile));
    assert_int_equal(tile.h * 100 + tile.w, 3208);
    assert_true(soma_split(1, 32, 32, 4, true, false, &tile));
    assert_int_equal(tile.h * 100 + tile.w, 832);
    assert_false(soma_split(1, 32, 32, 4, false, false, &tile));
    assert_true(soma_split(4, 32, 32, 4, false, false, &tile));
    assert_int_equal(tile.b, 1);
}

static void check_fault(const char *network, const char *groups, enum soma_fault want, uint32_t layer)
{
    struct soma_case c;
    soma_case_open(&c, network, 1 << 20);
    struct soma_lfa lfa = soma_case_lfa(&c, groups);
    soma_case_parse(&c, &lfa);
    if (c.fault.what != want || c.fault.layer != layer)
        fail_msg("%s: %s (%u)", groups, soma_fault_text(c.fault.what), c.fault.layer);
    assert_int_equal(c.schedule.n_tile == 0, want != SOMA_OK);
    soma_case_close(&c);
}

static void test_parse_reports_what_is_not_valid(void **state)
{
    (void)state;
    check_fault(tiny6, "cut 1 A_conv3x3 B_conv3x3 C_conv1x1 D_add E_pool2x2 F_conv3x3s2", SOMA_OK, 0);
    check_fault(tiny6, "cut 1 B_conv3x3 A_conv3x3 C_conv1x1 D_add E_pool2x2 F_conv3x3s2", SOMA_ORDER, 1);
    check_fault(tiny6, "cut 1 A_conv3x3 A_conv3x3 C_conv1x1 D_add E_pool2x2 F_conv3x3s2", SOMA_ORDER, 0);
    check_fault(tiny6, "cut 1 A_conv3x3 B_conv3x3", SOMA_ORDER, 0);
    check_fault(tiny6, "1 A_conv3x3 B_conv3x3 C_conv1x1 D_add E_pool2x2 F_conv3x3s2", SOMA_GROUPS, 0);
    check_fault(tiny6, "cut 1 A_conv3x3 B_conv3x3, 0 C_conv1x1 D_add E_pool2x2 F_conv3x3s2", SOMA_GROUPS, 1);
    check_fault(tiny6, "cut 1 A_conv3x3, cut 1, 1 B_conv3x3 C_conv1x1 D_add E_pool2x2 F_conv3x3s2",
                SOMA_GROUPS, 2);
    /* F is 8 x 8: 128 tiles are 8 rows by 16 columns */
    check_fault(tiny6, "cut 128 A_conv3x3 B_conv3x3 C_conv1x1 D_add E_pool2x2 F_conv3x3s2", SOMA_TILING, 5);
}

/* ResNet-50 ends in a pool and a classifier: layers 70 and 71. */
static void check_tail(uint32_t cut_a, uint32_t cut_b, enum soma_fault want)
{
    struct soma_case c;
    soma_case_open(&c, "experiments/networks/resnet50_soma.yaml", 8 << 20);
    uint32_t order[72], flc[3] = {0, cut_a, cut_b}, tiling[3] = {1, 1, 1};
    bool cut[3] = {true, true, true};
    for (uint32_t i = 0; i < 72; i++)
        order[i] = i;
    struct soma_lfa lfa = {72, order, cut_b < 72 ? 3 : 2, flc, tiling, cut};
    soma_case_parse(&c, &lfa);
    assert_int_equal(c.fault.what, want);
    soma_case_close(&c);
}

static void test_parse_wants_a_classifier_alone(void **state)
{
    (void)state;
    check_tail(70, 72, SOMA_OK);
    check_tail(69, 72, SOMA_ALONE); /* a sum before the pool */
    check_tail(71, 72, SOMA_ALONE); /* without its pool */
    check_tail(70, 71, SOMA_ALONE);
}

/* A transpose needs all channels and all rows of what its own group makes. */
static void test_transpose_forbids_to_cut_rows_in_its_group(void **state)
{
    (void)state;
    check_fault(heads, "cut 1 q, 2 k0 t0, 1 k1 t1 k qk", SOMA_TILING, 2);
    check_fault(heads, "cut 1 q, 2 k0, 2 t0, 1 k1 t1 k qk", SOMA_OK, 0);
    check_fault(heads, "cut 1 q k0 k1, 2 t0 t1 k qk", SOMA_OK, 0);
    check_fault(heads, "cut 1 q k0, 2 t0 k1 t1 k qk", SOMA_TILING, 6);
}

static const struct fused_tile *tile_of(const struct soma_case *c, const char *name)
{
    int layer = network_find_layer(&c->network, name);
    for (uint32_t i = 0; i < c->schedule.n_tile; i++)
        if (c->schedule.tile[i].layer == (uint32_t)layer)
            return &c->schedule.tile[i];
    fail_msg("no tile of %s", name);
    return NULL;
}

/* The published rule, by hand: fused with the concatenation, t0 is asked for all 32 channels instead of its
 * 16, so k0 for 32 rows instead of 16; one group earlier it is not. The matmul needs all of k for each of its
 * tiles. */
static void test_concat_asks_producers_of_its_group_for_all_channels(void **state)
{
    struct soma_case c;
    (void)state;
    soma_case_open(&c, heads, 1 << 20);
    struct soma_lfa lfa = soma_case_lfa(&c, "cut 1 q k0 t0, 1 k1 t1 k qk");
    assert_true(soma_case_parse(&c, &lfa));
    assert_int_equal(tile_of(&c, "t0")->k, 16);
    assert_int_equal(tile_of(&c, "k0")->h, 16);
    assert_int_equal(tile_of(&c, "t1")->k, 32);
    assert_int_equal(tile_of(&c, "k1")->h, 32);
    lfa = soma_case_lfa(&c, "cut 1 q k0 t0 k1 t1, cut 2 k qk");
    assert_true(soma_case_parse(&c, &lfa));
    assert_int_equal(tile_of(&c, "qk")->h, 8);
    assert_int_equal(tile_of(&c, "k")->h, 4);
    assert_int_equal(tile_of(&c, "k")->k, 32);
    uint32_t n_load = 0;
    for (uint32_t i = 0; i < c.schedule.n_tensor; i++) {
        const struct fused_tensor *t = &c.schedule.tensor[i];
        if (t->kind != FUSED_IFMAP || t->layer < 5)
            continue;
        n_load++; /* two tiles of: t0 and t1 for k (16 x 4 each), half of q (8 x 8) for qk */
        assert_int_equal(t->byte, 64);
    }
    assert_int_equal(n_load, 6);
    soma_case_close(&c);
}

/* In place of a cost: what the scheduler is asked. */
static enum dse_status echo_tile(const void *self, const struct core_tile *tile, struct core_cost *cost,
                                 struct dse_error *err)
{
    (void)self, (void)err;
    *cost = (struct core_cost){.cycle = tile->k * 1000000 + tile->c * 10000 + tile->group_k * 100 + tile->h};
    return DSE_OK;
}

/* A tile with more channels than its layer keeps the layer's C and size of groups: here k0 and t0 as above,
 * and the matmul's 2 groups of 16. */
static void test_parse_asks_for_whole_layers_channels(void **state)
{
    struct soma_case c;
    (void)state;
    soma_case_open(&c, heads, 1 << 20);
    c.context.core.cost = echo_tile;
    struct soma_lfa lfa = soma_case_lfa(&c, "cut 1 q k0 t0 k1 t1 k, 2 qk");
    assert_true(soma_case_parse(&c, &lfa));
    assert_int_equal(tile_of(&c, "t0")->cycle, 32040004);
    assert_int_equal(tile_of(&c, "k0")->cycle, 4080032);
    assert_int_equal(tile_of(&c, "qk")->cycle, 32081608);
    soma_case_close(&c);
}

/* The samples of a batch are cut first; weights stay one load, everything else is per sample. */
static void test_parse_cuts_samples_first(void **state)
{
    struct soma_case c;
    (void)state;
    soma_case_open(&c, heads, 1 << 20);
    c.context.batch = 4;
    struct soma_lfa lfa = soma_case_lfa(&c, "cut 4 q k0 t0, 2 k1 t1, 1 k qk");
    assert_true(soma_case_parse(&c, &lfa));
    assert_int_equal(tile_of(&c, "t0")->b, 1);
    assert_int_equal(tile_of(&c, "t1")->b, 2);
    assert_int_equal(tile_of(&c, "qk")->b, 4);
    for (uint32_t i = 0; i < c.schedule.n_tensor; i++)
        if (c.schedule.tensor[i].kind == FUSED_WEIGHT)
            assert_int_equal(c.schedule.tensor[i].byte, c.schedule.tensor[i].layer == 0 ? 64 : 32);
    soma_case_close(&c);
}

static void test_parse_refuses_what_it_cannot_do(void **state)
{
    struct soma_case c;
    (void)state;
    soma_case_open(&c, tiny6, 1 << 20);
    struct soma_lfa lfa =
        soma_case_lfa(&c, "cut 1 A_conv3x3 B_conv3x3 C_conv1x1 D_add E_pool2x2, 33554432 F_conv3x3s2");
    assert_int_equal(soma_parse(&c.context, &lfa, &c.arena, &c.schedule, &c.fault, &c.err), DSE_LIMIT);
    c.context.batch = 0;
    assert_int_equal(soma_parse(&c.context, &lfa, &c.arena, &c.schedule, &c.fault, &c.err), DSE_BAD_USAGE);
    soma_case_close(&c);
}

/* A is stored, and both of its tiles (positions 0, 1) are read by all of C's (2 to 5), in a later group of
 * the same layer group. By the published rule (reference page) only the last of A's is used that long, but no
 * search may end the other before. */
static void test_parse_keeps_what_a_later_group_reads(void **state)
{
    (void)state;
    for (int compat = 0; compat <= 1; compat++) {
        const struct fused_machine machine = {
            .buffer_byte = 1 << 20, .dram_rate = {8, 1}, .dram_energy_j = 0};
        struct fused_result result;
        struct soma_case c;
        soma_case_open(&c, tiny6, 1 << 20);
        c.context.compat = compat != 0;
        struct soma_lfa lfa = soma_case_lfa(
            &c, "cut 2 A_conv3x3, 4 C_conv1x1, cut 1 B_conv3x3 D_add, cut 2 E_pool2x2 F_conv3x3s2");
        assert_true(soma_case_parse(&c, &lfa));
        for (uint32_t i = 0; i < c.schedule.n_tensor; i++) {
            struct fused_tensor *tensor = &c.schedule.tensor[i];
            if (tensor->kind != FUSED_OFMAP || tensor->producer_tile > 1)
                continue;
            assert_int_equal(tensor->first_use, 2);
            assert_int_equal(tensor->last_use, compat && tensor->producer_tile == 0 ? 2 : 5);
            assert_int_equal(tensor->last_read, 5);
            assert_int_equal(tensor->end, 6);
            tensor->end = 5;
            assert_int_equal(fused_evaluate(&c.schedule, &machine, &c.arena, NULL, &result, &c.err), DSE_OK);
            assert_int_equal(result.fault, FUSED_LIFETIME);
            assert_int_equal(result.fault_tensor, i);
            tensor->end = 6;
        }
        soma_case_close(&c);
    }
}

/* Without a prepared graph the parser makes its own. */
static void test_parse_prepares_the_graph_itself(void **state)
{
    struct soma_case c;
    (void)state;
    soma_case_open(&c, tiny6, 1 << 20);
    struct soma_lfa lfa =
        soma_case_lfa(&c, "cut 2 A_conv3x3, 4 C_conv1x1 B_conv3x3 D_add, cut 2 E_pool2x2 F_conv3x3s2");
    c.context.graph = NULL;
    assert_true(soma_case_parse(&c, &lfa));
    assert_int_equal(c.schedule.n_tile, 18); /* worked example of the reference page */
    assert_int_equal(c.schedule.n_tensor, 26);
    assert_int_equal(c.schedule.n_dram, 14);
    soma_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_makes_tiles_about_square),
        cmocka_unit_test(test_split_refuses_more_tiles_than_rows_or_columns),
        cmocka_unit_test(test_split_cuts_only_what_is_allowed),
        cmocka_unit_test(test_parse_reports_what_is_not_valid),
        cmocka_unit_test(test_parse_wants_a_classifier_alone),
        cmocka_unit_test(test_transpose_forbids_to_cut_rows_in_its_group),
        cmocka_unit_test(test_concat_asks_producers_of_its_group_for_all_channels),
        cmocka_unit_test(test_parse_asks_for_whole_layers_channels),
        cmocka_unit_test(test_parse_cuts_samples_first),
        cmocka_unit_test(test_parse_refuses_what_it_cannot_do),
        cmocka_unit_test(test_parse_keeps_what_a_later_group_reads),
        cmocka_unit_test(test_parse_prepares_the_graph_itself),
    };
    return cmocka_run_group_tests_name("soma rules", tests, NULL, NULL);
}
