/* The least energy of small spaces the plain way, for test_blocking_random.c: every factorisation, every
 * choice of loops for the array, every order of the loops of every level, each mapping priced by the
 * accounting. It shares no code with the engine; header only, as each test program is one file. */
#ifndef TESTS_ENGINES_INTERSTELLAR_BLOCKING_BRUTE_H
#define TESTS_ENGINES_INTERSTELLAR_BLOCKING_BRUTE_H

#include <math.h>
#include <string.h>

#include "costmodel/accounting/evaluator.h"
#include "costmodel/interstellar/hint.h"
#include "costmodel/model/mapping.h"

struct brute {
    const struct problem *problem;
    const struct architecture *arch;
    const struct interstellar_hint *hint; /* NULL: none */
    const struct evaluator *evaluator;
    struct eval_workspace *workspace;
    bool compat, replication;
    uint32_t loops; /* on one side at most */
    double threshold;
    struct mapping mapping;
    uint32_t factor[PROBLEM_DIM_MAX][ARCH_LEVEL_MAX]; /* blocks of each level, spatial factors included */
    uint32_t array;    /* the level whose instances are spread; n_level: none */
    uint32_t width[2]; /* of that array */
    uint64_t n_point;  /* points that fit, orders apart */
    double best_j;
};

static inline bool brute_price(struct brute *b, double *energy_j)
{
    struct evaluation evaluation;
    if (!evaluator_run(b->evaluator, b->workspace, &b->mapping, &evaluation))
        return false;
    *energy_j = evaluation.energy_j;
    return true;
}

/* The least energy over the orders of level l; `n` of its places are settled, the others hold `rest`. */
static inline void brute_permute(struct brute *b, uint32_t l, uint32_t n, uint32_t n_present, double *least)
{
    uint8_t *order = b->mapping.level[l].temporal_order;
    double energy_j;
    if (n >= n_present) {
        if (brute_price(b, &energy_j) && energy_j < *least)
            *least = energy_j;
        return;
    }
    for (uint32_t i = n; i < n_present; i++) {
        uint8_t held = order[n];
        order[n] = order[i];
        order[i] = held;
        brute_permute(b, l, n + 1, n_present, least);
        held = order[n];
        order[n] = order[i];
        order[i] = held;
    }
}

/* Price the mapping with its best orders. An order changes what its own level's loops cost and nothing
 * else, so levels are gone through one after the other. */
static inline void brute_orders(struct brute *b)
{
    uint32_t n_present[ARCH_LEVEL_MAX] = {0};
    double any_j, energy_j;
    for (uint32_t l = 0; l < b->arch->n_level; l++) {
        struct mapping_level *level = &b->mapping.level[l];
        uint32_t last = b->problem->n_dim;
        for (uint32_t d = 0; d < b->problem->n_dim; d++) {
            bool spatial = l + 1 < b->arch->n_level && b->mapping.level[l + 1].spatial[d] > 1;
            level->temporal_order[level->temporal[d] > 1 || spatial ? n_present[l]++ : --last] = (uint8_t)d;
        }
    }
    if (!brute_price(b, &any_j))
        return;
    energy_j = any_j;
    for (uint32_t l = 0; l < b->arch->n_level; l++) {
        double least = INFINITY;
        brute_permute(b, l, 0, n_present[l], &least);
        energy_j += least - any_j;
    }
    b->n_point++;
    b->best_j = fmin(b->best_j, energy_j);
}

/* Words of tensor t in a tile. */
static inline double brute_words(const struct tensor *tensor, const uint32_t *extent)
{
    double words = 1;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        double length = 1;
        for (uint32_t i = 0; i < tensor->rank[r].n_term; i++)
            length += (double)tensor->rank[r].term[i].coefficient * (extent[tensor->rank[r].term[i].dim] - 1);
        words *= length;
    }
    return words;
}

