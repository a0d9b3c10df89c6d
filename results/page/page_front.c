/* Energy over latency of all points, a chart for each network and batch, with the points that no other beats:
 * in these two, and in area where points have one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/front/pareto_front.h"
#include "results/page/page_html.h"
#include "results/page/page_parts.h"

enum {
    CHART_MAX = 12,
    ROW_MAX = 60,
    N_METRIC = 3,
    WIDTH = 460,
    HEIGHT = 300,
    LEFT = 74,
    BOTTOM = 42,
    TOP = 8,
    RIGHT = 14
};

/* The points of one group. */
struct chart {
    size_t n, *cell;        /* (n) */
    double *value;          /* (n, n_metric) latency, energy, area */
    size_t n_front, *front; /* (n_front) which of them no other beats */
    struct page_scale x, y;
};

struct fronts {
    struct page_data *data;
    size_t n_metric;
    const struct page_metric *metric[N_METRIC];
    int direction[N_METRIC];
};

static double x_of(const struct chart *chart, double value)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * page_scale_place(&chart->x, value);
}

static double y_of(const struct chart *chart, double value)
{
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * page_scale_place(&chart->y, value);
}

/* Room around the points. */
static struct page_scale roomy(double low, double high)
{
    const struct page_scale scale = page_scale_of(low, high);
    if (scale.log) {
        const double room = pow(high / low, 0.05);
        return (struct page_scale){low / room, high * room, true};
    }
    const double room = 0.05 * (scale.high - scale.low);
    return (struct page_scale){scale.low - room, scale.high + room, false};
}

/* A point of the front, for sorting. */
struct step {
    double value[N_METRIC]; /* latency, energy, area */
    size_t at;
};

static int compare_steps(const void *a, const void *b)
{
    const struct step *left = a, *right = b;
    for (size_t m = 0; m < N_METRIC; m++)
        if (left->value[m] != right->value[m])
            return left->value[m] < right->value[m] ? -1 : 1;
    return left->at < right->at ? -1 : 1;
}

/* The fastest first. */
static enum dse_status sort_front(const struct fronts *fronts, struct chart *chart, struct dse_error *err)
{
    struct step *step = arena_alloc(&fronts->data->plot.arena, chart->n_front + 1, sizeof *step);
    DSE_TRY(arena_check(&fronts->data->plot.arena, "the page", err));
    for (size_t i = 0; i < chart->n_front; i++) {
        step[i].at = chart->front[i];
        memcpy(step[i].value, chart->value + step[i].at * fronts->n_metric,
               fronts->n_metric * sizeof *chart->value);
    }
    qsort(step, chart->n_front, sizeof *step, compare_steps);
    for (size_t i = 0; i < chart->n_front; i++)
        chart->front[i] = step[i].at;
    return DSE_OK;
}

static enum dse_status collect(const struct fronts *fronts, size_t group, struct chart *chart,
                               struct dse_error *err)
{
    struct page_data *data = fronts->data;
    struct arena *arena = &data->plot.arena;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    *chart = (struct chart){.cell = arena_alloc(arena, data->n_mark, sizeof *chart->cell),
                            .value = arena_alloc(arena, data->n_mark * N_METRIC, sizeof *chart->value)};
    DSE_TRY(arena_check(arena, "the page", err));
    for (size_t i = 0; i < data->plot.n_cell; i++) {
        double *value = chart->value + chart->n * fronts->n_metric;
        if (!data->shown[i] || data->group[i] != group)
            continue;
        for (size_t m = 0; m < fronts->n_metric; m++)
            value[m] = fronts->metric[m]->value[i];
        if (!isfinite(value[0]) || !isfinite(value[1]))
            continue;
        for (size_t m = 0; m < 2; m++) {
            low[m] = fmin(low[m], value[m]);
            high[m] = fmax(high[m], value[m]);
        }
        chart->cell[chart->n++] = i;
    }
    chart->front = arena_alloc(arena, chart->n + 1, sizeof *chart->front);
    DSE_TRY(arena_check(arena, "the page", err));
    if (chart->n == 0)
        return DSE_OK;
    chart->x = roomy(low[0], high[0]);
    chart->y = roomy(low[1], high[1]);
    DSE_TRY(pareto_front(chart->value, chart->n, fronts->direction, fronts->n_metric, PARETO_APART,
                         chart->front, &chart->n_front, err));
    return sort_front(fronts, chart, err);
}

/* ---------------------------------------- the chart */

