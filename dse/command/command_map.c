/* dse map ARCH NETWORK --engine E */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dse/command/commands.h"
#include "dse/command/map_hint.h"
#include "dse/inputs/input_store.h"
#include "dse/inputs/inputs.h"
#include "dse/report/map_network.h"
#include "dse/report/map_report.h"
#include "dse/run/threads.h"
#include "dse/solve/map_layers.h"
#include "dse/solve/option_files.h"
#include "dse/solve/solve.h"
#include "dse/solve/workload.h"

/* Everything one call of the command holds. */
struct map_job {
    struct architecture arch;
    struct network network;
    struct workload workload;
    struct yaml_doc constraints;
    struct solve_settings settings;
    struct input_store *inputs; /* of the files */
    struct option_files *files; /* that options name */
    struct map_layers mapped;   /* by a mapper */
    struct arena arena;
    struct map_found found; /* by a scheduler */
    struct mapping_texts texts;
    const struct vector_format *vectors; /* of --format vector */
    uint32_t n_no_vector;
    bool each_dataflow;
    size_t format;
    int n_thread;
};

/* --front says it, too. */
static enum dse_status read_objective(const struct cli_args *args, struct solve_settings *settings,
                                      struct dse_error *err)
{
    const bool front = cli_has(args, "front");
    const char *text = cli_value(args, "objective");
    if (text)
        DSE_TRY(solve_settings_objective(settings, text, err));
    if (text && front && !settings->front)
        return dse_fail(err, DSE_BAD_USAGE, "--front is the objective " OBJECTIVE_FRONT ", not %.60s", text);
    return front ? solve_settings_objective(settings, OBJECTIVE_FRONT, err) : DSE_OK;
}

static enum dse_status read_options(const struct cli_args *args, struct map_job *job, struct dse_error *err)
{
    struct solve_settings *settings = &job->settings;
    unsigned long long seed = 0, max_evaluations = 0, max_seconds = 0;
    char name[INPUT_SET_TEXT_MAX];
    const char *value;
    DSE_TRY(solve_settings_init(settings, cli_value(args, "engine") ? cli_value(args, "engine") : "descent",
                                err));
    DSE_TRY(input_store_new(&job->inputs, err));
    DSE_TRY(option_files_new(job->inputs, NULL, &job->files, err));
    settings->files = job->files;
    DSE_TRY(read_objective(args, settings, err));
    DSE_TRY(cli_number(args, "seed", 0, UINT64_MAX, &seed, err));
    DSE_TRY(cli_number(args, "max-evaluations", 0, UINT64_MAX, &max_evaluations, err));
    DSE_TRY(cli_number(args, "max-seconds", 0, 1000000000, &max_seconds, err));
    settings->seed = seed;
    settings->max_evaluations = max_evaluations;
    settings->max_seconds = (double)max_seconds;
    if (cli_value(args, "bound"))
        DSE_TRY(bound_effort_parse(cli_value(args, "bound"), &settings->bound_effort, err));
    if (cli_value(args, "accounting"))
        DSE_TRY(accounting_named(cli_value(args, "accounting"), &settings->accounting, err));
    for (size_t i = 0; i < args->n_value; i++) {
        if (strcmp(args->value[i].option->name, "option") != 0)
            continue;
        DSE_TRY(input_split_set("option", args->value[i].text, name, sizeof name, &value, err));
        DSE_TRY(solve_settings_option(settings, name, value, err));
    }
    return solve_settings_settle(settings, err);
}

/* --simulations is of the measure noc, and asks for it. */
static enum dse_status read_simulations(const struct cli_args *args, struct measure_settings *measure,
                                        struct dse_error *err)
{
    size_t n;
    unsigned long long n_choice = 0;
    const int noc = measure_find("noc");
    DSE_TRY(cli_number(args, "simulations", 1, measure_all(&n)[noc]->choice_highest, &n_choice, err));
    if (!(measure->what >> noc & 1u))
        DSE_TRY(measure_add(measure, "noc", err));
    return measure_choose(measure, noc, n_choice, err);
}

/* A sweep's --set takes engine options too, so that is what people try here. */
static enum dse_status refuse_options(const struct input_overrides *overrides, struct dse_error *err)
{
    for (size_t i = 0; i < overrides->n; i++)
        if (strncmp(overrides->path[i], "option.", 7) == 0)
            return dse_fail(err, DSE_BAD_USAGE,
                            "--set %.80s: --set is for the architecture; write --option %.80s=%.80s",
                            overrides->path[i], overrides->path[i] + 7, overrides->value[i]);
    return DSE_OK;
}

