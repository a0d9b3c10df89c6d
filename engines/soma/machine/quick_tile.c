/* A tile's rows, columns and samples are rounded to powers of 4: the tile that this gives is searched for at
 * length, and its best mappings, with factors as near as the tile itself allows, are where descents begin.
 * When they come out worse against the lower bound than on the round tile, fresh descents follow. All that is
 * decided where an access of the buffer has one price on all machines (quick_machine); the mappings found are
 * then priced on the machine itself, and the best is the tile's. */
#include "engines/soma/machine/quick_tile.h"

#include <math.h>
#include <string.h>

#include "engines/soma/machine/quick_nest.h"
#include "engines/soma/machine/tile_fill.h"

/* Searches: of a round tile, a short one of a nest, and a long one. */
enum effort { EFFORT_ROUND, EFFORT_SHORT, EFFORT_LONG };

static const struct quick_effort efforts[] = {
    [EFFORT_ROUND] = {.n_fresh = 12, .patience = 120, .share = 2},
    [EFFORT_SHORT] = {.n_fresh = 0, .patience = 3, .share = 0.2},
    [EFFORT_LONG] = {.n_fresh = 4, .patience = 120, .share = 0.6},
};

/* So much worse than the round tile, each against its bound, may a tile be. */
static const double worse_share = 1.1;

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

/* ---- nests ---- */

enum { N_NEST = 5, N_FOUND = 3 * N_NEST };

/* The mappings that a search of a nest came to. */
struct found {
    const struct quick_nest *nest;
    struct quick_list list;
};

struct tile {
    const struct mapper_core *core;
    struct core_tile round;
    struct quick_bench bench;
    struct quick_list starts; /* value: cost of the first by its bound; 0: unknown */
    uint32_t n;
    struct quick_nest nest[N_NEST]; /* (n) the one with the lowest bound first */
    double cost;                    /* on core->quick_arch, as the bounds */
    uint32_t n_found;
    struct found found[N_FOUND]; /* (n_found) */
};

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
    struct quick_nest nest;
    uint32_t at = tile->n;
    DSE_TRY(quick_nest_open(tile->core, problem, &nest, err));
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

/* ---- searches, and what is kept of them for other tiles and machines ---- */

enum { KEY_WORDS = 18 + PROBLEM_DIM_MAX };

/* All that a search depends on besides the machine: the round tile that it starts from, how it streams, the
 * nest and how long it takes. */
static void make_key(const struct core_tile *round, const struct problem *problem, enum effort effort,
                     enum stream_way way, uint32_t key[KEY_WORDS])
{
    const uint32_t word[] = {effort,
                             way,
                             round->weights_from_layer,
                             is_merged(round),
                             round->b,
                             round->k,
                             round->c,
                             round->h,
                             round->w,
                             round->r,
                             round->s,
                             round->stride_h,
                             round->stride_w,
                             round->dilation_h,
                             round->dilation_w,
                             round->groups,
                             round->group_k,
                             problem->n_dim};
    memset(key, 0, KEY_WORDS * sizeof *key);
    memcpy(key, word, sizeof word);
    memcpy(key + sizeof word / sizeof *word, problem->bound, problem->n_dim * sizeof *problem->bound);
}

static bool recall(const struct mapper_core *core, const uint32_t key[KEY_WORDS], struct quick_list *list)
{
    struct quick_list packed;
    if (!core->shared ||
        !core_cache_recall(core->shared, key, KEY_WORDS * sizeof *key, &packed, sizeof packed))
        return false;
    quick_list_unpack(&packed, list);
    return true;
}

static void remember(const struct mapper_core *core, const uint32_t key[KEY_WORDS],
                     const struct quick_list *list)
{
    struct quick_list packed;
    if (core->shared && !mapper_core_is_over(core))
        core_cache_remember(core->shared, key, KEY_WORDS * sizeof *key, &packed,
                            quick_list_pack(list, &packed));
}

static void tile_open(const struct mapper_core *core, const struct core_tile *round, struct tile *tile)
{
    memset(tile, 0, offsetof(struct tile, found));
    tile->core = core;
    tile->round = *round;
    tile->starts.way = STREAM_ONCE;
    tile->cost = INFINITY;
}

static void tile_close(struct tile *tile)
{
    for (uint32_t i = 0; i < tile->n; i++)
        quick_nest_close(&tile->nest[i]);
    quick_bench_close(&tile->bench);
}

static enum dse_status look(struct tile *tile, const struct quick_nest *nest, enum effort effort,
                            struct dse_error *err)
{
    uint32_t key[KEY_WORDS];
    struct found *found = &tile->found[tile->n_found];
    make_key(&tile->round, &nest->problem, effort, tile->starts.way, key);
    if (!recall(tile->core, key, &found->list)) {
        DSE_TRY(quick_nest_search(tile->core, nest, &tile->starts, efforts[effort], &tile->bench,
                                  &found->list, NULL, err));
        remember(tile->core, key, &found->list);
    }
    found->nest = nest;
    tile->n_found++;
    tile->cost = fmin(tile->cost, found->list.value);
    return DSE_OK;
}

/* All nests that would be better than what was found if they came out as well as the round tile. */
static enum dse_status look_at_nests(struct tile *tile, enum effort effort, struct dse_error *err)
{
    for (uint32_t i = 0; i < tile->n && !mapper_core_is_over(tile->core); i++)
        if (fmax(tile->starts.value, 1) * tile->nest[i].bound < tile->cost)
            DSE_TRY(look(tile, &tile->nest[i], effort, err));
    return DSE_OK;
}

