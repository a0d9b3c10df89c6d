/* C = L L' is the covariance of the observations over the signal. */
#include "engines/search/gaussian_process.h"

#include <float.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multimin.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

enum {
    BLOCK = 64,    /* points that are predicted at a time */
    STEP_MAX = 60, /* of a descent */
    JITTER_MAX = 3 /* how often the diagonal is raised */
};

struct gaussian_process {
    uint32_t d, n, n_max;
    struct gaussian_process_hyper hyper;
    double mean, unit, lowest; /* of the observations */
    bool flat;                 /* they are all equal */
    double *at;                /* (d, n_max) the points, by dimensions */
    double *scaled;            /* (d, n_max) in lengths */
    double *observed;          /* (n) standardised */
    double *weight;            /* (n) C^-1 observed */
    double *factor;            /* (n, n) C, then L, on the diagonal and left of it */
    /* (n, n) left of the diagonal: -dC/da 5 / a. The derivative of C by log length_m is this times the
     * squared distance along m in lengths. */
    double *slope;
    double *inverse; /* (n, n) C^-1 */
    double *block;   /* (n, BLOCK) covariances with points to be predicted */
};

/* The rows and columns of the observations. */
static gsl_matrix square_of(const struct gaussian_process *gp, double *matrix)
{
    return gsl_matrix_view_array_with_tda(matrix, gp->n, gp->n, gp->n_max).matrix;
}

static gsl_vector vector_of(const struct gaussian_process *gp, double *vector)
{
    return gsl_vector_view_array(vector, gp->n).vector;
}

static double *row_of(const struct gaussian_process *gp, double *matrix, uint32_t row)
{
    return matrix + (size_t)row * gp->n_max;
}

enum dse_status gaussian_process_new(uint32_t d, uint32_t n_max, struct arena *arena,
                                     struct gaussian_process **made, struct dse_error *err)
{
    if (d == 0 || d > GAUSSIAN_PROCESS_DIM_MAX || n_max == 0)
        return dse_fail(err, DSE_LIMIT,
                        "a Gaussian process of %u dimensions and %u observations; 1 to %d "
                        "dimensions and at least one observation are possible",
                        d, n_max, GAUSSIAN_PROCESS_DIM_MAX);
    struct gaussian_process *gp = arena_alloc(arena, 1, sizeof *gp);
    DSE_TRY(arena_check(arena, "a Gaussian process", err));
    size_t row = n_max * sizeof(double);
    *gp = (struct gaussian_process){.d = d, .n_max = n_max, .hyper = {.signal = 1, .noise = 1e-3}};
    for (uint32_t m = 0; m < d; m++)
        gp->hyper.length[m] = 0.5;
    gp->at = arena_alloc(arena, d, row);
    gp->scaled = arena_alloc(arena, d, row);
    gp->observed = arena_alloc(arena, 1, row);
    gp->weight = arena_alloc(arena, 1, row);
    gp->factor = arena_alloc_unset(arena, n_max, row);
    gp->slope = arena_alloc_unset(arena, n_max, row);
    gp->inverse = arena_alloc_unset(arena, n_max, row);
    gp->block = arena_alloc_unset(arena, BLOCK, row);
    *made = gp;
    return arena_check(arena, "a Gaussian process", err);
}

void gaussian_process_observe(struct gaussian_process *gp, uint32_t n, const double *point,
                              const double *value)
{
    double largest = 0, mean = 0, square = 0;
    gp->n = n;
    gp->lowest = INFINITY;
    gp->flat = true;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t m = 0; m < gp->d; m++)
            row_of(gp, gp->at, m)[i] = point[(size_t)i * gp->d + m];
        largest = fmax(largest, fabs(value[i]));
        gp->lowest = fmin(gp->lowest, value[i]);
    }
    for (uint32_t i = 0; i < n; i++) { /* as shares of the largest: the square of a value may be no double */
        gp->observed[i] = largest > 0 ? value[i] / largest : 0;
        mean += gp->observed[i] / n;
        gp->flat = gp->flat && gp->observed[i] == gp->observed[0];
    }
    for (uint32_t i = 0; i < n; i++) {
        gp->observed[i] = gp->flat ? 0 : gp->observed[i] - mean;
        square += gp->observed[i] * gp->observed[i] / n;
    }
    for (uint32_t i = 0; !gp->flat && i < n; i++)
        gp->observed[i] /= sqrt(square);
    gp->mean = gp->flat ? value[0] : mean * largest;
    gp->unit = gp->flat ? 1 : sqrt(square) * largest;
}

