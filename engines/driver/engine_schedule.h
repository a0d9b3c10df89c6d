/* What a scheduler finds for a whole network. */
#ifndef ENGINES_DRIVER_ENGINE_SCHEDULE_H
#define ENGINES_DRIVER_ENGINE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

/* One schedule with its totals, of one execution of the network for the task's batch. SI units, bytes,
 * cycles. */
struct engine_schedule {
    uint64_t cycle;
    double latency_s;
    double energy_j;
    double energy_mac_j, energy_buffer_j, energy_noc_j, energy_dram_j; /* their sum is energy_j */
    double dram_byte;
    uint64_t n_mac;
    double utilization;                              /* n_mac / (MAC units * cycle) */
    uint64_t compute_cycle, dram_cycle, stall_cycle; /* busy times, and how long the core array waits */
    double buffer_max_byte, buffer_average_byte; /* alive in the global buffer; the average is over time */
    uint64_t n_layer_group, n_fine_group;        /* between DRAM cuts; fine-grained groups in all */
    uint64_t n_tile, n_dram_tensor;
    uint64_t stage1_cycle; /* of the same layer fusion with double buffering; 0: none */
    double stage1_energy_j, stage1_buffer_average_byte;
    const char *accounting; /* a constant: which rules priced it: "soma", "soma-compat" */
    const char *text;       /* its text form, which `dse eval` reads */
    size_t text_length;
};

#endif
