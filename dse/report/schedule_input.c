/* From the options of a command to those of a format of schedules. */
#include "dse/report/schedule_input.h"

#include <math.h>
#include <string.h>

#include "dse/inputs/inputs.h"

static const struct schedule_flag *find_flag(const struct schedule_format *format, const char *name)
{
    for (size_t i = 0; i < format->n_flag; i++)
        if (strcmp(format->flag[i].name, name) == 0)
            return &format->flag[i];
    return NULL;
}

static bool is_of_report(const struct schedule_format *format, const char *name)
{
    for (size_t i = 0; i < format->n_report; i++)
        if (format->report[i].option && strcmp(format->report[i].option, name) == 0)
            return true;
    return false;
}

/* Flag number i of all formats, those of reports included or not. */
static bool flag_at(size_t i, bool of_reports, struct cli_option *option)
{
    size_t n;
    const struct schedule_format *const *format = schedule_format_all(&n);
    for (size_t f = 0; f < n; f++)
        for (size_t k = 0; k < format[f]->n_flag; k++) {
            const struct schedule_flag *flag = &format[f]->flag[k];
            if ((!of_reports && is_of_report(format[f], flag->name)) || i-- > 0)
                continue;
            *option = (struct cli_option){flag->name, 0, flag->value, flag->sentence};
            return true;
        }
    return false;
}

bool schedule_flag_at(size_t i, struct cli_option *option)
{
    return flag_at(i, true, option);
}

bool schedule_graph_flag_at(size_t i, struct cli_option *option)
{
    return flag_at(i, false, option);
}

static bool is_flag(const char *name)
{
    size_t n;
    const struct schedule_format *const *format = schedule_format_all(&n);
    for (size_t f = 0; f < n; f++)
        if (find_flag(format[f], name))
            return true;
    return false;
}

const char *schedule_option_given(const struct cli_args *args, const char *const *option, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cli_has(args, option[i]))
            return option[i];
    for (size_t i = 0; i < args->n_value; i++)
        if (is_flag(args->value[i].option->name))
            return args->value[i].option->name;
    return NULL;
}

/* --accounting NAME, and the flags that are short for one. NULL: what the text says. */
static enum dse_status asked_accounting(const struct cli_args *args, const struct schedule_format *format,
                                        const struct schedule_request *request,
                                        const struct accounting **asked, struct dse_error *err)
{
    const char *name = cli_value(args, "accounting");
    *asked = NULL;
    if (name)
        DSE_TRY(accounting_named(name, asked, err));
    if (*asked && (*asked)->kind != ACCOUNTING_SCHEDULE)
        return dse_fail(err, DSE_BAD_USAGE, "accounting %s prices mappings; %s is a schedule", name,
                        request->path);
    for (size_t i = 0; i < format->n_flag; i++) {
        const struct schedule_flag *flag = &format->flag[i];
        if (!flag->accounting || !cli_has(args, flag->name))
            continue;
        if (*asked && *asked != flag->accounting)
            return dse_fail(err, DSE_BAD_USAGE,
                            "--%s is --accounting %s, but --accounting %s is given as well", flag->name,
                            flag->accounting->name, (*asked)->name);
        *asked = flag->accounting;
    }
    return *asked ? accounting_accepts(*asked, request->arch, err) : DSE_OK;
}

static enum dse_status set_option(const struct cli_args *args, size_t i, const struct schedule_format *format,
                                  double *option, struct dse_error *err)
{
    char owner[64], name[INPUT_SET_TEXT_MAX];
    const char *word = args->value[i].option->name, *text = args->value[i].text;
    (void)snprintf(owner, sizeof owner, "a %s", format->name);
    if (strcmp(word, "option") == 0) {
        DSE_TRY(input_split_set("option", text, name, sizeof name, &text, err));
        return option_set(owner, format->option, format->n_option, name, text, option, err);
    }
    const struct schedule_flag *flag = find_flag(format, word);
    if (!flag && is_flag(word))
        return dse_fail(err, DSE_BAD_USAGE, "--%s is no option of %s", word, owner);
    return flag && !flag->accounting
               ? option_set(owner, format->option, format->n_option, word, text ? text : "true", option, err)
               : DSE_OK;
}

enum dse_status schedule_input(const struct cli_args *args, const struct schedule_format *format,
                               struct schedule_request *request, struct arena *arena, void **schedule,
                               struct dse_error *err)
{
    double option[SCHEDULE_OPTION_MAX];
    for (size_t i = 0; i < SCHEDULE_OPTION_MAX; i++)
        option[i] = NAN;
    for (size_t i = 0; args && i < args->n_value; i++)
        DSE_TRY(set_option(args, i, format, option, err));
    if (args)
        DSE_TRY(asked_accounting(args, format, request, &request->accounting, err));
    request->option = option;
    enum dse_status status = format->evaluate(request, arena, schedule, err);
    request->option = NULL;
    return status;
}
