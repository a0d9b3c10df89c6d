/* Which tensors may not overlap, lower bounds on the room they need, and the rules that are tried in turn
 * until one reaches the bound: first fits by several keys, then the searches of buffer_pack.c. */
#include "engines/soma/machine/buffer_allocate.h"

#include <stdlib.h>
#include <string.h>

#include "engines/soma/machine/buffer_pack.h"

/* More pairs of tensors that meet: only the order by start, which needs no list of them. */
enum { PAIR_MAX = 1 << 24 };

static const uint64_t byte_max = UINT64_C(1) << 62;

static bool is_load(const struct fused_tensor *tensor)
{
    return tensor->kind == FUSED_IFMAP || tensor->kind == FUSED_WEIGHT;
}

/* `next` begins to be loaded before `last`, which ends where it starts, is moved. */
static bool hazard(const struct fused_tensor *last, uint32_t place_last, const struct fused_tensor *next,
                   uint32_t place_next)
{
    return last->end == next->start && is_load(next) && place_last != UINT32_MAX && place_next < place_last;
}

bool buffer_conflict(const struct fused_tensor *a, uint32_t place_a, const struct fused_tensor *b,
                     uint32_t place_b)
{
    return (a->start < b->end && b->start < a->end) || hazard(a, place_a, b, place_b) ||
           hazard(b, place_b, a, place_a);
}

static bool conflict(const struct packing *a, uint32_t i, uint32_t j)
{
    const struct fused_tensor *tensor = a->schedule->tensor;
    return a->room[i] && a->room[j] && buffer_conflict(&tensor[i], a->place[i], &tensor[j], a->place[j]);
}

/* ---- what is there to allocate ---- */

/* What every allocation needs, also one that is not tried. */
static void make_room(struct packing *a, struct arena *arena)
{
    size_t n = (size_t)a->n + 1;
    a->place = arena_alloc_unset(arena, n, sizeof *a->place);
    a->room = arena_alloc_unset(arena, n, sizeof *a->room);
    a->best = arena_alloc(arena, n, sizeof *a->best);
}

static void make_room_to_pack(struct packing *a, struct arena *arena)
{
    size_t n = (size_t)a->n + 1;
    uint32_t **index[] = {&a->by_start, &a->first, &a->order, &a->best_order, &a->spare, &a->n_ejected};
    for (size_t i = 0; i < sizeof index / sizeof index[0]; i++)
        *index[i] = arena_alloc(arena, n, sizeof(uint32_t));
    a->offset = arena_alloc(arena, n, sizeof *a->offset);
    a->placed = arena_alloc(arena, n, sizeof *a->placed);
    a->span = arena_alloc(arena, n, sizeof *a->span);
    a->area = arena_alloc(arena, n, sizeof *a->area);
}

static enum dse_status round_up(struct packing *a, uint64_t alignment, struct dse_error *err)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        uint64_t byte = a->schedule->tensor[i].byte;
        if (byte > byte_max || alignment > byte_max)
            return dse_fail(err, DSE_LIMIT, "buffer allocation: tensor %u has more than 2^62 bytes", i);
        uint64_t part = byte % alignment;
        a->room[i] = part ? byte + (alignment - part) : byte;
        if (a->room[i] > byte_max - sum)
            return dse_fail(err, DSE_LIMIT, "buffer allocation: tensors of more than 2^62 bytes in all");
        sum += a->room[i];
    }
    return DSE_OK;
}

/* The most that lives at a position; and the most in use at one time, which is more where a load begins
 * before the store whose room its position would free: seen in DRAM order, at the border before position q
 * lives what lives on both sides, what ends there and is not yet moved, and what starts there and is. */
static enum dse_status measure(struct packing *a, struct buffer_allocation *out, struct arena *arena,
                               struct dse_error *err)
{
    const struct fused_schedule *s = a->schedule;
    size_t n = (size_t)s->n_tile + 3; /* positions -1 .. n_tile + 1 */
    uint64_t *living = arena_alloc(arena, n, sizeof *living);
    uint64_t *border = arena_alloc(arena, n, sizeof *border);
    uint32_t *pending = arena_alloc(arena, n, sizeof *pending);
    DSE_TRY(arena_check(arena, "the bytes of positions", err));
    for (uint32_t i = 0; i < a->n; i++) {
        const struct fused_tensor *t = &s->tensor[i];
        living[t->start + 1] += a->room[i];
        living[t->end + 1] -= a->room[i];
        border[t->end + 1] -= a->place[i] == UINT32_MAX ? a->room[i] : 0;
        pending[t->end + 1] += a->place[i] != UINT32_MAX;
    }
    for (size_t q = 0; q + 1 < n; q++) {
        border[q] += q > 0 ? living[q - 1] : 0;
        living[q] += q > 0 ? living[q - 1] : 0;
        if (living[q] > out->living_byte)
            out->living_byte = living[q];
    }
    out->need_byte = out->living_byte;
    for (uint32_t k = 0; k < s->n_dram; k++) {
        uint32_t i = s->dram_order[k];
        const struct fused_tensor *t = &s->tensor[i];
        if (is_load(t)) {
            border[t->start + 1] += a->room[i];
            out->n_hazard += pending[t->start + 1];
            if (pending[t->start + 1] && border[t->start + 1] > out->need_byte)
                out->need_byte = border[t->start + 1];
        }
        border[t->end + 1] -= a->room[i];
        pending[t->end + 1]--;
    }
    return DSE_OK;
}

