/* Whether a mapping fits and whether it lies in the space: tiles, spreads, thread block, then everything
 * that the constraints fix. */
#include <stdio.h>

#include "costmodel/model/bank_group.h"
#include "costmodel/model/gpu_limits.h"
#include "engines/mapspace/mapspace_private.h"

uint32_t mapspace_axis_dims(const struct mapping_level *level, uint32_t n_dim, bool y)
{
    uint32_t mask = 0;
    uint32_t from = y ? level->split : 0, to = y ? n_dim : level->split;
    for (uint32_t i = from; i < to; i++)
        if (level->spatial[level->spatial_order[i]] > 1)
            mask |= 1u << level->spatial_order[i];
    return mask;
}

void mapspace_complete_order(uint8_t *order, uint32_t n, uint32_t n_dim)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < n; i++)
        seen |= 1u << order[i];
    for (uint32_t d = 0; d < n_dim; d++)
        if (!(seen >> d & 1u))
            order[n++] = (uint8_t)d;
}

/* Append the dimensions of `mask`: first those with a fixed place, then ascending. */
static uint32_t append_dims(const struct loop_constraints *loops, uint32_t mask, uint32_t n_dim,
                            uint8_t *order, uint32_t n)
{
    for (uint32_t i = 0; i < loops->n_order; i++)
        if (mask >> loops->order[i] & 1u) {
            order[n++] = loops->order[i];
            mask &= ~(1u << loops->order[i]);
        }
    for (uint32_t d = 0; d < n_dim; d++)
        if (mask >> d & 1u)
            order[n++] = (uint8_t)d;
    return n;
}

void mapspace_set_axes(const struct mapspace *space, struct mapping_level *level, uint32_t l, uint32_t x,
                       uint32_t y)
{
    const struct loop_constraints *loops = &space->constraints.level[l].spatial;
    uint32_t n_dim = space->problem->n_dim;
    uint32_t n = append_dims(loops, x, n_dim, level->spatial_order, 0);
    level->split = (uint8_t)n;
    n = append_dims(loops, y, n_dim, level->spatial_order, n);
    if (y == 0)
        level->split = (uint8_t)n_dim;
    mapspace_complete_order(level->spatial_order, n, n_dim);
}

bool mapspace_banks_fit(const struct mapspace *space, const uint64_t *sum, struct misfit_info *fit)
{
    uint64_t word[ARCH_LEVEL_MAX] = {0}; /* of a group that no mapping can overfill: none */
    for (uint32_t j = 0; j < space->n_row; j++)
        word[space->row_level[j]] = sum[j];
    return bank_groups_fit(space->arch, word, fit);
}

bool mapspace_rows_init(const struct mapspace *space, const struct mapping *mapping, struct tile_row *row,
                        struct misfit_info *fit)
{
    uint64_t sum[ARCH_LEVEL_MAX];
    for (uint32_t j = 0; j < space->n_row; j++) {
        uint32_t l = space->row_level[j];
        row[j] = space->row[j];
        row[j].sum = 0;
        for (uint32_t t = 0; t < space->problem->n_tensor; t++)
            if (mapping->level[l].keep >> t & 1u)
                row[j].sum += row[j].tile[t];
        if (row[j].sum > space->usable[l]) {
            if (fit)
                *fit = (struct misfit_info){.what = MISFIT_CAPACITY,
                                            .level = (int)l,
                                            .tensors = mapping->level[l].keep,
                                            .needed = row[j].sum,
                                            .available = space->usable[l]};
            return false;
        }
        sum[j] = row[j].sum;
    }
    return !space->arch->n_group || mapspace_banks_fit(space, sum, fit);
}

static bool refuse(struct misfit_info *fit, enum misfit what, uint32_t l, uint32_t d, uint64_t needed,
                   uint64_t available)
{
    if (fit)
        *fit = (struct misfit_info){
            .what = what, .level = (int)l, .dim = (int)d, .needed = needed, .available = available};
    return false;
}

