/* One parallel region for all steps of a call: slices of the batch, then pieces of the parameters, then the
 * counters by one thread. */
#include "engines/search/mlp_fit.h"

#include <omp.h>
#include <string.h>

enum {
    PIECE = 4096,    /* parameters that are moved at a time */
    TEST_PIECE = 256 /* examples of the mean loss whose losses are added up first */
};

enum dse_status mlp_fit_new(struct mlp *mlp, const struct mlp_fit_options *options, uint32_t n_example,
                            struct arena *arena, struct mlp_fit *fit, struct dse_error *err)
{
    struct random_stream stream = random_stream_make(options->seed, 0, RANDOM_INIT);
    *fit = (struct mlp_fit){.mlp = mlp, .options = *options, .n_example = n_example};
    if (n_example == 0 || options->batch == 0 || options->n_epoch == 0)
        return dse_fail(err, DSE_BAD_INPUT, "training needs examples, a batch and epochs: %u, %u, %u",
                        n_example, options->batch, options->n_epoch);
    fit->n_step_epoch = (n_example + (uint64_t)options->batch - 1) / options->batch;
    fit->options.schedule.n_step = fit->n_step_epoch * options->n_epoch;
    fit->options.schedule.period *= fit->n_step_epoch;
    for (int i = 0; i < MLP_SLICES; i++)
        DSE_TRY(mlp_batch_new(mlp, options->batch / MLP_SLICES + 1, arena, &fit->slice[i], err));
    DSE_TRY(mlp_rule_new(options->optimiser, options->momentum, mlp->n_parameter, arena, &fit->rule, err));
    fit->gradient = arena_alloc_unset(arena, MLP_SLICES * mlp->n_parameter, sizeof *fit->gradient);
    fit->target = arena_alloc(arena, (size_t)options->batch * mlp->width[mlp->n_layer], sizeof *fit->target);
    fit->order = arena_alloc_unset(arena, n_example, sizeof *fit->order);
    fit->train_loss = arena_alloc(arena, options->n_epoch, sizeof *fit->train_loss);
    fit->test_loss = arena_alloc(arena, options->n_epoch, sizeof *fit->test_loss);
    if (options->patience > 0)
        fit->best = arena_alloc(arena, mlp->n_parameter, sizeof *fit->best);
    DSE_TRY(arena_check(arena, "the training of a neural network", err));
    mlp_draw(mlp, &stream);
    return DSE_OK;
}

uint32_t mlp_fit_epoch(const struct mlp_fit *fit)
{
    return (uint32_t)(fit->step / fit->n_step_epoch);
}

/* The order of the examples in this epoch, a function of the seed and the epoch alone (Fisher and Yates). */
static void shuffle(struct mlp_fit *fit)
{
    uint64_t epoch = mlp_fit_epoch(fit);
    if (fit->order_of == epoch + 1)
        return;
    fit->order_of = epoch + 1;
    struct random_stream stream = random_stream_make(fit->options.seed, epoch, RANDOM_MOVE);
    for (uint32_t i = 0; i < fit->n_example; i++) {
        uint32_t j = random_below(&stream, i + 1);
        fit->order[i] = fit->order[j];
        fit->order[j] = i;
    }
}

/* The examples of a step: from the first one in the epoch's order. */
struct step {
    size_t first, n;
    float rate;
};

static struct step step_at(const struct mlp_fit *fit)
{
    size_t first = (size_t)(fit->step % fit->n_step_epoch) * fit->options.batch,
           left = fit->n_example - first;
    return (struct step){first, left < fit->options.batch ? left : fit->options.batch,
                         (float)mlp_rate(&fit->options.schedule, fit->step)};
}

