/* One context for the life of a search: what engines call (price, reject, draw streams), and engine_solve,
 * which runs the steps within the budget and re-checks the best with the plain cost model and the checker. */
#include "engines/driver/driver.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "engines/driver/driver_private.h"
#include "engines/driver/trace.h"

/* ---------------------------------------- what an engine may ask */

const struct engine_task *engine_context_task(const struct engine_context *context)
{
    return context->task;
}

struct arena *engine_context_arena(struct engine_context *context)
{
    return context->arena;
}

double engine_context_option(const struct engine_context *context, size_t index)
{
    return context->task->option[index];
}

struct random_stream engine_context_stream(const struct engine_context *context, enum random_use use)
{
    return random_stream_make(context->task->seed, context->task->key, (uint32_t)use);
}

enum dse_status engine_context_mapspace(struct engine_context *context, bool search_bypass,
                                        const struct mapspace **space, struct dse_error *err)
{
    if (!context->space)
        DSE_TRY(mapspace_new(context->problem, context->arch, context->task->constraints, search_bypass,
                             context->arena, &context->space, err));
    *space = context->space;
    return DSE_OK;
}

/* Price with `evaluator` from now on. */
static enum dse_status use_evaluator(struct engine_context *context, const struct evaluator *evaluator,
                                     struct dse_error *err)
{
    struct engine_result *result = context->result;
    const struct engine_task *task = context->task;
    const bool padded = evaluator != task->evaluator;
    context->evaluator = evaluator;
    context->problem = evaluator_problem(evaluator);
    context->arch = evaluator_architecture(evaluator);
    if (task->bound && !padded)
        result->lower_bound = *task->bound;
    else
        evaluator_bound(evaluator, &result->lower_bound);
    result->bound = objective_bound(&context->task->objective, &result->lower_bound);
    context->good_enough = result->bound * (1 + 1e-12);
    context->workspace = padded ? NULL : task->workspace;
    eval_workspace_delete(context->own_workspace);
    context->own_workspace = NULL;
    if (!context->workspace)
        DSE_TRY(eval_workspace_new(evaluator, &context->own_workspace, err));
    context->workspace = context->workspace ? context->workspace : context->own_workspace;
    return DSE_OK;
}

enum dse_status engine_context_pad(struct engine_context *context, const uint32_t *bound,
                                   struct dse_error *err)
{
    struct engine_result *result = context->result;
    if (!context->evaluator || context->space || context->padded || result->n_draw)
        return dse_fail(err, DSE_BAD_USAGE, "engine %s: padding is for mappers, once, before the search",
                        context->engine->name);
    struct problem problem = *context->problem;
    bool larger = false;
    for (uint32_t d = 0; d < problem.n_dim; d++) {
        if (bound[d] < problem.bound[d])
            return dse_fail(err, DSE_BAD_USAGE, "engine %s: dimension %s cannot be padded from %u to %u",
                            context->engine->name, problem.dim_name[d], problem.bound[d], bound[d]);
        larger = larger || bound[d] > problem.bound[d];
        problem.bound[d] = bound[d];
    }
    if (!larger)
        return DSE_OK;
    DSE_TRY(evaluator_new(evaluator_accounting(context->evaluator), &problem, context->arch, &context->padded,
                          err));
    result->padded = true;
    memcpy(result->padded_bound, problem.bound, sizeof result->padded_bound);
    return use_evaluator(context, context->padded, err);
}

const struct problem *engine_context_problem(const struct engine_context *context)
{
    return context->problem;
}

static void count_misfit(struct engine_context *context, uint64_t n, const struct misfit_info *fit)
{
    context->n_misfit_total += n;
    if (!fit || fit->what == FITS || fit->level < -1 || fit->level >= ARCH_LEVEL_MAX)
        return;
    if (!context->counted)
        memset(context->misfit, 0, sizeof context->misfit);
    context->counted = true;
    struct misfit_count *count = &context->misfit[fit->what][fit->level + 1];
    bool closer = fit->what == MISFIT_UTILIZATION ? fit->needed > count->sample.needed
                                                  : fit->needed < count->sample.needed;
    if (count->n == 0 || closer)
        count->sample = *fit;
    count->n += n;
}

void engine_context_reject(struct engine_context *context, uint64_t n, const struct misfit_info *fit)
{
    if (n == 0)
        return;
    context->result->n_draw += n;
    count_misfit(context, n, fit);
}

void engine_context_explain(struct engine_context *context, const char *reason)
{
    (void)snprintf(context->reason, sizeof context->reason, "%s", reason);
}

uint64_t engine_context_left(const struct engine_context *context)
{
    if (context->result->feasible && context->result->cost <= context->good_enough)
        return 0;
    uint64_t limit = context->task->budget.max_evaluations;
    if (limit == 0)
        return UINT64_MAX;
    return limit > context->result->n_evaluation ? limit - context->result->n_evaluation : 0;
}

void driver_improve(struct engine_context *context, double cost)
{
    context->result->feasible = true;
    context->result->cost = cost;
    trace_add(context->result, context->result->n_evaluation, cost);
}

