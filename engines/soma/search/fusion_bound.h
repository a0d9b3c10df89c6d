/* A lower bound of what a network costs on a machine, whatever the layer fusion and the DRAM schedule
 * (docs/soma-search.md). */
#ifndef ENGINES_SOMA_SEARCH_FUSION_BOUND_H
#define ENGINES_SOMA_SEARCH_FUSION_BOUND_H

#include "engines/soma/search/search.h"

struct soma_bound {
    double energy_j, core_energy_j;
    uint64_t cycle, compute_cycle, dram_cycle, dram_byte;
    uint64_t n_evaluation; /* tiles that the core scheduler was asked for */
    double cost;           /* energy^n * delay^m of the two */
};

/* No schedule costs less: every tile shape of every layer is asked of the core scheduler, at most `tile_max`
 * in all; the rest, and layers whose tiles may have other channels, count nothing in the core array. Where
 * the time is over (soma_search_is_over) it says less, or 0. Working memory from `arena`. Errors of the core
 * scheduler but DSE_BAD_INPUT, which only leaves that shape out; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status soma_bound(const struct soma_search *search, uint64_t tile_max,
                                          struct arena *arena, struct soma_bound *bound,
                                          struct dse_error *err);

#endif
