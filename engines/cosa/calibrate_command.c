/* dse calibrate ARCH: the weights of CoSA's objective for a machine. */
#include <math.h>
#include <stdlib.h>

#include "engines/cosa/calibrate.h"
#include "engines/cosa/cosa_engines.h"

static const struct cell_column point_column[] = {
    {.title = "weight_util", .look = LOOK_DIGITS, .digit = 10},
    {.title = "weight_comp", .look = LOOK_DIGITS, .digit = 10},
    {.title = "weight_traf", .look = LOOK_DIGITS, .digit = 10},
    {.title = "cost", .look = LOOK_FIXED, .digit = 4},
    {.title = "edp", .look = LOOK_FIXED, .digit = 4},
    {.title = "mapped", .look = LOOK_COUNT},
    {.title = "from", .look = LOOK_TEXT},
};

static const struct cell_column layer_column[] = {
    {.title = "micro-benchmark", .look = LOOK_TEXT},    {.title = "default", .look = LOOK_DIGITS, .digit = 4},
    {.title = "best", .look = LOOK_DIGITS, .digit = 4}, {.title = "ratio", .look = LOOK_FIXED, .digit = 4},
    {.title = "what it stresses", .look = LOOK_TEXT},
};

static void fill_points(const struct calibration *c, struct cells *cells)
{
    cells_init(cells, point_column, sizeof point_column / sizeof point_column[0]);
    for (uint32_t p = 0; p < c->n_point; p++) {
        const struct calibrate_point *point = &c->point[p];
        cells_real(cells, point->weight_util);
        cells_real(cells, point->weight_comp);
        cells_real(cells, point->weight_traf);
        cells_real(cells, point->ratio);
        cells_real(cells, point->edp_ratio);
        cells_format(cells, "%u/%d", point->n_mapped, __builtin_popcount(c->usable));
        cells_format(cells, "%s%s", point->origin, p == c->best ? "  <- best" : "");
    }
}

static void fill_layers(const struct calibration *c, struct cells *cells)
{
    cells_init(cells, layer_column, sizeof layer_column / sizeof layer_column[0]);
    for (uint32_t i = 0; i < c->n_layer; i++) {
        double first = c->point[0].cost[i], best = c->point[c->best].cost[i];
        cells_text(cells, c->layer[i].problem.name);
        cells_real(cells, first);
        cells_real(cells, best);
        cells_real(cells, first < INFINITY ? best / first : INFINITY);
        cells_text(cells, c->layer[i].stress);
    }
}

/* What a specification takes. */
static void print_options(const struct calibration *c, const struct engine_command_task *task,
                          struct text_buffer *out)
{
    const struct calibrate_point *best = &c->point[c->best];
    char objective[64];
    text_append(
        out,
        "\n# weights of CoSA's objective for %s, objective %s, on %d micro-benchmarks: cost %.4f of that "
        "with the default weights\n",
        task->architecture->name, objective_print(&task->objective, objective, sizeof objective),
        __builtin_popcount(c->usable), best->ratio);
    text_append(out, "options: {weight_util: %.10g, weight_comp: %.10g, weight_traf: %.10g}\n",
                best->weight_util, best->weight_comp, best->weight_traf);
}

static enum dse_status run(const struct engine_command_task *task, struct report *report,
                           struct dse_error *err)
{
    struct calibration *c = calloc(1, sizeof *c);
    if (!c)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory");
    enum dse_status status =
        calibrate(task->architecture, &task->objective, task->n_thread, task->cancel, c, err);
    if (status == DSE_OK) {
        fill_points(c, &report->rows);
        fill_layers(c, &report->parts);
        print_options(c, task, &report->foot);
    }
    free(c);
    return status;
}

static const struct cli_option options[] = {
    {"objective", 'O', "WHAT", "what to minimise: latency (default), energy, edp, ed2p or energy^n*delay^m"},
    {"output", 'o', "FILE", "also write the last lines there"},
    {"set", 0, "PATH=VALUE", "replace a quantity of the architecture: DRAM.bandwidth='8 GB/s'; repeatable"},
    {"ert", 0, "FILE",
     "energies of a Timeloop ARCH from a separate Energy Reference Table (as Accelergy writes it)"},
    {"jobs", 'j', "N", "threads (default: the processors this process may use)"},
};

const struct engine_command engine_command_calibrate = {
    .name = "calibrate",
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
    .run = run,
};
