/* The shape of the result files of a sweep. */
#include <string.h>
#include <strings.h>

#include "base/name_table.h"
#include "base/units.h"
#include "dse/solve/record.h"
#include "dse/spec/sweep.h"

static void fill_coordinate(const struct sweep *sweep, size_t v, struct result_coordinate *out)
{
    const struct sweep_variable *variable = &sweep->variable[v];
    out->name = variable->column;
    out->long_name = variable->long_name;
    out->unit = !variable->numeric    ? ""
                : variable->unit >= 0 ? unit_symbol((enum unit_kind)variable->unit)
                                      : "1";
    out->number = variable->numeric ? variable->number : NULL;
    out->text = variable->numeric ? NULL : variable->text;
    out->label = variable->label;
}

enum dse_status sweep_axes(struct sweep *sweep, struct dse_error *err)
{
    const struct sweep_spec *spec = sweep->spec;
    struct result_axis *axis = arena_alloc(&sweep->arena, spec->n_dimension + 1, sizeof *axis);
    struct result_coordinate *coordinate =
        arena_alloc(&sweep->arena, spec->n_variable + 1, sizeof *coordinate);
    DSE_TRY(arena_check(&sweep->arena, "a sweep", err));
    for (size_t d = 0; d < spec->n_dimension; d++) {
        axis[d] = (struct result_axis){spec->dimension[d].n_value, spec->dimension[d].n_variable, coordinate};
        for (size_t k = 0; k < spec->dimension[d].n_variable; k++)
            fill_coordinate(sweep, spec->dimension[d].first + k, coordinate++);
    }
    sweep->schema.n_axis = spec->n_dimension;
    sweep->schema.axis = axis;
    return DSE_OK;
}

/* Layer names over all networks, each once, in the order of the networks; behind them the row of a
 * schedule. */
static enum dse_status make_layers(struct sweep *sweep, struct dse_error *err)
{
    struct name_table seen;
    size_t n_most = 0, n = 0, at;
    int good = 1;
    for (size_t w = 0; w < sweep->n_network * sweep->n_batch; w++)
        n_most += sweep->workload[w].n_layer;
    const char **name = arena_alloc(&sweep->arena, n_most + 1, sizeof *name);
    DSE_TRY(arena_check(&sweep->arena, "a sweep", err));
    name_table_init(&seen);
    for (size_t w = 0; w < sweep->n_network * sweep->n_batch; w++)
        for (uint32_t i = 0; good && i < sweep->workload[w].n_layer; i++) {
            const char *one = sweep->workload[w].network->layer[sweep->workload[w].layer[i]].name;
            if (name_table_get(&seen, one, &at))
                continue;
            good = name_table_put(&seen, one, n);
            name[n++] = one;
        }
    name_table_free(&seen);
    if (sweep->n_scheduler)
        name[n++] = RECORD_NETWORK_LAYER;
    sweep->schema.layer = name;
    sweep->schema.n_layer = n;
    return good ? DSE_OK : sweep_no_memory(sweep, err);
}

/* Put `name` behind position `after` (-1: in front) unless it is there; returns where it is. */
static long insert_level(const char **list, size_t *n, const char *name, long after)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(list[i], name) == 0)
            return (long)i;
    size_t at = (size_t)(after + 1);
    memmove(&list[at + 1], &list[at], (*n - at) * sizeof *list);
    list[at] = name;
    ++*n;
    return (long)at;
}

/* Level names over all machines, innermost first. */
static enum dse_status make_levels(struct sweep *sweep, struct dse_error *err)
{
    const char **list = arena_alloc(&sweep->arena, RESULT_LEVEL_MAX + ARCH_LEVEL_MAX, sizeof *list);
    size_t n = 0;
    DSE_TRY(arena_check(&sweep->arena, "a sweep", err));
    for (size_t a = 0; a < sweep->n_arch; a++) {
        struct architecture arch;
        long at = -1;
        DSE_TRY(architecture_build(&sweep->arch[a], NULL, 0, &arch, err));
        record_schema_add(&sweep->schema, &arch);
        for (uint32_t l = 0; l < arch.n_level; l++) {
            char *name = arena_copy_text(&sweep->arena, arch.level[l].name, strlen(arch.level[l].name));
            DSE_TRY(arena_check(&sweep->arena, "a sweep", err));
            at = insert_level(list, &n, name, at);
        }
        if (n > RESULT_LEVEL_MAX)
            return dse_fail_at(err, DSE_LIMIT, sweep->spec->path, 0,
                               "the machines have more than %d storage level names together",
                               RESULT_LEVEL_MAX);
    }
    sweep->schema.level = list;
    sweep->schema.n_level = n;
    return DSE_OK;
}

