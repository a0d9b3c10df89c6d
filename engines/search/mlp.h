/* Multilayer perceptrons in float32: dense layers, ReLU between them, the last one linear. What is here takes
 * one input at a time, as a search does: plain loops in a fixed order, so that the same network says the same
 * on every machine. Training, by products of matrices, is in mlp_train.h. */
#ifndef ENGINES_SEARCH_MLP_H
#define ENGINES_SEARCH_MLP_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/status.h"

enum { MLP_LAYER_MAX = 16, MLP_WIDTH_MAX = 8192 };

struct mlp {
    uint32_t n_layer;
    uint32_t width[MLP_LAYER_MAX + 1]; /* (n_layer + 1) inputs, what each layer puts out */
    size_t n_parameter;
    /* (n_parameter) of each layer in turn: weights (its inputs, its outputs), then biases (its outputs) */
    float *parameter;
};

/* A network of these widths (n_layer + 1), all parameters 0; memory from `arena`. DSE_BAD_INPUT: no layer,
 * more than MLP_LAYER_MAX, a width of 0 or beyond MLP_WIDTH_MAX. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status mlp_new(const uint32_t *width, uint32_t n_layer, struct arena *arena,
                                       struct mlp *mlp, struct dse_error *err);

/* Where the parameters of a layer begin, weights and biases. */
float *mlp_weight(const struct mlp *mlp, uint32_t layer);
float *mlp_bias(const struct mlp *mlp, uint32_t layer);

/* Draw the weights uniformly up to 1 / sqrt(inputs) (Y. LeCun et al., "Efficient BackProp", 1998, section
 * 4.6, by the bound instead of the deviation, as is common); biases become 0. Six times the variance, as K.
 * He et al. have it for ReLU, ranks costs of mappings worse: 0.957 instead of 0.974 after 200,000 samples x
 * 6 epochs. */
void mlp_draw(struct mlp *mlp, struct random_stream *stream);

/* A network ready for searches; it is shared by threads. Make it when the weights have their last values. */
struct mlp_frozen {
    const struct mlp *mlp; /* borrowed */
    float *turned;         /* the weights of each layer in turn, transposed: (its outputs, its inputs) */
};

DSE_MUST_CHECK enum dse_status mlp_freeze(const struct mlp *mlp, struct arena *arena,
                                          struct mlp_frozen *frozen, struct dse_error *err);

/* The values inside a network for one input; one a thread. */
struct mlp_pass {
    const struct mlp_frozen *frozen;
    float *value[MLP_LAYER_MAX + 1]; /* (width) of each layer, the input at 0 */
    float *slope[2];                 /* (widest) of the layer at hand and of the one before it */
    uint32_t *active;                /* (widest) which inputs of a layer are not 0 */
    float *factor;                   /* (widest) and what they are */
};

DSE_MUST_CHECK enum dse_status mlp_pass_new(const struct mlp_frozen *frozen, struct arena *arena,
                                            struct mlp_pass *pass, struct dse_error *err);

/* What the network makes of input (width[0]); the outputs lie in the pass until the next call. */
const float *mlp_predict(struct mlp_pass *pass, const float *input);

/* The gradient, in the last input of mlp_predict, of the sum of the outputs times `weight` (outputs): into
 * gradient (width[0]). */
void mlp_input_gradient(struct mlp_pass *pass, const float *weight, float *gradient);

#endif
