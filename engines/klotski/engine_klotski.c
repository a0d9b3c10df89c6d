/* Klotski (C. Bai et al., ICCAD 2023): one tile size for all layers, found by Bayesian optimisation over a
 * grid (Algorithm 1, Eq. 3), then an order of the uops that makes, then their accelerators. The answers for
 * smaller meshes are tried as well (smaller_mesh.h), each by the search that it has as a task of its own. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engines/klotski/baseline_offer.h"
#include "engines/klotski/klotski_engines.h"
#include "engines/klotski/klotski_fit.h"
#include "engines/klotski/klotski_metrics.h"
#include "engines/klotski/klotski_task.h"
#include "engines/klotski/order/core_mapping.h"
#include "engines/klotski/partition.h"
#include "engines/klotski/smaller_mesh.h"
#include "engines/search/bayes.h"

enum {
    OPTION_PARTITION,
    OPTION_PARTITION_FROM,
    OPTION_H,
    OPTION_W,
    OPTION_IC,
    OPTION_OC,
    OPTION_SEARCH,
    OPTION_EVALUATIONS,
    OPTION_SCORE,
    OPTION_KAPPA,
    OPTION_SMALLER,
    OPTION_BASELINES,
    OPTION_SCHEDULE,
    OPTION_SLOTS,
    OPTION_MAX_BINARIES,
    OPTION_ORDER,
    OPTION_RULES = OPTION_ORDER + KLOTSKI_N_ORDER,
    OPTION_NETWORK = OPTION_RULES + KLOTSKI_N_RULES,
    N_OPTION = OPTION_NETWORK + KLOTSKI_N_NETWORK
};

enum { PARTITION_FIXED, PARTITION_SHARED, PARTITION_TARGET };
enum { SEARCH_BO, SEARCH_ALL, SEARCH_RANDOM };
enum { SCORE_MAKESPAN, SCORE_ENTROPY, SCORE_ENTROPY_MEAN };

enum { FIRST_POINTS = 8, BATCH = 16 };

static const char *const partition_name[] = {"fixed", "shared", "target"};
static const char *const search_name[] = {"bo", "all", "random"};
static const char *const score_name[] = {"makespan", "entropy", "entropy-mean"};
static const char *const schedule_name[] = {"fifo", "list", "perturb", "ilp", "relaxed"};

#define TILE_OPTION(NAME, SENTENCE)                                                                          \
    {                                                                                                        \
        .name = (NAME), .sentence = (SENTENCE), .unit = "", .kind = OPTION_INTEGER, .standard = 0,           \
        .lowest = 0, .highest = NETWORK_DIM_MAX                                                              \
    }

static const struct engine_option option[N_OPTION] = {
    [OPTION_PARTITION] = {.name = "partition",
                          .sentence = "tile sizes: those of h, w, ic and oc; one for all layers that is "
                                      "searched; one latency that is, and in each layer the nearest tile",
                          .unit = "",
                          .kind = OPTION_CHOICE,
                          .standard = PARTITION_SHARED,
                          .highest = 2,
                          .choice = partition_name},
    [OPTION_PARTITION_FROM] = KLOTSKI_OPTION_PARTITION_FROM,
    [OPTION_H] = TILE_OPTION("h", "output rows of a tile with partition=fixed; 0: all"),
    [OPTION_W] = TILE_OPTION("w", "output columns of such a tile; 0: all"),
    [OPTION_IC] = TILE_OPTION("ic", "input channels of such a tile; 0: all"),
    [OPTION_OC] = TILE_OPTION("oc", "output channels of such a tile; 0: all"),
    [OPTION_SEARCH] =
        {.name = "search",
         .sentence = "how the tile size is searched: Bayesian optimisation, the whole grid, or at random",
         .unit = "",
         .kind = OPTION_CHOICE,
         .standard = SEARCH_BO,
         .highest = 2,
         .choice = search_name},
    [OPTION_EVALUATIONS] = {.name = "evaluations",
                            .sentence = "tile sizes that are tried, but with search=all",
                            .unit = "",
                            .kind = OPTION_INTEGER,
                            .standard = 50,
                            .lowest = 1,
                            .highest = 2000},
    [OPTION_SCORE] = {.name = "score",
                      .sentence =
                          "what makes a tile size good: a short schedule; latencies of large entropy for "
                          "the length of the schedule (Eq. 3), or for their mean",
                      .unit = "",
                      .kind = OPTION_CHOICE,
                      .standard = SCORE_MAKESPAN,
                      .highest = 2,
                      .choice = score_name},
    [OPTION_KAPPA] = {.name = "kappa",
                      .sentence = "of the upper confidence bound: how much what is unknown draws the search",
                      .unit = "",
                      .kind = OPTION_REAL,
                      .standard = 2,
                      .highest = 1e3},
    [OPTION_SMALLER] = {.name = "smaller",
                        .sentence = "whether the answers for all smaller meshes are tried as well, so that "
                                    "more accelerators never take more cycles",
                        .unit = "",
                        .kind = OPTION_BOOL,
                        .standard = 1,
                        .highest = 1},
    [OPTION_BASELINES] = {.name = "baselines",
                          .sentence = "whether the orders of atomic and tangram are tried as well, on the "
                                      "same partition, where messages take time",
                          .unit = "",
                          .kind = OPTION_BOOL,
                          .standard = 1,
                          .highest = 1},
    [OPTION_SCHEDULE] = {.name = "schedule",
                         .sentence = "the order of uops: layer after layer, by the longest path behind them, "
                                     "changed priorities besides, or before that programs in slots of time "
                                     "(Eq. 18, Eq. 19)",
                         .unit = "",
                         .kind = OPTION_CHOICE,
                         .standard = ORDER_PERTURB,
                         .highest = 4,
                         .choice = schedule_name},
    [OPTION_SLOTS] = {.name = "slots",
                      .sentence = "slots into which ilp and relaxed cut the time of a segment",
                      .unit = "",
                      .kind = OPTION_INTEGER,
                      .standard = 100,
                      .lowest = 1,
                      .highest = 10000},
    [OPTION_MAX_BINARIES] = {.name = "max_binaries",
                             .sentence = "binaries of a program of ilp or relaxed; larger ones are not tried",
                             .unit = "",
                             .kind = OPTION_INTEGER,
                             .standard = 1000,
                             .highest = 1e6},
    [OPTION_ORDER] =
        KLOTSKI_OPTIONS_ORDER("changed priorities that are tried with schedule=perturb, ilp and relaxed",
                              "schedule=ilp, schedule=relaxed and mapping=mip"),
    [OPTION_RULES] = KLOTSKI_OPTIONS_RULES,
    [OPTION_NETWORK] = KLOTSKI_OPTIONS_NETWORK,
};

/* The best order so far. */
struct kept {
    uint64_t cycle; /* UINT64_MAX: none */
    uint32_t candidate;
    struct order_found order;
    struct random_stream random; /* as it was then */
    struct arena arena;
};

