/* dse eval ARCH PROBLEM MAPPING, dse eval ARCH NETWORK SCHEDULE */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "costmodel/readers/readers.h"
#include "dse/command/commands.h"
#include "dse/command/eval_points.h"
#include "dse/command/eval_vectors.h"
#include "dse/console/report_print.h"
#include "dse/inputs/input_mapping.h"
#include "dse/inputs/inputs.h"
#include "dse/report/list_eval.h"
#include "dse/report/machine_report.h"
#include "dse/report/mapping_report.h"
#include "dse/report/mapping_texts.h"
#include "dse/report/schedule_input.h"
#include "dse/report/timeline_plot.h"
#include "dse/solve/measure_settings.h"
#include "results/timeline/timeline.h"

enum { REPORT_LIST_MAX = 32 };

static const char *const format_name[] = {"table", "csv", "json"};

static enum dse_status read_format(const struct cli_args *args, size_t *format, struct dse_error *err)
{
    return cli_choice(args, "format", format_name, 3, REPORT_TABLE, format, err);
}

static enum dse_status read_kind(const struct cli_args *args, size_t *kind, size_t *format,
                                 struct dse_error *err)
{
    DSE_TRY(read_format(args, format, err));
    return cli_choice(args, "report", mapping_report_name, MAPPING_N_REPORT,
                      *format == REPORT_TABLE ? MAPPING_SUMMARY : MAPPING_LEVELS, kind, err);
}

static enum dse_status print_report(const struct console *console, const struct mapping_report *of,
                                    size_t kind, size_t format, struct dse_error *err)
{
    struct report report;
    struct text_buffer out;
    report_init(&report, mapping_report_name[kind]);
    text_init(&out);
    mapping_report_fill(of, (enum mapping_report_kind)kind, format == REPORT_TABLE, &report);
    enum dse_status status = report_print(&report, (enum report_format)format, &out, err);
    if (status == DSE_OK)
        fputs(out.data, console->out);
    text_free(&out);
    report_free(&report);
    return status;
}

/* --noc-transactions */
static enum dse_status write_transactions(const char *path, const struct noc_program *program,
                                          struct dse_error *err)
{
    struct text_buffer out;
    text_init(&out);
    noc_program_write_csv(program, &out);
    enum dse_status status = new_file_write(path, &out, err);
    text_free(&out);
    return status;
}

/* Simulate the mapping's network as far as the options ask for it. */
static enum dse_status simulate(const struct cli_args *args, const struct mapping_report *report,
                                const struct mapping *mapping, bool latency_wanted, struct arena *arena,
                                struct noc_config *config, struct noc_latency *latency, struct dse_error *err)
{
    unsigned long long steps = NOC_LATENCY_STEPS;
    const char *path = cli_value(args, "noc-transactions");
    uint32_t level;
    DSE_TRY(cli_number(args, "noc-steps", 0, UINT64_MAX, &steps, err));
    if (cli_has(args, "noc-steps") && !latency_wanted && !path)
        return dse_fail(err, DSE_BAD_USAGE, "--noc-steps belongs to --report noc or --noc-transactions");
    if (!latency_wanted && !path)
        return DSE_OK;
    DSE_TRY(noc_config_of(report->arch, config, &level, err));
    if (path) {
        struct noc_program program;
        DSE_TRY(noc_program_of(report->problem, report->arch, mapping, level, config, steps, arena, &program,
                               NULL, err));
        DSE_TRY(write_transactions(path, &program, err));
    }
    if (latency_wanted)
        DSE_TRY(noc_latency_of(report->problem, report->arch, mapping, steps, NULL, arena, latency, err));
    return DSE_OK;
}

