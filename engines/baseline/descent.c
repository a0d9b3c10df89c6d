/* Multi-start local search. A start is the best of some random mappings, often laid out anew, or one of the
 * best local optima so far after some random moves, or the child of two of them; from there greedy descent
 * over factor moves, trades, loop orders and bypasses until no neighbour is better. It converges: the
 * search ends when many starts in a row led to nothing better. Mappings met again cost no evaluation. Where
 * bypasses are searched too, the space is large and most of it says the same twice: fresh starts and half
 * of the others keep to its narrow part. And the local optima of one search may all be caught in one place,
 * whatever is kicked: when patience is over they are forgotten, and several searches in a row have to find
 * nothing better. */
#include <math.h>

#include "engines/baseline/baseline.h"
#include "engines/driver/driver.h"
#include "engines/driver/price_memo.h"
#include "engines/gradient/gradient_starts.h"
#include "engines/mapspace/mapspace_descent.h"
#include "engines/mapspace/mapspace_move.h"
#include "engines/mapspace/mapspace_narrow.h"

enum { OPTION_SAMPLES, OPTION_FRESH, OPTION_KICK, OPTION_PATIENCE, OPTION_START, OPTION_BYPASS, N_OPTION };
/* So many searches in a row find nothing better before the end, where bypasses are searched. */
enum { START_TRIES = 1000, STEP_BLOCKS = 1000, BYPASS_SEARCHES = 4 };
/* Steps to gradient starts between two looks at the clock. */
enum { STEP_STEPS = 4 };

static const char *const start_names[] = {"random", "gradient"};
enum { START_RANDOM, START_GRADIENT };

/* Fewer than in engine gradient: here they are a beginning. */
static const struct gradient_setting gradient_setting = {
    .schedule = {.steps = 80, .rate = 0.3}, .descents = 128, .refined = 32};

static const struct engine_option option[N_OPTION] = {
    {"samples", "random mappings of which the best is the start of a fresh descent", "mapping",
     OPTION_INTEGER, 8, 1, 1e9, NULL},
    {"fresh_starts", "fresh descents before the best local optima are perturbed", "descent", OPTION_INTEGER,
     8, 1, 1e9, NULL},
    {"kick", "most random moves of one perturbation", "move", OPTION_INTEGER, 6, 1, 1000, NULL},
    {"patience", "stop after so many descents in a row that found nothing better", "descent", OPTION_INTEGER,
     120, 1, 1e9, NULL},
    {"start",
     "gradient: the first fresh descents begin at the best mappings of descents on the relaxed model", "",
     OPTION_CHOICE, START_RANDOM, 0, 1, start_names},
    BASELINE_OPTION_BYPASS,
};

struct state {
    /* the whole, its narrow part where that is used (else NULL), that of the present descent */
    const struct mapspace *whole, *narrow, *space;
    struct gradient_starts *starts; /* NULL: none, or all used */
    uint32_t n_start_used;
    struct engine_context *context;
    struct random_stream stream;
    struct price_memo memo;
    struct descent descent;
    struct priced_mapping now;
    struct local_optima optima; /* of the present search */
    double best_cost;           /* of all of them */
    uint64_t n_start, n_no_better, n_failed;
    uint64_t n_known,
        n_evaluation;  /* descents in a row that met only known mappings; evaluations before this one */
    uint64_t n_sample; /* of a fresh start, so far */
    bool sampling, preparing, descending;
};

static bool is_better(const struct priced_mapping *a, const struct priced_mapping *b)
{
    return a->cost < b->cost || (a->cost == b->cost && a->tie < b->tie);
}

static enum dse_status descent_init_engine(void *memory, struct engine_context *context,
                                           struct dse_error *err)
{
    struct state *state = memory;
    state->context = context;
    state->best_cost = INFINITY;
    state->stream = engine_context_stream(context, RANDOM_INIT);
    enum dse_status status = price_memo_new(&state->memo, context, engine_context_arena(context), err);
    if (status != DSE_OK)
        return status;
    bool bypass = engine_context_option(context, OPTION_BYPASS) != 0;
    struct arena *arena = engine_context_arena(context);
    DSE_TRY(engine_context_mapspace(context, bypass, &state->whole, err));
    state->space = state->whole;
    if (mapspace_is_empty(state->whole))
        return DSE_OK;
    if (bypass)
        DSE_TRY(mapspace_new_narrow(state->whole, arena, &state->narrow, err));
    if (engine_context_option(context, OPTION_START) != START_GRADIENT)
        return DSE_OK;
    const struct engine_task *task = engine_context_task(context);
    return gradient_starts_new(state->whole, engine_context_problem(context), task->architecture,
                               &task->objective, &gradient_setting, arena, &state->starts, err);
}

/* Some more of the random mappings of a fresh start, of which the best becomes `now`; false: there are
 * enough. */
