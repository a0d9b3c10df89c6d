/* One cell per pair of axis values: range, colour scale and best points are worked out here,
 * plotting/heatmap.gp draws. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/plot/plot_colours.h"
#include "results/plot/plot_compare.h"
#include "results/plot/plot_gnuplot.h"
#include "results/plot/plot_kinds.h"

/* How a cell is drawn: the status column of the data block. */
enum cell_look { CELL_VALUE, CELL_INFEASIBLE, CELL_FAILED, CELL_MISSING, CELL_UNMATCHED, CELL_LOOKS };
enum { BOX_MAX = 10000 }; /* cells that are drawn one by one; more become an image */

/* Everything about one heatmap that is worked out before the script is written. */
struct heatmap {
    struct plot_compare compare;
    size_t n_x, n_y, n_panel;
    double factor; /* from SI to the shown unit */
    char unit[32];
    double low, high; /* of the shown values */
    bool log_scale;
    size_t *best;   /* (n_cell) the best cell of a group (plot_group), or SIZE_MAX */
    size_t n_group; /* with several there is no best of all */
    bool has_best;
    bool has_look[CELL_LOOKS];
    bool print_values;
    const char **x_label, **y_label;
    char x_title[128], y_title[128];
    char foot[600];
};

/* Too many panels: name the axes and what can be done. */
static enum dse_status too_many(const struct plot_data *data, size_t n_panel, size_t limit,
                                struct dse_error *err)
{
    struct text_buffer list;
    text_init(&list);
    for (size_t f = 0; f < data->n_facet; f++) {
        const struct result_axis *axis = &data->schema.axis[data->facet[f]];
        text_append(&list, "%s%s (%zu)", f ? ", " : "", axis->coordinate[0].name, axis->n_value);
    }
    enum dse_status status =
        dse_fail_at(err, DSE_BAD_USAGE, data->path, 0,
                    "%zu panels are more than %zu; fix one of %s at a value (where), or allow more panels",
                    n_panel, limit, list.data ? list.data : "the axes");
    text_free(&list);
    return status;
}

static enum cell_look look_of(const struct plot_data *data, const struct heatmap *map, size_t cell)
{
    if (!isnan(data->value[cell]))
        return CELL_VALUE;
    if (map->compare.unmatched && map->compare.unmatched[cell])
        return CELL_UNMATCHED;
    if (strcmp(data->status[cell], "infeasible") == 0)
        return CELL_INFEASIBLE;
    return data->status[cell][0] ? CELL_FAILED : CELL_MISSING;
}

/* Range, scale and the best cell over all panels, of each network and batch. Of equal ones the first counts:
 * the smallest values of the axes. */
static enum dse_status survey(struct plot_job *job, struct heatmap *map, struct dse_error *err)
{
    const struct plot_data *data = &job->data;
    const int direction = metric_direction(data->metric);
    map->low = INFINITY;
    map->high = -INFINITY;
    map->n_group = plot_n_group(data);
    map->best = arena_alloc(&job->data.arena, data->n_cell, sizeof *map->best);
    DSE_TRY(arena_check(&job->data.arena, "the figure", err));
    for (size_t i = 0; i < data->n_cell; i++)
        map->best[i] = SIZE_MAX;
    plot_scale(data->value, data->n_cell, data->metric->unit, &map->factor, map->unit, sizeof map->unit);
    for (size_t panel = 0; panel < map->n_panel; panel++) {
        for (size_t i = 0; i < map->n_x * map->n_y; i++) {
            size_t cell = plot_cell(data, panel, i % map->n_x, i / map->n_x);
            double value = data->value[cell];
            map->has_look[look_of(data, map, cell)] = true;
            if (isnan(value))
                continue;
            map->low = fmin(map->low, value * map->factor);
            map->high = isinf(value) ? map->high : fmax(map->high, value * map->factor);
            size_t *best = &map->best[plot_group(data, cell)];
            if (direction != 0 && (*best == SIZE_MAX || direction * value > direction * data->value[*best]))
                *best = cell;
            map->has_best = direction != 0;
        }
    }
    if (!map->has_look[CELL_VALUE])
        return dse_fail_at(err, DSE_BAD_INPUT, data->path, 0, "no point of the slice has a value of %s",
                           data->metric->name);
    map->log_scale = map->low > 0 && map->high / map->low > 6;
    if (map->compare.how != PLOT_PLAIN) { /* as far below 1 as above it */
        map->high = fmax(fmax(map->high, map->low > 0 ? 1 / map->low : 1), 1.02);
        map->low = 1 / map->high;
        map->log_scale = true;
    }
    if (!(map->high > map->low)) { /* one value: give the colours some room */
        double room = map->low == 0 ? 1 : 0.1 * fabs(map->low);
        map->low -= room;
        map->high += room;
    }
    return DSE_OK;
}

