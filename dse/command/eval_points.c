/* What `dse eval` takes with a file of mappings of one line: its options, and where the report goes. */
#include "dse/command/eval_points.h"

#include <stdio.h>

#include "base/text.h"
#include "dse/inputs/input_mapping.h"
#include "dse/inputs/inputs.h"
#include "dse/report/schedule_input.h"

static const char *const format_name[] = {"table", "csv", "json"};

static enum dse_status read_format(const struct cli_args *args, size_t *format, struct dse_error *err)
{
    return cli_choice(args, "format", format_name, 3, REPORT_TABLE, format, err);
}

/* Texts in place of the report. */
static enum dse_status read_texts(const struct cli_args *args, struct point_request *request,
                                  struct dse_error *err)
{
    mapping_texts_asked(args, &request->texts);
    if (request->texts.n && request->report)
        return dse_fail(err, DSE_BAD_USAGE, "--report is of the report, and --%s is printed in its place",
                        request->texts.text[0]->name);
    if (request->texts.n && request->format != REPORT_TABLE)
        return dse_fail(err, DSE_BAD_USAGE, "--%s of lines prints text, not %s", request->texts.text[0]->name,
                        format_name[request->format]);
    return mapping_texts_check(&request->texts, request->problem, 1, request->arch, "table", err);
}

enum dse_status eval_points(const struct cli_args *args, const struct console *console,
                            struct point_request *request, uint32_t batch, struct dse_error *err)
{
    static const char *const of_others[] = {"measure", "noc-steps", "noc-transactions", "option", "timeline"};
    const char *given = schedule_option_given(args, of_others, sizeof of_others / sizeof of_others[0]);
    struct text_buffer out, err_out;
    struct problem problem;
    size_t format;
    if (given)
        return dse_fail(err, DSE_BAD_USAGE, "--%s belongs to other mappings or schedules; %s has a %s a line",
                        given, args->operand[2], request->points->name);
    DSE_TRY(read_format(args, &format, err));
    DSE_TRY(input_problem(args->operand[1], args, batch, &problem, err));
    DSE_TRY(input_pad(args, &problem, err));
    request->problem = &problem;
    request->accounting = cli_value(args, "accounting");
    request->report = cli_value(args, "report");
    request->no_fit = cli_has(args, "no-fit");
    request->format = (enum report_format)format;
    request->path = args->operand[2];
    DSE_TRY(read_texts(args, request, err));
    text_init(&out);
    text_init(&err_out);
    enum dse_status status = point_eval(request, &out, &err_out, err);
    if (status == DSE_OK) {
        fputs(err_out.data ? err_out.data : "", console->err);
        fputs(out.data ? out.data : "", console->out);
    }
    text_free(&out);
    text_free(&err_out);
    return status;
}
