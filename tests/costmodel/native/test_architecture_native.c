/* The native format: values, defaults, overrides, energy rules, and what is said about bad input.
 * Tests: architecture_assemble.c, architecture_schema.c, architecture_values.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/problem.h"
#include "costmodel/native/architecture_native.h"
#include "costmodel/readers/readers.h"

/* Line numbers count in the tests below. */
static const char *const good_line[] = {
    "architecture: tiny",                                 /* 1 */
    "clock: 500 MHz",                                     /* 2 */
    "hierarchy:",                                         /* 3 */
    "- storage: DRAM",                                    /* 4 */
    "  kind: dram",                                       /* 5 */
    "  word: 8 bit",                                      /* 6 */
    "  block: 64 word",                                   /* 7 */
    "  bandwidth: 16 GB/s",                               /* 8 */
    "  access_energy: 512 pJ",                            /* 9 */
    "- storage: Buffer",                                  /* 10 */
    "  word: 16 bit",                                     /* 11 */
    "  capacity: 128 KiB",                                /* 12 */
    "  read_energy: 8 pJ",                                /* 13 */
    "  write_energy: 10 pJ",                              /* 14 */
    "  energy_rule: {reference: 128 KiB, exponent: 0.5}", /* 15 */
    "  read_bandwidth: 4 GB/s",                           /* 16 */
    "  keeps: [Inputs, Outputs]",                         /* 17 */
    "- array: PE",                                        /* 18 */
    "  mesh: 4x2",                                        /* 19 */
    "  hop_energy: 35 fJ",                                /* 20 */
    "  fill_latency: 3 cycles",                           /* 21 */
    "- storage: RegFile",                                 /* 22 */
    "  kind: register",                                   /* 23 */
    "  word: 16 bit",                                     /* 24 */
    "  capacity: 64 word",                                /* 25 */
    "  cluster: 8",                                       /* 26 */
    "  multiple_buffering: 2",                            /* 27 */
    "  access_energy: 0.1 pJ",                            /* 28 */
    "- macs: MAC",                                        /* 29 */
    "  word: 16 bit",                                     /* 30 */
    "  energy: 0.2 pJ",                                   /* 31 */
};
enum { N_LINE = sizeof good_line / sizeof good_line[0] };

/* Parse the good file with line `at` (1-based; 0: none) replaced by `line`, which may hold several lines or
 * none. */
static void make_doc(struct yaml_doc *doc, int at, const char *line)
{
    struct text_buffer text;
    struct dse_error err;
    text_init(&text);
    for (int i = 1; i <= N_LINE; i++)
        if (i != at)
            text_append(&text, "%s\n", good_line[i - 1]);
        else if (line)
            text_append(&text, "%s\n", line);
    if (yaml_parse(doc, "tiny.yaml", text.data, text.length, &err) != DSE_OK)
        fail_msg("%s", err.text);
    text_free(&text);
}

static struct architecture build(int at, const char *line, const struct arch_override *override,
                                 size_t n_override)
{
    struct yaml_doc doc;
    struct architecture arch;
    struct dse_error err;
    make_doc(&doc, at, line);
    if (architecture_build(&doc, override, n_override, &arch, &err) != DSE_OK)
        fail_msg("line %d: %s", err.line, err.text);
    yaml_doc_free(&doc);
    return arch;
}

static struct architecture build_set(const char *path, const char *value)
{
    struct arch_override override = {path, value};
    return build(0, NULL, &override, 1);
}

static void near_to(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g, expected %.17g", value, expected);
}

