/* Takes factors out of slots and gives them to others, keeps enough to undo it, and repairs the child of
 * two mappings by moving primes away from what overflows. */
#include "engines/mapspace/mapspace_move.h"

#include <string.h>

#include "engines/mapspace/mapspace_private.h"

enum { NEIGHBOUR_TRIES = 64, EVICT_TRIES = 30 };

/* ---------------------------------------- factors of slots */

/* The factor of dimension d in slot s. */
static uint32_t slot_factor(const struct mapspace *space, const struct mapping *mapping, uint32_t s,
                            uint32_t d)
{
    const struct mapspace_slot *slot = &space->slot[s];
    const struct mapping_level *level = &mapping->level[slot->level];
    if (slot->axis == SLOT_TEMPORAL)
        return level->temporal[d];
    if (level->spatial[d] == 1)
        return 1;
    uint32_t on_axis = mapspace_axis_dims(level, mapping->n_dim, slot->axis == SLOT_Y);
    return on_axis >> d & 1u ? level->spatial[d] : 1;
}

/* Bring the spatial order in line with new sets on X and Y: who stays keeps its place, who comes goes
 * outermost. */
static void change_axes(const struct mapspace *space, struct mapping_level *level, uint32_t l, uint32_t x,
                        uint32_t y)
{
    if (!space->spatial_order_counts || space->constraints.level[l].spatial.n_order) {
        mapspace_set_axes(space, level, l, x, y);
        return;
    }
    uint8_t order[PROBLEM_DIM_MAX];
    uint32_t n = 0, n_dim = space->problem->n_dim;
    for (int axis = 0; axis < 2; axis++) {
        uint32_t mask = axis == 0 ? x : y;
        uint32_t from = axis == 0 ? 0 : level->split, to = axis == 0 ? level->split : n_dim;
        for (uint32_t i = from; i < to; i++)
            if (mask >> level->spatial_order[i] & 1u) {
                order[n++] = level->spatial_order[i];
                mask &= ~(1u << level->spatial_order[i]);
            }
        for (; mask; mask &= mask - 1)
            order[n++] = (uint8_t)__builtin_ctz(mask);
        if (axis == 0)
            level->split = (uint8_t)n;
    }
    memcpy(level->spatial_order, order, n);
    if (y == 0)
        level->split = (uint8_t)n_dim;
    mapspace_complete_order(level->spatial_order, n, n_dim);
}

static void take(const struct mapspace *space, struct mapping *mapping, uint32_t s, uint32_t d,
                 uint32_t factor)
{
    const struct mapspace_slot *slot = &space->slot[s];
    struct mapping_level *level = &mapping->level[slot->level];
    if (slot->axis == SLOT_TEMPORAL) {
        level->temporal[d] /= factor;
        return;
    }
    uint32_t x = mapspace_axis_dims(level, mapping->n_dim, false);
    uint32_t y = mapspace_axis_dims(level, mapping->n_dim, true);
    level->spatial[d] /= factor;
    if (level->spatial[d] == 1)
        change_axes(space, level, slot->level, x & ~(1u << d), y & ~(1u << d));
}

/* False (and nothing changed) when the constraints or the other axis forbid it. */
static bool give(const struct mapspace *space, struct mapping *mapping, uint32_t s, uint32_t d,
                 uint32_t factor)
{
    const struct mapspace_slot *slot = &space->slot[s];
    struct mapping_level *level = &mapping->level[slot->level];
    const struct level_constraints *c = &space->constraints.level[slot->level];
    if (!(space->open[d] >> s & 1u))
        return false;
    if (slot->axis == SLOT_TEMPORAL) {
        if (c->temporal.highest[d] && (uint64_t)level->temporal[d] * factor > c->temporal.highest[d])
            return false;
        level->temporal[d] *= factor;
        return true;
    }
    if ((uint64_t)level->spatial[d] * factor > slot->capacity ||
        (c->spatial.highest[d] && (uint64_t)level->spatial[d] * factor > c->spatial.highest[d]))
        return false;
    uint32_t x = mapspace_axis_dims(level, mapping->n_dim, false);
    uint32_t y = mapspace_axis_dims(level, mapping->n_dim, true);
    if ((slot->axis == SLOT_X ? y : x) >> d & 1u)
        return false;
    bool is_new = level->spatial[d] == 1;
    level->spatial[d] *= factor;
    if (is_new)
        change_axes(space, level, slot->level, x | (slot->axis == SLOT_X ? 1u << d : 0),
                    y | (slot->axis == SLOT_Y ? 1u << d : 0));
    return true;
}