/* What is asked for besides, as a list. */
static enum dse_status measure(const struct cli_args *args, size_t kind, const struct mapping *mapping,
                               struct arena *arena, struct mapping_report *report, struct cells *measured,
                               struct dse_error *err)
{
    struct measure_settings settings = {0};
    struct measure_values values;
    const struct metric *metric[MEASURE_VALUE_MAX];
    if (!cli_value(args, "measure"))
        return DSE_OK;
    if (kind != MAPPING_SUMMARY)
        return dse_fail(err, DSE_BAD_USAGE, "--measure belongs to --report summary");
    DSE_TRY(measure_add_list(&settings, cli_value(args, "measure"), err));
    DSE_TRY(measure_check(&settings, report->arch, err));
    DSE_TRY(
        measure_mapping(&settings, report->problem, report->arch, mapping, NULL, NULL, arena, &values, err));
    for (size_t i = 0, n = measure_columns(&settings, false, metric); i < n; i++) {
        double value = metric_number(metric[i], &values.value[i]);
        cells_text(measured, metric[i]->name);
        if (metric[i]->type == METRIC_U64 && !isnan(value))
            cells_count(measured, (uint64_t)value);
        else
            cells_real(measured, value);
    }
    report->measured = measured;
    return measured->cell.failed || measured->text.failed
               ? dse_fail(err, DSE_NO_MEMORY, "out of memory for the report")
               : DSE_OK;
}

/* A mapping in other forms, in place of the report. */
static enum dse_status print_texts(const struct cli_args *args, const struct console *console,
                                   const struct mapping_texts *texts, const struct mapping *mapping,
                                   const struct mapping_report *of, struct dse_error *err)
{
    static const char *const of_reports[] = {"report", "measure", "noc-steps", "noc-transactions"};
    struct text_buffer out;
    size_t format;
    for (size_t i = 0; i < sizeof of_reports / sizeof of_reports[0]; i++)
        if (cli_has(args, of_reports[i]))
            return dse_fail(err, DSE_BAD_USAGE, "--%s is of the report, and --%s is printed in its place",
                            of_reports[i], texts->text[0]->name);
    DSE_TRY(read_format(args, &format, err));
    DSE_TRY(mapping_texts_check(texts, of->problem, 1, of->arch, format_name[format], err));
    text_init(&out);
    if (format == REPORT_CSV)
        mapping_texts_row(texts, mapping, of->problem, of->arch, &out);
    else
        mapping_texts_write(texts, mapping, of->problem, of->arch, &out);
    enum dse_status status = text_check(&out, "the output", err);
    if (status == DSE_OK)
        fputs(out.data, console->out);
    text_free(&out);
    return status;
}

static enum dse_status report_mapping(const struct cli_args *args, const struct console *console,
                                      const struct mapping *mapping, struct arena *arena,
                                      struct mapping_report *report, struct dse_error *err)
{
    struct noc_config config;
    struct noc_latency latency;
    struct cells measured;
    struct mapping_texts texts;
    size_t kind, format;
    mapping_texts_asked(args, &texts);
    if (texts.n)
        return print_texts(args, console, &texts, mapping, report, err);
    DSE_TRY(read_kind(args, &kind, &format, err));
    cells_init(&measured, report_list_column, REPORT_LIST_COLUMNS);
    enum dse_status status = measure(args, kind, mapping, arena, report, &measured, err);
    if (status == DSE_OK)
        status = simulate(args, report, mapping, kind == MAPPING_NOC, arena, &config, &latency, err);
    report->noc = &config;
    report->noc_latency = &latency;
    if (status == DSE_OK)
        status = print_report(console, report, kind, format, err);
    cells_free(&measured);
    return status;
}

static enum dse_status evaluate(const struct cli_args *args, const struct console *console,
                                const struct problem *problem, const struct architecture *arch,
                                const struct mapping *mapping, struct dse_error *err)
{
    struct evaluator *evaluator;
    struct evaluation_detail detail;
    struct mapping_report report = {.problem = problem, .arch = arch, .detail = &detail};
    struct arena arena;
    char text[512], kept[INPUT_KEPT_MAX];
    const struct accounting *accounting = accounting_standard(ACCOUNTING_MAPPING, arch);
    if (cli_value(args, "accounting"))
        DSE_TRY(accounting_named(cli_value(args, "accounting"), &accounting, err));
    DSE_TRY(evaluator_new(accounting, problem, arch, &evaluator, err));
    arena_init(&arena);
    enum dse_status status = evaluator_detail(evaluator, mapping, &arena, &detail, err);
    if (status == DSE_OK && detail.total.fit.what != FITS)
        status = dse_fail_at(err, DSE_BAD_INPUT, args->operand[2], 0, "the mapping does not fit: %s",
                             misfit_print(&detail.total.fit, problem, arch, text, sizeof text));
    if (status == DSE_OK) {
        report.constraints = input_mapping_kept(args->operand[2], problem, arch, mapping, console, kept);
        status = report_mapping(args, console, mapping, &arena, &report, err);
    }
    arena_free(&arena);
    evaluator_delete(evaluator);
    return status;
}

