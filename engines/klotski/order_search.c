/* Perturbed list schedules of the segments that are open. A try changes the priorities that are best so far,
 * and keeps them unless it is worse. */
#include "engines/klotski/order_search.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "costmodel/uop/uop_schedule.h"

struct open_segment {
    uint32_t first, end;
    uint64_t cycle, bound;
};

struct search {
    const struct uop_graph *graph;
    const struct order_settings *settings;
    struct random_stream *random;
    struct list_scheduler *list;
    uint64_t *priority, *changed; /* (n_uop) the best so far, and of a try */
    uint64_t *start;              /* (n_uop) of a try */
    uint32_t *core;
    struct order_found *out;
};

/* Keeps a list schedule by the priorities of `from` if it is no worse. */
static void try_priorities(struct search *s, struct open_segment *segment, const uint64_t *from)
{
    const uint32_t first = segment->first, n = segment->end - first;
    s->out->n_list++;
    const uint64_t limit = segment->cycle == UINT64_MAX ? UINT64_MAX : segment->cycle + 1;
    const uint64_t cycle = list_schedule(s->list, first, segment->end, from, limit, s->start, s->core);
    if (cycle > segment->cycle || cycle == UINT64_MAX)
        return;
    segment->cycle = cycle;
    memcpy(s->out->start + first, s->start + first, n * sizeof *s->start);
    memcpy(s->out->core + first, s->core + first, n * sizeof *s->core);
    if (from != s->priority)
        memcpy(s->priority + first, from + first, n * sizeof *from);
}

static void start_segment(struct search *s, struct open_segment *segment)
{
    segment->cycle = UINT64_MAX;
    if (s->settings->rule != ORDER_LIST) {
        list_fifo(segment->first, segment->end, s->changed);
        try_priorities(s, segment, s->changed);
    }
    if (s->settings->rule != ORDER_FIFO) {
        list_b_level(s->graph, segment->first, segment->end, s->changed);
        try_priorities(s, segment, s->changed);
        /* changes start from b-levels, whichever was better */
        memcpy(s->priority + segment->first, s->changed + segment->first,
               (segment->end - segment->first) * sizeof *s->changed);
    }
}

static double uniform(struct random_stream *random)
{
    return 2 * random_unit(random) - 1;
}

/* All priorities by up to a hundredth to a third, or those of a few uops by much. */
static void change(struct search *s, const struct open_segment *segment)
{
    const uint32_t n = segment->end - segment->first;
    const double width = exp(-1.1 - 3.5 * random_unit(s->random));
    const uint32_t one_in = 1 + random_below(s->random, n < 64 ? n : 64);
    for (uint32_t u = segment->first; u < segment->end; u++) {
        s->changed[u] = s->priority[u];
        if (random_below(s->random, one_in) == 0)
            s->changed[u] = (uint64_t)((double)s->priority[u] * (1 + width * uniform(s->random))) + 1;
    }
}

static bool is_over(const struct search *s)
{
    const atomic_int *cancel = s->settings->cancel;
    return (cancel && atomic_load_explicit(cancel, memory_order_relaxed)) ||
           (isfinite(s->settings->deadline_s) && clock_wall_s() >= s->settings->deadline_s);
}

/* Tries in proportion to what a segment is above its bound, but in each open one some. */
static void perturb(struct search *s, struct open_segment *segment, uint32_t n)
{
    uint64_t above = 0;
    for (uint32_t i = 0; i < n; i++)
        above += segment[i].cycle - segment[i].bound;
    for (uint32_t i = 0; i < n && above; i++) {
        const uint64_t gap = segment[i].cycle - segment[i].bound;
        uint32_t n_try = (uint32_t)ceil((double)s->settings->n_try * (double)gap / (double)above);
        if (segment[i].end - segment[i].first < 3)
            continue;
        for (; n_try && segment[i].cycle > segment[i].bound && !is_over(s); n_try--) {
            change(s, &segment[i]);
            try_priorities(s, &segment[i], s->changed);
        }
    }
}

enum dse_status order_search(const struct uop_graph *graph, const struct order_settings *settings,
                             struct random_stream *random, struct arena *scratch, struct order_found *out,
                             struct dse_error *err)
{
    struct search s = {.graph = graph, .settings = settings, .random = random, .out = out};
    uint32_t *first = arena_alloc_unset(scratch, graph->n_uop + (size_t)1, sizeof *first);
    struct open_segment *segment = arena_alloc_unset(scratch, graph->n_uop, sizeof *segment);
    s.priority = arena_alloc_unset(scratch, graph->n_uop, sizeof *s.priority);
    s.changed = arena_alloc_unset(scratch, graph->n_uop, sizeof *s.changed);
    s.start = arena_alloc_unset(scratch, graph->n_uop, sizeof *s.start);
    s.core = arena_alloc_unset(scratch, graph->n_uop, sizeof *s.core);
    s.list = list_scheduler_new(graph, settings->n_core, scratch);
    DSE_TRY(arena_check(scratch, "an order of uops", err));
    const uint32_t n = uop_segments(graph, scratch, first);
    out->cycle = out->bound_cycle = out->n_list = 0;
    for (uint32_t i = 0; i < n; i++) {
        segment[i] = (struct open_segment){.first = first[i], .end = first[i + 1]};
        segment[i].bound = uop_segment_bound(graph, first[i], first[i + 1], settings->n_core, scratch);
        start_segment(&s, &segment[i]);
    }
    DSE_TRY(arena_check(scratch, "an order of uops", err));
    if (settings->rule == ORDER_PERTURB)
        perturb(&s, segment, n);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t u = segment[i].first; u < segment[i].end; u++)
            out->start[u] += out->cycle;
        out->cycle += segment[i].cycle;
        out->bound_cycle += segment[i].bound;
    }
    return DSE_OK;
}
