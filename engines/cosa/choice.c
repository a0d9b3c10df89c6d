/* The choice of an order: T_v of equation 10 charges every temporal loop of the permutation level at or
 * outside the innermost loop that indexes v. So an order saves v the innermost run of loops that do not, and
 * a handful of orders suffices (docs/cosa.md). */
#include <math.h>

#include "engines/cosa/formulation.h"

/* The choices of a level's order that save tensor t the loop over d. */
static uint32_t savers(const struct cosa_order *order, uint32_t t, uint32_t d)
{
    uint32_t choices = 0;
    for (uint32_t c = 0; c < order->n_choice; c++)
        if (order->choice[c].saved[t] >> d & 1u)
            choices |= 1u << c;
    return choices;
}

static uint32_t add_group(struct cosa_group *group, uint32_t n, uint32_t choices, uint32_t dims, uint32_t t)
{
    for (uint32_t g = 0; g < n; g++)
        if (group[g].choices == choices && group[g].dims == dims) {
            group[g].tensors |= 1u << t;
            return n;
        }
    if (n < COSA_GROUP_MAX)
        group[n++] = (struct cosa_group){.choices = choices, .dims = dims, .tensors = 1u << t};
    return n;
}

uint32_t cosa_find_groups(const struct cosa_model *model, uint32_t l, uint32_t tensors,
                          struct cosa_group *group)
{
    const struct cosa_order *order = &model->order[l];
    uint32_t n_dim = model->shape->problem->n_dim, n = 0;
    for (uint32_t t = 0; t < model->shape->problem->n_tensor; t++) {
        uint32_t done = 0;
        for (uint32_t d = 0; d < n_dim && (tensors >> t & 1u); d++) {
            uint32_t choices = savers(order, t, d), dims = 0;
            if (choices == 0 || (done >> d & 1u))
                continue;
            for (uint32_t e = d; e < n_dim; e++)
                if (savers(order, t, e) == choices)
                    dims |= 1u << e;
            done |= dims;
            if (cosa_dims_bits(model, dims) > 0)
                n = add_group(group, n, choices, dims, t);
        }
    }
    return n;
}

uint32_t cosa_add_saving(struct cosa_model *model, uint32_t l, const struct cosa_group *group, double cost)
{
    const struct cosa_order *order = &model->order[l];
    double most = cosa_dims_bits(model, group->dims);
    uint32_t saved = milp_add_variable(model->milp, MILP_CONTINUOUS, 0, most, cost, "saved");
    cosa_put(model, saved, 1);
    cosa_put_temporal(model, l, group->dims, -1);
    (void)cosa_add_row(model, -INFINITY, 0, "saved loops");
    if (order->variable[0] == COSA_NONE)
        return saved;
    cosa_put(model, saved, 1);
    for (uint32_t c = 0; c < order->n_choice; c++)
        if (group->choices >> c & 1u)
            cosa_put(model, order->variable[c], -most);
    (void)cosa_add_row(model, -INFINITY, 0, "saved by the order");
    return saved;
}

void cosa_add_order(struct cosa_model *model, uint32_t l, int first)
{
    struct cosa_order *order = &model->order[l];
    order->n_choice = cosa_choices(model->shape, l, first, order->choice);
    for (uint32_t c = 0; c < order->n_choice; c++) {
        order->variable[c] = milp_add_variable(model->milp, MILP_INTEGER, 0, 1, 0, "order");
        cosa_put(model, order->variable[c], 1);
    }
    (void)cosa_add_row(model, 1, 1, "one order");
}

void cosa_add_choice(struct cosa_model *model)
{
    struct cosa_group group[COSA_GROUP_MAX];
    uint32_t l = model->shape->permutation;
    cosa_add_order(model, l, model->settings->stationary);
    uint32_t n = cosa_find_groups(model, l, (1u << model->shape->problem->n_tensor) - 1, group);
    for (uint32_t g = 0; g < n; g++)
        (void)cosa_add_saving(model, l, &group[g],
                              -model->settings->weight_traf * __builtin_popcount(group[g].tensors));
}
