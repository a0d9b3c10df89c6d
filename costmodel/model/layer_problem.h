/* From a layer to the loop nest that mappers work on. */
#ifndef COSTMODEL_MODEL_LAYER_PROBLEM_H
#define COSTMODEL_MODEL_LAYER_PROBLEM_H

#include <stdint.h>

#include "base/status.h"
#include "costmodel/model/network.h"
#include "costmodel/model/problem.h"

/* The loop nest of one occurrence of `layer` for `batch` samples, with `out->name` the layer's name.
 *
 * conv, linear and matmul: dimensions R S P Q C K N, with G in front when groups > 1 (C and K are then per
 * group), and
 *   Weights [G] C K R S              (matmul: N [G] C K R S, as every sample has its own second operand)
 *   Inputs  N [G] C (P stride_v + R dilation_v) (Q stride_h + S dilation_h)
 *   Outputs N [G] K P Q
 * as in Timeloop's cnn-layer shape; padding is not modelled, the input extent is (P-1) stride + (R-1)
 * dilation + 1. einsum: as in the file, the bound of dimension N times `batch`; without a dimension N only
 * batch 1 is possible.
 *
 * DSE_BAD_USAGE: a layer without multiply-accumulates, batch 0, or batch > 1 for an einsum without N.
 * DSE_LIMIT: beyond the limits of problem.h. */
DSE_MUST_CHECK enum dse_status layer_problem(const struct layer *layer, uint32_t batch, struct problem *out,
                                             struct dse_error *err);

#endif
