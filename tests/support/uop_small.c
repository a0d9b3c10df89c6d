/* Random small graphs of uops and all their orders. */
#include "tests/support/uop_small.h"

#include <string.h>

void uop_small_link(struct uop_small *s, uint32_t n)
{
    uint32_t at = 0;
    for (uint32_t u = 0; u < n; u++) {
        s->first_producer[u] = at;
        for (uint32_t p = 0; p < u; p++)
            if (s->edge[p][u])
                s->producer[at++] = p;
    }
    s->first_producer[n] = at;
    at = 0;
    for (uint32_t p = 0; p < n; p++) {
        s->first_consumer[p] = at;
        for (uint32_t u = 0; u < n; u++)
            if (s->edge[p][u])
                s->consumer[at++] = u;
    }
    s->first_consumer[n] = at;
    s->graph = (struct uop_graph){.n_sample = 1,
                                  .n_uop = n,
                                  .uop = s->uop,
                                  .first_producer = s->first_producer,
                                  .producer = s->producer,
                                  .first_consumer = s->first_consumer,
                                  .consumer = s->consumer};
}

void uop_small_random(struct random_stream *rng, struct uop_small *s)
{
    memset(s, 0, sizeof *s);
    const uint32_t n = 1 + random_below(rng, UOP_SMALL_MAX), density = 1 + random_below(rng, 9);
    const uint32_t kinds = 1 + random_below(rng, 4);
    for (uint32_t u = 0; u < n; u++) {
        s->uop[u].cycle = 1 + random_below(rng, kinds) * 3;
        for (uint32_t p = 0; p < u; p++)
            s->edge[p][u] = random_below(rng, 10) < density;
    }
    uop_small_link(s, n);
}

void uop_small_uneven(struct random_stream *rng, struct uop_small *s)
{
    uop_small_random(rng, s);
    for (uint32_t u = 0; u < s->graph.n_uop; u++)
        s->uop[u].cycle = 1 + random_below(rng, 12);
}

/* The least makespan: a uop at a time, on the core that is free first, as early as it can be; over all orders
 * that is one of the best schedules. */
static uint64_t best_of_all(const struct uop_small *s, uint32_t n_core, uint32_t done, uint64_t *free_at,
                            uint64_t *finish)
{
    uint64_t best = UINT64_MAX;
    const uint32_t n = s->graph.n_uop;
    if (done == (1U << n) - 1) {
        best = 0;
        for (uint32_t u = 0; u < n; u++)
            best = finish[u] > best ? finish[u] : best;
        return best;
    }
    for (uint32_t u = 0; u < n; u++) {
        bool ready = !(done >> u & 1);
        uint64_t start = 0;
        for (uint32_t p = 0; p < u; p++)
            if (s->edge[p][u]) {
                ready = ready && (done >> p & 1);
                start = finish[p] > start ? finish[p] : start;
            }
        if (!ready)
            continue;
        uint32_t core = 0;
        for (uint32_t c = 1; c < n_core; c++)
            core = free_at[c] < free_at[core] ? c : core;
        const uint64_t before = free_at[core];
        start = before > start ? before : start;
        free_at[core] = finish[u] = start + s->uop[u].cycle;
        const uint64_t cost = best_of_all(s, n_core, done | 1U << u, free_at, finish);
        best = cost < best ? cost : best;
        free_at[core] = before;
    }
    return best;
}

uint64_t uop_small_best(const struct uop_small *s, uint32_t n_core)
{
    uint64_t free_at[UOP_SMALL_CORE_MAX] = {0}, finish[UOP_SMALL_MAX] = {0};
    return best_of_all(s, n_core, 0, free_at, finish);
}
