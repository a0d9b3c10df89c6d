/* List scheduling with two heaps: uops that are ready, cores that are busy. */
#include "engines/klotski/order/list_schedule.h"

#include "costmodel/uop/uop_schedule.h"

/* Later than any schedule ends. */
#define LATEST (UINT64_MAX / 2)

/* What heaps are ordered by: the least key first, then the least item. */
struct heap_entry {
    uint64_t key;
    uint32_t item;
};

struct heap {
    struct heap_entry *entry;
    uint32_t n;
};

struct list_scheduler {
    const struct uop_graph *graph;
    uint32_t n_core;
    uint32_t *missing; /* (n_uop) producers that are not done */
    struct heap ready; /* uops by the complement of their priority */
    struct heap busy;  /* cores by when they are free */
    uint32_t *running; /* (n_core) the uop on it */
    struct heap idle;  /* cores by number */
};

static inline int before(const struct heap_entry *a, const struct heap_entry *b)
{
    return a->key < b->key || (a->key == b->key && a->item < b->item);
}

static void heap_push(struct heap *heap, uint64_t key, uint32_t item)
{
    const struct heap_entry entry = {key, item};
    uint32_t i = heap->n++;
    for (; i > 0 && before(&entry, &heap->entry[(i - 1) / 2]); i = (i - 1) / 2)
        heap->entry[i] = heap->entry[(i - 1) / 2];
    heap->entry[i] = entry;
}

static struct heap_entry heap_pop(struct heap *heap)
{
    const struct heap_entry top = heap->entry[0], last = heap->entry[--heap->n];
    uint32_t i = 0;
    for (uint32_t child = 1; child < heap->n; child = 2 * i + 1) {
        child += child + 1 < heap->n && before(&heap->entry[child + 1], &heap->entry[child]);
        if (!before(&heap->entry[child], &last))
            break;
        heap->entry[i] = heap->entry[child];
        i = child;
    }
    heap->entry[i] = last;
    return top;
}

struct list_scheduler *list_scheduler_new(const struct uop_graph *graph, uint32_t n_core, struct arena *arena)
{
    struct list_scheduler *s = arena_alloc(arena, 1, sizeof *s);
    uint32_t *missing = arena_alloc_unset(arena, graph->n_uop, sizeof *missing);
    uint32_t *running = arena_alloc_unset(arena, n_core, sizeof *running);
    struct heap_entry *ready = arena_alloc_unset(arena, graph->n_uop, sizeof *ready);
    struct heap_entry *busy = arena_alloc_unset(arena, n_core, sizeof *busy);
    struct heap_entry *idle = arena_alloc_unset(arena, n_core, sizeof *idle);
    if (!s || !missing || !running || !ready || !busy || !idle)
        return NULL;
    *s = (struct list_scheduler){.graph = graph,
                                 .n_core = n_core,
                                 .missing = missing,
                                 .running = running,
                                 .ready = {ready, 0},
                                 .busy = {busy, 0},
                                 .idle = {idle, 0}};
    return s;
}

static void begin(struct list_scheduler *s, uint32_t first, uint32_t end, const uint64_t *priority)
{
    const struct uop_graph *graph = s->graph;
    s->ready.n = s->busy.n = s->idle.n = 0;
    for (uint32_t c = 0; c < s->n_core; c++)
        heap_push(&s->idle, 0, c);
    for (uint32_t u = first; u < end; u++) {
        s->missing[u] = 0;
        for (uint32_t k = graph->first_producer[u + 1]; k-- > graph->first_producer[u];) {
            if (graph->producer[k] < first) /* they ascend */
                break;
            s->missing[u]++;
        }
        if (s->missing[u] == 0)
            heap_push(&s->ready, ~priority[u], u);
    }
}

/* The core that is free first is; what waited for its uop may be ready now. */
static uint64_t end_next(struct list_scheduler *s, uint32_t end, const uint64_t *priority)
{
    const struct uop_graph *graph = s->graph;
    const struct heap_entry ended = heap_pop(&s->busy);
    const uint32_t u = s->running[ended.item];
    for (uint32_t k = graph->first_consumer[u]; k < graph->first_consumer[u + 1]; k++) {
        const uint32_t v = graph->consumer[k];
        if (v >= end)
            break;
        if (--s->missing[v] == 0)
            heap_push(&s->ready, ~priority[v], v);
    }
    heap_push(&s->idle, 0, ended.item);
    return ended.key;
}

uint64_t list_schedule(struct list_scheduler *s, uint32_t first, uint32_t end, const uint64_t *priority,
                       uint64_t limit, uint64_t *start, uint32_t *core)
{
    uint64_t now = 0, last = 0;
    begin(s, first, end, priority);
    while (s->ready.n || s->busy.n) {
        while (s->ready.n && s->idle.n) {
            const uint32_t u = heap_pop(&s->ready).item, c = heap_pop(&s->idle).item;
            const uint64_t finish = now + s->graph->uop[u].cycle;
            start[u] = now;
            core[u] = c;
            s->running[c] = u;
            if (finish >= limit)
                return UINT64_MAX;
            last = finish > last ? finish : last;
            heap_push(&s->busy, finish, c);
        }
        now = end_next(s, end, priority);
        while (s->busy.n && s->busy.entry[0].key == now)
            (void)end_next(s, end, priority);
    }
    return last;
}

uint64_t list_in_turn(struct list_scheduler *s, uint32_t first, uint32_t end, const uint32_t *order,
                      uint64_t limit, uint64_t *start, uint32_t *core)
{
    const struct uop_graph *graph = s->graph;
    uint64_t last = 0;
    s->busy.n = 0;
    for (uint32_t c = 0; c < s->n_core; c++)
        heap_push(&s->busy, 0, c);
    for (uint32_t i = 0; i < end - first; i++) {
        const uint32_t u = order[i];
        const struct heap_entry free = heap_pop(&s->busy);
        start[u] = free.key;
        core[u] = free.item;
        for (uint32_t k = graph->first_producer[u + 1]; k-- > graph->first_producer[u];) {
            const uint32_t p = graph->producer[k];
            if (p < first)
                break;
            const uint64_t made = start[p] + graph->uop[p].cycle;
            start[u] = made > start[u] ? made : start[u];
        }
        const uint64_t finish = start[u] + graph->uop[u].cycle;
        if (finish >= limit)
            return UINT64_MAX;
        last = finish > last ? finish : last;
        heap_push(&s->busy, finish, free.item);
    }
    return last;
}

void list_b_level(const struct uop_graph *graph, uint32_t first, uint32_t end, uint64_t *priority)
{
    uop_alap(graph, first, end, LATEST, priority + first);
    for (uint32_t u = first; u < end; u++)
        priority[u] = LATEST - priority[u];
}

void list_fifo(uint32_t first, uint32_t end, uint64_t *priority)
{
    for (uint32_t u = first; u < end; u++)
        priority[u] = end - u;
}
