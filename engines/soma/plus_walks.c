/* Walks on threads of their own, ranked by what they found; the few that may become the best are polished,
 * and the best of all generations are where the next one begins. */
#include "engines/soma/plus_walks.h"

#include <math.h>
#include <string.h>

#include "engines/soma/offer.h"
#include "engines/soma/search/dlsa_search.h"
#include "engines/soma/search/plus_price.h"

enum { SLICE = 200, DLSA_SLICE = 64, RACE = 2, MANY = 300, POLISHED = 3 };

/* Random streams of a generation: the search, the order of the loads, the second stage. Behind those of
 * base/random.h. */
enum { FIRST_USE = 1024, N_USE = 3 };

static const double DLSA_ROUND_MAX = 1e6, AGREEMENT = 0.001;

/* Polishing seldom gains more than that: what costs more than the best by it is left as it is. */
static const double HOPE = 0.015;

/* Times the first temperature. Hot walks leave a valley, cold ones find its bottom. */
static const double race_heat[] = {1, 4}, heat[] = {1, 0.2};

enum { N_RACE_HEAT = sizeof race_heat / sizeof race_heat[0], N_HEAT = sizeof heat / sizeof heat[0] };

/* One search with all that it changes. */
struct plus_walk {
    struct plus_search *search; /* NULL: none */
    struct arena arena;
    double first, searched; /* cost where it began, and of the best it found */
};

enum dse_status plus_walks_init(struct plus_walks *w, const struct soma_task *task,
                                const struct plus_walks_options *options, struct engine_context *context,
                                struct dse_error *err)
{
    struct arena *arena = engine_context_arena(context);
    uint32_t n_layer = task->search.context.network->n_layer, n = RACE * options->n_start;
    *w = (struct plus_walks){.task = task, .options = *options};
    arena_init(&w->scratch);
    w->walk = arena_alloc(arena, n, sizeof *w->walk);
    w->rank = arena_alloc(arena, n, sizeof *w->rank);
    w->donor = arena_alloc(arena, (size_t)options->n_start + PLUS_GUEST, sizeof *w->donor);
    DSE_TRY(arena_check(arena, "the searches", err));
    for (; w->n_room < n; w->n_room++)
        arena_init(&w->walk[w->n_room].arena);
    for (uint32_t i = 0; i < options->n_start; i++)
        plus_point_new(n_layer, arena, &w->donor[i]);
    for (uint32_t i = 0; i <= PLUS_POOL; i++) {
        soma_lfa_new(n_layer, arena, &w->pool[i].lfa);
        w->pool[i].lead = arena_alloc(arena, n_layer, sizeof *w->pool[i].lead);
    }
    return arena_check(arena, "the searches", err);
}

void plus_walks_free(struct plus_walks *w)
{
    for (uint32_t i = 0; i < w->n_room; i++) {
        plus_search_free(w->walk[i].search);
        arena_free(&w->walk[i].arena);
    }
    arena_free(&w->scratch);
}

/* ---- a generation ---- */

static enum dse_status advance(void *memory, uint32_t i, uint64_t n, bool *done, struct dse_error *err)
{
    const struct plus_walks *w = memory;
    return plus_search_step(w->walk[i].search, n, done, err);
}

static uint64_t rounds_of(const void *memory, uint32_t i)
{
    const struct plus_walks *w = memory;
    return plus_search_rounds(w->walk[i].search);
}

static const struct soma_starts_hooks hooks = {.step = advance, .rounds = rounds_of};

static struct random_stream stream_of(const struct plus_walks *w, const struct engine_task *task, uint32_t i,
                                      uint32_t use)
{
    return soma_start_stream(task->seed, task->key, i,
                             FIRST_USE + N_USE * (w->n_before + w->generation) + use);
}

/* In the race each seed in turn with each temperature, in a second one those behind them; later each of the
 * best found, in the last generation only the best. */
