/* The plain evaluation of a fused schedule (docs/fused-schedule.md): checks it, then runs core array and
 * DRAM side by side, each as far as the other needs it, and sums up times, energy and buffer use. */
#include "costmodel/fused/fused_rule.h"

/* Working memory of one evaluation. Finish times are counted from 1, so that [0] is "nothing yet", at 0. */
struct evaluation_state {
    const struct fused_schedule *schedule;
    const struct fused_machine *machine;
    bool *in_order;    /* (n_tensor) */
    uint32_t *barrier; /* (n_tile + 1) so many tensors of the DRAM order are over before the tile starts */
    uint64_t *tile_finish;    /* (n_tile + 1) */
    uint64_t *dram_finish;    /* (n_dram + 1) */
    uint64_t *transfer_cycle; /* (n_dram) */
    uint64_t *living_byte;    /* (n_tile + 2) from position -1 */
    bool pieces;              /* something comes in pieces */
};

static void allocate(struct evaluation_state *state, struct arena *scratch)
{
    const struct fused_schedule *schedule = state->schedule;
    state->in_order = arena_alloc(scratch, (size_t)schedule->n_tensor + 1, sizeof *state->in_order);
    state->barrier = arena_alloc(scratch, (size_t)schedule->n_tile + 1, sizeof *state->barrier);
    state->tile_finish = arena_alloc_unset(scratch, (size_t)schedule->n_tile + 1, sizeof *state->tile_finish);
    state->dram_finish = arena_alloc_unset(scratch, (size_t)schedule->n_dram + 1, sizeof *state->dram_finish);
    state->transfer_cycle =
        arena_alloc_unset(scratch, (size_t)schedule->n_dram + 1, sizeof *state->transfer_cycle);
    state->living_byte = arena_alloc(scratch, (size_t)schedule->n_tile + 2, sizeof *state->living_byte);
}

static enum dse_status check_tensor(const struct fused_schedule *schedule, uint32_t i, struct dse_error *err)
{
    const struct fused_tensor *tensor = &schedule->tensor[i];
    int64_t n_tile = schedule->n_tile;
    bool made = tensor->kind == FUSED_OFMAP || tensor->kind == FUSED_LOCAL;
    if (tensor->producer_tile >= n_tile || (made ? tensor->producer_tile < 0 : tensor->producer_tile >= 0))
        return dse_fail(err, DSE_BAD_INPUT,
                        "tensor %u: producer tile %d; a tensor that is loaded has none (-1), the others "
                        "one of the %lld tiles",
                        i, tensor->producer_tile, (long long)n_tile);
    if (tensor->first_use >= n_tile || tensor->last_use >= n_tile || tensor->last_read >= n_tile ||
        (tensor->first_use >= 0 && tensor->last_use < tensor->first_use))
        return dse_fail(err, DSE_BAD_INPUT, "tensor %u: used by tiles %d to %d; there are %lld tiles", i,
                        tensor->first_use, tensor->last_use, (long long)n_tile);
    return DSE_OK;
}

static enum dse_status check_order(struct evaluation_state *state, struct dse_error *err)
{
    const struct fused_schedule *schedule = state->schedule;
    uint32_t n_moved = 0;
    for (uint32_t i = 0; i < schedule->n_tensor; i++) {
        DSE_TRY(check_tensor(schedule, i, err));
        n_moved += schedule->tensor[i].kind != FUSED_LOCAL;
        state->pieces |= schedule->tensor[i].streamed > 1;
    }
    if (n_moved != schedule->n_dram)
        return dse_fail(err, DSE_BAD_INPUT, "the DRAM order has %u tensors; %u are loaded or stored",
                        schedule->n_dram, n_moved);
    for (uint32_t k = 0; k < schedule->n_dram; k++) {
        uint32_t i = schedule->dram_order[k];
        if (i >= schedule->n_tensor || schedule->tensor[i].kind == FUSED_LOCAL || state->in_order[i])
            return dse_fail(err, DSE_BAD_INPUT, "DRAM order, place %u: tensor %u %s", k, i,
                            i >= schedule->n_tensor                   ? "does not exist"
                            : schedule->tensor[i].kind == FUSED_LOCAL ? "stays in the buffer"
                                                                      : "stands there twice");
        state->in_order[i] = true;
        state->transfer_cycle[k] = fused_transfer_cycle(&schedule->tensor[i], state->machine);
    }
    return DSE_OK;
}

