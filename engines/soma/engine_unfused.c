/* The layer-by-layer reference: nothing fused, double buffering. */
#include <inttypes.h>
#include <stdio.h>

#include "engines/soma/offer.h"
#include "engines/soma/soma_engines.h"

enum { OPTION_COMPAT, N_OPTION };

static const struct engine_option option[N_OPTION] = {SOMA_OPTION_COMPAT};

struct state {
    struct soma_task task;
    struct soma_lfa lfa;
    bool *finest; /* (n_layer) the layer cannot be cut into more tiles */
    struct arena scratch;
};

/* Every layer a group of its own behind a DRAM cut. By the published program's rules the pools before a classifier are in its
 * layer group. */
static void place_cuts(struct state *state)
{
    const struct soma_context *context = &state->task.search.context;
    struct soma_lfa *lfa = &state->lfa;
    for (uint32_t at = 0; at < lfa->n_layer; at++) {
        lfa->order[at] = context->network->order[at];
        lfa->flc[at] = at;
        lfa->tiling[at] = 1;
        lfa->dram_cut[at] = true;
        if (!context->compat || !context->graph->classifier[lfa->order[at]])
            continue;
        for (uint32_t p = at; p > 0 && context->network->layer[lfa->order[p - 1]].type == LAYER_POOL; p--)
            lfa->dram_cut[p] = false;
    }
}

static enum dse_status unfused_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct arena *arena = engine_context_arena(context);
    uint32_t n = engine_context_task(context)->network->n_layer;
    arena_init(&state->scratch);
    DSE_TRY(soma_task_prepare(engine_context_task(context),
                              engine_context_option(context, OPTION_COMPAT) != 0, arena, &state->task, err));
    struct soma_lfa *lfa = &state->lfa;
    lfa->n_layer = lfa->n_flc = n;
    lfa->order = arena_alloc(arena, n, sizeof *lfa->order);
    lfa->flc = arena_alloc(arena, n, sizeof *lfa->flc);
    lfa->tiling = arena_alloc(arena, n, sizeof *lfa->tiling);
    lfa->dram_cut = arena_alloc(arena, n, sizeof *lfa->dram_cut);
    state->finest = arena_alloc(arena, n, sizeof *state->finest);
    if (!lfa->order || !lfa->flc || !lfa->tiling || !lfa->dram_cut || !state->finest)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a schedule of %u layers", n);
    place_cuts(state);
    return DSE_OK;
}

/* The layer whose activations take the most room where the buffer overflows, of those that can still be cut; n_layer: none. */
static uint32_t largest_layer(const struct state *state, const struct fused_schedule *fused, int32_t position)
{
    uint32_t largest = state->lfa.n_layer;
    uint64_t most = 0;
    for (uint32_t i = 0; i < fused->n_tensor; i++) {
        const struct fused_tensor *tensor = &fused->tensor[i];
        if (tensor->kind == FUSED_WEIGHT || tensor->start > position || position >= tensor->end ||
            tensor->byte <= most || state->finest[tensor->layer])
            continue;
        most = tensor->byte;
        largest = tensor->layer;
    }
    return largest;
}

static uint32_t group_of(const struct soma_lfa *lfa, uint32_t layer)
{
    uint32_t g = 0;
    while (lfa->order[g] != layer)
        g++;
    return g;
}

static void explain(const struct state *state, struct engine_context *context,
                    const struct fused_schedule *fused, const struct fused_result *result)
{
    char reason[ENGINE_REASON_MAX];
    uint64_t alive = 0;
    int32_t at = result->fault_position;
    uint32_t layer = fused->tile[at < 0 ? 0 : at].layer;
    for (uint32_t i = 0; i < fused->n_tensor; i++)
        if (fused->tensor[i].start <= at && at < fused->tensor[i].end)
            alive += fused->tensor[i].byte;
    (void)snprintf(
        reason, sizeof reason,
        "layer %.60s, in the smallest tiles, has %" PRIu64 " bytes in the global buffer of %" PRIu64 " bytes",
        state->task.search.context.network->layer[layer].name, alive, state->task.search.machine.buffer_byte);
    engine_context_explain(context, reason);
}

/* One try: what does not fit gets more tiles. */
static enum dse_status unfused_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                    struct dse_error *err)
{
    struct state *state = memory;
    struct soma_fault_info fault;
    struct fused_schedule fused;
    struct fused_result result;
    arena_reset(&state->scratch);
    DSE_TRY(soma_parse(&state->task.search.context, &state->lfa, &state->scratch, &fused, &fault, err));
    engine_context_count(context, 1);
    if (fault.what == SOMA_TILING) { /* the last doubling was one too many */
        state->lfa.tiling[group_of(&state->lfa, fault.layer)] /= 2;
        state->finest[fault.layer] = true;
        return DSE_OK;
    }
    if (fault.what != SOMA_OK)
        return dse_fail(err, DSE_INTERNAL, "a network layer by layer is no scheme: %s",
                        soma_fault_text(fault.what));
    DSE_TRY(fused_evaluate(&fused, &state->task.search.machine, &state->scratch, NULL, &result, err));
    if (result.fault != FUSED_BUFFER) {
        *stop = STOP_CONVERGED;
        return soma_offer(context, &state->task, &state->lfa, &fused, NULL, &state->scratch, err);
    }
    uint32_t layer = largest_layer(state, &fused, result.fault_position);
    if (layer < state->lfa.n_layer) {
        state->lfa.tiling[group_of(&state->lfa, layer)] *= 2;
        return DSE_OK;
    }
    explain(state, context, &fused, &result);
    *stop = STOP_CONVERGED;
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
