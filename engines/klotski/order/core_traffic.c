/* Costs are sums of whole numbers, so exact below 2^53 in whatever order they are added. */
#include "engines/klotski/order/core_traffic.h"

#include <string.h>

uint32_t core_zigzag(const struct core_mesh *mesh, uint32_t i)
{
    const uint32_t row = i / mesh->columns, column = i % mesh->columns;
    return row * mesh->columns + (row % 2 ? mesh->columns - 1 - column : column);
}

static uint32_t apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

enum dse_status core_traffic_init(struct core_traffic *traffic, const struct uop_graph *graph,
                                  const struct core_mesh *mesh, bool unweighted, struct arena *arena,
                                  struct dse_error *err)
{
    const uint32_t n_core = mesh->columns * mesh->rows;
    uint32_t *hops = arena_alloc_unset(arena, (size_t)n_core * n_core, sizeof *hops);
    double *message = arena_alloc_unset(arena, graph->n_uop, sizeof *message);
    uint32_t *core = arena_alloc_unset(arena, graph->n_uop, sizeof *core);
    uint64_t *seen = arena_alloc(arena, n_core, sizeof *seen);
    uint32_t *n_reader = arena_alloc(arena, (size_t)graph->n_uop * n_core, sizeof *n_reader);
    DSE_TRY(arena_check(arena, "a mapping of uops to cores", err));
    for (uint32_t a = 0; a < n_core; a++)
        for (uint32_t b = 0; b < n_core; b++)
            hops[(size_t)a * n_core + b] =
                apart(a / mesh->columns, b / mesh->columns) + apart(a % mesh->columns, b % mesh->columns);
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        message[u] = unweighted ? 1 : (double)graph->uop[u].output_word;
        core[u] = CORE_NONE;
    }
    *traffic = (struct core_traffic){graph, n_core, hops, message, core, n_reader, seen, 0};
    return DSE_OK;
}

static uint32_t *readers_of(const struct core_traffic *traffic, uint32_t uop)
{
    return traffic->n_reader + (size_t)uop * traffic->n_core;
}

static const uint32_t *hops_from(const struct core_traffic *traffic, uint32_t core)
{
    return traffic->hops + (size_t)core * traffic->n_core;
}

void core_traffic_place(struct core_traffic *traffic, uint32_t uop, uint32_t core)
{
    const struct uop_graph *graph = traffic->graph;
    traffic->core[uop] = core;
    for (uint32_t k = graph->first_producer[uop]; k < graph->first_producer[uop + 1]; k++)
        readers_of(traffic, graph->producer[k])[core]++;
}

void core_traffic_set(struct core_traffic *traffic, const uint32_t *core)
{
    memset(traffic->n_reader, 0, (size_t)traffic->graph->n_uop * traffic->n_core * sizeof *traffic->n_reader);
    for (uint32_t u = 0; u < traffic->graph->n_uop; u++)
        core_traffic_place(traffic, u, core[u]);
}

void core_traffic_price(const struct core_traffic *traffic, uint32_t uop, double *cost)
{
    const struct uop_graph *graph = traffic->graph;
    for (uint32_t c = 0; c < traffic->n_core; c++)
        cost[c] = 0;
    for (uint32_t k = graph->first_producer[uop]; k < graph->first_producer[uop + 1]; k++) {
        const uint32_t p = graph->producer[k], *sent = readers_of(traffic, p);
        const uint32_t *hops = hops_from(traffic, traffic->core[p]);
        for (uint32_t c = 0; c < traffic->n_core; c++)
            cost[c] += sent[c] ? 0 : traffic->message[p] * hops[c];
    }
}

/* How many hops more a uop's messages take from another core: over all cores, or over its consumers where
 * they are few. */
static int64_t more_hops(struct core_traffic *traffic, uint32_t uop, uint32_t from, uint32_t to)
{
    const struct uop_graph *graph = traffic->graph;
    const uint32_t *sends = readers_of(traffic, uop);
    const uint32_t *old = hops_from(traffic, from), *new = hops_from(traffic, to);
    const uint32_t first = graph->first_consumer[uop], end = graph->first_consumer[uop + 1];
    int64_t hops = 0;
    if ((end - first) * UINT64_C(4) > traffic->n_core) {
        for (uint32_t c = 0; c < traffic->n_core; c++)
            hops += sends[c] ? (int64_t) new[c] - old[c] : 0;
        return hops;
    }
    traffic->tick++;
    for (uint32_t k = first; k < end; k++) {
        const uint32_t c = traffic->core[graph->consumer[k]];
        hops += traffic->seen[c] != traffic->tick ? (int64_t) new[c] - old[c] : 0;
        traffic->seen[c] = traffic->tick;
    }
    return hops;
}

double core_traffic_move(struct core_traffic *traffic, uint32_t uop, uint32_t to)
{
    const struct uop_graph *graph = traffic->graph;
    const uint32_t from = traffic->core[uop];
    double change = traffic->message[uop] * (double)more_hops(traffic, uop, from, to);
    traffic->core[uop] = to;
    for (uint32_t k = graph->first_producer[uop]; k < graph->first_producer[uop + 1]; k++) {
        const uint32_t p = graph->producer[k];
        const uint32_t *there = hops_from(traffic, traffic->core[p]);
        uint32_t *n_reader = readers_of(traffic, p);
        if (--n_reader[from] == 0)
            change -= traffic->message[p] * there[from];
        if (n_reader[to]++ == 0)
            change += traffic->message[p] * there[to];
    }
    return change;
}

double core_traffic_cost(const struct core_traffic *traffic)
{
    double cost = 0;
    for (uint32_t u = 0; u < traffic->graph->n_uop; u++) {
        const uint32_t *sends = readers_of(traffic, u), *hops = hops_from(traffic, traffic->core[u]);
        for (uint32_t c = 0; c < traffic->n_core; c++)
            cost += sends[c] ? traffic->message[u] * hops[c] : 0;
    }
    return cost;
}
