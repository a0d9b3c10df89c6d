/* Sizes and multiply-accumulates of layers and networks (sums that stop at the largest number instead of
 * wrapping), and whether two layers are the same problem. */
#include "costmodel/model/network.h"

#include <string.h>

static const char *const layer_type_word[LAYER_TYPE_COUNT] = {
    [LAYER_CONV] = "conv",
    [LAYER_LINEAR] = "linear",
    [LAYER_MATMUL] = "matmul",
    [LAYER_POOL] = "pool",
    [LAYER_ADD] = "add",
    [LAYER_MUL] = "mul",
    [LAYER_CONCAT] = "concat",
    [LAYER_NORM] = "norm",
    [LAYER_SOFTMAX] = "softmax",
    [LAYER_ACTIVATION] = "activation",
    [LAYER_TRANSPOSE] = "transpose",
    [LAYER_EMBEDDING] = "embedding",
    [LAYER_EINSUM] = "einsum",
    [LAYER_CONV_TRANSPOSE] = "conv_transpose",
    [LAYER_UPSAMPLE] = "upsample",
    [LAYER_CROP] = "crop",
};

const char *layer_type_text(enum layer_type type)
{
    return (unsigned)type < LAYER_TYPE_COUNT ? layer_type_word[type] : "unknown";
}

void network_free(struct network *network)
{
    arena_free(&network->arena);
    memset(network, 0, sizeof(*network));
}

int network_find_layer(const struct network *network, const char *name)
{
    for (uint32_t i = 0; i < network->n_layer; i++)
        if (strcmp(network->layer[i].name, name) == 0)
            return (int)i;
    return -1;
}

bool layer_has_macs(const struct layer *layer)
{
    return layer->type == LAYER_CONV || layer->type == LAYER_LINEAR || layer->type == LAYER_MATMUL ||
           layer->type == LAYER_EINSUM || layer->type == LAYER_CONV_TRANSPOSE;
}

bool layer_is_subpixel(const struct layer *layer)
{
    uint64_t k = (uint64_t)layer->k * layer->stride[0] * layer->stride[1];
    return layer->type == LAYER_CONV_TRANSPOSE && layer->r % layer->stride[0] == 0 &&
           layer->s % layer->stride[1] == 0 && layer->dilation[0] == 1 && layer->dilation[1] == 1 &&
           k <= UINT32_MAX;
}

static uint64_t saturating_multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

uint32_t layer_operand_groups(const struct layer *layer)
{
    return layer->share ? layer->groups / layer->share : layer->groups;
}

/* Multiply-accumulates of one output position: K C/groups R S. */
static uint64_t macs_per_place(const struct layer *layer)
{
    return saturating_multiply((uint64_t)layer->k * (layer->c / layer->groups),
                               (uint64_t)layer->r * layer->s);
}

uint64_t layer_second_operand_words(const struct layer *layer)
{
    if (!layer_has_macs(layer) || layer->type == LAYER_EINSUM)
        return 0;
    return macs_per_place(layer) / (layer->share ? layer->share : 1);
}

uint64_t layer_macs(const struct layer *layer, uint32_t batch)
{
    if (!layer_has_macs(layer))
        return 0;
    if (layer->type == LAYER_EINSUM)
        return saturating_multiply(problem_macs(layer->einsum), batch);
    bool transposed = layer->type == LAYER_CONV_TRANSPOSE;
    uint64_t place = transposed ? (uint64_t)layer->h * layer->w : (uint64_t)layer->p * layer->q;
    return saturating_multiply(saturating_multiply(macs_per_place(layer), place), batch);
}

static uint64_t einsum_weight_words(const struct problem *problem)
{
    uint64_t words = 0;
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (problem->tensor[t].role == TENSOR_WEIGHT)
            words = saturating_add(words, problem_tensor_words(problem, t));
    return words;
}

uint64_t layer_weight_words(const struct layer *layer)
{
    switch (layer->type) {
    case LAYER_CONV:
    case LAYER_CONV_TRANSPOSE:
    case LAYER_LINEAR:
        return layer_second_operand_words(layer);
    case LAYER_EMBEDDING:
        return (uint64_t)layer->c * layer->k;
    case LAYER_EINSUM:
        return einsum_weight_words(layer->einsum);
    default:
        return 0;
    }
}

