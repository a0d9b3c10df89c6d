/* Boxes wait until they are as wide as a pixel together; then one is written with the look of most of them.
 * */
#include "results/plot/plot_timeline_boxes.h"

#include <string.h>

static const double letter_width = 0.78;            /* of a font's size, on average (DejaVu Sans) */
static const double word_size = 5.5, head_size = 7; /* fonts of labels; as in the templates */

double plot_x_of(const struct drawing *d, int64_t cycle)
{
    return ((double)cycle - d->low) / (d->high - d->low) * d->width;
}

/* ---- boxes ---- */

void plot_lane_begin(struct plot_lane *lane, double high, double y0, double y1, struct text_buffer *out)
{
    memset(lane, 0, sizeof *lane);
    lane->out = out;
    lane->high = high;
    lane->y0 = y0;
    lane->y1 = y1;
}

static void put_box(struct plot_lane *lane, double x0, double x1, size_t look)
{
    text_append(lane->out, "%.3f %.3f %.3f %.3f %zu\n", x0, x1, lane->y0, lane->y1, look);
}

/* The narrow ones become one box, as wide as they are together, with the look of most of them. */
void plot_lane_flush(struct plot_lane *lane)
{
    double sum = 0;
    size_t most = 0;
    for (size_t i = 0; i < PLOT_LANE_LOOK_MAX; i++) {
        sum += lane->share[i];
        if (lane->share[i] > lane->share[most])
            most = i;
    }
    if (sum > 0)
        put_box(lane, lane->from, lane->from + sum, most);
    memset(lane->share, 0, sizeof lane->share);
}

/* Add a box behind all before it. `look` is below PLOT_LANE_LOOK_MAX. */
void plot_lane_add(struct plot_lane *lane, double x0, double x1, size_t look)
{
    x0 = x0 < 0 ? 0 : x0;
    x1 = x1 > lane->high ? lane->high : x1;
    if (x1 <= x0 || look >= PLOT_LANE_LOOK_MAX)
        return;
    if (x1 - x0 >= PLOT_PIXEL_PT) {
        plot_lane_flush(lane);
        put_box(lane, x0, x1, look);
        lane->from = x1;
        return;
    }
    if (x1 - lane->from > PLOT_PIXEL_PT) { /* which is so for the first one, too, wherever it lies */
        plot_lane_flush(lane);
        lane->from = x0;
    }
    lane->share[look] += x1 - x0;
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
void plot_clip(const struct drawing *d, double *x0, double *x1)
{
    *x0 = *x0 < 0 ? 0 : *x0;
    *x1 = *x1 > d->width ? d->width : *x1;
}

static double width_of(const char *word, double size)
{
    return letter_width * size * (double)text_letters(word) + 1.5;
}

bool plot_label_fits(double x0, double x1, const char *word)
{
    return x1 - x0 >= width_of(word, word_size);
}

/* A word in the middle of a box of a row, lying or standing, when there is room. */
void plot_label_box(struct drawing *d, double x0, double x1, double y0, double y1, const char *word)
{
    double need = width_of(word, word_size), y = d->foot + (y0 + y1) / 2;
    plot_clip(d, &x0, &x1);
    if (x1 - x0 >= need)
        put_label(&d->word, (x0 + x1) / 2, y, word);
    else if (x1 - x0 >= word_size + 1.5 && y1 - y0 >= need)
        put_label(&d->word_up, (x0 + x1) / 2, y, word);
}

/* The first of some words for which there is room above the rows. */
void plot_label_head(struct drawing *d, double x0, double x1, double y0, double y1, const char *const *word,
                     size_t n)
{
    plot_clip(d, &x0, &x1);
    for (size_t i = 0; i < n; i++)
        if (x1 - x0 >= width_of(word[i], head_size)) {
            put_label(&d->head, (x0 + x1) / 2, d->foot + (y0 + y1) / 2, word[i]);
            return;
        }
}

void plot_put_words(struct text_buffer *script, const char *name, const struct text_buffer *line)
{
    text_append(script, "$%s << EOD\nNaN NaN \"\"\n%sEOD\n", name, line->data ? line->data : "");
    if (line->failed)
        script->failed = 1;
}
