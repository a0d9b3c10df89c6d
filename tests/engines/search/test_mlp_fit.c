/* Training learns a known function, gives the same bytes for any number of threads and wherever it was
 * stopped, and ends early as told. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/search/mlp_fit.h"
#include "tests/support/arena_fixture.h"

enum { N_EXAMPLE = 1000, N_IN = 3, N_OUT = 2 };

/* Example i: three numbers of its own stream; the targets are x0 - 2 x1 + 0.5 and |x2|. */
static void get(void *self, const uint32_t *index, size_t n, float *input, float *target)
{
    const uint64_t *key = self;
    for (size_t i = 0; i < n; i++) {
        struct random_stream stream = random_stream_make(*key, index[i], RANDOM_TEST);
        for (int v = 0; v < N_IN; v++)
            input[i * N_IN + (size_t)v] = (float)(2 * random_unit(&stream) - 1);
        target[i * N_OUT] = input[i * N_IN] - 2 * input[i * N_IN + 1] + 0.5F;
        target[i * N_OUT + 1] = fabsf(input[i * N_IN + 2]);
    }
}

static const struct mlp_fit_options standard = {
    .loss = MLP_MSE,
    .optimiser = MLP_ADAM,
    .schedule = {.kind = MLP_ONE_CYCLE, .rate = 0.02},
    .batch = 60, /* not a multiple of the slices, nor a part of the examples */
    .n_epoch = 12,
    .seed = 7,
};

struct fixture {
    uint64_t key;
    struct mlp_examples examples;
    struct mlp mlp;
    struct mlp_fit fit;
};

static void start(struct fixture *f, const struct mlp_fit_options *options)
{
    f->key = 1;
    f->examples = (struct mlp_examples){&f->key, N_EXAMPLE, get};
    assert_int_equal(mlp_new((uint32_t[]){N_IN, 20, N_OUT}, 2, &arena, &f->mlp, NULL), DSE_OK);
    assert_int_equal(mlp_fit_new(&f->mlp, options, N_EXAMPLE, &arena, &f->fit, NULL), DSE_OK);
}

static double loss_of(struct fixture *f, uint64_t key, int n_thread)
{
    double mean;
    struct mlp_examples examples = {&key, N_EXAMPLE, get};
    assert_int_equal(mlp_mean_loss(&f->mlp, f->fit.options.loss, &examples, n_thread, &mean, NULL), DSE_OK);
    return mean;
}

static void run(struct fixture *f, int n_thread)
{
    while (!mlp_fit_over(&f->fit)) {
        assert_int_equal(mlp_fit_steps(&f->fit, &f->examples, UINT64_MAX, n_thread, NULL, NULL), DSE_OK);
        mlp_fit_note(&f->fit, loss_of(f, 2, n_thread));
    }
    mlp_fit_end(&f->fit);
}

static void test_a_known_function_is_learnt(void **unused)
{
    (void)unused;
    struct fixture f;
    start(&f, &standard);
    assert_int_equal(f.fit.n_step_epoch, 17);
    double before = loss_of(&f, 2, 1);
    run(&f, 1);
    assert_int_equal(f.fit.step, 12 * 17);
    assert_true(before > 0.5 && f.fit.test_loss[11] < 0.01);
    assert_true(f.fit.train_loss[11] < f.fit.train_loss[5] && f.fit.train_loss[5] < f.fit.train_loss[0]);
}

static void test_threads_change_no_byte(void **unused)
{
    (void)unused;
    struct fixture f[3];
    const int n_thread[3] = {1, 2, 7};
    for (int i = 0; i < 3; i++) {
        start(&f[i], &standard);
        run(&f[i], n_thread[i]);
        assert_memory_equal(f[i].mlp.parameter, f[0].mlp.parameter, f[0].mlp.n_parameter * sizeof(float));
        assert_memory_equal(f[i].fit.test_loss, f[0].fit.test_loss, 12 * sizeof(double));
        assert_memory_equal(f[i].fit.train_loss, f[0].fit.train_loss, 12 * sizeof(double));
    }
}

/* All that a checkpoint keeps goes into a new training, after some steps in the middle of an epoch. */
static void test_it_goes_on_from_its_state(void **unused)
{
    (void)unused;
    struct fixture whole, first, second;
    start(&whole, &standard);
    run(&whole, 2);
    start(&first, &standard);
    assert_int_equal(mlp_fit_steps(&first.fit, &first.examples, UINT64_MAX, 2, NULL, NULL), DSE_OK);
    mlp_fit_note(&first.fit, loss_of(&first, 2, 2));
    assert_int_equal(mlp_fit_steps(&first.fit, &first.examples, 5, 2, NULL, NULL), DSE_OK);
    assert_int_equal(first.fit.step, 22);
    start(&second, &standard);
    memcpy(second.mlp.parameter, first.mlp.parameter, first.mlp.n_parameter * sizeof(float));
    for (int i = 0; i < 2; i++)
        memcpy(second.fit.rule.moment[i], first.fit.rule.moment[i], first.mlp.n_parameter * sizeof(float));
    memcpy(second.fit.rule.decay, first.fit.rule.decay, sizeof first.fit.rule.decay);
    memcpy(second.fit.train_loss, first.fit.train_loss, 12 * sizeof(double));
    second.fit.step = first.fit.step;
    second.fit.loss_sum = first.fit.loss_sum;
    run(&second, 1);
    assert_memory_equal(second.mlp.parameter, whole.mlp.parameter, whole.mlp.n_parameter * sizeof(float));
    assert_memory_equal(second.fit.train_loss, whole.fit.train_loss, 12 * sizeof(double));
}

static void test_a_signal_ends_it_between_steps(void **unused)
{
    (void)unused;
    struct fixture f;
    struct dse_error err = {0};
    atomic_int cancel = 1;
    start(&f, &standard);
    assert_int_equal(mlp_fit_steps(&f.fit, &f.examples, 5, 2, &cancel, &err), DSE_INTERRUPTED);
    assert_int_equal(f.fit.step, 0);
}

static void test_patience_keeps_the_best(void **unused)
{
    (void)unused;
    struct fixture f;
    struct mlp_fit_options options = standard;
    static const double said[] = {3, 1, 2, 1.5};
    float best[500];
    options.patience = 2;
    start(&f, &options);
    assert_in_range(f.mlp.n_parameter, 1, 500);
    for (int epoch = 0; epoch < 4; epoch++) {
        assert_false(mlp_fit_over(&f.fit));
        assert_int_equal(mlp_fit_steps(&f.fit, &f.examples, UINT64_MAX, 1, NULL, NULL), DSE_OK);
        mlp_fit_note(&f.fit, said[epoch]);
        if (epoch == 1)
            memcpy(best, f.mlp.parameter, f.mlp.n_parameter * sizeof(float));
    }
    assert_true(mlp_fit_over(&f.fit));
    assert_int_equal(f.fit.best_epoch, 1);
    mlp_fit_end(&f.fit);
    assert_memory_equal(f.mlp.parameter, best, f.mlp.n_parameter * sizeof(float));
}

static void test_nothing_to_learn_from_is_refused(void **unused)
{
    (void)unused;
    struct fixture f;
    struct dse_error err = {0};
    assert_int_equal(mlp_new((uint32_t[]){N_IN, N_OUT}, 1, &arena, &f.mlp, NULL), DSE_OK);
    assert_int_equal(mlp_fit_new(&f.mlp, &standard, 0, &arena, &f.fit, &err), DSE_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_known_function_is_learnt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_threads_change_no_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_it_goes_on_from_its_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_signal_ends_it_between_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_patience_keeps_the_best, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_to_learn_from_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
