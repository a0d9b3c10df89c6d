/* A block tries its steps one after the other and keeps each that is better; a block that found something
 * is tried again before the next. */
#include "engines/mapspace/mapspace_descent.h"

#include <string.h>

#include "engines/mapspace/mapspace_move.h"
#include "engines/mapspace/mapspace_private.h"

enum { SLOT_FACTOR_MAX = 2 * MAPSPACE_PRIME_MAX };

/* Blocks are numbers: first the pairs of slots (a < b) as a * n_slot + b, then one per level for its orders,
 * one per dimension, then the keeps, then one per level for all its loops. */
static uint32_t pair_end(const struct mapspace *space)
{
    return space->n_slot * space->n_slot;
}

static uint32_t keeps_block(const struct mapspace *space)
{
    return pair_end(space) + space->arch->n_level + space->problem->n_dim;
}

static void shuffle(struct descent *descent)
{
    for (uint32_t i = descent->n_block; i > 1; i--) {
        uint32_t j = random_below(descent->stream, i);
        uint16_t swap = descent->block[i - 1];
        descent->block[i - 1] = descent->block[j];
        descent->block[j] = swap;
    }
}

static void add_block(struct descent *descent, uint32_t block)
{
    if (descent->n_block < DESCENT_BLOCK_MAX)
        descent->block[descent->n_block++] = (uint16_t)block;
}

static void start(struct descent *descent, const struct mapspace *space, struct mapping *mapping, double cost,
                  double tie, struct random_stream *stream, bool wide)
{
    descent->space = space;
    descent->mapping = mapping;
    descent->cost = cost;
    descent->tie = tie;
    descent->stream = stream;
    descent->wide = wide;
    descent->n_block = descent->at = descent->n_idle = 0;
    for (uint32_t a = 0; a < space->n_slot; a++)
        for (uint32_t b = a + 1; b < space->n_slot; b++)
            add_block(descent, a * space->n_slot + b);
    for (uint32_t l = 0; l < space->arch->n_level; l++)
        add_block(descent, pair_end(space) + l);
    for (uint32_t d = 0; d < space->problem->n_dim; d++)
        add_block(descent, pair_end(space) + space->arch->n_level + d);
    if (space->search_bypass)
        add_block(descent, keeps_block(space));
    for (uint32_t l = 0; wide && l < space->arch->n_level; l++)
        add_block(descent, keeps_block(space) + 1 + l);
    shuffle(descent);
}

void descent_start(struct descent *descent, const struct mapspace *space, struct mapping *mapping,
                   double cost, double tie, struct random_stream *stream)
{
    start(descent, space, mapping, cost, tie, stream, false);
}

void descent_start_wide(struct descent *descent, const struct mapspace *space, struct mapping *mapping,
                        double cost, double tie, struct random_stream *stream)
{
    start(descent, space, mapping, cost, tie, stream, true);
}

/* Keep the mapping if it is better. */
static bool better(struct descent *descent, descent_price price, void *self)
{
    double cost, tie;
    if (!price(self, descent->mapping, &cost, &tie) || cost > descent->cost ||
        (cost == descent->cost && tie >= descent->tie))
        return false;
    descent->cost = cost;
    descent->tie = tie;
    return true;
}

/* ---------------------------------------- factors of two slots */

static bool try_moves(struct descent *descent, const struct factor_move *move, uint32_t n,
                      descent_price price, void *self)
{
    struct move_undo undo;
    for (uint32_t i = 0; i < n; i++) {
        if (!mapspace_apply(descent->space, descent->mapping, &move[i], NULL, &undo))
            continue;
        if (better(descent, price, self))
            return true;
        mapspace_undo(descent->mapping, &undo);
    }
    return false;
}

static bool try_trades(struct descent *descent, const struct factor_move *out, uint32_t n_out,
                       const struct factor_move *back, uint32_t n_back, descent_price price, void *self)
{
    struct move_undo undo;
    for (uint32_t i = 0; i < n_out; i++)
        for (uint32_t j = 0; j < n_back; j++) {
            if (out[i].dim == back[j].dim && out[i].factor == back[j].factor)
                continue;
            if (!mapspace_apply(descent->space, descent->mapping, &out[i], &back[j], &undo))
                continue;
            if (better(descent, price, self))
                return true;
            mapspace_undo(descent->mapping, &undo);
        }
    return false;
}

