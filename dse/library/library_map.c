/* Searches of libdse, as `dse map` does them, and the columns of their results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/yaml.h"
#include "dse/inputs/input_store.h"
#include "dse/inputs/inputs.h"
#include "dse/library/library.h"
#include "dse/run/threads.h"
#include "dse/solve/map_layers.h"
#include "dse/solve/option_files.h"
#include "dse/solve/record.h"
#include "dse/solve/solve.h"
#include "dse/solve/workload.h"
#include "results/record/schema.h"

/* The columns of a table, behind layer and status. */
struct result_columns {
    size_t n;
    struct result_column column[RESULT_COLUMN_MAX];
};

struct dse_result {
    bool is_schedule;
    size_t n;                       /* rows */
    struct map_layers mapped;       /* by a mapper */
    uint32_t *problem_of;           /* (n) of these: whose mapping a row has */
    struct solve_result scheduled;  /* by a scheduler */
    struct point_record point;      /* the total; of a schedule its only row */
    const struct layer_record *row; /* (n) */
    struct result_columns of[RESULT_TABLE_COUNT];
    size_t n_level, n_level_metric;
    const char **level_column; /* (n_level, n_level_metric) names */
    const struct metric *level_metric;
    struct arena arena;
};

/* What one call of dse_map holds besides. */
struct search {
    const struct dse_search *asked;
    struct solve_settings settings;
    struct workload workload;
    struct input_store *inputs;
    struct option_files *files;
    struct yaml_doc constraints;
    const atomic_int *cancel;
    int n_thread;
};

/* ---------------------------------------- the search */

static enum dse_status read_search(const struct dse_search *asked, struct search *search,
                                   struct dse_error *err)
{
    struct solve_settings *s = &search->settings;
    DSE_TRY(solve_settings_init(s, asked->engine ? asked->engine : "descent", err));
    DSE_TRY(input_store_new(&search->inputs, err));
    DSE_TRY(option_files_new(search->inputs, NULL, &search->files, err));
    s->files = search->files;
    s->seed = asked->seed;
    s->max_evaluations = asked->max_evaluations;
    s->max_seconds = asked->max_seconds;
    if (!(asked->max_seconds >= 0 && asked->max_seconds <= 1e9))
        return dse_fail(err, DSE_BAD_USAGE, "max_seconds: a number from 0 to 1e9 is expected");
    if (asked->objective)
        DSE_TRY(solve_settings_objective(s, asked->objective, err));
    if (asked->bound)
        DSE_TRY(bound_effort_parse(asked->bound, &s->bound_effort, err));
    if (asked->accounting)
        DSE_TRY(accounting_named(asked->accounting, &s->accounting, err));
    if (asked->measure)
        DSE_TRY(measure_add_list(&s->measure, asked->measure, err));
    DSE_TRY(library_need_pairs(asked->option, asked->n_option, "options", err));
    for (size_t i = 0; i < asked->n_option; i++)
        DSE_TRY(solve_settings_option(s, asked->option[2 * i], asked->option[2 * i + 1], err));
    search->n_thread = asked->n_thread == 0     ? threads_available()
                       : asked->n_thread < 4096 ? (int)asked->n_thread
                                                : 4096;
    return solve_settings_settle(s, err);
}

/* A schedule is of the whole network. */
static enum dse_status check_whole(const char *layer, const struct search *search, struct dse_error *err)
{
    const char *of_layers = layer                        ? "a layer"
                            : search->asked->constraints ? "constraints"
                            : search->asked->measure     ? "what is measured of mappings"
                                                         : NULL;
    return of_layers ? dse_fail(err, DSE_BAD_USAGE, "%s is for mappers; engine %s schedules whole networks",
                                of_layers, search->settings.engine->name)
                     : DSE_OK;
}

static enum dse_status read_constraints(struct search *search, const struct architecture *arch,
                                        struct dse_error *err)
{
    const struct ynode *list;
    DSE_TRY(input_constraints(search->asked->constraints, &search->constraints, &list, err));
    return map_layers_constrain(&search->settings, &search->constraints, list, &search->workload, arch, err);
}

static enum dse_status prepare(const struct architecture *arch, const struct network *network,
                               const char *layer, struct search *search, struct dse_error *err)
{
    const uint32_t batch = search->asked->batch;
    DSE_TRY(read_search(search->asked, search, err));
    if (search->settings.accounting)
        DSE_TRY(accounting_accepts(search->settings.accounting, arch, err));
    DSE_TRY(measure_check(&search->settings.measure, arch, err));
    if (solve_is_scheduler(&search->settings)) {
        DSE_TRY(check_whole(layer, search, err));
        workload_init_whole(&search->workload, network, batch);
    } else {
        DSE_TRY(workload_init(&search->workload, network, batch, &layer, layer != NULL, 0, err));
        if (search->asked->constraints)
            DSE_TRY(read_constraints(search, arch, err));
    }
    return solve_takes(&search->settings, &search->workload, arch, search->cancel, err);
}

