#include <math.h>

#include "engines/baseline/baseline.h"
#include "engines/driver.h"
#include "engines/mapspace_descent.h"
#include "engines/mapspace_move.h"

/* Multi-start local search. A start is the best of some random mappings, or the best local optimum so far after some random
 * moves; from there greedy descent over factor moves, trades, loop orders and bypasses until no neighbour is better. It
 * converges: the search ends when many starts in a row led to nothing better. */

enum { OPTION_SAMPLES, OPTION_FRESH, OPTION_KICK, OPTION_PATIENCE, OPTION_BYPASS, N_OPTION };
enum { START_TRIES = 1000 };

static const struct engine_option option[N_OPTION] = {
    {"samples", "random mappings of which the best is the start of a fresh descent", "mapping",
     OPTION_INTEGER, 30, 1, 1e9, NULL},
    {"fresh_starts", "fresh descents before the best local optimum is perturbed", "descent", OPTION_INTEGER,
     8, 1, 1e9, NULL},
    {"kick", "most random moves of one perturbation", "move", OPTION_INTEGER, 6, 1, 1000, NULL},
    {"patience", "stop after so many descents in a row that found nothing better", "descent", OPTION_INTEGER,
     60, 1, 1e9, NULL},
    BASELINE_OPTION_BYPASS,
};

struct state {
    const struct mapspace *space;
    struct engine_context *context;
    struct random_stream stream;
    struct descent descent;
    struct mapping mapping, best; /* best: the best local optimum */
    double best_cost;
    uint64_t n_start, n_no_better, n_failed;
    bool descending;
};

static bool price(void *self, const struct mapping *mapping, double *cost)
{
    return engine_context_evaluate(self, mapping, cost);
}

static enum dse_status descent_init_engine(void *memory, struct engine_context *context,
                                           struct dse_error *err)
{
    struct state *state = memory;
    state->context = context;
    state->best_cost = INFINITY;
    state->stream = engine_context_stream(context, RANDOM_INIT);
    return engine_context_mapspace(context, engine_context_option(context, OPTION_BYPASS) != 0, &state->space,
                                   err);
}

/* The best of some random mappings in state->mapping; false when none was found. */
static bool fresh_start(struct state *state, double *cost)
{
    struct mapping drawn;
    *cost = INFINITY;
    drawn = state->mapping;
    uint64_t n = (uint64_t)engine_context_option(state->context, OPTION_SAMPLES);
    for (uint64_t i = 0; i < n && engine_context_left(state->context) > 0; i++) {
        struct misfit_info fit;
        uint64_t n_rejected = 0;
        double price_of_it;
        bool valid = mapspace_draw(state->space, &state->stream, &drawn, &n_rejected, &fit);
        engine_context_reject(state->context, n_rejected, valid ? NULL : &fit);
        if (valid && engine_context_evaluate(state->context, &drawn, &price_of_it) && price_of_it < *cost) {
            *cost = price_of_it;
            state->mapping = drawn;
        }
    }
    return *cost < INFINITY;
}

/* The best local optimum after some random moves. */
static bool kicked_start(struct state *state, double *cost)
{
    uint32_t most = (uint32_t)engine_context_option(state->context, OPTION_KICK);
    uint32_t n = 1 + random_below(&state->stream, most);
    struct mapping next;
    state->mapping = state->best;
    for (uint32_t i = 0; i < n; i++)
        if (mapspace_neighbour(state->space, &state->stream, &state->mapping, &next))
            state->mapping = next;
    return engine_context_evaluate(state->context, &state->mapping, cost);
}

static void begin(struct state *state)
{
    double cost;
    bool fresh = state->n_start < (uint64_t)engine_context_option(state->context, OPTION_FRESH) ||
                 state->best_cost == INFINITY;
    bool found = fresh ? fresh_start(state, &cost) : kicked_start(state, &cost);
    state->n_start++;
    state->n_failed = found ? 0 : state->n_failed + 1;
    if (found) {
        descent_start(&state->descent, state->space, &state->mapping, cost, &state->stream);
        state->descending = true;
    }
}

/* A local optimum is reached. */
static void finish(struct state *state)
{
    state->descending = false;
    state->n_no_better++;
    if (state->descent.cost < state->best_cost) {
        /* equal within rounding is no progress, though the better one is kept */
        if (state->descent.cost < state->best_cost * (1 - 1e-9))
            state->n_no_better = 0;
        state->best_cost = state->descent.cost;
        state->best = state->mapping;
    }
}

static enum dse_status descent_run(void *memory, struct engine_context *context, enum engine_stop *stop,
                                   struct dse_error *err)
{
    struct state *state = memory;
    (void)err;
    uint64_t end = engine_context_evaluations(context) + ENGINE_BATCH;
    while (engine_context_evaluations(context) < end && engine_context_left(context) > 0) {
        if (!state->descending)
            begin(state);
        else if (!descent_block(&state->descent, price, context))
            finish(state);
        if (state->n_failed == START_TRIES ||
            (double)state->n_no_better >= engine_context_option(context, OPTION_PATIENCE)) {
            *stop = STOP_CONVERGED;
            break;
        }
        if (state->n_failed)
            break; /* let the driver look at the clock */
    }
    return DSE_OK;
}

const struct engine engine_descent = {
    .name = "descent",
    .summary = "multi-start greedy descent over factor moves, trades and loop orders; converges",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .state_byte = sizeof(struct state),
    .init = descent_init_engine,
    .step = descent_run,
    .free = NULL,
};
