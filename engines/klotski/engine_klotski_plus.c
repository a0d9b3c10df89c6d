/* Klotski with a tile size for each layer: from the best size for all layers, target latency or bands of maps
 * by annealing over the cuts of layers (cut_search.h); then the order of klotski. Where messages take time
 * that is done again by a guess of the network, for uops in blocks (placing.h). What klotski, atomic and
 * tangram find is offered besides. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "engines/klotski/cut_search.h"
#include "engines/klotski/klotski_engines.h"
#include "engines/klotski/klotski_fit.h"
#include "engines/klotski/klotski_metrics.h"
#include "engines/klotski/klotski_others.h"
#include "engines/klotski/partition.h"
#include "engines/klotski/placing.h"

enum {
    OPTION_PARTITION,
    OPTION_EVALUATIONS,
    OPTION_PARTITION_FROM, /* from here on what holds for the other engines, too */
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
    [OPTION_EVALUATIONS] = {.name = "evaluations",
                            .sentence =
                                "partitions that the annealing tries, after those that it starts from",
                            .unit = "",
                            .kind = OPTION_INTEGER,
                            .standard = 10000,
                            .highest = 1e9},
    [OPTION_PARTITION_FROM] = KLOTSKI_OPTION_PARTITION_FROM,
    [OPTION_ORDER] = KLOTSKI_OPTIONS_ORDER("changed priorities that are tried for the order", "mapping=mip"),
    [OPTION_RULES] = KLOTSKI_OPTIONS_RULES,
    [OPTION_NETWORK] = KLOTSKI_OPTIONS_NETWORK,
};

/* Partitions that are priced between two looks at the clock. */
enum { BATCH = 32 };

/* Where a search may start: one size for all layers, a latency and the grid's tiles, a latency and tiles by
 * numbers of parts, bands of maps; or another's partition alone. */
enum { FROM_SHARED, FROM_TARGET, FROM_PARTS, FROM_BANDS, N_FROM };

/* A search of partitions: of uops in lists, which is all there is where messages take no time and weights are
 * there; and in blocks. */
struct track {
    struct cut_pricer pricer;
    uint32_t from, next;  /* the start that is tried next */
    struct uop_cut *best; /* (n_layer) of the fewest cycles */
    uint64_t best_cycle;
    bool has_best;
    struct cut_search *search;
};

enum { IN_LISTS, IN_BLOCKS, N_TRACK };

/* Of the evaluations, as many as the first track gets where there is a second, which gets all. */
static const double share_of_lists = 0.4;

struct state {
    struct klotski_task task;
    struct tile_rules rules;
    struct tile_lists lists; /* by numbers of parts */
    struct partition_grid grid[N_FROM];
    struct uop_cut *cut; /* (n_layer) of a try */
    struct track track[N_TRACK];
    uint32_t n_track, now; /* the track that is followed */
    bool has_others, is_done;
    double start_s; /* clock_wall_s */
    struct random_stream random;
    struct arena scratch;
};

/* One partition alone. */
static enum dse_status start_at(struct state *state, const struct uop_cut *cut, struct arena *arena,
                                struct dse_error *err)
{
    const uint32_t n_layer = state->task.network.n_layer;
    state->grid[FROM_SHARED] = (struct partition_grid){.n = 1, .n_cut = n_layer};
    state->grid[FROM_SHARED].cut = arena_alloc(arena, n_layer, sizeof *cut);
    DSE_TRY(arena_check(arena, "a partition", err));
    memcpy(state->grid[FROM_SHARED].cut, cut, n_layer * sizeof *cut);
    return DSE_OK;
}

static enum dse_status make_starts(struct state *state, struct engine_context *context, struct dse_error *err)
{
    const struct uop_network *network = &state->task.network;
    const struct kc_machine *machine = &state->task.machine;
    struct arena *arena = engine_context_arena(context);
    const struct uop_cut *given;
    struct tile_lists of_grid;
    DSE_TRY(tile_lists_of_parts(network, machine, &state->rules, arena, &state->lists, err));
    DSE_TRY(klotski_partition_from(context, OPTION_PARTITION_FROM, &state->task, &given, err));
    if (given)
        return start_at(state, given, arena, err);
    DSE_TRY(partition_grid_of(network, machine, &state->rules, arena, &state->grid[FROM_SHARED], err));
    if (engine_context_option(context, OPTION_PARTITION) == PARTITION_GROUP)
        return DSE_OK;
    DSE_TRY(tile_lists_of_grid(network, machine, &state->rules, &state->scratch, &of_grid, err));
    DSE_TRY(partition_targets_of(&of_grid, &state->rules, arena, &state->grid[FROM_TARGET], err));
    DSE_TRY(partition_targets_of(&state->lists, &state->rules, arena, &state->grid[FROM_PARTS], err));
    return partition_bands_of(network, machine, &state->rules, arena, &state->grid[FROM_BANDS], err);
}

