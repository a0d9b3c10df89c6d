/* The best points of each network and batch in energy, latency and their product, and where the energy and
 * the latency of the best go. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/cube/cube_read.h"
#include "results/page/page_html.h"
#include "results/page/page_parts.h"

enum {
    BEST_MAX = 4,
    GROUP_MAX = 100,
    BREAKDOWN_MAX = 12,
    LAYER_ROW_MAX = 12,
    PART_MAX = RESULT_LEVEL_MAX + 8
};

/* ---------------------------------------- the table of the best */

/* What a point may be best in, without doubles: the metric shown, then those that people ask for first. */
static size_t best_metrics(const struct page_data *data, const struct page_metric *metric[BEST_MAX])
{
    static const char *const name[] = {"edp_js", "energy_j", "latency_s"};
    size_t n = 0;
    if (metric_direction(data->metric[data->at].metric) != 0 &&
        page_metric_find(data, data->metric[data->at].metric->name))
        metric[n++] = &data->metric[data->at];
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const struct page_metric *found = page_metric_find(data, name[i]);
        if (found && (n == 0 || metric[0] != found))
            metric[n++] = found;
    }
    return n;
}

/* The columns of numbers: those that some point has. */
static size_t shown_metrics(const struct page_data *data, const struct page_metric *metric[10])
{
    static const char *const name[] = {"edp_js", "energy_j", "latency_s", "area_mm2", "utilization"};
    const struct page_metric *mine = page_metric_find(data, data->metric[data->at].metric->name);
    size_t n = 0;
    bool has_mine = !mine;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const struct page_metric *found = page_metric_find(data, name[i]);
        has_mine = has_mine || found == mine;
        if (found)
            metric[n++] = found;
    }
    if (!has_mine)
        metric[n++] = mine;
    return n;
}

/* Metrics in which one point is the best share a row. `all` (n_in, n_group). */
static void put_best_rows(const struct page_data *data, size_t group, const struct page_metric *const *in,
                          size_t n_in, const size_t *all, const struct page_metric *const *shown,
                          size_t n_shown, struct text_buffer *out)
{
    size_t best[BEST_MAX];
    for (size_t i = 0; i < n_in; i++)
        best[i] = all[i * data->n_group + group];
    for (size_t i = 0; i < n_in; i++) {
        bool said = best[i] == data->plot.n_cell;
        for (size_t k = 0; k < i; k++)
            said = said || best[k] == best[i];
        if (said)
            continue;
        text_append_string(out, "<tr><td>");
        for (size_t k = i; k < n_in; k++)
            if (best[k] == best[i]) {
                text_append_string(out, k > i ? ", " : "");
                html_text(out, in[k]->metric->sentence);
            }
        text_append_string(out, "</td>");
        page_place_cells(data, best[i], out);
        for (size_t m = 0; m < n_shown; m++)
            html_number(out, shown[m]->value[best[i]], shown[m]->metric->unit);
        html_element(out, "td", page_is_proved(data, best[i]) ? "proved" : data->stop[best[i]]);
        text_append_string(out, "</tr>\n");
    }
}

enum dse_status page_best_points(struct page_data *data, struct text_buffer *out, struct dse_error *err)
{
    const struct page_metric *in[BEST_MAX], *shown[10];
    const char *title[RESULT_AXIS_MAX + 12] = {"Best in"};
    const size_t n_in = best_metrics(data, in), n_shown = shown_metrics(data, shown);
    size_t n_title = 1 + page_place_titles(data, title + 1);
    const size_t n_text = n_title;
    for (size_t i = 0; i < n_shown; i++)
        title[n_title++] = shown[i]->metric->sentence;
    title[n_title++] = "Search ended";
    text_append_string(out, "<section id=\"best\">\n<h2>The best points</h2>\n");
    if (n_in == 0) {
        text_append_string(out, "<p>No point has a value.</p></section>\n");
        return DSE_OK;
    }
    size_t *best = arena_alloc(&data->plot.arena, n_in * data->n_group, sizeof *best);
    DSE_TRY(arena_check(&data->plot.arena, "the page", err));
    for (size_t i = 0; i < n_in; i++)
        page_bests(data, in[i], best + i * data->n_group);
    if (data->n_group > 1)
        text_append_string(
            out, "<p>Of each network and batch, as costs of different work are not compared.</p>\n");
    html_table(out, NULL, title, n_title, n_text);
    for (size_t g = 0; g < data->n_group && g < GROUP_MAX; g++)
        put_best_rows(data, g, in, n_in, best, shown, n_shown, out);
    html_table_end(out);
    if (data->n_group > GROUP_MAX)
        text_append(out, "<p>... and %zu more.</p>\n", data->n_group - GROUP_MAX);
    text_append_string(out, "</section>\n");
    return DSE_OK;
}

