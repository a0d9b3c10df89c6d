/* Architecture files of Interstellar's authors. The values are those of the files themselves (their
 * repository at commit ed38e1e: 3_level_mem_baseline_asic, 4_level_mem_opt, and two with memories side by
 * side). Tests: json_architecture.c, json_memories.c, json_explore.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "base/units.h"
#include "costmodel/interstellar_json/interstellar_json.h"
#include "costmodel/model/problem.h"
#include "costmodel/readers/readers.h"

/* One key a line, so that errors have lines of their own: "mem_levels" is on line 2. */
static const char *const three[] = {"\"mem_levels\": 3",
                                    "\"capacity\": [512, 131072, 1073741824]",
                                    "\"access_cost\": [0.96, 20, 200]",
                                    "\"static_cost\": [0, 0, 0]",
                                    "\"parallel_count\": [256, 1, 1]",
                                    "\"parallel_cost\": [0.035]",
                                    "\"precision\": 16"};
enum { N_THREE = sizeof three / sizeof three[0] };

/* The three-level file with line `at` (2: the first key; 0: none) replaced, and `more` at its end. */
static void make_doc(struct yaml_doc *doc, int at, const char *line, const char *more)
{
    struct text_buffer text;
    struct dse_error err;
    text_init(&text);
    text_append(&text, "{\n");
    for (int i = 0; i < N_THREE; i++)
        text_append(&text, "\t%s,\n", i + 2 == at ? line : three[i]);
    text_append(&text, "\t%s\n}\n", more); /* line 9 */
    if (yaml_parse(doc, "a/eyeriss-1.json", text.data, text.length, &err) != DSE_OK)
        fail_msg("%s", err.text);
    text_free(&text);
}

static struct architecture build_text(const char *json, const struct arch_override *set, size_t n_set)
{
    struct architecture arch;
    struct yaml_doc doc;
    struct dse_error err;
    assert_int_equal(yaml_parse(&doc, "m.json", json, strlen(json), &err), DSE_OK);
    assert_true(interstellar_is_architecture(&doc));
    if (architecture_build(&doc, set, n_set, &arch, &err) != DSE_OK)
        fail_msg("line %d: %s", err.line, err.text);
    yaml_doc_free(&doc);
    return arch;
}

static struct architecture build(int at, const char *line, const char *more, const struct arch_override *set,
                                 size_t n_set)
{
    struct architecture arch;
    struct yaml_doc doc;
    struct dse_error err;
    make_doc(&doc, at, line, more);
    assert_true(interstellar_is_architecture(&doc));
    if (architecture_build(&doc, set, n_set, &arch, &err) != DSE_OK)
        fail_msg("line %d: %s", err.line, err.text);
    yaml_doc_free(&doc);
    return arch;
}

static double picojoules(const char *number)
{
    char text[64];
    double value = 0;
    struct dse_error err;
    snprintf(text, sizeof text, "%s pJ", number);
    assert_int_equal(quantity_parse(text, UNIT_JOULE, "x", &value, &err), DSE_OK);
    return value;
}

static void test_three_levels(void **state)
{
    (void)state;
    struct architecture arch = build(0, NULL, "\"mac_capacity\": 0", NULL, 0);
    const struct storage_level *rf = &arch.level[0], *sram = &arch.level[1], *dram = &arch.level[2];
    assert_int_equal(arch.n_level, 3);
    assert_string_equal(arch.name, "eyeriss-1");
    assert_string_equal(rf->name, "RF");
    assert_string_equal(sram->name, "SRAM");
    assert_string_equal(dram->name, "DRAM");
    assert_int_equal(rf->size_word, 256);
    assert_int_equal(sram->size_word, 65536);
    assert_true(dram->size_word == ARCH_UNLIMITED);
    assert_true(rf->read_energy_j == picojoules("0.96") && rf->update_energy_j == rf->read_energy_j);
    assert_true(dram->write_energy_j == picojoules("200"));
    assert_int_equal(rf->mesh_x, 16);
    assert_int_equal(rf->mesh_y, 16);
    assert_int_equal(sram->instances, 1);
    assert_true(sram->hop_energy_j == picojoules("0.035") && dram->hop_energy_j == 0);
    assert_int_equal(sram->link, ARRAY_SYSTOLIC);
    assert_true(rf->min_utilization == 0.5 && sram->min_utilization == 0.5 && dram->min_utilization == 0);
    assert_int_equal(rf->word_bit, 16);
    assert_int_equal(arch.mac.instances, 256);
    assert_true(arch.mac.energy_j == picojoules("0.075") && arch.mac.capacity == 0); /* Table 3 */
    assert_true(arch.clock_hz == 400e6 && isinf(sram->shared_bandwidth_word_per_cycle));
    assert_true(!arch.no_replication && arch.utilization_threshold == 0 && rf->n_part == 0);
}