/* The pairs of tensors that live at one position together. */
static enum dse_status count_pairs(const struct packing *a, struct arena *arena, uint64_t *n,
                                   struct dse_error *err)
{
    const struct fused_schedule *s = a->schedule;
    size_t n_position = (size_t)s->n_tile + 3; /* positions -1 .. n_tile + 1 */
    uint64_t *born = arena_alloc(arena, n_position, sizeof *born);
    uint64_t *died = arena_alloc(arena, n_position, sizeof *died);
    DSE_TRY(arena_check(arena, "the tensors of positions", err));
    for (uint32_t i = 0; i < a->n; i++) {
        if (s->tensor[i].start >= s->tensor[i].end)
            continue;
        born[s->tensor[i].start + 1]++;
        died[s->tensor[i].end + 1]++;
    }
    *n = 0;
    for (uint64_t q = 0, living = 0; q < n_position; living += born[q++]) {
        living -= died[q];
        *n += born[q] * living + born[q] * (born[q] - (born[q] > 0)) / 2;
    }
    return DSE_OK;
}

/* ---- orders ---- */

enum key { KEY_START, KEY_SIZE, KEY_AREA, KEY_DURATION, KEY_END, N_KEY };

struct sorted {
    double key, room;
    uint32_t id;
};

static int by_key(const void *left, const void *right)
{
    const struct sorted *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->room != b->room)
        return a->room > b->room ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Ties go to the larger one, then to the lower number. `list` (n): working memory. */
static void sort_by(const struct packing *a, enum key key, struct sorted *list, uint32_t *order)
{
    for (uint32_t i = 0; i < a->n; i++) {
        const struct fused_tensor *t = &a->schedule->tensor[i];
        double room = (double)a->room[i], duration = (double)t->end - t->start;
        const double value[N_KEY] = {t->start, -room, -room * duration, -duration, -(double)t->end};
        list[i] = (struct sorted){value[key], room, i};
    }
    qsort(list, a->n, sizeof *list, by_key);
    for (uint32_t i = 0; i < a->n; i++)
        order[i] = list[i].id;
}

/* Visit all tensors by start together with those before them that they may not overlap; those over are
 * dropped from `active`. */
static uint32_t drop_ended(const struct packing *a, uint32_t *active, uint32_t n_active, int32_t start)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < n_active; k++)
        if (a->schedule->tensor[active[k]].end >= start)
            active[kept++] = active[k];
    return kept;
}

/* The lists of neighbours: counted in a first pass, filled in a second. */
static enum dse_status list_neighbours(struct packing *a, struct arena *arena, struct dse_error *err)
{
    uint64_t n_pair = 0;
    uint32_t *fill = a->spare;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t n_active = 0;
        for (uint32_t k = 0; k < a->n; k++) {
            uint32_t i = a->by_start[k];
            n_active = drop_ended(a, a->order, n_active, a->schedule->tensor[i].start);
            for (uint32_t m = 0; m < n_active; m++) {
                uint32_t j = a->order[m];
                if (!conflict(a, i, j))
                    continue;
                if (pass) {
                    a->neighbour[fill[i]++] = j;
                    a->neighbour[fill[j]++] = i;
                } else {
                    a->first[i + 1]++;
                    a->first[j + 1]++;
                    n_pair++;
                }
            }
            a->order[n_active++] = i;
            if (n_pair > PAIR_MAX)
                return DSE_OK;
        }
        if (pass)
            break;
        for (uint32_t i = 0; i < a->n; i++)
            a->first[i + 1] += a->first[i];
        memcpy(fill, a->first, a->n * sizeof *fill);
        a->neighbour = arena_alloc(arena, 2 * n_pair + 1, sizeof *a->neighbour);
        DSE_TRY(arena_check(arena, "tensors that live together", err));
    }
    return DSE_OK;
}

/* ---- all of it ---- */

static void add_span(const struct packing *a, uint32_t j, uint32_t *n)
{
    a->span[(*n)++] = (struct span){a->offset[j], a->offset[j] + a->room[j]};
}

