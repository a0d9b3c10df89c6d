/* The grid of shared tile sizes, and the one of target latencies. */
#include "engines/klotski/partition.h"

#include <math.h>
#include <string.h>

static const uint32_t pixels[] = {7, 14, 28, 56, 112};
/* in lanes: few full folds cover the powers of two that networks have */
static const uint32_t c_folds[] = {2, 4, 8, 11, 16, 22, 43, 86, 171};
static const uint32_t k_folds[] = {2, 4, 5, 8, 10, 16, 19, 37, 74, 147};

enum {
    N_PIXELS = sizeof pixels / sizeof pixels[0],
    N_C = sizeof c_folds / sizeof c_folds[0],
    N_K = sizeof k_folds / sizeof k_folds[0],
    N_ALL = N_PIXELS * N_PIXELS * N_C * N_K,
    N_TARGET = 256 /* of which neighbours differ by some 5 % */
};

_Static_assert((int)PARTITION_GRID_N == (int)N_ALL, "the grid is as large as its header says");

struct uop_cut partition_grid_cut(const struct kc_machine *machine, uint32_t i)
{
    if (machine->n_mac) /* no lanes of folds: channels that a mapper divides well */
        return (struct uop_cut){pixels[i / N_K / N_C / N_PIXELS], pixels[i / N_K / N_C % N_PIXELS],
                                machine->c_lane << i / N_K % N_C, machine->k_lane << i % N_K};
    return (struct uop_cut){pixels[i / N_K / N_C / N_PIXELS], pixels[i / N_K / N_C % N_PIXELS],
                            c_folds[i / N_K % N_C] * machine->c_lane, k_folds[i % N_K] * machine->k_lane};
}

bool partition_is_of_rows(const struct uop_network *network)
{
    uint32_t rows = 0, columns = 0;
    for (uint32_t l = 0; l < network->n_layer; l++) {
        const struct layer *layer = &network->network->layer[network->layer[l].of];
        rows = layer->p > rows ? layer->p : rows;
        columns = layer->q > columns ? layer->q : columns;
    }
    return columns == 1 && rows > pixels[N_PIXELS - 1];
}

bool partition_cut_of_rows(struct uop_cut *cut)
{
    if (cut->w > pixels[0] && cut->h < pixels[N_PIXELS - 1])
        return false;
    cut->h *= cut->w / pixels[0];
    cut->w = pixels[N_PIXELS - 1];
    return true;
}

struct uop_cut partition_cut_finer(const struct kc_machine *machine, struct uop_cut cut, uint32_t finer)
{
    const uint32_t c = cut.ic / machine->c_lane >> finer, k = cut.oc / machine->k_lane >> finer;
    return (struct uop_cut){cut.h >> finer ? cut.h >> finer : 1, cut.w >> finer ? cut.w >> finer : 1,
                            (c ? c : 1) * machine->c_lane, (k ? k : 1) * machine->k_lane};
}

/* Uops of a layer, with those that add up. */
static uint64_t count_layer(const struct kc_tile *whole, struct uop_cut cut, enum uop_sums sums)
{
    const uint64_t tiles = uop_cut_count(whole, cut), parts = (whole->c - 1) / cut.ic + 1;
    return tiles + (sums == UOP_SUMS_REDUCE && parts > 1 ? tiles / parts : 0);
}

/* Uops of the whole network, and whether each fits. */
static uint64_t count(const struct uop_network *network, const struct kc_machine *machine,
                      const struct tile_rules *rules, struct uop_cut cut, bool *fits)
{
    uint64_t n = 0;
    *fits = true;
    for (uint32_t l = 0; l < network->n_layer; l++) {
        const struct kc_tile *whole = &network->layer[l].whole;
        const struct uop_cut clipped = uop_cut_clip(whole, cut);
        const struct uop_need need = uop_cut_need(whole, clipped);
        *fits = *fits && uop_need_fits(&need, rules->sram, machine);
        if (uop_cut_count(whole, clipped) > UOP_MAX)
            return UINT64_MAX;
        n += tile_times(rules, l) * count_layer(whole, clipped, rules->sums);
    }
    return n;
}

static double share(uint32_t value, uint32_t least, uint32_t most)
{
    return log2((double)value / least) / log2((double)most / least);
}

static bool has_cut(const struct partition_grid *grid, struct uop_cut cut)
{
    uint32_t i = 0;
    while (i < grid->n && memcmp(&grid->cut[i], &cut, sizeof cut) != 0)
        i++;
    return i < grid->n;
}

