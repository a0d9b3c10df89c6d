/* The network-on-chip simulator: a 2-D mesh of wormhole routers with multicast, a global buffer, a DRAM and
 * processing elements that exchange transactions (CoSA, section IV-A; docs/noc.md). Cycle-exact,
 * deterministic, idle cycles skipped. */
#ifndef COSTMODEL_NOC_NOC_H
#define COSTMODEL_NOC_NOC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/measure.h"
#include "costmodel/model/problem.h"

/* What a bandwidth lets through: so many accesses take so many cycles; access 0: no limit. */
struct noc_limit {
    uint64_t access, cycle;
};

enum noc_limited { NOC_ALL, NOC_READS, NOC_WRITES, NOC_LIMITS };

/* DRAM behind the mesh: banks with open rows, one data bus, and the bandwidth of the architecture. Times in
 * cycles of the mesh clock. Defaults: docs/noc.md. */
struct noc_dram {
    uint32_t n_bank;
    uint32_t row_byte;                              /* of one bank, all chips of the rank together */
    uint32_t burst_byte;                            /* one access: the data of one packet */
    uint32_t burst_cycle;                           /* the data bus is busy for one burst */
    struct noc_limit limit[NOC_LIMITS];             /* of all accesses, of reads, of writes */
    uint32_t activate_cycle;                        /* tRCD */
    uint32_t precharge_cycle;                       /* tRP */
    uint32_t read_cycle;                            /* CL: column read to first data */
    uint32_t write_cycle;                           /* CWL */
    uint32_t row_active_cycle;                      /* tRAS */
    uint32_t write_recovery_cycle;                  /* tWR */
    uint32_t write_to_read_cycle;                   /* tWTR */
    uint32_t read_to_write_cycle;                   /* idle bus cycles between read data and write data */
    uint32_t read_to_precharge_cycle;               /* tRTP, from the column command */
    uint32_t refresh_interval_cycle, refresh_cycle; /* tREFI, tRFC; interval 0: no refresh */
    uint32_t queue_length;                          /* accesses waiting or in service */
    uint32_t read_ahead;     /* packets whose reads the DRAM port may have asked for and not sent */
    uint64_t read_base_byte; /* where every read transaction starts; writes start at 0 */
};

/* How a port's counts and sends go together. IN_TURN: the port works on its transactions one at a time, the
 * first whose dependencies are all done. Else counts and sends are two queues that are worked on at the same
 * time, each one at a time: of the sends the first whose dependencies are all done, of the counts the same
 * (DYNAMIC) or strictly in id order, the next waiting for its dependencies (STATIC). */
enum noc_compute { NOC_COMPUTE_IN_TURN, NOC_COMPUTE_DYNAMIC, NOC_COMPUTE_STATIC };

#define NOC_NO_PORT UINT32_MAX

/* The mesh: `columns` x `rows` routers, row 0 at the top, router id = row * columns + column; its local port
 * has the same id. Perimeter ports follow clockwise: north left to right, east top to bottom, south RIGHT to
 * left, west BOTTOM to top. */
struct noc_config {
    uint32_t columns, rows;
    uint32_t pe_rows;     /* rows 0 .. pe_rows-1 hold PEs 0 .. columns*pe_rows-1 at their local ports */
    uint32_t buffer_port; /* of the global buffer: a local port, or NOC_NO_PORT */
    uint32_t dram_port;   /* of the DRAM: a perimeter port, or NOC_NO_PORT: then `dram` says nothing */
    uint32_t flit_bit;    /* 64 */
    uint32_t data_flits;  /* of a packet, besides its head: 4 */
    uint32_t queue_flits; /* output FIFO of a router port: 7 */
    /* the published program and its DRAM; else the traffic of the cost model and the architecture's DRAM */
    bool compat;
    /* compat: a loop over the window (R, S) moves the inputs on; false in CoSA */
    bool resend_windows;
    enum noc_compute compute;
    struct noc_dram dram;
};

