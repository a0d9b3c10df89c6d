/* The dynamic programme. A level's spatial loops leave a node as it is. Its temporal loops are minima over
 * divisors, one pass for each prime, so that a level costs a multiple of its nodes and not of all pairs of
 * tiles (optimal_step.c has the pairs). */
#include "engines/optimal/optimal_sweep.h"

#include <math.h>
#include <string.h>

#include "engines/optimal/optimal_limits.h"
#include "engines/optimal/optimal_sweep_events.h"

/* fmin looks for NaN. */
static inline double lower(double a, double b)
{
    return a < b ? a : b;
}

enum { WATCH_WORK = 1 << 20 };

bool optimal_watch_ends(struct optimal_watch *watch, uint32_t work)
{
    if (!watch || watch->ended)
        return watch != NULL;
    watch->work += work;
    if (watch->work >= WATCH_WORK) {
        watch->work = 0;
        watch->ended = watch->over(watch->self);
    }
    return watch->ended;
}

enum dse_status optimal_sweep_new(const struct optimal_model *model, struct arena *arena,
                                  struct optimal_sweep **out, struct dse_error *err)
{
    struct optimal_sweep *sweep = arena_alloc(arena, 1, sizeof *sweep);
    const uint32_t n = model->lattice.n;
    *out = sweep;
    DSE_TRY(arena_check(arena, "a sweep over tiles", err));
    sweep->model = model;
    sweep->arena = arena;
    sweep->most_masks = OPTIMAL_MASK_MAX;
    DSE_TRY(lattice_room(&model->lattice, arena, &sweep->tiles, err));
    for (uint32_t i = 0; i < sizeof sweep->scratch / sizeof sweep->scratch[0]; i++)
        sweep->scratch[i] = arena_alloc_unset(arena, n, sizeof(double));
    for (uint32_t e = 0; e < model->n_event; e++) {
        sweep->words[e] = arena_alloc_unset(arena, n, sizeof(double));
        sweep->close[e] = arena_alloc_unset(arena, n, sizeof(double));
        if (model->window < 0)
            continue;
        sweep->half[e] = arena_alloc_unset(arena, n, sizeof(double));
        sweep->settle[e] = arena_alloc_unset(arena, n, sizeof(double));
    }
    for (uint32_t l = 0; l < model->arch->n_level; l++)
        sweep->least[l] = arena_alloc_unset(arena, n, sizeof(double));
    sweep->flag = arena_alloc_unset(arena, n, 1);
    for (uint32_t l = 0; l < model->arch->n_level && model->window >= 0; l++)
        sweep->match[l] = arena_alloc_unset(arena, n, 1);
    sweep->same = arena_alloc_unset(arena, n, sizeof *sweep->same);
    sweep->other = arena_alloc_unset(arena, n, sizeof *sweep->other);
    for (uint32_t d = 0; d < model->problem->n_dim; d++) {
        const uint32_t partner = model->partner[d];
        if (partner < model->problem->n_dim)
            sweep->sums |= 1u << d;
        if (partner < d)
            sweep->pair[d] = sweep->pair[partner] = arena_alloc_unset(arena, n, sizeof *sweep->pair[d]);
    }
    sweep->ratio = arena_alloc_unset(arena, n, sizeof *sweep->ratio);
    return arena_check(arena, "a sweep over tiles", err);
}

/* The sets at the last place, and those of all places, twice each: before and after its loops. */
static double count_masks(const struct optimal_model *model, double *all)
{
    double n = 1, open[PROBLEM_TENSOR_MAX];
    for (uint32_t t = 0; t < model->problem->n_tensor; t++)
        open[t] = 1;
    *all = 1;
    for (uint32_t l = 0; l < model->arch->n_level; l++) {
        n += 1; /* as they come, of one tensor alone, none */
        for (uint32_t t = 0; t < model->problem->n_tensor; t++) {
            n += open[t] - 1;
            open[t] += model->opens[l] & model->of_tensor[t] ? open[t] : 0;
        }
        *all += 2 * n;
    }
    return n;
}

double optimal_most_masks(const struct optimal_model *model)
{
    double all;
    return model->window < 0 ? ldexp(1, (int)model->n_event) : count_masks(model, &all);
}

double optimal_all_masks(const struct optimal_model *model)
{
    double all;
    (void)count_masks(model, &all);
    return all;
}

static void fill(double *value, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        value[i] = INFINITY;
}

static void lower_all(double *into, const double *from, uint32_t n)
{
#pragma omp simd
    for (uint32_t i = 0; i < n; i++)
        into[i] = lower(into[i], from[i]);
}

