/* Makes the effects from the axes, adds them up to a prediction, and learns by one Kalman step per
 * finished search. */
#include "dse/run/search_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dse/run/search_time_prior.h"

enum { NEIGHBOUR_MAX = 6, PAIR_MAX = 32, PAIR_CELL_MAX = 1024 };

/* Variances of log(seconds) before anything is seen: the estimate may be off by a factor of e^3 as a whole,
 * by e^2 for an engine, by e^1 along an axis. */
static const double whole_variance = 9, engine_variance = 4, value_variance = 0.5, slope_variance = 1,
                    seed_variance = 0.01, task_variance = 0.25, engine_pair_variance = 0.15,
                    pair_variance = 0.03;

/* Nothing is ever known for certain: a drift of the machine is still learnt. */
static const double least_variance = 1e-4;

static const double first_noise = 0.25, least_noise = 0.0025, noise_memory = 200;
static const double cut = 2.5;           /* standard deviations */
static const double neighbourhood = 0.7; /* correlation of neighbouring values */
static const double least_s = 1e-7;      /* shorter searches are all alike */

/* A Gaussian. */
struct effect {
    double mean, variance;
};

struct axis {
    uint32_t n_value;
    bool seed_only;       /* no effects of its own worth learning */
    bool engine;          /* it chooses the engine */
    bool ordered;         /* neighbours share */
    struct effect slope;  /* variance 0: none */
    struct effect *value; /* (n_value) */
    double *x;            /* (n_value) place on the slope, -1 .. 1; 0 without a slope */
};

/* Two short axes whose values have an effect together: an objective that one engine minds and another does
 * not. */
struct pair {
    uint32_t a, b;       /* axes */
    uint32_t n_b;        /* values of b */
    struct effect *cell; /* (n_a, n_b) */
};

/* The searches of a workload. */
struct kinds {
    uint32_t n_task;
    struct effect *task; /* (n_task) */
    double *size;        /* (n_task) */
    double total;        /* of size * exp(mean) over all tasks */
};

struct cost_model {
    struct cost_prior prior;
    struct effect whole;
    uint32_t n_axis;
    struct axis axis[SPEC_VARIABLE_MAX];
    uint32_t n_pair;
    struct pair pair[PAIR_MAX];
    uint32_t n_workload;
    struct kinds *mapped;    /* (n_workload) loop nests */
    struct kinds *scheduled; /* (n_workload) one task: the network */
    double noise;            /* variance of log(seconds) that no effect explains */
    uint64_t n_learnt;
};

/* ---------------------------------------- making */

/* Numbers on a logarithmic scale where all are positive, else as they are; from -1 to 1. False: they do not
 * rise or fall throughout. */
static bool place_values(const struct sweep_variable *v, uint32_t n, double *x)
{
    bool positive = true, rises = true, falls = true;
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < n; i++)
        positive = positive && v->number[i] > 0;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = positive ? log(v->number[i]) : v->number[i];
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
        rises = rises && (i == 0 || x[i] > x[i - 1]);
        falls = falls && (i == 0 || x[i] < x[i - 1]);
    }
    bool slope = isfinite(low) && isfinite(high) && high > low;
    for (uint32_t i = 0; i < n; i++)
        x[i] = slope ? 2 * (x[i] - low) / (high - low) - 1 : 0;
    return slope && (rises || falls);
}

static bool make_axis(const struct sweep *sweep, size_t d, struct axis *axis)
{
    const struct spec_dimension *dimension = &sweep->spec->dimension[d];
    axis->seed_only = true;
    axis->n_value = (uint32_t)dimension->n_value;
    axis->value = calloc(axis->n_value, sizeof *axis->value);
    axis->x = calloc(axis->n_value, sizeof *axis->x);
    if (!axis->value || !axis->x)
        return false;
    for (size_t k = 0; k < dimension->n_variable; k++) {
        size_t v = dimension->variable[k];
        enum spec_target target = sweep->spec->variable[v].kind->target;
        bool seed = target == SPEC_SEED || target == SPEC_POINT;
        axis->engine = axis->engine || target == SPEC_ENGINE;
        axis->seed_only = axis->seed_only && seed;
        if (seed || axis->ordered || !sweep->variable[v].numeric || axis->n_value < 3)
            continue;
        axis->ordered = place_values(&sweep->variable[v], axis->n_value, axis->x);
        axis->slope.variance = axis->ordered ? slope_variance : 0;
    }
    for (uint32_t i = 0; i < axis->n_value; i++) {
        axis->value[i].variance = axis->seed_only ? seed_variance
                                  : axis->engine  ? engine_variance
                                                  : value_variance;
        axis->x[i] = axis->ordered ? axis->x[i] : 0;
    }
    return true;
}

