#include "engines/mapspace_constraints.h"

void mapspace_constraints_init(struct mapspace_constraints *constraints, const struct problem *problem,
                               const struct architecture *arch)
{
    *constraints = (struct mapspace_constraints){0};
    constraints->n_level = arch->n_level;
    constraints->n_dim = problem->n_dim;
    constraints->n_tensor = problem->n_tensor;
    for (uint32_t l = 0; l < arch->n_level; l++)
        constraints->level[l].dims_x = constraints->level[l].dims_y = (1u << problem->n_dim) - 1;
}
