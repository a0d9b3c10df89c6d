/* A network as uops see it: its layers with MACs in an order that producers come first in, and which of them
 * each reads, on which way. All other layers are done on the way, by whoever makes or reads a map: they are
 * no uops and take no time; pools and sums do unless UOP_VECTOR makes them layers of their own. Made once per
 * network, const afterwards. docs/klotski.md, "From layers to tiles". */
#ifndef COSTMODEL_UOP_UOP_NETWORK_H
#define COSTMODEL_UOP_UOP_NETWORK_H

#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/model/network.h"
#include "costmodel/model/network_fold.h"
#include "costmodel/uop/kc_cost.h"

/* A half-open range of rows, columns or channels; empty when first >= end. */
struct uop_range {
    uint32_t first, end;
};

/* What a tile of a layer makes and sums over; `oc` counts over all groups of channels, `ic` inside one (all
 * of it where oc has several groups). */
struct uop_box {
    struct uop_range row, column, oc, ic;
};

/* A part of a map. */
struct uop_region {
    struct uop_range channel, row, column;
};

/* Which of `size` positions one dimension of a map below has for a position p of the one above:
 * floor((p step + first) / by) to floor((p step + last) / by). A window has step its stride, first minus the
 * padding, last - first its extent less 1, and by 1; enlarged maps have by > 1. */
struct uop_slide {
    uint32_t size, step;
    int32_t first, last;
    uint32_t by;
    bool clamps; /* what would lie outside is the first or last position */
};

/* What a layer on the way makes of channels. */
enum uop_pass_kind {
    UOP_PASS_SAME,    /* each its own: pools, parts and enlargements of maps */
    UOP_PASS_TIMES,   /* each is `times` of those below: what makes a transposed convolution's output */
    UOP_PASS_ALL,     /* all: normalisation and softmax add up over channels */
    UOP_PASS_PERMUTE, /* a transpose */
    UOP_PASS_SHARED,  /* what a product of activations makes whose groups share second operands */
};

/* A layer on the way from a reader down to what it reads. */
struct uop_pass {
    enum uop_pass_kind kind;
    struct uop_slide v, h;      /* but of a transpose */
    uint32_t times;             /* UOP_PASS_TIMES; UOP_PASS_SHARED: groups that share one */
    uint32_t channel_size;      /* UOP_PASS_SHARED: channels of a group */
    uint32_t from[3];           /* UOP_PASS_PERMUTE: which of channel, row, column above is that below */
    uint32_t channel, channels; /* what is followed is so many of its input channels, from that one on */
    int32_t next;               /* the one below, -1 when there is none */
};

/* Where inputs of a layer come from. */
struct uop_source {
    int32_t layer;              /* of uop_network.layer, or -1 - i: input i */
    uint32_t channel, channels; /* it is so many of the reader's input channels, from that one on */
    int32_t pass;               /* the first layer on the way below the reader's own window, -1: none */
    uint32_t second;            /* 1: of a matmul, the operand that stands for weights */
};

/* What becomes of pools, sums and products of maps. */
enum uop_vector {
    UOP_FUSED,  /* they take no time */
    UOP_VECTOR, /* they are layers of uops, which take all lanes */
    UOP_BLOCKS, /* so are those alone whose map leaves a repetition of a block (struct network_repeat) */
};

extern const char *const uop_vector_name[3]; /* "fused", "uops", "blocks" */

/* A layer with MACs: a convolution; fully connected, which is one whose window is the whole map; a product of
 * activations, whose window is 1 x 1; a transposed convolution as one over its inputs. Or a pool or sum of
 * maps, whose output channels are what it reads (whole.c is 1). */
struct uop_layer {
    uint32_t of;              /* layer of the network */
    struct kc_tile whole;     /* its sizes per sample; c and k those of each of its g groups, 1 at least */
    struct uop_slide v, h;    /* its own window */
    struct uop_region second; /* of a product of activations: the whole second operand; else empty */
    uint32_t share;           /* so many groups of it have one and are one group whose columns lie side by
                               * side, those of each first group, then of each second: whole.q, whole.g */
    uint32_t n_source, first_source;
    uint32_t n_operation, n_read; /* of a pool or sum, for each value that it makes; 0: it has MACs */
};

struct uop_network {
    const struct network *network; /* borrowed */
    enum uop_vector vector;
    uint32_t n_layer;                  /* with MACs: these are cut */
    uint32_t n_all;                    /* and pools and sums behind them, cut as what they read */
    const struct uop_layer *layer;     /* (n_all) */
    const uint32_t *order;             /* (n_all) layers, producers first: in which uops are counted */
    const struct uop_source *source;   /* by layer, each once */
    const struct uop_pass *pass;       /* (n_pass) */
    uint32_t n_input;                  /* the network's inputs, then the rows that embeddings look up */
    const struct network_input *input; /* (n_input) */
};

/* Its output channels, of all groups. */
static inline uint32_t uop_layer_channels(const struct uop_layer *layer)
{
    return layer->whole.k * layer->whole.g;
}

/* Does it read weights? Not a product of activations, nor a pool or sum. */
static inline bool uop_layer_has_weights(const struct uop_layer *layer)
{
    return !layer->n_operation && layer->second.channel.end == 0;
}

/* What a tile of a layer reads of a source's map; false: nothing. Of a second operand that is all of it, as
 * networks do not say how heads lie in it. */
bool uop_source_region(const struct uop_network *network, const struct uop_layer *layer,
                       const struct uop_box *box, const struct uop_source *source, struct uop_region *region);

/* Memory from `arena`. DSE_BAD_USAGE: the network is a list, or has a layer that no uop can be (einsums,
 * dilated convolutions), which is named; DSE_NO_MEMORY; DSE_LIMIT beyond 2^24 sources or 2^32 channels. */
DSE_MUST_CHECK enum dse_status uop_network_of(const struct network *network, enum uop_vector vector,
                                              struct arena *arena, struct uop_network *out,
                                              struct dse_error *err);

/* The network of a fold by UOP_BLOCKS: its pools, sums and products are layers where the whole network's are.
 * Errors of uop_network_of. */
DSE_MUST_CHECK enum dse_status uop_network_of_fold(const struct network_fold *fold, struct arena *arena,
                                                   struct uop_network *out, struct dse_error *err);

/* The same of any network: of a list of layers as a graph (network_as_graph), in memory of `arena`. `batch`:
 * 0 for what its file says; `*n_sample`: samples of the result. Errors of both. */
DSE_MUST_CHECK enum dse_status uop_network_for(const struct network *network, uint32_t batch,
                                               enum uop_vector vector, struct arena *arena,
                                               struct uop_network *out, uint32_t *n_sample,
                                               struct dse_error *err);

#endif
