/* Finds metrics in all tables that results can have, and axes in the schema of a table. */
#include "dse/status/followed_row.h"

#include <string.h>

#include "base/text.h"
#include "costmodel/model/measure.h"
#include "dse/console/not_ok.h"
#include "engines/driver/engine.h"
#include "results/plot/plot_data.h"

enum { KNOWN_MAX = 512 };

/* Every metric that some result has, of whatever sweep; returns how many. */
static size_t all_metrics(const struct metric *metric[KNOWN_MAX])
{
    struct result_column column[RESULT_COLUMN_MAX];
    size_t n_measure, n_engine, n = 0;
    const struct measure *const *measure = measure_all(&n_measure);
    const struct engine *const *engine = engine_all(&n_engine);
    const struct result_schema all = {.leaks = true};
    for (size_t i = 0, n_column = schema_columns(&all, RESULT_POINTS, column); i < n_column; i++)
        metric[n++] = column[i].metric;
    for (size_t i = 0; i < n_measure + n_engine + 1; i++) {
        const struct metric_group *group = i < n_measure              ? &measure[i]->group
                                           : i < n_measure + n_engine ? engine[i - n_measure]->group
                                                                      : &schedule_group;
        for (size_t k = 0; group && k < group->n && n < KNOWN_MAX; k++)
            metric[n++] = &group->metric[k];
    }
    return n;
}

enum dse_status followed_metric(const char *option, const char *name, const struct metric **metric,
                                struct dse_error *err)
{
    const struct metric *all[KNOWN_MAX], *found = NULL;
    const char *known[KNOWN_MAX];
    size_t n_all = all_metrics(all), n = 0;
    char shown[96];
    for (size_t i = 0; i < n_all && !found; i++)
        found = strcmp(all[i]->name, name) == 0 ? all[i] : NULL;
    *metric = found;
    if (found && metric_direction(found) != 0)
        return DSE_OK;
    for (size_t i = 0; i < n_all; i++)
        if (metric_direction(all[i]) != 0)
            known[n++] = all[i]->name;
    const char *near = text_nearest(name, known, n);
    for (size_t i = 0; i < n && !near; i++)
        near = result_column_is(known[i], name) ? known[i] : NULL; /* the unit is missing */
    return dse_fail(err, DSE_BAD_USAGE, "--%s %s: %s%s%s%s", option, text_excerpt(name, shown, sizeof shown),
                    found ? "there is no best of it" : "no such metric",
                    near && !found ? "; did you mean " : "; for instance edp_js, latency_s or energy_j",
                    near && !found ? near : "", near && !found ? "?" : "");
}

const struct result_coordinate *followed_coordinate(const struct result_schema *schema, size_t column,
                                                    size_t *axis)
{
    for (size_t a = 0; a < schema->n_axis; a++) {
        if (column < schema->axis[a].n_coordinate) {
            *axis = a;
            return &schema->axis[a].coordinate[column];
        }
        column -= schema->axis[a].n_coordinate;
    }
    return NULL;
}

size_t followed_name_length(const struct followed_row *source, size_t column)
{
    size_t axis = 0;
    const struct result_coordinate *c =
        source->schema ? followed_coordinate(source->schema, column, &axis) : NULL;
    return c ? not_ok_name_length(c) : strlen(source->header->field[column]);
}

const char *followed_text(const struct followed_row *source, const struct csv_row *row, size_t column,
                          const uint32_t *index, char *buffer)
{
    size_t axis = 0;
    const struct result_coordinate *c =
        source->schema ? followed_coordinate(source->schema, column, &axis) : NULL;
    return c ? coordinate_label(c, index[axis], buffer, FOLLOWED_LABEL_MAX) : row->field[column];
}
