/* Tests: node_machine.c, accounting_maestro_kc.c.
 * What uops know of a machine that is a node of a mesh, against its file by hand; which machines are none. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "costmodel/readers/readers.h"
#include "costmodel/uop/accounting_maestro_kc.h"
#include "costmodel/uop/node_machine.h"

static void read_machine(const char *name, const struct arch_override *set, size_t n,
                         struct architecture *arch)
{
    char path[128];
    struct yaml_doc doc;
    struct dse_error err;
    (void)snprintf(path, sizeof path, "experiments/architectures/%s.yaml", name);
    assert_int_equal(yaml_read(&doc, path, &err), DSE_OK);
    if (architecture_build(&doc, set, n, arch, &err) != DSE_OK)
        fail_msg("%s", err.text);
    yaml_doc_free(&doc);
}

static struct kc_machine make(const char *name, const struct arch_override *set, size_t n,
                              struct core_split *node)
{
    struct architecture arch;
    struct kc_machine m;
    struct dse_error err;
    read_machine(name, set, n, &arch);
    if (node_machine_of(&arch, &m, node, &err) != DSE_OK)
        fail_msg("%s: %s", name, err.text);
    assert_int_equal(accounting_maestro_kc.accepts(&arch, &err), DSE_OK);
    return m;
}

static void check_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g instead of %.17g", value, expected);
}

/* experiments/architectures/simba.yaml: 128 KiB of 8 bit words in blocks of 8 at 29.6281407 pJ; a DRAM with
 * blocks of 64 words at 6400 pJ and 20 words a cycle; 16 PEs of 64 MACs. No network costs anything. */
static void test_simba_is_one_node(void **state)
{
    struct core_split node;
    (void)state;
    const struct kc_machine m = make("simba", NULL, 0, &node);
    assert_int_equal(m.columns, 1);
    assert_int_equal(m.rows, 1);
    assert_int_equal(m.noc.columns * m.noc.rows, 1);
    assert_int_equal(m.noc.flit_bit, 64);
    assert_int_equal(m.n_mac, 1024);
    assert_int_equal(kc_mac_count(&m), 1024);
    assert_int_equal(m.word_byte, 1);
    assert_int_equal(m.sram_word, 128 * 1024);
    assert_int_equal(kc_dram_cycle(&m, 41, false), 3);
    assert_int_equal(kc_dram_cycle(&m, 41, true), 3);
    check_near(m.dram_read_energy_j, 100e-12);
    check_near(m.dram_write_energy_j, 100e-12);
    check_near(m.send_energy_j, 29.62814070e-12 / 8);
    check_near(m.receive_energy_j, 29.62814070e-12 / 8);
    check_near(m.l2_read_energy_j, 29.62814070e-12 / 8);
    assert_true(m.hop_energy_j == 0);
    assert_null(m.pricer.guess); /* the caller's to add */
    /* in the node the buffer holds the weights, too, and is large enough for any tile */
    assert_int_equal(node.streams, 0);
    assert_int_equal(node.core.level[node.home].keep_role & 7U, 7);
    assert_true(node.core.level[node.home].size_word == ARCH_UNLIMITED);
}

static void test_the_mesh_and_its_links_are_the_files(void **state)
{
    static const struct arch_override set[] = {
        {"noc.mesh", "4x2"}, {"noc.flit", "192 bit"}, {"noc.data_flits", "8"}};
    struct core_split node;
    (void)state;
    const struct kc_machine m = make("tpu_128x128", set, 3, &node);
    assert_int_equal(m.columns, 4);
    assert_int_equal(m.rows, 2);
    assert_int_equal(m.noc.columns, 4);
    assert_int_equal(m.noc.rows, 2);
    assert_int_equal(m.noc.flit_bit, 192);
    assert_int_equal(m.noc.data_flits, 8);
    assert_int_equal(m.n_mac, 128 * 128);
}

/* simba_tablev.yaml: 10 GB/s each way at 1 GHz; here 10 and 4. */
static void test_a_dram_with_two_rates(void **state)
{
    static const struct arch_override set[] = {{"DRAM.write_bandwidth", "4 GB/s"}};
    static const struct arch_override none[] = {{"DRAM.bandwidth", "unlimited"}};
    struct core_split node;
    (void)state;
    struct kc_machine m = make("simba_tablev", set, 1, &node);
    assert_int_equal(kc_dram_cycle(&m, 100, false), 10);
    assert_int_equal(kc_dram_cycle(&m, 100, true), 25);
    m = make("simba", none, 1, &node);
    assert_int_equal(kc_dram_cycle(&m, 100, false), 0);
    assert_int_equal(kc_dram_cycle(&m, 100, true), 0);
}

