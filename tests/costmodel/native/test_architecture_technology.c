/* Machines whose energies and areas come from a technology: what technology.h says of each part, what is
 * given by hand wins, axes move both, and what no table covers is said. Tests: architecture_technology.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "costmodel/native/architecture_native.h"
#include "costmodel/readers/readers.h"
#include "costmodel/technology/technology.h"

/* `top`, `dram`, `buffer` and `macs` are what is said besides. */
struct file {
    const char *top, *dram, *buffer, *macs;
};
static const struct file whole = {"technology: 45 nm", "dram: lpddr4", "block: 8 word", "word: 8 bit"};

static enum dse_status try_build(const struct file *file, const char *path, const char *value,
                                 struct architecture *arch, struct dse_error *err)
{
    const struct arch_override set = {path, value};
    struct text_buffer text;
    struct yaml_doc doc;
    text_init(&text);
    text_append(&text,
                "architecture: m\nclock: 1 GHz\n%s\nhierarchy:\n" /* 1 to 4 */
                "- {storage: DRAM, kind: dram, word: 8 bit, block: 64 word, %s}\n"
                "- {storage: Buffer, word: 8 bit, capacity: 128 KiB, %s}\n"
                "- {array: PE, mesh: 4x4}\n"
                "- {storage: File, word: 8 bit, capacity: 64 B}\n"
                "- {macs: MAC, %s}\n",
                file->top, file->dram, file->buffer, file->macs);
    enum dse_status status = yaml_parse(&doc, "m.yaml", text.data, text.length, err);
    if (status != DSE_OK)
        fail_msg("%s", err->text);
    status = architecture_build(&doc, &set, path != NULL, arch, err);
    text_free(&text);
    yaml_doc_free(&doc);
    return status;
}

static struct architecture build(const struct file *file, const char *path, const char *value)
{
    struct architecture arch;
    struct dse_error err;
    if (try_build(file, path, value, &arch, &err) != DSE_OK)
        fail_msg("line %d: %s", err.line, err.text);
    return arch;
}

static void assert_same(const struct storage_level *level, double nm, struct technology_memory memory)
{
    struct technology_cost cost;
    struct dse_error err;
    assert_int_equal(technology_memory_cost(nm, &memory, &cost, &err), DSE_OK);
    assert_true(level->read_energy_j == cost.read_j);
    assert_true(level->write_energy_j == cost.write_j);
    assert_true(level->update_energy_j == cost.write_j);
    assert_true(level->area_mm2 == cost.area_mm2);
    assert_true(level->leakage_w == cost.leakage_w);
    assert_string_equal(level->source, cost.source);
}

static void test_parts_are_those_of_the_technology(void **state)
{
    struct technology_cost mac;
    struct dse_error err;
    (void)state;
    const struct architecture arch = build(&whole, NULL, NULL);
    assert_same(&arch.level[0], 45, (struct technology_memory){64, 8, 1, 1, TECHNOLOGY_LSTP});
    assert_same(&arch.level[1], 45, (struct technology_memory){131072, 64, 1, 1, TECHNOLOGY_LSTP});
    assert_true(fabs(arch.level[2].read_energy_j - 512 * 8e-12) < 1e-20); /* 8 pJ a bit */
    assert_true(arch.level[2].area_mm2 == 0);
    assert_true(arch.level[1].leakage_w > 0 && arch.level[2].leakage_w == 0 && !arch.power_gating);
    assert_int_equal(technology_mac_cost(45, 8, &mac, &err), DSE_OK);
    assert_true(arch.mac.energy_j == mac.read_j && arch.mac.area_mm2 == mac.area_mm2);
    assert_true(fabs(architecture_area_mm2(&arch) -
                     (arch.level[1].area_mm2 + 16 * arch.level[0].area_mm2 + 16 * mac.area_mm2)) < 1e-12);
}

