/* soma-plus: layer fusion and DRAM scheduling searched together, each fusion priced by what list scheduling
 * of the DRAM makes of the whole buffer, with a lower bound of the cost. docs/soma-search.md. */
#include <math.h>
#include <string.h>

#include "engines/soma/explain.h"
#include "engines/soma/offer.h"
#include "engines/soma/plus_parts.h"
#include "engines/soma/plus_run.h"
#include "engines/soma/search/fusion_bound.h"
#include "engines/soma/search/plus_price.h"
#include "engines/soma/soma_engines.h"
#include "engines/soma/soma_metrics.h"

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

/* Where layers are in parts or tensors stream: more than FEW_PARTS tiles and tensors have fewer rounds, since
 * a round takes time by their number, and more than SEED_PARTS no other start than the tuned unfused network,
 * and no other parts. */
static const double FEW_PARTS = 1.2e4, SEED_PARTS = 2e5;

static const double WORTH = 0.02, LEAST_SHARE = 0.15, BRIEF = 0.25;

enum { N_RUN = 1 + PLUS_PARTS, N_RACE = 4, N_RACE_STREAMS = 2 };

/* Rounds of a race between several runs and behind it, at most so many times as usual: a walk has more to do
 * where there are more parts than layers. */
static const double RACE_SHARE = 2, LATER_SHARE = 3;

/* Where layers must be in parts, run 0 as the rule cuts, and the others otherwise (plus_parts.h). Those that
 * begin best have a race each, and the one that is best then goes on, twice. */
struct state {
    uint32_t n_run, at; /* `at`: the one that is searched */
    uint32_t race[N_RACE], n_race, n_raced;
    double n_part; /* tiles and tensors of the tuned unfused network, where they may be many; else 0 */
    double bound;  /* whatever the parts, no schedule that may be found costs less; 0: not known */
    struct plus_run run[N_RUN];
};

static struct plus_walks_options walks_options(const struct plus_run *run, struct engine_context *context)
{
    double n_layer = soma_search_layers(&run->task.search);
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

/* Behind its seeds. So what is found is never worse than what soma finds with as many starts, its other
 * options by default and the same seed. */
static enum dse_status prepare_search(struct plus_run *run, struct engine_context *context,
                                      struct dse_error *err)
{
    const struct plus_walks_options options = walks_options(run, context);
    const struct soma_allocator_options soma = soma_default_options();
    DSE_TRY(plus_walks_init(&run->walks, &run->task, &options, context, err));
    DSE_TRY(soma_two_stage_init(&run->two_stage, &run->task, &soma, 0,
                                (uint32_t)engine_context_option(context, OPTION_TWO_STAGE), context, err));
    run->two_stage.only_better = true;
    return DSE_OK;
}

static struct plus_run *add_run(struct state *state)
{
    struct plus_run *run = &state->run[state->n_run++];
    arena_init(&run->scratch);
    return run;
}

/* A search of the network in other parts. */
static enum dse_status add_parts(struct state *state, const struct soma_scheduled *scheduled,
                                 struct engine_context *context, struct dse_error *err)
{
    const struct soma_task *first = &state->run[0].task;
    struct plus_run *run = add_run(state);
    DSE_TRY(soma_task_prepare(first->task, scheduled, engine_context_accounting(context), first->core.choice,
                              engine_context_arena(context), &run->task, err));
    run->task.search.stop_at_s = run->task.core.mapper.stop_at_s = first->search.stop_at_s;
    run->task.search.context.end_s = first->search.context.end_s;
    run->task.search.reserved_s = first->search.reserved_s;
    run->task.search.layer_share =
        soma_search_layers(&first->search) / run->task.search.context.network->n_layer;
    return plus_run_prepare(run, context, err);
}

/* Where the rule has cut. */
static enum dse_status add_all_parts(struct state *state, struct engine_context *context,
                                     struct dse_error *err)
{
    struct soma_scheduled other[PLUS_PARTS];
    uint32_t n;
    DSE_TRY(plus_parts(&state->run[0].task, engine_context_arena(context), other, &n, err));
    for (uint32_t i = 0; i < n; i++)
        DSE_TRY(add_parts(state, &other[i], context, err));
    return DSE_OK;
}

static enum dse_status plus_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct plus_run *first = add_run(state);
    DSE_TRY(soma_task_of(context, OPTION_CORE, &first->task, err));
    DSE_TRY(plus_run_prepare(first, context, err));
    return prepare_search(first, context, err);
}

