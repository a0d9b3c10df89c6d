/* Makes a loop nest of each tile, with bounds filled up where that pays, lets the mapper solve it, and
 * splits the energy as the fused model wants it; vector tiles are priced by formula. */
#include "engines/soma/machine/mapper_core.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/model/network.h"
#include "engines/soma/machine/mapper_stream.h"
#include "engines/soma/machine/quick_nest.h"
#include "engines/soma/machine/quick_tile.h"
#include "engines/soma/machine/tile_fill.h"

/* Of the built-in core array: MACs per vector lane, and the energies of a vector operation and a MAC, 0.0873
 * and 0.018 pJ. */
#define MAC_PER_LANE 16
#define VECTOR_PER_MAC_ENERGY (0.0873 / 0.018)

static const double least_s = 1e-9; /* a budget of 0 would be none */

#define ROUNDING 1e-9 /* of bounds */

#define CYCLE_MAX 0x1p61 /* as in the built-in core array */

static const struct objective edp = MAPPER_CORE_OBJECTIVE;

enum dse_status mapper_core_init(const struct core_split *inside, const struct engine *engine,
                                 const double *option, uint64_t max_evaluations, struct mapper_core *core,
                                 struct dse_error *err)
{
    if (engine->kind != ENGINE_MAPPER)
        return dse_fail(err, DSE_BAD_USAGE, "engine %s is no mapper; only a mapper can schedule a core array",
                        engine->name);
    if (engine->n_option > MAPPER_CORE_OPTION_MAX)
        return dse_fail(err, DSE_BAD_USAGE, "engine %s has more than %d options", engine->name,
                        MAPPER_CORE_OPTION_MAX);
    *core = (struct mapper_core){
        .arch = inside->core,
        .home = inside->home,
        .streams = inside->streams,
        .halved = inside->halved,
        .stay_word = inside->stay_word,
        .engine = engine,
        .max_evaluations = max_evaluations,
        .vector_per_cycle = (inside->core.mac.instances + MAC_PER_LANE - 1) / MAC_PER_LANE,
        .vector_j = inside->core.mac.energy_j * VECTOR_PER_MAC_ENERGY,
    };
    quick_machine(inside, &core->quick_arch);
    if (option)
        memcpy(core->option, option, engine->n_option * sizeof *option);
    else
        engine_option_defaults(engine, core->option);
    return DSE_OK;
}

static const struct storage_level *home_of(const struct mapper_core *core)
{
    return &core->arch.level[core->home];
}

/* "a tile of 1 x 64 x 7 x 7 outputs (samples, channels, rows, columns) of 64 channels, window 3 x 3" */
static char *tile_text(const struct core_tile *tile, char *buffer, size_t size)
{
    (void)snprintf(buffer, size,
                   "a tile of %" PRIu32 " x %" PRIu32 " x %" PRIu32 " x %" PRIu32
                   " outputs (samples, channels, rows, columns) of %" PRIu32 " channels, window %" PRIu32
                   " x %" PRIu32 ", %" PRIu32 " group%s",
                   tile->b, tile->k, tile->h, tile->w, tile->c, tile->r, tile->s, tile->groups,
                   tile->groups == 1 ? "" : "s");
    return buffer;
}

static enum dse_status check_tile(const struct core_tile *tile, struct dse_error *err)
{
    char text[200];
    if (!tile->b || !tile->k || !tile->c || !tile->h || !tile->w || !tile->r || !tile->s || !tile->stride_h ||
        !tile->stride_w || !tile->groups)
        return dse_fail(err, DSE_BAD_INPUT, "%s: every extent, stride and number of groups is at least 1",
                        tile_text(tile, text, sizeof text));
    if (tile->operation == CORE_MATRIX && tile->c % tile->groups != 0)
        return dse_fail(err, DSE_BAD_INPUT, "%s: the groups do not divide the input channels",
                        tile_text(tile, text, sizeof text));
    return DSE_OK;
}

