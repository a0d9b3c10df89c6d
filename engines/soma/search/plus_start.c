/* Each layer joins the group before it when some tiling number makes both fit; else it begins a group of
 * its own. */
#include "engines/soma/search/plus_start.h"

#include <math.h>

#include "engines/soma/search/plus_price.h"
#include "engines/soma/search/prefetch.h"

enum { FINEST = 1 << 14 };

/* Compat: a classifier is a layer group of its own, with the pools right before it. Whether a group must not
 * go on to the layer at `at`. */
static bool must_break(const struct soma_search *search, const struct soma_lfa *lfa, uint32_t at)
{
    const struct soma_graph *graph = search->context.graph;
    const struct layer *layer = search->context.network->layer;
    if (!search->context.compat)
        return false;
    if (graph->classifier[lfa->order[at - 1]])
        return true;
    if (layer[lfa->order[at - 1]].type == LAYER_POOL &&
        (layer[lfa->order[at]].type == LAYER_POOL || graph->classifier[lfa->order[at]]))
        return false;
    while (at < lfa->n_layer && layer[lfa->order[at]].type == LAYER_POOL)
        at++;
    return at < lfa->n_layer && graph->classifier[lfa->order[at]];
}

/* Whether layers first .. past - 1 fit as a layer group of so many tiles. Layers that together are beyond the
 * parser's limits do not. */
static enum dse_status fits(const struct soma_search *search, const struct soma_lfa *lfa, uint32_t first,
                            uint32_t past, uint32_t tiling, struct arena *scratch, bool *fit,
                            struct dse_error *err)
{
    uint32_t start = 0;
    bool cut = true;
    struct soma_lfa part = {past - first, lfa->order + first, 1, &start, &tiling, &cut};
    struct fused_schedule schedule;
    struct soma_fault_info fault;
    struct soma_prefetcher *prefetcher = NULL;
    uint32_t full;
    struct dse_error why = {0};
    arena_reset(scratch);
    *fit = false;
    const enum dse_status status = soma_parse_part(&search->context, &part, scratch, &schedule, &fault, &why);
    if (status == DSE_LIMIT && part.n_layer > 1)
        return DSE_OK;
    if (status != DSE_OK)
        return dse_fail(err, status, "%s", why.text);
    if (fault.what == SOMA_OK)
        DSE_TRY(soma_prefetcher_new(&schedule, search, scratch, &prefetcher, &full, err));
    *fit = prefetcher != NULL;
    return DSE_OK;
}

/* The least tiling number from `*tiling` on that fits. */
static enum dse_status make_fit(const struct soma_search *search, const struct soma_lfa *lfa, uint32_t first,
                                uint32_t past, uint32_t tiling_max, struct arena *scratch, uint32_t *tiling,
                                bool *fit, struct dse_error *err)
{
    *fit = false;
    for (uint32_t t = *tiling; t <= tiling_max && !soma_search_is_over(search); t *= 2) {
        DSE_TRY(fits(search, lfa, first, past, t, scratch, fit, err));
        if (*fit) {
            *tiling = t;
            return DSE_OK;
        }
    }
    return DSE_OK;
}

/* Whether many layers are tried at once. Layers that fit nearly always fit with fewer of them, too, and parts
 * of layers are by the thousand. Nothing is cut by compat rules, so no group must end on the way. */
static bool may_gallop(const struct soma_search *search)
{
    return search->context.network->n_cut > 0;
}

/* Move `*past` on as long as layers fit with the tiling number that they have: 1, 2, 4, ... more, then
 * halves, to where the next layer does not fit. */
static enum dse_status gallop(const struct soma_search *search, const struct soma_lfa *lfa, uint32_t first,
                              uint32_t tiling, struct arena *scratch, uint32_t *past, struct dse_error *err)
{
    const uint32_t n = lfa->n_layer;
    uint32_t beyond = n + 1, step = 1; /* beyond: it does not fit, or there is none */
    while (beyond - *past > 1 && !soma_search_is_over(search)) {
        const uint32_t at = step < beyond - *past ? *past + step : beyond - 1;
        bool fit;
        DSE_TRY(fits(search, lfa, first, at, tiling, scratch, &fit, err));
        *(fit ? past : &beyond) = at;
        step = beyond > n ? 2 * step : (beyond - *past) / 2;
    }
    return DSE_OK;
}

enum dse_status plus_start(const struct soma_search *search, uint32_t tiling_max, struct arena *scratch,
                           struct soma_lfa *lfa, struct soma_price *price, struct dse_error *err)
{
    const struct network *network = search->context.network;
    uint32_t n = network->n_layer, past;
    struct fused_schedule schedule;
    *price = (struct soma_price){.cost = INFINITY};
    lfa->n_layer = n;
    lfa->n_flc = 0;
    for (uint32_t i = 0; i < n; i++)
        lfa->order[i] = network->order[i];
    for (uint32_t first = 0; first < n; first = past) {
        uint32_t tiling = 1;
        bool fit;
        past = first + 1;
        while (past < n && search->context.compat && !must_break(search, lfa, past) &&
               network->layer[lfa->order[past - 1]].type == LAYER_POOL &&
               search->context.graph->classifier[lfa->order[past]])
            past++;
        DSE_TRY(make_fit(search, lfa, first, past, FINEST, scratch, &tiling, &fit, err));
        if (!fit)
            return DSE_OK;
        uint32_t most = tiling > tiling_max ? tiling : tiling_max;
        while (past < n && !must_break(search, lfa, past)) {
            if (may_gallop(search))
                DSE_TRY(gallop(search, lfa, first, tiling, scratch, &past, err));
            if (past == n)
                break;
            DSE_TRY(make_fit(search, lfa, first, past + 1, most, scratch, &tiling, &fit, err));
            if (!fit)
                break;
            past++;
        }
        lfa->flc[lfa->n_flc] = first;
        lfa->tiling[lfa->n_flc] = tiling;
        lfa->dram_cut[lfa->n_flc++] = true;
    }
    arena_reset(scratch);
    return plus_price(search, lfa, NULL, INFINITY, scratch, &schedule, price, NULL, err);
}
