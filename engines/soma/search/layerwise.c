/* Coordinate descent over the tiling numbers of layers that are not fused. A group's own times say which
 * numbers are worth pricing the whole with: between groups the DRAM runs ahead by one load of weights. */
#include "engines/soma/search/layerwise.h"

#include <math.h>
#include <string.h>

#include "costmodel/fused/fused_rule.h"

/* Finer than this gains nothing that shows: what the first and the last tile cannot hide is 1 % by then. */
enum { FINEST = 1 << 14, WORSE_IN_A_ROW = 12, SHORT_LIST = 6 };

enum { ALL_BELOW = 16 }; /* every number up to this, then so many an octave as make steps of 1/8 to 1/16 */

struct layerwise {
    const struct soma_search *search;
    struct soma_lfa_prices *prices;
    struct soma_lfa *lfa; /* as priced in `price` */
    struct soma_price *price;
    uint64_t n_max, n_priced;
};

/* A number of tiles, and what the group costs by itself. */
struct tried {
    uint32_t tiling;
    double cost;
};

static bool is_over(const struct layerwise *w)
{
    return w->n_priced >= w->n_max || soma_search_is_over(w->search);
}

/* Price the LFA as it is now; the caller takes it back where it is not better. */
static enum dse_status is_better(struct layerwise *w, bool *better, struct dse_error *err)
{
    struct soma_price price;
    DSE_TRY(soma_lfa_price(w->prices, w->lfa, w->search->machine.buffer_byte, &price, err));
    w->n_priced++;
    *better = price.cost < w->price->cost;
    if (*better)
        *w->price = price;
    return DSE_OK;
}

/* The same number for all groups, 1, 2, 4, ... until it is finer than any output. */
static enum dse_status try_uniform(struct layerwise *w, struct arena *scratch, struct dse_error *err)
{
    uint32_t n = w->lfa->n_flc;
    uint32_t *best = arena_alloc(scratch, n, sizeof *best);
    DSE_TRY(arena_check(scratch, "tiling numbers", err));
    for (uint32_t g = 0; g < n; g++)
        best[g] = w->lfa->tiling[g];
    for (uint32_t t = 1; t <= FINEST && !is_over(w); t *= 2) {
        bool better;
        for (uint32_t g = 0; g < n; g++)
            w->lfa->tiling[g] = t;
        DSE_TRY(is_better(w, &better, err));
        for (uint32_t g = 0; g < n && better; g++)
            best[g] = t;
    }
    for (uint32_t g = 0; g < n; g++)
        w->lfa->tiling[g] = best[g];
    return DSE_OK;
}

/* The numbers to try in rising order, also all samples apart and those cut in 2, 4, ...; 0: no more. */
static uint32_t next_tiling(uint32_t tiling, uint32_t batch)
{
    uint64_t step = 1, samples = batch;
    while (tiling / step >= ALL_BELOW)
        step *= 2;
    while (samples <= tiling)
        samples *= 2;
    uint64_t next = tiling + step < samples ? tiling + step : samples;
    return next <= (uint64_t)FINEST * batch && next < 1U << 24 ? (uint32_t)next : 0;
}

/* What a group takes by itself, as its share of the whole: near the best, cost changes by as much as energy
 * and time do, each to its exponent. */
static double own_cost(const struct layerwise *w, const struct soma_group_times *times)
{
    const struct objective *objective = &w->search->objective;
    uint64_t end = times->moved > times->last ? times->moved : times->last;
    double cycle = (double)(times->head_input_cycle + end + times->store_cycle);
    double energy_j = times->core_energy_j + fused_dram_energy_j(times->dram_byte, &w->search->machine);
    const double leak_j = soma_leakage_j(w->search, cycle);
    const double all_j = w->price->energy_j + soma_leakage_j(w->search, (double)w->price->cycle);
    return objective->energy_exponent * (energy_j + leak_j) / all_j +
           objective->delay_exponent * cycle / (double)w->price->cycle;
}

static void sort_in(struct tried *list, uint32_t *n, struct tried one)
{
    uint32_t at = *n < SHORT_LIST ? (*n)++ : SHORT_LIST - 1;
    if (*n == SHORT_LIST && at == SHORT_LIST - 1 && list[at].tiling && !(one.cost < list[at].cost))
        return;
    for (; at > 0 && one.cost < list[at - 1].cost; at--)
        list[at] = list[at - 1];
    list[at] = one;
}

/* The best few numbers of group g by what it costs by itself. */
static enum dse_status shortlist(struct layerwise *w, uint32_t g, struct tried *list, uint32_t *n,
                                 struct dse_error *err)
{
    const uint64_t limit = w->search->machine.buffer_byte;
    const uint32_t batch = w->search->context.batch, now = w->lfa->tiling[g];
    uint32_t worse = 0;
    *n = 0;
    for (uint32_t t = 1; t && worse < WORSE_IN_A_ROW && !is_over(w); t = next_tiling(t, batch)) {
        struct soma_group_times times;
        w->lfa->tiling[g] = t;
        enum dse_status status = soma_lfa_group(w->prices, w->lfa, g, g + 1, &times, err);
        w->lfa->tiling[g] = now;
        DSE_TRY(status);
        if (!times.valid || times.peak_byte > limit || times.head_byte > limit)
            continue;
        struct tried one = {t, own_cost(w, &times)};
        worse = *n > 0 && one.cost >= list[0].cost ? worse + 1 : 0;
        sort_in(list, n, one);
    }
    return DSE_OK;
}

