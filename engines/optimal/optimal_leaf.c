/* The orders of one factorisation. Per level those are tried in which a best mapping can be found. Without
 * a window these are chains: loops that leave some tensors alone inside those that leave fewer alone. With
 * one, loops that leave one tensor alone, any of them innermost, then any other loop, its partner in the
 * window, and the rest. This also has every way in which moves can match by accident: then all loops between
 * move one rank, or do not move the window at all. */
#include "engines/optimal/optimal_walk.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "engines/optimal/optimal_limits.h"

/* Of n dimensions, each of which leaves one tensor alone at most: n (n - 1) without a run, n n with one. */
enum { ORDER_MAX = 2 * PROBLEM_DIM_MAX * PROBLEM_DIM_MAX };
static_assert(ORDER_MAX > (int)OPTIMAL_CHAIN_MAX, "room for all chains");

struct orders {
    uint32_t n;
    uint8_t order[ORDER_MAX][PROBLEM_DIM_MAX];
};

struct leaf {
    struct optimal_walk *walk;
    struct orders level[ARCH_LEVEL_MAX];
    uint32_t begin[ARCH_LEVEL_MAX]; /* (n_level) the tile at which the temporal loops begin */
};

/* `order` with n loops is complete but for the others; known ones are not taken again. */
static void take_order(const struct optimal_model *model, const uint8_t *order, uint32_t n,
                       struct orders *orders)
{
    const uint32_t n_dim = model->problem->n_dim;
    uint8_t *out = orders->order[orders->n];
    uint32_t left = (1u << n_dim) - 1;
    memcpy(out, order, n);
    for (uint32_t i = 0; i < n; i++)
        left &= ~(1u << order[i]);
    for (uint32_t d = 0; d < n_dim; d++)
        if (left >> d & 1u)
            out[n++] = (uint8_t)d;
    for (uint32_t i = 0; i < orders->n; i++)
        if (memcmp(orders->order[i], out, n_dim) == 0)
            return;
    orders->n++;
    assert(orders->n < ORDER_MAX);
}

/* Orders without a window: after the first n loops those of `left` that leave the tensors `still` alone, then
 * those that leave some of these alone, whichever, and so on. */
static void add_chains(const struct optimal_model *model, const uint8_t *first, uint32_t n, uint32_t left,
                       uint32_t still, struct orders *orders)
{
    uint8_t order[PROBLEM_DIM_MAX];
    bool any = false;
    memcpy(order, first, n);
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        if ((left >> d & 1u) && (still & ~optimal_left_alone(model, d)) == 0) {
            order[n++] = (uint8_t)d;
            left &= ~(1u << d);
        }
    for (uint32_t d = 0; d < model->problem->n_dim; d++) {
        const uint32_t fewer = left >> d & 1u ? still & optimal_left_alone(model, d) : 0;
        bool next = fewer != 0;
        for (uint32_t k = 0; k < d && next; k++)
            next = !(left >> k & 1u) || (still & optimal_left_alone(model, k)) != fewer;
        if (next)
            add_chains(model, order, n, left, fewer, orders);
        any = any || next;
    }
    if (any)
        return;
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        if (left >> d & 1u)
            order[n++] = (uint8_t)d;
    take_order(model, order, n, orders);
}

/* After the loops with a place of their own the loops `run`, `first` innermost of them, then `next` and its
 * partner, then the rest of `loops`. */
static void add_order(const struct optimal_model *model, const uint8_t *placed, uint32_t n, uint32_t loops,
                      uint32_t run, uint32_t first, uint32_t next, struct orders *orders)
{
    const uint32_t n_dim = model->problem->n_dim;
    const uint32_t lead[3] = {first, next, next < n_dim ? model->partner[next] : n_dim};
    uint8_t order[PROBLEM_DIM_MAX];
    memcpy(order, placed, n);
    for (uint32_t part = 0; part < 4; part++) {
        if (part < 3 && lead[part] < n_dim && (loops >> lead[part] & 1u)) {
            order[n++] = (uint8_t)lead[part];
            loops &= ~(1u << lead[part]);
        }
        const uint32_t group = part == 0 ? loops & run : part == 3 ? loops : 0;
        for (uint32_t d = 0; d < n_dim; d++)
            if (group >> d & 1u)
                order[n++] = (uint8_t)d;
        loops &= ~group;
    }
    take_order(model, order, n, orders);
}

static void list_orders(const struct optimal_model *model, uint32_t l, const struct mapping_level *level,
                        struct orders *orders)
{
    const uint32_t n_dim = model->problem->n_dim;
    const uint8_t *placed = NULL;
    const uint32_t n_placed = optimal_first_loops(model, l, &placed);
    uint32_t loops = 0, still = (1u << model->problem->n_tensor) - 1;
    uint8_t order[PROBLEM_DIM_MAX];
    orders->n = 0;
    for (uint32_t d = 0; d < n_dim; d++)
        loops |= (uint32_t)(level->temporal[d] > 1) << d;
    for (uint32_t i = 0; i < n_placed; i++) {
        order[i] = placed[i];
        still &= loops >> placed[i] & 1u ? optimal_left_alone(model, placed[i]) : still;
        loops &= ~(1u << placed[i]);
    }
    if (model->window < 0) {
        add_chains(model, order, n_placed, loops, still, orders);
        return;
    }
    for (uint32_t t = 0; t <= model->problem->n_tensor; t++)
        for (uint32_t first = 0; first <= n_dim; first++)
            for (uint32_t next = 0; next <= n_dim; next++) {
                const uint32_t run = t < model->problem->n_tensor ? loops & ~model->relevant[t] : 0;
                /* n_dim: none where none is left; the last tensor stands for no run at all */
                const uint32_t from = run ? run : loops;
                const bool leads = first < n_dim ? from >> first & 1u : from == 0;
                const uint32_t used = run | (first < n_dim ? 1u << first : 0);
                const bool goes_on = next < n_dim ? (loops & ~used) >> next & 1u : (loops & ~used) == 0;
                if (leads && goes_on)
                    add_order(model, order, n_placed, loops, run, first, next, orders);
            }
}

