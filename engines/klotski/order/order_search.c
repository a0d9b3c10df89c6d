/* Programs in slots, and perturbed list schedules, of the segments that are open. A try changes the
 * priorities that are best so far, and keeps them unless it is worse. */
#include "engines/klotski/order/order_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "costmodel/uop/uop_schedule.h"
#include "engines/klotski/order/slot_program.h"

struct open_segment {
    uint32_t first, end;
    uint64_t cycle, bound;
};

struct turn {
    uint64_t slot, priority; /* the largest priority first */
    uint32_t uop;
};

struct search {
    const struct uop_graph *graph;
    const struct order_settings *settings;
    struct random_stream *random;
    struct list_scheduler *list;
    uint64_t *priority, *changed; /* (n_uop) the best so far, and of a try */
    uint64_t *start;              /* (n_uop) of a try */
    uint32_t *core;
    struct turn *turn; /* (n_uop) and the uops by it */
    uint32_t *by_turn;
    struct order_found *out;
};

/* What a schedule must be below to be looked at. */
static uint64_t limit_of(const struct open_segment *segment)
{
    return segment->cycle == UINT64_MAX ? UINT64_MAX : segment->cycle + 1;
}

/* Keeps the schedule of s->start and s->core if it is no worse. */
static bool keep(struct search *s, struct open_segment *segment, uint64_t cycle)
{
    const uint32_t first = segment->first, n = segment->end - first;
    s->out->n_list++;
    if (cycle > segment->cycle || cycle == UINT64_MAX)
        return false;
    segment->cycle = cycle;
    memcpy(s->out->start + first, s->start + first, n * sizeof *s->start);
    memcpy(s->out->core + first, s->core + first, n * sizeof *s->core);
    return true;
}

/* A list schedule by the priorities of `from`. */
static void try_priorities(struct search *s, struct open_segment *segment, const uint64_t *from)
{
    const uint32_t first = segment->first, end = segment->end;
    const bool kept =
        keep(s, segment, list_schedule(s->list, first, end, from, limit_of(segment), s->start, s->core));
    if (kept && from != s->priority)
        memcpy(s->priority + first, from + first, (end - first) * sizeof *from);
}

static int compare_turn(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->slot != y->slot)
        return (x->slot > y->slot) - (x->slot < y->slot);
    if (x->priority != y->priority)
        return (x->priority < y->priority) - (x->priority > y->priority);
    return (x->uop > y->uop) - (x->uop < y->uop);
}

/* Schedules in the order of slots, in one slot by b-level: uops that are ready as their turn comes, and all
 * of them in turn, which may let a core wait. */
static void try_slots(struct search *s, struct open_segment *segment, const uint64_t *slot)
{
    const uint32_t first = segment->first, end = segment->end;
    list_b_level(s->graph, first, end, s->changed);
    for (uint32_t u = first; u < end; u++)
        s->turn[u - first] = (struct turn){slot[u], s->changed[u], u};
    qsort(s->turn, end - first, sizeof *s->turn, compare_turn);
    for (uint32_t i = 0; i < end - first; i++) {
        s->by_turn[i] = s->turn[i].uop;
        s->changed[s->turn[i].uop] = end - i;
    }
    (void)keep(s, segment,
               list_in_turn(s->list, first, end, s->by_turn, limit_of(segment), s->start, s->core));
    try_priorities(s, segment, s->changed);
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

/* The programs of all segments above their bounds. `slot` (n_uop) is scratch. */
static enum dse_status solve_programs(struct search *s, struct open_segment *segment, uint32_t n,
                                      uint64_t *slot, struct dse_error *err)
{
    const struct order_settings *settings = s->settings;
    const struct slot_settings program = {
        .n_core = settings->n_core,
        .n_slot = settings->n_slot,
        .relaxed = settings->rule == ORDER_RELAXED,
        .max_binaries = settings->max_binaries,
        .limits = {.max_nodes = settings->max_nodes,
                   .stop_at_s = isfinite(settings->deadline_s) ? settings->deadline_s : 0,
                   .cancel = settings->cancel}};
    enum dse_status status = DSE_OK;
    struct arena arena;
    arena_init(&arena);
    for (uint32_t i = 0; i < n && status == DSE_OK; i++) {
        struct open_segment *at = &segment[i];
        struct slot_found found;
        if (at->cycle <= at->bound)
            continue;
        status =
            slot_program_solve(s->graph, at->first, at->end, at->cycle, &program, &arena, slot, &found, err);
        if (status != DSE_OK)
            break;
        if (found.has_order)
            try_slots(s, at, slot);
        s->out->n_open++;
        s->out->n_proved += found.end == SLOT_PROVED;
        s->out->n_limited += found.end == SLOT_LIMITED;
        s->out->n_large += found.end == SLOT_LARGE;
        arena_reset(&arena);
    }
    arena_free(&arena);
    return status;
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
    uint64_t *slot;
    uint32_t *first = arena_alloc_unset(scratch, graph->n_uop + (size_t)1, sizeof *first);
    struct open_segment *segment = arena_alloc_unset(scratch, graph->n_uop, sizeof *segment);
    s.priority = arena_alloc_unset(scratch, graph->n_uop, sizeof *s.priority);
    s.changed = arena_alloc_unset(scratch, graph->n_uop, sizeof *s.changed);
    s.start = arena_alloc_unset(scratch, graph->n_uop, sizeof *s.start);
    s.core = arena_alloc_unset(scratch, graph->n_uop, sizeof *s.core);
    s.turn = arena_alloc_unset(scratch, graph->n_uop, sizeof *s.turn);
    s.by_turn = arena_alloc_unset(scratch, graph->n_uop, sizeof *s.by_turn);
    slot = arena_alloc_unset(scratch, graph->n_uop, sizeof *slot);
    s.list = list_scheduler_new(graph, settings->n_core, scratch);
    DSE_TRY(arena_check(scratch, "an order of uops", err));
    const uint32_t n = uop_segments(graph, scratch, first);
    out->cycle = out->bound_cycle = out->n_list = 0;
    out->n_open = out->n_proved = out->n_limited = out->n_large = 0;
    for (uint32_t i = 0; i < n; i++) {
        segment[i] = (struct open_segment){.first = first[i], .end = first[i + 1]};
        segment[i].bound = uop_segment_bound(graph, first[i], first[i + 1], settings->n_core, scratch);
        start_segment(&s, &segment[i]);
    }
    DSE_TRY(arena_check(scratch, "an order of uops", err));
    if (settings->rule >= ORDER_ILP)
        DSE_TRY(solve_programs(&s, segment, n, slot, err));
    if (settings->rule >= ORDER_PERTURB)
        perturb(&s, segment, n);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t u = segment[i].first; u < segment[i].end; u++)
            out->start[u] += out->cycle;
        out->cycle += segment[i].cycle;
        out->bound_cycle += segment[i].bound;
    }
    return DSE_OK;
}