/* Adds what fits of the grid, or of a finer one. */
static void fill_grid(const struct uop_network *network, const struct kc_machine *machine,
                      const struct tile_rules *rules, uint32_t finer, struct partition_grid *out)
{
    const bool of_rows = partition_is_of_rows(network);
    for (uint32_t i = 0; i < N_ALL; i++) {
        const uint32_t h = i / N_K / N_C / N_PIXELS, w = i / N_K / N_C % N_PIXELS, c = i / N_K % N_C,
                       k = i % N_K;
        struct uop_cut cut = partition_grid_cut(machine, i);
        bool fits;
        if (of_rows && !partition_cut_of_rows(&cut))
            continue;
        cut = partition_cut_finer(machine, cut, finer);
        const uint64_t n = count(network, machine, rules, cut, &fits);
        out->n_sram += fits;
        if (!fits || n == UINT64_MAX || n * rules->batch > rules->max_uops || (finer && has_cut(out, cut)))
            continue;
        double *at = &out->at[(size_t)out->n * PARTITION_DIM];
        at[0] = share(pixels[h], pixels[0], pixels[N_PIXELS - 1]);
        at[1] = share(pixels[w], pixels[0], pixels[N_PIXELS - 1]);
        at[2] = share(c_folds[c], c_folds[0], c_folds[N_C - 1]);
        at[3] = share(k_folds[k], k_folds[0], k_folds[N_K - 1]);
        out->cut[out->n++] = cut;
    }
}

enum dse_status partition_grid_of(const struct uop_network *network, const struct kc_machine *machine,
                                  const struct tile_rules *rules, struct arena *arena,
                                  struct partition_grid *out, struct dse_error *err)
{
    *out = (struct partition_grid){.dim = PARTITION_DIM, .n_cut = 1, .n_all = N_ALL};
    out->cut = arena_alloc(arena, N_ALL, sizeof *out->cut);
    out->at = arena_alloc(arena, N_ALL * PARTITION_DIM, sizeof *out->at);
    DSE_TRY(arena_check(arena, "a grid of tile sizes", err));
    for (uint32_t finer = 0; finer <= PARTITION_FINER_MAX && out->n_sram == 0; finer++)
        fill_grid(network, machine, rules, finer, out);
    return DSE_OK;
}

uint64_t partition_target(const struct tile_lists *lists, double log_cycle, const struct tile_rules *rules,
                          struct uop_cut *cut)
{
    uint64_t n = 0;
    for (uint32_t l = 0; l < lists->n_layer; l++) {
        if (lists->n[l] == 0)
            return UINT64_MAX;
        const struct tile *tile = &lists->tile[lists->first[l] + tile_nearest(lists, l, log_cycle)];
        cut[l] = tile->cut;
        n += (uint64_t)tile_times(rules, l) * tile->n_uop;
    }
    return n * rules->batch;
}

void partition_target_range(const struct tile_lists *lists, double *least, double *most)
{
    uint64_t low = UINT64_MAX, high = 1;
    for (uint32_t l = 0; l < lists->n_layer; l++) {
        if (lists->n[l] == 0)
            continue;
        const struct tile *tile = &lists->tile[lists->first[l]];
        low = tile[0].cycle < low ? tile[0].cycle : low;
        high = tile[lists->n[l] - 1].cycle > high ? tile[lists->n[l] - 1].cycle : high;
    }
    *least = low == UINT64_MAX ? 0 : log((double)low);
    *most = log((double)high);
}

enum dse_status partition_targets_of(const struct tile_lists *lists, const struct tile_rules *rules,
                                     struct arena *arena, struct partition_grid *out, struct dse_error *err)
{
    const uint32_t n_layer = lists->n_layer;
    *out = (struct partition_grid){.dim = 1, .n_cut = n_layer, .n_all = N_TARGET};
    out->cut = arena_alloc(arena, (size_t)N_TARGET * n_layer, sizeof *out->cut);
    out->at = arena_alloc(arena, N_TARGET, sizeof *out->at);
    DSE_TRY(arena_check(arena, "a grid of target latencies", err));
    double least, most;
    partition_target_range(lists, &least, &most);
    for (uint32_t i = 0; i < N_TARGET; i++) {
        struct uop_cut *cut = &out->cut[(size_t)out->n * n_layer];
        const double at = (double)i / (N_TARGET - 1);
        const uint64_t n = partition_target(lists, least + at * (most - least), rules, cut);
        out->n_sram += n != UINT64_MAX;
        if (n == UINT64_MAX || n > rules->max_uops ||
            (out->n && memcmp(cut, cut - n_layer, n_layer * sizeof *cut) == 0))
            continue;
        out->at[out->n++] = at;
    }
    return DSE_OK;
}

