/* Networks that are worked out by hand, and gradients in the inputs against finite differences. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/search/mlp.h"
#include "tests/support/arena_fixture.h"

static struct mlp network(const uint32_t *width, uint32_t n_layer)
{
    struct mlp mlp;
    assert_int_equal(mlp_new(width, n_layer, &arena, &mlp, NULL), DSE_OK);
    return mlp;
}

static void test_two_layers_by_hand(void **unused)
{
    (void)unused;
    struct mlp mlp = network((uint32_t[]){2, 3, 2}, 2);
    struct mlp_frozen frozen;
    struct mlp_pass pass;
    assert_int_equal(mlp.n_parameter, 2 * 3 + 3 + 3 * 2 + 2);
    /* hidden: relu(x0 + 4 x1 + 1, 2 x0 - 5 x1, 3 x0 + 6 x1 - 2) */
    memcpy(mlp_weight(&mlp, 0), (float[]){1, 2, 3, 4, -5, 6}, 6 * sizeof(float));
    memcpy(mlp_bias(&mlp, 0), (float[]){1, 0, -2}, 3 * sizeof(float));
    /* out: h0 + 3 h1 + 5 h2 + 0.5, 2 h0 + 4 h1 + 6 h2 */
    memcpy(mlp_weight(&mlp, 1), (float[]){1, 2, 3, 4, 5, 6}, 6 * sizeof(float));
    memcpy(mlp_bias(&mlp, 1), (float[]){0.5F, 0}, 2 * sizeof(float));
    assert_int_equal(mlp_freeze(&mlp, &arena, &frozen, NULL), DSE_OK);
    assert_int_equal(mlp_pass_new(&frozen, &arena, &pass, NULL), DSE_OK);
    const float *out = mlp_predict(&pass, (float[]){1, 1}); /* hidden 6, 0 (of -3), 7 */
    assert_true(out[0] == 41.5F && out[1] == 54);
    float gradient[2];
    mlp_input_gradient(&pass, (float[]){1, 10}, gradient); /* in hidden: 21, -, 65 */
    assert_true(gradient[0] == 21 * 1 + 65 * 3 && gradient[1] == 21 * 4 + 65 * 6);
    mlp_input_gradient(&pass, (float[]){0, 1}, gradient); /* again from the same pass: 2, -, 6 */
    assert_true(gradient[0] == 2 + 18 && gradient[1] == 8 + 36);
}

enum { WIDE = 71, NARROW = 40 }; /* on both sides of the sizes of blocks and lanes */

/* The sum of the outputs times weight (12), and which ReLUs let it through. */
static double weighted(struct mlp_pass *pass, const float *input, const float *weight, uint8_t *positive)
{
    double sum = 0;
    const float *out = mlp_predict(pass, input);
    for (int o = 0; o < 12; o++)
        sum += (double)weight[o] * (double)out[o];
    for (int j = 0; j < WIDE + NARROW; j++)
        positive[j] = (j < WIDE ? pass->value[1][j] : pass->value[2][j - WIDE]) > 0;
    return sum;
}

/* The difference in *value between the ReLU's kinks, where the sum is straight: with the largest step that no
 * kink is in the way of, for it has the least rounding. False when there is none. */
static bool difference(struct mlp_pass *pass, const float *input, const float *weight, float *value,
                       double *slope)
{
    float at = *value;
    for (float step = 0.25F; step > 0.005F; step /= 2) {
        uint8_t left_of[WIDE + NARROW], right_of[WIDE + NARROW];
        *value = at + step;
        double right = weighted(pass, input, weight, right_of);
        *value = at - step;
        double left = weighted(pass, input, weight, left_of);
        *slope = (right - left) / ((double)(at + step) - (double)(at - step));
        *value = at;
        if (memcmp(left_of, right_of, sizeof left_of) == 0)
            return true;
    }
    return false;
}

static void test_input_gradients_are_finite_differences(void **unused)
{
    (void)unused;
    struct mlp mlp = network((uint32_t[]){62, WIDE, NARROW, 12}, 3);
    struct random_stream stream = random_stream_make(3, 0, RANDOM_TEST);
    struct mlp_frozen frozen;
    struct mlp_pass pass;
    float input[62], weight[12], gradient[62];
    uint32_t n_checked = 0;
    mlp_draw(&mlp, &stream);
    assert_int_equal(mlp_freeze(&mlp, &arena, &frozen, NULL), DSE_OK);
    assert_int_equal(mlp_pass_new(&frozen, &arena, &pass, NULL), DSE_OK);
    for (int i = 0; i < 62; i++)
        input[i] = (float)(2 * random_unit(&stream) - 1);
    for (int i = 0; i < 12; i++)
        weight[i] = (float)(2 * random_unit(&stream) - 1);
    mlp_predict(&pass, input);
    mlp_input_gradient(&pass, weight, gradient);
    for (int i = 0; i < 62; i++) {
        double slope, is = (double)gradient[i];
        if (!difference(&pass, input, weight, &input[i], &slope))
            continue;
        assert_true(fabs(slope - is) <= 1e-4 * fmax(1, fabs(is)));
        n_checked++;
    }
    assert_true(n_checked > 31);
}

static void test_weights_are_uniform(void **unused)
{
    (void)unused;
    struct mlp mlp = network((uint32_t[]){200, 100}, 1);
    struct random_stream stream = random_stream_make(5, 0, RANDOM_TEST);
    double sum = 0, square = 0, most = 0;
    mlp_draw(&mlp, &stream);
    for (int i = 0; i < 20000; i++) {
        double w = mlp.parameter[i];
        sum += w;
        square += w * w;
        most = fmax(most, fabs(w));
    }
    assert_true(fabs(sum / 20000) <= 4 * 0.041 / sqrt(20000));
    assert_true(fabs(square / 20000 - 1.0 / 600) <= 7e-5);
    assert_true(most <= 1 / sqrt(200) + 1e-7 && mlp_bias(&mlp, 0)[99] == 0);
}

static void test_impossible_shapes_are_refused(void **unused)
{
    (void)unused;
    struct mlp mlp;
    struct dse_error err = {0};
    uint32_t many[MLP_LAYER_MAX + 2] = {0};
    assert_int_equal(mlp_new(many, 0, &arena, &mlp, &err), DSE_BAD_INPUT);
    assert_int_equal(mlp_new(many, MLP_LAYER_MAX + 1, &arena, &mlp, &err), DSE_BAD_INPUT);
    assert_int_equal(mlp_new((uint32_t[]){3, 0}, 1, &arena, &mlp, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "a layer of 0 values"));
    assert_int_equal(mlp_new((uint32_t[]){3, MLP_WIDTH_MAX + 1}, 1, &arena, &mlp, &err), DSE_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_two_layers_by_hand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_input_gradients_are_finite_differences, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_weights_are_uniform, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_impossible_shapes_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
