/* A layer is one product forward and two backward; the rest are loops over rows. */
#include "engines/search/mlp_train.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

const char *const mlp_loss_name[MLP_LOSS_COUNT] = {"huber", "mse", "mae"};
const char *const mlp_optimiser_name[MLP_OPTIMISER_COUNT] = {"sgd", "adam"};
const char *const mlp_schedule_name[MLP_SCHEDULE_COUNT] = {"constant", "step", "one_cycle"};

/* ---- losses ---- */

/* Of one difference; *slope is its derivative. */
static float loss_at(enum mlp_loss kind, float d, float *slope)
{
    float sign = d > 0 ? 1.0F : d < 0 ? -1.0F : 0.0F;
    if (kind == MLP_MSE || (kind == MLP_HUBER && fabsf(d) <= 1)) {
        float half = kind == MLP_HUBER ? 0.5F : 1.0F;
        *slope = 2 * half * d;
        return half * d * d;
    }
    *slope = sign;
    return fabsf(d) - (kind == MLP_HUBER ? 0.5F : 0.0F);
}

double mlp_loss_of(enum mlp_loss kind, const float *output, const float *target, size_t n, float *slope)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        float steep;
        sum += loss_at(kind, output[i] - target[i], &steep);
        if (slope)
            slope[i] = steep;
    }
    return sum;
}

/* ---- batches ---- */

enum dse_status mlp_batch_new(const struct mlp *mlp, size_t n_row_max, struct arena *arena,
                              struct mlp_batch *batch, struct dse_error *err)
{
    *batch = (struct mlp_batch){.mlp = mlp, .n_row_max = n_row_max};
    for (uint32_t i = 0; i <= mlp->n_layer; i++) {
        batch->value[i] = arena_alloc(arena, n_row_max * mlp->width[i], sizeof(float));
        batch->slope[i] = arena_alloc(arena, n_row_max * mlp->width[i], sizeof(float));
    }
    DSE_TRY(blas_open(&batch->blas, err));
    return arena_check(arena, "a batch of a neural network", err);
}

static gsl_matrix_float matrix(float *base, size_t n_row, size_t n_column)
{
    return gsl_matrix_float_view_array(base, n_row, n_column).matrix;
}

enum dse_status mlp_batch_forward(struct mlp_batch *batch, size_t n_row, struct dse_error *err)
{
    const struct mlp *mlp = batch->mlp;
    for (uint32_t i = 0; i < mlp->n_layer; i++) {
        size_t n_in = mlp->width[i], n = mlp->width[i + 1];
        float *out = batch->value[i + 1];
        const float *bias = mlp_bias(mlp, i);
        for (size_t row = 0; row < n_row; row++)
            memcpy(out + row * n, bias, n * sizeof *out);
        gsl_matrix_float x = matrix(batch->value[i], n_row, n_in), w = matrix(mlp_weight(mlp, i), n_in, n),
                         y = matrix(out, n_row, n);
        DSE_TRY(blas_product(&batch->blas, BLAS_AS_IS, &x, BLAS_AS_IS, &w, 1, &y, err));
        if (i + 1 < mlp->n_layer) {
#pragma omp simd
            for (size_t j = 0; j < n_row * n; j++)
                out[j] = out[j] > 0 ? out[j] : 0;
        }
    }
    return DSE_OK;
}

/* The sums of the columns of rows (n_row, n). */
static void sum_columns(const float *rows, size_t n_row, size_t n, float *sum)
{
    memset(sum, 0, n * sizeof *sum);
    for (size_t row = 0; row < n_row; row++) {
#pragma omp simd
        for (size_t j = 0; j < n; j++)
            sum[j] += rows[row * n + j];
    }
}

