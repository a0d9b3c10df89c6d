/* The best way inwards from a tile, searched once and remembered. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/interstellar/proof.h"

enum { LATE_MOST = 100000 };

static bool solve(struct blocking_search *search, uint32_t v, const struct blocking_node *from, double cutoff,
                  struct inner *out);

/* Whether to go no further: a limit was met, and there is something to show for it or hardly will be. */
static bool leaves_off(struct blocking_search *search, bool found)
{
    return blocking_search_is_over(search) && (found || search->found || ++search->n_late > LATE_MOST);
}

static uint64_t hash_node(const struct blocking_node *node, uint32_t n_dim)
{
    uint64_t hash = 1469598103934665603u;
    for (uint32_t d = 0; d < n_dim; d++)
        hash = (hash ^ node->state[d]) * 1099511628211u;
    return hash ^ hash >> 29;
}

/* The slot of a node in front of level v; a new one is not `used`. NULL: out of memory. */
struct inner *proof_slot(struct blocking_search *search, uint32_t v, const struct blocking_node *from)
{
    struct proof_level *level = &search->proof->level[v];
    const uint32_t n_dim = search->space->model.n_dim;
    if (level->n_inner * 2 >= level->n_slot) {
        const uint32_t n = level->n_slot ? level->n_slot * 4 : 256;
        struct inner *larger = calloc(n, sizeof *larger);
        for (uint32_t i = 0; larger && i < level->n_slot; i++) {
            uint32_t at = (uint32_t)hash_node(&level->inner[i].from, n_dim) & (n - 1);
            while (level->inner[i].used && larger[at].used)
                at = (at + 1) & (n - 1);
            if (level->inner[i].used)
                larger[at] = level->inner[i];
        }
        search->proof->no_memory = search->proof->no_memory || !larger;
        if (!larger)
            return NULL;
        free(level->inner);
        level->inner = larger;
        level->n_slot = n;
    }
    uint32_t at = (uint32_t)hash_node(from, n_dim) & (level->n_slot - 1);
    while (level->inner[at].used && memcmp(&level->inner[at].from, from, n_dim * sizeof from->state[0]) != 0)
        at = (at + 1) & (level->n_slot - 1);
    return &level->inner[at];
}

/* The best way inwards from a node in front of level v, from memory or searched. False when nothing below
 * `cutoff` is there; then `out` has only a bound. */
static bool find_inner(struct blocking_search *search, uint32_t v, const struct blocking_node *from,
                       double cutoff, struct inner *out)
{
    struct inner *slot = proof_slot(search, v, from);
    if (slot && slot->used && (slot->exact || slot->inner_j >= cutoff)) {
        *out = *slot;
        return slot->exact && slot->inner_j < cutoff;
    }
    bool found = solve(search, v, from, cutoff, out);
    slot = proof_slot(search, v, from);
    if (slot) {
        search->proof->level[v].n_inner += !slot->used;
        out->used = true;
        out->exact = found;
        out->from = *from;
        *slot = *out;
    }
    return found;
}

/* Is a known way better in everything? */
static bool is_beaten(const struct way_list *list, const struct way *all, const struct way *way,
                      uint32_t n_tensor)
{
    for (uint32_t i = 0; i < list->n; i++) {
        bool better = all[i].inner_j <= way->inner_j;
        for (uint32_t t = 0; t < n_tensor && better; t++)
            better = all[i].hop[t] <= way->hop[t];
        if (better)
            return true;
    }
    return false;
}

/* Could banks of these shares of each tensor's tile fit? share[t][at] is one over the parts that an array
 * cuts the tile into, by the loops that index the tensor; no part has less. */
static bool may_hold(const struct blocking_space *space, uint32_t v, float *const *share, uint32_t at,
                     const double *tile_word)
{
    const struct blocking_level *inside = &space->model.level[v > 0 ? v - 1 : 0];
    for (uint32_t m = 0; v > 0 && m < inside->n_memory; m++) {
        double words = 0;
        for (uint32_t left = inside->memory[m].tensors; left; left &= left - 1) {
            const uint32_t t = (uint32_t)__builtin_ctz(left);
            words += tile_word[t] * (double)share[t][at];
        }
        if (words > inside->memory[m].most_word * (1 + 1e-5))
            return false;
    }
    return true;
}

