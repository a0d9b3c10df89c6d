/* The hooks of the walk over points: moves, now and then several at once, and grafts from other results. */
#include "engines/soma/search/plus_search.h"

#include <math.h>
#include <string.h>

#include "engines/search/annealing.h"
#include "engines/soma/search/plus_price.h"

enum { GRAFT_EVERY = 8, FINER = 6 };

struct plus_search {
    const struct soma_search *search;
    struct annealing *walk;
    struct plus_point now, before, best;
    struct soma_price price, best_price;
    struct plus_limits limits, best_limits; /* of the two */
    uint32_t *where;                        /* (n_layer) */
    const struct plus_point *donor;
    uint32_t n_donor;
    struct soma_lfa lfa;
    /* What `now` was parsed as before its last move, which often changes leads alone, and what other points
     * are; `priced`: the one of the two that `now` was priced as, NULL: it went back since. */
    struct plus_fusion *fusion, *other, *priced;
    struct arena scratch[2]; /* of the two */
    enum dse_status status;
    struct dse_error error;
};

static bool price_point(struct plus_search *s, double limit)
{
    plus_point_lfa(&s->now, &s->lfa);
    s->priced = plus_fusion_is(s->fusion, &s->lfa) ? s->fusion : s->other;
    if (!plus_fusion_is(s->priced, &s->lfa))
        s->status = plus_fusion_set(s->priced, &s->lfa, &s->error);
    if (s->status == DSE_OK)
        s->status = plus_fusion_price(s->priced, s->now.lead, limit, &s->price, &s->limits, &s->error);
    return s->status == DSE_OK;
}

/* The same, with twice the tiles for a group that does not fit, again and again: what is better for another
 * group often leaves this one less room than its tiles need, and no single move leads there. False also when
 * the time is over. */
static bool price_finer(struct plus_search *s, double limit)
{
    bool fine = price_point(s, limit);
    for (int k = 0; k < FINER && fine && s->limits.full != UINT32_MAX; k++) {
        if (!plus_refine(&s->now, s->limits.full))
            return true;
        fine = !soma_search_is_over(s->search) && price_point(s, limit);
    }
    return fine;
}

static bool change(struct plus_search *s, struct random_stream *stream)
{
    if (s->n_donor > 0 && random_below(stream, GRAFT_EVERY) == 0)
        return plus_graft(stream, &s->donor[random_below(stream, s->n_donor)], &s->now);
    return plus_move(&s->search->context, stream, s->where, &s->now);
}

static void undo(void *self)
{
    struct plus_search *s = self;
    plus_point_copy(&s->before, &s->now);
    s->priced = NULL;
}

static enum search_outcome propose(void *self, struct random_stream *stream, double *cost)
{
    struct plus_search *s = self;
    if (soma_search_is_over(s->search))
        return SEARCH_OVER;
    if (s->priced == s->other) { /* the last move was taken */
        s->other = s->fusion;
        s->fusion = s->priced;
    }
    s->priced = NULL;
    plus_point_copy(&s->now, &s->before);
    if (!change(s, stream))
        return SEARCH_INFEASIBLE;
    while (random_below(stream, 4) == 0) /* now and then several at once */
        (void)plus_move(&s->search->context, stream, s->where, &s->now);
    if (!price_finer(s, *cost) || !isfinite(s->price.cost)) {
        undo(s);
        return s->status == DSE_OK ? SEARCH_INFEASIBLE : SEARCH_OVER;
    }
    *cost = s->price.cost;
    return SEARCH_PRICED;
}

static void keep_best(void *self)
{
    struct plus_search *s = self;
    plus_point_copy(&s->now, &s->best);
    s->best_price = s->price;
    s->best_limits = s->limits;
}

static void restore(void *self)
{
    struct plus_search *s = self;
    plus_point_copy(&s->best, &s->now);
    s->priced = NULL;
}

enum dse_status plus_search_new(const struct soma_search *search, const struct plus_options *options,
                                const struct soma_lfa *start, const int32_t *lead,
                                struct random_stream stream, struct arena *arena, struct plus_search **made,
                                struct dse_error *err)
{
    uint32_t n = start->n_layer;
    struct plus_search *s = arena_alloc(arena, 1, sizeof *s);
    uint32_t *where = arena_alloc(arena, n, sizeof *where);
    DSE_TRY(arena_check(arena, "a search over layers", err));
    s->search = search;
    s->donor = options->donor;
    s->n_donor = options->n_donor;
    s->where = where;
    plus_point_new(n, arena, &s->now);
    plus_point_new(n, arena, &s->before);
    plus_point_new(n, arena, &s->best);
    soma_lfa_new(n, arena, &s->lfa);
    for (size_t k = 0; k < sizeof s->scratch / sizeof s->scratch[0]; k++)
        arena_init(&s->scratch[k]);
    *made = s;
    DSE_TRY(plus_fusion_new(search, arena, &s->scratch[0], &s->fusion, err));
    DSE_TRY(plus_fusion_new(search, arena, &s->scratch[1], &s->other, err));
    plus_point_of(start, &s->now);
    if (lead)
        memcpy(s->now.lead, lead, n * sizeof *s->now.lead);
    if (!price_point(s, INFINITY)) {
        *err = s->error;
        return s->status;
    }
    const struct annealing_space space = {
        .self = s, .propose = propose, .undo = undo, .keep = keep_best, .restore = restore};
    const struct annealing_options walk = {.n_round = options->n_round,
                                           .first_temperature = options->first_temperature,
                                           .alpha = options->alpha,
                                           .return_share = options->return_share};
    return annealing_new(&space, &walk, s->price.cost, stream, arena, &s->walk, err);
}

enum dse_status plus_search_step(struct plus_search *s, uint64_t n, bool *done, struct dse_error *err)
{
    *done = !annealing_step(s->walk, n);
    if (s->status != DSE_OK)
        *err = s->error;
    return s->status;
}

void plus_search_free(struct plus_search *s)
{
    for (size_t k = 0; s && k < sizeof s->scratch / sizeof s->scratch[0]; k++)
        arena_free(&s->scratch[k]);
}

void plus_search_point(const struct plus_search *s, struct plus_point *point)
{
    plus_point_copy(&s->best, point);
}

void plus_search_best(const struct plus_search *s, struct soma_lfa *lfa, const int32_t **lead,
                      struct soma_price *price)
{
    *lead = s->best.lead;
    plus_point_lfa(&s->best, lfa);
    *price = s->best_price;
}

double plus_search_floor(const struct plus_search *s)
{
    return s->best_limits.bound;
}

double plus_search_cost(const struct plus_search *s)
{
    return s->best_price.cost;
}

uint64_t plus_search_rounds(const struct plus_search *s)
{
    return annealing_rounds(s->walk);
}
