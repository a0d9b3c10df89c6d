#include "costmodel/fast_nest.h"

/* Products stay below 2^64 because extents are checked against the bounds after every batch of factors. */
static bool within_bounds(const uint64_t *extent, const struct problem *problem)
{
    uint32_t beyond = 0;
    for (uint32_t d = 0; d < problem->n_dim; d++)
        beyond |= extent[d] > problem->bound[d];
    return !beyond;
}

/* Append without branching on "is it a unit loop": write always, advance by (bound != 1). */
static uint32_t push_temporal(struct fast_nest *nest, const struct mapping_level *level, uint32_t n_dim,
                              uint64_t *extent, uint32_t n)
{
    for (uint32_t k = 0; k < n_dim; k++) {
        uint8_t d = level->temporal_order[k];
        uint32_t bound = level->temporal[d];
        nest->temporal_dim[n] = d;
        nest->temporal_bound[n] = bound;
        nest->temporal_stride[n] = extent[d];
        extent[d] *= bound;
        n += bound != 1;
    }
    return n;
}

static uint32_t push_spatial(struct fast_nest *nest, const struct mapping_level *level, uint32_t n_dim,
                             uint64_t *extent, uint32_t n)
{
    for (uint32_t k = 0; k < n_dim; k++) {
        uint8_t d = level->spatial_order[k];
        uint32_t bound = level->spatial[d];
        nest->spatial_dim[n] = d;
        nest->spatial_bound[n] = bound;
        nest->spatial_stride[n] = extent[d];
        nest->spatial_on_y[n] = k >= level->split;
        extent[d] *= bound;
        n += bound != 1;
    }
    return n;
}

/* Columns and rows in use from the outside in, and whether they fit every mesh. The number of instances is never short
 * when both directions fit, because mesh_x * mesh_y <= instances. */
static bool mesh_fits(const struct evaluator *evaluator, struct fast_nest *nest)
{
    const struct architecture *arch = &evaluator->arch;
    uint64_t x = 1, y = 1;
    bool fits = true;
    for (uint32_t l = arch->n_level; l-- > 0;) {
        nest->used_x[l] = x;
        nest->used_y[l] = y;
        fits &= x <= arch->level[l].mesh_x && y <= arch->level[l].mesh_y;
        uint64_t level_x = 1, level_y = 1;
        for (uint32_t k = nest->spatial_begin[l]; k < nest->spatial_begin[l + 1]; k++) {
            if (nest->spatial_on_y[k])
                level_y *= nest->spatial_bound[k];
            else
                level_x *= nest->spatial_bound[k];
        }
        fits &= !arch->strict_fanout || (level_x <= evaluator->fan_x[l] && level_y <= evaluator->fan_y[l]);
        x *= level_x;
        y *= level_y;
    }
    nest->mac_used = x * y;
    return fits && x <= arch->mac.mesh_x && y <= arch->mac.mesh_y;
}

static bool tiles_fit(const struct evaluator *evaluator, const struct mapping_level *choice, uint32_t l,
                      struct fast_nest *nest)
{
    uint64_t needed = 0;
    const struct storage_level *level = &evaluator->arch.level[l];
    for (uint32_t t = 0; t < evaluator->problem.n_tensor; t++)
        if (choice->keep >> t & 1u) {
            if (!(level->keep_role >> evaluator->problem.tensor[t].role & 1u))
                return false;
            nest->word[l][t] = fast_tile_words(evaluator, t, nest->tile[l]);
            needed += nest->word[l][t];
        }
    if (evaluator->usable_word[l] == ARCH_UNLIMITED)
        return true;
    return needed <= evaluator->usable_word[l] &&
           (double)needed >= (double)evaluator->usable_word[l] * level->min_utilization;
}

static void weigh_loops(struct fast_nest *nest)
{
    double product = 1;
    nest->visits[nest->n_temporal] = 1;
    for (uint32_t j = nest->n_temporal; j-- > 0;) {
        nest->weight[j] = (nest->temporal_bound[j] - 1.0) * product;
        product *= nest->temporal_bound[j];
        nest->visits[j] = product;
    }
    nest->compute_cycle = (uint64_t)product;
}

bool fast_nest_build(const struct evaluator *evaluator, const struct mapping *mapping, struct fast_nest *nest)
{
    const struct problem *problem = &evaluator->problem;
    const struct architecture *arch = &evaluator->arch;
    uint64_t extent[PROBLEM_DIM_MAX];
    uint32_t n_temporal = 0, n_spatial = 0, kept = 0, lost = 0;
    for (uint32_t d = 0; d < problem->n_dim; d++)
        extent[d] = 1;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const struct mapping_level *level = &mapping->level[l];
        nest->spatial_begin[l] = n_spatial;
        nest->temporal_begin[l] = n_temporal;
        if (evaluator->fan_x[l] * evaluator->fan_y[l] > 1) {
            n_spatial = push_spatial(nest, level, problem->n_dim, extent, n_spatial);
            if (!within_bounds(extent, problem))
                return false;
        } else {
            for (uint32_t d = 0; d < problem->n_dim; d++)
                lost |= level->spatial[d] ^ 1u;
        }
        n_temporal = push_temporal(nest, level, problem->n_dim, extent, n_temporal);
        if (!within_bounds(extent, problem))
            return false;
        for (uint32_t d = 0; d < problem->n_dim; d++)
            nest->tile[l][d] = (uint32_t)extent[d];
        if (!tiles_fit(evaluator, level, l, nest))
            return false;
        kept |= level->keep;
    }
    for (uint32_t d = 0; d < problem->n_dim; d++)
        lost |= extent[d] != problem->bound[d];
    if (lost || kept != (1u << problem->n_tensor) - 1)
        return false;
    nest->n_temporal = nest->temporal_begin[arch->n_level] = n_temporal;
    nest->spatial_begin[arch->n_level] = n_spatial;
    weigh_loops(nest);
    return mesh_fits(evaluator, nest);
}
