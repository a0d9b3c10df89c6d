/* Tests: uop_network.c, uop_region.c.
 * Every type of layer as uops: who waits for whom, against following each element of each map of small random
 * networks. */
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

/* ---- random networks, element by element ---- */

enum { MAP_MAX = 9, UOP_SET = 768, SIDE_MAX = 9, CHANNELS_MAX = 24 };

/* Which uops an element is made by, as a set. */
struct made_of {
    bool by[UOP_SET];
};

struct map {
    uint32_t c, h, w;
    struct made_of *element; /* (c * h * w) */
};

struct maker {
    struct random_stream *rng;
    struct map map[MAP_MAX];
    uint32_t n;
    bool shares; /* some heads share an operand: uops may wait for more than they read */
    struct text_buffer text;
};

static uint32_t any(struct random_stream *rng, uint32_t from, uint32_t to)
{
    return from + random_below(rng, to - from + 1);
}

static bool begin(struct maker *m, const char *type, const struct map *in, struct map to)
{
    if (to.h > SIDE_MAX || to.w > SIDE_MAX || to.c > CHANNELS_MAX || !to.h || !to.w)
        return false;
    m->map[m->n] = to;
    text_append(&m->text, "- {name: m%u, type: %s, C: %u, P: %u, Q: %u, ", m->n, type, in->c, to.h, to.w);
    return true;
}

static bool end(struct maker *m, uint32_t from)
{
    if (from)
        text_append(&m->text, "from: m%u}\n", from);
    else
        text_append(&m->text, "from: input}\n");
    return true;
}

/* A common divisor of both, at random. */
static uint32_t divisor(struct random_stream *rng, uint32_t a, uint32_t b)
{
    for (;;) {
        const uint32_t d = any(rng, 1, a);
        if (a % d == 0 && b % d == 0)
            return d;
    }
}

/* Windows no narrower than their step, so that every row between the first and last is read. */
static bool write_window(struct maker *m, uint32_t a, const char *type)
{
    const struct map *in = &m->map[a];
    const uint32_t r = any(m->rng, 1, 3), s = any(m->rng, 1, 3), v = any(m->rng, 1, r), h = any(m->rng, 1, s);
    const uint32_t pad = r == 3 && s == 3 ? any(m->rng, 0, 1) : 0;
    const bool is_conv = strcmp(type, "conv") == 0;
    const struct map to = {is_conv ? any(m->rng, 1, 8) : in->c, (in->h + 2 * pad - r) / v + 1,
                           (in->w + 2 * pad - s) / h + 1, NULL};
    if (in->h + 2 * pad < r || in->w + 2 * pad < s || !begin(m, type, in, to))
        return false;
    text_append(&m->text, "R: %u, S: %u, stride: [%u, %u], pad: %u, ", r, s, v, h, pad);
    if (is_conv)
        text_append(&m->text, "K: %u, groups: %u, ", to.c, divisor(m->rng, in->c, to.c));
    return end(m, a);
}

static bool write_transposed(struct maker *m, uint32_t a)
{
    const struct map *in = &m->map[a];
    const uint32_t r = any(m->rng, 1, 4), s = any(m->rng, 1, 4), v = any(m->rng, 1, 3), h = any(m->rng, 1, 3);
    const bool divides = r % v == 0 && s % h == 0; /* then no position loses a row to the padding */
    const uint32_t most = divides ? (r - v < s - h ? r - v : s - h) / 2 : r < s ? r - 1 : s - 1;
    const uint32_t pad = any(m->rng, 0, most), k = any(m->rng, 1, 4);
    const uint32_t p = (in->h - 1) * v + r, q = (in->w - 1) * h + s;
    if (p <= 2 * pad || q <= 2 * pad ||
        !begin(m, "conv_transpose", in, (struct map){k, p - 2 * pad, q - 2 * pad, NULL}))
        return false;
    text_append(&m->text, "R: %u, S: %u, stride: [%u, %u], pad: %u, K: %u, groups: %u, ", r, s, v, h, pad, k,
                divisor(m->rng, in->c, k));
    return end(m, a);
}

