/* Picks the record maker by the kind of engine; a point whose machine cannot be built becomes a row with
 * the reason. */
#include "dse/run/point_rows.h"

#include <string.h>

#include "dse/solve/record.h"

void point_rows_most(const struct sweep *sweep, size_t *n_layer, size_t *n_task)
{
    *n_layer = *n_task = 1;
    for (size_t w = 0; w < sweep->n_network * sweep->n_batch; w++) {
        const struct workload *workload = &sweep->workload[w];
        *n_layer = workload->n_layer > *n_layer ? workload->n_layer : *n_layer;
        *n_task = workload->n_problem > *n_task ? workload->n_problem : *n_task;
    }
}

enum dse_status point_rows_make(const struct sweep *sweep, const struct sweep_point *point,
                                const struct architecture *arch, const struct solve_result *const *result,
                                uint64_t key, struct arena *arena, struct point_record *record,
                                struct layer_record *layer, struct dse_error *err)
{
    const struct accounting *accounting = solve_accounting(&point->settings, arch);
    const struct record_source source = {.workload = point->workload,
                                         .arch = arch,
                                         .result = result,
                                         .n_level = sweep->schema.n_level,
                                         .level = sweep->schema.level,
                                         .accounting = accounting ? accounting->name : NULL,
                                         .texts = true,
                                         .measure = &point->settings.measure,
                                         .group = point->settings.engine->group,
                                         .n_extra = sweep->schema.n_extra[RESULT_POINTS],
                                         .extra = sweep->schema.extra[RESULT_POINTS]};
    memset(record, 0, sizeof *record);
    record->index = point->index;
    record->key = key;
    if (solve_is_scheduler(&point->settings))
        return record_make_network(&source, arena, record, layer, err);
    return record_make(&source, arena, record, layer, err);
}

enum dse_status point_rows_unbuilt(const struct sweep_point *point, const struct dse_error *why, uint64_t key,
                                   struct arena *arena, struct point_record *record, struct dse_error *err)
{
    char reason[DSE_ERROR_FILE_MAX + DSE_ERROR_TEXT_MAX + 32];
    dse_error_print(why, reason, sizeof reason);
    point_record_init(record);
    record->index = point->index;
    record->key = key;
    record->outcome = RESULT_FAILED;
    record->reason = arena_copy_text(arena, reason, strlen(reason));
    record->n_layer = 0;
    return arena_check(arena, "the rows of a point", err);
}
