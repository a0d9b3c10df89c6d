/* A network as the SoMa parser reads it: every operand of every layer with its source's shape, and who reads
 * what a layer makes. Made once per network; const afterwards, so threads may share one. */
#ifndef ENGINES_SOMA_NOTATION_GRAPH_H
#define ENGINES_SOMA_NOTATION_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/fused/fused_schedule.h"
#include "costmodel/model/network.h"
#include "costmodel/model/network_fold.h"

/* Dimensions of a feature map: samples, channels, rows, columns. */
enum soma_dim { SOMA_B, SOMA_K, SOMA_H, SOMA_W, SOMA_N_DIM };

/* One source of a layer. A source that fills two operands of the same kind is one. */
struct soma_operand {
    int32_t source; /* layer, or -1 - i for network input i */
    uint32_t layer; /* that reads it */
    bool second;    /* the second operand of a matmul: every tile needs all of it, for its samples */
    bool flattened; /* a fully connected layer reads a whole feature map as its channels */
    /* What the source gives per sample; of a second operand the rows that are read, of the indices of an
     * embedding with the rows of the table that they name behind them, which the DRAM gathers. */
    uint32_t k, h, w;
    /* The channels of it that the layer reads at all, so many from this one on: all, but of a part of a layer
     * (costmodel/model/network_cut.h). */
    uint32_t first_k, n_k;
    /* Per dimension of the source: the dimension of the layer's output whose range decides what a tile needs
     * of it; SOMA_N_DIM: none, a tile needs all. For the default rules. */
    uint8_t from[SOMA_N_DIM];
};

struct soma_graph {
    const struct network *network; /* borrowed */
    uint32_t n_operand;
    /* (n_operand) by layer; data in file order, then the second operand */
    const struct soma_operand *operand;
    const uint32_t *first_operand; /* (n_layer + 1) */
    const uint32_t *use;         /* operands by their producing layer; those of network inputs are left out */
    const uint32_t *first_use;   /* (n_layer + 1) into use */
    const uint64_t *weight_word; /* (n_layer) 0: none, as of a table of rows */
    /* (n_layer) fully connected, behind a pool, a convolution or another such layer */
    const bool *classifier;
    const uint32_t *n_part; /* (n_layer) parts of the layer that it is one of; NULL: none is in parts */
    uint32_t word_bit;      /* of an element: 8, until the caller sets the machine's */
    uint32_t streams;       /* bit r set: tensors of role r go past the buffer; 0, until the caller sets it */
    /* `network` is the folded one of this: no layer group has layers of several segments. NULL: it is not */
    const struct network_fold *fold;
};

/* Bytes of so many elements that are one tensor. */
static inline uint64_t soma_byte(const struct soma_graph *graph, uint64_t n_element)
{
    return fused_words_byte(n_element, graph->word_bit);
}

static inline bool soma_streams(const struct soma_graph *graph, enum tensor_role role)
{
    return graph->streams >> (unsigned)role & 1u;
}

/* As what its reader takes the operand in. */
static inline enum tensor_role soma_operand_role(const struct soma_operand *operand)
{
    return operand->second ? TENSOR_WEIGHT : TENSOR_INPUT;
}

/* Has the notation a place for all of the network, by the published program's rules (`compat`) or the default
 * ones? DSE_BAD_USAGE names the layer and the reason: a list (network_as_graph); an embedding whose indices a
 * layer makes; compat: any embedding, transposed convolutions other than layer_is_subpixel. */
DSE_MUST_CHECK enum dse_status soma_graph_check(const struct network *network, bool compat,
                                                struct dse_error *err);

/* Memory from `arena`. Errors of soma_graph_check for the default rules; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status soma_graph_init(const struct network *network, struct arena *arena,
                                               struct soma_graph *graph, struct dse_error *err);

#endif
