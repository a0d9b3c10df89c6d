/* soma-plus: layer fusion and DRAM scheduling searched together, each fusion priced by what list scheduling
 * of the DRAM makes of the whole buffer, with a lower bound of the cost. docs/soma-search.md. */
#include <math.h>

#include "engines/soma/explain.h"
#include "engines/soma/offer.h"
#include "engines/soma/plus_walks.h"
#include "engines/soma/search/fusion_bound.h"
#include "engines/soma/search/lfa_search.h"
#include "engines/soma/search/plus_price.h"
#include "engines/soma/search/plus_start.h"
#include "engines/soma/soma_engines.h"
#include "engines/soma/soma_metrics.h"
#include "engines/soma/two_stage.h"
#include "engines/soma/unfused.h"

enum {
    OPTION_COMPAT,
    OPTION_ROUNDS,
    OPTION_STARTS,
    OPTION_GENERATIONS,
    OPTION_TWO_STAGE,
    OPTION_POLISH,
    OPTION_DLSA_ROUNDS,
    OPTION_GAP,
    OPTION_FIRST_TEMPERATURE,
    OPTION_ALPHA,
    OPTION_BOUND_TILES,
    OPTION_CORE,
    OPTION_CORE_EVALUATIONS,
    N_OPTION
};

static const struct engine_option option[N_OPTION] = {
    [OPTION_COMPAT] = SOMA_OPTION_COMPAT,
    [OPTION_ROUNDS] = {"rounds", "rounds of each start, per layer of the network, behind the race", "",
                       OPTION_REAL, 240, 0, 1e9, NULL},
    [OPTION_STARTS] = SOMA_OPTION_STARTS(6),
    [OPTION_GENERATIONS] = {"generations",
                            "a race of short searches, and so many parts of the rounds less one behind it",
                            "", OPTION_INTEGER, 4, 1, 1000, NULL},
    [OPTION_TWO_STAGE] = {"two_stage", "starts of the search of the engine soma before that; 0: none", "",
                          OPTION_INTEGER, 4, 0, 1024, NULL},
    [OPTION_POLISH] = {"polish", "rounds over the order of the loads at the end of each start, per load", "",
                       OPTION_REAL, 350, 0, 1e9, NULL},
    [OPTION_DLSA_ROUNDS] = {"dlsa_rounds",
                            "rounds of SoMa's second stage behind that, per tensor that the DRAM moves", "",
                            OPTION_REAL, 300, 0, 1e9, NULL},
    [OPTION_GAP] = {"gap", "stop when the cost is at most so much above its lower bound, as a share of it",
                    "", OPTION_REAL, 0.0005, 0, 1e9, NULL},
    [OPTION_FIRST_TEMPERATURE] = SOMA_OPTION_FIRST_TEMPERATURE(0.01),
    [OPTION_ALPHA] = SOMA_OPTION_ALPHA,
    [OPTION_BOUND_TILES] = {"bound_tiles", "tile shapes that the lower bound may look at; 0: no bound", "",
                            OPTION_INTEGER, 400000, 0, 1e15, NULL},
    [OPTION_CORE] = SOMA_OPTION_CORE,
    [OPTION_CORE_EVALUATIONS] = SOMA_OPTION_CORE_EVALUATIONS,
};

enum { N_CAP = 4, N_TWO_STAGE = 4, N_SEED = N_CAP + 1 + N_TWO_STAGE };

static const double WORTH = 0.02, LEAST_SHARE = 0.15, BRIEF = 0.25;

enum phase { BEGIN, TWO_STAGE, JOINT };

/* Where a search may begin. */
struct seed {
    struct soma_lfa lfa;
    struct soma_price price;
};

struct state {
    struct soma_task task;
    enum phase phase;
    struct soma_two_stage two_stage;
    struct plus_walks walks;
    struct seed seed[N_SEED + 1]; /* by price, and room for one more */
    uint32_t n_seed;
    double bound, gap;
    struct arena scratch;
};