/* How many cells are proved: each search of theirs ended as optimal. */
static enum dse_status note_proofs(struct plot_data *data, const struct heatmap *map, struct dse_error *err)
{
    const char *const *stop;
    size_t n_cell = map->n_panel * map->n_x * map->n_y, n_proved = 0;
    DSE_TRY(cube_join_text(&data->join, "stop", &data->arena, &stop, err));
    for (size_t i = 0; i < n_cell; i++) {
        size_t at = i % (map->n_x * map->n_y);
        size_t cell = plot_cell(data, i / (map->n_x * map->n_y), at % map->n_x, at / map->n_x);
        n_proved += !isnan(data->value[cell]) && strcmp(stop[cell], "optimal") == 0;
    }
    if (n_proved == n_cell)
        snprintf(data->note, sizeof data->note, "all cells proved optimal");
    else if (n_proved > 0)
        snprintf(data->note, sizeof data->note, "%zu of %zu cells proved optimal", n_proved, n_cell);
    return DSE_OK;
}

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* What the numbers are. */
static void note_comparison(struct plot_data *data, const struct plot_compare *compare)
{
    const bool less = compare->direction < 0;
    if (compare->how == PLOT_WINNER)
        snprintf(data->note, sizeof data->note, "%s; numbers: %s", data->metric->sentence,
                 less ? "second best over best" : "best over second best");
    else
        snprintf(data->note, sizeof data->note, "over %s%s", compare->words,
                 less                     ? ": below 1 is better"
                 : compare->direction > 0 ? ": above 1 is better"
                                          : "");
}

/* Where a value stands on the colour scale, 0 .. 1. */
static double colour_place(const struct heatmap *map, double value)
{
    if (map->log_scale)
        return log(value / map->low) / log(map->high / map->low);
    return (value - map->low) / (map->high - map->low);
}

/* The best cells of a panel by group: `best` (n_cell) as map->best. */
static void best_of_panel(const struct plot_data *data, const struct heatmap *map, size_t panel, size_t *best)
{
    const int direction = metric_direction(data->metric);
    for (size_t i = 0; i < data->n_cell; i++)
        best[i] = SIZE_MAX;
    for (size_t i = 0; direction != 0 && i < map->n_x * map->n_y; i++) {
        size_t cell = plot_cell(data, panel, i % map->n_x, i / map->n_x), group = plot_group(data, cell);
        if (!isnan(data->value[cell]) &&
            (best[group] == SIZE_MAX || direction * data->value[cell] > direction * data->value[best[group]]))
            best[group] = cell;
    }
}

/* Of a map of winners: that of the value; grey where several are equally good. */
static unsigned winner_rgb(const struct plot_compare *compare, size_t value)
{
    return value == compare->n_value ? 0xd9d9d9 : plot_colour(compare->is_number, value, compare->n_value);
}

