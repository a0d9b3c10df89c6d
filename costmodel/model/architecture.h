/* An architecture: a linear hierarchy of storage levels above an array of MACs. Plain data, copied by value.
 * Level 0 is the innermost storage (it feeds the MACs); the last level is the outermost (usually DRAM).
 * Meshes are cumulative as in Timeloop: level l has mesh_x * mesh_y = instances in the whole chip, and the
 * fan-out from level l to the level inside it is mesh_x(l-1)/mesh_x(l) by mesh_y(l-1)/mesh_y(l) (the MACs
 * stand at "level -1"). */
#ifndef COSTMODEL_MODEL_ARCHITECTURE_H
#define COSTMODEL_MODEL_ARCHITECTURE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "costmodel/model/problem.h"

enum {
    ARCH_LEVEL_MAX = 16,
    ARCH_NAME_MAX = 64,
    ARCH_GROUP_MAX = 8,        /* groups of storages that share banks */
    ARCH_TENSOR_NAME_MAX = 16, /* tensors that levels keep by name, all levels together */
    ARCH_RULES_BYTE = 6144     /* what a machine's file says of its mappings */
};

#define ARCH_UNLIMITED UINT64_MAX

/* The range of most numbers; the least is "more than zero". */
#define ARCH_LEAST 0x1p-1000
#define ARCH_MOST 0x1p53

/* How words get from one instance of an array to the next (docs/interstellar.md); accountings that know only
 * one kind of network take no notice. */
enum array_link {
    ARRAY_SYSTOLIC,  /* neighbours hand them on */
    ARRAY_BROADCAST, /* a bus from outside, no links between neighbours */
    ARRAY_TREE,      /* as ARRAY_BROADCAST; partial sums are added up by a tree */
    ARRAY_LINK_COUNT
};

/* One of several memories that lie side by side at a level. */
struct storage_part {
    uint64_t size_word; /* of one instance */
    double access_energy_j;
};

/* Members are in an order that leaves no holes: evaluations go through many of them. */
struct storage_level {
    char name[ARCH_NAME_MAX];
    char array[ARCH_NAME_MAX]; /* native name of the array just below this level ("PE"), or "" */
    bool is_dram;
    bool reduces;       /* merges partial sums itself; a DRAM does not unless said */
    uint16_t keep_name; /* bit i set: tensors that the architecture's tensor_name[i] calls may be kept here */
    uint32_t keep_role; /* bit r set: tensors of role r may be kept here (all set for Timeloop files) */
    uint32_t word_bit;
    uint32_t block_word;       /* words per access ("vector") */
    uint32_t cluster_size;     /* instances that share one access port */
    uint32_t bank_word;        /* of a bank, with bank_group */
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
    double area_mm2;      /* of one instance; 0: not known, as for all areas */
    double byte_area_mm2; /* and for each byte that it holds */
    double hop_area_mm2;  /* of the network below, at each instance of what is inside */
    double leakage_w;     /* of one instance, whatever it does */
    uint32_t link;        /* enum array_link */
    const char *source;   /* static: what table energies and areas are from; NULL: the file */
    /* Memories side by side: tensors of role r lie in part[part_of[r]], and size_word is the sum of the
     * parts'. 0: one memory for all, as said above. */
    uint32_t n_part;
    uint8_t part_of[TENSOR_ROLE_COUNT];
    /* Of bank groups (bank_group.h) the number of that whose banks this storage shares, counted from 1;
     * size_word is then what is left when every other storage of the group has one bank. 0: it has banks of
     * its own, or none. */
    uint8_t bank_group;
    /* only an array's fan-out, without a memory: no tensor lies there, and it costs nothing */
    bool is_fanout;
    struct storage_part part[TENSOR_ROLE_COUNT];
};

/* The numbers of a level that are checked and hashed alike, in the order of the hash: X(HASHED or SET,
 * member, what messages call it, least, most), with `level` at hand for the limits. A new number is SET: it
 * is hashed with its name and only where it is not 0, so that other machines keep their hash. */
