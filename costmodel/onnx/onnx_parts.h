/* What the parts of the ONNX reader share: a model whose tensors are numbered, with shapes and, where they
 * are followed, values. Everything lies in the model's arena. */
#ifndef COSTMODEL_ONNX_ONNX_PARTS_H
#define COSTMODEL_ONNX_ONNX_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/name_table.h"
#include "base/status.h"
#include "costmodel/onnx/onnx.h"
#include "onnx.pb-c.h"

#define ONNX_EXTENT_MAX ((int64_t)1 << 40) /* of any dimension */
enum {
    ONNX_RANK_MAX = 10,
    ONNX_NODE_MAX = 200000,
    ONNX_VALUE_MAX = 4096,      /* numbers of a tensor that are followed */
    ONNX_VALUE_TOTAL = 4 << 20, /* of all tensors; behind that none are */
    ONNX_OUTPUT_MAX = 64,       /* of a node */
    ONNX_SET_MAX = 64,          /* operator sets that a model names */
    ONNX_FREE_MAX = 64          /* free dimensions by name */
};

/* Exact for whole numbers of 64 bits. */
typedef long double onnx_number;

struct onnx_tensor {
    const char *name;
    int32_t producer; /* node that makes it; -1: none */
    int32_t input;    /* network input that it is; -1: none */
    bool has_shape;
    bool is_constant; /* follows from weights and shapes alone */
    bool is_whole;    /* of whole numbers */
    bool is_ignored;  /* made by an operator that is taken as free */
    bool is_steps;    /* read by a recurrent layer, steps first */
    int rank;
    int64_t dim[ONNX_RANK_MAX];       /* (rank) */
    const onnx_number *value;         /* all numbers of it; NULL: not followed */
    const Onnx__ValueInfoProto *info; /* what the model says of it, or NULL */
};

struct onnx_operator;

struct onnx_node {
    const Onnx__NodeProto *proto;
    const struct onnx_operator *op; /* NULL: unknown */
    uint32_t n_input, n_output;
    const int32_t *input, *output; /* tensors; -1: left out */
    int version;                   /* of its operator set */
    /* what became of it */
    bool is_read, is_move, is_refused;
    uint64_t macs; /* per sample, saturating */
};

/* An activation that comes from outside. */
struct onnx_input {
    int32_t tensor;
    bool has_batch; /* its first dimension is the batch */
};

/* A free dimension with its value. */
struct onnx_free {
    const char *name;   /* fit for a parameter */
    const char *symbol; /* in the file */
    int64_t value;      /* 0: none yet */
};

struct onnx_model {
    const char *path; /* for messages */
    struct arena *arena;
    const Onnx__ModelProto *proto;
    const Onnx__GraphProto *graph;
    const struct onnx_options *options;
    struct name_table name;     /* of tensors; owned */
    struct onnx_tensor *tensor; /* (n_tensor) */
    size_t n_tensor, n_value;   /* n_value: numbers followed */
    struct onnx_node *node;     /* (n_node) producers first */
    uint32_t n_node;
    struct onnx_input *input; /* (n_input) activations */
    uint32_t n_input;
    struct onnx_free free[ONNX_FREE_MAX];
    uint32_t n_free;
    int64_t batch; /* samples in the file */
};

/* ---- onnx_file.c ---- */

/* The model of a text of onnx_pack. */
DSE_MUST_CHECK enum dse_status onnx_unpack(const char *name, const char *text, size_t length,
                                           struct arena *arena, uint8_t **bytes, size_t *n_byte,
                                           struct dse_error *err);

/* ---- onnx_model.c ---- */

/* Read a stripped model: number its tensors, order its nodes, find the inputs that are activations. Free
 * dimensions are not looked at yet. */
DSE_MUST_CHECK enum dse_status onnx_model_read(struct onnx_model *model, const uint8_t *bytes, size_t n_byte,
                                               struct dse_error *err);
void onnx_model_free(struct onnx_model *model);

/* Shapes of the inputs, with values for free dimensions from the options. DSE_BAD_INPUT: some are missing. */
DSE_MUST_CHECK enum dse_status onnx_model_inputs(struct onnx_model *model, struct dse_error *err);

/* A name of a node for people: its own, or operator and number. */
const char *onnx_node_name(const struct onnx_model *model, const struct onnx_node *node, char *buffer,
                           size_t size);

/* An error of a node. */
enum dse_status onnx_fail(const struct onnx_model *model, const struct onnx_node *node, struct dse_error *err,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- attributes and operands: onnx_node.c ---- */

const struct onnx_tensor *onnx_in(const struct onnx_model *model, const struct onnx_node *node, uint32_t i);
struct onnx_tensor *onnx_out(struct onnx_model *model, const struct onnx_node *node, uint32_t i);
int64_t onnx_int(const struct onnx_node *node, const char *name, int64_t missing);
/* "" when it is not there. */
const char *onnx_text(const struct onnx_model *model, const struct onnx_node *node, const char *name);
const Onnx__AttributeProto *onnx_attribute(const struct onnx_node *node, const char *name);

/* A list of at most ONNX_RANK_MAX 2 numbers: the attribute, or operand i (-1: none) whose values are
 * known. n is SIZE_MAX when there is neither. DSE_BAD_INPUT: the operand is not known, too many. */
struct onnx_list {
    size_t n;
    int64_t at[2 * ONNX_RANK_MAX];
};
DSE_MUST_CHECK enum dse_status onnx_list_of(const struct onnx_model *model, const struct onnx_node *node,
                                            const char *name, int operand, struct onnx_list *list,
                                            struct dse_error *err);
static inline bool onnx_has(const struct onnx_list *list)
{
    return list->n != SIZE_MAX;
}

/* 0 .. rank - 1 from -rank .. rank - 1. */
DSE_MUST_CHECK enum dse_status onnx_axis(const struct onnx_model *model, const struct onnx_node *node,
                                         int64_t axis, int rank, int *out, struct dse_error *err);

/* ---- shapes ---- */

/* Number of elements; saturates at INT64_MAX. */
int64_t onnx_elements(const struct onnx_tensor *tensor);
void onnx_set_shape(struct onnx_tensor *tensor, int rank, const int64_t *dim);
/* Room for the values of a tensor whose shape is set; NULL when it is too large to follow. */
onnx_number *onnx_value_room(struct onnx_model *model, struct onnx_tensor *tensor);
/* The numbers of a tensor of the file, as far as they are there. */
void onnx_tensor_values(struct onnx_model *model, const Onnx__TensorProto *proto, struct onnx_tensor *out);

/* Shapes and values of all nodes, checked against value_info. */
DSE_MUST_CHECK enum dse_status onnx_infer(struct onnx_model *model, struct dse_error *err);

#endif
