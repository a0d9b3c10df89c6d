#include "results/plot_timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/plot_data.h"
#include "results/plot_gnuplot.h"
#include "results/plot_kinds.h"
#include "results/plot_timeline_lane.h"

/* Of the figure, in points. Heights of a panel are from its foot upwards: buffer, core array, DRAM, tiling numbers, layer groups. */
static const double canvas_width = 800, margin_left = 82, margin_right = 20, margin_top = 44,
                    margin_bottom = 62, panel_gap = 36;
static const double buffer_low = 0, buffer_high = 76, core_low = 84, core_high = 138, dram_low = 145,
                    dram_high = 187, tiling_low = 192, tiling_high = 205, cut_low = 205, cut_high = 218;
static const double letter_width = 0.78;            /* of a font's size, on average (DejaVu Sans) */
static const double word_size = 5.5, head_size = 7; /* fonts of labels; as in timeline.gp */

enum { N_SHADE = 3, N_HUE = 6, WORD_MAX = 256 };
enum dram_look { LOOK_IFMAP, LOOK_WEIGHTS, LOOK_OFMAP };

/* A figure being made. */
struct drawing {
    const struct timeline *timeline; /* (n) */
    size_t n;
    const struct plot_timeline_options *options;
    double low, high; /* cycles */
    double width;     /* points, of the plotting area */
    double height;    /* points, likewise */
    double top_byte;  /* at the upper edge of the buffer row */
    double foot;      /* points, of the panel at hand */
    struct text_buffer *script;
    struct text_buffer word, word_up, head; /* labels, lines "x y word" */
};

static double x_of(const struct drawing *d, int64_t cycle)
{
    return ((double)cycle - d->low) / (d->high - d->low) * d->width;
}

/* "4.56 m" of 4.56e-3, for a unit to follow. */
static const char *si_text(double value, const char *unit, char *buffer, size_t size)
{
    char number[32], prefixed[32];
    double factor;
    plot_scale(&value, 1, unit, &factor, prefixed, sizeof prefixed);
    plot_print_value(value * factor, number, sizeof number);
    snprintf(buffer, size, "%s %s", number, prefixed);
    return buffer;
}

static const char *byte_text(double value, char *buffer, size_t size)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t i = 0;
    for (; value >= 1023.95 && i + 1 < sizeof unit / sizeof unit[0]; i++)
        value /= 1024;
    snprintf(buffer, size, i == 0 || fabs(value - round(value)) < 0.005 ? "%.0f %s" : "%.1f %s", value,
             unit[i]);
    return buffer;
}

/* ---- labels ---- */

static void put_label(struct text_buffer *out, double x, double y, const char *word)
{
    text_append(out, "%.3f %.3f \"", x, y);
    for (; *word; word++) {
        char c = *word == '"' || *word == '\\' || (unsigned char)*word < ' ' ? '\'' : *word;
        text_append_bytes(out, &c, 1);
    }
    text_append(out, "\"\n");
}

/* The part of a box that is seen. */
static void clip(const struct drawing *d, double *x0, double *x1)
{
    *x0 = *x0 < 0 ? 0 : *x0;
    *x1 = *x1 > d->width ? d->width : *x1;
}

static double width_of(const char *word, double size)
{
    return letter_width * size * (double)plot_letters(word) + 1.5;
}

/* A word in the middle of a box of a row, lying or standing, when there is room. */
static void label_box(struct drawing *d, double x0, double x1, double y0, double y1, const char *word)
{
    double need = width_of(word, word_size), y = d->foot + (y0 + y1) / 2;
    clip(d, &x0, &x1);
    if (x1 - x0 >= need)
        put_label(&d->word, (x0 + x1) / 2, y, word);
    else if (x1 - x0 >= word_size + 1.5 && y1 - y0 >= need)
        put_label(&d->word_up, (x0 + x1) / 2, y, word);
}

/* The first of some words for which there is room above the rows. */
static void label_head(struct drawing *d, double x0, double x1, double y0, double y1, const char *const *word,
                       size_t n)
{
    clip(d, &x0, &x1);
    for (size_t i = 0; i < n; i++)
        if (x1 - x0 >= width_of(word[i], head_size)) {
            put_label(&d->head, (x0 + x1) / 2, d->foot + (y0 + y1) / 2, word[i]);
            return;
        }
}