/* The spread of level l against its own fan-out. */
static bool spread_fits(const struct mapspace *space, const struct mapping_level *level, uint32_t l,
                        struct misfit_info *fit)
{
    uint64_t product[2] = {1, 1};
    uint32_t n_dim = space->problem->n_dim, split = level->split < n_dim ? level->split : n_dim, i = 0;
    for (; i < split; i++)
        product[0] *= level->spatial[level->spatial_order[i]];
    for (; i < n_dim; i++)
        product[1] *= level->spatial[level->spatial_order[i]];
    for (int axis = 0; axis < 2; axis++) {
        int s = space->slot_of[l][axis == 0 ? SLOT_X : SLOT_Y];
        uint64_t room = s < 0 ? 1 : space->slot[s].capacity;
        if (product[axis] > room)
            return refuse(fit, MISFIT_FANOUT, l, 0, product[axis], room);
    }
    return true;
}

/* Of memories side by side each has to hold its tensors' words. */
static bool parts_fit(const struct mapspace *space, uint32_t keep, uint32_t l, const uint64_t *words,
                      struct misfit_info *fit)
{
    const struct storage_level *level = &space->arch->level[l];
    for (uint32_t i = 0; i < level->n_part; i++) {
        const uint64_t usable = (uint64_t)((double)level->part[i].size_word / level->multiple_buffering);
        uint64_t sum = 0;
        uint32_t tensors = 0;
        for (uint32_t t = 0; t < space->problem->n_tensor; t++)
            if ((keep >> t & 1u) && level->part_of[space->problem->tensor[t].role] == i) {
                sum += words[t];
                tensors |= 1u << t;
            }
        if (sum > usable) {
            (void)refuse(fit, MISFIT_CAPACITY, l, 0, sum, usable);
            if (fit)
                fit->tensors = tensors;
            return false;
        }
    }
    return true;
}

/* The words of level l go to `word`. */
static bool tiles_fit(const struct mapspace *space, const struct mapping_level *level, uint32_t l,
                      const uint32_t *extent, uint64_t *word, struct misfit_info *fit)
{
    uint64_t sum = 0, held[PROBLEM_TENSOR_MAX];
    for (uint32_t t = 0; t < space->problem->n_tensor; t++) {
        if (!(level->keep >> t & 1u))
            continue;
        const struct tensor *tensor = &space->problem->tensor[t];
        uint64_t words = 1;
        for (uint32_t r = 0; r < tensor->n_rank; r++) {
            uint64_t span = 1;
            for (uint32_t i = 0; i < tensor->rank[r].n_term; i++)
                span +=
                    (uint64_t)tensor->rank[r].term[i].coefficient * (extent[tensor->rank[r].term[i].dim] - 1);
            words *= span;
        }
        sum += words;
        held[t] = words;
    }
    *word = sum;
    enum misfit what = FITS;
    uint64_t limit = space->usable[l];
    double least = (double)limit * space->arch->level[l].min_utilization;
    if (sum > limit)
        what = MISFIT_CAPACITY;
    else if (limit != ARCH_UNLIMITED && (double)sum < least) {
        what = MISFIT_UTILIZATION;
        limit = (uint64_t)least;
    }
    if (what == FITS)
        return limit == ARCH_UNLIMITED || parts_fit(space, level->keep, l, held, fit);
    (void)refuse(fit, what, l, 0, sum, limit);
    if (fit)
        fit->tensors = level->keep;
    return false;
}

/* The thread block of a GPU: threads, and the tiles of every level inside one. */
static bool block_fits(const struct mapspace *space, const struct mapping *mapping, struct misfit_info *fit)
{
    const struct problem *problem = space->problem;
    uint32_t extent[PROBLEM_DIM_MAX], threads_level = space->arch->gpu.level;
    uint64_t threads = 1, bit = 0;
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        extent[d] = 1;
        threads *= mapping->level[threads_level].spatial[d];
    }
    for (uint32_t l = 0; l < threads_level; l++) {
        for (uint32_t d = 0; d < problem->n_dim; d++)
            extent[d] *= mapping->level[l].temporal[d] * mapping->level[l].spatial[d];
        for (uint32_t t = 0; t < problem->n_tensor; t++)
            if (mapping->level[l].keep >> t & 1u)
                bit =
                    gpu_add_bits(bit, problem_tile_words(problem, t, extent), space->arch->level[l].word_bit);
    }
    return gpu_block_fits(&space->arch->gpu, threads, bit, (1u << problem->n_tensor) - 1, fit);
}

