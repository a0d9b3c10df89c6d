/* The table of the kinds of figure, drawing one, and what the kinds share: layout, titles, ticks. */
#include "results/plot/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/plot/plot_gnuplot.h"
#include "results/plot/plot_kinds.h"

#define PLOT_ROW(name, traits, x_words, n_metric, metric, sentence)                                          \
    {#name, sentence, traits, x_words, n_metric, metric, plot_##name},
#define PLOT_NAME(name, traits, x_words, n_metric, metric, sentence) #name,
static const struct plot_kind kinds[] = {PLOT_KINDS(PLOT_ROW)};
static const char *const names[] = {PLOT_KINDS(PLOT_NAME)};

const struct plot_kind *plot_kind_at(size_t i)
{
    return i < sizeof kinds / sizeof *kinds ? &kinds[i] : NULL;
}

const struct plot_kind *plot_kind_find(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i].name) == 0)
            return &kinds[i];
    return NULL;
}

bool plot_metric_word(const char *metric, size_t i, char *word, size_t size)
{
    for (; i > 0; i--) {
        metric = strchr(metric, ',');
        if (!metric)
            return false;
        metric++;
    }
    metric += strspn(metric, " ");
    size_t n = strcspn(metric, ",");
    while (n > 0 && metric[n - 1] == ' ')
        n--;
    snprintf(word, size, "%.*s", (int)n, metric);
    return true;
}

enum dse_status plot_kind_takes(const struct plot_kind *kind, const char *metric, struct dse_error *err)
{
    char word[PLOT_LABEL_MAX];
    if (!metric)
        return DSE_OK;
    if (kind->traits & PLOT_METRICS)
        return dse_fail(err, DSE_BAD_USAGE,
                        "a figure of kind %s shows the metrics x and y: write %s as one of these", kind->name,
                        metric);
    if (kind->n_metric == 0)
        return dse_fail(err, DSE_BAD_USAGE,
                        "a figure of kind %s shows the cost that a search minimised, not %s: leave the "
                        "metric out; --where chooses the point",
                        kind->name, metric);
    if (plot_metric_word(metric, kind->n_metric, word, sizeof word))
        return dse_fail(err, DSE_BAD_USAGE, "%s are more metrics than a figure of kind %s shows (%zu)%s",
                        metric, kind->name, kind->n_metric,
                        kind->n_metric == 1 ? "; kind lines shows several" : "");
    if (kind->metric && strcmp(metric, kind->metric) != 0)
        return dse_fail(
            err, DSE_BAD_USAGE,
            "a figure of kind %s shows %s by its parts, not %s: leave the metric out, or draw it as "
            "heatmap or lines",
            kind->name, kind->metric, metric);
    return DSE_OK;
}

enum dse_status plot_kind_takes_x(const struct plot_kind *kind, const char *x, struct dse_error *err)
{
    char word[PLOT_LABEL_MAX];
    if (!x || !kind->x_words)
        return DSE_OK;
    for (size_t i = 0; plot_metric_word(kind->x_words, i, word, sizeof word); i++)
        if (strcmp(word, x) == 0)
            return DSE_OK;
    return dse_fail(
        err, DSE_BAD_USAGE,
        "x of a figure of kind %s is one of %s, not '%s': y names an axis whose values are curves",
        kind->name, kind->x_words, x);
}

const char *const *plot_kind_names(size_t *n)
{
    *n = sizeof names / sizeof *names;
    return names;
}

const char *plot_kind_word(size_t i, const char **sentence)
{
    const struct plot_kind *kind = plot_kind_at(i);
    *sentence = kind ? kind->sentence : "";
    return kind ? kind->name : NULL;
}

