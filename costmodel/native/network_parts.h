/* What the parts of the network reader share: network_read.c (keys and values), network_einsum.c (explicit
 * loop nests) and network_check.c (producers, order, shapes). Nobody else includes this. */
#ifndef COSTMODEL_NATIVE_NETWORK_PARTS_H
#define COSTMODEL_NATIVE_NETWORK_PARTS_H

#include "base/name_table.h"
#include "base/yaml.h"
#include "costmodel/model/network.h"

struct network_reader {
    const struct yaml_doc *doc;
    struct network *net;
    struct layer *layer;      /* (net->n_layer) the network's layers while they may still be written */
    const struct ynode *list; /* the sequence of layers: item i is layer i */
    struct name_table name;   /* layers by number; network input i as n_layer + i */
};

/* Fill `layer->einsum` from keys dims and tensors. */
DSE_MUST_CHECK enum dse_status network_read_einsum(struct network_reader *reader, const struct ynode *node,
                                                   struct layer *layer, struct dse_error *err);

/* Resolve from and weights_from of every layer of a graph to producer numbers. */
DSE_MUST_CHECK enum dse_status network_link(struct network_reader *reader, struct dse_error *err);

/* Fill `net->order`; a cycle is an error that names it. */
DSE_MUST_CHECK enum dse_status network_sort(struct network_reader *reader, struct dse_error *err);

/* Derive H and W, and check channels, sizes and counts of every layer. Needs net->order. */
DSE_MUST_CHECK enum dse_status network_check_shapes(struct network_reader *reader, struct dse_error *err);

#endif
