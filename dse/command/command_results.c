/* dse merge, dse plot: what there is to do with result files. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/yaml.h"
#include "costmodel/fused/core_cache.h"
#include "dse/command/commands.h"
#include "dse/command/slurm.h"
#include "dse/console/not_ok.h"
#include "dse/console/table.h"
#include "dse/exchange/exchange.h"
#include "dse/inputs/input_store.h"
#include "dse/report/schedule_input.h"
#include "dse/report/timeline_plot.h"
#include "dse/run/run_report.h"
#include "dse/run/runner.h"
#include "dse/run/threads.h"
#include "dse/spec/sweep.h"
#include "results/cube/cube_read.h"
#include "results/cube/merge.h"
#include "results/cube/merge_files.h"
#include "results/plot/plot.h"

enum { FIGURE_PATH_MAX = 4096, COLUMN_MAX = 256 };

/* ---------------------------------------- merge */

/* What the specification in the merged file says: its path for the command, and which cells are points when
 * it leaves some out. Without inputs in the file there is neither. */
static void look_into(const char *out, struct arena *arena, struct merge_summary *summary,
                      struct result_schema *schema)
{
    struct sweep_spec spec;
    struct sweep sweep;
    char h5[FIGURE_PATH_MAX];
    memset(schema, 0, sizeof *schema);
    if (!result_path(h5, sizeof h5, out, ".h5") || cube_read_schema(h5, arena, schema, NULL) != DSE_OK ||
        cube_read_inputs(h5, arena, schema, NULL, NULL) != DSE_OK || summary->n_example > 0)
        return;
    if (spec_replay(&spec, schema, h5, NULL) == DSE_OK) {
        if (sweep_init(&sweep, &spec, NULL) != DSE_OK ||
            merge_missing_find(out, schema, sweep.cell, sweep.n_point, summary, NULL) != DSE_OK)
            summary->n_example = 0;
        sweep_free(&sweep);
    }
    spec_free(&spec);
}

/* `dse run SPEC -o OUT.h5 --set KEY=VALUE`. */
static void print_command(const char *out, const struct result_schema *schema, FILE *to)
{
    const char *path = "SPEC";
    for (size_t i = 0; i < schema->n_input; i++)
        if (strcmp(schema->input[i].role, INPUT_ROLE_SPECIFICATION) == 0 && schema->input[i].path[0])
            path = schema->input[i].path;
    struct text_buffer text;
    text_init(&text);
    slurm_quote(&text, path);
    text_append(&text, " -o ");
    slurm_quote(&text, out);
    for (size_t i = 0; i < schema->n_set; i++) {
        text_append(&text, " --set ");
        slurm_quote(&text, schema->set[i]);
    }
    if (!text.failed)
        fprintf(to, "dse: to compute what is missing: dse run %s\n", text.data);
    text_free(&text);
}

/* As people write it. */
static void print_place(const struct result_schema *schema, const char *place, FILE *to)
{
    struct text_buffer text;
    text_init(&text);
    not_ok_place(schema, place, &text);
    fprintf(to, "       %s\n", text.failed || !text.data ? place : text.data);
    text_free(&text);
}

static void print_missing(const char *out, struct merge_summary *summary, FILE *to)
{
    char n[64];
    struct arena arena;
    struct result_schema schema;
    arena_init(&arena);
    look_into(out, &arena, summary, &schema);
    fprintf(to, "dse: %s point%s missing%s\n", text_thousands(summary->n_missing, n, sizeof n),
            summary->n_missing == 1 ? " is" : "s are",
            !summary->n_example                       ? ""
            : summary->n_example < summary->n_missing ? ", the first of them:"
                                                      : ":");
    for (size_t i = 0; i < summary->n_example; i++)
        print_place(&schema, summary->example[i], to);
    if (summary->n_absent) {
        fprintf(to, "dse: of %" PRIu32 " shards these were not named:", summary->n_shard);
        for (uint32_t i = 0; i < summary->n_absent && i < MERGE_ABSENT_MAX; i++)
            fprintf(to, " %" PRIu32, summary->absent[i]);
        fputs(summary->n_absent > MERGE_ABSENT_MAX ? " ...\n" : "\n", to);
    }
    print_command(out, &schema, to);
    arena_free(&arena);
}

