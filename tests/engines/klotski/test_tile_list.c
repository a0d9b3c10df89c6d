/* Tests: tile_list.c.
 * Lists of small layers by trying every size; the targets of a grid by a plain search. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/klotski/klotski_engines.h"
#include "engines/klotski/partition.h"
#include "tests/support/schedule_run.h"

struct fixture {
    struct schedule_run run;
    struct kc_machine machine;
    struct uop_network network;
    struct tile_rules rules;
    struct tile_lists lists;
};

static void open_on(struct fixture *f, const char *network, uint32_t max_uops, const char *sram)
{
    const struct arch_override set = {"SRAM.capacity", sram};
    struct dse_error err;
    schedule_run_open_on(&f->run, &engine_tangram, network, "klotski", &set, 1);
    assert_int_equal(kc_machine_of(&f->run.arch, &f->machine, &err), DSE_OK);
    assert_int_equal(uop_network_of(&f->run.network, UOP_FUSED, &f->run.arena, &f->network, &err), DSE_OK);
    f->rules = (struct tile_rules){.batch = 1, .max_uops = max_uops};
}

/* GoogLeNet's lists, of the grid or of parts. */
static void open_lists(struct fixture *f, bool of_grid, uint32_t max_uops, const char *sram)
{
    struct dse_error err;
    open_on(f, "experiments/networks/googlenet.yaml", max_uops, sram);
    assert_int_equal((of_grid ? tile_lists_of_grid : tile_lists_of_parts)(&f->network, &f->machine, &f->rules,
                                                                          &f->run.arena, &f->lists, &err),
                     DSE_OK);
}

/* Cycles of a tile of that layer. */
static uint64_t cycle_of(const struct fixture *f, const struct kc_tile *whole, struct uop_cut cut)
{
    struct kc_tile tile = *whole;
    tile.p = cut.h;
    tile.q = cut.w;
    tile.c = cut.ic;
    tile.k = cut.oc;
    return kc_cycle(&f->machine, &tile);
}

/* Cycles of all tiles of a layer, one after the other. */
static uint64_t work_of(const struct fixture *f, const struct kc_tile *whole, struct uop_cut cut)
{
    uint64_t work = 0;
    for (uint32_t y = 0; y < whole->p; y += cut.h)
        for (uint32_t x = 0; x < whole->q; x += cut.w)
            for (uint32_t c = 0; c < whole->c; c += cut.ic)
                for (uint32_t k = 0; k < whole->k; k += cut.oc) {
                    const struct uop_cut part = {cut.h < whole->p - y ? cut.h : whole->p - y,
                                                 cut.w < whole->q - x ? cut.w : whole->q - x,
                                                 cut.ic < whole->c - c ? cut.ic : whole->c - c,
                                                 cut.oc < whole->k - k ? cut.oc : whole->k - k};
                    work += cycle_of(f, whole, part);
                }
    return work;
}

static void check_lists(const struct fixture *f)
{
    const struct tile_lists *lists = &f->lists;
    for (uint32_t l = 0; l < lists->n_layer; l++) {
        const struct kc_tile *whole = &f->network.layer[l].whole;
        assert_true(lists->n[l] > 0 && lists->same[l] <= l);
        for (uint32_t i = 0; i < lists->n[l]; i++) {
            const struct tile *tile = &lists->tile[lists->first[l] + i];
            const struct uop_need need = uop_cut_need(whole, tile->cut);
            assert_true(uop_need_fits(&need, f->rules.sram, &f->machine));
            assert_true(tile->n_uop <= f->rules.max_uops);
            assert_int_equal(tile->n_uop, uop_cut_count(whole, tile->cut));
            if (i % 16 == 0)
                assert_int_equal(tile->work, work_of(f, whole, tile->cut));
            if (i > 0)
                assert_true(tile[-1].cycle <= tile->cycle);
        }
    }
}