bool mapspace_fits(const struct mapspace *space, const struct mapping *mapping, struct misfit_info *fit)
{
    uint32_t extent[PROBLEM_DIM_MAX];
    uint32_t n_dim = space->problem->n_dim, kept = 0;
    uint64_t limited = 0; /* bit l: level l must be looked at */
    uint64_t word[ARCH_LEVEL_MAX];
    for (uint32_t j = 0; j < space->n_row; j++)
        limited |= 1ull << space->row_level[j];
    for (uint32_t d = 0; d < n_dim; d++)
        extent[d] = 1;
    for (uint32_t l = 0; l < mapping->n_level; l++) {
        const struct mapping_level *level = &mapping->level[l];
        for (uint32_t d = 0; d < n_dim; d++)
            extent[d] *= level->temporal[d] * level->spatial[d];
        word[l] = 0;
        if (!spread_fits(space, level, l, fit))
            return false;
        if (((limited >> l & 1u) || space->looks_at_tiles) &&
            !tiles_fit(space, level, l, extent, &word[l], fit))
            return false;
        kept |= level->keep;
    }
    if (space->arch->n_group && !bank_groups_fit(space->arch, word, fit))
        return false;
    uint32_t lost = ~kept & ((1u << space->problem->n_tensor) - 1);
    if (lost) {
        (void)refuse(fit, MISFIT_BYPASS, 0, 0, 0, 0);
        if (fit)
            fit->tensors = lost;
        return false;
    }
    return !space->arch->gpu.present || block_fits(space, mapping, fit);
}

static bool is_permutation(const uint8_t *order, uint32_t n_dim)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < n_dim; i++)
        if (order[i] < n_dim)
            seen |= 1u << order[i];
    return seen == (1u << n_dim) - 1;
}

/* Do the loops with a fixed place come first, in their order, as far as they are no unit loops? */
static bool keeps_order(const struct loop_constraints *loops, const uint8_t *order, const uint32_t *factor,
                        uint32_t from, uint32_t to)
{
    uint32_t place = 0, prefix = 0;
    for (uint32_t i = 0; i < loops->n_order; i++)
        prefix |= 1u << loops->order[i];
    bool left_prefix = false;
    for (uint32_t i = from; i < to; i++) {
        uint32_t d = order[i];
        if (factor[d] == 1)
            continue;
        if (!(prefix >> d & 1u)) {
            left_prefix = true;
            continue;
        }
        while (place < loops->n_order && loops->order[place] != d)
            place++;
        if (left_prefix || place == loops->n_order)
            return false;
    }
    return true;
}

static bool factor_allowed(const struct loop_constraints *loops, uint32_t d, uint32_t factor)
{
    return (loops->fixed[d] == 0 || loops->fixed[d] == factor) &&
           (loops->highest[d] == 0 || factor <= loops->highest[d]);
}

static bool level_contains(const struct mapspace *space, const struct mapping_level *level, uint32_t l,
                           struct misfit_info *fit)
{
    const struct level_constraints *c = &space->constraints.level[l];
    uint32_t n_dim = space->problem->n_dim;
    if (!is_permutation(level->temporal_order, n_dim) || !is_permutation(level->spatial_order, n_dim) ||
        level->split > n_dim ||
        !keeps_order(&c->temporal, level->temporal_order, level->temporal, 0, n_dim) ||
        !keeps_order(&c->spatial, level->spatial_order, level->spatial, 0, level->split) ||
        !keeps_order(&c->spatial, level->spatial_order, level->spatial, level->split, n_dim) ||
        (mapspace_axis_dims(level, n_dim, false) & ~c->dims_x) ||
        (mapspace_axis_dims(level, n_dim, true) & ~c->dims_y))
        return refuse(fit, MISFIT_ORDER, l, 0, 0, 0);
    for (uint32_t d = 0; d < n_dim; d++)
        if (!factor_allowed(&c->temporal, d, level->temporal[d]) ||
            !factor_allowed(&c->spatial, d, level->spatial[d]))
            return refuse(fit, MISFIT_FACTORS, l, d, 0, 0);
    if ((space->base.level[l].keep ^ level->keep) & ~space->optional[l])
        return refuse(fit, MISFIT_BYPASS, l, 0, 0, 0);
    return true;
}

