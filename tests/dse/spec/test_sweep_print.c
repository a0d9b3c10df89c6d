/* A sweep in words. Counts are made by hand from the specifications; conv1 and fc of ResNet-50 differ.
 * Tests: sweep.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/sweep_case.h"

#define HEAD "experiment: e\ntitle: A test\narchitecture: simba\n"

static void expect(const char *specification, const char *wanted)
{
    struct dse_error err = {0};
    struct text_buffer out;
    struct sweep_case *o = sweep_case_open(specification, NULL, 0, &err);
    if (!o)
        fail_msg("%s", err.text);
    text_init(&out);
    sweep_print(&o->sweep, &out);
    assert_string_equal(out.data, wanted);
    text_free(&out);
    sweep_case_close(o);
}

static void test_one_point_without_axes(void **state)
{
    (void)state;
    expect(HEAD "network: resnet50\nlayers: [conv1, fc]\nengine: random\n",
           "e: A test\n\npoints           1\nlayers           2 mapped, 2 different, 0 without "
           "multiply-accumulates\n");
}

/* Of 3 x 2 cells one is skipped; each of the two layers gets half of the point's evaluations. */
static void test_axes_that_go_together_and_filters(void **state)
{
    (void)state;
    expect(HEAD "network: resnet50\nlayers: [conv1, fc]\nengine: random\naxes:\n  batch: [1, 2, 4]\n"
                "  GlobalBuffer.capacity: [64 KiB, 128 KiB]\n  seed: [1, 2]\n"
                "zip: [[GlobalBuffer.capacity, seed]]\n"
                "skip:\n  - {batch: 4, seed: 2}\n"
                "limits: {max_evaluations: 50000, max_seconds: 60, point_max_evaluations: 1000}\n",
           "e: A test\n\naxis                   values\n----------------------------------------------\n"
           "batch                       3  1, 2, 4\nGlobalBuffer.capacity       2  64 KiB, 128 KiB\n"
           "  with seed                 2  1, 2\n\npoints           5 of 6 cells\n"
           "layers           2 mapped, 2 different, 0 without multiply-accumulates\n"
           "point limits     1,000 evaluations\nsearch limits    500 evaluations, 60 s\n");
}

static void test_networks_and_schedulers(void **state)
{
    (void)state;
    expect("experiment: e\ntitle: A test\narchitecture: soma_edge\nengine: unfused\n"
           "axes:\n  network: [alexnet, resnet50]\n",
           "e: A test\n\naxis     values\n----------------------------------\n"
           "network       2  alexnet, resnet50\n\npoints           2\n"
           "layers           11 scheduled together (first network)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_point_without_axes),
        cmocka_unit_test(test_axes_that_go_together_and_filters),
        cmocka_unit_test(test_networks_and_schedulers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
