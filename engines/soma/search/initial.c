/* A start in two steps: groups with the tiles that keep the core array busy, then twice the tiles for the
 * groups that overflow the buffer, until the schedule fits. */
#include "engines/soma/search/initial.h"

#include <math.h>

#include "engines/soma/notation/tile_plan.h"
#include "engines/soma/search/lfa_price.h"
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

/* The cycles of a tile; UINT64_MAX: its scheduler has none. */
static enum dse_status tile_cycle(const struct soma_search *search, const struct layer *layer,
                                  const struct soma_shape *shape, uint64_t *cycle, struct dse_error *err)
{
    const struct core_scheduler *core = &search->context.core;
    struct core_tile tile = soma_core_tile(layer, shape);
    struct core_cost cost;
    enum dse_status status = core->cost(core->self, &tile, &cost, err);
    *cycle = status == DSE_OK ? cost.cycle : UINT64_MAX;
    return status == DSE_BAD_INPUT ? DSE_OK : status;
}

/* Whether the core array computes the layer in n_tile tiles at nearly its full speed. */
static enum dse_status is_busy(const struct soma_search *search, const struct layer *layer, uint32_t n_tile,
                               uint64_t whole, bool *busy, struct dse_error *err)
{
    struct soma_shape shape = {0};
    uint64_t cycle;
    *busy = false;
    if (!can_cut(search, layer, n_tile, &shape))
        return DSE_OK;
    DSE_TRY(tile_cycle(search, layer, &shape, &cycle, err));
    *busy = (double)cycle * n_tile <= busy_share * (double)whole;
    return DSE_OK;
}

