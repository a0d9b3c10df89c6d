/* Builds the loop list with strides and extents, then asks whether spatial loops, meshes, tiles and thread
 * block fit; the first thing that does not is the misfit. */
#include "costmodel/loopnest/plain.h"

#include <math.h>
#include <string.h>

#include "costmodel/model/bank_group.h"
#include "costmodel/model/gpu_limits.h"

static bool is_permutation(const uint8_t *order, uint32_t n)
{
    uint32_t seen = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (order[k] >= n || (seen >> order[k] & 1u))
            return false;
        seen |= 1u << order[k];
    }
    return true;
}

static bool shape_matches(const struct problem *problem, const struct architecture *arch,
                          const struct mapping *mapping, struct misfit_info *fit)
{
    *fit = (struct misfit_info){.what = MISFIT_ORDER, .level = -1, .dim = -1};
    if (mapping->n_level != arch->n_level || mapping->n_dim != problem->n_dim)
        return false;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        fit->level = (int)l;
        if (!is_permutation(mapping->level[l].temporal_order, problem->n_dim) ||
            !is_permutation(mapping->level[l].spatial_order, problem->n_dim) ||
            mapping->level[l].split > problem->n_dim)
            return false;
    }
    return true;
}

static bool factors_cover(const struct problem *problem, const struct mapping *mapping,
                          struct misfit_info *fit)
{
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        uint64_t product = 1;
        for (uint32_t l = 0; l < mapping->n_level && product <= problem->bound[d]; l++) {
            product *= mapping->level[l].spatial[d];
            if (product <= problem->bound[d])
                product *= mapping->level[l].temporal[d];
        }
        if (product != problem->bound[d]) {
            *fit = (struct misfit_info){.what = MISFIT_FACTORS,
                                        .level = -1,
                                        .dim = (int)d,
                                        .needed = product,
                                        .available = problem->bound[d]};
            return false;
        }
    }
    return true;
}

static void push_loop(struct nest *nest, uint32_t *extent, uint32_t dim, uint32_t bound, uint32_t level,
                      enum loop_kind kind)
{
    if (bound == 1)
        return;
    nest->loop[nest->n_loop++] =
        (struct nest_loop){.dim = dim, .bound = bound, .level = level, .kind = kind, .stride = extent[dim]};
    extent[dim] *= bound;
}

/* Columns and rows in use at each level: the X and Y factors of all levels further out. */
static void count_used(struct nest *nest, uint32_t n_level)
{
    uint64_t x = 1, y = 1;
    for (uint32_t l = n_level; l-- > 0;) {
        nest->x_used[l] = x;
        nest->y_used[l] = y;
        for (uint32_t k = nest->spatial_begin[l]; k < nest->temporal_begin[l]; k++) {
            if (nest->loop[k].kind == LOOP_SPATIAL_X)
                x *= nest->loop[k].bound;
            else
                y *= nest->loop[k].bound;
        }
    }
    nest->mac_x_used = x;
    nest->mac_y_used = y;
}

bool nest_build(const struct problem *problem, const struct architecture *arch, const struct mapping *mapping,
                struct nest *nest, struct misfit_info *fit)
{
    if (!shape_matches(problem, arch, mapping, fit) || !factors_cover(problem, mapping, fit))
        return false;
    uint32_t extent[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < problem->n_dim; d++)
        extent[d] = 1;
    nest->n_loop = 0;
    nest->compute_cycle = 1;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const struct mapping_level *level = &mapping->level[l];
        nest->spatial_begin[l] = nest->n_loop;
        for (uint32_t k = 0; k < problem->n_dim; k++)
            push_loop(nest, extent, level->spatial_order[k], level->spatial[level->spatial_order[k]], l,
                      k < level->split ? LOOP_SPATIAL_X : LOOP_SPATIAL_Y);
        memcpy(nest->below[l], extent, sizeof extent);
        nest->temporal_begin[l] = nest->n_loop;
        for (uint32_t k = 0; k < problem->n_dim; k++) {
            uint32_t d = level->temporal_order[k];
            push_loop(nest, extent, d, level->temporal[d], l, LOOP_TEMPORAL);
            nest->compute_cycle *= level->temporal[d];
        }
        memcpy(nest->tile[l], extent, sizeof extent);
    }
    nest->spatial_begin[arch->n_level] = nest->n_loop;
    count_used(nest, arch->n_level);
    *fit = (struct misfit_info){.what = FITS, .level = -1, .dim = -1};
    return true;
}

static bool mesh_fits(uint64_t x_used, uint64_t y_used, uint64_t mesh_x, uint64_t mesh_y, uint64_t instances,
                      int level, struct misfit_info *fit)
{
    fit->level = level;
    if (x_used > mesh_x) {
        fit->what = MISFIT_MESH_X;
        fit->needed = x_used;
        fit->available = mesh_x;
    } else if (y_used > mesh_y) {
        fit->what = MISFIT_MESH_Y;
        fit->needed = y_used;
        fit->available = mesh_y;
    } else if (x_used * y_used > instances) {
        fit->what = MISFIT_INSTANCES;
        fit->needed = x_used * y_used;
        fit->available = instances;
    }
    return fit->what == FITS;
}