/* CoSA's (compat) for `pe_columns` x `pe_rows` PEs: one more row at the bottom, the global buffer at the
 * local port of its last router, the DRAM at that router's south port (4 x 4 PEs: 20 routers, 38 ports,
 * buffer 19, DRAM 29). */
void noc_config_init(struct noc_config *config, uint32_t pe_columns, uint32_t pe_rows);

/* A mesh of cores alone: one at the local port of each router, no buffer and no DRAM, links of `flit_bit`,
 * packets and queues as above, NOC_COMPUTE_STATIC. For programs of one's own, not for noc_program_of. */
void noc_config_cores(struct noc_config *config, uint32_t columns, uint32_t rows, uint32_t flit_bit);

/* The same with what the architecture says of flits, packets and queues (arch->noc). */
void noc_config_cores_of(const struct architecture *arch, uint32_t columns, uint32_t rows,
                         struct noc_config *config);

enum { NOC_ROUTER_MAX = 2048 };

enum noc_operation { NOC_UNICAST, NOC_MULTICAST, NOC_COUNT };

/* One transaction; which of its port's goes first: enum noc_compute. */
struct noc_transaction {
    enum noc_operation operation;
    uint32_t actor; /* the port that sends or counts */
    uint32_t size;  /* packets; cycles for NOC_COUNT */
    uint32_t n_destination, n_dependency;
    uint32_t first_destination, first_dependency; /* into the program's arrays */
};

/* A list of transactions; id = index. */
struct noc_program {
    uint32_t n_transaction;
    struct noc_transaction *transaction; /* (n_transaction) */
    uint32_t *destination;               /* ports */
    uint32_t *dependency;                /* ids, smaller than the transaction's own */
    size_t n_destination, n_dependency;
};

struct noc_result {
    uint64_t cycle;          /* until every transaction is done */
    uint64_t flits_sent;     /* by sources */
    uint64_t flits_received; /* by sinks; a multicast flit counts at each destination */
    uint64_t flits_expected; /* what the program says must arrive: equal to flits_received */
    uint64_t flit_hops;      /* flits over links between routers */
    uint64_t dram_link_flits_in, dram_link_flits_out; /* from, to the DRAM port */
    uint64_t dram_reads, dram_writes, dram_row_misses;
    uint64_t n_active_cycle;  /* cycles in which a flit moved */
    uint64_t n_stepped_cycle; /* worked through one by one: the rest was idle or repeated a steady stream */
};

/* Of a long loop, with its counter: DSE_INTERRUPTED soon after `cancel` (may be NULL) is set. */
DSE_MUST_CHECK static inline enum dse_status noc_heed(uint64_t i, const atomic_int *cancel,
                                                      struct dse_error *err)
{
    if (cancel && i % 1024 == 0 && atomic_load_explicit(cancel, memory_order_relaxed))
        return dse_fail(err, DSE_INTERRUPTED, "interrupted");
    return DSE_OK;
}

/* Ports, destinations, dependencies in range; multicast to local ports only; a mesh of at most NOC_ROUTER_MAX
 * routers. DSE_BAD_INPUT; DSE_INTERRUPTED soon after `cancel` (may be NULL) is set. */
DSE_MUST_CHECK enum dse_status noc_check(const struct noc_config *config, const struct noc_program *program,
                                         const atomic_int *cancel, struct dse_error *err);

/* When each transaction began to send or count, and the number of cycles after which it was done. Both
 * (n_transaction), the caller's; either may be NULL. */
struct noc_trace {
    uint64_t *start, *finish;
};

/* Run; `trace` (may be NULL) is filled. Memory from `arena`: 12 B per transaction, 4 B per dependency (and
 * per count in a static order) and, of the mesh, about 1 KB per router plus a byte per router and port.
 * `max_cycle` 0: no limit, else DSE_LIMIT when it is reached. DSE_INTERRUPTED soon after `cancel` (may be
 * NULL) is set. DSE_INTERNAL when flits are lost or nothing can move (a deadlock), with the transaction that
 * waits. */
