/* Mind Mappings' annealing baseline (appendix A): the Python package simanneal, whose temperatures are found
 * by trial moves and which takes moves by differences of the raw cost; or by ratios, with given
 * temperatures. A move draws one attribute anew. */
#include "engines/mindmappings/mm_engines.h"
#include "engines/mindmappings/mm_search.h"
#include "engines/search/annealing_points.h"
#include "engines/search/annealing_tune.h"

enum { OPTION_MODE, OPTION_MOVES, OPTION_COST, OPTION_TRIALS, OPTION_FIRST, OPTION_LAST, N_OPTION };

enum { COST_RAW, COST_LOG };

static const char *const cost_words[] = {"raw", "log"};

static const struct engine_option option[N_OPTION] = {
    MM_OPTION_MODE,
    {"moves", "moves; fewer when the budget of evaluations is smaller", "move", OPTION_INTEGER, 10000, 1,
     1e12, NULL},
    {"cost",
     "raw: by differences of the cost, temperatures found by trial moves, which are no evaluations (column "
     "draws); log: by its ratios, with the temperatures below",
     "", OPTION_CHOICE, COST_RAW, 0, 1, cost_words},
    {"trial_moves", "raw: trial moves at each temperature", "move", OPTION_INTEGER, 2000, 1, 1e9, NULL},
    {"first_temperature",
     "log: at temperature T a mapping that costs x times as much is taken with probability x^(-1/T)", "",
     OPTION_REAL, 2, 1e-6, 1e6, NULL},
    {"last_temperature", "log: the same at the end; geometric in between", "", OPTION_REAL, 0.01, 1e-9, 1e6,
     NULL},
};

/* Of simanneal's temperatures: what part of the moves the first one takes, and how far apart they are. */
static const double accepted_at_first = 0.98, factor_between = 1.5;

struct state {
    struct mm_search search;
    struct annealing_points points;
    struct random_stream stream;
    struct annealing_tune *tune; /* raw: NULL before the first step */
    struct annealing *walk;      /* NULL: not yet */
};

static bool is_raw(const struct engine_context *context)
{
    return engine_context_option(context, OPTION_COST) == COST_RAW;
}

static enum dse_status annealing_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    state->stream = engine_context_stream(context, RANDOM_MOVE);
    DSE_TRY(mm_search_init(&state->search, context, (enum mm_mode)engine_context_option(context, OPTION_MODE),
                           err));
    state->search.trial = is_raw(context);
    return annealing_points_init(&state->points, &state->search.hooks, engine_context_arena(context), err);
}

/* The walk, from a mapping of its own. */
static enum dse_status start(struct state *state, struct engine_context *context, struct dse_error *err)
{
    const struct annealing_space moves = annealing_points_space(&state->points);
    struct annealing_options options = {
        .rule = is_raw(context) ? ANNEALING_ABSOLUTE : ANNEALING_RATIO,
        .n_round = (uint64_t)engine_context_option(context, OPTION_MOVES),
        .first_temperature = engine_context_option(context, OPTION_FIRST),
        .last_temperature = engine_context_option(context, OPTION_LAST),
        .return_share = 1,
    };
    double cost;
    uint64_t left = engine_context_left(context);
    if (left - 1 < options.n_round) /* the first mapping is an evaluation, too */
        options.n_round = left > 1 ? left - 1 : 1;
    /* Where no temperatures were found moves change nothing, and any will do. */
    if (is_raw(context) &&
        !annealing_tune_found(state->tune, &options.first_temperature, &options.last_temperature))
        options.first_temperature = options.last_temperature = 1;
    state->search.trial = false;
    if (annealing_points_start(&state->points, &state->stream, &cost) != SEARCH_PRICED)
        return DSE_OK;
    return annealing_new(&moves, &options, cost, state->stream, engine_context_arena(context), &state->walk,
                         err);
}

static enum dse_status start_tuning(struct state *state, struct engine_context *context,
                                    struct dse_error *err)
{
    const struct annealing_space moves = annealing_points_space(&state->points);
    const struct annealing_tune_options options = {
        .n_trial = (uint64_t)engine_context_option(context, OPTION_TRIALS),
        .factor = factor_between,
        .accepted = accepted_at_first,
    };
    double cost;
    if (annealing_points_start(&state->points, &state->stream, &cost) != SEARCH_PRICED)
        return dse_fail(err, DSE_INTERNAL, "engine mm-sa: a member of the map space has no price");
    return annealing_tune_new(&moves, &options, cost, engine_context_stream(context, RANDOM_NOISE),
                              engine_context_arena(context), &state->tune, err);
}

static enum dse_status annealing_run(void *memory, struct engine_context *context, enum engine_stop *stop,
                                     struct dse_error *err)
{
    struct state *state = memory;
    if (state->search.trial && !state->tune)
        DSE_TRY(start_tuning(state, context, err));
    if (state->search.trial && annealing_tune_step(state->tune, ENGINE_BATCH))
        return DSE_OK;
    if (!state->walk)
        DSE_TRY(start(state, context, err));
    bool more = state->walk && annealing_step(state->walk, ENGINE_BATCH);
    if (!more && engine_context_left(context) > 0)
        *stop = STOP_CONVERGED;
    return DSE_OK;
}

/* Time ran out among the trials: one mapping all the same. */
static enum dse_status annealing_finish(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct mm_mapping drawn;
    double cost;
    (void)err;
    if (engine_context_best(context) || engine_context_left(context) == 0)
        return DSE_OK;
    state->search.trial = false;
    mm_space_draw(state->search.space, &state->stream, &drawn);
    (void)mm_search_price(&state->search, &drawn, &cost);
    return DSE_OK;
}

const struct engine engine_mm_annealing = {
    .name = "mm-sa",
    .summary = "Mind Mappings' baseline SA: simulated annealing over the attributes of its vectors",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 0.4, .evaluations = 10000, .evaluation_s = 4e-6, .option = {"moves"}},
    .takes_only = MM_TAKES_ONLY,
    .takes_machine = mm_takes_machine,
    .takes_task = mm_takes_task,
    .state_byte = sizeof(struct state),
    .init = annealing_init,
    .step = annealing_run,
    .finish = annealing_finish,
};
