/* A lane for each accelerator: its uops in the colour of their layer, and the name of the layer, or of the
 * uop, where there is room. */
#include "results/plot/plot_timeline_cores.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/plot/plot_data.h"
#include "results/plot/plot_timeline_boxes.h"

enum { N_SHADE = 3, N_HUE = 6 };

static const double lanes_high = 320, lane_least = 1, lane_most = 15; /* of a panel; of a lane */
static const double name_high = 8, round_wide = 8; /* least room of a lane's name, and between rounds */
static const double idle_least = 2;                /* what is shorter parts no uops */

static int64_t most_cores(const struct drawing *d)
{
    int64_t most = 1;
    for (size_t p = 0; p < d->n; p++)
        most = d->timeline[p].n_core > most ? d->timeline[p].n_core : most;
    return most;
}

static double lane_high(const struct drawing *d)
{
    const double lane = lanes_high / (double)most_cores(d);
    return lane > lane_most ? lane_most : lane < lane_least ? lane_least : lane;
}

static double panel_high(const struct drawing *d, size_t p)
{
    return lane_high(d) * (double)d->timeline[p].n_core;
}

double plot_cores_height(const struct drawing *d)
{
    double high = (double)(d->n - 1) * d->gap;
    for (size_t p = 0; p < d->n; p++)
        high += panel_high(d, p);
    return high;
}

static double panel_foot(const struct drawing *d, size_t panel)
{
    double foot = 0;
    for (size_t p = panel + 1; p < d->n; p++)
        foot += panel_high(d, p) + d->gap;
    return foot;
}

void plot_cores_note(const struct timeline *t, char *buffer, size_t size)
{
    char time[64], energy[64], cycles[32];
    const double all = (double)t->cycle * (double)t->n_core;
    snprintf(buffer, size,
             "%s, %s cycles, %s; %zu uops fill %.1f %% of the time of %" PRId64 " accelerators; %s",
             plot_si_text((double)t->cycle / t->clock_hz, "s", time, sizeof time),
             text_thousands((uint64_t)t->cycle, cycles, sizeof cycles),
             plot_si_text(t->energy_j, "J", energy, sizeof energy), t->n_uop,
             all > 0 ? 100 * (double)t->work_cycle / all : 0, t->n_core, t->rules);
}

/* Names of lanes, from the uppermost on, as many as there is room for. */
static void put_lane_names(struct drawing *d)
{
    const double lane = lane_high(d);
    const int64_t step = lane >= name_high ? 1 : (int64_t)(name_high / lane) + 1;
    bool first = true;
    text_append(d->script, "dse_y_ticks = \"set ytics nomirror scale 0 font ',7' (");
    for (size_t p = 0; p < d->n; p++)
        for (int64_t c = 0; c < d->timeline[p].n_core; c += step) {
            text_append(d->script, "%s'%" PRId64 "' %.3f", first ? "" : ", ", c,
                        panel_foot(d, p) + panel_high(d, p) - lane * ((double)c + 0.5));
            first = false;
        }
    text_append(d->script, ")\"\n");
}

/* Of neighbouring layers hues differ. */
static size_t look_of(const struct timeline_uop *uop)
{
    return (size_t)(uop->layer_number % N_HUE) * N_SHADE + (size_t)(uop->layer_number / N_HUE % N_SHADE);
}

/* Uops `first` to `past` - 1 of a core, one behind the other, are of one layer: each is named where all
 * have room, else all together. */
static void label_run(struct drawing *d, const struct timeline_uop *first, const struct timeline_uop *past,
                      double y0, double y1)
{
    bool fits = true;
    for (const struct timeline_uop *u = first; u < past; u++)
        fits = fits && plot_label_fits(plot_x_of(d, u->start), plot_x_of(d, u->finish), u->uop);
    for (const struct timeline_uop *u = first; fits && u < past; u++)
        plot_label_box(d, plot_x_of(d, u->start), plot_x_of(d, u->finish), y0, y1, u->uop);
    if (!fits)
        plot_label_box(d, plot_x_of(d, first->start), plot_x_of(d, past[-1].finish), y0, y1, first->layer);
}

