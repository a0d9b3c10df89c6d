/* Which layer a loop nest is: dimensions by the tensors that they index, windows by sums of two of them. */
#include <string.h>

#include "costmodel/model/network_graph.h"

/* What a dimension is; those of one iteration are nothing. */
enum dim_kind { DIM_NOTHING, DIM_CHANNEL, DIM_FILTER, DIM_OUTPUT_CHANNEL, DIM_PLACE, DIM_GROUP };

enum { MAX_WINDOW = 2 };

/* One axis of the input on which taps move: place * stride + tap * dilation. -1: there is no such
 * dimension. */
struct window {
    int place, tap;
    uint32_t stride, dilation;
};

struct nest {
    const struct problem *problem;
    const struct tensor *input, *second, *output;
    enum dim_kind kind[PROBLEM_DIM_MAX];
    struct window window[MAX_WINDOW];
    uint32_t n_window;
};

static enum dse_status fail(const struct nest *nest, struct dse_error *err, const char *why)
{
    return dse_fail(err, DSE_BAD_INPUT, "layer %s is no convolution and no matrix product: %s",
                    nest->problem->name, why);
}

static bool is_used(const struct nest *nest, uint32_t dim)
{
    return nest->problem->bound[dim] > 1;
}

static uint32_t times_in(const struct tensor *tensor, uint32_t dim)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < tensor->n_rank; r++)
        for (uint32_t t = 0; t < tensor->rank[r].n_term; t++)
            n += tensor->rank[r].term[t].dim == dim;
    return n;
}

static bool indexes(const struct nest *nest, const struct tensor *tensor, uint32_t dim)
{
    return is_used(nest, dim) && times_in(tensor, dim) > 0;
}

/* Terms of more than one iteration. */
static uint32_t used_terms(const struct nest *nest, const struct tensor_rank *rank,
                           struct projection_term term[PROBLEM_TERM_MAX])
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < rank->n_term; t++)
        if (is_used(nest, rank->term[t].dim))
            term[n++] = rank->term[t];
    return n;
}

static bool has_window(const struct nest *nest, const struct tensor *tensor)
{
    struct projection_term term[PROBLEM_TERM_MAX];
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        const uint32_t n = used_terms(nest, &tensor->rank[r], term);
        if (n > 1 || (n == 1 && term[0].coefficient > 1))
            return true;
    }
    return false;
}

static enum dse_status find_tensors(struct nest *nest, struct dse_error *err)
{
    const struct problem *p = nest->problem;
    const struct tensor *read[2] = {NULL};
    uint32_t n = 0;
    for (uint32_t t = 0; t < p->n_tensor; t++) {
        if (p->tensor[t].read_write)
            nest->output = &p->tensor[t];
        else if (n++ < 2)
            read[n - 1] = &p->tensor[t];
    }
    if (n != 2)
        return dse_fail(err, DSE_BAD_INPUT,
                        "layer %s is no convolution and no matrix product: it has %u operands, not 2",
                        p->name, n);
    bool second_first = read[0]->role == TENSOR_WEIGHT;
    if (read[0]->role == read[1]->role)
        second_first = !has_window(nest, read[0]) && has_window(nest, read[1]);
    nest->input = read[second_first];
    nest->second = read[!second_first];
    for (uint32_t d = 0; d < p->n_dim; d++)
        if (is_used(nest, d) &&
            (times_in(nest->input, d) > 1 || times_in(nest->second, d) > 1 || times_in(nest->output, d) > 1))
            return dse_fail(err, DSE_BAD_INPUT,
                            "layer %s is no convolution and no matrix product: dimension %s indexes a "
                            "tensor twice",
                            p->name, p->dim_name[d]);
    if (has_window(nest, nest->output) || has_window(nest, nest->second))
        return fail(nest, err, "only its input may be indexed by sums and multiples");
    return DSE_OK;
}

static enum dse_status find_kinds(struct nest *nest, struct dse_error *err)
{
    const struct problem *p = nest->problem;
    for (uint32_t d = 0; d < p->n_dim; d++) {
        const bool in = indexes(nest, nest->input, d), second = indexes(nest, nest->second, d),
                   out = indexes(nest, nest->output, d);
        nest->kind[d] = in && second && out ? DIM_GROUP
                        : in && second      ? DIM_CHANNEL
                        : in && out         ? DIM_PLACE
                        : second && out     ? DIM_OUTPUT_CHANNEL
                                            : DIM_NOTHING;
        if (is_used(nest, d) && nest->kind[d] == DIM_NOTHING)
            return dse_fail(err, DSE_BAD_INPUT,
                            "layer %s is no convolution and no matrix product: dimension %s indexes %s",
                            p->name, p->dim_name[d], in || second || out ? "one tensor alone" : "no tensor");
    }
    return DSE_OK;
}

/* A rank of the input with a tap, or with a step. */
static enum dse_status add_window(struct nest *nest, const struct projection_term *term, uint32_t n,
                                  struct dse_error *err)
{
    struct window window = {-1, -1, 1, 1};
    for (uint32_t t = 0; t < n; t++) {
        const int dim = (int)term[t].dim;
        if (nest->kind[dim] == DIM_PLACE && window.place < 0) {
            window.place = dim;
            window.stride = term[t].coefficient;
        } else if (nest->kind[dim] == DIM_CHANNEL && window.tap < 0) {
            window.tap = dim;
            window.dilation = term[t].coefficient;
            nest->kind[dim] = DIM_FILTER;
        } else {
            return fail(nest, err, "an index of its input is no sum of one place and one tap");
        }
    }
    if (nest->n_window == MAX_WINDOW)
        return fail(nest, err, "its window moves along more than two axes");
    nest->window[nest->n_window++] = window;
    return DSE_OK;
}

