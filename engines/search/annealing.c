/* A drawn point and its neighbours, kept as bytes; a restart goes back to the best point and to the first
 * temperature. */
#include "engines/search/annealing.h"

#include <math.h>
#include <string.h>

enum { FIRST_POINT_TRIES = 1000 };

struct annealing {
    const struct search_space *space;
    struct annealing_options options;
    struct random_stream stream;
    bool started;
    uint64_t move;    /* of the present descent */
    uint32_t restart; /* descents done */
    double cost, best_cost;
    double temperature, cooling;
    void *point, *next, *best; /* (point_byte) each */
};

enum dse_status annealing_new(const struct search_space *space, const struct annealing_options *options,
                              struct random_stream stream, struct arena *arena, struct annealing **out,
                              struct dse_error *err)
{
    struct annealing *a = arena_alloc(arena, 1, sizeof *a);
    if (a) {
        a->point = arena_alloc(arena, 1, space->point_byte);
        a->next = arena_alloc(arena, 1, space->point_byte);
        a->best = arena_alloc(arena, 1, space->point_byte);
    }
    DSE_TRY(arena_check(arena, "simulated annealing", err));
    a->space = space;
    a->options = *options;
    a->stream = stream;
    double n = options->n_move > 1 ? (double)(options->n_move - 1) : 1;
    a->cooling = pow(options->last_temperature / options->first_temperature, 1 / n);
    a->temperature = options->first_temperature;
    *out = a;
    return DSE_OK;
}

/* Find and price a first point. */
static bool start(struct annealing *a)
{
    for (int i = 0; i < FIRST_POINT_TRIES; i++) {
        if (!a->space->draw(a->space->self, &a->stream, a->point))
            continue;
        enum search_outcome outcome = a->space->evaluate(a->space->self, a->point, &a->cost);
        if (outcome == SEARCH_OVER)
            return false;
        if (outcome == SEARCH_PRICED) {
            memcpy(a->best, a->point, a->space->point_byte);
            a->best_cost = a->cost;
            a->started = true;
            return true;
        }
    }
    return false;
}

/* One move; false when the space is over. */
static bool make_move(struct annealing *a)
{
    double cost;
    a->move++;
    a->temperature *= a->cooling;
    if (!a->space->neighbour(a->space->self, &a->stream, a->point, a->next))
        return true;
    enum search_outcome outcome = a->space->evaluate(a->space->self, a->next, &cost);
    if (outcome != SEARCH_PRICED)
        return outcome != SEARCH_OVER;
    if (cost > a->cost && random_unit(&a->stream) >= exp(-log(cost / a->cost) / a->temperature))
        return true;
    void *old = a->point;
    a->point = a->next;
    a->next = old;
    a->cost = cost;
    if (cost < a->best_cost) {
        a->best_cost = cost;
        memcpy(a->best, a->point, a->space->point_byte);
    }
    return true;
}

bool annealing_step(struct annealing *a, uint64_t n)
{
    if (!a->started && !start(a))
        return false;
    for (uint64_t i = 0; i < n; i++) {
        if (a->move == a->options.n_move) {
            if (a->restart == a->options.n_restart)
                return false;
            a->restart++;
            a->move = 0;
            a->temperature = a->options.first_temperature;
            memcpy(a->point, a->best, a->space->point_byte);
            a->cost = a->best_cost;
        }
        if (!make_move(a))
            return false;
    }
    return true;
}
