/* First fit into gaps, a search over orders, and a search below a ceiling that ejects what is in the way. */
#include "engines/soma/machine/buffer_pack.h"

#include <math.h>
#include <string.h>

#include "base/random.h"

static void sort_spans(struct span *span, uint32_t n)
{
    for (uint32_t gap = n / 2; gap > 0; gap = gap == 2 ? 1 : (uint32_t)((uint64_t)gap * 5 / 11))
        for (uint32_t i = gap; i < n; i++) {
            struct span moved = span[i];
            uint32_t j = i;
            for (; j >= gap && span[j - gap].from > moved.from; j -= gap)
                span[j] = span[j - gap];
            span[j] = moved;
        }
}

uint64_t packing_gap(struct span *span, uint32_t n, uint64_t room, enum packing_rule rule)
{
    uint64_t top = 0, found = UINT64_MAX, tightest = UINT64_MAX;
    sort_spans(span, n);
    for (uint32_t k = 0; k < n; k++) {
        if (span[k].from >= top && span[k].from - top >= room && span[k].from - top < tightest) {
            found = top;
            tightest = span[k].from - top;
            if (rule == FIRST_FIT)
                break;
        }
        top = span[k].to > top ? span[k].to : top;
    }
    return found == UINT64_MAX ? top : found;
}

static void add_span(const struct packing *a, uint32_t j, uint32_t *n)
{
    a->span[(*n)++] = (struct span){a->offset[j], a->offset[j] + a->room[j]};
}

uint64_t packing_place(struct packing *a, uint32_t from, enum packing_rule rule, uint64_t limit)
{
    uint64_t peak = 0;
    memset(a->placed, 0, a->n * sizeof *a->placed);
    for (uint32_t k = 0; k < a->n; k++) {
        uint32_t i = a->order[k], n = 0;
        if (k >= from) {
            for (uint32_t m = a->first[i]; m < a->first[i + 1]; m++)
                if (a->placed[a->neighbour[m]])
                    add_span(a, a->neighbour[m], &n);
            a->work += a->first[i + 1] - a->first[i] + 4 * n;
            a->offset[i] = a->room[i] ? packing_gap(a->span, n, a->room[i], rule) : 0;
        }
        a->placed[i] = true;
        if (a->room[i] && a->offset[i] + a->room[i] > peak)
            peak = a->offset[i] + a->room[i];
        if (peak > limit)
            return UINT64_MAX;
    }
    return peak;
}

void packing_keep(struct packing *a, uint64_t peak)
{
    if (peak >= a->best_peak)
        return;
    a->best_peak = peak;
    memcpy(a->best, a->offset, a->n * sizeof *a->best);
    memcpy(a->best_order, a->order, a->n * sizeof *a->best_order);
}

/* ---- over orders ---- */

/* One of the tensors that reach the peak, in order from a random place on; its place. */
static uint32_t pick_critical(const struct packing *a, const uint64_t *offset, uint64_t peak,
                              struct random_stream *random)
{
    uint32_t begin = random_below(random, a->n);
    for (uint32_t k = 0; k < a->n; k++) {
        uint32_t at = begin + k < a->n ? begin + k : begin + k - a->n, i = a->order[at];
        if (a->room[i] && offset[i] + a->room[i] == peak)
            return at;
    }
    return begin;
}

static void move_in_order(uint32_t *order, uint32_t from, uint32_t to)
{
    uint32_t moved = order[from];
    if (to < from)
        memmove(&order[to + 1], &order[to], (from - to) * sizeof *order);
    else
        memmove(&order[from], &order[from + 1], (to - from) * sizeof *order);
    order[to] = moved;
}

/* First fit in some order gives every allocation worth having, so orders are what is searched: a tensor at
 * the peak goes to an earlier place; what is not worse is taken. */
void packing_search_orders(struct packing *a, uint64_t until, uint64_t *kept)
{
    struct random_stream random = random_stream_make(0, a->n, RANDOM_MOVE);
    memcpy(a->order, a->best_order, a->n * sizeof *a->order);
    uint64_t peak = packing_place(a, 0, FIRST_FIT, UINT64_MAX);
    packing_keep(a, peak);
    memcpy(kept, a->offset, a->n * sizeof *kept);
    while (a->best_peak > a->need && a->work < until) {
        uint32_t from = pick_critical(a, kept, peak, &random);
        if (random_below(&random, 4) == 0)
            from = random_below(&random, a->n);
        uint32_t to = random_below(&random, from + 1);
        a->work += a->n;
        move_in_order(a->order, from, to);
        uint64_t found = packing_place(a, to, FIRST_FIT, peak);
        if (found <= peak) {
            peak = found;
            packing_keep(a, peak);
            memcpy(kept, a->offset, a->n * sizeof *kept);
        } else {
            move_in_order(a->order, to, from);
            memcpy(a->offset, kept, a->n * sizeof *kept);
        }
    }
}

/* ---- below a ceiling ---- */

/* What moving j out of the way costs: large and long ones are hard to place again, and the more so the more
 * often it was tried. */
static double eject_cost(const struct packing *a, uint32_t j)
{
    return a->area[j] * (1 + a->n_ejected[j]);
}

