/* Sweeps that earlier searches of the run have made: cells that differ in bandwidth alone have the same ones,
 * by energy and by the words of each bandwidth. What is known stands in for a sweep of the cell's own, so
 * that a search does, counts and finds the same whatever is known. That needs sweeps whose value does not
 * depend on their limit where it is below it: what the tables leave out is charged more than the limit, and
 * tables of open events cannot become full. */
#include <math.h>

#include "base/hash.h"
#include "engines/optimal/optimal_search.h"

/* A sweep that other cells may ask for is good for so much higher limits. */
static const double wider = 1.1;

static uint64_t hash_of(const struct problem *problem, const struct architecture *arch)
{
    struct hash_state hash;
    hash_begin(&hash);
    hash_u64(&hash, problem_hash(problem));
    hash_u64(&hash, architecture_hash(arch));
    return hash_end(&hash);
}

void optimal_known_begin(struct optimal_search *state)
{
    const struct engine_task *task = engine_context_task(state->context);
    struct architecture arch = *state->model.arch;
    for (uint32_t l = 0; l < arch.n_level; l++) {
        arch.level[l].read_bandwidth_word_per_cycle = INFINITY;
        arch.level[l].write_bandwidth_word_per_cycle = INFINITY;
        arch.level[l].shared_bandwidth_word_per_cycle = INFINITY;
    }
    state->known_as = hash_of(state->model.problem, &arch);
    for (uint32_t l = 0; l < arch.n_level; l++) {
        struct storage_level *level = &arch.level[l];
        level->size_word = 1;
        level->read_energy_j = level->write_energy_j = level->update_energy_j = level->area_mm2 = 0;
    }
    state->listed_as = hash_of(state->model.problem, &arch);
    if (!state->model.constraints && optimal_most_masks(&state->model) <= OPTIMAL_MASK_MAX)
        state->known = task->known;
}

/* All that the price of a hop to the spread's places follows from. */
static void hash_place(struct hash_state *hash, const struct optimal_place *place, uint32_t n_tensor)
{
    for (uint32_t t = 0; t < n_tensor; t++)
        hash_double(hash, place->hops[t]);
    hash_u64(hash, place->n_sum);
    for (uint32_t i = 0; i < place->n_sum; i++) {
        hash_u64(hash, place->sum[i].repeat);
        hash_double(hash, place->sum[i].hops);
    }
}

/* The sweep of the spread at hand by price number i. */
static struct hash_128 key_of(const struct optimal_search *state, uint32_t i)
{
    const struct optimal_model *model = &state->model;
    struct hash_state hash;
    hash_begin(&hash);
    hash_u64(&hash, state->known_as);
    hash_u64(&hash, state->choice);
    hash_u64(&hash, i == 0 ? 0 : 1 + state->price[i].words + 3 * (uint64_t)state->price[i].level);
    for (uint32_t l = 0; l < model->arch->n_level; l++) {
        hash_bytes(&hash, state->spread.factor[l], model->problem->n_dim * sizeof state->spread.factor[l][0]);
        if (i == 0)
            hash_place(&hash, state->spread.place[l], model->problem->n_tensor);
    }
    return hash_end_128(&hash);
}

bool optimal_known_beaten(const struct optimal_search *state)
{
    double cycles = state->delay, energy_j = 0;
    if (!state->known)
        return false;
    if (optimal_objective(state)->energy_exponent > 0)
        energy_j = known_bounds_get(state->known, key_of(state, 0)).bound;
    for (uint32_t i = 1; i < state->n_price; i++)
        cycles = fmax(cycles, (1 - optimal_sure) * known_bounds_get(state->known, key_of(state, i)).bound /
                                  optimal_bandwidth(state->model.arch, state->price[i]));
    return optimal_is_beaten(state,
                             optimal_cost_of(state, &state->spread, energy_j * (1 - optimal_sure), cycles));
}

bool optimal_known_value(const struct optimal_search *state, uint32_t i, double *value)
{
    if (!state->known)
        return false;
    const struct known_bound known = known_bounds_get(state->known, key_of(state, i));
    *value = known.bound;
    return known.exact;
}

double optimal_known_limit(const struct optimal_search *state, double limit)
{
    if (!state->known)
        return limit;
    return known_bounds_get(state->known, key_of(state, 0)).bound > 0 ? INFINITY : limit * wider;
}

void optimal_known_keep(const struct optimal_search *state, uint32_t i, double limit, double value)
{
    if (state->known && !state->watch.ended)
        known_bounds_raise(state->known, key_of(state, i),
                           (struct known_bound){fmin(limit, value), value < limit || limit == INFINITY});
}
