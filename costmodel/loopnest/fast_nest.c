/* Builds the loops of a mapping without branches on its factors and checks on the way that it fits; the
 * first misfit ends it, without a reason. */
#include "costmodel/loopnest/fast.h"

#include <string.h>

#include "costmodel/model/bank_group.h"
#include "costmodel/model/gpu_limits.h"

/* The loops of one kind at one level that are not unit, innermost first; returns how many. No branch depends
 * on the factors: write always, advance by "not unit". */
static inline uint32_t non_unit_dims(const uint32_t *factor, const uint8_t *order, uint32_t n_dim,
                                     uint8_t *dim)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < n_dim; k++) {
        dim[n] = order[k];
        n += factor[order[k]] != 1;
    }
    return n;
}

/* Grow dimension d by a factor; false when it passes its bound (so that products never wrap). */
static inline bool grow(uint32_t *extent, const struct problem *problem, uint32_t d, uint32_t factor)
{
    uint64_t grown = (uint64_t)extent[d] * factor;
    extent[d] = (uint32_t)grown;
    return grown <= problem->bound[d];
}

static bool push_temporal(struct fast_nest *nest, const struct mapping_level *level,
                          const struct problem *problem, uint32_t *extent)
{
    uint32_t n = nest->n_temporal;
    uint32_t n_new =
        non_unit_dims(level->temporal, level->temporal_order, problem->n_dim, &nest->temporal_dim[n]);
    bool within = true;
    for (uint32_t k = n; k < n + n_new; k++) {
        uint32_t d = nest->temporal_dim[k];
        nest->temporal_bound[k] = level->temporal[d];
        nest->temporal_stride[k] = extent[d];
        within &= grow(extent, problem, d, level->temporal[d]);
    }
    nest->n_temporal = n + n_new;
    return within;
}

static bool push_spatial(struct fast_nest *nest, const struct mapping_level *level,
                         const struct problem *problem, uint32_t *extent)
{
    uint32_t n = nest->n_spatial, n_x = 0;
    uint32_t n_new =
        non_unit_dims(level->spatial, level->spatial_order, problem->n_dim, &nest->spatial_dim[n]);
    bool within = true;
    if (n_new == 0)
        return true;
    for (uint32_t k = 0; k < level->split; k++)
        n_x += level->spatial[level->spatial_order[k]] != 1;
    for (uint32_t k = n; k < n + n_new; k++) {
        uint32_t d = nest->spatial_dim[k];
        nest->spatial_bound[k] = level->spatial[d];
        nest->spatial_stride[k] = extent[d];
        nest->spatial_on_y[k] = k >= n + n_x;
        within &= grow(extent, problem, d, level->spatial[d]);
    }
    nest->n_spatial = n + n_new;
    return within;
}

/* Columns and rows in use from the outside in, and whether they fit every mesh. The number of instances is
 * never short when both directions fit, because mesh_x * mesh_y <= instances. */
static bool mesh_fits(const struct compiled *evaluator, struct fast_nest *nest)
{
    const struct architecture *arch = &evaluator->base.arch;
    uint64_t x = 1, y = 1;
    bool fits = true;
    for (uint32_t l = arch->n_level; l-- > 0;) {
        nest->used_x[l] = x;
        nest->used_y[l] = y;
        fits &= x <= arch->level[l].mesh_x && y <= arch->level[l].mesh_y;
        nest->loop_x[l] = nest->loop_y[l] = 1;
        for (uint32_t k = nest->spatial_begin[l]; k < nest->spatial_begin[l + 1]; k++) {
            if (nest->spatial_on_y[k])
                nest->loop_y[l] *= nest->spatial_bound[k];
            else
                nest->loop_x[l] *= nest->spatial_bound[k];
        }
        fits &= !arch->strict_fanout ||
                (nest->loop_x[l] <= evaluator->fan_x[l] && nest->loop_y[l] <= evaluator->fan_y[l]);
        x *= nest->loop_x[l];
        y *= nest->loop_y[l];
    }
    nest->mac_used = x * y;
    return fits && x <= arch->mac.mesh_x && y <= arch->mac.mesh_y;
}

static bool tiles_fit(const struct compiled *evaluator, uint32_t keep, uint32_t l, struct fast_nest *nest)
{
    uint64_t needed = 0;
    if (keep & ~evaluator->may_keep[l])
        return false;
    for (; keep; keep &= keep - 1) {
        uint32_t t = (uint32_t)__builtin_ctz(keep);
        nest->word[l][t] = fast_tile_words(evaluator, t, nest->tile[l]);
        needed += nest->word[l][t];
    }
    return needed <= evaluator->usable_word[l] && (double)needed >= evaluator->least_word[l];
}

/* Storages that share banks; tiles are those just counted. Few machines have such: kept out of the way of
 * the others, whose loops it would slow by some per cent. */
__attribute__((noinline)) static bool banks_fit(const struct architecture *arch,
                                                const struct mapping *mapping, const struct fast_nest *nest)
{
    uint64_t banks[ARCH_GROUP_MAX] = {0};
    bool fits = true;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        uint64_t words = 0;
        if (!arch->level[l].bank_group)
            continue;
        for (uint32_t keep = mapping->level[l].keep; keep; keep &= keep - 1)
            words += nest->word[l][__builtin_ctz(keep)];
        banks[arch->level[l].bank_group - 1] += bank_group_need(words, arch->level[l].bank_word);
    }
    for (uint32_t g = 0; g < arch->n_group; g++)
        fits &= banks[g] <= arch->group[g].banks;
    return fits;
}

