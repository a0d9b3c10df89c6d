/* The moves, all local: tiling numbers, borders, layers, prefetch distance, and grafts of groups from
 * another point. */
#include "engines/soma/search/plus_point.h"

#include <string.h>

enum { TILING_MAX = 1 << 16, LONGEST_GROUP = 24, LEAD_STEP = 8, GRAFT_GROUPS = 6, GATHERED = 3 };

void plus_point_new(uint32_t n_layer, struct arena *arena, struct plus_point *point)
{
    *point = (struct plus_point){.n_layer = n_layer};
    point->order = arena_alloc(arena, n_layer, sizeof *point->order);
    point->tiling = arena_alloc(arena, n_layer, sizeof *point->tiling);
    point->border = arena_alloc(arena, n_layer, sizeof *point->border);
    point->lead = arena_alloc(arena, n_layer, sizeof *point->lead);
}

void plus_point_copy(const struct plus_point *from, struct plus_point *to)
{
    to->n_layer = from->n_layer;
    memcpy(to->order, from->order, from->n_layer * sizeof *to->order);
    memcpy(to->tiling, from->tiling, from->n_layer * sizeof *to->tiling);
    memcpy(to->border, from->border, from->n_layer * sizeof *to->border);
    memcpy(to->lead, from->lead, from->n_layer * sizeof *to->lead);
}

void plus_point_lfa(const struct plus_point *point, struct soma_lfa *lfa)
{
    lfa->n_layer = point->n_layer;
    lfa->n_flc = 0;
    for (uint32_t i = 0; i < point->n_layer; i++) {
        lfa->order[i] = point->order[i];
        if (point->border[i] == PLUS_NONE)
            continue;
        lfa->flc[lfa->n_flc] = i;
        lfa->tiling[lfa->n_flc] = point->tiling[i];
        lfa->dram_cut[lfa->n_flc++] = point->border[i] == PLUS_CUT;
    }
}

void plus_point_of(const struct soma_lfa *lfa, struct plus_point *point)
{
    point->n_layer = lfa->n_layer;
    for (uint32_t i = 0, g = 0; i < lfa->n_layer; i++) {
        if (g + 1 < lfa->n_flc && lfa->flc[g + 1] == i)
            g++;
        point->order[i] = lfa->order[i];
        point->tiling[i] = lfa->tiling[g];
        point->border[i] = lfa->flc[g] != i ? PLUS_NONE : lfa->dram_cut[g] ? PLUS_CUT : PLUS_GROUP;
    }
}

/* ---- groups ---- */

static uint32_t group_start(const struct plus_point *point, uint32_t at)
{
    while (point->border[at] == PLUS_NONE)
        at--;
    return at;
}

static uint32_t group_stop(const struct plus_point *point, uint32_t at)
{
    do
        at++;
    while (at < point->n_layer && point->border[at] == PLUS_NONE);
    return at;
}

/* Of the group that the layer at a place is in. */
static uint32_t last_layer(const struct plus_point *point, uint32_t at)
{
    return point->order[group_stop(point, at) - 1];
}

static void set_tiling(struct plus_point *point, uint32_t at, uint32_t tiling)
{
    uint32_t stop = group_stop(point, at);
    for (uint32_t i = group_start(point, at); i < stop; i++)
        point->tiling[i] = tiling;
}

/* A divisor of n > 0, each as likely. */
static uint32_t any_divisor(struct random_stream *stream, uint32_t n)
{
    uint32_t n_found = 0, divisor = 1;
    for (uint32_t d = 1; (uint64_t)d * d <= n; d++) {
        if (n % d != 0)
            continue;
        if (random_below(stream, ++n_found) == 0)
            divisor = d;
        if (d != n / d && random_below(stream, ++n_found) == 0)
            divisor = n / d;
    }
    return divisor;
}