static uint32_t least_prime(uint32_t n)
{
    for (uint32_t p = 2; p * p <= n; p++)
        if (n % p == 0)
            return p;
    return n;
}

/* With `first` made, if that is not NULL: as much of the factor of `second` as fits, where that is neither
 * all nor a prime, which are tried before. */
static bool try_part(struct descent *descent, const struct factor_move *first,
                     const struct factor_move *second, descent_price price, void *self)
{
    struct factor_move part = *second;
    struct move_undo undo;
    for (bool whole = true;; whole = false) {
        uint32_t prime = least_prime(part.factor);
        if (part.factor == prime)
            return false;
        if (mapspace_apply(descent->space, descent->mapping, first ? first : &part, first ? &part : NULL,
                           &undo)) {
            if (!whole && better(descent, price, self))
                return true;
            mapspace_undo(descent->mapping, &undo);
            return false;
        }
        part.factor /= prime;
    }
}

/* Fill a slot with what it cannot take whole, as it is or when a factor of another dimension has left it. */
static bool try_fills(struct descent *descent, const struct factor_move *out, uint32_t n_out,
                      const struct factor_move *back, uint32_t n_back, descent_price price, void *self)
{
    struct move_undo undo;
    for (uint32_t j = 0; j < n_back; j++) {
        if (back[j].factor == least_prime(back[j].factor))
            continue;
        if (mapspace_apply(descent->space, descent->mapping, &back[j], NULL, &undo)) {
            mapspace_undo(descent->mapping, &undo);
            continue;
        }
        if (try_part(descent, NULL, &back[j], price, self))
            return true;
        for (uint32_t i = 0; i < n_out; i++)
            if (back[j].dim != out[i].dim && try_part(descent, &out[i], &back[j], price, self))
                return true;
    }
    return false;
}

static bool improve_pair(struct descent *descent, uint32_t a, uint32_t b, descent_price price, void *self)
{
    struct factor_move out[SLOT_FACTOR_MAX], back[SLOT_FACTOR_MAX];
    uint32_t n_out = mapspace_moves_between(descent->space, descent->mapping, a, b, out, SLOT_FACTOR_MAX);
    uint32_t n_back = mapspace_moves_between(descent->space, descent->mapping, b, a, back, SLOT_FACTOR_MAX);
    return try_moves(descent, out, n_out, price, self) || try_moves(descent, back, n_back, price, self) ||
           try_trades(descent, out, n_out, back, n_back, price, self) ||
           (descent->wide && (try_fills(descent, out, n_out, back, n_back, price, self) ||
                              try_fills(descent, back, n_back, out, n_out, price, self)));
}

/* All factors of one dimension brought together in one slot: single moves on the way may all be worse. */
static bool improve_dim(struct descent *descent, uint32_t d, descent_price price, void *self)
{
    const struct mapping before = *descent->mapping;
    for (uint32_t s = 0; s < descent->space->n_slot; s++) {
        if (!(descent->space->open[d] >> s & 1u) || !mapspace_gather(descent->space, descent->mapping, d, s))
            continue;
        if (better(descent, price, self))
            return true;
        *descent->mapping = before;
    }
    return false;
}

/* ---------------------------------------- orders and keeps */

/* Trade the places of any two non-unit loops of a part of an order, if that is better. */
static bool try_swaps(struct descent *descent, uint8_t *order, const uint32_t *factor, uint32_t n,
                      descent_price price, void *self)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++) {
            uint8_t first = order[i], second = order[j];
            if (factor[first] == 1 || factor[second] == 1)
                continue;
            order[i] = second;
            order[j] = first;
            if (better(descent, price, self))
                return true;
            order[i] = first;
            order[j] = second;
        }
    return false;
}

