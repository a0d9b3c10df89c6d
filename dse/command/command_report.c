/* dse report: a sweep as one page of HTML. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/files.h"
#include "base/text.h"
#include "base/yaml.h"
#include "dse/command/commands.h"
#include "dse/command/current_cube.h"
#include "dse/command/result_files.h"
#include "dse/command/run_command.h"
#include "dse/command/slurm.h"
#include "dse/console/not_ok.h"
#include "dse/console/reason_groups.h"
#include "results/cube/cube_read.h"
#include "results/page/page.h"

enum { PAGE_PATH_MAX = 4096, REASONS_SHOWN = 40, COLUMN_MAX = 256 };

struct report_job {
    struct arena arena;
    size_t n_file;
    char *const *given;         /* (n_file) as they are on the command line */
    struct current_cubes cubes; /* (n_file) */
    struct yaml_doc doc;        /* the specification */
    struct page_data data;
    struct page_words words;
    struct reason_groups groups;
    struct page_reason reason[REASONS_SHOWN];
};

/* ---------------------------------------- what the specification says */

static const char *scalar(const struct ynode *node)
{
    return node && node->kind == YNODE_SCALAR ? node->text : NULL;
}

/* What --set gave for a key, else what the specification says. */
static const char *setting(const struct report_job *job, const struct result_schema *schema, const char *key)
{
    const size_t n = strlen(key);
    for (size_t i = schema->n_set; i-- > 0;)
        if (strncmp(schema->set[i], key, n) == 0 && schema->set[i][n] == '=')
            return schema->set[i] + n + 1;
    return scalar(yaml_find(job->doc.root, key));
}

/* What is shown first: --metric, what the specification says of its figure, what was minimised. */
static const char *metric_of(const struct report_job *job, const struct cli_args *args, const char *objective)
{
    const char *given = cli_value(args, "metric");
    if (!given)
        given = scalar(yaml_find(yaml_find(job->doc.root, "plot"), "metric"));
    if (given)
        return given;
    return strcmp(objective, "latency") == 0  ? "latency_s"
           : strcmp(objective, "energy") == 0 ? "energy_j"
                                              : "edp_js";
}

/* An axis of the specification's figure, which --where may have left without a choice. */
static const char *unless_fixed(const char *axis, const struct plot_options *options)
{
    for (size_t i = 0; axis && i < options->n_where; i++) {
        char name[COLUMN_MAX];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(options->where[i], "="), options->where[i]);
        if (strcmp(name, axis) == 0 || result_column_is(name, axis) || result_column_is(axis, name))
            return NULL;
    }
    return axis;
}

static enum dse_status read_data(struct report_job *job, const struct cli_args *args, struct dse_error *err)
{
    static const char standard[] = "edp";
    struct result_schema schema;
    const char *where[CLI_VALUE_MAX];
    DSE_TRY(cube_read_schema(job->cubes.path[0], &job->arena, &schema, err));
    DSE_TRY(cube_read_inputs(job->cubes.path[0], &job->arena, &schema, NULL, err));
    if (yaml_parse(&job->doc, "specification", schema.specification, strlen(schema.specification), NULL) !=
        DSE_OK)
        memset(&job->doc, 0, sizeof job->doc);
    const char *objective = setting(job, &schema, "objective");
    const struct ynode *plot = yaml_find(job->doc.root, "plot");
    const char *kind = scalar(yaml_find(plot, "kind"));
    const bool is_map = !kind || strcmp(kind, "heatmap") == 0;
    struct plot_options options = {
        .metric = metric_of(job, args, objective ? objective : standard),
        .x = cli_value(args, "x"),
        .y = cli_value(args, "y"),
        .where = where,
        .n_where = cli_values(args, "where", where),
        .n_file = job->n_file,
    };
    DSE_TRY(result_files_read(job->cubes.path, job->n_file, &job->arena, &options.file, err));
    if (is_map && !options.x && !options.y) {
        options.x = unless_fixed(scalar(yaml_find(plot, "x")), &options);
        options.y = unless_fixed(scalar(yaml_find(plot, "y")), &options);
    }
    DSE_TRY(page_data_open(&job->data, job->cubes.path[0], &options, err));
    job->words.objective = objective ? objective : standard;
    for (size_t a = 0; a < schema.n_axis; a++)
        if (plot_axis_has(&job->data.plot, a, "objective"))
            job->words.objective = NULL;
    return DSE_OK;
}

/* ---------------------------------------- what is told besides */

static enum dse_status group_reasons(struct report_job *job, struct dse_error *err)
{
    const struct page_data *data = &job->data;
    struct text_buffer text;
    text_init(&text);
    for (size_t i = 0; i < data->n_mark; i++) {
        uint32_t index[RESULT_AXIS_MAX];
        enum result_status outcome;
        const size_t cell = data->mark[i];
        if (!result_status_find(data->plot.status[cell], &outcome) ||
            (outcome == RESULT_OK && !data->reason[cell][0]))
            continue;
        struct reason_group *group = reason_groups_add(&job->groups, outcome, data->reason[cell], cell);
        if (!group)
            continue;
        for (size_t a = 0; a < data->plot.schema.n_axis; a++)
            index[a] = plot_position(&data->plot, cell, a);
        text_clear(&text);
        not_ok_place_of(&data->plot.schema, index, &text);
        reason_group_place(group, text.data ? text.data : "");
    }
    text_free(&text);
    reason_groups_sort(&job->groups);
    job->words.reason = job->reason;
    job->words.n_other = job->groups.n_other;
    for (size_t i = 0; i < job->groups.n; i++) {
        const struct reason_group *group = &job->groups.group[i];
        if (i >= REASONS_SHOWN) {
            job->words.n_other += group->n;
            continue;
        }
        text_init(&text);
        reason_group_text(group, &text);
        job->reason[job->words.n_reason++] = (struct page_reason){
            group->n, result_status_text(group->status), text_keep(&text, &job->arena), group->place};
    }
    return arena_check(&job->arena, "the page", err);
}

