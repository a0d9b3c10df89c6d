/* soma-plus: layer fusion and DRAM scheduling searched together, each fusion priced by what list scheduling
 * of the DRAM makes of the whole buffer, with a lower bound of the cost. docs/soma-search.md. */
#include <math.h>
#include <string.h>

#include "engines/soma/explain.h"
#include "engines/soma/offer.h"
#include "engines/soma/search/dlsa_search.h"
#include "engines/soma/search/fusion_bound.h"
#include "engines/soma/search/lfa_search.h"
#include "engines/soma/search/plus_price.h"
#include "engines/soma/search/plus_search.h"
#include "engines/soma/search/plus_start.h"
#include "engines/soma/soma_engines.h"
#include "engines/soma/soma_metrics.h"
#include "engines/soma/two_stage.h"

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
    [OPTION_ROUNDS] = {"rounds", "rounds of each start, per layer of the network", "", OPTION_REAL, 240, 0,
                       1e9, NULL},
    [OPTION_STARTS] = SOMA_OPTION_STARTS(6),
    [OPTION_GENERATIONS] = {"generations",
                            "parts of the rounds; every other one goes on from the best so far", "",
                            OPTION_INTEGER, 4, 1, 1000, NULL},
    [OPTION_TWO_STAGE] = {"two_stage", "starts of the search of the engine soma before that; 0: none", "",
                          OPTION_INTEGER, 1, 0, 1024, NULL},
    [OPTION_POLISH] = {"polish", "rounds over the order of the loads at the end of each start, per load", "",
                       OPTION_REAL, 350, 0, 1e9, NULL},
    [OPTION_DLSA_ROUNDS] = {"dlsa_rounds",
                            "rounds of SoMa's second stage behind that, per tensor that the DRAM moves", "",
                            OPTION_REAL, 300, 0, 1e9, NULL},
    [OPTION_GAP] = {"gap", "stop when the cost is at most so much above its lower bound, as a share of it",
                    "", OPTION_REAL, 0.0005, 0, 1e9, NULL},
    [OPTION_FIRST_TEMPERATURE] = SOMA_OPTION_FIRST_TEMPERATURE(0.002),
    [OPTION_ALPHA] = SOMA_OPTION_ALPHA,
    [OPTION_BOUND_TILES] = {"bound_tiles", "tile shapes that the lower bound may look at; 0: no bound", "",
                            OPTION_INTEGER, 400000, 0, 1e15, NULL},
    [OPTION_CORE] = SOMA_OPTION_CORE,
    [OPTION_CORE_EVALUATIONS] = SOMA_OPTION_CORE_EVALUATIONS,
};

enum { SLICE = 200, DLSA_SLICE = 64, N_CAP = 4, N_SEED = N_CAP + 2 };

/* Random streams of a generation: the search, the order of the loads, the second stage. Behind those of
 * base/random.h. */
enum { FIRST_USE = 1024, N_USE = 3 };

static const double DLSA_ROUND_MAX = 1e6, WORTH = 0.02, LEAST_SHARE = 0.15, BRIEF = 0.25, AGREEMENT = 0.001;

enum phase { BEGIN, TWO_STAGE, JOINT };

/* One search with all that it changes. */
struct start {
    struct plus_search *search; /* NULL: none */
    struct arena arena;
    double first; /* cost where it began */
    double cost;  /* polished; INFINITY: nothing better than where it began */
    bool polished;
};

/* Where a search may begin. */
struct seed {
    struct soma_lfa lfa;
    struct soma_price price;
};

struct state {
    struct soma_task task;
    struct plus_options options;
    enum phase phase;
    struct soma_two_stage two_stage;
    struct soma_starts joint;
    struct start *start; /* (n_start) */
    uint32_t n_start, generation, n_generation;
    struct seed seed[N_SEED]; /* by price */
    uint32_t n_seed;
    struct plus_point *donor; /* (n_start) the best of each search in the generation before */
    struct soma_lfa best;     /* of the joint searches, polished */
    int32_t *best_lead;       /* (n_layer) */
    double best_cost, bound, gap, polish, dlsa_rounds;
    struct arena scratch;
};

static void make_room(struct state *state, struct arena *arena)
{
    uint32_t n_layer = state->task.search.context.network->n_layer;
    for (uint32_t k = 0; k < N_SEED; k++)
        soma_lfa_new(n_layer, arena, &state->seed[k].lfa);
    soma_lfa_new(n_layer, arena, &state->best);
    state->best_lead = arena_alloc(arena, n_layer, sizeof *state->best_lead);
    state->best_cost = INFINITY;
}