static void test_native_converts_units(void **state)
{
    (void)state;
    struct architecture arch = build(0, NULL, NULL, 0);
    const struct storage_level *dram = &arch.level[2], *buffer = &arch.level[1], *reg = &arch.level[0];
    assert_string_equal(arch.name, "tiny");
    near_to(arch.clock_hz, 5e8);
    assert_false(arch.link_transfers);
    assert_int_equal(arch.n_level, 3);
    assert_string_equal(dram->name, "DRAM");
    assert_true(dram->is_dram);
    assert_int_equal(dram->block_word, 64);
    assert_true(dram->size_word == ARCH_UNLIMITED);
    near_to(dram->shared_bandwidth_word_per_cycle, 32); /* 16e9 B/s * 8 / 8 bit / 5e8 Hz */
    near_to(dram->read_energy_j, 512e-12);
    near_to(dram->update_energy_j, 512e-12);
    assert_int_equal(buffer->size_word, 65536);        /* 128 KiB of 2 B */
    near_to(buffer->read_bandwidth_word_per_cycle, 4); /* 4e9 * 8 / 16 / 5e8 */
    assert_true(isinf(buffer->write_bandwidth_word_per_cycle));
    assert_true(isinf(buffer->shared_bandwidth_word_per_cycle));
    near_to(buffer->read_energy_j, 8e-12);
    near_to(buffer->write_energy_j, 10e-12);
    near_to(buffer->update_energy_j, 10e-12);
    assert_int_equal(buffer->keep_role, 1 << TENSOR_INPUT | 1 << TENSOR_OUTPUT);
    assert_string_equal(buffer->array, "PE");
    near_to(buffer->hop_energy_j, 35e-15);
    assert_int_equal(buffer->fill_latency_cycle, 3);
    assert_int_equal(buffer->drain_latency_cycle, 0);
    assert_int_equal(reg->size_word, 64);
    assert_int_equal(reg->cluster_size, 8);
    assert_int_equal(architecture_usable_words(reg), 32);
    assert_int_equal(reg->mesh_x, 4);
    assert_int_equal(reg->mesh_y, 2);
    assert_string_equal(arch.mac.name, "MAC");
    assert_int_equal(arch.mac.instances, 8);
    near_to(arch.mac.energy_j, 0.2e-12);
}

static void test_native_defaults(void **state)
{
    (void)state;
    struct architecture arch = build(0, NULL, NULL, 0);
    assert_false(arch.level[2].reduces); /* a dram does not */
    assert_true(arch.level[1].reduces);
    assert_int_equal(arch.level[0].keep_role, 7);
    assert_int_equal(arch.level[1].block_word, 1);
    assert_int_equal(arch.level[1].cluster_size, 1);
    near_to(arch.level[1].multiple_buffering, 1);
    assert_true(arch.level[0].min_utilization == 0);
    assert_true(arch.level[0].hop_energy_j == 0);
}

static void test_native_accepts_other_ways_to_write(void **state)
{
    (void)state;
    struct architecture arch = build(19, "  mesh: 4 x 2", NULL, 0);
    assert_int_equal(arch.mac.mesh_x, 4);
    arch = build(8, "  bandwidth: 12 word/cycle", NULL, 0);
    near_to(arch.level[2].shared_bandwidth_word_per_cycle, 12);
    arch = build(8, "  bandwidth: unlimited", NULL, 0);
    assert_true(isinf(arch.level[2].shared_bandwidth_word_per_cycle));
    arch = build(25, "  capacity: unlimited", NULL, 0);
    assert_true(arch.level[0].size_word == ARCH_UNLIMITED);
    arch = build(25, "  capacity: 1001 B", NULL, 0); /* half a word is left unused */
    assert_int_equal(arch.level[0].size_word, 500);
    arch = build(2, "clock: 500 MHz\nlink_transfers: on", NULL, 0);
    assert_true(arch.link_transfers);
    arch = build(28, "  access_energy: 0 pJ", NULL, 0);
    assert_true(arch.level[0].read_energy_j == 0);
    arch = build(17, "  keeps: [Weights]\n  reduces: no", NULL, 0);
    assert_int_equal(arch.level[1].keep_role, 1 << TENSOR_WEIGHT);
    assert_false(arch.level[1].reduces);
}

