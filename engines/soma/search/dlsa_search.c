/* The hooks of the walk over the incremental evaluator, the bound that ends it early, and the third stage
 * behind it where the published program has one. */
#include "engines/soma/search/dlsa_search.h"

#include <math.h>
#include <string.h>

#include "costmodel/fused/fused_incremental.h"
#include "costmodel/fused/fused_rule.h"
#include "engines/search/annealing.h"
#include "engines/soma/search/dlsa_bound.h"
#include "engines/soma/search/dlsa_moves.h"

/* The published program's third stage: tensors live shorter, without losing time. */
struct dlsa_shrink {
    uint64_t n_round, round; /* wanted, done */
    double first_temperature, alpha;
    double reference; /* byte cycles of the schedule that stage 2 started from */
    uint64_t cycle, best_cycle;
    double byte_cycle, best_byte_cycle; /* bytes in the buffer over time */
};

struct soma_dlsa_search {
    const struct soma_search *search;
    struct soma_dlsa_options options;
    struct fused_machine machine; /* with the buffer limit */
    struct dlsa_moves moves;
    struct fused_incremental *state;
    struct fused_schedule kept; /* the best */
    struct fused_outcome kept_outcome;
    struct arena *arena;
    struct annealing *walk;
    struct dlsa_shrink shrink;
    double energy_j, delay_exponent;
    uint64_t bound; /* cycles that no DLSA beats */
    struct random_stream shrink_stream;
    bool annealed, early;
    enum dse_status status; /* of a restore */
    struct dse_error err;
};

/* ---------------------------------------- the third stage: random shortenings */

/* The share of the third stage's moves that is about the DRAM order, as the published program has it. */
static const double shrink_order_share = 0.4;

static double time_of(const struct fused_incremental *state, int32_t position, uint32_t n_tile)
{
    if (position <= 0)
        return 0;
    if ((uint32_t)position >= n_tile)
        return (double)fused_incremental_outcome(state).cycle;
    return (double)fused_incremental_tile_finish(state, (uint32_t)position - 1);
}

/* Sum over tensors of bytes times cycles between the tile before `start` is over and the tile before
 * `end`. */
static double byte_cycles(const struct dlsa_moves *moves, const struct fused_incremental *state)
{
    const struct fused_tensor *tensor = fused_incremental_tensor(state);
    double sum = 0;
    for (uint32_t i = 0; i < moves->n_tensor; i++)
        sum += (double)tensor[i].byte * (time_of(state, tensor[i].end, moves->n_tile) -
                                         time_of(state, tensor[i].start, moves->n_tile));
    return sum;
}

/* From how it stands now, which is the best so far. */
static void start_shrinking(struct dlsa_shrink *shrink, const struct dlsa_moves *moves,
                            const struct fused_incremental *state)
{
    shrink->cycle = shrink->best_cycle = fused_incremental_outcome(state).cycle;
    shrink->byte_cycle = shrink->best_byte_cycle = byte_cycles(moves, state);
}

/* A load starts later, a store ends earlier. */
static bool shorten(const struct dlsa_moves *moves, struct fused_incremental *state, uint32_t tensor,
                    struct random_stream *stream, struct fused_outcome *outcome)
{
    uint32_t place = fused_incremental_place(state, tensor);
    const struct fused_tensor *moved = &fused_incremental_tensor(state)[tensor];
    struct dlsa_range range = dlsa_times(moves, state, tensor, place);
    int64_t time;
    if (fused_is_load(moved) && range.first <= moved->start)
        range.first = (int64_t)moved->start + 1;
    else if (!fused_is_load(moved) && range.last >= moved->end)
        range.last = (int64_t)moved->end - 1;
    return dlsa_draw_other(stream, range, INT64_MIN, &time) &&
           dlsa_move_to(state, tensor, place, time, outcome);
}

/* Never longer; as long with more in the buffer by chance. */
static bool shrink_accepts(const struct dlsa_shrink *shrink, uint64_t cycle, double byte_cycle,
                           struct random_stream *stream)
{
    double x = (double)shrink->round / (double)shrink->n_round;
    double temperature = shrink->first_temperature * (1 - x) / (1 + shrink->alpha * x);
    double above = fabs(shrink->byte_cycle - shrink->reference);
    if (cycle != shrink->cycle || byte_cycle <= shrink->byte_cycle)
        return cycle <= shrink->cycle;
    return random_unit(stream) < exp((shrink->byte_cycle - byte_cycle) / above / temperature);
}