/* What is listed is right, and no size of the grid is missing: its latency is. */
static void test_the_lists_of_the_grid(void **state)
{
    struct fixture f;
    (void)state;
    open_lists(&f, true, 1500, "6000 KiB");
    check_lists(&f);
    for (uint32_t l = 0; l < f.lists.n_layer; l += 7)
        for (uint32_t i = 0; i < PARTITION_GRID_N; i += 11) {
            const struct kc_tile *whole = &f.network.layer[l].whole;
            const struct uop_cut cut = uop_cut_clip(whole, partition_grid_cut(&f.machine, i));
            const struct uop_need need = uop_cut_need(whole, cut);
            const uint64_t cycle = cycle_of(&f, whole, cut);
            bool has = uop_cut_count(whole, cut) > 1500 || !uop_need_fits(&need, UOP_SRAM_ALL, &f.machine);
            for (uint32_t k = 0; k < f.lists.n[l] && !has; k++)
                has = f.lists.tile[f.lists.first[l] + k].cycle == cycle;
            assert_true(has);
        }
    schedule_run_close(&f.run);
}

/* Every multiple of the lanes and every number of rows and columns: none is better in all three. */
static void test_the_front_of_parts(void **state)
{
    struct fixture f;
    (void)state;
    open_lists(&f, false, 60, "6000 KiB");
    check_lists(&f);
    const uint32_t l = f.lists.n_layer - 2; /* the last convolution: 7 x 7 */
    const struct kc_tile *whole = &f.network.layer[l].whole;
    assert_int_equal(whole->p, 7);
    for (uint32_t h = 1; h <= 7; h++)
        for (uint32_t w = 1; w <= 7; w++)
            for (uint32_t c = 12; c < whole->c + 12; c += 12)
                for (uint32_t k = 14; k < whole->k + 14; k += 14) {
                    const struct uop_cut cut = uop_cut_clip(whole, (struct uop_cut){h, w, c, k});
                    const uint64_t n = uop_cut_count(whole, cut), cycle = cycle_of(&f, whole, cut);
                    bool has = n > 60;
                    for (uint32_t i = 0; i < f.lists.n[l] && !has; i++) {
                        const struct tile *at = &f.lists.tile[f.lists.first[l] + i];
                        has = at->n_uop <= n && at->cycle <= cycle &&
                              (double)at->work <= (double)work_of(&f, whole, cut) * 1.02;
                    }
                    assert_true(has);
                }
    schedule_run_close(&f.run);
}

static void test_the_nearest_is_nearest(void **state)
{
    struct fixture f;
    (void)state;
    open_lists(&f, true, 1500, "6000 KiB");
    for (uint32_t l = 0; l < f.lists.n_layer; l += 3)
        for (double target = 0; target < 20; target += 0.37) {
            const struct tile *tile = &f.lists.tile[f.lists.first[l]];
            double least = INFINITY;
            for (uint32_t i = 0; i < f.lists.n[l]; i++)
                least = fmin(least, fabs(log((double)tile[i].cycle) - target));
            const uint64_t cycle = tile[tile_nearest(&f.lists, l, target)].cycle;
            assert_true(fabs(fabs(log((double)cycle) - target) - least) < 1e-12);
        }
    schedule_run_close(&f.run);
}

/* The first tiles of layers in a row are a path, so with at most 1,500 uops no partition of ResNet-152 has a
 * shorter longest path than the least sum of latencies of so many: 11.26 million cycles, on any mesh. By
 * numbers of uops, layer by layer; those of the shortcuts, which run beside others, count as no time. */
static void test_the_least_longest_path(void **state)
{
    enum { MOST = 1500 };
    struct fixture f;
    struct dse_error err;
    uint64_t least[MOST + 1] = {0}, next[MOST + 1];
    (void)state;
    open_on(&f, "experiments/networks/resnet152.yaml", MOST, "6000 KiB");
    assert_int_equal(tile_lists_of_parts(&f.network, &f.machine, &f.rules, &f.run.arena, &f.lists, &err),
                     DSE_OK);
    for (uint32_t l = 0; l < f.network.n_layer; l++) {
        const bool is_beside = strstr(f.run.network.layer[f.network.layer[l].of].name, "shortcut") != NULL;
        for (uint32_t n = 0; n <= MOST; n++) {
            next[n] = UINT64_MAX;
            for (uint32_t k = 0; k < f.lists.n[l]; k++) {
                const struct tile *tile = &f.lists.tile[f.lists.first[l] + k];
                if (tile->n_uop > n || least[n - tile->n_uop] == UINT64_MAX)
                    continue;
                const uint64_t sum = least[n - tile->n_uop] + (is_beside ? 0 : tile->cycle);
                next[n] = sum < next[n] ? sum : next[n];
            }
        }
        memcpy(least, next, sizeof least);
    }
    assert_int_equal(least[MOST], 11262570);
    schedule_run_close(&f.run);
}