void plot_layout(struct plot_layout *layout, size_t n_panel, size_t n_column_wanted)
{
    const double page = 800; /* points: a landscape page */
    double step = layout->panel_width + layout->gap_x;
    double room = (page - layout->left - layout->right + layout->gap_x) / step;
    size_t most = room < 1 ? 1 : (size_t)room;
    /* Columns that are wanted are an axis: the page becomes as wide as they need. */
    size_t columns = n_column_wanted ? n_column_wanted : most;
    if (columns > n_panel)
        columns = n_panel;
    layout->n_panel = n_panel;
    layout->n_row = (n_panel + columns - 1) / columns;
    /* As few columns as the same number of rows needs: 5 panels in 4 + 1 look worse than 3 + 2. */
    if (columns != n_column_wanted)
        columns = (n_panel + layout->n_row - 1) / layout->n_row;
    layout->n_column = columns;
    layout->width = layout->left + layout->right + (double)columns * step - layout->gap_x;
    layout->height = layout->top + layout->bottom +
                     (double)layout->n_row * (layout->panel_height + layout->gap_y) - layout->gap_y;
    double least = layout->least_width < 340 ? 340 : layout->least_width > page ? page : layout->least_width;
    if (layout->width < least) { /* room for the title and the line at the foot */
        double extra = least - layout->width;
        layout->width = least;
        layout->left += extra / 2;
        layout->right += extra / 2;
    }
}

/* The title asked for, else the specification's title or name. */
static const char *plot_title(const struct plot_job *job)
{
    if (job->options->title)
        return job->options->title;
    return job->data.schema.title[0] ? job->data.schema.title : job->data.schema.name;
}

/* A letter of the 12 point title is up to 9.6 wide, of the 8 point line 5.8 (DejaVu Sans). */
double plot_head_width(const struct plot_job *job)
{
    double title = 9.6 * (double)text_letters(plot_title(job));
    double fixed = 5.8 * (double)plot_fixed_letters(&job->data);
    return (title > fixed ? title : fixed) + 20;
}

static void put_head(struct plot_job *job, const struct plot_layout *layout)
{
    struct text_buffer fixed;
    text_init(&fixed);
    plot_fixed_text(&job->data, &fixed);
    gnuplot_terminal(&job->script, job->figure_path, layout->width, layout->height);
    gnuplot_set_text(&job->script, "dse_title", plot_title(job));
    gnuplot_set_text(&job->script, "dse_subtitle", fixed.data ? fixed.data : "");
    if (fixed.failed)
        job->script.failed = 1;
    text_free(&fixed);
}

enum dse_status plot_put_layout(struct plot_job *job, const struct plot_layout *layout,
                                const char *const *title, struct dse_error *err)
{
    struct text_buffer *script = &job->script;
    size_t n = layout->n_panel;
    double *left = arena_alloc(&job->data.arena, 6 * n, sizeof *left);
    DSE_TRY(arena_check(&job->data.arena, "the figure", err));
    double *right = left + n, *top = right + n, *bottom = top + n, *ticks_x = bottom + n,
           *ticks_y = ticks_x + n;
    for (size_t i = 0; i < n; i++) {
        size_t row = i / layout->n_column, column = i % layout->n_column;
        double x = layout->left + (double)column * (layout->panel_width + layout->gap_x);
        double y = layout->top + (double)row * (layout->panel_height + layout->gap_y);
        left[i] = x / layout->width;
        right[i] = (x + layout->panel_width) / layout->width;
        top[i] = 1 - y / layout->height;
        bottom[i] = 1 - (y + layout->panel_height) / layout->height;
        ticks_x[i] = i + layout->n_column >= n;
        ticks_y[i] = column == 0;
    }
    put_head(job, layout);
    text_append(script, "dse_n_panel = %zu\ndse_columns = %zu\n", n, layout->n_column);
    gnuplot_set_numbers(script, "panel_left", left, n);
    gnuplot_set_numbers(script, "panel_right", right, n);
    gnuplot_set_numbers(script, "panel_top", top, n);
    gnuplot_set_numbers(script, "panel_bottom", bottom, n);
    gnuplot_set_numbers(script, "panel_ticks_x", ticks_x, n);
    gnuplot_set_numbers(script, "panel_ticks_y", ticks_y, n);
    gnuplot_set_texts(script, "panel_title", title, n);
    return DSE_OK;
}

