/* Softmax, its adjoint, and the moments of Adam (Kingma and Ba, "Adam: A Method for Stochastic Optimization",
 * ICLR 2015, algorithm 1). */
#include "engines/gradient/relaxed_descent.h"

#include <math.h>
#include <string.h>

#define DECAY_1 0.9
#define DECAY_2 0.999
#define EPSILON 1e-8
/* Free numbers begin uniform in -SCATTER .. SCATTER. */
#define SCATTER 3.0
/* The time is a norm of order 2^SHARPNESS. */
#define SHARPNESS 3
/* The weight of the penalties grows from the first step to the last. */
#define PENALTY_FIRST 0.1
#define PENALTY_LAST 1.0

/* A free number for every dimension and open place. */
struct numbers {
    uint32_t n_place, n_dim;
    double log_fixed[MAPSPACE_PLACE_MAX][PROBLEM_DIM_MAX];
    double log_free[PROBLEM_DIM_MAX]; /* (n_dim) of what is not fixed */
    uint32_t n_open[PROBLEM_DIM_MAX];
    uint8_t open[PROBLEM_DIM_MAX][MAPSPACE_PLACE_MAX]; /* (n_dim, n_open) places */
    double value[PROBLEM_DIM_MAX][MAPSPACE_PLACE_MAX]; /* as all below */
    double share[PROBLEM_DIM_MAX][MAPSPACE_PLACE_MAX]; /* softmax of value */
    double mean[PROBLEM_DIM_MAX][MAPSPACE_PLACE_MAX], square[PROBLEM_DIM_MAX][MAPSPACE_PLACE_MAX];
};

static void numbers_init(struct numbers *numbers, const struct relaxed *model, const struct problem *problem,
                         struct random_stream *stream)
{
    const struct mapspace_place *place = relaxed_places(model, &numbers->n_place);
    numbers->n_dim = problem->n_dim;
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        numbers->log_free[d] = log(problem->bound[d]);
        numbers->n_open[d] = 0;
        for (uint32_t s = 0; s < numbers->n_place; s++) {
            numbers->log_fixed[s][d] = log(place[s].fixed[d]);
            numbers->log_free[d] -= numbers->log_fixed[s][d];
            if (!(place[s].open >> d & 1u) || problem->bound[d] == 1)
                continue;
            uint32_t i = numbers->n_open[d]++;
            numbers->open[d][i] = (uint8_t)s;
            numbers->value[d][i] = SCATTER * (2 * random_unit(stream) - 1);
            numbers->mean[d][i] = numbers->square[d][i] = 0;
        }
    }
}

static void set_factors(struct numbers *numbers, relaxed_factors factor)
{
    for (uint32_t d = 0; d < numbers->n_dim; d++) {
        double *share = numbers->share[d], most = -INFINITY, sum = 0;
        for (uint32_t i = 0; i < numbers->n_open[d]; i++)
            most = fmax(most, numbers->value[d][i]);
        for (uint32_t i = 0; i < numbers->n_open[d]; i++)
            sum += share[i] = exp(numbers->value[d][i] - most);
        for (uint32_t i = 0; i < numbers->n_open[d]; i++) {
            uint32_t s = numbers->open[d][i];
            share[i] /= sum;
            factor[s][d] = numbers->log_fixed[s][d] + numbers->log_free[d] * share[i];
        }
    }
}

/* One step of Adam against the slopes. `keep_1`, `keep_2`: the decays to the power of the step's number. */
static void step(struct numbers *numbers, relaxed_factors slope, double rate, double keep_1, double keep_2)
{
    for (uint32_t d = 0; d < numbers->n_dim; d++) {
        const double *share = numbers->share[d];
        double mean = 0;
        for (uint32_t i = 0; i < numbers->n_open[d]; i++)
            mean += share[i] * slope[numbers->open[d][i]][d];
        for (uint32_t i = 0; i < numbers->n_open[d]; i++) {
            double g = numbers->log_free[d] * share[i] * (slope[numbers->open[d][i]][d] - mean);
            double *first = &numbers->mean[d][i], *second = &numbers->square[d][i];
            *first = DECAY_1 * *first + (1 - DECAY_1) * g;
            *second = DECAY_2 * *second + (1 - DECAY_2) * g * g;
            numbers->value[d][i] -= rate * (*first / (1 - keep_1)) / (sqrt(*second / (1 - keep_2)) + EPSILON);
        }
    }
}

void relaxed_descend(struct relaxed *model, const struct problem *problem,
                     const struct relaxed_schedule *schedule, struct random_stream *stream,
                     relaxed_factors factor)
{
    struct numbers numbers;
    relaxed_factors slope;
    struct relaxed_terms terms = {SHARPNESS, PENALTY_FIRST};
    double keep_1 = 1, keep_2 = 1, growth = pow(PENALTY_LAST / PENALTY_FIRST, 1.0 / schedule->steps);
    numbers_init(&numbers, model, problem, stream);
    memcpy(factor, numbers.log_fixed, sizeof numbers.log_fixed);
    for (uint32_t i = 0; i < schedule->steps; i++) {
        set_factors(&numbers, factor);
        (void)relaxed_value(model, factor, &terms, slope);
        keep_1 *= DECAY_1;
        keep_2 *= DECAY_2;
        step(&numbers, slope, schedule->rate, keep_1, keep_2);
        terms.penalty *= growth;
    }
    set_factors(&numbers, factor);
}