/* A number that cuts all rows of `layer`, a group's last, into equal tiles; too many rows: `tiling`. */
static uint32_t equal_tiling(const struct soma_context *context, struct random_stream *stream, uint32_t layer,
                             uint32_t tiling)
{
    uint64_t row = (uint64_t)context->batch * context->network->layer[layer].p;
    return row <= TILING_MAX ? any_divisor(stream, (uint32_t)row) : tiling;
}

/* Mostly twice or half; else one more or less, three times, or a number that cuts the rows of the group's
 * last layer into equal tiles: what lies between two of those may cost more than either. */
static uint32_t other_tiling(const struct soma_context *context, struct random_stream *stream, uint32_t layer,
                             uint32_t tiling)
{
    uint32_t kind = random_below(stream, 20);
    if (kind >= 16)
        return equal_tiling(context, stream, layer, tiling);
    if (kind < 7)
        return tiling < TILING_MAX ? 2 * tiling : tiling;
    if (kind < 13)
        return tiling / 2 > 0 ? tiling / 2 : 1;
    if (kind == 13)
        return tiling < TILING_MAX ? 3 * tiling : tiling;
    if (kind == 14)
        return tiling + 1;
    return tiling > 1 ? tiling - 1 : 1;
}

bool plus_refine(struct plus_point *point, uint32_t layer)
{
    uint32_t at = 0;
    while (point->order[at] != layer)
        at++;
    uint64_t n_layer = group_stop(point, at) - group_start(point, at);
    if (n_layer * point->tiling[at] >= TILING_MAX)
        return false;
    set_tiling(point, at, 2 * point->tiling[at]);
    return true;
}

/* ---- moves ---- */

/* A place; each layer as likely as another, in however many parts it is. */
static uint32_t any_place(const struct soma_context *context, struct random_stream *stream,
                          const struct plus_point *point)
{
    uint32_t at = random_below(stream, point->n_layer);
    const uint32_t *n_part = context->graph->n_part;
    while (n_part && random_below(stream, n_part[point->order[at]]) > 0)
        at = random_below(stream, point->n_layer);
    return at;
}

static bool move_tiling(const struct soma_context *context, struct random_stream *stream,
                        struct plus_point *point)
{
    uint32_t at = any_place(context, stream, point);
    uint32_t tiling = other_tiling(context, stream, last_layer(point, at), point->tiling[at]);
    if (tiling == point->tiling[at])
        return false;
    set_tiling(point, at, tiling);
    return true;
}

/* The same change for all groups from one to another. */
static bool move_tilings(struct random_stream *stream, struct plus_point *point)
{
    uint32_t from = random_below(stream, point->n_layer);
    uint32_t to = from + random_below(stream, point->n_layer - from);
    bool finer = random_below(stream, 2) != 0, changed = false;
    from = group_start(point, from);
    to = group_stop(point, to);
    for (uint32_t i = from; i < to; i++) {
        uint32_t tiling = point->tiling[i];
        tiling = !finer ? (tiling + 1) / 2 : tiling < TILING_MAX ? 2 * tiling : tiling;
        changed |= tiling != point->tiling[i];
        point->tiling[i] = tiling;
    }
    return changed;
}

/* A new border, often with another tiling number on one side. */
static bool add_border(const struct soma_context *context, struct random_stream *stream,
                       struct plus_point *point)
{
    uint32_t at = any_place(context, stream, point);
    if (point->border[at] != PLUS_NONE)
        return false;
    point->border[at] = random_below(stream, 3) == 0 ? PLUS_CUT : PLUS_GROUP;
    uint32_t side = random_below(stream, 3);
    uint32_t of = side == 1 ? at : at - 1;
    if (side > 0)
        set_tiling(point, of, other_tiling(context, stream, last_layer(point, of), point->tiling[of]));
    return true;
}

/* A place behind the first with a border; 0: none found. */
static uint32_t pick_border(struct random_stream *stream, const struct plus_point *point)
{
    uint32_t n = 0, picked = 0;
    for (uint32_t i = 1; i < point->n_layer; i++)
        if (point->border[i] != PLUS_NONE && random_below(stream, ++n) == 0)
            picked = i;
    return picked;
}

