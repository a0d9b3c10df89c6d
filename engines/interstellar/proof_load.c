/* Loads: what the ways into a node differ in besides the node. Without tensors that pass by levels, without
 * levels that share banks and without a limit of time there is only one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/interstellar/proof.h"

enum { CHOICES_REMEMBERED = 4096 };

/* Ratios of words to bandwidths are of numbers that may have been rounded. */
#define SLACK (1 + 1e-12)

static uint64_t mix(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static uint64_t hash_load(const struct load *load)
{
    uint64_t hash = mix(mix(0, load->use), load->read_word);
    for (uint32_t g = 0; g < ARCH_GROUP_MAX; g++)
        hash = hash * 31 + load->banks[g];
    for (uint32_t i = 0; i < load->debt.n; i++) {
        const struct blocking_charge *charge = &load->debt.charge[i];
        hash = mix(mix(hash, charge->visit_j), charge->together);
        for (uint32_t d = 0; d < PROBLEM_DIM_MAX; d++)
            hash = hash * 31 + charge->apart[d];
    }
    return hash ^ hash >> 29;
}

static bool is_same(const struct load *a, const struct load *b)
{
    bool same = a->use == b->use && a->read_word == b->read_word && a->write_word == b->write_word &&
                a->shared_word == b->shared_word && a->debt.n == b->debt.n &&
                memcmp(a->banks, b->banks, sizeof a->banks) == 0;
    for (uint32_t i = 0; same && i < a->debt.n; i++) {
        const struct blocking_charge *one = &a->debt.charge[i], *two = &b->debt.charge[i];
        same = one->visit_j == two->visit_j && one->word == two->word && one->together == two->together &&
               one->tensor == two->tensor && memcmp(one->apart, two->apart, sizeof one->apart) == 0;
    }
    return same;
}

/* Room for one more, and for four slots to each. */
static bool grow(struct load_list *list)
{
    if (list->n < list->capacity)
        return true;
    const uint32_t capacity = list->capacity ? 2 * list->capacity : 64;
    struct load *load = realloc(list->load, capacity * sizeof *load);
    if (load)
        list->load = load;
    uint32_t **after = realloc(list->after, (size_t)capacity * ARCH_LEVEL_MAX * sizeof *after);
    if (after) {
        list->after = after;
        memset(after + (size_t)list->capacity * ARCH_LEVEL_MAX, 0,
               (size_t)(capacity - list->capacity) * ARCH_LEVEL_MAX * sizeof *after);
    }
    uint32_t *slot = calloc((size_t)capacity * 4, sizeof *slot);
    if (!load || !after || !slot) {
        free(slot);
        return false;
    }
    free(list->slot);
    list->slot = slot;
    list->n_slot = capacity * 4;
    list->capacity = capacity;
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t at = (uint32_t)hash_load(&load[i]) & (list->n_slot - 1);
        while (slot[at])
            at = (at + 1) & (list->n_slot - 1);
        slot[at] = i + 1;
    }
    return true;
}

/* The number of a load. */
static bool number_of(struct blocking_search *search, const struct load *load, uint32_t *number)
{
    struct load_list *list = &search->proof->loads;
    if (!grow(list)) {
        search->proof->no_memory = true;
        return false;
    }
    uint32_t at = (uint32_t)hash_load(load) & (list->n_slot - 1);
    while (list->slot[at] && !is_same(&list->load[list->slot[at] - 1], load))
        at = (at + 1) & (list->n_slot - 1);
    if (!list->slot[at]) {
        list->load[list->n] = *load;
        list->slot[at] = ++list->n;
    }
    *number = list->slot[at] - 1;
    return true;
}

static void no_limit(struct load *load)
{
    load->read_word = load->write_word = load->shared_word = INFINITY;
}

bool proof_load_first(struct blocking_search *search)
{
    struct load load;
    uint32_t number;
    memset(&load, 0, sizeof load);
    load.use = 1;
    no_limit(&load);
    return number_of(search, &load, &number);
}

/* `count` visits of each of so many words of tensor t. */
static void serve(const struct blocking_model *model, uint32_t t, double words, double count,
                  struct load *left)
{
    const bool output = model->reuse.tensor[t].output;
    left->read_word -= words * (output ? count - 1 : count);
    left->write_word -= output ? words * count : 0;
    left->shared_word -= words * (output ? 2 * count - 1 : count);
}

static bool is_late(const struct load *left)
{
    return left->read_word < 0 || left->write_word < 0 || left->shared_word < 0;
}

/* The words that level v can serve in the time given, less those of the tensors that it is asked for itself
 * and one visit of the others. */
static bool serve_own(const struct blocking_space *space, uint32_t v, const double *count, double use,
                      struct load *left)
{
    const struct blocking_model *model = &space->model;
    const struct blocking_level *level = &model->level[v];
    const double most = space->most_cycle * use * SLACK;
    left->read_word = most * level->read_word_per_cycle;
    left->write_word = most * level->write_word_per_cycle;
    left->shared_word = most * level->shared_word_per_cycle;
    for (uint32_t t = 0; t < model->n_tensor; t++)
        if (level->keeps & ~level->passes & 1u << t)
            serve(model, t, model->reuse.tensor[t].size_word, count[t], left);
    struct load last = *left;
    for (uint32_t t = 0; t < model->n_tensor; t++)
        if (level->keeps & level->passes & 1u << t)
            serve(model, t, model->reuse.tensor[t].size_word, 1, &last);
    return !is_late(&last);
}

