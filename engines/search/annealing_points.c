/* The hooks of the walk, each a call of the search space and an exchange of points. */
#include "engines/search/annealing_points.h"

#include <string.h>

enum { FIRST_POINT_TRIES = 1000 };

enum dse_status annealing_points_init(struct annealing_points *points, const struct search_space *space,
                                      struct arena *arena, struct dse_error *err)
{
    points->space = space;
    points->point = arena_alloc(arena, 1, space->point_byte);
    points->last = arena_alloc(arena, 1, space->point_byte);
    points->best = arena_alloc(arena, 1, space->point_byte);
    return arena_check(arena, "simulated annealing", err);
}

enum search_outcome annealing_points_start(struct annealing_points *points, struct random_stream *stream,
                                           double *cost)
{
    const struct search_space *space = points->space;
    for (int i = 0; i < FIRST_POINT_TRIES; i++) {
        if (!space->draw(space->self, stream, points->point))
            continue;
        enum search_outcome outcome = space->evaluate(space->self, points->point, cost);
        if (outcome != SEARCH_INFEASIBLE)
            return outcome;
    }
    return SEARCH_INFEASIBLE;
}

static void exchange(struct annealing_points *points)
{
    void *point = points->point;
    points->point = points->last;
    points->last = point;
}

static enum search_outcome propose(void *self, struct random_stream *stream, double *cost)
{
    struct annealing_points *points = self;
    const struct search_space *space = points->space;
    if (!space->neighbour(space->self, stream, points->point, points->last))
        return SEARCH_INFEASIBLE;
    enum search_outcome outcome = space->evaluate(space->self, points->last, cost);
    if (outcome == SEARCH_PRICED)
        exchange(points);
    return outcome;
}

static void undo(void *self)
{
    exchange(self);
}

static void keep(void *self)
{
    struct annealing_points *points = self;
    memcpy(points->best, points->point, points->space->point_byte);
}

static void restore(void *self)
{
    struct annealing_points *points = self;
    memcpy(points->point, points->best, points->space->point_byte);
}

struct annealing_space annealing_points_space(struct annealing_points *points)
{
    return (struct annealing_space){points, propose, undo, keep, restore};
}
