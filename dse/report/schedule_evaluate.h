/* A fused schedule in its text form (docs/soma.md), evaluated on a machine. */
#ifndef DSE_REPORT_SCHEDULE_EVALUATE_H
#define DSE_REPORT_SCHEDULE_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/fused/core_array.h"
#include "costmodel/fused/fused_schedule.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/network.h"
#include "engines/soma/machine/core_choice.h"
#include "engines/soma/notation/notation.h"

/* How a schedule was found. */
struct schedule_search {
    const char *engine, *objective, *stop;
    uint64_t evaluations, seed;
    double cost, bound;    /* of the objective, in joules and seconds; bound 0: none is known */
    double utilization;    /* of the MAC units */
    uint64_t stage1_cycle; /* of the same fusion with double buffering; 0: not told */
};

struct schedule {
    const struct architecture *arch; /* borrowed, as the network */
    const struct network *network;
    uint32_t batch;
    const struct accounting *accounting; /* asked for: one of SoMa's; NULL: what the text says, else `soma` */
    bool compat;                         /* what was: by the published program's rules */
    /* what schedules the core array, borrowed; NULL: what the text says, else "array" */
    const char *core_name;
    struct soma_core_choice core_choice; /* what did */
    struct soma_lfa lfa;
    bool has_dlsa; /* the text gives DRAM order and living durations; else the double-buffer ones */
    uint32_t n_layer_group;
    struct fused_machine machine;
    struct fused_schedule fused;
    struct fused_result result;
    struct fused_trace trace;
    struct core_cost core;                /* of all tiles together */
    const struct schedule_search *search; /* borrowed; NULL: not known */
    uint32_t *place;                      /* (n_tensor) in the DRAM order; UINT32_MAX: never moved */
};

/* Whether the text is a schedule: YAML with the key "soma" at the top, or broken YAML with a line that begins
 * so. */
bool schedule_is_text(const char *text, size_t length);

/* Read the text (`path` for messages) and evaluate it on `arch`. Memory from `arena`. DSE_BAD_INPUT: `arch`
 * is no machine for it, or the text is bad (with file and line). A schedule that breaks a rule or overflows
 * the buffer is DSE_BAD_INPUT as well; the message names the rule, the layer or tensor, and bytes. Others of
 * soma_parse. */
DSE_MUST_CHECK enum dse_status schedule_evaluate(struct schedule *schedule, const char *path,
                                                 const char *text, size_t length, struct arena *arena,
                                                 struct dse_error *err);

/* The larger of what either engine has to do: no schedule of these tiles and tensors ends sooner. */
uint64_t schedule_bound_cycle(const struct schedule *schedule);

/* "ifmap", "weights", "ofmap" or "local"; never NULL. */
const char *schedule_kind_text(enum fused_tensor_kind kind);

#endif
