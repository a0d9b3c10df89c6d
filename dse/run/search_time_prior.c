/* A table of what each engine takes per evaluation, and the points of a sweep sorted into classes of equal
 * estimate. */
#include "dse/run/search_time_prior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Engines that say nothing of their effort. */
static const struct engine_effort usual_mapper = {3e-5, 10000, 3e-6, {NULL, NULL}, NULL};
static const struct engine_effort usual_scheduler = {7e-5, 1500, 4e-6, {NULL, NULL}, NULL};

static const double usual_digits = 24;

/* Latency alone mostly reaches its lower bound, which ends a search early (descent: 620 evaluations a layer
 * instead of 21,000 on ResNet-50, docs/engines.md; but some layers never do). */
static const double latency_share = 0.15;

static const struct engine_effort *effort_of(const struct engine *engine)
{
    if (engine->effort.fixed_s > 0)
        return &engine->effort;
    return engine->kind == ENGINE_SCHEDULER ? &usual_scheduler : &usual_mapper;
}

/* The number of an option in the engine's table, or -1. */
static int find_option(const struct engine *engine, const char *name)
{
    for (size_t i = 0; name && i < engine->n_option; i++)
        if (strcmp(engine->option[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* By how much the options make the search longer than with the defaults; 0 means "no limit" for most: as by
 * default. */
static double option_factor(const struct solve_settings *settings, const struct engine_effort *e)
{
    double factor = 1;
    for (size_t i = 0; i < sizeof e->option / sizeof e->option[0]; i++) {
        int at = find_option(settings->engine, e->option[i]);
        if (at >= 0 && settings->option[at] > 0 && settings->engine->option[at].standard > 0)
            factor *= settings->option[at] / settings->engine->option[at].standard;
    }
    return factor;
}

/* One search of size 1, or, for a scheduler, of so many layers times samples. */
static double search_s(const struct solve_settings *settings, double unit)
{
    const struct engine_effort *e = effort_of(settings->engine);
    double evaluations = e->evaluations * option_factor(settings, e) * unit;
    if (settings->objective.energy_exponent <= 0 && settings->engine->kind == ENGINE_MAPPER)
        evaluations *= latency_share;
    if (settings->max_evaluations && evaluations > (double)settings->max_evaluations)
        evaluations = (double)settings->max_evaluations;
    int work = find_option(settings->engine, e->seconds);
    return e->fixed_s * unit + evaluations * e->evaluation_s + (work >= 0 ? settings->option[work] : 0);
}

/* How much larger than usual a loop nest is: binary digits of its bounds, in units of a 3x3 layer of
 * ResNet-50 (24). */
static double task_size(const struct problem *problem)
{
    uint32_t digits = 1;
    for (uint32_t d = 0; d < problem->n_dim; d++)
        for (uint32_t rest = problem->bound[d]; rest > 1; rest /= 2)
            digits++;
    return digits / usual_digits;
}

double time_class_task_s(const struct time_class *class, const struct workload *workload, uint32_t task)
{
    double size = class->scheduler ? 1 : task_size(&workload->problem[task]);
    double seconds = class->search_s * size;
    return seconds < class->limit_s ? seconds : class->limit_s;
}

static void fill_class(const struct solve_settings *settings, const struct workload *workload,
                       struct time_class *out)
{
    out->scheduler = solve_is_scheduler(settings);
    out->n_task = out->scheduler ? 1 : workload->n_problem;
    out->limit_s = settings->max_seconds > 0 ? settings->max_seconds : INFINITY;
    out->search_s =
        search_s(settings, out->scheduler ? (double)workload->network->n_layer * workload->batch : 1);
    out->point_s = 0;
    for (uint32_t t = 0; t < out->n_task; t++)
        out->point_s += time_class_task_s(out, workload, t);
}

/* ---------------------------------------- classes */

/* Does some engine of the sweep take longer with more of this option? */
static bool option_counts(const struct sweep *sweep, const char *name)
{
    for (size_t e = 0; e < sweep->n_engine; e++) {
        const struct engine *engine = sweep->engine[e].engine;
        const struct engine_effort *known = effort_of(engine);
        if (known->seconds && strcmp(known->seconds, name) == 0)
            return true;
        for (size_t i = 0; i < sizeof known->option / sizeof known->option[0]; i++)
            if (known->option[i] && strcmp(known->option[i], name) == 0)
                return true;
    }
    return false;
}

static bool dimension_counts(const struct sweep *sweep, const struct spec_dimension *dimension)
{
    for (size_t k = 0; k < dimension->n_variable; k++) {
        const struct spec_variable *v = &sweep->spec->variable[dimension->first + k];
        if (v->kind->target == SPEC_ENGINE || v->kind->target == SPEC_NETWORK ||
            v->kind->target == SPEC_PARAMETER || v->kind->target == SPEC_BATCH ||
            v->kind->target == SPEC_OBJECTIVE ||
            (v->kind->target == SPEC_OPTION && option_counts(sweep, v->name + sizeof "option." - 1)))
            return true;
    }
    return false;
}

/* Which dimensions tell classes apart, in declared order. */
static void choose_dimensions(struct time_prior *prior, const struct sweep *sweep)
{
    const struct sweep_spec *spec = sweep->spec;
    size_t longest = TIME_CLASS_MAX;
    double n_class;
    do {
        size_t next = 0;
        n_class = 1;
        for (size_t d = 0; d < spec->n_dimension; d++) {
            size_t n = spec->dimension[d].n_value;
            if (n > longest || !dimension_counts(sweep, &spec->dimension[d]))
                continue;
            n_class *= (double)n;
            next = n > next ? n : next;
        }
        if (n_class > TIME_CLASS_MAX)
            longest = next - 1;
    } while (n_class > TIME_CLASS_MAX);
    uint64_t stride = 1;
    for (size_t d = spec->n_dimension; d-- > 0;) {
        size_t n = spec->dimension[d].n_value;
        if (n <= longest && dimension_counts(sweep, &spec->dimension[d])) {
            prior->dim[prior->n_dim] = (uint32_t)d;
            prior->length[prior->n_dim] = (uint32_t)n;
            prior->stride[prior->n_dim++] = stride;
        }
        stride *= n;
    }
    prior->n_class = (uint32_t)n_class;
}

/* The settings and the workload of class number c; as sweep_point has them. */
static void make_class(const struct time_prior *prior, const struct sweep *sweep, uint32_t c,
                       struct time_class *out)
{
    const struct sweep_spec *spec = sweep->spec;
    size_t engine = 0, at[SPEC_VARIABLE_MAX];
    uint32_t index[SPEC_VARIABLE_MAX] = {0}; /* of the network and its batch */
    uint32_t rest = c;
    for (size_t i = 0; i < prior->n_dim; i++) {
        const struct spec_dimension *dimension = &spec->dimension[prior->dim[i]];
        at[i] = rest % prior->length[i];
        rest /= prior->length[i];
        index[prior->dim[i]] = (uint32_t)at[i];
        for (size_t k = 0; k < dimension->n_variable; k++) {
            enum spec_target target = spec->variable[dimension->first + k].kind->target;
            engine = target == SPEC_ENGINE ? at[i] : engine;
        }
    }
    struct solve_settings settings = sweep->engine[engine];
    for (size_t i = 0; i < prior->n_dim; i++) {
        const struct spec_dimension *dimension = &spec->dimension[prior->dim[i]];
        for (size_t k = 0; k < dimension->n_variable; k++) {
            const struct spec_variable *v = &spec->variable[dimension->first + k];
            const char *text = v->value[at[i]].text;
            enum dse_status status = DSE_OK; /* an engine that does not have an option keeps what it has */
            if (v->kind->target == SPEC_OPTION)
                status = engine_option_set(settings.engine, v->name + sizeof "option." - 1, text,
                                           settings.option, NULL);
            if (v->kind->target == SPEC_OBJECTIVE)
                status = solve_settings_objective(&settings, text, NULL);
            (void)status;
        }
    }
    out->engine = (uint32_t)engine;
    out->workload = (uint32_t)sweep_workload_at(sweep, index);
    const struct workload *workload = &sweep->workload[out->workload];
    uint32_t n_search = solve_is_scheduler(&settings) ? 1 : workload->n_problem;
    solve_settings_share(&settings, sweep->point_max_evaluations, sweep->point_max_seconds, n_search);
    fill_class(&settings, workload, out);
}

enum dse_status time_prior_init(struct time_prior *prior, const struct sweep *sweep, struct dse_error *err)
{
    memset(prior, 0, sizeof *prior);
    choose_dimensions(prior, sweep);
    prior->class = calloc(prior->n_class, sizeof *prior->class);
    if (!prior->class)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u cost classes", prior->n_class);
    for (uint32_t c = 0; c < prior->n_class; c++)
        make_class(prior, sweep, c, &prior->class[c]);
    return DSE_OK;
}

void time_prior_free(struct time_prior *prior)
{
    free(prior->class);
    memset(prior, 0, sizeof *prior);
}

uint32_t time_prior_class_of_index(const struct time_prior *prior, const uint32_t *index)
{
    uint32_t class = 0;
    for (size_t i = prior->n_dim; i-- > 0;)
        class = class * prior->length[i] + index[prior->dim[i]];
    return class;
}

uint32_t time_prior_class_of_cell(const struct time_prior *prior, uint64_t cell)
{
    uint32_t class = 0;
    for (size_t i = prior->n_dim; i-- > 0;)
        class = class * prior->length[i] + (uint32_t)(cell / prior->stride[i] % prior->length[i]);
    return class;
}
