/* The walk is annealing.h's; what is here is the move and its price. */
#include "engines/klotski/cut_search.h"

#include <math.h>
#include <string.h>

#include "engines/search/annealing.h"

/* At first a schedule that is so much longer is taken once in e times; less and less, to none at the end. */
static const double first_temperature = 2e-3, first_temperature_blocks = 1e-2, alpha = 8;

enum { MAKE_ROOM_MAX = 20 }; /* layers that are given larger tiles in one move, at most */

struct cut_search {
    const struct klotski_task *task;
    const struct tile_rules *rules;
    const struct tile_lists *lists;
    struct cut_pricer *pricer;
    uint32_t n_layer;
    bool by_map;
    bool by_parts;                /* moves for a network */
    struct uop_cut *cut, *before; /* (n_layer) now, before the last move */
    struct uop_cut *best; /* (CUT_SEARCH_BESTS, n_layer) of the fewest cycles: best i at i modulo that */
    uint64_t best_cycle[CUT_SEARCH_BESTS], last_cycle;
    uint32_t n_best; /* that were the best so far */
    struct annealing *walk;
    enum dse_status status; /* of the last price */
    struct dse_error err;
};

static const struct kc_tile *whole_of(const struct cut_search *s, uint32_t l)
{
    return &s->task->network.layer[l].whole;
}

static uint64_t uops_of(const struct cut_search *s, uint32_t l, struct uop_cut cut)
{
    const uint64_t tiles = uop_cut_count(whole_of(s, l), cut);
    const uint64_t parts = (whole_of(s, l)->c - 1) / cut.ic + 1;
    return tile_times(s->rules, l) *
           (tiles + (s->rules->sums == UOP_SUMS_REDUCE && parts > 1 ? tiles / parts : 0));
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
    const struct kc_tile tile = uop_cut_tile(whole_of(s, l), s->cut[l]);
    return log((double)kc_cycle(&s->task->machine, &tile));
}

/* Another tile for a layer, `change` away from its latency in logarithms or next to that in the list. */
static struct uop_cut other_tile(const struct cut_search *s, uint32_t l, double change,
                                 struct random_stream *random)
{
    const struct tile *tile = &s->lists->tile[s->lists->first[l]];
    const uint32_t n = s->lists->n[l];
    if (n == 0) /* nothing but what the start has */
        return s->cut[l];
    const uint32_t i = tile_nearest(s->lists, l, log_cycle_of(s, l) + change) + random_below(random, 5);
    return tile[i < 2 ? 0 : i - 2 < n ? i - 2 : n - 1].cut;
}

/* One of the four sizes of a cut, the layer's, and what it is a multiple of. */
struct side {
    uint32_t *size, whole, unit;
    const struct kc_tile *groups; /* of output channels, where the layer has groups of these; else NULL */
    bool is_even;                 /* sizes that divide the whole are better (tile_even_size) */
};

static struct side side_of(const struct cut_search *s, uint32_t l, struct uop_cut *cut, uint32_t i)
{
    const struct kc_tile *whole = whole_of(s, l);
    const struct kc_machine *machine = &s->task->machine;
    const bool is_node = machine->n_mac != 0;
    const struct side side[] = {
        {&cut->h, whole->p, 1, NULL, false},
        {&cut->w, whole->q, 1, NULL, false},
        {&cut->ic, whole->c, machine->c_lane, NULL, is_node},
        {&cut->oc, whole->k, machine->k_lane, whole->g > 1 ? whole : NULL, is_node && whole->g <= 1}};
    return side[i];
}

static uint32_t parts_of(const struct side *side)
{
    if (side->groups)
        return (uint32_t)uop_cut_oc_count(side->groups, (struct uop_cut){.oc = *side->size});
    return (side->whole - 1) / *side->size + 1;
}

static void set_parts(const struct side *side, uint32_t parts)
{
    *side->size = side->groups ? tile_oc_of_parts(side->groups, side->unit, parts)
                               : tile_size_of_parts(side->whole, side->unit, parts);
    if (side->is_even)
        *side->size = tile_even_size(side->whole, *side->size);
}

/* One part more or less, twice or half as many. */
static void change_parts(const struct cut_search *s, uint32_t l, struct uop_cut *cut,
                         struct random_stream *random)
{
    const struct side side = side_of(s, l, cut, random_below(random, 4));
    const uint32_t parts = parts_of(&side);
    const uint32_t other[] = {parts + 1, parts - 1, 2 * parts, (parts + 1) / 2};
    set_parts(&side, other[random_below(random, 4)]);
}

/* Other numbers of parts along two dimensions, by up to a factor of 4.5 each. */
static void exchange_parts(const struct cut_search *s, uint32_t l, struct uop_cut *cut,
                           struct random_stream *random)
{
    for (int i = 0; i < 2; i++) {
        const struct side side = side_of(s, l, cut, random_below(random, 4));
        const double factor = exp(1.5 * (2 * random_unit(random) - 1));
        set_parts(&side, (uint32_t)(parts_of(&side) * factor + 0.5));
    }
}

