/* A schedule of uops: which core runs which, in which order; when everything happens with a network that
 * takes no time (others: uop_transport.h); a checker that shares no code with that; and what no schedule can
 * be below. docs/klotski.md. */
#ifndef COSTMODEL_UOP_UOP_SCHEDULE_H
#define COSTMODEL_UOP_UOP_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/uop/uop_graph.h"

/* What a core that is free runs next. */
enum uop_firing {
    UOP_STATIC,  /* the next uop of its list, however long it must wait for that */
    UOP_DYNAMIC, /* of those that have all they need the first of its list */
    UOP_ROUNDS,  /* as static, but in rounds: all cores whose next uop has all it needs start it together, and
                  * again when the last of these has ended and its messages have come */
};

struct uop_schedule {
    enum uop_firing firing;
    uint32_t n_core;
    const uint32_t *first; /* (n_core + 1) into order */
    const uint32_t *order; /* (n_uop) uops of core 0 in their order, then of core 1, ... */
};

/* What passes between DRAM and mesh, and the messages of a run whose memory is not free; else 0. */
struct uop_dram_use {
    uint64_t read_word, written_word;
    uint64_t spilled_word; /* of the written ones those that are no results of the network */
    uint64_t cycle;        /* the end of the last write */
    uint64_t busy_cycle;
    uint64_t n_message;                /* between cores and along the rows to and from the DRAM */
    uint64_t sent_word, received_word; /* that leave the cores' memories, and come to them */
};

/* When each uop starts and ends; both (n_uop), the caller's. */
struct uop_times {
    uint64_t *start, *finish;
    uint64_t cycle; /* the last end, of a uop or of a write to the DRAM */
    struct uop_dram_use dram;
};

/* Every core runs its uops in their order (whatever `firing` says), each as soon as what it needs is made;
 * messages take no time. `scratch` is reset by the caller. DSE_BAD_INPUT: no order does that; the message
 * has the circle of uops that wait for each other. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status uop_run_ideal(const struct uop_graph *graph,
                                             const struct uop_schedule *schedule, struct arena *scratch,
                                             struct uop_times *out, struct dse_error *err);

/* Uops by their starts (n_uop), then numbers, into `*order` (n_uop). Memory from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status uop_by_start(const uint64_t *start, uint32_t n_uop, struct arena *arena,
                                            uint32_t **order, struct dse_error *err);

/* Is every uop in the schedule once, none earlier than what it needs, no core busy with two, without
 * dynamic firing each core's order kept, and in rounds none started while one of an earlier round runs? On
 * false `reason` (size bytes) says why not. */
bool uop_times_check(const struct uop_graph *graph, const struct uop_schedule *schedule,
                     const struct uop_times *times, struct arena *scratch, char *reason, size_t size);

/* Cuts of the uops (in the order of their numbers) where all that come later wait for all that come before:
 * the least makespan is the sum of those of the segments. Writes `first` (n_uop + 1 at most): where each
 * segment begins, and n_uop at the end; returns how many segments. Memory from `scratch`: 5 B a uop; 0 when
 * there is none. */
uint32_t uop_segments(const struct uop_graph *graph, struct arena *scratch, uint32_t *first);

/* Earliest starts of uops `first` to `end` - 1 whose producers before them are done at 0, with a core for
 * each: Klotski's Eq. (1). `asap` has an item for each of them. Returns when the last one ends,
 * the longest path. */
uint64_t uop_asap(const struct uop_graph *graph, uint32_t first, uint32_t end, uint64_t *asap);

/* Latest starts with which these uops, whose consumers behind them count for nothing, end by `horizon`, at
 * least their longest path. Eq. (2) with the uop's own latency taken off and not the consumer's, and the
 * horizon less the uop's latency where it has no consumer: as printed it is defined by itself there. */
void uop_alap(const struct uop_graph *graph, uint32_t first, uint32_t end, uint64_t horizon, uint64_t *alap);

/* Cycles that no schedule of uops `first` to `end` - 1, a segment, on `n_core` cores is below: their longest
 * path; work and packing of all those that cannot start before a time nor end later than another before the
 * end (uop_heads.h). Uops pack: of n * m + 1 a core runs n + 1. UINT64_MAX: out of memory. */
uint64_t uop_segment_bound(const struct uop_graph *graph, uint32_t first, uint32_t end, uint32_t n_core,
                           struct arena *scratch);

/* Cycles that no schedule of any partition on all cores of the machine is below: for each layer the least
 * work of all cuts, over the cores. (The latency of a whole layer is no bound: a short last part of the input
 * channels costs less alone.) */
uint64_t uop_partition_bound(const struct uop_network *network, const struct kc_machine *machine,
                             uint32_t batch);

/* The sum over all segments; with UINT64_MAX as above. */
uint64_t uop_bound(const struct uop_graph *graph, uint32_t n_core, struct arena *scratch);

#endif
