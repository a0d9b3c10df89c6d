/* Tests: parts.c, parts_text.c, plus_parts.c. Which layers the rule cuts and into how many parts; what a text
 * says; and schedules of networks in parts from search to instructions, with the bounds that hold for any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/fused/accounting_soma.h"
#include "costmodel/model/network_cut.h"
#include "engines/soma/parts.h"
#include "engines/soma/plus_parts.h"
#include "engines/soma/schedule_evaluate.h"
#include "engines/soma/soma_engines.h"
#include "engines/soma/soma_metrics.h"
#include "tests/support/schedule_run.h"

struct ruled {
    struct network network;
    struct arena arena;
    struct soma_scheduled out;
};

static void open_rule(struct ruled *r, const char *path, uint64_t buffer_byte)
{
    struct dse_error err = {0};
    const struct soma_part_rule rule = {buffer_byte, 8, 0, SOMA_PART_SHARE, 0, NULL, false, false};
    arena_init(&r->arena);
    if (network_read(path, &r->network, &err) != DSE_OK)
        fail_msg("%s", err.text);
    const struct soma_scheduled given = {&r->network, 1};
    if (soma_parts_by_rule(&given, &rule, &r->arena, &r->out, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void close_rule(struct ruled *r)
{
    arena_free(&r->arena);
    network_free(&r->network);
}

static const struct network_cut *find_cut(const struct ruled *r, const char *layer)
{
    for (uint32_t i = 0; i < r->out.network->n_cut; i++)
        if (strcmp(r->out.network->cut[i].layer, layer) == 0)
            return &r->out.network->cut[i];
    return NULL;
}

/* VGG-16: fc6 is 25,088 x 4,096 and fc7 4,096 x 4,096; fc8, of 4,096,000, stays whole in 8 MiB. Two parts of
 * fc6 with input and output, double-buffered, in 0.75 of the buffer: 2 (25,088 k + 25,088 + k) <= 6,291,456
 * holds for k = 124, so 4,096 channels take 34 parts of at most 121; of fc7 k is 766, which is 6 parts. */
static void test_rule_cuts_what_must_be(void **state)
{
    struct ruled r;
    (void)state;
    open_rule(&r, "experiments/networks/vgg16.yaml", 8 << 20);
    assert_int_equal(r.out.network->n_cut, 2);
    assert_int_equal(find_cut(&r, "fc6")->k, 34);
    assert_int_equal(find_cut(&r, "fc6")->c, 1);
    assert_int_equal(find_cut(&r, "fc7")->k, 6);
    close_rule(&r);
}

/* As large as the weights of two neighbours with what they read and make of one position: 109,056,000. */
static void test_rule_leaves_what_fits(void **state)
{
    static const char *const path[] = {"experiments/networks/vgg16.yaml",
                                       "experiments/networks/resnet50.yaml",
                                       "experiments/networks/gpt2_xl_prefill1024.yaml"};
    static const uint64_t enough[] = {128 << 20, 8 << 20, 32 << 20};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct ruled r;
        open_rule(&r, path[i], enough[i]);
        assert_ptr_equal(r.out.network, &r.network);
        close_rule(&r);
    }
}

/* One output channel of fc6 has 25,088 bytes of weights and needs as many of its input: two of them with
 * their inputs are more than 64 KiB, so it is cut along input channels, too: into whole channels of 7 x 7. */
static void test_rule_cuts_input_channels_where_one_output_is_too_much(void **state)
{
    static const char text[] = "network: one\ninput: {C: 512, H: 7, W: 7}\nlayers:\n"
                               "- {name: fc6, type: linear, C: 25088, K: 64, from: input}\n";
    const struct soma_part_rule rule = {64 << 10, 8, 0, SOMA_PART_SHARE, 0, NULL, false, false};
    struct network network;
    struct soma_scheduled out;
    struct arena arena;
    struct dse_error err;
    (void)state;
    arena_init(&arena);
    assert_int_equal(network_parse("one.yaml", text, sizeof text - 1, &network, &err), DSE_OK);
    const struct soma_scheduled given = {&network, 1};
    assert_int_equal(soma_parts_by_rule(&given, &rule, &arena, &out, &err), DSE_OK);
    assert_int_equal(out.network->n_cut, 1);
    assert_true(out.network->cut[0].c > 1);
    assert_int_equal(network_weight_words(out.network), network_weight_words(&network));
    for (uint32_t l = 0; l < out.network->n_layer; l++) {
        const struct layer *part = &out.network->layer[l];
        if (layer_has_macs(part))
            assert_int_equal(part->c % 49, 0);
    }
    network_free(&network);
    arena_free(&arena);
}

