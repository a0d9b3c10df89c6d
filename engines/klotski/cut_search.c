/* The walk is annealing.h's; what is here is the move and its price. */
#include "engines/klotski/cut_search.h"

#include <math.h>
#include <string.h>

#include "engines/klotski/list_schedule.h"
#include "engines/search/annealing.h"

/* At first a schedule that is 0.2 % longer is taken once in e times; less and less, to none at the end. */
static const double first_temperature = 2e-3, alpha = 8;

enum { MAKE_ROOM_MAX = 20 }; /* layers that are given larger tiles in one move, at most */

struct cut_search {
    const struct klotski_task *task;
    const struct tile_rules *rules;
    const struct tile_lists *lists;
    struct arena *scratch;
    uint32_t n_layer;
    bool by_map;
    struct uop_cut *cut, *before, *best; /* (n_layer) now, before the last move, of the fewest cycles */
    uint64_t best_cycle, last_cycle;
    struct annealing *walk;
    enum dse_status status; /* of the last price */
    struct dse_error err;
};

enum dse_status cut_price(const struct klotski_task *task, const struct tile_rules *rules,
                          const struct uop_cut *cut, uint64_t limit, struct arena *scratch, uint64_t *cycle,
                          struct dse_error *err)
{
    struct uop_graph graph;
    arena_reset(scratch);
    DSE_TRY(
        uop_graph_of(&task->network, &task->machine, cut, rules->sums, rules->batch, scratch, &graph, err));
    uint64_t *priority = arena_alloc_unset(scratch, graph.n_uop, sizeof *priority);
    uint64_t *start = arena_alloc_unset(scratch, graph.n_uop, sizeof *start);
    uint32_t *core = arena_alloc_unset(scratch, graph.n_uop, sizeof *core);
    struct list_scheduler *list = list_scheduler_new(&graph, task->n_core, scratch);
    DSE_TRY(arena_check(scratch, "a list schedule", err));
    list_b_level(&graph, 0, graph.n_uop, priority);
    *cycle = list_schedule(list, 0, graph.n_uop, priority, limit, start, core);
    return DSE_OK;
}

static const struct kc_tile *whole_of(const struct cut_search *s, uint32_t l)
{
    return &s->task->network.layer[l].whole;
}

static uint64_t uops_of(const struct cut_search *s, uint32_t l, struct uop_cut cut)
{
    const uint64_t tiles = uop_cut_count(whole_of(s, l), cut);
    const uint64_t parts = (whole_of(s, l)->c - 1) / cut.ic + 1;
    return tiles + (s->rules->sums == UOP_SUMS_REDUCE && parts > 1 ? tiles / parts : 0);
}

static uint64_t uops_of_all(const struct cut_search *s)
{
    uint64_t n = 0;
    for (uint32_t l = 0; l < s->n_layer; l++)
        n += uops_of(s, l, s->cut[l]);
    return n * s->rules->batch;
}

static double log_cycle_of(const struct cut_search *s, uint32_t l)
{
    struct kc_tile tile = *whole_of(s, l);
    tile.p = s->cut[l].h;
    tile.q = s->cut[l].w;
    tile.c = s->cut[l].ic;
    tile.k = s->cut[l].oc;
    return log((double)kc_cycle(&s->task->machine, &tile));
}

/* Another tile for a layer, `change` away from its latency in logarithms or next to that in the list. */
static struct uop_cut other_tile(const struct cut_search *s, uint32_t l, double change,
                                 struct random_stream *random)
{
    const struct tile *tile = &s->lists->tile[s->lists->first[l]];
    const uint32_t n = s->lists->n[l];
    const uint32_t i = tile_nearest(s->lists, l, log_cycle_of(s, l) + change) + random_below(random, 5);
    return tile[i < 2 ? 0 : i - 2 < n ? i - 2 : n - 1].cut;
}

static double change_of(struct random_stream *random)
{
    return exp(log(0.02) + random_unit(random) * log(100)); /* 2 % to a factor of 7 */
}

/* Gives a tile to layer l, and to those that go with it: of maps of its size, or with `all_alike` of all its
 * sizes. */
static void give_tile(struct cut_search *s, uint32_t l, struct uop_cut cut, bool all_alike)
{
    for (uint32_t i = 0; i < s->n_layer; i++) {
        const bool same_map =
            whole_of(s, i)->p == whole_of(s, l)->p && whole_of(s, i)->q == whole_of(s, l)->q;
        if (i == l || (s->by_map ? same_map : all_alike && s->lists->same[i] == s->lists->same[l]))
            s->cut[i] = uop_cut_clip(whole_of(s, i), cut);
    }
}

