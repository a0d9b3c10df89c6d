/* Spatial factors: per level the vectors that fit its two sides, then an odometer over the levels. */
#include "engines/optimal/optimal_spreads.h"

#include <stdlib.h>
#include <string.h>

#include "engines/optimal/optimal_limits.h"

/* Can the dimensions from d on be shared out to the two sides of level l, of which x and y are left? */
static bool fits_sides(const struct optimal_model *model, uint32_t l, const uint32_t *factor, uint32_t d,
                       uint64_t x, uint64_t y)
{
    while (d < model->problem->n_dim && factor[d] == 1)
        d++;
    if (d == model->problem->n_dim)
        return true;
    return (factor[d] <= x && optimal_side_allowed(model, l, false, 1u << d) &&
            fits_sides(model, l, factor, d + 1, x / factor[d], y)) ||
           (factor[d] <= y && optimal_side_allowed(model, l, true, 1u << d) &&
            fits_sides(model, l, factor, d + 1, x, y / factor[d]));
}

static bool append(struct optimal_vectors *vectors, const uint32_t *factor)
{
    if (vectors->n == vectors->room) {
        const uint32_t room = vectors->room ? 2 * vectors->room : 64;
        void *grown =
            room <= UINT16_MAX + 1u ? realloc(vectors->factor, room * sizeof *vectors->factor) : NULL;
        if (!grown)
            return false;
        vectors->factor = grown;
        vectors->room = room;
    }
    memcpy(vectors->factor[vectors->n++], factor, sizeof *vectors->factor);
    return true;
}

/* Every divisor of dimension d and those after it, within `most` children. */
static bool list_vectors(const struct optimal_model *model, uint32_t l, uint32_t d, uint64_t x, uint64_t y,
                         uint64_t most, uint32_t *factor, struct optimal_vectors *out)
{
    const struct problem *problem = model->problem;
    if (d == problem->n_dim)
        return !fits_sides(model, l, factor, 0, x, y) || append(out, factor);
    for (uint32_t f = 1; f <= problem->bound[d] && f <= most; f++) {
        factor[d] = f;
        if (problem->bound[d] % f == 0 && optimal_factor_allowed(model, l, true, d, f) &&
            !list_vectors(model, l, d + 1, x, y, most / f, factor, out))
            return false;
    }
    factor[d] = 1;
    return true;
}

enum dse_status optimal_spreads_init(struct optimal_spreads *spreads, const struct optimal_model *model,
                                     struct dse_error *err)
{
    *spreads = (struct optimal_spreads){.model = model};
    memcpy(spreads->left[0], model->problem->bound, sizeof spreads->left[0]);
    for (uint32_t l = 0; l < model->arch->n_level; l++) {
        uint32_t factor[PROBLEM_DIM_MAX];
        uint64_t x, y;
        architecture_fanout(model->arch, l, &x, &y);
        for (uint32_t d = 0; d < PROBLEM_DIM_MAX; d++)
            factor[d] = 1;
        if (!list_vectors(model, l, 0, x, y, x * y, factor, &spreads->level[l]))
            return dse_fail(err, DSE_LIMIT,
                            "level %s of %s: more than %u spatial factors, or no memory for them; take "
                            "another engine than optimal",
                            model->arch->level[l].name, model->arch->name, UINT16_MAX + 1u);
    }
    return DSE_OK;
}

void optimal_spreads_free(struct optimal_spreads *spreads)
{
    for (uint32_t l = 0; l < ARCH_LEVEL_MAX; l++)
        free(spreads->level[l].factor);
    memset(spreads, 0, sizeof *spreads);
}

void optimal_spreads_get(const struct optimal_spreads *spreads, const uint16_t *place,
                         struct optimal_spread *out)
{
    for (uint32_t l = 0; l < spreads->model->arch->n_level; l++)
        memcpy(out->factor[l], spreads->level[l].factor[place[l]], sizeof out->factor[l]);
}

bool optimal_spreads_next(struct optimal_spreads *spreads, uint32_t n_step, struct optimal_spread *out,
                          uint16_t *place, bool *over)
{
    const struct problem *problem = spreads->model->problem;
    *over = false;
    while (n_step-- > 0) {
        const uint32_t l = spreads->depth;
        if (spreads->at[l] == spreads->level[l].n) {
            spreads->at[l] = 0;
            if (l == 0) {
                *over = true;
                return false;
            }
            spreads->depth--;
            continue;
        }
        const uint32_t *factor = spreads->level[l].factor[spreads->at[l]++];
        bool divides = true;
        for (uint32_t d = 0; d < problem->n_dim; d++) {
            divides = divides && spreads->left[l][d] % factor[d] == 0;
            spreads->left[l + 1][d] = spreads->left[l][d] / factor[d];
        }
        if (!divides)
            continue;
        if (l + 1 < spreads->model->arch->n_level) {
            spreads->depth++;
            continue;
        }
        for (uint32_t i = 0; i <= l; i++)
            place[i] = (uint16_t)(spreads->at[i] - 1);
        optimal_spreads_get(spreads, place, out);
        if (optimal_fits_block(spreads->model, out))
            return true;
    }
    return false;
}
