/* Exchanges are made, priced and taken back in place; the shared annealing decides. */
#include "engines/klotski/order/core_local.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "engines/search/annealing.h"

enum { POLL_EVERY = 256, SAMPLES = 256 };

/* Steps of a piece: a longer one than USUAL is tried that much less often, so that a try takes about the same
 * time whatever the schedule; descent tries none longer than LONGEST. */
enum { USUAL = 16, LONGEST = 64 };

/* One try in so many is of up to so many steps more, so that what goes well together can go together. */
enum { WIDE_ONE_IN = 4, WIDE = 32 };

/* Temperatures, in the mean change of an exchange. */
#define HOT 0.5
#define COLD 0.05

/* What two cores run in steps `first` to `end` - 1. */
struct piece {
    uint32_t a, b, first, end;
};

struct local {
    struct core_traffic *traffic;
    const struct core_settings *settings;
    const uint32_t *step, *end_step; /* (n_uop) */
    uint32_t n_step;
    uint32_t *at;   /* (n_step, n_core) the uop on a core, or CORE_NONE */
    uint32_t *best; /* (n_uop) cores */
    double cost, before;
    struct piece last;
    uint64_t n_tried;
};

static bool is_over(const struct local *s)
{
    const atomic_int *cancel = s->settings->cancel;
    return (cancel && atomic_load_explicit(cancel, memory_order_relaxed)) ||
           (isfinite(s->settings->deadline_s) && clock_wall_s() >= s->settings->deadline_s);
}

static uint32_t *at_step(const struct local *s, uint32_t step)
{
    return s->at + (size_t)step * s->traffic->n_core;
}

/* The piece of cores `a` and `b` around steps `first` to `end` - 1 that cuts no uop. False: it has more than
 * `longest` steps. */
static bool piece_of(const struct local *s, uint32_t a, uint32_t b, uint32_t first, uint32_t end,
                     uint64_t longest, struct piece *out)
{
    uint32_t core = a;
    for (int closed = 0; closed < 2; core = core == a ? b : a) {
        const uint32_t u = at_step(s, first)[core];
        const bool grows = u != CORE_NONE && s->step[u] < first;
        first = grows ? s->step[u] : first;
        closed = grows ? 0 : closed + 1;
        if (end - first > longest)
            return false;
    }
    for (int closed = 0; closed < 2; core = core == a ? b : a) {
        const uint32_t u = at_step(s, end - 1)[core];
        const bool grows = u != CORE_NONE && s->end_step[u] > end;
        end = grows ? s->end_step[u] : end;
        closed = grows ? 0 : closed + 1;
        if (end - first > longest)
            return false;
    }
    *out = (struct piece){a, b, first, end};
    return true;
}

static double exchange(struct local *s, const struct piece *piece)
{
    double change = 0;
    for (uint32_t k = piece->first; k < piece->end; k++) {
        uint32_t *at = at_step(s, k);
        const uint32_t on_a = at[piece->a], on_b = at[piece->b];
        if (on_a != CORE_NONE && s->step[on_a] == k)
            change += core_traffic_move(s->traffic, on_a, piece->b);
        if (on_b != CORE_NONE && s->step[on_b] == k)
            change += core_traffic_move(s->traffic, on_b, piece->a);
        at[piece->a] = on_b;
        at[piece->b] = on_a;
    }
    return change;
}

/* Move a uop to another core, with all that this and `more` steps after its end bring along. */
static bool try_exchange(struct local *s, uint32_t uop, uint32_t core, uint32_t more, uint64_t longest)
{
    const uint32_t from = s->traffic->core[uop], left = s->n_step - s->end_step[uop];
    const uint32_t end = s->end_step[uop] + (more < left ? more : left);
    if (core == from || !piece_of(s, from, core, s->step[uop], end, longest, &s->last))
        return false;
    s->before = s->cost;
    s->cost += exchange(s, &s->last);
    return true;
}

static void undo(void *self)
{
    struct local *s = self;
    (void)exchange(s, &s->last);
    s->cost = s->before;
}

/* Half of the time the core of a uop that this one hears from or sends to. */
static uint32_t some_core(const struct local *s, struct random_stream *stream, uint32_t uop)
{
    const struct uop_graph *graph = s->traffic->graph;
    const uint32_t n_in = graph->first_producer[uop + 1] - graph->first_producer[uop];
    const uint32_t n = n_in + graph->first_consumer[uop + 1] - graph->first_consumer[uop];
    if (n == 0 || random_below(stream, 2) == 0)
        return random_below(stream, s->traffic->n_core);
    const uint32_t k = random_below(stream, n);
    return s->traffic->core[k < n_in ? graph->producer[graph->first_producer[uop] + k]
                                     : graph->consumer[graph->first_consumer[uop] + k - n_in]];
}

