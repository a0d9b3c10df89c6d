/* soma-plus: layer fusion and DRAM scheduling searched together, each fusion priced by what list scheduling of the DRAM makes of
 * the whole buffer, with a lower bound of the cost. docs/soma-search.md. */
#include <math.h>

#include "engines/soma/bound.h"
#include "engines/soma/dlsa_search.h"
#include "engines/soma/explain.h"
#include "engines/soma/lfa_search.h"
#include "engines/soma/offer.h"
#include "engines/soma/plus_price.h"
#include "engines/soma/plus_search.h"
#include "engines/soma/plus_start.h"
#include "engines/soma/soma_engines.h"

enum {
    OPTION_COMPAT,
    OPTION_ROUNDS,
    OPTION_STARTS,
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
    [OPTION_ROUNDS] = {.name = "rounds",
                       .sentence = "rounds of each start, per layer of the network",
                       .unit = "",
                       .kind = OPTION_REAL,
                       .standard = 240,
                       .lowest = 0,
                       .highest = 1e9},
    [OPTION_STARTS] = {.name = "starts",
                       .sentence = "independent searches, of which the best counts; they may run on threads",
                       .unit = "",
                       .kind = OPTION_INTEGER,
                       .standard = 4,
                       .lowest = 1,
                       .highest = 1024},
    [OPTION_POLISH] = {.name = "polish",
                       .sentence = "rounds over the order of the loads at the end of each start, per load",
                       .unit = "",
                       .kind = OPTION_REAL,
                       .standard = 350,
                       .lowest = 0,
                       .highest = 1e9},
    [OPTION_DLSA_ROUNDS] = {.name = "dlsa_rounds",
                            .sentence =
                                "rounds of SoMa's second stage behind that, per tensor that the DRAM moves",
                            .unit = "",
                            .kind = OPTION_REAL,
                            .standard = 300,
                            .lowest = 0,
                            .highest = 1e9},
    [OPTION_GAP] = {.name = "gap",
                    .sentence =
                        "stop when the cost is at most so much above its lower bound, as a share of it",
                    .unit = "",
                    .kind = OPTION_REAL,
                    .standard = 0.0005,
                    .lowest = 0,
                    .highest = 1e9},
    [OPTION_FIRST_TEMPERATURE] = {.name = "first_temperature",
                                  .sentence = "temperature of the first round, of relative cost",
                                  .unit = "",
                                  .kind = OPTION_REAL,
                                  .standard = 0.002,
                                  .lowest = 0,
                                  .highest = 1e9},
    [OPTION_ALPHA] = {.name = "alpha",
                      .sentence = "how fast it cools",
                      .unit = "",
                      .kind = OPTION_REAL,
                      .standard = 8,
                      .lowest = 0,
                      .highest = 1e9},
    [OPTION_BOUND_TILES] = {.name = "bound_tiles",
                            .sentence = "tile shapes that the lower bound may look at; 0: no bound",
                            .unit = "",
                            .kind = OPTION_INTEGER,
                            .standard = 400000,
                            .lowest = 0,
                            .highest = 1e15},
    [OPTION_CORE] = SOMA_OPTION_CORE,
    [OPTION_CORE_EVALUATIONS] = SOMA_OPTION_CORE_EVALUATIONS,
};

enum { SLICE = 200, N_CAP = 4 };

static const double DLSA_ROUND_MAX = 1e6;

/* One search with all that it changes. */
struct start {
    struct plus_search *search; /* NULL: nothing fits to start from */
    struct arena arena;
    uint64_t share, rounds; /* of the next step; that were counted */
    bool done, polished;
    enum dse_status status;
    struct dse_error err;
};

/* Where a search may begin. */
struct seed {
    struct soma_lfa lfa;
    struct soma_price price;
};

struct state {
    struct soma_task task;
    struct plus_options options;
    struct start *start; /* (n_start) */
    uint32_t n_start;
    struct seed seed[N_CAP + 1]; /* by price */
    uint32_t n_seed;
    double bound, gap, polish, dlsa_rounds;
    bool seeded;
    struct arena scratch;
};

