/* Starts in their order, a batch of uops that start together at a time. */
#include "engines/klotski/order/core_mapping.h"

#include <stdlib.h>

#include "engines/klotski/order/core_local.h"
#include "engines/klotski/order/core_program.h"
#include "engines/search/assignment.h"

struct started {
    uint64_t start;
    uint32_t uop;
};

struct placing {
    struct core_traffic traffic;
    const struct core_settings *settings;
    const uint64_t *start;
    struct started *by_start; /* (n_uop) */
    uint64_t *free_at;        /* (n_core) */
    uint32_t *free_core;      /* (n_core) in zig-zag order */
    double *price, *cost;     /* (n_core), (batch, free cores) */
    uint32_t *chosen;         /* (n_core) */
    struct assignment *assignment;
};

static int compare(const void *a, const void *b)
{
    const struct started *x = a, *y = b;
    if (x->start != y->start)
        return (x->start > y->start) - (x->start < y->start);
    return (x->uop > y->uop) - (x->uop < y->uop);
}

static enum dse_status prepare(struct placing *m, const struct uop_graph *graph, struct arena *scratch,
                               struct dse_error *err)
{
    DSE_TRY(core_traffic_init(&m->traffic, graph, &m->settings->mesh, m->settings->unweighted, scratch, err));
    const uint32_t n_core = m->traffic.n_core;
    m->by_start = arena_alloc_unset(scratch, graph->n_uop, sizeof *m->by_start);
    m->free_at = arena_alloc(scratch, n_core, sizeof *m->free_at);
    m->free_core = arena_alloc_unset(scratch, n_core, sizeof *m->free_core);
    m->price = arena_alloc_unset(scratch, n_core, sizeof *m->price);
    m->cost = arena_alloc_unset(scratch, (size_t)n_core * n_core, sizeof *m->cost);
    m->chosen = arena_alloc_unset(scratch, n_core, sizeof *m->chosen);
    m->assignment = assignment_new(n_core, n_core, scratch);
    DSE_TRY(arena_check(scratch, "a mapping of uops to cores", err));
    for (uint32_t u = 0; u < graph->n_uop; u++)
        m->by_start[u] = (struct started){m->start[u], u};
    qsort(m->by_start, graph->n_uop, sizeof *m->by_start, compare);
    return DSE_OK;
}

/* Cores for `n` uops out of `n_free`: indices into free_core. Uops of a batch are on different cores and none
 * waits for another, so what each costs does not depend on the others. */
static bool choose(struct placing *m, const struct started *batch, uint32_t n, uint32_t n_free)
{
    if (n > n_free)
        return false;
    for (uint32_t i = 0; i < n; i++)
        m->chosen[i] = i;
    if (m->settings->rule == CORE_ZIGZAG)
        return true;
    for (uint32_t i = 0; i < n; i++) {
        core_traffic_price(&m->traffic, batch[i].uop, m->price);
        for (uint32_t c = 0; c < n_free; c++)
            m->cost[(size_t)i * n_free + c] = m->price[m->free_core[c]];
    }
    return assignment_solve(m->assignment, m->cost, n, n_free, m->chosen);
}

static enum dse_status place(struct placing *m, struct dse_error *err)
{
    const struct uop_graph *graph = m->traffic.graph;
    for (uint32_t i = 0, n; i < graph->n_uop; i += n) {
        const struct started *batch = m->by_start + i;
        uint32_t n_free = 0;
        for (n = 1; i + n < graph->n_uop && batch[n].start == batch->start; n++)
            ;
        for (uint32_t k = 0; k < m->traffic.n_core; k++) {
            const uint32_t c = core_zigzag(&m->settings->mesh, k);
            if (m->free_at[c] <= batch->start)
                m->free_core[n_free++] = c;
        }
        if (!choose(m, batch, n, n_free))
            return dse_fail(err, DSE_INTERNAL, "%u uops start at once where %u cores are free", n, n_free);
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t c = m->free_core[m->chosen[k]];
            core_traffic_place(&m->traffic, batch[k].uop, c);
            m->free_at[c] = batch->start + graph->uop[batch[k].uop].cycle;
        }
    }
    return DSE_OK;
}

/* Time in steps from start to start, and the local search or the programs over them. */
static enum dse_status improve(struct placing *m, struct random_stream *random, struct arena *scratch,
                               struct core_programs *programs, struct dse_error *err)
{
    const struct uop_graph *graph = m->traffic.graph;
    uint64_t *at = arena_alloc_unset(scratch, graph->n_uop, sizeof *at);
    uint32_t *step = arena_alloc_unset(scratch, graph->n_uop, sizeof *step), n_step = 0;
    uint32_t *end_step = arena_alloc_unset(scratch, graph->n_uop, sizeof *end_step);
    uint32_t *order = arena_alloc_unset(scratch, graph->n_uop, sizeof *order);
    DSE_TRY(arena_check(scratch, "a mapping of uops to cores", err));
    for (uint32_t i = 0; i < graph->n_uop; i++) {
        if (i == 0 || m->by_start[i].start != m->by_start[i - 1].start)
            at[n_step++] = m->by_start[i].start;
        step[m->by_start[i].uop] = n_step - 1;
    }
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        const uint64_t end = m->start[u] + graph->uop[u].cycle;
        uint32_t low = step[u] + 1, high = n_step;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (at[middle] < end)
                low = middle + 1;
            else
                high = middle;
        }
        end_step[u] = low;
    }
    if (m->settings->rule == CORE_LOCAL)
        return core_local(&m->traffic, step, end_step, n_step, m->settings, random, scratch, err);
    for (uint32_t i = 0; i < graph->n_uop; i++)
        order[i] = m->by_start[i].uop;
    return core_program(&m->traffic, order, step, end_step, n_step, m->settings, scratch, programs, err);
}

enum dse_status core_mapping(const struct uop_graph *graph, const uint64_t *start,
                             const struct core_settings *settings, struct random_stream *random,
                             struct arena *scratch, uint32_t *core, struct core_programs *programs,
                             struct dse_error *err)
{
    struct placing m = {.settings = settings, .start = start};
    *programs = (struct core_programs){.n_window = 0};
    DSE_TRY(prepare(&m, graph, scratch, err));
    DSE_TRY(place(&m, err));
    if (settings->rule >= CORE_LOCAL)
        DSE_TRY(improve(&m, random, scratch, programs, err));
    for (uint32_t u = 0; u < graph->n_uop; u++)
        core[u] = m.traffic.core[u];
    return DSE_OK;
}
