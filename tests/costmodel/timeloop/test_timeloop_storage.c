/* Attributes of one Timeloop component. Expected values follow docs/timeloop.md, "Attributes that
 * count", worked out by hand next to each case. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "costmodel/timeloop/timeloop_parts.h"

/* Build a level of class `class_name` with 16 instances from the text of its attributes. */
static enum dse_status build(const char *class_name, const char *attributes, struct storage_level *level,
                             bool *fixed, struct dse_error *err)
{
    struct timeloop_component component = {.kind = TIMELOOP_STORAGE, .name = "L", .count = 16};
    struct yaml_doc doc;
    enum dse_status status;

    memset(err, 0, sizeof *err);
    assert_int_equal(yaml_parse(&doc, "a.yaml", attributes, strlen(attributes), err), DSE_OK);
    component.doc = &doc;
    component.node = component.attributes = doc.root;
    status = timeloop_storage_build(&component, class_name, level, fixed, err);
    yaml_doc_free(&doc);
    return status;
}

static struct storage_level good(const char *class_name, const char *attributes)
{
    struct storage_level level;
    struct dse_error err;
    bool fixed;

    if (build(class_name, attributes, &level, &fixed, &err) != DSE_OK)
        fail_msg("%s: %s", attributes, err.text);
    return level;
}

static void test_timeloop_storage_has_timeloops_defaults(void **state)
{
    struct storage_level level = good("SRAM", "{entries: 100}");

    (void)state;
    assert_int_equal(level.word_bit, 16);
    assert_int_equal(level.block_word, 1);
    assert_int_equal(level.cluster_size, 1);
    assert_int_equal(level.size_word, 100);
    assert_true(level.multiple_buffering == 1.0 && level.min_utilization == 0.0);
    assert_int_equal(level.instances, 16);
    assert_int_equal(level.mesh_x, 16);
    assert_int_equal(level.mesh_y, 1);
    assert_true(isinf(level.shared_bandwidth_word_per_cycle));
    assert_true(level.hop_energy_j == 0.0 && level.address_energy_j == 0.0 && level.reduces);
}

static void test_timeloop_storage_width_gives_block_or_cluster(void **state)
{
    struct storage_level level;

    (void)state;
    level = good("SRAM", "{entries: 64, word-bits: 8, width: 64}"); /* neither: 8 words in a block */
    assert_int_equal(level.block_word, 8);
    assert_int_equal(level.cluster_size, 1);
    level = good("SRAM", "{entries: 64, word_width: 8, block_size: 2, memory_width: 64}"); /* 64 / (8 * 2) */
    assert_int_equal(level.block_word, 2);
    assert_int_equal(level.cluster_size, 4);
    level =
        good("SRAM", "{entries: 64, datawidth: 8, cluster-size: 2, data_storage_width: 64}"); /* 64 / 2 / 8 */
    assert_int_equal(level.block_word, 4);
    assert_int_equal(level.cluster_size, 2);
    level = good("SRAM", "{entries: 64, word-bits: 8, n_words: 4, cluster-size: 2, width: 64}");
    assert_int_equal(level.block_word, 4);
}

static void test_timeloop_storage_size_has_three_spellings(void **state)
{
    (void)state;
    assert_int_equal(good("SRAM", "{depth: 10, block-size: 4}").size_word, 40);
    assert_int_equal(good("SRAM", "{memory_depth: 10, width: 32}").size_word, 20);
    assert_int_equal(good("SRAM", "{data_storage_depth: 10}").size_word, 10);
    assert_int_equal(good("SRAM", "{sizeKB: 3, word-bits: 24}").size_word, 1024); /* 3 * 8192 / 24 */
    assert_int_equal(good("SRAM", "{entries: 40, depth: 10, block-size: 4}").size_word, 40); /* they agree */
    assert_true(good("DRAM", "{word-bits: 8}").size_word == ARCH_UNLIMITED);
}

static void test_timeloop_storage_mesh_follows_meshx_or_meshy(void **state)
{
    struct storage_level level;

    (void)state;
    level = good("SRAM", "{entries: 1, meshX: 8}");
    assert_int_equal(level.mesh_y, 2);
    level = good("SRAM", "{entries: 1, meshY: 8}");
    assert_int_equal(level.mesh_x, 2);
    level = good("SRAM", "{entries: 1, instances: 12, meshX: 3, meshY: 4}");
    assert_int_equal(level.instances, 12);
}