/* ---- the covariance ---- */

/* (4.17) at a, over the signal; e is exp(-a). */
static double matern(double a, double e)
{
    return (1 + a + a * a / 3) * e;
}

/* Squared distances of one point (d, by stride_x) from n others (d, stride), into square (n). */
static void measure(uint32_t d, const double *x, uint32_t stride_x, const double *others, uint32_t stride,
                    uint32_t n, double *square)
{
    memset(square, 0, n * sizeof *square);
    for (uint32_t m = 0; m < d; m++) {
        const double *row = others + (size_t)m * stride, at = x[(size_t)m * stride_x];
        for (uint32_t j = 0; j < n; j++)
            square[j] += (row[j] - at) * (row[j] - at);
    }
}

/* C and the slopes. */
static void fill(struct gaussian_process *gp, const double *length, double noise)
{
    for (uint32_t m = 0; m < gp->d; m++)
        for (uint32_t i = 0; i < gp->n; i++)
            row_of(gp, gp->scaled, m)[i] = row_of(gp, gp->at, m)[i] / length[m];
    for (uint32_t i = 0; i < gp->n; i++) {
        double *c = row_of(gp, gp->factor, i), *slope = row_of(gp, gp->slope, i);
        measure(gp->d, gp->scaled + i, gp->n_max, gp->scaled, gp->n_max, i, slope);
        for (uint32_t j = 0; j < i; j++) {
            double a = sqrt(5 * slope[j]), e = exp(-a);
            c[j] = matern(a, e);
            slope[j] = 5. / 3 * (1 + a) * e;
        }
        c[i] = 1 + noise;
    }
}

/* C into L, or false: a pivot is no more than what rounding leaves. */
static bool decompose(struct gaussian_process *gp)
{
    gsl_matrix c = square_of(gp, gp->factor);
    if (gsl_linalg_cholesky_decomp1(&c) != GSL_SUCCESS)
        return false;
    gsl_vector pivot = gsl_matrix_diagonal(&c).vector;
    double least = gsl_vector_min(&pivot);
    return least * least > gp->n * DBL_EPSILON;
}

/* L and the weights. */
static enum dse_status factorise(struct gaussian_process *gp, const double *length, double noise,
                                 struct dse_error *err)
{
    double jitter = 0;
    fill(gp, length, noise);
    for (int raised = 0; !decompose(gp); raised++) {
        if (raised == JITTER_MAX)
            return dse_fail(err, DSE_INTERNAL,
                            "the covariance of %u points has no Cholesky factor, even with %g of its signal "
                            "added to its diagonal",
                            gp->n, jitter);
        jitter = raised ? 100 * jitter : 1e-8;
        fill(gp, length, noise + jitter);
    }
    gsl_matrix factor = square_of(gp, gp->factor);
    gsl_vector observed = vector_of(gp, gp->observed), weight = vector_of(gp, gp->weight);
    gsl_linalg_cholesky_solve(&factor, &observed, &weight);
    return DSE_OK;
}

enum dse_status gaussian_process_set(struct gaussian_process *gp, const struct gaussian_process_hyper *hyper,
                                     struct dse_error *err)
{
    gp->hyper = *hyper;
    return factorise(gp, hyper->length, hyper->noise, err);
}

