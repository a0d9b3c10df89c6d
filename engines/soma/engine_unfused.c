/* The layer-by-layer reference: nothing fused, double buffering. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "engines/soma/lfa_search.h"
#include "engines/soma/offer.h"
#include "engines/soma/soma_engines.h"

enum { OPTION_COMPAT, N_OPTION };

static const struct engine_option option[N_OPTION] = {SOMA_OPTION_COMPAT};

struct state {
    struct soma_task task;
    struct soma_lfa lfa;
    struct arena scratch;
};

static enum dse_status unfused_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    const struct engine_task *task = engine_context_task(context);
    arena_init(&state->scratch);
    DSE_TRY(soma_task_prepare(task, engine_context_option(context, OPTION_COMPAT) != 0,
                              engine_context_arena(context), &state->task, err));
    return soma_lfa_new(task->network->n_layer, engine_context_arena(context), &state->lfa, err);
}

/* The layer that computes where the buffer holds the most, with the bytes. */
static void explain_bytes(const struct state *state, struct engine_context *context,
                          const struct fused_schedule *fused, const uint64_t *living_byte)
{
    char reason[ENGINE_REASON_MAX];
    uint32_t at = 0;
    for (uint32_t q = 1; q <= fused->n_tile; q++)
        if (living_byte[q] > living_byte[at])
            at = q;
    const struct fused_tile *tile = &fused->tile[at > 0 ? at - 1 : 0];
    (void)snprintf(reason, sizeof reason,
                   "layer %.80s, cut into %u tiles, needs %" PRIu64
                   " bytes of the global buffer, which has %" PRIu64,
                   state->task.search.context.network->layer[tile->layer].name, state->lfa.tiling[tile->flc],
                   living_byte[at], state->task.search.machine.buffer_byte);
    engine_context_explain(context, reason);
}

static void explain_fault(const struct state *state, struct engine_context *context,
                          const struct soma_fault_info *fault, const struct dse_error *why)
{
    char reason[ENGINE_REASON_MAX];
    const char *text = fault->what == SOMA_COST ? why->text : soma_fault_text(fault->what);
    (void)snprintf(reason, sizeof reason, "layer %.80s: %.160s",
                   state->task.search.context.network->layer[fault->layer].name, text);
    engine_context_explain(context, reason);
}

static enum dse_status unfused_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                    struct dse_error *err)
{
    struct state *state = memory;
    const struct soma_search *search = &state->task.search;
    struct soma_price price;
    struct soma_fault_info fault;
    struct fused_schedule fused;
    struct fused_result result;
    struct dse_error why = {0};
    enum soma_moves moves = search->context.compat ? SOMA_MOVES_PUBLISHED : SOMA_MOVES_PAPER;
    *stop = STOP_CONVERGED;
    DSE_TRY(soma_initial_lfa(search, moves, search->machine.buffer_byte, &state->scratch, &state->lfa, &price,
                             err));
    engine_context_count(context, 1);
    arena_reset(&state->scratch);
    enum dse_status status = soma_parse(&search->context, &state->lfa, &state->scratch, &fused, &fault, &why);
    if (status != DSE_OK)
        return dse_fail(err, status, "%s", why.text);
    if (fault.what != SOMA_OK) {
        explain_fault(state, context, &fault, &why);
        return DSE_OK;
    }
    if (isfinite(price.cost))
        return soma_offer(context, &state->task, &state->lfa, &fused, NULL, &state->scratch, err);
    struct fused_trace trace = {
        .living_byte = arena_alloc(&state->scratch, (size_t)fused.n_tile + 1, sizeof *trace.living_byte)};
    if (!trace.living_byte)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a schedule of %u tiles", fused.n_tile);
    DSE_TRY(fused_evaluate(&fused, &search->machine, &state->scratch, &trace, &result, err));
    explain_bytes(state, context, &fused, trace.living_byte);
    return DSE_OK;
}

static void unfused_free(void *memory)
{
    struct state *state = memory;
    soma_task_free(&state->task);
    arena_free(&state->scratch);
}

const struct engine engine_unfused = {
    .name = "unfused",
    .summary =
        "The network layer by layer with double buffering: the reference that fusion is compared with.",
    .kind = ENGINE_SCHEDULER,
    .option = option,
    .n_option = N_OPTION,
    .state_byte = sizeof(struct state),
    .init = unfused_init,
    .step = unfused_step,
    .verify = soma_verify,
    .free = unfused_free,
};
