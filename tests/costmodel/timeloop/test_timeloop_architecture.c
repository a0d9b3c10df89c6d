/* Timeloop architectures: trees, the flat format, overrides, refusals. Files: tests/known/timeloop/archs;
 * the numbers expected are those written in the files, or follow from docs/timeloop.md,
 * "Attributes that count", as said. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "costmodel/timeloop/timeloop.h"

static enum dse_status build_text(const char *text, const struct arch_override *override, size_t n_override,
                                  struct architecture *arch, struct dse_error *err)
{
    struct yaml_doc doc;
    enum dse_status status;

    memset(err, 0, sizeof *err);
    status = yaml_parse(&doc, "arch.yaml", text, strlen(text), err);
    if (status != DSE_OK)
        return status;
    status = timeloop_architecture_build(&doc, NULL, NULL, override, n_override, arch, err);
    yaml_doc_free(&doc);
    return status;
}

static void build_file(const char *name, const struct arch_override *override, size_t n_override,
                       struct architecture *arch)
{
    struct yaml_doc doc;
    struct dse_error err = {.line = 0};
    char path[256];

    snprintf(path, sizeof path, "tests/known/timeloop/archs/%s.yaml", name);
    assert_int_equal(yaml_read(&doc, path, &err), DSE_OK);
    assert_true(timeloop_is_architecture(&doc));
    if (timeloop_architecture_build(&doc, NULL, NULL, override, n_override, arch, &err) != DSE_OK)
        fail_msg("%s", err.text);
    yaml_doc_free(&doc);
}

static void expect_mesh(const struct storage_level *level, const char *name, uint64_t instances, uint64_t x,
                        uint64_t y)
{
    assert_string_equal(level->name, name);
    assert_int_equal(level->instances, instances);
    assert_int_equal(level->mesh_x, x);
    assert_int_equal(level->mesh_y, y);
}

static void test_timeloop_architecture_reads_a_tree(void **state)
{
    struct architecture arch;

    (void)state;
    build_file("simba16", NULL, 0, &arch);
    assert_string_equal(arch.name, "simba16");
    assert_true(arch.link_transfers);
    assert_true(arch.clock_hz == 1e9);
    assert_int_equal(arch.n_level, 6);
    /* PE[0..15] with meshX 4; Registers[0..63] inside: 1024 with meshX 32 */
    expect_mesh(&arch.level[0], "Registers", 1024, 32, 32);
    expect_mesh(&arch.level[1], "AccumulationBuffer", 16, 4, 4);
    expect_mesh(&arch.level[2], "WeightBuffer", 16, 4, 4);
    expect_mesh(&arch.level[3], "InputBuffer", 16, 4, 4);
    expect_mesh(&arch.level[4], "GlobalBuffer", 1, 1, 1);
    expect_mesh(&arch.level[5], "DRAM", 1, 1, 1);
    assert_int_equal(arch.mac.instances, 1024);
    assert_int_equal(arch.mac.mesh_x, 32);
    assert_int_equal(arch.level[0].cluster_size, 64);
    assert_int_equal(arch.level[1].word_bit, 24);
    assert_int_equal(arch.level[3].size_word, 8192);
    assert_int_equal(arch.level[4].block_word, 8);
    assert_true(arch.level[5].size_word == ARCH_UNLIMITED);
    assert_true(arch.level[5].is_dram && !arch.level[5].reduces && arch.level[4].reduces);
    assert_true(fabs(arch.level[4].read_energy_j - 31.25e-12) < 1e-24);
    assert_true(arch.level[5].read_bandwidth_word_per_cycle == 10.0);
    assert_true(isinf(arch.level[1].read_bandwidth_word_per_cycle));
    assert_true(fabs(arch.mac.energy_j - 1e-12) < 1e-24);
}

static void test_timeloop_architecture_multiplies_nested_ranges(void **state)
{
    struct architecture arch;

    (void)state;
    build_file("cluster-5level", NULL, 0, &arch);
    /* cluster[0..3] x PE[0..15] x MAC[0..3]; L2 meshX 2, L1 meshX 8, MAC meshX 16 */
    assert_int_equal(arch.n_level, 5);
    expect_mesh(&arch.level[0], "RF", 64, 8, 8);
    expect_mesh(&arch.level[1], "L1", 64, 8, 8);
    expect_mesh(&arch.level[2], "L2", 4, 2, 2);
    expect_mesh(&arch.level[3], "L3", 1, 1, 1);
    assert_int_equal(arch.mac.instances, 256);
    assert_int_equal(arch.mac.mesh_y, 16);
    assert_int_equal(arch.level[1].size_word, 512 * 2); /* depth counts blocks */
    assert_true(arch.level[2].multiple_buffering == 2.0);
    assert_true(fabs(arch.mac.energy_j - 0.25e-12) < 1e-24); /* (8/16)^2 pJ, docs/timeloop.md */
}

