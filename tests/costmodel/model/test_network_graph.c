/* Tests: network_graph.c, einsum_layer.c. Lists as graphs, by hand: names, operands and sizes; samples that
 * become rows; which loop nests are layers, whatever their dimensions are called; the shipped lists have the
 * multiply-accumulates and weights that they have as lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/network_graph.h"
#include "costmodel/readers/readers.h"

static void parse(const char *text, struct network *net)
{
    struct dse_error err = {0};
    if (network_parse("test.yaml", text, strlen(text), net, &err) != DSE_OK)
        fail_msg("line %d: %s", err.line, err.text);
}

/* In memory of `graph`. */
static void as_graph(const char *text, uint32_t batch, struct network *graph, uint32_t *graph_batch)
{
    struct network list;
    struct arena arena;
    struct dse_error err = {0};
    arena_init(&arena);
    parse(text, &list);
    if (network_as_graph(&list, batch, &arena, graph, graph_batch, &err) != DSE_OK)
        fail_msg("%s", err.text);
    graph->arena = arena;
    if (batch == 0)
        batch = network_batch(&list);
    if (batch > 0)
        assert_int_equal(network_macs(graph, *graph_batch), network_macs(&list, batch));
    network_free(&list);
}

static void test_every_occurrence_is_a_layer_with_inputs_of_its_own(void **state)
{
    static const char *const name[] = {"gate", "gate-3", "gate-4", "gate-2", "sum", "score"};
    static const char *const input[] = {"gate.in", "gate-3.in", "gate-4.in", "gate-2.in",
                                        "sum.in",  "sum.in2",   "score.in",  "score.second"};
    struct network graph;
    uint32_t batch;
    (void)state;
    as_graph("network: list\nkind: layers\nlayers:\n"
             "- {name: gate, type: conv, C: 5, K: 6, P: 4, Q: 7, R: 3, S: 3, stride: 2, pad: 1, count: 3}\n"
             "- {name: gate-2, type: linear, C: 8, K: 9, P: 10}\n"
             "- {name: sum, type: add, C: 3, P: 2, Q: 2}\n"
             "- {name: score, type: matmul, C: 64, K: 36, P: 12, groups: 4}\n",
             2, &graph, &batch);
    assert_int_equal(batch, 2);
    assert_true(graph.is_graph);
    assert_int_equal(graph.n_layer, 6);
    assert_int_equal(graph.n_input, 8);
    for (uint32_t l = 0; l < 6; l++) {
        assert_string_equal(graph.layer[l].name, name[l]);
        assert_int_equal(graph.order[l], l);
        assert_int_equal(graph.layer[l].count, 1);
    }
    for (uint32_t i = 0; i < 8; i++)
        assert_string_equal(graph.input[i].name, input[i]);
    assert_int_equal(graph.layer[1].producer[0], -2);
    assert_int_equal(graph.input[1].c, 5);
    assert_int_equal(graph.input[1].h, 7); /* (4 - 1) 2 + 3 - 2 */
    assert_int_equal(graph.input[1].w, 13);
    assert_int_equal(graph.layer[4].n_operand, 2);
    assert_int_equal(graph.layer[5].weight_producer, -8);
    assert_int_equal(graph.input[7].c * graph.input[7].h * graph.input[7].w, 36 * 16); /* K C / groups */
    network_free(&graph);
}

static void test_samples_beyond_the_common_ones_are_rows_or_groups(void **state)
{
    struct network graph;
    uint32_t batch;
    (void)state;
    as_graph("network: list\nkind: layers\nlayers:\n"
             "- {name: conv, type: conv, C: 5, K: 6, P: 4, Q: 4, R: 3, S: 3, batch: 4}\n"
             "- {name: fc, type: linear, C: 8, K: 9, P: 10, batch: 12}\n"
             "- {name: score, type: matmul, C: 64, K: 36, P: 12, groups: 4, batch: 8}\n",
             0, &graph, &batch);
    assert_int_equal(batch, 4);
    assert_int_equal(graph.layer[1].p, 30);
    assert_int_equal(graph.input[1].h, 30);
    assert_int_equal(graph.layer[2].groups, 8);
    assert_int_equal(graph.layer[2].c, 128);
    assert_int_equal(graph.layer[2].k, 72);
    /* by hand: 4 (6 5 9 16) + 12 (8 9 10) + 8 (36 16 12) */
    assert_int_equal(network_macs(&graph, batch), 4 * 6 * 5 * 9 * 16 + 12 * 720 + 8 * 36 * 16 * 12);
    network_free(&graph);
}