/* One round. True: it now stands better than ever: shorter, or as short with less in the buffer. */
static bool shrink_round(struct dlsa_shrink *shrink, const struct dlsa_moves *moves,
                         struct fused_incremental *state, struct random_stream *stream)
{
    struct fused_outcome outcome;
    uint32_t tensor = moves->dram[random_below(stream, moves->n_moved)];
    bool order = random_unit(stream) < shrink_order_share;
    shrink->round++;
    if (!(order ? dlsa_move_order(moves, state, tensor, stream, &outcome)
                : shorten(moves, state, tensor, stream, &outcome)))
        return false;
    if (outcome.fault != FUSED_OK || outcome.cycle > shrink->cycle) {
        fused_undo(state);
        return false;
    }
    double byte_cycle = byte_cycles(moves, state);
    if (!shrink_accepts(shrink, outcome.cycle, byte_cycle, stream)) {
        fused_undo(state);
        return false;
    }
    shrink->cycle = outcome.cycle;
    shrink->byte_cycle = byte_cycle;
    if (outcome.cycle > shrink->best_cycle ||
        (outcome.cycle == shrink->best_cycle && byte_cycle >= shrink->best_byte_cycle))
        return false;
    shrink->best_cycle = outcome.cycle;
    shrink->best_byte_cycle = byte_cycle;
    return true;
}

/* ---------------------------------------- the second stage */

/* Energy is the same for all DLSAs of an LFA, but for leakage, which grows with the cycles as they do: a
 * constant factor, left out. Without delay in the objective all
 * cost the same; the shortest is looked for then. */
static double cost_of(const struct soma_dlsa_search *s, uint64_t cycle)
{
    return s->delay_exponent == 1 ? (double)cycle : pow((double)cycle, s->delay_exponent);
}

static bool move(struct soma_dlsa_search *s, struct random_stream *stream, struct fused_outcome *outcome)
{
    double kind = random_unit(stream);
    uint32_t tensor = dlsa_choose(&s->moves, stream);
    if (kind < s->options.order_share)
        return dlsa_move_order(&s->moves, s->state, tensor, stream, outcome);
    if (kind < s->options.order_share + s->options.time_share)
        return dlsa_move_time(&s->moves, s->state, tensor, stream, outcome);
    return dlsa_move_both(&s->moves, s->state, tensor, stream, outcome);
}

static enum search_outcome propose(void *self, struct random_stream *stream, double *cost)
{
    struct soma_dlsa_search *s = self;
    struct fused_outcome outcome;
    if (s->kept_outcome.cycle <= s->bound || s->moves.n_moved == 0 || s->status != DSE_OK)
        return SEARCH_OVER;
    if (!move(s, stream, &outcome))
        return SEARCH_INFEASIBLE;
    if (outcome.fault != FUSED_OK) {
        fused_undo(s->state);
        return SEARCH_INFEASIBLE;
    }
    *cost = cost_of(s, outcome.cycle);
    return SEARCH_PRICED;
}

static void undo(void *self)
{
    struct soma_dlsa_search *s = self;
    fused_undo(s->state);
}

static void keep(void *self)
{
    struct soma_dlsa_search *s = self;
    fused_incremental_save(s->state, &s->kept);
    s->kept_outcome = fused_incremental_outcome(s->state);
}

static void restore(void *self)
{
    struct soma_dlsa_search *s = self;
    enum dse_status status = fused_incremental_new(&s->kept, &s->machine, s->arena, &s->state, &s->err);
    if (status != DSE_OK)
        s->status = status;
}

static enum dse_status copy_schedule(const struct fused_schedule *from, struct arena *arena,
                                     struct fused_schedule *to, struct dse_error *err)
{
    *to = *from;
    to->tensor = arena_alloc(arena, (size_t)from->n_tensor + 1, sizeof *to->tensor);
    to->dram_order = arena_alloc(arena, (size_t)from->n_dram + 1, sizeof *to->dram_order);
    DSE_TRY(arena_check(arena, "a schedule", err));
    memcpy(to->tensor, from->tensor, from->n_tensor * sizeof *to->tensor);
    memcpy(to->dram_order, from->dram_order, from->n_dram * sizeof *to->dram_order);
    return DSE_OK;
}

