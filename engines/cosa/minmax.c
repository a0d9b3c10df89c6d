/* COSA_FORM_MINMAX: besides the paper's terms, the largest of the compute time and of each tensor's traffic
 * with the outermost level, in bits. A tensor is fetched again for every temporal loop outside its outermost
 * inner buffer that does not index it, except for the innermost run of such loops (docs/cosa.md). */
#include <math.h>
#include <string.h>

#include "engines/cosa/formulation.h"

/* Where a tensor's fetches begin: the first level outside its outermost inner keeper. */
static uint32_t first_outside(const struct cosa_shape *shape, uint32_t t)
{
    for (uint32_t l = shape->outermost; l-- > 0;)
        if (shape->keep[l] >> t & 1u)
            return l + 1;
    return 0;
}

static uint32_t unrelated(const struct cosa_shape *shape, uint32_t t)
{
    return ((1u << shape->problem->n_dim) - 1) & ~shape->related[t];
}

/* Words per cycle that the outermost level gives tensor t; INFINITY without a limit. */
static double bandwidth(const struct cosa_shape *shape, uint32_t t)
{
    const struct storage_level *level = &shape->arch->level[shape->outermost];
    double own = shape->problem->tensor[t].read_write ? level->write_bandwidth_word_per_cycle
                                                      : level->read_bandwidth_word_per_cycle;
    return fmin(own, level->shared_bandwidth_word_per_cycle) * (double)level->instances;
}

/* A level between a tensor's buffer and the permutation level gets the order that saves that tensor's loops:
 * of several tensors, of the one whose buffer is next. */
static void fix_between_orders(struct cosa_model *model)
{
    const struct cosa_shape *shape = model->shape;
    for (uint32_t l = 0; l < shape->outermost; l++) {
        int owner = -1;
        for (uint32_t t = 0; t < shape->problem->n_tensor; t++) {
            uint32_t first = first_outside(shape, t);
            if (first <= l && (owner < 0 || first > first_outside(shape, (uint32_t)owner)))
                owner = (int)t;
        }
        struct cosa_order *order = &model->order[l];
        if (owner < 0 || l == shape->permutation)
            continue;
        (void)cosa_choices(shape, l, owner, order->choice);
        order->n_choice = 1;
        order->variable[0] = COSA_NONE;
    }
}

/* Everything about one tensor's fetches. */
struct fetches {
    uint32_t tensor, first;
    /* binary: a loop of the level indexes the tensor; levels first..outermost-1 */
    uint32_t moves[ARCH_LEVEL_MAX];
    uint32_t saved[ARCH_LEVEL_MAX][COSA_GROUP_MAX]; /* variables */
    uint32_t n_saved[ARCH_LEVEL_MAX];
};

/* Does the only order of the level save every loop that does not index the tensor, with nothing further in?
 * Then they cost nothing. */
static bool all_saved(const struct cosa_model *model, const struct fetches *fetches, uint32_t l)
{
    const struct cosa_order *order = &model->order[l];
    return l == fetches->first && order->n_choice == 1 && order->variable[0] == COSA_NONE &&
           !(unrelated(model->shape, fetches->tensor) & ~order->choice[0].saved[fetches->tensor]);
}

static void add_moves(struct cosa_model *model, struct fetches *fetches)
{
    uint32_t dims = model->shape->related[fetches->tensor];
    double most = cosa_dims_bits(model, dims);
    for (uint32_t l = fetches->first; l < model->shape->outermost; l++) {
        fetches->moves[l] = milp_add_variable(model->milp, MILP_INTEGER, 0, 1, 0, "moves");
        cosa_put_temporal(model, l, dims, 1);
        cosa_put(model, fetches->moves[l], -most);
        if (model->n_term > 1)
            (void)cosa_add_row(model, -INFINITY, 0, "moves");
        model->n_term = 0;
    }
}

/* The loops of level l are saved only while no level further in moves the tensor's tile. */
static void add_conditions(struct cosa_model *model, const struct fetches *fetches, uint32_t l,
                           uint32_t saved, double most)
{
    for (uint32_t i = fetches->first; i < l; i++) {
        cosa_put(model, saved, 1);
        cosa_put(model, fetches->moves[i], most);
        (void)cosa_add_row(model, -INFINITY, most, "nothing moves inside");
    }
}

