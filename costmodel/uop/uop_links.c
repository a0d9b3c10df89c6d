/* Two kinds of events, in a heap: a uop ends, or has all it needs. When a message sets out, its links are
 * taken at once for the times to come, so when it arrives is known then, and nothing happens on its way.
 * */
#include "costmodel/uop/uop_links.h"

#include <string.h>

#include "costmodel/uop/uop_way.h"

enum { BYTE_BIT = 8 };

enum { ROUTER_CYCLES = 3 }; /* of a head in an idle router of the cycle-exact mesh */

struct event {
    uint64_t cycle;
    uint32_t uop;
    bool end; /* of the uop, else it has all it needs */
};

struct run {
    const struct uop_graph *graph;
    const struct kc_machine *machine;
    const struct uop_schedule *schedule;
    struct uop_messages messages;
    struct uop_times *times;
    struct uop_way way;
    uint64_t *ready;     /* (n_uop) when all that came so far had come */
    uint32_t *missing;   /* (n_uop) producers */
    struct event *event; /* heap by cycle, then uop */
    uint32_t n_event, n_done;
    uint64_t arrival;  /* the last so far */
    uint32_t *waiting; /* (n_uop) core c's at first[c]: heap of the places of uops that have all they need */
    uint32_t *n_waiting;          /* (n_core) */
    uint32_t *next;               /* (n_core) place of the next uop in a static order */
    bool *busy;                   /* (n_core) */
    bool trees;                   /* of uop_run_trees */
    uint64_t *out_free, *in_free; /* (n_core) with trees: when the core can send, and receive */
};

static enum dse_status run_init(struct run *run, struct arena *scratch, struct uop_link *link,
                                struct dse_error *err)
{
    const struct uop_graph *graph = run->graph;
    const uint32_t n_core = run->schedule->n_core, n_uop = graph->n_uop;
    uop_way_init(run->machine, scratch, link, &run->way);
    run->ready = arena_alloc(scratch, n_uop, sizeof *run->ready);
    run->missing = arena_alloc_unset(scratch, n_uop, sizeof *run->missing);
    run->event = arena_alloc_unset(scratch, n_uop + (size_t)n_core, sizeof *run->event);
    run->waiting = arena_alloc_unset(scratch, n_uop, sizeof *run->waiting);
    run->n_waiting = arena_alloc(scratch, n_core, sizeof *run->n_waiting);
    run->next = arena_alloc_unset(scratch, n_core, sizeof *run->next);
    run->busy = arena_alloc(scratch, n_core, sizeof *run->busy);
    run->out_free = arena_alloc(scratch, n_core, sizeof *run->out_free);
    run->in_free = arena_alloc(scratch, n_core, sizeof *run->in_free);
    DSE_TRY(arena_check(scratch, "the times of a schedule", err));
    memcpy(run->next, run->schedule->first, n_core * sizeof *run->next);
    for (uint32_t u = 0; u < n_uop; u++)
        run->missing[u] = graph->first_producer[u + 1] - graph->first_producer[u];
    return uop_messages_of(graph, run->schedule, scratch, &run->messages, err);
}

static bool event_before(const struct event *a, const struct event *b)
{
    return a->cycle != b->cycle ? a->cycle < b->cycle : a->uop < b->uop;
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
    const uint32_t n = run->n_event;
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && event_before(&run->event[child + 1], &run->event[child]);
        if (!event_before(&run->event[child], &moved))
            break;
        run->event[i] = run->event[child];
    }
    run->event[i] = moved;
    return first;
}

