/* Annealing over a search space of small points (search_space.h): a move makes a copy, and taking it back
 * exchanges the two. */
#ifndef ENGINES_SEARCH_ANNEALING_POINTS_H
#define ENGINES_SEARCH_ANNEALING_POINTS_H

#include "base/arena.h"
#include "base/status.h"
#include "engines/search/annealing.h"
#include "engines/search/search_space.h"

struct annealing_points {
    const struct search_space *space;
    void *point, *last, *best; /* the present one, the one before it, the best; owned by the arena */
};

/* No point yet. `space`, which needs its `neighbour`, must outlive it. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status annealing_points_init(struct annealing_points *points,
                                                     const struct search_space *space, struct arena *arena,
                                                     struct dse_error *err);

/* Draw the first point. SEARCH_INFEASIBLE: none was found. */
enum search_outcome annealing_points_start(struct annealing_points *points, struct random_stream *stream,
                                           double *cost);

/* Its moves, for annealing_new; `points` must stay where it is. */
struct annealing_space annealing_points_space(struct annealing_points *points);

#endif