enum dse_status mapper_core_problem(const struct core_tile *tile, struct problem *problem,
                                    struct dse_error *err)
{
    if (tile->operation != CORE_MATRIX)
        return dse_fail(err, DSE_BAD_USAGE, "a vector tile has no loop nest of multiply-accumulates");
    DSE_TRY(check_tile(tile, err));
    /* A tile can have more channels than its layer; the groups then keep their size, and there are more of
     * them. */
    uint32_t group_c = tile->c / tile->groups;
    uint32_t group_k = tile->group_k ? tile->group_k : (tile->k - 1) / tile->groups + 1;
    uint32_t groups = tile->groups > 1 ? (tile->k - 1) / group_k + 1 : 1;
    if (tile->groups == 1)
        group_k = tile->k;
    const uint64_t c = (uint64_t)groups * group_c, k = (uint64_t)groups * group_k;
    if (c > UINT32_MAX || k > UINT32_MAX)
        return dse_fail(err, DSE_LIMIT, "a tile of 2^32 channels or more");
    const struct layer layer = {
        .name = "tile",
        .type = tile->weights_from_layer ? LAYER_MATMUL : LAYER_CONV,
        .c = (uint32_t)c,
        .k = (uint32_t)k,
        .p = tile->h,
        .q = tile->w,
        .r = tile->r,
        .s = tile->s,
        .stride = {tile->stride_h, tile->stride_w},
        .dilation = {tile->dilation_h ? tile->dilation_h : 1, tile->dilation_w ? tile->dilation_w : 1},
        .groups = groups,
        .count = 1,
    };
    return layer_problem(&layer, tile->b, problem, err);
}

/* What is tried besides the tile's own nest, and kept when the work on top is worth it: rows filled up for
 * the mesh; or samples, channels, rows and columns. */
static const struct {
    const char *dims;
    bool smooth;
} filled[] = {{"P", false}, {"PQNCK", true}};

enum { N_FILLED = sizeof filled / sizeof *filled };

bool mapper_core_is_over(const struct mapper_core *core)
{
    return (core->cancel && atomic_load_explicit(core->cancel, memory_order_relaxed)) ||
           (core->stop_at_s > 0 && clock_wall_s() >= core->stop_at_s);
}

/* `constraints` may be NULL. */
static enum dse_status solve_within(const struct mapper_core *core, uint32_t batch,
                                    const struct problem *problem,
                                    const struct mapspace_constraints *constraints, struct arena *arena,
                                    struct engine_result *result, struct dse_error *err)
{
    struct evaluator *evaluator;
    const struct accounting *accounting = engine_accounting(core->engine, core->option, &core->arch);
    DSE_TRY(evaluator_new(accounting, problem, &core->arch, &evaluator, err));
    const uint64_t content[] = {problem_hash(problem), architecture_hash(&core->arch)};
    struct engine_task task = {
        .evaluator = evaluator,
        .constraints = constraints,
        .architecture = &core->arch,
        .batch = batch,
        .objective = edp,
        .option = core->option,
        .seed = core->seed,
        .key = hash_of_bytes(content, sizeof content),
        .budget = {.max_evaluations = core->max_evaluations, .cancel = core->cancel},
    };
    if (core->stop_at_s > 0)
        task.budget.max_seconds = fmax(core->stop_at_s - clock_wall_s(), least_s);
    enum dse_status status = engine_solve(core->engine, &task, arena, result, err);
    evaluator_delete(evaluator);
    return status;
}

/* Where tensors stream, mappings that move each word once, or, where there is none, any. Of those that leave
 * the weights where they are the best, when it is worth it. */