/* Spatial loops need a fan-out; on strict machines also no wider than it. */
static bool fanout_fits(const struct architecture *arch, const struct nest *nest, uint32_t l,
                        struct misfit_info *fit)
{
    uint64_t fan_x, fan_y, x = 1, y = 1;
    architecture_fanout(arch, l, &fan_x, &fan_y);
    for (uint32_t k = nest->spatial_begin[l]; k < nest->temporal_begin[l]; k++) {
        if (nest->loop[k].kind == LOOP_SPATIAL_X)
            x *= nest->loop[k].bound;
        else
            y *= nest->loop[k].bound;
    }
    if (x * y == 1 || (fan_x * fan_y > 1 && !arch->strict_fanout) || (x <= fan_x && y <= fan_y))
        return true;
    *fit = (struct misfit_info){.what = MISFIT_FANOUT,
                                .level = (int)l,
                                .dim = -1,
                                .needed = x > fan_x ? x : y,
                                .available = x > fan_x ? fan_x : fan_y};
    return false;
}

/* The words that level l holds go to `word`. */
static bool tiles_fit(const struct problem *problem, const struct architecture *arch, uint32_t l,
                      const struct mapping_level *choice, const uint32_t *extent, uint64_t *word,
                      struct misfit_info *fit)
{
    const struct storage_level *level = &arch->level[l];
    uint64_t usable = architecture_usable_words(level);
    uint64_t needed = 0;
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        if (!(choice->keep >> t & 1u))
            continue;
        if (!architecture_keeps(arch, l, &problem->tensor[t])) {
            fit->what = MISFIT_ROLE;
            fit->tensors = 1u << t;
            return false;
        }
        needed += problem_tile_words(problem, t, extent);
    }
    fit->tensors = choice->keep;
    fit->needed = *word = needed;
    fit->available = usable;
    if (usable != ARCH_UNLIMITED && needed > usable)
        fit->what = MISFIT_CAPACITY;
    else if (usable != ARCH_UNLIMITED && (double)needed < (double)usable * level->min_utilization) {
        fit->what = MISFIT_UTILIZATION;
        fit->available = (uint64_t)ceil((double)usable * level->min_utilization);
    }
    return fit->what == FITS;
}

/* The thread block of a GPU: the spatial loops above the threads, and the tiles of every level inside a
 * thread. */
static bool block_fits(const struct problem *problem, const struct architecture *arch,
                       const struct mapping *mapping, const struct nest *nest, struct misfit_info *fit)
{
    uint32_t l = arch->gpu.level;
    uint64_t threads = 1, bit = 0;
    for (uint32_t k = nest->spatial_begin[l]; k < nest->temporal_begin[l]; k++)
        threads *= nest->loop[k].bound;
    while (l-- > 0)
        for (uint32_t t = 0; t < problem->n_tensor; t++)
            if (mapping->level[l].keep >> t & 1u)
                bit =
                    gpu_add_bits(bit, problem_tile_words(problem, t, nest->tile[l]), arch->level[l].word_bit);
    return gpu_block_fits(&arch->gpu, threads, bit, (1u << problem->n_tensor) - 1, fit);
}

bool nest_fits(const struct problem *problem, const struct architecture *arch, const struct mapping *mapping,
               const struct nest *nest, struct misfit_info *fit)
{
    *fit = (struct misfit_info){.what = FITS, .level = -1, .dim = -1};
    uint64_t word[ARCH_LEVEL_MAX];
    uint32_t kept = 0;
    for (uint32_t l = 0; l < arch->n_level; l++)
        kept |= mapping->level[l].keep;
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (!(kept >> t & 1u))
            fit->tensors |= 1u << t;
    if (fit->tensors) {
        fit->what = MISFIT_BYPASS;
        return false;
    }
    if (!mesh_fits(nest->mac_x_used, nest->mac_y_used, arch->mac.mesh_x, arch->mac.mesh_y,
                   arch->mac.instances, -1, fit))
        return false;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const struct storage_level *level = &arch->level[l];
        fit->level = (int)l;
        if (!fanout_fits(arch, nest, l, fit) ||
            !tiles_fit(problem, arch, l, &mapping->level[l], nest->tile[l], &word[l], fit) ||
            !mesh_fits(nest->x_used[l], nest->y_used[l], level->mesh_x, level->mesh_y, level->instances,
                       (int)l, fit))
            return false;
    }
    *fit = (struct misfit_info){.what = FITS, .level = -1, .dim = -1};
    if (!bank_groups_fit(arch, word, fit))
        return false;
    return !arch->gpu.present || block_fits(problem, arch, mapping, nest, fit);
}
