/* The uops of a network: its layers cut into tiles, and which uop waits for which, as a graph in compressed
 * rows. A layer's tiles are counted by row, column, output channels, input channels, the last fastest;
 * layers in their order; samples one after the other. So producers have smaller numbers.
 * docs/klotski.md, "From layers to tiles". */
#ifndef COSTMODEL_UOP_UOP_GRAPH_H
#define COSTMODEL_UOP_UOP_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "costmodel/uop/uop_network.h"

enum { UOP_MAX = 100000 };

/* Tile sizes: output rows and columns, input and output channels. */
struct uop_cut {
    uint32_t h, w, ic, oc;
};

/* How the partial sums of several tiles of input channels become one. */
enum uop_sums {
    UOP_SUMS_ALL,    /* a reader waits for all of them and adds them up */
    UOP_SUMS_CHAIN,  /* each waits for the one before and goes on from its sums; readers wait for the last */
    UOP_SUMS_REDUCE, /* one more uop adds them up: it counts after the layer's others, by row, column, oc */
};

/* A layer of the graph. */
struct uop_cut_layer {
    struct uop_cut cut; /* clipped to the layer */
    uint32_t n_h, n_w, n_oc, n_ic;
    uint32_t first, n_tile, n_uop; /* in sample 0; n_uop: with those that add up */
};

struct uop {
    uint32_t layer, sample;
    uint64_t cycle;
    uint64_t output_word; /* what it makes, and sends to whoever waits for it */
};

struct uop_graph {
    const struct uop_network *network; /* borrowed */
    enum uop_sums sums;
    uint32_t n_sample, n_uop;
    const struct uop_cut_layer *layer; /* (network->n_all) */
    const struct uop *uop;             /* (n_uop) */
    /* (n_uop + 1) into producer and consumer; each list ascends */
    const uint32_t *first_producer, *producer, *first_consumer, *consumer;
};

/* The cut as the layer can have it: no size above the layer's own, and of its groups of channels either part
 * of one or so many whole ones. All are 1 at least. */
struct uop_cut uop_cut_clip(const struct kc_tile *whole, struct uop_cut cut);

/* Tiles along the output channels, of all groups; of a cut that is clipped. */
uint64_t uop_cut_oc_count(const struct kc_tile *whole, struct uop_cut cut);

/* The largest tile of a cut that is clipped. */
struct kc_tile uop_cut_tile(const struct kc_tile *whole, struct uop_cut cut);

/* Uops of a layer cut so, without those that add up; of a cut that is clipped. Saturates at UINT64_MAX. */
uint64_t uop_cut_count(const struct kc_tile *whole, struct uop_cut cut);

/* Words that the largest tile needs on an accelerator: outputs, inputs with their halo, weights or what
 * stands for them. */
struct uop_need {
    uint64_t output_word, input_word, weight_word;
};
struct uop_need uop_cut_need(const struct kc_tile *whole, struct uop_cut cut);

/* The layer whose tiles those of a pool or sum are like: the first that it reads; by UOP_BLOCKS the last with
 * MACs, which is in the same repetition if any is. -1: it reads the network's inputs alone. */
int32_t uop_vector_like(const struct uop_network *network, const struct uop_layer *of);

/* Where the uops of each layer lie: `layer` (n_all, zeroed first), `n_uop` of all samples. `cut` (n_layer) is
 * clipped; a pool or sum is cut as uop_vector_like, rows and columns by its stride. DSE_LIMIT:
 * more than UOP_MAX uops; the layer where they are has no uops then. */
DSE_MUST_CHECK enum dse_status uop_layout_of(const struct uop_network *network, const struct uop_cut *cut,
                                             enum uop_sums sums, uint32_t n_sample,
                                             struct uop_cut_layer *layer, uint64_t *n_uop,
                                             struct dse_error *err);

/* Cut every layer (`cut`: n_layer, clipped first) for `n_sample` samples. Memory from `arena`. DSE_LIMIT:
 * more than UOP_MAX uops, or 2^31 edges, or a tile that kc_tile_check refuses; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status uop_graph_of(const struct uop_network *network,
                                            const struct kc_machine *machine, const struct uop_cut *cut,
                                            enum uop_sums sums, uint32_t n_sample, struct arena *arena,
                                            struct uop_graph *out, struct dse_error *err);

/* The same with at most `edge_max` edges, which takes little more memory than these: DSE_LIMIT otherwise. */
DSE_MUST_CHECK enum dse_status uop_graph_within(const struct uop_network *network,
                                                const struct kc_machine *machine, const struct uop_cut *cut,
                                                enum uop_sums sums, uint32_t n_sample, uint64_t edge_max,
                                                struct arena *arena, struct uop_graph *out,
                                                struct dse_error *err);

/* How many tiles a cut that is clipped makes along each dimension; `first`, `n_tile` and `n_uop` stay 0. */
struct uop_cut_layer uop_grid_of(const struct kc_tile *whole, struct uop_cut cut);

/* Tile `t` of a grid over `whole`. */
struct uop_box uop_grid_box(const struct uop_cut_layer *grid, const struct kc_tile *whole, uint32_t t);

/* The place of a uop that is a tile; of one that adds up, with all input channels. */
struct uop_box uop_box_of(const struct uop_graph *graph, uint32_t uop);

/* The sizes of such a tile. */
struct kc_tile uop_tile_of(const struct kc_tile *whole, const struct uop_box *box);

/* Shapes of the tiles that a cut makes: at most two sizes in each of four dimensions. */
enum { UOP_SHAPE_MAX = 16 };

/* Such shapes, each of which is priced once. Begins with {.n = 0}. */
struct uop_priced {
    struct kc_tile tile[UOP_SHAPE_MAX];
    uint64_t cycle[UOP_SHAPE_MAX];
    uint32_t n;
};

/* The cycles of such a tile, or of its slices one after the other. Errors of kc_tile_check, and of the
 * machine's pricer. */
DSE_MUST_CHECK enum dse_status uop_tile_cycle(struct uop_priced *priced, const struct kc_machine *machine,
                                              const struct kc_tile *tile, uint64_t *cycle,
                                              struct dse_error *err);

/* Of a uop that adds up or pools and makes so many words. It takes all PEs: so many operations in a cycle. */
uint64_t uop_vector_cycle(const struct kc_machine *machine, uint64_t word, uint32_t n_operation);

/* "conv1_1/9", of sample 2 "conv1_1/9#2"; returns what snprintf does. */
int uop_name_print(const struct uop_graph *graph, uint32_t uop, char *text, size_t size);

#endif
