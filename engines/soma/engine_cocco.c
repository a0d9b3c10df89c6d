/* The Cocco baseline as the SoMa paper describes it (HPCA 2025, sections IV-D, VI-B3 and VII-B1): annealing
 * over computing order and DRAM cuts alone; fine-grained groups are the layer groups, tiling numbers follow
 * from the core array, and buffering is double. */
#include <math.h>

#include "engines/soma/explain.h"
#include "engines/soma/offer.h"
#include "engines/soma/search/lfa_search.h"
#include "engines/soma/search/starts.h"
#include "engines/soma/soma_engines.h"
#include "engines/soma/soma_metrics.h"
#include "engines/soma/unfused.h"

enum {
    OPTION_COMPAT,
    OPTION_TILING,
    OPTION_FALLBACK,
    OPTION_ROUNDS,
    OPTION_ALPHA,
    OPTION_FIRST_TEMPERATURE,
    OPTION_STARTS,
    OPTION_GREEDY_ROUNDS,
    OPTION_CORE,
    OPTION_CORE_EVALUATIONS,
    N_OPTION
};

enum { TILING_PARALLEL, TILING_INHERIT, TILING_TUNED };

enum {
    ROUNDS_AT_ONCE = 500,
    ROUNDS_A_LOOK = 16,
    RANDOM_COCCO = 15
}; /* a use of random streams that no other engine has */

static const char *const tiling_name[] = {"parallel", "inherit", "tuned"};

static const struct engine_option option[N_OPTION] = {
    [OPTION_COMPAT] = SOMA_OPTION_COMPAT,
    [OPTION_TILING] = {"tiling",
                       "a group's tiling number: the most that a layer of it needs to keep the core "
                       "array busy; one of those of the groups that were fused; or that, from the numbers "
                       "that are best layer by layer",
                       "", OPTION_CHOICE, TILING_TUNED, TILING_PARALLEL, TILING_TUNED, tiling_name},
    [OPTION_FALLBACK] = {"fallback",
                         "the network unfused counts, too; no: only what the search comes by, as in the "
                         "paper (with tuned tilings that begins with the network unfused)",
                         "", OPTION_BOOL, 1, 0, 1, NULL},
    [OPTION_ROUNDS] = {"rounds", "rounds of annealing, per layer of the network", "", OPTION_REAL, 100, 0,
                       1e9, NULL},
    [OPTION_ALPHA] = SOMA_OPTION_ALPHA,
    [OPTION_FIRST_TEMPERATURE] = SOMA_OPTION_FIRST_TEMPERATURE(0.1),
    [OPTION_STARTS] = SOMA_OPTION_STARTS(1),
    [OPTION_GREEDY_ROUNDS] = {"greedy_rounds", "rounds at the end that take only what is better", "",
                              OPTION_INTEGER, 0, 0, 1e15, NULL},
    [OPTION_CORE] = SOMA_OPTION_CORE,
    [OPTION_CORE_EVALUATIONS] = SOMA_OPTION_CORE_EVALUATIONS,
};

struct state {
    struct soma_task task;
    struct soma_unfused unfused;
    bool begun;
    struct soma_starts starts;
    struct soma_lfa_search **search; /* (starts.n); NULL: not made */
    double offered;                  /* cost */
    struct arena scratch;
};

static enum dse_status step_search(void *memory, uint32_t i, uint64_t n, bool *done, struct dse_error *err)
{
    struct state *state = memory;
    for (uint64_t k = 0; k < n && !*done && !soma_search_is_over(&state->task.search); k += ROUNDS_A_LOOK)
        DSE_TRY(
            soma_lfa_search_step(state->search[i], n - k < ROUNDS_A_LOOK ? n - k : ROUNDS_A_LOOK, done, err));
    return DSE_OK;
}

static uint64_t search_rounds(const void *memory, uint32_t i)
{
    const struct state *state = memory;
    return soma_lfa_search_rounds(state->search[i]);
}

static const struct soma_starts_hooks hooks = {.step = step_search, .rounds = search_rounds};

static enum dse_status make_starts(struct state *state, struct engine_context *context, struct dse_error *err)
{
    const struct engine_task *task = engine_context_task(context);
    const struct soma_search *search = &state->task.search;
    struct arena *arena = engine_context_arena(context);
    uint32_t n = (uint32_t)engine_context_option(context, OPTION_STARTS);
    const bool tuned = engine_context_option(context, OPTION_TILING) == TILING_TUNED;
    const struct soma_lfa *start = tuned ? &state->unfused.tuned : &state->unfused.start;
    const struct soma_lfa_options options = {
        .moves = SOMA_MOVES_COCCO,
        .inherit_tiling = engine_context_option(context, OPTION_TILING) != TILING_PARALLEL,
        .n_round = (uint64_t)ceil(engine_context_option(context, OPTION_ROUNDS) * soma_search_layers(search)),
        .greedy_round = (uint64_t)engine_context_option(context, OPTION_GREEDY_ROUNDS),
        .first_temperature = engine_context_option(context, OPTION_FIRST_TEMPERATURE),
        .alpha = engine_context_option(context, OPTION_ALPHA),
        .return_share = 0.9};
    state->search = arena_alloc(arena, n, sizeof *state->search);
    soma_starts_init(&state->starts, &hooks, state, ROUNDS_AT_ONCE, n, arena);
    DSE_TRY(arena_check(arena, "the searches", err));
    for (uint32_t i = 0; i < n; i++)
        DSE_TRY(soma_lfa_search_new(search, &options, start, search->machine.buffer_byte,
                                    soma_start_stream(task->seed, task->key, i, RANDOM_COCCO), arena,
                                    &state->search[i], err));
    return DSE_OK;
}

