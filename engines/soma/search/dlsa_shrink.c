/* Random shortenings, accepted when the schedule takes no longer, and by chance when they save no bytes. */
#include "engines/soma/search/dlsa_shrink.h"

#include <math.h>

#include "costmodel/fused/fused_rule.h"

/* Shares of the moves, as the published program has them. */
static const double order_share = 0.4;

static double time_of(const struct fused_incremental *state, int32_t position, uint32_t n_tile)
{
    if (position <= 0)
        return 0;
    if ((uint32_t)position >= n_tile)
        return (double)fused_incremental_outcome(state).cycle;
    return (double)fused_incremental_tile_finish(state, (uint32_t)position - 1);
}

double dlsa_byte_cycle(const struct dlsa_moves *moves, const struct fused_incremental *state)
{
    const struct fused_tensor *tensor = fused_incremental_tensor(state);
    double sum = 0;
    for (uint32_t i = 0; i < moves->n_tensor; i++)
        sum += (double)tensor[i].byte * (time_of(state, tensor[i].end, moves->n_tile) -
                                         time_of(state, tensor[i].start, moves->n_tile));
    return sum;
}

void dlsa_shrink_start(struct dlsa_shrink *shrink, const struct dlsa_moves *moves,
                       const struct fused_incremental *state)
{
    shrink->cycle = shrink->best_cycle = fused_incremental_outcome(state).cycle;
    shrink->byte_cycle = shrink->best_byte_cycle = dlsa_byte_cycle(moves, state);
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
static bool accept(const struct dlsa_shrink *shrink, uint64_t cycle, double byte_cycle,
                   struct random_stream *stream)
{
    double x = (double)shrink->round / (double)shrink->n_round;
    double temperature = shrink->first_temperature * (1 - x) / (1 + shrink->alpha * x);
    double above = fabs(shrink->byte_cycle - shrink->reference);
    if (cycle != shrink->cycle || byte_cycle <= shrink->byte_cycle)
        return cycle <= shrink->cycle;
    return random_unit(stream) < exp((shrink->byte_cycle - byte_cycle) / above / temperature);
}

bool dlsa_shrink_round(struct dlsa_shrink *shrink, const struct dlsa_moves *moves,
                       struct fused_incremental *state, struct random_stream *stream)
{
    struct fused_outcome outcome;
    uint32_t tensor = moves->dram[random_below(stream, moves->n_dram)];
    bool order = random_unit(stream) < order_share;
    shrink->round++;
    if (!(order ? dlsa_move_order(moves, state, tensor, stream, &outcome)
                : shorten(moves, state, tensor, stream, &outcome)))
        return false;
    if (outcome.fault != FUSED_OK || outcome.cycle > shrink->cycle) {
        fused_undo(state);
        return false;
    }
    double byte_cycle = dlsa_byte_cycle(moves, state);
    if (!accept(shrink, outcome.cycle, byte_cycle, stream)) {
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