static const char list_head[] = "network: list\nkind: layers\nlayers:\n";

/* A nest of a list, as a layer. */
static void test_nests_are_layers_by_what_their_dimensions_index(void **state)
{
    static const struct {
        const char *nest;
        enum layer_type type;
        uint32_t batch, c, k, p, q, r, s, groups, stride, dilation, h;
    } row[] = {
        /* a matrix product, its output's columns called N */
        {"dims: {M: 3, N: 4, K: 5}, tensors: [{name: A, role: input, index: [M, K]}, {name: B, role: "
         "weights, "
         "index: [K, N]}, {name: Z, role: output, index: [M, N]}]",
         LAYER_LINEAR, 1, 5, 4, 3, 1, 1, 1, 1, 1, 1, 3},
        /* both operands activations, with heads and samples */
        {"dims: {N: 2, H: 6, M: 3, E: 4, D: 5}, tensors: [{name: A, role: input, index: [N, H, M, D]}, "
         "{name: B, role: input, index: [N, H, E, D]}, {name: Z, role: output, index: [N, H, M, E]}]",
         LAYER_MATMUL, 2, 30, 24, 3, 1, 1, 1, 6, 1, 1, 3},
        /* a convolution of samples: stride 2, dilation 3; weights first */
        {"dims: {N: 2, a: 3, b: 4, x: 5, y: 6, u: 7, v: 8}, tensors: [{name: B, role: weights, index: [b, u, "
         "a, v]}, {name: Z, role: output, index: [N, b, x, y]}, {name: A, role: input, index: [N, a, "
         "x*2+u*3, "
         "y*2+v*3]}]",
         LAYER_CONV, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 27},
        /* one axis: what no window moves over is the other one */
        {"dims: {G: 8, L: 5, T: 3, B: 9}, tensors: [{name: A, role: input, index: [B, G, L+T]}, {name: B, "
         "role: weights, index: [G, T]}, {name: Z, role: output, index: [B, G, L]}]",
         LAYER_CONV, 1, 8, 8, 5, 9, 3, 1, 8, 1, 1, 7},
        /* dimensions of one iteration are none */
        {"dims: {P: 6, R: 1, C: 4, K: 5, Q: 1, S: 1}, tensors: [{name: A, role: input, index: [C, P+R, "
         "Q+S]}, "
         "{name: B, role: weights, index: [C, K, R, S]}, {name: Z, role: output, index: [K, P, Q]}]",
         LAYER_LINEAR, 1, 4, 5, 6, 1, 1, 1, 1, 1, 1, 6},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct network graph;
        char text[600];
        uint32_t batch;
        (void)snprintf(text, sizeof text, "%s- {name: a, type: einsum, %s}\n", list_head, row[i].nest);
        as_graph(text, 0, &graph, &batch);
        const struct layer *l = &graph.layer[0];
        assert_int_equal(l->type, row[i].type);
        assert_int_equal(batch, row[i].batch);
        const uint32_t is[] = {l->c, l->k,      l->p,         l->q,           l->r,
                               l->s, l->groups, l->stride[0], l->dilation[0], l->h};
        assert_memory_equal(is, &row[i].c, sizeof is);
        network_free(&graph);
    }
}

