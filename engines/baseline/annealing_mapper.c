/* Simulated annealing over mappings: the shared algorithm with the map space's neighbours. A mapping is
 * small, so a move makes a copy, and taking it back exchanges the two. */
#include "engines/baseline/baseline.h"
#include "engines/baseline/mapping_search.h"
#include "engines/search/annealing.h"

enum { OPTION_MOVES, OPTION_RESTARTS, OPTION_FIRST, OPTION_LAST, OPTION_BYPASS, N_OPTION };

static const struct engine_option option[N_OPTION] = {
    {"moves", "moves of one descent; fewer when the budget of evaluations is smaller", "move", OPTION_INTEGER,
     20000, 1, 1e12, NULL},
    {"restarts", "further descents, each from the best mapping so far", "descent", OPTION_INTEGER, 1, 0, 1e6,
     NULL},
    {"first_temperature",
     "at temperature T a mapping that costs x times as much is taken with probability x^(-1/T)", "",
     OPTION_REAL, 0.3, 1e-6, 1e6, NULL},
    {"last_temperature", "the same at the end of a descent; geometric in between", "", OPTION_REAL, 0.001,
     1e-9, 1e6, NULL},
    BASELINE_OPTION_BYPASS,
};

enum { FIRST_POINT_TRIES = 1000 };

struct state {
    struct mapping_search search;
    struct annealing_options options;
    struct annealing *walk; /* NULL: there is no first mapping yet */
    struct mapping *point, *last,
        *best; /* the present one, the one before it, the best; owned by the arena */
};

static enum search_outcome propose(void *self, struct random_stream *stream, double *cost)
{
    struct state *state = self;
    const struct search_space *space = &state->search.hooks;
    if (!space->neighbour(space->self, stream, state->point, state->last))
        return SEARCH_INFEASIBLE;
    enum search_outcome outcome = space->evaluate(space->self, state->last, cost);
    if (outcome == SEARCH_PRICED) {
        struct mapping *next = state->last;
        state->last = state->point;
        state->point = next;
    }
    return outcome;
}

static void undo(void *self)
{
    struct state *state = self;
    struct mapping *refused = state->point;
    state->point = state->last;
    state->last = refused;
}

static void keep(void *self)
{
    struct state *state = self;
    *state->best = *state->point;
}

static void restore(void *self)
{
    struct state *state = self;
    *state->point = *state->best;
}

static enum dse_status annealing_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct arena *arena = engine_context_arena(context);
    struct annealing_options *options = &state->options;
    *options = (struct annealing_options){
        .rule = ANNEALING_RATIO,
        .n_round = (uint64_t)engine_context_option(context, OPTION_MOVES),
        .n_restart = (uint32_t)engine_context_option(context, OPTION_RESTARTS),
        .first_temperature = engine_context_option(context, OPTION_FIRST),
        .last_temperature = engine_context_option(context, OPTION_LAST),
        .return_share = 1,
    };
    uint64_t share = engine_context_left(context) / (options->n_restart + 1);
    if (share < options->n_round)
        options->n_round = share ? share : 1;
    state->point = arena_alloc(arena, 1, sizeof *state->point);
    state->last = arena_alloc(arena, 1, sizeof *state->last);
    state->best = arena_alloc(arena, 1, sizeof *state->best);
    DSE_TRY(arena_check(arena, "simulated annealing", err));
    return mapping_search_init(&state->search, context, engine_context_option(context, OPTION_BYPASS) != 0,
                               err);
}

/* Find and price a first mapping; the walk stays NULL when there is none. */
static enum dse_status start(struct state *state, struct engine_context *context, struct dse_error *err)
{
    const struct search_space *space = &state->search.hooks;
    const struct annealing_space moves = {state, propose, undo, keep, restore};
    struct random_stream stream = engine_context_stream(context, RANDOM_MOVE);
    for (int i = 0; i < FIRST_POINT_TRIES; i++) {
        double cost;
        if (!space->draw(space->self, &stream, state->point))
            continue;
        enum search_outcome outcome = space->evaluate(space->self, state->point, &cost);
        if (outcome == SEARCH_PRICED)
            return annealing_new(&moves, &state->options, cost, stream, engine_context_arena(context),
                                 &state->walk, err);
        if (outcome == SEARCH_OVER)
            break;
    }
    return DSE_OK;
}

static enum dse_status annealing_run(void *memory, struct engine_context *context, enum engine_stop *stop,
                                     struct dse_error *err)
{
    struct state *state = memory;
    if (!state->walk)
        DSE_TRY(start(state, context, err));
    bool more = state->walk && annealing_step(state->walk, ENGINE_BATCH);
    if (!more && engine_context_left(context) > 0)
        *stop = STOP_CONVERGED;
    return DSE_OK;
}

const struct engine engine_annealing = {
    .name = "annealing",
    .summary = "simulated annealing over valid mappings",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 3e-5, .evaluations = 40000, .evaluation_s = 1.5e-6, .option = {"moves"}},
    .state_byte = sizeof(struct state),
    .init = annealing_init,
    .step = annealing_run,
};