struct state {
    struct klotski_task task;
    struct tile_rules rules;
    struct partition_grid grid;
    uint32_t n_core; /* that are searched for: the task's, then fewer */
    struct bayes *bayes;
    uint32_t *shuffled;  /* (grid.n) with search=random */
    struct uop_cut *cut; /* (n_layer) */
    uint32_t next, best; /* candidates */
    uint32_t n_max;      /* that are tried, but with search=all */
    double best_cost;    /* what is told to the search: less is better */
    bool has_best, done;
    bool limited; /* a program ended before it was solved */
    struct kept kept;
    struct partition_load *load; /* (grid.n) of one sample; NULL: not asked for yet */
    double start_s;              /* clock_wall_s */
    struct random_stream random;
    struct arena scratch, search; /* of a candidate; of the search for n_core */
};

static int value_of(const struct engine_context *context, size_t index)
{
    return (int)engine_context_option(context, index);
}

/* One candidate: another's partition, or the tile that options say. */
static enum dse_status fixed_grid(struct state *state, const struct engine_context *context,
                                  const struct uop_cut *given, struct arena *arena, struct dse_error *err)
{
    static const size_t size[] = {OPTION_H, OPTION_W, OPTION_IC, OPTION_OC};
    uint32_t value[4];
    for (int i = 0; i < 4; i++) {
        const int said = value_of(context, size[i]);
        value[i] = said ? (uint32_t)said : UINT32_MAX;
    }
    const uint32_t n_cut = given ? state->task.network.n_layer : 1;
    state->grid = (struct partition_grid){.n = 1, .n_cut = n_cut, .n_all = 1, .n_sram = 1};
    state->grid.cut = arena_alloc(arena, n_cut, sizeof *state->grid.cut);
    DSE_TRY(arena_check(arena, "a tile size", err));
    state->grid.cut[0] = (struct uop_cut){value[0], value[1], value[2], value[3]};
    for (uint32_t l = 0; given && l < n_cut; l++)
        state->grid.cut[l] = given[l];
    return DSE_OK;
}