/* Joined groups take the tiling number of either, more likely the longer one's. */
static void join(struct random_stream *stream, struct plus_point *point, uint32_t at)
{
    uint32_t start = group_start(point, at - 1), stop = group_stop(point, at);
    bool left = random_below(stream, stop - start) < at - start;
    uint32_t tiling = left ? point->tiling[start] : point->tiling[at];
    point->border[at] = PLUS_NONE;
    set_tiling(point, start, tiling);
}

static bool remove_border(struct random_stream *stream, struct plus_point *point)
{
    uint32_t at = pick_border(stream, point);
    if (at == 0)
        return false;
    join(stream, point, at);
    return true;
}

static bool change_border(struct random_stream *stream, struct plus_point *point)
{
    uint32_t at = pick_border(stream, point);
    if (at == 0)
        return false;
    point->border[at] = point->border[at] == PLUS_CUT ? PLUS_GROUP : PLUS_CUT;
    return true;
}

/* A border goes to another place between its neighbours. */
static bool shift_border(struct random_stream *stream, struct plus_point *point)
{
    uint32_t at = pick_border(stream, point);
    if (at == 0)
        return false;
    uint32_t start = group_start(point, at - 1), stop = group_stop(point, at);
    if (stop - start < 3)
        return false;
    uint32_t to = start + 1 + random_below(stream, stop - start - 2);
    to += to >= at;
    uint8_t border = point->border[at];
    uint32_t left = point->tiling[start], right = point->tiling[at];
    point->border[at] = PLUS_NONE;
    point->border[to] = border;
    for (uint32_t i = start; i < stop; i++)
        point->tiling[i] = i < to ? left : right;
    return true;
}

/* The layer at one place goes to another, and borders stay where they are: layers between move by one. */
static void move_past_borders(struct plus_point *point, uint32_t from, uint32_t to)
{
    uint32_t l = point->order[from];
    for (; from < to; from++)
        point->order[from] = point->order[from + 1];
    for (; from > to; from--)
        point->order[from] = point->order[from - 1];
    point->order[to] = l;
}

/* The layer leaves its group for the other place; all others keep theirs. What stands at `to` is then to be
 * set. */
static void take_out(struct plus_point *point, uint32_t from, uint32_t to)
{
    uint8_t left = point->border[from];
    if (from + 1 < point->n_layer && left > point->border[from + 1])
        point->border[from + 1] = left;
    for (uint32_t i = from; i < to; i++) {
        point->border[i] = point->border[i + 1];
        point->tiling[i] = point->tiling[i + 1];
    }
    for (uint32_t i = from; i > to; i--) {
        point->border[i] = point->border[i - 1];
        point->tiling[i] = point->tiling[i - 1];
    }
    move_past_borders(point, from, to);
}

/* The layer at `to`, just put there, joins the group around it; between groups it joins either or becomes one
 * of its own, with one tile, with as many as before, or as its neighbour. */
static void take_in(struct random_stream *stream, struct plus_point *point, uint32_t to, uint32_t tiling)
{
    uint32_t n = point->n_layer, next = to + 1 < n ? point->border[to + 1] : PLUS_CUT;
    uint32_t kind = next == PLUS_NONE ? 1 : random_below(stream, 4);
    if (to > 0 && kind == 0) { /* the one before */
        point->border[to] = PLUS_NONE;
        point->tiling[to] = point->tiling[to - 1];
    } else if (to + 1 < n && kind <= 1) { /* the one behind */
        point->border[to] = point->border[to + 1];
        point->border[to + 1] = PLUS_NONE;
        point->tiling[to] = point->tiling[to + 1];
    } else {
        bool behind = to == 0 || (next == PLUS_CUT && to + 1 < n && random_below(stream, 2) == 0);
        uint32_t near = point->tiling[to > 0 ? to - 1 : to + 1], of = random_below(stream, 3);
        point->border[to] = behind ? PLUS_CUT : PLUS_GROUP;
        point->tiling[to] = of == 0 ? 1 : of == 1 ? tiling : near;
        if (behind)
            point->border[to + 1] = PLUS_GROUP;
    }
}