/* ---- the starts of the tiles round about ---- */

static enum dse_status search_way(struct tile *tile, const struct quick_nest *nest, enum stream_way way,
                                  struct quick_list *optima, struct dse_error *err)
{
    const struct quick_list none = {.way = way};
    return quick_nest_search(tile->core, nest, &none, efforts[EFFORT_ROUND], &tile->bench,
                             &tile->found[0].list, optima, err);
}

/* With weights that stay for the next tile, where that is worth it. */
static enum dse_status search_round(struct tile *tile, const struct problem *problem, struct dse_error *err)
{
    struct quick_nest nest;
    struct quick_list whole;
    DSE_TRY(quick_nest_open(tile->core, problem, &nest, err));
    enum dse_status status = search_way(tile, &nest, STREAM_ONCE, &tile->starts, err);
    if (status == DSE_OK && tile->starts.n && mapper_stream_may_stay(tile->core, problem)) {
        status = search_way(tile, &nest, STREAM_WHOLE, &whole, err);
        if (status == DSE_OK && whole.n && whole.value <= STREAM_WHOLE_WORTH * tile->starts.value)
            tile->starts = whole;
    }
    tile->starts.value = tile->starts.n ? tile->starts.value / nest.bound : 0;
    quick_nest_close(&nest);
    return status;
}

static enum dse_status find_starts(struct tile *tile, struct dse_error *err)
{
    uint32_t key[KEY_WORDS];
    struct problem problem;
    enum dse_status status = mapper_core_problem(&tile->round, &problem, err);
    if (status == DSE_OK) {
        if (is_merged(&tile->round))
            unmerge(&problem);
        make_key(&tile->round, &problem, EFFORT_ROUND, STREAM_ANY, key);
        if (recall(tile->core, key, &tile->starts))
            return DSE_OK;
        status = search_round(tile, &problem, err);
    }
    if (status == DSE_OK)
        remember(tile->core, key, &tile->starts);
    return status == DSE_LIMIT ? DSE_OK : status; /* the round tile is too large; this one need not be */
}

/* ---- */

static enum dse_status solve(struct tile *tile, const struct core_tile *canonical, struct dse_error *err)
{
    struct problem exact;
    DSE_TRY(mapper_core_problem(canonical, &exact, err));
    DSE_TRY(find_starts(tile, err));
    DSE_TRY(find_nests(tile, &exact, is_merged(canonical), err));
    DSE_TRY(look_at_nests(tile, EFFORT_SHORT, err));
    if (tile->n && tile->cost > worse_share * tile->starts.value * tile->nest[0].bound)
        DSE_TRY(look_at_nests(tile, EFFORT_LONG, err));
    if (isfinite(tile->cost) || tile->starts.way != STREAM_WHOLE)
        return DSE_OK;
    tile->starts.way = STREAM_ONCE;
    return look_at_nests(tile, EFFORT_LONG, err);
}

/* Price what was found in a nest on the machine itself. */
static enum dse_status settle(struct tile *tile, const struct quick_nest *nest, struct problem *problem,
                              struct engine_result *result, struct dse_error *err)
{
    char reason[ENGINE_REASON_MAX];
    const struct mapping *best = NULL;
    struct evaluation evaluation;
    DSE_TRY(evaluator_move(nest->evaluator, &tile->core->arch, err));
    DSE_TRY(quick_bench_suit(&tile->bench, nest->evaluator, err));
    for (uint32_t f = 0; f < tile->n_found; f++) {
        const struct quick_list *list = &tile->found[f].list;
        for (uint32_t i = 0; tile->found[f].nest == nest && i < list->n; i++) {
            tile->bench.n_evaluation++;
            if (!evaluator_run(nest->evaluator, tile->bench.workspace, &list->mapping[i], &evaluation))
                return dse_fail(err, DSE_INTERNAL, "a tile's mapping does not fit any more");
            const double cost = objective_cost(&objective, &evaluation);
            if (result->feasible && !(cost < result->cost))
                continue;
            best = &list->mapping[i];
            result->feasible = true;
            result->cost = cost;
            result->mapping = *best;
            result->evaluation = evaluation;
        }
    }
    if (!best)
        return DSE_OK;
    *problem = nest->problem;
    return evaluator_check(nest->evaluator, best, reason, sizeof reason)
               ? DSE_OK
               : dse_fail(err, DSE_INTERNAL, "the independent checker refuses a tile's mapping: %s", reason);
}

static enum dse_status answer(struct tile *tile, struct problem *problem, struct engine_result *result,
                              struct dse_error *err)
{
    engine_result_init(result);
    for (uint32_t i = 0; i < tile->n && !mapper_core_is_over(tile->core); i++)
        DSE_TRY(settle(tile, &tile->nest[i], problem, result, err));
    result->n_evaluation = tile->bench.n_evaluation;
    result->feasible = result->feasible && !mapper_core_is_over(tile->core);
    return DSE_OK;
}

enum dse_status quick_tile_solve(const struct mapper_core *core, const struct core_tile *tile,
                                 struct arena *arena, struct problem *problem, struct engine_result *result,
                                 struct dse_error *err)
{
    const struct core_tile canonical = quick_tile_canonical(tile), round = round_tile(&canonical);
    struct tile *at = arena_alloc_unset(arena, 1, sizeof *at);
    DSE_TRY(arena_check(arena, "the mapping of a tile", err));
    tile_open(core, &round, at);
    enum dse_status status = quick_bench_open(arena, &at->bench, err);
    if (status == DSE_OK)
        status = solve(at, &canonical, err);
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