/* May states of the events `fewer` stand for those of `mask`? What slides has to go on sliding. */
static bool is_part(uint32_t fewer, uint32_t mask)
{
    return (fewer & ~mask) == 0 && fewer >> OPTIMAL_DIRECT == (mask >> OPTIMAL_DIRECT & fewer);
}

uint32_t optimal_states_find(const struct optimal_states *states, uint32_t mask)
{
    uint32_t found = states->n;
    for (uint32_t i = 0; i < states->n; i++) {
        if (states->mask[i] == mask)
            return i;
        if (states->full && is_part(states->mask[i], mask) &&
            (found == states->n ||
             __builtin_popcount(states->mask[i]) > __builtin_popcount(states->mask[found])))
            found = i;
    }
    return found;
}

/* The values of a mask, made when it comes up first; `*more` is what is to be paid for events of it that they
 * do without, as the table is full. There is always a mask 0 to do with. NULL without memory. */
static double *values_of(struct optimal_sweep *sweep, struct optimal_states *states, uint32_t mask,
                         double *more)
{
    uint32_t i = 0;
    *more = 0;
    while (i < states->n && states->mask[i] != mask)
        i++;
    if (i < states->n)
        return states->value[i];
    if (i == sweep->most_masks) {
        states->full = true;
        i = optimal_states_find(states, mask);
        for (uint32_t e = 0; e < sweep->model->n_event; e++)
            *more += (mask & ~states->mask[i]) >> e & 1u ? sweep->least_event[e] : 0;
        return states->value[i];
    }
    if (!states->value[i]) /* else it is that of an earlier spread */
        states->value[i] = arena_alloc_unset(sweep->arena, sweep->model->lattice.n, sizeof(double));
    if (!states->value[i])
        return NULL;
    fill(states->value[i], sweep->tiles.n);
    states->mask[i] = mask;
    states->n++;
    return states->value[i];
}

/* A table with no state but that of no open event, which is not reached. */
static bool begin_states(struct optimal_sweep *sweep, struct optimal_states *states)
{
    double more;
    states->n = 0;
    states->full = false;
    return values_of(sweep, states, 0, &more) != NULL;
}

static bool merge(struct optimal_sweep *sweep, struct optimal_states *states, uint32_t mask,
                  const double *from)
{
    double more, *value = values_of(sweep, states, mask, &more);
    for (uint32_t i = 0; value && more > 0 && i < sweep->tiles.n; i++)
        value[i] = lower(value[i], from[i] + more);
    if (value && more == 0)
        lower_all(value, from, sweep->tiles.n);
    return value != NULL;
}

/* into = min(into, from + what the events of `mask` cost). False: the search is over. */
static bool close_into(struct optimal_sweep *sweep, const double *from, uint32_t mask, double *into)
{
    double *sum = sweep->scratch[4];
    if (optimal_watch_ends(sweep->watch, 4 * sweep->tiles.n))
        return false;
    for (uint32_t left = mask & 0xffffu; left; left &= left - 1) {
        const uint32_t e = (uint32_t)__builtin_ctz(left);
        const bool whole = mask >> (OPTIMAL_DIRECT + e) & 1u || !optimal_is_window(sweep->model, e);
        const double *price = whole ? sweep->close[e] : sweep->settle[e];
#pragma omp simd
        for (uint32_t i = 0; i < sweep->tiles.n; i++)
            sum[i] = from[i] + price[i];
        from = sum;
    }
    lower_all(into, from, sweep->tiles.n);
    return true;
}

/* Minima over what the loops of `dims` of level l may do. */
static void turn(struct optimal_sweep *sweep, uint32_t l, uint32_t dims, double *value)
{
    const struct optimal_model *model = sweep->model;
    const struct lattice *tiles = &sweep->tiles;
    lattice_sweep(tiles, dims & ~model->limited[l], value);
    for (uint32_t left = dims & model->limited[l]; left; left &= left - 1) {
        const uint32_t d = (uint32_t)__builtin_ctz(left);
        uint32_t n = 0;
        for (uint32_t i = 1; i < tiles->n; i++)
            if (tiles->part[d][i] == i && optimal_factor_allowed(model, l, false, d, tiles->extent[d][i]))
                sweep->ratio[n++] = i;
        lattice_sweep_ratios(tiles, sweep->ratio, n, value);
    }
}

