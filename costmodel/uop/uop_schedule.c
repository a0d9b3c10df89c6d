/* The times of a schedule on an ideal network, and an independent look at times. */
#include "costmodel/uop/uop_schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What a uop still waits for: its producers, and the one before it on its core. */
struct ideal {
    const struct uop_graph *graph;
    uint32_t *missing; /* (n_uop) */
    uint32_t *behind;  /* (n_uop) the next one on its core; UINT32_MAX: none */
    uint32_t *before;  /* (n_uop) the one before it */
    uint32_t *ready;   /* (n_uop) a stack */
    uint32_t n_ready, n_done;
};

static enum dse_status ideal_init(const struct uop_graph *graph, const struct uop_schedule *schedule,
                                  struct arena *scratch, struct ideal *run, struct dse_error *err)
{
    *run = (struct ideal){.graph = graph};
    run->missing = arena_alloc_unset(scratch, graph->n_uop, sizeof *run->missing);
    run->behind = arena_alloc_unset(scratch, graph->n_uop, sizeof *run->behind);
    run->before = arena_alloc_unset(scratch, graph->n_uop, sizeof *run->before);
    run->ready = arena_alloc_unset(scratch, graph->n_uop, sizeof *run->ready);
    DSE_TRY(arena_check(scratch, "the times of a schedule", err));
    for (uint32_t u = 0; u < graph->n_uop; u++)
        run->missing[u] = graph->first_producer[u + 1] - graph->first_producer[u];
    for (uint32_t c = 0; c < schedule->n_core; c++)
        for (uint32_t i = schedule->first[c]; i < schedule->first[c + 1]; i++) {
            const uint32_t u = schedule->order[i];
            run->before[u] = i > schedule->first[c] ? schedule->order[i - 1] : UINT32_MAX;
            run->behind[u] = i + 1 < schedule->first[c + 1] ? schedule->order[i + 1] : UINT32_MAX;
            run->missing[u] += i > schedule->first[c];
        }
    for (uint32_t u = 0; u < graph->n_uop; u++)
        if (run->missing[u] == 0)
            run->ready[run->n_ready++] = u;
    return DSE_OK;
}

static void ideal_done(struct ideal *run, uint32_t u)
{
    if (--run->missing[u] == 0)
        run->ready[run->n_ready++] = u;
}

/* One of those that a uop that never becomes ready waits for. */
static uint32_t waits_for(const struct ideal *run, uint32_t u)
{
    const struct uop_graph *graph = run->graph;
    if (run->before[u] != UINT32_MAX && run->missing[run->before[u]] > 0)
        return run->before[u];
    for (uint32_t k = graph->first_producer[u]; k < graph->first_producer[u + 1]; k++)
        if (run->missing[graph->producer[k]] > 0)
            return graph->producer[k];
    return u;
}

/* From any uop that waits, back through those that it waits for, one comes twice: there is the circle. */
static enum dse_status fail_circle(struct ideal *run, struct dse_error *err)
{
    char text[400];
    int at = 0;
    uint32_t u = 0, start;
    while (run->missing[u] == 0)
        u++;
    for (uint32_t i = 0; i < run->graph->n_uop; i++)
        u = waits_for(run, u);
    start = u;
    do {
        at += uop_name_print(run->graph, u, text + at, sizeof text - (size_t)at);
        at = at < (int)sizeof text - 80
                 ? at + snprintf(text + at, sizeof text - (size_t)at, ", which waits for ")
                 : at + snprintf(text + at, sizeof text - (size_t)at, ", ... and back to ");
        u = waits_for(run, u);
    } while (u != start && at < (int)sizeof text - 80);
    (void)uop_name_print(run->graph, start, text + at, sizeof text - (size_t)at);
    return dse_fail(err, DSE_BAD_INPUT, "the order goes in a circle: %s", text);
}

enum dse_status uop_run_ideal(const struct uop_graph *graph, const struct uop_schedule *schedule,
                              struct arena *scratch, struct uop_times *out, struct dse_error *err)
{
    struct ideal run;
    DSE_TRY(ideal_init(graph, schedule, scratch, &run, err));
    out->cycle = 0;
    out->dram = (struct uop_dram_use){0};
    memset(out->start, 0, graph->n_uop * sizeof *out->start);
    while (run.n_ready) {
        const uint32_t u = run.ready[--run.n_ready];
        out->finish[u] = out->start[u] + graph->uop[u].cycle;
        out->cycle = later(out->cycle, out->finish[u]);
        run.n_done++;
        for (uint32_t k = graph->first_consumer[u]; k < graph->first_consumer[u + 1]; k++) {
            const uint32_t v = graph->consumer[k];
            out->start[v] = later(out->start[v], out->finish[u]);
            ideal_done(&run, v);
        }
        if (run.behind[u] != UINT32_MAX) {
            out->start[run.behind[u]] = later(out->start[run.behind[u]], out->finish[u]);
            ideal_done(&run, run.behind[u]);
        }
    }
    return run.n_done == graph->n_uop ? DSE_OK : fail_circle(&run, err);
}

static bool says(char *reason, size_t size, const struct uop_graph *graph, uint32_t u, const char *what)
{
    int at = uop_name_print(graph, u, reason, size);
    if (at > 0 && (size_t)at < size)
        (void)snprintf(reason + at, size - (size_t)at, " %s", what);
    return false;
}

struct placed {
    uint64_t start;
    uint32_t uop;
};

