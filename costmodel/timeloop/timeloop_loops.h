/* The loops of one Timeloop mapping directive: factors and permutation, in all their spellings. */
#ifndef COSTMODEL_TIMELOOP_TIMELOOP_LOOPS_H
#define COSTMODEL_TIMELOOP_TIMELOOP_LOOPS_H

#include <stdint.h>

#include "base/status.h"
#include "base/yaml.h"
#include "costmodel/model/problem.h"

/* Loop bounds by dimension, factor[n_dim], from "C=4 K=2", "C4 K2", [C=4, K=2] or {C: 4, K: 2}; a dimension
 * that is not named keeps its value in `factor`. `node` may be NULL (nothing is set). Imperfect factors
 * ("C=3,2"), 0 and repeated dimensions are refused. */
DSE_MUST_CHECK enum dse_status timeloop_factors(const struct yaml_doc *doc, const struct ynode *node,
                                                const struct problem *problem, uint32_t *factor,
                                                struct dse_error *err);

/* The order of the dimensions, order[n_dim] innermost first, from "RSC", "R,S,C", "R S C" or [R, S, C];
 * dimensions that are not named follow in the problem's order. `node` may be NULL. Repeated and unknown
 * dimensions are refused. */
DSE_MUST_CHECK enum dse_status timeloop_permutation(const struct yaml_doc *doc, const struct ynode *node,
                                                    const struct problem *problem, uint8_t *order,
                                                    struct dse_error *err);

#endif