static void test_native_arrays_multiply_what_is_below(void **state)
{
    (void)state;
    struct architecture arch = build(29, "- array: Lane\n  mesh: 3x5\n- macs: MAC", NULL, 0);
    assert_int_equal(arch.mac.mesh_x, 12);
    assert_int_equal(arch.mac.mesh_y, 10);
    assert_int_equal(arch.mac.instances, 120);
    assert_int_equal(arch.level[0].instances, 8);
    assert_string_equal(arch.level[0].array, "Lane");
}

static void test_native_overrides_by_path(void **state)
{
    (void)state;
    struct architecture arch = build_set("PE.mesh", "8x8");
    assert_int_equal(arch.mac.instances, 64);
    arch = build_set("clock", "1 GHz"); /* a bandwidth in bytes is fewer words per cycle at a faster clock */
    near_to(arch.level[2].shared_bandwidth_word_per_cycle, 16);
    arch = build_set("DRAM.bandwidth", "4 GB/s");
    near_to(arch.level[2].shared_bandwidth_word_per_cycle, 8);
    arch = build_set("MAC.energy", "1 pJ");
    near_to(arch.mac.energy_j, 1e-12);
    arch = build_set("link_transfers", "on");
    assert_true(arch.link_transfers);
    arch = build_set("RegFile.min_utilization", "0.25"); /* not in the file */
    near_to(arch.level[0].min_utilization, 0.25);
    arch = build_set("RegFile.keeps", "[Weights, Outputs]");
    assert_int_equal(arch.level[0].keep_role, 1 << TENSOR_WEIGHT | 1 << TENSOR_OUTPUT);
    arch = build_set("RegFile.keeps", "Inputs");
    assert_int_equal(arch.level[0].keep_role, 1 << TENSOR_INPUT);
    struct arch_override twice[] = {{"PE.mesh", "8x8"}, {"PE.mesh", "2x4"}};
    arch = build(0, NULL, twice, 2);
    assert_int_equal(arch.mac.instances, 8); /* the later one wins */
}

static void test_native_general_overrides_replace_separate_values(void **state)
{
    (void)state;
    struct architecture arch = build_set("Buffer.access_energy", "3 pJ");
    near_to(arch.level[1].read_energy_j, 3e-12);
    near_to(arch.level[1].write_energy_j, 3e-12);
    arch = build_set("Buffer.bandwidth", "8 GB/s");
    assert_true(isinf(arch.level[1].read_bandwidth_word_per_cycle));
    near_to(arch.level[1].shared_bandwidth_word_per_cycle, 8);
}

static void test_native_energy_rule_follows_the_overridden_capacity(void **state)
{
    (void)state;
    struct architecture arch = build_set("Buffer.capacity", "512 KiB");
    near_to(arch.level[1].read_energy_j, 16e-12); /* 8 pJ * sqrt(4) */
    near_to(arch.level[1].write_energy_j, 20e-12);
    arch = build_set("Buffer.capacity", "16384 word"); /* 32 KiB: a quarter */
    near_to(arch.level[1].read_energy_j, 4e-12);
    struct arch_override both[] = {{"Buffer.capacity", "256 KiB"}, {"Buffer.energy_rule.exponent", "1"}};
    arch = build(0, NULL, both, 2);
    near_to(arch.level[1].read_energy_j, 16e-12);
    struct arch_override wide = {"Buffer.capacity", "512 KiB"};
    arch = build(15, "  energy_rule: {reference: 128 KiB, exponent: 1, fixed: 0.25}", &wide, 1);
    near_to(arch.level[1].read_energy_j, 8e-12 * 3.25); /* 0.25 + 0.75 * 4 */
    arch = build(15, "  energy_rule: {reference: 128 KiB, step: 100 KiB, factor: 1.5}", &wide, 1);
    near_to(arch.level[1].read_energy_j, 8e-12 * 1.5 * 1.5 * 1.5 * 1.5); /* floor(5.12) - floor(1.28) */
}

