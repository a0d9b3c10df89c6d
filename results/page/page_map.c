/* A cell of a panel for each point, coloured by a metric. Where there are several networks or batches, whose
 * costs cannot be compared, the colour is the ratio to the best of its own. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/page/page_html.h"
#include "results/page/page_parts.h"
#include "results/plot/plot_kinds.h"

enum {
    LABEL_LETTERS = 22, /* longer labels of ticks are cut */
    PRINT_WIDTH = 36,   /* cells so wide have their number in them */
    REASON_MARK_MAX =
        2000, /* with more points that are not ok, their words are in the table of reasons only */
    DATA_BYTE_MAX = 1650000, /* of metrics for the switch, beyond the first METRIC_MIN */
    METRIC_MIN = 6
};

struct map {
    const struct page_data *data;
    const struct page_metric *metric;
    struct page_scale scale;
    bool relative;       /* to the best of the group */
    size_t *best, *here; /* (n_group) the best cell of all panels, and of one; n_cell: none */
    double factor;       /* from SI to what stands in cells */
    char unit[32];
    const char **x_label, **y_label;
    char x_title[128], y_title[128];
    size_t left, top, cell_w, cell_h, width, height; /* of a panel, in pixels */
    bool rotate, print, say_reasons;
};

/* ---------------------------------------- values and colours */

static double shade_value(const struct map *map, size_t cell)
{
    const double value = map->metric->value[cell];
    if (!map->relative)
        return value;
    const double best = map->metric->value[map->best[map->data->group[cell]]];
    return metric_direction(map->metric->metric) < 0 ? value / best : best / value;
}

static int shade(const struct map *map, double value)
{
    const int at = (int)floor(page_scale_place(&map->scale, value) * (PAGE_SHADES - 1) + 0.5);
    return at < 0 ? 0 : at >= PAGE_SHADES ? PAGE_SHADES - 1 : at;
}

static enum dse_status survey(struct map *map, struct page_data *data, struct dse_error *err)
{
    double low = INFINITY, high = -INFINITY;
    map->best = arena_alloc(&data->plot.arena, data->n_group + 1, sizeof *map->best);
    map->here = arena_alloc(&data->plot.arena, data->n_group + 1, sizeof *map->here);
    DSE_TRY(arena_check(&data->plot.arena, "the page", err));
    page_bests(data, map->metric, map->best);
    map->relative = data->n_group > 1 && metric_direction(map->metric->metric) != 0 && map->metric->low > 0;
    for (size_t i = 0; i < data->n_mark; i++) {
        const double value = shade_value(map, data->mark[i]);
        low = fmin(low, value);
        high = fmax(high, value);
    }
    map->scale = page_scale_of(isfinite(low) ? low : 0, isfinite(high) ? high : 1);
    plot_scale(data->plot.value, data->plot.n_cell, map->metric->metric->unit, &map->factor, map->unit,
               sizeof map->unit);
    return DSE_OK;
}

/* ---------------------------------------- a panel */

static void put_label(struct text_buffer *out, const char *label)
{
    char cut[4 * LABEL_LETTERS + 4];
    size_t n = 0;
    if (text_letters(label) <= LABEL_LETTERS) {
        html_text(out, label);
        return;
    }
    for (size_t letter = 0; letter < LABEL_LETTERS - 1; letter++) {
        const size_t bytes = text_letter_bytes(label + n);
        n += bytes ? bytes : 1;
    }
    snprintf(cut, sizeof cut, "%.*s", (int)n, label);
    html_text(out, cut);
    text_append_string(out, "\xe2\x80\xa6<title>");
    html_text(out, label);
    text_append_string(out, "</title>");
}

static size_t longest(const char *const *label, size_t n)
{
    const size_t most = plot_longest(label, n);
    return most < LABEL_LETTERS ? most : LABEL_LETTERS;
}

