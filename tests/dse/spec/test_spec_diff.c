/* What differs between two specifications, in words. The expected lines follow from the texts below by
 * reading them.
 * Tests: spec_diff_tree.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "dse/spec/spec_diff.h"
#include "results/cube/cube.h"
#include "tests/support/sweep_case.h"

#define BASE                                                                                                 \
    "experiment: e\ntitle: T\narchitecture: simba\nnetwork: resnet50\nengine: random\n"                      \
    "limits: {max_evaluations: 1000}\naxes:\n  DRAM.bandwidth: [5 GB/s, 10 GB/s]\n  batch: [1, 2]\n"

static struct spec_changes diff(const struct result_schema *was, const struct result_schema *is, char *text,
                                size_t size)
{
    struct text_buffer out;
    struct spec_changes changes;
    struct dse_error err = {0};
    text_init(&out);
    if (spec_diff_schemas(was, is, &out, &changes, &err) != DSE_OK)
        fail_msg("%s", err.text);
    snprintf(text, size, "%s", out.data ? out.data : "");
    text_free(&out);
    return changes;
}

static void check_texts(const char *was, const char *is, const char *wanted)
{
    char text[4096];
    struct result_schema a = {.specification = was}, b = {.specification = is};
    (void)diff(&a, &b, text, sizeof text);
    assert_string_equal(text, wanted);
}

static void test_spec_diff_says_nothing_of_equal_ones(void **state)
{
    (void)state;
    check_texts(BASE, BASE, "");
}

static void test_spec_diff_names_settings_with_both_values(void **state)
{
    (void)state;
    check_texts(BASE,
                "experiment: e\ntitle: T\narchitecture: simba\nnetwork: vgg16\nengine: random\nseed: 3\n"
                "axes:\n  DRAM.bandwidth: [5 GB/s, 10 GB/s]\n  batch: [1, 2]\n",
                "network: was resnet50, is vgg16\nseed: was not given, is 3\n"
                "limits.max_evaluations: was 1000, is not given any more\n");
}

static void test_spec_diff_names_values_of_axes(void **state)
{
    (void)state;
    check_texts(BASE,
                "experiment: e\ntitle: T\narchitecture: simba\nnetwork: resnet50\nengine: random\n"
                "limits: {max_evaluations: 1000}\naxes:\n  DRAM.bandwidth: [10 GB/s, 160 GB/s]\n"
                "  PE.mesh: [2x2, 4x4]\n",
                "axis DRAM.bandwidth: 160 GB/s is new; 5 GB/s is gone\naxis PE.mesh (new): 2x2, 4x4 are new\n"
                "axis batch (gone): 1, 2 are gone\n");
    check_texts("axes: {a: [1, 2], b: [3]}\n", "axes: {b: [3], a: [1, 2]}\n",
                "axes: the same ones in another order\n");
    check_texts("axes: {a: [1, 2]}\n", "axes: {a: [2, 1]}\n", "axis a: the same entries in another order\n");
    check_texts("axes: {a: [1]}\n", "axes: {a: [1, 2, 3, 4, 5, 6, 7]}\n",
                "axis a: 2, 3, 4, 5 and 2 more are new\n");
    check_texts("axes: {constraints: {x: [], y: [{p: 1}]}}\n", "axes: {constraints: {x: [], y: [{p: 2}]}}\n",
                "axis constraints.y: {p: 2} is new; {p: 1} is gone\n");
    check_texts("points: [{a: 1}]\nskip: [{b: 1}]\n", "points: [{a: 1}, {a: 2}]\n",
                "points: {a: 2} is new\nskip: {b: 1} is gone\n");
}

static void test_spec_diff_tells_what_does_not_matter(void **state)
{
    (void)state;
    char text[1024];
    struct result_schema a = {.specification = BASE}, b = {.specification = BASE "# a remark\n"};
    struct spec_changes changes = diff(&a, &b, text, sizeof text);
    assert_string_equal(text, "only comments or layout differ (does not change results)\n");
    assert_int_equal(changes.n_result + changes.n_axis, 0);
    assert_int_equal(changes.n_cosmetic, 1);
    check_texts("title: A\nplot: {x: a}\n", "title: B\n",
                "title: was A, is B (does not change results)\n"
                "plot.x: was a, is not given any more (does not change results)\n");
}

static void test_spec_diff_puts_what_changes_results_first(void **state)
{
    (void)state;
    check_texts("title: A\naxes: {a: [1]}\nseed: 1\n", "title: B\naxes: {a: [1, 2]}\nseed: 2\n",
                "seed: was 1, is 2\naxis a: 2 is new\ntitle: was A, is B (does not change results)\n");
}

static void test_spec_diff_compares_set_by_key(void **state)
{
    (void)state;
    static const char *const before[] = {"batch=4", "option.n=1", "seed = 2"};
    static const char *const after[] = {"batch=8", "option.n=3", "option.n=1", "clock=1 GHz"};
    char text[1024];
    struct result_schema a = {.specification = BASE, .n_set = 3, .set = before};
    struct result_schema b = {.specification = BASE, .n_set = 4, .set = after};
    struct spec_changes changes = diff(&a, &b, text, sizeof text);
    assert_string_equal(text, "--set batch: was 4, is 8\n--set clock=1 GHz is new\n--set seed = 2 is gone\n");
    assert_int_equal(changes.n_result, 3);
}

static void test_spec_diff_names_the_line_of_an_input(void **state)
{
    (void)state;
    static const char was[] = "name: n\nlayers:\n  - {K: 4}\n", is[] = "name: n\nlayers:\n  - {K: 5}\n";
    static const char remark[] = "# other words\nname: n\nlayers:\n  - {K: 4}\n";
    char text[1024];
    struct result_input old = {"network", "n", "a/n.yaml", was, sizeof was - 1};
    struct result_input other = {"network", "n", "b/n.yaml", is, sizeof is - 1};
    struct result_input commented = {"network", "n", "n.yaml", remark, sizeof remark - 1};
    struct result_input moved = {"network", "n", "c/n.yaml", was, sizeof was - 1};
    struct result_schema a = {.specification = BASE, .n_input = 1, .input = &old};
    struct result_schema b = {.specification = BASE, .n_input = 1, .input = &other};
    (void)diff(&a, &b, text, sizeof text);
    assert_string_equal(text, "network n (b/n.yaml): line 3 differs: was '- {K: 4}', is '- {K: 5}'\n");
    b.input = &commented;
    assert_int_equal(diff(&a, &b, text, sizeof text).n_result, 0);
    assert_string_equal(text,
                        "network n (n.yaml): only comments or layout differ (does not change results)\n");
    b.input = &moved;
    (void)diff(&a, &b, text, sizeof text);
    assert_string_equal(text, "");
}

static void test_spec_diff_counts_what_it_does_not_show(void **state)
{
    (void)state;
    char was[1024] = "options: {", is[1024] = "options: {", text[4096];
    for (int i = 0; i < 20; i++) {
        snprintf(was + strlen(was), sizeof was - strlen(was), "a%d: 1, ", i);
        snprintf(is + strlen(is), sizeof is - strlen(is), "a%d: 2, ", i);
    }
    snprintf(was + strlen(was), sizeof was - strlen(was), "}\n");
    snprintf(is + strlen(is), sizeof is - strlen(is), "}\n");
    struct result_schema a = {.specification = was}, b = {.specification = is};
    assert_int_equal(diff(&a, &b, text, sizeof text).n_result, 20);
    assert_non_null(strstr(text, "options.a11: was 1, is 2\nand 8 more\n")); /* 12 lines are shown */
}

