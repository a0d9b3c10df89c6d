/* The networks of a sweep: one for every value of the axis `network` with every value of the axes of its
 * parameters, and which of them a point has. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "dse/inputs/network_names.h"
#include "dse/inputs/resolve.h"
#include "dse/spec/sweep.h"

enum { NETWORK_MAX = 100000 };

/* ---- numbers ---- */

/* Whether the dimension says which network it is, or what is set of it. */
static bool is_of_network(const struct sweep_spec *spec, size_t d)
{
    for (size_t k = 0; k < spec->dimension[d].n_variable; k++) {
        enum spec_target target = spec->variable[spec->dimension[d].first + k].kind->target;
        if (target == SPEC_NETWORK || target == SPEC_PARAMETER)
            return true;
    }
    return false;
}

size_t sweep_n_network(const struct sweep *sweep)
{
    size_t n = 1;
    for (size_t d = 0; d < sweep->spec->n_dimension; d++)
        if (is_of_network(sweep->spec, d) && n <= NETWORK_MAX)
            n *= sweep->spec->dimension[d].n_value;
    return n;
}

/* Positions `index` (n_dimension) of network number n; 0 on dimensions that say nothing of it. */
static void network_index(const struct sweep *sweep, size_t n, uint32_t *index)
{
    for (size_t d = sweep->spec->n_dimension; d-- > 0;) {
        const size_t n_value = is_of_network(sweep->spec, d) ? sweep->spec->dimension[d].n_value : 1;
        index[d] = (uint32_t)(n % n_value);
        n /= n_value;
    }
}

size_t sweep_workload_at(const struct sweep *sweep, const uint32_t *index)
{
    const struct spec_variable *batch = spec_find_variable(sweep->spec, "batch");
    size_t n = 0;
    for (size_t d = 0; d < sweep->spec->n_dimension; d++)
        if (is_of_network(sweep->spec, d))
            n = n * sweep->spec->dimension[d].n_value + index[d];
    return n * sweep->n_batch + (batch ? index[batch->dimension] : 0);
}

bool sweep_has_workload(const struct sweep *sweep, size_t n, size_t b)
{
    const struct spec_variable *batch = spec_find_variable(sweep->spec, "batch");
    uint32_t index[SPEC_VARIABLE_MAX];
    network_index(sweep, n, index);
    return !batch || !is_of_network(sweep->spec, batch->dimension) || index[batch->dimension] == b;
}

/* ---- parameters ---- */

/* A later value takes the place of an earlier one. */
static void put(struct network_settings *settings, struct network_set *list, const struct sweep *sweep,
                const char *name, const struct spec_text *value)
{
    size_t k = 0;
    while (k < settings->n && strcmp(list[k].name, name) != 0)
        k++;
    list[k] = (struct network_set){name, value->text, value->line ? sweep->spec->path : "--set", value->line,
                                   false};
    settings->n += k == settings->n;
}

/* What is set of network number n. */
static enum dse_status settings_of(struct sweep *sweep, size_t n, struct network_settings *out,
                                   struct dse_error *err)
{
    const struct sweep_spec *spec = sweep->spec;
    uint32_t index[SPEC_VARIABLE_MAX];
    struct network_set *list = arena_alloc(&sweep->arena, spec->n_parameter + spec->n_variable, sizeof *list);
    DSE_TRY(arena_check(&sweep->arena, "a sweep", err));
    *out = (struct network_settings){.set = list};
    for (size_t i = 0; i < spec->n_parameter; i++)
        put(out, list, sweep, spec->parameter[i].path, &spec->parameter[i].value);
    network_index(sweep, n, index);
    for (size_t v = 0; v < spec->n_variable; v++) {
        const struct spec_variable *variable = &spec->variable[v];
        if (variable->kind->target == SPEC_PARAMETER)
            put(out, list, sweep, axis_kind_rest(variable->kind, variable->name),
                &variable->value[index[variable->dimension]]);
    }
    return DSE_OK;
}

/* An error of the network's own file shows with which values it comes about. */
static enum dse_status fail_with(const struct sweep *sweep, const struct network_settings *settings,
                                 enum dse_status status, const struct dse_error *inner, struct dse_error *err)
{
    char text[DSE_ERROR_TEXT_MAX], shown[64];
    size_t used = 0;
    text[0] = '\0';
    bool own =
        settings->n == 0 || strcmp(inner->file, sweep->spec->path) == 0 || strcmp(inner->file, "--set") == 0;
    for (size_t i = 0; !own && i < settings->n && used < sizeof text; i++) {
        int n = snprintf(text + used, sizeof text - used, "%snetwork.%s=%s", i ? ", " : " (with ",
                         settings->set[i].name, text_excerpt(settings->set[i].value, shown, sizeof shown));
        used += n > 0 ? (size_t)n : 0;
    }
    if (own) {
        if (err)
            *err = *inner;
        return status;
    }
    return dse_fail_at(err, status, inner->file, inner->line, "%s%s)", inner->text, text);
}

