/* Core arrays out of architectures. Sizes are those of SoMa (HPCA 2025), section VI-A, as written in the two
 * files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "costmodel/fused/core_machine.h"
#include "costmodel/readers/readers.h"

static struct architecture build(const char *path, const char *key, const char *value)
{
    const struct arch_override set = {key, value};
    struct architecture arch;
    struct yaml_doc doc;
    struct dse_error err = {0};
    if (yaml_read(&doc, path, &err) != DSE_OK)
        fail_msg("%s", err.text);
    enum dse_status status = architecture_build_with_tables(&doc, NULL, NULL, &set, key ? 1 : 0, &arch, &err);
    yaml_doc_free(&doc);
    if (status != DSE_OK)
        fail_msg("%s: %s", key ? key : path, err.text);
    return arch;
}

static enum dse_status derive(const char *path, const char *key, const char *value,
                              struct core_array_size *size, struct fused_machine *machine,
                              struct dse_error *err)
{
    const struct architecture arch = build(path, key, value);
    *err = (struct dse_error){0};
    return core_machine_of(&arch, size, machine, err);
}

static const char edge[] = "experiments/architectures/soma_edge.yaml";

static void test_core_machine_is_that_of_the_paper(void **state)
{
    (void)state;
    struct core_array_size size;
    struct fused_machine machine;
    struct dse_error err;
    assert_int_equal(derive(edge, NULL, NULL, &size, &machine, &err), DSE_OK);
    assert_int_equal(size.mac_per_pe, 512);
    assert_int_equal(size.pe_rows, 4);
    assert_int_equal(size.pe_columns, 4);
    assert_int_equal(size.buffer_byte, 8 << 20);
    assert_int_equal(size.buffer_read.byte, 256);
    assert_int_equal(machine.buffer_byte, 8 << 20);
    assert_int_equal(machine.dram_rate.byte, 16);
    assert_true(machine.dram_energy_j > 83.999e-12 && machine.dram_energy_j < 84.001e-12);
    assert_int_equal(derive("experiments/architectures/soma_cloud.yaml", NULL, NULL, &size, &machine, &err),
                     DSE_OK);
    assert_int_equal(size.mac_per_pe, 4096);
    assert_int_equal(size.buffer_read.byte, 512);
    assert_int_equal(machine.buffer_byte, 32 << 20);
    assert_int_equal(machine.dram_rate.byte, 128);
}

/* The axes of the paper's figure 7: the energies of the file follow the capacity as the model's do. */
static void test_core_machine_follows_overrides(void **state)
{
    (void)state;
    static const char *const capacity[] = {"1 MiB",     "2 MiB",  "3 MiB", "4 MiB",
                                           "5000000 B", "16 MiB", "64 MiB"};
    struct core_array_size size;
    struct fused_machine machine;
    struct dse_error err;
    for (size_t i = 0; i < sizeof capacity / sizeof *capacity; i++)
        if (derive(edge, "GBUF.capacity", capacity[i], &size, &machine, &err) != DSE_OK)
            fail_msg("%s: %s", capacity[i], err.text);
    assert_int_equal(machine.buffer_byte, 64 << 20);
    assert_int_equal(derive(edge, "DRAM.bandwidth", "8 GB/s", &size, &machine, &err), DSE_OK);
    assert_int_equal(machine.dram_rate.byte, 8);
    assert_int_equal(derive(edge, "DRAM.bandwidth", "25.6 GB/s", &size, &machine, &err), DSE_OK);
    assert_int_equal(machine.dram_rate.byte, 128);
    assert_int_equal(machine.dram_rate.cycle, 5);
    assert_int_equal(derive(edge, "clock", "700 MHz", &size, &machine, &err), DSE_OK); /* 16 GB/s */
    assert_int_equal(machine.dram_rate.byte, 160);
    assert_int_equal(machine.dram_rate.cycle, 7);
    assert_int_equal(size.buffer_read.byte, 256); /* the file has it per cycle */
    assert_int_equal(size.buffer_read.cycle, 1);
    assert_int_equal(derive(edge, "GBUF.read_bandwidth", "100.5 GB/s", &size, &machine, &err), DSE_OK);
    assert_int_equal(size.buffer_read.byte, 201);
    assert_int_equal(size.buffer_read.cycle, 2);
    assert_int_equal(derive(edge, "PE.mesh", "8x2", &size, &machine, &err), DSE_OK); /* columns x rows */
    assert_int_equal(size.pe_columns, 8);
    assert_int_equal(size.pe_rows, 2);
}