static bool is_given(const struct engine_context *context)
{
    return engine_context_file(context, OPTION_PARTITION_FROM) != NULL ||
           value_of(context, OPTION_PARTITION) == PARTITION_FIXED;
}

/* The candidates by the rules as they are. */
static enum dse_status find_grid(struct state *state, const struct engine_context *context,
                                 struct arena *arena, struct dse_error *err)
{
    const struct tile_rules *rules = &state->rules;
    const struct uop_network *network = &state->task.network;
    struct tile_lists lists;
    if (value_of(context, OPTION_PARTITION) == PARTITION_SHARED)
        return partition_grid_of(network, &state->task.machine, rules, arena, &state->grid, err);
    DSE_TRY(tile_lists_of_grid(network, &state->task.machine, rules, &state->scratch, &lists, err));
    return partition_targets_of(&lists, rules, arena, &state->grid, err);
}

/* The candidates. */
static enum dse_status make_grid(struct state *state, struct engine_context *context, struct arena *arena,
                                 struct dse_error *err)
{
    const struct uop_cut *given;
    DSE_TRY(klotski_partition_from(context, OPTION_PARTITION_FROM, &state->task, &given, err));
    if (is_given(context))
        return fixed_grid(state, context, given, arena, err);
    do
        DSE_TRY(find_grid(state, context, arena, err));
    while (state->grid.n == 0 && klotski_more_uops(&state->rules));
    if (state->grid.n == 0)
        DSE_TRY(klotski_fewest_cut(&state->task, &state->rules, arena, &given, err));
    return given ? fixed_grid(state, context, given, arena, err) : DSE_OK;
}

/* Begins the search for so many cores, as a task with that mesh would. */
static enum dse_status begin(struct state *state, const struct engine_context *context, uint32_t n_core,
                             struct dse_error *err)
{
    state->n_max = klotski_fewer(&state->rules, value_of(context, OPTION_EVALUATIONS), FIRST_POINTS);
    const struct bayes_options options = {.n_first = FIRST_POINTS,
                                          .n_max = state->n_max,
                                          .acquisition = ACQUISITION_BOUND,
                                          .kappa = engine_context_option(context, OPTION_KAPPA)};
    arena_reset(&state->search);
    state->n_core = n_core;
    state->random = engine_context_stream(context, RANDOM_MOVE);
    state->next = 0;
    state->has_best = false;
    state->bayes = NULL;
    state->shuffled = NULL;
    if (!state->grid.n || !state->grid.at)
        return DSE_OK;
    if (value_of(context, OPTION_SEARCH) == SEARCH_BO)
        return bayes_new(state->grid.at, state->grid.n, state->grid.dim, &options,
                         engine_context_stream(context, RANDOM_INIT), &state->search, &state->bayes, err);
    state->shuffled = arena_alloc(&state->search, state->grid.n, sizeof *state->shuffled);
    DSE_TRY(arena_check(&state->search, "a grid of tile sizes", err));
    for (uint32_t i = 0; i < state->grid.n; i++) {
        const uint32_t k = random_below(&state->random, i + 1);
        state->shuffled[i] = state->shuffled[k];
        state->shuffled[k] = i;
    }
    return DSE_OK;
}