static bool improve_spatial_order(struct descent *descent, uint32_t l, descent_price price, void *self)
{
    struct mapping_level *level = &descent->mapping->level[l];
    const struct mapspace *space = descent->space;
    if (!space->spatial_order_counts || space->constraints.level[l].spatial.n_order)
        return false;
    return try_swaps(descent, level->spatial_order, level->spatial, level->split, price, self) ||
           try_swaps(descent, level->spatial_order + level->split, level->spatial,
                     space->problem->n_dim - level->split, price, self);
}

static bool improve_order(struct descent *descent, uint32_t l, descent_price price, void *self)
{
    const struct mapspace *space = descent->space;
    struct mapping_level *level = &descent->mapping->level[l];
    const struct order_list *list = &space->order[l];
    struct mapping_level saved = *level;
    uint32_t n_loop = 0;
    for (uint32_t d = 0; d < space->problem->n_dim; d++)
        n_loop += level->temporal[d] > 1;
    for (uint32_t i = 0; i < list->n && n_loop > 1; i++) {
        if (memcmp(level->temporal_order, list->order[i], space->problem->n_dim) == 0)
            continue;
        memcpy(level->temporal_order, list->order[i], sizeof level->temporal_order);
        if (better(descent, price, self))
            return true;
        *level = saved;
    }
    /* link transfers compare whole histories of moves, so there any swap may help */
    if (space->arch->link_transfers && space->constraints.level[l].temporal.n_order == 0 &&
        try_swaps(descent, level->temporal_order, level->temporal, space->problem->n_dim, price, self))
        return true;
    return improve_spatial_order(descent, l, price, self);
}

static bool improve_keeps(struct descent *descent, descent_price price, void *self)
{
    const struct mapspace *space = descent->space;
    for (uint32_t l = 0; l < space->arch->n_level; l++)
        for (uint32_t rest = space->optional[l]; rest; rest &= rest - 1) {
            uint8_t bit = (uint8_t)(rest & (~rest + 1u));
            descent->mapping->level[l].keep ^= bit;
            if (mapspace_fits(space, descent->mapping, NULL) && better(descent, price, self))
                return true;
            descent->mapping->level[l].keep ^= bit;
        }
    return false;
}

/* ---------------------------------------- all loops of a level */

/* The order of two levels' loops in one place: those of `inner`, then the others of `outer`. */
static void join_orders(const struct mapping_level *inner, const struct mapping_level *outer, uint32_t n_dim,
                        uint8_t *order)
{
    const struct mapping_level *part[2] = {inner, outer};
    uint32_t n = 0, seen = 0;
    for (int p = 0; p < 2; p++)
        for (uint32_t i = 0; i < n_dim; i++) {
            uint32_t d = part[p]->temporal_order[i];
            if (part[p]->temporal[d] > 1 && !(seen >> d & 1u)) {
                order[n++] = (uint8_t)d;
                seen |= 1u << d;
            }
        }
    mapspace_complete_order(order, n, n_dim);
}

/* All temporal loops of level l go to level `to`, or the two trade theirs. */
static bool try_level(struct descent *descent, uint32_t l, uint32_t to, bool trade, descent_price price,
                      void *self)
{
    struct mapping_level *level = descent->mapping->level;
    const struct mapping_level from = level[l], there = level[to];
    uint32_t n_dim = descent->space->problem->n_dim;
    for (uint32_t d = 0; d < n_dim; d++) {
        level[to].temporal[d] = trade ? from.temporal[d] : from.temporal[d] * there.temporal[d];
        level[l].temporal[d] = trade ? there.temporal[d] : 1;
    }
    if (trade) {
        memcpy(level[to].temporal_order, from.temporal_order, n_dim);
        memcpy(level[l].temporal_order, there.temporal_order, n_dim);
    } else {
        join_orders(l < to ? &from : &there, l < to ? &there : &from, n_dim, level[to].temporal_order);
    }
    if (mapspace_contains(descent->space, descent->mapping, NULL) && better(descent, price, self))
        return true;
    level[l] = from;
    level[to] = there;
    return false;
}