/* The pairs of axes with the fewest combinations, PAIR_MAX of them; those with the engine first. */
static bool make_pairs(struct cost_model *model)
{
    for (int engine = 1; engine >= 0; engine--)
        for (uint32_t most = 4; most <= PAIR_CELL_MAX; most *= 4)
            for (uint32_t a = 0; a < model->n_axis; a++)
                for (uint32_t b = a + 1; b < model->n_axis && model->n_pair < PAIR_MAX; b++) {
                    const struct axis *x = &model->axis[a], *y = &model->axis[b];
                    uint64_t n = (uint64_t)x->n_value * y->n_value;
                    if (n > most || n <= most / 4 || x->n_value < 2 || y->n_value < 2 || x->seed_only ||
                        y->seed_only || (x->engine || y->engine) != engine)
                        continue;
                    struct pair *pair = &model->pair[model->n_pair++];
                    *pair = (struct pair){a, b, y->n_value, calloc(n, sizeof *pair->cell)};
                    for (uint64_t i = 0; pair->cell && i < n; i++)
                        pair->cell[i].variance = engine ? engine_pair_variance : pair_variance;
                    if (!pair->cell)
                        return false;
                }
    return true;
}

static bool make_kinds(struct kinds *kinds, uint32_t n_task, const struct workload *workload)
{
    kinds->n_task = n_task;
    kinds->task = calloc(n_task + 1, sizeof *kinds->task);
    kinds->size = calloc(n_task + 1, sizeof *kinds->size);
    if (!kinds->task || !kinds->size)
        return false;
    for (uint32_t t = 0; t < n_task; t++) {
        kinds->task[t].variance = task_variance;
        kinds->size[t] = workload ? cost_prior_task_size(&workload->problem[t]) : 1;
        kinds->total += kinds->size[t];
    }
    return true;
}

static bool make(struct cost_model *model, const struct sweep *sweep)
{
    model->n_axis = (uint32_t)sweep->spec->n_dimension;
    model->whole.variance = whole_variance;
    model->noise = first_noise;
    for (uint32_t d = 0; d < model->n_axis; d++)
        if (!make_axis(sweep, d, &model->axis[d]))
            return false;
    if (!make_pairs(model))
        return false;
    uint32_t n = (uint32_t)(sweep->n_network * sweep->n_batch);
    model->mapped = calloc(n + 1, sizeof *model->mapped);
    model->scheduled = calloc(n + 1, sizeof *model->scheduled);
    if (!model->mapped || !model->scheduled)
        return false;
    model->n_workload = n;
    for (uint32_t w = 0; w < n; w++)
        if (!make_kinds(&model->mapped[w], sweep->workload[w].n_problem, &sweep->workload[w]) ||
            !make_kinds(&model->scheduled[w], 1, NULL))
            return false;
    return true;
}

enum dse_status cost_model_new(const struct sweep *sweep, struct cost_model **out, struct dse_error *err)
{
    struct cost_model *model = calloc(1, sizeof *model);
    if (!model)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the cost model");
    enum dse_status status = cost_prior_init(&model->prior, sweep, err);
    if (status == DSE_OK && !make(model, sweep))
        status = dse_fail(err, DSE_NO_MEMORY, "out of memory for the cost model");
    if (status != DSE_OK) {
        cost_model_free(model);
        return status;
    }
    *out = model;
    return DSE_OK;
}

static void free_kinds(struct kinds *kinds, uint32_t n)
{
    for (uint32_t w = 0; w < n; w++) {
        free(kinds[w].task);
        free(kinds[w].size);
    }
    free(kinds);
}

void cost_model_free(struct cost_model *model)
{
    if (!model)
        return;
    cost_prior_free(&model->prior);
    for (uint32_t d = 0; d < model->n_axis; d++) {
        free(model->axis[d].value);
        free(model->axis[d].x);
    }
    for (uint32_t i = 0; i < model->n_pair; i++)
        free(model->pair[i].cell);
    free_kinds(model->mapped, model->n_workload);
    free_kinds(model->scheduled, model->n_workload);
    free(model);
}

/* ---------------------------------------- predicting */

static struct kinds *kinds_of(const struct cost_model *model, const struct cost_class *class)
{
    return class->scheduler ? &model->scheduled[class->workload] : &model->mapped[class->workload];
}

static struct effect *pair_cell(const struct pair *pair, const uint32_t *index)
{
    return &pair->cell[index[pair->a] * pair->n_b + index[pair->b]];
}

/* The logarithm of what all axes do to the estimate. */
static double axes_mean(const struct cost_model *model, const uint32_t *index)
{
    double mean = model->whole.mean;
    for (uint32_t d = 0; d < model->n_axis; d++) {
        const struct axis *axis = &model->axis[d];
        mean += axis->value[index[d]].mean + axis->slope.mean * axis->x[index[d]];
    }
    for (uint32_t i = 0; i < model->n_pair; i++)
        mean += pair_cell(&model->pair[i], index)->mean;
    return mean;
}