/* The report of a schedule that is asked for. */
static enum dse_status choose_report(const struct cli_args *args, const struct schedule_format *format,
                                     const struct schedule_report **report, struct dse_error *err)
{
    const char *name[REPORT_LIST_MAX];
    size_t n = 0, chosen;
    for (; n < format->n_report && n < REPORT_LIST_MAX; n++)
        name[n] = format->report[n].name;
    DSE_TRY(cli_choice(args, "report", name, n, 0, &chosen, err));
    *report = &format->report[chosen];
    for (size_t i = 0; i < n; i++) {
        const char *option = format->report[i].option;
        if (option && cli_has(args, option) && i != chosen)
            return dse_fail(err, DSE_BAD_USAGE, "--%s belongs to --report %s", option, name[i]);
    }
    return DSE_OK;
}

static enum dse_status save_timeline(const struct cli_args *args, const struct schedule_format *format,
                                     const void *schedule, struct arena *arena, struct dse_error *err)
{
    struct timeline timeline;
    if (!cli_has(args, "timeline"))
        return DSE_OK;
    DSE_TRY(timeline_of(format, schedule, args->operand[2], arena, &timeline, err));
    return timeline_write(&timeline, cli_value(args, "timeline"), err);
}

static void print_warnings(const struct console *console, const struct schedule_format *format,
                           const void *schedule)
{
    struct text_buffer text;
    text_init(&text);
    if (format->warn)
        format->warn(schedule, &text);
    if (text.length)
        cli_warn(console, text.data);
    text_free(&text);
}

/* Print the report, and write the timeline if it is asked for: neither without the other. */
static enum dse_status report_schedule(const struct cli_args *args, const struct console *console,
                                       const struct schedule_format *format, struct schedule_request *request,
                                       struct arena *arena, struct dse_error *err)
{
    const struct schedule_report *kind;
    struct report report;
    struct text_buffer out;
    size_t how;
    void *schedule;
    DSE_TRY(read_format(args, &how, err));
    DSE_TRY(choose_report(args, format, &kind, err));
    DSE_TRY(schedule_input(args, format, request, arena, &schedule, err));
    report_init(&report, kind->name);
    text_init(&out);
    enum dse_status status = kind->fill(schedule, &report, err);
    if (status == DSE_OK)
        status = report_print(&report, (enum report_format)how, &out, err);
    if (status == DSE_OK)
        status = save_timeline(args, format, schedule, arena, err);
    if (status == DSE_OK) {
        fputs(out.data, console->out);
        print_warnings(console, format, schedule);
    }
    text_free(&out);
    report_free(&report);
    return status;
}

/* The third operand is a schedule. */
static enum dse_status run_schedule(const struct cli_args *args, const struct console *console,
                                    const struct schedule_format *format, struct schedule_request *request,
                                    struct dse_error *err)
{
    static const char *const of_mappings[] = {"pad", "measure", "noc-steps", "noc-transactions"};
    struct arena arena;
    struct network network;
    struct mapping_texts texts;
    mapping_texts_asked(args, &texts);
    if (texts.n)
        return dse_fail(err, DSE_BAD_USAGE, "--%s belongs to a mapping; %s is a %s", texts.text[0]->name,
                        args->operand[2], format->name);
    for (size_t i = 0; i < sizeof of_mappings / sizeof of_mappings[0]; i++)
        if (cli_has(args, of_mappings[i]))
            return dse_fail(err, DSE_BAD_USAGE, "--%s belongs to a mapping; %s is a %s", of_mappings[i],
                            args->operand[2], format->name);
    DSE_TRY(input_schedule_network(args->operand[1], args, request->path, request->text, request->length,
                                   &network, err));
    request->network = &network;
    if (request->batch == 0)
        request->batch = network_batch(&network);
    arena_init(&arena);
    enum dse_status status = report_schedule(args, console, format, request, &arena, err);
    arena_free(&arena);
    network_free(&network);
    return status;
}