static void test_other_keys(void **state)
{
    (void)state;
    struct architecture arch =
        build(0, NULL,
              "\"parallel_mode\": [2, 0, 0], \"array_dim\": [1, 1, 1], \"mac_capacity\": 1, "
              "\"replication\": false, \"utilization_threshold\": 0.75, "
              "\"invalid_underutilized\": false, "
              "\"memory_partitions\": [[0, 0, 0], [0, 0, null], [0, 0, 0]]",
              NULL, 0);
    assert_int_equal(arch.level[1].link, ARRAY_BROADCAST);
    assert_int_equal(arch.level[0].mesh_x, 256);
    assert_int_equal(arch.level[0].mesh_y, 1);
    assert_int_equal(arch.mac.capacity, 1);
    assert_true(arch.no_replication && arch.utilization_threshold == 0.75);
    assert_true(arch.level[0].min_utilization == 0 && arch.level[1].min_utilization == 0);
    assert_int_equal(arch.level[1].keep_role, 1u << TENSOR_INPUT | 1u << TENSOR_OUTPUT);
}

static void test_four_levels(void **state)
{
    (void)state;
    struct architecture arch = build_text(
        "{\"mem_levels\":4,\"capacity\":[16,128,262144,1073741824],\"access_cost\":[0.03,0.24,30.75,200],"
        "\"parallel_count\":[1,256,1,1],\"parallel_cost\":[0.035],\"precision\":16,"
        "\"memory_partitions\":[[0,0,0],[0,0,0],[0,0,0],[0,0,0]]}",
        NULL, 0);
    static const char *const name[] = {"RF1", "RF2", "SRAM", "DRAM"};
    for (int l = 0; l < 4; l++)
        assert_string_equal(arch.level[l].name, name[l]);
    assert_int_equal(arch.level[0].instances, 256);
    assert_int_equal(arch.level[1].instances, 256);
    assert_int_equal(arch.level[2].instances, 1);
    assert_int_equal(arch.level[0].size_word, 8);
    assert_true(arch.level[2].hop_energy_j == picojoules("0.035") && arch.level[1].hop_energy_j == 0);
}

/* Lists of memories, one in the innermost level for each tensor; a list of one is one memory of its own. */
static void test_memories(void **state)
{
    (void)state;
    struct architecture arch =
        build_text("{mem_levels: 3, capacity: [[32, 64, 256], [131072], [1073741824]], "
                   "access_cost: [[0.06, 0.12, 0.48], [20], [200]], parallel_count: [256, 1, 1], "
                   "parallel_cost: [0.035], precision: 16, "
                   "memory_partitions: [[0, 1, 2], [0, 0, null], [0, 0, 0]]}",
                   NULL, 0);
    const struct storage_level *rf = &arch.level[0], *sram = &arch.level[1];
    assert_int_equal(rf->n_part, 3);
    assert_int_equal(rf->part_of[TENSOR_INPUT], 0);
    assert_int_equal(rf->part_of[TENSOR_OUTPUT], 1);
    assert_int_equal(rf->part_of[TENSOR_WEIGHT], 2);
    assert_int_equal(rf->part[2].size_word, 128);
    assert_true(rf->part[1].access_energy_j == picojoules("0.12"));
    assert_int_equal(sram->n_part, 1);
    assert_int_equal(sram->part[0].size_word, 65536);
    assert_int_equal(sram->keep_role, 1u << TENSOR_INPUT | 1u << TENSOR_OUTPUT);
    assert_int_equal(arch.level[2].n_part, 0); /* the outermost is never full */
    assert_true(arch.level[2].size_word == ARCH_UNLIMITED &&
                arch.level[2].read_energy_j == picojoules("200"));
}

