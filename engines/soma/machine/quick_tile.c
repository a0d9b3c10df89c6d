/* A tile's rows, columns and samples are rounded to powers of 4: the tile that this gives is searched for at
 * length, and its best mappings, with factors as near as the tile itself allows, are where descents begin.
 * When they come out worse against the lower bound than on the round tile, fresh descents follow. */
#include "engines/soma/machine/quick_tile.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "costmodel/accounting/evaluator.h"
#include "engines/cosa/polish.h"
#include "engines/driver/price_memo.h"
#include "engines/mapspace/mapspace_move.h"
#include "engines/mapspace/mapspace_project.h"
#include "engines/soma/machine/mapper_stream.h"
#include "engines/soma/machine/tile_fill.h"

enum {
    KNOWN_MAX = 1 << 12, /* prices that a search remembers */
    N_START = 4,         /* mappings kept of a round tile */
    N_DRAWN = 5,         /* mappings of which the best makes a fresh start */
    FRESH_ROUND = 12,    /* fresh starts for a round tile, */
    FRESH_MORE = 4,      /* and for one that did not come out as well */
    PATIENCE = 120,      /* descents in a row without anything better that end a long search, */
    PATIENCE_SHORT = 4,  /* and a short one */
    LOOK_STEPS = 64      /* of a search, between two looks at the clock */
};

/* Of the evaluations allowed for a tile: those of a short search of a nest, and of a long one. */
static const double short_share = 0.2, long_share = 0.75;

/* So much worse than the round tile, each against its bound, may a tile be. */
static const double worse_share = 1.03;

static const struct objective objective = MAPPER_CORE_OBJECTIVE;

/* ---- tiles ---- */

static uint32_t one_if_unset(uint32_t dilation)
{
    return dilation ? dilation : 1;
}

/* What a stride or dilation that nothing is moved by may as well be. */
static void simplify(uint32_t extent, uint32_t window, uint32_t *stride, uint32_t *dilation)
{
    if (extent == 1)
        *stride = 1;
    *dilation = window == 1 ? 1 : one_if_unset(*dilation);
}

/* Put `from` into `to`, if the product is a bound. */
static void merge(uint32_t *to, uint32_t *from)
{
    if ((uint64_t)*to * *from > UINT32_MAX)
        return;
    *to *= *from;
    *from = 1;
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t other = *a;
    *a = *b;
    *b = other;
}

static bool is_wide(const struct core_tile *t)
{
    const uint32_t row[] = {t->r, t->stride_h, t->dilation_h, t->h},
                   column[] = {t->s, t->stride_w, t->dilation_w, t->w};
    size_t i = 0;
    while (i < 3 && row[i] == column[i])
        i++;
    return row[i] < column[i];
}

struct core_tile quick_tile_canonical(const struct core_tile *tile)
{
    struct core_tile one = *tile;
    if (tile->operation != CORE_MATRIX)
        return one;
    simplify(one.h, one.r, &one.stride_h, &one.dilation_h);
    simplify(one.w, one.s, &one.stride_w, &one.dilation_w);
    const bool free_h = one.r == 1 && one.stride_h == 1, free_w = one.s == 1 && one.stride_w == 1;
    if (free_h && free_w)
        merge(&one.h, &one.w);
    if ((free_h || free_w) && !one.weights_from_layer)
        merge(free_h ? &one.h : &one.w, &one.b);
    if (is_wide(&one)) {
        swap(&one.h, &one.w);
        swap(&one.r, &one.s);
        swap(&one.stride_h, &one.stride_w);
        swap(&one.dilation_h, &one.dilation_w);
    }
    return one;
}

/* Whether the columns of a canonical tile are among its rows. */
static bool is_merged(const struct core_tile *tile)
{
    return tile->r == 1 && tile->s == 1 && tile->stride_h == 1 && tile->stride_w == 1;
}

static uint32_t round_extent(uint32_t n)
{
    uint32_t power = 1;
    while (power <= n / 2 && power < 1u << 30) /* 4^i for 4^i / 2 to 2 4^i - 1 */
        power *= 4;
    return power;
}

static struct core_tile round_tile(const struct core_tile *tile)
{
    struct core_tile one = *tile;
    one.b = round_extent(tile->b);
    one.h = round_extent(tile->h);
    one.w = round_extent(tile->w);
    return one;
}