/* Of the short list the number with which the whole is cheapest. */
static enum dse_status tune_group(struct layerwise *w, uint32_t g, bool *changed, struct dse_error *err)
{
    struct tried list[SHORT_LIST] = {{0}};
    uint32_t n, best = w->lfa->tiling[g];
    DSE_TRY(shortlist(w, g, list, &n, err));
    for (uint32_t i = 0; i < n && !is_over(w); i++) {
        bool better;
        if (list[i].tiling == best)
            continue;
        w->lfa->tiling[g] = list[i].tiling;
        DSE_TRY(is_better(w, &better, err));
        if (better)
            best = list[i].tiling;
        *changed |= better;
    }
    w->lfa->tiling[g] = best;
    return DSE_OK;
}

/* ---- many alike ---- */

/* Their tiles are of the same shapes; how many parts of others they read may differ. */
static bool are_alike(const struct layer *a, const struct layer *b)
{
    const uint32_t one[] = {a->type, a->c, a->k,         a->p,      a->q,     a->r,        a->s,
                            a->h,    a->w, a->stride[0], a->groups, a->share, a->n_operand};
    const uint32_t two[] = {b->type, b->c, b->k,         b->p,      b->q,     b->r,        b->s,
                            b->h,    b->w, b->stride[0], b->groups, b->share, b->n_operand};
    return memcmp(one, two, sizeof one) == 0;
}

/* The groups that are alike in `same` (n_flc + 1), behind group g, which is the first of them. */
static uint32_t find_alike(const struct layerwise *w, uint32_t g, bool *done, uint32_t *same)
{
    const struct layer *layer = w->search->context.network->layer;
    const struct soma_lfa *lfa = w->lfa;
    uint32_t n = 0;
    for (uint32_t h = g; h < lfa->n_flc; h++)
        if (!done[h] && soma_group_stop(lfa, h) - lfa->flc[h] == 1 && lfa->tiling[h] == lfa->tiling[g] &&
            are_alike(&layer[lfa->order[lfa->flc[h]]], &layer[lfa->order[lfa->flc[g]]])) {
            done[h] = true;
            same[n++] = h;
        }
    return n;
}

static enum dse_status tune_alike(struct layerwise *w, const uint32_t *same, uint32_t n_same,
                                  struct dse_error *err)
{
    struct tried list[SHORT_LIST] = {{0}};
    uint32_t n, best = w->lfa->tiling[same[0]];
    bool better = false;
    DSE_TRY(shortlist(w, same[0], list, &n, err));
    for (uint32_t i = 0; i < n && !better && list[i].tiling != best && !is_over(w); i++) {
        for (uint32_t j = 0; j < n_same; j++)
            w->lfa->tiling[same[j]] = list[i].tiling;
        DSE_TRY(is_better(w, &better, err));
        for (uint32_t j = 0; j < n_same && !better; j++)
            w->lfa->tiling[same[j]] = best;
    }
    return DSE_OK;
}

enum dse_status soma_layerwise_alike(const struct soma_search *search, struct soma_lfa_prices *prices,
                                     uint64_t n_max, struct soma_lfa *lfa, struct soma_price *price,
                                     uint64_t *n_priced, struct dse_error *err)
{
    struct layerwise w = {search, prices, lfa, price, n_max, 0};
    struct arena scratch;
    arena_init(&scratch);
    bool *done = arena_alloc(&scratch, lfa->n_flc, sizeof *done);
    uint32_t *same = arena_alloc(&scratch, lfa->n_flc, sizeof *same);
    enum dse_status status = arena_check(&scratch, "tiling numbers", err);
    for (uint32_t g = 0; status == DSE_OK && g < lfa->n_flc && !is_over(&w); g++) {
        const uint32_t n = done[g] ? 0 : find_alike(&w, g, done, same);
        if (n > 0)
            status = tune_alike(&w, same, n, err);
    }
    arena_free(&scratch);
    *n_priced = w.n_priced;
    return status;
}

/* ---- one by one ---- */

enum dse_status soma_layerwise(const struct soma_search *search, struct soma_lfa_prices *prices,
                               uint64_t n_max, struct soma_lfa *lfa, struct soma_price *price,
                               uint64_t *n_priced, struct dse_error *err)
{
    struct layerwise w = {search, prices, lfa, price, n_max, 0};
    struct arena scratch;
    arena_init(&scratch);
    enum dse_status status = try_uniform(&w, &scratch, err);
    arena_free(&scratch);
    for (bool changed = true; status == DSE_OK && changed && !is_over(&w);) {
        changed = false;
        for (uint32_t g = 0; g < lfa->n_flc && status == DSE_OK && !is_over(&w); g++)
            status = tune_group(&w, g, &changed, err);
    }
    *n_priced = w.n_priced;
    return status;
}
