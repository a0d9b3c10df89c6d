/* Per level a list of orders that differ in what stays stationary, made once; a walk then picks, for given
 * factors, those that do different things, or turns all permutations. */
#include "engines/mapspace/mapspace_order.h"

#include <gsl/gsl_sf_gamma.h>
#include <string.h>

#include "engines/mapspace/mapspace_private.h"

/* ---------------------------------------- candidates of one level */

/* One order under construction. */
struct order_maker {
    const struct mapspace *space;
    struct order_list *list;
    uint32_t first_dim; /* the sliding dimension that leads its group in this variant */
    uint32_t sliding;   /* bit d: some tensor of interest slides along d */
    uint8_t order[PROBLEM_DIM_MAX];
    uint32_t n;
    uint32_t left; /* bit d: not yet placed */
};

static void place_dim(struct order_maker *m, uint32_t d)
{
    m->order[m->n++] = (uint8_t)d;
    m->left &= ~(1u << d);
}

/* Append a group whose inner order is free: the leading dimension first, then sliding ones, then
 * ascending. */
static void place_group(struct order_maker *m, uint32_t group)
{
    if (group >> m->first_dim & 1u) {
        place_dim(m, m->first_dim);
        group &= ~(1u << m->first_dim);
    }
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t d = 0; d < m->space->problem->n_dim; d++)
            if ((group >> d & 1u) && (m->sliding >> d & 1u) == (pass == 0))
                place_dim(m, d);
}

static void add_order(struct order_maker *m)
{
    struct order_list *list = m->list;
    for (uint32_t i = 0; i < list->n; i++)
        if (memcmp(list->order[i], m->order, m->space->problem->n_dim) == 0)
            return;
    if (list->n == MAPSPACE_ORDER_MAX) {
        list->complete = false;
        return;
    }
    memcpy(list->order[list->n++], m->order, sizeof m->order);
}

/* Tensors of `waiting` that dimension d does not index. */
static uint32_t unmoved(const struct mapspace *space, uint32_t waiting, uint32_t d)
{
    return waiting & ~space->moved[d];
}

/* The sets of tensors that can still be stationary after one more loop; only those contained in no other. */
static uint32_t next_sets(const struct order_maker *m, uint32_t waiting, uint32_t *set)
{
    uint32_t n = 0;
    for (uint32_t d = 0; d < m->space->problem->n_dim; d++) {
        uint32_t rest = m->left >> d & 1u ? unmoved(m->space, waiting, d) : 0;
        bool covered = rest == 0;
        for (uint32_t i = 0; i < n && !covered; i++)
            covered = (rest & ~set[i]) == 0;
        if (covered)
            continue;
        uint32_t kept = 0;
        for (uint32_t i = 0; i < n; i++)
            if (set[i] & ~rest)
                set[kept++] = set[i];
        n = kept;
        set[n++] = rest;
    }
    return n;
}

/* Place all loops that index no waiting tensor; then decide for which of them the stationarity goes on. */
static void extend(const struct order_maker *from, uint32_t waiting)
{
    struct order_maker m = *from;
    uint32_t group = 0, set[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < m.space->problem->n_dim; d++)
        if ((m.left >> d & 1u) && unmoved(m.space, waiting, d) == waiting)
            group |= 1u << d;
    place_group(&m, group);
    uint32_t n = waiting ? next_sets(&m, waiting, set) : 0;
    if (n == 0) {
        place_group(&m, m.left);
        add_order(&m);
    }
    for (uint32_t i = 0; i < n; i++)
        extend(&m, set[i]);
}

/* Tensors kept at some level inside l: those whose tiles the loops of l refill. */
static uint32_t tensors_inside(const struct mapspace *space, uint32_t l)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < l; i++)
        mask |= space->base.level[i].keep;
    return mask;
}

static void make_list(const struct mapspace *space, uint32_t l, struct order_list *list)
{
    const struct loop_constraints *loops = &space->constraints.level[l].temporal;
    struct order_maker m = {.space = space, .list = list, .left = (1u << space->problem->n_dim) - 1};
    uint32_t waiting = tensors_inside(space, l);
    list->complete = !space->arch->link_transfers;
    for (uint32_t t = 0; t < space->problem->n_tensor; t++)
        if (waiting >> t & 1u) {
            m.sliding |= space->shape[t].sliding;
            if (space->shape[t].halo)
                list->complete = false;
        }
    for (uint32_t i = 0; i < loops->n_order; i++) {
        const uint32_t rest = unmoved(space, waiting, loops->order[i]);
        if (rest != waiting) /* but for a unit loop, which moves nothing */
            list->complete = false;
        waiting = rest;
        place_dim(&m, loops->order[i]);
    }
    m.first_dim = 31; /* no dimension: the plain variant */
    extend(&m, waiting);
    for (uint32_t d = 0; d < space->problem->n_dim; d++)
        if (m.sliding >> d & 1u) {
            m.first_dim = d;
            extend(&m, waiting);
        }
}

