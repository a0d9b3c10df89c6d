/* Figures of every kind and format are drawn, and their scripts name what they show.
 * Tests: plot_data.c, plot_labels.c, plot_gnuplot.c, plot_heatmap.c, plot_convergence.c, plot_breakdown.c. */
#include "tests/results/files.h"

#include "results/cube/cube.h"
#include "results/plot/plot.h"
#include "results/plot/plot_data.h"
#include "tests/results/sample.h"

static const char template_dir[] = "plotting"; /* tests run in the repository root */

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

static int gnuplot_is_there(void)
{
    return system("gnuplot --version >/dev/null 2>&1") == 0;
}

/* The sample has no fronts: test_plot_front.py. */
static bool is_front(const struct plot_kind *kind)
{
    return strcmp(kind->name, "front") == 0;
}

static void test_plot_draws_every_kind_in_every_format(void **state)
{
    (void)state;
    static const char *const magic[][2] = {{"png", "\x89PNG"}, {"svg", "<?xml"}, {"pdf", "%PDF"}};
    const struct plot_kind *kind;
    char folder[512], out[600], figure[600], name[32];
    struct dse_error err = {0};
    if (!gnuplot_is_there())
        skip();
    make_sample(folder, sizeof folder, out, sizeof out);
    for (size_t k = 0; (kind = plot_kind_at(k)); k++) {
        for (size_t f = 0; f < 3 && !is_front(kind); f++) {
            struct plot_options options = {.kind = kind, .template_dir = template_dir};
            snprintf(name, sizeof name, "f%zu.%s", k, magic[f][0]);
            files_path(figure, sizeof figure, folder, name);
            if (plot_draw(out, figure, &options, &err) != DSE_OK)
                fail_msg("%s: %s", name, err.text);
            size_t length;
            char *bytes = files_read(figure, &length);
            assert_true(length > 2000);
            assert_memory_equal(bytes, magic[f][1], strlen(magic[f][1]));
            free(bytes);
        }
    }
}

/* The script names what is drawn: labels with units, the best cell, the holes. */
static void test_plot_script_has_labels_best_and_holes(void **state)
{
    (void)state;
    char folder[512], out[600], figure[600], script[600];
    struct dse_error err;
    const char *where[] = {"network=alexnet"};
    struct plot_options options = {.metric = "latency_s",
                                   .where = where,
                                   .n_where = 1,
                                   .title = "It's `a` \"title\"",
                                   .template_dir = template_dir,
                                   .keep_script = true};
    if (!gnuplot_is_there())
        skip();
    make_sample(folder, sizeof folder, out, sizeof out);
    files_path(figure, sizeof figure, folder, "f.svg");
    assert_int_equal(plot_draw(out, figure, &options, &err), DSE_OK);
    char *text = files_read(files_path(script, sizeof script, folder, "f.svg.gp"), NULL);
    assert_non_null(strstr(text, "dse_title = 'It''s `a` \"title\"'\n"));
    assert_non_null(strstr(text, "dse_subtitle = 'Network alexnet, all cells proved optimal'\n"));
    assert_non_null(strstr(text, "dse_x_title = 'DRAM bandwidth (GB/s)'\n"));
    assert_non_null(strstr(text, "dse_y_title = 'Global buffer capacity (KiB)'\n"));
    assert_non_null(strstr(text, "dse_colour_title = 'Latency (ms)'\n"));
    /* Latency is 1 ms wherever 10 MB / sqrt(buffer / 64 KiB) moves in time; the first such cell is 64 KiB, 16
     * GB/s (10 MB / 16 GB/s = 0.625 ms), since 8 GB/s needs 1.25 ms. */
    assert_non_null(strstr(
        text, "dse_foot = 'best: 1.00 ms at Global buffer capacity 64 KiB, DRAM bandwidth 16 GB/s'\n"));
    free(text);
    options.where = (const char *[]){"network=r\xc3\xa9snet"};
    assert_int_equal(plot_draw(out, figure, &options, &err), DSE_OK);
    text = files_read(script, NULL);
    assert_non_null(strstr(text, "dse_has_infeasible = 1\ndse_has_failed = 0\ndse_has_missing = 1\n"));
    assert_null(strstr(text, "proved optimal"));
    free(text);
    options.n_where = 0; /* 3 buffers x 4 bandwidths of the first network */
    assert_int_equal(plot_draw(out, figure, &options, &err), DSE_OK);
    text = files_read(script, NULL);
    assert_non_null(strstr(text, "dse_subtitle = '12 of 24 cells proved optimal'\n"));
    free(text);
}

/* Of every kind: 60 letters of 9.6 points are 576, more than the few cells, bars and curves of the sample. */
static void test_plot_canvas_is_as_wide_as_the_title(void **state)
{
    (void)state;
    const struct plot_kind *kind;
    char folder[512], out[600], figure[600], script[600];
    struct dse_error err;
    if (!gnuplot_is_there())
        skip();
    make_sample(folder, sizeof folder, out, sizeof out);
    files_path(figure, sizeof figure, folder, "wide.svg");
    files_path(script, sizeof script, folder, "wide.svg.gp");
    for (size_t k = 0; (kind = plot_kind_at(k)); k++) {
        if (is_front(kind))
            continue;
        struct plot_options options = {.kind = kind,
                                       .title =
                                           "012345678901234567890123456789012345678901234567890123456789",
                                       .template_dir = template_dir,
                                       .keep_script = true};
        assert_int_equal(plot_draw(out, figure, &options, &err), DSE_OK);
        char *text = files_read(script, NULL);
        const char *width = strstr(text, "dse_width = ");
        assert_non_null(width);
        assert_true(strtod(width + strlen("dse_width = "), NULL) >= 576);
        free(text);
    }
}

