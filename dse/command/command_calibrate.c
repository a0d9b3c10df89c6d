/* dse calibrate ARCH */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dse/command/commands.h"
#include "dse/console/output_file.h"
#include "dse/console/table.h"
#include "dse/inputs/inputs.h"
#include "dse/isolate/run_signals.h"
#include "dse/run/threads.h"
#include "engines/cosa/calibrate.h"

/* ---------------------------------------- what is said */

static void print_ratio(struct table *table, double ratio)
{
    if (ratio < INFINITY)
        table_cell(table, "%.4f", ratio);
    else
        table_cell(table, "-");
}

static void print_cost(struct table *table, double cost)
{
    if (cost < INFINITY)
        table_cell(table, "%.4g", cost);
    else
        table_cell(table, "-");
}

static void print_points(const struct calibration *c, struct text_buffer *out)
{
    static const char *const header[] = {"weight_util", "weight_comp", "weight_traf", "cost",
                                         "edp",         "mapped",      "from"};
    struct table table;
    table_init(&table, header, 7, 1u << 6);
    for (uint32_t p = 0; p < c->n_point; p++) {
        const struct calibrate_point *point = &c->point[p];
        table_cell(&table, "%.10g", point->weight_util);
        table_cell(&table, "%.10g", point->weight_comp);
        table_cell(&table, "%.10g", point->weight_traf);
        print_ratio(&table, point->ratio);
        print_ratio(&table, point->edp_ratio);
        table_cell(&table, "%u/%d", point->n_mapped, __builtin_popcount(c->usable));
        table_cell(&table, "%s%s", point->origin, p == c->best ? "  <- best" : "");
    }
    table_print(&table, out);
    table_free(&table);
}

static void print_layers(const struct calibration *c, struct text_buffer *out)
{
    static const char *const header[] = {"micro-benchmark", "default", "best", "ratio", "what it stresses"};
    struct table table;
    table_init(&table, header, 5, 1u << 0 | 1u << 4);
    for (uint32_t i = 0; i < c->n_layer; i++) {
        double first = c->point[0].cost[i], best = c->point[c->best].cost[i];
        table_cell(&table, "%s", c->layer[i].problem.name);
        print_cost(&table, first);
        print_cost(&table, best);
        print_ratio(&table, first < INFINITY ? best / first : INFINITY);
        table_cell(&table, "%s", c->layer[i].stress);
    }
    table_print(&table, out);
    table_free(&table);
}

/* What a specification takes. */
static void print_options(const struct calibration *c, const struct architecture *arch, const char *objective,
                          struct text_buffer *out)
{
    const struct calibrate_point *best = &c->point[c->best];
    text_append(
        out,
        "# weights of CoSA's objective for %s, objective %s, on %d micro-benchmarks: cost %.4f of that "
        "with the default weights\n",
        arch->name, objective, __builtin_popcount(c->usable), best->ratio);
    text_append(out, "options: {weight_util: %.10g, weight_comp: %.10g, weight_traf: %.10g}\n",
                best->weight_util, best->weight_comp, best->weight_traf);
}

static enum dse_status report(const struct console *console, const struct calibration *c,
                              const struct architecture *arch, const struct objective *objective, FILE *file,
                              struct dse_error *err)
{
    struct text_buffer out, options;
    char name[64];
    enum dse_status status = DSE_OK;
    text_init(&out);
    text_init(&options);
    print_points(c, &out);
    text_append(&out, "\n");
    print_layers(c, &out);
    print_options(c, arch, objective_print(objective, name, sizeof name), &options);
    if (out.failed || options.failed)
        status = dse_fail(err, DSE_NO_MEMORY, "out of memory for the report");
    if (status == DSE_OK && file)
        fputs(options.data, file);
    if (status == DSE_OK)
        fprintf(console->out, "%s\n%s", out.data, options.data);
    text_free(&out);
    text_free(&options);
    return status;
}

/* ---------------------------------------- the command */

/* A signal sets a flag, and the search ends after the layers in flight. */
static enum dse_status calibrate_watched(const struct architecture *arch, const struct objective *objective,
                                         int n_thread, struct watch *watch, struct calibration *c,
                                         struct dse_error *err)
{
    DSE_TRY(watch_start(watch, NULL, err));
    enum dse_status status = calibrate(arch, objective, n_thread, &watch->cancel, c, err);
    watch_stop(watch);
    return status;
}

/* All that must not end halfway: there would be half a file. */
static enum dse_status calibrate_to_file(const struct console *console, const char *path,
                                         const struct architecture *arch, const struct objective *objective,
                                         int n_thread, struct calibration *c, struct dse_error *err)
{
    struct output_file file; /* where the options go besides the standard output */
    struct watch watch;
    watch_block(&watch);
    enum dse_status status = output_file_open(path, NULL, &file, err);
    if (status == DSE_OK) {
        status = calibrate_watched(arch, objective, n_thread, &watch, c, err);
        if (status == DSE_OK)
            status = report(console, c, arch, objective, file.stream, err);
        status = output_file_close(&file, status, err);
    }
    watch_unblock(&watch);
    return status;
}

static enum dse_status run(const struct cli_args *args, const struct console *console, struct calibration *c,
                           struct dse_error *err)
{
    struct architecture arch;
    struct objective objective;
    struct input_overrides overrides;
    unsigned long long threads = (unsigned long long)threads_available();
    const char *word = cli_value(args, "objective");
    DSE_TRY(cli_number(args, "jobs", 1, 4096, &threads, err));
    DSE_TRY(objective_parse(word ? word : "latency", &objective, err));
    DSE_TRY(input_overrides_read(args, &overrides, err));
    DSE_TRY(input_architecture(args->operand[0], &overrides, &arch, err));
    return calibrate_to_file(console, cli_value(args, "output"), &arch, &objective, (int)threads, c, err);
}

static int command(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    struct calibration *c = calloc(1, sizeof *c);
    if (!c)
        return cli_report(console, DSE_NO_MEMORY, &(struct dse_error){.text = "out of memory"});
    int code = cli_report(console, run(args, console, c, &err), &err);
    free(c);
    return code;
}

static const struct cli_option options[] = {
    {"objective", 'O', "WHAT", "what to minimise: latency (default), energy, edp, ed2p or energy^n*delay^m"},
    {"output", 'o', "FILE", "also write the options line there"},
    {"set", 0, "PATH=VALUE", "replace a quantity of the architecture: DRAM.bandwidth='8 GB/s'; repeatable"},
    {"ert", 0, "FILE",
     "energies of a Timeloop ARCH from a separate Energy Reference Table (as Accelergy writes it)"},
    {"jobs", 'j', "N", "threads (default: the processors this process may use)"},
};

const struct cli_command command_calibrate = {
    .name = "calibrate",
    .operands = "ARCH",
    .summary = "Find the weights of CoSA's objective for a machine with micro-benchmarks.",
    .help =
        "Twelve layers that stress compute, traffic of each tensor, network and capacity are mapped by "
        "engine cosa\n"
        "with a grid of weights and with weights measured from the machine. Costs are geometric means "
        "relative to\n"
        "the default weights. Of the costs within 2 % of the lowest, and not above the default, the lowest "
        "EDP\n"
        "wins, then the first. The last line goes into a specification whose engine is cosa or cosa-best.\n"
        "\n"
        "  dse calibrate simba\n"
        "  dse calibrate simba --set PE.mesh=8x8 --objective edp -o weights.yaml\n",
    .option = options,
    .n_option = sizeof options / sizeof options[0],
    .min_operand = 1,
    .max_operand = 1,
    .run = command,
};