static enum dse_status begin_walk(struct plus_walks *w, uint32_t i, const struct soma_lfa *const *seed,
                                  uint32_t n_seed, double share, const struct engine_task *task,
                                  struct dse_error *err)
{
    struct plus_walk *walk = &w->walk[i];
    struct plus_options options = w->options.walk;
    uint32_t n_from = !seed && w->generation + 1 < w->options.n_generation ? w->n_pool : 1;
    uint32_t first = w->n_before > 0 ? w->n_room / N_RACE_HEAT : 0;
    const struct plus_found *from = &w->pool[i % n_from];
    options.n_round = (uint64_t)(share * (double)options.n_round / (seed ? RACE : 1));
    if (seed) {
        options.first_temperature *= race_heat[i % N_RACE_HEAT];
    } else {
        options.first_temperature *= heat[i / n_from % N_HEAT];
        options.donor = w->donor;
        options.n_donor = w->options.n_start + w->n_guest;
    }
    arena_reset(&walk->arena);
    DSE_TRY(plus_search_new(
        &w->task->search, &options, seed ? seed[(first + i / N_RACE_HEAT) % n_seed] : &from->lfa,
        seed ? NULL : from->lead, stream_of(w, task, i, 0), &walk->arena, &walk->search, err));
    walk->first = plus_search_cost(walk->search);
    return DSE_OK;
}

enum dse_status plus_walks_guest(struct plus_walks *w, struct engine_context *context,
                                 struct plus_point **guest, struct dse_error *err)
{
    struct arena *arena = engine_context_arena(context);
    *guest = NULL;
    if (w->n_guest == PLUS_GUEST)
        return DSE_OK;
    *guest = &w->donor[w->options.n_start + w->n_guest];
    plus_point_new(w->task->search.context.network->n_layer, arena, *guest);
    DSE_TRY(arena_check(arena, "the searches", err));
    w->n_guest++;
    return DSE_OK;
}

enum dse_status plus_walks_begin(struct plus_walks *w, const struct soma_lfa *const *seed, uint32_t n_seed,
                                 double share, struct engine_context *context, struct dse_error *err)
{
    const struct engine_task *task = engine_context_task(context);
    bool race = w->n_pool == 0;
    for (uint32_t i = 0; i < w->options.n_start && !race; i++)
        plus_search_point(w->walk[w->rank[i]].search, &w->donor[i]);
    for (uint32_t i = 0; i < w->n_walk; i++) {
        plus_search_free(w->walk[i].search);
        w->walk[i].search = NULL;
    }
    w->n_walk = race ? w->n_room : w->options.n_start;
    soma_starts_init(&w->starts, &hooks, w, SLICE, w->n_walk, engine_context_arena(context));
    DSE_TRY(arena_check(engine_context_arena(context), "the searches", err));
    for (uint32_t i = 0; i < w->n_walk; i++)
        DSE_TRY(begin_walk(w, i, race ? seed : NULL, n_seed, share, task, err));
    return DSE_OK;
}

enum dse_status plus_walks_step(struct plus_walks *w, struct engine_context *context, bool *done,
                                struct dse_error *err)
{
    return soma_starts_step(&w->starts, context, done, err);
}

/* ---- polishing ---- */

/* SoMa's own second stage, from what list scheduling has made. */
static enum dse_status anneal_dlsa(struct plus_walks *w, double share, struct random_stream stream,
                                   uint64_t *left, struct fused_schedule *schedule, struct soma_price *price,
                                   struct dse_error *err)
{
    const struct soma_search *search = &w->task->search;
    double n = schedule->n_dram, many = n > MANY ? MANY * MANY / (n * n) : 1;
    double n_round = fmin(share * w->options.dlsa_round * n * many, DLSA_ROUND_MAX);
    const struct soma_dlsa_options options = {.n_round = (double)*left < n_round ? *left : (uint64_t)n_round,
                                              .first_temperature = 0.003,
                                              .alpha = w->options.walk.alpha,
                                              .return_share = 0.9,
                                              .order_share = 0.2,
                                              .time_share = 0.4,
                                              .both_share = 0.4};
    struct soma_dlsa_search *dlsa;
    bool done = false;
    if (options.n_round == 0 || soma_search_is_over(search))
        return DSE_OK;
    DSE_TRY(soma_dlsa_search_new(search, &options, schedule, search->machine.buffer_byte, stream, &w->scratch,
                                 &dlsa, err));
    while (!done && !soma_search_is_over(search))
        DSE_TRY(soma_dlsa_search_step(dlsa, DLSA_SLICE, &done, err));
    *left -= soma_dlsa_search_rounds(dlsa);
    soma_dlsa_search_best(dlsa, schedule, price);
    return DSE_OK;
}