static void test_native_path_units(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int unit;
    } expected[] = {{"Buffer.capacity", UNIT_BYTE},
                    {"DRAM.bandwidth", UNIT_BYTE_PER_S},
                    {"clock", UNIT_HERTZ},
                    {"MAC.energy", UNIT_JOULE},
                    {"PE.fill_latency", UNIT_CYCLE},
                    {"DRAM.word", UNIT_BIT},
                    {"PE.mesh", -1},
                    {"link_transfers", -1},
                    {"RegFile.multiple_buffering", -1},
                    {"Buffer.energy_rule.reference", UNIT_BYTE},
                    {"gpu.registers_per_block", UNIT_BYTE},
                    {"gpu.thread_dims", -1}};
    struct yaml_doc doc;
    struct dse_error err;
    make_doc(&doc, 0, NULL);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        int unit = -2;
        assert_int_equal(architecture_path_unit(&doc, expected[i].path, &unit, &err), DSE_OK);
        assert_int_equal(unit, expected[i].unit);
    }
    int unit = 0;
    assert_int_equal(architecture_path_unit(&doc, "Buffer.capcity", &unit, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "did you mean \"Buffer.capacity\""));
    yaml_doc_free(&doc);
}

/* A file that is refused: line `at` replaced by `line`; the message blames `blame` and has all of `words` in
 * it. */
struct bad_file {
    int at;
    const char *line;
    int blame;
    const char *word[3];
};

