/* dse eval ARCH PROBLEM MAPPING */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/readers.h"
#include "dse/commands.h"
#include "dse/inputs.h"
#include "dse/measure.h"
#include "dse/report.h"

enum { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON };

static enum dse_status print_report(const struct cli_args *args, const struct console *console,
                                    const struct report *report, struct dse_error *err)
{
    static const char *const kinds[] = {"levels", "networks", "summary"};
    static const char *const formats[] = {"table", "csv", "json"};
    size_t kind, format;
    struct text_buffer out;
    enum dse_status status = DSE_OK;
    DSE_TRY(cli_choice(args, "format", formats, 3, FORMAT_TABLE, &format, err));
    DSE_TRY(cli_choice(args, "report", kinds, 3, format == FORMAT_TABLE ? REPORT_SUMMARY : REPORT_LEVELS,
                       &kind, err));
    text_init(&out);
    if (format == FORMAT_CSV)
        report_csv(report, (enum report_kind)kind, &out);
    else if (format == FORMAT_JSON)
        status = report_json(report, (enum report_kind)kind, &out, err);
    else
        report_table(report, (enum report_kind)kind, &out);
    if (status == DSE_OK && out.failed)
        status = dse_fail(err, DSE_NO_MEMORY, "out of memory for the report");
    if (status == DSE_OK)
        fputs(out.data, console->out);
    text_free(&out);
    return status;
}

/* What is asked for besides; the values in `value`. */
static enum dse_status measure(const struct cli_args *args, const struct mapping *mapping,
                               struct arena *arena, struct report *report, const struct result_field **field,
                               double *value, struct dse_error *err)
{
    struct measure_settings settings = {0};
    struct measure_values values;
    struct layer_record row;
    if (!cli_value(args, "measure"))
        return DSE_OK;
    DSE_TRY(measure_add_list(&settings, cli_value(args, "measure"), err));
    DSE_TRY(measure_check(&settings, report->arch, err));
    DSE_TRY(measure_mapping(&settings, report->problem, report->arch, mapping, arena, &values, err));
    layer_record_init(&row);
    measure_fill(&values, &row);
    report->n_measured = measure_fields(&settings, field);
    for (size_t i = 0; i < report->n_measured; i++)
        value[i] = measure_number(field[i], &row);
    report->measured = field;
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
    DSE_TRY(evaluator_new(problem, arch, &evaluator, err));
    arena_init(&arena);
    enum dse_status status = evaluator_detail(evaluator, mapping, &arena, &detail, err);
    if (status == DSE_OK && detail.total.fit.what != FITS)
        status = dse_fail_at(err, DSE_BAD_INPUT, args->operand[2], 0, "the mapping does not fit: %s",
                             misfit_print(&detail.total.fit, problem, arch, text, sizeof text));
    struct report report = {.problem = problem, .arch = arch, .detail = &detail};
    const struct result_field *field[MEASURE_FIELD_MAX];
    double value[MEASURE_FIELD_MAX];
    if (status == DSE_OK)
        status = measure(args, mapping, &arena, &report, field, value, err);
    if (status == DSE_OK)
        status = print_report(args, console, &report, err);
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

static enum dse_status run(const struct cli_args *args, const struct console *console, struct dse_error *err)
{
    struct architecture arch;
    struct problem problem;
    struct mapping mapping;
    struct input_overrides overrides;
    unsigned long long batch = 1;
    DSE_TRY(cli_number(args, "batch", 1, UINT32_MAX, &batch, err));
    DSE_TRY(input_overrides_read(args, &overrides, err));
    DSE_TRY(input_architecture(args->operand[0], &overrides, &arch, err));
    DSE_TRY(input_problem(args->operand[1], (uint32_t)batch, &problem, err));
    DSE_TRY(pad(args, &problem, err));
    DSE_TRY(mapping_read(args->operand[2], &problem, &arch, &mapping, err));
    return evaluate(args, console, &problem, &arch, &mapping, err);
}

static int command(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    return cli_report(console, run(args, console, &err), &err);
}

static const struct cli_option options[] = {
    {"report", 'r', "WHAT", "levels, networks or summary (default: summary for tables, else levels)"},
    {"format", 'f', "HOW", "table for people (default), csv with the columns of the reference tables, json"},
    {"measure", 'm', "WHAT",
     "in the summary also noc (simulated network-on-chip), cosa (terms of CoSA's objective) or noc,cosa"},
    {"pad", 0, "DIM=N",
     "a loop bound that the mapping was made for, where an engine enlarged it; repeatable"},
    {"batch", 'b', "N", "samples, for a PROBLEM of the form NETWORK:LAYER (default 1)"},
    {"set", 0, "PATH=VALUE",
     "replace a quantity of the architecture: GlobalBuffer.capacity='256 KiB'; repeatable"},
    {"ert", 0, "FILE",
     "energies of a Timeloop ARCH from a separate Energy Reference Table (as Accelergy writes it)"},
};

const struct cli_command command_eval = {
    .name = "eval",
    .operands = "ARCH PROBLEM MAPPING",
    .summary = "Evaluate one mapping with the cost model.",
    .help = "ARCH     an architecture file, native or Timeloop v3, or a name of `dse list architectures`\n"
            "PROBLEM  a Timeloop v3 problem file, or NETWORK:LAYER such as resnet50:conv1\n"
            "MAPPING  a mapping file (Timeloop v3), as `dse map --format yaml` and the layers table have it\n"
            "\n"
            "A mapping that does not fit ends with exit code 2 and says which level needs how much and has "
            "how much.\n"
            "\n"
            "  dse eval simba resnet50:conv1 conv1.yaml\n"
            "  dse eval arch.yaml problem.yaml map.yaml --report networks --format csv\n",
    .option = options,
    .n_option = sizeof options / sizeof options[0],
    .min_operand = 3,
    .max_operand = 3,
    .run = command,
};
