/* The independent checker: shape, factors, keeps, sizes and arrays of a mapping, in this order, with
 * formulas of its own; the first that fails becomes the sentence that users read. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "costmodel/interstellar/interstellar_compiled.h"

struct check {
    const struct problem *problem;
    const struct architecture *arch;
    const struct mapping *mapping;
    bool compat;
    char *reason;
    unsigned long size;
};

__attribute__((format(printf, 2, 3))) static bool refuse(const struct check *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (c->reason && c->size)
        (void)vsnprintf(c->reason, c->size, format, args);
    va_end(args);
    return false;
}

static bool each_once(const uint8_t *order, uint32_t n)
{
    for (uint32_t d = 0; d < n; d++) {
        uint32_t times = 0;
        for (uint32_t i = 0; i < n; i++)
            times += order[i] == d;
        if (times != 1)
            return false;
    }
    return true;
}

static bool check_shape(const struct check *c)
{
    const struct mapping *m = c->mapping;
    if (m->n_level != c->arch->n_level || m->n_dim != c->problem->n_dim)
        return refuse(c, "the mapping has %u levels and %u dimensions, the machine and the layer %u and %u",
                      (unsigned)m->n_level, (unsigned)m->n_dim, (unsigned)c->arch->n_level,
                      (unsigned)c->problem->n_dim);
    for (uint32_t l = 0; l < m->n_level; l++) {
        const struct mapping_level *level = &m->level[l];
        if (!each_once(level->temporal_order, m->n_dim) || !each_once(level->spatial_order, m->n_dim))
            return refuse(c, "%s: an order of loops does not have each dimension once",
                          c->arch->level[l].name);
        if (level->split > m->n_dim)
            return refuse(c, "%s: the X/Y split is at %u, there are %u dimensions", c->arch->level[l].name,
                          (unsigned)level->split, (unsigned)m->n_dim);
    }
    return true;
}

/* Iterations of dimension d inside level `temporal` and arrays up to level `spatial`, both included; -1:
 * none. */
static double inside(const struct check *c, uint32_t d, int temporal, int spatial)
{
    double product = 1;
    for (int l = 0; l < c->mapping->n_level; l++) {
        if (l <= temporal)
            product *= c->mapping->level[l].temporal[d];
        if (l <= spatial)
            product *= c->mapping->level[l].spatial[d];
    }
    return product;
}

static bool check_factors(const struct check *c)
{
    const int outermost = c->mapping->n_level - 1;
    double steps = 1;
    for (uint32_t d = 0; d < c->problem->n_dim; d++) {
        double product = inside(c, d, outermost, outermost);
        steps *= product;
        if (product < c->problem->bound[d])
            return refuse(c, "the factors of %s multiply to %.0f, less than its bound of %" PRIu32,
                          c->problem->dim_name[d], product, c->problem->bound[d]);
        if (product >= 4294967296.0 || steps >= 9007199254740992.0)
            return refuse(c, "the factors of %s multiply to %.0f, its bound is %" PRIu32,
                          c->problem->dim_name[d], product, c->problem->bound[d]);
    }
    return true;
}

static bool keeps(const struct check *c, uint32_t l, uint32_t t)
{
    return c->mapping->level[l].keep >> t & 1u;
}

/* By its role, or because the level names it. */
static bool may_hold(const struct check *c, uint32_t l, const struct tensor *tensor)
{
    const struct storage_level *level = &c->arch->level[l];
    bool named = false;
    for (uint32_t i = 0; i < c->arch->n_tensor_name; i++)
        named = named || ((level->keep_name >> i & 1u) && !strcmp(c->arch->tensor_name[i], tensor->name));
    return named || (level->keep_role >> tensor->role & 1u);
}

static bool check_keeps(const struct check *c)
{
    for (uint32_t t = 0; t < c->problem->n_tensor; t++) {
        uint32_t n_kept = 0;
        for (uint32_t l = 0; l < c->arch->n_level; l++) {
            n_kept += keeps(c, l, t);
            if (keeps(c, l, t) && !may_hold(c, l, &c->problem->tensor[t]))
                return refuse(c, "%s cannot hold %s", c->arch->level[l].name, c->problem->tensor[t].name);
        }
        if (n_kept == 0)
            return refuse(c, "%s is kept on no level", c->problem->tensor[t].name);
    }
    return true;
}

/* Words of the tensors that memory `part` of level l holds by the temporal loops up to it and the spatial
 * ones of levels 0 to `spatial`; `cut`: no more iterations of a loop than those further out leave of it. */
static double held(const struct check *c, uint32_t l, uint32_t part, int spatial, bool cut)
{
    const struct storage_level *level = &c->arch->level[l];
    const int outermost = c->mapping->n_level - 1;
    double all = 0;
    for (uint32_t t = 0; t < c->problem->n_tensor; t++) {
        const struct tensor *tensor = &c->problem->tensor[t];
        double words = 1;
        if (!keeps(c, l, t) || (level->n_part > 0 && level->part_of[tensor->role] != part))
            continue;
        for (uint32_t r = 0; r < tensor->n_rank; r++) {
            double highest = 0;
            for (uint32_t i = 0; i < tensor->rank[r].n_term; i++) {
                const uint32_t d = tensor->rank[r].term[i].dim;
                const double own = inside(c, d, (int)l, spatial);
                const double left = c->problem->bound[d] * own / inside(c, d, outermost, outermost);
                highest += tensor->rank[r].term[i].coefficient * ((cut ? fmin(own, ceil(left)) : own) - 1);
            }
            words *= highest + 1;
        }
        all += words;
    }
    return all;
}

