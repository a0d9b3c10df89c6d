/* Errors of the network reader (the files of network_parts.h): line and sentence.
 * Tests: network_check.c, network_order.c, network_einsum.c, network_layer.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/text.h"
#include "costmodel/model/network.h"

#define GRAPH "network: n\ninput: {C: 3, H: 8, W: 8}\nlayers:\n"
#define LIST "network: n\nkind: layers\nlayers:\n"
#define CONV1 "- {name: conv1, type: conv, C: 3, K: 4, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: input}\n"

struct bad_case {
    const char *yaml;
    int line;
    const char *text; /* part of the message */
    enum dse_status status;
};

static void check_bad(const struct bad_case *bad)
{
    struct network net;
    struct dse_error err = {0};
    enum dse_status status = network_parse("bad.yaml", bad->yaml, strlen(bad->yaml), &net, &err);
    if (status == DSE_OK) {
        network_free(&net);
        fail_msg("accepted:\n%s", bad->yaml);
    }
    if (status != bad->status || err.line != bad->line || strstr(err.text, bad->text) == NULL)
        fail_msg("status %d, %s:%d: %s\nexpected line %d: ...%s...", status, err.file, err.line, err.text,
                 bad->line, bad->text);
    assert_string_equal(err.file, "bad.yaml");
    assert_int_equal(err.status, status);
}

#define CHECK_ALL(table)                                                                                     \
    for (size_t i = 0; i < sizeof(table) / sizeof((table)[0]); i++)                                          \
    check_bad(&(table)[i])

static void test_network_read_refuses_bad_heads(void **state)
{
    (void)state;
    static const struct bad_case bad[] = {
        {"- a\n- b\n", 1, "a network file", DSE_BAD_INPUT},
        {"network: n\nlayrs: []\n", 2, "layrs", DSE_BAD_INPUT},
        {"input: {C: 3}\nlayers: []\n", 1, "network", DSE_BAD_INPUT},
        {"network: a b\nlayers: []\n", 1, "\"a b\" is not a name", DSE_BAD_INPUT},
        {"network: n\nkind: lists\nlayers: []\n", 2, "lists", DSE_BAD_INPUT},
        {"network: n\nlayers: []\n", 1, "the network has no input", DSE_BAD_INPUT},
        {"network: n\ninput: {C: 3}\ninputs: {a: {C: 3}}\nlayers: []\n", 3, "both input and inputs",
         DSE_BAD_INPUT},
        {"network: n\ninputs: {}\nlayers: []\n", 2, "inputs names 0 inputs", DSE_BAD_INPUT},
        {"network: n\ninput: {C: 0}\nlayers: []\n", 2, "network input input: C", DSE_BAD_INPUT},
        {"network: n\ninput: {D: 3}\nlayers: []\n", 2, "D", DSE_BAD_INPUT},
        {"network: n\nkind: layers\ninput: {C: 3}\nlayers: []\n", 3, "has no network input", DSE_BAD_INPUT},
        {"network: n\ninput: {C: 3}\n", 1, "layers", DSE_BAD_INPUT},
        {"network: n\ninput: {C: 3}\nlayers: []\n", 3, "layers is empty", DSE_BAD_INPUT},
        {"network: n\ninput: {C: 3}\nlayers: {a: 1}\n", 3, "layers", DSE_BAD_INPUT},
        {"network: n\npublished_batch: 0\ninput: {C: 3}\nlayers: []\n", 2, "published_batch", DSE_BAD_INPUT},
    };
    CHECK_ALL(bad);
}