/* ---- the search of a nest ---- */

/* A loop nest, and the best of its mappings so far. */
struct nest {
    struct problem problem;
    struct evaluator *evaluator;
    double bound; /* of the cost */
};

/* Descents in one nest. */
struct search {
    const struct evaluator *evaluator;
    const struct mapspace *space;
    struct eval_workspace *workspace;
    struct price_memo_entry *known; /* (KNOWN_MAX) */
    uint64_t n_evaluation, n_max;
    bool orders_spatial;
    struct evaluation last, best;
    struct priced_mapping best_point; /* cost INFINITY: none */
    struct random_stream stream;
    struct polish polish;
};

/* A descent_price. */
static bool price(void *self, const struct mapping *mapping, double *cost, double *tie)
{
    struct search *search = self;
    const uint64_t hash = price_memo_hash(mapping, search->orders_spatial);
    struct price_memo_entry *known = &search->known[hash % KNOWN_MAX];
    if (known->hash != hash) {
        if (search->n_evaluation == search->n_max)
            return false;
        search->n_evaluation++;
        if (!evaluator_run(search->evaluator, search->workspace, mapping, &search->last))
            return false;
        *known =
            (struct price_memo_entry){hash, objective_cost(&objective, &search->last), search->last.edp_js};
        if (known->cost < search->best_point.cost) {
            search->best = search->last;
            search->best_point = (struct priced_mapping){*mapping, known->cost, known->tie};
        }
    }
    *cost = known->cost;
    *tie = known->tie;
    return true;
}

static enum dse_status search_open(const struct mapper_core *core, const struct nest *nest,
                                   enum stream_way way, uint64_t n_max, uint32_t patience,
                                   struct arena *arena, struct search *search, struct dse_error *err)
{
    const uint64_t content[] = {problem_hash(&nest->problem), architecture_hash(&core->arch)};
    const uint64_t key = hash_of_bytes(content, sizeof content);
    *search = (struct search){.evaluator = nest->evaluator,
                              .n_max = n_max,
                              .orders_spatial = evaluator_accounting(nest->evaluator)->orders_spatial,
                              .best_point = {.cost = INFINITY},
                              .stream = random_stream_make(core->seed, key, RANDOM_INIT)};
    struct mapspace_constraints *constraints = NULL;
    search->known = arena_alloc(arena, KNOWN_MAX, sizeof *search->known);
    if (core->streams)
        constraints = arena_alloc(arena, 1, sizeof *constraints);
    DSE_TRY(arena_check(arena, "the known prices of a search", err));
    if (constraints)
        mapper_stream_constraints(core, &nest->problem, way, constraints);
    DSE_TRY(mapspace_new(evaluator_problem(nest->evaluator), &core->arch, constraints, false, arena,
                         &search->space, err));
    polish_init(&search->polish, search->space, price, search,
                random_stream_make(core->seed, key, RANDOM_MOVE), patience);
    return DSE_OK;
}

static void add(struct search *search, const struct mapping *mapping)
{
    double cost, tie;
    if (price(search, mapping, &cost, &tie))
        polish_add(&search->polish, mapping, cost, tie);
}

/* The best of some drawn mappings, often laid out anew, as engine descent begins. */
static void add_fresh(struct search *search, int n)
{
    for (; n > 0; n--) {
        struct priced_mapping best = {.cost = INFINITY}, drawn;
        for (int i = 0; i < N_DRAWN; i++)
            if (mapspace_draw(search->space, &search->stream, &drawn.mapping, NULL, NULL) &&
                price(search, &drawn.mapping, &drawn.cost, &drawn.tie) && drawn.cost < best.cost)
                best = drawn;
        if (isinf(best.cost))
            continue;
        const uint32_t what = random_below(&search->stream, 4);
        if (what < 2)
            mapspace_pour(search->space, &search->stream, &best.mapping);
        else if (what == 2)
            mapspace_take_over(search->space, &search->stream, &best.mapping);
        add(search, &best.mapping);
    }
}

static double factor_at(const struct mapping *mapping, const struct mapspace_place *place, uint32_t d)
{
    const struct mapping_level *level = &mapping->level[place->level];
    if (!place->spatial)
        return level->temporal[d];
    for (uint32_t i = 0; i < mapping->n_dim; i++)
        if (level->spatial_order[i] == d)
            return (i >= level->split) == place->on_y ? level->spatial[d] : 1;
    return 1;
}

