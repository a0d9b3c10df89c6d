/* Timeloop's accounting as the constant struct that callers choose. */
#include "costmodel/loopnest/accounting_timeloop.h"

#include "costmodel/loopnest/compiled.h"

static enum dse_status accepts(const struct architecture *arch, struct dse_error *err)
{
    for (uint32_t l = 0; l < arch->n_level; l++)
        if (arch->level[l].n_part > 1)
            return dse_fail(err, DSE_BAD_INPUT,
                            "%s is %u memories side by side; Timeloop knows one per level",
                            arch->level[l].name, arch->level[l].n_part);
    return DSE_OK;
}

const struct accounting accounting_timeloop = {
    .name = "timeloop",
    .summary = "the counts, energy and cycles of Timeloop v3.0.3",
    .kind = ACCOUNTING_MAPPING,
    .accepts = accepts,
    .evaluator_byte = sizeof(struct compiled),
    .compile = compiled_new,
    .move = compiled_move,
    .workspace_new = fast_workspace_new,
    .workspace_fits = fast_workspace_fits,
    .workspace_delete = fast_workspace_delete,
    .run = fast_run,
    .tensor_energy = fast_tensor_energy,
    .detail = plain_detail,
    .check = checker_accepts,
    .bound = lower_bound_compute,
    .bound_applies = lower_bound_applies,
};
