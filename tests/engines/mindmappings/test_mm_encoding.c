/* Inputs and outputs of a surrogate against values worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engines/mindmappings/mm_encoding.h"

static struct mm_encoding encoding;

static void begin(enum mm_input_form input, enum mm_output_form output)
{
    encoding = (struct mm_encoding){.algorithm = mm_algorithm(MM_CNN), .input = input, .output = output};
    for (int i = 0; i < MM_VALUE_MAX; i++) {
        encoding.input_mean[i] = 1;
        encoding.input_deviation[i] = 2;
    }
    for (int i = 0; i < MM_COST_MAX; i++) {
        encoding.output_mean[i] = 0.5;
        encoding.output_deviation[i] = 0.25;
    }
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fmax(1, fabs(b));
}

static void test_inputs(void **unused)
{
    (void)unused;
    double vector[MM_VALUE_MAX] = {8}, back[MM_VALUE_MAX];
    float input[MM_VALUE_MAX];
    for (int i = 1; i < MM_VALUE_MAX; i++)
        vector[i] = 4;
    begin(MM_INPUT_LOG2, MM_OUTPUT_LOG);
    mm_encode_vector(&encoding, vector, input);
    assert_true(is_near((double)input[0], (3 - 1) / 2.0));  /* log2 8 */
    assert_true(is_near((double)input[34], (2 - 1) / 2.0)); /* the last factor */
    assert_true(is_near((double)input[35], (4 - 1) / 2.0)); /* the first place, as it is */
    mm_decode_vector(&encoding, input, back);
    assert_true(is_near(back[0], 8) && is_near(back[34], 4) && is_near(back[35], 4) && is_near(back[61], 4));
    begin(MM_INPUT_RAW, MM_OUTPUT_LOG);
    mm_encode_vector(&encoding, vector, input);
    assert_true(is_near((double)input[0], 3.5) && is_near((double)input[34], 1.5));
    mm_decode_vector(&encoding, input, back);
    assert_true(is_near(back[0], 8) && is_near(back[34], 4));
}

static void test_outputs(void **unused)
{
    (void)unused;
    double ratio[MM_COST_MAX] = {0};
    float output[MM_COST_MAX];
    ratio[9] = 0.5;
    ratio[10] = 6;
    ratio[11] = 3;
    begin(MM_INPUT_LOG2, MM_OUTPUT_LOG);
    mm_encode_ratios(&encoding, ratio, output);
    assert_true(is_near((double)output[0], (log(0.01) - 0.5) / 0.25)); /* a bypassed buffer has 0 */
    assert_true(is_near((double)output[9], (log(0.5) - 0.5) / 0.25));  /* utilization: nothing is added */
    assert_true(is_near((double)output[10], (log(6) - 0.5) / 0.25));
    assert_true(fabs(mm_decode_ratio(&encoding, 0, output[0])) < 1e-6);
    assert_true(is_near(mm_decode_ratio(&encoding, 11, output[11]), 3));
    assert_true(is_near(mm_decode_edp(&encoding, output), 18));
    begin(MM_INPUT_LOG2, MM_OUTPUT_RATIO);
    mm_encode_ratios(&encoding, ratio, output);
    assert_true(is_near((double)output[0], -2) && is_near((double)output[10], 22));
    assert_true(is_near(mm_decode_edp(&encoding, output), 18));
}

static void test_places_of_the_totals(void **unused)
{
    (void)unused;
    assert_int_equal(mm_energy_place(mm_algorithm(MM_CNN)), 10);
    assert_int_equal(mm_cycle_place(mm_algorithm(MM_CNN)), 11);
    assert_int_equal(mm_energy_place(mm_algorithm(MM_MTTKRP)), 13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_places_of_the_totals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
