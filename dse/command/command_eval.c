/* dse eval ARCH PROBLEM MAPPING, dse eval ARCH NETWORK SCHEDULE */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/fused/accounting_soma.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"
#include "dse/command/commands.h"
#include "dse/inputs/inputs.h"
#include "dse/report/mapping_report.h"
#include "dse/report/report_fused.h"
#include "dse/report/report_instructions.h"
#include "dse/report/report_noc.h"
#include "dse/report/schedule_evaluate.h"
#include "dse/report/schedule_timeline.h"
#include "dse/solve/measure_settings.h"

enum { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON };
enum { REPORT_NOC = REPORT_SUMMARY + 1, REPORT_TILES, REPORT_TENSORS, REPORT_INSTRUCTIONS };

static enum dse_status read_kind(const struct cli_args *args, bool is_schedule, size_t *kind, size_t *format,
                                 struct dse_error *err)
{
    static const char *const kinds[] = {"levels", "networks", "summary",     "noc",
                                        "tiles",  "tensors",  "instructions"};
    static const char *const formats[] = {"table", "csv", "json"};
    DSE_TRY(cli_choice(args, "format", formats, 3, FORMAT_TABLE, format, err));
    DSE_TRY(cli_choice(args, "report", kinds, 7,
                       is_schedule || *format == FORMAT_TABLE ? REPORT_SUMMARY : REPORT_LEVELS, kind, err));
    if (!is_schedule && *kind >= REPORT_TILES)
        return dse_fail(err, DSE_BAD_USAGE, "--report %s belongs to a fused schedule; %s is a mapping",
                        kinds[*kind], args->operand[2]);
    if (is_schedule && *kind < REPORT_TILES && *kind != REPORT_SUMMARY)
        return dse_fail(err, DSE_BAD_USAGE,
                        "--report %s belongs to a mapping; of a fused schedule there are summary, tiles, "
                        "tensors and instructions",
                        kinds[*kind]);
    return DSE_OK;
}

static enum dse_status write_report(const struct mapping_report *report, const struct noc_report *noc,
                                    size_t kind, size_t format, struct text_buffer *out,
                                    struct dse_error *err)
{
    if (kind == REPORT_NOC && format == FORMAT_JSON)
        return report_noc_json(noc, out, err);
    if (format == FORMAT_JSON)
        return report_json(report, (enum report_kind)kind, out, err);
    if (kind == REPORT_NOC && format == FORMAT_CSV)
        report_noc_csv(noc, out);
    else if (kind == REPORT_NOC)
        report_noc_table(noc, out);
    else if (format == FORMAT_CSV)
        report_csv(report, (enum report_kind)kind, out);
    else
        report_table(report, (enum report_kind)kind, out);
    return DSE_OK;
}

static enum dse_status print_report(const struct console *console, const struct mapping_report *report,
                                    const struct noc_report *noc, size_t kind, size_t format,
                                    struct dse_error *err)
{
    struct text_buffer out;
    text_init(&out);
    enum dse_status status = write_report(report, noc, kind, format, &out, err);
    if (status == DSE_OK)
        status = text_check(&out, "the report", err);
    if (status == DSE_OK)
        fputs(out.data, console->out);
    text_free(&out);
    return status;
}