static enum dse_status read_constraints(const char *path, struct map_job *job, struct dse_error *err)
{
    const struct ynode *list;
    DSE_TRY(input_constraints(path, &job->constraints, &list, err));
    return map_layers_constrain(&job->settings, &job->constraints, list, &job->workload, &job->arch, err);
}

/* --format vector: the machine and the problems must be such that mappings have vectors. */
static enum dse_status prepare_vectors(struct map_job *job, struct dse_error *err)
{
    if (solve_is_scheduler(&job->settings))
        return dse_fail(err, DSE_BAD_USAGE, "--format vector is for mappings; engine %s schedules networks",
                        job->settings.engine->name);
    DSE_TRY(vector_format_of(&job->arch, &job->vectors, err));
    for (uint32_t p = 0; p < job->workload.n_problem; p++)
        DSE_TRY(job->vectors->takes(&job->arch, &job->workload.problem[p], err));
    return DSE_OK;
}

static enum dse_status prepare(const struct cli_args *args, struct map_job *job, struct dse_error *err)
{
    static const char *const formats[] = {"table", "yaml", "csv", "json", "vector"};
    struct input_overrides overrides;
    const char *names[CLI_VALUE_MAX];
    size_t n_name = 0;
    unsigned long long batch = 0, threads = 0;
    DSE_TRY(cli_choice(args, "format", formats, sizeof formats / sizeof formats[0], MAP_TABLE, &job->format,
                       err));
    DSE_TRY(cli_number(args, "batch", 1, UINT32_MAX, &batch, err));
    DSE_TRY(cli_number(args, "jobs", 1, 4096, &threads, err));
    DSE_TRY(read_options(args, job, err));
    if (cli_value(args, "measure"))
        DSE_TRY(measure_add_list(&job->settings.measure, cli_value(args, "measure"), err));
    if (cli_has(args, "simulations"))
        DSE_TRY(read_simulations(args, &job->settings.measure, err));
    DSE_TRY(input_overrides_read(args, &overrides, err));
    DSE_TRY(refuse_options(&overrides, err));
    DSE_TRY(input_architecture(args->operand[0], &overrides, &job->arch, err));
    if (job->settings.accounting)
        DSE_TRY(accounting_accepts(job->settings.accounting, &job->arch, err));
    DSE_TRY(measure_check(&job->settings.measure, &job->arch, err));
    DSE_TRY(input_problems((const char *const *)args->operand + 1, args->n_operand - 1, args, &job->network,
                           err));
    job->n_thread = threads ? (int)threads : threads_available();
    if (solve_is_scheduler(&job->settings)) {
        if (job->format == MAP_VECTOR)
            return prepare_vectors(job, err);
        DSE_TRY(map_network_check(args, &job->settings, err));
        workload_init_whole(&job->workload, &job->network, (uint32_t)batch);
        return DSE_OK;
    }
    for (size_t i = 0; i < args->n_value; i++)
        if (strcmp(args->value[i].option->name, "layer") == 0)
            names[n_name++] = args->value[i].text;
    DSE_TRY(workload_init(&job->workload, &job->network, (uint32_t)batch, names, n_name, 0, err));
    if (cli_value(args, "constraints"))
        DSE_TRY(read_constraints(cli_value(args, "constraints"), job, err));
    if (job->format == MAP_YAML && job->workload.n_problem != 1)
        return dse_fail(err, DSE_BAD_USAGE, "--format yaml writes one mapping; choose a layer with --layer");
    if (job->format == MAP_VECTOR)
        DSE_TRY(prepare_vectors(job, err));
    mapping_texts_asked(args, &job->texts);
    DSE_TRY(mapping_texts_check(&job->texts, job->workload.problem, job->workload.n_problem, &job->arch,
                                formats[job->format], err));
    job->each_dataflow = cli_has(args, "each-dataflow");
    const bool front = job->settings.front;
    if (job->each_dataflow && front)
        return dse_fail(err, DSE_BAD_USAGE, "--each-dataflow and --front: a row is of one of them");
    if ((job->each_dataflow || front) && job->format == MAP_YAML)
        return dse_fail(err, DSE_BAD_USAGE, "--format yaml writes one mapping, %s finds several",
                        front ? "--front" : "--each-dataflow");
    return DSE_OK;
}

