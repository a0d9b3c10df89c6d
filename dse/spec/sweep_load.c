/* Looking up what a specification names: architectures, networks, engines and their options; the limits of
 * its searches, where they run, and what contains them there. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "dse/inputs/resolve.h"
#include "dse/spec/sweep.h"

const char *const isolation_word[ISOLATION_COUNT] = {"auto", "thread", "process"};

struct sweep_values sweep_values_of(const struct sweep *sweep, const char *name)
{
    const struct spec_text *fixed = spec_fixed(sweep->spec, name);
    const struct spec_variable *variable = spec_find_variable(sweep->spec, name);
    if (variable)
        return (struct sweep_values){variable->n_value, variable->value};
    return (struct sweep_values){fixed->text != NULL, fixed};
}

/* Whether a key of the file may be meant for this one. */
static bool is_misspelt(const struct ynode *root, const char *name)
{
    for (size_t i = 0; i < root->n_item; i++)
        if (text_nearest(root->key[i], &name, 1))
            return true;
    return false;
}

enum dse_status sweep_missing(const struct sweep *sweep, const char *name, const char *example,
                              struct dse_error *err)
{
    const struct ynode *root = sweep->spec->doc.root, *axes = yaml_find(root, "axes");
    if (sweep->spec->faults && (is_misspelt(root, name) || yaml_find(root, name) || yaml_find(axes, name)))
        return DSE_OK;
    return dse_fail_at(err, DSE_BAD_INPUT, sweep->spec->path, sweep->spec->doc.root->line,
                       "the specification does not say which %s; add %s, or an axis of that name", name,
                       example);
}

enum dse_status sweep_take_file(const struct sweep *sweep, enum resolve_kind kind,
                                const struct spec_text *name, struct result_input *file,
                                struct dse_error *err)
{
    const struct sweep_spec *spec = sweep->spec;
    struct dse_error inner = {0};
    enum dse_status status = input_store_get(spec->inputs, kind, name->text, spec->base_dir, file, &inner);
    if (status == DSE_OK)
        return DSE_OK;
    if (status == DSE_IO || !inner.file[0])
        return spec_blame(spec, name, &inner, err);
    if (err)
        *err = inner;
    return status;
}

/* The next one of the sweep. */
static enum dse_status load_architecture(struct sweep *sweep, const struct spec_text *name,
                                         struct dse_error *err)
{
    const size_t i = sweep->n_arch;
    struct architecture arch;
    struct result_input file;
    DSE_TRY(sweep_take_file(sweep, RESOLVE_ARCHITECTURE, name, &file, err));
    struct dse_faults *faults = sweep->spec->faults;
    const size_t n_fault = dse_faults_count(faults);
    DSE_TRY(yaml_parse(&sweep->arch[i], file.path, file.content, file.n_byte, err));
    sweep->template[i] = NULL;
    sweep->arch[i].faults = faults;
    enum dse_status status = architecture_template_new(&sweep->arch[i], &sweep->template[i], err);
    sweep->arch[i].faults = NULL;
    const bool is_bad = dse_faults_count(faults) > n_fault;
    if (status == DSE_OK && !is_bad)
        status = architecture_template_build(sweep->template[i], NULL, 0, &arch, err);
    if (status != DSE_OK || is_bad) {
        architecture_template_free(sweep->template[i]);
        yaml_doc_free(&sweep->arch[i]);
        return status;
    }
    sweep->n_arch++;
    return DSE_OK;
}

static enum dse_status load_architectures(struct sweep *sweep, struct dse_error *err)
{
    struct sweep_values values = sweep_values_of(sweep, "architecture");
    if (values.n == 0)
        return sweep_missing(sweep, "architecture", "architecture: simba", err);
    sweep->arch = arena_alloc(&sweep->arena, values.n, sizeof *sweep->arch);
    sweep->template = arena_alloc(&sweep->arena, values.n, sizeof *sweep->template);
    DSE_TRY(arena_check(&sweep->arena, "a sweep", err));
    for (size_t i = 0; i < values.n; i++)
        DSE_NOTE(sweep->spec->faults, load_architecture(sweep, &values.value[i], err));
    return DSE_OK;
}

