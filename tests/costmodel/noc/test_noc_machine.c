/* The mesh of an architecture: where it is, how large, and what the part noc of a native file changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "costmodel/noc/noc.h"
#include "costmodel/readers/readers.h"

#define FOLDER "experiments/architectures/"

/* A shipped machine with some quantities replaced. */
static enum dse_status build(const char *name, const struct arch_override *override, size_t n_override,
                             struct architecture *arch, struct dse_error *err)
{
    char path[256];
    struct yaml_doc doc;
    snprintf(path, sizeof path, FOLDER "%s.yaml", name);
    assert_int_equal(yaml_read(&doc, path, err), DSE_OK);
    enum dse_status status = architecture_build(&doc, override, n_override, arch, err);
    yaml_doc_free(&doc);
    return status;
}

/* The array below the global buffer; a row is drawn as square as possible. */
static void test_noc_config_of_shipped_machines(void **state)
{
    static const struct {
        const char *name;
        int level;
        uint32_t columns, pe_rows; /* 0: refused */
    } want[] = {{"simba", 4, 4, 4},           {"simba_tablev", 4, 4, 4},   {"simba_8x8", 4, 8, 8},
                {"eyeriss_12x14", 3, 14, 12}, {"mindmappings", 3, 16, 16}, {"soma_edge", 4, 4, 4},
                {"tpu_128x128", 1, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        struct architecture arch;
        struct noc_config config;
        struct dse_error err;
        uint32_t level;
        assert_int_equal(build(want[i].name, NULL, 0, &arch, &err), DSE_OK);
        assert_int_equal(noc_level_of(&arch), want[i].level);
        enum dse_status status = noc_config_of(&arch, &config, &level, &err);
        assert_int_equal(status, want[i].columns ? DSE_OK : DSE_BAD_USAGE);
        if (status != DSE_OK)
            continue;
        assert_int_equal(config.columns, want[i].columns);
        assert_int_equal(config.pe_rows, want[i].pe_rows);
    }
}

/* 8 x 1, 12 x 1 and 13 x 1 PEs: 4 x 2, 4 x 3 and 13 x 1. */
static void test_noc_config_draws_a_row_as_square_as_possible(void **state)
{
    static const struct {
        const char *mesh;
        uint32_t columns, pe_rows;
    } want[] = {{"8x1", 4, 2}, {"12x1", 4, 3}, {"1x12", 4, 3}, {"13x1", 13, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        struct arch_override mesh = {"PE.mesh", want[i].mesh};
        struct architecture arch;
        struct noc_config config;
        struct dse_error err;
        uint32_t level;
        assert_int_equal(build("simba_tablev", &mesh, 1, &arch, &err), DSE_OK);
        assert_int_equal(noc_config_of(&arch, &config, &level, &err), DSE_OK);
        assert_int_equal(config.columns, want[i].columns);
        assert_int_equal(config.pe_rows, want[i].pe_rows);
    }
}

/* What is left out stays as noc_config_init has it; a packet's size carries over to the queue and the DRAM
 * access. */
static void test_noc_config_takes_the_part_noc(void **state)
{
    static const struct arch_override part[] = {
        {"noc.mesh", "8x2"},         {"noc.flit", "128 bit"},        {"noc.data_flits", "6"},
        {"noc.dram_row", "9 KiB"},   {"noc.dram_burst", "3 cycles"}, {"noc.dram_read_ahead", "5"},
        {"noc.resend_windows", "on"}};
    struct architecture plain, arch;
    struct noc_config want, config;
    struct dse_error err;
    uint32_t level;
    (void)state;
    assert_int_equal(build("simba_tablev", NULL, 0, &plain, &err), DSE_OK);
    assert_int_equal(build("simba_tablev", part, 7, &arch, &err), DSE_OK);
    assert_int_equal(noc_config_of(&arch, &config, &level, &err), DSE_OK);
    noc_config_init(&want, 8, 2);
    want.flit_bit = 128;
    want.data_flits = 6;
    want.queue_flits = 9;
    want.dram.burst_byte = 96;
    want.dram.row_byte = 9216;
    want.dram.burst_cycle = 3;
    want.dram.read_ahead = 5;
    /* 10 GB/s each way at 1 GHz: 10 packets of 96 bytes in 96 cycles; no refresh */
    want.dram.refresh_interval_cycle = 0;
    want.dram.limit[NOC_READS] = want.dram.limit[NOC_WRITES] = (struct noc_limit){10, 96};
    want.resend_windows = true;
    assert_int_equal(config.resend_windows, want.resend_windows);
    assert_int_equal(config.columns * 1000 + config.rows, 8 * 1000 + 3);
    assert_int_equal(config.flit_bit, want.flit_bit);
    assert_int_equal(config.data_flits, want.data_flits);
    assert_int_equal(config.queue_flits, want.queue_flits);
    assert_memory_equal(&config.dram, &want.dram, sizeof want.dram);
    assert_int_not_equal(architecture_hash(&arch), architecture_hash(&plain));
    struct arch_override compat = {"noc.compat", "on"};
    assert_false(config.compat);
    assert_int_equal(build("simba_tablev", &compat, 1, &arch, &err), DSE_OK);
    assert_int_equal(noc_config_of(&arch, &config, &level, &err), DSE_OK);
    noc_config_init(&want, 4, 4);
    assert_true(config.compat);
    assert_memory_equal(&config.dram, &want.dram, sizeof want.dram);
    struct arch_override queue = {"noc.queue", "5"};
    assert_int_equal(build("simba_tablev", &queue, 1, &arch, &err), DSE_OK);
    assert_int_equal(noc_config_of(&arch, &config, &level, &err), DSE_OK);
    assert_int_equal(config.queue_flits, 5);
    assert_int_equal(config.data_flits, 4);
}

static void test_noc_config_refuses_what_does_not_go_together(void **state)
{
    static const struct {
        struct arch_override part;
        const char *text;
    } want[] = {
        {{"noc.queue", "4"},
         "the part noc of architecture simba_tablev: router queues of 4 flits; a packet of 5 must fit, "},
        {{"noc.mesh", "5x3"},
         "noc.mesh of architecture simba_tablev is 5x3, too small for its 16 PEs below GlobalBuffer"},
        {{"noc.mesh", "64x32"}, "architecture simba_tablev needs 2112 routers for a mesh of 64x32 PEs"},
        {{"noc.dram_row", "100 B"}, "the part noc of architecture simba_tablev: DRAM rows of 100 bytes"},
        {{"PE.mesh", "4096x1"}, "architecture simba_tablev has 4096 PEs below GlobalBuffer; "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        struct architecture arch;
        struct noc_config config;
        struct dse_error err;
        uint32_t level;
        assert_int_equal(build("simba_tablev", &want[i].part, 1, &arch, &err), DSE_OK);
        assert_int_equal(noc_config_of(&arch, &config, &level, &err), DSE_BAD_USAGE);
        if (strncmp(err.text, want[i].text, strlen(want[i].text)) != 0)
            fail_msg("%s", err.text);
    }
}

/* In the file itself: a part of its own, with its own keys. */
static void test_noc_part_is_read_from_the_file(void **state)
{
    static const char text[] = "architecture: small\n"
                               "clock: 1 GHz\n"
                               "noc:\n"
                               "  flit: 32 bit\n"
                               "  %s: 3\n"
                               "hierarchy:\n"
                               "- {storage: DRAM, kind: dram, word: 8 bit, access_energy: 1 pJ}\n"
                               "- {array: PE, mesh: 2x2}\n"
                               "- {macs: MAC, word: 8 bit, energy: 1 pJ}\n";
    static const char *const key[] = {"data_flits", "data_flit"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        char file[sizeof text + 16];
        struct yaml_doc doc;
        struct architecture arch;
        struct dse_error err = {0};
        snprintf(file, sizeof file, text, key[i]);
        assert_int_equal(yaml_parse(&doc, "small.yaml", file, strlen(file), &err), DSE_OK);
        enum dse_status status = architecture_build(&doc, NULL, 0, &arch, &err);
        yaml_doc_free(&doc);
        if (i == 0) {
            assert_int_equal(status, DSE_OK);
            assert_int_equal(arch.noc[NOC_SET_FLIT_BIT], 32);
            assert_int_equal(arch.noc[NOC_SET_DATA_FLITS], 3);
            assert_int_equal(arch.noc[NOC_SET_QUEUE_FLITS], 0);
        } else {
            assert_int_equal(status, DSE_BAD_INPUT);
            assert_int_equal(err.line, 5);
            assert_non_null(strstr(err.text, "data_flits"));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noc_config_of_shipped_machines),
        cmocka_unit_test(test_noc_config_draws_a_row_as_square_as_possible),
        cmocka_unit_test(test_noc_config_takes_the_part_noc),
        cmocka_unit_test(test_noc_config_refuses_what_does_not_go_together),
        cmocka_unit_test(test_noc_part_is_read_from_the_file),
    };
    return cmocka_run_group_tests_name("noc_machine", tests, NULL, NULL);
}
