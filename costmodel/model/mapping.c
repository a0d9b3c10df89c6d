/* The empty mapping, and whether two are the same loops: the order of unit loops does not count. */
#include "costmodel/model/mapping.h"

#include <string.h>

void mapping_init(struct mapping *mapping, const struct problem *problem, const struct architecture *arch)
{
    memset(mapping, 0, sizeof *mapping);
    mapping->n_level = (uint8_t)arch->n_level;
    mapping->n_dim = (uint8_t)problem->n_dim;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        struct mapping_level *level = &mapping->level[l];
        bool outermost = l + 1 == arch->n_level;
        for (uint32_t d = 0; d < problem->n_dim; d++) {
            level->temporal[d] = outermost ? problem->bound[d] : 1;
            level->spatial[d] = 1;
            level->temporal_order[d] = level->spatial_order[d] = (uint8_t)d;
        }
        level->split = (uint8_t)problem->n_dim;
        for (uint32_t t = 0; t < problem->n_tensor; t++)
            if (architecture_keeps(arch, l, &problem->tensor[t]))
                level->keep |= (uint8_t)(1u << t);
    }
}
