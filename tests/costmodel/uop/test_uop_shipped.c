/* Tests: uop_network.c, uop_needs.c.
 * Of all shipped networks the multiply-accumulates, weights and maps of their uops against what network.h
 * counts; what uops bring from outside; what can be no uops. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/uop/uop_needs.h"

static const struct kc_machine machine = {.c_lane = 12, .k_lane = 14, .delivery = {1000, 1}};

/* ---- shipped networks ---- */

static uint64_t embedding_words(const struct network *network)
{
    uint64_t sum = 0;
    for (uint32_t l = 0; l < network->n_layer; l++)
        if (network->layer[l].type == LAYER_EMBEDDING)
            sum += layer_weight_words(&network->layer[l]) * network->layer[l].count;
    return sum;
}

/* Tiles of some size: their MACs, weights and outputs add up to the network's. */
static void check_sums(const struct network *network, const char *name)
{
    struct uop_network uops;
    struct uop_graph graph;
    struct arena arena;
    struct dse_error err;
    uint32_t n_sample;
    uint64_t macs = 0, weights = 0;
    arena_init(&arena);
    if (uop_network_for(network, 0, UOP_FUSED, &arena, &uops, &n_sample, &err) != DSE_OK)
        fail_msg("%s", err.text);
    struct uop_cut *cut = calloc(uops.n_layer, sizeof *cut);
    uint64_t *made = calloc(uops.n_layer, sizeof *made);
    assert_true(cut && made);
    for (uint32_t l = 0; l < uops.n_layer; l++)
        cut[l] = (struct uop_cut){40, 60, 1 << 20, uops.layer[l].whole.k * uops.layer[l].whole.g / 3 + 1};
    if (uop_graph_of(&uops, &machine, cut, UOP_SUMS_ALL, 1, &arena, &graph, &err) != DSE_OK)
        fail_msg("%s", err.text);
    for (uint32_t u = 0; u < graph.n_uop; u++) {
        const uint32_t l = graph.uop[u].layer;
        const struct uop_box box = uop_box_of(&graph, u);
        const struct kc_tile tile = uop_tile_of(&uops.layer[l].whole, &box);
        macs += kc_macs(&tile) * n_sample;
        made[l] += graph.uop[u].output_word;
        if (box.row.first == 0 && box.column.first == 0 && uop_layer_has_weights(&uops.layer[l]))
            weights += (uint64_t)tile.r * tile.s * tile.c * tile.k * tile.g;
    }
    for (uint32_t l = 0; l < uops.n_layer; l++) {
        const struct layer *layer = &uops.network->layer[uops.layer[l].of];
        assert_int_equal(made[l], (uint64_t)layer->k * layer->p * layer->q);
    }
    uint64_t all = 0;
    for (uint32_t l = 0; l < network->n_layer; l++)
        all += layer_macs(&network->layer[l], network->layer[l].batch ? network->layer[l].batch : 1) *
               network->layer[l].count;
    if (macs != all)
        fail_msg("%s: MACs", name);
    assert_int_equal(weights, network_weight_words(network) - embedding_words(network));
    free(cut);
    free(made);
    arena_free(&arena);
}

static void test_shipped_networks_have_their_macs_weights_and_maps(void **state)
{
    DIR *dir = opendir("experiments/networks");
    uint32_t n = 0, n_refused = 0;
    (void)state;
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        struct network network;
        struct dse_error err;
        char path[512];
        if (!strstr(entry->d_name, ".yaml"))
            continue;
        (void)snprintf(path, sizeof path, "experiments/networks/%s", entry->d_name);
        assert_int_equal(network_read(path, &network, &err), DSE_OK);
        if (strstr(entry->d_name, "mttkrp")) /* three operands */
            n_refused++;
        else
            check_sums(&network, entry->d_name);
        network_free(&network);
        n++;
    }
    (void)closedir(dir);
    assert_true(n >= 40 && n_refused == 2);
}

/* ---- what is brought ---- */

