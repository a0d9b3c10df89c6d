/* Hops of multicast groups of one size: in closed form where columns and rows of the mesh separate.
 * Private. */
#ifndef COSTMODEL_LOOPNEST_FAST_HOPS_H
#define COSTMODEL_LOOPNEST_FAST_HOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/loopnest/compiled.h"
#include "costmodel/loopnest/fast_mesh.h"
#include "costmodel/loopnest/fast_nest.h"

/* Fill mesh->all.class_[0].hops: the sum over all groups of tensor t below level l of the hops that reach
 * a group's members (docs/cost-model.md, "Energy of networks"). After fast_mesh_groups, for even groups:
 * no two spatial loops move one rank of t. `alone`: each child is a group. Uses the mesh's arrays as
 * scratch. */
void fast_even_hops(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t l, uint32_t t,
                    bool alone, struct fast_mesh *mesh);

#endif
