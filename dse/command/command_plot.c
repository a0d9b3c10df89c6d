/* dse plot: figures of result files. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/yaml.h"
#include "dse/command/commands.h"
#include "dse/command/result_files.h"
#include "dse/report/schedule_input.h"
#include "dse/report/timeline_plot.h"
#include "results/cube/cube_read.h"
#include "results/plot/plot.h"

enum { FIGURE_PATH_MAX = 4096 };

/* What both the specification and the command line may say. */
enum { N_PLOT_TEXT = 7 };
static const char *const plot_text_key[N_PLOT_TEXT] = {"x",     "y",        "metric", "title",
                                                       "color", "relative", "winner"};

static const char **plot_text(struct plot_options *options, size_t i)
{
    const char **const out[N_PLOT_TEXT] = {&options->x,     &options->y,     &options->metric,
                                           &options->title, &options->color, &options->relative,
                                           &options->winner};
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

/* --kind; comparisons are heatmaps. x and y of the specification are for its own kind: to another they would
 * be panels or bars; so are metrics that the kind asked for cannot show, and comparisons. A comparison asked
 * for replaces the specification's. */
static enum dse_status read_kind(const struct cli_args *args, struct plot_options *options,
                                 struct dse_error *err)
{
    size_t n, index;
    const char *const *names = plot_kind_names(&n);
    DSE_TRY(cli_choice(args, "kind", names, n, 0, &index, err));
    const struct plot_kind *said = options->kind;
    const bool compares = cli_has(args, "relative") || cli_has(args, "winner");
    if (compares)
        options->relative = options->winner = NULL;
    if (!cli_value(args, "kind") && !(compares && said && !(said->traits & PLOT_COMPARES)))
        return DSE_OK;
    options->kind = cli_value(args, "kind") ? plot_kind_at(index) : plot_kind_find("heatmap");
    if (options->kind != said && (said || !(options->kind->traits & PLOT_TWO_AXES)))
        options->x = options->y = NULL;
    if (!(options->kind->traits & PLOT_COMPARES))
        options->relative = options->winner = NULL;
    if (plot_kind_takes(options->kind, options->metric, NULL) != DSE_OK)
        options->metric = NULL;
    return DSE_OK;
}

static enum dse_status read_plot_options(const struct cli_args *args, const char **where,
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
    if (cli_value(args, "color") && (!options->kind || !(options->kind->traits & PLOT_METRICS)))
        return dse_fail(err, DSE_BAD_USAGE, "--color is of figures of kind scatter");
    if (options->relative && strcmp(options->relative, "none") == 0)
        options->relative = NULL;
    if (options->winner && strcmp(options->winner, "none") == 0)
        options->winner = NULL;
    options->max_facet = (size_t)facets;
    options->keep_script = cli_has(args, "keep-script");
    options->where = where;
    options->n_where = cli_values(args, "where", where);
    return DSE_OK;
}

static enum dse_status draw(const struct cli_args *args, const struct console *console, struct arena *arena,
                            struct yaml_doc *doc, struct dse_error *err)
{
    const char *h5 = args->operand[0], *where[CLI_VALUE_MAX];
    char figure[FIGURE_PATH_MAX];
    struct plot_options options = {0};
    DSE_TRY(timeline_plot_not(args, err));
    DSE_TRY(
        result_files_read((const char *const *)args->operand, args->n_operand, arena, &options.file, err));
    options.n_file = args->n_operand;
    plot_defaults(h5, arena, doc, &options);
    DSE_TRY(read_plot_options(args, where, &options, err));
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
     "(default) or seconds; of scatter: a metric (default latency_s)"},
    {"y", 'y', "AXIS",
     "the vertical axis; of lines and convergence: a line for each of its values; of scatter: a metric "
     "(default energy_j)"},
    {"color", 0, "AXIS", "of kind scatter: a colour for each of its values (default: engine), or none"},
    {"relative", 0, "AXIS=VALUE",
     "a heatmap of each cell over the one with this value: engine=cocco; below 1 is less; or none"},
    {"winner", 0, "AXIS",
     "a heatmap of which value of this axis is best, and by how much over the second; or none"},
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
    .operands = "OUT.h5...|TIMELINE.h5...|SCHEDULE...",
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
            "  dse plot out.h5 -k scatter -x area_mm2 -y edp_js --color engine -o front.pdf\n"
            "  dse plot soma.h5 cocco.h5 --relative engine=cocco -o gain.pdf\n"
            "  dse plot out.h5 --winner engine -m energy_j -o winner.pdf\n"
            "  dse plot fronts.h5 -k front -l conv1 -o conv1.png\n"
            "  dse plot stage1.h5 stage2.h5 -o stalls.pdf\n"
            "  dse plot schedule.yaml --arch soma_edge -o graph.png\n",
    .option = plot_option_table,
    .n_option = sizeof plot_option_table / sizeof plot_option_table[0],
    .more = schedule_graph_flag_at,
    .min_operand = 1,
    .max_operand = 1024,
    .choice_option = "kind",
    .choice = plot_kind_word,
    .run = plot_main,
};
