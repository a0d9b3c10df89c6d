/* Branch and bound: the blocking of least energy, proved.
 *
 * What lies inside a level costs the same whatever lies further out led to its tile, so there is one best
 * way inwards from each tile, found once. A level's energy for a tile of the next is, for each loop order,
 * a sum of what depends on the inner tile alone and of the one tensor whose reuse is exclusive, which
 * depends on the outer tile alone. So the inner tiles that fit lie in a list for each order, sorted by the
 * former and a bound of what is inside them, and the search from an outer tile goes down that list until
 * nothing can be better. The outermost level's tiles lie in a heap by their bound; the first that is not
 * better than the best ends the search. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/interstellar/blocking_search.h"

enum { NODES_AT_A_TIME = 16, LATE_MOST = 100000, TILES_A_LOOK = 64 };

/* One way on from a tile: through a choice for the array below its level. */
struct way {
    double inner_j; /* what lies inside, at best */
    uint32_t choice;
    double hop[PROBLEM_TENSOR_MAX];
};

struct way_list {
    bool known;
    uint32_t n;
    struct way *way; /* (n) no other is better in everything; in the arena */
};

/* The best way inwards from a node, once it is known. */
struct inner {
    bool used, exact; /* exact: inner_j is the least; else a bound that was enough at its time */
    struct blocking_node from;
    double inner_j;
    uint32_t tile; /* of the level's list */
    uint32_t order, choice;
};

struct sorted_tile {
    double key;
    uint32_t tile; /* of the list */
    struct blocking_node node;
};

struct proof_level {
    struct node_list list; /* of the layer behind the temporal step of this level */
    double *key;           /* [k](n of the list) for each order; owned */
    double least_key[BLOCKING_ORDER_MAX];
    struct sorted_tile *sorted[BLOCKING_ORDER_MAX]; /* (n_sorted) by key; NULL until asked for */
    uint32_t n_sorted[BLOCKING_ORDER_MAX];
    uint32_t n_order;
    struct way_list *ways; /* (n of the list) owned; NULL without an array */
    struct inner *inner;   /* (n_slot) of nodes in front of this level */
    uint32_t n_inner, n_slot;
};

struct blocking_proof {
    struct arena arena;
    struct proof_level level[ARCH_LEVEL_MAX];
    uint32_t n_heap, *heap;         /* of the outermost level's tiles */
    double *top_key;                /* (n of its list) */
    double slack_j[ARCH_LEVEL_MAX]; /* [v] the least that levels further out than v cost */
    bool no_memory;
};

static bool solve(struct blocking_search *search, uint32_t v, const struct blocking_node *from, double cutoff,
                  struct inner *out);

/* Whether to go no further: a limit was met, and there is something to show for it or hardly will be. */
static bool leaves_off(struct blocking_search *search, bool found)
{
    return blocking_search_is_over(search) && (found || search->found || ++search->n_late > LATE_MOST);
}

/* Is all reuse of tensor t exclusive by order k at level v, so that the inner tile does not count? */
static bool is_free(const struct blocking_model *model, uint32_t v, uint32_t k, uint32_t t)
{
    return (v > 0 || model->mac_holds) && model->order[k].exclusive[t] &&
           !(model->reuse.tensor[t].reuse & ~model->order[k].exclusive[t] & model->loops);
}

/* What so many visits of tensor t's words cost at level v: with at least the hops that no choice spares. */
static double visit_energy(const struct blocking_space *space, uint32_t v, uint32_t t, double count)
{
    const double hops = blocking_has_array(&space->model, v) ? space->array[v].least_hop[t] : 0;
    return blocking_visit_energy(&space->model, v, t, count, isfinite(hops) ? hops : 0);
}

