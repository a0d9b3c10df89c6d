/* Klotski with a tile size for each layer: from the best size for all layers or the best target latency by
 * annealing over the cuts of layers (cut_search.h); then the order of klotski. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "engines/klotski/cut_search.h"
#include "engines/klotski/klotski_engines.h"
#include "engines/klotski/klotski_metrics.h"
#include "engines/klotski/partition.h"

enum {
    OPTION_PARTITION,
    OPTION_PARTITION_FROM,
    OPTION_EVALUATIONS,
    OPTION_ORDER,
    OPTION_RULES = OPTION_ORDER + KLOTSKI_N_ORDER,
    OPTION_NETWORK = OPTION_RULES + KLOTSKI_N_RULES,
    N_OPTION = OPTION_NETWORK + KLOTSKI_N_NETWORK
};

enum { PARTITION_GROUP, PARTITION_LAYER };
static const char *const partition_name[] = {"group", "layer"};

static const struct engine_option option[N_OPTION] = {
    [OPTION_PARTITION] = {.name = "partition",
                          .sentence = "tile sizes: one for all layers whose maps have one size, or one for "
                                      "each layer",
                          .unit = "",
                          .kind = OPTION_CHOICE,
                          .standard = PARTITION_LAYER,
                          .highest = 1,
                          .choice = partition_name},
    [OPTION_PARTITION_FROM] = KLOTSKI_OPTION_PARTITION_FROM,
    [OPTION_EVALUATIONS] = {.name = "evaluations",
                            .sentence =
                                "partitions that the annealing tries, after those that it starts from",
                            .unit = "",
                            .kind = OPTION_INTEGER,
                            .standard = 10000,
                            .highest = 1e9},
    [OPTION_ORDER] = KLOTSKI_OPTIONS_ORDER("changed priorities that are tried for the order", "mapping=mip"),
    [OPTION_RULES] = KLOTSKI_OPTIONS_RULES,
    [OPTION_NETWORK] = KLOTSKI_OPTIONS_NETWORK,
};

/* Partitions that are priced between two looks at the clock. */
enum { BATCH = 32 };

/* Where the search may start: one size for all layers, a latency and the grid's tiles, a latency and tiles by
 * numbers of parts; or another's partition alone. */
enum { FROM_SHARED, FROM_TARGET, FROM_PARTS, N_FROM };

struct state {
    struct klotski_task task;
    struct tile_rules rules;
    struct tile_lists lists; /* by numbers of parts */
    struct partition_grid grid[N_FROM];
    uint32_t from, next;           /* the start that is tried next */
    struct uop_cut *cut;           /* (n_layer) of a try */
    struct uop_cut *best, *shared; /* (n_layer) of the fewest cycles; that of FROM_SHARED, or as best */
    uint64_t best_cycle;
    bool has_best;
    struct cut_search *search;
    double start_s; /* clock_wall_s */
    struct random_stream random;
    struct arena scratch;
};

static enum dse_status make_starts(struct state *state, struct engine_context *context, struct dse_error *err)
{
    const struct uop_network *network = &state->task.network;
    const struct kc_machine *machine = &state->task.machine;
    struct arena *arena = engine_context_arena(context);
    const struct uop_cut *given;
    struct tile_lists of_grid;
    DSE_TRY(tile_lists_of_parts(network, machine, &state->rules, arena, &state->lists, err));
    DSE_TRY(klotski_partition_from(context, OPTION_PARTITION_FROM, &state->task, &given, err));
    if (given) {
        state->grid[FROM_SHARED] = (struct partition_grid){.n = 1, .n_cut = network->n_layer};
        state->grid[FROM_SHARED].cut = arena_alloc(arena, network->n_layer, sizeof *given);
        DSE_TRY(arena_check(arena, "a partition", err));
        memcpy(state->grid[FROM_SHARED].cut, given, network->n_layer * sizeof *given);
        return DSE_OK;
    }
    DSE_TRY(partition_grid_of(network, machine, &state->rules, arena, &state->grid[FROM_SHARED], err));
    if (engine_context_option(context, OPTION_PARTITION) == PARTITION_GROUP)
        return DSE_OK;
    DSE_TRY(tile_lists_of_grid(network, machine, &state->rules, &state->scratch, &of_grid, err));
    DSE_TRY(partition_targets_of(&of_grid, &state->rules, arena, &state->grid[FROM_TARGET], err));
    return partition_targets_of(&state->lists, &state->rules, arena, &state->grid[FROM_PARTS], err);
}

static enum dse_status init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct arena *arena = engine_context_arena(context);
    arena_init(&state->scratch);
    state->start_s = clock_wall_s();
    state->random = engine_context_stream(context, RANDOM_INIT);
    DSE_TRY(klotski_task_of(engine_context_task(context), arena, &state->task, err));
    state->rules = klotski_rules(context, OPTION_RULES, &state->task);
    const size_t n_layer = state->task.network.n_layer;
    state->cut = arena_alloc(arena, n_layer, sizeof *state->cut);
    state->best = arena_alloc(arena, n_layer, sizeof *state->best);
    state->shared = arena_alloc(arena, n_layer, sizeof *state->shared);
    DSE_TRY(arena_check(arena, "a partition", err));
    klotski_tell_bound(context, &state->task,
                       (enum uop_memory)engine_context_option(context, OPTION_NETWORK + KLOTSKI_MEMORY));
    return make_starts(state, context, err);
}