/* The mapping of this nest that is nearest to one of another. */
static void add_near(struct search *search, const struct mapping *other)
{
    struct mapspace_place place[MAPSPACE_PLACE_MAX];
    double log_wish[MAPSPACE_PLACE_MAX][PROBLEM_DIM_MAX];
    struct mapping mapping = *other;
    const uint32_t n = mapspace_places(search->space, place);
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t d = 0; d < other->n_dim; d++)
            log_wish[s][d] = log(factor_at(other, &place[s], d));
    if (mapspace_project(search->space, log_wish, &mapping))
        add(search, &mapping);
}

/* What other tiles begin with. */
struct starts {
    uint32_t n;
    enum stream_way way;
    double above_bound; /* cost of the first by its bound; 0: unknown */
    struct mapping mapping[N_START];
};

/* Descents from the starts and from fresh ones until patience, evaluations or time are over. */
static void descend(const struct mapper_core *core, const struct starts *starts, int n_fresh,
                    struct search *search)
{
    for (uint32_t i = 0; i < starts->n; i++)
        add_near(search, &starts->mapping[i]);
    add_fresh(search, search->polish.n_start ? n_fresh : FRESH_ROUND);
    for (uint64_t i = 0; search->n_evaluation < search->n_max && polish_step(&search->polish); i++)
        if (i % LOOK_STEPS == 0 && mapper_core_is_over(core))
            return;
}

/* ---- a tile ---- */

enum { N_NEST = 5 };

struct tile {
    const struct mapper_core *core;
    struct nest nest[N_NEST]; /* (n) the one with the lowest bound first */
    uint32_t n;
    struct arena scratch;             /* of one search */
    struct eval_workspace *workspace; /* of the last one; it remembers what nests have in common */
    struct search *search;            /* the present one */
    uint64_t n_evaluation;
    const struct nest *best; /* NULL: none */
    struct evaluation evaluation;
    struct mapping mapping;
    double cost;
};

static enum dse_status nest_open(const struct mapper_core *core, const struct problem *problem,
                                 struct nest *nest, struct dse_error *err)
{
    struct lower_bound bound;
    nest->problem = *problem;
    DSE_TRY(evaluator_new(engine_accounting(core->engine, core->option, &core->arch), problem, &core->arch,
                          &nest->evaluator, err));
    evaluator_bound(nest->evaluator, &bound);
    nest->bound = objective_bound(&objective, &bound);
    return DSE_OK;
}

/* Rows and columns that were merged, as near to a square as their product is: on the mesh a dimension lies on
 * one axis. */
static void unmerge(struct problem *problem)
{
    uint32_t *p = &problem->bound[problem_find_dim(problem, "P")],
             *q = &problem->bound[problem_find_dim(problem, "Q")];
    uint32_t side = (uint32_t)sqrt((double)*p);
    if (*q != 1)
        return;
    while (*p % side != 0)
        side--;
    *p /= side;
    *q = side;
}

static bool has(const struct tile *tile, const struct problem *problem)
{
    for (uint32_t i = 0; i < tile->n; i++)
        if (memcmp(tile->nest[i].problem.bound, problem->bound, sizeof problem->bound) == 0)
            return true;
    return false;
}

static enum dse_status add_nest(struct tile *tile, const struct problem *problem, struct dse_error *err)
{
    struct nest nest;
    uint32_t at = tile->n;
    DSE_TRY(nest_open(tile->core, problem, &nest, err));
    tile->n++;
    for (; at > 0 && nest.bound < tile->nest[at - 1].bound; at--)
        tile->nest[at] = tile->nest[at - 1];
    tile->nest[at] = nest;
    return DSE_OK;
}

/* The tile's own nest and fuller ones. */
static enum dse_status find_nests(struct tile *tile, const struct problem *exact, bool merged,
                                  struct dse_error *err)
{
    static const struct {
        const char *dims;
        bool smooth;
    } filled[N_NEST - 1] = {{"P", false}, {"Q", false}, {"P", true}, {"PQNCK", true}};
    struct problem own = *exact;
    if (merged)
        unmerge(&own);
    DSE_TRY(add_nest(tile, &own, err));
    for (int i = 0; i < N_NEST - 1; i++) {
        struct problem full = *exact;
        bool changed = tile_fill(&full, filled[i].dims, filled[i].smooth);
        if (merged)
            unmerge(&full);
        if (!changed || has(tile, &full))
            continue;
        const enum dse_status status = add_nest(tile, &full, err);
        if (status != DSE_OK && status != DSE_LIMIT) /* too large when filled up */
            return status;
    }
    return DSE_OK;
}

