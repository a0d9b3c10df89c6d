/* Figures of execution graphs: what a script says, which formats come out, refusals, boxes put together.
 * Tests: plot_timeline_lane.c, plot_timeline_rows.c. */
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
#include "results/plot/plot_timeline_lane.h"
#include "tests/results/files.h"
#include "tests/results/timeline/timeline_sample.h"

static const char template_dir[] = "plotting"; /* tests run in the repository root */

/* 100 boxes of 0.01 with as much between them, then a wide one: narrow ones keep their sum, and there are few
 * of them. */
static void test_lane_puts_narrow_boxes_together(void **state)
{
    (void)state;
    struct lane lane;
    struct text_buffer out;
    double x0, x1, y0, y1, narrow = 0, wide = 0;
    size_t look;
    int n = 0;
    text_init(&out);
    lane_begin(&lane, 10, 1, 2, &out);
    for (int i = 0; i < 100; i++)
        lane_add(&lane, 1 + 0.02 * i, 1.01 + 0.02 * i, i % 3 == 0 ? 2 : 1);
    lane_add(&lane, 5, 7, 3);
    lane_add(&lane, 9, 20, 4);  /* cut off at 10 */
    lane_add(&lane, 20, 30, 4); /* outside */
    lane_end(&lane);
    for (const char *at = out.data; sscanf(at, "%lf %lf %lf %lf %zu\n", &x0, &x1, &y0, &y1, &look) == 5;
         at = strchr(at, '\n') + 1) {
        assert_true(x0 < x1 && x1 <= 10 && y0 == 1 && y1 == 2);
        if (look <= 2)
            assert_int_equal(look, 1); /* two of three are */
        *(look == 1 ? &narrow : &wide) += x1 - x0;
        n++;
        if (!strchr(at, '\n')[1])
            break;
    }
    assert_int_equal(lane.n_box, n);
    assert_true(n < 10);
    assert_true(fabs(narrow - 1) < 0.01);
    assert_true(fabs(wide - 3) < 1e-6);
    text_free(&out);
}

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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lane_puts_narrow_boxes_together),
        cmocka_unit_test(test_timelines_are_drawn_in_every_format),
        cmocka_unit_test(test_timelines_refuse_what_cannot_be_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