/* An option that was given and no mapping has; NULL: none. */
static const char *schedule_only(const struct cli_args *args)
{
    static const char *const option[] = {"option", "timeline"};
    return schedule_option_given(args, option, sizeof option / sizeof option[0]);
}

static enum dse_status run_mapping(const struct cli_args *args, const struct console *console,
                                   const struct architecture *arch, uint32_t batch, struct dse_error *err)
{
    struct problem problem;
    struct mapping mapping;
    const char *of_schedules = schedule_only(args);
    if (of_schedules)
        return dse_fail(err, DSE_BAD_USAGE, "--%s belongs to a schedule; %s is none", of_schedules,
                        args->operand[2]);
    DSE_TRY(input_problem(args->operand[1], args, batch, &problem, err));
    DSE_TRY(input_pad(args, &problem, err));
    DSE_TRY(input_mapping(args->operand[2], &problem, arch, console, &mapping, err));
    return evaluate(args, console, &problem, arch, &mapping, err);
}

/* Nothing runs on a machine over its max_area, as in a search; with --no-fit it is priced all the same. */
static enum dse_status check_area(const struct cli_args *args, const struct console *console,
                                  const struct architecture *arch, struct dse_error *err)
{
    char reason[256];
    if (architecture_area_fits(arch, reason, sizeof reason))
        return DSE_OK;
    if (!cli_has(args, "no-fit"))
        return dse_fail_at(err, DSE_BAD_INPUT, args->operand[0], 0, "%s", reason);
    fprintf(console->err, "dse: warning: %s: %s; priced all the same\n", args->operand[0], reason);
    return DSE_OK;
}

/* Without --vectors, whose options are none of the others. */
static enum dse_status check_operands(const struct cli_args *args, struct dse_error *err)
{
    static const char *const of_vectors[] = {"mode", "orders", "project"};
    for (size_t i = 0; i < sizeof of_vectors / sizeof of_vectors[0]; i++)
        if (cli_has(args, of_vectors[i]))
            return dse_fail(err, DSE_BAD_USAGE, "--%s belongs to --vectors", of_vectors[i]);
    return args->n_operand > 1 || cli_has(args, "report")
               ? DSE_OK
               : dse_fail(err, DSE_BAD_USAGE,
                          "eval needs ARCH PROBLEM MAPPING, ARCH LIST.csv, ARCH --report machine, or ARCH "
                          "--vectors FILE");
}

/* Only ARCH. */
static enum dse_status run_machine(const struct cli_args *args, const struct console *console,
                                   const struct architecture *arch, struct dse_error *err)
{
    const char *const name[] = {machine_report_name};
    struct text_buffer out;
    size_t format, chosen;
    DSE_TRY(cli_choice(args, "report", name, 1, 0, &chosen, err));
    DSE_TRY(read_format(args, &format, err));
    text_init(&out);
    enum dse_status status = machine_report(arch, (enum report_format)format, &out, err);
    if (status == DSE_OK)
        fputs(out.data, console->out);
    text_free(&out);
    return status;
}

/* ARCH LIST.csv */
static enum dse_status run_list(const struct cli_args *args, const struct console *console,
                                const struct architecture *arch, struct dse_error *err)
{
    static const char *const of_lists[] = {"format", "accounting", "set", "no-fit"};
    const struct accounting *accounting;
    struct text_buffer out;
    size_t format;
    char *text;
    DSE_TRY(input_no_network_set(args, args->operand[1], err));
    for (size_t i = 0; i < args->n_value; i++) {
        size_t k = 0;
        while (k < sizeof of_lists / sizeof of_lists[0] &&
               strcmp(args->value[i].option->name, of_lists[k]) != 0)
            k++;
        if (k == sizeof of_lists / sizeof of_lists[0])
            return dse_fail(err, DSE_BAD_USAGE, "--%s does not go with a list (ARCH LIST.csv)",
                            args->value[i].option->name);
    }
    DSE_TRY(read_format(args, &format, err));
    DSE_TRY(list_accounting(cli_value(args, "accounting"), arch, &accounting, err));
    struct list_request request = {.arch = arch,
                                   .list = accounting->list,
                                   .format = (enum report_format)format,
                                   .path = args->operand[1]};
    DSE_TRY(yaml_load(request.path, &text, &request.length, err));
    const size_t mark = text_mark(text, request.length);
    request.text = text + mark;
    request.length -= mark;
    text_init(&out);
    enum dse_status status = list_eval(&request, &out, err);
    if (status == DSE_OK)
        fputs(out.data, console->out);
    text_free(&out);
    free(text);
    return status;
}