/* ---- beginning ---- */

static enum dse_status find_bound(struct plus_run *run, struct engine_context *context, double *cost,
                                  struct dse_error *err)
{
    uint64_t tile_max = (uint64_t)engine_context_option(context, OPTION_BOUND_TILES);
    struct soma_bound bound;
    if (run->task.core.choice.core != SOMA_CORE_ARRAY)
        tile_max = 0; /* a mapper is too slow to be asked for every shape: the DRAM alone counts */
    const struct soma_search whole = soma_task_whole(&run->task);
    DSE_TRY(soma_bound(&whole, tile_max, &run->scratch, &bound, err));
    arena_reset(&run->scratch);
    *cost = bound.cost;
    return DSE_OK;
}

/* Whatever the parts, no schedule that may be found is below the least of their bounds. */
static enum dse_status find_bounds(struct state *state, struct engine_context *context, struct dse_error *err)
{
    double least = INFINITY, cost;
    if (engine_context_option(context, OPTION_BOUND_TILES) < 1)
        return DSE_OK;
    for (uint32_t r = 0; r < state->n_run; r++) {
        DSE_TRY(find_bound(&state->run[r], context, &cost, err));
        least = fmin(least, cost);
    }
    state->bound = least;
    if (least > 0)
        engine_context_bound(context, least);
    return DSE_OK;
}

/* The time is over before anything is known of so many layers: a first schedule would take a minute. */
static bool is_too_late(const struct plus_run *run)
{
    return isinf(run->unfused.price.cost) && soma_search_is_over(&run->task.search) &&
           run->task.graph.network->n_layer > SOMA_INSTANT_TILES;
}

/* What its walks would hold is too much: what the engine soma finds is the answer. */
static bool is_vast(const struct plus_run *run)
{
    return isfinite(run->unfused.price.cost) &&
           soma_search_is_vast(&run->task.search, run->unfused.price.n_part);
}

/* Of run 0: where tensors stream or tiles are many, what `unfused` has tuned (or with loads as late as they
 * must be, where nothing else fits) is a seed, too. */
static enum dse_status find_first_seeds(struct state *state, struct engine_context *context,
                                        struct dse_error *err)
{
    struct plus_run *run = &state->run[0];
    const struct soma_search *search = &run->task.search;
    struct soma_price price = {.cost = INFINITY};
    struct fused_schedule schedule = {0};
    state->n_part = (double)run->unfused.price.n_part;
    if (is_vast(run))
        return DSE_OK;
    if (soma_search_is_large(search) && isfinite(run->unfused.price.cost))
        DSE_TRY(plus_price(search, &run->unfused.tuned, NULL, INFINITY, &run->scratch, &schedule, &price,
                           NULL, err));
    arena_reset(&run->scratch);
    state->n_part = (double)schedule.n_tile + schedule.n_tensor;
    if (state->n_part <= SEED_PARTS)
        DSE_TRY(plus_run_find_seeds(run, context, err));
    if (isinf(price.cost) || (search->context.graph->streams == 0 && state->n_part <= FEW_PARTS))
        return DSE_OK;
    soma_lfa_copy(&run->unfused.tuned, &run->seed[run->n_seed].lfa);
    run->seed[run->n_seed].price = price;
    plus_run_sort_in(run);
    return DSE_OK;
}

/* ---- the joint search ---- */

static bool is_near(const struct state *state, struct engine_context *context)
{
    const double gap = engine_context_option(context, OPTION_GAP);
    return engine_context_best_cost(context) <= state->bound * (1 + gap);
}

/* Several race. What streams has parts by the thousand: it keeps its own rounds. */
static bool has_more_rounds(const struct state *state)
{
    return state->n_race > 1 && state->run[state->at].task.graph.streams == 0;
}

/* Then rounds of one are by its parts. */
static double parts_share(const struct state *state)
{
    const struct plus_run *run = &state->run[state->at];
    const struct soma_search *search = &run->task.search;
    if (!has_more_rounds(state))
        return 1;
    return fmin(search->context.network->n_layer / soma_search_layers(search),
                run->walks.n_pool > 0 ? LATER_SHARE : RACE_SHARE);
}