static void test_overrides(void **state)
{
    (void)state;
    static const struct arch_override set[] = {{"clock", "1 GHz"},         {"SRAM.bandwidth", "8 word/cycle"},
                                               {"RF.capacity", "64 B"},    {"RF.access_energy", "1 pJ"},
                                               {"PE.mesh", "8x8"},         {"RF.min_utilization", "0"},
                                               {"DRAM.capacity", "28 MiB"}};
    struct architecture arch = build(0, NULL, "\"mac_capacity\": 0", set, sizeof set / sizeof set[0]);
    struct yaml_doc doc;
    struct dse_error err;
    int unit = 0;
    assert_true(arch.clock_hz == 1e9 && arch.level[1].shared_bandwidth_word_per_cycle == 8);
    assert_int_equal(arch.level[0].size_word, 32);
    assert_true(arch.level[0].read_energy_j == picojoules("1"));
    assert_int_equal(arch.mac.instances, 64);
    assert_int_equal(arch.level[2].size_word, 14680064);
    make_doc(&doc, 0, NULL, "\"mac_capacity\": 0");
    assert_int_equal(architecture_path_unit(&doc, "SRAM.capacity", &unit, &err), DSE_OK);
    assert_int_equal(unit, UNIT_BYTE);
    assert_int_equal(architecture_path_unit(&doc, "SRAM.capcity", &unit, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "did you mean \"SRAM.capacity\""));
    yaml_doc_free(&doc);
}

static void test_explore(void **state)
{
    (void)state;
    struct yaml_doc doc;
    struct dse_error err;
    struct interstellar_explore explore;
    make_doc(&doc, 0, NULL,
             "\"explore_points\": [5, 4], \"capacity_scale\": [2, 2], \"access_cost_scale\": [2, 1.5]");
    assert_int_equal(interstellar_explore_read(&doc, &explore, &err), DSE_OK);
    assert_int_equal(explore.n_level, 2);
    assert_int_equal(explore.n_point[0], 5);
    assert_int_equal(explore.n_point[1], 4);
    assert_true(explore.capacity_scale[1] == 2 && explore.access_cost_scale[1] == 1.5);
    yaml_doc_free(&doc);
    make_doc(&doc, 0, NULL, "\"mac_capacity\": 0");
    assert_int_equal(interstellar_explore_read(&doc, &explore, &err), DSE_OK);
    assert_int_equal(explore.n_level, 0);
    yaml_doc_free(&doc);
}