/* ---------------------------------------- moves */

static void save(struct move_undo *undo, const struct mapping *mapping, uint32_t l)
{
    for (uint32_t i = 0; i < undo->n; i++)
        if (undo->level[i] == l)
            return;
    undo->level[undo->n] = (uint8_t)l;
    undo->saved[undo->n++] = mapping->level[l];
}

void mapspace_undo(struct mapping *mapping, const struct move_undo *undo)
{
    for (uint32_t i = 0; i < undo->n; i++)
        mapping->level[undo->level[i]] = undo->saved[i];
}

bool mapspace_apply(const struct mapspace *space, struct mapping *mapping, const struct factor_move *first,
                    const struct factor_move *second, struct move_undo *undo)
{
    const struct factor_move *move[2] = {first, second};
    int n = second ? 2 : 1;
    bool given = true;
    undo->n = 0;
    for (int i = 0; i < n; i++) {
        save(undo, mapping, space->slot[move[i]->from].level);
        save(undo, mapping, space->slot[move[i]->to].level);
    }
    for (int i = 0; i < n; i++)
        take(space, mapping, move[i]->from, move[i]->dim, move[i]->factor);
    for (int i = 0; i < n && given; i++)
        given = give(space, mapping, move[i]->to, move[i]->dim, move[i]->factor);
    if (given && mapspace_fits(space, mapping, NULL))
        return true;
    mapspace_undo(mapping, undo);
    return false;
}

bool mapspace_gather(const struct mapspace *space, struct mapping *mapping, uint32_t d, uint32_t to)
{
    struct mapping before = *mapping;
    bool moved = false;
    for (uint32_t s = 0; s < space->n_slot; s++) {
        uint32_t factor = s != to && (space->open[d] >> s & 1u) ? slot_factor(space, mapping, s, d) : 1;
        if (factor == 1)
            continue;
        take(space, mapping, s, d, factor);
        if (!give(space, mapping, to, d, factor)) {
            *mapping = before;
            return false;
        }
        moved = true;
    }
    if (moved && mapspace_fits(space, mapping, NULL))
        return true;
    *mapping = before;
    return false;
}

void mapspace_evict(const struct mapspace *space, struct random_stream *stream, struct mapping *mapping,
                    uint32_t slot, uint32_t stay)
{
    struct factor_move move[MAPSPACE_PRIME_MAX];
    struct move_undo undo;
    for (uint32_t i = 0; i < EVICT_TRIES && space->n_slot > 1; i++) {
        uint32_t to = random_below(stream, space->n_slot);
        uint32_t n =
            to == slot ? 0 : mapspace_moves_between(space, mapping, slot, to, move, MAPSPACE_PRIME_MAX);
        if (n == 0)
            continue;
        const struct factor_move *chosen = &move[random_below(stream, n)];
        if (!(stay >> chosen->dim & 1u))
            (void)mapspace_apply(space, mapping, chosen, NULL, &undo);
    }
}

uint32_t mapspace_moves_between(const struct mapspace *space, const struct mapping *mapping, uint32_t a,
                                uint32_t b, struct factor_move *list, uint32_t max)
{
    uint32_t n = 0;
    uint64_t both = 1ull << a | 1ull << b;
    for (uint32_t k = 0; k < space->n_kind; k++) {
        const struct mapspace_kind *kind = &space->kind[k];
        if ((kind->open & both) != both)
            continue;
        uint32_t factor = slot_factor(space, mapping, a, kind->dim);
        if (factor % kind->prime != 0)
            continue;
        struct factor_move move = {kind->dim, (uint8_t)a, (uint8_t)b, kind->prime};
        if (n < max)
            list[n++] = move;
        bool counted = n > 1 && list[n - 2].dim == kind->dim; /* the whole factor is there already */
        move.factor = factor;
        if (factor > kind->prime && !counted && n < max)
            list[n++] = move;
    }
    return n;
}