/* Fewer rounds where the bound says that there is little to gain. */
static enum dse_status begin_generation(struct state *state, struct engine_context *context,
                                        struct dse_error *err)
{
    struct plus_run *run = &state->run[state->at];
    const struct soma_lfa *seed[PLUS_SEED];
    double gap = engine_context_best_cost(context) / state->bound - 1;
    double share = state->bound > 0 && gap < WORTH ? fmax(gap / WORTH, LEAST_SHARE) : 1;
    double shorter = fmin(1, FEW_PARTS / fmax(state->n_part, 1));
    for (uint32_t k = 0; k < run->n_seed; k++)
        seed[k] = &run->seed[k].lfa;
    run->phase = PLUS_JOINT;
    return plus_walks_begin(&run->walks, seed, run->n_seed, share * parts_share(state) * shorter, context,
                            err);
}

/* ---- the race ---- */

static double begins_at(const struct state *state, uint32_t r)
{
    return state->run[r].n_seed > 0 ? state->run[r].seed[0].price.cost : INFINITY;
}

/* Those that begin best. */
static void choose_runs(struct state *state)
{
    const uint32_t most = state->run[0].task.graph.streams ? N_RACE_STREAMS : N_RACE;
    for (uint32_t r = 0; r < state->n_run; r++) {
        uint32_t at = state->n_race;
        const double cost = begins_at(state, r);
        if (isinf(cost))
            continue;
        for (; at > 0 && cost < begins_at(state, state->race[at - 1]); at--)
            if (at < most)
                state->race[at] = state->race[at - 1];
        if (at < most)
            state->race[at] = r;
        state->n_race += state->n_race < most;
    }
}

/* The next of them: its two stages, which run 0 has had, and then its walks. */
static enum dse_status begin_race(struct state *state, struct engine_context *context, struct dse_error *err)
{
    state->at = state->race[state->n_raced];
    struct plus_run *run = &state->run[state->at];
    if (state->at == 0)
        return begin_generation(state, context, err);
    run->phase = PLUS_TWO_STAGES;
    return prepare_search(run, context, err);
}

/* Behind the two stages of run 0. */
static enum dse_status begin_races(struct state *state, struct engine_context *context,
                                   enum engine_stop *stop, struct dse_error *err)
{
    for (uint32_t r = 1; r < state->n_run; r++)
        DSE_TRY(plus_run_find_seeds(&state->run[r], context, err));
    choose_runs(state);
    if (state->n_race > 0)
        return begin_race(state, context, err);
    *stop = STOP_CONVERGED;
    return DSE_OK;
}

static void choose_winner(struct state *state)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < state->n_race; i++) {
        const struct plus_walks *walks = &state->run[state->race[i]].walks;
        if (walks->n_pool > 0 && walks->pool[0].cost < least) {
            least = walks->pool[0].cost;
            state->at = state->race[i];
        }
    }
}

static enum dse_status end_race(struct state *state, struct engine_context *context, struct dse_error *err)
{
    choose_winner(state);
    for (uint32_t i = 0; i < state->n_race; i++)
        if (state->race[i] != state->at)
            DSE_TRY(plus_run_add_guests(&state->run[state->at], &state->run[state->race[i]], context, err));
    return DSE_OK;
}

/* ---- steps ---- */

/* There is an answer before anything else begins. */
static enum dse_status offer_unfused(struct plus_run *run, struct engine_context *context,
                                     struct dse_error *err)
{
    const struct soma_search *search = &run->task.search;
    struct soma_unfused *unfused = &run->unfused;
    soma_unfused_new(run->task.search.context.network->n_layer, engine_context_arena(context), unfused);
    DSE_TRY(arena_check(engine_context_arena(context), "a fusion of layers", err));
    DSE_TRY(soma_offer_unfused(context, &run->task, SOMA_MOVES_PAPER, SOMA_UNFUSED_SHARE, &run->scratch,
                               unfused, err));
    soma_two_stage_begin_at(&run->two_stage, &unfused->tuned, &unfused->price);
    if (isfinite(unfused->price.cost) || !soma_search_is_large(search) || soma_search_is_over(search))
        return DSE_OK;
    soma_lfa_copy(&unfused->start, &unfused->tuned);
    return soma_late_start(context, &run->task, &unfused->tuned, &unfused->price, &run->scratch, err);
}