static void lay_out(struct map *map)
{
    const struct page_data *data = map->data;
    const size_t room = data->n_panel == 1 ? 640 : data->n_panel <= 4 ? 420 : 320;
    const size_t x_letters = longest(map->x_label, data->n_x), y_letters = longest(map->y_label, data->n_y);
    const size_t w = room / data->n_x;
    map->cell_w = w < 6 ? 6 : w > 72 ? 72 : w;
    const size_t h = (data->n_panel == 1 ? 480 : 300) / data->n_y;
    map->cell_h = h < 6 ? 6 : h > 30 ? 30 : h;
    map->print = map->cell_w >= PRINT_WIDTH && map->cell_h >= 16;
    map->rotate = 7 * x_letters + 4 > map->cell_w;
    map->left = 7 * y_letters + 12;
    map->top = map->y_title[0] ? 20 : 4;
    map->width = map->left + data->n_x * map->cell_w + (map->rotate ? 10 : 16);
    const size_t x_title = map->left + 7 * text_letters(map->x_title) + 8,
                 y_title = 7 * text_letters(map->y_title) + 16;
    map->width = map->width < x_title ? x_title : map->width;
    map->width = map->width < y_title ? y_title : map->width;
    map->height = map->top + data->n_y * map->cell_h + (map->rotate ? 5 * x_letters + 14 : 18) + 20;
}

static void put_ticks(const struct map *map, struct text_buffer *out)
{
    const struct page_data *data = map->data;
    const size_t bottom = map->top + data->n_y * map->cell_h;
    const size_t x_step = (16 + map->cell_w - 1) / map->cell_w, y_step = (13 + map->cell_h - 1) / map->cell_h;
    for (size_t i = 0; i < data->n_x && map->x_title[0]; i += x_step) {
        const size_t x = map->left + i * map->cell_w + map->cell_w / 2, y = bottom + (map->rotate ? 11 : 14);
        if (map->rotate)
            text_append(out, "<text class=\"e\" transform=\"translate(%zu %zu) rotate(-45)\">", x + 4, y);
        else
            text_append(out, "<text class=\"c\" x=\"%zu\" y=\"%zu\">", x, y);
        put_label(out, map->x_label[i]);
        text_append_string(out, "</text>");
    }
    for (size_t i = 0; i < data->n_y && map->y_title[0]; i += y_step) {
        text_append(out, "<text class=\"e\" x=\"%zu\" y=\"%zu\">", map->left - 5,
                    map->top + (data->n_y - 1 - i) * map->cell_h + map->cell_h / 2 + 4);
        put_label(out, map->y_label[i]);
        text_append_string(out, "</text>");
    }
    text_append(out, "<text class=\"c t\" x=\"%zu\" y=\"%zu\">", map->left + data->n_x * map->cell_w / 2,
                map->height - 5);
    html_text(out, map->x_title);
    text_append_string(out, "</text><text class=\"s t\" x=\"2\" y=\"12\">");
    text_append_string(out, map->y_title[0] ? "\xe2\x86\x91 " : "");
    html_text(out, map->y_title);
    text_append_string(out, "</text>\n");
}

static const char *class_of(const struct map *map, size_t cell)
{
    const char *status = map->data->plot.status[cell];
    if (!isnan(map->metric->value[cell]))
        return "v";
    return strcmp(status, "infeasible") == 0 ? "infeasible"
           : strcmp(status, "ok") == 0       ? "none" /* the metric is not of this engine */
                                             : "failed";
}

static void put_mark(const struct map *map, size_t cell, size_t x, size_t y, struct text_buffer *out)
{
    const struct page_data *data = map->data;
    const double value = map->metric->value[cell];
    char number[96];
    text_append(out, "<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\" class=\"m %s", x, y, map->cell_w,
                map->cell_h, class_of(map, cell));
    if (!isnan(value)) {
        text_append(out, "%d\"><title>", shade(map, shade_value(map, cell)));
        html_text(out, html_value(value, map->metric->metric->unit, number, sizeof number));
        if (strcmp(data->plot.status[cell], "ok") != 0) { /* a limit of time, and the best so far */
            text_append_string(out, "; ");
            html_text(out, data->plot.status[cell]);
        }
        text_append_string(out, "</title></rect>\n");
        return;
    }
    text_append_string(out, "\"><title>");
    html_text(out, data->plot.status[cell]);
    if (map->say_reasons && data->reason[cell][0]) {
        text_append_string(out, ": ");
        html_text(out, data->reason[cell]);
    }
    text_append_string(out, "</title></rect>\n");
}

