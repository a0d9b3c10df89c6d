/* Tests: network_cut.c. Layers in parts: by hand, against a file written with the parts, on all shipped
 * networks; and what cannot be cut. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/model/network_cut.h"

static void parse(const char *text, struct network *net)
{
    struct dse_error err = {0};
    if (network_parse("test.yaml", text, strlen(text), net, &err) != DSE_OK)
        fail_msg("line %d: %s", err.line, err.text);
}

static void cut(const struct network *from, const struct network_cut *cuts, uint32_t n, struct arena *arena,
                struct network *out)
{
    struct dse_error err = {0};
    if (network_cut(from, cuts, n, arena, out, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static const struct layer *find(const struct network *net, const char *name)
{
    const int l = network_find_layer(net, name);
    if (l < 0)
        fail_msg("no layer %s", name);
    return &net->layer[l];
}

/* All kinds of readers. The layer `late` stands before what it reads. */
static const char whole[] =
    "network: small\ninput: {C: 3, H: 8, W: 8}\nlayers:\n"
    "- {name: late, type: conv, C: 7, K: 4, P: 8, Q: 8, R: 1, S: 1, from: conv}\n"
    "- {name: conv, type: conv, C: 3, K: 7, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: input}\n"
    "- {name: side, type: conv, C: 3, K: 7, P: 8, Q: 8, R: 1, S: 1, from: input}\n"
    "- {name: sum, type: add, C: 7, P: 8, Q: 8, from: [conv, side]}\n"
    "- {name: both, type: conv, C: 14, K: 6, P: 8, Q: 8, R: 1, S: 1, from: [side, conv]}\n"
    "- {name: pool, type: pool, C: 6, P: 4, Q: 4, R: 2, S: 2, stride: 2, from: both}\n"
    "- {name: fc, type: linear, C: 96, K: 10, from: pool}\n";

/* conv in 3 parts of 3, 2, 2 channels, both in 2 of 3. */
static const char parts[] =
    "network: small\ninput: {C: 3, H: 8, W: 8}\nlayers:\n"
    "- {name: late, type: conv, C: 7, K: 4, P: 8, Q: 8, R: 1, S: 1, from: [conv-1, conv-2, conv-3]}\n"
    "- {name: conv-1, type: conv, C: 3, K: 3, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: input}\n"
    "- {name: conv-2, type: conv, C: 3, K: 2, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: input}\n"
    "- {name: conv-3, type: conv, C: 3, K: 2, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: input}\n"
    "- {name: side, type: conv, C: 3, K: 7, P: 8, Q: 8, R: 1, S: 1, from: input}\n"
    "- {name: sum, type: add, C: 7, P: 8, Q: 8, from: [conv-1, conv-2, conv-3, side]}\n"
    "- {name: both-1, type: conv, C: 14, K: 3, P: 8, Q: 8, R: 1, S: 1, from: [side, conv-1, conv-2, "
    "conv-3]}\n"
    "- {name: both-2, type: conv, C: 14, K: 3, P: 8, Q: 8, R: 1, S: 1, from: [side, conv-1, conv-2, "
    "conv-3]}\n"
    "- {name: pool, type: pool, C: 6, P: 4, Q: 4, R: 2, S: 2, stride: 2, from: [both-1, both-2]}\n"
    "- {name: fc, type: linear, C: 96, K: 10, from: pool}\n";

static void same_but_names(const struct layer *a, const struct layer *b)
{
    assert_int_equal(a->type, b->type);
    const uint32_t x[] = {a->c, a->k, a->p, a->q, a->r, a->s, a->h, a->w, 0, 0, a->n_producer, a->n_operand};
    const uint32_t y[] = {b->c, b->k, b->p,       b->q,       b->r,          b->s,
                          b->h, b->w, b->skip[0], b->skip[1], b->n_producer, b->n_operand};
    assert_memory_equal(x, y, sizeof x);
    assert_memory_equal(a->stride, b->stride, sizeof a->stride);
    assert_memory_equal(a->pad, b->pad, sizeof a->pad);
    assert_memory_equal(a->producer, b->producer, a->n_producer * sizeof *a->producer);
    assert_int_equal(a->groups, b->groups);
    assert_int_equal(a->weight_producer, b->weight_producer);
}

