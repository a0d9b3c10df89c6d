/* The operators that are read, by name; all others are refused. Versions differ in where parameters stand
 * (attributes in old ones, operands in new ones), which the rules look for in both places.
 * (https://github.com/onnx/onnx/blob/main/docs/Operators.md) */
#include "costmodel/onnx/onnx_operators.h"

#include <string.h>

#define EACH(NAME, FUNCTION)                                                                                 \
    {                                                                                                        \
        .name = (NAME), .shape = onnx_shape_same, .kind = ONNX_EACH, .function = (FUNCTION)                  \
    }
#define PAIR(NAME, FUNCTION)                                                                                 \
    {                                                                                                        \
        .name = (NAME), .shape = onnx_shape_pair, .kind = ONNX_PAIR, .function = (FUNCTION)                  \
    }
#define RULE(NAME, SHAPE, KIND)                                                                              \
    {                                                                                                        \
        .name = (NAME), .shape = (SHAPE), .kind = (KIND)                                                     \
    }
#define WORK(NAME, SHAPE, KIND, SECOND)                                                                      \
    {                                                                                                        \
        .name = (NAME), .shape = (SHAPE), .kind = (KIND), .second = (SECOND)                                 \
    }
#define MICROSOFT(NAME, SHAPE, KIND, SECOND)                                                                 \
    {                                                                                                        \
        .name = (NAME), .shape = (SHAPE), .kind = (KIND), .second = (SECOND), .microsoft = true              \
    }