bool engine_context_evaluate(struct engine_context *context, const struct mapping *mapping, double *cost)
{
    struct engine_result *result = context->result;
    if (engine_context_left(context) == 0)
        return false;
    struct evaluation *evaluation = &context->last;
    result->n_evaluation++;
    result->n_draw++;
    if (!evaluator_run(context->evaluator, context->workspace, mapping, evaluation)) {
        count_misfit(context, 1, &evaluation->fit);
        return false;
    }
    if (context->padded) {
        evaluation->n_compute = context->useful_macs;
        evaluation->utilization =
            context->useful_macs / ((double)context->arch->mac.instances * (double)evaluation->latency_cycle);
    }
    *cost = objective_cost(&context->task->objective, evaluation);
    if (evaluation->latency_cycle > context->cycle_limit || evaluation->energy_j > context->energy_limit_j)
        return true;
    bool lower = !result->feasible || *cost < result->cost;
    if (lower)
        driver_improve(context, *cost);
    if (lower || (*cost == result->cost && evaluation->edp_js < result->evaluation.edp_js)) {
        result->mapping = *mapping;
        result->evaluation = *evaluation;
    }
    return true;
}

const struct evaluation *engine_context_last(const struct engine_context *context)
{
    return &context->last;
}

void engine_context_limit(struct engine_context *context, uint64_t cycle, double energy_j)
{
    context->cycle_limit = cycle;
    context->energy_limit_j = energy_j * (1 + 1e-12);
}

double engine_context_tie(const struct engine_context *context)
{
    return context->last.edp_js;
}

const struct mapping *engine_context_best(const struct engine_context *context)
{
    return context->result->feasible ? &context->result->mapping : NULL;
}

double engine_context_best_cost(const struct engine_context *context)
{
    return context->result->feasible ? context->result->cost : INFINITY;
}

uint64_t engine_context_evaluations(const struct engine_context *context)
{
    return context->result->n_evaluation;
}

/* ---------------------------------------- the driver */

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
    for (size_t i = 0; i < engine->n_option; i++) {
        const struct engine_option *option = &engine->option[i];
        if (!(task->option[i] >= option->lowest && task->option[i] <= option->highest))
            return dse_fail(err, DSE_BAD_USAGE, "engine %s: option %s is %g, accepted is %g to %g",
                            engine->name, option->name, task->option[i], option->lowest, option->highest);
    }
    return DSE_OK;
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

