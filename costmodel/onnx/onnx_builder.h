/* A graph in the making: the view that each tensor is, and the layers so far. */
#ifndef COSTMODEL_ONNX_ONNX_BUILDER_H
#define COSTMODEL_ONNX_ONNX_BUILDER_H

#include "costmodel/onnx/onnx_view.h"

struct onnx_builder {
    struct onnx_model *model;
    struct onnx_network *net;
    struct onnx_view **view; /* (n_tensor) NULL: a constant, or not made yet */
};

/* What native types cannot say: the reason, of which the first is kept. Returns false. */
bool onnx_stuck(struct onnx_builder *b, const struct onnx_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The view of operand i, NULL for a constant. A copy in the arena: it may be changed. NULL with `*failed`
 * set: no memory. */
struct onnx_view *onnx_operand(struct onnx_builder *b, const struct onnx_node *node, uint32_t i);

/* Give result i of a node its view. */
void onnx_result(struct onnx_builder *b, const struct onnx_node *node, uint32_t i, struct onnx_view *view);

/* A new feature map, of a new layer of `node` that reads `from` (NULL: nothing yet) and has its sizes C, P, Q
 * as k, p, q; NULL without memory. */
struct onnx_layer *onnx_make(struct onnx_builder *b, const struct onnx_node *node, enum layer_type type,
                             const struct onnx_view *from);
/* A feature that a layer makes: sizes k, p, q as the layer has them now. */
struct onnx_feature *onnx_feature_of(struct onnx_builder *b, const struct onnx_layer *layer);

/* A feature that is a function of that of `view`. */
struct onnx_feature *onnx_function_of(struct onnx_builder *b, const struct onnx_view *view,
                                      const struct onnx_node *node, enum feature_kind kind);

/* Make the view one of a plain feature, by a layer where it is a function of one; an open input gets
 * `channels` (bits of dimensions; 0: by what is usual for its rank). False: stuck. */
bool onnx_ready(struct onnx_builder *b, const struct onnx_node *node, struct onnx_view *view,
                unsigned channels);

/* Which part of its feature's channels: from .. to - 1 of the only or first atom of dimension d. The view
 * becomes that part's. */
bool onnx_take_part(struct onnx_builder *b, const struct onnx_node *node, struct onnx_view *view, int d,
                    int64_t from, int64_t to);

/* Enough copies of every element of a feature of one row and column, for a result of `size`. */
bool onnx_spread(struct onnx_builder *b, const struct onnx_node *node, struct onnx_view *view,
                 const int64_t *size);

/* ---- rules; false: stuck ---- */
typedef bool onnx_say(struct onnx_builder *b, const struct onnx_node *node);
/* onnx_say_work.c */
onnx_say onnx_say_window, onnx_say_product, onnx_say_softmax, onnx_say_resize, onnx_say_pad, onnx_say_concat,
    onnx_say_global_pool;
/* onnx_say_move.c */
onnx_say onnx_say_reshape, onnx_say_transpose, onnx_say_slice, onnx_say_split, onnx_say_gather,
    onnx_say_expand, onnx_say_each, onnx_say_pair, onnx_say_reduce, onnx_say_norm, onnx_say_activation;

#endif