static void waiting_put(struct run *run, uint32_t c, uint32_t place)
{
    uint32_t *heap = run->waiting + run->schedule->first[c], i = run->n_waiting[c]++;
    for (; i > 0 && place < heap[(i - 1) / 2]; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = place;
}

static uint32_t waiting_take(struct run *run, uint32_t c)
{
    uint32_t *heap = run->waiting + run->schedule->first[c], i = 0;
    const uint32_t n = --run->n_waiting[c], first = heap[0], moved = heap[n];
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && heap[child + 1] < heap[child];
        if (moved <= heap[child])
            break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
    return first;
}

/* With trees: when the message of uop u begins, so that it waits nowhere on its way. */
static uint64_t tree_begin(struct run *run, uint32_t u, uint64_t cycle)
{
    const struct uop_messages *m = &run->messages;
    const uint32_t from = m->core[u], end = run->graph->first_consumer[u + 1];
    uint64_t begin = cycle > run->out_free[from] ? cycle : run->out_free[from];
    for (uint32_t k = run->graph->first_consumer[u]; k < end; k = uop_messages_next(m, k, end)) {
        const uint32_t to = m->core[m->consumer[k]];
        const uint32_t n = to == from ? 0 : uop_route(run->machine, from, to, true, run->way.route[0]);
        uint64_t free_at = n ? run->in_free[to] : 0, on_the_way = (uint64_t)n * ROUTER_CYCLES;
        begin = free_at > begin + on_the_way ? free_at - on_the_way : begin;
        for (uint32_t i = 0; i < n; i++) {
            free_at = run->way.free[run->way.route[0][i]];
            on_the_way = (uint64_t)i * ROUTER_CYCLES;
            begin = free_at > begin + on_the_way ? free_at - on_the_way : begin;
        }
    }
    return begin;
}

/* One branch of that, of so many flits; when it is there. */
static uint64_t send_branch(struct run *run, uint32_t from, uint32_t to, uint64_t begin, uint64_t flits)
{
    const uint32_t n = uop_route(run->machine, from, to, true, run->way.route[0]);
    for (uint32_t i = 0; i < n; i++)
        run->way.free[run->way.route[0][i]] = begin + (uint64_t)i * ROUTER_CYCLES + flits;
    run->out_free[from] = begin + flits;
    run->in_free[to] = begin + (uint64_t)n * ROUTER_CYCLES + flits;
    return run->in_free[to] + ROUTER_CYCLES;
}

static uint64_t flits_of(const struct run *run, uint32_t u)
{
    const uint64_t bit = uop_message_byte(run->graph, run->machine, u) * BYTE_BIT;
    const uint64_t packet_bit = (uint64_t)run->machine->noc.data_flits * run->machine->noc.flit_bit;
    return (bit + packet_bit - 1) / packet_bit * (run->machine->noc.data_flits + 1);
}

static void arrive(struct run *run, uint32_t v, uint64_t cycle)
{
    run->ready[v] = run->ready[v] > cycle ? run->ready[v] : cycle;
    if (--run->missing[v] == 0)
        event_put(run, (struct event){run->ready[v], v, false});
}

static void end_uop(struct run *run, uint32_t u, uint64_t cycle)
{
    const struct uop_messages *m = &run->messages;
    const uint32_t end = run->graph->first_consumer[u + 1], from = m->core[u];
    const uint64_t byte = uop_message_byte(run->graph, run->machine, u);
    run->busy[from] = false;
    run->n_done++;
    run->times->cycle = cycle; /* the last end is the last of these events */
    const uint64_t begin = run->trees ? tree_begin(run, u, cycle) : 0;
    for (uint32_t k = run->graph->first_consumer[u], next; k < end; k = next) {
        const uint32_t to = m->core[m->consumer[k]];
        const uint64_t there = to == from   ? cycle
                               : run->trees ? send_branch(run, from, to, begin, flits_of(run, u))
                                            : uop_way_send(&run->way, from, to, byte, cycle);
        run->arrival = run->arrival > there ? run->arrival : there;
        next = uop_messages_next(m, k, end);
        for (uint32_t i = k; i < next; i++)
            arrive(run, m->consumer[i], there);
    }
}

/* The core's next uop starts, if it may. */
static void fire(struct run *run, uint32_t c, uint64_t cycle)
{
    if (run->busy[c] || run->n_waiting[c] == 0 ||
        (run->schedule->firing != UOP_DYNAMIC && run->waiting[run->schedule->first[c]] != run->next[c]))
        return;
    const uint32_t u = run->schedule->order[waiting_take(run, c)];
    run->next[c]++;
    run->busy[c] = true;
    run->times->start[u] = cycle;
    run->times->finish[u] = cycle + run->graph->uop[u].cycle;
    event_put(run, (struct event){run->times->finish[u], u, true});
}

/* All that happens in a cycle, before cores choose. Returns which cores are touched: n of them in `touched`
 * (2 n_uop at most). */
static uint32_t step(struct run *run, uint64_t cycle, uint32_t *touched)
{
    uint32_t n = 0;
    while (run->n_event && run->event[0].cycle == cycle) {
        const struct event e = event_take(run);
        const uint32_t c = run->messages.core[e.uop];
        if (e.end)
            end_uop(run, e.uop, cycle);
        else
            waiting_put(run, c, run->messages.place[e.uop]);
        touched[n++] = c;
    }
    return n;
}

/* `run` has what it is made of. */
static enum dse_status run_all(struct run run, struct arena *scratch, struct uop_link *link,
                               struct dse_error *err)
{
    const struct uop_graph *graph = run.graph;
    const struct uop_schedule *schedule = run.schedule;
    struct uop_times *out = run.times;
    uint32_t *touched = arena_alloc_unset(scratch, 2 * (size_t)graph->n_uop, sizeof *touched);
    DSE_TRY(run_init(&run, scratch, link, err));
    out->cycle = 0;
    out->dram = (struct uop_dram_use){0};
    for (uint32_t u = 0; u < graph->n_uop; u++)
        if (run.missing[u] == 0)
            event_put(&run, (struct event){0, u, false});
    while (run.n_event) {
        const uint64_t cycle = run.event[0].cycle;
        const uint32_t n = step(&run, cycle, touched);
        for (uint32_t i = 0; schedule->firing != UOP_ROUNDS && i < n; i++)
            fire(&run, touched[i], cycle);
        /* A round begins when nothing runs and all messages are there, also such as make no uop ready. */
        const bool is_round = schedule->firing == UOP_ROUNDS && run.n_event == 0;
        for (uint32_t c = 0; is_round && c < schedule->n_core; c++)
            fire(&run, c, cycle > run.arrival ? cycle : run.arrival);
    }
    /* What no uop can go on from is a circle, and that names it. */
    return run.n_done == graph->n_uop ? DSE_OK : uop_run_ideal(graph, schedule, scratch, out, err);
}

enum dse_status uop_run_links(const struct uop_graph *graph, const struct kc_machine *machine,
                              const struct uop_schedule *schedule, struct arena *scratch,
                              struct uop_times *out, struct uop_link *link, struct dse_error *err)
{
    return run_all((struct run){.graph = graph, .machine = machine, .schedule = schedule, .times = out},
                   scratch, link, err);
}

enum dse_status uop_run_trees(const struct uop_graph *graph, const struct kc_machine *machine,
                              const struct uop_schedule *schedule, struct arena *scratch,
                              struct uop_times *out, struct dse_error *err)
{
    return run_all(
        (struct run){.graph = graph, .machine = machine, .schedule = schedule, .times = out, .trees = true},
        scratch, NULL, err);
}
