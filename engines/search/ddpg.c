/* Two nets with a slow copy each, a ring of transitions, and the step that learns from a batch of them. */
#include "engines/search/ddpg.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#include "engines/search/mlp_train.h"

/* A net with its slow copy, its rule and room for a batch of either. */
struct net {
    struct mlp net, slow;
    struct mlp_batch batch, slow_batch;
    struct mlp_rule rule;
    float *gradient; /* (n_parameter) */
    double rate;
};

/* The transitions as columns of (n_memory) rows. */
struct memory {
    float *state, *action, *next; /* (n_memory, width) */
    float *reward, *goes_on;      /* (n_memory) 1: another step follows */
    uint32_t n, at;               /* filled; where the next one goes */
};

struct ddpg {
    struct ddpg_options options;
    struct random_stream stream;
    struct net actor, critic;
    struct memory memory;
    uint32_t *chosen; /* (n_batch) */
    float *target;    /* (n_batch) */
};

enum { N_LAYER = 3 };

static enum dse_status net_new(struct net *net, uint32_t n_input, uint32_t n_hidden, uint32_t n_output,
                               double rate, size_t n_batch, struct random_stream *stream, struct arena *arena,
                               struct dse_error *err)
{
    const uint32_t width[N_LAYER + 1] = {n_input, n_hidden, n_hidden, n_output};
    DSE_TRY(mlp_new(width, N_LAYER, arena, &net->net, err));
    DSE_TRY(mlp_new(width, N_LAYER, arena, &net->slow, err));
    mlp_draw(&net->net, stream);
    memcpy(net->slow.parameter, net->net.parameter, net->net.n_parameter * sizeof *net->net.parameter);
    DSE_TRY(mlp_batch_new(&net->net, n_batch, arena, &net->batch, err));
    DSE_TRY(mlp_batch_new(&net->slow, n_batch, arena, &net->slow_batch, err));
    DSE_TRY(mlp_rule_new(MLP_ADAM, 0, net->net.n_parameter, arena, &net->rule, err));
    net->gradient = arena_alloc(arena, net->net.n_parameter, sizeof *net->gradient);
    net->rate = rate;
    return arena_check(arena, "reinforcement learning", err);
}

enum dse_status ddpg_new(const struct ddpg_options *options, struct random_stream stream, struct arena *arena,
                         struct ddpg **out, struct dse_error *err)
{
    const struct ddpg_options *o = options;
    if (o->n_batch == 0 || o->n_memory < o->n_batch)
        return dse_fail(err, DSE_BAD_INPUT, "a memory of %u steps does not hold a batch of %u", o->n_memory,
                        o->n_batch);
    struct ddpg *agent = arena_alloc(arena, 1, sizeof *agent);
    DSE_TRY(arena_check(arena, "reinforcement learning", err));
    agent->options = *o;
    agent->stream = stream;
    DSE_TRY(net_new(&agent->actor, o->n_state, o->n_hidden, o->n_action, o->actor_rate, o->n_batch,
                    &agent->stream, arena, err));
    DSE_TRY(net_new(&agent->critic, o->n_state + o->n_action, o->n_hidden, 1, o->critic_rate, o->n_batch,
                    &agent->stream, arena, err));
    struct memory *memory = &agent->memory;
    memory->state = arena_alloc(arena, (size_t)o->n_memory * o->n_state, sizeof(float));
    memory->next = arena_alloc(arena, (size_t)o->n_memory * o->n_state, sizeof(float));
    memory->action = arena_alloc(arena, (size_t)o->n_memory * o->n_action, sizeof(float));
    memory->reward = arena_alloc(arena, o->n_memory, sizeof(float));
    memory->goes_on = arena_alloc(arena, o->n_memory, sizeof(float));
    agent->chosen = arena_alloc(arena, o->n_batch, sizeof *agent->chosen);
    agent->target = arena_alloc(arena, o->n_batch, sizeof *agent->target);
    *out = agent;
    return arena_check(arena, "reinforcement learning", err);
}

/* What the actor puts out, into [-1, 1]. */
static void squash(float *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        value[i] = tanhf(value[i]);
}

/* A normal deviate around `mean`, cut off at -1 and 1: its distribution function turned round. */
static float draw_around(struct random_stream *stream, double mean, double deviation)
{
    double low = gsl_cdf_ugaussian_P((-1 - mean) / deviation);
    double high = gsl_cdf_ugaussian_P((1 - mean) / deviation);
    double at = low + (high - low) * random_unit(stream);
    double value = mean + deviation * gsl_cdf_ugaussian_Pinv(at);
    return (float)fmin(fmax(value, -1), 1);
}

enum dse_status ddpg_act(struct ddpg *agent, const float *state, double noise, float *action,
                         struct dse_error *err)
{
    const struct ddpg_options *o = &agent->options;
    struct mlp_batch *batch = &agent->actor.batch;
    memcpy(batch->value[0], state, o->n_state * sizeof *state);
    DSE_TRY(mlp_batch_forward(batch, 1, err));
    memcpy(action, batch->value[N_LAYER], o->n_action * sizeof *action);
    squash(action, o->n_action);
    for (uint32_t i = 0; noise > 0 && i < o->n_action; i++)
        action[i] = draw_around(&agent->stream, action[i], noise);
    return DSE_OK;
}

void ddpg_remember(struct ddpg *agent, const float *state, const float *action, double reward,
                   const float *next, bool last)
{
    const struct ddpg_options *o = &agent->options;
    struct memory *memory = &agent->memory;
    size_t at = memory->at;
    memcpy(memory->state + at * o->n_state, state, o->n_state * sizeof *state);
    memcpy(memory->next + at * o->n_state, next, o->n_state * sizeof *next);
    memcpy(memory->action + at * o->n_action, action, o->n_action * sizeof *action);
    memory->reward[at] = (float)reward;
    memory->goes_on[at] = last ? 0 : 1;
    memory->at = (memory->at + 1) % o->n_memory;
    memory->n += memory->n < o->n_memory;
}

