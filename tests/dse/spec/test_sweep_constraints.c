/* Constraints as an axis of a sweep.
 * Tests: sweep_variables.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dse/spec/keys.h"
#include "tests/support/sweep_case.h"

#define HEAD "experiment: e\narchitecture: simba\nnetwork: resnet50\nlayers: [conv1, fc]\n"

static struct sweep_case *open_text(const char *text, const char *const *set, size_t n_set)
{
    char message[2048];
    struct dse_error err = {0};
    struct sweep_case *opened = sweep_case_open(text, set, n_set, &err);
    if (!opened)
        fail_msg("%s", dse_error_print(&err, message, sizeof message));
    return opened;
}

/* Every factor of conv4_0_c (C 256, K 1024, P = Q = 14) fixed; only the order of C, K, P at the global buffer
 * is left. */
#define FIXED_FACTORS                                                                                        \
    "constraints:\n"                                                                                         \
    "- {target: DRAM, type: temporal, factors: C=1 K=1 P=1 Q=2 R=1 S=1 N=1}\n"                               \
    "- {target: GlobalBuffer, type: temporal, factors: C=8 K=8 P=14 Q=1 R=1 S=1 N=1}\n"                      \
    "- {target: GlobalBuffer, type: spatial, factors: C=1 K=16 P=1 Q=1 R=1 S=1 N=1}\n"                       \
    "- {target: InputBuffer, type: temporal, factors: C=1 K=1 P=1 Q=1 R=1 S=1 N=1}\n"                        \
    "- {target: InputBuffer, type: spatial, factors: C=1 K=8 P=1 Q=1 R=1 S=1 N=1}\n"                         \
    "- {target: WeightBuffer, type: temporal, factors: C=4 K=1 P=1 Q=1 R=1 S=1 N=1}\n"                       \
    "- {target: AccumulationBuffer, type: temporal, factors: C=1 K=1 P=1 Q=1 R=1 S=1 N=1}\n"                 \
    "- {target: AccumulationBuffer, type: spatial, factors: C=8 K=1 P=1 Q=1 R=1 S=1 N=1}\n"                  \
    "- {target: Registers, type: temporal, factors: C=1 K=1 P=1 Q=7 R=1 S=1 N=1}\n"
#define ORDER(text) "    " text ": [{target: GlobalBuffer, type: temporal, permutation: " text "}]\n"
#define ORDERS "axes:\n  constraints:\n" ORDER("CKP") ORDER("PKC") ORDER("KPC")

/* The one mapping of point p, priced. */
static struct evaluation price_point(const struct sweep *sweep, size_t p, struct mapping *mapping)
{
    struct sweep_point point;
    struct architecture arch;
    struct dse_error err = {0};
    struct arena arena;
    struct solve_result *result = calloc(1, sizeof *result);
    assert_non_null(result);
    arena_init(&arena);
    sweep_point(sweep, p, &point);
    assert_int_equal(sweep_point_build(&point, &arch, &err), DSE_OK);
    assert_int_equal(solve_task(&point.settings, &point.workload->problem[0], &arch, NULL, &arena, result),
                     DSE_OK);
    if (result->outcome != RESULT_OK)
        fail_msg("%s", result->reason);
    struct evaluation evaluation = result->found.evaluation;
    *mapping = result->found.mapping;
    arena_free(&arena);
    free(result);
    return evaluation;
}

static void test_sweep_constraints_axis_prices_given_mappings(void **state)
{
    (void)state;
    static const char *const order[] = {"CKP", "PKC", "KPC"};
    enum { GLOBAL_BUFFER = 4, DRAM = 5 };
    struct mapping mapping[3];
    struct evaluation evaluation[3];
    struct sweep_case *o =
        open_text("experiment: e\narchitecture: simba_tablev\nnetwork: resnet50\nlayers: [conv4_0_c]\n"
                  "engine: random\noptions: {search_size: 1}\n" FIXED_FACTORS ORDERS,
                  NULL, 0);
    const struct problem *problem = &o->sweep.workload[0].problem[0];
    assert_int_equal(o->sweep.n_point, 3);
    assert_string_equal(o->sweep.schema.axis[0].coordinate->name, "constraints");
    for (size_t p = 0; p < 3; p++) {
        assert_string_equal(o->sweep.schema.axis[0].coordinate->text[p], order[p]);
        evaluation[p] = price_point(&o->sweep, p, &mapping[p]);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(problem->dim_name[mapping[p].level[GLOBAL_BUFFER].temporal_order[i]][0],
                             order[p][i]);
        for (uint32_t d = 0; d < problem->n_dim; d++)
            assert_int_equal(mapping[p].level[GLOBAL_BUFFER].temporal[d],
                             mapping[0].level[GLOBAL_BUFFER].temporal[d]);
    }
    /* Weights (256 KiB, not in the global buffer) come from DRAM for each Q (2) and, unless P (14) is the
     * innermost loop, for each P: 2 * 13 * 256 KiB more. All else is the same there. */
    assert_true(evaluation[0].level_byte[DRAM] - evaluation[1].level_byte[DRAM] == 26.0 * 256 * 1024);
    assert_true(evaluation[2].level_byte[DRAM] == evaluation[0].level_byte[DRAM]);
    sweep_case_close(o);
}

static struct point_keys keys_of(const struct sweep *sweep, size_t p)
{
    struct sweep_point point;
    struct machine machine;
    struct point_keys keys;
    machine_init(&machine, sweep);
    sweep_point(sweep, p, &point);
    assert_true(keys_of_point(&machine, &point, &keys));
    return keys;
}

static void test_sweep_constraints_axis_is_part_of_the_keys(void **state)
{
    (void)state;
    static const char head[] = HEAD "engine: random\naxes:\n  constraints:\n";
    static const char *const lists[] = {
        "    one: [{target: DRAM, type: temporal, permutation: K}]\n    none: []\n",
        "    one: [{target: DRAM, type: temporal, permutation: C}]\n    none: []\n",
        ("    one: [{target: DRAM, type: temporal, permutation: K}]\n"
         "    two: [{target: DRAM, type: temporal, permutation: K}]\n")};
    struct point_keys keys[3][2];
    for (size_t i = 0; i < 3; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s", head, lists[i]);
        struct sweep_case *o = open_text(text, NULL, 0);
        for (size_t p = 0; p < 2; p++)
            keys[i][p] = keys_of(&o->sweep, p);
        sweep_case_close(o);
    }
    assert_true(keys[0][0].point != keys[1][0].point);
    assert_true(keys[0][1].point == keys[1][1].point);
    assert_true(keys[2][0].settings == keys[2][1].settings); /* the same search */
    assert_true(keys[2][0].point != keys[2][1].point);       /* two points */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweep_constraints_axis_prices_given_mappings),
        cmocka_unit_test(test_sweep_constraints_axis_is_part_of_the_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