uint64_t network_macs(const struct network *network, uint32_t batch)
{
    uint64_t macs = 0;
    for (uint32_t i = 0; i < network->n_layer; i++)
        macs = saturating_add(
            macs, saturating_multiply(layer_macs(&network->layer[i], batch), network->layer[i].count));
    return macs;
}

uint64_t network_weight_words(const struct network *network)
{
    uint64_t words = 0;
    for (uint32_t i = 0; i < network->n_layer; i++)
        words = saturating_add(
            words, saturating_multiply(layer_weight_words(&network->layer[i]), network->layer[i].count));
    return words;
}

static bool same_rank(const struct tensor_rank *a, const struct tensor_rank *b)
{
    if (a->n_term != b->n_term)
        return false;
    for (uint32_t i = 0; i < a->n_term; i++)
        if (a->term[i].dim != b->term[i].dim || a->term[i].coefficient != b->term[i].coefficient)
            return false;
    return true;
}

static bool same_tensor(const struct tensor *a, const struct tensor *b)
{
    if (strcmp(a->name, b->name) != 0 || a->role != b->role || a->read_write != b->read_write ||
        a->n_rank != b->n_rank)
        return false;
    for (uint32_t r = 0; r < a->n_rank; r++)
        if (!same_rank(&a->rank[r], &b->rank[r]))
            return false;
    return true;
}

static bool same_einsum(const struct problem *a, const struct problem *b)
{
    if (a->n_dim != b->n_dim || a->n_tensor != b->n_tensor)
        return false;
    for (uint32_t d = 0; d < a->n_dim; d++)
        if (a->bound[d] != b->bound[d] || strcmp(a->dim_name[d], b->dim_name[d]) != 0)
            return false;
    for (uint32_t t = 0; t < a->n_tensor; t++)
        if (!same_tensor(&a->tensor[t], &b->tensor[t]))
            return false;
    return true;
}

uint32_t network_batch(const struct network *network)
{
    for (uint32_t i = 1; i < network->n_layer; i++)
        if (network->layer[i].batch != network->layer[0].batch)
            return 0;
    return network->n_layer > 0 && network->layer[0].batch ? network->layer[0].batch : 1;
}

bool layer_same_problem(const struct layer *a, const struct layer *b)
{
    if (!layer_has_macs(a) || !layer_has_macs(b) || a->batch != b->batch)
        return false;
    if (a->type == LAYER_EINSUM || b->type == LAYER_EINSUM)
        return a->type == b->type && same_einsum(a->einsum, b->einsum);
    bool transposed = a->type == LAYER_CONV_TRANSPOSE;
    if (transposed != (b->type == LAYER_CONV_TRANSPOSE) ||
        (transposed && (a->h != b->h || a->w != b->w || a->p != b->p || a->q != b->q)))
        return false;
    return (a->type == LAYER_MATMUL) == (b->type == LAYER_MATMUL) && a->c == b->c && a->k == b->k &&
           a->p == b->p && a->q == b->q && a->r == b->r && a->s == b->s && a->groups == b->groups &&
           layer_operand_groups(a) == layer_operand_groups(b) && a->stride[0] == b->stride[0] &&
           a->stride[1] == b->stride[1] && a->dilation[0] == b->dilation[0] &&
           a->dilation[1] == b->dilation[1];
}

/* Of joined networks several may have a parameter of one name, with one value where it is set. */
static bool is_said(const struct network *network, uint32_t i)
{
    bool said = network->parameter[i].is_default;
    for (uint32_t k = 0; k < i && !said; k++)
        said = !network->parameter[k].is_default &&
               strcmp(network->parameter[k].name, network->parameter[i].name) == 0;
    return said;
}

void network_write_name(const struct network *network, struct text_buffer *out)
{
    const char *between = "parameters: {";
    text_append(out, "network: %s\n", network->name);
    for (uint32_t i = 0; i < network->n_parameter; i++)
        if (!is_said(network, i)) {
            text_append(out, "%s%s: %s", between, network->parameter[i].name, network->parameter[i].value);
            between = ", ";
        }
    text_append(out, "%s", between[0] == ',' ? "}\n" : "");
}