/* What stands in a cell, which colour it has (of winners), and in which it is written. */
static unsigned cell_text(const struct heatmap *map, size_t cell, double value, char *number, size_t size,
                          unsigned *ink)
{
    const struct plot_compare *compare = &map->compare;
    const double place = isinf(value) ? 1 : colour_place(map, value);
    if (isinf(value))
        snprintf(number, size, "\xe2\x88\x9e");
    else
        plot_print_value(value, number, size);
    *ink = place < 0.55 ? 0xffffffu : 0x000000u;
    if (compare->how == PLOT_RELATIVE)
        *ink = fabs(place - 0.5) > 0.4 ? 0xffffffu : 0x000000u;
    if (compare->how != PLOT_WINNER)
        return 0;
    if (compare->alone[cell])
        snprintf(number, size, "only");
    else if (compare->best[cell] == compare->n_value)
        snprintf(number, size, "=");
    *ink = plot_colour_ink(winner_rgb(compare, compare->best[cell]));
    return winner_rgb(compare, compare->best[cell]);
}

/* Columns: x, y, value, look, text, colour of the text, mark (1 best of the panel, 2 best of all), colour of
 * winners. */
static enum dse_status put_cells(struct plot_job *job, const struct heatmap *map, struct dse_error *err)
{
    const struct plot_data *data = &job->data;
    struct text_buffer *script = &job->script;
    size_t *best = arena_alloc(&job->data.arena, data->n_cell, sizeof *best);
    DSE_TRY(arena_check(&job->data.arena, "the figure", err));
    text_append(script, "$cells << END_OF_CELLS\n");
    for (size_t panel = 0; panel < map->n_panel; panel++) {
        best_of_panel(data, map, panel, best);
        for (size_t i = 0; i < map->n_x * map->n_y; i++) {
            size_t cell = plot_cell(data, panel, i % map->n_x, i / map->n_x);
            double value = data->value[cell] * map->factor;
            char number[40] = "";
            unsigned ink = 0, rgb = 0;
            if (!isnan(value))
                rgb = cell_text(map, cell, value, number, sizeof number, &ink);
            size_t group = plot_group(data, cell);
            int mark = cell == map->best[group] ? 2 : cell == best[group];
            text_append(script, "%zu %zu ", i % map->n_x, i / map->n_x);
            if (isnan(value))
                text_append(script, "NaN %d \"\" 0 0 0\n", (int)look_of(data, map, cell));
            else
                text_append(script, "%.9g %d \"%s\" %u %d %u\n", clamp(value, map->low, map->high),
                            CELL_VALUE, number, ink, mark, rgb);
        }
        text_append(script, "\n\n");
    }
    text_append(script, "END_OF_CELLS\n");
    return DSE_OK;
}

/* Of a comparison what it comes to: the geometric mean, the ends, and where the better one is. */
static void make_comparison_foot(const struct plot_data *data, struct heatmap *map)
{
    const bool high_is_best = map->compare.how == PLOT_WINNER || map->compare.direction > 0;
    double sum = 0, low = INFINITY, high = -INFINITY;
    size_t n = 0, best = 0;
    struct text_buffer place;
    char word[3][40];
    for (size_t i = 0; i < map->n_panel * map->n_x * map->n_y; i++) {
        const size_t at = i % (map->n_x * map->n_y);
        const size_t cell = plot_cell(data, i / (map->n_x * map->n_y), at % map->n_x, at / map->n_x);
        const double value = data->value[cell];
        if (isnan(value) || (map->compare.alone && map->compare.alone[cell]))
            continue;
        best = (high_is_best ? value > high : value < low) ? cell : best;
        low = fmin(low, value);
        high = fmax(high, value);
        sum += isfinite(value) && value > 0 ? log(value) : 0;
        n += isfinite(value) && value > 0;
    }
    if (n == 0 || low == high)
        return;
    text_init(&place);
    plot_cell_text(data, best, &place);
    plot_print_value(exp(sum / (double)n), word[0], sizeof word[0]);
    plot_print_value(low, word[1], sizeof word[1]);
    plot_print_value(high, word[2], sizeof word[2]);
    const bool named = place.length > 0 && (high_is_best ? high > 1 : low < 1);
    snprintf(map->foot, sizeof map->foot, "geometric mean %s, from %s to %s%s%s%s", word[0], word[1],
             isinf(high) ? "\xe2\x88\x9e" : word[2], named ? "; " : "",
             named ? high_is_best ? "highest at " : "lowest at " : "", named ? place.data : "");
    text_free(&place);
}