#define STORAGE_LEVEL_NUMBERS(X)                                                                             \
    X(HASHED, word_bit, "word bits", 1, 65536)                                                               \
    X(HASHED, block_word, "words per access", 1, ARCH_MOST)                                                  \
    X(HASHED, cluster_size, "cluster size", 1, (double)level->instances) /* else there is no cluster */      \
    X(HASHED, size_word, "capacity in words", 1, level->size_word == ARCH_UNLIMITED ? 0x1p64 : ARCH_MOST)    \
    X(HASHED, multiple_buffering, "multiple buffering", ARCH_LEAST, ARCH_MOST)                               \
    X(HASHED, min_utilization, "minimum utilization", 0, 1)                                                  \
    X(HASHED, mesh_x, "columns", 0, 0x1p64) /* architecture_check looks at the mesh as a whole */            \
    X(HASHED, mesh_y, "rows", 0, 0x1p64)                                                                     \
    X(HASHED, read_bandwidth_word_per_cycle, "read bandwidth", ARCH_LEAST, INFINITY)                         \
    X(HASHED, write_bandwidth_word_per_cycle, "write bandwidth", ARCH_LEAST, INFINITY)                       \
    X(HASHED, shared_bandwidth_word_per_cycle, "shared bandwidth", ARCH_LEAST, INFINITY)                     \
    X(HASHED, read_energy_j, "read energy", 0, ARCH_MOST)                                                    \
    X(HASHED, write_energy_j, "write energy", 0, ARCH_MOST)                                                  \
    X(HASHED, update_energy_j, "update energy", 0, ARCH_MOST)                                                \
    X(HASHED, address_energy_j, "address generation energy", 0, ARCH_MOST)                                   \
    X(HASHED, hop_energy_j, "energy per hop", 0, ARCH_MOST)                                                  \
    X(HASHED, router_energy_j, "router energy", 0, ARCH_MOST)                                                \
    X(HASHED, ingress_energy_j, "ingress energy", 0, ARCH_MOST)                                              \
    X(HASHED, fill_latency_cycle, "network fill latency", 0, ARCH_MOST)                                      \
    X(HASHED, drain_latency_cycle, "network drain latency", 0, ARCH_MOST)                                    \
    X(SET, area_mm2, "area", 0, ARCH_MOST)                                                                   \
    X(SET, byte_area_mm2, "area per byte", 0, ARCH_MOST)                                                     \
    X(SET, hop_area_mm2, "area of the network", 0, ARCH_MOST)                                                \
    X(SET, leakage_w, "leakage", 0, ARCH_MOST)                                                               \
    X(SET, link, "kind of link", 0, ARRAY_LINK_COUNT - 1)                                                    \
    X(SET, n_part, "memories side by side", 0, TENSOR_ROLE_COUNT)                                            \
    X(SET, bank_group, "group of banks", 0, ARCH_GROUP_MAX)                                                  \
    X(SET, bank_word, "words of a bank", 0, UINT32_MAX)

struct mac_array {
    char name[ARCH_NAME_MAX];
    uint32_t word_bit;
    uint64_t instances, mesh_x, mesh_y;
    double energy_j; /* of one multiply-accumulate */
    /* 1: it holds an operand of each tensor, so that the innermost level sees the order of its loops; 0: it
     * does not. Interstellar's accounting only. */
    uint32_t capacity;
    double area_mm2;    /* of one of them; 0: not known */
    double leakage_w;   /* the same */
    const char *source; /* as of a level */
};

/* As STORAGE_LEVEL_NUMBERS. */
#define MAC_ARRAY_NUMBERS(X)                                                                                 \
    X(HASHED, word_bit, "MAC word bits", 1, 65536)                                                           \
    X(HASHED, mesh_x, "MAC columns", 0, 0x1p64)                                                              \
    X(HASHED, mesh_y, "MAC rows", 0, 0x1p64)                                                                 \
    X(HASHED, energy_j, "MAC energy", 0, ARCH_MOST)                                                          \
    X(SET, area_mm2, "MAC area", 0, ARCH_MOST)                                                               \
    X(SET, leakage_w, "MAC leakage", 0, ARCH_MOST)                                                           \
    X(SET, capacity, "MAC capacity", 0, 1)