static void test_timeloop_architecture_applies_the_ert_of_the_file(void **state)
{
    struct architecture arch;
    struct yaml_doc doc;
    struct dse_error err;
    static const char text[] =
        "arch:\n"
        "  version: 0.4\n"
        "  subtree:\n"
        "  - name: system\n"
        "    local:\n"
        "    - {name: DRAM, class: DRAM}\n"
        "    - {name: GB, class: SRAM, attributes: {entries: 64, vector-access-energy: 2.5}}\n"
        "    - {name: 'MAC[0..3]', class: intmac, attributes: {meshX: 2}}\n"
        "ERT:\n"
        "  version: 0.4\n"
        "  tables:\n"
        "  - {name: 'system[1..1].DRAM[1..1]', actions: [{name: read, energy: 3}, {name: write, energy: "
        "5}]}\n"
        "  - {name: system.GB, actions: [{name: read, energy: 7}]}\n"
        "  - {name: 'system.MAC[0..3]', actions: [{name: compute, arguments: {}, energy: 0.5}]}\n";

    (void)state;
    assert_int_equal(yaml_parse(&doc, "arch.yaml", text, strlen(text), &err), DSE_OK);
    assert_int_equal(timeloop_architecture_build(&doc, NULL, NULL, NULL, 0, &arch, &err), DSE_OK);
    yaml_doc_free(&doc);
    assert_true(fabs(arch.level[1].read_energy_j - 3e-12) < 1e-24);
    assert_true(fabs(arch.level[1].update_energy_j - 5e-12) < 1e-24);
    assert_true(fabs(arch.level[0].read_energy_j - 2.5e-12) <
                1e-24); /* vector-access-energy beats the table */
    assert_true(fabs(arch.mac.energy_j - 0.5e-12) < 1e-24);
    expect_mesh(&arch.level[0], "GB", 1, 1, 1);
    assert_int_equal(arch.mac.mesh_y, 2);
}

static void build_file_with_two_erts(struct dse_error *err)
{
    static const char text[] = "ERT: {tables: []}\n";
    struct yaml_doc doc, ert;
    struct architecture arch;

    assert_int_equal(yaml_read(&doc, "tests/known/timeloop/archs/gb-rf-4x4-4.yaml", err), DSE_OK);
    assert_int_equal(yaml_parse(&ert, "ert.yaml", text, strlen(text), err), DSE_OK);
    assert_int_equal(timeloop_architecture_build(&doc, &ert, NULL, NULL, 0, &arch, err), DSE_BAD_INPUT);
    yaml_doc_free(&ert);
    yaml_doc_free(&doc);
}

/* The ERT in a file of its own says the same as inside the architecture file; two are one too many. */
static void test_timeloop_architecture_applies_a_separate_ert(void **state)
{
    static const char text[] = "architecture:\n"
                               "  subtree:\n"
                               "  - name: chip\n"
                               "    local:\n"
                               "    - {name: DRAM, class: DRAM, attributes: {vector-access-energy: 100}}\n"
                               "    - {name: Buf, class: SRAM, attributes: {entries: 64}}\n"
                               "    - {name: MACs, class: mac}\n";
    static const char table[] = "ERT:\n"
                                "  version: '0.4'\n"
                                "  tables:\n"
                                "  - name: chip.Buf[1..1]\n"
                                "    actions: [{name: read, energy: 1.5}, {name: write, energy: 2.5}]\n"
                                "  - name: chip.DRAM\n"
                                "    actions: [{name: read, energy: 7}]\n"
                                "  - {name: chip.MACs, actions: [{name: compute, energy: 0.25}]}\n";
    static const struct {
        const char *ert;
        int line;
        const char *words;
    } bad[] = {
        {"architecture: {}\n", 1, "ERT"},
        {"ERTs: {}\n", 1, "ERTs"},
        {"ERT:\n  tables:\n  - {name: chip.Bug, actions: []}\n", 3, "did you mean \"Buf\"?"},
        {"ERT:\n  version: 0.2\n  tables: {}\n", 2, "0.2"},
    };
    struct yaml_doc doc, ert;
    struct architecture arch;
    struct dse_error err;

    (void)state;
    assert_int_equal(yaml_parse(&doc, "arch.yaml", text, strlen(text), &err), DSE_OK);
    assert_int_equal(yaml_parse(&ert, "ert.yaml", table, strlen(table), &err), DSE_OK);
    assert_int_equal(timeloop_architecture_build(&doc, &ert, NULL, NULL, 0, &arch, &err), DSE_OK);
    assert_true(fabs(arch.level[0].read_energy_j - 1.5e-12) < 1e-24);
    assert_true(fabs(arch.level[0].write_energy_j - 2.5e-12) < 1e-24);
    assert_true(fabs(arch.level[1].read_energy_j - 100e-12) < 1e-22); /* the file's own stays */
    assert_true(fabs(arch.mac.energy_j - 0.25e-12) < 1e-24);
    yaml_doc_free(&ert);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(yaml_parse(&ert, "ert.yaml", bad[i].ert, strlen(bad[i].ert), &err), DSE_OK);
        assert_int_equal(timeloop_architecture_build(&doc, &ert, NULL, NULL, 0, &arch, &err), DSE_BAD_INPUT);
        assert_string_equal(err.file, "ert.yaml");
        assert_int_equal(err.line, bad[i].line);
        assert_non_null(strstr(err.text, bad[i].words));
        yaml_doc_free(&ert);
    }
    yaml_doc_free(&doc);
    build_file_with_two_erts(&err);
    assert_string_equal(err.file, "ert.yaml");
    assert_non_null(strstr(err.text, "a second ERT"));
}

