/* A layer adds up rows of its weights, each times an input, in the order of the inputs: every sum is of its
 * own register lane, so lanes of any width give the same bytes. Inputs that are 0, half of them behind a
 * ReLU, are left out, which changes no sum. */
#include "engines/search/mlp.h"

#include <math.h>
#include <string.h>

enum dse_status mlp_new(const uint32_t *width, uint32_t n_layer, struct arena *arena, struct mlp *mlp,
                        struct dse_error *err)
{
    *mlp = (struct mlp){.n_layer = n_layer};
    if (n_layer == 0 || n_layer > MLP_LAYER_MAX)
        return dse_fail(err, DSE_BAD_INPUT, "a network of %u layers; 1 to %d are possible", n_layer,
                        MLP_LAYER_MAX);
    for (uint32_t i = 0; i <= n_layer; i++) {
        if (width[i] == 0 || width[i] > MLP_WIDTH_MAX)
            return dse_fail(err, DSE_BAD_INPUT, "a layer of %u values; 1 to %d are possible", width[i],
                            MLP_WIDTH_MAX);
        mlp->width[i] = width[i];
        mlp->n_parameter += i ? ((size_t)width[i - 1] + 1) * width[i] : 0;
    }
    mlp->parameter = arena_alloc(arena, mlp->n_parameter, sizeof *mlp->parameter);
    return arena_check(arena, "a neural network", err);
}

float *mlp_weight(const struct mlp *mlp, uint32_t layer)
{
    size_t at = 0;
    for (uint32_t i = 0; i < layer; i++)
        at += ((size_t)mlp->width[i] + 1) * mlp->width[i + 1];
    return mlp->parameter + at;
}

float *mlp_bias(const struct mlp *mlp, uint32_t layer)
{
    return mlp_weight(mlp, layer) + (size_t)mlp->width[layer] * mlp->width[layer + 1];
}

void mlp_draw(struct mlp *mlp, struct random_stream *stream)
{
    for (uint32_t i = 0; i < mlp->n_layer; i++) {
        float *weight = mlp_weight(mlp, i);
        size_t n = (size_t)mlp->width[i] * mlp->width[i + 1];
        double bound = 1 / sqrt(mlp->width[i]);
        for (size_t w = 0; w < n; w++)
            weight[w] = (float)(bound * (2 * random_unit(stream) - 1));
        memset(weight + n, 0, mlp->width[i + 1] * sizeof *weight);
    }
}

enum dse_status mlp_freeze(const struct mlp *mlp, struct arena *arena, struct mlp_frozen *frozen,
                           struct dse_error *err)
{
    *frozen =
        (struct mlp_frozen){.mlp = mlp, .turned = arena_alloc_unset(arena, mlp->n_parameter, sizeof(float))};
    DSE_TRY(arena_check(arena, "a neural network", err));
    float *to = frozen->turned;
    for (uint32_t i = 0; i < mlp->n_layer; i++) {
        const float *weight = mlp_weight(mlp, i);
        for (size_t column = 0; column < mlp->width[i + 1]; column++)
            for (size_t row = 0; row < mlp->width[i]; row++)
                *to++ = weight[row * mlp->width[i + 1] + column];
    }
    return DSE_OK;
}

enum dse_status mlp_pass_new(const struct mlp_frozen *frozen, struct arena *arena, struct mlp_pass *pass,
                             struct dse_error *err)
{
    const struct mlp *mlp = frozen->mlp;
    uint32_t widest = 0;
    *pass = (struct mlp_pass){.frozen = frozen};
    for (uint32_t i = 0; i <= mlp->n_layer; i++) {
        pass->value[i] = arena_alloc(arena, mlp->width[i], sizeof(float));
        widest = mlp->width[i] > widest ? mlp->width[i] : widest;
    }
    pass->slope[0] = arena_alloc(arena, widest, sizeof(float));
    pass->slope[1] = arena_alloc(arena, widest, sizeof(float));
    pass->factor = arena_alloc(arena, widest, sizeof(float));
    pass->active = arena_alloc(arena, widest, sizeof *pass->active);
    return arena_check(arena, "a neural network", err);
}

/* ---- sums of rows ---- */

/* Four floats, which every machine has a register for; lanes_at may lie anywhere among floats. */
typedef float lanes __attribute__((vector_size(4 * sizeof(float))));
typedef float lanes_at __attribute__((vector_size(4 * sizeof(float)), aligned(sizeof(float)), may_alias));

