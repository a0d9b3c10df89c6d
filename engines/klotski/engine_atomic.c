/* Klotski's second baseline, atomic dataflow without rounds: simulated annealing over a target latency, each
 * layer taking the tile that is nearest to it, with the variance of the latencies over the layers as energy;
 * then the order of atomic_order.h. */
#include <math.h>

#include "engines/klotski/baseline_offer.h"
#include "engines/klotski/klotski_engines.h"
#include "engines/klotski/klotski_fit.h"
#include "engines/klotski/klotski_metrics.h"
#include "engines/klotski/klotski_task.h"
#include "engines/klotski/partition.h"
#include "engines/search/annealing.h"

enum {
    OPTION_PARTITION_FROM,
    OPTION_EVALUATIONS,
    OPTION_RULES,
    OPTION_NETWORK = OPTION_RULES + KLOTSKI_N_RULES,
    N_OPTION = OPTION_NETWORK + KLOTSKI_N_NETWORK
};

static const struct engine_option option[N_OPTION] = {
    [OPTION_PARTITION_FROM] = KLOTSKI_OPTION_PARTITION_FROM,
    [OPTION_EVALUATIONS] = {.name = "evaluations",
                            .sentence = "target latencies that the annealing tries",
                            .unit = "",
                            .kind = OPTION_INTEGER,
                            .standard = 50,
                            .lowest = 1,
                            .highest = 100000},
    [OPTION_RULES] = KLOTSKI_OPTIONS_RULES,
    [OPTION_NETWORK] = KLOTSKI_OPTIONS_NETWORK,
};

/* Changes of the target's logarithm, at most. */
static const double step_share = 0.1;

struct state {
    struct klotski_task task;
    struct tile_rules rules;
    struct tile_lists lists;
    double least, most;          /* of a target, logarithms */
    double target, before, best; /* now, before the last proposal, of the least energy */
    struct uop_cut *cut;         /* (n_layer) */
    const struct uop_cut *given; /* another's partition */
    bool is_empty;
    struct annealing *walk;
    struct arena scratch;
};

/* The variance of the layers' latencies with that target, and 1, as costs are above 0. */
static double energy_of(const struct state *state, double target)
{
    double sum = 0, squares = 0;
    for (uint32_t l = 0; l < state->lists.n_layer; l++) {
        const uint32_t nearest = tile_nearest(&state->lists, l, target);
        const double cycle = (double)state->lists.tile[state->lists.first[l] + nearest].cycle;
        sum += cycle;
        squares += cycle * cycle;
    }
    const double mean = sum / state->lists.n_layer;
    return 1 + fmax(0, squares / state->lists.n_layer - mean * mean);
}

static bool is_allowed(struct state *state, double target)
{
    return partition_target(&state->lists, target, &state->rules, state->cut) <= state->rules.max_uops;
}

static enum search_outcome propose(void *self, struct random_stream *stream, double *cost)
{
    struct state *state = self;
    const double change = (2 * random_unit(stream) - 1) * step_share * (state->most - state->least);
    const double target = fmin(fmax(state->target + change, state->least), state->most);
    if (!is_allowed(state, target))
        return SEARCH_INFEASIBLE;
    state->before = state->target;
    state->target = target;
    *cost = energy_of(state, target);
    return SEARCH_PRICED;
}

static void undo(void *self)
{
    struct state *state = self;
    state->target = state->before;
}

static void keep(void *self)
{
    struct state *state = self;
    state->best = state->target;
}

static void restore(void *self)
{
    struct state *state = self;
    state->target = state->best;
}