static void test_core_machine_names_what_does_not_fit(void **state)
{
    (void)state;
    static const char *const row[][3] = {
        {"DRAM.bandwidth", "900 kB/s", "DRAM.bandwidth is 0.0009 bytes per cycle; a byte in 1024 cycles"},
        {"GBUF.keeps", "[Inputs, Outputs]", "GBUF stands inside the DRAM"},
        {"GBUF.read_bandwidth", "unlimited", "GBUF.read_bandwidth is not limited"},
        {"AL1.capacity", "8 KiB",
         "AL1.capacity is 8192 bytes; the core-array model has 16384 for the inputs"},
        {"OL1.capacity", "16 KiB",
         "OL1.capacity is 16384 bytes; the core-array model has 8192 for the outputs"},
        {"WL1.read_energy", "1 pJ", "WL1 takes 1 pJ to read"},
        {"GBUF.write_energy", "1 pJ", "GBUF takes "},
        {"MAC.energy", "1 pJ", "MAC.energy is 1 pJ; the core-array model has 0.018"},
        {"Lane.mesh", "32x16", "MAC stands 32 x 16 in a PE; the core-array model has 16 input by 32 output"},
        {"Lane.mesh", "10x10", "a PE has 32, 64, 128, 256, 512 or 4096 MAC units"},
    };
    struct core_array_size size;
    struct fused_machine machine;
    struct dse_error err;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (derive(edge, row[i][0], row[i][1], &size, &machine, &err) != DSE_BAD_INPUT)
            fail_msg("%s=%s is taken", row[i][0], row[i][1]);
        if (!strstr(err.text, row[i][2]))
            fail_msg("%s=%s: %s", row[i][0], row[i][1], err.text);
    }
    static const char *const other[] = {"simba", "k80", "eyeriss_12x14", "tpu_128x128"};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        char path[128] = "experiments/architectures/";
        strcat(strcat(path, other[i]), ".yaml");
        if (derive(path, NULL, NULL, &size, &machine, &err) != DSE_BAD_INPUT ||
            !strstr(err.text, "is no machine for fused schedules"))
            fail_msg("%s: \"%s\"", other[i], err.text);
    }
}

static const char tpu[] = "experiments/architectures/tpu_128x128.yaml";
static const char simba_fused[] = "experiments/architectures/simba_fused.yaml";

static void check_split(const char *path, const char *key, const char *value, uint64_t buffer_byte,
                        uint64_t byte_per_cycle, double byte_pj, uint32_t word_bit)
{
    const struct architecture arch = build(path, key, value);
    struct core_split split;
    struct dse_error err;
    if (core_machine_split(&arch, &split, &err) != DSE_OK)
        fail_msg("%s: %s", path, err.text);
    assert_int_equal(split.machine.buffer_byte, buffer_byte);
    assert_int_equal(split.machine.dram_rate.byte, byte_per_cycle);
    assert_int_equal(split.machine.dram_rate.cycle, 1);
    assert_true(split.machine.dram_energy_j > byte_pj * (1 - 1e-9) * 1e-12 &&
                split.machine.dram_energy_j < byte_pj * (1 + 1e-9) * 1e-12);
    assert_int_equal(split.word_bit, word_bit);
    assert_int_equal(split.core.n_level, arch.n_level - 1);
    assert_true(split.core.level[split.core.n_level - 1].size_word == ARCH_UNLIMITED);
    for (uint32_t l = 0; l + 1 < split.core.n_level; l++)
        assert_memory_equal(&split.core.level[l], &arch.level[l], sizeof arch.level[l]);
    assert_int_equal(architecture_check(&split.core, &err), DSE_OK);
}

