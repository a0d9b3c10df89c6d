/* Mind Mappings' reinforcement learning baseline (appendix A): a mapping is a state, an action names the
 * state to move to, which is the nearest member, and what that one costs is the reward; episodes start at
 * random mappings. */
#include <math.h>
#include <string.h>

#include "engines/mindmappings/mm_engines.h"
#include "engines/mindmappings/mm_price.h"
#include "engines/mindmappings/mm_search.h"
#include "engines/search/ddpg.h"

enum {
    OPTION_MODE,
    OPTION_STEPS,
    OPTION_EPISODE,
    OPTION_NEURONS,
    OPTION_ACTOR_RATE,
    OPTION_CRITIC_RATE,
    OPTION_TAU,
    OPTION_BATCH,
    OPTION_MEMORY,
    OPTION_NOISE,
    OPTION_NOISE_DECAY,
    OPTION_DISCOUNT,
    N_OPTION
};

static const struct engine_option option[N_OPTION] = {
    MM_OPTION_MODE,
    {"steps", "stop after so many mappings; 0: only when the budget is used up", "mapping", OPTION_INTEGER,
     1000, 0, 1e15, NULL},
    {"episode", "steps from a random mapping before the next one", "step", OPTION_INTEGER, 10, 1, 1e6, NULL},
    {"neurons", "of each of two hidden layers of actor and critic", "neuron", OPTION_INTEGER, 300, 1, 4096,
     NULL},
    {"actor_rate", "learning rate of the actor", "", OPTION_REAL, 1e-4, 1e-9, 1, NULL},
    {"critic_rate", "learning rate of the critic", "", OPTION_REAL, 1e-3, 1e-9, 1, NULL},
    {"tau", "share by which the target networks follow in a step", "", OPTION_REAL, 0.01, 1e-9, 1, NULL},
    {"batch", "steps learned from at once", "step", OPTION_INTEGER, 64, 1, 4096, NULL},
    {"memory", "steps remembered, the latest ones; at least a batch", "step", OPTION_INTEGER, 10000, 1, 1e6,
     NULL},
    {"noise", "standard deviation of the noise of the first episode's actions, which are in -1 .. 1", "",
     OPTION_REAL, 0.5, 0, 10, NULL},
    {"noise_decay", "what it is multiplied by after an episode", "", OPTION_REAL, 0.99, 0, 1, NULL},
    {"discount", "of later rewards", "", OPTION_REAL, 1, 0, 1, NULL},
};

struct state {
    struct mm_search search;
    struct random_stream stream;
    struct ddpg *agent;
    double minimum; /* of the objective, by the algorithmic minimum */
    double noise;
    uint32_t n_step;                              /* of this episode */
    float view[MM_VALUE_MAX], next[MM_VALUE_MAX]; /* (n_value) of the state, of what it leads to */
};

/* ---------------------------------------- vectors in [-1, 1] */

/* Value i of a vector is low at -1 and high at 1, on a scale of logarithms where it is one. */
struct range {
    bool log;
    double low, high;
};

static struct range range_of(const struct state *state, uint32_t i)
{
    const struct mm_algorithm *algorithm = state->search.machine.algorithm;
    const uint32_t n_dim = algorithm->n_dim, *size = mm_space_size(state->search.space);
    const uint32_t orders = n_dim * (1 + MM_BLOCK_COUNT), banks = orders + n_dim * MM_NEST_COUNT;
    const double widest_size = 4096;
    if (i < n_dim)
        return (struct range){true, 1, widest_size};
    if (i < orders)
        return (struct range){true, 1, fmax(size[i % n_dim], 2)};
    if (i < banks)
        return (struct range){false, 0, n_dim - 1};
    uint32_t all = state->search.machine.banks[(i - banks) / algorithm->n_tensor];
    return (struct range){false, 1, fmax(all - algorithm->n_tensor + 1, 2)};
}

static void look(const struct state *state, const struct mm_mapping *mapping, float *view)
{
    double vector[MM_VALUE_MAX];
    mm_space_vector(state->search.space, mapping, vector);
    for (uint32_t i = 0; i < state->search.machine.algorithm->n_value; i++) {
        struct range r = range_of(state, i);
        double share =
            r.log ? log(vector[i] / r.low) / log(r.high / r.low) : (vector[i] - r.low) / (r.high - r.low);
        view[i] = (float)(2 * share - 1);
    }
}

