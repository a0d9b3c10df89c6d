/* The best way inwards from a tile, searched once and remembered. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/interstellar/proof.h"

enum { LATE_MOST = 100000, LATE_LOOKS = 64, KNOWN_MAX = 1 << 23 };

static bool solve(struct blocking_search *search, uint32_t v, const struct blocking_node *from, uint32_t load,
                  double cutoff, struct inner *out);

/* Whether to go no further: a limit was met, and there is something to show for it or hardly will be. */
static bool leaves_off(struct blocking_search *search, bool found)
{
    if (!blocking_search_is_over(search))
        return false;
    if (++search->n_late % LATE_LOOKS == 0 && blocking_limits_time(search->limits.stop_at_s))
        search->n_late = LATE_MOST;
    return found || search->found || search->limits.answered || search->n_late >= LATE_MOST;
}

static uint64_t hash_node(const struct blocking_node *node, uint32_t load, uint32_t n_dim)
{
    uint64_t hash = 1469598103934665603u + load;
    for (uint32_t d = 0; d < n_dim; d++)
        hash = (hash ^ node->state[d]) * 1099511628211u;
    return hash ^ hash >> 29;
}

struct inner *proof_slot(struct blocking_search *search, uint32_t v, const struct blocking_node *from,
                         uint32_t load)
{
    struct proof_level *level = &search->proof->level[v];
    const uint32_t n_dim = search->space->model.n_dim;
    if (level->n_inner * 2 >= level->n_slot) {
        const uint32_t n = level->n_slot ? level->n_slot * 4 : 256;
        struct inner *larger = calloc(n, sizeof *larger);
        for (uint32_t i = 0; larger && i < level->n_slot; i++) {
            uint32_t at = (uint32_t)hash_node(&level->inner[i].from, level->inner[i].load, n_dim) & (n - 1);
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
    uint32_t at = (uint32_t)hash_node(from, load, n_dim) & (level->n_slot - 1);
    while (level->inner[at].used &&
           (level->inner[at].load != load ||
            memcmp(&level->inner[at].from, from, n_dim * sizeof from->state[0]) != 0))
        at = (at + 1) & (level->n_slot - 1);
    return &level->inner[at];
}

/* The best way inwards from a node in front of level v, from memory or searched. False when nothing below
 * `cutoff` is there; then `out` has only a bound. */
static bool find_inner(struct blocking_search *search, uint32_t v, const struct blocking_node *from,
                       uint32_t load, double cutoff, struct inner *out)
{
    struct inner *slot = proof_slot(search, v, from, load);
    if (slot && slot->used && (slot->exact || slot->inner_j >= cutoff)) {
        *out = *slot;
        return slot->exact && slot->inner_j < cutoff;
    }
    bool found = solve(search, v, from, load, cutoff, out);
    slot = proof_slot(search, v, from, load);
    if (slot) {
        search->proof->level[v].n_inner += !slot->used;
        out->used = true;
        out->exact = found;
        out->from = *from;
        out->load = load;
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
static inline bool may_hold(const struct blocking_space *space, uint32_t v, float *const *share, uint32_t at,
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

/* The iterations of all MACs together at a node, whatever follows: those of padded bounds. */
static double steps_of_all(const struct blocking_space *space, uint32_t v, const struct blocking_node *node)
{
    const uint32_t y = layer_tile(&space->model, v);
    double steps = 1;
    for (uint32_t d = 0; d < space->model.n_dim; d++)
        steps *= (double)space_state(space, y, d, node)->outer * space_state(space, y, d, node)->tile;
    return steps;
}

/* Where a way on from a tile begins. */
struct start {
    uint32_t v, load;
    const struct blocking_node *node;
    double tile_word[PROBLEM_TENSOR_MAX];
    double inside_j; /* levels further in cost no less */
    double cutoff;   /* nor are they asked for if they cost as much */
    double steps;
    bool free; /* hops in the array cost nothing */
};

/* The way through choice c of the array, unless one in `list`, whose ways are `all`, is as good. */
static bool find_way(struct blocking_search *search, const struct start *start, uint32_t c,
                     const struct way_list *list, const struct way *all, struct way *way)
{
    const struct blocking_space *space = search->space;
    const struct blocking_array *array = &space->array[start->v];
    const uint32_t v = start->v, n_tensor = space->model.n_tensor;
    struct blocking_node bank;
    struct inner inner = {.inner_j = 0};
    double cutoff = start->cutoff;
    uint32_t load;
    if (start->free && list->n > 0) /* then the last is the best so far */
        cutoff = fmin(cutoff, all[list->n - 1].inner_j);
    if (!may_hold(space, v, array->share, c, start->tile_word))
        return false;
    search->n_try++;
    *way = (struct way){.inner_j = start->inside_j, .choice = c};
    for (uint32_t t = 0; t < n_tensor; t++)
        way->hop[t] = space->model.level[v].hop_j[t] > 0 ? array->list.choice[c].hop[t] : 0;
    if (is_beaten(list, all, way, n_tensor) || !space_choose(space, v, c, start->node, &bank))
        return false;
    if (isfinite(space->most_cycle)) {
        const double use = search->proof->loads.load[start->load].use *
                           space_use(space, &array->list.choice[c]) * (v > 0 ? space->most_use[v - 1] : 1);
        if (start->steps > space->most_cycle * use)
            return false;
    }
    if (v > 0 && (!proof_load_passed(search, v, start->load, c, &bank, &load) ||
                  !find_inner(search, v - 1, &bank, load, cutoff, &inner)))
        return false;
    way->inner_j = inner.inner_j;
    return !is_beaten(list, all, way, n_tensor);
}

/* The ways on from tile i of level v through its array, with the load behind its temporal step, inside of
 * which is less than below_j, and maybe others. NULL: out of memory. */
static const struct way_list *ways_from(struct blocking_search *search, uint32_t v, uint32_t load, uint32_t i,
                                        double below_j)
{
    const struct blocking_space *space = search->space;
    const struct blocking_array *array = &space->array[v];
    struct blocking_proof *proof = search->proof;
    struct way_list **first = &proof->level[v].ways[i], *list = *first;
    struct start start = {.v = v, .load = load, .node = &proof->level[v].list.node[i]};
    while (list && list->load != load)
        list = list->next;
    if (list && list->below_j >= below_j)
        return list;
    struct way *all = malloc((array->list.n + 1) * sizeof *all);
    double outer[PROBLEM_DIM_MAX];
    const bool again = list != NULL;
    if (!again)
        list = arena_alloc(&proof->arena, 1, sizeof *list);
    proof->no_memory = proof->no_memory || !all || !list;
    if (proof->no_memory) {
        free(all);
        return NULL;
    }
    list->load = load;
    list->n = 0;
    space_outer(space, layer_tile(&space->model, v), start.node, outer);
    space_tile_words(space, layer_tile(&space->model, v), start.node, start.tile_word);
    start.inside_j = v > 0 ? proof_bound_from(search, v - 1, outer, &space->least_debt[v - 1]) : 0;
    start.steps = steps_of_all(space, v, start.node);
    start.cutoff = v > 0 ? search->best_j - proof->slack_j[v - 1] : INFINITY;
    list->below_j = INFINITY;
    if (again) /* less often */
        below_j += below_j - start.inside_j;
    if (below_j < start.cutoff)
        start.cutoff = list->below_j = below_j;
    start.free = true;
    for (uint32_t t = 0; t < space->model.n_tensor; t++)
        start.free = start.free && space->model.level[v].hop_j[t] <= 0;
    for (uint32_t w = 0; w < array->n_word && !leaves_off(search, list->n > 0); w++) {
        uint64_t open = may_hold(space, v, array->least_share, w, start.tile_word)
                            ? space_open_choices(space, v, start.node, w)
                            : 0;
        for (; open; open &= open - 1)
            list->n +=
                find_way(search, &start, 64 * w + (uint32_t)__builtin_ctzll(open), list, all, &all[list->n]);
    }
    list->way = arena_alloc_unset(&proof->arena, list->n + 1, sizeof *list->way);
    proof->no_memory = proof->no_memory || !list->way;
    if (list->way)
        memcpy(list->way, all, list->n * sizeof *all);
    free(all);
    if (!again) {
        list->next = *first;
        *first = list;
    }
    return list->way ? list : NULL;
}

/* What is known of the insides of level v's tiles with this load in front. */
static double *known_of(struct blocking_search *search, uint32_t v, uint32_t load)
{
    struct blocking_proof *proof = search->proof;
    struct proof_level *level = &proof->level[v];
    if (load >= level->n_known_load) {
        const uint32_t n = proof->loads.capacity;
        double **larger = realloc(level->known, n * sizeof *larger);
        if (!larger)
            return NULL;
        memset(larger + level->n_known_load, 0, (n - level->n_known_load) * sizeof *larger);
        level->known = larger;
        level->n_known_load = n;
    }
    if (!level->known[load] && (double)(level->n_known + 1) * level->list.n <= KNOWN_MAX) {
        double *known = arena_alloc_unset(&proof->arena, (size_t)level->list.n + 1, sizeof *known);
        if (known && level->inside)
            memcpy(known, level->inside, level->list.n * sizeof *known);
        level->known[load] = level->inside ? known : NULL;
        level->n_known++;
    }
    return level->known[load];
}

/* What the levels inside tile i of level v's list cost at least is now known to be inner_j, by all ways with
 * this load in front. */
static void learn(struct blocking_search *search, uint32_t v, uint32_t load, uint32_t i, double inner_j)
{
    double *known = known_of(search, v, load);
    if (known && !search->over)
        known[i] = fmax(known[i], inner_j);
}

/* By order k, whose energy at level v is energy_j with so many visits of each tensor (n_tensor), and with the
 * load behind the level's temporal step: better than out->inner_j? *least_j is what is inside at
 * least. */
static void try_order(struct blocking_search *search, uint32_t v, uint32_t i, uint32_t k, uint32_t load,
                      double energy_j, const double *count, struct inner *out, double *least_j)
{
    const struct blocking_space *space = search->space;
    const struct proof_level *level = &search->proof->level[v];
    *least_j = INFINITY;
    if (!level->ways) {
        struct inner inner = {.inner_j = 0};
        uint32_t after = load;
        if (v > 0 && !proof_load_passed(search, v, load, 0, &level->list.node[i], &after))
            return;
        const bool found =
            v == 0 || find_inner(search, v - 1, &level->list.node[i], after, out->inner_j - energy_j, &inner);
        *least_j = inner.inner_j;
        if (found && energy_j + inner.inner_j < out->inner_j)
            *out = (struct inner){.inner_j = energy_j + inner.inner_j, .tile = i, .order = k};
        return;
    }
    const struct way_list *ways = ways_from(search, v, load, i, out->inner_j - energy_j);
    *least_j = ways ? ways->below_j : 0;
    for (uint32_t w = 0; ways && w < ways->n; w++) {
        double sum = energy_j + ways->way[w].inner_j;
        *least_j = fmin(*least_j, ways->way[w].inner_j);
        for (uint32_t t = 0; t < space->model.n_tensor; t++)
            sum += space->model.level[v].hop_j[t] * count[t] * ways->way[w].hop[t];
        if (sum < out->inner_j)
            *out = (struct inner){.inner_j = sum, .tile = i, .order = k, .choice = ways->way[w].choice};
    }
}

void proof_try_tile(struct blocking_search *search, uint32_t v, const struct blocking_node *from,
                    uint32_t load, uint32_t i, struct inner *out)
{
    const struct blocking_space *space = search->space;
    const struct proof_level *level = &search->proof->level[v];
    const struct blocking_node *tile = &level->list.node[i];
    search->n_try++;
    double energy_j[BLOCKING_ORDER_MAX], count[BLOCKING_ORDER_MAX][PROBLEM_TENSOR_MAX];
    double outside[PROBLEM_DIM_MAX], inside[PROBLEM_DIM_MAX];
    space_iterations(space, v, from, tile, outside, inside);
    const uint32_t n = space_level_energies(space, v, outside, inside, &search->proof->loads.load[load].debt,
                                            energy_j, count);
    for (uint32_t i_order = 0; i_order < n; i_order++) { /* the cheapest first: it needs the widest search */
        uint32_t k = 0, served;
        double inner_j = 0;
        for (uint32_t other = 1; other < n; other++)
            k = energy_j[other] < energy_j[k] ? other : k;
        if (energy_j[k] >= out->inner_j)
            return;
        if (proof_load_served(search, v, load, k, outside, inside, count[k], &served))
            try_order(search, v, i, k, served, energy_j[k], count[k], out, &inner_j);
        if (i_order == 0 && isinf(space->most_cycle))
            learn(search, v, load, i, inner_j);
        energy_j[k] = INFINITY;
    }
}

/* Try the tiles of level v in the order of order k's key, until none can be better than out->inner_j or,
 * after a limit, one is better than `cutoff`. */
static void scan(struct blocking_search *search, uint32_t v, const struct blocking_node *from, uint32_t load,
                 struct sorted_list *list, double outer_j, double cutoff, struct inner *out)
{
    const double *inside = search->proof->level[v].inside, *known = known_of(search, v, load);
    for (uint32_t word = 0; 64 * word < list->n; word++) {
        proof_sort_to(list, 64 * word + 64 < list->n ? 64 * word + 64 : list->n);
        if (list->tile[64 * word].key + outer_j >= out->inner_j || leaves_off(search, out->inner_j < cutoff))
            return;
        uint64_t reached = proof_reached(search, v, list, from, word);
        for (; reached; reached &= reached - 1) {
            const struct sorted_tile *tile = &list->tile[64 * word + (uint32_t)__builtin_ctzll(reached)];
            if (tile->key + outer_j >= out->inner_j)
                return;
            if (!known || tile->key + (known[tile->tile] - inside[tile->tile]) + outer_j < out->inner_j)
                proof_try_tile(search, v, from, load, tile->tile, out);
        }
    }
}

/* The best way inwards from a node in front of level v, if it costs less than `cutoff`. */
static bool solve(struct blocking_search *search, uint32_t v, const struct blocking_node *from, uint32_t load,
                  double cutoff, struct inner *out)
{
    const struct blocking_space *space = search->space;
    struct proof_level *level = &search->proof->level[v];
    double outer[PROBLEM_DIM_MAX];
    *out = (struct inner){.inner_j = cutoff};
    space_outer(space, layer_tile(&space->model, v) - 1, from, outer);
    for (uint32_t k = 0; k < level->n_order; k++) {
        const double outer_j = proof_outer_part(space, v, k, outer, &search->proof->loads.load[load].debt);
        if (level->least_key[k] + outer_j >= out->inner_j)
            continue;
        if (!level->sorted[k])
            level->sorted[k] = proof_sorted(search, v, k);
        if (!level->sorted[k])
            return false;
        scan(search, v, from, load, level->sorted[k], outer_j, cutoff, out);
    }
    return out->inner_j < cutoff;
}

void proof_level_free(struct proof_level *level)
{
    free(level->list.node);
    free(level->key);
    free(level->ways);
    free(level->inner);
    free(level->inside);
    free(level->known);
}