static void set_fault(struct fused_result *result, enum fused_fault fault, uint32_t tensor, int32_t position)
{
    if (result->fault != FUSED_OK)
        return;
    result->fault = fault;
    result->fault_tensor = tensor;
    result->fault_position = position;
}

static void check_lifetimes(const struct fused_schedule *schedule, struct fused_result *result)
{
    for (uint32_t i = 0; i < schedule->n_tensor; i++)
        if (!fused_alive(&schedule->tensor[i], schedule->n_tile))
            set_fault(result, FUSED_LIFETIME, i, 0);
}

/* A load of another layer's result comes after the last store of that layer, and there is one. */
static enum dse_status check_dependences(const struct fused_schedule *schedule, struct arena *scratch,
                                         struct fused_result *result, struct dse_error *err)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < schedule->n_tensor; i++)
        if (schedule->tensor[i].kind == FUSED_OFMAP && schedule->tensor[i].layer > last)
            last = schedule->tensor[i].layer;
    uint32_t *after = arena_alloc(scratch, (size_t)last + 1, sizeof *after); /* place of the last store + 1 */
    DSE_TRY(arena_check(scratch, "the stores of layers", err));
    for (uint32_t k = 0; k < schedule->n_dram; k++) {
        const struct fused_tensor *tensor = &schedule->tensor[schedule->dram_order[k]];
        if (tensor->kind == FUSED_OFMAP)
            after[tensor->layer] = k + 1;
    }
    for (uint32_t k = 0; k < schedule->n_dram; k++) {
        const struct fused_tensor *tensor = &schedule->tensor[schedule->dram_order[k]];
        if (tensor->kind != FUSED_IFMAP || tensor->source < 0)
            continue;
        uint32_t source = (uint32_t)tensor->source;
        if (source > last || after[source] == 0 || after[source] > k)
            set_fault(result, FUSED_ORDER, schedule->dram_order[k], 0);
    }
    return DSE_OK;
}

static void find_barriers(const struct evaluation_state *state)
{
    const struct fused_schedule *schedule = state->schedule;
    for (uint32_t k = 0; k < schedule->n_dram; k++) {
        const struct fused_tensor *tensor = &schedule->tensor[schedule->dram_order[k]];
        state->barrier[fused_first_waiter(tensor, schedule->n_tile)] = k + 1; /* the last one counts */
    }
    uint32_t most = 0, *barrier = state->barrier;
    for (uint32_t p = 0; p < schedule->n_tile; p++) {
        most = barrier[p] > most ? barrier[p] : most;
        barrier[p] = most;
    }
}

static void move_tensor(const struct evaluation_state *state, uint32_t k, struct fused_trace *trace)
{
    uint32_t i = state->schedule->dram_order[k];
    const struct fused_tensor *tensor = &state->schedule->tensor[i];
    uint64_t ready = state->tile_finish[fused_release(tensor)];
    uint64_t start = ready > state->dram_finish[k] ? ready : state->dram_finish[k];
    state->dram_finish[k + 1] = start + state->transfer_cycle[k];
    if (trace && trace->tensor_start)
        trace->tensor_start[i] = start;
    if (trace && trace->tensor_finish)
        trace->tensor_finish[i] = state->dram_finish[k + 1];
}

/* When all that tile p waits for is there, or, of a load in pieces that is the last, enough of it. */
static uint64_t ready_for(const struct evaluation_state *state, uint32_t p)
{
    const struct fused_schedule *schedule = state->schedule;
    uint32_t n = state->barrier[p];
    uint64_t ready = state->dram_finish[n];
    const struct fused_tensor *last = n > 0 ? &schedule->tensor[schedule->dram_order[n - 1]] : NULL;
    if (last && last->streamed > 1 && last->first_use == (int32_t)p)
        ready -= fused_ahead(last->streamed, state->transfer_cycle[n - 1], schedule->tile[p].cycle);
    return ready;
}

