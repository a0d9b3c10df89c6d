/* The process against values from elsewhere: closed forms for one and two observations; for six a program of
 * a few lines in Python, apart from ours (numpy 1.24: equations 2.25, 2.26, 2.30 and 4.17 of Rasmussen and
 * Williams with dense inverses); GSL's integration for expected improvements. */
#include <float.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/search/gaussian_process.h"
#include "tests/support/arena_fixture.h"

enum { N = 6 };
static const double POINT[N][2] = {{0.1, 0.2}, {0.4, 0.9}, {0.5, 0.5}, {0.8, 0.1}, {0.95, 0.7}, {0.3, 0.6}};
static const double VALUE[N] = {3, -1, 4, 1.5, -5, 9};
static const struct gaussian_process_range RANGE = {0.05, 5, 1e-6, 0.1};

static struct gaussian_process *process(uint32_t d, uint32_t n, const double *point, const double *value)
{
    struct gaussian_process *gp;
    assert_int_equal(gaussian_process_new(d, n, &arena, &gp, NULL), DSE_OK);
    gaussian_process_observe(gp, n, point, value);
    return gp;
}

static void set(struct gaussian_process *gp, struct gaussian_process_hyper hyper)
{
    assert_int_equal(gaussian_process_set(gp, &hyper, NULL), DSE_OK);
}

static void fit(struct gaussian_process *gp, uint32_t n_start, uint64_t seed)
{
    struct random_stream stream = random_stream_make(seed, 0, RANDOM_TEST);
    assert_int_equal(gaussian_process_fit(gp, &RANGE, n_start, &stream, NULL), DSE_OK);
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g instead of %.17g", value, expected);
}

static double matern_by_hand(double r)
{
    return (1 + sqrt(5) * r + 5 * r * r / 3) * exp(-sqrt(5) * r);
}

/* The variance at distance r from the one observation is s (1 - k(r)^2 / (1 + noise)); its unit is 1. */
static void test_one_observation(void **unused)
{
    (void)unused;
    const double at = 0.25, value = 7, point[] = {0.25, 0.3, 0.5, 0.75, 1};
    double mean[5], deviation[5];
    struct gaussian_process *gp = process(1, 1, &at, &value);
    set(gp, (struct gaussian_process_hyper){2, 0.01, {0.4}});
    gaussian_process_predict(gp, 5, point, mean, deviation);
    for (int i = 0; i < 5; i++) {
        double k = matern_by_hand((point[i] - at) / 0.4);
        assert_near(mean[i], 7, 0);
        assert_near(deviation[i], sqrt(2 * (1 - k * k / 1.01)), 1e-14);
    }
    fit(gp, 3, 1); /* of one observation nothing can be learned */
    assert_near(gaussian_process_hyper(gp)->signal, 1, 0);
    assert_near(gaussian_process_hyper(gp)->length[0], 0.4, 0);
}

/* Standardised they are -1 and 1, an eigenvector of [1+g r; r 1+g] for 1 + g - r; the other is (1, 1). */
static void test_two_observations(void **unused)
{
    (void)unused;
    const double at[] = {0.2, 0.6}, value[] = {10, 14}, point = 0.3, r = matern_by_hand(0.8), g = 0.05;
    const double a = matern_by_hand(0.2), b = matern_by_hand(0.6);
    double mean, deviation;
    struct gaussian_process *gp = process(1, 2, at, value);
    set(gp, (struct gaussian_process_hyper){1.5, g, {0.5}});
    gaussian_process_predict(gp, 1, &point, &mean, &deviation);
    assert_near(mean, 12 + 2 * (b - a) / (1 + g - r), 1e-13);
    double share = ((a + b) * (a + b) / (1 + g + r) + (a - b) * (a - b) / (1 + g - r)) / 2;
    assert_near(deviation, 2 * sqrt(1.5 * (1 - share)), 1e-14);
}