static bool write_matmul(struct maker *m, uint32_t a, uint32_t b)
{
    const struct map *in = &m->map[a], *second = &m->map[b];
    const uint32_t g = divisor(m->rng, in->c, in->c), share = divisor(m->rng, g, g);
    const uint32_t words = second->c * second->h * second->w * share;
    const uint32_t k = words / (in->c / g);
    if (!b || words % (in->c / g) || k % g || k > CHANNELS_MAX ||
        !begin(m, "matmul", in, (struct map){k, in->h, in->w, NULL}))
        return false;
    text_append(&m->text, "K: %u, groups: %u, share: %u, weights_from: m%u, ", k, g, share, b);
    m->shares = m->shares || share > 1;
    return end(m, a);
}

static bool write_linear(struct maker *m, uint32_t a)
{
    const struct map *in = &m->map[a];
    struct map flat = *in;
    const uint32_t k = any(m->rng, 1, 6);
    const bool flattens = random_below(m->rng, 2);
    flat.c = in->c * in->h * in->w;
    if (!begin(m, "linear", flattens ? &flat : in,
               flattens ? (struct map){k, 1, 1, NULL} : (struct map){k, in->h, in->w, NULL}))
        return false;
    text_append(&m->text, "K: %u, ", k);
    return end(m, a);
}

static bool write_transpose(struct maker *m, uint32_t a)
{
    static const char *const permute[] = {"HCW", "WHC", "CWH", "HWC", "WCH", "CHW"};
    const struct map *in = &m->map[a];
    const char *const to = permute[random_below(m->rng, 6)];
    uint32_t size[3];
    for (int i = 0; i < 3; i++)
        size[i] = to[i] == 'C' ? in->c : to[i] == 'H' ? in->h : in->w;
    if (!begin(m, "transpose", in, (struct map){size[0], size[1], size[2], NULL}))
        return false;
    text_append(&m->text, "K: %u, permute: %s, ", size[0], to);
    return end(m, a);
}

static bool write_resized(struct maker *m, uint32_t a, bool is_crop)
{
    const struct map *in = &m->map[a];
    const uint32_t v = any(m->rng, 1, 2), h = any(m->rng, 1, 2);
    const struct map to = is_crop ? (struct map){in->c, any(m->rng, 1, in->h), any(m->rng, 1, in->w), NULL}
                                  : (struct map){in->c, in->h * v, in->w * h, NULL};
    if (!begin(m, is_crop ? "crop" : "upsample", in, to))
        return false;
    if (is_crop)
        text_append(&m->text, "offset: [%u, %u], ", random_below(m->rng, in->h - to.h + 1),
                    random_below(m->rng, in->w - to.w + 1));
    else
        text_append(&m->text, "factor: [%u, %u], ", v, h);
    return end(m, a);
}

/* Of two maps. */
static bool write_both(struct maker *m, uint32_t a, uint32_t b)
{
    const struct map *in = &m->map[a], *other = &m->map[b];
    const bool adds = in->c == other->c && random_below(m->rng, 2);
    const struct map both = {in->c + other->c, in->h, in->w, NULL};
    if (a == b || !a || !b || in->h != other->h || in->w != other->w ||
        !begin(m, adds ? "add" : "concat", adds ? in : &both, adds ? *in : both))
        return false;
    text_append(&m->text, "from: [m%u, m%u]}\n", a, b);
    return true;
}

