/* The parser's default rules, worked out by hand: halos on both sides, strides, channels of a concatenation,
 * what is stored.
 * Tests: need.c, split.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engines/soma/notation/tile_plan.h"
#include "tests/support/soma_case.h"

static const char tiny6[] = "tests/known/soma/tiny6.yaml", heads[] = "tests/known/soma/heads.yaml";

static void open_case(struct soma_case *c, const char *network, const char *groups)
{
    soma_case_open(c, network, 1 << 20);
    c->context.compat = false;
    struct soma_lfa lfa = soma_case_lfa(c, groups);
    if (!soma_case_parse(c, &lfa))
        fail_msg("%s: %s", groups, soma_fault_text(c->fault.what));
}

static const struct fused_tile *tile_of(const struct soma_case *c, const char *name, uint32_t index)
{
    int layer = network_find_layer(&c->network, name);
    for (uint32_t i = 0; i < c->schedule.n_tile; i++)
        if (c->schedule.tile[i].layer == (uint32_t)layer && c->schedule.tile[i].index == index)
            return &c->schedule.tile[i];
    fail_msg("no tile %u of %s", index, name);
    return NULL;
}

static void check_tile(const struct soma_case *c, const char *name, uint32_t index, uint32_t k, uint32_t h,
                       uint32_t w)
{
    const struct fused_tile *tile = tile_of(c, name, index);
    if (tile->k != k || tile->h != h || tile->w != w)
        fail_msg("tile %u of %s: %u x %u x %u", index, name, tile->k, tile->h, tile->w);
}

static const struct fused_tensor *tensor_of(const struct soma_case *c, enum fused_tensor_kind kind,
                                            const char *name, uint32_t index)
{
    int layer = network_find_layer(&c->network, name);
    for (uint32_t i = 0; i < c->schedule.n_tensor; i++) {
        const struct fused_tensor *tensor = &c->schedule.tensor[i];
        if (tensor->kind == kind && tensor->layer == (uint32_t)layer && tensor->index == index)
            return tensor;
    }
    fail_msg("no such tensor of tile %u of %s", index, name);
    return NULL;
}

/* D is 32 x 32 in 4 x 4 tiles of 8 x 8. B (3x3, pad 1) reads rows 7 .. 16 of A for its rows 8 .. 15: 10, but
 * only 9 at the border. A reads 12 of the input for these 10, and 10 at the border. */
static void test_windows_have_halos_on_both_sides(void **state)
{
    struct soma_case c;
    uint64_t loaded = 0;
    (void)state;
    open_case(&c, tiny6, "cut 16 A_conv3x3 B_conv3x3 C_conv1x1 D_add, cut 1 E_pool2x2 F_conv3x3s2");
    check_tile(&c, "D_add", 5, 32, 8, 8);
    check_tile(&c, "C_conv1x1", 5, 32, 8, 8);
    check_tile(&c, "A_conv3x3", 0, 16, 9, 9);
    check_tile(&c, "A_conv3x3", 1, 16, 9, 10);
    check_tile(&c, "A_conv3x3", 3, 16, 9, 9);
    check_tile(&c, "A_conv3x3", 4, 16, 10, 9);
    check_tile(&c, "A_conv3x3", 5, 16, 10, 10);
    assert_int_equal(tensor_of(&c, FUSED_IFMAP, "A_conv3x3", 0)->byte, 3 * 10 * 10);
    assert_int_equal(tensor_of(&c, FUSED_IFMAP, "A_conv3x3", 5)->byte, 3 * 12 * 12);
    assert_int_equal(tensor_of(&c, FUSED_LOCAL, "A_conv3x3", 5)->byte, 16 * 10 * 10);
    for (uint32_t i = 0; i < 16; i++)
        loaded += tensor_of(&c, FUSED_IFMAP, "A_conv3x3", i)->byte;
    assert_int_equal(loaded, 4 * 300 + 8 * 360 + 4 * 432); /* corners, edges, inside */
    soma_case_close(&c);
}

/* F is 8 x 8 in three columns of 3, 3 and 2. Stride 2 and window 3: E's columns 0 .. 6, 6 .. 12, and 12 .. 15
 * since it ends there; all its rows. E itself reads two columns for each. */
