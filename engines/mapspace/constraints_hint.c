/* A schedule of Interstellar's authors as ordinary constraints, for engines that know no other. */
#include "costmodel/interstellar/loops.h"
#include "engines/mapspace/mapspace_constraints.h"

/* What all hints of an array ask for side by side. */
static double side_by_side(const struct interstellar_hint *hint, const struct problem *problem,
                           uint32_t level)
{
    double product = 1;
    for (uint32_t d = 0; d < problem->n_dim; d++)
        if (hint->loop[d].present && hint->loop[d].level == level)
            product *= hint->loop[d].partition;
    return product;
}

/* One array, of the instances of `level`. */
static enum dse_status fix_array(struct mapspace_constraints *c, const struct problem *problem,
                                 const struct architecture *arch, uint32_t level, const char *path,
                                 struct dse_error *err)
{
    struct loop_constraints *spatial = &c->level[level + 1].spatial;
    const double product = side_by_side(&c->hint, problem, level);
    uint64_t x, y;
    architecture_fanout(arch, level + 1, &x, &y);
    if (product <= 1)
        return DSE_OK;
    if (c->hint.n_partition_loop > 0 && 2 * product <= (double)(x * y))
        return dse_fail_at(
            err, DSE_BAD_INPUT, path, c->hint.line,
            "the schedule fills %.0f of the %llu %s side by side and leaves it open which of its "
            "partition_loops share them; only engine interstellar makes that choice",
            product, (unsigned long long)(x * y), arch->level[level].name);
    for (uint32_t d = 0; d < problem->n_dim; d++)
        spatial->fixed[d] =
            c->hint.loop[d].present && c->hint.loop[d].level == level ? c->hint.loop[d].partition : 1;
    return DSE_OK;
}

enum dse_status mapspace_constraints_fix_hint(struct mapspace_constraints *constraints,
                                              const struct problem *problem, const struct architecture *arch,
                                              const char *path, struct dse_error *err)
{
    struct interstellar_hint *hint = &constraints->hint;
    const char *name[PROBLEM_DIM_MAX];
    if (!hint->present)
        return DSE_OK;
    interstellar_name_dims(problem, name);
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        const struct loop_hint *loop = &hint->loop[d];
        const uint64_t fixed = (uint64_t)loop->partition * (loop->blocking ? loop->blocking : 1);
        if (!loop->present)
            continue;
        if (fixed > problem->bound[d] || problem->bound[d] % fixed != 0)
            return dse_fail_at(
                err, DSE_BAD_INPUT, path, hint->line,
                "the schedule asks for %llu iterations of %s at %s, which do not divide the %u of "
                "%s; only engine interstellar maps a remainder",
                (unsigned long long)fixed, name[d], arch->level[loop->level].name, problem->bound[d],
                problem->name);
        if (loop->blocking)
            constraints->level[loop->level].temporal.fixed[d] = loop->blocking;
    }
    for (uint32_t l = 0; l + 1 < arch->n_level; l++)
        DSE_TRY(fix_array(constraints, problem, arch, l, path, err));
    hint->present = false;
    return DSE_OK;
}
