/* maestro-kc as a constant struct: the machines that it prices (node_machine.h), and lists of uops, which
 * need MAESTRO's, priced one by one. */
#include "costmodel/uop/accounting_maestro_kc.h"

#include "base/report.h"
#include "costmodel/uop/kc_cost.h"
#include "costmodel/uop/node_machine.h"

static enum dse_status accepts(const struct architecture *arch, struct dse_error *err)
{
    struct kc_machine machine;
    struct core_split node;
    return node_machine_of(arch, &machine, &node, err);
}

enum { LIST_R, LIST_S, LIST_P, LIST_Q, LIST_C, LIST_K, LIST_REQUIRED, LIST_STRIDE = LIST_REQUIRED, LIST_N };

static const char *const list_column[LIST_N] = {
    [LIST_R] = "R", [LIST_S] = "S", [LIST_P] = "P",          [LIST_Q] = "Q",
    [LIST_C] = "C", [LIST_K] = "K", [LIST_STRIDE] = "stride"};

static const struct cell_column list_out[] = {
    CELL_COLUMN("R", "R", LOOK_COUNT),
    CELL_COLUMN("S", "S", LOOK_COUNT),
    CELL_COLUMN("stride", "stride", LOOK_COUNT),
    CELL_COLUMN("P", "P", LOOK_COUNT),
    CELL_COLUMN("Q", "Q", LOOK_COUNT),
    CELL_COLUMN("C", "C", LOOK_COUNT),
    CELL_COLUMN("K", "K", LOOK_COUNT),
    CELL_COLUMN("macs", "MACs", LOOK_COUNT),
    CELL_COLUMN("runtime", "cycles", LOOK_COUNT),
    CELL_COLUMN("utilisation", "utilisation", LOOK_PERCENT),
#define LIST_COUNT(NAME) CELL_COLUMN(#NAME, NULL, LOOK_COUNT),
    KC_COUNT_LIST(LIST_COUNT)
#undef LIST_COUNT
        CELL_ENERGY("energy_j", "energy"),
};

static enum dse_status list_accepts(const struct architecture *arch, struct dse_error *err)
{
    struct kc_machine machine;
    return kc_machine_of(arch, &machine, err);
}

static enum dse_status list_row(const struct architecture *arch, const uint32_t *value, struct cells *cells,
                                struct dse_error *err)
{
    struct kc_machine machine;
    struct kc_counts count;
    const struct kc_tile tile = {.r = value[LIST_R],
                                 .s = value[LIST_S],
                                 .stride_v = value[LIST_STRIDE],
                                 .stride_h = value[LIST_STRIDE],
                                 .p = value[LIST_P],
                                 .q = value[LIST_Q],
                                 .c = value[LIST_C],
                                 .k = value[LIST_K]};
    DSE_TRY(kc_machine_of(arch, &machine, err));
    DSE_TRY(kc_tile_check(&machine, &tile, err));
    const uint64_t macs = kc_macs(&tile), cycle = kc_cycle(&machine, &tile);
    kc_count(&machine, &tile, &count);
    const struct kc_energy energy = kc_energy_of(&machine, macs, &count);
    const uint64_t shown[] = {tile.r, tile.s, tile.stride_v, tile.p, tile.q, tile.c, tile.k, macs, cycle};
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        cells_count(cells, shown[i]);
    cells_real(cells, (double)macs / ((double)machine.c_lane * machine.k_lane * (double)cycle));
#define LIST_COUNT(NAME) cells_count(cells, count.NAME);
    KC_COUNT_LIST(LIST_COUNT)
#undef LIST_COUNT
    cells_real(cells, energy.mac_j + energy.l1_j + energy.l2_j);
    return DSE_OK;
}

static const struct list_format list = {
    .name = "uop",
    .column = list_column,
    .n_column = LIST_N,
    .n_required = LIST_REQUIRED,
    .out = list_out,
    .n_out = sizeof list_out / sizeof list_out[0],
    .accepts = list_accepts,
    .row = list_row,
};

const struct accounting accounting_maestro_kc = {
    .name = "maestro-kc",
    .summary =
        "uops on a mesh of accelerators, each with MAESTRO's KC-partition, or any that a mapper prices",
    .kind = ACCOUNTING_SCHEDULE,
    .accepts = accepts,
    .list = &list,
};