static void test_equations_by_an_independent_program(void **unused)
{
    (void)unused;
    static const double point[4][2] = {{0, 0}, {0.45, 0.55}, {1, 1}, {0.4, 0.9}};
    static const struct {
        struct gaussian_process_hyper hyper;
        double mean[4], deviation[4], likelihood;
    } known[] = {
        {{1.3, 0.02, {0.3, 0.7}},
         {0.483059912341967, 4.81626863789673, -4.56434476655271, -0.490232026179824},
         {2.38814570954802, 0.815689189908229, 2.53171546029613, 0.674202666665421},
         10.4876451239962},
        {{0.6, 1e-5, {2, 0.15}},
         {1.42545233766832, 7.6170643144051, 0.986764264796929, -1.00001968026871},
         {2.48633661257035, 0.55562152660967, 2.4072326335608, 0.0105927824698156},
         11.2682048216597},
    };
    struct gaussian_process *gp = process(2, N, POINT[0], VALUE);
    for (int c = 0; c < 2; c++) {
        double mean[4], deviation[4], gradient[3], likelihood;
        const struct gaussian_process_hyper *h = &known[c].hyper;
        set(gp, *h);
        gaussian_process_predict(gp, 4, point[0], mean, deviation);
        for (int i = 0; i < 4; i++) {
            assert_near(mean[i], known[c].mean[i], 1e-10);
            assert_near(deviation[i], known[c].deviation[i], 1e-10);
        }
        const double log_hyper[] = {log(h->length[0]), log(h->length[1]), log(h->noise)};
        assert_int_equal(gaussian_process_likelihood(gp, log_hyper, gradient, &likelihood, NULL), DSE_OK);
        assert_near(likelihood, known[c].likelihood, 1e-10);
    }
}

/* Random points with values of a smooth function and a little noise. */
static void draw(uint64_t seed, uint32_t d, uint32_t n, double *point, double *value)
{
    struct random_stream stream = random_stream_make(seed, 0, RANDOM_TEST);
    for (uint32_t i = 0; i < n; i++) {
        value[i] = 0.1 * random_unit(&stream);
        for (uint32_t m = 0; m < d; m++) {
            point[i * d + m] = random_unit(&stream);
            value[i] += sin(4 * point[i * d + m] + m) / (m + 1);
        }
    }
}

static void test_gradient_of_the_likelihood(void **unused)
{
    (void)unused;
    enum { D = 5, COUNT = 30 };
    double point[COUNT * D], value[COUNT], x[D + 1], gradient[D + 1], other[D + 1], low, high;
    struct random_stream stream = random_stream_make(7, 1, RANDOM_TEST);
    draw(7, D, COUNT, point, value);
    struct gaussian_process *gp = process(D, COUNT, point, value);
    for (int turn = 0; turn < 20; turn++) {
        for (int m = 0; m < D; m++)
            x[m] = log(0.05) + log(100) * random_unit(&stream);
        x[D] = log(1e-4) + log(1e3) * random_unit(&stream);
        assert_int_equal(gaussian_process_likelihood(gp, x, gradient, &low, NULL), DSE_OK);
        for (int m = 0; m <= D; m++) {
            const double at = x[m], step = 1e-5;
            x[m] = at - step;
            assert_int_equal(gaussian_process_likelihood(gp, x, other, &low, NULL), DSE_OK);
            x[m] = at + step;
            assert_int_equal(gaussian_process_likelihood(gp, x, other, &high, NULL), DSE_OK);
            x[m] = at;
            assert_near(gradient[m], (high - low) / (2 * step), 1e-6 * (1 + fabs(gradient[m])));
        }
    }
}

/* The gradient is 0 or points out of the box, and no random place is better. */
static void test_a_fit_is_an_optimum(void **unused)
{
    (void)unused;
    enum { D = 3, COUNT = 25, N_TRY = 1000 };
    double point[COUNT * D], value[COUNT], x[D + 1], gradient[D + 1], found, other;
    uint32_t n_bound = 0;
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct random_stream stream = random_stream_make(seed, 1, RANDOM_TEST);
        draw(seed, D, COUNT, point, value);
        struct gaussian_process *gp = process(D, COUNT, point, value);
        fit(gp, 10, seed);
        const struct gaussian_process_hyper *hyper = gaussian_process_hyper(gp);
        for (int m = 0; m <= D; m++)
            x[m] = log(m < D ? hyper->length[m] : hyper->noise);
        assert_int_equal(gaussian_process_likelihood(gp, x, gradient, &found, NULL), DSE_OK);
        for (int m = 0; m <= D; m++) {
            bool low = x[m]<log(m < D ? 0.0501 : 1.01e-6), high = x[m]> log(m < D ? 4.99 : 0.099);
            assert_true(low ? gradient[m] > -0.05 : high ? gradient[m] < 0.05 : fabs(gradient[m]) < 0.05);
            n_bound += low || high;
        }
        for (int turn = 0; turn < N_TRY; turn++) {
            for (int m = 0; m <= D; m++)
                x[m] = log(m < D ? 0.05 : 1e-6) + log(m < D ? 100 : 1e5) * random_unit(&stream);
            assert_int_equal(gaussian_process_likelihood(gp, x, gradient, &other, NULL), DSE_OK);
            assert_true(other > found);
        }
    }
    assert_in_range(n_bound, 1, 5 * D);
}