/* The files' numbers: DRAM access and buffer write of one byte. */
static void test_core_machine_cuts_any_architecture_below_its_dram(void **state)
{
    (void)state;
    check_split(edge, NULL, NULL, 8 << 20, 16, 84, 8); /* its buffer's write costs nothing */
    check_split(edge, "AL1.capacity", "8 KiB", 8 << 20, 16, 84, 8);
    check_split(simba_fused, NULL, NULL, 4 << 20, 20, 6400.0 / 64 + 29.62814070 / 8, 8);
    check_split(tpu, NULL, NULL, 28 << 20, 75, (200 + 150) / 2.0,
                16); /* 30 GB/s at 400 MHz, words of 2 bytes */
    /* 14 Mi words of the buffer, elements of 12 bit: 21 MiB; the same bytes a cycle, of 1.5 a word */
    check_split(tpu, "DRAM.word", "12 bit", 21 << 20, 75, (200 + 150) / 1.5, 12);
    check_split("experiments/architectures/simba_large_buffer.yaml", "GlobalBuffer.keeps",
                "[Weights, Inputs, Outputs]", 1 << 20, 20,
                6400.0 / 64 + 29.62814070 / 8 * (0.131614654 + (1 - 0.131614654) * 8), 8);
}

/* For machines of both kinds the two agree. */
static void test_core_machine_split_is_that_of_the_core_array(void **state)
{
    (void)state;
    static const char *const bandwidth[] = {"2 GB/s", "16 GB/s", "128 GB/s"};
    for (size_t i = 0; i < sizeof bandwidth / sizeof *bandwidth; i++) {
        const struct architecture arch = build(edge, "DRAM.bandwidth", bandwidth[i]);
        struct core_array_size size;
        struct fused_machine machine;
        struct core_split split;
        struct dse_error err;
        assert_int_equal(core_machine_of(&arch, &size, &machine, &err), DSE_OK);
        assert_int_equal(core_machine_split(&arch, &split, &err), DSE_OK);
        assert_int_equal(split.machine.buffer_byte, machine.buffer_byte);
        assert_int_equal(split.machine.dram_rate.byte, machine.dram_rate.byte);
        assert_true(split.machine.dram_energy_j == machine.dram_energy_j);
    }
}