static const struct bad_file bad_file[] = {
    /* numbers and units */
    {12, "  capacity: 128", 12, {"Buffer.capacity", "no unit", "128 KiB"}},
    {12, "  capacity: 128 pJ", 12, {"Buffer.capacity", "pJ", "KiB"}},
    {12, "  capacity: 128 KB", 12, {"Buffer.capacity", "did you mean KiB"}},
    {12, "  capacity: 128 KiB spare", 12, {"Buffer.capacity", "KiB spare"}},
    {12, "  capacity: nan", 12, {"Buffer.capacity", "nan", "unlimited"}},
    {12, "  capacity: 0 KiB", 12, {"Buffer.capacity", "0 KiB", "more than 0"}},
    {12, "  capacity: 1 B", 12, {"Buffer.capacity", "less than one word", "16 bit"}},
    {12, "  capacity: -1 KiB", 12, {"Buffer.capacity", "negative"}},
    {12, "  capacity: [128 KiB]", 12, {"Buffer.capacity", "list"}},
    {12, "  capacity:", 12, {"Buffer.capacity", "empty"}},
    {12, "  capacity: 1e9 TiB", 12, {"Buffer.capacity", "out of range", "1024 TiB"}},
    {12, "  capacity: 128 KiB\n  block: 128 KiB", 13, {"Buffer.block", "KiB", "word"}},
    {12, "  capacity: 4 word\n  block: 8 word", 12, {"Buffer.capacity", "4 words", "one block of 8"}},
    {12, "  capacity: 1 word\n  multiple_buffering: 2", 12, {"Buffer.capacity", "leaves none"}},
    {8, "  bandwidth: 16 GHz", 8, {"DRAM.bandwidth", "GHz", "word/cycle"}},
    {8, "  bandwidth: 0 GB/s", 8, {"DRAM.bandwidth", "more than 0"}},
    {9, "  access_energy: -512 pJ", 9, {"DRAM.access_energy", "negative"}},
    {9, "  access_energy: 512 J", 9, {"DRAM.access_energy", "out of range"}},
    {9, "  access_energy: inf pJ", 9, {"DRAM.access_energy", "inf pJ"}},
    {2, "clock: 0 Hz", 2, {"clock", "0"}},
    {6, "  word: 8.5 bit", 6, {"DRAM.word", "whole"}},
    {6, "  word: 8", 6, {"DRAM.word", "no unit"}},
    {21, "  fill_latency: 1.5 cycle", 21, {"PE.fill_latency", "whole"}},
    {27, "  multiple_buffering: 2 words", 27, {"RegFile.multiple_buffering", "plain"}},
    {27, "  multiple_buffering: 0.5", 27, {"RegFile.multiple_buffering", "out of range"}},
    {27, "  min_utilization: 1.5", 27, {"RegFile.min_utilization", "from 0 to 1"}},
    {26, "  cluster: 3", 26, {"RegFile.cluster", "does not divide", "8 instances"}},
    {26, "  cluster: 1.5", 26, {"RegFile.cluster", "whole"}},
    /* meshes */
    {19, "  mesh: 0x4", 19, {"PE.mesh", "0x4", "from 1"}},
    {19, "  mesh: 16", 19, {"PE.mesh", "16", "columns x rows"}},
    {19, "  mesh: 4x4x4", 19, {"PE.mesh", "4x4x4"}},
    {19, "  mesh: [4, 4]", 19, {"PE.mesh", "list"}},
    {19, "  mesh: 1000000x1000000", 19, {"PE.mesh", "instances"}},
    {19, "  mesh: -4x4", 19, {"PE.mesh", "not a mesh"}},
    /* words */
    {5, "  kind: drum", 5, {"DRAM.kind", "drum", "did you mean \"dram\""}},
    {17, "  keeps: [Inputs, Wieghts]", 17, {"Buffer.keeps", "Wieghts", "did you mean \"Weights\""}},
    {17, "  keeps: []", 17, {"Buffer.keeps", "empty"}},
    {17, "  keeps: [Inputs, Inputs]", 17, {"Buffer.keeps", "twice"}},
    {17, "  keeps: Inputs", 17, {"Buffer.keeps", "must be a list"}},
    {9, "  access_energy: 1 pJ\n  keeps: [Weights]", 10, {"DRAM", "outermost", "must keep"}},
    {17, "  reduces: perhaps", 17, {"Buffer.reduces", "perhaps", "on, off"}},
    {10, "- storage: Big Buffer", 10, {"storage", "Big Buffer", "letters"}},
    {10, "- storage: DRAM", 10, {"DRAM", "line 4", "must differ"}},
    {18, "- array: RegFile", 22, {"RegFile", "array in line 18"}},
    {1, "architecture: ~", 1, {"architecture", "empty"}},
    /* keys */
    {12, "  capcity: 128 KiB", 12, {"storage Buffer", "capcity", "did you mean \"capacity\""}},
    {12, "  capacity: 128 KiB\n  mesh: 4x4", 13, {"storage Buffer", "\"mesh\""}},
    {2, "clock: 1 GHz\nflit: 64 bit", 3, {"flit", "accepted"}},
    {15, "  energy_rule: {reference: 128 KiB, exponents: 0.5}", 15, {"Buffer.energy_rule", "\"exponent\""}},
    {2, NULL, 1, {"required key", "\"clock\""}},
    {11, NULL, 10, {"storage Buffer", "required key", "\"word\""}},
    {30, NULL, 29, {"macs MAC", "required key", "\"word\""}},
    {19, NULL, 18, {"array PE", "required key", "\"mesh\""}},
    {12, NULL, 10, {"Buffer", "capacity", "unlimited"}},
    {9, NULL, 4, {"DRAM", "energy of an access", "access_energy"}},
    {14, NULL, 10, {"Buffer", "energy of a write"}},
    {16, "  bandwidth: 1 GB/s\n  read_bandwidth: 1 GB/s", 17, {"Buffer", "both", "read_bandwidth"}},
    /* energy rules */
    {15, "  energy_rule: {exponent: 0.5}", 15, {"Buffer.energy_rule", "\"reference\""}},
    {15, "  energy_rule: {reference: 1 KiB}", 15, {"Buffer.energy_rule", "\"exponent\""}},
    {15, "  energy_rule: {reference: 1 KiB, exponent: 1, step: 1 KiB, factor: 2}", 15, {"mixes"}},
    {15, "  energy_rule: {reference: 1 KiB, step: 1 KiB}", 15, {"\"factor\""}},
    {15, "  energy_rule: 0.5", 15, {"Buffer.energy_rule", "mapping"}},
    {12, "  capacity: unlimited", 15, {"Buffer.energy_rule", "unlimited"}},
    /* order */
    {4, "- array: Outer\n  mesh: 2x2\n- storage: DRAM", 4, {"begins with", "Outer", "must be a storage"}},
    {18, "- array: Group\n  mesh: 2x2\n- array: PE", 20, {"PE", "directly below array \"Group\"", "merge"}},
    {22,
     "- macs: Early\n  word: 8 bit\n  energy: 1 pJ\n- storage: RegFile",
     22,
     {"Early", "must be the last"}},
    {18, "- aray: PE", 18, {"aray", "did you mean \"array\""}},
    {18, "- array: PE\n  storage: X", 18, {"more than one of"}},
};

