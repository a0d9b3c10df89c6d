/* Reads the fused schedules of tests/known/soma/oracles: each with what it takes to evaluate it, the
 * attributes it was made from, and every event that the published program's evaluator gave it. */
#ifndef TESTS_SUPPORT_FUSED_ORACLE_H
#define TESTS_SUPPORT_FUSED_ORACLE_H

#include "costmodel/fused/fused_schedule.h"

enum { FUSED_N_ORACLE = 16, FUSED_ORACLE_LIST_MAX = 512 };

/* Their names: those of the files. */
extern const char *const fused_oracle_name[FUSED_N_ORACLE];

struct fused_oracle {
    const char *name;
    struct fused_schedule schedule;
    struct fused_machine machine;
    /* The layer-fusion attributes: layers in computing order; where in it layer groups and fine-grained
     * groups start; tiles per fine-grained group. */
    uint32_t n_layer, n_group, n_fine;
    uint32_t order[FUSED_ORACLE_LIST_MAX], group[FUSED_ORACLE_LIST_MAX], fine[FUSED_ORACLE_LIST_MAX],
        tiling[FUSED_ORACLE_LIST_MAX];
    /* What comes out. */
    uint64_t cycle, dram_byte, dram_cycle, buffer_max_byte;
    double core_energy_j, dram_energy_j;
    double byte_cycle;        /* the published program's sum over the gaps between tile starts */
    struct fused_trace trace; /* all but the stalls */
};

/* Read tests/known/soma/oracles/NAME.csv. Memory from `arena`. DSE_IO, DSE_NO_MEMORY; DSE_BAD_INPUT with the
 * line. */
DSE_MUST_CHECK enum dse_status fused_oracle_read(const char *name, struct arena *arena,
                                                 struct fused_oracle *oracle, struct dse_error *err);

/* Arrays (n_tile), (n_tensor), (n_tile + 1) for a trace of the schedule. */
DSE_MUST_CHECK bool fused_trace_allocate(const struct fused_schedule *schedule, struct arena *arena,
                                         struct fused_trace *trace);

/* Make the lists of what each tile reads, from kind, layer and use of the tensors. Memory from `arena`. */
DSE_MUST_CHECK bool fused_schedule_list_reads(struct fused_schedule *schedule, struct arena *arena);

#endif
