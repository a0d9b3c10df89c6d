/* A mapper for tiles by the thousand: the mappings of a few round tiles are searched for at length and kept,
 * and those of all others are found from these by short descents. docs/core-array.md, "Quick". */
#ifndef ENGINES_SOMA_MACHINE_QUICK_TILE_H
#define ENGINES_SOMA_MACHINE_QUICK_TILE_H

#include "engines/soma/machine/mapper_core.h"

/* Another tile with the same mappings, the same one for as many tiles as possible: where no window looks
 * across them, rows, columns and samples are one extent; of two tiles that are each other's transpose it is
 * one. Vector tiles stay. */
struct core_tile quick_tile_canonical(const struct core_tile *tile);

/* The mapping of a matrix tile, as mapper_core_solve, of the canonical tile's loop nest or a fuller one;
 * the accounting is core->engine's. What streams is moved once. A pure function of `core` and the tile,
 * whatever core->shared has. Of `result` only feasible, mapping, evaluation, cost and n_evaluation are set;
 * not feasible also when the time is over. Memory from `arena`. Errors of mapper_core_problem and
 * evaluator_new; DSE_NO_MEMORY; DSE_INTERNAL: the independent checker does not take the mapping. */
DSE_MUST_CHECK enum dse_status quick_tile_solve(const struct mapper_core *core, const struct core_tile *tile,
                                                struct arena *arena, struct problem *problem,
                                                struct engine_result *result, struct dse_error *err);

/* A cache seen through quick_tile_canonical. `cached` must outlive it. */
struct core_scheduler quick_tile_scheduler(const struct core_cached *cached);

#endif