static void test_parts_along_k_are_the_file_with_the_parts(void **state)
{
    static const struct network_cut cuts[] = {{"conv", 3, 1, false}, {"both", 2, 1, false}};
    struct network from, by_hand, made;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    parse(whole, &from);
    parse(parts, &by_hand);
    cut(&from, cuts, 2, &arena, &made);
    assert_int_equal(made.n_layer, by_hand.n_layer);
    for (uint32_t l = 0; l < made.n_layer; l++)
        same_but_names(&by_hand.layer[l], &made.layer[l]);
    assert_memory_equal(made.order, by_hand.order, made.n_layer * sizeof *made.order);
    assert_string_equal(made.layer[3].name, "conv#3");
    assert_string_equal(made.name, "small");
    assert_int_equal(made.n_cut, 2);
    assert_string_equal(made.cut[1].layer, "both");
    network_free(&by_hand);
    network_free(&from);
    arena_free(&arena);
}

static void check_part(const struct network *net, const char *name, const char *wanted)
{
    char text[40];
    assert_string_equal(network_cut_part(net, (uint32_t)(find(net, name) - net->layer), text, sizeof text),
                        wanted);
}

/* Channels 0..13 of both are side (0..6) and conv (7..13); 3 shares: 5, 5, 4. */
static void test_parts_along_c_read_their_channels(void **state)
{
    static const struct network_cut cuts[] = {
        {"both", 2, 3, false}, {"conv", 2, 1, false}, {"fc", 1, 4, false}};
    struct network from, made;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    parse(whole, &from);
    cut(&from, cuts, 3, &arena, &made);
    const struct layer *first = find(&made, "both#2.1"), *second = find(&made, "both#2.2"),
                       *third = find(&made, "both#2.3"), *sum = find(&made, "both#2");
    assert_int_equal(first->c, 5);
    assert_int_equal(first->k, 3);
    assert_int_equal(first->n_producer, 1);
    assert_ptr_equal(&made.layer[first->producer[0]], find(&made, "side"));
    assert_int_equal(first->skip[0], 0);
    assert_int_equal(second->c, 5); /* 5, 6 of side, 0..2 of conv: of its first part of 4 */
    assert_int_equal(second->skip[0], 5);
    assert_int_equal(second->n_producer, 2);
    assert_ptr_equal(&made.layer[second->producer[1]], find(&made, "conv#1"));
    assert_int_equal(third->c, 4); /* 3 of conv#1, and conv#2 */
    assert_int_equal(third->skip[0], 3);
    assert_int_equal(third->n_producer, 2);
    assert_int_equal(sum->type, LAYER_ADD);
    assert_int_equal(sum->n_operand, 3);
    assert_int_equal(sum->c, 3);
    assert_int_equal(sum->producer[2], third - made.layer);
    /* 6 channels of 4 x 4, flattened: 2, 2, 1, 1 of them */
    const struct layer *fc = find(&made, "fc#1.3");
    assert_int_equal(fc->c, 16);
    assert_int_equal(fc->skip[0], 4);
    assert_int_equal(fc->k, 10);
    assert_int_equal(network_macs(&made, 1), network_macs(&from, 1));
    assert_int_equal(network_weight_words(&made), network_weight_words(&from));
    check_part(&made, "both#2.1", "2 of 2, 1 of 3");
    check_part(&made, "both#2", "2 of 2");
    check_part(&made, "conv#1", "1 of 2");
    check_part(&made, "fc#1.3", "1 of 1, 3 of 4");
    check_part(&made, "side", "");
    network_free(&from);
    arena_free(&arena);
}

