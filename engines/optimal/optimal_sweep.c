/* The dynamic programme. A level's spatial loops shift all values. Its temporal loops are minima over
 * divisors, one pass for each prime, so that a level costs a multiple of its nodes and not of all pairs of
 * tiles (optimal_step.c has the pairs). */
#include "engines/optimal/optimal_sweep.h"

#include <math.h>
#include <string.h>

/* fmin looks for NaN. */
static inline double lower(double a, double b)
{
    return a < b ? a : b;
}

enum dse_status optimal_sweep_new(const struct optimal_model *model, struct arena *arena,
                                  struct optimal_sweep **out, struct dse_error *err)
{
    struct optimal_sweep *sweep = arena_alloc(arena, 1, sizeof *sweep);
    *out = sweep;
    DSE_TRY(arena_check(arena, "a sweep over tiles", err));
    sweep->model = model;
    sweep->arena = arena;
    for (uint32_t i = 0; i < 4; i++)
        sweep->scratch[i] = arena_alloc(arena, model->lattice.n, sizeof(double));
    for (uint32_t e = 0; e < model->n_event; e++)
        for (uint32_t i = 0; i < 2; i++)
            sweep->close[e][i] = arena_alloc(arena, model->lattice.n, sizeof(double));
    for (uint32_t l = 0; l < model->arch->n_level; l++)
        sweep->least[l] = arena_alloc(arena, model->lattice.n, sizeof(double));
    return arena_check(arena, "a sweep over tiles", err);
}

static void fill(double *value, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        value[i] = INFINITY;
}

/* The values of a mask, made when it comes up first; NULL without memory. */
static double *values_of(struct optimal_sweep *sweep, struct optimal_states *states, uint32_t mask)
{
    uint32_t i = 0;
    while (i < states->n && states->mask[i] != mask)
        i++;
    if (i < states->n)
        return states->value[i];
    if (i == OPTIMAL_MASK_MAX)
        return NULL;
    if (!states->value[i]) /* else it is that of an earlier spread */
        states->value[i] = arena_alloc_unset(sweep->arena, sweep->model->lattice.n, sizeof(double));
    if (!states->value[i])
        return NULL;
    fill(states->value[i], sweep->model->lattice.n);
    states->mask[i] = mask;
    states->n++;
    return states->value[i];
}

static bool merge(struct optimal_sweep *sweep, struct optimal_states *states, uint32_t mask,
                  const double *from)
{
    double *value = values_of(sweep, states, mask);
    for (uint32_t i = 0; value && i < sweep->model->lattice.n; i++)
        value[i] = lower(value[i], from[i]);
    return value != NULL;
}

/* `in` of level l from `out` of the level inside. */
static bool shift(struct optimal_sweep *sweep, uint32_t l)
{
    const struct lattice *lattice = &sweep->model->lattice;
    const struct optimal_states *inside = &sweep->out[l - 1];
    const uint32_t *factor = sweep->spread->factor[l], by = lattice_node(lattice, factor);
    fill(sweep->least[l], lattice->n);
    for (uint32_t i = 0; i < inside->n; i++)
        if (!values_of(sweep, &sweep->in[l], inside->mask[i]))
            return false;
    for (uint32_t node = 0; node + by < lattice->n; node++) {
        bool within = true;
        for (uint32_t d = 0; d < lattice->n_dim; d++)
            within = within && sweep->model->problem->bound[d] / lattice->extent[d][node] % factor[d] == 0;
        for (uint32_t i = 0; within && i < inside->n; i++) {
            double *value = values_of(sweep, &sweep->in[l], inside->mask[i]);
            value[node + by] = inside->value[i][node];
            sweep->least[l][node + by] = lower(sweep->least[l][node + by], value[node + by]);
        }
    }
    return true;
}

/* What event e costs when it closes at a node of level l, computed when it is asked for first. */
static double closing(struct optimal_sweep *sweep, uint32_t l, uint32_t e, bool direct, uint32_t node)
{
    const struct optimal_model *model = sweep->model;
    double *price = &sweep->close[e][direct || (int)model->event[e].tensor != model->window][node];
    if (isnan(*price))
        *price = optimal_close_price(model, sweep->spread, sweep->price, e, l, node, direct);
    return *price;
}

/* into = min(into, from + what the events of `mask` cost). */
static void close_into(struct optimal_sweep *sweep, uint32_t l, const double *from, uint32_t mask,
                       double *into)
{
    for (uint32_t i = 0; i < sweep->model->lattice.n; i++) {
        if (from[i] == INFINITY)
            continue;
        double sum = from[i];
        for (uint32_t left = mask & 0xffffu; left; left &= left - 1) {
            const uint32_t e = (uint32_t)__builtin_ctz(left);
            sum += closing(sweep, l, e, mask >> (OPTIMAL_DIRECT + e) & 1u, i);
        }
        into[i] = lower(into[i], sum);
    }
}

/* The values of `run`, where tensor t's events `open` (none: 0) stay open: on with loops that leave it alone
 * among `dims`; then they stay open, or close and any loop of `dims` follows. `rest` gets the latter. */
