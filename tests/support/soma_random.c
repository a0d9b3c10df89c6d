/* Random networks of all layer types as YAML text, and random schemes of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/model/network_cut.h"
#include "tests/support/soma_plain.h"

enum { N_NODE_MAX = 12, EXTENT_MAX = 10, CHANNEL_MAX = 6 };

/* What a layer (or the input, node 0) gives. */
struct node {
    uint32_t k, h, w;
};

struct drawer {
    struct random_stream *stream;
    struct text_buffer *text;
    struct node node[N_NODE_MAX];
    uint32_t n_node;
};

static uint32_t from_to(struct drawer *d, uint32_t low, uint32_t high)
{
    return low + random_below(d->stream, high - low + 1);
}

static const char *name_of(uint32_t node, char name[16])
{
    if (node == 0)
        return "input";
    snprintf(name, 16, "l%u", node);
    return name;
}

static void begin(struct drawer *d, const char *type, uint32_t c, uint32_t k, uint32_t h, uint32_t w)
{
    text_append(d->text, "- {name: l%u, type: %s, C: %u, P: %u, Q: %u", d->n_node, type, c, h, w);
    if ((k != c && strcmp(type, "conv_transpose") != 0) || strcmp(type, "conv") == 0 ||
        strcmp(type, "linear") == 0 || strcmp(type, "matmul") == 0 || strcmp(type, "transpose") == 0)
        text_append(d->text, ", K: %u", k);
    d->node[d->n_node++] = (struct node){k, h, w};
}

static void end(struct drawer *d, uint32_t a, uint32_t b)
{
    char name[16], other[16];
    if (a == b)
        text_append(d->text, ", from: %s}\n", name_of(a, name));
    else
        text_append(d->text, ", from: [%s, %s]}\n", name_of(a, name), name_of(b, other));
}

/* Another node whose map has the same rows and columns (the same channels too when `alike`), or `a`. */
static uint32_t find_other(struct drawer *d, uint32_t a, bool alike)
{
    uint32_t first = random_below(d->stream, d->n_node);
    for (uint32_t i = 0; i < d->n_node; i++) {
        uint32_t b = (first + i) % d->n_node;
        if (b != a && d->node[b].h == d->node[a].h && d->node[b].w == d->node[a].w &&
            (!alike || d->node[b].k == d->node[a].k))
            return b;
    }
    return a;
}

/* One direction of a window: 0 rows when it does not fit. */
static uint32_t draw_window(struct drawer *d, uint32_t have, uint32_t window[5])
{
    window[0] = from_to(d, 1, 3);                             /* kernel */
    window[1] = from_to(d, 1, from_to(d, 1, 3));              /* stride */
    window[2] = from_to(d, 0, 3) == 0 ? from_to(d, 1, 2) : 1; /* dilation */
    window[3] = random_below(d->stream, window[0] * window[2]);
    window[4] = random_below(d->stream, window[0] * window[2]);
    uint32_t reach = (window[0] - 1) * window[2] + 1, padded = have + window[3] + window[4];
    return padded < reach ? 0 : (padded - reach) / window[1] + 1;
}

static void draw_window_layer(struct drawer *d, uint32_t a, bool pool)
{
    uint32_t b = random_below(d->stream, 3) == 0 ? find_other(d, a, false) : a, v[5], u[5];
    uint32_t c = d->node[a].k + (a != b ? d->node[b].k : 0), k = pool ? c : from_to(d, 1, CHANNEL_MAX);
    uint32_t p = draw_window(d, d->node[a].h, v), q = draw_window(d, d->node[a].w, u), groups = 1;
    if (p == 0 || q == 0 || c > 2 * CHANNEL_MAX)
        return;
    if (!pool && random_below(d->stream, 3) == 0) {
        groups = from_to(d, 1, c);
        while (c % groups)
            groups--;
        k = groups * from_to(d, 1, 2);
    }
    begin(d, pool ? "pool" : "conv", c, k, p, q);
    text_append(d->text, ", R: %u, S: %u, stride: [%u, %u], dilation: [%u, %u], pad: [%u, %u, %u, %u]", v[0],
                u[0], v[1], u[1], v[2], u[2], v[3], u[3], v[4], u[4]);
    if (groups > 1)
        text_append(d->text, ", groups: %u", groups);
    end(d, a, b);
}

/* Padding that leaves an output row, and output padding below the stride; 0 rows when there are too many. The
 * stride need not divide the kernel, nor have anything to do with the dilation. */
