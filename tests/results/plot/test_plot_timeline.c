/* Figures of execution graphs: what a script says, which formats come out, refusals, boxes put together.
 * Tests: plot_timeline_boxes.c, plot_timeline_cores.c, plot_timeline_rows.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "results/plot/plot_timeline.h"
#include "tests/results/files.h"
#include "tests/results/timeline/timeline_sample.h"

static const char template_dir[] = "plotting"; /* tests run in the repository root */

static int gnuplot_is_there(void)
{
    return system("gnuplot --version >/dev/null 2>&1") == 0;
}

static void test_timelines_are_drawn_in_every_format(void **state)
{
    (void)state;
    static const char *const magic[][2] = {{"t.png", "\x89PNG"}, {"t.svg", "<?xml"}, {"t.pdf", "%PDF"}};
    struct sample_timeline a, b;
    struct dse_error err = {0};
    char folder[512], path[600];
    if (!gnuplot_is_there())
        skip();
    sample_timeline_make(&a);
    sample_timeline_make(&b);
    b.timeline.title = "with `command` and \"quotes\"";
    files_folder(folder, sizeof folder);
    for (size_t f = 0; f < 3; f++) {
        const struct timeline both[] = {a.timeline, b.timeline};
        const struct plot_timeline_options options = {.template_dir = template_dir, .keep_script = true};
        size_t length;
        files_path(path, sizeof path, folder, magic[f][0]);
        if (plot_timelines(both, 1 + f % 2, path, &options, &err) != DSE_OK)
            fail_msg("%s: %s", magic[f][0], err.text);
        char *bytes = files_read(path, &length);
        assert_true(length > 2000);
        assert_memory_equal(bytes, magic[f][1], strlen(magic[f][1]));
        free(bytes);
    }
    /* 50 ns in all, of which the core array computes 31 cycles and the DRAM moves 14 in the sample. */
    char *text = files_read(files_path(path, sizeof path, folder, "t.svg.gp"), NULL);
    assert_non_null(strstr(text, "dse_title = 'net, batch 4, on edge'\n"));
    assert_non_null(strstr(text, "dse_x_title = 'Time (ns; 1 cycle each)'\n"));
    assert_non_null(strstr(
        text,
        "panel_title[1] = 'a''s'\npanel_note[1] = '50.0 ns, 1.50 nJ; core array busy 62.0 %, DRAM 28.0 %; "
        "buffer 109 B on average, 160 B at most, of 256 B'\n"));
    assert_non_null(strstr(text, "panel_title[2] = 'with `command` and \"quotes\"'"));
    free(text);
}

/* 10,000 tiles of a cycle with as much between them, every third of another group, then one as long as all
 * that: narrow ones keep their sum and the look of most, and there are about as many as pixels (0.36
 * points). */
static void test_narrow_boxes_are_put_together(void **state)
{
    (void)state;
    enum { N_NARROW = 10000, WIDTH = 698 };
    static struct timeline_tile tile[N_NARROW + 1];
    static struct timeline_step step[N_NARROW + 1];
    struct sample_timeline s;
    struct dse_error err = {0};
    const struct plot_timeline_options options = {.template_dir = template_dir, .keep_script = true};
    char folder[512], path[600];
    double from, to, low, high, sum[4] = {0};
    size_t n = 0, look;
    if (!gnuplot_is_there())
        skip();
    sample_timeline_make(&s);
    for (int i = 0; i <= N_NARROW; i++) {
        int64_t start = 2 * i, finish = i == N_NARROW ? 4 * N_NARROW : start + 1;
        tile[i] = (struct timeline_tile){
            .layer = "a", .group = i % 3 == 2 || i == N_NARROW, .start = start, .finish = finish};
        step[i] = (struct timeline_step){.start = start, .finish = finish};
    }
    s.timeline.tile = tile;
    s.timeline.step = step;
    s.timeline.n_tile = N_NARROW + 1;
    s.timeline.cycle = 4 * N_NARROW;
    files_folder(folder, sizeof folder);
    if (plot_timelines(&s.timeline, 1, files_path(path, sizeof path, folder, "n.svg"), &options, &err) !=
        DSE_OK)
        fail_msg("%s", err.text);
    char *text = files_read(files_path(path, sizeof path, folder, "n.svg.gp"), NULL);
    const char *core = strstr(text, "$core << EOD\nNaN NaN NaN NaN NaN\n");
    assert_non_null(core);
    for (const char *at = strchr(strchr(core, '\n') + 1, '\n') + 1; *at != '\n'; at = strchr(at, '\n') + 1) {
        assert_int_equal(sscanf(at, "%lf %lf %lf %lf %zu", &from, &to, &low, &high, &look), 5);
        assert_true(from < to && to <= WIDTH && low < high && (look == 0 || look == 3));
        sum[look] += to - from;
        n++;
    }
    /* looks: three shades of each group's hue; the axis is half a percent longer than the graph */
    assert_true(n < WIDTH / 2 / 0.32); /* a pixel less what did not fit into it any more */
    assert_true(fabs(sum[0] * 1.005 - WIDTH / 4.0) < 1);
    assert_true(fabs(sum[3] * 1.005 - WIDTH / 2.0) < 1e-2);
    free(text);
}

