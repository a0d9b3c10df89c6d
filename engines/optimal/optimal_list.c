/* The list of spreads, from cell to cell of a sweep. Which of them the quick bound does not beat depends on
 * the best of the cell and on its bandwidths; but their energies follow from those of accesses, and none gets
 * less where accesses get dearer. So a search leaves all spreads that are below its best without bandwidths,
 * and another one goes by these if it can need no more of them: with the quick bounds E of the energy and C
 * of the cycles, L the least cycles of all mappings and D(c) what c cycles count, a spread is below a best X
 * if E^n D(max(C, L)) < X. If it is below X' with L' it is also below X with L where X' <= X and
 * X' / D(L') <= X / D(L): by the one if C is above L, else by the other.
 *
 * The spreads that are looked at are the same in any case: those whose quick bound is not beaten. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "engines/optimal/optimal_search.h"

enum { LIST_MOST = 1 << 14 };

static struct hash_128 key_of(const struct optimal_search *state, uint64_t machine)
{
    const struct objective *objective = optimal_objective(state);
    struct hash_state hash;
    hash_begin(&hash);
    hash_u64(&hash, machine);
    hash_double(&hash, objective->energy_exponent);
    hash_double(&hash, objective->delay_exponent);
    return hash_end_128(&hash);
}

/* What a list of this search is of. */
static struct optimal_list head_of(const struct optimal_search *state)
{
    const struct architecture *arch = state->model.arch;
    const double cost = engine_context_best_cost(state->context);
    struct optimal_list head = {
        .cost = cost, .rate = cost / optimal_cost_of(state, &state->spread, 1, state->least_cycles)};
    for (uint32_t l = 0; l < arch->n_level; l++) {
        head.access_j[l][0] = arch->level[l].read_energy_j;
        head.access_j[l][1] = arch->level[l].write_energy_j;
        head.access_j[l][2] = arch->level[l].update_energy_j;
    }
    return head;
}

/* The list known by this key, if it has all that one of `head` would have. */
static struct optimal_list *find(const struct optimal_search *state, uint64_t machine,
                                 const struct optimal_list *head)
{
    size_t byte;
    struct optimal_list *list = known_lists_get(state->known, key_of(state, machine), &byte);
    bool covers = list && list->cost >= head->cost && list->rate >= head->rate;
    for (uint32_t l = 0; covers && l < state->model.arch->n_level; l++)
        for (uint32_t i = 0; i < 3; i++)
            covers = covers && list->access_j[l][i] <= head->access_j[l][i];
    if (covers)
        return list;
    free(list);
    return NULL;
}

void optimal_list_begin(struct optimal_search *state)
{
    if (!state->known || state->n_choice > 1 || state->model.leaks || state->most_cycles < INFINITY)
        return;
    const struct optimal_list head = head_of(state);
    state->listed = find(state, state->known_as, &head);
    if (!state->listed)
        state->listed = find(state, state->listed_as, &head);
    state->list_fits =
        state->listed && memcmp(state->listed->access_j, head.access_j, sizeof head.access_j) == 0;
    if (state->list_fits)
        return;
    state->made = malloc(sizeof *state->made);
    if (state->made)
        *state->made = head;
}

/* By the quick bound without bandwidths. */
static bool is_worth(const struct optimal_search *state, double energy_j, double cycles)
{
    const double cost = optimal_cost_of(state, &state->spread, energy_j, fmax(cycles, state->least_cycles));
    return !optimal_is_beaten(state, cost * (1 - optimal_sure));
}

void optimal_list_add(struct optimal_search *state, const uint16_t *place, double energy_j)
{
    struct optimal_list *list = state->made;
    if (!list || !is_worth(state, energy_j, state->spread.cycles))
        return;
    if (list->n == list->room) {
        const uint32_t room = list->room ? 2 * list->room : 64;
        struct optimal_list *grown =
            room <= LIST_MOST ? realloc(list, sizeof *list + room * sizeof list->entry[0]) : NULL;
        if (!grown) {
            free(list);
            state->made = NULL;
            return;
        }
        state->made = list = grown;
        list->room = room;
    }
    struct optimal_listed *entry = &list->entry[list->n++];
    *entry = (struct optimal_listed){.energy_j = energy_j, .cycles = state->spread.cycles};
    memcpy(entry->place, place, sizeof entry->place);
}

bool optimal_list_next(struct optimal_search *state, uint32_t n_step, uint16_t *place, double *energy_j,
                       bool *over)
{
    const struct optimal_list *list = state->listed;
    for (; n_step > 0 && state->n_seen < list->n; n_step--) {
        const struct optimal_listed *entry = &list->entry[state->n_seen++];
        if (!is_worth(state, entry->energy_j, entry->cycles))
            continue;
        memcpy(place, entry->place, sizeof entry->place);
        optimal_spreads_get(&state->spreads, place, &state->spread);
        optimal_spread_complete(&state->model, &state->spread);
        *energy_j = state->list_fits ? entry->energy_j
                                     : optimal_quick_price(&state->model, &state->spread, state->price[0]);
        optimal_list_add(state, place, *energy_j);
        return true;
    }
    *over = state->n_seen == list->n;
    return false;
}

/* One that is made of another is of one buffer alone; others may be made of one that is not. */
void optimal_list_end(struct optimal_search *state)
{
    if (state->made)
        known_lists_keep(state->known, key_of(state, state->listed ? state->known_as : state->listed_as),
                         state->made, sizeof *state->made + state->made->n * sizeof state->made->entry[0]);
}
