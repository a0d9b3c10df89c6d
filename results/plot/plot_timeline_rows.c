/* Transfers, tiles, stalls, buffer and groups of fused schedules, with labels where there is room for them.
 * */
#include "results/plot/plot_timeline_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "results/plot/plot_timeline_boxes.h"

enum { N_SHADE = 3, N_HUE = 6, WORD_MAX = 256 };
enum dram_look { LOOK_IFMAP, LOOK_WEIGHTS, LOOK_OFMAP };

/* ---- rows ---- */

static enum dram_look look_of(const struct timeline_transfer *transfer)
{
    return transfer->kind[0] == 'i' ? LOOK_IFMAP : transfer->kind[0] == 'w' ? LOOK_WEIGHTS : LOOK_OFMAP;
}

static void put_transfers(struct drawing *d, const struct timeline *t)
{
    struct plot_lane lane;
    plot_lane_begin(&lane, d->width, d->foot + DRAM_LOW, d->foot + DRAM_HIGH, d->script);
    for (size_t i = 0; i < t->n_transfer; i++) {
        const struct timeline_transfer *r = &t->transfer[i];
        double x0 = plot_x_of(d, r->start), x1 = plot_x_of(d, r->finish);
        plot_lane_add(&lane, x0, x1, look_of(r));
        plot_label_box(d, x0, x1, DRAM_LOW, DRAM_HIGH, r->layer);
    }
    plot_lane_flush(&lane);
}

/* The hue says the group; the shade tells its layers apart, counted from its first tile. */
static void put_tiles(struct drawing *d, const struct timeline *t)
{
    struct plot_lane lane;
    const char *of_group = NULL;
    int64_t group = -1;
    size_t shade = 0;
    plot_lane_begin(&lane, d->width, d->foot + CORE_LOW, d->foot + CORE_HIGH, d->script);
    for (size_t p = 0; p < t->n_tile; p++) {
        const struct timeline_tile *tile = &t->tile[p];
        if (tile->group != group) {
            group = tile->group;
            of_group = tile->layer;
            shade = 0;
        } else {
            shade = strcmp(tile->layer, of_group) == 0 ? 0 : (shade + 1) % N_SHADE;
        }
        double x0 = plot_x_of(d, tile->start), x1 = plot_x_of(d, tile->finish);
        plot_lane_add(&lane, x0, x1, (size_t)(group % N_HUE) * N_SHADE + shade);
        plot_label_box(d, x0, x1, CORE_LOW, CORE_HIGH, tile->layer);
    }
    plot_lane_flush(&lane);
}

static void put_stalls(struct drawing *d, const struct timeline *t)
{
    struct plot_lane lane;
    plot_lane_begin(&lane, d->width, d->foot + CORE_LOW, d->foot + CORE_HIGH, d->script);
    for (size_t p = 0; p < t->n_tile; p++)
        plot_lane_add(&lane, plot_x_of(d, t->tile[p].start - t->tile[p].stall),
                      plot_x_of(d, t->tile[p].start), 0);
    plot_lane_flush(&lane);
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
    double k = (BUFFER_HIGH - BUFFER_LOW) / d->top_byte;
    for (int end = 0; end < 2; end++)
        text_append(d->script, "%.3f %.3f %.3f %.3f %.3f %.3f\n", end ? x1 : x0, d->foot, d->foot + k * y1,
                    d->foot + k * y2, d->foot + k * y3, d->foot + k * y4);
}

/* Of the steps within a pixel the fullest is shown. */
static void put_buffer(struct drawing *d, const struct timeline *t)
{
    const struct timeline_step *full = NULL;
    double from = 0;
    for (size_t p = 0; p < t->n_tile; p++) {
        double x0 = plot_x_of(d, t->step[p].start), x1 = plot_x_of(d, t->step[p].finish);
        plot_clip(d, &x0, &x1);
        if (x1 <= x0)
            continue;
        from = full ? from : x0;
        full = !full || step_sum(&t->step[p]) > step_sum(full) ? &t->step[p] : full;
        if (x1 - from >= PLOT_PIXEL_PT) {
            put_heights(d, from, x1, full);
            full = NULL;
        }
    }
    if (full)
        put_heights(d, from, plot_x_of(d, t->cycle) > d->width ? d->width : plot_x_of(d, t->cycle), full);
}

