/* Training a perceptron on examples: epochs over shuffled examples in batches. A batch is cut into a fixed
 * number of slices whose gradients are added up in a fixed order, and all other work is on one parameter at a
 * time, so the bytes of the network do not depend on the number of threads. Training can stop after any step
 * and go on elsewhere from the state, which is all in struct mlp_fit. */
#ifndef ENGINES_SEARCH_MLP_FIT_H
#define ENGINES_SEARCH_MLP_FIT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "engines/search/mlp_train.h"

enum { MLP_SLICES = 8 };

/* Where examples come from; called by several threads at once. */
struct mlp_examples {
    void *self; /* handed to the hook */
    uint32_t n;
    /* The examples index (n) as rows: inputs (n, width[0]) and targets (n, width[n_layer]). */
    void (*get)(void *self, const uint32_t *index, size_t n, float *input, float *target);
};

struct mlp_fit_options {
    enum mlp_loss loss; /* its mean over outputs and examples is what is minimised */
    enum mlp_optimiser optimiser;
    float momentum;
    struct mlp_schedule schedule; /* n_step is set by mlp_fit_new; the period counts epochs here */
    uint32_t batch, n_epoch;
    uint32_t patience; /* end after so many epochs without a new lowest test loss; 0: never */
    uint64_t seed;     /* of the first weights and of the shuffles */
};

struct mlp_fit {
    struct mlp *mlp;
    struct mlp_fit_options options;
    uint32_t n_example;
    uint64_t n_step_epoch;
    struct mlp_batch slice[MLP_SLICES];
    float *gradient;   /* (MLP_SLICES, n_parameter) */
    float *target;     /* (batch, outputs) */
    uint32_t *order;   /* (n_example) of this epoch */
    uint64_t order_of; /* the epoch + 1 that `order` is of; 0: of none */
    /* What a checkpoint keeps, with the network: */
    struct mlp_rule rule;
    uint64_t step;                  /* done, over all epochs */
    double loss_sum;                /* of this epoch so far */
    double *train_loss, *test_loss; /* (n_epoch) of the epochs done */
    float *best;                    /* (n_parameter) those of the lowest test loss; NULL without patience */
    uint32_t best_epoch;            /* the epoch they are of */
};

/* Draw the weights and get ready. DSE_BAD_INPUT: no example, a batch or number of epochs of 0.
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status mlp_fit_new(struct mlp *mlp, const struct mlp_fit_options *options,
                                           uint32_t n_example, struct arena *arena, struct mlp_fit *fit,
                                           struct dse_error *err);

/* The epoch at hand, 0 first; n_epoch when all are done. */
uint32_t mlp_fit_epoch(const struct mlp_fit *fit);

/* Up to n steps, not beyond the end of the epoch; the mean loss of an epoch is in train_loss then.
 * DSE_INTERRUPTED when `cancel` (may be NULL) is set: the state is that after some step. */
DSE_MUST_CHECK enum dse_status mlp_fit_steps(struct mlp_fit *fit, const struct mlp_examples *examples,
                                             uint64_t n, int n_thread, const atomic_int *cancel,
                                             struct dse_error *err);

/* Note the test loss of the epoch that has just ended; where there is patience, the network's parameters with
 * the lowest one are kept. */
void mlp_fit_note(struct mlp_fit *fit, double test_loss);

/* Whether all epochs are done, or patience is at its end. */
bool mlp_fit_over(const struct mlp_fit *fit);

/* When it is over: the network gets the parameters that were kept. */
void mlp_fit_end(struct mlp_fit *fit);

/* The mean loss over examples, by the passes of mlp.h and so the same on every machine. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status mlp_mean_loss(const struct mlp *mlp, enum mlp_loss loss,
                                             const struct mlp_examples *examples, int n_thread, double *mean,
                                             struct dse_error *err);

#endif
