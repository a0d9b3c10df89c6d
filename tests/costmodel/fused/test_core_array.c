/* The core array: every tile cost of the published program (tests/known/soma/tilecost), one tile by hand,
 * unit energies, and what must hold for the sound counts.
 * Tests: core_array_cost.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/fused/core_array.h"

enum { LINE_MAX_BYTE = 256 };

static const double pico = 1e-12, digits = 1e-7; /* the known files have 8 digits */

static struct core_array make_core(uint32_t mac, uint32_t read, uint64_t mib)
{
    const struct core_array_size size = {mac, 4, 4, mib << 20, {read, 1}};
    struct core_array core;
    struct dse_error err;
    if (core_array_init(&size, &core, &err) != DSE_OK)
        fail_msg("%s", err.text);
    return core;
}

/* The edge machine: 4 x 4 PEs of 512 MACs, 256 B per cycle, 8 MiB. */
static struct core_array edge(void)
{
    return make_core(512, 256, 8);
}

static struct core_cost cost_of(const struct core_array *core, const struct core_tile *tile, bool compat)
{
    struct core_cost cost;
    struct dse_error err;
    if (core_array_cost(core, tile, compat, &cost, &err) != DSE_OK)
        fail_msg("%s", err.text);
    return cost;
}

static void assert_close(double value, double expected, double relative, const char *what, const char *line)
{
    if (fabs(value - expected) > relative * fabs(expected))
        fail_msg("%s: %.12g, known %.12g in %s", what, value, expected, line);
}

/* Where nothing wraps, is skipped or stands idle, compat changes nothing: stride 1, one group, PEs that
 * divide the extents. */
static void check_sound(const struct core_array *core, const struct core_tile *tile, const char *line)
{
    if (tile->operation != CORE_MATRIX || tile->stride_h > 1 || tile->stride_w > 1 || tile->groups > 1 ||
        tile->weights_from_layer || tile->h % 4 || tile->w % 4)
        return;
    struct core_cost compat = cost_of(core, tile, true), sound = cost_of(core, tile, false);
    if (memcmp(&compat, &sound, sizeof compat) != 0)
        fail_msg("compat and the sound counts differ in %s", line);
}

/* One line of a tile: "B H W CYCLES PJ" or "B H W CYCLES GBUF LOCAL BUS MAC". */
static void check_line(const struct core_array *core, struct core_tile tile, const char *line)
{
    unsigned long long cycle;
    double pj[4];
    int n = sscanf(line, "%u %u %u %llu %lf %lf %lf %lf", &tile.b, &tile.h, &tile.w, &cycle, &pj[0], &pj[1],
                   &pj[2], &pj[3]);
    assert_true(n == 5 || n == 8);
    struct core_cost cost = cost_of(core, &tile, true);
    if (cost.cycle != cycle)
        fail_msg("%llu cycles, known %llu in %s", (unsigned long long)cost.cycle, cycle, line);
    if (n == 8) {
        assert_close(cost.buffer_energy_j, pj[0] * pico, digits, "GBUF energy", line);
        assert_close(cost.local_energy_j, pj[1] * pico, digits, "L1 and OL2 energy", line);
        assert_close(cost.bus_energy_j, pj[2] * pico, digits, "bus energy", line);
        assert_close(cost.mac_energy_j, pj[3] * pico, digits, "MAC energy", line);
        pj[0] += pj[1] + pj[2] + pj[3];
    }
    assert_close(cost.energy_j, pj[0] * pico, digits, "energy", line);
    check_sound(core, &tile, line);
}

static void read_layer(const char *line, struct core_tile *tile)
{
    unsigned second;
    *tile = (struct core_tile){.operation = line[0] == 'V' ? CORE_VECTOR : CORE_MATRIX};
    assert_int_equal(sscanf(line + 1, "%u %u %u %u %u %u %u %u %u", &tile->k, &tile->c, &tile->r, &tile->s,
                            &tile->stride_h, &tile->stride_w, &tile->groups, &second, &tile->operands),
                     9);
    tile->weights_from_layer = second != 0;
}