/* The number in a cell, and a cross where there is none. */
static void put_number(const struct map *map, size_t cell, size_t x, size_t y, struct text_buffer *out)
{
    const double value = map->metric->value[cell];
    char number[40];
    if (isnan(value)) {
        const bool failed = strcmp(map->data->plot.status[cell], "infeasible") != 0;
        text_append(out, "<path class=\"x\" d=\"M%zu %zul%zu -%zu%s\"/>\n", x + 1, y + map->cell_h - 1,
                    map->cell_w - 2, map->cell_h - 2, "");
        if (failed)
            text_append(out, "<path class=\"x\" d=\"M%zu %zul%zu %zu\"/>\n", x + 1, y + 1, map->cell_w - 2,
                        map->cell_h - 2);
    } else if (map->print) {
        const bool dark = page_scale_place(&map->scale, shade_value(map, cell)) < 0.55;
        plot_print_value(value * map->factor, number, sizeof number);
        text_append(out, "<text class=\"n%s\" x=\"%zu\" y=\"%zu\">%s</text>\n", dark ? " w" : "",
                    x + map->cell_w / 2, y + map->cell_h / 2 + 4, number);
    }
}

static void put_box(const struct map *map, size_t cell, struct text_buffer *out)
{
    const struct plot_data *plot = &map->data->plot;
    const size_t x = plot->x.axis == PLOT_NO_AXIS ? 0 : plot_position(plot, cell, plot->x.axis);
    const size_t y = plot->y.axis == PLOT_NO_AXIS ? 0 : plot_position(plot, cell, plot->y.axis);
    text_append(out, "<rect class=\"best%s\" x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\"/>\n",
                cell == map->best[map->data->group[cell]] ? " all" : "", map->left + x * map->cell_w,
                map->top + (map->data->n_y - 1 - y) * map->cell_h, map->cell_w, map->cell_h);
}

/* Boxes around the best cell of the panel, of each group, and around that of all panels. */
static void put_best(const struct map *map, size_t panel, struct text_buffer *out)
{
    const struct page_data *data = map->data;
    const size_t none = data->plot.n_cell;
    const int direction = metric_direction(map->metric->metric);
    const double *value = map->metric->value;
    for (size_t g = 0; g < data->n_group; g++)
        map->here[g] = none;
    for (size_t i = 0; i < data->n_x * data->n_y && direction != 0; i++) {
        const size_t cell = plot_cell(&data->plot, panel, i % data->n_x, i / data->n_x);
        if (!data->shown[cell] || isnan(value[cell]))
            continue;
        size_t *best = &map->here[data->group[cell]];
        if (*best == none || direction * value[cell] > direction * value[*best] ||
            (value[cell] == value[*best] && cell == map->best[data->group[cell]]))
            *best = cell;
    }
    for (size_t g = 0; g < data->n_group; g++)
        if (map->here[g] != none)
            put_box(map, map->here[g], out);
}

/* What a reader who does not see the panel is told. */
static void put_words(const struct map *map, size_t panel, const char *title, struct text_buffer *out)
{
    const struct page_data *data = map->data;
    const size_t n = data->n_x * data->n_y;
    double low = INFINITY, high = -INFINITY;
    char from[96], to[96];
    for (size_t i = 0; i < n; i++) {
        const size_t cell = plot_cell(&data->plot, panel, i % data->n_x, i / data->n_x);
        low = data->shown[cell] ? fmin(low, map->metric->value[cell]) : low;
        high = data->shown[cell] ? fmax(high, map->metric->value[cell]) : high;
    }
    html_text(out, map->metric->metric->sentence);
    text_append_string(out, " over ");
    html_text(out, map->x_title);
    if (map->y_title[0]) {
        text_append_string(out, " and ");
        html_text(out, map->y_title);
    }
    if (title[0]) {
        text_append_string(out, ", ");
        html_text(out, title);
    }
    html_value(low, map->metric->metric->unit, from, sizeof from);
    html_value(high, map->metric->metric->unit, to, sizeof to);
    text_append_string(out, low <= high ? ": from " : ": no values");
    html_text(out, low <= high ? from : "");
    text_append_string(out, low <= high ? " to " : "");
    html_text(out, low <= high ? to : "");
}

