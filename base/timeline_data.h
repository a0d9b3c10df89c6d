/* The execution graph of a schedule as rows (docs/execution-graph.md): of a fused one what the DRAM and the
 * core array do from when to when, and what the buffer holds meanwhile; of one of uops what runs on which
 * accelerator. results/timeline writes and reads them, engines make them. */
#ifndef BASE_TIMELINE_DATA_H
#define BASE_TIMELINE_DATA_H

#include <stddef.h>
#include <stdint.h>

/* All times are cycles; all texts are borrowed and never NULL. */

/* A tensor that the DRAM moves; rows are in the DRAM order. */
struct timeline_transfer {
    const char *kind;           /* "ifmap", "weights" or "ofmap" */
    const char *layer, *source; /* source: of an ifmap, else "" */
    int64_t tensor, tile;       /* tile: of the layer; 0 for weights */
    int64_t layer_group, group; /* of the tile (weights: of the layer's first tile) */
    int64_t start, finish;
    int64_t byte, buffer_byte;        /* moved; and what it fills in the buffer */
    int64_t living_start, living_end; /* positions; -1 is before the first tile */
};

/* A tile on the core array; rows are in execution order, so the row is its position. */
struct timeline_tile {
    const char *layer;
    int64_t tile, layer_group, group;
    int64_t start, finish, stall; /* stall: how long the core array waited for it */
};

/* What the buffer holds while the tile of the same row is next or runs: from `start` (the finish of the tile
 * before) to `finish` (its own; of the last tile: when all is over). */
struct timeline_step {
    int64_t start, finish;
    int64_t weight_byte, ifmap_byte, ofmap_byte; /* tensors that come from or go to the DRAM */
    int64_t local_byte;                          /* feature maps that never leave the buffer */
};

/* A fine-grained group. */
struct timeline_group {
    int64_t layer_group, cut; /* cut: 1 when a DRAM cut stands before it */
    int64_t tiling, first_tile, n_tile;
    int64_t start,
        finish;         /* from the finish of the tile before its first one to the finish of its last one */
    const char *layers; /* in computing order, one blank between them */
};

/* A uop on an accelerator of a mesh; rows are by core, and of a core by start. */
struct timeline_uop {
    const char *uop, *layer; /* the uop as its schedule names it: "conv1/0" */
    int64_t layer_number;    /* of those with uops, in the network's order */
    int64_t core, start, finish;
};

enum timeline_kind {
    TIMELINE_FUSED, /* transfers, tiles, steps and groups; no uops */
    TIMELINE_UOPS,  /* uops alone */
    TIMELINE_N_KIND
};

/* What one kind alone has is 0 or NULL in the other. */
struct timeline {
    enum timeline_kind kind;
    const char *title;                          /* of the schedule, for instance its file's name */
    const char *network, *architecture, *rules; /* rules: "compat" or "sound"; of uops "ideal, static" etc. */
    int64_t n_core, columns, work_cycle;        /* of uops: accelerators, those of a row, sum of latencies */
    int64_t batch, cycle, compute_cycle, dram_cycle, stall_cycle;
    int64_t buffer_byte, buffer_max_byte; /* buffer_byte: its capacity */
    double dram_byte_per_cycle, clock_hz, energy_j, buffer_average_byte;
    size_t n_transfer, n_tile, n_group, n_uop;
    struct timeline_transfer *transfer; /* (n_transfer) */
    struct timeline_tile *tile;         /* (n_tile) */
    struct timeline_step *step;         /* (n_tile) */
    struct timeline_group *group;       /* (n_group) */
    struct timeline_uop *uop;           /* (n_uop) */
};

#endif
