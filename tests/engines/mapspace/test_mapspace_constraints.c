/* Constraints as Timeloop writes them are read; wrong ones are refused with line and reason. */
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
    mapspace_constraints_init(c, &problem, &arch);
    enum dse_status status = yaml_parse(&doc, "c.yaml", text, strlen(text), err);
    if (status != DSE_OK)
        return status;
    const struct ynode *list = yaml_find(doc.root, "constraints");
    status = mapspace_constraints_read(&doc, list ? list : doc.root, &problem, &arch, c, err);
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
    assert_int_equal(c.level[1].dims_x,
                     1u << 3 | 1u << 1); /* the later dims_x replaces what the split left */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constraints_read_what_timeloop_writes),
        cmocka_unit_test(test_constraints_refuse_with_line_and_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