/* ---- rows ---- */

static enum dram_look look_of(const struct timeline_transfer *transfer)
{
    return transfer->kind[0] == 'i' ? LOOK_IFMAP : transfer->kind[0] == 'w' ? LOOK_WEIGHTS : LOOK_OFMAP;
}

static void put_transfers(struct drawing *d, const struct timeline *t)
{
    struct lane lane;
    lane_begin(&lane, d->width, d->foot + dram_low, d->foot + dram_high, d->script);
    for (size_t i = 0; i < t->n_transfer; i++) {
        const struct timeline_transfer *r = &t->transfer[i];
        double x0 = x_of(d, r->start), x1 = x_of(d, r->finish);
        lane_add(&lane, x0, x1, look_of(r));
        label_box(d, x0, x1, dram_low, dram_high, r->layer);
    }
    lane_end(&lane);
}

/* The hue says the group; the shade tells its layers apart, counted from its first tile. */
static void put_tiles(struct drawing *d, const struct timeline *t)
{
    struct lane lane;
    const char *of_group = NULL;
    int64_t group = -1;
    size_t shade = 0;
    lane_begin(&lane, d->width, d->foot + core_low, d->foot + core_high, d->script);
    for (size_t p = 0; p < t->n_tile; p++) {
        const struct timeline_tile *tile = &t->tile[p];
        if (tile->group != group) {
            group = tile->group;
            of_group = tile->layer;
            shade = 0;
        } else {
            shade = strcmp(tile->layer, of_group) == 0 ? 0 : (shade + 1) % N_SHADE;
        }
        double x0 = x_of(d, tile->start), x1 = x_of(d, tile->finish);
        lane_add(&lane, x0, x1, (size_t)(group % N_HUE) * N_SHADE + shade);
        label_box(d, x0, x1, core_low, core_high, tile->layer);
    }
    lane_end(&lane);
}

static void put_stalls(struct drawing *d, const struct timeline *t)
{
    struct lane lane;
    lane_begin(&lane, d->width, d->foot + core_low, d->foot + core_high, d->script);
    for (size_t p = 0; p < t->n_tile; p++)
        lane_add(&lane, x_of(d, t->tile[p].start - t->tile[p].stall), x_of(d, t->tile[p].start), 0);
    lane_end(&lane);
}

static int64_t step_sum(const struct timeline_step *step)
{
    return step->weight_byte + step->ifmap_byte + step->ofmap_byte + step->local_byte;
}

/* The heights of the four kinds, one on the other, from x0 to x1. */
static void put_heights(const struct drawing *d, double x0, double x1, const struct timeline_step *step)
{
    const double y1 = (double)step->weight_byte, y2 = y1 + (double)step->ifmap_byte,
                 y3 = y2 + (double)step->ofmap_byte, y4 = y3 + (double)step->local_byte;
    double k = (buffer_high - buffer_low) / d->top_byte;
    for (int end = 0; end < 2; end++)
        text_append(d->script, "%.3f %.3f %.3f %.3f %.3f %.3f\n", end ? x1 : x0, d->foot, d->foot + k * y1,
                    d->foot + k * y2, d->foot + k * y3, d->foot + k * y4);
}

/* Of the steps within a pixel the fullest is shown. */
static void put_buffer(struct drawing *d, const struct timeline *t)
{
    const double pixel = 0.36;
    const struct timeline_step *full = NULL;
    double from = 0;
    for (size_t p = 0; p < t->n_tile; p++) {
        double x0 = x_of(d, t->step[p].start), x1 = x_of(d, t->step[p].finish);
        clip(d, &x0, &x1);
        if (x1 <= x0)
            continue;
        from = full ? from : x0;
        full = !full || step_sum(&t->step[p]) > step_sum(full) ? &t->step[p] : full;
        if (x1 - from >= pixel) {
            put_heights(d, from, x1, full);
            full = NULL;
        }
    }
    if (full)
        put_heights(d, from, x_of(d, t->cycle) > d->width ? d->width : x_of(d, t->cycle), full);
}