/* Words of all items behind the outputs: each tile of weights and of inputs once. */
static uint64_t words_brought(const char *layers, struct uop_cut one)
{
    struct network network;
    struct uop_network uops;
    struct uop_graph graph;
    struct uop_needs needs;
    struct arena arena;
    struct dse_error err;
    const struct uop_cut cut[2] = {one, one};
    uint64_t sum = 0;
    arena_init(&arena);
    if (network_parse("one.yaml", layers, strlen(layers), &network, &err) != DSE_OK ||
        uop_network_of(&network, UOP_FUSED, &arena, &uops, &err) != DSE_OK ||
        uop_graph_of(&uops, &machine, cut, UOP_SUMS_ALL, 1, &arena, &graph, &err) != DSE_OK ||
        uop_needs_of(&graph, &machine, UOP_SRAM_ALL, &arena, &needs, &err) != DSE_OK)
        fail_msg("%s", err.text);
    for (uint32_t i = graph.n_uop; i < needs.n_item; i++)
        sum += needs.word[i];
    arena_free(&arena);
    network_free(&network);
    return sum;
}

/* By hand. Two heads of 3 channels, 4 keys each: 5 x 6 queries, and 24 keys from outside, of which each of
 * 2 x 2 tiles of a head has its own. Groups: 2 of 3 x 2 channels, 12 weights and 6 x 4 inputs. An embedding's
 * rows are inputs: 7 of 4, and weights 4 x 2; its table is not brought. */
static void test_what_is_brought_is_the_networks(void **state)
{
    static const char heads[] =
        "network: heads\ninputs: {input: {C: 6, H: 5}, keys: {C: 6, H: 4}}\nlayers:\n"
        "- {name: qk, type: matmul, C: 6, K: 8, P: 5, groups: 2, from: input, weights_from: keys}\n";
    static const char groups[] = "network: groups\ninput: {C: 6, H: 4}\nlayers:\n"
                                 "- {name: g, type: conv, C: 6, K: 4, P: 4, groups: 2, from: input}\n";
    static const char rows[] = "network: rows\ninput: {C: 1, H: 7}\nlayers:\n"
                               "- {name: table, type: embedding, C: 100, K: 4, P: 7, from: input}\n"
                               "- {name: fc, type: linear, C: 4, K: 2, P: 7, from: table}\n";
    (void)state;
    assert_int_equal(words_brought(heads, (struct uop_cut){5, 1, 3, 2}), 30 + 24);
    assert_int_equal(words_brought(heads, (struct uop_cut){5, 1, 3, 8}), 30 + 24); /* both heads */
    assert_int_equal(words_brought(heads, (struct uop_cut){2, 1, 1, 4}), 30 + 24); /* parts of sums */
    assert_int_equal(words_brought(groups, (struct uop_cut){2, 1, 3, 4}), 12 + 24);
    assert_int_equal(words_brought(groups, (struct uop_cut){2, 1, 2, 1}), 12 + 24);
    assert_int_equal(words_brought(rows, (struct uop_cut){3, 1, 4, 1}), 28 + 8);
}

/* ---- refused ---- */

static void test_what_can_be_no_uops_is_named(void **state)
{
    static const struct {
        const char *text, *says;
    } row[] = {
        {"input: {C: 4, H: 9, W: 9}\nlayers:\n"
         "- {name: wide, type: conv, C: 4, K: 4, P: 5, Q: 5, R: 3, S: 3, dilation: 2, from: input}\n",
         "layer wide is dilated"},
        {"kind: layers\nlayers:\n- {name: three, type: einsum, dims: {I: 4, J: 4, K: 4, L: 4}, tensors: [\n"
         "    {name: A, role: output, index: [I, J]}, {name: B, role: input, index: [I, K, L]},\n"
         "    {name: C, role: input, index: [J, K]}, {name: D, role: input, index: [J, L]}]}\n",
         "layer three is no convolution and no matrix product"},
        {"input: {C: 4, H: 9, W: 9}\nlayers:\n- {name: none, type: pool, C: 4, P: 9, Q: 9, from: input}\n",
         "has no layer with MACs"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct network network;
        struct uop_network uops;
        struct arena arena;
        struct dse_error err;
        char text[1024];
        uint32_t n_sample;
        const int length = snprintf(text, sizeof text, "network: one\n%s", row[i].text);
        if (network_parse("one.yaml", text, (size_t)length, &network, &err) != DSE_OK)
            fail_msg("%s", err.text);
        arena_init(&arena);
        assert_int_not_equal(uop_network_for(&network, 0, UOP_FUSED, &arena, &uops, &n_sample, &err), DSE_OK);
        if (!strstr(err.text, row[i].says))
            fail_msg("%s", err.text);
        arena_free(&arena);
        network_free(&network);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shipped_networks_have_their_macs_weights_and_maps),
        cmocka_unit_test(test_what_is_brought_is_the_networks),
        cmocka_unit_test(test_what_can_be_no_uops_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