/* The gradient and the summed loss of one slice. */
static enum dse_status run_slice(const struct mlp_fit *fit, const struct mlp_examples *examples,
                                 const struct step *step, int s, double *loss, struct dse_error *err)
{
    struct mlp_batch batch = fit->slice[s];
    const struct mlp *mlp = fit->mlp;
    size_t n_out = mlp->width[mlp->n_layer];
    size_t from = step->n * (size_t)s / MLP_SLICES, n = step->n * (size_t)(s + 1) / MLP_SLICES - from;
    float *gradient = fit->gradient + (size_t)s * mlp->n_parameter, *target = fit->target + from * n_out;
    float *slope = batch.slope[mlp->n_layer], mean = 1 / (float)(step->n * n_out);
    *loss = 0;
    if (n == 0) {
        memset(gradient, 0, mlp->n_parameter * sizeof *gradient);
        return DSE_OK;
    }
    examples->get(examples->self, fit->order + step->first + from, n, batch.value[0], target);
    DSE_TRY(mlp_batch_forward(&batch, n, err));
    *loss = mlp_loss_of(fit->options.loss, batch.value[mlp->n_layer], target, n * n_out, slope);
    for (size_t i = 0; i < n * n_out; i++)
        slope[i] *= mean;
    return mlp_batch_backward(&batch, n, gradient, false, err);
}

/* Add the gradients of the slices up, in their order, and move the parameters from .. to-1. */
static void move(const struct mlp_fit *fit, float rate, size_t from, size_t to)
{
    const float *restrict slice = fit->gradient + from;
    float sum[PIECE];
    memcpy(sum, slice, (to - from) * sizeof *sum);
    for (int s = 1; s < MLP_SLICES; s++) {
        slice += fit->mlp->n_parameter;
#pragma omp simd
        for (size_t i = 0; i < to - from; i++)
            sum[i] += slice[i];
    }
    mlp_rule_apply(&fit->rule, rate, from, to, sum, fit->mlp->parameter);
}

/* What the threads of a call share. */
struct round {
    const struct mlp_examples *examples;
    const atomic_int *cancel;
    struct step step;
    double loss[MLP_SLICES];
    enum dse_status status[MLP_SLICES];
    struct dse_error err[MLP_SLICES];
    uint64_t left;
    bool over, interrupted;
};

/* Between steps, by one thread. */
static void prepare(struct mlp_fit *fit, struct round *round)
{
    round->interrupted = round->cancel && atomic_load_explicit(round->cancel, memory_order_relaxed);
    for (int s = 0; s < MLP_SLICES; s++)
        round->over = round->over || round->status[s] != DSE_OK;
    round->over = round->over || round->interrupted || round->left == 0;
    if (round->over)
        return;
    round->step = step_at(fit);
    mlp_rule_advance(&fit->rule);
}

static void count(struct mlp_fit *fit, struct round *round)
{
    for (int s = 0; s < MLP_SLICES; s++)
        fit->loss_sum += round->loss[s];
    round->left--;
    uint32_t epoch = mlp_fit_epoch(fit);
    fit->step++;
    if (fit->step % fit->n_step_epoch != 0)
        return;
    fit->train_loss[epoch] = fit->loss_sum / ((double)fit->n_example * fit->mlp->width[fit->mlp->n_layer]);
    fit->loss_sum = 0;
    round->left = 0;
}

static void run_steps(struct mlp_fit *fit, struct round *round, int n_thread)
{
    size_t n_parameter = fit->mlp->n_parameter, n_piece = (n_parameter + PIECE - 1) / PIECE;
#pragma omp parallel num_threads(n_thread < MLP_SLICES ? n_thread : MLP_SLICES)
    for (;;) {
#pragma omp single
        prepare(fit, round);
        if (round->over)
            break;
#pragma omp for schedule(static)
        for (int s = 0; s < MLP_SLICES; s++)
            round->status[s] =
                run_slice(fit, round->examples, &round->step, s, &round->loss[s], &round->err[s]);
#pragma omp for schedule(static)
        for (size_t p = 0; p < n_piece; p++)
            move(fit, round->step.rate, p * PIECE,
                 (p + 1) * PIECE < n_parameter ? (p + 1) * PIECE : n_parameter);
#pragma omp single
        count(fit, round);
    }
}