DSE_MUST_CHECK enum dse_status noc_simulate(const struct noc_config *config,
                                            const struct noc_program *program, uint64_t max_cycle,
                                            const atomic_int *cancel, struct arena *arena,
                                            const struct noc_trace *trace, struct noc_result *result,
                                            struct dse_error *err);

/* The transactions of a mapping: docs/noc.md. `max_steps`: at most so many steps of the loops at and outside
 * the NoC level are written (0: all); `*n_step` (may be NULL) is how many there are in all. `noc_level` is
 * the level whose network is the mesh. DSE_NO_MEMORY; DSE_LIMIT beyond 2^31 entries; DSE_BAD_USAGE when the
 * mapping needs more PEs than the mesh has. */
DSE_MUST_CHECK enum dse_status noc_program_of(const struct problem *problem, const struct architecture *arch,
                                              const struct mapping *mapping, uint32_t noc_level,
                                              const struct noc_config *config, uint64_t max_steps,
                                              struct arena *arena, struct noc_program *program,
                                              uint64_t *n_step, struct dse_error *err);

/* Append the program as CoSA's simulator reads it, one line per transaction: id, actor, operation (0 unicast,
 * 1 multicast, 2 count), size, source (the actor again), destinations, dependencies; the lists separated by
 * blanks. Check out->failed. */
void noc_program_write_csv(const struct noc_program *program, struct text_buffer *out);

/* The level whose network is the mesh: the one with the PE array below it, inside the outermost level where
 * possible; -1 when the architecture has no such fan-out. */
int noc_level_of(const struct architecture *arch);

/* What a sweep reports: the simulated latency of one execution of the mapping. */
struct noc_latency {
    uint64_t cycle;
    uint64_t n_step, n_step_simulated; /* fewer: the others are extrapolated from the steps of their kind */
    /* of the busiest port, PE or bandwidth of a level over all steps: `cycle` is never less */
    double bound_cycle;
    struct noc_result simulated; /* of the steps that were simulated */
};

/* Steps of the largest simulation that noc_latency_of should be asked for in a sweep: docs/noc.md,
 * "Extrapolation". */
enum { NOC_LATENCY_STEPS = 4096 };

/* The default mesh of an architecture: as wide and high as the PE array; an array of one row or column
 * becomes the most square rectangle with as many PEs (16 x 1: 4 x 4). The DRAM has the bandwidth of the
 * outermost level, unless noc.compat asks for CoSA's. What the architecture says itself (arch->noc) comes
 * before the defaults. `*noc_level`: noc_level_of. DSE_BAD_USAGE when there is no array, one too large, too
 * slow a DRAM, or numbers that do not go together. */
DSE_MUST_CHECK enum dse_status noc_config_of(const struct architecture *arch, struct noc_config *config,
                                             uint32_t *noc_level, struct dse_error *err);

/* Program and simulation together with the default mesh of the architecture; `max_steps` 0: everything is
 * simulated. DSE_BAD_USAGE when the architecture has no mesh; DSE_INTERRUPTED soon after `cancel` (may be
 * NULL) is set. */
DSE_MUST_CHECK enum dse_status noc_latency_of(const struct problem *problem, const struct architecture *arch,
                                              const struct mapping *mapping, uint64_t max_steps,
                                              const atomic_int *cancel, struct arena *arena,
                                              struct noc_latency *latency, struct dse_error *err);

/* About what noc_latency_of would say, in some microseconds: the root of the sum of squares of what each port
 * and the busiest PE need by themselves, at least its bound_cycle but for bandwidths inside the memory. It is
 * there to rank mappings, no more (docs/noc.md, "What to simulate"). 0: noc_latency_of would refuse the
 * mapping. Memory from `arena`. */
double noc_latency_guess(const struct problem *problem, const struct architecture *arch,
                         const struct mapping *mapping, struct arena *arena);

/* Metric noc_latency_cycle: noc_latency_of one execution; the limit is its `max_steps`. */
extern const struct measure measure_noc;

#endif
