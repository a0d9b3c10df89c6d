/* What a machine's file demands of mappings: it holds beside the user's lists, which cannot undo it, and
 * messages say in whose file a line is. Timeloop's split of a whole permutation, by hand.
 * Tests: mapspace_check.c, constraints_said.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engines/mapspace/mapspace.h"
#include "tests/engines/small_cases.h"

enum { R, P, Q, C, K }; /* of small_conv */

struct fixture {
    struct problem problem;
    struct architecture arch;
};

static void set_up(struct fixture *f, const char *rules)
{
    small_conv(&f->problem, 3, 8, 16, 16); /* R P Q C K: 3 8 8 16 16 */
    small_machine(&f->arch, 64, 512);
    snprintf(f->arch.rules, sizeof f->arch.rules, "%s", rules);
}

static enum dse_status read_lists(const struct fixture *f, const char *text, struct mapspace_constraints *c,
                                  struct dse_error *err)
{
    struct yaml_doc doc;
    if (!text)
        return mapspace_constraints_read(NULL, NULL, NULL, &f->problem, &f->arch, c, err);
    DSE_TRY(yaml_parse(&doc, "user.yaml", text, strlen(text), err));
    enum dse_status status = mapspace_constraints_read(
        &doc, yaml_find(doc.root, "list"), yaml_find(doc.root, "further"), &f->problem, &f->arch, c, err);
    yaml_doc_free(&doc);
    return status;
}

static void test_lists_add_to_the_machine_and_cannot_undo_it(void **state)
{
    static const char rules[] = "m.yaml\n5 {target: \"Registers\", type: temporal, factors: [\"R=all\", "
                                "\"C<=4\"], permutation: \"RC\"}\n"
                                "6 {target: \"Buffer\", type: bypass, bypass: [\"Weights\"]}\n";
    static const struct {
        const char *yaml, *text;
        int line;
    } wrong[] = {
        {"list: [{target: Registers, type: temporal, factors: R=1}]",
         "R=1 contradicts R=3 on line 5 of m.yaml", 1},
        {"list: [{target: Registers, type: temporal, factors: C=8}]",
         "C=8 contradicts C<=4 on line 5 of m.yaml", 1},
        {"list: []\nfurther: [{target: Registers, type: temporal, factors: R=1}]", "line 5 of m.yaml", 2},
        {"list: [{target: Registers, type: temporal, factors: R=3}]\nfurther: [{target: Registers, type: "
         "temporal, "
         "factors: R=1}]",
         "line 5 of m.yaml", 2},
        {"list: [{target: Registers, type: temporal, permutation: CR}]",
         "CR contradicts RC on line 5 of m.yaml", 1},
        {"list: [{target: Buffer, type: bypass, keep: [Weights]}]", "under bypass on line 6 of m.yaml", 1},
        {"list: [{target: DRAM, type: temporal, factors: R=3}]", "Registers temporal R=3 (line 5 of m.yaml)",
         1},
    };
    struct mapspace_constraints c;
    struct dse_error err;
    struct fixture f;
    (void)state;
    set_up(&f, rules);
    assert_int_equal(read_lists(&f, NULL, &c, &err), DSE_OK);
    assert_int_equal(c.level[0].temporal.fixed[R], 3);
    assert_int_equal(c.level[0].temporal.highest[C], 4);
    assert_int_equal(c.level[1].bypass, 1u << (uint32_t)problem_find_tensor(&f.problem, "Weights"));
    assert_int_equal(
        read_lists(&f,
                   "list: [{target: Registers, type: temporal, factors: C<=2, permutation: RCK}]\n"
                   "further: [{target: Registers, type: temporal, factors: C<=8}]",
                   &c, &err),
        DSE_OK);
    assert_int_equal(c.level[0].temporal.highest[C], 2);
    assert_int_equal(c.level[0].temporal.n_order, 3);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(read_lists(&f, wrong[i].yaml, &c, &err), DSE_BAD_INPUT);
        if (!strstr(err.text, wrong[i].text) || err.line != wrong[i].line ||
            strcmp(err.file, "user.yaml") != 0)
            fail_msg("case %zu: %s:%d: \"%s\" lacks \"%s\"", i, err.file, err.line, err.text, wrong[i].text);
    }
    f.problem.bound[R] = 1; /* the machine alone: its file is blamed, "all" of R is 1 now, C cannot be 4 */
    snprintf(f.arch.rules, sizeof f.arch.rules,
             "m.yaml\n8 {target: \"DRAM\", type: temporal, factors: [\"R=3\"]}\n");
    assert_int_equal(read_lists(&f, NULL, &c, &err), DSE_BAD_INPUT);
    assert_string_equal(err.file, "m.yaml");
    assert_int_equal(err.line, 8);
}