enum dse_status plot_panel_titles(struct plot_data *data, const char *const **title, struct dse_error *err)
{
    size_t n = plot_n_panel(data);
    const char **text = arena_alloc(&data->arena, n, sizeof *text);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (size_t i = 0; i < n; i++) {
        struct text_buffer words;
        text_init(&words);
        plot_panel_title(data, i, &words);
        text[i] = text_keep(&words, &data->arena);
    }
    *title = text;
    return arena_check(&data->arena, "the figure", err);
}

void plot_print_value(double value, char *buffer, size_t size)
{
    double size_of = fabs(value);
    if (size_of >= 1e5 || (size_of < 1e-3 && size_of > 0))
        snprintf(buffer, size, "%.1e", value);
    else
        snprintf(buffer, size, "%.*f",
                 size_of >= 99.95    ? 0
                 : size_of >= 9.995  ? 1
                 : size_of >= 0.9995 ? 2
                                     : 3,
                 value);
}

void plot_put_ticks(struct text_buffer *script, const char *name, const char *axis, const char *const *label,
                    size_t n, const char *rotation)
{
    char array[64];
    snprintf(array, sizeof array, "%s_label", name);
    gnuplot_set_ticks(script, array, label, n);
    /* More than forty labels cannot be read. */
    text_append(script,
                "%s = 'set %s nomirror scale 0 %s (); set for [i = 1:%zu:%zu] %s add (%s[i] i - 1)'\n", name,
                axis, rotation, n, (n + 39) / 40, axis, array);
}

size_t plot_longest(const char *const *label, size_t n)
{
    size_t longest = 0;
    for (size_t i = 0; i < n; i++)
        longest = text_letters(label[i]) > longest ? text_letters(label[i]) : longest;
    return longest;
}

/* A map of one row says less than a line. Engines are lines of one figure. */
static bool wants_lines(const struct plot_data *data, const struct plot_options *options)
{
    char word[PLOT_LABEL_MAX];
    size_t n_free = 0, n_engine = 0;
    if (options->relative || options->winner)
        return false;
    if (options->metric && plot_metric_word(options->metric, 1, word, sizeof word))
        return true;
    for (size_t a = 0; a < data->schema.n_axis; a++) {
        bool engines = plot_axis_has(data, a, "engine");
        n_free += !data->is_fixed[a] && !engines;
        n_engine += !data->is_fixed[a] && engines;
    }
    return n_free + n_engine > 0 && n_free <= 1 && !(options->x && options->y);
}

enum dse_status plot_draw(const char *h5_path, const char *figure_path, const struct plot_options *options,
                          struct dse_error *err)
{
    const struct plot_kind *kind = options->kind;
    struct plot_job job = {.options = options, .figure_path = figure_path};
    char template[64];
    DSE_TRY(gnuplot_check_path(figure_path, err));
    if (kind) {
        DSE_TRY(plot_kind_takes(kind, options->metric, err));
        DSE_TRY(plot_kind_takes_x(kind, options->x, err));
    }
    text_init(&job.script);
    enum dse_status status = plot_data_open(&job.data, h5_path, options, err);
    if (status == DSE_OK && (options->relative || options->winner) && kind && !(kind->traits & PLOT_COMPARES))
        status = dse_fail(err, DSE_BAD_USAGE,
                          "--relative and --winner are of heatmaps, not of figures of kind %s", kind->name);
    if (status == DSE_OK && kind && options->n_file > 1 && (kind->traits & PLOT_ONE_FILE))
        status =
            dse_fail(err, DSE_BAD_USAGE,
                     "a figure of kind %s is of one file; shards become one with `dse merge`", kind->name);
    if (status == DSE_OK && !(kind && (kind->traits & PLOT_METRICS)))
        status = plot_data_metric(&job.data, options, err);
    if (!kind)
        kind = plot_kind_find(wants_lines(&job.data, options) ? "lines" : "heatmap");
    if (status == DSE_OK)
        status = kind->draw(&job, err);
    snprintf(template, sizeof template, "%s.gp", kind->name);
    if (status == DSE_OK)
        status = gnuplot_template(&job.script, template, options->template_dir, err);
    if (status == DSE_OK)
        status = gnuplot_run(&job.script, figure_path, options->keep_script, err);
    plot_data_close(&job.data);
    text_free(&job.script);
    return status;
}
