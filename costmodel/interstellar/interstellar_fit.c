/* Does a mapping fit: complete factors, instances, tiles in their memories. */
#include <math.h>

#include "costmodel/interstellar/interstellar_compiled.h"
#include "costmodel/model/bank_group.h"

/* Padded bounds below this keep products of all of them, and words of tiles, exact enough to compare. */
#define PADDED_MAX 0x1p32
#define STEPS_MAX 0x1p53

static bool misfit(struct misfit_info *fit, enum misfit what, int level, double needed, double available)
{
    *fit = (struct misfit_info){.what = what,
                                .level = level,
                                .dim = -1,
                                .needed = (uint64_t)fmin(ceil(needed), 0x1p62),
                                .available = (uint64_t)available};
    return false;
}

static bool is_permutation(const uint8_t *order, uint32_t n_dim)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < n_dim; i++)
        seen |= order[i] < n_dim ? 1u << order[i] : 0;
    return seen == (1u << n_dim) - 1;
}

static bool shape_fits(const struct interstellar_compiled *c, const struct mapping *mapping,
                       struct misfit_info *fit)
{
    const uint32_t n_dim = c->base.problem.n_dim;
    *fit = (struct misfit_info){.what = MISFIT_ORDER, .level = -1, .dim = -1};
    if (mapping->n_level != c->base.arch.n_level || mapping->n_dim != n_dim)
        return false;
    for (uint32_t l = 0; l < mapping->n_level; l++) {
        fit->level = (int)l;
        if (!is_permutation(mapping->level[l].temporal_order, n_dim) ||
            !is_permutation(mapping->level[l].spatial_order, n_dim) || mapping->level[l].split > n_dim)
            return false;
    }
    return true;
}

/* Factors may multiply to more than the bound, when the last iterations do nothing, but not to less. */
static bool factors_cover(const struct interstellar_compiled *c, const struct mapping *mapping,
                          struct misfit_info *fit)
{
    double steps = 1;
    for (uint32_t d = 0; d < mapping->n_dim; d++) {
        double product = 1;
        for (uint32_t l = 0; l < mapping->n_level; l++)
            product *= (double)mapping->level[l].temporal[d] * mapping->level[l].spatial[d];
        steps *= product;
        if (product < c->base.problem.bound[d] || product >= PADDED_MAX || steps >= STEPS_MAX) {
            (void)misfit(fit, MISFIT_FACTORS, -1, product, c->base.problem.bound[d]);
            fit->dim = (int)d;
            return false;
        }
    }
    return true;
}

/* Each tensor is kept somewhere, and only where the machine can. */
static bool keeps_fit(const struct interstellar_compiled *c, const struct mapping *mapping,
                      struct misfit_info *fit)
{
    uint32_t kept = 0, all = (1u << c->base.problem.n_tensor) - 1;
    for (uint32_t l = 0; l < mapping->n_level; l++) {
        uint32_t beyond = mapping->level[l].keep & ~c->may_keep[l];
        kept |= mapping->level[l].keep;
        if (beyond) {
            (void)misfit(fit, MISFIT_ROLE, (int)l, 0, 0);
            fit->tensors = beyond;
            return false;
        }
    }
    fit->tensors = all & ~kept;
    return kept == all || (misfit(fit, MISFIT_BYPASS, -1, 0, 0), fit->tensors = all & ~kept, false);
}

/* The instances that spatial loops need: at a strict machine those of each array, at others all together. */
static bool instances_fit(const struct interstellar_compiled *c, const struct mapping *mapping,
                          struct misfit_info *fit)
{
    const struct architecture *arch = &c->base.arch;
    double used = 1;
    for (uint32_t l = mapping->n_level; l-- > 0;) {
        double own = 1;
        for (uint32_t d = 0; d < mapping->n_dim; d++)
            own *= mapping->level[l].spatial[d];
        used *= own;
        if (own == 1)
            continue;
        if (c->fan[l] == 1)
            return misfit(fit, MISFIT_FANOUT, (int)l, own, 1);
        if (arch->strict_fanout && own > (double)c->fan[l])
            return misfit(fit, MISFIT_INSTANCES, (int)l - 1, own, (double)c->fan[l]);
        uint64_t instances = l ? arch->level[l - 1].instances : arch->mac.instances;
        if (used > (double)instances)
            return misfit(fit, MISFIT_INSTANCES, (int)l - 1, used, (double)instances);
    }
    return true;
}

