/* The cost of fused schedules, by whatever accounting: compile a network and a machine once, then price
 * schedules of tiles and DRAM tensors. How a scheduler writes its schedules down, and how it searches them,
 * is its own matter; what a schedule costs, when what happens in it, and what it cannot be below is asked
 * here. Docs: docs/engines.md, "Accountings". */
#ifndef COSTMODEL_FUSED_SCHEDULE_PRICER_H
#define COSTMODEL_FUSED_SCHEDULE_PRICER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/metric.h"
#include "base/status.h"
#include "costmodel/accounting/accounting.h"
#include "costmodel/fused/core_array.h"
#include "costmodel/fused/core_cache.h"
#include "costmodel/fused/fused_schedule.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/network.h"

/* What is compiled; all borrowed, and to outlive the pricer. */
struct schedule_task {
    const struct architecture *arch;
    const struct network *network;
    uint32_t batch;
    struct core_cache *cache;   /* of what tiles cost */
    struct core_scheduler tile; /* prices tiles in place of the accounting; without `cost`: none does */
};

/* What every accounting's compiled form begins with; its own struct follows (pricer_byte). A search that
 * prices by steps of its own takes tiles and machine from here, so that they are the accounting's. */
struct schedule_pricer {
    const struct accounting *accounting;
    struct schedule_task task;
    /* set by `compile` */
    struct fused_machine machine;
    uint32_t word_bit;          /* of an element */
    uint32_t streams;           /* bit r set: tensors of role r go past the buffer */
    uint64_t stay_word;         /* streamed weights that stay from tile to tile (struct core_split) */
    uint32_t buffer;            /* level of the architecture that is the buffer */
    struct core_scheduler tile; /* what a tile costs, behind the cache; for several threads at once */
    struct core_array array;    /* that prices the tiles; all 0: something else does */
};

/* Everything that is known of one schedule. Without a fault all is set, else only `result` and `trace`. */
struct schedule_detail {
    struct fused_result result;
    struct fused_trace trace;
    struct core_cost tiles; /* of all tiles together: the parts of result.core_energy_j */
    uint64_t bound_cycle;   /* 0: no bound is known */
};

/* The members of an accounting of schedules; all required but the bound. */
struct schedule_accounting {
    /* Tiles are cut and counted as the scheduler's published program does it, not as is physically sound. */
    bool as_published;
    bool own_tiles; /* no other scheduler of the core array can price its tiles */
    size_t pricer_byte;
    /* Compile a zeroed pricer whose accounting and task are set. DSE_BAD_INPUT: not such a machine. */
    enum dse_status (*compile)(struct schedule_pricer *pricer, struct dse_error *err);
    /* Totals, and, with a `trace`, when what happens. Contract: fused_evaluate. */
    enum dse_status (*evaluate)(const struct schedule_pricer *pricer, const struct fused_schedule *schedule,
                                struct arena *scratch, struct fused_trace *trace, struct fused_result *result,
                                struct dse_error *err);
    /* The cycles and the parts of the energy of all its tiles. Errors of the tiles' scheduler. */
    enum dse_status (*tiles)(const struct schedule_pricer *pricer, const struct fused_schedule *schedule,
                             struct core_cost *sum, struct dse_error *err);
    /* Cycles that no schedule of the same tiles and tensors, without a fault, is below. NULL: unknown. */
    uint64_t (*bound_cycle)(const struct schedule_pricer *pricer, const struct fused_result *result);
};

/* Compile; memory from `arena`. DSE_BAD_USAGE: an accounting of mappings, or one that prices tiles alone is
 * given another scheduler for them; DSE_NO_MEMORY; errors of `compile`. */
DSE_MUST_CHECK enum dse_status schedule_pricer_new(const struct accounting *accounting,
                                                   const struct schedule_task *task, struct arena *arena,
                                                   struct schedule_pricer **out, struct dse_error *err);

/* Totals of a schedule. A fault is a result, not an error. Errors of fused_evaluate; DSE_INTERNAL: below the
 * accounting's own bound. */
DSE_MUST_CHECK enum dse_status schedule_price(const struct schedule_pricer *pricer,
                                              const struct fused_schedule *schedule, struct arena *scratch,
                                              struct fused_result *result, struct dse_error *err);

/* The same with everything that reports and timelines need; memory from `arena`. */
DSE_MUST_CHECK enum dse_status schedule_price_detail(const struct schedule_pricer *pricer,
                                                     const struct fused_schedule *schedule,
                                                     struct arena *arena, struct schedule_detail *out,
                                                     struct dse_error *err);

/* The accounting's bound of a schedule with these totals and no fault; 0: none is known. DSE_INTERNAL: they
 * are below it. */
DSE_MUST_CHECK enum dse_status schedule_bound(const struct schedule_pricer *pricer,
                                              const struct fused_result *result, uint64_t *bound_cycle,
                                              struct dse_error *err);

/* The shared metrics of a schedule without a fault; the energy of MACs and vector operations is
 * energy_mac_j, that of global buffer, L1 and OL2 energy_buffer_j, that of the buses energy_noc_j; all of the
 * machine leaks all the time. Errors of the tiles' scheduler. */
DSE_MUST_CHECK enum dse_status schedule_metrics(const struct schedule_pricer *pricer,
                                                const struct fused_schedule *schedule,
                                                const struct fused_result *result, struct metrics *out,
                                                struct dse_error *err);

/* The same from the totals of a schedule and of its tiles. */
void schedule_metrics_of(const struct schedule_pricer *pricer, const struct fused_result *result,
                         const struct core_cost *tiles, struct metrics *out);

#endif
