/* Events in a heap: a uop or the DRAM's service ends, a message arrives. In each cycle first all of these,
 * then the steps that they have made ready, by number, then the DRAM chooses. A uop in slices asks for the
 * DRAM and runs from when that serves it. */
#include "costmodel/uop/uop_steps.h"

#include <string.h>

#include "costmodel/uop/uop_stream.h"
#include "costmodel/uop/uop_way.h"

struct event {
    uint64_t cycle;
    uint32_t step;
    uint32_t
        to; /* which of its destinations has it, or UOP_NONE: it ends; of a RUN: the DRAM has done its part */
};

/* A heap of numbers, smallest first. */
struct numbers {
    uint32_t *at, n;
};

struct run {
    const struct uop_graph *graph;
    const struct kc_machine *machine;
    const struct uop_steps *steps;
    const struct uop_step_times *times;
    struct uop_way way;
    uint32_t *first_dependent, *dependent; /* (n_step + 1); of each step, by the core of the dependent */
    uint32_t *missing, *left;              /* (n_step) waits; destinations that lack it */
    uint32_t *told;                        /* (cores) step + 1 whose arrival there is told */
    uint64_t *there;                       /* (cores) */
    struct event *event;                   /* heap */
    uint32_t n_event;
    struct numbers ready, request;
    bool busy; /* the DRAM */
};

static void number_put(struct numbers *heap, uint32_t number)
{
    uint32_t i = heap->n++;
    for (; i > 0 && number < heap->at[(i - 1) / 2]; i = (i - 1) / 2)
        heap->at[i] = heap->at[(i - 1) / 2];
    heap->at[i] = number;
}

static uint32_t number_take(struct numbers *heap)
{
    const uint32_t first = heap->at[0], moved = heap->at[--heap->n];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < heap->n; i = child) {
        child += child + 1 < heap->n && heap->at[child + 1] < heap->at[child];
        if (moved <= heap->at[child])
            break;
        heap->at[i] = heap->at[child];
    }
    heap->at[i] = moved;
    return first;
}

static bool event_before(const struct event *a, const struct event *b)
{
    if (a->cycle != b->cycle)
        return a->cycle < b->cycle;
    return a->step != b->step ? a->step < b->step : a->to < b->to;
}

static void event_put(struct run *run, struct event e)
{
    uint32_t i = run->n_event++;
    for (; i > 0 && event_before(&e, &run->event[(i - 1) / 2]); i = (i - 1) / 2)
        run->event[i] = run->event[(i - 1) / 2];
    run->event[i] = e;
}

static struct event event_take(struct run *run)
{
    const struct event first = run->event[0], moved = run->event[--run->n_event];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < run->n_event; i = child) {
        child += child + 1 < run->n_event && event_before(&run->event[child + 1], &run->event[child]);
        if (!event_before(&run->event[child], &moved))
            break;
        run->event[i] = run->event[child];
    }
    run->event[i] = moved;
    return first;
}

/* ---- who waits for whom ---- */

/* Where a step hears of arrivals: its core, or nowhere. */
static uint32_t ear_of(const struct run *run, uint32_t step)
{
    const struct uop_step *s = &run->steps->step[step];
    return s->kind == UOP_RUN || s->kind == UOP_WRITE ? s->core : UOP_NONE;
}

/* Steps by their ears, so that each list of dependents is; `first` (cores + 2). */
static void order_by_ear(const struct run *run, uint32_t n_core, uint32_t *first, uint32_t *order)
{
    const uint32_t n = run->steps->n_step;
    memset(first, 0, (n_core + (size_t)2) * sizeof *first);
    for (uint32_t i = 0; i < n; i++)
        first[(ear_of(run, i) == UOP_NONE ? n_core : ear_of(run, i)) + 1]++;
    for (uint32_t c = 0; c <= n_core; c++)
        first[c + 1] += first[c];
    for (uint32_t i = n; i-- > 0;)
        order[--first[(ear_of(run, i) == UOP_NONE ? n_core : ear_of(run, i)) + 1]] = i;
}