double cost_model_predict_index(const struct cost_model *model, const uint32_t *index)
{
    const struct cost_class *class = &model->prior.class[cost_prior_class_of_index(&model->prior, index)];
    double seconds = class->search_s * kinds_of(model, class)->total * exp(axes_mean(model, index));
    return fmin(seconds, class->limit_s * class->n_task);
}

double cost_model_predict_task(const struct cost_model *model, const uint32_t *index, uint32_t task)
{
    const struct cost_class *class = &model->prior.class[cost_prior_class_of_index(&model->prior, index)];
    const struct kinds *kinds = kinds_of(model, class);
    if (task >= kinds->n_task)
        return 0;
    double seconds =
        class->search_s * kinds->size[task] * exp(axes_mean(model, index) + kinds->task[task].mean);
    return fmin(seconds, class->limit_s);
}

double cost_model_predict_s(const struct cost_model *model, const struct sweep_point *point)
{
    return cost_model_predict_index(model, point->index);
}

double cost_model_prior_s(const struct cost_model *model, const struct sweep_point *point)
{
    return model->prior.class[cost_prior_class_of_index(&model->prior, point->index)].point_s;
}

uint64_t cost_model_count(const struct cost_model *model)
{
    return model->n_learnt;
}

/* ---------------------------------------- learning */

/* One effect that counts `weight` times in what was seen, which was off by `residual` and has the variance
 * `total`. */
static void update(struct effect *effect, double weight, double residual, double total)
{
    double covariance = effect->variance * weight;
    effect->mean += covariance / total * residual;
    effect->variance -= covariance * covariance / total;
    if (effect->variance < least_variance)
        effect->variance = least_variance;
}

/* A value of an axis and those beside it. */
static void update_axis(struct axis *axis, uint32_t at, double residual, double total)
{
    double own = axis->value[at].variance, share = neighbourhood;
    update(&axis->value[at], 1, residual, total);
    if (axis->slope.variance > 0)
        update(&axis->slope, axis->x[at], residual, total);
    for (uint32_t k = 1; axis->ordered && k <= NEIGHBOUR_MAX; k++, share *= neighbourhood)
        for (int side = 0; side < 2; side++) {
            if (side == 0 ? at < k : at + k >= axis->n_value)
                continue;
            struct effect *beside = &axis->value[side == 0 ? at - k : at + k];
            update(beside, share * sqrt(own / beside->variance), residual, total);
        }
}

/* How uncertain a prediction is, noise included. */
static double total_variance(const struct cost_model *model, const uint32_t *index, const struct effect *task)
{
    double total = model->noise + model->whole.variance + task->variance;
    for (uint32_t d = 0; d < model->n_axis; d++) {
        const struct axis *axis = &model->axis[d];
        double x = axis->x[index[d]];
        total += axis->value[index[d]].variance + axis->slope.variance * x * x;
    }
    for (uint32_t i = 0; i < model->n_pair; i++)
        total += pair_cell(&model->pair[i], index)->variance;
    return total;
}

/* Searches of one kind may end at once on some machines and take long on others: the mean of their logarithms
 * would be far below their mean, which is what the order of work needs. So a search that was shorter than
 * expected counts as in a gamma regression, by its seconds (P. McCullagh, J. A. Nelder, "Generalized Linear
 * Models", 1989); far below, half of its logarithm more. */
static double towards_mean(double residual)
{
    static const double far = -2;
    if (residual >= 0)
        return residual;
    return residual > far ? exp(residual) - 1 : exp(far) - 1 + (residual - far) / 2;
}

void cost_model_learn(struct cost_model *model, const uint32_t *index, const struct sweep_point *point,
                      uint32_t task, double seconds)
{
    const struct cost_class *class = &model->prior.class[cost_prior_class_of_index(&model->prior, index)];
    struct kinds *kinds = kinds_of(model, class);
    (void)point;
    if (!(seconds >= 0) || !isfinite(seconds) || task >= kinds->n_task)
        return;
    struct effect *kind = &kinds->task[task];
    double expected = log(class->search_s * kinds->size[task]) + axes_mean(model, index) + kind->mean;
    double total = total_variance(model, index, kind), limit = cut * sqrt(total);
    double residual = towards_mean(fmin(fmax(log(fmax(seconds, least_s)) - expected, -limit), limit));
    double before = exp(kind->mean);
    update(&model->whole, 1, residual, total);
    for (uint32_t d = 0; d < model->n_axis; d++)
        update_axis(&model->axis[d], index[d], residual, total);
    for (uint32_t i = 0; i < model->n_pair; i++)
        update(pair_cell(&model->pair[i], index), 1, residual, total);
    update(kind, 1, residual, total);
    kinds->total += kinds->size[task] * (exp(kind->mean) - before);
    /* what is seen on average is the total variance: the noise is what brings both together */
    model->noise += (residual * residual - total) / (noise_memory + (double)model->n_learnt / noise_memory);
    model->noise = fmax(model->noise, least_noise);
    model->n_learnt++;
}
