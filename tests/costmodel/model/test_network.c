/* Counts and comparisons of layers (costmodel/model/network.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/network.h"

static void parse(const char *text, struct network *net)
{
    struct dse_error err = {0};
    if (network_parse("test.yaml", text, strlen(text), net, &err) != DSE_OK)
        fail_msg("line %d: %s", err.line, err.text);
}

static const char *const small_graph =
    "network: small\n"
    "title: A small graph\n"
    "input: {C: 3, H: 224, W: 224}\n"
    "layers:\n"
    "- {name: conv1, type: conv, C: 3, K: 64, P: 112, Q: 112, R: 7, S: 7, stride: 2, pad: 3, from: input}\n"
    "- {name: dw, type: depthwise, C: 64, P: 112, Q: 112, R: 3, S: 3, pad: 1, from: conv1}\n"
    "- {name: grouped, type: conv, C: 64, K: 128, P: 56, Q: 56, R: 3, S: 3, stride: 2, pad: 1, groups: 4, "
    "from: dw}\n"
    "- {name: pool, type: pool, C: 128, P: 7, Q: 7, R: 8, S: 8, stride: 8, from: grouped}\n"
    "- {name: sum, type: add, C: 128, P: 7, Q: 7, from: [pool, pool, pool]}\n"
    "- {name: fc, type: linear, C: 6272, K: 10, from: sum}\n";

static void test_network_counts_by_hand(void **state)
{
    (void)state;
    struct network net;
    parse(small_graph, &net);
    assert_int_equal(net.n_layer, 6);
    const struct layer *l = net.layer;
    /* 64 * 3 * 7 * 7 = 9408 weights; times 112 * 112 = 118,013,952 MACs */
    assert_int_equal(layer_weight_words(&l[0]), 9408);
    assert_int_equal(layer_macs(&l[0], 1), 118013952);
    assert_int_equal(layer_macs(&l[0], 16), 16 * 118013952ull);
    /* depthwise: K = C, one channel per group, 9 weights each */
    assert_int_equal(l[1].groups, 64);
    assert_int_equal(l[1].k, 64);
    assert_int_equal(layer_weight_words(&l[1]), 64 * 9);
    /* 128 * (64 / 4) * 9 */
    assert_int_equal(layer_weight_words(&l[2]), 18432);
    assert_int_equal(layer_macs(&l[2], 1), 18432 * 56 * 56);
    assert_false(layer_has_macs(&l[3]));
    assert_int_equal(layer_macs(&l[3], 4), 0);
    assert_int_equal(layer_weight_words(&l[3]), 0);
    /* three operands of 128 x 7 x 7 */
    assert_int_equal(l[4].n_operand, 3);
    /* flattened: 128 * 7 * 7 = 6272 */
    assert_int_equal(l[5].h, 1);
    assert_int_equal(l[5].c, 6272);
    assert_int_equal(network_weight_words(&net), 9408 + 576 + 18432 + 62720);
    assert_int_equal(network_macs(&net, 1), 118013952ull + 576 * 12544 + 18432 * 3136 + 62720);
    assert_int_equal(network_find_layer(&net, "grouped"), 2);
    assert_int_equal(network_find_layer(&net, "Grouped"), -1);
    network_free(&net);
}

static void test_network_count_multiplies_totals(void **state)
{
    (void)state;
    struct network net;
    parse("network: lstm\nkind: layers\npublished_batch: 128\nlayers:\n"
          "- {name: gate, type: linear, C: 500, K: 500, count: 8}\n",
          &net);
    assert_int_equal(net.published_batch, 128);
    assert_false(net.is_graph);
    assert_int_equal(layer_macs(&net.layer[0], 1), 250000);
    assert_int_equal(network_macs(&net, 128), 8ull * 250000 * 128);
    assert_int_equal(network_weight_words(&net), 2000000);
    network_free(&net);
}

static void test_network_totals_saturate(void **state)
{
    (void)state;
    struct network net;
    /* 2^51 MACs a layer, a million of them: beyond 2^64 */
    parse("network: big\nkind: layers\nlayers:\n"
          "- {name: a, type: linear, C: 131072, K: 131072, P: 131072, count: 1000000}\n",
          &net);
    assert_int_equal(layer_macs(&net.layer[0], 1), 1ull << 51);
    assert_true(network_macs(&net, 1) == UINT64_MAX);
    assert_true(layer_macs(&net.layer[0], UINT32_MAX) == UINT64_MAX);
    network_free(&net);
}

