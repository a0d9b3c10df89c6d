/* A network as uops see it: its layers with MACs in an order that producers come first in, and which of them
 * each reads, through which pools. Concatenations, normalisations and activations are done on the way, by
 * whoever makes or reads a map: they are no uops and take no time; so are pools and sums unless UOP_VECTOR
 * makes them layers of their own. Made once per network, const afterwards. docs/klotski.md, "From layers to
 * tiles". */
#ifndef COSTMODEL_UOP_UOP_NETWORK_H
#define COSTMODEL_UOP_UOP_NETWORK_H

#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/model/network.h"
#include "costmodel/uop/kc_cost.h"

/* A half-open range of rows, columns or channels; empty when first >= end. */
struct uop_range {
    uint32_t first, end;
};

/* One dimension of a window that moves over a map: out of `size` positions, the first `pad` before it. */
struct uop_slide {
    uint32_t size, step, pad, extent; /* extent: (window - 1) * dilation + 1 */
};

/* What a range of positions of the window sees of the map: clipped to it, and empty where all is padding. */
struct uop_range uop_slide_range(const struct uop_slide *slide, struct uop_range out);

/* A pool on the way; `next` is the one below, -1 when there is none. */
struct uop_pool {
    struct uop_slide v, h;
    int32_t next;
};

/* Where inputs of a layer come from. */
struct uop_source {
    int32_t layer;    /* of uop_network.layer, or -1 - i: network input i */
    uint32_t channel; /* its first channel among the reader's input channels */
    int32_t pool;     /* the first window below the reader's own, -1: none */
};

/* What becomes of pools, sums and products of maps. */
enum uop_vector {
    UOP_FUSED,  /* they take no time */
    UOP_VECTOR, /* they are layers of uops, which take all lanes */
};

extern const char *const uop_vector_name[2]; /* "fused", "uops" */

/* A layer with MACs: a convolution, or fully connected, which is one whose window is the whole map. Or a pool
 * or sum of maps, whose output channels are what it reads (whole.c is 1). */
struct uop_layer {
    uint32_t of;           /* layer of the network */
    struct kc_tile whole;  /* its sizes per sample */
    struct uop_slide v, h; /* its own window */
    uint32_t n_source, first_source;
    uint32_t n_operation, n_read; /* of a pool or sum, for each value that it makes; 0: it has MACs */
};

struct uop_network {
    const struct network *network; /* borrowed */
    enum uop_vector vector;
    uint32_t n_layer;                /* with MACs: these are cut */
    uint32_t n_all;                  /* and pools and sums behind them, cut as what they read */
    const struct uop_layer *layer;   /* (n_all) */
    const uint32_t *order;           /* (n_all) layers, producers first: in which uops are counted */
    const struct uop_source *source; /* by layer, each once */
    const struct uop_pool *pool;
};

/* The channels that a tile reads: input channels, or of a pool or sum those that it makes. */
static inline struct uop_range uop_layer_reads(const struct uop_layer *layer, struct uop_range ic,
                                               struct uop_range oc)
{
    return layer->n_operation ? oc : ic;
}

/* Memory from `arena`. DSE_BAD_USAGE names the layer: the network is a list, or has a layer that no uop can
 * be (grouped or transposed convolutions, products of activations, einsums, embeddings, whatever moves
 * values about); DSE_NO_MEMORY; DSE_LIMIT beyond 2^24 sources. */
DSE_MUST_CHECK enum dse_status uop_network_of(const struct network *network, enum uop_vector vector,
                                              struct arena *arena, struct uop_network *out,
                                              struct dse_error *err);

#endif
