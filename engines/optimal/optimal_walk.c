/* The walk over tiles. A frame has a level's end; its candidates are the tiles at which the loops of that
 * level begin. `goal` says for every set of open events what the outer levels cost at least. */
#include "engines/optimal/optimal_walk.h"

#include <math.h>
#include <stdlib.h>

enum dse_status optimal_walk_new(struct optimal_sweep *sweep, struct arena *arena, struct optimal_walk **out,
                                 struct dse_error *err)
{
    const struct optimal_model *model = sweep->model;
    struct optimal_walk *walk = arena_alloc(arena, 1, sizeof *walk);
    *out = walk;
    DSE_TRY(arena_check(arena, "a walk over tiles", err));
    walk->sweep = sweep;
    walk->at = model->arch->n_level;
    for (uint32_t l = 0; l < model->arch->n_level; l++) {
        walk->frame[l].candidate = arena_alloc(arena, model->lattice.n, sizeof *walk->frame[l].candidate);
        walk->hops =
            walk->hops || model->arch->level[l].hop_energy_j + model->arch->level[l].router_energy_j > 0;
    }
    return arena_check(arena, "a walk over tiles", err);
}

/* The least price of what lies further out than the loops of level l that begin at `node` with these events
 * open. */
static double goal_at(const struct optimal_walk *walk, uint32_t l, uint32_t mask, uint32_t node)
{
    const struct optimal_sweep *sweep = walk->sweep;
    const struct optimal_frame *frame = &walk->frame[l];
    const struct optimal_states *out = &sweep->at[l + 1];
    struct optimal_choice choice[OPTIMAL_CHOICE_MAX];
    double least = INFINITY;
    uint32_t n = optimal_step(sweep->model, &sweep->spread, sweep->price, l, mask, node, frame->end, choice);
    while (n-- > 0) {
        const uint32_t open = optimal_mask_open(sweep->model, l, choice[n].mask);
        uint32_t i = 0;
        while (i < out->n && out->mask[i] != open)
            i++;
        if (i < out->n) /* else no tile is below the sweep's limit */
            least = fmin(least, choice[n].price + frame->goal[i]);
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

/* All tiles from which the end of the frame can be reached below the limit. */
static void find_candidates(struct optimal_walk *walk, uint32_t l)
{
    const struct optimal_sweep *sweep = walk->sweep;
    const struct optimal_states *in = &sweep->at[l];
    struct optimal_frame *frame = &walk->frame[l];
    double least = INFINITY;
    frame->n = frame->at = 0;
    for (uint32_t i = 0; i < sweep->at[l + 1].n; i++)
        least = fmin(least, frame->goal[i]);
    for (uint32_t node = 0; node <= frame->end; node++) {
        double bound = INFINITY;
        if (sweep->least[l][node] + least >= walk->limit || !lattice_divides(&sweep->tiles, node, frame->end))
            continue;
        for (uint32_t i = 0; i < in->n; i++)
            if (in->value[i][node] + least < walk->limit)
                bound = fmin(bound, in->value[i][node] + goal_at(walk, l, in->mask[i], node));
        if (bound < walk->limit)
            frame->candidate[frame->n++] = (struct optimal_candidate){bound, node};
    }
    qsort(frame->candidate, frame->n, sizeof *frame->candidate, by_bound);
}

void optimal_walk_start(struct optimal_walk *walk, double limit)
{
    const struct optimal_sweep *sweep = walk->sweep;
    const struct optimal_model *model = sweep->model;
    const uint32_t last = model->arch->n_level - 1;
    mapping_init(&walk->mapping, model->problem, model->arch);
    for (uint32_t l = 0; l <= last; l++)
        for (uint32_t d = 0; d < model->problem->n_dim; d++)
            walk->mapping.level[l].spatial[d] = sweep->spread.factor[l][d];
    walk->limit = limit;
    walk->at = last;
    walk->frame[last].end = sweep->tiles.n - 1;
    for (uint32_t i = 0; i < sweep->at[last + 1].n; i++)
        walk->frame[last].goal[i] =
            optimal_rest_price(model, &sweep->spread, sweep->price, sweep->at[last + 1].mask[i]);
    find_candidates(walk, last);
}

bool optimal_walk_next(struct optimal_walk *walk)
{
    const struct optimal_sweep *sweep = walk->sweep;
    const struct optimal_model *model = sweep->model;
    const uint32_t l = walk->at;
    if (l == model->arch->n_level)
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
        inner->goal[i] = goal_at(walk, l, sweep->at[l].mask[i], node) + spatial;
    inner->end = node;
    walk->at = l - 1;
    find_candidates(walk, l - 1);
    return true;
}