/* Lines between groups: "x y0 y1 strong"; words above them. */
static void put_groups(struct drawing *d, const struct timeline *t)
{
    char word[WORD_MAX];
    for (size_t g = 0; g < t->n_group; g++) {
        const struct timeline_group *group = &t->group[g];
        double x0 = x_of(d, group->start), x1 = x_of(d, group->finish);
        if (x0 >= 0 && x0 <= d->width)
            text_append(d->script, "%.3f %.3f %.3f %d\n", x0, d->foot + buffer_low,
                        d->foot + (group->cut ? cut_high : tiling_high), group->cut != 0);
        snprintf(word, sizeof word, "%" PRId64, group->tiling);
        const char *const words[] = {word};
        label_head(d, x0, x1, tiling_low, tiling_high, words, 1);
    }
    double end = x_of(d, t->cycle);
    if (end <= d->width)
        text_append(d->script, "%.3f %.3f %.3f 2\n", end, d->foot + buffer_low, d->foot + cut_high);
}

/* A layer group's name and layers, as many words as fit. */
static void label_layer_group(struct drawing *d, const struct timeline *t, size_t first, size_t past)
{
    char few[32], many[WORD_MAX];
    const char *from = t->group[first].layers, *to = strrchr(t->group[past - 1].layers, ' ');
    double x0 = x_of(d, t->group[first].start), x1 = x_of(d, t->group[past - 1].finish);
    to = to ? to + 1 : t->group[past - 1].layers;
    snprintf(few, sizeof few, "LG %" PRId64, t->group[first].layer_group + 1);
    int from_length = (int)strcspn(from, " ");
    if (from_length == (int)strlen(to) && strncmp(from, to, (size_t)from_length) == 0)
        snprintf(many, sizeof many, "%s: %.100s", few, to);
    else
        snprintf(many, sizeof many, "%s: %.*s to %.100s", few, from_length < 100 ? from_length : 100, from,
                 to);
    const char *const word[] = {many, few, few + 3};
    label_head(d, x0, x1, cut_low, cut_high, word, 3);
}

static void label_layer_groups(struct drawing *d, const struct timeline *t)
{
    for (size_t g = 0; g < t->n_group;) {
        size_t past = g + 1;
        while (past < t->n_group && t->group[past].layer_group == t->group[g].layer_group)
            past++;
        label_layer_group(d, t, g, past);
        g = past;
    }
}

/* ---- the script ---- */

static double foot_of(const struct drawing *d, size_t panel)
{
    return (double)(d->n - 1 - panel) * (cut_high + panel_gap);
}

/* Data that gnuplot reads; a block has a line that draws nothing, since none may be empty. */
struct block {
    const char *name, *nothing;
    void (*put)(struct drawing *d, const struct timeline *t);
};

static void put_labels(struct text_buffer *script, const char *name, const struct text_buffer *line)
{
    text_append(script, "$%s << EOD\nNaN NaN \"\"\n%sEOD\n", name, line->data ? line->data : "");
    if (line->failed)
        script->failed = 1;
}

static void put_blocks(struct drawing *d)
{
    static const struct block block[] = {{"dram", "NaN NaN NaN NaN NaN", put_transfers},
                                         {"core", "NaN NaN NaN NaN NaN", put_tiles},
                                         {"stall", "NaN NaN NaN NaN NaN", put_stalls},
                                         {"buffer", "NaN NaN NaN NaN NaN NaN", put_buffer},
                                         {"line", "NaN NaN NaN NaN", put_groups}};
    for (size_t b = 0; b < sizeof block / sizeof block[0]; b++) {
        text_append(d->script, "$%s << EOD\n%s\n", block[b].name, block[b].nothing);
        for (size_t p = 0; p < d->n; p++) {
            d->foot = foot_of(d, p);
            block[b].put(d, &d->timeline[p]);
            text_append(d->script, "\n"); /* ends a curve */
        }
        text_append(d->script, "EOD\n");
    }
    for (size_t p = 0; p < d->n; p++) {
        d->foot = foot_of(d, p);
        label_layer_groups(d, &d->timeline[p]);
    }
    put_labels(d->script, "word", &d->word);
    put_labels(d->script, "word_up", &d->word_up);
    put_labels(d->script, "head", &d->head);
}

