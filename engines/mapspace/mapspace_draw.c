/* A draw by construction: each prime goes to a random slot that can still take it, with tiles and spreads
 * kept up to date, so that what comes out nearly always fits. */
#include <string.h>

#include "engines/mapspace/mapspace_private.h"

/* Random 16-bit pieces of one stream: a choice among n <= 64 is off from uniform by less than n / 2^16. */
struct chooser {
    struct random_stream *stream;
    uint32_t pool;
    bool full;
};

static uint32_t choose(struct chooser *c, uint32_t n)
{
    uint32_t piece;
    if (c->full) {
        piece = c->pool >> 16;
        c->full = false;
    } else {
        c->pool = random_u32(c->stream);
        piece = c->pool & 0xffffu;
        c->full = true;
    }
    return piece * n >> 16;
}

/* What a draw knows of its half-made mapping. */
struct draft {
    const struct mapspace *space;
    struct mapping *mapping;
    struct tile_row row[ARCH_LEVEL_MAX];
    /* (n_kind) slots not yet found full; tiles only grow, so full stays full */
    uint64_t open[MAPSPACE_PRIME_MAX];
    uint32_t spread[MAPSPACE_SLOT_MAX];            /* (n_slot) product of the factors of a spatial slot */
    uint32_t temporal[ARCH_LEVEL_MAX];             /* (n_level) dimensions with a non-unit temporal loop */
    uint32_t x[ARCH_LEVEL_MAX], y[ARCH_LEVEL_MAX]; /* (n_level) dimensions on X, on Y */
    struct misfit_info misfit;                     /* the last reason why a slot was full */
};

static void shuffle(struct chooser *c, uint8_t *item, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = choose(c, i);
        uint8_t swap = item[i - 1];
        item[i - 1] = item[j];
        item[j] = swap;
    }
}

/* Words of tensor t's tile in `row` after dimension d grows by the factor p. */
static uint64_t grown_tile(const struct mapspace *space, const struct tile_row *row, uint32_t t, uint32_t d,
                           uint32_t p)
{
    const struct tensor_shape *shape = &space->shape[t];
    if (shape->scales >> d & 1u)
        return row->tile[t] * p;
    uint64_t grown = (uint64_t)row->extent[d] * (p - 1), words = 1;
    for (uint32_t r = 0; r < space->problem->tensor[t].n_rank; r++)
        words *= row->span[t][r] + shape->step[d][r] * grown;
    return words;
}

/* Tensors whose tile at row j grows with dimension d. */
static uint32_t growing(const struct draft *draft, uint32_t j, uint32_t d)
{
    return draft->mapping->level[draft->space->row_level[j]].keep & draft->space->moved[d];
}

/* Take the new tiles over. */
static void commit(struct draft *draft, uint32_t j, uint32_t d, uint32_t p, const uint64_t *tile,
                   uint64_t sum)
{
    const struct mapspace *space = draft->space;
    struct tile_row *row = &draft->row[j];
    uint64_t grown = (uint64_t)row->extent[d] * (p - 1);
    row->sum = sum;
    row->extent[d] *= p;
    for (uint32_t rest = growing(draft, j, d); rest; rest &= rest - 1) {
        uint32_t t = (uint32_t)__builtin_ctz(rest);
        const struct tensor_shape *shape = &space->shape[t];
        row->tile[t] = tile[t];
        if (shape->halo)
            for (uint32_t r = 0; r < space->problem->tensor[t].n_rank; r++)
                row->span[t][r] += shape->step[d][r] * grown;
    }
}

/* Let dimension d grow by p in every limited level from l outwards, if all can hold it. Returns -1, or the
 * level that is too small (then nothing has changed). */
