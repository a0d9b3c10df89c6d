/* The shipped architectures read, and hold the numbers of their sources. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"
#include "costmodel/native/architecture_native.h"
#include "costmodel/readers/readers.h"

#define FOLDER "experiments/architectures"
enum { WEIGHTS = 1 << TENSOR_WEIGHT, INPUTS = 1 << TENSOR_INPUT, OUTPUTS = 1 << TENSOR_OUTPUT, ALL = 7 };

static void near_to(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.12g, expected %.12g", value, expected);
}

/* Read `name` with up to one override (path NULL: none). */
static struct architecture load(const char *name, const char *path, const char *value)
{
    char file[256], text[1024];
    struct yaml_doc doc;
    struct dse_error err;
    struct architecture arch;
    struct arch_override override = {path, value};
    snprintf(file, sizeof file, FOLDER "/%s.yaml", name);
    if (yaml_read(&doc, file, &err) != DSE_OK)
        fail_msg("%s", dse_error_print(&err, text, sizeof text));
    if (architecture_build(&doc, &override, path != NULL, &arch, &err) != DSE_OK)
        fail_msg("%s", dse_error_print(&err, text, sizeof text));
    yaml_doc_free(&doc);
    return arch;
}

static const struct storage_level *level(const struct architecture *arch, const char *name)
{
    int l = architecture_find_level(arch, name);
    if (l < 0)
        fail_msg("%s has no %s", arch->name, name);
    return &arch->level[l];
}

static void test_files_all_read_under_their_own_name(void **state)
{
    (void)state;
    int n_file = 0;
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char name[128];
        char *dot = text_copy(name, sizeof name, entry->d_name) ? strstr(name, ".yaml") : NULL;
        if (!dot)
            continue;
        *dot = '\0';
        struct architecture arch = load(name, NULL, NULL);
        assert_string_equal(arch.name, name);
        assert_false(arch.link_transfers); /* off unless said, in all native files */
        assert_true(arch.level[arch.n_level - 1].is_dram);
        assert_int_equal(arch.level[arch.n_level - 1].size_word, ARCH_UNLIMITED);
        n_file++;
    }
    closedir(folder);
    assert_int_equal(n_file, 16);
}

/* CoSA Table V and the authors' file: 16 PEs, 1024 MACs; instances 1024, 128, 128, 16, 1, 1 from the inside
 * out. */
static void test_files_simba_has_table_v(void **state)
{
    (void)state;
    struct architecture arch = load("simba", NULL, NULL);
    static const struct {
        const char *name;
        uint64_t size_word, instances, mesh_x;
        uint32_t word_bit, block_word, cluster_size, keep_role;
    } expected[] = {
        {"Registers", 1, 1024, 32, 8, 1, 64, WEIGHTS},
        {"AccumulationBuffer", 128, 128, 32, 24, 1, 8, OUTPUTS},
        {"WeightBuffer", 4096, 128, 32, 8, 8, 1, WEIGHTS},
        {"InputBuffer", 8192, 16, 4, 8, 8, 1, INPUTS},
        {"GlobalBuffer", 131072, 1, 1, 8, 8, 1, INPUTS | OUTPUTS},
        {"DRAM", ARCH_UNLIMITED, 1, 1, 8, 64, 1, ALL},
    };
    assert_int_equal(arch.n_level, 6);
    for (uint32_t l = 0; l < 6; l++) {
        const struct storage_level *at = &arch.level[l];
        assert_string_equal(at->name, expected[l].name);
        assert_true(at->size_word == expected[l].size_word);
        assert_int_equal(at->instances, expected[l].instances);
        assert_int_equal(at->mesh_x, expected[l].mesh_x);
        assert_int_equal(at->mesh_y * at->mesh_x, at->instances);
        assert_int_equal(at->word_bit, expected[l].word_bit);
        assert_int_equal(at->block_word, expected[l].block_word);
        assert_int_equal(at->cluster_size, expected[l].cluster_size);
        assert_int_equal(at->keep_role, expected[l].keep_role);
    }
    assert_int_equal(arch.mac.instances, 1024);
    assert_string_equal(level(&arch, "GlobalBuffer")->array, "PE");
    assert_string_equal(arch.level[1].array, "Vector");
    assert_string_equal(arch.level[0].array, "");
    near_to(level(&arch, "DRAM")->shared_bandwidth_word_per_cycle, 20, 1e-12); /* 20 words per cycle */
    assert_true(isinf(level(&arch, "DRAM")->read_bandwidth_word_per_cycle));
    near_to(level(&arch, "DRAM")->read_energy_j, 6400e-12, 1e-12); /* 200 pJ * 8 * 64 / 16 */
    near_to(arch.mac.energy_j, 0.25e-12, 1e-12);                   /* (8/16)^2 */
}