static void read_bad(const char *cuts, int line, const char *why)
{
    struct network network;
    struct soma_scheduled out;
    struct yaml_doc doc;
    struct arena arena;
    struct dse_error err = {0};
    char text[512];
    const int n = snprintf(text, sizeof text, "soma: 1\nnetwork: vgg16\ncuts:\n%s", cuts);
    arena_init(&arena);
    assert_int_equal(network_read("experiments/networks/vgg16.yaml", &network, &err), DSE_OK);
    const struct soma_scheduled given = {&network, 1};
    assert_int_equal(yaml_parse(&doc, "s.yaml", text, (size_t)n, &err), DSE_OK);
    assert_int_equal(soma_parts_read(&doc, &given, &arena, &out, &err), DSE_BAD_INPUT);
    yaml_doc_free(&doc);
    assert_int_equal(err.line, line);
    if (!strstr(err.text, why))
        fail_msg("\"%s\" is not in \"%s\"", why, err.text);
    network_free(&network);
    arena_free(&arena);
}

static void test_bad_cuts_have_file_and_line(void **state)
{
    (void)state;
    read_bad("- {layer: fc6, outputs: 2}\n- {layer: fc9, outputs: 2}\n", 5, "no layer \"fc9\"");
    read_bad("- {layer: pool5, outputs: 513}\n", 4, "the most is 512");
    read_bad("- {layer: fc6, outputs: 5000}\n", 4, "the most is 4096");
    read_bad("- {layer: fc6, inputs: 513}\n", 4, "the most is 512");
    read_bad("- {layer: fc6}\n", 4, "2 or more");
    read_bad("- {layer: fc6, inputs: 2, joined: true}\n", 4, "and joined");
    read_bad("- {layer: fc6, parts: 3}\n", 4, "parts");
    read_bad("- {layer: fc6, outputs: 2}\n- {layer: fc6, outputs: 3}\n", 4, "a second time");
}

/* Search, text, evaluation of the text for the given network, and what no schedule is below: a machine of
 * 8,192 multiply-accumulates and 16 bytes from the DRAM a cycle, weights, input and outputs that nobody reads
 * moved once. */