static enum dse_status init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct arena *arena = engine_context_arena(context);
    arena_init(&state->scratch);
    DSE_TRY(klotski_search_of(context, OPTION_RULES, false,
                              engine_context_file(context, OPTION_PARTITION_FROM) != NULL, arena,
                              &state->task, &state->rules, err));
    state->cut = arena_alloc(arena, state->task.network.n_layer, sizeof *state->cut);
    DSE_TRY(arena_check(arena, "a partition", err));
    DSE_TRY(klotski_partition_from(context, OPTION_PARTITION_FROM, &state->task, &state->given, err));
    if (state->given)
        return DSE_OK;
    do {
        DSE_TRY(tile_lists_of_grid(&state->task.network, &state->task.machine, &state->rules, arena,
                                   &state->lists, err));
        partition_target_range(&state->lists, &state->least, &state->most);
        state->target = state->most; /* the fewest uops */
        state->is_empty = !is_allowed(state, state->target);
    } while (state->is_empty && klotski_more_uops(&state->rules));
    if (state->is_empty) {
        DSE_TRY(klotski_fewest_cut(&state->task, &state->rules, arena, &state->given, err));
        state->is_empty = !state->given;
        return DSE_OK;
    }
    const struct annealing_space space = {state, propose, undo, keep, restore};
    const struct annealing_options options = {
        .rule = ANNEALING_RATIO,
        .n_round = (uint64_t)engine_context_option(context, OPTION_EVALUATIONS),
        .first_temperature = 1,
        .last_temperature = 0.05,
        .return_share = 1};
    return annealing_new(&space, &options, energy_of(state, state->target),
                         engine_context_stream(context, RANDOM_MOVE), arena, &state->walk, err);
}

/* The order of the partition's uops. */
static enum dse_status offer(struct state *state, struct engine_context *context, struct dse_error *err)
{
    struct uop_plan plan =
        klotski_plan(context, OPTION_NETWORK, &state->rules, state->given ? state->given : state->cut);
    struct uop_graph graph;
    DSE_TRY(uop_graph_of(&state->task.network, &state->task.machine, plan.cut, plan.sums, plan.batch,
                         &state->scratch, &graph, err));
    DSE_TRY(baseline_offer_atomic(context, &state->task, &graph, &plan, &state->scratch, err));
    if (engine_context_file(context, OPTION_PARTITION_FROM))
        return DSE_OK;
    arena_reset(&state->scratch);
    return klotski_offer_fewest(context, &state->task, &state->rules, &plan, &state->scratch, err);
}

/* All rounds: fifty take microseconds. */
static enum dse_status step(void *memory, struct engine_context *context, enum engine_stop *stop,
                            struct dse_error *err)
{
    struct state *state = memory;
    const uint64_t left = engine_context_left(context);
    *stop = STOP_CONVERGED;
    if (state->is_empty) {
        engine_context_explain(context, "no target latency gives tiles that fit the accelerators' memory and "
                                        "make at most max_uops uops");
        return DSE_OK;
    }
    if (state->walk) {
        bool more = true;
        while (more && annealing_rounds(state->walk) < left)
            more = annealing_step(state->walk, 1);
        engine_context_count(context, annealing_rounds(state->walk));
        if (more)
            *stop = STOP_RUNNING;             /* the driver says that it was the budget */
        (void)is_allowed(state, state->best); /* its cuts */
    } else {
        engine_context_count(context, 1);
    }
    return offer(state, context, err);
}

static void release(void *memory)
{
    struct state *state = memory;
    klotski_task_free(&state->task);
    arena_free(&state->scratch);
}

const struct engine engine_atomic = {
    .name = "atomic",
    .summary =
        "atomic dataflow without rounds: annealed tiles of like latencies, ordered by rules; Klotski's "
        "second baseline",
    .kind = ENGINE_SCHEDULER,
    .accounting = klotski_accountings,
    .takes_only = KLOTSKI_TAKES_ONLY,
    .takes_task = klotski_takes_task,
    .streams_of = "klotski",
    .group = &klotski_group,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 1e-4},
    .read_file = klotski_read_file,
    .state_byte = sizeof(struct state),
    .init = init,
    .step = step,
    .verify = klotski_verify,
    .free = release,
};
