/* Batches against single passes and finite differences; losses, optimisers and schedules against values
 * worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/search/mlp_train.h"
#include "tests/support/arena_fixture.h"

enum { N_IN = 9, N_OUT = 5, N_ROW = 3 };

static struct mlp drawn_network(struct random_stream *stream)
{
    struct mlp mlp;
    assert_int_equal(mlp_new((uint32_t[]){N_IN, 13, 8, N_OUT}, 3, &arena, &mlp, NULL), DSE_OK);
    mlp_draw(&mlp, stream);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t j = 0; j < mlp.width[i + 1]; j++)
            mlp_bias(&mlp, i)[j] = (float)(random_unit(stream) - 0.5);
    return mlp;
}

static void draw_values(struct random_stream *stream, float *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        value[i] = (float)(2 * random_unit(stream) - 1);
}

static double sum_of_losses(struct mlp_batch *batch, enum mlp_loss kind, const float *target, float *slope)
{
    assert_int_equal(mlp_batch_forward(batch, N_ROW, NULL), DSE_OK);
    return mlp_loss_of(kind, batch->value[3], target, N_ROW * N_OUT, slope);
}

/* On which side of each kink the network and the losses are: of every ReLU, and of every difference from its
 * target. */
static void note_sides(const struct mlp_batch *batch, const float *target, uint8_t *side)
{
    for (uint32_t i = 1; i < 3; i++)
        for (size_t j = 0; j < N_ROW * batch->mlp->width[i]; j++)
            *side++ = batch->value[i][j] > 0;
    for (size_t j = 0; j < N_ROW * N_OUT; j++) {
        float d = batch->value[3][j] - target[j];
        *side++ = (uint8_t)((d > 0) + 2 * (d > 1) + 4 * (d < -1));
    }
}

enum { N_SIDE = N_ROW * (13 + 8 + N_OUT) };

/* The central difference of the loss in *value; false where there is a kink between. Without one the loss is
 * at most a parabola in one value, of which a central difference is the derivative for any step. */
static bool difference_at(struct mlp_batch *batch, enum mlp_loss kind, const float *target, float *value,
                          float step, double *slope)
{
    uint8_t left_of[N_SIDE], right_of[N_SIDE];
    float at = *value;
    *value = at + step;
    double right = sum_of_losses(batch, kind, target, NULL);
    note_sides(batch, target, right_of);
    *value = at - step;
    double left = sum_of_losses(batch, kind, target, NULL);
    note_sides(batch, target, left_of);
    *slope = (right - left) / ((double)(at + step) - (double)(at - step));
    *value = at;
    return memcmp(left_of, right_of, N_SIDE) == 0;
}

/* With the largest step that no kink is in the way of: it has the least rounding. */
static bool difference(struct mlp_batch *batch, enum mlp_loss kind, const float *target, float *value,
                       double *slope)
{
    for (float step = 0.25F; step > 0.02F; step /= 2)
        if (difference_at(batch, kind, target, value, step, slope))
            return true;
    return false;
}

/* Of all three losses: every weight, every bias and every input. */
static void test_gradients_are_finite_differences(void **unused)
{
    (void)unused;
    for (enum mlp_loss kind = 0; kind < MLP_LOSS_COUNT; kind++) {
        struct random_stream stream = random_stream_make(11, kind, RANDOM_TEST);
        struct mlp mlp = drawn_network(&stream);
        struct mlp_batch batch;
        float gradient[500], target[N_ROW * N_OUT], inputs[N_ROW * N_IN];
        size_t n_checked = 0, n = mlp.n_parameter + N_ROW * N_IN;
        assert_in_range(mlp.n_parameter, 1, 500);
        assert_int_equal(mlp_batch_new(&mlp, N_ROW, &arena, &batch, NULL), DSE_OK);
        draw_values(&stream, batch.value[0], N_ROW * N_IN);
        draw_values(&stream, target, N_ROW * N_OUT);
        target[0] = 4; /* so that Huber's straight part is there too */
        sum_of_losses(&batch, kind, target, batch.slope[3]);
        assert_int_equal(mlp_batch_backward(&batch, N_ROW, gradient, true, NULL), DSE_OK);
        memcpy(inputs, batch.slope[0], sizeof inputs);
        for (size_t p = 0; p < n; p++) {
            bool is_input = p >= mlp.n_parameter;
            float *value = is_input ? batch.value[0] + (p - mlp.n_parameter) : mlp.parameter + p;
            double is = (double)(is_input ? inputs[p - mlp.n_parameter] : gradient[p]), slope;
            if (!difference(&batch, kind, target, value, &slope))
                continue;
            assert_true(fabs(slope - is) <= 1e-4 * fmax(1, fabs(is)));
            n_checked++;
        }
        assert_true(n_checked > n / 2);
    }
}

