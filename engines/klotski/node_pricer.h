/* What uops cost on a node of any machine: a mapper prices them on what the machine has inside its DRAM, as
 * it does tiles of fused schedules; for searches, a table of round tiles. docs/klotski.md, "Any machine as a
 * node". */
#ifndef ENGINES_KLOTSKI_NODE_PRICER_H
#define ENGINES_KLOTSKI_NODE_PRICER_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/model/architecture.h"
#include "costmodel/uop/kc_cost.h"

struct core_cache; /* costmodel/fused/core_cache.h */
struct node_pricer;

/* What priced uops, for results: of a machine that node_machine_of made. A constant. */
const char *node_accounting(const struct kc_machine *machine);

/* The mesh of accelerators that the architecture is or may be a node of (node_machine_of), with the pricer
 * that it needs: NULL where MAESTRO's counts do. The mapper is `quick` with its default budget, so costs are
 * those of tiles with core=quick, and shared with these through `cache` (NULL: a cache of its own). A search
 * of guesses looks at `cancel` (may be NULL). For one thread. Memory from `arena`; release with
 * node_pricer_delete, before the arena, also after a failure. DSE_NO_MEMORY; errors of node_machine_of. */
DSE_MUST_CHECK enum dse_status node_pricer_new(const struct architecture *arch, struct core_cache *cache,
                                               const atomic_int *cancel, struct arena *arena,
                                               struct kc_machine *machine, struct node_pricer **pricer,
                                               struct dse_error *err);
void node_pricer_delete(struct node_pricer *pricer);

#endif
