#include <math.h>

#include "engines/baseline/baseline.h"
#include "engines/driver.h"
#include "engines/mapspace_descent.h"
#include "engines/mapspace_move.h"

/* Multi-start local search. A start is the best of some random mappings, or the best local optimum so far after some random
 * moves; from there greedy descent over factor moves, trades, loop orders and bypasses until no neighbour is better. It
 * converges: the search ends when many starts in a row led to nothing better. */

enum { OPTION_SAMPLES, OPTION_FRESH, OPTION_KICK, OPTION_PATIENCE, OPTION_BYPASS, N_OPTION };
enum { START_TRIES = 1000, FRESH_EVERY = 4 };

static const struct engine_option option[N_OPTION] = {
    {"samples", "random mappings of which the best is the start of a fresh descent", "mapping",
     OPTION_INTEGER, 5, 1, 1e9, NULL},
    {"fresh_starts", "fresh descents before the best local optimum is perturbed", "descent", OPTION_INTEGER,
     8, 1, 1e9, NULL},
    {"kick", "most random moves of one perturbation", "move", OPTION_INTEGER, 6, 1, 1000, NULL},
    {"patience", "stop after so many descents in a row that found nothing better", "descent", OPTION_INTEGER,
     100, 1, 1e9, NULL},
    BASELINE_OPTION_BYPASS,
};

/* A point of the search: a mapping with its cost, and what decides between equal costs. */
struct priced {
    struct mapping mapping;
    double cost, tie;
};

struct state {
    const struct mapspace *space;
    struct engine_context *context;
    struct random_stream stream;
    struct descent descent;
    struct priced now, best; /* best: the best local optimum */
    uint64_t n_start, n_no_better, n_failed;
    bool descending;
};

static bool price(void *self, const struct mapping *mapping, double *cost, double *tie)
{
    if (!engine_context_evaluate(self, mapping, cost))
        return false;
    *tie = engine_context_tie(self);
    return true;
}

static bool is_better(const struct priced *a, const struct priced *b)
{
    return a->cost < b->cost || (a->cost == b->cost && a->tie < b->tie);
}

static enum dse_status descent_init_engine(void *memory, struct engine_context *context,
                                           struct dse_error *err)
{
    struct state *state = memory;
    state->context = context;
    state->best.cost = INFINITY;
    state->stream = engine_context_stream(context, RANDOM_INIT);
    return engine_context_mapspace(context, engine_context_option(context, OPTION_BYPASS) != 0, &state->space,
                                   err);
}

/* Let one or two random dimensions take over a random slot: a long step that no descent finds. */
static void take_over(struct state *state)
{
    uint32_t n_dim = state->now.mapping.n_dim, n = 1 + random_below(&state->stream, 2);
    uint32_t slot = random_below(&state->stream, mapspace_slots(state->space));
    uint32_t stay = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t d = random_below(&state->stream, n_dim);
        (void)mapspace_gather(state->space, &state->now.mapping, d, slot);
        stay |= 1u << d;
    }
    mapspace_evict(state->space, &state->stream, &state->now.mapping, slot, stay);
}

/* The best of some random mappings becomes `now`; false when none was found. */
static bool fresh_start(struct state *state)
{
    struct priced drawn = state->now;
    uint64_t n = (uint64_t)engine_context_option(state->context, OPTION_SAMPLES);
    state->now.cost = INFINITY;
    for (uint64_t i = 0; i < n && engine_context_left(state->context) > 0; i++) {
        struct misfit_info fit;
        uint64_t n_rejected = 0;
        bool valid = mapspace_draw(state->space, &state->stream, &drawn.mapping, &n_rejected, &fit);
        engine_context_reject(state->context, n_rejected, valid ? NULL : &fit);
        if (valid && price(state->context, &drawn.mapping, &drawn.cost, &drawn.tie) &&
            is_better(&drawn, &state->now))
            state->now = drawn;
    }
    if (state->now.cost == INFINITY || random_below(&state->stream, 2) == 0)
        return state->now.cost < INFINITY;
    take_over(state);
    return price(state->context, &state->now.mapping, &state->now.cost, &state->now.tie);
}

/* The best local optimum after some random moves becomes `now`. */
static bool kicked_start(struct state *state)
{
    uint32_t most = (uint32_t)engine_context_option(state->context, OPTION_KICK);
    uint32_t n = 1 + random_below(&state->stream, most);
    struct mapping next;
    state->now = state->best;
    if (random_below(&state->stream, 2) == 0)
        take_over(state);
    for (uint32_t i = 0; i < n; i++)
        if (mapspace_neighbour(state->space, &state->stream, &state->now.mapping, &next))
            state->now.mapping = next;
    return price(state->context, &state->now.mapping, &state->now.cost, &state->now.tie);
}

static void begin(struct state *state)
{
    bool fresh = state->n_start < (uint64_t)engine_context_option(state->context, OPTION_FRESH) ||
                 state->n_start % FRESH_EVERY == 0 || state->best.cost == INFINITY;
    bool found = fresh ? fresh_start(state) : kicked_start(state);
    state->n_start++;
    state->n_failed = found ? 0 : state->n_failed + 1;
    if (found) {
        descent_start(&state->descent, state->space, &state->now.mapping, state->now.cost, state->now.tie,
                      &state->stream);
        state->descending = true;
    }
}

/* A local optimum is reached. */
static void finish(struct state *state)
{
    state->descending = false;
    state->n_no_better++;
    state->now.cost = state->descent.cost;
    state->now.tie = state->descent.tie;
    if (!is_better(&state->now, &state->best))
        return;
    /* equal within rounding is no progress, though the better one is kept */
    if (state->now.cost < state->best.cost * (1 - 1e-9))
        state->n_no_better = 0;
    state->best = state->now;
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
