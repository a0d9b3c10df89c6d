/* Which tiles and factors are allowed. What constraints allow is said of each dimension alone: the extents
 * that products of allowed factors make, from the inside and from the outside. */
#include "engines/optimal/optimal_limits.h"

#include <string.h>

#include "costmodel/model/bank_group.h"
#include "costmodel/model/gpu_limits.h"

enum { DIVISOR_MAX = 1536 }; /* no number below 2^32 has more */

/* ---------------------------------------- factors */

bool optimal_factor_allowed(const struct optimal_model *model, uint32_t l, bool spatial, uint32_t d,
                            uint32_t factor)
{
    if (!model->constraints)
        return true;
    const struct level_constraints *level = &model->constraints->level[l];
    const struct loop_constraints *loops = spatial ? &level->spatial : &level->temporal;
    return (loops->fixed[d] == 0 || loops->fixed[d] == factor) &&
           (loops->highest[d] == 0 || factor <= loops->highest[d]);
}

bool optimal_side_allowed(const struct optimal_model *model, uint32_t l, bool y, uint32_t dims)
{
    const struct level_constraints *level = model->constraints ? &model->constraints->level[l] : NULL;
    return !level || (dims & ~(y ? level->dims_y : level->dims_x)) == 0;
}

bool optimal_is_alone(const struct optimal_model *model, uint32_t l, uint32_t t)
{
    return model->constraints && model->constraints->level[l].no_multicast >> t & 1u;
}

uint32_t optimal_first_loops(const struct optimal_model *model, uint32_t l, const uint8_t **order)
{
    if (!model->constraints)
        return 0;
    *order = model->constraints->level[l].temporal.order;
    return model->constraints->level[l].temporal.n_order;
}

void optimal_limit_factors(struct optimal_model *model)
{
    for (uint32_t l = 0; model->constraints && l < model->arch->n_level; l++) {
        const struct loop_constraints *loops = &model->constraints->level[l].temporal;
        for (uint32_t d = 0; d < model->problem->n_dim; d++)
            model->limited[l] |= (uint32_t)(loops->fixed[d] || loops->highest[d]) << d;
    }
}

/* The divisors of a dimension's bound, and which of them are extents after each level. */
struct extents {
    const struct optimal_model *model;
    uint32_t dim, n, value[DIVISOR_MAX];
    bool inside[ARCH_LEVEL_MAX + 1][DIVISOR_MAX];  /* [l]: a product of factors of the levels inside l */
    bool outside[ARCH_LEVEL_MAX + 1][DIVISOR_MAX]; /* [l]: the rest, of level l and those outside it */
};

/* `to` gets the products of what is in `from` and an allowed factor of a loop. */
static void multiply(const struct extents *e, uint32_t l, bool spatial, const bool *from, bool *to)
{
    for (uint32_t i = 0; i < e->n; i++) {
        to[i] = false;
        for (uint32_t k = 0; k <= i && !to[i]; k++)
            to[i] = from[k] && e->value[i] % e->value[k] == 0 &&
                    optimal_factor_allowed(e->model, l, spatial, e->dim, e->value[i] / e->value[k]);
    }
}

static void find_extents(const struct optimal_model *model, uint32_t d, struct extents *e)
{
    const uint32_t bound = model->problem->bound[d], n_level = model->arch->n_level;
    bool between[DIVISOR_MAX];
    e->model = model;
    e->dim = d;
    e->n = 0;
    for (uint32_t f = 1; f <= bound; f++)
        if (bound % f == 0)
            e->value[e->n++] = f;
    memset(e->inside[0], 0, e->n);
    memset(e->outside[n_level], 0, e->n);
    e->inside[0][0] = e->outside[n_level][0] = true;
    for (uint32_t l = 0; l < n_level; l++) {
        multiply(e, l, true, e->inside[l], between);
        multiply(e, l, false, between, e->inside[l + 1]);
    }
    for (uint32_t l = n_level; l-- > 0;) {
        multiply(e, l, false, e->outside[l + 1], between);
        multiply(e, l, true, between, e->outside[l]);
    }
}

/* Take the tiles off `fits` that no allowed factors of dimension d make. `known` (n) is scratch. */
static void keep_extents(const struct optimal_model *model, uint32_t l, const struct extents *e, bool *known,
                         uint8_t *fits)
{
    const struct lattice *lattice = &model->lattice;
    uint32_t extent[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < lattice->n_dim; d++)
        extent[d] = 1;
    for (uint32_t i = 0; i < e->n; i++) {
        extent[e->dim] = e->value[i];
        known[lattice_node(lattice, extent)] = e->inside[l + 1][i] && e->outside[l + 1][e->n - 1 - i];
    }
    for (uint32_t node = 0; node < lattice->n; node++)
        fits[node] = fits[node] && known[lattice->part[e->dim][node]];
}

/* ---------------------------------------- tiles */