/* Eight channels in four groups, and three heads whose second operand is in parts. */
static void test_groups_are_whole(void **state)
{
    static const char text[] =
        "network: groups\ninput: {C: 8, H: 6, W: 1}\nlayers:\n"
        "- {name: grouped, type: conv, C: 8, K: 12, P: 6, Q: 1, R: 1, S: 1, groups: 4, from: input}\n"
        "- {name: keys, type: linear, C: 12, K: 6, P: 6, from: grouped}\n"
        "- {name: heads, type: matmul, C: 6, K: 18, P: 6, groups: 3, from: keys, weights_from: keys}\n";
    static const struct network_cut cuts[] = {{"grouped", 3, 1, false},
                                              {"keys", 2, 1, false},
                                              {"heads", 2, 1, false}},
                                    finer[] = {{"grouped", 8, 2, false}};
    struct network from, made;
    struct arena arena;
    struct dse_error err;
    (void)state;
    arena_init(&arena);
    parse(text, &from);
    cut(&from, cuts, 3, &arena, &made);
    const struct layer *one = find(&made, "grouped#1"), *last = find(&made, "grouped#3");
    assert_int_equal(one->groups, 2);
    assert_int_equal(one->c, 4);
    assert_int_equal(one->k, 6);
    assert_int_equal(last->groups, 1);
    assert_int_equal(last->skip[0], 6);
    const struct layer *heads = find(&made, "heads#2"), *all = find(&made, "keys#all");
    assert_int_equal(heads->groups, 1);
    assert_int_equal(heads->skip[0], 1); /* channel 4 is the second of keys#2 */
    assert_int_equal(heads->skip[1], 4);
    assert_int_equal(heads->weight_producer, all - made.layer);
    assert_int_equal(all->type, LAYER_CONCAT);
    assert_int_equal(all->n_producer, 2);
    cut(&from, finer, 1, &arena, &made); /* each group in 2 (2 and 1 channels), and each of these in 2 */
    one = find(&made, "grouped#4.2");
    assert_int_equal(one->groups, 1);
    assert_int_equal(one->k, 1);
    assert_int_equal(one->c, 1);
    assert_int_equal(one->skip[0], 3);
    assert_int_equal(network_weight_words(&made), network_weight_words(&from));
    assert_int_equal(network_cut_k_next(&from, 0, 5), 8);
    assert_int_equal(network_cut_k_next(&from, 0, 13), 0);
    const struct network_cut uneven = {"grouped", 6, 1, false};
    assert_int_equal(network_cut_check(&from, &uneven, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "4 groups"));
    network_free(&from);
    arena_free(&arena);
}

/* A softmax by its groups, an activation anywhere; both read their own channels of the parts before. */
static void test_layers_without_weights(void **state)
{
    static const char text[] = "network: heads\ninput: {C: 12, H: 5}\nlayers:\n"
                               "- {name: soft, type: softmax, C: 12, P: 5, groups: 4, from: input}\n"
                               "- {name: act, type: activation, C: 12, P: 5, from: soft}\n"
                               "- {name: norm, type: norm, C: 12, P: 5, from: act}\n";
    static const struct network_cut cuts[] = {{"soft", 3, 1, false}, {"act", 5, 1, false}},
                                    finer = {"soft", 8, 1, false}, whole_norm = {"norm", 2, 1, false};
    struct network from, made;
    struct arena arena;
    struct dse_error err;
    (void)state;
    arena_init(&arena);
    parse(text, &from);
    cut(&from, cuts, 2, &arena, &made);
    const struct layer *one = find(&made, "soft#1"), *last = find(&made, "soft#3"),
                       *act = find(&made, "act#3");
    assert_int_equal(one->groups, 2);
    assert_int_equal(one->k, 6);
    assert_int_equal(one->c, 6);
    assert_int_equal(last->groups, 1);
    assert_int_equal(last->skip[0], 9);
    assert_int_equal(act->k, 2); /* channels 6 and 7, of soft#2, which has 6 to 8 */
    assert_int_equal(act->groups, 1);
    assert_int_equal(act->skip[0], 0);
    assert_int_equal(act->n_producer, 1);
    assert_string_equal(made.layer[act->producer[0]].name, "soft#2");
    assert_int_equal(network_cut_check(&from, &finer, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "the most is 4"));
    assert_int_equal(network_cut_check(&from, &whole_norm, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "layer norm cannot be cut: it is of type norm"));
    network_free(&from);
    arena_free(&arena);
}

/* Both operands of a sum from a layer that is in parts and one that is not: each part has its channels of
 * each, behind what the first layer that it reads gives before. */
static void test_sums_read_their_channels_of_each_operand(void **state)
{
    static const char text[] = "network: gate\ninput: {C: 4, H: 3}\nlayers:\n"
                               "- {name: up, type: linear, C: 4, K: 10, P: 3, from: input}\n"
                               "- {name: gate, type: linear, C: 4, K: 10, P: 3, from: input}\n"
                               "- {name: both, type: mul, C: 10, P: 3, from: [up, gate]}\n";
    static const struct network_cut cuts[] = {{"gate", 3, 1, false}, {"both", 2, 1, false}};
    struct network from, made;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    parse(text, &from);
    cut(&from, cuts, 2, &arena, &made); /* gate: 4, 3, 3 */
    const struct layer *first = find(&made, "both#1"), *second = find(&made, "both#2");
    assert_int_equal(first->c, 5);
    assert_int_equal(first->n_operand, 2);
    assert_int_equal(first->n_producer, 3); /* up; gate#1, gate#2 */
    assert_string_equal(made.layer[first->producer[2]].name, "gate#2");
    assert_int_equal(layer_skip(first, 0), 0);
    assert_int_equal(layer_skip(first, 1), 0);
    assert_int_equal(second->n_producer, 3);
    assert_string_equal(made.layer[second->producer[1]].name, "gate#2"); /* channels 4 to 6 */
    assert_int_equal(layer_skip(second, 0), 5);
    assert_int_equal(layer_skip(second, 1), 1);
    network_free(&from);
    arena_free(&arena);
}