static void test_native_bad_files_are_explained(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_file / sizeof bad_file[0]; i++) {
        const struct bad_file *bad = &bad_file[i];
        struct yaml_doc doc;
        struct architecture arch;
        struct dse_error err = {0};
        make_doc(&doc, bad->at, bad->line);
        enum dse_status status = architecture_build(&doc, NULL, 0, &arch, &err);
        if (status != DSE_BAD_INPUT || strcmp(err.file, "tiny.yaml") != 0)
            fail_msg("case %zu (%s): status %d, %s:%d: %s", i, bad->line, status, err.file, err.line,
                     err.text);
        for (int w = 0; w < 3 && bad->word[w]; w++)
            if (!strstr(err.text, bad->word[w]))
                fail_msg("case %zu: \"%s\" lacks \"%s\"", i, err.text, bad->word[w]);
        if (err.line != bad->blame)
            fail_msg("case %zu: blames line %d, not %d: %s", i, err.line, bad->blame, err.text);
        yaml_doc_free(&doc);
    }
}

static void test_native_bad_whole_files(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *word;
    } bad[] = {
        {"- a\n- b\n", "mapping"},
        {"just text\n", "mapping"},
        {"architecture: a\nclock: 1 GHz\n", "\"hierarchy\""},
        {"architecture: a\nclock: 1 GHz\nhierarchy: []\n", "empty"},
        {"architecture: a\nclock: 1 GHz\nhierarchy: {storage: DRAM}\n", "list"},
        {"architecture: a\nclock: 1 GHz\nhierarchy: [storage, macs]\n", "mapping"},
        {"clock: 1 GHz\nhierarchy: []\n", "\"architecture\""},
        {"architecture: a\nclock: 1 GHz\nhierarchy:\n- {storage: DRAM, kind: dram, word: 8 bit, "
         "access_energy: 1 pJ}\n",
         "ends with the storage \"DRAM\"; the innermost entry must be macs"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct yaml_doc doc;
        struct architecture arch;
        struct dse_error err;
        assert_int_equal(yaml_parse(&doc, "bad.yaml", bad[i].text, strlen(bad[i].text), &err), DSE_OK);
        assert_int_equal(architecture_build(&doc, NULL, 0, &arch, &err), DSE_BAD_INPUT);
        if (!strstr(err.text, bad[i].word) || strcmp(err.file, "bad.yaml") != 0)
            fail_msg("case %zu: %s: %s", i, err.file, err.text);
        yaml_doc_free(&doc);
    }
    struct architecture arch;
    struct dse_error err;
    assert_int_equal(architecture_read("no/such/file.yaml", &arch, &err), DSE_IO);
    assert_int_equal(architecture_read("experiments", &arch, &err), DSE_IO);
}