static struct plus_walks_options walks_options(const struct state *state, struct engine_context *context)
{
    uint32_t n_layer = state->task.search.context.network->n_layer;
    double n_generation = engine_context_option(context, OPTION_GENERATIONS);
    return (struct plus_walks_options){
        .walk = {.n_round =
                     (uint64_t)(engine_context_option(context, OPTION_ROUNDS) * n_layer / n_generation),
                 .first_temperature = engine_context_option(context, OPTION_FIRST_TEMPERATURE),
                 .alpha = engine_context_option(context, OPTION_ALPHA),
                 .return_share = 0.9},
        .n_start = (uint32_t)engine_context_option(context, OPTION_STARTS),
        .n_generation = (uint32_t)n_generation,
        .polish = engine_context_option(context, OPTION_POLISH),
        .dlsa_round = engine_context_option(context, OPTION_DLSA_ROUNDS)};
}

static enum dse_status plus_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct arena *arena = engine_context_arena(context);
    arena_init(&state->scratch);
    DSE_TRY(soma_task_of(context, OPTION_CORE, &state->task, err));
    state->gap = engine_context_option(context, OPTION_GAP);
    for (uint32_t k = 0; k <= N_SEED; k++)
        soma_lfa_new(state->task.search.context.network->n_layer, arena, &state->seed[k].lfa);
    DSE_TRY(arena_check(arena, "the searches", err));
    const struct plus_walks_options options = walks_options(state, context);
    DSE_TRY(plus_walks_init(&state->walks, &state->task, &options, context, err));
    /* So what is found is never worse than what soma finds with as many starts, its other options by default
     * and the same seed. */
    const struct soma_allocator_options soma = soma_default_options();
    DSE_TRY(soma_two_stage_init(&state->two_stage, &state->task, &soma, 0,
                                (uint32_t)engine_context_option(context, OPTION_TWO_STAGE), context, err));
    state->two_stage.only_better = true;
    return DSE_OK;
}

/* ---- beginning ---- */

static enum dse_status find_bound(struct state *state, struct engine_context *context, struct dse_error *err)
{
    uint64_t tile_max = (uint64_t)engine_context_option(context, OPTION_BOUND_TILES);
    struct soma_bound bound;
    if (tile_max == 0)
        return DSE_OK;
    if (state->task.core.choice.core != SOMA_CORE_ARRAY)
        tile_max = 0; /* a mapper is too slow to be asked for every shape: the DRAM alone counts */
    const struct soma_search whole = soma_task_whole(&state->task);
    DSE_TRY(soma_bound(&whole, tile_max, &state->scratch, &bound, err));
    arena_reset(&state->scratch);
    state->bound = bound.cost;
    engine_context_bound(context, bound.cost);
    return DSE_OK;
}

static void sort_in(struct state *state)
{
    uint32_t at = state->n_seed;
    if (isinf(state->seed[at].price.cost))
        return;
    state->n_seed++;
    for (; at > 0 && state->seed[at].price.cost < state->seed[at - 1].price.cost; at--) {
        struct seed other = state->seed[at];
        state->seed[at] = state->seed[at - 1];
        state->seed[at - 1] = other;
    }
}

/* Nothing else fits: as many tiles as make anything smaller, and loads as late as can be. */
static enum dse_status find_finest_seed(struct state *state, struct engine_context *context,
                                        struct dse_error *err)
{
    const struct soma_search *search = &state->task.search;
    struct seed *seed = &state->seed[0];
    struct fused_schedule schedule;
    DSE_TRY(soma_finest_lfa(search, search->machine.buffer_byte, &seed->lfa, err));
    DSE_TRY(
        plus_price(search, &seed->lfa, NULL, INFINITY, &state->scratch, &schedule, &seed->price, NULL, err));
    arena_reset(&state->scratch);
    sort_in(state);
    return state->n_seed == 0 ? soma_explain_start(context, search, &seed->lfa, &state->scratch, err)
                              : DSE_OK;
}

