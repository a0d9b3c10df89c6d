/* Timeloop's hybrid search: random factorisation and bypass, then a linear walk over the loop orders that
 * differ, until so many valid mappings in a row brought nothing. Options and defaults are named and set as in
 * Timeloop's mapper (its documentation, "Mapper"). Several searchers, Timeloop's threads, take turns: each
 * has its own random stream, its own best and its own counters. */
#include <math.h>

#include "engines/baseline/all_orders.h"
#include "engines/baseline/baseline.h"
#include "engines/baseline/sampling.h"
#include "engines/driver/driver.h"
#include "engines/mapspace/mapspace_order.h"

enum {
    OPTION_VICTORY,
    OPTION_TIMEOUT,
    OPTION_SEARCH_SIZE,
    OPTION_PERMUTATIONS,
    OPTION_ORDERS,
    OPTION_SEARCHERS,
    OPTION_SAMPLING,
    OPTION_BYPASS,
    N_OPTION
};

static const char *const orders_names[] = {"distinct", "all"};
enum { ORDERS_DISTINCT, ORDERS_ALL };

static const struct engine_option option[N_OPTION] = {
    {"victory_condition",
     "a searcher stops after so many valid mappings in a row that are not better than its best; 0: never",
     "mapping", OPTION_INTEGER, 500, 0, 1e15, NULL},
    {"timeout", "a searcher stops after so many invalid mappings in a row; 0: only after 1e8", "mapping",
     OPTION_INTEGER, 1000, 0, 1e15, NULL},
    {"search_size", "stop after so many valid mappings of all searchers; 0: never", "mapping", OPTION_INTEGER,
     0, 0, 1e15, NULL},
    {"max_permutations_per_if_visit",
     "loop orders tried for one factorisation before the next is drawn; 0: all", "permutation",
     OPTION_INTEGER, 16, 0, 1e15, NULL},
    {"orders",
     "distinct: only loop orders that can differ in cost, from a random one on; all: every order of the "
     "non-unit loops, from the first on",
     "", OPTION_CHOICE, ORDERS_DISTINCT, 0, 1, orders_names},
    {"searchers",
     "independent searchers, each with its own random numbers and victory counter; the best of all counts",
     "searcher", OPTION_INTEGER, 1, 1, 4096, NULL},
    BASELINE_OPTION_SAMPLING,
    BASELINE_OPTION_BYPASS,
};

/* One searcher: where it is in the orders of its present factorisation, and what it has seen. */
struct searcher {
    struct random_stream stream;
    struct order_walk walk;
    struct all_orders all;
    struct mapping mapping;
    double best;               /* the lowest cost it has seen */
    uint64_t visited, n_visit; /* orders of the present factorisation that were tried, that are to be tried */
    uint64_t n_not_better, n_invalid; /* in a row */
    bool over;
};

struct state {
    const struct mapspace *space;
    struct searcher *searcher; /* (n_searcher) */
    uint32_t n_searcher, turn, n_over;
    uint64_t n_valid;
};

static enum dse_status hybrid_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    const struct engine_task *task = engine_context_task(context);
    state->n_searcher = (uint32_t)engine_context_option(context, OPTION_SEARCHERS);
    state->searcher = arena_alloc(engine_context_arena(context), state->n_searcher, sizeof *state->searcher);
    DSE_TRY(arena_check(engine_context_arena(context), "the searchers of engine hybrid", err));
    for (uint32_t i = 0; i < state->n_searcher; i++) {
        struct searcher *searcher = &state->searcher[i];
        /* the first one is the single searcher; the others are streams of their own, apart from every enum
         * random_use */
        searcher->stream =
            i == 0 ? engine_context_stream(context, RANDOM_INIT)
                   : random_stream_make(task->seed, task->key, ((uint32_t)RANDOM_INIT << 16) + 0x1000u + i);
        searcher->best = INFINITY;
    }
    return engine_context_mapspace(context, engine_context_option(context, OPTION_BYPASS) != 0, &state->space,
                                   err);
}

