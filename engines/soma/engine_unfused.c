/* The layer-by-layer reference: nothing fused, double buffering. */
#include <math.h>

#include "engines/soma/explain.h"
#include "engines/soma/offer.h"
#include "engines/soma/soma_engines.h"
#include "engines/soma/soma_metrics.h"
#include "engines/soma/unfused.h"

enum { OPTION_COMPAT, OPTION_CORE, OPTION_CORE_EVALUATIONS, N_OPTION };

static const struct engine_option option[N_OPTION] = {SOMA_OPTION_COMPAT, SOMA_OPTION_CORE,
                                                      SOMA_OPTION_CORE_EVALUATIONS};

struct state {
    struct soma_task task;
    struct soma_unfused unfused;
    struct arena scratch;
};

static enum dse_status unfused_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    arena_init(&state->scratch);
    DSE_TRY(soma_task_of(context, OPTION_CORE, &state->task, err));
    soma_unfused_new(state->task.search.context.network->n_layer, engine_context_arena(context),
                     &state->unfused);
    return arena_check(engine_context_arena(context), "a fusion of layers", err);
}

static enum dse_status find(struct state *state, struct engine_context *context, struct dse_error *err)
{
    DSE_TRY(soma_offer_unfused(context, &state->task, SOMA_MOVES_PAPER, 1, &state->scratch, &state->unfused,
                               err));
    engine_context_count(context, state->unfused.n_priced);
    return DSE_OK;
}

static enum dse_status unfused_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                    struct dse_error *err)
{
    struct state *state = memory;
    const struct soma_search *search = &state->task.search;
    DSE_TRY(find(state, context, err));
    if (soma_search_is_over(search) || engine_context_left(context) == 0)
        return DSE_OK; /* the driver says which limit it was */
    if (isinf(state->unfused.price.cost))
        return soma_late_end(context, &state->task, &state->unfused, &state->scratch, stop, err);
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
    .summary = "layer by layer with double buffering and tuned tiles: what fusion is compared with",
    .kind = ENGINE_SCHEDULER,
    .accounting = soma_accountings,
    .takes_only = SOMA_TAKES_ONLY,
    .takes_machine = soma_takes_machine,
    .known_as = soma_known_as,
    .takes_task = soma_takes_network,
    .group = &soma_group,
    .remark = soma_remark,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 7e-5, .evaluations = 0, .evaluation_s = 0},
    .state_byte = sizeof(struct state),
    .init = unfused_init,
    .step = unfused_step,
    .verify = soma_verify,
    .free = unfused_free,
};