/* The instances of level l inside one of the level around it. */
static double copies_of(const struct check *c, uint32_t l)
{
    return (double)(c->arch->level[l].mesh_x / c->arch->level[l + 1].mesh_x) *
           (double)(c->arch->level[l].mesh_y / c->arch->level[l + 1].mesh_y);
}

/* The authors' rule that a memory of one's own in a list must be more than half full: not if the next level
 * lacks one of its tensors. */
static bool next_lacks(const struct check *c, uint32_t l)
{
    for (uint32_t t = 0; t < c->problem->n_tensor; t++)
        if (keeps(c, l, t) && !keeps(c, l + 1, t))
            return true;
    return false;
}

static bool check_least(const struct check *c, uint32_t l, double usable, double words)
{
    const struct storage_level *level = &c->arch->level[l];
    const double least = usable * level->min_utilization;
    bool enough = words >= least;
    if (level->n_part > 1)
        return true;
    if (level->n_part == 1 && level->min_utilization > 0)
        enough = words > least || words == 0 || next_lacks(c, l);
    return enough || refuse(c, "%s holds %.0f words, at least %.0f are asked for", level->name, words, least);
}

static bool check_memory(const struct check *c, uint32_t l, uint32_t part)
{
    const struct storage_level *level = &c->arch->level[l];
    const uint64_t size = level->n_part ? level->part[part].size_word : level->size_word;
    if (size == ARCH_UNLIMITED)
        return true;
    const double usable = floor((double)size / level->multiple_buffering), copies = copies_of(c, l);
    const double together = held(c, l, part, (int)l + 1, true), bank = held(c, l, part, 0, false);
    double words = held(c, l, part, (int)l, false);
    if (c->compat) {
        if (together > usable * copies)
            return refuse(c, "%s needs %.0f words in all, has %.0f", level->name, together, usable * copies);
        words = copies > 1 ? bank : held(c, l, part, (int)l + 1, false);
    }
    if (words > usable && !(c->compat && copies == 1))
        return refuse(c, "%s needs %.0f words, has %.0f", level->name, words, usable);
    return !c->compat || check_least(c, l, usable, words);
}

static bool check_sizes(const struct check *c)
{
    for (uint32_t l = 0; l + 1 < c->arch->n_level; l++) {
        const uint32_t n = c->arch->level[l].n_part;
        for (uint32_t part = 0; part < (n ? n : 1); part++)
            if (!check_memory(c, l, part))
                return false;
    }
    return true;
}

/* Storages that share banks: a bank holds words of one storage, and each storage has at least one. */
static bool check_banks(const struct check *c)
{
    for (uint32_t g = 0; g < c->arch->n_group; g++) {
        double banks = 0;
        for (uint32_t l = 0; l < c->arch->n_level; l++)
            if (c->arch->level[l].bank_group == g + 1)
                banks += fmax(1, ceil(held(c, l, 0, (int)l, false) / c->arch->level[l].bank_word));
        if (banks > c->arch->group[g].banks)
            return refuse(c, "the storages of %s need %.0f banks together, it has %" PRIu32,
                          c->arch->group[g].name, banks, c->arch->group[g].banks);
    }
    return true;
}

/* What spreads further in lies on the instances there are; what a level spreads over, in its own array. */
static bool check_arrays(const struct check *c)
{
    const struct architecture *arch = c->arch;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const uint64_t instances = l ? arch->level[l - 1].instances : arch->mac.instances;
        const double array = (double)instances / (double)arch->level[l].instances;
        double own = 1, all = 1;
        for (uint32_t d = 0; d < c->problem->n_dim; d++) {
            own *= c->mapping->level[l].spatial[d];
            for (uint32_t k = l; k < arch->n_level; k++)
                all *= c->mapping->level[k].spatial[d];
        }
        if (own > 1 && (array <= 1 || (arch->strict_fanout && own > array)))
            return refuse(c, "%s spreads its loops over %.0f instances, inside it are %.0f",
                          arch->level[l].name, own, array);
        if (own > 1 && all > (double)instances)
            return refuse(c, "%s needs %.0f instances, there are %" PRIu64,
                          l ? arch->level[l - 1].name : arch->mac.name, all, instances);
    }
    return true;
}

static bool accepts(const struct check *c)
{
    if (c->reason && c->size)
        c->reason[0] = '\0';
    return check_shape(c) && check_factors(c) && check_keeps(c) && check_sizes(c) && check_banks(c) &&
           check_arrays(c);
}

bool interstellar_check(const struct problem *problem, const struct architecture *arch,
                        const struct mapping *mapping, char *reason, unsigned long size)
{
    return accepts(&(const struct check){problem, arch, mapping, false, reason, size});
}

bool interstellar_check_compat(const struct problem *problem, const struct architecture *arch,
                               const struct mapping *mapping, char *reason, unsigned long size)
{
    return accepts(&(const struct check){problem, arch, mapping, true, reason, size});
}