/* ---------------------------------------- random neighbour */

/* A random prime of `mapping` and where it is: false when the space has none. */
static bool pick_prime(const struct mapspace *space, const struct mapping *mapping,
                       struct random_stream *stream, struct factor_move *move)
{
    uint32_t where[MAPSPACE_SLOT_MAX], n = 0;
    const struct mapspace_kind *kind = &space->kind[space->prime_kind[random_below(stream, space->n_prime)]];
    for (uint32_t s = 0; s < space->n_slot; s++)
        if ((kind->open >> s & 1u) && slot_factor(space, mapping, s, kind->dim) % kind->prime == 0)
            where[n++] = s;
    if (n == 0)
        return false;
    move->dim = kind->dim;
    move->factor = kind->prime;
    move->from = (uint8_t)where[random_below(stream, n)];
    uint32_t to = random_below(stream, (uint32_t)__builtin_popcountll(kind->open));
    uint64_t open = kind->open;
    while (to--)
        open &= open - 1;
    move->to = (uint8_t)__builtin_ctzll(open);
    return move->to != move->from;
}

static bool move_factor(const struct mapspace *space, struct mapping *mapping, struct random_stream *stream)
{
    struct factor_move move;
    struct move_undo undo;
    return space->n_prime > 0 && pick_prime(space, mapping, stream, &move) &&
           mapspace_apply(space, mapping, &move, NULL, &undo);
}

static bool trade_factors(const struct mapspace *space, struct mapping *mapping, struct random_stream *stream)
{
    struct factor_move first, second;
    struct move_undo undo;
    if (space->n_prime < 2 || !pick_prime(space, mapping, stream, &first) ||
        !pick_prime(space, mapping, stream, &second) || first.from == second.from ||
        (first.dim == second.dim && first.factor == second.factor))
        return false;
    first.to = second.from;
    second.to = first.from;
    return mapspace_apply(space, mapping, &first, &second, &undo);
}

/* Swap two random entries of a part of an order whose factors are not 1. */
static bool swap_loops(uint8_t *order, const uint32_t *factor, uint32_t from, uint32_t to,
                       struct random_stream *stream)
{
    uint8_t place[PROBLEM_DIM_MAX];
    uint32_t n = 0;
    for (uint32_t i = from; i < to; i++)
        if (factor[order[i]] > 1)
            place[n++] = (uint8_t)i;
    if (n < 2)
        return false;
    uint32_t a = random_below(stream, n), b = random_below(stream, n - 1);
    b += b >= a;
    uint8_t dim = order[place[a]];
    order[place[a]] = order[place[b]];
    order[place[b]] = dim;
    return true;
}

static bool change_order(const struct mapspace *space, struct mapping *mapping, struct random_stream *stream)
{
    uint32_t l = random_below(stream, space->arch->n_level);
    struct mapping_level *level = &mapping->level[l];
    const struct level_constraints *c = &space->constraints.level[l];
    uint32_t n_dim = space->problem->n_dim;
    if (space->spatial_order_counts && c->spatial.n_order == 0 && random_below(stream, 4) == 0) {
        bool y = random_below(stream, 2) != 0;
        return swap_loops(level->spatial_order, level->spatial, y ? level->split : 0,
                          y ? n_dim : level->split, stream);
    }
    if (c->temporal.n_order == 0 && random_below(stream, 2) == 0)
        return swap_loops(level->temporal_order, level->temporal, 0, n_dim, stream);
    uint32_t i = random_below(stream, space->order[l].n);
    if (memcmp(level->temporal_order, space->order[l].order[i], n_dim) == 0)
        return false;
    memcpy(level->temporal_order, space->order[l].order[i], n_dim);
    return true;
}

static bool toggle_keep(const struct mapspace *space, struct mapping *mapping, struct random_stream *stream)
{
    uint32_t l = random_below(stream, space->arch->n_level),
             t = random_below(stream, space->problem->n_tensor);
    if (!(space->optional[l] >> t & 1u))
        return false;
    mapping->level[l].keep ^= (uint8_t)(1u << t);
    if (mapspace_fits(space, mapping, NULL))
        return true;
    mapping->level[l].keep ^= (uint8_t)(1u << t);
    return false;
}

