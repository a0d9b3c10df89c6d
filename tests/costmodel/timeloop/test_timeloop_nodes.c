/* Timeloop v4: machines as written and as the front end dumps them, their constraints, costs and refusals.
 * Tests: timeloop_rules.c. Files and published numbers: tests/known/timeloop_v4/README.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"
#include "engines/mapspace/mapspace_constraints.h"

#define KNOWN "tests/known/timeloop_v4/"

static const char *const machine[] = {"tiles", "spread", "rows"};
enum { MACHINE_COUNT = 3 };

static void read_known(const char *name, const char *form, struct yaml_doc *doc)
{
    struct dse_error err;
    char path[128];
    snprintf(path, sizeof path, KNOWN "%s%s.yaml", name, form);
    if (yaml_read(doc, path, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void build_known(const char *name, const char *form, struct architecture *arch)
{
    struct yaml_doc doc, ert;
    struct dse_error err = {.text = ""};
    read_known(name, form, &doc);
    read_known(name, ".ert", &ert);
    assert_true(timeloop_is_architecture(&doc));
    if (architecture_build_with_tables(&doc, &ert, NULL, NULL, 0, arch, &err) != DSE_OK)
        fail_msg("%s%s: line %d: %s", name, form, err.line, err.text);
    yaml_doc_free(&doc);
    yaml_doc_free(&ert);
}

static void problem_known(const char *name, struct problem *problem)
{
    struct yaml_doc doc;
    struct dse_error err;
    read_known(name, ".layer", &doc);
    assert_int_equal(problem_build(&doc, problem, &err), DSE_OK);
    yaml_doc_free(&doc);
}

/* The published cycles and energies, to the digits that are printed: 0.01 pJ, or eight digits. */
static void expect_published(const char *name, const struct architecture *arch,
                             const struct evaluation *total)
{
    char line[256], which[32], level[64];
    unsigned long long cycles;
    double pj;
    int n = 0;
    FILE *file = fopen(KNOWN "expected.csv", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%31[^,],%llu,%63[^,],%lf", which, &cycles, level, &pj) != 4 ||
            strcmp(which, name) != 0)
            continue;
        const int l = architecture_find_level(arch, level);
        const double energy_j = l >= 0 ? total->level_energy_j[l] : total->energy_mac_j;
        assert_int_equal(total->latency_cycle, cycles);
        if (fabs(energy_j * 1e12 - pj) > 0.006 + 2e-7 * pj)
            fail_msg("%s: %s takes %.4f pJ, published are %.2f", name, level, energy_j * 1e12, pj);
        n++;
    }
    fclose(file);
    assert_true(n >= 3);
}

static void test_timeloop_nodes_cost_what_is_published(void **state)
{
    static const char *const form[] = {"", ".dumped"};
    struct dse_error err;
    (void)state;
    for (int i = 0; i < MACHINE_COUNT * 2; i++) {
        const char *name = machine[i / 2];
        struct architecture arch;
        struct problem problem;
        struct mapping mapping;
        struct evaluator *evaluator;
        struct evaluation_detail detail;
        struct mapspace_constraints constraints;
        struct arena arena;
        char why[256] = "";
        build_known(name, form[i % 2], &arch);
        problem_known(name, &problem);
        if (mapping_read(i / 2 == 0   ? KNOWN "tiles.map.yaml"
                         : i / 2 == 1 ? KNOWN "spread.map.yaml"
                                      : KNOWN "rows.map.yaml",
                         &problem, &arch, &mapping, &err) != DSE_OK)
            fail_msg("%s", err.text);
        arena_init(&arena);
        assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, &err), DSE_OK);
        assert_int_equal(evaluator_detail(evaluator, &mapping, &arena, &detail, &err), DSE_OK);
        assert_int_equal(detail.total.fit.what, FITS);
        expect_published(name, &arch, &detail.total);
        assert_int_equal(mapspace_constraints_read(NULL, NULL, NULL, &problem, &arch, &constraints, &err),
                         DSE_OK);
        if (!mapspace_constraints_keep(&constraints, &problem, &arch, &mapping, why, sizeof why))
            fail_msg("%s%s: %s", name, form[i % 2], why);
        evaluator_delete(evaluator);
        arena_free(&arena);
    }
}