static void test_axes_move_energy_and_area(void **state)
{
    (void)state;
    const struct architecture large = build(&whole, "Buffer.capacity", "1 MiB");
    assert_same(&large.level[1], 45, (struct technology_memory){0x1p20, 64, 1, 1, TECHNOLOGY_LSTP});
    const struct architecture node = build(&whole, "technology", "130 nm");
    assert_same(&node.level[1], 130, (struct technology_memory){131072, 64, 1, 1, TECHNOLOGY_LSTP});
    const struct file special = {whole.top, whole.dram, "block: 8 word, ports: 2, banks: 4", whole.macs};
    const struct architecture hp = build(&special, "Buffer.cell", "hp");
    assert_same(&hp.level[1], 45, (struct technology_memory){131072, 64, 2, 4, TECHNOLOGY_HP});
}

static void test_what_is_given_wins(void **state)
{
    (void)state;
    const struct file by_hand = {"technology: 45 nm\npower_gating: on", "access_energy: 1 nJ, leakage: 3 mW",
                                 "block: 8 word, area: 2 mm2, leakage: 0 W",
                                 "word: 4 bit, energy: 1 pJ, leakage: 4 uW"};
    const struct architecture arch = build(&by_hand, NULL, NULL);
    assert_true(arch.level[2].read_energy_j == 1e-9 && arch.level[2].source == NULL);
    assert_true(arch.level[1].area_mm2 == 2 && arch.level[1].source != NULL);
    assert_true(arch.mac.energy_j == 1e-12 && arch.mac.area_mm2 == 0);
    assert_true(arch.level[2].leakage_w == 3e-3 && arch.level[1].leakage_w == 0);
    assert_true(arch.mac.leakage_w == 4e-6 && arch.power_gating);
    const struct architecture set = build(&whole, "Buffer.access_energy", "3 pJ");
    assert_true(set.level[1].read_energy_j == 3e-12 && set.level[1].area_mm2 == 0);
}

static void test_what_no_table_covers_is_said(void **state)
{
    static const struct {
        struct file file;
        int line;
        const char *words;
    } bad[] = {
        {{"technology: 5 nm", "dram: ddr3", "block: 8 word", "word: 8 bit"}, 3, "5 nm is out of range"},
        {{"technology: 45 nm", "bandwidth: 1 GB/s", "block: 8 word", "word: 8 bit"},
         5,
         "say which DRAM it is, such as \"dram: lpddr4\""},
        {{"technology: 45 nm", "dram: ddr3, ports: 2", "block: 8 word", "word: 8 bit"},
         5,
         "DRAM.ports is of memories on the chip"},
        {{"technology: 45 nm", "dram: ddr3", "block: 2 word", "word: 8 bit"},
         6,
         "storage Buffer lacks its energies, and the table of memories is for accesses of 32 to 1024 bit, "
         "not of "
         "16"},
        {{"technology: 45 nm", "dram: ddr3", "block: 8 word, dram: ddr3", "word: 8 bit"},
         6,
         "Buffer.dram is of a storage of kind dram"},
        {{"technology: 45 nm", "dram: ddr3", "access_energy: 1 pJ, ports: 2", "word: 8 bit"},
         6,
         "Buffer.ports says how a table makes the energies, but these are given"},
        {{"technology: 45 nm", "dram: ddr3", "energy_rule: {reference: 1 KiB, exponent: 1}", "word: 8 bit"},
         6,
         "by technology they follow the capacity"},
        {{"technology: 45 nm", "dram: ddr3", "block: 8 word", "word: 4 bit"},
         9,
         "macs MAC lacks its \"energy\", and the table of multipliers is for 8 to 32 bit, not for 4"},
        {{"title: t", "access_energy: 1 pJ", "access_energy: 1 pJ, cell: hp", "word: 8 bit, energy: 1 pJ"},
         6,
         "the file names no technology; write \"technology: 45 nm\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct architecture arch;
        struct dse_error err;
        assert_int_equal(try_build(&bad[i].file, NULL, NULL, &arch, &err), DSE_BAD_INPUT);
        if (err.line != bad[i].line || !strstr(err.text, bad[i].words))
            fail_msg("%zu: line %d, expected %d and \"%s\": %s", i, err.line, bad[i].line, bad[i].words,
                     err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_are_those_of_the_technology),
        cmocka_unit_test(test_axes_move_energy_and_area),
        cmocka_unit_test(test_what_is_given_wins),
        cmocka_unit_test(test_what_no_table_covers_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
