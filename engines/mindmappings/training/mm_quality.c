/* Rank correlations by GSL, over all samples, over those of a problem, over the cheapest tenth. */
#include "engines/mindmappings/training/mm_quality.h"

#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

enum { FEWEST = 3 /* samples that can be correlated */ };

static double spearman(const double *a, const double *b, uint32_t n, double *work)
{
    return n < FEWEST ? NAN : gsl_stats_spearman(a, 1, b, 1, n, work);
}

/* The mean over problems where there is one: not all the same. */
static double spearman_within(const double *is, const double *said, uint32_t n, uint32_t n_each, double *work)
{
    double sum = 0, count = 0;
    for (uint32_t first = 0; first < n; first += n_each) {
        double one = spearman(is + first, said + first, n - first < n_each ? n - first : n_each, work);
        sum += isnan(one) ? 0 : one;
        count += isnan(one) ? 0 : 1;
    }
    return sum / count;
}

enum dse_status mm_quality_of_edp(double *is, double *said, uint32_t n, uint32_t n_each,
                                  struct mm_quality *quality, struct dse_error *err)
{
    struct arena arena;
    arena_init(&arena);
    double *work = arena_alloc(&arena, 2 * (size_t)n, sizeof *work);
    double *error = arena_alloc(&arena, n, sizeof *error);
    enum dse_status status = arena_check(&arena, "the test of a model", err);
    if (status == DSE_OK) {
        for (uint32_t i = 0; i < n; i++)
            error[i] = fabs(said[i] / is[i] - 1);
        gsl_sort(error, 1, n);
        quality->median_error = n > 0 ? gsl_stats_median_from_sorted_data(error, 1, n) : NAN;
        quality->spearman = spearman(is, said, n, work);
        quality->spearman_within = spearman_within(is, said, n, n_each, work);
        gsl_sort2(is, 1, said, 1, n);
        quality->spearman_low = spearman(is, said, n / 10, work);
    }
    arena_free(&arena);
    return status;
}

/* One thread's share: true and predicted EDP of each sample. */
static enum dse_status predict(const struct mlp_frozen *frozen, const struct mm_encoding *encoding,
                               const struct mm_data *data, double *is, double *said, struct dse_error *err)
{
    const struct mm_algorithm *algorithm = data->algorithm;
    uint32_t energy = mm_energy_place(algorithm), cycle = mm_cycle_place(algorithm);
    struct arena arena;
    struct mlp_pass pass;
    arena_init(&arena);
    enum dse_status status = mlp_pass_new(frozen, &arena, &pass, err);
#pragma omp for schedule(static)
    for (size_t i = 0; i < data->n; i++) {
        double vector[MM_VALUE_MAX];
        float input[MM_VALUE_MAX];
        const float *ratio = data->ratio + i * algorithm->n_cost;
        for (uint32_t v = 0; v < algorithm->n_value; v++)
            vector[v] = data->vector[i * algorithm->n_value + v];
        mm_encode_vector(encoding, vector, input);
        is[i] = (double)ratio[energy] * (double)ratio[cycle];
        said[i] = status == DSE_OK ? mm_decode_edp(encoding, mlp_predict(&pass, input)) : NAN;
    }
    arena_free(&arena);
    return status;
}

enum dse_status mm_quality_of(const struct mlp_frozen *frozen, const struct mm_encoding *encoding,
                              const struct mm_data *data, int n_thread, struct mm_quality *quality,
                              struct dse_error *err)
{
    struct arena arena;
    arena_init(&arena);
    double *is = arena_alloc(&arena, data->n, sizeof *is), *said = arena_alloc(&arena, data->n, sizeof *said);
    enum dse_status status = arena_check(&arena, "the test of a model", err);
    if (status == DSE_OK) {
#pragma omp parallel num_threads(n_thread)
        {
            struct dse_error why = {0};
            enum dse_status own = predict(frozen, encoding, data, is, said, &why);
#pragma omp critical
            if (own != DSE_OK) {
                status = own;
                if (err)
                    *err = why;
            }
        }
    }
    if (status == DSE_OK)
        status = mm_quality_of_edp(is, said, data->n, data->n_each, quality, err);
    arena_free(&arena);
    return status;
}
