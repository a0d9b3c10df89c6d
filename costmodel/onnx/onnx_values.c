/* Numbers that sizes are computed from: what an exporter writes as Shape, Gather, Add, Div, Where ... is
 * followed element by element, as long as all operands are known. */
#include <math.h>

#include "costmodel/onnx/onnx_operators.h"

static onnx_number whole_division(onnx_number a, onnx_number b)
{
    if (!(fabsl(a) < (onnx_number)INT64_MAX && fabsl(b) < (onnx_number)INT64_MAX))
        return NAN;
    const int64_t x = (int64_t)a, y = (int64_t)b;
    return y == 0 || (y == -1 && x == INT64_MIN) ? NAN : (onnx_number)(x / y);
}

/* As Python has it, or with fmod as C has. */
static onnx_number modulo(onnx_number a, onnx_number b, bool as_c)
{
    const onnx_number rest = b == 0 ? (onnx_number)NAN : fmodl(a, b);
    return !as_c && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static onnx_number one(const struct onnx_node *node, bool whole, const onnx_number *x)
{
    switch ((enum onnx_function)node->op->function) {
    case F_SAME:
        return x[0];
    case F_ADD:
        return x[0] + x[1];
    case F_SUB:
        return x[0] - x[1];
    case F_MUL:
        return x[0] * x[1];
    case F_DIV:
        return whole ? whole_division(x[0], x[1]) : x[1] == 0 ? (onnx_number)NAN : x[0] / x[1];
    case F_MOD:
        return modulo(x[0], x[1], onnx_int(node, "fmod", 0) != 0);
    case F_MIN:
        return fminl(x[0], x[1]);
    case F_MAX:
        return fmaxl(x[0], x[1]);
    case F_POW:
        return powl(x[0], x[1]);
    case F_EQUAL:
        return x[0] == x[1];
    case F_LESS:
        return x[0] < x[1];
    case F_LESS_EQUAL:
        return x[0] <= x[1];
    case F_GREATER:
        return x[0] > x[1];
    case F_GREATER_EQUAL:
        return x[0] >= x[1];
    case F_AND:
        return x[0] != 0 && x[1] != 0;
    case F_OR:
        return x[0] != 0 || x[1] != 0;
    case F_XOR:
        return (x[0] != 0) != (x[1] != 0);
    case F_NOT:
        return x[0] == 0;
    case F_WHERE:
        return x[0] != 0 ? x[1] : x[2];
    case F_NEG:
        return -x[0];
    case F_ABS:
        return fabsl(x[0]);
    case F_FLOOR:
        return floorl(x[0]);
    case F_CEIL:
        return ceill(x[0]);
    case F_ROUND:
        return roundl(x[0]);
    case F_SQRT:
        return sqrtl(x[0]);
    case F_RECIPROCAL:
        return x[0] == 0 ? (onnx_number)NAN : 1 / x[0];
    case F_SIGN:
        return x[0] > 0 ? 1 : x[0] < 0 ? -1 : 0;
    case F_CAST:
        return whole ? truncl(x[0]) : x[0];
    case F_NONE:
        break;
    }
    return NAN;
}

static int operands_of(const struct onnx_node *node)
{
    const int function = node->op->function;
    return function == F_NONE    ? 0
           : function == F_WHERE ? 3
           : (function >= F_ADD && function <= F_XOR)
               ? (node->n_input == 2 ? 2 : 0) /* sums of one or of three are not followed */
               : 1;
}

/* Where element i of the result is in an operand that is broadcast to it. */
static size_t place_in(const struct onnx_tensor *out, const struct onnx_tensor *in, size_t i)
{
    size_t place = 0, step = 1;
    for (int d = 1; d <= in->rank; d++) {
        const size_t n = (size_t)out->dim[out->rank - d];
        if (in->dim[in->rank - d] > 1)
            place += i % n * step;
        step *= (size_t)in->dim[in->rank - d];
        i /= n;
    }
    return place;
}

void onnx_compute(struct onnx_model *model, const struct onnx_node *node, struct onnx_tensor *out)
{
    const int n_operand = operands_of(node);
    const struct onnx_tensor *in[3] = {0};
    const int function = node->op->function;
    for (int k = 0; k < n_operand; k++) {
        in[k] = onnx_in(model, node, (uint32_t)k);
        if (!in[k] || !in[k]->value || in[k]->rank > out->rank)
            return;
    }
    if (n_operand == 0)
        return;
    if (function == F_CAST)
        out->is_whole = onnx_type_is_whole((int32_t)onnx_int(node, "to", 0));
    else if (function >= F_EQUAL && function <= F_NOT && function != F_WHERE)
        out->is_whole = true;
    else
        out->is_whole = in[function == F_WHERE ? 1 : 0]->is_whole;
    onnx_number *value = onnx_value_room(model, out);
    const size_t n = value ? (size_t)onnx_elements(out) : 0;
    for (size_t i = 0; i < n; i++) {
        onnx_number x[3] = {0};
        for (int k = 0; k < n_operand; k++)
            x[k] = in[k]->value[place_in(out, in[k], i)];
        value[i] = one(node, out->is_whole, x);
        if (!isfinite(value[i]) || (out->is_whole && fabsl(value[i]) > (onnx_number)INT64_MAX)) {
            out->value = NULL; /* no size comes from it */
            return;
        }
    }
}
