/* What no schedule of uops can be below. With head(u) the time that must pass before u and tail(u) that
 * behind it, all uops with head at least a and tail at least b run between a and b before the end: their work
 * over the cores, and the uops that one core must run at least, fit between the two (E. Fernandez and
 * B. Bussell, "Bounds on the number of processors and time for multiprocessor optimal schedules", IEEE ToC
 * 1973, for the work). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/uop/uop_heads.h"
#include "costmodel/uop/uop_schedule.h"

/* Heads that are tried with latencies that pack, and these; fewer where a segment is large, for all of it
 * takes so many steps at most, and as many again with all heads for work alone. Any choice is a bound. */
enum { THRESHOLD_MAX = 256, STEP_MAX = 50000000 };

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint32_t within(double value, uint32_t low, uint32_t high)
{
    return value < low ? low : value > high ? high : (uint32_t)value;
}

static uint64_t ceil_div(uint64_t n, uint64_t by)
{
    return n / by + (n % by != 0);
}

/* The last producer of a uop, counted from 1; 0: none. */
static uint32_t last_producer(const struct uop_graph *graph, uint32_t u)
{
    const uint32_t end = graph->first_producer[u + 1];
    return end > graph->first_producer[u] ? graph->producer[end - 1] + 1 : 0;
}

/* Of uop u, whose producers all come before `k`: does it wait for each of the `n_open` of them that nobody
 * before `k` waits for? Then for all before `k`. */
static bool waits_for_all(const struct uop_graph *graph, uint32_t u, uint32_t k, uint32_t n_open)
{
    uint32_t n = 0;
    for (uint32_t i = graph->first_producer[u]; i < graph->first_producer[u + 1]; i++) {
        const uint32_t p = graph->producer[i];
        n += graph->first_consumer[p + 1] == graph->first_consumer[p] ||
             graph->consumer[graph->first_consumer[p]] >= k;
    }
    return n == n_open;
}

static bool is_barrier(const struct uop_graph *graph, const uint32_t *last, uint32_t k, uint32_t n_open)
{
    for (uint32_t u = k; u < graph->n_uop; u++)
        if (last[u] <= k && !waits_for_all(graph, u, k, n_open))
            return false;
    return true;
}

uint32_t uop_segments(const struct uop_graph *graph, struct arena *scratch, uint32_t *first)
{
    uint32_t *last = arena_alloc_unset(scratch, graph->n_uop, sizeof *last);
    bool *open = arena_alloc(scratch, graph->n_uop, sizeof *open);
    uint32_t n = 0, n_open = 0;
    if (!last || !open)
        return 0;
    for (uint32_t u = 0; u < graph->n_uop; u++)
        last[u] = last_producer(graph, u);
    first[n++] = 0;
    for (uint32_t k = 0; k < graph->n_uop; k++) {
        if (k > 0 && is_barrier(graph, last, k, n_open))
            first[n++] = k;
        open[k] = true;
        n_open++;
        for (uint32_t i = graph->first_producer[k]; i < graph->first_producer[k + 1]; i++) {
            n_open -= open[graph->producer[i]];
            open[graph->producer[i]] = false;
        }
    }
    first[n] = graph->n_uop;
    return n;
}

struct segment {
    const struct uop_graph *graph;
    uint32_t first, n, n_core;
    uint64_t *head, *tail; /* (n) */
    struct by_tail {
        uint64_t tail;
        uint32_t uop;                /* counted from first */
        uint32_t kind;               /* the first of `latency` that is no longer; n_latency: none */
    } * by_tail;                     /* (n) the largest tail first */
    uint64_t *threshold;             /* (n) scratch, sorted */
    uint64_t latency[THRESHOLD_MAX]; /* (n_latency) of uops, the longest first */
    uint32_t n_latency;
};

static int descending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* Longest paths inside the segment; the longest of all. */
static uint64_t paths(struct segment *s)
{
    const uint32_t end = s->first + s->n;
    const uint64_t longest = uop_asap(s->graph, s->first, end, s->head);
    uop_alap(s->graph, s->first, end, longest, s->tail);
    for (uint32_t i = 0; i < s->n; i++)
        s->tail[i] = longest - s->tail[i] - s->graph->uop[s->first + i].cycle;
    return longest;
}