static enum dse_status busy_tiles(const struct soma_search *search, const struct layer *layer,
                                  uint32_t *n_tile, struct dse_error *err)
{
    struct soma_shape shape = {0};
    uint64_t whole;
    (void)can_cut(search, layer, 1, &shape);
    DSE_TRY(tile_cycle(search, layer, &shape, &whole, err));
    *n_tile = 1;
    for (bool busy = true; busy; *n_tile *= 2)
        DSE_TRY(is_busy(search, layer, 2 * *n_tile, whole, &busy, err));
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

/* Which tiling numbers come first: those of the core array, all of them or only few a sample, one tile in
 * all, or one a sample. Only twice as many and so on follow, and a power of two of tiles does not cut a batch
 * of 7. */
enum beginning { ALL_TILES, FEW_TILES_ONLY, WHOLE, ONE_TILE, N_BEGINNING };

static enum dse_status first_tiling(const struct soma_search *search, enum beginning beginning, uint32_t l,
                                    uint32_t *n_tile, struct dse_error *err)
{
    uint32_t batch = search->context.batch;
    *n_tile = beginning == WHOLE ? 1 : batch;
    if (beginning == ONE_TILE || beginning == WHOLE || soma_search_is_over(search))
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

/* The start that is being made. */
struct beginner {
    const struct soma_search *search;
    struct soma_lfa_prices *prices, *own; /* own: when none are given */
    uint64_t limit;
    struct soma_lfa *lfa;
    uint32_t *finer; /* (n_layer) tiles of the groups that get more; 0 */
    bool large;      /* tiles are so many that it takes long to look at them */
    struct arena arena;
};

static enum dse_status open_beginner(const struct soma_search *search, struct soma_lfa_prices *prices,
                                     uint64_t limit, struct soma_lfa *lfa, struct beginner *b,
                                     struct dse_error *err)
{
    *b = (struct beginner){.search = search, .prices = prices, .limit = limit, .lfa = lfa};
    arena_init(&b->arena);
    b->finer = arena_alloc(&b->arena, search->context.network->n_layer, sizeof *b->finer);
    DSE_TRY(arena_check(&b->arena, "the start of a search", err));
    if (!prices)
        DSE_TRY(soma_lfa_prices_new(search, &b->own, err));
    b->prices = prices ? prices : b->own;
    return DSE_OK;
}

static void close_beginner(struct beginner *b)
{
    soma_lfa_prices_free(b->own);
    arena_free(&b->arena);
}

/* Twice its tiles, where its last layer can be cut into them. With `by_all` also, where it cannot (7 x 7 into
 * 32), a tile for each position of its output. 0: neither. */
static uint32_t next_finer(const struct beginner *b, uint32_t g, bool by_all)
{
    struct soma_shape tile;
    const struct soma_lfa *lfa = b->lfa;
    uint32_t stop = soma_group_stop(lfa, g);
    const struct layer *last = &b->search->context.network->layer[lfa->order[stop - 1]];
    uint64_t all = (uint64_t)b->search->context.batch * last->p * last->q;
    if (lfa->tiling[g] < 1u << 30 && can_cut(b->search, last, 2 * lfa->tiling[g], &tile))
        return 2 * lfa->tiling[g];
    return by_all && all > lfa->tiling[g] && all < SOMA_TILE_MAX &&
                   can_cut(b->search, last, (uint32_t)all, &tile)
               ? (uint32_t)all
               : 0;
}

/* What makes the buffer too full at a place: of the groups there the one with the larger tensor among those
 * that more tiles make smaller, the earlier one when they are equal. False: there is none. */
static bool mark_finer(const struct beginner *b, uint32_t g, uint64_t byte, uint32_t h, uint64_t other_byte,
                       bool by_all)
{
    const uint32_t finer = next_finer(b, g, by_all), other = h != g ? next_finer(b, h, by_all) : 0;
    byte = finer ? byte : 0;
    other_byte = other ? other_byte : 0;
    if (byte == 0 && other_byte == 0)
        return false;
    b->finer[byte >= other_byte ? g : h] = byte >= other_byte ? finer : other;
    return true;
}

static bool mark_larger(const struct beginner *b, uint32_t g, uint64_t byte, uint32_t h, uint64_t other_byte)
{
    return mark_finer(b, g, byte, h, other_byte, false) ||
           (!b->search->context.compat && mark_finer(b, g, byte, h, other_byte, true));
}

/* The times of group g, which is a layer group. False: it is not valid, or the time is over. */
static bool look_at(const struct beginner *b, uint32_t g, struct soma_group_times *times,
                    enum dse_status *status, struct dse_error *err)
{
    *times = (struct soma_group_times){0};
    if (*status == DSE_OK && !soma_search_is_over(b->search) &&
        !(b->large && soma_context_is_over(&b->search->context)))
        *status = soma_lfa_group(b->prices, b->lfa, g, g + 1, times, err);
    return *status == DSE_OK && times->valid;
}

/* Where a block of a folded network begins again, its first group is loaded during the last tile of its
 * last one. */
static enum dse_status mark_repeats(struct beginner *b, bool rest, bool *any, struct dse_error *err)
{
    const struct network_fold *fold = b->search->context.graph->fold;
    enum dse_status status = DSE_OK;
    for (uint32_t s = 0; fold && s < fold->n_segment; s++) {
        struct soma_group_times last_times, first_times;
        uint32_t first = UINT32_MAX, last = 0;
        for (uint32_t g = 0; g < b->lfa->n_flc && fold->of[s].times > 1; g++)
            if (fold->segment[b->lfa->order[b->lfa->flc[g]]] == s) {
                first = first == UINT32_MAX ? g : first;
                last = g;
            }
        if (first == UINT32_MAX)
            continue;
        if (!look_at(b, first, &first_times, &status, err) || !look_at(b, last, &last_times, &status, err)) {
            *any = false;
            return status;
        }
        if (last_times.last_byte + first_times.head_byte <= b->limit)
            continue;
        if (mark_larger(b, last, last_times.last_largest_byte, first, first_times.head_largest_byte))
            *any = true;
        else if (!rest)
            return *any = false, DSE_OK;
    }
    return DSE_OK;
}

/* Mark the groups whose largest tensors are alive where there is too much. Every group is a layer group, so
 * all that lives at a tile is the group's own, but for what the next one loads during the last. `*any`
 * false: all fits, or it is not valid, or at some place nothing can be made smaller; with `rest` what can be
 * is marked all the same. */
static enum dse_status mark_groups(struct beginner *b, bool rest, bool *any, struct dse_error *err)
{
    struct soma_group_times before = {0}, times;
    enum dse_status status = DSE_OK;
    *any = false;
    for (uint32_t g = 0; g < b->lfa->n_flc; g++, before = times) {
        bool stuck = false;
        b->finer[g] = 0;
        if (!look_at(b, g, &times, &status, err)) {
            *any = false;
            return status;
        }
        if (before.last_byte + times.head_byte > b->limit)
            stuck |=
                !mark_larger(b, g > 0 ? g - 1 : g, g > 0 ? before.last_largest_byte : times.head_largest_byte,
                             g, times.head_largest_byte);
        if (times.inner_byte > b->limit || (g + 1 == b->lfa->n_flc && times.last_byte > b->limit))
            stuck |= !mark_larger(b, g, UINT64_MAX, g, 0);
        if (stuck && !rest) {
            *any = false;
            return DSE_OK;
        }
        *any |= b->finer[g] > 0 || (g > 0 && b->finer[g - 1] > 0);
    }
    return mark_repeats(b, rest, any, err);
}

static uint64_t count_tiles(const struct soma_lfa *lfa)
{
    uint64_t n = 0;
    for (uint32_t g = 0; g < lfa->n_flc; g++)
        n += (uint64_t)lfa->tiling[g] * (soma_group_stop(lfa, g) - lfa->flc[g]);
    return n;
}

/* More tiles for those groups, until all fits or more tiles do not help. */
static enum dse_status make_finer(struct beginner *b, bool rest, struct dse_error *err)
{
    for (bool any = true; any;) {
        b->large = count_tiles(b->lfa) > SOMA_INSTANT_TILES;
        DSE_TRY(mark_groups(b, rest, &any, err));
        for (uint32_t g = 0; any && g < b->lfa->n_flc; g++)
            b->lfa->tiling[g] = b->finer[g] ? b->finer[g] : b->lfa->tiling[g];
    }
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
    const int most = search->may_be_long ? SOMA_LONG_TILE_MAX : SOMA_TILE_MAX;
    if (n_tile > (uint64_t)most)
        return dse_fail(
            err, DSE_LIMIT,
            "a SoMa schedule of more than %d tiles: this is how many a buffer of %llu bytes needs", most,
            (unsigned long long)limit);
    return DSE_OK;
}

static enum dse_status begin_with(struct beginner *b, enum beginning beginning, struct soma_price *price,
                                  struct dse_error *err)
{
    *price = (struct soma_price){.cost = INFINITY};
    DSE_TRY(make_groups(b->search, beginning, b->lfa, err));
    DSE_TRY(check_tiles(b->search, b->lfa, b->limit, err));
    DSE_TRY(make_finer(b, false, err));
    return soma_search_is_over(b->search) ? DSE_OK : soma_lfa_price(b->prices, b->lfa, b->limit, price, err);
}

static enum dse_status begin(struct beginner *b, enum beginning own, struct soma_price *price,
                             struct dse_error *err)
{
    DSE_TRY(begin_with(b, own, price, err));
    if (isfinite(price->cost) || b->limit < b->search->machine.buffer_byte)
        return DSE_OK;
    for (int other = 0; other < N_BEGINNING && !isfinite(price->cost); other++)
        DSE_TRY(begin_with(b, (enum beginning)other, price, err));
    return DSE_OK;
}

enum dse_status soma_initial_lfa(const struct soma_search *search, enum soma_moves moves,
                                 uint64_t buffer_limit, struct soma_lfa_prices *prices, struct soma_lfa *lfa,
                                 struct soma_price *price, struct dse_error *err)
{
    struct beginner b;
    enum dse_status status = open_beginner(search, prices, buffer_limit, lfa, &b, err);
    if (status == DSE_OK)
        status = begin(&b, moves == SOMA_MOVES_PUBLISHED ? FEW_TILES_ONLY : ALL_TILES, price, err);
    close_beginner(&b);
    return status;
}

enum dse_status soma_cheap_lfa(const struct soma_search *search, struct soma_lfa_prices *prices,
                               struct soma_lfa *lfa, struct soma_price *price, struct dse_error *err)
{
    struct soma_search patient = *search;
    struct beginner b;
    patient.stop_at_s = 0;
    enum dse_status status = open_beginner(&patient, prices, search->machine.buffer_byte, lfa, &b, err);
    if (status == DSE_OK)
        status = begin_with(&b, WHOLE, price, err);
    if (status == DSE_OK && !isfinite(price->cost))
        status = begin_with(&b, ONE_TILE, price, err);
    close_beginner(&b);
    return status;
}

enum dse_status soma_finest_lfa(const struct soma_search *search, uint64_t buffer_limit, struct soma_lfa *lfa,
                                struct dse_error *err)
{
    struct beginner b;
    enum dse_status status = open_beginner(search, NULL, buffer_limit, lfa, &b, err);
    if (status == DSE_OK)
        status = make_finer(&b, true, err);
    close_beginner(&b);
    return status;
}