static void test_noise_free_data_are_interpolated(void **unused)
{
    (void)unused;
    double mean[N], deviation[N];
    struct gaussian_process *gp = process(2, N, POINT[0], VALUE);
    set(gp, (struct gaussian_process_hyper){2, 0, {0.3, 0.3}});
    gaussian_process_predict(gp, N, POINT[0], mean, deviation);
    for (int i = 0; i < N; i++) {
        assert_near(mean[i], VALUE[i], 1e-12);
        assert_near(deviation[i], 0, 1e-6);
    }
}

static void test_a_dimension_that_does_not_matter_gets_a_great_length(void **unused)
{
    (void)unused;
    enum { D = 3, COUNT = 30 };
    double point[COUNT * D], value[COUNT];
    for (uint64_t seed = 0; seed < 5; seed++) {
        draw(seed, D, COUNT, point, value);
        for (int i = 0; i < COUNT; i++)
            value[i] = sin(6 * point[i * D]) + 0.5 * point[i * D + 2];
        struct gaussian_process *gp = process(D, COUNT, point, value);
        fit(gp, 10, seed);
        const double *length = gaussian_process_hyper(gp)->length;
        assert_true(length[1] > 4 * length[0] && length[1] > 4);
        assert_true(length[0] < 1 && gaussian_process_hyper(gp)->noise < 1e-3);
    }
}

struct normal {
    double lowest, mean, deviation;
};

static double gain(double value, void *self)
{
    const struct normal *n = self;
    return (n->lowest - value) * gsl_ran_gaussian_pdf(value - n->mean, n->deviation);
}

static void test_acquisitions(void **unused)
{
    (void)unused;
    gsl_integration_workspace *workspace = gsl_integration_workspace_alloc(1000);
    for (double z = -4; z <= 4; z += 0.5) {
        struct normal normal = {1, 1 - 0.3 * z, 0.3};
        gsl_function function = {gain, &normal};
        double expected, error;
        assert_int_equal(
            gsl_integration_qagil(&function, normal.lowest, 0, 1e-10, 1000, workspace, &expected, &error),
            GSL_SUCCESS);
        assert_near(acquisition_worth(ACQUISITION_IMPROVEMENT, 9, 1, normal.mean, 0.3), expected, 1e-10);
    }
    gsl_integration_workspace_free(workspace);
    assert_near(acquisition_worth(ACQUISITION_BOUND, 2, 9, 5, 0.5), -4, 0); /* 5 - 2 x 0.5 from below */
    /* certain: 1.5 better, or no better */
    assert_near(acquisition_worth(ACQUISITION_IMPROVEMENT, 0, 4, 2.5, 0), 1.5, 0);
    assert_true(acquisition_worth(ACQUISITION_IMPROVEMENT, 0, 4, 4, 0) == -INFINITY);
    /* below the least double, in order all the same */
    double far = acquisition_worth(ACQUISITION_IMPROVEMENT, 0, 0, 50, 1),
           farther = acquisition_worth(ACQUISITION_IMPROVEMENT, 0, 0, 60, 1);
    assert_true(far < 0 && farther < far);
    assert_true(acquisition_worth(ACQUISITION_IMPROVEMENT, 0, 0, 30, 1) > 0);
}

/* What is picked is what a plain look at all predictions says; more candidates than one block. */
static void test_the_best_candidate_is_picked(void **unused)
{
    (void)unused;
    enum { COUNT = 200 };
    double candidate[COUNT * 2], value[COUNT], mean[COUNT], deviation[COUNT];
    bool told[COUNT] = {false};
    draw(5, 2, COUNT, candidate, value);
    struct gaussian_process *gp = process(2, N, POINT[0], VALUE);
    set(gp, (struct gaussian_process_hyper){1, 0.01, {0.4, 0.4}});
    gaussian_process_predict(gp, COUNT, candidate, mean, deviation);
    for (uint32_t n = COUNT; n > 0; n--) { /* from the best down to the worst */
        uint32_t index = gaussian_process_pick(gp, ACQUISITION_BOUND, 2, COUNT, candidate, told);
        assert_in_range(index, 0, COUNT - 1);
        assert_false(told[index]);
        for (uint32_t i = 0; i < COUNT; i++)
            assert_true(told[i] || mean[index] - 2 * deviation[index] <= mean[i] - 2 * deviation[i]);
        told[index] = true;
    }
    assert_int_equal(gaussian_process_pick(gp, ACQUISITION_BOUND, 2, COUNT, candidate, told), COUNT);
    memset(told, 0, sizeof told);
    told[9] = true;
    for (size_t i = 0; i < COUNT; i++) /* of equals the first that is not told */
        memcpy(candidate + 2 * i, POINT[3], sizeof POINT[3]);
    assert_int_equal(gaussian_process_pick(gp, ACQUISITION_IMPROVEMENT, 0, COUNT, candidate, told), 0);
    told[0] = true;
    assert_int_equal(gaussian_process_pick(gp, ACQUISITION_IMPROVEMENT, 0, COUNT, candidate, told), 1);
}