void optimal_tile_words(const struct optimal_model *model, uint32_t t, uint64_t *words)
{
    const struct lattice *lattice = &model->lattice;
    const struct tensor *tensor = &model->problem->tensor[t];
    uint32_t alone = 0; /* dimensions with a rank of their own: words grow with them */
    for (uint32_t r = 0; r < tensor->n_rank; r++)
        if (tensor->rank[r].n_term == 1 && tensor->rank[r].term[0].coefficient == 1)
            alone |= 1u << tensor->rank[r].term[0].dim;
    words[0] = 1;
    for (uint32_t a = 0; a < lattice->n_axis; a++) {
        const struct lattice_axis *axis = &lattice->axis[a];
        const uint64_t prime = alone >> axis->dim & 1u ? axis->prime : 1;
        for (uint32_t i = axis->stride; i < axis->stride * (axis->count + 1); i++)
            words[i] = words[i - axis->stride] * prime;
    }
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        const struct tensor_rank *rank = &tensor->rank[r];
        const struct projection_term *one = &rank->term[0], *other = &rank->term[rank->n_term - 1];
        const uint32_t *a = lattice->extent[one->dim], *b = lattice->extent[other->dim];
        const uint64_t step = rank->n_term > 1 ? other->coefficient : 0;
        for (uint32_t i = 0; !(alone >> one->dim & 1u) && i < lattice->n; i++)
            words[i] *= 1 + (uint64_t)one->coefficient * (a[i] - 1u) + step * (b[i] - 1u);
    }
}

static uint64_t kept_words(const struct optimal_model *model, uint32_t keep, uint32_t node)
{
    uint64_t words = 0;
    for (uint32_t t = 0; t < model->problem->n_tensor; t++)
        words += keep >> t & 1u ? model->tile_words[t][node] : 0;
    return words;
}

enum dse_status optimal_fits(struct optimal_model *model, uint32_t l, uint8_t keep, const uint8_t **out,
                             struct dse_error *err)
{
    const struct lattice *lattice = &model->lattice;
    const struct storage_level *level = &model->arch->level[l];
    const uint64_t usable = architecture_usable_words(level);
    const double least = usable == ARCH_UNLIMITED ? 0 : (double)usable * level->min_utilization;
    *out = model->known_fits[l][keep];
    if (*out)
        return DSE_OK;
    uint8_t *fits = arena_alloc_unset(model->arena, lattice->n, 1);
    bool *known = NULL;
    struct extents *extents = NULL;
    if (model->constraints) {
        known = arena_alloc_unset(model->arena, lattice->n, sizeof *known);
        extents = arena_alloc_unset(model->arena, 1, sizeof *extents);
    }
    DSE_TRY(arena_check(model->arena, "the tiles that fit a level", err));
    const uint64_t *kept[PROBLEM_TENSOR_MAX];
    uint32_t n_kept = 0;
    for (uint32_t t = 0; t < model->problem->n_tensor && (usable != ARCH_UNLIMITED || least > 0); t++)
        if ((uint32_t)keep >> t & 1u)
            kept[n_kept++] = model->tile_words[t];
    for (uint32_t node = 0; node < lattice->n; node++) {
        uint64_t words = 0;
        for (uint32_t k = 0; k < n_kept; k++)
            words += kept[k][node];
        fits[node] = words <= usable && (double)words >= least;
    }
    for (uint32_t d = 0; model->constraints && d < lattice->n_dim; d++) {
        find_extents(model, d, extents);
        keep_extents(model, l, extents, known, fits);
    }
    *out = model->known_fits[l][keep] = fits;
    return DSE_OK;
}

enum dse_status optimal_share_banks(struct optimal_model *model, struct dse_error *err)
{
    const struct architecture *arch = model->arch;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        if (!arch->level[l].bank_group)
            continue;
        uint8_t *fits = arena_alloc_unset(model->arena, model->lattice.n, 1);
        DSE_TRY(arena_check(model->arena, "the tiles that fit a level", err));
        for (uint32_t node = 0; node < model->lattice.n; node++) {
            uint64_t word[ARCH_LEVEL_MAX] = {0};
            for (uint32_t i = l; i < arch->n_level && model->fits[l][node]; i++)
                word[i] = arch->level[i].bank_group ? kept_words(model, model->keep[i], node) : 0;
            fits[node] = model->fits[l][node] && bank_groups_fit(arch, word, NULL);
        }
        model->shared_fits[l] = fits;
    }
    for (uint32_t l = 0; l < arch->n_level; l++)
        model->fits[l] = model->shared_fits[l] ? model->shared_fits[l] : model->fits[l];
    return DSE_OK;
}

bool optimal_fits_together(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t l,
                           const uint32_t *node)
{
    const struct architecture *arch = model->arch;
    uint64_t word[ARCH_LEVEL_MAX] = {0}, threads = 1, bit = 0;
    for (uint32_t i = l; arch->n_group && i < arch->n_level; i++)
        word[i] = kept_words(model, model->keep[i], node[i]);
    if (arch->n_group && !bank_groups_fit(arch, word, NULL))
        return false;
    if (!arch->gpu.present)
        return true;
    for (uint32_t d = 0; d < model->problem->n_dim; d++)
        threads *= spread->factor[arch->gpu.level][d];
    for (uint32_t i = 0; i < arch->gpu.level; i++)
        bit = gpu_add_bits(bit, kept_words(model, model->keep[i], i < l ? 0 : node[i]),
                           arch->level[i].word_bit);
    return gpu_block_fits(&arch->gpu, threads, bit, 0, NULL);
}

bool optimal_fits_block(const struct optimal_model *model, const struct optimal_spread *spread)
{
    return !model->arch->gpu.present || optimal_fits_together(model, spread, model->arch->n_level, NULL);
}