static void test_strides_overlap_and_end_with_the_source(void **state)
{
    struct soma_case c;
    (void)state;
    open_case(&c, tiny6, "cut 1 A_conv3x3 B_conv3x3 C_conv1x1 D_add, cut 3 E_pool2x2 F_conv3x3s2");
    check_tile(&c, "F_conv3x3s2", 0, 64, 8, 3);
    check_tile(&c, "F_conv3x3s2", 1, 64, 8, 3);
    check_tile(&c, "F_conv3x3s2", 2, 64, 8, 2);
    check_tile(&c, "E_pool2x2", 0, 32, 16, 7);
    check_tile(&c, "E_pool2x2", 1, 32, 16, 7);
    check_tile(&c, "E_pool2x2", 2, 32, 16, 4);
    assert_int_equal(tensor_of(&c, FUSED_IFMAP, "E_pool2x2", 0)->byte, 32 * 32 * 14);
    assert_int_equal(tensor_of(&c, FUSED_IFMAP, "E_pool2x2", 2)->byte, 32 * 32 * 8);
    assert_int_equal(tensor_of(&c, FUSED_OFMAP, "F_conv3x3s2", 0)->dram_byte, 64 * 8 * 3);
    soma_case_close(&c);
}

/* A's tiles of 17 x 17 overlap by two rows and columns; C in another layer group makes them stored. The first
 * stores all, the next what lies beyond: 15 columns, 15 rows, both. */
static void test_stores_write_each_element_once(void **state)
{
    struct soma_case c;
    uint64_t stored = 0;
    (void)state;
    open_case(&c, tiny6, "cut 4 A_conv3x3 B_conv3x3, cut 1 C_conv1x1 D_add E_pool2x2 F_conv3x3s2");
    static const uint64_t want[] = {16 * 17 * 17, 16 * 17 * 15, 16 * 15 * 17, 16 * 15 * 15};
    for (uint32_t i = 0; i < 4; i++) {
        const struct fused_tensor *tensor = tensor_of(&c, FUSED_OFMAP, "A_conv3x3", i);
        assert_int_equal(tensor->byte, 16 * 17 * 17);
        assert_int_equal(tensor->dram_byte, want[i]);
        stored += tensor->dram_byte;
    }
    assert_int_equal(stored, 16 * 32 * 32);
    soma_case_close(&c);
}

/* What the group does not read of a layer that others read as well is made with the tile before. */
static void test_tiles_of_a_layer_read_elsewhere_are_all_of_it(void **state)
{
    struct soma_case c;
    uint64_t stored = 0;
    (void)state;
    soma_case_open(&c, "experiments/networks/resnet50_soma.yaml", 8 << 20);
    c.context.compat = false;
    /* conv3_0_a, 1 x 1 of stride 2, reads 55 of the 56 rows of conv2_2_add; conv3_shortcut stands in another
     * layer group */
    uint32_t order[72], flc[3], tiling[3] = {1, 4, 1}, n = c.network.n_layer, at = 0;
    bool cut[3] = {true, true, true};
    uint32_t sum = (uint32_t)network_find_layer(&c.network, "conv2_2_add");
    uint32_t reader = (uint32_t)network_find_layer(&c.network, "conv3_0_a");
    uint32_t other = (uint32_t)network_find_layer(&c.network, "conv3_shortcut");
    for (uint32_t l = 0; l < n; l++) {
        if (l != reader && l != other)
            order[at++] = l;
        if (l == sum) {
            flc[0] = 0, flc[1] = at - 1, flc[2] = at + 1;
            order[at++] = reader;
            order[at++] = other;
        }
    }
    struct soma_lfa lfa = {n, order, 3, flc, tiling, cut};
    assert_true(soma_case_parse(&c, &lfa));
    check_tile(&c, "conv3_0_a", 3, 128, 14, 14);
    check_tile(&c, "conv2_2_add", 0, 256, 28, 28); /* 27 for conv3_0_a, and the row up to the next tile */
    check_tile(&c, "conv2_2_add", 3, 256, 28, 28); /* and the last one */
    for (uint32_t i = 0; i < 4; i++)
        stored += tensor_of(&c, FUSED_OFMAP, "conv2_2_add", i)->dram_byte;
    assert_int_equal(stored, 256 * 56 * 56);
    flc[2]++; /* with the shortcut in the group as well nobody needs the last row */
    assert_true(soma_case_parse(&c, &lfa));
    check_tile(&c, "conv2_2_add", 0, 256, 27, 27);
    soma_case_close(&c);
}

/* k puts t0 and t1 of 16 channels each side by side; its rows are k0's and k1's channels. */
static void test_concat_asks_producers_for_their_own_channels(void **state)
{
    struct soma_case c;
    (void)state;
    open_case(&c, heads, "cut 1 q, 2 k0 t0 k1 t1 k, cut 2 qk");
    check_tile(&c, "k", 1, 32, 2, 1);
    check_tile(&c, "t0", 1, 16, 2, 1);
    check_tile(&c, "t1", 1, 16, 2, 1);
    check_tile(&c, "k0", 0, 2, 16, 1);
    check_tile(&c, "k1", 1, 2, 16, 1);
    assert_int_equal(tensor_of(&c, FUSED_OFMAP, "k", 0)->dram_byte, 32 * 2);
    soma_case_close(&c);
    open_case(&c, heads, "cut 1 q, 2 k0 t0 k1 t1 k qk"); /* each tile of the product needs all of k */
    check_tile(&c, "qk", 0, 32, 8, 1);
    check_tile(&c, "k", 0, 32, 4, 1);
    check_tile(&c, "k0", 1, 4, 16, 1);
    soma_case_close(&c);
}

