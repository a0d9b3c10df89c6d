/* Weights from micro-benchmarks: never worse than the defaults on them, the same for any number of
 * threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "costmodel/readers/readers.h"
#include "engines/cosa/calibrate.h"
#include "engines/cosa/cosa.h"
#include "tests/engines/small_cases.h"

static double mean_ratio(const struct calibration *c, uint32_t p)
{
    double sum = 0;
    for (uint32_t i = 0; i < c->n_layer; i++)
        sum += log(c->point[p].cost[i] / c->point[0].cost[i]);
    return exp(sum / c->n_layer);
}

/* The machine of the paper's Table V: every layer is mapped with the default weights, which are those of the
 * settings; the winner is not worse, and its ratio is the geometric mean of its costs. */
static void test_calibrated_weights_are_not_worse_than_the_defaults(void **state)
{
    (void)state;
    static struct calibration c;
    struct architecture arch;
    struct cosa_settings settings;
    struct dse_error err;
    const struct objective edp = {1, 1};
    cosa_settings_init(&settings);
    assert_int_equal(architecture_read("experiments/architectures/simba_tablev.yaml", &arch, &err), DSE_OK);
    assert_int_equal(calibrate(&arch, &edp, 4, NULL, &c, &err), DSE_OK);
    assert_int_equal(c.n_layer, 12);
    assert_int_equal(c.usable, 0xfff);
    assert_true(c.n_point > 25 && c.n_point <= CALIBRATE_POINT_MAX);
    assert_string_equal(c.point[0].origin, "default");
    assert_true(c.point[0].weight_util == settings.weight_util &&
                c.point[0].weight_comp == settings.weight_comp &&
                c.point[0].weight_traf == settings.weight_traf && c.point[0].ratio == 1);
    const struct calibrate_point *best = &c.point[c.best];
    assert_true(best->ratio <= 1 && best->weight_traf == 1 && best->n_mapped == 12);
    assert_true(fabs(best->ratio - mean_ratio(&c, c.best)) < 1e-12);
    for (uint32_t p = 0; p < c.n_point; p++) {
        assert_true(best->ratio <= c.point[p].ratio * 1.02 * (1 + 1e-9)); /* the resolution */
        assert_true(c.point[p].ratio > best->ratio || c.point[p].edp_ratio >= best->edp_ratio * (1 - 1e-9));
        for (uint32_t k = 0; k < p; k++)
            assert_false(c.point[k].weight_util == c.point[p].weight_util &&
                         c.point[k].weight_comp == c.point[p].weight_comp);
    }
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    static struct calibration one, three;
    struct architecture arch;
    struct dse_error err;
    const struct objective latency = {0, 1};
    small_machine(&arch, 3, 10); /* one word of each tensor in the registers: quick solves */
    assert_int_equal(calibrate(&arch, &latency, 1, NULL, &one, &err), DSE_OK);
    assert_int_equal(calibrate(&arch, &latency, 3, NULL, &three, &err), DSE_OK);
    assert_int_equal(one.best, three.best);
    assert_int_equal(one.n_point, three.n_point);
    for (uint32_t p = 0; p < one.n_point; p++) {
        assert_true(one.point[p].ratio == three.point[p].ratio);
        assert_true(one.point[p].edp_ratio == three.point[p].edp_ratio);
        assert_string_equal(one.point[p].origin, three.point[p].origin);
    }
}

/* Sizes by hand from docs/cosa.md: 3_14_256_256_1 has 9 * 196 * 65536 = 115,605,504 MACs; 1_14_256_512_2
 * reads (13 * 2 + 1)^2 inputs of each of 256 channels. */
static void test_micro_benchmarks_are_what_they_say(void **state)
{
    (void)state;
    struct micro_benchmark layer[CALIBRATE_LAYER_MAX];
    struct dse_error err;
    uint32_t n;
    assert_int_equal(calibrate_layers(layer, &n, &err), DSE_OK);
    assert_int_equal(n, 12);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(problem_check(&layer[i].problem, &err), DSE_OK);
        assert_true(strlen(layer[i].stress) > 5);
    }
    assert_string_equal(layer[0].problem.name, "3_14_256_256_1");
    assert_int_equal(problem_macs(&layer[0].problem), 115605504);
    assert_string_equal(layer[7].problem.name, "1_14_256_512_2");
    assert_int_equal(problem_tensor_words(&layer[7].problem, 1), 27 * 27 * 256);
}

/* One word of registers cannot hold a word of each of three tensors. */
static void test_machine_without_mappings_is_refused(void **state)
{
    (void)state;
    static struct calibration c;
    struct architecture arch;
    struct dse_error err;
    const struct objective latency = {0, 1};
    small_machine(&arch, 1, 4000);
    assert_int_equal(calibrate(&arch, &latency, 2, NULL, &c, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "no weights give any of the 12 micro-benchmarks a mapping"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calibrated_weights_are_not_worse_than_the_defaults),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_micro_benchmarks_are_what_they_say),
        cmocka_unit_test(test_machine_without_mappings_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