static void test_joined_parts_are_read_as_one(void **state)
{
    static const struct network_cut cuts[] = {{"conv", 3, 1, true}, {"both", 2, 1, false}};
    struct network from, made;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    parse(whole, &from);
    cut(&from, cuts, 2, &arena, &made);
    const struct layer *all = find(&made, "conv#all"), *both = find(&made, "both#2"),
                       *late = find(&made, "late");
    assert_int_equal(all->type, LAYER_CONCAT);
    assert_int_equal(all->n_producer, 3);
    assert_int_equal(both->n_producer, 2); /* side, conv#all */
    assert_ptr_equal(&made.layer[both->producer[1]], all);
    assert_int_equal(late->n_producer, 1);
    assert_ptr_equal(&made.layer[late->producer[0]], all);
    assert_true(made.cut[0].joined);
    network_free(&from);
    arena_free(&arena);
}

/* Two heads of three queries each (they share keys and values), 5 keys, 4 channels a head: scores from keys
 * as rows of channels, the rest from values as channels of rows. In 12 parts each head alone is in two: 3
 * and 2 keys, 2 and 2 channels. */
static void test_heads_in_parts_read_a_share_of_their_second_operand(void **state)
{
    static const char text[] =
        "network: heads\ninputs: {input: {C: 24, H: 7}, other: {C: 24, H: 5}}\nlayers:\n"
        "- {name: keys, type: linear, C: 24, K: 8, P: 5, from: other}\n"
        "- {name: values, type: linear, C: 24, K: 8, P: 5, from: other}\n"
        "- {name: scores, type: matmul, C: 24, K: 30, P: 7, groups: 6, share: 3, from: input, "
        "weights_from: keys}\n"
        "- {name: rest, type: matmul, C: 30, K: 24, P: 7, groups: 6, share: 3, from: scores, "
        "weights_from: values}\n";
    static const struct network_cut cuts[] = {{"scores", 12, 1, false}, {"rest", 12, 1, false}},
                                    few[] = {{"scores", 2, 1, false}},
                                    of_parts[] = {{"values", 2, 1, false}, {"rest", 12, 1, false}};
    struct network from, made;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    parse(text, &from);
    assert_int_equal(network_cut_k_next(&from, 2, 2), 2);
    assert_int_equal(network_cut_k_next(&from, 2, 3), 6); /* heads that share stay together, or are alone */
    assert_int_equal(network_cut_k_next(&from, 2, 7), 12);
    cut(&from, cuts, 2, &arena, &made);
    const struct layer *scores = find(&made, "scores#8"), *rest = find(&made, "rest#8");
    assert_int_equal(scores->groups, 1); /* the second part of the fourth head: keys 3 and 4 of group 2 */
    assert_int_equal(scores->share, 0);
    assert_int_equal(scores->k, 2);
    assert_int_equal(scores->skip[0], 12);
    assert_int_equal(scores->skip[1], 4);
    assert_int_equal(scores->second_row, 3);
    assert_int_equal(scores->n_second_row, 2);
    assert_int_equal(rest->k, 2);
    assert_int_equal(rest->skip[1], 6);
    assert_int_equal(rest->n_second_row, 0);
    assert_int_equal(network_macs(&made, 1), network_macs(&from, 1));
    cut(&from, few, 1, &arena, &made);
    scores = find(&made, "scores#2");
    assert_int_equal(scores->groups, 3);
    assert_int_equal(scores->share, 3);
    assert_int_equal(scores->skip[1], 4);
    assert_int_equal(scores->n_second_row, 0);
    cut(&from, of_parts, 2, &arena, &made); /* no part reads two parts of the values: nothing joins them */
    assert_int_equal(network_find_layer(&made, "values#all"), -1);
    rest = find(&made, "rest#8");
    assert_string_equal(made.layer[rest->weight_producer].name, "values#2");
    assert_int_equal(rest->skip[1], 2);
    network_free(&from);
    arena_free(&arena);
}

