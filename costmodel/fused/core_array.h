/* The core array of a fused-layer accelerator: what one tile of a layer costs on a grid of processing
 * elements below one global buffer (SoMa, HPCA 2025; equations: docs/core-array.md). One byte per element. */
#ifndef COSTMODEL_FUSED_CORE_ARRAY_H
#define COSTMODEL_FUSED_CORE_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "costmodel/model/byte_rate.h"
#include "costmodel/model/network.h"

/* What a core array is made of. Energies follow from it: core_array_init. */
struct core_array_size {
    uint32_t mac_per_pe;          /* 32, 64, 128, 256, 512 or 4096 */
    uint32_t pe_rows;             /* 1 to 1024; the first dimension of a spatial partition lies on them */
    uint32_t pe_columns;          /* the same for the second dimension */
    uint64_t buffer_byte;         /* global buffer (GBUF), up to 8 GiB */
    struct byte_rate buffer_read; /* of the GBUF; writes never stall */
};

/* A core array with its unit energies. Plain data. */
struct core_array {
    struct core_array_size size;
    uint32_t lane_c, lane_k;                       /* V input channels by L output channels of a PE */
    uint64_t input_byte, weight_byte, output_byte; /* L1 buffers of a PE: AL1, WL1, OL1 */
    double input_read_j, input_write_j, weight_read_j, weight_write_j, output_read_j,
        output_write_j;                     /* per byte */
    double buffer_read_j, buffer_write_j;   /* GBUF, per byte */
    double collect_read_j, collect_write_j; /* OL2, per byte */
    double bus_j;                           /* between PEs, per byte */
    double mac_j, vector_j;                 /* per operation */
    uint32_t vector_per_cycle;              /* operations of the vector unit */
};

/* DSE_BAD_INPUT names what is accepted. */
DSE_MUST_CHECK enum dse_status core_array_init(const struct core_array_size *size, struct core_array *core,
                                               struct dse_error *err);

enum core_operation { CORE_MATRIX, CORE_VECTOR };

/* One tile of a layer: output extents, full channels. */
struct core_tile {
    enum core_operation operation;
    uint32_t b, k, c, h,
        w; /* output samples; output and input channels of all groups; output rows, columns */
    uint32_t r, s, stride_h, stride_w;
    uint32_t groups;         /* 1: none */
    uint32_t group_k;        /* output channels of a group, when k is not that of the layer; 0: k / groups */
    bool weights_from_layer; /* the second operand is an activation: each sample has its own */
    uint32_t operands;       /* vector: of an element-wise layer, else 1 */
    uint32_t dilation_h, dilation_w; /* rows, columns between two taps of the window; 0 counts as 1 */
};

/* Rows (or columns) from the first to the last tap of a window, both counted. Exact up to 2^64. */
static inline uint64_t core_window_reach(uint32_t kernel, uint32_t dilation)
{
    return (uint64_t)(kernel - 1) * (dilation ? dilation : 1) + 1;
}

/* What a core array is asked for a tile of a layer: output extents b x k x h x w, full input channels. */
struct core_tile core_tile_of(const struct layer *layer, uint32_t b, uint32_t k, uint32_t h, uint32_t w);

struct core_cost {
    uint64_t cycle;
    double buffer_energy_j; /* GBUF ("ubuf" of the reference tables) */
    double local_energy_j;  /* L1 and OL2 ("buffer") */
    double bus_energy_j;    /* ("noc") */
    double mac_energy_j;    /* or vector operations */
    double energy_j;        /* their sum */
    /* Of tensors that go past the buffer (docs/fused-machines.md); all 0 where none does. Words that cross
     * the chip's border over those of the tensor, by role, 1 or more; 0: it does not stream. And the share of
     * the levels that take them in which the tile fills at most; more than 1: it takes them piece by
     * piece. */
    double stream_times[TENSOR_ROLE_COUNT], stream_share;
    /* Of weights taken in so: equal pieces, each for an equal part of the time, two of which fit; 0: none. */
    uint64_t stream_pieces;
};

/* Another intra-tile scheduler can stand in for the built-in one through this: `self` is its state. */
struct core_scheduler {
    const void *self;
    enum dse_status (*cost)(const void *self, const struct core_tile *tile, struct core_cost *cost,
                            struct dse_error *err);
};

/* The built-in exhaustive search over six spatial partitions, blocks and bus sharing, by energy x time.
 * `compat`: the published program's counts word by word; else what a kernel, its stride and the lanes need is
 * counted soundly (docs/core-array.md says where the two differ and by how much). DSE_BAD_INPUT when no
 * partition fits, an extent is 0 or groups do not divide the channels; DSE_LIMIT when the counts could pass
 * 2^61. */
DSE_MUST_CHECK enum dse_status core_array_cost(const struct core_array *core, const struct core_tile *tile,
                                               bool compat, struct core_cost *cost, struct dse_error *err);

/* The same for a CORE_MATRIX tile that is checked; part of core_array_cost (core_array_cost.c). */
DSE_MUST_CHECK enum dse_status core_array_matrix_cost(const struct core_array *core,
                                                      const struct core_tile *tile, bool compat,
                                                      struct core_cost *cost, struct dse_error *err);

/* The state of the built-in scheduler. */
struct core_array_search {
    struct core_array core;
    bool compat;
};

/* core_array_cost as a core_scheduler; `search` stays the caller's and must outlive it. */
struct core_scheduler core_array_scheduler(const struct core_array_search *search);

#endif