/* Every tile of a file; the first line says how many distinct ones there are. */
static void check_file(const char *name)
{
    char path[LINE_MAX_BYTE], line[LINE_MAX_BYTE];
    unsigned mac = 0, read = 0, mib = 0, distinct = 0, seen = 0;
    struct core_array core = {0};
    struct core_tile layer = {0};
    snprintf(path, sizeof path, "tests/known/soma/tilecost/%s.txt", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') {
            assert_int_equal(sscanf(line, "# %*s %*u rows, %u", &distinct), 1);
        } else if (line[0] == 'A') {
            assert_int_equal(sscanf(line, "A %u %u %u", &mac, &read, &mib), 3);
            core = make_core(mac, read, mib);
        } else if (line[0] == 'M' || line[0] == 'V') {
            read_layer(line, &layer);
        } else {
            check_line(&core, layer, line);
            seen++;
        }
    }
    fclose(file);
    assert_true(seen > 0);
    assert_int_equal(seen, distinct);
}

static void test_core_array_equals_the_published_tables(void **state)
{
    static const char *const names[] = {"gpt2_small_decode513", "gpt2_small_prefill512", "resnet50",
                                        "inception_resnet_v1",  "randwire_large",        "resnet50_cloud"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_file(names[i]);
}

static void test_core_array_equals_the_tiles_of_published_schedules(void **state)
{
    static const char *const names[] = {"schedule_gpt2_small_prefill512", "schedule_inception_resnet_v1",
                                        "schedule_resnet50", "resnet50_4mib", "tiny6_1mib"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_file(names[i]);
}

/* Printed by the published program for its edge machine, pJ per byte. */
static void test_core_array_init_gives_the_published_unit_energies(void **state)
{
    struct core_array core = edge();
    (void)state;
    assert_int_equal(core.lane_c, 16);
    assert_int_equal(core.lane_k, 32);
    assert_int_equal(core.input_byte, 16384);
    assert_int_equal(core.weight_byte, 32768);
    assert_int_equal(core.output_byte, 8192);
    assert_int_equal(core.vector_per_cycle, 512);
    assert_close(core.input_read_j, 2.24871 * pico, 1e-9, "AL1 read", "");
    assert_close(core.input_write_j, 0.32085 * pico, 1e-9, "AL1 write", "");
    assert_close(core.weight_read_j, 0.51204 * pico, 1e-9, "WL1 read", "");
    assert_close(core.weight_write_j, 0.50589 * pico, 1e-9, "WL1 write", "");
    assert_close(core.output_read_j, 0.284592 * pico, 1e-9, "OL1 read", "");
    assert_close(core.output_write_j, 0.371712 * pico, 1e-9, "OL1 write", "");
    assert_close(core.collect_read_j, 0.537485751 * pico, 1e-8, "OL2 read", "");
    assert_close(core.collect_write_j, 0.695652474 * pico, 1e-8, "OL2 write", "");
    assert_close(core.buffer_read_j, 1.52588502 * pico, 1e-8, "GBUF read", "");
    assert_close(core.buffer_write_j, 1.644652812 * pico, 1e-8, "GBUF write", "");
    /* 1.1^(32 MiB / 2 MiB) = 4.5950 and 1.1^0; cloud: 64 x 64 lanes, 65,536 MACs. */
    assert_close(make_core(512, 256, 32).buffer_read_j, .217125 * 4.8 * 4.59497299 * pico, 1e-8, "32 MiB",
                 "");
    assert_close(make_core(512, 256, 1).buffer_read_j, .217125 * 4.8 * pico, 1e-12, "1 MiB", "");
    assert_int_equal(make_core(4096, 512, 32).input_byte, 65536);
    assert_int_equal(make_core(4096, 512, 32).weight_byte, 262144);
    assert_int_equal(make_core(4096, 512, 32).output_byte, 16384);
    assert_int_equal(make_core(4096, 512, 32).vector_per_cycle, 4096);
}

static void test_core_array_init_takes_every_pe_size(void **state)
{
    static const uint32_t mac[] = {32, 64, 128, 256, 512, 4096};
    (void)state;
    for (size_t i = 0; i < sizeof mac / sizeof *mac; i++) {
        struct core_array core = make_core(mac[i], 64, 4);
        assert_int_equal(core.lane_c * core.lane_k, mac[i]);
        assert_int_equal(core.vector_per_cycle, mac[i]); /* 16 PEs / 16 */
        assert_true(core.input_read_j > core.input_write_j && core.output_read_j > 0);
    }
}

static void test_core_array_init_rejects_what_it_has_no_figures_for(void **state)
{
    static const struct core_array_size bad[] = {
        {500, 4, 4, 1 << 20, {64, 1}}, {512, 0, 4, 1 << 20, {64, 1}},    {512, 4, 1025, 1 << 20, {64, 1}},
        {512, 4, 4, 0, {64, 1}},       {512, 4, 4, 1ull << 40, {64, 1}}, {512, 4, 4, 1 << 20, {0, 1}},
        {512, 4, 4, 1 << 20, {64, 0}},
    };
    struct core_array core;
    struct dse_error err;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(core_array_init(&bad[i], &core, &err), DSE_BAD_INPUT);
}

/* One PE, 1x1, C = V, K = L, 4 x 4 outputs: comp = 16 cycles and one block, so by docs/core-array.md AL1
 * reads 16 x 16 x 1, writes 256; WL1 reads and writes 512; OL1 writes 8192/16 = 512, reads 512 + 512; OL2 512
 * each way; GBUF reads 256 + 512 (3 cycles at 256), writes 512; 8192 MACs. */
static void test_core_array_cost_of_a_tile_by_hand(void **state)
{
    const struct core_array_size size = {512, 1, 1, 8 << 20, {256, 1}};
    const struct core_tile tile = {.b = 1,
                                   .k = 32,
                                   .c = 16,
                                   .h = 4,
                                   .w = 4,
                                   .r = 1,
                                   .s = 1,
                                   .stride_h = 1,
                                   .stride_w = 1,
                                   .groups = 1,
                                   .operands = 1};
    struct core_array core;
    struct dse_error err;
    (void)state;
    assert_int_equal(core_array_init(&size, &core, &err), DSE_OK);
    for (int compat = 0; compat < 2; compat++) {
        struct core_cost cost = cost_of(&core, &tile, compat);
        assert_int_equal(cost.cycle, 16);
        assert_close(cost.mac_energy_j, 8192 * 0.018 * pico, 1e-12, "MAC", "");
        assert_close(cost.bus_energy_j, 0, 0, "bus", "");
        assert_close(cost.buffer_energy_j, (768 * 1.52588502 + 512 * 1.644652812) * pico, 1e-8, "GBUF", "");
        double local = 256 * (2.24871 + 0.32085) + 512 * (0.51204 + 0.50589) + 1024 * 0.284592 +
                       512 * (0.371712 + 0.537485751 + 0.695652474);
        assert_close(cost.local_energy_j, local * pico, 1e-8, "L1", "");
    }
}

/* The same on a bus of 8 bytes per cycle: 768 / 8 = 96 cycles, the array waits for the GBUF. */
static void test_core_array_cost_waits_for_the_buffer(void **state)
{
    const struct core_array_size size = {512, 1, 1, 8 << 20, {8, 1}};
    const struct core_tile tile = {.b = 1,
                                   .k = 32,
                                   .c = 16,
                                   .h = 4,
                                   .w = 4,
                                   .r = 1,
                                   .s = 1,
                                   .stride_h = 1,
                                   .stride_w = 1,
                                   .groups = 1,
                                   .operands = 1};
    struct core_array core;
    struct dse_error err;
    (void)state;
    assert_int_equal(core_array_init(&size, &core, &err), DSE_OK);
    assert_int_equal(cost_of(&core, &tile, false).cycle, 96);
}

/* 64 groups of 1 x 1 channels: min(16 / 1, 32 / 1) = 16 at once, 4 turns of 9 cycles for one output of 3 x
 * 3. */
static void test_core_array_cost_computes_groups_together(void **state)
{
    const struct core_tile tile = {.b = 1,
                                   .k = 64,
                                   .c = 64,
                                   .h = 1,
                                   .w = 1,
                                   .r = 3,
                                   .s = 3,
                                   .stride_h = 1,
                                   .stride_w = 1,
                                   .groups = 64,
                                   .operands = 1};
    struct core_array core = make_core(512, 100000, 8);
    (void)state;
    for (int compat = 0; compat < 2; compat++) {
        struct core_cost cost = cost_of(&core, &tile, compat);
        assert_int_equal(cost.cycle, 4 * 9);
        assert_close(cost.mac_energy_j, 64 * 9 * 0.018 * pico, 1e-12, "MAC", "");
    }
}

/* A tile of more channels than its layer (a fused concatenation in compat): more groups of the same size. 128
 * channels in groups of 1 are 128 groups, 8 turns of 9 cycles. */
static void test_core_array_cost_keeps_the_size_of_a_group(void **state)
{
    const struct core_tile tile = {.b = 1,
                                   .k = 128,
                                   .c = 64,
                                   .h = 1,
                                   .w = 1,
                                   .r = 3,
                                   .s = 3,
                                   .stride_h = 1,
                                   .stride_w = 1,
                                   .groups = 64,
                                   .group_k = 1,
                                   .operands = 1};
    struct core_array core = make_core(512, 100000, 8);
    (void)state;
    struct core_cost cost = cost_of(&core, &tile, true);
    assert_int_equal(cost.cycle, 8 * 9);
    assert_close(cost.mac_energy_j, 128 * 9 * 0.018 * pico, 1e-12, "MAC", "");
}

/* A group wider than the lanes (64 > 16): the published program multiplies its GBUF reads by a factor 0 and
 * never waits. One head of a matrix-vector product, 64 x 512 weights: 32,768 bytes at 256 per cycle are 128
 * cycles and more; the array alone needs 64/16 x 512/32 / 16 PEs = 4. */
static void test_core_array_cost_of_wide_groups_waits_only_without_compat(void **state)
{
    const struct core_tile tile = {.b = 1,
                                   .k = 2 * 512,
                                   .c = 2 * 64,
                                   .h = 1,
                                   .w = 1,
                                   .r = 1,
                                   .s = 1,
                                   .stride_h = 1,
                                   .stride_w = 1,
                                   .groups = 2,
                                   .weights_from_layer = true,
                                   .operands = 1};
    struct core_array core = edge();
    (void)state;
    assert_int_equal(cost_of(&core, &tile, true).cycle, 2 * 4);
    assert_int_equal(cost_of(&core, &tile, false).cycle, 2 * 129); /* (32768 + 64) / 256, rounded up */
}

/* With a second operand from a layer each sample is a product of its own: 4 samples cost 4 times one. */
static void test_core_array_cost_multiplies_by_samples_when_each_has_its_weights(void **state)
{
    struct core_tile tile = {.b = 1,
                             .k = 512,
                             .c = 128,
                             .h = 64,
                             .w = 1,
                             .r = 1,
                             .s = 1,
                             .stride_h = 1,
                             .stride_w = 1,
                             .groups = 2,
                             .weights_from_layer = true,
                             .operands = 1};
    struct core_array core = edge();
    (void)state;
    struct core_cost one = cost_of(&core, &tile, false);
    tile.b = 4;
    struct core_cost four = cost_of(&core, &tile, false);
    assert_int_equal(four.cycle, 4 * one.cycle);
    assert_close(four.energy_j, 4 * one.energy_j, 1e-12, "energy", "");
}

/* Rows and columns that a 1x1 kernel steps over are not read: it costs what it costs with stride 1. In compat
 * the counts wrap mod 2^32 when H is smaller than the PEs along it. */
static void test_core_array_cost_reads_no_gaps(void **state)
{
    struct core_array core = edge();
    struct core_tile tile = {.b = 1,
                             .k = 128,
                             .c = 256,
                             .h = 14,
                             .w = 14,
                             .r = 1,
                             .s = 1,
                             .stride_h = 1,
                             .stride_w = 1,
                             .groups = 1,
                             .operands = 1};
    (void)state;
    for (tile.h = 1; tile.h <= 14; tile.h++) {
        tile.stride_h = tile.stride_w = 1;
        struct core_cost dense = cost_of(&core, &tile, false);
        tile.stride_h = tile.stride_w = 2;
        struct core_cost sparse = cost_of(&core, &tile, false);
        assert_memory_equal(&dense, &sparse, sizeof dense);
    }
}

/* A tile drawn at random: small and large extents, kernels above and below the stride, groups. */
static struct core_tile draw_tile(struct random_stream *random)
{
    static const uint32_t channel[] = {1, 3, 8, 16, 24, 64, 100, 256, 768};
    struct core_tile tile = {.operands = 1};
    tile.b = 1 + random_below(random, 4);
    tile.groups = random_below(random, 3) ? 1 : 1 + random_below(random, 12);
    tile.c = tile.groups * channel[random_below(random, sizeof channel / sizeof *channel)];
    tile.k = tile.groups * channel[random_below(random, sizeof channel / sizeof *channel)];
    tile.h = 1 + random_below(random, 60);
    tile.w = 1 + random_below(random, 60);
    tile.r = 1 + random_below(random, 5);
    tile.s = 1 + random_below(random, 5);
    tile.stride_h = 1 + random_below(random, 4);
    tile.stride_w = 1 + random_below(random, 4);
    tile.weights_from_layer = random_below(random, 8) == 0;
    return tile;
}

/* Bounds that no choice may pass: MACs over the array's rate; every needed input, weight and output through
 * the GBUF once. Needed: a kernel reads min(kernel, stride) new rows and columns per output (the border
 * counts as padding). */
static void test_core_array_cost_is_never_below_what_is_needed(void **state)
{
    enum { N_CASE = 3000 };
    struct random_stream random = random_stream_make(20, 1, RANDOM_TEST);
    struct core_array core = edge();
    (void)state;
    for (int i = 0; i < N_CASE; i++) {
        struct core_tile tile = draw_tile(&random);
        struct core_cost cost = cost_of(&core, &tile, false);
        double rows = tile.h * fmin(tile.r, tile.stride_h), columns = tile.w * fmin(tile.s, tile.stride_w);
        double output = (double)tile.b * tile.k * tile.h * tile.w;
        double input = (double)tile.b * tile.c * rows * columns;
        double mac = output * tile.c / tile.groups * tile.r * tile.s;
        double weight =
            (double)tile.r * tile.s * tile.c * tile.k / tile.groups * (tile.weights_from_layer ? tile.b : 1);
        double gbuf = (input + weight) * core.buffer_read_j + output * core.buffer_write_j;
        assert_true((double)cost.cycle >= mac / (512 * 16));
        assert_close(cost.mac_energy_j, mac * core.mac_j, 1e-12, "MAC", "a random tile");
        assert_true(cost.buffer_energy_j >= gbuf * (1 - 1e-12));
        /* An output needs its inputs and weights from L1 at least once per lane group, and nothing wraps. */
        assert_true(cost.local_energy_j > 0 && cost.local_energy_j < 1e3 * mac * core.input_read_j);
        assert_true(cost.bus_energy_j >= 0);
        double sum = cost.buffer_energy_j + cost.local_energy_j + cost.bus_energy_j + cost.mac_energy_j;
        assert_close(cost.energy_j, sum, 1e-12, "sum", "a random tile");
    }
}

static void test_core_array_cost_of_the_vector_unit(void **state)
{
    /* 2 operands, 3 x 5 outputs of 100 channels = 3000 operations, 512 at once: 6 cycles. */
    const struct core_tile add = {.operation = CORE_VECTOR,
                                  .b = 1,
                                  .k = 100,
                                  .c = 200,
                                  .h = 3,
                                  .w = 5,
                                  .r = 1,
                                  .s = 1,
                                  .stride_h = 1,
                                  .stride_w = 1,
                                  .groups = 1,
                                  .operands = 2};
    struct core_array core = edge();
    (void)state;
    struct core_cost cost = cost_of(&core, &add, false);
    assert_int_equal(cost.cycle, 6);
    assert_close(cost.energy_j, 3000 * 0.0873 * pico, 1e-12, "vector", "");
    assert_close(cost.mac_energy_j, cost.energy_j, 0, "vector", "");
}

static void test_core_array_cost_rejects_bad_tiles(void **state)
{
    const struct core_tile good = {.b = 1,
                                   .k = 6,
                                   .c = 6,
                                   .h = 4,
                                   .w = 4,
                                   .r = 3,
                                   .s = 3,
                                   .stride_h = 1,
                                   .stride_w = 1,
                                   .groups = 1,
                                   .operands = 1};
    struct core_array core = edge();
    struct core_cost cost;
    struct dse_error err;
    struct core_tile tile = good;
    (void)state;
    tile.h = 0;
    assert_int_equal(core_array_cost(&core, &tile, false, &cost, &err), DSE_BAD_INPUT);
    tile = good;
    tile.groups = 4;
    assert_int_equal(core_array_cost(&core, &tile, false, &cost, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "4 groups do not divide"));
    tile.groups = 1;
    tile.group_k = 7;
    assert_int_equal(core_array_cost(&core, &tile, false, &cost, &err), DSE_BAD_INPUT);
    /* 1024 entries of AL1 per lane, 16 lanes, at most 4 PEs along C: more than 65,536 channels fit
     * nowhere. */
    tile = good;
    tile.r = tile.s = 1;
    tile.c = 65536;
    assert_int_equal(core_array_cost(&core, &tile, false, &cost, &err), DSE_OK);
    tile.c = 65537;
    assert_int_equal(core_array_cost(&core, &tile, false, &cost, &err), DSE_BAD_INPUT);
    tile = good;
    tile.k = tile.h = tile.w = 1u << 24;
    assert_int_equal(core_array_cost(&core, &tile, false, &cost, &err), DSE_LIMIT);
    tile = good;
    tile.operation = CORE_VECTOR;
    tile.operands = 0;
    assert_int_equal(core_array_cost(&core, &tile, false, &cost, &err), DSE_BAD_INPUT);
    tile.operands = UINT32_MAX;
    tile.k = tile.h = tile.w = 1u << 24;
    assert_int_equal(core_array_cost(&core, &tile, false, &cost, &err), DSE_LIMIT);
}

/* Dilation spreads the taps: the same work, over more inputs. Without it, or with one tap, nothing
 * changes. */
static void test_core_array_cost_reads_what_lies_under_a_dilated_window(void **state)
{
    (void)state;
    struct core_array core = edge();
    struct core_tile tile = {CORE_MATRIX, 1, 64, 64, 28, 28, 3, 3, 1, 1, 1, 0, false, 1, 1, 1};
    for (int compat = 0; compat < 2; compat++) {
        tile.r = tile.s = 3;
        tile.dilation_h = tile.dilation_w = 1;
        struct core_cost plain = cost_of(&core, &tile, compat == 1);
        tile.dilation_h = tile.dilation_w = 0;
        struct core_cost unsaid = cost_of(&core, &tile, compat == 1);
        assert_memory_equal(&plain, &unsaid, sizeof plain);
        tile.dilation_h = tile.dilation_w = 4;
        struct core_cost wide = cost_of(&core, &tile, compat == 1);
        assert_true(wide.mac_energy_j == plain.mac_energy_j);
        assert_true(wide.energy_j * (double)wide.cycle > plain.energy_j * (double)plain.cycle);
        tile.r = tile.s = 1;
        wide = cost_of(&core, &tile, compat == 1);
        tile.dilation_h = tile.dilation_w = 1;
        plain = cost_of(&core, &tile, compat == 1);
        assert_memory_equal(&plain, &wide, sizeof plain);
    }
}

/* Llama's 32 heads of 128 in fours, one query, 100 keys: four heads are four columns of one product, also
 * where a tile has two of them only. */
static void test_core_tiles_of_shared_operands(void **state)
{
    (void)state;
    const struct layer scores = {.type = LAYER_MATMUL,
                                 .c = 4096,
                                 .k = 3200,
                                 .p = 1,
                                 .q = 1,
                                 .r = 1,
                                 .s = 1,
                                 .stride = {1, 1},
                                 .dilation = {1, 1},
                                 .groups = 32,
                                 .share = 4,
                                 .n_operand = 1};
    static const struct {
        uint32_t k, groups, c, w;
    } row[] = {{3200, 8, 1024, 4}, {1600, 4, 512, 4}, {400, 1, 128, 4}, {200, 1, 128, 2}, {100, 1, 128, 1}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const struct core_tile tile = core_tile_of(&scores, 1, row[i].k, 1, 1);
        assert_int_equal(tile.groups, row[i].groups);
        assert_int_equal(tile.c, row[i].c);
        assert_int_equal(tile.w, row[i].w);
        assert_int_equal(tile.k * tile.w, row[i].k); /* outputs */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core_array_equals_the_published_tables),
        cmocka_unit_test(test_core_array_equals_the_tiles_of_published_schedules),
        cmocka_unit_test(test_core_array_init_gives_the_published_unit_energies),
        cmocka_unit_test(test_core_array_init_takes_every_pe_size),
        cmocka_unit_test(test_core_array_init_rejects_what_it_has_no_figures_for),
        cmocka_unit_test(test_core_array_cost_of_a_tile_by_hand),
        cmocka_unit_test(test_core_array_cost_waits_for_the_buffer),
        cmocka_unit_test(test_core_array_cost_computes_groups_together),
        cmocka_unit_test(test_core_array_cost_keeps_the_size_of_a_group),
        cmocka_unit_test(test_core_array_cost_of_wide_groups_waits_only_without_compat),
        cmocka_unit_test(test_core_array_cost_multiplies_by_samples_when_each_has_its_weights),
        cmocka_unit_test(test_core_array_cost_reads_no_gaps),
        cmocka_unit_test(test_core_array_cost_reads_what_lies_under_a_dilated_window),
        cmocka_unit_test(test_core_array_cost_is_never_below_what_is_needed),
        cmocka_unit_test(test_core_array_cost_of_the_vector_unit),
        cmocka_unit_test(test_core_array_cost_rejects_bad_tiles),
        cmocka_unit_test(test_core_tiles_of_shared_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