/* The member nearest to what an action (all values but the sizes) names. */
static void move(const struct state *state, const float *action, struct mm_mapping *to)
{
    double vector[MM_VALUE_MAX] = {0};
    const struct mm_algorithm *algorithm = state->search.machine.algorithm;
    for (uint32_t i = algorithm->n_dim; i < algorithm->n_value; i++) {
        struct range r = range_of(state, i);
        double share = (action[i - algorithm->n_dim] + 1) / 2;
        vector[i] = r.log ? r.low * pow(r.high / r.low, share) : r.low + share * (r.high - r.low);
    }
    mm_space_project(state->search.space, vector, MM_DISTANCE_LOG2, to);
}

/* ---------------------------------------- the search */

static enum dse_status policy_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct mm_cost minimum;
    const struct engine_task *task = engine_context_task(context);
    DSE_TRY(mm_search_init(&state->search, context, (enum mm_mode)engine_context_option(context, OPTION_MODE),
                           err));
    const struct mm_algorithm *algorithm = state->search.machine.algorithm;
    const struct ddpg_options options = {
        .n_state = algorithm->n_value,
        .n_action = algorithm->n_value - algorithm->n_dim,
        .n_hidden = (uint32_t)engine_context_option(context, OPTION_NEURONS),
        .actor_rate = engine_context_option(context, OPTION_ACTOR_RATE),
        .critic_rate = engine_context_option(context, OPTION_CRITIC_RATE),
        .tau = engine_context_option(context, OPTION_TAU),
        .discount = engine_context_option(context, OPTION_DISCOUNT),
        .n_batch = (uint32_t)engine_context_option(context, OPTION_BATCH),
        .n_memory = (uint32_t)engine_context_option(context, OPTION_MEMORY),
    };
    mm_minimum(state->search.space, MM_MINIMUM_CODE, &minimum);
    state->minimum = objective_cost_of(&task->objective, minimum.energy_uj * 1e-6,
                                       minimum.cycle / task->architecture->clock_hz);
    state->noise = engine_context_option(context, OPTION_NOISE);
    state->stream = engine_context_stream(context, RANDOM_INIT);
    return ddpg_new(&options, engine_context_stream(context, RANDOM_NOISE), engine_context_arena(context),
                    &state->agent, err);
}

/* An action, what it costs, and what is learned of it. `*over`: there is nothing more to price. */
static enum dse_status make_step(struct state *state, bool last, bool *over, struct dse_error *err)
{
    float action[MM_VALUE_MAX];
    struct mm_mapping to;
    double cost;
    DSE_TRY(ddpg_act(state->agent, state->view, state->noise, action, err));
    move(state, action, &to);
    enum search_outcome outcome = mm_search_price(&state->search, &to, &cost);
    *over = outcome == SEARCH_OVER;
    if (outcome != SEARCH_PRICED)
        return DSE_OK;
    look(state, &to, state->next);
    ddpg_remember(state->agent, state->view, action, -log(cost / state->minimum), state->next, last);
    memcpy(state->view, state->next, sizeof state->view);
    return ddpg_learn(state->agent, err);
}

/* One episode. */
static enum dse_status policy_run(void *memory, struct engine_context *context, enum engine_stop *stop,
                                  struct dse_error *err)
{
    struct state *state = memory;
    uint32_t n = (uint32_t)engine_context_option(context, OPTION_EPISODE);
    double all = engine_context_option(context, OPTION_STEPS);
    bool over = false;
    struct mm_mapping first;
    mm_space_draw(state->search.space, &state->stream, &first);
    look(state, &first, state->view);
    for (uint32_t i = 0; i < n && !over; i++) {
        if (all > 0 && (double)engine_context_evaluations(context) >= all) {
            *stop = STOP_CONVERGED;
            break;
        }
        DSE_TRY(make_step(state, i + 1 == n, &over, err));
    }
    state->noise *= engine_context_option(context, OPTION_NOISE_DECAY);
    return DSE_OK;
}

const struct engine engine_mm_policy = {
    .name = "mm-rl",
    .summary = "Mind Mappings' baseline RL: deep deterministic policy gradient over its vectors",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 2e-3, .evaluations = 1000, .evaluation_s = 3e-3, .option = {"steps"}},
    .takes_only = MM_TAKES_ONLY,
    .takes_machine = mm_takes_machine,
    .takes_task = mm_takes_task,
    .state_byte = sizeof(struct state),
    .init = policy_init,
    .step = policy_run,
};