/* As written and as dumped is one machine, whose constraints leave the same mappings: the same factors, sides
 * and tensors wherever a dimension has iterations at all (the dump also orders those that have none). */
static void test_timeloop_nodes_are_what_is_dumped(void **state)
{
    (void)state;
    for (int i = 0; i < MACHINE_COUNT; i++) {
        struct architecture arch[2];
        struct problem problem;
        struct mapspace_constraints c[2];
        struct dse_error err;
        problem_known(machine[i], &problem);
        for (int k = 0; k < 2; k++) {
            build_known(machine[i], k ? ".dumped" : "", &arch[k]);
            assert_int_equal(mapspace_constraints_read(NULL, NULL, NULL, &problem, &arch[k], &c[k], &err),
                             DSE_OK);
            arch[k].rules[0] = '\0';
        }
        assert_true(architecture_hash(&arch[0]) == architecture_hash(&arch[1]));
        for (uint32_t l = 0; l < arch[0].n_level; l++) {
            const struct level_constraints *a = &c[0].level[l], *b = &c[1].level[l];
            assert_string_equal(arch[0].level[l].name, arch[1].level[l].name);
            assert_int_equal(a->keep, b->keep);
            if (!a->is_fanout) /* a dump says of one that it bypasses all, and no tensor lies there anyway */
                assert_int_equal(a->bypass, b->bypass);
            for (uint32_t d = 0; d < problem.n_dim; d++) {
                if (problem.bound[d] == 1)
                    continue;
                assert_int_equal(a->temporal.fixed[d], b->temporal.fixed[d]);
                assert_int_equal(a->spatial.fixed[d], b->spatial.fixed[d]);
                assert_int_equal(a->spatial.highest[d], b->spatial.highest[d]);
                assert_int_equal(a->dims_x >> d & 1, b->dims_x >> d & 1);
                assert_int_equal(a->dims_y >> d & 1, b->dims_y >> d & 1);
            }
        }
    }
}

static enum dse_status build_text(const char *text, const struct arch_override *override, size_t n,
                                  struct architecture *arch, struct dse_error *err)
{
    struct yaml_doc doc;
    memset(err, 0, sizeof *err);
    DSE_TRY(yaml_parse(&doc, "v4.yaml", text, strlen(text), err));
    enum dse_status status = architecture_build(&doc, override, n, arch, err);
    yaml_doc_free(&doc);
    return status;
}

#define NODES "architecture:\n  version: 0.4\n  nodes:\n"
#define DRAM "  - !Component {name: D, class: DRAM, attributes: {width: 64, datawidth: 16}}\n"
#define MAC "  - !Component {name: M, class: intmac, attributes: {width: 8}}\n"

static void test_timeloop_nodes_hand_on_attributes_and_meshes(void **state)
{
    static const char text[] =
        NODES "  - !Container {name: a, attributes: {datawidth: 16, word_bits: 16, depth: 99}}\n" DRAM
              "  - !Container {name: b, spatial: {meshX: 2, meshY: 3}, attributes: {datawidth: 4, "
              "multiple_buffering: 2}}\n"
              "  - !Component {name: B, class: SRAM, attributes: {depth: 10, width: 32}}\n"
              "  - !Component {name: R, class: regfile, spatial: {meshX: 4}, attributes: {depth: 7, "
              "datawidth: 32}}\n"
              "  - !Component {name: off, class: SRAM, enabled: False}\n" MAC;
    static const struct arch_override override[] = {
        {"b.meshY", "5"}, {"R.meshX", "1"}, {"B.depth", "20"}, {"B.multiple-buffering", "1"}};
    static const struct {
        const char *name;
        uint64_t x, y;
        bool is_fanout;
    } level[] = {{"off", 8, 3, true},
                 {"R", 8, 3, false},
                 {"inter_R_spatial", 2, 3, true},
                 {"B", 2, 3, false},
                 {"inter_b_spatial", 1, 1, true},
                 {"D", 1, 1, false}};
    struct architecture arch;
    struct dse_error err;
    (void)state;
    if (build_text(text, NULL, 0, &arch, &err) != DSE_OK)
        fail_msg("line %d: %s", err.line, err.text);
    assert_int_equal(arch.n_level, 6);
    for (uint32_t l = 0; l < 6; l++) {
        assert_string_equal(arch.level[l].name, level[l].name);
        assert_int_equal(arch.level[l].mesh_x, level[l].x);
        assert_int_equal(arch.level[l].mesh_y, level[l].y);
        assert_int_equal(arch.level[l].is_fanout, level[l].is_fanout);
    }
    assert_int_equal(arch.mac.instances, 24);
    assert_int_equal(arch.mac.word_bit, 8);             /* its own width, not the containers' datawidth */
    assert_int_equal(arch.level[3].size_word, 80);      /* 10 x 32 / 4: the inner container's datawidth */
    assert_true(arch.level[3].multiple_buffering == 2); /* with v4's underscore */
    assert_int_equal(arch.level[1].size_word, 7);       /* its own datawidth 32, and width = one word */
    assert_int_equal(arch.level[5].block_word, 4);
    assert_true(arch.level[5].reduces); /* v4's front end writes reduction_supported: true for all */
    assert_int_equal(architecture_find_target(&arch, "b"), 4);
    assert_int_equal(architecture_find_target(&arch, "R"), 1);
    assert_int_equal(build_text(text, override, 4, &arch, &err), DSE_OK);
    assert_int_equal(arch.mac.instances, 10);
    assert_int_equal(arch.level[3].size_word, 160);
    assert_true(arch.level[3].multiple_buffering == 1);
}

