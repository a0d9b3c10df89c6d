/* The hooks of the search space: each hands its call on to the map space, or to the driver, which counts
 * it. */
#include "engines/baseline/mapping_search.h"

#include "engines/mapspace/mapspace_move.h"

static bool draw(void *self, struct random_stream *stream, void *point)
{
    struct mapping_search *search = self;
    struct misfit_info fit;
    uint64_t n_rejected = 0;
    bool drawn = mapspace_draw(search->space, stream, point, &n_rejected, &fit);
    engine_context_reject(search->context, n_rejected, drawn ? NULL : &fit);
    return drawn;
}

static enum search_outcome evaluate(void *self, const void *point, double *cost)
{
    struct mapping_search *search = self;
    if (engine_context_left(search->context) == 0)
        return SEARCH_OVER;
    return engine_context_evaluate(search->context, point, cost) ? SEARCH_PRICED : SEARCH_INFEASIBLE;
}

static bool neighbour(void *self, struct random_stream *stream, const void *from, void *to)
{
    const struct mapping_search *search = self;
    return mapspace_neighbour(search->space, stream, from, to);
}

static bool crossover(void *self, struct random_stream *stream, const void *a, const void *b, void *child)
{
    const struct mapping_search *search = self;
    return mapspace_crossover(search->space, stream, a, b, child);
}

enum dse_status mapping_search_init(struct mapping_search *search, struct engine_context *context,
                                    bool search_bypass, struct dse_error *err)
{
    search->context = context;
    search->hooks = (struct search_space){.self = search,
                                          .point_byte = sizeof(struct mapping),
                                          .draw = draw,
                                          .evaluate = evaluate,
                                          .neighbour = neighbour,
                                          .crossover = crossover};
    return engine_context_mapspace(context, search_bypass, &search->space, err);
}