static enum dse_status schedule(const struct search *search, const struct architecture *arch,
                                struct dse_result *result, struct dse_error *err)
{
    const struct solve_shared shared = {.n_thread = search->n_thread};
    const struct solve_result *found = &result->scheduled;
    struct layer_record *row = arena_alloc(&result->arena, 1, sizeof *row);
    DSE_TRY(arena_check(&result->arena, "a schedule", err));
    if (solve_network(&search->settings, &search->workload, arch, &shared, search->cancel, &result->arena,
                      &result->scheduled) != DSE_OK)
        return dse_fail(err, DSE_INTERRUPTED, "interrupted");
    const struct record_source source = {.workload = &search->workload,
                                         .arch = arch,
                                         .result = &found,
                                         .measure = &search->settings.measure,
                                         .group = search->settings.engine->group};
    DSE_TRY(record_make_network(&source, &result->arena, &result->point, row, err));
    row->mapping = found->schedule;
    result->row = row;
    result->n = 1;
    result->is_schedule = true;
    return DSE_OK;
}

/* ---------------------------------------- its columns */

/* What was measured, as far as a table has it. */
static size_t measured_columns(const struct search *search, enum result_table table,
                               const struct metric *extra[RESULT_EXTRA_MAX])
{
    const struct metric *all[MEASURE_VALUE_MAX];
    size_t n = 0;
    const size_t n_all =
        search->settings.measure.what ? measure_columns(&search->settings.measure, false, all) : 0;
    for (size_t i = 0; i < n_all; i++)
        if (table == RESULT_LAYERS || all[i]->fold != METRIC_NONE)
            extra[n++] = all[i];
    return n;
}

/* What a schedule has besides, in the order of record_make_network. */
static size_t schedule_columns(const struct metric_group *group, const struct metric *extra[RESULT_EXTRA_MAX])
{
    size_t n = 0;
    for (size_t i = 0; group && i < group->n; i++)
        extra[n++] = &group->metric[i];
    extra[n++] = &schedule_group.metric[0];
    return n;
}

static void make_columns(const struct search *search, const struct architecture *arch,
                         struct dse_result *result)
{
    for (int t = 0; t < RESULT_TABLE_COUNT; t++) {
        const enum result_table table = (enum result_table)t;
        const struct metric *extra[RESULT_EXTRA_MAX];
        struct result_schema schema = {.fronts = search->settings.front};
        record_schema_add(&schema, arch);
        schema.extra[table] = extra;
        schema.n_extra[table] = result->is_schedule ? schedule_columns(search->settings.engine->group, extra)
                                                    : measured_columns(search, table, extra);
        result->of[table].n = schema_columns(&schema, table, result->of[table].column);
    }
}

static enum dse_status name_levels(const struct architecture *arch, struct dse_result *result,
                                   struct dse_error *err)
{
    char name[ARCH_NAME_MAX + 32];
    struct result_schema schema = {.areas = false};
    record_schema_add(&schema, arch);
    result->level_metric = schema_level_metrics(&schema, &result->n_level_metric);
    result->n_level = arch->n_level;
    result->level_column =
        arena_alloc(&result->arena, result->n_level * result->n_level_metric, sizeof *result->level_column);
    for (size_t i = 0; i < result->n_level * result->n_level_metric && result->level_column; i++) {
        (void)snprintf(name, sizeof name, "%s.%s", arch->level[i / result->n_level_metric].name,
                       result->level_metric[i % result->n_level_metric].name);
        result->level_column[i] = arena_copy_text(&result->arena, name, strlen(name));
    }
    return arena_check(&result->arena, "the columns of a result", err);
}

/* The rows outlive network and workload. */
static enum dse_status take_rows(const struct search *search, const struct architecture *arch,
                                 struct dse_result *result, struct dse_error *err)
{
    struct map_layers *mapped = &result->mapped;
    const struct workload *w = &search->workload;
    result->point = mapped->point;
    result->row = mapped->layer;
    result->n = w->n_layer;
    result->problem_of = arena_alloc(&result->arena, w->n_layer, sizeof *result->problem_of);
    DSE_TRY(arena_check(&result->arena, "the rows of a result", err));
    for (uint32_t i = 0; i < w->n_layer; i++) {
        struct layer_record *row = &mapped->layer[i];
        row->layer = arena_copy_text(&result->arena, row->layer, strlen(row->layer));
        result->problem_of[i] = w->problem_of[i];
    }
    return name_levels(arch, result, err);
}

static enum dse_status run(const struct dse_machine *machine, const struct dse_network *network,
                           const char *layer, struct search *search, struct dse_result *result,
                           struct dse_error *err)
{
    DSE_TRY(library_need(machine, "machine", err));
    DSE_TRY(library_need(network, "network", err));
    const struct architecture *arch = &machine->arch;
    DSE_TRY(prepare(arch, &network->network, layer, search, err));
    if (solve_is_scheduler(&search->settings)) {
        DSE_TRY(schedule(search, arch, result, err));
    } else {
        DSE_TRY(map_layers(&search->settings, &search->workload, arch, false, search->n_thread,
                           search->cancel, &result->arena, &result->mapped, err));
        DSE_TRY(take_rows(search, arch, result, err));
    }
    make_columns(search, arch, result);
    return DSE_OK;
}

