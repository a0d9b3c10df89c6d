/* The measure `cosa` of the worked example of the authors' NoC flow; the sums are worked out by hand in
 * test_terms.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"
#include "engines/cosa/cosa_engines.h"

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fabs(b)))
        fail_msg("%.12g instead of %.12g", a, b);
}

/* With s = log2 7. Sizes of weights, inputs and outputs; each tensor spreads over 4 bits of the mesh. */
static void test_values_of_the_worked_example(void **state)
{
    static struct problem problem;
    static struct architecture arch;
    static struct mapping mapping;
    const double s = log2(7), size_w = 0.84 * 9 + 0.88, size_i = 0.80 * s + 0.84 * 6 + 0.92 * 3,
                 size_o = 0.80 * s + 0.84 * 3 + 0.88 + 0.92 * 3;
    const double util = (s + 3) + 1.01 * 10 + (s + 9), comp = 2 * s + 8,
                 traf = 0.99 * (size_w + size_i + size_o) + 0.99 * 12 + 3.01 * (s + 1);
    union metric_value value[4];
    struct dse_error err = {0};
    struct yaml_doc doc;
    (void)state;
    assert_int_equal(yaml_read(&doc, "tests/known/cosa_noc/worked_example.yaml", &err), DSE_OK);
    assert_int_equal(architecture_read("experiments/architectures/simba_tablev.yaml", &arch, &err), DSE_OK);
    assert_int_equal(problem_build(&doc, &problem, &err), DSE_OK);
    assert_int_equal(mapping_build(&doc, &problem, &arch, &mapping, &err), DSE_OK);
    yaml_doc_free(&doc);
    assert_int_equal(measure_cosa.group.n, 4);
    assert_int_equal(measure_cosa.compute(&problem, &arch, &mapping, 0, NULL, NULL, value, &err), DSE_OK);
    const double wanted[] = {util, comp, traf, -0.1 * util + 10 * comp + traf};
    static const char *const name[] = {"cosa_util", "cosa_comp", "cosa_traf", "cosa_objective"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(measure_cosa.group.metric[i].name, name[i]);
        near(value[i].f64, wanted[i]);
    }
}

/* It needs nothing of the machine and has no limit: specifications can ask for it anywhere. */
static void test_every_machine_will_do(void **state)
{
    (void)state;
    assert_null(measure_cosa.check);
    assert_null(measure_cosa.limit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_the_worked_example),
        cmocka_unit_test(test_every_machine_will_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
