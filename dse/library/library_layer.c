/* Layers of libdse: compiled once, then many mappings are priced. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/metric.h"
#include "dse/inputs/input_mapping.h"
#include "dse/inputs/inputs.h"
#include "dse/library/library.h"

/* ---------------------------------------- opening */

/* The layer by name, or the only one there is to map. */
static enum dse_status find_layer(const struct network *network, const char *name, uint32_t *index,
                                  struct dse_error *err)
{
    uint32_t n = 0;
    if (name)
        return input_layer(network, name, index, err);
    for (uint32_t i = network->n_layer; i-- > 0;)
        if (layer_has_macs(&network->layer[i])) {
            *index = i;
            n++;
        }
    if (n == 1)
        return DSE_OK;
    return n == 0 ? dse_fail(err, DSE_BAD_USAGE, "network %s has no layer to map", network->name)
                  : dse_fail(err, DSE_BAD_USAGE, "network %s has %u layers; choose one, for instance %s",
                             network->name, n, network->layer[*index].name);
}

static enum dse_status read_problem(const struct network *network, const char *name,
                                    const struct dse_layer_options *options, struct problem *problem,
                                    struct dse_error *err)
{
    uint32_t index = 0;
    DSE_TRY(find_layer(network, name, &index, err));
    DSE_TRY(layer_problem(&network->layer[index], options->batch, problem, err));
    DSE_TRY(library_need_pairs(options->pad, options->n_pad, "padding", err));
    for (size_t i = 0; i < options->n_pad; i++)
        DSE_TRY(input_pad_dim(problem, options->pad[2 * i], options->pad[2 * i + 1], err));
    return DSE_OK;
}

static void fill_shape(struct dse_layer *layer)
{
    const struct problem *problem = evaluator_problem(layer->evaluator);
    const struct architecture *arch = evaluator_architecture(layer->evaluator);
    for (uint32_t d = 0; d < problem->n_dim; d++)
        layer->dim[d] = problem->dim_name[d];
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        layer->tensor[t] = problem->tensor[t].name;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        layer->level[l] = arch->level[l].name;
        architecture_fanout(arch, l, &layer->fanout_x[l], &layer->fanout_y[l]);
        for (uint32_t t = 0; t < problem->n_tensor; t++)
            layer->keeps[l] |= (uint32_t)architecture_keeps(arch, l, &problem->tensor[t]) << t;
    }
    layer->outermost_keeps = arch->strict_fanout ? (1u << problem->n_tensor) - 1 : 0;
    layer->shape = (struct dse_shape){
        .name = problem->name,
        .accounting = evaluator_accounting(layer->evaluator)->name,
        .n_dim = problem->n_dim,
        .dim = layer->dim,
        .bound = problem->bound,
        .n_tensor = problem->n_tensor,
        .tensor = layer->tensor,
        .n_level = arch->n_level,
        .level = layer->level,
        .fanout_x = layer->fanout_x,
        .fanout_y = layer->fanout_y,
        .keeps = layer->keeps,
        .width = library_width(arch->n_level, problem->n_dim),
    };
}

static enum dse_status open_layer(const struct dse_machine *machine, const struct dse_network *network,
                                  const char *name, const struct dse_layer_options *options,
                                  struct dse_layer *layer, struct dse_error *err)
{
    struct problem problem;
    char reason[256];
    DSE_TRY(library_need(machine, "machine", err));
    DSE_TRY(library_need(network, "network", err));
    const struct accounting *accounting = accounting_standard(ACCOUNTING_MAPPING, &machine->arch);
    if (options->accounting)
        DSE_TRY(accounting_named(options->accounting, &accounting, err));
    if (!architecture_area_fits(&machine->arch, reason, sizeof reason))
        return dse_fail(err, DSE_BAD_INPUT, "%s", reason);
    DSE_TRY(read_problem(&network->network, name, options, &problem, err));
    DSE_TRY(evaluator_new(accounting, &problem, &machine->arch, &layer->evaluator, err));
    evaluator_bound(layer->evaluator, &layer->bound);
    layer->area_mm2 = architecture_area_mm2(&machine->arch);
    fill_shape(layer);
    return DSE_OK;
}

int dse_layer_open(const struct dse_machine *machine, const struct dse_network *network, const char *name,
                   const struct dse_layer_options *options, struct dse_layer **layer, char *error,
                   size_t error_size)
{
    static const struct dse_layer_options none = {0};
    struct dse_error err = {0};
    struct dse_layer *made = NULL;
    enum dse_status status = library_need(layer, "place for the layer", &err);
    if (status == DSE_OK) {
        *layer = NULL;
        made = calloc(1, sizeof *made);
        status = made ? open_layer(machine, network, name, options ? options : &none, made, &err)
                      : dse_fail(&err, DSE_NO_MEMORY, "out of memory for a layer");
    }
    if (status == DSE_OK)
        *layer = made;
    else
        dse_layer_free(made);
    return library_return(status, &err, error, error_size);
}

void dse_layer_free(struct dse_layer *layer)
{
    if (layer)
        evaluator_delete(layer->evaluator);
    free(layer);
}

const struct dse_shape *dse_layer_shape(const struct dse_layer *layer)
{
    return layer ? &layer->shape : NULL;
}

/* ---------------------------------------- prices */

