/* What the formulation knows of problem and machine: which dimension moves which tensor, the rooms of each
 * level in bits, the primes of each bound. */
#include <math.h>
#include <string.h>

#include "engines/cosa/formulation.h"

/* ---------------------------------------- which dimension moves which tensor */

static uint32_t output_dims(const struct problem *problem)
{
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (problem->tensor[t].read_write)
            return tensor_dims(&problem->tensor[t]);
    return 0;
}

/* The window terms of a rank: those that do not index the output, if there are others. */
static uint32_t window_of(const struct tensor_rank *rank, uint32_t output)
{
    uint32_t dims = 0, window = 0;
    for (uint32_t i = 0; i < rank->n_term; i++)
        dims |= 1u << rank->term[i].dim;
    if (rank->n_term > 1 && (dims & output))
        window = dims & ~output;
    return window;
}

static void relate(struct cosa_shape *shape)
{
    const struct problem *problem = shape->problem;
    uint32_t output = output_dims(problem);
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        const struct tensor *tensor = &problem->tensor[t];
        for (uint32_t r = 0; r < tensor->n_rank; r++) {
            uint32_t window = window_of(&tensor->rank[r], output);
            for (uint32_t i = 0; i < tensor->rank[r].n_term; i++) {
                uint32_t bit = 1u << tensor->rank[r].term[i].dim;
                if (window & bit)
                    shape->halo[t] |= bit;
                else
                    shape->related[t] |= bit;
            }
        }
    }
}

static double term_bits(const struct cosa_shape *shape, uint32_t t, uint32_t d, double bits, bool window,
                        bool stride)
{
    const struct tensor *tensor = &shape->problem->tensor[t];
    uint32_t output = output_dims(shape->problem);
    double sum = 0;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        bool is_window = window_of(&tensor->rank[r], output) >> d & 1u;
        for (uint32_t i = 0; i < tensor->rank[r].n_term; i++)
            if (tensor->rank[r].term[i].dim == d && is_window == window)
                sum += bits + (stride ? log2(tensor->rank[r].term[i].coefficient) : 0);
    }
    return sum;
}

double cosa_tile_bits(const struct cosa_shape *shape, uint32_t t, uint32_t d, double bits, bool stride)
{
    return term_bits(shape, t, d, bits, false, stride);
}

double cosa_window_bits(const struct cosa_shape *shape, uint32_t t, uint32_t d, double bits)
{
    return term_bits(shape, t, d, bits, true, true);
}

/* ---------------------------------------- levels and capacities */

/* The share of a level by the roles of what it keeps. */
static double level_share(const struct cosa_shape *shape, const struct cosa_settings *settings, uint32_t l)
{
    double sum = 0;
    for (uint32_t t = 0; t < shape->problem->n_tensor; t++)
        if (shape->keep[l] >> t & 1u)
            sum += settings->share[shape->problem->tensor[t].role];
    return sum;
}

/* Banks of level l where its group is dealt out by these shares: whole ones, and at least one to each. */
static uint64_t shared_banks(const struct cosa_shape *shape, const struct cosa_settings *settings, uint32_t l)
{
    const struct architecture *arch = shape->arch;
    double share[ARCH_LEVEL_MAX], left = arch->group[arch->level[l].bank_group - 1].banks, all = 0;
    for (uint32_t i = 0; i < arch->n_level; i++) {
        share[i] =
            arch->level[i].bank_group == arch->level[l].bank_group ? level_share(shape, settings, i) : -1;
        all += fmax(share[i], 0);
    }
    for (uint32_t i = 0; i < arch->n_level; i++)
        if (share[i] >= 0 && left * share[i] < all) { /* one bank, and the others share the rest, once more */
            if (i == l)
                return 1;
            left -= 1;
            all -= share[i];
            share[i] = -1;
            i = UINT32_MAX;
        }
    return all > 0 ? (uint64_t)floor(left * share[l] / all) : 1;
}

/* Words that the tensors of level l share. */
static uint64_t usable_words(const struct cosa_shape *shape, const struct cosa_settings *settings, uint32_t l)
{
    const struct storage_level *level = &shape->arch->level[l];
    return level->bank_group ? shared_banks(shape, settings, l) * level->bank_word
                             : architecture_usable_words(level);
}

/* Room for each of the tensors `open`, which have `left` words of level l together: the level's shares by
 * role; less than a word becomes one word and the others share the rest. */