static bool end_run(struct optimal_sweep *sweep, uint32_t l, int t, uint32_t open, uint32_t dims, double *run,
                    double *rest)
{
    const struct optimal_model *model = sweep->model;
    bool any = false;
    for (uint32_t i = 0; i < model->lattice.n && !any; i++)
        any = run[i] < INFINITY;
    if (!any)
        return true;
    if (open) {
        lattice_sweep(&model->lattice, dims & ~model->relevant[t], run);
        if (!merge(sweep, &sweep->out[l], open, run))
            return false;
    }
    for (uint32_t e = 0; e < model->n_event; e++)
        for (uint32_t i = 0; (open >> e & 1u) && i < model->lattice.n; i++)
            if (run[i] < INFINITY)
                run[i] += closing(sweep, l, e, false, i);
    for (uint32_t i = 0; i < model->lattice.n; i++)
        rest[i] = lower(rest[i], run[i]);
    return true;
}

/* All masks in which tensor t has the same events open go on together. */
static bool runs(struct optimal_sweep *sweep, uint32_t l, double *rest)
{
    const struct optimal_model *model = sweep->model;
    const uint32_t all = (1u << model->problem->n_dim) - 1;
    const struct optimal_states *in = &sweep->in[l];
    for (uint32_t t = 0; t < model->problem->n_tensor; t++) {
        for (uint32_t i = 0; i < in->n; i++) {
            const uint32_t open = in->mask[i] & model->of_tensor[t];
            bool first = open != 0 && (all & ~model->relevant[t]) != 0;
            for (uint32_t k = 0; k < i && first; k++)
                first = (in->mask[k] & model->of_tensor[t]) != open;
            if (!first)
                continue;
            fill(sweep->scratch[1], model->lattice.n);
            for (uint32_t k = i; k < in->n; k++)
                if ((in->mask[k] & model->of_tensor[t]) == open)
                    close_into(sweep, l, in->value[k], in->mask[k] & ~(open | open << OPTIMAL_DIRECT),
                               sweep->scratch[1]);
            if (!end_run(sweep, l, (int)t, open, all, sweep->scratch[1], rest))
                return false;
        }
    }
    return true;
}

/* A part of the words of a slide, by a price of which the parts add up to no more than the whole's. */
static double slide_price(const struct optimal_sweep *sweep, uint32_t e, uint32_t l, uint32_t node,
                          uint32_t p, bool after)
{
    return optimal_event_price(sweep->model, sweep->spread, sweep->price, e,
                               optimal_slide_words(sweep->model, sweep->spread, e, l, node, p, after), true);
}

/* From `from` on the window slides along p, `direct` being the events that it serves and `open` those that p
 * leaves alone: once as usual, once as if the slide went on. */
static bool slide_on(struct optimal_sweep *sweep, uint32_t l, uint32_t p, uint32_t direct, uint32_t open,
                     const double *from, double *rest)
{
    const struct optimal_model *model = sweep->model;
    const struct lattice *lattice = &model->lattice;
    const uint32_t all = (1u << model->problem->n_dim) - 1;
    const uint32_t rank = (1u << p | 1u << model->partner[p] | ~model->relevant[model->window]) & all;
    const int still = optimal_stationary(model, p);
    double *run = sweep->scratch[1];
    memcpy(run, from, lattice->n * sizeof *run);
    lattice_sweep(lattice, 1u << p, run);
    for (uint32_t i = 0; i < lattice->n; i++)
        for (uint32_t e = 0; run[i] < INFINITY && e < model->n_event; e++)
            if (direct >> e & 1u)
                run[i] += slide_price(sweep, e, l, i, p, true);
    if (!end_run(sweep, l, still, open, all, run, rest))
        return false;
    for (uint32_t i = 0; i < lattice->n; i++) /* equal moves of the other dimension */
        run[i] = from[i] < INFINITY && optimal_may_slide_on(model, i, p) ? from[i] : INFINITY;
    lattice_sweep(lattice, 1u << p, run);
    if (!end_run(sweep, l, still, open, all, run, rest))
        return false;
    uint32_t two[PROBLEM_DIM_MAX]; /* a loop of bound 2, and more of p further out */
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        two[d] = d == p ? 2 : 1;
    if (model->problem->bound[p] % 2 != 0)
        return true;
    const uint32_t by = lattice_node(lattice, two);
    fill(run, lattice->n);
    for (uint32_t i = 0; i + by < lattice->n; i++) {
        const uint32_t left = model->problem->bound[p] / lattice->extent[p][i];
        if (left % 2 == 0 && left > 2)
            run[i + by] = from[i];
    }
    double *short_rest = sweep->scratch[2];
    fill(short_rest, lattice->n);
    if (!end_run(sweep, l, still, open, rank & ~(1u << p), run, short_rest))
        return false;
    lattice_sweep(lattice, rank & ~(1u << p), short_rest);
    return merge(sweep, &sweep->out[l], 0, short_rest);
}