static enum dse_status find_windows(struct nest *nest, struct dse_error *err)
{
    for (uint32_t r = 0; r < nest->input->n_rank; r++) {
        struct projection_term term[PROBLEM_TERM_MAX];
        const uint32_t n = used_terms(nest, &nest->input->rank[r], term);
        if (n > 1 || (n == 1 && term[0].coefficient > 1))
            DSE_TRY(add_window(nest, term, n, err));
    }
    if (nest->n_window > 0 && nest->second->role != TENSOR_WEIGHT)
        return fail(nest, err, "both operands of its window are activations");
    return DSE_OK;
}

/* ---- the layer ---- */

static bool multiply(uint32_t *product, uint64_t by)
{
    if (*product * by > NETWORK_DIM_MAX)
        return false;
    *product = (uint32_t)(*product * by);
    return true;
}

static bool is_window_place(const struct nest *nest, uint32_t dim)
{
    for (uint32_t i = 0; i < nest->n_window; i++)
        if (nest->window[i].place == (int)dim)
            return true;
    return false;
}

/* Places that no window moves over are rows, where there is an axis left for them, else samples. Samples that
 * share the second operand, or have one each, are those of dimension N. */
static bool add_dim(const struct nest *nest, uint32_t dim, struct layer *layer, uint32_t *samples)
{
    const uint32_t bound = nest->problem->bound[dim];
    const bool own_second = nest->second->role != TENSOR_WEIGHT;
    const bool is_n = strcmp(nest->problem->dim_name[dim], "N") == 0;
    switch (nest->kind[dim]) {
    case DIM_CHANNEL:
        return multiply(&layer->c, bound);
    case DIM_OUTPUT_CHANNEL:
        return multiply(&layer->k, bound);
    case DIM_GROUP:
        return multiply(is_n && own_second ? samples : &layer->groups, bound);
    case DIM_PLACE:
        if (is_window_place(nest, dim))
            return true;
        if (nest->n_window == MAX_WINDOW || (is_n && !own_second))
            return multiply(samples, bound);
        return nest->n_window == 1 ? multiply(&layer->q, bound)
                                   : multiply(&layer->p, bound) || multiply(&layer->q, bound);
    default:
        return true;
    }
}

static bool set_window(const struct nest *nest, uint32_t axis, struct layer *layer)
{
    const struct window *w = &nest->window[axis];
    const uint32_t *bound = nest->problem->bound;
    const uint32_t place = w->place < 0 ? 1 : bound[w->place], tap = w->tap < 0 ? 1 : bound[w->tap];
    const uint64_t reach = (uint64_t)(place - 1) * w->stride + (uint64_t)(tap - 1) * w->dilation + 1;
    *(axis ? &layer->q : &layer->p) = place;
    *(axis ? &layer->s : &layer->r) = tap;
    layer->stride[axis] = w->stride;
    layer->dilation[axis] = w->dilation;
    *(axis ? &layer->w : &layer->h) = (uint32_t)reach;
    return reach <= NETWORK_DIM_MAX && w->stride <= NETWORK_STEP_MAX && w->dilation <= NETWORK_STEP_MAX;
}

static bool set_dims(const struct nest *nest, struct layer *layer, uint32_t *samples)
{
    *samples = 1;
    layer->c = layer->k = layer->groups = layer->p = layer->q = layer->r = layer->s = 1;
    layer->stride[0] = layer->stride[1] = layer->dilation[0] = layer->dilation[1] = 1;
    memset(layer->pad, 0, sizeof layer->pad);
    for (uint32_t d = 0; d < nest->problem->n_dim; d++)
        if (!add_dim(nest, d, layer, samples))
            return false;
    if (!multiply(&layer->c, layer->groups) || !multiply(&layer->k, layer->groups))
        return false;
    layer->h = layer->p;
    layer->w = layer->q;
    for (uint32_t i = 0; i < nest->n_window; i++)
        if (!set_window(nest, i, layer))
            return false;
    return true;
}

enum dse_status layer_of_einsum(const struct problem *problem, struct layer *layer, uint32_t *samples,
                                struct dse_error *err)
{
    struct nest nest = {.problem = problem};
    DSE_TRY(find_tensors(&nest, err));
    DSE_TRY(find_kinds(&nest, err));
    DSE_TRY(find_windows(&nest, err));
    if (!set_dims(&nest, layer, samples))
        return dse_fail(err, DSE_LIMIT,
                        "layer %s as a convolution or matrix product has a dimension above %d", problem->name,
                        NETWORK_DIM_MAX);
    const bool own_second = nest.second->role != TENSOR_WEIGHT;
    const bool is_conv = nest.n_window > 0 || layer->groups > 1;
    layer->type = own_second ? LAYER_MATMUL : is_conv ? LAYER_CONV : LAYER_LINEAR;
    layer->n_operand = 1;
    layer->share = 0;
    layer->einsum = NULL;
    return DSE_OK;
}
