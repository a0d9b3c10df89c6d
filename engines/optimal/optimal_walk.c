/* The walk over tiles. A frame has a level's end; its candidates are the tiles at which the loops of that
 * level begin. `goal` says for every set of open events what the outer levels cost at least. */
#include "engines/optimal/optimal_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/optimal/optimal_limits.h"

enum dse_status optimal_walk_new(struct optimal_sweep *sweep, struct arena *arena, struct optimal_walk **out,
                                 struct dse_error *err)
{
    const struct optimal_model *model = sweep->model;
    struct optimal_walk *walk = arena_alloc(arena, 1, sizeof *walk);
    *out = walk;
    DSE_TRY(arena_check(arena, "a walk over tiles", err));
    walk->sweep = sweep;
    walk->at = model->arch->n_level;
    for (uint32_t l = 0; l < model->arch->n_level; l++)
        walk->frame[l].candidate =
            arena_alloc_unset(arena, model->lattice.n, sizeof *walk->frame[l].candidate);
    return arena_check(arena, "a walk over tiles", err);
}

/* The least price of what lies further out than the loops of level l that begin at `node` with these events
 * open. */
static double goal_at(const struct optimal_sweep *sweep, const double *goal, uint32_t end, uint32_t l,
                      uint32_t mask, uint32_t node)
{
    const struct optimal_states *out = &sweep->at[l + 1];
    struct optimal_choice choice[OPTIMAL_CHOICE_MAX];
    double least = INFINITY;
    uint32_t n = optimal_step(sweep->model, &sweep->spread, sweep->price, l, mask, node, end, choice);
    while (n-- > 0) {
        const uint32_t open = optimal_mask_open(sweep->model, l, choice[n].mask);
        const uint32_t i = optimal_states_find(out, open);
        if (i < out->n) /* else no tile is below the sweep's limit */
            least = fmin(least, choice[n].price + goal[i]);
    }
    return least;
}