/* One more layer behind maps that are there; false: it does not fit. */
static bool write_layer(struct maker *m)
{
    static const char *const same[] = {"norm", "softmax", "activation"};
    const uint32_t a = random_below(m->rng, m->n), b = random_below(m->rng, m->n);
    const uint32_t kind = random_below(m->rng, 12);
    switch (kind) {
    case 0:
    case 1:
        return write_window(m, a, "conv");
    case 2:
        return write_window(m, a, "depthwise");
    case 3:
        return write_window(m, a, "pool");
    case 4:
        return write_transposed(m, a);
    case 5:
        return write_linear(m, a);
    case 6:
        return write_transpose(m, a);
    case 7:
        return write_resized(m, a, random_below(m->rng, 2));
    case 8:
        return begin(m, same[b % 3], &m->map[a], m->map[a]) && end(m, a);
    case 9:
    case 10:
        return write_both(m, a, b);
    default:
        return write_matmul(m, a, b);
    }
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

static const struct map *map_of(const struct map *map, int32_t producer)
{
    return &map[producer < 0 ? 0 : producer + 1];
}

/* Element (c, y, x) of a layer's input, whose producers lie side by side, or of all of its operands. */
static void join_input(struct made_of *into, const struct layer *layer, const struct map *map, uint32_t c,
                       int64_t y, int64_t x)
{
    for (uint32_t i = 0, channel = 0; i < layer->n_producer; i++) {
        const struct map *in = map_of(map, layer->producer[i]);
        if (c >= channel && c - channel < in->c && y >= 0 && x >= 0 && y < in->h && x < in->w)
            join(into, at(in, c - channel, (uint32_t)y, (uint32_t)x));
        channel = layer->type == LAYER_ADD ? 0 : channel + in->c;
    }
}

/* The window of output (y, x) in channel c. */
static void join_window(struct made_of *into, const struct layer *layer, const struct map *map, uint32_t c,
                        uint32_t y, uint32_t x)
{
    for (uint32_t r = 0; r < layer->r; r++)
        for (uint32_t s = 0; s < layer->s; s++)
            join_input(into, layer, map, c, (int64_t)y * layer->stride[0] + r - layer->pad[0],
                       (int64_t)x * layer->stride[1] + s - layer->pad[1]);
}

/* What value (k, y, x) of a layer without uops is made of. */
static void join_value(struct made_of *into, const struct layer *layer, const struct map *map, uint32_t k,
                       uint32_t y, uint32_t x)
{
    const uint32_t out[3] = {k, y, x};
    uint32_t in[3];
    switch (layer->type) {
    case LAYER_POOL:
        join_window(into, layer, map, k, y, x);
        break;
    case LAYER_NORM:
    case LAYER_SOFTMAX:
        for (uint32_t c = 0; c < layer->c; c++)
            join_input(into, layer, map, c, y, x);
        break;
    case LAYER_TRANSPOSE:
        for (int i = 0; i < 3; i++)
            in[layer->permute[i] == 'C' ? 0 : layer->permute[i] == 'H' ? 1 : 2] = out[i];
        join_input(into, layer, map, in[0], in[1], in[2]);
        break;
    case LAYER_UPSAMPLE:
        join_input(into, layer, map, k, y / layer->stride[0], x / layer->stride[1]);
        break;
    case LAYER_CROP:
        join_input(into, layer, map, k, y + layer->pad[0], x + layer->pad[1]);
        break;
    default:
        join_input(into, layer, map, k, y, x);
    }
}

/* ---- layers with uops ---- */

/* Does position i of a transposed convolution's uops make row y of the output? Where the stride divides the
 * filter they are the middle `stride` rows of those that input row i reaches, and what is left at the ends is
 * the first and last one's. */
static bool makes_row(const struct layer *layer, int direction, uint32_t i, uint32_t y)
{
    const uint32_t stride = layer->stride[direction], n = direction ? layer->w : layer->h;
    const int64_t first = (int64_t)i * stride - layer->pad[direction];
    if (layer_is_subpixel(layer)) {
        const int64_t middle = first + ((direction ? layer->s : layer->r) - stride) / 2;
        return (i == 0 || y >= middle) && (i == n - 1 || y < middle + stride);
    }
    return y >= first && y < first + (direction ? layer->s : layer->r);
}

/* Does input row i reach a row that position `of` makes? */
static bool reaches(const struct layer *layer, int direction, uint32_t i, uint32_t of)
{
    const uint32_t taps = direction ? layer->s : layer->r, n = direction ? layer->q : layer->p;
    const int64_t first = (int64_t)i * layer->stride[direction] - layer->pad[direction];
    if (!layer_is_subpixel(layer))
        return i == of;
    for (uint32_t t = 0; t < taps; t++)
        if (first + t >= 0 && first + t < n && makes_row(layer, direction, of, (uint32_t)(first + t)))
            return true;
    return false;
}

/* A uop of a layer waits for its input channels c at what makes position (y, x). */
static void wait_at(struct made_of *into, const struct layer *layer, const struct map *map, uint32_t c,
                    uint32_t y, uint32_t x)
{
    const struct map *in = map_of(map, layer->producer[0]);
    if (layer->type == LAYER_CONV)
        join_window(into, layer, map, c, y, x);
    else if (layer->type == LAYER_CONV_TRANSPOSE)
        for (uint32_t i = 0; i < layer->h; i++)
            for (uint32_t j = 0; j < layer->w; j++) {
                if (reaches(layer, 0, i, y) && reaches(layer, 1, j, x))
                    join_input(into, layer, map, c, i, j);
            }
    else if (layer->type == LAYER_LINEAR && in->h * in->w > 1 && layer->p * layer->q == 1)
        for (uint32_t i = 0; i < in->h * in->w; i++)
            join(into, &in->element[c * in->h * in->w + i]);
    else
        join_input(into, layer, map, c, y, x);
}

static void wait_for_second(struct made_of *into, const struct layer *layer, const struct map *map)
{
    if (layer->weight_producer == LAYER_NO_PRODUCER)
        return;
    const struct map *second = map_of(map, layer->weight_producer);
    for (uint32_t i = 0; i < second->c * second->h * second->w; i++)
        join(into, &second->element[i]);
}

/* The values that a uop makes. */
static void mark(const struct uop_layer *of, const struct layer *layer, const struct uop_box *box,
                 const struct map *to, uint32_t u)
{
    const uint32_t times = of->whole.k * of->whole.g * of->share / layer->k;
    for (uint32_t k = box->oc.first / times; k <= (box->oc.end - 1) / times; k++)
        for (uint32_t y = 0; y < to->h; y++)
            for (uint32_t x = 0; x < to->w; x++) {
                bool makes =
                    y >= box->row.first && y < box->row.end && x >= box->column.first && x < box->column.end;
                bool row = false, column = false;
                for (uint32_t i = box->row.first; i < box->row.end; i++)
                    row = row || makes_row(layer, 0, i, y);
                for (uint32_t j = box->column.first; j < box->column.end; j++)
                    column = column || makes_row(layer, 1, j, x);
                makes = layer->type == LAYER_CONV_TRANSPOSE ? row && column : makes;
                at(to, k, y, x)->by[u] = at(to, k, y, x)->by[u] || makes;
            }
}

/* Heads that share an operand: `share` of them lie side by side in the columns of their uops. */
static void follow_shared(const struct uop_layer *of, const struct layer *layer, const struct uop_box *box,
                          const struct map *map, const struct map *to, uint32_t u, struct made_of *waits)
{
    for (uint32_t k = box->oc.first; k < box->oc.end; k++)
        for (uint32_t x = box->column.first; x < box->column.end; x++) {
            const uint32_t head = k / of->whole.k * layer->share + x / layer->q;
            for (uint32_t y = box->row.first; y < box->row.end; y++) {
                at(to, head * of->whole.k + k % of->whole.k, y, x % layer->q)->by[u] = true;
                for (uint32_t c = box->ic.first; c < box->ic.end; c++)
                    wait_at(&waits[u], layer, map, head * of->whole.c + c, y, x % layer->q);
            }
        }
}

static void follow_uops(const struct uop_graph *graph, const struct layer *layer, uint32_t place,
                        const struct map *map, const struct map *to, struct made_of *waits)
{
    const struct uop_layer *of = &graph->network->layer[place];
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        if (graph->uop[u].layer != place)
            continue;
        const struct uop_box box = uop_box_of(graph, u);
        wait_for_second(&waits[u], layer, map);
        if (layer->share > 1) {
            follow_shared(of, layer, &box, map, to, u, waits);
            continue;
        }
        for (uint32_t k = box.oc.first; k < box.oc.end; k++)
            for (uint32_t c = box.ic.first; c < box.ic.end; c++)
                for (uint32_t y = box.row.first; y < box.row.end; y++)
                    for (uint32_t x = box.column.first; x < box.column.end; x++)
                        wait_at(&waits[u], layer, map, k / of->whole.k * of->whole.c + c, y, x);
        mark(of, layer, &box, to, u);
    }
}