enum { LANE = 4, BLOCK = 8 * LANE };

static lanes load(const float *from)
{
    return *(const lanes_at *)(const void *)from;
}

static void store(float *to, lanes value)
{
    *(lanes_at *)(void *)to = value;
}

/* BLOCK sums at once stay in registers: sum (BLOCK) += of the rows active (n_active) of matrix (_, n), each
 * times its factor. */
static void add_block(const float *matrix, size_t n, const uint32_t *active, const float *factor,
                      uint32_t n_active, float *sum)
{
    lanes part[BLOCK / LANE];
#pragma GCC unroll 8
    for (int l = 0; l < BLOCK / LANE; l++)
        part[l] = load(sum + l * LANE);
    for (uint32_t i = 0; i < n_active; i++) {
        const float *row = matrix + active[i] * n;
#pragma GCC unroll 8
        for (int l = 0; l < BLOCK / LANE; l++)
            part[l] += factor[i] * load(row + l * LANE);
    }
#pragma GCC unroll 8
    for (int l = 0; l < BLOCK / LANE; l++)
        store(sum + l * LANE, part[l]);
}

/* The same for the LANE sums of a narrow layer, or behind the last block. */
static void add_lanes(const float *matrix, size_t n, const uint32_t *active, const float *factor,
                      uint32_t n_active, float *sum)
{
    lanes part = load(sum);
    for (uint32_t i = 0; i < n_active; i++)
        part += factor[i] * load(matrix + active[i] * n);
    store(sum, part);
}

/* sum (n) += vector (n_row) times matrix (n_row, n). */
static void add_rows(struct mlp_pass *pass, const float *matrix, size_t n_row, size_t n, const float *vector,
                     float *sum)
{
    uint32_t n_active = 0;
    size_t from = 0;
    for (size_t row = 0; row < n_row; row++) {
        pass->active[n_active] = (uint32_t)row;
        pass->factor[n_active] = vector[row];
        n_active += vector[row] != 0;
    }
    for (; from + BLOCK <= n; from += BLOCK)
        add_block(matrix + from, n, pass->active, pass->factor, n_active, sum + from);
    for (; from + LANE <= n; from += LANE)
        add_lanes(matrix + from, n, pass->active, pass->factor, n_active, sum + from);
    for (uint32_t i = 0; i < n_active; i++)
        for (size_t column = from; column < n; column++)
            sum[column] += pass->factor[i] * matrix[pass->active[i] * n + column];
}

/* ---- the passes ---- */

const float *mlp_predict(struct mlp_pass *pass, const float *input)
{
    const struct mlp *mlp = pass->frozen->mlp;
    const float *weight = mlp->parameter;
    memcpy(pass->value[0], input, mlp->width[0] * sizeof *input);
    for (uint32_t i = 0; i < mlp->n_layer; i++) {
        size_t n_row = mlp->width[i], n = mlp->width[i + 1];
        const float *bias = weight + n_row * n;
        float *out = pass->value[i + 1];
        memcpy(out, bias, n * sizeof *out);
        add_rows(pass, weight, n_row, n, pass->value[i], out);
        for (size_t j = 0; i + 1 < mlp->n_layer && j < n; j++)
            out[j] = out[j] > 0 ? out[j] : 0;
        weight = bias + n;
    }
    return pass->value[mlp->n_layer];
}

void mlp_input_gradient(struct mlp_pass *pass, const float *weight, float *gradient)
{
    const struct mlp *mlp = pass->frozen->mlp;
    const float *turned = pass->frozen->turned;
    for (uint32_t i = 0; i < mlp->n_layer; i++)
        turned += (size_t)mlp->width[i] * mlp->width[i + 1];
    memcpy(pass->slope[0], weight, mlp->width[mlp->n_layer] * sizeof *weight);
    for (uint32_t i = mlp->n_layer; i-- > 0;) {
        size_t n = mlp->width[i], n_row = mlp->width[i + 1];
        float *slope = pass->slope[0], *before = i ? pass->slope[1] : gradient;
        turned -= n_row * n;
        memset(before, 0, n * sizeof *before);
        add_rows(pass, turned, n_row, n, slope, before);
        for (size_t j = 0; i > 0 && j < n; j++)
            before[j] = pass->value[i][j] > 0 ? before[j] : 0;
        if (i > 0) {
            pass->slope[0] = before;
            pass->slope[1] = slope;
        }
    }
}
