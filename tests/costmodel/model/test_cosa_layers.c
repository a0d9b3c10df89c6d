/* The networks of experiments/cosa are, layer by layer and in order, those of tests/known/cosa_layers.csv:
 * names, all seven loop bounds, strides and counts.
 * Tests: layer_problem.c, network.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/network.h"

enum { LINE_MAX_BYTE = 256, N_DIM = 7, N_COLUMN = 2 + N_DIM + 2 };

static const char *const networks[] = {"alexnet_cosa", "resnet50_cosa", "resnext50_cosa", "deepbench_cosa"};
static const char *const dims[N_DIM] = {"R", "S", "P", "Q", "C", "K", "N"};

static void read_network(const char *name, struct network *net)
{
    char path[256];
    struct dse_error err = {0};
    snprintf(path, sizeof(path), "experiments/cosa/networks/%s.yaml", name);
    if (network_read(path, net, &err) != DSE_OK)
        fail_msg("%s:%d: %s", err.file, err.line, err.text);
    assert_string_equal(net->name, name);
}

/* One row is this layer. */
static void check_layer(const struct layer *layer, char *const column[N_COLUMN])
{
    struct problem problem;
    struct dse_error err = {0};
    assert_string_equal(layer->name, column[1]);
    if (layer_problem(layer, 1, &problem, &err) != DSE_OK)
        fail_msg("%s: %s", layer->name, err.text);
    assert_int_equal(problem.n_dim, N_DIM);
    for (int d = 0; d < N_DIM; d++) {
        int i = problem_find_dim(&problem, dims[d]);
        assert_true(i >= 0);
        if (problem.bound[i] != strtoul(column[2 + d], NULL, 10))
            fail_msg("%s: %s = %u, the table has %s", layer->name, dims[d], problem.bound[i], column[2 + d]);
    }
    /* A window of two outputs: the second one starts `stride` further on. */
    uint32_t extent[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < problem.n_dim; d++)
        extent[d] = 1;
    int inputs = problem_find_tensor(&problem, "Inputs");
    assert_true(inputs >= 0);
    for (int d = 2; d <= 3; d++) {
        int i = problem_find_dim(&problem, dims[d]);
        extent[i] = 2;
        assert_int_equal(problem_tile_words(&problem, (uint32_t)inputs, extent),
                         1 + strtoul(column[2 + N_DIM], NULL, 10));
        extent[i] = 1;
    }
    assert_int_equal(layer->count, strtoul(column[3 + N_DIM], NULL, 10));
}

static void test_cosa_layers_have_the_bounds_of_the_table(void **state)
{
    (void)state;
    FILE *file = fopen("tests/known/cosa_layers.csv", "r");
    char line[LINE_MAX_BYTE];
    size_t n_network = 0;
    uint32_t next = 0;
    struct network net;
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        char *column[N_COLUMN], *rest = line;
        if (line[0] == '#')
            continue;
        line[strcspn(line, "\n")] = '\0';
        for (int i = 0; i < N_COLUMN; i++)
            assert_non_null(column[i] = strsep(&rest, ","));
        assert_null(rest);
        if (n_network == 0 || strcmp(column[0], networks[n_network - 1]) != 0) {
            if (n_network > 0) {
                assert_int_equal(next, net.n_layer);
                network_free(&net);
            }
            assert_true(n_network < sizeof(networks) / sizeof(networks[0]));
            assert_string_equal(column[0], networks[n_network]);
            read_network(networks[n_network++], &net);
            next = 0;
        }
        assert_true(next < net.n_layer);
        check_layer(&net.layer[next++], column);
    }
    fclose(file);
    assert_int_equal(n_network, sizeof(networks) / sizeof(networks[0]));
    assert_int_equal(next, net.n_layer);
    network_free(&net);
}

/* The whole networks: the occurrences add up to the totals of the shipped networks that have the same layers
 * (tests/known/network_totals.csv; ResNeXt's 3x3 layers count the same, see the file's head). */
static void test_cosa_layers_add_up_to_the_networks(void **state)
{
    (void)state;
    static const uint64_t macs[] = {714188480, 4089184256, 4230479872, 433695744};
    for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
        struct network net;
        read_network(networks[i], &net);
        assert_int_equal(network_macs(&net, 1), macs[i]);
        network_free(&net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cosa_layers_have_the_bounds_of_the_table),
        cmocka_unit_test(test_cosa_layers_add_up_to_the_networks),
    };
    return cmocka_run_group_tests_name("cosa_layers", tests, NULL, NULL);
}
