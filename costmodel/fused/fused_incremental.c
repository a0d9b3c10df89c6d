/* Keeps per place of the DRAM order when a transfer may start and which tile waits for it; a move renews
 * only the places and times between the first and the last change, and saves them to go back. */
#include "costmodel/fused/fused_incremental.h"

#include <string.h>

#include "costmodel/fused/fused_occupancy.h"
#include "costmodel/fused/fused_rule.h"

/* A tensor at its place in the DRAM order. */
struct transfer {
    uint64_t cycle;
    uint32_t release;  /* so many tiles are over before it may start */
    uint32_t released; /* the same in half steps */
    uint32_t due;      /* twice the first tile that waits for it, and more by fused_due; n_tile: none */
    uint32_t tensor;
};

/* The last move: what it takes to go back. */
struct undo {
    bool changed;
    uint32_t tensor, place;                                        /* where it was */
    int32_t start, end;                                            /* what it had */
    uint32_t first_tile, past_tile, first_transfer, past_transfer; /* finish times that were saved */
    uint64_t cycle;
};

/* Finish times are counted from 1, so that [0] is "nothing yet", at 0.
 *
 * need[k] is the least `due` at place k or later: half of it is the first tile that waits for a tensor there.
 * It never falls with k, so the tensors that tile p waits for are those with need / 2 <= p. A schedule ends
 * if and only if release <= need / 2 at every place: else tile need[k] / 2 waits for tensor k, and that for
 * the tile. No load takes room that is not free if and only if released < need at every place. */
struct fused_incremental {
    uint64_t buffer_byte;
    uint32_t n_tile, n_tensor, n_dram;
    uint64_t *ahead; /* (n_tensor) the tile that waits for it begins so much before it is over; NULL: all 0 */
    struct fused_tensor *tensor;        /* (n_tensor) as they stand */
    uint32_t *place, *order;            /* (n_tensor), (n_dram) */
    struct transfer *transfer;          /* (n_dram) */
    uint32_t *need;                     /* (n_dram + 1), the last 2 n_tile */
    uint64_t *tile_cycle;               /* (n_tile) */
    uint64_t *tile_finish, *tile_saved; /* (n_tile + 1) */
    uint64_t *dram_finish, *dram_saved; /* (n_dram + 1) */
    uint64_t cycle;
    struct fused_occupancy occupancy;
    struct undo undo;
};

static void allocate(struct fused_incremental *state, struct arena *arena)
{
    size_t n_tile = (size_t)state->n_tile + 1, n_dram = (size_t)state->n_dram + 1;
    size_t n_tensor = (size_t)state->n_tensor + 1;
    state->tensor = arena_alloc(arena, n_tensor, sizeof *state->tensor);
    state->place = arena_alloc(arena, n_tensor, sizeof *state->place);
    state->order = arena_alloc(arena, n_dram, sizeof *state->order);
    state->transfer = arena_alloc(arena, n_dram, sizeof *state->transfer);
    state->need = arena_alloc(arena, n_dram, sizeof *state->need);
    state->tile_cycle = arena_alloc(arena, n_tile, sizeof *state->tile_cycle);
    state->tile_finish = arena_alloc(arena, n_tile, sizeof *state->tile_finish);
    state->tile_saved = arena_alloc(arena, n_tile, sizeof *state->tile_saved);
    state->dram_finish = arena_alloc(arena, n_dram, sizeof *state->dram_finish);
    state->dram_saved = arena_alloc(arena, n_dram, sizeof *state->dram_saved);
    fused_occupancy_init(&state->occupancy, state->n_tile + 1, arena);
}

static inline uint32_t need_at(const struct fused_incremental *state, uint32_t k)
{
    uint32_t later = state->need[k + 1];
    return state->transfer[k].due < later ? state->transfer[k].due : later;
}