static bool same_head(const struct timeline *a, const struct timeline *b)
{
    return strcmp(a->network, b->network) == 0 && strcmp(a->architecture, b->architecture) == 0 &&
           strcmp(a->rules, b->rules) == 0 && a->batch == b->batch;
}

static void head_text(const struct timeline *t, char *buffer, size_t size)
{
    snprintf(buffer, size, "%.80s, batch %" PRId64 ", on %.80s%s", t->network, t->batch, t->architecture,
             strcmp(t->rules, "compat") == 0 ? " (compat)" : "");
}

/* "resnet50_fused: 1.90 ms, 2.82 mJ; core array busy 29.5 %, DRAM 84.9 %; ..." */
static void panel_text(const struct timeline *t, bool with_head, char *buffer, size_t size)
{
    char time[64], energy[64], average[32], most[32], room[32], head[WORD_MAX] = "";
    double cycle = t->cycle > 0 ? (double)t->cycle : 1;
    if (with_head)
        head_text(t, head, sizeof head);
    snprintf(
        buffer, size,
        "%.80s%s%s: %s, %s; core array busy %.1f %%, DRAM %.1f %%; buffer %s on average, %s at most, of %s",
        t->title, head[0] ? ", " : "", head, si_text((double)t->cycle / t->clock_hz, "s", time, sizeof time),
        si_text(t->energy_j, "J", energy, sizeof energy), 100 * (double)t->compute_cycle / cycle,
        100 * (double)t->dram_cycle / cycle, byte_text(t->buffer_average_byte, average, sizeof average),
        byte_text((double)t->buffer_max_byte, most, sizeof most),
        byte_text((double)t->buffer_byte, room, sizeof room));
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

static void put_panels(struct drawing *d)
{
    char word[4 * WORD_MAX], byte[32];
    double tick = tick_byte(d->top_byte), k = (buffer_high - buffer_low) / d->top_byte;
    bool same = true;
    text_append(d->script, "array panel_foot[%zu]\narray panel_capacity[%zu]\narray panel_title[%zu]\n", d->n,
                d->n, d->n);
    for (size_t p = 1; p < d->n; p++)
        same = same && same_head(&d->timeline[0], &d->timeline[p]);
    for (size_t p = 0; p < d->n; p++) {
        const struct timeline *t = &d->timeline[p];
        double foot = foot_of(d, p), capacity = (double)t->buffer_byte;
        text_append(d->script, "panel_foot[%zu] = %.3f\n", p + 1, foot);
        if (capacity <= d->top_byte * (1 + 1e-9))
            text_append(d->script, "panel_capacity[%zu] = %.3f\n", p + 1, foot + k * capacity);
        else
            text_append(d->script, "panel_capacity[%zu] = NaN\n", p + 1);
        panel_text(t, !same, word, sizeof word);
        text_append(d->script, "panel_title[%zu] = ", p + 1);
        gnuplot_quote(d->script, word);
        text_append(d->script, "\n");
    }
    text_append(d->script, "dse_y_ticks = \"set ytics nomirror scale 0.3 font ',7' (");
    for (size_t p = 0; p < d->n; p++)
        for (double at = 0; at <= d->top_byte * (1 + 1e-9); at += tick)
            text_append(d->script, "%s'%s' %.3f", p > 0 || at > 0 ? ", " : "",
                        at > 0 ? byte_text(at, byte, sizeof byte) : "0", foot_of(d, p) + k * at);
    text_append(d->script, ")\"\n");
    if (same)
        head_text(&d->timeline[0], word, sizeof word);
    else
        text_copy(word, sizeof word, "Execution graphs");
    gnuplot_set_text(d->script, "dse_title", d->options->title ? d->options->title : word);
}

/* Where rows lie, and the time axis: points to time. */
static void put_axes(struct drawing *d)
{
    const struct {
        const char *name;
        double value;
    } number[] = {{"buffer_low", buffer_low},    {"buffer_high", buffer_high},  {"core_low", core_low},
                  {"core_high", core_high},      {"dram_low", dram_low},        {"dram_high", dram_high},
                  {"tiling_low", tiling_low},    {"tiling_high", tiling_high},  {"cut_low", cut_low},
                  {"cut_high", cut_high},        {"dse_left", margin_left},     {"dse_right", margin_right},
                  {"dse_top", margin_top},       {"dse_bottom", margin_bottom}, {"dse_plot_width", d->width},
                  {"dse_plot_height", d->height}};
    char unit[32], thousands[32], title[160];
    double hz = d->timeline[0].clock_hz, seconds = d->high / hz, factor;
    plot_scale(&seconds, 1, "s", &factor, unit, sizeof unit);
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
        text_append(d->script, "%s = %.9g\n", number[i].name, number[i].value);
    text_append(d->script, "dse_low = %.17g\ndse_high = %.17g\n", d->low / hz * factor,
                d->high / hz * factor);
    double cycle = round(hz / factor);
    snprintf(title, sizeof title, "Time (%s; %s cycle%s each)", unit,
             text_thousands((uint64_t)(cycle < 1e18 ? cycle : 0), thousands, sizeof thousands),
             cycle == 1 ? "" : "s");
    gnuplot_set_text(d->script, "dse_x_title", title);
    size_t most = 0;
    for (size_t p = 0; p < d->n; p++)
        most = d->timeline[p].n_group > most ? d->timeline[p].n_group : most;
    text_append(d->script, "dse_n_panel = %zu\ndse_line_width = %g\n", d->n, most > 24 ? 0.5 : 1);
}

static enum dse_status prepare(struct drawing *d, struct dse_error *err)
{
    double end = 0;
    if (d->n == 0 || d->n > PLOT_TIMELINE_MAX)
        return dse_fail(err, DSE_BAD_USAGE, "one to %d schedules fit into a figure, not %zu",
                        PLOT_TIMELINE_MAX, d->n);
    for (size_t i = 0; i < d->n; i++) {
        end = (double)d->timeline[i].cycle > end ? (double)d->timeline[i].cycle : end;
        if (d->timeline[i].clock_hz != d->timeline[0].clock_hz)
            return dse_fail(err, DSE_BAD_USAGE, "schedules of one figure have one clock frequency");
    }
    d->low = (double)d->options->from;
    d->high = d->options->to > 0 ? (double)d->options->to : end * 1.005;
    if (!(d->high > d->low) || d->low >= end)
        return dse_fail(err, DSE_BAD_USAGE, "there is nothing to draw between cycle %" PRId64 " and %.0f",
                        d->options->from, d->options->to > 0 && d->high < end ? d->high : end);
    d->width = canvas_width - margin_left - margin_right;
    d->height = (double)d->n * cut_high + (double)(d->n - 1) * panel_gap;
    d->top_byte = top_byte_of(d->timeline, d->n);
    return DSE_OK;
}

enum dse_status plot_timelines(const struct timeline *timeline, size_t n, const char *figure_path,
                               const struct plot_timeline_options *options, struct dse_error *err)
{
    struct text_buffer script;
    struct drawing d = {.timeline = timeline, .n = n, .options = options, .script = &script};
    DSE_TRY(gnuplot_check_ending(figure_path, err));
    DSE_TRY(prepare(&d, err));
    text_init(&script);
    text_init(&d.word);
    text_init(&d.word_up);
    text_init(&d.head);
    text_append(&script, "# Made by dse plot. Draw it again with: gnuplot THIS-FILE\n");
    gnuplot_terminal(&script, figure_path, canvas_width, d.height + margin_top + margin_bottom);
    put_axes(&d);
    put_panels(&d);
    put_blocks(&d);
    enum dse_status status = gnuplot_template(&script, "timeline.gp", options->template_dir, err);
    if (status == DSE_OK)
        status = gnuplot_run(&script, figure_path, options->keep_script, err);
    text_free(&script);
    text_free(&d.word);
    text_free(&d.word_up);
    text_free(&d.head);
    return status;
}
