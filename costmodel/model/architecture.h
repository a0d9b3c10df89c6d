/* An architecture: a linear hierarchy of storage levels above an array of MACs. Plain data, copied by value.
 * Level 0 is the innermost storage (it feeds the MACs); the last level is the outermost (usually DRAM).
 * Meshes are cumulative as in Timeloop: level l has mesh_x * mesh_y = instances in the whole chip, and the
 * fan-out from level l to the level inside it is mesh_x(l-1)/mesh_x(l) by mesh_y(l-1)/mesh_y(l) (the MACs
 * stand at "level -1"). */
#ifndef COSTMODEL_MODEL_ARCHITECTURE_H
#define COSTMODEL_MODEL_ARCHITECTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum { ARCH_LEVEL_MAX = 16, ARCH_NAME_MAX = 64 };

#define ARCH_UNLIMITED UINT64_MAX

struct storage_level {
    char name[ARCH_NAME_MAX];
    char array[ARCH_NAME_MAX]; /* native name of the array just below this level ("PE"), or "" */
    bool is_dram;
    bool reduces;       /* merges partial sums itself; a DRAM does not unless said (NOTES section 10) */
    uint32_t keep_role; /* bit r set: tensors of role r may be kept here (all set for Timeloop files) */
    uint32_t word_bit;
    uint32_t block_word;       /* words per access ("vector") */
    uint32_t cluster_size;     /* instances that share one access port (NOTES section 9) */
    uint64_t size_word;        /* capacity of one instance, or ARCH_UNLIMITED */
    double multiple_buffering; /* the usable size is floor(size_word / multiple_buffering) */
    double min_utilization;    /* of the usable size, 0..1 */
    uint64_t instances, mesh_x, mesh_y;
    double read_bandwidth_word_per_cycle; /* of one instance; INFINITY when not limited */
    double write_bandwidth_word_per_cycle;
    double shared_bandwidth_word_per_cycle;
    double read_energy_j, write_energy_j, update_energy_j; /* of one access of block_word words */
    double address_energy_j;                               /* per address generation */
    /* the network from this level to the one inside it */
    double hop_energy_j;     /* per word and hop */
    double router_energy_j;  /* per word and router */
    double ingress_energy_j; /* per word that enters */
    uint64_t fill_latency_cycle, drain_latency_cycle;
};

struct mac_array {
    char name[ARCH_NAME_MAX];
    uint32_t word_bit;
    uint64_t instances, mesh_x, mesh_y;
    double energy_j; /* of one multiply-accumulate */
};

/* A GPU: the instances of the array below storage `level` are the threads of a block, what lies inside a
 * thread are its registers (docs/gpu.md). The limits are CUDA's; a mapping that breaks one does not fit. */
struct gpu_limits {
    bool present;
    uint32_t level;             /* its spatial loops are the threads of one block */
    uint32_t threads_per_block; /* the product of the block's x, y and z */
    uint32_t thread_dim[3];     /* the largest x, y and z of a block */
    uint64_t register_bit;      /* of one block: shared by its threads */
};

/* What a file says about the simulated network (docs/noc.md). */
enum noc_setting {
    NOC_SET_COLUMNS, /* of PEs; with the next */
    NOC_SET_PE_ROWS,
    NOC_SET_FLIT_BIT,
    NOC_SET_DATA_FLITS,
    NOC_SET_QUEUE_FLITS,
    NOC_SET_DRAM_BANKS,
    NOC_SET_DRAM_ROW_BYTE,
    NOC_SET_DRAM_BURST_CYCLE,
    NOC_SET_DRAM_ACTIVATE_CYCLE,
    NOC_SET_DRAM_PRECHARGE_CYCLE,
    NOC_SET_DRAM_READ_CYCLE,
    NOC_SET_DRAM_WRITE_CYCLE,
    NOC_SET_DRAM_QUEUE,
    NOC_SET_DRAM_READ_AHEAD,
    NOC_SET_RESEND_WINDOWS, /* 1: yes */
    NOC_SET_COUNT
};

struct architecture {
    char name[ARCH_NAME_MAX];
    double clock_hz; /* 1e9 for Timeloop files, which have no clock (cycles = ns) */
    /* neighbour-to-neighbour forwarding (NOTES section 6); native files: off unless said */
    bool link_transfers;
    /* each level's spatial loops must fit its own fan-out (native files); Timeloop only checks the cumulative
     * meshes (NOTES section 8) */
    bool strict_fanout;
    uint32_t n_level;
    struct storage_level level[ARCH_LEVEL_MAX];
    struct mac_array mac;
    struct gpu_limits gpu;
    uint32_t noc[NOC_SET_COUNT]; /* 0: the simulator's default */
};

/* Level index by name, or -1. */
int architecture_find_level(const struct architecture *arch, const char *name);

/* Usable words of one instance, floor(size / multiple_buffering), or ARCH_UNLIMITED. */
uint64_t architecture_usable_words(const struct storage_level *level);

/* Fan-out from level l to the next inner level (or the MACs for l = 0). */
void architecture_fanout(const struct architecture *arch, uint32_t l, uint64_t *x, uint64_t *y);

/* Limits, unique names, meshes that divide, positive sizes, finite non-negative numbers. */
DSE_MUST_CHECK enum dse_status architecture_check(const struct architecture *arch, struct dse_error *err);

/* Content hash of everything that determines a result (names do not, except that levels are told apart by
 * position). */
uint64_t architecture_hash(const struct architecture *arch);

/* One quantity replaced by a sweep axis or --set: "GlobalBuffer.capacity" = "128 KiB". */
struct arch_override {
    const char *path;
    const char *value;
};

#endif