static enum dse_status run(const struct cli_args *args, const struct console *console, struct dse_error *err)
{
    struct architecture arch;
    struct input_overrides overrides;
    unsigned long long batch = 0;
    char *text;
    size_t length;
    if (!cli_has(args, "vectors"))
        DSE_TRY(check_operands(args, err));
    DSE_TRY(cli_number(args, "batch", 1, UINT32_MAX, &batch, err));
    DSE_TRY(input_overrides_read(args, &overrides, err));
    DSE_TRY(input_architecture(args->operand[0], &overrides, &arch, err));
    DSE_TRY(check_area(args, console, &arch, err));
    input_note_leak(&arch, args, console);
    if (cli_has(args, "vectors")) {
        DSE_TRY(input_no_network_set(args, "--vectors", err));
        return eval_vectors(args, console, &arch, err);
    }
    if (args->n_operand == 1)
        return run_machine(args, console, &arch, err);
    if (args->n_operand == 2)
        return run_list(args, console, &arch, err);
    enum dse_status status = yaml_load(args->operand[2], &text, &length, err);
    if (status != DSE_OK && schedule_only(args))
        return status;
    if (status != DSE_OK) /* left to the reader of mappings, which comes after that of problems */
        return run_mapping(args, console, &arch, (uint32_t)batch, err);
    const size_t mark = text_mark(text, length);
    const char *const begin = text + mark;
    length -= mark;
    const struct schedule_format *format = schedule_format_of(begin, length);
    struct schedule_request request = {
        .arch = &arch, .batch = (uint32_t)batch, .path = args->operand[2], .text = begin, .length = length};
    struct point_request points = {
        .arch = &arch, .points = point_format_of(begin, length), .text = begin, .length = length};
    if (cli_has(args, "no-fit") && !points.points)
        status = dse_fail(err, DSE_BAD_USAGE,
                          "--no-fit belongs to a file of mappings of one line; %s is none", args->operand[2]);
    else if (format)
        status = run_schedule(args, console, format, &request, err);
    else if (points.points)
        status = eval_points(args, console, &points, (uint32_t)batch, err);
    else
        status = run_mapping(args, console, &arch, (uint32_t)batch, err);
    free(text);
    return status;
}

static int command(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    return cli_report(console, run(args, console, &err), &err);
}

