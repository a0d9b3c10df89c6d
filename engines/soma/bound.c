#include "engines/soma/bound.h"

#include <math.h>

#include "engines/soma/plan.h"

/* How much of each layer has to be computed, summed over its tiles: rows, columns, samples. All samples always are. A layer that a
 * group ends with computes all it has. Within a group a reader's tile of h rows reads a stretch of at least (h - 1) stride + R
 * - padding rows (of all tiles together only the first has the padding before it; by compat rules all are like the first), at
 * most all of them. With r rows in all, at least 1 per tile, that is r stride less (stride - (R - padding)) per tile where
 * that is positive, so at least r min(stride, R - padding), or everything. The least over the readers holds, since who shares
 * its group is open. Columns likewise. */
struct need {
    uint64_t rows, columns;
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Of `all` rows (direction 0) or columns of a source, what a reader's `out` rows in all need. */
static uint64_t window_rows(const struct layer *layer, int direction, uint64_t out, uint32_t all)
{
    int64_t filter = direction == 0 ? layer->r : layer->s, stride = layer->stride[direction];
    int64_t kept = (filter - 1) * layer->dilation[direction] + 1 - layer->pad[direction];
    int64_t each = kept < stride ? kept : stride;
    return each <= 0 ? least(1, all) : least(all, out * (uint64_t)each);
}

/* What one reader needs of its source. */
static struct need need_of(const struct network *network, const struct soma_operand *operand,
                           const struct need *reader)
{
    const struct layer *layer = &network->layer[operand->layer];
    if (operand->second || operand->flattened)
        return (struct need){operand->h, operand->w};
    if (layer->type == LAYER_TRANSPOSE) /* rows may become columns or channels: one of each, to be safe */
        return (struct need){least(1, operand->h), least(1, operand->w)};
    if (layer->type == LAYER_CONV || layer->type == LAYER_POOL)
        return (struct need){window_rows(layer, 0, reader->rows, operand->h),
                             window_rows(layer, 1, reader->columns, operand->w)};
    return (struct need){least(reader->rows, operand->h), least(reader->columns, operand->w)};
}

/* Readers before sources. */
static void find_needs(const struct soma_search *search, struct need *need)
{
    const struct network *network = search->context.network;
    const struct soma_graph *graph = search->context.graph;
    for (uint32_t i = network->n_layer; i-- > 0;) {
        uint32_t l = network->order[i];
        const struct layer *layer = &network->layer[l];
        need[l] = (struct need){layer->p, layer->q};
        for (uint32_t u = graph->first_use[l]; u < graph->first_use[l + 1]; u++) {
            const struct soma_operand *operand = &graph->operand[graph->use[u]];
            struct need one = need_of(network, operand, &need[operand->layer]);
            need[l].rows = least(need[l].rows, one.rows);
            need[l].columns = least(need[l].columns, one.columns);
        }
    }
}

/* ---- the core array ---- */

/* Whether a tile of the layer may have other channels than the layer: by compat rules a reader of several sources side by side
 * asks for all of its own. */
static bool channels_vary(const struct soma_search *search, uint32_t l)
{
    const struct soma_graph *graph = search->context.graph;
    const struct layer *layer = search->context.network->layer;
    for (uint32_t u = graph->first_use[l]; u < graph->first_use[l + 1]; u++) {
        const struct soma_operand *operand = &graph->operand[graph->use[u]];
        if (layer[operand->layer].type == LAYER_TRANSPOSE)
            return true;
        if (!operand->second && !operand->flattened && layer[operand->layer].c != layer[l].k)
            return true;
    }
    return false;
}

struct density {
    double energy_j, cycle; /* per output row, column and sample */
};

static enum dse_status try_tile(const struct soma_search *search, const struct layer *layer,
                                const struct soma_shape *shape, struct density *least_of,
                                struct dse_error *err)
{
    struct core_tile tile = soma_core_tile(layer, shape);
    struct core_cost cost;
    double area = (double)shape->b * shape->h * shape->w;
    enum dse_status status = search->context.core.cost(search->context.core.self, &tile, &cost, err);
    if (status == DSE_BAD_INPUT)
        return DSE_OK; /* no schedule has such a tile */
    if (status != DSE_OK)
        return status;
    least_of->energy_j = fmin(least_of->energy_j, cost.energy_j / area);
    least_of->cycle = fmin(least_of->cycle, (double)cost.cycle / area);
    return DSE_OK;
}

/* The least per output of all tile shapes: samples are a divisor of the batch. */
static enum dse_status find_density(const struct soma_search *search, uint32_t l, struct density *density,
                                    struct dse_error *err)
{
    const struct layer *layer = &search->context.network->layer[l];
    struct soma_shape shape = {.k = layer->k};
    *density = (struct density){INFINITY, INFINITY};
    for (shape.b = 1; shape.b <= search->context.batch; shape.b++) {
        if (search->context.batch % shape.b != 0)
            continue;
        for (shape.h = 1; shape.h <= layer->p; shape.h++)
            for (shape.w = 1; shape.w <= layer->q; shape.w++)
                DSE_TRY(try_tile(search, layer, &shape, density, err));
    }
    return DSE_OK;
}

static uint64_t n_shapes(const struct soma_search *search, uint32_t l)
{
    const struct layer *layer = &search->context.network->layer[l];
    uint64_t n = 0;
    for (uint32_t b = 1; b <= search->context.batch; b++)
        n += search->context.batch % b == 0;
    return n * layer->p * layer->q;
}

static bool same_tiles(const struct layer *a, const struct layer *b)
{
    return a->type == b->type && a->k == b->k && a->c == b->c && a->p == b->p && a->q == b->q &&
           a->r == b->r && a->s == b->s && a->stride[0] == b->stride[0] && a->stride[1] == b->stride[1] &&
           a->groups == b->groups && a->n_operand == b->n_operand &&
           (a->weight_producer == LAYER_NO_PRODUCER) == (b->weight_producer == LAYER_NO_PRODUCER);
}

static enum dse_status add_core(const struct soma_search *search, const struct need *need, uint64_t tile_max,
                                struct arena *arena, struct soma_bound *bound, struct dse_error *err)
{
    const struct network *network = search->context.network;
    struct density *density = arena_alloc(arena, network->n_layer, sizeof *density);
    double cycle = 0;
    if (!density)
        return dse_fail(err, DSE_NO_MEMORY, "no memory for a lower bound of %u layers", network->n_layer);
    for (uint32_t l = 0; l < network->n_layer; l++) {
        uint32_t same = 0;
        if (channels_vary(search, l))
            continue;
        while (same < l &&
               !(density[same].cycle > 0 && same_tiles(&network->layer[same], &network->layer[l])))
            same++;
        if (same < l) {
            density[l] = density[same];
        } else if (bound->n_evaluation + n_shapes(search, l) <= tile_max) {
            bound->n_evaluation += n_shapes(search, l);
            DSE_TRY(find_density(search, l, &density[l], err));
        }
        double area = (double)need[l].rows * (double)need[l].columns * search->context.batch;
        if (isinf(density[l].cycle))
            continue;
        bound->core_energy_j += density[l].energy_j * area;
        cycle += density[l].cycle * area;
    }
    bound->core_energy_j *= 1 - 1e-9; /* of rounding */
    bound->compute_cycle = (uint64_t)floor(cycle * (1 - 1e-9));
    return DSE_OK;
}

/* ---- the DRAM ---- */

/* Bytes of a source that a reader has to load: its own copy of what its tiles read. */
static uint64_t load_byte(const struct soma_search *search, const struct soma_operand *operand,
                          const struct need *reader)
{
    struct need part = need_of(search->context.network, operand, reader);
    return part.rows * part.columns * operand->k * search->context.batch * search->context.graph->word_byte;
}

static uint64_t layer_byte(const struct soma_search *search, uint32_t l)
{
    const struct layer *layer = &search->context.network->layer[l];
    return (uint64_t)layer->k * layer->p * layer->q * search->context.batch *
           search->context.graph->word_byte;
}

/* Compat: what goes into the layer group of a classifier crosses the DRAM; with the pools before it, or without. At least the
 * smallest map on the way, stored and loaded. */
static uint64_t classifier_byte(const struct soma_search *search, uint32_t l, const struct need *need)
{
    const struct soma_graph *graph = search->context.graph;
    uint64_t byte = UINT64_MAX;
    if (graph->first_operand[l + 1] - graph->first_operand[l] != 1)
        return 0;
    for (;;) {
        if (graph->first_operand[l] == graph->first_operand[l + 1])
            return byte == UINT64_MAX ? 0 : byte;
        const struct soma_operand *operand = &graph->operand[graph->first_operand[l]];
        if (operand->source < 0)
            return 0; /* then the way begins outside, and its load counts already */
        uint64_t crossing = layer_byte(search, (uint32_t)operand->source);
        crossing += least(crossing, load_byte(search, operand, &need[l]));
        byte = least(byte, crossing);
        l = (uint32_t)operand->source;
        if (search->context.network->layer[l].type != LAYER_POOL)
            return byte;
    }
}

static void add_dram(const struct soma_search *search, const struct need *need, struct soma_bound *bound)
{
    const struct soma_graph *graph = search->context.graph;
    uint64_t first = UINT64_MAX; /* before the first tile its weights are there */
    for (uint32_t l = 0; l < search->context.network->n_layer; l++) {
        bool outside = true;
        for (uint32_t o = graph->first_operand[l]; o < graph->first_operand[l + 1]; o++) {
            if (graph->operand[o].source < 0)
                bound->dram_byte += load_byte(search, &graph->operand[o], &need[l]);
            else
                outside = false;
        }
        uint64_t weight = graph->weight_byte[l] * graph->word_byte;
        bound->dram_byte += weight;
        if (outside)
            first = least(first, weight);
        if (graph->first_use[l] == graph->first_use[l + 1])
            bound->dram_byte += layer_byte(search, l);
        if (search->context.compat && graph->classifier[l])
            bound->dram_byte += classifier_byte(search, l, need);
    }
    uint64_t rate = search->machine.dram_byte_per_cycle;
    bound->dram_cycle = bound->dram_byte / rate + (bound->dram_byte % rate != 0);
    if (first != UINT64_MAX)
        bound->cycle = bound->compute_cycle + first / rate;
}

enum dse_status soma_bound(const struct soma_search *search, uint64_t tile_max, struct arena *arena,
                           struct soma_bound *bound, struct dse_error *err)
{
    struct need *need = arena_alloc(arena, search->context.network->n_layer, sizeof *need);
    *bound = (struct soma_bound){0};
    if (!need)
        return dse_fail(err, DSE_NO_MEMORY, "no memory for a lower bound of %u layers",
                        search->context.network->n_layer);
    find_needs(search, need);
    DSE_TRY(add_core(search, need, tile_max, arena, bound, err));
    add_dram(search, need, bound);
    if (bound->cycle < bound->compute_cycle)
        bound->cycle = bound->compute_cycle;
    if (bound->cycle < bound->dram_cycle)
        bound->cycle = bound->dram_cycle;
    bound->energy_j =
        bound->core_energy_j + (double)bound->dram_byte * search->machine.dram_energy_j * (1 - 1e-9);
    bound->cost = soma_cost(search, bound->energy_j, bound->cycle);
    return DSE_OK;
}