static bool improve_level(struct descent *descent, uint32_t l, descent_price price, void *self)
{
    uint32_t n_loop = 0;
    for (uint32_t d = 0; d < descent->space->problem->n_dim; d++)
        n_loop += descent->mapping->level[l].temporal[d] > 1;
    for (uint32_t to = 0; n_loop > 0 && to < descent->space->arch->n_level; to++)
        if (to != l && (try_level(descent, l, to, false, price, self) ||
                        (to > l && try_level(descent, l, to, true, price, self))))
            return true;
    return false;
}

bool descent_block(struct descent *descent, descent_price price, void *self)
{
    const struct mapspace *space = descent->space;
    if (descent->n_idle == descent->n_block)
        return false;
    if (descent->at == descent->n_block) {
        descent->at = 0;
        shuffle(descent);
    }
    uint32_t block = descent->block[descent->at++], end = pair_end(space);
    bool improved = false;
    if (block < end)
        improved = improve_pair(descent, block / space->n_slot, block % space->n_slot, price, self);
    else if (block < end + space->arch->n_level)
        improved = improve_order(descent, block - end, price, self);
    else if (block < keeps_block(space))
        improved = improve_dim(descent, block - end - space->arch->n_level, price, self);
    else if (block == keeps_block(space))
        improved = improve_keeps(descent, price, self);
    else
        improved = improve_level(descent, block - keeps_block(space) - 1, price, self);
    if (improved) {
        descent->n_idle = 0;
        descent->at--; /* the same block again */
    } else {
        descent->n_idle++;
    }
    return true;
}

/* ---------------------------------------- many descents */

uint32_t priced_insert(struct priced_mapping *list, uint32_t *n, uint32_t max,
                       const struct priced_mapping *point)
{
    uint32_t at = 0;
    while (at < *n && list[at].cost < point->cost * (1 - 1e-9))
        at++;
    if (at < *n && list[at].cost <= point->cost * (1 + 1e-9)) {
        if (point->cost < list[at].cost || (point->cost == list[at].cost && point->tie < list[at].tie))
            list[at] = *point;
        return max;
    }
    if (at == max)
        return max;
    if (*n < max)
        ++*n;
    for (uint32_t i = *n - 1; i > at; i--)
        list[i] = list[i - 1];
    list[at] = *point;
    return at;
}

bool optima_have(const struct local_optima *optima, const struct descent *descent)
{
    for (uint32_t i = 0; i < optima->n; i++)
        if (descent->cost == optima->point[i].cost && descent->tie == optima->point[i].tie)
            return true;
    return false;
}

struct mapping optima_kick(const struct local_optima *optima, const struct mapspace *space, uint32_t most,
                           struct random_stream *stream)
{
    uint32_t n = 1 + random_below(stream, most);
    uint32_t i = random_below(stream, 1 + random_below(stream, optima->n));
    struct mapping now = optima->point[i].mapping, next;
    if (optima->n > 1 && random_below(stream, 10) < 3) {
        uint32_t j = random_below(stream, optima->n - 1);
        j += j >= i;
        if (mapspace_crossover(space, stream, &now, &optima->point[j].mapping, &next))
            now = next;
        n = random_below(stream, 3);
    } else if (random_below(stream, 2) == 0) {
        mapspace_take_over(space, stream, &now);
    }
    for (uint32_t k = 0; k < n; k++)
        if (mapspace_neighbour(space, stream, &now, &next))
            now = next;
    return now;
}

bool mapspace_draw_start(const struct mapspace *space, struct random_stream *stream, struct mapping *mapping,
                         uint64_t *n_rejected, struct misfit_info *fit)
{
    if (!mapspace_draw(space, stream, mapping, n_rejected, fit))
        return false;
    if (random_below(stream, 4) < 3)
        mapspace_pour(space, stream, mapping);
    else
        mapspace_take_over(space, stream, mapping);
    return true;
}

void mapspace_take_over(const struct mapspace *space, struct random_stream *stream, struct mapping *mapping)
{
    uint32_t n = 1 + random_below(stream, 2), slot = random_below(stream, space->n_slot), stay = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t d = random_below(stream, mapping->n_dim);
        (void)mapspace_gather(space, mapping, d, slot);
        stay |= 1u << d;
    }
    mapspace_evict(space, stream, mapping, slot, stay);
}