static int by_bound(const void *a, const void *b)
{
    const struct optimal_candidate *x = a, *y = b;
    if (x->bound != y->bound)
        return x->bound < y->bound ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* May level l have the temporal factors that lead from `node` to `end`? */
static bool may_loop(const struct optimal_sweep *sweep, uint32_t l, uint32_t node, uint32_t end)
{
    for (uint32_t left = sweep->model->limited[l]; left; left &= left - 1) {
        const uint32_t d = (uint32_t)__builtin_ctz(left);
        if (!optimal_factor_allowed(sweep->model, l, false, d,
                                    sweep->tiles.extent[d][end] / sweep->tiles.extent[d][node]))
            return false;
    }
    return true;
}

/* Are the loops of level l that begin at `node` below the limits of the other prices? */
static bool is_left_beside(const struct optimal_walk *walk, uint32_t l, uint32_t node)
{
    for (uint32_t k = 0; k < walk->n_beside; k++) {
        const struct optimal_beside *beside = &walk->beside[k];
        const struct optimal_states *in = &beside->sweep->at[l];
        bool left = false;
        for (uint32_t i = 0; i < in->n && !left; i++)
            left = in->value[i][node] < beside->limit &&
                   in->value[i][node] +
                           goal_at(beside->sweep, beside->goal[l], walk->frame[l].end, l, in->mask[i], node) <
                       beside->limit;
        if (!left)
            return false;
    }
    return true;
}

/* What each event costs at least that is open at a tile. */
struct open_prices {
    double here[OPTIMAL_EVENT_MAX]; /* (n_event) when the next loop moves its tile as a whole, direct */
    double next[OPTIMAL_EVENT_MAX]; /* the same, not direct */
    double last[OPTIMAL_EVENT_MAX]; /* after all loops that leave it alone */
};

static void price_open(const struct optimal_sweep *sweep, bool sums, uint32_t node, struct open_prices *out)
{
    const struct optimal_model *model = sweep->model;
    const uint32_t end = sweep->tiles.n - 1;
    for (uint32_t e = 0; e < model->n_event; e++) {
        const uint32_t t = model->event[e].tensor;
        const bool window = (int)t == model->window;
        if (window && sums) { /* its price depends on the level */
            out->here[e] = out->next[e] = out->last[e] = sweep->least_event[e];
            continue;
        }
        bool match = false;
        for (uint32_t l = model->event[e].from + 1; window && l < model->arch->n_level; l++)
            match = match || sweep->match[l][node];
        const double *price = match ? sweep->half[e] : sweep->close[e];
        out->here[e] = sweep->close[e][node];
        out->next[e] = price[node];
        out->last[e] = price[lattice_mix(&sweep->tiles, node, end, ~model->relevant[t])];
    }
}

/* What the open events `mask` cost at least from `node` on, whichever loop comes next; 0: none does. Much
 * cheaper than goal_at. */
static double price_mask(const struct optimal_sweep *sweep, const struct open_prices *price, uint32_t mask,
                         uint32_t node)
{
    const struct optimal_model *model = sweep->model;
    const uint32_t end = sweep->tiles.n - 1;
    double least = INFINITY;
    for (uint32_t d = 0; d < model->problem->n_dim; d++) {
        double sum = 0;
        if (sweep->tiles.extent[d][node] == sweep->tiles.extent[d][end])
            continue;
        for (uint32_t left = mask & 0xffffu; left; left &= left - 1) {
            const uint32_t e = (uint32_t)__builtin_ctz(left);
            const bool direct = mask >> (OPTIMAL_DIRECT + e) & 1u;
            sum += model->stays[d] >> e & 1u                   ? price->last[e]
                   : !direct                                   ? price->next[e]
                   : model->partner[d] < model->problem->n_dim ? sweep->least_event[e] /* it may slide */
                                                               : price->here[e];
        }
        least = fmin(least, sum);
    }
    return least < INFINITY ? least : 0;
}

/* All tiles from which the end of the frame can be reached below the limit. */
static void find_candidates(struct optimal_walk *walk, uint32_t l)
{
    const struct optimal_sweep *sweep = walk->sweep;
    const struct optimal_states *in = &sweep->at[l];
    struct optimal_frame *frame = &walk->frame[l];
    const double limit = walk->limit * (1 + 1e-12);              /* rounding */
    const bool outermost = l + 1 == sweep->model->arch->n_level; /* has most tiles */
    const bool sums = outermost && optimal_is_diagonal(sweep->model, &sweep->spread, UINT32_MAX);
    double least = INFINITY, below[OPTIMAL_MASK_MAX]; /* values of the masks (in->n) that may do */
    struct open_prices price;
    frame->n = frame->at = 0;
    for (uint32_t i = 0; i < sweep->at[l + 1].n; i++)
        least = fmin(least, frame->goal[i]);
    for (uint32_t i = 0; i < in->n; i++) /* the sweep's own limit may have been higher */
        below[i] = limit - fmax(least, l > 0 ? optimal_sweep_left(sweep, l - 1, in->mask[i]) : 0);
    for (uint32_t node = 0; node <= frame->end; node++) {
        double bound = INFINITY;
        if (sweep->least[l][node] + least >= walk->limit ||
            !lattice_divides(&sweep->tiles, node, frame->end) || !may_loop(sweep, l, node, frame->end))
            continue;
        if (optimal_watch_ends(sweep->watch, 1000 * in->n))
            return;
        if (outermost)
            price_open(sweep, sums, node, &price);
        for (uint32_t i = 0; i < in->n; i++)
            if (in->value[i][node] < below[i] &&
                (!outermost || in->value[i][node] + price_mask(sweep, &price, in->mask[i], node) < limit))
                bound = fmin(bound, in->value[i][node] +
                                        goal_at(sweep, frame->goal, frame->end, l, in->mask[i], node));
        if (bound < walk->limit && is_left_beside(walk, l, node))
            frame->candidate[frame->n++] = (struct optimal_candidate){bound, node};
    }
    qsort(frame->candidate, frame->n, sizeof *frame->candidate, by_bound);
}

/* Do the tiles from level l outwards fit, as far as levels share room? */
static bool fits_outside(const struct optimal_walk *walk, uint32_t l)
{
    const struct optimal_sweep *sweep = walk->sweep;
    uint32_t node[ARCH_LEVEL_MAX];
    for (uint32_t i = l; i < sweep->model->arch->n_level; i++)
        node[i] = sweep->tiles.whole[walk->frame[i].end] +
                  lattice_node(&sweep->model->lattice, sweep->spread.span[i]);
    return optimal_fits_together(sweep->model, &sweep->spread, l, node);
}

void optimal_walk_start(struct optimal_walk *walk, double limit)
{
    const struct optimal_sweep *sweep = walk->sweep;
    const struct optimal_model *model = sweep->model;
    const uint32_t last = model->arch->n_level - 1;
    mapping_init(&walk->mapping, model->problem, model->arch);
    for (uint32_t l = 0; l <= last; l++) {
        struct mapping_level *level = &walk->mapping.level[l];
        memcpy(level->spatial, sweep->spread.factor[l], sizeof level->spatial);
        level->keep = model->keep[l];
        if (!model->constraints)
            continue;
        level->no_temporal_reuse = model->constraints->level[l].no_temporal_reuse;
        level->no_link_transfer = model->constraints->level[l].no_link_transfer;
        level->no_multicast = model->constraints->level[l].no_multicast;
    }
    walk->limit = limit;
    walk->at = last;
    walk->frame[last].end = sweep->tiles.n - 1;
    for (uint32_t i = 0; i < sweep->at[last + 1].n; i++)
        walk->frame[last].goal[i] =
            optimal_rest_price(model, &sweep->spread, sweep->price, sweep->at[last + 1].mask[i]);
    for (uint32_t k = 0; k < walk->n_beside; k++) {
        const struct optimal_sweep *other = walk->beside[k].sweep;
        for (uint32_t i = 0; i < other->at[last + 1].n; i++)
            walk->beside[k].goal[last][i] =
                optimal_rest_price(model, &other->spread, other->price, other->at[last + 1].mask[i]);
    }
    find_candidates(walk, last);
}

/* The goals of the level inside level l, whose loops begin at `node`, by the other prices. */
static void goals_beside(struct optimal_walk *walk, uint32_t l, uint32_t node)
{
    for (uint32_t k = 0; k < walk->n_beside; k++) {
        struct optimal_beside *beside = &walk->beside[k];
        const struct optimal_sweep *sweep = beside->sweep;
        const double spatial = optimal_spatial_price(sweep->model, &sweep->spread, sweep->price, l, node);
        for (uint32_t i = 0; i < sweep->at[l].n; i++)
            beside->goal[l - 1][i] =
                goal_at(sweep, beside->goal[l], walk->frame[l].end, l, sweep->at[l].mask[i], node) + spatial;
    }
}

bool optimal_walk_next(struct optimal_walk *walk)
{
    const struct optimal_sweep *sweep = walk->sweep;
    const struct optimal_model *model = sweep->model;
    const uint32_t l = walk->at;
    if (l == model->arch->n_level || (sweep->watch && sweep->watch->ended))
        return false;
    struct optimal_frame *frame = &walk->frame[l];
    if (frame->at == frame->n || frame->candidate[frame->at].bound >= walk->limit) {
        walk->at++;
        return walk->at < model->arch->n_level;
    }
    const uint32_t node = frame->candidate[frame->at++].node;
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        walk->mapping.level[l].temporal[d] =
            sweep->tiles.extent[d][frame->end] / sweep->tiles.extent[d][node];
    if (l == 0)
        return optimal_leaf(walk);
    struct optimal_frame *inner = &walk->frame[l - 1];
    const double spatial = optimal_spatial_price(model, &sweep->spread, sweep->price, l, node);
    for (uint32_t i = 0; i < sweep->at[l].n; i++)
        inner->goal[i] = goal_at(sweep, frame->goal, frame->end, l, sweep->at[l].mask[i], node) + spatial;
    goals_beside(walk, l, node);
    inner->end = node;
    walk->at = l - 1;
    inner->n = inner->at = 0;
    if (fits_outside(walk, l - 1))
        find_candidates(walk, l - 1);
    return true;
}
