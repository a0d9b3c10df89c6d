/* What Interstellar's accountings precompute for a loop nest and a machine, what the plain version finds out
 * about a mapping, and the functions behind the two accountings; private to the room. */
#ifndef COSTMODEL_INTERSTELLAR_INTERSTELLAR_COMPILED_H
#define COSTMODEL_INTERSTELLAR_INTERSTELLAR_COMPILED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/report.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/interstellar/reuse.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"

/* One of the memories of a level: the whole level, or one of those side by side. */
struct interstellar_memory {
    uint32_t tensors;   /* bit t: tensor t would lie here */
    double usable_word; /* INFINITY: unlimited */
    double least_word;  /* 0: none is asked for */
    bool above_least;   /* exactly so many do not do */
};

struct interstellar_compiled {
    struct evaluator base;
    struct interstellar_reuse reuse;
    enum reuse_rule rule;
    uint64_t fan[ARCH_LEVEL_MAX]; /* (n_level) instances of the next inner level, or MACs, inside one of l */
    uint32_t may_keep[ARCH_LEVEL_MAX]; /* bit t */
    double read_j[ARCH_LEVEL_MAX][PROBLEM_TENSOR_MAX], write_j[ARCH_LEVEL_MAX][PROBLEM_TENSOR_MAX];
    double hop_j[ARCH_LEVEL_MAX]; /* of the array below level l */
    uint32_t n_memory[ARCH_LEVEL_MAX];
    struct interstellar_memory memory[ARCH_LEVEL_MAX][TENSOR_ROLE_COUNT];
    bool limited[ARCH_LEVEL_MAX]; /* a bandwidth is */
    bool leaks;                   /* the machine */
    uint64_t wait_cycle;          /* fill and drain latencies of all networks */
};

/* Dimensions of an array with loops that are no units. */
enum { ARRAY_DIM_MAX = PROBLEM_DIM_MAX };

/* One tensor at one level. */
struct interstellar_access {
    bool keep;
    double count;    /* visits of each word, also where the level does not keep it: the array has them */
    double accesses; /* of all words for so many visits */
    double energy_j; /* 0 where the level does not keep them */
    /* bank: by the temporal loops alone; instance: what one holds; tile: all inside one of the next level */
    double bank_word, instance_word, tile_word;
};

/* One tensor in the array below one level: hops of each word. */
struct interstellar_hops {
    double near;
    double far[ARRAY_DIM_MAX]; /* (n_dimension) as far as the first loop of the dimension reaches */
    double near_j, far_j[ARRAY_DIM_MAX];
};

struct interstellar_prices {
    struct {
        bool is_array; /* the array below: more than one instance */
        uint32_t n_dimension;
        uint32_t distance[ARRAY_DIM_MAX]; /* (n_dimension) hops that its far words make, or 0: it has none */
        struct interstellar_access access[PROBLEM_TENSOR_MAX];
        struct interstellar_hops hops[PROBLEM_TENSOR_MAX];
    } level[ARCH_LEVEL_MAX];
};

static inline const struct interstellar_compiled *interstellar_of(const struct evaluator *evaluator)
{
    return (const struct interstellar_compiled *)evaluator;
}

/* The level whose demand reaches level l for tensor t: l itself, or further in where those inside do not keep
 * it. What the machine cannot keep costs nothing by REUSE_COMPAT. */
uint32_t interstellar_demand_level(const struct interstellar_compiled *compiled,
                                   const struct mapping *mapping, uint32_t t, uint32_t l);

/* Price a mapping whose orders are permutations, whether it fits or not: the plain way. */
void interstellar_price(const struct interstellar_compiled *compiled, const struct mapping *mapping,
                        struct interstellar_prices *out);

/* The totals of these prices, as if the mapping fitted. */
void interstellar_sum(const struct interstellar_compiled *compiled, const struct mapping *mapping,
                      const struct interstellar_prices *prices, struct evaluation *out);

/* Does the mapping fit (docs/interstellar.md, "What fits")? */
bool interstellar_fits(const struct interstellar_compiled *compiled, const struct mapping *mapping,
                       struct misfit_info *fit);

/* What both versions do with the energies and words of all levels: cycles, sums, utilization. `demand`
 * (n_level) are the words that one instance reads and writes. */
struct interstellar_demand {
    double read_word, write_word;
};
void interstellar_total(const struct interstellar_compiled *compiled, const struct mapping *mapping,
                        const struct interstellar_demand *demand, struct evaluation *out);

/* The hooks of the accountings (costmodel/accounting/accounting.h). */
DSE_MUST_CHECK enum dse_status interstellar_accepts(const struct architecture *arch, struct dse_error *err);
DSE_MUST_CHECK enum dse_status interstellar_accepts_compat(const struct architecture *arch,
                                                           struct dse_error *err);
DSE_MUST_CHECK enum dse_status interstellar_compile(struct evaluator *evaluator,
                                                    const struct architecture *arch, struct dse_error *err);
bool interstellar_run(const struct evaluator *evaluator, struct eval_workspace *workspace,
                      const struct mapping *mapping, struct evaluation *out);
DSE_MUST_CHECK enum dse_status interstellar_detail(const struct evaluator *evaluator,
                                                   const struct mapping *mapping, struct arena *arena,
                                                   struct evaluation_detail *out, struct dse_error *err);
bool interstellar_check(const struct problem *problem, const struct architecture *arch,
                        const struct mapping *mapping, char *reason, unsigned long size);
bool interstellar_check_compat(const struct problem *problem, const struct architecture *arch,
                               const struct mapping *mapping, char *reason, unsigned long size);
void interstellar_bound(const struct problem *problem, const struct architecture *arch,
                        struct lower_bound *out);
void interstellar_bound_compat(const struct problem *problem, const struct architecture *arch,
                               struct lower_bound *out);
bool interstellar_bound_applies(const struct problem *problem, const struct architecture *arch,
                                const struct mapping *mapping);

#endif
