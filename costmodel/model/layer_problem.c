/* Convolutions, linear and matmul layers are one nest, G R S P Q C K N, with unit loops where they lack a
 * dimension; a transposed convolution is the convolution that it equals, or one with inputs and outputs
 * swapped; an einsum is taken as it is, its N times the batch. */
#include "costmodel/model/network.h"

#include <string.h>

#include "base/text.h"

/* Dimension numbers while a problem is put together; -1 for G when there are no groups. */
struct nest_dims {
    int g, r, s, p, q, c, k, n;
};

static int add_dim(struct problem *out, const char *name, uint32_t bound)
{
    uint32_t d = out->n_dim++;
    text_copy(out->dim_name[d], sizeof(out->dim_name[d]), name);
    out->bound[d] = bound;
    return (int)d;
}

static struct tensor *add_tensor(struct problem *out, const char *name, enum tensor_role role)
{
    struct tensor *tensor = &out->tensor[out->n_tensor++];
    text_copy(tensor->name, sizeof(tensor->name), name);
    tensor->role = role;
    tensor->read_write = role == TENSOR_OUTPUT;
    return tensor;
}

static void add_term(struct tensor_rank *rank, int dim, uint32_t coefficient)
{
    rank->term[rank->n_term++] = (struct projection_term){.dim = (uint32_t)dim, .coefficient = coefficient};
}

/* A rank that is one dimension; nothing when the problem lacks it. */
static void add_rank(struct tensor *tensor, int dim)
{
    if (dim >= 0)
        add_term(&tensor->rank[tensor->n_rank++], dim, 1);
}

static void add_window_rank(struct tensor *tensor, int output, uint32_t stride, int filter, uint32_t dilation)
{
    struct tensor_rank *rank = &tensor->rank[tensor->n_rank++];
    add_term(rank, output, stride);
    add_term(rank, filter, dilation);
}

/* The convolution over input positions that a transposed one is when its stride divides its filter. */
static struct layer subpixel(const struct layer *layer)
{
    struct layer same = *layer;
    same.r = layer->r / layer->stride[0];
    same.s = layer->s / layer->stride[1];
    same.k = layer->k * layer->stride[0] * layer->stride[1];
    same.stride[0] = same.stride[1] = 1;
    return same;
}

static void build_nest(const struct layer *given, uint32_t batch, struct problem *out)
{
    const struct layer same = layer_is_subpixel(given) ? subpixel(given) : *given, *layer = &same;
    const bool transposed = layer->type == LAYER_CONV_TRANSPOSE;
    const bool scatters = transposed && !layer_is_subpixel(given);
    const uint32_t groups = layer_operand_groups(layer);
    struct nest_dims d = {.g = -1};
    if (groups > 1)
        d.g = add_dim(out, "G", groups);
    d.r = add_dim(out, "R", layer->r);
    d.s = add_dim(out, "S", layer->s);
    d.p = add_dim(out, "P", transposed ? layer->h : layer->p);
    d.q = add_dim(out, "Q", transposed ? layer->w : layer->q * (layer->groups / groups));
    d.c = add_dim(out, "C", layer->c / layer->groups);
    d.k = add_dim(out, "K", layer->k / layer->groups);
    d.n = add_dim(out, "N", batch);

    struct tensor *weights = add_tensor(out, "Weights", TENSOR_WEIGHT);
    if (layer->type == LAYER_MATMUL)
        add_rank(weights, d.n);
    add_rank(weights, d.g);
    add_rank(weights, d.c);
    add_rank(weights, d.k);
    add_rank(weights, d.r);
    add_rank(weights, d.s);

    struct tensor *inputs = add_tensor(out, "Inputs", TENSOR_INPUT);
    struct tensor *outputs = add_tensor(out, "Outputs", TENSOR_OUTPUT);
    struct tensor *window = scatters ? outputs : inputs, *plain = scatters ? inputs : outputs;
    for (int i = 0; i < 2; i++) {
        add_rank(i ? outputs : inputs, d.n);
        add_rank(i ? outputs : inputs, d.g);
        add_rank(i ? outputs : inputs, i ? d.k : d.c);
    }
    add_window_rank(window, d.p, layer->stride[0], d.r, layer->dilation[0]);
    add_window_rank(window, d.q, layer->stride[1], d.s, layer->dilation[1]);
    add_rank(plain, d.p);
    add_rank(plain, d.q);
}

static enum dse_status build_einsum(const struct layer *layer, uint32_t batch, struct problem *out,
                                    struct dse_error *err)
{
    *out = *layer->einsum;
    if (batch == 1)
        return DSE_OK;
    int n = problem_find_dim(out, "N");
    if (n < 0)
        return dse_fail(err, DSE_BAD_USAGE,
                        "layer %s has no dimension N, so it cannot run with batch %u; use batch 1",
                        layer->name, batch);
    uint64_t bound = (uint64_t)out->bound[n] * batch;
    if (bound > UINT32_MAX)
        return dse_fail(err, DSE_LIMIT, "layer %s with batch %u has N = %llu; below 2^32 is supported",
                        layer->name, batch, (unsigned long long)bound);
    out->bound[n] = (uint32_t)bound;
    return DSE_OK;
}

enum dse_status layer_problem(const struct layer *layer, uint32_t batch, struct problem *out,
                              struct dse_error *err)
{
    memset(out, 0, sizeof(*out));
    if (!layer_has_macs(layer))
        return dse_fail(err, DSE_BAD_USAGE,
                        "layer %s is of type %s, which has no multiply-accumulates and so nothing to map; "
                        "conv, depthwise, conv_transpose, linear, matmul and einsum layers have",
                        layer->name, layer_type_text(layer->type));
    if (batch == 0)
        batch = layer->batch ? layer->batch : 1;
    if (layer->type == LAYER_EINSUM)
        DSE_TRY(build_einsum(layer, batch, out, err));
    else
        build_nest(layer, batch, out);
    text_copy(out->name, sizeof(out->name), layer->name);
    return problem_check(out, err);
}