static bool has_start(const struct state *state)
{
    uint32_t n = 0;
    for (int i = 0; i < N_FROM; i++)
        n += state->grid[i].n;
    return n > 0;
}

static enum dse_status init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct arena *arena = engine_context_arena(context);
    arena_init(&state->scratch);
    state->start_s = clock_wall_s();
    state->random = engine_context_stream(context, RANDOM_INIT);
    DSE_TRY(klotski_search_of(context, OPTION_RULES, true,
                              engine_context_file(context, OPTION_PARTITION_FROM) != NULL, arena,
                              &state->task, &state->rules, err));
    const struct uop_plan plan = klotski_plan(context, OPTION_NETWORK, &state->rules, NULL);
    const size_t n_layer = state->task.network.n_layer;
    state->n_track = plan.transport == UOP_IDEAL && plan.memory == UOP_FREE ? 1 : N_TRACK;
    state->cut = arena_alloc(arena, n_layer, sizeof *state->cut);
    for (uint32_t i = 0; i < state->n_track; i++) {
        struct track *track = &state->track[i];
        track->pricer =
            (struct cut_pricer){&state->task, &state->rules, plan, i == IN_BLOCKS, &state->scratch};
        track->best = arena_alloc(arena, n_layer, sizeof *track->best);
    }
    DSE_TRY(arena_check(arena, "a partition", err));
    klotski_tell_bound(context, &state->task, plan.memory);
    do
        DSE_TRY(make_starts(state, context, err));
    while (!has_start(state) && klotski_more_uops(&state->rules));
    if (has_start(state))
        return DSE_OK;
    const struct uop_cut *fewest;
    DSE_TRY(klotski_fewest_cut(&state->task, &state->rules, arena, &fewest, err));
    return fewest ? start_at(state, fewest, arena, err) : DSE_OK;
}

/* One of so many starts of a grid is tried: all where 1,500 uops do, else fewer, as they take longer. */
static uint32_t stride_of(const struct state *state, const struct partition_grid *grid)
{
    enum { MOST = 768, LEAST = 8 };
    if (!state->rules.grows || state->rules.max_uops <= KLOTSKI_MAX_UOPS_STANDARD * state->rules.batch)
        return 1;
    const uint32_t n = (uint32_t)((uint64_t)MOST * KLOTSKI_MAX_UOPS_STANDARD / state->rules.max_uops);
    return grid->n / (n > LEAST ? n : LEAST) + 1;
}

/* Prices the next start of a track and remembers the best one. */
static enum dse_status try_start(struct state *state, struct track *track, struct engine_context *context,
                                 struct dse_error *err)
{
    const struct partition_grid *grid = &state->grid[track->from];
    const uint32_t n_layer = state->task.network.n_layer;
    uint64_t cycle;
    for (uint32_t l = 0; l < n_layer; l++) {
        const size_t at = (size_t)track->next * grid->n_cut + (grid->n_cut == 1 ? 0 : l);
        state->cut[l] = uop_cut_clip(&state->task.network.layer[l].whole, grid->cut[at]);
    }
    track->next += stride_of(state, grid);
    const uint64_t limit = track->has_best ? track->best_cycle : UINT64_MAX;
    DSE_TRY(cut_price(&track->pricer, state->cut, limit, &cycle, err));
    engine_context_count(context, 1);
    if (cycle == UINT64_MAX)
        return DSE_OK;
    track->has_best = true;
    track->best_cycle = cycle;
    memcpy(track->best, state->cut, n_layer * sizeof *state->cut);
    return DSE_OK;
}

/* Orders the uops as klotski does, and offers that. */
static enum dse_status offer_ordered(struct state *state, struct engine_context *context,
                                     const struct uop_graph *graph, struct uop_plan *plan,
                                     struct dse_error *err)
{
    const struct klotski_ordering ordering = {
        .rule = ORDER_PERTURB,
        .options = OPTION_ORDER,
        .rules = &state->rules,
        .start_s = state->start_s,
        .random = &state->random,
    };
    return klotski_order_and_offer(context, &state->task, &ordering, graph, plan, &state->scratch, err);
}

/* Places the uops as they were priced, and offers that. */
static enum dse_status offer_placed(struct state *state, struct engine_context *context, bool in_blocks,
                                    const struct uop_graph *graph, struct uop_plan *plan,
                                    struct dse_error *err)
{
    struct placing placing;
    uint64_t cycle;
    DSE_TRY(placing_new(&state->task, graph, &state->scratch, &placing, err));
    if (in_blocks) {
        placing_blocks(&placing);
    } else {
        DSE_TRY(placing_list(&placing, UINT64_MAX, &state->scratch, &cycle, err));
        placing_by_starts(&placing);
    }
    placing_lists(&placing, &plan->schedule);
    return klotski_offer(context, &state->task, graph, plan, &state->scratch, err);
}