/* The sentence at the foot: the best value and where it is. Several networks have no best in common. */
static void make_foot(const struct plot_data *data, struct heatmap *map)
{
    char number[40];
    struct text_buffer place;
    if (map->compare.how != PLOT_PLAIN)
        make_comparison_foot(data, map);
    if (!map->has_best || map->n_group > 1)
        return;
    size_t best = 0;
    while (map->best[best] == SIZE_MAX)
        best++;
    best = map->best[best];
    text_init(&place);
    plot_cell_text(data, best, &place);
    plot_print_value(data->value[best] * map->factor, number, sizeof number);
    snprintf(map->foot, sizeof map->foot, "best: %s%s%s%s%s", number, map->unit[0] ? " " : "", map->unit,
             place.length > 0 ? " at " : "", place.length > 0 ? place.data : "");
    text_free(&place);
}

/* What the strongest mark says. */
static const char *best_word(const struct plot_data *data, const struct heatmap *map)
{
    bool networks = false, batches = false;
    for (size_t a = 0; a < data->schema.n_axis; a++) {
        networks = networks || (!data->is_fixed[a] && plot_axis_has(data, a, "network"));
        batches = batches || (!data->is_fixed[a] && plot_axis_has(data, a, "batch"));
    }
    if (map->n_group > 1)
        return networks && batches ? "best of its network and batch"
               : networks          ? "best of its network"
                                   : "best of its batch";
    return map->n_panel > 1 ? "best of all" : "best";
}

static void put_foot(struct plot_job *job, const struct heatmap *map)
{
    gnuplot_set_text(&job->script, "dse_foot", map->foot);
    gnuplot_set_text(&job->script, "dse_best_word", best_word(&job->data, map));
    text_append(&job->script,
                "dse_has_best = %d\ndse_has_infeasible = %d\ndse_has_failed = %d\ndse_has_missing = %d\n"
                "dse_has_unmatched = %d\n",
                map->has_best, map->has_look[CELL_INFEASIBLE], map->has_look[CELL_FAILED],
                map->has_look[CELL_MISSING], map->has_look[CELL_UNMATCHED]);
}

/* Of winners in place of the colour scale: which values win, and how often. Returns its width. */
static double put_winners(struct plot_job *job, const struct heatmap *map)
{
    const struct plot_compare *compare = &map->compare;
    struct plot_data *data = &job->data;
    const char *name[RESULT_COLUMN_MAX];
    double rgb[RESULT_COLUMN_MAX];
    size_t n = 0, letters = text_letters(compare->words);
    for (size_t v = 0; v <= compare->n_value && compare->how == PLOT_WINNER; v++) {
        size_t n_won = 0;
        char text[2 * PLOT_LABEL_MAX];
        for (size_t i = 0; i < map->n_panel * map->n_x * map->n_y; i++) {
            const size_t at = i % (map->n_x * map->n_y);
            const size_t cell = plot_cell(data, i / (map->n_x * map->n_y), at % map->n_x, at / map->n_x);
            n_won += !isnan(data->value[cell]) && compare->best[cell] == v;
        }
        if (n_won == 0)
            continue;
        text_excerpt(v == compare->n_value ? "equally good" : compare->label[v], text, 40);
        snprintf(text + strlen(text), sizeof text - strlen(text), " (%zu)", n_won);
        rgb[n] = winner_rgb(compare, v);
        name[n] = arena_copy_text(&data->arena, text, strlen(text));
        name[n] = name[n] ? name[n] : "";
        n++;
    }
    letters = plot_longest(name, n) > letters ? plot_longest(name, n) : letters;
    gnuplot_set_texts(&job->script, "winner_name", name, n);
    gnuplot_set_numbers(&job->script, "winner_rgb", rgb, n);
    text_append(&job->script, "dse_n_winner = %zu\n", n);
    return 40 + 5.2 * (double)letters;
}

/* Sizes in points; a letter of the 8 to 9 point font is about 5.2 wide, of whole sentences in DejaVu Sans up
 * to 5.8. */