static enum dse_status init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct arena *arena = engine_context_arena(context);
    arena_init(&state->scratch);
    arena_init(&state->search);
    arena_init(&state->kept.arena);
    state->kept.cycle = UINT64_MAX;
    state->start_s = clock_wall_s();
    DSE_TRY(klotski_search_of(context, OPTION_RULES, true, is_given(context), arena, &state->task,
                              &state->rules, err));
    state->cut = arena_alloc(arena, state->task.network.n_layer, sizeof *state->cut);
    DSE_TRY(arena_check(arena, "a partition", err));
    DSE_TRY(make_grid(state, context, arena, err));
    return begin(state, context, state->task.n_core, err);
}

static enum dse_status make_graph(struct state *state, const struct kc_machine *machine, uint32_t candidate,
                                  uint32_t batch, struct uop_graph *graph, struct dse_error *err)
{
    const uint32_t n_cut = state->grid.n_cut;
    const struct uop_cut *cut = &state->grid.cut[(size_t)candidate * n_cut];
    for (uint32_t l = 0; l < state->task.network.n_layer; l++)
        state->cut[l] = uop_cut_clip(&state->task.network.layer[l].whole, cut[n_cut == 1 ? 0 : l]);
    return uop_graph_of(&state->task.network, machine, state->cut, state->rules.sums, batch, &state->scratch,
                        graph, err);
}

/* Eq. 3 and its variants as costs; alpha is 1, as it changes no order. */
static double cost_of(int score, const struct uop_graph *graph, uint64_t makespan)
{
    double sum = 0;
    for (uint32_t u = 0; u < graph->n_uop; u++)
        sum += (double)graph->uop[u].cycle;
    if (score == SCORE_MAKESPAN)
        return log((double)makespan);
    return -partition_entropy(graph) / (score == SCORE_ENTROPY ? (double)makespan : sum / graph->n_uop);
}

/* Schedules take less (uop_plan_evaluate). */
#define UNPLANNED_CYCLE ((uint64_t)1 << 60)

/* With a DRAM, what the list schedule takes that takes `*cycle` without. */
static enum dse_status bring_weights(struct state *state, const struct engine_context *context,
                                     const struct uop_graph *graph, const uint64_t *start,
                                     const uint32_t *core, uint64_t *cycle, struct dse_error *err)
{
    struct arena *scratch = &state->scratch;
    struct uop_plan plan = klotski_plan(context, OPTION_NETWORK, &state->rules, state->cut);
    if (plan.memory == UOP_FREE)
        return DSE_OK;
    const uint32_t n_core = state->task.n_core; /* the lists of those that are not searched for stay empty */
    const struct uop_setting setting = {UOP_IDEAL, plan.memory, plan.sram, NULL};
    struct uop_times times = {.start = arena_alloc_unset(scratch, graph->n_uop, sizeof *times.start),
                              .finish = arena_alloc_unset(scratch, graph->n_uop, sizeof *times.finish)};
    struct uop_link *link = arena_alloc_unset(scratch, (size_t)n_core * UOP_SIDES, sizeof *link);
    DSE_TRY(arena_check(scratch, "the times of a schedule", err));
    DSE_TRY(klotski_lists(start, core, graph->n_uop, n_core, scratch, &plan.schedule, err));
    const enum dse_status status =
        uop_run(graph, &state->task.rough, &plan.schedule, &setting, scratch, &times, link, err);
    if (status == DSE_LIMIT) { /* worse than any that can be planned */
        *cycle = UNPLANNED_CYCLE;
        return DSE_OK;
    }
    DSE_TRY(status);
    *cycle = state->task.fold ? block_fold_cycle(state->task.fold, graph, n_core, times.finish) : times.cycle;
    return DSE_OK;
}