static void test_timeloop_architecture_reads_the_flat_format(void **state)
{
    static const char text[] =
        "arch:\n"
        "  arithmetic: {instances: 1024, word-bits: 8}\n"
        "  storage:\n"
        "  - {name: Registers, entries: 1, instances: 1024, word-bits: 8, cluster-size: 64, num-ports: 2}\n"
        "  - {name: GlobalBuffer, entries: 131072, instances: 1, word-bits: 8, block-size: 8, num-banks: "
        "256}\n"
        "  - {name: DRAM, technology: DRAM, instances: 1, word-bits: 8, block-size: 64, bandwidth: 20.0}\n";
    struct architecture arch;
    struct dse_error err;

    (void)state;
    assert_int_equal(build_text(text, NULL, 0, &arch, &err), DSE_OK);
    assert_int_equal(arch.n_level, 3);
    expect_mesh(&arch.level[0], "Registers", 1024, 1024, 1); /* no meshX: all on X */
    expect_mesh(&arch.level[2], "DRAM", 1, 1, 1);
    assert_true(arch.level[2].is_dram);
    assert_true(arch.level[2].read_bandwidth_word_per_cycle == 10.0); /* half of the old `bandwidth` */
    /* public table, docs/timeloop.md: DRAM 200 * 8 * 64 / 16 = 6400 pJ */
    assert_true(fabs(arch.level[2].read_energy_j - 6400e-12) < 1e-20);
    /* W = 64 bit, H = 16384, x = 128 KB, y = 127.5 * 5 / 99.5 + 1 = 7.4070..., 64 / 16 * y = 29.628... pJ */
    assert_true(fabs(arch.level[1].write_energy_j - (127.5 * 5 / 99.5 + 1) * 4e-12) < 1e-22);
    assert_string_equal(arch.mac.name, "MACs");
    assert_int_equal(arch.mac.mesh_x, 1024);
}

static void test_timeloop_architecture_applies_overrides(void **state)
{
    static const struct arch_override more[] = {
        {"GlobalBuffer.entries", "65536"},
        {"DRAM.bandwidth", "6"},
        {"DRAM.read_bandwidth", "4"},
        {"PE.count", "64"},
        {"InputBuffer.meshX", "8"},
        {"WeightBuffer.meshX", "8"},
        {"AccumulationBuffer.meshX", "8"},
        {"Registers.meshX", "64"},
        {"MACs.meshX", "64"},
        {"GlobalBuffer.vector-access-energy", "12.5"},
        {"MACs.energy", "3"},
    };
    static const struct arch_override size[] = {{"L1.entries", "100"}, {"L2.memory_depth", "7"}};
    struct architecture arch;

    (void)state;
    build_file("simba16", more, sizeof more / sizeof more[0], &arch);
    assert_int_equal(arch.level[4].size_word, 65536);
    assert_true(arch.level[5].read_bandwidth_word_per_cycle == 4.0);
    assert_true(arch.level[5].write_bandwidth_word_per_cycle == 10.0); /* the file's own, beats `bandwidth` */
    expect_mesh(&arch.level[0], "Registers", 64 * 64, 64, 64);
    expect_mesh(&arch.level[3], "InputBuffer", 64, 8, 8);
    assert_true(fabs(arch.level[4].update_energy_j - 12.5e-12) < 1e-24);
    assert_true(fabs(arch.mac.energy_j - 3e-12) < 1e-24);
    build_file("cluster-5level", size, 2, &arch); /* the file gives depth for both */
    assert_int_equal(arch.level[1].size_word, 100);
    assert_int_equal(arch.level[2].size_word, 7 * 4);
}