static enum dse_status plus_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct arena *arena = engine_context_arena(context);
    uint32_t n = (uint32_t)engine_context_option(context, OPTION_STARTS);
    arena_init(&state->scratch);
    DSE_TRY(soma_task_of(context, OPTION_CORE, &state->task, err));
    uint32_t n_layer = state->task.search.context.network->n_layer;
    state->n_generation = (uint32_t)engine_context_option(context, OPTION_GENERATIONS);
    state->options = (struct plus_options){
        .n_round = (uint64_t)(engine_context_option(context, OPTION_ROUNDS) * n_layer / state->n_generation),
        .first_temperature = engine_context_option(context, OPTION_FIRST_TEMPERATURE),
        .alpha = engine_context_option(context, OPTION_ALPHA),
        .return_share = 0.9};
    state->gap = engine_context_option(context, OPTION_GAP);
    state->polish = engine_context_option(context, OPTION_POLISH);
    state->dlsa_rounds = engine_context_option(context, OPTION_DLSA_ROUNDS);
    state->start = arena_alloc(arena, n, sizeof *state->start);
    state->donor = arena_alloc(arena, n, sizeof *state->donor);
    make_room(state, arena);
    DSE_TRY(arena_check(arena, "the searches", err));
    for (; state->n_start < n; state->n_start++) {
        arena_init(&state->start[state->n_start].arena);
        plus_point_new(n_layer, arena, &state->donor[state->n_start]);
    }
    DSE_TRY(arena_check(arena, "the searches", err));
    /* So what is found is never worse than what soma finds with as many starts, its other options by default
     * and the same seed. */
    const struct soma_allocator_options soma = soma_default_options();
    return soma_two_stage_init(&state->two_stage, &state->task, &soma, 0,
                               (uint32_t)engine_context_option(context, OPTION_TWO_STAGE), context, err);
}

/* ---- beginning ---- */

static enum dse_status find_bound(struct state *state, struct engine_context *context, struct dse_error *err)
{
    uint64_t tile_max = (uint64_t)engine_context_option(context, OPTION_BOUND_TILES);
    struct soma_bound bound;
    if (tile_max == 0)
        return DSE_OK;
    if (engine_context_option(context, OPTION_CORE) != SOMA_CORE_ARRAY)
        tile_max = 0; /* a mapper is too slow to be asked for every shape: the DRAM alone counts */
    DSE_TRY(soma_bound(&state->task.search, tile_max, &state->scratch, &bound, err));
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
    double bound;
    DSE_TRY(soma_finest_lfa(search, search->machine.buffer_byte, &state->scratch, &seed->lfa, err));
    DSE_TRY(plus_price(search, &seed->lfa, NULL, INFINITY, &state->scratch, &schedule, &seed->price, &bound,
                       err));
    arena_reset(&state->scratch);
    sort_in(state);
    return state->n_seed == 0 ? soma_explain_start(context, search, &seed->lfa, &state->scratch, err)
                              : DSE_OK;
}

static enum dse_status find_seeds(struct state *state, struct engine_context *context, struct dse_error *err)
{
    const struct soma_search *search = &state->task.search;
    struct fused_schedule schedule;
    double bound;
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
    DSE_TRY(soma_initial_lfa(search, SOMA_MOVES_PAPER, search->machine.buffer_byte, &state->scratch,
                             &seed->lfa, &seed->price, err));
    arena_reset(&state->scratch);
    DSE_TRY(plus_price(search, &seed->lfa, NULL, INFINITY, &state->scratch, &schedule, &seed->price, &bound,
                       err));
    arena_reset(&state->scratch);
    sort_in(state);
    return state->n_seed == 0 ? find_finest_seed(state, context, err) : DSE_OK;
}

/* What the two-stage search has found is a seed too. */
static enum dse_status add_two_stage(struct state *state, struct engine_context *context,
                                     struct dse_error *err)
{
    const struct soma_allocation *found = soma_two_stage_best(&state->two_stage);
    struct seed *seed = &state->seed[state->n_seed];
    struct fused_schedule schedule;
    double bound;
    if (!found || engine_context_left(context) == 0)
        return DSE_OK;
    soma_lfa_copy(&found->lfa, &seed->lfa);
    arena_reset(&state->scratch);
    DSE_TRY(plus_price(&state->task.search, &seed->lfa, NULL, INFINITY, &state->scratch, &schedule,
                       &seed->price, &bound, err));
    engine_context_count(context, 1);
    sort_in(state);
    return DSE_OK;
}

/* ---- the joint search ---- */

static bool is_near(const struct state *state, double cost)
{
    return cost <= state->bound * (1 + state->gap);
}

static enum dse_status advance(void *memory, uint32_t i, uint64_t n, bool *done, struct dse_error *err)
{
    const struct state *state = memory;
    return plus_search_step(state->start[i].search, n, done, err);
}

