#include <math.h>
#include <string.h>

#include "engines/cosa/cosa.h"
#include "engines/cosa/cosa_engines.h"
#include "engines/driver.h"

/* CoSA as a mapper: its one mapping is priced once. */

enum {
    OPTION_FORM,
    OPTION_HALO,
    OPTION_STATIONARY,
    OPTION_WEIGHT_UTIL,
    OPTION_WEIGHT_COMP,
    OPTION_WEIGHT_TRAF,
    OPTION_SHARE_WEIGHT,
    OPTION_SHARE_INPUT,
    OPTION_SHARE_OUTPUT,
    OPTION_INNER_FACTOR,
    OPTION_INNER_FACTOR_STEP,
    OPTION_SIZE_FACTOR,
    OPTION_SPATIAL_FACTOR,
    OPTION_SPATIAL_RELATED_ONLY,
    OPTION_OUTER_FACTOR_WEIGHT,
    OPTION_OUTER_FACTOR_INPUT,
    OPTION_OUTER_FACTOR_OUTPUT,
    OPTION_UTIL_WEIGHT_FACTOR,
    OPTION_PERMUTATION_LEVEL,
    OPTION_PAD,
    OPTION_GAP,
    OPTION_MAX_NODES,
    OPTION_SOLVER_SECONDS,
    OPTION_MAX_REPAIRS,
    N_OPTION
};

static const char *const forms[] = {"paper", "minmax"};
static const char *const halos[] = {"outermost_inner", "all", "at_dram", "safe"};
static const char *const stationaries[] = {"free", "Weights", "Inputs", "Outputs"};

static const struct engine_option option[N_OPTION] = {
    {"form",
     "objective: paper: equation 12; minmax: the largest of compute and each tensor's DRAM traffic first", "",
     OPTION_CHOICE, COSA_FORM_PAPER, 0, 1, forms},
    {"halo",
     "bits that a window factor (R, S) adds to the tile of its tensor: outermost_inner: 1 at the outermost "
     "buffer inside the "
     "permutation level; all: 1 at every buffer; at_dram: windows stay in the outermost level; safe: their "
     "full size",
     "", OPTION_CHOICE, COSA_HALO_OUTERMOST_INNER, 0, 3, halos},
    {"stationary", "the tensor that stays innermost at the permutation level", "", OPTION_CHOICE, 0, 0, 3,
     stationaries},
    {"weight_util", "weight of the buffer utilisation, which is maximised", "", OPTION_REAL, 0.1, 0, 1e6,
     NULL},
    {"weight_comp", "weight of the compute time", "", OPTION_REAL, 10, 0, 1e6, NULL},
    {"weight_traf", "weight of the traffic", "", OPTION_REAL, 1, 0, 1e6, NULL},
    {"share_weight", "of a buffer that several tensors share, the part for weights (rescaled to those kept)",
     "", OPTION_REAL, 0.5, 0.001, 1000, NULL},
    {"share_input", "the part for inputs", "", OPTION_REAL, 0.5, 0.001, 1000, NULL},
    {"share_output", "the part for outputs", "", OPTION_REAL, 0.5, 0.001, 1000, NULL},
    {"inner_factor", "what a bit of tile size at level 0 counts in the traffic", "", OPTION_REAL, 0.8, 0, 1e6,
     NULL},
    {"inner_factor_step", "by how much it grows from level to level", "", OPTION_REAL, 0.04, 0, 1e6, NULL},
    {"size_factor", "factor of the tile sizes in the traffic", "", OPTION_REAL, 0.99, 0, 1e6, NULL},
    {"spatial_factor", "factor of the spatial loops of the permutation level in the traffic", "", OPTION_REAL,
     0.99, 0, 1e6, NULL},
    {"spatial_related_only",
     "count only spatial loops that index a tensor (equation 8); else every tensor counts all (the authors' "
     "program)",
     "", OPTION_BOOL, 0, 0, 1, NULL},
    {"outer_factor_weight", "what a bit of the outermost level's temporal loops counts for weights", "",
     OPTION_REAL, 1.01, 0, 1e6, NULL},
    {"outer_factor_input", "the same for each other operand", "", OPTION_REAL, 1, 0, 1e6, NULL},
    {"outer_factor_output", "the same for the output", "", OPTION_REAL, 1, 0, 1e6, NULL},
    {"util_weight_factor", "what the utilisation of the outermost buffer of weights alone counts", "",
     OPTION_REAL, 1.01, 0, 1e6, NULL},
    {"permutation_level",
     "the level whose loop order is chosen, counted from 0 = innermost; -1: the one inside the outermost",
     "level", OPTION_INTEGER, -1, -1, ARCH_LEVEL_MAX - 1, NULL},
    {"pad",
     "enlarge a bound with a prime factor above this to the next one without (53 becomes 54 with 7); 0: "
     "never",
     "", OPTION_INTEGER, 0, 0, 1e6, NULL},
    {"gap", "the solver stops when the optimum is proved within this part of the objective", "", OPTION_REAL,
     1e-4, 0, 1, NULL},
    {"max_nodes", "the solver stops after so many nodes with the best it has; 0: never", "node",
     OPTION_INTEGER, 50000, 0, 1e15, NULL},
    {"solver_seconds",
     "the solver stops after this wall time (results then depend on the computer); 0: never", "s",
     OPTION_REAL, 0, 0, 1e6, NULL},
    {"max_repairs", "solves with tightened capacities before windows get their full size", "", OPTION_INTEGER,
     8, 0, 1000, NULL},
};