static enum dse_status take_exchanged(void *user, uint64_t cell, const struct journal_lines *lines,
                                      struct dse_error *err)
{
    const struct cube_entry row = {.cell = cell, .exchanged = true};
    return merge_files_add(user, &row, &lines->point, &lines->layers, err);
}

static enum dse_status exchange_merged(const struct sweep *sweep, const struct result_schema *schema,
                                       struct merge_files *files, struct exchange_summary *found,
                                       struct dse_error *err)
{
    struct core_cache *cache = NULL;
    DSE_TRY(core_cache_new(RUN_CORE_COST_MAX, &cache, err));
    const struct exchange_options options = {
        .tables = files->csv_path,
        .schema = schema,
        .core_cache = cache,
        .n_thread = threads_available(),
        .take = take_exchanged,
        .user = files,
    };
    enum dse_status status = exchange_run(sweep, &options, found, err);
    core_cache_free(cache);
    return status;
}

/* All points are there: their cells exchange schedules, as they do at the end of a run. */
static enum dse_status exchange(void *user, const struct result_schema *schema, struct merge_files *files,
                                struct dse_error *err)
{
    struct sweep_spec spec;
    struct sweep sweep;
    if (!schema->schedules)
        return DSE_OK;
    enum dse_status status = spec_replay(&spec, schema, files->h5_path, err);
    if (status == DSE_OK) {
        status = sweep_init(&sweep, &spec, err);
        if (status == DSE_OK && exchange_is_wanted(&sweep))
            status = exchange_merged(&sweep, schema, files, user, err);
        sweep_free(&sweep);
    }
    spec_free(&spec);
    return status;
}

static enum dse_status merge(const struct cli_args *args, const struct console *console,
                             struct dse_error *err)
{
    struct provenance provenance;
    const char *out = args->operand[0];
    struct merge_summary summary;
    struct exchange_summary found = {0};
    const struct merge_options options = {&provenance, exchange, &found};
    provenance_make(&provenance);
    snprintf(provenance.command, sizeof provenance.command, "dse merge %s", out);
    DSE_TRY(merge_shards(out, (const char *const *)args->operand + 1, args->n_operand - 1, &options, &summary,
                         err));
    fprintf(console->err, "dse: %" PRIu64 " of %" PRIu64 " point%s in %s", summary.n_point,
            summary.n_expected, text_plural(summary.n_expected), out);
    if (summary.n_duplicate)
        fprintf(console->err, "; %" PRIu64 " %s in more than one shard and agreed", summary.n_duplicate,
                summary.n_duplicate == 1 ? "was" : "were");
    if (summary.n_chosen)
        fprintf(console->err,
                "; %" PRIu64
                " differed between shards, as one failed or met a limit of seconds: the better row "
                "was taken",
                summary.n_chosen);
    fputs("\n", console->err);
    run_exchange_print(&found, summary.n_point, console->err);
    if (summary.n_missing)
        print_missing(out, &summary, console->err);
    return DSE_OK;
}

static int merge_main(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    return cli_report(console, merge(args, console, &err), &err);
}

const struct cli_command command_merge = {
    .name = "merge",
    .operands = "OUT.h5 SHARD.h5...",
    .summary = "Put the shards of one sweep together.",
    .help = "Shards are what `dse run --shard` wrote; they must come from the same specification and agree "
            "where they overlap.\n"
            "What is missing is named, with the command that computes it. When nothing is, cells exchange\n"
            "schedules as at the end of `dse run` (docs/sweeps.md).\n"
            "\n"
            "  dse merge out.h5 out.*-of-4.h5\n",
    .min_operand = 2,
    .max_operand = 1025,
    .run = merge_main,
};

/* ---------------------------------------- plot */

/* The column of an axis as the specification calls it: "DRAM.bandwidth" is "DRAM.bandwidth_byte_per_s". */
static const char *column_of(const struct result_schema *schema, const char *name)
{
    size_t length = name ? strlen(name) : 0;
    for (size_t a = 0; name && a < schema->n_axis; a++)
        for (size_t k = 0; k < schema->axis[a].n_coordinate; k++) {
            const char *column = schema->axis[a].coordinate[k].name;
            if (strncmp(column, name, length) == 0 && (column[length] == '\0' || column[length] == '_'))
                return column;
        }
    return name;
}