enum dse_status mapspace_orders_new(struct mapspace *space, struct arena *arena, struct dse_error *err)
{
    space->order = arena_alloc(arena, space->arch->n_level, sizeof *space->order);
    DSE_TRY(arena_check(arena, "the loop orders of a map space", err));
    for (uint32_t l = 0; l < space->arch->n_level; l++)
        make_list(space, l, &space->order[l]);
    return DSE_OK;
}

bool mapspace_orders_complete(const struct mapspace *space)
{
    bool complete = !space->spatial_order_counts;
    for (uint32_t l = 0; l < space->arch->n_level; l++)
        complete = complete && space->order[l].complete;
    return complete;
}

/* ---------------------------------------- the walk: candidates */

/* What an order of level l does under given factors: per tensor the loops inside the first one that indexes
 * it. */
struct signature {
    uint32_t run[PROBLEM_TENSOR_MAX];
    uint32_t lead; /* the innermost loop, if a window may slide along it; else 0 */
};

/* Tensors for which the loops of a level count: all loops between their tile and this level leave them in
 * place. `direct`: there is no loop between at all, so a window can slide. */
struct reach {
    uint32_t still, direct;
};

static struct reach step_reach(const struct mapspace *space, struct reach inside,
                               const struct mapping_level *level)
{
    struct reach r = {level->keep, level->keep}; /* a tile kept here starts anew */
    bool any = false;
    for (uint32_t d = 0; d < space->problem->n_dim; d++)
        if (level->temporal[d] > 1) {
            any = true;
            inside.still = unmoved(space, inside.still, d);
        }
    r.still |= inside.still;
    r.direct |= any ? 0 : inside.direct;
    return r;
}

static struct signature sign(const struct mapspace *space, const struct mapping_level *level,
                             const uint8_t *order, struct reach reach)
{
    struct signature s;
    memset(&s, 0, sizeof s);
    uint32_t waiting = reach.still, done = 0;
    for (uint32_t i = 0; i < space->problem->n_dim; i++) {
        uint32_t d = order[i];
        if (level->temporal[d] == 1)
            continue;
        if (done == 0)
            for (uint32_t t = 0; t < space->problem->n_tensor; t++)
                if ((reach.direct >> t & 1u) && (space->shape[t].sliding >> d & 1u))
                    s.lead = 1u << d;
        uint32_t rest = unmoved(space, waiting, d);
        for (uint32_t t = 0; t < space->problem->n_tensor; t++)
            if ((waiting & ~rest) >> t & 1u)
                s.run[t] = done;
        waiting = rest;
        done |= 1u << d;
    }
    for (uint32_t t = 0; t < space->problem->n_tensor; t++)
        if (waiting >> t & 1u)
            s.run[t] = done;
    return s;
}

/* The candidates of level l that do different things under these factors. */
static void pick_distinct(struct order_walk *walk, uint32_t l, const struct mapping_level *level,
                          struct reach reach)
{
    const struct order_list *list = &walk->space->order[l];
    struct signature seen[MAPSPACE_ORDER_MAX];
    walk->n[l] = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        struct signature s = sign(walk->space, level, list->order[i], reach);
        bool known = false;
        for (uint32_t k = 0; k < walk->n[l] && !known; k++)
            known = memcmp(&seen[k], &s, sizeof s) == 0;
        if (known)
            continue;
        seen[walk->n[l]] = s;
        walk->pick[l][walk->n[l]++] = (uint8_t)i;
    }
}

static void set_order(struct order_walk *walk, struct mapping *mapping, uint32_t l)
{
    memcpy(mapping->level[l].temporal_order, walk->space->order[l].order[walk->pick[l][walk->at[l]]],
           PROBLEM_DIM_MAX);
}

/* ---------------------------------------- the walk: all orders */

bool order_next(uint8_t *item, uint32_t n)
{
    uint32_t i = n;
    while (i >= 2 && item[i - 2] >= item[i - 1])
        i--;
    if (i >= 2) {
        uint32_t j = n - 1;
        while (item[j] <= item[i - 2])
            j--;
        uint8_t swap = item[i - 2];
        item[i - 2] = item[j];
        item[j] = swap;
    } else {
        i = 1;
    }
    for (uint32_t a = i - 1, b = n; a + 1 < b; a++) {
        b--;
        uint8_t swap = item[a];
        item[a] = item[b];
        item[b] = swap;
    }
    return i >= 2;
}

/* Is one order of level l's temporal loops as good as any other? Not where hops cost: those of a tensor that
 * the level inside does not keep are not scaled (docs/cost-model.md, "Counts"), so its loops count, too. */
static bool has_best_order(const struct mapspace *space, uint32_t l)
{
    return space->order[l].complete && space->order[l].n == 1 && !space->spatial_order_counts;
}