/* The values of `run`, where the events `open` (0: none) are open: on with loops among `dims` that leave them
 * alone; then they stay open, or close and any loop of `dims` follows. `rest` gets the latter. */
static bool end_run(struct optimal_sweep *sweep, uint32_t l, uint32_t open, uint32_t dims, double *run,
                    double *rest)
{
    bool any = false;
    for (uint32_t i = 0; i < sweep->tiles.n && !any; i++)
        any = run[i] < INFINITY;
    if (!any)
        return true;
    if (open) {
        turn(sweep, l, dims & optimal_dims_around(sweep->model, open), run);
        if (!merge(sweep, sweep->after, open, run))
            return false;
    }
    return close_into(sweep, run, open, rest);
}

/* From values with the events of `mask` open to all with those that a loop leaves open, but for `known`. */
static bool begin_runs(struct optimal_sweep *sweep, uint32_t mask, uint32_t known, const double *from)
{
    const struct optimal_model *model = sweep->model;
    const struct lattice *tiles = &sweep->tiles;
    double *run = sweep->scratch[1], more;
    for (uint32_t d = 0; d < model->problem->n_dim; d++) {
        const uint32_t open = mask & model->stays[d];
        bool first = open && open != known && (sweep->dims >> d & 1u) && tiles->extent[d][tiles->n - 1] > 1;
        for (uint32_t k = 0; k < d && first; k++)
            first = (mask & model->stays[k]) != open || !(sweep->dims >> k & 1u) ||
                    tiles->extent[k][tiles->n - 1] == 1;
        if (!first)
            continue;
        double *into = values_of(sweep, &sweep->run, open, &more);
        fill(run, more > 0 ? tiles->n : 0);
        if (!into || !close_into(sweep, from, mask & ~(open | open << OPTIMAL_DIRECT), more > 0 ? run : into))
            return false;
        for (uint32_t i = 0; more > 0 && i < tiles->n; i++)
            into[i] = lower(into[i], run[i] + more);
    }
    return true;
}

/* Loops that leave some events alone, inside all others: those of the most events first, as loops that leave
 * fewer alone follow them. */
static bool runs(struct optimal_sweep *sweep, uint32_t l, double *rest)
{
    const struct optimal_states *in = sweep->before;
    struct optimal_states *run = &sweep->run;
    if (!begin_states(sweep, run))
        return false;
    for (uint32_t i = 0; i < in->n; i++)
        if (!begin_runs(sweep, in->mask[i], 0, in->value[i]))
            return false;
    for (uint32_t size = sweep->model->n_event; size > 0; size--)
        for (uint32_t i = 0; i < run->n; i++)
            if ((uint32_t)__builtin_popcount(run->mask[i]) == size &&
                (!end_run(sweep, l, run->mask[i], sweep->dims, run->value[i], rest) ||
                 !begin_runs(sweep, run->mask[i], run->mask[i], run->value[i])))
                return false;
    lower_all(rest, run->value[0], sweep->tiles.n);
    return true;
}

/* Add what a slide along p costs: parts of the words (optimal_slide_words), priced so that the parts add up
 * to no more than the whole. */
static void add_slide(struct optimal_sweep *sweep, uint32_t direct, uint32_t l, uint32_t p, bool after,
                      double *value)
{
    const struct optimal_model *model = sweep->model;
    const struct lattice *tiles = &sweep->tiles;
    double *words = sweep->scratch[2], *price = sweep->scratch[4];
    for (uint32_t left = direct; left; left &= left - 1) {
        const uint32_t e = (uint32_t)__builtin_ctz(left);
        const struct optimal_slide slide = optimal_slide_of(sweep, e, l, p);
#pragma omp simd
        for (uint32_t i = 0; i < tiles->n; i++) {
            const double width = optimal_slide_width(&slide, i);
            const double stays = width - slide.move * (int32_t)slide.tile_p[i];
            const double kept = (stays > 0 ? stays : 0) * (sweep->words[e][i] / width);
            words[i] = after ? kept : sweep->words[e][i] - kept;
        }
        /* the tile is that of the slide's beginning */
        optimal_events_price(sweep, e, after ? model->event[e].from : l, true, words, price);
        for (uint32_t i = 0; i < tiles->n; i++)
            value[i] += price[i];
    }
}

/* From `from` on the window slides along p, `direct` being the events that it serves and `open` those that p
 * leaves alone: once as usual, once as if the slide went on. */