enum dse_status mlp_batch_backward(struct mlp_batch *batch, size_t n_row, float *gradient, bool inputs,
                                   struct dse_error *err)
{
    const struct mlp *mlp = batch->mlp;
    for (uint32_t i = mlp->n_layer; i-- > 0;) {
        size_t n_in = mlp->width[i], n = mlp->width[i + 1];
        float *before = batch->slope[i];
        const float *value = batch->value[i];
        gsl_matrix_float x = matrix(batch->value[i], n_row, n_in), w = matrix(mlp_weight(mlp, i), n_in, n),
                         dy = matrix(batch->slope[i + 1], n_row, n), dx = matrix(before, n_row, n_in);
        if (gradient) {
            float *to = gradient + (mlp_weight(mlp, i) - mlp->parameter);
            gsl_matrix_float dw = matrix(to, n_in, n);
            DSE_TRY(blas_product(&batch->blas, BLAS_TRANSPOSED, &x, BLAS_AS_IS, &dy, 0, &dw, err));
            sum_columns(batch->slope[i + 1], n_row, n, to + n_in * n);
        }
        if (i == 0 && !inputs)
            break;
        DSE_TRY(blas_product(&batch->blas, BLAS_AS_IS, &dy, BLAS_TRANSPOSED, &w, 0, &dx, err));
        if (i > 0) {
#pragma omp simd
            for (size_t j = 0; j < n_row * n_in; j++)
                before[j] = value[j] > 0 ? before[j] : 0;
        }
    }
    return DSE_OK;
}

/* ---- optimisers ---- */

static const double adam_beta[2] = {0.9, 0.999};
static const float adam_epsilon = 1e-8F;

enum dse_status mlp_rule_new(enum mlp_optimiser optimiser, float momentum, size_t n_parameter,
                             struct arena *arena, struct mlp_rule *rule, struct dse_error *err)
{
    *rule = (struct mlp_rule){.optimiser = optimiser, .momentum = momentum, .decay = {1, 1}};
    for (int i = 0; i < (optimiser == MLP_ADAM ? 2 : 1); i++)
        rule->moment[i] = arena_alloc(arena, n_parameter, sizeof(float));
    return arena_check(arena, "the training of a neural network", err);
}

void mlp_rule_advance(struct mlp_rule *rule)
{
    for (int i = 0; rule->optimiser == MLP_ADAM && i < 2; i++)
        rule->decay[i] *= adam_beta[i];
}

void mlp_rule_apply(const struct mlp_rule *rule, float rate, size_t from, size_t to, const float *gradient,
                    float *parameter)
{
    float *restrict p = parameter + from, *restrict m = rule->moment[0] + from;
    const float *restrict g = gradient;
    size_t n = to - from;
    if (rule->optimiser == MLP_SGD) {
        float momentum = rule->momentum;
#pragma omp simd
        for (size_t i = 0; i < n; i++) {
            m[i] = momentum * m[i] + g[i];
            p[i] -= rate * m[i];
        }
        return;
    }
    float *restrict v = rule->moment[1] + from;
    float keep1 = (float)adam_beta[0], take1 = (float)(1 - adam_beta[0]);
    float keep2 = (float)adam_beta[1], take2 = (float)(1 - adam_beta[1]);
    float grow1 = (float)(1 / (1 - rule->decay[0])), grow2 = (float)(1 / (1 - rule->decay[1]));
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        m[i] = keep1 * m[i] + take1 * g[i];
        v[i] = keep2 * v[i] + take2 * g[i] * g[i];
        p[i] -= rate * (grow1 * m[i]) / (sqrtf(grow2 * v[i]) + adam_epsilon);
    }
}

/* ---- schedules ---- */

static const double one_cycle_first = 25, one_cycle_last = 250000, one_cycle_rise = 0.3;

/* From a to b along half a cosine wave, x in 0 .. 1. */
static double cosine(double a, double b, double x)
{
    return b + (a - b) * (1 + cos(M_PI * x)) / 2;
}

double mlp_rate(const struct mlp_schedule *schedule, uint64_t step)
{
    double rate = schedule->rate;
    if (schedule->kind == MLP_STEP) {
        for (uint64_t i = schedule->period; i <= step && schedule->period > 0; i += schedule->period)
            rate *= schedule->factor;
        return rate;
    }
    if (schedule->kind == MLP_CONSTANT || schedule->n_step < 2)
        return rate;
    double x = (double)step / (double)(schedule->n_step - 1);
    if (x < one_cycle_rise)
        return cosine(rate / one_cycle_first, rate, x / one_cycle_rise);
    return cosine(rate, rate / one_cycle_last, (x - one_cycle_rise) / (1 - one_cycle_rise));
}