static enum search_outcome propose(void *self, struct random_stream *stream, double *cost)
{
    struct local *s = self;
    if (s->n_tried++ % POLL_EVERY == 0 && is_over(s))
        return SEARCH_OVER;
    const uint64_t longest = ((uint64_t)USUAL << 32) / (random_u32(stream) + UINT64_C(1));
    const uint32_t uop = random_below(stream, s->traffic->graph->n_uop);
    const uint32_t core = some_core(s, stream, uop);
    const uint32_t more = random_below(stream, WIDE_ONE_IN) ? 0 : random_below(stream, WIDE);
    if (!try_exchange(s, uop, core, more, longest))
        return SEARCH_INFEASIBLE;
    *cost = s->cost;
    return SEARCH_PRICED;
}

static void keep(void *self)
{
    struct local *s = self;
    memcpy(s->best, s->traffic->core, s->traffic->graph->n_uop * sizeof *s->best);
}

static void restore(void *self)
{
    struct local *s = self;
    core_traffic_set(s->traffic, s->best);
    s->cost = core_traffic_cost(s->traffic);
    memset(s->at, 0xff, (size_t)s->n_step * s->traffic->n_core * sizeof *s->at);
    for (uint32_t u = 0; u < s->traffic->graph->n_uop; u++)
        for (uint32_t k = s->step[u]; k < s->end_step[u]; k++)
            at_step(s, k)[s->best[u]] = u;
}

/* What an exchange changes the cost by, on average of some. */
static double mean_change(struct local *s, struct random_stream *random)
{
    double sum = 0, cost;
    uint32_t n = 0;
    for (int i = 0; i < SAMPLES; i++)
        if (propose(s, random, &cost) == SEARCH_PRICED) {
            sum += fabs(s->cost - s->before);
            n++;
            undo(s);
        }
    return n ? sum / n : 0;
}

/* Every uop to every core in turn, until none of that is an improvement or `limit` exchanges were tried. */
static void descend(struct local *s, uint64_t limit)
{
    const uint32_t n_uop = s->traffic->graph->n_uop, n_core = s->traffic->n_core;
    const uint64_t n_pair = (uint64_t)n_uop * n_core;
    uint64_t since = 0;
    for (uint64_t i = 0; since < n_pair && i < limit; i++) {
        if (i % POLL_EVERY == 0 && is_over(s))
            return;
        since++;
        if (!try_exchange(s, (uint32_t)(i / n_core % n_uop), (uint32_t)(i % n_core), 0, LONGEST))
            continue;
        if (s->cost < s->before)
            since = 0;
        else
            undo(s);
    }
}

enum dse_status core_local(struct core_traffic *traffic, const uint32_t *step, const uint32_t *end_step,
                           uint32_t n_step, const struct core_settings *settings,
                           struct random_stream *random, struct arena *scratch, struct dse_error *err)
{
    const uint32_t n_uop = traffic->graph->n_uop;
    const uint64_t n_round = (uint64_t)settings->n_move * n_uop;
    struct annealing *walk;
    struct local s = {
        .traffic = traffic, .settings = settings, .step = step, .end_step = end_step, .n_step = n_step};
    s.at = arena_alloc_unset(scratch, (size_t)n_step * traffic->n_core, sizeof *s.at);
    s.best = arena_alloc_unset(scratch, n_uop, sizeof *s.best);
    DSE_TRY(arena_check(scratch, "a local search of cores", err));
    keep(&s);
    restore(&s);
    const double scale = mean_change(&s, random);
    if (n_round && scale > 0) {
        const struct annealing_space space = {&s, propose, undo, keep, restore};
        const struct annealing_options options = {.rule = ANNEALING_ABSOLUTE,
                                                  .n_round = n_round,
                                                  .first_temperature = HOT * scale,
                                                  .last_temperature = COLD * scale,
                                                  .return_share = 1};
        DSE_TRY(annealing_new(&space, &options, s.cost, *random, scratch, &walk, err));
        while (annealing_step(walk, UINT32_MAX))
            ;
        restore(&s);
    }
    descend(&s, n_round);
    return DSE_OK;
}