static uint64_t rounds_of(const void *memory, uint32_t i)
{
    const struct state *state = memory;
    return plus_search_rounds(state->start[i].search);
}

static const struct soma_starts_hooks hooks = {.step = advance, .rounds = rounds_of};

/* Fewer rounds where the bound says that there is little to gain. */
static uint64_t n_round(const struct state *state, struct engine_context *context)
{
    double gap = engine_context_best_cost(context) / state->bound - 1;
    double share = state->bound > 0 && gap < WORTH ? fmax(gap / WORTH, LEAST_SHARE) : 1;
    return (uint64_t)(share * (double)state->options.n_round);
}

/* Every other generation, as long as there is more than a little to gain: what the next one can take over
 * from. */
static bool begins_anew(const struct state *state, struct engine_context *context)
{
    double gap = engine_context_best_cost(context) / state->bound - 1;
    return state->generation == 0 || isinf(state->best_cost) ||
           (state->generation % 2 == 0 && state->bound > 0 && gap > WORTH);
}

/* In the first generation half of the searches begin at the best seed, the others at the next ones in turn;
 * then all at the best so far. Every other one is four times as hot. */
static enum dse_status begin_generation(struct state *state, struct engine_context *context,
                                        struct dse_error *err)
{
    const struct engine_task *task = engine_context_task(context);
    bool first = begins_anew(state, context);
    state->phase = JOINT;
    soma_starts_init(&state->joint, &hooks, state, SLICE, state->n_start, engine_context_arena(context));
    DSE_TRY(arena_check(engine_context_arena(context), "the searches", err));
    for (uint32_t i = 0; i < state->n_start && !first; i++)
        plus_search_point(state->start[i].search, &state->donor[i]);
    for (uint32_t i = 0; i < state->n_start; i++) {
        struct start *start = &state->start[i];
        struct plus_options options = state->options;
        uint32_t from = i % 4 < 2 ? 0 : (1 + i / 4 + i % 2) % state->n_seed;
        options.n_round = n_round(state, context);
        options.first_temperature *= i % 2 ? 4 : 1;
        options.donor = state->donor;
        options.n_donor = first ? 0 : state->n_start;
        plus_search_free(start->search);
        start->search = NULL;
        start->polished = false;
        arena_reset(&start->arena);
        DSE_TRY(plus_search_new(
            &state->task.search, &options, first ? &state->seed[from].lfa : &state->best,
            first ? NULL : state->best_lead,
            soma_start_stream(task->seed, task->key, i, FIRST_USE + N_USE * state->generation), &start->arena,
            &start->search, err));
        start->first = plus_search_cost(start->search);
    }
    return DSE_OK;
}

/* SoMa's own second stage, from what list scheduling has made. */
static enum dse_status anneal_dlsa(struct state *state, double share, struct random_stream stream,
                                   uint64_t *left, struct fused_schedule *schedule, struct soma_price *price,
                                   struct dse_error *err)
{
    const struct soma_search *search = &state->task.search;
    double n_round = fmin(share * state->dlsa_rounds * schedule->n_dram, DLSA_ROUND_MAX);
    const struct soma_dlsa_options options = {.n_round = (double)*left < n_round ? *left : (uint64_t)n_round,
                                              .first_temperature = 0.003,
                                              .alpha = state->options.alpha,
                                              .return_share = 0.9,
                                              .order_share = 0.2,
                                              .time_share = 0.4,
                                              .both_share = 0.4};
    struct soma_dlsa_search *dlsa;
    bool done = false;
    if (options.n_round == 0 || soma_search_is_over(search))
        return DSE_OK;
    DSE_TRY(soma_dlsa_search_new(search, &options, schedule, search->machine.buffer_byte, stream,
                                 &state->scratch, &dlsa, err));
    while (!done && !soma_search_is_over(search))
        DSE_TRY(soma_dlsa_search_step(dlsa, DLSA_SLICE, &done, err));
    *left -= soma_dlsa_search_rounds(dlsa);
    soma_dlsa_search_best(dlsa, schedule, price);
    return DSE_OK;
}

/* Polish and offer an LFA, with a share of the usual rounds. */
static enum dse_status polish(struct state *state, const struct soma_lfa *lfa, const int32_t *lead,
                              double share, uint32_t stream, struct engine_context *context, double *cost,
                              struct dse_error *err)
{
    const struct engine_task *task = engine_context_task(context);
    uint32_t use = FIRST_USE + N_USE * state->generation;
    struct fused_schedule schedule;
    struct soma_price price;
    uint64_t left = engine_context_left(context), before = left;
    DSE_TRY(plus_polish(&state->task.search, lfa, lead, share * state->polish, &left,
                        soma_start_stream(task->seed, task->key, stream, use + 1), &state->scratch, &schedule,
                        &price, err));
    *cost = price.cost;
    if (isinf(price.cost))
        return DSE_OK;
    DSE_TRY(anneal_dlsa(state, share, soma_start_stream(task->seed, task->key, stream, use + 2), &left,
                        &schedule, &price, err));
    *cost = price.cost;
    engine_context_count(context, before - left);
    return soma_offer(context, &state->task, lfa, &schedule, NULL, &state->scratch, err);
}