/* All ways on from tile i of level v through its array. */
static const struct way_list *ways_from(struct blocking_search *search, uint32_t v, uint32_t i)
{
    const struct blocking_space *space = search->space;
    const struct blocking_array *array = &space->array[v];
    struct blocking_proof *proof = search->proof;
    struct way_list *list = &proof->level[v].ways[i];
    const struct blocking_node *node = &proof->level[v].list.node[i];
    if (list->known)
        return list;
    struct way *all = malloc((array->list.n + 1) * sizeof *all);
    double outer[PROBLEM_DIM_MAX], tile_word[PROBLEM_TENSOR_MAX];
    space_outer(space, layer_tile(&space->model, v), node, outer);
    space_tile_words(space, layer_tile(&space->model, v), node, tile_word);
    const double inside_j = v > 0 ? proof_bound_from(search, v - 1, outer) : 0;
    proof->no_memory = proof->no_memory || !all;
    for (uint32_t w = 0; all && w < array->n_word; w++) {
        uint64_t open =
            may_hold(space, v, array->least_share, w, tile_word) ? space_open_choices(space, v, node, w) : 0;
        for (; open && !leaves_off(search, list->n > 0); open &= open - 1) {
            struct way way = {inside_j, 64 * w + (uint32_t)__builtin_ctzll(open), {0}};
            struct blocking_node bank;
            struct inner inner = {.inner_j = 0};
            memcpy(way.hop, array->list.choice[way.choice].hop, sizeof way.hop);
            if (!may_hold(space, v, array->share, way.choice, tile_word) ||
                is_beaten(list, all, &way, space->model.n_tensor) ||
                !space_choose(space, v, way.choice, node, &bank))
                continue;
            if (v > 0 && !find_inner(search, v - 1, &bank, search->best_j - proof->slack_j[v - 1], &inner))
                continue;
            way.inner_j = inner.inner_j;
            if (!is_beaten(list, all, &way, space->model.n_tensor))
                all[list->n++] = way;
        }
    }
    list->way = arena_alloc_unset(&proof->arena, list->n + 1, sizeof *list->way);
    proof->no_memory = proof->no_memory || !list->way;
    if (list->way && all)
        memcpy(list->way, all, list->n * sizeof *all);
    list->known = true;
    free(all);
    return list;
}

/* Try tile i of level v's list behind `from`: better than out->inner_j by order k? */
void proof_try_tile(struct blocking_search *search, uint32_t v, const struct blocking_node *from, uint32_t i,
                    struct inner *out)
{
    const struct blocking_space *space = search->space;
    struct proof_level *level = &search->proof->level[v];
    const struct blocking_node *tile = &level->list.node[i];
    const struct way_list *ways = level->ways ? ways_from(search, v, i) : NULL;
    if (ways && ways->n == 0)
        return;
    double energy_j[BLOCKING_ORDER_MAX], count[BLOCKING_ORDER_MAX][PROBLEM_TENSOR_MAX];
    const uint32_t n = space_level_energies(space, v, from, tile, energy_j, count);
    double least = energy_j[0];
    for (uint32_t k = 1; k < n; k++)
        least = fmin(least, energy_j[k]);
    if (!ways) {
        struct inner inner = {.inner_j = 0};
        if (v > 0 && !find_inner(search, v - 1, tile, out->inner_j - least, &inner))
            return;
        for (uint32_t k = 0; k < n; k++)
            if (energy_j[k] + inner.inner_j < out->inner_j) {
                out->inner_j = energy_j[k] + inner.inner_j;
                out->tile = i;
                out->order = k;
            }
        return;
    }
    for (uint32_t w = 0; w < ways->n; w++)
        for (uint32_t k = 0; k < n; k++) {
            double sum = energy_j[k] + ways->way[w].inner_j;
            for (uint32_t t = 0; t < space->model.n_tensor; t++)
                sum += space->model.level[v].hop_j[t] * count[k][t] * ways->way[w].hop[t];
            if (sum < out->inner_j) {
                out->inner_j = sum;
                out->tile = i;
                out->order = k;
                out->choice = ways->way[w].choice;
            }
        }
}

/* Try the tiles of level v in the order of order k's key, until none can be better than out->inner_j or,
 * after a limit, one is better than `cutoff`. */
static void scan(struct blocking_search *search, uint32_t v, const struct blocking_node *from,
                 struct sorted_list *list, double outer_j, double cutoff, struct inner *out)
{
    for (uint32_t word = 0; 64 * word < list->n; word++) {
        if (list->tile[64 * word].key + outer_j >= out->inner_j || leaves_off(search, out->inner_j < cutoff))
            return;
        uint64_t reached = proof_reached(search, v, list, from, word);
        for (; reached; reached &= reached - 1) {
            const struct sorted_tile *tile = &list->tile[64 * word + (uint32_t)__builtin_ctzll(reached)];
            if (tile->key + outer_j >= out->inner_j)
                return;
            proof_try_tile(search, v, from, tile->tile, out);
        }
    }
}

/* The best way inwards from a node in front of level v, if it costs less than `cutoff`. */
static bool solve(struct blocking_search *search, uint32_t v, const struct blocking_node *from, double cutoff,
                  struct inner *out)
{
    const struct blocking_space *space = search->space;
    struct proof_level *level = &search->proof->level[v];
    double outer[PROBLEM_DIM_MAX];
    *out = (struct inner){.inner_j = cutoff};
    space_outer(space, layer_tile(&space->model, v) - 1, from, outer);
    for (uint32_t k = 0; k < level->n_order; k++) {
        const double outer_j = proof_outer_part(space, v, k, outer);
        if (level->least_key[k] + outer_j >= out->inner_j)
            continue;
        if (!level->sorted[k])
            level->sorted[k] = proof_sorted(search, v, k);
        if (!level->sorted[k])
            return false;
        scan(search, v, from, level->sorted[k], outer_j, cutoff, out);
    }
    return out->inner_j < cutoff;
}

void proof_level_free(struct proof_level *level)
{
    free(level->list.node);
    free(level->key);
    free(level->ways);
    free(level->inner);
}
