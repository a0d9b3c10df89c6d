/* Cuts layers into tiles and finds who waits for whom by dividing ranges: what a tile reads is a box, and the
 * tiles of a map lie on a grid. */
#include "costmodel/uop/uop_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "costmodel/uop/uop_slices.h"

#define EDGE_MAX ((uint64_t)INT32_MAX)

static uint32_t ceil_div(uint32_t n, uint32_t by)
{
    return n / by + (n % by != 0);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

struct uop_cut uop_cut_clip(const struct kc_tile *whole, struct uop_cut cut)
{
    cut = (struct uop_cut){least(cut.h, whole->p), least(cut.w, whole->q), least(cut.ic, whole->c), cut.oc};
    const uint32_t n_group = cut.ic == whole->c ? least(cut.oc / whole->k, kc_groups(whole)) : 1;
    cut.oc = n_group > 1 ? n_group * whole->k : least(cut.oc, whole->k);
    return cut;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Whole groups of channels in a tile, one at least. */
static uint32_t groups_in(const struct kc_tile *whole, uint32_t oc)
{
    return oc > whole->k ? oc / whole->k : 1;
}

uint64_t uop_cut_oc_count(const struct kc_tile *whole, struct uop_cut cut)
{
    const uint32_t g = kc_groups(whole);
    return cut.oc > whole->k ? ceil_div(g, cut.oc / whole->k) : (uint64_t)g * ceil_div(whole->k, cut.oc);
}

uint64_t uop_cut_count(const struct kc_tile *whole, struct uop_cut cut)
{
    return times(times(ceil_div(whole->p, cut.h), ceil_div(whole->q, cut.w)),
                 times(uop_cut_oc_count(whole, cut), ceil_div(whole->c, cut.ic)));
}

struct kc_tile uop_cut_tile(const struct kc_tile *whole, struct uop_cut cut)
{
    struct kc_tile tile = *whole;
    tile.p = cut.h;
    tile.q = cut.w;
    tile.c = cut.ic;
    tile.g = groups_in(whole, cut.oc);
    tile.k = cut.oc / tile.g;
    return tile;
}

struct uop_need uop_cut_need(const struct kc_tile *whole, struct uop_cut cut)
{
    const uint64_t height = times(cut.h - 1, whole->stride_v) + whole->r;
    const uint64_t width = times(cut.w - 1, whole->stride_h) + whole->s;
    return (struct uop_need){
        .output_word = times(times(cut.h, cut.w), cut.oc),
        .input_word = times(times(height, width), times(cut.ic, groups_in(whole, cut.oc))),
        .weight_word = times(times(whole->r, whole->s), times(cut.ic, cut.oc)),
    };
}

/* ---- tiles ---- */

static struct uop_range part(uint32_t i, uint32_t size, uint32_t whole)
{
    const uint64_t end = (uint64_t)(i + 1) * size;
    return (struct uop_range){i * size, end < whole ? (uint32_t)end : whole};
}

/* Part `i` of the channels of all groups, each of which has `per_group` parts. */
static struct uop_range part_of_group(uint32_t i, uint32_t per_group, uint32_t size, uint32_t k)
{
    const uint32_t first = i / per_group * k;
    const struct uop_range range = part(i % per_group, size, k);
    return (struct uop_range){first + range.first, first + range.end};
}

struct uop_box uop_grid_box(const struct uop_cut_layer *layer, const struct kc_tile *whole, uint32_t t)
{
    const uint32_t ic = t % layer->n_ic, oc = t / layer->n_ic % layer->n_oc;
    const uint32_t per_group = layer->cut.oc > whole->k ? 0 : ceil_div(whole->k, layer->cut.oc);
    const uint32_t column = t / layer->n_ic / layer->n_oc % layer->n_w;
    const uint32_t row = t / layer->n_ic / layer->n_oc / layer->n_w;
    return (struct uop_box){
        .row = part(row, layer->cut.h, whole->p),
        .column = part(column, layer->cut.w, whole->q),
        .oc = per_group ? part_of_group(oc, per_group, layer->cut.oc, whole->k)
                        : part(oc, layer->cut.oc, whole->k * whole->g),
        .ic = part(ic, layer->cut.ic, whole->c),
    };
}

static uint32_t length(struct uop_range range)
{
    return range.end - range.first;
}

struct uop_box uop_box_of(const struct uop_graph *graph, uint32_t uop)
{
    const uint32_t per_sample = graph->n_uop / graph->n_sample, l = graph->uop[uop].layer;
    const struct uop_cut_layer *layer = &graph->layer[l];
    uint32_t t = uop % per_sample - layer->first;
    if (t >= layer->n_tile) /* it adds up: of all input channels */
        t = (t - layer->n_tile) * layer->n_ic;
    struct uop_box box = uop_grid_box(layer, &graph->network->layer[l].whole, t);
    if (uop % per_sample - layer->first >= layer->n_tile)
        box.ic = (struct uop_range){0, graph->network->layer[l].whole.c};
    return box;
}

struct kc_tile uop_tile_of(const struct kc_tile *whole, const struct uop_box *box)
{
    const struct uop_cut sizes = {length(box->row), length(box->column), length(box->ic), length(box->oc)};
    return uop_cut_tile(whole, sizes);
}

int uop_name_print(const struct uop_graph *graph, uint32_t uop, char *text, size_t size)
{
    const uint32_t per_sample = graph->n_uop / graph->n_sample, l = graph->uop[uop].layer;
    const char *name = graph->network->network->layer[graph->network->layer[l].of].name;
    const uint32_t tile = uop % per_sample - graph->layer[l].first;
    return graph->uop[uop].sample ? snprintf(text, size, "%s/%u#%u", name, tile, graph->uop[uop].sample)
                                  : snprintf(text, size, "%s/%u", name, tile);
}

int32_t uop_vector_like(const struct uop_network *network, const struct uop_layer *of)
{
    int32_t like = -1;
    for (uint32_t i = of->first_source; i < of->first_source + of->n_source; i++) {
        const int32_t from = network->source[i].layer;
        const bool is_last = network->vector == UOP_BLOCKS && (uint32_t)from < network->n_layer &&
                             ((uint32_t)like >= network->n_layer || from > like);
        if (from >= 0 && (like < 0 || is_last))
            like = from;
    }
    return like;
}

/* A pool or sum in tiles like those of a layer that it reads; one of the network's input is whole. */
static struct uop_cut cut_as_read(const struct uop_network *network, const struct uop_layer *of,
                                  const struct uop_cut_layer *layer)
{
    const int32_t like = uop_vector_like(network, of);
    if (like < 0)
        return (struct uop_cut){of->whole.p, of->whole.q, 1, of->whole.k};
    const struct uop_cut cut = layer[like].cut;
    return (struct uop_cut){ceil_div(cut.h, of->v.step), ceil_div(cut.w, of->h.step), 1, cut.oc};
}

struct uop_cut_layer uop_grid_of(const struct kc_tile *whole, struct uop_cut cut)
{
    return (struct uop_cut_layer){.cut = cut,
                                  .n_h = ceil_div(whole->p, cut.h),
                                  .n_w = ceil_div(whole->q, cut.w),
                                  .n_oc = (uint32_t)uop_cut_oc_count(whole, cut),
                                  .n_ic = ceil_div(whole->c, cut.ic)};
}

enum dse_status uop_layout_of(const struct uop_network *network, const struct uop_cut *cut,
                              enum uop_sums sums, uint32_t n_sample, struct uop_cut_layer *layer,
                              uint64_t *n_uop, struct dse_error *err)
{
    *n_uop = 0;
    for (uint32_t i = 0; i < network->n_all; i++) {
        const uint32_t l = network->order[i];
        const struct kc_tile *whole = &network->layer[l].whole;
        struct uop_cut_layer *at = &layer[l];
        *at = uop_grid_of(whole, uop_cut_clip(whole, l < network->n_layer
                                                         ? cut[l]
                                                         : cut_as_read(network, &network->layer[l], layer)));
        const uint64_t n_tile = uop_cut_count(whole, at->cut);
        const uint64_t n = n_tile + (sums == UOP_SUMS_REDUCE && at->n_ic > 1 ? n_tile / at->n_ic : 0);
        if (n_tile > UOP_MAX || times(*n_uop + n, n_sample) > UOP_MAX)
            return dse_fail(err, DSE_LIMIT,
                            "cut into more than %d uops at layer %s; take larger tiles, or fewer samples",
                            UOP_MAX, network->network->layer[network->layer[l].of].name);
        at->first = (uint32_t)*n_uop;
        at->n_tile = (uint32_t)n_tile;
        at->n_uop = (uint32_t)n;
        *n_uop += n;
    }
    *n_uop *= n_sample;
    return DSE_OK;
}

/* Adds the cycles of so many equal tiles. */
static enum dse_status add_cycle(const struct kc_machine *machine, const struct uop_shape *shape,
                                 uint64_t *cycle, struct dse_error *err)
{
    struct uop_cost cost = {0};
    DSE_TRY(kc_tile_check(machine, &shape->tile, err));
    if (machine->pricer.cost && !machine->guesses)
        DSE_TRY(machine->pricer.cost(machine->pricer.self, &shape->tile, &cost, err));
    else
        cost.cycle = kc_cycle(machine, &shape->tile);
    *cycle += shape->n * cost.cycle;
    return DSE_OK;
}

enum dse_status uop_tile_cycle(struct uop_priced *shapes, const struct kc_machine *machine,
                               const struct kc_tile *tile, uint64_t *cycle, struct dse_error *err)
{
    uint32_t i = 0;
    while (i < shapes->n && memcmp(&shapes->tile[i], tile, sizeof *tile) != 0)
        i++;
    if (i == shapes->n) {
        struct uop_shape part[UOP_SHAPE_MAX];
        const uint32_t n = uop_runs_as(machine, tile, part);
        shapes->tile[i] = *tile;
        shapes->cycle[i] = 0;
        for (uint32_t k = 0; k < n; k++)
            DSE_TRY(add_cycle(machine, &part[k], &shapes->cycle[i], err));
        shapes->n++;
    }
    *cycle = shapes->cycle[i];
    return DSE_OK;
}

uint64_t uop_vector_cycle(const struct kc_machine *machine, uint64_t word, uint32_t n_operation)
{
    const uint64_t lanes = kc_mac_count(machine);
    return (word * n_operation + lanes - 1) / lanes;
}

static enum dse_status fill_layer(const struct uop_layer *of, const struct uop_cut_layer *layer,
                                  const struct kc_machine *machine, uint32_t l, struct uop *uop,
                                  struct dse_error *err)
{
    struct uop_priced shapes = {.n = 0};
    for (uint32_t t = 0; t < layer->n_uop; t++) {
        const bool adds = t >= layer->n_tile;
        const struct uop_box box =
            uop_grid_box(layer, &of->whole, adds ? (t - layer->n_tile) * layer->n_ic : t);
        const struct kc_tile tile = uop_tile_of(&of->whole, &box);
        struct uop *at = &uop[layer->first + t];
        *at = (struct uop){.layer = l, .output_word = (uint64_t)tile.p * tile.q * tile.k * tile.g};
        if (adds)
            at->cycle = uop_vector_cycle(machine, at->output_word, layer->n_ic - 1);
        else if (of->n_operation) {
            DSE_TRY(kc_tile_check(machine, &tile, err));
            at->cycle = uop_vector_cycle(machine, at->output_word, of->n_operation);
        } else
            DSE_TRY(uop_tile_cycle(&shapes, machine, &tile, &at->cycle, err));
    }
    return DSE_OK;
}

/* ---- edges ---- */

struct edges {
    const struct uop_network *network;
    const struct uop_cut_layer *layer;
    enum uop_sums sums;
    uint32_t *list; /* (n) grown: producers in sample 0, by consumer */
    size_t n, capacity;
    uint64_t most;  /* edges of a sample */
    uint32_t *seen; /* (uops of a sample) the consumer + 1 that had this producer last */
};

static enum dse_status fail_edges(struct dse_error *err)
{
    return dse_fail(err, DSE_LIMIT, "uops with more edges than can be held; take larger tiles");
}

static enum dse_status add_edge(struct edges *e, uint32_t producer, uint32_t consumer, struct dse_error *err)
{
    if (e->seen[producer] == consumer + 1)
        return DSE_OK;
    e->seen[producer] = consumer + 1;
    uint32_t *grown = array_grow(e->list, e->n + 1, &e->capacity, sizeof *e->list);
    if (!grown)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the edges between uops");
    e->list = grown;
    e->list[e->n++] = producer;
    return e->n <= e->most ? DSE_OK : fail_edges(err);
}

/* Tiles of size `size` that a range touches. */
static struct uop_range tiles_of(struct uop_range range, uint32_t size)
{
    return (struct uop_range){range.first / size, (range.end - 1) / size + 1};
}

/* A uop waits for what makes output tile `tile` (row, column, oc) of a layer. */
static enum dse_status wait_for_tile(struct edges *e, const struct uop_cut_layer *layer, uint32_t tile,
                                     uint32_t consumer, struct dse_error *err)
{
    const uint32_t parts = layer->first + tile * layer->n_ic;
    if (e->sums == UOP_SUMS_REDUCE && layer->n_ic > 1)
        return add_edge(e, layer->first + layer->n_tile + tile, consumer, err);
    for (uint32_t i = e->sums == UOP_SUMS_CHAIN ? layer->n_ic - 1 : 0; i < layer->n_ic; i++)
        DSE_TRY(add_edge(e, parts + i, consumer, err));
    return DSE_OK;
}

/* The same of output channels, which do not cross groups where these are cut. */
static struct uop_range channel_tiles(const struct kc_tile *whole, struct uop_range range, uint32_t size)
{
    if (whole->g == 1 || size > whole->k)
        return tiles_of(range, size);
    const uint32_t per_group = ceil_div(whole->k, size), last = range.end - 1;
    return (struct uop_range){range.first / whole->k * per_group + range.first % whole->k / size,
                              last / whole->k * per_group + last % whole->k / size + 1};
}

/* A uop waits for a part of a layer's output, which is not empty. */
static enum dse_status wait_for_region(struct edges *e, uint32_t l, const struct uop_region *region,
                                       uint32_t consumer, struct dse_error *err)
{
    const struct uop_cut_layer *layer = &e->layer[l];
    const struct uop_range y = tiles_of(region->row, layer->cut.h),
                           x = tiles_of(region->column, layer->cut.w);
    const struct uop_range k = channel_tiles(&e->network->layer[l].whole, region->channel, layer->cut.oc);
    for (uint32_t i = y.first; i < y.end; i++)
        for (uint32_t j = x.first; j < x.end; j++)
            for (uint32_t c = k.first; c < k.end; c++)
                DSE_TRY(wait_for_tile(e, layer, (i * layer->n_w + j) * layer->n_oc + c, consumer, err));
    return DSE_OK;
}

/* A uop waits for what a source of its layer gives it. */
static enum dse_status wait_for_source(struct edges *e, const struct uop_layer *of, const struct uop_box *box,
                                       const struct uop_source *source, uint32_t consumer,
                                       struct dse_error *err)
{
    struct uop_region region;
    if (source->layer < 0 || !uop_source_region(e->network, of, box, source, &region))
        return DSE_OK;
    return wait_for_region(e, (uint32_t)source->layer, &region, consumer, err);
}

/* What a uop of a layer waits for inside that layer; whether that is all. */
static enum dse_status wait_inside(struct edges *e, const struct uop_cut_layer *layer, uint32_t t,
                                   bool *is_all, struct dse_error *err)
{
    *is_all = t >= layer->n_tile;
    if (!*is_all)
        return e->sums == UOP_SUMS_CHAIN && t % layer->n_ic
                   ? add_edge(e, layer->first + t - 1, layer->first + t, err)
                   : DSE_OK;
    for (uint32_t i = 0; i < layer->n_ic; i++)
        DSE_TRY(add_edge(e, layer->first + (t - layer->n_tile) * layer->n_ic + i, layer->first + t, err));
    return DSE_OK;
}

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Most lists are found in order. */
static void sort(uint32_t *list, size_t n)
{
    size_t i = 1;
    while (i < n && list[i - 1] < list[i])
        i++;
    if (i < n)
        qsort(list, n, sizeof *list, compare);
}

static enum dse_status link_layer(struct edges *e, uint32_t l, uint32_t *first_producer,
                                  struct dse_error *err)
{
    const struct uop_layer *of = &e->network->layer[l];
    const struct uop_cut_layer *layer = &e->layer[l];
    for (uint32_t t = 0; t < layer->n_uop; t++) {
        const uint32_t consumer = layer->first + t;
        const size_t first = e->n;
        bool is_all;
        first_producer[consumer] = (uint32_t)first;
        DSE_TRY(wait_inside(e, layer, t, &is_all, err));
        const struct uop_box box = uop_grid_box(layer, &of->whole, is_all ? 0 : t);
        for (uint32_t i = 0; i < of->n_source && !is_all; i++)
            DSE_TRY(wait_for_source(e, of, &box, &e->network->source[of->first_source + i], consumer, err));
        if (e->n > first)
            sort(e->list + first, e->n - first);
    }
    return DSE_OK;
}

/* Every sample has the edges of the first, further up. */
static void copy_samples(struct uop *uop, uint32_t *first_producer, uint32_t *producer, uint32_t n_uop,
                         uint32_t n_edge, uint32_t n_sample)
{
    for (uint32_t s = 1; s < n_sample; s++) {
        for (uint32_t u = 0; u < n_uop; u++) {
            uop[s * n_uop + u] = uop[u];
            uop[s * n_uop + u].sample = s;
            first_producer[s * n_uop + u] = first_producer[u] + s * n_edge;
        }
        for (uint32_t k = 0; k < n_edge; k++)
            producer[(size_t)s * n_edge + k] = producer[k] + s * n_uop;
    }
    first_producer[n_sample * n_uop] = n_sample * n_edge;
}

/* The other direction: by counting. Consumers ascend as they are taken in order. */
static void turn(uint32_t n_uop, const uint32_t *first_producer, const uint32_t *producer,
                 uint32_t *first_consumer, uint32_t *consumer)
{
    memset(first_consumer, 0, (n_uop + (size_t)1) * sizeof *first_consumer);
    for (uint32_t k = 0; k < first_producer[n_uop]; k++)
        first_consumer[producer[k] + 1]++;
    for (uint32_t u = 0; u < n_uop; u++)
        first_consumer[u + 1] += first_consumer[u];
    for (uint32_t u = 0; u < n_uop; u++)
        for (uint32_t k = first_producer[u]; k < first_producer[u + 1]; k++)
            consumer[first_consumer[producer[k]]++] = u;
    for (uint32_t u = n_uop; u > 0; u--)
        first_consumer[u] = first_consumer[u - 1];
    first_consumer[0] = 0;
}

static enum dse_status link_uops(struct edges *e, uint32_t n_uop, struct uop *uop, struct arena *arena,
                                 struct uop_graph *out, struct dse_error *err)
{
    const uint32_t n_sample = out->n_sample;
    uint32_t *first = arena_alloc_unset(arena, out->n_uop + (size_t)1, sizeof *first);
    uint32_t *first_consumer = arena_alloc_unset(arena, out->n_uop + (size_t)1, sizeof *first_consumer);
    e->seen = arena_alloc(arena, n_uop, sizeof *e->seen);
    DSE_TRY(arena_check(arena, "uops", err));
    for (uint32_t i = 0; i < e->network->n_all; i++)
        DSE_TRY(link_layer(e, e->network->order[i], first, err));
    uint32_t *producer = arena_alloc_unset(arena, e->n * n_sample + 1, sizeof *producer);
    uint32_t *consumer = arena_alloc_unset(arena, e->n * n_sample + 1, sizeof *consumer);
    DSE_TRY(arena_check(arena, "the edges between uops", err));
    if (e->n)
        memcpy(producer, e->list, e->n * sizeof *producer);
    copy_samples(uop, first, producer, n_uop, (uint32_t)e->n, n_sample);
    turn(out->n_uop, first, producer, first_consumer, consumer);
    out->first_producer = first;
    out->producer = producer;
    out->first_consumer = first_consumer;
    out->consumer = consumer;
    return DSE_OK;
}

enum dse_status uop_graph_within(const struct uop_network *network, const struct kc_machine *machine,
                                 const struct uop_cut *cut, enum uop_sums sums, uint32_t n_sample,
                                 uint64_t edge_max, struct arena *arena, struct uop_graph *out,
                                 struct dse_error *err)
{
    struct uop_cut_layer *layer = arena_alloc(arena, network->n_all, sizeof *layer);
    uint64_t n_uop;
    DSE_TRY(arena_check(arena, "cut layers", err));
    DSE_TRY(uop_layout_of(network, cut, sums, n_sample, layer, &n_uop, err));
    struct uop *uop = arena_alloc_unset(arena, n_uop, sizeof *uop);
    DSE_TRY(arena_check(arena, "uops", err));
    *out = (struct uop_graph){.network = network,
                              .sums = sums,
                              .n_sample = n_sample,
                              .n_uop = (uint32_t)n_uop,
                              .layer = layer,
                              .uop = uop};
    for (uint32_t l = 0; l < network->n_all; l++)
        DSE_TRY(fill_layer(&network->layer[l], &layer[l], machine, l, uop, err));
    struct edges e = {.network = network, .layer = layer, .sums = sums, .most = edge_max / n_sample};
    enum dse_status status = link_uops(&e, out->n_uop / n_sample, uop, arena, out, err);
    free(e.list);
    return status;
}

enum dse_status uop_graph_of(const struct uop_network *network, const struct kc_machine *machine,
                             const struct uop_cut *cut, enum uop_sums sums, uint32_t n_sample,
                             struct arena *arena, struct uop_graph *out, struct dse_error *err)
{
    return uop_graph_within(network, machine, cut, sums, n_sample, EDGE_MAX, arena, out, err);
}
