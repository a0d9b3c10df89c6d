/* Means of staircases, worked out by hand; the convergence curves of a cube; what is refused.
 * Tests: plot_traces.c, plot_convergence.c. */
#include "tests/results/files.h"

#include <hdf5.h>

#include "results/cube/cube.h"
#include "results/plot/plot.h"
#include "results/plot/plot_traces.h"
#include "tests/results/sample.h"

/* Layer 0 costs 8 after 1 evaluation, 2 after 4 (best known 2); layer 1 9 after 2, 1 after 3 (best known 1);
 * nobody has an answer for layer 2. */
static const double best[3] = {2, 1, NAN};
static size_t first[4] = {0, 2, 4, 4};
static double x[4] = {1, 4, 2, 3}, cost[4] = {8, 2, 9, 1}, end[3] = {5, 5, NAN};
static const struct plot_search two_layers = {first, x, cost, end, best};

/* sqrt(4 * 9) from 2, sqrt(4 * 1) from 3, 1 from 4. */
static void test_mean_over_layers_is_geometric_and_begins_with_the_last(void **state)
{
    static const double at[3] = {2, 3, 4}, mean[3] = {6, 2, 1};
    struct arena arena;
    struct plot_curve curve;
    struct dse_error err;
    (void)state;
    arena_init(&arena);
    assert_int_equal(plot_search_mean(&two_layers, 3, &arena, &curve, &err), DSE_OK);
    assert_int_equal(curve.n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_float_equal(curve.x[i], at[i], 0);
        assert_float_equal(curve.y[i], mean[i], 1e-12);
    }
    arena_free(&arena);
}

/* A layer that another search has an answer for, and this one not: no mean of fewer layers instead. */
static void test_mean_without_an_answer_for_a_layer_has_no_steps(void **state)
{
    static const double other[3] = {2, 1, 7};
    struct plot_search search = two_layers;
    struct arena arena;
    struct plot_curve curve;
    struct dse_error err;
    (void)state;
    arena_init(&arena);
    search.best = other;
    assert_int_equal(plot_search_mean(&search, 3, &arena, &curve, &err), DSE_OK);
    assert_int_equal(curve.n, 0);
    arena_free(&arena);
}

/* Seeds at 6, 2, 1 from 2, 3, 4 and at 4, 2 from 1, 4: (6 + 4) / 2 from 2, (2 + 4) / 2 from 3, (1 + 2) / 2
 * from 4. A seed without an answer is left aside. */
static void test_mean_over_seeds_is_arithmetic_with_its_range(void **state)
{
    static const double at[3] = {2, 3, 4}, mean[3] = {5, 3, 1.5}, low[3] = {4, 2, 1}, high[3] = {6, 4, 2};
    double x0[3] = {2, 3, 4}, y0[3] = {6, 2, 1}, x1[2] = {1, 4}, y1[2] = {4, 2};
    const struct plot_curve seed[3] = {{.n = 3, .x = x0, .y = y0}, {.n = 0}, {.n = 2, .x = x1, .y = y1}};
    struct arena arena;
    struct plot_curve curve;
    struct dse_error err;
    (void)state;
    arena_init(&arena);
    assert_int_equal(plot_curves_mean(seed, 3, &arena, &curve, &err), DSE_OK);
    assert_int_equal(curve.n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_float_equal(curve.x[i], at[i], 0);
        assert_float_equal(curve.y[i], mean[i], 0);
        assert_float_equal(curve.low[i], low[i], 0);
        assert_float_equal(curve.high[i], high[i], 0);
    }
    arena_free(&arena);
}

/* Steps a tenth of a thousandth apart are one, which has what the later one says. */
static void test_mean_over_seeds_puts_near_steps_together(void **state)
{
    double x0[3] = {1, 1.0001, 2}, y0[3] = {3, 2, 1};
    const struct plot_curve seed = {.n = 3, .x = x0, .y = y0};
    struct arena arena;
    struct plot_curve curve;
    struct dse_error err;
    (void)state;
    arena_init(&arena);
    assert_int_equal(plot_curves_mean(&seed, 1, &arena, &curve, &err), DSE_OK);
    assert_int_equal(curve.n, 2);
    assert_float_equal(curve.x[0], 1, 0);
    assert_float_equal(curve.y[0], 2, 0);
    arena_free(&arena);
}

