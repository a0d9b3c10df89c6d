/* From a solution of the model to a mapping. */
#include "engines/cosa/cosa_gpu.h"
#include "engines/cosa/formulation.h"

static uint32_t power(uint32_t base, double exponent)
{
    uint32_t product = 1;
    for (; exponent > 0.5; exponent -= 1)
        product *= base;
    return product;
}

/* The product of the factors of dimension d at a place. */
static uint32_t factor_at(const struct cosa_model *model, const double *value, uint32_t d, uint32_t l,
                          int axis)
{
    uint32_t factor = 1;
    for (uint32_t k = 0; k < model->n_kind; k++)
        if (model->kind[k].dim == d && model->count[k][l][axis] != COSA_NONE)
            factor *= power(model->kind[k].prime, value[model->count[k][l][axis]]);
    return factor;
}

/* Spatial loops of one level: those on X, then those on Y, each as the constraints and the default order say;
 * then unit loops. */
static void set_spatial(const struct cosa_model *model, const double *value, uint32_t l,
                        struct mapping_level *level)
{
    const struct cosa_shape *shape = model->shape;
    uint32_t n_dim = shape->problem->n_dim, n = 0, seen = 0, axis_of[PROBLEM_DIM_MAX];
    uint8_t base[PROBLEM_DIM_MAX], order[PROBLEM_DIM_MAX];
    cosa_default_order(shape, base);
    for (uint32_t d = 0; d < n_dim; d++) {
        uint32_t x = factor_at(model, value, d, l, COSA_X), y = factor_at(model, value, d, l, COSA_Y);
        level->spatial[d] = x * y;
        axis_of[d] = x > 1 ? COSA_X : y > 1 ? COSA_Y : COSA_TEMPORAL;
    }
    if (shape->constraints)
        for (; n < shape->constraints->level[l].spatial.n_order; n++) {
            order[n] = shape->constraints->level[l].spatial.order[n];
            seen |= 1u << order[n];
        }
    for (uint32_t i = 0; i < n_dim; i++)
        if (!(seen >> base[i] & 1u))
            order[n++] = base[i];
    n = 0;
    bool on_y = false;
    static const enum cosa_axis turn[] = {COSA_X, COSA_Y, COSA_TEMPORAL};
    for (int j = 0; j < 3; j++) {
        for (uint32_t i = 0; i < n_dim; i++)
            if (axis_of[order[i]] == turn[j]) {
                level->spatial_order[n++] = order[i];
                on_y = on_y || turn[j] == COSA_Y;
            }
        if (turn[j] == COSA_X)
            level->split = (uint8_t)n;
    }
    if (!on_y)
        level->split = (uint8_t)n_dim;
}

/* The order of level l: the chosen one, the only one, or the default. */
static const uint8_t *picked(const struct cosa_model *model, const double *value, uint32_t l,
                             const uint8_t *otherwise)
{
    const struct cosa_order *order = &model->order[l];
    for (uint32_t c = 0; c < order->n_choice; c++)
        if (order->variable[c] == COSA_NONE || value[order->variable[c]] > 0.5)
            return order->choice[c].order;
    return otherwise;
}

void cosa_extract(const struct cosa_model *model, const double *value, struct mapping *mapping)
{
    const struct cosa_shape *shape = model->shape;
    uint8_t base[PROBLEM_DIM_MAX];
    cosa_default_order(shape, base);
    cosa_gpu_order(shape, base);
    mapping_init(mapping, shape->problem, shape->arch);
    for (uint32_t l = 0; l < shape->n_level; l++) {
        struct mapping_level *level = &mapping->level[l];
        level->keep = (uint8_t)shape->keep[l];
        for (uint32_t d = 0; d < shape->problem->n_dim; d++)
            level->temporal[d] = factor_at(model, value, d, l, COSA_TEMPORAL);
        cosa_level_order(shape, l, picked(model, value, l, base), level->temporal_order);
        set_spatial(model, value, l, level);
        if (shape->constraints) {
            level->no_temporal_reuse = shape->constraints->level[l].no_temporal_reuse;
            level->no_link_transfer = shape->constraints->level[l].no_link_transfer;
            level->no_multicast = shape->constraints->level[l].no_multicast;
        }
    }
}