static void put_panel(const struct map *map, size_t panel, const char *title, struct text_buffer *out)
{
    const struct page_data *data = map->data;
    const size_t n = data->n_x * data->n_y;
    text_append(out, "<figure class=\"panel\">");
    if (title[0])
        html_element(out, "figcaption", title);
    text_append(out, "<svg width=\"%zu\" height=\"%zu\" viewBox=\"0 0 %zu %zu\" role=\"img\" aria-label=\"",
                map->width, map->height, map->width, map->height);
    put_words(map, panel, title, out);
    text_append(out, "\">\n<rect class=\"ground\" x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\"/>\n",
                map->left, map->top, data->n_x * map->cell_w, data->n_y * map->cell_h);
    put_ticks(map, out);
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++) {
            const size_t cell = plot_cell(&data->plot, panel, i % data->n_x, i / data->n_x);
            const size_t x = map->left + i % data->n_x * map->cell_w,
                         y = map->top + (data->n_y - 1 - i / data->n_x) * map->cell_h;
            if (data->shown[cell])
                (pass == 0 ? put_mark : put_number)(map, cell, x, y, out);
        }
    put_best(map, panel, out);
    text_append_string(out, "</svg></figure>\n");
}

/* ---------------------------------------- around the panels */

static void put_legend(const struct map *map, struct text_buffer *out)
{
    double tick[8];
    char text[96];
    const size_t n = page_ticks(&map->scale, tick, sizeof tick / sizeof *tick);
    text_append_string(out,
                       "<svg id=\"legend\" width=\"460\" height=\"34\" viewBox=\"0 0 460 34\" role=\"img\" "
                       "aria-label=\"Scale of colours, from dark to light\">");
    for (int i = 0; i < PAGE_SHADES; i++)
        text_append(out, "<rect class=\"v%d\" x=\"%d\" y=\"0\" width=\"8\" height=\"14\"/>", i, 30 + 8 * i);
    text_append_string(out, "<g>");
    for (size_t i = 0; i < n; i++) {
        page_tick_text(tick[i], map->relative ? NULL : map->metric->metric->unit, text, sizeof text);
        text_append(out, "<text class=\"c\" x=\"%.1f\" y=\"28\">",
                    30 + 400 * page_scale_place(&map->scale, tick[i]));
        html_text(out, text);
        text_append_string(out, "</text>");
    }
    text_append_string(out, "</g></svg>\n");
}

/* Whether the switch offers the metric: the one shown, and others whose values differ. */
static bool is_offered(const struct page_data *data, size_t m)
{
    const struct page_metric *metric = &data->metric[m];
    return m == data->at ||
           (metric->low < metric->high && metric_direction(metric->metric) != 0 && !metric->metric->is_time);
}

/* The metrics of the switch, in order into `offered` (n_metric); returns how many. `*n_left_out`: those
 * beyond the room for data, which the one shown always has. */
static size_t offered_metrics(const struct page_data *data, size_t *offered, size_t *n_left_out)
{
    size_t n = 0, most = DATA_BYTE_MAX / (11 * (data->n_mark + 1));
    most = most < METRIC_MIN ? METRIC_MIN : most;
    *n_left_out = 0;
    for (size_t m = 0; m < data->n_metric; m++) {
        if (!is_offered(data, m))
            continue;
        if (n < most - (m < data->at) || m == data->at)
            offered[n++] = m;
        else
            ++*n_left_out;
    }
    return n;
}