static int by_start(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                                : (x->uop > y->uop) - (x->uop < y->uop);
}

enum dse_status uop_by_start(const uint64_t *start, uint32_t n_uop, struct arena *arena, uint32_t **order,
                             struct dse_error *err)
{
    struct placed *placed = arena_alloc_unset(arena, n_uop, sizeof *placed);
    *order = arena_alloc_unset(arena, n_uop, sizeof **order);
    DSE_TRY(arena_check(arena, "an order of uops", err));
    for (uint32_t u = 0; u < n_uop; u++)
        placed[u] = (struct placed){start[u], u};
    qsort(placed, n_uop, sizeof *placed, by_start);
    for (uint32_t i = 0; i < n_uop; i++)
        (*order)[i] = placed[i].uop;
    return DSE_OK;
}

/* Core c: is none of its uops earlier than the one before it ends? In its list's order, or in that of the
 * starts. */
static bool check_core(const struct uop_graph *graph, const struct uop_schedule *schedule, uint32_t c,
                       const struct uop_times *times, bool *seen, struct placed *placed, char *reason,
                       size_t size)
{
    const uint32_t first = schedule->first[c], n = schedule->first[c + 1] - first;
    uint64_t free_at = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t u = schedule->order[first + i];
        if (u >= graph->n_uop || seen[u])
            return u < graph->n_uop ? says(reason, size, graph, u, "is scheduled twice")
                                    : (snprintf(reason, size, "there is no uop %u", u), false);
        seen[u] = true;
        placed[i] = (struct placed){times->start[u], u};
    }
    if (schedule->firing == UOP_DYNAMIC)
        qsort(placed, n, sizeof *placed, by_start);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t u = placed[i].uop;
        if (times->start[u] < free_at)
            return says(reason, size, graph, u, "starts while its core is busy");
        if (times->finish[u] < times->start[u] || times->finish[u] - times->start[u] < graph->uop[u].cycle)
            return says(reason, size, graph, u, "ends too early");
        free_at = times->finish[u];
    }
    return true;
}

/* Does every uop start when none that started before it still runs? `placed` has room for all. */
static bool check_rounds(const struct uop_graph *graph, const struct uop_times *times, struct placed *placed,
                         char *reason, size_t size)
{
    uint64_t last = 0, begin = 0, end = 0; /* of the rounds before; of this one */
    for (uint32_t u = 0; u < graph->n_uop; u++)
        placed[u] = (struct placed){times->start[u], u};
    qsort(placed, graph->n_uop, sizeof *placed, by_start);
    for (uint32_t i = 0; i < graph->n_uop; i++) {
        if (placed[i].start != begin) {
            last = end;
            begin = placed[i].start;
        }
        if (begin < last)
            return says(reason, size, graph, placed[i].uop, "starts before the round before it has ended");
        end = later(end, times->finish[placed[i].uop]);
    }
    return true;
}

bool uop_times_check(const struct uop_graph *graph, const struct uop_schedule *schedule,
                     const struct uop_times *times, struct arena *scratch, char *reason, size_t size)
{
    bool *seen = arena_alloc(scratch, graph->n_uop, sizeof *seen);
    struct placed *placed = arena_alloc_unset(scratch, schedule->first[schedule->n_core], sizeof *placed);
    uint64_t last = times->dram.cycle;
    if (!seen || !placed) {
        (void)snprintf(reason, size, "out of memory for the check of a schedule");
        return false;
    }
    for (uint32_t c = 0; c < schedule->n_core; c++)
        if (!check_core(graph, schedule, c, times, seen, placed, reason, size))
            return false;
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        if (!seen[u])
            return says(reason, size, graph, u, "is not scheduled");
        last = later(last, times->finish[u]);
        for (uint32_t k = graph->first_producer[u]; k < graph->first_producer[u + 1]; k++)
            if (times->start[u] < times->finish[graph->producer[k]])
                return says(reason, size, graph, u, "starts before what it needs is made");
    }
    if (schedule->firing == UOP_ROUNDS && !check_rounds(graph, times, placed, reason, size))
        return false;
    if (last == times->cycle)
        return true;
    (void)snprintf(reason, size, "the last end is at %" PRIu64 ", not at %" PRIu64, last, times->cycle);
    return false;
}

uint64_t uop_asap(const struct uop_graph *graph, uint32_t first, uint32_t end, uint64_t *asap)
{
    uint64_t longest = 0;
    for (uint32_t u = first; u < end; u++) {
        uint64_t start = 0;
        for (uint32_t k = graph->first_producer[u]; k < graph->first_producer[u + 1]; k++) {
            const uint32_t p = graph->producer[k];
            if (p >= first)
                start = later(start, asap[p - first] + graph->uop[p].cycle);
        }
        asap[u - first] = start;
        longest = later(longest, start + graph->uop[u].cycle);
    }
    return longest;
}

void uop_alap(const struct uop_graph *graph, uint32_t first, uint32_t end, uint64_t horizon, uint64_t *alap)
{
    for (uint32_t u = end; u-- > first;) {
        uint64_t finish = horizon;
        for (uint32_t k = graph->first_consumer[u]; k < graph->first_consumer[u + 1]; k++) {
            const uint32_t c = graph->consumer[k];
            if (c < end && alap[c - first] < finish)
                finish = alap[c - first];
        }
        alap[u - first] = finish - graph->uop[u].cycle;
    }
}