/* One memory of level l for blocks of these extents. */
static inline bool brute_memory_fits(const struct brute *b, uint32_t l, uint32_t part, const uint32_t *extent)
{
    const struct storage_level *level = &b->arch->level[l];
    const double copies = l == b->array ? b->width[0] * b->width[1] : 1;
    const double size = (double)(level->n_part ? level->part[part].size_word : level->size_word);
    double words = 0;
    bool lacks = false;
    for (uint32_t t = 0; t < b->problem->n_tensor; t++) {
        const enum tensor_role role = b->problem->tensor[t].role;
        if (!(level->keep_role >> role & 1) || (level->n_part && level->part_of[role] != part))
            continue;
        words += brute_words(&b->problem->tensor[t], extent);
        lacks = lacks || !(level[1].keep_role >> role & 1);
    }
    if (words > size * copies)
        return false;
    if (copies > 1 || level->n_part > 1)
        return true;
    if (level->n_part == 1)
        return words == 0 || lacks || level->min_utilization <= 0 || words > size * level->min_utilization;
    return words >= size * level->min_utilization;
}

/* The authors' program tests the blocks before it unrolls a loop: what rounding up adds is not among them. */
static inline bool brute_blocks_fit(const struct brute *b)
{
    uint32_t extent[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < b->problem->n_dim; d++)
        extent[d] = 1;
    for (uint32_t l = 0; l + 1 < b->arch->n_level; l++) {
        for (uint32_t d = 0; d < b->problem->n_dim; d++)
            extent[d] *= b->factor[d][l];
        for (uint32_t p = 0; p < (b->arch->level[l].n_part ? b->arch->level[l].n_part : 1); p++)
            if (!brute_memory_fits(b, l, p, extent))
                return false;
    }
    return true;
}

/* The block factors with these spatial ones as a mapping; the array's loops are in place. */
static inline void brute_mapping(struct brute *b, const uint32_t *spatial)
{
    if (b->compat && !brute_blocks_fit(b))
        return;
    for (uint32_t d = 0; d < b->problem->n_dim; d++)
        for (uint32_t l = 0; l < b->arch->n_level; l++) {
            uint32_t s = l == b->array ? spatial[d] : 1;
            b->mapping.level[l].temporal[d] = (b->factor[d][l] + s - 1) / s;
            if (l > 0)
                b->mapping.level[l].spatial[d] = l - 1 == b->array ? spatial[d] : 1;
        }
    brute_orders(b);
}

/* Loops of a side, near ones first. */
struct brute_side {
    uint32_t n, loop[4], factor[4], product, loops;
};

static inline void brute_place(struct brute *b, const struct brute_side *x, const struct brute_side *y)
{
    struct mapping_level *level = &b->mapping.level[b->array + 1];
    uint32_t spatial[PROBLEM_DIM_MAX], n = 0;
    for (uint32_t d = 0; d < b->problem->n_dim; d++)
        spatial[d] = 1;
    for (uint32_t i = 0; i < x->n; i++) {
        spatial[x->loop[i]] = x->factor[i];
        level->spatial_order[n++] = (uint8_t)x->loop[i];
    }
    level->split = (uint8_t)n;
    for (uint32_t i = 0; i < y->n; i++) {
        spatial[y->loop[i]] = y->factor[i];
        level->spatial_order[n++] = (uint8_t)y->loop[i];
    }
    for (uint32_t d = 0; d < b->problem->n_dim; d++)
        if (!((x->loops | y->loops) >> d & 1))
            level->spatial_order[n++] = (uint8_t)d;
    brute_mapping(b, spatial);
}

typedef void brute_next(struct brute *b, const struct brute_side *side, void *payload);

/* Every side of `width` by the rule, without the loops in `taken`. */
static inline void brute_sides(struct brute *b, uint32_t width, uint32_t taken, struct brute_side side,
                               brute_next *next, void *payload)
{
    const bool enough = side.product >= b->threshold * width;
    const bool single = !b->replication || b->loops == 1;
    if (!b->compat ? enough : side.n > 0 && (enough || single))
        next(b, &side, payload);
    if (side.n == (single ? 1 : b->loops) || (b->compat && side.n > 0 && enough))
        return;
    for (uint32_t d = 0; d < b->problem->n_dim; d++)
        for (uint32_t f = 2; !((taken | side.loops) >> d & 1) && f * side.product <= width; f++) {
            if (b->factor[d][b->array] % f)
                continue;
            struct brute_side longer = side;
            longer.loop[longer.n] = d;
            longer.factor[longer.n++] = f;
            longer.product *= f;
            longer.loops |= 1u << d;
            brute_sides(b, width, taken, longer, next, payload);
        }
}