static enum dse_status find_seeds(struct state *state, struct engine_context *context, struct dse_error *err)
{
    const struct soma_search *search = &state->task.search;
    struct fused_schedule schedule;
    for (uint32_t k = 0; k < N_CAP && engine_context_left(context) > 0; k++) {
        if (k > 0 && soma_search_is_over(search))
            return DSE_OK;
        uint64_t most = (uint64_t)search->context.batch << (2 * k);
        struct seed *seed = &state->seed[state->n_seed];
        DSE_TRY(plus_start(search, most < 1U << 14 ? (uint32_t)most : 1U << 14, &state->scratch, &seed->lfa,
                           &seed->price, err));
        sort_in(state);
        engine_context_count(context, 1);
    }
    if (engine_context_left(context) == 0 || soma_search_is_over(search))
        return DSE_OK;
    engine_context_count(context, 1);
    struct seed *seed = &state->seed[state->n_seed];
    DSE_TRY(soma_initial_lfa(search, SOMA_MOVES_PAPER, search->machine.buffer_byte, NULL, &seed->lfa,
                             &seed->price, err));
    arena_reset(&state->scratch);
    DSE_TRY(
        plus_price(search, &seed->lfa, NULL, INFINITY, &state->scratch, &schedule, &seed->price, NULL, err));
    arena_reset(&state->scratch);
    sort_in(state);
    return state->n_seed == 0 ? find_finest_seed(state, context, err) : DSE_OK;
}

/* What the two-stage searches have found are seeds, too. */
static enum dse_status add_two_stage(struct state *state, struct engine_context *context,
                                     struct dse_error *err)
{
    struct fused_schedule schedule;
    for (uint32_t i = 0; i < state->two_stage.starts.n && i < N_TWO_STAGE; i++) {
        const struct soma_allocation *found = soma_two_stage_found(&state->two_stage, i);
        struct seed *seed = &state->seed[state->n_seed];
        if (!found || engine_context_left(context) == 0)
            continue;
        soma_lfa_copy(&found->lfa, &seed->lfa);
        arena_reset(&state->scratch);
        DSE_TRY(plus_price(&state->task.search, &seed->lfa, NULL, INFINITY, &state->scratch, &schedule,
                           &seed->price, NULL, err));
        engine_context_count(context, 1);
        sort_in(state);
    }
    return DSE_OK;
}

/* ---- the joint search ---- */

static bool is_near(const struct state *state, double cost)
{
    return cost <= state->bound * (1 + state->gap);
}

/* Fewer rounds where the bound says that there is little to gain. */
static enum dse_status begin_generation(struct state *state, struct engine_context *context,
                                        struct dse_error *err)
{
    const struct soma_lfa *seed[N_SEED];
    double gap = engine_context_best_cost(context) / state->bound - 1;
    double share = state->bound > 0 && gap < WORTH ? fmax(gap / WORTH, LEAST_SHARE) : 1;
    for (uint32_t k = 0; k < state->n_seed; k++)
        seed[k] = &state->seed[k].lfa;
    state->phase = JOINT;
    return plus_walks_begin(&state->walks, seed, state->n_seed, share, context, err);
}

/* ---- steps ---- */

/* There is an answer before anything else begins. */
static enum dse_status offer_unfused(struct state *state, struct engine_context *context,
                                     struct dse_error *err)
{
    struct soma_unfused unfused;
    soma_unfused_new(state->task.search.context.network->n_layer, engine_context_arena(context), &unfused);
    DSE_TRY(arena_check(engine_context_arena(context), "a fusion of layers", err));
    return soma_offer_unfused(context, &state->task, SOMA_MOVES_PAPER, SOMA_UNFUSED_SHARE, &state->scratch,
                              &unfused, err);
}