/* A layer goes to another place between its last producer and its first consumer, often to a border. */
static bool move_layer(const struct soma_graph *graph, struct random_stream *stream, uint32_t *where,
                       struct plus_point *point)
{
    uint32_t from = random_below(stream, point->n_layer), l = point->order[from], to;
    uint32_t low = 0, high = point->n_layer - 1, border = 0;
    for (uint32_t i = 0; i < point->n_layer; i++)
        where[point->order[i]] = i;
    for (uint32_t o = graph->first_operand[l]; o < graph->first_operand[l + 1]; o++) {
        int32_t source = graph->operand[o].source;
        if (source >= 0 && where[source] >= low)
            low = where[source] + 1;
    }
    for (uint32_t u = graph->first_use[l]; u < graph->first_use[l + 1]; u++) {
        uint32_t reader = where[graph->operand[graph->use[u]].layer];
        if (reader <= high)
            high = reader - 1;
    }
    if (low >= high)
        return false;
    to = low + random_below(stream, high - low);
    to += to >= from;
    if (random_below(stream, 2) == 0) {
        border = pick_border(stream, point);
        border -= border > from;
    }
    if (border >= low && border <= high && border != from && border > 0)
        to = border;
    if (random_below(stream, 3) == 0) {
        move_past_borders(point, from, to);
        return true;
    }
    uint32_t tiling = point->tiling[from];
    take_out(point, from, to);
    take_in(stream, point, to, tiling);
    return true;
}

/* Whether a layer reads `source`, and all else that it reads stands before a place. `where` by layer. */
static bool may_follow(const struct soma_graph *graph, const uint32_t *where, uint32_t layer, uint32_t source,
                       uint32_t at)
{
    bool reads = false;
    for (uint32_t o = graph->first_operand[layer]; o < graph->first_operand[layer + 1]; o++) {
        int32_t from = graph->operand[o].source;
        if (from >= 0 && where[from] >= at)
            return false;
        reads |= from == (int32_t)source;
    }
    return reads;
}

/* The layers from `to` to before `stop`, just put behind what they read, join its group, or make one that
 * ends with them: alone, with that layer, or with all that its group has up to there. */
static void gather_in(const struct soma_context *context, struct random_stream *stream,
                      struct plus_point *point, uint32_t to, uint32_t stop, uint32_t tiling)
{
    uint32_t kind = random_below(stream, 4), of = random_below(stream, 4), start = kind == 0 ? to : to - 1;
    uint32_t near = point->tiling[to - 1];
    if (stop < point->n_layer && point->border[stop] == PLUS_NONE && kind < 3)
        point->border[stop] = PLUS_GROUP;
    for (uint32_t i = to; i < stop; i++) {
        point->border[i] = PLUS_NONE;
        point->tiling[i] = near;
    }
    if (kind < 2 && point->border[start] == PLUS_NONE)
        point->border[start] = PLUS_GROUP;
    uint32_t last = last_layer(point, to);
    if (of == 1)
        set_tiling(point, to, tiling);
    else if (of == 2)
        set_tiling(point, to, other_tiling(context, stream, last, near));
    else if (of == 3)
        set_tiling(point, to, equal_tiling(context, stream, last, near));
}

/* Up to three layers that read the same go behind it together. One alone may cost more there than where it
 * stands, since what they read stays alive for the others. */
static bool gather_readers(const struct soma_context *context, struct random_stream *stream, uint32_t *where,
                           struct plus_point *point)
{
    const struct soma_graph *graph = context->graph;
    uint32_t at = any_place(context, stream, point), l = point->order[at];
    uint32_t n_operand = graph->first_operand[l + 1] - graph->first_operand[l];
    uint32_t most = 1 + random_below(stream, GATHERED), tiling = point->tiling[at], n = 0;
    int32_t source =
        n_operand > 0 ? graph->operand[graph->first_operand[l] + random_below(stream, n_operand)].source : -1;
    if (source < 0)
        return false;
    for (uint32_t i = 0; i < point->n_layer; i++)
        where[point->order[i]] = i;
    uint32_t to = where[source] + 1;
    for (uint32_t i = at; i < point->n_layer && n < most; i++)
        if (may_follow(graph, where, point->order[i], (uint32_t)source, to))
            take_out(point, i, to + n++);
    if (n > 0)
        gather_in(context, stream, point, to, to + n, tiling);
    return n > 0;
}

