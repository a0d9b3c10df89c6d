/* A pool of local optima of different cost and a queue of starts; a step is one block of a descent or the
 * begin of the next. */
#include "engines/cosa/polish.h"

#include <math.h>
#include <string.h>

enum { FAILED_MAX = 100, KICK_MAX = 6, DRAWN = 8 };

void polish_init(struct polish *polish, const struct mapspace *space, descent_price price, void *self,
                 struct random_stream stream, uint32_t patience)
{
    memset(polish, 0, sizeof *polish);
    polish->space = space;
    polish->price = price;
    polish->self = self;
    polish->stream = stream;
    polish->patience = patience;
}

void polish_add(struct polish *polish, const struct mapping *mapping, double cost, double tie)
{
    const struct priced_mapping point = {*mapping, cost, tie};
    (void)priced_insert(polish->start, &polish->n_start, POLISH_START_MAX, &point);
}

/* The best of some drawn mappings becomes `now`; false: none could be priced. */
static bool draw(struct polish *polish)
{
    polish->now.cost = INFINITY;
    for (int i = 0; i < DRAWN; i++) {
        struct priced_mapping drawn;
        struct misfit_info fit;
        if (mapspace_draw_start(polish->space, &polish->stream, &drawn.mapping, NULL, &fit) &&
            polish->price(polish->self, &drawn.mapping, &drawn.cost, &drawn.tie) &&
            drawn.cost < polish->now.cost)
            polish->now = drawn;
    }
    return polish->now.cost < INFINITY;
}

static bool begin(struct polish *polish)
{
    bool priced = true;
    if (polish->next_start < polish->n_start) {
        polish->now = polish->start[polish->next_start++];
    } else if (polish->wide && random_below(&polish->stream, 8) < 3) {
        priced = draw(polish);
    } else if (polish->optima.n) {
        polish->now.mapping = optima_kick(&polish->optima, polish->space, KICK_MAX, &polish->stream);
        priced = polish->price(polish->self, &polish->now.mapping, &polish->now.cost, &polish->now.tie);
    } else {
        return false;
    }
    polish->n_failed = priced ? 0 : polish->n_failed + 1;
    polish->descending = priced;
    if (priced && polish->wide)
        descent_start_wide(&polish->descent, polish->space, &polish->now.mapping, polish->now.cost,
                           polish->now.tie, &polish->stream);
    else if (priced)
        descent_start(&polish->descent, polish->space, &polish->now.mapping, polish->now.cost,
                      polish->now.tie, &polish->stream);
    return polish->n_failed < FAILED_MAX;
}

bool polish_step(struct polish *polish)
{
    if (!polish->descending)
        return (polish->next_start < polish->n_start || polish->n_no_better < polish->patience) &&
               begin(polish);
    if (descent_block(&polish->descent, polish->price, polish->self) &&
        !optima_have(&polish->optima, &polish->descent))
        return true;
    polish->descending = false;
    polish->now.cost = polish->descent.cost;
    polish->now.tie = polish->descent.tie;
    bool better = priced_insert(polish->optima.point, &polish->optima.n, OPTIMA_MAX, &polish->now) == 0;
    polish->n_no_better = better ? 0 : polish->n_no_better + 1;
    return true;
}
