/* What a specification says about its figure, checked before the sweep rather than by `dse plot` after it. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "dse/spec/sweep.h"
#include "results/plot/plot.h"

enum { FIELD_MAX = 64, NO_DIMENSION = SPEC_VARIABLE_MAX };

static enum dse_status check_kind(const struct sweep *sweep, const struct plot_kind **kind,
                                  struct dse_error *err)
{
    const struct ynode *node = yaml_find(sweep->spec->plot, "kind");
    size_t index = 0, n;
    const char *const *words = plot_kind_names(&n);
    if (node)
        DSE_TRY(yaml_choice(&sweep->spec->doc, node, "plot.kind", words, n, &index, err));
    *kind = node ? plot_kind_at(index) : NULL;
    return DSE_OK;
}

/* `key` (x or y) names an axis as the specification or as the result file does; `*dimension` is where it
 * lies. */
static enum dse_status check_axis(const struct sweep *sweep, const char *key, size_t *dimension,
                                  struct dse_error *err)
{
    const struct sweep_spec *spec = sweep->spec;
    const struct ynode *node = yaml_find(spec->plot, key);
    const char *name[SPEC_VARIABLE_MAX];
    char what[16];
    size_t index;
    *dimension = NO_DIMENSION;
    if (!node)
        return DSE_OK;
    for (size_t v = 0; v < spec->n_variable; v++)
        if (strcmp(node->text, spec->variable[v].name) == 0 ||
            strcmp(node->text, sweep->variable[v].column) == 0)
            *dimension = spec->variable[v].dimension;
    if (*dimension != NO_DIMENSION)
        return DSE_OK;
    snprintf(what, sizeof what, "plot.%s", key);
    if (spec->n_variable == 0)
        return yaml_fail(&spec->doc, node, err, "%s: this sweep has no axes", what);
    for (size_t v = 0; v < spec->n_variable; v++)
        name[v] = spec->variable[v].name;
    return yaml_choice(&spec->doc, node, what, name, spec->n_variable, &index, err);
}

static enum dse_status check_color(const struct sweep *sweep, struct dse_error *err)
{
    const struct ynode *node = yaml_find(sweep->spec->plot, "color");
    size_t dimension;
    return node && strcmp(node->text, "none") == 0 ? DSE_OK : check_axis(sweep, "color", &dimension, err);
}

/* x, which for some kinds is a word and no axis. */
static enum dse_status check_x(const struct sweep *sweep, const struct plot_kind *kind, size_t *dimension,
                               struct dse_error *err)
{
    const struct ynode *node = yaml_find(sweep->spec->plot, "x");
    struct dse_error inner = {0};
    *dimension = NO_DIMENSION;
    if (!node || !kind || !kind->x_words)
        return check_axis(sweep, "x", dimension, err);
    if (plot_kind_takes_x(kind, node->text, &inner) != DSE_OK)
        return yaml_fail(&sweep->spec->doc, node, err, "plot.x: %s", inner.text);
    return DSE_OK;
}

/* `key`: numbers of every point, with commas between them. */
static enum dse_status check_numbers(const struct sweep *sweep, const char *key, struct dse_error *err)
{
    const struct ynode *node = yaml_find(sweep->spec->plot, key);
    struct result_column column[RESULT_COLUMN_MAX];
    const char *known[RESULT_COLUMN_MAX];
    char word[FIELD_MAX], what[16];
    size_t n_column = schema_columns(&sweep->schema, RESULT_POINTS, column), n = 0, index;
    if (!node)
        return DSE_OK;
    for (size_t i = 0; i < n_column; i++)
        if (column[i].metric->type != METRIC_TEXT)
            known[n++] = column[i].metric->name;
    snprintf(what, sizeof what, "plot.%s", key);
    for (size_t i = 0; plot_metric_word(node->text, i, word, sizeof word); i++) {
        struct ynode one = *node;
        one.text = word;
        DSE_TRY(yaml_choice(&sweep->spec->doc, &one, what, known, n, &index, err));
    }
    return DSE_OK;
}

/* Metrics that the kind can show. */
static enum dse_status check_metric(const struct sweep *sweep, const struct plot_kind *kind,
                                    struct dse_error *err)
{
    const struct ynode *node = yaml_find(sweep->spec->plot, "metric");
    struct dse_error inner = {0};
    DSE_TRY(check_numbers(sweep, "metric", err));
    if (node && kind && plot_kind_takes(kind, node->text, &inner) != DSE_OK)
        return yaml_fail(&sweep->spec->doc, node, err, "plot.metric: %s", inner.text);
    return DSE_OK;
}

/* `key`, relative or winner, of which only heatmaps are. */
static enum dse_status check_comparison(const struct sweep *sweep, const struct plot_kind *kind,
                                        const char *key, struct dse_error *err)
{
    const struct ynode *plot = sweep->spec->plot, *node = yaml_find(plot, key);
    const char *const said[] = {"x", "y", "metric", "relative", "winner"};
    struct plot_options options = {0};
    const char **const out[] = {&options.x, &options.y, &options.metric, &options.relative, &options.winner};
    struct dse_error inner = {0};
    if (!node)
        return DSE_OK;
    if (kind && !(kind->traits & PLOT_COMPARES))
        return yaml_fail(&sweep->spec->doc, node, err, "plot.%s is of kind heatmap, not %s", key, kind->name);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (yaml_find(plot, said[i]))
            *out[i] = yaml_find(plot, said[i])->text;
    if (plot_compare_check(&sweep->schema, &options, &inner) != DSE_OK)
        return yaml_fail(&sweep->spec->doc, node, err, "plot.%s: %s", key, inner.text);
    return DSE_OK;
}

enum dse_status sweep_plot(const struct sweep *sweep, struct dse_error *err)
{
    const struct plot_kind *kind;
    struct dse_faults *faults = sweep->spec->faults;
    size_t x, y;
    if (!sweep->spec->plot)
        return DSE_OK;
    DSE_TRY(check_kind(sweep, &kind, err));
    if (yaml_find(sweep->spec->plot, "relative") && yaml_find(sweep->spec->plot, "winner"))
        return yaml_fail(&sweep->spec->doc, yaml_find(sweep->spec->plot, "winner"), err,
                         "plot: relative and winner are two figures");
    DSE_NOTE(faults, check_comparison(sweep, kind, "relative", err));
    DSE_NOTE(faults, check_comparison(sweep, kind, "winner", err));
    if (kind && (kind->traits & PLOT_METRICS)) {
        DSE_NOTE(faults, check_numbers(sweep, "x", err));
        DSE_NOTE(faults, check_numbers(sweep, "y", err));
        DSE_NOTE(faults, check_color(sweep, err));
        return check_metric(sweep, kind, err);
    }
    if (yaml_find(sweep->spec->plot, "color"))
        return yaml_fail(&sweep->spec->doc, yaml_find(sweep->spec->plot, "color"), err,
                         "plot.color is of kind scatter");
    DSE_NOTE(faults, check_x(sweep, kind, &x, err));
    DSE_NOTE(faults, check_axis(sweep, "y", &y, err));
    if ((!kind || kind->traits & PLOT_TWO_AXES) && x != NO_DIMENSION && x == y)
        return yaml_fail(&sweep->spec->doc, yaml_find(sweep->spec->plot, "y"), err,
                         "plot: x and y of a heatmap are two axes, which are not linked by zip or points");
    return check_metric(sweep, kind, err);
}