static enum dse_status solve(const struct mapper_core *core, uint32_t batch, const struct problem *problem,
                             struct arena *arena, struct engine_result *result, struct dse_error *err)
{
    if (!core->streams)
        return solve_within(core, batch, problem, NULL, arena, result, err);
    struct mapspace_constraints *constraints = arena_alloc(arena, 1, sizeof *constraints);
    DSE_TRY(arena_check(arena, "a mapping", err));
    mapper_stream_constraints(core, problem, STREAM_ONCE, constraints);
    DSE_TRY(solve_within(core, batch, problem, constraints, arena, result, err));
    if (result->feasible && mapper_stream_may_stay(core, problem) && !mapper_core_is_over(core)) {
        struct engine_result *whole = arena_alloc(arena, 1, sizeof *whole);
        DSE_TRY(arena_check(arena, "a mapping", err));
        mapper_stream_constraints(core, problem, STREAM_WHOLE, constraints);
        DSE_TRY(solve_within(core, batch, problem, constraints, arena, whole, err));
        if (whole->feasible && whole->cost <= STREAM_WHOLE_WORTH * result->cost)
            *result = *whole;
    }
    if (result->feasible || mapper_core_is_over(core))
        return DSE_OK;
    mapper_stream_constraints(core, problem, STREAM_ANY, constraints);
    return solve_within(core, batch, problem, constraints, arena, result, err);
}

/* Whether a nest can have a mapping that costs less. */
static enum dse_status can_be_better(const struct mapper_core *core, const struct problem *problem,
                                     const struct engine_result *than, bool *can, struct dse_error *err)
{
    struct evaluator *evaluator;
    struct lower_bound bound;
    *can = !than->feasible;
    if (*can)
        return DSE_OK;
    DSE_TRY(evaluator_new(engine_accounting(core->engine, core->option, &core->arch), problem, &core->arch,
                          &evaluator, err));
    evaluator_bound(evaluator, &bound);
    evaluator_delete(evaluator);
    *can = objective_bound(&edp, &bound) < than->cost * (1 + ROUNDING);
    return DSE_OK;
}

static bool same_bounds(const struct problem *a, const struct problem *b)
{
    return memcmp(a->bound, b->bound, a->n_dim * sizeof *a->bound) == 0;
}

/* The fuller nests; what is better takes the place of `problem` and `result`. */
static enum dse_status solve_filled(const struct mapper_core *core, const struct core_tile *tile,
                                    struct arena *arena, struct problem *problem,
                                    struct engine_result *result, struct dse_error *err)
{
    const struct problem exact = *problem;
    struct problem before = exact;
    struct engine_result *other = arena_alloc(arena, 1, sizeof *other);
    DSE_TRY(arena_check(arena, "a mapping", err));
    for (int i = 0; i < N_FILLED && !mapper_core_is_over(core); i++) {
        struct problem full = exact;
        bool can = tile_fill(&full, filled[i].dims, filled[i].smooth) && !same_bounds(&full, &before);
        enum dse_status status = can ? can_be_better(core, &full, result, &can, err) : DSE_OK;
        before = full;
        if (status == DSE_OK && can)
            status = solve(core, tile->b, &full, arena, other, err);
        if (status == DSE_LIMIT)
            continue; /* too large when filled up */
        if (status != DSE_OK)
            return status;
        if (can && other->feasible && (!result->feasible || other->cost < result->cost)) {
            *problem = full;
            *result = *other;
        }
    }
    return DSE_OK;
}

enum dse_status mapper_core_solve(const struct mapper_core *core, const struct core_tile *tile,
                                  struct arena *arena, struct problem *problem, struct engine_result *result,
                                  struct dse_error *err)
{
    if (core->quick) {
        DSE_TRY(quick_tile_solve(core, tile, arena, problem, result, err));
        if (result->feasible || mapper_core_is_over(core))
            return DSE_OK; /* else the engine may find one, or says why there is none */
    }
    DSE_TRY(mapper_core_problem(tile, problem, err));
    DSE_TRY(solve(core, tile->b, problem, arena, result, err));
    return solve_filled(core, tile, arena, problem, result, err);
}

