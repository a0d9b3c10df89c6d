/* Checks that the graphs can stand below one another, lays out panels and axes, and writes the head and
 * the notes; the rows are in plot_timeline_rows.c (fused schedules) and plot_timeline_cores.c (uops). */
#include "results/plot/plot_timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/plot/plot_data.h"
#include "results/plot/plot_gnuplot.h"
#include "results/plot/plot_kinds.h"
#include "results/plot/plot_timeline_cores.h"
#include "results/plot/plot_timeline_rows.h"

/* Of the figure, in points. */
static const double canvas_width = 800, margin_left = 82, margin_right = 20, margin_top = 58,
                    margin_bottom = 62, panel_gap = 48;

enum { WORD_MAX = 256 };

const char *plot_si_text(double value, const char *unit, char *buffer, size_t size)
{
    char number[32], prefixed[32];
    double factor;
    plot_scale(&value, 1, unit, &factor, prefixed, sizeof prefixed);
    plot_print_value(value * factor, number, sizeof number);
    snprintf(buffer, size, "%s %s", number, prefixed);
    return buffer;
}

static bool same_head(const struct timeline *a, const struct timeline *b)
{
    return strcmp(a->network, b->network) == 0 && strcmp(a->architecture, b->architecture) == 0 &&
           (a->kind == TIMELINE_UOPS || strcmp(a->rules, b->rules) == 0) && a->batch == b->batch;
}

static void head_text(const struct timeline *t, char *buffer, size_t size)
{
    snprintf(buffer, size, "%.80s, batch %" PRId64 ", on %.80s%s", t->network, t->batch, t->architecture,
             strcmp(t->rules, "compat") == 0 ? " (compat)" : "");
}

/* "1.90 ms, 2.82 mJ; core array busy 29.5 %, DRAM 84.9 %; ..." */
static void note_text(const struct timeline *t, char *buffer, size_t size)
{
    char time[64], energy[64], average[32], most[32], room[32];
    double cycle = t->cycle > 0 ? (double)t->cycle : 1;
    snprintf(buffer, size,
             "%s, %s; core array busy %.1f %%, DRAM %.1f %%; buffer %s on average, %s at most, of %s",
             plot_si_text((double)t->cycle / t->clock_hz, "s", time, sizeof time),
             plot_si_text(t->energy_j, "J", energy, sizeof energy), 100 * (double)t->compute_cycle / cycle,
             100 * (double)t->dram_cycle / cycle, text_bytes(t->buffer_average_byte, average, sizeof average),
             text_bytes((double)t->buffer_max_byte, most, sizeof most),
             text_bytes((double)t->buffer_byte, room, sizeof room));
}

/* The buffer's scale: all of the largest, or, where little of it is used, of what is used. */
static double top_byte_of(const struct timeline *timeline, size_t n)
{
    double most = 1, capacity = 1;
    for (size_t i = 0; i < n; i++) {
        most = (double)timeline[i].buffer_max_byte > most ? (double)timeline[i].buffer_max_byte : most;
        capacity = (double)timeline[i].buffer_byte > capacity ? (double)timeline[i].buffer_byte : capacity;
    }
    return most >= 0.3 * capacity ? capacity : most * 1.1;
}

/* A round number of bytes for the ticks: a power of two, two to four of them below the top. */
static double tick_byte(double top_byte)
{
    double tick = 1;
    while (tick * 4 < top_byte * (1 + 1e-9))
        tick *= 2;
    return tick;
}

/* What stands above the panels, and above all of them. */
static void put_heads(struct drawing *d)
{
    char word[4 * WORD_MAX], head[WORD_MAX];
    bool same = true;
    text_append(d->script, "array panel_title[%zu]\narray panel_note[%zu]\n", d->n, d->n);
    for (size_t p = 1; p < d->n; p++)
        same = same && same_head(&d->timeline[0], &d->timeline[p]);
    for (size_t p = 0; p < d->n; p++) {
        const struct timeline *t = &d->timeline[p];
        if (!same)
            head_text(t, head, sizeof head);
        snprintf(word, sizeof word, "%.80s%s%s", t->title, same ? "" : ": ", same ? "" : head);
        text_append(d->script, "panel_title[%zu] = ", p + 1);
        gnuplot_quote(d->script, word);
        (t->kind == TIMELINE_UOPS ? plot_cores_note : note_text)(t, word, sizeof word);
        text_append(d->script, "\npanel_note[%zu] = ", p + 1);
        gnuplot_quote(d->script, word);
        text_append(d->script, "\n");
    }
    if (same)
        head_text(&d->timeline[0], word, sizeof word);
    else
        text_copy(word, sizeof word, "Execution graphs");
    gnuplot_set_text(d->script, "dse_title", d->options->title ? d->options->title : word);
}

/* Panels of fused schedules and the scale of their buffers. */
static void put_panels(struct drawing *d)
{
    char byte[32];
    double tick = tick_byte(d->top_byte), k = (BUFFER_HIGH - BUFFER_LOW) / d->top_byte;
    text_append(d->script, "array panel_foot[%zu]\narray panel_capacity[%zu]\n", d->n, d->n);
    for (size_t p = 0; p < d->n; p++) {
        double foot = plot_timeline_foot(d, p), capacity = (double)d->timeline[p].buffer_byte;
        text_append(d->script, "panel_foot[%zu] = %.3f\n", p + 1, foot);
        if (capacity <= d->top_byte * (1 + 1e-9))
            text_append(d->script, "panel_capacity[%zu] = %.3f\n", p + 1, foot + k * capacity);
        else
            text_append(d->script, "panel_capacity[%zu] = NaN\n", p + 1);
    }
    text_append(d->script, "dse_y_ticks = \"set ytics nomirror scale 0.3 font ',7' (");
    for (size_t p = 0; p < d->n; p++)
        for (double at = 0; at <= d->top_byte * (1 + 1e-9); at += tick)
            text_append(d->script, "%s'%s' %.3f", p > 0 || at > 0 ? ", " : "",
                        at > 0 ? text_bytes(at, byte, sizeof byte) : "0", plot_timeline_foot(d, p) + k * at);
    text_append(d->script, ")\"\n");
}