/* The cost of a candidate by one list schedule. */
static enum dse_status try_candidate(struct state *state, struct engine_context *context, uint32_t candidate,
                                     double *cost, struct dse_error *err)
{
    struct uop_graph graph;
    arena_reset(&state->scratch);
    DSE_TRY(make_graph(state, &state->task.rough, candidate, state->rules.batch, &graph, err));
    uint64_t *priority = arena_alloc(&state->scratch, graph.n_uop, sizeof *priority);
    uint64_t *start = arena_alloc_unset(&state->scratch, graph.n_uop, sizeof *start);
    uint32_t *core = arena_alloc_unset(&state->scratch, graph.n_uop, sizeof *core);
    struct list_scheduler *list = list_scheduler_new(&graph, state->n_core, &state->scratch);
    DSE_TRY(arena_check(&state->scratch, "a list schedule", err));
    if (value_of(context, OPTION_SCHEDULE) == ORDER_FIFO)
        list_fifo(0, graph.n_uop, priority);
    else
        list_b_level(&graph, 0, graph.n_uop, priority);
    uint64_t cycle = list_schedule(list, 0, graph.n_uop, priority, UINT64_MAX, start, core);
    if (state->task.fold)
        cycle = block_fold_cycle_of_starts(state->task.fold, &graph, state->n_core, start);
    DSE_TRY(bring_weights(state, context, &graph, start, core, &cycle, err));
    *cost = cost_of(value_of(context, OPTION_SCORE), &graph, cycle);
    engine_context_count(context, 1);
    if (!state->has_best || *cost < state->best_cost) {
        state->best = candidate;
        state->best_cost = *cost;
        state->has_best = true;
    }
    return DSE_OK;
}

/* The next candidate; grid.n: there is none. */
static enum dse_status next_candidate(struct state *state, const struct engine_context *context,
                                      uint32_t *candidate, struct dse_error *err)
{
    const uint32_t n = state->grid.n;
    *candidate = n;
    if (state->bayes) {
        DSE_TRY(bayes_next(state->bayes, candidate, err));
        *candidate = *candidate == BAYES_END ? n : *candidate;
        return DSE_OK;
    }
    const bool is_random = state->shuffled && value_of(context, OPTION_SEARCH) == SEARCH_RANDOM;
    if (state->next < n && !(is_random && state->next >= state->n_max))
        *candidate = is_random ? state->shuffled[state->next] : state->next;
    state->next++;
    return DSE_OK;
}

static struct klotski_ordering ordering_of(const struct engine_context *context, const struct state *state,
                                           struct random_stream *random)
{
    return (struct klotski_ordering){.rule = (enum order_rule)value_of(context, OPTION_SCHEDULE),
                                     .options = OPTION_ORDER,
                                     .rules = &state->rules,
                                     .n_slot = (uint32_t)value_of(context, OPTION_SLOTS),
                                     .max_binaries = (uint32_t)value_of(context, OPTION_MAX_BINARIES),
                                     .start_s = state->start_s,
                                     .random = random};
}

/* Keeps the order found, with what is left of the random numbers. */
static enum dse_status keep(struct state *state, const struct order_found *found, uint32_t n_uop,
                            struct dse_error *err)
{
    struct kept *kept = &state->kept;
    arena_reset(&kept->arena);
    kept->order = *found;
    kept->order.start = arena_alloc_unset(&kept->arena, n_uop, sizeof *kept->order.start);
    kept->order.core = arena_alloc_unset(&kept->arena, n_uop, sizeof *kept->order.core);
    DSE_TRY(arena_check(&kept->arena, "an order of uops", err));
    memcpy(kept->order.start, found->start, n_uop * sizeof *found->start);
    memcpy(kept->order.core, found->core, n_uop * sizeof *found->core);
    kept->candidate = state->best;
    kept->cycle = found->cycle;
    kept->random = state->random;
    return DSE_OK;
}

