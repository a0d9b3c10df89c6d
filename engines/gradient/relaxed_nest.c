/* From factors to extents, instances and tiles of every level, and back from their adjoints to the slopes
 * along factors. */
#include <math.h>
#include <string.h>

#include "engines/gradient/relaxed_private.h"

/* ---------------------------------------- tiles */

static bool is_plain(const struct tensor_rank *rank)
{
    return rank->n_term == 1 && rank->term[0].coefficient == 1;
}

/* Words of a rank that is a sum of dimensions: 1 + sum of coefficient (iterations - 1). */
static double width_of(const struct tensor_rank *rank, const double *iterations)
{
    double width = 1;
    for (uint32_t i = 0; i < rank->n_term; i++)
        width += rank->term[i].coefficient * (iterations[rank->term[i].dim] - 1);
    return width;
}

static void measure_tile(const struct relaxed *model, uint32_t l, uint32_t t, struct relaxed_state *now)
{
    const struct tensor *tensor = &model->problem->tensor[t];
    double *iterations = now->iterations[l], words = 0;
    for (uint32_t rest = model->summed[t]; rest; rest &= rest - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(rest);
        iterations[d] = exp(now->level[l].extent[d]);
    }
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        const struct tensor_rank *rank = &tensor->rank[r];
        words += is_plain(rank) ? now->level[l].extent[rank->term[0].dim] : log(width_of(rank, iterations));
    }
    now->level[l].tile[t] = words;
}

static void measure_tile_back(const struct relaxed *model, uint32_t l, uint32_t t,
                              const struct relaxed_state *now, struct relaxed_state *d)
{
    const struct tensor *tensor = &model->problem->tensor[t];
    const double *iterations = now->iterations[l];
    double slope = d->level[l].tile[t], *extent = d->level[l].extent;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        const struct tensor_rank *rank = &tensor->rank[r];
        if (is_plain(rank)) {
            extent[rank->term[0].dim] += slope;
            continue;
        }
        double by_width = slope / width_of(rank, iterations);
        for (uint32_t i = 0; i < rank->n_term; i++)
            extent[rank->term[i].dim] += by_width * rank->term[i].coefficient * iterations[rank->term[i].dim];
    }
}

/* ---------------------------------------- the nest */

/* Dimensions whose spatial loops give the children of level l other words of tensor t. */
static uint32_t spreading(const struct relaxed *model, uint32_t l, uint32_t t)
{
    return model->choice[l].no_multicast >> t & 1u ? UINT32_MAX : model->moved[t];
}

static void add_place(const struct relaxed *model, uint32_t s, const double *factor, double *extent,
                      struct relaxed_state *now)
{
    const struct mapspace_place *place = &model->place[s];
    uint32_t l = place->level;
    double compute = 0;
    for (uint32_t rest = model->active[s]; rest; rest &= rest - 1) {
        uint32_t d = (uint32_t)__builtin_ctz(rest);
        extent[d] += factor[d];
        if (!place->spatial) {
            compute += factor[d];
            continue;
        }
        now->level[l].across[place->on_y] += factor[d];
        for (uint32_t t = 0; t < model->problem->n_tensor; t++)
            if (spreading(model, l, t) >> d & 1u)
                now->level[l].spread[t][place->on_y] += factor[d];
    }
    now->compute += compute;
}

void relaxed_nest(const struct relaxed *model, relaxed_factors factor, struct relaxed_state *now)
{
    double extent[PROBLEM_DIM_MAX] = {0};
    uint32_t n_level = model->arch->n_level, n_tensor = model->problem->n_tensor;
    for (uint32_t s = model->n_place; s-- > 0;) {
        add_place(model, s, factor[s], extent, now);
        if (!model->place[s].spatial) /* the last place of its level */
            memcpy(now->level[model->place[s].level].extent, extent, sizeof extent);
    }
    for (uint32_t l = n_level - 1; l-- > 0;) {
        now->level[l].used =
            now->level[l + 1].used + now->level[l + 1].across[0] + now->level[l + 1].across[1];
        for (uint32_t t = 0; t < n_tensor; t++)
            now->level[l].outer[t] =
                now->level[l + 1].outer[t] + now->level[l + 1].spread[t][0] + now->level[l + 1].spread[t][1];
    }
    for (uint32_t l = 0; l < n_level; l++)
        for (uint32_t rest = model->tiles[l]; rest; rest &= rest - 1)
            measure_tile(model, l, (uint32_t)__builtin_ctz(rest), now);
}

/* The adjoint of relaxed_nest. */
void relaxed_nest_back(const struct relaxed *model, const struct relaxed_state *now, struct relaxed_state *d,
                       relaxed_factors slope)
{
    double extent[PROBLEM_DIM_MAX] = {0};
    uint32_t n_level = model->arch->n_level, n_tensor = model->problem->n_tensor;
    for (uint32_t l = 0; l < n_level; l++)
        for (uint32_t rest = model->tiles[l]; rest; rest &= rest - 1)
            measure_tile_back(model, l, (uint32_t)__builtin_ctz(rest), now, d);
    for (uint32_t l = 0; l + 1 < n_level; l++) {
        d->level[l + 1].used += d->level[l].used;
        for (int axis = 0; axis < 2; axis++)
            d->level[l + 1].across[axis] += d->level[l].used;
        for (uint32_t t = 0; t < n_tensor; t++) {
            d->level[l + 1].outer[t] += d->level[l].outer[t];
            for (int axis = 0; axis < 2; axis++)
                d->level[l + 1].spread[t][axis] += d->level[l].outer[t];
        }
    }
    for (uint32_t s = 0; s < model->n_place; s++) {
        const struct mapspace_place *place = &model->place[s];
        uint32_t l = place->level;
        for (uint32_t i = 0; i < model->problem->n_dim && !place->spatial; i++)
            extent[i] += d->level[l].extent[i];
        for (uint32_t rest = model->active[s]; rest; rest &= rest - 1) {
            uint32_t i = (uint32_t)__builtin_ctz(rest);
            slope[s][i] += extent[i] + (place->spatial ? d->level[l].across[place->on_y] : d->compute);
            for (uint32_t t = 0; t < n_tensor && place->spatial; t++)
                slope[s][i] += spreading(model, l, t) >> i & 1u ? d->level[l].spread[t][place->on_y] : 0;
        }
    }
}