/* "DRAM.bandwidth=4 GB/s" with the column's name in front. */
static const char *where_of(const struct result_schema *schema, const char *text, struct arena *arena)
{
    char name[COLUMN_MAX], line[2 * COLUMN_MAX];
    const char *equals = strchr(text, '=');
    if (!equals || (size_t)(equals - text) >= sizeof name)
        return text;
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    int n = snprintf(line, sizeof line, "%s%s", column_of(schema, name), equals);
    if (n < 0 || (size_t)n >= sizeof line)
        return text;
    const char *copy = arena_copy_text(arena, line, (size_t)n);
    return copy ? copy : text;
}

/* What both the specification and the command line may say. */
enum { N_PLOT_TEXT = 4 };
static const char *const plot_text_key[N_PLOT_TEXT] = {"x", "y", "metric", "title"};

static const char **plot_text(struct plot_options *options, size_t i)
{
    const char **const out[N_PLOT_TEXT] = {&options->x, &options->y, &options->metric, &options->title};
    return out[i];
}

/* What the specification in the file says about its figure. Anything odd in it was checked when it ran, and
 * is passed over. */
static void plot_defaults(const char *h5, struct arena *arena, struct yaml_doc *doc,
                          struct plot_options *options)
{
    const char *text = cube_read_attribute(h5, "specification", arena);
    if (!text || yaml_parse(doc, "specification", text, strlen(text), NULL) != DSE_OK)
        return;
    const struct ynode *plot = yaml_find(doc->root, "plot");
    for (size_t i = 0; i < N_PLOT_TEXT; i++) {
        const struct ynode *node = yaml_find(plot, plot_text_key[i]);
        if (node && node->kind == YNODE_SCALAR)
            *plot_text(options, i) = node->text;
    }
    const struct ynode *kind = yaml_find(plot, "kind");
    if (kind && kind->kind == YNODE_SCALAR)
        options->kind = plot_kind_find(kind->text);
}

/* --kind. x and y of the specification are for its own kind: to another they would be panels or bars; so are
 * metrics that the kind asked for cannot show. */
static enum dse_status read_kind(const struct cli_args *args, struct plot_options *options,
                                 struct dse_error *err)
{
    size_t n, index;
    const char *const *names = plot_kind_names(&n);
    DSE_TRY(cli_choice(args, "kind", names, n, 0, &index, err));
    const struct plot_kind *said = options->kind;
    if (!cli_value(args, "kind"))
        return DSE_OK;
    options->kind = plot_kind_at(index);
    if (options->kind != said && (said || !options->kind->has_two_axes))
        options->x = options->y = NULL;
    if (plot_kind_takes(options->kind, options->metric, NULL) != DSE_OK)
        options->metric = NULL;
    return DSE_OK;
}

static enum dse_status read_plot_options(const struct cli_args *args, const struct result_schema *schema,
                                         struct arena *arena, const char **where,
                                         struct plot_options *options, struct dse_error *err)
{
    unsigned long long facets = 0;
    DSE_TRY(read_kind(args, options, err));
    for (size_t i = 0; i < N_PLOT_TEXT; i++)
        if (cli_value(args, plot_text_key[i]))
            *plot_text(options, i) = cli_value(args, plot_text_key[i]);
    DSE_TRY(cli_number(args, "facets", 1, 100, &facets, err));
    options->layer = cli_value(args, "layer");
    if (options->layer && (!options->kind || options->kind->draw != plot_kind_find("front")->draw))
        return dse_fail(err, DSE_BAD_USAGE, "--layer is of figures of kind front");
    options->max_facet = (size_t)facets;
    options->keep_script = cli_has(args, "keep-script");
    if (!options->kind || !options->kind->x_words)
        options->x = column_of(schema, options->x);
    options->y = column_of(schema, options->y);
    options->where = where;
    options->n_where = cli_values(args, "where", where);
    for (size_t i = 0; i < options->n_where; i++)
        where[i] = where_of(schema, where[i], arena);
    return DSE_OK;
}

