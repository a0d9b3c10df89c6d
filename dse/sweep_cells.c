/* From dimensions and filters to the list of points. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dse/sweep.h"

/* One entry of skip or only: per variable a set of values, or NULL for any. */
struct filter {
    bool *allowed[SPEC_VARIABLE_MAX]; /* (n_variable, n_value) */
};

static enum dse_status filter_value(struct sweep *sweep, size_t v, const struct ynode *node, bool *allowed,
                                    struct dse_error *err)
{
    const char *text;
    DSE_TRY(yaml_text(&sweep->spec->doc, node, sweep->spec->variable[v].name, &text, err));
    long i = sweep_find_value(sweep, v, text);
    if (i < 0)
        return yaml_fail(&sweep->spec->doc, node, err, "%.80s is no value of axis %s", text,
                         sweep->spec->variable[v].name);
    allowed[i] = true;
    return DSE_OK;
}

static enum dse_status find_variable(const struct sweep *sweep, const struct ynode *entry, size_t k,
                                     size_t *v, struct dse_error *err)
{
    const char *known[SPEC_VARIABLE_MAX];
    for (size_t i = 0; i < sweep->spec->n_variable; i++) {
        known[i] = sweep->spec->variable[i].name;
        if (strcmp(known[i], entry->key[k]) == 0) {
            *v = i;
            return DSE_OK;
        }
    }
    const char *nearest = text_nearest(entry->key[k], known, sweep->spec->n_variable);
    return dse_fail_at(err, DSE_BAD_INPUT, sweep->spec->path, entry->key_line[k],
                       "%.80s is no axis of this sweep%s%s%s", entry->key[k],
                       nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static enum dse_status read_filter(struct sweep *sweep, const char *what, const struct ynode *entry,
                                   struct filter *filter, struct dse_error *err)
{
    DSE_TRY(yaml_is_mapping(&sweep->spec->doc, entry, what, err));
    if (entry->n_item == 0)
        return yaml_fail(&sweep->spec->doc, entry, err, "%s: an empty entry would match every cell", what);
    for (size_t k = 0; k < entry->n_item; k++) {
        size_t v = 0;
        const struct ynode *node = entry->item[k];
        DSE_TRY(find_variable(sweep, entry, k, &v, err));
        filter->allowed[v] = arena_alloc(&sweep->arena, sweep->spec->variable[v].n_value, sizeof(bool));
        if (!filter->allowed[v])
            return sweep_no_memory(sweep, err);
        if (node->kind != YNODE_SEQUENCE)
            DSE_TRY(filter_value(sweep, v, node, filter->allowed[v], err));
        else
            for (size_t i = 0; i < node->n_item; i++)
                DSE_TRY(filter_value(sweep, v, node->item[i], filter->allowed[v], err));
    }
    return DSE_OK;
}

static enum dse_status read_filters(struct sweep *sweep, const char *what, const struct ynode *list,
                                    struct filter **out, struct dse_error *err)
{
    *out = NULL;
    if (!list)
        return DSE_OK;
    *out = arena_alloc(&sweep->arena, list->n_item, sizeof **out);
    if (!*out)
        return sweep_no_memory(sweep, err);
    for (size_t i = 0; i < list->n_item; i++)
        DSE_TRY(read_filter(sweep, what, list->item[i], &(*out)[i], err));
    return DSE_OK;
}

static bool matches(const struct sweep *sweep, const struct filter *filter, const size_t *index)
{
    for (size_t d = 0; d < sweep->spec->n_dimension; d++)
        for (size_t k = 0; k < sweep->spec->dimension[d].n_variable; k++) {
            const bool *allowed = filter->allowed[sweep->spec->dimension[d].variable[k]];
            if (allowed && !allowed[index[d]])
                return false;
        }
    return true;
}

static bool matches_any(const struct sweep *sweep, const struct filter *filter, size_t n, const size_t *index)
{
    for (size_t i = 0; i < n; i++)
        if (matches(sweep, &filter[i], index))
            return true;
    return false;
}

static enum dse_status count_cells(struct sweep *sweep, struct dse_error *err)
{
    sweep->n_cell = 1;
    for (size_t d = 0; d < sweep->spec->n_dimension; d++) {
        sweep->n_cell *= sweep->spec->dimension[d].n_value;
        if (sweep->n_cell > SWEEP_CELL_MAX)
            return dse_fail_at(
                err, DSE_LIMIT, sweep->spec->path,
                sweep->spec->variable[sweep->spec->dimension[d].variable[0]].line,
                "the axes make more than %d cells; split the sweep into several specifications",
                SWEEP_CELL_MAX);
    }
    sweep->cell = malloc((size_t)sweep->n_cell * sizeof *sweep->cell);
    return sweep->cell ? DSE_OK : sweep_no_memory(sweep, err);
}

enum dse_status sweep_cells(struct sweep *sweep, struct dse_error *err)
{
    const struct sweep_spec *spec = sweep->spec;
    struct filter *skip, *only;
    DSE_TRY(read_filters(sweep, "skip", spec->skip, &skip, err));
    DSE_TRY(read_filters(sweep, "only", spec->only, &only, err));
    DSE_TRY(count_cells(sweep, err));
    for (uint32_t cell = 0; cell < sweep->n_cell; cell++) {
        size_t index[SPEC_VARIABLE_MAX] = {0}, rest = cell;
        for (size_t d = spec->n_dimension; d-- > 0; rest /= spec->dimension[d].n_value)
            index[d] = rest % spec->dimension[d].n_value;
        if (only && !matches_any(sweep, only, spec->only->n_item, index))
            continue;
        if (skip && matches_any(sweep, skip, spec->skip->n_item, index))
            continue;
        sweep->cell[sweep->n_point++] = cell;
    }
    if (sweep->n_point == 0)
        return yaml_fail(&spec->doc, spec->skip ? spec->skip : spec->only, err,
                         "skip and only leave no cell");
    return DSE_OK;
}
