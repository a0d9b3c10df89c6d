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

#include "engines/interstellar/proof.h"

enum { NODES_AT_A_TIME = 16 };

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
    double outer[PROBLEM_DIM_MAX], outside[PROBLEM_DIM_MAX], inside[PROBLEM_DIM_MAX];
    double energy_j[BLOCKING_ORDER_MAX];
    double count[BLOCKING_ORDER_MAX][PROBLEM_TENSOR_MAX];
    DSE_TRY(node_list_fill(search, top, &level->list, err));
    proof->heap = malloc((level->list.n + 1) * sizeof *proof->heap);
    proof->top_key = malloc((level->list.n + 1) * sizeof *proof->top_key);
    level->ways =
        blocking_has_array(&space->model, top) ? calloc(level->list.n + 1, sizeof *level->ways) : NULL;
    if (!proof->heap || !proof->top_key || (blocking_has_array(&space->model, top) && !level->ways))
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u blockings of the outermost level",
                        level->list.n);
    for (uint32_t i = 0; i < level->list.n && !blocking_search_is_over(search); i++) {
        space_iterations(space, top, NULL, &level->list.node[i], outside, inside);
        const uint32_t n =
            space_level_energies(space, top, outside, inside, &space->least_debt[top], energy_j, count);
        double least = energy_j[0];
        for (uint32_t k = 1; k < n; k++)
            least = fmin(least, energy_j[k]);
        space_outer(space, layer_tile(&space->model, top), &level->list.node[i], outer);
        proof->top_key[i] =
            space->model.mac_j + least +
            (top > 0 ? proof_bound_from(search, top - 1, outer, &space->least_debt[top - 1]) : 0);
        if (proof->top_key[i] < INFINITY)
            proof->heap[proof->n_heap++] = i;
    }
    for (uint32_t i = proof->n_heap / 2; i-- > 0;)
        sink(proof, i);
    return DSE_OK;
}

enum dse_status blocking_prove(const struct blocking_space *space, struct blocking_search *out,
                               struct dse_error *err)
{
    *out = (struct blocking_search){.space = space,
                                    .limits = out->limits,
                                    .best_j = out->limits.below_j > 0 ? out->limits.below_j : INFINITY,
                                    .most_point = UINT64_MAX};
    out->proof = calloc(1, sizeof *out->proof);
    if (!out->proof)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a proof");
    arena_init(&out->proof->arena);
    if (!proof_load_first(out))
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a proof");
    proof_bound_outside(out);
    for (uint32_t v = 0; v + 1 < space->model.n_level && !out->over; v++)
        DSE_TRY(proof_list_level(out, v, err));
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
    struct blocking_point *best = &search->best;
    uint32_t load = 0;
    for (uint32_t v = space->model.n_level; v-- > 0;) {
        double outside[PROBLEM_DIM_MAX], inside[PROBLEM_DIM_MAX], count[PROBLEM_TENSOR_MAX];
        const bool outermost = v + 1 == space->model.n_level;
        best->tile[v] = best->bank[v] = search->proof->level[v].list.node[at.tile];
        best->order[v] = at.order;
        best->choice[v] = at.choice;
        if (blocking_has_array(&space->model, v))
            (void)space_choose(space, v, at.choice, &best->tile[v], &best->bank[v]);
        if (v == 0)
            return;
        space_iterations(space, v, outermost ? NULL : &best->bank[v + 1], &best->tile[v], outside, inside);
        blocking_counts(&space->model, v, at.order, outside, inside, count);
        if (!proof_load_served(search, v, load, at.order, outside, inside, count, &load) ||
            !proof_load_passed(search, v, load, at.choice, &best->bank[v], &load))
            return; /* out of memory: these loads were there before */
        at = *proof_slot(search, v - 1, &best->bank[v], load);
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
        proof_try_tile(search, top, NULL, 0, tile, &found);
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
    for (uint32_t v = 0; proof && v < ARCH_LEVEL_MAX; v++)
        proof_level_free(&proof->level[v]);
    if (proof) {
        proof_loads_free(&proof->loads);
        free(proof->heap);
        free(proof->top_key);
        arena_free(&proof->arena);
    }
    free(proof);
}