static uint32_t draw_spread(struct drawer *d, uint32_t have, uint32_t spread[5])
{
    spread[1] = from_to(d, 1, 3);                             /* stride */
    spread[0] = from_to(d, 1, 5);                             /* kernel */
    spread[4] = from_to(d, 0, 2) == 0 ? from_to(d, 1, 3) : 1; /* dilation */
    const uint32_t reach = (spread[0] - 1) * spread[4] + 1;
    spread[2] = random_below(d->stream, reach); /* padding before and behind */
    spread[3] = random_below(d->stream, reach);
    uint32_t whole = (have - 1) * spread[1] + reach, pads = spread[2] + spread[3];
    uint32_t out = whole > pads ? whole - pads + random_below(d->stream, spread[1]) : 0;
    return out > 2 * EXTENT_MAX ? 0 : out;
}

/* Layers that make maps larger, or take a part of them. */
static void draw_growth(struct drawer *d, uint32_t a)
{
    uint32_t b = random_below(d->stream, 3) == 0 ? find_other(d, a, false) : a, v[5], u[5];
    uint32_t c = d->node[a].k + (a != b ? d->node[b].k : 0), h = d->node[a].h, w = d->node[a].w;
    uint32_t what = random_below(d->stream, 3), p = draw_spread(d, h, v), q = draw_spread(d, w, u);
    if (c > 2 * CHANNEL_MAX || p == 0 || q == 0)
        return;
    if (what == 0) {
        begin(d, "conv_transpose", c, from_to(d, 1, CHANNEL_MAX), p, q);
        text_append(d->text,
                    ", K: %u, R: %u, S: %u, stride: [%u, %u], dilation: [%u, %u], pad: [%u, %u, %u, %u]",
                    d->node[d->n_node - 1].k, v[0], u[0], v[1], u[1], v[4], u[4], v[2], u[2], v[3], u[3]);
    } else if (what == 1 && h * v[1] <= 2 * EXTENT_MAX && w * u[1] <= 2 * EXTENT_MAX) {
        begin(d, "upsample", c, c, h * v[1], w * u[1]);
        text_append(d->text, ", factor: [%u, %u]", v[1], u[1]);
    } else {
        p = from_to(d, 1, h);
        q = from_to(d, 1, w);
        begin(d, "crop", c, c, p, q);
        if (random_below(d->stream, 2) == 0) {
            const uint32_t column = from_to(d, 0, w - q), row = from_to(d, 0, h - p);
            text_append(d->text, ", offset: [%u, %u]", row, column);
        }
    }
    end(d, a, b);
}

static void draw_transpose(struct drawer *d, uint32_t a)
{
    static const char *const permute[] = {"HCW", "WHC", "CWH", "HWC", "WCH", "CHW"};
    const char *letters = permute[random_below(d->stream, 6)];
    uint32_t b = random_below(d->stream, 4) == 0 ? find_other(d, a, false) : a, out[3];
    uint32_t c = d->node[a].k + (a != b ? d->node[b].k : 0);
    for (int i = 0; i < 3; i++)
        out[i] = letters[i] == 'C' ? c : letters[i] == 'H' ? d->node[a].h : d->node[a].w;
    if (c > EXTENT_MAX)
        return;
    begin(d, "transpose", c, out[0], out[1], out[2]);
    text_append(d->text, ", permute: %s", letters);
    end(d, a, b);
}

/* The second operand must have K C / groups words. */
static void draw_matmul(struct drawer *d, uint32_t a)
{
    char name[16];
    uint32_t b = random_below(d->stream, d->n_node), c = d->node[a].k;
    uint32_t words = d->node[b].k * d->node[b].h * d->node[b].w;
    uint32_t groups = c % 2 == 0 && words % c == 0 && random_below(d->stream, 2) == 0 ? 2 : 1;
    if (words % c || words / c * groups > 2 * CHANNEL_MAX)
        return;
    begin(d, "matmul", c, words / c * groups, d->node[a].h, d->node[a].w);
    text_append(d->text, ", groups: %u, weights_from: %s", groups, name_of(b, name));
    end(d, a, a);
}

static void draw_linear(struct drawer *d, uint32_t a)
{
    const struct node *from = &d->node[a];
    uint32_t k = from_to(d, 1, CHANNEL_MAX);
    if (random_below(d->stream, 3) == 0)
        begin(d, "linear", from->k * from->h * from->w, k, 1, 1);
    else
        begin(d, "linear", from->k, k, from->h, from->w);
    end(d, a, a);
}

static void draw_pointwise(struct drawer *d, uint32_t a)
{
    static const char *const type[] = {"norm", "softmax", "activation", "concat", "add"};
    uint32_t what = random_below(d->stream, 5), c = d->node[a].k;
    uint32_t b = what >= 3 || random_below(d->stream, 4) == 0 ? find_other(d, a, what == 4) : a;
    if (what == 4 && b == a)
        return;
    c += what != 4 && b != a ? d->node[b].k : 0;
    if (c > 2 * CHANNEL_MAX)
        return;
    begin(d, type[what], c, c, d->node[a].h, d->node[a].w);
    if (what < 2 && c % 2 == 0 && random_below(d->stream, 2) == 0)
        text_append(d->text, ", groups: 2");
    end(d, a, b);
}