static void lay_out(struct plot_job *job, struct heatmap *map, size_t title_letters,
                    struct plot_layout *layout, bool *rotate)
{
    const double letter = 5.2;
    const struct plot_data *data = &job->data;
    size_t x_letters = plot_longest((const char *const *)map->x_label, map->n_x);
    size_t y_letters = plot_longest((const char *const *)map->y_label, map->n_y);
    /* Rows and columns are axes: the last facet runs along a row. */
    size_t columns = data->n_facet > 1 ? data->schema.axis[data->facet[data->n_facet - 1]].n_value : 0;
    size_t abreast = columns ? columns : map->n_panel < 4 ? map->n_panel : map->n_panel % 3 == 0 ? 3 : 4;
    double wanted = clamp(610 / (double)(abreast * map->n_x), 33, 44);
    memset(layout, 0, sizeof *layout);
    layout->panel_width = clamp((double)map->n_x * wanted, map->n_panel == 1 ? 220 : 100, 560);
    layout->panel_width = fmax(layout->panel_width, clamp(6.6 * (double)title_letters, 0, 400));
    layout->panel_height = clamp((double)map->n_y * 26, 112, 420);
    /* In a single row of panels the titles at the sides want their room. */
    double side = letter * (double)(text_letters(data->metric->sentence) + 9);
    if (map->n_panel <= 3)
        layout->panel_height =
            fmax(layout->panel_height, fmax(side, letter * (double)text_letters(map->y_title)));
    double cell_width = layout->panel_width / (double)map->n_x;
    double cell_height = layout->panel_height / (double)map->n_y;
    map->print_values = cell_width >= 29 && cell_height >= 13;
    *rotate = (double)x_letters * letter > cell_width - 3;
    double x_tick_height = *rotate ? (double)x_letters * letter * 0.75 + 8 : 14;
    layout->left = 10 + (map->y_title[0] ? 16 : 0) + (double)y_letters * letter + 6;
    layout->right = map->compare.how == PLOT_WINNER ? put_winners(job, map) : 92;
    layout->gap_x = 16;
    layout->gap_y = data->n_facet > 0 ? 26 : 10;
    size_t fixed = plot_fixed_letters(data);
    layout->top = (fixed > 0 ? 44 : 30) + (data->n_facet > 0 ? 18 : 2);
    layout->bottom = x_tick_height + 22 + 42;
    layout->least_width = fmax(plot_head_width(job), 5.8 * (double)text_letters(map->foot) + 20);
    double y_title_offset = layout->left - 10; /* plot_layout may move the panels */
    plot_layout(layout, map->n_panel, columns);
    text_append(&job->script, "dse_x_title_offset = %.4g\ndse_y_title_offset = %.4g\n", x_tick_height,
                y_title_offset);
}

/* Marks on the scale of ratios: round, and as many below 1 as above it. */
static void put_ratio_ticks(struct text_buffer *script, double high)
{
    static const double fine[] = {0.005, 0.01, 0.02, 0.05, 0.1, 0.2}, coarse[] = {1.5, 2, 3, 5, 10, 20, 50};
    size_t s = 0;
    text_append(script, " (''1'' 1");
    while (s + 1 < sizeof fine / sizeof *fine && (high - 1) / fine[s] > 4.5)
        s++;
    for (double value = 1 + fine[s]; high < 1.5 && value <= high; value += fine[s])
        text_append(script, ", ''%.3g'' %.9g, ''%.3g'' %.9g", value, value, 2 - value, 2 - value);
    for (s = 0; high >= 1.5 && high <= 100 && s < sizeof coarse / sizeof *coarse; s++)
        if (coarse[s] <= high && (high < 12 || coarse[s] != 1.5))
            text_append(script, ", ''%g'' %.9g, ''%.2g'' %.9g", coarse[s], coarse[s], 1 / coarse[s],
                        1 / coarse[s]);
    for (double value = 10; high > 100 && value <= high; value *= 10)
        text_append(script, ", ''%g'' %.9g, ''%g'' %.9g", value, value, 1 / value, 1 / value);
    text_append(script, ")");
}