static bool sample(struct state *state)
{
    struct priced_mapping drawn = state->now;
    uint64_t n = (uint64_t)engine_context_option(state->context, OPTION_SAMPLES);
    if (state->n_sample == 0)
        state->now.cost = INFINITY;
    for (uint32_t i = 0; i < ENGINE_BATCH && state->n_sample < n; i++, state->n_sample++) {
        if (engine_context_left(state->context) == 0)
            return false;
        struct misfit_info fit;
        uint64_t n_rejected = 0;
        bool valid = mapspace_draw_start(state->space, &state->stream, &drawn.mapping, &n_rejected, &fit);
        engine_context_reject(state->context, n_rejected, valid ? NULL : &fit);
        if (valid && price_memo_price(&state->memo, &drawn.mapping, &drawn.cost, &drawn.tie) &&
            is_better(&drawn, &state->now))
            state->now = drawn;
    }
    return state->n_sample < n;
}

/* One of the best local optima after some random moves, or the child of two, becomes `now`. */
static bool kicked_start(struct state *state)
{
    uint32_t most = (uint32_t)engine_context_option(state->context, OPTION_KICK);
    state->now.mapping = optima_kick(&state->optima, state->space, most, &state->stream);
    return price_memo_price(&state->memo, &state->now.mapping, &state->now.cost, &state->now.tie);
}

static bool wants_fresh_start(struct state *state)
{
    return state->n_start < (uint64_t)engine_context_option(state->context, OPTION_FRESH) ||
           random_below(&state->stream, 8) < 3 || state->optima.n == 0;
}

/* The next of the gradient's starts becomes `now`. False: none does, they are still being made, or all are
 * used. */
static bool gradient_start(struct state *state)
{
    uint32_t n;
    state->preparing = false;
    for (int i = 0; i < STEP_STEPS; i++) {
        state->preparing = gradient_starts_step(state->starts, &state->stream);
        if (!state->preparing)
            break;
    }
    if (state->preparing)
        return false;
    const struct gradient_start *best = gradient_starts_best(state->starts, &n);
    if (state->n_start_used == n ||
        state->n_start >= (uint64_t)engine_context_option(state->context, OPTION_FRESH)) {
        state->starts = NULL;
        return false;
    }
    state->now.mapping = best[state->n_start_used++].mapping;
    return price_memo_price(&state->memo, &state->now.mapping, &state->now.cost, &state->now.tie);
}

/* Fresh descents, and every other one, go in the narrow part, if that is used. */
static const struct mapspace *choose_space(struct state *state, bool fresh)
{
    return state->narrow && (fresh || random_below(&state->stream, 2) == 0) ? state->narrow : state->whole;
}

static void descend(struct state *state)
{
    descent_start_wide(&state->descent, state->space, &state->now.mapping, state->now.cost, state->now.tie,
                       &state->stream);
    state->descending = true;
}

static void begin(struct state *state)
{
    if (state->starts) {
        state->n_evaluation = engine_context_evaluations(state->context);
        state->space = state->whole;
        if (gradient_start(state)) {
            state->n_start++;
            descend(state);
        }
        return;
    }
    bool fresh = state->sampling || wants_fresh_start(state);
    if (!state->sampling) {
        state->space = choose_space(state, fresh);
        state->n_sample = 0;
        state->n_evaluation = engine_context_evaluations(state->context);
    }
    state->sampling = fresh && sample(state);
    if (state->sampling)
        return;
    bool found = fresh ? state->now.cost < INFINITY : kicked_start(state);
    state->n_start++;
    state->n_failed = found ? 0 : state->n_failed + 1;
    if (found)
        descend(state);
}

/* A local optimum is reached. */
static void finish(struct state *state)
{
    state->descending = false;
    state->now.cost = state->descent.cost;
    state->now.tie = state->descent.tie;
    bool any_new = engine_context_evaluations(state->context) > state->n_evaluation;
    state->n_known = any_new ? 0 : state->n_known + 1;
    bool first = priced_insert(state->optima.point, &state->optima.n, OPTIMA_MAX, &state->now) == 0;
    bool best = first && state->now.cost < state->best_cost;
    state->n_no_better = best ? 0 : state->n_no_better + 1;
    if (best)
        state->best_cost = state->now.cost;
    uint64_t patience = (uint64_t)engine_context_option(state->context, OPTION_PATIENCE);
    if (state->narrow && !best && state->n_no_better % patience == 0)
        state->n_start = state->optima.n = 0;
}

static enum dse_status descent_run(void *memory, struct engine_context *context, enum engine_stop *stop,
                                   struct dse_error *err)
{
    struct state *state = memory;
    (void)err;
    double patience = engine_context_option(context, OPTION_PATIENCE) * (state->narrow ? BYPASS_SEARCHES : 1);
    uint64_t end = engine_context_evaluations(context) + ENGINE_BATCH;
    for (uint32_t i = 0;
         i < STEP_BLOCKS && engine_context_evaluations(context) < end && engine_context_left(context) > 0;
         i++) {
        if (!state->descending)
            begin(state);
        else if (!descent_block(&state->descent, price_memo_price, &state->memo) ||
                 optima_have(&state->optima, &state->descent))
            finish(state);
        if (state->n_failed == START_TRIES || state->n_known == START_TRIES ||
            (double)state->n_no_better >= patience) {
            *stop = STOP_CONVERGED;
            break;
        }
        if (state->n_failed || state->sampling || state->preparing)
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
    .effort = {.fixed_s = 3e-5, .evaluations = 26000, .evaluation_s = 1.6e-6, .option = {"patience"}},
    .state_byte = sizeof(struct state),
    .init = descent_init_engine,
    .step = descent_run,
};
