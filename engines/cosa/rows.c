/* The rows of meshes, capacities and the user's constraints. */
#include <math.h>

#include "engines/cosa/formulation.h"

/* A dimension lies on one axis of a level, as a mapping has it. */
static void add_side_rows(struct cosa_model *model, uint32_t l)
{
    for (uint32_t d = 0; d < model->shape->problem->n_dim; d++) {
        uint32_t side = COSA_NONE;
        for (uint32_t k = 0; k < model->n_kind; k++) {
            const uint32_t *count = model->count[k][l], *highest = model->highest[k][l];
            if (model->kind[k].dim != d || (count[COSA_X] == COSA_NONE && count[COSA_Y] == COSA_NONE))
                continue;
            if (side == COSA_NONE)
                side = milp_add_variable(model->milp, MILP_INTEGER, 0, 1, 0, "on X");
            cosa_put(model, count[COSA_X], 1);
            cosa_put(model, side, -(double)highest[COSA_X]);
            (void)cosa_add_row(model, -INFINITY, 0, "X");
            cosa_put(model, count[COSA_Y], 1);
            cosa_put(model, side, highest[COSA_Y]);
            (void)cosa_add_row(model, -INFINITY, highest[COSA_Y], "Y");
        }
    }
}

void cosa_add_spatial_rows(struct cosa_model *model)
{
    for (uint32_t l = 0; l < model->shape->n_level; l++) {
        uint64_t fanout[2];
        architecture_fanout(model->shape->arch, l, &fanout[0], &fanout[1]);
        for (int axis = COSA_X; axis <= COSA_Y; axis++) {
            for (uint32_t k = 0; k < model->n_kind; k++)
                cosa_put(model, model->count[k][l][axis], model->kind[k].bits);
            if (model->n_term > 0)
                (void)cosa_add_row(model, -INFINITY, log2((double)fanout[axis - COSA_X]) + COSA_BITS_SLACK,
                                   "fan-out");
        }
        if (fanout[0] > 1 && fanout[1] > 1)
            add_side_rows(model, l);
    }
}

void cosa_add_capacity_rows(struct cosa_model *model)
{
    const struct cosa_shape *shape = model->shape;
    for (uint32_t i = 0; i < shape->outermost; i++)
        for (uint32_t t = 0; t < shape->problem->n_tensor; t++) {
            if (!(shape->keep[i] >> t & 1u) || isinf(shape->room[i][t]))
                continue;
            for (uint32_t k = 0; k < model->n_kind; k++)
                for (uint32_t l = 0; l <= i; l++)
                    for (int axis = 0; axis < COSA_AXIS_COUNT; axis++)
                        cosa_put(model, model->count[k][l][axis],
                                 cosa_charge(shape, model->halo, i, t, &model->kind[k]));
            if (model->n_term == 0)
                continue;
            struct cosa_capacity *capacity = &model->capacity[model->n_capacity++];
            *capacity = (struct cosa_capacity){.level = i, .tensor = t};
            capacity->row = cosa_add_row(model, -INFINITY, cosa_room_bits(shape, i, t), "tile");
        }
}

/* ---------------------------------------- user's constraints */

static void put_factor(struct cosa_model *model, uint32_t k, uint32_t l, bool spatial, double coefficient)
{
    if (spatial) {
        cosa_put(model, model->count[k][l][COSA_X], coefficient);
        cosa_put(model, model->count[k][l][COSA_Y], coefficient);
    } else {
        cosa_put(model, model->count[k][l][COSA_TEMPORAL], coefficient);
    }
}

/* A fixed factor fixes how many of each prime lie here. (A row without a variable says that it cannot be:
 * infeasible.) */
static void fix_factor(struct cosa_model *model, uint32_t d, uint32_t l, bool spatial, uint32_t factor)
{
    for (uint32_t k = 0; k < model->n_kind; k++) {
        if (model->kind[k].dim != d)
            continue;
        uint32_t count = 0;
        for (; factor % model->kind[k].prime == 0; factor /= model->kind[k].prime)
            count++;
        put_factor(model, k, l, spatial, 1);
        (void)cosa_add_row(model, count, count, "fixed factor");
    }
    if (factor > 1)
        (void)cosa_add_row(model, 1, 1, "a factor that does not divide the bound");
}

static void limit_factors(struct cosa_model *model, uint32_t l, bool spatial,
                          const struct loop_constraints *loops)
{
    for (uint32_t d = 0; d < model->shape->problem->n_dim; d++) {
        if (loops->fixed[d])
            fix_factor(model, d, l, spatial, loops->fixed[d]);
        if (!loops->highest[d] || loops->fixed[d])
            continue;
        for (uint32_t k = 0; k < model->n_kind; k++)
            if (model->kind[k].dim == d)
                put_factor(model, k, l, spatial, model->kind[k].bits);
        (void)cosa_add_row(model, -INFINITY, log2(loops->highest[d]) + COSA_BITS_SLACK, "largest factor");
    }
}

void cosa_add_constraint_rows(struct cosa_model *model)
{
    const struct mapspace_constraints *constraints = model->shape->constraints;
    if (!constraints)
        return;
    for (uint32_t l = 0; l < model->shape->n_level; l++) {
        const struct level_constraints *level = &constraints->level[l];
        limit_factors(model, l, false, &level->temporal);
        limit_factors(model, l, true, &level->spatial);
        for (uint32_t k = 0; k < model->n_kind; k++) {
            if (!(level->dims_x >> model->kind[k].dim & 1u) && model->count[k][l][COSA_X] != COSA_NONE)
                milp_set_variable_bounds(model->milp, model->count[k][l][COSA_X], 0, 0);
            if (!(level->dims_y >> model->kind[k].dim & 1u) && model->count[k][l][COSA_Y] != COSA_NONE)
                milp_set_variable_bounds(model->milp, model->count[k][l][COSA_Y], 0, 0);
        }
    }
}
