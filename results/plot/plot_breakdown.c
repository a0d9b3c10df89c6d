/* Stacked bars of energy: on-chip levels, MACs, networks and DRAM per value of an axis. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/cube/cube_read.h"
#include "results/plot/plot_gnuplot.h"
#include "results/plot/plot_kinds.h"

enum { PART_MAX = RESULT_LEVEL_MAX + 3 };

/* The stacked parts of the energy, bottom first. */
struct energy_parts {
    size_t n, n_cell;
    const char *name[PART_MAX];
    double *value[PART_MAX]; /* (n_cell) in joule */
    double factor, high;
    char unit[32];
};

static enum dse_status add_dataset(struct plot_data *data, struct energy_parts *parts, const char *name,
                                   const char *dataset, struct dse_error *err)
{
    size_t n;
    DSE_TRY(cube_read_number(data->path, dataset, &data->arena, &parts->value[parts->n], &n, err));
    if (n != data->n_cell)
        return dse_fail_at(err, DSE_BAD_INPUT, data->path, 0,
                           "dataset %s does not have the shape of the axes", dataset);
    parts->name[parts->n++] = name;
    return DSE_OK;
}

/* One part per storage level, from levels/energy_j (cell x level). */
static enum dse_status add_levels(struct plot_data *data, struct energy_parts *parts, struct dse_error *err)
{
    double *all;
    size_t n;
    const size_t n_level = data->schema.n_level;
    DSE_TRY(cube_read_number(data->path, "levels/energy_j", &data->arena, &all, &n, err));
    if (n != data->n_cell * n_level)
        return dse_fail_at(err, DSE_BAD_INPUT, data->path, 0,
                           "levels/energy_j does not have the shape of the axes");
    for (size_t l = 0; l < n_level; l++) {
        double *one = arena_alloc(&data->arena, data->n_cell, sizeof *one);
        DSE_TRY(arena_check(&data->arena, "the figure", err));
        for (size_t i = 0; i < data->n_cell; i++)
            one[i] = all[i * n_level + l];
        parts->name[parts->n] = data->schema.level[l];
        parts->value[parts->n++] = one;
    }
    return DSE_OK;
}

/* Schedules have no values by level: does each cell with a value have one of the parts from `first` on? */
static bool every_cell_has_levels(const struct plot_data *data, const struct energy_parts *parts,
                                  size_t first)
{
    for (size_t i = 0; i < data->n_cell; i++) {
        bool has = isnan(data->value[i]);
        for (size_t k = first; k < parts->n && !has; k++)
            has = !isnan(parts->value[k][i]);
        if (!has)
            return false;
    }
    return parts->n > first;
}

static enum dse_status read_parts(struct plot_data *data, struct energy_parts *parts, struct dse_error *err)
{
    DSE_TRY(add_dataset(data, parts, "MACs", "energy_mac_j", err));
    const size_t n_before = parts->n;
    if (data->schema.n_level > 0)
        DSE_TRY(add_levels(data, parts, err));
    if (!every_cell_has_levels(data, parts, n_before)) {
        parts->n = n_before;
        DSE_TRY(add_dataset(data, parts, "buffers", "energy_buffer_j", err));
        DSE_TRY(add_dataset(data, parts, "DRAM", "energy_dram_j", err));
    }
    return add_dataset(data, parts, "NoC", "energy_noc_j", err);
}

static double total_of(const struct energy_parts *parts, size_t cell)
{
    double total = 0;
    for (size_t i = 0; i < parts->n; i++)
        total += isnan(parts->value[i][cell]) ? 0 : parts->value[i][cell];
    return total;
}

/* $parts: x, low, high, part; $totals: x, total, text, look. One index per panel. */
static void put_bars(struct plot_job *job, const struct energy_parts *parts, size_t n_panel, size_t n_x)
{
    const struct plot_data *data = &job->data;
    struct text_buffer *script = &job->script;
    text_append(script, "$parts << END_OF_PARTS\n");
    for (size_t panel = 0; panel < n_panel; panel++) {
        for (size_t x = 0; x < n_x; x++) {
            size_t cell = plot_cell(data, panel, x, 0);
            double low = 0;
            for (size_t i = 0; i < parts->n; i++) {
                double value = isnan(parts->value[i][cell]) ? 0 : parts->value[i][cell] * parts->factor;
                text_append(script, "%zu %.9g %.9g %zu\n", x, low, low + value, i + 1);
                low += value;
            }
        }
        text_append(script, "\n\n");
    }
    text_append(script, "END_OF_PARTS\n$totals << END_OF_TOTALS\n");
    for (size_t panel = 0; panel < n_panel; panel++) {
        for (size_t x = 0; x < n_x; x++) {
            size_t cell = plot_cell(data, panel, x, 0);
            char number[40];
            plot_print_value(total_of(parts, cell) * parts->factor, number, sizeof number);
            if (isnan(data->value[cell]))
                text_append(script, "%zu 0 \"%s\" 1\n", x,
                            data->status[cell][0] ? data->status[cell] : "not computed");
            else
                text_append(script, "%zu %.9g \"%s\" 0\n", x, total_of(parts, cell) * parts->factor, number);
        }
        text_append(script, "\n\n");
    }
    text_append(script, "END_OF_TOTALS\n");
}

