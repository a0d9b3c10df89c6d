/* dse pareto: the points of result files that no other beats. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dse/command/commands.h"
#include "dse/command/current_cube.h"
#include "dse/command/result_files.h"
#include "dse/console/report_print.h"
#include "dse/status/front_points.h"
#include "results/front/pareto_front.h"
#include "results/plot/plot_data.h"

enum { FRONT_MIN = 2, FRONT_MAX = 5, FILE_MAX = 1024 };

static const char standard[] = "energy_j,latency_s,area_mm2";

/* What is asked for. */
struct pareto {
    struct plot_data data;
    size_t n_metric;
    const struct metric *metric[FRONT_MAX];
    double *value[FRONT_MAX]; /* (n_cell) */
    int direction[FRONT_MAX];
    size_t n_by;
    size_t by[CLI_VALUE_MAX]; /* axes each value of which has a front of its own */
    size_t *cell;             /* (n) the points that are compared, by group; owned */
    size_t *group;            /* (n) owned */
    size_t n, n_ok, n_without;
    struct current_cubes cubes;
};

/* ---------------------------------------- what is asked for */

static enum dse_status add_metric(struct pareto *p, const char *name, int direction, struct dse_error *err)
{
    if (p->n_metric == FRONT_MAX)
        return dse_fail(err, DSE_BAD_USAGE, "--min, --max: more than %d metrics", FRONT_MAX);
    const size_t m = p->n_metric;
    DSE_TRY(plot_read_metric(&p->data, name, &p->metric[m], &p->value[m], err));
    for (size_t k = 0; k < m; k++)
        if (p->metric[k] == p->metric[m])
            return dse_fail(err, DSE_BAD_USAGE, "--min, --max: %s is given twice", name);
    p->direction[m] = direction;
    p->n_metric++;
    return DSE_OK;
}

static enum dse_status add_list(struct pareto *p, const char *list, int direction, struct dse_error *err)
{
    char word[PLOT_LABEL_MAX];
    for (size_t i = 0; plot_metric_word(list, i, word, sizeof word); i++)
        DSE_TRY(add_metric(p, word, direction, err));
    return DSE_OK;
}

/* Whether all points that have a value of the first metric have one of this. */
static bool has_all(const struct pareto *p, size_t metric)
{
    for (size_t i = 0; i < p->data.n_cell; i++)
        if (!isnan(p->value[0][i]) && isnan(p->value[metric][i]))
            return false;
    return true;
}

/* In the order of the command line; without any the usual ones, the area where points have it. */
static enum dse_status read_metrics(struct pareto *p, const struct cli_args *args, struct dse_error *err)
{
    for (size_t i = 0; i < args->n_value; i++) {
        const char *name = args->value[i].option->name;
        const int direction = strcmp(name, "min") == 0 ? -1 : strcmp(name, "max") == 0 ? 1 : 0;
        if (direction != 0)
            DSE_TRY(add_list(p, args->value[i].text, direction, err));
    }
    if (p->n_metric == 0) {
        DSE_TRY(add_list(p, standard, -1, err));
        p->n_metric -= !has_all(p, p->n_metric - 1);
    }
    if (p->n_metric < FRONT_MIN)
        return dse_fail(err, DSE_BAD_USAGE,
                        "a front is of %d to %d metrics: --min energy_j,latency_s; what is best in one says "
                        "`dse status --metric`",
                        FRONT_MIN, FRONT_MAX);
    return DSE_OK;
}

static enum dse_status read_by(struct pareto *p, const struct cli_args *args, struct dse_error *err)
{
    const char *name[CLI_VALUE_MAX];
    p->n_by = cli_values(args, "by", name);
    for (size_t i = 0; i < p->n_by; i++) {
        struct plot_axis axis;
        DSE_TRY(plot_find_axis(&p->data, name[i], &axis, err));
        p->by[i] = axis.axis;
    }
    return DSE_OK;
}

/* ---------------------------------------- the fronts */