/* A row of the table is all the program needs; people need a paragraph. */
static void test_plot_kinds_are_in_the_docs(void **state)
{
    (void)state;
    const struct plot_kind *kind;
    char *text = files_read("docs/results.md", NULL);
    for (size_t k = 0; (kind = plot_kind_at(k)); k++) {
        char item[64];
        snprintf(item, sizeof item, "\n- **%s**", kind->name);
        if (!strstr(text, item))
            fail_msg("docs/results.md, Figures: no item for %s", kind->name);
        assert_ptr_equal(plot_kind_find(kind->name), kind);
    }
    assert_null(plot_kind_find("pie"));
    free(text);
}

/* The median, 3 MiB, decides; a number of bytes below 1 KiB stays as it is. Seconds have decimal prefixes. */
static void test_plot_scale_counts_bytes_as_capacities(void **state)
{
    const double byte[] = {1048576, 3145728, 16777216}, second[] = {0.002, 0.003};
    double factor;
    char unit[16];
    (void)state;
    plot_scale(byte, 3, "byte", &factor, unit, sizeof unit);
    assert_string_equal(unit, "MiB");
    assert_true(byte[1] * factor == 3);
    plot_scale((const double[]){1000}, 1, "byte", &factor, unit, sizeof unit);
    assert_string_equal(unit, "byte");
    assert_true(factor == 1);
    plot_scale(second, 2, "s", &factor, unit, sizeof unit);
    assert_string_equal(unit, "ms");
}

static void test_plot_errors_say_what_would_be_right(void **state)
{
    (void)state;
    char folder[512], out[600], figure[600];
    struct dse_error err;
    struct plot_options options = {.template_dir = template_dir};
    make_sample(folder, sizeof folder, out, sizeof out);
    files_path(figure, sizeof figure, folder, "f.png");
    options.metric = "latenzy_s";
    assert_int_equal(plot_draw(out, figure, &options, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "unknown metric 'latenzy_s' (did you mean latency_s?)"));
    options.metric = "edp"; /* a metric but for its unit */
    assert_int_equal(plot_draw(out, figure, &options, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "unknown metric 'edp' (did you mean edp_js?)"));
    options.kind = plot_kind_find("breakdown"); /* its bars are energy and nothing else */
    options.metric = "latency_s";
    assert_int_equal(plot_draw(out, figure, &options, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "kind breakdown shows energy_j by its parts, not latency_s"));
    options.kind = plot_kind_find("heatmap");
    options.metric = "latency_s,energy_j";
    assert_int_equal(plot_draw(out, figure, &options, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "kind lines shows several"));
    options.kind = NULL;
    options.metric = "latency_s,edp";
    assert_int_equal(plot_draw(out, figure, &options, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "did you mean edp_js?"));
    options.metric = NULL;
    options.x = "dram_byte_per_z";
    assert_int_equal(plot_draw(out, figure, &options, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "did you mean dram_byte_per_s?"));
    options.x = NULL;
    options.where = (const char *[]){"network=vgg"};
    options.n_where = 1;
    assert_int_equal(plot_draw(out, figure, &options, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "there are alexnet, "));
    options.n_where = 0;
    options.max_facet = 1;
    assert_int_equal(plot_draw(out, figure, &options, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "2 panels are more than 1; fix one of network (2)"));
    options.max_facet = 0;
    options.metric = "n_mac"; /* never set in the sample */
    assert_int_equal(plot_draw(out, figure, &options, &err), DSE_BAD_INPUT);
    assert_int_equal(plot_draw(out, "f.jpg", &options, &err), DSE_BAD_USAGE);
    options.metric = NULL;
    options.template_dir = "/nonexistent";
    assert_int_equal(plot_draw(out, figure, &options, &err), DSE_IO);
    assert_int_equal(access(figure, F_OK), -1);
}

static void test_plot_without_gnuplot_names_the_package(void **state)
{
    (void)state;
    char folder[512], out[600], figure[600];
    struct dse_error err;
    struct plot_options options = {.template_dir = template_dir};
    const char *path = getenv("PATH");
    char *saved = strdup(path ? path : "/usr/bin:/bin");
    assert_non_null(saved);
    make_sample(folder, sizeof folder, out, sizeof out);
    files_path(figure, sizeof figure, folder, "f.png");
    setenv("PATH", "/nonexistent", 1);
    assert_int_equal(plot_draw(out, figure, &options, &err), DSE_IO);
    setenv("PATH", saved, 1);
    free(saved);
    assert_string_equal(err.text, "gnuplot is not installed: apt-get install gnuplot-nox");
    assert_int_equal(access(figure, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plot_draws_every_kind_in_every_format),
        cmocka_unit_test(test_plot_script_has_labels_best_and_holes),
        cmocka_unit_test(test_plot_canvas_is_as_wide_as_the_title),
        cmocka_unit_test(test_plot_kinds_are_in_the_docs),
        cmocka_unit_test(test_plot_scale_counts_bytes_as_capacities),
        cmocka_unit_test(test_plot_errors_say_what_would_be_right),
        cmocka_unit_test(test_plot_without_gnuplot_names_the_package),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