/* Gives random layers larger tiles until there are few enough uops; false: there are not. */
static bool make_room(struct cut_search *s, struct random_stream *random)
{
    for (int i = 0; uops_of_all(s) > s->rules->max_uops && i < MAKE_ROOM_MAX; i++) {
        const uint32_t l = random_below(random, s->n_layer);
        const struct uop_cut larger = other_tile(s, l, change_of(random), random);
        if (uops_of(s, l, larger) < uops_of(s, l, s->cut[l]))
            give_tile(s, l, larger, false);
    }
    return uops_of_all(s) <= s->rules->max_uops;
}

/* Tiles of a layer's list fit it; those of another layer's need not. */
static bool all_fit(const struct cut_search *s)
{
    for (uint32_t l = 0; l < s->n_layer; l++) {
        const struct uop_need need = uop_cut_need(whole_of(s, l), s->cut[l]);
        if (!uop_need_fits(&need, s->rules->sram, &s->task->machine))
            return false;
    }
    return true;
}

static bool move(struct cut_search *s, struct random_stream *random)
{
    const uint32_t l = random_below(random, s->n_layer);
    const bool all_alike = random_below(random, 2);
    const double change = change_of(random);
    give_tile(s, l, other_tile(s, l, random_below(random, 2) ? change : -change, random), all_alike);
    return make_room(s, random) && memcmp(s->cut, s->before, s->n_layer * sizeof *s->cut) != 0 &&
           (!s->by_map || all_fit(s));
}

static enum search_outcome propose(void *self, struct random_stream *random, double *cost)
{
    struct cut_search *s = self;
    memcpy(s->before, s->cut, s->n_layer * sizeof *s->cut);
    if (!move(s, random)) {
        memcpy(s->cut, s->before, s->n_layer * sizeof *s->cut);
        return SEARCH_INFEASIBLE;
    }
    const uint64_t limit = *cost < 0x1p62 ? (uint64_t)*cost + 1 : UINT64_MAX; /* cost: the most */
    s->status = cut_price(s->task, s->rules, s->cut, limit, s->scratch, &s->last_cycle, &s->err);
    if (s->status == DSE_OK && s->last_cycle != UINT64_MAX) {
        *cost = (double)s->last_cycle;
        return SEARCH_PRICED;
    }
    memcpy(s->cut, s->before, s->n_layer * sizeof *s->cut);
    return s->status == DSE_OK ? SEARCH_INFEASIBLE : SEARCH_OVER;
}

static void undo(void *self)
{
    struct cut_search *s = self;
    memcpy(s->cut, s->before, s->n_layer * sizeof *s->cut);
}

static void keep(void *self)
{
    struct cut_search *s = self;
    memcpy(s->best, s->cut, s->n_layer * sizeof *s->cut);
    s->best_cycle = s->last_cycle;
}

static void restore(void *self)
{
    struct cut_search *s = self;
    memcpy(s->cut, s->best, s->n_layer * sizeof *s->cut);
}

enum dse_status cut_search_new(const struct klotski_task *task, const struct tile_rules *rules,
                               const struct tile_lists *lists, const struct uop_cut *cut, uint64_t cycle,
                               bool by_map, uint64_t n_round, struct random_stream stream,
                               struct arena *arena, struct arena *scratch, struct cut_search **made,
                               struct dse_error *err)
{
    const uint32_t n_layer = task->network.n_layer;
    struct cut_search *s = arena_alloc(arena, 1, sizeof *s);
    struct uop_cut *cuts = arena_alloc(arena, (size_t)3 * n_layer, sizeof *cuts);
    DSE_TRY(arena_check(arena, "a search of partitions", err));
    *s = (struct cut_search){.task = task,
                             .rules = rules,
                             .lists = lists,
                             .scratch = scratch,
                             .n_layer = n_layer,
                             .by_map = by_map,
                             .cut = cuts,
                             .before = cuts + n_layer,
                             .best = cuts + (size_t)2 * n_layer,
                             .best_cycle = cycle,
                             .last_cycle = cycle};
    memcpy(s->cut, cut, n_layer * sizeof *cut);
    memcpy(s->best, cut, n_layer * sizeof *cut);
    *made = s;
    const struct annealing_space space = {s, propose, undo, keep, restore};
    const struct annealing_options options = {.rule = ANNEALING_RELATIVE,
                                              .n_round = n_round,
                                              .first_temperature = first_temperature,
                                              .alpha = alpha,
                                              .return_share = 1};
    return annealing_new(&space, &options, (double)cycle, stream, arena, &s->walk, err);
}

enum dse_status cut_search_step(struct cut_search *search, uint64_t n, bool *is_over, struct dse_error *err)
{
    *is_over = !annealing_step(search->walk, n);
    if (search->status != DSE_OK)
        *err = search->err;
    return search->status;
}

const struct uop_cut *cut_search_best(const struct cut_search *search, uint64_t *cycle)
{
    *cycle = search->best_cycle;
    return search->best;
}