/* The least of all sizes that make at most so many parts. */
static void test_sizes_of_parts(void **state)
{
    static const uint32_t unit[] = {1, 12, 14};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (uint32_t whole = 1; whole < 90; whole++)
            for (uint32_t parts = 0; parts < 12; parts++) {
                uint32_t size = unit[i];
                while (size < whole && (whole - 1) / size + 1 > (parts ? parts : 1))
                    size += unit[i];
                assert_int_equal(tile_size_of_parts(whole, unit[i], parts), size < whole ? size : whole);
            }
}

/* Every partition keeps the rules; there are such with as many uops in each layer as the mesh has cores. */
static void test_bands(void **state)
{
    struct fixture f;
    struct partition_grid grid;
    struct dse_error err;
    bool is_even = false;
    (void)state;
    open_on(&f, "experiments/networks/vgg16.yaml", 1500, "6000 KiB");
    assert_int_equal(partition_bands_of(&f.network, &f.machine, &f.rules, &f.run.arena, &grid, &err), DSE_OK);
    assert_true(grid.n > 0 && grid.n <= grid.n_all && grid.n_cut == f.network.n_layer);
    for (uint32_t i = 0; i < grid.n; i++) {
        uint64_t n = 0;
        bool is_nine = true;
        for (uint32_t l = 0; l < f.network.n_layer; l++) {
            const struct uop_cut cut = grid.cut[(size_t)i * grid.n_cut + l];
            const struct uop_need need = uop_cut_need(&f.network.layer[l].whole, cut);
            const uint64_t n_layer = uop_cut_count(&f.network.layer[l].whole, cut);
            assert_true(uop_need_fits(&need, UOP_SRAM_ALL, &f.machine));
            n += n_layer;
            is_nine = is_nine && (n_layer == 9 || l >= 4); /* maps of 224 and 112 rows */
        }
        assert_true(n <= f.rules.max_uops);
        is_even = is_even || is_nine;
    }
    assert_true(is_even);
    schedule_run_close(&f.run);
}

/* 512 in three parts are 176 with lanes of 16: 256 is the next that divides it. Of 7
 * and 10 from 4 and 6 on only they themselves do, of 13 from 3 to 5 nothing. */
static void test_sizes_that_divide(void **state)
{
    (void)state;
    assert_int_equal(tile_even_size(512, 176), 256);
    assert_int_equal(tile_even_size(512, 128), 128);
    assert_int_equal(tile_even_size(192, 33), 48);
    assert_int_equal(tile_even_size(7, 4), 7);
    assert_int_equal(tile_even_size(13, 3), 3);
    assert_int_equal(tile_even_size(1, 1), 1);
    assert_int_equal(tile_even_size(10, 6), 10);
}

/* Where a mapper prices tiles, the lists have channels that divide the layer's, if any do; of 500 and 1,000
 * those that do are no multiples of the lanes. */
static void check_even_channels(const char *network)
{
    struct fixture f;
    uint32_t n_odd = 0, n = 0;
    struct dse_error err;
    open_on(&f, network, 1500, "600 KiB");
    f.machine.n_mac = 168;
    assert_int_equal(tile_lists_of_parts(&f.network, &f.machine, &f.rules, &f.run.arena, &f.lists, &err),
                     DSE_OK);
    for (uint32_t l = 0; l < f.lists.n_layer; l++) {
        assert_true(f.lists.n[l] > 0);
        for (uint32_t i = 0; i < f.lists.n[l]; i++) {
            const struct uop_cut cut = f.lists.tile[f.lists.first[l] + i].cut;
            const struct kc_tile *whole = &f.network.layer[l].whole;
            n++;
            n_odd += tile_even_size(whole->c, cut.ic) != cut.ic || tile_even_size(whole->k, cut.oc) != cut.oc;
        }
    }
    assert_true(n > f.lists.n_layer);
    assert_int_equal(n_odd, 0);
    schedule_run_close(&f.run);
}

