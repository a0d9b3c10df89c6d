/* Spatial factors: per level the vectors that fit its two sides, then an odometer over the levels, the
 * outermost first: what is decided there decides most. */
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
    uint64_t children = 1;
    for (uint32_t d = 0; d < PROBLEM_DIM_MAX; d++)
        children *= factor[d];
    vectors->most = children > vectors->most ? children : vectors->most;
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

/* ---------------------------------------- mirror images */

static bool same_rank(const struct tensor_rank *a, const struct tensor_rank *b, const uint8_t *image)
{
    bool same = a->n_term == b->n_term;
    for (uint32_t i = 0; same && i < a->n_term; i++) {
        bool found = false;
        for (uint32_t k = 0; k < b->n_term; k++)
            found = found || (b->term[k].dim == image[a->term[i].dim] &&
                              b->term[k].coefficient == a->term[i].coefficient);
        same = found;
    }
    return same;
}

/* Is the problem the same with every dimension d in the place of image[d]? */
static bool is_mirror(const struct problem *problem, const uint8_t *image)
{
    for (uint32_t d = 0; d < problem->n_dim; d++)
        if (problem->bound[d] != problem->bound[image[d]])
            return false;
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        const struct tensor *tensor = &problem->tensor[t];
        for (uint32_t r = 0; r < tensor->n_rank; r++) {
            bool found = false;
            for (uint32_t k = 0; k < tensor->n_rank && !found; k++)
                found = same_rank(&tensor->rank[r], &tensor->rank[k], image);
            if (!found)
                return false;
        }
    }
    return true;
}

void optimal_spreads_mirror(struct optimal_spreads *spreads)
{
    const struct problem *problem = spreads->model->problem;
    const uint8_t *partner = spreads->model->partner;
    /* two dimensions change places, with their partners in a window, if they have any */
    for (uint32_t a = 0; a < problem->n_dim; a++)
        for (uint32_t b = a + 1; b < problem->n_dim && spreads->n_mirror < OPTIMAL_MIRROR_MAX; b++) {
            uint8_t *image = spreads->mirror[spreads->n_mirror];
            const bool partners = partner[a] < problem->n_dim && partner[b] < problem->n_dim;
            if (problem->bound[a] == 1 || (partners && (partner[a] == b || partner[a] < a)))
                continue;
            for (uint32_t d = 0; d < problem->n_dim; d++)
                image[d] = (uint8_t)d;
            image[a] = (uint8_t)b;
            image[b] = (uint8_t)a;
            if (partners) {
                image[partner[a]] = partner[b];
                image[partner[b]] = partner[a];
            }
            spreads->n_mirror += is_mirror(problem, image);
        }
}

/* Which mirror images are still the same, when level l is chosen; false: one of them comes first. */
static bool is_first(struct optimal_spreads *spreads, uint32_t l, const uint32_t *factor)
{
    const uint32_t n_dim = spreads->model->problem->n_dim;
    const uint32_t tied = l + 1 < spreads->model->arch->n_level ? spreads->tied[l + 1] : ~0u;
    spreads->tied[l] = 0;
    for (uint32_t i = 0; i < spreads->n_mirror; i++) {
        const uint8_t *image = spreads->mirror[i];
        uint32_t d = 0;
        while (d < n_dim && factor[d] == factor[image[d]])
            d++;
        if (!(tied >> i & 1u))
            continue;
        if (d == n_dim)
            spreads->tied[l] |= 1u << i;
        else if (factor[d] > factor[image[d]])
            return false;
    }
    return true;
}

/* ---------------------------------------- all spreads */

enum dse_status optimal_spreads_init(struct optimal_spreads *spreads, const struct optimal_model *model,
                                     struct dse_error *err)
{
    *spreads = (struct optimal_spreads){.model = model, .l = model->arch->n_level - 1};
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

/* Take the next vector of level l, if it divides what is left. */
static bool choose(struct optimal_spreads *spreads, uint32_t l, struct optimal_spread *spread)
{
    const struct problem *problem = spreads->model->problem;
    const uint32_t *factor = spreads->level[l].factor[spreads->at[l]++];
    const uint32_t *whole = l + 1 < spreads->model->arch->n_level ? spreads->left[l + 1] : problem->bound;
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        if (whole[d] % factor[d] != 0)
            return false;
        spreads->left[l][d] = whole[d] / factor[d];
    }
    if (!is_first(spreads, l, factor))
        return false;
    memcpy(spread->factor[l], factor, sizeof spread->factor[l]);
    optimal_spread_choose(spreads->model, spread, l);
    return true;
}

/* Nothing is spread at level l any more. */
static void clear(struct optimal_spreads *spreads, uint32_t l, struct optimal_spread *spread)
{
    for (uint32_t d = 0; d < PROBLEM_DIM_MAX; d++)
        spread->factor[l][d] = 1;
    optimal_spread_choose(spreads->model, spread, l);
}

bool optimal_spreads_next(struct optimal_spreads *spreads, uint32_t n_step, struct optimal_spread *out,
                          uint16_t *place, bool *over)
{
    const uint32_t last = spreads->model->arch->n_level - 1;
    *over = false;
    while (n_step-- > 0) {
        const uint32_t l = spreads->l;
        if (l == last && spreads->at[l] == 0) { /* the beginning */
            for (uint32_t i = last + 1; i-- > 0;)
                clear(spreads, i, out);
            optimal_spread_complete(spreads->model, out);
        }
        if (spreads->at[l] == spreads->level[l].n) {
            spreads->at[l] = 0;
            clear(spreads, l, out);
            if (l == last) {
                *over = true;
                return false;
            }
            spreads->l++;
            continue;
        }
        if (!choose(spreads, l, out) || (spreads->level[l].most > 1 && spreads->worth &&
                                         !spreads->worth(spreads->self, out, l, spreads->left[l])))
            continue;
        if (l > 0) {
            spreads->l--;
            continue;
        }
        for (uint32_t i = 0; i <= last; i++)
            place[i] = (uint16_t)(spreads->at[i] - 1);
        optimal_spread_complete(spreads->model, out);
        if (optimal_fits_block(spreads->model, out))
            return true;
    }
    return false;
}