/* Begin the walk over the orders of the present factorisation. */
static void start_orders(const struct state *state, struct searcher *searcher, struct engine_context *context)
{
    double limit = engine_context_option(context, OPTION_PERMUTATIONS);
    bool all = engine_context_option(context, OPTION_ORDERS) == ORDERS_ALL;
    uint64_t n_order =
        all ? all_orders_start(&searcher->all, engine_context_task(context)->constraints, &searcher->mapping)
            : order_walk_start(&searcher->walk, state->space, &searcher->mapping, false);
    searcher->n_visit = limit > 0 && (double)n_order > limit ? (uint64_t)limit : n_order;
    if (all)
        return;
    uint64_t first = n_order > 1 ? random_u64(&searcher->stream) % n_order : 0;
    order_walk_set(&searcher->walk, &searcher->mapping, first);
}

static void next_order(struct searcher *searcher, const struct engine_context *context)
{
    if (engine_context_option(context, OPTION_ORDERS) == ORDERS_ALL)
        (void)all_orders_next(&searcher->all, &searcher->mapping);
    else
        (void)order_walk_next(&searcher->walk, &searcher->mapping);
}

/* Draw the next factorisation and begin its walk. */
static bool next_factorisation(const struct state *state, struct searcher *searcher,
                               struct engine_context *context)
{
    enum sampling sampling = (enum sampling)engine_context_option(context, OPTION_SAMPLING);
    searcher->visited = searcher->n_visit = 0;
    if (!sampling_draw(context, state->space, sampling, &searcher->stream, &searcher->mapping,
                       &searcher->n_invalid))
        return false;
    start_orders(state, searcher, context);
    return true;
}

/* Look at one mapping, or throw one draw away. */
static void advance(struct state *state, struct searcher *searcher, struct engine_context *context)
{
    double cost;
    bool ready = searcher->visited < searcher->n_visit || next_factorisation(state, searcher, context);
    if (ready && engine_context_evaluate(context, &searcher->mapping, &cost)) {
        state->n_valid++;
        searcher->n_invalid = 0;
        searcher->n_not_better = cost < searcher->best ? 0 : searcher->n_not_better + 1;
        searcher->best = fmin(searcher->best, cost);
    } else if (ready) {
        searcher->n_invalid++;
    }
    if (ready && ++searcher->visited < searcher->n_visit)
        next_order(searcher, context);
    searcher->over =
        sampling_reached(searcher->n_not_better, engine_context_option(context, OPTION_VICTORY)) ||
        sampling_timed_out(searcher->n_invalid, engine_context_option(context, OPTION_TIMEOUT));
    state->n_over += searcher->over;
}

static enum dse_status hybrid_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                   struct dse_error *err)
{
    struct state *state = memory;
    (void)err;
    for (int i = 0; i < ENGINE_BATCH && engine_context_left(context) > 0; i++) {
        while (state->searcher[state->turn].over)
            state->turn = (state->turn + 1) % state->n_searcher;
        advance(state, &state->searcher[state->turn], context);
        state->turn = (state->turn + 1) % state->n_searcher;
        if (sampling_reached(state->n_valid, engine_context_option(context, OPTION_SEARCH_SIZE)) ||
            state->n_over == state->n_searcher) {
            *stop = STOP_CONVERGED;
            break;
        }
    }
    return DSE_OK;
}

const struct engine engine_hybrid = {
    .name = "hybrid",
    .summary = "Timeloop's hybrid search: random factorisations, pruned permutations, victory condition",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 3e-5,
               .evaluations = 600,
               .evaluation_s = 0.7e-6,
               .option = {"victory_condition", "searchers"}},
    .state_byte = sizeof(struct state),
    .init = hybrid_init,
    .step = hybrid_step,
};