static void test_lists_for_nodes_have_even_channels(void **state)
{
    (void)state;
    check_even_channels("experiments/networks/googlenet.yaml");
    check_even_channels("experiments/networks/mlp_m.yaml");
}

static void test_nothing_fits(void **state)
{
    struct fixture f;
    struct uop_cut cut[64];
    double least, most;
    (void)state;
    open_lists(&f, true, 1500, "64 B");
    assert_int_equal(f.lists.n[0], 0);
    partition_target_range(&f.lists, &least, &most);
    assert_true(least == 0 && most == 0);
    assert_true(partition_target(&f.lists, 5, &f.rules, cut) == UINT64_MAX);
    schedule_run_close(&f.run);
}

/* The fewest uops against all heights, widths and channels in lanes. */
static void test_the_fewest_tiles_that_fit(void **state)
{
    struct random_stream rng = random_stream_make(51, 0, RANDOM_TEST);
    uint32_t n_none = 0;
    (void)state;
    for (int i = 0; i < 300; i++) {
        const struct kc_machine machine = {
            .c_lane = 2, .k_lane = 3, .sram_word = 12 + random_below(&rng, 200)};
        const uint32_t window = 1 + random_below(&rng, 3);
        const struct kc_tile whole = {.r = window,
                                      .s = 1 + random_below(&rng, 3),
                                      .stride_v = 1 + random_below(&rng, 2),
                                      .stride_h = 1,
                                      .p = 1 + random_below(&rng, 6),
                                      .q = 1 + random_below(&rng, 6),
                                      .c = 1 + random_below(&rng, 9),
                                      .k = 1 + random_below(&rng, 9),
                                      .g = 1 + random_below(&rng, 3)};
        const enum uop_sram sram = random_below(&rng, 2) ? UOP_SRAM_ALL : UOP_SRAM_OUTPUT;
        uint64_t least = 0;
        struct uop_cut cut, found = {0};
        for (cut.h = 1; cut.h <= whole.p; cut.h++)
            for (cut.w = 1; cut.w <= whole.q; cut.w++)
                for (cut.ic = 2; cut.ic <= whole.c + 1; cut.ic += 2)
                    for (cut.oc = 1; cut.oc <= whole.k * whole.g; cut.oc++) {
                        const struct uop_cut clipped = uop_cut_clip(&whole, cut);
                        const struct uop_need need = uop_cut_need(&whole, clipped);
                        const uint64_t n = uop_cut_count(&whole, clipped);
                        const bool in_lanes = clipped.oc % 3 == 0 || clipped.oc % whole.k == 0;
                        if (in_lanes && uop_need_fits(&need, sram, &machine) && (!least || n < least))
                            least = n;
                    }
        assert_int_equal(tile_fewest(&whole, &machine, sram, &found), least);
        if (least)
            assert_int_equal(uop_cut_count(&whole, uop_cut_clip(&whole, found)), least);
        n_none += least == 0;
    }
    assert_true(n_none > 10 && n_none < 290);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_lists_of_the_grid),
        cmocka_unit_test(test_the_front_of_parts),
        cmocka_unit_test(test_the_nearest_is_nearest),
        cmocka_unit_test(test_the_least_longest_path),
        cmocka_unit_test(test_sizes_of_parts),
        cmocka_unit_test(test_bands),
        cmocka_unit_test(test_nothing_fits),
        cmocka_unit_test(test_sizes_that_divide),
        cmocka_unit_test(test_lists_for_nodes_have_even_channels),
        cmocka_unit_test(test_the_fewest_tiles_that_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
