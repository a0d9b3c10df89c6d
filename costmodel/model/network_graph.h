/* A list of layers as a graph, for what works on graphs alone (fused schedules, uops): every layer reads
 * network inputs of its own, so nothing connects them. */
#ifndef COSTMODEL_MODEL_NETWORK_GRAPH_H
#define COSTMODEL_MODEL_NETWORK_GRAPH_H

#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/model/network.h"

/* The graph of `list` (is_graph false) for `batch` samples (0: each layer's own, or 1), in memory of `arena`;
 * it is not to be released (network_free) itself:
 * - a layer of count n is n layers, one after the other: "gate", "gate-2", ...;
 * - every operand of a layer is a network input of its own ("gate.in", "gate.in2"; of a matmul also
 *   "gate.second"), of the size that the list gives the layer;
 * - an einsum is the conv, linear or matmul layer that it is (layer_of_einsum);
 * - samples beyond those that all layers have (`*graph_batch`, the greatest common divisor of their batches)
 *   are rows of layers without a window, groups of a matmul.
 * Multiply-accumulates of the graph for `*graph_batch` samples are those of the list for `batch`.
 * DSE_BAD_INPUT, with the list's file and line: an einsum that is no convolution
 * and no matrix product; batches that differ, at a layer with a window. DSE_BAD_USAGE: `list` is a graph, or
 * says that it has none (not_graph).
 * DSE_LIMIT: more than NETWORK_LAYER_MAX layers with all occurrences, or dimensions beyond the limits;
 * DSE_NO_MEMORY; those of layer_problem. */
DSE_MUST_CHECK enum dse_status network_as_graph(const struct network *list, uint32_t batch,
                                                struct arena *arena, struct network *graph,
                                                uint32_t *graph_batch, struct dse_error *err);

/* The layer that the nest is: a conv (C, K, P, Q, R, S, groups, strides, dilations, H and W just large
 * enough), a linear layer or a matmul of `*samples` samples. What a dimension is follows from the tensors
 * that it indexes, whatever they are called: output and weights K, input and weights C, or R and S where it
 * is added to another one, output and input P and Q, all three groups; only samples are those called N. Name,
 * line and producers of `layer` are not touched. Of two operands without weights the one with windows, or the
 * first, is the input. DSE_BAD_INPUT: it is none of these; the message says why. DSE_LIMIT: dimensions. */
DSE_MUST_CHECK enum dse_status layer_of_einsum(const struct problem *problem, struct layer *layer,
                                               uint32_t *samples, struct dse_error *err);

#endif
