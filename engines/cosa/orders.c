/* Loop orders: the default of a level, and the orders of the permutation level among which the model
 * chooses. */
#include <string.h>

#include "engines/cosa/formulation.h"

static bool indexes_all(const struct cosa_shape *shape, uint32_t d)
{
    for (uint32_t t = 0; t < shape->problem->n_tensor; t++)
        if (!(shape->related[t] >> d & 1u))
            return false;
    return true;
}

void cosa_default_order(const struct cosa_shape *shape, uint8_t *order)
{
    uint32_t n = 0;
    for (int last = 0; last < 2; last++)
        for (uint32_t d = 0; d < shape->problem->n_dim; d++)
            if (indexes_all(shape, d) == (last == 1))
                order[n++] = (uint8_t)d;
}

void cosa_level_order(const struct cosa_shape *shape, uint32_t l, const uint8_t *wanted, uint8_t *order)
{
    uint32_t n = 0, seen = 0;
    if (shape->constraints) {
        const struct loop_constraints *loops = &shape->constraints->level[l].temporal;
        for (; n < loops->n_order; n++) {
            order[n] = loops->order[n];
            seen |= 1u << order[n];
        }
    }
    for (uint32_t i = 0; i < shape->problem->n_dim; i++)
        if (!(seen >> wanted[i] & 1u))
            order[n++] = wanted[i];
}

/* Can the temporal loop over d be longer than 1 at level l? */
static bool is_open(const struct cosa_shape *shape, uint32_t l, uint32_t d)
{
    if (shape->problem->bound[d] == 1 || !shape->constraints)
        return shape->problem->bound[d] > 1;
    const struct loop_constraints *loops = &shape->constraints->level[l].temporal;
    return loops->fixed[d] != 1 && loops->highest[d] != 1;
}

/* A list of choices that grows by one order after the other. */
struct choice_list {
    const struct cosa_shape *shape;
    uint32_t level;
    bool skip_units; /* the user's wishes may put loops of length 1 in the way */
    int stationary;  /* the tensor that saves all it can, -1: none */
    uint32_t must;   /* what that is */
    uint32_t n;
    struct cosa_choice *choice;
};

/* The innermost run of loops that tensor t does not index. Loops that cannot be longer than 1 do not end it,
 * but only where the user's order or stationary tensor makes them stand in the way. */
static uint32_t run_of(const struct choice_list *list, const uint8_t *order, uint32_t t)
{
    const struct cosa_shape *shape = list->shape;
    uint32_t saved = 0;
    for (uint32_t i = 0; i < shape->problem->n_dim; i++) {
        uint32_t d = order[i];
        if (!(shape->related[t] >> d & 1u))
            saved |= 1u << d;
        else if (!list->skip_units || is_open(shape, list->level, d))
            break;
    }
    return saved;
}

static bool covers(const struct cosa_choice *a, const struct cosa_choice *b, uint32_t n_tensor)
{
    for (uint32_t t = 0; t < n_tensor; t++)
        if (b->saved[t] & ~a->saved[t])
            return false;
    return true;
}

/* Add an order unless another saves as much everywhere; orders that it makes useless go. */
static void add_choice(struct choice_list *list, const uint8_t *wanted)
{
    const struct cosa_shape *shape = list->shape;
    struct cosa_choice choice = {{0}, {0}};
    uint32_t n_tensor = shape->problem->n_tensor;
    cosa_level_order(shape, list->level, wanted, choice.order);
    for (uint32_t t = 0; t < n_tensor; t++)
        choice.saved[t] = run_of(list, choice.order, t);
    if (list->stationary >= 0 && (list->must & ~choice.saved[list->stationary]))
        return;
    for (uint32_t c = 0; c < list->n; c++)
        if (covers(&list->choice[c], &choice, n_tensor))
            return;
    uint32_t kept = 0;
    for (uint32_t c = 0; c < list->n; c++)
        if (!covers(&choice, &list->choice[c], n_tensor))
            list->choice[kept++] = list->choice[c];
    list->n = kept;
    if (list->n < COSA_CHOICE_MAX)
        list->choice[list->n++] = choice;
}

/* Tensors in the order of `chain`: each one saves the loops that neither it nor those before it index. So the
 * loops that most of them do not index come innermost. */
static void add_chain(struct choice_list *list, const uint8_t *chain, uint32_t n_chain)
{
    const struct cosa_shape *shape = list->shape;
    uint8_t base[PROBLEM_DIM_MAX], order[PROBLEM_DIM_MAX];
    uint32_t depth[PROBLEM_DIM_MAX] = {0}, n = 0;
    cosa_default_order(shape, base);
    for (uint32_t d = 0; d < shape->problem->n_dim; d++)
        while (depth[d] < n_chain && !(shape->related[chain[depth[d]]] >> d & 1u))
            depth[d]++;
    for (uint32_t at = n_chain + 1; at-- > 0;)
        for (uint32_t i = 0; i < shape->problem->n_dim; i++)
            if (depth[base[i]] == at)
                order[n++] = base[i];
    add_choice(list, order);
}

/* Extend the chain by every other tensor while some loop is still saved by all in it. */
static void extend(struct choice_list *list, uint8_t *chain, uint32_t n_chain, uint32_t open)
{
    const struct cosa_shape *shape = list->shape;
    bool longer = false;
    for (uint32_t t = 0; t < shape->problem->n_tensor && n_chain > 0; t++) {
        uint32_t left = open & ~shape->related[t];
        bool used = false;
        for (uint32_t i = 0; i < n_chain; i++)
            used = used || chain[i] == t;
        if (used || left == 0)
            continue;
        chain[n_chain] = (uint8_t)t;
        extend(list, chain, n_chain + 1, left);
        longer = true;
    }
    if (!longer)
        add_chain(list, chain, n_chain);
}

uint32_t cosa_choices(const struct cosa_shape *shape, uint32_t l, int first, struct cosa_choice *choice)
{
    struct choice_list list = {.shape = shape, .level = l, .stationary = -1, .choice = choice};
    list.skip_units = first >= 0 || (shape->constraints && shape->constraints->level[l].temporal.n_order > 0);
    uint32_t all = (1u << shape->problem->n_dim) - 1;
    uint8_t chain[PROBLEM_TENSOR_MAX];
    if (first >= 0) { /* alone it saves all it can; of the other orders those count in which it does, too */
        chain[0] = (uint8_t)first;
        add_chain(&list, chain, 1);
        list.stationary = first;
        for (uint32_t d = 0; d < shape->problem->n_dim; d++)
            if (is_open(shape, l, d))
                list.must |= choice[0].saved[first] & 1u << d;
    }
    for (uint32_t t = 0; t < shape->problem->n_tensor; t++) {
        chain[0] = (uint8_t)t;
        extend(&list, chain, 1, all & ~shape->related[t]);
    }
    return list.n;
}
