/* Layers as they go into a native network file. */
#ifndef COSTMODEL_ONNX_ONNX_LAYERS_H
#define COSTMODEL_ONNX_ONNX_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/model/network.h"
#include "costmodel/onnx/onnx_operators.h"

enum { ONNX_PART_MAX = 64 };

/* Who produces: a layer, or network input -1 - layer; of a layer whose channels are read in parts, which. */
struct onnx_ref {
    int32_t layer, part; /* part -1: the whole */
};

/* Channels from * stride .. to * stride of every extent * stride: a share of the outputs of a layer. */
struct onnx_part {
    int64_t stride, extent, from, to;
};

struct onnx_layer {
    const struct onnx_node *node;
    const char *name;   /* set when it is written */
    const char *suffix; /* behind the node's name, or NULL */
    enum layer_type type;
    int64_t c, k, p, q, r, s, h, w, groups, count;
    int64_t stride[2], dilation[2], pad[4];
    char permute[4];
    uint32_t n_from;
    const struct onnx_ref *from; /* (n_from) */
    struct onnx_ref second;      /* of a matmul */
    bool is_read_whole;
    uint32_t n_part;
    struct onnx_part *part; /* (ONNX_PART_MAX) or NULL */
};

struct onnx_network {
    struct onnx_layer *layer; /* (n_layer) */
    uint32_t n_layer, capacity;
    struct onnx_shape_in {
        int64_t c, h, w;
        bool is_used;
    } * input; /* (model->n_input) */
    bool is_graph;
    char reason[300]; /* of a list */
};

/* A new layer of one element, or NULL (the model's arena has failed). */
struct onnx_layer *onnx_layer_new(struct onnx_model *model, struct onnx_network *net,
                                  const struct onnx_node *node, enum layer_type type);

/* ---- onnx_layers.c: what follows from shapes alone ---- */

/* The window's numbers in a layer of type conv, conv_transpose or pool. */
void onnx_layer_window(struct onnx_layer *layer, const struct onnx_window *window);

/* A list of the layers with multiply-accumulates, those of each node counted in it. */
DSE_MUST_CHECK enum dse_status onnx_list_layers(struct onnx_model *model, struct onnx_network *net,
                                                struct dse_error *err);

/* ---- onnx_graph.c: layers with their producers ---- */

/* As far as native types can say the model; else net->is_graph is false, with the reason. */
DSE_MUST_CHECK enum dse_status onnx_graph_layers(struct onnx_model *model, struct onnx_network *net,
                                                 struct dse_error *err);

/* ---- onnx_write.c ---- */
DSE_MUST_CHECK enum dse_status onnx_write(struct onnx_model *model, struct onnx_network *net,
                                          struct text_buffer *out, struct dse_error *err);

#endif
