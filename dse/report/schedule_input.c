/* From the options of a command to those of a format of schedules. */
#include "dse/report/schedule_input.h"

#include <math.h>
#include <string.h>

#include "dse/inputs/inputs.h"

static bool is_option(const struct schedule_format *format, const char *name)
{
    for (size_t i = 0; i < format->n_option; i++)
        if (strcmp(format->option[i].name, name) == 0)
            return true;
    return false;
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
    return is_option(format, word)
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
    request->option = option;
    enum dse_status status = format->evaluate(request, arena, schedule, err);
    request->option = NULL;
    return status;
}