#define WITH(...)                                                                                            \
    NODES DRAM "  - !Component {name: B, class: SRAM, attributes: {depth: 8, width: 16" __VA_ARGS__ "}"      \
               "\n" MAC

static void test_timeloop_nodes_refuse_by_name_and_line(void **state)
{
    static const struct {
        const char *yaml;
        int line;
        const char *text;
    } cases[] = {
        {NODES "  - {name: D, class: DRAM}\n" MAC, 4, "begins with a tag"},
        {NODES "  - !Componnt {name: D, class: DRAM}\n" MAC, 4, "did you mean \"!Component\""},
        {NODES DRAM MAC DRAM, 6, "nothing may follow it"},
        {NODES MAC, 2, "no storage level"},
        {NODES "  - !Container {name: c, spatial: {meshX: 2}}\n" DRAM MAC, 4, "a memory must lie outside"},
        {NODES DRAM "  - !Hierarchical {nodes: []}\n" MAC, 5, "nodes after a !Hierarchical"},
        {NODES "  - !Parallel {nodes: [&a !Parallel {nodes: []}, *a, *a, *a, *a, *a, *a, *a, *a, *a]}\n"
               "  - &b !Parallel {nodes: [*a, *a, *a, *a, *a, *a, *a, *a, *a]}\n"
               "  - &c !Parallel {nodes: [*b, *b, *b, *b, *b, *b, *b, *b, *b]}\n"
               "  - &d !Parallel {nodes: [*c, *c, *c, *c, *c, *c, *c, *c, *c]}\n"
               "  - !Parallel {nodes: [*d, *d, *d, *d, *d, *d, *d, *d, *d]}\n",
         4, "more than 4096"},
        {NODES DRAM "  - !Parallel {node: []}\n" MAC, 5, "did you mean \"nodes\""},
        {NODES DRAM "  - !Container {name: c, spatial: {meshZ: 2}}\n" MAC, 5, "meshZ"},
        {NODES DRAM "  - !Container {name: c, spatial: {meshX: 70000, meshY: 70000}}\n" MAC, 5, "instances"},
        {NODES DRAM "  - !Container {name: 'c[0..3]'}\n" MAC, 5, "spatial: {meshX, meshY}"},
        {NODES DRAM "  - !Container {name: c, attributes: {depht: 3}}\n" MAC, 5, "did you mean \"depth\""},
        {NODES DRAM "  - !Container {name: c, enabled: false}\n" MAC, 5, "cannot be switched off"},
        {NODES DRAM "  - !Container {name: c, constraints: {spatial: {factors: [C=1]}}}\n" MAC, 5,
         "no fan-out"},
        {NODES DRAM "  - !Container {name: c, constraints: {temporal: {factors: [C=1]}}}\n" MAC, 5,
         "is no memory"},
        {NODES DRAM "  - !Component {name: m, class: mac, enabled: false}\n", 5, "cannot be switched off"},
        {WITH(", meshX: 4}"), 5, "spatial: {meshX, meshY}"},
        {WITH(", read_bandwith: 4}"), 5, "did you mean \"read_bandwidth\""},
        {WITH(", datawidth: global_width}"), 5, "expressions, variables and references are not computed"},
        {WITH(", n_words: 2 * 4}"), 5, "B.n_words is \"2 * 4\""},
        {WITH(", multiple_buffering: $ref}"), 5, "\"$ref\" is not read"},
        {WITH(", <<<: {a: 1}}"), 5, "\"<<<\" is not read"},
        {WITH(", has_power_gating: true}"), 5, "power gating"},
        {WITH(", allow_overbooking: true}"), 5, "overbooking"},
        {WITH("}, sparse_optimizations: {}"), 5, "sparse_optimizations is not supported"},
        {WITH("}, energy_scale: 2"), 5, "energy_scale"},
        {WITH("}, constraints: {temporal: {factors: [R=1, S<1]}}"), 5, "factors cannot be read at \"S<1\""},
        {WITH("}, constraints: {temporal: {factors: [R<=0]}}"), 5, "\"R<=0\""},
        {WITH("}, constraints: {temporal: {factors_only: [R<1]}}"), 5, "factors cannot be read at \"R<1\""},
        {WITH("}, constraints: {temporal: {maximize_dims: [[R]]}}"), 5, "an engine maximises"},
        {WITH("}, constraints: {temporal: {permutation: '[R: S]'}}"), 5, "innermost first"},
        {WITH("}, constraints: {dataspace: {keep_only: ['a: b']}}"), 5, "a data space is named by letters"},
        {WITH("}, constraints: {dataspace: {keep: ['a: b']}}"), 5, "a data space is named by letters"},
        {WITH("}, constraints: {dataspac: {}}"), 5, "did you mean \"dataspace\""},
        {WITH("}, constraints: {max_overbooked_proportion: 0.1}"), 5, "overbooking"},
        {WITH("}") "mapspace_constraints: {targets: [{target: B, type: utilization, min: 1}]}\n", 7,
         "utilization"},
        {WITH("}") "mapspace_constraints: {targets: [{target: B, type: temporal, min: 1}]}\n", 7, "\"min\""},
        {WITH("}") "architecture_constraints: {tagets: []}\n", 7, "did you mean \"targets\""},
        {WITH("}") "sparse_optimizations: {targets: []}\n", 7, "dense"},
        {WITH("}") "layout: {a: 1}\n", 7, "layouts"},
        {WITH("}") "compound_components: {classes: [{name: SRAM}]}\n", 5, "give it: --ert FILE"},
        {WITH("}") "components: {classes: [{name: intmac}]}\n", 6, "intmac, a compound component (line 7)"},
    };
    struct architecture arch;
    struct dse_error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_not_equal(build_text(cases[i].yaml, NULL, 0, &arch, &err), DSE_OK);
        if (!strstr(err.text, cases[i].text) || err.line != cases[i].line)
            fail_msg("case %zu, line %d: \"%s\" lacks \"%s\" on line %d", i, err.line, err.text,
                     cases[i].text, cases[i].line);
    }
}