bool mapspace_neighbour(const struct mapspace *space, struct random_stream *stream,
                        const struct mapping *from, struct mapping *to)
{
    *to = *from;
    for (int i = 0; i < NEIGHBOUR_TRIES; i++) {
        uint32_t what = random_below(stream, space->search_bypass ? 10 : 9);
        bool done;
        if (what < 4)
            done = move_factor(space, to, stream);
        else if (what < 7)
            done = trade_factors(space, to, stream);
        else if (what < 9)
            done = change_order(space, to, stream);
        else
            done = toggle_keep(space, to, stream);
        if (done)
            return true;
    }
    return false;
}

/* ---------------------------------------- crossover */

/* Copy dimension d's factors, axes included. */
static void inherit(struct mapping *child, const struct mapping *parent, uint32_t d, uint32_t *x, uint32_t *y)
{
    for (uint32_t l = 0; l < parent->n_level; l++) {
        child->level[l].temporal[d] = parent->level[l].temporal[d];
        child->level[l].spatial[d] = parent->level[l].spatial[d];
        x[l] |= mapspace_axis_dims(&parent->level[l], parent->n_dim, false) & 1u << d;
        y[l] |= mapspace_axis_dims(&parent->level[l], parent->n_dim, true) & 1u << d;
    }
}

/* Slots whose factors a misfit blames. */
static uint64_t blamed(const struct mapspace *space, const struct misfit_info *fit)
{
    uint64_t slots = 0;
    for (uint32_t s = 0; s < space->n_slot; s++) {
        const struct mapspace_slot *slot = &space->slot[s];
        bool tile = fit->what == MISFIT_CAPACITY || fit->what == MISFIT_BANKS;
        bool here =
            tile ? slot->level <= fit->level : slot->level == fit->level && slot->axis != SLOT_TEMPORAL;
        slots |= (here ? 1ull : 0ull) << s;
    }
    return slots;
}

/* Move a random prime out of the blamed slots, as far out as may be. */
static bool relieve(const struct mapspace *space, struct mapping *mapping, struct random_stream *stream,
                    const struct misfit_info *fit)
{
    uint64_t slots = blamed(space, fit);
    uint32_t first = random_below(stream, space->n_prime);
    for (uint32_t i = 0; i < space->n_prime; i++) {
        const struct mapspace_kind *kind = &space->kind[space->prime_kind[(first + i) % space->n_prime]];
        for (uint32_t s = space->n_slot; s-- > 0;) {
            if (!(slots & kind->open & 1ull << s) ||
                slot_factor(space, mapping, s, kind->dim) % kind->prime != 0)
                continue;
            for (uint32_t to = 0; to < s; to++)
                if (space->slot[to].axis == SLOT_TEMPORAL && !(slots >> to & 1u) &&
                    give(space, mapping, to, kind->dim, kind->prime)) {
                    take(space, mapping, s, kind->dim, kind->prime);
                    return true;
                }
        }
    }
    return false;
}

bool mapspace_crossover(const struct mapspace *space, struct random_stream *stream, const struct mapping *a,
                        const struct mapping *b, struct mapping *child)
{
    uint32_t from_a = random_u32(stream), level_from_a = random_u32(stream);
    uint32_t x[ARCH_LEVEL_MAX] = {0}, y[ARCH_LEVEL_MAX] = {0};
    *child = *a;
    for (uint32_t l = 0; l < child->n_level; l++)
        if (!(level_from_a >> l & 1u))
            child->level[l] = b->level[l];
    for (uint32_t d = 0; d < child->n_dim; d++)
        inherit(child, from_a >> d & 1u ? a : b, d, x, y);
    for (uint32_t l = 0; l < child->n_level; l++)
        change_axes(space, &child->level[l], l, x[l], y[l]);
    struct misfit_info fit;
    for (uint32_t i = 0; i <= space->n_prime; i++) {
        if (mapspace_fits(space, child, &fit))
            return true;
        if ((fit.what != MISFIT_CAPACITY && fit.what != MISFIT_BANKS && fit.what != MISFIT_FANOUT) ||
            !relieve(space, child, stream, &fit))
            return false;
    }
    return false;
}