const struct gaussian_process_hyper *gaussian_process_hyper(const struct gaussian_process *gp)
{
    return &gp->hyper;
}

/* ---- the marginal likelihood ---- */

/* u' C^-1 u / n, where the derivative of (2.30) by the signal is 0. */
static double best_signal(struct gaussian_process *gp)
{
    gsl_vector observed = vector_of(gp, gp->observed), weight = vector_of(gp, gp->weight);
    double sum;
    gsl_blas_ddot(&observed, &weight, &sum);
    return gp->flat ? 1 : sum / gp->n;
}

enum dse_status gaussian_process_likelihood(struct gaussian_process *gp, const double *log_hyper,
                                            double *gradient, double *value, struct dse_error *err)
{
    double length[GAUSSIAN_PROCESS_DIM_MAX], noise = exp(log_hyper[gp->d]), trace = 0, log_det = 0;
    for (uint32_t m = 0; m < gp->d; m++)
        length[m] = exp(log_hyper[m]);
    DSE_TRY(factorise(gp, length, noise, err));
    double signal = best_signal(gp);
    gsl_matrix factor = square_of(gp, gp->factor), all = square_of(gp, gp->inverse);
    gsl_matrix_memcpy(&all, &factor);
    gsl_linalg_cholesky_invert(&all);
    memset(gradient, 0, gp->d * sizeof *gradient);
    for (uint32_t i = 0; i < gp->n; i++) { /* (5.9): both halves of the symmetric sum are this one */
        const double *inverse = row_of(gp, gp->inverse, i);
        double *slope = row_of(gp, gp->slope, i), w = gp->weight[i] / signal;
        log_det += 2 * log(row_of(gp, gp->factor, i)[i]);
        trace += inverse[i] - w * gp->weight[i];
        for (uint32_t j = 0; j < i; j++)
            slope[j] *= inverse[j] - w * gp->weight[j];
        for (uint32_t m = 0; m < gp->d; m++) {
            const double *x = row_of(gp, gp->scaled, m);
            for (uint32_t j = 0; j < i; j++)
                gradient[m] += slope[j] * (x[j] - x[i]) * (x[j] - x[i]);
        }
    }
    gradient[gp->d] = noise * trace / 2;
    *value = (gp->n * (1 + log(2 * M_PI * signal)) + log_det) / 2;
    return DSE_OK;
}

/* ---- its largest value ---- */

enum { HYPER_MAX = GAUSSIAN_PROCESS_DIM_MAX + 1 };

/* The box that is searched, and the likelihood as GSL wants it: of variables t without bounds, from which the
 * logarithms are middle + half sin t. */
struct landscape {
    struct gaussian_process *gp;
    double middle[HYPER_MAX], half[HYPER_MAX];
    double t[HYPER_MAX], gradient[HYPER_MAX],
        value; /* the last look: GSL asks for value and gradient in turn */
    bool looked;
    enum dse_status status; /* of the first look that failed */
    struct dse_error *err;
};

static void look(struct landscape *l, const gsl_vector *t)
{
    uint32_t n = l->gp->d + 1;
    double x[HYPER_MAX] = {0};
    if (l->looked && memcmp(l->t, t->data, n * sizeof *x) == 0)
        return;
    l->looked = true;
    memcpy(l->t, t->data, n * sizeof *x);
    for (uint32_t m = 0; m < n; m++)
        x[m] = l->middle[m] + l->half[m] * sin(l->t[m]);
    if (l->status == DSE_OK)
        l->status = gaussian_process_likelihood(l->gp, x, l->gradient, &l->value, l->err);
    if (l->status != DSE_OK)
        l->value = NAN;
    for (uint32_t m = 0; m < n; m++)
        l->gradient[m] *= l->half[m] * cos(l->t[m]);
}

static double value_at(const gsl_vector *t, void *landscape)
{
    struct landscape *l = landscape;
    look(l, t);
    return l->value;
}