/* By the default rules a classifier may be anywhere. */
static void test_parse_lets_a_classifier_join_a_group(void **state)
{
    struct soma_case c;
    (void)state;
    soma_case_open(&c, "experiments/networks/resnet50_soma.yaml", 8 << 20);
    c.context.compat = false;
    uint32_t order[72], flc[1] = {0}, tiling[1] = {1};
    bool cut[1] = {true};
    for (uint32_t i = 0; i < 72; i++)
        order[i] = i;
    struct soma_lfa lfa = {72, order, 1, flc, tiling, cut};
    assert_true(soma_case_parse(&c, &lfa));
    assert_int_equal(c.schedule.n_tile, 72);
    soma_case_close(&c);
}

static void check_need(const struct layer *layer, uint32_t begin, uint32_t end, uint32_t want_begin,
                       uint32_t want_end)
{
    const struct network network = {.n_layer = 1, .layer = layer};
    const struct soma_operand operand = {.source = -1, .k = layer->c, .h = layer->h, .w = layer->w};
    struct soma_range need = soma_need_range(&network, &operand, SOMA_H, (struct soma_range){begin, end});
    if (need.begin != want_begin || need.end != want_end)
        fail_msg("rows %u .. %u need %u .. %u", begin, end, need.begin, need.end);
}

static void test_need_leaves_out_padding_and_gaps(void **state)
{
    (void)state;
    struct layer layer = {.type = LAYER_CONV, .groups = 1, .r = 3, .s = 1, .h = 8, .w = 1};
    layer.stride[0] = layer.dilation[0] = layer.stride[1] = layer.dilation[1] = 1;
    layer.pad[0] = 1;
    check_need(&layer, 0, 1, 0, 2);
    check_need(&layer, 3, 5, 2, 6);
    check_need(&layer, 7, 8, 6, 8);
    layer.dilation[0] = 2, layer.pad[0] = 3;
    check_need(&layer, 0, 1, 1, 2);   /* -3 -1 1 */
    check_need(&layer, 0, 2, 0, 3);   /* and -2 0 2 */
    check_need(&layer, 8, 9, 5, 8);   /* 5 7 9 */
    check_need(&layer, 9, 10, 6, 7);  /* 6 8 10 */
    check_need(&layer, 11, 12, 0, 0); /* 8 10 12 */
    layer.r = 1, layer.h = 56, layer.pad[0] = 0, layer.stride[0] = 2, layer.dilation[0] = 1;
    check_need(&layer, 0, 28, 0, 55);
    check_need(&layer, 14, 28, 28, 55);
    layer.stride[0] = 4, layer.pad[0] = 2;
    check_need(&layer, 0, 2, 2, 3); /* -2 2 */
}

/* Two outputs share the grid of the larger one, 6 x 6, unless the other one has too few rows or columns for
 * it. */
static void test_grid_suits_all_outputs(void **state)
{
    (void)state;
    struct soma_grid grid;
    struct soma_outputs outputs = {6, 6, 6, 6};
    assert_true(soma_choose_grid(1, &outputs, 4, true, true, &grid));
    assert_int_equal(grid.part[SOMA_ROWS] * 10 + grid.part[SOMA_COLUMNS], 22);
    outputs.least_w = 1;
    assert_true(soma_choose_grid(1, &outputs, 4, true, true, &grid));
    assert_int_equal(grid.part[SOMA_ROWS] * 10 + grid.part[SOMA_COLUMNS], 41);
    outputs.least_h = 3;
    assert_false(soma_choose_grid(1, &outputs, 4, true, true, &grid));
    assert_true(soma_choose_grid(2, &outputs, 4, true, true, &grid)); /* two samples, two rows */
    assert_int_equal(grid.part[SOMA_SAMPLES] * 100 + grid.part[SOMA_ROWS] * 10 + grid.part[SOMA_COLUMNS],
                     221);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_have_halos_on_both_sides),
        cmocka_unit_test(test_strides_overlap_and_end_with_the_source),
        cmocka_unit_test(test_stores_write_each_element_once),
        cmocka_unit_test(test_tiles_of_a_layer_read_elsewhere_are_all_of_it),
        cmocka_unit_test(test_concat_asks_producers_for_their_own_channels),
        cmocka_unit_test(test_parse_lets_a_classifier_join_a_group),
        cmocka_unit_test(test_need_leaves_out_padding_and_gaps),
        cmocka_unit_test(test_grid_suits_all_outputs),
    };
    return cmocka_run_group_tests_name("soma ranges", tests, NULL, NULL);
}