static int grow(struct draft *draft, uint32_t l, uint32_t d, uint32_t p)
{
    const struct mapspace *space = draft->space;
    uint64_t tile[ARCH_LEVEL_MAX][PROBLEM_TENSOR_MAX], sum[ARCH_LEVEL_MAX];
    uint32_t n = 0;
    for (; n < space->n_row && space->row_level[n] >= l; n++) {
        const struct tile_row *row = &draft->row[n];
        uint32_t level = space->row_level[n];
        sum[n] = row->sum;
        for (uint32_t rest = growing(draft, n, d); rest; rest &= rest - 1) {
            uint32_t t = (uint32_t)__builtin_ctz(rest);
            tile[n][t] = grown_tile(space, row, t, d, p);
            sum[n] += tile[n][t] - row->tile[t];
        }
        if (sum[n] > space->usable[level]) {
            draft->misfit = (struct misfit_info){.what = MISFIT_CAPACITY,
                                                 .level = (int)level,
                                                 .tensors = draft->mapping->level[level].keep,
                                                 .needed = sum[n],
                                                 .available = space->usable[level]};
            return (int)level;
        }
    }
    if (space->arch->n_group) {
        for (uint32_t j = n; j < space->n_row; j++)
            sum[j] = draft->row[j].sum;
        if (!mapspace_banks_fit(space, sum, &draft->misfit))
            return (int)l; /* where it grows fewer of the storages there may be room */
    }
    for (uint32_t j = 0; j < n; j++)
        commit(draft, j, d, p, tile[j], sum[j]);
    return -1;
}

/* May slot s take another factor p of dimension d, capacities apart? */
static bool slot_free(struct draft *draft, const struct mapspace_slot *slot, uint32_t s, uint32_t d,
                      uint32_t p)
{
    const struct level_constraints *c = &draft->space->constraints.level[slot->level];
    const struct mapping_level *level = &draft->mapping->level[slot->level];
    if (slot->axis == SLOT_TEMPORAL)
        return c->temporal.highest[d] == 0 || (uint64_t)level->temporal[d] * p <= c->temporal.highest[d];
    uint32_t other = slot->axis == SLOT_X ? draft->y[slot->level] : draft->x[slot->level];
    if (other >> d & 1u)
        return false; /* a dimension lies on one axis of a level */
    if ((uint64_t)draft->spread[s] * p > slot->capacity) {
        draft->misfit = (struct misfit_info){.what = MISFIT_FANOUT,
                                             .level = slot->level,
                                             .needed = (uint64_t)draft->spread[s] * p,
                                             .available = slot->capacity};
        return false;
    }
    return c->spatial.highest[d] == 0 || (uint64_t)level->spatial[d] * p <= c->spatial.highest[d];
}

static void put(struct draft *draft, const struct mapspace_slot *slot, uint32_t s, uint32_t d, uint32_t p)
{
    struct mapping_level *level = &draft->mapping->level[slot->level];
    if (slot->axis == SLOT_TEMPORAL) {
        level->temporal[d] *= p;
        draft->temporal[slot->level] |= 1u << d;
        return;
    }
    level->spatial[d] *= p;
    draft->spread[s] *= p;
    if (slot->axis == SLOT_X)
        draft->x[slot->level] |= 1u << d;
    else
        draft->y[slot->level] |= 1u << d;
}

/* The number of the k-th set bit. */
static uint32_t bit_number(uint64_t mask, uint32_t k)
{
    while (k--)
        mask &= mask - 1;
    return (uint32_t)__builtin_ctzll(mask);
}

/* Give one prime to a random slot that can take it; false when none can. */
static bool place(struct draft *draft, struct chooser *c, uint32_t k)
{
    const struct mapspace *space = draft->space;
    const struct mapspace_kind *kind = &space->kind[k];
    while (draft->open[k]) {
        uint32_t s = bit_number(draft->open[k], choose(c, (uint32_t)__builtin_popcountll(draft->open[k])));
        const struct mapspace_slot *slot = &space->slot[s];
        if (!slot_free(draft, slot, s, kind->dim, kind->prime)) {
            draft->open[k] &= ~(1ull << s);
            continue;
        }
        int full = grow(draft, slot->level, kind->dim, kind->prime);
        if (full < 0) {
            put(draft, slot, s, kind->dim, kind->prime);
            return true;
        }
        draft->open[k] &= space->from_level[full + 1];
    }
    return false;
}

/* A random choice of what is bypassed; what does not fit even in the smallest tiles is bypassed on top of
 * it. */
static void draw_keeps(struct draft *draft, struct chooser *c)
{
    const struct mapspace *space = draft->space;
    for (uint32_t l = 0; l < space->arch->n_level; l++) {
        uint32_t drop = choose(c, 256) & space->optional[l];
        draft->mapping->level[l].keep = (uint8_t)(draft->mapping->level[l].keep & ~drop);
    }
    struct misfit_info fit;
    while (!mapspace_rows_init(space, draft->mapping, draft->row, &fit)) {
        uint32_t may = draft->mapping->level[fit.level].keep & space->optional[fit.level];
        if (!may)
            return;
        uint32_t t = bit_number(may, choose(c, (uint32_t)__builtin_popcount(may)));
        draft->mapping->level[fit.level].keep &= (uint8_t) ~(1u << t);
    }
}