static void test_timeloop_architecture_refuses_unknown_overrides(void **state)
{
    static const struct {
        struct arch_override override;
        const char *text;
    } cases[] = {
        {{"GlobalBufer.entries", "1"}, "did you mean \"GlobalBuffer\""},
        {{"GlobalBuffer.entrys", "1"}, "did you mean \"entries\""},
        {{"GlobalBuffer", "1"}, "unknown attribute of GlobalBuffer"},
        {{"PE.cont", "1"}, "did you mean \"count\""},
        {{"GlobalBuffer.entries", "0"}, "at least one word"},
        {{"GlobalBuffer.entries", "128 KiB"}, "GlobalBuffer.entries"},
        {{"MACs.energy", "0.5"}, "whole pJ"},
    };
    struct yaml_doc doc;
    struct dse_error err;
    struct architecture arch;

    (void)state;
    assert_int_equal(yaml_read(&doc, "tests/known/timeloop/archs/simba16.yaml", &err), DSE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(timeloop_architecture_build(&doc, NULL, NULL, &cases[i].override, 1, &arch, &err),
                         DSE_BAD_INPUT);
        if (strstr(err.text, cases[i].text) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", err.text, cases[i].text);
    }
    assert_int_equal(timeloop_architecture_check_path(&doc, "GlobalBuffer.entries", &err), DSE_OK);
    assert_int_equal(timeloop_architecture_check_path(&doc, "PE.count", &err), DSE_OK);
    assert_int_equal(timeloop_architecture_check_path(&doc, "GlobalBuffer.capacity", &err), DSE_BAD_INPUT);
    yaml_doc_free(&doc);
}

#define TREE(local) "architecture:\n  version: 0.3\n  subtree:\n  - name: chip\n    local:\n" local
#define DRAM "    - {name: DRAM, class: DRAM}\n"
#define MAC "    - {name: MAC, class: mac}\n"

static void test_timeloop_architecture_refuses_by_name_and_line(void **state)
{
    static const struct {
        const char *yaml;
        int line;
        const char *text;
    } cases[] = {
        {"architecture:\n  version: 0.4\n  nodes: []\n", 2, "no compute component"},
        {"architecture:\n  version: 0.9\n  subtree: []\n", 2, "0.9"},
        {TREE(DRAM), 2, "no compute component"},
        {"architecture:\n  attributes: {word-bits: 8}\n  subtree: []\n", 2, "word-bits"},
        {"architecture:\n  version: 0.9\n  arithmetic: {instances: 1}\n  storage: []\n", 2, "0.1"},
        {TREE("    - !Component {name: M, class: mac}\n"), 6, "!Component belongs to Timeloop v4"},
        {TREE(MAC), 2, "no storage level"},
        {TREE(DRAM MAC MAC), 8, "second compute"},
        {TREE(DRAM DRAM MAC), 7, "two components are named DRAM"},
        {TREE("    - {name: net, class: XY_NoC}\n"), 6, "user-defined network"},
        {TREE("    - {name: net, class: SimpleMulticast}\n"), 6, "user-defined network"},
        {TREE("    - {name: net, class: ReductionTree}\n"), 6, "user-defined network"},
        {TREE("    - {name: add, class: intadder}\n"), 6, "Accelergy"},
        {TREE("    - {name: GB, class: SRAn}\n"), 6, "did you mean \"SRAM\""},
        {TREE("    - {name: GB, class: SRAM, sparse_optimizations: {}}\n"), 6, "sparse_optimizations"},
        {TREE("    - {name: GB, class: SRAM, colour: red}\n"), 6, "colour"},
        {TREE("    - {name: 'GB[0..x]', class: SRAM}\n"), 6, "NAME[0..n-1]"},
        {TREE("    - {name: 'GB[3]', class: SRAM}\n"), 6, "NAME[0..n-1]"},
        {TREE("    - {name: '[0..3]', class: SRAM}\n"), 6, "no name"},
        {TREE("    - {class: SRAM}\n"), 6, "name"},
        {TREE("    - {name: GB}\n"), 6, "class"},
        {TREE(DRAM "    - {name: GB, class: SRAM}\n" MAC), 7, "needs a size"},
        {TREE(DRAM MAC) "    subtree:\n    - {name: a, local: []}\n    - {name: b, local: []}\n", 10,
         "linear hierarchy"},
        {TREE(DRAM MAC) "    subtree:\n    - name: a\n      local:\n      - {name: L, class: SRAM}\n", 11,
         "innermost"},
        {TREE(DRAM MAC) "    attributes: {data_rate: 3}\n", 8, "data_rate"},
        {TREE("    - {name: D, class: DRAM, attributes: {meshX: 3, instances: 6}}\n"
              "    - {name: M, class: mac, attributes: {instances: 4}}\n"),
         6, "does not divide"},
        {TREE(DRAM MAC) "mapper: {}\n", 8, "mapper"},
        {TREE(DRAM MAC) "architecture_constraints: {targets: [{target: DRAM}]}\n", 8,
         "lacks the required key \"type\""},
        {TREE(DRAM MAC) "sparse_optimizations: {}\n", 8, "dense"},
        {TREE(DRAM MAC) "compound_components: {}\n", 8, "Accelergy"},
        {TREE(DRAM MAC) "variables: {}\n", 8, "variables"},
        {TREE(DRAM MAC) "architectur: {}\n", 8, "did you mean \"architecture\""},
        {TREE(DRAM MAC) "arch: {subtree: []}\n", 8, "both"},
        {"arch:\n  arithmetic: {instances: 4}\n  storage:\n  - {name: D, technology: DRAM}\n", 4,
         "instances"},
        {"arch:\n  arithmetic: {instances: 4}\n  storage:\n  - {technology: DRAM}\n", 4, "name"},
        {"arch:\n  arithmetic: {instances: 4}\n  storage:\n  - {name: 'a: b', technology: DRAM}\n", 4,
         "is no name"},
    };
    struct architecture arch;
    struct dse_error err;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(build_text(cases[i].yaml, NULL, 0, &arch, &err), DSE_BAD_INPUT);
        if (strstr(err.text, cases[i].text) == NULL || err.line != cases[i].line)
            fail_msg("case %zu, line %d: \"%s\" lacks \"%s\" on line %d", i, err.line, err.text,
                     cases[i].text, cases[i].line);
        assert_string_equal(err.file, "arch.yaml");
    }
}