static void gradient_at(const gsl_vector *t, void *landscape, gsl_vector *gradient)
{
    struct landscape *l = landscape;
    look(l, t);
    memcpy(gradient->data, l->gradient, gradient->size * sizeof *gradient->data);
}

static void both_at(const gsl_vector *t, void *landscape, double *value, gsl_vector *gradient)
{
    *value = value_at(t, landscape);
    gradient_at(t, landscape, gradient);
}

/* From t (d + 1) down to a local optimum of -log likelihood, which lies in t and *value then. */
static enum dse_status descend(struct landscape *l, double *t, double *value)
{
    gsl_vector_view at = gsl_vector_view_array(t, l->gp->d + 1);
    gsl_multimin_function_fdf function = {value_at, gradient_at, both_at, l->gp->d + 1, l};
    gsl_multimin_fdfminimizer *walk =
        gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, l->gp->d + 1);
    if (!walk)
        return dse_fail(l->err, DSE_NO_MEMORY, "no memory for a descent in %u variables", l->gp->d + 1);
    int going = gsl_multimin_fdfminimizer_set(walk, &function, &at.vector, 0.1, 0.1);
    for (int step = 0; step < STEP_MAX && going == GSL_SUCCESS && l->status == DSE_OK; step++) {
        going = gsl_multimin_fdfminimizer_iterate(walk);
        if (going == GSL_SUCCESS && gsl_multimin_test_gradient(walk->gradient, 1e-3) == GSL_SUCCESS)
            break;
    }
    gsl_vector_memcpy(&at.vector, walk->x);
    *value = walk->f;
    gsl_multimin_fdfminimizer_free(walk);
    return l->status;
}

/* The best of n_start random places. */
static enum dse_status draw_start(struct landscape *l, uint32_t n_start, struct random_stream *stream,
                                  double *best)
{
    double t[HYPER_MAX], lowest = INFINITY;
    gsl_vector_view at = gsl_vector_view_array(t, l->gp->d + 1);
    for (uint32_t start = 0; start < n_start; start++) {
        for (uint32_t m = 0; m <= l->gp->d; m++)
            t[m] = asin(2 * random_unit(stream) - 1);
        double value = value_at(&at.vector, l);
        if (start == 0 || value < lowest) {
            lowest = value;
            memcpy(best, t, sizeof t);
        }
    }
    return l->status;
}

/* Hyper-parameters of the largest likelihood found, from those at hand on. */
static enum dse_status find_hyper(struct gaussian_process *gp, const struct gaussian_process_range *range,
                                  uint32_t n_start, struct random_stream *stream,
                                  struct gaussian_process_hyper *hyper, struct dse_error *err)
{
    struct landscape l = {.gp = gp, .err = err};
    double t[HYPER_MAX], other[HYPER_MAX], value, other_value;
    for (uint32_t m = 0; m <= gp->d; m++) {
        double low = log(m < gp->d ? range->length_low : range->noise_low),
               high = log(m < gp->d ? range->length_high : range->noise_high),
               present = log(m < gp->d ? hyper->length[m] : hyper->noise);
        l.middle[m] = (low + high) / 2;
        l.half[m] = (high - low) / 2;
        /* on a bound the gradient by t would be 0 */
        t[m] = l.half[m] > 0 ? asin(fmax(-0.99, fmin(0.99, (present - l.middle[m]) / l.half[m]))) : 0;
    }
    DSE_TRY(descend(&l, t, &value));
    if (n_start > 0) {
        DSE_TRY(draw_start(&l, n_start, stream, other));
        DSE_TRY(descend(&l, other, &other_value));
        if (other_value < value)
            memcpy(t, other, sizeof t);
    }
    for (uint32_t m = 0; m <= gp->d; m++)
        *(m < gp->d ? &hyper->length[m] : &hyper->noise) = exp(l.middle[m] + l.half[m] * sin(t[m]));
    return DSE_OK;
}