/* ---------------------------------------- breakdown */

struct part {
    const char *name;
    double value;
};

struct parts {
    struct part part[PART_MAX];
    size_t n;
};

static double value_at(const struct page_data *data, const char *name, size_t cell)
{
    const struct page_metric *metric = page_metric_find(data, name);
    return metric ? metric->value[cell] : NAN;
}

static double add(struct parts *parts, const char *name, double value)
{
    if (!(value > 0))
        return 0;
    parts->part[parts->n++] = (struct part){name, value};
    return value;
}

static void put_parts(const char *caption, const char *what, const struct parts *parts, double total,
                      const char *unit, struct text_buffer *out)
{
    if (parts->n == 0)
        return;
    html_table(out, caption, (const char *const[]){what, unit[0] == 'J' ? "Energy" : "Latency", "Share", ""},
               4, 1);
    for (size_t i = 0; i < parts->n; i++) {
        text_append_string(out, "<tr>");
        html_element(out, "td", parts->part[i].name);
        html_number(out, parts->part[i].value, unit);
        text_append(out, "<td class=\"r\">%.1f %%</td>", 100 * parts->part[i].value / total);
        html_bar(out, parts->part[i].value / total);
        text_append_string(out, "</tr>\n");
    }
    html_table_end(out);
}

/* Where a point lies in its own file, whose layers and levels are not those of all files. */
struct place {
    const struct page_source *source;
    uint32_t index[RESULT_AXIS_MAX]; /* (n_axis of the source's schema) */
};

static void find_place(const struct page_data *data, size_t cell, struct place *place)
{
    size_t source;
    cube_join_place(&data->plot.join, cell, &source, place->index);
    place->source = &data->source[source];
}

/* A dataset of a value for each of n layers or levels. */
static enum dse_status read_place(struct page_data *data, const struct place *place, const char *name,
                                  size_t n, double **value, struct dse_error *err)
{
    size_t n_read;
    DSE_TRY(cube_read_cell(place->source->path, name, place->index, place->source->schema.n_axis,
                           &data->plot.arena, value, &n_read, err));
    return n_read == n ? DSE_OK
                       : dse_fail_at(err, DSE_BAD_INPUT, place->source->path, 0,
                                     "%s does not have the shape of the axes", name);
}

/* MACs, storage levels (of schedules: buffers and DRAM), networks. */
static enum dse_status put_energy(struct page_data *data, size_t cell, const struct place *place,
                                  struct text_buffer *out, struct dse_error *err)
{
    const struct result_schema *schema = &place->source->schema;
    const double total = value_at(data, "energy_j", cell);
    struct parts parts = {.n = 0};
    double sum = add(&parts, "MACs", value_at(data, "energy_mac_j", cell)), levels = 0, *level;
    if (schema->n_level > 0)
        DSE_TRY(read_place(data, place, "levels/energy_j", schema->n_level, &level, err));
    for (size_t l = 0; l < schema->n_level; l++)
        levels += add(&parts, schema->level[l], level[l]);
    if (levels == 0) {
        levels += add(&parts, "Buffers", value_at(data, "energy_buffer_j", cell));
        levels += add(&parts, "DRAM", value_at(data, "energy_dram_j", cell));
    }
    sum += levels + add(&parts, "On-chip networks", value_at(data, "energy_noc_j", cell));
    sum += add(&parts, "Leakage", value_at(data, "energy_leakage_j", cell));
    if (total - sum > 1e-9 * total)
        add(&parts, "Other", total - sum);
    put_parts("Energy by storage level", "Part", &parts, total, "J", out);
    return DSE_OK;
}