/* A GPU: the instances of the array below storage `level` are the threads of a block, what lies inside a
 * thread are its registers (docs/gpu.md). The limits are CUDA's; a mapping that breaks one does not fit. */
struct gpu_limits {
    bool present;
    uint32_t level;             /* its spatial loops are the threads of one block */
    uint32_t threads_per_block; /* the product of the block's x, y and z */
    uint32_t thread_dim[3];     /* the largest x, y and z of a block */
    uint64_t register_bit;      /* of one block: shared by its threads */
};

/* Storages that share one memory of several banks: each takes as many as its tiles need, and at least one. */
struct bank_group {
    char name[ARCH_NAME_MAX];
    uint32_t banks;
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
    NOC_SET_COMPAT,         /* 1: yes */
    NOC_SET_COUNT
};

/* What fused schedules take for their buffer (docs/fused-machines.md). */
struct fused_setting {
    uint32_t buffer; /* level + 1; 0: the outermost one on the chip */
    bool keeps_all;  /* it holds every tensor, whatever its level keeps for mappings */
};

struct architecture {
    char name[ARCH_NAME_MAX];
    double clock_hz; /* 1e9 for Timeloop files, which have no clock (cycles = ns) */
    /* neighbour-to-neighbour forwarding (docs/cost-model.md, "Multicast, scatter, links"); native files:
     * off unless said */
    bool link_transfers;
    /* native files: each level's spatial loops must fit its own fan-out, and no mapping may bypass the
     * outermost level; Timeloop only checks the cumulative meshes and charges nothing for what is bypassed
     * there (docs/cost-model.md, "Time and fit") */
    bool strict_fanout;
    /* What Interstellar's files say of the search: the least share of a side of the array, and of the whole,
     * that unrolled loops must use; and whether a side may carry one loop only. */
    double utilization_threshold;
    bool no_replication;
    bool power_gating;   /* instances that a mapping does not use do not leak */
    double max_area_mm2; /* a larger machine is infeasible; 0: no limit */
    uint32_t n_level;
    uint32_t unread_leak_line; /* of a Timeloop v3 file's ERT: its first leakage, not counted; 0: none */
    struct storage_level level[ARCH_LEVEL_MAX];
    struct mac_array mac;
    uint32_t n_group;
    struct bank_group group[ARCH_GROUP_MAX]; /* (n_group) */
    uint32_t n_tensor_name;
    char tensor_name[ARCH_TENSOR_NAME_MAX][ARCH_NAME_MAX]; /* (n_tensor_name) of all keep_name */
    struct gpu_limits gpu;
    uint32_t noc[NOC_SET_COUNT]; /* 0: the simulator's default */
    struct fused_setting fused;
    /* What the machine's file demands of mappings, "": nothing. The file's path in the first line, then a
     * line for each constraint (docs/engines.md): the line of the file, a blank, the constraint as YAML
     * (machine_rules.h). */
    char rules[ARCH_RULES_BYTE];
};

/* As STORAGE_LEVEL_NUMBERS, of the whole chip. */
#define ARCHITECTURE_NUMBERS(X)                                                                              \
    X(HASHED, clock_hz, "clock in Hz", 1e-3, 1e15)                                                           \
    X(HASHED, link_transfers, "link transfers", 0, 1)                                                        \
    X(HASHED, strict_fanout, "strict fan-out", 0, 1)                                                         \
    X(SET, n_group, "groups of banks", 0, ARCH_GROUP_MAX)                                                    \
    X(SET, max_area_mm2, "largest area", 0, ARCH_MOST)                                                       \
    X(SET, power_gating, "power gating", 0, 1)                                                               \
    X(SET, fused.buffer, "buffer of fused schedules", 0, ARCH_LEVEL_MAX)                                     \
    X(SET, fused.keeps_all, "a buffer that keeps all", 0, 1)                                                 \
    X(SET, utilization_threshold, "utilization threshold", 0, 1)                                             \
    X(SET, no_replication, "no replication", 0, 1)