/* Orders the uops of the best candidate on the cores that were searched for, unless they cannot be faster
 * than what there is. */
static enum dse_status settle(struct state *state, struct engine_context *context, struct dse_error *err)
{
    struct uop_graph graph;
    struct order_found found;
    if (!state->has_best)
        return DSE_OK;
    state->has_best = false;
    arena_reset(&state->scratch);
    DSE_TRY(make_graph(state, &state->task.machine, state->best, state->rules.batch, &graph, err));
    if (state->kept.cycle < UINT64_MAX) {
        const uint64_t bound = uop_bound(&graph, state->n_core, &state->scratch);
        DSE_TRY(arena_check(&state->scratch, "the bound of a schedule", err));
        if (bound >= state->kept.cycle)
            return DSE_OK;
    }
    const struct klotski_ordering ordering = ordering_of(context, state, &state->random);
    DSE_TRY(klotski_order(context, &ordering, state->n_core, &graph, &state->scratch, &found, err));
    return found.cycle < state->kept.cycle ? keep(state, &found, graph.n_uop, err) : DSE_OK;
}

/* What all candidates take at least. */
static enum dse_status list_loads(struct state *state, struct engine_context *context, struct dse_error *err)
{
    struct arena *arena = engine_context_arena(context);
    struct partition_load *load = arena_alloc(arena, state->grid.n, sizeof *load);
    DSE_TRY(arena_check(arena, "the work of partitions", err));
    for (uint32_t i = 0; i < state->grid.n; i++) {
        struct uop_graph graph;
        arena_reset(&state->scratch);
        DSE_TRY(make_graph(state, &state->task.rough, i, 1, &graph, err));
        uint64_t *path = arena_alloc(&state->scratch, graph.n_uop, sizeof *path);
        DSE_TRY(arena_check(&state->scratch, "the work of partitions", err));
        load[i] = partition_load_of(&graph, path);
    }
    state->load = load;
    return DSE_OK;
}

/* Begins with the next smaller mesh. The fewer cores the higher the bounds, so the first mesh that cannot be
 * faster is the last. */
static enum dse_status go_on(struct state *state, struct engine_context *context, bool *is_over,
                             struct dse_error *err)
{
    const struct core_mesh mesh = {state->task.machine.columns, state->task.machine.rows};
    struct kc_machine machine = state->task.machine;
    *is_over = true;
    machine.columns =
        value_of(context, OPTION_SMALLER) && !state->task.fold ? smaller_mesh(&mesh, state->n_core) : 0;
    machine.rows = 1;
    if (!machine.columns || state->kept.cycle == UINT64_MAX ||
        uop_partition_bound(&state->task.network, &machine, state->task.batch) >= state->kept.cycle)
        return DSE_OK;
    if (!state->load)
        DSE_TRY(list_loads(state, context, err));
    *is_over = partition_loads_bound(state->load, state->grid.n, state->task.batch, machine.columns) >=
               state->kept.cycle;
    return *is_over ? DSE_OK : begin(state, context, machine.columns, err);
}

/* The search knows nothing of the network, so what knows no more of it may be faster there; nor whether
 * memories can be planned for its best. */
