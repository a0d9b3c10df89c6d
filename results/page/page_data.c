/* Reads all metrics of the points, and finds the points that are shown and which of them may be compared. */
#include "results/page/page_data.h"

#include <math.h>
#include <string.h>

#include "results/cube/cube_read.h"

static enum dse_status check_memory(struct page_data *data, struct dse_error *err)
{
    return arena_check(&data->plot.arena, "the page", err);
}

/* A dataset that an older file lacks has no values. */
static enum dse_status read_metrics(struct page_data *data, struct dse_error *err)
{
    struct plot_data *plot = &data->plot;
    struct result_column column[RESULT_COLUMN_MAX];
    const size_t n_column = schema_columns(&plot->schema, RESULT_POINTS, column);
    for (size_t i = 0; i < n_column; i++) {
        struct page_metric *metric = &data->metric[data->n_metric];
        if (column[i].metric->type == METRIC_TEXT)
            continue;
        *metric = (struct page_metric){column[i].metric, plot->value, INFINITY, -INFINITY};
        if (column[i].metric == plot->metric)
            data->at = data->n_metric;
        else if (plot_read_metric(plot, column[i].metric->name, &metric->metric, &metric->value, err) !=
                 DSE_OK)
            continue;
        data->n_metric++;
    }
    return check_memory(data, err);
}

/* How many points the sweep has; of files of several specifications those of all. */
static uint64_t expected_points(const struct page_data *data)
{
    uint64_t n = 0;
    for (size_t i = 0; i < data->n_source; i++) {
        bool said = false;
        for (size_t k = 0; k < i; k++)
            said = said ||
                   data->source[k].schema.specification_hash == data->source[i].schema.specification_hash;
        n += said ? 0 : data->source[i].schema.n_point;
    }
    return n;
}

static enum dse_status read_sources(struct page_data *data, const char *path,
                                    const struct plot_options *options, struct dse_error *err)
{
    struct arena *arena = &data->plot.arena;
    data->n_source = data->plot.join.n_part;
    data->source = arena_alloc(arena, data->n_source, sizeof *data->source);
    DSE_TRY(check_memory(data, err));
    for (size_t i = 0; i < data->n_source; i++) {
        struct page_source *source = &data->source[i];
        source->path = data->n_source > 1 ? options->file[i].path : path;
        DSE_TRY(cube_read_schema(source->path, arena, &source->schema, err));
        DSE_TRY(cube_read_inputs(source->path, arena, &source->schema, &source->provenance, err));
    }
    data->n_expected = expected_points(data);
    for (size_t i = 0; i < data->plot.n_cell; i++)
        data->n_done += data->plot.status[i][0] != '\0';
    return DSE_OK;
}

static enum dse_status find_marks(struct page_data *data, struct dse_error *err)
{
    struct plot_data *plot = &data->plot;
    const size_t per_panel = data->n_x * data->n_y;
    size_t n;
    if (__builtin_mul_overflow(per_panel, data->n_panel, &n) || n > PAGE_CELL_MAX)
        return dse_fail_at(
            err, DSE_LIMIT, plot->path, 0,
            "%zu panels of %zu x %zu cells are more than a page shows (%d cells); keep a slice "
            "(--where AXIS=VALUE)",
            data->n_panel, data->n_x, data->n_y, PAGE_CELL_MAX);
    data->shown = arena_alloc(&plot->arena, plot->n_cell, sizeof *data->shown);
    data->mark = arena_alloc(&plot->arena, n, sizeof *data->mark);
    DSE_TRY(check_memory(data, err));
    for (size_t i = 0; i < n; i++) {
        const size_t at = i % per_panel,
                     cell = plot_cell(plot, i / per_panel, at % data->n_x, at / data->n_x);
        if (!plot->status[cell][0])
            continue;
        data->shown[cell] = true;
        data->mark[data->n_mark++] = cell;
    }
    for (size_t m = 0; m < data->n_metric; m++)
        for (size_t i = 0; i < data->n_mark; i++) {
            const double value = data->metric[m].value[data->mark[i]];
            data->metric[m].low = fmin(data->metric[m].low, value);
            data->metric[m].high = fmax(data->metric[m].high, value);
        }
    return DSE_OK;
}

/* Number the groups in the order of their first cells. */
static enum dse_status find_groups(struct page_data *data, struct dse_error *err)
{
    const size_t n = data->plot.n_cell;
    uint32_t *number = arena_alloc(&data->plot.arena, n, sizeof *number);
    data->group = arena_alloc(&data->plot.arena, n, sizeof *data->group);
    data->group_cell = arena_alloc(&data->plot.arena, data->n_mark + 1, sizeof *data->group_cell);
    DSE_TRY(check_memory(data, err));
    for (size_t i = 0; i < n; i++) {
        if (!data->shown[i])
            continue;
        uint32_t *group = &number[plot_group(&data->plot, i)];
        if (*group == 0) {
            data->group_cell[data->n_group++] = i;
            *group = (uint32_t)data->n_group;
        }
        data->group[i] = *group - 1;
    }
    return DSE_OK;
}

enum dse_status page_data_open(struct page_data *data, const char *path, const struct plot_options *options,
                               struct dse_error *err)
{
    memset(data, 0, sizeof *data);
    DSE_TRY(plot_data_open(&data->plot, path, options, err));
    DSE_TRY(plot_data_metric(&data->plot, options, err));
    DSE_TRY(read_metrics(data, err));
    DSE_TRY(cube_join_text(&data->plot.join, "reason", &data->plot.arena, &data->reason, err));
    DSE_TRY(cube_join_text(&data->plot.join, "stop", &data->plot.arena, &data->stop, err));
    DSE_TRY(read_sources(data, path, options, err));
    DSE_TRY(plot_choose_axes(&data->plot, options, 2, err));
    data->n_x = plot_length(&data->plot, &data->plot.x);
    data->n_y = plot_length(&data->plot, &data->plot.y);
    data->n_panel = plot_n_panel(&data->plot);
    DSE_TRY(find_marks(data, err));
    return find_groups(data, err);
}

void page_data_close(struct page_data *data)
{
    plot_data_close(&data->plot);
}

/* ---------------------------------------- questions */

const struct page_metric *page_metric_find(const struct page_data *data, const char *name)
{
    for (size_t m = 0; m < data->n_metric; m++)
        if (strcmp(data->metric[m].metric->name, name) == 0)
            return data->metric[m].low <= data->metric[m].high ? &data->metric[m] : NULL;
    return NULL;
}

void page_bests(const struct page_data *data, const struct page_metric *metric, size_t *best)
{
    const int direction = metric_direction(metric->metric);
    for (size_t g = 0; g < data->n_group; g++)
        best[g] = data->plot.n_cell;
    for (size_t i = 0; i < data->plot.n_cell; i++) {
        if (!data->shown[i] || isnan(metric->value[i]))
            continue;
        size_t *of_group = &best[data->group[i]];
        if (*of_group == data->plot.n_cell ||
            direction * metric->value[i] > direction * metric->value[*of_group])
            *of_group = i;
    }
}

bool page_is_proved(const struct page_data *data, size_t cell)
{
    const char *status = data->plot.status[cell];
    return (strcmp(status, "ok") == 0 || strcmp(status, "timeout") == 0) &&
           strcmp(data->stop[cell], "optimal") == 0;
}
