/* engine_solve: runs the steps of an engine within the budget, says why nothing was found, and re-checks the
 * best: a mapping with the plain cost model and the checker, a schedule from its text. */
#include "engines/driver/driver.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "engines/driver/driver_private.h"
#include "engines/driver/engine_fit.h"

static enum dse_status check_task(const struct engine *engine, const struct engine_task *task,
                                  struct dse_error *err)
{
    if (engine->kind == ENGINE_MAPPER && !task->evaluator)
        return dse_fail(err, DSE_BAD_USAGE, "engine %s is a mapper: it needs a layer with its cost model",
                        engine->name);
    if (engine->kind == ENGINE_SCHEDULER && !task->network)
        return dse_fail(err, DSE_BAD_USAGE, "engine %s is a scheduler: it needs a network", engine->name);
    if (engine->kind == ENGINE_SCHEDULER && !engine->verify)
        return dse_fail(err, DSE_INTERNAL, "engine %s is a scheduler and cannot verify what it finds",
                        engine->name);
    if (!task->architecture || (engine->n_option && !task->option))
        return dse_fail(err, DSE_BAD_USAGE, "engine %s: the task has no architecture or no option values",
                        engine->name);
    if (engine->kind == ENGINE_MAPPER)
        DSE_TRY(engine_accounting_check(engine, evaluator_accounting(task->evaluator), task->option, err));
    if (task->constraints && task->constraints->hint.present && !engine->takes_hint)
        return dse_fail(
            err, DSE_BAD_INPUT,
            "engine %s does not take the schedule files of Interstellar, only engine interstellar; "
            "write constraints (docs/engines.md)",
            engine->name);
    for (size_t i = 0; i < engine->n_option; i++) {
        const struct engine_option *option = &engine->option[i];
        if (!(task->option[i] >= option->lowest && task->option[i] <= option->highest))
            return dse_fail(err, DSE_BAD_USAGE, "engine %s: option %s is %g, accepted is %g to %g",
                            engine->name, option->name, task->option[i], option->lowest, option->highest);
    }
    const struct engine_question question = {
        engine, task,
        engine->kind == ENGINE_MAPPER ? evaluator_accounting(task->evaluator)
                                      : engine_accounting(engine, task->option, task->architecture)};
    return engine_takes(&question, err);
}

/* Why nothing was found: the space's own reason, or the most frequent misfit with its sample. */
static void explain(struct engine_context *context)
{
    struct engine_result *result = context->result;
    const char *empty = context->space ? mapspace_is_empty(context->space) : NULL;
    const struct misfit_count *most = NULL;
    for (int what = 0; what < N_MISFIT && context->counted; what++)
        for (int l = 0; l <= ARCH_LEVEL_MAX; l++)
            if (context->misfit[what][l].n > (most ? most->n : 0))
                most = &context->misfit[what][l];
    if (empty) {
        (void)snprintf(result->reason, sizeof result->reason, "%s", empty);
    } else if (most) {
        char text[ENGINE_REASON_MAX], n[40], all[40];
        misfit_print(&most->sample, context->problem, context->arch, text, sizeof text);
        (void)snprintf(result->reason, sizeof result->reason, "%.160s (%s of %s candidates)", text,
                       text_thousands(most->n, n, sizeof n),
                       text_thousands(context->n_misfit_total, all, sizeof all));
    } else if (context->reason[0]) {
        (void)snprintf(result->reason, sizeof result->reason, "%s", context->reason);
    } else {
        (void)snprintf(result->reason, sizeof result->reason,
                       "the search ended (%s) before it looked at any %s", engine_stop_text(result->stop),
                       context->engine->kind == ENGINE_SCHEDULER ? "schedule" : "mapping");
    }
}

/* Whether two doubles that should agree differ by more than rounding. */
static bool differ(double a, double b)
{
    return !(fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)));
}