/* The chosen layer is in some network. */
static enum dse_status check_layer(const struct sweep *sweep, const struct spec_text *name,
                                   struct dse_error *err)
{
    size_t n_known = 0, n_layer = 0, k = 0;
    for (size_t n = 0; n < sweep->n_network; n++) {
        int l = network_find_layer(&sweep->network[n], name->text);
        n_known += l >= 0;
        if (l >= 0 && !layer_has_macs(&sweep->network[n].layer[l]))
            return spec_fail(sweep->spec, name, err, "layer %s of %s has no multiply-accumulates to map",
                             name->text, sweep->network[n].name);
        n_layer += sweep->network[n].n_layer;
    }
    if (n_known)
        return DSE_OK;
    const char **known = calloc(n_layer + 1, sizeof *known);
    if (!known)
        return sweep_no_memory(sweep, err);
    for (size_t n = 0; n < sweep->n_network; n++)
        for (uint32_t l = 0; l < sweep->network[n].n_layer; l++)
            known[k++] = sweep->network[n].layer[l].name;
    const char *nearest = text_nearest(name->text, known, n_layer);
    enum dse_status status =
        nearest ? spec_fail(sweep->spec, name, err, "network %s has no layer %s; did you mean %s?",
                            sweep->network[0].name, name->text, nearest)
                : spec_fail(sweep->spec, name, err, "network %s has no layer %s", sweep->network[0].name,
                            name->text);
    free(known);
    return status;
}

/* Nothing can be said of layers where a network is missing. */
static enum dse_status check_layers(const struct sweep *sweep, struct dse_error *err)
{
    bool complete = sweep->n_network > 0 && sweep->n_network == sweep_n_network(sweep);
    for (size_t i = 0; complete && i < sweep->spec->n_layer; i++)
        DSE_NOTE(sweep->spec->faults, check_layer(sweep, &sweep->spec->layer[i], err));
    return DSE_OK;
}

/* Without a mapper no layer has to have a loop nest. */
static enum dse_status load_workload(struct sweep *sweep, size_t n, size_t b, const char *const *name,
                                     struct dse_error *err)
{
    struct workload *workload = &sweep->workload[n * sweep->n_batch + b];
    if (sweep->n_scheduler == sweep->n_engine) {
        workload_init_whole(workload, &sweep->network[n], sweep->batch[b]);
        return DSE_OK;
    }
    return workload_init(workload, &sweep->network[n], sweep->batch[b], name, sweep->spec->n_layer, 1, err);
}

static enum dse_status load_batch(struct sweep *sweep, const struct spec_text *value, size_t i,
                                  struct dse_error *err)
{
    uint64_t batch = 0;
    if (value->text && (!text_parse_u64(value->text, &batch) || batch < 1 || batch > 1000000))
        return spec_fail(sweep->spec, value, err, "batch %.60s: a whole number from 1 to 1000000 is expected",
                         value->text);
    sweep->batch[i] = (uint32_t)batch;
    return DSE_OK;
}

static enum dse_status load_workloads(struct sweep *sweep, struct dse_error *err)
{
    static const struct spec_text own = {NULL, 0}; /* what the network says, else 1 */
    struct sweep_values values = sweep_values_of(sweep, "batch");
    if (values.n == 0)
        values = (struct sweep_values){1, &own};
    const char **name = arena_alloc(&sweep->arena, sweep->spec->n_layer + 1, sizeof *name);
    sweep->batch = arena_alloc(&sweep->arena, values.n, sizeof *sweep->batch);
    DSE_TRY(arena_check(&sweep->arena, "a sweep", err));
    DSE_TRY(check_layers(sweep, err));
    for (size_t i = 0; i < values.n; i++)
        DSE_NOTE(sweep->spec->faults, load_batch(sweep, &values.value[i], i, err));
    if (sweep_n_fault(sweep) > 0)
        return DSE_OK; /* layers, networks or engines are missing */
    for (size_t i = 0; i < sweep->spec->n_layer; i++)
        name[i] = sweep->spec->layer[i].text;
    sweep->n_batch = values.n;
    sweep->workload = arena_alloc(&sweep->arena, sweep->n_network * sweep->n_batch, sizeof *sweep->workload);
    DSE_TRY(arena_check(&sweep->arena, "a sweep", err));
    for (size_t n = 0; n < sweep->n_network; n++)
        for (size_t b = 0; b < sweep->n_batch; b++) {
            struct dse_error unused = {0}; /* what no point has may be impossible */
            bool needed = sweep_has_workload(sweep, n, b);
            enum dse_status status = load_workload(sweep, n, b, name, needed ? err : &unused);
            if (needed || status == DSE_NO_MEMORY)
                DSE_TRY(status);
            if (status != DSE_OK)
                workload_free(&sweep->workload[n * sweep->n_batch + b]);
        }
    return DSE_OK;
}

