/* Tests: uop_graph.c, uop_network.c.
 * Numbers of uops and edges, latencies, work and critical path of networks cut with one size for all layers:
 * values of an independent program (Python) with MAESTRO's cycles, 1000 words a cycle. Random networks: who
 * waits for whom against following every element of every map. */
#include <inttypes.h>
#include <math.h>
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
#include "costmodel/uop/uop_graph.h"

static const struct kc_machine machine = {.c_lane = 12, .k_lane = 14, .delivery = {1000, 1}};

static void make_with(const struct network *network, enum uop_vector vector, struct uop_cut one,
                      enum uop_sums sums, uint32_t n_sample, struct arena *arena, struct uop_network *uops,
                      struct uop_graph *graph)
{
    struct dse_error err;
    struct uop_cut cut[256];
    if (uop_network_of(network, vector, arena, uops, &err) != DSE_OK)
        fail_msg("%s", err.text);
    assert_true(uops->n_layer <= sizeof cut / sizeof cut[0]);
    for (uint32_t l = 0; l < uops->n_layer; l++)
        cut[l] = one;
    if (uop_graph_of(uops, &machine, cut, sums, n_sample, arena, graph, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void make(const struct network *network, struct uop_cut one, enum uop_sums sums, uint32_t n_sample,
                 struct arena *arena, struct uop_network *uops, struct uop_graph *graph)
{
    make_with(network, UOP_FUSED, one, sums, n_sample, arena, uops, graph);
}

static void test_known_graphs(void **state)
{
    static const struct {
        const char *network;
        struct uop_cut cut;
        uint32_t n_uop, n_edge;
        uint64_t least, most;
        double work, path; /* to four digits */
    } row[] = {
        {"vgg16", {28, 28, 516, 140}, 542, 4690, 165, 3371202, 1.132e8, 1.694e7},
        {"vgg16", {28, 28, 264, 70}, 1630, 30406, 49, 862402, 1.132e8, 6.337e6},
        {"resnet50", {28, 28, 516, 140}, 349, 3864, 169, 862402, 4.056e7, 1.308e7},
        {"resnet50", {14, 14, 516, 140}, 649, 5892, 169, 431202, 4.056e7, 7.023e6},
        {"resnet50", {7, 7, 2048, 266}, 1392, 7306, 2941, 400332, 4.056e7, 5.160e6},
        {"resnet152", {14, 14, 516, 140}, 1165, 24536, 169, 431202, 1.122e8, 2.931e7},
        {"inception_v3", {18, 18, 516, 70}, 922, 7716, 13, 346802, 4.898e7, 5.415e6},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct network network;
        struct uop_network uops;
        struct uop_graph graph;
        struct arena arena;
        struct dse_error err;
        char path[128];
        (void)snprintf(path, sizeof path, "experiments/networks/%s.yaml", row[i].network);
        assert_int_equal(network_read(path, &network, &err), DSE_OK);
        arena_init(&arena);
        make(&network, row[i].cut, UOP_SUMS_ALL, 1, &arena, &uops, &graph);
        assert_int_equal(graph.n_uop, row[i].n_uop);
        assert_int_equal(graph.first_producer[graph.n_uop], row[i].n_edge);
        uint64_t least = UINT64_MAX, most = 0, work = 0, path_cycle = 0;
        uint64_t *finish = calloc(graph.n_uop, sizeof *finish);
        assert_non_null(finish);
        for (uint32_t u = 0; u < graph.n_uop; u++) {
            const uint64_t cycle = graph.uop[u].cycle;
            for (uint32_t k = graph.first_producer[u]; k < graph.first_producer[u + 1]; k++)
                if (finish[graph.producer[k]] > finish[u])
                    finish[u] = finish[graph.producer[k]];
            finish[u] += cycle;
            path_cycle = finish[u] > path_cycle ? finish[u] : path_cycle;
            least = cycle < least ? cycle : least;
            most = cycle > most ? cycle : most;
            work += cycle;
        }
        free(finish);
        assert_int_equal(least, row[i].least);
        assert_int_equal(most, row[i].most);
        assert_true(fabs((double)work / row[i].work - 1) < 5e-4);
        assert_true(fabs((double)path_cycle / row[i].path - 1) < 5e-4);
        arena_free(&arena);
        network_free(&network);
    }
}

/* ---- random networks, element by element ---- */

enum { MAP_MAX = 10, UOP_SET = 512 };

/* Which tiles an element is made of, as a set. */
struct made_of {
    bool by[UOP_SET];
};

struct map {
    uint32_t c, h, w;
    struct made_of *element; /* (c * h * w); NULL: not followed */
};

static uint32_t any(struct random_stream *rng, uint32_t from, uint32_t to)
{
    return from + random_below(rng, to - from + 1);
}

/* One more layer behind maps that are there; false: it does not fit. */
static bool write_layer(struct random_stream *rng, struct map *map, uint32_t n, struct text_buffer *out)
{
    const uint32_t a = random_below(rng, n), b = random_below(rng, n), kind = random_below(rng, 6);
    const struct map *in = &map[a], *other = &map[b];
    const uint32_t r = any(rng, 1, 3), s = any(rng, 1, 3), step = any(rng, 1, 2),
                   pad = r == 3 && s == 3 ? 1 : 0;
    struct map *to = &map[n];
    if (kind == 0 && n > 1 && a != b && a && b && in->c == other->c && in->h == other->h &&
        in->w == other->w) {
        *to = (struct map){.c = in->c, .h = in->h, .w = in->w};
        text_append(out, "- {name: m%u, type: add, C: %u, P: %u, Q: %u, from: [m%u, m%u]}\n", n, in->c, in->h,
                    in->w, a, b);
        return true;
    }
    if (kind == 1 && n > 1 && a != b && a && b && in->h == other->h && in->w == other->w) {
        *to = (struct map){.c = in->c + other->c, .h = in->h, .w = in->w};
        text_append(out, "- {name: m%u, type: concat, C: %u, P: %u, Q: %u, from: [m%u, m%u]}\n", n, to->c,
                    in->h, in->w, a, b);
        return true;
    }
    if (in->h + 2 * pad < r || in->w + 2 * pad < s || (kind == 2 && !a))
        return false;
    *to = (struct map){.c = kind == 2 ? in->c : any(rng, 1, 6),
                       .h = (in->h + 2 * pad - r) / step + 1,
                       .w = (in->w + 2 * pad - s) / step + 1};
    text_append(out, "- {name: m%u, type: %s, C: %u, ", n, kind == 2 ? "pool" : "conv", in->c);
    if (kind != 2)
        text_append(out, "K: %u, ", to->c);
    text_append(out, "P: %u, Q: %u, R: %u, S: %u, stride: %u, pad: %u", to->h, to->w, r, s, step, pad);
    if (a)
        text_append(out, ", from: m%u}\n", a);
    else
        text_append(out, ", from: input}\n");
    return true;
}

static struct made_of *at(const struct map *map, uint32_t c, uint32_t y, uint32_t x)
{
    return &map->element[((size_t)c * map->h + y) * map->w + x];
}

static void join(struct made_of *into, const struct made_of *from)
{
    for (int i = 0; i < UOP_SET; i++)
        into->by[i] = into->by[i] || from->by[i];
}

/* Of a window of `map` at output pixel (y, x), channels from `first` to `end`. */
static void join_window(struct made_of *into, const struct layer *layer, const struct map *map, uint32_t y,
                        uint32_t x, uint32_t first, uint32_t end)
{
    for (uint32_t r = 0; r < layer->r; r++)
        for (uint32_t s = 0; s < layer->s; s++) {
            const int64_t row = (int64_t)y * layer->stride[0] + r - layer->pad[0];
            const int64_t column = (int64_t)x * layer->stride[1] + s - layer->pad[1];
            for (uint32_t c = first; c < end && row >= 0 && column >= 0 && row < map->h && column < map->w;
                 c++)
                join(into, at(map, c, (uint32_t)row, (uint32_t)column));
        }
}

/* What one value of a pool, sum or concatenation is made of. */
static void join_value(struct made_of *into, const struct layer *layer, const struct map *in, uint32_t k,
                       uint32_t y, uint32_t x)
{
    if (layer->type == LAYER_POOL)
        join_window(into, layer, in, y, x, k, k + 1);
    else
        join(into, at(in, k, y, x));
}

/* Uop u of a layer waits for what it reads at an output pixel. */
static void wait_for_pixel(struct made_of *into, const struct layer *layer, const struct map *map,
                           const struct uop_box *box, uint32_t y, uint32_t x)
{
    const int32_t from = layer->producer[0];
    if (layer_has_macs(layer))
        join_window(into, layer, &map[from < 0 ? 0 : from + 1], y, x, box->ic.first, box->ic.end);
    for (uint32_t i = 0; i < layer->n_producer && !layer_has_macs(layer); i++)
        for (uint32_t k = box->oc.first; k < box->oc.end; k++)
            join_value(into, layer, &map[layer->producer[i] + 1], k, y, x);
}

/* The map that a layer makes, and of each uop of a layer that has some what it waits for. */
static void follow(const struct uop_graph *graph, const struct layer *layer, int place, struct map *map,
                   uint32_t n, struct made_of *waits)
{
    struct map *to = &map[n];
    to->element = calloc((size_t)to->c * to->h * to->w, sizeof *to->element);
    assert_non_null(to->element);
    for (uint32_t u = 0; place >= 0 && u < graph->n_uop; u++) {
        if (graph->uop[u].layer != (uint32_t)place)
            continue;
        const struct uop_box box = uop_box_of(graph, u);
        for (uint32_t y = box.row.first; y < box.row.end; y++)
            for (uint32_t x = box.column.first; x < box.column.end; x++) {
                wait_for_pixel(&waits[u], layer, map, &box, y, x);
                for (uint32_t k = box.oc.first; k < box.oc.end; k++)
                    at(to, k, y, x)->by[u] = true;
            }
    }
    uint32_t channel = 0;
    for (uint32_t i = 0; place < 0 && i < layer->n_producer; i++) {
        const struct map *in = &map[layer->producer[i] + 1];
        for (uint32_t k = 0; k < in->c; k++)
            for (uint32_t y = 0; y < to->h; y++)
                for (uint32_t x = 0; x < to->w; x++)
                    join_value(at(to, layer->type == LAYER_CONCAT ? channel + k : k, y, x), layer, in, k, y,
                               x);
        channel += in->c;
    }
}

static void check_edges(const struct uop_graph *graph, const struct made_of *waits, const char *text)
{
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        uint32_t n = 0, k = graph->first_producer[u];
        for (uint32_t p = 0; p < graph->n_uop; p++)
            n += waits[u].by[p];
        if (graph->first_producer[u + 1] - k != n)
            fail_msg("uop %u waits for %u, not %u, of\n%s", u, graph->first_producer[u + 1] - k, n, text);
        for (; k < graph->first_producer[u + 1]; k++) {
            bool back = false;
            const uint32_t p = graph->producer[k];
            if (!waits[u].by[p])
                fail_msg("uop %u does not need %u of\n%s", u, p, text);
            for (uint32_t c = graph->first_consumer[p]; c < graph->first_consumer[p + 1]; c++)
                back = back || graph->consumer[c] == u;
            assert_true(back);
        }
    }
}

/* Does every uop of the network cut so wait for what it reads? */
static void check_random(const struct network *network, enum uop_vector vector, struct uop_cut cut,
                         struct map *map, const char *text)
{
    struct uop_network uops;
    struct uop_graph graph;
    struct arena arena;
    arena_init(&arena);
    make_with(network, vector, cut, UOP_SUMS_ALL, 1, &arena, &uops, &graph);
    if (graph.n_uop <= UOP_SET) {
        struct made_of *waits = calloc(graph.n_uop, sizeof *waits);
        assert_non_null(waits);
        map[0].element = calloc((size_t)map[0].c * map[0].h * map[0].w, sizeof *map[0].element);
        for (uint32_t i = 0; i < network->n_layer; i++) { /* in file order, which is an order of producers */
            int place = -1;
            for (uint32_t l = 0; l < uops.n_all; l++)
                place = uops.layer[l].of == i ? (int)l : place;
            follow(&graph, &network->layer[i], place, map, i + 1, waits);
        }
        check_edges(&graph, waits, text);
        for (uint32_t i = 0; i <= network->n_layer; i++)
            free(map[i].element);
        free(waits);
    }
    arena_free(&arena);
}

static void one_random(struct random_stream *rng)
{
    struct map map[MAP_MAX] = {{.c = any(rng, 1, 4), .h = any(rng, 3, 7), .w = any(rng, 3, 7)}};
    struct text_buffer text;
    struct network network;
    struct dse_error err;
    uint32_t n = 1;
    text_init(&text);
    text_append(&text, "network: random\ninput: {C: %u, H: %u, W: %u}\nlayers:\n", map[0].c, map[0].h,
                map[0].w);
    text_append(&text, "- {name: m1, type: conv, C: %u, K: 3, P: %u, Q: %u, R: 1, S: 1, from: input}\n",
                map[0].c, map[0].h, map[0].w);
    map[n++] = (struct map){.c = 3, .h = map[0].h, .w = map[0].w};
    for (int i = 0; i < 20 && n < MAP_MAX; i++)
        n += write_layer(rng, map, n, &text);
    if (network_parse("random.yaml", text.data, text.length, &network, &err) != DSE_OK)
        fail_msg("%s\n%s", err.text, text.data);
    const struct uop_cut cut = {any(rng, 1, 4), any(rng, 1, 4), any(rng, 1, 4), any(rng, 1, 4)};
    check_random(&network, UOP_FUSED, cut, map, text.data);
    check_random(&network, UOP_VECTOR, cut, map, text.data);
    network_free(&network);
    text_free(&text);
}

static void test_random_networks_wait_for_what_they_read(void **state)
{
    struct random_stream rng = random_stream_make(7, 0, RANDOM_TEST);
    (void)state;
    for (int i = 0; i < 60; i++)
        one_random(&rng);
}

/* ---- by hand ---- */

static const char two_layers[] = "network: two\ninput: {C: 4, H: 4, W: 4}\nlayers:\n"
                                 "- {name: a, type: conv, C: 4, K: 4, P: 4, Q: 4, R: 1, S: 1, from: input}\n"
                                 "- {name: b, type: linear, C: 64, K: 2, from: a}\n";

static void read_two(struct network *network)
{
    struct dse_error err;
    if (network_parse("two.yaml", two_layers, strlen(two_layers), network, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

/* a: 2 x 1 x 2 x 2 = 8 tiles (rows, columns, oc, ic); b: window 4 x 4 over 4 channels, two parts of 2
 * channels, one of oc. Part j of b reads oc tile j of a in both rows. */
static void test_partial_sums(void **state)
{
    const struct uop_cut cut = {2, 4, 2, 2};
    static const uint32_t all[] = {0, 1, 4, 5}, last[] = {1, 5}, reduced[] = {8, 10};
    struct network network;
    struct uop_network uops;
    struct uop_graph graph;
    struct arena arena;
    (void)state;
    read_two(&network);
    arena_init(&arena);
    make(&network, cut, UOP_SUMS_ALL, 1, &arena, &uops, &graph);
    assert_int_equal(graph.n_uop, 10);
    assert_int_equal(graph.first_producer[9] - graph.first_producer[8], 4);
    assert_memory_equal(&graph.producer[graph.first_producer[8]], all, sizeof all);
    assert_int_equal(graph.uop[8].output_word, 2);
    assert_int_equal(uop_box_of(&graph, 9).ic.first, 2);

    make(&network, cut, UOP_SUMS_CHAIN, 1, &arena, &uops, &graph);
    assert_int_equal(graph.n_uop, 10);
    assert_int_equal(graph.producer[graph.first_producer[3]], 2);
    assert_memory_equal(&graph.producer[graph.first_producer[8]], last, sizeof last);
    assert_int_equal(graph.first_producer[9] - graph.first_producer[8], 2);
    assert_int_equal(graph.first_producer[10] - graph.first_producer[9], 3); /* 3, 7, and 8 */

    make(&network, cut, UOP_SUMS_REDUCE, 1, &arena, &uops, &graph);
    assert_int_equal(graph.n_uop, 8 + 4 + 2 + 1);
    assert_int_equal(graph.layer[1].first, 12);
    assert_memory_equal(&graph.producer[graph.first_producer[12]], reduced, sizeof reduced);
    assert_int_equal(graph.uop[8].cycle, 1); /* 2 x 4 x 2 words on 168 PEs */
    assert_int_equal(graph.producer[graph.first_producer[14]], 12);
    assert_int_equal(graph.producer[graph.first_producer[14] + 1], 13);
    arena_free(&arena);
    network_free(&network);
}

/* a in tiles of 2 x 4 pixels and 84 channels (uops 0 to 15), its pool of stride 2 in such of 1 x 2 (16 to
 * 31), as the sum of that, of b (32 to 35) and of that again (36 to 51); c reads the sum alone. */
static void test_pools_and_sums_as_uops(void **state)
{
    static const char text[] =
        "network: v\ninputs: {x: {C: 4, H: 8, W: 8}, z: {C: 4, H: 4, W: 4}}\nlayers:\n"
        "- {name: a, type: conv, C: 4, K: 168, P: 8, Q: 8, R: 1, S: 1, from: x}\n"
        "- {name: p, type: pool, C: 168, P: 4, Q: 4, R: 3, S: 3, stride: 2, pad: 1, from: a}\n"
        "- {name: b, type: conv, C: 4, K: 168, P: 4, Q: 4, R: 1, S: 1, from: z}\n"
        "- {name: s, type: add, C: 168, P: 4, Q: 4, from: [p, b, p]}\n"
        "- {name: c, type: conv, C: 168, K: 4, P: 4, Q: 4, R: 1, S: 1, from: s}\n";
    static const uint32_t of_p[] = {1, 3, 5, 7}, of_s[] = {23, 33}, of_c[] = {36, 38, 40, 42};
    const struct {
        uint32_t uop, n;
        const uint32_t *waits;
        const char *name;
        uint64_t cycle; /* 0: not looked at */
    } row[] = {
        /* row 1, columns 2 and 3: of rows 1 to 3 and columns 3 to 7; 168 values of 9 operations */
        {23, 4, of_p, "p/7", 9},
        {43, 2, of_s, "s/7", 2}, /* 168 values of 2 */
        {52, 4, of_c, "c/0", 0},
    };
    const struct uop_cut cut = {2, 4, 84, 84};
    struct network network;
    struct uop_network uops;
    struct uop_graph graph;
    struct arena arena;
    struct dse_error err;
    char name[32];
    (void)state;
    assert_int_equal(network_parse("v.yaml", text, strlen(text), &network, &err), DSE_OK);
    arena_init(&arena);
    make_with(&network, UOP_VECTOR, cut, UOP_SUMS_ALL, 1, &arena, &uops, &graph);
    assert_int_equal(uops.n_layer, 3);
    assert_int_equal(uops.n_all, 5);
    assert_int_equal(graph.n_uop, 16 + 16 + 4 + 16 + 4);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const uint32_t u = row[i].uop, first = graph.first_producer[u];
        (void)uop_name_print(&graph, u, name, sizeof name);
        assert_string_equal(name, row[i].name);
        assert_int_equal(graph.first_producer[u + 1] - first, row[i].n);
        assert_memory_equal(&graph.producer[first], row[i].waits, row[i].n * sizeof *row[i].waits);
        assert_true(!row[i].cycle || graph.uop[u].cycle == row[i].cycle);
    }
    arena_free(&arena);
    network_free(&network);
}

static void test_samples_are_apart(void **state)
{
    const struct uop_cut cut = {2, 4, 2, 2};
    struct network network;
    struct uop_network uops;
    struct uop_graph graph;
    struct arena arena;
    (void)state;
    read_two(&network);
    arena_init(&arena);
    make(&network, cut, UOP_SUMS_ALL, 3, &arena, &uops, &graph);
    assert_int_equal(graph.n_uop, 30);
    assert_int_equal(graph.uop[28].sample, 2);
    assert_int_equal(graph.uop[28].layer, 1);
    for (uint32_t k = graph.first_producer[28]; k < graph.first_producer[29]; k++)
        assert_true(graph.producer[k] >= 20 && graph.producer[k] < 28);
    assert_int_equal(graph.consumer[graph.first_consumer[20]], 28);
    const struct uop_cut cuts[] = {cut, cut};
    const uint32_t n_edge = graph.first_producer[30];
    struct dse_error err;
    assert_int_equal(uop_graph_within(&uops, &machine, cuts, UOP_SUMS_ALL, 3, n_edge, &arena, &graph, &err),
                     DSE_OK);
    assert_int_equal(
        uop_graph_within(&uops, &machine, cuts, UOP_SUMS_ALL, 3, n_edge - 1, &arena, &graph, &err),
        DSE_LIMIT);
    arena_free(&arena);
    network_free(&network);
}

static void test_too_many_uops_are_refused(void **state)
{
    struct network network;
    struct uop_network uops;
    struct uop_graph graph;
    struct uop_cut cut[32];
    struct arena arena;
    struct dse_error err;
    (void)state;
    assert_int_equal(network_read("experiments/networks/vgg16.yaml", &network, &err), DSE_OK);
    arena_init(&arena);
    assert_int_equal(uop_network_of(&network, UOP_FUSED, &arena, &uops, &err), DSE_OK);
    for (uint32_t l = 0; l < uops.n_layer; l++)
        cut[l] = (struct uop_cut){1, 1, 12, 14};
    assert_int_equal(uop_graph_of(&uops, &machine, cut, UOP_SUMS_ALL, 1, &arena, &graph, &err), DSE_LIMIT);
    assert_non_null(strstr(err.text, "conv1_1"));
    arena_free(&arena);
    network_free(&network);
}

/* Window 3 x 3, stride 2: 2 x 3 outputs of 5 channels over 4 need 5 x 7 x 4 inputs and 9 x 4 x 5 weights. */
static void test_need_of_a_tile(void **state)
{
    const struct kc_tile whole = {
        .r = 3, .s = 3, .stride_v = 2, .stride_h = 2, .p = 9, .q = 9, .c = 9, .k = 9};
    const struct uop_need need = uop_cut_need(&whole, (struct uop_cut){.h = 2, .w = 3, .ic = 4, .oc = 5});
    (void)state;
    assert_int_equal(need.output_word, 30);
    assert_int_equal(need.input_word, 140);
    assert_int_equal(need.weight_word, 180);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_graphs),
        cmocka_unit_test(test_random_networks_wait_for_what_they_read),
        cmocka_unit_test(test_partial_sums),
        cmocka_unit_test(test_pools_and_sums_as_uops),
        cmocka_unit_test(test_samples_are_apart),
        cmocka_unit_test(test_too_many_uops_are_refused),
        cmocka_unit_test(test_need_of_a_tile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