enum dse_status mlp_fit_steps(struct mlp_fit *fit, const struct mlp_examples *examples, uint64_t n,
                              int n_thread, const atomic_int *cancel, struct dse_error *err)
{
    struct round round = {.examples = examples, .cancel = cancel, .left = n};
    if (mlp_fit_epoch(fit) >= fit->options.n_epoch)
        return DSE_OK;
    shuffle(fit);
    run_steps(fit, &round, n_thread);
    for (int s = 0; s < MLP_SLICES; s++)
        if (round.status[s] != DSE_OK) {
            if (err)
                *err = round.err[s];
            return round.status[s];
        }
    return round.interrupted ? dse_fail(err, DSE_INTERRUPTED, "interrupted while training") : DSE_OK;
}

/* ---- epochs ---- */

void mlp_fit_note(struct mlp_fit *fit, double test_loss)
{
    uint32_t epoch = mlp_fit_epoch(fit) - 1;
    fit->test_loss[epoch] = test_loss;
    if (!fit->best || (epoch > 0 && !(test_loss < fit->test_loss[fit->best_epoch])))
        return;
    fit->best_epoch = epoch;
    memcpy(fit->best, fit->mlp->parameter, fit->mlp->n_parameter * sizeof *fit->best);
}

bool mlp_fit_over(const struct mlp_fit *fit)
{
    uint32_t n_done = mlp_fit_epoch(fit);
    return n_done >= fit->options.n_epoch ||
           (fit->best && n_done > 0 && n_done - 1 - fit->best_epoch >= fit->options.patience);
}

void mlp_fit_end(struct mlp_fit *fit)
{
    if (fit->best)
        memcpy(fit->mlp->parameter, fit->best, fit->mlp->n_parameter * sizeof *fit->best);
}

/* ---- the mean loss ---- */

/* One thread's share of the pieces of examples; the sum of each goes to sum. */
static enum dse_status lose_pieces(const struct mlp_frozen *frozen, enum mlp_loss loss,
                                   const struct mlp_examples *examples, double *sum, struct dse_error *err)
{
    struct arena arena;
    struct mlp_pass pass;
    const struct mlp *mlp = frozen->mlp;
    uint32_t n_piece = (examples->n + TEST_PIECE - 1) / TEST_PIECE;
    arena_init(&arena);
    enum dse_status status = mlp_pass_new(frozen, &arena, &pass, err);
    float *input = arena_alloc(&arena, mlp->width[0], sizeof *input);
    float *target = arena_alloc(&arena, mlp->width[mlp->n_layer], sizeof *target);
    if (status == DSE_OK)
        status = arena_check(&arena, "the test of a neural network", err);
#pragma omp for schedule(dynamic, 1)
    for (uint32_t p = 0; p < n_piece; p++) {
        sum[p] = 0;
        for (uint32_t i = p * TEST_PIECE;
             status == DSE_OK && i < examples->n && i - p * TEST_PIECE < TEST_PIECE; i++) {
            examples->get(examples->self, &i, 1, input, target);
            sum[p] += mlp_loss_of(loss, mlp_predict(&pass, input), target, mlp->width[mlp->n_layer], NULL);
        }
    }
    arena_free(&arena);
    return status;
}

enum dse_status mlp_mean_loss(const struct mlp *mlp, enum mlp_loss loss, const struct mlp_examples *examples,
                              int n_thread, double *mean, struct dse_error *err)
{
    struct arena arena;
    struct mlp_frozen frozen;
    uint32_t n_piece = (examples->n + TEST_PIECE - 1) / TEST_PIECE;
    arena_init(&arena);
    enum dse_status status = mlp_freeze(mlp, &arena, &frozen, err);
    double *sum = arena_alloc(&arena, n_piece, sizeof *sum);
    if (status == DSE_OK)
        status = arena_check(&arena, "the test of a neural network", err);
    if (status == DSE_OK) {
#pragma omp parallel num_threads(n_thread)
        {
            struct dse_error why = {0};
            enum dse_status own = lose_pieces(&frozen, loss, examples, sum, &why);
#pragma omp critical
            if (own != DSE_OK) {
                status = own;
                if (err)
                    *err = why;
            }
        }
        *mean = 0;
        for (uint32_t p = 0; status == DSE_OK && p < n_piece; p++)
            *mean += sum[p] / ((double)examples->n * mlp->width[mlp->n_layer]);
    }
    arena_free(&arena);
    return status;
}