/* By start, without lists of neighbours. */
static uint64_t place_by_start(struct packing *a, enum packing_rule rule)
{
    uint64_t peak = 0;
    uint32_t n_active = 0, *active = a->spare;
    for (uint32_t k = 0; k < a->n; k++) {
        uint32_t i = a->by_start[k], n = 0;
        n_active = drop_ended(a, active, n_active, a->schedule->tensor[i].start);
        for (uint32_t m = 0; m < n_active; m++)
            if (conflict(a, i, active[m]))
                add_span(a, active[m], &n);
        a->offset[i] = a->room[i] ? packing_gap(a->span, n, a->room[i], rule) : 0;
        if (a->room[i] && a->offset[i] + a->room[i] > peak)
            peak = a->offset[i] + a->room[i];
        active[n_active++] = i;
    }
    return peak;
}

static enum dse_status solve(struct packing *a, uint64_t effort, uint64_t buffer_byte, struct arena *arena,
                             struct dse_error *err)
{
    uint64_t *kept = arena_alloc(arena, (size_t)a->n + 1, sizeof *kept);
    struct sorted *list = arena_alloc(arena, (size_t)a->n + 1, sizeof *list);
    a->best_peak = UINT64_MAX;
    make_room_to_pack(a, arena);
    DSE_TRY(arena_check(arena, "the allocation of tensors", err));
    for (uint32_t i = 0; i < a->n; i++)
        a->area[i] = (double)a->room[i] * ((double)a->schedule->tensor[i].end - a->schedule->tensor[i].start);
    sort_by(a, KEY_START, list, a->by_start);
    DSE_TRY(list_neighbours(a, arena, err));
    memcpy(a->order, a->by_start, a->n * sizeof *a->order); /* list_neighbours used it */
    for (int rule = FIRST_FIT; rule <= BEST_FIT && a->best_peak > a->need; rule++)
        packing_keep(a, place_by_start(a, (enum packing_rule)rule));
    if (!a->neighbour)
        return DSE_OK;
    for (int key = KEY_SIZE; key < N_KEY; key++)
        for (int rule = FIRST_FIT; rule <= BEST_FIT && a->best_peak > a->need; rule++) {
            sort_by(a, (enum key)key, list, a->order);
            packing_keep(a, packing_place(a, 0, (enum packing_rule)rule, UINT64_MAX));
        }
    if (a->best_peak > a->need && a->n > 1 && effort > 0) {
        packing_search_orders(a, a->work + effort / 2, kept);
        packing_search_ceilings(a, a->work + effort / 2, buffer_byte);
    }
    return DSE_OK;
}

static void sum_up(const struct packing *a, uint64_t buffer_byte, struct buffer_allocation *out)
{
    uint64_t furthest = 0;
    out->offset = a->best;
    out->peak_byte = a->best_peak;
    out->fits = out->peak_byte <= buffer_byte;
    out->fragmentation = out->living_byte > 0
                             ? ((double)out->peak_byte - (double)out->living_byte) / (double)out->living_byte
                             : 0;
    for (uint32_t i = 0; i < a->n; i++) {
        uint64_t end = a->best[i] + a->room[i];
        if (a->room[i] == 0 || end <= buffer_byte)
            continue;
        out->n_outside++;
        if (end > furthest) {
            furthest = end;
            out->outside = i;
        }
    }
}

enum dse_status buffer_allocate(const struct fused_schedule *schedule,
                                const struct buffer_allocate_options *options, struct arena *arena,
                                struct buffer_allocation *allocation, struct dse_error *err)
{
    struct packing a = {.schedule = schedule, .n = schedule->n_tensor, .unit = options->alignment};
    uint64_t n_pair;
    *allocation = (struct buffer_allocation){0};
    if (options->alignment == 0)
        return dse_fail(err, DSE_BAD_USAGE, "buffer allocation: an alignment of 0; at least 1 is needed");
    make_room(&a, arena);
    DSE_TRY(arena_check(arena, "the allocation of tensors", err));
    DSE_TRY(round_up(&a, options->alignment, err));
    memset(a.place, 0xff, a.n * sizeof *a.place);
    for (uint32_t k = 0; k < schedule->n_dram; k++)
        a.place[schedule->dram_order[k]] = k;
    DSE_TRY(measure(&a, allocation, arena, err));
    a.need = allocation->need_byte;
    DSE_TRY(count_pairs(&a, arena, &n_pair, err));
    if (options->effort > 0 && n_pair > options->effort) {
        allocation->peak_byte = UINT64_MAX;
        allocation->offset = a.best;
        return DSE_OK;
    }
    DSE_TRY(solve(&a, options->effort, options->buffer_byte, arena, err));
    sum_up(&a, options->buffer_byte, allocation);
    return DSE_OK;
}