/* Prices the next start and remembers the best one. */
static enum dse_status try_start(struct state *state, struct engine_context *context, struct dse_error *err)
{
    const struct partition_grid *grid = &state->grid[state->from];
    const uint32_t n_layer = state->task.network.n_layer;
    uint64_t cycle;
    for (uint32_t l = 0; l < n_layer; l++) {
        const size_t at = (size_t)state->next * grid->n_cut + (grid->n_cut == 1 ? 0 : l);
        state->cut[l] = uop_cut_clip(&state->task.network.layer[l].whole, grid->cut[at]);
    }
    state->next++;
    const uint64_t limit = state->has_best ? state->best_cycle : UINT64_MAX;
    DSE_TRY(cut_price(&state->task, &state->rules, state->cut, limit, &state->scratch, &cycle, err));
    engine_context_count(context, 1);
    if (cycle == UINT64_MAX)
        return DSE_OK;
    state->has_best = true;
    state->best_cycle = cycle;
    memcpy(state->best, state->cut, n_layer * sizeof *state->cut);
    if (state->from == FROM_SHARED)
        memcpy(state->shared, state->cut, n_layer * sizeof *state->cut);
    return DSE_OK;
}

/* Orders the uops of a partition and offers that. */
static enum dse_status order_and_offer(struct state *state, struct engine_context *context,
                                       const struct uop_cut *cut, struct dse_error *err)
{
    struct uop_plan plan = klotski_plan(context, OPTION_NETWORK, &state->rules, cut);
    const struct klotski_ordering ordering = {
        .rule = ORDER_PERTURB,
        .options = OPTION_ORDER,
        .start_s = state->start_s,
        .random = &state->random,
    };
    struct uop_graph graph;
    arena_reset(&state->scratch);
    DSE_TRY(uop_graph_of(&state->task.network, &state->task.machine, cut, plan.sums, plan.batch,
                         &state->scratch, &graph, err));
    return klotski_order_and_offer(context, &state->task, &ordering, &graph, &plan, &state->scratch, err);
}

/* The best partition, and the best of one size, so that klotski is never ahead. */
static enum dse_status finish(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    uint64_t cycle;
    if (!state->has_best)
        return DSE_OK;
    state->has_best = false;
    const struct uop_cut *best = state->search ? cut_search_best(state->search, &cycle) : state->best;
    DSE_TRY(order_and_offer(state, context, best, err));
    return state->grid[FROM_SHARED].n ? order_and_offer(state, context, state->shared, err) : DSE_OK;
}

static enum dse_status step(void *memory, struct engine_context *context, enum engine_stop *stop,
                            struct dse_error *err)
{
    struct state *state = memory;
    bool is_over = false;
    for (int i = 0; i < BATCH && state->from < N_FROM; i++) {
        if (engine_context_left(context) == 0)
            return DSE_OK;
        if (state->next < state->grid[state->from].n)
            DSE_TRY(try_start(state, context, err));
        else
            state->next = 0, state->from++;
    }
    if (state->from < N_FROM)
        return DSE_OK;
    if (!state->has_best) {
        engine_context_explain(context,
                               "no partition fits the accelerators' memory and makes at most max_uops "
                               "uops; try sram=output, or a larger max_uops");
        *stop = STOP_CONVERGED;
        return DSE_OK;
    }
    if (!state->search)
        DSE_TRY(cut_search_new(&state->task, &state->rules, &state->lists, state->best, state->best_cycle,
                               engine_context_option(context, OPTION_PARTITION) == PARTITION_GROUP,
                               (uint64_t)engine_context_option(context, OPTION_EVALUATIONS),
                               engine_context_stream(context, RANDOM_MOVE), engine_context_arena(context),
                               &state->scratch, &state->search, err));
    const uint64_t left = engine_context_left(context), n = left < BATCH ? left : BATCH;
    DSE_TRY(cut_search_step(state->search, n, &is_over, err));
    engine_context_count(context, n);
    if (is_over)
        *stop = STOP_CONVERGED;
    return is_over ? finish(state, context, err) : DSE_OK;
}

static void release(void *memory)
{
    struct state *state = memory;
    arena_free(&state->scratch);
}

const struct engine engine_klotski_plus = {
    .name = "klotski-plus",
    .summary = "Klotski with a tile size for each layer, found by annealing",
    .kind = ENGINE_SCHEDULER,
    .accounting = klotski_accountings,
    .group = &klotski_group,
    .remark = klotski_remark,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 0.5, .evaluations = 1, .evaluation_s = 6e-4, .option = {"evaluations"}},
    .read_file = klotski_read_file,
    .state_byte = sizeof(struct state),
    .init = init,
    .step = step,
    .finish = finish,
    .verify = klotski_verify,
    .free = release,
};
