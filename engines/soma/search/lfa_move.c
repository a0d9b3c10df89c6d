/* One function per kind of move, by place in the computing order; the shares of the kinds are those of the
 * paper, of the published program or of Cocco. */
#include "engines/soma/search/lfa_move.h"

#include <string.h>

#include "engines/soma/notation/tile_plan.h"
#include "engines/soma/search/initial.h"

enum { GROUP_TRIES = 30 }; /* of the published program */

/* Of the published program's changes to layer groups (reference page); the rest moves a border. */
static const double fuse_share = 0.3, split_share = 0.3;

/* Of the paper's moves of fine-grained borders, those that remove one. Most borders between groups of one
 * tile cost nothing, so with as many added the groups would fall apart by chance, and nothing moves them
 * together. */
static const double delete_share = 0.7;

/* By enum soma_moves. Published: the program's. Cocco: the reconstruction's. The paper gives none for its
 * own; docs/soma-search.md says how these were chosen. */
static const struct soma_move_shares usual_shares[] = {
    [SOMA_MOVES_PAPER] = {.order = 0.1, .tiling = 0.4, .flc = 0.3, .cut = 0.2},
    [SOMA_MOVES_PUBLISHED] = {.order = 0.2, .tiling = 0.35, .flc = 0.15, .cut = 0.3},
    [SOMA_MOVES_COCCO] = {.order = 0.4, .cut = 0.6},
};

void soma_mover_init(const struct soma_search *search, enum soma_moves moves,
                     const struct soma_move_shares *shares, struct arena *arena, struct soma_mover *mover)
{
    size_t n = search->context.network->n_layer;
    bool given = shares && shares->order + shares->tiling + shares->flc + shares->cut > 0;
    *mover = (struct soma_mover){
        .search = search, .moves = moves, .shares = given ? *shares : usual_shares[moves]};
    mover->place = arena_alloc(arena, n, sizeof *mover->place);
    mover->choice = arena_alloc(arena, n, sizeof *mover->choice);
    mover->low = arena_alloc(arena, n, sizeof *mover->low);
    mover->high = arena_alloc(arena, n, sizeof *mover->high);
}

/* ---- groups ---- */