static enum dse_status print_all(struct map_job *job, const struct console *console, struct dse_error *err)
{
    struct text_buffer out;
    enum dse_status status = DSE_OK;
    const struct map_report report = {&job->arch,
                                      &job->network,
                                      &job->workload,
                                      &job->settings,
                                      job->mapped.result,
                                      &job->mapped.point,
                                      job->mapped.layer,
                                      job->each_dataflow || job->settings.front,
                                      job->mapped.network_front.n ? &job->mapped.network_front : NULL};
    text_init(&out);
    switch (job->format) {
    case MAP_YAML:
        map_report_yaml(&report, &out);
        break;
    case MAP_CSV:
        if (job->texts.n)
            map_report_text_csv(&report, job->texts.text[0], &out);
        else
            status = map_report_print(&report, REPORT_CSV, &out, err);
        break;
    case MAP_VECTOR:
        job->n_no_vector = map_report_vectors(&report, job->vectors, &out);
        break;
    case MAP_JSON:
        status = map_report_print(&report, REPORT_JSON, &out, err);
        break;
    default:
        status = map_report_print(&report, REPORT_TABLE, &out, err);
        map_report_mappings(&report, &job->texts, &out);
        break;
    }
    if (status == DSE_OK)
        status = text_check(&out, "the output", err);
    if (status == DSE_OK && out.data)
        fputs(out.data, console->out);
    text_free(&out);
    return status;
}

/* For people, hence with tables only. */
static enum dse_status print_hint(const struct map_job *job, const struct console *console,
                                  struct dse_error *err)
{
    char hint[SOLVE_REASON_MAX];
    if (job->format != MAP_TABLE)
        return DSE_OK;
    DSE_TRY(map_hint(&job->settings, &job->workload, &job->arch, job->mapped.result, job->n_thread, hint,
                     sizeof hint, err));
    if (hint[0])
        fprintf(console->err, "dse: %s\n", hint);
    return DSE_OK;
}

/* A scheduler: one search of the whole network. */
static enum dse_status schedule_all(struct map_job *job, const struct console *console, struct dse_error *err)
{
    struct map_found *found = &job->found;
    text_init(&found->out);
    text_init(&found->warning);
    job->mapped.point.reason = found->reason;
    enum dse_status status = map_network(&job->settings, &job->workload, &job->arch, job->n_thread,
                                         (enum map_format)job->format, found, err);
    job->mapped.point.outcome = found->outcome;
    if (status == DSE_OK && found->out.data)
        fputs(found->out.data, console->out);
    if (status == DSE_OK && found->warning.length)
        cli_warn(console, found->warning.data);
    text_free(&found->out);
    text_free(&found->warning);
    return status;
}

static int command(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    int code;
    struct map_job *job = calloc(1, sizeof *job);
    if (!job)
        return cli_report(console, DSE_NO_MEMORY, &(struct dse_error){.text = "out of memory"});
    arena_init(&job->arena);
    enum dse_status status = prepare(args, job, &err);
    if (status == DSE_OK)
        input_note_leak(&job->arch, args, console);
    if (status == DSE_OK)
        status = solve_takes(&job->settings, &job->workload, &job->arch, NULL, &err);
    if (status == DSE_OK && solve_is_scheduler(&job->settings)) {
        status = schedule_all(job, console, &err);
    } else if (status == DSE_OK) {
        status = map_layers(&job->settings, &job->workload, &job->arch, job->each_dataflow, job->n_thread,
                            NULL, &job->arena, &job->mapped, &err);
        if (status == DSE_OK)
            status = print_all(job, console, &err);
        if (status == DSE_OK)
            status = print_hint(job, console, &err);
    }
    code = cli_report(console, status, &err);
    if (status == DSE_OK && job->mapped.point.outcome != RESULT_OK) {
        fprintf(console->err, "dse: %s: %s\n", result_status_text(job->mapped.point.outcome),
                job->mapped.point.reason);
        code = EXIT_SOME_FAILED;
    }
    if (status == DSE_OK && job->n_no_vector > 0) {
        fprintf(console->err, "dse: %u mapping%s printed as a comment: no vector is the same\n",
                job->n_no_vector, job->n_no_vector == 1 ? " is" : "s are");
        code = EXIT_SOME_FAILED;
    }
    map_layers_clear(&job->mapped);
    arena_free(&job->arena);
    yaml_doc_free(&job->constraints);
    workload_free(&job->workload);
    network_free(&job->network);
    option_files_free(job->files);
    input_store_free(job->inputs);
    free(job);
    return code;
}