/* The thread block of a GPU; tiles and spreads are those just counted. */
static bool block_fits(const struct compiled *evaluator, const struct mapping *mapping,
                       const struct fast_nest *nest)
{
    const struct architecture *arch = &evaluator->base.arch;
    const struct gpu_limits *gpu = &arch->gpu;
    uint64_t bit = 0;
    for (uint32_t l = 0; l < gpu->level; l++)
        for (uint32_t keep = mapping->level[l].keep; keep; keep &= keep - 1)
            bit = gpu_add_bits(bit, nest->word[l][__builtin_ctz(keep)], arch->level[l].word_bit);
    return gpu_block_fits(gpu, nest->loop_x[gpu->level] * nest->loop_y[gpu->level], bit, 0, NULL);
}

/* Group counts of every level and tensor in closed form (docs/cost-model.md, "Multicast, scatter, links"):
 * children whose offsets differ in a relevant dimension are different groups, unless two spatial loops of
 * a level move the same rank. */
static void count_groups(const struct compiled *evaluator, const struct mapping *mapping,
                         struct fast_nest *nest)
{
    for (uint32_t l = 0; l < evaluator->base.arch.n_level; l++) {
        uint32_t begin = nest->spatial_begin[l], end = nest->spatial_begin[l + 1];
        nest->uneven[l] = 0;
        for (uint32_t t = 0; begin < end && t < evaluator->base.problem.n_tensor; t++) {
            const struct tensor_code *code = &evaluator->code[t];
            uint32_t moving = 0, conflict = 0, alone = mapping->level[l].no_multicast >> t & 1u;
            double n_group = 1;
            for (uint32_t k = begin; k < end; k++) {
                uint32_t d = nest->spatial_dim[k], relevant = code->relevant >> d & 1u;
                n_group *= relevant | alone ? nest->spatial_bound[k] : 1;
                conflict |= code->shares_rank[d] & moving;
                moving |= relevant << d;
            }
            nest->n_group[l][t] = n_group;
            nest->uneven[l] |= (uint32_t)(conflict && !alone) << t;
        }
    }
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

bool fast_nest_build(const struct compiled *evaluator, const struct mapping *mapping, struct fast_nest *nest)
{
    const struct problem *problem = &evaluator->base.problem;
    const struct architecture *arch = &evaluator->base.arch;
    uint32_t extent[PROBLEM_DIM_MAX];
    uint32_t kept = 0, lost = 0;
    for (uint32_t d = 0; d < PROBLEM_DIM_MAX; d++)
        extent[d] = 1;
    nest->n_temporal = nest->n_spatial = 0;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const struct mapping_level *level = &mapping->level[l];
        nest->spatial_begin[l] = nest->n_spatial;
        nest->temporal_begin[l] = nest->n_temporal;
        if (evaluator->fan_x[l] * evaluator->fan_y[l] > 1) {
            if (!push_spatial(nest, level, problem, extent))
                return false;
        } else {
            for (uint32_t d = 0; d < problem->n_dim; d++)
                lost |= level->spatial[d] ^ 1u;
        }
        if (!push_temporal(nest, level, problem, extent))
            return false;
        memcpy(nest->tile[l], extent, sizeof extent);
        if (!tiles_fit(evaluator, level->keep, l, nest))
            return false;
        kept |= level->keep;
    }
    for (uint32_t d = 0; d < problem->n_dim; d++)
        lost |= extent[d] ^ problem->bound[d];
    if (lost || kept != (1u << problem->n_tensor) - 1)
        return false;
    nest->temporal_begin[arch->n_level] = nest->n_temporal;
    nest->spatial_begin[arch->n_level] = nest->n_spatial;
    if (!mesh_fits(evaluator, nest) || (arch->n_group && !banks_fit(arch, mapping, nest)) ||
        (arch->gpu.present && !block_fits(evaluator, mapping, nest)))
        return false;
    weigh_loops(nest);
    count_groups(evaluator, mapping, nest);
    return true;
}

static uint64_t muldiv(uint64_t a, uint64_t b, uint64_t c)
{
    __extension__ typedef unsigned __int128 wide;
    if ((a | b) >> 32 == 0)
        return a * b / c;
    return (uint64_t)((wide)a * b / c);
}

void fast_partition_sizes(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t t,
                          uint64_t *partition)
{
    uint32_t top = evaluator->base.arch.n_level - 1;
    uint32_t together[PROBLEM_DIM_MAX];
    partition[top] = fast_tile_words(evaluator, t, nest->tile[top]);
    for (uint32_t l = top; l-- > 0;) {
        partition[l] = partition[l + 1];
        if (nest->spatial_begin[l + 1] == nest->spatial_begin[l + 2])
            continue;
        memcpy(together, nest->tile[l], sizeof together);
        for (uint32_t k = nest->spatial_begin[l + 1]; k < nest->spatial_begin[l + 2]; k++)
            together[nest->spatial_dim[k]] *= nest->spatial_bound[k];
        partition[l] = muldiv(partition[l + 1], fast_tile_words(evaluator, t, nest->tile[l]),
                              fast_tile_words(evaluator, t, together));
    }
}