static enum dse_status begin(struct state *state, struct engine_context *context, enum engine_stop *stop,
                             struct dse_error *err)
{
    struct plus_run *run = &state->run[0];
    run->phase = PLUS_TWO_STAGES;
    DSE_TRY(offer_unfused(run, context, err));
    if (run->unfused.price.is_long || is_too_late(run)) {
        *stop = soma_search_is_over(&run->task.search) ? *stop : STOP_CONVERGED;
        return DSE_OK;
    }
    DSE_TRY(find_first_seeds(state, context, err));
    if (run->task.scheduled.network->n_cut > 0 && state->n_part <= SEED_PARTS &&
        !soma_search_is_over(&run->task.search))
        DSE_TRY(add_all_parts(state, context, err));
    DSE_TRY(find_bounds(state, context, err));
    if (run->n_seed == 0 && !is_vast(run) && state->n_run == 1 && engine_context_left(context) > 0 &&
        !soma_search_is_over(&run->task.search))
        *stop = STOP_CONVERGED;
    return DSE_OK;
}

static enum dse_status step_two_stage(struct state *state, struct engine_context *context,
                                      enum engine_stop *stop, struct dse_error *err)
{
    struct plus_run *run = &state->run[state->at];
    bool done;
    DSE_TRY(soma_two_stage_step(&run->two_stage, context, &done, err));
    if (!done || soma_search_is_over(&run->task.search))
        return DSE_OK;
    if (is_near(state, context)) {
        *stop = STOP_CONVERGED;
        return DSE_OK;
    }
    DSE_TRY(plus_run_add_two_stage(run, context, err));
    return state->n_race > 0 ? begin_generation(state, context, err) : begin_races(state, context, stop, err);
}

/* A race between several is decided with the little polish that takes no time. */
static enum dse_status step_joint(struct state *state, struct engine_context *context, enum engine_stop *stop,
                                  struct dse_error *err)
{
    const struct soma_search *search = &state->run[state->at].task.search;
    struct plus_walks *walks = &state->run[state->at].walks;
    const bool races = state->n_raced < state->n_race;
    bool done;
    DSE_TRY(plus_walks_step(walks, context, &done, err));
    if (!done || soma_search_is_over(search))
        return DSE_OK;
    DSE_TRY(plus_walks_end(walks, races && state->n_race > 1 ? 0 : BRIEF, context, err));
    if (soma_search_is_over(search))
        return DSE_OK;
    if (is_near(state, context)) {
        *stop = STOP_CONVERGED;
        return DSE_OK;
    }
    if (races && ++state->n_raced < state->n_race)
        return begin_race(state, context, err);
    if (races)
        DSE_TRY(end_race(state, context, err));
    walks = &state->run[state->at].walks;
    if (walks->generation < walks->options.n_generation && !plus_walks_agree(walks))
        return begin_generation(state, context, err);
    DSE_TRY(plus_walks_finish(walks, context, err));
    if (has_more_rounds(state) && walks->n_before == 0 && !is_near(state, context)) {
        plus_walks_again(walks);
        return begin_generation(state, context, err);
    }
    *stop = STOP_CONVERGED;
    return DSE_OK;
}

static enum dse_status plus_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                 struct dse_error *err)
{
    struct state *state = memory;
    switch (state->run[state->at].phase) {
    case PLUS_BEGIN:
        return begin(state, context, stop, err);
    case PLUS_TWO_STAGES:
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
    struct plus_run *run = &state->run[state->at];
    if (run->phase == PLUS_BEGIN)
        return DSE_OK;
    if (run->phase == PLUS_JOINT)
        return plus_walks_end(&run->walks, 0, context, err);
    DSE_TRY(soma_two_stage_settle(&run->two_stage, context, err));
    for (uint32_t k = 0; k < run->n_seed && k < 1; k++) {
        double cost;
        DSE_TRY(plus_walks_polish(&run->walks, &run->seed[k].lfa, NULL, 0, 0, context, &cost, err));
    }
    return DSE_OK;
}

static void plus_free(void *memory)
{
    struct state *state = memory;
    for (uint32_t r = 0; r < state->n_run; r++)
        plus_run_free(&state->run[r]);
}

const struct engine engine_soma_plus = {
    .name = "soma-plus",
    .summary = "layer fusion and DRAM order in one search, with a lower bound of the cost",
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
    .streams_of = "soma",
    .effort = {.fixed_s = 7e-5, .evaluations = 1000, .evaluation_s = 6e-6, .option = {"rounds", "starts"}},
    .state_byte = sizeof(struct state),
    .init = plus_init,
    .step = plus_step,
    .finish = plus_finish,
    .verify = soma_verify,
    .free = plus_free,
};
