/* Before a uop can start all are done that it waits for, directly or not. Any of these have their work, over
 * the cores, between the least of their heads and the least path from one of them to the uop. Taken are those
 * that come first in the order of numbers, and those that come last; tails are heads of the graph turned
 * round. */
#include "costmodel/uop/uop_heads.h"

#include <string.h>

/* Edges that are walked over in a segment, about; of a larger one only every so many uops are looked at, and
 * the others have what paths make of that. */
enum { STEP_MAX = 50000000 };

/* The segment, as it is or turned round. */
struct side {
    const struct uop_graph *graph;
    uint32_t first, n, n_core;
    bool turned;
    uint64_t *head;  /* (n) by uop */
    uint64_t *apart; /* (n) the longest path from a uop's end to the start of the one looked at */
    bool *is_before; /* (n) it waits for that */
};

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t cycle_of(const struct side *s, uint32_t u)
{
    return s->graph->uop[s->first + u].cycle;
}

/* Uop number `i` of the order; u counts from the segment's first. */
static uint32_t at(const struct side *s, uint32_t i)
{
    return s->turned ? s->n - 1 - i : i;
}

/* The uops of the segment that u waits for, counted from the graph's first; returns how many. */
static uint32_t before(const struct side *s, uint32_t u, const uint32_t **list)
{
    const struct uop_graph *graph = s->graph;
    const uint32_t *first = s->turned ? graph->first_consumer : graph->first_producer;
    const uint32_t *other = s->turned ? graph->consumer : graph->producer;
    uint32_t begin = first[s->first + u], end = first[s->first + u + 1];
    while (begin < end && other[begin] < s->first)
        begin++;
    while (begin < end && other[end - 1] >= s->first + s->n)
        end--;
    *list = other + begin;
    return end - begin;
}

/* What a group of uops needs of time before the one looked at. */
struct group {
    uint64_t work, head, apart;
};

static uint64_t add(const struct side *s, struct group *group, uint32_t u)
{
    group->work += cycle_of(s, u);
    group->head = least(group->head, s->head[u]);
    group->apart = least(group->apart, s->apart[u]);
    return group->head + (group->work + s->n_core - 1) / s->n_core + group->apart;
}

/* Uop number `i` by all before it. */
static void raise(struct side *s, uint32_t i)
{
    const uint32_t u = at(s, i);
    struct group last = {0, UINT64_MAX, UINT64_MAX}, first = last;
    uint64_t head = s->head[u];
    for (uint32_t k = 0; k <= i; k++) {
        s->apart[at(s, k)] = 0;
        s->is_before[at(s, k)] = k == i;
    }
    for (uint32_t k = i + 1; k-- > 0;) {
        const uint32_t x = at(s, k), *list;
        if (!s->is_before[x])
            continue;
        if (x != u)
            head = most(head, add(s, &last, x));
        const uint64_t behind = s->apart[x] + (x == u ? 0 : cycle_of(s, x));
        for (uint32_t n = before(s, x, &list); n-- > 0;) {
            const uint32_t p = list[n] - s->first;
            s->is_before[p] = true;
            s->apart[p] = most(s->apart[p], behind);
        }
    }
    for (uint32_t k = 0; k < i; k++)
        if (s->is_before[at(s, k)])
            head = most(head, add(s, &first, at(s, k)));
    s->head[u] = head;
}

static void raise_all(struct side *s, uint32_t stride)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t u = at(s, i), *list;
        for (uint32_t n = before(s, u, &list); n-- > 0;) {
            const uint32_t p = list[n] - s->first;
            s->head[u] = most(s->head[u], s->head[p] + cycle_of(s, p));
        }
        if (i % stride == 0)
            raise(s, i);
    }
}

void uop_heads_raise(const struct uop_graph *graph, uint32_t first, uint32_t end, uint32_t n_core,
                     struct arena *scratch, uint64_t *head, uint64_t *tail)
{
    const uint64_t n = end - first, n_edge = graph->first_producer[end] - graph->first_producer[first];
    const uint32_t stride = (uint32_t)(1 + n * (n + n_edge) / STEP_MAX);
    struct side s = {.graph = graph, .first = first, .n = end - first, .n_core = n_core, .head = head};
    s.apart = arena_alloc_unset(scratch, s.n, sizeof *s.apart);
    s.is_before = arena_alloc_unset(scratch, s.n, sizeof *s.is_before);
    if (!s.apart || !s.is_before)
        return;
    raise_all(&s, stride);
    s.turned = true;
    s.head = tail;
    raise_all(&s, stride);
}