/* Different values of n sorted ones, at most `limit` of them, evenly; to the front. */
static uint32_t thin(uint64_t *value, uint32_t n, uint32_t limit)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || value[i] != value[kept - 1])
            value[kept++] = value[i];
    if (kept <= limit)
        return kept;
    for (uint32_t i = 0; i < limit; i++)
        value[i] = value[(uint64_t)i * kept / limit];
    return limit;
}

/* The `n` shortest of so many uops of each kind up to `kind` (n_latency): at least their cycles. */
static uint64_t shortest(const struct segment *s, const uint32_t *n_of, uint32_t kind, uint64_t n)
{
    uint64_t sum = 0;
    for (uint32_t k = kind + 1; n > 0 && k-- > 0;) {
        const uint64_t some = n < n_of[k] ? n : n_of[k];
        sum += some * s->latency[k];
        n -= some;
    }
    return sum;
}

/* Uops with a head of `a` at least, and of kinds up to `kind`, by their tails. Of n m + 1 uops on m cores one
 * core runs n + 1; of more uops these are no longer, and the tail is not. */
static uint64_t bound_from(const struct segment *s, uint64_t a, uint32_t kind)
{
    uint32_t n_of[THRESHOLD_MAX] = {0};
    uint64_t work = 0, n = 0, bound = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct by_tail *at = &s->by_tail[i];
        if (s->head[at->uop] < a || at->kind > kind)
            continue;
        work += s->graph->uop[s->first + at->uop].cycle;
        uint64_t core = ceil_div(work, s->n_core);
        if (kind < s->n_latency) {
            n_of[at->kind]++;
            if (n++ % s->n_core == 0)
                core = most(core, shortest(s, n_of, kind, ceil_div(n, s->n_core)));
        }
        bound = most(bound, a + core + at->tail);
    }
    return bound;
}

static int compare_tail(const void *a, const void *b)
{
    const struct by_tail *x = a, *y = b;
    return x->tail != y->tail ? (x->tail < y->tail) - (x->tail > y->tail)
                              : (x->uop > y->uop) - (x->uop < y->uop);
}

static void list_kinds(struct segment *s, uint32_t limit)
{
    for (uint32_t i = 0; i < s->n; i++)
        s->threshold[i] = s->graph->uop[s->first + i].cycle;
    qsort(s->threshold, s->n, sizeof *s->threshold, descending);
    s->n_latency = thin(s->threshold, s->n, limit);
    memcpy(s->latency, s->threshold, s->n_latency * sizeof *s->latency);
    for (uint32_t i = 0; i < s->n; i++) {
        const uint64_t cycle = s->graph->uop[s->first + i].cycle;
        uint32_t low = 0, high = s->n_latency;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (s->latency[middle] > cycle)
                low = middle + 1;
            else
                high = middle;
        }
        s->by_tail[i] = (struct by_tail){s->tail[i], i, low};
    }
    qsort(s->by_tail, s->n, sizeof *s->by_tail, compare_tail);
}

static uint64_t bound_of(struct segment *s, struct arena *scratch)
{
    const uint32_t limit = within(sqrt((double)STEP_MAX / s->n), 1, THRESHOLD_MAX);
    uint64_t bound = paths(s);
    uop_heads_raise(s->graph, s->first, s->first + s->n, s->n_core, scratch, s->head, s->tail);
    list_kinds(s, limit);
    for (uint32_t i = 0; i < s->n; i++) {
        bound = most(bound, s->head[i] + s->graph->uop[s->first + i].cycle + s->tail[i]);
        s->threshold[i] = s->head[i];
    }
    qsort(s->threshold, s->n, sizeof *s->threshold, descending);
    const uint32_t n_all = thin(s->threshold, s->n, within((double)STEP_MAX / s->n, 1, s->n));
    for (uint32_t h = 0; h < n_all; h++)
        bound = most(bound, bound_from(s, s->threshold[h], s->n_latency));
    const uint32_t n_head = thin(s->threshold, n_all, limit);
    for (uint32_t h = 0; h < n_head; h++)
        for (uint32_t kind = 0; kind < s->n_latency; kind++)
            bound = most(bound, bound_from(s, s->threshold[h], kind));
    return bound;
}

