/* A start in two steps: groups with the tiles that keep the core array busy, then twice the tiles for the
 * groups that overflow the buffer, until the schedule fits. */
#include "engines/soma/search/initial.h"

#include <math.h>

#include "engines/soma/notation/tile_plan.h"
#include "engines/soma/search/lfa_search.h"

enum { MINIMAL_EXTENT = 4, FEW_TILES = 16 };

static const double busy_share = 1.1; /* cycles in all against those of one tile */

uint32_t soma_power_below(uint64_t n)
{
    uint32_t power = 1;
    while (power <= n / 2 && power < 1u << 30)
        power *= 2;
    return power;
}

/* ---- the smallest tile ---- */

static double use(double x, double n)
{
    return x < n ? x / n : 1;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Samples, rows and columns of the smallest tile. PEs of the first extent lie on rows, those of the second on
 * columns. */
static struct soma_shape minimal_tile(const struct soma_parallel *p, const struct layer *layer,
                                      uint32_t batch)
{
    enum { N_PARTITION = 6 };
    const double c = (double)layer->c / p->lane_c, k = (double)layer->k / p->lane_k, rows = p->rows,
                 columns = p->columns, b = batch, h = layer->p, w = layer->q;
    const double utilization[N_PARTITION] = {use(c, rows) * use(k, columns),
                                             use(c, rows) * use(b, columns) * use(k, 1),
                                             use(c, rows) * use(w, columns) * use(k, 1),
                                             use(b, rows) * use(k, columns) * use(c, 1),
                                             use(h, rows) * use(k, columns) * use(c, 1),
                                             use(h, rows) * use(w, columns) * use(c, 1) * use(k, 1)};
    const uint32_t four = MINIMAL_EXTENT;
    const struct soma_shape tile[N_PARTITION] = {{1, 0, four, four},       {p->columns, 0, four, four},
                                                 {1, 0, four, p->columns}, {p->rows, 0, four, four},
                                                 {1, 0, p->rows, four},    {1, 0, p->rows, p->columns}};
    int best = 0;
    for (int i = 1; i < N_PARTITION && utilization[best] < 1; i++)
        if (utilization[i] > utilization[best])
            best = i;
    return (struct soma_shape){least(tile[best].b, batch), 0, least(tile[best].h, layer->p),
                               least(tile[best].w, layer->q)};
}

static uint64_t pieces(uint32_t all, uint32_t part)
{
    return (all + part - 1) / part;
}

static bool can_cut(const struct soma_search *search, const struct layer *layer, uint32_t n_tile,
                    struct soma_shape *tile)
{
    tile->k = layer->k;
    return soma_split(search->context.batch, layer->p, layer->q, n_tile, true, true, tile);
}

/* The largest of n_tile, n_tile / 2, ... into which the layer's output can be cut. */
static uint32_t tiles_possible(const struct soma_search *search, uint32_t layer, uint32_t n_tile)
{
    struct soma_shape tile;
    while (n_tile > 1 && !can_cut(search, &search->context.network->layer[layer], n_tile, &tile))
        n_tile /= 2;
    return n_tile;
}

/* Whether the core array computes the layer in n_tile tiles at nearly its full speed. */
static enum dse_status is_busy(const struct soma_search *search, const struct layer *layer, uint32_t n_tile,
                               uint64_t whole, bool *busy, struct dse_error *err)
{
    struct soma_shape shape = {0};
    struct core_cost cost;
    *busy = false;
    if (!can_cut(search, layer, n_tile, &shape))
        return DSE_OK;
    struct core_tile tile = soma_core_tile(layer, &shape);
    const struct core_scheduler *core = &search->context.core;
    DSE_TRY(core->cost(core->self, &tile, &cost, err));
    *busy = (double)cost.cycle * n_tile <= busy_share * (double)whole;
    return DSE_OK;
}

static enum dse_status busy_tiles(const struct soma_search *search, const struct layer *layer,
                                  uint32_t *n_tile, struct dse_error *err)
{
    struct soma_shape shape = {0};
    struct core_cost cost;
    const struct core_scheduler *core = &search->context.core;
    (void)can_cut(search, layer, 1, &shape);
    struct core_tile whole = soma_core_tile(layer, &shape);
    DSE_TRY(core->cost(core->self, &whole, &cost, err));
    *n_tile = 1;
    for (bool busy = true; busy; *n_tile *= 2)
        DSE_TRY(is_busy(search, layer, 2 * *n_tile, cost.cycle, &busy, err));
    *n_tile /= 2;
    return DSE_OK;
}

enum dse_status soma_parallel_tiles(const struct soma_search *search, uint32_t l, uint32_t *n_tile,
                                    struct dse_error *err)
{
    const struct layer *layer = &search->context.network->layer[l];
    const struct soma_parallel *p = &search->parallel;
    if (p->lane_c == 0 || p->lane_k == 0 || p->rows == 0 || p->columns == 0)
        return busy_tiles(search, layer, n_tile, err);
    struct soma_shape tile = minimal_tile(p, layer, search->context.batch);
    uint64_t n = pieces(layer->p, tile.h) * pieces(layer->q, tile.w) * (search->context.batch / tile.b);
    *n_tile = soma_power_below(n);
    if (*n_tile < n)
        *n_tile *= 2;
    *n_tile = tiles_possible(search, l, *n_tile);
    return DSE_OK;
}

/* ---- the start ---- */

/* A classifier, with the pools right before it, may have to be a layer group of its own (docs/soma.md): the
 * first layer of the group that the layer at `at` is in. */
static uint32_t group_start(const struct soma_search *search, const struct soma_lfa *lfa, uint32_t at)
{
    const struct network *network = search->context.network;
    if (!search->context.compat || !search->context.graph->classifier[lfa->order[at]])
        return at;
    while (at > 0 && network->layer[lfa->order[at - 1]].type == LAYER_POOL)
        at--;
    return at;
}

/* Which tiling numbers come first: those of the core array, all of them or only few a sample, or one tile a
 * sample. Only twice as many and so on follow, and a power of two of tiles does not cut a batch of 7. */
enum beginning { ALL_TILES, FEW_TILES_ONLY, ONE_TILE, N_BEGINNING };

static enum dse_status first_tiling(const struct soma_search *search, enum beginning beginning, uint32_t l,
                                    uint32_t *n_tile, struct dse_error *err)
{
    uint32_t batch = search->context.batch;
    *n_tile = batch;
    if (beginning == ONE_TILE)
        return DSE_OK;
    DSE_TRY(soma_parallel_tiles(search, l, n_tile, err));
    if (beginning == FEW_TILES_ONLY && *n_tile > (uint64_t)FEW_TILES * batch)
        *n_tile = batch;
    return DSE_OK;
}

static enum dse_status make_groups(const struct soma_search *search, enum beginning beginning,
                                   struct soma_lfa *lfa, struct dse_error *err)
{
    const struct network *network = search->context.network;
    lfa->n_layer = network->n_layer;
    lfa->n_flc = 0;
    for (uint32_t i = 0; i < network->n_layer; i++) {
        uint32_t n_tile;
        lfa->order[i] = network->order[i];
        DSE_TRY(first_tiling(search, beginning, lfa->order[i], &n_tile, err));
        uint32_t start = group_start(search, lfa, i);
        while (lfa->n_flc > 0 && lfa->flc[lfa->n_flc - 1] >= start)
            lfa->n_flc--;
        lfa->flc[lfa->n_flc] = start;
        lfa->dram_cut[lfa->n_flc] = true;
        lfa->tiling[lfa->n_flc++] = n_tile;
    }
    return DSE_OK;
}

/* What is over the limit where, in one schedule. */
struct excess {
    const struct fused_schedule *schedule;
    uint64_t *living_byte; /* (n_tile + 1) from position -1 */
    uint32_t *largest; /* (n_tile + 1) the largest tensor that more tiles make smaller; UINT32_MAX: none */
    bool *finer;       /* (n_flc) groups that get twice the tiles */
};

static enum dse_status allocate_excess(struct excess *excess, const struct soma_lfa *lfa,
                                       struct arena *scratch, struct dse_error *err)
{
    size_t n = (size_t)excess->schedule->n_tile + 1;
    excess->living_byte = arena_alloc(scratch, n, sizeof *excess->living_byte);
    excess->largest = arena_alloc(scratch, n, sizeof *excess->largest);
    excess->finer = arena_alloc(scratch, lfa->n_flc, sizeof *excess->finer);
    DSE_TRY(arena_check(scratch, "the start of a search", err));
    for (size_t q = 0; q < n; q++)
        excess->largest[q] = UINT32_MAX;
    return DSE_OK;
}

/* The group of a tensor: that of the tile that makes or reads it. */
static uint32_t tensor_group(const struct fused_schedule *schedule, const struct fused_tensor *tensor)
{
    return schedule->tile[tensor->producer_tile >= 0 ? tensor->producer_tile : tensor->first_use].flc;
}

static bool can_be_finer(const struct soma_search *search, const struct soma_lfa *lfa, uint32_t g)
{
    struct soma_shape tile;
    uint32_t stop = soma_group_stop(lfa, g);
    const struct layer *last = &search->context.network->layer[lfa->order[stop - 1]];
    return lfa->tiling[g] < 1u << 30 && can_cut(search, last, 2 * lfa->tiling[g], &tile);
}

/* The groups whose largest tensors are alive where there is too much. False: at some place nothing can be
 * made smaller; with `rest` what can be is marked all the same, and false means nothing anywhere. */
static bool mark_groups(const struct soma_search *search, const struct soma_lfa *lfa, uint64_t limit,
                        const struct excess *excess, bool rest)
{
    const struct fused_schedule *schedule = excess->schedule;
    for (uint32_t i = 0; i < schedule->n_tensor; i++) {
        const struct fused_tensor *tensor = &schedule->tensor[i];
        if (tensor->kind == FUSED_WEIGHT || !can_be_finer(search, lfa, tensor_group(schedule, tensor)))
            continue;
        for (int32_t p = tensor->start; p < tensor->end; p++) {
            uint32_t *largest = &excess->largest[p + 1];
            if (excess->living_byte[p + 1] > limit &&
                (*largest == UINT32_MAX || tensor->byte > schedule->tensor[*largest].byte))
                *largest = i;
        }
    }
    bool any = false;
    for (uint32_t q = 0; q <= schedule->n_tile; q++) {
        if (excess->living_byte[q] <= limit)
            continue;
        if (excess->largest[q] == UINT32_MAX) {
            if (rest)
                continue;
            return false;
        }
        excess->finer[tensor_group(schedule, &schedule->tensor[excess->largest[q]])] = true;
        any = true;
    }
    return any;
}

/* Twice the tiles for some groups. `*changed` false: it is valid and fits, or more tiles do not help. `rest`:
 * of mark_groups. */
static enum dse_status make_finer(const struct soma_search *search, uint64_t limit, bool rest,
                                  struct arena *scratch, struct soma_lfa *lfa, bool *changed,
                                  struct dse_error *err)
{
    struct fused_schedule schedule;
    struct soma_fault_info fault;
    struct fused_result result;
    struct excess excess = {.schedule = &schedule};
    *changed = false;
    DSE_TRY(soma_parse(&search->context, lfa, scratch, &schedule, &fault, err));
    if (fault.what != SOMA_OK)
        return DSE_OK;
    DSE_TRY(allocate_excess(&excess, lfa, scratch, err));
    struct fused_trace trace = {.living_byte = excess.living_byte};
    DSE_TRY(fused_evaluate(&schedule, &search->machine, scratch, &trace, &result, err));
    if (result.buffer_max_byte <= limit || !mark_groups(search, lfa, limit, &excess, rest))
        return DSE_OK;
    for (uint32_t g = 0; g < lfa->n_flc; g++)
        lfa->tiling[g] *= excess.finer[g] ? 2 : 1;
    *changed = true;
    return DSE_OK;
}

/* The tiles of a layer, whatever its group, when none makes more than the limit. */
static uint64_t least_tiles(const struct soma_search *search, const struct soma_lfa *lfa, uint32_t g,
                            uint64_t limit)
{
    uint32_t stop = soma_group_stop(lfa, g);
    const struct layer *last = &search->context.network->layer[lfa->order[stop - 1]];
    double byte = (double)search->context.batch * last->k * last->p * last->q;
    struct soma_shape tile;
    uint32_t n = lfa->tiling[g];
    while ((double)n * (double)limit < byte && n < 1u << 30 && can_cut(search, last, 2 * n, &tile))
        n *= 2;
    return n;
}

/* Say at once what doubling would come to after a long time. */
static enum dse_status check_tiles(const struct soma_search *search, const struct soma_lfa *lfa,
                                   uint64_t limit, struct dse_error *err)
{
    uint64_t n_tile = 0;
    for (uint32_t g = 0; g < lfa->n_flc; g++)
        n_tile += least_tiles(search, lfa, g, limit);
    if (n_tile > SOMA_TILE_MAX)
        return dse_fail(
            err, DSE_LIMIT,
            "a SoMa schedule of more than %d tiles: this is how many a buffer of %llu bytes needs",
            SOMA_TILE_MAX, (unsigned long long)limit);
    return DSE_OK;
}

static enum dse_status begin_with(const struct soma_search *search, enum beginning beginning, uint64_t limit,
                                  struct arena *scratch, struct soma_lfa *lfa, struct soma_price *price,
                                  struct dse_error *err)
{
    DSE_TRY(make_groups(search, beginning, lfa, err));
    DSE_TRY(check_tiles(search, lfa, limit, err));
    for (bool changed = true; changed;) {
        arena_reset(scratch);
        DSE_TRY(make_finer(search, limit, false, scratch, lfa, &changed, err));
    }
    arena_reset(scratch);
    return soma_price_lfa(search, lfa, limit, scratch, NULL, price, err);
}

enum dse_status soma_initial_lfa(const struct soma_search *search, enum soma_moves moves,
                                 uint64_t buffer_limit, struct arena *scratch, struct soma_lfa *lfa,
                                 struct soma_price *price, struct dse_error *err)
{
    enum beginning own = moves == SOMA_MOVES_PUBLISHED ? FEW_TILES_ONLY : ALL_TILES;
    DSE_TRY(begin_with(search, own, buffer_limit, scratch, lfa, price, err));
    if (isfinite(price->cost) || buffer_limit < search->machine.buffer_byte)
        return DSE_OK;
    for (int b = 0; b < N_BEGINNING; b++) {
        DSE_TRY(begin_with(search, (enum beginning)b, buffer_limit, scratch, lfa, price, err));
        if (isfinite(price->cost))
            return DSE_OK;
    }
    return DSE_OK;
}

enum dse_status soma_finest_lfa(const struct soma_search *search, uint64_t buffer_limit,
                                struct arena *scratch, struct soma_lfa *lfa, struct dse_error *err)
{
    for (bool changed = true; changed;) {
        arena_reset(scratch);
        DSE_TRY(make_finer(search, buffer_limit, true, scratch, lfa, &changed, err));
    }
    arena_reset(scratch);
    return DSE_OK;
}