static bool slide_on(struct optimal_sweep *sweep, uint32_t l, uint32_t p, uint32_t direct, uint32_t open,
                     const double *from, double *rest)
{
    const struct optimal_model *model = sweep->model;
    const struct lattice *tiles = &sweep->tiles;
    const uint32_t sum = 1u << p | 1u << model->partner[p];
    const uint32_t rank = (sum | ~model->relevant[model->window]) & sweep->dims;
    double *run = sweep->scratch[1];
    memcpy(run, from, tiles->n * sizeof *run);
    turn(sweep, l, 1u << p, run);
    add_slide(sweep, direct, l, p, true, run);
    if (!end_run(sweep, l, open, sweep->dims, run, rest))
        return false;
    const uint32_t *same = sweep->pair[p];
    bool any = false;
    for (uint32_t i = 0; i < tiles->n; i++) { /* equal moves of the other dimension */
        sweep->flag[i] =
            same[i] == i ? optimal_may_slide_on(model, &sweep->spread, l, i, p) : sweep->flag[same[i]];
        run[i] = sweep->flag[i] ? from[i] : INFINITY;
        any = any || run[i] < INFINITY;
    }
    if (any) {
        turn(sweep, l, 1u << p, run);
        if (!end_run(sweep, l, open, sweep->dims, run, rest))
            return false;
    }
    uint32_t two[PROBLEM_DIM_MAX]; /* a loop of bound 2, and more of p further out */
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        two[d] = d == p ? 2 : 1;
    if (tiles->extent[p][tiles->n - 1] % 2 != 0)
        return true;
    const uint32_t by = lattice_node(tiles, two);
    fill(run, tiles->n);
    for (uint32_t i = 0; i + by < tiles->n; i++)
        if (from[i] < INFINITY && optimal_may_slide_twice(model, &sweep->spread, l, i, p))
            run[i + by] = from[i];
    double *short_rest = sweep->scratch[2];
    fill(short_rest, tiles->n);
    if (!end_run(sweep, l, open, rank & ~(1u << p), run, short_rest))
        return false;
    turn(sweep, l, rank & ~(1u << p), short_rest);
    return merge(sweep, sweep->after, 0, short_rest);
}

/* The innermost loop slides the window. */
static bool slides(struct optimal_sweep *sweep, uint32_t l, uint32_t p, double *rest)
{
    const struct optimal_model *model = sweep->model;
    const struct optimal_states *in = sweep->before;
    const uint32_t stays = model->stays[p];
    double *from = sweep->scratch[3];
    for (uint32_t i = 0; i < in->n; i++) {
        const uint32_t direct = in->mask[i] >> OPTIMAL_DIRECT, open = in->mask[i] & stays;
        bool first = direct != 0;
        for (uint32_t k = 0; k < i && first; k++)
            first = in->mask[k] >> OPTIMAL_DIRECT != direct || (in->mask[k] & stays) != open;
        if (!first)
            continue;
        fill(from, sweep->tiles.n);
        for (uint32_t k = i; k < in->n; k++)
            if (in->mask[k] >> OPTIMAL_DIRECT == direct && (in->mask[k] & stays) == open)
                if (!close_into(sweep, in->value[k], in->mask[k] & 0xffffu & ~open & ~direct, from))
                    return false;
        add_slide(sweep, direct, l, p, false, from);
        if (!slide_on(sweep, l, p, direct, open, from, rest))
            return false;
    }
    return true;
}

double optimal_sweep_left(const struct optimal_sweep *sweep, uint32_t l, uint32_t mask)
{
    double sum = 0;
    for (uint32_t e = 0; e < sweep->model->n_event; e++)
        sum += (mask >> e & 1u) || sweep->model->event[e].from > l ? sweep->least_event[e] : 0;
    return sum;
}

/* Level l's own events open; states that do not fit, or lead to `limit`, go. */
static void open_events(struct optimal_sweep *sweep, uint32_t l, double limit)
{
    const struct optimal_model *model = sweep->model;
    const struct lattice *tiles = &sweep->tiles;
    struct optimal_states *out = &sweep->at[l + 1];
    const uint8_t *fits = &model->fits[l][lattice_node(&model->lattice, sweep->spread.span[l])];
    uint32_t n = 0;
    for (uint32_t i = 0; i < out->n; i++) {
        double *value = out->value[i];
        bool any = false;
        out->mask[i] = optimal_mask_open(model, l, out->mask[i]);
        const double left = limit * (1 + 1e-12) - optimal_sweep_left(sweep, l, out->mask[i]); /* rounding */
        for (uint32_t e = 0; model->whole && e < model->n_event; e++)
            for (uint32_t node = 0; (model->whole >> e & 1u) && model->event[e].from == l && node < tiles->n;
                 node++)
                value[node] += sweep->close[e][node];
        for (uint32_t node = 0; node < tiles->n; node++) {
            if (value[node] >= left || !fits[tiles->whole[node]])
                value[node] = INFINITY;
            else
                any = true;
        }
        if (!any)
            continue;
        out->value[i] = out->value[n];
        out->value[n] = value;
        out->mask[n++] = out->mask[i];
    }
    out->n = n;
}

