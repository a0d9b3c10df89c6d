/* Per level the part of the order that is free, walked through its permutations in lexicographic order; a
 * level that has had all begins anew and the next one turns, as digits of a counter do. */
#include "engines/baseline/all_orders.h"

#include "engines/mapspace/mapspace_order.h"

static uint64_t start_level(struct all_orders *walk, const struct loop_constraints *fixed, uint32_t l,
                            struct mapping *mapping)
{
    struct mapping_level *level = &mapping->level[l];
    uint32_t n = 0, seen = 0;
    uint64_t count = 1;
    for (; fixed && n < fixed->n_order; n++) {
        level->temporal_order[n] = fixed->order[n];
        seen |= 1u << fixed->order[n];
    }
    walk->first[l] = (uint8_t)n;
    for (int unit = 0; unit <= 1; unit++) {
        for (uint32_t d = 0; d < mapping->n_dim; d++)
            if (!(seen >> d & 1u) && (level->temporal[d] == 1) == (unit == 1))
                level->temporal_order[n++] = (uint8_t)d;
        if (!unit)
            walk->n[l] = (uint8_t)(n - walk->first[l]);
    }
    for (uint32_t i = 2; i <= walk->n[l]; i++)
        if (__builtin_mul_overflow(count, (uint64_t)i, &count))
            return UINT64_MAX;
    return count;
}

uint64_t all_orders_start(struct all_orders *walk, const struct mapspace_constraints *constraints,
                          struct mapping *mapping)
{
    uint64_t count = 1;
    for (uint32_t l = 0; l < mapping->n_level; l++) {
        const struct loop_constraints *fixed = constraints ? &constraints->level[l].temporal : NULL;
        if (__builtin_mul_overflow(count, start_level(walk, fixed, l, mapping), &count))
            count = UINT64_MAX;
    }
    return count;
}

bool all_orders_next(const struct all_orders *walk, struct mapping *mapping)
{
    for (uint32_t l = 0; l < mapping->n_level; l++)
        if (order_next(mapping->level[l].temporal_order + walk->first[l], walk->n[l]))
            return true;
    return false;
}
