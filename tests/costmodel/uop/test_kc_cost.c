/* Tests: kc_cost.c, kc_machine.c, accounting_maestro_kc.c.
 * Cycles and counts of 755 runs of MAESTRO (tests/known/klotski/README.md); the sum over folds against adding
 * them one by one; energies by hand; machines that are refused. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/yaml.h"
#include "costmodel/readers/readers.h"
#include "costmodel/uop/accounting_maestro_kc.h"
#include "costmodel/uop/kc_cost.h"

enum { N_COLUMN = 25, FIRST_COUNT = 11 };

static void read_machine(const struct arch_override *set, size_t n, struct architecture *arch)
{
    struct yaml_doc doc;
    struct dse_error err;
    assert_int_equal(yaml_read(&doc, "experiments/architectures/klotski.yaml", &err), DSE_OK);
    if (architecture_build(&doc, set, n, arch, &err) != DSE_OK)
        fail_msg("%s", err.text);
    yaml_doc_free(&doc);
}

static bool read_row(FILE *file, uint64_t value[N_COLUMN])
{
    for (int i = 0; i < N_COLUMN; i++)
        if (fscanf(file, i ? ",%" SCNu64 : "%" SCNu64, &value[i]) != 1)
            return false;
    return true;
}

static void test_cycles_and_counts_are_maestros(void **state)
{
    FILE *file = fopen("tests/known/klotski/maestro.csv", "r");
    uint64_t v[N_COLUMN];
    int n[2] = {0, 0}, n_exact[2] = {0, 0};
    double worst = 0;
    struct dse_error err;
    (void)state;
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*[^\n]"), 0);
    while (read_row(file, v)) {
        const struct kc_machine machine = {
            .k_lane = (uint32_t)v[0], .c_lane = (uint32_t)v[1], .delivery = {v[2], 1}};
        const struct kc_tile tile = {.r = (uint32_t)v[3],
                                     .s = (uint32_t)v[4],
                                     .stride_v = (uint32_t)v[5],
                                     .stride_h = (uint32_t)v[5],
                                     .p = (uint32_t)v[6],
                                     .q = (uint32_t)v[7],
                                     .c = (uint32_t)v[8],
                                     .k = (uint32_t)v[9]};
        struct kc_counts count;
        assert_int_equal(kc_tile_check(&machine, &tile, &err), DSE_OK);
        kc_count(&machine, &tile, &count);
        const uint64_t is[] = {
#define TEST_COUNT(NAME) count.NAME,
            KC_COUNT_LIST(TEST_COUNT)
#undef TEST_COUNT
        };
        for (int i = 0; i < N_COLUMN - FIRST_COUNT; i++)
            if (is[i] != v[FIRST_COUNT + i])
                fail_msg("R %u S %u P %u Q %u C %u K %u, column %d: %" PRIu64 " and not %" PRIu64, tile.r,
                         tile.s, tile.p, tile.q, tile.c, tile.k, FIRST_COUNT + i, is[i], v[FIRST_COUNT + i]);
        const uint64_t cycle = kc_cycle(&machine, &tile);
        n[v[2] == 128]++;
        n_exact[v[2] == 128] += cycle == v[10];
        worst = fmax(worst, fabs((double)cycle / (double)v[10] - 1));
    }
    (void)fclose(file);
    assert_int_equal(n[0], 453);
    assert_int_equal(n_exact[0], 453);
    assert_int_equal(n[1], 302);
    assert_true(n_exact[1] == 204);
    assert_true(worst < 0.023);
}

/* docs/klotski.md, "Cycles, accesses, energy", fold by fold. */
static uint64_t fold_by_fold(const struct kc_machine *m, const struct kc_tile *t)
{
    const double bandwidth = (double)m->delivery.byte / (double)m->delivery.cycle;
    const double window = (double)t->r * t->s, most_c = fmin(t->c, m->c_lane);
    const double inner = window + ceil(2 * window * most_c / bandwidth);
    double sum = 0;
    for (uint32_t k = 0; k < t->k; k += m->k_lane)
        for (uint32_t c = 0; c < t->c; c += m->c_lane) {
            const double n_k = fmin(m->k_lane, t->k - k), n_c = fmin(m->c_lane, t->c - c);
            const double first = ceil((n_k * n_c + n_c) * window / bandwidth);
            sum += (double)t->p * t->q * inner + (k + c == 0 ? first : fmax(0, first - inner));
        }
    return (uint64_t)sum;
}