/* DSE_INTERNAL: "the engine's answer does not hold: ...; this is a fault of the engine". */
__attribute__((format(printf, 2, 3))) static enum dse_status refuse(struct dse_error *err, const char *format,
                                                                    ...)
{
    char why[DSE_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return dse_fail(err, DSE_INTERNAL,
                    "the engine's answer does not hold: %.400s; this is a fault of the engine", why);
}

/* A number that was said, and what comes out when it is computed another way. */
struct compared {
    const char *name; /* its unit, "J of MACs" */
    double found, again;
};

/* Refuse the answer when one of the n pairs differs; `who` computed `again`. */
static enum dse_status compare_pairs(const struct compared *all, size_t n, const char *who,
                                     struct dse_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (differ(all[i].found, all[i].again))
            return refuse(err, "it says %.17g, and %s %.17g %s", all[i].found, who, all[i].again,
                          all[i].name);
    return DSE_OK;
}

/* What the plain cost model says against what the engine's evaluation has, number by number. */
static enum dse_status compare_mapping(const struct engine_context *context, const struct evaluation *plain,
                                       struct dse_error *err)
{
    const struct evaluation *said = &context->result->evaluation;
    const struct compared all[] = {
        {"J", said->energy_j, plain->energy_j},
        {"compute cycles", (double)said->compute_cycle, (double)plain->compute_cycle},
        {"MACs in use", (double)said->n_mac_used, (double)plain->n_mac_used},
        {"operations", said->n_compute, context->padded ? context->useful_macs : plain->n_compute},
        {"J of MACs", said->energy_mac_j, plain->energy_mac_j},
        {"J of leakage", said->energy_leakage_j, plain->energy_leakage_j},
        {"s", said->latency_s, plain->latency_s},
        {"J s", said->edp_js, plain->edp_js},
        {"utilization", said->utilization, context->padded ? said->utilization : plain->utilization},
    };
    if (plain->fit.what != FITS || plain->latency_cycle != said->latency_cycle)
        return refuse(err, "it says %" PRIu64 " cycles, and the plain cost model %" PRIu64,
                      said->latency_cycle, plain->latency_cycle);
    DSE_TRY(compare_pairs(all, sizeof all / sizeof all[0], "the plain cost model", err));
    for (uint32_t l = 0; l < context->arch->n_level; l++) {
        const struct compared level[] = {
            {"J of a level", said->level_energy_j[l], plain->level_energy_j[l]},
            {"J of a network", said->network_energy_j[l], plain->network_energy_j[l]},
            {"bytes of a level", said->level_byte[l], plain->level_byte[l]},
        };
        DSE_TRY(compare_pairs(level, sizeof level / sizeof level[0], "the plain cost model", err));
    }
    return DSE_OK;
}

/* Refuse a cost that is not `cost`, that of what was found, or, when the bound holds for it, below it. */
static enum dse_status check_cost(const struct engine_context *context, double cost, bool bounded,
                                  struct dse_error *err)
{
    const struct engine_result *result = context->result;
    if (differ(result->cost, cost))
        return refuse(err, "it claims a cost of %.17g, and what it found costs %.17g", result->cost, cost);
    if (bounded && !(result->cost >= result->bound * (1 - 1e-9)))
        return refuse(err, "it claims a cost of %.17g, below the lower bound of %.17g", result->cost,
                      result->bound);
    return DSE_OK;
}

/* Is the mapping in the space that the constraints leave? An engine that asked for no map space may not have
 * looked at them. */
static enum dse_status check_constraints(struct engine_context *context, struct dse_error *err)
{
    const struct mapspace *space = context->space;
    struct misfit_info fit;
    const struct mapspace_constraints *constraints = context->task->constraints;
    if (!space && (!constraints || mapspace_constraints_are_free(constraints)))
        return DSE_OK;
    if (!space)
        DSE_TRY(
            mapspace_new(context->problem, context->arch, constraints, true, context->arena, &space, err));
    if (mapspace_contains(space, &context->result->mapping, &fit))
        return DSE_OK;
    char text[ENGINE_REASON_MAX];
    return refuse(err, "its mapping is not in the map space that the constraints leave: %s",
                  misfit_print(&fit, context->problem, context->arch, text, sizeof text));
}

/* The answer counts only when the independent checker takes it and the plain cost model says the same. */
static enum dse_status confirm_mapping(struct engine_context *context, struct dse_error *err)
{
    const struct engine_result *result = context->result;
    char reason[ENGINE_REASON_MAX];
    if (!evaluator_check(context->evaluator, &result->mapping, reason, sizeof reason))
        return refuse(err, "the independent checker refuses its mapping: %s", reason);
    DSE_TRY(check_constraints(context, err));
    DSE_TRY(check_cost(context, objective_cost(&context->task->objective, &result->evaluation),
                       evaluator_bound_applies(context->evaluator, &result->mapping), err));
    struct evaluation_detail *plain = arena_alloc_unset(context->arena, 1, sizeof *plain);
    DSE_TRY(arena_check(context->arena, "the final evaluation", err));
    DSE_TRY(evaluator_detail(context->evaluator, &result->mapping, context->arena, plain, err));
    return compare_mapping(context, &plain->total, err);
}

/* Has the outside ended the search? */
static enum engine_stop outer_stop(const struct engine_context *context)
{
    const struct engine_budget *budget = &context->task->budget;
    const struct engine_result *result = context->result;
    if (result->feasible && result->cost <= context->good_enough)
        return STOP_OPTIMAL;
    if (driver_is_cancelled(context))
        return STOP_INTERRUPTED;
    if (budget->max_evaluations && result->n_evaluation >= budget->max_evaluations)
        return STOP_MAX_EVALUATIONS;
    return driver_time_is_up(context) ? STOP_MAX_SECONDS : STOP_RUNNING;
}

static enum dse_status search(struct engine_context *context, void *state, struct dse_error *err)
{
    enum engine_stop stop = STOP_RUNNING;
    enum dse_status status = context->engine->init(state, context, err);
    if (status == DSE_OK && context->space && mapspace_is_empty(context->space))
        stop = STOP_CONVERGED;
    for (uint64_t n_step = 0; status == DSE_OK && stop == STOP_RUNNING; n_step++) {
        stop = outer_stop(context);
        if (stop == STOP_MAX_SECONDS && n_step == 0)
            stop = STOP_RUNNING; /* whatever init has taken, there is an answer */
        if (stop == STOP_RUNNING)
            status = context->engine->step(state, context, &stop, err);
    }
    if (driver_is_cancelled(
            context)) /* an engine that looks for itself may have left off in the middle of a step */
        stop = STOP_INTERRUPTED;
    if (status == DSE_OK && context->engine->finish)
        status = context->engine->finish(state, context, err);
    if (context->result->feasible && context->result->cost <= context->good_enough)
        stop = STOP_OPTIMAL;
    if (context->engine->free)
        context->engine->free(state);
    context->result->stop = stop;
    if (!driver_is_cancelled(context) &&
        (status == DSE_INTERRUPTED || (status == DSE_OK && stop == STOP_INTERRUPTED)))
        return refuse(err, "it says that it was cancelled, and it was not");
    return status;
}

/* What the second evaluation knows of a metric is what the first one said. */
static enum dse_status compare_metric(const struct metric *metric, const void *found, const void *again,
                                      struct dse_error *err)
{
    const struct compared one = {metric->name, metric_number(metric, found), metric_number(metric, again)};
    return isnan(one.again) ? DSE_OK : compare_pairs(&one, 1, "its schedule, read back,", err);
}

/* Of the engine's own metrics, those that the search has left missing are what the second evaluation says. */
static enum dse_status compare_schedule(const struct engine *engine, struct engine_schedule *found,
                                        const struct engine_schedule *again, struct dse_error *err)
{
    size_t n;
    const struct metric *all = metric_all(&n);
    for (size_t i = 0; i < n; i++)
        DSE_TRY(compare_metric(&all[i], (const char *)&found->metrics + all[i].offset,
                               (const char *)&again->metrics + all[i].offset, err));
    for (size_t i = 0; engine->group && i < engine->group->n; i++) {
        const struct metric *metric = &engine->group->metric[i];
        if (isnan(metric_number(metric, &found->own[i])))
            found->own[i] = again->own[i];
        DSE_TRY(compare_metric(metric, &found->own[i], &again->own[i], err));
    }
    return DSE_OK;
}

/* Does the schedule say that it was priced by the accounting of this search, or by a variant of it such as
 * "soma-descent"? */
static enum dse_status check_accounting(const struct engine_context *context, const char *said,
                                        struct dse_error *err)
{
    const struct accounting *accounting = engine_context_accounting(context);
    size_t length = accounting ? strlen(accounting->name) : 0;
    if (!accounting || strcmp(said, accounting->name) == 0 ||
        (strncmp(said, accounting->name, length) == 0 && said[length] == '-' && !accounting_find(said)))
        return DSE_OK;
    return refuse(err, "it says that its schedule is priced by %.60s, and the search is by %s", said,
                  accounting->name);
}

/* The best schedule's text into the arena, then its text form read back and evaluated again. */
static enum dse_status confirm_schedule(struct engine_context *context, struct dse_error *err)
{
    struct engine_schedule *found = &context->result->schedule, again;
    engine_schedule_init(&again);
    found->text = arena_copy_text(context->arena, found->text, found->text_length);
    DSE_TRY(arena_check(context->arena, "a schedule", err));
    DSE_TRY(check_accounting(context, found->accounting, err));
    struct dse_error inner = {0};
    char text[DSE_ERROR_TEXT_MAX + DSE_ERROR_FILE_MAX + 32];
    enum dse_status status = context->engine->verify(context->task, engine_context_accounting(context), found,
                                                     context->arena, &again, &inner);
    if (status == DSE_NO_MEMORY || (status == DSE_INTERRUPTED && driver_is_cancelled(context)))
        return dse_fail(err, status, "%s", inner.text);
    if (status != DSE_OK)
        return refuse(err, "its schedule does not read back: %s", dse_error_print(&inner, text, sizeof text));
    again.edp_js = again.energy_j * again.latency_s;
    DSE_TRY(compare_schedule(context->engine, found, &again, err));
    double cost = objective_cost_of(&context->task->objective, found->energy_j, found->latency_s);
    return check_cost(context, cost, true, err);
}

enum dse_status engine_price(const struct engine *engine, const struct engine_task *task, const char *text,
                             struct arena *arena, struct engine_schedule *priced, struct dse_error *err)
{
    struct engine_schedule found;
    engine_schedule_init(&found);
    engine_schedule_init(priced);
    found.text = text;
    found.text_length = strlen(text);
    DSE_TRY(check_task(engine, task, err));
    DSE_TRY(engine->verify(task, engine_accounting(engine, task->option, task->architecture), &found, arena,
                           priced, err));
    priced->edp_js = priced->energy_j * priced->latency_s;
    return DSE_OK;
}

char *engine_result_padding_text(const struct engine_result *result, const struct problem *problem,
                                 char *buffer, size_t size)
{
    struct text_buffer text;
    text_init(&text);
    for (uint32_t d = 0; d < problem->n_dim && result->padded; d++)
        if (result->padded_bound[d] != problem->bound[d])
            text_append(&text, "%s%s %u->%u", text.length ? ", " : "", problem->dim_name[d],
                        problem->bound[d], result->padded_bound[d]);
    (void)snprintf(buffer, size, "%s", text.data ? text.data : "");
    text_free(&text);
    return buffer;
}

void engine_result_init(struct engine_result *result)
{
    memset(result, 0, offsetof(struct engine_result, trace));
}

enum dse_status engine_solve(const struct engine *engine, const struct engine_task *task, struct arena *arena,
                             struct engine_result *result, struct dse_error *err)
{
    double start_s = clock_wall_s();
    engine_result_init(result);
    DSE_TRY(check_task(engine, task, err));
    struct engine_context *context = arena_alloc_unset(arena, 1, sizeof *context);
    void *state = arena_alloc(arena, 1, engine->state_byte ? engine->state_byte : 1);
    DSE_TRY(arena_check(arena, "the state of an engine", err));
    memset(context, 0, offsetof(struct engine_context, misfit));
    context->engine = engine;
    context->task = task;
    context->arena = arena;
    context->result = result;
    context->arch = task->architecture;
    context->cycle_limit = task->cycle_limit ? task->cycle_limit : UINT64_MAX;
    context->energy_limit_j = INFINITY;
    context->start_s = clock_thread_s();
    context->start_wall_s = start_s;
    text_init(&context->text);
    enum dse_status status = DSE_OK;
    if (task->slow && engine->kind == ENGINE_MAPPER)
        status = shortlist_new(task->slow->n, arena, &context->shortlist, err);
    if (status == DSE_OK && task->evaluator) {
        context->useful_macs = (double)problem_macs(evaluator_problem(task->evaluator));
        status = driver_use_evaluator(context, task->evaluator, err);
    }
    if (status == DSE_OK)
        status = search(context, state, err);
    if (status == DSE_OK && context->shortlist && result->stop != STOP_INTERRUPTED)
        status = driver_choose(context, start_s, err);
    if (status == DSE_OK && result->feasible)
        status =
            engine->kind == ENGINE_SCHEDULER ? confirm_schedule(context, err) : confirm_mapping(context, err);
    if (status == DSE_OK && result->feasible && engine->kind == ENGINE_MAPPER)
        status = driver_bound(context, err);
    if (status == DSE_OK && !result->feasible)
        explain(context);
    eval_workspace_delete(context->own_workspace);
    evaluator_delete(context->padded);
    text_free(&context->text);
    result->seconds = clock_wall_s() - start_s;
    return status;
}
