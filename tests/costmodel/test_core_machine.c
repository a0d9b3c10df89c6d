/* Core arrays out of architectures. Sizes are those of SoMa (HPCA 2025), section VI-A, as written in the two files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "costmodel/core_machine.h"
#include "costmodel/readers.h"

static enum dse_status derive(const char *path, const char *key, const char *value,
                              struct core_array_size *size, struct fused_machine *machine,
                              struct dse_error *err)
{
    const struct arch_override set = {key, value};
    struct architecture arch;
    struct yaml_doc doc;
    *err = (struct dse_error){0};
    if (yaml_read(&doc, path, err) != DSE_OK)
        fail_msg("%s", err->text);
    enum dse_status status = architecture_build_with_ert(&doc, NULL, &set, key ? 1 : 0, &arch, err);
    yaml_doc_free(&doc);
    if (status != DSE_OK)
        fail_msg("%s: %s", key ? key : path, err->text);
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
    assert_int_equal(size.buffer_read_byte_per_cycle, 256);
    assert_int_equal(machine.buffer_byte, 8 << 20);
    assert_int_equal(machine.dram_byte_per_cycle, 16);
    assert_true(machine.dram_energy_j > 83.999e-12 && machine.dram_energy_j < 84.001e-12);
    assert_int_equal(derive("experiments/architectures/soma_cloud.yaml", NULL, NULL, &size, &machine, &err),
                     DSE_OK);
    assert_int_equal(size.mac_per_pe, 4096);
    assert_int_equal(size.buffer_read_byte_per_cycle, 512);
    assert_int_equal(machine.buffer_byte, 32 << 20);
    assert_int_equal(machine.dram_byte_per_cycle, 128);
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
    assert_int_equal(machine.dram_byte_per_cycle, 8);
    assert_int_equal(derive(edge, "PE.mesh", "8x2", &size, &machine, &err), DSE_OK); /* columns x rows */
    assert_int_equal(size.pe_columns, 8);
    assert_int_equal(size.pe_rows, 2);
}

static void test_core_machine_names_what_does_not_fit(void **state)
{
    (void)state;
    static const char *const row[][3] = {
        {"DRAM.bandwidth", "12.5 GB/s", "DRAM.bandwidth is 12.5 bytes per cycle; whole bytes"},
        {"DRAM.bandwidth", "unlimited", "DRAM.bandwidth is not limited"},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core_machine_is_that_of_the_paper),
        cmocka_unit_test(test_core_machine_follows_overrides),
        cmocka_unit_test(test_core_machine_names_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