static enum dse_status find_dependents(struct run *run, uint32_t n_core, struct arena *scratch,
                                       struct dse_error *err)
{
    const struct uop_steps *steps = run->steps;
    const uint32_t n = steps->n_step, n_wait = steps->first_wait[n];
    uint32_t *first = arena_alloc_unset(scratch, n_core + (size_t)2, sizeof *first);
    uint32_t *order = arena_alloc_unset(scratch, n, sizeof *order);
    run->first_dependent = arena_alloc(scratch, n + (size_t)2, sizeof *run->first_dependent);
    run->dependent = arena_alloc_unset(scratch, n_wait + (size_t)1, sizeof *run->dependent);
    DSE_TRY(arena_check(scratch, "the times of a schedule", err));
    order_by_ear(run, n_core, first, order);
    /* first_dependent[s + 2] counts; then [s + 1] is where the next one goes */
    for (uint32_t k = 0; k < n_wait; k++)
        run->first_dependent[steps->wait[k] + 2]++;
    for (uint32_t i = 0; i <= n; i++)
        run->first_dependent[i + 1] += run->first_dependent[i];
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t step = order[i];
        for (uint32_t k = steps->first_wait[step]; k < steps->first_wait[step + 1]; k++)
            run->dependent[run->first_dependent[steps->wait[k] + 1]++] = step;
    }
    return DSE_OK;
}

static void release(struct run *run, uint32_t dependent)
{
    if (--run->missing[dependent] == 0)
        number_put(&run->ready, dependent);
}

/* A destination has it: those there that wait for that. */
static void tell_arrival(struct run *run, uint32_t step, uint32_t core)
{
    uint32_t low = run->first_dependent[step], high = run->first_dependent[step + 1];
    const uint32_t end = high;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (ear_of(run, run->dependent[middle]) < core)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < end && ear_of(run, run->dependent[low]) == core; low++)
        release(run, run->dependent[low]);
}

/* It is done: all others that wait for it. */
static void complete(struct run *run, uint32_t step, uint64_t cycle)
{
    const struct uop_step *s = &run->steps->step[step];
    run->times->finish[step] = cycle;
    for (uint32_t k = 0; k < s->n_to; k++)
        run->told[run->steps->to[s->first_to + k]] = step + 1;
    for (uint32_t k = run->first_dependent[step]; k < run->first_dependent[step + 1]; k++) {
        const uint32_t ear = ear_of(run, run->dependent[k]);
        if (ear == UOP_NONE || run->told[ear] != step + 1)
            release(run, run->dependent[k]);
    }
}

/* ---- what happens ---- */

static uint64_t byte_of(const struct run *run, const struct uop_step *s)
{
    return run->steps->word[s->item] * run->machine->word_byte;
}

/* Of a uop in slices; else NULL. */
static const struct uop_stream *stream_of(const struct run *run, const struct uop_step *s)
{
    return s->kind == UOP_RUN && run->steps->stream ? run->steps->stream[s->item] : NULL;
}

/* What the DRAM has read sets out along the rows. */
static void fetch(struct run *run, uint32_t step, uint64_t cycle)
{
    const struct uop_step *s = &run->steps->step[step];
    const uint32_t *to = run->steps->to + s->first_to, columns = run->machine->columns;
    for (uint32_t k = 0, end; k < s->n_to; k = end) {
        for (end = k; end < s->n_to && to[end] / columns == to[k] / columns;)
            end++;
        uop_way_fetch(&run->way, to + k, end - k, byte_of(run, s), cycle, run->there);
        for (uint32_t i = k; i < end; i++)
            event_put(run, (struct event){run->there[i - k], step, i});
    }
}

/* Its waits are over. */
static void set_out(struct run *run, uint32_t step, uint64_t cycle)
{
    const struct uop_step *s = &run->steps->step[step];
    run->times->start[step] = cycle;
    switch ((enum uop_step_kind)s->kind) {
    case UOP_RUN:
        if (stream_of(run, s))
            number_put(&run->request, step);
        else
            event_put(run, (struct event){cycle + run->graph->uop[s->item].cycle, step, UOP_NONE});
        break;
    case UOP_SEND:
        for (uint32_t k = 0; k < s->n_to; k++) {
            const uint32_t to = run->steps->to[s->first_to + k];
            const uint64_t there = uop_way_send(&run->way, s->core, to, byte_of(run, s), cycle);
            event_put(run, (struct event){there, step, k});
        }
        break;
    case UOP_READ:
        number_put(&run->request, step);
        break;
    case UOP_WRITE:
        event_put(run, (struct event){uop_way_store(&run->way, s->core, byte_of(run, s), cycle), step, 0});
        break;
    }
}