/* One kind of loop at one level against what is said of it. */
static bool loops_keep(const struct loop_constraints *loops, const struct problem *problem, const char *level,
                       const char *kind, const uint32_t *factor, char *why, size_t size)
{
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        const bool fixed = loops->fixed[d] != 0 && loops->fixed[d] != factor[d];
        if (factor_allowed(loops, d, factor[d]))
            continue;
        snprintf(why, size, "%s: %s %s=%u, where %s%u is demanded", level, kind, problem->dim_name[d],
                 factor[d], fixed ? "" : "at most ", fixed ? loops->fixed[d] : loops->highest[d]);
        return false;
    }
    return true;
}

static bool tensors_keep(const struct level_constraints *c, const struct problem *problem, const char *level,
                         const struct mapping_level *mapped, char *why, size_t size)
{
    const uint32_t keep = mapped->keep, wrong = (c->keep & ~keep) | (c->bypass & keep);
    if (!wrong)
        return true;
    const uint32_t t = (uint32_t)__builtin_ctz(wrong);
    snprintf(why, size, "%s %s %s, which is to be %s there", level, keep >> t & 1u ? "keeps" : "bypasses",
             problem->tensor[t].name, keep >> t & 1u ? "bypassed" : "kept");
    return false;
}

static bool axes_keep(const struct level_constraints *c, const struct problem *problem, const char *level,
                      const struct mapping_level *mapped, char *why, size_t size)
{
    for (int y = 0; y < 2; y++) {
        const uint32_t wrong = mapspace_axis_dims(mapped, problem->n_dim, y) & ~(y ? c->dims_y : c->dims_x);
        if (!wrong)
            continue;
        snprintf(why, size, "%s: %s lies on %s, where it may not", level,
                 problem->dim_name[__builtin_ctz(wrong)], y ? "Y" : "X");
        return false;
    }
    return true;
}

static bool orders_keep(const struct level_constraints *c, const struct problem *problem, const char *level,
                        const struct mapping_level *mapped, char *why, size_t size)
{
    const uint32_t n_dim = problem->n_dim, split = mapped->split < n_dim ? mapped->split : n_dim;
    const bool temporal = keeps_order(&c->temporal, mapped->temporal_order, mapped->temporal, 0, n_dim);
    if (temporal && keeps_order(&c->spatial, mapped->spatial_order, mapped->spatial, 0, split) &&
        keeps_order(&c->spatial, mapped->spatial_order, mapped->spatial, split, n_dim))
        return true;
    snprintf(why, size, "%s: the %s loops are in another order than is demanded", level,
             temporal ? "spatial" : "temporal");
    return false;
}

bool mapspace_constraints_keep(const struct mapspace_constraints *constraints, const struct problem *problem,
                               const struct architecture *arch, const struct mapping *mapping, char *why,
                               size_t size)
{
    for (uint32_t l = 0; l < mapping->n_level; l++) {
        const struct level_constraints *c = &constraints->level[l];
        const struct mapping_level *level = &mapping->level[l];
        const char *name = arch->level[l].name;
        if (!(c->is_fanout ||
              loops_keep(&c->temporal, problem, name, "temporal", level->temporal, why, size)) ||
            !loops_keep(&c->spatial, problem, name, "spatial", level->spatial, why, size) ||
            !axes_keep(c, problem, name, level, why, size) ||
            !tensors_keep(c, problem, name, level, why, size) ||
            !orders_keep(c, problem, name, level, why, size))
            return false;
    }
    return true;
}

bool mapspace_contains(const struct mapspace *space, const struct mapping *mapping, struct misfit_info *fit)
{
    if (fit)
        fit->what = FITS;
    if (mapping->n_level != space->arch->n_level || mapping->n_dim != space->problem->n_dim)
        return refuse(fit, MISFIT_ORDER, 0, 0, 0, 0);
    for (uint32_t d = 0; d < mapping->n_dim; d++) {
        uint64_t product = 1;
        for (uint32_t l = 0; l < mapping->n_level && product <= space->problem->bound[d]; l++)
            product *= (uint64_t)mapping->level[l].temporal[d] * mapping->level[l].spatial[d];
        if (product != space->problem->bound[d])
            return refuse(fit, MISFIT_FACTORS, 0, d, product, space->problem->bound[d]);
    }
    for (uint32_t l = 0; l < mapping->n_level; l++)
        if (!level_contains(space, &mapping->level[l], l, fit))
            return false;
    return mapspace_fits(space, mapping, fit);
}