static enum dse_status start_walk(struct soma_dlsa_search *s, const struct fused_result *result,
                                  struct random_stream stream, struct dse_error *err)
{
    const struct annealing_space space = {s, propose, undo, keep, restore};
    uint64_t busy = result->compute_cycle > result->dram_cycle ? result->compute_cycle : result->dram_cycle;
    const struct annealing_options options = {
        .n_round = s->options.n_round,
        .first_temperature = s->options.first_temperature,
        .alpha = s->options.alpha,
        .reference = s->options.above_bound ? cost_of(s, busy) : 0,
        .return_share = s->options.return_share,
        .greedy_round = s->options.greedy_round,
    };
    return annealing_new(&space, &options, cost_of(s, result->cycle), stream, s->arena, &s->walk, err);
}

enum dse_status soma_dlsa_search_new(const struct soma_search *search,
                                     const struct soma_dlsa_options *options,
                                     const struct fused_schedule *start, uint64_t buffer_limit,
                                     struct random_stream stream, struct arena *arena,
                                     struct soma_dlsa_search **made, struct dse_error *err)
{
    struct fused_result result;
    struct soma_dlsa_search *s = arena_alloc(arena, 1, sizeof *s);
    DSE_TRY(arena_check(arena, "a search over tensors", err));
    DSE_TRY(copy_schedule(start, arena, &s->kept, err));
    s->search = search;
    s->options = *options;
    s->machine = search->machine;
    s->machine.buffer_byte = buffer_limit;
    s->arena = arena;
    s->delay_exponent = search->objective.delay_exponent > 0 ? search->objective.delay_exponent : 1;
    DSE_TRY(fused_evaluate(start, &s->machine, arena, NULL, &result, err));
    s->energy_j = result.energy_j;
    DSE_TRY(dlsa_bound(start, &s->machine, buffer_limit, arena, &s->bound, err));
    DSE_TRY(dlsa_moves_init(start, options->in_stream_order, arena, &s->moves, err));
    DSE_TRY(fused_incremental_new(start, &s->machine, arena, &s->state, err));
    s->shrink_stream = random_stream_make(random_u64(&stream), 0, RANDOM_MOVE);
    s->shrink = (struct dlsa_shrink){.n_round = s->moves.n_moved > 0 ? options->shrink_round : 0,
                                     .first_temperature = options->first_temperature,
                                     .alpha = options->alpha,
                                     .reference = byte_cycles(&s->moves, s->state)};
    DSE_TRY(start_walk(s, &result, stream, err));
    *made = s;
    return DSE_OK;
}

/* Rounds of the third stage, from the best of the second. At the walk's share of them back to its own
 * best. */
static void shrink(struct soma_dlsa_search *s, uint64_t n)
{
    uint64_t return_round = (uint64_t)ceil(s->options.return_share * (double)s->shrink.n_round);
    for (uint64_t i = 0; i < n && s->shrink.round < s->shrink.n_round && s->status == DSE_OK; i++) {
        if (s->shrink.round == 0 || s->shrink.round == return_round) {
            restore(s);
            if (s->status != DSE_OK)
                return;
            start_shrinking(&s->shrink, &s->moves, s->state);
        }
        if (shrink_round(&s->shrink, &s->moves, s->state, &s->shrink_stream))
            keep(s);
    }
}

enum dse_status soma_dlsa_search_step(struct soma_dlsa_search *search, uint64_t n, bool *done,
                                      struct dse_error *err)
{
    if (!search->annealed)
        search->annealed = !annealing_step(search->walk, n);
    else
        shrink(search, n);
    *done = search->annealed && (search->early || search->shrink.round >= search->shrink.n_round);
    if (search->status != DSE_OK)
        *err = search->err;
    return search->status;
}

void soma_dlsa_search_end_early(struct soma_dlsa_search *search)
{
    search->early = true;
    annealing_end_early(search->walk);
}

uint64_t soma_dlsa_search_rounds(const struct soma_dlsa_search *search)
{
    return annealing_rounds(search->walk) + search->shrink.round;
}

void soma_dlsa_search_best(const struct soma_dlsa_search *search, struct fused_schedule *schedule,
                           struct soma_price *price)
{
    memcpy(schedule->dram_order, search->kept.dram_order, search->kept.n_dram * sizeof *schedule->dram_order);
    for (uint32_t i = 0; i < search->kept.n_tensor; i++) {
        schedule->tensor[i].start = search->kept.tensor[i].start;
        schedule->tensor[i].end = search->kept.tensor[i].end;
    }
    price->cost = soma_cost(search->search, search->energy_j, search->kept_outcome.cycle);
    price->energy_j = search->energy_j;
    price->cycle = search->kept_outcome.cycle;
    price->buffer_max_byte = search->kept_outcome.buffer_max_byte;
}