static void run_tile(const struct evaluation_state *state, uint32_t p, struct fused_trace *trace)
{
    uint64_t idle = state->tile_finish[p];
    uint64_t ready = state->pieces ? ready_for(state, p) : state->dram_finish[state->barrier[p]];
    uint64_t start = ready > idle ? ready : idle;
    state->tile_finish[p + 1] = start + state->schedule->tile[p].cycle;
    if (trace && trace->tile_start)
        trace->tile_start[p] = start;
    if (trace && trace->tile_stall)
        trace->tile_stall[p] = start - idle;
    if (trace && trace->tile_finish)
        trace->tile_finish[p] = state->tile_finish[p + 1];
}

/* Both engines, each as far as the other needs it. False: stuck, before tensor `*stuck` of the DRAM order. */
static bool run_engines(const struct evaluation_state *state, struct fused_trace *trace, uint32_t *stuck)
{
    const struct fused_schedule *schedule = state->schedule;
    uint32_t k = 0;
    state->tile_finish[0] = state->dram_finish[0] = 0;
    for (uint32_t p = 0; p <= schedule->n_tile; p++) {
        uint32_t until = p < schedule->n_tile ? state->barrier[p] : schedule->n_dram;
        for (; k < until; k++) {
            if (fused_release(&schedule->tensor[schedule->dram_order[k]]) > p) {
                *stuck = k;
                return false;
            }
            move_tensor(state, k, trace);
        }
        if (p < schedule->n_tile)
            run_tile(state, p, trace);
    }
    return true;
}

/* The first load of the order that may begin when a tensor behind it has to be over; at no time does either
 * position count both. */
static void check_overlaps(const struct fused_schedule *schedule, struct fused_result *result)
{
    uint32_t due = UINT32_MAX, overlap = UINT32_MAX;
    for (uint32_t k = schedule->n_dram; k-- > 0;) {
        const struct fused_tensor *tensor = &schedule->tensor[schedule->dram_order[k]];
        uint32_t own = fused_due(tensor, schedule->n_tile);
        due = own < due ? own : due;
        if (fused_released(tensor) >= due)
            overlap = schedule->dram_order[k];
    }
    if (overlap != UINT32_MAX)
        set_fault(result, FUSED_OVERLAP, overlap, 0);
}

static void sum_living(const struct evaluation_state *state, struct fused_result *result)
{
    const struct fused_schedule *schedule = state->schedule;
    uint64_t *living = state->living_byte; /* first the differences; unsigned wrap cancels out */
    for (uint32_t i = 0; i < schedule->n_tensor; i++) {
        const struct fused_tensor *tensor = &schedule->tensor[i];
        if (tensor->start >= tensor->end)
            continue;
        living[tensor->start < 0 ? 0 : fused_clip(tensor->start, schedule->n_tile) + 1] += tensor->byte;
        living[tensor->end < 0 ? 0 : fused_clip(tensor->end, schedule->n_tile) + 1] -= tensor->byte;
    }
    uint64_t sum = 0, most = 0, room = state->machine->buffer_byte;
    for (uint32_t q = 0; q <= schedule->n_tile; q++) {
        sum += living[q];
        living[q] = sum;
        most = sum > most ? sum : most;
        if (sum > room)
            set_fault(result, FUSED_BUFFER, 0, (int32_t)q - 1);
    }
    result->buffer_max_byte = most;
}

static void sum_up(const struct evaluation_state *state, struct fused_result *result)
{
    const struct fused_schedule *schedule = state->schedule;
    for (uint32_t p = 0; p < schedule->n_tile; p++) {
        result->compute_cycle += schedule->tile[p].cycle;
        result->core_energy_j += schedule->tile[p].energy_j;
    }
    uint64_t byte[FUSED_N_WAY] = {0}, all = 0, cycle = 0;
    for (uint32_t k = 0; k < schedule->n_dram; k++) {
        all += schedule->tensor[schedule->dram_order[k]].dram_byte;
        cycle += state->transfer_cycle[k];
    }
    for (uint32_t k = 0; k < schedule->n_dram && state->machine->differs; k++) {
        const struct fused_tensor *tensor = &schedule->tensor[schedule->dram_order[k]];
        byte[fused_way(tensor)] += tensor->dram_byte;
    }
    if (!state->machine->differs)
        byte[FUSED_LOADED] = all; /* whichever way */
    result->dram_byte = all;
    result->dram_cycle = cycle;
    result->stream_byte = byte[FUSED_STREAMED_IN] + byte[FUSED_STREAMED_OUT];
    result->dram_energy_j = fused_dram_energy_j(byte, state->machine);
    result->energy_j = result->core_energy_j + result->dram_energy_j;
}