/* One way of cutting into bands. */
struct band {
    uint32_t n_uop;         /* of a layer, about */
    uint32_t rows, columns; /* of the map, at most */
    uint32_t least_h;
};

/* False: no number of channels fits the memories. */
static bool cut_into_bands(const struct kc_tile *whole, const struct kc_machine *machine,
                           const struct tile_rules *rules, const struct band *band, struct uop_cut *cut)
{
    const uint32_t most_rows = whole->p / band->least_h ? whole->p / band->least_h : 1;
    cut->h = tile_size_of_parts(whole->p, 1, band->rows < most_rows ? band->rows : most_rows);
    cut->w = tile_size_of_parts(whole->q, 1, band->columns);
    cut->ic = whole->c;
    cut->oc = whole->k * whole->g;
    const uint64_t n_map = uop_cut_count(whole, *cut);
    cut->oc = tile_oc_of_parts(whole, machine->k_lane, (uint32_t)((band->n_uop - 1) / n_map + 1));
    const uint64_t n = uop_cut_count(whole, *cut);
    if (2 * n <= band->n_uop)
        cut->ic = tile_size_of_parts(whole->c, machine->c_lane, (uint32_t)(band->n_uop / n));
    for (;;) {
        *cut = uop_cut_clip(whole, *cut);
        const struct uop_need need = uop_cut_need(whole, *cut);
        if (uop_need_fits(&need, rules->sram, machine))
            return true;
        if (cut->oc > machine->k_lane || cut->oc > whole->k)
            cut->oc = tile_oc_of_parts(whole, machine->k_lane, 2 * (uint32_t)uop_cut_oc_count(whole, *cut));
        else if (cut->ic > machine->c_lane)
            cut->ic = tile_size_of_parts(whole->c, machine->c_lane, 2 * ((whole->c - 1) / cut->ic + 1));
        else
            return false;
    }
}

enum dse_status partition_bands_of(const struct uop_network *network, const struct kc_machine *machine,
                                   const struct tile_rules *rules, struct arena *arena,
                                   struct partition_grid *out, struct dse_error *err)
{
    static const uint32_t quarters[] = {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32}; /* of uops a core */
    enum { TIMES = sizeof quarters / sizeof quarters[0], HEIGHTS = 4, N_BAND = TIMES * HEIGHTS * 2 };
    const uint32_t n_layer = network->n_layer, n_core = machine->columns * machine->rows;
    *out = (struct partition_grid){.dim = 1, .n_cut = n_layer, .n_all = N_BAND};
    out->cut = arena_alloc(arena, (size_t)N_BAND * n_layer, sizeof *out->cut);
    DSE_TRY(arena_check(arena, "bands of maps", err));
    for (uint32_t i = 0; i < N_BAND; i++) {
        const uint32_t n_uop = (quarters[i / 2 / HEIGHTS] * n_core + 3) / 4;
        const uint32_t columns = i % 2 ? machine->columns : 1;
        const struct band band = {.n_uop = n_uop,
                                  .rows = (n_uop - 1) / columns + 1,
                                  .columns = columns,
                                  .least_h = i / 2 % HEIGHTS + 1};
        struct uop_cut *cut = &out->cut[(size_t)out->n * n_layer];
        uint64_t n = 0;
        for (uint32_t l = 0; l < n_layer && n != UINT64_MAX; l++)
            n = cut_into_bands(&network->layer[l].whole, machine, rules, &band, &cut[l])
                    ? n + tile_times(rules, l) * count_layer(&network->layer[l].whole, cut[l], rules->sums)
                    : UINT64_MAX;
        out->n_sram += n != UINT64_MAX;
        if (n != UINT64_MAX && n * rules->batch <= rules->max_uops)
            out->n++;
    }
    return DSE_OK;
}

double partition_entropy(const struct uop_graph *graph)
{
    double sum = 0, weighted = 0;
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        const double cycle = (double)graph->uop[u].cycle;
        sum += cycle;
        weighted += cycle * log(cycle);
    }
    return log(sum) - weighted / sum;
}