static enum dse_status draw(const struct cli_args *args, const struct console *console, struct arena *arena,
                            struct yaml_doc *doc, struct dse_error *err)
{
    const char *h5 = args->operand[0], *where[CLI_VALUE_MAX];
    char figure[FIGURE_PATH_MAX];
    struct plot_options options = {0};
    struct result_schema schema;
    DSE_TRY(timeline_plot_not(args, err));
    DSE_TRY(cube_read_schema(h5, arena, &schema, err));
    plot_defaults(h5, arena, doc, &options);
    DSE_TRY(read_plot_options(args, &schema, arena, where, &options, err));
    const char *given = cli_value(args, "output");
    if (given ? !text_copy(figure, sizeof figure, given) : !result_path(figure, sizeof figure, h5, ".png"))
        return dse_fail(err, DSE_BAD_USAGE, "--output: the path is too long");
    DSE_TRY(plot_draw(h5, figure, &options, err));
    fprintf(console->err, "dse: %s\n", figure);
    return DSE_OK;
}

static int plot_main(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    struct arena arena;
    struct yaml_doc doc;
    if (timeline_is_operand(args->operand[0]))
        return cli_report(console, timeline_plot(args, console, &err), &err);
    memset(&doc, 0, sizeof doc);
    arena_init(&arena);
    enum dse_status status = draw(args, console, &arena, &doc, &err);
    yaml_doc_free(&doc);
    arena_free(&arena);
    return cli_report(console, status, &err);
}

static const struct cli_option plot_option_table[] = {
    {"output", 'o', "FIG", "the figure, .png, .svg or .pdf (default: OUT.png)"},
    {"kind", 'k', "WHAT",
     "what to draw (default: what the specification says, else lines over one axis, a heatmap over more)"},
    {"metric", 'm', "COLUMN",
     "what to show: edp_js (default), latency_s, energy_j, dram_byte, ...; several as lines: a,b"},
    {"x", 'x', "AXIS",
     "the horizontal axis, as in the specification (default: chosen by length); of convergence: evaluations "
     "(default) or seconds"},
    {"y", 'y', "AXIS", "the vertical axis; of lines and convergence: a line for each of its values"},
    {"layer", 'l', "NAME", "of kind front: the front of this layer in place of the network's"},
    {"where", 'w', "AXIS=VALUE", "only this slice: PE.mesh=4x4, DRAM.bandwidth='8 GB/s'; repeatable"},
    {"facets", 0, "N", "at most so many panels (default 12)"},
    {"title", 0, "TEXT", "above the figure (default: the specification's title)"},
    {"keep-script", 0, NULL, "also leave FIG.gp, the gnuplot script with its data"},
    {"cycles", 0, "FROM:TO", "of an execution graph only this time"},
    {"arch", 0, "ARCH", "what a SCHEDULE runs on, as for `dse eval`"},
    {"network", 0, "NETWORK", "what a SCHEDULE computes (default: the network that it names)"},
    {"batch", 'b', "N", "samples of a SCHEDULE (default: what the network says, else 1)"},
    {"set", 0, "PATH=VALUE",
     "replace a quantity of ARCH, or a parameter of NETWORK (network.NAME=VALUE); repeatable"},
};

const struct cli_command command_plot = {
    .name = "plot",
    .operands = "OUT.h5|TIMELINE.h5...|SCHEDULE...",
    .summary = "Draw a figure of a result file, or the execution graph of schedules, with gnuplot.",
    .help = "Axes beyond two become panels. Defaults come from `plot:` in the specification; its x and y "
            "only for "
            "the kind it is about.\n"
            "\n"
            "Of schedules, or of timelines that `dse eval --timeline` wrote, the execution graphs are "
            "drawn one above the other\n"
            "(docs/execution-graph.md).\n"
            "\n"
            "  dse plot output/quickstart.h5 -o edp.png\n"
            "  dse plot output/quickstart.h5 -m energy_j -w PE.mesh=4x4 -o energy.pdf\n"
            "  dse plot output/quickstart.h5 -k breakdown -w PE.mesh=4x4 -o bars.svg\n"
            "  dse plot fronts.h5 -k front -l conv1 -o conv1.png\n"
            "  dse plot stage1.h5 stage2.h5 -o stalls.pdf\n"
            "  dse plot schedule.yaml --arch soma_edge -o graph.png\n",
    .option = plot_option_table,
    .n_option = sizeof plot_option_table / sizeof plot_option_table[0],
    .more = schedule_graph_flag_at,
    .min_operand = 1,
    .max_operand = 8,
    .choice_option = "kind",
    .choice = plot_kind_word,
    .run = plot_main,
};