/* As many parts of the map as the layer before or behind, and half of the time of the channels. */
static void align_parts(const struct cut_search *s, uint32_t l, struct uop_cut *cut,
                        struct random_stream *random)
{
    const bool before = random_below(random, 2);
    if (before ? l == 0 : l + 1 == s->n_layer)
        return;
    const uint32_t other = before ? l - 1 : l + 1, n = random_below(random, 2) ? 4 : 2;
    for (uint32_t i = 0; i < n; i++) {
        struct uop_cut like = s->cut[other];
        const struct side from = side_of(s, other, &like, i), to = side_of(s, l, cut, i);
        set_parts(&to, parts_of(&from));
    }
}

static struct uop_cut other_parts(const struct cut_search *s, uint32_t l, struct random_stream *random)
{
    struct uop_cut cut = s->cut[l];
    const uint32_t kind = random_below(random, 10);
    if (kind < 6)
        change_parts(s, l, &cut, random);
    else if (kind < 8)
        exchange_parts(s, l, &cut, random);
    else
        align_parts(s, l, &cut, random);
    return uop_cut_clip(whole_of(s, l), cut);
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
        const struct uop_cut larger =
            s->by_parts ? other_parts(s, l, random) : other_tile(s, l, change_of(random), random);
        if (uops_of(s, l, larger) < uops_of(s, l, s->cut[l]))
            give_tile(s, l, larger, false);
    }
    return uops_of_all(s) <= s->rules->max_uops;
}

/* Tiles of a layer's list fit it; those of another layer's need not, and other numbers of parts. */
static bool all_fit(const struct cut_search *s)
{
    for (uint32_t l = 0; l < s->n_layer; l++) {
        const struct uop_need need = uop_cut_need(whole_of(s, l), s->cut[l]);
        if (!uop_need_fits(&need, s->rules->sram, &s->task->machine))
            return false;
    }
    return true;
}

static void change_layer(struct cut_search *s, struct random_stream *random)
{
    const uint32_t l = random_below(random, s->n_layer);
    const bool all_alike = random_below(random, 2);
    if (s->by_parts) {
        give_tile(s, l, other_parts(s, l, random), all_alike);
        return;
    }
    const double change = change_of(random);
    give_tile(s, l, other_tile(s, l, random_below(random, 2) ? change : -change, random), all_alike);
}

static bool move(struct cut_search *s, struct random_stream *random)
{
    change_layer(s, random);
    if (s->by_parts && random_below(random, 3) == 0)
        change_layer(s, random);
    return make_room(s, random) && memcmp(s->cut, s->before, s->n_layer * sizeof *s->cut) != 0 &&
           (!(s->by_map || s->by_parts) || all_fit(s));
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
    s->status = cut_price(s->pricer, s->cut, limit, &s->last_cycle, &s->err);
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

static struct uop_cut *best_at(const struct cut_search *s, uint32_t i)
{
    return s->best + (size_t)(i % CUT_SEARCH_BESTS) * s->n_layer;
}

static void keep(void *self)
{
    struct cut_search *s = self;
    memcpy(best_at(s, s->n_best), s->cut, s->n_layer * sizeof *s->cut);
    s->best_cycle[s->n_best++ % CUT_SEARCH_BESTS] = s->last_cycle;
}

static void restore(void *self)
{
    struct cut_search *s = self;
    memcpy(s->cut, best_at(s, s->n_best - 1), s->n_layer * sizeof *s->cut);
}

enum dse_status cut_search_new(struct cut_pricer *pricer, const struct tile_lists *lists,
                               const struct uop_cut *cut, uint64_t cycle, bool by_map, uint64_t n_round,
                               struct random_stream stream, struct arena *arena, struct cut_search **made,
                               struct dse_error *err)
{
    const uint32_t n_layer = pricer->task->network.n_layer;
    struct cut_search *s = arena_alloc(arena, 1, sizeof *s);
    struct uop_cut *cuts = arena_alloc(arena, (size_t)(2 + CUT_SEARCH_BESTS) * n_layer, sizeof *cuts);
    DSE_TRY(arena_check(arena, "a search of partitions", err));
    *s = (struct cut_search){.task = pricer->task,
                             .rules = pricer->rules,
                             .lists = lists,
                             .pricer = pricer,
                             .n_layer = n_layer,
                             .by_map = by_map,
                             .by_parts = pricer->in_blocks,
                             .cut = cuts,
                             .before = cuts + n_layer,
                             .best = cuts + (size_t)2 * n_layer,
                             .last_cycle = cycle};
    memcpy(s->cut, cut, n_layer * sizeof *cut);
    *made = s;
    const struct annealing_space space = {s, propose, undo, keep, restore};
    const struct annealing_options options = {.rule = ANNEALING_RELATIVE,
                                              .n_round = n_round,
                                              .first_temperature =
                                                  s->by_parts ? first_temperature_blocks : first_temperature,
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

const struct uop_cut *cut_search_best(const struct cut_search *search, uint32_t i, uint64_t *cycle)
{
    if (i >= search->n_best || i >= CUT_SEARCH_BESTS)
        return NULL;
    *cycle = search->best_cycle[(search->n_best - 1 - i) % CUT_SEARCH_BESTS];
    return best_at(search, search->n_best - 1 - i);
}
