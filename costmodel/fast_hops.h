/* Hops of multicast groups in closed form, where columns and rows of the mesh separate. Private. */
#ifndef COSTMODEL_FAST_HOPS_H
#define COSTMODEL_FAST_HOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/compiled.h"
#include "costmodel/fast_nest.h"

/* Sum over all groups of tensor t below level l of the hops that reach a group's members (NOTES section 10), in `*hops`. The groups
 * must be even: no two spatial loops move one rank of t. `alone`: each child is a group. False when the loops do not fill whole rows, so that
 * columns and rows do not separate; then the mesh has to be looked at child by child. */
bool fast_even_hops(const struct evaluator *evaluator, const struct fast_nest *nest, uint32_t l, uint32_t t,
                    bool alone, double *hops);

#endif