#define SWEEP                                                                                                \
    "experiment: e\narchitecture: simba\nnetwork: resnet50\nlayers: [conv1]\nengine: random\n"               \
    "axes:\n  DRAM.bandwidth: [5 GB/s]\n"

static struct sweep_case *open_sweep(const char *text, const char *const *set, size_t n_set)
{
    struct dse_error err = {0};
    struct sweep_case *opened = sweep_case_open(text, set, n_set, &err);
    if (!opened)
        fail_msg("%s", err.text);
    return opened;
}

static void test_spec_diff_compares_with_a_result_file(void **state)
{
    (void)state;
    static const char *const set[] = {"batch=2"}, *const other[] = {"batch=4"};
    char path[300], csv[300], layers[300];
    const char *folder = getenv("TMPDIR");
    struct provenance provenance;
    struct text_buffer out;
    struct spec_changes changes;
    struct dse_error err = {0};
    struct sweep_case *was = open_sweep(SWEEP, set, 1), *is = open_sweep(SWEEP "seed: 2\n", other, 1);
    snprintf(path, sizeof path, "%.200s/dse_diff_%ld.h5", folder ? folder : "/tmp", (long)getpid());
    snprintf(csv, sizeof csv, "%.200s/dse_diff_%ld.csv", folder ? folder : "/tmp", (long)getpid());
    snprintf(layers, sizeof layers, "%.200s/dse_diff_%ld.layers.csv", folder ? folder : "/tmp",
             (long)getpid());
    provenance_make(&provenance);
    if (cube_build(path, &was->sweep.schema, &provenance, &err) != DSE_OK)
        fail_msg("%s", err.text);
    text_init(&out);
    assert_int_equal(spec_diff(path, &was->sweep, &out, &changes, &err), DSE_OK);
    assert_int_equal(out.length, 0);
    assert_int_equal(spec_diff(path, &is->sweep, &out, &changes, &err), DSE_OK);
    assert_string_equal(out.data, "--set batch: was 2, is 4\nseed: was not given, is 2\n");
    assert_int_equal(changes.n_result, 2);
    assert_int_equal(spec_diff("/nowhere/o.h5", &is->sweep, &out, &changes, &err), DSE_IO);
    text_free(&out);
    unlink(path);
    unlink(csv);
    unlink(layers);
    sweep_case_close(was);
    sweep_case_close(is);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spec_diff_says_nothing_of_equal_ones),
        cmocka_unit_test(test_spec_diff_names_settings_with_both_values),
        cmocka_unit_test(test_spec_diff_names_values_of_axes),
        cmocka_unit_test(test_spec_diff_tells_what_does_not_matter),
        cmocka_unit_test(test_spec_diff_puts_what_changes_results_first),
        cmocka_unit_test(test_spec_diff_compares_set_by_key),
        cmocka_unit_test(test_spec_diff_names_the_line_of_an_input),
        cmocka_unit_test(test_spec_diff_counts_what_it_does_not_show),
        cmocka_unit_test(test_spec_diff_compares_with_a_result_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
