/* Places of spatial loops: which lie along X, and in which order the loops of each side run. */
#include "engines/optimal/optimal_places.h"

#include <math.h>
#include <string.h>

#include "costmodel/model/divisor.h"
#include "engines/optimal/optimal_limits.h"
#include "engines/optimal/optimal_price.h"

static bool hops_cost(const struct optimal_model *model, uint32_t l)
{
    return model->arch->level[l].hop_energy_j + model->arch->level[l].router_energy_j > 0;
}

enum dse_status optimal_places_new(const struct optimal_model *model, struct arena *arena,
                                   struct optimal_places *out, struct dse_error *err)
{
    uint64_t most = 0;
    *out = (struct optimal_places){.model = model};
    for (uint32_t l = 0; l < model->arch->n_level; l++) {
        uint64_t x, y;
        architecture_fanout(model->arch, l, &x, &y);
        if (hops_cost(model, l) && x * y > most)
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
    const uint32_t *factor;
    uint32_t level;
    uint64_t fan_x, fan_y;
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

/* May the loops at the places `from` to `to` lie on one side in this order? */
static bool is_side(const struct all_places *all, uint32_t from, uint32_t to, bool y)
{
    uint64_t size = 1;
    uint32_t left = 0;
    for (uint32_t i = from; i < to; i++) {
        size *= all->factor[all->place.order[i]];
        left |= 1u << all->place.order[i];
    }
    bool allowed =
        size <= (y ? all->fan_y : all->fan_x) && optimal_side_allowed(all->model, all->level, y, left);
    for (uint32_t i = from; allowed && i < to; i++) {
        allowed = next_places(all->model, all->level, left) >> all->place.order[i] & 1u;
        left &= ~(1u << all->place.order[i]);
    }
    return allowed;
}

/* Children are numbered in the order of the loops and laid row by row, so it is the same place wherever X
 * ends: is this the first such end? */
static bool is_first_split(const struct all_places *all, uint32_t n)
{
    for (uint32_t split = 0; split < all->place.split; split++)
        if (is_side(all, 0, split, false) && is_side(all, split, n, true))
            return false;
    return true;
}

/* The loops of `x`, then those of `y`, in all orders from place n on. */
static bool order_loops(struct all_places *all, uint32_t x, uint32_t y, uint32_t n)
{
    const uint32_t n_dim = all->model->problem->n_dim;
    uint8_t *order = all->place.order;
    if (!x && !y) {
        uint32_t done = 0;
        if (!is_first_split(all, n))
            return true;
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
    struct all_places all = {.model = model, .factor = factor, .level = l, .visit = visit, .self = self};
    const uint32_t n_dim = model->problem->n_dim;
    uint32_t loops = 0;
    architecture_fanout(model->arch, l, &all.fan_x, &all.fan_y);
    for (uint32_t d = 0; d < n_dim; d++)
        loops |= (uint32_t)(factor[d] > 1) << d;
    for (uint32_t x = 0;; x = (x - loops) & loops) {
        uint64_t wide = 1, high = 1;
        for (uint32_t d = 0; d < n_dim; d++)
            *(x >> d & 1u ? &wide : &high) *= factor[d];
        all.place.split = (uint8_t)__builtin_popcount(x);
        if (wide <= all.fan_x && high <= all.fan_y && optimal_side_allowed(model, l, false, x) &&
            optimal_side_allowed(model, l, true, loops & ~x) && !order_loops(&all, x, loops & ~x, 0))
            return false;
        if (x == loops)
            return true;
    }
}

/* ---------------------------------------- the best */

enum { LOOP_MAX = 7 }; /* of more loops the places are too many to look at: their hops count 0 */

struct best_places {
    const struct optimal_places *places;
    const uint32_t *factor;
    uint32_t level, n;
    bool all;                  /* one place stands for all */
    uint32_t n_repeat;         /* 0: hops of the window tensor are those of any tile */
    const uint32_t *repeat;    /* (n_repeat) */
    optimal_place_visit worth; /* with n_repeat */
    void *self;
    struct optimal_place *place; /* (n) */
};

static bool is_diagonal(const struct optimal_model *model, const uint32_t *factor, uint32_t d)
{
    return model->partner[d] < model->problem->n_dim && factor[d] > 1 && factor[model->partner[d]] > 1;
}

/* Columns and rows of the mesh below level l, as the cost model takes them. */
static void mesh_size(const struct optimal_model *model, uint32_t l, const uint32_t *factor,
                      const struct optimal_place *place, uint64_t *width, uint64_t *height)
{
    uint64_t wide = 1, high = 1;
    for (uint32_t i = 0; i < model->problem->n_dim; i++)
        *(i < place->split ? &wide : &high) *= factor[place->order[i]];
    architecture_fanout(model->arch, l, width, height);
    *width = *width > wide ? *width : wide;
    *height = *height > high ? *height : high;
}

/* Hops of tensor t, or less where two loops move one rank of it: groups that differ in these only count as
 * one. */
static double even_hops(const struct best_places *best, const struct optimal_place *place, uint32_t t)
{
    const struct optimal_model *model = best->places->model;
    struct spatial_loop loop[PROBLEM_DIM_MAX];
    uint32_t n = 0;
    uint64_t width, height;
    const bool alone = optimal_is_alone(model, best->level, t);
    for (uint32_t i = 0; i < model->problem->n_dim && best->factor[place->order[i]] > 1; i++) {
        const uint32_t d = place->order[i];
        const bool merged = (int)t == model->window && is_diagonal(model, best->factor, d);
        loop[n++] =
            (struct spatial_loop){best->factor[d], alone || ((model->relevant[t] >> d & 1u) && !merged)};
    }
    if (n == 0)
        return 0;
    mesh_size(model, best->level, best->factor, place, &width, &height);
    return mesh_hops(loop, n, width, height, &best->places->scratch) * (1 - 1e-12);
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

/* Are the hops of a no more than those of b, whatever the tile? */
static bool is_as_good(const struct optimal_place *a, const struct optimal_place *b, uint32_t n_tensor)
{
    bool good = true;
    for (uint32_t t = 0; t < n_tensor; t++)
        good = good && a->hops[t] <= b->hops[t];
    for (uint32_t i = 0; i < a->n_sum; i++)
        good = good && a->sum[i].hops <= b->sum[i].hops;
    return good;
}

static void add_sums(const struct best_places *best, struct optimal_place *place);

static bool keep_best(void *self, const struct optimal_place *place)
{
    struct best_places *best = self;
    const uint32_t n_tensor = best->places->model->problem->n_tensor;
    struct optimal_place now = *place;
    uint32_t n = 0;
    for (uint32_t t = 0; t < n_tensor; t++)
        now.hops[t] = even_hops(best, place, t);
    if (best->all || (best->n == OPTIMAL_PLACE_MAX && !best->n_repeat)) {
        merge_places(best, &now);
        return true;
    }
    if (best->n_repeat) {
        if (!best->worth(best->self, &now))
            return true;
        add_sums(best, &now);
    }
    for (uint32_t i = 0; i < best->n; i++) {
        if (is_as_good(&best->place[i], &now, n_tensor))
            return true;
        if (!is_as_good(&now, &best->place[i], n_tensor))
            best->place[n++] = best->place[i];
    }
    best->n = n;
    if (n == OPTIMAL_PLACE_MAX) /* of a diagonal */
        return false;
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
    const bool costs = hops_cost(places->model, l);
    struct best_places best = {.places = places, .factor = factor, .level = l, .place = out};
    uint32_t n_loop = 0;
    for (uint32_t d = 0; d < places->model->problem->n_dim; d++) {
        best.all = best.all || is_diagonal(places->model, factor, d);
        n_loop += factor[d] > 1;
    }
    (void)optimal_places_all(places->model, l, factor, costs && n_loop <= LOOP_MAX ? keep_best : keep_first,
                             &best);
    out[0].open = out[0].open || (costs && n_loop > LOOP_MAX);
    return best.n;
}

/* ---------------------------------------- two loops that move one rank */

/* How tiles repeat below a level whose children have tiles of these extents (n_dim): two 16-bit numbers, one
 * for each rank of two spatial loops, 0: they do not. */
static uint32_t repeat_of(const struct optimal_model *model, const uint32_t *factor, const uint32_t *extent)
{
    uint32_t repeat = 0;
    for (uint32_t d = 0; d < model->problem->n_dim; d++) {
        const uint32_t p = model->partner[d];
        if (!is_diagonal(model, factor, d) || p > d)
            continue;
        const uint32_t a = model->step[d] * extent[d], b = model->step[p] * extent[p];
        const uint32_t divisor = (uint32_t)greatest_common_divisor(a, b);
        const bool repeats = b / divisor < factor[d] && a / divisor < factor[p];
        repeat = repeat << 16 | (repeats ? b / divisor << 8 | a / divisor : 0);
    }
    return repeat;
}

/* One rank of the window tensor, of two loops or one: children (i, j) and (i + down, j - up) have the same
 * tile. */
struct rank_loops {
    uint32_t n, m, stride_n, stride_m;
    uint32_t down, up;
};

struct group_walk {
    const struct optimal_places *places;
    struct rank_loops rank[PROBLEM_DIM_MAX];
    uint32_t n_rank, n_group;
    uint32_t width;
    double centre, hops;
};

/* The group of the children `base` + member (n). */
static void count_group(struct group_walk *walk, uint32_t base, uint32_t n)
{
    const struct hop_scratch *scratch = &walk->places->scratch;
    uint32_t furthest = 0, n_column = 0;
    walk->n_group++;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t child = base + scratch->member[i], row = child / walk->width;
        const uint32_t column = child - row * walk->width;
        furthest = column > furthest ? column : furthest;
        if (scratch->seen[column] != walk->n_group) {
            scratch->seen[column] = walk->n_group;
            scratch->low[column] = scratch->down[column] = row;
            scratch->base[n_column++] = column;
        } else if (row < scratch->low[column]) {
            scratch->low[column] = row;
        } else if (row > scratch->down[column]) {
            scratch->down[column] = row;
        }
    }
    walk->hops += furthest;
    for (uint32_t i = 0; i < n_column; i++)
        walk->hops += fmax(0, walk->centre - scratch->low[scratch->base[i]]) +
                      fmax(0, scratch->down[scratch->base[i]] - walk->centre);
}

/* All groups, rank by rank: where a group begins, and how its members follow. */
static void walk_groups(struct group_walk *walk, uint32_t r, uint32_t base, uint32_t n)
{
    uint32_t *member = walk->places->scratch.member;
    if (r == walk->n_rank) {
        count_group(walk, base, n);
        return;
    }
    const struct rank_loops *rank = &walk->rank[r];
    for (uint32_t i = 0; i < rank->n; i++)
        for (uint32_t j = 0; j < rank->m; j++) {
            uint32_t k = 1;
            if (rank->down && i >= rank->down && j + rank->up < rank->m)
                continue;
            for (; rank->down && i + k * rank->down < rank->n && j >= k * rank->up; k++)
                for (uint32_t q = 0; q < n; q++)
                    member[k * n + q] =
                        member[q] + k * (rank->down * rank->stride_n - rank->up * rank->stride_m);
            walk_groups(walk, r + 1, base + i * rank->stride_n + j * rank->stride_m, k * n);
        }
}

/* Of the window tensor, exactly. */
static double repeated_hops(const struct best_places *best, const struct optimal_place *place,
                            uint32_t repeat)
{
    const struct optimal_model *model = best->places->model;
    struct group_walk walk = {.places = best->places};
    uint32_t stride[PROBLEM_DIM_MAX], inside = 1, n = 1;
    uint64_t width, height;
    mesh_size(model, best->level, best->factor, place, &width, &height);
    walk.width = (uint32_t)width;
    walk.centre = ((double)height - 1) / 2;
    for (uint32_t i = 0; i < model->problem->n_dim; i++) {
        stride[place->order[i]] = inside;
        inside *= best->factor[place->order[i]];
    }
    for (uint32_t d = model->problem->n_dim; d-- > 0;) { /* as in repeat_of, the last first */
        const uint32_t p = model->partner[d];
        if (!is_diagonal(model, best->factor, d) || p > d)
            continue;
        walk.rank[walk.n_rank++] = (struct rank_loops){best->factor[d], best->factor[p],     stride[d],
                                                       stride[p],       repeat >> 8 & 0xffu, repeat & 0xffu};
        repeat >>= 16;
    }
    best->places->scratch.member[0] = 0;
    for (uint32_t d = 0; d < model->problem->n_dim; d++) {
        if (is_diagonal(model, best->factor, d))
            continue;
        if (model->relevant[model->window] >> d & 1u) {
            walk.rank[walk.n_rank++] = (struct rank_loops){best->factor[d], 1, stride[d], 0, 0, 0};
            continue;
        }
        for (uint32_t k = 1; k < best->factor[d]; k++)
            for (uint32_t q = 0; q < n; q++)
                best->places->scratch.member[k * n + q] = best->places->scratch.member[q] + k * stride[d];
        n *= best->factor[d];
    }
    memset(best->places->scratch.seen, 0, width * sizeof *best->places->scratch.seen);
    walk_groups(&walk, 0, 0, n);
    return walk.hops * (1 - 1e-12);
}

static void add_sums(const struct best_places *best, struct optimal_place *place)
{
    double least = INFINITY;
    place->n_sum = best->n_repeat;
    for (uint32_t i = 0; i < best->n_repeat; i++) {
        place->sum[i] = (struct optimal_sum){best->repeat[i], repeated_hops(best, place, best->repeat[i])};
        least = fmin(least, place->sum[i].hops);
    }
    place->hops[best->places->model->window] = least;
}

/* Every way in which tiles of the spread can repeat below level l; 0: too many. */
static uint32_t list_repeats(const struct optimal_model *model, const struct optimal_spread *spread,
                             uint32_t l, uint32_t *repeat)
{
    const uint32_t *factor = spread->factor[l];
    uint32_t extent[PROBLEM_DIM_MAX] = {0}, dims = 0, n = 0;
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        if (is_diagonal(model, factor, d)) {
            if (factor[d] > UINT8_MAX)
                return 0;
            dims |= 1u << d;
        }
    if (__builtin_popcount(dims) > 4)
        return 0;
    for (uint32_t i = 0; i < model->lattice.n; i++) {
        if (lattice_mix(&model->lattice, 0, i, dims) != i)
            continue;
        bool left = true;
        for (uint32_t d = 0; d < model->problem->n_dim; d++) {
            const uint32_t inside = l ? spread->span[l - 1][d] : 1;
            const uint32_t most = model->problem->bound[d] / spread->span[model->arch->n_level - 1][d];
            left = left && most % model->lattice.extent[d][i] == 0;
            extent[d] = model->lattice.extent[d][i] * inside;
        }
        if (!left)
            continue;
        const uint32_t now = repeat_of(model, factor, extent);
        uint32_t k = 0;
        while (k < n && repeat[k] != now)
            k++;
        if (k < n)
            continue;
        if (n == OPTIMAL_SUM_MAX)
            return 0;
        repeat[n++] = now;
    }
    return n;
}

uint32_t optimal_places_diagonal(const struct optimal_places *places, const struct optimal_spread *spread,
                                 uint32_t l, optimal_place_visit worth, void *self, bool *all,
                                 struct optimal_place *out)
{
    const struct optimal_model *model = places->model;
    uint32_t repeat[OPTIMAL_SUM_MAX], n_loop = 0;
    struct best_places best = {.places = places,
                               .factor = spread->factor[l],
                               .level = l,
                               .repeat = repeat,
                               .worth = worth,
                               .self = self,
                               .place = out};
    *all = false;
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        n_loop += spread->factor[l][d] > 1;
    if (!hops_cost(model, l) || n_loop > LOOP_MAX || optimal_is_alone(model, l, (uint32_t)model->window) ||
        (l > 0 && !((uint32_t)model->keep[l - 1] >> model->window & 1u)))
        return 0;
    best.n_repeat = list_repeats(model, spread, l, repeat);
    *all = best.n_repeat > 0 && optimal_places_all(model, l, spread->factor[l], keep_best, &best);
    return *all ? best.n : 0;
}

double optimal_hops(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t l,
                    uint32_t t, bool known, uint32_t node)
{
    const struct optimal_place *place = spread->place[l];
    /* where the child bypasses the tensor words are scaled and hops are not ("Bypass", docs/cost-model.md) */
    if (!place || (l > 0 && !((uint32_t)model->keep[l - 1] >> t & 1u)))
        return 0;
    if (!known || (int)t != model->window || place->n_sum == 0)
        return place->hops[t];
    uint32_t extent[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        extent[d] = spread->tiles->extent[d][node] * (l ? spread->span[l - 1][d] : 1);
    const uint32_t repeat = repeat_of(model, spread->factor[l], extent);
    for (uint32_t i = 0; i < place->n_sum; i++)
        if (place->sum[i].repeat == repeat)
            return place->sum[i].hops;
    return place->hops[t];
}

/* ---------------------------------------- all levels */

enum dse_status optimal_menu_new(const struct optimal_model *model, struct arena *arena,
                                 struct optimal_menu **out, struct dse_error *err)
{
    struct optimal_menu *menu = arena_alloc(arena, 1, sizeof *menu);
    *out = menu;
    DSE_TRY(arena_check(arena, "places of spatial loops", err));
    menu->place = arena_alloc_unset(arena, model->arch->n_level, sizeof *menu->place);
    menu->diagonal = arena_alloc_unset(arena, OPTIMAL_PLACE_MAX, sizeof *menu->diagonal);
    DSE_TRY(arena_check(arena, "places of spatial loops", err));
    return optimal_places_new(model, arena, &menu->places, err);
}

/* Pick the first of each level. */
static void pick_first(struct optimal_menu *menu)
{
    menu->n_pick = 1;
    for (uint32_t l = 0; l < menu->places.model->arch->n_level; l++) {
        menu->n_pick *= menu->n_place[l];
        menu->pick[l] = 0;
    }
}

void optimal_menu_begin(struct optimal_menu *menu, const struct optimal_spread *spread)
{
    for (uint32_t l = 0; l < menu->places.model->arch->n_level; l++)
        menu->n_place[l] = optimal_places_list(&menu->places, l, spread->factor[l], menu->place[l]);
    menu->expanded = false;
    pick_first(menu);
}

void optimal_menu_pick(const struct optimal_menu *menu, struct optimal_spread *spread)
{
    for (uint32_t l = 0; l < menu->places.model->arch->n_level; l++)
        spread->place[l] = &menu->place[l][menu->pick[l]];
}

bool optimal_menu_next(struct optimal_menu *menu)
{
    for (uint32_t l = 0; menu->n_pick > 0 && l < menu->places.model->arch->n_level; l++) {
        if (++menu->pick[l] < menu->n_place[l])
            return true;
        menu->pick[l] = 0;
    }
    return false;
}

struct worth {
    struct optimal_spread spread;
    uint32_t level;
    optimal_spread_worth worth;
    void *self;
};

static bool is_worth(void *self, const struct optimal_place *place)
{
    struct worth *worth = self;
    worth->spread.place[worth->level] = place;
    return worth->worth(worth->self, &worth->spread);
}

bool optimal_menu_expand(struct optimal_menu *menu, const struct optimal_spread *spread,
                         optimal_spread_worth worth, void *self)
{
    const struct optimal_model *model = menu->places.model;
    bool any = false;
    for (uint32_t l = 0; !menu->expanded && l < model->arch->n_level; l++) {
        struct worth asked = {*spread, l, worth, self};
        bool all;
        if (!menu->place[l][0].open || !optimal_is_diagonal(model, spread, 1u << l))
            continue;
        const uint32_t n =
            optimal_places_diagonal(&menu->places, spread, l, is_worth, &asked, &all, menu->diagonal);
        if (!all)
            continue;
        memcpy(menu->place[l], menu->diagonal, n * sizeof *menu->diagonal);
        menu->n_place[l] = n;
        any = true;
    }
    menu->expanded = true;
    if (any)
        pick_first(menu);
    return any;
}
