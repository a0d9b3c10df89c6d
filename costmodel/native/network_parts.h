/* What the parts of the network reader share: network_read.c (the file), network_layer.c (one layer),
 * network_einsum.c (explicit loop nests), network_problems.c (loop nests in files of their own),
 * network_order.c and network_check.c (shapes). Nobody else includes this. */
#ifndef COSTMODEL_NATIVE_NETWORK_PARTS_H
#define COSTMODEL_NATIVE_NETWORK_PARTS_H

#include "base/name_table.h"
#include "base/yaml.h"
#include "costmodel/model/network.h"
#include "costmodel/native/network_native.h"

struct network_reader {
    const struct yaml_doc *doc;
    const struct network_problems *problems;
    struct network *net;
    struct layer *layer;      /* (net->n_layer) the network's layers while they may still be written */
    const struct ynode *list; /* the sequence of layers: item i is layer i */
    struct name_table name;   /* layers by number; network input i as n_layer + i */
    bool *bad;                /* (net->n_layer) with doc->faults: something is wrong in the layer */
    bool is_unnamed;          /* one has no name that others could refer to */
    bool has_bad_input;
};

/* Fill `layer->einsum` from keys dims and tensors. */
DSE_MUST_CHECK enum dse_status network_read_einsum(struct network_reader *reader, const struct ynode *node,
                                                   struct layer *layer, struct dse_error *err);

/* Fill `layer` from an entry of `problems`. */
DSE_MUST_CHECK enum dse_status network_read_problem(struct network_reader *reader, const struct ynode *node,
                                                    struct layer *layer, struct dse_error *err);

/* A name of the network, a layer or an input: letters, digits and a few signs, so that it can be a column or
 * a key. */
DSE_MUST_CHECK enum dse_status network_read_name(struct network_reader *reader, const struct ynode *node,
                                                 const char *what, const char **name, struct dse_error *err);

/* The key is there; where one like it was noted as unknown, that is enough. */
DSE_MUST_CHECK enum dse_status network_require(const struct network_reader *reader, const struct ynode *node,
                                               const char *what, const char *key, struct dse_error *err);

/* A dimension under `key` of `parent`, which messages call `owner`; `missing` when it is not there. */
DSE_MUST_CHECK enum dse_status network_read_dim(const struct network_reader *reader,
                                                const struct ynode *parent, const char *owner,
                                                const char *key, uint32_t missing, uint32_t *value,
                                                struct dse_error *err);

/* Everything of a layer but its producers and derived sizes. */
DSE_MUST_CHECK enum dse_status network_read_layer(struct network_reader *reader, const struct ynode *node,
                                                  struct layer *layer, struct dse_error *err);

/* An error that blames the layer's line. */
enum dse_status network_fail_layer(const struct network_reader *reader, const struct layer *layer,
                                   struct dse_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Fill `net->order`; a cycle is an error that names it. */
DSE_MUST_CHECK enum dse_status network_sort(struct network_reader *reader, struct dse_error *err);

/* Derive H and W, and check channels, sizes and counts of every layer, in net->order when there is
 * one. */
DSE_MUST_CHECK enum dse_status network_check_shapes(struct network_reader *reader, struct dse_error *err);

#endif