static enum dse_status cocco_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    arena_init(&state->scratch);
    state->offered = INFINITY;
    DSE_TRY(soma_task_of(context, OPTION_CORE, &state->task, err));
    soma_unfused_new(state->task.search.context.network->n_layer, engine_context_arena(context),
                     &state->unfused);
    return arena_check(engine_context_arena(context), "a fusion of layers", err);
}

/* No fusion at all counts too, and is where groups inherit tuned tiling numbers from. */
static enum dse_status offer_unfused(struct state *state, struct engine_context *context,
                                     struct dse_error *err)
{
    state->begun = true;
    return soma_offer_unfused(context, &state->task, SOMA_MOVES_COCCO, SOMA_UNFUSED_SHARE, &state->scratch,
                              &state->unfused, err);
}

/* Where the search begins; as long as there is none, for want of time, the network unfused is the answer. */
static enum dse_status find_start(struct state *state, struct engine_context *context, struct dse_error *err)
{
    const struct soma_search *search = &state->task.search;
    if (engine_context_option(context, OPTION_FALLBACK) ||
        engine_context_option(context, OPTION_TILING) == TILING_TUNED)
        return offer_unfused(state, context, err);
    const enum dse_status status = soma_initial_lfa(search, SOMA_MOVES_COCCO, search->machine.buffer_byte,
                                                    NULL, &state->unfused.start, &state->unfused.price, err);
    if (!search->context.compat && (status == DSE_LIMIT || state->unfused.price.is_long))
        return offer_unfused(state, context, err); /* which may be long */
    if (status != DSE_OK)
        return status;
    state->begun = !soma_search_is_over(search);
    return DSE_OK;
}

static enum dse_status begin(struct state *state, struct engine_context *context, enum engine_stop *stop,
                             struct dse_error *err)
{
    const struct soma_search *search = &state->task.search;
    DSE_TRY(find_start(state, context, err));
    if (soma_search_is_over(search))
        return DSE_OK;
    if (state->unfused.price.is_long) {
        *stop = STOP_CONVERGED;
        return DSE_OK;
    }
    if (isfinite(state->unfused.price.cost))
        return make_starts(state, context, err);
    return soma_late_end(context, &state->task, &state->unfused, &state->scratch, stop, err);
}

static enum dse_status offer_best(struct state *state, struct engine_context *context, struct dse_error *err)
{
    const struct soma_lfa *best = NULL;
    struct fused_schedule fused;
    struct soma_price price;
    for (uint32_t i = 0; i < state->starts.n; i++) {
        const struct soma_lfa *lfa = soma_lfa_search_best(state->search[i], &price);
        if (!(price.cost < state->offered) || !soma_search_can_make(&state->task.search, &price))
            continue;
        state->offered = price.cost;
        best = lfa;
    }
    if (!best)
        return DSE_OK;
    arena_reset(&state->scratch);
    DSE_TRY(soma_price_lfa(&state->task.search, best, state->task.search.machine.buffer_byte, &state->scratch,
                           &fused, &price, err));
    return soma_offer(context, &state->task, best, &fused, NULL, &state->scratch, err);
}

/* The time may have been over before the search began. */
static enum dse_status cocco_finish(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    return state->begun ? offer_best(state, context, err) : offer_unfused(state, context, err);
}

static enum dse_status cocco_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                  struct dse_error *err)
{
    struct state *state = memory;
    bool done;
    if (!state->begun)
        return begin(state, context, stop, err);
    DSE_TRY(soma_starts_step(&state->starts, context, &done, err));
    if (done && !soma_search_is_over(&state->task.search))
        *stop = STOP_CONVERGED;
    return offer_best(state, context, err);
}

static void cocco_free(void *memory)
{
    struct state *state = memory;
    for (uint32_t i = 0; i < state->starts.n; i++)
        soma_lfa_search_free(state->search[i]);
    soma_task_free(&state->task);
    arena_free(&state->scratch);
}

const struct engine engine_cocco = {
    .name = "cocco",
    .summary = "annealing over which layers are fused; buffering is double (the Cocco baseline)",
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
    .effort = {.fixed_s = 7e-5, .evaluations = 100, .evaluation_s = 4e-6, .option = {"rounds", "starts"}},
    .state_byte = sizeof(struct state),
    .init = cocco_init,
    .step = cocco_step,
    .finish = cocco_finish,
    .verify = soma_verify,
    .free = cocco_free,
};