/* The unit and the height that fit the totals drawn. Parts that are zero everywhere are dropped. */
static enum dse_status survey(struct plot_data *data, struct energy_parts *parts, size_t n_panel, size_t n_x,
                              struct dse_error *err)
{
    size_t kept = 0;
    double *total = arena_alloc(&data->arena, n_panel * n_x, sizeof *total);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (size_t p = 0; p < parts->n; p++) {
        int any = 0;
        for (size_t i = 0; i < n_panel * n_x; i++)
            any |= parts->value[p][plot_cell(data, i / n_x, i % n_x, 0)] > 0;
        if (any) {
            parts->name[kept] = parts->name[p];
            parts->value[kept++] = parts->value[p];
        }
    }
    parts->n = kept;
    for (size_t i = 0; i < n_panel * n_x; i++)
        total[i] = total_of(parts, plot_cell(data, i / n_x, i % n_x, 0));
    plot_scale(total, n_panel * n_x, "J", &parts->factor, parts->unit, sizeof parts->unit);
    for (size_t i = 0; i < n_panel * n_x; i++)
        parts->high = fmax(parts->high, total[i] * parts->factor);
    if (!(parts->high > 0))
        return dse_fail_at(err, DSE_BAD_INPUT, data->path, 0,
                           "no point of the slice has an energy breakdown");
    return DSE_OK;
}

static void lay_out(const struct plot_job *job, const struct energy_parts *parts, const char *const *label,
                    size_t n_x, size_t n_panel, struct plot_layout *layout, bool *rotate, double *tick_height)
{
    const double letter = 5.2;
    double per_bar = n_panel > 2 ? 26 : 36;
    memset(layout, 0, sizeof *layout);
    layout->panel_width = (double)n_x * per_bar < 150 ? 150 : (double)n_x * per_bar;
    if (layout->panel_width > 560)
        layout->panel_width = 560;
    layout->panel_height = 170;
    *rotate = (double)plot_longest(label, n_x) * letter > layout->panel_width / (double)n_x - 3;
    *tick_height = *rotate ? (double)plot_longest(label, n_x) * letter * 0.75 + 10 : 14;
    layout->left = 58;
    layout->right = 36 + 5.8 * (double)plot_longest(parts->name, parts->n);
    layout->gap_x = 14;
    layout->gap_y = 28;
    layout->top = 44 + (n_panel > 1 ? 18 : 4);
    layout->bottom = *tick_height + 26;
    layout->least_width = plot_head_width(job);
    plot_layout(layout, n_panel, 0);
}

enum dse_status plot_breakdown(struct plot_job *job, struct dse_error *err)
{
    struct plot_data *data = &job->data;
    struct energy_parts parts = {0};
    struct plot_layout layout;
    struct plot_axis facet = {PLOT_NO_AXIS, 0};
    const char **label;
    const char *const *title;
    char x_title[128], y_title[64];
    double tick_height;
    bool rotate;
    DSE_TRY(plot_choose_axes(data, job->options, 1, err));
    if (job->options->y)
        DSE_TRY(plot_find_axis(data, job->options->y, &facet, err));
    DSE_TRY(plot_fix_at_best(data, (const size_t[]){data->x.axis, facet.axis}, 2, err));
    /* Only the axis asked for is left free: it makes the panels. */
    data->n_facet = 0;
    if (facet.axis != PLOT_NO_AXIS && facet.axis != data->x.axis && !data->is_fixed[facet.axis])
        data->facet[data->n_facet++] = facet.axis;
    size_t n_x = plot_length(data, &data->x), n_panel = plot_n_panel(data);
    DSE_TRY(read_parts(data, &parts, err));
    DSE_TRY(survey(data, &parts, n_panel, n_x, err));
    DSE_TRY(plot_ticks(data, &data->x, &label, x_title, sizeof x_title, err));
    DSE_TRY(plot_panel_titles(data, &title, err));
    lay_out(job, &parts, (const char *const *)label, n_x, n_panel, &layout, &rotate, &tick_height);
    DSE_TRY(plot_put_layout(job, &layout, title, err));
    snprintf(y_title, sizeof y_title, "Energy (%s)", parts.unit);
    gnuplot_set_text(&job->script, "dse_x_title", x_title);
    gnuplot_set_text(&job->script, "dse_y_title", y_title);
    text_append(&job->script, "dse_n_x = %zu\ndse_high = %.9g\ndse_x_title_offset = %.4g\ndse_n_part = %zu\n",
                n_x, parts.high, tick_height, parts.n);
    gnuplot_set_texts(&job->script, "part_name", parts.name, parts.n);
    plot_put_ticks(&job->script, "dse_x_ticks", "xtics", (const char *const *)label, n_x,
                   rotate ? "rotate by 45 right" : "norotate");
    put_bars(job, &parts, n_panel, n_x);
    return DSE_OK;
}
