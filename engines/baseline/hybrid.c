#include "engines/baseline/baseline.h"
#include "engines/driver.h"
#include "engines/mapspace_order.h"

/* Timeloop's hybrid search: random factorisation and bypass, then a linear walk over the loop orders that differ, until so many valid mappings in a row
 * brought nothing. Options and defaults are named and set as in Timeloop's mapper (its documentation, "Mapper"). */

enum { OPTION_VICTORY, OPTION_TIMEOUT, OPTION_SEARCH_SIZE, OPTION_PERMUTATIONS, OPTION_BYPASS, N_OPTION };

static const struct engine_option option[N_OPTION] = {
    {"victory_condition",
     "stop after so many valid mappings in a row that are not better than the best; 0: never", "mapping",
     OPTION_INTEGER, 500, 0, 1e15, NULL},
    {"timeout", "stop after so many invalid mappings in a row; 0: never", "mapping", OPTION_INTEGER, 1000, 0,
     1e15, NULL},
    {"search_size", "stop after so many valid mappings; 0: never", "mapping", OPTION_INTEGER, 0, 0, 1e15,
     NULL},
    {"max_permutations_per_if_visit",
     "loop orders tried for one factorisation before the next is drawn; 0: all", "permutation",
     OPTION_INTEGER, 16, 0, 1e15, NULL},
    BASELINE_OPTION_BYPASS,
};

struct state {
    const struct mapspace *space;
    struct random_stream stream;
    struct order_walk walk;
    struct mapping mapping;
    uint64_t n_order, first, visited,
        n_visit; /* orders of the present factorisation, where the walk began, how far it is */
    uint64_t n_valid, n_not_better, n_invalid;
};

static enum dse_status hybrid_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    state->stream = engine_context_stream(context, RANDOM_INIT);
    return engine_context_mapspace(context, engine_context_option(context, OPTION_BYPASS) != 0, &state->space,
                                   err);
}

/* Draw the next factorisation and begin its walk at a random order. */
static bool next_factorisation(struct state *state, struct engine_context *context)
{
    struct misfit_info fit;
    uint64_t n_rejected = 0;
    bool drawn = mapspace_draw(state->space, &state->stream, &state->mapping, &n_rejected, &fit);
    engine_context_reject(context, n_rejected, drawn ? NULL : &fit);
    state->n_invalid += n_rejected;
    state->visited = state->n_visit = 0;
    if (!drawn)
        return false;
    double limit = engine_context_option(context, OPTION_PERMUTATIONS);
    state->n_order = order_walk_start(&state->walk, state->space, &state->mapping, false);
    state->n_visit = limit > 0 && (double)state->n_order > limit ? (uint64_t)limit : state->n_order;
    state->first = state->n_order > 1 ? random_u64(&state->stream) % state->n_order : 0;
    order_walk_set(&state->walk, &state->mapping, state->first);
    return true;
}

static bool reached(uint64_t n, double limit)
{
    return limit > 0 && (double)n >= limit;
}

static enum dse_status hybrid_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                   struct dse_error *err)
{
    struct state *state = memory;
    (void)err;
    for (int i = 0; i < ENGINE_BATCH && engine_context_left(context) > 0; i++) {
        double cost, best = engine_context_best_cost(context);
        bool ready = state->visited < state->n_visit || next_factorisation(state, context);
        if (ready && engine_context_evaluate(context, &state->mapping, &cost)) {
            state->n_valid++;
            state->n_invalid = 0;
            state->n_not_better = cost < best ? 0 : state->n_not_better + 1;
        } else if (ready) {
            state->n_invalid++;
        }
        if (ready && ++state->visited < state->n_visit)
            (void)order_walk_next(&state->walk, &state->mapping);
        if (reached(state->n_valid, engine_context_option(context, OPTION_SEARCH_SIZE)) ||
            reached(state->n_not_better, engine_context_option(context, OPTION_VICTORY)) ||
            reached(state->n_invalid, engine_context_option(context, OPTION_TIMEOUT))) {
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
    .state_byte = sizeof(struct state),
    .init = hybrid_init,
    .step = hybrid_step,
    .free = NULL,
};