struct named {
    const char *name;
    double value;
};

static void put_numbers(struct drawing *d, const struct named *number, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text_append(d->script, "%s = %.9g\n", number[i].name, number[i].value);
}

/* Where the rows of fused schedules lie. */
static void put_rows(struct drawing *d)
{
    const struct named number[] = {{"buffer_low", BUFFER_LOW}, {"buffer_high", BUFFER_HIGH},
                                   {"core_low", CORE_LOW},     {"core_high", CORE_HIGH},
                                   {"dram_low", DRAM_LOW},     {"dram_high", DRAM_HIGH},
                                   {"tiling_low", TILING_LOW}, {"tiling_high", TILING_HIGH},
                                   {"cut_low", CUT_LOW},       {"cut_high", CUT_HIGH}};
    size_t most = 0;
    put_numbers(d, number, sizeof number / sizeof number[0]);
    for (size_t p = 0; p < d->n; p++)
        most = d->timeline[p].n_group > most ? d->timeline[p].n_group : most;
    text_append(d->script, "dse_line_width = %g\n", most > 24 ? 0.5 : 1);
}

/* The canvas, and the time axis: points to time. */
static void put_axes(struct drawing *d)
{
    const struct named number[] = {{"dse_left", margin_left},    {"dse_right", margin_right},
                                   {"dse_top", margin_top},      {"dse_bottom", margin_bottom},
                                   {"dse_plot_width", d->width}, {"dse_plot_height", d->height}};
    char unit[32], thousands[32], title[160];
    double hz = d->timeline[0].clock_hz, seconds = d->high / hz, factor;
    plot_scale(&seconds, 1, "s", &factor, unit, sizeof unit);
    put_numbers(d, number, sizeof number / sizeof number[0]);
    text_append(d->script, "dse_low = %.17g\ndse_high = %.17g\n", d->low / hz * factor,
                d->high / hz * factor);
    double cycle = round(hz / factor);
    snprintf(title, sizeof title, "Time (%s; %s cycle%s each)", unit,
             text_thousands((uint64_t)(cycle < 1e18 ? cycle : 0), thousands, sizeof thousands),
             cycle == 1 ? "" : "s");
    gnuplot_set_text(d->script, "dse_x_title", title);
    text_append(d->script, "dse_n_panel = %zu\n", d->n);
}

static enum dse_status prepare(struct drawing *d, struct dse_error *err)
{
    double end = 0;
    if (d->n == 0 || d->n > PLOT_TIMELINE_MAX)
        return dse_fail(err, DSE_BAD_USAGE, "one to %d schedules fit into a figure, not %zu",
                        PLOT_TIMELINE_MAX, d->n);
    for (size_t i = 0; i < d->n; i++) {
        end = (double)d->timeline[i].cycle > end ? (double)d->timeline[i].cycle : end;
        if (d->timeline[i].kind != d->timeline[0].kind)
            return dse_fail(err, DSE_BAD_USAGE,
                            "schedules of uops and fused ones are not drawn in one figure");
        if (d->timeline[i].clock_hz != d->timeline[0].clock_hz)
            return dse_fail(err, DSE_BAD_USAGE, "schedules of one figure have one clock frequency");
    }
    d->low = (double)d->options->from;
    d->high = d->options->to > 0 ? (double)d->options->to : end * 1.005;
    if (!(d->high > d->low) || d->low >= end)
        return dse_fail(err, DSE_BAD_USAGE, "there is nothing to draw between cycle %" PRId64 " and %.0f",
                        d->options->from, d->options->to > 0 && d->high < end ? d->high : end);
    d->gap = panel_gap;
    d->width = canvas_width - margin_left - margin_right;
    d->height = d->timeline[0].kind == TIMELINE_UOPS
                    ? plot_cores_height(d)
                    : (double)d->n * CUT_HIGH + (double)(d->n - 1) * panel_gap;
    d->top_byte = top_byte_of(d->timeline, d->n);
    return DSE_OK;
}

enum dse_status plot_timelines(const struct timeline *timeline, size_t n, const char *figure_path,
                               const struct plot_timeline_options *options, struct dse_error *err)
{
    struct text_buffer script;
    struct drawing d = {.timeline = timeline, .n = n, .options = options, .script = &script};
    DSE_TRY(gnuplot_check_path(figure_path, err));
    DSE_TRY(prepare(&d, err));
    text_init(&script);
    text_init(&d.word);
    text_init(&d.word_up);
    text_init(&d.head);
    gnuplot_terminal(&script, figure_path, canvas_width, d.height + margin_top + margin_bottom);
    put_axes(&d);
    put_heads(&d);
    const bool is_uops = d.timeline[0].kind == TIMELINE_UOPS;
    enum dse_status status = is_uops ? plot_cores_blocks(&d, err) : DSE_OK;
    if (!is_uops) {
        put_rows(&d);
        put_panels(&d);
        plot_timeline_blocks(&d);
    }
    if (status == DSE_OK)
        status = gnuplot_template(&script, is_uops ? "cores.gp" : "timeline.gp", options->template_dir, err);
    if (status == DSE_OK)
        status = gnuplot_run(&script, figure_path, options->keep_script, err);
    text_free(&script);
    text_free(&d.word);
    text_free(&d.word_up);
    text_free(&d.head);
    return status;
}