/* That of the nest before where it fits: what it remembers of meshes holds for this nest, too. */
static enum dse_status use_workspace(struct tile *tile, const struct nest *nest, struct dse_error *err)
{
    if (!tile->workspace || !eval_workspace_fits(tile->workspace, nest->evaluator)) {
        eval_workspace_delete(tile->workspace);
        tile->workspace = NULL;
        DSE_TRY(eval_workspace_new(nest->evaluator, &tile->workspace, err));
    }
    tile->search->workspace = tile->workspace;
    return DSE_OK;
}

/* Search one nest; the search stays in tile->search until the next. */
static enum dse_status look(struct tile *tile, const struct nest *nest, const struct starts *starts,
                            int n_fresh, uint32_t patience, uint64_t n_max, struct dse_error *err)
{
    struct search *search = tile->search;
    arena_reset(&tile->scratch);
    DSE_TRY(search_open(tile->core, nest, starts->way, n_max, patience, &tile->scratch, search, err));
    DSE_TRY(use_workspace(tile, nest, err));
    if (!mapspace_is_empty(search->space))
        descend(tile->core, starts, n_fresh, search);
    tile->n_evaluation += search->n_evaluation;
    if (search->best_point.cost >= tile->cost)
        return DSE_OK;
    tile->best = nest;
    tile->cost = search->best_point.cost;
    tile->evaluation = search->best;
    tile->mapping = search->best_point.mapping;
    return DSE_OK;
}

static uint64_t share_of(const struct mapper_core *core, double share)
{
    const double n = ceil(share * (double)core->max_evaluations);
    return n > 0 ? (uint64_t)n : UINT64_MAX;
}

/* All nests that can be better than what was found. */
static enum dse_status look_at_nests(struct tile *tile, const struct starts *starts, int n_fresh,
                                     uint32_t patience, double share, struct dse_error *err)
{
    for (uint32_t i = 0; i < tile->n && !mapper_core_is_over(tile->core); i++)
        if (tile->nest[i].bound < tile->cost)
            DSE_TRY(look(tile, &tile->nest[i], starts, n_fresh, patience, share_of(tile->core, share), err));
    return DSE_OK;
}

static void tile_open(const struct mapper_core *core, struct search *search, struct tile *tile)
{
    memset(tile, 0, sizeof *tile);
    tile->core = core;
    tile->search = search;
    tile->cost = INFINITY;
    arena_init(&tile->scratch);
}

static void tile_close(struct tile *tile)
{
    for (uint32_t i = 0; i < tile->n; i++)
        evaluator_delete(tile->nest[i].evaluator);
    eval_workspace_delete(tile->workspace);
    arena_free(&tile->scratch);
}

/* ---- the starts of the tiles round about ---- */

static enum dse_status search_way(struct tile *tile, enum stream_way way, struct starts *starts,
                                  struct dse_error *err)
{
    *starts = (struct starts){.way = way};
    tile->best = NULL;
    tile->cost = INFINITY;
    DSE_TRY(look_at_nests(tile, starts, FRESH_ROUND, PATIENCE, 1, err));
    const struct local_optima *optima = &tile->search->polish.optima;
    if (!tile->best)
        return DSE_OK;
    starts->above_bound = tile->cost / tile->nest[0].bound;
    starts->mapping[starts->n++] = tile->mapping;
    for (uint32_t i = 0; i < optima->n && starts->n < N_START; i++)
        if (optima->point[i].cost > tile->cost)
            starts->mapping[starts->n++] = optima->point[i].mapping;
    return DSE_OK;
}

