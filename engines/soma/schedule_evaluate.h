/* A fused schedule in its text form (docs/soma.md), evaluated on a machine. */
#ifndef ENGINES_SOMA_SCHEDULE_EVALUATE_H
#define ENGINES_SOMA_SCHEDULE_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/fused/schedule_pricer.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/network.h"
#include "engines/soma/machine/core_choice.h"
#include "engines/soma/notation/notation.h"

struct soma_schedule {
    const struct architecture *arch;     /* borrowed, as the network */
    const struct network *network;       /* given; then what is scheduled of it (scheduled.h) */
    uint32_t batch, samples;             /* given; of what is scheduled, which is set */
    const struct accounting *accounting; /* asked for; NULL: what the text says, else `soma`, which is set */
    /* what schedules the core array, borrowed; NULL: what the text says, else "array" */
    const char *core_name;
    struct soma_core_choice core_choice; /* what did */
    uint64_t alignment; /* of instructions: offsets in the buffer are multiples of so many bytes */
    struct soma_lfa lfa;
    bool has_dlsa; /* the text gives DRAM order and living durations; else the double-buffer ones */
    uint32_t n_layer_group;
    struct fused_machine machine;
    uint32_t buffer; /* level of the architecture */
    struct fused_schedule fused;
    struct schedule_detail detail;
    /* It was evaluated in runs (long_schedule.h): `fused` has numbers alone, and there is no trace. With a
     * fault they are those of a run, which begins at position `first` of the schedule. */
    bool is_long;
    uint64_t first;
    uint32_t *place; /* (n_tensor) in the DRAM order; UINT32_MAX: never moved */
};

/* Read the text (`path` for messages) and evaluate it on `arch`. Memory from `arena`. DSE_BAD_INPUT: `arch`
 * is no machine for it, or the text is bad (with file and line). A schedule that breaks a rule or overflows
 * the buffer is DSE_BAD_INPUT as well; the message names the rule, the layer or tensor, and bytes. Others of
 * soma_parse. */
DSE_MUST_CHECK enum dse_status soma_schedule_evaluate(struct soma_schedule *schedule, const char *path,
                                                      const char *text, size_t length, struct arena *arena,
                                                      struct dse_error *err);

/* Whether its tiles and tensors can be listed. DSE_LIMIT: it is long. */
DSE_MUST_CHECK enum dse_status soma_schedule_listed(const struct soma_schedule *schedule,
                                                    struct dse_error *err);

/* "ifmap", "weights", "ofmap" or "local"; never NULL. */
const char *soma_schedule_kind_text(enum fused_tensor_kind kind);

#endif
