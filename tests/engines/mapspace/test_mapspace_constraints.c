/* Constraints as Timeloop writes them are read; wrong ones, and those that contradict each other or the
 * layer, are refused with line and reason.
 * Tests: constraints_loops.c, constraints_said.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/mapspace/mapspace_constraints.h"
#include "tests/engines/small_cases.h"

static enum dse_status read_text(const char *text, struct mapspace_constraints *c, struct dse_error *err)
{
    struct yaml_doc doc;
    struct problem problem;
    struct architecture arch;
    small_conv(&problem, 3, 8, 16, 16); /* R P Q C K */
    small_machine(&arch, 64, 512);
    (void)text_copy(arch.level[1].array, sizeof arch.level[1].array, "Lanes");
    enum dse_status status = yaml_parse(&doc, "c.yaml", text, strlen(text), err);
    if (status != DSE_OK)
        return status;
    const struct ynode *list = yaml_find(doc.root, "constraints");
    status = mapspace_constraints_read(&doc, list ? list : doc.root, yaml_find(doc.root, "further"), &problem,
                                       &arch, c, err);
    yaml_doc_free(&doc);
    return status;
}

static void test_constraints_read_what_timeloop_writes(void **state)
{
    (void)state;
    struct mapspace_constraints c;
    struct dse_error err = {0};
    const char *text =
        "constraints:\n"
        "- {target: Registers, type: temporal, factors: R=3 P=1 C<=4, permutation: RC}\n"
        "- {target: Buffer, type: spatial, factors: \"C=2 K2\", permutation: CK, split: 1}\n"
        "- {target: Buffer, type: bypass, keep: [Inputs], bypass: [Weights]}\n"
        "- target: DRAM\n"
        "  type: temporal\n"
        "  factors: [Q=8, K<=8]\n"
        "  permutation: [K, Q]\n"
        "  no_temporal_reuse: [Outputs]\n"
        "- {target: Lanes, type: spatial, dims_x: [C, P], no_link_transfer: [Inputs, Weights],\n"
        "   no_multicast_no_reduction: [Outputs]}\n"
        "- {target: DRAM, type: datatype, keep: [Weights, Inputs, Outputs]}\n";
    if (read_text(text, &c, &err) != DSE_OK)
        fail_msg("%s:%d: %s", err.file, err.line, err.text);
    assert_int_equal(c.level[0].temporal.fixed[0], 3);
    assert_int_equal(c.level[0].temporal.fixed[1], 1);
    assert_int_equal(c.level[0].temporal.fixed[3], 0);
    assert_int_equal(c.level[0].temporal.highest[3], 4);
    assert_int_equal(c.level[0].temporal.n_order, 2);
    assert_int_equal(c.level[0].temporal.order[0], 0);
    assert_int_equal(c.level[0].temporal.order[1], 3);
    assert_int_equal(c.level[1].spatial.fixed[3], 2);
    assert_int_equal(c.level[1].spatial.fixed[4], 2);
    assert_int_equal(c.level[1].dims_x, 1u << 3 | 1u << 1); /* what dims_x and the split leave */
    assert_int_equal(c.level[1].dims_y, 31u & ~(1u << 3));
    assert_int_equal(c.level[1].keep, 2);
    assert_int_equal(c.level[1].bypass, 1);
    assert_int_equal(c.level[1].no_link_transfer, 3);
    assert_int_equal(c.level[1].no_multicast, 4);
    assert_int_equal(c.level[2].temporal.fixed[2], 8);
    assert_int_equal(c.level[2].temporal.highest[4], 8);
    assert_int_equal(c.level[2].temporal.order[0], 4);
    assert_int_equal(c.level[2].no_temporal_reuse, 4);
    assert_int_equal(c.level[2].keep, 7);
}

