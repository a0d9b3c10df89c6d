/* A fused schedule in its text form (docs/soma.md), evaluated on a machine. */
#ifndef ENGINES_SOMA_SCHEDULE_EVALUATE_H
#define ENGINES_SOMA_SCHEDULE_EVALUATE_H

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

struct soma_schedule {
    const struct architecture *arch; /* borrowed, as the network */
    const struct network *network;
    uint32_t batch;
    const struct accounting *accounting; /* asked for: one of SoMa's; NULL: what the text says, else `soma` */
    bool compat;                         /* what was: by the published program's rules */
    /* what schedules the core array, borrowed; NULL: what the text says, else "array" */
    const char *core_name;
    struct soma_core_choice core_choice; /* what did */
    uint64_t alignment; /* of instructions: offsets in the buffer are multiples of so many bytes */
    struct soma_lfa lfa;
    bool has_dlsa; /* the text gives DRAM order and living durations; else the double-buffer ones */
    uint32_t n_layer_group;
    struct fused_machine machine;
    struct fused_schedule fused;
    struct fused_result result;
    struct fused_trace trace;
    struct core_cost core; /* of all tiles together */
    uint32_t *place;       /* (n_tensor) in the DRAM order; UINT32_MAX: never moved */
};

/* Read the text (`path` for messages) and evaluate it on `arch`. Memory from `arena`. DSE_BAD_INPUT: `arch`
 * is no machine for it, or the text is bad (with file and line). A schedule that breaks a rule or overflows
 * the buffer is DSE_BAD_INPUT as well; the message names the rule, the layer or tensor, and bytes. Others of
 * soma_parse. */
DSE_MUST_CHECK enum dse_status soma_schedule_evaluate(struct soma_schedule *schedule, const char *path,
                                                      const char *text, size_t length, struct arena *arena,
                                                      struct dse_error *err);

/* The larger of what either engine has to do: no schedule of these tiles and tensors ends sooner. */
uint64_t soma_schedule_bound_cycle(const struct soma_schedule *schedule);

/* "ifmap", "weights", "ofmap" or "local"; never NULL. */
const char *soma_schedule_kind_text(enum fused_tensor_kind kind);

#endif
