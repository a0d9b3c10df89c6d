/* A uop is picked by looking at all layers with ready ones: a hundred or two, times the samples. */
#include "engines/klotski/atomic_order.h"

#include "engines/klotski/klotski_task.h"
#include "engines/klotski/order/core_traffic.h"

/* A layer of one sample. */
struct group {
    uint32_t sample, depth;
    uint32_t first, end; /* its uops */
    uint32_t n_ready, n_begun;
    uint32_t least; /* no ready uop before it */
};

struct atomic {
    const struct uop_graph *graph;
    const struct kc_machine *machine;
    uint32_t n_core, n_group;
    struct group *group; /* (n_group) sample after sample, layers in their order */
    uint32_t *missing;   /* (n_uop) producers that are not done */
    bool *is_ready;      /* (n_uop) and not begun */
    uint32_t *running;   /* (n_core) by place in the zig-zag; UINT32_MAX: free */
    uint64_t *free_at;   /* (n_core) */
    uint32_t n_ready, n_busy;
};

static uint32_t group_of(const struct atomic *a, uint32_t u)
{
    return a->graph->uop[u].sample * a->graph->network->n_all + a->graph->uop[u].layer;
}

static void make_ready(struct atomic *a, uint32_t u)
{
    struct group *group = &a->group[group_of(a, u)];
    a->is_ready[u] = true;
    a->n_ready++;
    group->n_ready++;
    group->least = u < group->least ? u : group->least;
}

/* Layers before it on the longest path from the input. */
static uint32_t depth_of(const struct atomic *a, uint32_t l)
{
    const struct uop_layer *layer = &a->graph->network->layer[l];
    uint32_t depth = 0;
    for (uint32_t i = 0; i < layer->n_source; i++) {
        const int32_t from = a->graph->network->source[layer->first_source + i].layer;
        if (from >= 0 && a->group[from].depth + 1 > depth)
            depth = a->group[from].depth + 1;
    }
    return depth;
}

static void fill(struct atomic *a)
{
    const struct uop_graph *graph = a->graph;
    const uint32_t n_layer = graph->network->n_all, per_sample = graph->n_uop / graph->n_sample;
    for (uint32_t i = 0; i < a->n_group; i++) { /* producers first, whose depth is known then */
        const uint32_t sample = i / n_layer, l = graph->network->order[i % n_layer];
        const uint32_t g = sample * n_layer + l;
        const uint32_t first = sample * per_sample + graph->layer[l].first;
        a->group[g] = (struct group){.sample = sample,
                                     .depth = sample ? a->group[l].depth : depth_of(a, l),
                                     .first = first,
                                     .end = first + graph->layer[l].n_uop,
                                     .least = first + graph->layer[l].n_uop};
    }
    for (uint32_t c = 0; c < a->n_core; c++)
        a->running[c] = UINT32_MAX;
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        a->missing[u] = graph->first_producer[u + 1] - graph->first_producer[u];
        if (a->missing[u] == 0)
            make_ready(a, u);
    }
}

static bool comes_before(const struct group *x, const struct group *y)
{
    const bool x_begun = x->n_begun > 0, y_begun = y->n_begun > 0;
    if (x_begun != y_begun)
        return x_begun;
    return x->sample != y->sample ? x->sample < y->sample : x->depth < y->depth;
}

/* The ready uop that comes first; there is one. */
static uint32_t pick(struct atomic *a)
{
    struct group *best = NULL;
    for (uint32_t g = 0; g < a->n_group; g++)
        if (a->group[g].n_ready && (!best || comes_before(&a->group[g], best)))
            best = &a->group[g];
    while (!a->is_ready[best->least])
        best->least++;
    a->is_ready[best->least] = false;
    best->n_ready--;
    best->n_begun++;
    a->n_ready--;
    return best->least;
}

static void end_uop(struct atomic *a, uint32_t place)
{
    const struct uop_graph *graph = a->graph;
    const uint32_t u = a->running[place];
    for (uint32_t k = graph->first_consumer[u]; k < graph->first_consumer[u + 1]; k++)
        if (--a->missing[graph->consumer[k]] == 0)
            make_ready(a, graph->consumer[k]);
    a->running[place] = UINT32_MAX;
    a->n_busy--;
}

/* Ends all that end next; when that is. */
static uint64_t advance(struct atomic *a)
{
    uint64_t now = UINT64_MAX;
    for (uint32_t c = 0; c < a->n_core; c++)
        if (a->running[c] != UINT32_MAX && a->free_at[c] < now)
            now = a->free_at[c];
    for (uint32_t c = 0; c < a->n_core; c++)
        if (a->running[c] != UINT32_MAX && a->free_at[c] == now)
            end_uop(a, c);
    return now;
}

enum dse_status atomic_order(const struct uop_graph *graph, const struct kc_machine *machine, bool in_rounds,
                             struct arena *scratch, uint64_t *start, uint32_t *core, uint64_t *cycle,
                             struct dse_error *err)
{
    struct atomic a = {.graph = graph, .machine = machine, .n_core = machine->columns * machine->rows};
    a.n_group = graph->n_sample * graph->network->n_all;
    a.group = arena_alloc(scratch, a.n_group, sizeof *a.group);
    a.missing = arena_alloc_unset(scratch, graph->n_uop, sizeof *a.missing);
    a.is_ready = arena_alloc(scratch, graph->n_uop, sizeof *a.is_ready);
    a.running = arena_alloc_unset(scratch, a.n_core, sizeof *a.running);
    a.free_at = arena_alloc(scratch, a.n_core, sizeof *a.free_at);
    DSE_TRY(arena_check(scratch, "an order of uops", err));
    fill(&a);
    const struct core_mesh mesh = {machine->columns, machine->rows};
    uint64_t now = 0;
    for (;;) {
        for (uint32_t c = 0; c < a.n_core && a.n_ready; c++) {
            if (a.running[c] != UINT32_MAX)
                continue;
            const uint32_t u = pick(&a);
            start[u] = now;
            core[u] = core_zigzag(&mesh, c);
            a.running[c] = u;
            a.free_at[c] = now + graph->uop[u].cycle;
            a.n_busy++;
        }
        if (a.n_busy == 0)
            break;
        do
            now = advance(&a);
        while (in_rounds && a.n_busy);
    }
    *cycle = now;
    return DSE_OK;
}