/* What an entry does not name: no loop over it, not held. Weights are R C K. */
static void test_only_what_is_named(void **state)
{
    static const char rules[] =
        "m.yaml\n2 {target: \"Registers\", type: temporal, factors_only: [\"R=3\", \"C<=2\"]}\n"
        "3 {target: \"Buffer\", type: spatial, no_iteration_over_dataspaces: [\"Weights\"]}\n"
        "4 {target: \"Buffer\", type: bypass, keep_only: [\"Inputs\"]}\n";
    static const struct {
        const char *yaml, *text;
    } wrong[] = {
        {"list: [{target: Registers, type: temporal, factors: P=2}]",
         "P=2 contradicts P=1 on line 2 of m.yaml"},
        {"list: [{target: Buffer, type: spatial, factors: K=2}]", "K=2 contradicts K=1 on line 3 of m.yaml"},
        {"list: [{target: Buffer, type: bypass, keep: [Weights]}]", "under bypass on line 4 of m.yaml"},
        {"list: [{target: Registers, type: temporal, factors: P=2, factors_only: R=3}]",
         "P=2 contradicts P=1"},
        {"list: [{target: Buffer, type: bypass, keep: [Outputs], keep_only: [Inputs]}]",
         "Outputs is under keep and under bypass"},
        {"list: [{target: Buffer, type: spatial, no_iteration_over_dataspaces: [Weight]}]",
         "did you mean \"Weights\""},
    };
    const uint32_t fixed[5] = {3, 1, 1, 0, 1}, spatial[5] = {1, 0, 0, 1, 1};
    struct mapspace_constraints c;
    struct dse_error err;
    struct fixture f;
    (void)state;
    set_up(&f, rules);
    if (read_lists(&f, NULL, &c, &err) != DSE_OK)
        fail_msg("%s", err.text);
    for (uint32_t d = 0; d < 5; d++) {
        assert_int_equal(c.level[0].temporal.fixed[d], fixed[d]);
        assert_int_equal(c.level[1].spatial.fixed[d], spatial[d]);
    }
    assert_int_equal(c.level[0].temporal.highest[C], 2);
    assert_int_equal(c.level[1].keep, 1u << (uint32_t)problem_find_tensor(&f.problem, "Inputs"));
    assert_int_equal(c.level[1].bypass | c.level[1].keep, 7);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(read_lists(&f, wrong[i].yaml, &c, &err), DSE_BAD_INPUT);
        if (!strstr(err.text, wrong[i].text))
            fail_msg("case %zu: \"%s\" lacks \"%s\"", i, err.text, wrong[i].text);
    }
}

/* Five dimensions R P Q C K; named are C, K. Timeloop's split n: the first n places on X. Dimensions that
 * are not named follow; with ones_first those of one iteration (here R, fixed to 1, and P, of bound 1) come
 * before. */