static void split_energy(const struct mapper_core *core, const struct evaluation *evaluation,
                         struct core_cost *cost)
{
    uint32_t home = core->home, n_level = core->arch.n_level, n_inside = n_level - (core->streams != 0);
    *cost = (struct core_cost){.cycle = evaluation->latency_cycle, .mac_energy_j = evaluation->energy_mac_j};
    for (uint32_t l = 0; l < n_inside; l++)
        cost->local_energy_j += l != home ? evaluation->level_energy_j[l] : 0;
    for (uint32_t l = 0; l < n_level; l++)
        cost->bus_energy_j += evaluation->network_energy_j[l];
    cost->buffer_energy_j = evaluation->level_energy_j[home];
    cost->energy_j = cost->buffer_energy_j + cost->local_energy_j + cost->bus_energy_j + cost->mac_energy_j;
}

/* What streams, from the mapping in full. */
static enum dse_status add_streams(const struct mapper_core *core, const struct problem *problem,
                                   const struct mapping *mapping, struct arena *arena, struct core_cost *cost,
                                   struct dse_error *err)
{
    struct evaluator *evaluator;
    struct evaluation_detail *detail = arena_alloc(arena, 1, sizeof *detail);
    DSE_TRY(arena_check(arena, "a mapping", err));
    DSE_TRY(evaluator_new(engine_accounting(core->engine, core->option, &core->arch), problem, &core->arch,
                          &evaluator, err));
    enum dse_status status = evaluator_detail(evaluator, mapping, arena, detail, err);
    if (status == DSE_OK)
        mapper_stream_measure(core, problem, mapping, detail, cost);
    evaluator_delete(evaluator);
    return status;
}

static enum dse_status matrix_cost(const struct mapper_core *core, const struct core_tile *tile,
                                   struct core_cost *cost, struct dse_error *err)
{
    struct arena arena;
    struct problem problem;
    arena_init(&arena);
    struct engine_result *result = arena_alloc(&arena, 1, sizeof *result);
    enum dse_status status = result ? DSE_OK : dse_fail(err, DSE_NO_MEMORY, "out of memory for a mapping");
    if (status == DSE_OK && !mapper_core_is_over(core))
        status = mapper_core_solve(core, tile, &arena, &problem, result, err);
    if ((status == DSE_OK || status == DSE_INTERRUPTED) && mapper_core_is_over(core)) {
        char text[200];
        status = dse_fail(err, DSE_BAD_INPUT, "the time was over before engine %s had mapped %s",
                          core->engine->name, tile_text(tile, text, sizeof text));
    } else if (status == DSE_OK && result->feasible) {
        split_energy(core, &result->evaluation, cost);
        if (core->streams)
            status = add_streams(core, &problem, &result->mapping, &arena, cost, err);
    } else if (status == DSE_OK) {
        char text[200];
        status =
            dse_fail(err, DSE_BAD_INPUT, "engine %s finds no mapping on %s for %s: %s", core->engine->name,
                     core->arch.name, tile_text(tile, text, sizeof text), result->reason);
    }
    arena_free(&arena);
    return status;
}

/* How many of the rows (or columns) that `n` windows pass over they touch: gaps between windows are not read,
 * those that dilation leaves in a window are. */
static double touched(uint32_t n, uint32_t window, uint32_t dilation, uint32_t stride)
{
    double reach = (double)core_window_reach(window, dilation);
    return reach >= stride ? (n - 1.0) * stride + reach : (double)n * reach;
}

static double access_j(const struct storage_level *level, double words, double energy_j)
{
    return ceil(words / level->block_word) * energy_j + words * level->address_energy_j;
}