/* The front that a cell belongs to. */
static size_t group_of(const struct pareto *p, size_t cell)
{
    size_t group = 0;
    for (size_t i = 0; i < p->n_by; i++)
        group = group * p->data.schema.axis[p->by[i]].n_value + plot_position(&p->data, cell, p->by[i]);
    return group;
}

static int by_group(const void *a, const void *b, void *user)
{
    const size_t one = *(const size_t *)a, two = *(const size_t *)b;
    const size_t *group = user;
    return group[one] != group[two] ? (group[one] > group[two]) - (group[one] < group[two])
                                    : (one > two) - (one < two);
}

/* The cells of the slice that have a value of each metric, those of one front together. */
static enum dse_status gather(struct pareto *p, struct dse_error *err)
{
    const size_t n = p->data.n_cell;
    p->cell = malloc((n + 1) * sizeof *p->cell);
    p->group = calloc(n + 1, sizeof *p->group);
    if (!p->cell || !p->group)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu points", n);
    for (size_t i = 0; i < n; i++) {
        bool whole = true;
        const char *status = p->data.status[i];
        if (!plot_in_slice(&p->data, i) || (strcmp(status, "ok") != 0 && strcmp(status, "timeout") != 0))
            continue;
        for (size_t m = 0; m < p->n_metric; m++)
            whole = whole && isfinite(p->value[m][i]);
        p->n_ok++;
        p->n_without += !whole;
        if (!whole)
            continue;
        p->group[i] = group_of(p, i);
        p->cell[p->n++] = i;
    }
    if (p->n_by > 0)
        qsort_r(p->cell, p->n, sizeof *p->cell, by_group, p->group);
    if (p->n == 0)
        return dse_fail_at(err, DSE_BAD_INPUT, p->data.path, 0,
                           "no point%s has a value of each of these metrics",
                           p->n_ok < n ? " that is ok and in the slice" : "");
    return DSE_OK;
}

static enum dse_status put_front(struct pareto *p, size_t begin, size_t end, double *value, size_t *at,
                                 struct front_points *front, struct dse_error *err)
{
    const size_t n_metric = p->n_metric;
    size_t n_front;
    for (size_t i = begin; i < end; i++)
        for (size_t m = 0; m < n_metric; m++)
            value[(i - begin) * n_metric + m] = p->value[m][p->cell[i]];
    DSE_TRY(pareto_front(value, end - begin, p->direction, n_metric, PARETO_LEFT_OUT, at, &n_front, err));
    for (size_t i = 0; i < n_front; i++) {
        const size_t cell = p->cell[begin + at[i]];
        DSE_TRY(
            front_points_put(front, &p->data.schema, cell, p->group[cell], &value[at[i] * n_metric], err));
    }
    return DSE_OK;
}

static enum dse_status find_fronts(struct pareto *p, struct front_points *front, struct dse_error *err)
{
    double *value = malloc(p->n * p->n_metric * sizeof *value);
    size_t *at = malloc(p->n * sizeof *at);
    enum dse_status status = DSE_OK;
    if (!value || !at)
        status = dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu points", p->n);
    for (size_t begin = 0, end; begin < p->n && status == DSE_OK; begin = end) {
        for (end = begin; end < p->n && p->group[p->cell[end]] == p->group[p->cell[begin]];)
            end++;
        status = put_front(p, begin, end, value, at, front, err);
    }
    free(value);
    free(at);
    return status;
}

/* ---------------------------------------- the command */

/* What different networks or batches cost is compared here only because nobody said otherwise. */
static void warn_of_work(const struct pareto *p, FILE *to)
{
    static const char *const work[] = {"network", "batch"};
    for (size_t a = 0; a < p->data.schema.n_axis; a++)
        for (size_t w = 0; w < 2; w++) {
            bool parted = p->data.is_fixed[a];
            for (size_t i = 0; i < p->n_by; i++)
                parted = parted || p->by[i] == a;
            if (!parted && plot_axis_has(&p->data, a, work[w]))
                fprintf(to, "dse: points of all values of %s are compared; a front for each: --by %s\n",
                        work[w], work[w]);
        }
}