static void follow(const struct uop_graph *graph, uint32_t l, struct map *map, struct made_of *waits)
{
    const struct layer *layer = &graph->network->network->layer[l];
    const struct map *to = &map[l + 1];
    for (uint32_t i = 0; i < graph->network->n_layer; i++)
        if (graph->network->layer[i].of == l) {
            follow_uops(graph, layer, i, map, to, waits);
            return;
        }
    for (uint32_t k = 0; k < to->c; k++)
        for (uint32_t y = 0; y < to->h; y++)
            for (uint32_t x = 0; x < to->w; x++)
                join_value(at(to, k, y, x), layer, map, k, y, x);
}

static void check_edges(const struct uop_graph *graph, const struct made_of *waits, bool shares,
                        const char *text)
{
    char name[2][64];
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        struct made_of has = {{false}};
        for (uint32_t k = graph->first_producer[u]; k < graph->first_producer[u + 1]; k++)
            has.by[graph->producer[k]] = true;
        for (uint32_t p = 0; p < graph->n_uop; p++) {
            if (has.by[p] == waits[u].by[p] || (shares && has.by[p]))
                continue;
            (void)uop_name_print(graph, u, name[0], sizeof name[0]);
            (void)uop_name_print(graph, p, name[1], sizeof name[1]);
            fail_msg("%s %s for %s of\n%s", name[0], has.by[p] ? "needs not wait" : "does not wait", name[1],
                     text);
        }
    }
}