/* Which palette: 0 of values, 1 of ratios where less is better, 2 where more is, 3 the winners' colours. */
static int palette_of(const struct plot_compare *compare)
{
    return compare->how == PLOT_WINNER ? 3 : compare->how != PLOT_RELATIVE ? 0 : 1 + (compare->direction > 0);
}

static void put_scale(struct plot_job *job, const struct heatmap *map)
{
    char title[512];
    const char *words = map->compare.how == PLOT_WINNER ? map->compare.words : job->data.metric->sentence;
    snprintf(title, sizeof title, map->unit[0] ? "%s (%s)" : "%s", words, map->unit);
    gnuplot_set_text(&job->script, "dse_colour_title", title);
    gnuplot_set_text(&job->script, "dse_x_title", map->x_title);
    gnuplot_set_text(&job->script, "dse_y_title", map->y_title);
    text_append(&job->script,
                "dse_low = %.9g\ndse_high = %.9g\ndse_log = %d\ndse_print = %d\ndse_n_x = %zu\ndse_n_y = "
                "%zu\ndse_fine = %d\ndse_palette = %d\n",
                map->low, map->high, map->log_scale, map->print_values, map->n_x, map->n_y,
                map->n_x * map->n_y * map->n_panel > BOX_MAX, palette_of(&map->compare));
    text_append(&job->script, "dse_colour_ticks = 'set cbtics");
    /* On a logarithmic scale: powers of ten, and between them as many steps as there is room for. */
    if (map->compare.how != PLOT_PLAIN) {
        put_ratio_ticks(&job->script, map->high);
    } else if (map->log_scale) {
        static const double step[] = {1, 2, 5, 1.5, 3, 4, 7};
        double decades = log10(map->high / map->low);
        int any = 0, n_step = decades > 3 ? 1 : decades > 1.2 ? 3 : 7;
        text_append(&job->script, " (");
        for (int power = (int)floor(log10(map->low)); power <= (int)ceil(log10(map->high)); power++) {
            for (int s = 0; s < n_step; s++) {
                double value = step[s] * pow(10, power);
                if (value >= map->low && value <= map->high)
                    text_append(&job->script, "%s''%g'' %.9g", any++ ? ", " : "", value, value);
            }
        }
        text_append(&job->script, ")");
    }
    text_append(&job->script, "'\n");
}

enum dse_status plot_heatmap(struct plot_job *job, struct dse_error *err)
{
    struct plot_data *data = &job->data;
    struct heatmap map = {0};
    struct plot_layout layout;
    const char *const *title;
    bool rotate;
    size_t limit = job->options->max_facet ? job->options->max_facet : 12;
    DSE_TRY(plot_compare(data, job->options, &map.compare, err));
    DSE_TRY(plot_choose_axes(data, job->options, 2, err));
    map.n_x = plot_length(data, &data->x);
    map.n_y = plot_length(data, &data->y);
    map.n_panel = plot_n_panel(data);
    if (map.n_panel > limit)
        return too_many(data, map.n_panel, limit, err);
    DSE_TRY(survey(job, &map, err));
    if (map.compare.how == PLOT_PLAIN)
        DSE_TRY(note_proofs(data, &map, err));
    else
        note_comparison(data, &map.compare);
    DSE_TRY(plot_ticks(data, &data->x, &map.x_label, map.x_title, sizeof map.x_title, err));
    DSE_TRY(plot_ticks(data, &data->y, &map.y_label, map.y_title, sizeof map.y_title, err));
    DSE_TRY(plot_panel_titles(data, &title, err));
    make_foot(data, &map);
    lay_out(job, &map, plot_longest(title, map.n_panel), &layout, &rotate);
    DSE_TRY(plot_put_layout(job, &layout, title, err));
    put_scale(job, &map);
    put_foot(job, &map);
    plot_put_ticks(&job->script, "dse_x_ticks", "xtics", (const char *const *)map.x_label, map.n_x,
                   rotate ? "rotate by 45 right" : "norotate");
    plot_put_ticks(&job->script, "dse_y_ticks", "ytics", (const char *const *)map.y_label, map.n_y,
                   "norotate");
    return put_cells(job, &map, err);
}