static void test_cycles_are_those_of_all_folds(void **state)
{
    struct random_stream rng = random_stream_make(1, 0, RANDOM_TEST);
    (void)state;
    for (int i = 0; i < 20000; i++) {
        const struct kc_machine m = {.c_lane = 1 + random_below(&rng, 20),
                                     .k_lane = 1 + random_below(&rng, 20),
                                     .delivery = {1 + random_below(&rng, 300), 1}};
        const struct kc_tile t = {.r = 1 + random_below(&rng, 7),
                                  .s = 1 + random_below(&rng, 7),
                                  .stride_v = 1,
                                  .stride_h = 1,
                                  .p = 1 + random_below(&rng, 9),
                                  .q = 1 + random_below(&rng, 9),
                                  .c = 1 + random_below(&rng, 100),
                                  .k = 1 + random_below(&rng, 100)};
        assert_int_equal(kc_cycle(&m, &t), fold_by_fold(&m, &t));
    }
}

/* 1 x 1 window, 2 x 3 pixels, 4 input channels, 5 output channels: 120 MACs. Registers: 3 x 120 reads, 120
 * writes of outputs, 1 x 4 x 6 of inputs, 5 x 4 of weights. Shared memory: reads 24 + 20 + 30 outputs, writes
 * 24 + 20 + 30. Registers of 5 KiB cost 0.03 pJ * 5120 / 16 * 2 (32 bit) = 19.2 pJ. */
static void test_energy_is_counts_times_the_files_energies(void **state)
{
    static const struct arch_override set[] = {{"SRAM.capacity", "512 KiB"}};
    const struct kc_tile tile = {
        .r = 1, .s = 1, .stride_v = 1, .stride_h = 1, .p = 2, .q = 3, .c = 4, .k = 5};
    struct architecture arch;
    struct kc_machine machine;
    struct kc_counts count;
    struct dse_error err;
    (void)state;
    read_machine(set, 1, &arch);
    assert_int_equal(kc_machine_of(&arch, &machine, &err), DSE_OK);
    assert_int_equal(kc_macs(&tile), 120);
    kc_count(&machine, &tile, &count);
    const struct kc_energy energy = kc_energy_of(&machine, 120, &count);
    assert_true(fabs(energy.mac_j / (120 * 0.15e-12) - 1) < 1e-12);
    assert_true(fabs(energy.l1_j / ((360 + 120 + 24 + 20) * 19.2e-12) - 1) < 1e-12);
    assert_true(fabs(energy.l2_j / ((24 + 20 + 30) * 2 * 2 * 30.375e-12) - 1) < 1e-12);
}

static void test_the_shipped_machine_is_the_papers(void **state)
{
    struct architecture arch;
    struct kc_machine m;
    struct dse_error err;
    (void)state;
    read_machine(NULL, 0, &arch);
    assert_int_equal(kc_machine_of(&arch, &m, &err), DSE_OK);
    assert_int_equal(m.columns * m.rows, 9);
    assert_int_equal(m.c_lane, 12);
    assert_int_equal(m.k_lane, 14);
    assert_int_equal(m.delivery.byte, 128);
    assert_int_equal(m.dram.byte, 4);
    assert_int_equal(m.sram_word, 6000 * 1024 / 4);
    assert_int_equal(m.word_byte, 4);
    assert_true(fabs(m.hop_energy_j - 0.07e-12) < 1e-20);
    assert_true(fabs(m.dram_read_energy_j - 400e-12) < 1e-20);
}