static void test_split_of_the_whole_permutation(void **state)
{
    static const struct {
        const char *split;
        uint32_t x, y; /* of the dimensions that may lie there */
    } cases[] = {
        {"split_all: 0", 0, 31},
        {"split_all: 1", 1 << C, 31 & ~(1 << C)},
        {"split_all: 2", 1 << C | 1 << K, 31 & ~(1 << C | 1 << K)},
        {"split_all: 3", 31, 31 & ~(1 << C | 1 << K)}, /* which of R, P, Q comes third is open */
        {"split_all: 5", 31, 0},
        {"split_all: 999", 31, 0},
        {"split_all: 1, ones_first: true", 0, 31},
        {"split_all: 2, ones_first: true", 0, 31},
        {"split_all: 3, ones_first: true", 1 << C, 31 & ~(1 << C)},
        {"split_all: 4, ones_first: true", 1 << C | 1 << K, 31 & ~(1 << C | 1 << K)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mapspace_constraints c;
        struct dse_error err;
        struct fixture f;
        char rules[256];
        snprintf(
            rules, sizeof rules,
            "m.yaml\n2 {target: \"Buffer\", type: spatial, factors: [\"R=1\"], permutation: \"CK\", %s}\n",
            cases[i].split);
        set_up(&f, rules);
        f.problem.bound[P] = 1;
        if (read_lists(&f, NULL, &c, &err) != DSE_OK)
            fail_msg("%s", err.text);
        if (c.level[1].dims_x != cases[i].x || c.level[1].dims_y != cases[i].y)
            fail_msg("%s: X %x, Y %x", cases[i].split, c.level[1].dims_x, c.level[1].dims_y);
    }
}

/* A level that is only a fan-out has no temporal loops, and nothing lies there. */
static void test_a_fanout_holds_nothing(void **state)
{
    struct mapspace_constraints c;
    struct dse_error err;
    struct fixture f;
    struct mapping mapping;
    struct misfit_info fit;
    struct random_stream stream = random_stream_make(1, 2, RANDOM_TEST);
    struct arena arena;
    const struct mapspace *space;
    (void)state;
    set_up(&f, "");
    assert_false(mapspace_constraints_of_machine(&f.arch));
    f.arch.level[1].is_fanout = true;
    f.arch.level[1].keep_role = 0;
    assert_int_equal(architecture_check(&f.arch, &err), DSE_OK);
    assert_true(mapspace_constraints_of_machine(&f.arch));
    mapspace_constraints_init(&c, &f.problem, &f.arch);
    assert_true(mapspace_constraints_are_free(&c));
    arena_init(&arena);
    assert_int_equal(mapspace_new(&f.problem, &f.arch, &c, true, &arena, &space, &err), DSE_OK);
    for (int i = 0; i < 50; i++) {
        assert_true(mapspace_draw(space, &stream, &mapping, NULL, &fit));
        assert_int_equal(mapping.level[1].keep, 0);
        for (uint32_t d = 0; d < f.problem.n_dim; d++)
            assert_int_equal(mapping.level[1].temporal[d], 1);
    }
    arena_free(&arena);
}

/* Every kind of demand, broken by one change of a mapping that keeps it. */
static void test_keep_names_what_is_broken(void **state)
{
    static const char rules[] =
        "m.yaml\n2 {target: \"Registers\", type: temporal, factors: [\"R=3\", \"C<=2\"], permutation: "
        "\"RC\"}\n"
        "3 {target: \"Buffer\", type: spatial, factors: [\"P=1\"], permutation: \"CK\", split_all: 1}\n"
        "4 {target: \"Buffer\", type: bypass, keep: [\"Inputs\"], bypass: [\"Weights\"]}\n";
    static const char *const broken[] = {
        "Registers: temporal R=1, where 3 is demanded",
        "Registers: temporal C=4, where at most 2 is demanded",
        "Buffer: spatial P=2, where 1 is demanded",
        "Buffer: K lies on X, where it may not",
        "Buffer: C lies on Y, where it may not",
        "Buffer keeps Weights, which is to be bypassed there",
        "Buffer bypasses Inputs, which is to be kept there",
        "Registers: the temporal loops are in another order than is demanded"};
    struct mapspace_constraints c;
    struct dse_error err;
    struct fixture f;
    char why[128];
    (void)state;
    set_up(&f, rules);
    assert_int_equal(read_lists(&f, NULL, &c, &err), DSE_OK);
    for (int i = -1; i < (int)(sizeof broken / sizeof broken[0]); i++) {
        struct mapping m;
        mapping_init(&m, &f.problem, &f.arch);
        struct mapping_level *registers = &m.level[0], *buffer = &m.level[1];
        buffer->keep &= (uint8_t) ~(1u << (uint32_t)problem_find_tensor(&f.problem, "Weights"));
        registers->temporal[R] = i == 0 ? 1 : 3;
        registers->temporal[C] = i == 1 ? 4 : 2;
        memcpy(registers->temporal_order, ((const uint8_t[]){R, C, P, Q, K}), 5);
        buffer->spatial[P] = i == 2 ? 2 : 1;
        buffer->spatial[C] = 2;
        buffer->spatial[K] = 2;
        memcpy(buffer->spatial_order, ((const uint8_t[]){C, K, R, P, Q}), 5);
        buffer->split = i == 3 ? 5 : i == 4 ? 0 : 1;
        if (i == 5)
            buffer->keep = 7;
        if (i == 6)
            buffer->keep = 0;
        if (i == 7)
            memcpy(registers->temporal_order, ((const uint8_t[]){C, R, P, Q, K}), 5);
        const bool kept = mapspace_constraints_keep(&c, &f.problem, &f.arch, &m, why, sizeof why);
        if (kept != (i < 0) || (i >= 0 && strcmp(why, broken[i]) != 0))
            fail_msg("case %d: %s", i, kept ? "kept" : why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_add_to_the_machine_and_cannot_undo_it),
        cmocka_unit_test(test_only_what_is_named),
        cmocka_unit_test(test_split_of_the_whole_permutation),
        cmocka_unit_test(test_a_fanout_holds_nothing),
        cmocka_unit_test(test_keep_names_what_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
