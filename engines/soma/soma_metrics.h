/* What only schedules of the SoMa family have: columns of points beside the shared metrics. */
#ifndef ENGINES_SOMA_SOMA_METRICS_H
#define ENGINES_SOMA_SOMA_METRICS_H

#include "base/text.h"
#include "engines/driver/engine_schedule.h"

#define SOMA_METRIC_LIST(X, S)                                                                               \
    X(S, compute_cycle, U64, "cycle", NONE, NEITHER, "Cycles in which the core array computes")              \
    X(S, dram_cycle, U64, "cycle", NONE, NEITHER, "Cycles in which the DRAM moves data")                     \
    X(S, stall_cycle, U64, "cycle", NONE, LESS, "Cycles in which the core array waits")                      \
    X(S, buffer_max_byte, F64, "byte", NONE, NEITHER, "Global buffer in use, maximum")                       \
    X(S, buffer_average_byte, F64, "byte", NONE, NEITHER, "Global buffer in use, average over time")         \
    X(S, buffer_average_compute_byte, F64, "byte", NONE, NEITHER,                                            \
      "Global buffer in use, average over the time in which the core array computes")                        \
    X(S, n_layer_group, U64, "1", NONE, NEITHER, "Layer groups between DRAM cuts")                           \
    X(S, n_fine_group, U64, "1", NONE, NEITHER, "Fine-grained fusion groups")                                \
    X(S, n_tile, U64, "1", NONE, NEITHER, "Tiles")                                                           \
    X(S, n_dram_tensor, U64, "1", NONE, NEITHER, "Tensors that the DRAM moves")                              \
    X(S, stage1_latency_cycle, U64, "cycle", NONE, LESS,                                                     \
      "Latency with double buffering, before the second stage")                                              \
    X(S, stage1_energy_j, F64, "J", NONE, LESS, "Energy with double buffering, before the second stage")     \
    X(S, stage1_buffer_average_byte, F64, "byte", NONE, NEITHER,                                             \
      "Global buffer in use with double buffering, average over time")                                       \
    X(S, stage1_buffer_average_compute_byte, F64, "byte", NONE, NEITHER,                                     \
      "Global buffer in use with double buffering, average over the time in which the core array computes")  \
    X(S, placed, U64, "1", NONE, MORE, "1: every tensor has a place in the global buffer")                   \
    X(S, n_split_tensor, U64, "1", NONE, LESS, "Tensors that lie there in several pieces")                   \
    X(S, n_repeated_layer, U64, "1", NONE, NEITHER,                                                          \
      "Layers of repeated blocks that were scheduled as those of the first one, without a search")           \
    X(S, n_cut_layer, U64, "1", NONE, NEITHER, "Layers in parts, whose weights the buffer does not hold")    \
    X(S, stream_byte, F64, "byte", NONE, LESS,                                                               \
      "DRAM traffic of tensors that the global buffer does not keep; 0 where it keeps all")

struct soma_metrics {
    SOMA_METRIC_LIST(METRIC_MEMBER, soma_metrics)
};

extern const struct metric_group soma_group;

/* All missing. */
void soma_metrics_init(struct soma_metrics *metrics);

/* Into and out of a schedule. */
void soma_metrics_put(const struct soma_metrics *metrics, struct engine_schedule *schedule);
struct soma_metrics soma_metrics_get(const struct engine_schedule *schedule);

/* The hook `remark` of the engines: what the first of two stages reached, and what was not searched. */
void soma_remark(const struct engine_schedule *found, struct text_buffer *out);

#endif
