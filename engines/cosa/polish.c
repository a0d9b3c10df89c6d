/* A pool of local optima of different cost and a queue of starts; a step is one block of a descent or the
 * begin of the next. */
#include "engines/cosa/polish.h"

#include <string.h>

#include "engines/mapspace/mapspace_move.h"

enum { FAILED_MAX = 100 };

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

/* Insert a point into a list of at most `max` points, best first, in which costs differ by more than
 * rounding. Returns its place, or `max` when it is not taken. */
static uint32_t insert(struct polish_point *list, uint32_t *n, uint32_t max, const struct polish_point *point)
{
    uint32_t at = 0;
    while (at < *n && list[at].cost < point->cost * (1 - 1e-9))
        at++;
    if (at < *n && list[at].cost <= point->cost * (1 + 1e-9)) {
        if (point->cost < list[at].cost || (point->cost == list[at].cost && point->tie < list[at].tie))
            list[at] = *point;
        return max;
    }
    if (at == max)
        return max;
    if (*n < max)
        ++*n;
    for (uint32_t i = *n - 1; i > at; i--)
        list[i] = list[i - 1];
    list[at] = *point;
    return at;
}

void polish_add(struct polish *polish, const struct mapping *mapping, double cost, double tie)
{
    const struct polish_point point = {*mapping, cost, tie};
    (void)insert(polish->start, &polish->n_start, POLISH_START_MAX, &point);
}

/* Let one or two random dimensions take over a random slot: a long step that no descent finds. */
static void take_over(struct polish *polish)
{
    struct mapping *mapping = &polish->now.mapping;
    uint32_t n = 1 + random_below(&polish->stream, 2), stay = 0;
    uint32_t slot = random_below(&polish->stream, mapspace_slots(polish->space));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t d = random_below(&polish->stream, mapping->n_dim);
        (void)mapspace_gather(polish->space, mapping, d, slot);
        stay |= 1u << d;
    }
    mapspace_evict(polish->space, &polish->stream, mapping, slot, stay);
}

/* One of the best local optima after some random moves, or the child of two, becomes `now`. */
static void kick(struct polish *polish)
{
    struct random_stream *stream = &polish->stream;
    uint32_t n = 1 + random_below(stream, POLISH_KICK_MAX);
    uint32_t i = random_below(stream, 1 + random_below(stream, polish->n_pool));
    struct mapping next;
    polish->now = polish->pool[i];
    if (polish->n_pool > 1 && random_below(stream, 10) < 3) {
        uint32_t j = random_below(stream, polish->n_pool - 1);
        j += j >= i;
        if (mapspace_crossover(polish->space, stream, &polish->now.mapping, &polish->pool[j].mapping, &next))
            polish->now.mapping = next;
        n = random_below(stream, 3);
    } else if (random_below(stream, 2) == 0) {
        take_over(polish);
    }
    for (uint32_t k = 0; k < n; k++)
        if (mapspace_neighbour(polish->space, stream, &polish->now.mapping, &next))
            polish->now.mapping = next;
}

static bool begin(struct polish *polish)
{
    bool priced = true;
    if (polish->next_start < polish->n_start) {
        polish->now = polish->start[polish->next_start++];
    } else if (polish->n_pool) {
        kick(polish);
        priced = polish->price(polish->self, &polish->now.mapping, &polish->now.cost, &polish->now.tie);
    } else {
        return false;
    }
    polish->n_failed = priced ? 0 : polish->n_failed + 1;
    polish->descending = priced;
    if (priced)
        descent_start(&polish->descent, polish->space, &polish->now.mapping, polish->now.cost,
                      polish->now.tie, &polish->stream);
    return polish->n_failed < FAILED_MAX;
}

/* Is this a known local optimum, or one that costs exactly the same? */
static bool in_pool(const struct polish *polish)
{
    for (uint32_t i = 0; i < polish->n_pool; i++)
        if (polish->descent.cost == polish->pool[i].cost && polish->descent.tie == polish->pool[i].tie)
            return true;
    return false;
}

bool polish_step(struct polish *polish)
{
    if (!polish->descending)
        return (polish->next_start < polish->n_start || polish->n_no_better < polish->patience) &&
               begin(polish);
    if (descent_block(&polish->descent, polish->price, polish->self) && !in_pool(polish))
        return true;
    polish->descending = false;
    polish->now.cost = polish->descent.cost;
    polish->now.tie = polish->descent.tie;
    bool better = insert(polish->pool, &polish->n_pool, POLISH_POOL_MAX, &polish->now) == 0;
    polish->n_no_better = better ? 0 : polish->n_no_better + 1;
    return true;
}
