/* Places of spatial loops: which lie along X, and in which order the loops of each side run. */
#include "engines/optimal/optimal_places.h"

#include <math.h>

#include "engines/optimal/optimal_limits.h"

enum dse_status optimal_places_new(const struct optimal_model *model, struct arena *arena,
                                   struct optimal_places *out, struct dse_error *err)
{
    uint64_t most = 0;
    *out = (struct optimal_places){.model = model};
    for (uint32_t l = 0; l < model->arch->n_level; l++) {
        uint64_t x, y;
        architecture_fanout(model->arch, l, &x, &y);
        if (model->arch->level[l].hop_energy_j + model->arch->level[l].router_energy_j > 0 && x * y > most)
            most = x * y;
    }
    uint32_t **array[] = {&out->scratch.base, &out->scratch.member, &out->scratch.down, &out->scratch.seen,
                          &out->scratch.low};
    for (uint32_t i = 0; i < sizeof array / sizeof array[0]; i++)
        *array[i] = arena_alloc(arena, most, sizeof **array[i]);
    return arena_check(arena, "the children of a mesh", err);
}

struct all_places {
    const struct optimal_model *model;
    uint32_t level;
    optimal_place_visit visit;
    void *self;
    struct optimal_place place;
};

/* Which of the loops `left` on one side may be the next: that with the first place of its own, or any. */
static uint32_t next_places(const struct optimal_model *model, uint32_t l, uint32_t left)
{
    const struct loop_constraints *loops = model->constraints ? &model->constraints->level[l].spatial : NULL;
    for (uint32_t i = 0; loops && i < loops->n_order; i++)
        if (left >> loops->order[i] & 1u)
            return 1u << loops->order[i];
    return left;
}

/* The loops of `x`, then those of `y`, in all orders from place n on. */
static bool order_loops(struct all_places *all, uint32_t x, uint32_t y, uint32_t n)
{
    const uint32_t n_dim = all->model->problem->n_dim;
    uint8_t *order = all->place.order;
    if (!x && !y) {
        uint32_t done = 0;
        for (uint32_t i = 0; i < n; i++)
            done |= 1u << order[i];
        for (uint32_t d = 0; d < n_dim; d++)
            if (!(done >> d & 1u))
                order[n++] = (uint8_t)d;
        return all->visit(all->self, &all->place);
    }
    const uint32_t next = next_places(all->model, all->level, x ? x : y);
    for (uint32_t d = 0; d < n_dim; d++) {
        if (!(next >> d & 1u))
            continue;
        order[n] = (uint8_t)d;
        if (!order_loops(all, x & ~(1u << d), x ? y : y & ~(1u << d), n + 1))
            return false;
    }
    return true;
}

bool optimal_places_all(const struct optimal_model *model, uint32_t l, const uint32_t *factor,
                        optimal_place_visit visit, void *self)
{
    struct all_places all = {.model = model, .level = l, .visit = visit, .self = self};
    const uint32_t n_dim = model->problem->n_dim;
    uint32_t loops = 0;
    uint64_t fan_x, fan_y;
    architecture_fanout(model->arch, l, &fan_x, &fan_y);
    for (uint32_t d = 0; d < n_dim; d++)
        loops |= (uint32_t)(factor[d] > 1) << d;
    for (uint32_t x = loops;; x = (x - 1) & loops) {
        uint64_t wide = 1, high = 1;
        for (uint32_t d = 0; d < n_dim; d++)
            *(x >> d & 1u ? &wide : &high) *= factor[d];
        all.place.split = (uint8_t)__builtin_popcount(x);
        if (wide <= fan_x && high <= fan_y && optimal_side_allowed(model, l, false, x) &&
            optimal_side_allowed(model, l, true, loops & ~x) && !order_loops(&all, x, loops & ~x, 0))
            return false;
        if (x == 0)
            return true;
    }
}

/* ---------------------------------------- the best */

enum { LOOP_MAX = 5 }; /* of more loops the places are too many to look at: their hops count 0 */

struct best_places {
    const struct optimal_places *places;
    const uint32_t *factor;
    uint32_t level, n;
    bool diagonal;               /* the hops of the window tensor are not known */
    bool all;                    /* one place stands for all */
    struct optimal_place *place; /* (n) */
};