static void make_sample(char *folder, size_t folder_size, char *out, size_t size)
{
    struct provenance provenance;
    struct dse_error err;
    provenance_make(&provenance);
    files_folder(folder, folder_size);
    files_path(out, size, folder, "o.h5");
    assert_int_equal(sample_write(out, 1, 0, 1, (struct journal_options){.fresh = true}), 0);
    assert_int_equal(cube_build(out, &sample_schema, &provenance, &err), DSE_OK);
}

/* alexnet has two layers: one at 4, 2, 1 times its best from 0.001, 0.02, 0.3 s, the other at its best from
 * 0.001 s. */
static void test_convergence_over_seconds_has_a_curve_for_each_value(void **state)
{
    (void)state;
    char folder[512], out[600], figure[600], script[600];
    struct dse_error err;
    const char *where[] = {"network=alexnet"};
    struct plot_options options = {.kind = plot_kind_find("convergence"),
                                   .x = "seconds",
                                   .y = "global_buffer_byte",
                                   .where = where,
                                   .n_where = 1,
                                   .template_dir = "plotting",
                                   .keep_script = true};
    if (system("gnuplot --version >/dev/null 2>&1") != 0)
        skip();
    make_sample(folder, sizeof folder, out, sizeof out);
    assert_int_equal(plot_draw(out, files_path(figure, sizeof figure, folder, "f.svg"), &options, &err),
                     DSE_OK);
    char *text = files_read(files_path(script, sizeof script, folder, "f.svg.gp"), NULL);
    assert_non_null(strstr(text, "dse_n_series = 3\n"));
    assert_non_null(strstr(text, "dse_series_title = 'Global buffer capacity (KiB)'\n"));
    assert_non_null(strstr(text, "series_name[3] = '256'\n"));
    assert_non_null(strstr(text, "dse_x_title = 'Processor time per layer (s)'\n"));
    assert_non_null(strstr(text, "dse_first = 0.001\ndse_last = 0.3\ndse_high = 2\n"));
    assert_non_null(strstr(text, "\n0.001 2 2 2\n0.02 2 2 2\n0.02 1.41421356 1.41421356 1.41421356\n"));
    free(text);
}

static void test_convergence_says_what_x_is_and_that_seconds_are_missing(void **state)
{
    (void)state;
    char folder[512], out[600], figure[600];
    struct dse_error err;
    struct plot_options options = {.kind = plot_kind_find("convergence"), .x = "network"};
    make_sample(folder, sizeof folder, out, sizeof out);
    files_path(figure, sizeof figure, folder, "f.svg");
    assert_int_equal(plot_draw(out, figure, &options, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "is one of evaluations, seconds, not 'network'"));
    hid_t file = H5Fopen(out, H5F_ACC_RDWR, H5P_DEFAULT); /* as files were before traces had seconds */
    assert_true(file >= 0 && H5Ldelete(file, "trace/seconds", H5P_DEFAULT) >= 0);
    H5Fclose(file);
    options.x = "seconds";
    assert_int_equal(plot_draw(out, figure, &options, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "its traces have no seconds"));
    assert_int_equal(access(figure, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mean_over_layers_is_geometric_and_begins_with_the_last),
        cmocka_unit_test(test_mean_without_an_answer_for_a_layer_has_no_steps),
        cmocka_unit_test(test_mean_over_seeds_is_arithmetic_with_its_range),
        cmocka_unit_test(test_mean_over_seeds_puts_near_steps_together),
        cmocka_unit_test(test_convergence_over_seconds_has_a_curve_for_each_value),
        cmocka_unit_test(test_convergence_says_what_x_is_and_that_seconds_are_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