static double words_of(const struct interstellar_compiled *c, uint32_t tensors, const double *extent)
{
    double all = 0;
    for (; tensors; tensors &= tensors - 1) {
        const struct tensor *tensor = &c->base.problem.tensor[__builtin_ctz(tensors)];
        double words = 1;
        for (uint32_t r = 0; r < tensor->n_rank; r++) {
            const struct tensor_rank *rank = &tensor->rank[r];
            double last = 0;
            for (uint32_t i = 0; i < rank->n_term; i++)
                last += rank->term[i].coefficient * (extent[rank->term[i].dim] - 1);
            words *= last + 1;
        }
        all += words;
    }
    return all;
}

/* Extents of what lies at a level: `instance` one instance holds, `bank` is the same without the loops of
 * arrays further in, `tile` all instances inside one of the next level together; `cut` is that without what
 * padding adds. */
struct extents {
    double instance[PROBLEM_DIM_MAX], bank[PROBLEM_DIM_MAX], tile[PROBLEM_DIM_MAX], cut[PROBLEM_DIM_MAX];
};

static bool memory_fits(const struct interstellar_compiled *c, const struct mapping *mapping, uint32_t l,
                        const struct interstellar_memory *memory, const struct extents *e,
                        struct misfit_info *fit)
{
    const uint32_t kept = mapping->level[l].keep & memory->tensors;
    const double copies = (double)c->fan[l + 1];
    double words = words_of(c, kept, e->instance), least = memory->least_word;
    fit->tensors = kept;
    if (c->rule == REUSE_COMPAT) {
        double together = words_of(c, kept, e->cut);
        words = words_of(c, kept, copies > 1 ? e->bank : e->tile);
        if (kept && together > memory->usable_word * copies)
            return misfit(fit, MISFIT_CAPACITY, (int)l, ceil(together / copies), memory->usable_word);
    }
    if (kept && words > memory->usable_word && !(c->rule == REUSE_COMPAT && copies == 1))
        return misfit(fit, MISFIT_CAPACITY, (int)l, words, memory->usable_word);
    if (memory->above_least && (!kept || (kept & ~mapping->level[l + 1].keep)))
        return true;
    if (words < least || (memory->above_least && words <= least))
        return misfit(fit, MISFIT_UTILIZATION, (int)l, words, ceil(least));
    return true;
}

/* Iterations of dimension d further out than the tile of all instances of level l. */
static double outside_of(const struct mapping *mapping, uint32_t l, uint32_t d)
{
    double outside = 1;
    for (uint32_t k = l + 1; k < mapping->n_level; k++)
        outside *= (double)mapping->level[k].temporal[d] * (k > l + 1 ? mapping->level[k].spatial[d] : 1);
    return outside;
}

/* The authors' program tests blocks before it knows how a loop is spread: of a padded loop they lie between
 * what is left of the loop and what its factors multiply to. Here REUSE_COMPAT takes the former for what is
 * too large, the latter for what is too small. */
static bool tiles_fit(const struct interstellar_compiled *c, const struct mapping *mapping,
                      struct misfit_info *fit)
{
    struct extents e;
    uint64_t words[ARCH_LEVEL_MAX] = {0};
    for (uint32_t d = 0; d < mapping->n_dim; d++) {
        e.instance[d] = 1;
        e.bank[d] = mapping->level[0].spatial[d];
    }
    for (uint32_t l = 0; l + 1 < mapping->n_level; l++) {
        bool limited = false;
        for (uint32_t d = 0; d < mapping->n_dim; d++) {
            e.instance[d] *= (double)mapping->level[l].spatial[d] * mapping->level[l].temporal[d];
            e.bank[d] *= mapping->level[l].temporal[d];
            e.tile[d] = e.instance[d] * mapping->level[l + 1].spatial[d];
            e.cut[d] = fmin(e.tile[d], ceil(c->base.problem.bound[d] / outside_of(mapping, l, d)));
        }
        for (uint32_t i = 0; i < c->n_memory[l]; i++)
            limited |= !isinf(c->memory[l][i].usable_word);
        for (uint32_t i = 0; limited && i < c->n_memory[l]; i++)
            if (!memory_fits(c, mapping, l, &c->memory[l][i], &e, fit)) {
                fit->tensors = mapping->level[l].keep & c->memory[l][i].tensors;
                return false;
            }
        if (c->base.arch.level[l].bank_group) /* no more than its size, which was looked at */
            words[l] = (uint64_t)words_of(c, mapping->level[l].keep, e.instance);
    }
    return bank_groups_fit(&c->base.arch, words, fit);
}

bool interstellar_fits(const struct interstellar_compiled *c, const struct mapping *mapping,
                       struct misfit_info *fit)
{
    if (!shape_fits(c, mapping, fit) || !factors_cover(c, mapping, fit) || !keeps_fit(c, mapping, fit) ||
        !instances_fit(c, mapping, fit) || !tiles_fit(c, mapping, fit))
        return false;
    *fit = (struct misfit_info){.what = FITS, .level = -1, .dim = -1};
    return true;
}