static void put_axes(const struct chart *chart, struct text_buffer *out)
{
    double tick[6];
    char text[64];
    size_t n = page_ticks(&chart->x, tick, 6);
    for (size_t i = 0; i < n; i++)
        text_append(
            out, "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text class=\"c\" x=\"%.1f\" y=\"%d\">%s</text>\n",
            x_of(chart, tick[i]), TOP, HEIGHT - BOTTOM, x_of(chart, tick[i]), HEIGHT - BOTTOM + 15,
            page_tick_text(tick[i], "s", text, sizeof text));
    n = page_ticks(&chart->y, tick, 6);
    for (size_t i = 0; i < n; i++)
        text_append(
            out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"e\" x=\"%d\" y=\"%.1f\">%s</text>\n",
            LEFT, y_of(chart, tick[i]), WIDTH - RIGHT, LEFT - 5, y_of(chart, tick[i]) + 4,
            page_tick_text(tick[i], "J", text, sizeof text));
    text_append(out,
                "<text class=\"c t\" x=\"%d\" y=\"%d\">Latency</text><text class=\"c t\" "
                "transform=\"translate(12 %d) "
                "rotate(-90)\">Energy</text>\n",
                (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, (TOP + HEIGHT - BOTTOM) / 2);
}

/* The staircase of energy and latency alone: with areas it is through some of the points only. */
static void put_stairs(const struct chart *chart, size_t n_metric, struct text_buffer *out)
{
    double least = INFINITY;
    text_append_string(out, "<path class=\"stairs\" d=\"");
    for (size_t i = 0; i < chart->n_front; i++) {
        const double *value = chart->value + chart->front[i] * n_metric;
        if (!(value[1] < least))
            continue;
        text_append(out, isinf(least) ? "M%.1f %.1f" : "H%.1fV%.1f", x_of(chart, value[0]),
                    y_of(chart, value[1]));
        least = value[1];
    }
    text_append_string(out, "\"/>\n");
}

static void put_point(const struct fronts *fronts, const struct chart *chart, size_t at,
                      struct text_buffer *out)
{
    const double *value = chart->value + at * fronts->n_metric;
    struct text_buffer where;
    char text[64];
    text_init(&where);
    for (size_t m = 0; m < fronts->n_metric; m++)
        if (!isnan(value[m]))
            text_append(&where, "%s%s", m ? ", " : "",
                        html_value(value[m], fronts->metric[m]->metric->unit, text, sizeof text));
    struct text_buffer place;
    text_init(&place);
    plot_cell_text(&fronts->data->plot, chart->cell[at], &place);
    if (place.length > 0) {
        text_append_string(&where, ": ");
        text_append_string(&where, place.data);
    }
    text_append(out, "<circle class=\"front\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"><title>", x_of(chart, value[0]),
                y_of(chart, value[1]));
    html_text(out, where.data ? where.data : "");
    text_append_string(out, "</title></circle>\n");
    text_free(&place);
    text_free(&where);
}

static void put_chart(const struct fronts *fronts, const struct chart *chart, const char *title,
                      struct text_buffer *out)
{
    text_append_string(out, "<figure class=\"panel\">");
    if (title[0])
        html_element(out, "figcaption", title);
    text_append(out,
                "<svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Energy over "
                "latency ",
                WIDTH, HEIGHT, WIDTH, HEIGHT);
    html_text(out, title);
    text_append(out, ": %zu points, %zu of which no other beats; they are in the table below\">\n", chart->n,
                chart->n_front);
    put_axes(chart, out);
    text_append_string(out, "<path class=\"points\" d=\"");
    for (size_t i = 0; i < chart->n; i++)
        text_append(out, "M%.1f %.1fh0", x_of(chart, chart->value[i * fronts->n_metric]),
                    y_of(chart, chart->value[i * fronts->n_metric + 1]));
    text_append_string(out, "\"/>\n");
    put_stairs(chart, fronts->n_metric, out);
    for (size_t i = 0; i < chart->n_front; i++)
        put_point(fronts, chart, chart->front[i], out);
    text_append_string(out, "</svg></figure>\n");
}

/* ---------------------------------------- the table */

/* How many points of the front from number i on have the same values. */
static size_t equal_points(const struct fronts *fronts, const struct chart *chart, size_t i)
{
    const double *value = chart->value + chart->front[i] * fronts->n_metric;
    size_t n = 1;
    while (i + n < chart->n_front && memcmp(chart->value + chart->front[i + n] * fronts->n_metric, value,
                                            fronts->n_metric * sizeof *value) == 0)
        n++;
    return n;
}

/* Equal points share a row, with the place of the first. Returns how many rows there is no room for. */
static size_t put_rows(const struct fronts *fronts, const struct chart *chart, size_t most,
                       struct text_buffer *out)
{
    const struct page_metric *edp = page_metric_find(fronts->data, "edp_js");
    size_t n_row = 0;
    for (size_t i = 0, n; i < chart->n_front; i += n) {
        const size_t at = chart->front[i];
        n = equal_points(fronts, chart, i);
        if (n_row++ >= most)
            continue;
        text_append_string(out, "<tr>");
        page_place_cells(fronts->data, chart->cell[at], out);
        for (size_t m = 0; m < fronts->n_metric; m++)
            html_number(out, chart->value[at * fronts->n_metric + m], fronts->metric[m]->metric->unit);
        html_number(out, edp ? edp->value[chart->cell[at]] : NAN, "J s");
        text_append(out, "<td class=\"r\">%zu</td></tr>\n", n);
    }
    return n_row > most ? n_row - most : 0;
}

static void put_table(const struct fronts *fronts, const struct chart *chart, size_t n_chart,
                      struct text_buffer *out)
{
    const char *title[RESULT_AXIS_MAX + N_METRIC + 2];
    const size_t n_text = page_place_titles(fronts->data, title);
    size_t n = n_text, left_out = 0, most = ROW_MAX / (n_chart ? n_chart : 1);
    for (size_t m = 0; m < fronts->n_metric; m++)
        title[n++] = fronts->metric[m]->metric->sentence;
    title[n++] = "Energy-delay product";
    title[n++] = "Equal points";
    html_table(out, NULL, title, n, n_text);
    for (size_t g = 0; g < n_chart; g++)
        left_out += put_rows(fronts, &chart[g], most < 5 ? 5 : most, out);
    html_table_end(out);
    if (left_out)
        text_append(out, "<p>... and %zu more: <code>dse pareto</code> lists all.</p>\n", left_out);
}

/* ---------------------------------------- */

/* Whether each point with a latency has a value of the metric too. */
static bool has_all(const struct fronts *fronts, const struct page_metric *metric)
{
    for (size_t i = 0; i < fronts->data->plot.n_cell; i++)
        if (fronts->data->shown[i] && !isnan(fronts->metric[0]->value[i]) && isnan(metric->value[i]))
            return false;
    return true;
}

static bool find_metrics(struct fronts *fronts)
{
    static const char *const name[N_METRIC] = {"latency_s", "energy_j", "area_mm2"};
    for (size_t m = 0; m < N_METRIC; m++) {
        const struct page_metric *found = page_metric_find(fronts->data, name[m]);
        if (!found && m < 2)
            return false;
        if (!found || (m == 2 && !(found->low < found->high && has_all(fronts, found))))
            continue;
        fronts->metric[fronts->n_metric] = found;
        fronts->direction[fronts->n_metric++] = metric_direction(found->metric);
    }
    return true;
}

static enum dse_status put_all(const struct fronts *fronts, struct text_buffer *out, struct dse_error *err)
{
    struct page_data *data = fronts->data;
    const size_t n_chart = data->n_group < CHART_MAX ? data->n_group : CHART_MAX;
    struct chart *chart = arena_alloc(&data->plot.arena, n_chart, sizeof *chart);
    DSE_TRY(arena_check(&data->plot.arena, "the page", err));
    text_append_string(out, "<div class=\"panels\">\n");
    for (size_t g = 0; g < n_chart; g++) {
        struct text_buffer title;
        DSE_TRY(collect(fronts, g, &chart[g], err));
        text_init(&title);
        page_group_text(data, g, &title);
        if (chart[g].n > 0)
            put_chart(fronts, &chart[g], title.data ? title.data : "", out);
        text_free(&title);
    }
    text_append_string(out, "</div>\n");
    if (data->n_group > CHART_MAX)
        text_append(out, "<p>... and %zu more; <code>--where</code> chooses.</p>\n",
                    data->n_group - CHART_MAX);
    put_table(fronts, chart, n_chart, out);
    return DSE_OK;
}

enum dse_status page_front(struct page_data *data, struct text_buffer *out, struct dse_error *err)
{
    struct fronts fronts = {.data = data};
    text_append_string(out, "<section id=\"front\">\n<h2>The best compromises</h2>\n");
    if (find_metrics(&fronts)) {
        text_append(
            out,
            "<p>A circle: no other point is as good in latency%s energy%s and better in one. The line is "
            "the front of energy and latency.%s</p>\n",
            fronts.n_metric > 2 ? "," : " and", fronts.n_metric > 2 ? " and area" : "",
            fronts.n_metric > 2 ? " Circles above it are smaller machines." : "");
        if (data->plot.schema.fronts)
            text_append_string(out,
                               "<p>Points whose objective is pareto are fronts themselves, of which the page "
                               "has the point of the least energy-delay product; <code>dse plot -k front"
                               "</code> draws all.</p>\n");
        DSE_TRY(put_all(&fronts, out, err));
    } else {
        text_append_string(out, "<p>No point has an energy and a latency.</p>\n");
    }
    text_append_string(out, "</section>\n");
    return DSE_OK;
}