static void happen(struct run *run, const struct event *e)
{
    const struct uop_step *s = &run->steps->step[e->step];
    run->busy = run->busy && !((e->to == UOP_NONE) == (s->kind != UOP_RUN));
    if (e->to != UOP_NONE && s->kind == UOP_RUN)
        return;
    if (e->to == UOP_NONE && s->kind == UOP_READ)
        fetch(run, e->step, e->cycle);
    else if (e->to == UOP_NONE)
        complete(run, e->step, e->cycle);
    else if (s->kind == UOP_WRITE)
        number_put(&run->request, e->step);
    else {
        tell_arrival(run, e->step, run->steps->to[s->first_to + e->to]);
        if (--run->left[e->step] == 0)
            complete(run, e->step, e->cycle);
    }
}

static void serve(struct run *run, uint64_t cycle)
{
    if (run->busy || run->request.n == 0)
        return;
    const uint32_t step = number_take(&run->request);
    const struct uop_step *s = &run->steps->step[step];
    const struct uop_stream *stream = stream_of(run, s);
    run->busy = true;
    if (s->kind != UOP_WRITE)
        run->times->start[step] = cycle;
    if (stream) {
        uop_way_stream(&run->way, s->core, stream);
        event_put(run, (struct event){cycle + stream->busy_cycle, step, 0});
        event_put(run, (struct event){cycle + stream->cycle, step, UOP_NONE});
        return;
    }
    const uint64_t cycles = kc_dram_cycle(run->machine, run->steps->word[s->item], s->kind == UOP_WRITE);
    event_put(run, (struct event){cycle + cycles, step, UOP_NONE});
}

static enum dse_status run_init(struct run *run, struct arena *scratch, struct uop_link *link,
                                struct dse_error *err)
{
    const uint32_t n = run->steps->n_step, n_core = run->machine->columns * run->machine->rows;
    run->missing = arena_alloc_unset(scratch, n, sizeof *run->missing);
    run->left = arena_alloc_unset(scratch, n, sizeof *run->left);
    run->told = arena_alloc(scratch, n_core, sizeof *run->told);
    run->there = arena_alloc_unset(scratch, n_core, sizeof *run->there);
    run->ready.at = arena_alloc_unset(scratch, n, sizeof *run->ready.at);
    run->request.at = arena_alloc_unset(scratch, n, sizeof *run->request.at);
    uop_way_init(run->machine, scratch, link, &run->way);
    uint32_t n_to = n;
    for (uint32_t i = 0; i < n; i++)
        n_to += run->steps->step[i].n_to + (stream_of(run, &run->steps->step[i]) ? 1u : 0u);
    run->event = arena_alloc_unset(scratch, n_to, sizeof *run->event);
    DSE_TRY(arena_check(scratch, "the times of a schedule", err));
    DSE_TRY(find_dependents(run, n_core, scratch, err));
    for (uint32_t i = 0; i < n; i++) {
        run->left[i] = run->steps->step[i].n_to;
        run->missing[i] = run->steps->first_wait[i + 1] - run->steps->first_wait[i];
        if (run->missing[i] == 0)
            number_put(&run->ready, i);
    }
    return DSE_OK;
}

enum dse_status uop_steps_run(const struct uop_graph *graph, const struct kc_machine *machine,
                              const struct uop_steps *steps, struct arena *scratch,
                              const struct uop_step_times *out, struct uop_link *link, struct dse_error *err)
{
    struct run run = {.graph = graph, .machine = machine, .steps = steps, .times = out};
    DSE_TRY(run_init(&run, scratch, link, err));
    for (uint64_t cycle = 0;; cycle = run.event[0].cycle) {
        do {
            while (run.n_event && run.event[0].cycle == cycle) {
                const struct event e = event_take(&run);
                happen(&run, &e);
            }
            while (run.ready.n)
                set_out(&run, number_take(&run.ready), cycle);
            if (!(run.n_event && run.event[0].cycle == cycle))
                serve(&run, cycle);
        } while (run.n_event && run.event[0].cycle == cycle);
        if (run.n_event == 0)
            return DSE_OK;
    }
}