enum dse_status gaussian_process_fit(struct gaussian_process *gp, const struct gaussian_process_range *range,
                                     uint32_t n_start, struct random_stream *stream, struct dse_error *err)
{
    struct gaussian_process_hyper hyper = gp->hyper;
    if (!gp->flat)
        DSE_TRY(find_hyper(gp, range, n_start, stream, &hyper, err));
    DSE_TRY(gaussian_process_set(gp, &hyper, err));
    gp->hyper.signal = best_signal(gp);
    return DSE_OK;
}

/* ---- predictions ---- */

/* Up to BLOCK points. */
static void predict_block(struct gaussian_process *gp, uint32_t n, const double *point, double *mean,
                          double *deviation)
{
    double scaled[GAUSSIAN_PROCESS_DIM_MAX * BLOCK], share[BLOCK]; /* variances as shares of the signal */
    for (uint32_t c = 0; c < n; c++) {
        for (uint32_t m = 0; m < gp->d; m++)
            scaled[m * BLOCK + c] = point[(size_t)c * gp->d + m] / gp->hyper.length[m];
        mean[c] = 0;
        share[c] = 1;
    }
    for (uint32_t i = 0; i < gp->n; i++) {
        double *k = gp->block + (size_t)i * BLOCK;
        measure(gp->d, gp->scaled + i, gp->n_max, scaled, BLOCK, n, k);
        for (uint32_t c = 0; c < n; c++) {
            double a = sqrt(5 * k[c]);
            k[c] = matern(a, exp(-a));
            mean[c] += gp->weight[i] * k[c];
        }
    }
    gsl_matrix block = gsl_matrix_view_array_with_tda(gp->block, gp->n, n, BLOCK).matrix,
               factor = square_of(gp, gp->factor);
    gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, &factor, &block);
    for (uint32_t i = 0; i < gp->n; i++) /* the variance is 1 - v'v with L v = k (algorithm 2.1) */
        for (uint32_t c = 0; c < n; c++)
            share[c] -= gp->block[(size_t)i * BLOCK + c] * gp->block[(size_t)i * BLOCK + c];
    for (uint32_t c = 0; c < n; c++) {
        mean[c] = gp->mean + gp->unit * mean[c];
        deviation[c] = gp->unit * sqrt(gp->hyper.signal * fmax(share[c], 0));
    }
}

void gaussian_process_predict(struct gaussian_process *gp, uint32_t n, const double *point, double *mean,
                              double *deviation)
{
    for (uint32_t from = 0; from < n; from += BLOCK)
        predict_block(gp, n - from < BLOCK ? n - from : BLOCK, point + (size_t)from * gp->d, mean + from,
                      deviation + from);
}

double acquisition_worth(enum acquisition kind, double kappa, double lowest, double mean, double deviation)
{
    if (kind == ACQUISITION_BOUND)
        return kappa * deviation - mean;
    if (!(deviation > 0))
        return mean < lowest ? lowest - mean : -INFINITY;
    double z = (lowest - mean) / deviation;
    double worth = deviation * (z * gsl_cdf_ugaussian_P(z) + gsl_ran_ugaussian_pdf(z));
    return worth > 0 ? worth : z;
}

uint32_t gaussian_process_pick(struct gaussian_process *gp, enum acquisition kind, double kappa, uint32_t n,
                               const double *candidate, const bool *told)
{
    double mean[BLOCK], deviation[BLOCK], most = -INFINITY;
    uint32_t best = n;
    for (uint32_t from = 0; from < n; from += BLOCK) {
        uint32_t n_block = n - from < BLOCK ? n - from : BLOCK;
        gaussian_process_predict(gp, n_block, candidate + (size_t)from * gp->d, mean, deviation);
        for (uint32_t c = 0; c < n_block; c++) {
            double worth = acquisition_worth(kind, kappa, gp->lowest, mean[c], deviation[c]);
            if (!told[from + c] && (best == n || worth > most)) {
                best = from + c;
                most = worth;
            }
        }
    }
    return best;
}
