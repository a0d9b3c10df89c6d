/* What a running engine may ask of the driver: prices, which are counted and the best kept, random streams,
 * the map space, and of schedulers offers and bounds. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engines/driver/driver_private.h"

const struct engine_task *engine_context_task(const struct engine_context *context)
{
    return context->task;
}

struct arena *engine_context_arena(struct engine_context *context)
{
    return context->arena;
}

const struct accounting *engine_context_accounting(const struct engine_context *context)
{
    return engine_accounting(context->engine, context->task->option, context->arch);
}

double engine_context_option(const struct engine_context *context, size_t index)
{
    return context->task->option[index];
}

const void *engine_context_file(const struct engine_context *context, size_t index)
{
    const struct engine_task *task = context->task;
    for (size_t i = 0; i < task->n_file; i++)
        if (task->file[i].id == task->option[index])
            return task->file[i].content;
    return NULL;
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

enum dse_status driver_use_evaluator(struct engine_context *context, const struct evaluator *evaluator,
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
    context->good_enough = context->shortlist ? -INFINITY : result->bound * (1 + 1e-12);
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
    return driver_use_evaluator(context, context->padded, err);
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

void engine_context_advise(struct engine_context *context, const char *advice)
{
    size_t n = strlen(context->reason);
    (void)snprintf(context->reason + n, sizeof context->reason - n, "%s%s", n > 0 ? "; " : "", advice);
}

bool driver_is_cancelled(const struct engine_context *context)
{
    const struct engine_budget *budget = &context->task->budget;
    return budget->cancel && atomic_load_explicit(budget->cancel, memory_order_relaxed);
}

bool driver_time_is_up(const struct engine_context *context)
{
    const bool chooses = context->shortlist && context->result->feasible;
    const double max_seconds = context->task->budget.max_seconds * (chooses ? 0.5 : 1);
    return max_seconds > 0 && clock_wall_s() - context->start_wall_s >= max_seconds - context->reserved_s;
}

bool engine_context_over(const struct engine_context *context)
{
    return driver_is_cancelled(context) || driver_time_is_up(context);
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

/* A better cost was found. It goes to the trace; when that is full, every second point but the first goes, so
 * that first and last stay. */
static void improve(struct engine_context *context, double cost)
{
    struct engine_result *result = context->result;
    result->feasible = true;
    result->cost = cost;
    if (result->n_trace == ENGINE_TRACE_MAX) {
        uint32_t n = 1;
        for (uint32_t i = 2; i < ENGINE_TRACE_MAX; i += 2)
            result->trace[n++] = result->trace[i];
        result->n_trace = n;
    }
    result->trace[result->n_trace++] =
        (struct trace_point){result->n_evaluation, cost, clock_thread_s() - context->start_s};
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
    if (context->shortlist)
        driver_list(context, mapping);
    bool lower = !result->feasible || *cost < result->cost;
    if (lower)
        improve(context, *cost);
    if (lower || (*cost == result->cost && evaluation->edp_js < result->evaluation.edp_js)) {
        result->mapping = *mapping;
        result->evaluation = *evaluation;
    }
    return true;
}

bool engine_context_try(struct engine_context *context, const struct mapping *mapping, double *cost)
{
    context->result->n_draw++;
    if (!evaluator_run(context->evaluator, context->workspace, mapping, &context->last)) {
        count_misfit(context, 1, &context->last.fit);
        return false;
    }
    *cost = objective_cost(&context->task->objective, &context->last);
    return true;
}

void engine_context_trials_count(struct engine_context *context, uint64_t n)
{
    context->result->n_evaluation += n;
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

/* ---------------------------------------- schedules */

void engine_context_count(struct engine_context *context, uint64_t n)
{
    context->result->n_evaluation += n;
    context->result->n_draw += n;
}

void engine_context_reserve(struct engine_context *context, double seconds)
{
    context->reserved_s = seconds;
}

const double *engine_context_reserved(const struct engine_context *context)
{
    return &context->reserved_s;
}

void engine_context_bound(struct engine_context *context, double cost)
{
    if (!(cost > context->result->bound) || !isfinite(cost))
        return;
    context->result->bound = cost;
    context->good_enough = cost * (1 + 1e-12);
}

static const struct metric bound_metric[] = {
    {.name = "bound_cost_ratio",
     .unit = "1",
     .sentence = "Cost of the objective over the engine's own lower bound",
     .better = METRIC_LESS},
};

const struct metric_group schedule_group = {"schedule", bound_metric, 1};

void engine_schedule_init(struct engine_schedule *schedule)
{
    *schedule = (struct engine_schedule){.text = NULL};
    metrics_init(&schedule->metrics);
    memset(schedule->own, 0xff, sizeof schedule->own);
}

static bool is_sound(const struct engine *engine, const struct engine_schedule *s)
{
    size_t n;
    const struct metric *metric = metric_all(&n);
    for (size_t i = 0; i < n; i++)
        if (!metric_is_sound(&metric[i], (const char *)&s->metrics + metric[i].offset))
            return false;
    for (size_t i = 0; engine->group && i < engine->group->n; i++)
        if (!metric_is_sound(&engine->group->metric[i], &s->own[i]))
            return false;
    return s->text && s->text_length > 0 && s->accounting && s->latency_cycle > 0 &&
           s->latency_cycle != METRIC_U64_MISSING && s->latency_s > 0 && s->energy_j >= 0;
}

enum dse_status engine_context_offer(struct engine_context *context, const struct engine_schedule *schedule,
                                     struct dse_error *err)
{
    struct engine_result *result = context->result;
    if (!is_sound(context->engine, schedule))
        return dse_fail(err, DSE_INTERNAL,
                        "engine %s offers a schedule without text or with numbers that cannot be: %" PRIu64
                        " cycles, %g J",
                        context->engine->name, schedule->latency_cycle, schedule->energy_j);
    double cost = objective_cost_of(&context->task->objective, schedule->energy_j, schedule->latency_s);
    if (result->feasible && !(cost < result->cost))
        return DSE_OK;
    text_clear(&context->text);
    text_append_bytes(&context->text, schedule->text, schedule->text_length);
    if (context->text.failed)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a schedule of %zu bytes",
                        schedule->text_length);
    improve(context, cost);
    result->schedule = *schedule;
    result->schedule.text = context->text.data;
    result->schedule.edp_js = schedule->energy_j * schedule->latency_s;
    return DSE_OK;
}
