/* The orders of one factorisation. Per level those are tried in which a best mapping can be found: first the
 * loops that leave one tensor alone, any of them innermost, then any other loop, its partner in a sliding
 * window, and the rest. This also has every way in which moves can match by accident: then all loops between
 * move one rank, or do not move the window at all. */
#include "engines/optimal/optimal_walk.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "engines/optimal/optimal_limits.h"

/* Of n dimensions, each left alone by one tensor at most: n (n - 1) without a run, n n with one. */
enum { ORDER_MAX = 2 * PROBLEM_DIM_MAX * PROBLEM_DIM_MAX };

struct orders {
    uint32_t n;
    uint8_t order[ORDER_MAX][PROBLEM_DIM_MAX];
};

struct leaf {
    struct optimal_walk *walk;
    struct orders level[ARCH_LEVEL_MAX];
    uint32_t begin[ARCH_LEVEL_MAX]; /* (n_level) the tile at which the temporal loops begin */
};

/* After the loops with a place of their own the loops `run`, `first` innermost of them, then `next` and its
 * partner, then the rest of `loops`. */
static void add_order(const struct optimal_model *model, uint32_t l, struct orders *orders, uint32_t loops,
                      uint32_t run, uint32_t first, uint32_t next)
{
    const uint32_t n_dim = model->problem->n_dim;
    const uint32_t partner = next < n_dim ? model->partner[next] : n_dim;
    const uint8_t *placed;
    uint8_t *order = orders->order[orders->n];
    uint32_t n, left = (1u << n_dim) - 1;
    const uint32_t n_placed = optimal_first_loops(model, l, &placed);
    for (n = 0; n < n_placed; n++) {
        order[n] = placed[n];
        left &= ~(1u << placed[n]);
    }
    const uint32_t lead[3] = {first, next, partner};
    for (uint32_t part = 0; part < 4; part++) {
        if (part < 3 && lead[part] < n_dim && (left >> lead[part] & 1u)) {
            order[n++] = (uint8_t)lead[part];
            left &= ~(1u << lead[part]);
        }
        const uint32_t group = part == 0 ? left & run : part == 3 ? left : 0;
        for (int unit = 0; unit < 2; unit++)
            for (uint32_t d = 0; d < n_dim; d++)
                if ((group >> d & 1u) && (loops >> d & 1u) == (unit == 0))
                    order[n++] = (uint8_t)d;
        left &= ~group;
    }
    for (uint32_t i = 0; i < orders->n; i++)
        if (memcmp(orders->order[i], order, n_dim) == 0)
            return;
    orders->n++;
    assert(orders->n < ORDER_MAX);
}

static void list_orders(const struct optimal_model *model, uint32_t l, const struct mapping_level *level,
                        struct orders *orders)
{
    const uint32_t n_dim = model->problem->n_dim;
    const uint8_t *placed;
    uint32_t loops = 0;
    orders->n = 0;
    for (uint32_t d = 0; d < n_dim; d++)
        loops |= (uint32_t)(level->temporal[d] > 1) << d;
    for (uint32_t i = optimal_first_loops(model, l, &placed); i-- > 0;)
        loops &= ~(1u << placed[i]);
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
                    add_order(model, l, orders, loops, run, first, next);
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

static double goal_of(const struct optimal_walk *walk, uint32_t l, uint32_t mask)
{
    const struct optimal_states *out = &walk->sweep->at[l + 1];
    for (uint32_t i = 0; i < out->n; i++)
        if (out->mask[i] == mask)
            return walk->frame[l].goal[i];
    return INFINITY;
}

static bool order_levels(struct leaf *leaf, uint32_t l, uint32_t mask, double spent)
{
    struct optimal_walk *walk = leaf->walk;
    const struct optimal_sweep *sweep = walk->sweep;
    if (l == sweep->model->arch->n_level)
        return place_levels(leaf, 0);
    spent += optimal_spatial_price(sweep->model, &sweep->spread, sweep->price, l, leaf->begin[l]);
    for (uint32_t i = 0; i < leaf->level[l].n; i++) {
        const uint8_t *order = leaf->level[l].order[i];
        double more;
        if (optimal_watch_ends(sweep->watch, 1000))
            return false;
        const uint32_t open =
            optimal_mask_open(sweep->model, l,
                              optimal_order_price(sweep->model, &sweep->spread, sweep->price, l, mask,
                                                  leaf->begin[l], walk->frame[l].end, order, &more));
        if (spent + more + goal_of(walk, l, open) >= walk->limit)
            continue;
        memcpy(walk->mapping.level[l].temporal_order, order, PROBLEM_DIM_MAX);
        if (!order_levels(leaf, l + 1, open, spent + more))
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
    return order_levels(&leaf, 0, 0, optimal_fixed_price(sweep->model, &sweep->spread, sweep->price));
}