/* ---- files ---- */

/* A file that a network names: of a problem, or of the network that it is. */
static enum dse_status take_problem(void *user, const char *path, const char **bytes, size_t *length,
                                    struct dse_error *err)
{
    struct result_input file;
    DSE_TRY(input_store_get(user, RESOLVE_PROBLEM, path, NULL, &file, err));
    *bytes = file.content;
    *length = file.n_byte;
    return DSE_OK;
}

static bool has_network(void *user, const char *name)
{
    const struct sweep *sweep = user;
    return input_store_has_network(sweep->spec->inputs, name, sweep->spec->base_dir);
}

/* One of those that are side by side; `*is_read`: without a fault. */
static enum dse_status load_part(struct sweep *sweep, const struct spec_text *name,
                                 const struct network_settings *settings, struct network *network,
                                 bool *is_read, struct dse_error *err)
{
    struct dse_faults *faults = sweep->spec->faults;
    const size_t n_fault = dse_faults_count(faults);
    const struct network_files files = {take_problem, sweep->spec->inputs, faults, *settings};
    struct result_input file;
    struct dse_error inner = {0};
    DSE_TRY(sweep_take_file(sweep, RESOLVE_NETWORK, name, &file, err));
    enum dse_status status =
        network_parse_with(file.path, file.content, file.n_byte, &files, network, &inner);
    if (status != DSE_OK)
        return fail_with(sweep, settings, status, &inner, err);
    *is_read = dse_faults_count(faults) == n_fault;
    return DSE_OK;
}

static enum dse_status load_parts(struct sweep *sweep, const char *const *part, size_t n,
                                  const struct spec_text *whole, struct network_settings settings,
                                  struct dse_error *err)
{
    struct network *network = arena_alloc(&sweep->arena, n, sizeof *network);
    size_t n_read = 0;
    bool is_read = true;
    settings.may_lack = true;
    enum dse_status status = arena_check(&sweep->arena, "a sweep", err);
    while (status == DSE_OK && is_read && n_read < n) {
        const struct spec_text name = {part[n_read], whole->line};
        status = load_part(sweep, &name, &settings, &network[n_read], &is_read, err);
        n_read += status == DSE_OK && is_read;
    }
    if (status == DSE_OK && is_read) {
        struct dse_error inner;
        status = network_join(network, (uint32_t)n, &sweep->network[sweep->n_network], &inner);
        if (status != DSE_OK)
            status = spec_blame(sweep->spec, whole, &inner, err);
        else if ((status = network_has_parameters(&sweep->network[sweep->n_network], &settings, err)) !=
                 DSE_OK)
            network_free(&sweep->network[sweep->n_network]);
    }
    for (size_t i = 0; i < n_read; i++)
        network_free(&network[i]);
    sweep->n_network += status == DSE_OK && is_read;
    return status;
}

/* The next one of the sweep, or several as one. */
static enum dse_status load_network(struct sweep *sweep, const struct spec_text *name, size_t number,
                                    struct dse_error *err)
{
    const char *const *part;
    struct network_settings settings;
    size_t n;
    bool is_read = false;
    DSE_TRY(settings_of(sweep, number, &settings, err));
    DSE_TRY(network_names(name->text, has_network, sweep, &sweep->arena, &part, &n, err));
    if (n > 1)
        return load_parts(sweep, part, n, name, settings, err);
    DSE_TRY(load_part(sweep, name, &settings, &sweep->network[sweep->n_network], &is_read, err));
    sweep->n_network += is_read;
    return DSE_OK;
}

enum dse_status sweep_networks(struct sweep *sweep, struct dse_error *err)
{
    const struct sweep_values values = sweep_values_of(sweep, "network");
    const struct spec_variable *axis = spec_find_variable(sweep->spec, "network");
    const size_t n = sweep_n_network(sweep);
    uint32_t index[SPEC_VARIABLE_MAX];
    if (values.n == 0)
        return sweep_missing(sweep, "network", "network: resnet50", err);
    if (n > NETWORK_MAX)
        return dse_fail_at(err, DSE_LIMIT, sweep->spec->path, 0,
                           "the axes of networks and their parameters make more than %d networks",
                           NETWORK_MAX);
    sweep->network = arena_alloc(&sweep->arena, n, sizeof *sweep->network);
    DSE_TRY(arena_check(&sweep->arena, "a sweep", err));
    for (size_t i = 0; i < n; i++) {
        network_index(sweep, i, index);
        const struct spec_text *name = &values.value[axis ? index[axis->dimension] : 0];
        DSE_NOTE(sweep->spec->faults, load_network(sweep, name, i, err));
    }
    return DSE_OK;
}
