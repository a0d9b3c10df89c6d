/* Schedules of Interstellar's authors among constraints, and as ordinary constraints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"
#include "engines/mapspace/mapspace_constraints.h"

struct fixture {
    struct problem problem;
    struct architecture arch;
    struct mapspace_constraints constraints;
};

static void make(struct fixture *f)
{
    static const char json[] = "{mem_levels: 3, capacity: [512, 131072, 1073741824], access_cost: [1, 1, 1], "
                               "parallel_count: [256, 1, 1], parallel_cost: [1], precision: 16}";
    static const char layers[] = "name,B,K,C,X,Y,FX,FY\nCONV3,16,384,256,13,13,3,3\n";
    struct yaml_doc doc;
    struct network net;
    struct dse_error err;
    assert_int_equal(yaml_parse(&doc, "eyeriss.json", json, sizeof json - 1, &err), DSE_OK);
    assert_int_equal(architecture_build(&doc, NULL, 0, &f->arch, &err), DSE_OK);
    yaml_doc_free(&doc);
    assert_int_equal(network_parse("t.csv", layers, sizeof layers - 1, &net, &err), DSE_OK);
    assert_int_equal(layer_problem(net.layer, 0, &f->problem, &err), DSE_OK);
    network_free(&net);
}

/* Read and fix. */
static enum dse_status fix(struct fixture *f, const char *text, struct dse_error *err)
{
    struct yaml_doc doc;
    make(f);
    assert_int_equal(yaml_parse(&doc, "s.json", text, strlen(text), err), DSE_OK);
    if (mapspace_constraints_read(&doc, doc.root, NULL, &f->problem, &f->arch, &f->constraints, err) !=
        DSE_OK)
        fail_msg("line %d: %s", err->line, err->text);
    yaml_doc_free(&doc);
    assert_true(f->constraints.hint.present);
    return mapspace_constraints_fix_hint(&f->constraints, &f->problem, &f->arch, "s.json", err);
}

static uint32_t dim(const struct fixture *f, const char *name)
{
    return (uint32_t)problem_find_dim(&f->problem, name);
}

/* C 16 and K 16 side by side, 3 steps of S in the register file; nothing else side by side. */
static void check_ck16(const struct fixture *f)
{
    const struct level_constraints *level = f->constraints.level;
    assert_false(f->constraints.hint.present);
    assert_int_equal(level[1].spatial.fixed[dim(f, "C")], 16);
    assert_int_equal(level[1].spatial.fixed[dim(f, "K")], 16);
    assert_int_equal(level[1].spatial.fixed[dim(f, "P")], 1);
    assert_int_equal(level[1].spatial.fixed[dim(f, "N")], 1);
    assert_int_equal(level[0].temporal.fixed[dim(f, "S")], 3);
    assert_int_equal(level[0].temporal.fixed[dim(f, "C")], 0);
    assert_int_equal(level[2].spatial.fixed[dim(f, "P")], 0);
}

/* A schedule with `more` keys. */
static const char *ck16(const char *more, char *text, size_t size)
{
    snprintf(text, size,
             "{schedule_hint: {IC: {level0: {partitioning_size: 16}}, OC: {level0: "
             "{partitioning_size: 16}}, FX: {level0: {partitioning_size: 1, blocking_size: 3}}}%s}",
             more);
    return text;
}

static void test_exact(void **state)
{
    (void)state;
    struct fixture f;
    struct dse_error err;
    char text[400];
    assert_int_equal(fix(&f, ck16("", text, sizeof text), &err), DSE_OK);
    check_ck16(&f);
    /* the array is full: there is no choice */
    assert_int_equal(fix(&f, ck16(", partition_loops: [OX]", text, sizeof text), &err), DSE_OK);
    check_ck16(&f);
}

/* As an entry among others, as a sweep has it. */
static void test_entry_of_a_list(void **state)
{
    (void)state;
    struct fixture f;
    struct dse_error err;
    assert_int_equal(fix(&f,
                         "- {target: DRAM, type: temporal, factors: N=16}\n"
                         "- schedule_hint: {IC: {level0: {partitioning_size: 8}}}\n",
                         &err),
                     DSE_OK);
    assert_int_equal(f.constraints.level[2].temporal.fixed[dim(&f, "N")], 16);
    assert_int_equal(f.constraints.level[1].spatial.fixed[dim(&f, "C")], 8);
    assert_int_equal(f.constraints.level[1].spatial.fixed[dim(&f, "K")], 1);
}

static void test_what_cannot_be_said(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"{schedule_hint: {IC: {level0: {partitioning_size: 8}}}, partition_loops: [OX]}",
         "leaves it open which of its partition_loops"},
        {"{schedule_hint: {OY: {level0: {partitioning_size: 4}}}}", "do not divide the 13 of CONV3"},
        {"{schedule_hint: {FX: {level0: {partitioning_size: 3, blocking_size: 2}}}}", "do not divide the 3"},
        {"{schedule_hint: {FX: {level0: {partitioning_size: 4294967295, blocking_size: 4294967295}}}}",
         "do not divide the 3"},
    };
    struct fixture f;
    struct dse_error err;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(fix(&f, bad[i].text, &err), DSE_BAD_INPUT);
        assert_non_null(strstr(err.text, bad[i].words));
        assert_string_equal(err.file, "s.json");
        assert_int_equal(err.line, 1);
        assert_non_null(strstr(err.text, "only engine interstellar"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_entry_of_a_list),
        cmocka_unit_test(test_what_cannot_be_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