enum dse_status driver_refuse(struct dse_error *err, const char *format, ...)
{
    char why[DSE_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return dse_fail(err, DSE_INTERNAL,
                    "the engine's answer does not hold: %.400s; this is a fault of the engine", why);
}

/* What the plain cost model says against what the engine's evaluation has, number by number. */
static enum dse_status compare(const struct engine_context *context, const struct evaluation *plain,
                               struct dse_error *err)
{
    const struct evaluation *said = &context->result->evaluation;
    const struct driver_compared all[] = {
        {"J", said->energy_j, plain->energy_j},
        {"compute cycles", (double)said->compute_cycle, (double)plain->compute_cycle},
        {"MACs in use", (double)said->n_mac_used, (double)plain->n_mac_used},
        {"operations", said->n_compute, context->padded ? context->useful_macs : plain->n_compute},
        {"J of MACs", said->energy_mac_j, plain->energy_mac_j},
        {"s", said->latency_s, plain->latency_s},
        {"J s", said->edp_js, plain->edp_js},
        {"utilization", said->utilization, context->padded ? said->utilization : plain->utilization},
    };
    if (plain->fit.what != FITS || plain->latency_cycle != said->latency_cycle)
        return driver_refuse(err, "it says %" PRIu64 " cycles, and the plain cost model %" PRIu64,
                             said->latency_cycle, plain->latency_cycle);
    DSE_TRY(driver_compare(all, sizeof all / sizeof all[0], "the plain cost model", err));
    for (uint32_t l = 0; l < context->arch->n_level; l++) {
        const struct driver_compared level[] = {
            {"J of a level", said->level_energy_j[l], plain->level_energy_j[l]},
            {"J of a network", said->network_energy_j[l], plain->network_energy_j[l]},
            {"bytes of a level", said->level_byte[l], plain->level_byte[l]},
        };
        DSE_TRY(driver_compare(level, sizeof level / sizeof level[0], "the plain cost model", err));
    }
    return DSE_OK;
}

enum dse_status driver_compare(const struct driver_compared *all, size_t n, const char *who,
                               struct dse_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (differ(all[i].found, all[i].again))
            return driver_refuse(err, "it says %.17g, and %s %.17g %s", all[i].found, who, all[i].again,
                                 all[i].name);
    return DSE_OK;
}

enum dse_status driver_check_cost(const struct engine_context *context, double cost, bool bounded,
                                  struct dse_error *err)
{
    const struct engine_result *result = context->result;
    if (differ(result->cost, cost))
        return driver_refuse(err, "it claims a cost of %.17g, and what it found costs %.17g", result->cost,
                             cost);
    if (bounded && !(result->cost >= result->bound * (1 - 1e-9)))
        return driver_refuse(err, "it claims a cost of %.17g, below the lower bound of %.17g", result->cost,
                             result->bound);
    return DSE_OK;
}

/* Is the mapping in the space that the constraints leave? An engine that asked for no map space may not have
 * looked at them. */
static enum dse_status check_constraints(struct engine_context *context, struct dse_error *err)
{
    const struct mapspace *space = context->space;
    struct misfit_info fit;
    if (!space && !context->task->constraints)
        return DSE_OK;
    if (!space)
        DSE_TRY(mapspace_new(context->problem, context->arch, context->task->constraints, true,
                             context->arena, &space, err));
    if (mapspace_contains(space, &context->result->mapping, &fit))
        return DSE_OK;
    char text[ENGINE_REASON_MAX];
    return driver_refuse(err, "its mapping is not in the map space that the constraints leave: %s",
                         misfit_print(&fit, context->problem, context->arch, text, sizeof text));
}

/* The answer counts only when the independent checker takes it and the plain cost model says the same. */
static enum dse_status confirm(struct engine_context *context, struct dse_error *err)
{
    const struct engine_result *result = context->result;
    char reason[ENGINE_REASON_MAX];
    if (!evaluator_check(context->evaluator, &result->mapping, reason, sizeof reason))
        return driver_refuse(err, "the independent checker refuses its mapping: %s", reason);
    DSE_TRY(check_constraints(context, err));
    DSE_TRY(driver_check_cost(context, objective_cost(&context->task->objective, &result->evaluation),
                              evaluator_bound_applies(context->evaluator, &result->mapping), err));
    struct evaluation_detail *plain = arena_alloc_unset(context->arena, 1, sizeof *plain);
    DSE_TRY(arena_check(context->arena, "the final evaluation", err));
    DSE_TRY(evaluator_detail(context->evaluator, &result->mapping, context->arena, plain, err));
    return compare(context, &plain->total, err);
}

/* Has the outside ended the search? */
static enum engine_stop outer_stop(const struct engine_context *context, double start_s)
{
    const struct engine_budget *budget = &context->task->budget;
    const struct engine_result *result = context->result;
    if (result->feasible && result->cost <= context->good_enough)
        return STOP_OPTIMAL;
    if (budget->cancel && atomic_load_explicit(budget->cancel, memory_order_relaxed))
        return STOP_INTERRUPTED;
    if (budget->max_evaluations && result->n_evaluation >= budget->max_evaluations)
        return STOP_MAX_EVALUATIONS;
    if (budget->max_seconds > 0 && clock_wall_s() - start_s >= budget->max_seconds)
        return STOP_MAX_SECONDS;
    return STOP_RUNNING;
}

static enum dse_status search(struct engine_context *context, void *state, double start_s,
                              struct dse_error *err)
{
    enum engine_stop stop = STOP_RUNNING;
    enum dse_status status = context->engine->init(state, context, err);
    if (status == DSE_OK && context->space && mapspace_is_empty(context->space))
        stop = STOP_CONVERGED;
    while (status == DSE_OK && stop == STOP_RUNNING) {
        stop = outer_stop(context, start_s);
        if (stop == STOP_RUNNING)
            status = context->engine->step(state, context, &stop, err);
    }
    const struct engine_budget *budget = &context->task->budget;
    if (budget->cancel && atomic_load_explicit(budget->cancel, memory_order_relaxed))
        stop =
            STOP_INTERRUPTED; /* an engine that looks for itself may have left off in the middle of a step */
    if (status == DSE_OK && context->engine->finish)
        status = context->engine->finish(state, context, err);
    if (context->result->feasible && context->result->cost <= context->good_enough)
        stop = STOP_OPTIMAL;
    if (context->engine->free)
        context->engine->free(state);
    context->result->stop = stop;
    bool cancelled = budget->cancel && atomic_load_explicit(budget->cancel, memory_order_relaxed);
    if (!cancelled && (status == DSE_INTERRUPTED || (status == DSE_OK && stop == STOP_INTERRUPTED)))
        return driver_refuse(err, "it says that it was cancelled, and it was not");
    return status;
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
    context->cycle_limit = UINT64_MAX;
    context->energy_limit_j = INFINITY;
    text_init(&context->text);
    enum dse_status status = DSE_OK;
    if (task->evaluator) {
        context->useful_macs = (double)problem_macs(evaluator_problem(task->evaluator));
        status = use_evaluator(context, task->evaluator, err);
    }
    if (status == DSE_OK)
        status = search(context, state, start_s, err);
    if (status == DSE_OK && result->feasible)
        status =
            engine->kind == ENGINE_SCHEDULER ? driver_confirm_schedule(context, err) : confirm(context, err);
    if (status == DSE_OK && !result->feasible)
        explain(context);
    eval_workspace_delete(context->own_workspace);
    evaluator_delete(context->padded);
    text_free(&context->text);
    result->seconds = clock_wall_s() - start_s;
    return status;
}
