/* A mapper of this repository as the scheduler of a core array (SoMa, HPCA 2025, section V-E: the core-array
 * scheduler is a part that can be replaced): every tile is a small layer, mapped on what an architecture has
 * inside its DRAM. docs/core-array.md, "Another scheduler". */
#ifndef ENGINES_SOMA_MACHINE_MAPPER_CORE_H
#define ENGINES_SOMA_MACHINE_MAPPER_CORE_H

#include <stdint.h>

#include "base/status.h"
#include "costmodel/fused/core_array.h"
#include "costmodel/fused/core_cache.h"
#include "costmodel/fused/core_machine.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/problem.h"
#include "engines/driver/engine.h"

enum { MAPPER_CORE_OPTION_MAX = 64 };

/* What is made small: energy x time, as by the built-in search. */
#define MAPPER_CORE_OBJECTIVE                                                                                \
    {                                                                                                        \
        .energy_exponent = 1, .delay_exponent = 1                                                            \
    }

/* Plain data, const after mapper_core_init; threads may share one. */
struct mapper_core {
    struct architecture arch;       /* core_machine_split's core */
    uint32_t home, streams, halved; /* and that */
    uint64_t stay_word;
    const struct engine *engine;
    double option[MAPPER_CORE_OPTION_MAX]; /* (engine->n_option) */
    uint64_t max_evaluations;              /* of one tile; 0: until the engine ends by itself */
    uint64_t seed;
    /* quick_tile_solve instead of the engine's own search, and where it may keep what tiles and machines of
     * the same quick_arch have in common (NULL: nowhere). Set after the init. */
    bool quick;
    const struct core_cached *shared;
    struct architecture quick_arch; /* quick_machine's */
    /* A tile whose search has not ended by then has no cost. Set by who has a limit, after the init. */
    double stop_at_s;          /* clock_wall_s; 0: never */
    const atomic_int *cancel;  /* NULL: never */
    uint64_t vector_per_cycle; /* operations of the vector unit */
    double vector_j;           /* one of them */
};

/* `inside` is cut out of an architecture. `option` (engine->n_option) in table order; NULL: the defaults. The
 * vector unit has a sixteenth of the MAC units, at least one lane, and an operation takes 4.85 times a MAC's
 * energy: the shares of the built-in core array. DSE_BAD_USAGE: no mapper, or one with more than
 * MAPPER_CORE_OPTION_MAX options. */
DSE_MUST_CHECK enum dse_status mapper_core_init(const struct core_split *inside, const struct engine *engine,
                                                const double *option, uint64_t max_evaluations,
                                                struct mapper_core *core, struct dse_error *err);

/* The loop nest of a matrix tile: that of layer_problem for a layer with the tile's output extents and all
 * its channels, so a tile of a whole layer is the layer's own problem. A ragged last group is filled up.
 * DSE_BAD_INPUT: an extent is 0 or groups do not divide the input channels; DSE_BAD_USAGE: a vector tile;
 * DSE_LIMIT. */
DSE_MUST_CHECK enum dse_status mapper_core_problem(const struct core_tile *tile, struct problem *problem,
                                                   struct dse_error *err);

/* Whether its time is over, or it is cancelled. */
bool mapper_core_is_over(const struct mapper_core *core);

/* The best mapping of a matrix tile that the engine finds, by energy x time; `problem` is what it maps: the
 * tile's, or one filled up where rows, columns, samples or channels of 5 and more are no multiples of 4
 * (docs/core-array.md), when that costs less. The budget is for each of the up to three. Random numbers come
 * from the problem's content. Memory from `arena`. Errors of mapper_core_problem and engine_solve; a tile
 * without a mapping is result->feasible false. */
DSE_MUST_CHECK enum dse_status mapper_core_solve(const struct mapper_core *core, const struct core_tile *tile,
                                                 struct arena *arena, struct problem *problem,
                                                 struct engine_result *result, struct dse_error *err);

/* The cost of a tile. Matrix tiles: the evaluation of the mapping found; global buffer is the outermost
 * level, local all levels inside, bus all networks. Vector tiles (b, k, h, w outputs): operations = b k h w x
 * operands x r s, global buffer reads = operands x b k x the rows and columns that the windows touch, writes
 * = b k h w; cycles = the longest of the vector unit's and the buffer's. DSE_BAD_INPUT when the mapper finds
 * no mapping, or has not ended in time: the tile and the mapper's reason. */
DSE_MUST_CHECK enum dse_status mapper_core_cost(const struct mapper_core *core, const struct core_tile *tile,
                                                struct core_cost *cost, struct dse_error *err);

/* mapper_core_cost as a core_scheduler; `core` stays the caller's and must outlive it. Threads may ask it at
 * once. */
struct core_scheduler mapper_core_scheduler(const struct mapper_core *core);

/* Put `cache` before it: equal engines, options, budgets, seeds and contents of the architecture share
 * entries. Errors of core_cache_join. */
DSE_MUST_CHECK enum dse_status mapper_core_join(struct core_cache *cache, const struct mapper_core *core,
                                                struct core_cached *cached, struct dse_error *err);

/* The same for core->shared: equal but for what quick_machine leaves out. */
DSE_MUST_CHECK enum dse_status mapper_core_join_quick(struct core_cache *cache,
                                                      const struct mapper_core *core,
                                                      struct core_cached *cached, struct dse_error *err);

#endif
