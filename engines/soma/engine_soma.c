/* SoMa as the paper has it (HPCA 2025, section V): Buffer Allocator, first and second stage, from one or
 * several starts. */
#include <math.h>

#include "engines/soma/explain.h"
#include "engines/soma/offer.h"
#include "engines/soma/soma_engines.h"
#include "engines/soma/soma_metrics.h"
#include "engines/soma/two_stage.h"
#include "engines/soma/unfused.h"

enum {
    OPTION_COMPAT,
    OPTION_MOVES,
    OPTION_ALLOCATOR,
    OPTION_FIRST_TILES,
    OPTION_LFA_ROUNDS,
    OPTION_DLSA_ROUNDS,
    OPTION_DLSA_ROUNDS_MAX,
    OPTION_ALPHA,
    OPTION_FIRST_TEMPERATURE,
    OPTION_SHRINK_STEP,
    OPTION_ITERATIONS,
    OPTION_STARTS,
    OPTION_END_ROUNDS,
    OPTION_GREEDY_ROUNDS,
    OPTION_TIDY_ROUNDS,
    OPTION_ORDER_SHARE,
    OPTION_TILING_SHARE,
    OPTION_FLC_SHARE,
    OPTION_CUT_SHARE,
    OPTION_CORE,
    OPTION_CORE_EVALUATIONS,
    N_OPTION
};

enum { PAPER, PUBLISHED };

static const char *const whose[] = {"paper", "published"};

enum { COARSE, MINIMAL };

static const char *const first_tiles[] = {"coarse", "minimal"};

/* How often the first stage changes what; all of them 0: as usual for the moves (docs/soma-search.md). */
#define SHARE(NAME, WHAT)                                                                                    \
    {                                                                                                        \
        .name = NAME,                                                                                        \
        .sentence = "weight of first-stage moves that change " WHAT "; all four 0: the usual ones",          \
        .unit = "", .kind = OPTION_REAL, .standard = 0, .lowest = 0, .highest = 1e9                          \
    }

static const struct engine_option option[N_OPTION] = {
    [OPTION_COMPAT] = SOMA_OPTION_COMPAT,
    [OPTION_MOVES] = {"moves", "operators of both stages: the paper's, or the published program's", "",
                      OPTION_CHOICE, PAPER, PAPER, PUBLISHED, whose},
    [OPTION_ALLOCATOR] = {"allocator",
                          "how the buffer is shared: by steps until two in a row find nothing better, or six "
                          "runs of which the shortest counts",
                          "", OPTION_CHOICE, PAPER, PAPER, PUBLISHED, whose},
    [OPTION_FIRST_TILES] = {"first_tiles",
                            "tiling numbers where the first stage starts: one tile per sample where the "
                            "core array's tiles are many, as in the published program, or always those",
                            "", OPTION_CHOICE, MINIMAL, COARSE, MINIMAL, first_tiles},
    [OPTION_LFA_ROUNDS] = {"lfa_rounds", "rounds of the first stage, per layer of the network", "",
                           OPTION_REAL, 100, 0, 1e9, NULL},
    [OPTION_DLSA_ROUNDS] = {"dlsa_rounds", "rounds of the second stage, per tensor that the DRAM moves", "",
                            OPTION_REAL, 1000, 0, 1e9, NULL},
    [OPTION_DLSA_ROUNDS_MAX] = {"dlsa_rounds_max", "rounds of one second stage at most; 0: no limit", "",
                                OPTION_INTEGER, 5e6, 0, 1e15, NULL},
    [OPTION_ALPHA] = SOMA_OPTION_ALPHA,
    [OPTION_FIRST_TEMPERATURE] = SOMA_OPTION_FIRST_TEMPERATURE(0.1),
    [OPTION_SHRINK_STEP] = {"shrink_step",
                            "by how much of what it took at first the first stage's buffer shrinks "
                            "in each iteration",
                            "", OPTION_REAL, 0.1, 0.001, 1, NULL},
    [OPTION_ITERATIONS] = {"iterations", "iterations of the Buffer Allocator at most; 0: no limit", "",
                           OPTION_INTEGER, 0, 0, 1e6, NULL},
    [OPTION_STARTS] = SOMA_OPTION_STARTS(4),
    [OPTION_END_ROUNDS] = {"end_rounds",
                           "rounds of a start after which it takes only what is better and ends; 0: never",
                           "", OPTION_INTEGER, 0, 0, 1e15, NULL},
    [OPTION_GREEDY_ROUNDS] = {"greedy_rounds",
                              "rounds that take only what is better, behind those of each stage", "",
                              OPTION_INTEGER, 0, 0, 1e15, NULL},
    [OPTION_TIDY_ROUNDS] = {"tidy_rounds",
                            "share of the second stage's rounds for freeing buffer without losing time "
                            "(0.1 in the published program)",
                            "", OPTION_REAL, 0, 0, 1000, NULL},
    [OPTION_CORE] = SOMA_OPTION_CORE,
    [OPTION_CORE_EVALUATIONS] = SOMA_OPTION_CORE_EVALUATIONS,
    [OPTION_ORDER_SHARE] = SHARE("order_share", "orders of layers"),
    [OPTION_TILING_SHARE] = SHARE("tiling_share", "tiling numbers"),
    [OPTION_FLC_SHARE] = SHARE("flc_share", "borders of fine-grained groups"),
    [OPTION_CUT_SHARE] = SHARE("cut_share", "DRAM cuts"),
};