static void test_maestros_machine_stays_maestros(void **state)
{
    struct core_split node;
    (void)state;
    const struct kc_machine m = make("klotski", NULL, 0, &node);
    assert_int_equal(m.n_mac, 0);
    assert_int_equal(kc_mac_count(&m), 12 * 14);
    assert_true(m.send_energy_j == 0 && m.receive_energy_j == 0);
}

/* klotski.yaml with registers that have a bandwidth, which MAESTRO's counts do not know: 5 x 2 accelerators
 * of 12 x 14 PEs, one of which is the node. */
static void test_of_several_chips_one_is_the_node(void **state)
{
    static const struct arch_override set[] = {
        {"Core.mesh", "5x2"}, {"Registers.bandwidth", "2 word/cycle"}, {"noc.mesh", "3x3"}};
    struct core_split node;
    struct architecture arch;
    struct kc_machine m = make("klotski", set, 2, &node);
    struct dse_error err;
    (void)state;
    assert_int_equal(m.columns, 5);
    assert_int_equal(m.rows, 2);
    assert_int_equal(m.n_mac, 168);
    assert_int_equal(m.sram_word, 6000 * 1024 / 4);
    check_near(m.hop_energy_j, 0.07e-12);
    assert_int_equal(architecture_check(&node.core, &err), DSE_OK);
    assert_int_equal(node.core.mac.instances, 168);
    assert_int_equal(node.core.level[node.home].instances, 1);
    assert_int_equal(node.core.level[0].instances, 168);
    read_machine("klotski", set, 3, &arch);
    assert_int_equal(node_machine_of(&arch, &m, &node, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "noc.mesh says another mesh than that of its outermost level"));
}

static void test_what_no_machine_can_do_without(void **state)
{
    static const struct {
        const char *name, *says;
        struct arch_override set;
    } row[] = {
        {"k80", "k80 is no accelerator of a mesh for uops: it is a GPU", {NULL, NULL}},
        {"mindmappings_mttkrp_banks", "keeps tensors by name alone", {NULL, NULL}},
        {"simba", "DRAM needs words of whole bytes, in which uops count", {"DRAM.word", "12 bit"}},
        {"simba", "has a least utilization", {"GlobalBuffer.min_utilization", "0.5"}},
        {"simba",
         "DRAM has a bandwidth of 0.0009 words a cycle; a word in 1024 cycles is the least",
         {"DRAM.bandwidth", "900 kB/s"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct architecture arch;
        struct core_split node;
        struct kc_machine m;
        struct dse_error err;
        read_machine(row[i].name, &row[i].set, row[i].set.path != NULL, &arch);
        assert_int_equal(node_machine_of(&arch, &m, &node, &err), DSE_BAD_INPUT);
        if (!strstr(err.text, row[i].says))
            fail_msg("%s: %s", row[i].says, err.text);
        assert_int_equal(accounting_maestro_kc.accepts(&arch, &err), DSE_BAD_INPUT);
    }
    struct architecture arch;
    struct core_split node;
    struct kc_machine m;
    struct dse_error err;
    read_machine("simba", NULL, 0, &arch);
    arch.level[arch.n_level - 1].is_dram = false;
    assert_int_equal(node_machine_of(&arch, &m, &node, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "it needs a DRAM outside and a memory on the chip"));
}

static void test_a_memory_without_a_limit(void **state)
{
    static const struct arch_override set[] = {{"GlobalBuffer.capacity", "unlimited"}};
    struct core_split node;
    (void)state;
    const struct kc_machine m = make("simba_fused", set, 1, &node);
    assert_true(m.sram_word == ARCH_UNLIMITED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simba_is_one_node),
        cmocka_unit_test(test_the_mesh_and_its_links_are_the_files),
        cmocka_unit_test(test_a_dram_with_two_rates),
        cmocka_unit_test(test_maestros_machine_stays_maestros),
        cmocka_unit_test(test_of_several_chips_one_is_the_node),
        cmocka_unit_test(test_what_no_machine_can_do_without),
        cmocka_unit_test(test_a_memory_without_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