enum dse_status plus_walks_polish(struct plus_walks *w, const struct soma_lfa *lfa, const int32_t *lead,
                                  double share, uint32_t stream, struct engine_context *context, double *cost,
                                  struct dse_error *err)
{
    const struct engine_task *task = engine_context_task(context);
    struct fused_schedule schedule;
    struct soma_price price;
    uint64_t left = engine_context_left(context), before = left;
    arena_reset(&w->scratch);
    DSE_TRY(plus_polish(&w->task->search, lfa, lead, share * w->options.polish, &left,
                        stream_of(w, task, stream, 1), &w->scratch, &schedule, &price, err));
    *cost = price.cost;
    if (isinf(price.cost))
        return DSE_OK;
    DSE_TRY(anneal_dlsa(w, share, stream_of(w, task, stream, 2), &left, &schedule, &price, err));
    *cost = price.cost;
    engine_context_count(context, before - left);
    return soma_offer(context, w->task, lfa, &schedule, NULL, &w->scratch, err);
}

/* By cost, then by number. */
static void rank_walks(struct plus_walks *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n_walk; i++) {
        struct plus_walk *walk = &w->walk[i];
        uint32_t at = n;
        if (!walk->search)
            continue;
        walk->searched = plus_search_cost(walk->search);
        for (; at > 0 && walk->searched < w->walk[w->rank[at - 1]].searched; at--)
            w->rank[at] = w->rank[at - 1];
        w->rank[at] = i;
        n++;
    }
    w->n_walk = n; /* all, unless the generation was not begun to its end */
}

static double best_cost(const struct plus_walks *w)
{
    return w->n_pool > 0 ? w->pool[0].cost : INFINITY;
}

/* Into the pool, where what costs most drops out. `found` is the pool's spare place. */
static void keep(struct plus_walks *w)
{
    struct plus_found found = w->pool[w->n_pool];
    uint32_t at = w->n_pool;
    for (; at > 0 && found.cost < w->pool[at - 1].cost; at--)
        w->pool[at] = w->pool[at - 1];
    w->pool[at] = found;
    w->n_pool += w->n_pool < PLUS_POOL;
}

static bool is_in_pool(const struct plus_walks *w, double searched)
{
    for (uint32_t k = 0; k < w->n_pool; k++)
        if (!(w->pool[k].searched < searched || w->pool[k].searched > searched))
            return true;
    return false;
}

/* What a walk has found goes into the pool, polished when that may make it the best. */
static enum dse_status end_walk(struct plus_walks *w, uint32_t i, double share, uint32_t *n_polish,
                                struct engine_context *context, struct dse_error *err)
{
    const struct plus_walk *walk = &w->walk[i];
    struct plus_found *found = &w->pool[w->n_pool];
    struct soma_price price;
    const int32_t *lead;
    bool hopeless = plus_search_floor(walk->search) >= best_cost(w) ||
                    walk->searched > best_cost(w) * (1 + HOPE) || *n_polish == 0;
    if ((w->generation > 0 && !(walk->searched < walk->first)) || is_in_pool(w, walk->searched))
        return DSE_OK;
    plus_search_best(walk->search, &found->lfa, &lead, &price);
    memcpy(found->lead, lead, found->lfa.n_layer * sizeof *lead);
    found->searched = found->cost = walk->searched;
    if (!hopeless) {
        DSE_TRY(plus_walks_polish(w, &found->lfa, lead, share, i, context, &found->cost, err));
        --*n_polish;
    }
    keep(w);
    return DSE_OK;
}

enum dse_status plus_walks_end(struct plus_walks *w, double share, struct engine_context *context,
                               struct dse_error *err)
{
    uint32_t n_polish = POLISHED;
    rank_walks(w);
    for (uint32_t k = 0; k < w->n_walk; k++)
        DSE_TRY(end_walk(w, w->rank[k], share, &n_polish, context, err));
    w->generation++;
    return DSE_OK;
}

enum dse_status plus_walks_finish(struct plus_walks *w, struct engine_context *context, struct dse_error *err)
{
    double cost;
    return w->n_pool == 0 ? DSE_OK
                          : plus_walks_polish(w, &w->pool[0].lfa, w->pool[0].lead, 1, 0, context, &cost, err);
}

void plus_walks_again(struct plus_walks *w)
{
    w->n_before = w->generation;
    w->generation = w->n_pool = 0;
}

bool plus_walks_agree(const struct plus_walks *w)
{
    uint32_t most = w->n_walk * 3 / 4;
    return w->generation == 1 && most > 1 &&
           w->walk[w->rank[most]].searched <= w->walk[w->rank[0]].searched * (1 + AGREEMENT);
}