/* The public table of Timeloop v3.0.3 (docs/timeloop.md, "Attributes that count"), written out. */
static double table_pj(const struct storage_level *at)
{
    double width = (double)at->word_bit * at->block_word * at->cluster_size;
    double rows = ceil((double)at->size_word / at->block_word);
    double x = width * rows / 8192;
    return ((x - 0.5) * (5 / 99.5) + 1) * width / 16 / at->cluster_size;
}

static void test_files_simba_energies_follow_the_public_table_at_every_capacity(void **state)
{
    (void)state;
    static const char *const path[][2] = {{"GlobalBuffer", "64 KiB"},     {"GlobalBuffer", "128 KiB"},
                                          {"GlobalBuffer", "1 MiB"},      {"InputBuffer", "16 KiB"},
                                          {"WeightBuffer", "8 KiB"},      {"AccumulationBuffer", "256 word"},
                                          {"AccumulationBuffer", "384 B"}};
    for (size_t i = 0; i < sizeof path / sizeof path[0]; i++) {
        char full[64];
        snprintf(full, sizeof full, "%s.capacity", path[i][0]);
        struct architecture arch = load("simba", full, path[i][1]);
        const struct storage_level *at = level(&arch, path[i][0]);
        near_to(at->read_energy_j * 1e12, table_pj(at), 1e-8);
        near_to(at->update_energy_j * 1e12, table_pj(at), 1e-8);
    }
    struct architecture arch = load("simba", NULL, NULL);
    for (uint32_t l = 0; l < 5; l++)
        near_to(arch.level[l].write_energy_j * 1e12, table_pj(&arch.level[l]), 1e-8);
}

/* CoSA section V-B.4: 4 times the PEs, twice the DRAM bandwidth; local buffers doubled, global buffer 8
 * times. */
static void test_files_simba_variants(void **state)
{
    (void)state;
    struct architecture big = load("simba_8x8", NULL, NULL);
    assert_int_equal(big.mac.instances, 4096);
    near_to(level(&big, "DRAM")->shared_bandwidth_word_per_cycle, 40, 1e-12);
    struct architecture base = load("simba", "PE.mesh", "8x8");
    base.level[5].shared_bandwidth_word_per_cycle = 40;
    assert_true(architecture_hash(&base) == architecture_hash(&big));
    struct architecture large = load("simba_large_buffer", NULL, NULL);
    assert_int_equal(level(&large, "GlobalBuffer")->size_word, 1048576);
    assert_int_equal(level(&large, "InputBuffer")->size_word, 16384);
    assert_int_equal(level(&large, "WeightBuffer")->size_word, 8192);
    assert_int_equal(level(&large, "AccumulationBuffer")->size_word, 256);
    assert_int_equal(level(&large, "Registers")->size_word, 1);
    near_to(level(&large, "GlobalBuffer")->read_energy_j * 1e12, table_pj(level(&large, "GlobalBuffer")),
            1e-8);
}

