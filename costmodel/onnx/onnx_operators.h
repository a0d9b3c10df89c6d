/* The table of operators: how the shape of a result follows, how its numbers follow where they are known, and
 * what it becomes in a network. */
#ifndef COSTMODEL_ONNX_ONNX_OPERATORS_H
#define COSTMODEL_ONNX_ONNX_OPERATORS_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/onnx/onnx_parts.h"

/* What a node becomes. */
enum onnx_kind {
    ONNX_SIZE,       /* sizes and constants: nothing */
    ONNX_EACH,       /* a function of each element: folded into the layer in front */
    ONNX_PAIR,       /* a function of several operands, element by element */
    ONNX_ACTIVATION, /* layers of the types of these names */
    ONNX_NORM,
    ONNX_SOFTMAX,
    ONNX_POOL,
    ONNX_REDUCE,
    ONNX_RESIZE,
    ONNX_CONCAT,
    ONNX_RESHAPE, /* the same elements in the same order */
    ONNX_TRANSPOSE,
    ONNX_SLICE,
    ONNX_SPLIT,
    ONNX_GATHER,
    ONNX_EXPAND,
    ONNX_PAD,
    ONNX_CONV,
    ONNX_CONV_TRANSPOSE,
    ONNX_PRODUCT, /* MatMul, Gemm, Einsum and their like: linear or matmul */
    ONNX_RECURRENT,
    ONNX_MOVES, /* moves data in a way that no layer says */
    ONNX_REFUSED
};

typedef enum dse_status onnx_rule(struct onnx_model *model, const struct onnx_node *node,
                                  struct dse_error *err);

/* How numbers of a result follow from those of operands, one by one. */
enum onnx_function {
    F_NONE,
    F_SAME,
    F_ADD,
    F_SUB,
    F_MUL,
    F_DIV,
    F_MOD,
    F_MIN,
    F_MAX,
    F_POW,
    F_EQUAL,
    F_LESS,
    F_LESS_EQUAL,
    F_GREATER,
    F_GREATER_EQUAL,
    F_AND,
    F_OR,
    F_XOR,
    F_NOT,
    F_WHERE,
    F_NEG,
    F_ABS,
    F_FLOOR,
    F_CEIL,
    F_ROUND,
    F_SQRT,
    F_RECIPROCAL,
    F_SIGN,
    F_CAST
};

struct onnx_operator {
    const char *name;
    onnx_rule *shape;
    uint8_t kind;     /* enum onnx_kind */
    uint8_t function; /* enum onnx_function */
    /* Which operands are tensors that it works on: EACH and such the first, in PRODUCT and CONV by the
     * rules. Quantised forms have scales between them. */
    uint8_t second; /* place of the second operand of a PRODUCT, of the filter of a CONV */
    bool microsoft; /* of domain com.microsoft */
};

/* The operator of a domain ("" or "com.microsoft"), or NULL. */
const struct onnx_operator *onnx_operator_find(const char *domain, const char *name);

/* Whether a data type of ONNX holds whole numbers or truth values that sizes and indices may be. */
bool onnx_type_is_whole(int32_t type);

/* ---- rules: onnx_shapes.c ---- */
onnx_rule onnx_shape_same, onnx_shape_pair, onnx_shape_same_norm, onnx_shape_quantize;
/* onnx_shapes_move.c */
onnx_rule onnx_shape_reshape, onnx_shape_flatten, onnx_shape_transpose, onnx_shape_squeeze,
    onnx_shape_unsqueeze, onnx_shape_concat, onnx_shape_split, onnx_shape_slice, onnx_shape_gather,
    onnx_shape_gather_elements, onnx_shape_gather_nd, onnx_shape_expand, onnx_shape_tile, onnx_shape_pad,
    onnx_shape_depth_to_space, onnx_shape_space_to_depth;
/* onnx_shapes_size.c */
onnx_rule onnx_shape_shape, onnx_shape_size, onnx_shape_constant, onnx_shape_constant_of_shape,
    onnx_shape_range, onnx_shape_reduce, onnx_shape_arg, onnx_shape_top_k, onnx_shape_one_hot,
    onnx_shape_scatter_nd;
/* onnx_shapes_work.c */
onnx_rule onnx_shape_conv, onnx_shape_conv_transpose, onnx_shape_pool, onnx_shape_global_pool,
    onnx_shape_gemm, onnx_shape_matmul, onnx_shape_einsum, onnx_shape_recurrent, onnx_shape_resize;

/* The shape that several shapes broadcast to. DSE_BAD_INPUT. */
DSE_MUST_CHECK enum dse_status onnx_broadcast(const struct onnx_model *model, const struct onnx_node *node,
                                              const struct onnx_tensor *a, struct onnx_tensor *out,
                                              struct dse_error *err);

/* What a Slice takes of each dimension, and what a Pad adds in front of and behind each (first half, second
 * half of 2 rank numbers). */
struct onnx_slice {
    int64_t start[ONNX_RANK_MAX], step[ONNX_RANK_MAX], n[ONNX_RANK_MAX];
};
DSE_MUST_CHECK enum dse_status onnx_slice_of(const struct onnx_model *model, const struct onnx_node *node,
                                             struct onnx_slice *slice, struct dse_error *err);
DSE_MUST_CHECK enum dse_status onnx_pads_of(const struct onnx_model *model, const struct onnx_node *node,
                                            int64_t *pad, struct dse_error *err);

/* Numbers of the result of an element-wise operator, where those of all operands are known. */
void onnx_compute(struct onnx_model *model, const struct onnx_node *node, struct onnx_tensor *out);

/* ---- windows of convolutions and pools, vertical before horizontal ---- */
struct onnx_window {
    int n; /* 1 or 2 spatial dimensions; of one W is 1 */
    int64_t in[2], out[2], filter[2], stride[2], dilation[2], pad[4];
    int64_t channels, outputs, groups;
};
/* Of a Conv, ConvTranspose or pool whose operand has a shape. */
DSE_MUST_CHECK enum dse_status onnx_window_of(const struct onnx_model *model, const struct onnx_node *node,
                                              struct onnx_window *window, struct dse_error *err);

/* ---- products: which dimensions of the operands do what ---- */
enum onnx_role { ROLE_BATCH, ROLE_ROW, ROLE_INNER };
struct onnx_product {
    const struct onnx_tensor *a, *b; /* operands */
    uint8_t n_batch, n_row, n_column, n_inner;
    /* Dimensions of a, b and the result; -1: of extent 1, not there. By groups: batch (a, b, out), rows (a,
     * out), columns (b, out), inner (a, b). */
    int8_t batch[3][ONNX_RANK_MAX], row[2][ONNX_RANK_MAX], column[2][ONNX_RANK_MAX], inner[2][ONNX_RANK_MAX];
};
DSE_MUST_CHECK enum dse_status onnx_product_of(const struct onnx_model *model, const struct onnx_node *node,
                                               struct onnx_product *product, struct dse_error *err);

#endif