/* Positions are counted from -1 in the occupancy. */
static void occupy(struct fused_incremental *state, int32_t first, int32_t past, int64_t byte)
{
    fused_occupancy_add(&state->occupancy, (uint32_t)(first + 1), (uint32_t)(past + 1), byte);
}

/* Add what lives between two starts or two ends. */
static void occupy_between(struct fused_incremental *state, int32_t from, int32_t to, int64_t byte)
{
    if (from < to)
        occupy(state, from, to, byte);
    else if (to < from)
        occupy(state, to, from, -byte);
}

static void set_living(struct fused_incremental *state, struct fused_tensor *tensor, int32_t start,
                       int32_t end)
{
    occupy_between(state, start, tensor->start, (int64_t)tensor->byte);
    occupy_between(state, tensor->end, end, (int64_t)tensor->byte);
    tensor->start = start;
    tensor->end = end;
}

/* Take the tensor from one place to another; those between move up by one. */
static void rotate(struct fused_incremental *state, uint32_t from, uint32_t to)
{
    struct transfer moved = state->transfer[from];
    uint32_t k = from;
    for (; k < to; k++)
        state->transfer[k] = state->transfer[k + 1];
    for (; k > to; k--)
        state->transfer[k] = state->transfer[k - 1];
    state->transfer[to] = moved;
    uint32_t low = from < to ? from : to, high = from < to ? to : from;
    for (k = low; k <= high; k++) {
        state->order[k] = state->transfer[k].tensor;
        state->place[state->order[k]] = k;
    }
}

/* The parts of the schedule whose events a change can reach. */
struct reach {
    uint32_t low, high;  /* places with another tensor, release or need */
    uint32_t first_tile; /* with another barrier */
    uint32_t stuck;      /* the first place where release > need / 2; UINT32_MAX: none */
    uint32_t overlap;    /* where released >= need; UINT32_MAX: none */
};