static void test_constraints_refuse_with_line_and_reason(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *says;
    } row[] = {
        {"- {target: Bufer, type: temporal}", 1, "did you mean \"Buffer\"?"},
        {"- {type: temporal}", 1, "target"},
        {"- {target: Buffer}", 1, "type"},
        {"- {target: Buffer, type: sptial}", 1, "spatial"},
        {"-\n  target: Buffer\n  type: temporal\n  factor: C=4\n", 4, "factors"},
        {"- target: Buffer\n  type: temporal\n  factors: C=4 X=2\n", 3, "unknown dimension \"X\""},
        {"- {target: Buffer, type: temporal, factors: C=five}", 1, "C<=4 (at most)"},
        {"- {target: Buffer, type: temporal, factors: C=-1}", 1, "is no factor"},
        {"- {target: Buffer, type: temporal, factors: C=5}", 1, "does not divide the bound 16"},
        {"- {target: Buffer, type: temporal, factors: C=0}", 1, "the rest"},
        {"- {target: Buffer, type: temporal, factors: C>4}", 1, "is no factor"},
        {"- {target: Buffer, type: temporal, permutation: CKC}", 1, "twice in the permutation"},
        {"- {target: Buffer, type: temporal, permutation: CX}", 1, "unknown dimension \"X\""},
        {"- {target: Buffer, type: temporal, split: 1}", 1, "split"},
        {"- {target: Buffer, type: spatial, split: 9}", 1, "split"},
        {"- {target: Buffer, type: bypass, keep: [Weight]}", 1, "did you mean \"Weights\"?"},
        {"- {target: Buffer, type: bypass, keep: Weights}", 1, "keep"},
        {"- {target: Buffer, type: bypass, keep: [Weights], bypass: [Weights]}", 1,
         "Buffer: Weights is under keep and under bypass"},
        {"- {target: DRAM, type: bypass, bypass: [Weights]}", 1,
         "DRAM is the outermost level: every tensor lies there, Weights cannot be bypassed"},
        {"- {target: DRAM, type: datatype, keep: [Inputs], bypass: [Outputs]}", 1, "the outermost level"},
        {"constraints: 7", 1, "constraints"},
        {"- 7", 1, "a constraint"},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct mapspace_constraints c;
        struct dse_error err = {0};
        assert_int_equal(read_text(row[i].text, &c, &err), DSE_BAD_INPUT);
        if (err.line != row[i].line || !strstr(err.text, row[i].says) || strcmp(err.file, "c.yaml") != 0)
            fail_msg("%s\ngave %s:%d: %s", row[i].text, err.file, err.line, err.text);
    }
}

#define ENTRY(rest) "- {target: Buffer, type: " rest "}\n"

