/* How far the points are from the bounds that no mapping beats: the columns bound_*_ratio, over all points
 * and by engine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/page/page_html.h"
#include "results/page/page_parts.h"

enum { PLOT_WIDTH = 200 };

static int compare_numbers(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Least, quarter, middle, three quarters, most: box and whiskers. */
static void put_box(const struct page_scale *scale, const double quantile[5], struct text_buffer *out)
{
    double x[5];
    for (size_t i = 0; i < 5; i++)
        x[i] = 4 + (PLOT_WIDTH - 8) * page_scale_place(scale, quantile[i]);
    text_append(
        out,
        "<td><svg class=\"box\" width=\"%d\" height=\"14\" viewBox=\"0 0 %d 14\" aria-hidden=\"true\"><path "
        "d=\"M%.1f 2v10m0-5H%.1fM%.1f 2v10m0-5H%.1f\"/><rect x=\"%.1f\" y=\"2\" width=\"%.1f\" "
        "height=\"10\"/><path class=\"mid\" d=\"M%.1f 1v12\"/></svg></td>",
        PLOT_WIDTH, PLOT_WIDTH, x[0], x[1], x[4], x[3], x[1], fmax(x[3] - x[1], 1), x[2]);
}

static bool is_ratio(const struct page_data *data, size_t m)
{
    const char *name = data->metric[m].metric->name;
    const size_t n = strlen(name), end = strlen("_ratio");
    return strncmp(name, "bound_", 6) == 0 && n > end && strcmp(name + n - end, "_ratio") == 0 &&
           data->metric[m].low <= data->metric[m].high;
}

/* The axis of engines, when it is varied; PLOT_NO_AXIS. */
static size_t engine_axis(const struct page_data *data)
{
    for (size_t a = 0; a < data->plot.schema.n_axis; a++)
        if (page_is_varied(data, a) && plot_axis_has(&data->plot, a, "engine"))
            return a;
    return PLOT_NO_AXIS;
}

static void put_row(const struct page_metric *metric, const struct page_scale *scale, const char *engine,
                    double *value, size_t n, size_t n_proved, struct text_buffer *out)
{
    double quantile[5];
    if (n == 0)
        return;
    qsort(value, n, sizeof *value, compare_numbers);
    for (size_t i = 0; i < 5; i++)
        quantile[i] = value[(n - 1) * i / 4];
    text_append_string(out, "<tr>");
    html_element(out, "td", metric->metric->sentence);
    html_element(out, "td", engine);
    text_append(out, "<td class=\"r\">%zu</td><td class=\"r\">%zu</td>", n, n_proved);
    for (size_t i = 0; i < 5; i += 2)
        text_append(out, "<td class=\"r\">%.4g</td>", quantile[i]);
    put_box(scale, quantile, out);
    text_append_string(out, "</tr>\n");
}

static enum dse_status put_rows(struct page_data *data, struct text_buffer *out, struct dse_error *err)
{
    const size_t axis = engine_axis(data);
    const struct result_axis *engines = axis == PLOT_NO_AXIS ? NULL : &data->plot.schema.axis[axis];
    double *value = arena_alloc(&data->plot.arena, data->n_mark, sizeof *value);
    DSE_TRY(arena_check(&data->plot.arena, "the page", err));
    for (size_t m = 0; m < data->n_metric; m++) {
        const struct page_metric *metric = &data->metric[m];
        if (!is_ratio(data, m))
            continue;
        const struct page_scale scale = page_scale_of(metric->low, metric->high);
        for (size_t e = 0; e < (engines ? engines->n_value : 1); e++) {
            char label[PLOT_LABEL_MAX] = "all";
            size_t n = 0, n_proved = 0;
            for (size_t i = 0; i < data->n_mark; i++) {
                const size_t cell = data->mark[i];
                if (isnan(metric->value[cell]) || (engines && plot_position(&data->plot, cell, axis) != e))
                    continue;
                value[n++] = metric->value[cell];
                n_proved += page_is_proved(data, cell);
            }
            if (engines)
                coordinate_label(&engines->coordinate[0], e, label, sizeof label);
            put_row(metric, &scale, label, value, n, n_proved, out);
        }
    }
    return DSE_OK;
}

enum dse_status page_gaps(struct page_data *data, struct text_buffer *out, struct dse_error *err)
{
    static const char *const title[] = {"Ratio", "Engine", "Points", "Proved best",
                                        "Least", "Middle", "Most",   "Least, quarters, most"};
    bool any = false;
    for (size_t m = 0; m < data->n_metric; m++)
        any = any || is_ratio(data, m);
    text_append_string(out, "<section id=\"gaps\">\n<h2>Gaps to the lower bounds</h2>\n");
    if (!any) {
        text_append_string(out, "<p>No point has a bound.</p></section>\n");
        return DSE_OK;
    }
    text_append_string(out, "<p>What was found over a bound that nothing can beat: 1 cannot be improved, and "
                            "what is above may be the search's gap or the bound's.</p>\n");
    html_table(out, NULL, title, sizeof title / sizeof *title, 2);
    DSE_TRY(put_rows(data, out, err));
    html_table_end(out);
    text_append_string(out, "</section>\n");
    return DSE_OK;
}
