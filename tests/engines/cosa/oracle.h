/* An oracle for the paper's form of the CoSA model, written from docs/cosa.md without the engine's code:
 * brute force over all places of all primes and all orders of the permutation level. Header only, as each
 * test program is one file. */
#ifndef TESTS_ENGINES_COSA_ORACLE_H
#define TESTS_ENGINES_COSA_ORACLE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"
#include "engines/cosa/cosa.h"
#include "engines/mapspace/mapspace_constraints.h"

enum { PRIME_MAX = 6, DIM_MAX = 5, LEVEL_MAX = 4, TENSOR_MAX = 5, N_AXIS = 3 };

/* A case, and the state of its search; problems of at most PRIME_MAX primes, the last tensor being the
 * output. */
struct oracle {
    struct problem problem;
    struct architecture arch;
    struct mapspace_constraints constraints;
    struct cosa_settings settings;
    bool constrained;
    uint32_t inner, top; /* the permutation level, the outermost level */
    uint32_t related[TENSOR_MAX], window[TENSOR_MAX], keep[LEVEL_MAX];
    double room[LEVEL_MAX][TENSOR_MAX];
    uint32_t n_prime, dim[PRIME_MAX], prime[PRIME_MAX];
    uint32_t factor[LEVEL_MAX][N_AXIS][DIM_MAX]; /* temporal, X, Y */
    double tile[LEVEL_MAX][TENSOR_MAX];          /* charged bits */
    double util;                                 /* of the assignment so far */
    double fixed_cost;                           /* all but what the order decides */
    double best;
    struct mapping best_mapping;
};

/* ---------------------------------------- what the page says */

static inline bool is_term(const struct tensor_rank *rank, uint32_t d)
{
    for (uint32_t i = 0; i < rank->n_term; i++)
        if (rank->term[i].dim == d)
            return true;
    return false;
}

static inline bool indexes(const struct tensor *tensor, uint32_t d)
{
    for (uint32_t r = 0; r < tensor->n_rank; r++)
        if (is_term(&tensor->rank[r], d))
            return true;
    return false;
}

/* In a rank of several terms of which some index the output, the others are windows. The output is the last
 * tensor. */
static inline bool is_window_term(const struct problem *problem, const struct tensor_rank *rank, uint32_t d)
{
    const struct tensor *output = &problem->tensor[problem->n_tensor - 1];
    bool some = false;
    for (uint32_t i = 0; i < rank->n_term; i++)
        some = some || indexes(output, rank->term[i].dim);
    return rank->n_term > 1 && some && !indexes(output, d);
}

/* Bits that a prime of dimension d adds: over related terms or over window terms, coefficient with every
 * prime. */
static inline double prime_bits(const struct oracle *o, uint32_t t, uint32_t d, double prime, bool window)
{
    double bits = 0;
    const struct tensor *tensor = &o->problem.tensor[t];
    for (uint32_t r = 0; r < tensor->n_rank; r++)
        for (uint32_t i = 0; i < tensor->rank[r].n_term; i++)
            if (tensor->rank[r].term[i].dim == d &&
                is_window_term(&o->problem, &tensor->rank[r], d) == window)
                bits += log2(prime * tensor->rank[r].term[i].coefficient);
    return bits;
}

static inline int outermost_buffer(const struct oracle *o, uint32_t t)
{
    int l = (int)o->inner - 1;
    while (l >= 0 && !(o->keep[l] >> t & 1u))
        l--;
    return l;
}

static inline double charge(const struct oracle *o, int level, uint32_t t, uint32_t i)
{
    double bits = prime_bits(o, t, o->dim[i], o->prime[i], false);
    double full = prime_bits(o, t, o->dim[i], o->prime[i], true);
    int buffer = outermost_buffer(o, t);
    if (full == 0)
        return bits;
    if (o->settings.halo == COSA_HALO_SAFE || level < buffer)
        return bits + full;
    return bits + (level == buffer || o->settings.halo == COSA_HALO_ALL ? 1 : 0);
}

/* Fixed shares; less than a word is a word, taken from the others. */
static inline void find_rooms(struct oracle *o, uint32_t l)
{
    double words = (double)architecture_usable_words(&o->arch.level[l]);
    bool again = true;
    uint32_t open = o->keep[l];
    while (again) {
        double all = 0;
        again = false;
        for (uint32_t t = 0; t < o->problem.n_tensor; t++)
            all += open >> t & 1u ? o->settings.share[o->problem.tensor[t].role] : 0;
        for (uint32_t t = 0; t < o->problem.n_tensor && !again; t++) {
            if (!(open >> t & 1u))
                continue;
            o->room[l][t] = words * o->settings.share[o->problem.tensor[t].role] / all;
            again = o->room[l][t] < 1;
            if (again) {
                o->room[l][t] = 1;
                words = fmax(words - 1, 0);
                open &= ~(1u << t);
            }
        }
    }
}