/* The part of order k's energy at level v that the node in front decides. */
static double outer_part(const struct blocking_space *space, uint32_t v, uint32_t k, const double *outer)
{
    const struct blocking_model *model = &space->model;
    double sum = 0;
    for (uint32_t t = 0; t < model->n_tensor; t++)
        if (is_free(model, v, k, t))
            sum += visit_energy(space, v, t, reuse_count(&model->reuse.tensor[t], model->rule, outer));
    return sum;
}

/* The part that the node behind decides, at least. */
static double inner_part(const struct blocking_space *space, uint32_t v, uint32_t k, const double *outer)
{
    const struct blocking_model *model = &space->model;
    const bool ordered = v > 0 || model->mac_holds;
    double sum = 0, product[PROBLEM_DIM_MAX];
    for (uint32_t t = 0; t < model->n_tensor; t++) {
        const uint32_t exclusive = ordered ? model->order[k].exclusive[t] : 0;
        if (is_free(model, v, k, t))
            continue;
        for (uint32_t d = 0; d < model->n_dim; d++)
            product[d] = exclusive >> d & 1 ? 1 : outer[d];
        sum += visit_energy(space, v, t, reuse_count(&model->reuse.tensor[t], model->rule, product));
    }
    return sum;
}

/* At least the energy of level v and all inside it, from a node with these iterations outside. */
static double bound_from(const struct blocking_search *search, uint32_t v, const double *outer)
{
    const struct proof_level *level = &search->proof->level[v];
    double least = INFINITY;
    for (uint32_t k = 0; k < level->n_order; k++)
        least = fmin(least, level->least_key[k] + outer_part(search->space, v, k, outer));
    return least;
}

/* The list of level v with its keys. */
static enum dse_status list_level(struct blocking_search *search, uint32_t v, struct dse_error *err)
{
    const struct blocking_space *space = search->space;
    struct proof_level *level = &search->proof->level[v];
    double outer[PROBLEM_DIM_MAX];
    level->n_order = v > 0 || space->model.mac_holds ? space->model.n_order : 1;
    DSE_TRY(node_list_fill(search, v, &level->list, err));
    level->key = malloc(((size_t)level->list.n * level->n_order + 1) * sizeof *level->key);
    level->ways =
        blocking_has_array(&space->model, v) ? calloc(level->list.n + 1, sizeof *level->ways) : NULL;
    if (!level->key || (blocking_has_array(&space->model, v) && !level->ways))
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u blockings of a level", level->list.n);
    for (uint32_t k = 0; k < level->n_order; k++)
        level->least_key[k] = INFINITY;
    for (uint32_t i = 0; i < level->list.n; i++) {
        space_served(space, v, &level->list.node[i], outer);
        double inside = v > 0 ? bound_from(search, v - 1, outer) : 0;
        for (uint32_t k = 0; k < level->n_order; k++) {
            double key = inner_part(space, v, k, outer) + inside;
            level->key[(size_t)k * level->list.n + i] = key;
            level->least_key[k] = fmin(level->least_key[k], key);
        }
    }
    return DSE_OK;
}

/* ---------------------------------------- from a node inwards */

static uint64_t hash_node(const struct blocking_node *node, uint32_t n_dim)
{
    uint64_t hash = 1469598103934665603u;
    for (uint32_t d = 0; d < n_dim; d++)
        hash = (hash ^ node->state[d]) * 1099511628211u;
    return hash ^ hash >> 29;
}