static void check_run(const struct engine *engine, const char *path, const char *capacity, bool is_cut)
{
    struct schedule_run r;
    struct dse_error err = {0};
    uint64_t least = 0;
    schedule_run_open(&r, engine, path, capacity);
    r.task.budget.max_evaluations = 300;
    schedule_run_solve(&r);
    if (!r.result.feasible)
        fail_msg("%s %s: %s", path, capacity, r.result.reason);
    const struct engine_schedule *s = &r.result.schedule;
    assert_int_equal(strstr(s->text, "cuts:\n") != NULL, is_cut);
    assert_true(soma_metrics_get(s).placed == 1);
    assert_int_equal(soma_metrics_get(s).n_cut_layer > 0, is_cut);
    struct soma_schedule again = {.arch = r.task.architecture, .network = &r.network, .batch = 1};
    if (soma_schedule_evaluate(&again, "again", s->text, s->text_length, &r.arena, &err) != DSE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(again.detail.result.cycle, s->metrics.latency_cycle);
    assert_true((double)again.detail.result.dram_byte == s->metrics.dram_byte);
    least = network_weight_words(&r.network);
    for (uint32_t i = 0; i < r.network.n_input; i++)
        least += (uint64_t)r.network.input[i].c * r.network.input[i].h * r.network.input[i].w;
    least += (uint64_t)r.network.layer[r.network.n_layer - 1].k * r.network.layer[r.network.n_layer - 1].p *
             r.network.layer[r.network.n_layer - 1].q;
    assert_true(again.detail.result.dram_byte >= least);
    assert_int_equal(s->metrics.n_mac, network_macs(&r.network, 1));
    assert_true(s->metrics.latency_cycle >= least / 16);
    assert_true(s->metrics.latency_cycle >= network_macs(&r.network, 1) / 8192);
    schedule_run_close(&r);
}

static void test_networks_in_parts_are_scheduled(void **state)
{
    (void)state;
    check_run(&engine_unfused, "experiments/networks/vgg16.yaml", "8 MiB", true);
    check_run(&engine_unfused, "experiments/networks/vgg16.yaml", "1 MiB", true);
    check_run(&engine_unfused, "experiments/networks/gpt2_xl_prefill1024.yaml", "2 MiB", true);
    check_run(&engine_unfused, "experiments/networks/unet.yaml", "2 MiB", true);
    check_run(&engine_cocco, "experiments/networks/vgg16.yaml", "8 MiB", true);
    check_run(&engine_soma, "experiments/networks/vgg16.yaml", "4 MiB", true);
    check_run(&engine_soma, "experiments/networks/alexnet.yaml", "1 MiB", true);
    check_run(&engine_soma, "experiments/networks/resnet50.yaml", "8 MiB", false);
}

/* Asked before a sweep, and told when it is scheduled all the same. Layers: two parts of Llama-3 8B's 7.5 G
 * weights of two bytes (all but the embedding) in 0.75 of 32 KiB are at most 6,144 weights each, so 1.2
 * million parts. Tiles: eight samples of what is 31 million with one. */
static void test_too_many_parts_are_said_before(void **state)
{
    static const struct {
        const char *network;
        uint64_t buffer_byte;
        uint32_t batch;
        const char *says, *most;
    } large[] = {
        {"llama3_8b_decode4096", 32 << 10, 1,
         "network llama3_8b_decode4096: in parts of which two fit into a buffer of 32,768 bytes it has ",
         "a network has at most 1,048,576"},
        {"llama3_8b", 128 << 10, 8,
         "network llama3_8b: the maps of its layers go through a buffer of 131,072 bytes in ",
         "tiles at least; a schedule has at most 134,217,728"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        struct network network;
        struct soma_scheduled out;
        struct arena arena;
        struct dse_error err = {0};
        const struct soma_part_rule rule = {
            large[i].buffer_byte, 16, 0, SOMA_PART_SHARE, 0, NULL, false, false};
        char path[128];
        arena_init(&arena);
        snprintf(path, sizeof path, "experiments/networks/%s.yaml", large[i].network);
        assert_int_equal(network_read(path, &network, &err), DSE_OK);
        const struct soma_scheduled given = {&network, large[i].batch};
        assert_int_equal(soma_parts_by_rule(&given, &rule, &arena, &out, &err), DSE_LIMIT);
        assert_non_null(strstr(err.text, large[i].says));
        assert_non_null(strstr(err.text, large[i].most));
        network_free(&network);
        arena_free(&arena);
    }
}

/* In 8 bytes no two parts of a layer of 784 inputs and 1,000 outputs fit, as those would need 8 sums or few
 * inputs; whole it takes 784 x 1,000 weights, its inputs and its outputs. */
static void test_a_layer_that_fits_in_no_parts_is_said_before(void **state)
{
    static const uint64_t byte[] = {8, 8 << 10};
    struct network network;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    assert_int_equal(network_read("experiments/networks/mlp_m.yaml", &network, &(struct dse_error){0}),
                     DSE_OK);
    for (size_t i = 0; i < sizeof byte / sizeof *byte; i++) {
        const struct soma_part_rule rule = {byte[i], 8, 0, SOMA_PART_SHARE, 0, NULL, false, false};
        const struct soma_scheduled given = {&network, 1};
        struct soma_scheduled out;
        struct dse_error err = {0};
        assert_int_equal(soma_parts_by_rule(&given, &rule, &arena, &out, &err), DSE_OK);
        assert_int_equal(soma_parts_check(&out, &rule, &err), i == 0 ? DSE_LIMIT : DSE_OK);
        if (i == 0)
            assert_string_equal(err.text, "network mlp_m: layer fc1 needs 785,784 bytes of the buffer at "
                                          "least, and there are no parts of it of which two fit; the buffer "
                                          "has 8: take a larger one");
    }
    network_free(&network);
    arena_free(&arena);
}

/* Machines of 128 and 108 KiB in words of two bytes, where all fits one way or another. AlexNet's fc6,
 * whose 4,096 parts fc7 would read one by one, is joined. The keys of GPT-2 XL's heads, 25,600 channels at
 * each place, are in parts that parts of the product read. Its softmax, a row of 25,600 numbers in and one
 * out, fits once, not twice: loads come late. */
static void test_small_buffers_with_large_layers(void **state)
{
    static const struct {
        const char *machine, *network, *says;
    } large[] = {
        {"eyeriss_16x16", "alexnet", "{layer: fc6, outputs: 4096, joined: true}"},
        {"eyeriss_16x16", "gpt2_small_prefill512", "{layer: attention_QK, outputs: "},
        {"eyeriss_12x14", "gpt2_xl_decode1025", "{layer: attention_K, outputs: 5}"},
        {"eyeriss_12x14", "gpt2_xl_prefill1024", "\ndram:"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        struct schedule_run r;
        struct dse_error err = {0};
        char path[128];
        snprintf(path, sizeof path, "experiments/networks/%s.yaml", large[i].network);
        schedule_run_open_on(&r, &engine_unfused, path, large[i].machine, NULL, 0);
        schedule_run_set(&r, "core_evaluations", "8");
        schedule_run_solve(&r);
        if (!r.result.feasible)
            fail_msg("%s: %s", large[i].network, r.result.reason);
        const struct engine_schedule *s = &r.result.schedule;
        if (!strstr(s->text, large[i].says))
            fail_msg("%s: its text has no \"%s\"", large[i].network, large[i].says);
        assert_true(soma_metrics_get(s).placed == 1);
        assert_int_equal(s->metrics.n_mac, network_macs(&r.network, 1));
        struct soma_schedule again = {.arch = r.task.architecture, .network = &r.network, .batch = 1};
        if (soma_schedule_evaluate(&again, "again", s->text, s->text_length, &r.arena, &err) != DSE_OK)
            fail_msg("%s", err.text);
        assert_int_equal(again.detail.result.cycle, s->metrics.latency_cycle);
        schedule_run_close(&r);
    }
}

/* A network of windows, sums and linear layers as the file that a person would write, with names that files
 * have. */
static void write_by_hand(const struct network *net, struct text_buffer *text)
{
    text_append(text, "network: by_hand\ninput: {C: %u, H: %u, W: %u}\nlayers:\n", net->input[0].c,
                net->input[0].h, net->input[0].w);
    for (uint32_t l = 0; l < net->n_layer; l++) {
        const struct layer *layer = &net->layer[l];
        const bool window = layer->type == LAYER_CONV || layer->type == LAYER_POOL;
        text_append(text, "- {name: %s, type: %s, C: %u, K: %u, P: %u, Q: %u", layer->name,
                    layer_type_text(layer->type), layer->c, layer->k, layer->p, layer->q);
        if (window)
            text_append(text, ", R: %u, S: %u, stride: [%u, %u], pad: [%u, %u, %u, %u]", layer->r, layer->s,
                        layer->stride[0], layer->stride[1], layer->pad[0], layer->pad[1], layer->pad[2],
                        layer->pad[3]);
        text_append(text, ", from: [");
        for (uint32_t i = 0; i < layer->n_producer; i++)
            text_append(text, "%s%s", i ? ", " : "",
                        layer->producer[i] < 0 ? "input" : net->layer[layer->producer[i]].name);
        text_append(text, "]}\n");
    }
    for (size_t i = 0; i < text->length; i++)
        text->data[i] = text->data[i] == '#' ? '-' : text->data[i];
}

static void set_brief(struct schedule_run *r, uint64_t seed)
{
    static const char *const option[][2] = {{"rounds", "4"},      {"starts", "1"}, {"two_stage", "0"},
                                            {"generations", "1"}, {"polish", "2"}, {"dlsa_rounds", "2"}};
    for (size_t i = 0; i < sizeof option / sizeof option[0]; i++)
        schedule_run_set(r, option[i][0], option[i][1]);
    r->task.seed = seed;
}

/* Cost of the network in these parts, from a file that a person would write, by the same search. */
static double cost_by_hand(const char *path, const char *capacity, uint64_t seed,
                           const struct soma_part_rule *rule)
{
    struct schedule_run hand;
    struct text_buffer text;
    struct soma_scheduled out;
    struct dse_error err = {0};
    schedule_run_open(&hand, &engine_soma_plus, path, capacity);
    set_brief(&hand, seed);
    const struct soma_scheduled given = {&hand.network, 1};
    assert_int_equal(soma_parts_by_rule(&given, rule, &hand.arena, &out, &err), DSE_OK);
    assert_true(out.network->n_cut > 0);
    text_init(&text);
    write_by_hand(out.network, &text);
    network_free(&hand.network);
    if (network_parse("by_hand.yaml", text.data, text.length, &hand.network, &err) != DSE_OK)
        fail_msg("%s", err.text);
    schedule_run_solve(&hand);
    assert_true(hand.result.feasible);
    const double cost = hand.result.cost;
    text_free(&text);
    schedule_run_close(&hand);
    return cost;
}

/* Where no schedule is uncut, soma-plus finds at least what it finds for a file with parts, of any size. */
static void test_soma_plus_is_no_worse_than_parts_by_hand(void **state)
{
    static const char tiny[] = "tests/known/soma/tiny6.yaml", resnet[] = "experiments/networks/resnet50.yaml";
    static const struct {
        const char *path, *capacity;
        uint64_t byte, n_seed;
        size_t n_rule;
    } one[] = {{resnet, "1 MiB", 1 << 20, 2, 1},
               {resnet, "640 KiB", 640 << 10, 1, 1},
               {tiny, "10 KiB", 10 << 10, 3, 3}};
    static const struct soma_part_rule by[] = {{.share = SOMA_PART_SHARE},
                                               {.share = 0.65, .all = true, .even = true},
                                               {.share = 0.5, .all = true, .even = true}};
    (void)state;
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        for (uint64_t seed = 1; seed <= one[i].n_seed; seed++) {
            struct schedule_run r;
            schedule_run_open(&r, &engine_soma_plus, one[i].path, one[i].capacity);
            set_brief(&r, seed);
            schedule_run_solve(&r);
            assert_true(r.result.feasible);
            assert_non_null(strstr(r.result.schedule.text, "cuts:\n"));
            for (size_t k = 0; k < one[i].n_rule; k++) {
                struct soma_part_rule rule = by[k];
                rule.buffer_byte = one[i].byte;
                rule.word_bit = 8;
                assert_true(r.result.cost <= cost_by_hand(one[i].path, one[i].capacity, seed, &rule));
            }
            schedule_run_close(&r);
        }
}

/* ---- a fusion in other parts ---- */

static const char chain[] = "network: chain\ninput: {C: 8, H: 8, W: 8}\nlayers:\n"
                            "- {name: a, type: conv, C: 8, K: 8, P: 8, Q: 8, from: input}\n"
                            "- {name: b, type: conv, C: 8, K: 16, P: 8, Q: 8, from: a}\n"
                            "- {name: c, type: conv, C: 16, K: 8, P: 8, Q: 8, from: b}\n";

struct chained {
    struct network given, cut;
    struct arena arena;
};

/* The chain with layer b in k parts. */
static void open_chain(struct chained *c, uint32_t k)
{
    struct dse_error err = {0};
    struct network_cut *cut;
    arena_init(&c->arena);
    cut = arena_alloc(&c->arena, 1, sizeof *cut);
    *cut = (struct network_cut){"b", k, 1, false};
    assert_int_equal(network_parse("chain.yaml", chain, sizeof chain - 1, &c->given, &err), DSE_OK);
    assert_int_equal(network_cut(&c->given, cut, 1, &c->arena, &c->cut, &err), DSE_OK);
}

static void close_chain(struct chained *c)
{
    network_free(&c->given);
    arena_free(&c->arena);
}

/* By a letter and a border before each: "|" a DRAM cut, ":" a group; then tiling numbers and leads. */
static void assert_point(const struct network *network, const struct plus_point *point, const char *borders,
                         const uint32_t *tiling, const int32_t *lead)
{
    for (uint32_t i = 0; i < network->n_layer; i++) {
        assert_int_equal(point->order[i], i);
        assert_int_equal(borders[i], "-:|"[point->border[i]]);
        assert_int_equal(point->tiling[i], tiling[i]);
        assert_int_equal(point->lead[i], lead[i]);
    }
}

/* Worked out by hand: each part comes with the last one that has a share of its channels; a group that no
 * layer is left in hands its DRAM cut on. */
static void test_a_fusion_in_other_parts(void **state)
{
    struct chained two, four;
    struct plus_point point;
    struct dse_error err = {0};
    bool is_same;
    uint32_t order[] = {0, 1, 2, 3, 4, 5}, flc[] = {0, 1, 2}, tiling[] = {1, 2, 4, 8};
    uint32_t flc4[] = {0, 2, 3, 4};
    bool cut[] = {true, false, true}, cut4[] = {true, false, true, false};
    const int32_t lead[] = {0, 1, 2, 3}, lead4[] = {0, 1, 2, 3, 4, 5};
    const struct soma_lfa lfa = {4, order, 3, flc, tiling, cut};    /* a : b#1 | b#2 c */
    const struct soma_lfa lfa4 = {6, order, 4, flc4, tiling, cut4}; /* a b#1 : b#2 | b#3 : b#4 c */
    (void)state;
    open_chain(&two, 2);
    open_chain(&four, 4);
    plus_point_new(6, &two.arena, &point);
    point.n_layer = 6;
    assert_int_equal(plus_translate(&two.cut, &lfa, lead, &four.cut, &two.arena, &point, &is_same, &err),
                     DSE_OK);
    assert_true(is_same);
    assert_point(&four.cut, &point, "|:-|--", (uint32_t[]){1, 2, 2, 4, 4, 4}, (int32_t[]){0, 1, 1, 2, 2, 3});
    point.n_layer = 4;
    assert_int_equal(plus_translate(&four.cut, &lfa4, lead4, &two.cut, &two.arena, &point, &is_same, &err),
                     DSE_OK);
    assert_true(is_same);
    assert_point(&two.cut, &point, "|:|-", (uint32_t[]){1, 2, 8, 8}, (int32_t[]){0, 2, 4, 5});
    assert_int_equal(plus_translate(&two.cut, &lfa, lead, &two.cut, &two.arena, &point, &is_same, &err),
                     DSE_OK);
    assert_point(&two.cut, &point, "|:|-", (uint32_t[]){1, 2, 4, 4}, lead);
    close_chain(&two);
    close_chain(&four);
}

/* What a layer reads stands before it, also where the parts of a sum and of what it adds do not end alike;
 * and another network is none of these. */
static void test_translated_orders_are_valid(void **state)
{
    struct ruled some, other;
    struct plus_point point;
    struct dse_error err = {0};
    bool is_same;
    (void)state;
    open_rule(&some, "experiments/networks/resnet50.yaml", 640 << 10);
    const uint64_t byte[] = {448 << 10, 512 << 10, 1 << 20};
    for (size_t i = 0; i < sizeof byte / sizeof *byte; i++) {
        open_rule(&other, "experiments/networks/resnet50.yaml", byte[i]);
        const struct network *from = some.out.network, *to = other.out.network;
        struct arena *arena = &other.arena;
        int32_t *lead = arena_alloc(arena, from->n_layer, sizeof *lead);
        uint32_t *where = arena_alloc(arena, to->n_layer, sizeof *where);
        struct soma_lfa lfa;
        soma_lfa_new(from->n_layer, arena, &lfa);
        lfa.n_layer = lfa.n_flc = from->n_layer;
        for (uint32_t l = 0; l < from->n_layer; l++) {
            lfa.order[l] = from->order[l];
            lfa.flc[l] = l;
            lfa.tiling[l] = 1 + l;
            lfa.dram_cut[l] = true;
        }
        plus_point_new(to->n_layer, arena, &point);
        point.n_layer = to->n_layer;
        assert_int_equal(plus_translate(from, &lfa, lead, to, arena, &point, &is_same, &err), DSE_OK);
        assert_true(is_same);
        for (uint32_t k = 0; k < to->n_layer; k++)
            where[point.order[k]] = k;
        for (uint32_t l = 0; l < to->n_layer; l++)
            for (uint32_t k = 0; k < to->layer[l].n_producer; k++)
                if (to->layer[l].producer[k] >= 0)
                    assert_true(where[to->layer[l].producer[k]] < where[l]);
        assert_int_equal(point.border[0], PLUS_CUT);
        close_rule(&other);
    }
    struct chained chain2;
    open_chain(&chain2, 2);
    assert_int_equal(plus_translate(&chain2.cut, &(struct soma_lfa){0}, NULL, some.out.network, &chain2.arena,
                                    &point, &is_same, &err),
                     DSE_OK);
    assert_false(is_same);
    close_chain(&chain2);
    close_rule(&some);
}

/* On 1 MiB ten layers of ResNet-50 must be in parts. Asked to cut all of which two parts take more than
 * 0.65 of it, none has more than 0.65 / 2 of it left, and those of the fourth stage with 0.6 MB are cut, too;
 * where nothing must be cut, nothing is. */
static void test_all_large_layers_are_cut_when_asked(void **state)
{
    struct network network;
    struct arena arena;
    struct soma_scheduled out;
    struct dse_error err = {0};
    struct soma_part_rule rule = {1 << 20, 8, 0, 0.65, 0, NULL, true, false};
    (void)state;
    arena_init(&arena);
    assert_int_equal(network_read("experiments/networks/resnet50.yaml", &network, &err), DSE_OK);
    const struct soma_scheduled given = {&network, 1};
    assert_int_equal(soma_parts_by_rule(&given, &rule, &arena, &out, &err), DSE_OK);
    assert_true(out.network->n_cut > 10);
    for (uint32_t l = 0; l < out.network->n_layer; l++)
        assert_true((double)layer_weight_words(&out.network->layer[l]) <= 0.325 * (1 << 20));
    rule.buffer_byte = 16 << 20;
    assert_int_equal(soma_parts_by_rule(&given, &rule, &arena, &out, &err), DSE_OK);
    assert_ptr_equal(out.network, &network);
    network_free(&network);
    arena_free(&arena);
}

/* Decoding with Llama on 4 MiB: smaller parts than the rule's would be more layers than a network has, so
 * soma-plus leaves them out. */
static void test_soma_plus_leaves_out_too_many_parts(void **state)
{
    struct schedule_run r;
    struct soma_scheduled given, out;
    struct dse_error err = {0};
    const struct soma_part_rule smaller = {4 << 20, 8, 0, 0.35, 0, NULL, false, false};
    (void)state;
    schedule_run_open_on(&r, &engine_soma_plus, "experiments/networks/llama3_8b_decode4096.yaml",
                         "simba_fused", NULL, 0);
    given = (struct soma_scheduled){&r.network, 1};
    assert_int_equal(soma_parts_by_rule(&given, &smaller, &r.arena, &out, &err), DSE_OK);
    assert_true(out.network->n_layer > NETWORK_LAYER_MAX);
    set_brief(&r, 1);
    schedule_run_set(&r, "bound_tiles", "0");
    schedule_run_set(&r, "core_evaluations", "8");
    r.task.budget.max_evaluations = 1;
    schedule_run_solve(&r);
    assert_true(r.result.feasible);
    schedule_run_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rule_cuts_what_must_be),
        cmocka_unit_test(test_rule_leaves_what_fits),
        cmocka_unit_test(test_rule_cuts_input_channels_where_one_output_is_too_much),
        cmocka_unit_test(test_all_large_layers_are_cut_when_asked),
        cmocka_unit_test(test_bad_cuts_have_file_and_line),
        cmocka_unit_test(test_networks_in_parts_are_scheduled),
        cmocka_unit_test(test_too_many_parts_are_said_before),
        cmocka_unit_test(test_a_layer_that_fits_in_no_parts_is_said_before),
        cmocka_unit_test(test_small_buffers_with_large_layers),
        cmocka_unit_test(test_soma_plus_is_no_worse_than_parts_by_hand),
        cmocka_unit_test(test_a_fusion_in_other_parts),
        cmocka_unit_test(test_translated_orders_are_valid),
        cmocka_unit_test(test_soma_plus_leaves_out_too_many_parts),
    };
    return cmocka_run_group_tests_name("networks in parts", tests, NULL, NULL);
}