/* A stretch of layers becomes one group with a tiling number of its own. */
static bool make_group(const struct soma_context *context, struct random_stream *stream,
                       struct plus_point *point)
{
    uint32_t n = point->n_layer, longest = n < LONGEST_GROUP ? n : LONGEST_GROUP;
    uint32_t start = any_place(context, stream, point), length = 1 + random_below(stream, longest);
    uint32_t stop = start + length < n ? start + length : n;
    uint32_t before = point->tiling[start], tiling = before;
    for (uint32_t k = 1 + random_below(stream, 3); k > 0; k--)
        tiling = other_tiling(context, stream, point->order[stop - 1], tiling);
    if (point->border[start] == PLUS_NONE)
        point->border[start] = PLUS_GROUP;
    if (stop < n && point->border[stop] == PLUS_NONE)
        point->border[stop] = PLUS_GROUP;
    for (uint32_t i = start; i < stop; i++) {
        if (i > start)
            point->border[i] = PLUS_NONE;
        point->tiling[i] = tiling;
    }
    return true;
}

/* The weights of a layer are loaded earlier or later. */
static bool move_lead(const struct soma_graph *graph, struct random_stream *stream, struct plus_point *point)
{
    uint32_t l = random_below(stream, point->n_layer), other = random_below(stream, point->n_layer);
    if (graph->weight_word[other] > graph->weight_word[l])
        l = other; /* large weights matter more */
    if (graph->weight_word[l] == 0)
        return false;
    uint32_t kind = random_below(stream, 4);
    int32_t step = 1 + (int32_t)random_below(stream, LEAD_STEP);
    point->lead[l] = kind == 0 ? 0 : kind == 1 ? point->lead[l] - step : point->lead[l] + step;
    return true;
}

bool plus_graft(struct random_stream *stream, const struct plus_point *donor, struct plus_point *point)
{
    uint32_t n = point->n_layer, start = group_start(donor, random_below(stream, n)), stop = start;
    bool changed = false;
    for (uint32_t k = 1 + random_below(stream, GRAFT_GROUPS); k > 0 && stop < n; k--)
        stop = group_stop(donor, stop);
    for (uint32_t i = start; i < stop; i++)
        if (donor->order[i] != point->order[i])
            return false;
    for (uint32_t i = start; i < stop; i++) {
        uint32_t l = point->order[i];
        changed |= point->border[i] != donor->border[i] || point->tiling[i] != donor->tiling[i] ||
                   point->lead[l] != donor->lead[l];
        point->border[i] = donor->border[i];
        point->tiling[i] = donor->tiling[i];
        point->lead[l] = donor->lead[l];
    }
    if (stop < n && point->border[stop] == PLUS_NONE) {
        point->border[stop] = PLUS_GROUP;
        changed = true;
    }
    return changed;
}

bool plus_move(const struct soma_context *context, struct random_stream *stream, uint32_t *where,
               struct plus_point *point)
{
    uint32_t kind = random_below(stream, 38);
    if (kind < 5)
        return move_tiling(context, stream, point);
    if (kind < 6)
        return move_tilings(stream, point);
    if (kind < 10)
        return add_border(context, stream, point);
    if (kind < 13)
        return remove_border(stream, point);
    if (kind < 15)
        return change_border(stream, point);
    if (kind < 18)
        return shift_border(stream, point);
    if (kind < 20)
        return move_layer(context->graph, stream, where, point);
    if (kind < 24)
        return make_group(context, stream, point);
    if (kind < 25)
        return gather_readers(context, stream, where, point);
    return move_lead(context->graph, stream, point);
}