static enum dse_status print(struct pareto *p, enum report_format format, const struct console *console,
                             struct dse_error *err)
{
    struct front_points front = {0};
    struct report report;
    struct text_buffer text;
    text_init(&text);
    enum dse_status status =
        front_points_begin(&front, &p->data.schema, p->metric, p->direction, p->n_metric, err);
    if (status == DSE_OK)
        status = find_fronts(p, &front, err);
    front.n_ok = p->n_ok;
    front.n_without = p->n_without;
    if (status == DSE_OK) {
        front_points_report(&front, &report);
        status = report_print(&report, format, &text, err);
        report_free(&report);
    }
    if (status == DSE_OK) {
        fputs(text.data, console->out);
        warn_of_work(p, console->err);
    }
    front_points_free(&front);
    text_free(&text);
    return status;
}

static enum dse_status pareto(struct pareto *p, const struct cli_args *args, struct arena *arena,
                              const struct console *console, struct dse_error *err)
{
    static const char *const formats[] = {"table", "csv", "json"};
    static const enum report_format how[] = {REPORT_TABLE, REPORT_CSV, REPORT_JSON};
    const char *where[CLI_VALUE_MAX];
    struct plot_options options = {.where = where, .n_file = args->n_operand};
    size_t format;
    DSE_TRY(cli_choice(args, "format", formats, 3, 0, &format, err));
    DSE_TRY(current_cubes_open((const char *const *)args->operand, args->n_operand, arena, &p->cubes, err));
    DSE_TRY(result_files_read(p->cubes.path, args->n_operand, arena, &options.file, err));
    options.n_where = cli_values(args, "where", where);
    DSE_TRY(plot_data_open(&p->data, p->cubes.path[0], &options, err));
    DSE_TRY(read_metrics(p, args, err));
    DSE_TRY(read_by(p, args, err));
    DSE_TRY(gather(p, err));
    return print(p, how[format], console, err);
}

static int pareto_main(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    struct arena arena;
    struct pareto p = {0};
    arena_init(&arena);
    arena_init(&p.data.arena);
    const enum dse_status status = pareto(&p, args, &arena, console, &err);
    plot_data_close(&p.data);
    current_cubes_close(&p.cubes);
    arena_free(&arena);
    free(p.cell);
    free(p.group);
    return cli_report(console, status, &err);
}

static const struct cli_option pareto_options[] = {
    {"min", 0, "METRIC,...",
     "less of these is better (without --min and --max: energy_j, latency_s, and area_mm2 "
     "where all points have it); repeatable"},
    {"max", 0, "METRIC,...", "more of these is better: utilization, ...; repeatable"},
    {"where", 'w', "AXIS=VALUE", "only this slice: PE.mesh=4x4, DRAM.bandwidth='8 GB/s'; repeatable"},
    {"by", 0, "AXIS", "a front for each value of this axis; repeatable"},
    {"format", 'f', "FORMAT", "table (default), csv or json"},
};

const struct cli_command command_pareto = {
    .name = "pareto",
    .operands = "OUT.h5...",
    .summary = "Print the best compromises: the points that no other beats in 2 to 5 metrics.",
    .help =
        "A point beats another when it is at least as good in every metric and better in one. Equal points "
        "are all\n"
        "printed, those that lack a metric never. The order is that of the first metric, then of the next, "
        "and so on,\n"
        "best first; of equal ones that of the axes. Several files of one sweep (shards, other values of an "
        "axis, other\n"
        "engines) are one, and of a sweep that runs its table, OUT.csv, has the newest. As a figure: `dse "
        "plot -k scatter`.\n"
        "\n"
        "  dse pareto out.h5 --min energy_j,latency_s,area_mm2\n"
        "  dse pareto out.h5 --min edp_js --max utilization -w network=resnet50\n"
        "  dse pareto soma.h5 cocco.h5 --min energy_j,latency_s --by network -f csv\n",
    .option = pareto_options,
    .n_option = sizeof pareto_options / sizeof pareto_options[0],
    .min_operand = 1,
    .max_operand = FILE_MAX,
    .run = pareto_main,
};