/* Where one tensor's words are still to come, whose visits are a divisor of its reuse, what is left is as
 * good as what the next divisor below it takes: so fewer loads differ. */
static void round_down(const struct blocking_space *space, uint32_t v, struct load *left)
{
    const struct blocking_model *model = &space->model;
    const uint32_t late = model->level[v].keeps & model->level[v].passes;
    const uint32_t t = (uint32_t)__builtin_ctz(late);
    const struct reuse_tensor *tensor = &model->reuse.tensor[t];
    double all = 1, most = fmin(left->read_word, left->shared_word) / tensor->size_word, best = 1;
    if ((late & (late - 1)) || tensor->output || model->padded || tensor->n_axis > 0)
        return;
    for (uint32_t dims = tensor->reuse; dims; dims &= dims - 1)
        all *= model->problem->bound[__builtin_ctz(dims)];
    if (all > 0x1p40)
        return;
    const uint64_t n = (uint64_t)all;
    for (uint64_t f = 1; f * f <= n; f++)
        if (n % f == 0) {
            best = (double)f <= most ? fmax(best, (double)f) : best;
            best = (double)(n / f) <= most ? fmax(best, (double)(n / f)) : best;
        }
    left->read_word = left->shared_word = best * tensor->size_word * SLACK;
    left->write_word = INFINITY;
}

bool proof_load_served(struct blocking_search *search, uint32_t v, uint32_t load, uint32_t k,
                       const double *outside, const double *inside, const double *count, uint32_t *after)
{
    const struct blocking_space *space = search->space;
    const struct blocking_model *model = &space->model;
    *after = load;
    if (isinf(space->most_cycle))
        return true;
    struct load next = search->proof->loads.load[load];
    if (model->level[v].limited && model->pending != (int)v) {
        struct load left;
        if (!serve_own(space, v, count, next.use, &left))
            return false;
    }
    for (uint32_t i = 0; i < next.debt.n; i++) {
        const struct blocking_charge *charge = &next.debt.charge[i];
        double product[PROBLEM_DIM_MAX];
        if (charge->word == 0 || model->level[v].passes >> charge->tensor & 1)
            continue;
        blocking_product(model, v, k, charge->tensor, outside, inside, product);
        serve(model, charge->tensor, charge->word, blocking_charge_count(model, v, charge, product), &next);
    }
    if (is_late(&next))
        return false;
    if (model->pending == (int)v) {
        if (!serve_own(space, v, count, next.use, &next))
            return false;
        round_down(space, v, &next);
    }
    return number_of(search, &next, after);
}

/* Where the load behind choice c is remembered; NULL: nowhere. */
static uint32_t *memory_of(struct blocking_search *search, uint32_t v, uint32_t load, uint32_t c)
{
    const uint32_t n = search->space->array[v].list.n;
    uint32_t **row = &search->proof->loads.after[(size_t)load * ARCH_LEVEL_MAX + v];
    if (!*row && n <= CHOICES_REMEMBERED)
        *row = arena_alloc(&search->proof->arena, (size_t)n + 1, sizeof **row);
    return *row ? &(*row)[c] : NULL;
}

/* The same whatever node the choice leads to. */
static bool pass_array(struct blocking_search *search, uint32_t v, uint32_t load, uint32_t c, uint32_t *after)
{
    const struct blocking_space *space = search->space;
    bool pending = false;
    *after = load;
    if (!space->model.owes && !space->counts_use)
        return true;
    const uint32_t *known = memory_of(search, v, load, c);
    if (known && *known) {
        *after = *known - 1;
        return true;
    }
    struct load next;
    memset(&next, 0, sizeof next);
    next = search->proof->loads.load[load];
    next.debt.n = 0;
    space_debt(space, v, c, &search->proof->loads.load[load].debt, &next.debt);
    if (space->counts_use && blocking_has_array(&space->model, v))
        next.use *= space_use(space, &space->array[v].list.choice[c]);
    for (uint32_t i = 0; i < next.debt.n; i++)
        pending = pending || next.debt.charge[i].word > 0;
    if (!pending)
        no_limit(&next);
    if (!number_of(search, &next, after))
        return false;
    uint32_t *memory = memory_of(search, v, load, c);
    if (memory)
        *memory = *after + 1;
    return true;
}

bool proof_load_passed(struct blocking_search *search, uint32_t v, uint32_t load, uint32_t c,
                       const struct blocking_node *node, uint32_t *after)
{
    if (!pass_array(search, v, load, c, after))
        return false;
    if (v == 0 || search->space->model.level[v - 1].group == 0)
        return true;
    struct load next = search->proof->loads.load[*after];
    return space_take_banks(search->space, v - 1, node, next.banks) && number_of(search, &next, after);
}

void proof_loads_free(struct load_list *list)
{
    free(list->load);
    free(list->after);
    free(list->slot);
}