/* Loops of sweep->dims of level l, in any order. */
static bool turn_loops(struct optimal_sweep *sweep, uint32_t l)
{
    const struct optimal_model *model = sweep->model;
    const struct optimal_states *in = sweep->before;
    double *rest = sweep->scratch[0];
    if (!begin_states(sweep, sweep->after))
        return false;
    fill(rest, sweep->tiles.n);
    for (uint32_t i = 0; i < in->n; i++) {
        if (!merge(sweep, sweep->after, in->mask[i], in->value[i]) ||
            !close_into(sweep, in->value[i], in->mask[i], rest))
            return false;
    }
    if (!runs(sweep, l, rest))
        return false;
    for (uint32_t p = 0; p < model->problem->n_dim; p++)
        if ((sweep->dims >> p & 1u) && model->partner[p] < model->problem->n_dim &&
            !slides(sweep, l, p, rest))
            return false;
    turn(sweep, l, sweep->dims, rest);
    return merge(sweep, sweep->after, 0, rest);
}

/* The temporal loops of level l, its capacity, and its own events: first the loops with a place of their own,
 * one by one, then all others. */
static bool temporal(struct optimal_sweep *sweep, uint32_t l, double limit)
{
    const uint8_t *order;
    const uint32_t n_first = optimal_first_loops(sweep->model, l, &order);
    uint32_t others = (1u << sweep->model->problem->n_dim) - 1;
    optimal_events_settle(sweep, l);
    sweep->before = &sweep->at[l];
    fill(sweep->least[l], sweep->tiles.n);
    for (uint32_t i = 0; i < sweep->before->n; i++)
        lower_all(sweep->least[l], sweep->before->value[i], sweep->tiles.n);
    for (uint32_t i = 0; i < n_first; i++) {
        sweep->dims = 1u << order[i];
        others &= ~sweep->dims;
        sweep->after = &sweep->turned[i % 2];
        if (!turn_loops(sweep, l))
            return false;
        sweep->before = sweep->after;
    }
    sweep->dims = others;
    sweep->after = &sweep->at[l + 1];
    if (!turn_loops(sweep, l))
        return false;
    open_events(sweep, l, limit);
    return true;
}

enum dse_status optimal_sweep_run(struct optimal_sweep *sweep, const struct optimal_spread *spread,
                                  struct optimal_price price, double limit, double *value,
                                  struct dse_error *err)
{
    const struct optimal_model *model = sweep->model;
    const uint32_t n_level = model->arch->n_level;
    sweep->spread = *spread;
    sweep->spread.tiles = &sweep->tiles;
    sweep->spread.close = sweep->close;
    sweep->spread.half = optimal_is_diagonal(model, spread, UINT32_MAX) ? NULL : sweep->half;
    sweep->spread.match = sweep->match;
    sweep->price = price;
    lattice_divide(&model->lattice, spread->span[n_level - 1], &sweep->tiles);
    optimal_events_begin(sweep);
    bool memory = begin_states(sweep, &sweep->at[0]);
    if (memory)
        sweep->at[0].value[0][0] = optimal_fixed_price(model, spread, price);
    uint32_t n_done = 0;
    while (n_done < n_level && memory && sweep->at[n_done].n > 0)
        memory = temporal(sweep, n_done++, limit);
    const bool ended = sweep->watch && sweep->watch->ended;
    for (uint32_t l = ended ? 0 : n_done + 1; l <= n_level; l++)
        sweep->at[l].n = 0;
    if (ended) {
        *value = 0;
        return DSE_OK;
    }
    if (!memory)
        return dse_fail(err, DSE_NO_MEMORY, "no memory for a sweep over %u tiles", sweep->tiles.n);
    const struct optimal_states *last = &sweep->at[n_level];
    *value = INFINITY;
    for (uint32_t i = 0; i < last->n; i++)
        *value = lower(*value, last->value[i][sweep->tiles.n - 1] +
                                   optimal_rest_price(model, &sweep->spread, price, last->mask[i]));
    return DSE_OK;
}