/* `dse run SPEC -o OUT.h5 --set KEY=VALUE` for each specification, and `dse rerun OUT.h5` for each file. */
static enum dse_status write_commands(struct report_job *job, struct dse_error *err)
{
    const struct page_source *source = job->data.source;
    struct text_buffer run, rerun;
    text_init(&run);
    text_init(&rerun);
    for (size_t i = 0; i < job->n_file; i++) {
        bool said = false;
        for (size_t k = 0; k < i; k++)
            said = said || source[k].schema.specification_hash == source[i].schema.specification_hash;
        if (!said) {
            text_append_string(&run, run.length ? "\n" : "");
            run_command_append(job->given[i], &source[i].schema, &run);
        }
        text_append_string(&rerun, i ? "\ndse rerun " : "dse rerun ");
        slurm_quote(&rerun, job->given[i]);
    }
    job->words.command = text_keep(&run, &job->arena);
    job->words.rerun = text_keep(&rerun, &job->arena);
    return arena_check(&job->arena, "the page", err);
}

static enum dse_status open_files(struct report_job *job, const struct cli_args *args, struct dse_error *err)
{
    job->n_file = args->n_operand;
    job->given = args->operand;
    job->words.name = (const char *const *)args->operand;
    return current_cubes_open((const char *const *)job->given, job->n_file, &job->arena, &job->cubes, err);
}

static enum dse_status output_path(const struct cli_args *args, char path[PAGE_PATH_MAX],
                                   struct dse_error *err)
{
    const char *given = cli_value(args, "output");
    if (given ? text_copy(path, PAGE_PATH_MAX, given)
              : result_path(path, PAGE_PATH_MAX, args->operand[0], ".html"))
        return DSE_OK;
    return dse_fail(err, DSE_BAD_USAGE, "--output: the path is too long");
}

static enum dse_status report(struct report_job *job, const struct cli_args *args,
                              const struct console *console, struct dse_error *err)
{
    char path[PAGE_PATH_MAX];
    struct text_buffer text;
    DSE_TRY(output_path(args, path, err));
    DSE_TRY(open_files(job, args, err));
    DSE_TRY(read_data(job, args, err));
    if (job->data.n_mark == 0)
        return dse_fail_at(err, DSE_BAD_INPUT, job->given[0], 0,
                           "there is no point yet that the page could show");
    job->words.title = cli_value(args, "title");
    DSE_TRY(group_reasons(job, err));
    DSE_TRY(write_commands(job, err));
    text_init(&text);
    enum dse_status status = page_write(&job->data, &job->words, &text, err);
    if (status == DSE_OK)
        status = new_file_write(path, &text, err);
    text_free(&text);
    if (status == DSE_OK)
        fprintf(console->err, "dse: %s\n", path);
    return status;
}

static int report_main(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    struct report_job *job = calloc(1, sizeof *job);
    if (!job)
        return cli_report(console, dse_fail(&err, DSE_NO_MEMORY, "out of memory for the page"), &err);
    arena_init(&job->arena);
    const enum dse_status status = report(job, args, console, &err);
    page_data_close(&job->data);
    yaml_doc_free(&job->doc);
    current_cubes_close(&job->cubes);
    arena_free(&job->arena);
    free(job);
    return cli_report(console, status, &err);
}

static const struct cli_option report_options[] = {
    {"output", 'o', "PAGE", "the page (default: OUT.html)"},
    {"metric", 'm', "COLUMN",
     "what is shown first (default: what the specification shows, else what was minimised)"},
    {"x", 'x', "AXIS", "the horizontal axis of the map (default: the longest, numbers first)"},
    {"y", 'y', "AXIS", "its vertical axis"},
    {"where", 'w', "AXIS=VALUE", "only this slice: PE.mesh=4x4, DRAM.bandwidth='8 GB/s'; repeatable"},
    {"title", 0, "TEXT", "at the top (default: the specification's title)"},
};

const struct cli_command command_report = {
    .name = "report",
    .operands = "OUT.h5...",
    .summary = "Write a sweep as one page for a browser, which loads nothing.",
    .help =
        "What was varied, the best points, all points by any metric, the best compromises, what the best is "
        "made of,\n"
        "gaps to the lower bounds, failures by reason, and how to repeat it. A sweep that is not finished "
        "says "
        "so.\n"
        "\n"
        "  dse report out.h5\n"
        "  dse report out.h5 -m energy_j -w PE.mesh=4x4 -o energy.html\n",
    .option = report_options,
    .n_option = sizeof report_options / sizeof report_options[0],
    .min_operand = 1,
    .max_operand = 1024,
    .run = report_main,
};