/* How long the core array, the DRAM and the waiting for it take, in cycles, of schedules. */
static void put_schedule_latency(const struct page_data *data, size_t cell, struct text_buffer *out)
{
    static const struct {
        const char *name, *words;
    } of[] = {{"compute_cycle", "Core array computes"},
              {"dram_cycle", "DRAM moves data"},
              {"stall_cycle", "Core array waits for the DRAM"}};
    const double total = value_at(data, "latency_cycle", cell);
    struct parts parts = {.n = 0};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        add(&parts, of[i].words, value_at(data, of[i].name, cell));
    put_parts("Latency; computing and the DRAM's work overlap", "Part", &parts, total, "cycle", out);
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *left = a, *right = b;
    if (left->value != right->value)
        return left->value < right->value ? 1 : -1;
    return left < right ? -1 : 1;
}

/* The layers of a mapped network, the longest first. */
static enum dse_status put_layer_latency(struct page_data *data, size_t cell, const struct place *place,
                                         struct text_buffer *out, struct dse_error *err)
{
    const struct result_schema *schema = &place->source->schema;
    double *latency, *count, rest = 0, total = value_at(data, "latency_s", cell);
    struct parts parts = {.n = 0};
    size_t n = 0;
    char more[64];
    DSE_TRY(read_place(data, place, "layers/latency_s", schema->n_layer, &latency, err));
    DSE_TRY(read_place(data, place, "layers/count", schema->n_layer, &count, err));
    struct part *all = arena_alloc(&data->plot.arena, schema->n_layer, sizeof *all);
    DSE_TRY(arena_check(&data->plot.arena, "the page", err));
    for (size_t l = 0; l < schema->n_layer; l++)
        if (latency[l] * count[l] > 0)
            all[n++] = (struct part){schema->layer[l], latency[l] * count[l]};
    qsort(all, n, sizeof *all, compare_parts);
    for (size_t i = 0; i < n && i < LAYER_ROW_MAX; i++)
        add(&parts, all[i].name, all[i].value);
    for (size_t i = LAYER_ROW_MAX; i < n; i++)
        rest += all[i].value;
    snprintf(more, sizeof more, "%zu more", n > LAYER_ROW_MAX ? n - LAYER_ROW_MAX : 0);
    add(&parts, more, rest);
    if (n > 1 || (n == 1 && isnan(value_at(data, "stall_cycle", cell))))
        put_parts("Latency by layer, repeats together", "Layer", &parts, total, "s", out);
    return DSE_OK;
}

enum dse_status page_breakdown(struct page_data *data, struct text_buffer *out, struct dse_error *err)
{
    const struct page_metric *in[BEST_MAX];
    text_append_string(out, "<section id=\"breakdown\">\n<h2>What the best is made of</h2>\n");
    if (best_metrics(data, in) == 0) {
        text_append_string(out, "<p>No point has a value.</p></section>\n");
        return DSE_OK;
    }
    size_t *best = arena_alloc(&data->plot.arena, data->n_group, sizeof *best);
    DSE_TRY(arena_check(&data->plot.arena, "the page", err));
    page_bests(data, in[0], best);
    for (size_t g = 0; g < data->n_group && g < BREAKDOWN_MAX; g++) {
        const size_t cell = best[g];
        struct text_buffer where;
        struct place place;
        if (cell == data->plot.n_cell)
            continue;
        text_init(&where);
        plot_cell_text(&data->plot, cell, &where);
        text_append_string(out, "<h3>Best in ");
        html_text(out, in[0]->metric->sentence);
        text_append_string(out, where.length > 0 ? ": " : "");
        html_text(out, where.length > 0 ? where.data : "");
        text_append_string(out, "</h3>\n");
        text_free(&where);
        text_append_string(out, "<div class=\"beside\">\n");
        find_place(data, cell, &place);
        DSE_TRY(put_energy(data, cell, &place, out, err));
        put_schedule_latency(data, cell, out);
        if (place.source->schema.n_layer > 0)
            DSE_TRY(put_layer_latency(data, cell, &place, out, err));
        text_append_string(out, "</div>\n");
    }
    if (data->n_group > BREAKDOWN_MAX)
        text_append(out, "<p>... and %zu more; <code>--where</code> chooses.</p>\n",
                    data->n_group - BREAKDOWN_MAX);
    text_append_string(out, "</section>\n");
    return DSE_OK;
}