static const struct cli_option options[] = {
    {"engine", 'e', "NAME", "how to search: a mapper or scheduler of `dse list engines` (default descent)"},
    {"accounting", 'a', "NAME",
     "what a mapping or schedule costs: a name of `dse list accountings` (default: the engine's first that "
     "takes "
     "the machine)"},
    {"objective", 'O', "WHAT",
     "what to minimise: latency, energy, edp (default), ed2p or energy^n*delay^m; or pareto, as --front"},
    {"layer", 'l', "NAME", "only this layer; repeatable"},
    {"batch", 'b', "N", "samples (default: what the network says, else 1)"},
    {"seed", 's', "N", "of the random streams (default 0)"},
    {"bound", 0, "HOW", "lower bounds: auto (default: a tenth of the search's work), quick, strong"},
    {"max-evaluations", 'n', "N",
     "cost-model calls per layer, or of a schedule (default: the engine's own rule)"},
    {"max-seconds", 't', "N", "time per layer; results then depend on the machine"},
    {"option", 'o', "NAME=VALUE", "an option of the engine (`dse list engine NAME`); repeatable"},
    {"constraints", 'c', "FILE", "constraints of the map space: a list, or a specification that has one"},
    {"each-dataflow", 0, NULL,
     "a row for the best mapping of every dataflow (engine interstellar; its options replication and "
     "threshold)"},
    {"front", 0, NULL,
     "a row for every mapping of a layer that no other beats in energy and latency (engine optimal), fastest "
     "first; then those of the whole network"},
    {"measure", 'm', "WHAT",
     "also show noc (latency on the simulated network-on-chip), cosa (terms of CoSA's objective), or "
     "noc,cosa"},
    {"simulations", 0, "N",
     "simulate up to N of the best mappings of each search, and take the one that is best with the latency "
     "on "
     "the simulated network-on-chip for the delay"},
    {"set", 0, "PATH=VALUE",
     "replace a quantity of the architecture, DRAM.bandwidth='8 GB/s', or a parameter of the network, "
     "network.sequence=128; "
     "repeatable"},
    {"ert", 0, "FILE",
     "energies of a Timeloop ARCH from a separate Energy Reference Table (as Accelergy writes it)"},
    {"art", 0, "FILE", "its areas from a separate Area Reference Table"},
    {"format", 'f', "HOW",
     "table (default), yaml (one mapping, or the schedule; for `dse eval`), csv, json, "
     "vector (for `dse eval --vectors`)"},
    {"jobs", 'j', "N", "threads (default: the processors this process may use)"},
};

const struct cli_command command_map = {
    .name = "map",
    .operands = "ARCH NETWORK...",
    .summary = "Find and print a mapping for each layer of a network, or a schedule of the network.",
    .help =
        "Equal layers are mapped once. Layers without multiply-accumulates (pooling, additions, ...) are "
        "not mapped.\n"
        "A layer that gets no mapping gives exit code 1, also an infeasible one: there is nothing to hand "
        "on. (For `dse run`\n"
        "an infeasible point is a result like any other.) The reason is printed. After the table of an "
        "engine "
        "that has a\n"
        "successor (cosa: cosa-best) a short try of that one tells whether it is better here.\n"
        "Mappings in another form (--nest, --gpu, --halide) come after the table; as csv, in its place.\n"
        "\n"
        "  dse map simba resnet50 --engine random --max-evaluations 10000\n"
        "  dse map simba resnet50 --layer conv1 --format yaml > conv1.yaml\n"
        "  dse eval simba resnet50:conv1 conv1.yaml\n"
        "\n"
        "A network may also be a Timeloop problem file, which is a list of one layer, several of them, or a "
        "folder of them:\n"
        "\n"
        "  dse map arch.yaml problem.yaml\n"
        "  dse map simba layer_shapes/ --layer conv3\n"
        "\n"
        "A scheduler (kind scheduler in `dse list engines`) finds one schedule of the whole network:\n"
        "\n"
        "  dse map soma_edge resnet50_soma --engine soma --format yaml > soma.yaml\n"
        "  dse eval soma_edge resnet50_soma soma.yaml\n"
        "  dse plot soma.yaml --arch soma_edge -o soma.png\n",
    .option = options,
    .n_option = sizeof options / sizeof options[0],
    .more = mapping_text_flag_at,
    .min_operand = 2,
    .max_operand = CLI_VALUE_MAX,
    .run = command,
};