static inline bool alone_with_weights(const struct oracle *o, uint32_t l)
{
    for (uint32_t t = 0; t < o->problem.n_tensor; t++)
        if ((o->keep[l] >> t & 1u) && o->problem.tensor[t].role != TENSOR_WEIGHT)
            return false;
    return o->keep[l] != 0;
}

/* Util, Comp, D, L and the outer loops of the assignment. */
static inline double cost_without_order(const struct oracle *o)
{
    const struct cosa_settings *s = &o->settings;
    double comp = 0, traf = 0;
    for (uint32_t l = 0; l <= o->top; l++)
        for (uint32_t d = 0; d < o->problem.n_dim; d++) {
            const double time = log2(o->factor[l][0][d]);
            const double space = log2(o->factor[l][1][d]) + log2(o->factor[l][2][d]);
            comp += time;
            for (uint32_t t = 0; t < o->problem.n_tensor; t++) {
                bool related = o->related[t] >> d & 1u;
                if (l < o->inner)
                    traf += related ? s->size_factor * (s->inner_factor + s->inner_factor_step * l) *
                                          (time + space)
                                    : 0;
                else
                    traf += (related || !s->spatial_related_only ? s->spatial_factor * space : 0) +
                            (l != o->inner ? s->outer_factor[o->problem.tensor[t].role] * time : 0);
            }
        }
    return -s->weight_util * o->util + s->weight_comp * comp + s->weight_traf * traf;
}

/* T: every loop at or outside the innermost related one. Where the user fixes places or a stationary tensor,
 * loops that could be longer than 1 count as if they were. */
static inline double order_bits(const struct oracle *o, const uint8_t *order)
{
    const struct loop_constraints *loops = &o->constraints.level[o->inner].temporal;
    bool wishes = o->settings.stationary >= 0 || loops->n_order > 0;
    double bits = 0;
    for (uint32_t t = 0; t < o->problem.n_tensor; t++) {
        bool moved = false;
        for (uint32_t i = 0; i < o->problem.n_dim; i++) {
            uint32_t d = order[i], factor = o->factor[o->inner][0][d];
            bool open = o->problem.bound[d] > 1 && loops->fixed[d] != 1 && loops->highest[d] != 1;
            moved = moved || ((o->related[t] >> d & 1u) && (wishes ? open : factor > 1));
            bits += moved ? log2(factor) : 0;
        }
    }
    return bits;
}

static inline bool order_allowed(const struct oracle *o, const uint8_t *order)
{
    const struct loop_constraints *loops = &o->constraints.level[o->inner].temporal;
    bool moved = false;
    for (uint32_t i = 0; i < loops->n_order; i++)
        if (order[i] != loops->order[i])
            return false;
    for (uint32_t i = 0; i < o->problem.n_dim && o->settings.stationary >= 0; i++) {
        bool related = o->related[o->settings.stationary] >> order[i] & 1u;
        if (o->problem.bound[order[i]] > 1 && moved && !related)
            return false;
        moved = moved || (related && o->problem.bound[order[i]] > 1);
    }
    return true;
}

/* ---------------------------------------- the search */

static inline void keep_best(struct oracle *o, const uint8_t *order)
{
    struct mapping *mapping = &o->best_mapping;
    mapping_init(mapping, &o->problem, &o->arch);
    for (uint32_t l = 0; l <= o->top; l++) {
        mapping->level[l].keep = (uint8_t)o->keep[l];
        for (uint32_t d = 0; d < o->problem.n_dim; d++) {
            mapping->level[l].temporal[d] = o->factor[l][0][d];
            mapping->level[l].spatial[d] = o->factor[l][1][d] * o->factor[l][2][d];
        }
    }
    memcpy(mapping->level[o->inner].temporal_order, order, o->problem.n_dim);
}

static inline void try_orders(struct oracle *o, uint8_t *order, uint32_t n)
{
    if (n == o->problem.n_dim) {
        double cost = o->fixed_cost + o->settings.weight_traf * order_bits(o, order);
        if (cost < o->best && order_allowed(o, order)) {
            o->best = cost;
            keep_best(o, order);
        }
        return;
    }
    for (uint32_t i = n; i < o->problem.n_dim; i++) {
        uint8_t first = order[i];
        order[i] = order[n];
        order[n] = first;
        try_orders(o, order, n + 1);
        order[n] = order[i];
        order[i] = first;
    }
}

static inline bool loop_allowed(const struct loop_constraints *loops, uint32_t d, uint32_t factor)
{
    return (loops->fixed[d] == 0 || factor == loops->fixed[d]) &&
           (loops->highest[d] == 0 || factor <= loops->highest[d]);
}

