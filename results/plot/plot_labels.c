/* Words of a figure: where a panel or a cell is, ticks with the unit they share, prefixes of units. */
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/plot/plot_data.h"

static const struct result_axis *axis_of(const struct plot_data *data, size_t axis)
{
    return &data->schema.axis[axis];
}

static const char *axis_words(const struct result_coordinate *c)
{
    return c->long_name && c->long_name[0] ? c->long_name : c->name;
}

static void append_place(const struct plot_data *data, size_t axis, size_t at, struct text_buffer *text)
{
    char label[PLOT_LABEL_MAX];
    const struct result_coordinate *c = &axis_of(data, axis)->coordinate[0];
    coordinate_label(c, at, label, sizeof label);
    text_append(text, "%s%s %s", text->length ? ", " : "", axis_words(c), label);
}

void plot_panel_title(const struct plot_data *data, size_t panel, struct text_buffer *text)
{
    for (size_t f = 0; f < data->n_facet; f++)
        append_place(data, data->facet[f], plot_facet_position(data, panel, f), text);
}

void plot_fixed_text(const struct plot_data *data, struct text_buffer *text)
{
    for (size_t a = 0; a < data->schema.n_axis; a++) {
        if (data->is_fixed[a] && a != data->x.axis && a != data->y.axis)
            append_place(data, a, data->fixed[a], text);
    }
    if (data->note[0])
        text_append(text, "%s%s", text->length ? ", " : "", data->note);
}

size_t plot_fixed_letters(const struct plot_data *data)
{
    struct text_buffer text;
    text_init(&text);
    plot_fixed_text(data, &text);
    size_t n = text.data ? text_letters(text.data) : 0;
    text_free(&text);
    return n;
}

void plot_cell_text(const struct plot_data *data, size_t cell, struct text_buffer *text)
{
    for (size_t a = 0; a < data->schema.n_axis; a++) {
        if (!data->is_fixed[a])
            append_place(data, a, plot_position(data, cell, a), text);
    }
}

void plot_scale(const double *value, size_t n, const char *unit_symbol, double *factor, char *unit,
                size_t size)
{
    static const char *const prefix[] = {"p", "n", "\xc2\xb5", "m", "", "k", "M", "G", "T"};
    double *positive = malloc((n + 1) * sizeof *positive);
    size_t n_positive = 0;
    *factor = 1;
    snprintf(unit, size, "%s", strcmp(unit_symbol, "1") == 0 ? "" : unit_symbol);
    for (size_t i = 0; positive && i < n; i++) {
        if (value[i] > 0 && isfinite(value[i]))
            positive[n_positive++] = value[i];
    }
    const bool is_area = strcmp(unit, "mm2") == 0; /* a prefix would be one of millimetres */
    if (is_area)
        snprintf(unit, size, "mm\xc2\xb2");
    if (n_positive == 0 || !unit[0] || is_area || strcmp(unit, "cycle") == 0) {
        free(positive);
        return;
    }
    double median = gsl_stats_select(positive, 1, n_positive, n_positive / 2);
    free(positive);
    bool is_byte =
        strcmp(unit, "byte") == 0; /* binary prefixes, as capacities on axes and all tables have them */
    int step = (int)floor(is_byte ? log2(median) / 10 + 1e-9 : log10(median) / 3 + 1e-9);
    step = step < -4 ? -4 : step > 4 ? 4 : step;
    if (is_byte && step <= 0)
        return;
    *factor = pow(is_byte ? 1024 : 1000, -step);
    if (is_byte)
        snprintf(unit, size, "%ciB", "KMGT"[step - 1]);
    else
        snprintf(unit, size, "%s%s", prefix[step + 4], unit_symbol);
}

/* The unit that all labels share ("GB/s" of "4 GB/s"), or NULL. */
static const char *shared_unit(const char *const *label, size_t n)
{
    const char *unit = NULL;
    for (size_t i = 0; i < n; i++) {
        char *end;
        (void)strtod(label[i], &end);
        if (end == label[i] || *end != ' ' || !end[1])
            return NULL;
        if (unit && strcmp(unit, end + 1) != 0)
            return NULL;
        unit = end + 1;
    }
    return unit;
}

enum dse_status plot_ticks(struct plot_data *data, const struct plot_axis *axis, const char ***label,
                           char *title, size_t size, struct dse_error *err)
{
    size_t n = plot_length(data, axis);
    const char **text = arena_alloc(&data->arena, n, sizeof *text);
    *label = text;
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    if (axis->axis == PLOT_NO_AXIS) {
        text[0] = "";
        text_copy(title, size, "");
        return DSE_OK;
    }
    const struct result_coordinate *c = &axis_of(data, axis->axis)->coordinate[axis->coordinate];
    for (size_t i = 0; i < n; i++) {
        char buffer[PLOT_LABEL_MAX];
        coordinate_label(c, i, buffer, sizeof buffer);
        text[i] = arena_copy_text(&data->arena, buffer, strlen(buffer));
    }
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    const char *unit = shared_unit(text, n);
    snprintf(title, size, unit ? "%s (%s)" : "%s", axis_words(c), unit);
    for (size_t i = 0; i < n && unit; i++)
        text[i] = arena_copy_text(&data->arena, text[i], strcspn(text[i], " "));
    return arena_check(&data->arena, "the figure", err);
}