static void test_network_read_refuses_bad_layers(void **state)
{
    (void)state;
    static const struct bad_case bad[] = {
        {LIST "- conv\n", 4, "a layer", DSE_BAD_INPUT},
        {LIST "- {type: conv, C: 1, K: 1}\n", 4, "name", DSE_BAD_INPUT},
        {LIST "- {name: \"\", type: conv, C: 1, K: 1}\n", 4, "is not a name", DSE_BAD_INPUT},
        {LIST "- {name: a, C: 1, K: 1}\n", 4, "type", DSE_BAD_INPUT},
        {LIST "- {name: a, type: cnov, C: 1, K: 1}\n", 4, "did you mean \"conv\"", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, K: 1}\n", 4, "C", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 1}\n", 4, "K", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 1, K: 1, strid: 2}\n", 4, "did you mean \"stride\"", DSE_BAD_INPUT},
        {LIST "- {name: a, type: linear, C: 1, K: 1, R: 3}\n", 4, "layer a of type linear", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 1, K: 1,\n   P: 0}\n", 5, "layer a: P", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 1, K: 1, P: 1.5}\n", 4, "1.5", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 1, K: -1}\n", 4, "-1", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 16777217, K: 1}\n", 4, "16777217", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 1, K: 1, C: 2}\n", 4, "C", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 1, K: 1, stride: [1, 2, 3]}\n", 4,
         "layer a: stride is one number, [vertical, horizontal]", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 1, K: 1, stride: 0}\n", 4, "layer a: stride", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 1, K: 1, pad: {top: 1}}\n", 4,
         "layer a: pad is one number, [vertical, horizontal] or [top, left, bottom, right]", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 1, K: 1, pad: []}\n", 4, "layer a: pad is one number",
         DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 6, K: 4, groups: 3}\n", 4,
         "layer a: C 6 and K 4 must both be multiples of groups 3", DSE_BAD_INPUT},
        {LIST "- {name: a, type: depthwise, C: 6, K: 4}\n", 4, "must both be multiples of C 6",
         DSE_BAD_INPUT},
        {LIST "- {name: a, type: pool, C: 6, K: 4}\n", 4, "layer a: K is 4 but C is 6", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 1, K: 1, from: input}\n", 4, "has no producers", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 1, K: 1, count: 0}\n", 4, "layer a: count", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 1, K: 1}\n- {name: a, type: conv, C: 1, K: 1}\n", 5,
         "layer name a is used twice, first on line 4", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 1, K: 1, P: 5, H: 4}\n", 4,
         "layer a: P is 5, but H 4 with padding 0 and 0 gives 4 (filter reach 1, stride 1)", DSE_BAD_INPUT},
        {LIST "- {name: a, type: transpose, C: 4, K: 8, P: 4}\n", 4, "permute", DSE_BAD_INPUT},
        {LIST "- {name: a, type: transpose, C: 4, K: 8, P: 4, permute: HHW}\n", 4,
         "permute \"HHW\" is not an order of C, H and W", DSE_BAD_INPUT},
        {LIST "- {name: a, type: transpose, C: 4, K: 8, P: 5, permute: HCW}\n", 4,
         "layer a: with permute HCW P must be C = 4, is 5", DSE_BAD_INPUT},
        {LIST "- {name: a, type: conv, C: 16777216, K: 16777216, P: 64}\n", 4,
         "a has 1.8e+16 multiply-accumulates", DSE_LIMIT},
        {LIST "- {name: a, type: norm, C: 16777216, P: 16777216, Q: 64}\n", 4,
         "1.8e+16 words of input or output", DSE_LIMIT},
        {LIST "- {name: a, type: conv, C: 1, K: 1, P: 16777216, stride: 2}\n", 4,
         "its input would be 33554431 wide or high", DSE_LIMIT},
    };
    CHECK_ALL(bad);
}

static void test_network_read_refuses_bad_producers(void **state)
{
    (void)state;
    static const struct bad_case bad[] = {
        {GRAPH "- {name: a, type: conv, C: 3, K: 4, P: 8, Q: 8}\n", 4,
         "layer a: no producer; add \"from: input\"", DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: conv, C: 4, K: 4, P: 8, Q: 8, from: conv2}\n", 5,
         "layer b: its producer \"conv2\" does not exist; did you mean \"conv1\"?", DSE_BAD_INPUT},
        {GRAPH "- {name: a, type: conv, C: 3, K: 4, P: 8, Q: 8, from: elsewhere}\n", 4,
         "layer a: its producer \"elsewhere\" is neither a layer nor a network input (input)", DSE_BAD_INPUT},
        {GRAPH "- {name: input, type: conv, C: 3, K: 4, P: 8, Q: 8, from: input}\n", 4,
         "layer name input is already the name of a network input", DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: add, C: 4, P: 8, Q: 8, from: []}\n", 5, "from names 0 producers",
         DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: matmul, C: 4, K: 4, P: 8, Q: 8, from: conv1}\n", 5,
         "layer b: a matmul needs weights_from", DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: matmul, C: 4, K: 4, P: 8, Q: 8, from: conv1, weights_from: conv1}\n",
         5, "layer b: its second operand needs K x C / groups = 16 words, but conv1 gives 4 x 8 x 8 = 256",
         DSE_BAD_INPUT},
        {GRAPH "- {name: a, type: conv, C: 3, K: 4, P: 8, Q: 8, count: 2, from: input}\n", 4,
         "layer a: count is for lists of layers", DSE_BAD_INPUT},
        {LIST "- {name: e, type: einsum, dims: {I: 1}, tensors: {A: [I]}}\n", 4,
         "layer e: tensors must be a list", DSE_BAD_INPUT},
        {GRAPH "- {name: e, type: einsum, dims: {I: 1}, tensors: [], from: input}\n", 4, "einsum",
         DSE_BAD_INPUT},
    };
    CHECK_ALL(bad);
}