/* Non-unit loops first: those with a fixed place, then ascending; unit loops last. Or the best order. */
static void first_full_order(struct order_walk *walk, struct mapping_level *level, uint32_t l)
{
    const struct loop_constraints *loops = &walk->space->constraints.level[l].temporal;
    uint32_t n = 0, seen = 0;
    if (has_best_order(walk->space, l)) {
        memcpy(level->temporal_order, walk->space->order[l].order[0], sizeof level->temporal_order);
        walk->fixed[l] = walk->loops[l] = 0;
        return;
    }
    for (uint32_t i = 0; i < loops->n_order; i++)
        if (level->temporal[loops->order[i]] > 1) {
            level->temporal_order[n++] = loops->order[i];
            seen |= 1u << loops->order[i];
        }
    walk->fixed[l] = (uint8_t)n;
    for (uint32_t d = 0; d < walk->space->problem->n_dim; d++)
        if (level->temporal[d] > 1 && !(seen >> d & 1u))
            level->temporal_order[n++] = (uint8_t)d;
    walk->loops[l] = (uint8_t)n;
    mapspace_complete_order(level->temporal_order, n, walk->space->problem->n_dim);
}

/* The next order of the spatial loops on one axis, `order` being theirs; fixed places stay first. */
static bool next_spatial_order(const struct order_walk *walk, uint32_t l, uint8_t *order, uint32_t dims)
{
    const struct loop_constraints *loops = &walk->space->constraints.level[l].spatial;
    uint32_t n = (uint32_t)__builtin_popcount(dims), n_fixed = 0;
    for (uint32_t i = 0; i < loops->n_order; i++)
        n_fixed += dims >> loops->order[i] & 1u;
    return order_next(order + n_fixed, n - n_fixed);
}

/* One step of the full walk within a level: X loops, Y loops, temporal loops turn in this order. */
static bool next_full_order(struct order_walk *walk, struct mapping_level *level, uint32_t l)
{
    const struct mapspace *space = walk->space;
    if (space->spatial_order_counts) {
        const uint32_t x = mapspace_axis_dims(level, space->problem->n_dim, false);
        const uint32_t y = mapspace_axis_dims(level, space->problem->n_dim, true);
        if (next_spatial_order(walk, l, level->spatial_order, x) ||
            next_spatial_order(walk, l, level->spatial_order + __builtin_popcount(x), y))
            return true;
    }
    if (has_best_order(space, l))
        return false;
    return order_next(level->temporal_order + walk->fixed[l], (uint32_t)(walk->loops[l] - walk->fixed[l]));
}

static uint64_t start_full(struct order_walk *walk, struct mapping *mapping)
{
    uint64_t count = 1;
    for (uint32_t l = 0; l < walk->space->arch->n_level; l++) {
        struct mapping_level *level = &mapping->level[l];
        first_full_order(walk, level, l);
        mapspace_set_axes(walk->space, level, l, mapspace_axis_dims(level, mapping->n_dim, false),
                          mapspace_axis_dims(level, mapping->n_dim, true));
        uint64_t more = (uint64_t)gsl_sf_fact((unsigned)(walk->loops[l] - walk->fixed[l]));
        if (__builtin_mul_overflow(count, more, &count))
            return UINT64_MAX;
    }
    return count;
}

/* ---------------------------------------- the walk */

uint64_t order_walk_start(struct order_walk *walk, const struct mapspace *space, struct mapping *mapping,
                          bool full)
{
    walk->space = space;
    walk->full = full && !mapspace_orders_complete(space);
    if (walk->full)
        return start_full(walk, mapping);
    uint64_t count = 1;
    struct reach reach = {0, 0};
    for (uint32_t l = 0; l < space->arch->n_level; l++) {
        pick_distinct(walk, l, &mapping->level[l], reach);
        walk->at[l] = 0;
        set_order(walk, mapping, l);
        reach = step_reach(space, reach, &mapping->level[l]);
        if (__builtin_mul_overflow(count, (uint64_t)walk->n[l], &count))
            count = UINT64_MAX;
    }
    return count;
}

bool order_walk_next(struct order_walk *walk, struct mapping *mapping)
{
    for (uint32_t l = 0; l < walk->space->arch->n_level; l++) {
        if (walk->full) {
            if (next_full_order(walk, &mapping->level[l], l))
                return true;
            continue;
        }
        bool turned = ++walk->at[l] == walk->n[l];
        if (turned)
            walk->at[l] = 0;
        set_order(walk, mapping, l);
        if (!turned)
            return true;
    }
    return false;
}

void order_walk_set(struct order_walk *walk, struct mapping *mapping, uint64_t index)
{
    for (uint32_t l = 0; l < walk->space->arch->n_level; l++) {
        walk->at[l] = (uint8_t)(index % walk->n[l]);
        index /= walk->n[l];
        set_order(walk, mapping, l);
    }
}