static void test_timeloop_architecture_refuses_too_many_levels(void **state)
{
    char text[4096] = TREE(DRAM);
    struct architecture arch;
    struct dse_error err;

    (void)state;
    for (int i = 0; i < ARCH_LEVEL_MAX; i++) {
        size_t used = strlen(text);

        snprintf(text + used, sizeof text - used,
                 "    - {name: L%d, class: SRAM, attributes: {entries: 8}}\n", i);
    }
    strcat(text, MAC);
    assert_int_equal(build_text(text, NULL, 0, &arch, &err), DSE_LIMIT);
}

static void test_timeloop_architecture_reads_every_known_file(void **state)
{
    static const char *const name[] = {"simba16",         "simba-lanes", "eyeriss168",
                                       "mindmappings256", "flat-2level", "gb-rf-4x4",
                                       "cluster-5level",  "only-dram",   "mindmappings256-mttkrp"};
    static const uint32_t n_level[] = {6, 6, 5, 7, 2, 3, 5, 1, 9}; /* storage components in the files */
    struct architecture arch;

    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        build_file(name[i], NULL, 0, &arch);
        assert_int_equal(arch.n_level, n_level[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeloop_architecture_reads_a_tree),
        cmocka_unit_test(test_timeloop_architecture_multiplies_nested_ranges),
        cmocka_unit_test(test_timeloop_architecture_applies_the_ert_of_the_file),
        cmocka_unit_test(test_timeloop_architecture_applies_a_separate_ert),
        cmocka_unit_test(test_timeloop_architecture_reads_the_flat_format),
        cmocka_unit_test(test_timeloop_architecture_applies_overrides),
        cmocka_unit_test(test_timeloop_architecture_refuses_unknown_overrides),
        cmocka_unit_test(test_timeloop_architecture_refuses_by_name_and_line),
        cmocka_unit_test(test_timeloop_architecture_refuses_too_many_levels),
        cmocka_unit_test(test_timeloop_architecture_reads_every_known_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