static void put_core(struct drawing *d, const struct timeline_uop *first, const struct timeline_uop *past,
                     double y0, double y1)
{
    struct plot_lane lane;
    plot_lane_begin(&lane, d->width, d->foot + y0, d->foot + y1, d->script);
    for (const struct timeline_uop *u = first, *run = first; u < past; u++) {
        plot_lane_add(&lane, plot_x_of(d, u->start), plot_x_of(d, u->finish), look_of(u));
        const bool goes_on = u + 1 < past && u[1].layer_number == run->layer_number &&
                             plot_x_of(d, u[1].start) - plot_x_of(d, u->finish) < idle_least;
        if (goes_on)
            continue;
        label_run(d, run, u + 1, y0, y1);
        run = u + 1;
    }
    plot_lane_flush(&lane);
}

static void put_cores(struct drawing *d, size_t p)
{
    const struct timeline *t = &d->timeline[p];
    const double lane = lane_high(d), margin = lane > 4 ? 0.06 * lane : 0;
    for (size_t i = 0, past; i < t->n_uop; i = past) {
        const double top = panel_high(d, p) - lane * (double)t->uop[i].core;
        for (past = i; past < t->n_uop && t->uop[past].core == t->uop[i].core;)
            past++;
        put_core(d, &t->uop[i], &t->uop[past], top - lane + margin, top - margin);
    }
}

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* A line "x y0 y1 0" at the begin of each round, where there is room for so many. */
static enum dse_status put_rounds(struct drawing *d, size_t p, struct dse_error *err)
{
    const struct timeline *t = &d->timeline[p];
    size_t n = 0;
    if (!strstr(t->rules, "rounds"))
        return DSE_OK;
    int64_t *start = calloc(t->n_uop, sizeof *start);
    if (!start)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a figure");
    for (size_t i = 0; i < t->n_uop; i++)
        start[i] = t->uop[i].start;
    qsort(start, t->n_uop, sizeof *start, by_size);
    for (size_t i = 0; i < t->n_uop; i++)
        if (i == 0 || start[i] != start[n - 1])
            start[n++] = start[i];
    const double wide = plot_x_of(d, t->cycle) - plot_x_of(d, 0);
    for (size_t i = 1; wide >= round_wide * (double)n && i < n; i++)
        if (plot_x_of(d, start[i]) >= 0 && plot_x_of(d, start[i]) <= d->width)
            text_append(d->script, "%.3f %.3f %.3f 0\n", plot_x_of(d, start[i]), d->foot,
                        d->foot + panel_high(d, p));
    free(start);
    return DSE_OK;
}

enum dse_status plot_cores_blocks(struct drawing *d, struct dse_error *err)
{
    put_lane_names(d);
    text_append(d->script, "array panel_foot[%zu]\narray panel_high[%zu]\narray panel_end[%zu]\n", d->n, d->n,
                d->n);
    for (size_t p = 0; p < d->n; p++) {
        double from = 0, end = plot_x_of(d, d->timeline[p].cycle);
        plot_clip(d, &from, &end);
        text_append(d->script, "panel_foot[%zu] = %.3f\npanel_high[%zu] = %.3f\npanel_end[%zu] = %.3f\n",
                    p + 1, panel_foot(d, p), p + 1, panel_high(d, p), p + 1, end > 0 ? end : 0);
    }
    text_append(d->script, "$core << EOD\nNaN NaN NaN NaN NaN\n");
    for (size_t p = 0; p < d->n; p++) {
        d->foot = panel_foot(d, p);
        put_cores(d, p);
    }
    text_append(d->script, "EOD\n$line << EOD\nNaN NaN NaN NaN\n");
    for (size_t p = 0; p < d->n; p++) {
        const double end = plot_x_of(d, d->timeline[p].cycle);
        d->foot = panel_foot(d, p);
        DSE_TRY(put_rounds(d, p, err));
        if (end <= d->width)
            text_append(d->script, "%.3f %.3f %.3f 1\n", end, d->foot, d->foot + panel_high(d, p));
    }
    text_append(d->script, "EOD\n");
    plot_put_words(d->script, "word", &d->word);
    plot_put_words(d->script, "word_up", &d->word_up);
    return DSE_OK;
}
