/* What the events of a sweep cost, tile by tile. */
#include "engines/optimal/optimal_sweep_events.h"

#include <math.h>

/* fmin looks for NaN. */
static inline double lower(double a, double b)
{
    return a < b ? a : b;
}

void optimal_events_price(struct optimal_sweep *sweep, uint32_t e, uint32_t l, bool linear,
                          const double *words, double *price)
{
    const struct optimal_model *model = sweep->model;
    const uint32_t known = (2u << l) - (2u << model->event[e].from);
    struct optimal_toll toll;
    if (!optimal_is_window(model, e) || !optimal_is_diagonal(model, &sweep->spread, known)) {
        optimal_toll_new(model, &sweep->spread, sweep->price, e, 0, 0, linear, &toll);
        optimal_toll_prices(&toll, words, sweep->tiles.n, price);
        return;
    }
    double *some = sweep->scratch[5], *prices = sweep->scratch[6];
    for (uint32_t i = 0; i < sweep->tiles.n; i++) {
        if (sweep->same[i] != i)
            continue;
        optimal_toll_new(model, &sweep->spread, sweep->price, e, known, i, linear, &toll);
        for (uint32_t k = 0; k < sweep->n_other; k++)
            some[k] = words[i + sweep->other[k]];
        optimal_toll_prices(&toll, some, sweep->n_other, prices);
        for (uint32_t k = 0; k < sweep->n_other; k++)
            price[i + sweep->other[k]] = prices[k];
    }
}

/* What event e costs where it closes, at level l or further out. */
static void price_event(struct optimal_sweep *sweep, uint32_t e, uint32_t l)
{
    optimal_events_price(sweep, e, l, false, sweep->words[e], sweep->close[e]);
    if (!optimal_is_window(sweep->model, e))
        return;
    double *half = sweep->scratch[1];
    for (uint32_t i = 0; i < sweep->tiles.n; i++)
        half[i] = sweep->words[e][i] / 2;
    optimal_events_price(sweep, e, l, false, half, sweep->half[e]);
}

struct optimal_slide optimal_slide_of(const struct optimal_sweep *sweep, uint32_t e, uint32_t l, uint32_t p)
{
    const struct optimal_model *model = sweep->model;
    const uint32_t q = model->partner[p], *span = sweep->spread.span[model->event[e].from];
    return (struct optimal_slide){.step_p = (double)model->step[p] * span[p],
                                  .step_q = (double)model->step[q] * span[q],
                                  .less = (double)model->step[p] + model->step[q] - 1,
                                  .move = (double)model->step[p] * sweep->spread.span[l][p],
                                  .tile_p = sweep->tiles.extent[p],
                                  .tile_q = sweep->tiles.extent[q]};
}

/* The least words of event e that a slide brings, of a window that goes on sliding after it. */
static double least_slide(const struct optimal_sweep *sweep, uint32_t e)
{
    const struct optimal_model *model = sweep->model;
    double least = INFINITY;
    for (uint32_t p = 0; p < model->problem->n_dim; p++) {
        if (model->partner[p] >= model->problem->n_dim)
            continue;
        const struct optimal_slide slide = optimal_slide_of(sweep, e, model->event[e].from + 1, p);
        for (uint32_t i = 0; i < sweep->tiles.n; i++) {
            const double width = optimal_slide_width(&slide, i), new = slide.move *(int32_t)slide.tile_p[i];
            least = lower(least, sweep->words[e][i] * (new < width ? new / width : 1));
        }
    }
    return least;
}

/* What event e is charged at least, in whichever way it ends: no tile's price is below it, so that a sweep
 * finds the same value by any limit above it. */
static double least_charge(const struct optimal_sweep *sweep, uint32_t e)
{
    const struct optimal_model *model = sweep->model;
    double least = INFINITY;
    for (uint32_t i = 0; i < sweep->tiles.n; i++)
        least = lower(least, sweep->close[e][i]);
    if (!optimal_is_window(model, e))
        return least;
    for (uint32_t l = model->event[e].from + 1; l <= model->event[e].to; l++)
        for (uint32_t i = 0; i < sweep->tiles.n; i++)
            least = sweep->match[l][i] ? lower(least, sweep->half[e][i]) : least;
    struct optimal_toll toll;
    double words = least_slide(sweep, e), slide;
    optimal_toll_new(model, &sweep->spread, sweep->price, e, 0, 0, true, &toll);
    optimal_toll_prices(&toll, &words, 1, &slide);
    return lower(least, slide * (1 - 1e-12));
}

void optimal_events_begin(struct optimal_sweep *sweep)
{
    const struct optimal_model *model = sweep->model;
    sweep->n_other = 0;
    for (uint32_t i = 0; sweep->sums && i < sweep->tiles.n; i++) {
        sweep->same[i] = lattice_mix(&sweep->tiles, 0, i, sweep->sums);
        if (sweep->same[i] == 0)
            sweep->other[sweep->n_other++] = i;
    }
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        for (uint32_t i = 0; model->partner[d] < d && i < sweep->tiles.n; i++)
            sweep->pair[d][i] = lattice_mix(&sweep->tiles, 0, i, 1u << d | 1u << model->partner[d]);
    for (uint32_t l = 0; l < model->arch->n_level && sweep->sums; l++)
        for (uint32_t i = 0; i < sweep->tiles.n; i++)
            sweep->match[l][i] = sweep->same[i] == i ? optimal_may_match(model, &sweep->spread, l, i)
                                                     : sweep->match[l][sweep->same[i]];
    for (uint32_t e = 0; e < model->n_event && !optimal_watch_ends(sweep->watch, 64 * sweep->tiles.n); e++) {
        optimal_close_words(model, &sweep->spread, e, sweep->words[e]);
        price_event(sweep, e, model->event[e].from + 1);
        sweep->least_event[e] =
            fmax(least_charge(sweep, e),
                 sweep->sharp ? optimal_least_event(model, &sweep->spread, sweep->price, e) : 0);
    }
}

void optimal_events_settle(struct optimal_sweep *sweep, uint32_t l)
{
    const struct optimal_model *model = sweep->model;
    const struct lattice *tiles = &sweep->tiles;
    const bool diagonal = optimal_is_diagonal(model, &sweep->spread, 1u << l);
    double *more = sweep->scratch[0];
    for (uint32_t i = 0; diagonal && i < tiles->n; i++)
        more[i] = sweep->same[i] == i ? optimal_spatial_price(model, &sweep->spread, sweep->price, l, i)
                                      : more[sweep->same[i]];
    for (uint32_t k = 0; diagonal && k < sweep->at[l].n; k++)
        for (uint32_t i = 0; i < tiles->n; i++)
            sweep->at[l].value[k][i] += more[i];
    for (uint32_t e = 0; e < model->n_event; e++) {
        if (diagonal && optimal_is_window(model, e) && model->event[e].from + 1 < l &&
            l <= model->event[e].to)
            price_event(sweep, e, l);
        for (uint32_t i = 0; optimal_is_window(model, e) && i < tiles->n; i++)
            sweep->settle[e][i] = sweep->match[l][i] ? sweep->half[e][i] : sweep->close[e][i];
    }
}