static void test_a_batch_says_what_single_passes_say(void **unused)
{
    (void)unused;
    struct random_stream stream = random_stream_make(12, 0, RANDOM_TEST);
    struct mlp mlp = drawn_network(&stream);
    struct mlp_batch batch;
    struct mlp_frozen frozen;
    struct mlp_pass pass;
    float gradient[N_IN];
    assert_int_equal(mlp_batch_new(&mlp, N_ROW, &arena, &batch, NULL), DSE_OK);
    assert_int_equal(mlp_freeze(&mlp, &arena, &frozen, NULL), DSE_OK);
    assert_int_equal(mlp_pass_new(&frozen, &arena, &pass, NULL), DSE_OK);
    draw_values(&stream, batch.value[0], N_ROW * N_IN);
    draw_values(&stream, batch.slope[3], N_ROW * N_OUT);
    assert_int_equal(mlp_batch_forward(&batch, N_ROW, NULL), DSE_OK);
    assert_int_equal(mlp_batch_backward(&batch, N_ROW, NULL, true, NULL), DSE_OK);
    for (int row = 0; row < N_ROW; row++) {
        const float *out = mlp_predict(&pass, batch.value[0] + row * N_IN);
        for (int o = 0; o < N_OUT; o++)
            assert_true(fabs((double)out[o] - ((double)batch.value[3][row * N_OUT + o])) <= 1e-5);
        mlp_input_gradient(&pass, batch.slope[3] + row * N_OUT, gradient);
        for (int i = 0; i < N_IN; i++)
            assert_true(fabs((double)gradient[i] - ((double)batch.slope[0][row * N_IN + i])) <= 1e-5);
    }
}

static void test_losses_by_hand(void **unused)
{
    (void)unused;
    const float output[] = {1, 1, -3}, target[] = {0.5F, 1, 0}; /* differences 0.5, 0, -3 */
    float slope[3];
    assert_true(fabs(mlp_loss_of(MLP_HUBER, output, target, 3, slope) - (0.125 + 0 + 2.5)) <= 1e-12);
    assert_true(slope[0] == 0.5F && slope[1] == 0 && slope[2] == -1);
    assert_true(fabs(mlp_loss_of(MLP_MSE, output, target, 3, slope) - (0.25 + 0 + 9)) <= 1e-12);
    assert_true(slope[0] == 1 && slope[1] == 0 && slope[2] == -6);
    assert_true(fabs(mlp_loss_of(MLP_MAE, output, target, 3, slope) - (0.5 + 0 + 3)) <= 1e-12);
    assert_true(slope[0] == 1 && slope[1] == 0 && slope[2] == -1);
}

static void test_sgd_keeps_its_momentum(void **unused)
{
    (void)unused;
    struct mlp_rule rule;
    float p[3] = {0, 1, 0};
    assert_int_equal(mlp_rule_new(MLP_SGD, 0.5F, 3, &arena, &rule, NULL), DSE_OK);
    for (int step = 0; step < 3; step++) {
        mlp_rule_advance(&rule);
        mlp_rule_apply(&rule, 0.25F, 1, 2, (float[]){1}, p);
    }
    /* v: 1, 1.5, 1.75; moved by a quarter of each: 4.25 / 4 */
    assert_true(p[0] == 0 && p[1] == 1 - 1.0625F && p[2] == 0);
}

static void test_adam_by_hand(void **unused)
{
    (void)unused;
    struct mlp_rule rule;
    float p[1] = {1};
    assert_int_equal(mlp_rule_new(MLP_ADAM, 0, 1, &arena, &rule, NULL), DSE_OK);
    mlp_rule_advance(&rule);
    mlp_rule_apply(&rule, 0.1F, 0, 1, (float[]){2}, p);
    assert_true(fabs((double)p[0] - 0.9) <=
                1e-6); /* the first step is of length rate, whatever the gradient */
    mlp_rule_advance(&rule);
    mlp_rule_apply(&rule, 0.1F, 0, 1, (float[]){-1}, p);
    /* m = (0.9 x 0.2 - 0.1) / 0.19 = 0.421053, v = (0.999 x 0.004 + 0.001) / 0.001999 = 2.499250:
     * 0.9 - 0.1 x 0.421053 / 1.580902 */
    assert_true(fabs((double)p[0] - (0.9 - 0.0266337)) <= 2e-6);
}

static void test_schedules_by_hand(void **unused)
{
    (void)unused;
    struct mlp_schedule step = {MLP_STEP, 0.5, 0.1, 20, 100};
    assert_true(fabs(mlp_rate(&step, 0) - 0.5) <= 1e-15);
    assert_true(fabs(mlp_rate(&step, 19) - 0.5) <= 1e-15);
    assert_true(fabs(mlp_rate(&step, 20) - 0.05) <= 1e-15);
    assert_true(fabs(mlp_rate(&step, 79) - 0.0005) <= 1e-15);
    struct mlp_schedule cycle = {MLP_ONE_CYCLE, 1, 0, 0, 101}; /* x = step / 100 */
    assert_true(fabs(mlp_rate(&cycle, 0) - 0.04) <= 1e-12);
    assert_true(fabs(mlp_rate(&cycle, 15) - 0.52) <= 1e-12); /* halfway up: the mean of 0.04 and 1 */
    assert_true(fabs(mlp_rate(&cycle, 30) - 1) <= 1e-12);
    assert_true(fabs(mlp_rate(&cycle, 65) - ((1 + 4e-6) / 2)) <= 1e-12);
    assert_true(fabs(mlp_rate(&cycle, 100) - 4e-6) <= 1e-12);
    struct mlp_schedule constant = {MLP_CONSTANT, 0.25, 0, 0, 10};
    assert_true(fabs(mlp_rate(&constant, 7) - 0.25) <= 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_gradients_are_finite_differences, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_batch_says_what_single_passes_say, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_losses_by_hand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sgd_keeps_its_momentum, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adam_by_hand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_schedules_by_hand, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
