/* A schedule of uops as Klotski's engines make it: the cut of every layer, and each core's list of uops; its
 * text form (docs/klotski.md, "Schedules as text"); and what it costs on a machine. */
#ifndef ENGINES_KLOTSKI_UOP_PLAN_H
#define ENGINES_KLOTSKI_UOP_PLAN_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "base/timeline_data.h"
#include "costmodel/uop/uop_slices.h"
#include "costmodel/uop/uop_transport.h"

extern const char *const uop_sums_name[3]; /* by enum uop_sums: "all", "chain", "reduce" */

struct uop_plan {
    enum uop_sums sums;
    enum uop_sram sram;
    enum uop_transport transport;
    enum uop_memory memory;
    uint32_t batch;
    const struct uop_cut *cut; /* (network->n_layer) */
    struct uop_schedule schedule;
    /* where they stand in the text that was read, for messages; NULL and 0 without one */
    const int *cut_line; /* (network->n_layer) */
    int cores_line;
};

/* Do all uops of the plan fit their accelerators? On false `reason` (size bytes) says which does not. */
bool uop_plan_fits(const struct uop_network *network, const struct kc_machine *machine,
                   const struct uop_plan *plan, char *reason, size_t size);

/* Everything that is known of one plan. */
struct uop_outcome {
    struct uop_graph graph;
    struct uop_times times;         /* (n_uop) by the plan's transport */
    struct uop_link *link;          /* (cores * UOP_SIDES) */
    uint64_t work_cycle;            /* of all uops */
    uint64_t path_cycle;            /* longest path */
    uint64_t bound_cycle;           /* no order or mapping of the same uops is below */
    uint64_t partition_bound_cycle; /* no schedule of any partition is */
    uint64_t n_mac;
    uint64_t n_slice;  /* that uops run in; of those that run whole, none */
    double busy_share; /* of all cores' time: in which they run a uop */
    double mac_share;  /* of all PEs' time: in which they do a MAC; the paper's hardware utilisation, read one
                        * way or the other */
    double mac_energy_j, buffer_energy_j, noc_energy_j, dram_energy_j, leakage_energy_j;
    double energy_j;  /* the sum of these */
    double sram_byte; /* read and written at all shared memories */
    /* Messages, the links they take, and the bytes over all of these. By UOP_FLITS a uop has one message to
     * all cores that wait for it, over a tree; else one to each, the shortest way. With UOP_DRAM also what
     * passes along rows to and from the DRAM. */
    double byte_hop;
    uint64_t dram_read_byte, dram_written_byte, spilled_byte;
    uint64_t n_message, n_hop;
};

/* Cores are numbered by rows of the mesh. Memory from `arena`. DSE_BAD_INPUT, about the text `path`: a tile
 * does not fit, the lists are not one for each core, an order goes in a circle, the transport cannot hold it;
 * errors of uop_graph_of as such. DSE_INTERRUPTED soon after `cancel` (may be NULL) is set. DSE_INTERNAL: the
 * checker refuses the times. */
DSE_MUST_CHECK enum dse_status uop_plan_evaluate(const struct uop_network *network,
                                                 const struct kc_machine *machine,
                                                 const struct uop_plan *plan, const char *path,
                                                 const atomic_int *cancel, struct arena *arena,
                                                 struct uop_outcome *out, struct dse_error *err);

/* One of the networks that were joined, or the only one. */
struct uop_part {
    const char *name;
    uint64_t start_cycle, finish_cycle; /* of its first uop, and of its last */
    uint64_t work_cycle;
    uint32_t n_uop;
};

/* How many there are. */
uint32_t uop_part_count(const struct uop_graph *graph);

/* What became of number `i`. */
struct uop_part uop_part_of(const struct uop_graph *graph, const struct uop_times *times, uint32_t i);

/* The execution graph (base/timeline_data.h). Of the evaluated `plan`; `core` (n_uop) is where each uop
 * runs. Texts are copied to `arena`. DSE_LIMIT: 2^60 cycles and more. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status uop_plan_timeline(const struct architecture *arch,
                                                 const struct kc_machine *machine,
                                                 const struct uop_plan *plan,
                                                 const struct uop_outcome *outcome, const uint32_t *core,
                                                 const char *title, struct arena *arena,
                                                 struct timeline *timeline, struct dse_error *err);

/* Append the text form; `graph` is the plan's. Check out->failed. */
void uop_plan_write(const struct uop_graph *graph, const struct uop_plan *plan, struct text_buffer *out);

/* What its options say of pools and sums, which decides what the network is for the other readers.
 * DSE_BAD_INPUT as below. */
DSE_MUST_CHECK enum dse_status uop_vector_read(const char *path, const char *text, size_t length,
                                               enum uop_vector *vector, struct dse_error *err);

/* The same, and what must fit. */
DSE_MUST_CHECK enum dse_status uop_options_read(const char *path, const char *text, size_t length,
                                                enum uop_vector *vector, enum uop_sram *sram,
                                                struct dse_error *err);

/* Read it; `batch` is the one asked for. Memory from `arena`. DSE_BAD_INPUT with file and line: unknown keys,
 * another network, a layer that is missing, twice or unknown, sizes of no tile; a uop that is missing, twice
 * or unknown. */
DSE_MUST_CHECK enum dse_status uop_plan_read(const char *path, const char *text, size_t length,
                                             const struct uop_network *network, uint32_t batch,
                                             struct arena *arena, struct uop_plan *plan,
                                             struct dse_error *err);

/* Read the partition alone: the cut of each layer (n_layer), clipped to it. Memory from `arena`.
 * DSE_BAD_INPUT as above, but for options, uops and their number. */
DSE_MUST_CHECK enum dse_status uop_partition_read(const char *path, const char *text, size_t length,
                                                  const struct uop_network *network, struct arena *arena,
                                                  const struct uop_cut **cut, struct dse_error *err);

#endif