/* The options written for this engine, and those for all. */
static enum dse_status set_options(const struct sweep *sweep, struct solve_settings *settings,
                                   struct dse_error *err)
{
    struct dse_error inner = {0};
    for (size_t i = 0; i < sweep->spec->n_option; i++) {
        const struct spec_option *option = &sweep->spec->option[i];
        if (option->engine && strcmp(option->engine, settings->engine->name) != 0)
            continue;
        if (solve_settings_option(settings, option->name, option->value.text, &inner) != DSE_OK)
            DSE_NOTE(sweep->spec->faults, spec_blame(sweep->spec, &option->value, &inner, err));
    }
    return DSE_OK;
}

/* Options for engines that are not in the sweep are mistakes. */
static enum dse_status check_option_engines(const struct sweep *sweep, struct dse_error *err)
{
    for (size_t i = 0; i < sweep->spec->n_option; i++) {
        const struct spec_option *option = &sweep->spec->option[i];
        bool used = option->engine == NULL;
        const char *known[SPEC_VARIABLE_MAX];
        size_t n_known = 0;
        for (size_t e = 0; e < sweep->n_engine; e++) {
            used = used || strcmp(option->engine, sweep->engine[e].engine->name) == 0;
            if (n_known < SPEC_VARIABLE_MAX)
                known[n_known++] = sweep->engine[e].engine->name;
        }
        if (used)
            continue;
        const char *nearest = text_nearest(option->engine, known, n_known);
        return spec_fail(sweep->spec, &option->value, err, "options: %s is no engine of this sweep%s%s%s",
                         option->engine, nearest ? "; did you mean " : "", nearest ? nearest : "",
                         nearest ? "?" : "");
    }
    return DSE_OK;
}

/* A limit; `value` stays as it is when it is not given. */
static enum dse_status read_count(const struct sweep_spec *spec, enum spec_limit limit, uint64_t *value,
                                  struct dse_error *err)
{
    const struct spec_text *given = &spec->limit[limit];
    if (given->text && !text_parse_u64(given->text, value))
        return spec_fail(spec, given, err, "limits.%s %.60s: a whole number is expected",
                         spec_limit_key[limit], given->text);
    return DSE_OK;
}

static enum dse_status read_seconds(const struct sweep_spec *spec, enum spec_limit limit, double *value,
                                    struct dse_error *err)
{
    const struct spec_text *given = &spec->limit[limit];
    if (given->text && (!text_parse_double(given->text, value) || !(*value >= 0)))
        return spec_fail(spec, given, err, "limits.%s %.60s: a number of seconds is expected",
                         spec_limit_key[limit], given->text);
    return DSE_OK;
}

static enum dse_status set_common(const struct sweep *sweep, struct solve_settings *settings,
                                  struct dse_error *err)
{
    const struct sweep_spec *spec = sweep->spec;
    struct dse_error inner = {0};
    size_t n_kind;
    const struct axis_kind *kind = axis_kind_all(&n_kind);
    for (size_t i = 0; i < n_kind; i++) {
        const struct axis_value value = {NULL, 0, spec->fixed[i].text};
        if (kind[i].set && value.text && kind[i].set(&value, settings, &inner) != DSE_OK)
            DSE_NOTE(spec->faults, spec_blame(spec, &spec->fixed[i], &inner, err));
    }
    DSE_TRY(read_count(spec, SPEC_EVALUATIONS, &settings->max_evaluations, err));
    DSE_TRY(read_seconds(spec, SPEC_SECONDS, &settings->max_seconds, err));
    settings->doc = &spec->doc;
    settings->constraints = spec->constraints;
    settings->measure = spec->measure;
    return DSE_OK;
}