/* The mesh between them has the file's flits and packets; queues hold a packet and two flits. */
static void test_the_mesh_is_that_of_the_file(void **state)
{
    static const struct arch_override set[] = {
        {"Core.mesh", "5x2"}, {"noc.flit", "192 bit"}, {"noc.data_flits", "8"}};
    struct architecture arch;
    struct kc_machine m;
    struct dse_error err;
    (void)state;
    read_machine(NULL, 0, &arch);
    assert_int_equal(kc_machine_of(&arch, &m, &err), DSE_OK);
    assert_int_equal(m.noc.flit_bit, 4096);
    assert_int_equal(m.noc.data_flits, 4);
    read_machine(set, 3, &arch);
    assert_int_equal(kc_machine_of(&arch, &m, &err), DSE_OK);
    assert_int_equal(m.noc.columns, 5);
    assert_int_equal(m.noc.rows, 2);
    assert_int_equal(m.noc.flit_bit, 192);
    assert_int_equal(m.noc.data_flits, 8);
    assert_int_equal(m.noc.queue_flits, 8 + 3);
    assert_int_equal(m.noc.dram_port, NOC_NO_PORT);
}

static void test_other_machines_are_refused_with_what_is_wrong(void **state)
{
    static const struct {
        struct arch_override set;
        const char *says;
    } row[] = {
        {{"SRAM.bandwidth", "unlimited"}, "SRAM needs a bandwidth"},
        {{"SRAM.keeps", "Weights"}, "SRAM must keep all tensors"},
        {{"SRAM.word", "16 bit"}, "SRAM needs the MACs' word"},
        {{"SRAM.min_utilization", "0.5"}, "SRAM is one memory"},
        {{"Core.router_energy", "1 pJ"}, "DRAM has energies or latencies"},
        {{"Registers.bandwidth", "2 word/cycle"}, "Registers has a bandwidth"},
        {{"noc.mesh", "4x4"}, "noc.mesh says another mesh than that of the accelerators"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct architecture arch;
        struct kc_machine machine;
        struct dse_error err;
        read_machine(&row[i].set, 1, &arch);
        assert_int_equal(kc_machine_of(&arch, &machine, &err), DSE_BAD_INPUT);
        if (!strstr(err.text, row[i].says))
            fail_msg("%s: %s", row[i].says, err.text);
    }
}

static void test_tiles_beyond_exact_counts_are_refused(void **state)
{
    const struct kc_machine m = {.c_lane = 12, .k_lane = 14, .delivery = {128, 1}};
    struct kc_tile t = {.r = 1, .s = 1, .stride_v = 1, .stride_h = 1, .p = 1, .q = 1, .c = 1, .k = 1};
    struct dse_error err;
    (void)state;
    assert_int_equal(kc_tile_check(&m, &t, &err), DSE_OK);
    t.c = t.k = UINT32_MAX;
    assert_int_equal(kc_tile_check(&m, &t, &err), DSE_LIMIT);
    t.c = t.k = 1;
    t.p = t.stride_v = 1U << 30;
    assert_int_equal(kc_tile_check(&m, &t, &err), DSE_LIMIT);
    t.p = 0;
    assert_int_equal(kc_tile_check(&m, &t, &err), DSE_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cycles_and_counts_are_maestros),
        cmocka_unit_test(test_cycles_are_those_of_all_folds),
        cmocka_unit_test(test_energy_is_counts_times_the_files_energies),
        cmocka_unit_test(test_the_shipped_machine_is_the_papers),
        cmocka_unit_test(test_the_mesh_is_that_of_the_file),
        cmocka_unit_test(test_other_machines_are_refused_with_what_is_wrong),
        cmocka_unit_test(test_tiles_beyond_exact_counts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