/* Lines between groups: "x y0 y1 strong"; words above them. */
static void put_groups(struct drawing *d, const struct timeline *t)
{
    char word[WORD_MAX];
    for (size_t g = 0; g < t->n_group; g++) {
        const struct timeline_group *group = &t->group[g];
        double x0 = plot_x_of(d, group->start), x1 = plot_x_of(d, group->finish);
        if (x0 >= 0 && x0 <= d->width)
            text_append(d->script, "%.3f %.3f %.3f %d\n", x0, d->foot + BUFFER_LOW,
                        d->foot + (group->cut ? CUT_HIGH : TILING_HIGH), group->cut != 0);
        snprintf(word, sizeof word, "%" PRId64, group->tiling);
        const char *const words[] = {word};
        plot_label_head(d, x0, x1, TILING_LOW, TILING_HIGH, words, 1);
    }
    double end = plot_x_of(d, t->cycle);
    if (end <= d->width)
        text_append(d->script, "%.3f %.3f %.3f 2\n", end, d->foot + BUFFER_LOW, d->foot + CUT_HIGH);
}

/* A layer group's name and layers, as many words as fit. */
static void label_layer_group(struct drawing *d, const struct timeline *t, size_t first, size_t past)
{
    char few[32], many[WORD_MAX];
    const char *from = t->group[first].layers, *to = strrchr(t->group[past - 1].layers, ' ');
    double x0 = plot_x_of(d, t->group[first].start), x1 = plot_x_of(d, t->group[past - 1].finish);
    to = to ? to + 1 : t->group[past - 1].layers;
    snprintf(few, sizeof few, "LG %" PRId64, t->group[first].layer_group + 1);
    int from_length = (int)strcspn(from, " ");
    if (from_length == (int)strlen(to) && strncmp(from, to, (size_t)from_length) == 0)
        snprintf(many, sizeof many, "%s: %.100s", few, to);
    else
        snprintf(many, sizeof many, "%s: %.*s to %.100s", few, from_length < 100 ? from_length : 100, from,
                 to);
    const char *const word[] = {many, few, few + 3};
    plot_label_head(d, x0, x1, CUT_LOW, CUT_HIGH, word, 3);
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

/* ---- blocks ---- */

double plot_timeline_foot(const struct drawing *d, size_t panel)
{
    return (double)(d->n - 1 - panel) * (CUT_HIGH + d->gap);
}

/* Data that gnuplot reads; a block has a line that draws nothing, since none may be empty. */
struct block {
    const char *name, *nothing;
    void (*put)(struct drawing *d, const struct timeline *t);
};

void plot_timeline_blocks(struct drawing *d)
{
    static const struct block block[] = {{"dram", "NaN NaN NaN NaN NaN", put_transfers},
                                         {"core", "NaN NaN NaN NaN NaN", put_tiles},
                                         {"stall", "NaN NaN NaN NaN NaN", put_stalls},
                                         {"buffer", "NaN NaN NaN NaN NaN NaN", put_buffer},
                                         {"line", "NaN NaN NaN NaN", put_groups}};
    for (size_t b = 0; b < sizeof block / sizeof block[0]; b++) {
        text_append(d->script, "$%s << EOD\n%s\n", block[b].name, block[b].nothing);
        for (size_t p = 0; p < d->n; p++) {
            d->foot = plot_timeline_foot(d, p);
            block[b].put(d, &d->timeline[p]);
            text_append(d->script, "\n"); /* ends a curve */
        }
        text_append(d->script, "EOD\n");
    }
    for (size_t p = 0; p < d->n; p++) {
        d->foot = plot_timeline_foot(d, p);
        label_layer_groups(d, &d->timeline[p]);
    }
    plot_put_words(d->script, "word", &d->word);
    plot_put_words(d->script, "word_up", &d->word_up);
    plot_put_words(d->script, "head", &d->head);
}
