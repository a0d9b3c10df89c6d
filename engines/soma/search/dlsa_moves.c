/* Which places and times keep a schedule sound is known before a move is drawn: limits by dependences, and
 * ranges by releases and dues in the incremental state. */
#include "engines/soma/search/dlsa_moves.h"

#include "costmodel/fused/fused_rule.h"

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t most(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- what does not change ---- */

/* Tensors without bytes are drawn like the smallest weight (the published program's rule). */
static void sum_weights(const struct fused_schedule *schedule, const uint32_t *dram, uint32_t n_moved,
                        double *weight)
{
    uint64_t smallest = 0;
    for (uint32_t i = 0; i < n_moved; i++) {
        const struct fused_tensor *tensor = &schedule->tensor[dram[i]];
        if (tensor->kind == FUSED_WEIGHT && tensor->byte > 0 && (smallest == 0 || tensor->byte < smallest))
            smallest = tensor->byte;
    }
    double sum = 0;
    for (uint32_t i = 0; i < n_moved; i++) {
        const struct fused_tensor *tensor = &schedule->tensor[dram[i]];
        uint64_t byte = tensor->streamed ? tensor->dram_byte : tensor->byte;
        sum += (double)(byte > 0 ? byte : smallest > 0 ? smallest : 1);
        weight[i] = sum;
    }
}

/* A load of another layer's result can start only behind that layer's last store, so behind its last tile; a
 * store is over when the first tile that waits for a load of it starts. `last` and `first` (n_layer) have
 * room for a tile per layer. */
static void set_limits(const struct fused_schedule *schedule, int32_t *last, int32_t *first,
                       struct dlsa_moves *moves)
{
    for (uint32_t i = 0; i < schedule->n_tensor; i++) {
        const struct fused_tensor *tensor = &schedule->tensor[i];
        if (tensor->kind == FUSED_OFMAP)
            last[tensor->layer] = most(last[tensor->layer], tensor->producer_tile);
        else if (tensor->kind == FUSED_IFMAP && tensor->source >= 0)
            first[tensor->source] = least(first[tensor->source], tensor->first_use);
    }
    for (uint32_t i = 0; i < schedule->n_tensor; i++) {
        const struct fused_tensor *tensor = &schedule->tensor[i];
        moves->limit[i] = -1;
        if (tensor->kind == FUSED_IFMAP && tensor->source >= 0)
            moves->limit[i] = least(last[tensor->source] + 1, tensor->first_use);
        else if (tensor->kind == FUSED_OFMAP)
            moves->limit[i] = most(first[tensor->layer], fused_last_touch(tensor) + 1);
        if (tensor->streamed)
            moves->limit[i] = fused_is_load(tensor) ? most(moves->limit[i], tensor->limit)
                                                    : least(moves->limit[i], tensor->limit);
    }
}

static bool same_stream(const struct fused_tensor *a, const struct fused_tensor *b)
{
    return a->kind == b->kind && a->layer == b->layer && a->source == b->source &&
           (a->kind == FUSED_IFMAP || a->kind == FUSED_OFMAP);
}

/* The loads of one layer lie close together: tile by tile, its sources one after the other. */
static void link_streams(const struct fused_schedule *schedule, struct dlsa_moves *moves)
{
    for (uint32_t i = 0; i < schedule->n_tensor; i++)
        moves->before[i] = moves->after[i] = UINT32_MAX;
    for (uint32_t i = 1; i < schedule->n_tensor; i++) {
        const struct fused_tensor *tensor = &schedule->tensor[i];
        for (uint32_t j = i; j-- > 0 && schedule->tensor[j].layer == tensor->layer &&
                             schedule->tensor[j].index + 1 >= tensor->index;)
            if (same_stream(&schedule->tensor[j], tensor) && schedule->tensor[j].index + 1 == tensor->index) {
                moves->before[i] = j;
                moves->after[j] = i;
                break;
            }
    }
}

/* A load past the buffer takes no room there: that it begins as early as its own level allows costs nothing,
 * and its place changes when others are moved past it. */
static bool is_moved(const struct fused_tensor *tensor)
{
    bool settled = tensor->streamed && fused_is_load(tensor) && tensor->start == tensor->limit;
    return tensor->kind != FUSED_LOCAL && !settled;
}

enum dse_status dlsa_moves_init(const struct fused_schedule *schedule, bool in_stream_order,
                                struct arena *arena, struct dlsa_moves *moves, struct dse_error *err)
{
    uint32_t n_layer = 0;
    *moves = (struct dlsa_moves){.n_tile = schedule->n_tile,
                                 .n_tensor = schedule->n_tensor,
                                 .n_dram = schedule->n_dram,
                                 .in_stream_order = in_stream_order};
    for (uint32_t i = 0; i < schedule->n_tensor; i++)
        n_layer = schedule->tensor[i].layer >= n_layer ? schedule->tensor[i].layer + 1 : n_layer;
    int32_t *last = arena_alloc(arena, n_layer, sizeof *last);
    int32_t *first = arena_alloc(arena, n_layer, sizeof *first);
    uint32_t *dram = arena_alloc(arena, moves->n_dram, sizeof *dram);
    double *weight = arena_alloc(arena, moves->n_dram, sizeof *weight);
    moves->limit = arena_alloc(arena, moves->n_tensor, sizeof *moves->limit);
    moves->before = arena_alloc(arena, moves->n_tensor, sizeof *moves->before);
    moves->after = arena_alloc(arena, moves->n_tensor, sizeof *moves->after);
    DSE_TRY(arena_check(arena, "the moves of tensors", err));
    for (uint32_t l = 0; l < n_layer; l++) {
        last[l] = -1;
        first[l] = (int32_t)schedule->n_tile;
    }
    for (uint32_t i = 0; i < schedule->n_tensor && moves->n_moved < schedule->n_dram; i++)
        if (is_moved(&schedule->tensor[i]))
            dram[moves->n_moved++] = i;
    sum_weights(schedule, dram, moves->n_moved, weight);
    set_limits(schedule, last, first, moves);
    link_streams(schedule, moves);
    moves->dram = dram;
    moves->weight = weight;
    return DSE_OK;
}

/* ---- what may change ---- */

uint32_t dlsa_choose(const struct dlsa_moves *moves, struct random_stream *stream)
{
    double at = random_unit(stream) * moves->weight[moves->n_moved - 1];
    uint32_t low = 0, high = moves->n_moved - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (moves->weight[middle] <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return moves->dram[low];
}

/* A schedule is sound if and only if each tensor is released before it or a later one is due
 * (docs/fused-schedule.md). So a tensor may pass another when the one that comes first then is released
 * before the other is due; and a load does not pass the stores that it reads. */
static struct dlsa_range places(const struct dlsa_moves *moves, const struct fused_incremental *state,
                                uint32_t tensor, uint32_t released, uint32_t due)
{
    const struct fused_tensor *all = fused_incremental_tensor(state), *moved = &all[tensor];
    const uint32_t *order = fused_incremental_order(state);
    uint32_t from = fused_incremental_place(state, tensor), low = from, high = from;
    uint32_t before = moves->in_stream_order ? moves->before[tensor] : UINT32_MAX;
    uint32_t after = moves->in_stream_order ? moves->after[tensor] : UINT32_MAX;
    bool reads = moved->kind == FUSED_IFMAP && moved->source >= 0;
    while (low > 0 && fused_incremental_due(state, low - 1) > released && order[low - 1] != before &&
           !(reads && fused_feeds(&all[order[low - 1]], moved)))
        low--;
    while (high + 1 < moves->n_dram && order[high + 1] != after &&
           fused_released(&all[order[high + 1]]) < due && !fused_feeds(moved, &all[order[high + 1]]))
        high++;
    return (struct dlsa_range){low, high};
}

struct dlsa_range dlsa_places(const struct dlsa_moves *moves, const struct fused_incremental *state,
                              uint32_t tensor)
{
    const struct fused_tensor *moved = &fused_incremental_tensor(state)[tensor];
    return places(moves, state, tensor, fused_released(moved), fused_due(moved, moves->n_tile));
}

/* The places where there is a time for it: as early as a load may be released, as late as a store may end. */
static struct dlsa_range places_of_any_time(const struct dlsa_moves *moves,
                                            const struct fused_incremental *state, uint32_t tensor)
{
    struct fused_tensor moved = fused_incremental_tensor(state)[tensor];
    if (fused_is_load(&moved))
        moved.start = moves->limit[tensor];
    else
        moved.end = moves->limit[tensor];
    return places(moves, state, tensor, fused_released(&moved), fused_due(&moved, moves->n_tile));
}

/* A load is released before it or a later tensor is due. */
static struct dlsa_range start_range(const struct dlsa_moves *moves, const struct fused_incremental *state,
                                     uint32_t tensor, uint32_t to)
{
    const struct fused_tensor *all = fused_incremental_tensor(state);
    uint32_t later = to > fused_incremental_place(state, tensor) ? to + 1 : to;
    int32_t first = moves->limit[tensor], last = all[tensor].first_use;
    if (later < moves->n_dram)
        last = least(last, ((int32_t)fused_incremental_due(state, later) - 1) / 2);
    if (moves->in_stream_order && moves->before[tensor] != UINT32_MAX)
        first = most(first, all[moves->before[tensor]].start);
    if (moves->in_stream_order && moves->after[tensor] != UINT32_MAX)
        last = least(last, all[moves->after[tensor]].start);
    return (struct dlsa_range){first, last};
}

/* A store ends after all are released that come before it. Those further ahead than a place that is due no
 * later than the latest release found are released before that. */
static struct dlsa_range end_range(const struct dlsa_moves *moves, const struct fused_incremental *state,
                                   uint32_t tensor, uint32_t to)
{
    const struct fused_tensor *all = fused_incremental_tensor(state), *store = &all[tensor];
    const uint32_t *order = fused_incremental_order(state);
    uint32_t latest = fused_released(store);
    for (uint32_t k = to > fused_incremental_place(state, tensor) ? to + 1 : to;
         k-- > 0 && fused_incremental_due(state, k) > latest;) {
        uint32_t released = fused_released(&all[order[k]]);
        latest = released > latest ? released : latest;
    }
    int32_t first = most((int32_t)(latest / 2), fused_last_touch(store)) + 1, last = moves->limit[tensor];
    if (moves->in_stream_order && moves->before[tensor] != UINT32_MAX)
        first = most(first, all[moves->before[tensor]].end);
    if (moves->in_stream_order && moves->after[tensor] != UINT32_MAX)
        last = least(last, all[moves->after[tensor]].end);
    return (struct dlsa_range){first, last};
}

struct dlsa_range dlsa_times(const struct dlsa_moves *moves, const struct fused_incremental *state,
                             uint32_t tensor, uint32_t place)
{
    bool load = fused_is_load(&fused_incremental_tensor(state)[tensor]);
    struct dlsa_range range =
        load ? start_range(moves, state, tensor, place) : end_range(moves, state, tensor, place);
    if (load)
        range.first = larger(range.first, fused_incremental_earliest_start(state, tensor));
    else
        range.last = smaller(range.last, fused_incremental_latest_end(state, tensor));
    return range;
}

bool dlsa_draw_other(struct random_stream *stream, struct dlsa_range range, int64_t present, int64_t *drawn)
{
    bool inside = range.first <= present && present <= range.last;
    int64_t n = range.last - range.first + 1 - inside;
    if (n <= 0)
        return false;
    *drawn = range.first + (int64_t)random_below(stream, (uint32_t)n);
    *drawn += inside && *drawn >= present;
    return true;
}

/* ---- moves ---- */

static bool changed(struct fused_outcome outcome)
{
    return outcome.fault == FUSED_OK || outcome.fault == FUSED_BUFFER;
}

bool dlsa_move_to(struct fused_incremental *state, uint32_t tensor, uint32_t place, int64_t time,
                  struct fused_outcome *outcome)
{
    const struct fused_tensor *moved = &fused_incremental_tensor(state)[tensor];
    if (fused_is_load(moved))
        *outcome = fused_move(state, tensor, place, (int32_t)time, moved->end);
    else
        *outcome = fused_move(state, tensor, place, moved->start, (int32_t)time);
    return changed(*outcome);
}

bool dlsa_move_order(const struct dlsa_moves *moves, struct fused_incremental *state, uint32_t tensor,
                     struct random_stream *stream, struct fused_outcome *outcome)
{
    uint32_t from = fused_incremental_place(state, tensor);
    int64_t to;
    if (!dlsa_draw_other(stream, dlsa_places(moves, state, tensor), from, &to))
        return false;
    *outcome = fused_move_order(state, from, (uint32_t)to);
    return changed(*outcome);
}

bool dlsa_move_time(const struct dlsa_moves *moves, struct fused_incremental *state, uint32_t tensor,
                    struct random_stream *stream, struct fused_outcome *outcome)
{
    const struct fused_tensor *moved = &fused_incremental_tensor(state)[tensor];
    int64_t time;
    if (!dlsa_draw_other(stream, dlsa_times(moves, state, tensor, fused_incremental_place(state, tensor)),
                         fused_is_load(moved) ? moved->start : moved->end, &time))
        return false;
    return dlsa_move_to(state, tensor, fused_incremental_place(state, tensor), time, outcome);
}

/* When a neighbour in the DRAM order is moved, as a start (`load`) or an end may stand beside it. */
static int32_t time_beside(const struct fused_tensor *neighbour, bool load)
{
    bool store = !fused_is_load(neighbour);
    return (load ? neighbour->start : neighbour->end - 1) + store;
}

/* Between the times of the neighbours that the tensor would have at place `to`. */
static struct dlsa_range times_between(const struct dlsa_moves *moves, const struct fused_incremental *state,
                                       uint32_t tensor, uint32_t to)
{
    const struct fused_tensor *all = fused_incremental_tensor(state);
    const uint32_t *order = fused_incremental_order(state);
    uint32_t from = fused_incremental_place(state, tensor);
    bool load = fused_is_load(&all[tensor]);
    uint32_t next = to > from ? to + 1 : to; /* what it would stand before */
    int64_t previous = next - 1 == from ? (int64_t)from - 1 : (int64_t)next - 1; /* and behind */
    int32_t a = previous < 0 ? -1 : time_beside(&all[order[previous]], load);
    int32_t b = next >= moves->n_dram ? (int32_t)moves->n_tile : time_beside(&all[order[next]], load);
    return (struct dlsa_range){least(a, b), most(a, b)};
}

bool dlsa_move_both(const struct dlsa_moves *moves, struct fused_incremental *state, uint32_t tensor,
                    struct random_stream *stream, struct fused_outcome *outcome)
{
    uint32_t from = fused_incremental_place(state, tensor);
    int64_t to, time;
    if (!dlsa_draw_other(stream, places_of_any_time(moves, state, tensor), from, &to))
        return false;
    struct dlsa_range allowed = dlsa_times(moves, state, tensor, (uint32_t)to);
    struct dlsa_range beside = times_between(moves, state, tensor, (uint32_t)to);
    if (allowed.first > allowed.last)
        return false;
    if (beside.first < allowed.first)
        beside.first = allowed.first;
    if (beside.last > allowed.last)
        beside.last = allowed.last;
    if (!dlsa_draw_other(stream, beside, INT64_MIN, &time))
        time = fused_is_load(&fused_incremental_tensor(state)[tensor]) ? allowed.first : allowed.last;
    return dlsa_move_to(state, tensor, (uint32_t)to, time, outcome);
}