static void check_random(const struct network *network, struct map *map, struct uop_cut one, bool shares,
                         const char *text)
{
    struct uop_cut cut[MAP_MAX];
    struct uop_network uops;
    struct uop_graph graph;
    struct arena arena;
    struct dse_error err;
    arena_init(&arena);
    for (int l = 0; l < MAP_MAX; l++)
        cut[l] = one;
    if (uop_network_of(network, UOP_FUSED, &arena, &uops, &err) != DSE_OK)
        fail_msg("%s\n%s", err.text, text);
    assert_int_equal(uop_graph_of(&uops, &machine, cut, UOP_SUMS_ALL, 1, &arena, &graph, &err), DSE_OK);
    if (graph.n_uop <= UOP_SET) {
        struct made_of *waits = calloc(graph.n_uop, sizeof *waits);
        assert_non_null(waits);
        for (uint32_t i = 0; i <= network->n_layer; i++) {
            map[i].element = calloc((size_t)map[i].c * map[i].h * map[i].w, sizeof *map[i].element);
            assert_non_null(map[i].element);
        }
        for (uint32_t l = 0; l < network->n_layer; l++)
            follow(&graph, l, map, waits);
        check_edges(&graph, waits, shares, text);
        for (uint32_t i = 0; i <= network->n_layer; i++)
            free(map[i].element);
        free(waits);
    }
    arena_free(&arena);
}

static void one_random(struct random_stream *rng)
{
    struct maker m = {.rng = rng, .n = 1};
    struct network network;
    struct dse_error err;
    m.map[0] = (struct map){any(rng, 1, 6), any(rng, 2, 6), any(rng, 2, 6), NULL};
    text_init(&m.text);
    text_append(&m.text, "network: random\ninput: {C: %u, H: %u, W: %u}\nlayers:\n", m.map[0].c, m.map[0].h,
                m.map[0].w);
    text_append(&m.text, "- {name: m1, type: conv, C: %u, K: 4, P: %u, Q: %u, R: 1, S: 1, from: input}\n",
                m.map[0].c, m.map[0].h, m.map[0].w);
    m.map[m.n++] = (struct map){4, m.map[0].h, m.map[0].w, NULL};
    for (int i = 0; i < 30 && m.n < MAP_MAX; i++)
        m.n += write_layer(&m);
    if (network_parse("random.yaml", m.text.data, m.text.length, &network, &err) != DSE_OK)
        fail_msg("%s\n%s", err.text, m.text.data);
    const struct uop_cut cut = {any(rng, 1, 4), any(rng, 1, 4), any(rng, 1, 6), any(rng, 1, 8)};
    check_random(&network, m.map, cut, m.shares, m.text.data);
    network_free(&network);
    text_free(&m.text);
}

static void test_layers_of_every_type_wait_for_what_they_read(void **state)
{
    struct random_stream rng = random_stream_make(16, 0, RANDOM_TEST);
    (void)state;
    for (int i = 0; i < 120; i++)
        one_random(&rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers_of_every_type_wait_for_what_they_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