/* By name. */
static const struct onnx_operator table[] = {
    EACH("Abs", F_ABS),
    EACH("Acos", F_NONE),
    PAIR("Add", F_ADD),
    PAIR("And", F_AND),
    RULE("ArgMax", onnx_shape_arg, ONNX_MOVES),
    RULE("ArgMin", onnx_shape_arg, ONNX_MOVES),
    EACH("Atan", F_NONE),
    RULE("AveragePool", onnx_shape_pool, ONNX_POOL),
    RULE("BatchNormalization", onnx_shape_same, ONNX_EACH),
    EACH("Cast", F_CAST),
    EACH("CastLike", F_NONE),
    EACH("Ceil", F_CEIL),
    EACH("Celu", F_NONE),
    EACH("Clip", F_NONE),
    RULE("Concat", onnx_shape_concat, ONNX_CONCAT),
    RULE("Constant", onnx_shape_constant, ONNX_SIZE),
    RULE("ConstantOfShape", onnx_shape_constant_of_shape, ONNX_SIZE),
    WORK("Conv", onnx_shape_conv, ONNX_CONV, 1),
    WORK("ConvInteger", onnx_shape_conv, ONNX_CONV, 1),
    WORK("ConvTranspose", onnx_shape_conv_transpose, ONNX_CONV_TRANSPOSE, 1),
    EACH("Cos", F_NONE),
    EACH("CumSum", F_NONE),
    RULE("DepthToSpace", onnx_shape_depth_to_space, ONNX_MOVES),
    EACH("DequantizeLinear", F_NONE),
    PAIR("Div", F_DIV),
    EACH("Dropout", F_SAME),
    RULE("DynamicQuantizeLinear", onnx_shape_quantize, ONNX_EACH),
    WORK("Einsum", onnx_shape_einsum, ONNX_PRODUCT, 1),
    EACH("Elu", F_NONE),
    PAIR("Equal", F_EQUAL),
    EACH("Erf", F_NONE),
    EACH("Exp", F_NONE),
    RULE("Expand", onnx_shape_expand, ONNX_EXPAND),
    RULE("EyeLike", onnx_shape_same, ONNX_SIZE),
    MICROSOFT("FastGelu", onnx_shape_same, ONNX_ACTIVATION, 0),
    RULE("Flatten", onnx_shape_flatten, ONNX_RESHAPE),
    EACH("Floor", F_FLOOR),
    WORK("GRU", onnx_shape_recurrent, ONNX_RECURRENT, 1),
    RULE("Gather", onnx_shape_gather, ONNX_GATHER),
    RULE("GatherElements", onnx_shape_gather_elements, ONNX_MOVES),
    RULE("GatherND", onnx_shape_gather_nd, ONNX_MOVES),
    RULE("Gelu", onnx_shape_same, ONNX_ACTIVATION),
    MICROSOFT("Gelu", onnx_shape_same, ONNX_ACTIVATION, 0),
    WORK("Gemm", onnx_shape_gemm, ONNX_PRODUCT, 1),
    RULE("GlobalAveragePool", onnx_shape_global_pool, ONNX_POOL),
    RULE("GlobalLpPool", onnx_shape_global_pool, ONNX_POOL),
    RULE("GlobalMaxPool", onnx_shape_global_pool, ONNX_POOL),
    PAIR("Greater", F_GREATER),
    PAIR("GreaterOrEqual", F_GREATER_EQUAL),
    RULE("GroupNormalization", onnx_shape_same, ONNX_NORM),
    EACH("HardSigmoid", F_NONE),
    RULE("HardSwish", onnx_shape_same, ONNX_ACTIVATION),
    EACH("Identity", F_SAME),
    RULE("InstanceNormalization", onnx_shape_same, ONNX_NORM),
    EACH("IsNaN", F_NONE),
    RULE("LRN", onnx_shape_same, ONNX_NORM),
    WORK("LSTM", onnx_shape_recurrent, ONNX_RECURRENT, 1),
    RULE("LayerNormalization", onnx_shape_same_norm, ONNX_NORM),
    EACH("LeakyRelu", F_NONE),
    PAIR("Less", F_LESS),
    PAIR("LessOrEqual", F_LESS_EQUAL),
    EACH("Log", F_NONE),
    RULE("LogSoftmax", onnx_shape_same, ONNX_SOFTMAX),
    RULE("LpNormalization", onnx_shape_same, ONNX_NORM),
    RULE("LpPool", onnx_shape_pool, ONNX_POOL),
    WORK("MatMul", onnx_shape_matmul, ONNX_PRODUCT, 1),
    WORK("MatMulInteger", onnx_shape_matmul, ONNX_PRODUCT, 1),
    PAIR("Max", F_MAX),
    RULE("MaxPool", onnx_shape_pool, ONNX_POOL),
    PAIR("Mean", F_NONE),
    RULE("MeanVarianceNormalization", onnx_shape_same, ONNX_NORM),
    PAIR("Min", F_MIN),
    RULE("Mish", onnx_shape_same, ONNX_ACTIVATION),
    PAIR("Mod", F_MOD),
    PAIR("Mul", F_MUL),
    EACH("Neg", F_NEG),
    EACH("Not", F_NOT),
    RULE("OneHot", onnx_shape_one_hot, ONNX_MOVES),
    PAIR("Or", F_OR),
    EACH("PRelu", F_NONE),
    RULE("Pad", onnx_shape_pad, ONNX_PAD),
    PAIR("Pow", F_POW),
    MICROSOFT("QLinearAdd", onnx_shape_pair, ONNX_PAIR, 3),
    WORK("QLinearConv", onnx_shape_conv, ONNX_CONV, 3),
    WORK("QLinearMatMul", onnx_shape_matmul, ONNX_PRODUCT, 3),
    MICROSOFT("QLinearMul", onnx_shape_pair, ONNX_PAIR, 3),
    EACH("QuantizeLinear", F_NONE),
    MICROSOFT("QuickGelu", onnx_shape_same, ONNX_ACTIVATION, 0),
    RULE("RMSNormalization", onnx_shape_same_norm, ONNX_NORM),
    WORK("RNN", onnx_shape_recurrent, ONNX_RECURRENT, 1),
    RULE("Range", onnx_shape_range, ONNX_SIZE),
    EACH("Reciprocal", F_RECIPROCAL),
    RULE("ReduceL1", onnx_shape_reduce, ONNX_REDUCE),
    RULE("ReduceL2", onnx_shape_reduce, ONNX_REDUCE),
    RULE("ReduceLogSumExp", onnx_shape_reduce, ONNX_REDUCE),
    RULE("ReduceMax", onnx_shape_reduce, ONNX_REDUCE),
    RULE("ReduceMean", onnx_shape_reduce, ONNX_REDUCE),
    RULE("ReduceMin", onnx_shape_reduce, ONNX_REDUCE),
    RULE("ReduceProd", onnx_shape_reduce, ONNX_REDUCE),
    RULE("ReduceSum", onnx_shape_reduce, ONNX_REDUCE),
    RULE("ReduceSumSquare", onnx_shape_reduce, ONNX_REDUCE),
    EACH("Relu", F_NONE),
    RULE("Reshape", onnx_shape_reshape, ONNX_RESHAPE),
    RULE("Resize", onnx_shape_resize, ONNX_RESIZE),
    EACH("Round", F_ROUND),
    RULE("ScatterElements", onnx_shape_scatter_nd, ONNX_MOVES),
    RULE("ScatterND", onnx_shape_scatter_nd, ONNX_MOVES),
    EACH("Selu", F_NONE),
    RULE("Shape", onnx_shape_shape, ONNX_SIZE),
    EACH("Sigmoid", F_NONE),
    EACH("Sign", F_SIGN),
    EACH("Sin", F_NONE),
    RULE("Size", onnx_shape_size, ONNX_SIZE),
    RULE("Slice", onnx_shape_slice, ONNX_SLICE),
    RULE("Softmax", onnx_shape_same, ONNX_SOFTMAX),
    EACH("Softplus", F_NONE),
    EACH("Softsign", F_NONE),
    RULE("SpaceToDepth", onnx_shape_space_to_depth, ONNX_MOVES),
    RULE("Split", onnx_shape_split, ONNX_SPLIT),
    EACH("Sqrt", F_SQRT),
    RULE("Squeeze", onnx_shape_squeeze, ONNX_RESHAPE),
    PAIR("Sub", F_SUB),
    PAIR("Sum", F_NONE),
    RULE("Swish", onnx_shape_same, ONNX_ACTIVATION),
    EACH("Tan", F_NONE),
    EACH("Tanh", F_NONE),
    EACH("ThresholdedRelu", F_NONE),
    RULE("Tile", onnx_shape_tile, ONNX_EXPAND),
    RULE("TopK", onnx_shape_top_k, ONNX_MOVES),
    RULE("Transpose", onnx_shape_transpose, ONNX_TRANSPOSE),
    EACH("Trilu", F_NONE),
    RULE("Unsqueeze", onnx_shape_unsqueeze, ONNX_RESHAPE),
    RULE("Upsample", onnx_shape_resize, ONNX_RESIZE),
    PAIR("Where", F_WHERE),
    PAIR("Xor", F_XOR),
};
enum { N_OPERATOR = sizeof table / sizeof table[0] };

const struct onnx_operator *onnx_operator_find(const char *domain, const char *name)
{
    const bool microsoft = strcmp(domain, "com.microsoft") == 0;
    for (size_t i = 0; i < N_OPERATOR && (microsoft || !*domain); i++)
        if (table[i].microsoft == microsoft && strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

bool onnx_type_is_whole(int32_t type)
{
    return (type >= ONNX__TENSOR_PROTO__DATA_TYPE__UINT8 && type <= ONNX__TENSOR_PROTO__DATA_TYPE__INT64) ||
           type == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL || type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT32 ||
           type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT64;
}