static enum dse_status vector_cost(const struct mapper_core *core, const struct core_tile *tile,
                                   struct core_cost *cost, struct dse_error *err)
{
    const struct storage_level *home = home_of(core);
    DSE_TRY(check_tile(tile, err));
    double operands = tile->operands > 1 ? tile->operands : 1;
    double plane = (double)tile->b * tile->k, write = plane * tile->h * tile->w;
    double operation = write * operands * tile->r * tile->s;
    double read = operands * plane * touched(tile->h, tile->r, tile->dilation_h, tile->stride_h) *
                  touched(tile->w, tile->s, tile->dilation_w, tile->stride_w);
    bool streams_in = core->streams >> TENSOR_INPUT & 1u, streams_out = core->streams >> TENSOR_OUTPUT & 1u;
    double cycle = ceil(operation / (double)core->vector_per_cycle);
    read = streams_in ? 0 : read; /* from here on of the buffer */
    write = streams_out ? 0 : write;
    cycle = fmax(cycle, ceil(read / home->read_bandwidth_word_per_cycle));
    cycle = fmax(cycle, ceil(write / home->write_bandwidth_word_per_cycle));
    cycle = fmax(cycle, ceil((read + write) / home->shared_bandwidth_word_per_cycle));
    if (!(cycle < CYCLE_MAX && operation < CYCLE_MAX && read < CYCLE_MAX))
        return dse_fail(err, DSE_LIMIT, "a vector tile of 2^61 operations or cycles or more");
    *cost = (struct core_cost){
        .cycle = (uint64_t)cycle,
        .buffer_energy_j =
            access_j(home, read, home->read_energy_j) + access_j(home, write, home->update_energy_j),
        .mac_energy_j = operation * core->vector_j,
        .stream_share = streams_in || streams_out ? 2 : 0, /* no level of its own holds a part for later */
    };
    cost->energy_j = cost->buffer_energy_j + cost->mac_energy_j;
    return DSE_OK;
}

enum dse_status mapper_core_cost(const struct mapper_core *core, const struct core_tile *tile,
                                 struct core_cost *cost, struct dse_error *err)
{
    return tile->operation == CORE_MATRIX ? matrix_cost(core, tile, cost, err)
                                          : vector_cost(core, tile, cost, err);
}

static enum dse_status ask(const void *self, const struct core_tile *tile, struct core_cost *cost,
                           struct dse_error *err)
{
    return mapper_core_cost(self, tile, cost, err);
}

struct core_scheduler mapper_core_scheduler(const struct mapper_core *core)
{
    return (struct core_scheduler){core, ask};
}

/* Whatever the costs of tiles, or else the searches (`what`), depend on besides the tile. */
static enum dse_status join(struct core_cache *cache, const struct mapper_core *core, const char *what,
                            const struct architecture *arch, struct core_cached *cached,
                            struct dse_error *err)
{
    struct text_buffer identity;
    text_init(&identity);
    text_append(&identity,
                "%s %s%s, machine %016" PRIx64 ", %" PRIu64 " evaluations, seed %" PRIu64 ", vector %" PRIu64
                " %a",
                what, core->engine->name, core->quick ? " quick" : "", architecture_hash(arch),
                core->max_evaluations, core->seed, core->vector_per_cycle, core->vector_j);
    for (size_t i = 0; i < core->engine->n_option; i++)
        text_append(&identity, " %a", core->option[i]);
    enum dse_status status = identity.failed
                                 ? dse_fail(err, DSE_NO_MEMORY, "out of memory for a cache of tile costs")
                                 : core_cache_join(cache, mapper_core_scheduler(core), identity.data,
                                                   identity.length, cached, err);
    text_free(&identity);
    return status;
}

enum dse_status mapper_core_join(struct core_cache *cache, const struct mapper_core *core,
                                 struct core_cached *cached, struct dse_error *err)
{
    return join(cache, core, "costs", &core->arch, cached, err);
}

enum dse_status mapper_core_join_quick(struct core_cache *cache, const struct mapper_core *core,
                                       struct core_cached *cached, struct dse_error *err)
{
    return join(cache, core, "searches", &core->quick_arch, cached, err);
}