static void test_network_read_names_the_cycle(void **state)
{
    (void)state;
    static const struct bad_case bad[] = {
        {GRAPH "- {name: a, type: norm, C: 4, P: 8, Q: 8, from: a}\n", 4,
         "the layers form a cycle of 1: a -> a;", DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: add, C: 4, P: 8, Q: 8, from: [conv1, d]}\n"
                     "- {name: c, type: norm, C: 4, P: 8, Q: 8, from: b}\n"
                     "- {name: d, type: norm, C: 4, P: 8, Q: 8, from: c}\n",
         5, "the layers form a cycle of 3: b -> c -> d -> b;", DSE_BAD_INPUT},
        {GRAPH "- {name: a, type: matmul, C: 3, K: 3, P: 8, Q: 8, from: input, weights_from: b}\n"
               "- {name: b, type: norm, C: 3, P: 8, Q: 8, from: a}\n",
         4, "cycle of 2: a -> b -> a;", DSE_BAD_INPUT},
        {GRAPH "- {name: a, type: norm, C: 3, P: 8, Q: 8, from: j}\n"
               "- {name: b, type: norm, C: 3, P: 8, Q: 8, from: a}\n"
               "- {name: c, type: norm, C: 3, P: 8, Q: 8, from: b}\n"
               "- {name: d, type: norm, C: 3, P: 8, Q: 8, from: c}\n"
               "- {name: e, type: norm, C: 3, P: 8, Q: 8, from: d}\n"
               "- {name: f, type: norm, C: 3, P: 8, Q: 8, from: e}\n"
               "- {name: g, type: norm, C: 3, P: 8, Q: 8, from: f}\n"
               "- {name: h, type: norm, C: 3, P: 8, Q: 8, from: g}\n"
               "- {name: i, type: norm, C: 3, P: 8, Q: 8, from: h}\n"
               "- {name: j, type: norm, C: 3, P: 8, Q: 8, from: i}\n",
         4, "cycle of 10: a -> b -> c -> d -> e -> f -> g -> h -> ... -> a;", DSE_BAD_INPUT},
    };
    CHECK_ALL(bad);
}