static const struct cli_option options[] = {
    {"report", 'r', "WHAT",
     "a report of `dse list reports` (default: summary; of a mapping in other formats than table: levels)"},
    {"format", 'f', "HOW", "table for people (default), csv with the columns of the reference tables, json"},
    {"no-fit", 0, NULL, "price mappings of one line that do not fit, or over max_area, too, and say so"},
    {"measure", 'm', "WHAT",
     "in the summary also noc (simulated network-on-chip), cosa (terms of CoSA's objective) or noc,cosa"},
    {"pad", 0, "DIM=N",
     "a loop bound that the mapping was made for, where an engine enlarged it; repeatable"},
    {"noc-steps", 0, "N",
     "for the report noc and its transactions: steps simulated or written at most (default 4096; 0: all)"},
    {"noc-transactions", 0, "FILE",
     "write what the simulated network has to carry, one line per transaction"},
    {"accounting", 'a', "NAME",
     "what the MAPPING or SCHEDULE costs: a name of `dse list accountings` (default: the first that prices "
     "mappings on ARCH; what the SCHEDULE says)"},
    {"batch", 'b', "N", "samples, for a NETWORK or NETWORK:LAYER (default: what it says, else 1)"},
    {"option", 'o', "NAME=VALUE", "an option of the evaluation of a SCHEDULE by its name; repeatable"},
    {"timeline", 0, "FILE",
     "also write when a SCHEDULE does what: .h5 (for dse plot) or .csv (docs/execution-graph.md)"},
    {"vectors", 0, "FILE",
     "evaluate mappings as vectors of numbers, one a line of CSV, in place of PROBLEM and MAPPING "
     "(docs/mindmappings.md)"},
    {"mode", 0, "MODE",
     "of --vectors: autobypass (default; a buffer is bypassed where its tile does not fit) or mustfit"},
    {"orders", 0, "HOW",
     "how --vectors writes loop orders: places of the dimensions (default), or dims, the dimension in each "
     "place"},
    {"project", 0, "HOW",
     "of --vectors, which may be real numbers then: the nearest mapping to each, raw, or log2: factors are "
     "binary logarithms"},
    {"set", 0, "PATH=VALUE",
     "replace a quantity of the architecture, GlobalBuffer.capacity='256 KiB', or a parameter of the "
     "network, network.sequence=128; "
     "repeatable"},
    {"ert", 0, "FILE",
     "energies of a Timeloop ARCH from a separate Energy Reference Table (as Accelergy writes it)"},
    {"art", 0, "FILE", "its areas from a separate Area Reference Table"},
};

/* What schedules have, and the forms of mappings. */
static bool more_options(size_t i, struct cli_option *option)
{
    size_t n = 0;
    while (schedule_flag_at(n, option))
        if (n++ == i)
            return true;
    return mapping_text_flag_at(i - n, option);
}

const struct cli_command command_eval = {
    .name = "eval",
    .operands = "ARCH [PROBLEM MAPPING|SCHEDULE] [LIST.csv]",
    .summary = "Evaluate one mapping of a layer, or one fused schedule of a network, with the cost model.",
    .help =
        "ARCH     an architecture file, native, Timeloop or Interstellar, or a name of `dse list "
        "architectures`\n"
        "PROBLEM  a problem file of Timeloop or Interstellar, or NETWORK:LAYER such as resnet50:conv1; "
        "for "
        "a\n"
        "         SCHEDULE a network\n"
        "MAPPING  a mapping file (Timeloop's form), as `dse map --format yaml` and the layers table have it; "
        "or "
        "a file of\n"
        "         mappings of one line each (docs/interstellar.md)\n"
        "SCHEDULE a fused schedule of the whole network, as `dse map --format yaml` with a scheduler prints "
        "it\n"
        "\n"
        "A mapping that does not fit ends with exit code 2 and says which level needs how much and has "
        "how much;\n"
        "so does a machine over its max_area.\n"
        "\n"
        "A schedule that breaks a rule or does not fit the buffer ends with exit code 2 and says why. Its "
        "reports tiles and tensors\n"
        "have every start and finish, in cycles.\n"
        "\n"
        "With --nest, --gpu or --halide the MAPPING is printed in that form, in place of a report.\n"
        "\n"
        "The report noc simulates the network between global buffer, DRAM and PEs cycle by cycle. A "
        "mapping of "
        "more steps than --noc-steps\n"
        "is simulated in part and extrapolated.\n"
        "\n"
        "LIST.csv has a problem a line, each priced by itself: uops on a mesh of accelerators "
        "(docs/klotski.md).\n"
        "\n"
        "With --vectors FILE there is a row for each vector: whether it is a mapping, else why not, and its "
        "cost.\n"
        "\n"
        "  dse eval simba resnet50:conv1 conv1.yaml\n"
        "  dse eval mindmappings_banks --vectors mappings.csv --mode mustfit -f csv\n"
        "  dse eval klotski uops.csv -f csv\n"
        "  dse eval simba resnet50:conv1 conv1.yaml --report noc\n"
        "  dse eval arch.yaml problem.yaml map.yaml --report networks --format csv\n"
        "  dse eval soma_edge resnet50_soma experiments/soma/schedules/resnet50_fused.yaml --compat\n",
    .option = options,
    .n_option = sizeof options / sizeof options[0],
    .more = more_options,
    .min_operand = 1,
    .max_operand = 3,
    .run = command,
};