struct state {
    struct soma_task task;
    struct soma_two_stage search;
    struct soma_unfused unfused;
    bool begun;
    enum soma_moves first; /* whose scheme the first stage starts from */
    struct arena scratch;
};

/* Of the values of the options, (N_OPTION). */
static struct soma_allocator_options options_of(const double *value)
{
    bool published = value[OPTION_MOVES] != PAPER;
    uint64_t greedy = (uint64_t)value[OPTION_GREEDY_ROUNDS];
    struct soma_allocator_options options = {
        .lfa = {.moves = published ? SOMA_MOVES_PUBLISHED : SOMA_MOVES_PAPER,
                .shares = {.order = value[OPTION_ORDER_SHARE],
                           .tiling = value[OPTION_TILING_SHARE],
                           .flc = value[OPTION_FLC_SHARE],
                           .cut = value[OPTION_CUT_SHARE]},
                .greedy_round = greedy,
                .first_temperature = value[OPTION_FIRST_TEMPERATURE],
                .alpha = value[OPTION_ALPHA],
                .return_share = 0.9},
        .first = value[OPTION_FIRST_TILES] != COARSE ? SOMA_MOVES_PAPER : SOMA_MOVES_PUBLISHED,
        .dlsa = {.greedy_round = greedy,
                 .first_temperature = value[OPTION_FIRST_TEMPERATURE],
                 .alpha = value[OPTION_ALPHA],
                 .return_share = 0.9,
                 .order_share = published ? 0.1 : 0.5,
                 .time_share = published ? 0.4 : 0.5,
                 .both_share = published ? 0.5 : 0,
                 .above_bound = true,
                 .in_stream_order = published},
        .round_per_layer = value[OPTION_LFA_ROUNDS],
        .round_per_tensor = value[OPTION_DLSA_ROUNDS],
        .dlsa_round_max = (uint64_t)value[OPTION_DLSA_ROUNDS_MAX],
        .shrink_share = value[OPTION_TIDY_ROUNDS],
        .step = value[OPTION_SHRINK_STEP],
        .iteration_max = (uint32_t)value[OPTION_ITERATIONS],
        .published = value[OPTION_ALLOCATOR] != PAPER,
    };
    return options;
}

struct soma_allocator_options soma_default_options(void)
{
    double value[N_OPTION];
    engine_option_defaults(&engine_soma, value);
    return options_of(value);
}

static enum dse_status soma_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    const struct soma_allocator_options options = options_of(engine_context_task(context)->option);
    arena_init(&state->scratch);
    state->first = options.first;
    DSE_TRY(soma_task_of(context, OPTION_CORE, &state->task, err));
    return soma_two_stage_init(&state->search, &state->task, &options,
                               (uint64_t)engine_context_option(context, OPTION_END_ROUNDS),
                               (uint32_t)engine_context_option(context, OPTION_STARTS), context, err);
}

/* There is an answer before the first stage begins: no fusion at all. */
static enum dse_status offer_unfused(struct state *state, struct engine_context *context,
                                     struct soma_unfused *unfused, struct dse_error *err)
{
    soma_unfused_new(state->task.search.context.network->n_layer, engine_context_arena(context), unfused);
    DSE_TRY(arena_check(engine_context_arena(context), "a fusion of layers", err));
    state->begun = true;
    return soma_offer_unfused(context, &state->task, state->first, SOMA_UNFUSED_SHARE, &state->scratch,
                              unfused, err);
}

static enum dse_status begin(struct state *state, struct engine_context *context, enum engine_stop *stop,
                             struct dse_error *err)
{
    struct soma_unfused *unfused = &state->unfused;
    DSE_TRY(offer_unfused(state, context, unfused, err));
    soma_two_stage_begin_at(&state->search, &unfused->tuned, &unfused->price);
    if ((isfinite(unfused->price.cost) && !unfused->price.is_long) ||
        soma_search_is_over(&state->task.search))
        return DSE_OK;
    if (!unfused->price.is_long)
        return soma_late_end(context, &state->task, unfused, &state->scratch, stop, err);
    *stop = STOP_CONVERGED;
    return DSE_OK;
}

static enum dse_status soma_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                 struct dse_error *err)
{
    struct state *state = memory;
    bool done;
    if (!state->begun)
        return begin(state, context, stop, err);
    DSE_TRY(soma_two_stage_step(&state->search, context, &done, err));
    if (done && !soma_search_is_over(&state->task.search))
        *stop = STOP_CONVERGED;
    return DSE_OK;
}

static enum dse_status soma_finish(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    return state->begun ? soma_two_stage_settle(&state->search, context, err) : DSE_OK;
}

static void soma_free(void *memory)
{
    struct state *state = memory;
    soma_two_stage_free(&state->search);
    soma_task_free(&state->task);
    arena_free(&state->scratch);
}

const struct engine engine_soma = {
    .name = "soma",
    .summary = "layer fusion, then DRAM order and prefetching, by annealing (SoMa, HPCA 2025)",
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
    .effort = {.fixed_s = 7e-5,
               .evaluations = 1500,
               .evaluation_s = 4e-6,
               .option = {"dlsa_rounds", "starts"}},
    .state_byte = sizeof(struct state),
    .init = soma_init,
    .step = soma_step,
    .finish = soma_finish,
    .verify = soma_verify,
    .free = soma_free,
};