/* One list that cannot be kept: the blame is the later line's, and names the earlier one. */
static void test_constraints_of_one_list_may_not_contradict(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line;
        const char *says;
    } row[] = {
        {ENTRY("spatial, factors: C=4") ENTRY("spatial, factors: C=2"), 2,
         "Buffer: spatial C=2 contradicts C=4 on line 1"},
        {ENTRY("spatial, factors: C=4") "- {target: Lanes, type: spatial, factors: C=2}\n", 2,
         "Buffer: spatial C=2 contradicts C=4 on line 1"},
        {ENTRY("temporal, factors: C=4 K=2 C=2"), 1, "temporal C=2 contradicts C=4 on the same line"},
        {"- target: Buffer\n  type: temporal\n  factors: [C=4, K=2,\n    C=2]\n", 4,
         "temporal C=2 contradicts C=4 on line 3"},
        {ENTRY("temporal, factors: C=4") ENTRY("temporal, factors: C<=2"), 2,
         "temporal C<=2 contradicts C=4 on line 1"},
        {ENTRY("temporal, factors: C<=2") ENTRY("temporal, factors: K=2") ENTRY("temporal, factors: C=4"), 3,
         "temporal C=4 contradicts C<=2 on line 1"},
        {ENTRY("temporal, permutation: RC") ENTRY("temporal, permutation: CR"), 2,
         "permutation CR contradicts RC on line 1"},
        {ENTRY("spatial, permutation: KC") ENTRY("spatial, permutation: [K, R, C]"), 2,
         "permutation KRC contradicts KC on line 1"},
        {ENTRY("spatial, permutation: CK, split: 1") ENTRY("spatial, split: 2"), 2,
         "split 2 contradicts 1 on line 1"},
        {ENTRY("spatial, dims_x: [C]") ENTRY("spatial, dims_x: [K, P]"), 2,
         "dims_x contradicts that of line 1"},
        {ENTRY("spatial, dims_y: [C, K]") ENTRY("spatial, dims_y: [P]"), 2,
         "dims_y contradicts that of line 1"},
        {ENTRY("spatial, dims_x: [K], dims_y: [P]") ENTRY("spatial, factors: C=2"), 2,
         "Buffer: spatial C=2 may lie on neither axis (dims_x, dims_y or split, line 1)"},
        {ENTRY("bypass, keep: [Weights]") ENTRY("bypass, bypass: [Inputs, Weights]"), 2,
         "Buffer: Weights is under bypass here and under keep on line 1"},
        {ENTRY("bypass, bypass: [Weights]") ENTRY("datatype, keep: [Weights]"), 2,
         "Buffer: Weights is under keep here and under bypass on line 1"},
        /* with the layer: C and K are 16, P and Q 8, R is 3 */
        {ENTRY("temporal, factors: C=4") "- {target: DRAM, type: temporal, factors: C=8}\n", 2,
         "multiply to 32, which does not divide the bound 16 of problem conv: DRAM temporal C=8 (line 2), "
         "Buffer temporal C=4 (line 1)"},
        {ENTRY("temporal, factors: R=3") ENTRY("spatial, factors: R=3"), 2,
         "multiply to 9, which does not divide the bound 3"},
        {ENTRY("temporal, factors: Q=2")
             ENTRY("spatial, factors: Q=1") "- {target: DRAM, type: temporal, factors: Q=2}\n"
                                            "- {target: Registers, type: temporal, factors: Q=1}\n",
         4, "the factors allowed for dimension Q cannot multiply to the bound 8"},
        {ENTRY("temporal, factors: R<=2")
             ENTRY("spatial, factors: R<=2") "- {target: DRAM, type: temporal, factors: R<=2}\n"
                                             "- {target: Registers, type: temporal, factors: R<=2}\n",
         4, "the factors allowed for dimension R cannot multiply to the bound 3"},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct mapspace_constraints c;
        struct dse_error err = {0};
        assert_int_equal(read_text(row[i].text, &c, &err), DSE_BAD_INPUT);
        if (err.line != row[i].line || !strstr(err.text, row[i].says) || strcmp(err.file, "c.yaml") != 0)
            fail_msg("%s\ngave %s:%d: %s", row[i].text, err.file, err.line, err.text);
    }
}

/* Entries that agree add to each other, in any order. */
static void test_constraints_of_one_list_add_up(void **state)
{
    (void)state;
    struct mapspace_constraints c;
    struct dse_error err = {0};
    static const char text[] = ENTRY("temporal, factors: C=4 K<=8") ENTRY("temporal, factors: C=4 K<=2")
        ENTRY("temporal, factors: K<=4 C<=4") ENTRY("temporal, permutation: RC")
            ENTRY("temporal, permutation: RCK") ENTRY("temporal, permutation: R")
                ENTRY("spatial, split: 1, dims_x: [C, K, P]")
                    ENTRY("spatial, permutation: CK, dims_x: [C, K]") ENTRY("bypass, keep: [Weights]")
                        ENTRY("bypass, keep: [Weights], bypass: [Inputs]");
    if (read_text(text, &c, &err) != DSE_OK)
        fail_msg("%s:%d: %s", err.file, err.line, err.text);
    assert_int_equal(c.level[1].temporal.fixed[3], 4);
    assert_int_equal(c.level[1].temporal.highest[3], 4);
    assert_int_equal(c.level[1].temporal.highest[4], 2); /* the smallest of 8, 2, 4 */
    assert_int_equal(c.level[1].temporal.n_order, 3);
    assert_int_equal(c.level[1].temporal.order[2], 4);
    assert_int_equal(c.level[1].dims_x, 1u << 3); /* of C, K what the split leaves on X */
    assert_int_equal(c.level[1].dims_y, 31u & ~(1u << 3));
    assert_int_equal(c.level[1].keep, 1);
    assert_int_equal(c.level[1].bypass, 2);
}

