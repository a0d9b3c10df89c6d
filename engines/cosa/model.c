/* Variables, their costs, and the rows that every model has. */
#include <math.h>
#include <string.h>

#include "engines/cosa/cosa_gpu.h"
#include "engines/cosa/formulation.h"

void cosa_put(struct cosa_model *model, uint32_t variable, double coefficient)
{
    if (variable != COSA_NONE && coefficient != 0)
        model->term[model->n_term++] = (struct milp_term){variable, coefficient};
}

uint32_t cosa_add_row(struct cosa_model *model, double lowest, double highest, const char *name)
{
    uint32_t row = milp_add_row(model->milp, lowest, highest, model->term, model->n_term, name);
    model->n_term = 0;
    return row;
}

void cosa_put_temporal(struct cosa_model *model, uint32_t l, uint32_t dims, double scale)
{
    for (uint32_t k = 0; k < model->n_kind; k++)
        if (dims >> model->kind[k].dim & 1u)
            cosa_put(model, model->count[k][l][COSA_TEMPORAL], scale * model->kind[k].bits);
}

double cosa_dims_bits(const struct cosa_model *model, uint32_t dims)
{
    double bits = 0;
    for (uint32_t k = 0; k < model->n_kind; k++)
        if (dims >> model->kind[k].dim & 1u)
            bits += model->kind[k].count * model->kind[k].bits;
    return bits;
}

/* Bits that one window factor adds at level l. Inside the outermost inner keeper it is always the full size:
 * tiles there are so small that one bit would seldom do. */
static double window_bits(const struct cosa_shape *shape, enum cosa_halo halo, uint32_t l, uint32_t t,
                          const struct cosa_kind *kind)
{
    double full = cosa_window_bits(shape, t, kind->dim, kind->bits);
    uint32_t outermost = cosa_outermost_inner_keeper(shape, t);
    if (full == 0 || halo == COSA_HALO_SAFE)
        return full;
    bool inside = outermost != COSA_NONE && l < outermost;
    bool at = l == outermost;
    if (inside)
        return full;
    return at || halo == COSA_HALO_ALL ? 1 : 0;
}

/* log2 of the coefficients of a tile, if they are charged once there; else 0. A room that they would fill is
 * charged with every prime instead: then a tile of one word still fits. */
static double stride_bits(const struct cosa_shape *shape, uint32_t l, uint32_t t)
{
    double bits = 0;
    for (uint32_t d = 0; d < shape->problem->n_dim && shape->stride_once; d++)
        if (shape->problem->bound[d] > 1)
            bits += cosa_tile_bits(shape, t, d, 0, true);
    return bits <= log2(shape->room[l][t]) ? bits : 0;
}

double cosa_room_bits(const struct cosa_shape *shape, uint32_t l, uint32_t t)
{
    return log2(shape->room[l][t]) - stride_bits(shape, l, t) + COSA_BITS_SLACK;
}

double cosa_charge(const struct cosa_shape *shape, enum cosa_halo halo, uint32_t l, uint32_t t,
                   const struct cosa_kind *kind)
{
    bool with_stride = stride_bits(shape, l, t) == 0;
    return cosa_tile_bits(shape, t, kind->dim, kind->bits, with_stride) +
           window_bits(shape, halo, l, t, kind);
}

/* ---------------------------------------- variables */

static bool is_window(const struct cosa_shape *shape, uint32_t d)
{
    for (uint32_t t = 0; t < shape->problem->n_tensor; t++)
        if (shape->halo[t] >> d & 1u)
            return true;
    return false;
}

/* The most factors of kind k that fit the tiles of level l and of those outside it. */
static uint32_t most_that_fit(const struct cosa_model *model, uint32_t k, uint32_t l)
{
    const struct cosa_shape *shape = model->shape;
    double most = model->kind[k].count;
    for (uint32_t i = l; i < shape->outermost; i++)
        for (uint32_t t = 0; t < shape->problem->n_tensor; t++) {
            double charge = cosa_charge(shape, model->halo, i, t, &model->kind[k]);
            if ((shape->keep[i] >> t & 1u) && !isinf(shape->room[i][t]) && charge > 0)
                most = fmin(most, floor(cosa_room_bits(shape, i, t) / charge));
        }
    return (uint32_t)most;
}

/* The largest number of factors of kind k at a place, 0 when there is no such place. */
static uint32_t most_at(const struct cosa_model *model, uint32_t k, uint32_t l, enum cosa_axis axis)
{
    const struct cosa_shape *shape = model->shape;
    const struct cosa_kind *kind = &model->kind[k];
    if (model->halo == COSA_HALO_AT_DRAM && is_window(shape, kind->dim) &&
        (l != shape->outermost || axis != COSA_TEMPORAL))
        return 0;
    uint32_t most = l == shape->outermost ? kind->count : most_that_fit(model, k, l);
    if (axis != COSA_TEMPORAL) {
        uint64_t fanout[2];
        architecture_fanout(shape->arch, l, &fanout[0], &fanout[1]);
        uint32_t fits = 0;
        for (uint64_t f = fanout[axis == COSA_X ? 0 : 1]; f >= kind->prime; f /= kind->prime)
            fits++;
        most = fits < most ? fits : most;
    }
    return most;
}