/* ---------------------------------------- places of spatial loops */

struct placing {
    struct leaf *leaf;
    uint32_t level;
};

static bool place_levels(struct leaf *leaf, uint32_t l);

static bool place_level(void *self, const struct optimal_place *place)
{
    const struct placing *placing = self;
    struct mapping_level *level = &placing->leaf->walk->mapping.level[placing->level];
    memcpy(level->spatial_order, place->order, sizeof place->order);
    level->split = place->split;
    return place_levels(placing->leaf, placing->level + 1);
}

static bool place_levels(struct leaf *leaf, uint32_t l)
{
    struct optimal_walk *walk = leaf->walk;
    const struct optimal_sweep *sweep = walk->sweep;
    struct placing placing = {leaf, l};
    if (l == sweep->model->arch->n_level)
        return !optimal_watch_ends(sweep->watch, 2000) && walk->visit(walk->self, &walk->mapping);
    const struct optimal_place *place = sweep->spread.place[l];
    return place && !place->open
               ? place_level(&placing, place)
               : optimal_places_all(sweep->model, l, sweep->spread.factor[l], place_level, &placing);
}

/* ---------------------------------------- orders of temporal loops */

static double goal_of(const struct optimal_sweep *sweep, const double *goal, uint32_t l, uint32_t mask)
{
    const struct optimal_states *out = &sweep->at[l + 1];
    const uint32_t i = optimal_states_find(out, mask);
    return i < out->n ? goal[i] : INFINITY;
}

/* The same order of level l by the other prices: `spent` (n_beside) goes on; false: a limit is reached. */
static bool order_beside(const struct leaf *leaf, uint32_t l, uint32_t mask, uint32_t open,
                         const uint8_t *order, const double *before, double *spent)
{
    const struct optimal_walk *walk = leaf->walk;
    for (uint32_t k = 0; k < walk->n_beside; k++) {
        const struct optimal_beside *beside = &walk->beside[k];
        const struct optimal_sweep *sweep = beside->sweep;
        double more;
        (void)optimal_order_price(sweep->model, &sweep->spread, sweep->price, l, mask, leaf->begin[l],
                                  walk->frame[l].end, order, &more);
        spent[k] = before[k] + more +
                   optimal_spatial_price(sweep->model, &sweep->spread, sweep->price, l, leaf->begin[l]);
        if (spent[k] + goal_of(sweep, beside->goal[l], l, open) >= beside->limit)
            return false;
    }
    return true;
}

static bool order_levels(struct leaf *leaf, uint32_t l, uint32_t mask, double spent, const double *beside)
{
    struct optimal_walk *walk = leaf->walk;
    const struct optimal_sweep *sweep = walk->sweep;
    if (l == sweep->model->arch->n_level)
        return place_levels(leaf, 0);
    spent += optimal_spatial_price(sweep->model, &sweep->spread, sweep->price, l, leaf->begin[l]);
    for (uint32_t i = 0; i < leaf->level[l].n; i++) {
        const uint8_t *order = leaf->level[l].order[i];
        double more, others[OPTIMAL_BESIDE_MAX];
        if (optimal_watch_ends(sweep->watch, 1000))
            return false;
        const uint32_t open =
            optimal_mask_open(sweep->model, l,
                              optimal_order_price(sweep->model, &sweep->spread, sweep->price, l, mask,
                                                  leaf->begin[l], walk->frame[l].end, order, &more));
        if (spent + more + goal_of(sweep, walk->frame[l].goal, l, open) >= walk->limit ||
            !order_beside(leaf, l, mask, open, order, beside, others))
            continue;
        memcpy(walk->mapping.level[l].temporal_order, order, PROBLEM_DIM_MAX);
        if (!order_levels(leaf, l + 1, open, spent + more, others))
            return false;
    }
    return true;
}

bool optimal_leaf(struct optimal_walk *walk)
{
    const struct optimal_sweep *sweep = walk->sweep;
    struct leaf leaf;
    leaf.walk = walk;
    for (uint32_t l = 0; l < sweep->model->arch->n_level; l++) {
        list_orders(sweep->model, l, &walk->mapping.level[l], &leaf.level[l]);
        leaf.begin[l] = walk->frame[l].candidate[walk->frame[l].at - 1].node;
    }
    double beside[OPTIMAL_BESIDE_MAX];
    for (uint32_t k = 0; k < walk->n_beside; k++)
        beside[k] =
            optimal_fixed_price(sweep->model, &walk->beside[k].sweep->spread, walk->beside[k].sweep->price);
    return order_levels(&leaf, 0, 0, optimal_fixed_price(sweep->model, &sweep->spread, sweep->price), beside);
}
