/* From dimensions and filters to the list of points. */
#include <stdlib.h>

#include "dse/spec/sweep.h"

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
    return DSE_OK;
}

/* The cells whose mark is `wanted`. */
static enum dse_status keep_cells(struct sweep *sweep, const unsigned char *mark, unsigned char wanted,
                                  struct dse_error *err)
{
    for (uint32_t cell = 0; cell < sweep->n_cell; cell++)
        sweep->n_point += mark[cell] == wanted;
    sweep->cell = malloc((sweep->n_point + 1) * sizeof *sweep->cell);
    if (!sweep->cell)
        return sweep_no_memory(sweep, err);
    for (uint32_t cell = 0, p = 0; cell < sweep->n_cell; cell++)
        if (mark[cell] == wanted)
            sweep->cell[p++] = cell;
    return DSE_OK;
}

enum dse_status sweep_cells(struct sweep *sweep, struct dse_error *err)
{
    enum { ONLY = 1, SKIP = 2 };
    const struct sweep_spec *spec = sweep->spec;
    enum dse_status status = DSE_OK;
    DSE_TRY(count_cells(sweep, err));
    if (!spec->skip && !spec->only) {
        sweep->n_point = (size_t)sweep->n_cell;
        return DSE_OK;
    }
    unsigned char *mark = calloc((size_t)sweep->n_cell, 1);
    if (!mark)
        return sweep_no_memory(sweep, err);
    if (spec->skip)
        status = sweep_filter(sweep, "skip", spec->skip, SKIP, mark, err);
    if (status == DSE_OK && spec->only)
        status = sweep_filter(sweep, "only", spec->only, ONLY, mark, err);
    if (status == DSE_OK)
        status = keep_cells(sweep, mark, spec->only ? ONLY : 0, err);
    free(mark);
    DSE_TRY(status);
    if (sweep->n_point == 0)
        return yaml_fail(&spec->doc, spec->skip ? spec->skip : spec->only, err,
                         "skip and only leave no cell");
    return DSE_OK;
}
