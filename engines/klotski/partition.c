/* The grid of shared tile sizes. */
#include "engines/klotski/partition.h"

#include <math.h>

static const uint32_t pixels[] = {7, 14, 28, 56, 112};
/* in lanes: few full folds cover the powers of two that networks have */
static const uint32_t c_folds[] = {2, 4, 8, 11, 16, 22, 43, 86, 171};
static const uint32_t k_folds[] = {2, 4, 5, 8, 10, 16, 19, 37, 74, 147};

enum {
    N_PIXELS = sizeof pixels / sizeof pixels[0],
    N_C = sizeof c_folds / sizeof c_folds[0],
    N_K = sizeof k_folds / sizeof k_folds[0],
    N_ALL = N_PIXELS * N_PIXELS * N_C * N_K
};

/* Uops of the whole network, and whether each fits. */
static uint64_t count(const struct uop_network *network, const struct kc_machine *machine, enum uop_sums sums,
                      enum uop_sram sram, struct uop_cut cut, bool *fits)
{
    uint64_t n = 0;
    *fits = true;
    for (uint32_t l = 0; l < network->n_layer; l++) {
        const struct kc_tile *whole = &network->layer[l].whole;
        const struct uop_cut clipped = uop_cut_clip(whole, cut);
        const struct uop_need need = uop_cut_need(whole, clipped);
        const uint64_t tiles = uop_cut_count(whole, clipped), parts = (whole->c - 1) / clipped.ic + 1;
        *fits = *fits && uop_need_fits(&need, sram, machine);
        if (tiles > UOP_MAX)
            return UINT64_MAX;
        n += tiles + (sums == UOP_SUMS_REDUCE && parts > 1 ? tiles / parts : 0);
    }
    return n;
}

static double share(uint32_t value, uint32_t least, uint32_t most)
{
    return log2((double)value / least) / log2((double)most / least);
}

enum dse_status partition_grid_of(const struct uop_network *network, const struct kc_machine *machine,
                                  enum uop_sums sums, enum uop_sram sram, uint32_t batch, uint32_t max_uops,
                                  struct arena *arena, struct partition_grid *out, struct dse_error *err)
{
    *out = (struct partition_grid){.n_all = N_ALL};
    out->cut = arena_alloc(arena, N_ALL, sizeof *out->cut);
    out->at = arena_alloc(arena, N_ALL * PARTITION_DIM, sizeof *out->at);
    DSE_TRY(arena_check(arena, "a grid of tile sizes", err));
    for (uint32_t i = 0; i < N_ALL; i++) {
        const uint32_t h = i / N_K / N_C / N_PIXELS, w = i / N_K / N_C % N_PIXELS, c = i / N_K % N_C,
                       k = i % N_K;
        const struct uop_cut cut = {pixels[h], pixels[w], c_folds[c] * machine->c_lane,
                                    k_folds[k] * machine->k_lane};
        bool fits;
        const uint64_t n = count(network, machine, sums, sram, cut, &fits);
        out->n_sram += fits;
        if (!fits || n == UINT64_MAX || n * batch > max_uops)
            continue;
        double *at = &out->at[(size_t)out->n * PARTITION_DIM];
        at[0] = share(pixels[h], pixels[0], pixels[N_PIXELS - 1]);
        at[1] = share(pixels[w], pixels[0], pixels[N_PIXELS - 1]);
        at[2] = share(c_folds[c], c_folds[0], c_folds[N_C - 1]);
        at[3] = share(k_folds[k], k_folds[0], k_folds[N_K - 1]);
        out->cut[out->n++] = cut;
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