/* The slot of a node in front of level v; a new one is not `used`. NULL: out of memory. */
static struct inner *inner_slot(struct blocking_search *search, uint32_t v, const struct blocking_node *from)
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
    struct inner *slot = inner_slot(search, v, from);
    if (slot && slot->used && (slot->exact || slot->inner_j >= cutoff)) {
        *out = *slot;
        return slot->exact && slot->inner_j < cutoff;
    }
    bool found = solve(search, v, from, cutoff, out);
    slot = inner_slot(search, v, from);
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
    double outer[PROBLEM_DIM_MAX];
    space_outer(space, layer_tile(&space->model, v), node, outer);
    const double inside_j = v > 0 ? bound_from(search, v - 1, outer) : 0;
    proof->no_memory = proof->no_memory || !all;
    for (uint32_t w = 0; all && w < array->n_word; w++) {
        uint64_t open = UINT64_MAX;
        for (uint32_t d = 0; d < space->model.n_dim; d++)
            open &= array->open[d][(size_t)node->state[d] * array->n_word + w];
        for (; open && !leaves_off(search, list->n > 0); open &= open - 1) {
            struct way way = {inside_j, 64 * w + (uint32_t)__builtin_ctzll(open), {0}};
            struct blocking_node bank;
            struct inner inner = {.inner_j = 0};
            memcpy(way.hop, array->list.choice[way.choice].hop, sizeof way.hop);
            if (is_beaten(list, all, &way, space->model.n_tensor) ||
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
static void try_tile(struct blocking_search *search, uint32_t v, const struct blocking_node *from, uint32_t i,
                     struct inner *out)
{
    const struct blocking_space *space = search->space;
    struct proof_level *level = &search->proof->level[v];
    const struct blocking_node *tile = &level->list.node[i];
    double energy_j[BLOCKING_ORDER_MAX], count[BLOCKING_ORDER_MAX][PROBLEM_TENSOR_MAX];
    const uint32_t n = space_level_energies(space, v, from, tile, energy_j, count);
    double least = energy_j[0];
    for (uint32_t k = 1; k < n; k++)
        least = fmin(least, energy_j[k]);
    if (!level->ways) {
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
    const struct way_list *ways = ways_from(search, v, i);
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

static int compare_tiles(const void *a, const void *b)
{
    const struct sorted_tile *one = a, *two = b;
    return one->key < two->key ? -1 : one->key > two->key ? 1 : one->tile < two->tile ? -1 : 1;
}

/* The list of level v by order k's key, without what cannot be part of anything better than the best. */
static bool sort_list(struct blocking_search *search, uint32_t v, uint32_t k)
{
    struct proof_level *level = &search->proof->level[v];
    const double *key = level->key + (size_t)k * level->list.n;
    const double cutoff = search->best_j - search->proof->slack_j[v];
    uint32_t n = 0;
    for (uint32_t i = 0; i < level->list.n; i++)
        n += key[i] < cutoff;
    struct sorted_tile *sorted = malloc((n + 1) * sizeof *sorted);
    search->proof->no_memory = search->proof->no_memory || !sorted;
    n = 0;
    for (uint32_t i = 0; sorted && i < level->list.n; i++)
        if (key[i] < cutoff)
            sorted[n++] = (struct sorted_tile){key[i], i, level->list.node[i]};
    if (sorted)
        qsort(sorted, n, sizeof *sorted, compare_tiles);
    level->sorted[k] = sorted;
    level->n_sorted[k] = n;
    return sorted != NULL;
}

/* Try the tiles of level v in the order of order k's key, until none can be better than out->inner_j or,
 * after a limit, one is better than `cutoff`. */
static void scan(struct blocking_search *search, uint32_t v, const struct blocking_node *from, uint32_t k,
                 double outer_j, double cutoff, struct inner *out)
{
    const struct blocking_space *space = search->space;
    const struct proof_level *level = &search->proof->level[v];
    const uint32_t n_dim = space->model.n_dim, y = layer_tile(&space->model, v);
    const uint32_t *row[PROBLEM_DIM_MAX];
    uint32_t dim[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < n_dim; d++) { /* loops of many ways first: most tiles fail there */
        uint32_t at = d;
        for (; at > 0 && space->path[dim[at - 1]].layer[y].n < space->path[d].layer[y].n; at--)
            dim[at] = dim[at - 1];
        dim[at] = d;
    }
    for (uint32_t i = 0; i < n_dim; i++) {
        const struct loop_layer *layer = &space->path[dim[i]].layer[y];
        row[i] = layer->factor + (size_t)from->state[dim[i]] * layer->n;
    }
    for (uint32_t i = 0; i < level->n_sorted[k]; i++) {
        const struct sorted_tile *tile = &level->sorted[k][i];
        uint32_t d = 0;
        if (tile->key + outer_j >= out->inner_j ||
            (i % TILES_A_LOOK == 0 && leaves_off(search, out->inner_j < cutoff)))
            return;
        while (d < n_dim && row[d][tile->node.state[dim[d]]])
            d++;
        if (d == n_dim)
            try_tile(search, v, from, tile->tile, out);
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
        const double outer_j = outer_part(space, v, k, outer);
        if (level->least_key[k] + outer_j >= out->inner_j)
            continue;
        if (!level->sorted[k] && !sort_list(search, v, k))
            return false;
        scan(search, v, from, k, outer_j, cutoff, out);
    }
    return out->inner_j < cutoff;
}

/* ---------------------------------------- the outermost level */

/* By key, of equal ones the first of the list. */
static bool is_before(const struct blocking_proof *proof, uint32_t a, uint32_t b)
{
    return proof->top_key[a] < proof->top_key[b] || (proof->top_key[a] == proof->top_key[b] && a < b);
}

/* Let the entry at place i of the heap sink to where no lower key is below it. */
static void sink(struct blocking_proof *proof, uint32_t i)
{
    for (;;) {
        uint32_t least = i;
        for (uint32_t child = 2 * i + 1; child <= 2 * i + 2 && child < proof->n_heap; child++)
            if (is_before(proof, proof->heap[child], proof->heap[least]))
                least = child;
        if (least == i)
            return;
        uint32_t held = proof->heap[i];
        proof->heap[i] = proof->heap[least];
        proof->heap[least] = held;
        i = least;
    }
}

static enum dse_status make_heap(struct blocking_search *search, struct dse_error *err)
{
    const struct blocking_space *space = search->space;
    struct blocking_proof *proof = search->proof;
    const uint32_t top = space->model.n_level - 1;
    struct proof_level *level = &proof->level[top];
    double outer[PROBLEM_DIM_MAX], energy_j[BLOCKING_ORDER_MAX];
    double count[BLOCKING_ORDER_MAX][PROBLEM_TENSOR_MAX];
    DSE_TRY(node_list_fill(search, top, &level->list, err));
    proof->heap = malloc((level->list.n + 1) * sizeof *proof->heap);
    proof->top_key = malloc((level->list.n + 1) * sizeof *proof->top_key);
    level->ways =
        blocking_has_array(&space->model, top) ? calloc(level->list.n + 1, sizeof *level->ways) : NULL;
    if (!proof->heap || !proof->top_key || (blocking_has_array(&space->model, top) && !level->ways))
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u blockings of the outermost level",
                        level->list.n);
    for (uint32_t i = 0; i < level->list.n; i++) {
        const uint32_t n = space_level_energies(space, top, NULL, &level->list.node[i], energy_j, count);
        double least = energy_j[0];
        for (uint32_t k = 1; k < n; k++)
            least = fmin(least, energy_j[k]);
        space_outer(space, layer_tile(&space->model, top), &level->list.node[i], outer);
        proof->top_key[i] = space->model.mac_j + least + (top > 0 ? bound_from(search, top - 1, outer) : 0);
        if (proof->top_key[i] < INFINITY)
            proof->heap[proof->n_heap++] = i;
    }
    for (uint32_t i = proof->n_heap / 2; i-- > 0;)
        sink(proof, i);
    return DSE_OK;
}

/* The energy that levels further out than v cost at least. */
static void bound_outside(struct blocking_search *search)
{
    struct blocking_proof *proof = search->proof;
    const struct blocking_space *space = search->space;
    double outer[PROBLEM_DIM_MAX], sum = space->model.mac_j;
    for (uint32_t d = 0; d < space->model.n_dim; d++)
        outer[d] = 1;
    for (uint32_t v = space->model.n_level; v-- > 0;) {
        double least = INFINITY;
        proof->slack_j[v] = sum;
        for (uint32_t k = 0; k < space->model.n_order; k++)
            least = fmin(least, outer_part(space, v, k, outer) + inner_part(space, v, k, outer));
        sum += least;
    }
}

enum dse_status blocking_prove(const struct blocking_space *space, struct blocking_search *out,
                               struct dse_error *err)
{
    *out = (struct blocking_search){
        .space = space, .limits = out->limits, .best_j = INFINITY, .most_point = UINT64_MAX};
    out->proof = calloc(1, sizeof *out->proof);
    if (!out->proof)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a proof");
    arena_init(&out->proof->arena);
    bound_outside(out);
    for (uint32_t v = 0; v + 1 < space->model.n_level && !out->over; v++)
        DSE_TRY(list_level(out, v, err));
    if (!out->over)
        DSE_TRY(make_heap(out, err));
    if (out->over) /* a list may be cut short: nothing is known */
        return DSE_OK;
    out->bound_j = out->proof->n_heap ? out->proof->top_key[out->proof->heap[0]] : INFINITY;
    out->done = out->proof->n_heap == 0;
    return DSE_OK;
}

/* The way of the best from tile i of the outermost level inwards. */
static void trace_best(struct blocking_search *search, const struct inner *first)
{
    const struct blocking_space *space = search->space;
    struct inner at = *first;
    for (uint32_t v = space->model.n_level; v-- > 0;) {
        struct blocking_point *best = &search->best;
        best->tile[v] = best->bank[v] = search->proof->level[v].list.node[at.tile];
        best->order[v] = at.order;
        best->choice[v] = at.choice;
        if (blocking_has_array(&space->model, v))
            (void)space_choose(space, v, at.choice, &best->tile[v], &best->bank[v]);
        if (v > 0)
            at = *inner_slot(search, v - 1, &best->bank[v]);
    }
}

enum dse_status blocking_proof_step(struct blocking_search *search, struct dse_error *err)
{
    struct blocking_proof *proof = search->proof;
    const uint32_t top = search->space->model.n_level - 1;
    if (proof->n_heap == 0)
        return DSE_OK;
    for (int i = 0; i < NODES_AT_A_TIME && !search->done; i++) {
        const uint32_t tile = proof->heap[0];
        search->bound_j = fmin(proof->top_key[tile], search->best_j);
        if (proof->top_key[tile] >= search->best_j)
            break;
        struct inner found = {.inner_j = search->best_j - search->space->model.mac_j};
        const double before = found.inner_j;
        try_tile(search, top, NULL, tile, &found);
        search->n_point++;
        if (found.inner_j < before) {
            search->best_j = found.inner_j + search->space->model.mac_j;
            search->found = true;
            trace_best(search, &found);
        }
        proof->heap[0] = proof->heap[--proof->n_heap];
        sink(proof, 0);
        search->done = proof->n_heap == 0;
        if (proof->no_memory || proof->arena.failed)
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for a proof");
        if (search->over)
            return DSE_OK;
    }
    search->done = search->done || proof->top_key[proof->heap[0]] >= search->best_j;
    if (search->done)
        search->bound_j = search->best_j;
    return DSE_OK;
}

void blocking_proof_free(struct blocking_proof *proof)
{
    for (uint32_t v = 0; proof && v < ARCH_LEVEL_MAX; v++) {
        struct proof_level *level = &proof->level[v];
        free(level->list.node);
        free(level->key);
        free(level->ways);
        free(level->inner);
        for (uint32_t k = 0; k < BLOCKING_ORDER_MAX; k++)
            free(level->sorted[k]);
    }
    if (proof) {
        free(proof->heap);
        free(proof->top_key);
        arena_free(&proof->arena);
    }
    free(proof);
}
