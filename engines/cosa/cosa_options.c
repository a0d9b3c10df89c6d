/* From the values of the option table to the settings of the formulation, and what both engines do first:
 * pad bounds, make the map space. */
#include "engines/cosa/cosa_options.h"

#include "base/clock.h"

const char *const cosa_form_names[2] = {"paper", "minmax"};
const char *const cosa_halo_names[4] = {"outermost_inner", "all", "at_dram", "safe"};
const char *const cosa_stationary_names[4] = {"free", "Weights", "Inputs", "Outputs"};

/* The first tensor of the wanted role; -1 for "free" or when there is none. */
static int stationary_tensor(const struct problem *problem, double choice)
{
    static const enum tensor_role role[] = {TENSOR_WEIGHT, TENSOR_INPUT, TENSOR_OUTPUT};
    for (uint32_t t = 0; t < problem->n_tensor && choice > 0; t++)
        if (problem->tensor[t].role == role[(int)choice - 1])
            return (int)t;
    return -1;
}

static void read_options(const struct engine_context *context, struct cosa_settings *s)
{
    const struct engine_task *task = engine_context_task(context);
    const double *value = task->option;
    double seconds = task->budget.max_seconds;
    cosa_settings_init(s);
    s->form = (enum cosa_form)value[COSA_OPTION_FORM];
    s->halo = (enum cosa_halo)value[COSA_OPTION_HALO];
    s->weight_util = value[COSA_OPTION_WEIGHT_UTIL];
    s->weight_comp = value[COSA_OPTION_WEIGHT_COMP];
    s->weight_traf = value[COSA_OPTION_WEIGHT_TRAF];
    s->share[TENSOR_WEIGHT] = value[COSA_OPTION_SHARE_WEIGHT];
    s->share[TENSOR_INPUT] = value[COSA_OPTION_SHARE_INPUT];
    s->share[TENSOR_OUTPUT] = value[COSA_OPTION_SHARE_OUTPUT];
    s->inner_factor = value[COSA_OPTION_INNER_FACTOR];
    s->inner_factor_step = value[COSA_OPTION_INNER_FACTOR_STEP];
    s->size_factor = value[COSA_OPTION_SIZE_FACTOR];
    s->spatial_factor = value[COSA_OPTION_SPATIAL_FACTOR];
    s->spatial_related_only = value[COSA_OPTION_SPATIAL_RELATED_ONLY] != 0;
    s->outer_factor[TENSOR_WEIGHT] = value[COSA_OPTION_OUTER_FACTOR_WEIGHT];
    s->outer_factor[TENSOR_INPUT] = value[COSA_OPTION_OUTER_FACTOR_INPUT];
    s->outer_factor[TENSOR_OUTPUT] = value[COSA_OPTION_OUTER_FACTOR_OUTPUT];
    s->util_weight_factor = value[COSA_OPTION_UTIL_WEIGHT_FACTOR];
    s->permutation_level = (int)value[COSA_OPTION_PERMUTATION_LEVEL];
    s->limits.relative_gap = value[COSA_OPTION_GAP];
    s->limits.max_nodes = (uint64_t)value[COSA_OPTION_MAX_NODES];
    s->solver_seconds = value[COSA_OPTION_SOLVER_SECONDS];
    s->max_repairs = (uint32_t)value[COSA_OPTION_MAX_REPAIRS];
    s->stationary = stationary_tensor(engine_context_problem(context), value[COSA_OPTION_STATIONARY]);
    s->limits.stop_at_s = seconds > 0 ? clock_wall_s() + seconds : 0;
    s->limits.cancel = task->budget.cancel;
}

static enum dse_status pad(struct engine_context *context, struct cosa_settings *settings,
                           struct dse_error *err)
{
    const struct problem *problem = engine_context_problem(context);
    uint32_t padded[PROBLEM_DIM_MAX];
    double largest_prime = engine_context_option(context, COSA_OPTION_PAD);
    if (largest_prime < 0)
        DSE_TRY(cosa_pad_where_it_pays(engine_context_task(context), settings, padded, err));
    else
        (void)cosa_pad_bounds(problem, (uint32_t)largest_prime, padded);
    return engine_context_pad(context, padded, err);
}

enum dse_status cosa_begin(struct engine_context *context, bool search_bypass, struct cosa_settings *settings,
                           const struct mapspace **space, struct dse_error *err)
{
    uint32_t n_level = engine_context_task(context)->architecture->n_level;
    double level = engine_context_option(context, COSA_OPTION_PERMUTATION_LEVEL);
    if (level >= 0 && level + 1 >= n_level)
        return dse_fail(
            err, DSE_BAD_USAGE,
            "option permutation_level is %.0f; this machine has levels 0 to %u, of which all but the "
            "outermost can be it; -1 takes the one inside the outermost",
            level, n_level - 1);
    read_options(context, settings);
    DSE_TRY(pad(context, settings, err));
    return engine_context_mapspace(context, search_bypass, space, err);
}
