/* What training a perceptron takes: batches through products of matrices, losses, the rules that move the
 * parameters, and schedules of their rate. mlp_fit.h puts them together. */
#ifndef ENGINES_SEARCH_MLP_TRAIN_H
#define ENGINES_SEARCH_MLP_TRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/search/blas.h"
#include "engines/search/mlp.h"

/* Of the difference d of an output and its target: Huber d^2 / 2 up to |d| = 1 and |d| - 1/2 beyond (P.
 * Huber, Annals of Mathematical Statistics 35, 1964), d^2, |d|. */
enum mlp_loss { MLP_HUBER, MLP_MSE, MLP_MAE, MLP_LOSS_COUNT };
extern const char *const mlp_loss_name[MLP_LOSS_COUNT]; /* "huber", "mse", "mae" */

/* The sum of the losses of n outputs; slope (n; may be NULL) gets the derivative in each output. */
double mlp_loss_of(enum mlp_loss kind, const float *output, const float *target, size_t n, float *slope);

/* The values inside a network for a batch; for one thread. */
struct mlp_batch {
    const struct mlp *mlp;
    struct blas blas;
    size_t n_row_max;
    float *value[MLP_LAYER_MAX + 1]; /* (rows, width) of each layer; the caller sets value[0] */
    float *slope[MLP_LAYER_MAX + 1]; /* the same of the derivatives; the caller sets slope[n_layer] */
};

/* DSE_IO: OpenBLAS cannot be loaded. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status mlp_batch_new(const struct mlp *mlp, size_t n_row_max, struct arena *arena,
                                             struct mlp_batch *batch, struct dse_error *err);

/* value[n_layer] of the first n_row rows of value[0]. */
DSE_MUST_CHECK enum dse_status mlp_batch_forward(struct mlp_batch *batch, size_t n_row,
                                                 struct dse_error *err);

/* From slope[n_layer], after mlp_batch_forward: gradient (n_parameter; NULL: not wanted) is set to the sum
 * over the rows; with `inputs` also slope[0]. */
DSE_MUST_CHECK enum dse_status mlp_batch_backward(struct mlp_batch *batch, size_t n_row, float *gradient,
                                                  bool inputs, struct dse_error *err);

/* How parameters follow their gradient g at the rate r.
 * MLP_SGD: v <- momentum v + g, p <- p - r v (B. Polyak, 1964).
 * MLP_ADAM: D. Kingma and J. Ba, "Adam", ICLR 2015, algorithm 1, with beta 0.9 and 0.999, epsilon 1e-8. */
enum mlp_optimiser { MLP_SGD, MLP_ADAM, MLP_OPTIMISER_COUNT };
extern const char *const mlp_optimiser_name[MLP_OPTIMISER_COUNT]; /* "sgd", "adam" */

struct mlp_rule {
    enum mlp_optimiser optimiser;
    float momentum;   /* of MLP_SGD */
    double decay[2];  /* MLP_ADAM: beta1^t and beta2^t; 1 before the first step */
    float *moment[2]; /* (n_parameter) running means of g and g^2; the second one of MLP_ADAM only */
};

/* A rule before its first step. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status mlp_rule_new(enum mlp_optimiser optimiser, float momentum, size_t n_parameter,
                                            struct arena *arena, struct mlp_rule *rule,
                                            struct dse_error *err);

/* A step: once mlp_rule_advance, then mlp_rule_apply to every parameter, from .. to-1 of them at a time, in
 * any order and by any thread. gradient[0] is that of parameter `from`. */
void mlp_rule_advance(struct mlp_rule *rule);
void mlp_rule_apply(const struct mlp_rule *rule, float rate, size_t from, size_t to, const float *gradient,
                    float *parameter);

/* The rate at each step.
 * MLP_CONSTANT: always `rate`. MLP_STEP: `rate` times `factor` for every whole `period` steps done.
 * MLP_ONE_CYCLE (L. Smith, N. Topin, "Super-Convergence", 2018; with cosines as is common): from rate / 25 to
 * `rate` over the first 30 % of n_step, then down to rate / 250000. */
enum mlp_schedule_kind { MLP_CONSTANT, MLP_STEP, MLP_ONE_CYCLE, MLP_SCHEDULE_COUNT };
extern const char *const mlp_schedule_name[MLP_SCHEDULE_COUNT]; /* "constant", "step", "one_cycle" */

struct mlp_schedule {
    enum mlp_schedule_kind kind;
    double rate, factor;
    uint64_t period, n_step;
};

/* The rate of step 0, 1, ... n_step - 1. */
double mlp_rate(const struct mlp_schedule *schedule, uint64_t step);

#endif