static void put_switch(const struct page_data *data, struct text_buffer *out)
{
    size_t offered[RESULT_COLUMN_MAX], n_left_out, n = offered_metrics(data, offered, &n_left_out);
    text_append_string(out, "<p class=\"script\"><label>Metric <select id=\"metric\">");
    for (size_t i = 0; i < n; i++) {
        const struct metric *metric = data->metric[offered[i]].metric;
        text_append_string(out, "<option value=\"");
        html_text(out, metric->name);
        text_append_string(out, "\" data-unit=\"");
        html_text(out, metric->unit);
        text_append(out, "\" data-better=\"%d\"%s>", metric_direction(metric),
                    offered[i] == data->at ? " selected" : "");
        html_text(out, metric->sentence[0] ? metric->sentence : metric->name);
        text_append_string(out, "</option>");
    }
    text_append_string(out, "</select></label>\n");
    if (data->n_group > 1)
        text_append_string(out,
                           "<label><input type=\"checkbox\" id=\"relative\" checked> colours relative to the "
                           "best of each network and batch</label>\n");
    for (size_t f = 0; f < data->plot.n_facet; f++) {
        const struct result_axis *axis = &data->plot.schema.axis[data->plot.facet[f]];
        const struct result_coordinate *c = &axis->coordinate[0];
        char label[PLOT_LABEL_MAX];
        text_append_string(out, "<label>");
        html_text(out, c->long_name && c->long_name[0] ? c->long_name : c->name);
        text_append(out, " <select class=\"facet\"><option value=\"\">all</option>");
        for (size_t i = 0; i < axis->n_value; i++) {
            text_append(out, "<option value=\"%zu\">", i);
            html_text(out, coordinate_label(c, i, label, sizeof label));
            text_append_string(out, "</option>");
        }
        text_append_string(out, "</select></label>\n");
    }
    text_append_string(out, "</p>\n");
    if (n_left_out)
        text_append(out,
                    "<p class=\"script\">There is no room here for %zu of the metrics; "
                    "<code>dse report --metric</code> shows any.</p>\n",
                    n_left_out);
}

static void put_caption(const struct map *map, struct text_buffer *out)
{
    const struct page_data *data = map->data;
    text_append_string(out, "<p><span id=\"shown\">");
    html_text(out, map->metric->metric->sentence);
    if (map->print) {
        text_append_string(out, map->unit[0] ? ", in cells in " : "");
        html_text(out, map->unit);
    }
    text_append_string(out, "</span>. ");
    text_append_string(out, "Across: ");
    html_text(out, map->x_title);
    if (map->y_title[0]) {
        text_append_string(out, "; upwards: ");
        html_text(out, map->y_title);
    }
    text_append_string(
        out, data->plot.n_facet
                 ? ". These two axes have the most values, numbers before names; the others make the "
                   "panels. "
                 : ". ");
    if (map->relative)
        text_append_string(out,
                           "Colours are ratios to the best of each network and batch, whose costs cannot be "
                           "compared. ");
    text_append_string(
        out, "A point has a box when it is the best of its panel, an orange one when it is the best "
             "of all. A stroke: infeasible; a cross: failed; plain ground: no such point.</p>\n"
             "<p class=\"script\">Point at a cell, or go to a panel with the tab key and through its "
             "cells with the arrows.</p>\n");
}

static enum dse_status begin(struct map *map, struct page_data *data, struct dse_error *err)
{
    size_t n_bad = 0;
    *map = (struct map){.data = data, .metric = &data->metric[data->at]};
    for (size_t i = 0; i < data->n_mark; i++)
        n_bad += isnan(map->metric->value[data->mark[i]]) != 0;
    map->say_reasons = n_bad <= REASON_MARK_MAX;
    DSE_TRY(survey(map, data, err));
    DSE_TRY(plot_ticks(&data->plot, &data->plot.x, &map->x_label, map->x_title, sizeof map->x_title, err));
    DSE_TRY(plot_ticks(&data->plot, &data->plot.y, &map->y_label, map->y_title, sizeof map->y_title, err));
    lay_out(map);
    return DSE_OK;
}