static inline void brute_second(struct brute *b, const struct brute_side *side, void *payload)
{
    brute_place(b, payload, side);
}

static inline void brute_first(struct brute *b, const struct brute_side *side, void *payload)
{
    struct brute_side held = *side, empty = {.product = 1};
    (void)payload;
    if (b->width[1] > 1)
        brute_sides(b, b->width[1], held.loops, empty, brute_second, &held);
    else
        brute_place(b, &held, &empty);
}

/* What a hinted loop may have on its side of an array with room. */
static inline void brute_shared(struct brute *b, uint32_t d, uint32_t width, uint32_t taken, brute_next *next,
                                void *payload)
{
    const uint32_t p = b->hint->loop[d].partition;
    struct brute_side side = {1, {d}, {p}, p, 1u << d};
    if (p == width)
        next(b, &side, payload);
    for (uint32_t i = 0; p != width && i < b->hint->n_partition_loop; i++) {
        uint32_t e = b->hint->partition_loop[i];
        for (uint32_t f = 2; f * p <= width; f++) {
            if ((b->factor[e][b->array] % f && (b->compat || e != d)) || f * p < b->threshold * width ||
                (taken >> e & 1))
                continue;
            uint32_t padded = (b->factor[d][b->array] + p - 1) / p * p;
            if (e == d && !b->compat && padded % (f * p))
                continue;
            if (e == d) {
                struct brute_side wider = {1, {d}, {f * p}, f * p, 1u << d};
                next(b, &wider, payload);
                continue;
            }
            struct brute_side near = {2, {d, e}, {p, f}, f * p, 1u << d | 1u << e};
            struct brute_side far = {2, {e, d}, {f, p}, f * p, 1u << d | 1u << e};
            next(b, &near, payload);
            next(b, &far, payload);
        }
    }
}

static inline void brute_shared_second(struct brute *b, const struct brute_side *side, void *payload)
{
    const struct brute_side *first = payload;
    if (!(first->loops & side->loops))
        brute_place(b, first, side);
}

struct brute_pair {
    uint32_t n, dim[2];
};

static inline void brute_shared_first(struct brute *b, const struct brute_side *side, void *payload)
{
    const struct brute_pair *pair = payload;
    struct brute_side held = *side, empty = {.product = 1};
    if (pair->n == 2)
        brute_shared(b, pair->dim[1], b->width[b->width[1] > 1], 0, brute_shared_second, &held);
    else
        brute_place(b, &held, &empty);
}

static inline void brute_hinted(struct brute *b)
{
    struct mapping_level *level = &b->mapping.level[b->array + 1];
    uint32_t spatial[PROBLEM_DIM_MAX], product = 1, n = 0;
    struct brute_pair pair = {0, {0, 0}};
    for (uint32_t d = 0; d < b->problem->n_dim; d++) {
        spatial[d] = b->hint->loop[d].present ? b->hint->loop[d].partition : 1;
        product *= spatial[d];
        if (b->hint->loop[d].present && pair.n < 2)
            pair.dim[pair.n] = d;
        pair.n += b->hint->loop[d].present;
    }
    if (product > b->width[0] * b->width[1])
        return;
    if (b->width[0] * b->width[1] >= 2 * product) {
        if (pair.n <= 2)
            brute_shared(b, pair.dim[0], b->width[0], 0, brute_shared_first, &pair);
        return;
    }
    level->split = 0;
    level->further = 0;
    for (uint32_t d = 0; d < b->problem->n_dim; d++)
        if (spatial[d] > 1) {
            level->further |= (uint16_t)(n > 1 ? 1u << n : 0);
            level->split = n == 1 ? 1 : level->split;
            level->spatial_order[n++] = (uint8_t)d;
        }
    if (n < 2)
        level->split = (uint8_t)b->problem->n_dim;
    for (uint32_t d = 0; d < b->problem->n_dim; d++)
        if (spatial[d] == 1)
            level->spatial_order[n++] = (uint8_t)d;
    brute_mapping(b, spatial);
    level->further = 0;
}