void soma_random_network(struct random_stream *stream, struct text_buffer *text)
{
    struct drawer d = {.stream = stream, .text = text, .n_node = 1};
    uint32_t n = from_to(&d, 2, N_NODE_MAX), tries = 0;
    const uint32_t k = from_to(&d, 1, 4), h = from_to(&d, 1, EXTENT_MAX), w = from_to(&d, 1, EXTENT_MAX);
    d.node[0] = (struct node){k, h, w};
    text_append(text, "network: random\ninput: {C: %u, H: %u, W: %u}\nlayers:\n", d.node[0].k, d.node[0].h,
                d.node[0].w);
    while (d.n_node < n && tries++ < 100) {
        uint32_t back = from_to(&d, 1, from_to(&d, 1, d.n_node)), a = d.n_node - back;
        uint32_t kind = random_below(stream, 12);
        if (kind < 4)
            draw_window_layer(&d, a, kind == 3);
        else if (kind < 6)
            draw_transpose(&d, a);
        else if (kind < 7)
            draw_matmul(&d, a);
        else if (kind < 8)
            draw_linear(&d, a);
        else if (kind < 10)
            draw_growth(&d, a);
        else
            draw_pointwise(&d, a);
    }
    if (d.n_node == 1) {
        begin(&d, "activation", d.node[0].k, d.node[0].k, d.node[0].h, d.node[0].w);
        end(&d, 0, 0);
    }
}

static uint32_t at_most(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void soma_random_cut(struct random_stream *stream, const struct network *network, struct arena *arena,
                     struct network *out)
{
    struct network_cut *cut = arena_alloc(arena, network->n_layer, sizeof *cut);
    uint32_t n = 0;
    struct dse_error err = {0};
    if (!cut)
        abort();
    for (uint32_t l = 0; l < network->n_layer; l++) {
        uint32_t k = 1 + random_below(stream, at_most(3, network_cut_k_max(network, l)));
        k = network_cut_k_next(network, l, k) ? network_cut_k_next(network, l, k) : 1;
        uint32_t c = 1 + random_below(stream, at_most(3, network_cut_c_max(network, l, k)));
        if (random_below(stream, 2) == 0 && (k > 1 || c > 1))
            cut[n++] =
                (struct network_cut){network->layer[l].name, k, c, k > 1 && random_below(stream, 4) == 0};
    }
    if (network_cut(network, cut, n, arena, out, &err) != DSE_OK) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
}

static void *allocate(struct arena *arena, size_t n, size_t size)
{
    void *memory = arena_alloc(arena, n, size);
    if (!memory)
        abort();
    return memory;
}

/* Each layer stands behind its sources: they are lower numbers here, and a random one of those that may come
 * comes next. */
static void draw_order(struct random_stream *stream, const struct soma_graph *graph, struct arena *arena,
                       uint32_t *order)
{
    uint32_t n = graph->network->n_layer;
    bool *done = allocate(arena, n, sizeof *done);
    for (uint32_t i = 0; i < n;) {
        uint32_t l = random_below(stream, n);
        bool ready = !done[l];
        for (uint32_t o = graph->first_operand[l]; o < graph->first_operand[l + 1]; o++)
            ready &= graph->operand[o].source < 0 || done[graph->operand[o].source];
        if (!ready)
            continue;
        done[l] = true;
        order[i++] = l;
    }
}

struct soma_lfa soma_random_lfa(struct random_stream *stream, const struct soma_graph *graph,
                                struct arena *arena)
{
    uint32_t n = graph->network->n_layer, sparse = 1 + random_below(stream, 6);
    struct soma_lfa lfa = {.n_layer = n};
    lfa.order = allocate(arena, n, sizeof *lfa.order);
    lfa.flc = allocate(arena, n, sizeof *lfa.flc);
    lfa.tiling = allocate(arena, n, sizeof *lfa.tiling);
    lfa.dram_cut = allocate(arena, n, sizeof *lfa.dram_cut);
    draw_order(stream, graph, arena, lfa.order);
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && random_below(stream, sparse) != 0)
            continue;
        lfa.flc[lfa.n_flc] = i;
        lfa.tiling[lfa.n_flc] = 1 + random_below(stream, 1 + random_below(stream, 9));
        lfa.dram_cut[lfa.n_flc++] = i == 0 || random_below(stream, 2) == 0;
    }
    return lfa;
}
