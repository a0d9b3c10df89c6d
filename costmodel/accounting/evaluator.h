/* The cost of mappings, by whatever accounting: compile a problem and an architecture once, then evaluate
 * many mappings. `evaluator_detail` is the plain version with every breakdown; `evaluator_run` is the fast
 * one and returns totals that a test proves equal. Docs: docs/cost-model.md. */
#ifndef COSTMODEL_ACCOUNTING_EVALUATOR_H
#define COSTMODEL_ACCOUNTING_EVALUATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/metric.h"
#include "base/status.h"
#include "costmodel/accounting/accounting.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/misfit.h"
#include "costmodel/model/problem.h"

/* Totals of one mapping. Levels innermost first. Valid only when `fit.what == FITS`. */
struct evaluation {
    struct misfit_info fit;
    uint64_t latency_cycle; /* bandwidth-limited, including network fill/drain latency */
    uint64_t compute_cycle; /* product of the temporal bounds */
    uint64_t n_mac_used;    /* product of the spatial bounds */
    double n_compute;       /* MAC operations */
    double utilization;     /* n_compute / (MACs * latency_cycle) */
    double energy_j;        /* MACs + levels + networks + leakage */
    double energy_mac_j;
    double energy_leakage_j;                 /* what leaks (architecture_leakage_w) over the latency */
    double level_energy_j[ARCH_LEVEL_MAX];   /* (n_level) accesses + address generation */
    double network_energy_j[ARCH_LEVEL_MAX]; /* (n_level) the network below level l */
    double level_byte[ARCH_LEVEL_MAX];       /* (n_level) bytes read, filled and updated, all instances */
    double latency_s;                        /* latency_cycle / clock */
    double edp_js;                           /* energy_j * latency_s */
};

/* Counts of one tensor at one level, per instance (docs/cost-model.md, "Counts"). */
struct tensor_counts {
    bool keep;
    uint64_t instances_used, clusters_used;
    uint64_t capacity_word, partition_word;
    uint64_t reads, fills, updates, temporal_reductions, address_generations;
    double access_energy_j, address_energy_j; /* all instances */
};

/* One (multicast factor, number of groups of that size) record of a network. */
struct ingress_record {
    uint64_t multicast, scatter;
    double ingresses;
};

/* Traffic of one tensor in the network below one level, per instance of the outer level (docs/cost-model.md,
 * "Multicast, scatter, links" and "Energy of networks"). */
struct network_counts {
    uint64_t fanout, max_multicast;
    double ingresses;
    uint64_t link_transfers, spatial_reductions;
    double average_hops;
    double energy_j, link_energy_j; /* all instances; ingress, routers and hops apart from link transfers */
    uint32_t n_record;
    struct ingress_record *record; /* (n_record) by multicast then scatter; in the caller's arena */
};

struct level_detail {
    uint64_t cycle;
    double slowdown;
    struct tensor_counts tensor[PROBLEM_TENSOR_MAX];
    struct network_counts network[PROBLEM_TENSOR_MAX]; /* below this level */
};

struct evaluation_detail {
    struct evaluation total;
    struct level_detail level[ARCH_LEVEL_MAX]; /* (n_level) */
};

/* Compile, by an accounting of mappings. `*out`, const, may be shared by threads and is owned by the
 * caller (evaluator_delete). The problem and architecture are copied. DSE_BAD_INPUT when either does not
 * check or the accounting does not price the machine, DSE_LIMIT beyond the documented limits,
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status evaluator_new(const struct accounting *accounting,
                                             const struct problem *problem, const struct architecture *arch,
                                             struct evaluator **out, struct dse_error *err);
/* Compile the same problem for another machine, without an allocation; no search may be using it. On failure
 * (as of evaluator_new) it stays what it was. */
DSE_MUST_CHECK enum dse_status evaluator_move(struct evaluator *evaluator, const struct architecture *arch,
                                              struct dse_error *err);
void evaluator_delete(struct evaluator *evaluator);
const struct accounting *evaluator_accounting(const struct evaluator *evaluator);
const struct problem *evaluator_problem(const struct evaluator *evaluator);
const struct architecture *evaluator_architecture(const struct evaluator *evaluator);

/* Scratch for one thread. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status eval_workspace_new(const struct evaluator *evaluator,
                                                  struct eval_workspace **out, struct dse_error *err);
/* Is it what eval_workspace_new would make for this evaluator? */
bool eval_workspace_fits(const struct eval_workspace *workspace, const struct evaluator *evaluator);
void eval_workspace_delete(struct eval_workspace *workspace);

/* Evaluate one mapping: allocates nothing, touches only `workspace` and `out`. Returns whether it fits
 * (out->fit says why not; then the numbers are not set). The mapping must have been made for this problem and
 * architecture. */
bool evaluator_run(const struct evaluator *evaluator, struct eval_workspace *workspace,
                   const struct mapping *mapping, struct evaluation *out);

/* Of the mapping that evaluator_run has priced with `workspace` last, which fits: the energy of a tensor's
 * accesses at a level, all instances, in joules. NAN where the accounting does not tell. */
double evaluator_tensor_energy(const struct evaluator *evaluator, const struct eval_workspace *workspace,
                               uint32_t level, uint32_t tensor);

/* The plain version with every breakdown, for reports and tests; memory from `arena`. Infeasible is not an
 * error (out->total.fit). DSE_NO_MEMORY; DSE_INTERNAL when an invariant breaks (negative, wrapped,
 * non-finite, sums). */
DSE_MUST_CHECK enum dse_status evaluator_detail(const struct evaluator *evaluator,
                                                const struct mapping *mapping, struct arena *arena,
                                                struct evaluation_detail *out, struct dse_error *err);

/* What no mapping can be below, by the evaluator's accounting; all 0 when it has no bound. */
void evaluator_bound(const struct evaluator *evaluator, struct lower_bound *out);

/* Does that bound hold for this mapping? False without one. */
bool evaluator_bound_applies(const struct evaluator *evaluator, const struct mapping *mapping);

/* What the independent checker says: is the mapping complete, and does it fit the machine? On false, `reason`
 * (size bytes) says why in one sentence. */
bool evaluator_check(const struct evaluator *evaluator, const struct mapping *mapping, char *reason,
                     unsigned long size);

/* The shared metrics of an evaluation on `arch` that fits, whose area the caller knows; the bounds are
 * missing. */
void evaluation_metrics(const struct evaluation *e, const struct architecture *arch, double area_mm2,
                        struct metrics *out);

#endif