static inline void brute_dims(struct brute *b, uint32_t d);

/* Dimension d's blocks of levels from..to (included) multiply to `rest` exactly; then `d + 1` or, for a
 * hinted loop, what is outside. */
static inline void brute_factors(struct brute *b, uint32_t d, uint32_t from, uint32_t to, uint32_t rest,
                                 uint32_t outside)
{
    const uint32_t top = b->arch->n_level - 1;
    if (from > to) {
        if (rest != 1)
            return;
        if (outside && b->hint->loop[d].level < top)
            brute_factors(b, d, b->hint->loop[d].level + 1, top, outside, 0);
        else if (outside <= 1)
            brute_dims(b, d + 1);
        return;
    }
    for (uint32_t f = 1; f <= rest; f++)
        if (rest % f == 0) {
            b->factor[d][from] = f;
            brute_factors(b, d, from + 1, to, rest / f, outside);
        }
}

/* The blocks of a hinted loop as the authors' program lists them. */
static inline void brute_hinted_factors(struct brute *b, uint32_t d)
{
    const struct loop_hint *hint = &b->hint->loop[d];
    const uint32_t p = hint->partition, q = hint->blocking, bound = b->problem->bound[d];
    const uint32_t within = q ? (bound + p * q - 1) / (p * q) : (bound + p - 1) / p;
    for (uint32_t m = 1; m <= within; m++) {
        if (within % m || (hint->level == 0 && m > 1))
            continue;
        const uint32_t all = (bound + m - 1) / m;
        for (uint32_t block = 1; block <= (q ? p * q : all); block++) {
            if (q ? block != p * q : block < p || all % block)
                continue;
            b->factor[d][hint->level] = block;
            uint32_t outside = q ? (bound + p * q * m - 1) / (p * q * m) : all / block;
            if (hint->level == 0)
                brute_factors(b, d, 1, b->arch->n_level - 1, outside, 0);
            else
                brute_factors(b, d, 0, hint->level - 1, m, outside);
        }
    }
}

static inline void brute_dims(struct brute *b, uint32_t d)
{
    struct brute_side empty = {.product = 1};
    uint32_t none[PROBLEM_DIM_MAX];
    if (d < b->problem->n_dim) {
        if (b->hint && b->hint->loop[d].present)
            brute_hinted_factors(b, d);
        else
            brute_factors(b, d, 0, b->arch->n_level - 1, b->problem->bound[d], 0);
        return;
    }
    for (uint32_t i = 0; i < PROBLEM_DIM_MAX; i++)
        none[i] = 1;
    if (b->array == b->arch->n_level)
        brute_mapping(b, none);
    else if (b->hint)
        brute_hinted(b);
    else
        brute_sides(b, b->width[0], 0, empty, brute_first, NULL);
}

/* The least energy; INFINITY when nothing fits. */
static inline double brute_search(struct brute *b)
{
    b->array = b->arch->n_level;
    b->width[0] = b->width[1] = 1;
    for (uint32_t l = 1; l < b->arch->n_level; l++) {
        uint64_t x, y;
        architecture_fanout(b->arch, l, &x, &y);
        if (x * y > 1) {
            b->array = l - 1;
            b->width[0] = (uint32_t)(x > 1 ? x : y);
            b->width[1] = (uint32_t)(x > 1 ? y : 1);
        }
    }
    b->best_j = INFINITY;
    b->n_point = 0;
    mapping_init(&b->mapping, b->problem, b->arch);
    brute_dims(b, 0);
    return b->best_j;
}

#endif