/* Level index by name, or -1. */
int architecture_find_level(const struct architecture *arch, const char *name);

/* The level that a loop or tensor is said of: by its name, or the fan-out inter_NAME_spatial of the container
 * NAME of a Timeloop v4 file; -1: none. */
int architecture_find_target(const struct architecture *arch, const char *name);

/* May level l keep the tensor, by its role or by its name? */
bool architecture_keeps(const struct architecture *arch, uint32_t l, const struct tensor *tensor);

/* A level that keeps tensors by name alone keeps one of the problem's: else it was made for other problems.
 * DSE_BAD_INPUT names level and problem. */
DSE_MUST_CHECK enum dse_status architecture_suits(const struct architecture *arch,
                                                  const struct problem *problem, struct dse_error *err);

/* Usable words of one instance, floor(size / multiple_buffering), or ARCH_UNLIMITED. */
uint64_t architecture_usable_words(const struct storage_level *level);

/* The share of the machine's speed that a level's bandwidths leave when each instance reads and writes so
 * many words a cycle; 1: they limit nothing (docs/cost-model.md, "Time and fit"). */
static inline double architecture_slowdown(const struct storage_level *level, double read_word_per_cycle,
                                           double write_word_per_cycle)
{
    const double both_word_per_cycle = write_word_per_cycle + read_word_per_cycle;
    double slowdown = 1;
    if (level->read_bandwidth_word_per_cycle < read_word_per_cycle)
        slowdown = fmin(slowdown, level->read_bandwidth_word_per_cycle / read_word_per_cycle);
    if (level->write_bandwidth_word_per_cycle < write_word_per_cycle)
        slowdown = fmin(slowdown, level->write_bandwidth_word_per_cycle / write_word_per_cycle);
    if (level->shared_bandwidth_word_per_cycle < both_word_per_cycle)
        slowdown = fmin(slowdown, level->shared_bandwidth_word_per_cycle / both_word_per_cycle);
    return slowdown;
}

/* Fan-out from level l to the next inner level (or the MACs for l = 0). */
void architecture_fanout(const struct architecture *arch, uint32_t l, uint64_t *x, uint64_t *y);

/* The area of one instance of level l; 0 when it is not known. */
double architecture_level_area_mm2(const struct architecture *arch, uint32_t l);

/* The sum of all areas that are known, all instances; NaN when none is. */
double architecture_area_mm2(const struct architecture *arch);

/* Whether that keeps within max_area_mm2; if not, why in `reason`. */
bool architecture_area_fits(const struct architecture *arch, char *reason, size_t size);

/* What leaks in watts when a mapping uses so many instances of each level (n_level) and so many MACs: those
 * with power gating, all of them without. */
double architecture_leakage_w(const struct architecture *arch, const double *used, double mac_used);

/* What leaks of all instances; 0: no leakage is known. And over so many cycles, in joules. */
double architecture_all_leakage_w(const struct architecture *arch);
double architecture_all_leakage_j(const struct architecture *arch, double cycles);

/* Schedules of whole networks leak all the time: how much of a machine they use when is not known. False: it
 * gates power, so that nothing can be said; then why in `reason`. */
bool architecture_leaks_always(const struct architecture *arch, char *reason, size_t size);

/* From now on nothing of it leaks. */
void architecture_stop_leakage(struct architecture *arch);

/* No mapping of so many multiply-accumulates that takes no fewer cycles loses less, in joules. With power
 * gating an instance in use serves no more MACs than lie inside it, each for no more than one
 * multiply-accumulate a cycle. */
double architecture_least_leakage_j(const struct architecture *arch, double macs, double cycles);

/* Limits, unique names, meshes that divide, positive sizes, finite non-negative numbers, a largest area only
 * with some area to compare. */
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