static void test_files_eyeriss(void **state)
{
    (void)state;
    /* Eyeriss JSSC 2017: 168 PEs, 108 KB, 224 filter words; ISCA 2016 Table IV: 200 : 6 : 2 : 1. */
    struct architecture chip = load("eyeriss_12x14", NULL, NULL);
    assert_int_equal(chip.mac.instances, 168);
    assert_int_equal(chip.mac.mesh_x, 14);
    assert_int_equal(level(&chip, "GlobalBuffer")->size_word, 55296);
    assert_int_equal(level(&chip, "WeightSpad")->size_word, 224);
    near_to(level(&chip, "DRAM")->read_energy_j / level(&chip, "DRAM")->block_word, 200e-12, 1e-12);
    near_to(level(&chip, "GlobalBuffer")->read_energy_j / 4, 6e-12, 1e-12);
    near_to(level(&chip, "GlobalBuffer")->hop_energy_j, 2e-12, 1e-12);
    /* Interstellar's baseline file: 512 B 0.96 pJ, 128 KB 20 pJ, 256 PEs, DRAM 200 pJ, hop 0.035 pJ, 16
     * bit. */
    struct architecture base = load("eyeriss_16x16", NULL, NULL);
    assert_int_equal(base.mac.instances, 256);
    assert_int_equal(level(&base, "RegisterFile")->size_word, 256);
    near_to(level(&base, "RegisterFile")->read_energy_j, 0.96e-12, 1e-12);
    near_to(level(&base, "GlobalBuffer")->read_energy_j, 20e-12, 1e-12);
    near_to(level(&base, "GlobalBuffer")->hop_energy_j, 0.035e-12, 1e-12);
    /* Table 3: 64 B costs 0.12 pJ; an SRAM of twice the size costs 1.5 times as much. */
    struct architecture small = load("eyeriss_16x16", "RegisterFile.capacity", "64 B");
    near_to(level(&small, "RegisterFile")->read_energy_j, 0.12e-12, 1e-12);
    struct architecture twice = load("eyeriss_16x16", "GlobalBuffer.capacity", "256 KiB");
    near_to(level(&twice, "GlobalBuffer")->write_energy_j, 30e-12, 1e-9);
}

static void test_files_tpu_and_mindmappings(void **state)
{
    (void)state;
    struct architecture tpu = load("tpu_128x128", NULL, NULL);
    assert_int_equal(tpu.mac.instances, 16384);
    assert_int_equal(level(&tpu, "RegisterFile")->size_word, 4);                /* 8 B */
    assert_int_equal(level(&tpu, "GlobalBuffer")->size_word, 32768);            /* 64 KB */
    assert_int_equal(level(&tpu, "UnifiedBuffer")->size_word, 14680064);        /* 28 MB */
    near_to(level(&tpu, "DRAM")->shared_bandwidth_word_per_cycle, 37.5, 1e-12); /* 30 GB/s / 2 B / 400 MHz */
    /* 512 KiB and 64 KiB in 16 banks; 8.8 pJ per 4 words, 2.24 pJ per word; 16 and 2 words per cycle. */
    struct architecture cnn = load("mindmappings", NULL, NULL);
    assert_int_equal(cnn.mac.instances, 256);
    assert_int_equal(cnn.level[3].size_word + cnn.level[4].size_word + cnn.level[5].size_word, 16 * 16384);
    assert_int_equal(cnn.level[0].size_word + cnn.level[1].size_word + cnn.level[2].size_word, 16 * 2048);
    assert_string_equal(cnn.level[0].name, "InputRegFile");
    assert_string_equal(cnn.level[5].name, "InputBuffer");
    near_to(cnn.level[4].read_energy_j, 8.8e-12, 1e-12);
    near_to(cnn.level[1].read_energy_j, 2.24e-12, 1e-12);
    near_to(cnn.level[3].read_bandwidth_word_per_cycle, 16, 0);
    near_to(cnn.level[2].write_bandwidth_word_per_cycle, 2, 0);
    struct architecture einsum = load("mindmappings_mttkrp", NULL, NULL);
    assert_int_equal(einsum.level[2].size_word + einsum.level[3].size_word, 16 * 16384);
    assert_int_equal(einsum.level[0].size_word + einsum.level[1].size_word, 16 * 8192);
}

