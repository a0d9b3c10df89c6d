/* A good DLSA of an LFA without a search: list scheduling of the DRAM (docs/soma-search.md, "Prefetching"). */
#ifndef ENGINES_SOMA_PREFETCH_H
#define ENGINES_SOMA_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/fused_schedule.h"

/* When a store goes on the DRAM. */
enum soma_store_rule {
    SOMA_STORE_SOON, /* before any load that could start only later or at the same time */
    SOMA_STORE_LATE  /* where the DRAM would wait, or where room or another tensor needs it */
};

/* Which load from further back may go on the DRAM where it would wait for the next one's room or data. */
enum soma_fill_rule {
    SOMA_FILL_FIT, /* one that is over when the wait is, or is needed as early as what it holds up */
    SOMA_FILL_ANY  /* any */
};

struct soma_prefetch_options {
    enum soma_store_rule store_rule;
    enum soma_fill_rule fill_rule;
    uint32_t look_ahead; /* so many loads behind the next one are looked at; 0: none */
};

struct soma_prefetch_result {
    bool fits;      /* false: each tile's own tensors do not fit; nothing was changed */
    uint64_t cycle; /* FUSED_NEVER when it does not fit */
    uint64_t compute_cycle, dram_cycle, dram_byte;
    double core_energy_j;
};

/* Put a DRAM order and living durations into `schedule`, which is as soma_parse made it: loads in the order of their first use,
 * each as early as the DRAM and the buffer let it; stores by the rule. Valid for fused_evaluate, which gives the same cycles.
 * `buffer_limit` is what may live at a position. Working memory from `scratch`, which the caller resets. Linear in tiles and
 * tensors but for the positions by which loads come early. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status soma_prefetch(struct fused_schedule *schedule,
                                             const struct fused_machine *machine, uint64_t buffer_limit,
                                             const struct soma_prefetch_options *options,
                                             struct arena *scratch, struct soma_prefetch_result *result,
                                             struct dse_error *err);

#endif