static void test_network_read_refuses_shapes_that_do_not_fit(void **state)
{
    (void)state;
    static const struct bad_case bad[] = {
        {GRAPH CONV1 "- {name: b, type: conv, C: 5, K: 4, P: 8, Q: 8, from: conv1}\n", 5,
         "layer b: C is 5, but its producer conv1 gives 4 channels", DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: conv, C: 5, K: 4, P: 8, Q: 8, from: [conv1, input]}\n", 5,
         "layer b: C is 5, but its 2 producers together give 7 channels", DSE_BAD_INPUT},
        {GRAPH CONV1
         "- {name: b, type: conv, C: 4, K: 4, P: 8, Q: 8, R: 3, pad: [0, 0, 1, 0], from: conv1}\n",
         5, "layer b: P is 8, but H 8 with padding 0 and 1 gives 7 (filter reach 3, stride 1)",
         DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: conv, C: 4, K: 4, P: 8, Q: 7, from: conv1}\n", 5,
         "layer b: Q is 7, but W 8 with padding 0 and 0 gives 8 (filter reach 1, stride 1)", DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: conv, C: 4, K: 4, P: 1, Q: 8, R: 9, from: conv1}\n", 5,
         "layer b: P is 1, but H 8 with padding 0 and 0 gives 0 (filter reach 9, stride 1)", DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: pool, C: 4, P: 4, Q: 4, R: 2, S: 2, stride: 2, H: 9, from: conv1}\n",
         5, "layer b: H is 9, but its producer conv1 gives 8", DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: norm, C: 4, P: 4, Q: 8, from: conv1}\n", 5,
         "layer b: it reads 4x8, but its producer conv1 gives 8x8", DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: pool, C: 4, P: 4, Q: 4, R: 2, S: 2, stride: 2, from: conv1}\n"
                     "- {name: c, type: add, C: 4, P: 8, Q: 8, from: [conv1, b]}\n",
         6, "layer c: its producers differ in size: conv1 gives 8x8, b gives 4x4", DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: add, C: 4, P: 8, Q: 8, from: conv1}\n", 5,
         "layer b: add needs two or more operands of C = 4 channels, has 1", DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: add, C: 4, P: 8, Q: 8, from: [conv1, input]}\n", 5,
         "its producers do not fill whole operands of C = 4 channels (3 channels in the last one)",
         DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: add, C: 3, P: 8, Q: 8, from: [conv1, input]}\n", 5,
         "layer b: C is 3, but its producer conv1 gives 4 channels", DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: linear, C: 255, K: 10, from: conv1}\n", 5,
         "layer b: C is 255, but its producers give 4 channels of 8x8; accepted are C = 4 with the same P "
         "and Q, or "
         "flattened C = 256 with P = Q = 1",
         DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: transpose, C: 4, K: 7, P: 4, Q: 8, permute: HCW, from: conv1}\n", 5,
         "layer b: it reads 7x8, but its producer conv1 gives 8x8", DSE_BAD_INPUT},
        {GRAPH CONV1 "- {name: b, type: concat, C: 7, P: 8, Q: 8, from: [conv1, conv1]}\n", 5,
         "layer b: C is 7, but its 2 producers together give 8 channels", DSE_BAD_INPUT},
    };
    CHECK_ALL(bad);
}

#define EINSUM(dims, index) LIST "- {name: e, type: einsum, dims: " dims ", tensors: [" index "]}\n"
#define OUT_I "{name: O, role: output, index: [I]}"

static void test_network_read_finds_what_grows_or_is_cropped(void **state)
{
    (void)state;
    static const char text[] =
        GRAPH "- {name: up, type: conv_transpose, C: 3, K: 4, P: 16, Q: 17, R: 4, S: 4, stride: 2, pad: 1, "
              "from: input}\n"
              "- {name: near, type: upsample, C: 3, P: 16, Q: 24, factor: [2, 3], from: input}\n"
              "- {name: part, type: crop, C: 3, P: 5, Q: 8, from: input}\n"
              "- {name: corner, type: crop, C: 3, P: 5, Q: 8, offset: [3, 0], from: input}\n";
    struct network net;
    struct dse_error err = {0};
    if (network_parse("grow.yaml", text, sizeof(text) - 1, &net, &err) != DSE_OK)
        fail_msg("%s", err.text);
    for (int i = 0; i < 4; i++)
        assert_true(net.layer[i].h == 8 && net.layer[i].w == 8);
    assert_true(layer_weight_words(&net.layer[0]) == 3 * 4 * 16);
    assert_int_equal(net.layer[1].k, 3);
    assert_int_equal(net.layer[2].pad[0], 1); /* (8 - 5) / 2 */
    assert_int_equal(net.layer[2].pad[1], 0);
    assert_int_equal(net.layer[3].pad[0], 3);
    network_free(&net);
}

