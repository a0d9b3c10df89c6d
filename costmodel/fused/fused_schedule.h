/* A fused schedule at the level of tiles and DRAM tensors, and the two-engine rule that times it (SoMa, HPCA
 * 2025, section IV-C; docs/fused-schedule.md). The DRAM moves tensors one after the other, the core array
 * computes tiles one after the other; each waits for the other only where data or room in the buffer make
 * it. */
#ifndef COSTMODEL_FUSED_FUSED_SCHEDULE_H
#define COSTMODEL_FUSED_FUSED_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/model/byte_rate.h"

/* Bytes of a tensor of so many words: whole ones, in the buffer and when the DRAM moves it. */
static inline uint64_t fused_words_byte(uint64_t word, uint32_t word_bit)
{
    return (word * word_bit + 7) / 8;
}

enum fused_tensor_kind { FUSED_IFMAP, FUSED_WEIGHT, FUSED_OFMAP, FUSED_LOCAL };

/* One tile of a layer, at its place in the execution order. */
struct fused_tile {
    uint32_t layer;            /* of the network */
    uint32_t index;            /* which tile of the layer */
    uint32_t layer_group, flc; /* between DRAM cuts; fine-grained fusion group in it */
    uint32_t b, k, h, w;       /* output shape */
    uint64_t cycle;
    double energy_j;
};

/* One tensor in the global buffer, from before tile `start` to before tile `end`: it occupies its bytes at
 * positions start .. end-1 (position -1: before the first tile). Loads start no earlier than `start` allows,
 * stores are over by `end`. */
struct fused_tensor {
    enum fused_tensor_kind kind;
    uint32_t layer, index; /* whose tile (weights: of the layer, index 0) */
    int32_t source;     /* FUSED_IFMAP: the producing layer, or -1 - i for network input i; else INT32_MIN */
    uint64_t byte;      /* that it occupies in the buffer */
    uint64_t dram_byte; /* that the DRAM moves of it; 0 for LOCAL ones */
    int32_t start, end; /* living duration */
    int32_t producer_tile;       /* position of the tile that makes it; -1 when it is loaded */
    int32_t first_use, last_use; /* positions of the tiles that read it; -1: none in the buffer */
    int32_t last_read; /* the last that reads it, where a published rule gives an earlier last_use */
    /* It goes past the buffer, between the DRAM and a level of its own (docs/fused-machines.md): `byte` is 0,
     * and its living duration starts no earlier (loads) or ends no later (stores) than `limit`, since that
     * level has no more room. */
    int32_t limit;
    /* 0: it does not. Else the equal pieces in which the one tile that reads it takes it, each for an equal
     * part of its time; of more than one, a load, it may begin while the last are on their way
     * (fused_ahead). */
    uint32_t streamed;
};

/* Tiles in execution order, tensors, and the order in which the DRAM moves them. */
struct fused_schedule {
    uint32_t n_tile, n_tensor, n_dram;
    struct fused_tile *tile;     /* (n_tile) */
    struct fused_tensor *tensor; /* (n_tensor) */
    uint32_t *dram_order;        /* (n_dram) tensors that are loaded or stored */
    uint32_t *n_read;            /* (n_tile) tensors that a tile reads from the DRAM */
    uint32_t *first_read;        /* (n_tile) into read */
    /* tensors that tile t waits for: its ifmaps and weights that come from the DRAM. For who walks a schedule
     * by tiles; fused_evaluate needs first_use alone, since the DRAM is in order */
    uint32_t *read;
};

/* Where the DRAM's bytes go. */
enum fused_way { FUSED_LOADED, FUSED_STORED, FUSED_STREAMED_IN, FUSED_STREAMED_OUT, FUSED_N_WAY };

/* The machine as this level sees it. */
struct fused_machine {
    uint64_t buffer_byte;
    struct byte_rate dram_rate; /* cycle 0: a transfer takes no time */
    double dram_energy_j;       /* per byte, read and write */
    /* The ways differ: dram_rate is that of loads, and dram_energy_j that of FUSED_LOADED. */
    bool differs;
    struct byte_rate store_rate;
    double way_energy_j[FUSED_N_WAY]; /* per byte */
};

enum fused_fault {
    FUSED_OK,
    FUSED_BUFFER,   /* more bytes live than the buffer holds */
    FUSED_LIFETIME, /* a tensor is not alive when the DRAM moves it or a tile uses it */
    FUSED_DEADLOCK, /* a tile waits for a load that stands behind a tensor that waits for that tile */
    FUSED_ORDER,    /* the DRAM order moves a tensor before what it depends on */
    FUSED_OVERLAP   /* a load may begin in the room of a tensor that is still to be stored */
};

/* `cycle` of a schedule that never ends (FUSED_DEADLOCK). */
#define FUSED_NEVER UINT64_MAX

/* Totals. Times hold whatever `fault` says, except in a deadlock; docs/fused-schedule.md says which of
 * several faults is named. */
struct fused_result {
    enum fused_fault fault;
    uint32_t fault_tensor;              /* whose fault; 0 for FUSED_BUFFER */
    int32_t fault_position;             /* FUSED_BUFFER: the first position that holds too much; else 0 */
    uint64_t cycle;                     /* both engines are done; FUSED_NEVER */
    uint64_t compute_cycle, dram_cycle; /* sums; the larger is a lower bound of `cycle` */
    uint64_t stall_cycle;               /* the core array waited so long in all, before its last tile ended */
    uint64_t dram_byte;                 /* of all loads and stores */
    uint64_t stream_byte;               /* of them, those that go past the buffer */
    double core_energy_j, dram_energy_j, energy_j; /* without leakage */
    uint64_t buffer_max_byte;
    double buffer_average_byte;        /* over time, by what is alive while a tile is next or runs */
    double buffer_average_compat_byte; /* the published program's sum: each gap with the later tile's bytes */
    double buffer_average_compute_byte; /* the paper's (figure 6): by compute time alone, stalls left out */
};

/* Any pointer may be NULL. In a deadlock, what never starts or ends has FUSED_NEVER. */
struct fused_trace {
    uint64_t *tile_start, *tile_finish; /* (n_tile) */
    uint64_t *tile_stall;               /* (n_tile) the core array waited so long for this tile's tensors */
    uint64_t *tensor_start, *tensor_finish; /* (n_tensor) 0 for LOCAL ones */
    uint64_t *living_byte;                  /* (n_tile + 1) at positions -1 .. n_tile-1 */
};

/* Time a schedule in one pass over tiles and DRAM tensors. `trace` may be NULL; its arrays are the caller's.
 * `scratch` holds working memory, which the caller resets. A fault is a result, not an error. DSE_NO_MEMORY;
 * DSE_BAD_INPUT when it is no schedule: a DRAM order that is not one of all tensors but the LOCAL ones, a
 * position outside the tiles, no bandwidth. */
DSE_MUST_CHECK enum dse_status fused_evaluate(const struct fused_schedule *schedule,
                                              const struct fused_machine *machine, struct arena *scratch,
                                              struct fused_trace *trace, struct fused_result *result,
                                              struct dse_error *err);

#endif
