/* How little energy a machine can need, from the proved optima of other machines: no search.
 *
 * A mapping that fits a machine fits one with larger memories too, and accesses it as often; its energy
 * there is a sum of accesses times energies per access. So each proved optimum is a linear inequality that
 * the accesses of every mapping on a smaller machine fulfil, and the least energy under some of them is a
 * bound: by duality the largest sum of multiples of the optima whose energies per access, level by level, do
 * not exceed the machine's. What is the same for all mappings, MACs and a level that feeds them, is taken
 * apart first. */
#ifndef DSE_OPTIMISE_ENERGY_CUTS_H
#define DSE_OPTIMISE_ENERGY_CUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/model/architecture.h"

enum { ENERGY_CUT_MAX = 40 };

struct energy_cut {
    const struct architecture *arch; /* borrowed */
    double least_j;                  /* of the problem on it, proved */
    double fixed_j;                  /* of that: what no mapping changes */
    double innermost_j;              /* of that: the innermost level, or 0 where mappings change it */
};

/* Does every mapping that fits `small` fit `large`, which differs in sizes and energies alone? */
bool machine_holds(const struct architecture *large, const struct architecture *small);

/* A lower bound of the problem's energy on `arch`, from cuts (n <= ENERGY_CUT_MAX) whose machines all hold
 * it. */
double energy_cuts_bound(const struct architecture *arch, const struct energy_cut *cut, uint32_t n);

#endif