/* docs/sweeps.md, "Constraints as an axis": the named list replaces what it says anew, and only that. */
static void test_constraints_of_a_further_list_replace(void **state)
{
    (void)state;
    struct mapspace_constraints c;
    struct dse_error err = {0};
    static const char text[] = "constraints:\n" ENTRY("temporal, factors: C=4 K=8 Q=2, permutation: RC")
        ENTRY("spatial, dims_x: [C], dims_y: [K], permutation: CK, split: 1") "further:\n" ENTRY(
            "temporal, factors: C=2 K<=4, permutation: CR") ENTRY("spatial, dims_x: [P], split: 0");
    if (read_text(text, &c, &err) != DSE_OK)
        fail_msg("%s:%d: %s", err.file, err.line, err.text);
    assert_int_equal(c.level[1].temporal.fixed[3], 2);
    assert_int_equal(c.level[1].temporal.fixed[4], 0);
    assert_int_equal(c.level[1].temporal.highest[4], 4);
    assert_int_equal(c.level[1].temporal.fixed[2], 2);
    assert_int_equal(c.level[1].temporal.order[0], 3);
    assert_int_equal(c.level[1].dims_x, 1u << 1);
    assert_int_equal(c.level[1].dims_y, 1u << 4);
    assert_int_equal(read_text("constraints:\n" ENTRY("temporal, factors: C=4") "further:\n" ENTRY(
                                   "temporal, factors: C=2") ENTRY("temporal, factors: C=8"),
                               &c, &err),
                     DSE_BAD_INPUT);
    assert_string_equal(err.text, "Buffer: temporal C=8 contradicts C=2 on line 4");
}

/* Rows Q and columns C, then K on the columns' side: what permutation, split and dims say in four keys. */
static void test_constraints_dataflow_says_order_and_sides(void **state)
{
    (void)state;
    struct mapspace_constraints c;
    struct dse_error err = {0};
    if (read_text(ENTRY("spatial, dataflow: CK|Q") ENTRY("spatial, factors: C=2"), &c, &err) != DSE_OK)
        fail_msg("%s:%d: %s", err.file, err.line, err.text);
    assert_int_equal(c.level[1].dims_x, 1u << 3 | 1u << 4);
    assert_int_equal(c.level[1].dims_y, 1u << 2);
    assert_int_equal(c.level[1].spatial.n_order, 3);
    assert_memory_equal(c.level[1].spatial.order, ((const uint8_t[]){3, 4, 2}), 3);
    assert_int_equal(c.level[1].dataflow.n, 3);
    assert_int_equal(c.level[1].dataflow.begins, 5);
    assert_int_equal(read_text(ENTRY("spatial, dataflow: (4)"), &c, &err), DSE_OK);
    assert_int_equal(c.level[1].dims_x, 1u << 4);
    assert_int_equal(c.level[1].dims_y, 0);
}

static void test_constraints_dataflow_is_said_once_and_alone(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {ENTRY("spatial, dataflow: C|K, split: 1"), "dataflow says what split says"},
        {ENTRY("spatial, dataflow: C|K") ENTRY("spatial, dataflow: K|C"), "contradicts"},
        {ENTRY("spatial, dims_x: [C]") ENTRY("spatial, dataflow: K|C"), "on line 1"},
        {ENTRY("spatial, dataflow: C|Z"), "no loop begins at \"Z\""},
        {ENTRY("spatial, dataflow: C|K|P"), "more than two sides"},
        {ENTRY("temporal, dataflow: C|K"), "dataflow"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct mapspace_constraints c;
        struct dse_error err = {0};
        assert_int_equal(read_text(wrong[i].text, &c, &err), DSE_BAD_INPUT);
        if (!strstr(err.text, wrong[i].message))
            fail_msg("\"%s\" is not in %s", wrong[i].message, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constraints_dataflow_says_order_and_sides),
        cmocka_unit_test(test_constraints_dataflow_is_said_once_and_alone),
        cmocka_unit_test(test_constraints_read_what_timeloop_writes),
        cmocka_unit_test(test_constraints_refuse_with_line_and_reason),
        cmocka_unit_test(test_constraints_of_one_list_may_not_contradict),
        cmocka_unit_test(test_constraints_of_one_list_add_up),
        cmocka_unit_test(test_constraints_of_a_further_list_replace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
