/* The hooks of the walk: a proposal copies the attributes, moves them and prices them, so taking it back
 * is a swap. */
#include "engines/soma/search/lfa_search.h"

#include <math.h>

#include "engines/search/annealing.h"
#include "engines/soma/search/lfa_move.h"
#include "engines/soma/search/lfa_price.h"

struct soma_lfa_search {
    struct soma_lfa_prices *prices, *own; /* own: when none are given */
    struct soma_mover mover;
    uint64_t buffer_limit;
    struct soma_lfa now, before, best; /* `before` the last move */
    struct soma_price price, best_price;
    struct annealing *walk;
    enum dse_status status; /* of a price that failed */
    struct dse_error err;
};

static void exchange(struct soma_lfa_search *s)
{
    struct soma_lfa now = s->now;
    s->now = s->before;
    s->before = now;
}

static enum search_outcome propose(void *self, struct random_stream *stream, double *cost)
{
    struct soma_lfa_search *s = self;
    soma_lfa_copy(&s->now, &s->before);
    if (!soma_lfa_move(&s->mover, stream, &s->now))
        return SEARCH_INFEASIBLE;
    s->status = soma_lfa_price(s->prices, &s->now, s->buffer_limit, &s->price, &s->err);
    if (s->status == DSE_OK && isfinite(s->price.cost)) {
        *cost = s->price.cost;
        return SEARCH_PRICED;
    }
    exchange(s);
    return s->status == DSE_OK ? SEARCH_INFEASIBLE : SEARCH_OVER;
}

static void undo(void *self)
{
    exchange(self);
}

static void keep(void *self)
{
    struct soma_lfa_search *s = self;
    soma_lfa_copy(&s->now, &s->best);
    s->best_price = s->price;
}

static void restore(void *self)
{
    struct soma_lfa_search *s = self;
    soma_lfa_copy(&s->best, &s->now);
}

/* Cocco: what each layer needs is its tiling number in the start. */
static enum dse_status note_needs(const struct soma_lfa *start, struct arena *arena, struct soma_mover *mover,
                                  struct dse_error *err)
{
    uint32_t *need = arena_alloc(arena, start->n_layer, sizeof *need);
    DSE_TRY(arena_check(arena, "tiling numbers", err));
    for (uint32_t g = 0, i = 0; g < start->n_flc; g++)
        for (; i < soma_group_stop(start, g); i++)
            need[start->order[i]] = start->tiling[g];
    mover->need = need;
    return DSE_OK;
}

static enum dse_status prepare(const struct soma_search *search, const struct soma_lfa_options *options,
                               const struct soma_lfa *start, struct random_stream stream, struct arena *arena,
                               struct soma_lfa_search *s, struct dse_error *err)
{
    const struct annealing_space space = {s, propose, undo, keep, restore};
    const struct annealing_options walk = {.n_round = options->n_round,
                                           .first_temperature = options->first_temperature,
                                           .alpha = options->alpha,
                                           .return_share = options->return_share,
                                           .greedy_round = options->greedy_round};
    soma_mover_init(search, options->moves, &options->shares, arena, &s->mover);
    if (options->moves == SOMA_MOVES_COCCO && !options->inherit_tiling)
        DSE_TRY(note_needs(start, arena, &s->mover, err));
    soma_lfa_new(start->n_layer, arena, &s->now);
    soma_lfa_new(start->n_layer, arena, &s->before);
    soma_lfa_new(start->n_layer, arena, &s->best);
    DSE_TRY(arena_check(arena, "a fusion search", err));
    soma_lfa_copy(start, &s->now);
    if (!options->prices)
        DSE_TRY(soma_lfa_prices_new(search, &s->own, err));
    s->prices = options->prices ? options->prices : s->own;
    DSE_TRY(soma_lfa_price(s->prices, &s->now, s->buffer_limit, &s->price, err));
    if (!isfinite(s->price.cost) && !soma_search_is_over(search))
        return dse_fail(err, DSE_INTERNAL,
                        "a fusion search starts from an LFA that is not valid or does not fit");
    return annealing_new(&space, &walk, s->price.cost, stream, arena, &s->walk, err);
}

enum dse_status soma_lfa_search_new(const struct soma_search *search, const struct soma_lfa_options *options,
                                    const struct soma_lfa *start, uint64_t buffer_limit,
                                    struct random_stream stream, struct arena *arena,
                                    struct soma_lfa_search **made, struct dse_error *err)
{
    struct soma_lfa_search *s = arena_alloc(arena, 1, sizeof *s);
    DSE_TRY(arena_check(arena, "a fusion search", err));
    s->buffer_limit = buffer_limit;
    enum dse_status status = prepare(search, options, start, stream, arena, s, err);
    if (status != DSE_OK) {
        soma_lfa_search_free(s);
        return status;
    }
    *made = s;
    return DSE_OK;
}

enum dse_status soma_lfa_search_step(struct soma_lfa_search *s, uint64_t n, bool *done, struct dse_error *err)
{
    *done = !annealing_step(s->walk, n);
    if (s->status != DSE_OK && err)
        *err = s->err;
    return s->status;
}

uint64_t soma_lfa_search_rounds(const struct soma_lfa_search *s)
{
    return annealing_rounds(s->walk);
}

void soma_lfa_search_end_early(struct soma_lfa_search *s)
{
    annealing_end_early(s->walk);
}

void soma_lfa_search_free(struct soma_lfa_search *s)
{
    if (!s)
        return;
    soma_lfa_prices_free(s->own);
    s->own = NULL;
}

const struct soma_lfa *soma_lfa_search_best(const struct soma_lfa_search *s, struct soma_price *price)
{
    if (price)
        *price = s->best_price;
    return &s->best;
}