static void test_what_cannot_be_cut_is_named(void **state)
{
    static const struct {
        struct network_cut cut;
        const char *text;
    } bad[] = {
        {{"nobody", 2, 1, false}, "no layer \"nobody\""},
        {{"conv", 1, 1, false}, "layer conv is cut into 1 x 1 parts"},
        {{"conv", 8, 1, false},
         "layer conv cannot be cut into 8 parts along its output channels: the most is 7"},
        {{"fc", 1, 2, true}, "layer fc is one part along its output channels, and joined"},
        {{"fc", 1, 7, false}, "layer fc cannot be cut into 7 parts along its input channels: the most is 6"},
    };
    static const struct network_cut twice[] = {{"conv", 2, 1, false}, {"conv", 3, 1, false}};
    struct network from, made;
    struct arena arena;
    struct dse_error err;
    (void)state;
    arena_init(&arena);
    parse(whole, &from);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(network_cut(&from, &bad[i].cut, 1, &arena, &made, &err), DSE_BAD_INPUT);
        if (!strstr(err.text, bad[i].text))
            fail_msg("\"%s\" is not in \"%s\"", bad[i].text, err.text);
    }
    assert_int_equal(network_cut(&from, twice, 2, &arena, &made, &err), DSE_BAD_INPUT);
    from.is_graph = false;
    assert_int_equal(network_cut(&from, twice, 1, &arena, &made, &err), DSE_BAD_USAGE);
    network_free(&from);
    arena_free(&arena);
}

/* Every layer's parts together are the layer: by its multiply-accumulates, weights and outputs. Sums are not
 * counted as outputs of their own. */
static void check_totals(const struct network *from, const struct network *made)
{
    for (uint32_t l = 0, at = 0; l < from->n_layer; l++) {
        const struct layer *layer = &from->layer[l];
        const size_t length = strlen(layer->name);
        uint64_t macs = 0, weights = 0, k = 0;
        for (; at < made->n_layer && strncmp(made->layer[at].name, layer->name, length) == 0 &&
               (made->layer[at].name[length] == 0 || made->layer[at].name[length] == '#');
             at++) {
            const struct layer *part = &made->layer[at];
            macs += layer_macs(part, 1);
            weights += layer_weight_words(part);
            const bool is_term = strchr(part->name + length, '.') != NULL;
            k += is_term || strcmp(part->name + length, "#all") == 0 ? 0 : part->k;
        }
        assert_int_equal(macs, layer_macs(layer, 1));
        assert_int_equal(weights, layer_weight_words(layer));
        assert_int_equal(k, layer->k);
    }
}

/* Producers give what a layer reads: no channel is missing, none of the others counted. */
static void check_channels(const struct network *made)
{
    for (uint32_t l = 0; l < made->n_layer; l++) {
        const struct layer *layer = &made->layer[l];
        uint64_t words = 0, area = 1;
        if (layer->type == LAYER_EMBEDDING)
            continue; /* its C is rows of its table */
        for (uint32_t i = 0; i < layer->n_producer; i++) {
            const int32_t p = layer->producer[i];
            const struct layer *from = p < 0 ? NULL : &made->layer[p];
            const struct network_input *input = p < 0 ? &made->input[-1 - p] : NULL;
            area = from ? (uint64_t)from->p * from->q : (uint64_t)input->h * input->w;
            words += (from ? from->k : input->c) * area;
        }
        const bool flattens = layer->type == LAYER_LINEAR && area != (uint64_t)layer->p * layer->q;
        const uint64_t reads =
            flattens ? layer->c : (uint64_t)layer->c * (layer->n_operand > 1 ? layer->n_operand : 1) * area;
        assert_true(words >= reads + layer->skip[0] * area);
        if (!layer_has_macs(layer) && strchr(layer->name, '#') == NULL)
            assert_int_equal(words, reads);
    }
}