/* 40 cycles on 698 points, half a percent more than the end; a lane of 15 points has margins of 0.9. The
 * first layer's uops take 10 cycles, 173.6 points: room for their names. */
static void test_uops_lie_on_the_lanes_of_their_accelerators(void **state)
{
    (void)state;
    struct sample_uops s, rounds;
    struct dse_error err = {0};
    const struct plot_timeline_options options = {.template_dir = template_dir, .keep_script = true};
    char folder[512], path[600];
    if (!gnuplot_is_there())
        skip();
    sample_uops_make(&s);
    sample_uops_make(&rounds);
    rounds.timeline.rules = "ideal, rounds";
    rounds.timeline.title = "with `command` and \"quotes\"";
    rounds.uop[2].layer = rounds.uop[2].uop = "EOD\n\"`date`";
    const struct timeline both[] = {rounds.timeline, s.timeline};
    files_folder(folder, sizeof folder);
    if (plot_timelines(both, 2, files_path(path, sizeof path, folder, "u.svg"), &options, &err) != DSE_OK)
        fail_msg("%s", err.text);
    char *text = files_read(files_path(path, sizeof path, folder, "u.svg.gp"), NULL);
    assert_non_null(strstr(text, "dse_title = 'net, batch 1, on mesh'\n"));
    assert_non_null(strstr(text,
                           "panel_note[2] = '40.0 ns, 40 cycles, 2.00 nJ; 3 uops fill 62.5 % of the time of "
                           "2 accelerators; ideal, static'\n"));
    /* the lower panel: feet at 0 and, a panel of two lanes and 48 points higher, 78 */
    assert_non_null(strstr(text, "panel_foot[1] = 78.000\n"));
    assert_non_null(strstr(text, "\n0.000 173.632 15.900 29.100 0\n173.632 347.264 15.900 29.100 0\n"
                                 "173.632 694.527 0.900 14.100 3\n"));
    /* rounds begin at 10, the end is at 40 */
    assert_non_null(
        strstr(text, "$line << EOD\nNaN NaN NaN NaN\n173.632 78.000 108.000 0\n694.527 78.000 108.000 1\n"
                     "694.527 0.000 30.000 1\nEOD\n"));
    assert_non_null(strstr(text, "\n86.816 100.500 \"a, b/0\"\n"));
    assert_non_null(strstr(text, "\"EOD''`date`\"\n"));
    free(text);
}

static void test_timelines_refuse_what_cannot_be_drawn(void **state)
{
    (void)state;
    struct sample_timeline s;
    struct dse_error err = {0};
    struct plot_timeline_options options = {.from = 50, .template_dir = template_dir};
    sample_timeline_make(&s);
    assert_int_equal(plot_timelines(&s.timeline, 0, "t.png", &options, &err), DSE_BAD_USAGE);
    assert_int_equal(plot_timelines(&s.timeline, 1, "t.gif", &options, &err), DSE_BAD_USAGE);
    assert_int_equal(plot_timelines(&s.timeline, 1, "t.png", &options, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "between cycle 50 and 50"));
    struct sample_uops u;
    sample_uops_make(&u);
    const struct timeline both[] = {s.timeline, u.timeline};
    options.from = 0;
    assert_int_equal(plot_timelines(both, 2, "t.png", &options, &err), DSE_BAD_USAGE);
    assert_non_null(strstr(err.text, "not drawn in one figure"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timelines_are_drawn_in_every_format),
        cmocka_unit_test(test_narrow_boxes_are_put_together),
        cmocka_unit_test(test_uops_lie_on_the_lanes_of_their_accelerators),
        cmocka_unit_test(test_timelines_refuse_what_cannot_be_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
