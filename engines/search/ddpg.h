/* Deep deterministic policy gradient: an actor that proposes actions of reals and a critic that learns what
 * they are worth (T. Lillicrap et al., "Continuous control with deep reinforcement learning", ICLR 2016,
 * algorithm 1), in the form of HAQ (K. Wang et al., CVPR 2019): actions in [-1, 1], noise of a normal
 * distribution cut off there. The critic sees state and action together in its first layer. Products of
 * matrices round as the processor does (blas.h), so what is learned depends on its kind. */
#ifndef ENGINES_SEARCH_DDPG_H
#define ENGINES_SEARCH_DDPG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/status.h"

struct ddpg_options {
    uint32_t n_state, n_action;
    uint32_t n_hidden; /* neurons of each of the two hidden layers of actor and critic */
    double actor_rate, critic_rate;
    double tau;        /* share by which the slow copies follow */
    double discount;   /* of later rewards */
    uint32_t n_batch;  /* transitions learned from at once */
    uint32_t n_memory; /* transitions remembered, the latest ones */
};

struct ddpg;

/* Nets of random weights; the stream is copied. Memory from `arena`. DSE_BAD_INPUT: a width that mlp_new
 * refuses, no batch or no memory; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status ddpg_new(const struct ddpg_options *options, struct random_stream stream,
                                        struct arena *arena, struct ddpg **out, struct dse_error *err);

/* The actor's action (n_action) in a state (n_state), each value moved by a normal deviate of standard
 * deviation `noise` and kept in [-1, 1]. */
DSE_MUST_CHECK enum dse_status ddpg_act(struct ddpg *agent, const float *state, double noise, float *action,
                                        struct dse_error *err);

/* The action led from `state` to `next` with this reward; `last`: no step follows. */
void ddpg_remember(struct ddpg *agent, const float *state, const float *action, double reward,
                   const float *next, bool last);

/* One step of critic, actor and slow copies on a random batch; nothing before there are n_batch
 * transitions. */
DSE_MUST_CHECK enum dse_status ddpg_learn(struct ddpg *agent, struct dse_error *err);

#endif