static void test_timeloop_nodes_know_their_paths(void **state)
{
    static const struct arch_override wrong[] = {
        {"B.meshX", "2"}, {"c.count", "2"}, {"inter_c_spatial.width", "a*b"}, {"B.width", "2*8"}};
    static const char text[] =
        NODES DRAM "  - !Container {name: c, spatial: {meshX: 2}}\n"
                   "  - !Component {name: B, class: SRAM, attributes: {depth: 8, width: 16}}\n" MAC;
    struct architecture arch;
    struct yaml_doc doc;
    struct dse_error err;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(build_text(text, &wrong[i], 1, &arch, &err),
                         i == 2 ? DSE_OK : DSE_BAD_INPUT); /* a fan-out has no words to count */
    assert_int_equal(yaml_parse(&doc, "v4.yaml", text, sizeof text - 1, &err), DSE_OK);
    assert_int_equal(timeloop_architecture_check_path(&doc, "c.meshY", &err), DSE_OK);
    assert_int_equal(timeloop_architecture_check_path(&doc, "B.n_words", &err), DSE_OK);
    assert_int_equal(timeloop_architecture_check_path(&doc, "c.depth", &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "meshX"));
    yaml_doc_free(&doc);
}

/* A list of v3 in our words: 0 is the whole dimension, as Timeloop's maintainers answered in its issue 77;
 * letters may run together; what stands on a line stays on it. */
