/* What was told is kept in its order, so that the process sees it in that order. */
#include "engines/search/bayes.h"

#include <math.h>
#include <string.h>

enum {
    FIRST_TRIES = 8, /* random candidates from which the one farthest from those told is taken */
    FIT_START = 8,   /* random hyper-parameters that a fit looks at */
    FIT_SHARE = 64   /* hyper-parameters are fitted again when there is one in so many observations more */
};
static const struct gaussian_process_range RANGE = {0.05, 5, 1e-6, 0.1};

struct bayes {
    const double *candidate; /* (n, d) */
    uint32_t n, d, n_told, n_fitted, asked;
    struct bayes_options options;
    struct random_stream stream;
    struct gaussian_process *process;
    bool *is_told; /* (n) */
    double *point; /* (n_told, d) */
    double *cost;  /* (n_told) as told */
    double *value; /* (n_told) as the process gets it */
};

static enum dse_status check(const double *candidate, uint32_t n, uint32_t d,
                             const struct bayes_options *options, struct dse_error *err)
{
    if (n == 0 || options->n_first == 0 || options->n_max == 0 || !(options->kappa >= 0))
        return dse_fail(err, DSE_BAD_INPUT,
                        "a Bayesian search needs candidates, first ones, evaluations and kappa >= 0: %u, %u, "
                        "%u, %g",
                        n, options->n_first, options->n_max, options->kappa);
    for (size_t i = 0; i < (size_t)n * d; i++)
        if (!(candidate[i] >= 0 && candidate[i] <= 1))
            return dse_fail(err, DSE_BAD_INPUT,
                            "candidate %zu of a Bayesian search lies at %g in dimension "
                            "%zu; 0 to 1 is possible",
                            i / d, candidate[i], i % d);
    return DSE_OK;
}

enum dse_status bayes_new(const double *candidate, uint32_t n, uint32_t d,
                          const struct bayes_options *options, struct random_stream stream,
                          struct arena *arena, struct bayes **made, struct dse_error *err)
{
    DSE_TRY(check(candidate, n, d, options, err));
    uint32_t n_max = options->n_max < n ? options->n_max : n;
    struct bayes *bayes = arena_alloc(arena, 1, sizeof *bayes);
    DSE_TRY(arena_check(arena, "a Bayesian search", err));
    *bayes = (struct bayes){candidate, n, d, .asked = BAYES_END, .options = *options, .stream = stream};
    bayes->options.n_max = n_max;
    DSE_TRY(gaussian_process_new(d, n_max, arena, &bayes->process, err));
    bayes->is_told = arena_alloc(arena, n, sizeof *bayes->is_told);
    bayes->point = arena_alloc(arena, n_max, d * sizeof *bayes->point);
    bayes->cost = arena_alloc(arena, n_max, sizeof *bayes->cost);
    bayes->value = arena_alloc(arena, n_max, sizeof *bayes->value);
    *made = bayes;
    return arena_check(arena, "a Bayesian search", err);
}

static uint32_t draw(struct bayes *bayes)
{
    uint32_t left = random_below(&bayes->stream, bayes->n - bayes->n_told), index = 0;
    for (;; index++)
        if (!bayes->is_told[index] && left-- == 0)
            return index;
}

/* The squared distance of a candidate from the nearest one told. */
static double room(const struct bayes *bayes, uint32_t index)
{
    double nearest = INFINITY;
    for (uint32_t i = 0; i < bayes->n_told; i++) {
        double square = 0;
        for (uint32_t m = 0; m < bayes->d; m++) {
            double way =
                bayes->point[(size_t)i * bayes->d + m] - bayes->candidate[(size_t)index * bayes->d + m];
            square += way * way;
        }
        nearest = fmin(nearest, square);
    }
    return nearest;
}

/* Best-candidate sampling (D. Mitchell, "Spectrally Optimal Sampling for Distribution Ray Tracing", SIGGRAPH
 * 1991): spread out, without the corners' being first. */
static uint32_t choose_first(struct bayes *bayes)
{
    uint32_t best = draw(bayes);
    double most = room(bayes, best);
    for (int try = 1; bayes->n_told > 0 && try < FIRST_TRIES; try++) {
        uint32_t index = draw(bayes);
        double here = room(bayes, index);
        if (here > most) {
            best = index;
            most = here;
        }
    }
    return best;
}

/* What the process gets: the worst of the finite costs where a candidate was infeasible. */
static void fill_values(struct bayes *bayes)
{
    double worst = -INFINITY;
    for (uint32_t i = 0; i < bayes->n_told; i++)
        worst = isfinite(bayes->cost[i]) ? fmax(worst, bayes->cost[i]) : worst;
    for (uint32_t i = 0; i < bayes->n_told; i++)
        bayes->value[i] = isfinite(bayes->cost[i]) ? bayes->cost[i] : isfinite(worst) ? worst : 0;
}

static enum dse_status fit(struct bayes *bayes, struct dse_error *err)
{
    fill_values(bayes);
    gaussian_process_observe(bayes->process, bayes->n_told, bayes->point, bayes->value);
    if (bayes->n_told <= bayes->n_fitted + bayes->n_fitted / FIT_SHARE) {
        struct gaussian_process_hyper same = *gaussian_process_hyper(bayes->process);
        return gaussian_process_set(bayes->process, &same, err);
    }
    bayes->n_fitted = bayes->n_told;
    return gaussian_process_fit(bayes->process, &RANGE, FIT_START, &bayes->stream, err);
}

enum dse_status bayes_next(struct bayes *bayes, uint32_t *index, struct dse_error *err)
{
    if (bayes->asked == BAYES_END && bayes->n_told < bayes->options.n_max) {
        if (bayes->n_told < bayes->options.n_first) {
            bayes->asked = choose_first(bayes);
        } else {
            DSE_TRY(fit(bayes, err));
            bayes->asked =
                gaussian_process_pick(bayes->process, bayes->options.acquisition, bayes->options.kappa,
                                      bayes->n, bayes->candidate, bayes->is_told);
        }
    }
    *index = bayes->asked;
    return DSE_OK;
}

enum dse_status bayes_tell(struct bayes *bayes, uint32_t index, double cost, struct dse_error *err)
{
    if (index >= bayes->n)
        return dse_fail(err, DSE_INTERNAL, "candidate %u of a Bayesian search over %u is told", index,
                        bayes->n);
    if (bayes->is_told[index])
        return dse_fail(err, DSE_INTERNAL, "candidate %u of a Bayesian search is told twice", index);
    if (bayes->n_told == bayes->options.n_max)
        return dse_fail(err, DSE_INTERNAL, "a Bayesian search of %u evaluations is told one more",
                        bayes->options.n_max);
    memcpy(bayes->point + (size_t)bayes->n_told * bayes->d, bayes->candidate + (size_t)index * bayes->d,
           bayes->d * sizeof *bayes->point);
    bayes->cost[bayes->n_told++] = cost;
    bayes->is_told[index] = true;
    bayes->asked = BAYES_END;
    return DSE_OK;
}