static void test_timeloop_storage_energies_and_bandwidths(void **state)
{
    struct storage_level level;
    struct dse_error err;
    bool fixed = false;

    (void)state;
    assert_int_equal(
        build("SRAM", "{entries: 8, vector-access-energy: 2, addr-gen-energy: 0.02}", &level, &fixed, &err),
        DSE_OK);
    assert_true(fixed);
    assert_true(fabs(level.read_energy_j - 2e-12) < 1e-24 && fabs(level.update_energy_j - 2e-12) < 1e-24);
    assert_true(fabs(level.address_energy_j - 0.02e-12) < 1e-26);
    /* W = 8*4*2 = 64 bit, H = ceil(102/4) = 26, x = 64*26/8192, energy (5/99.5*(x - 0.5) + 1) * 64 / 16 / 2
     * pJ */
    level = good("regfile", "{entries: 102, word-bits: 8, block-size: 4, cluster-size: 2}");
    assert_true(fabs(level.read_energy_j - (5 / 99.5 * (64 * 26 / 8192.0 - 0.5) + 1) * 2e-12) < 1e-24);
    assert_int_equal(build("SRAM", "{word-bits: 8}", &level, &fixed, &err), DSE_OK);
    assert_true(!fixed && isnan(level.read_energy_j)); /* only an ERT can say */
    level = good("SRAM", "{entries: 1, bandwidth: 6, write_bandwidth: 5, shared_bandwidth: 7.5}");
    assert_true(level.read_bandwidth_word_per_cycle == 3.0 && level.write_bandwidth_word_per_cycle == 5.0);
    assert_true(level.shared_bandwidth_word_per_cycle == 7.5);
}

static void test_timeloop_storage_network_below(void **state)
{
    struct storage_level level;

    (void)state;
    level =
        good("SRAM",
             "{entries: 1, energy-per-hop: 0.5, router-energy: 0.25, energy-per-ingress: 2, wire-energy: 9,"
             " network_fill_latency: 7, network_drain_latency: 5, reduction_supported: False}");
    assert_true(fabs(level.hop_energy_j - 0.5e-12) < 1e-24);
    assert_true(fabs(level.router_energy_j - 0.25e-12) < 1e-24);
    assert_true(fabs(level.ingress_energy_j - 2e-12) < 1e-24);
    assert_int_equal(level.fill_latency_cycle, 7);
    assert_int_equal(level.drain_latency_cycle, 5);
    assert_false(level.reduces);
    /* 8 bit * 500 um / 1000 * 0.1 pJ per bit and mm = 0.4 pJ */
    level =
        good("SRAM", "{entries: 1, word-bits: 16, network-word-bits: 8, wire-energy: 0.1, tile-width: 500}");
    assert_true(fabs(level.hop_energy_j - 0.4e-12) < 1e-24);
    assert_false(good("SRAM", "{entries: 1, technology: DRAM}").reduces);
    assert_true(good("DRAM", "{reduction_supported: true}").reduces);
}