static enum dse_status offer_cut(struct state *state, struct engine_context *context, bool in_blocks,
                                 const struct uop_cut *cut, struct dse_error *err)
{
    struct uop_graph graph;
    struct uop_plan plan = klotski_plan(context, OPTION_NETWORK, &state->rules, cut);
    arena_reset(&state->scratch);
    DSE_TRY(uop_graph_of(&state->task.network, &state->task.machine, cut, plan.sums, plan.batch,
                         &state->scratch, &graph, err));
    if (state->n_track > 1)
        DSE_TRY(offer_placed(state, context, in_blocks, &graph, &plan, err));
    return in_blocks ? DSE_OK : offer_ordered(state, context, &graph, &plan, err);
}

/* The best partition of each track; of uops in blocks the last ones that were best, as prices are guesses. */
static enum dse_status finish(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    if (state->is_done)
        return DSE_OK;
    state->is_done = true;
    for (uint32_t i = 0; i < state->n_track; i++) {
        const struct track *track = &state->track[i];
        const uint32_t n = i == IN_LISTS ? 1 : klotski_fewer(&state->rules, CUT_SEARCH_BESTS, 1);
        const struct uop_cut *cut = track->best;
        uint64_t cycle;
        for (uint32_t k = 0; track->has_best && cut && k < n; k++) {
            cut = track->search ? cut_search_best(track->search, k, &cycle) : k == 0 ? track->best : NULL;
            if (cut)
                DSE_TRY(offer_cut(state, context, i == IN_BLOCKS, cut, err));
        }
    }
    return DSE_OK;
}

/* What the other engines find at this point. */
static enum dse_status offer_others(struct state *state, struct engine_context *context,
                                    struct dse_error *err)
{
    static const struct engine *const other[] = {&engine_klotski, &engine_atomic, &engine_tangram};
    struct tile_rules rules = state->rules;
    if (engine_context_file(context, OPTION_PARTITION_FROM) || rules.grows)
        rules.max_uops = UOP_MAX; /* it is taken as it is; they may need more than we do */
    state->has_others = true;
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        DSE_TRY(klotski_offer_other(context, other[i], option, OPTION_PARTITION_FROM, N_OPTION, &rules,
                                    state->start_s, err));
    return DSE_OK;
}

static enum dse_status new_search(struct state *state, struct track *track, struct engine_context *context,
                                  struct dse_error *err)
{
    const double all = klotski_fewer(&state->rules, engine_context_option(context, OPTION_EVALUATIONS), 1);
    const bool is_aside = state->n_track > 1 && state->now == IN_LISTS;
    return cut_search_new(&track->pricer, &state->lists, track->best, track->best_cycle,
                          engine_context_option(context, OPTION_PARTITION) == PARTITION_GROUP,
                          (uint64_t)(is_aside ? share_of_lists * all : all),
                          engine_context_stream(context, RANDOM_MOVE), engine_context_arena(context),
                          &track->search, err);
}

/* A batch of a track; *is_over: it has nothing more to try. */
static enum dse_status follow(struct state *state, struct track *track, struct engine_context *context,
                              bool *is_over, struct dse_error *err)
{
    for (int i = 0; i < BATCH && track->from < N_FROM; i++) {
        if (engine_context_left(context) == 0)
            return DSE_OK;
        if (track->next < state->grid[track->from].n)
            DSE_TRY(try_start(state, track, context, err));
        else
            track->next = 0, track->from++;
    }
    *is_over = track->from == N_FROM && !track->has_best;
    if (track->from < N_FROM || *is_over)
        return DSE_OK;
    if (!track->search)
        DSE_TRY(new_search(state, track, context, err));
    const uint64_t left = engine_context_left(context), n = left < BATCH ? left : BATCH;
    DSE_TRY(cut_search_step(track->search, n, is_over, err));
    engine_context_count(context, n);
    return DSE_OK;
}

static enum dse_status step(void *memory, struct engine_context *context, enum engine_stop *stop,
                            struct dse_error *err)
{
    struct state *state = memory;
    bool is_over = false;
    if (!state->has_others)
        return offer_others(state, context, err);
    DSE_TRY(follow(state, &state->track[state->now], context, &is_over, err));
    if (!is_over || ++state->now < state->n_track)
        return DSE_OK;
    *stop = STOP_CONVERGED;
    if (!state->track[IN_LISTS].has_best)
        engine_context_explain(context, "no partition that was tried fits the accelerators' memories");
    return finish(state, context, err);
}

static void release(void *memory)
{
    struct state *state = memory;
    klotski_task_free(&state->task);
    arena_free(&state->scratch);
}

const struct engine engine_klotski_plus = {
    .name = "klotski-plus",
    .summary = "Klotski with a tile size for each layer, found by annealing",
    .kind = ENGINE_SCHEDULER,
    .accounting = klotski_accountings,
    .takes_only = KLOTSKI_TAKES_ONLY,
    .takes_task = klotski_takes_task,
    .streams_of = "klotski", /* so that they find what they find alone */
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
