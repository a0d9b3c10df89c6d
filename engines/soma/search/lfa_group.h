/* One layer group by itself, with the double-buffer DLSA. */
#ifndef ENGINES_SOMA_SEARCH_LFA_GROUP_H
#define ENGINES_SOMA_SEARCH_LFA_GROUP_H

#include "engines/soma/search/search.h"

/* Times count from the start of its first tile, when the DRAM has just loaded that tile's inputs, or as much
 * of them as it takes (fused_ahead); cycles. */
struct soma_group_times {
    bool valid; /* no fault; the rest is not set otherwise */
    /* With slow_tiles, where peak_byte is more than the machine's buffer: no tile was asked for, and cycles
     * and energy say nothing. */
    bool alone; /* the published rules: it holds a classifier, and no pool may stand before it */
    /* transfer of the first layer's weights, and of the first tile's inputs up to its start */
    uint64_t head_weight_cycle, head_input_cycle;
    uint64_t before_last, last; /* finish of the tile before the last one (0: none), and of the last one */
    uint64_t moved;             /* finish of all DRAM tensors but the last store */
    uint64_t store_cycle;       /* transfer of the last store */
    uint64_t head_byte;         /* loaded before the first tile */
    uint64_t last_byte;         /* alive at the last tile */
    uint64_t peak_byte;         /* at any of its tiles */
    uint64_t inner_byte;        /* at any of its tiles but the last */
    /* the largest tensor that more tiles make smaller, among those of head_byte and of last_byte */
    uint64_t head_largest_byte, last_largest_byte;
    uint64_t dram_byte[FUSED_N_WAY];
    double core_energy_j;
    uint64_t n_tile, n_tensor, n_read; /* of its schedule */
};

/* Costs of tiles that were asked for lately; results do not depend on it. */
struct soma_tile_memo;

/* Memory from `arena`, from which it takes more as layers are looked at. NULL: no memory. */
struct soma_tile_memo *soma_tile_memo_new(uint32_t n_layer, struct arena *arena);

/* Time groups first .. past-1 of the LFA, a layer group, as soma_parse and fused_evaluate do, but tile by
 * tile, without making tiles and tensors: in the double-buffer DRAM order the loads of a tile, weights first,
 * stand before the store of the tile before. Memory from `scratch`. What is beyond the parser's limits is not
 * valid. DSE_NO_MEMORY; errors of the core scheduler but DSE_BAD_INPUT. */
DSE_MUST_CHECK enum dse_status soma_group_times(const struct soma_search *search, const struct soma_lfa *lfa,
                                                uint32_t first, uint32_t past, struct soma_tile_memo *memo,
                                                struct arena *scratch, struct soma_group_times *times,
                                                struct dse_error *err);

#endif