int dse_scratch_new(const struct dse_layer *layer, struct dse_scratch **scratch, char *error,
                    size_t error_size)
{
    struct dse_error err = {0};
    enum dse_status status = library_need(layer, "layer", &err);
    if (status == DSE_OK)
        status = library_need(scratch, "place for the scratch", &err);
    if (status == DSE_OK) {
        struct dse_scratch *made = calloc(1, sizeof *made);
        *scratch = NULL;
        status = made ? eval_workspace_new(layer->evaluator, &made->workspace, &err)
                      : dse_fail(&err, DSE_NO_MEMORY, "out of memory for a scratch");
        if (status == DSE_OK)
            *scratch = made;
        else
            free(made);
    }
    return library_return(status, &err, error, error_size);
}

void dse_scratch_free(struct dse_scratch *scratch)
{
    if (scratch)
        eval_workspace_delete(scratch->workspace);
    free(scratch);
}

/* Where the metrics asked for lie. */
struct columns {
    size_t n;
    const uint32_t *which; /* (n) NULL: the first n */
    const struct metric *table;
    bool bounds; /* one of them is over a bound */
};

static enum dse_status choose_columns(const uint32_t *metric, size_t m, struct columns *columns,
                                      struct dse_error *err)
{
    size_t n_metric;
    *columns = (struct columns){.n = m, .which = metric, .table = metric_all(&n_metric)};
    if (!metric && m > n_metric)
        return dse_fail(err, DSE_BAD_USAGE, "%zu metrics are asked for, there are %zu", m, n_metric);
    for (size_t j = 0; j < m; j++) {
        const size_t k = metric ? metric[j] : j;
        if (k >= n_metric)
            return dse_fail(err, DSE_BAD_USAGE, "there is no metric %zu; the last one is %zu", k,
                            n_metric - 1);
        columns->bounds = columns->bounds || strncmp(columns->table[k].name, "bound_", 6) == 0;
    }
    return DSE_OK;
}

/* Over the bounds of the layer, where they hold. */
static void add_bounds(const struct dse_layer *layer, const struct mapping *mapping,
                       const struct evaluation *e, struct metrics *metrics)
{
    if (!evaluator_bound_applies(layer->evaluator, mapping))
        return;
    metrics->bound_latency_ratio = e->latency_s / layer->bound.latency_s;
    metrics->bound_energy_ratio = e->energy_j / layer->bound.energy_j;
    metrics->bound_edp_ratio = e->edp_js / layer->bound.edp_js;
}

/* Fill the values (n of the columns) of one row. Whether it fits. */
static bool price(const struct dse_layer *layer, struct dse_scratch *scratch, const int32_t *row,
                  const struct columns *columns, double *value)
{
    struct metrics metrics;
    if (!library_row_read(layer, row, &scratch->mapping) ||
        !evaluator_run(layer->evaluator, scratch->workspace, &scratch->mapping, &scratch->evaluation)) {
        for (size_t j = 0; j < columns->n; j++)
            value[j] = NAN;
        return false;
    }
    evaluation_metrics(&scratch->evaluation, evaluator_architecture(layer->evaluator), layer->area_mm2,
                       &metrics);
    if (columns->bounds)
        add_bounds(layer, &scratch->mapping, &scratch->evaluation, &metrics);
    for (size_t j = 0; j < columns->n; j++) {
        const struct metric *metric = &columns->table[columns->which ? columns->which[j] : j];
        value[j] = metric_number(metric, (const char *)&metrics + metric->offset);
    }
    return true;
}

static enum dse_status check_evaluate(const struct dse_layer *layer, const struct dse_scratch *scratch,
                                      size_t n, const int32_t *row, size_t width, size_t m,
                                      const double *value, struct dse_error *err)
{
    DSE_TRY(library_need(layer, "layer", err));
    DSE_TRY(library_need(scratch, "scratch", err));
    DSE_TRY(library_need_width(width, layer->shape.width, layer->shape.name, err));
    if (n > 0)
        DSE_TRY(library_need(row, "array of rows", err));
    if (n > 0 && m > 0)
        DSE_TRY(library_need(value, "array of values", err));
    return eval_workspace_fits(scratch->workspace, layer->evaluator)
               ? DSE_OK
               : dse_fail(err, DSE_BAD_USAGE, "the scratch was made for another machine or accounting");
}

int dse_evaluate(const struct dse_layer *layer, struct dse_scratch *scratch, size_t n, const int32_t *row,
                 size_t width, const uint32_t *metric, size_t m, double *value, size_t *n_fit, char *error,
                 size_t error_size)
{
    struct dse_error err;
    struct columns columns;
    size_t fits = 0;
    enum dse_status status = check_evaluate(layer, scratch, n, row, width, m, value, &err);
    if (status == DSE_OK)
        status = choose_columns(metric, m, &columns, &err);
    for (size_t i = 0; status == DSE_OK && i < n; i++)
        fits += price(layer, scratch, row + i * width, &columns, m ? value + i * m : NULL);
    if (status == DSE_OK && n_fit)
        *n_fit = fits;
    return library_return(status, &err, error, error_size);
}

int dse_bounds(const struct dse_layer *layer, double bound[3], char *error, size_t error_size)
{
    struct dse_error err = {0};
    enum dse_status status = library_need(layer, "layer", &err);
    if (status == DSE_OK)
        status = library_need(bound, "place for the bounds", &err);
    if (status == DSE_OK) {
        bound[0] = layer->bound.latency_s;
        bound[1] = layer->bound.energy_j;
        bound[2] = layer->bound.edp_js;
    }
    return library_return(status, &err, error, error_size);
}