static void start(struct draft *draft, struct chooser *c)
{
    const struct mapspace *space = draft->space;
    struct mapping *mapping = draft->mapping;
    mapping->n_level = space->base.n_level;
    mapping->n_dim = space->base.n_dim;
    memcpy(mapping->level, space->base.level, space->base.n_level * sizeof mapping->level[0]);
    for (uint32_t k = 0; k < space->n_kind; k++)
        draft->open[k] = space->kind[k].open;
    memcpy(draft->spread, space->base_spread, space->n_slot * sizeof draft->spread[0]);
    memcpy(draft->x, space->base_x, sizeof draft->x);
    memcpy(draft->y, space->base_y, sizeof draft->y);
    memcpy(draft->temporal, space->base_temporal, sizeof draft->temporal);
    if (space->search_bypass)
        draw_keeps(draft, c);
    else
        (void)mapspace_rows_init(space, mapping, draft->row, NULL);
}

/* Shuffle the non-unit loops without a fixed place; fixed ones first, unit loops last. */
static void draw_order(const struct loop_constraints *loops, uint32_t mask, uint32_t n_dim, struct chooser *c,
                       bool random, uint8_t *order)
{
    uint32_t n = 0, all = mask;
    for (uint32_t i = 0; i < loops->n_order; i++) { /* unit loops too: a move may give them a factor later */
        order[n++] = loops->order[i];
        mask &= ~(1u << loops->order[i]);
        all |= 1u << loops->order[i];
    }
    uint32_t first = n;
    for (; mask; mask &= mask - 1)
        order[n++] = (uint8_t)__builtin_ctz(mask);
    if (random)
        shuffle(c, order + first, n - first);
    for (uint32_t rest = ~all & ((1u << n_dim) - 1); rest; rest &= rest - 1)
        order[n++] = (uint8_t)__builtin_ctz(rest);
}

static void draw_orders(struct draft *draft, struct chooser *c)
{
    const struct mapspace *space = draft->space;
    uint32_t n_dim = space->problem->n_dim;
    for (uint32_t l = 0; l < space->arch->n_level; l++) {
        const struct level_constraints *constraints = &space->constraints.level[l];
        struct mapping_level *level = &draft->mapping->level[l];
        draw_order(&constraints->temporal, draft->temporal[l], n_dim, c, true, level->temporal_order);
        if ((draft->x[l] | draft->y[l]) == 0)
            continue;
        mapspace_set_axes(space, level, l, draft->x[l], draft->y[l]);
        if (space->spatial_order_counts && constraints->spatial.n_order == 0) {
            uint32_t n_x = (uint32_t)__builtin_popcount(draft->x[l]);
            shuffle(c, level->spatial_order, n_x);
            shuffle(c, level->spatial_order + n_x, (uint32_t)__builtin_popcount(draft->y[l]));
        }
    }
}

static bool try_draw(struct draft *draft, struct chooser *c)
{
    const struct mapspace *space = draft->space;
    uint8_t queue[MAPSPACE_PRIME_MAX];
    start(draft, c);
    memcpy(queue, space->prime_kind, space->n_prime);
    for (uint32_t i = space->n_prime; i > 0; i--) {
        uint32_t j = choose(c, i);
        uint32_t k = queue[j];
        queue[j] = queue[i - 1];
        if (!place(draft, c, k))
            return false;
    }
    draw_orders(draft, c);
    return !(space->looks_at_tiles || space->search_bypass) ||
           mapspace_fits(space, draft->mapping, &draft->misfit);
}

bool mapspace_draw(const struct mapspace *space, struct random_stream *stream, struct mapping *mapping,
                   uint64_t *n_rejected, struct misfit_info *fit)
{
    struct draft draft;
    draft.space = space;
    draft.mapping = mapping;
    draft.misfit.what = FITS;
    struct chooser c = {.stream = stream, .pool = 0, .full = false};
    for (int i = 0; i < MAPSPACE_DRAW_TRIES && !space->empty[0]; i++) {
        if (try_draw(&draft, &c))
            return true;
        if (n_rejected)
            ++*n_rejected;
    }
    if (fit)
        *fit = draft.misfit;
    return false;
}