static void share_memory(struct cosa_shape *shape, const struct cosa_settings *settings, uint32_t l,
                         uint32_t open, double left)
{
    for (bool again = true; again && open;) {
        double all = 0;
        again = false;
        for (uint32_t t = 0; t < shape->problem->n_tensor; t++)
            if (open >> t & 1u)
                all += settings->share[shape->problem->tensor[t].role];
        for (uint32_t t = 0; t < shape->problem->n_tensor && !again; t++) {
            if (!(open >> t & 1u))
                continue;
            double share = settings->share[shape->problem->tensor[t].role];
            shape->room[l][t] = all > 0 ? left * share / all : left;
            if (shape->room[l][t] < 1) {
                shape->room[l][t] = 1;
                left = fmax(left - 1, 0);
                open &= ~(1u << t);
                again = true;
            }
        }
    }
}

static void share_level(struct cosa_shape *shape, const struct cosa_settings *settings, uint32_t l)
{
    const struct storage_level *level = &shape->arch->level[l];
    uint64_t usable = shape->usable[l] = usable_words(shape, settings, l);
    uint32_t in_part[TENSOR_ROLE_COUNT] = {0};
    for (uint32_t t = 0; t < shape->problem->n_tensor; t++) {
        shape->room[l][t] = INFINITY;
        if (level->n_part)
            in_part[level->part_of[shape->problem->tensor[t].role]] |= shape->keep[l] & 1u << t;
    }
    if (usable == ARCH_UNLIMITED || l == shape->outermost)
        return;
    if (level->n_part == 0)
        share_memory(shape, settings, l, shape->keep[l], (double)usable);
    for (uint32_t i = 0; i < level->n_part; i++)
        share_memory(shape, settings, l, in_part[i],
                     floor((double)level->part[i].size_word / level->multiple_buffering));
}

static void set_keeps(struct cosa_shape *shape)
{
    const struct architecture *arch = shape->arch;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        for (uint32_t t = 0; t < shape->problem->n_tensor; t++)
            if (architecture_keeps(arch, l, &shape->problem->tensor[t]))
                shape->keep[l] |= 1u << t;
        if (shape->constraints)
            shape->keep[l] &= ~shape->constraints->level[l].bypass;
    }
}

uint32_t cosa_find_util_level(const struct cosa_shape *shape)
{
    uint32_t weights = 0;
    for (uint32_t t = 0; t < shape->problem->n_tensor; t++)
        if (shape->problem->tensor[t].role == TENSOR_WEIGHT)
            weights |= 1u << t;
    if (shape->permutation == COSA_NONE)
        return COSA_NONE;
    for (uint32_t l = shape->permutation; l-- > 0;)
        if (shape->keep[l] && !(shape->keep[l] & ~weights))
            return l;
    return COSA_NONE;
}

void cosa_shape_init(struct cosa_shape *shape, const struct problem *problem, const struct architecture *arch,
                     const struct mapspace_constraints *constraints, const struct cosa_settings *settings)
{
    memset(shape, 0, sizeof *shape);
    shape->problem = problem;
    shape->arch = arch;
    shape->constraints = constraints;
    shape->n_level = arch->n_level;
    shape->outermost = arch->n_level - 1;
    shape->permutation = arch->n_level > 1 ? arch->n_level - 2 : COSA_NONE;
    if (settings->permutation_level >= 0 && (uint32_t)settings->permutation_level < shape->outermost)
        shape->permutation = (uint32_t)settings->permutation_level;
    shape->stride_once = settings->form == COSA_FORM_MINMAX;
    relate(shape);
    set_keeps(shape);
    for (uint32_t l = 0; l < arch->n_level; l++)
        share_level(shape, settings, l);
    shape->util_level = cosa_find_util_level(shape);
}

double cosa_level_factor(const struct cosa_settings *settings, uint32_t level)
{
    return settings->inner_factor + settings->inner_factor_step * level;
}

double cosa_outer_weight(const struct cosa_shape *shape, const struct cosa_settings *settings)
{
    double sum = 0;
    for (uint32_t t = 0; t < shape->problem->n_tensor; t++)
        sum += settings->outer_factor[shape->problem->tensor[t].role];
    return sum;
}

uint32_t cosa_outermost_inner_keeper(const struct cosa_shape *shape, uint32_t t)
{
    if (shape->permutation == COSA_NONE)
        return COSA_NONE;
    for (uint32_t l = shape->permutation; l-- > 0;)
        if (shape->keep[l] >> t & 1u)
            return l;
    return COSA_NONE;
}

/* ---------------------------------------- primes */

uint32_t cosa_factorise(const struct problem *problem, struct cosa_kind *kind)
{
    uint32_t n = 0;
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        uint32_t rest = problem->bound[d];
        for (uint32_t p = 2; rest > 1; p++) {
            if ((uint64_t)p * p > rest)
                p = rest;
            uint32_t count = 0;
            for (; rest % p == 0; rest /= p)
                count++;
            if (count > 0)
                kind[n++] = (struct cosa_kind){.dim = d, .prime = p, .count = count, .bits = log2(p)};
        }
    }
    return n;
}
