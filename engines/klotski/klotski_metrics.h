/* What only schedules of uops have: columns of points beside the shared metrics. */
#ifndef ENGINES_KLOTSKI_KLOTSKI_METRICS_H
#define ENGINES_KLOTSKI_KLOTSKI_METRICS_H

#include "base/text.h"
#include "engines/driver/engine_schedule.h"
#include "engines/klotski/block_fold.h"
#include "engines/klotski/uop_plan.h"

#define KLOTSKI_METRIC_LIST(X, S)                                                                            \
    X(S, n_uop, U64, "1", NONE, NEITHER, "Uops")                                                             \
    X(S, n_repeated_uop, U64, "1", NONE, NEITHER,                                                            \
      "Of these, uops of repeated blocks that are scheduled as those of the first one, without a search")    \
    X(S, n_edge, U64, "1", NONE, NEITHER, "Pairs of uops of which one waits for the other")                  \
    X(S, n_core_used, U64, "1", NONE, NEITHER, "Accelerators that run a uop")                                \
    X(S, work_cycle, U64, "cycle", NONE, NEITHER, "Cycles of all uops together")                             \
    X(S, critical_path_cycle, U64, "cycle", NONE, NEITHER, "Cycles of the longest path of uops")             \
    X(S, bound_cycle, U64, "cycle", NONE, NEITHER, "Cycles that no schedule of these uops is below")         \
    X(S, partition_bound_cycle, U64, "cycle", NONE, NEITHER,                                                 \
      "Cycles that no schedule of any partition is below: the least work over the accelerators")             \
    X(S, core_busy, F64, "1", NONE, MORE, "Share of the accelerators' time in which they run uops")          \
    X(S, n_message, U64, "1", NONE, NEITHER, "Messages between accelerators, and between them and the DRAM") \
    X(S, n_hop, U64, "1", NONE, LESS, "Links that these messages take")                                      \
    X(S, byte_hop, F64, "byte", NONE, LESS, "Bytes of these messages over all links")                        \
    X(S, dram_read_byte, U64, "byte", NONE, LESS, "Bytes read from the DRAM")                                \
    X(S, dram_written_byte, U64, "byte", NONE, LESS, "Bytes written to the DRAM")                            \
    X(S, spilled_byte, U64, "byte", NONE, LESS, "Of these what is no result of the network")                 \
    X(S, first_network_cycle, U64, "cycle", NONE, LESS,                                                      \
      "Cycles until the first of several joined networks is done; the last is at latency_cycle")             \
    X(S, mean_network_cycle, F64, "cycle", NONE, LESS,                                                       \
      "Cycles until one of several joined networks is done, on average")                                     \
    X(S, n_program, U64, "1", NONE, NEITHER,                                                                 \
      "Segments of uops that list schedules left above their bound, with schedule=ilp or relaxed")           \
    X(S, n_program_proved, U64, "1", NONE, NEITHER,                                                          \
      "Of these, those for whose program it is proved that nothing is shorter in slots")                     \
    X(S, n_program_large, U64, "1", NONE, NEITHER, "Of these, programs that were too large to be tried")     \
    X(S, n_window, U64, "1", NONE, NEITHER, "Windows of the schedule whose cores mapping=mip was to choose") \
    X(S, n_window_proved, U64, "1", NONE, NEITHER, "Of these, programs that were solved to the end")

struct klotski_metrics {
    KLOTSKI_METRIC_LIST(METRIC_MEMBER, klotski_metrics)
};

extern const struct metric_group klotski_group;

/* What mathematical programs did in a search: as in struct klotski_metrics, missing where there were none. */
struct klotski_programs {
    uint64_t n_program, n_program_proved, n_program_large, n_window, n_window_proved;
};
extern const struct klotski_programs klotski_no_programs;
void klotski_metrics_programs(const struct klotski_programs *programs, struct engine_schedule *schedule);

/* How many uops of the whole network's `graph` stand in repetitions behind the first; `fold` NULL: none were
 * left out of the search. */
void klotski_metrics_repeated(const struct block_fold *fold, const struct uop_graph *graph,
                              struct engine_schedule *schedule);

/* The engines' hook: the same as lines for people. */
void klotski_remark(const struct engine_schedule *found, struct text_buffer *out);

/* Everything of an engine_schedule but its text. */
void klotski_metrics_put(const struct uop_outcome *outcome, const struct uop_plan *plan,
                         const struct kc_machine *machine, struct engine_schedule *schedule);

#endif