/* What the specification is made of, with a hash of all of it: shards of other inputs are not merged. */
static enum dse_status keep_specification(struct sweep *sweep, struct dse_error *err)
{
    const struct sweep_spec *spec = sweep->spec;
    struct result_schema *schema = &sweep->schema;
    struct hash_state state;
    schema->specification = spec->text;
    schema->set = spec->set;
    schema->n_set = spec->n_set;
    schema->input = input_store_all(spec->inputs, &schema->n_input);
    hash_begin(&state);
    input_hash(&state, spec->text, schema->set, schema->n_set, schema->input, schema->n_input);
    schema->specification_hash = hash_end(&state);
    return schema->specification_hash ? DSE_OK : sweep_no_memory(sweep, err);
}

/* Add the metrics of a group to the columns of points, and its name to `names`, unless it is there. */
static void add_group(const struct metric_group *group, const struct metric **point, size_t *n_point,
                      struct text_buffer *names)
{
    for (size_t i = 0; i < *n_point; i++)
        if (point[i] == &group->metric[0])
            return;
    for (size_t i = 0; i < group->n; i++)
        point[(*n_point)++] = &group->metric[i];
    text_append(names, "%s%s", names->length ? " " : "", group->name);
}

enum dse_status sweep_columns(struct sweep *sweep, struct dse_error *err)
{
    const struct measure_settings *measure = &sweep->spec->measure;
    const size_t most = MEASURE_VALUE_MAX + (sweep->n_engine + 1) * METRIC_GROUP_MAX;
    const struct metric **point = arena_alloc(&sweep->arena, most, sizeof *point);
    const struct metric **layer = arena_alloc(&sweep->arena, MEASURE_VALUE_MAX, sizeof *layer);
    struct text_buffer names;
    size_t n_measure;
    const struct measure *const *all = measure_all(&n_measure);
    if (!point || !layer)
        return sweep_no_memory(sweep, err);
    size_t n_point = measure_columns(measure, true, point);
    text_init(&names);
    for (size_t i = 0; i < n_measure; i++)
        if (measure->what >> i & 1u)
            text_append(&names, "%s%s", names.length ? " " : "", all[i]->group.name);
    for (size_t e = 0; e < sweep->n_engine; e++)
        if (sweep->engine[e].engine->group)
            add_group(sweep->engine[e].engine->group, point, &n_point, &names);
    if (sweep->n_scheduler)
        add_group(&schedule_group, point, &n_point, &names);
    char *words =
        names.failed ? NULL : arena_copy_text(&sweep->arena, names.data ? names.data : "", names.length);
    text_free(&names);
    sweep->schema.measures = words;
    sweep->schema.n_extra[RESULT_POINTS] = n_point;
    sweep->schema.extra[RESULT_POINTS] = point;
    sweep->schema.n_extra[RESULT_LAYERS] = measure_columns(measure, false, layer);
    sweep->schema.extra[RESULT_LAYERS] = layer;
    return words ? DSE_OK : sweep_no_memory(sweep, err);
}

static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

/* A path by which a machine may get leakage or areas that its file has not. */
static void add_path(struct result_schema *schema, const char *path)
{
    const bool technology = strcmp(path, "technology") == 0;
    schema->leaks |= technology || ends_in(path, ".leakage");
    schema->areas |= technology || ends_in(path, ".area") || ends_in(path, ".area_per_byte");
}

static void add_paths(struct sweep *sweep)
{
    for (size_t v = 0; v < sweep->spec->n_variable; v++)
        add_path(&sweep->schema, sweep->spec->variable[v].name);
    for (size_t i = 0; i < sweep->spec->n_override; i++)
        add_path(&sweep->schema, sweep->spec->override[i].path);
}

/* Is the objective pareto, fixed or one of an axis? */
static bool has_fronts(const struct sweep *sweep)
{
    const struct sweep_values values = sweep_values_of(sweep, "objective");
    for (size_t i = 0; i < values.n; i++)
        if (strcasecmp(values.value[i].text, OBJECTIVE_FRONT) == 0)
            return true;
    return false;
}

enum dse_status sweep_schema(struct sweep *sweep, struct dse_error *err)
{
    struct dse_error inner = {0};
    DSE_TRY(make_layers(sweep, err));
    DSE_TRY(make_levels(sweep, err));
    sweep->schema.name = sweep->spec->name;
    sweep->schema.title = sweep->spec->title;
    DSE_TRY(keep_specification(sweep, err));
    sweep->schema.n_point = sweep->n_point;
    sweep->schema.schedules = sweep->n_scheduler > 0;
    sweep->schema.fronts = has_fronts(sweep);
    add_paths(sweep);
    enum dse_status status = schema_check(&sweep->schema, &inner);
    if (status != DSE_OK)
        return dse_fail_at(err, status, sweep->spec->path, 0, "%s", inner.text);
    return DSE_OK;
}