/* The group that the layer at a place is in. */
static uint32_t group_at(const struct soma_lfa *lfa, uint32_t place)
{
    uint32_t low = 0, high = lfa->n_flc;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (lfa->flc[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void remove_group(struct soma_lfa *lfa, uint32_t g)
{
    size_t n = lfa->n_flc-- - g - 1;
    memmove(lfa->flc + g, lfa->flc + g + 1, n * sizeof *lfa->flc);
    memmove(lfa->tiling + g, lfa->tiling + g + 1, n * sizeof *lfa->tiling);
    memmove(lfa->dram_cut + g, lfa->dram_cut + g + 1, n * sizeof *lfa->dram_cut);
}

/* A border before the layer at `place`; both sides keep the tiling number. Returns the group behind it, which
 * may have been there. */
static uint32_t add_border(struct soma_lfa *lfa, uint32_t place)
{
    uint32_t g = group_at(lfa, place);
    if (lfa->flc[g] == place)
        return g;
    size_t n = lfa->n_flc++ - g;
    memmove(lfa->flc + g + 1, lfa->flc + g, n * sizeof *lfa->flc);
    memmove(lfa->tiling + g + 1, lfa->tiling + g, n * sizeof *lfa->tiling);
    memmove(lfa->dram_cut + g + 1, lfa->dram_cut + g, n * sizeof *lfa->dram_cut);
    lfa->flc[g + 1] = place;
    lfa->dram_cut[g + 1] = false;
    return g + 1;
}

/* Group g becomes one with the group before it. The tiling number is that of either, by its share of the
 * layers. */
static void merge_group(struct soma_lfa *lfa, uint32_t g, struct random_stream *stream)
{
    uint32_t left = lfa->flc[g] - lfa->flc[g - 1], right = soma_group_stop(lfa, g) - lfa->flc[g];
    if (random_below(stream, left + right) < right)
        lfa->tiling[g - 1] = lfa->tiling[g];
    remove_group(lfa, g);
}

/* Cocco: a group needs as many tiles as the layer of it that needs most. Where an output cannot be cut into
 * them it is not valid. */
static void derive_tilings(const struct soma_mover *mover, struct soma_lfa *lfa)
{
    for (uint32_t g = 0; g < lfa->n_flc; g++) {
        uint32_t stop = soma_group_stop(lfa, g);
        lfa->tiling[g] = 1;
        for (uint32_t at = lfa->flc[g]; at < stop; at++)
            if (mover->need[lfa->order[at]] > lfa->tiling[g])
                lfa->tiling[g] = mover->need[lfa->order[at]];
    }
}

/* ---- order ---- */

/* Fill mover->low and high with the places between which a layer may stand, by its place now. */
static void find_slack(const struct soma_mover *mover, const struct soma_lfa *lfa)
{
    const struct soma_graph *graph = mover->search->context.graph;
    for (uint32_t i = 0; i < lfa->n_layer; i++) {
        mover->place[lfa->order[i]] = i;
        mover->low[i] = 0;
        mover->high[i] = lfa->n_layer - 1;
    }
    for (uint32_t o = 0; o < graph->n_operand; o++) {
        if (graph->operand[o].source < 0)
            continue;
        uint32_t to = mover->place[graph->operand[o].layer], from = mover->place[graph->operand[o].source];
        if (mover->low[to] <= from)
            mover->low[to] = from + 1;
        if (mover->high[from] >= to)
            mover->high[from] = to - 1;
    }
}

static void take_out(struct soma_lfa *lfa, uint32_t from)
{
    uint32_t g = group_at(lfa, from);
    bool last = soma_group_stop(lfa, g) - lfa->flc[g] == 1;
    memmove(lfa->order + from, lfa->order + from + 1, (lfa->n_layer - from - 1) * sizeof *lfa->order);
    for (uint32_t h = g + 1; h < lfa->n_flc; h++)
        lfa->flc[h]--;
    if (!last)
        return;
    if (g + 1 < lfa->n_flc)
        lfa->dram_cut[g + 1] |= lfa->dram_cut[g];
    remove_group(lfa, g);
}

/* Put the layer before the one that stands at `to` (of n_layer - 1), into its group or the group of the one
 * before. */
static void put_in(struct soma_lfa *lfa, uint32_t layer, uint32_t to, bool to_left)
{
    memmove(lfa->order + to + 1, lfa->order + to, (lfa->n_layer - to - 1) * sizeof *lfa->order);
    lfa->order[to] = layer;
    uint32_t g = group_at(lfa, to_left ? to - 1 : to);
    while (++g < lfa->n_flc)
        lfa->flc[g]++;
}

static bool move_order(struct soma_mover *mover, struct random_stream *stream, struct soma_lfa *lfa)
{
    uint32_t n = 0;
    find_slack(mover, lfa);
    for (uint32_t i = 0; i < lfa->n_layer; i++)
        if (mover->low[i] < mover->high[i])
            mover->choice[n++] = i;
    if (n == 0)
        return false;
    uint32_t from = mover->choice[random_below(stream, n)], low = mover->low[from];
    uint32_t to = low + random_below(stream, mover->high[from] - low);
    to += to >= from;
    uint32_t layer = lfa->order[from];
    take_out(lfa, from);
    bool to_left = to > from; /* the layer that it passes last, which makes room for it, stands left of it */
    if (mover->moves == SOMA_MOVES_PAPER)
        to_left = random_below(stream, 2);
    put_in(lfa, layer, to, (to_left && to > 0) || to == lfa->n_layer - 1);
    return true;
}

/* ---- tiling numbers ---- */

/* Samples times rows times columns of the group's first layer without a reader in the group. */
static uint64_t output_points(const struct soma_mover *mover, const struct soma_lfa *lfa, uint32_t g)
{
    const struct soma_graph *graph = mover->search->context.graph;
    uint32_t stop = soma_group_stop(lfa, g);
    for (uint32_t at = lfa->flc[g]; at < stop; at++)
        mover->place[lfa->order[at]] = UINT32_MAX; /* in the group */
    uint32_t output = lfa->order[stop - 1];
    for (uint32_t at = lfa->flc[g]; at < stop; at++) {
        uint32_t l = lfa->order[at];
        bool read = false;
        for (uint32_t u = graph->first_use[l]; u < graph->first_use[l + 1] && !read; u++)
            read = mover->place[graph->operand[graph->use[u]].layer] == UINT32_MAX;
        if (!read) {
            output = l;
            break;
        }
    }
    for (uint32_t at = lfa->flc[g]; at < stop; at++)
        mover->place[lfa->order[at]] = 0;
    const struct layer *layer = &graph->network->layer[output];
    return (uint64_t)mover->search->context.batch * layer->p * layer->q;
}

static bool move_tiling(struct soma_mover *mover, struct random_stream *stream, struct soma_lfa *lfa)
{
    uint32_t g = random_below(stream, lfa->n_flc);
    bool up = random_below(stream, 2);
    if (!up && lfa->tiling[g] == 1)
        return false;
    if (up && lfa->tiling[g] > soma_power_below(output_points(mover, lfa, g)) / 2)
        return false;
    lfa->tiling[g] = up ? lfa->tiling[g] * 2 : lfa->tiling[g] / 2;
    return true;
}

/* ---- borders, as in the paper ---- */

/* A uniform group but the first whose dram_cut is `cut`; 0: none. */
static uint32_t choose_group(const struct soma_mover *mover, const struct soma_lfa *lfa, bool cut,
                             struct random_stream *stream)
{
    uint32_t n = 0;
    for (uint32_t g = 1; g < lfa->n_flc; g++)
        if (lfa->dram_cut[g] == cut)
            mover->choice[n++] = g;
    return n > 0 ? mover->choice[random_below(stream, n)] : 0;
}

/* DRAM cuts are among the fine-grained borders: one that is removed takes its cut along. Otherwise layer
 * groups of more bytes than the buffer holds would never be fused, since between groups of one layer group
 * all of a feature map is kept. */
static bool move_border(struct soma_mover *mover, struct random_stream *stream, struct soma_lfa *lfa)
{
    (void)mover;
    if (random_unit(stream) < delete_share) {
        if (lfa->n_flc == 1)
            return false;
        merge_group(lfa, 1 + random_below(stream, lfa->n_flc - 1), stream);
        return true;
    }
    if (lfa->n_flc == lfa->n_layer)
        return false;
    uint32_t place = random_below(stream, lfa->n_layer - lfa->n_flc); /* among those that start no group */
    for (uint32_t g = 0; g < lfa->n_flc && lfa->flc[g] <= place; g++)
        place++;
    (void)add_border(lfa, place);
    return true;
}

static bool move_any_cut(struct soma_mover *mover, struct random_stream *stream, struct soma_lfa *lfa)
{
    bool cut = random_below(stream, 2);
    uint32_t g = choose_group(mover, lfa, cut, stream);
    if (g > 0)
        lfa->dram_cut[g] = !cut;
    return g > 0;
}

/* ---- borders, as in the published program ---- */

/* Groups first .. past-1 of the n-th layer group. */
static void layer_group(const struct soma_lfa *lfa, uint32_t n, uint32_t *first, uint32_t *past)
{
    *first = 0;
    for (uint32_t g = 1; n > 0; g++)
        if (lfa->dram_cut[g]) {
            n--;
            *first = g;
        }
    *past = *first + 1;
    while (*past < lfa->n_flc && !lfa->dram_cut[*past])
        ++*past;
}

static uint32_t count_cuts(const struct soma_lfa *lfa)
{
    uint32_t n = 0;
    for (uint32_t g = 0; g < lfa->n_flc; g++)
        n += lfa->dram_cut[g];
    return n;
}

static bool move_flc_published(struct soma_mover *mover, struct random_stream *stream, struct soma_lfa *lfa)
{
    uint32_t n = count_cuts(lfa);
    (void)mover;
    for (int i = 0; i < GROUP_TRIES; i++) {
        uint32_t first, past;
        layer_group(lfa, random_below(stream, n), &first, &past);
        if (past - first < 2)
            continue;
        merge_group(lfa, first + 1 + random_below(stream, past - first - 1), stream);
        return true;
    }
    return false;
}

static bool split_layer_group(struct random_stream *stream, struct soma_lfa *lfa)
{
    uint32_t first, past;
    layer_group(lfa, random_below(stream, count_cuts(lfa)), &first, &past);
    uint32_t begin = lfa->flc[first], end = past < lfa->n_flc ? lfa->flc[past] : lfa->n_layer;
    if (end - begin < 2)
        return false;
    uint32_t g = add_border(lfa, begin + 1 + random_below(stream, end - begin - 1));
    lfa->dram_cut[g] = true;
    return true;
}

/* The old border stays as one between fine-grained groups, but not in cocco. */
static bool move_cut(const struct soma_mover *mover, struct random_stream *stream, struct soma_lfa *lfa)
{
    uint32_t g = choose_group(mover, lfa, true, stream);
    if (g == 0)
        return false;
    uint32_t first = g - 1, past = g + 1, old = lfa->flc[g];
    while (!lfa->dram_cut[first])
        first--;
    while (past < lfa->n_flc && !lfa->dram_cut[past])
        past++;
    uint32_t begin = lfa->flc[first], end = past < lfa->n_flc ? lfa->flc[past] : lfa->n_layer;
    if (end - begin < 3)
        return false;
    uint32_t place = begin + 1 + random_below(stream, end - begin - 2);
    place += place >= old;
    if (mover->moves == SOMA_MOVES_COCCO) {
        lfa->flc[g] = place;
        return true;
    }
    lfa->dram_cut[g] = false;
    g = add_border(lfa, place);
    lfa->dram_cut[g] = true;
    return true;
}

static bool move_layer_group(struct soma_mover *mover, struct random_stream *stream, struct soma_lfa *lfa)
{
    double kind = random_unit(stream);
    if (kind >= fuse_share + split_share)
        return move_cut(mover, stream, lfa);
    if (kind >= fuse_share)
        return split_layer_group(stream, lfa);
    uint32_t g = choose_group(mover, lfa, true, stream);
    if (g > 0)
        merge_group(lfa, g, stream);
    return g > 0;
}

bool soma_lfa_move(struct soma_mover *mover, struct random_stream *stream, struct soma_lfa *lfa)
{
    const struct soma_move_shares *shares = &mover->shares;
    double kind = random_unit(stream) * (shares->order + shares->tiling + shares->flc + shares->cut);
    bool paper = mover->moves == SOMA_MOVES_PAPER, changed;
    if (kind < shares->order)
        changed = move_order(mover, stream, lfa);
    else if (kind < shares->order + shares->tiling)
        changed = move_tiling(mover, stream, lfa);
    else if (kind < shares->order + shares->tiling + shares->flc)
        changed = paper ? move_border(mover, stream, lfa) : move_flc_published(mover, stream, lfa);
    else
        changed = paper ? move_any_cut(mover, stream, lfa) : move_layer_group(mover, stream, lfa);
    if (changed && mover->need)
        derive_tilings(mover, lfa);
    return changed;
}