static void test_core_machine_split_names_what_does_not_fit(void **state)
{
    (void)state;
    static const char *const row[][4] = {
        {"k80", NULL, NULL, "it is a GPU"},
        {"tpu_128x128", "DRAM.bandwidth", "200 kB/s",
         "DRAM.bandwidth is 0.0005 bytes per cycle; a byte in 1024 cycles (0.000390625 GB/s at this clock) "
         "is "
         "the least"},
        {"klotski", NULL, NULL, "has several instances"},
        {"tpu_128x128", "UnifiedBuffer.capacity", "unlimited", "UnifiedBuffer has no capacity"},
        {"tpu_128x128", "UnifiedBuffer.min_utilization", "0.5", "UnifiedBuffer has a least utilization"},
        {"simba", "Registers.min_utilization", "0.5", "Registers has a least utilization"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char path[128] = "experiments/architectures/";
        struct core_split split;
        struct dse_error err = {0};
        const struct architecture arch =
            build(strcat(strcat(path, row[i][0]), ".yaml"), row[i][1], row[i][2]);
        if (core_machine_split(&arch, &split, &err) != DSE_BAD_INPUT || !strstr(err.text, row[i][3]) ||
            !strstr(err.text, "is no machine for fused schedules"))
            fail_msg("%s %s: \"%s\"", row[i][0], row[i][1] ? row[i][1] : "", err.text);
    }
}

/* Level by level and number by number what is cut out of four machines; the numbers are the files'. */
static void test_core_machine_split_streams_what_the_buffer_does_not_keep(void **state)
{
    (void)state;
    enum { W = 1u << TENSOR_WEIGHT, I = 1u << TENSOR_INPUT, O = 1u << TENSOR_OUTPUT };
    static const struct {
        const char *name, *key, *value, *buffer;
        uint32_t streams;
        uint64_t buffer_byte;
    } row[] = {
        {"simba", NULL, NULL, "GlobalBuffer", W, 128 << 10},
        {"simba", "fused.keeps", "all", "GlobalBuffer", 0, 128 << 10},
        {"eyeriss_12x14", NULL, NULL, "GlobalBuffer", W, 108 << 10},
        {"mindmappings", NULL, NULL, "InputBuffer", W | O, 192 << 10},
        {"mindmappings", "fused.buffer", "PsumBuffer", "PsumBuffer", W | I, 160 << 10},
        {"mindmappings_banks", NULL, NULL, "InputBuffer", W | O, 14 * (32 << 10)}, /* 16 banks less 2 */
        {"tpu_128x128", NULL, NULL, "UnifiedBuffer", 0, 28 << 20},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char path[128] = "experiments/architectures/";
        struct core_split split;
        struct dse_error err = {0};
        const struct architecture arch =
            build(strcat(strcat(path, row[i].name), ".yaml"), row[i].key, row[i].value);
        if (core_machine_split(&arch, &split, &err) != DSE_OK)
            fail_msg("%s: %s", row[i].name, err.text);
        const struct storage_level *home = &split.core.level[split.home],
                                   *top = &split.core.level[split.core.n_level - 1];
        assert_string_equal(arch.level[split.buffer].name, row[i].buffer);
        assert_string_equal(home->name, row[i].buffer);
        assert_int_equal(split.streams, row[i].streams);
        assert_int_equal(split.machine.buffer_byte, row[i].buffer_byte);
        assert_int_equal(home->keep_role & 7, 7 & ~row[i].streams);
        assert_true(home->size_word == ARCH_UNLIMITED && home->bank_group == 0);
        assert_int_equal(top->is_dram, row[i].streams != 0);
        assert_true(!top->is_dram || (top->keep_role & 7) == row[i].streams);
        assert_int_equal(architecture_check(&split.core, &err), DSE_OK);
    }
}

/* 10 words of a byte per cycle each way; 20 shared; none. A byte costs 6400/64 = 100 pJ of DRAM, and where
 * the buffer holds it 29.6281407/8 pJ more. */
static void test_core_machine_split_reads_the_dram_each_way(void **state)
{
    (void)state;
    static const struct {
        const char *name, *key, *value;
        struct byte_rate load, store;
    } row[] = {
        {"simba", NULL, NULL, {20, 1}, {20, 1}},
        {"simba_tablev", NULL, NULL, {10, 1}, {10, 1}},
        {"simba_tablev", "DRAM.write_bandwidth", "5 GB/s", {10, 1}, {5, 1}},
        {"simba_tablev", "DRAM.read_bandwidth", "unlimited", {1, 0}, {10, 1}},
        {"simba", "DRAM.bandwidth", "unlimited", {1, 0}, {1, 0}},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char path[128] = "experiments/architectures/";
        struct core_split split;
        struct dse_error err = {0};
        const struct architecture arch =
            build(strcat(strcat(path, row[i].name), ".yaml"), row[i].key, row[i].value);
        assert_int_equal(core_machine_split(&arch, &split, &err), DSE_OK);
        const struct fused_machine *m = &split.machine;
        assert_true(m->dram_rate.byte == row[i].load.byte && m->dram_rate.cycle == row[i].load.cycle);
        assert_true(m->store_rate.byte == row[i].store.byte && m->store_rate.cycle == row[i].store.cycle);
        assert_true(m->differs);
        for (int way = 0; way < FUSED_N_WAY; way++) {
            double want = way >= FUSED_STREAMED_IN ? 100e-12 : (100 + 29.6281407 / 8) * 1e-12;
            if (fabs(m->way_energy_j[way] - want) > 1e-9 * want)
                fail_msg("%s, way %d: %g J, not %g", row[i].name, way, m->way_energy_j[way], want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core_machine_is_that_of_the_paper),
        cmocka_unit_test(test_core_machine_follows_overrides),
        cmocka_unit_test(test_core_machine_names_what_does_not_fit),
        cmocka_unit_test(test_core_machine_cuts_any_architecture_below_its_dram),
        cmocka_unit_test(test_core_machine_split_is_that_of_the_core_array),
        cmocka_unit_test(test_core_machine_split_names_what_does_not_fit),
        cmocka_unit_test(test_core_machine_split_streams_what_the_buffer_does_not_keep),
        cmocka_unit_test(test_core_machine_split_reads_the_dram_each_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