/* A single point is a table. */
static void put_table(const struct page_data *data, struct text_buffer *out)
{
    text_append_string(out, "<section id=\"map\">\n<h2>The point</h2>\n");
    html_table(out, NULL, (const char *const[]){"Metric", "Column", "Value"}, 3, 2);
    for (size_t m = 0; m < data->n_metric; m++) {
        const struct page_metric *metric = &data->metric[m];
        if (isnan(metric->value[data->mark[0]]) || metric->metric->is_time)
            continue;
        text_append_string(out, "<tr>");
        html_element(out, "td", metric->metric->sentence);
        html_element(out, "td", metric->metric->name);
        html_number(out, metric->value[data->mark[0]], metric->metric->unit);
        text_append_string(out, "</tr>\n");
    }
    html_table_end(out);
    text_append_string(out, "</section>\n");
}

enum dse_status page_map(struct page_data *data, struct text_buffer *out, struct dse_error *err)
{
    struct map map;
    if (page_is_single(data)) {
        put_table(data, out);
        return DSE_OK;
    }
    DSE_TRY(begin(&map, data, err));
    text_append_string(out, "<section id=\"map\">\n<h2>All points</h2>\n");
    put_switch(data, out);
    put_caption(&map, out);
    put_legend(&map, out);
    text_append_string(out, "<div class=\"panels\">\n");
    for (size_t panel = 0; panel < data->n_panel; panel++) {
        struct text_buffer title;
        text_init(&title);
        plot_panel_title(&data->plot, panel, &title);
        put_panel(&map, panel, title.data ? title.data : "", out);
        text_free(&title);
    }
    text_append_string(out, "</div>\n<output id=\"tip\" aria-live=\"polite\"></output>\n</section>\n");
    return DSE_OK;
}

/* ---------------------------------------- for the script */

static void put_labels(struct text_buffer *out, const char *key, const char *const *label, size_t n)
{
    text_append(out, "\"%s\":[", key);
    for (size_t i = 0; i < n; i++) {
        text_append_string(out, i ? "," : "");
        html_json(out, label[i]);
    }
    text_append_string(out, "],\n");
}

enum dse_status page_map_data(struct page_data *data, struct text_buffer *out, struct dse_error *err)
{
    struct map map;
    size_t offered[RESULT_COLUMN_MAX], n_left_out;
    const size_t n = offered_metrics(data, offered, &n_left_out);
    double *value = arena_alloc(&data->plot.arena, data->n_mark, sizeof *value);
    DSE_TRY(begin(&map, data, err));
    text_append_string(out, "<script type=\"application/json\" id=\"data\">{\n");
    put_labels(out, "x", map.x_label, data->n_x);
    put_labels(out, "y", map.y_label, data->n_y);
    put_labels(out, "title", (const char *const[]){map.x_title, map.y_title}, 2);
    text_append(out, "\"box\":[%zu,%zu,%zu,%zu],\n\"print\":%s,\n\"facet\":[", map.left, map.top, map.cell_w,
                map.cell_h, map.print ? "true" : "false");
    for (size_t f = 0; f < data->plot.n_facet; f++)
        text_append(out, "%s%zu", f ? "," : "", data->plot.schema.axis[data->plot.facet[f]].n_value);
    text_append_string(out, "],\n\"group\":[");
    for (size_t i = 0; i < data->n_mark && data->n_group > 1; i++)
        text_append(out, "%s%u", i ? "," : "", (unsigned)data->group[data->mark[i]]);
    text_append_string(out, "],\n\"value\":[");
    for (size_t m = 0; m < n; m++) {
        for (size_t i = 0; i < data->n_mark; i++)
            value[i] = data->metric[offered[m]].value[data->mark[i]];
        text_append_string(out, m ? ",\n\"" : "\n\"");
        html_doubles(out, value, data->n_mark);
        text_append_string(out, "\"");
    }
    text_append_string(out, "]}\n</script>\n");
    return DSE_OK;
}