/* With weights that stay for the next tile, where that is worth it. */
static enum dse_status search_round(struct tile *tile, const struct core_tile *round, struct starts *starts,
                                    struct dse_error *err)
{
    struct problem exact;
    struct starts whole;
    DSE_TRY(mapper_core_problem(round, &exact, err));
    if (is_merged(round))
        unmerge(&exact);
    DSE_TRY(add_nest(tile, &exact, err));
    DSE_TRY(search_way(tile, STREAM_ONCE, starts, err));
    if (!tile->best || !mapper_stream_may_stay(tile->core, &exact))
        return DSE_OK;
    const double once = tile->cost;
    DSE_TRY(search_way(tile, STREAM_WHOLE, &whole, err));
    if (tile->best && tile->cost <= STREAM_WHOLE_WORTH * once)
        *starts = whole;
    return DSE_OK;
}

static enum dse_status find_starts(const struct mapper_core *core, const struct core_tile *tile,
                                   struct search *search, struct starts *starts, uint64_t *n_evaluation,
                                   struct dse_error *err)
{
    const struct core_tile round = round_tile(tile);
    struct tile at;
    *starts = (struct starts){.way = STREAM_ONCE};
    if (core->shared && core_cache_recall(core->shared, &round, starts, sizeof *starts))
        return DSE_OK;
    tile_open(core, search, &at);
    enum dse_status status = search_round(&at, &round, starts, err);
    *n_evaluation = at.n_evaluation;
    tile_close(&at);
    if (status == DSE_LIMIT) /* the round tile is too large; this one need not be */
        return DSE_OK;
    if (status == DSE_OK && core->shared && !mapper_core_is_over(core))
        core_cache_remember(core->shared, &round, starts, sizeof *starts);
    return status;
}

/* ---- */

static enum dse_status solve(struct tile *tile, const struct core_tile *canonical, struct dse_error *err)
{
    struct problem exact;
    struct starts starts;
    DSE_TRY(mapper_core_problem(canonical, &exact, err));
    DSE_TRY(find_starts(tile->core, canonical, tile->search, &starts, &tile->n_evaluation, err));
    DSE_TRY(find_nests(tile, &exact, is_merged(canonical), err));
    DSE_TRY(look_at_nests(tile, &starts, 0, PATIENCE_SHORT, short_share, err));
    if (tile->cost > worse_share * starts.above_bound * tile->nest[0].bound)
        DSE_TRY(look_at_nests(tile, &starts, FRESH_MORE, PATIENCE, long_share, err));
    if (tile->best || starts.way != STREAM_WHOLE)
        return DSE_OK;
    starts.way = STREAM_ONCE;
    return look_at_nests(tile, &starts, FRESH_MORE, PATIENCE, long_share, err);
}

static enum dse_status answer(const struct tile *tile, struct problem *problem, struct engine_result *result,
                              struct dse_error *err)
{
    char reason[ENGINE_REASON_MAX];
    engine_result_init(result);
    result->n_evaluation = tile->n_evaluation;
    if (!tile->best || mapper_core_is_over(tile->core))
        return DSE_OK;
    *problem = tile->best->problem;
    result->feasible = true;
    result->cost = tile->cost;
    result->mapping = tile->mapping;
    result->evaluation = tile->evaluation;
    return evaluator_check(tile->best->evaluator, &result->mapping, reason, sizeof reason)
               ? DSE_OK
               : dse_fail(err, DSE_INTERNAL, "the independent checker refuses a tile's mapping: %s", reason);
}

enum dse_status quick_tile_solve(const struct mapper_core *core, const struct core_tile *tile,
                                 struct arena *arena, struct problem *problem, struct engine_result *result,
                                 struct dse_error *err)
{
    const struct core_tile canonical = quick_tile_canonical(tile);
    struct tile *at = arena_alloc_unset(arena, 1, sizeof *at);
    struct search *search = arena_alloc_unset(arena, 1, sizeof *search);
    DSE_TRY(arena_check(arena, "the mapping of a tile", err));
    tile_open(core, search, at);
    enum dse_status status = solve(at, &canonical, err);
    if (status == DSE_OK)
        status = answer(at, problem, result, err);
    tile_close(at);
    return status;
}

static enum dse_status ask(const void *self, const struct core_tile *tile, struct core_cost *cost,
                           struct dse_error *err)
{
    const struct core_tile canonical = quick_tile_canonical(tile);
    const struct core_scheduler cached = core_cached_scheduler(self);
    return cached.cost(cached.self, &canonical, cost, err);
}

struct core_scheduler quick_tile_scheduler(const struct core_cached *cached)
{
    return (struct core_scheduler){cached, ask};
}