/* The reference page's per-byte energies of the edge chip (section a), and its factor 1.1^floor(bytes / 2
 * MiB). */
static void test_files_soma(void **state)
{
    (void)state;
    struct architecture edge = load("soma_edge", NULL, NULL), cloud = load("soma_cloud", NULL, NULL);
    assert_int_equal(edge.mac.instances, 8192);   /* 16 TOPS */
    assert_int_equal(cloud.mac.instances, 65536); /* 128 TOPS */
    assert_int_equal(level(&edge, "GBUF")->size_word, 8 << 20);
    assert_int_equal(level(&cloud, "GBUF")->size_word, 32 << 20);
    near_to(level(&edge, "DRAM")->shared_bandwidth_word_per_cycle, 16, 1e-12);
    near_to(level(&cloud, "DRAM")->shared_bandwidth_word_per_cycle, 128, 1e-12);
    near_to(level(&edge, "GBUF")->read_energy_j, 1.52588502e-12, 1e-9);
    near_to(level(&edge, "GBUF")->update_energy_j, (1.644652812 + 0.537485751 + 0.695652474) * 1e-12, 1e-9);
    near_to(level(&edge, "AL1")->read_energy_j, 2.24871e-12, 1e-9);
    near_to(level(&edge, "WL1")->write_energy_j, 0.50589e-12, 1e-9);
    near_to(level(&edge, "OL1")->read_energy_j, 0.284592e-12, 1e-9);
    struct architecture wide = load("soma_edge", "GBUF.capacity", "32 MiB");
    near_to(level(&wide, "GBUF")->read_energy_j, level(&cloud, "GBUF")->read_energy_j, 1e-9);
    struct architecture odd = load("soma_edge", "GBUF.capacity", "5 MiB"); /* floor(2.5) = 2: f = 1.21 */
    near_to(level(&odd, "GBUF")->read_energy_j, 0.217125 * 4.8 * 1.21 * 1e-12, 1e-9);
}

/* The same machine in Timeloop's format (with its equal thirds of each buffer and its link transfers) is the
 * same. */
static void test_files_mindmappings_equals_its_timeloop_form(void **state)
{
    (void)state;
    static const struct arch_override override[] = {{"InputBuffer.capacity", "87380 word"},
                                                    {"WeightBuffer.capacity", "87380 word"},
                                                    {"PsumBuffer.capacity", "87380 word"},
                                                    {"InputRegFile.capacity", "10922 word"},
                                                    {"WeightRegFile.capacity", "10922 word"},
                                                    {"PsumRegFile.capacity", "10922 word"},
                                                    {"link_transfers", "on"}};
    struct architecture native, timeloop;
    struct yaml_doc doc;
    struct dse_error err;
    int unit = 0;
    assert_int_equal(yaml_read(&doc, FOLDER "/mindmappings.yaml", &err), DSE_OK);
    assert_int_equal(architecture_build(&doc, override, 7, &native, &err), DSE_OK);
    yaml_doc_free(&doc);
    assert_int_equal(yaml_read(&doc, "tests/known/timeloop/archs/mindmappings256.yaml", &err), DSE_OK);
    assert_int_equal(architecture_build(&doc, NULL, 0, &timeloop, &err), DSE_OK);
    for (uint32_t l = 0; l < native.n_level; l++) {
        struct storage_level *at = &native.level[l];
        const struct storage_level *other = &timeloop.level[l];
        at->keep_role = other->keep_role; /* in Timeloop the mapping says who keeps what */
        near_to(at->read_energy_j, other->read_energy_j, 1e-15); /* equal but for the rounding of x 1e-12 */
        near_to(at->write_energy_j, other->write_energy_j, 1e-15);
        near_to(at->update_energy_j, other->update_energy_j, 1e-15);
        at->read_energy_j = other->read_energy_j;
        at->write_energy_j = other->write_energy_j;
        at->update_energy_j = other->update_energy_j;
    }
    near_to(native.mac.energy_j, timeloop.mac.energy_j, 1e-15);
    native.mac.energy_j = timeloop.mac.energy_j;
    assert_true(native.strict_fanout && !timeloop.strict_fanout);
    native.strict_fanout = false;
    assert_true(architecture_hash(&native) == architecture_hash(&timeloop));
    struct arch_override wide = {"InputBuffer.depth", "32768"};
    assert_int_equal(architecture_build(&doc, &wide, 1, &timeloop, &err), DSE_OK);
    assert_int_equal(level(&timeloop, "InputBuffer")->size_word, 4 * 32768);
    assert_int_equal(architecture_path_unit(&doc, "InputBuffer.depth", &unit, &err), DSE_OK);
    assert_int_equal(unit, -1);
    assert_int_equal(architecture_path_unit(&doc, "InputBufer.depth", &unit, &err), DSE_BAD_INPUT);
    yaml_doc_free(&doc);
}

