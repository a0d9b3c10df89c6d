/* Metrics, mapping and origin are the answer's; columns of the group of the engine are found by name. */
#include "dse/exchange/exchange_row.h"

#include <math.h>
#include <string.h>

/* The column of points of that name; NULL: there is none. */
static union metric_value *extra_of(const struct result_schema *schema, const char *name,
                                    struct point_record *point)
{
    for (size_t i = 0; i < schema->n_extra[RESULT_POINTS] && i < RESULT_EXTRA_MAX; i++)
        if (strcmp(schema->extra[RESULT_POINTS][i]->name, name) == 0)
            return &point->extra[i];
    return NULL;
}

/* The engine's own values, as far as pricing knows them. */
static void put_own(const struct result_schema *schema, const struct metric_group *group,
                    const struct engine_schedule *schedule, struct point_record *point)
{
    for (size_t i = 0; group && i < group->n; i++) {
        union metric_value *value = extra_of(schema, group->metric[i].name, point);
        if (value && !isnan(metric_number(&group->metric[i], &schedule->own[i])))
            *value = schedule->own[i];
    }
}

/* The search's bound is one for every schedule: the ratio to it changes as the cost does. */
static void put_bound(const struct result_schema *schema, const struct objective *objective,
                      const struct engine_schedule *schedule, struct point_record *point)
{
    union metric_value *ratio = extra_of(schema, schedule_group.metric[0].name, point);
    if (!ratio || isnan(ratio->f64))
        return;
    double bound = objective_cost_of(objective, point->energy_j, point->latency_s) / ratio->f64;
    ratio->f64 = objective_cost_of(objective, schedule->energy_j, schedule->latency_s) / bound;
}

void exchange_row(const struct result_schema *schema, const struct solve_settings *settings,
                  const struct workload *workload, const struct exchange_answer *answer,
                  struct point_record *point, struct layer_record *layer)
{
    put_bound(schema, &settings->objective, answer->schedule, point);
    put_own(schema, settings->engine->group, answer->schedule, point);
    point->metrics = answer->schedule->metrics;
    point->accounting = answer->schedule->accounting;
    point->outcome = layer->outcome = RESULT_OK;
    point->reason = layer->reason = NULL;
    point->n_layer_mapped = workload->network->n_layer;
    point->exchanged_from = answer->from;
    layer->metrics = point->metrics;
    layer->mapping = answer->mapping;
    layer->same_as = NULL;
}