static void test_network_read_refuses_what_does_not_grow(void **state)
{
    (void)state;
    static const struct bad_case bad[] = {
        /* (8 - 1) 2 + 3 - 2 = 15, and 16 with output padding */
        {GRAPH
         "- {name: up, type: conv_transpose, C: 3, K: 4, P: 17, Q: 15, R: 3, S: 3, stride: 2, pad: 1, from: "
         "input}\n",
         4, "P is 17, but H 8 with stride 2, padding 1 and 1 gives 15, with output padding up to 16",
         DSE_BAD_INPUT},
        {GRAPH
         "- {name: up, type: conv_transpose, C: 3, K: 4, P: 14, Q: 15, R: 3, S: 3, stride: 2, pad: 1, from: "
         "input}\n",
         4, "gives 15", DSE_BAD_INPUT},
        {GRAPH "- {name: up, type: upsample, C: 3, P: 16, Q: 15, factor: 2, from: input}\n", 4,
         "Q is 15, but W 8 times the factor 2 is 16", DSE_BAD_INPUT},
        {GRAPH "- {name: up, type: upsample, C: 3, P: 16, Q: 16, from: input}\n", 4, "factor", DSE_BAD_INPUT},
        {GRAPH "- {name: up, type: upsample, C: 3, P: 16, Q: 16, factor: 0, from: input}\n", 4, "factor",
         DSE_BAD_INPUT},
        {GRAPH "- {name: c, type: crop, C: 3, P: 9, Q: 8, from: input}\n", 4,
         "P 9 behind offset 0 is more than H 8", DSE_BAD_INPUT},
        {GRAPH "- {name: c, type: crop, C: 3, P: 6, Q: 6, offset: 3, from: input}\n", 4,
         "P 6 behind offset 3", DSE_BAD_INPUT},
        {GRAPH "- {name: c, type: crop, C: 3, K: 4, P: 6, Q: 6, from: input}\n", 4, "keeps its channels",
         DSE_BAD_INPUT},
        {GRAPH "- {name: c, type: pool, C: 3, factor: 2, from: input}\n", 4, "\"factor\"", DSE_BAD_INPUT},
        {LIST "- {name: u, type: upsample, C: 3, P: 7, Q: 8, factor: 2}\n", 4, "P is 7", DSE_BAD_INPUT},
    };
    CHECK_ALL(bad);
}

static void test_network_read_refuses_bad_einsums(void **state)
{
    (void)state;
    static const struct bad_case bad[] = {
        {LIST "- {name: e, type: einsum, tensors: []}\n", 4, "dims", DSE_BAD_INPUT},
        {LIST "- {name: e, type: einsum, dims: {I: 1}}\n", 4, "tensors", DSE_BAD_INPUT},
        {EINSUM("{}", OUT_I), 4, "0 dimensions", DSE_BAD_INPUT},
        {EINSUM("{I: 0}", OUT_I), 4, "layer e: dims: I", DSE_BAD_INPUT},
        {EINSUM("{2I: 3}", OUT_I), 4, "\"2I\" is not a dimension name", DSE_BAD_INPUT},
        {EINSUM("{I: 3}", ""), 4, "0 tensors", DSE_BAD_INPUT},
        {EINSUM("{I: 3}", "{name: A, role: in, index: [I]}"), 4, "in", DSE_BAD_INPUT},
        {EINSUM("{I: 3}", "{name: A, role: input, index: [J]}"), 4, "\"J\" is not one of the layer's dims",
         DSE_BAD_INPUT},
        {EINSUM("{I: 3}", "{name: A, role: input, index: [\"I-1\"]}"), 4,
         "index \"I-1\" is not a dimension or a sum", DSE_BAD_INPUT},
        {EINSUM("{I: 3}", "{name: A, role: input, index: [\"I*I\"]}"), 4, "index \"I*I\"", DSE_BAD_INPUT},
        {EINSUM("{I: 3}", "{name: A, role: input, index: [\"2*2*I\"]}"), 4, "index \"2*2*I\"", DSE_BAD_INPUT},
        {EINSUM("{I: 3}", "{name: A, role: input, index: [\"I*0\"]}"), 4, "is not from 1 to 65535",
         DSE_BAD_INPUT},
        {EINSUM("{I: 3}", "{name: A, role: input, index: [\"I+\"]}"), 4, "index \"I+\"", DSE_BAD_INPUT},
        {EINSUM("{I: 3}", "{name: A, role: input, index: [\"I+I+I+I+I\"]}"), 4, "up to 4 terms",
         DSE_BAD_INPUT},
        {EINSUM("{I: 3}", "{name: A, role: input, index: [I]}"), 4, "0 read-write tensors", DSE_BAD_INPUT},
        {EINSUM("{I: 3}", OUT_I ", " OUT_I), 4, "name of its own", DSE_BAD_INPUT},
        {EINSUM("{I: 16777216, J: 16777216, K: 64}", OUT_I), 4, "multiply-accumulates", DSE_LIMIT},
    };
    CHECK_ALL(bad);
}