static void add_savings(struct cosa_model *model, struct fetches *all)
{
    const struct cosa_shape *shape = model->shape;
    uint32_t n_tensor = shape->problem->n_tensor;
    for (uint32_t l = 0; l < shape->n_level; l++) {
        uint32_t next = 0; /* tensors whose buffer is just inside share variables */
        for (uint32_t t = 0; t < n_tensor; t++)
            if (all[t].first == l && !all_saved(model, &all[t], l))
                next |= 1u << t;
        for (uint32_t round = 0; round <= n_tensor; round++) {
            uint32_t tensors = round == n_tensor ? next : all[round].first < l ? 1u << round : 0;
            struct cosa_group group[COSA_GROUP_MAX];
            uint32_t n = cosa_find_groups(model, l, tensors, group);
            for (uint32_t g = 0; g < n; g++) {
                double cost = -model->settings->weight_traf * __builtin_popcount(group[g].tensors);
                uint32_t saved = cosa_add_saving(model, l, &group[g], cost);
                for (uint32_t t = 0; t < n_tensor; t++)
                    if (group[g].tensors >> t & 1u)
                        all[t].saved[l][all[t].n_saved[l]++] = saved;
                if (round < n_tensor)
                    add_conditions(model, &all[round], l, saved, cosa_dims_bits(model, group[g].dims));
            }
        }
    }
}

/* `scale` times the bits of refetches of one tensor. */
static void put_fetches(struct cosa_model *model, const struct fetches *fetches, double scale)
{
    uint32_t dims = unrelated(model->shape, fetches->tensor);
    for (uint32_t l = fetches->first; l < model->shape->n_level; l++) {
        if (all_saved(model, fetches, l))
            continue;
        cosa_put_temporal(model, l, dims, scale);
        for (uint32_t i = 0; i < fetches->n_saved[l]; i++)
            cosa_put(model, fetches->saved[l][i], -scale);
    }
}

/* The maximum is at least each of compute and traffic. */
static void add_maximum(struct cosa_model *model, const struct fetches *all)
{
    const struct cosa_shape *shape = model->shape;
    uint32_t maximum =
        milp_add_variable(model->milp, MILP_CONTINUOUS, 0, INFINITY, model->settings->weight_comp, "maximum");
    for (uint32_t l = 0; l < shape->n_level; l++)
        cosa_put_temporal(model, l, (1u << shape->problem->n_dim) - 1, -1);
    cosa_put(model, maximum, 1);
    (void)cosa_add_row(model, 0, INFINITY, "compute");
    for (uint32_t t = 0; t < shape->problem->n_tensor; t++) {
        double words = bandwidth(shape, t);
        if (isinf(words) || !(words > 0))
            continue;
        cosa_put(model, maximum, 1);
        put_fetches(model, &all[t], -1);
        (void)cosa_add_row(model, log2((double)problem_tensor_words(shape->problem, t)) - log2(words),
                           INFINITY, "traffic");
    }
}

enum dse_status cosa_add_minmax(struct cosa_model *model, struct arena *arena, struct dse_error *err)
{
    const struct cosa_shape *shape = model->shape;
    struct fetches *all = arena_alloc(arena, PROBLEM_TENSOR_MAX, sizeof *all);
    DSE_TRY(arena_check(arena, "a CoSA model", err));
    fix_between_orders(model);
    if (shape->outermost != shape->permutation)
        cosa_add_order(model, shape->outermost, -1);
    for (uint32_t t = 0; t < shape->problem->n_tensor; t++) {
        all[t].tensor = t;
        all[t].first = first_outside(shape, t);
        add_moves(model, &all[t]);
    }
    add_savings(model, all);
    add_maximum(model, all);
    /* u_v in the objective: what is charged there, the savings having a cost of their own. */
    for (uint32_t t = 0; t < shape->problem->n_tensor; t++)
        for (uint32_t l = all[t].first; l < shape->n_level; l++)
            if (!all_saved(model, &all[t], l))
                cosa_add_temporal_cost(model, l, unrelated(shape, t), model->settings->weight_traf);
    return DSE_OK;
}