/* Renew `need` at the places low .. high and before them as far as it changes. */
static struct reach renew_need(struct fused_incremental *state, uint32_t low, uint32_t high)
{
    struct reach reach = {low, high, state->need[low], UINT32_MAX, UINT32_MAX};
    for (uint32_t k = high + 1; k-- > 0;) {
        uint32_t need = need_at(state, k);
        if (k < low && need == state->need[k])
            break;
        state->need[k] = need;
        if (state->transfer[k].released >= need) {
            reach.overlap = k;
            if (state->transfer[k].release > need / 2)
                reach.stuck = k;
        }
    }
    if (state->need[low] < reach.first_tile)
        reach.first_tile = state->need[low];
    reach.first_tile /= 2;
    return reach;
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* How much before the last of `barrier` transfers is over tile p may begin. */
static inline uint64_t ahead_for(const struct fused_incremental *state, uint32_t barrier, uint32_t p)
{
    const struct transfer *last = &state->transfer[barrier > 0 ? barrier - 1 : 0];
    return barrier > 0 && last->due / 2 == p ? state->ahead[last->tensor] : 0;
}

/* Renew the transfers at the places k .. past - 1. */
static inline void renew_transfers(const struct fused_incremental *state, uint32_t k, uint32_t past)
{
    const struct transfer *transfer = state->transfer;
    const uint64_t *tile = state->tile_finish;
    uint64_t *dram = state->dram_finish, *saved = state->dram_saved;
    for (; k < past; k++) {
        uint64_t finish = later(dram[k], tile[transfer[k].release]) + transfer[k].cycle;
        saved[k + 1] = dram[k + 1];
        dram[k + 1] = finish;
    }
}

/* The engines of fused_evaluate, from tile `first_tile` and place `low` on: no earlier event depends on what
 * changed. A transfer before `low` has release <= need / 2 <= first_tile, before the change and after it. It
 * ends early, behind the last changed place, as soon as both engines are at their old times. Then a transfer
 * with another time was over in both schedules before tile p began, which waited for place `high`; and a tile
 * with another time was over in both before the DRAM was done with that place: the first later tile with its
 * old time began when a transfer allowed it, in one schedule at least. So neither holds anything up that
 * comes later. */
static void renew_times(struct fused_incremental *state, const struct reach *reach)
{
    const uint32_t n_tile = state->n_tile, *need = state->need;
    const uint64_t *tile_cycle = state->tile_cycle, *dram = state->dram_finish;
    uint64_t *tile = state->tile_finish, *saved = state->tile_saved;
    uint32_t p = reach->first_tile, k = reach->low, barrier = reach->low;
    const bool pieces = state->ahead != NULL;
    bool same = false;
    while (barrier > 0 && need[barrier - 1] / 2 > p)
        barrier--;
    for (; p < n_tile && !same; p++) {
        while (need[barrier] / 2 <= p)
            barrier++;
        if (k < barrier) {
            renew_transfers(state, k, barrier);
            k = barrier;
        }
        uint64_t ready = dram[barrier];
        if (pieces)
            ready -= ahead_for(state, barrier, p);
        uint64_t finish = later(tile[p], ready) + tile_cycle[p], old = tile[p + 1];
        saved[p + 1] = old;
        tile[p + 1] = finish;
        same = k > reach->high && finish == old && dram[k] == state->dram_saved[k];
    }
    if (!same) {
        renew_transfers(state, k, state->n_dram);
        k = state->n_dram;
    }
    state->undo.first_tile = reach->first_tile;
    state->undo.past_tile = p;
    state->undo.first_transfer = reach->low;
    state->undo.past_transfer = k;
    state->cycle = later(tile[n_tile], dram[state->n_dram]);
}

/* The first tensor of the order that would stand before what it depends on, or UINT32_MAX. Only pairs with
 * the moved one can change. */
static uint32_t find_too_early(const struct fused_incremental *state, uint32_t from, uint32_t to)
{
    const struct fused_tensor *moved = &state->tensor[state->order[from]];
    if (moved->kind == FUSED_IFMAP && moved->source >= 0) {
        for (uint32_t k = to; k < from; k++)
            if (fused_feeds(&state->tensor[state->order[k]], moved))
                return state->order[from];
    } else if (moved->kind == FUSED_OFMAP) {
        for (uint32_t k = from + 1; k <= to; k++)
            if (fused_feeds(moved, &state->tensor[state->order[k]]))
                return state->order[k];
    }
    return UINT32_MAX;
}

struct fused_outcome fused_incremental_outcome(const struct fused_incremental *state)
{
    uint64_t most = fused_occupancy_max(&state->occupancy);
    return (struct fused_outcome){most > state->buffer_byte ? FUSED_BUFFER : FUSED_OK, 0, state->cycle, most};
}

static struct fused_outcome refuse(const struct fused_incremental *state, enum fused_fault fault,
                                   uint32_t tensor)
{
    return (struct fused_outcome){fault, tensor, FUSED_NEVER, fused_occupancy_max(&state->occupancy)};
}

/* What a living duration asks for. */
static void set_duration(const struct fused_incremental *state, const struct fused_tensor *tensor,
                         struct transfer *transfer)
{
    transfer->release = fused_release(tensor);
    transfer->released = fused_released(tensor);
    transfer->due = fused_due(tensor, state->n_tile);
}

/* Put the tensor of a place elsewhere with what this living duration asks for. */
static struct reach change_transfer(struct fused_incremental *state, uint32_t from, uint32_t to,
                                    const struct fused_tensor *wanted)
{
    set_duration(state, wanted, &state->transfer[from]);
    if (from != to)
        rotate(state, from, to);
    return renew_need(state, from < to ? from : to, from < to ? to : from);
}

/* Move on the DRAM; FUSED_OK, or the fault that it would have at tensor `*bad` and nothing changed. */
static enum fused_fault move_transfer(struct fused_incremental *state, uint32_t from, uint32_t to,
                                      const struct fused_tensor *wanted, uint32_t *bad)
{
    struct transfer old = state->transfer[from];
    if (from == to && fused_released(wanted) == old.released && fused_due(wanted, state->n_tile) == old.due)
        return FUSED_OK;
    struct reach reach = change_transfer(state, from, to, wanted);
    if (reach.overlap != UINT32_MAX) {
        bool ends = reach.stuck == UINT32_MAX;
        *bad = state->order[ends ? reach.overlap : reach.stuck];
        state->transfer[to] = old;
        if (from != to)
            rotate(state, to, from);
        renew_need(state, reach.low, reach.high);
        return ends ? FUSED_OVERLAP : FUSED_DEADLOCK;
    }
    renew_times(state, &reach);
    return FUSED_OK;
}

struct fused_outcome fused_move(struct fused_incremental *state, uint32_t tensor, uint32_t place,
                                int32_t start, int32_t end)
{
    struct fused_tensor wanted = state->tensor[tensor];
    uint32_t from = state->place[tensor];
    wanted.start = start;
    wanted.end = end;
    state->undo = (struct undo){.tensor = tensor,
                                .place = from,
                                .start = state->tensor[tensor].start,
                                .end = state->tensor[tensor].end,
                                .cycle = state->cycle};
    if (!fused_alive(&wanted, state->n_tile))
        return refuse(state, FUSED_LIFETIME, tensor);
    if (from != UINT32_MAX) {
        uint32_t bad = find_too_early(state, from, place);
        if (bad != UINT32_MAX)
            return refuse(state, FUSED_ORDER, bad);
        enum fused_fault fault = move_transfer(state, from, place, &wanted, &bad);
        if (fault != FUSED_OK)
            return refuse(state, fault, bad);
    }
    set_living(state, &state->tensor[tensor], start, end);
    state->undo.changed = true;
    return fused_incremental_outcome(state);
}

struct fused_outcome fused_move_order(struct fused_incremental *state, uint32_t from, uint32_t to)
{
    uint32_t tensor = state->order[from];
    return fused_move(state, tensor, to, state->tensor[tensor].start, state->tensor[tensor].end);
}

void fused_undo(struct fused_incremental *state)
{
    const struct undo *undo = &state->undo;
    if (!undo->changed)
        return;
    struct fused_tensor *tensor = &state->tensor[undo->tensor];
    set_living(state, tensor, undo->start, undo->end);
    if (undo->place != UINT32_MAX) {
        uint32_t n_tile = undo->past_tile - undo->first_tile,
                 n_dram = undo->past_transfer - undo->first_transfer;
        change_transfer(state, state->place[undo->tensor], undo->place, tensor);
        memcpy(&state->tile_finish[undo->first_tile + 1], &state->tile_saved[undo->first_tile + 1],
               n_tile * sizeof *state->tile_finish);
        memcpy(&state->dram_finish[undo->first_transfer + 1], &state->dram_saved[undo->first_transfer + 1],
               n_dram * sizeof *state->dram_finish);
    }
    state->cycle = undo->cycle;
    state->undo.changed = false;
}

const struct fused_tensor *fused_incremental_tensor(const struct fused_incremental *state)
{
    return state->tensor;
}

const uint32_t *fused_incremental_order(const struct fused_incremental *state)
{
    return state->order;
}

uint32_t fused_incremental_place(const struct fused_incremental *state, uint32_t tensor)
{
    return state->place[tensor];
}

uint32_t fused_incremental_due(const struct fused_incremental *state, uint32_t place)
{
    return state->need[place];
}

int32_t fused_incremental_earliest_start(const struct fused_incremental *state, uint32_t tensor)
{
    const struct fused_tensor *t = &state->tensor[tensor];
    return (int32_t)fused_occupancy_last_above(&state->occupancy, (uint32_t)(t->start + 1),
                                               (int64_t)state->buffer_byte - (int64_t)t->byte);
}

int32_t fused_incremental_latest_end(const struct fused_incremental *state, uint32_t tensor)
{
    const struct fused_tensor *t = &state->tensor[tensor];
    int64_t full = fused_occupancy_first_above(&state->occupancy, (uint32_t)(t->end + 1),
                                               (int64_t)state->buffer_byte - (int64_t)t->byte);
    return full < 0 || full > state->n_tile ? (int32_t)state->n_tile : (int32_t)full - 1;
}

uint64_t fused_incremental_tile_finish(const struct fused_incremental *state, uint32_t p)
{
    return state->tile_finish[p + 1];
}

void fused_incremental_save(const struct fused_incremental *state, struct fused_schedule *schedule)
{
    memcpy(schedule->dram_order, state->order, state->n_dram * sizeof *state->order);
    for (uint32_t i = 0; i < state->n_tensor; i++) {
        schedule->tensor[i].start = state->tensor[i].start;
        schedule->tensor[i].end = state->tensor[i].end;
    }
}

static bool comes_in_pieces(const struct fused_schedule *schedule)
{
    for (uint32_t i = 0; i < schedule->n_tensor; i++)
        if (schedule->tensor[i].streamed > 1)
            return true;
    return false;
}

/* Everything from the schedule; it is sound. */
static void fill(struct fused_incremental *state, const struct fused_schedule *schedule,
                 const struct fused_machine *machine)
{
    memcpy(state->tensor, schedule->tensor, state->n_tensor * sizeof *state->tensor);
    for (uint32_t i = 0; i < state->n_tensor; i++) {
        const struct fused_tensor *tensor = &state->tensor[i];
        state->place[i] = UINT32_MAX;
        occupy(state, tensor->start, tensor->end, (int64_t)tensor->byte);
    }
    for (uint32_t k = 0; k < state->n_dram; k++) {
        const struct fused_tensor *tensor = &state->tensor[schedule->dram_order[k]];
        state->order[k] = schedule->dram_order[k];
        state->place[state->order[k]] = k;
        state->transfer[k].tensor = state->order[k];
        state->transfer[k].cycle = fused_transfer_cycle(tensor, machine);
        if (state->ahead && tensor->streamed > 1 && tensor->first_use >= 0)
            state->ahead[state->order[k]] = fused_ahead(tensor->streamed, state->transfer[k].cycle,
                                                        schedule->tile[tensor->first_use].cycle);
        set_duration(state, tensor, &state->transfer[k]);
    }
    for (uint32_t p = 0; p < state->n_tile; p++)
        state->tile_cycle[p] = schedule->tile[p].cycle;
    state->need[state->n_dram] = 2 * state->n_tile;
    for (uint32_t k = state->n_dram; k-- > 0;)
        state->need[k] = need_at(state, k);
    struct reach all = {.high = state->n_dram};
    renew_times(state, &all);
}

enum dse_status fused_incremental_new(const struct fused_schedule *schedule,
                                      const struct fused_machine *machine, struct arena *arena,
                                      struct fused_incremental **made, struct dse_error *err)
{
    struct fused_result result;
    DSE_TRY(fused_evaluate(schedule, machine, arena, NULL, &result, err));
    if (result.fault != FUSED_OK && result.fault != FUSED_BUFFER)
        return dse_fail(err, DSE_BAD_INPUT, "the schedule to start from has a fault at tensor %u",
                        result.fault_tensor);
    struct fused_incremental *state = arena_alloc(arena, 1, sizeof *state);
    DSE_TRY(arena_check(arena, "a search over tensors", err));
    state->buffer_byte = machine->buffer_byte;
    state->n_tile = schedule->n_tile;
    state->n_tensor = schedule->n_tensor;
    state->n_dram = schedule->n_dram;
    allocate(state, arena);
    if (comes_in_pieces(schedule))
        state->ahead = arena_alloc(arena, (size_t)state->n_tensor + 1, sizeof *state->ahead);
    DSE_TRY(arena_check(arena, "a search over tensors", err));
    fill(state, schedule, machine);
    *made = state;
    return DSE_OK;
}