static void test_network_read_reports_files_that_cannot_be_read(void **state)
{
    (void)state;
    struct network net;
    struct dse_error err = {0};
    assert_int_equal(network_read("tests/known/no_such_network.yaml", &net, &err), DSE_IO);
    assert_non_null(strstr(err.file, "no_such_network.yaml"));
    assert_int_equal(network_read("tests/known", &net, &err), DSE_IO);
}

static void test_network_read_limits_the_number_of_layers(void **state)
{
    (void)state;
    struct text_buffer text;
    text_init(&text);
    text_append(&text, GRAPH CONV1);
    for (int i = 2; i <= NETWORK_LAYER_MAX; i++)
        text_append(&text, "- {name: conv%d, type: norm, C: 4, P: 8, Q: 8, from: conv%d}\n", i, i - 1);
    struct network net;
    struct dse_error err = {0};
    assert_int_equal(network_parse("long.yaml", text.data, text.length, &net, &err), DSE_OK);
    assert_int_equal(net.n_layer, NETWORK_LAYER_MAX);
    assert_int_equal(net.order[NETWORK_LAYER_MAX - 1], NETWORK_LAYER_MAX - 1);
    network_free(&net);
    text_append(&text, "- {name: last, type: norm, C: 4, P: 8, Q: 8, from: conv1}\n");
    assert_int_equal(network_parse("long.yaml", text.data, text.length, &net, &err), DSE_LIMIT);
    assert_non_null(strstr(err.text, "10001 layers"));
    text_free(&text);
}

/* Any damage to a good file is read or refused with a line; under the sanitizers also without a slip. */
static void test_network_read_survives_damage(void **state)
{
    (void)state;
    static const char good[] =
        "network: n\ninputs: {x: {C: 3, H: 8, W: 8}}\nlayers:\n"
        "- {name: a, type: conv, C: 3, K: 4, P: 4, Q: 4, R: 3, S: 3, stride: [2, 2], pad: [1, 1, 0, 0], "
        "from: x}\n"
        "- {name: b, type: matmul, C: 4, K: 4, P: 4, Q: 4, groups: 4, from: a, weights_from: c}\n"
        "- {name: c, type: pool, C: 4, R: 4, S: 4, from: a}\n"
        "- {name: d, type: add, C: 4, P: 4, Q: 4, from: [a, b]}\n"
        "- {name: e, type: linear, C: 64, K: 10, from: d}\n";
    struct random_stream random = random_stream_make(1, 2, RANDOM_TEST);
    size_t n_read = 0;
    for (int i = 0; i < 4000; i++) {
        char text[sizeof(good)];
        memcpy(text, good, sizeof(good));
        for (uint32_t k = random_below(&random, 3) + 1; k > 0; k--)
            text[random_below(&random, sizeof(good) - 1)] = good[random_below(&random, sizeof(good) - 1)];
        struct network net;
        struct dse_error err = {0};
        if (network_parse("damaged.yaml", text, sizeof(good) - 1, &net, &err) == DSE_OK) {
            n_read++;
            network_free(&net);
        } else {
            assert_true(err.line > 0 && err.text[0] != '\0');
        }
    }
    assert_true(n_read > 0 && n_read < 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_network_read_refuses_bad_heads),
        cmocka_unit_test(test_network_read_refuses_bad_layers),
        cmocka_unit_test(test_network_read_refuses_bad_producers),
        cmocka_unit_test(test_network_read_names_the_cycle),
        cmocka_unit_test(test_network_read_refuses_shapes_that_do_not_fit),
        cmocka_unit_test(test_network_read_finds_what_grows_or_is_cropped),
        cmocka_unit_test(test_network_read_refuses_what_does_not_grow),
        cmocka_unit_test(test_network_read_refuses_bad_einsums),
        cmocka_unit_test(test_network_read_reports_files_that_cannot_be_read),
        cmocka_unit_test(test_network_read_limits_the_number_of_layers),
        cmocka_unit_test(test_network_read_survives_damage),
    };
    return cmocka_run_group_tests_name("network_read", tests, NULL, NULL);
}
