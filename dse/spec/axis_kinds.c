/* The table of axes that are no quantity of the architecture, and what each does with a value. */
#include "dse/spec/axis_kinds.h"

#include <string.h>

#include "base/text.h"
#include "dse/spec/sweep.h"

static bool always(const struct sweep *sweep, const struct spec_variable *variable)
{
    (void)sweep;
    (void)variable;
    return true;
}

/* An option is what its engines say: words and switches are no numbers. */
static bool option_is_numeric(const struct sweep *sweep, const struct spec_variable *variable)
{
    const char *name = axis_kind_rest(variable->kind, variable->name);
    for (size_t e = 0; e < sweep->n_engine; e++)
        for (size_t i = 0; i < sweep->engine[e].engine->n_option; i++) {
            const struct engine_option *option = &sweep->engine[e].engine->option[i];
            if (strcmp(option->name, name) == 0 && option->kind != OPTION_INTEGER &&
                option->kind != OPTION_REAL)
                return false;
        }
    return true;
}

static enum dse_status set_option(const struct axis_value *value, struct solve_settings *settings,
                                  struct dse_error *err)
{
    const char *name = axis_kind_rest(value->variable->kind, value->variable->name);
    return solve_settings_option(settings, name, value->text, err);
}

/* Whether the engine takes it is looked at for each point, as both may be axes. */
static enum dse_status set_accounting(const struct axis_value *value, struct solve_settings *settings,
                                      struct dse_error *err)
{
    return accounting_named(value->text, &settings->accounting, err);
}

static enum dse_status set_objective(const struct axis_value *value, struct solve_settings *settings,
                                     struct dse_error *err)
{
    return solve_settings_objective(settings, value->text, err);
}

/* On an axis seeds are coordinates, which are doubles. */
static enum dse_status set_seed(const struct axis_value *value, struct solve_settings *settings,
                                struct dse_error *err)
{
    if (text_parse_u64(value->text, &settings->seed) &&
        (!value->variable || settings->seed <= UINT64_C(1) << 53))
        return DSE_OK;
    return dse_fail(err, DSE_BAD_INPUT, "seed %.60s: a whole number from 0%s is expected", value->text,
                    value->variable ? " to 2^53" : "");
}

static enum dse_status set_bound(const struct axis_value *value, struct solve_settings *settings,
                                 struct dse_error *err)
{
    return bound_effort_parse(value->text, &settings->bound_effort, err);
}

static enum dse_status set_constraints(const struct axis_value *value, struct solve_settings *settings,
                                       struct dse_error *err)
{
    (void)err; /* they are read where problem and machine are known */
    settings->further = value->variable->list[value->i];
    return DSE_OK;
}

static const struct axis_kind kinds[] = {
    {"architecture", SPEC_ARCHITECTURE, true, NULL, NULL, NULL},
    {"network", SPEC_NETWORK, true, NULL, NULL, NULL},
    {"network.", SPEC_PARAMETER, false, always, NULL, NULL},
    {"batch", SPEC_BATCH, true, always, NULL, NULL},
    {"engine", SPEC_ENGINE, true, NULL, NULL, NULL},
    {"accounting", SPEC_SETTING, true, NULL, set_accounting, "accounting_chosen"},
    {"objective", SPEC_OBJECTIVE, true, NULL, set_objective, NULL},
    {"seed", SPEC_SEED, true, always, set_seed, NULL},
    {"bound", SPEC_SETTING, true, NULL, set_bound, "bound_effort"},
    {"constraints", SPEC_CONSTRAINTS, false, NULL, set_constraints, NULL},
    {"option.", SPEC_OPTION, false, option_is_numeric, set_option, NULL},
    {"point", SPEC_POINT, false, always, NULL, NULL},
};
_Static_assert(sizeof kinds / sizeof kinds[0] <= AXIS_KIND_MAX, "struct sweep_spec has room for them");

static const struct axis_kind quantity = {"", SPEC_QUANTITY, false, NULL, NULL, NULL};

const struct axis_kind *axis_kind_all(size_t *n)
{
    *n = sizeof kinds / sizeof kinds[0];
    return kinds;
}

const struct axis_kind *axis_kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t length = strlen(kinds[i].name);
        if (strncmp(kinds[i].name, name, length) == 0 &&
            (name[length] == '\0' || kinds[i].name[length - 1] == '.'))
            return &kinds[i];
    }
    return &quantity;
}

const char *axis_kind_rest(const struct axis_kind *kind, const char *name)
{
    return name + strlen(kind->name);
}