/* --noc-transactions */
static enum dse_status write_transactions(const char *path, const struct noc_program *program,
                                          struct dse_error *err)
{
    struct text_buffer out;
    enum dse_status status = DSE_OK;
    text_init(&out);
    noc_program_write_csv(program, &out);
    FILE *file = out.failed ? NULL : fopen(path, "we");
    if (out.failed)
        status = dse_fail(err, DSE_NO_MEMORY, "out of memory for the transactions");
    else if (!file)
        status = dse_fail_at(err, DSE_IO, path, 0, "cannot be written: %s", strerror(errno));
    if (file) {
        size_t written = fwrite(out.data, 1, out.length, file);
        if ((fclose(file) != 0 || written != out.length) && status == DSE_OK)
            status = dse_fail_at(err, DSE_IO, path, 0, "cannot be written: %s", strerror(errno));
    }
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

/* What is asked for besides; the values in `value`. */
static enum dse_status measure(const struct cli_args *args, size_t kind, const struct mapping *mapping,
                               struct arena *arena, struct mapping_report *report,
                               const struct metric **metric, double *value, struct dse_error *err)
{
    struct measure_settings settings = {0};
    struct measure_values values;
    if (!cli_value(args, "measure"))
        return DSE_OK;
    if (kind != REPORT_SUMMARY)
        return dse_fail(err, DSE_BAD_USAGE, "--measure belongs to --report summary");
    DSE_TRY(measure_add_list(&settings, cli_value(args, "measure"), err));
    DSE_TRY(measure_check(&settings, report->arch, err));
    DSE_TRY(measure_mapping(&settings, report->problem, report->arch, mapping, NULL, arena, &values, err));
    report->n_measured = measure_columns(&settings, false, metric);
    for (size_t i = 0; i < report->n_measured; i++)
        value[i] = measure_number(metric[i], &values, i);
    report->measured = metric;
    report->measured_value = value;
    return DSE_OK;
}

static enum dse_status evaluate(const struct cli_args *args, const struct console *console,
                                const struct problem *problem, const struct architecture *arch,
                                const struct mapping *mapping, struct dse_error *err)
{
    struct evaluator *evaluator;
    struct evaluation_detail detail;
    struct arena arena;
    char text[512];
    const struct accounting *accounting = &accounting_timeloop;
    if (cli_value(args, "accounting"))
        DSE_TRY(accounting_named(cli_value(args, "accounting"), &accounting, err));
    DSE_TRY(evaluator_new(accounting, problem, arch, &evaluator, err));
    arena_init(&arena);
    enum dse_status status = evaluator_detail(evaluator, mapping, &arena, &detail, err);
    if (status == DSE_OK && detail.total.fit.what != FITS)
        status = dse_fail_at(err, DSE_BAD_INPUT, args->operand[2], 0, "the mapping does not fit: %s",
                             misfit_print(&detail.total.fit, problem, arch, text, sizeof text));
    struct mapping_report report = {.problem = problem, .arch = arch, .detail = &detail};
    const struct metric *metric[MEASURE_VALUE_MAX];
    double value[MEASURE_VALUE_MAX];
    struct noc_config config;
    struct noc_latency latency;
    struct noc_report noc = {&report, &config, &latency};
    size_t kind, format;
    if (status == DSE_OK)
        status = read_kind(args, false, &kind, &format, err);
    if (status == DSE_OK)
        status = measure(args, kind, mapping, &arena, &report, metric, value, err);
    if (status == DSE_OK)
        status = simulate(args, &report, mapping, kind == REPORT_NOC, &arena, &config, &latency, err);
    if (status == DSE_OK)
        status = print_report(console, &report, &noc, kind, format, err);
    arena_free(&arena);
    evaluator_delete(evaluator);
    return status;
}

/* --pad DIM=N: the loop bounds of an enlarged layer. */
static enum dse_status pad(const struct cli_args *args, struct problem *problem, struct dse_error *err)
{
    for (size_t i = 0; i < args->n_value; i++) {
        char name[PROBLEM_DIM_NAME_MAX], shown[96];
        uint64_t bound;
        if (strcmp(args->value[i].option->name, "pad") != 0)
            continue;
        const char *text = args->value[i].text, *equals = strchr(text, '=');
        size_t length = equals ? (size_t)(equals - text) : 0;
        if (length == 0 || length >= sizeof name)
            return dse_fail(err, DSE_BAD_USAGE, "--pad %s: write DIM=N, for instance P=54",
                            text_excerpt(text, shown, sizeof shown));
        memcpy(name, text, length);
        name[length] = '\0';
        text = equals + 1;
        int d = problem_find_dim(problem, name);
        if (d < 0)
            return dse_fail(err, DSE_BAD_USAGE, "--pad: %s has no dimension %.60s", problem->name, name);
        if (!text_parse_u64(text, &bound) || bound < problem->bound[d] || bound > UINT32_MAX)
            return dse_fail(err, DSE_BAD_USAGE, "--pad %s=%.40s: a whole number from %u is expected", name,
                            text, problem->bound[d]);
        problem->bound[d] = (uint32_t)bound;
    }
    return DSE_OK;
}

static enum dse_status write_instructions(const struct cli_args *args, const struct schedule *schedule,
                                          size_t format, struct text_buffer *out, struct dse_error *err)
{
    static const enum instruction_format formats[] = {
        [FORMAT_TABLE] = INSTRUCTION_FORMAT_TEXT,
        [FORMAT_CSV] = INSTRUCTION_FORMAT_CSV,
        [FORMAT_JSON] = INSTRUCTION_FORMAT_JSON,
    };
    unsigned long long alignment = 1;
    DSE_TRY(cli_number(args, "align", 1, UINT32_MAX, &alignment, err));
    return report_instructions(schedule, alignment, formats[format], out, err);
}

static enum dse_status write_schedule(const struct cli_args *args, const struct schedule *schedule,
                                      size_t kind, size_t format, struct text_buffer *out,
                                      struct dse_error *err)
{
    enum fused_report report = kind == REPORT_TILES     ? FUSED_REPORT_TILES
                               : kind == REPORT_TENSORS ? FUSED_REPORT_TENSORS
                                                        : FUSED_REPORT_SUMMARY;
    if (kind == REPORT_INSTRUCTIONS)
        DSE_TRY(write_instructions(args, schedule, format, out, err));
    else if (cli_has(args, "align"))
        return dse_fail(err, DSE_BAD_USAGE, "--align belongs to --report instructions");
    else if (format == FORMAT_JSON)
        DSE_TRY(report_fused_json(schedule, report, out, err));
    else if (format == FORMAT_CSV)
        report_fused_csv(schedule, report, out);
    else
        report_fused_table(schedule, report, out);
    return text_check(out, "the report", err);
}

/* --accounting of a schedule, and --compat, which is the same as soma-compat. NULL: what the SCHEDULE
 * says. */
static enum dse_status asked_rules(const struct cli_args *args, const struct architecture *arch,
                                   const struct accounting **asked, struct dse_error *err)
{
    const struct accounting *chosen;
    *asked = cli_has(args, "compat") ? &accounting_soma_compat : NULL;
    if (!cli_value(args, "accounting"))
        return DSE_OK;
    DSE_TRY(accounting_named(cli_value(args, "accounting"), &chosen, err));
    if (chosen->kind != ACCOUNTING_SCHEDULE)
        return dse_fail(err, DSE_BAD_USAGE, "accounting %s prices mappings; %s is a fused schedule",
                        chosen->name, args->operand[2]);
    if (*asked && *asked != chosen)
        return dse_fail(err, DSE_BAD_USAGE,
                        "--compat is --accounting %s, but --accounting %s is given as well", (*asked)->name,
                        chosen->name);
    *asked = chosen;
    return accounting_accepts(chosen, arch, err);
}

/* The third operand is a fused schedule. */
static enum dse_status run_schedule(const struct cli_args *args, const struct console *console,
                                    struct schedule *schedule, const char *text, size_t length,
                                    struct dse_error *err)
{
    static const char *const of_mappings[] = {"pad", "measure", "noc-steps", "noc-transactions"};
    struct arena arena;
    struct text_buffer out;
    size_t kind, format;
    struct network network;
    for (size_t i = 0; i < sizeof of_mappings / sizeof of_mappings[0]; i++)
        if (cli_has(args, of_mappings[i]))
            return dse_fail(err, DSE_BAD_USAGE, "--%s belongs to a mapping; %s is a fused schedule",
                            of_mappings[i], args->operand[2]);
    DSE_TRY(read_kind(args, true, &kind, &format, err));
    DSE_TRY(asked_rules(args, schedule->arch, &schedule->accounting, err));
    DSE_TRY(input_network(args->operand[1], &network, err));
    schedule->network = &network;
    schedule->core_name = cli_value(args, "core");
    arena_init(&arena);
    text_init(&out);
    enum dse_status status = schedule_evaluate(schedule, args->operand[2], text, length, &arena, err);
    if (status == DSE_OK)
        status = write_schedule(args, schedule, kind, format, &out, err);
    if (status == DSE_OK)
        status = timeline_save(args, schedule, err);
    if (status == DSE_OK)
        fputs(out.data, console->out);
    text_free(&out);
    arena_free(&arena);
    network_free(&network);
    return status;
}

static enum dse_status run_mapping(const struct cli_args *args, const struct console *console,
                                   const struct architecture *arch, uint32_t batch, struct dse_error *err)
{
    struct problem problem;
    struct mapping mapping;
    static const char *const of_schedules[] = {"align", "compat", "core", "timeline"};
    for (size_t i = 0; i < sizeof of_schedules / sizeof of_schedules[0]; i++)
        if (cli_has(args, of_schedules[i]))
            return dse_fail(err, DSE_BAD_USAGE, "--%s belongs to a fused schedule; %s is none",
                            of_schedules[i], args->operand[2]);
    DSE_TRY(input_problem(args->operand[1], batch, &problem, err));
    DSE_TRY(pad(args, &problem, err));
    DSE_TRY(mapping_read(args->operand[2], &problem, arch, &mapping, err));
    return evaluate(args, console, &problem, arch, &mapping, err);
}

static enum dse_status run(const struct cli_args *args, const struct console *console, struct dse_error *err)
{
    struct architecture arch;
    struct input_overrides overrides;
    unsigned long long batch = 1;
    char *text;
    size_t length;
    DSE_TRY(cli_number(args, "batch", 1, UINT32_MAX, &batch, err));
    DSE_TRY(input_overrides_read(args, &overrides, err));
    DSE_TRY(input_architecture(args->operand[0], &overrides, &arch, err));
    enum dse_status status = input_file_text(args->operand[2], &text, &length, err);
    if (status != DSE_OK && (cli_has(args, "compat") || cli_has(args, "timeline")))
        return status;
    if (status != DSE_OK) /* left to the reader of mappings, which comes after that of problems */
        return run_mapping(args, console, &arch, (uint32_t)batch, err);
    if (schedule_is_text(text, length)) {
        struct schedule schedule = {.arch = &arch, .batch = (uint32_t)batch};
        status = run_schedule(args, console, &schedule, text, length, err);
    } else {
        status = run_mapping(args, console, &arch, (uint32_t)batch, err);
    }
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
     "levels, networks, summary or noc (default: summary for tables, else levels); of a schedule summary, "
     "tiles, tensors or instructions"},
    {"format", 'f', "HOW", "table for people (default), csv with the columns of the reference tables, json"},
    {"measure", 'm', "WHAT",
     "in the summary also noc (simulated network-on-chip), cosa (terms of CoSA's objective) or noc,cosa"},
    {"pad", 0, "DIM=N",
     "a loop bound that the mapping was made for, where an engine enlarged it; repeatable"},
    {"noc-steps", 0, "N",
     "for the report noc and its transactions: steps simulated or written at most (default 4096; 0: all)"},
    {"noc-transactions", 0, "FILE",
     "write what the simulated network has to carry, one line per transaction"},
    {"accounting", 'a', "NAME",
     "what the MAPPING or SCHEDULE costs: a name of `dse list accountings` (default: timeloop; what the "
     "SCHEDULE "
     "says, else soma)"},
    {"batch", 'b', "N", "samples, for a NETWORK or NETWORK:LAYER (default 1)"},
    {"align", 0, "BYTES",
     "for the report instructions: offsets in the buffer are multiples of this (default 1)"},
    {"compat", 0, NULL, "a SCHEDULE by the rules of the published SoMa program: --accounting soma-compat"},
    {"core", 0, "NAME",
     "what schedules the tiles of a SCHEDULE: array, or a mapper such as descent or cosa (default: what the "
     "SCHEDULE says, else array)"},
    {"timeline", 0, "FILE",
     "also write when a SCHEDULE does what: .h5 (for dse plot) or .csv (docs/execution-graph.md)"},
    {"set", 0, "PATH=VALUE",
     "replace a quantity of the architecture: GlobalBuffer.capacity='256 KiB'; repeatable"},
    {"ert", 0, "FILE",
     "energies of a Timeloop ARCH from a separate Energy Reference Table (as Accelergy writes it)"},
};

