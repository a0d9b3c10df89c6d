/* What every engine of the family has before it searches: the network layer by layer. */
#ifndef ENGINES_SOMA_UNFUSED_H
#define ENGINES_SOMA_UNFUSED_H

#include "engines/soma/search/lfa_search.h"
#include "engines/soma/task.h"

struct engine_context;

/* What an engine that fuses spends on it at most, of time and of evaluations. */
#define SOMA_UNFUSED_SHARE 0.125

/* The network layer by layer, as found by soma_offer_unfused. */
struct soma_unfused {
    struct soma_lfa start; /* of the moves; the last that was tried where none fits */
    struct soma_lfa tuned;
    struct soma_price price; /* of `tuned`; cost INFINITY: nothing fits, or the search was cancelled */
    uint64_t n_priced;       /* schedules, for tuning */
};

/* Room for n_layer layers; the caller looks whether `arena` had it. */
void soma_unfused_new(uint32_t n_layer, struct arena *arena, struct soma_unfused *unfused);

/* Offer the network layer by layer with double buffering: as few tiles as fit at once, whatever the time, so
 * that there is an answer, unless these are too many to be made and checked in time; then with tuned tiling
 * numbers (soma_layerwise) from there or from the start of `moves`, for which up to `share` of the time and
 * of the evaluations that are left are spent. Counts no evaluations. Resets `scratch`. Errors of
 * soma_initial_lfa and soma_offer. */
DSE_MUST_CHECK enum dse_status soma_offer_unfused(struct engine_context *context,
                                                  const struct soma_task *task, enum soma_moves moves,
                                                  double share, struct arena *scratch,
                                                  struct soma_unfused *unfused, struct dse_error *err);

#endif