int dse_map(const struct dse_machine *machine, const struct dse_network *network, const char *layer,
            const struct dse_search *search, struct dse_result **result, char *error, size_t error_size)
{
    static const struct dse_search none = {0};
    struct dse_error err = {0};
    enum dse_status status = library_need(result, "place for the result", &err);
    if (status != DSE_OK)
        return library_return(status, &err, error, error_size);
    struct search *job = calloc(1, sizeof *job);
    struct dse_result *made = calloc(1, sizeof *made);
    *result = NULL;
    if (job && made) {
        job->asked = search ? search : &none;
        job->cancel = library_flag(job->asked->cancel);
        arena_init(&made->arena);
        status = run(machine, network, layer, job, made, &err);
        yaml_doc_free(&job->constraints);
        workload_free(&job->workload);
        option_files_free(job->files);
        input_store_free(job->inputs);
    } else {
        status = dse_fail(&err, DSE_NO_MEMORY, "out of memory for a search");
    }
    free(job);
    if (status == DSE_OK)
        *result = made;
    else
        dse_result_free(made);
    return library_return(status, &err, error, error_size);
}

void dse_result_free(struct dse_result *result)
{
    if (result) {
        map_layers_clear(&result->mapped);
        solve_result_clear(&result->scheduled);
        arena_free(&result->arena);
    }
    free(result);
}

/* ---------------------------------------- reading them */

size_t dse_result_count(const struct dse_result *result)
{
    return result ? result->n : 0;
}

static void put_text(struct dse_field *field, const char *name, const char *text)
{
    *field = (struct dse_field){
        .name = name, .unit = "", .number = NAN, .text = text && text[0] ? text : NULL, .is_text = 1};
}

static void put_column(struct dse_field *field, const struct result_column *column, const void *record)
{
    const struct metric *metric = column->metric;
    const void *place = (const char *)record + column->offset;
    if (metric->type == METRIC_TEXT)
        put_text(field, metric->name, *(const char *const *)place);
    else
        *field = (struct dse_field){
            .name = metric->name, .unit = metric->unit, .number = metric_number(metric, place)};
}

/* Column number k of one level after the other. */
static int put_level(const struct dse_result *result, const struct level_values *level, size_t k,
                     struct dse_field *field)
{
    if (!level || k >= result->n_level * result->n_level_metric)
        return 0;
    const struct metric *metric = &result->level_metric[k % result->n_level_metric];
    const void *place = (const char *)&level[k / result->n_level_metric] + metric->offset;
    *field = (struct dse_field){
        .name = result->level_column[k], .unit = metric->unit, .number = metric_number(metric, place)};
    return 1;
}

int dse_result_field(const struct dse_result *result, size_t i, size_t k, struct dse_field *field)
{
    if (!result || !field || i > result->n)
        return 0;
    const bool of_point = i == result->n || result->is_schedule;
    const struct layer_record *row = i < result->n ? &result->row[i] : NULL;
    const struct result_columns *of = &result->of[of_point ? RESULT_POINTS : RESULT_LAYERS];
    if (k == 0)
        put_text(field, "layer", row ? row->layer : "total");
    else if (k == 1)
        put_text(field, "status", result_status_text(row ? row->outcome : result->point.outcome));
    else if (k - 2 < of->n)
        put_column(field, &of->column[k - 2], of_point ? (const void *)&result->point : (const void *)row);
    else if (result->is_schedule && row && k - 2 == of->n)
        put_text(field, "mapping", row->mapping);
    else
        return put_level(result, of_point ? result->point.level : row->level, k - 2 - of->n, field);
    return 1;
}

static enum dse_status take_mapping(const struct dse_result *result, size_t i, int32_t *row, size_t width,
                                    struct dse_error *err)
{
    DSE_TRY(library_need(result, "result", err));
    DSE_TRY(library_need(row, "row", err));
    if (i >= result->n || result->is_schedule || result->row[i].outcome != RESULT_OK)
        return dse_fail(err, DSE_BAD_USAGE, "row %zu of the result has no mapping", i);
    const struct mapping *mapping = &result->mapped.result[result->problem_of[i]].found.mapping;
    DSE_TRY(library_need_width(width, library_width(mapping->n_level, mapping->n_dim), result->row[i].layer,
                               err));
    library_row_write(mapping, row);
    return DSE_OK;
}

int dse_result_mapping(const struct dse_result *result, size_t i, int32_t *row, size_t width, char *error,
                       size_t error_size)
{
    struct dse_error err = {0};
    return library_return(take_mapping(result, i, row, width, &err), &err, error, error_size);
}