const struct cli_command command_eval = {
    .name = "eval",
    .operands = "ARCH PROBLEM MAPPING|SCHEDULE",
    .summary = "Evaluate one mapping of a layer, or one fused schedule of a network, with the cost model.",
    .help =
        "ARCH     an architecture file, native or Timeloop v3, or a name of `dse list architectures`\n"
        "PROBLEM  a Timeloop v3 problem file, or NETWORK:LAYER such as resnet50:conv1; for a SCHEDULE a "
        "network\n"
        "MAPPING  a mapping file (Timeloop v3), as `dse map --format yaml` and the layers table have it\n"
        "SCHEDULE a fused schedule of the whole network, as `dse map --engine soma --format yaml` prints it\n"
        "         (YAML with the key `soma`, docs/soma.md)\n"
        "\n"
        "A mapping that does not fit ends with exit code 2 and says which level needs how much and has "
        "how much.\n"
        "\n"
        "A schedule that breaks a rule or does not fit the buffer ends with exit code 2 and says why. Its "
        "reports tiles and tensors\n"
        "have every start and finish, in cycles.\n"
        "\n"
        "The report noc simulates the network between global buffer, DRAM and PEs cycle by cycle. A "
        "mapping of "
        "more steps than --noc-steps\n"
        "is simulated in part and extrapolated.\n"
        "\n"
        "  dse eval simba resnet50:conv1 conv1.yaml\n"
        "  dse eval simba resnet50:conv1 conv1.yaml --report noc\n"
        "  dse eval arch.yaml problem.yaml map.yaml --report networks --format csv\n"
        "  dse eval soma_edge resnet50_soma experiments/soma/schedules/resnet50_fused.yaml --compat\n",
    .option = options,
    .n_option = sizeof options / sizeof options[0],
    .min_operand = 3,
    .max_operand = 3,
    .run = command,
};
