/* All spatial factors that the fan-outs of a machine hold, one after the other. */
#ifndef ENGINES_OPTIMAL_OPTIMAL_SPREADS_H
#define ENGINES_OPTIMAL_OPTIMAL_SPREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/optimal/optimal_model.h"

/* The vectors of factors of one level. */
struct optimal_vectors {
    uint32_t n, room;
    uint32_t (*factor)[PROBLEM_DIM_MAX]; /* (n) */
};

struct optimal_spreads {
    const struct optimal_model *model;
    struct optimal_vectors level[ARCH_LEVEL_MAX];       /* (n_level) */
    uint32_t at[ARCH_LEVEL_MAX];                        /* (n_level) the next of each level's */
    uint32_t left[ARCH_LEVEL_MAX + 1][PROBLEM_DIM_MAX]; /* bounds over the factors of the levels below */
    uint32_t depth;
};

/* List every level's. DSE_NO_MEMORY. To be freed in any case. */
DSE_MUST_CHECK enum dse_status optimal_spreads_init(struct optimal_spreads *spreads,
                                                    const struct optimal_model *model, struct dse_error *err);
void optimal_spreads_free(struct optimal_spreads *spreads);

/* The next one, of which only `factor` is set and where it stands in each level's list; at most `n_step`
 * steps. False: none yet, or `*over`. */
bool optimal_spreads_next(struct optimal_spreads *spreads, uint32_t n_step, struct optimal_spread *out,
                          uint16_t *place, bool *over);

/* The one at these places (n_level). */
void optimal_spreads_get(const struct optimal_spreads *spreads, const uint16_t *place,
                         struct optimal_spread *out);

#endif