/* Twice the same point without noise has no Cholesky factor; with a little on the diagonal the prediction
 * there is the mean of both. */
static void test_a_point_observed_twice(void **unused)
{
    (void)unused;
    const double at[] = {0.3, 0.3, 0.9}, value[] = {1, 3, 5};
    double mean, deviation;
    struct gaussian_process *gp = process(1, 3, at, value);
    set(gp, (struct gaussian_process_hyper){1, 0, {0.2}});
    gaussian_process_predict(gp, 1, at, &mean, &deviation);
    assert_near(mean, 2, 1e-6);
    assert_near(deviation, 0, 1e-3);
    fit(gp, 5, 1);
    gaussian_process_predict(gp, 1, at, &mean, &deviation);
    assert_near(mean, 2, 0.2);
}

static void test_observations_that_are_equal_or_extreme(void **unused)
{
    (void)unused;
    const double at[] = {0.1, 0.2, 0.3, 0.9}, point[] = {0.25, 0.6};
    double mean[2], deviation[2];
    const double same[] = {0.1, 0.1, 0.1, 0.1};
    struct gaussian_process *gp = process(1, 4, at, same);
    fit(gp, 5, 1);
    gaussian_process_predict(gp, 2, point, mean, deviation);
    assert_true(mean[0] == 0.1 && mean[1] == 0.1 && deviation[1] > deviation[0]);
    /* scaled by any power of two, the smallest doubles and the largest: the same process */
    const double value[] = {1, -0.5, 0.25, 0.75}, scale[] = {0x1p-1000, 0x1p1000};
    gp = process(1, 4, at, value);
    fit(gp, 5, 1);
    gaussian_process_predict(gp, 2, point, mean, deviation);
    for (int s = 0; s < 2; s++) {
        double scaled[4], scaled_mean[2], scaled_deviation[2];
        for (int i = 0; i < 4; i++)
            scaled[i] = value[i] * scale[s];
        gp = process(1, 4, at, scaled);
        fit(gp, 5, 1);
        gaussian_process_predict(gp, 2, point, scaled_mean, scaled_deviation);
        for (int i = 0; i < 2; i++) {
            assert_near(scaled_mean[i] / scale[s], mean[i], 1e-12);
            assert_near(scaled_deviation[i] / scale[s], deviation[i], 1e-12);
        }
    }
}

static void test_errors_are_told(void **unused)
{
    (void)unused;
    struct gaussian_process *gp;
    struct dse_error err = {0};
    assert_int_equal(gaussian_process_new(33, 5, &arena, &gp, &err), DSE_LIMIT);
    assert_non_null(strstr(err.text, "33 dimensions"));
    assert_int_equal(gaussian_process_new(0, 5, &arena, &gp, &err), DSE_LIMIT);
    assert_int_equal(gaussian_process_new(2, 0, &arena, &gp, &err), DSE_LIMIT);
    const double at[] = {0.1, NAN, 0.3}, value[] = {1, 2, 3};
    struct random_stream stream = random_stream_make(1, 0, RANDOM_TEST);
    gp = process(1, 3, at, value);
    assert_int_equal(gaussian_process_fit(gp, &RANGE, 1, &stream, &err), DSE_INTERNAL);
    assert_string_equal(err.text,
                        "the covariance of 3 points has no Cholesky factor, even with 0.0001 of its "
                        "signal added to its diagonal");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_observation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_two_observations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_equations_by_an_independent_program, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gradient_of_the_likelihood, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_fit_is_an_optimum, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_noise_free_data_are_interpolated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_dimension_that_does_not_matter_gets_a_great_length, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_acquisitions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_best_candidate_is_picked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_point_observed_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_observations_that_are_equal_or_extreme, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_errors_are_told, set_up, tear_down),
    };
    gsl_set_error_handler_off(); /* as main does */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