static enum dse_status begin(struct state *state, struct engine_context *context, enum engine_stop *stop,
                             struct dse_error *err)
{
    state->phase = TWO_STAGE;
    DSE_TRY(offer_unfused(state, context, err));
    DSE_TRY(find_bound(state, context, err));
    DSE_TRY(find_seeds(state, context, err));
    if (state->n_seed == 0 && engine_context_left(context) > 0 && !soma_search_is_over(&state->task.search))
        *stop = STOP_CONVERGED;
    return DSE_OK;
}

static enum dse_status step_two_stage(struct state *state, struct engine_context *context,
                                      enum engine_stop *stop, struct dse_error *err)
{
    bool done;
    DSE_TRY(soma_two_stage_step(&state->two_stage, context, &done, err));
    if (!done || soma_search_is_over(&state->task.search))
        return DSE_OK;
    if (is_near(state, engine_context_best_cost(context))) {
        *stop = STOP_CONVERGED;
        return DSE_OK;
    }
    DSE_TRY(add_two_stage(state, context, err));
    return begin_generation(state, context, err);
}

static enum dse_status step_joint(struct state *state, struct engine_context *context, enum engine_stop *stop,
                                  struct dse_error *err)
{
    struct plus_walks *walks = &state->walks;
    bool done;
    DSE_TRY(plus_walks_step(walks, context, &done, err));
    if (!done || soma_search_is_over(&state->task.search))
        return DSE_OK;
    DSE_TRY(plus_walks_end(walks, BRIEF, context, err));
    if (soma_search_is_over(&state->task.search))
        return DSE_OK;
    bool near = is_near(state, engine_context_best_cost(context));
    if (walks->generation < walks->options.n_generation && !near && !plus_walks_agree(walks))
        return begin_generation(state, context, err);
    *stop = STOP_CONVERGED;
    return near ? DSE_OK : plus_walks_finish(walks, context, err);
}

static enum dse_status plus_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                 struct dse_error *err)
{
    struct state *state = memory;
    switch (state->phase) {
    case BEGIN:
        return begin(state, context, stop, err);
    case TWO_STAGE:
        return step_two_stage(state, context, stop, err);
    default:
        return step_joint(state, context, stop, err);
    }
}

/* When the search was stopped from outside, what it has so far counts, with the little polish that takes no
 * time. */
static enum dse_status plus_finish(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    if (state->phase == BEGIN)
        return DSE_OK;
    if (state->phase == JOINT)
        return plus_walks_end(&state->walks, 0, context, err);
    DSE_TRY(soma_two_stage_settle(&state->two_stage, context, err));
    for (uint32_t k = 0; k < state->n_seed && k < 1; k++) {
        double cost;
        DSE_TRY(plus_walks_polish(&state->walks, &state->seed[k].lfa, NULL, 0, 0, context, &cost, err));
    }
    return DSE_OK;
}

static void plus_free(void *memory)
{
    struct state *state = memory;
    plus_walks_free(&state->walks);
    soma_two_stage_free(&state->two_stage);
    soma_task_free(&state->task);
    arena_free(&state->scratch);
}

const struct engine engine_soma_plus = {
    .name = "soma-plus",
    .summary = "layer fusion and DRAM order in one search, with a lower bound of the cost",
    .kind = ENGINE_SCHEDULER,
    .accounting = soma_accountings,
    .takes_only = SOMA_TAKES_ONLY,
    .takes_machine = soma_takes_machine,
    .takes_task = soma_takes_network,
    .group = &soma_group,
    .remark = soma_remark,
    .option = option,
    .n_option = N_OPTION,
    .streams_of = "soma",
    .effort = {.fixed_s = 7e-5, .evaluations = 1000, .evaluation_s = 6e-6, .option = {"rounds", "starts"}},
    .state_byte = sizeof(struct state),
    .init = plus_init,
    .step = plus_step,
    .finish = plus_finish,
    .verify = soma_verify,
    .free = plus_free,
};
