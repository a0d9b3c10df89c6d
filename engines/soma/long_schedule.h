/* Schedules of more tiles than are held at a time: a fusion with double buffering, evaluated run by run of
 * its layer groups. At the first tile of a layer group both engines stand, and nothing of the one before
 * lives any more (docs/soma-search.md, "Stage 1"), so each run is timed from there to the first tile of the
 * next one, whose layer group it has besides. docs/soma.md, "Long schedules". */
#ifndef ENGINES_SOMA_LONG_SCHEDULE_H
#define ENGINES_SOMA_LONG_SCHEDULE_H

#include "costmodel/fused/schedule_pricer.h"
#include "engines/soma/notation/notation.h"

enum { SOMA_RUN_TILES = 1 << 18 }; /* of a run, at least */

struct soma_long {
    struct fused_schedule fused;   /* the numbers of its tiles and tensors; no arrays */
    struct schedule_detail detail; /* without a trace */
    /* Where something is wrong: `fused` and `detail` are of the run that has it, with arrays and trace. */
    struct soma_fault_info fault;
    bool has_fault;
    uint64_t first; /* position of the run's first tile */
    /* with `place`: the tensors of every run have places, by which its instructions were replayed, and so
     * many lie there in several pieces. What lives across the border of two runs has a place in each. */
    bool placed;
    uint64_t n_split;
    uint64_t n_run, n_evaluated; /* all runs; those that are no other repetition of one before */
};

/* Whether a schedule is evaluated so: soma_parse says DSE_LIMIT. `lfa` is valid but for its shapes, as that
 * has found; `run_tile` as SOMA_RUN_TILES; not by compat rules. Memory from `arena`, which it resets; with a
 * fault it holds what `out` says of it. DSE_LIMIT: more than SOMA_LONG_TILE_MAX tiles or 2^32 tensors, or a
 * layer group beyond the parser's limits; DSE_INTERNAL: instructions that cannot run; others of soma_parse
 * and fused_evaluate. */
DSE_MUST_CHECK enum dse_status soma_long_evaluate(const struct soma_context *context,
                                                  const struct schedule_pricer *pricer,
                                                  const struct soma_lfa *lfa, uint64_t run_tile, bool place,
                                                  struct arena *arena, struct soma_long *out,
                                                  struct dse_error *err);

#endif