static enum dse_status offer_others(struct state *state, struct engine_context *context,
                                    const struct uop_graph *graph, struct uop_plan *plan,
                                    struct dse_error *err)
{
    const struct klotski_task *task = &state->task;
    if ((plan->transport != UOP_IDEAL || plan->memory != UOP_FREE) && value_of(context, OPTION_BASELINES)) {
        DSE_TRY(baseline_offer_atomic(context, task, graph, plan, &state->scratch, err));
        DSE_TRY(baseline_offer_tangram(context, task, graph, plan, &state->scratch, err));
    }
    if (is_given(context))
        return DSE_OK;
    arena_reset(&state->scratch);
    return klotski_offer_fewest(context, task, &state->rules, plan, &state->scratch, err);
}

/* The cores of the best order. */
static enum dse_status finish(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct uop_graph graph;
    if (state->done)
        return DSE_OK;
    if (state->kept.cycle == UINT64_MAX)
        DSE_TRY(settle(state, context, err));
    if (state->kept.cycle == UINT64_MAX)
        return DSE_OK;
    state->done = true;
    arena_reset(&state->scratch);
    DSE_TRY(make_graph(state, &state->task.machine, state->kept.candidate, state->rules.batch, &graph, err));
    struct klotski_ordering ordering = ordering_of(context, state, &state->kept.random);
    ordering.limited = &state->limited;
    struct uop_plan plan = klotski_plan(context, OPTION_NETWORK, &state->rules, state->cut);
    DSE_TRY(klotski_deal_and_offer(context, &state->task, &ordering, &graph, &state->kept.order, &plan,
                                   &state->scratch, err));
    return offer_others(state, context, &graph, &plan, err);
}

/* What the clock has cut short is not the same on another machine. */
static enum engine_stop how_it_ended(const struct engine_context *context, const struct state *state)
{
    const double max_seconds = engine_context_task(context)->budget.max_seconds;
    if (max_seconds > 0 && clock_wall_s() - state->start_s >= max_seconds)
        return STOP_MAX_SECONDS;
    return state->limited ? STOP_SOLVER_LIMIT : STOP_CONVERGED;
}

static enum dse_status step(void *memory, struct engine_context *context, enum engine_stop *stop,
                            struct dse_error *err)
{
    struct state *state = memory;
    if (state->grid.n == 0) {
        engine_context_explain(context, "no tile of some layer fits the accelerators' memory");
        *stop = STOP_CONVERGED;
        return DSE_OK;
    }
    for (int i = 0; i < BATCH; i++) {
        uint32_t candidate;
        double cost;
        if (engine_context_left(context) == 0)
            return DSE_OK; /* the driver says which limit it was */
        DSE_TRY(next_candidate(state, context, &candidate, err));
        if (candidate == state->grid.n) {
            bool is_over;
            DSE_TRY(settle(state, context, err));
            DSE_TRY(go_on(state, context, &is_over, err));
            if (!is_over)
                return DSE_OK;
            DSE_TRY(finish(state, context, err));
            *stop = how_it_ended(context, state);
            return DSE_OK;
        }
        DSE_TRY(try_candidate(state, context, candidate, &cost, err));
        if (state->bayes)
            DSE_TRY(bayes_tell(state->bayes, candidate, cost, err));
    }
    return DSE_OK;
}

static void release(void *memory)
{
    struct state *state = memory;
    klotski_task_free(&state->task);
    arena_free(&state->scratch);
    arena_free(&state->search);
    arena_free(&state->kept.arena);
}

const struct engine engine_klotski = {
    .name = "klotski",
    .summary = "Klotski: a network as uops of one tile size, found by Bayesian optimisation, on a mesh of "
               "accelerators",
    .kind = ENGINE_SCHEDULER,
    .accounting = klotski_accountings,
    .takes_only = KLOTSKI_TAKES_ONLY,
    .takes_task = klotski_takes_task,
    .group = &klotski_group,
    .remark = klotski_remark,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 0.2, .evaluations = 1, .evaluation_s = 5e-4, .option = {"evaluations"}},
    .state_byte = sizeof(struct state),
    .init = init,
    .read_file = klotski_read_file,
    .step = step,
    .finish = finish,
    .verify = klotski_verify,
    .free = release,
};
