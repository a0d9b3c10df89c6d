/* Layers whose solves once took seconds: the hulls of the tiles' rows leave hardly a node, and the optimum
 * stays.
 * Tests: speed_rows.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"
#include "engines/cosa/cosa.h"

/* Optima: HiGHS 1.15.1 on the models before they had the hulls, relative gap 1e-9. With the meshes' hulls
 * alone GLPK took 6,579 to 20,000 nodes for each. */
static const struct {
    const char *machine, *network, *layer;
    double optimum; /* of the first solve */
} slow[] = {
    {"simba_large_buffer", "densenet161", "trans1", 229.239996},
    {"simba", "mindmappings_inception_conv2", "inception_conv2", 254.643742},
    {"simba", "deepbench", "face2", 213.805968},
    {"mindmappings", "vgg16", "conv2_2", 276.402835},
    {"simba", "densenet161", "d1_6_1x1", 230.696594},
    {"simba", "vgg16", "conv3_2", 264.379391}, /* the second solve, after a repair, was the slow one */
    {"simba_tablev", "inception_resnet_v1", "Conv_2b_3x3", 241.165076},
    {"simba", "densenet161", "d3_21_1x1", 204.475065},
    {"simba_tablev", "googlenet", "conv2", 235.863405},
};

static void read_case(size_t i, struct architecture *arch, struct problem *problem)
{
    char path[128];
    struct network network;
    struct dse_error err;
    (void)snprintf(path, sizeof path, "experiments/architectures/%s.yaml", slow[i].machine);
    assert_int_equal(architecture_read(path, arch, &err), DSE_OK);
    (void)snprintf(path, sizeof path, "experiments/networks/%s.yaml", slow[i].network);
    assert_int_equal(network_read(path, &network, &err), DSE_OK);
    int layer = network_find_layer(&network, slow[i].layer);
    assert_true(layer >= 0);
    assert_int_equal(layer_problem(&network.layer[layer], 1, problem, &err), DSE_OK);
    network_free(&network);
}

static void test_hulls_leave_hardly_a_node(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof slow / sizeof slow[0]; i++) {
        struct problem problem;
        struct architecture arch;
        struct cosa_settings settings;
        struct cosa_solution solution;
        struct arena arena;
        struct dse_error err;
        read_case(i, &arch, &problem);
        cosa_settings_init(&settings);
        arena_init(&arena);
        assert_int_equal(cosa_map(&problem, &arch, NULL, &settings, &arena, &solution, &err), DSE_OK);
        arena_free(&arena);
        assert_true(solution.feasible);
        assert_int_equal(solution.milp_status, MILP_OPTIMAL);
        assert_float_equal(solution.first_objective, slow[i].optimum, 2e-6);
        if (solution.n_node > 100)
            fail_msg("%s %s: %llu nodes", slow[i].machine, slow[i].layer,
                     (unsigned long long)solution.n_node);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hulls_leave_hardly_a_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
