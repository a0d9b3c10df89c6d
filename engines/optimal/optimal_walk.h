/* Every mapping of a spread whose relaxed price may be below a limit, from the outermost level inwards: the
 * price of what is chosen plus the least of what is inside (the sweep's values) goes on being compared. What
 * is left is priced by the cost model. */
#ifndef ENGINES_OPTIMAL_OPTIMAL_WALK_H
#define ENGINES_OPTIMAL_OPTIMAL_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/optimal/optimal_places.h"
#include "engines/optimal/optimal_sweep.h"

/* A tile at which the temporal loops of a level begin. */
struct optimal_candidate {
    double bound;
    uint32_t node;
};

struct optimal_frame {
    uint32_t end;                  /* the tile after the level's temporal loops */
    double goal[OPTIMAL_MASK_MAX]; /* (out.n of the level) the least price of all that is further out */
    uint32_t n, at;
    struct optimal_candidate *candidate; /* (n) lowest bound first */
};

/* Another price of the same mappings: what reaches its limit is left out, too. */
struct optimal_beside {
    struct optimal_sweep *sweep; /* that has run on the same spread */
    double limit;
    double goal[ARCH_LEVEL_MAX][OPTIMAL_MASK_MAX]; /* as in frames */
};

enum { OPTIMAL_BESIDE_MAX = 2 };

/* Prices a mapping; false when the search has to end. */
typedef bool (*optimal_visit)(void *self, const struct mapping *mapping);

struct optimal_walk {
    struct optimal_sweep *sweep; /* that has run */
    double limit;                /* mappings of this relaxed price and more are left out; may be lowered */
    optimal_visit visit;
    void *self;
    uint32_t n_beside;                                /* set before the start */
    struct optimal_beside beside[OPTIMAL_BESIDE_MAX]; /* (n_beside) */
    uint32_t at;                                      /* the level of the present frame; n_level: over */
    struct optimal_frame frame[ARCH_LEVEL_MAX];
    struct mapping mapping;
};

/* Memory from `arena`, once for all spreads. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status optimal_walk_new(struct optimal_sweep *sweep, struct arena *arena,
                                                struct optimal_walk **out, struct dse_error *err);

/* Begin with what the sweep has run last; where no place is known all are tried. */
void optimal_walk_start(struct optimal_walk *walk, double limit);

/* One tile further; false when there is none below the limit, or `visit` returned false or the search is over
 * (then at is not n_level). */
bool optimal_walk_next(struct optimal_walk *walk);

/* Every order of every level of `walk->mapping`, whose factors are set, below the limit, and every place of
 * its spatial loops where it is open. */
bool optimal_leaf(struct optimal_walk *walk);

#endif