static void test_shipped_networks_keep_their_totals(void **state)
{
    DIR *folder = opendir("experiments/networks");
    uint32_t n = 0, n_more = 0;
    (void)state;
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        char path[512];
        struct network from, made;
        struct arena arena;
        struct dse_error err;
        if (!strstr(entry->d_name, ".yaml"))
            continue;
        snprintf(path, sizeof path, "experiments/networks/%s", entry->d_name);
        if (network_read(path, &from, &err) != DSE_OK)
            fail_msg("%s", err.text);
        arena_init(&arena);
        struct random_stream stream = random_stream_make(5, n, RANDOM_TEST);
        struct network_cut *cuts = arena_alloc(&arena, from.n_layer, sizeof *cuts);
        assert_non_null(cuts);
        uint32_t n_cut = 0;
        for (uint32_t l = 0; l < from.n_layer && from.is_graph; l++) {
            const uint32_t k_max = network_cut_k_max(&from, l);
            const uint32_t k = network_cut_k_next(&from, l, 1 + random_below(&stream, k_max < 9 ? k_max : 9));
            const uint32_t c_max = network_cut_c_max(&from, l, k);
            const uint32_t c = 1 + random_below(&stream, c_max < 4 ? c_max : 4);
            if (k > 1 || c > 1)
                cuts[n_cut++] = (struct network_cut){from.layer[l].name, k ? k : 1, k ? c : 1, false};
        }
        if (from.is_graph) {
            cut(&from, cuts, n_cut, &arena, &made);
            assert_int_equal(network_macs(&made, 3), network_macs(&from, 3));
            assert_int_equal(network_weight_words(&made), network_weight_words(&from));
            check_totals(&from, &made);
            check_channels(&made);
            n_more += made.n_layer - from.n_layer;
            n++;
        }
        network_free(&from);
        arena_free(&arena);
    }
    closedir(folder);
    assert_true(n >= 25);
    assert_true(n_more > 5000);
}

static void test_joined_networks_know_their_layers(void **state)
{
    static const struct network_cut cuts[] = {{"small.conv", 3, 2, false}};
    struct network part[2], joined, made;
    struct arena arena;
    struct dse_error err;
    (void)state;
    arena_init(&arena);
    parse(whole, &part[0]);
    parse(whole, &part[1]);
    assert_int_equal(network_join(part, 2, &joined, &err), DSE_OK);
    cut(&joined, cuts, 1, &arena, &made);
    assert_int_equal(made.part[0].first_layer, 0);
    assert_int_equal(made.part[0].n_layer, 7 + 8);
    assert_int_equal(made.part[1].first_layer, 7 + 8);
    assert_int_equal(made.part[1].n_layer, 7);
    network_free(&joined);
    network_free(&part[0]);
    network_free(&part[1]);
    arena_free(&arena);
}

/* VGG-16's fc6 of 4,096 channels in as many parts, fc7 in 512 x 40: every share of 102 or 103 channels reads
 * so many parts, and finds them without a look at all. */
static void test_many_parts_read_many_parts(void **state)
{
    static const struct network_cut cuts[] = {{"fc6", 4096, 1, false}, {"fc7", 512, 40, false}};
    struct network net, made;
    struct arena arena;
    struct dse_error err = {0};
    uint64_t n_read = 0;
    (void)state;
    arena_init(&arena);
    assert_int_equal(network_read("experiments/networks/vgg16.yaml", &net, &err), DSE_OK);
    cut(&net, cuts, 2, &arena, &made);
    const int first = network_find_layer(&made, "fc6#1"), reads = network_find_layer(&made, "fc7#1.1");
    assert_true(first > 0 && reads == first + 4096);
    for (uint32_t l = (uint32_t)reads; l < (uint32_t)reads + 512 * 41; l++) {
        const struct layer *layer = &made.layer[l];
        const uint32_t share = (l - (uint32_t)reads) % 41;
        if (share == 40)
            continue; /* the sum of the shares */
        assert_int_equal(layer->n_producer, share < 16 ? 103 : 102);
        assert_int_equal(layer->producer[0], first + (int)(102 * share + (share < 16 ? share : 16)));
        assert_int_equal(layer->skip[0], 0);
        n_read += layer->n_producer;
    }
    assert_int_equal(n_read, 512 * 4096);
    network_free(&net);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_along_k_are_the_file_with_the_parts),
        cmocka_unit_test(test_parts_along_c_read_their_channels),
        cmocka_unit_test(test_groups_are_whole),
        cmocka_unit_test(test_layers_without_weights),
        cmocka_unit_test(test_sums_read_their_channels_of_each_operand),
        cmocka_unit_test(test_joined_parts_are_read_as_one),
        cmocka_unit_test(test_heads_in_parts_read_a_share_of_their_second_operand),
        cmocka_unit_test(test_what_cannot_be_cut_is_named),
        cmocka_unit_test(test_shipped_networks_keep_their_totals),
        cmocka_unit_test(test_many_parts_read_many_parts),
        cmocka_unit_test(test_joined_networks_know_their_layers),
    };
    return cmocka_run_group_tests_name("network parts", tests, NULL, NULL);
}