/* The innermost loop slides the window. */
static bool slides(struct optimal_sweep *sweep, uint32_t l, uint32_t p, double *rest)
{
    const struct optimal_model *model = sweep->model;
    const struct optimal_states *in = &sweep->in[l];
    const int still = optimal_stationary(model, p);
    const uint32_t stays = still < 0 ? 0 : model->of_tensor[still];
    double *from = sweep->scratch[3];
    for (uint32_t i = 0; i < in->n; i++) {
        const uint32_t direct = in->mask[i] >> OPTIMAL_DIRECT, open = in->mask[i] & stays;
        bool first = direct != 0;
        for (uint32_t k = 0; k < i && first; k++)
            first = in->mask[k] >> OPTIMAL_DIRECT != direct || (in->mask[k] & stays) != open;
        if (!first)
            continue;
        fill(from, model->lattice.n);
        for (uint32_t k = i; k < in->n; k++)
            if (in->mask[k] >> OPTIMAL_DIRECT == direct && (in->mask[k] & stays) == open)
                close_into(sweep, l, in->value[k], in->mask[k] & 0xffffu & ~open & ~direct, from);
        for (uint32_t node = 0; node < model->lattice.n; node++)
            for (uint32_t e = 0; from[node] < INFINITY && e < model->n_event; e++)
                if (direct >> e & 1u)
                    from[node] += slide_price(sweep, e, l, node, p, false);
        if (!slide_on(sweep, l, p, direct, open, from, rest))
            return false;
    }
    return true;
}

/* The temporal loops of level l, its capacity, and its own events. */
static bool temporal(struct optimal_sweep *sweep, uint32_t l, double limit)
{
    const struct optimal_model *model = sweep->model;
    struct optimal_states *in = &sweep->in[l], *out = &sweep->out[l];
    double *rest = sweep->scratch[0];
    for (uint32_t e = 0; e < model->n_event; e++)
        for (uint32_t i = 0; i < 2 * model->lattice.n; i++)
            sweep->close[e][i / model->lattice.n][i % model->lattice.n] = NAN;
    fill(rest, model->lattice.n);
    for (uint32_t i = 0; i < in->n; i++) {
        if (!merge(sweep, out, in->mask[i], in->value[i]))
            return false;
        close_into(sweep, l, in->value[i], in->mask[i], rest);
    }
    if (!runs(sweep, l, rest))
        return false;
    for (uint32_t p = 0; p < model->problem->n_dim; p++)
        if (model->partner[p] < model->problem->n_dim && model->problem->bound[p] > 1 &&
            !slides(sweep, l, p, rest))
            return false;
    lattice_sweep(&model->lattice, (1u << model->problem->n_dim) - 1, rest);
    if (!merge(sweep, out, 0, rest))
        return false;
    for (uint32_t i = 0; i < out->n; i++) {
        double left = limit; /* less what is still to be paid */
        out->mask[i] = optimal_mask_open(model, l, out->mask[i]);
        for (uint32_t e = 0; e < model->n_event; e++)
            if ((out->mask[i] >> e & 1u) || model->event[e].from > l)
                left -= sweep->least_event[e];
        left += 1e-12 * limit; /* rounding */
        for (uint32_t node = 0; node < model->lattice.n; node++)
            if (!model->fits[l][node] || out->value[i][node] >= left)
                out->value[i][node] = INFINITY;
    }
    return true;
}

enum dse_status optimal_sweep_run(struct optimal_sweep *sweep, const struct optimal_spread *spread,
                                  struct optimal_price price, double limit, double *value,
                                  struct dse_error *err)
{
    const struct optimal_model *model = sweep->model;
    const struct lattice *lattice = &model->lattice;
    const uint32_t last = model->arch->n_level - 1;
    bool memory = true;
    sweep->spread = spread;
    sweep->price = price;
    for (uint32_t e = 0; e < model->n_event; e++)
        sweep->least_event[e] = optimal_least_event(model, spread, price, e);
    for (uint32_t l = 0; l <= last && memory; l++) {
        sweep->in[l].n = sweep->out[l].n = 0;
        if (l == 0) {
            double *start = values_of(sweep, &sweep->in[0], 0);
            fill(sweep->least[0], lattice->n);
            memory = start != NULL;
            if (memory)
                start[lattice_node(lattice, spread->factor[0])] =
                    sweep->least[0][lattice_node(lattice, spread->factor[0])] =
                        optimal_fixed_price(model, spread, price);
        } else {
            memory = shift(sweep, l);
        }
        memory = memory && temporal(sweep, l, limit);
    }
    if (!memory)
        return dse_fail(err, DSE_NO_MEMORY, "no memory for a sweep over %u tiles", lattice->n);
    *value = INFINITY;
    for (uint32_t i = 0; i < sweep->out[last].n; i++)
        *value = lower(*value, sweep->out[last].value[i][lattice->n - 1] +
                                   optimal_rest_price(model, spread, price, sweep->out[last].mask[i]));
    return DSE_OK;
}