/* A small fully connected layer with all its loops at the outermost level fits and has a finite cost
 * everywhere. */
static void test_files_can_all_be_evaluated(void **state)
{
    (void)state;
    static const char *const name[] = {
        "simba",         "simba_8x8",    "simba_large_buffer",  "eyeriss_12x14",
        "eyeriss_16x16", "mindmappings", "mindmappings_mttkrp", "tpu_128x128",
        "soma_edge",     "soma_cloud",   "simba_fused"};
    struct problem problem = {
        .name = "fc", .n_dim = 2, .dim_name = {"C", "K"}, .bound = {8, 4}, .n_tensor = 3};
    struct tensor weights = {.name = "Weights", .role = TENSOR_WEIGHT, .n_rank = 2};
    struct tensor inputs = {.name = "Inputs", .role = TENSOR_INPUT, .n_rank = 1};
    struct tensor outputs = {.name = "Outputs", .role = TENSOR_OUTPUT, .read_write = true, .n_rank = 1};
    weights.rank[0] = (struct tensor_rank){.n_term = 1, .term = {{.dim = 0, .coefficient = 1}}};
    weights.rank[1] = (struct tensor_rank){.n_term = 1, .term = {{.dim = 1, .coefficient = 1}}};
    inputs.rank[0] = weights.rank[0];
    outputs.rank[0] = weights.rank[1];
    problem.tensor[0] = weights;
    problem.tensor[1] = inputs;
    problem.tensor[2] = outputs;
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        struct architecture arch = load(name[i], NULL, NULL);
        struct evaluator *evaluator = NULL;
        struct evaluation_detail detail;
        struct mapping mapping;
        struct arena arena;
        struct dse_error err;
        arena_init(&arena);
        if (evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, &err) != DSE_OK)
            fail_msg("%s: %s", name[i], err.text);
        mapping_init(&mapping, &problem, &arch);
        if (evaluator_detail(evaluator, &mapping, &arena, &detail, &err) != DSE_OK)
            fail_msg("%s: %s", name[i], err.text);
        assert_int_equal(detail.total.fit.what, FITS);
        assert_true(detail.total.latency_cycle >= 32); /* 8 * 4 multiply-accumulates, one at a time */
        assert_true(detail.total.energy_j > 32 * arch.mac.energy_j && detail.total.energy_j < 1e-6);
        evaluator_delete(evaluator);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_all_read_under_their_own_name),
        cmocka_unit_test(test_files_simba_has_table_v),
        cmocka_unit_test(test_files_simba_energies_follow_the_public_table_at_every_capacity),
        cmocka_unit_test(test_files_simba_variants),
        cmocka_unit_test(test_files_eyeriss),
        cmocka_unit_test(test_files_tpu_and_mindmappings),
        cmocka_unit_test(test_files_soma),
        cmocka_unit_test(test_files_mindmappings_equals_its_timeloop_form),
        cmocka_unit_test(test_files_can_all_be_evaluated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