/* What one factor of kind k at a place costs in the paper's objective. */
static double cost_at(const struct cosa_model *model, uint32_t k, uint32_t l, enum cosa_axis axis)
{
    const struct cosa_shape *shape = model->shape;
    const struct cosa_settings *s = model->settings;
    const struct cosa_kind *kind = &model->kind[k];
    uint32_t inner_end = shape->permutation == COSA_NONE ? 0 : shape->permutation;
    double util = 0, traf = 0, comp = axis == COSA_TEMPORAL ? kind->bits : 0;
    for (uint32_t t = 0; t < shape->problem->n_tensor; t++) {
        bool related = shape->related[t] >> kind->dim & 1u;
        if (l < inner_end)
            traf += related ? s->size_factor * cosa_level_factor(s, l) * kind->bits : 0;
        else if (axis != COSA_TEMPORAL)
            traf += related || !s->spatial_related_only ? s->spatial_factor * kind->bits : 0;
        else if (l == shape->permutation)
            traf += kind->bits;
        for (uint32_t i = l; i < inner_end; i++)
            if (shape->keep[i] >> t & 1u)
                util += (i == shape->util_level ? s->util_weight_factor : 1) *
                        cosa_tile_bits(shape, t, kind->dim, kind->bits, !shape->stride_once);
    }
    if (axis == COSA_TEMPORAL && l >= inner_end && l != shape->permutation)
        traf += cosa_outer_weight(shape, s) * kind->bits;
    double weight_comp = s->form == COSA_FORM_MINMAX ? s->minmax_comp : s->weight_comp;
    return -s->weight_util * util + weight_comp * comp + s->weight_traf * traf;
}

static void add_counts(struct cosa_model *model)
{
    for (uint32_t k = 0; k < model->n_kind; k++)
        for (uint32_t l = 0; l < model->shape->n_level; l++)
            for (int axis = 0; axis < COSA_AXIS_COUNT; axis++) {
                uint32_t most = most_at(model, k, l, (enum cosa_axis)axis);
                model->highest[k][l][axis] = most;
                model->count[k][l][axis] = COSA_NONE;
                if (most == 0)
                    continue;
                double cost = cost_at(model, k, l, (enum cosa_axis)axis);
                model->count[k][l][axis] = milp_add_variable(model->milp, MILP_INTEGER, 0, most, cost, NULL);
                if (axis == COSA_TEMPORAL)
                    model->cost[k][l] = cost;
            }
}

void cosa_add_temporal_cost(struct cosa_model *model, uint32_t l, uint32_t dims, double weight)
{
    for (uint32_t k = 0; k < model->n_kind; k++) {
        if (!(dims >> model->kind[k].dim & 1u) || model->count[k][l][COSA_TEMPORAL] == COSA_NONE)
            continue;
        model->cost[k][l] += weight * model->kind[k].bits;
        milp_set_cost(model->milp, model->count[k][l][COSA_TEMPORAL], model->cost[k][l]);
    }
}

/* Every factor goes somewhere; where there is one place only, it is there. */
static void add_cover_rows(struct cosa_model *model)
{
    for (uint32_t k = 0; k < model->n_kind; k++) {
        double count = model->kind[k].count;
        for (uint32_t l = 0; l < model->shape->n_level; l++)
            for (int axis = 0; axis < COSA_AXIS_COUNT; axis++)
                cosa_put(model, model->count[k][l][axis], 1);
        if (model->n_term == 1) {
            milp_set_variable_bounds(model->milp, model->term[0].variable, count, count);
            model->n_term = 0;
        } else {
            (void)cosa_add_row(model, count, count, "all factors");
        }
    }
}

enum dse_status cosa_model_build(struct cosa_model *model, const struct cosa_shape *shape,
                                 const struct cosa_settings *settings, enum cosa_halo halo, bool plain,
                                 struct arena *arena, struct dse_error *err)
{
    memset(model, 0, sizeof *model);
    model->shape = shape;
    model->settings = settings;
    model->halo = halo;
    model->milp = milp_new(arena);
    model->n_kind = cosa_factorise(shape->problem, model->kind);
    model->term =
        arena_alloc(arena, (size_t)(model->n_kind + 2) * ARCH_LEVEL_MAX * COSA_AXIS_COUNT * 2 + 2048,
                    sizeof *model->term);
    DSE_TRY(arena_check(arena, "a CoSA model", err));
    add_counts(model);
    add_cover_rows(model);
    cosa_add_spatial_rows(model);
    cosa_add_capacity_rows(model);
    cosa_add_constraint_rows(model);
    cosa_add_gpu_rows(model);
    if (shape->permutation != COSA_NONE)
        cosa_add_choice(model);
    if (settings->form == COSA_FORM_MINMAX)
        DSE_TRY(cosa_add_minmax(model, arena, err));
    if (!plain) {
        cosa_add_pattern_rows(model);
        cosa_add_symmetry_rows(model);
    }
    return DSE_OK;
}