static void test_refusals_name_layer_and_reason(void **state)
{
    static const struct {
        const char *layers, *why;
    } row[] = {
        {"- {name: m, type: einsum, dims: {I: 2, J: 3, K: 4, L: 5}, tensors: [{name: A, role: output, index: "
         "[I, J]}, {name: B, role: input, index: [I, K, L]}, {name: C, role: input, index: [J, K]}, {name: "
         "D, "
         "role: input, index: [J, L]}]}\n",
         "layer m is no convolution and no matrix product: it has 3 operands, not 2"},
        {"- {name: m, type: einsum, dims: {I: 2, J: 3, K: 4}, tensors: [{name: A, role: output, index: [I]}, "
         "{name: B, role: input, index: [I, K]}, {name: C, role: weights, index: [J, K]}]}\n",
         "dimension J indexes one tensor alone"},
        {"- {name: m, type: einsum, dims: {I: 2, K: 4}, tensors: [{name: A, role: output, index: [I+K]}, "
         "{name: B, role: input, index: [I]}, {name: C, role: weights, index: [K]}]}\n",
         "only its input may be indexed by sums"},
        {"- {name: m, type: einsum, dims: {X: 2, Y: 3, Z: 4, U: 2, V: 2, W: 2}, tensors: [{name: A, role: "
         "output, index: [X, Y, Z]}, {name: B, role: input, index: [X+U, Y+V, Z+W]}, {name: C, role: "
         "weights, "
         "index: [U, V, W]}]}\n",
         "its window moves along more than two axes"},
        {"- {name: a, type: linear, C: 2, K: 3, batch: 4}\n"
         "- {name: b, type: conv, C: 2, K: 3, P: 4, Q: 4, R: 3, S: 3, batch: 8}\n",
         "2 samples of layer b (conv) are not one larger layer; give one batch for all"},
        {"- {name: a, type: linear, C: 2, K: 3, count: 9999}\n- {name: b, type: linear, C: 2, K: 3, count: "
         "2}\n",
         "up to layer b it has 10001 layers, and a graph at most 10000; give smaller counts"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct network list, graph;
        struct arena arena;
        struct dse_error err = {0};
        char text[600];
        uint32_t batch;
        arena_init(&arena);
        (void)snprintf(text, sizeof text, "%s%s", list_head, row[i].layers);
        parse(text, &list);
        assert_int_not_equal(network_as_graph(&list, 0, &arena, &graph, &batch, &err), DSE_OK);
        arena_free(&arena);
        if (!strstr(err.text, row[i].why))
            fail_msg("%s", err.text);
        assert_true(err.line >= 4);
        network_free(&list);
    }
}

/* Layers that belong together are not to run side by side. A graph has no such reason. */
static void test_a_list_that_says_why_it_is_one_has_no_graph(void **state)
{
    static const char text[] = "network: list\nkind: layers\nnot_graph: its channels are shuffled\nlayers:\n"
                               "- {name: a, type: linear, C: 2, K: 3}\n";
    static const char graph_text[] = "network: n\nnot_graph: none\ninput: {C: 2}\nlayers:\n"
                                     "- {name: a, type: linear, C: 2, K: 3, from: input}\n";
    struct network list, graph;
    struct arena arena;
    struct dse_error err = {0};
    uint32_t batch;
    (void)state;
    arena_init(&arena);
    parse(text, &list);
    assert_int_equal(network_as_graph(&list, 0, &arena, &graph, &batch, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "fused schedulers do not: its channels are shuffled"));
    network_free(&list);
    arena_free(&arena);
    assert_int_equal(network_parse("g.yaml", graph_text, strlen(graph_text), &graph, &err), DSE_BAD_INPUT);
    assert_int_equal(err.line, 2);
}

/* docs/networks.md has the same two sums of each. */
static void test_shipped_lists_keep_their_sums(void **state)
{
    static const char *const name[] = {"alexnet_interstellar",
                                       "lstm_m",
                                       "lstm_l",
                                       "rhn",
                                       "deepbench",
                                       "mindmappings_resnet_conv3",
                                       "mindmappings_inception_conv2",
                                       "mindmappings_alexnet_conv4"};
    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        struct network list, graph;
        struct arena arena;
        struct dse_error err = {0};
        char path[128];
        uint32_t batch;
        arena_init(&arena);
        (void)snprintf(path, sizeof path, "experiments/networks/%s.yaml", name[i]);
        assert_int_equal(network_read(path, &list, &err), DSE_OK);
        assert_int_equal(network_as_graph(&list, 0, &arena, &graph, &batch, &err), DSE_OK);
        assert_int_equal(batch, network_batch(&list));
        assert_int_equal(network_macs(&graph, 1), network_macs(&list, 1));
        assert_int_equal(network_weight_words(&graph), network_weight_words(&list));
        arena_free(&arena);
        network_free(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_occurrence_is_a_layer_with_inputs_of_its_own),
        cmocka_unit_test(test_samples_beyond_the_common_ones_are_rows_or_groups),
        cmocka_unit_test(test_nests_are_layers_by_what_their_dimensions_index),
        cmocka_unit_test(test_refusals_name_layer_and_reason),
        cmocka_unit_test(test_a_list_that_says_why_it_is_one_has_no_graph),
        cmocka_unit_test(test_shipped_lists_keep_their_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