/* Each fault gets its line and what would be right. */
static void test_faults(void **state)
{
    (void)state;
    static const struct {
        int at, line; /* which line is replaced (0: none), and which is to blame */
        const char *text, *words;
    } bad[] = {
        {2, 2, "\"mem_levels\": 0", "mem_levels"},
        {2, 2, "\"mem_levels\": 17", "16"},
        {2, 2, "\"mem_levels\": [3]", "mem_levels"},
        {2, 3, "\"mem_levels\": 4", "capacity has 3 entries, but mem_levels is 4"},
        {2, 2, "\"precision \": 3", "precision "},
        {3, 3, "\"capacity\": [512, 131072]", "capacity has 2 entries"},
        {3, 3, "\"capacity\": [0, 131072, 1]", "capacity[0]"},
        {3, 3, "\"capacity\": [1, 131072, 1]", "less than one word"},
        {3, 3, "\"capacity\": [a, 131072, 1]", "capacity[0]"},
        {3, 3, "\"capacity\": 512", "capacity must be a list"},
        {3, 4, "\"capacity\": [[512], 131072, 1]", "both a list"},
        {4, 4, "\"access_cost\": [0.96, 20]", "access_cost has 2 entries"},
        {4, 4, "\"access_cost\": [-1, 20, 200]", "access_cost[0]"},
        {5, 5, "\"static_cost\": [0]", "static_cost has 1 entries"},
        {6, 6, "\"parallel_count\": [200, 1, 1]", "write 196 or 225"},
        {6, 6, "\"parallel_count\": [200, 1, 1]", "array_dim 1"},
        {6, 6, "\"parallel_count\": [0, 1, 1]", "parallel_count[0]"},
        {6, 6, "\"parallel_count\": [1, 1, 4]", "outermost level is an array"},
        {6, 7, "\"parallel_count\": [4, 4, 1]", "parallel_cost has 1 entries, but 2 levels are arrays"},
        {7, 7, "\"parallel_cost\": [0.035, 1]", "parallel_cost has 2 entries, but 1 levels"},
        {7, 7, "\"parallel_cost\": 0.035", "parallel_cost must be a list"},
        {7, 1, "\"parallel_mode\": [1, 0, 0]", "parallel_cost"},
        {8, 8, "\"precision\": 12", "multiple of 8"},
        {8, 8, "\"precison\": 16", "did you mean \"precision\""},
        {0, 9, "\"parallel_mode\": [0, 0, 0]", "free with a parallel_cost of 0"},
        {0, 9, "\"parallel_mode\": [3, 0, 0]", "parallel_mode[0]"},
        {0, 9, "\"parallel_mode\": [1, 0]", "parallel_mode has 2 entries"},
        {0, 9, "\"array_dim\": [3, 1, 1]", "array_dim[0]"},
        {0, 9, "\"mac_capacity\": 2", "mac_capacity"},
        {0, 9, "\"replication\": maybe", "replication"},
        {0, 9, "\"utilization_threshold\": 2", "utilization_threshold"},
        {0, 9, "\"bandwidth\": 2", "bandwidth"},
        {0, 9, "\"memory_partitions\": [[0, 0, 0], [0, 0, 0]]", "2 rows, but mem_levels is 3"},
        {0, 9, "\"memory_partitions\": [[0, 0], [0, 0, 0], [0, 0, 0]]", "memory_partitions[0] has 2 entries"},
        {0, 9, "\"memory_partitions\": [[0, 1, 0], [0, 0, 0], [0, 0, 0]]", "memory_partitions[0][1]"},
        {0, 9, "\"memory_partitions\": [[0, 0, 0], [0, 0, 0], [0, 0, null]]", "holds the weights too"},
        {0, 9, "\"memory_partitions\": [[null, null, null], [0, 0, 0], [0, 0, 0]]", "leave the level out"},
        {0, 1, "\"explore_points\": [5, 4]", "capacity_scale is missing"},
        {0, 9, "\"explore_points\": [5, 4], \"capacity_scale\": [2], \"access_cost_scale\": [2, 2]",
         "capacity_scale has 1 entries"},
        {0, 9, "\"explore_points\": [5, 0], \"capacity_scale\": [2, 2], \"access_cost_scale\": [2, 2]",
         "explore_points[1]"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct architecture arch;
        struct yaml_doc doc;
        struct dse_error err;
        make_doc(&doc, bad[i].at, bad[i].text, bad[i].at ? "\"mac_capacity\": 0" : bad[i].text);
        assert_int_equal(architecture_build(&doc, NULL, 0, &arch, &err), DSE_BAD_INPUT);
        if (err.line != bad[i].line || !strstr(err.text, bad[i].words))
            fail_msg("%zu (%s): line %d, expected %d and \"%s\": %s", i, bad[i].text, err.line, bad[i].line,
                     bad[i].words, err.text);
        yaml_doc_free(&doc);
    }
}

/* What the authors' program reads without a word: a fourth level that costs nothing. */
static void test_four_levels_need_four_rows(void **state)
{
    (void)state;
    static const char head[] =
        "{mem_levels: 4, capacity: [16, 128, 262144, 1073741824], access_cost: [1, 2, 3, "
        "200], parallel_count: [1, 256, 1, 1], parallel_cost: [1], precision: 16";
    static const char *const tail[] = {"}", ",\nmemory_partitions: [[0, 0, 0], [0, 0, 0], [0, 0, 0]]}"};
    static const char *const words[] = {"write 4 rows", "3 rows, but mem_levels is 4"};
    for (int i = 0; i < 2; i++) {
        char json[400];
        struct architecture arch;
        struct yaml_doc doc;
        struct dse_error err;
        snprintf(json, sizeof json, "%s%s", head, tail[i]);
        assert_int_equal(yaml_parse(&doc, "m.json", json, strlen(json), &err), DSE_OK);
        assert_int_equal(architecture_build(&doc, NULL, 0, &arch, &err), DSE_BAD_INPUT);
        assert_int_equal(err.line, i + 1);
        assert_non_null(strstr(err.text, words[i]));
        assert_non_null(strstr(err.text, "charges nothing"));
        yaml_doc_free(&doc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_levels), cmocka_unit_test(test_other_keys),
        cmocka_unit_test(test_four_levels),  cmocka_unit_test(test_memories),
        cmocka_unit_test(test_overrides),    cmocka_unit_test(test_explore),
        cmocka_unit_test(test_faults),       cmocka_unit_test(test_four_levels_need_four_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