/* The chosen rows of a column of the memory into a batch whose rows are `width` wide. */
static void gather(const struct ddpg *agent, const float *column, uint32_t n, float *row, uint32_t width)
{
    for (uint32_t i = 0; i < agent->options.n_batch; i++)
        memcpy(row + (size_t)i * width, column + (size_t)agent->chosen[i] * n, n * sizeof *row);
}

/* The actions that an actor's batch has put out, into a critic's batch behind the states. */
static void hand_on(const struct ddpg *agent, const float *action, float *row)
{
    const struct ddpg_options *o = &agent->options;
    for (uint32_t i = 0; i < o->n_batch; i++)
        memcpy(row + (size_t)i * (o->n_state + o->n_action) + o->n_state, action + (size_t)i * o->n_action,
               o->n_action * sizeof *row);
}

/* target = reward + discount times what the slow nets hold the next state to be worth. */
static enum dse_status make_targets(struct ddpg *agent, struct dse_error *err)
{
    const struct ddpg_options *o = &agent->options;
    struct mlp_batch *actor = &agent->actor.slow_batch, *critic = &agent->critic.slow_batch;
    gather(agent, agent->memory.next, o->n_state, actor->value[0], o->n_state);
    DSE_TRY(mlp_batch_forward(actor, o->n_batch, err));
    squash(actor->value[N_LAYER], (size_t)o->n_batch * o->n_action);
    gather(agent, agent->memory.next, o->n_state, critic->value[0], o->n_state + o->n_action);
    hand_on(agent, actor->value[N_LAYER], critic->value[0]);
    DSE_TRY(mlp_batch_forward(critic, o->n_batch, err));
    for (uint32_t i = 0; i < o->n_batch; i++) {
        uint32_t at = agent->chosen[i];
        agent->target[i] = agent->memory.reward[at] +
                           (float)o->discount * agent->memory.goes_on[at] * critic->value[N_LAYER][i];
    }
    return DSE_OK;
}

static void step(struct net *net)
{
    mlp_rule_advance(&net->rule);
    mlp_rule_apply(&net->rule, (float)net->rate, 0, net->net.n_parameter, net->gradient, net->net.parameter);
}

/* The mean square of what the critic is off the targets becomes less. */
static enum dse_status learn_worth(struct ddpg *agent, struct dse_error *err)
{
    const struct ddpg_options *o = &agent->options;
    struct net *critic = &agent->critic;
    float *row = critic->batch.value[0];
    gather(agent, agent->memory.state, o->n_state, row, o->n_state + o->n_action);
    gather(agent, agent->memory.action, o->n_action, row + o->n_state, o->n_state + o->n_action);
    DSE_TRY(mlp_batch_forward(&critic->batch, o->n_batch, err));
    for (uint32_t i = 0; i < o->n_batch; i++)
        critic->batch.slope[N_LAYER][i] =
            2 * (critic->batch.value[N_LAYER][i] - agent->target[i]) / (float)o->n_batch;
    DSE_TRY(mlp_batch_backward(&critic->batch, o->n_batch, critic->gradient, false, err));
    step(critic);
    return DSE_OK;
}

/* The mean worth of what the actor does in these states becomes more. */
static enum dse_status learn_actions(struct ddpg *agent, struct dse_error *err)
{
    const struct ddpg_options *o = &agent->options;
    struct net *actor = &agent->actor;
    struct mlp_batch *critic = &agent->critic.batch; /* the states are in its rows */
    gather(agent, agent->memory.state, o->n_state, actor->batch.value[0], o->n_state);
    DSE_TRY(mlp_batch_forward(&actor->batch, o->n_batch, err));
    float *action = actor->batch.value[N_LAYER], *slope = actor->batch.slope[N_LAYER];
    squash(action, (size_t)o->n_batch * o->n_action);
    hand_on(agent, action, critic->value[0]);
    DSE_TRY(mlp_batch_forward(critic, o->n_batch, err));
    for (uint32_t i = 0; i < o->n_batch; i++)
        critic->slope[N_LAYER][i] = -1 / (float)o->n_batch;
    DSE_TRY(mlp_batch_backward(critic, o->n_batch, NULL, true, err));
    for (uint32_t i = 0; i < o->n_batch; i++)
        for (uint32_t k = 0; k < o->n_action; k++) {
            size_t at = (size_t)i * o->n_action + k;
            float worth = critic->slope[0][(size_t)i * (o->n_state + o->n_action) + o->n_state + k];
            slope[at] = worth * (1 - action[at] * action[at]); /* of tanh */
        }
    DSE_TRY(mlp_batch_backward(&actor->batch, o->n_batch, actor->gradient, false, err));
    step(actor);
    return DSE_OK;
}

static void follow(struct net *net, double tau)
{
    for (size_t i = 0; i < net->net.n_parameter; i++)
        net->slow.parameter[i] += (float)tau * (net->net.parameter[i] - net->slow.parameter[i]);
}

enum dse_status ddpg_learn(struct ddpg *agent, struct dse_error *err)
{
    if (agent->memory.n < agent->options.n_batch)
        return DSE_OK;
    for (uint32_t i = 0; i < agent->options.n_batch; i++)
        agent->chosen[i] = random_below(&agent->stream, agent->memory.n);
    DSE_TRY(make_targets(agent, err));
    DSE_TRY(learn_worth(agent, err));
    DSE_TRY(learn_actions(agent, err));
    follow(&agent->actor, agent->options.tau);
    follow(&agent->critic, agent->options.tau);
    return DSE_OK;
}
