/* What a mapping of the map space costs: the cost vectors of Mind Mappings, and the algorithmic minima that
 * they are divided by. A pricer is for one thread. */
#ifndef ENGINES_MINDMAPPINGS_MM_PRICE_H
#define ENGINES_MINDMAPPINGS_MM_PRICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "engines/mindmappings/mm_space.h"

/* value (n_cost): the energies in uJ of the buffers from the innermost to the outermost, of the DRAM for each
 * operand and the output; utilization, energy in uJ (with the MACs), cycles. A bypassed buffer has 0. */
struct mm_cost {
    double value[MM_COST_MAX];
    double energy_uj, cycle;
    double edp; /* uJ times cycles, as in the paper's figures */
};

struct mm_pricer;

/* By Timeloop's accounting; `space` must outlive it. DSE_NO_MEMORY, or as evaluator_new. */
DSE_MUST_CHECK enum dse_status mm_pricer_new(const struct mm_space *space, struct mm_pricer **out,
                                             struct dse_error *err);
void mm_pricer_delete(struct mm_pricer *pricer);

/* Price a member; allocates nothing. False when it fits the machine all the same not, as members do. */
bool mm_price(struct mm_pricer *pricer, const struct mm_mapping *mapping, struct mm_cost *out);

/* What to call value i of a cost vector: "PsumBuffer_uJ", "DRAM_Weights_uJ", "utilization". `buffer` (size)
 * is returned. */
const char *mm_cost_name(const struct mm_machine *machine, uint32_t i, char *buffer, size_t size);

/* The algorithmic minimum of the space's problem as a cost: what each value is divided by, utilization 1.
 * Each word once at each level at 200, 2.2 and 1.12 pJ, and a MAC 1 pJ: 4125.488916 uJ and 13,996,800 cycles
 * for AlexNet Conv_2 (N 8, C 96, K 256, R and S 5, P and Q 27). */
void mm_minimum(const struct mm_space *space, enum mm_minimum which, struct mm_cost *out);

#endif
