#include <math.h>

#include "engines/cosa/formulation.h"

/* The choice of an order: T_v of equation 10 charges every temporal loop of the permutation level at or outside the innermost loop that
 * indexes v. So an order saves v the innermost run of loops that do not, and a handful of orders suffices (docs/cosa.md). */

/* The choices that save tensor t the loop over d. */
static uint32_t savers(const struct cosa_model *model, uint32_t t, uint32_t d)
{
    uint32_t choices = 0;
    for (uint32_t c = 0; c < model->n_choice; c++)
        if (model->choice[c].saved[t] >> d & 1u)
            choices |= 1u << c;
    return choices;
}

static void add_group(struct cosa_model *model, uint32_t choices, uint32_t dims, uint32_t t)
{
    for (uint32_t g = 0; g < model->n_group; g++)
        if (model->group[g].choices == choices && model->group[g].dims == dims) {
            model->group[g].tensors |= 1u << t;
            return;
        }
    if (model->n_group < COSA_GROUP_MAX)
        model->group[model->n_group++] =
            (struct cosa_group){.choices = choices, .dims = dims, .tensors = 1u << t};
}

/* The dimensions of each tensor by the set of choices that save them; tensors with the same sets share a group. */
static void find_groups(struct cosa_model *model)
{
    uint32_t n_dim = model->shape->problem->n_dim;
    for (uint32_t t = 0; t < model->shape->problem->n_tensor; t++) {
        uint32_t done = 0;
        for (uint32_t d = 0; d < n_dim; d++) {
            uint32_t choices = savers(model, t, d), dims = 0;
            if (choices == 0 || (done >> d & 1u))
                continue;
            for (uint32_t e = d; e < n_dim; e++)
                if (savers(model, t, e) == choices)
                    dims |= 1u << e;
            done |= dims;
            if (cosa_dims_bits(model, dims) > 0)
                add_group(model, choices, dims, t);
        }
    }
}

/* Bits saved at the permutation level: at most those of the loops there, and none unless one of the orders is chosen. */
static void add_saving(struct cosa_model *model, const struct cosa_group *group)
{
    double most = cosa_dims_bits(model, group->dims);
    double cost = -model->settings->weight_traf * __builtin_popcount(group->tensors);
    uint32_t saved = milp_add_variable(model->milp, MILP_CONTINUOUS, 0, most, cost, "saved");
    cosa_put(model, saved, 1);
    cosa_put_temporal(model, model->shape->permutation, group->dims, -1);
    (void)cosa_add_row(model, -INFINITY, 0, "saved loops");
    cosa_put(model, saved, 1);
    for (uint32_t c = 0; c < model->n_choice; c++)
        if (group->choices >> c & 1u)
            cosa_put(model, model->choice_variable[c], -most);
    (void)cosa_add_row(model, -INFINITY, 0, "saved by the order");
}

void cosa_add_choice(struct cosa_model *model)
{
    model->n_choice = cosa_choices(model->shape, model->settings->stationary, model->choice);
    find_groups(model);
    for (uint32_t c = 0; c < model->n_choice; c++) {
        model->choice_variable[c] = milp_add_variable(model->milp, MILP_INTEGER, 0, 1, 0, "order");
        cosa_put(model, model->choice_variable[c], 1);
    }
    (void)cosa_add_row(model, 1, 1, "one order");
    for (uint32_t g = 0; g < model->n_group; g++)
        add_saving(model, &model->group[g]);
}