/* What belongs to mappings has no place in a sweep with a scheduler. */
static enum dse_status check_scheduler(struct sweep *sweep, const struct solve_settings *settings,
                                       struct dse_error *err)
{
    const struct sweep_spec *spec = sweep->spec;
    const struct spec_variable *lists = spec_find_variable(spec, "constraints");
    const struct spec_text constraints = {"constraints", spec->constraints ? spec->constraints->line
                                                         : lists           ? lists->line
                                                                           : 0};
    const struct spec_text measure = {"measure", spec->measure_line};
    const char *name = settings->engine->name;
    sweep->n_scheduler++;
    if (spec->constraints || lists)
        return spec_fail(spec, &constraints, err,
                         "constraints are of a mapper's map space; engine %s schedules whole networks", name);
    if (spec->measure.what)
        return spec_fail(spec, &measure, err,
                         "measure: noc and cosa are of a layer's mapping; engine %s schedules whole networks",
                         name);
    if (spec->n_layer)
        return spec_fail(spec, &spec->layer[0], err,
                         "layers: a choice of layers is for mappers; engine %s schedules whole networks",
                         name);
    return DSE_OK;
}

static enum dse_status load_engines(struct sweep *sweep, struct dse_error *err)
{
    struct sweep_values values = sweep_values_of(sweep, "engine");
    struct dse_error inner = {0};
    if (values.n == 0)
        return sweep_missing(sweep, "engine", "engine: descent", err);
    sweep->engine = arena_alloc(&sweep->arena, values.n, sizeof *sweep->engine);
    DSE_TRY(arena_check(&sweep->arena, "a sweep", err));
    DSE_TRY(option_files_new(sweep->spec->inputs, sweep->spec->base_dir, &sweep->files, err));
    for (size_t i = 0; i < values.n; i++) {
        struct solve_settings *engine = &sweep->engine[sweep->n_engine];
        enum dse_status status = solve_settings_init(engine, values.value[i].text, &inner);
        engine->files = sweep->files;
        if (status == DSE_OK)
            sweep->n_engine++;
        else
            DSE_NOTE(sweep->spec->faults, spec_blame(sweep->spec, &values.value[i], &inner, err));
    }
    for (size_t i = 0; i < sweep->n_engine; i++)
        DSE_NOTE(sweep->spec->faults, set_common(sweep, &sweep->engine[i], err));
    if (sweep->n_engine == values.n)
        DSE_NOTE(sweep->spec->faults, check_option_engines(sweep, err));
    for (size_t i = 0; i < sweep->n_engine; i++) {
        DSE_TRY(set_options(sweep, &sweep->engine[i], err));
        if (solve_is_scheduler(&sweep->engine[i]))
            DSE_NOTE(sweep->spec->faults, check_scheduler(sweep, &sweep->engine[i], err));
    }
    sweep->has_columns = sweep->n_engine == values.n;
    return sweep->has_columns ? sweep_columns(sweep, err) : DSE_OK;
}

/* The limits of points. Each search of a point has to have an evaluation, or the limit could not hold. */
static enum dse_status load_point_limits(struct sweep *sweep, struct dse_error *err)
{
    const struct sweep_spec *spec = sweep->spec;
    const struct spec_text *given = &spec->limit[SPEC_POINT_EVALUATIONS];
    uint64_t *most = &sweep->point_max_evaluations;
    DSE_TRY(read_count(spec, SPEC_POINT_EVALUATIONS, most, err));
    DSE_TRY(read_seconds(spec, SPEC_POINT_SECONDS, &sweep->point_max_seconds, err));
    for (size_t w = 0; *most && sweep->workload && w < sweep->n_network * sweep->n_batch; w++)
        if (*most < sweep->workload[w].n_problem)
            return spec_fail(
                spec, given, err,
                "limits.point_max_evaluations %.40s: %s has %u different layers, and each needs at "
                "least one evaluation",
                given->text, sweep->workload[w].network->name, sweep->workload[w].n_problem);
    return DSE_OK;
}