static enum dse_status plus_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct arena *arena = engine_context_arena(context);
    uint32_t n = (uint32_t)engine_context_option(context, OPTION_STARTS);
    arena_init(&state->scratch);
    DSE_TRY(soma_task_prepare_core(engine_context_task(context),
                                   engine_context_option(context, OPTION_COMPAT) != 0,
                                   soma_core_chosen(context, OPTION_CORE), arena, &state->task, err));
    uint32_t n_layer = state->task.search.context.network->n_layer;
    state->options =
        (struct plus_options){.n_round = (uint64_t)(engine_context_option(context, OPTION_ROUNDS) * n_layer),
                              .first_temperature = engine_context_option(context, OPTION_FIRST_TEMPERATURE),
                              .alpha = engine_context_option(context, OPTION_ALPHA),
                              .return_share = 0.9};
    state->gap = engine_context_option(context, OPTION_GAP);
    state->polish = engine_context_option(context, OPTION_POLISH);
    state->dlsa_rounds = engine_context_option(context, OPTION_DLSA_ROUNDS);
    state->start = arena_alloc(arena, n, sizeof *state->start);
    if (!state->start)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u searches", n);
    for (; state->n_start < n; state->n_start++)
        arena_init(&state->start[state->n_start].arena);
    for (uint32_t k = 0; k <= N_CAP; k++)
        DSE_TRY(soma_lfa_new(n_layer, arena, &state->seed[k].lfa, err));
    return DSE_OK;
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

static enum dse_status find_seeds(struct state *state, struct engine_context *context, struct dse_error *err)
{
    const struct soma_search *search = &state->task.search;
    struct fused_schedule schedule;
    double bound;
    for (uint32_t k = 0; k < N_CAP && engine_context_left(context) > 0; k++) {
        uint64_t most = (uint64_t)search->context.batch << (2 * k);
        struct seed *seed = &state->seed[state->n_seed];
        DSE_TRY(plus_start(search, most < 1U << 14 ? (uint32_t)most : 1U << 14, &state->scratch, &seed->lfa,
                           &seed->price, err));
        sort_in(state);
        engine_context_count(context, 1);
    }
    if (engine_context_left(context) == 0)
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
    if (state->n_seed == 0)
        return soma_explain_start(context, search, &seed->lfa, &state->scratch, err);
    return DSE_OK;
}

/* Half of the searches begin at the best seed, the others at the next ones in turn; every other one is four times as hot. */
static enum dse_status begin(struct state *state, struct engine_context *context, struct dse_error *err)
{
    const struct engine_task *task = engine_context_task(context);
    state->seeded = true;
    DSE_TRY(find_bound(state, context, err));
    DSE_TRY(find_seeds(state, context, err));
    for (uint32_t i = 0; i < state->n_start && state->n_seed > 0; i++) {
        struct start *start = &state->start[i];
        struct plus_options options = state->options;
        const struct seed *seed = &state->seed[i % 4 < 2 ? 0 : (1 + i / 4 + i % 2) % state->n_seed];
        options.first_temperature *= i % 2 ? 4 : 1;
        DSE_TRY(
            plus_search_new(&state->task.search, &options, &seed->lfa,
                            random_stream_make(task->seed, task->key + 0x9E3779B97F4A7C15U * i, RANDOM_MOVE),
                            &start->arena, &start->search, err));
    }
    return DSE_OK;
}

/* ---- going on ---- */

static bool is_near(const struct state *state, double cost)
{
    return cost <= state->bound * (1 + state->gap);
}

/* SoMa's own second stage, from what list scheduling has made. */
static enum dse_status anneal_dlsa(struct state *state, struct random_stream stream, uint64_t *left,
                                   struct fused_schedule *schedule, struct soma_price *price,
                                   struct dse_error *err)
{
    const struct soma_search *search = &state->task.search;
    double n_round = fmin(state->dlsa_rounds * schedule->n_dram, DLSA_ROUND_MAX);
    const struct soma_dlsa_options options = {.n_round = (double)*left < n_round ? *left : (uint64_t)n_round,
                                              .first_temperature = 0.003,
                                              .alpha = state->options.alpha,
                                              .return_share = 0.9,
                                              .order_share = 0.2,
                                              .time_share = 0.4,
                                              .both_share = 0.4};
    struct soma_dlsa_search *dlsa;
    bool done = false;
    if (options.n_round == 0)
        return DSE_OK;
    DSE_TRY(soma_dlsa_search_new(search, &options, schedule, search->machine.buffer_byte, stream,
                                 &state->scratch, &dlsa, err));
    while (!done)
        DSE_TRY(soma_dlsa_search_step(dlsa, options.n_round, &done, err));
    *left -= soma_dlsa_search_rounds(dlsa);
    soma_dlsa_search_best(dlsa, schedule, price);
    return DSE_OK;
}

