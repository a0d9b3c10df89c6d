/* Fixes at 1 the temporal factors that mostly say again what others say, and compiles the rest. */
#include "engines/mapspace/mapspace_narrow.h"

#include "engines/mapspace/mapspace_private.h"

static bool has_array(const struct architecture *arch, uint32_t l)
{
    uint64_t x, y;
    architecture_fanout(arch, l, &x, &y);
    return x * y > 1;
}

/* Has the user said nothing of the temporal loops of a level? */
static bool is_free(const struct loop_constraints *loops, uint32_t n_dim)
{
    uint32_t said = loops->n_order;
    for (uint32_t d = 0; d < n_dim; d++)
        said |= loops->fixed[d] | loops->highest[d];
    return said == 0;
}

enum dse_status mapspace_new_narrow(const struct mapspace *space, struct arena *arena,
                                    const struct mapspace **out, struct dse_error *err)
{
    struct mapspace_constraints constraints = space->constraints;
    uint32_t n_dim = space->problem->n_dim, n_closed = 0, together = space->base.level[0].keep;
    for (uint32_t l = 1; l < space->arch->n_level; l++) {
        uint32_t keep = space->base.level[l].keep;
        struct loop_constraints *loops = &constraints.level[l].temporal;
        if (has_array(space->arch, l) || (together & keep)) {
            together = keep;
            continue;
        }
        together |= keep;
        if (!is_free(loops, n_dim))
            continue;
        for (uint32_t d = 0; d < n_dim; d++)
            loops->fixed[d] = 1;
        n_closed++;
    }
    *out = NULL;
    if (n_closed == 0)
        return DSE_OK;
    DSE_TRY(mapspace_new(space->problem, space->arch, &constraints, space->search_bypass, arena, out, err));
    if (mapspace_is_empty(*out))
        *out = NULL;
    return DSE_OK;
}
