/* The lower bounds of the mapping found: those of the accounting, what the search itself has proved, and what
 * an engine that can strengthen them adds for a share of the search's work. */
#include <math.h>
#include <string.h>

#include "engines/driver/driver_private.h"

static const char *const effort_text[] = {
#define TEXT(code, text) [code] = (text),
    BOUND_EFFORT_LIST(TEXT)};

static const char *const kind_text[] = {BOUND_KIND_LIST(TEXT)
#undef TEXT
};

const char *bound_kind_text(enum bound_kind kind)
{
    return kind_text[kind];
}

enum dse_status bound_effort_parse(const char *word, enum bound_effort *effort, struct dse_error *err)
{
    for (int i = 0; i < BOUND_EFFORT_COUNT; i++)
        if (strcmp(effort_text[i], word) == 0) {
            *effort = (enum bound_effort)i;
            return DSE_OK;
        }
    return dse_fail(err, DSE_BAD_INPUT, "bound %.60s: auto, quick or strong is expected", word);
}

/* The bound that the objective is, or NULL. */
static double *bound_of(const struct objective *objective, struct lower_bound *bound)
{
    if (objective->energy_exponent == 1 && objective->delay_exponent == 1)
        return &bound->edp_js;
    if (objective->energy_exponent == 1 && objective->delay_exponent == 0)
        return &bound->energy_j;
    return objective->energy_exponent == 0 && objective->delay_exponent == 1 ? &bound->latency_s : NULL;
}

/* What the search has proved. */
static void take_proof(struct engine_context *context)
{
    struct engine_result *result = context->result;
    double *bound = bound_of(&context->task->objective, &result->lower_bound);
    const bool proved = result->stop == STOP_OPTIMAL;
    if (proved)
        result->bound_kind = BOUND_PROOF;
    if (bound)
        *bound = fmax(*bound, proved ? result->cost * (1 - 1e-11) : result->bound);
}

/* Can the bounds of `engine` be those of this search? */
static bool can_strengthen(const struct engine *engine, const struct engine_context *context)
{
    struct dse_error err;
    double option[64];
    if (!engine->strengthen || engine->n_option > sizeof option / sizeof option[0])
        return false;
    engine_option_defaults(engine, option);
    return engine_accounting_check(engine, evaluator_accounting(context->evaluator), option, &err) == DSE_OK;
}

static enum dse_status strengthen(struct engine_context *context, struct dse_error *err)
{
    struct engine_result *result = context->result;
    const bool strong = context->task->bound_effort == BOUND_STRONG;
    const struct bound_question question = {
        .problem = context->problem,
        .arch = context->arch,
        .constraints = context->task->constraints,
        .space = context->space,
        .objective = context->task->objective,
        .energy_j = result->evaluation.energy_j,
        .latency_s = result->evaluation.latency_s,
        .cancel = context->task->budget.cancel,
        .work = strong ? 10ull * BOUND_STRONG_EVALUATIONS : result->n_evaluation,
    };
    size_t n;
    const struct engine *const *all = engine_all(&n);
    for (size_t i = 0; i < n; i++)
        if (can_strengthen(all[i], context))
            DSE_TRY(all[i]->strengthen(&question, context->arena, &result->lower_bound, &result->bound_kind,
                                       err));
    if (driver_is_cancelled(context))
        result->stop = STOP_INTERRUPTED;
    return DSE_OK;
}

enum dse_status driver_bound(struct engine_context *context, struct dse_error *err)
{
    const struct engine_result *result = context->result;
    const struct evaluation *found = &result->evaluation;
    const struct lower_bound *bound = &result->lower_bound;
    if (!evaluator_bound_applies(context->evaluator, &result->mapping))
        return DSE_OK;
    take_proof(context);
    if (context->task->bound_effort != BOUND_EFFORT_QUICK && context->space)
        DSE_TRY(strengthen(context, err));
    if (found->energy_j >= bound->energy_j * (1 - 1e-9) &&
        found->latency_s >= bound->latency_s * (1 - 1e-9) && found->edp_js >= bound->edp_js * (1 - 1e-9))
        return DSE_OK;
    return dse_fail(
        err, DSE_INTERNAL,
        "the lower bounds do not hold: %.17g J, %.17g s, %.17g J s, and the mapping found has %.17g "
        "J, %.17g s, %.17g J s",
        bound->energy_j, bound->latency_s, bound->edp_js, found->energy_j, found->latency_s, found->edp_js);
}
