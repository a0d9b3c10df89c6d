/* Between a mapping and its transactions: the loops around the PEs, how each tensor travels, which PEs share
 * what (docs/noc.md, "Transactions of a mapping"). Private to this folder. */
#ifndef COSTMODEL_NOC_NOC_PLAN_H
#define COSTMODEL_NOC_NOC_PLAN_H

#include "costmodel/noc/noc.h"

enum {
    /* loops of 2 or more iterations: fewer than 2^53 multiply-accumulates leave room for 53 */
    NOC_LOOP_MAX = 64,
    NOC_PACKET_FLIT_HEAD = 1 /* flits of a packet besides its data */
};

#define NOC_NONE UINT32_MAX

/* How one tensor travels. */
struct noc_stream {
    bool is_output;
    bool buffered; /* memory to global buffer to PEs; else straight between memory and PEs */
    /* loops [0, split) run inside its buffer (all of them when not buffered), the others outside */
    uint32_t split;
    uint64_t related;        /* bit j: loop j moves on to other data */
    uint32_t pe_packets;     /* one PE's tile */
    uint32_t buffer_packets; /* the buffer's tile; 0 when not buffered */
    /* not compat: (n_loop) what comes into a PE, into the buffer, when loop j goes on and those inside it
     * begin anew: nothing, what is new of the tile, all of it */
    uint32_t send[NOC_LOOP_MAX], fetch[NOC_LOOP_MAX];
    uint64_t reduced; /* bit j: loop j is outside the PE's tile of these outputs and sums up into them */
    uint32_t n_group;
    /* (n_pe) the group whose members hold the same tile, numbered by lowest PE; NOC_NONE: idle PE */
    uint32_t *group;
    uint32_t *first_member; /* (n_group + 1) into `member` */
    uint32_t *member;       /* (used PEs) ascending in each group */
};

/* One step of the reduction of outputs: `from` sends its sum to `to`. */
struct noc_link {
    uint32_t from, to;
    uint32_t row_before, column_before; /* links into `from` that must have arrived, or NOC_NONE */
};

struct noc_plan {
    uint32_t n_pe, buffer_port, dram_port;
    bool compat, resend_windows;
    uint32_t pe_cycle;     /* of one step: the temporal loops that move nothing into or out of a PE */
    uint32_t packet_flits; /* head included */
    /* from the inside; compat: the first n_noc_loop at the network's level, else that is 0 */
    uint32_t n_loop, n_noc_loop;
    uint64_t bound[NOC_LOOP_MAX];
    uint32_t n_stream;
    /* the output, the inputs, the weights: the order of sending */
    struct noc_stream stream[PROBLEM_TENSOR_MAX];
    uint32_t n_link;
    struct noc_link *link; /* (n_link) in the order of sending */
    uint32_t *sum_pe;      /* (n_group of the output) where a group's sum ends up */
};

/* Loops, sizes and groups of a mapping. Neighbouring loops that no tensor tells apart are merged. Memory from
 * `arena`. Errors: noc_program_of. */
DSE_MUST_CHECK enum dse_status noc_plan_init(struct noc_plan *plan, const struct problem *problem,
                                             const struct architecture *arch, const struct mapping *mapping,
                                             uint32_t noc_level, const struct noc_config *config,
                                             struct arena *arena, struct dse_error *err);

/* The innermost loop in [first, end) that moves the stream's data, or `end`. */
uint32_t noc_stream_innermost(const struct noc_stream *stream, uint32_t first, uint32_t end);

/* Compat: does dimension `d` move tensor `t` on to other data? Not the window of a convolution (R and S of
 * the inputs): CoSA's relation takes the words that the window slides over as present already (unless
 * resend_windows). A window is a dimension that is added to another one in a rank of `t` and is summed over,
 * that is, does not index the output. */
bool noc_moves(const struct noc_plan *plan, const struct problem *problem, uint32_t t, uint32_t d);

/* Parts of noc_plan_init. Which PEs share tiles of each stream, which sum up outputs. `tensor`: of each
 * stream. */
DSE_MUST_CHECK enum dse_status noc_group_plan(struct noc_plan *plan, const struct problem *problem,
                                              const struct architecture *arch, const struct mapping *mapping,
                                              uint32_t noc_level, const struct noc_config *config,
                                              const uint32_t *tensor, struct arena *arena,
                                              struct dse_error *err);

/* Loops, packets and cycles of a step where the traffic is the cost model's. `buffer_level`: of each stream,
 * -1 without a buffer. */
DSE_MUST_CHECK enum dse_status noc_visit_plan(struct noc_plan *plan, const struct problem *problem,
                                              const struct architecture *arch, const struct mapping *mapping,
                                              uint32_t noc_level, const struct noc_config *config,
                                              const uint32_t *tensor, const int *buffer_level,
                                              struct dse_error *err);

/* How far one step of each dimension moves through tensor `t` laid out as one array: (n_dim), 0 where it
 * does not. */
void noc_visit_code(const struct problem *problem, uint32_t t, uint64_t *code);

/* ceil(words * bit / data of a packet). DSE_LIMIT beyond 2^31 - 1, in the name of the tensor. */
DSE_MUST_CHECK enum dse_status noc_packets(uint64_t words, uint32_t bit, const struct noc_config *config,
                                           const char *tensor, uint32_t *n_packet, struct dse_error *err);

/* Packets of a table (send or fetch) in a nest whose loop j makes kept[j] iterations; `whole`: what comes
 * before the first step. */
double noc_visit_packets(const struct noc_plan *plan, const uint32_t *table, uint32_t whole,
                         const uint64_t *kept);

/* Of those packets of outputs, what need not come, since nothing has been summed up yet. */
double noc_visit_fresh(const struct noc_plan *plan, const struct noc_stream *stream, const uint32_t *table,
                       uint32_t whole, const uint64_t *kept);

/* Which steps are written: of each loop the first kept - 1 iterations and the last (kept = 1: the first), of
 * those at most max_step steps (0: all). */
struct noc_walk {
    uint64_t kept[NOC_LOOP_MAX]; /* (n_loop) from 1 to bound */
    uint64_t max_step;
};

/* All iterations. */
void noc_walk_init(struct noc_walk *walk, const struct noc_plan *plan);

/* Steps that the walk writes. */
uint64_t noc_walk_steps(const struct noc_walk *walk, const struct noc_plan *plan);

/* The transactions of the walk's steps. `first_count` (noc_walk_steps, may be NULL): the id of each step's
 * first NOC_COUNT. Memory from `arena`. DSE_NO_MEMORY, DSE_LIMIT beyond 2^31 entries, DSE_INTERRUPTED soon
 * after `cancel` (may be NULL) is set. */
DSE_MUST_CHECK enum dse_status noc_program_write(const struct noc_plan *plan, const struct noc_walk *walk,
                                                 const atomic_int *cancel, struct arena *arena,
                                                 struct noc_program *program, uint32_t *first_count,
                                                 struct dse_error *err);

#endif