static void test_native_too_many_levels_are_a_limit(void **state)
{
    (void)state;
    struct text_buffer text;
    text_init(&text);
    text_append(&text, "architecture: deep\nclock: 1 GHz\nhierarchy:\n");
    for (int l = 0; l < ARCH_LEVEL_MAX + 1; l++)
        text_append(&text, "- {storage: L%d, word: 8 bit, capacity: 1 KiB, access_energy: 1 pJ}\n", l);
    text_append(&text, "- {macs: MAC, word: 8 bit, energy: 1 pJ}\n");
    struct yaml_doc doc;
    struct architecture arch;
    struct dse_error err;
    assert_int_equal(yaml_parse(&doc, "deep.yaml", text.data, text.length, &err), DSE_OK);
    assert_int_equal(architecture_build(&doc, NULL, 0, &arch, &err), DSE_LIMIT);
    assert_int_equal(err.line, 4 + ARCH_LEVEL_MAX); /* the 17th storage */
    yaml_doc_free(&doc);
    text_free(&text);
}

static void test_native_bad_overrides_name_their_origin(void **state)
{
    (void)state;
    static const struct {
        const char *path, *value;
        const char *word[3];
    } bad[] = {
        {"Buffer.capacity", "128", {"Buffer.capacity", "no unit", "axis or --set"}},
        {"Buffer.capacity", "16 GB/s", {"Buffer.capacity", "GB/s", "axis or --set"}},
        {"Buffer.capacity", "1 B", {"less than one word", "axis or --set"}},
        {"DRAM.bandwidth", "16 KiB", {"DRAM.bandwidth", "KiB", "axis or --set"}},
        {"PE.mesh", "0x4", {"PE.mesh", "axis or --set"}},
        {"Buffer.read_energy", "-1 pJ", {"negative", "axis or --set"}},
        {"RegFile.cluster", "5", {"does not divide", "axis or --set"}},
        {"DRAM.read_bandwidth", "1 GB/s", {"both", "axis or --set"}},
        {"DRAM.keeps", "Weights", {"outermost", "axis or --set"}},
        {"link_transfers", "maybe", {"link_transfers", "axis or --set"}},
        {"Bufer.capacity", "1 KiB", {"tiny.yaml", "did you mean \"Buffer.capacity\""}},
        {"Buffer.capacities", "1 KiB", {"did you mean \"Buffer.capacity\""}},
        {"Buffer.mesh", "4x4", {"no quantity \"Buffer.mesh\""}},
        {"Buffer.storage", "X", {"no quantity \"Buffer.storage\""}},
        {"PE", "4x4", {"no quantity \"PE\""}},
        {"", "4x4", {"no quantity"}},
        {"hierarchy", "[]", {"no quantity \"hierarchy\""}},
        {"clok", "1 GHz", {"did you mean \"clock\""}},
        {"RegFile.energy_rule.exponent", "1", {"\"reference\"", "axis or --set"}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct arch_override override = {bad[i].path, bad[i].value};
        struct yaml_doc doc;
        struct architecture arch;
        struct dse_error err;
        make_doc(&doc, 0, NULL);
        if (architecture_build(&doc, &override, 1, &arch, &err) != DSE_BAD_INPUT)
            fail_msg("%s = %s is accepted", bad[i].path, bad[i].value);
        for (int w = 0; w < 3 && bad[i].word[w]; w++)
            if (!strstr(err.text, bad[i].word[w]))
                fail_msg("case %zu: \"%s\" lacks \"%s\"", i, err.text, bad[i].word[w]);
        assert_int_equal(err.line, 0); /* the file is not to blame */
        yaml_doc_free(&doc);
    }
}

static void test_native_hash_ignores_names_and_spelling(void **state)
{
    (void)state;
    struct architecture a = build(0, NULL, NULL, 0);
    uint64_t hash = architecture_hash(&a);
    static const struct {
        int at;
        const char *line;
        bool same;
    } change[] = {
        {1, "# a comment\narchitecture: other\ntitle: t", true},
        {10, "- storage: GLB", true},
        {18, "- array: Tile", true},
        {12, "  capacity: 131072 B", true},
        {12, "  capacity: 65536 word", true},
        {8, "  bandwidth: 32 word/cycle", true},
        {28, "  read_energy: 0.1 pJ\n  write_energy: 100 fJ", true},
        {12, "  capacity: 256 KiB", false},
        {2, "clock: 1 GHz", false},
        {19, "  mesh: 2x4", false},
        {17, "  keeps: [Inputs]", false},
        {20, "  hop_energy: 36 fJ", false},
        {31, "  energy: 0.3 pJ", false},
    };
    for (size_t i = 0; i < sizeof change / sizeof change[0]; i++) {
        struct architecture b = build(change[i].at, change[i].line, NULL, 0);
        if ((architecture_hash(&b) == hash) != change[i].same)
            fail_msg("hash with: %s", change[i].line);
    }
}

static void test_native_finds_every_row_of_the_schema(void **state)
{
    (void)state;
    const struct arch_field *schema = architecture_schema();
    for (int f = 0; f < architecture_n_field(); f++) {
        assert_non_null(schema[f].key);
        assert_true(strlen(schema[f].sentence) > 8);
        assert_int_equal(architecture_schema_find(schema[f].section, schema[f].key), f);
    }
    assert_int_equal(architecture_schema_find(ARCH_ARRAY, "capacity"), -1);
}

/* Two values that row `f` takes, the first for `k` 0. */
static void example(const struct arch_field *row, int k, char *text, size_t size)
{
    const bool open = row->property & ARCH_POSITIVE && row->lowest <= 0; /* zero is no value */
    const double number = open ? row->highest / (2 - k) : row->lowest + k;
    if (row->kind == ARCH_VALUE_SWITCH)
        snprintf(text, size, "%s", k ? "on" : "off");
    else if (row->kind == ARCH_VALUE_CHOICE)
        snprintf(text, size, "%s", row->choice[k]);
    else if (row->unit >= 0)
        quantity_print(number, (enum unit_kind)row->unit, text, size);
    else
        text_double(number, text, size);
}

/* Else searches of different machines would be taken for the same. */
static void test_native_every_number_with_a_place_changes_the_hash(void **state)
{
    (void)state;
    static const char *const entry[ARCH_SECTION_COUNT] = {"", "RegFile.", "PE.", "MAC.", ""};
    const struct arch_field *schema = architecture_schema();
    int n = 0;
    for (int f = 0; f < architecture_n_field(); f++) {
        char path[128], value[64];
        uint64_t hash[2];
        if (schema[f].place.type == ARCH_PLACE_NONE)
            continue;
        snprintf(path, sizeof path, "%s%s", entry[schema[f].section], schema[f].key);
        for (int k = 0; k < 2; k++) {
            example(&schema[f], k, value, sizeof value);
            /* max_area is refused on a machine without any area */
            const struct arch_override both[] = {{path, value}, {"PE.area", "7 um2"}};
            struct architecture arch = build(0, NULL, both, strcmp(path, both[1].path) != 0 ? 2 : 1);
            hash[k] = architecture_hash(&arch);
        }
        if (hash[0] == hash[1])
            fail_msg("the hash does not see %s", path);
        n++;
    }
    assert_true(n > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_native_converts_units),
        cmocka_unit_test(test_native_defaults),
        cmocka_unit_test(test_native_accepts_other_ways_to_write),
        cmocka_unit_test(test_native_arrays_multiply_what_is_below),
        cmocka_unit_test(test_native_overrides_by_path),
        cmocka_unit_test(test_native_general_overrides_replace_separate_values),
        cmocka_unit_test(test_native_energy_rule_follows_the_overridden_capacity),
        cmocka_unit_test(test_native_path_units),
        cmocka_unit_test(test_native_bad_files_are_explained),
        cmocka_unit_test(test_native_bad_whole_files),
        cmocka_unit_test(test_native_too_many_levels_are_a_limit),
        cmocka_unit_test(test_native_bad_overrides_name_their_origin),
        cmocka_unit_test(test_native_hash_ignores_names_and_spelling),
        cmocka_unit_test(test_native_finds_every_row_of_the_schema),
        cmocka_unit_test(test_native_every_number_with_a_place_changes_the_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
