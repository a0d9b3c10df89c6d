/* The objective's terms of any mapping, from its loops. */
#include <math.h>
#include <string.h>

#include "engines/cosa/formulation.h"

/* How many primes, with multiplicity: the stride is charged for each (docs/cosa.md). */
static uint32_t prime_count(uint32_t factor)
{
    uint32_t n = 0;
    for (uint32_t p = 2; factor > 1; p++) {
        if ((uint64_t)p * p > factor)
            p = factor;
        for (; factor % p == 0; factor /= p)
            n++;
    }
    return n;
}

/* Bits that a factor of dimension d adds to the tile of t. */
static double factor_tile_bits(const struct cosa_shape *shape, uint32_t t, uint32_t d, uint32_t factor)
{
    double stride = cosa_tile_bits(shape, t, d, 0, true);
    return cosa_tile_bits(shape, t, d, log2(factor), false) + prime_count(factor) * stride;
}

static void add_util(const struct cosa_shape *shape, const struct cosa_settings *settings,
                     const struct mapping *mapping, uint32_t inner_end, struct cosa_terms *terms)
{
    for (uint32_t i = 0; i < inner_end; i++)
        for (uint32_t t = 0; t < shape->problem->n_tensor; t++) {
            if (!(mapping->level[i].keep >> t & 1u))
                continue;
            double bits = 0;
            for (uint32_t l = 0; l <= i; l++)
                for (uint32_t d = 0; d < shape->problem->n_dim; d++)
                    bits += factor_tile_bits(shape, t, d, mapping->level[l].temporal[d]) +
                            factor_tile_bits(shape, t, d, mapping->level[l].spatial[d]);
            terms->util += (i == shape->util_level ? settings->util_weight_factor : 1) * bits;
        }
}

/* T_v: the temporal loops of the permutation level at or outside the innermost one that indexes the
 * tensor. */
static double temporal_bits(const struct cosa_shape *shape, const struct mapping_level *level, uint32_t t)
{
    double bits = 0;
    bool indexed = false;
    for (uint32_t i = 0; i < shape->problem->n_dim; i++) {
        uint32_t d = level->temporal_order[i];
        indexed = indexed || (level->temporal[d] > 1 && (shape->related[t] >> d & 1u));
        if (indexed)
            bits += log2(level->temporal[d]);
    }
    return bits;
}

static void add_tensor(const struct cosa_shape *shape, const struct cosa_settings *settings,
                       const struct mapping *mapping, uint32_t inner_end, uint32_t t,
                       struct cosa_terms *terms)
{
    for (uint32_t l = 0; l < shape->n_level; l++)
        for (uint32_t d = 0; d < shape->problem->n_dim; d++) {
            bool related = shape->related[t] >> d & 1u;
            double spatial = log2(mapping->level[l].spatial[d]);
            if (l < inner_end)
                terms->size[t] +=
                    related ? cosa_level_factor(settings, l) * (spatial + log2(mapping->level[l].temporal[d]))
                            : 0;
            else
                terms->spatial[t] += related || !settings->spatial_related_only ? spatial : 0;
        }
    if (shape->permutation != COSA_NONE)
        terms->temporal[t] = temporal_bits(shape, &mapping->level[shape->permutation], t);
}

void cosa_terms_of(const struct problem *problem, const struct architecture *arch,
                   const struct cosa_settings *settings, const struct mapping *mapping,
                   struct cosa_terms *terms)
{
    struct cosa_shape shape;
    memset(terms, 0, sizeof *terms);
    cosa_shape_init(&shape, problem, arch, NULL, settings);
    for (uint32_t l = 0; l < shape.n_level; l++)
        shape.keep[l] = mapping->level[l].keep;
    shape.util_level = cosa_find_util_level(&shape);
    uint32_t inner_end = shape.permutation == COSA_NONE ? 0 : shape.permutation;
    for (uint32_t l = 0; l < shape.n_level; l++)
        for (uint32_t d = 0; d < problem->n_dim; d++) {
            double bits = log2(mapping->level[l].temporal[d]);
            terms->comp += bits;
            if (l >= inner_end && l != shape.permutation)
                terms->outer += cosa_outer_weight(&shape, settings) * bits;
        }
    add_util(&shape, settings, mapping, inner_end, terms);
    terms->traf = terms->outer;
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        add_tensor(&shape, settings, mapping, inner_end, t, terms);
        terms->traf += settings->size_factor * terms->size[t] + settings->spatial_factor * terms->spatial[t] +
                       terms->temporal[t];
    }
    terms->objective = -settings->weight_util * terms->util + settings->weight_comp * terms->comp +
                       settings->weight_traf * terms->traf;
}