/* Polish and offer what a search has found. */
static enum dse_status polish(struct state *state, uint32_t i, struct engine_context *context,
                              struct dse_error *err)
{
    const struct engine_task *task = engine_context_task(context);
    struct start *start = &state->start[i];
    struct fused_schedule schedule;
    struct soma_price price;
    struct soma_lfa lfa;
    const int32_t *lead;
    uint64_t left = engine_context_left(context), before = left;
    start->polished = true;
    arena_reset(&state->scratch);
    DSE_TRY(soma_lfa_new(state->task.search.context.network->n_layer, &state->scratch, &lfa, err));
    plus_search_best(start->search, &lfa, &lead, &price);
    DSE_TRY(plus_polish(&state->task.search, &lfa, lead, state->polish, &left,
                        random_stream_make(task->seed, task->key + 0x9E3779B97F4A7C15U * i, RANDOM_NOISE),
                        &state->scratch, &schedule, &price, err));
    if (isinf(price.cost))
        return DSE_OK;
    DSE_TRY(anneal_dlsa(state,
                        random_stream_make(task->seed, task->key + 0x9E3779B97F4A7C15U * i, RANDOM_TIE),
                        &left, &schedule, &price, err));
    engine_context_count(context, before - left);
    return soma_offer(context, &state->task, &lfa, &schedule, NULL, &state->scratch, err);
}

static enum dse_status polish_all(struct state *state, struct engine_context *context, struct dse_error *err)
{
    for (uint32_t i = 0; i < state->n_start; i++)
        if (state->start[i].search && !state->start[i].polished)
            DSE_TRY(polish(state, i, context, err));
    return DSE_OK;
}

/* Every search does as much, so what is found does not depend on how many threads there are. */
static enum dse_status advance(struct state *state, struct engine_context *context, struct dse_error *err)
{
    int n_thread = engine_context_task(context)->n_thread;
    uint64_t left = engine_context_left(context);
    uint32_t n_live = 0, rank = 0;
    for (uint32_t i = 0; i < state->n_start; i++)
        n_live += !state->start[i].done;
    for (uint32_t i = 0; i < state->n_start; i++) {
        struct start *start = &state->start[i];
        uint64_t fair = start->done ? 0 : left / n_live + (rank++ < left % n_live);
        start->share = fair < SLICE ? fair : SLICE;
    }
#pragma omp parallel for schedule(dynamic)                                                                   \
    num_threads(n_thread > 0 ? n_thread : 1) if (n_thread > 1 && state->n_start > 1)
    for (uint32_t i = 0; i < state->n_start; i++) {
        struct start *start = &state->start[i];
        if (start->share > 0)
            start->status = plus_search_step(start->search, start->share, &start->done, &start->err);
    }
    for (uint32_t i = 0; i < state->n_start; i++) {
        struct start *start = &state->start[i];
        uint64_t rounds = plus_search_rounds(start->search);
        if (start->status != DSE_OK) {
            *err = start->err;
            return start->status;
        }
        engine_context_count(context, rounds - start->rounds);
        start->rounds = rounds;
    }
    return DSE_OK;
}

static enum dse_status plus_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                 struct dse_error *err)
{
    struct state *state = memory;
    bool done = true;
    if (!state->seeded) {
        DSE_TRY(begin(state, context, err));
        if (state->n_seed == 0 && engine_context_left(context) > 0)
            *stop = STOP_CONVERGED;
        return DSE_OK;
    }
    DSE_TRY(advance(state, context, err));
    for (uint32_t i = 0; i < state->n_start; i++) {
        double cost = plus_search_cost(state->start[i].search);
        done &= state->start[i].done;
        if (is_near(state, cost)) {
            *stop = STOP_CONVERGED;
            return polish(state, i, context, err);
        }
    }
    if (!done)
        return DSE_OK;
    *stop = STOP_CONVERGED;
    return polish_all(state, context, err);
}

static enum dse_status plus_finish(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    if (is_near(state, engine_context_best_cost(context)))
        return DSE_OK;
    return polish_all(state, context, err);
}

static void plus_free(void *memory)
{
    struct state *state = memory;
    for (uint32_t i = 0; i < state->n_start; i++) {
        plus_search_free(state->start[i].search);
        arena_free(&state->start[i].arena);
    }
    soma_task_free(&state->task);
    arena_free(&state->scratch);
}

const struct engine engine_soma_plus = {
    .name = "soma-plus",
    .summary = "layer fusion and DRAM order in one search, with a lower bound of the cost",
    .kind = ENGINE_SCHEDULER,
    .option = option,
    .n_option = N_OPTION,
    .state_byte = sizeof(struct state),
    .init = plus_init,
    .step = plus_step,
    .finish = plus_finish,
    .verify = soma_verify,
    .free = plus_free,
};