uint64_t uop_segment_bound(const struct uop_graph *graph, uint32_t first, uint32_t end, uint32_t n_core,
                           struct arena *scratch)
{
    struct segment s = {.graph = graph, .first = first, .n = end - first, .n_core = n_core};
    s.head = arena_alloc_unset(scratch, s.n, sizeof *s.head);
    s.tail = arena_alloc_unset(scratch, s.n, sizeof *s.tail);
    s.by_tail = arena_alloc_unset(scratch, s.n, sizeof *s.by_tail);
    s.threshold = arena_alloc_unset(scratch, s.n, sizeof *s.threshold);
    return s.threshold && s.by_tail && s.tail && s.head ? bound_of(&s, scratch) : UINT64_MAX;
}

uint64_t uop_bound(const struct uop_graph *graph, uint32_t n_core, struct arena *scratch)
{
    uint32_t *first = arena_alloc_unset(scratch, graph->n_uop + (size_t)1, sizeof *first);
    const uint32_t n = first ? uop_segments(graph, scratch, first) : 0;
    uint64_t sum = n ? 0 : UINT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t bound = uop_segment_bound(graph, first[i], first[i + 1], n_core, scratch);
        if (bound == UINT64_MAX)
            return UINT64_MAX;
        sum += bound;
    }
    return sum;
}

/* Cycles of a layer cut into `ic` input channels, without those before the first pixel of each tile. A fold
 * of some input channels takes as long for a pixel wherever pixels are cut; output channels make the fewest
 * folds where they are cut at the lanes, or not at all. */
static uint64_t layer_work(const struct kc_machine *machine, const struct kc_tile *whole, uint32_t ic)
{
    const uint32_t size[2] = {ic, whole->c % ic}, n[2] = {whole->c / ic, whole->c % ic != 0};
    uint64_t work = 0;
    for (int i = 0; i < 2; i++) {
        if (n[i] == 0)
            continue;
        struct kc_tile one = *whole;
        one.c = size[i];
        work += n[i] * kc_pixel_cycle(machine, &one);
    }
    return work * whole->p * whole->q;
}

/* The least of that over all cuts. Slices may have other sizes in each tile: any parts are as many as there
 * are lanes for at least, and what they deliver takes as long as all of it in one go. */
static uint64_t least_layer_work(const struct kc_machine *machine, const struct kc_tile *whole)
{
    uint64_t least = UINT64_MAX;
    if (machine->slices) {
        const uint64_t window = (uint64_t)whole->r * whole->s;
        const uint64_t inner = ceil_div(whole->c, machine->c_lane) * window +
                               byte_rate_cycle(2 * window * whole->c, machine->delivery);
        return kc_groups(whole) * ceil_div(whole->k, machine->k_lane) * inner * whole->p * whole->q;
    }
    for (uint32_t ic = 1; ic <= whole->c; ic++) {
        const uint64_t so = layer_work(machine, whole, ic);
        least = so < least ? so : least;
    }
    return least;
}

uint64_t uop_partition_bound(const struct uop_network *network, const struct kc_machine *machine,
                             uint32_t batch)
{
    uint64_t work = 0;
    for (uint32_t l = 0; l < network->n_layer; l++) {
        const struct kc_tile *whole = &network->layer[l].whole;
        /* whatever prices tiles: no MAC unit does two at once */
        work += machine->n_mac ? ceil_div(kc_macs(whole), machine->n_mac) : least_layer_work(machine, whole);
    }
    for (uint32_t l = network->n_layer; l < network->n_all; l++) {
        const struct uop_layer *of = &network->layer[l];
        work += ceil_div((uint64_t)of->whole.p * of->whole.q * of->whole.k * of->n_operation,
                         kc_mac_count(machine));
    }
    return ceil_div(work * batch, (uint64_t)machine->columns * machine->rows);
}