/* Hops of an access of tensor t. */
static double mean_hops(const struct best_places *best, const struct optimal_place *place, uint32_t t)
{
    const struct optimal_model *model = best->places->model;
    struct spatial_loop loop[PROBLEM_DIM_MAX];
    uint32_t n = 0;
    uint64_t width, height, wide = 1, high = 1;
    double groups = 1;
    const bool alone = optimal_is_alone(model, best->level, t);
    if (best->diagonal && (int)t == model->window)
        return 0;
    for (uint32_t i = 0; i < model->problem->n_dim && best->factor[place->order[i]] > 1; i++) {
        const uint32_t d = place->order[i];
        loop[n] = (struct spatial_loop){best->factor[d], alone || (model->relevant[t] >> d & 1u)};
        groups *= loop[n].between ? loop[n].bound : 1;
        *(n++ < place->split ? &wide : &high) *= best->factor[d];
    }
    if (n == 0)
        return 0;
    architecture_fanout(model->arch, best->level, &width, &height);
    return mesh_hops(loop, n, width > wide ? width : wide, height > high ? height : high,
                     &best->places->scratch) /
           groups * (1 - 1e-12);
}

/* Does the child bypass tensor t? Its words are scaled then, and hops are not ("Bypass" in docs/cost-model.md),
 * so that there may be any number of them to a word. */
static bool is_scaled(const struct best_places *best, uint32_t t)
{
    const struct optimal_model *model = best->places->model;
    return best->level > 0 && !((uint32_t)model->keep[best->level - 1] >> t & 1u);
}

/* One place stands for all from now on, with the least hops of any. */
static void merge_places(struct best_places *best, const struct optimal_place *now)
{
    const uint32_t n_tensor = best->places->model->problem->n_tensor;
    if (best->n == 0)
        best->place[best->n++] = *now;
    for (uint32_t t = 0; t < n_tensor; t++) {
        double least = now->hops[t];
        for (uint32_t i = 0; i < best->n; i++)
            least = fmin(least, best->place[i].hops[t]);
        best->place[0].hops[t] = least;
    }
    best->place[0].open = true;
    best->n = 1;
    best->all = true;
}

static bool keep_best(void *self, const struct optimal_place *place)
{
    struct best_places *best = self;
    const uint32_t n_tensor = best->places->model->problem->n_tensor;
    struct optimal_place now = *place;
    uint32_t n = 0;
    for (uint32_t t = 0; t < n_tensor; t++) {
        now.mean[t] = mean_hops(best, place, t);
        now.hops[t] = is_scaled(best, t) ? 0 : now.mean[t];
    }
    if (best->all || best->n == OPTIMAL_PLACE_MAX) {
        merge_places(best, &now);
        return true;
    }
    for (uint32_t i = 0; i < best->n; i++) {
        bool better = true, worse = true;
        for (uint32_t t = 0; t < n_tensor; t++) {
            better = better && now.mean[t] <= best->place[i].mean[t];
            worse = worse && now.mean[t] >= best->place[i].mean[t];
        }
        if (worse)
            return true;
        if (!better)
            best->place[n++] = best->place[i];
    }
    best->n = n;
    best->place[best->n++] = now;
    return true;
}

static bool keep_first(void *self, const struct optimal_place *place)
{
    struct best_places *best = self;
    best->place[best->n++] = *place;
    return false;
}

uint32_t optimal_places_list(const struct optimal_places *places, uint32_t l, const uint32_t *factor,
                             struct optimal_place *out)
{
    const struct storage_level *level = &places->model->arch->level[l];
    const bool costs = level->hop_energy_j + level->router_energy_j > 0;
    struct best_places best = {places, factor, l, .place = out};
    uint32_t n_loop = 0;
    for (uint32_t d = 0; d < places->model->problem->n_dim; d++) {
        const uint32_t p = places->model->partner[d];
        best.all = best.all || (p < d && factor[d] > 1 && factor[p] > 1);
        n_loop += factor[d] > 1;
    }
    best.diagonal = best.all;
    (void)optimal_places_all(places->model, l, factor, costs && n_loop <= LOOP_MAX ? keep_best : keep_first,
                             &best);
    out[0].open = out[0].open || (costs && n_loop > LOOP_MAX);
    return best.n;
}
