/* Lists the tiles of each layer: by the grid, or by numbers of parts. */
#include "engines/klotski/tile_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engines/klotski/partition.h"

struct maker {
    const struct kc_machine *machine;
    const struct tile_rules *rules;
    const struct kc_tile *whole;
    bool of_rows;      /* partition_is_of_rows */
    struct tile *tile; /* (n) grown; of all layers so far */
    size_t n, capacity;
    size_t first; /* where the layer's begin */
};

static uint32_t ceil_div(uint32_t n, uint32_t by)
{
    return n / by + (n % by != 0);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Cycles of all tiles. */
static uint64_t work_of(const struct kc_machine *machine, const struct kc_tile *whole, struct uop_cut cut)
{
    struct uop_shape shape[UOP_SHAPE_MAX];
    const uint32_t n = uop_cut_shapes(whole, cut, shape);
    uint64_t work = 0;
    for (uint32_t i = 0; i < n; i++)
        work += shape[i].n * kc_cycle(machine, &shape[i].tile);
    return work;
}

/* Adds the tile if it fits and makes few enough uops. */
static enum dse_status add(struct maker *m, struct uop_cut cut, struct dse_error *err)
{
    const struct uop_need need = uop_cut_need(m->whole, cut);
    const uint64_t tiles = uop_cut_count(m->whole, cut), parts = ceil_div(m->whole->c, cut.ic);
    const uint64_t n = tiles + (m->rules->sums == UOP_SUMS_REDUCE && parts > 1 ? tiles / parts : 0);
    const struct kc_tile tile = uop_cut_tile(m->whole, cut);
    struct dse_error too_large;
    if (tiles > UOP_MAX || n * m->rules->batch > m->rules->max_uops ||
        !uop_need_fits(&need, m->rules->sram, m->machine) ||
        kc_tile_check(m->machine, &tile, &too_large) != DSE_OK)
        return DSE_OK;
    struct tile *grown = array_grow(m->tile, m->n + 1, &m->capacity, sizeof *m->tile);
    if (!grown)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the tiles of layers");
    m->tile = grown;
    m->tile[m->n++] = (struct tile){cut, kc_cycle(m->machine, &tile), 0, (uint32_t)n};
    return DSE_OK;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare(const void *a, const void *b)
{
    const struct tile *x = a, *y = b;
    int order = compare_numbers(x->cycle, y->cycle);
    order = order ? order : compare_numbers(x->n_uop, y->n_uop);
    order = order ? order : compare_numbers(x->work, y->work);
    order = order ? order : compare_numbers(x->cut.h, y->cut.h); /* rows apart let layers overlap */
    order = order ? order : compare_numbers(x->cut.w, y->cut.w);
    order = order ? order : compare_numbers(x->cut.ic, y->cut.ic);
    return order ? order : compare_numbers(x->cut.oc, y->cut.oc);
}

static void price_and_sort(struct maker *m)
{
    for (size_t i = m->first; i < m->n; i++)
        m->tile[i].work = work_of(m->machine, m->whole, m->tile[i].cut);
    if (m->n > m->first)
        qsort(m->tile + m->first, m->n - m->first, sizeof *m->tile, compare);
}

static enum dse_status list_grid(struct maker *m, struct dse_error *err)
{
    for (uint32_t finer = 0; finer <= PARTITION_FINER_MAX && m->n == m->first; finer++)
        for (uint32_t i = 0; i < PARTITION_GRID_N; i++) {
            struct uop_cut cut = partition_grid_cut(m->machine, i);
            if (!m->of_rows || partition_cut_of_rows(&cut))
                DSE_TRY(add(m, uop_cut_clip(m->whole, partition_cut_finer(m->machine, cut, finer)), err));
        }
    price_and_sort(m);
    size_t n = m->first;
    for (size_t i = m->first; i < m->n; i++)
        if (n == m->first || m->tile[i].cycle != m->tile[n - 1].cycle)
            m->tile[n++] = m->tile[i];
    m->n = n;
    return DSE_OK;
}

/* The next size below `size` that makes more parts of `whole`; 0: there is none. Multiples of `unit`. */
static uint32_t smaller(uint32_t whole, uint32_t size, uint32_t unit)
{
    const uint32_t all = ceil_div(whole, unit), at = ceil_div(size, unit);
    if (at <= 1)
        return 0;
    const uint32_t parts = ceil_div(all, at - 1); /* of the largest size below */
    const uint32_t next = ceil_div(all, parts);
    return next * unit < whole ? next * unit : whole;
}

/* The same of output channels: fewer groups, then parts of one. */
static uint32_t smaller_oc(const struct kc_tile *whole, uint32_t oc, uint32_t unit)
{
    return oc > whole->k ? smaller(whole->g, oc / whole->k, 1) * whole->k : smaller(whole->k, oc, unit);
}

static void keep_front(struct maker *m)
{
    size_t n = m->first;
    for (size_t i = m->first; i < m->n; i++) {
        bool is_worse = false;
        for (size_t k = m->first; k < n && !is_worse; k++) /* whose latency is no longer */
            is_worse = m->tile[k].n_uop <= m->tile[i].n_uop && m->tile[k].work <= m->tile[i].work;
        if (!is_worse)
            m->tile[n++] = m->tile[i];
    }
    m->n = n;
}

/* For a mapper, which takes as many channels as there are lanes for no better than others. Several become
 * the same, of which keep_front leaves one. */
static struct uop_cut with_even_channels(const struct kc_tile *whole, struct uop_cut cut)
{
    cut.ic = tile_even_size(whole->c, cut.ic);
    if (cut.oc <= whole->k)
        cut.oc = tile_even_size(whole->k, cut.oc);
    return cut;
}

static enum dse_status list_parts(struct maker *m, struct dse_error *err)
{
    const struct kc_tile *whole = m->whole;
    struct uop_cut cut;
    for (cut.h = whole->p; cut.h; cut.h = smaller(whole->p, cut.h, 1))
        for (cut.w = whole->q; cut.w; cut.w = smaller(whole->q, cut.w, 1))
            for (cut.ic = whole->c; cut.ic; cut.ic = smaller(whole->c, cut.ic, m->machine->c_lane))
                for (cut.oc = cut.ic == whole->c ? whole->k * whole->g : whole->k; cut.oc;
                     cut.oc = smaller_oc(whole, cut.oc, m->machine->k_lane))
                    DSE_TRY(add(m, m->machine->n_mac ? with_even_channels(whole, cut) : cut, err));
    price_and_sort(m);
    keep_front(m);
    return DSE_OK;
}

static enum dse_status make(const struct uop_network *network, struct maker *m, struct arena *arena,
                            enum dse_status (*list)(struct maker *, struct dse_error *),
                            struct tile_lists *out, struct dse_error *err)
{
    const uint32_t n_layer = network->n_layer;
    uint32_t *first = arena_alloc(arena, n_layer, sizeof *first);
    uint32_t *n = arena_alloc(arena, n_layer, sizeof *n);
    uint32_t *same = arena_alloc(arena, n_layer, sizeof *same);
    DSE_TRY(arena_check(arena, "the tiles of layers", err));
    for (uint32_t l = 0; l < n_layer; l++) {
        m->whole = &network->layer[l].whole;
        m->first = m->n;
        for (same[l] = 0; memcmp(&network->layer[same[l]].whole, m->whole, sizeof *m->whole) != 0;)
            same[l]++;
        if (same[l] == l)
            DSE_TRY(list(m, err));
        first[l] = same[l] == l ? (uint32_t)m->first : first[same[l]];
        n[l] = same[l] == l ? (uint32_t)(m->n - m->first) : n[same[l]];
    }
    struct tile *tile = arena_alloc_unset(arena, m->n + 1, sizeof *tile);
    DSE_TRY(arena_check(arena, "the tiles of layers", err));
    if (m->n)
        memcpy(tile, m->tile, m->n * sizeof *tile);
    *out = (struct tile_lists){n_layer, first, n, same, tile};
    return DSE_OK;
}

enum dse_status tile_lists_of_grid(const struct uop_network *network, const struct kc_machine *machine,
                                   const struct tile_rules *rules, struct arena *arena,
                                   struct tile_lists *out, struct dse_error *err)
{
    struct maker m = {.machine = machine, .rules = rules, .of_rows = partition_is_of_rows(network)};
    const enum dse_status status = make(network, &m, arena, list_grid, out, err);
    free(m.tile);
    return status;
}

enum dse_status tile_lists_of_parts(const struct uop_network *network, const struct kc_machine *machine,
                                    const struct tile_rules *rules, struct arena *arena,
                                    struct tile_lists *out, struct dse_error *err)
{
    struct maker m = {.machine = machine, .rules = rules};
    const enum dse_status status = make(network, &m, arena, list_parts, out, err);
    free(m.tile);
    return status;
}

/* The largest number of output channels (or of whole groups of them) of tiles of that height, width and input
 * channels that fits; 0: none does. What a tile needs grows evenly with it. */
static uint32_t most_that_fits(const struct kc_tile *whole, const struct kc_machine *machine,
                               enum uop_sram sram, struct uop_cut cut, uint32_t unit, uint32_t most)
{
    uint32_t low = 0, high = ceil_div(most, unit); /* in units: fits, and the most that may */
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        cut.oc = least(middle * unit, most);
        const struct uop_need need = uop_cut_need(whole, cut);
        if (uop_need_fits(&need, sram, machine))
            low = middle;
        else
            high = middle - 1;
    }
    return least(low * unit, most);
}

uint64_t tile_fewest(const struct kc_tile *whole, const struct kc_machine *machine, enum uop_sram sram,
                     struct uop_cut *best)
{
    uint64_t fewest = UINT64_MAX;
    struct uop_cut cut;
    for (cut.h = whole->p; cut.h; cut.h = smaller(whole->p, cut.h, 1))
        for (cut.w = whole->q; cut.w; cut.w = smaller(whole->q, cut.w, 1))
            for (cut.ic = whole->c; cut.ic; cut.ic = smaller(whole->c, cut.ic, machine->c_lane)) {
                cut.oc = cut.ic == whole->c ? whole->k * kc_groups(whole) : whole->k;
                if (uop_cut_count(whole, cut) >= fewest)
                    break; /* smaller ones make more */
                if (cut.ic == whole->c && whole->g > 1)
                    cut.oc = most_that_fits(whole, machine, sram, cut, whole->k, whole->k * whole->g);
                if (cut.ic < whole->c || whole->g <= 1 || cut.oc == 0)
                    cut.oc = most_that_fits(whole, machine, sram, cut, machine->k_lane, whole->k);
                if (cut.oc && uop_cut_count(whole, cut) < fewest) {
                    fewest = uop_cut_count(whole, cut);
                    *best = cut;
                }
            }
    return fewest == UINT64_MAX ? 0 : fewest;
}

uint32_t tile_even_size(uint32_t whole, uint32_t size)
{
    for (uint32_t even = size; even < 2 * (uint64_t)size && even <= whole; even++)
        if (whole % even == 0)
            return even;
    return size;
}

uint32_t tile_size_of_parts(uint32_t whole, uint32_t unit, uint32_t parts)
{
    const uint32_t units = ceil_div(whole, unit);
    const uint64_t size = (uint64_t)ceil_div(units, parts < 1 ? 1 : parts) * unit;
    return size < whole ? (uint32_t)size : whole;
}

uint32_t tile_oc_of_parts(const struct kc_tile *whole, uint32_t unit, uint32_t parts)
{
    return parts < whole->g ? ceil_div(whole->g, parts < 1 ? 1 : parts) * whole->k
                            : tile_size_of_parts(whole->k, unit, ceil_div(parts, whole->g));
}

uint32_t tile_nearest(const struct tile_lists *lists, uint32_t l, double log_cycle)
{
    const struct tile *tile = &lists->tile[lists->first[l]];
    uint32_t low = 0, high = lists->n[l] - 1; /* the first that is no shorter than the target, or the last */
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (log((double)tile[middle].cycle) < log_cycle)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && log_cycle - log((double)tile[low - 1].cycle) <= log((double)tile[low].cycle) - log_cycle)
        low--;
    while (low > 0 && tile[low - 1].cycle == tile[low].cycle) /* the first of equal ones */
        low--;
    return low;
}
