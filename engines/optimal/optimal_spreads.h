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
    uint64_t most;                       /* children that one of them has; 1: nothing is spread */
};

/* Is a spread worth looking at, of which the levels down to l are chosen and nothing is spread further in?
 * `left` (n_dim) are the bounds over these factors. */
typedef bool (*optimal_worth)(void *self, const struct optimal_spread *spread, uint32_t l,
                              const uint32_t *left);

enum { OPTIMAL_MIRROR_MAX = 8 };

struct optimal_spreads {
    const struct optimal_model *model;
    struct optimal_vectors level[ARCH_LEVEL_MAX]; /* (n_level) */
    optimal_worth worth; /* asked of levels that may spread something; NULL: all are */
    void *self;
    uint32_t n_mirror;
    uint8_t mirror[OPTIMAL_MIRROR_MAX]
                  [PROBLEM_DIM_MAX]; /* (n_mirror, n_dim) the dimension in each one's place */
    /* where we are */
    uint32_t l;                                     /* the level that is chosen next */
    uint32_t at[ARCH_LEVEL_MAX];                    /* (n_level) the next of each level's */
    uint32_t left[ARCH_LEVEL_MAX][PROBLEM_DIM_MAX]; /* bounds over the factors of this level and outside */
    uint32_t tied[ARCH_LEVEL_MAX]; /* bit i: the spread is as its mirror image i so far, down to this level */
};

/* List every level's. DSE_NO_MEMORY, DSE_LIMIT. To be freed in any case. */
DSE_MUST_CHECK enum dse_status optimal_spreads_init(struct optimal_spreads *spreads,
                                                    const struct optimal_model *model, struct dse_error *err);
void optimal_spreads_free(struct optimal_spreads *spreads);

/* From now on only one of the spreads that are mirror images comes: nothing but the problem tells its
 * dimensions apart. */
void optimal_spreads_mirror(struct optimal_spreads *spreads);

/* The next one worth looking at, complete, and where it stands in each level's list; at most `n_step` steps.
 * `out` is the same from call to call. False: none yet, or `*over`. */
bool optimal_spreads_next(struct optimal_spreads *spreads, uint32_t n_step, struct optimal_spread *out,
                          uint16_t *place, bool *over);

/* The one at these places (n_level). */
void optimal_spreads_get(const struct optimal_spreads *spreads, const uint16_t *place,
                         struct optimal_spread *out);

#endif