/* Where searches run: "auto", "thread" or "process". */
static enum dse_status load_isolation(struct sweep *sweep, struct dse_error *err)
{
    const struct spec_text *given = &sweep->spec->isolation;
    char shown[96];
    size_t i = 0;
    while (given->text && i < ISOLATION_COUNT && strcmp(isolation_word[i], given->text) != 0)
        i++;
    if (i == ISOLATION_COUNT)
        return spec_fail(sweep->spec, given, err, "isolation %s: auto, thread or process is expected",
                         text_excerpt(given->text, shown, sizeof shown));
    sweep->isolation = (enum isolation)i;
    return DSE_OK;
}

static enum dse_status load_exchange(struct sweep *sweep, struct dse_error *err)
{
    const struct spec_text *given = &sweep->spec->exchange;
    char shown[96];
    sweep->exchange = !given->text || strcmp(given->text, "on") == 0;
    if (sweep->exchange || strcmp(given->text, "off") == 0)
        return DSE_OK;
    return spec_fail(sweep->spec, given, err, "exchange %s: on or off is expected",
                     text_excerpt(given->text, shown, sizeof shown));
}

/* What contains them there. */
static enum dse_status load_containment(struct sweep *sweep, struct dse_error *err)
{
    const double grace_standard_s = 10, memory_lowest_byte = 1 << 20, memory_highest_byte = 1e15;
    const struct sweep_spec *spec = sweep->spec;
    const struct spec_text *memory = &spec->limit[SPEC_MEMORY];
    struct dse_error inner = {0};
    double byte = 0;
    char shown[96];
    sweep->grace_s = grace_standard_s;
    DSE_TRY(read_seconds(spec, SPEC_GRACE, &sweep->grace_s, err));
    if (!memory->text)
        return DSE_OK;
    if (quantity_parse(memory->text, UNIT_BYTE, "limits.max_memory", &byte, &inner) != DSE_OK)
        return spec_blame(spec, memory, &inner, err);
    if (!(byte >= memory_lowest_byte && byte <= memory_highest_byte))
        return spec_fail(
            spec, memory, err,
            "limits.max_memory %s: from 1 MiB to 1000 TB is expected; without the key there is no limit",
            text_excerpt(memory->text, shown, sizeof shown));
    if (sweep->isolation == ISOLATION_THREAD)
        return spec_fail(spec, memory, err,
                         "limits.max_memory needs worker processes; isolation: thread forbids them");
    sweep->max_memory_byte = (uint64_t)byte;
    return DSE_OK;
}

/* Try every value of the axes that are settings, on every engine. */
static enum dse_status try_values(const struct sweep *sweep, struct dse_error *err)
{
    for (size_t v = 0; v < sweep->spec->n_variable; v++) {
        const struct spec_variable *variable = &sweep->spec->variable[v];
        for (size_t i = 0; variable->kind->set && i < variable->n_value; i++)
            for (size_t e = 0; e < sweep->n_engine; e++) {
                const struct axis_value value = {variable, i, variable->value[i].text};
                struct solve_settings settings = sweep->engine[e];
                struct dse_error inner = {0};
                if (variable->kind->set(&value, &settings, &inner) != DSE_OK)
                    DSE_NOTE(sweep->spec->faults, spec_blame(sweep->spec, &variable->value[i], &inner, err));
            }
    }
    return DSE_OK;
}

enum dse_status sweep_load(struct sweep *sweep, struct dse_error *err)
{
    struct dse_faults *faults = sweep->spec->faults;
    DSE_NOTE(faults, load_architectures(sweep, err));
    DSE_NOTE(faults, sweep_networks(sweep, err));
    DSE_NOTE(faults, load_engines(sweep, err));
    DSE_NOTE(faults, load_workloads(sweep, err));
    DSE_NOTE(faults, load_point_limits(sweep, err));
    DSE_NOTE(faults, try_values(sweep, err));
    DSE_NOTE(faults, load_isolation(sweep, err));
    DSE_NOTE(faults, load_exchange(sweep, err));
    DSE_NOTE(faults, load_containment(sweep, err));
    return DSE_OK;
}