/* The offset for i below `ceiling` whose present owners are cheapest to move, of 0, the ends of neighbours,
 * and below them. */
static uint64_t cheapest_offset(struct packing *a, uint32_t i, uint64_t ceiling, double *cost)
{
    uint64_t found = 0, last = ceiling - a->room[i];
    uint32_t n = 0, *near = a->spare;
    *cost = INFINITY;
    for (uint32_t m = a->first[i]; m < a->first[i + 1]; m++)
        if (a->placed[a->neighbour[m]])
            near[n++] = a->neighbour[m];
    for (uint32_t c = 0; c < 2 * n + 2; c++) {
        uint64_t at = c == 0 ? 0 : last;
        if (c >= 2) {
            uint32_t j = near[(c - 2) / 2];
            at = c % 2 ? a->offset[j] + a->room[j] : a->offset[j] - a->room[i];
            if (at > last) /* also below 0, which wraps */
                continue;
        }
        double sum = 0;
        uint32_t k = 0;
        for (; k < n && sum < *cost; k++)
            if (a->offset[near[k]] < at + a->room[i] && at < a->offset[near[k]] + a->room[near[k]])
                sum += eject_cost(a, near[k]);
        a->work += k;
        if (sum < *cost || (sum == *cost && at < found)) {
            *cost = sum;
            found = at;
        }
        if (*cost <= 0)
            break;
    }
    a->work += a->first[i + 1] - a->first[i];
    return found;
}

/* Place i; whoever lies there goes to the end of the queue. */
static void place_and_eject(struct packing *a, uint32_t i, uint64_t at, uint32_t *queue, uint32_t *n_queue)
{
    a->offset[i] = at;
    for (uint32_t m = a->first[i]; m < a->first[i + 1]; m++) {
        uint32_t j = a->neighbour[m];
        if (!a->placed[j] || a->offset[j] >= at + a->room[i] || at >= a->offset[j] + a->room[j])
            continue;
        a->placed[j] = false;
        a->n_ejected[j]++;
        queue[(*n_queue)++] = j;
    }
    a->placed[i] = true;
}

/* How a search below a ceiling goes. */
struct manner {
    bool from_best; /* else from an empty buffer */
    /* so many of 8 of the waiting tensors are picked at random, the others are the hardest to place */
    uint32_t random_in;
};

/* Who is placed next; it leaves the queue. */
static uint32_t take_next(struct packing *a, const struct manner *manner, uint32_t *queue, uint32_t *n_queue,
                          struct random_stream *random)
{
    uint32_t pick = 0;
    if (random_below(random, 8) < manner->random_in) {
        pick = random_below(random, *n_queue);
    } else {
        for (uint32_t k = 1; k < *n_queue; k++)
            if (eject_cost(a, queue[k]) > eject_cost(a, queue[pick]))
                pick = k;
        a->work += *n_queue;
    }
    uint32_t i = queue[pick];
    queue[pick] = queue[--*n_queue];
    return i;
}

/* What reaches beyond the ceiling is placed below it, in place of others, which are placed again in turn.
 * True: all lie below. */
static bool pack_below(struct packing *a, uint64_t ceiling, uint64_t until, const struct manner *manner,
                       struct random_stream *random)
{
    uint32_t *queue = a->order, n_queue = 0;
    memcpy(a->offset, a->best, a->n * sizeof *a->offset);
    for (uint32_t i = 0; i < a->n; i++) {
        a->n_ejected[i] = 0;
        a->placed[i] = manner->from_best && a->room[i] > 0 && a->offset[i] + a->room[i] <= ceiling;
        if (a->room[i] > 0 && !a->placed[i])
            queue[n_queue++] = i;
    }
    while (n_queue > 0 && a->work < until) {
        double cost;
        uint32_t i = take_next(a, manner, queue, &n_queue, random);
        uint64_t at = cheapest_offset(a, i, ceiling, &cost);
        place_and_eject(a, i, at, queue, &n_queue);
    }
    return n_queue == 0;
}

static uint64_t peak_of(const struct packing *a)
{
    uint64_t peak = 0;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->room[i] && a->offset[i] + a->room[i] > peak)
            peak = a->offset[i] + a->room[i];
    return peak;
}

/* Lower ceilings as long as the effort lasts. */
void packing_search_ceilings(struct packing *a, uint64_t until, uint64_t buffer_byte)
{
    enum { N_MANNER = 4, N_SLICE = 16 };
    static const struct manner manner[N_MANNER] = {{true, 1}, {true, 8}, {false, 1}, {false, 4}};
    struct random_stream random = random_stream_make(1, a->n, RANDOM_MOVE);
    uint64_t slice = (until - a->work) / N_SLICE;
    for (uint32_t attempt = 0; a->best_peak > a->need && a->work < until;) {
        uint64_t ceiling = a->best_peak - (a->best_peak - a->need + 3) / 4;
        uint64_t stop = until - a->work > slice ? a->work + slice : until;
        if (a->best_peak > buffer_byte && buffer_byte >= a->need)
            ceiling = buffer_byte;
        ceiling -= ceiling % a->unit;
        if (pack_below(a, ceiling, stop, &manner[attempt % N_MANNER], &random))
            packing_keep(a, peak_of(a));
        else
            attempt++;
    }
}