struct state {
    struct cosa_settings settings;
    struct cosa_solution solution;
};

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
    const double *value = engine_context_task(context)->option;
    cosa_settings_init(s);
    s->form = (enum cosa_form)value[OPTION_FORM];
    s->halo = (enum cosa_halo)value[OPTION_HALO];
    s->weight_util = value[OPTION_WEIGHT_UTIL];
    s->weight_comp = value[OPTION_WEIGHT_COMP];
    s->weight_traf = value[OPTION_WEIGHT_TRAF];
    s->share[TENSOR_WEIGHT] = value[OPTION_SHARE_WEIGHT];
    s->share[TENSOR_INPUT] = value[OPTION_SHARE_INPUT];
    s->share[TENSOR_OUTPUT] = value[OPTION_SHARE_OUTPUT];
    s->inner_factor = value[OPTION_INNER_FACTOR];
    s->inner_factor_step = value[OPTION_INNER_FACTOR_STEP];
    s->size_factor = value[OPTION_SIZE_FACTOR];
    s->spatial_factor = value[OPTION_SPATIAL_FACTOR];
    s->spatial_related_only = value[OPTION_SPATIAL_RELATED_ONLY] != 0;
    s->outer_factor[TENSOR_WEIGHT] = value[OPTION_OUTER_FACTOR_WEIGHT];
    s->outer_factor[TENSOR_INPUT] = value[OPTION_OUTER_FACTOR_INPUT];
    s->outer_factor[TENSOR_OUTPUT] = value[OPTION_OUTER_FACTOR_OUTPUT];
    s->util_weight_factor = value[OPTION_UTIL_WEIGHT_FACTOR];
    s->permutation_level = (int)value[OPTION_PERMUTATION_LEVEL];
    s->limits.relative_gap = value[OPTION_GAP];
    s->limits.max_nodes = (uint64_t)value[OPTION_MAX_NODES];
    s->limits.max_seconds = value[OPTION_SOLVER_SECONDS];
    s->max_repairs = (uint32_t)value[OPTION_MAX_REPAIRS];
}

static enum dse_status cosa_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    const struct engine_task *task = engine_context_task(context);
    const struct mapspace *space;
    uint32_t padded[PROBLEM_DIM_MAX];
    read_options(context, &state->settings);
    state->settings.stationary =
        stationary_tensor(engine_context_problem(context), engine_context_option(context, OPTION_STATIONARY));
    double seconds = task->budget.max_seconds;
    if (seconds > 0 &&
        (state->settings.limits.max_seconds <= 0 || seconds < state->settings.limits.max_seconds))
        state->settings.limits.max_seconds = seconds;
    if (cosa_pad_bounds(engine_context_problem(context), (uint32_t)engine_context_option(context, OPTION_PAD),
                        padded))
        DSE_TRY(engine_context_pad(context, padded, err));
    return engine_context_mapspace(context, false, &space, err);
}

static enum dse_status cosa_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                 struct dse_error *err)
{
    struct state *state = memory;
    const struct engine_task *task = engine_context_task(context);
    struct cosa_solution *solution = &state->solution;
    double cost;
    DSE_TRY(cosa_map(engine_context_problem(context), task->architecture, task->constraints, &state->settings,
                     engine_context_arena(context), solution, err));
    if (solution->feasible)
        (void)engine_context_evaluate(context, &solution->mapping, &cost);
    else if (solution->misfit.what != FITS)
        engine_context_reject(context, 1, &solution->misfit);
    else
        engine_context_explain(context, solution->reason);
    bool limited = solution->milp_status == MILP_FEASIBLE || solution->milp_status == MILP_NOT_SOLVED;
    *stop = limited ? STOP_SOLVER_LIMIT : STOP_CONVERGED;
    return DSE_OK;
}

const struct engine engine_cosa = {
    .name = "cosa",
    .summary = "one-shot mapping by mixed-integer programming (CoSA, ISCA 2021)",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .state_byte = sizeof(struct state),
    .init = cosa_init,
    .step = cosa_step,
    .free = NULL,
};