static void test_timeloop_storage_refuses_bad_attributes(void **state)
{
    static const char *const cases[][3] = {
        {"SRAM", "{entries: 0}", "at least one word"},
        {"SRAM", "{entries: -4}", "-4"},
        {"SRAM", "{entries: 1.5}", "1.5"},
        {"SRAM", "{entries: 16 KB}", "16 KB"},
        {"SRAM", "{sizeKB: nan}", "nan"},
        {"SRAM", "{entries: 8, depth: 9}", "another attribute gives 8"},
        {"SRAM", "{entries: 8, word-bits: 0}", "word-bits"},
        {"SRAM", "{entries: 8, word-bits: 8, datawidth: 16}", "two spellings"},
        {"SRAM", "{entries: 8, word-bits: 16, width: 24}", "width"},
        {"SRAM", "{entries: 8, word-bits: 16, width: 8}", "width"},
        {"SRAM", "{entries: 8, block-size: 2, cluster-size: 2, width: 128}", "makes 64"},
        {"SRAM", "{entries: 8, meshX: 3}", "does not divide"},
        {"SRAM", "{entries: 8, meshX: 3, meshY: 4}", "makes 12"},
        {"SRAM", "{entries: 8, cluster-size: 32}", "only 16 instances"},
        {"DRAM", "{cluster-size: 2}", "must be 1"},
        {"SRAM", "{entries: 8, read_bandwidth: 0}", "greater than 0"},
        {"SRAM", "{entries: 8, read_bandwidth: inf}", "inf"},
        {"SRAM", "{entries: 8, vector-access-energy: -1}", "-1"},
        {"SRAM", "{entries: 8, multiple-buffering: 0}", "greater than 0"},
        {"SRAM", "{entries: 8, min-utilization: 1.5}", "min-utilization"},
        {"DRAM", "{min-utilization: 0.5}", "no size"},
        {"SRAM", "{entries: 8, wire-energy: 1}", "tile-width"},
        {"SRAM", "{entries: 8, reduction_supported: 2}", "reduction_supported"},
        {"SRAM", "{entries: 8, network-type: '1:M'}", "distributed multicast"},
        {"SRAM", "{entries: 8, network_read: noc}", "networks"},
        {"SRAM", "{entries: 8, metadata_word_bits: 4}", "sparsity"},
        {"SRAM", "{entries: 8, allow_overbooking: true}", "overbooking"},
        {"SRAM", "{entires: 8}", "did you mean \"entries\""},
        {"SRAM", "{entries: 8, energy: 3}", "unknown attribute of L \"energy\""},
    };
    struct storage_level level;
    struct dse_error err;
    bool fixed;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(build(cases[i][0], cases[i][1], &level, &fixed, &err), DSE_BAD_INPUT);
        if (strstr(err.text, cases[i][2]) == NULL || err.line != 1)
            fail_msg("%s: line %d \"%s\" lacks \"%s\"", cases[i][1], err.line, err.text, cases[i][2]);
    }
}

static void test_timeloop_storage_accepts_attributes_without_effect(void **state)
{
    (void)state;
    good("SRAM", "{entries: 8, technology: 45nm, num-ports: 2, num-banks: 4, n_rd_ports: 1, n_wr_ports: 1, "
                 "n_rdwr_ports: 0, cycle_time: 1ns, type: LPDDR4, latency: 5ns}");
}

static enum dse_status build_mac(const char *attributes, struct mac_array *mac, struct dse_error *err)
{
    struct timeloop_component component = {.kind = TIMELOOP_MAC, .name = "MAC", .count = 16};
    struct yaml_doc doc;
    enum dse_status status;
    bool fixed;

    assert_int_equal(yaml_parse(&doc, "a.yaml", attributes, strlen(attributes), err), DSE_OK);
    component.doc = &doc;
    component.node = component.attributes = doc.root;
    status = timeloop_mac_build(&component, mac, &fixed, err);
    yaml_doc_free(&doc);
    return status;
}

static void test_timeloop_storage_mac_energy_is_whole_pj(void **state)
{
    struct mac_array mac;
    struct dse_error err;

    (void)state;
    assert_int_equal(build_mac("{meshX: 4, datawidth: 8}", &mac, &err), DSE_OK);
    assert_true(fabs(mac.energy_j - 0.25e-12) < 1e-24); /* (8/16)^2 */
    assert_int_equal(mac.mesh_y, 4);
    assert_int_equal(build_mac("{energy: 2}", &mac, &err), DSE_OK);
    assert_true(fabs(mac.energy_j - 2e-12) < 1e-24);
    /* invalid/13 of the reference: Timeloop stops with "bad conversion" */
    assert_int_equal(build_mac("{energy: 0.56}", &mac, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "whole pJ"));
    assert_non_null(strstr(err.text, "ERT"));
    assert_int_equal(build_mac("{energy: -1}", &mac, &err), DSE_BAD_INPUT);
    assert_int_equal(build_mac("{entries: 4}", &mac, &err), DSE_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeloop_storage_has_timeloops_defaults),
        cmocka_unit_test(test_timeloop_storage_width_gives_block_or_cluster),
        cmocka_unit_test(test_timeloop_storage_size_has_three_spellings),
        cmocka_unit_test(test_timeloop_storage_mesh_follows_meshx_or_meshy),
        cmocka_unit_test(test_timeloop_storage_energies_and_bandwidths),
        cmocka_unit_test(test_timeloop_storage_network_below),
        cmocka_unit_test(test_timeloop_storage_refuses_bad_attributes),
        cmocka_unit_test(test_timeloop_storage_accepts_attributes_without_effect),
        cmocka_unit_test(test_timeloop_storage_mac_energy_is_whole_pj),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