static void test_timeloop_rules_say_a_list_of_v3(void **state)
{
    static const char text[] =
        "mapspace_constraints:\n"
        "  targets:\n"
        "  - {target: B, type: temporal, factors: N=1 R=0 S<=3 C4, permutation: RS C}\n\n"
        "  - target: D\n"
        "    type: spatial\n"
        "    factors: {K: 2}\n"
        "    split: 1\n"
        "  - {target: B, type: datatype, keep: Weights, bypass: []}\n"
        "  - {target: B, type: temporal, factors_only: R3 S=1, no_iteration_over_dataspaces: [Weights]}\n"
        "  - {target: B, type: dataspace, keep_only: Weights, keep: []}\n";
    struct yaml_doc doc, list;
    struct dse_error err;
    const struct ynode *rule;
    (void)state;
    assert_int_equal(yaml_parse(&doc, "v3.yaml", text, sizeof text - 1, &err), DSE_OK);
    assert_true(timeloop_is_constraints(&doc));
    assert_int_equal(timeloop_constraints_read(&doc, &list, &err), DSE_OK);
    yaml_doc_free(&doc);
    assert_string_equal(list.path, "v3.yaml");
    assert_int_equal(list.root->n_item, 5);
    rule = list.root->item[3];
    assert_null(yaml_find(rule, "factors"));
    assert_string_equal(yaml_find(rule, "factors_only")->item[0]->text, "R=3");
    assert_string_equal(yaml_find(rule, "no_iteration_over_dataspaces")->item[0]->text, "Weights");
    rule = list.root->item[4];
    assert_null(yaml_find(rule, "keep"));
    assert_string_equal(yaml_find(rule, "keep_only")->item[0]->text, "Weights");
    rule = list.root->item[0];
    assert_int_equal(rule->line, 3);
    assert_string_equal(yaml_find(rule, "factors")->item[1]->text, "R=all");
    assert_string_equal(yaml_find(rule, "factors")->item[2]->text, "S<=3");
    assert_string_equal(yaml_find(rule, "factors")->item[3]->text, "C=4");
    assert_string_equal(yaml_find(rule, "permutation")->text, "RS C ");
    rule = list.root->item[1];
    assert_int_equal(rule->line, 5);
    assert_string_equal(yaml_find(rule, "split_all")->text, "1");
    assert_null(yaml_find(rule, "ones_first"));
    rule = list.root->item[2];
    assert_int_equal(rule->line, 9);
    assert_string_equal(yaml_find(rule, "keep")->item[0]->text, "Weights");
    yaml_doc_free(&list);
}

/* Constraints beside a problem would be lost. */
static void test_timeloop_rules_belong_to_the_machine(void **state)
{
    static const char text[] = "problem: {shape: cnn-layer, instance: {}}\n"
                               "constraints: {targets: [{target: B, type: bypass}]}\n";
    struct yaml_doc doc;
    struct problem problem;
    struct dse_error err;
    (void)state;
    assert_int_equal(yaml_parse(&doc, "p.yaml", text, sizeof text - 1, &err), DSE_OK);
    assert_int_equal(problem_build(&doc, &problem, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "--constraints"));
    yaml_doc_free(&doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeloop_nodes_cost_what_is_published),
        cmocka_unit_test(test_timeloop_nodes_are_what_is_dumped),
        cmocka_unit_test(test_timeloop_nodes_hand_on_attributes_and_meshes),
        cmocka_unit_test(test_timeloop_nodes_refuse_by_name_and_line),
        cmocka_unit_test(test_timeloop_nodes_know_their_paths),
        cmocka_unit_test(test_timeloop_rules_say_a_list_of_v3),
        cmocka_unit_test(test_timeloop_rules_belong_to_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