static void test_network_matmul_has_no_weights(void **state)
{
    (void)state;
    struct network net;
    parse("network: attention\n"
          "input: {C: 64, H: 10, W: 1}\n"
          "layers:\n"
          "- {name: scores, type: matmul, C: 64, K: 40, P: 10, groups: 4, from: q, weights_from: k}\n"
          "- {name: q, type: linear, C: 64, K: 64, P: 10, from: input}\n"
          "- {name: k, type: linear, C: 64, K: 64, P: 10, from: input}\n",
          &net);
    const struct layer *scores = &net.layer[0];
    assert_int_equal(scores->producer[0], 1);
    assert_int_equal(scores->weight_producer, 2);
    assert_int_equal(layer_weight_words(scores), 0);
    /* 4 heads: 40 * 64 / 4 = 640 words of keys, used for 10 rows */
    assert_int_equal(layer_second_operand_words(scores), 640);
    assert_int_equal(layer_macs(scores, 1), 6400);
    /* producers first, else file order */
    assert_int_equal(net.order[0], 1);
    assert_int_equal(net.order[1], 2);
    assert_int_equal(net.order[2], 0);
    assert_int_equal(net.layer[1].producer[0], -1);
    network_free(&net);
}

static void test_network_embedding_counts_rows(void **state)
{
    (void)state;
    struct network net;
    parse("network: e\ninput: {C: 1, H: 512, W: 1}\nlayers:\n"
          "- {name: words, type: embedding, C: 30522, K: 768, P: 512, from: input}\n",
          &net);
    assert_int_equal(layer_weight_words(&net.layer[0]), 30522 * 768);
    assert_int_equal(layer_macs(&net.layer[0], 1), 0);
    network_free(&net);
}

static void test_network_same_problem_ignores_names_and_padding(void **state)
{
    (void)state;
    struct network net;
    parse("network: s\nkind: layers\nlayers:\n"
          "- {name: a, type: conv, C: 8, K: 8, P: 6, Q: 6, R: 3, S: 3, pad: 1}\n"
          "- {name: b, type: conv, C: 8, K: 8, P: 6, Q: 6, R: 3, S: 3, count: 4}\n"
          "- {name: c, type: conv, C: 8, K: 8, P: 6, Q: 6, R: 3, S: 3, stride: 2}\n"
          "- {name: d, type: conv, C: 8, K: 8, P: 6, Q: 6, R: 3, S: 3, groups: 2}\n"
          "- {name: e, type: linear, C: 8, K: 8, P: 6}\n"
          "- {name: f, type: conv, C: 8, K: 8, P: 6}\n"
          "- {name: g, type: matmul, C: 8, K: 8, P: 6}\n"
          "- {name: h, type: pool, C: 8, P: 6, Q: 6, R: 3, S: 3}\n"
          "- {name: i, type: conv, C: 8, K: 8, P: 6, Q: 6, R: 3, S: 3, dilation: [1, 2]}\n",
          &net);
    const struct layer *l = net.layer;
    assert_true(layer_same_problem(&l[0], &l[1]));
    assert_false(layer_same_problem(&l[0], &l[2]));
    assert_false(layer_same_problem(&l[0], &l[3]));
    assert_true(layer_same_problem(&l[4], &l[5]));
    assert_false(layer_same_problem(&l[4], &l[6]));
    assert_false(layer_same_problem(&l[7], &l[7]));
    assert_false(layer_same_problem(&l[0], &l[8]));
    network_free(&net);
}

static void test_network_same_einsum_compares_everything(void **state)
{
    (void)state;
    struct network net;
    parse("network: e\nkind: layers\nlayers:\n"
          "- {name: a, type: einsum, dims: {I: 4, J: 5}, tensors: [{name: X, role: input, index: [I, J]},"
          " {name: Y, role: output, index: [I]}]}\n"
          "- {name: b, type: einsum, dims: {I: 4, J: 5}, tensors: [{name: X, role: input, index: [I, J]},"
          " {name: Y, role: output, index: [I]}]}\n"
          "- {name: c, type: einsum, dims: {I: 4, J: 5}, tensors: [{name: X, role: input, index: [I, J*2]},"
          " {name: Y, role: output, index: [I]}]}\n"
          "- {name: d, type: einsum, dims: {I: 4, J: 6}, tensors: [{name: X, role: input, index: [I, J]},"
          " {name: Y, role: output, index: [I]}]}\n"
          "- {name: e, type: einsum, dims: {I: 4, J: 5}, tensors: [{name: X, role: weights, index: [I, J]},"
          " {name: Y, role: output, index: [I]}]}\n",
          &net);
    const struct layer *l = net.layer;
    assert_true(layer_same_problem(&l[0], &l[1]));
    for (int i = 2; i < 5; i++)
        assert_false(layer_same_problem(&l[0], &l[i]));
    assert_int_equal(layer_macs(&l[0], 3), 60);
    /* J*2 spans 1 + 2 * (5 - 1) = 9 */
    assert_int_equal(problem_tensor_words(l[2].einsum, 0), 36);
    assert_int_equal(layer_weight_words(&l[4]), 20);
    network_free(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_network_counts_by_hand),
        cmocka_unit_test(test_network_count_multiplies_totals),
        cmocka_unit_test(test_network_totals_saturate),
        cmocka_unit_test(test_network_matmul_has_no_weights),
        cmocka_unit_test(test_network_embedding_counts_rows),
        cmocka_unit_test(test_network_same_problem_ignores_names_and_padding),
        cmocka_unit_test(test_network_same_einsum_compares_everything),
    };
    return cmocka_run_group_tests_name("network", tests, NULL, NULL);
}