/* What a search has found, when it has found anything. */
static enum dse_status polish_start(struct state *state, uint32_t i, double share,
                                    struct engine_context *context, struct dse_error *err)
{
    struct start *start = &state->start[i];
    struct soma_price price;
    struct soma_lfa lfa;
    const int32_t *lead;
    double cost;
    if (!start->search || start->polished)
        return DSE_OK;
    start->polished = true;
    start->cost = INFINITY;
    if (state->generation > 0 && !(plus_search_cost(start->search) < start->first))
        return DSE_OK;
    arena_reset(&state->scratch);
    soma_lfa_new(state->best.n_layer, &state->scratch, &lfa);
    DSE_TRY(arena_check(&state->scratch, "a fusion of layers", err));
    plus_search_best(start->search, &lfa, &lead, &price);
    DSE_TRY(polish(state, &lfa, lead, share, i, context, &cost, err));
    start->cost = cost;
    if (cost < state->best_cost) {
        state->best_cost = cost;
        soma_lfa_copy(&lfa, &state->best);
        memcpy(state->best_lead, lead, lfa.n_layer * sizeof *lead);
    }
    return DSE_OK;
}

static enum dse_status polish_all(struct state *state, double share, struct engine_context *context,
                                  struct dse_error *err)
{
    for (uint32_t i = 0; i < state->n_start; i++)
        DSE_TRY(polish_start(state, i, share, context, err));
    return DSE_OK;
}

/* Whether searches that began apart have come to the same cost: then further ones will hardly find
 * another. */
static bool starts_agree(const struct state *state)
{
    double worst = 0;
    for (uint32_t i = 0; i < state->n_start; i++)
        worst = fmax(worst, state->start[i].cost);
    return state->n_start > 1 && worst <= state->best_cost * (1 + AGREEMENT);
}

/* ---- steps ---- */

static enum dse_status begin(struct state *state, struct engine_context *context, enum engine_stop *stop,
                             struct dse_error *err)
{
    state->phase = TWO_STAGE;
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
    bool done;
    double cost;
    DSE_TRY(soma_starts_step(&state->joint, context, &done, err));
    if (!done || soma_search_is_over(&state->task.search))
        return DSE_OK;
    DSE_TRY(polish_all(state, BRIEF, context, err));
    if (soma_search_is_over(&state->task.search))
        return DSE_OK;
    state->generation++;
    bool near = is_near(state, engine_context_best_cost(context));
    bool settled = state->generation == 1 && starts_agree(state);
    if (state->generation < state->n_generation && !near && !settled)
        return begin_generation(state, context, err);
    *stop = STOP_CONVERGED;
    if (near || isinf(state->best_cost))
        return DSE_OK;
    arena_reset(&state->scratch);
    return polish(state, &state->best, state->best_lead, 1, 0, context, &cost, err);
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
    if (state->phase == JOINT)
        return polish_all(state, 0, context, err);
    DSE_TRY(soma_two_stage_settle(&state->two_stage, context, err));
    for (uint32_t k = 0; k < state->n_seed && k < 1; k++) {
        double cost;
        arena_reset(&state->scratch);
        DSE_TRY(polish(state, &state->seed[k].lfa, NULL, 0, 0, context, &cost, err));
    }
    return DSE_OK;
}

static void plus_free(void *memory)
{
    struct state *state = memory;
    for (uint32_t i = 0; i < state->n_start; i++) {
        plus_search_free(state->start[i].search);
        arena_free(&state->start[i].arena);
    }
    soma_two_stage_free(&state->two_stage);
    soma_task_free(&state->task);
    arena_free(&state->scratch);
}

const struct engine engine_soma_plus = {
    .name = "soma-plus",
    .summary = "layer fusion and DRAM order in one search, with a lower bound of the cost",
    .kind = ENGINE_SCHEDULER,
    .accounting = soma_accountings,
    .group = &soma_group,
    .remark = soma_remark,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 7e-5, .evaluations = 1000, .evaluation_s = 6e-6, .option = {"rounds", "starts"}},
    .state_byte = sizeof(struct state),
    .init = plus_init,
    .step = plus_step,
    .finish = plus_finish,
    .verify = soma_verify,
    .free = plus_free,
};