/* The averages of docs/fused-schedule.md over a schedule that ends. */
static void average_living(const struct evaluation_state *state, struct fused_result *result)
{
    const struct fused_schedule *schedule = state->schedule;
    uint32_t n_tile = schedule->n_tile;
    double by_time = 0, by_compute = 0, compat = 0;
    uint64_t started = 0;
    for (uint32_t p = 0; p < n_tile; p++) {
        double living = (double)state->living_byte[p + 1];
        uint64_t start = state->tile_finish[p + 1] - schedule->tile[p].cycle;
        by_time += living * (double)(state->tile_finish[p + 1] - state->tile_finish[p]);
        by_compute += living * (double)schedule->tile[p].cycle;
        compat += living * (double)(start - started);
        started = start;
    }
    by_time += (double)state->living_byte[n_tile] * (double)(result->cycle - state->tile_finish[n_tile]);
    if (result->cycle > 0) {
        result->buffer_average_byte = by_time / (double)result->cycle;
        result->buffer_average_compat_byte = compat / (double)result->cycle;
    }
    if (result->compute_cycle > 0)
        result->buffer_average_compute_byte = by_compute / (double)result->compute_cycle;
}

static void clear_trace(const struct fused_schedule *schedule, struct fused_trace *trace)
{
    uint64_t *of_tile[] = {trace->tile_start, trace->tile_finish, trace->tile_stall};
    uint64_t *of_tensor[] = {trace->tensor_start, trace->tensor_finish};
    for (size_t a = 0; a < sizeof of_tile / sizeof of_tile[0]; a++)
        for (uint32_t p = 0; of_tile[a] && p < schedule->n_tile; p++)
            of_tile[a][p] = FUSED_NEVER;
    for (size_t a = 0; a < sizeof of_tensor / sizeof of_tensor[0]; a++)
        for (uint32_t i = 0; of_tensor[a] && i < schedule->n_tensor; i++)
            of_tensor[a][i] = schedule->tensor[i].kind == FUSED_LOCAL ? 0 : FUSED_NEVER;
}

enum dse_status fused_evaluate(const struct fused_schedule *schedule, const struct fused_machine *machine,
                               struct arena *scratch, struct fused_trace *trace, struct fused_result *result,
                               struct dse_error *err)
{
    struct evaluation_state state = {.schedule = schedule, .machine = machine};
    *result = (struct fused_result){.fault = FUSED_OK, .cycle = FUSED_NEVER};
    if (machine->dram_rate.byte == 0 || (machine->differs && machine->store_rate.byte == 0))
        return dse_fail(err, DSE_BAD_INPUT, "the DRAM moves 0 bytes in %llu cycles; it must be 1 or more",
                        (unsigned long long)machine->dram_rate.cycle);
    allocate(&state, scratch);
    DSE_TRY(arena_check(scratch, "the evaluation of a schedule", err));
    DSE_TRY(check_order(&state, err));
    if (trace)
        clear_trace(schedule, trace);
    check_lifetimes(schedule, result);
    DSE_TRY(check_dependences(schedule, scratch, result, err));
    find_barriers(&state);
    uint32_t stuck = 0;
    bool ends = run_engines(&state, trace, &stuck);
    if (!ends)
        set_fault(result, FUSED_DEADLOCK, schedule->dram_order[stuck], 0);
    check_overlaps(schedule, result);
    sum_living(&state, result);
    for (uint32_t q = 0; trace && trace->living_byte && q <= schedule->n_tile; q++)
        trace->living_byte[q] = state.living_byte[q];
    sum_up(&state, result);
    if (ends) {
        uint64_t computed = state.tile_finish[schedule->n_tile], moved = state.dram_finish[schedule->n_dram];
        result->cycle = computed > moved ? computed : moved;
        result->stall_cycle = computed - result->compute_cycle;
        average_living(&state, result);
    }
    return DSE_OK;
}