static inline bool constraints_hold(const struct oracle *o)
{
    for (uint32_t l = 0; l <= o->top; l++)
        for (uint32_t d = 0; d < o->problem.n_dim; d++) {
            const struct level_constraints *c = &o->constraints.level[l];
            const uint32_t x = o->factor[l][1][d], y = o->factor[l][2][d];
            if (!loop_allowed(&c->temporal, d, o->factor[l][0][d]) || !loop_allowed(&c->spatial, d, x * y) ||
                (x > 1 && !(c->dims_x >> d & 1u)) || (y > 1 && !(c->dims_y >> d & 1u)))
                return false;
        }
    return true;
}

/* Does prime i fit at a place, where the factors before it are already? */
static inline bool place_fits(const struct oracle *o, uint32_t i, uint32_t l, uint32_t axis)
{
    uint64_t fanout[2], product = 1;
    uint32_t d = o->dim[i];
    architecture_fanout(&o->arch, l, &fanout[0], &fanout[1]);
    for (uint32_t e = 0; e < o->problem.n_dim; e++)
        product *= o->factor[l][axis][e];
    if (axis > 0 && (product > fanout[axis - 1] || (o->factor[l][1][d] > 1 && o->factor[l][2][d] > 1)))
        return false;
    for (uint32_t t = 0; t < o->problem.n_tensor; t++) {
        if (o->settings.halo == COSA_HALO_AT_DRAM && (o->window[t] >> d & 1u) && (l != o->top || axis > 0))
            return false;
        for (uint32_t j = l; j < o->top; j++)
            if ((o->keep[j] >> t & 1u) && o->tile[j][t] > log2(o->room[j][t]) + 1e-8)
                return false;
    }
    return true;
}

/* Add (sign 1) or take away (-1) what prime i at level l does to the tiles. */
static inline void grow(struct oracle *o, uint32_t i, uint32_t l, double sign)
{
    for (uint32_t t = 0; t < o->problem.n_tensor; t++)
        for (uint32_t j = l; j < o->top; j++) {
            bool only = alone_with_weights(o, j);
            for (uint32_t k = j + 1; k < o->inner; k++)
                only = only && !alone_with_weights(o, k); /* the outermost of them counts more */
            if (!(o->keep[j] >> t & 1u))
                continue;
            o->tile[j][t] += sign * charge(o, (int)j, t, i);
            if (j < o->inner)
                o->util += sign * (only ? o->settings.util_weight_factor : 1) *
                           prime_bits(o, t, o->dim[i], o->prime[i], false);
        }
}

/* Prime i and those after it; equal primes take places in ascending order from `first` on. */
static inline void try_places(struct oracle *o, uint32_t i, uint32_t first)
{
    if (i == o->n_prime) {
        uint8_t order[DIM_MAX] = {0, 1, 2, 3, 4};
        if (!constraints_hold(o))
            return;
        o->fixed_cost = cost_without_order(o);
        try_orders(o, order, 0);
        return;
    }
    for (uint32_t place = first; place < N_AXIS * (o->top + 1); place++) {
        uint32_t l = place / N_AXIS, axis = place % N_AXIS;
        bool same = i + 1 < o->n_prime && o->dim[i + 1] == o->dim[i] && o->prime[i + 1] == o->prime[i];
        o->factor[l][axis][o->dim[i]] *= o->prime[i];
        grow(o, i, l, 1);
        if (place_fits(o, i, l, axis))
            try_places(o, i + 1, same ? place : 0);
        grow(o, i, l, -1);
        o->factor[l][axis][o->dim[i]] /= o->prime[i];
    }
}

/* Fill `best` and `best_mapping` from the case: problem, arch, constraints, settings and primes are set, the
 * rest is 0. */
static inline void oracle_search(struct oracle *o)
{
    const struct problem *problem = &o->problem;
    o->top = o->arch.n_level - 1;
    o->inner = o->settings.permutation_level >= 0 && o->settings.permutation_level < (int)o->top
                   ? (uint32_t)o->settings.permutation_level
                   : o->top - 1;
    o->best = INFINITY;
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        for (uint32_t d = 0; d < problem->n_dim; d++) {
            o->related[t] |= prime_bits(o, t, d, 2, false) > 0 ? 1u << d : 0;
            o->window[t] |= prime_bits(o, t, d, 2, true) > 0 ? 1u << d : 0;
        }
    for (uint32_t l = 0; l <= o->top; l++) {
        for (uint32_t t = 0; t < problem->n_tensor; t++) {
            bool role = o->arch.level[l].keep_role >> problem->tensor[t].role & 1u;
            o->keep[l] |= role && !(o->constraints.level[l].bypass >> t & 1u) ? 1u << t : 0;
            o->room[l][t] = INFINITY;
        }
        if (l < o->top && o->arch.level[l].size_word != ARCH_UNLIMITED)
            find_rooms(o, l);
        for (uint32_t d = 0; d < problem->n_dim; d++)
            o->factor[l][0][d] = o->factor[l][1][d] = o->factor[l][2][d] = 1;
    }
    try_places(o, 0, 0);
}

#endif
